"""`mcp-books COMMAND` as people meet it: real processes, piped and on a terminal, on narrow and wide screens."""
from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import toys

from sources.answers import InsideAnswer, Report
from sources.asking.report import ReportAnswer
from sources.asking.schemas import TOOLS, schema_file, tool_schemas
from sources.contract import Facet, FacetValue
from sources.errors import InvalidInput, RateLimited, RecordNotFound
from sources.settings import VERSION, Settings
from sources.shell.command_line import FORMS, OWN_FLAGS, read_command
from sources.shell.commands import budget_s, main, visible_json
from sources.shell.screen import Screen, columns_of, decades, readable
from sources.shell.tables import facets_table, table

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "mcp_books.py"
INSIDE = r"archive\.org/services/search/beta/page_production/?"
WAIT_S = 30.0  # far above what any command here takes
COMMANDS = tuple(tool.replace("_", "-") for tool in TOOLS)
posix_only = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals and signals as POSIX has them")


@pytest.fixture
def environ() -> dict[str, str]:
    """A process's environment without any setting of this machine; nothing is kept between runs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BOOKS_") and name not in ("COLUMNS", "NO_COLOR", "PYTHONUNBUFFERED", "TERM")}
    return {**kept, "BOOKS_STATE_DIR": "off", "BOOKS_MAX_RETRIES": "0", "TERM": "xterm"}


@pytest.fixture
def archive(stand_in: Any, answer: Callable[[str], str], environ: dict[str, str]) -> Any:
    """The Internet Archive's search inside, answering "lantern" behind the gateway that `environ` names."""
    stand_in.add(INSIDE, body=answer("archive/hits.json").encode())
    environ["BOOKS_GATEWAY"] = stand_in.address
    return stand_in


def run(environ: dict[str, str], *arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, str(PROGRAM), *arguments], capture_output=True, timeout=WAIT_S, cwd=ROOT, check=False,
                          stdin=subprocess.DEVNULL, env={**environ, **changes})


def on_a_terminal(environ: dict[str, str], columns: int, *arguments: str) -> tuple[int, str]:
    """Exit status and everything a terminal of so many columns was sent, output and errors together."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([sys.executable, str(PROGRAM), *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=environ) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # what Linux says when the other side is closed
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        return process.wait(WAIT_S), shown.decode().replace("\r\n", "\n")


def in_process(*arguments: str, client: Any = None, **environ: str) -> tuple[int, str, str]:
    """A command without a process: exit status, output, errors."""
    out, err = io.StringIO(), io.StringIO()
    status = main(arguments, environ={"BOOKS_STATE_DIR": "off", **environ}, stdout=out, stderr=err, make_client=lambda settings: client)
    return status, out.getvalue(), err.getvalue()


class Saying:
    """A client that gives what it was given, or raises it, and keeps what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Any]] = []

    def ask(self, tool: str, arguments: Any, call: Any) -> Any:
        self.asked.append((tool, dict(arguments)))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def close(self) -> None:
        self.asked.append(("closed", None))


# ---- help ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("command", COMMANDS)
def test_each_commands_help_names_every_argument_and_fits_the_screen(environ, command, columns):
    """The flags are the tool's input schema, neither more nor fewer but the forms of output."""
    done = run(environ, command, "--help", COLUMNS=str(columns))

    shown = done.stdout.decode()
    flags = set(re.findall(r"--[a-z-]+", shown.split("options:")[1])) - {"--help"} - {f"--{name}" for name in (*FORMS, *OWN_FLAGS)}
    properties = schema_file(command.replace("-", "_") + ".input")["properties"]
    declared = {"--" + name.replace("_", "-") for name in properties}
    assert (done.returncode, done.stderr) == (0, b"")
    assert {flag for flag in flags if not flag.startswith("--no-")} | {"--query", "--identifier", "--identifiers", "--picture"} >= declared
    assert {flag.replace("--no-", "--") for flag in flags} <= declared
    assert max(columns_of(line) for line in shown.splitlines()) <= columns


@pytest.mark.parametrize(("arguments", "begins"), [(["--help"], "usage: mcp-books"), (["--version"], f"mcp-books {VERSION}\n")])
def test_the_program_tells_its_commands_and_its_version(environ, arguments, begins):
    done = run(environ, *arguments)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith(begins)


# ---- good calls ------------------------------------------------------------------------------------------------------

