"""Open Library: what goes out, how an answer is read, what is refused; known faults in programs that ask it."""
from __future__ import annotations

import json
import re
from urllib.parse import urlsplit

import pytest
import responses

from sources.archives import openlibrary_records as records
from sources.archives.openlibrary import OpenLibrary
from sources.contract import Contributor, Copy, Edition, Heading, ItemQuery, Query, Record, Related
from sources.errors import ArchiveUnreachable, InvalidInput, RecordNotFound, UnreadableAnswer

SITE = "https://openlibrary.org"
SEARCH_URL = f"{SITE}/search.json"
NONE = {"numFound": 0, "start": 0, "numFoundExact": True, "docs": []}


@pytest.fixture
def library(make_archive):
    return make_archive(OpenLibrary)


def sent(number: int = -1) -> dict[str, str]:
    """The parameters of a request that went out, the last one unless said otherwise."""
    return dict(responses.calls[number].request.params)


def plan(**asked):
    return OpenLibrary.plan_catalogue(Query(**asked))


def search(library, query):
    return library.search_catalogue(library.plan_catalogue(query))


def read(library, local: str, *sections: str):
    return library.read_record(OpenLibrary.read_identifier(local), ItemQuery(sections=sections or ("description",)))


# ---- what goes out ---------------------------------------------------------------------------------------------------

@responses.activate
@pytest.mark.parametrize("words, q", [
    ("lantern keepers", "lantern keepers"),
    ('"lantern keepers" islands', '"lantern keepers" islands'),
    ('an "open mark', 'an \\"open mark'),
    ("title:lamp (1883) [a] {b}", "title\\:lamp \\(1883\\) \\[a\\] \\{b\\}"),
    ("2^n + lamp - !wick", "2\\^n \\+ lamp \\- \\!wick"),
    ("lamp AND wick OR oil NOT wax", "lamp and wick or oil not wax"),
    ("ANDROID NOTES", "ANDROID NOTES"),
    ("lamp && wick || oil", "lamp & & wick | | oil"),
    ("lamp* a\\b", "lamp\\* a\\\\b"),
    ("and/or? ~ why", "and/or? ~ why"),
    ("978-2-07-042779-6", "9782070427796"),
    ("/lists/OL1L lamps", '"/lists/OL1L lamps"'),
])
def test_words_go_out_so_that_nothing_in_them_acts(library, words, q):
    """Slash, question mark and tilde stay bare: the server escapes those itself, and twice would let them act."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(words=words))

    assert sent()["q"] == q


@responses.activate
def test_a_native_query_goes_out_as_written(library):
    """Only its ends are trimmed."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(words=' title:(lamp) AND author:"Odile^"^2 ', native=True))

    assert sent()["q"] == 'title:(lamp) AND author:"Odile^"^2'


@responses.activate
def test_a_search_names_the_fields_it_reads_and_its_page(library):
    """Unasked, a classic's row holds thousands of numbers."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(words="lamps", rows=7, page=3, sort="oldest"))

    assert sent() == {"q": "lamps", "sort": "old", "limit": "7", "page": "3",
                      "fields": "key,title,author_name,author_key,first_publish_year,edition_count,ebook_access,cover_i,"
                                "lending_identifier_s,language,subject,ratings_average,ratings_count,"
                                "editions,editions.key,editions.title,editions.language,editions.publisher"}


@responses.activate
def test_fields_in_words_require_each_word(library):
    """A title goes in q, where it reads the titles of every edition; the others in parameters, which the server escapes."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(fields={"title": "food: rules", "creator": 'Odile "F', "subject": "lamps", "place": "Brest"}))

    assert {name: sent()[name] for name in ("q", "author", "subject", "place")} == {
        "q": "title:(food\\: rules)", "author": 'Odile "F', "subject": "lamps", "place": "Brest"}


@responses.activate
def test_marks_that_would_act_in_a_parameter_go_out_as_blanks(library):
    """The server escapes the other marks itself; a star would be a wildcard there, whatever stands before it."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(fields={"creator": "Ferr* Odile!", "publisher": "Lamp && Sons || Co", "subject": "what? (it)"}))

    assert {name: sent()[name] for name in ("author", "publisher", "subject")} == {
        "author": "Ferr Odile", "publisher": "Lamp Sons Co", "subject": "what? (it)"}


@responses.activate
def test_fields_in_quotation_marks_ask_for_adjacent_words(library):
    """Quotation marks act in q alone; a name is sought among the other names too, as the parameter would."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(fields={"title": '"time war"', "creator": '"Odile Ferrant"', "publisher": '"Du Phare"'}))

    assert sent()["q"] == ('title:"time war" (author_name:"Odile Ferrant" OR author_alternative_name:"Odile Ferrant") '
                           'publisher:"Du Phare"')


def test_what_was_sent_is_told_as_it_was_spelled():
    """Numbers are normalised, a language becomes its MARC code, bounds are told under the arguments they came in."""
    told = plan(words="lamps", fields={"isbn": "2-07-042779-x", "lccn": "90-12345", "oclc": "(OCoLC)123456", "language": "fr",
                                       "creator": '"OL800011A"', "place": "Brest"},
                date_from="1860", date_to="1870", bound_names=("year_from", "year_to"), sort="newest", facets=True,
                availability=True, media_type="work")

    assert told.sent == (
        ("isbn", "isbn=207042779X"), ("lccn", "lccn=90012345"), ("oclc", "oclc=123456"), ("language", "language=fre"),
        ("creator", "author=OL800011A"), ("place", "place=Brest (a place the work is about)"),
        ("year_from", "q=first_publish_year:[1860 TO 1870]"), ("year_to", "q=first_publish_year:[1860 TO 1870]"),
        ("sort", "sort=new"), ("availability", "fields=ia,availability"))
    assert told.dropped == (("facets", "Open Library's search answers carry no counts by term."),)
    assert told.media_type_asked == "work"
    assert told.ordered_on == "first_publish_year, latest first; works without a year come last"


