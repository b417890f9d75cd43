"""A sourced report, step by step."""
from __future__ import annotations

import threading
from typing import Any

import pytest
from toys import archive, client, page, record

from sources.asking import report as desk
from sources.asking.report import REPORT_LIMIT_BYTES, Desk
from sources.client import BooksClient
from sources.contract import Query
from sources.errors import InvalidInput, SourceError, TimedOut
from sources.settings import Settings

TIMED_OUT = TimedOut("Archive b did not answer in time.", archive="b")


def shelf() -> BooksClient:
    rows = page(record("a:1", title="Fog & its uses", creator="Invented, Ann", date="1851", year=1851), record("a:2", cover_url="https://example.org/c.jpg"))
    return client(archive("a", catalogue=rows, media_types=("image",)), archive("b", catalogue=page(record("b:1")), media_types=("books",)))


def test_a_whole_report_is_made_from_two_archives() -> None:
    books = shelf()

    planned = books.sequential_report(topic="London fog", page_count=2, source_count=3, include_graphics=True).to_dict()
    searched = books.sequential_report(search_sources=True).to_dict()
    listed = books.sequential_report(section_number=1, is_bibliography=True, title="Bibliography").to_dict()
    written = books.sequential_report(section_number=2, total_sections=3, title="Introduction", content="Fog came.", sources_used=[1, 2]).to_dict()
    done = books.sequential_report(section_number=3, title="End", content="It went.", next_section_needed=False).to_dict()

    assert planned["step"] == "planned" and planned["next_step"].startswith("Search for sources")
    assert [source["identifier"] for source in searched["sources"]] == ["a:1", "b:1", "a:2"]
    assert any("none was read" in note for note in searched["notes"])
    assert listed["next_step"].startswith("Write section 2 of")
    assert written["progress"]["sections_written"] == 2
    assert done["next_step"] == "Nothing is due: the report has ended."
    document = done["report"]
    assert document.startswith("# London fog\n\n## Introduction\n\nFog came.\n\nSources: [1], [2]\n\n## End\n\nIt went.")
    assert "1. " in document and "Fog & its uses" in document and "https://example.org/b:1" in document
    assert "Credit a, " in document and "Credit b, " in document
    assert "https://example.org/c.jpg" in document


def test_the_bibliography_names_only_sources_that_were_used_when_some_were() -> None:
    books = shelf()
    books.sequential_report(topic="fog", source_count=3)
    books.sequential_report(search_sources=True)
    books.sequential_report(is_bibliography=True)

    done = books.sequential_report(section_number=2, content="Text.", sources_used=[2], next_section_needed=False).to_dict()

    assert "https://example.org/b:1" in done["report"] and "https://example.org/a:1" not in done["report"]


def test_no_picture_stands_in_for_a_missing_one() -> None:
    books = client(archive("a", catalogue=lambda query: page() if query.media_type else page(record("a:1")), media_types=("image",)))
    books.sequential_report(topic="fog", include_graphics=True)
    books.sequential_report(search_sources=True)
    books.sequential_report(is_bibliography=True)

    done = books.sequential_report(section_number=2, content="Text.", next_section_needed=False).to_dict()

    assert "Pictures" not in done["report"]


@pytest.mark.parametrize(("steps", "due"), [
    ([{"section_number": 2, "title": "x", "content": "y"}], "Search for sources"),
    ([{}], "Search for sources"),
    ([{"search_sources": True}, {"section_number": 2, "content": "y", "next_section_needed": False}], "Write it first: is_bibliography true"),
    ([{"search_sources": True}, {"section_number": 2, "title": "x"}], "Give content"),
    ([{"search_sources": True}, {"section_number": 2, "content": "y", "sources_used": [9]}], "Use the numbers listed under sources"),
])
def test_a_wrong_step_is_answered_with_the_step_that_is_due(steps: list[dict[str, Any]], due: str) -> None:
    books = shelf()
    books.sequential_report(topic="fog")
    for step in steps[:-1]:
        books.sequential_report(**step)

    with pytest.raises(InvalidInput) as caught:
        books.sequential_report(**steps[-1])

    assert due in caught.value.hint


