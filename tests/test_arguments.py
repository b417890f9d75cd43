"""What may be asked, and what is refused before any request."""
from __future__ import annotations

import json
from typing import Any

import pytest

from sources.asking.arguments import TOOLS, check, schema_file, tool_schemas
from sources.errors import InvalidInput
from sources.registry import ARCHIVES, ENTRY_OF
from sources.settings import Settings
from sources.telling.text_block import render_error


def refused(tool: str, arguments: dict[str, Any]) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check(tool, arguments, ARCHIVES)
    return caught.value


def test_defaults_are_filled_in() -> None:
    given = check("search_inside", {"query": "a wet fog"}, ARCHIVES)

    assert given == {"query": "a wet fog", "limit": 3, "page": 1, "max_excerpt_chars": 300, "max_excerpts_per_match": 2,
                     "fan_out": True, "facets": False}


@pytest.mark.parametrize(("came", "read"), [
    ({"limit": "5"}, {"limit": 5}), ({"limit": 5.0}, {"limit": 5}), ({"fan_out": "false"}, {"fan_out": False}),
    ({"sources": "loc"}, {"sources": ["loc"]}), ({"sources": '["loc", "archive"]'}, {"sources": ["loc", "archive"]}),
    ({"language": None}, {}), ({"language": "", "place": "", "sources": "", "date_from": ""}, {}), ({"limit": "5.0"}, {"limit": 5}),
    ({"sources": ["loc", "loc"]}, {"sources": ["loc"]}), ({"date_from": 1888}, {"date_from": "1888"}), ({"query": 1984}, {"query": "1984"}),
])
def test_an_argument_that_came_as_text_is_read_where_nothing_is_lost(came: dict[str, Any], read: dict[str, Any]) -> None:
    given = check("search_inside", {"query": "fog", **came}, ARCHIVES)

    assert {name: given[name] for name in came if name in given} == read


@pytest.mark.parametrize("came", [{"limit": "5.5"}, {"limit": "five"}, {"limit": True}, {"fan_out": "maybe"}, {"fan_out": 1}, {"sources": "[loc"},
                                  {"limit": "١٢"}, {"limit": 5.5}, {"sources": [1]}, {"date_from": True}, {"date_from": 188.5}, {"query": 10**20}])
def test_an_argument_that_would_lose_something_is_refused(came: dict[str, Any]) -> None:
    error = refused("search_inside", {"query": "fog", **came})

    assert error.code == "invalid_input"
    assert error.message.startswith(f"search_inside.{next(iter(came))}")


@pytest.mark.parametrize(("tool", "arguments"), [("get_item", {"identifier": "x" * 501}), ("search_items", {"language": "f"})])
def test_a_hint_that_names_an_argument_is_not_marked_as_text_of_others(tool: str, arguments: dict[str, Any]) -> None:
    """Identifier and language are also words that open a line of an answer."""
    assert "›" not in render_error(refused(tool, arguments))


def test_an_unknown_argument_is_refused_with_the_nearest_declared_one() -> None:
    error = refused("search_items", {"query": "fog", "creater": "x"})

    assert error.message == "search_items takes no argument 'creater'. Did you mean 'creator'?"


def test_every_wrong_argument_is_named_in_one_refusal() -> None:
    error = refused("search_items", {"query": "fog", "limit": 199, "page": 0, "sort": "foo", "state": "ohio"})

    assert error.message == (
        "search_items takes no argument 'state'. Did you mean 'place'? search_items.limit is 199; wanted: at most 100. "
        "search_items.page is 0; wanted: 1 or more. search_items.sort is \"foo\"; wanted: one of relevance, newest, oldest, title, rating, "
        "editions.")


@pytest.mark.parametrize(("tool", "given", "meant"), [
    ("search_inside", {"state": "ohio"}, "place"), ("search_items", {"q": "fog"}, "query"), ("search_items", {"author": "Voss"}, "creator"),
    ("search_items", {"from": 1850}, "year_from' and 'date_from"), ("search_inside", {"to": "1850"}, "date_to"),
    ("search_items", {"year": 1850}, "year_from' and 'year_to"), ("search_items", {"language": "french"}, "fre"),
    ("search_items", {"language": "Français"}, "fre"), ("search_items", {"language": "allemand"}, "ger"),
    ("search_items", {"media_type": "livre"}, "books' and 'monographie' and 'texte-imprime' and 'texts")])