@pytest.mark.parametrize("bounds, asked", [
    ({"date_from": "1860", "bound_names": ("year_from",)}, "first_publish_year:[1860 TO *]"),
    ({"date_to": "1870-05-02", "bound_names": ("date_to",)}, "first_publish_year:[* TO 1870]"),
])
@responses.activate
def test_an_open_year_range_stands_alone_in_q(library, bounds, asked):
    """The parameter of that name would match one exact year."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(**bounds))

    assert sent()["q"] == asked


def test_dates_finer_than_a_year_are_said_to_go_out_as_years():
    """1860-02 is sent as 1860."""
    assert plan(words="lamps", date_from="1860-02", bound_names=("date_from",)).notes == (
        "it has years only, and the dates were sent to it as years.",)


@pytest.mark.parametrize("sort, word", [
    ("newest", "new"), ("oldest", "old"), ("title", "title"), ("rating", "rating"), ("editions", "editions"),
])
def test_each_order_has_the_archives_own_word(sort, word):
    """Any other word is answered with a 500; relevance is said by leaving the parameter out."""
    assert plan(words="lamps", sort=sort).sent == (("sort", f"sort={word}"),)
    assert plan(words="lamps", sort="relevance").sent == ()


def test_a_collection_makes_the_archive_absent():
    """An identifying field is never dropped."""
    told = plan(words="lamps", fields={"collection": "loc:maps"})

    assert told.absent_because == "Open Library has no collections to search in."


def test_nothing_to_search_on_makes_the_archive_absent():
    """Without words, field or year the whole catalogue would come."""
    told = plan(media_type="work")

    assert told.absent_because == "Open Library holds works only, and needs a word, a field or a year to search them on."


@pytest.mark.parametrize("fields", [{"language": "xx"}, {"isbn": "9782070427797"}, {"lccn": "12"}, {"oclc": "none"},
                                    {"title": "?!"}])
def test_a_value_the_caller_must_mend_is_refused_before_any_request(fields):
    """Sent as it is, each would find nothing, which would read as an absence."""
    with pytest.raises(InvalidInput):
        plan(fields=fields)


def test_the_full_text_index_is_said_to_be_the_internet_archives():
    """The true reason, which names whom to ask."""
    reasons = {call: OpenLibrary.absence(call, settings=None) for call in ("search_inside", "read_text", "browse_collections")}

    assert reasons == {
        "search_inside": "Open Library's full-text index is the Internet Archive's own; ask the source archive.",
        "read_text": "Open Library holds no page text; a scan it points to is read as archive:ID.",
        "browse_collections": "Open Library has no collections.",
    }


# ---- queries it refuses ----------------------------------------------------------------------------------------------

@responses.activate
@pytest.mark.parametrize("query, reason", [
    (Query(words="ab"), "Open Library refuses queries of fewer than three characters."),
    (Query(words="三体"), "Open Library refuses queries of fewer than three characters."),
    (Query(words="The"), 'Open Library refuses the word "the" alone.'),
    (Query(words="the", fields={"creator": "Ferrant"}), 'Open Library refuses the word "the" alone.'),
    (Query(words="¿ ?!"), "Open Library needs a letter or a digit to search for."),
    (Query(words="foo^", native=True), 'Open Library fails on "^" without a number behind it.'),
])
def test_a_query_known_to_be_refused_is_its_own_refusal_and_is_not_sent(library, query, reason):
    """Two letters and "the" are answered with 422, a stray caret and blanks with a 500 that says nothing."""
    with pytest.raises(InvalidInput) as refusal:
        search(library, query)

    assert (refusal.value.message, refusal.value.archive, len(responses.calls)) == (reason, "openlibrary", 0)


@responses.activate
def test_a_short_word_beside_a_field_is_asked(library):
    """Only the whole of q must be three characters long."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(words="ab", fields={"title": "lamps"}))

    assert sent()["q"] == "ab title:(lamps)"


@responses.activate
def test_a_refusal_is_reported_with_the_archives_objection(library, answer):
    """422 carries a list of reasons."""
    responses.get(SEARCH_URL, body=answer("openlibrary/refused.json"), status=422)

    with pytest.raises(InvalidInput) as refusal:
        search(library, Query(words="lamps"))

    assert refusal.value.message == "Open Library refuses this query: Query of a kind we refuse"


@responses.activate
def test_a_refusal_without_words_is_still_a_refusal(library):
    """The front server answers 422 with a page of its own."""
    responses.get(SEARCH_URL, body="<html>no</html>", status=422, content_type="text/html")

    with pytest.raises(InvalidInput) as refusal:
        search(library, Query(words="lamps"))

    assert refusal.value.message == "Open Library refuses this query: it gave no reason."


@responses.activate
def test_a_missing_search_page_is_a_failure_not_an_absence(library):
    """404 says that the address is wrong, never that nothing is held."""
    responses.get(SEARCH_URL, body="<html>404</html>", status=404, content_type="text/html")

    with pytest.raises(ArchiveUnreachable):
        search(library, Query(words="lamps"))


# ---- rows ------------------------------------------------------------------------------------------------------------

