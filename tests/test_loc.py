"""The Library of Congress: what is sent to it, how its answers are read, and what it is never made to say."""
from __future__ import annotations

import json
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
import responses
from responses.matchers import query_param_matcher

from sources.archives.loc import LibraryOfCongress
from sources.archives.loc_records import NO_TERMS, NO_TERMS_OF_PAGE, YEAR_MEANS, pages_of, read_item
from sources.contract import (
    Collection,
    Contributor,
    Copy,
    Facet,
    FacetValue,
    Heading,
    Item,
    ItemQuery,
    Page,
    PageEntry,
    PageText,
    Passage,
    Passages,
    Query,
    Record,
    Reference,
    Related,
    Resource,
    Rights,
    TextMatch,
)
from sources.errors import ArchiveUnreachable, InvalidInput, RateLimited, RecordNotFound, UnreadableAnswer
from sources.text import Excerpt

PAGES = "https://www.loc.gov/collections/chronicling-america/"
BOOKS = "https://www.loc.gov/books/"
ITEM = "https://www.loc.gov/item/00000021/"
ISSUE_PAGE = "https://www.loc.gov/resource/sn00000011/1888-02-03/ed-1/"
TEXT = "https://tile.loc.gov/text-services/word-coordinates-service"
HEADINGS = "https://id.loc.gov/authorities/subjects/suggest2"
KEPT, NOT_KEPT = {"Cache-Control": "public, max-age=86400"}, {"Cache-Control": "no-cache, max-age=0"}
BOOK = Reference(source="loc", local="00000021")
ISSUE = Reference(source="loc", local="sn00000011/1888-02-03/ed-1")
SILENT = Rights(statement=None, covers="the item that the record describes", note=NO_TERMS)


@pytest.fixture
def loc(make_archive):
    return make_archive(LibraryOfCongress)


def shown(text: str, *at: tuple[int, int], kind: str = "passage") -> Excerpt:
    return Excerpt(text=text, at=at, kind=kind)



def sent(call=0):
    """The query parameters of a request, each once."""
    return dict(parse_qsl(urlsplit(responses.calls[call].request.url).query, keep_blank_values=True))


def asked():
    """The addresses asked, without their queries."""
    return [call.request.url.split("?")[0] for call in responses.calls]


def rows(*found, of=None):
    return {"results": list(found), **({"pagination": {"of": of}} if of is not None else {})}


# ---- searching pages -------------------------------------------------------------------------------------------------

@responses.activate
def test_a_page_search_asks_for_page_rows_and_the_two_blocks_alone(loc, answer):
    """`at` cuts an answer of megabytes to its rows and its count; no address of /search/ is ever built."""
    responses.get(PAGES, body=answer("loc/newspaper_pages.json"))

    loc.search_text(LibraryOfCongress.plan_text(Query(words="silver otter", rows=4, page=2)))

    assert asked() == [PAGES]
    assert sent() == {"fo": "json", "at": "results,pagination", "dl": "page", "q": "silver otter", "c": "4", "sp": "2"}


@responses.activate
def test_a_page_row_is_a_passage_only_when_the_match_or_every_word_stands_in_its_text(loc, answer):
    """Marks mean a passage; else each word must stand whole in the page's opening: Silverware is not silver."""
    responses.get(PAGES, body=answer("loc/newspaper_pages.json"))

    page = loc.search_text(LibraryOfCongress.plan_text(Query(words='"silver otter"', rows=4)))

    assert page == Page(total=9, last_page=3, more=True, records=(
        TextMatch(identifier="loc:sn00000011/1888-02-03/ed-1", title="Image 5 of The Larkfield beacon (Larkfield, Ohio), February 3, 1888",
                  year=1888, page_number=5, page_number_is="image", excerpts=(shown("... saw a silver otter by the mill ...", (10, 22)),), excerpt_kind="passage",
                  source_url=f"{ISSUE_PAGE}?sp=5&q=silver+otter", published_on="1888-02-03", publication="the larkfield beacon (larkfield, ohio) 1880-1899",
                  span=("1888-02-03", "1888-02-03")),
        TextMatch(identifier="loc:sn00000012/1890-07-08/ed-2", title="Image 2 of Elm Hill news", year=1890, page_number=2, page_number_is="image",
                  excerpts=(shown("ELM HILL NEWS. The Silver cup was shown; the otter was not."),), excerpt_kind="passage",
                  source_url="https://www.loc.gov/resource/sn00000012/1890-07-08/ed-2/?sp=2", published_on="1890-07-08",
                  span=("1890-07-08", "1890-07-08")),
        TextMatch(identifier="loc:sn00000013/1891-09-10/ed-1", title="Image 1 of Bay post", year=1891, page_number=1, page_number_is="image",
                  excerpts=(shown("BAY POST. Silverware for otters.", kind="page_opening"),), excerpt_kind="page_opening",
                  source_url="https://www.loc.gov/resource/sn00000013/1891-09-10/ed-1/?sp=1", published_on="1891-09-10",
                  span=("1891-09-10", "1891-09-10")),
        TextMatch(identifier="loc:sn00000014/1892-01-01/ed-1", title="Image 7 of Fen echo", year=None, page_number=7, page_number_is="image",
                  source_url="https://www.loc.gov/resource/sn00000014/1892-01-01/ed-1/?sp=7", published_on="18uu")))


@responses.activate
def test_an_excerpt_is_cut_to_the_length_asked_around_the_match(loc):
    """80 characters at most, the marked word among them."""
    snippet = "word " * 60 + "the [[tag]]otter[[/tag]] swam " + "word " * 60
    responses.get(PAGES, json=rows({"id": f"{ISSUE_PAGE}?sp=5", "page_coordinate_data": {"relevant_snippet": [snippet]}}, of=1))

    [match] = loc.search_text(LibraryOfCongress.plan_text(Query(words="otter", excerpt_chars=80))).records

    [excerpt] = match.excerpts
    assert len(excerpt.text) <= 80
    assert [excerpt.text[start:end] for start, end in excerpt.at] == ["otter"]
    assert "[[" not in excerpt.text


@responses.activate
def test_a_snippet_without_marks_is_not_taken_for_the_match(loc):
    """Nothing says where the words stand in it, so the page's opening is shown and called one."""
    row = {"id": f"{ISSUE_PAGE}?sp=5", "description": "LARKFIELD BEACON.", "page_coordinate_data": {"relevant_snippet": "hay and coal"}}
    responses.get(PAGES, json=rows(row, of=1))

    [match] = loc.search_text(LibraryOfCongress.plan_text(Query(words="otter"))).records

    assert (match.excerpts, match.excerpt_kind) == ((shown("LARKFIELD BEACON.", kind="page_opening"),), "page_opening")


@responses.activate
@pytest.mark.parametrize("page", ["-3", "0", "x", ""])
def test_what_counts_no_page_gives_no_page_number(loc, page):
    """Pages count from 1; a number that cannot be one is neither shown nor put into the address."""
    responses.get(PAGES, json=rows({"id": f"{ISSUE_PAGE}?sp={page}", "number_page": page}, of=1))

    [match] = loc.search_text(LibraryOfCongress.plan_text(Query(words="otter"))).records

    assert (match.page_number, match.page_number_is, match.source_url) == (None, None, ISSUE_PAGE)


