"""Gallica: values that cannot act, odd records as published, refusals told apart, contents only once accepted."""
from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import responses
from lxml import etree

from sources.archives import gallica
from sources.archives import gallica_records as records
from sources.archives.gallica import ALTO, CONTENTS_ABSENT, REPOSITORY, SERVICES, SRU, Gallica
from sources.archives.gallica_records import TERMS, YEAR_MEANS
from sources.asking.identifiers import read_identifier
from sources.contract import (
    Contributor,
    Copy,
    Edition,
    Item,
    ItemQuery,
    PageEntry,
    PageText,
    Passage,
    Query,
    Record,
    Reference,
    Related,
    Request,
    Rights,
    TextMatch,
)
from sources.errors import ArchiveUnreachable, InvalidInput, RateLimited, RecordNotFound, SourceError, TimedOut, UnreadableAnswer
from sources.settings import Settings
from sources.text import Excerpt

Make = Callable[..., Gallica]
Answer = Callable[[str], str]

BOOK, ISSUE, OTHER_ISSUE, ARABIC = "bpt6k9000016", "bpt6k900003z", "bpt6k900002k", "bpt6k900004b"  # invented; each ends in its
PERIODICAL, CATALOGUED = "cb900006010", "cb90000702m"  # own check character
HOME = "https://gallica.bnf.fr/ark:/12148/"
WALL = "<!DOCTYPE html><html><head><title>Vérification de sécurité</title></head><body><div class='altcha'></div></body></html>"
SILENCE = requests.exceptions.ReadTimeout()
ERROR_PAGE = "<!doctype html><html><body><p>Could not resolve view with name &#39;error&#39; in servlet</p></body></html>"


def gives(url: str, body: str, status: int = 200) -> None:
    responses.get(url, body=body, status=status, content_type="text/html" if "<html" in body else "text/xml;charset=UTF-8")


def asked(number: int = 0) -> dict[str, str]:
    """The parameters of a request."""
    return {name: values[0] for name, values in parse_qs(urlsplit(responses.calls[number].request.url or "").query).items()}


def addresses() -> list[str]:
    return [(call.request.url or "").partition("?")[0] for call in responses.calls]


def diagnosed(answer: Answer, *, code: str, message: str, details: str = "") -> str:
    body = answer("gallica/diagnostic.xml")
    return body.replace("URI", code).replace("MESSAGE", message).replace("DETAILS", details)


# ---- what is sent --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("typed", "term"), [
    ("eaux lentes", 'gallica all "eaux lentes"'),
    ('"eaux lentes"', 'gallica adj "eaux lentes"'),
    ('eaux "lentes" (or) dc.title', 'gallica all "eaux \\"lentes\\" (or) dc.title"'),
    ('a\\" or dc.type all "image', 'gallica all "a\\\\\\" or dc.type all \\"image"'),
    ("eau* l?nte ^mar\x07ais", 'gallica all "eau l nte mar ais"'),
    ('"', None),
    ("?* ^", None),
])
@responses.activate
def test_what_was_typed_stays_plain_text_inside_one_quoted_term(
        make_archive: Make, answer: Answer, typed: str, term: str | None) -> None:
    """Quotation marks and backslashes are escaped, masks and controls become blanks; whole in quotes means adjacent."""
    gives(SRU, answer("gallica/none.xml"))

    if term is None:
        assert Gallica.plan_catalogue(Query(words=typed)).absent_because
    else:
        make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words=typed)))
        assert asked()["query"] == term


@responses.activate
def test_every_field_goes_out_under_the_index_that_takes_it(make_archive: Make, answer: Answer) -> None:
    """Words with `all`, a value in double quotes with `adj` and no fuzzy matching, dates to the day, the type as named."""
    gives(SRU, answer("gallica/none.xml"))
    query = Query(words="tourbe", rows=5, page=3, media_type="monographie", date_from="1911-02", date_to="1912-02", sort="newest",
                  bound_names=("date_from", "date_to"), facets=True, availability=True, fields={
                      "title": '"eaux lentes"', "creator": "odile vasseur", "subject": "marais", "publisher": "lanthier",
                      "language": "fr", "isbn": "978-0-306-40615-7", "place": "Amiens"})
    clauses = (
        ("title", 'dc.title adj "eaux lentes"'), ("creator", 'dc.creator all "odile vasseur"'),
        ("subject", 'dc.subject all "marais"'), ("publisher", 'dc.publisher all "lanthier"'),
        ("language", 'dc.language all "fre"'),
        ("isbn", 'isbn any "9780306406157 0306406152"'), ("date_from", 'gallicapublication_date>="1911/02/01"'),
        ("date_to", 'gallicapublication_date<="1912/02/29"'))

    plan = Gallica.plan_catalogue(query)
    make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(query))

    assert plan == Request(query=query, asks=plan.asks, sent=(*clauses, ("sort", "sortby dc.date/sort.descending")),
                           media_type_asked="monographie", dropped=(
        ("place", "Gallica files the place inside the publisher's name and has no index of places."),
        ("facets", "Gallica's search service counts no terms; its web pages do, and are not asked."),
        ("availability", "Gallica lends nothing, so it states no availability.")),
        ordered_on="Gallica's own dc.date/sort.descending")
    assert asked() == {
        "version": "1.2", "operation": "searchRetrieve", "startRecord": "11", "maximumRecords": "5", "collapsing": "true",
        "exactSearch": "true", "query": " and ".join(['gallica all "tourbe"', *(clause for _, clause in clauses),
                                                      'dc.type all "monographie"']) + " sortby dc.date/sort.descending"}


def test_an_identifying_field_without_an_index_makes_gallica_absent() -> None:
    """LCCN, OCLC number and collection are never dropped."""
    reasons = {name: Gallica.plan_catalogue(Query(words="x", fields={name: "1"})).absent_because
               for name in ("lccn", "oclc", "collection")}

    assert reasons == {"lccn": "Gallica indexes no Library of Congress control numbers.",
                       "oclc": "Gallica indexes no OCLC numbers.",
                       "collection": "Gallica has no collection that this argument could name."}


def test_nothing_left_to_search_on_is_absent_with_what_was_dropped() -> None:
    plan = Gallica.plan_catalogue(Query(fields={"title": "?", "place": "Amiens"}))

    assert plan.absent_because == "Gallica cannot search on what was asked: nothing is left to send."
    assert [name for name, _ in plan.dropped] == ["title", "place"]