@responses.activate
def test_rows_hold_what_was_stated_and_nothing_else(library, answer):
    """An empty name, a title `__None__`, a cover -1 and a field left out are null; a row without a key is counted."""
    responses.get(SEARCH_URL, body=answer("openlibrary/search.json"))

    page = search(library, Query(words="lanterns", rows=4))

    assert page.records == (
        Record(identifier="openlibrary:OL800001W", title="The lantern keepers", creator="Odile Ferrant", year=1883,
               media_type="work", source_url=f"{SITE}/works/OL800001W", edition_count=3, cover_url="https://covers.openlibrary.org/b/id/501-M.jpg",
               ebook_access="borrowable", languages=("eng", "fre"), span=("1883-01-01", "1883-12-31"),
               subjects=("Lighthouses", "Islands", "Keepers", "Storms", "Letters"), rating={"average": 3.67, "count": 3},
               author_identifiers=("openlibrary:OL800011A", "openlibrary:OL800012A"),
               availability={"status": "borrow_available", "is_readable": False, "is_lendable": True,
                             "identifier": "lanternkeepers00ferr"}),
        Record(identifier="openlibrary:OL800002M", media_type="edition", source_url=f"{SITE}/books/OL800002M",
               author_identifiers=("openlibrary:OL800012A",), availability={"status": "error"}),
        Record(identifier="openlibrary:OL800003W", title="Ліхтарі", year=1901, media_type="work", languages=("ukr",),
               source_url=f"{SITE}/works/OL800003W", span=("1901-01-01", "1901-12-31")),
    )
    assert (page.total, page.skipped, page.more, page.beyond, page.notes) == (7, 1, True, None, ())


@responses.activate
def test_availability_is_asked_with_the_scans_it_hangs_on_and_unknown_stays_unknown(library, answer):
    """Without `ia` among the fields nothing comes; two of three rows state nothing usable."""
    responses.get(SEARCH_URL, body=answer("openlibrary/search.json"))

    page = search(library, Query(words="lanterns", availability=True))

    assert sent()["fields"].endswith(",ia,availability,editions,editions.key,editions.title,editions.language,editions.publisher,"
                                     "editions.ia,editions.availability")
    assert page.notes == ("it gave no availability for 2 of its rows, which says neither open nor closed.",)


@responses.activate
def test_the_matching_edition_is_named_when_something_was_asked_of_an_edition(library, answer):
    """Its count is of editions that match, not of the work's; a count that is a lower bound is said to be one."""
    responses.get(SEARCH_URL, body=answer("openlibrary/matching.json"))

    page = search(library, Query(fields={"language": "fr"}, availability=True))

    assert sent()["fields"].endswith(",ia,availability,editions,editions.key,editions.title,editions.language,editions.publisher,"
                                     "editions.ia,editions.availability")
    (row,) = page.records
    assert row.matching_edition == {"identifier": "openlibrary:OL800021M", "title": "Les gardiens de lanternes",
                                    "languages": ("fre",), "publishers": ("Éditions du Phare",)}
    assert (row.matching_edition_count, row.availability) == (2, {"status": "open", "is_readable": True})
    assert page.notes == ("its count is a lower bound.",)
    assert plan(fields={"language": "fr"}).notes == (
        "its count is of works with one edition that meets all that was asked of an edition (language), and matching_edition names "
        "that edition.",)


@responses.activate
def test_past_the_last_page_is_told_with_the_last_page(library):
    """12 works at 5 a page end on page 3."""
    responses.get(SEARCH_URL, json={"numFound": 12, "start": 45, "docs": []})

    page = search(library, Query(words="lamps", rows=5, page=10))

    assert (page.total, page.more, page.beyond) == (12, False,
        "Page 10 lies past the last page: at 5 rows a page the 12 matches fill 3.")


@responses.activate
def test_nothing_found_is_a_true_zero(library):
    """200, a count of zero and no rows."""
    responses.get(SEARCH_URL, json=NONE)

    page = search(library, Query(words="lamps", page=2))

    assert (page.records, page.total, page.more, page.beyond, page.notes) == ((), 0, False, None, ())


@responses.activate
def test_more_rows_than_were_asked_are_left_for_the_next_page(library, answer):
    """Four rows came where two were asked; the window stays what the caller was told."""
    responses.get(SEARCH_URL, body=answer("openlibrary/search.json"))

    page = search(library, Query(words="lanterns", rows=2))

    assert ([row.identifier for row in page.records], page.skipped, page.more) == (
        ["openlibrary:OL800001W", "openlibrary:OL800002M"], 0, True)


@responses.activate
@pytest.mark.parametrize("body, message", [
    ({"numFound": 2, "start": 0, "docs": [{"title": "x"}, None]}, "None of the 2 rows that Open Library sent could be read."),
    ({"error": "down"}, "Open Library sent a search answer of another shape."),
    ({"docs": []}, "Open Library sent a search answer of another shape."),
    ({"numFound": 1, "docs": {"key": "OL1W"}}, "Open Library sent a search answer of another shape."),
    ([], "Open Library sent a search answer of another shape."),
])
def test_a_count_without_readable_rows_is_a_failure_never_nothing_held(library, body, message):
    """Nothing was learnt about what the archive holds."""
    responses.get(SEARCH_URL, json=body)

    with pytest.raises(UnreadableAnswer) as failure:
        search(library, Query(words="lamps"))

    assert (failure.value.message, failure.value.archive) == (message, "openlibrary")


# ---- identifiers -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("written, local", [
    ("OL1W", "OL1W"), ("OL2M", "OL2M"), ("OL3A", "OL3A"), ("ol1w", "OL1W"), ("/works/OL1W", "OL1W"), ("books/OL2M.json", "OL2M"),
    ("works/OL2M", "OL2M"), ("isbn/978-2-07-042779-6", "isbn/9782070427796"), ("9782070427796", "isbn/9782070427796"),
    ("oclc/ocm00123456", "oclc/123456"), ("lccn/75-425165//r75", "lccn/75425165"),
])
def test_an_identifier_is_read_in_every_spelling(written, local):
    """The letter decides the kind, whatever folder it is written in; what was interpreted is said."""
    reference = OpenLibrary.read_identifier(written)

    assert (reference.source, reference.local) == ("openlibrary", local)
    assert reference.read_as == (None if written == local else f"read as openlibrary:{local}")