def test_a_piped_answer_is_the_text_block_unwrapped_and_alone(archive, environ):
    """Nothing on standard error, no escape sequence, lines as long as they are: what programs read."""
    done = run(environ, "search-inside", "lantern", "--sources", "archive")

    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    assert lines[:5] == [
        "Search inside: “lantern”: 3 rows, 3 excerpts: 3 passages with a searched word.",
        "1. The lantern of Vale — Orrin, Tess, 1820-1889 (1858)",
        "   archive:lanternvale00orri · the Internet Archive",
        "   https://archive.org/details/lanternvale00orri?q=lantern",
        "   passage: “rowed by the lantern till morn- ing, ‹and› no wind” “the lantern & the bell”",
    ]
    assert max(map(len, lines)) > 120


@posix_only
@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_gets_its_width_bold_words_and_progress(archive, environ, columns):
    status, shown = on_a_terminal(environ, columns, "search-inside", "lantern", "--sources", "archive")

    too_long = [line for line in shown.split("\n") if columns_of(line) > columns and "https://" not in line]
    assert (status, too_long) == (0, [])
    assert shown.startswith("… the Internet Archive")
    assert "rowed by the \x1b[1mlantern\x1b[0m till morn-" in shown
    assert "The lantern of Vale" in shown  # a title is not what was found
    assert max(columns_of(line) for line in shown.split("\n")) > columns - 20


@posix_only
@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_bold_is_left_out_where_it_is_not_wanted(archive, environ, setting):
    status, shown = on_a_terminal({**environ, **setting}, 80, "search-inside", "lantern", "--sources", "archive")

    assert status == 0
    assert "\x1b" not in shown


@pytest.mark.parametrize("columns", ["80", "200"])
def test_a_pipe_is_wrapped_when_columns_says_how_wide(archive, environ, columns):
    done = run(environ, "search-inside", "lantern", "--sources", "archive", COLUMNS=columns)

    assert [line for line in done.stdout.decode().splitlines() if columns_of(line) > int(columns) and "https://" not in line] == []


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}])
def test_output_is_utf_8_whatever_the_locale(archive, environ, locale):
    done = run({**environ, **locale}, "search-inside", "lantern", "--sources", "archive")

    assert done.returncode == 0
    assert "log of the Ведмідь" in done.stdout.decode("utf-8")


def test_json_is_the_structured_content(archive, environ):
    from jsonschema import Draft202012Validator

    done = run(environ, "search-inside", "lantern", "--sources", "archive", "--json")

    payload = json.loads(done.stdout)
    Draft202012Validator(schema_file("search_inside.output")).validate(payload)
    assert (done.returncode, payload["hit_count"], payload["hits"][0]["identifier"]) == (0, 3, "archive:lanternvale00orri")


def test_csv_has_a_line_a_row_and_the_query_that_found_it(archive, environ):
    """RFC 4180: CRLF, a header, quoted where needed; failures and notes go to standard error, since a table has no place for them."""
    done = run(environ, "search-inside", "lantern", "--sources", "archive,loc", "--csv")

    rows = list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))
    assert done.returncode == 0
    assert done.stdout.count(b"\r\n") == done.stdout.count(b"\n") == 4
    assert [(row["identifier"], row["found_by_query"], row["query"]) for row in rows] == [
        (row["identifier"], "lantern", "lantern") for row in rows]
    assert rows[0]["excerpts"] == "rowed by the lantern till morn- ing, <and> no wind | the lantern & the bell"
    assert done.stderr.decode().startswith("Failed: the Library of Congress, during the search: ")


def test_facets_are_drawn_a_bar_a_decade_or_a_year_for_each_archive():
    """Each archive counts its own things, so each has its own scale and nothing is added; a decade without a count is drawn empty, and what
    spans fewer than thirty years is drawn by years."""
    years = {"archive": [("1851", 30), ("1859", 10), ("1881", 20), ("undated", 5)], "loc": [("1901", 2), ("1903", 1)]}
    answer = InsideAnswer(
        query="fog", excerpt_kinds={}, per_source=tuple(Report(source=key, name=f"Archive {key}", status="answered") for key in years),
        facets=tuple(Facet(source=key, field="year", counts_what="pages", values=tuple(FacetValue(value=v, count=n) for v, n in values))
                     for key, values in years.items()))

    status, out, _ = in_process("search-inside", "fog", "--facets", client=Saying(answer), COLUMNS="60")

    assert status == 0
    assert out.splitlines()[-9:] == [
        "Decades: Archive archive, pages", f"  1850s {'█' * 40} 40", "  1860s 0", "  1870s 0", f"  1880s {'█' * 20} 20",
        "Years: Archive loc, pages", f"  1901 {'█' * 40} 2", "  1902 0", f"  1903 {'█' * 20} 1"]