@responses.activate
def test_narrowings_of_a_page_search_join_in_one_filter_and_are_told_as_sent(loc, answer):
    """A state is sent by its full name in lower case, filters are joined by |, and years go as years."""
    responses.get(PAGES, body=answer("loc/zero.json"), headers=KEPT)
    query = Query(words="otter", fields={"place": "N.Y.", "language": "de"}, publication="sn00000011", date_from="1888", bound_names=("date_from",))

    loc.search_text(LibraryOfCongress.plan_text(query))

    assert sent() == {"fo": "json", "at": "results,pagination", "dl": "page", "q": "otter", "dates": "1888/1963", "c": "5", "sp": "1",
                      "fa": "location_state:new york|language:german|number_lccn:sn00000011"}
    assert LibraryOfCongress.plan_text(query).sent == (
        ("place", "fa=location_state:new york (the state where the newspaper appeared)"),
        ("language", "fa=language:german"),
        ("date_from", "dates=1888/1963; the dates of the pages that come are checked again"),
        ("publication", "fa=number_lccn:sn00000011 (the newspaper's number)"))


@pytest.mark.parametrize(("date_from", "date_to", "dates"), [
    ("1900-02", "1904-02", "1900-02-01/1904-02-29"), ("1900", "1904-02-03", "1900-01-01/1904-02-03"), (None, "1850-05", "1736-08-03/1850-05-31"),
    ("1900", "1901", "1900/1901"), (None, "1850", "1736/1850"), ("1970", None, "1970/1970"), (None, "1700", "1700/1700")])
def test_a_range_of_days_has_both_ends_and_never_runs_backwards(date_from, date_to, dates):
    """The Library takes no half-open range: the newspapers run from 1736-08-03 to 1963-12-31."""
    plan = LibraryOfCongress.plan_text(Query(words="otter", date_from=date_from, date_to=date_to, bound_names=("date_from",)))

    assert plan.sent == (("date_from", f"dates={dates}; the dates of the pages that come are checked again"),)


def test_a_place_that_is_no_state_and_a_language_without_a_name_are_not_sent():
    """An unknown value in a closed vocabulary answers zero, and zero is not absence."""
    plan = LibraryOfCongress.plan_text(Query(words="otter", fields={"place": "Larkfield", "language": "grc"}))

    assert plan.sent == ()
    assert [name for name, because in plan.dropped] == ["place", "language"]


def test_a_newspaper_is_named_by_its_number_or_by_its_whole_title_in_lower_case():
    """A title goes as written but for case; that another spelling answers zero is said beside it."""
    [(name, spelled)] = LibraryOfCongress.plan_text(Query(words="otter", publication='"The Larkfield  Beacon (Larkfield, Ohio) 1880-1899"')).sent

    assert name == "publication"
    assert spelled.startswith("fa=partof_title:the larkfield beacon (larkfield, ohio) 1880-1899 (")
    assert "zero" in spelled


@pytest.mark.parametrize("words", ["otter OR mink", "otter -mink", "(otter)", "otter | mink"])
def test_operators_that_the_library_passes_over_are_said_in_a_note(words):
    plan = LibraryOfCongress.plan_text(Query(words=words))

    assert plan.notes == ("It passes over OR, NOT, a leading minus, brackets and |, and asks for every word.",)


def test_quotation_marks_are_not_promised_to_mean_a_phrase():
    """The count may fall, stay or rise with them."""
    assert LibraryOfCongress.plan_text(Query(words='"silver otter"')).notes == (
        "Quotation marks change what it finds; that the words stand together is not promised.",)


@responses.activate
def test_facets_of_pages_are_counted_by_date_and_by_nothing_else(loc):
    """Of all its counts the Library's dates are what search_inside promises; the periods are its own."""
    block = [{"type": "subject", "filters": [{"title": "otters", "count": 3}]},
             {"type": "dates", "filters": [{"title": "1880 to 1889", "count": 12}, {"title": "1890 to 1899", "count": "x"}]}]
    responses.get(PAGES, json={**rows({"id": f"{ISSUE_PAGE}?sp=5"}, of=1), "facets": block})

    page = loc.search_text(LibraryOfCongress.plan_text(Query(words="otter", facets=True)))

    assert sent()["at"] == "results,pagination,facets"
    assert page.facets == (Facet(field="year", counts_what="newspaper pages", values=(FacetValue(value="1880 to 1889", count=12),)),)


# ---- zero, past the end, failure -------------------------------------------------------------------------------------

@responses.activate
@pytest.mark.parametrize("headers", [NOT_KEPT, {"Cache-Control": "max-age=0"}, {"Cache-Control": "public, no-store"}])
def test_a_zero_that_no_cache_may_keep_is_a_search_that_failed(loc, answer, headers):
    """The Library answers 200 with a count of 0 also when it could not search."""
    responses.get(PAGES, body=answer("loc/zero.json"), headers=headers)

    with pytest.raises(ArchiveUnreachable, match="could not search"):
        loc.search_text(LibraryOfCongress.plan_text(Query(words="otter")))


@responses.activate
def test_a_zero_of_which_nothing_says_whether_it_may_be_kept_is_a_zero_told_once_with_the_doubt(loc, answer):
    responses.get(PAGES, body=answer("loc/zero.json"))

    page = loc.search_text(LibraryOfCongress.plan_text(Query(words="otter")))

    assert page == Page(total=0, more=False, notes=(
        "it did not say whether it stands by this zero, as it does of a search that it carried out; asking again may tell.",))
    assert len(responses.calls) == 1


@responses.activate
def test_a_search_that_failed_is_asked_again_in_the_catalogues_and_not_in_the_newspapers(loc, answer):
    """The newspapers take 30 to 45 seconds to answer, so a second attempt would outlast the call; a catalogue has one more."""
    for url in (PAGES, BOOKS):
        responses.get(url, body=answer("loc/zero.json"), headers=NOT_KEPT)

    for search, plan in ((loc.search_text, loc.plan_text), (loc.search_catalogue, loc.plan_catalogue)):
        with pytest.raises(ArchiveUnreachable, match="could not search"):
            search(plan(Query(words="otter")))

    assert asked() == [PAGES, BOOKS, BOOKS]


@responses.activate
def test_a_zero_that_caches_may_keep_is_a_true_zero(loc, answer):
    responses.get(PAGES, body=answer("loc/zero.json"), headers=KEPT)

    assert loc.search_text(LibraryOfCongress.plan_text(Query(words="otter"))) == Page(total=0, more=False)


