"""Answers that go on: as a bibliography, a document or a picture in a file, as the command that asks again, and as evidence that is checked."""
from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import shapes
import shelf
from conftest import FakeClock, Route, StandIn
from test_picture import IA, JPEG, jpeg, opened
from test_stdio import PROGRAM

from sources.asking.repeat import repeated
from sources.asking.schemas import TOOLS, tool_schemas
from sources.settings import Settings
from sources.shell.command_line import read_command
from sources.shell.completion import SHELLS
from sources.shell.exports import FROM_A_ROW

SHELF = Path(__file__).resolve().parent.parent / "sources" / "shelf"


def run(*words: str, status: int = 0, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("BOOKS_")}
    done = subprocess.run([sys.executable, str(PROGRAM), *words], capture_output=True, text=True, encoding="utf-8", cwd=cwd,
                          env={**bare, "BOOKS_STATE_DIR": "off", **environ}, timeout=120)
    assert done.returncode == status, (done.stdout, done.stderr)
    return done


def demo(*words: str, status: int = 0, **environ: str) -> subprocess.CompletedProcess[str]:
    return run(*words, status=status, BOOKS_REPLAY_DIR=str(SHELF), **environ)


# ---- files -----------------------------------------------------------------------------------------------------------------

def test_the_rows_of_a_search_are_a_bibliography_that_says_they_are_rows(tmp_path: Path) -> None:
    bibtexparser, rispy = pytest.importorskip("bibtexparser"), pytest.importorskip("rispy")
    files = {form: tmp_path / form for form in ("bibtex", "ris", "csl")}

    shown = demo("search-inside", "a wet fog", "--limit", "2", *(word for form, path in files.items() for word in (f"--{form}", str(path))))

    assert shown.stdout.startswith("Search inside: “a wet fog”: 4 rows")
    titles = ["The keeper's log of Cape Marrow light", "Image 2 of The Port Ellis gazette (Port Ellis, Maine), February 3, 1888",
              "Papers of the Marrow shore pilots", "Image 1 of The Port Ellis gazette (Port Ellis, Maine), March 10, 1893"]
    assert [entry["title"] for entry in json.loads(files["csl"].read_text("utf-8"))] == titles
    assert [entry["title"] for entry in rispy.loads(files["ris"].read_text("utf-8"))] == titles
    entries = bibtexparser.loads(files["bibtex"].read_text("utf-8")).entries
    assert [entry["title"].strip("{}") for entry in entries] == titles and all(FROM_A_ROW in entry["note"] for entry in entries)


def test_a_bibliography_on_standard_output_stands_alone() -> None:
    assert demo("search-inside", "a wet fog", "--limit", "2", "--ris", "-").stdout.startswith("TY  - ")


def test_with_full_every_record_is_read_before_it_is_cited() -> None:
    read = demo("search-inside", "a wet fog", "--limit", "2", "--bibtex", "-", "--full").stdout

    assert FROM_A_ROW not in read and "Cape Marrow" in read


def test_a_row_whose_record_could_not_be_read_is_named_and_not_dropped() -> None:
    """As many lines on standard error as the file lacks entries; one row names no record at all."""
    rows = json.loads(demo("search-items", "lighthouse", "--json").stdout)["items"]
    done = demo("search-items", "lighthouse", "--csl", "-", "--full")

    lost = [line for line in done.stderr.splitlines() if line.startswith("Not cited: ")]
    assert len(json.loads(done.stdout)) + len(lost) == len(rows)
    assert [line for line in lost if line.endswith(": its row names no record.")] == [
        f"Not cited: {row['title']}: its row names no record." for row in rows if not row.get("identifier")]
    assert "Not cited: archive:lighthouse-bell-reel: The Internet Archive is answered from kept answers alone, and this one is not on the shelf." in lost


def test_who_did_not_answer_is_said_beside_a_bibliography_on_standard_output() -> None:
    done = demo("search-inside", "a wet fog", "--ris", "-")

    assert "Absent: Open Library: " in done.stderr


@pytest.mark.parametrize("words", [("get-item", "archive:capemarrowlog00fenw"), ("read-text", "archive:capemarrowlog00fenw", "--page", "7")])
def test_a_record_and_a_page_are_cited_from_what_was_read(words: tuple[str, ...]) -> None:
    entry, = json.loads(demo(*words, "--csl", "-").stdout)

    assert entry["title"] == "The keeper's log of Cape Marrow light"
    assert FROM_A_ROW not in entry.get("note", "")


def test_an_answer_is_written_as_a_page_for_people(tmp_path: Path) -> None:
    page = tmp_path / "answer.html"

    demo("search-inside", "a wet fog", "--html", str(page))

    assert page.read_text("utf-8").startswith("<!DOCTYPE html>") and "Cape Marrow" in page.read_text("utf-8")


