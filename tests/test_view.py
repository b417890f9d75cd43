"""The view in a real browser: under the official host bridge, and as a document of its own.

Needs Chromium and, in the folder that MCP_NODE_DIR names, the packages of tests/programs/view.mjs; else the tests say that they were skipped.
"""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sources.client import BooksClient
from sources.settings import Settings
from sources.shell.demo import SHELF
from sources.telling.fit import fitted
from sources.telling.view import PICTURES, document, page

NODE_DIR = os.environ.get("MCP_NODE_DIR", "")
PROGRAM = Path(__file__).resolve().parent / "programs" / "view.mjs"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(not (CHROMIUM and NODE_DIR and (Path(NODE_DIR) / "node_modules" / "playwright-core").exists()),
                                reason="needs chromium, and MCP_NODE_DIR with ext-apps, playwright-core, axe-core and esbuild")

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "search_inside": ("search_inside", {"query": "a wet fog"}), "search_items": ("search_items", {"query": "lighthouse"}),
    "get_item": ("get_item", {"identifier": "archive:capemarrowlog00fenw", "sections": ["description", "subjects", "copies", "pages", "citation"]}),
    "read_text": ("read_text", {"identifier": "archive:capemarrowlog00fenw", "page": 7}),
    "search_headings": ("search_headings", {"query": "lighthouses"}), "browse_collections": ("browse_collections", {"query": "lighthouses"}),
    "cite": ("cite", {"identifiers": ["archive:capemarrowlog00fenw"]}), "search_log": ("search_log", {}),
    "report": ("sequential_report", {"topic": "lighthouse"}), "nothing on the shelf": ("search_items", {"query": "windmill"})}
HIT = {"identifier": "loc:x", "source": "loc", "source_name": "L", "title": "T", "creator": None, "year": 1850, "page_number": 3, "page_number_is": "image",
       "excerpts": ["a wet fog"], "excerpt_kind": "passage", "source_url": "https://www.loc.gov/resource/x/?sp=3", "found_by_query": "fog"}
FORGED = "</script><script>document.title='caught'</script><img src=x onerror=\"document.title='caught'\">"
FAILED = {"source": "loc", "name": "the Library of Congress", "status": "failed", "stage": "search",
          "error": {"code": "timeout", "message": "The Library did not answer in time.", "hint": "Ask again."}}


def inside(*hits: dict[str, Any], reports: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"query": "fog", "page": 1, "hits": list(hits), "hit_count": len(hits), "per_source": list(reports), "queries_run": 1,
            "excerpt_kinds": {"passage": len(hits), "page_opening": 0}, "order": "", "notes": []}


HOSTILE = {
    "a script in a title": inside({**HIT, "title": FORGED, "excerpts": [FORGED + " fog"], "creator": FORGED}),
    "right to left": inside({**HIT, "title": "ירושלים של זהב", "excerpts": ["ספר על fog"]}),
    "nothing but failures": inside(reports=(FAILED, {**FAILED, "source": "archive", "name": "the Internet Archive"})),
    "a hundred rows": inside(*[{**HIT, "identifier": f"loc:{number}", "title": f"Row {number}"} for number in range(100)]),
    "an address that acts": inside({**HIT, "source_url": "javascript:alert(1)", "image_url": "data:image/png;base64,x"}),
    "four megabytes": {"identifier": "loc:x", "source": "loc", "title": "Long", "source_url": "https://www.loc.gov/x", "page_number": 1, "ocr_available": True,
                       "text": "fog and mist " * 320_000, "rights": {"statement": None, "url": None}, "attribution": "L", "notes": []},
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every answer in the browser, once."""
    folder = tmp_path_factory.mktemp("view")
    answers: dict[str, Any] = {}
    with BooksClient(settings=Settings(replay_dir=SHELF)) as books:
        for name, (tool, arguments) in QUESTIONS.items():
            try:
                told = fitted(tool, books.ask(tool, arguments))
                result: dict[str, Any] = {"content": [{"type": "text", "text": told.text}], "structuredContent": told.payload}
            except Exception as error:
                result = {"content": [{"type": "text", "text": str(error)}], "isError": True}
            answers[name] = {"arguments": arguments, "result": result}
    answers |= {name: {"arguments": {"query": "fog"}, "quiet": True,
                       "result": {"content": [{"type": "text", "text": "x"}], "structuredContent": answer}} for name, answer in HOSTILE.items()}
    documents = {name: document(given["result"]["structuredContent"], given["arguments"]) for name, given in answers.items()
                 if "structuredContent" in given["result"] and name != "four megabytes"}
    (folder / "input.json").write_text(json.dumps({"page": page(), "answers": answers, "documents": documents}), encoding="utf-8")
    shots = os.environ.get("VIEW_SCREENSHOTS", "")
    done = subprocess.run(["node", str(PROGRAM), NODE_DIR, str(folder / "input.json"), *([shots] if shots else [])], capture_output=True,
                          encoding="utf-8", timeout=300, env={**os.environ, "CHROMIUM": CHROMIUM or ""})
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", [*QUESTIONS, *HOSTILE])
def test_an_answer_is_shown_by_the_protocol_of_the_host(seen: dict[str, Any], name: str) -> None:
    """Initialised, given input and result, told of the theme, and torn down when asked; a link goes through the host."""
    shown = seen["answers"][name]

    assert shown["initialized"] is True and shown["sizes"] > 0
    assert shown["text"].strip() and "Waiting for the answer" not in shown["text"]
    assert all(address.startswith(("https://", "http://")) for address in shown["opened"])


def test_nothing_goes_wrong_and_nothing_is_loaded(seen: dict[str, Any]) -> None:
    """Pictures come only when somebody asks for them."""
    assert seen["errors"] == [] and seen["asked"] == []


def test_a_button_calls_the_tool_through_the_host(seen: dict[str, Any]) -> None:
    assert seen["answers"]["search_inside"]["called"] == [
        {"name": "read_text", "arguments": {"identifier": "loc:sn00001874/1888-02-03/ed-1", "page": 2}}]
    assert seen["answers"]["search_items"]["called"] == [{"name": "get_item", "arguments": {"identifier": "archive:capemarrowlog00fenw"}}]


def test_what_an_archive_wrote_never_acts(seen: dict[str, Any]) -> None:
    shown = seen["answers"]["a script in a title"]

    assert shown["title"] != "caught" and shown["scripts"] == 0
    assert "<script>document.title='caught'</script>" in shown["text"]
    assert seen["answers"]["an address that acts"]["opened"] == []


def test_failures_are_as_visible_as_rows_and_rows_are_all_there(seen: dict[str, Any]) -> None:
    assert seen["answers"]["nothing but failures"]["text"].count("The Library did not answer in time.") == 2
    assert seen["answers"]["a hundred rows"]["cards"] == 100


@pytest.mark.parametrize("name", [*(name for name in QUESTIONS if name != "nothing on the shelf"), *(name for name in HOSTILE if name != "four megabytes")])
def test_a_document_is_accessible_in_both_themes_and_fits_every_width(seen: dict[str, Any], name: str) -> None:
    """WCAG 2.2 AA as axe-core knows it; 320, 800 and 1,400 px without anything beside the screen."""
    assert seen["documents"][name] == {"violations": [], "overflow": []}


def test_the_page_is_small_and_names_the_archives_pictures_alone() -> None:
    assert len(page().encode()) <= 40_000
    assert all(origin.startswith("https://") for origin in PICTURES)