def test_an_answer_in_part_is_an_answer(archive, environ):
    """The Library's route is missing behind this gateway: its failure is named, the other rows stand, the status is 0."""
    done = run(environ, "search-inside", "lantern", "--sources", "archive,loc")

    assert done.returncode == 0
    assert "\nFailed: the Library of Congress, during the search: " in done.stdout.decode()
    assert "archive:lanternvale00orri" in done.stdout.decode()


# ---- what goes wrong -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("columns", ["80", "200"])
def test_a_failing_archive_alone_is_status_1_with_its_reason(stand_in, environ, columns):
    done = run(environ, "search-inside", "lantern", "--sources", "loc", BOOKS_GATEWAY=stand_in.address, COLUMNS=columns)

    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().startswith("Error: network_error.")
    assert "Failed: the Library of Congress" in done.stderr.decode()


@pytest.mark.parametrize(("arguments", "told"), [
    (["search-inside", "fog", "--limit", "150"], "--limit is 150; wanted: at most 100.\nHint: --limit: "),
    (["search-inside", "fog", "--limit", "many"], '--limit is "many"'),
    (["search-inside", "fog", "--sources", "nowhere"], "nowhere"),
    (["search-items"], "search-items needs something to search on"),
    (["search-items", "--year-from", "1900", "--year-to", "1800"], "--year-from (1900) lies after --year-to (1800)"),
    (["search-items", "--isbn", "12"], "--isbn: '12' is no ISBN."),
    (["search-inside", "fog", "--nosuch", "1"], "--nosuch"),
    (["search-inside", "fog", "--lim", "2"], "--lim"),
    (["search-inside"], "search-inside needs QUERY."),
    (["get-item", "x", "--csv"], "--csv"),
    (["search-inside", "fog", "--json", "--csv"], "--csv"),
    (["read-text", "12345", "--page", "1"], "12345"),
    (["nosuch"], "there is no command 'nosuch'. mcp-books --help lists them."),
    (["serch_items", "fog"], "there is no command 'serch_items'. Did you mean 'search-items'?"),
    (["sequential-report", "--steps", "no-such-file"], "steps"),
    (["sequential-report", "--steps", "-", "--topic", "fog"], "--steps"),
])
def test_bad_input_is_status_2_before_any_request(stand_in, environ, arguments, told):
    done = run(environ, *arguments, BOOKS_GATEWAY=stand_in.address)

    assert (done.returncode, done.stdout, stand_in.seen) == (2, b"", [])
    assert told in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(("arguments", "told"), [
    (["search-inside", "a", "wet", "fog"], 'put the words in quotation marks: mcp-books search-inside "a wet fog"'),
    (["search-items", "a", "fog", "--limit", "2"], 'put the words in quotation marks: mcp-books search-items "a fog"'),
    (["search-inside", "fog", "--sorces", "loc"], "there is no flag --sorces. Did you mean '--sources'?"),
    (["search-inside", "fog", "--lim=2"], "there is no flag --lim. Did you mean '--limit'?"),
    (["get-item", "x", "--csv"], "--csv is for lists alone: search-inside, search-items, search-headings, browse-collections."),
    (["get-item", "loc:1", "loc:2"], "nothing here takes the word 'loc:2'.")])
def test_a_command_line_that_cannot_be_read_says_what_would_do(arguments, told):
    """Under the command's own usage, not that of the whole program."""
    status, out, err = in_process(*arguments)

    assert (status, out) == (2, "")
    assert err.splitlines()[0].startswith(f"usage: mcp-books {arguments[0]} [flags]")
    assert err.splitlines()[-1] == f"mcp-books {arguments[0]}: error: {told}"


@pytest.mark.parametrize(("written", "told"), [
    (None, "The steps cannot be read from {0!r}: No such file or directory."),
    (b"\xff\n", "The steps cannot be read from {0!r}: it is no text in UTF-8."),
    (b"\n", "No step stands in {0!r}."), (b'{"topic": "fog"}\n\n[1]\n', "Line 3 of the steps is no JSON object."),
    (b"topic\n", "Line 1 of the steps is no JSON object.")])
