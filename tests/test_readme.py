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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import mcp_books
from sources import errors
from sources.asking.schemas import TOOLS, schema_file, tool_schemas
from sources.registry import ARCHIVES, ENTRIES, Entry
from sources.settings import Settings, read_settings
from sources.shell.demo import SHELF

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FRENCH_BEGINS = "# mcp-books en français\n"
HALVES = {"en": README.partition(FRENCH_BEGINS)[0], "fr": "".join(README.partition(FRENCH_BEGINS)[1:])}

# What needs a network, an installation or another program, as (command, what is run in its place). Every flag of the command
# must then stand in what is printed.
INSTEAD = (
    (r"(python3? -m venv) .*", r"\1 --help"),
    (r"\. \.venv/bin/activate", ":"),
    (r"(python -m pip \w+) .*", r"\1 --help"),
    (r"python -m pytest", "python -m pytest --version"),
    (r"(python3? mcp_books\.py check) .*", r"\1 --help"),
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


def section(title: str) -> str:
    """The text under a heading of the second level, up to the next one."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0].partition("\n# ")[0]


def section_named(half: str, english_title: str) -> str:
    """A section of either half by its English heading."""
    return section(english_title if half == "en" else FRENCH[english_title])


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
    """Six kinds of command, each of them met."""
    unrun = [command for block in blocks(HALVES["en"], "sh") for command in commands(block) if replaced(command)]

    assert {pattern for pattern, _ in INSTEAD for command in unrun if re.fullmatch(pattern, command)} == {pattern for pattern, _ in INSTEAD}
    assert len(INSTEAD) == 6


def test_no_address_of_a_project_page_stands_anywhere() -> None:
    """The folder that holds README is all that a reader has, until the owner names a page."""
    assert re.findall(r"git clone|github\.com|mcp-name", README) == []


@pytest.mark.parametrize("block", blocks(HALVES["en"], "python"), ids=lambda block: block.body.splitlines()[0][:40])
def test_every_python_block_runs(block: Block, environment: dict[str, str]) -> None:
    ended = run([sys.executable, "-W", "error", "-c", block.body], {**os.environ, **environment})

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


def test_the_paths_of_three_systems_are_given() -> None:
    rows = table(section("In a host"))

    assert {row[0]: tuple(map(bare, row[1:])) for row in rows} == OF_A_SYSTEM


@pytest.mark.skipif(os.name == "nt", reason="the shell blocks are written for a POSIX shell")
def test_the_answer_shown_is_the_one_given(environment: dict[str, str]) -> None:
    question, = blocks(section("A question and its answer"), "sh")
    shown, = blocks(section("A question and its answer"), "text")

    assert run(["sh", "-c", question.body], environment).stdout == shown.body


def test_each_half_is_short_enough_to_be_read() -> None:
    assert [len(half.splitlines()) <= limit for half, limit in zip(HALVES.values(), (340, 140), strict=True)] == [True, True]


# ---- both languages ------------------------------------------------------------------------------------------------------

FRENCH = {"In five minutes": "En cinq minutes", "A question and its answer": "Une question et sa réponse", "In a host": "Dans un hôte",
          "What it refuses to claim": "Ce qu'il refuse d'affirmer", "When something goes wrong": "En cas de problème"}


def test_the_french_half_has_the_same_opening_example_refusals_and_errors() -> None:
    """What it leaves to the English tables it names by link."""
    english = [title for _, title in headings(HALVES["en"])]

    assert [title for _, title in headings(HALVES["fr"])][1:] == [FRENCH[title] for title in english if title in FRENCH]
    assert {title for title in english[1:] if title not in FRENCH} >= {"The tools", "The archives", "Settings"}


def test_the_french_half_runs_the_same_blocks() -> None:
    for title in FRENCH:
        theirs, ours = blocks(section(FRENCH[title])), blocks(section(title))
        assert [block for block in ours if block in theirs] == theirs, title


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

@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_has_a_line_whose_arguments_are_its_schemas(tool: str) -> None:
    """The line names what needs words; `--help` prints the rest."""
    line, = re.findall(rf"^- \*\*{tool}\*\* (.*)$", section("The tools"), re.MULTILINE)
    known = set(tool_schemas(Settings())[tool]["inputSchema"]["properties"]) | set(schema_file("per_source")["properties"])
    known |= set(schema_file(f"{tool}.output")["properties"]) | {"collection", "use_with", "sources"}

    assert set(names(line)) <= known


def test_the_part_of_an_archive_is_told_in_its_own_keys() -> None:
    told = re.findall(r"`(filters_dropped|queries|searches_on|row_describes|found_by_query|order)`", README)

    assert set(told) == {"filters_dropped", "queries", "searches_on", "row_describes", "found_by_query", "order"}


def test_the_archives_are_the_registrys() -> None:
    rows = table(section("The archives"))

    assert [(bare(row[0]), tuple(names(row[2])), row[3] in YES, tuple(row[5].split(", "))) for row in rows] == [
        (entry.key, in_order(entry), entry.asked_by_default, entry.media_types) for entry in ENTRIES]
    assert all(row[3] in YES | NO for row in rows)
    assert [set(re.findall(r"[\d.]+ s\b", row[4])) for row in rows] == [
        {f"{lane.spacing_s:g} s" for lane in archive.lanes} for archive in ARCHIVES]
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


def test_the_settings_are_those_read() -> None:
    """Names in the order in which they are read, and the defaults in force when nothing is set."""
    rows = table(section("Settings"))
    defaults = {f"BOOKS_{field.name.upper()}": getattr(Settings(), field.name) for field in dataclasses.fields(Settings)}

    assert [bare(row[0]) for row in rows] == settings_read()
    for name, default in ((bare(row[0]), row[1]) for row in rows):
        if name == "BOOKS_STATE_DIR":
            assert default.startswith("`mcp-books`")
        else:
            assert default in ({str(defaults[name])} if defaults[name] and defaults[name] != () or defaults[name] == 0 and defaults[name] is not False else NONE), name


@pytest.mark.parametrize("half", HALVES)
def test_the_errors_are_the_six(half: str) -> None:
    codes = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.SourceError)}

    assert len(codes) == 6
    assert sorted(bare(row[0]) for row in table(section_named(half, "When something goes wrong"))) == sorted(codes)


# ---- the changes ---------------------------------------------------------------------------------------------------------

def test_the_first_change_is_of_this_version() -> None:
    first = next(line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line.startswith("## "))

    assert re.fullmatch(rf"## {re.escape(mcp_books.__version__)} – \d{{4}}-\d{{2}}-\d{{2}}", first)
