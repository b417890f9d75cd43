"""The whole program as a host meets it: the real process over pipes, every archive behind a gateway, answers of our own.

Each test starts a process of its own with nothing kept from another, so that no archive's spacing has to be waited for twice.
Every answer is held to the output schema the process itself declared, and each archive's report to schemas/per_source.json.
With BOOKS_STANDIN set to a folder that holds a gateway.py and its routes.json, recorded answers are asked for as well.
"""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import shapes
import shelf
from conftest import ANSWERS, StandIn
from jsonschema import Draft202012Validator
from shelf import HTML, JSON, QUESTIONS
from test_stdio import PROGRAM, Host, started

from sources.asking.schemas import schema_file
from sources.registry import ENTRIES, ENTRY_OF
from sources.telling.fit import RESULT_LIMIT_BYTES

EVERY = list(ENTRY_OF)
BY_DEFAULT = [entry.key for entry in ENTRIES if entry.asked_by_default]
STANDIN = os.environ.get("BOOKS_STANDIN")
ZERO = (ANSWERS / "loc/zero.json").read_bytes()
CHALLENGE = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>challenge-platform</body></html>"


class Books:
    """What a host does with the process: it lists the tools once, calls them, and believes their schemas."""

    def __init__(self, host: Host) -> None:
        self.host = host
        host.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": "tools", "method": "tools/list"})
        self.schemas = {tool["name"]: tool["outputSchema"] for tool in host.reply()["result"]["tools"]}

    def send(self, tool: str, id: str = "call", **arguments: Any) -> None:
        self.host.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    def call(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """The structured content and the text of a good answer."""
        self.send(tool, **arguments)
        return self.good(tool, self.host.reply())

    def good(self, tool: str, reply: Any) -> tuple[dict[str, Any], str]:
        result = reply["result"]
        assert not result.get("isError"), result["content"]
        payload, text = result["structuredContent"], "\n".join(block["text"] for block in result["content"])
        Draft202012Validator(self.schemas[tool]).validate(payload)
        for report in payload.get("per_source", ()):
            Draft202012Validator(schema_file("per_source")).validate(report)
        assert len(text.encode()) + len(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()) <= RESULT_LIMIT_BYTES
        return payload, text

    def failed(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is an error."""
        self.send(tool, **arguments)
        result = self.host.reply()["result"]
        assert result["isError"] is True
        return "\n".join(block["text"] for block in result["content"])


@pytest.fixture
def shelved(stand_in: StandIn) -> StandIn:
    shelf.stock(stand_in)
    return stand_in


@pytest.fixture
def books(shelved: StandIn) -> Iterator[Books]:
    with started(PROGRAM, environ={"BOOKS_GATEWAY": shelved.address}) as host:
        yield Books(host)


def status(payload: dict[str, Any]) -> dict[str, str]:
    return {report["source"]: report["status"] for report in payload["per_source"]}


def report(payload: dict[str, Any], source: str) -> dict[str, Any]:
    found: dict[str, Any] = next(report for report in payload["per_source"] if report["source"] == source)
    return found


# ---- both searches -------------------------------------------------------------------------------------------------------

def test_a_search_inside_is_merged_and_each_row_says_what_it_is(books: Books) -> None:
    """Rows alternate; passages stand before the opening and the rows without text; a document in a bundle is told from the bundle."""
    payload, text = books.call("search_inside", query="silver otter", limit=4, fan_out=False)

    rows = [(hit["identifier"], hit["excerpt_kind"], hit["page_number"], hit.get("inside_container")) for hit in payload["hits"]]
    assert rows == [
        ("archive:lanternvale00orri", "passage", None, False),
        ("loc:sn00000011/1888-02-03/ed-1", "passage", 5, None),
        ("archive:valebundle1862/log%20of%20the%20Ведмідь", "passage", None, True),
        ("loc:sn00000012/1890-07-08/ed-2", "passage", 2, None),
        ("archive:valealmanac", None, None, False),
        ("loc:sn00000013/1891-09-10/ed-1", "page_opening", 1, None),
        ("loc:sn00000014/1892-01-01/ed-1", None, 7, None),
    ]
    assert payload["excerpt_kinds"] == {"passage": 5, "page_opening": 1}
    assert status(payload) == dict.fromkeys(BY_DEFAULT, "absent") | {"archive": "answered", "loc": "answered"}
    assert (payload["queries_run"], report(payload, "archive")["reported_total"], report(payload, "loc")["reported_total"]) == (2, 41, 9)
    assert (report(payload, "archive")["publishes_page_number"], report(payload, "loc")["publishes_page_number"]) == (False, True)
    for hit in payload["hits"]:
        assert hit["identifier"] in text
        assert hit["source_url"] in text


def test_the_catalogues_are_merged_and_each_reads_its_own_question(books: Books, shelved: StandIn) -> None:
    """The archives asked by default, one request each; data.bnf.fr answers the query that was written for it."""
    payload, text = books.call("search_items", query="l'horloge des marais", limit=2, fan_out=False)

    assert [item["identifier"] for item in payload["items"]] == [
        "archive:lanternvale00orri", "loc:00000021", "bnf:cb90000101m", shelf.CATALOGUE_RECORD, "openlibrary:OL800001W",
        "archive:lanternsong", "loc:sn00000011/1888-02-03/ed-1", "bnf:cb90000102z", "bnfcatalogue:cb499000128", "openlibrary:OL800002M"]
    assert payload["queries_run"] == len(shelved.seen) == len(BY_DEFAULT)
    asked = dict(next(seen for seen in shelved.seen if seen.place.startswith("data.bnf.fr")).form)["query"]
    assert """?text bif:contains "'l''horloge' AND 'des' AND 'marais'\"""" in asked
    assert [told["source"] for told in payload["per_source"]] == BY_DEFAULT
    assert all(told["searches_on"] and told["row_describes"] and told["attribution"] for told in payload["per_source"])
    assert all(told["attribution"] in text for told in payload["per_source"])


def test_a_kind_of_material_is_asked_where_it_is_filed_and_the_vocabularies_are_told(books: Books) -> None:
    payload, _ = books.call("search_items", query="lantern", media_type="texts", fan_out=False)

    assert status(payload) == dict.fromkeys(BY_DEFAULT, "absent") | {"archive": "answered"}
    assert "books, photos, maps" in report(payload, "loc")["absent_because"]
    assert [(told["source"], told["asked_with"]) for told in payload["media_types"]] == [
        (key, "texts" if key == "archive" else None) for key in BY_DEFAULT]


def test_a_zero_that_the_library_stands_by_is_a_zero(shelved: StandIn, books: Books) -> None:
    shelf.spoil(shelved, "loc pages", body=ZERO)

    payload, text = books.call("search_inside", query='"no such phrase"', sources=["loc"], fan_out=False)

    assert (payload["hits"], report(payload, "loc")["count"], report(payload, "loc")["status"]) == ([], 0, "answered")
    assert "answered with no rows for the words" in text


def test_the_same_zero_that_the_library_lets_nobody_keep_is_a_failure(shelved: StandIn) -> None:
    shelf.spoil(shelved, "loc pages", body=ZERO, headers={**JSON, "Cache-Control": "no-cache, max-age=0"})
    with started(PROGRAM, environ={"BOOKS_GATEWAY": shelved.address, "BOOKS_MAX_RETRIES": "0"}) as host:
        told = Books(host).failed("search_inside", query='"no such phrase"', sources=["loc"], fan_out=False)

    assert "Failed: the Library of Congress, during the search: network_error. The Library of Congress could not search" in told
    assert "no rows" not in told


# ---- reading what was found -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("identifier", "title"), [
    (shelf.BOOK, "The lantern of Vale"), (shelf.LOC_ITEM, "The otter's year"), (shelf.BNF_WORK, "L'horloge des marais"),
    (shelf.CATALOGUE_RECORD, "Les lanternes du marais : récit d'un passeur"), (shelf.OL_WORK, "The lantern keepers"), (shelf.GALLICA_BOOK, "Les eaux lentes")], ids=EVERY)