@pytest.mark.parametrize("address, local", [
    ("https://openlibrary.org/works/OL1W", "OL1W"), ("http://www.openlibrary.org/books/OL2M/A_title?x=1", "OL2M"),
    ("https://openlibrary.org/authors/OL3A/A_name.json", "OL3A"), ("https://openlibrary.org/b/OL2M", "OL2M"),
    ("https://openlibrary.org/a/OL3A", "OL3A"), ("https://openlibrary.org/w/OL1W", "OL1W"),
    ("https://openlibrary.org/isbn/2-07-042779-X.json", "isbn/207042779X"),
    ("https://openlibrary.org/oclc/123456", "oclc/123456"), ("https://openlibrary.org/lccn/90012345", "lccn/90012345"),
])
def test_an_address_of_a_record_is_read(address, local):
    """Today's folders, the old ones, and look-ups by number."""
    assert OpenLibrary.read_address(urlsplit(address)).local == local


@pytest.mark.parametrize("written", ["OL1L", "OL1T", "OL1X", "OLW", "works/", "works/../OL1W", "isbn/1", "\x1b[31m", "",
                                     "subjects/love"])
def test_what_is_no_record_here_is_refused(written):
    """Lists and tags are told apart; nothing is printed raw."""
    with pytest.raises(InvalidInput) as refusal:
        OpenLibrary.read_identifier(written)

    assert refusal.value.message.isprintable()


@pytest.mark.parametrize("path", ["/", "/works", "/search", "/subjects/love", "/people/x/lists/OL1L"])
def test_an_address_of_no_record_is_refused(path):
    """The message says what can be read."""
    with pytest.raises(InvalidInput) as refusal:
        OpenLibrary.read_address(urlsplit(SITE + path))

    assert refusal.value.message == "This address of Open Library names no work, edition or author."


@pytest.mark.parametrize("path", ["/ia/lanternkeepers00ferr", "/books/ia:lanternkeepers00ferr"])
def test_an_address_that_would_start_an_import_is_never_asked(path):
    """The scan is the Internet Archive's to read."""
    with pytest.raises(InvalidInput) as refusal:
        OpenLibrary.read_address(urlsplit(SITE + path))

    assert (refusal.value.message, refusal.value.hint) == (
        "Open Library may start an import at this address, so it is never asked.", "Give the scan to get_item as archive:ID.")


# ---- reading a record ------------------------------------------------------------------------------------------------

@responses.activate
def test_a_work_is_read_with_the_names_of_its_authors_in_one_search(library, answer):
    """Several names come from one request; the role is kept though its type is text in one entry and an object in the next."""
    responses.get(f"{SITE}/works/OL800001W.json", body=answer("openlibrary/work.json"))
    responses.get(SEARCH_URL, json={"numFound": 2, "docs": [
        {"author_key": ["OL800099A", "OL800011A"], "author_name": ["Another", "Odile Ferrant"]},
        {"author_key": ["OL800012A"], "author_name": ["Ivo Bel"]}]})

    page = read(library, "OL800001W")

    item = page.item
    assert sent() == {"q": "author_key:(OL800011A OR OL800012A)", "fields": "author_key,author_name", "limit": "100"}
    assert (item.identifier, item.title, item.creator, item.creators, item.year, item.date, item.media_type) == (
        "openlibrary:OL800001W", "The lantern keepers", "Odile Ferrant; Ivo Bel", ("Odile Ferrant", "Ivo Bel"), 1883,
        "November 1883", "work")
    assert item.contributors == (Contributor(name="Odile Ferrant", role="author", identifier="openlibrary:OL800011A"),
                                 Contributor(name="Ivo Bel", role="illustrator", identifier="openlibrary:OL800012A"))
    assert item.description == "Two keepers.\nOne lamp."
    assert item.subjects == ("Lighthouses", "Islands")
    assert (item.subject_places, item.subject_people, item.subject_times) == (("Ferrant Rock",), ("Aud the keeper",), ("19th century",))
    assert item.copies == (Copy(label="Cover", format="image/jpeg", url="https://covers.openlibrary.org/b/id/501-L.jpg"),)
    assert item.context == (Related(label="A page about it", kind="link", source_url="https://example.org/lanterns"),)
    assert (page.list_total, page.notes) == (None, ())


@responses.activate
def test_an_edition_is_read_with_its_numbers_its_work_and_its_scan(library, answer):
    """A doubtful date gives no year; a shelf code called `location` does not make a merged record of it."""
    responses.get(f"{SITE}/books/OL800021M.json", body=answer("openlibrary/edition.json"))
    responses.get(f"{SITE}/authors/OL800011A.json", body=answer("openlibrary/author.json"))

    page = read(library, "OL800021M", "editions")

    item = page.item
    assert (item.title, item.creator, item.date, item.year, item.media_type) == (
        "Les gardiens de lanternes", "Odile Ferrant", "[1990?]", None, "edition")
    assert (item.publisher, item.place, item.language, item.extent, item.call_number) == (
        "Éditions du Phare", "Brest; Paris", ("fre",), "212 p.; Paperback", "PQ2611 .E7")
    assert item.standard_numbers == {"isbn": ("9782070427796", "207042779X"), "lccn": ("90012345",), "oclc": ("123456", "654321")}
    assert item.contributors == (Contributor(name="Odile Ferrant", role="author", identifier="openlibrary:OL800011A"),
                                 Contributor(name="Ivo Bel", role="Translator"), Contributor(name="Nera, Ana"))
    assert item.copies == (
        Copy(label="Scan at the Internet Archive", url="https://archive.org/details/gardienslanternes00ferr"),
        Copy(label="Cover", format="image/jpeg", url="https://covers.openlibrary.org/b/id/77-L.jpg"))
    assert item.context == (
        Related(identifier="openlibrary:OL800001W", label="work OL800001W", kind="work", source_url=f"{SITE}/works/OL800001W"),
        Related(identifier="archive:gardienslanternes00ferr", label="the scan, at the Internet Archive", kind="scan",
                source_url="https://archive.org/details/gardienslanternes00ferr"),
        Related(label="Mers inventées", kind="series"))
    assert item.notes == ("Subtitle: roman", "Statement of responsibility: Odile Ferrant ; trad. par I. Bel.",
                          "Note: Translated from the English.")
    assert page.notes == ("Editions are listed with their work, which context names.",)