@responses.activate
@pytest.mark.parametrize("status", [400, 404, 520])
def test_a_page_that_is_none_lies_past_the_end_only_where_the_count_of_the_first_says_so(loc, status):
    """Its front servers answer a page within reach so too."""
    responses.get(BOOKS, body="<html>gone</html>", status=status, match=[query_param_matcher({"sp": "30"}, strict_match=False)])
    responses.get(BOOKS, json=rows(of=104), match=[query_param_matcher({"sp": "1"}, strict_match=False)])
    plan = LibraryOfCongress.plan_catalogue

    assert loc.search_catalogue(plan(Query(words="otter", rows=25, page=30))) == Page(
        total=104, more=False, beyond="Page 30 lies past the last page: at 25 rows a page the 104 matches fill 5.")
    with pytest.raises(ArchiveUnreachable, match=rf"did not send page 30 \(status {status}\), which its own count does not put past the end"):
        loc.search_catalogue(plan(Query(words="otter", rows=3, page=30)))


@responses.activate
def test_an_empty_later_page_names_the_last_one_when_the_count_is_known(loc):
    """104 results at 25 a page end on page 5."""
    responses.get(BOOKS, json=rows(of=104))

    page = loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter", rows=25, page=9)))

    assert page == Page(total=104, last_page=5, more=False, beyond="Page 9 lies past the last page: at 25 rows a page the 104 matches fill 5.")


@responses.activate
def test_a_page_past_the_retrieval_ceiling_is_told_without_a_request(loc):
    """100,000 results are served, never more: at 1000 rows page 101 is past them."""
    page = loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter", rows=1000, page=101)))

    assert len(responses.calls) == 0
    assert page == Page(beyond="The Library of Congress serves the first 100,000 results only; at 1000 rows a page, page 100 is the last.")


@responses.activate
def test_a_first_page_that_is_not_there_is_a_failure_and_never_a_zero(loc):
    responses.get(BOOKS, body="<html>gone</html>", status=404)

    with pytest.raises(ArchiveUnreachable):
        loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter")))


@responses.activate
def test_a_collection_that_is_not_there_is_not_found_by_its_slug(loc):
    responses.get("https://www.loc.gov/collections/no-otters/", body="<html>gone</html>", status=404)

    with pytest.raises(RecordNotFound, match="'no-otters'"):
        loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter", fields={"collection": "loc:no-otters"})))


@responses.activate
@pytest.mark.parametrize("body", [{}, [], "text", {"results": None}, {"results": {"0": {}}}, rows({}, 7, {"title": "no address"}, of=3)])
def test_an_answer_without_readable_rows_is_unreadable_and_never_a_zero(loc, body):
    """All rows unreadable is an unreadable answer; one unreadable row would be dropped and counted."""
    responses.get(BOOKS, json=body)

    with pytest.raises(UnreadableAnswer) as failure:
        loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter")))
    assert failure.value.archive == "loc"


@responses.activate
def test_a_count_without_rows_is_told_with_its_number(loc):
    responses.get(BOOKS, json=rows(of=12))

    page = loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter")))

    assert page == Page(total=12, last_page=3, notes=("It counts 12 matches but sent no rows; this is no absence.",))


@responses.activate
def test_the_count_of_results_is_of_and_never_total_or_results(loc):
    """`total` counts pages and `results` is a text such as "1 - 3"; without `of` the count is unknown."""
    row = {"id": "http://www.loc.gov/item/00000021/"}
    responses.get(BOOKS, json={"results": [row], "pagination": {"total": 5, "results": "1 - 1", "next": "https://www.loc.gov/books/?sp=2"}})

    page = loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter")))

    assert (page.total, page.more) == (None, True)


@responses.activate
def test_a_429_is_not_asked_again_and_silences_the_site_for_an_hour(loc, clock):
    """The Library blocks for an hour; each call says how long is left, and another host of its goes on."""
    responses.get(BOOKS, status=429)
    responses.get(HEADINGS, json={"hits": []})

    with pytest.raises(RateLimited):
        loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter")))
    clock.advance(40)
    with pytest.raises(RateLimited) as blocked:
        loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="mill")))
    loc.search_headings("otter", "subject", 5)

    assert asked() == [BOOKS, HEADINGS, HEADINGS]
    assert blocked.value.retry_after_s == 3560


@responses.activate
def test_a_challenge_page_is_the_sites_protection_and_neither_a_limit_nor_a_zero(loc):
    responses.get(BOOKS, status=403, body="<html><title>Just a moment...</title></html>",
                  headers={"Server": "cloudflare", "cf-mitigated": "challenge", "Content-Type": "text/html"})

    with pytest.raises(ArchiveUnreachable, match="blocked by the site's protection"):
        loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter")))


# ---- searching the catalogues ----------------------------------------------------------------------------------------

@responses.activate
def test_a_catalogue_row_has_an_identifier_only_when_its_record_can_be_read(loc, answer):
    """Collections and catalogue cards carry the address to open; two rows of six cannot be read and are counted."""
    responses.get(BOOKS, body=answer("loc/items.json"))

    page = loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter", rows=6)))

    assert page == Page(total=104, last_page=18, more=True, skipped=2, records=(
        Record(identifier="loc:00000021", title="The otter's year", creator="Moor, Ada, 1840-1901.", year=1881, date="1881", media_type="book",
               source_url="https://www.loc.gov/item/00000021/", location="ohio; larkfield", online=True, is_item=True,
               languages=("english", "french"), subjects=("otters",), span=("1881-01-01", "1881-12-31")),
        Record(identifier="loc:sn00000011/1888-02-03/ed-1", title="The Larkfield beacon", date="18uu", media_type="newspaper",
               source_url="https://www.loc.gov/item/sn00000011/1888-02-03/ed-1/", is_item=True),
        Record(identifier=None, title="Otter prints", media_type="collection", is_item=False,
               source_url="https://www.loc.gov/collections/otter-prints/about-this-collection/"),
        Record(identifier=None, title="Known by its catalogue card", year=1884, date="1884", is_item=False,
               source_url="https://lccn.loc.gov/00000022", span=("1884-01-01", "1884-12-31"))))


@responses.activate
@pytest.mark.parametrize("address", ["https://www.loc.gov/otters/", "https://www.loc.gov/resource/otter.1/?sp=2", "https://hdl.loc.gov/loc.mss/eadmss.1",
                                     "https://elsewhere.example/item/00000021/"])
def test_an_address_that_is_no_records_gives_no_identifier(loc, address):
    """A guide, a page of a book, a finding aid, another site: get_item would refuse each, so only the address is told."""
    responses.get(BOOKS, json=rows({"id": address, "title": "Otters"}, of=1))

    [record] = loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter"))).records

    assert (record.identifier, record.is_item, record.source_url) == (None, False, address)


@responses.activate
def test_facets_are_the_librarys_own_terms_and_a_nameless_field_is_left_out(loc, answer):
    """Their links lead into the forbidden general search; they are read as labels only."""
    responses.get(BOOKS, body=answer("loc/items.json"))

    page = loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter", rows=6, facets=True)))

    assert page.facets == (Facet(field="subject", counts_what="rows that match, of every kind",
                                 values=(FacetValue(value="Otters", count=12), FacetValue(value="Mills", count=7))),)