def test_a_file_that_is_there_is_left_before_anything_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_text("precious", encoding="utf-8")

    refused = demo("search-inside", "a wet fog", "--ris", str(path), status=2)
    assert (refused.stdout, refused.stderr.split()) == ("", f"Error: invalid_input. --ris: {path} is there already. Hint: --force writes over it.".split())
    assert path.read_text("utf-8") == "precious"

    demo("search-inside", "a wet fog", "--ris", str(path), "--force")
    assert path.read_text("utf-8").startswith("TY  - ")


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    assert "cannot be written: No such file or directory." in demo("search-inside", "a wet fog", "--ris", str(tmp_path / "no" / "file"), status=2).stderr


def test_a_picture_is_written_as_it_came(stand_in: StandIn, tmp_path: Path) -> None:
    opened(stand_in)
    stand_in.routes.insert(0, Route(at=IA, body=jpeg(), headers=JPEG))

    run("read-text", shelf.BOOK, "--page", "4", "--match", "lantern", "--picture", str(tmp_path / "page.jpg"), BOOKS_GATEWAY=stand_in.address)

    assert (tmp_path / "page.jpg").read_bytes() == jpeg()


def test_a_picture_that_is_not_open_is_no_file_and_costs_no_text(stand_in: StandIn, tmp_path: Path) -> None:
    shelf.stock(stand_in)

    done = run("read-text", shelf.BOOK, "--page", "4", "--picture", str(tmp_path / "page.jpg"), BOOKS_GATEWAY=stand_in.address)

    assert "Picture: none: No picture of this page is open" in " ".join(done.stdout.split()) and "Credit:" in done.stdout
    assert done.stderr.startswith("No picture was written. No picture of this page is open")
    assert not (tmp_path / "page.jpg").exists()


def test_a_picture_is_not_written_to_standard_output() -> None:
    refused = demo("read-text", "archive:capemarrowlog00fenw", "--page", "7", "--picture", "-", status=2)

    assert (refused.stdout, refused.stderr) == (
        "", "Error: invalid_input. --picture: a picture is not written to standard output.\nHint: Name a file.\n")


# ---- the command that asks again ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("tool", "given", "command"), [
    ("search_inside", {"query": "a wet fog", "limit": 3, "page": 1, "fan_out": True}, "mcp-books search-inside 'a wet fog'"),
    ("search_items", {"query": 'it\'s "so" $HOME', "limit": 50, "fan_out": False, "sources": ["loc", "bnf"]},
     "mcp-books search-items --limit 50 --no-fan-out --sources loc,bnf 'it'\"'\"'s \"so\" $HOME'"),
    ("search_items", {"title": "-x", "facets": True}, "mcp-books search-items --title=-x --facets"),
    ("search_headings", {"query": "--help", "kind": "person"}, "mcp-books search-headings --kind person -- --help"),
    ("browse_collections", {"limit": 25}, "mcp-books browse-collections")])
def test_a_question_is_said_again_as_a_command(tool: str, given: dict[str, object], command: str) -> None:
    assert repeated(tool, given) == command

    read = read_command(shlex.split(command)[1:], tool_schemas(Settings()))
    assert read.tool == tool
    assert {name: value for name, value in given.items() if name in read.steps[0]} == {
        name: type(given[name])(value) for name, value in read.steps[0].items()}


def test_every_search_answer_states_the_command_that_repeats_it() -> None:
    told = json.loads(demo("search-inside", "a wet fog", "--limit", "2", "--json").stdout)

    assert told["repeat_with"] == "mcp-books search-inside --limit 2 'a wet fog'"
    again = json.loads(demo(*shlex.split(told["repeat_with"])[1:], "--json").stdout)
    assert again == told


# ---- evidence --------------------------------------------------------------------------------------------------------------------

def questions(stand_in: StandIn, kept: Path, log: Path) -> None:
    """A report over two archives, five rows cited, a page read: as a host would, with every answer kept."""
    client = shelf.client(stand_in, FakeClock(), record_dir=kept, search_log=log)
    client.sequential_report(topic="lantern", source_count=5, sources=["archive", "openlibrary"])
    client.sequential_report(search_sources=True)
    client.sequential_report(is_bibliography=True)
    client.cite([shelf.BOOK, shelf.LOC_ITEM, shelf.BNF_WORK, shelf.OL_WORK, shelf.OL_EDITION], format="bibtex")
    client.read_text(shelf.BOOK, page=shelf.LEAF)
    client.close()


def test_a_log_is_verified_from_the_kept_answers_by_another_process_without_a_network(stand_in: StandIn, tmp_path: Path) -> None:
    kept, log = tmp_path / "kept", tmp_path / "log.jsonl"
    shelf.stock(stand_in)
    questions(stand_in, kept, log)
    asked = len(stand_in.seen)

    done = run("search-log", str(log), "--verify", str(kept))

    answers = len({(one["address"], str(one.get("form"))) for line in log.read_text("utf-8").splitlines() for one in json.loads(line).get("evidence", ())})
    assert answers >= 8
    assert done.stdout.splitlines()[0].startswith("Questions: 6; answers behind them: ")
    assert done.stdout.splitlines()[0].endswith(" same, 0 changed, 0 missing.")
    assert len(stand_in.seen) == asked