@responses.activate
def test_a_query_in_cql_goes_out_as_written(make_archive: Make, answer: Answer) -> None:
    """Nothing is escaped; a sort is added unless the query already says one."""
    gives(SRU, answer("gallica/none.xml"))
    archive = make_archive(Gallica)

    archive.search_catalogue(Gallica.plan_catalogue(Query(words='dc.title adj "a*" or (text all "b")', native=True, sort="title")))
    plan = Gallica.plan_catalogue(Query(words='dc.title all "a" sortby dc.date/sort.ascending', native=True, sort="title"))

    assert asked()["query"] == 'dc.title adj "a*" or (text all "b") sortby dc.title/sort.ascending'
    assert plan.dropped == (("sort", "The query as written already says sortby."),)


@pytest.mark.parametrize(("written", "sent"), [
    ('text all "a" SortBy dc.date/sort.ascending', '(text all "a") and dc.creator all "Hue" SortBy dc.date/sort.ascending'),
    ('text all "the sortby word"', '(text all "the sortby word") and dc.creator all "Hue" sortby dc.title/sort.ascending'),
    (r'text all "a \" sortby b" or text all "c"', r'(text all "a \" sortby b" or text all "c") and dc.creator all "Hue" sortby dc.title/sort.ascending')])
def test_the_order_of_a_query_in_cql_stays_last_when_a_field_is_joined_to_it(written: str, sent: str) -> None:
    """The word inside quotation marks orders nothing."""
    plan = Gallica.plan_catalogue(Query(words=written, native=True, sort="title", fields={"creator": "Hue"}))

    assert dict(plan.asks[0].params)["query"] == sent


def test_a_view_is_cited_at_its_own_address() -> None:
    reference = Reference(source="gallica", local="bpt6k9000016", page=3)

    assert Gallica.page_address(Item(identifier="", source_url=""), reference) == "https://gallica.bnf.fr/ark:/12148/bpt6k9000016/f3"


@responses.activate
def test_more_rows_than_it_gives_are_asked_as_fifty_and_pages_neither_overlap_nor_skip(
        make_archive: Make, answer: Answer) -> None:
    """Page 2 of 80 rows begins at row 51, since 50 is what one answer holds; the plan says so."""
    gives(SRU, answer("gallica/none.xml"))

    make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="tourbe", rows=80, page=2)))

    assert (asked()["startRecord"], asked()["maximumRecords"]) == ("51", "50")
    assert Gallica.plan_catalogue(Query(words="tourbe", rows=80)).notes == (
        "Gallica sends at most 50 rows at once; 50 were asked instead of 80.",)


def test_a_mask_that_was_taken_out_is_told() -> None:
    plan = Gallica.plan_catalogue(Query(words="eau*"))

    assert plan.notes == ("The marks * ? and ^ act in its query language, so they were sent as blanks.",)


# ---- rows ----------------------------------------------------------------------------------------------------------

@responses.activate
def test_rows_come_out_as_published_and_years_only_beyond_doubt(make_archive: Make, answer: Answer) -> None:
    """A role leaves the name, a department does not; unknown digits give no year; a Hijri year stands with no days; a row
    without an ark of Gallica has no identifier; one row without a description is counted."""
    gives(SRU, answer("gallica/search.xml"))

    page = make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="eaux", rows=6)))

    assert page.records == (
        Record(identifier=f"gallica:{BOOK}", title="Les eaux lentes",
               creator="Vasseur, Odile (1801-1870); France. Bureau des marais", year=1862, date="1862",
               media_type="monographies", source_url=HOME + BOOK, online=True, languages=("fre",),
               subjects=("Marais -- Picardie",), publishers=("Veuve Lanthier (Amiens)",), span=("1862-01-01", "1862-12-31")),
        Record(identifier=f"gallica:{PERIODICAL}/date", title="Le Courrier des marais", year=None, date="184?-1963",
               media_type="periodiques", source_url=f"{HOME}{PERIODICAL}/date", online=True),
        Record(identifier=f"gallica:{ISSUE}", title="Le Courrier des marais", year=None, date="1911??gai-20",
               media_type="fascicules", source_url=HOME + ISSUE, online=True),
        Record(identifier=f"gallica:{ARABIC}", title="كتاب المياه", year=1281, date="1281", media_type="monographies",
               source_url=HOME + ARABIC, online=True, languages=("ara",)),
        Record(identifier=None, title="Carte des tourbières", media_type="carte", source_url="https://partner.example/maps/88",
               online=False, languages=("French",)))
    assert (page.total, page.skipped, page.more, page.beyond) == (42, 1, True, None)
    assert page.notes == ("42 rows stand for 310 documents, since a set or a periodical is one row.",)


@pytest.mark.parametrize(("date", "year", "span"), [
    ("1883-04", 1883, ("1883-04-01", "1883-04-30")), ("1882-07-29", 1882, ("1882-07-29", "1882-07-29")),
    ("1854-1870", None, ("1854-01-01", "1870-12-31")), ("1964-1964", 1964, ("1964-01-01", "1964-12-31")),
    ("19??", None, ("1900-01-01", "1999-12-31")), ("1897-191.", None, ("1897-01-01", "1919-12-31")),
    ("186.", None, ("1860-01-01", "1869-12-31")), ("1913-????", None, ("1913-01-01", "9999-12-31")),
    ("1925-19??", None, ("1925-01-01", "1999-12-31")), ("18uu", None, ("1800-01-01", "1899-12-31")),
    ("s.d.", None, None), ("1912-13-45", None, None), ("0000", None, None)])
@responses.activate
def test_a_date_gives_a_year_and_days_only_as_far_as_it_states_them(
        make_archive: Make, answer: Answer, date: str, year: int | None, span: tuple[str, str] | None) -> None:
    """A run of years is the life of a title, not a document's date."""
    gives(SRU, answer("gallica/search.xml").replace("<dc:date>1862<", f"<dc:date>{date}<"))

    row = make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="eaux"))).records[0]

    assert (row.date, row.year, row.span) == (date, year, span)


@responses.activate
def test_rows_beyond_those_asked_are_left_for_the_next_page(make_archive: Make, answer: Answer) -> None:
    gives(SRU, answer("gallica/search.xml"))

    assert len(make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="eaux", rows=2))).records) == 2


# ---- what is no absence --------------------------------------------------------------------------------------------

@responses.activate
def test_a_true_zero_is_a_zero(make_archive: Make, answer: Answer) -> None:
    gives(SRU, answer("gallica/none.xml"))

    page = make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="tourbe")))

    assert (page.records, page.total, page.more, page.beyond) == ((), 0, False, None)


