"""The sample shelf and its demonstration; and that what was recorded is answered again from the record alone."""
from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import shelf
from conftest import FakeClock, StandIn

from sources.answers import Answer
from sources.asking.schemas import schema_file
from sources.client import BooksClient
from sources.contract import Ask
from sources.settings import Settings
from sources.shell import demo
from sources.shell.demo import QUESTIONS, SHELF, Question
from sources.telling.text_block import render
from sources.transport.exchange import Received
from sources.transport.shelf import SUFFIX, Shelf

ROOT = Path(__file__).resolve().parent.parent
REPLAYED = "Answered from kept answers alone, the earliest of 2026-11-30; nothing was asked of the archive now."


def on_the_shelf(**changes: Any) -> BooksClient:
    return BooksClient(settings=Settings(**{"replay_dir": SHELF, **changes}))


def named(question: Question) -> str:
    return question.command()


# ---- the shelf -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("question", QUESTIONS, ids=named)
def test_every_documented_question_is_answered_from_the_shelf_whole(question):
    """No archive that takes part fails, nothing is unreadable, and the answer is one that its tool's schema accepts."""
    answer = on_the_shelf().ask(question.tool, question.arguments)

    told = answer.to_dict()
    jsonschema.validate(told, schema_file(f"{question.tool}.output"))
    assert [report["error"] for report in told.get("per_source", ()) if report["status"] == "failed"] == []
    assert [report.get("skipped") for report in told.get("per_source", ()) if report.get("skipped")] == []


def test_every_file_of_the_shelf_is_reached_by_a_documented_question(monkeypatch):
    """A file whose address no adapter asks any more is dead weight, and a question of the demonstration without an answer."""
    taken: set[str] = set()
    find = Shelf.find

    def noting(self: Shelf, question: Ask) -> Received | None:
        taken.add(question.url + json.dumps(question.form))
        return find(self, question)

    monkeypatch.setattr(Shelf, "find", noting)
    for question in QUESTIONS:
        on_the_shelf().ask(question.tool, question.arguments)

    kept = {path.name: _asked(path) for path in SHELF.glob("*" + SUFFIX)}
    assert {name for name, asked in kept.items() if asked not in taken} == set()
    assert len(kept) == len(taken)


def _asked(path: Path) -> str:
    head = json.loads(path.read_bytes().partition(b"\n\n")[0])
    return str(head["address"]) + json.dumps([tuple(pair) for pair in head.get("form", ())])


def test_the_shelf_is_small_enough_to_travel_with_every_installation():
    """80 KB at most, every file of it an answer."""
    files = list(SHELF.iterdir())

    assert {path.suffix for path in files} == {SUFFIX}
    assert sum(path.stat().st_size for path in files) <= 80_000


def test_the_shelf_names_no_file_of_any_machine_and_no_secret():
    """What ships is read by strangers: only the headers that matter, only the archives' own addresses."""
    heads = [json.loads(path.read_bytes().partition(b"\n\n")[0]) for path in SHELF.glob("*" + SUFFIX)]

    assert {name for head in heads for name in head["headers"]} == {"content-type"}
    assert {name for head in heads for name in head} <= {"address", "method", "form", "asked_with", "status", "headers",
                                                         "retrieved_at", "body"}


def test_a_search_of_the_shelf_says_of_each_archive_that_it_was_replayed_and_of_which_day():
    """Both searches and both lists: `replayed` with `retrieved_at` in per_source, and the same in words."""
    answer = on_the_shelf().search_inside("a wet fog")

    reports = {report.source: (report.replayed, report.retrieved_at) for report in answer.reports if report.status == "answered"}
    assert reports == {"archive": (True, "2026-11-30T09:00:00Z"), "loc": (True, "2026-11-30T09:00:00Z")}
    assert render("search_inside", answer.to_dict()).count("from the record kept, of 2026-11-30") == 2


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.tool in ("get_item", "read_text")], ids=named)
def test_a_reading_of_the_shelf_says_that_it_was_replayed_and_of_which_day(question):
    """A record and a page have no report on archives, so a note says it; live readings have none."""
    answer = on_the_shelf().ask(question.tool, question.arguments)

    assert answer.notes[-1] == REPLAYED