@responses.activate
def test_an_author_is_read_with_free_dates_and_other_registers(library, answer):
    """Dates are words; a register without a known address has none; the works are the author's list."""
    responses.get(f"{SITE}/authors/OL800011A.json", body=answer("openlibrary/author.json"))
    responses.get(f"{SITE}/authors/OL800011A/works.json", json={"size": 296, "entries": [
        {"key": "/works/OL800001W", "title": "The lantern keepers", "first_publish_date": "1883"}]})

    page = library.read_record(OpenLibrary.read_identifier("OL800011A"),
                               ItemQuery(sections=("editions",), list_offset=50, list_limit=25))

    item = page.item
    assert sent() == {"limit": "25", "offset": "50"}
    assert (item.title, item.creator, item.year, item.date, item.media_type, item.description) == (
        "Odile Ferrant", None, None, "born 4th cent., died 996 (ca.)", "author", "Kept a lamp.")
    assert item.notes == ("Other names: Ferrant, Odile",)
    assert item.context == (Related(label="viaf: 1234567", kind="identifier", source_url="https://viaf.org/viaf/1234567"),
                            Related(label="storygraph: odile", kind="identifier"))
    assert item.copies == (Copy(label="Portrait", format="image/jpeg", url="https://covers.openlibrary.org/a/id/9-L.jpg"),)
    assert item.editions == (Edition(identifier="openlibrary:OL800001W", title="The lantern keepers", date="1883",
                                     source_url=f"{SITE}/works/OL800001W"),)
    assert page.list_total == 296


@responses.activate
def test_the_editions_of_a_work_are_its_list(library, answer):
    """`size` counts all of them; an entry without a key is told, not shown."""
    responses.get(f"{SITE}/works/OL800001W.json", json={"key": "/works/OL800001W", "type": {"key": "/type/work"},
                                                        "authors": None})
    responses.get(f"{SITE}/works/OL800001W/editions.json", body=answer("openlibrary/work-editions.json"))

    page = read(library, "OL800001W", "editions")

    assert page.item.editions == (
        Edition(identifier="openlibrary:OL800021M", title="Les gardiens de lanternes", date="November 2006", place="Brest",
                publisher="Éditions du Phare", language=("fre",), standard_numbers={"isbn": ("207042779X",)},
                source_url=f"{SITE}/books/OL800021M", digitised_url="https://archive.org/details/gardienslanternes00ferr"),
        Edition(identifier="openlibrary:OL800022M", source_url=f"{SITE}/books/OL800022M"))
    assert (page.list_total, page.notes) == (12, ("1 of the 3 entries that came could not be read.",))


@responses.activate
@pytest.mark.parametrize("body, reason", [
    ({"entries": []}, "Open Library sent a list of another shape."),
    ({"size": 2, "entries": [{"title": "x"}, 5]}, "None of the 2 rows that Open Library sent could be read."),
])
def test_a_list_that_cannot_be_read_costs_the_list_and_is_told(library, body, reason):
    """The record stands; its list is unknown, not empty."""
    responses.get(f"{SITE}/works/OL800001W.json", json={"key": "/works/OL800001W", "type": {"key": "/type/work"}})
    responses.get(f"{SITE}/works/OL800001W/editions.json", json=body)

    page = read(library, "OL800001W", "editions")

    assert (page.list_total, page.item.editions, page.notes) == (None, (), (f"The list of editions could not be read: {reason}",))


@responses.activate
@pytest.mark.parametrize("described", ["A lamp.", {"type": "/type/text", "value": "A lamp."}, ["A lamp."]])
def test_a_description_is_the_same_text_in_every_shape(library, described):
    """Text in one record, an object in the next."""
    responses.get(f"{SITE}/works/OL1W.json", json={"key": "/works/OL1W", "type": {"key": "/type/work"}, "description": described})

    assert read(library, "OL1W").item.description == "A lamp."


@responses.activate
def test_silence_about_rights_is_not_permission(library):
    """No record of this archive has a licence field."""
    responses.get(f"{SITE}/works/OL1W.json", json={"key": "/works/OL1W", "type": {"key": "/type/work"}})

    rights = read(library, "OL1W").item.rights

    assert (rights.statement, rights.url) == (None, None)
    assert rights.note.startswith("No record of Open Library states terms of reuse; nothing is granted here.")


@pytest.mark.parametrize("date, year", [
    ("2004", 2004), ("November 2006", 2006), ("October 1, 1988", 1988), ("Sept. 1814", 1814), ("29 Sept 1814", 1814),
    ("1988-10", 1988), ("1988-10-01", 1988), ("[1990?]", None), ("1761 or 2", None), ("996 (ca.)", None), ("4th cent.", None),
    ("c1990", None), ("19uu", None), ("1990-1992", None), ("0000", None),
])
@responses.activate
def test_a_year_is_given_only_when_the_free_date_states_one_beyond_doubt(library, date, year):
    """Three in four editions write more than a bare year."""
    responses.get(f"{SITE}/books/OL1M.json", json={"key": "/books/OL1M", "type": {"key": "/type/edition"}, "publish_date": date})

    item = read(library, "OL1M").item

    assert (item.date, item.year) == (date, year)


