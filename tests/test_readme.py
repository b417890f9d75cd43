"""README keeps its word: its blocks run, its questions are answered by the sample shelf, its tables say what the code says.

Both halves, English and French, are held to the same. Nothing here needs a network: see INSTEAD.
"""
from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import mcp_books
from sources import errors
from sources.asking.schemas import TOOLS, schema_file, tool_schemas
from sources.registry import ARCHIVES, ENTRIES, Entry
from sources.settings import PROJECT_URL, Settings, read_settings
from sources.shell.demo import SHELF

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FRENCH_BEGINS = "# mcp-books (français)\n"
HALVES = {"en": README.partition(FRENCH_BEGINS)[0], "fr": "".join(README.partition(FRENCH_BEGINS)[1:])}

# What needs a network, an installation or another program, as (command, what is run in its place). Every flag of the command
# must then stand in what is printed.
INSTEAD = (
    (r"(python3? -m venv) .*", r"\1 --help"),
    (r"git clone .*|cd mcp-books|\. \.venv/bin/activate", ":"),
    (r"(python -m pip \w+) .*", r"\1 --help"),
    (r"python -m pytest", "python -m pytest --version"),
    (r"(python3? mcp_books\.py check) .*", r"\1 --help"),
    (r"(python tests/manifest\.py \S+) > \S+", r"\1"),
    (r"(?:claude mcp add \w+ --|npx @modelcontextprotocol/inspector) (\S+ \S+)", r"\1 --version"),
)
OF_A_SYSTEM = {  # interpreter and program as README spells them
    "Linux": ("/home/you/mcp-books/.venv/bin/python", "/home/you/mcp-books/mcp_books.py"),
    "macOS": ("/Users/you/mcp-books/.venv/bin/python", "/Users/you/mcp-books/mcp_books.py"),
    "Windows": (r"C:\Users\you\mcp-books\.venv\Scripts\python.exe", r"C:\Users\you\mcp-books\mcp_books.py"),
}
MISSED = "this one is not on the shelf"  # what is said of a question that the sample shelf does not answer
NONE, REQUIRED, DEFAULT_SOURCES = {"none", "aucun"}, {"required", "obligatoire"}, {"by default", "par défaut"}
YES, NO = {"yes", "oui"}, {"no", "non"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    kind: str
    body: str


def blocks(text: str, *kinds: str) -> list[Block]:
    found = [Block(kind=kind, body=body) for kind, body in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)]
    return [block for block in found if not kinds or block.kind in kinds]


def headings(text: str) -> list[tuple[int, str]]:
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return [(len(marks), title) for marks, title in re.findall(r"^(#+) (.*)$", outside, re.MULTILINE)]


def section(half: str, number: int) -> str:
    """The text under a heading, counted from 0, up to the next one of any level."""
    titles = headings(HALVES[half])
    marks, title = titles[number]
    rest = HALVES[half].partition(f"{'#' * marks} {title}\n")[2]
    following = "".join(f"{'#' * titles[number + 1][0]} {titles[number + 1][1]}\n") if number + 1 < len(titles) else "\0"
    return rest.partition("\n" + following)[0]


def section_named(half: str, english_title: str) -> str:
    """The section in either half whose English heading is given: both have the same headings in the same places."""
    return section(half, [title for _, title in headings(HALVES["en"])].index(english_title))


def table(text: str) -> list[list[str]]:
    """The rows of the one table in a section, without its head."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def names(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def bare(value: str) -> str:
    return value.replace("`", "")


# ---- the blocks ----------------------------------------------------------------------------------------------------------

@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A shell in which python and mcp-books are this interpreter and this checkout, and the sample shelf answers."""
    for name, command in {"python": "", "python3": "", "mcp-books": f' "{ROOT / "mcp_books.py"}"'}.items():
        (tmp_path / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{command} "$@"\n', encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    return {"PATH": f"{tmp_path}{os.pathsep}{os.defpath}", "PYTHONDONTWRITEBYTECODE": "1", "BOOKS_STATE_DIR": "off",
            "BOOKS_REPLAY_DIR": str(SHELF), "HOME": str(tmp_path)}


