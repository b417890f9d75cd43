"""One object for a program: reading a record in windows, a page, passages; stand-ins; a registry of one's own; sizes."""
from __future__ import annotations

import html
import inspect
import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from toys import archive, client, identifiers, item, match, page, record

from sources.answers import ItemsAnswer
from sources.asking.arguments import TOOLS
from sources.asking.notes import under
from sources.asking.schemas import schema_file, tool_schemas
from sources.client import BooksClient
from sources.contract import Contributor, Copy, Edition, ItemPage, Page, PageText, Passage, Passages, Query, Resource, Rights
from sources.errors import Cancelled, InvalidInput
from sources.registry import ARCHIVES, ENTRIES
from sources.settings import Settings
from sources.telling.fit import RESULT_LIMIT_BYTES, fitted, result_bytes
from sources.telling.text_block import render
from sources.transport.call import Call

# ---- as a library ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_is_a_method_with_the_arguments_of_its_schema(tool: str) -> None:
    declared = tool_schemas(Settings())[tool]["inputSchema"]

    parameters = list(inspect.signature(getattr(BooksClient, tool)).parameters.values())[1:]

    assert {parameter.name for parameter in parameters} == set(declared["properties"])
    assert {parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty} == set(declared.get("required", ()))


@pytest.mark.parametrize("tool", TOOLS)
def test_a_methods_docstring_tells_each_argument_its_bounds_its_default_and_the_errors(tool: str) -> None:
    """The figures are the schema's."""
    told = " ".join((inspect.getdoc(getattr(BooksClient, tool)) or "").split())

    for name, rule in schema_file(f"{tool}.input")["properties"].items():
        line = told.split(f" {name}: ", 1)[1]
        default = rule.get("default")
        assert default is None or f"default {', '.join(default) if isinstance(default, list) else default}" in line.split(": ")[0], name
        assert "maximum" not in rule or f"{rule['minimum']} to {rule['maximum']}" in line.split(": ")[0], name
    assert "Raises: InvalidInput: " in told


def test_a_client_closes_at_the_end_of_its_block() -> None:
    closed: list[bool] = []
    books = client(archive("toy"))
    books.transport.close = lambda: closed.append(True)  # type: ignore[method-assign]

    with books as entered:
        assert entered is books and closed == []

    assert closed == [True]


def test_an_answer_reads_as_its_text_block_in_a_fence_where_markdown_is_shown() -> None:
    """No word of an archive opens or closes the fence; a document is written from the same answer."""
    books = client(archive("toy", catalogue=page(record("toy:1", title="A ```` <b>fog</b>"))))

    answer = books.search_items("fog", sources=["toy"])

    assert str(answer) == render("search_items", answer.to_dict())
    assert answer._repr_markdown_() == f"```text\n{answer}\n```"
    assert "`" not in str(answer)
    assert html.unescape(answer._repr_html_() or "").partition('srcdoc="')[2].startswith(answer.to_html()[:2000])
    assert "<script" not in (answer._repr_html_() or "")  # all of it is inside the frame
    assert answer.to_html().startswith("<!DOCTYPE html>")
    assert "show" not in answer.to_dict()


def test_an_answer_that_no_client_gave_is_shown_as_a_value() -> None:
    assert str(ItemsAnswer(query="fog")) == repr(ItemsAnswer(query="fog"))
    with pytest.raises(ValueError, match=r"Only an answer that a client gave can be written as a document\."):
        ItemsAnswer(query="fog").to_html()


def test_a_stand_in_reader_answers_in_place_of_the_adapter() -> None:
    real = archive("a", catalogue=page(record("a:real")))
    mine = archive("a", catalogue=page(record("a:mine")))(None)  # type: ignore[arg-type]

    answer = client(real, readers={"a": mine}).search_items("fog")

    assert identifiers(answer.items) == ["a:mine"]
    assert answer.queries_run == 1


def test_archives_that_answer_only_some_calls_make_a_registry() -> None:
    books = client(archive("a", text=page(match("a:1", "fog"))), archive("b", catalogue=page(record("b:1"))))

    assert identifiers(books.search_inside("fog").hits) == ["a:1"]
    assert identifiers(books.search_items("fog").items) == ["b:1"]