@responses.activate
def test_combining_marks_stay_as_published(library):
    """Half marks (U+FE20, U+FE21) are neither dropped nor recomposed."""
    title = "Filosofii\ufe20a\ufe21 svi\ufe20e\ufe21ta"
    responses.get(f"{SITE}/books/OL1M.json", json={"key": "/books/OL1M", "type": {"key": "/type/edition"}, "title": title})

    assert read(library, "OL1M").item.title == title


# ---- authors ---------------------------------------------------------------------------------------------------------

@responses.activate
def test_an_author_who_cannot_be_read_costs_the_name_alone(library):
    """The creator is null with a note; the identifier is kept."""
    responses.get(f"{SITE}/works/OL1W.json", json={"key": "/works/OL1W", "type": {"key": "/type/work"}, "title": "Lamps",
                                                   "authors": [{"author": {"key": "/authors/OL2A"}}]})
    responses.get(f"{SITE}/authors/OL2A.json", json={"error": "notfound"}, status=404)

    page = read(library, "OL1W")

    assert (page.item.title, page.item.creator, page.item.creators) == ("Lamps", None, ())
    assert page.item.contributors == (Contributor(name="OL2A", role="author", identifier="openlibrary:OL2A"),)
    assert page.notes == ("The names of the authors could not be read, so contributors holds OL2A instead: Open Library holds no "
                          "record OL2A.",)


@responses.activate
def test_a_name_missing_among_several_is_told(library):
    """The search gave one of two."""
    responses.get(f"{SITE}/works/OL1W.json", json={"key": "/works/OL1W", "type": {"key": "/type/work"}, "authors": [
        {"author": {"key": "/authors/OL2A"}}, {"author": {"key": "/authors/OL3A"}}]})
    responses.get(SEARCH_URL, json={"numFound": 1, "docs": [{"author_key": ["OL3A", "OL2A"], "author_name": ["Ivo Bel", " "]}]})

    page = read(library, "OL1W")

    assert (page.item.creator, page.notes) == ("Ivo Bel", ("Open Library gave no name for OL2A.",))


@responses.activate
def test_an_edition_without_authors_takes_the_credit_of_its_work(library, answer):
    """`authors` may be null with the credit on the work only; where it came from is told."""
    responses.get(f"{SITE}/books/OL1M.json", json={"key": "/books/OL1M", "type": {"key": "/type/edition"}, "authors": None,
                                                   "works": [{"key": "/works/OL1W"}]})
    responses.get(f"{SITE}/works/OL1W.json", json={"key": "/works/OL1W", "type": {"key": "/type/work"},
                                                   "authors": [{"author": {"key": "/authors/OL800011A"}}]})
    responses.get(f"{SITE}/authors/OL800011A.json", body=answer("openlibrary/author.json"))

    page = read(library, "OL1M")

    assert (page.item.creator, page.notes) == ("Odile Ferrant", ("The edition names no author; its work OL1W does.",))


@responses.activate
def test_an_edition_without_a_work_is_read(library):
    """One in four of the oldest editions has none."""
    responses.get(f"{SITE}/books/OL1M.json", json={"key": "/books/OL1M", "type": {"key": "/type/edition"}, "title": "Alone",
                                                   "number_of_pages": 22})

    page = read(library, "OL1M", "editions")

    assert (page.item.title, page.item.creator, page.item.context, page.item.extent) == ("Alone", None, (), "22 pages")
    assert page.notes == ("The edition belongs to no work, so no other editions are listed with it.",)


# ---- merged, deleted, found by number --------------------------------------------------------------------------------

def merged(local: str, target: str) -> None:
    responses.get(f"{SITE}/works/{local}.json", json={"key": f"/works/{local}", "type": {"key": "/type/redirect"},
                                                      "location": target})


@responses.activate
def test_a_merged_record_is_followed_and_both_identifiers_are_told(library):
    """A merged record answers 200 without a title; chains of three have been seen."""
    merged("OL1W", "/works/OL2W")
    merged("OL2W", "/works/OL3W")
    responses.get(f"{SITE}/works/OL3W.json", json={"key": "/works/OL3W", "type": {"key": "/type/work"}, "title": "Lamps"})

    page = read(library, "OL1W")

    assert (page.item.identifier, page.item.title) == ("openlibrary:OL3W", "Lamps")
    assert page.notes == ("Open Library merged OL1W, then OL2W into OL3W, which is shown.",)


@responses.activate
@pytest.mark.parametrize("targets", [["OL2W", "OL1W"], ["OL2W", "OL3W", "OL4W", "OL5W", "OL6W", "OL7W"], ["../admin"], [None]])
def test_merges_that_lead_nowhere_end_as_a_failure(library, targets):
    """A circle, a fifth merge, or a target that is no record."""
    for number, target in enumerate(targets, start=1):
        merged(f"OL{number}W", target and f"/works/{target}")

    with pytest.raises(UnreadableAnswer) as failure:
        read(library, "OL1W")

    assert failure.value.message == "The record OL1W was merged at Open Library, but the merges lead to no record."
    assert len(responses.calls) <= 5


@responses.activate
def test_a_circle_of_merges_is_left_at_once(make_archive):
    """Two records that name each other are asked once each, without the help of the cache."""
    merged("OL1W", "/works/OL2W")
    merged("OL2W", "/works/OL1W")

    with pytest.raises(UnreadableAnswer):
        read(make_archive(OpenLibrary, cache_ttl_ms=0), "OL1W")

    assert len(responses.calls) == 2