@pytest.mark.parametrize(("code", "message", "kind"), [
    ("16", "There are no translation for the following key", InvalidInput),
    ("10", "Query syntax error", InvalidInput),
    ("1", "General failure", ArchiveUnreachable),
    ("9", "Service temporarily closed", ArchiveUnreachable),
])
@responses.activate
def test_a_diagnostic_in_a_200_is_told_by_what_it_says(
        make_archive: Make, answer: Answer, code: str, message: str, kind: type[SourceError]) -> None:
    """A refused query is the caller's to mend, a failure is Gallica's; neither is an empty result."""
    gives(SRU, diagnosed(answer, code=code, message=message, details="dc.coverage"))

    with pytest.raises(kind, match=f"{message}: dc.coverage"):
        make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="tourbe", native=True)))


@responses.activate
def test_past_the_end_is_told_as_past_the_end(make_archive: Make, answer: Answer) -> None:
    """By SRU's diagnostic 61, or by a count without rows; the last page is named where the count is known."""
    gives(SRU, diagnosed(answer, code="61", message="First record position out of range"))
    gives(SRU, answer("gallica/none.xml").replace(">0<", ">42<"))
    archive = make_archive(Gallica, cache_ttl_ms=0)

    by_diagnostic = archive.search_catalogue(Gallica.plan_catalogue(Query(words="tourbe", rows=5, page=10)))
    by_count = archive.search_catalogue(Gallica.plan_catalogue(Query(words="tourbe", rows=5, page=10)))

    assert by_diagnostic.beyond == "This page lies past the last row."
    assert by_count.beyond == "Page 10 lies past the last page: at 5 rows a page the 42 matches fill 9."


@pytest.mark.parametrize("body", [
    "<results/>",
    "<s:searchRetrieveResponse xmlns:s='u'><s:records><s:record/><s:record/></s:records></s:searchRetrieveResponse>",
    "<html><body>maintenance</body></html>", ""])
@responses.activate
def test_an_answer_of_another_shape_is_unreadable(make_archive: Make, body: str) -> None:
    """Another root, rows of which none can be read, a web page, nothing."""
    gives(SRU, body)

    with pytest.raises(UnreadableAnswer) as caught:
        make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="tourbe")))

    assert caught.value.archive == "gallica"


@pytest.mark.parametrize(("page", "kind"), [
    (ERROR_PAGE, InvalidInput), ("<html><body>Internal Server Error</body></html>", ArchiveUnreachable)])
@responses.activate
def test_a_500_is_a_refused_query_or_a_failure_and_not_asked_again(make_archive: Make, page: str, kind: type[SourceError]) -> None:
    """The page that names the view 'error' is what a bad query gets; any other is a failure of the service."""
    gives(SRU, page, status=500)

    with pytest.raises(kind):
        make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words='dc.title all "', native=True)))

    assert len(responses.calls) == 1


@responses.activate
def test_a_missing_search_route_is_never_nothing_found(make_archive: Make) -> None:
    gives(SRU, "<html><body>404</body></html>", status=404)

    with pytest.raises(ArchiveUnreachable):
        make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="tourbe")))


@pytest.mark.parametrize(("status", "body", "said"), [
    (200, WALL, "blocked by the site's protection"), (403, WALL, "blocked by the site's protection"),
    (403, "", "refused the request (status 403)"), (403, "<html>Interdit</html>", "refused the request (status 403)"),
])
@responses.activate
def test_the_wall_pauses_the_archive_for_hours(make_archive: Make, status: int, body: str, said: str) -> None:
    """A challenge page with any status, or a 403 without a word: nothing kept, and nothing more sent for two hours."""
    gives(SRU, body, status=status)
    archive = make_archive(Gallica)

    with pytest.raises(ArchiveUnreachable, match=re.escape(said)):
        archive.search_catalogue(Gallica.plan_catalogue(Query(words="tourbe")))
    with pytest.raises(ArchiveUnreachable) as again:
        archive.search_catalogue(Gallica.plan_catalogue(Query(words="autre")))

    assert len(responses.calls) == 1
    assert again.value.retry_after_s == pytest.approx(7200, abs=60)


@pytest.mark.parametrize("silence", [requests.exceptions.ReadTimeout(), requests.exceptions.ConnectTimeout()])
@responses.activate
def test_a_request_left_hanging_is_the_wall_too(make_archive: Make, silence: Exception) -> None:
    """Who is shut out may get no answer at all: told as a silence, and followed by two hours in which nothing is sent."""
    responses.get(SRU, body=silence)
    archive = make_archive(Gallica)

    with pytest.raises(TimedOut) as first:
        archive.search_catalogue(Gallica.plan_catalogue(Query(words="tourbe")))
    with pytest.raises(ArchiveUnreachable, match="blocked by the site's protection") as again:
        archive.search_catalogue(Gallica.plan_catalogue(Query(words="autre")))

    assert len(responses.calls) == 1
    assert first.value.retry_after_s == again.value.retry_after_s == pytest.approx(7200, abs=60)


@responses.activate
def test_a_redirect_to_the_wall_is_not_followed(make_archive: Make) -> None:
    responses.get(SRU, status=302, headers={"Location": "/services/engine/search/altcha?altchaNotVerified=true"})

    with pytest.raises(ArchiveUnreachable, match="blocked by the site's protection"):
        make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="tourbe")))

    assert len(responses.calls) == 1


@responses.activate
def test_requests_keep_the_pace_that_robots_txt_asks(make_archive: Make, answer: Answer, clock: object) -> None:
    """Crawl-delay: 5, from start to start."""
    gives(SRU, answer("gallica/none.xml"))
    archive = make_archive(Gallica)

    for word in ("a", "b", "c"):
        archive.search_catalogue(Gallica.plan_catalogue(Query(words=word)))

    assert clock.slept == [5.0, 5.0]  # type: ignore[attr-defined]


# ---- records -------------------------------------------------------------------------------------------------------