def test_a_record_comes_from_the_archive_its_identifier_names_with_its_terms_and_credit(
        books: Books, shelved: StandIn, identifier: str, title: str) -> None:
    payload, text = books.call("get_item", identifier=identifier)

    item = payload["item"]
    assert (item["identifier"], item["title"]) == (identifier, title)
    assert {"statement", "url", "covers"} <= item["rights"].keys()
    assert item["rights"]["statement"] or item["rights"]["note"]
    assert item["attribution"] in text
    hosts = {"archive": "archive.org", "loc": "www.loc.gov", "bnf": "data.bnf.fr", "bnfcatalogue": "catalogue.bnf.fr",
             "openlibrary": "openlibrary.org", "gallica": "gallica.bnf.fr"}
    assert {seen.place.partition("/")[0] for seen in shelved.seen} == {hosts[item["source"]]}


def test_a_hit_is_read_next_with_nothing_rewritten(books: Books) -> None:
    """A page where the archive counts pages; where it gives none, the words that found the document, in that document."""
    found, _ = books.call("search_inside", query="lantern", limit=1, fan_out=False)
    book, page = found["hits"]

    inside, _ = books.call("read_text", identifier=book["identifier"], match=book["found_by_query"])
    read, text = books.call("read_text", identifier=page["identifier"], page=page["page_number"])

    assert [passage["page_number"] for passage in inside["passages"]] == [2, 4, None]
    assert (inside["title"], inside["match_count"]) == (book["title"], 4)
    assert (read["identifier"], read["page_number"], read["page_number_is"]) == (page["identifier"], page["page_number"], "image")
    assert read["text"] == "LARKFIELD BEACON\nA silver otter was seen. The Otter swam."
    assert "A silver otter was seen." in text
    leaf, _ = books.call("read_text", identifier=book["identifier"], page=inside["passages"][1]["page_number"])
    assert (leaf["page_number"], leaf["page_number_is"], leaf["printed_page"]) == (4, "leaf", "3")