def test_naming_no_kind_asks_the_books_and_says_so():
    plan = LibraryOfCongress.plan_catalogue(Query(words="otter"))

    assert (plan.media_type_asked, plan.notes) == ("books", ("No media_type was named, so books alone were asked.",))


@responses.activate
def test_fields_go_where_the_library_can_search_them_and_each_is_told(loc, answer):
    """No field of its own for title, creator, publisher: their words go to q. A heading's first part is the filter's term."""
    responses.get("https://www.loc.gov/maps/", body=answer("loc/zero.json"), headers=KEPT)
    fields = {"title": '"otter year"', "creator": "moor", "publisher": "Reed", "subject": "Otters--Ohio", "place": "Ohio", "language": "fr"}
    query = Query(words="river", fields=fields, media_type="maps", sort="newest", date_from="1881-05", date_to="1882",
                  bound_names=("date_from", "date_to"))

    loc.search_catalogue(LibraryOfCongress.plan_catalogue(query))
    plan = LibraryOfCongress.plan_catalogue(query)

    assert sent() == {"fo": "json", "at": "results,pagination", "q": 'river "otter year" moor Reed Ohio', "dates": "1881/1882", "sb": "date_desc",
                      "fa": "subject:otters|location:ohio|language:french", "all": "true", "c": "5", "sp": "1"}
    assert dict(plan.sent)["date_from"] == "dates=1881/1882 (whole years)"
    assert [name for name, _ in plan.sent] == ["title", "creator", "publisher", "subject", "place", "language", "date_from", "date_to", "sort"]
    assert (plan.dropped, plan.absent_because, plan.ordered_on) == ((), None, "the date the Library files a record under")


@pytest.mark.parametrize("field", ["isbn", "lccn", "oclc"])
def test_an_identifying_field_it_cannot_apply_makes_the_library_absent(field):
    """Identifying fields are never dropped: the rows would be of other books."""
    plan = LibraryOfCongress.plan_catalogue(Query(words="otter", fields={field: "00000021"}))

    assert field.upper() in plan.absent_because


def test_orders_and_lending_that_the_library_lacks_are_dropped_with_the_reason():
    plan = LibraryOfCongress.plan_catalogue(Query(words="otter", sort="rating", availability=True))

    assert [name for name, _ in plan.dropped] == ["sort", "availability"]


@pytest.mark.parametrize(("collection", "media_type", "path", "fa", "dropped"), [
    ("loc:otter-prints", None, "collections/otter-prints", None, []),
    ("otter-prints", "maps", "collections/otter-prints", "original_format:map", []),
    ("otter-prints", "audio", "collections/otter-prints", None, ["media_type"])])
@responses.activate
def test_a_collection_is_a_route_that_cannot_be_joined_to_a_kinds(loc, answer, collection, media_type, path, fa, dropped):
    """Inside a collection three kinds are known to be spelled as a filter; another is not sent, and that is said."""
    responses.get(f"https://www.loc.gov/{path}/", body=answer("loc/zero.json"), headers=KEPT)
    query = Query(words="otter", fields={"collection": collection}, media_type=media_type)

    loc.search_catalogue(LibraryOfCongress.plan_catalogue(query))
    plan = LibraryOfCongress.plan_catalogue(query)

    assert sent().get("fa") == fa
    assert plan.media_type_asked == (media_type if fa else None)
    assert [name for name, _ in plan.dropped] == dropped


@pytest.mark.parametrize("collection", ["archive:prelinger", "Otter Prints", "../item"])
def test_a_collection_of_another_shape_makes_the_library_absent(collection):
    assert "no collection of the Library" in LibraryOfCongress.plan_catalogue(Query(words="otter", fields={"collection": collection})).absent_because


@responses.activate
def test_words_of_one_letter_alone_are_said_to_be_unindexed(loc, answer):
    responses.get(BOOKS, body=answer("loc/zero.json"), headers=KEPT)

    page = loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="q z")))

    assert page.notes == ("The catalogues index no word of one letter, so these words could not be found there.",)


# ---- records ---------------------------------------------------------------------------------------------------------

@responses.activate
def test_a_record_is_read_in_every_shape_its_fields_come_in(loc, answer):
    """Lists, texts, {label: link} objects and numbers; the notes that the description repeats are not told twice."""
    responses.get(ITEM, body=answer("loc/item.json"))

    read = loc.read_record(BOOK, ItemQuery())

    assert sent() == {"fo": "json", "at": "item,resources"}
    assert replace(read.item, copies=(), copies_available=None) == Item(
        identifier="loc:00000021", title="The otter's year", creator="Moor, Ada, 1840-1901; Larkfield, Society of Saint John of",
        creators=("Moor, Ada, 1840-1901", "Larkfield, Society of Saint John of"), year=1881, year_means=YEAR_MEANS, date="1881", media_type="book",
        source_url=ITEM, description="A year by the river.\n\nSecond printing. With a map.",
        description_means="the record's notes, run together by the Library",
        notes=("Created or published: Larkfield, Ohio : Reed & Sons, 1881.",),
        subjects=("Otters--Ohio--Larkfield", "Mills"), subject_terms=("otters", "ohio", "mills"), locations=("larkfield", "ohio"),
        access_restricted=True, resources=(Resource(label="The book", page_count=3, pdf_url="https://cdn.loc.gov/service/otter/book.pdf"),),
        rights=Rights(statement="No known restrictions.\n\nSee Rights and Restrictions.", url="https://www.loc.gov/otters/terms.html",
                      covers="the item that the record describes", note="The Library marks access to this item as restricted. By appointment only."),
        context=(Related(label="otter prints", kind="collection", source_url="https://www.loc.gov/collections/otter-prints/"),
                 Related(label="catalog", kind="part of")),
        contributors=(Contributor(name="Moor, Ada, 1840-1901", role="author, illustrator"), Contributor(name="Hill, Ivo", role="former owner"),
                      Contributor(name="Larkfield, Society of Saint John of")),
        language=("english",), publisher="Reed & Sons", place="Larkfield, Ohio", call_number="QL737 .M6", extent="210 p. ; 20 cm.",
        standard_numbers={"lccn": ("00000021",), "oclc": ("4711",), "former_identifier": ("otter21",)})


@responses.activate
def test_copies_are_the_files_of_the_record_each_address_once_and_secure(loc, answer):
    """Files of the whole first, then page by page; a text service stands for a file; addresses begin with https."""
    responses.get(ITEM, body=answer("loc/item.json"))

    item = loc.read_record(BOOK, ItemQuery()).item

    assert item.copies_available == 9
    assert item.copies == (
        Copy(label="The book, PDF", url="https://cdn.loc.gov/service/otter/book.pdf"),
        Copy(label="The book, text", url="https://tile.loc.gov/storage-services/otter/book.text.txt"),
        Copy(label="page 1, image/jp2", format="image/jp2", url="https://tile.loc.gov/otter/1.jp2", size_bytes=9000),
        Copy(label="page 1, image/jpeg", format="image/jpeg", url="https://tile.loc.gov/otter/1.jpg"),
        Copy(label="page 1, text", format="text/plain", url=f"{TEXT}?segment=/service/otter/1.xml&format=alto_xml&full_text=1"),
        Copy(label="page 1, text with positions, ALTO", format="text/xml", url="https://tile.loc.gov/otter/1.xml"),
        Copy(label="page 2, image/jpeg", format="image/jpeg", url="https://tile.loc.gov/otter/2.jpg"),
        Copy(label="page 3, text", format="text/plain", url=f"{TEXT}?segment=/service/otter/3.xml&format=alto_xml&full_text=1"),
        Copy(label="image", url="https://cdn.loc.gov/service/otter/0001t.gif"))