def commands(block: Block) -> list[str]:
    """The commands of a shell block: lines, with continued ones joined and && taken apart."""
    lines = block.body.replace("\\\n", " ").splitlines()
    return [command.strip() for line in lines for command in line.split(" && ") if command.strip()]


def replaced(command: str) -> str | None:
    """What is run in place of a command; None when it runs as it stands."""
    for pattern, instead in INSTEAD:
        if re.fullmatch(pattern, command):
            return re.sub(pattern, instead, command)
    return None


def at_hand(command: str) -> str:
    """A command with the paths of README's machines replaced by this interpreter and this checkout."""
    interpreter, program = OF_A_SYSTEM["Linux"]
    return command.replace(interpreter, f'"{sys.executable}"').replace(program, f'"{ROOT / "mcp_books.py"}"')


def run(command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT, env=environment, timeout=120, check=False)


@pytest.mark.skipif(os.name == "nt", reason="the shell blocks are written for a POSIX shell")
@pytest.mark.parametrize("command", [command for block in blocks(HALVES["en"], "sh") for command in commands(block)])
def test_every_shell_block_runs_and_the_shelf_answers_its_questions(command: str, environment: dict[str, str]) -> None:
    instead = replaced(command)

    ended = run(["sh", "-c", at_hand(instead or command)], environment)

    assert ended.returncode == 0, ended.stderr
    assert MISSED not in ended.stdout + ended.stderr
    if instead and instead != ":" and not instead.endswith("--version"):
        assert [flag for flag in re.findall(r" (--[a-z-]+)", command) if flag not in ended.stdout] == []


def test_what_is_not_run_as_it_stands_is_little() -> None:
    """Seven kinds of command, each of them met."""
    unrun = [command for block in blocks(HALVES["en"], "sh") for command in commands(block) if replaced(command)]

    assert {pattern for pattern, _ in INSTEAD for command in unrun if re.fullmatch(pattern, command)} == {pattern for pattern, _ in INSTEAD}
    assert len(INSTEAD) == 7


def test_the_clone_is_made_of_the_projects_own_page() -> None:
    assert re.findall(r"git clone (\S+)", README) == [PROJECT_URL] * len(HALVES)


@pytest.mark.parametrize("block", blocks(HALVES["en"], "python"), ids=lambda block: block.body.splitlines()[0][:40])
def test_every_python_block_runs(block: Block, environment: dict[str, str]) -> None:
    """The line for the registry stands alone in README; in its place it knows the name Entry."""
    around = "from sources.registry import Entry\n" if block.body.startswith("Entry(") else ""

    ended = run([sys.executable, "-W", "error", "-c", around + block.body], {**os.environ, **environment})

    assert (ended.returncode, ended.stderr) == (0, "")
    assert MISSED not in ended.stdout


@pytest.mark.parametrize("block", blocks(HALVES["en"], "json"), ids=lambda block: block.body.splitlines()[1][:60])
def test_every_configuration_starts_the_server(block: Block) -> None:
    """Parsed, its paths replaced by this machine's, started in an environment that holds nothing but what the block sets."""
    entry = next(iter(next(iter(json.loads(block.body).values())).values()))
    interpreter, program = entry["command"], entry["args"][0]

    ended = run([sys.executable, str(ROOT / "mcp_books.py"), "--version"],
                {**entry.get("env", {}), **{name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}})

    assert (interpreter, program) in OF_A_SYSTEM.values()
    assert entry["args"][1:] == []
    assert (ended.returncode, ended.stdout) == (0, f"mcp-books {mcp_books.__version__}\n")