def test_gallica_is_asked_only_when_named_and_its_contents_only_once_accepted(books: Books, shelved: StandIn) -> None:
    """The records are open data; search_inside and read_text stay closed, with the setting that opens them."""
    payload, _ = books.call("search_items", query="eaux", sources=["gallica"], fan_out=False)
    closed, _ = books.call("search_inside", query="eaux", sources=["gallica"])
    refused = books.failed("read_text", identifier=shelf.GALLICA_BOOK, page=1)

    assert [item["identifier"] for item in payload["items"]][0] == shelf.GALLICA_BOOK
    assert "non-commercial" in report(payload, "gallica")["attribution"]
    assert "BOOKS_GALLICA_CONTENTS=accept" in report(closed, "gallica")["absent_because"]
    assert "BOOKS_GALLICA_CONTENTS=accept" in refused
    assert "invalid_input" in refused
    assert [seen.place for seen in shelved.seen] == ["gallica.bnf.fr/SRU"]


# ---- five at once ----------------------------------------------------------------------------------------------------------

def test_one_slow_and_one_walled_archive_delay_nothing_but_themselves(shelved: StandIn) -> None:
    """The call ends with its budget of 3 s; meanwhile pings and calls to the others are answered."""
    shelf.spoil(shelved, "openlibrary works", fault="silent")
    shelf.spoil(shelved, "bnf works", body=CHALLENGE, headers=HTML, status=403)
    with started(PROGRAM, environ={"BOOKS_GATEWAY": shelved.address, "BOOKS_CALL_BUDGET_MS": "3000"}) as host:
        books = Books(host)
        books.call("get_item", identifier=shelf.OL_AUTHOR)  # what loads at the first call is loaded
        began = time.monotonic()
        books.send("search_items", id="all", query="lantern", sources=EVERY, fan_out=False)
        pinged = host.ping("ping")
        books.send("get_item", id="one", identifier=shelf.BOOK)
        first = host.reply()
        quick_s = time.monotonic() - began
        last = host.reply()
        took_s = time.monotonic() - began

        assert (pinged["id"], first["id"], last["id"]) == ("ping", "one", "all")

    payload, text = books.good("search_items", last)
    assert status(payload) == {"archive": "answered", "loc": "answered", "bnf": "failed", "openlibrary": "failed", "gallica": "answered"} | {
        "bnfcatalogue": "answered"}
    assert (report(payload, "bnf")["error"]["code"], report(payload, "openlibrary")["error"]["code"]) == ("network_error", "timeout")
    assert "blocked by the site's protection" in text
    assert {item["source"] for item in payload["items"]} == {"archive", "loc", "bnfcatalogue", "gallica"}
    assert [note for note in payload["notes"] if "no rows" in note] == []
    asked_after_s = [at - began for name in ("archive catalogue", "loc catalogue", "gallica search") for at in shelved.starts(QUESTIONS[name].at)]
    assert len(asked_after_s) == 3
    assert max(asked_after_s) < 2.0  # the other call's request may go first to the Internet Archive, a second before this one's
    assert quick_s < 3.0 <= took_s < 5.0