@responses.activate
def test_pages_come_in_the_slice_asked_with_their_address_and_whether_text_is_held(loc, answer):
    """Three pages; the second has a picture and no text."""
    responses.get(ITEM, body=answer("loc/item.json"))

    read = loc.read_record(BOOK, ItemQuery(sections=("pages",), list_offset=1, list_limit=1))

    assert read.list_total == 3
    assert read.item.pages == (
        PageEntry(page_number=2, page_number_is="image", source_url="https://www.loc.gov/resource/otter.00000021/?sp=2",
                  image_url="https://tile.loc.gov/otter/2.jpg", text_held=False),)


@responses.activate
def test_pages_that_are_only_counted_do_not_say_whether_they_hold_text(loc):
    responses.get(ITEM, json={"item": {"title": "Otters"}, "resources": [{"url": "//www.loc.gov/resource/otter.1/", "files": 2}, "x", {}]})

    read = loc.read_record(BOOK, ItemQuery(sections=("pages",)))

    assert read.item.pages == tuple(PageEntry(page_number=number, page_number_is="image", text_held=None,
                                              source_url=f"https://www.loc.gov/resource/otter.1/?sp={number}") for number in (1, 2))


@responses.activate
def test_a_newspapers_record_lists_no_issue_and_says_how_to_reach_one(loc, answer):
    """Its resources are empty although it is digitised; silence on rights stays silence; a code is no year."""
    responses.get("https://www.loc.gov/item/sn00000011/", body=answer("loc/item_bare.json"))

    read = loc.read_record(Reference(source="loc", local="sn00000011"), ItemQuery(sections=("pages",)))

    assert read.list_total == 0
    assert read.notes == ("This record describes a newspaper and lists no issue. search_inside with publication 'sn00000011' finds its pages; "
                          "an issue is read as loc:sn00000011/YYYY-MM-DD/ed-1.", "The record lists no pages.")
    assert read.item == Item(
        identifier="loc:sn00000011", title="The Larkfield beacon", year=None, year_means=YEAR_MEANS, date="18uu", media_type="newspaper",
        source_url="https://www.loc.gov/item/sn00000011/", description="The Beacon shone.", description_means="with an essay on the newspaper",
        locations=("larkfield", "ohio"), subjects=("Larkfield (Ohio)--Newspapers",), rights=SILENT, copies_available=0,
        contributors=(Contributor(name="Reed & Sons", role="publisher"),), language=("english",), place="Larkfield, Ohio",
        standard_numbers={"lccn": ("sn00000011",)})


@responses.activate
def test_an_issue_without_pages_is_not_said_to_be_a_newspapers_record(loc):
    """Its format is newspaper too; the advice to name an issue would send the reader to where they are."""
    responses.get("https://www.loc.gov/item/sn00000011/1888-02-03/ed-1/", json={"item": {"title": "Larkfield", "original_format": ["newspaper"]}})

    read = loc.read_record(ISSUE, ItemQuery(sections=("pages",)))

    assert read.notes == ("The record lists no pages.",)


@responses.activate
@pytest.mark.parametrize(("status", "body"), [
    (404, "<html>Not Found</html>"), (404, '{"status": 404, "type": "exception"}'), (200, '{"status": 404, "type": "exception"}'),
    (200, '{"exception": "not found", "status": "not found"}'), (200, '{"item": {}, "resources": []}'), (200, '{"resources": []}')])
def test_a_missing_record_is_not_found_in_each_form_the_library_says_it(loc, status, body):
    responses.get(ITEM, status=status, body=body)

    with pytest.raises(RecordNotFound):
        loc.read_record(BOOK, ItemQuery())


@responses.activate
@pytest.mark.parametrize(("body", "error"), [([], UnreadableAnswer), ({"item": "text"}, UnreadableAnswer),
                                             ({"something": "else"}, UnreadableAnswer),
                                             ({"status": 500, "type": "exception"}, ArchiveUnreachable)])
def test_an_answer_that_is_no_record_is_a_failure_and_never_an_absence(loc, body, error):
    responses.get(ITEM, json=body)

    with pytest.raises(error):
        loc.read_record(BOOK, ItemQuery())


@responses.activate
def test_a_record_read_by_its_resource_goes_under_its_own_identifier(loc):
    """The address of a picture or a page names a resource; its answer holds the item."""
    responses.get("https://www.loc.gov/resource/otter.1/", json={"item": {"id": "http://www.loc.gov/item/00000021/", "title": "Otters"}})

    item = loc.read_record(Reference(source="loc", local="resource/otter.1"), ItemQuery()).item

    assert (item.identifier, item.source_url) == ("loc:00000021", ITEM)


# ---- pages -----------------------------------------------------------------------------------------------------------

@responses.activate
def test_a_text_address_without_its_segment_is_read_as_the_file_it_names(loc, answer):
    """An empty segment is none; the call ended in a fault where it was taken for one."""
    responses.get(ISSUE_PAGE, body=answer("loc/page.json").replace("/service/beacon/5.xml", "").replace("%2Fservice%2Fbeacon%2F5.xml", ""))
    responses.get(TEXT, status=404)

    with pytest.raises(ArchiveUnreachable):
        loc.read_page(ISSUE, 5)


@responses.activate
def test_an_address_that_no_request_can_hold_is_none(loc, answer):
    """A lone surrogate in a text's address once ended the call: the page then counts as one without text."""
    responses.get(ISSUE_PAGE, body=answer("loc/page.json").replace("/service/beacon", "\\ud800").replace("%2Fservice%2Fbeacon", "\\ud800"))

    page = loc.read_page(ISSUE, 5)

    assert (page.ocr_available, page.text) == (False, None)


@responses.activate
def test_a_page_is_read_by_its_sequence_without_the_searched_words(loc, answer):
    """With q in the address no text is found: sp is kept, q is left out of both requests. Slashes of the segment stay."""
    responses.get(ISSUE_PAGE, body=answer("loc/page.json"))
    responses.get(TEXT, body=answer("loc/text.json"))

    page = loc.read_page(ISSUE, 5)

    assert sent(0) == {"sp": "5", "fo": "json", "at": "item,resource,page,segments,pagination"}
    assert responses.calls[1].request.url == f"{TEXT}?segment=/service/beacon/5.xml&format=alto_xml&full_text=1"
    assert page == PageText(
        identifier="loc:sn00000011/1888-02-03/ed-1", title="Image 5 of The Larkfield beacon", published_on="1888-02-03",
        publication="the larkfield beacon (larkfield, ohio) 1880-1899", places=("larkfield", "ohio"), edition="1", page_number=5,
        page_number_is="image", page_count=8, text="LARKFIELD BEACON\nA silver otter was seen. The Otter swam.", source_url=f"{ISSUE_PAGE}?sp=5",
        image_url="https://tile.loc.gov/beacon/5.jp2", previous_page=4, next_page=6, item_identifier="loc:sn00000011/1888-02-03/ed-1",
        rights=NO_TERMS_OF_PAGE, places_url=page.places_url)