def test_sources_left_out_asks_those_asked_by_default_and_the_setting_replaces_them() -> None:
    first, shy = archive("a", text=page()), archive("b", text=page(), asked_by_default=False)

    assert [told.source for told in client(first, shy).search_inside("fog").reports] == ["a"]
    assert [told.source for told in client(first, shy, sources=("b",)).search_inside("fog").reports] == ["b"]
    assert [told.source for told in client(first, shy).search_inside("fog", sources=["b", "a"]).reports] == ["a", "b"]


def test_an_answer_is_frozen_and_reports_are_per_source() -> None:
    answer = client(archive("a", text=page(match("a:1", "fog")))).search_inside("fog")

    assert answer.reports is answer.per_source
    with pytest.raises(AttributeError):
        answer.page = 2  # type: ignore[misc]


def test_rows_of_two_wordings_come_once_and_two_archives_keep_the_same_string_apart() -> None:
    both = page(record("a:1"), record("a:1"), record("a:2"))

    answer = client(archive("a", catalogue=both), archive("b", catalogue=page(record("b:1")))).search_items("white whale", limit=5)

    assert identifiers(answer.items) == ["a:1", "b:1", "a:2"]


def test_a_cancelled_call_stops_at_once_and_returns_nothing() -> None:
    started, release = threading.Event(), threading.Event()

    def slow(query: Query) -> Page:
        started.set()
        release.wait(10)
        return page()

    call = Call(50.0)
    threading.Thread(target=lambda: (started.wait(10), call.cancel()), daemon=True).start()
    try:
        with pytest.raises(Cancelled):
            client(archive("a", text=slow)).ask("search_inside", {"query": "fog"}, call)
    finally:
        release.set()


def test_an_archive_that_outlasts_the_budget_is_left_behind_and_the_rest_returned() -> None:
    release = threading.Event()
    books = client(archive("a", text=page(match("a:1", "fog"))), archive("b", text=lambda query: (release.wait(10), page())[1]))
    try:
        answer = books.ask("search_inside", {"query": "fog"}, Call(0.2)).to_dict()
    finally:
        release.set()

    assert identifiers_of(answer["hits"]) == ["a:1"]
    assert answer["per_source"][1]["error"]["code"] == "timeout"


def identifiers_of(rows: list[dict[str, Any]]) -> list[str]:
    return [row["identifier"] for row in rows]


def test_progress_names_each_archive_once_it_has_answered() -> None:
    told: list[str] = []

    books = client(archive("a", text=page()), archive("b", text=InvalidInput("no", archive="b")))
    books.ask("search_inside", {"query": "fog"}, Call(5.0, tell=told.append))

    assert {"Archive a answered", "Archive b answered"} >= set(told) - {line for line in told if "withheld" in line}


def test_a_zero_page_past_the_end_is_told_as_that_and_not_as_nothing_held() -> None:
    toy = archive("a", catalogue=Page(total=12, beyond="page 9 lies past the last page, 3."))

    answer = client(toy).search_items("fog", page=9)

    assert answer.notes[0] == "Archive a: page 9 lies past the last page, 3."
    assert "no rows" not in " ".join(answer.notes)


# ---- one record ------------------------------------------------------------------------------------------------------

def test_only_the_sections_asked_come_and_an_empty_one_reads_as_nothing_stated() -> None:
    full = item(description="Prose.", subjects=("fog",), contributors=(Contributor(name="A"),))

    answer = client(archive("a", item=full, unread_fields=("editions",))).get_item("a:1", sections=["subjects", "context"]).to_dict()

    assert answer["item"]["subjects"] == ["fog"] and answer["item"]["context"] == []
    assert not {"description", "contributors", "copies", "citation"} & answer["item"].keys()
    assert answer["sections_returned"] == ["subjects", "context"]
    assert answer["sections_omitted"] == ["description", "copies", "contributors", "editions", "pages", "citation"]
    assert answer["fields_not_read_from_this_archive"] == ["editions"]


def test_a_section_that_an_archive_is_never_read_for_is_neither_returned_nor_left_out() -> None:
    """An empty list would say that the record states none, which nobody has looked for."""
    toy = archive("a", item=item(), unread_fields=("editions",))

    answer = client(toy).get_item("a:1", sections=["subjects", "editions"]).to_dict()

    assert "editions" not in answer["item"]
    assert answer["sections_returned"] == ["subjects"]
    assert answer["sections_omitted"] == ["description", "copies", "context", "contributors", "pages", "citation"]
    assert answer["fields_not_read_from_this_archive"] == ["editions"]