# ---- the largest answers ----------------------------------------------------------------------------------------------------

LARGEST = {
    "search_items": {"query": "harbour", "limit": 25, "sources": EVERY, "fan_out": False},
    "search_inside": {"query": "harbour", "limit": 25, "max_excerpt_chars": 1200, "max_excerpts_per_match": 10, "fan_out": False,
                      "sources": ["archive", "loc", "gallica"]},
}


@pytest.mark.parametrize("tool", LARGEST)
def test_the_largest_answer_of_all_archives_stays_below_what_hosts_take(shelved: StandIn, tool: str) -> None:
    """25 rows from each, each row as long as a recorded one; what was cut is counted, with a limit that fits."""
    heavy = {"archive text": shapes.archive_text, "archive catalogue": shapes.archive_items, "loc pages": shapes.loc_pages,
             "loc catalogue": shapes.loc_items, "bnf works": shapes.bnf_works, "openlibrary works": shapes.openlibrary_works,
             "bnfcatalogue search": shapes.bnf_catalogue_records,
             "gallica search": shapes.gallica_documents}
    for name, made in heavy.items():
        shelf.spoil(shelved, name, body=made(25))
    environ = {"BOOKS_GATEWAY": shelved.address, "BOOKS_GALLICA_CONTENTS": "accept", "BOOKS_CALL_BUDGET_MS": "9000"}
    with started(PROGRAM, environ=environ) as host:
        payload, text = Books(host).call(tool, **LARGEST[tool])

    rows = payload["hits" if tool == "search_inside" else "items"]
    counts = {told["source"]: told["count"] for told in payload["per_source"]}
    assert set(status(payload).values()) == {"answered"}
    assert len(rows) == sum(counts.values())
    assert {row["source"] for row in rows} == set(LARGEST[tool]["sources"])
    if len(rows) < 25 * len(counts):
        assert re.search(r"limit \d+ fits", " ".join(payload["notes"])), payload["notes"]
    assert all(row["identifier"] in text for row in rows)


def test_the_largest_record_stays_below_what_hosts_take_and_says_where_to_go_on(shelved: StandIn) -> None:
    sections = ["description", "subjects", "copies", "context", "contributors", "editions", "pages", "citation"]
    shelf.spoil(shelved, "archive record", body=shapes.archive_record(3000))
    with started(PROGRAM, environ={"BOOKS_GATEWAY": shelved.address}) as host:
        payload, _ = Books(host).call("get_item", identifier=shelf.BOOK, sections=sections, max_copies=100, max_text_chars=8000, list_limit=100)

    item = payload["item"]
    assert item["copies_available"] > len(item["copies"]) > 0
    assert payload["sections_returned"] == [section for section in sections if section != "editions"]  # which it files none under


# ---- recorded answers, where they are at hand ----------------------------------------------------------------------------------

def hits(payload: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(hit["source"], hit["page_number"], hit["excerpt_kind"]) for hit in payload["hits"]]


def only_archive_hits_without_a_page(payload: dict[str, Any]) -> bool:
    return bool(payload["hits"]) and {hit[:2] for hit in hits(payload)} == {("archive", None)}


def a_library_page_with_its_passage(payload: dict[str, Any]) -> bool:
    return any(source == "loc" and page and kind == "passage" for source, page, kind in hits(payload))