def test_what_others_call_a_thing_is_offered_by_the_name_it_has_here(tool: str, given: dict[str, Any], meant: str) -> None:
    assert f" Did you mean {meant!r}?".replace('"', "'") in refused(tool, {"query": "fog", **given}).message


def test_a_refused_range_is_offered_with_its_values_swapped() -> None:
    error = refused("search_items", {"query": "fog", "year_from": 1901, "year_to": 1850})

    assert (error.message, error.hint) == ("year_from (1901) lies after year_to (1850): the range names no time.",
                                           "Swap them: year_from 1850, year_to 1901.")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_host_is_shown_the_archives_that_can_answer_and_no_rule_that_some_hosts_refuse(tool: str) -> None:
    offered = tool_schemas(Settings())[tool]["inputSchema"]
    call = "search_items" if tool == "sequential_report" else tool

    assert "uniqueItems" not in json.dumps(offered)
    if "sources" in offered["properties"]:
        assert offered["properties"]["sources"]["items"]["enum"] == [archive.key for archive in ARCHIVES if call in archive.answers]


def test_a_refusal_repeats_at_most_eighty_characters_of_what_came() -> None:
    """However long a name or a value is, the refusal stays a sentence."""
    name = refused("search_items", {"q" * 100_000: 1})
    value = refused("search_items", {"query": "fog", "sources": ["z" * 100_000]})

    assert name.message == f"search_items takes no argument {'q' * 80!r}."
    assert value.message.startswith(f"search_items.sources, entry 1, is \"{'z' * 78}…; wanted: one of archive,")


@pytest.mark.parametrize(("tool", "given", "message", "hint"), [
    ("search_items", {"limit": 199}, "search_items.limit is 199; wanted: at most 100.", "limit: Rows per archive. Left out, it is 5."),
    ("search_headings", {"query": ""}, 'search_headings.query is ""; wanted: at least 1 character.', "Change query."),
    ("search_items", {"language": "f"}, 'search_items.language is "f"; wanted: at least 2 characters.',
     "language: MARC or two-letter code."),
    ("get_item", {"identifier": "loc:1", "sections": ["pages", "cite"]},
     'get_item.sections, entry 2, is "cite"; wanted: one of description, subjects, copies, context, contributors, editions, pages, '
     "citation. Did you mean 'citation'?", "Left out, it is description.")])
def test_a_refusal_counts_from_one_names_what_was_meant_and_says_what_else_would_do(tool, given, message, hint) -> None:
    """The hint adds what the message does not say: what the argument is, and what it is when left out."""
    error = refused(tool, given)

    assert (error.message, error.hint) == (message, hint)


def test_an_unknown_archive_among_good_ones_refuses_the_call() -> None:
    error = refused("search_inside", {"query": "fog", "sources": ["loc", "galica"]})

    assert error.message == (f"search_inside.sources, entry 2, is \"galica\"; wanted: one of {', '.join(ENTRY_OF)}. "
                             "Did you mean 'gallica'?")


@pytest.mark.parametrize(("tool", "arguments", "told"), [
    ("search_inside", {}, "search_inside needs the argument 'query'."),
    ("search_inside", {"query": "x" * 301}, "at most 300 characters"),
    ("search_inside", {"query": "fog", "limit": 0}, "1 or more"),
    ("search_inside", {"query": "fog", "limit": 101}, "at most 100"),
    ("search_inside", {"query": "fog", "sources": []}, "at least one entry, or no sources at all"),
    ("search_inside", {"query": "fog", "date_from": "1900/01"}, "a date written YYYY, YYYY-MM or YYYY-MM-DD"),
    ("search_inside", {"query": "fog", "date_from": "1901-02-29"}, "a date the calendar does not have"),
    ("search_inside", {"query": "fog", "date_from": "1901\n"}, "date_from is '1901\\n', a date the calendar does not have"),
    ("search_items", {"date_to": "1901-02-28\n"}, "date_to is '1901-02-28\\n', a date the calendar does not have"),
    ("search_inside", {"query": "  "}, "holds no word"),
    ("search_items", {"query": "fog", "sort": "newst"}, "Did you mean 'newest'?"),
    ("search_items", {}, "needs something to search on"),
    ("search_items", {"query": " "}, "needs something to search on"),
    ("search_items", {"title": '""'}, "search_items.title holds no word."),
    ("read_text", {"identifier": "archive:x", "page": 1, "picture": "passage"}, 'read_text.picture is "passage", and no match says which.'),
    ("search_items", {"query": "fog", "year_from": 1900, "date_to": "1901"}, "state the same bound twice"),
    ("search_items", {"query": "a:b", "native_query": True}, "exactly one archive"),
    ("search_items", {"query": "a:b", "native_query": True, "sources": ["loc", "archive"]}, "exactly one archive"),
    ("search_items", {"title": "b", "native_query": True, "sources": ["archive"]}, "native_query needs a query."),
])
def test_bad_input_is_refused_naming_the_field_and_the_mend(tool: str, arguments: dict[str, Any], told: str) -> None:
    error = refused(tool, arguments)

    assert told in error.message
    assert error.hint