@pytest.mark.parametrize("half", HALVES)
def test_the_paths_of_three_systems_are_given(half: str) -> None:
    rows = table(section_named(half, "In a host"))

    assert {row[0]: tuple(map(bare, row[1:])) for row in rows} == OF_A_SYSTEM


@pytest.mark.skipif(os.name == "nt", reason="the shell blocks are written for a POSIX shell")
def test_the_answer_shown_is_the_one_given(environment: dict[str, str]) -> None:
    question, _ = blocks(section_named("en", "A question and its answer"), "sh")
    shown, = blocks(section_named("en", "A question and its answer"), "text")

    assert run(["sh", "-c", question.body], environment).stdout == shown.body


def test_the_module_shown_is_the_one_tested() -> None:
    from test_new_archive import ENTRY

    shown = blocks(section_named("en", "Adding an archive"), "python")

    assert [block.body for block in shown] == [(ROOT / "tests" / "village.py").read_text(encoding="utf-8"), ENTRY + "\n"]


def test_the_nginx_configuration_shown_is_the_one_tested() -> None:
    shown, = blocks(section_named("en", "Many machines"), "nginx")

    assert shown.body == (ROOT / "tests" / "nginx.conf").read_text(encoding="utf-8")


# ---- both languages ------------------------------------------------------------------------------------------------------

def test_both_halves_have_the_same_structure() -> None:
    assert [marks for marks, _ in headings(HALVES["fr"])] == [marks for marks, _ in headings(HALVES["en"])]


def test_both_halves_have_the_same_blocks() -> None:
    """Two long files and the programs are shown once, and the French half points to them."""
    shown_once = [*blocks(HALVES["en"], "nginx"), *blocks(section_named("en", "As a library")), *blocks(section_named("en", "Adding an archive"))]

    assert blocks(HALVES["fr"]) == [block for block in blocks(HALVES["en"]) if block not in shown_once]


@pytest.mark.parametrize("half", HALVES)
def test_both_halves_refuse_fifteen_things(half: str) -> None:
    numbers = re.findall(r"^(\d+)\. ", section_named(half, "What it refuses to claim"), re.MULTILINE)

    assert numbers == [str(number) for number in range(1, 16)]


def test_every_link_inside_leads_to_a_heading() -> None:
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for half in HALVES.values() for _, title in headings(half)}

    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= anchors


