"""An archive of one's own takes one module and one line of the registry; the module is tests/village.py, which README shows."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from village import SITE, Village

from sources.asking.schemas import tool_schemas
from sources.client import BooksClient
from sources.contract import IDENTIFYING, Query
from sources.registry import ARCHIVES
from sources.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
ENTRY = 'Entry(key="village", name="the Village Library", adapter="village.Village", answers=("search_items", "get_item"), media_types=("shelved",), ' \
        'asked_by_default=False),'
OTHERS = tuple(archive for archive in ARCHIVES if archive.key != Village.key)  # also where the line stands in the registry already
BOOKS: dict[str, Any] = {"total": 2, "books": [{"number": 12, "title": "A lamp for Marrow Head", "by": "Ada Thorne", "year": "1902"}, {"title": "Lost"}]}


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with the one answer that the Village Library gives here, to the words `lamp`."""
    folder = tmp_path / "answers"
    folder.mkdir()
    head = {"address": f"{SITE}/books.json?title=lamp&rows=5&page=1", "status": 200, "headers": {"content-type": "application/json"},
            "retrieved_at": "2026-11-30T09:00:00Z"}
    (folder / "lamp.answer").write_text(json.dumps(head) + "\n\n" + json.dumps(BOOKS), encoding="utf-8")
    one = {**head, "address": f"{SITE}/books/12.json"}
    (folder / "book.answer").write_text(json.dumps(one) + "\n\n" + json.dumps(BOOKS["books"][0]), encoding="utf-8")
    return folder


def read_row(payload: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(row["source"], row["title"], row["creator"], row["year"], row["source_url"]) for row in payload["items"]]


ROW = ("village", "A lamp for Marrow Head", "Ada Thorne", 1902, f"{SITE}/books/12")


def test_a_program_brings_an_archive_of_its_own(shelf: Path) -> None:
    """`sources=[…]` replaces the registry; what the archive does not answer it is absent from, what it cannot apply is dropped."""
    client = BooksClient(settings=Settings(replay_dir=shelf), sources=[*OTHERS, Village])

    found = client.search_items("lamp", sources=["village"], year_from=1900, creator="Thorne").to_dict()
    inside = client.search_inside("lamp", sources=["village"]).to_dict()

    report = found["per_source"][0]
    assert read_row(found) == [ROW]
    assert (report["status"], report["count"], report["reported_total"], report["skipped"]) == ("answered", 1, 2, 1)
    assert [entry["filter"] for entry in report["filters_dropped"]] == ["creator", "year_from"]
    assert [(entry["status"], entry["absent_because"]) for entry in inside["per_source"]] == [
        ("absent", "the Village Library does not answer search_inside.")]
    client.close()


def test_a_record_of_an_archive_of_ones_own_is_read_by_its_identifier(shelf: Path) -> None:
    with BooksClient(settings=Settings(replay_dir=shelf), sources=[*OTHERS, Village]) as client:
        told = client.get_item("village:12").to_dict()["item"]

    assert (told["title"], told["creator"], told["year"], told["source_url"]) == ROW[1:]



def test_the_tools_name_an_archive_that_a_program_brings() -> None:
    schemas = tool_schemas(Settings(), [*OTHERS, Village])

    properties = schemas["search_items"]["inputSchema"]["properties"]

    assert properties["sources"]["items"]["enum"] == [*(archive.key for archive in OTHERS), "village"]
    assert "shelved" in properties["media_type"]["enum"]


@pytest.mark.parametrize("name", IDENTIFYING)
def test_the_new_archive_is_not_asked_for_what_names_one_book(name: str) -> None:
    assert Village.plan_catalogue(Query(words="lamp", fields={name: "1"})).absent_because is not None


def test_one_module_and_one_registry_line_put_an_archive_into_the_server(shelf: Path, tmp_path: Path) -> None:
    """Done for real in a copy of the program: the module laid beside the others, the line put at the end of ENTRIES."""
    program = tmp_path / "program"
    for folder in ("sources", "schemas"):
        shutil.copytree(ROOT / folder, program / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mcp_books.py", program)
    shutil.copy(ROOT / "tests" / "village.py", program / "sources" / "archives")
    registry = program / "sources" / "registry.py"
    text, count = re.subn(r"(\nENTRIES = \(\n.*?\n)(\)\n)", lambda found: f"{found[1]}    {ENTRY}\n{found[2]}",
                          registry.read_text(encoding="utf-8"), flags=re.DOTALL)
    registry.write_text(text, encoding="utf-8")

    opened, listed, called = exchange(program / "mcp_books.py", shelf)

    arguments = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed["tools"]}
    payload = called["structuredContent"]
    assert count == 1
    assert "- village: the Village Library; search_items, get_item; asked only when named in sources. media_type: shelved." in opened["instructions"].splitlines()
    assert {tool for tool, rules in arguments.items() if "village" in rules.get("sources", {}).get("items", {}).get("enum", ())} == {
        "search_items", "sequential_report"}
    assert "shelved" in arguments["search_items"]["media_type"]["enum"]
    assert (read_row(payload), payload["per_source"][-1]["status"]) == ([ROW], "answered")
    assert "1. A lamp for Marrow Head — Ada Thorne (1902)" in called["content"][0]["text"]


def exchange(program: Path, shelf: Path) -> list[dict[str, Any]]:
    """The results of a host's first three requests to the real process, the last one a search in the new archive."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    search = {"name": "search_items", "arguments": {"query": "lamp", "sources": ["village"]}}
    asked = [("initialize", hello), ("tools/list", {}), ("tools/call", search)]
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) for number, (method, params) in enumerate(asked)]
    environment = {**os.environ, "BOOKS_REPLAY_DIR": str(shelf), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          encoding="utf-8", env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in asked]  # the input stays open until all have come
        process.stdin.close()
    return [reply["result"] for reply in sorted(replies, key=lambda reply: reply["id"])]