@responses.activate
def test_a_merge_into_a_missing_record_tells_both(library):
    """The record asked for did exist."""
    merged("OL1W", "/works/OL2W")
    responses.get(f"{SITE}/works/OL2W.json", json={"error": "notfound"}, status=404)

    with pytest.raises(RecordNotFound) as failure:
        read(library, "OL1W")

    assert failure.value.message == "The record OL1W was merged at Open Library into OL2W, which it does not hold."


@responses.activate
def test_a_deleted_record_is_told_as_deleted(library):
    """It answers 200 with its key alone."""
    responses.get(f"{SITE}/works/OL1W.json", json={"key": "/works/OL1W", "type": {"key": "/type/delete"}})

    with pytest.raises(RecordNotFound) as failure:
        read(library, "OL1W")

    assert failure.value.message == "The record OL1W existed at Open Library and was deleted."


@responses.activate
@pytest.mark.parametrize("local, path", [("OL1W", "works/OL1W"), ("OL1M", "books/OL1M"), ("OL1A", "authors/OL1A"),
                                         ("oclc/123456", "oclc/123456")])
def test_an_unknown_record_is_not_found(library, local, path):
    """404, as JSON or as a page."""
    responses.get(f"{SITE}/{path}.json", body="<html>404</html>", status=404, content_type="text/html")

    with pytest.raises(RecordNotFound) as failure:
        read(library, local)

    assert failure.value.message == f"Open Library holds no record {local}."


@responses.activate
def test_a_look_up_by_number_says_which_edition_answered(library):
    """The answer is a redirect to the first edition that bears the number."""
    responses.get(f"{SITE}/isbn/9782070427796.json", status=302, headers={"Location": "/books/OL800021M.json"})
    responses.get(f"{SITE}/books/OL800021M.json", json={"key": "/books/OL800021M", "type": {"key": "/type/edition"}})

    page = read(library, "isbn/9782070427796")

    assert page.item.identifier == "openlibrary:OL800021M"
    assert page.notes == ("Open Library answers isbn/9782070427796 with the one edition OL800021M; others may bear the same "
                          "number.",)


@responses.activate
@pytest.mark.parametrize("record, message", [
    ({"key": "/works/OL1W", "type": {"key": "/type/list"}}, "What Open Library sent for OL1W is no work, edition or author."),
    ({"key": "/books/OL1M", "type": {"key": "/type/work"}}, "What Open Library sent for OL1W is no work, edition or author."),
    ({"error": "down"}, "Open Library sent something else than a record."),
    ([], "Open Library sent something else than a record."),
])
def test_a_record_of_another_kind_is_unreadable(library, record, message):
    """A 200 is no proof of kind; `type` decides."""
    responses.get(f"{SITE}/works/OL1W.json", json=record)

    with pytest.raises(UnreadableAnswer) as failure:
        read(library, "OL1W")

    assert failure.value.message == message


# ---- headings --------------------------------------------------------------------------------------------------------

ODILE = {"born": "1841", "died": "1902", "work_count": 4, "top_work": "The lantern keepers"}


def person(olid: str, label: str, **more) -> Heading:
    return Heading(label=label, uri=f"{SITE}/authors/{olid}", identifier=f"openlibrary:{olid}", kind="person",
                   use_with={"argument": "creator", "value": olid, "sources": ["openlibrary"]}, **more)


@responses.activate
def test_persons_are_authors_exact_ones_first_and_namesakes_are_told_apart(library, answer):
    """The value for `creator` is the author's key, since names are shared."""
    responses.get(f"{SITE}/search/authors.json", body=answer("openlibrary/authors.json"))

    page = library.search_headings("odile FERRANT", "person", 10)

    assert sent() == {"q": "odile FERRANT", "limit": "10"}
    assert page.records == (person("OL800011A", "Odile Ferrant", exact=True, **ODILE), person("OL800014A", "Odile Ferrant", exact=True, work_count=1),
                            person("OL800013A", "Odile Ferrant-Morel", work_count=9))
    assert (page.total, page.more, page.skipped) == (3, False, 0)
    assert page.notes == ("several authors bear one name: OL800011A Odile Ferrant; born 1841, died 1902; 4 works; such as The "
                          "lantern keepers / OL800014A Odile Ferrant; 1 works.",)


@responses.activate
def test_the_form_that_matched_is_shown_beside_the_label(library, answer):
    """A pen name among the alternate names."""
    responses.get(f"{SITE}/search/authors.json", body=answer("openlibrary/authors.json"))

    page = library.search_headings("la gardienne", "person", 10)

    assert page.records[0] == person("OL800011A", "Odile Ferrant", exact=True, variant="La Gardienne", **ODILE)


@responses.activate
def test_subjects_say_which_field_takes_them(library, answer):
    """A subject and a place have a field; a person has none, and the heading says why."""
    responses.get(f"{SITE}/search/subjects.json", body=answer("openlibrary/subjects.json"))

    page = library.search_headings("lighthouses", "subject", 5)

    def used(argument, value):
        return {"argument": argument, "value": value, "sources": ["openlibrary"]}
    assert page.records == (
        Heading(label="Lighthouses", uri=f"{SITE}/subjects/lighthouses", kind="subject", exact=True,
                use_with=used("subject", '"Lighthouses"')),
        Heading(label="Protected lamps", uri=f"{SITE}/subjects/protected_lamps", kind="subject",
                use_with=used("subject", '"Protected lamps"')),
        Heading(label="Lighthouse Bay", uri=f"{SITE}/subjects/place:lighthouse_bay", kind="place",
                use_with=used("place", '"Lighthouse Bay"')),
        Heading(label="Aud of the Lighthouses", uri=f"{SITE}/subjects/person:aud", kind="person",
                because="Open Library files this under person, which no field reads; give it as query."))
    assert (page.total, page.more, page.skipped) == (50, True, 1)