def test_steps_that_cannot_be_read_say_which_and_why(tmp_path, written, told):
    """The file as it was named, the system's own reason, the line."""
    file = tmp_path / "steps"
    if written is not None:
        file.write_bytes(written)

    status, out, err = in_process("sequential-report", "--steps", str(file))

    assert (status, out) == (2, "")
    assert err.splitlines()[0] == "Error: invalid_input. " + told.format(str(file))


@pytest.mark.parametrize("answer", [
    ReportAnswer(report_id="7", step="planned", next_step="Search."), InvalidInput("No report is open.")])
def test_a_report_that_ends_with_its_command_is_told_so(answer):
    """Otherwise "Next step" would send the reader to a command that knows nothing of the report."""
    _, _, err = in_process("sequential-report", "--topic", "fog", client=Saying(answer))

    assert err.splitlines()[-1] == ("mcp-books: a report lives no longer than its command; write all its steps, "
                                    "a JSON object a line, into a file and give --steps FILE.")


def test_a_failure_asked_for_as_json_is_json(stand_in, environ):
    """Standard output has the error and each archive's part, standard error the text; the status is that of the failure."""
    done = run(environ, "search-inside", "lantern", "--sources", "loc,bnf", "--json", BOOKS_GATEWAY=stand_in.address)

    told = json.loads(done.stdout)
    assert (done.returncode, list(told)) == (1, ["error", "per_source"])
    assert (told["error"]["code"], told["error"]["message"]) == (
        "network_error", "None of the archives asked could answer; this says nothing about what they hold.")
    assert [(report["source"], report["status"]) for report in told["per_source"]] == [("loc", "failed"), ("bnf", "absent")]
    assert done.stderr.decode().startswith("Error: network_error.")


def test_the_error_of_one_archive_as_json_has_its_wait_and_no_reports():
    refused = RateLimited("Not now.", hint="Wait.", retry_after_s=89.5)

    status, out, _ = in_process("get-item", "loc:1", "--json", client=Saying(refused))

    assert (status, json.loads(out)) == (
        1, {"error": {"code": "rate_limited", "message": "Not now.", "hint": "Wait.", "retry_after_s": 90}})


def test_no_such_record_is_status_1():
    status, out, err = in_process("get-item", "archive:none", client=Saying(RecordNotFound("Nothing is filed there.")))

    assert (status, out) == (1, "")
    assert err.startswith("Error: not_found. Nothing is filed there.\n")