def test_an_answer_that_was_changed_and_one_that_is_gone_are_named(stand_in: StandIn, tmp_path: Path) -> None:
    kept, log = tmp_path / "kept", tmp_path / "log.jsonl"
    shelf.stock(stand_in)
    questions(stand_in, kept, log)
    changed = next(path for path in kept.iterdir() if "openlibrary-org-works-OL800001W-json" in path.name)
    changed.write_bytes(changed.read_bytes().replace(b"antern", b"ANTERN"))
    next(path for path in kept.iterdir() if "BookReader" in path.name).unlink()

    done = run("search-log", str(log), "--verify", str(kept), status=1)

    assert ", 1 changed, 1 missing." in done.stdout.splitlines()[0]
    assert any(line.startswith("Changed: ") and line.endswith("cite: https://openlibrary.org/works/OL800001W.json") for line in done.stdout.splitlines())
    assert any(line.startswith("Missing: ") and "read_text: https://ia600001.us.archive.org/BookReader/" in line for line in done.stdout.splitlines())


def test_a_saved_log_is_told_as_the_tool_tells_it(stand_in: StandIn, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    shelf.stock(stand_in)
    questions(stand_in, tmp_path / "kept", log)

    assert run("search-log", str(log)).stdout.startswith("Databases (item 1): ")
    assert run("search-log", str(log), "--format", "csv").stdout.startswith("asked at,tool,archive,")


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    assert "cannot be read as a search log" in run("search-log", str(tmp_path / "none"), status=2).stderr
    assert "--verify needs the log" in run("search-log", "--verify", str(tmp_path), status=2).stderr


def test_a_log_of_which_nothing_can_be_checked_is_not_verified(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("", encoding="utf-8")

    assert run("search-log", str(log), "--verify", str(tmp_path), status=1).stdout.startswith("Questions: 0; answers behind them: 0:")
    assert "none is no folder." in " ".join(run("search-log", str(log), "--verify", str(tmp_path / "none"), status=2).stderr.split())


# ---- completion --------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("shell", SHELLS)
def test_completion_names_every_command_and_flag(shell: str) -> None:
    script = run("completion", shell).stdout

    assert all(tool.replace("_", "-") in script for tool in TOOLS) and "max-excerpt-chars" in script


@pytest.mark.skipif(os.name != "posix", reason="needs bash")
def test_the_script_of_bash_completes(tmp_path: Path) -> None:
    (tmp_path / "complete").write_text(run("completion", "bash").stdout, encoding="utf-8")
    lines = "source complete; COMP_WORDS=(mcp-books search-inside --max); COMP_CWORD=2; _mcp_books; echo ${COMPREPLY[@]}"

    done = subprocess.run(["bash", "-c", lines], capture_output=True, text=True, cwd=tmp_path, timeout=60)

    assert done.stdout.split() == ["--max-excerpt-chars", "--max-excerpts-per-match"]


def test_no_shell_named_is_bad_input() -> None:
    assert run("completion", status=2).stderr == "mcp-books completion bash|zsh|fish: prints what that shell reads at its start.\n"


# ---- a long list -------------------------------------------------------------------------------------------------------------------

MEASURED = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True)
sys.stdout.buffer.write(done.stdout)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)"""


@pytest.mark.skipif(os.name != "posix", reason="the memory of a finished process is told by POSIX alone")
def test_a_thousand_rows_come_whole_through_the_shell_in_little_memory(stand_in: StandIn) -> None:
    """Ten pages of a hundred, a command each; the largest process stays below 60 MB."""
    for number in range(1, 11):
        body = shapes.archive_items(100).replace(b'"vale', f'"v{number}ale'.encode()).replace(b'"start": 0', f'"start": {100 * (number - 1)}'.encode())
        stand_in.add(r"archive\.org/advancedsearch\.php", asks={"page": f"^{number}$"}, body=body)
    found: list[str] = []
    for number in range(1, 11):
        done = subprocess.run([sys.executable, "-c", MEASURED, sys.executable, str(PROGRAM), "search-items", "lantern", "--sources", "archive",
                               "--limit", "100", "--page", str(number), "--csv"], capture_output=True, text=True, encoding="utf-8", timeout=120,
                              env={**os.environ, "BOOKS_STATE_DIR": "off", "BOOKS_GATEWAY": stand_in.address})
        found += [row["identifier"] for row in csv.DictReader(done.stdout.splitlines())]
        assert int(done.stderr) < 60_000 * (1 if sys.platform != "darwin" else 1024)

    assert len(found) == len(set(found)) == 1000