@responses.activate
def test_a_record_is_read_whole(make_archive: Make, answer: Answer) -> None:
    """Rights in two languages are one statement; relations become identifiers where one can be read; OCR's score is a note."""
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))

    page = make_archive(Gallica).read_record(Gallica.read_identifier(BOOK), ItemQuery())

    assert asked() == {"ark": BOOK}
    assert (page.list_total, page.notes) == (None, ())
    assert page.item == Item(
        identifier=f"gallica:{BOOK}", title="Les eaux lentes", creator="Vasseur, Odile (1801-1870)", year=1862,
        year_means=YEAR_MEANS, date="1862", media_type="monographie", source_url=HOME + BOOK,
        description="Contient une table des matières\nAvec mode texte",
        description_means="the catalogue's notes, in French", subjects=("Marais -- Picardie",), language=("fre",),
        notes=("Another form of the title: Slow waters", "The library rates the machine-read text (OCR) at 92.5 of 100."),
        rights=Rights(statement="domaine public", covers="the digitised document", note=TERMS),
        copies=(Copy(label="Gallica's reader", format="web page", url=HOME + BOOK),
                Copy(label="IIIF manifest", format="application/json",
                     url=f"https://gallica.bnf.fr/iiif/ark:/12148/{BOOK}/manifest.json")), copies_available=2,
        context=(Related(identifier=f"bnf:{CATALOGUED}", label="Notice du catalogue", kind="catalogue record",
                         source_url=f"http://catalogue.bnf.fr/ark:/12148/{CATALOGUED}"),
                 Related(identifier=f"gallica:{PERIODICAL}/date", label="Gallica, periodical", kind="periodical",
                         source_url=f"{HOME}{PERIODICAL}/date"),
                 Related(label="Première de couverture : 12", kind="relation")),
        contributors=(Contributor(name="Vasseur, Odile (1801-1870)", role="Auteur du texte"),
                      Contributor(name="Lanthier, Paul", role="Éditeur scientifique")),
        publisher="Veuve Lanthier (Amiens)", call_number="Bibliothèque des marais, T-17", extent="1 vol. (8 p.) ; in-12",
        standard_numbers={"issn": ("00000000",)}, creators=("Vasseur, Odile (1801-1870)",))


@pytest.mark.parametrize(("stated", "statement"), [
    ((), None), (("public domain",), "public domain"), (("domaine public", "public domain"), "domaine public"),
    (("consultable sur place", "conditions spécifiques"), "consultable sur place; conditions spécifiques")])
@responses.activate
def test_rights_are_told_as_published_and_silence_as_silence(
        make_archive: Make, answer: Answer, stated: tuple[str, ...], statement: str | None) -> None:
    """One statement in two languages is told once; a record that states nothing grants nothing."""
    elements = "".join(f"<dc:rights>{text}</dc:rights>" for text in stated)
    body = answer("gallica/record.xml").replace("dc:rights", "dc:other").replace("<dc:source>", elements + "<dc:source>")
    gives(SERVICES + "OAIRecord", body)

    rights = make_archive(Gallica).read_record(Gallica.read_identifier(BOOK), ItemQuery()).item.rights

    silence = "" if stated else "The record states no terms for this document, and silence grants nothing. "
    assert rights == Rights(statement=statement, covers="the digitised document", note=silence + TERMS)


@responses.activate
def test_views_and_printed_numbers_are_told_apart(make_archive: Make, answer: Answer) -> None:
    """View 3 is page 1; the binding and unnumbered views have no printed number; the picture is an address, never fetched."""
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))
    gives(SERVICES + "Pagination", answer("gallica/pagination.xml"))

    page = make_archive(Gallica).read_record(
        Gallica.read_identifier(BOOK), ItemQuery(sections=("pages",), list_limit=3))

    assert page.list_total == 4
    assert page.item.pages == tuple(
        PageEntry(page_number=view, page_number_is="view", printed_page=printed, source_url=f"{HOME}{BOOK}/f{view}",
                  image_url=f"https://gallica.bnf.fr/iiif/ark:/12148/{BOOK}/f{view}/full/1000,/0/native.jpg")
        for view, printed in ((1, None), (2, None), (3, "1")))
    assert addresses() == [SERVICES + "OAIRecord", SERVICES + "Pagination"]


@responses.activate
def test_a_record_stands_when_its_pages_cannot_be_listed_and_the_reverse(make_archive: Make, answer: Answer) -> None:
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))
    gives(SERVICES + "OAIRecord", "<html><body>busy</body></html>")
    gives(SERVICES + "Pagination", "<other/>")
    gives(SERVICES + "Pagination", answer("gallica/pagination.xml"))
    archive, wanted = make_archive(Gallica, cache_ttl_ms=0), ItemQuery(sections=("pages",))

    record_alone = archive.read_record(Gallica.read_identifier(BOOK), wanted)
    pages_alone = archive.read_record(Gallica.read_identifier(BOOK), wanted)

    assert (record_alone.item.title, record_alone.item.pages, record_alone.list_total) == ("Les eaux lentes", (), None)
    assert (pages_alone.item.title, len(pages_alone.item.pages), pages_alone.list_total) == (None, 4, 4)
    assert record_alone.notes == (
        "Gallica: the list of pages could not be read: Gallica sent XML of another kind than was asked.",)
    assert pages_alone.notes[0].startswith("Gallica: the pages were listed; the record itself could not be read: ")


@pytest.mark.parametrize(("body", "status"), [(WALL, 200), ("<html>Access Denied</html>", 403), ("<html>busy</html>", 429), ("", 0)])
@responses.activate
def test_where_the_main_service_refuses_the_repository_gives_the_record(
        make_archive: Make, answer: Answer, body: str, status: int) -> None:
    """The library's OAI repository, plain http; the note says whose record it is and why. Status 0: no answer at all."""
    gives(SERVICES + "OAIRecord", body, status=status) if status else responses.get(SERVICES + "OAIRecord", body=SILENCE)
    gives(REPOSITORY, answer("gallica/repository.xml"))

    page = make_archive(Gallica).read_record(Gallica.read_identifier(BOOK), ItemQuery())

    assert (page.item.title, page.item.media_type) == ("Les eaux lentes", "monographies")
    assert "OAI repository, refreshed weekly" in page.notes[0]
    assert asked(1) == {"verb": "GetRecord", "metadataPrefix": "oai_dc", "identifier": f"oai:bnf.fr:gallica/ark:/12148/{BOOK}"}


@pytest.mark.parametrize(("main", "status", "repository", "kind"), [
    (ERROR_PAGE, 500, "gallica/repository-none.xml", RecordNotFound),
    ("<html>down</html>", 500, "gallica/repository-none.xml", ArchiveUnreachable),
    (WALL, 200, "gallica/repository-none.xml", ArchiveUnreachable),
    ("<html>busy</html>", 429, "gallica/none.xml", RateLimited),
    (ERROR_PAGE, 500, "gallica/none.xml", UnreadableAnswer),
])
@responses.activate
def test_not_found_is_said_only_when_both_services_answered_so(
        make_archive: Make, answer: Answer, main: str, status: int, repository: str, kind: type[SourceError]) -> None:
    """The repository holds the library's own documents alone, so its silence beside a refusal proves nothing."""
    gives(SERVICES + "OAIRecord", main, status=status)
    gives(REPOSITORY, answer(repository))

    with pytest.raises(kind) as caught:
        make_archive(Gallica).read_record(Gallica.read_identifier(BOOK), ItemQuery())

    assert caught.value.code == kind.code