def merged_with_openings_and_textless_rows_last(payload: dict[str, Any]) -> bool:
    kinds = [kind for _, _, kind in hits(payload)]
    shown = kinds.count("passage")
    bundled = {hit.get("inside_container") for hit in payload["hits"] if hit["source"] == "archive"}
    alternate = {hit["source"] for hit in payload["hits"][:2]} == {"archive", "loc"}
    return alternate and kinds[:shown] == ["passage"] * shown and {"page_opening", None} <= set(kinds[shown:]) and bundled >= {True, False}


def titled(title: str) -> Callable[[dict[str, Any]], bool]:
    return lambda payload: title in (payload["item"]["title"] or "")


RECORDED: list[tuple[str, dict[str, Any], Callable[[dict[str, Any]], bool] | None]] = [
    ("search_inside", {"query": "Креницька"}, only_archive_hits_without_a_page),
    ("search_inside", {"query": "clara bow", "sources": ["loc"]}, a_library_page_with_its_passage),
    ("search_items", {"query": "sanborn", "media_type": "maps"}, lambda payload: status(payload)["loc"] == "answered" and bool(payload["items"])),
    ("get_item", {"identifier": "archive:journalofexpedit00ford"}, titled("Journal of an expedition")),
    ("get_item", {"identifier": "loc:73691632"}, titled("")),
    ("get_item", {"identifier": "loc:sn85059812"}, titled("")),
    ("search_inside", {"query": "white whale"}, merged_with_openings_and_textless_rows_last),
    ("search_inside", {"query": "no such phrase", "sources": ["loc"]},
     lambda payload: payload["hits"] == [] and status(payload) == {"loc": "answered"}),
    ("search_inside", {"query": "could not search", "sources": ["loc"]}, None),
    ("search_items", {"query": "titanic", "sources": ["gallica"]}, lambda payload: bool(payload["items"])),
    ("search_items", {"query": "dune", "sources": ["openlibrary"]}, lambda payload: bool(payload["items"])),
]