def test_a_record_without_prose_states_null_and_has_no_window() -> None:
    answer = client(archive("a", item=item())).get_item("a:1").to_dict()

    assert answer["item"]["description"] is None
    assert "text_window" not in answer


def test_long_prose_pages_by_offset_and_past_the_end_says_so() -> None:
    books = client(archive("a", item=item(description="line one\n" * 100)))

    first = books.get_item("a:1", max_text_chars=200).to_dict()
    past = books.get_item("a:1", text_offset=5000).to_dict()

    assert first["text_window"] == {"offset": 0, "returned_chars": 198, "total_chars": 900, "next_offset": 198}
    assert first["item"]["description"].endswith("line one\n")
    assert past["item"]["description"] is None
    assert "The prose of this record ends at character 900; text_offset lies past its end." in past["notes"]


def test_copies_are_cut_and_counted() -> None:
    copies = tuple(Copy(label=str(n), url=f"https://example.org/{n}") for n in range(12))

    answer = client(archive("a", item=item(copies=copies, copies_available=12, generated_entries=4))).get_item("a:1", sections=["copies"]).to_dict()

    assert len(answer["item"]["copies"]) == 10
    assert (answer["item"]["copies_available"], answer["item"]["generated_entries"]) == (12, 4)


def editions(count: int, chars: int = 20) -> tuple[Edition, ...]:
    return tuple(Edition(identifier=f"a:{n}", title="x" * chars, date="1900") for n in range(count))


def test_a_list_has_a_window_that_resumes() -> None:
    class Listing(archive("a", item=item())):  # type: ignore[misc]
        def read_record(self, reference: Any, wanted: Any) -> ItemPage:
            rows = editions(7)[wanted.list_offset:wanted.list_offset + wanted.list_limit]
            return ItemPage(item=item(editions=rows), list_total=7)

    books = client(Listing)
    first = books.get_item("a:1", sections=["editions"], list_limit=5).to_dict()
    last = books.get_item("a:1", sections=["editions"], list_limit=5, list_offset=5).to_dict()

    assert first["list_window"] == {"offset": 0, "returned": 5, "total": 7, "next_offset": 5}
    assert last["list_window"] == {"offset": 5, "returned": 2, "total": 7, "next_offset": None}


def test_a_record_too_long_for_a_host_is_cut_to_the_window_that_fits() -> None:
    class Long(archive("a", item=item())):  # type: ignore[misc]
        def read_record(self, reference: Any, wanted: Any) -> ItemPage:
            return ItemPage(item=item(description="д" * 9000, editions=editions(100, 900)), list_total=100)

    answer = fitted("get_item", client(Long).get_item("a:1", sections=["description", "editions"], list_limit=100, max_text_chars=8000)).payload

    assert result_bytes("get_item", answer) <= RESULT_LIMIT_BYTES
    assert answer["list_window"]["next_offset"] == answer["list_window"]["returned"] == len(answer["item"]["editions"]) > 0


# ---- a page ----------------------------------------------------------------------------------------------------------

def text_of(text: str | None, **changes: Any) -> PageText:
    stated = {"title": "A page", "page_number": 3, "page_number_is": "leaf", "source_url": "https://example.org/1/3"}
    return PageText(**{"identifier": "a:1", "text": text, **stated, **changes})


def test_four_kinds_of_textlessness_are_four_answers() -> None:
    image = client(archive("a", page_text=text_of(None, ocr_available=False))).read_text("a:1", page=3).to_dict()
    blank = client(archive("a", page_text=text_of(""))).read_text("a:1", page=3).to_dict()
    refused = client(archive("a", page_text=text_of(None, text_refused="lent to one reader at a time"))).read_text("a:1", page=3).to_dict()

    assert (image["ocr_available"], image["text"]) == (False, None)
    assert (blank["ocr_available"], blank["text"]) == (True, "")
    assert (refused["ocr_available"], refused["text"], refused["text_refused"]) == (True, None, "lent to one reader at a time")