@responses.activate
def test_a_record_count_of_zero_is_not_found(make_archive: Make) -> None:
    gives(SERVICES + "OAIRecord", '<results countResults="0"/>')

    with pytest.raises(RecordNotFound):
        make_archive(Gallica).read_record(Gallica.read_identifier(BOOK), ItemQuery())


# ---- periodicals ---------------------------------------------------------------------------------------------------

@responses.activate
def test_a_periodical_lists_its_years_then_the_issues_of_one(make_archive: Make, answer: Answer) -> None:
    """Each year is an identifier that lists its issues; each issue a document. The description is the row of the title itself."""
    gives(SERVICES + "Issues", answer("gallica/issues-years.xml"))
    gives(SERVICES + "Issues", answer("gallica/issues-year.xml"))
    gives(SRU, answer("gallica/search.xml"))
    archive, wanted = make_archive(Gallica), ItemQuery(sections=("editions",), list_offset=1)

    title = archive.read_record(Gallica.read_identifier(f"{PERIODICAL}/date"), wanted)
    year = archive.read_record(Gallica.read_identifier(f"{PERIODICAL}/date1912"), wanted)

    assert (title.item.title, title.item.date, title.item.year) == ("Le Courrier des marais", "184?-1963", None)
    assert title.list_total == 2
    assert title.item.editions == (Edition(identifier=f"gallica:{PERIODICAL}/date1912", title="Issues of 1912", date="1912",
                                           source_url=f"{HOME}{PERIODICAL}/date1912"),)
    assert year.list_total == 3
    assert year.item.editions == tuple(
        Edition(identifier=f"gallica:{name}", title="07 janvier 1912", date="1912-01-07", source_url=HOME + name)
        for name in (ISSUE, ARABIC))
    assert [asked(number) for number in (0, 2)] == [
        {"ark": f"ark:/12148/{PERIODICAL}/date"}, {"ark": f"ark:/12148/{PERIODICAL}/date", "date": "1912"}]
    assert asked(1)["query"] == f'arkPress all "{PERIODICAL}_date"'


@responses.activate
def test_a_day_of_a_periodical_lists_all_its_issues_of_that_day(make_archive: Make, answer: Answer) -> None:
    """1 March 1912 is day 61 of a leap year."""
    gives(SERVICES + "Issues", answer("gallica/issues-year.xml"))
    gives(SRU, answer("gallica/none.xml"))

    reference = Gallica.read_identifier(f"{PERIODICAL}/date19120301")
    page = make_archive(Gallica).read_record(reference, ItemQuery(sections=("editions",)))

    assert [edition.identifier for edition in page.item.editions] == [f"gallica:{OTHER_ISSUE}"]


@responses.activate
def test_an_issue_is_never_dated_into_the_year_after(make_archive: Make, answer: Answer) -> None:
    """1911 has no day 366: the date stays as the library writes it."""
    gives(SERVICES + "Issues", answer("gallica/issues-year.xml").replace('dayOfYear="61"', 'dayOfYear="366"'))
    gives(SRU, answer("gallica/none.xml"))

    reference = Gallica.read_identifier(f"{PERIODICAL}/date1911")
    page = make_archive(Gallica).read_record(reference, ItemQuery(sections=("editions",)))

    assert page.item.editions[0].date == "01 mars 1912"


@responses.activate
def test_issues_stand_when_the_title_cannot_be_described(make_archive: Make, answer: Answer) -> None:
    gives(SERVICES + "Issues", answer("gallica/issues-years.xml"))
    gives(SRU, WALL)

    page = make_archive(Gallica).read_record(Gallica.read_identifier(f"{PERIODICAL}/date"), ItemQuery(sections=("editions",)))

    assert (page.item.title, page.list_total) == (None, 2)
    assert "could not be read" in page.notes[0]


@responses.activate
def test_a_periodical_without_issues_or_title_is_not_found(make_archive: Make, answer: Answer) -> None:
    gives(SERVICES + "Issues", "<issues listType='years'/>")
    gives(SRU, answer("gallica/none.xml"))

    with pytest.raises(RecordNotFound):
        make_archive(Gallica).read_record(Gallica.read_identifier(f"{PERIODICAL}/date"), ItemQuery())


# ---- identifiers and addresses -------------------------------------------------------------------------------------

@pytest.mark.parametrize(("written", "local", "page"), [
    (BOOK, BOOK, None), (f"ark:/12148/{BOOK}", BOOK, None), (f"{BOOK}.item", BOOK, None), (f"{BOOK}/f12", BOOK, 12),
    (f"ark:/12148/{BOOK}/f12.item.r=M.%20Dupont%2FB.langFR.zoom", BOOK, 12), (f"{BOOK}/f82n79.texteBrut", BOOK, 82),
    (f"{BOOK}.texteImage", BOOK, None), (f"{BOOK}.planchecontact?rk=21459;2#", BOOK, None),
    (f"{PERIODICAL}/date", f"{PERIODICAL}/date", None), (f"{PERIODICAL}/date1912.liste", f"{PERIODICAL}/date1912", None),
    (f"{PERIODICAL}/date19120402", f"{PERIODICAL}/date19120402", None)])
def test_one_document_named_in_many_ways_is_one_identifier(written: str, local: str, page: int | None) -> None:
    """With or without the ark prefix, a view, a search word, a reader's suffix; the f-number is a view; a reading is told."""
    reference = Gallica.read_identifier(written)

    assert (reference.local, reference.page, reference.identifier) == (local, page, f"gallica:{local}")
    assert (reference.read_as is None) == (written == local)