@responses.activate
def test_a_page_without_text_a_blank_page_and_a_silent_text_service_are_three_answers(loc, answer):
    responses.get("https://www.loc.gov/resource/otter.map1/", body=answer("loc/page_image_only.json"))
    responses.get(ISSUE_PAGE, body=answer("loc/page.json"))
    responses.get(TEXT, json={"a": {"full_text": " \n"}})
    responses.get(TEXT, status=404, body="<html>none</html>")

    image_only = loc.read_page(Reference(source="loc", local="resource/otter.map1"), 1)
    blank = loc.read_page(ISSUE, 5)

    assert (image_only.ocr_available, image_only.text, image_only.image_url) == (False, None, "https://tile.loc.gov/map/1.jpg")
    assert (blank.ocr_available, blank.text) == (True, "")


@responses.activate
def test_a_text_that_is_promised_and_not_delivered_is_an_error(loc, answer):
    responses.get(ISSUE_PAGE, body=answer("loc/page.json"))
    responses.get(TEXT, status=404, body="<html>none</html>")

    with pytest.raises(ArchiveUnreachable, match="did not deliver"):
        loc.read_page(ISSUE, 5)


@responses.activate
@pytest.mark.parametrize("body", [{}, [], {"a": {"height": "9"}}, {"a": {"full_text": "x"}, "b": {"full_text": "y"}}])
def test_a_text_answer_of_another_shape_is_unreadable(loc, answer, body):
    """One key is taken whatever it is called; of several only the one that was asked."""
    responses.get(ISSUE_PAGE, body=answer("loc/page.json"))
    responses.get(TEXT, json=body)

    with pytest.raises(UnreadableAnswer):
        loc.read_page(ISSUE, 5)


@responses.activate
def test_the_text_of_a_whole_book_is_not_passed_off_as_its_page(loc, answer):
    responses.get("https://www.loc.gov/resource/otter.00000021/", body=answer("loc/page_of_whole_text.json"))

    page = loc.read_page(Reference(source="loc", local="resource/otter.00000021"), 2)

    assert page.text is None
    assert page.text_refused.endswith("https://tile.loc.gov/storage-services/otter/book.text.txt")


@responses.activate
def test_a_text_on_a_foreign_host_is_not_asked(loc):
    responses.get(ISSUE_PAGE, json={"resource": {"fulltext_file": "https://elsewhere.example/text?segment=/a.xml"}})

    with pytest.raises(UnreadableAnswer, match="host"):
        loc.read_page(ISSUE, 5)
    assert len(responses.calls) == 1


@responses.activate
def test_a_page_of_an_item_is_read_in_its_only_resource_or_refused_with_the_names(loc, answer):
    responses.get(ITEM, body=answer("loc/item.json"))
    responses.get("https://www.loc.gov/resource/otter.00000021/", body=answer("loc/page_image_only.json"))
    two = [{"url": f"https://www.loc.gov/resource/otter.{number}/", "files": 2} for number in (1, 2)]
    responses.get("https://www.loc.gov/item/00000023/", json={"item": {"title": "Two"}, "resources": two})

    page = loc.read_page(BOOK, 1)
    with pytest.raises(InvalidInput) as refused:
        loc.read_page(Reference(source="loc", local="00000023"), 1)

    assert page.source_url == "https://www.loc.gov/resource/otter.00000021/?sp=1"
    assert refused.value.hint == "Name one: loc:resource/otter.1, loc:resource/otter.2."


@responses.activate
@pytest.mark.parametrize(("page", "error"), [(0, InvalidInput), (9, RecordNotFound)])
def test_a_page_outside_the_issue_is_refused(loc, answer, page, error):
    """The issue has eight pages, counted from 1."""
    responses.get(ISSUE_PAGE, body=answer("loc/page.json"))

    with pytest.raises(error):
        loc.read_page(ISSUE, page)


@responses.activate
def test_a_search_inside_a_record_reads_its_pages_and_counts_every_occurrence(loc, answer):
    """The Library offers none; two pages hold text, so two are read, each at its own number."""
    responses.get(ITEM, body=answer("loc/item.json"))
    responses.get(TEXT, json={"1": {"full_text": "Nothing here."}})
    responses.get(TEXT, json={"3": {"full_text": "The Otter and the otter."}})

    found = loc.search_record(BOOK, "otter", 10)

    assert found == Passages(
        page=PageText(identifier="loc:00000021", title="The otter's year", text=None, page_count=3, source_url=ITEM, item_identifier="loc:00000021",
                      rights=loc.read_record(BOOK, ItemQuery()).item.rights),
        passages=(Passage(page_number=3, text="The Otter and the otter.", source_url="https://www.loc.gov/resource/otter.00000021/?sp=3"),),
        match_count=2, notes=("2 pages were read and searched here.",))


@responses.activate
def test_a_long_record_is_searched_in_its_one_text_or_a_page_is_asked_for(loc):
    """Thirteen pages are more than the twelve read for one search."""
    pages = [[{"mimetype": "text/plain", "fulltext_service": f"{TEXT}?segment=/{number}.xml"}] for number in range(13)]
    long = {"url": "https://www.loc.gov/resource/otter.1/", "files": pages}
    whole = {**long, "text_file": "https://tile.loc.gov/otter.text.txt"}
    responses.get(ITEM, json={"item": {"title": "Otters"}, "resources": [whole]})
    responses.get("https://tile.loc.gov/otter.text.txt", body="An otter.")
    responses.get("https://www.loc.gov/item/00000023/", json={"item": {"title": "Otters"}, "resources": [long]})

    found = loc.search_record(BOOK, "otter", 10)
    with pytest.raises(InvalidInput, match="13 pages"):
        loc.search_record(Reference(source="loc", local="00000023"), "otter", 10)

    assert found.passages == (Passage(page_number=None, text="An otter.", source_url=ITEM),)


@responses.activate
def test_a_record_without_text_counts_nothing(loc):
    responses.get(ITEM, json={"item": {"title": "Otters"}, "resources": []})

    found = loc.search_record(BOOK, "otter", 10)

    assert (found.match_count, found.page.ocr_available, found.passages) == (None, False, ())


# ---- headings and collections ----------------------------------------------------------------------------------------