def test_what_is_not_on_the_shelf_is_named_and_never_told_as_an_absence():
    """The archive that lacks an answer says so; the other's rows stand."""
    answer = on_the_shelf().search_items("lighthouse", sources=["loc", "bnf"], facets=True)

    loc, bnf = answer.reports
    assert (loc.status, bnf.status, answer.item_count) == ("failed", "answered", 2)
    assert loc.error == {
        "code": "network_error", "hint": "Ask what the shelf holds (`mcp-books demo` lists the sample shelf), or unset "
                                         "BOOKS_REPLAY_DIR.",
        "message": "The Library of Congress is answered from kept answers alone, and this one is not on the shelf."}


def test_the_demonstration_asks_for_both_kinds_of_excerpt():
    """A passage from each archive, and a page opening that is said to be one."""
    answer = on_the_shelf().search_inside("a wet fog")

    kinds = {(hit.source, hit.excerpt_kind) for hit in answer.hits}
    assert kinds == {("archive", "passage"), ("loc", "passage"), ("loc", "page_opening")}


# ---- the demonstration -----------------------------------------------------------------------------------------------

def demonstrated(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = demo.main(list(argv), environ={}, stdout=out, stderr=err)
    return status, out.getvalue(), err.getvalue()


def test_the_demonstration_says_first_that_it_is_the_sample_shelf_and_invented():
    """Somebody who pastes the output elsewhere must have copied the warning with it."""
    status, out, err = demonstrated()

    assert (status, err) == (0, "")
    assert out.splitlines()[:3] == [
        "This is the sample shelf: kept answers that ship with mcp-books. Nothing is sent anywhere, and",
        "nothing below exists; the books, the newspaper and the people were invented, in the shapes in which",
        "the archives answer."]


def test_the_demonstration_shows_both_searches_a_record_and_a_page_and_names_the_rest():
    """Each under the command that asks it; every other question of the shelf as a command, unasked."""
    out = demonstrated()[1]

    first_words = [line.split(":")[0] for line in out.splitlines()]
    assert [word for word in first_words if word in ("Search inside", "Catalogue search", "Record", "Text")][:4] == [
        "Search inside", "Catalogue search", "Record", "Text"]
    assert [line[2:] for line in out.splitlines() if line.startswith("$ ")] == [
        question.command() for question in sorted(QUESTIONS, key=lambda question: question.shows is None)]


def test_the_demonstration_opens_no_connection_and_waits_for_no_pace(monkeypatch):
    """Its five questions need fourteen answers of seven lanes: paced, they would take over a minute."""
    def refused(*args: object) -> None:
        raise AssertionError("the demonstration took a connection or a place in a queue")

    monkeypatch.setattr("sources.transport.connection.Wire.run", refused)
    monkeypatch.setattr("sources.transport.gate.Gate.enter", refused)

    assert demonstrated()[0] == 0


def test_the_demonstration_passes_over_the_settings_of_the_machine(monkeypatch, tmp_path):
    """A record folder, a gateway or an archive chosen for daily work must not reach it, nor it them."""
    monkeypatch.setenv("BOOKS_RECORD_DIR", str(tmp_path / "kept"))
    monkeypatch.setenv("BOOKS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("BOOKS_SOURCES", "gallica")

    assert demonstrated()[1].count("\nRecord: ") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_the_shelf_is_printed_alone_for_a_setting():
    """BOOKS_REPLAY_DIR=$(mcp-books demo --where) must hold nothing else."""
    assert demonstrated("--where") == (0, f"{SHELF}\n", "")


def test_an_incomplete_shelf_ends_the_demonstration_with_the_reason(monkeypatch, tmp_path):
    """Exit 1, and the reason once on stderr: an installation that lost its files must not look like an empty library."""
    monkeypatch.setattr(demo, "SHELF", tmp_path)

    status, _, err = demonstrated()

    assert status == 1
    assert " ".join(err.split()) == ("Error: network_error. This question is not on the shelf of kept answers. Hint: Ask what the shelf holds "
                                     "('mcp-books demo' lists the sample shelf), or unset BOOKS_REPLAY_DIR.")


def test_a_word_that_the_demonstration_does_not_know_is_bad_input(capsys):
    """Exit 2, as every command."""
    assert demonstrated("--wher")[0] == 2


def test_the_demonstration_runs_as_a_process_from_a_folder_nobody_can_write(tmp_path):
    """Without HOME, without PATH, and with files named as libraries beside it; whatever it writes is UTF-8."""
    for name in ("json.py", "requests.py"):
        (tmp_path / name).write_text("raise SystemExit('the working folder was imported')")
    tmp_path.chmod(0o555)
    environ = {"PYTHONDONTWRITEBYTECODE": "1", **({"SYSTEMROOT": os.environ["SYSTEMROOT"]} if "SYSTEMROOT" in os.environ else {})}

    ran = subprocess.run([sys.executable, str(ROOT / "mcp_books.py"), "demo"], cwd=tmp_path, env=environ, capture_output=True,
                         timeout=60)

    tmp_path.chmod(0o755)
    assert (ran.returncode, ran.stderr.decode()) == (0, "")
    assert ran.stdout.decode("utf-8").startswith("This is the sample shelf")


# ---- what was recorded is answered again -----------------------------------------------------------------------------

RECORDED = (
    ("search_inside", {"query": "lantern", "sources": ["archive", "loc"]}),
    ("search_items", {"query": "lantern", "fan_out": False}),
    ("search_items", {"query": "lantern", "fan_out": False, "sources": ["gallica"]}),
    ("get_item", {"identifier": shelf.BOOK, "sections": ["description", "copies", "pages", "citation"]}),
    ("get_item", {"identifier": shelf.LOC_ITEM, "sections": ["description", "pages"]}),
    ("get_item", {"identifier": shelf.BNF_WORK, "sections": ["description", "editions"]}),
    ("get_item", {"identifier": shelf.CATALOGUE_RECORD, "sections": ["description", "copies"]}),
    ("get_item", {"identifier": shelf.OL_WORK, "sections": ["description", "editions"]}),
    ("read_text", {"identifier": shelf.BOOK, "page": shelf.LEAF}),
    ("read_text", {"identifier": shelf.BOOK, "match": "lantern bell"}),
    ("read_text", {"identifier": shelf.LOC_ISSUE, "page": shelf.LOC_IMAGE}),
    ("search_headings", {"query": "lanterns"}),
    ("browse_collections", {"query": "lanterns", "sources": ["loc"]}),
)


def without_marks_of_replay(answer: Answer) -> Mapping[str, Any]:
    """The structured content but for what says where it came from: `replayed`, `cached` and the note of a reading."""
    told = answer.to_dict()
    told["notes"] = [note for note in told["notes"] if not note.startswith("Answered from kept answers alone")]
    for report in told.get("per_source", ()):
        report.pop("replayed", None)
        report.pop("cached", None)
    return told


def test_what_was_recorded_is_answered_again_alike_with_nobody_there(stand_in: StandIn, tmp_path):
    """Both searches, records, pages, passages, headings, collections: the same structured content but for the marks of replay."""
    shelf.stock(stand_in)
    recording = shelf.client(stand_in, FakeClock(), record_dir=tmp_path / "kept")
    then = [recording.ask(tool, arguments) for tool, arguments in RECORDED]
    recording.close()
    asked = len(stand_in.seen)

    replaying = shelf.client(stand_in, FakeClock(), replay_dir=tmp_path / "kept", gateway="http://127.0.0.1:9")
    now = [replaying.ask(tool, arguments) for tool, arguments in RECORDED]

    assert [without_marks_of_replay(answer) for answer in now] == [without_marks_of_replay(answer) for answer in then]
    assert all(report.replayed for answer in now for report in getattr(answer, "per_source", ()) if report.status == "answered")
    assert len(stand_in.seen) == asked


def test_a_failure_that_was_recorded_is_answered_again_as_that_failure(stand_in: StandIn, tmp_path):
    """A refusal is an answer too: what a person saw on the day is what a reader of the record sees."""
    shelf.stock(stand_in)
    shelf.spoil(stand_in, "openlibrary works", status=429, body=b"slow down", headers={"Retry-After": "90"})
    asks = {"query": "lantern", "fan_out": False, "sources": ["bnf", "openlibrary"]}
    then = shelf.client(stand_in, FakeClock(), record_dir=tmp_path / "kept", max_retries=0).ask("search_items", asks)

    now = shelf.client(stand_in, FakeClock(), replay_dir=tmp_path / "kept").ask("search_items", asks)

    assert [report.error["code"] for report in now.per_source if report.error] == ["rate_limited"]
    assert without_marks_of_replay(now) == without_marks_of_replay(then)