@pytest.fixture
def recorded() -> Iterator[str]:
    """The address of a gateway over recorded answers."""
    assert STANDIN is not None
    folder = Path(STANDIN)
    gateway = subprocess.Popen([sys.executable, str(folder / "gateway.py"), "--routes", str(folder / "routes.json"), "--until-eof"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert gateway.stdout is not None
    assert gateway.stdin is not None
    yield gateway.stdout.readline().strip()
    gateway.stdin.close()
    gateway.wait(10)
    gateway.stdout.close()


@pytest.mark.skipif(not STANDIN, reason="BOOKS_STANDIN names no folder with a gateway.py and its routes.json")
@pytest.mark.parametrize(("tool", "arguments", "holds"), RECORDED, ids=[f"{tool} {next(iter(given.values()))}" for tool, given, _ in RECORDED])
def test_recorded_answers_come_through_the_real_process(
        recorded: str, tool: str, arguments: dict[str, Any], holds: Callable[[dict[str, Any]], bool] | None) -> None:
    """Every archive in scope is named; what is expected of None is an error result that tells a failure."""
    with started(PROGRAM, environ={"BOOKS_GATEWAY": recorded}) as host:
        books = Books(host)
        if holds is None:
            assert "network_error" in books.failed(tool, **arguments)
            return
        payload, _ = books.call(tool, **arguments)

    assert holds(payload), payload
    if "per_source" in payload:
        assert [told["source"] for told in payload["per_source"]] == arguments.get("sources", BY_DEFAULT)


# Of each recording of the general catalogue: its count, the rows shown of those it holds, those skipped, and one row whole; or the
# error's code. Dublin Core is the plain form that is asked for damaged records alone, the two in INTERMARC are asked for by nobody.
CATALOGUED: dict[str, tuple[int, int, int | None, tuple[str, str, str | None, int | None, str | None]] | str] = {
    "search-anywhere-gustave-flaubert-unimarc-TRIMMED": (3175, 24, 1, (
        "cb352291337", "Der Idiot der Familie, Gustave Flaubert 1821-1857.... 1, Die Konstitution", "Sartre, Jean-Paul, 1905-1980", 1977, None)),
    "search-anywhere-victor-hugo-unimarc-TRIMMED": (15512, 24, None, (
        "cb39508046q", "[Victor Hugo] : biographie : documents iconographiques", None, None, "gallica:btv1b84272771")),
    "search-recent-records-unimarc": (6, 5, 1, (
        "cb48830168g", "Regards libres : poètes russophones contemporains", None, 2026, None)),
    "search-lipsius-politica-dublincore": (19, 10, None, (
        "cb33996956r", "J. Lipsi Monita et exempla politica libri duo...", "Lipse, Juste (1547-1606)", 1668, None)),
    "record-by-ark-unimarc": (1, 1, None, (
        "cb31721367g", "La Perpetuelle croix ou Passion de N. Seigneur Jesus-Christ. Depuis son Incarnation jusques... à la fin du monde, avec le "
        "glaive perpetuel de la glorieuse Vierge Marie . Traduit du latin du Pere Ludoque [sic] Andriez,...", "Andries, Josse, 1588-1658", 1659,
        "gallica:bpt6k8597163")),
    "search-author-and-title-intermarc": "parse_failure",
    "record-authority-by-ark-intermarc": "parse_failure",
    "diagnostic-24-relation-and-term": "invalid_input",
}


@pytest.mark.skipif(not STANDIN, reason="BOOKS_STANDIN names no folder beside which recorded answers lie")
@pytest.mark.parametrize("name", CATALOGUED)
def test_every_recorded_answer_of_the_general_catalogue_is_read_whole(stand_in: StandIn, name: str) -> None:
    """Nobody answers when damaged records are asked for in their plain form, so they are counted as skipped."""
    body = (Path(STANDIN or "").parent / "answers" / "bnf-sru" / f"{name}.xml").read_bytes()
    stand_in.add(r"catalogue\.bnf\.fr/api/SRU", asks={"query": r"^bib\.anywhere"}, headers=shelf.XML, body=body)
    expected = CATALOGUED[name]
    asked = {"query": "recorded", "sources": ["bnfcatalogue"], "limit": 25, "fan_out": False}
    with started(PROGRAM, environ={"BOOKS_GATEWAY": stand_in.address, "BOOKS_MAX_RETRIES": "0"}) as host:
        books = Books(host)
        if isinstance(expected, str):
            assert f"during the search: {expected}." in books.failed("search_items", **asked)
            return
        payload, _ = books.call("search_items", **asked)

    told = report(payload, "bnfcatalogue")
    rows = [tuple(row.get(field) for field in ("identifier", "title", "creator", "year", "scan")) for row in payload["items"]]
    total, count, skipped, (ark, *rest) = expected
    assert (told["reported_total"], len(rows), told.get("skipped")) == (total, count, skipped)
    assert (f"bnfcatalogue:{ark}", *rest) in rows


@pytest.mark.skipif(not STANDIN, reason="BOOKS_STANDIN names no folder beside which recorded answers lie")
def test_the_recorded_record_of_the_general_catalogue_is_read_with_all_its_sections(stand_in: StandIn) -> None:
    body = (Path(STANDIN or "").parent / "answers" / "bnf-sru" / "record-by-ark-unimarc.xml").read_bytes()
    stand_in.add(r"catalogue\.bnf\.fr/api/SRU", headers=shelf.XML, body=body)
    sections = ["description", "subjects", "copies", "context", "contributors", "citation"]
    with started(PROGRAM, environ={"BOOKS_GATEWAY": stand_in.address}) as host:
        payload, _ = Books(host).call("get_item", identifier="bnf:cb31721367g", sections=sections)

    item = payload["item"]
    assert payload["id_read_as"] == ("The ark cb31721367g is of a record of holdings, which the general catalogue of the Bibliothèque nationale "
                                     "de France describes.")
    assert (item["identifier"], item["year"], item["publisher"]) == ("bnfcatalogue:cb31721367g", 1659, "F. Lambert")
    assert payload["sections_returned"] == sections
    assert item["rights"]["statement"] is None