def redirected(environ: dict[str, str], how: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A command with the shell's own redirections; "unread" gives standard error to nobody."""
    if "/dev/full" in how and not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    ours, theirs = os.pipe()
    os.close(ours)
    words = shlex.join([sys.executable, str(PROGRAM), *arguments])
    try:
        return subprocess.run(["sh", "-c", words if how == "unread" else f"{words} {how}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=theirs if how == "unread" else subprocess.PIPE, timeout=WAIT_S, cwd=ROOT, check=False, env=environ)
    finally:
        os.close(theirs)


@posix_only
@pytest.mark.parametrize("how", ["2>&-", "2>/dev/full", "unread"])
@pytest.mark.parametrize(("arguments", "status"), [
    (["search-inside", "lantern", "--sources", "archive,loc", "--csv"], 0), (["search-inside", "fog", "--limit", "150"], 2),
    (["search-inside", "fog", "--nosuch"], 2), (["search-inside", "lantern", "--sources", "loc", "--json"], 1), (["--version"], 0),
    (["check", "lok"], 2), (["demo"], 0)])
def test_output_and_status_never_depend_on_standard_error(archive, environ, how, arguments, status):
    """Closed, full, or a pipe whose reader has gone."""
    environ = {**environ, "BOOKS_CACHE_TTL_MS": "soon"}  # a warning stands first on standard error
    whole = run(environ, *arguments)
    done = redirected(environ, how, *arguments)

    assert (whole.returncode, done.returncode) == (status, status)
    assert timeless(done.stdout) == timeless(whole.stdout)


def timeless(output: bytes) -> bytes:
    """What was written, without when it was retrieved."""
    return re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d+ ms", b"", output)


@posix_only
@pytest.mark.parametrize(("how", "why"), [(">&-", "it is closed"), (">/dev/full", "No space left on device")])
@pytest.mark.parametrize("arguments", [
    ["search-inside", "lantern", "--sources", "archive"], ["--version"], ["get-item", "--help"], ["demo"], ["check", "--help"]])
def test_an_answer_that_cannot_be_written_is_one_line_and_status_1(archive, environ, how, why, arguments):
    """No traceback, and nothing that looks like success."""
    done = redirected(environ, how, *arguments)

    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"mcp-books: standard output does not take the answer: {why}.\n"


@posix_only
def test_steps_from_a_closed_standard_input_are_bad_input(environ):
    done = redirected(environ, "<&-", "sequential-report", "--steps", "-")

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines()[0] == "Error: invalid_input. The steps cannot be read from '-': Bad file descriptor."


@posix_only
def test_an_interrupt_is_status_130_and_quiet(stand_in, environ):
    stand_in.add(INSIDE, fault="silent")
    process = subprocess.Popen([sys.executable, str(PROGRAM), "search-inside", "fog", "--sources", "archive"], cwd=ROOT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**environ, "BOOKS_GATEWAY": stand_in.address},
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a suite in the background ignores it
    ends = time.monotonic() + WAIT_S
    while not stand_in.seen and time.monotonic() < ends:
        time.sleep(0.02)

    process.send_signal(signal.SIGINT)

    assert process.communicate(timeout=WAIT_S) == (b"", b"")
    assert process.returncode == 130


def test_a_reader_that_goes_away_ends_it_quietly(archive, environ):
    """`| head`: no traceback, no complaint."""
    process = subprocess.Popen([sys.executable, str(PROGRAM), "search-inside", "lantern", "--sources", "archive"], cwd=ROOT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ)
    assert process.stdout is not None
    process.stdout.close()

    assert process.wait(WAIT_S) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_setting_that_cannot_be_read_warns_and_the_answer_comes(archive, environ):
    done = run(environ, "search-inside", "lantern", "--sources", "archive", BOOKS_CACHE_TTL_MS="soon")

    assert done.returncode == 0
    assert done.stderr.decode().startswith("mcp-books: BOOKS_CACHE_TTL_MS: cannot read 'soon'")


# ---- reading the command line ----------------------------------------------------------------------------------------

@pytest.mark.parametrize(("line", "tool", "arguments"), [
    ("search-inside fog", "search_inside", {"query": "fog"}),
    ("search_inside fog", "search_inside", {"query": "fog"}),
    ("search-inside --phrase wet|fog", "search_inside", {"query": '"wet fog"'}),
    ("search-items lantern --phrase wet|fog", "search_items", {"query": 'lantern "wet fog"'}),
    ("read-text loc:1 --phrase wet|fog", "read_text", {"identifier": "loc:1", "match": '"wet fog"'}),
    ("search-inside fog --limit 2 --no-fan-out --facets", "search_inside", {"query": "fog", "limit": "2", "fan_out": False, "facets": True}),
    ("search-items --title quay --year-from -50", "search_items", {"title": "quay", "year_from": "-50"}),
    ("search-items fog --sources loc,archive --sources bnf", "search_items", {"query": "fog", "sources": ["loc", "archive", "bnf"]}),
    ("get-item loc:1 --sections pages,citation", "get_item", {"identifier": "loc:1", "sections": ["pages", "citation"]}),
    ("browse-collections", "browse_collections", {}),
    ("sequential-report --sources-used 1,2 --no-next-section-needed", "sequential_report",
     {"sources_used": ["1", "2"], "next_section_needed": False}),
])
def test_a_command_line_becomes_the_tools_arguments_and_no_others(line, tool, arguments):
    """What was not given is not sent, so that defaults stay the tool's; numbers stay texts, which the client reads or refuses."""
    command = read_command([word.replace("|", " ") for word in line.split()], tool_schemas(Settings()))

    assert (command.tool, command.steps, command.form) == (tool, (arguments,), "text")


def test_the_client_is_asked_once_and_closed():
    client = Saying(RecordNotFound("x"))

    in_process("get-item", "loc:1", client=client)

    assert client.asked == [("get_item", {"identifier": "loc:1"}), ("closed", None)]


def test_tools_that_the_operator_left_out_are_no_commands():
    status, _, err = in_process("get-item", "loc:1", client=Saying(None), BOOKS_TOOLS="search_inside")

    assert status == 2
    assert "get-item" in err


@pytest.mark.parametrize(("settings", "seconds"), [
    (Settings(), 90.0), (Settings(timeout_ms=1000), 2.0),
    (Settings(call_budget_ms=7000, origin={"call_budget_ms": "BOOKS_CALL_BUDGET_MS"}), 7.0)])
def test_a_commands_budget_is_twice_one_requests_unless_set(settings, seconds):
    """No host cuts a command: 2 x BOOKS_TIMEOUT_MS, or BOOKS_CALL_BUDGET_MS."""
    assert budget_s(settings) == seconds


@pytest.mark.parametrize("name", ["demo", "check"])
def test_the_programs_own_commands_get_the_rest_of_the_line(monkeypatch, name):
    told: list[Any] = []
    module = types.ModuleType(f"sources.shell.{name}")
    module.main = lambda argv, **streams: told.append((argv, sorted(streams))) or 1  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, f"sources.shell.{name}", module)

    status, _, _ = in_process(name, "--all")

    assert (status, told) == (1, [(["--all"], ["environ", "stderr", "stdout"])])


def test_a_report_is_written_in_one_go_from_its_steps(tmp_path):
    """A report lives as long as its process, so a file holds all its steps, one JSON object a line; the last answer is shown."""
    steps = [{"topic": "fog", "report_id": "r1"}, {"search_sources": True}, {"is_bibliography": True, "section_number": 1},
             {"section_number": 2, "title": "Fog", "content": "It was wet.", "sources_used": [1], "next_section_needed": False}]
    file = tmp_path / "steps.jsonl"
    file.write_text("\n\n".join(map(json.dumps, steps)), encoding="utf-8-sig")  # as some editors do
    client = toys.client(toys.archive("toy", catalogue=toys.page(toys.record("toy:1"))), state_dir=None)

    status, out, err = in_process("sequential-report", "--steps", str(file), client=client)

    assert (status, err) == (0, "")
    assert "\n## Fog\n\nIt was wet.\n" in out


@pytest.mark.parametrize("steps", ["not json", "[1]", "", "1"])
def test_steps_that_are_no_objects_are_refused(tmp_path, steps):
    file = tmp_path / "steps.jsonl"
    file.write_text(steps, encoding="utf-8")

    status, out, err = in_process("sequential-report", "--steps", str(file), client=Saying(None))

    assert (status, out, err.splitlines()[1]) == (2, "", "Hint: Write one JSON object of arguments a line.")


# ---- forms of output -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "cell"), [
    ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(1)", "'@SUM(1)"), ("\t=1", "'=1"), ("＝1", "'＝1"),
    ("\u200b=1", "'=1"), ("a=1", "a=1"), ("two\r\nlines", "two lines"), ("\x1b[2Jgone", "gone"), ('say "fog", now', 'say "fog", now'),
])
def test_a_cell_is_one_line_that_no_spreadsheet_computes(text, cell):
    payload = {"items": [{"identifier": "a:1", "source": "a", "title": text, "year": -50, "online": True, "subjects": [text, "b"],
                          "rating": {"average": 4.5}}], "per_source": [{"source": "a", "retrieved_at": "2026-11-02T10:00:00Z", "attribution": text}]}

    (row,) = csv.DictReader(io.StringIO(table("search_items", payload, asked="fog"), newline=""))

    assert (row["title"], row["year"], row["online"], row["subjects"], row["rating"], row["creator"], row["query"], row["retrieved_at"], row["attribution"]) == (
        cell, "-50", "true", f"{cell} | b" if "\r" not in text else "two lines | b", '{"average": 4.5}', "", "fog", "2026-11-02T10:00:00Z", cell)