def test_a_page_and_no_match_returns_text_in_a_window() -> None:
    answer = client(archive("a", page_text=text_of("word " * 2000))).read_text("a:1", page=3, max_text_chars=1000).to_dict()

    assert answer["text_window"] == {"offset": 0, "returned_chars": 1000, "total_chars": 10000, "next_offset": 1000}
    assert "passages" not in answer and "match_count" not in answer


def test_a_page_with_a_match_returns_the_passages_and_counts_every_occurrence() -> None:
    books = client(archive("a", page_text=text_of("whale " + "sea " * 300 + "Whale")))

    answer = books.read_text("a:1", page=3, match="whale", max_passages=1).to_dict()

    assert len(answer["passages"]) == 1 and answer["match_count"] == 2
    assert "1 of 2 occurrences lie outside these passages; raise max_passages for more." in answer["notes"]
    assert "text" not in answer


def test_neither_page_nor_match_is_refused_and_so_is_another_page_than_the_identifiers() -> None:
    books = client(archive("a", page_text=text_of("x")))

    with pytest.raises(InvalidInput, match="needs a page or a match"):
        books.read_text("a:1")


def test_a_match_without_a_page_searches_inside_the_record() -> None:
    found = Passages(page=text_of(None), passages=(Passage(page_number=9, text="a whale", source_url="https://example.org/9"),), match_count=4)

    answer = client(archive("a", passages=found)).read_text("a:1", match="whale").to_dict()

    assert answer["passages"] == [{"page_number": 9, "text": "a whale", "source_url": "https://example.org/9"}]
    assert answer["match_count"] == 4


def test_an_archive_without_text_is_refused_naming_those_that_hold_it() -> None:
    books = client(archive("a", page_text=text_of("x")), archive("b", item=item()))

    with pytest.raises(InvalidInput) as caught:
        books.read_text("b:1", page=1)

    assert caught.value.hint == "read_text is answered by: a."


@pytest.mark.parametrize("letter", ["a", "д", "字", "\U0001f40b"])
def test_a_page_in_any_script_stays_below_what_hosts_take(letter: str) -> None:
    answer = fitted("read_text", client(archive("a", page_text=text_of(letter * 30000))).read_text("a:1", page=3, max_text_chars=20000)).payload

    assert result_bytes("read_text", answer) <= RESULT_LIMIT_BYTES
    assert answer["text_window"]["next_offset"] == answer["text_window"]["returned_chars"] > 0


# ---- sizes -----------------------------------------------------------------------------------------------------------

def test_the_largest_search_stays_below_what_hosts_take_and_says_what_was_cut() -> None:
    toys = [archive(key, text=page(*(match(f"{key}:{n}", *["fog " + "ж" * 1190] * 10) for n in range(25)), total=9000)) for key in ("a", "b", "c")]

    answer = client(*toys).search_inside("fog", limit=25, max_excerpt_chars=1200, max_excerpts_per_match=10)
    wire = fitted("search_inside", answer).payload

    assert len(answer.hits) == 75  # a library is given everything
    assert result_bytes("search_inside", wire) <= RESULT_LIMIT_BYTES
    assert any("excerpts were cut to" in note for note in wire["notes"])
    assert wire["hit_count"] == len(wire["hits"])
    assert sum(wire["excerpt_kinds"].values()) == sum(len(hit["excerpts"]) for hit in wire["hits"])


def test_rows_that_do_not_fit_go_from_the_end_of_each_archive_in_turn() -> None:
    toys = [archive(key, catalogue=page(*(record(f"{key}:{n}", title="ж" * 900) for n in range(25)), total=9000)) for key in ("a", "b", "c")]

    wire = fitted("search_items", client(*toys).search_items("fog", limit=25)).payload
    counts = {key: sum(row["source"] == key for row in wire["items"]) for key in "abc"}

    assert result_bytes("search_items", wire) <= RESULT_LIMIT_BYTES
    assert len(set(counts.values())) == 1 and counts["a"] < 25
    assert any(f"limit {counts['a']} fits" in note for note in wire["notes"])
    assert [told["count"] for told in wire["per_source"]] == [counts["a"]] * 3


LONG = "ж" * 60_000  # one field as long as a whole answer may be