@responses.activate
def test_headings_come_exact_ones_first_with_the_variant_that_matched(loc, answer):
    """The heading is the authorised form; a divided one is used by its first part. One of six cannot be read and is counted."""
    responses.get(HEADINGS, body=answer("loc/headings.json"))

    page = loc.search_headings("otter", "subject", 4)

    def use(value):
        return {"argument": "subject", "value": value, "sources": ["loc"]}

    uri = "http://id.loc.gov/authorities/subjects/sh0000003"
    assert sent() == {"q": "otter", "searchtype": "keyword", "count": "50"}
    assert page == Page(total=61, more=True, skipped=1, notes=("The filter takes no heading with -- whole; use_with gives its first part.",), records=(
        Heading(label="Otter", uri=uri + "4", kind="subject", exact=True, use_with=use("Otter")),
        Heading(label="Otter in art", uri=uri + "1", kind="subject", use_with=use("Otter in art")),
        Heading(label="Mustelids", uri=uri + "2", kind="subject", variant="Otters and weasels", use_with=use("Mustelids")),
        Heading(label="Otters--Training--Ohio", uri=uri + "3", kind="subject", use_with=use("Otters"))))


@responses.activate
def test_a_part_of_a_word_falls_back_on_headings_that_begin_with_it(loc):
    by_word = responses.matchers.query_param_matcher({"searchtype": "keyword"}, strict_match=False)
    responses.get(HEADINGS, json={"count": 0, "hits": []}, match=[by_word])
    responses.get(HEADINGS, json={"count": 1, "hits": ["Otter photography"]})

    page = loc.search_headings("otter photog", "subject", 10)

    assert [heading.label for heading in page.records] == ["Otter photography"]
    assert page.notes == ("No heading holds these words as they stand; these begin with them.",)


@responses.activate
def test_collections_carry_the_slug_that_search_takes(loc, answer):
    """The slug stands in the address and cannot be made from the title; a row that is no collection is counted."""
    responses.get("https://www.loc.gov/collections/", body=answer("loc/collections.json"))

    page = loc.browse_collections("otter", 25, 1)

    assert sent() == {"fo": "json", "at": "results,pagination", "q": "otter", "c": "25", "sp": "1"}
    assert page == Page(total=2, last_page=1, more=False, skipped=1, notes=("item_count is what the Library states beside a collection; it is approximate.",),
                        records=(
        Collection(slug="loc:otter-prints", title="Otter prints", description="Prints of otters.", item_count=120,
                   source_url="https://www.loc.gov/collections/otter-prints/"),
        Collection(slug="loc:mill-songs", title="Mill songs", source_url="https://www.loc.gov/collections/mill-songs/")))


# ---- identifiers -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("local", "read"), [
    ("00000021", ("00000021", None)), ("sn00000011", ("sn00000011", None)), ("otter00192_001", ("otter00192_001", None)),
    ("sn00000011/1888-02-03/ed-1", ("sn00000011/1888-02-03/ed-1", None)), ("sn00000011/1888-02-03/ed-1/seq-3", ("sn00000011/1888-02-03/ed-1", 3)),
    ("sn00000011/1888-02-03/ed-1?sp=3", ("sn00000011/1888-02-03/ed-1", 3)), ("resource/otter.1?sp=25", ("resource/otter.1", 25)),
    ("otter.1/seq-4", ("otter.1", 4))])
def test_an_identifier_is_an_item_an_issue_or_a_resource_with_or_without_a_page(local, read):
    reference = LibraryOfCongress.read_identifier(local)

    assert (reference.local, reference.page) == read


@pytest.mark.parametrize("local", ["", "..", "../item", "a b", "a/b", "sn1/1888-02-03", "a\n", "sn00000011/1888-02-03/ed-1/seq-3?sp=4", "ä"])
def test_a_shape_the_library_does_not_mint_is_refused(local):
    with pytest.raises(InvalidInput):
        LibraryOfCongress.read_identifier(local)


@pytest.mark.parametrize(("address", "identifier", "page"), [
    ("https://www.loc.gov/item/00000021/?q=otter", "loc:00000021", None),
    ("http://www.loc.gov/resource/sn00000011/1888-02-03/ed-1/?sp=3&q=otter&st=text", "loc:sn00000011/1888-02-03/ed-1", 3),
    ("https://loc.gov/resource/otter.1/?sp=25", "loc:resource/otter.1", 25), ("https://lccn.loc.gov/00000021/marcxml", "loc:00000021", None),
    ("http://hdl.loc.gov/loc.gmd/otter.1", "loc:resource/otter.1", None),
    ("https://chroniclingamerica.loc.gov/lccn/sn00000011/1888-02-03/ed-1/seq-3/ocr/", "loc:sn00000011/1888-02-03/ed-1", 3),
    ("https://chroniclingamerica.loc.gov/lccn/sn00000011/", "loc:sn00000011", None)])
def test_addresses_of_the_librarys_hosts_name_the_record_and_the_page(address, identifier, page):
    """The former newspaper site is mapped by name; no lane holds its host, so it cannot be asked."""
    reference = LibraryOfCongress.read_address(urlsplit(address))

    assert (reference.identifier, reference.page) == (identifier, page)
    assert not any("chroniclingamerica" in host for lane in LibraryOfCongress.lanes for host in lane.hosts)


@pytest.mark.parametrize("address", [
    "https://www.loc.gov/collections/otter-prints/", "https://www.loc.gov/search/?q=otter", "https://www.loc.gov/pictures/item/21/",
    "https://catalog.loc.gov/x", "https://id.loc.gov/authorities/subjects/sh00000031", "http://hdl.loc.gov/loc.mss/eadmss.1",
    "https://chroniclingamerica.loc.gov/search/pages/results/?q=otter", "https://www.loc.gov/item/21/?sp=x", "https://www.loc.gov/"])
def test_an_address_that_names_no_record_is_refused_with_what_to_do(address):
    with pytest.raises(InvalidInput) as refused:
        LibraryOfCongress.read_address(urlsplit(address))
    assert refused.value.hint


ODD = [None, "", 7, 7.5, True, [], {}, ["x", None, 7, {"y": "z"}, [["w"]]], {"a": {"b": 1}}, "http://[bad"]


@responses.activate
@pytest.mark.parametrize("odd", ODD)
def test_no_shape_of_any_field_breaks_the_reading_of_a_row(loc, answer, odd):
    """Each field but the address comes in every shape; no row is lost."""
    page_row, item_row = (json.loads(answer(f"loc/{name}.json"))["results"][0] for name in ("newspaper_pages", "items"))
    for url, row in ((PAGES, page_row), (BOOKS, item_row)):
        responses.get(url, json={"results": [{name: row[name] if name == "id" else odd for name in row}], "pagination": odd, "facets": odd})

    matches, records = loc.search_text(LibraryOfCongress.plan_text(Query(words="otter", facets=True))), loc.search_catalogue(LibraryOfCongress.plan_catalogue(Query(words="otter", facets=True)))

    assert [match.identifier for match in matches.records] == ["loc:sn00000011/1888-02-03/ed-1"]
    assert [record.identifier for record in records.records] == ["loc:00000021"]