def test_an_empty_table_still_names_its_columns():
    assert table("search_headings", {"headings": [], "per_source": []}, asked="fog") == (
        "label,uri,identifier,kind,source,exact,variant,born,died,work_count,top_work,use_with,because,query,retrieved_at,attribution\r\n")


def test_counts_are_a_table_of_their_own():
    """A value a row, and what is counted beside it; nothing of it stands among the rows that were found."""
    facet = Facet(source="archive", field="year", counts_what="documents, all", values=(FacetValue(value="1851", count=30), FacetValue(value="=1", count=2)))
    client = Saying(InsideAnswer(query="fog", excerpt_kinds={}, per_source=(), facets=(facet,)))

    status, out, err = in_process("search-inside", "fog", "--facets-csv", client=client)

    assert (status, err, client.asked[0]) == (0, "", ("search_inside", {"query": "fog", "facets": True}))
    assert out == ("source,field,value,count,counts_what\r\n" 'archive,year,1851,30,"documents, all"\r\n' 'archive,year,\'=1,2,"documents, all"\r\n')
    assert facets_table({}) == "source,field,value,count,counts_what\r\n"


@pytest.mark.parametrize("form", ["--csv", "--facets-csv"])
def test_a_table_begins_with_a_byte_order_mark_where_it_is_wanted(form):
    said = [in_process("search-inside", "fog", form, *more, client=Saying(InsideAnswer(query="fog", excerpt_kinds={}, per_source=())))[1] for more in ((), ("--bom",))]

    assert said[1] == "\ufeff" + said[0]