@pytest.mark.parametrize("stated", [
    {"title": LONG, "publisher": LONG, "rights": Rights(statement=LONG)},
    {"language": ("ж" * 90,) * 2000},
    {"standard_numbers": {"isbn": ("9" * 13,) * 9000}},
    {"copies": (Copy(label="a scan", format="PDF", url="https://example.org/" + "x" * 70_000),)},
])
def test_a_record_with_a_field_as_long_as_an_answer_stays_below_what_hosts_take(stated: dict[str, Any]) -> None:
    full = item(description="prose " * 2000, **stated)

    wire = fitted("get_item", client(archive("a", item=full)).get_item("a:1", sections=["description", "copies", "citation"])).payload

    assert result_bytes("get_item", wire) <= RESULT_LIMIT_BYTES
    assert wire["item"]["description"].startswith("prose prose")


def test_a_page_with_a_title_as_long_as_an_answer_keeps_its_text() -> None:
    page_read = archive("a", page_text=text_of("silver otter " * 900, title=LONG))

    read = fitted("read_text", client(page_read).read_text("a:1", page=3, max_text_chars=1000)).payload
    found = fitted("read_text", client(page_read).read_text("a:1", page=3, match="otter")).payload

    assert max(result_bytes("read_text", read), result_bytes("read_text", found)) <= RESULT_LIMIT_BYTES
    assert (read["text"][:12], read["text_window"]["total_chars"], bool(found["passages"])) == ("silver otter", 11_700, True)
    assert any("fields were cut to 2000 characters" in note for note in read["notes"])


def test_a_row_with_a_field_as_long_as_an_answer_is_clipped_before_any_row_goes() -> None:
    toy = archive("a", catalogue=page(record("a:1", title=LONG), record("a:2", subjects=("otters",) * 20_000), record("a:3")))

    wire = fitted("search_items", client(toy).search_items("fog")).payload

    assert result_bytes("search_items", wire) <= RESULT_LIMIT_BYTES
    assert [row["identifier"] for row in wire["items"]] == ["a:1", "a:2", "a:3"]
    assert wire["notes"] == ["The answer was too long: fields were cut to 2000 characters, lists of words to 100 entries."]


def test_no_limit_of_zero_is_advised() -> None:
    """An address is never clipped, so a row with an endless one goes."""
    toy = archive("a", catalogue=page(record("a:1", source_url="https://example.org/" + "x" * 70_000)))

    wire = fitted("search_items", client(toy).search_items("fog")).payload

    assert (wire["items"], wire["notes"][-1]) == (
        [], "The answer was too long: 1 rows were left out, since not one is short enough to be shown.")


@pytest.mark.parametrize(("name", "remark", "told"), [
    ("the Shelf", "its index is old.", "The Shelf: its index is old."),
    ("the Shelf", "The Shelf has no dates.", "The Shelf has no dates."),
    ("data.shelf.org", "data.shelf.org: the list was cut.", "data.shelf.org: the list was cut."),
    ("data.shelf.org", "the list was cut.", "data.shelf.org: the list was cut."),
])
def test_a_remark_stands_under_its_archives_name_once(name: str, remark: str, told: str) -> None:
    """A host's name keeps its letters at the beginning of a sentence."""
    assert under(name, remark) == told


def test_notes_are_at_most_eight_and_none_is_lost() -> None:
    toys = [archive(key, catalogue=page(record(f"{key}:1"), notes=tuple(f"remark {key}{n}" for n in range(4)))) for key in ("a", "b", "c")]

    notes = client(*toys).search_items("fog").to_dict()["notes"]

    assert len(notes) == 8
    assert all(f"remark {key}{n}" in json.dumps(notes) for key in "abc" for n in range(4))


def test_the_registry_is_in_the_designed_order() -> None:
    assert [entry.key for entry in ARCHIVES] == [entry.key for entry in ENTRIES]


def test_the_digitised_parts_of_a_record_are_cut_to_the_window_and_the_rest_is_named() -> None:
    parts = tuple(Resource(label=f"Reel {number}") for number in range(5))
    books = client(archive("a", item=replace(item("a:1"), resources=parts)))

    shown = books.get_item("a:1", sections=["copies"], list_offset=1, list_limit=2)

    assert [part.label for part in shown.item.resources] == ["Reel 1", "Reel 2"]
    assert "2 more resources stand in the record; list_offset 3 goes on." in shown.notes