@pytest.mark.parametrize(("address", "local", "page"), [
    (f"https://gallica.bnf.fr/ark:/12148/{BOOK}", BOOK, None),
    (f"http://gallica.bnf.fr/ark:/12148/{BOOK}/f3.image.r=eaux?rk=1;2", BOOK, 3),
    (f"https://gallica.bnf.fr/ark%3A/12148/{BOOK}/f3", BOOK, 3),
    (f"https://gallica.bnf.fr/ark:/12148/{PERIODICAL}/date1912", f"{PERIODICAL}/date1912", None),
    (f"https://gallica.bnf.fr/iiif/ark:/12148/{BOOK}/f3/full/1000,/0/native.jpg", BOOK, 3),
    (f"https://gallica.bnf.fr/iiif/ark:/12148/{BOOK}/manifest.json", BOOK, None),
    (f"https://gallica.bnf.fr/services/OAIRecord?ark={BOOK}", BOOK, None),
    (f"https://gallica.bnf.fr/services/ContentSearch?ark={BOOK}&query=x&page=4", BOOK, 4),
    (f"https://gallica.bnf.fr/services/Issues?ark=ark:/12148/{PERIODICAL}/date&date=1912", f"{PERIODICAL}/date1912", None),
    (f"https://gallica.bnf.fr/RequestDigitalElement?O={BOOK}&E=ALTO&Deb=20", BOOK, 20)])
def test_an_address_of_the_reader_a_picture_or_a_service_routes(address: str, local: str, page: int | None) -> None:
    reference = read_identifier(address, (Gallica,))

    assert (reference.local, reference.page, bool(reference.read_as)) == (local, page, True)


@pytest.mark.parametrize(("written", "said"), [
    ("bpt6k9000061", "mistyped"), ("cb90000702m", "catalogue record"), ("cb90000702m/f3", "catalogue record"),
    (f"{BOOK}/date", "catalogue record"), ("cc90000901w", "another service"), ("", "shape"), ("titanic", "shape"),
    (f"{BOOK}/../x", "shape"), (f"{BOOK}/f3/x", "shape"), (f"{PERIODICAL}/date0000", "shape"), ("cb900006010/date1", "shape"),
    ("ark:/99999/x", "shape")])
def test_what_names_no_document_of_gallica_is_refused(written: str, said: str) -> None:
    """A wrong check character, a catalogue ark alone, an ark of another service, a climbing path: refused before any request."""
    with pytest.raises(InvalidInput, match=said):
        Gallica.read_identifier(written)


def test_a_catalogue_ark_is_handed_to_its_archive() -> None:
    with pytest.raises(InvalidInput) as caught:
        Gallica.read_identifier(CATALOGUED)

    assert caught.value.hint == f"Read the record with bnf:{CATALOGUED}."


def test_a_pasted_search_is_refused_with_the_query_it_holds() -> None:
    with pytest.raises(InvalidInput) as caught:
        Gallica.read_address(urlsplit("https://gallica.bnf.fr/services/engine/search/sru?version=1.2&query=dc.title%20all%20%22eaux%22"))

    assert caught.value.hint == 'Use search_items with sources ["gallica"], native_query true and query dc.title all "eaux"'


@pytest.mark.parametrize("path", ["/", "/services/OAIRecord", "/services/Issues?date=1912", "/html/und/presse"])
def test_an_address_without_an_ark_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput):
        Gallica.read_address(urlsplit("https://gallica.bnf.fr" + path))


# ---- contents ------------------------------------------------------------------------------------------------------

def test_contents_are_absent_until_the_operator_accepts_their_terms() -> None:
    """The reason names the setting and both regimes; records stay answered either way."""
    accepted = Settings(gallica_contents=True)

    assert [Gallica.absence(call, Settings()) for call in ("search_inside", "read_text")] == [CONTENTS_ABSENT] * 2
    assert [Gallica.absence(call, accepted) for call in ("search_inside", "read_text")] == [None, None]
    assert [Gallica.absence(call, Settings()) for call in ("search_items", "get_item")] == [None, None]
    assert "BOOKS_GALLICA_CONTENTS=accept" in CONTENTS_ABSENT
    assert not Gallica.asked_by_default


@responses.activate
def test_nothing_of_the_contents_is_requested_before_they_are_accepted(make_archive: Make) -> None:
    archive, reference = make_archive(Gallica), Gallica.read_identifier(BOOK)

    for read in (lambda: archive.search_text(Gallica.plan_text(Query(words="eaux"))), lambda: archive.read_page(reference, 3),
                 lambda: archive.search_record(reference, "eaux", 5)):
        with pytest.raises(InvalidInput, match="BOOKS_GALLICA_CONTENTS=accept"):
            read()

    assert len(responses.calls) == 0


@responses.activate
def test_a_search_inside_asks_the_passages_of_four_rows_and_counts_the_others(make_archive: Make, answer: Answer) -> None:
    """One search over documents, not titles, then a request a row; the view is the page number. A title and a row without an ark
    have no text of their own to ask."""
    gives(SRU, answer("gallica/search.xml"))
    gives(SERVICES + "ContentSearch", answer("gallica/content.xml"))
    gives(SERVICES + "ContentSearch", answer("gallica/content-none.xml"))

    page = make_archive(Gallica, gallica_contents=True).search_text(Gallica.plan_text(Query(words='"eaux lentes"', rows=6, excerpts_per_record=1)))

    assert (asked()["query"], asked()["collapsing"]) == ('text adj "eaux lentes"', "false")
    assert [asked(number)["ark"] for number in range(1, len(responses.calls))] == [BOOK, ISSUE, ARABIC]
    assert asked(1)["query"] == '"eaux lentes"'
    assert page.records[0] == TextMatch(
        identifier=f"gallica:{BOOK}", title="Les eaux lentes", creator="Vasseur, Odile (1801-1870); France. Bureau des marais",
        year=1862, page_number=7, page_number_is="view", excerpts=(Excerpt(text="les eaux lentes du soir", at=((4, 15),), kind="passage"),), excerpt_kind="passage",
        source_url=f"{HOME}{BOOK}/f7", span=("1862-01-01", "1862-12-31"))
    assert page.records[2] == TextMatch(identifier=f"gallica:{ISSUE}", title="Le Courrier des marais", source_url=HOME + ISSUE,
                                        published_on="1911??gai-20", publication="Le Courrier des marais")
    assert page.notes == (
        "2 row(s) stand without text: passages are asked document by document, at most 4 a call. "
        "read_text with match reads those of one.",
        "The search inside a document found no passage in 2 row(s) of the search across them.")