def test_nothing_names_where_packages_or_this_checkout_come_from() -> None:
    assert re.findall(r"pypi|pythonhosted|npmjs|/tmp\b|/root\b|/work\b", README + (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) == []


# ---- the tables ----------------------------------------------------------------------------------------------------------

def arguments(half: str, tool: str) -> Iterator[tuple[str, str, str]]:
    """(name, values, default) of each argument in a tool's table; one row may hold several, parted by a middle dot."""
    for row in table(section_named(half, tool)):
        row_names = names(row[0])
        for place, name in enumerate(row_names):
            values, default = ((cell.split(" · ") if " · " in cell else [cell] * len(row_names))[place] for cell in row[1:3])
            yield name, values, default


def stated_default(rule: Mapping[str, Any]) -> set[str]:
    default = rule["default"]
    return {", ".join(default) if isinstance(default, list) else str(default).lower()}


def values_hold(rule: Mapping[str, Any], told: str) -> bool:
    """Whether a cell says what a schema rule allows: bounds, names, truth values, lengths."""
    if "minimum" in rule and rule["type"] == "integer":
        return told == f"{rule['minimum']}–{rule['maximum']}" if "maximum" in rule else told.split()[0] == str(rule["minimum"])
    if rule["type"] == "boolean":
        return told == "true, false"
    if "default" in rule:  # a closed list of words; the archives' ids and kinds have a table of their own
        return told == ", ".join(rule.get("items", rule)["enum"])
    return {int(number) for number in re.findall(r"\d+", told)} <= {rule.get("minLength"), rule.get("maxLength")}


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("tool", TOOLS)
def test_the_arguments_of_a_tool_are_its_schemas(tool: str, half: str) -> None:
    schema = tool_schemas(Settings())[tool]["inputSchema"]

    told = list(arguments(half, tool))

    assert sorted(name for name, _, _ in told) == sorted(schema["properties"])
    for name, values, default in told:
        rule = schema["properties"][name]
        allowed = stated_default(rule) if "default" in rule else REQUIRED if name in schema.get("required", ()) else \
            DEFAULT_SOURCES if name == "sources" else NONE
        assert default in allowed, name
        assert values_hold(rule, values), (name, values)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("tool", TOOLS)
def test_what_comes_back_is_the_output_schemas(tool: str, half: str) -> None:
    line, = re.findall(r"(?:It returns|Il renvoie) (.*)$", section_named(half, tool), re.MULTILINE)

    assert names(line) == list(schema_file(f"{tool}.output")["properties"])


@pytest.mark.parametrize("half", HALVES)
def test_the_part_of_an_archive_is_told_in_its_own_keys(half: str) -> None:
    paragraph, = re.findall(r"^`per_source` .*$", section_named(half, "The tools"), re.MULTILINE)

    assert set(names(paragraph)) - {"per_source"} <= set(schema_file("per_source")["properties"])


@pytest.mark.parametrize("half", HALVES)
def test_the_archives_are_the_registrys(half: str) -> None:
    rows = table(section_named(half, "The archives"))

    assert [(bare(row[0]), tuple(names(row[2])), row[3] in YES, tuple(row[5].split(", "))) for row in rows] == [
        (entry.key, in_order(entry), entry.asked_by_default, entry.media_types) for entry in ENTRIES]
    assert all(row[3] in YES | NO for row in rows)
    assert [set(re.findall(r"\d+ s\b", row[4])) for row in rows] == [
        {f"{lane.spacing_s:g} s" for lane in archive.lanes} for archive in ARCHIVES]
    if half == "en":
        assert [row[1] for row in rows] == [entry.name for entry in ENTRIES]


def in_order(entry: Entry) -> tuple[str, ...]:
    """What an archive answers, with what waits for consent last."""
    return tuple(call for call in entry.answers if call not in entry.after_consent) + entry.after_consent


def settings_read() -> list[str]:
    asked: list[str] = []

    class Listening(dict[str, str]):
        def get(self, name: str, default: Any = None) -> Any:
            asked.append(name)
            return default

    read_settings(Listening())
    return [name for name in asked if name.startswith("BOOKS_")]


@pytest.mark.parametrize("half", HALVES)
def test_the_settings_are_those_read(half: str) -> None:
    """Names in the order in which they are read, and the defaults in force when nothing is set."""
    rows = table(section_named(half, "Settings"))
    defaults = {f"BOOKS_{field.name.upper()}": getattr(Settings(), field.name) for field in dataclasses.fields(Settings)}

    assert [bare(row[0]) for row in rows] == settings_read()
    for name, default in ((bare(row[0]), row[1]) for row in rows):
        if name == "BOOKS_STATE_DIR":
            assert default.startswith("`mcp-books`")
        else:
            assert default in ({str(defaults[name])} if defaults[name] or defaults[name] == 0 and defaults[name] is not False else NONE), name


@pytest.mark.parametrize("half", HALVES)
def test_the_errors_are_the_six(half: str) -> None:
    codes = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.SourceError)}

    assert len(codes) == 6
    assert sorted(bare(row[0]) for row in table(section_named(half, "When something goes wrong"))) == sorted(codes)


# ---- the changes ---------------------------------------------------------------------------------------------------------

def test_the_first_change_is_of_this_version() -> None:
    first = next(line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line.startswith("## "))

    assert re.fullmatch(rf"## {re.escape(mcp_books.__version__)} – \d{{4}}-\d{{2}}-\d{{2}}", first)