def test_a_date_that_no_calendar_has_is_refused_with_the_mend() -> None:
    error = refused("search_inside", {"query": "fog", "date_to": "1901-02-29"})

    assert (error.message, error.hint) == ("date_to is '1901-02-29', a date the calendar does not have.", "Correct date_to.")


@pytest.mark.parametrize(("low", "high"), [("1901", "1900"), ("1900-05", "1900-04"), ("1900-05-02", "1900-05-01"), ("1901-01", "1900")])
def test_a_backwards_range_is_refused(low: str, high: str) -> None:
    """DESIGN 5, rule 13."""
    assert "names no time" in refused("search_inside", {"query": "fog", "date_from": low, "date_to": high}).message


def test_a_backwards_range_of_years_is_refused() -> None:
    """DESIGN 5, rule 13."""
    assert "names no time" in refused("search_items", {"query": "fog", "year_from": 1901, "year_to": 1900}).message


@pytest.mark.parametrize(("low", "high"), [("1900", "1900-05"), ("1900-05", "1900"), ("1900", "1900"), ("1899-12-31", "1900")])
def test_a_range_of_mixed_precision_that_overlaps_is_taken(low: str, high: str) -> None:
    assert check("search_inside", {"query": "fog", "date_from": low, "date_to": high}, ARCHIVES)["date_from"] == low


def test_a_search_on_fields_alone_is_taken() -> None:
    assert check("search_items", {"isbn": "9780140328721"}, ARCHIVES)["isbn"] == "9780140328721"


def test_every_tool_has_its_two_files_and_no_other_is_offered() -> None:
    assert list(tool_schemas(Settings())) == list(TOOLS)


def test_the_setting_limits_the_tools_offered() -> None:
    assert list(tool_schemas(Settings(tools=("get_item",)))) == ["get_item"]


def test_the_two_enumerations_come_from_the_registry() -> None:
    offered = tool_schemas(Settings())["search_items"]["inputSchema"]["properties"]

    assert offered["sources"]["items"]["enum"] == [archive.key for archive in ARCHIVES]
    assert set(offered["media_type"]["enum"]) == {kind for archive in ARCHIVES for kind in archive.media_types}
    assert schema_file("search_items.input")["properties"]["media_type"]["enum"] == []


def walk(schema: Any, path: str = "") -> Any:
    yield path, schema
    if isinstance(schema, dict):
        for name, part in schema.items():
            yield from walk(part, f"{path}/{name}")


@pytest.mark.parametrize("tool", TOOLS)
def test_every_array_at_any_depth_says_what_its_items_are(tool: str) -> None:
    offered = tool_schemas(Settings())[tool]
    arrays = [path for side in ("inputSchema", "outputSchema") for path, part in walk(offered[side])
              if isinstance(part, dict) and part.get("type") == "array" and "items" not in part]

    assert arrays == []


@pytest.mark.parametrize("tool", TOOLS)
def test_a_schema_is_one_that_every_host_takes(tool: str) -> None:
    """Root an object, no combinators or references, every property an object, a short description."""
    offered = tool_schemas(Settings())[tool]

    for side in ("inputSchema", "outputSchema"):
        assert offered[side]["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "$ref", "$schema"} & {step for path, _ in walk(offered[side]) for step in path.split("/")}
    assert offered["inputSchema"]["additionalProperties"] is False
    assert all(isinstance(rule, dict) for rule in offered["inputSchema"]["properties"].values())
    assert 0 < len(offered["description"]) <= 350


def test_what_a_model_reads_of_the_tools_stays_small() -> None:
    """Names, descriptions and input schemas at most 13,000 bytes."""
    read = [{"name": name, "description": tool["description"], "inputSchema": tool["inputSchema"]} for name, tool in tool_schemas(Settings()).items()]

    assert len(json.dumps(read, separators=(",", ":"), ensure_ascii=False).encode()) <= 13_000