@responses.activate
def test_no_more_documents_are_asked_for_passages_than_one_call_allows(
        make_archive: Make, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four by default; here one, so that the search and one document are all that is sent."""
    assert gallica.CONTENT_ROWS == 4
    monkeypatch.setattr(gallica, "CONTENT_ROWS", 1)
    gives(SRU, answer("gallica/search.xml"))
    gives(SERVICES + "ContentSearch", answer("gallica/content.xml"))

    page = make_archive(Gallica, gallica_contents=True).search_text(Gallica.plan_text(Query(words="eaux", rows=6)))

    assert addresses() == [SRU, SERVICES + "ContentSearch"]
    assert page.notes[0].startswith("4 row(s) stand without text: passages are asked document by document, at most 1 a call.")


@pytest.mark.parametrize(("body", "status", "reason"), [
    (WALL, 200, "Gallica: blocked by the site's protection; a challenge page came instead of an answer."),
    ("<html>down</html>", 500, "Gallica could not answer (status 500)."),
    ("<results><items><item/></items></results>", 200, "None of the 1 rows that Gallica sent could be read.")])
@responses.activate
def test_rows_stand_when_reading_their_text_is_refused(
        make_archive: Make, answer: Answer, body: str, status: int, reason: str) -> None:
    """The first refusal ends the reading; the rows, the moment and the reason are told; nothing more is sent."""
    gives(SRU, answer("gallica/search.xml"))
    gives(SERVICES + "ContentSearch", body, status=status)

    page = make_archive(Gallica, gallica_contents=True).search_text(Gallica.plan_text(Query(words="eaux", rows=6)))

    assert addresses() == [SRU, SERVICES + "ContentSearch"]
    assert len(page.records) == 5
    assert {(row.excerpts, row.excerpt_kind, row.page_number) for row in page.records} == {((), None, None)}
    assert page.notes[0] == f"The search was answered; reading passages failed after it (stage read): {reason}"


@responses.activate
def test_passages_are_not_begun_when_the_call_has_no_time_left(make_archive: Make, answer: Answer, clock: object) -> None:
    """Under 12 s left, the rows come without text."""
    gives(SRU, answer("gallica/search.xml"))
    archive = make_archive(Gallica, gallica_contents=True)
    clock.advance(40.0)  # type: ignore[attr-defined]

    page = archive.search_text(Gallica.plan_text(Query(words="eaux", rows=6)))

    assert addresses() == [SRU]
    assert page.notes[0].startswith("5 row(s) stand without text")


def test_a_publication_is_its_ark_or_its_title_among_issues() -> None:
    """arkPress names a title beyond doubt; words ask the title of issues alone."""
    by_ark = Gallica.plan_text(Query(words="eaux", publication=f"gallica:{PERIODICAL}/date"))
    by_title = Gallica.plan_text(Query(words="eaux", publication='"Le Courrier des marais"'))

    assert by_ark.sent == (("publication", f'arkPress all "{PERIODICAL}_date"'),)
    assert by_title.sent == (("publication", 'dc.title adj "Le Courrier des marais" and dc.type all "fascicule"'),)


@responses.activate
def test_passages_inside_a_document_read_alike_however_their_marks_are_escaped(make_archive: Make, answer: Answer) -> None:
    """Elements, escaped once, escaped twice; PAG_0012 is view 12; a page that is not named stays unnamed."""
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))
    gives(SERVICES + "ContentSearch", answer("gallica/content.xml"))

    found = make_archive(Gallica, gallica_contents=True).search_record(Gallica.read_identifier(BOOK), "eaux", 4)

    assert found.passages == tuple(
        Passage(page_number=view, text=text, source_url=f"{HOME}{BOOK}/f{view}") for view, text in (
            (7, "les eaux lentes du soir"), (7, "d'autres eaux"), (12, "nos eaux éteintes"), (13, "ces eaux éteintes")))
    assert (found.match_count, found.page.title, found.page.rights.statement) == (12, "Les eaux lentes", "domaine public")
    assert found.notes == ("Gallica does not say whether it counts matches or pages, and sends at most ten pages of them.",)


@pytest.mark.parametrize(("record", "held"), [("Avec mode texte", True), ("", False)])
@responses.activate
def test_no_match_and_no_text_are_not_confused(make_archive: Make, answer: Answer, record: str, held: bool) -> None:
    """Gallica answers both alike; where the record states no text either, none is claimed."""
    body = answer("gallica/record.xml").replace("Avec mode texte", record).replace("92.50", "0.0")
    gives(SERVICES + "OAIRecord", body)
    gives(SERVICES + "ContentSearch", answer("gallica/content-none.xml"))

    found = make_archive(Gallica, gallica_contents=True).search_record(Gallica.read_identifier(BOOK), "tourbe", 5)

    assert (found.passages, found.match_count, found.page.ocr_available) == ((), 0, held)
    assert found.notes == ("Gallica answers alike for no match and for a document without text.",)


@responses.activate
def test_the_text_of_a_view_is_read_with_its_place(make_archive: Make, answer: Answer) -> None:
    """View 3 is printed page 1; a broken word is written once, its second half alone is kept; bytes that are UTF-8 under an
    ISO-8859-1 declaration keep their accents."""
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))
    gives(SERVICES + "Pagination", answer("gallica/pagination.xml"))
    gives(ALTO, answer("gallica/alto.xml"))

    page = make_archive(Gallica, gallica_contents=True).read_page(Gallica.read_identifier(f"{BOOK}/f3"), 3)

    assert asked(2) == {"O": BOOK, "E": "ALTO", "Deb": "3"}
    assert page == PageText(
        identifier=f"gallica:{BOOK}", item_identifier=f"gallica:{BOOK}", title="Les eaux lentes", page_number=3,
        page_number_is="view", printed_page="1", page_count=4, previous_page=2, next_page=4,
        text="Un été immobile\npassa.\n\nraie", source_url=f"{HOME}{BOOK}/f3",
        image_url=f"https://gallica.bnf.fr/iiif/ark:/12148/{BOOK}/f3/full/1000,/0/native.jpg",
        rights=Rights(statement="domaine public", covers="the digitised document", note=TERMS),
        notes=("Machine-read text; the file rates its own accuracy at 98.70 of 100.",))


@responses.activate
def test_a_blank_page_is_empty_text_and_the_last_view_has_no_next(make_archive: Make, answer: Answer) -> None:
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))
    gives(SERVICES + "Pagination", answer("gallica/pagination.xml"))
    gives(ALTO, answer("gallica/alto-blank.xml"))

    page = make_archive(Gallica, gallica_contents=True).read_page(Gallica.read_identifier(BOOK), 4)

    assert (page.text, page.ocr_available, page.next_page, page.page_count) == ("", True, None, 4)


@responses.activate
def test_a_text_stands_when_record_and_list_of_pages_fail(make_archive: Make, answer: Answer) -> None:
    """Title and terms are missing and said so; the last view is not guessed; the file's own printed number serves."""
    gives(SERVICES + "OAIRecord", "<html>gone</html>", status=404)
    gives(REPOSITORY, "<html>gone</html>", status=404)
    gives(SERVICES + "Pagination", "<html>gone</html>", status=404)
    gives(ALTO, answer("gallica/alto.xml"))

    page = make_archive(Gallica, gallica_contents=True).read_page(Gallica.read_identifier(BOOK), 3)

    assert (page.title, page.page_count, page.next_page, page.printed_page) == (None, None, None, "1")
    assert (page.text, page.rights.statement, len(page.notes)) == ("Un été immobile\npassa.\n\nraie", None, 3)


@pytest.mark.parametrize("text_stated", [True, False])
@responses.activate
def test_a_view_without_a_text_file_is_an_image_only_where_the_record_states_no_text(
        make_archive: Make, answer: Answer, text_stated: bool) -> None:
    record = answer("gallica/record.xml")
    gives(SERVICES + "OAIRecord", record if text_stated else record.replace("Avec mode texte", "").replace("92.50", "0.0"))
    gives(SERVICES + "Pagination", answer("gallica/pagination.xml"))
    gives(ALTO, "<html>none</html>", status=404)
    archive = make_archive(Gallica, gallica_contents=True)

    if text_stated:
        with pytest.raises(RecordNotFound):
            archive.read_page(Gallica.read_identifier(BOOK), 3)
    else:
        page = archive.read_page(Gallica.read_identifier(BOOK), 3)
        assert (page.text, page.ocr_available) == (None, False)


@pytest.mark.parametrize(("body", "status", "kind"), [
    (WALL, 200, ArchiveUnreachable), ("<html>slow down</html>", 429, RateLimited), ("<alto/>", 200, UnreadableAnswer),
    ("", 200, UnreadableAnswer)])
@responses.activate
def test_a_refused_text_is_a_failure_and_never_shown_as_text(
        make_archive: Make, answer: Answer, body: str, status: int, kind: type[SourceError]) -> None:
    """Nothing is asked again; the other services of the archive go on."""
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))
    gives(SERVICES + "Pagination", answer("gallica/pagination.xml"))
    gives(ALTO, body, status=status)
    gives(SRU, answer("gallica/none.xml"))
    archive = make_archive(Gallica, gallica_contents=True)

    with pytest.raises(kind):
        archive.read_page(Gallica.read_identifier(BOOK), 3)

    assert len(responses.calls) == 3
    assert archive.search_catalogue(Gallica.plan_catalogue(Query(words="tourbe"))).total == 0