def test_without_a_report_open_the_first_step_is_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        shelf().sequential_report(search_sources=True)

    assert (caught.value.message, caught.value.hint) == ("No report is open.", "Start one with topic.")


def test_two_reports_at_once_do_not_mix_and_must_be_named() -> None:
    books = shelf()
    one = books.sequential_report(topic="fog").report_id
    two = books.sequential_report(topic="rain", report_id="mine").report_id

    with pytest.raises(InvalidInput, match="Several reports are open"):
        books.sequential_report(search_sources=True)
    searched = books.sequential_report(search_sources=True, report_id=two).to_dict()
    untouched = books.sequential_report(search_sources=True, report_id=one).to_dict()

    assert (searched["report_id"], untouched["report_id"]) == ("mine", one)


def test_steps_of_many_reports_from_many_threads_keep_apart() -> None:
    books = shelf()
    documents: dict[str, str] = {}

    def write(name: str) -> None:
        for step in ({"topic": f"topic {name}"}, {"search_sources": True}, {"is_bibliography": True},
                     {"section_number": 2, "content": f"words of {name}", "next_section_needed": False}):
            answer = books.sequential_report(report_id=name, **step)  # type: ignore[arg-type]
        documents[name] = answer.report or ""

    threads = [threading.Thread(target=write, args=(f"r{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(f"# topic {name}" in text and f"words of {name}" in text and text.count("words of") == 1 for name, text in documents.items())
    assert len(documents) == 8


def test_a_section_that_would_pass_the_limit_is_refused_saying_what_is_left() -> None:
    books = shelf()
    books.sequential_report(topic="fog")
    books.sequential_report(search_sources=True)
    books.sequential_report(is_bibliography=True)
    books.sequential_report(section_number=2, content="é" * 9000)

    with pytest.raises(InvalidInput) as caught:
        books.sequential_report(section_number=3, content="é" * 9000)
    kept = books.sequential_report(section_number=3, content="short", next_section_needed=False).to_dict()

    assert str(REPORT_LIMIT_BYTES) in caught.value.message and "bytes are left" in caught.value.hint
    assert len(kept["report"].encode()) <= REPORT_LIMIT_BYTES


def test_a_failing_archive_is_named_and_all_failing_is_an_error() -> None:
    books = client(archive("a", catalogue=page(record("a:1"))), archive("b", catalogue=TIMED_OUT))
    books.sequential_report(topic="fog")
    searched = books.sequential_report(search_sources=True).to_dict()
    failing = client(archive("b", catalogue=TIMED_OUT))
    failing.sequential_report(topic="fog")

    with pytest.raises(SourceError) as caught:
        failing.sequential_report(search_sources=True)

    assert "Archive b failed (timeout); it gave no sources." in searched["notes"]
    assert getattr(caught.value, "code", None) == "timeout"


def test_a_report_left_alone_is_forgotten_and_that_is_said() -> None:
    now = [0.0]
    books = shelf()
    forgetful = Desk(books, clock=lambda: now[0])
    call = books.new_call()
    begun = forgetful.step({"topic": "fog", "page_count": 4, "source_count": 10}, call)
    now[0] = desk.IDLE_S + 1

    with pytest.raises(InvalidInput, match="is forgotten"):
        forgetful.step({"report_id": begun.report_id, "search_sources": True}, call)


def test_the_number_of_open_reports_is_bounded() -> None:
    books = shelf()
    first = books.sequential_report(topic="0").report_id
    for number in range(desk.REPORTS_MAX):
        books.sequential_report(topic=str(number + 1))

    with pytest.raises(InvalidInput, match="No report"):
        books.sequential_report(report_id=first, search_sources=True)


def test_text_of_a_source_cannot_act_in_the_document() -> None:
    evil = record("a:1", title="![x](https://evil.example) <script>\n# Heading\u202e")
    books = client(archive("a", catalogue=page(evil)))
    books.sequential_report(topic="fog")
    books.sequential_report(search_sources=True)
    books.sequential_report(is_bibliography=True)

    document = books.sequential_report(section_number=2, content="x", next_section_needed=False).to_dict()["report"]

    assert "![" not in document and "<script" not in document and "\n# Heading" not in document and "\u202e" not in document


def test_no_source_is_read_and_few_rows_are_topped_up_by_subject() -> None:
    def answered(query: Query) -> Any:
        return page(record("a:2")) if query.fields else page(record("a:1"))

    toy = archive("a", catalogue=answered)
    books = client(toy)
    books.sequential_report(topic="fog", source_count=4)

    searched = books.sequential_report(search_sources=True).to_dict()

    assert [source["identifier"] for source in searched["sources"]] == ["a:1", "a:2"]
    assert dict(toy.asked[-1].fields) == {"subject": "fog"}  # type: ignore[attr-defined]


def test_the_setting_of_another_client_is_not_shared() -> None:
    one, two = shelf(), BooksClient(settings=Settings(), sources=())
    one.sequential_report(topic="fog")

    with pytest.raises(InvalidInput, match="No report is open"):
        two.sequential_report(search_sources=True)


def test_a_number_that_is_no_source_is_refused_with_the_numbers_there_are() -> None:
    books = shelf()
    books.sequential_report(topic="fog", source_count=3)
    books.sequential_report(search_sources=True)

    with pytest.raises(InvalidInput) as caught:
        books.sequential_report(section_number=2, content="As [9] shows, and [1884] and [1](https://example.org) are none.")

    assert (caught.value.message, caught.value.hint) == (
        "content cites [9], which is no source of the report: its sources are [1] to [3].", "Cite the numbers listed under sources.")


def test_a_report_ended_early_says_how_much_of_it_is_written() -> None:
    books = shelf()
    books.sequential_report(topic="fog", total_sections=5)
    books.sequential_report(search_sources=True)
    books.sequential_report(is_bibliography=True)

    done = books.sequential_report(section_number=2, content="Fog came.", next_section_needed=False)

    assert done.step == "ended with 2 of the 5 sections planned"


def test_a_further_search_adds_sources_and_renumbers_none() -> None:
    rows = [record("a:1", title="First")]
    books = client(archive("a", catalogue=lambda query: page(*rows), media_types=("image",)))
    books.sequential_report(topic="fog", source_count=2)
    first = books.sequential_report(search_sources=True)
    rows.insert(0, record("a:2", title="Second"))

    again = books.sequential_report(search_sources=True)

    assert [source["identifier"] for source in first.sources] == ["a:1"]
    assert [(source["number"], source["identifier"]) for source in again.sources] == [(1, "a:1"), (2, "a:2")]


def test_pictures_are_sought_under_every_pictorial_kind_in_scope_by_the_main_words_first() -> None:
    asked: list[tuple[str, str | None]] = []

    def answered(query: Query) -> Any:
        asked.append((query.words, query.media_type))
        kinds = {"carte": record("b:1", media_type="carte", image_url="https://example.org/m.jpg"), "image": record("b:2", media_type="audio")}
        return page(kinds[query.media_type]) if query.media_type else page()

    books = client(archive("a", catalogue=page(), media_types=("books",)), archive("b", catalogue=answered, media_types=("image", "carte")))
    books.sequential_report(topic="a history of the harbour lanterns of Larkfield", include_graphics=True, sources=["b"])

    searched = books.sequential_report(search_sources=True)

    assert [entry for entry in asked if entry[1]] == [
        ("Larkfield", "image"), ("a history of the harbour lanterns of Larkfield", "image"),
        ("Larkfield", "carte"), ("a history of the harbour lanterns of Larkfield", "carte")]
    assert [(picture["source"], picture["picture_url"]) for picture in searched.graphics] == [("b", "https://example.org/m.jpg")]


def test_the_bibliography_names_the_publisher_that_a_row_states() -> None:
    books = client(archive("a", catalogue=page(record("a:1", title="Fog", publishers=("Pell & Moss",))), media_types=("books",)))
    books.sequential_report(topic="fog")

    searched = books.sequential_report(search_sources=True)

    assert "Pell & Moss" in searched.sources[0]["citation"]
