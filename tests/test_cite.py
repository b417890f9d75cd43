"""Many records cited as one file, and the log of what was asked, through the object a program holds."""
from __future__ import annotations

import json
from typing import Any

import pytest
from toys import archive, client, item, page, record

from sources.errors import InvalidInput, RecordNotFound
from sources.telling.fit import fitted
from sources.telling.text_block import render


def books(**more: Any) -> Any:
    return client(archive("a", item=item("a:1", title="Fog at sea", creators=("Vane, Ada",)), catalogue=page(record("a:1")), **more),
                  archive("b", item=RecordNotFound("Archive b holds no such record.", archive="b")))


def test_every_identifier_is_in_the_file_or_named_among_the_failed() -> None:
    answer = books().cite(["b:9", "a:1"], format="bibtex")

    assert [entry["identifier"] for entry in answer.entries] == ["a:1"]
    assert answer.citations.startswith("@") and "Fog at sea" in answer.citations
    assert [(one["identifier"], one["error"]["code"]) for one in answer.failed] == [("b:9", "not_found")]


def test_an_identifier_given_twice_is_cited_once_and_two_records_have_two_keys() -> None:
    answer = books().cite(["a:1", "a:1", "a:2"], format="csl_json")

    assert [entry["identifier"] for entry in answer.entries] == ["a:1", "a:2"]
    assert len({entry["key"] for entry in answer.entries}) == len(json.loads(answer.citations)) == 2


def test_an_identifier_that_cannot_be_read_fails_alone() -> None:
    answer = books().cite(["nowhere", "a:1"])

    assert [(one["identifier"], one["error"]["code"]) for one in answer.failed] == [("nowhere", "invalid_input")]
    assert len(answer.entries) == 1


def test_the_text_block_is_the_file_and_what_failed() -> None:
    answer = books().cite(["a:1", "b:9"])

    assert render("cite", answer.to_dict()).splitlines() == [
        *answer.citations.rstrip().splitlines(), "Not cited: b:9: Archive b holds no such record."]


def test_the_log_holds_what_was_asked_and_what_came_of_it_and_not_its_own_reading() -> None:
    asked = books()
    asked.search_items("fog")
    with pytest.raises(RecordNotFound):
        asked.get_item("b:9")
    asked.search_log()

    assert [(entry.tool, entry.failed and entry.failed["code"]) for entry in asked.search_log().entries] == [
        ("search_items", None), ("get_item", "not_found")]
    assert asked.search_log(limit=1).entries[0].tool == "get_item"


@pytest.mark.parametrize("form, begins", [("text", "Databases (item 1): Archive a."), ("csv", "asked at,"), ("json", '{"at": ')])
def test_the_log_is_told_in_the_form_asked(form: str, begins: str) -> None:
    asked = books()
    asked.search_items("fog")

    assert asked.search_log(format=form).text.startswith(begins)


@pytest.mark.parametrize("since, left", [("2000-01-01", 1), ("2999-01-01T00:00:00Z", 0), ("2999-01-01T00:00:00+02:00", 0)])
def test_the_log_begins_where_it_is_asked_to(since: str, left: int) -> None:
    asked = books()
    asked.search_items("fog")

    assert len(asked.search_log(since=since).entries) == left


def test_a_question_too_long_to_tell_is_not_told_as_nothing_asked() -> None:
    asked = books()
    asked.log.note("search_items", {"query": "f" * 70_000}, RecordNotFound("None."))

    told = fitted("search_log", asked.search_log(format="text")).payload

    assert (told["text"], told["notes"]) == ("", ["The answer was too long: the 1 oldest entries were left out."])


def test_a_time_that_is_none_is_refused_with_the_form_it_takes() -> None:
    with pytest.raises(InvalidInput) as refused:
        books().search_log(since="yesterday")

    assert (refused.value.message, refused.value.hint) == (
        "search_log.since is no time.", "Give it as 2026-11-30 or 2026-11-30T09:00:00Z.")