@responses.activate
def test_after_too_many_texts_none_is_asked_for_two_minutes(make_archive: Make, answer: Answer) -> None:
    """The bucket behind a 429 is full again after about 120 s (a peer's measure)."""
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))
    gives(SERVICES + "Pagination", answer("gallica/pagination.xml"))
    gives(ALTO, "<html>slow down</html>", status=429)
    archive, reference = make_archive(Gallica, gallica_contents=True), Gallica.read_identifier(BOOK)

    waits = []
    for view in (1, 2):
        with pytest.raises(RateLimited) as caught:
            archive.read_page(reference, view)
        waits.append(caught.value.retry_after_s)

    assert waits == [120.0, 120.0]
    assert addresses().count(ALTO) == 1


@pytest.mark.parametrize("page", [0, 5])
@responses.activate
def test_a_view_that_the_document_lacks_is_refused_before_its_text_is_asked(
        make_archive: Make, answer: Answer, page: int) -> None:
    gives(SERVICES + "OAIRecord", answer("gallica/record.xml"))
    gives(SERVICES + "Pagination", answer("gallica/pagination.xml"))

    with pytest.raises(InvalidInput, match=f"page is {page}"):
        make_archive(Gallica, gallica_contents=True).read_page(Gallica.read_identifier(BOOK), page)

    assert ALTO not in addresses()


@responses.activate
def test_a_periodical_has_no_text_of_its_own(make_archive: Make) -> None:
    with pytest.raises(InvalidInput, match="no text of its own"):
        make_archive(Gallica, gallica_contents=True).read_page(Gallica.read_identifier(f"{PERIODICAL}/date"), 1)

    assert len(responses.calls) == 0


def test_the_credit_names_the_source_the_day_and_both_regimes() -> None:
    assert Gallica.attribution("2026-11-30T11:00:00Z") == (
        f"Source: gallica.bnf.fr / Bibliothèque nationale de France, retrieved 2026-11-30. {TERMS}")


# ---- what a title's date is, and what a broken word is -----------------------------------------------------------------

@responses.activate
def test_the_date_of_a_periodicals_title_is_its_beginning_and_withholds_nothing(make_archive: Make, answer: Answer) -> None:
    """A title of 1854 has issues of 1912: its row has no days of its own, and no issue's year."""
    gives(SRU, answer("gallica/search.xml"))

    page = make_archive(Gallica).search_catalogue(Gallica.plan_catalogue(Query(words="eaux", rows=6)))

    [title] = [row for row in page.records if row.identifier and row.identifier.endswith("/date")]
    assert (title.span, title.year, title.date) == (None, None, "184?-1963")


@pytest.mark.parametrize("line, text", [
    ('<String CONTENT="light"/><HYP CONTENT="-"/>', "the light-\nhouse"),
    ('<String CONTENT="light" SUBS_TYPE="HypPart1" SUBS_CONTENT="lighthouse"/><HYP CONTENT="-"/>', "the lighthouse\nhouse"),
])
def test_a_word_broken_at_a_line_end_keeps_its_hyphen_unless_the_file_says_what_it_is(line: str, text: str) -> None:
    sheet = etree.fromstring(f'<Page><TextBlock><TextLine><String CONTENT="the"/>{line}</TextLine>'
                             f'<TextLine><String CONTENT="house"/></TextLine></TextBlock></Page>')

    assert records.alto_text(sheet) == text


def test_a_word_between_two_halves_does_not_repeat_the_tail() -> None:
    half = '<String CONTENT="{}" SUBS_TYPE="HypPart{}" SUBS_CONTENT="lighthouse"/>'
    sheet = etree.fromstring(f'<Page><TextBlock><TextLine>{half.format("light", 1)}</TextLine><TextLine><String CONTENT="17"/></TextLine>'
                             f'<TextLine>{half.format("house", 2)}<String CONTENT="stood"/></TextLine></TextBlock></Page>')

    assert records.alto_text(sheet) == "lighthouse\n17\nstood"