@responses.activate
@pytest.mark.parametrize("odd", ODD)
def test_no_shape_of_any_field_breaks_the_reading_of_a_record(loc, answer, odd):
    """Each field of the record in turn comes as a number, a list, an object, null; the title still stands."""
    whole = json.loads(answer("loc/item.json"))
    for name in whole["item"]:
        if name != "title":
            whole["item"][name] = odd
    whole["resources"] = [{**whole["resources"][0], "files": odd}, {"url": odd, "files": [odd, [odd], [{"mimetype": odd, "url": odd}]]}, odd]
    responses.get(ITEM, json=whole)

    read = loc.read_record(BOOK, ItemQuery(sections=("description", "pages")))

    assert read.item.title == "The otter's year"


# ---- what a record says of names, dates and imprints -------------------------------------------------------------------------------------

def stated(**fields: object) -> Item:
    return read_item(Reference(source="loc", local="1"), {"id": "http://www.loc.gov/item/1/", "title": "T", **fields}, [])


def test_a_role_behind_a_name_is_a_role_however_it_is_shortened():
    item = stated(contributors=["Voss, Ada, 1450-1520.", "Kern, Hans, 1440-1500, illus.", "Muir, Otto, -1499, tr.", "Qadir, Ali, scribe.",
                                "Bo, Li, ed. and tr.", "Roe, Al, supposed author.", "Roe, Bo, joint ed."])

    assert item.creator == "Voss, Ada, 1450-1520."
    assert [(who.name, who.role) for who in item.contributors] == [
        ("Voss, Ada, 1450-1520.", None), ("Kern, Hans, 1440-1500", "illustrator"), ("Muir, Otto, -1499", "translator"), ("Qadir, Ali", "scribe"),
        ("Bo, Li", "editor and translator"), ("Roe, Al", "supposed author"),
        ("Roe, Bo", "joint editor")]


@pytest.mark.parametrize(("imprint", "place", "publisher"), [
    ("New York : Pell & Moss, [between 1856 and 1907]", "New York", "Pell & Moss"), ("[S.l. : s.n., 1884]", None, None),
    ("Vrbs Nova [Newtown] : Per Ada Voss, anno D[omi]ni 1507", "Vrbs Nova [Newtown]", "Per Ada Voss"),
    ("London : Macmillan ; New York : Scribner, 1884", "London; New York", "Macmillan; Scribner"),
    ("[Place of publication not identified] : Pell & Moss, 1884", None, "Pell & Moss")])
def test_an_imprint_is_read_by_the_one_reader_of_imprints(imprint: str, place: str | None, publisher: str | None):
    item = stated(created_published=[imprint])

    assert (item.place, item.publisher) == (place, publisher)


def test_the_first_of_january_stands_for_its_year():
    item = stated(date="1888-01-01", dates=[{"1888": "x"}], created_published=["1888."])

    assert (item.year, item.date) == (1888, "1888")


def test_names_among_the_subject_headings_are_left_out_and_counted():
    """Whatever their case: a heading is capitalised, the term that the filter takes is not."""
    item = stated(subjects=[{"otters": "https://www.loc.gov/search/"}, {"voss, ada": "http://id.loc.gov/authorities/names/n1"}],
                  subject_headings=["Otters", "Voss, Ada"])

    assert (item.subjects, item.subject_terms) == (("Otters",), ("otters",))
    assert "Names among its subject headings, left out here: 1." in item.notes


# ---- what is not digitised, where a thing is, and its parts --------------------------------------------------------------

@responses.activate
@pytest.mark.parametrize("fields", [{}, {"collection": "loc:otter-prints"}])
def test_the_catalogues_are_asked_for_what_is_not_digitised_too_and_a_row_says_so(loc, fields):
    plan = LibraryOfCongress.plan_catalogue(Query(words="otter", fields=fields))
    responses.get(plan.asks[0].url, json=rows({"id": "http://www.loc.gov/item/1/", "title": "On paper alone", "digitized": False},
                                              {"id": "http://www.loc.gov/item/2/", "title": "Unsaid"}, of=2))

    page = loc.search_catalogue(plan)

    assert sent()["all"] == "true"
    assert [row.online for row in page.records] == [False, None]


@responses.activate
def test_newspapers_and_the_list_of_collections_are_not_widened(loc, answer):
    responses.get("https://www.loc.gov/collections/", body=answer("loc/collections.json"))
    loc.browse_collections("otter", 5, 1)

    assert "all" not in dict(LibraryOfCongress.plan_text(Query(words="otter")).asks[0].params) | sent()


@responses.activate
def test_a_newspapers_row_names_its_places_as_the_library_states_them(loc):
    row = {"id": f"{ISSUE_PAGE}?sp=5", "location_city": ["larkfield"], "location_county": ["elm"], "location_state": ["ohio"]}
    responses.get(PAGES, json=rows(row, {"id": f"{ISSUE_PAGE}?sp=6"}, of=2))

    page = loc.search_text(LibraryOfCongress.plan_text(Query(words="otter")))

    assert [match.places for match in page.records] == [("larkfield", "elm", "ohio"), ()]


def test_a_part_of_a_record_is_told_with_the_files_that_hold_all_of_it():
    """A caption, else the name in its address; pages as listed or as counted."""
    parts = [{"caption": "Reel 1", "url": "http://www.loc.gov/resource/otter.1/", "files": [[{}], [{}]], "audio": "//cdn.loc.gov/otter/1.mp3",
              "image": "https://tile.loc.gov/otter/1.jpg#h=9&w=7"}, {"url": "http://www.loc.gov/resource/otter.2/", "files": 7}, {"segments": 3}]

    item = read_item(BOOK, {"title": "T"}, parts)

    assert item.resources == (
        Resource(label="Reel 1", page_count=2, image_url="https://tile.loc.gov/otter/1.jpg", audio_url="https://cdn.loc.gov/otter/1.mp3"),
        Resource(label="otter.2", page_count=7), Resource(label="no caption", page_count=3))


@pytest.mark.parametrize(("said", "told"), [(True, True), (False, False), (None, None), ("true", None)])
def test_access_is_restricted_or_open_only_where_the_record_says_so(said, told):
    assert stated(access_restricted=said).access_restricted is told


def test_counted_pages_of_many_parts_are_believed_up_to_one_bound_in_all():
    """20,000 pages: 200 parts of a short record may not make four million entries."""
    assert len(pages_of([{"files": 15_000}] * 200, "https://www.loc.gov/item/1/")) == 20_000


@pytest.mark.parametrize(("local", "address"), [
    ("sn00000011/1888-02-03/ed-1", f"{ISSUE_PAGE}?sp=3"), ("resource/otter.00000021", "https://www.loc.gov/resource/otter.00000021/?sp=3"),
    ("00000021", ITEM)])
def test_a_page_is_cited_at_its_own_address_where_the_identifier_names_it(local, address):
    """An item alone does not say in which of its resources."""
    reference = Reference(source="loc", local=local, page=3)

    assert LibraryOfCongress.page_address(Item(identifier="loc:00000021", source_url=ITEM), reference) == address
