"""One set of rules over every archive of the registry. A new archive brings a line of CASES for each search that it answers."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import shapes
from conftest import FakeClock, StandIn

from sources.archives.shared import page_of_rows
from sources.client import BooksClient
from sources.contract import FIELDS, Archive, Page, Query, Reference
from sources.errors import ArchiveUnreachable, InvalidInput, UnreadableAnswer
from sources.registry import ARCHIVES
from sources.settings import Settings

Make = Callable[..., Archive]
BY_KEY = {archive.key: archive for archive in ARCHIVES}
COUNTED = b"4321"  # what every answer of shapes.py states as its total
VALUES = {"isbn": "9782000000112", "lccn": "2004567890", "oclc": "4711", "language": "fre"}  # of fields that take no word


@dataclass(frozen=True, kw_only=True)
class Case:
    """One search of one archive: where its request goes, an answer of so many rows, and what of a row, replaced, leaves it unreadable.

    `states_total` False: the archive never says how many there are.
    """

    archive: str
    call: str
    at: str
    body: Callable[[int], bytes]
    spoil: tuple[bytes, bytes]
    whole_rows: bool = False  # a row is more than the one field that `spoil` names
    states_total: bool = True

    @property
    def name(self) -> str:
        return f"{self.archive} {self.call}"

    def answer(self, rows: int, total: int | None = None) -> bytes:
        body = self.body(rows)
        return body if total is None else body.replace(COUNTED, str(total).encode())


CASES = (
    Case(archive="archive", call="search_inside", at=r"archive\.org/services/search/.*", body=shapes.archive_text, spoil=(b'"identifier"', b'"x"')),
    Case(archive="archive", call="search_items", at=r"archive\.org/advancedsearch\.php", body=shapes.archive_items, spoil=(b'"identifier"', b'"x"')),
    Case(archive="loc", call="search_inside", at=r"www\.loc\.gov/collections/chronicling-america/", body=shapes.loc_pages,
         spoil=(b"www.loc.gov", b"www.example.org"), whole_rows=True),
    Case(archive="loc", call="search_items", at=r"www\.loc\.gov/.*", body=shapes.loc_items, spoil=(b"://", b":"),
         whole_rows=True),
    Case(archive="bnf", call="search_items", at=r"data\.bnf\.fr/sparql", body=shapes.bnf_works, spoil=(b'"thing"', b'"x"'), states_total=False,
         whole_rows=True),
    Case(archive="bnfcatalogue", call="search_items", at=r"catalogue\.bnf\.fr/api/SRU", body=shapes.bnf_catalogue_records,
         spoil=(b"datafield", b"x"), whole_rows=True),
    Case(archive="openlibrary", call="search_items", at=r"openlibrary\.org/search\.json", body=shapes.openlibrary_works, spoil=(b'"key"', b'"x"')),
    Case(archive="gallica", call="search_items", at=r"gallica\.bnf\.fr/SRU", body=shapes.gallica_documents, spoil=(b"oai_dc:dc", b"oai_dc:x"),
         whole_rows=True),
)
# Searches that ask more than one thing of their archive and are held by its own tests.
OWN_TESTS = {("gallica", "search_inside")}
every_search = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
counting = pytest.mark.parametrize("case", [case for case in CASES if case.states_total], ids=lambda case: case.name)
every_archive = pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.key)


@pytest.fixture
def search(make_archive: Make, stand_in: StandIn) -> Callable[..., Page]:
    """Ask one archive for the words, so that it is answered with `body`."""

    def asked(case: Case, body: bytes, *, status: int = 200, **query: Any) -> Page:
        media = "text/xml; charset=utf-8" if body.startswith(b"<") else "application/json"
        stand_in.add(case.at, body=body, status=status, headers={"Content-Type": media})
        archive = make_archive(BY_KEY[case.archive], gateway=stand_in.address)
        put = Query(words="lantern harbour", **query)
        if case.call == "search_inside":
            return archive.search_text(archive.plan_text(put))
        return archive.search_catalogue(archive.plan_catalogue(put))

    return asked


def test_every_search_of_the_registry_has_its_case() -> None:
    answered = {(archive.key, call) for archive in ARCHIVES for call in ("search_inside", "search_items") if call in archive.answers}

    assert {(case.archive, case.call) for case in CASES} | OWN_TESTS == answered


@every_search
def test_rows_that_came_are_read_whole_and_no_more_than_were_asked(case: Case, search: Callable[..., Page]) -> None:
    page = search(case, case.answer(8), rows=5)

    assert (len(page.records), page.skipped) == (5, 0)
    assert page.total == (4321 if case.states_total else None)
    assert all(row.source_url.startswith("https://") and row.title for row in page.records)


@every_search
def test_zero_is_told_as_zero(case: Case, search: Callable[..., Page]) -> None:
    page = search(case, case.answer(0, total=0))

    assert (page.records, page.total, page.beyond) == ((), 0 if case.states_total else None, None)


@counting
def test_a_count_without_rows_is_no_absence(case: Case, search: Callable[..., Page]) -> None:
    page = search(case, case.answer(0))

    assert (page.records, page.total, page.more) == ((), 4321, None)
    assert "It counts 4,321 matches but sent no rows; this is no absence." in page.notes


@counting
def test_past_the_end_is_said_and_is_no_absence(case: Case, search: Callable[..., Page]) -> None:
    page = search(case, case.answer(0, total=12), rows=5, page=4)

    assert (page.records, page.total, page.more) == ((), 12, False)
    assert page.beyond == "Page 4 lies past the last page: at 5 rows a page the 12 matches fill 3."


@every_search
def test_rows_of_which_none_can_be_read_are_a_failure(case: Case, search: Callable[..., Page]) -> None:
    with pytest.raises(UnreadableAnswer):
        search(case, case.answer(3).replace(*case.spoil))


@pytest.mark.parametrize("case", [case for case in CASES if not case.whole_rows], ids=lambda case: case.name)
def test_a_row_that_cannot_be_read_is_counted(case: Case, search: Callable[..., Page]) -> None:
    whole = case.answer(3)
    last = whole.rindex(case.spoil[0])
    page = search(case, whole[:last] + whole[last:].replace(*case.spoil))

    assert (len(page.records), page.skipped) == (2, 1)


@every_search
@pytest.mark.parametrize("page", [1, 3])
@pytest.mark.parametrize("status", [404, 410])
def test_a_search_route_that_is_gone_is_unreachable_whatever_page_was_asked(
        case: Case, search: Callable[..., Page], status: int, page: int) -> None:
    with pytest.raises(ArchiveUnreachable) as caught:
        search(case, b"<!DOCTYPE html><title>Not Found</title>", status=status, page=page)

    assert BY_KEY[case.archive].name.removeprefix("the ") in caught.value.message


@every_search
def test_a_plan_says_of_every_narrowing_what_becomes_of_it(case: Case) -> None:
    """And asks nobody: it is made on the class, which has no way out."""
    archive = BY_KEY[case.archive]
    plan = archive.plan_text if case.call == "search_inside" else archive.plan_catalogue
    narrowed = [Query(words="lantern", fields={name: VALUES.get(name, "word")}) for name in FIELDS]
    narrowed += [Query(words="lantern", date_from="1880", date_to="1890", bound_names=("date_from", "date_to")),
                 Query(words="lantern", sort="oldest"), Query(words="lantern", facets=True), Query(words="lantern", availability=True)]

    for query in narrowed:
        request = plan(query)
        told = {name for name, _ in (*request.sent, *request.dropped)}
        assert request.absent_because or told == set(query.narrowings), query.narrowings
        assert all(because for _, because in request.dropped)


@every_search
def test_rows_outside_the_dates_asked_are_withheld_and_counted(case: Case, stand_in: StandIn, make_transport: Callable[..., Any]) -> None:
    media = "text/xml; charset=utf-8" if case.answer(0).startswith(b"<") else "application/json"
    stand_in.add(case.at, body=case.answer(3), headers={"Content-Type": media})
    books = BooksClient(settings=Settings(gateway=stand_in.address),
                        transport=make_transport(*ARCHIVES, gateway=stand_in.address, clock=None, pacing_clock=FakeClock()))

    told = books.ask(case.call, {"query": "lantern", "sources": [case.archive], "date_from": "1600", "date_to": "1700", "fan_out": False}).to_dict()

    [report] = told["per_source"]
    dropped = [entry["filter"] for entry in report.get("filters_dropped", ())]
    if report["status"] == "answered" and not dropped:
        assert (told["hits" if case.call == "search_inside" else "items"], report["count"]) == ([], 0)
        assert f"{report['name'][:1].upper()}{report['name'][1:]} returned 3 rows outside the dates asked; they were withheld." in told["notes"]


@every_archive
def test_every_archive_asks_for_its_credit(archive: type[Archive]) -> None:
    assert archive.attribution("2026-11-30T09:00:00Z").strip()


@every_archive
@pytest.mark.parametrize("call", ["search_inside", "search_items", "get_item", "read_text", "search_headings", "browse_collections"])
def test_what_an_archive_does_not_answer_it_is_absent_from_with_the_reason(archive: type[Archive], call: str, make_archive: Make) -> None:
    because = archive.absence(call, Settings())
    assert (because is None) == (call in archive.answers) or archive.key == "gallica"
    if because is None:
        return
    opened = make_archive(archive)
    calls: dict[str, Callable[[], Any]] = {
        "search_inside": lambda: opened.search_text(archive.plan_text(Query(words="lantern"))),
        "read_text": lambda: opened.read_page(Reference(source=archive.key, local="x"), 1),
        "search_headings": lambda: opened.search_headings("lantern", "subject", 5),
        "browse_collections": lambda: opened.browse_collections("lantern", 5, 1)}

    assert because.endswith(".")
    with pytest.raises(InvalidInput) as caught:
        calls[call]()
    assert caught.value.message == because


@counting
def test_the_last_page_is_named_where_a_total_is_stated(case: Case, search: Callable[..., Page]) -> None:
    assert search(case, case.answer(5, total=12), rows=5).last_page == 3


@counting
def test_fewer_rows_than_the_count_says_are_told_where_no_later_page_has_the_rest(case: Case, search: Callable[..., Page]) -> None:
    page = search(case, case.answer(1, total=7), rows=10)

    assert page.more is False
    assert "It counts 7 matches but sent 1 of the 7 rows due on this page; this is no absence." in page.notes


def test_a_page_that_repeats_an_earlier_one_is_told_and_promises_no_more(search: Callable[..., Page]) -> None:
    """An archive that leaves `page` aside says where its rows begin."""
    case = next(case for case in CASES if case.name == "openlibrary search_items")

    page = search(case, case.answer(5), rows=5, page=2)

    assert (len(page.records), page.more) == (5, None)
    assert "It was asked for page 2 and sent the rows from number 1 on, which an earlier page has." in page.notes


@pytest.mark.parametrize(("page", "ceiling", "more", "last"), [(1, 20, True, 2), (1, 19, False, 1), (2, 20, False, 2), (1, None, True, 10)])
def test_more_is_promised_up_to_the_ceiling_and_not_past_it(page: int, ceiling: int | None, more: bool, last: int) -> None:
    told = page_of_rows(BY_KEY["archive"], ["row"] * 10, str, page=page, rows=10, total=100, ceiling=ceiling)

    assert (told.more, told.last_page) == (more, last)