def test_json_on_a_terminal_cannot_steer_it():
    """C1 controls, direction overrides and separators are written as escapes; the value read back is the one published."""
    payload = {"title": "a\x9b31m\u202eb\u2028c\x1b[2J été\U000e0041"}

    shown = visible_json(payload)

    assert json.loads(shown) == payload
    assert all(char.isprintable() or char == "\n" for char in shown)


@pytest.mark.parametrize(("line", "columns", "wrapped"), [
    ("1. one two three four five six seven eight nine", 40, ["1. one two three four five six seven", "   eight nine"]),
    ("> " + "word " * 10, 40, ["> word word word word word word word", "> word word word"]),
    ("   https://archive.example/" + "x" * 40 + " end", 40, ["   https://archive.example/" + "x" * 40, "   end"]),
    ("- " + "霧" * 30, 40, ["- " + "霧" * 19, "  " + "霧" * 11]),
    ("한국 " + "가나다라마바사 " * 4, 40, ["한국 가나다라마바사 가나다라마바사", "가나다라마바사 가나다라마바사"]),
    ("- " + "\u1112\u1161\u11ab" * 30, 40, ["- " + "\u1112\u1161\u11ab" * 19, "  " + "\u1112\u1161\u11ab" * 11]),
    ("- " + "น้ำ" * 20 + " ท่า", 40, ["- " + "น้ำ" * 19, "  น้ำ ท่า"]),
    ("1. " + "เก่า" * 15, 40, ["1. " + "เก่า" * 12, "   " + "เก่า" * 3]),
    ("> https://archive.example/" + "ท่า" * 30, 40, ["> https://archive.example/" + "ท่า" * 30]),
    ("e\u0301" * 30 + " end", 40, ["e\u0301" * 30 + " end"]),
    ("", 40, [""]),
])
def test_lines_are_wrapped_under_their_text_and_no_address_is_broken(line, columns, wrapped):
    """Wide characters take two columns and need no blank to part; marks take none."""
    assert readable(line, Screen(columns=columns)).split("\n") == wrapped


def test_only_what_was_found_is_marked_whole_words_whatever_their_case_and_accents():
    text = "Search inside: “fog”\n1. A fog — x\n   passage: “Fög in the foggy FOG” and 1 more fog\n   found by “fog”\n> the fog"

    assert readable(text, Screen(bold=True), mark=["fog", ""]).split("\n") == [
        "Search inside: “fog”", "1. A fog — x", "   passage: “\x1b[1mFög\x1b[0m in the foggy \x1b[1mFOG\x1b[0m” and 1 more fog",
        "   found by “fog”", "> the \x1b[1mfog\x1b[0m"]


def test_years_that_are_none_draw_no_bar():
    payload = {"per_source": [], "facets": [{"source": "a", "field": "year", "counts_what": "pages", "values": [{"value": "undated", "count": 3}]},
                                            {"source": "a", "field": "subject", "counts_what": "items", "values": [{"value": "1850", "count": 3}]}]}

    assert list(decades(payload, Screen())) == []


def test_a_refusal_by_every_archive_is_bad_input():
    status, _, err = in_process("search-inside", "fog", client=Saying(InvalidInput("The query is refused.")))

    assert (status, err.splitlines()[0]) == (2, "Error: invalid_input. The query is refused.")


@pytest.fixture(autouse=True)
def quiet_log() -> Iterator[None]:
    """A command sets up the log of its process; in this one it is put back."""
    import logging

    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