@responses.activate
def test_half_a_character_in_an_address_loses_no_row(library):
    """A lone surrogate, which no address can hold, stands there as a question mark."""
    responses.get(f"{SITE}/search/subjects.json", json={"numFound": 2, "docs": [
        {"key": "/subjects/lamps\ud800", "name": "Lamps"}, {"key": "/subjects/oil", "name": "Oil"}]})

    page = library.search_headings("lamps", "subject", 5)

    assert [row.uri for row in page.records] == [f"{SITE}/subjects/lamps%3F", f"{SITE}/subjects/oil"]


@responses.activate
def test_headings_that_cannot_be_read_are_a_failure(library):
    """A count and no readable row."""
    responses.get(f"{SITE}/search/authors.json", json={"numFound": 1, "docs": [{"name": "No key"}]})

    with pytest.raises(UnreadableAnswer) as failure:
        library.search_headings("ferrant", "person", 10)

    assert failure.value.message == "None of the 1 rows that Open Library sent could be read."


@responses.activate
def test_a_heading_without_a_word_is_refused_unsent(library):
    """Signs alone would search for nothing."""
    with pytest.raises(InvalidInput):
        library.search_headings("?!", "subject", 10)

    assert len(responses.calls) == 0


# ---- every shape -----------------------------------------------------------------------------------------------------

ODD = (None, "", "text", 7, -1, 2.5, True, [], [None], ["a", "", 3], {}, {"key": 4}, [{"key": None}], [[{"value": "x"}]])


@pytest.mark.parametrize("odd", ODD, ids=json.dumps)
@responses.activate
def test_no_odd_value_in_a_field_of_a_row_loses_the_row(make_archive, answer, odd):
    """Each field in turn holds the value; the key alone is needed."""
    whole = json.loads(answer("openlibrary/search.json"))
    row = whole["docs"][0]
    fields = [field for field in row if field != "key"]
    for field in fields:
        responses.get(SEARCH_URL, json={**whole, "docs": [{**row, field: odd}]})

    pages = [search(make_archive(OpenLibrary), Query(words="lanterns")) for _ in fields]

    assert [page.records[0].identifier for page in pages] == ["openlibrary:OL800001W"] * len(fields)


@pytest.mark.parametrize("odd", ODD, ids=json.dumps)
@pytest.mark.parametrize("name, path", [("work", "/works/OL800001W"), ("edition", "/books/OL800021M"),
                                        ("author", "/authors/OL800011A")])
@responses.activate
def test_no_odd_value_in_a_field_of_a_record_loses_the_record(make_archive, answer, name, path, odd):
    """Each field in turn holds the value; the type alone is needed. Records it names are not to be had here."""
    record = json.loads(answer(f"openlibrary/{name}.json"))
    fields = [field for field in record if field != "type"]
    for field in fields:
        responses.get(f"{SITE}{path}.json", json={**record, field: odd})
    responses.get(re.compile(f"{SITE}/(search|authors/OL800011A|works/OL800001W).json.*"), json={}, status=404)

    pages = [read(make_archive(OpenLibrary), path.rpartition("/")[2]) for _ in fields]

    assert [page.item.identifier for page in pages] == [f"openlibrary:{path.rpartition('/')[2]}"] * len(fields)


# ---- what a row and a record name beside -------------------------------------------------------------------------------

@pytest.mark.parametrize("row, scan", [
    ({"ebook_access": "public", "ia": ["lanterns00ferr", "other"], "lending_identifier_s": "lent00"}, "archive:lanterns00ferr"),
    ({"ebook_access": "borrowable", "lending_identifier_s": "lent00"}, "archive:lent00"),
    ({"ebook_access": "printdisabled", "lending_identifier_s": "lent00", "ia": ["x"]}, None),
    ({"ebook_access": "public"}, None),
    ({"ebook_access": "public", "ia": ["../x"]}, None),
])
def test_a_row_names_the_scan_that_can_be_read(row, scan):
    """A work whose access is neither public nor lent names none, whatever identifiers stand in its row."""
    read_row = records.read_row({"key": "/works/OL1W", "title": "X", **row})

    assert read_row.scan == scan


def test_the_edition_that_availability_was_checked_for_is_named():
    row = records.read_row({"key": "/works/OL1W", "availability": {"status": "open", "openlibrary_edition": "OL7M", "isbn": "1"}})

    assert row.availability == {"status": "open", "openlibrary_edition": "OL7M"}


@pytest.mark.parametrize("stated, title", [
    ({"title_prefix": "The ", "title": "idiot"}, "The idiot"), ({"title": "The idiot"}, "The idiot"), ({"title": "__None__"}, None)])
def test_an_article_filed_before_a_title_belongs_to_it(stated, title):
    assert records.read_edition({"key": "/books/OL1M", **stated}).title == title


def test_older_names_of_subject_fields_are_read():
    item = records.read_book("OL1W", {"title": "X", "subject": ["A"], "subject_place": ["B"], "subject_time": ["C"], "subject_person": "D"}, {}, {})

    assert (item.subjects, item.subject_places, item.subject_times, item.subject_people) == (("A",), ("B",), ("C",), ("D",))


def test_a_date_without_a_letter_or_digit_is_none():
    item = records.read_author("OL1A", {"name": "X", "birth_date": "1841", "death_date": "."})

    assert (item.persons.born, item.persons.died, item.date) == ("1841", None, "born 1841")


@responses.activate
def test_what_stands_beside_a_native_query_narrows_the_whole_of_it(library):
    """In brackets: an OR inside would else let rows past the narrowing."""
    responses.get(SEARCH_URL, json=NONE)

    search(library, Query(words="title:lamp OR author:odile", native=True, date_from="1860", bound_names=("year_from",)))

    assert sent()["q"] == "(title:lamp OR author:odile) AND first_publish_year:[1860 TO *]"
