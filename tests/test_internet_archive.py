"""The Internet Archive: what is sent to it, how its answers are read, and what it is never made to say."""
from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
import responses

from sources.archives.internet_archive import InternetArchive, spelled
from sources.contract import (
    Collection,
    Contributor,
    Copy,
    Facet,
    FacetValue,
    Item,
    ItemQuery,
    Page,
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
from sources.errors import ArchiveUnreachable, InvalidInput, RecordNotFound, UnreadableAnswer
from sources.text import Excerpt

TEXT = "https://archive.org/services/search/beta/page_production/"
CATALOGUE = "https://archive.org/advancedsearch.php"
METADATA = "https://archive.org/metadata/lanternvale00orri"
NODE = "https://ia600001.us.archive.org"
LEAF = f"{NODE}/BookReader/BookReaderGetTextWrapper.php"
INSIDE = f"{NODE}/fulltext/inside.php"
SILENT = Rights(statement=None, covers="this item, as its depositor states it",
                note="The record states no terms of reuse; silence grants nothing.")
VALE = Reference(source="archive", local="lanternvale00orri")


def sent(call=0):
    """The query parameters of a request, each once."""
    return dict(parse_qsl(urlsplit(responses.calls[call].request.url).query, keep_blank_values=True))


def asked():
    """The addresses asked, without their queries."""
    return [call.request.url.split("?")[0] for call in responses.calls]


def error(message, **beside):
    return {"response": {"header": {"succeeded": False, "errors": [{"message": message}]}, **beside}}


@pytest.fixture
def archive(make_archive):
    return make_archive(InternetArchive)


@pytest.fixture
def record(answer):
    """A record of our own, with some of its keys replaced; None leaves one out."""
    def changed(metadata=None, **keys):
        whole = {**json.loads(answer("archive/record.json")), **keys}
        if metadata is not None:
            whole["metadata"] = metadata
        return {key: value for key, value in whole.items() if value is not None}
    return changed


def leaf(number, text="<HIDDENTEXT/>"):
    return f'<OBJECT><PARAM name="PAGE" value="LanternVale_{number:04}.djvu"/>{text}</OBJECT>'


# ---- searching the text --------------------------------------------------------------------------------------------

@responses.activate
def test_a_search_inside_sends_the_words_and_leaves_the_counts_out(archive, answer):
    """One request; `aggregations=false` spares the service work nobody asked for."""
    responses.get(TEXT, body=answer("archive/hits.json"))

    archive.search_text(archive.plan_text(Query(words='a "wet fog"', rows=3, page=2)))

    assert sent() == {"service_backend": "fts", "user_query": 'a "wet fog"', "hits_per_page": "3", "page": "2", "aggregations": "false"}


@responses.activate
def test_matches_lose_their_marks_and_publish_no_page(archive, answer):
    """Rule 2: the index's position is 1 or the page count of the document, so no page number and no leaf address is made of it."""
    responses.get(TEXT, body=answer("archive/hits.json"))

    page = archive.search_text(archive.plan_text(Query(words="lantern", rows=3, excerpts_per_record=2)))

    assert InternetArchive.text.publishes_page_number is False
    assert page == Page(total=41, last_page=14, more=True, records=(
        TextMatch(identifier="archive:lanternvale00orri", title="The lantern of Vale", creator="Orrin, Tess, 1820-1889", year=1858,
                  excerpts=(Excerpt(text="rowed by the lantern till morn- ing, <and> no wind", at=((13, 20),), kind="passage"),
                            Excerpt(text="the lantern & the bell", at=((4, 11),), kind="passage")), excerpt_kind="passage",
                  source_url="https://archive.org/details/lanternvale00orri?q=lantern", matched_file="lanternvale00orri",
                  inside_container=False, span=("1858-01-01", "1858-12-31")),
        TextMatch(identifier="archive:valebundle1862/log%20of%20the%20Ведмідь", title="Papers of the Vale", year=1862,
                  excerpts=(Excerpt(text="one lantern was lost", at=((4, 11),), kind="passage"),), excerpt_kind="passage", matched_file="log of the Ведмідь", inside_container=True,
                  source_url="https://archive.org/details/valebundle1862/log%20of%20the%20%D0%92%D0%B5%D0%B4%D0%BC%D1%96%D0%B4%D1%8C?q=lantern",
                  span=("1862-01-01", "1862-12-31")),
        TextMatch(identifier="archive:valealmanac", title="An almanac", creator="Orrin, Tess; Quill, Abel", matched_file="valealmanac",
                  inside_container=False, source_url="https://archive.org/details/valealmanac?q=lantern")))


def test_a_document_of_a_bundle_is_read_under_the_identifier_its_match_has():
    """A file's name may hold blanks, which no identifier may; the spelling comes back as the same file."""
    reference = InternetArchive.read_identifier("valebundle1862/log%20of%20the%20Ведмідь")

    assert reference == Reference(source="archive", local="valebundle1862/log%20of%20the%20Ведмідь", file="log of the Ведмідь")


@responses.activate
def test_a_long_excerpt_is_cut_around_its_first_mark(archive):
    text = "before " * 100 + "the {{{lantern}}} sank " + "after " * 100
    responses.get(TEXT, json={"response": {"body": {"hits": {"total": 1, "hits": [
        {"fields": {"identifier": "vale"}, "highlight": {"text": [text]}}]}}}})

    page = archive.search_text(archive.plan_text(Query(words="lantern", excerpt_chars=80)))

    assert [(len(excerpt.text) <= 80, [excerpt.text[start:end] for start, end in excerpt.at])
            for excerpt in page.records[0].excerpts] == [(True, ["lantern"])]


@responses.activate
def test_a_field_of_any_shape_keeps_its_row_and_an_unreadable_row_is_counted(archive, answer):
    """Lists, numbers, nulls and absent fields are all met; years outside 1000 to 2200 are placeholders."""
    responses.get(TEXT, body=answer("archive/hits-odd.json"))

    page = archive.search_text(archive.plan_text(Query(words="x")))

    assert [(row.identifier, row.title, row.creator, row.year, row.inside_container) for row in page.records] == [
        ("archive:odd-one", "First title; Second title", "Quill, Abel", 1861, None),
        ("archive:odd-two", "1984", None, None, None),
        ("archive:odd-three", None, None, 1870, None),
        ("archive:odd-four", None, None, None, None)]
    assert (page.total, page.skipped) == (5, 1)


@pytest.mark.parametrize("body", [
    [], {}, {"response": {"body": {"hits": {"total": 3, "hits": None}}}},
    {"response": {"body": {"hits": {"total": 2, "hits": ["a text", {"fields": None}]}}}}])
@responses.activate
def test_an_answer_of_another_shape_is_never_an_absence(archive, body):
    responses.get(TEXT, json=body)

    with pytest.raises(UnreadableAnswer) as caught:
        archive.search_text(archive.plan_text(Query(words="x")))

    assert caught.value.archive == "archive"


@responses.activate
def test_an_error_inside_a_200_is_a_failure_and_no_zero(archive):
    """Rule 1. "The archive did not answer": asked again once, then said."""
    responses.get(TEXT, json=error("The search backend encountered an exception (the FTS API request failed: HTTP 502)"))

    with pytest.raises(ArchiveUnreachable) as caught:
        archive.search_text(archive.plan_text(Query(words="x")))

    assert caught.value.message == ("The Internet Archive could not search. It said: The search backend encountered an exception "
                                    "(the FTS API request failed: HTTP 502)")
    assert len(responses.calls) == 2


@pytest.mark.parametrize("status", [200, 400, 422])
@responses.activate
def test_a_stated_objection_is_a_refused_query_whatever_its_status(archive, status):
    """It is sent once: asking again cannot help."""
    objection = "a structure was opened but not closed (quoted phrase open at position 1)"
    responses.get(TEXT, json=error(objection), status=status)

    with pytest.raises(InvalidInput) as caught:
        archive.search_text(archive.plan_text(Query(words="x")))

    assert (caught.value.message, len(responses.calls)) == (f"The Internet Archive refuses this query: {objection}", 1)


@pytest.mark.parametrize("body", ["{}", "", "<html><body>Bad Request</body></html>"])
@responses.activate
def test_a_400_without_a_reason_is_asked_again_once_then_reported(archive, body):
    responses.get(TEXT, body=body, status=400)

    with pytest.raises(ArchiveUnreachable) as caught:
        archive.search_text(archive.plan_text(Query(words="x")))

    assert (caught.value.message, len(responses.calls)) == ("The Internet Archive could not search. It gave no reason.", 2)


@responses.activate
def test_a_422_is_a_refused_query_though_it_gives_no_reason(archive):
    responses.get(TEXT, body="", status=422)

    with pytest.raises(InvalidInput) as caught:
        archive.search_text(archive.plan_text(Query(words="x")))

    assert (caught.value.message, len(responses.calls)) == ("The Internet Archive refuses this query: it gives no reason.", 1)


@responses.activate
def test_a_search_route_that_is_gone_is_a_failure_and_no_absence(archive):
    """A 404 is the route's, not a record's; it is not asked again."""
    responses.get(TEXT, body="<html>Not Found</html>", status=404)

    with pytest.raises(ArchiveUnreachable) as caught:
        archive.search_text(archive.plan_text(Query(words="x")))

    assert (caught.value.status, len(responses.calls)) == (404, 1)


@responses.activate
def test_a_400_in_the_backends_words_is_the_archives_fault(archive):
    body = {"response": {"error": {"message": "([BACKEND_ERROR] Invalid or no response from Elasticsearch)"}}}
    responses.get(TEXT, json=body, status=400)
    responses.get(TEXT, json={"response": {"body": {"hits": {"total": 0, "hits": []}}}})

    page = archive.search_text(archive.plan_text(Query(words="x")))

    assert page == Page(total=0, more=False)


@responses.activate
def test_a_page_past_the_ceiling_is_told_as_that(archive):
    """Ten thousand rows are served; a page known to lie beyond is not even asked."""
    responses.get(TEXT, json=error("Invalid request ([RANGE_OUT_OF_BOUNDS] paging is only supported through 10000 results"), status=400)
    responses.get(CATALOGUE, body="[RANGE_OUT_OF_BOUNDS] paging is only supported through 10000 results", content_type="application/json")
    told = Page(beyond="The Internet Archive serves the first 10,000 results only; at 5 rows a page, page 2000 is the last.")
    served = "The Internet Archive serves the first 10,000 results only; at {} rows a page, page {} is the last."

    answers = [archive.search_text(archive.plan_text(Query(words="x"))), archive.search_catalogue(archive.plan_catalogue(Query(words="x"))),
               archive.search_text(archive.plan_text(Query(words="x", rows=25, page=401))), archive.browse_collections(None, 100, 101)]

    assert (answers, len(responses.calls)) == (
        [told, told, Page(beyond=served.format(25, 400)), Page(beyond=served.format(100, 100))], 2)


@responses.activate
def test_a_page_past_the_last_one_is_told_as_that(archive):
    responses.get(TEXT, json={"response": {"body": {"hits": {"total": 12, "hits": []}}}})

    page = archive.search_text(archive.plan_text(Query(words="x", rows=5, page=4)))

    assert page == Page(total=12, last_page=3, more=False, beyond="Page 4 lies past the last page: at 5 rows a page the 12 matches fill 3.")


@responses.activate
def test_a_count_without_rows_is_said_with_its_number(archive):
    responses.get(TEXT, json={"response": {"body": {"hits": {"total": 12, "hits": []}}}})

    page = archive.search_text(archive.plan_text(Query(words="x")))

    assert page == Page(total=12, last_page=3, notes=("It counts 12 matches but sent no rows; this is no absence.",))


@pytest.mark.parametrize(("begin", "end", "filter_map"), [
    ("1900", "1910", {"1900": "gte", "1910": "lte"}), ("1910", "1910-05", {"1910": "inc"}), ("1900", None, {"1900": "gte"}),
    (None, "1910", {"1910": "lte"})])
@responses.activate
def test_one_year_alone_is_not_sent_as_a_range(archive, answer, begin, end, filter_map):
    """{"1910": "gte", "1910": "lte"} is one key in JSON and would mean "up to 1910"."""
    responses.get(TEXT, body=answer("archive/hits.json"))

    archive.search_text(archive.plan_text(Query(words="x", date_from=begin, date_to=end)))

    assert json.loads(sent()["filter_map"]) == {"year": filter_map}


def test_filters_of_the_text_are_sent_as_years_or_said_not_to_be():
    """Rule 8: only the year filter is documented for this index."""
    query = Query(words="x", date_from="1910-05", date_to="1911", bound_names=("date_from", "date_to"), publication="The Bell",
                  fields={"language": "fre"}, facets=True)
    none_such = "its text index has no documented filter of this kind"
    year = 'filter_map={"year":{"1910":"gte","1911":"lte"}}'

    plan = InternetArchive.plan_text(query)

    assert plan == Request(
        query=query, asks=plan.asks, sent=(("date_from", f"{year}; this index has years only, so 1910-05 was cut to its year"), ("date_to", year),
              ("facets", "aggregations=year")),
        dropped=(("language", none_such), ("publication", none_such)))


def test_a_search_inside_without_a_word_is_not_sent():
    assert InternetArchive.plan_text(Query(words="&& ?")).absent_because == "No word was left that its text index can search for."


@pytest.mark.parametrize("aggregations", [
    {"year": {"buckets": [{"key": 1858, "doc_count": 4}, {"key": "1859", "doc_count": 2}, {"key": None}, "odd"]}},
    {"year_histogram": {"buckets": [4, 2, 0], "first_bucket_key": 1858, "interval": 1}}])
@responses.activate
def test_counts_by_year_come_as_terms_or_as_a_histogram(archive, aggregations):
    responses.get(TEXT, json={"response": {"body": {"hits": {"total": 0, "hits": []}, "aggregations": aggregations}}})

    page = archive.search_text(archive.plan_text(Query(words="x", facets=True)))

    assert page.facets == (Facet(field="year", counts_what="documents", values=(
        FacetValue(value="1858", count=4), FacetValue(value="1859", count=2))),)
    assert sent()["aggregations"] == "year"


# ---- searching the catalogue ---------------------------------------------------------------------------------------

@pytest.mark.parametrize(("written", "query"), [
    ("a wet fog", "a wet fog"), ('he said "a wet fog" twice', 'he said "a wet fog" twice'), ('"a wet fog', "a wet fog"),
    ('"one" and "two', '"one" and two'), ("AT&T merger", '"AT T" merger'), ("Faust & Co", "Faust Co"), ("title:secret", "title secret"),
    ("either/or?", "either or"), ("C++ (1998)", "C 1998"), ("-not +this", "not this"), ("NOT this OR that", "not this or that"),
    ("gd1977-04-23.mtx", "gd1977-04-23.mtx"), ("wom*n ro?m~2^3 [a TO b] {c}", "wom n ro m 2 3 a TO b c"), ("a\\b", "a b"),
    ('"AT&T: the *story*"', '"AT T the story"'), ("— && | !", ""), ('""', ""), ("l'été d'Ångström", "l'été d'Ångström"), ("東京", "東京")])
def test_nothing_in_a_callers_words_acts_but_a_quoted_phrase(written, query):
    """A query the archive accepts: its operators are left out, since escaping some of them is itself refused."""
    assert spelled(written) == query


@responses.activate
def test_a_query_that_was_changed_is_shown_as_sent(archive, answer):
    responses.get(CATALOGUE, body=answer("archive/items.json"))

    page = archive.search_catalogue(archive.plan_catalogue(Query(words="AT&T history?")))

    assert sent()["q"] == '("AT T" history)'
    assert page.notes == ("What was sent is '\"AT T\" history'; characters and words that act in its query syntax were left out or made plain.",)


@responses.activate
def test_every_field_is_its_own_clause_beside_the_parenthesised_words(archive, answer):
    """Without parentheses a filter would bind to the last word only; callback is never sent, output=json always."""
    responses.get(CATALOGUE, body=answer("archive/items.json"))
    query = Query(words="river night", rows=4, page=2, media_type="texts", date_from="1850", date_to="1860-03-01", sort="oldest",
                  bound_names=("date_from", "date_to"), availability=True,
                  fields={"title": '"the lantern"', "creator": "orrin tess", "subject": "lamps", "publisher": "quill", "language": "fr",
                          "place": "Vale", "collection": "archive:valelibrary"})

    plan = InternetArchive.plan_catalogue(query)
    archive.search_catalogue(plan)

    assert parse_qs(urlsplit(responses.calls[0].request.url).query) == {
        "q": ['(river night) AND title:("the lantern") AND creator:(orrin tess) AND subject:(lamps) AND publisher:(quill) AND '
              'language:(fre OR "French") AND collection:valelibrary AND mediatype:texts AND year:[1850 TO 1860]'],
        "fl[]": ["identifier", "title", "creator", "year", "date", "mediatype", "downloads", "language", "publisher"],
        "sort[]": ["date asc"], "rows": ["4"], "page": ["2"], "output": ["json"]}
    assert plan == Request(
        query=query, asks=plan.asks, sent=(("title", 'title:("the lantern")'), ("creator", "creator:(orrin tess)"), ("subject", "subject:(lamps)"),
              ("publisher", "publisher:(quill)"), ("language", 'language:(fre OR "French")'), ("collection", "collection:valelibrary"),
              ("date_from", "year:[1850 TO 1860]"),
              ("date_to", "year:[1850 TO 1860]; this index has years only, so 1860-03-01 was cut to its year"), ("sort", "date asc")),
        dropped=(("place", "no search field of its catalogue holds this"),
                 ("availability", "its catalogue does not say who may borrow what; get_item shows what a record states")),
        media_type_asked="texts", ordered_on="date asc")


@pytest.mark.parametrize(("fields", "because"), [
    ({"isbn": "9780000000002"}, "Its documentation names no search field for ISBN numbers, and such a field is never dropped."),
    ({"oclc": "11600000", "title": "x"}, "Its documentation names no search field for OCLC numbers, and such a field is never dropped."),
    ({"collection": "archive:", "title": "x"}, "The collection asked for is none of its own; browse_collections lists those it has."),
    ({"collection": "loc:sanborn-maps"}, "The collection asked for is none of its own; browse_collections lists those it has."),
    ({"place": "Vale"}, "Nothing was left that its catalogue can search on.")])
def test_an_identifying_field_is_applied_or_the_archive_is_absent(fields, because):
    assert InternetArchive.plan_catalogue(Query(fields=fields)) == Request(query=Query(fields=fields), absent_because=because)


def test_an_order_it_does_not_have_is_said_not_to_be_sent():
    query = Query(words="x", sort="rating")

    plan = InternetArchive.plan_catalogue(query)

    assert plan == Request(query=query, asks=plan.asks, dropped=(("sort", "its catalogue has no order by rating"),))


@responses.activate
def test_catalogue_rows_state_what_the_archive_states(archive, answer):
    """A year or a date of 1 is a placeholder, and no date; 1 January stands for the year alone."""
    responses.get(CATALOGUE, body=answer("archive/items.json"))

    page = archive.search_catalogue(archive.plan_catalogue(Query(words="lantern", rows=4)))

    assert page == Page(total=9, last_page=3, skipped=1, more=True, records=(
        Record(identifier="archive:lanternvale00orri", title="The lantern of Vale", creator="Orrin, Tess, 1820-1889", year=1858,
               date="1858", media_type="texts", source_url="https://archive.org/details/lanternvale00orri", downloads=412,
               languages=("eng",), publishers=("Quill & Daughter",), span=("1858-01-01", "1858-12-31")),
        Record(identifier="archive:lanternsong", title="The lantern song; Das Laternenlied", creator="Quill, Abel; The Bells",
               media_type="audio", source_url="https://archive.org/details/lanternsong", downloads=77, languages=("eng", "ger")),
        Record(identifier="archive:clay-lamp", title="Lamp", media_type="image",
               source_url="https://archive.org/details/clay-lamp")))


@responses.activate
def test_a_native_query_goes_as_written(archive, answer):
    responses.get(CATALOGUE, body=answer("archive/items.json"))

    page = archive.search_catalogue(archive.plan_catalogue(Query(words="creator:(orrin) AND -subject:lamps", native=True)))

    assert (sent()["q"], page.notes) == ("creator:(orrin) AND -subject:lamps", ())


@responses.activate
def test_counts_are_asked_of_the_route_that_has_them(archive):
    """One request all the same: the rows come with the counts."""
    responses.get(TEXT, json={"response": {"header": {"succeeded": True}, "body": {
        "hits": {"total": 1, "hits": [{"hit_type": "item", "fields": {"identifier": "vale", "title": "Vale", "mediatype": "texts"}}]},
        "aggregations": {"mediatype": {"buckets": [{"key": "texts", "doc_count": 1}]}}}}})

    page = archive.search_catalogue(archive.plan_catalogue(Query(words="vale", rows=2, facets=True, sort="title")))

    assert sent() == {"service_backend": "metadata", "user_query": "(vale)", "hits_per_page": "2", "page": "1", "sort": "titleSorter:asc",
                      "fields": "identifier,title,creator,year,date,mediatype,downloads,language,publisher",
                      "aggregations": "year,mediatype,language,subject,creator,collection", "aggregations_size": "20"}
    assert page == Page(total=1, last_page=1, more=False,
                        records=(Record(identifier="archive:vale", title="Vale", media_type="texts", source_url="https://archive.org/details/vale"),),
                        facets=(Facet(field="mediatype", counts_what="items", values=(FacetValue(value="texts", count=1),)),))


@responses.activate
def test_an_error_in_place_of_rows_is_a_failure_of_the_catalogue(archive):
    responses.get(CATALOGUE, json={"error": "Solr request failed"})

    with pytest.raises(ArchiveUnreachable):
        archive.search_catalogue(archive.plan_catalogue(Query(words="x")))


@responses.activate
def test_a_page_that_begins_where_an_earlier_one_did_is_told(archive):
    responses.get(CATALOGUE, json={"response": {"numFound": 9, "start": 0, "docs": [{"identifier": "lantern"}]}})

    page = archive.search_catalogue(archive.plan_catalogue(Query(words="river", rows=1, page=2)))

    assert page.more is None
    assert "It was asked for page 2 and sent the rows from number 1 on, which an earlier page has." in page.notes


@responses.activate
def test_collections_carry_the_slug_that_a_search_takes(archive):
    responses.get(CATALOGUE, json={"response": {"numFound": 2, "docs": [
        {"identifier": "valelibrary", "title": "Vale Library", "item_count": "120", "description": "<p>Books &amp; maps.</p>"},
        {"identifier": "fishing"}]}})

    page = archive.browse_collections("vale:books", 25, 1)

    assert sent()["q"] == "(vale books) AND mediatype:collection"
    assert page == Page(total=2, last_page=1, more=False, notes=("Its counts of items are approximate.",), records=(
        Collection(slug="archive:valelibrary", title="Vale Library", description="Books & maps.", item_count=120,
                   source_url="https://archive.org/details/valelibrary"),
        Collection(slug="archive:fishing", source_url="https://archive.org/details/fishing")))


# ---- records -------------------------------------------------------------------------------------------------------

@responses.activate
def test_a_record_is_read_field_by_field(archive, record):
    """Subjects split on semicolons, HTML read as text, favourites left out, own bookkeeping counted (6 of 9 files)."""
    responses.get(METADATA, json=record())

    read = archive.read_record(VALE, ItemQuery())

    assert read.item == Item(
        identifier="archive:lanternvale00orri", title="The lantern of Vale", creator="Orrin, Tess, 1820-1889; Quill, Abel",
        creators=("Orrin, Tess, 1820-1889", "Quill, Abel"), year=1858, year_means=InternetArchive.catalogue.year_means, date="1858",
        media_type="texts", source_url="https://archive.org/details/lanternvale00orri",
        description="An account of three nights.\n\nWith a chart & a song.", notes=("1 of its files are private: listed, and not open to download.",),
        subjects=("Lanterns", "Rivers"), copies_available=2, generated_entries=7, language=("eng",), publisher="Quill & Daughter", place="Vale",
        rights=Rights(statement="Free of rights\nPossible copyright status: NOT_IN_COPYRIGHT\n"
                                "Licence: http://creativecommons.org/publicdomain/mark/1.0/",
                      url="http://creativecommons.org/publicdomain/mark/1.0/", covers="this item, as its depositor states it"),
        copies=(Copy(label="Lantern Vale.pdf", format="Text PDF", size_bytes=2048,
                     url="https://archive.org/download/lanternvale00orri/Lantern%20Vale.pdf"),
                Copy(label="LanternVale_jp2.zip (private: not open to download)", format="Single Page Processed JP2 ZIP",
                     url="https://archive.org/download/lanternvale00orri/LanternVale_jp2.zip")),
        context=(Related(identifier="archive:valelibrary", label="valelibrary", kind="collection",
                         source_url="https://archive.org/details/valelibrary"),
                 Related(identifier="openlibrary:OL900009W", label="OL900009W", kind="work in Open Library",
                         source_url="https://openlibrary.org/works/OL900009W")),
        contributors=(Contributor(name="Orrin, Tess, 1820-1889", role="creator"), Contributor(name="Quill, Abel", role="creator"),
                      Contributor(name="Quill, Abel", role="associated name"),
                      Contributor(name="Vale Library", role="contributor of the copy")),
        call_number="L 12", extent="5 page images", standard_numbers={"lccn": ("a 33000001",), "oclc": ("11600000",)})


@responses.activate
def test_an_empty_object_is_not_found(archive):
    responses.get(METADATA, json={})

    with pytest.raises(RecordNotFound) as caught:
        archive.read_record(VALE, ItemQuery())

    assert caught.value.hint == "Identifiers match case exactly; find the item with search_items."


@responses.activate
def test_a_withdrawn_item_exists(archive):
    responses.get(METADATA, json={"is_dark": True, "dir": "/7/items/lanternvale00orri"})

    read = archive.read_record(VALE, ItemQuery()).item
    page = archive.read_page(VALE, 4)

    assert (read.title, read.notes) == (None, ("This item exists, and the Internet Archive has withdrawn it: its record and files are not shown.",))
    assert (page.text, page.text_refused) == (None, "The Internet Archive has withdrawn this item; it exists, and nothing of it is open.")


@pytest.mark.parametrize(("body", "raised"), [({"error": "down for maintenance"}, ArchiveUnreachable), ([], UnreadableAnswer),
                                              ({"metadata": "text"}, UnreadableAnswer), ({"created": 1}, UnreadableAnswer)])
@responses.activate
def test_an_error_object_is_a_failure_and_another_shape_unreadable(archive, body, raised):
    responses.get(METADATA, json=body)

    with pytest.raises(raised):
        archive.read_record(VALE, ItemQuery())


@pytest.mark.parametrize(("metadata", "rights"), [
    ({}, SILENT),
    ({"access-restricted-item": "true", "licenseurl": "https://example.org/terms"},
     Rights(statement="Licence: https://example.org/terms", url="https://example.org/terms", covers="this item, as its depositor states it",
            note="The Internet Archive marks this item as restricted: it is lent or opened to some readers only.")),
    ({"rights": 'See <a href="https://example.org/t">the terms</a>', "collection": "inlibrary"},
     Rights(statement="See the terms", url="https://example.org/t", covers="this item, as its depositor states it",
            note="The Internet Archive marks this item as restricted: it is lent or opened to some readers only."))])
@responses.activate
def test_terms_are_those_stated_and_silence_is_no_permission(archive, record, metadata, rights):
    """Rule 11."""
    responses.get(METADATA, json=record(metadata=metadata))

    assert archive.read_record(VALE, ItemQuery()).item.rights == rights


@responses.activate
def test_odd_shapes_in_a_record_are_read_or_left_out(archive):
    responses.get(METADATA, json={"metadata": {"title": ["One", "Two"], "creator": None, "date": 1901, "subject": {"odd": 1}, "collection": "a b",
                                               "description": [1, None, "text"], "imagecount": "many"}, "files": ["text", {"name": None}]})

    read = archive.read_record(VALE, ItemQuery(sections=("pages",)))

    assert (read.item.title, read.item.creator, read.item.year, read.item.subjects, read.item.context, read.item.description) == (
        "One; Two", None, 1901, (), (), "text")
    assert (read.item.copies, read.item.generated_entries, read.item.pages, read.list_total) == ((), 2, (), None)


@pytest.mark.parametrize(("stated", "shown"), [
    ({"date": "1784 [i.e. 1874]", "year": "1784"}, (None, "1784 [i.e. 1874]")), ({"date": "1850s", "year": "1850"}, (None, "1850s")),
    ({"date": "0000-01-01", "year": "0"}, (None, None)), ({"date": "9999-12-31"}, (None, None)), ({"date": "1851-01-01"}, (1851, "1851")),
    ({"date": "1700", "year": "1862"}, (1862, "1700")), ({"year": 1862}, (1862, None)), ({"year": 15}, (None, None)),
    ({"publisher": "Vale : Quill, 1884"}, (None, "1884")),
])
@responses.activate
def test_a_year_cut_from_a_doubtful_date_is_as_doubtful(archive, stated, shown):
    responses.get(METADATA, json={"metadata": stated})

    item = archive.read_record(VALE, ItemQuery()).item

    assert (item.year, item.date) == shown


@responses.activate
def test_entities_are_read_once_and_before_anything_is_split(archive):
    """A semicolon that ends an entity parts no subjects; what is no entity stays as published."""
    responses.get(METADATA, json={"metadata": {
        "title": "the &lt;unknown&gt; author", "creator": ["Dupont &amp; fils", "AT&T"], "publisher": "Vale &amp; C&ordm; : R&amp;D; Son",
        "subject": "R&amp;D; &Eacute;tudes; Q&A; &amp;amp; &notit;"}})

    item = archive.read_record(VALE, ItemQuery()).item

    assert (item.title, item.creators, item.place, item.publisher, item.subjects) == (
        "the <unknown> author", ("Dupont & fils", "AT&T"), "Vale & Cº", "R&D; Son", ("R&D", "Études", "Q&A", "&amp", "&notit"))


@responses.activate
def test_an_excerpt_reads_its_entities_and_keeps_the_place_of_its_words(archive):
    responses.get(TEXT, json={"response": {"body": {"hits": {"total": 1, "hits": [{
        "fields": {"identifier": "a"}, "highlight": {"text": ["&amp; " * 40 + "the {{{light}}} &eacute;teinte"]}}]}}}})

    page = archive.search_text(archive.plan_text(Query(words="light", excerpt_chars=60)))

    found = page.records[0].excerpts[0]
    assert (found.text, [found.text[begin:end] for begin, end in found.at]) == ("…" + "& " * 20 + "the light éteinte", ["light"])


@responses.activate
def test_printed_numbers_are_joined_by_leaf_and_not_by_place(archive, record):
    """The list starts at leaf 1 and skips leaf 3; a printed number is the archive's guess, and its confidence is told."""
    responses.get(METADATA, json=record())

    read = archive.read_record(VALE, ItemQuery(sections=("pages",), list_offset=1, list_limit=2))

    assert read.item.pages == (
        PageEntry(page_number=2, page_number_is="leaf", printed_page="xii", source_url="https://archive.org/details/lanternvale00orri/page/leaf2"),
        PageEntry(page_number=4, page_number_is="leaf", printed_page="3", source_url="https://archive.org/details/lanternvale00orri/page/leaf4"))
    assert (read.list_total, read.notes) == (
        3, ("Printed page numbers are read by the Internet Archive's software, with a confidence of 61 in 100.",))


@responses.activate
@pytest.mark.parametrize("stated", [10**12, "999999999999", -3, "1e9"])
def test_an_absurd_number_of_images_is_no_number(archive, record, stated):
    """Leaves are counted up to it, so a thousand million million of them would fill the memory."""
    responses.get(METADATA, json=record(page_numbers=None, files=[], metadata={"imagecount": stated}))

    read = archive.read_record(VALE, ItemQuery(sections=("pages",)))

    assert (read.item.pages, read.list_total) == ((), None)


@responses.activate
def test_leaves_that_are_not_listed_are_counted_from_the_images(archive, record):
    """Without recognised text in the record, no leaf holds any."""
    responses.get(METADATA, json=record(page_numbers=None, files=[], metadata={"imagecount": "2"}))

    read = archive.read_record(VALE, ItemQuery(sections=("pages",)))

    assert read.item.pages == tuple(
        PageEntry(page_number=n, page_number_is="leaf", text_held=False, source_url=f"https://archive.org/details/lanternvale00orri/page/leaf{n}")
        for n in (0, 1))
    assert read.notes == ("Leaves are counted from the record's number of page images; the reader may hide some, such as a colour card.",)


@responses.activate
def test_leaves_are_listed_though_the_record_names_no_data_node(archive, record):
    """A list is read from the record alone; only the text of a leaf needs a host to ask."""
    responses.get(METADATA, json=record(server=None, workable_servers=None))

    read = archive.read_record(VALE, ItemQuery(sections=("pages",)))

    assert [page.page_number for page in read.item.pages] == [1, 2, 4]


@responses.activate
def test_a_document_of_a_bundle_reads_the_whole_record_and_says_so(archive, record):
    responses.get(METADATA, json=record())

    read = archive.read_record(replace(VALE, local="lanternvale00orri/LanternVale", file="LanternVale"), ItemQuery())

    assert (read.item.identifier, read.notes) == (
        "archive:lanternvale00orri", ("The whole record was read; 'LanternVale' is one document in it.",))


IMAGES = "https://iiif.archive.org/image/iiif/3/lanternvale00orri%2F"


@pytest.mark.parametrize(("names", "leaf_2"), [
    (["LanternVale00orri_jp2.zip"], "LanternVale00orri_jp2.zip%2FLanternVale00orri_jp2%2FLanternVale00orri_0002.jp2"),
    (["b_jp2.zip", "lanternvale00orri_jp2.zip", "c_jp2.zip"], "lanternvale00orri_jp2.zip%2Flanternvale00orri_jp2%2Flanternvale00orri_0002.jp2"),
    (["a_jp2.zip", "b c(1)_jp2.zip"], "b%20c(1)_jp2.zip%2Fb%20c(1)_jp2%2Fb%20c(1)_0002.jp2"),
    (["sub/é_jp2.zip"], "sub%2F%C3%A9_jp2.zip%2F%C3%A9_jp2%2F%C3%A9_0002.jp2"),
    (["a_tif.zip", "a_jp2.tar"], "a_jp2.tar%2Fa_jp2%2Fa_0002.jp2"), (["a_tif.zip"], "a_tif.zip%2Fa_tif%2Fa_0002.tif"),
    (["a_raw_jp2.zip", "a_orig_jp2.tar"], None), (["a#_jp2.zip"], None), (["a&b_jp2.zip"], None), (["../a_jp2.zip"], None), (["a.pdf"], None),
])
@responses.activate
def test_a_leafs_picture_has_the_address_of_its_bundle(archive, record, names, leaf_2):
    """The leaf's number stands in the file's name; the bundle of the item goes before any other."""
    responses.get(METADATA, json=record(files=[{"name": name} for name in names]))

    pages = archive.read_record(VALE, ItemQuery(sections=("pages",))).item.pages

    assert pages[2].image_url == (f"{IMAGES}{leaf_2}/full/max/0/default.jpg" if leaf_2 else None)


@pytest.mark.parametrize("closed", [
    {"metadata": {"collection": "inlibrary", "imagecount": 3}}, {"metadata": {"access-restricted-item": "true", "imagecount": 3}},
    {"files": [{"name": "lanternvale00orri_jp2.zip", "private": "true"}]}, {"is_dark": True}])
@responses.activate
def test_the_picture_of_a_book_that_is_lent_or_private_has_no_address(archive, record, closed):
    responses.get(METADATA, json=record(**{"files": [{"name": "lanternvale00orri_jp2.zip"}], **closed}))

    assert {page.image_url for page in archive.read_record(VALE, ItemQuery(sections=("pages",))).item.pages} == {None}


@responses.activate
def test_a_document_of_several_has_the_pictures_of_its_own_bundle(archive, record):
    names = ["lanternvale00orri_jp2.zip", "log 2_djvu.xml", "log 2_jp2.zip", "log 3_djvu.xml", "log 4_jp2.zip"]
    responses.get(METADATA, json=record(page_numbers=None, files=[{"name": name} for name in names]))
    responses.get(LEAF, body=leaf(1), content_type="text/xml")

    urls = [archive.read_page(replace(VALE, file=file), 1).image_url for file in ("log 2", "log 3")]

    assert urls == [f"{IMAGES}log%202_jp2.zip%2Flog%202_jp2%2Flog%202_0001.jp2/full/max/0/default.jpg", None]


# ---- pages ---------------------------------------------------------------------------------------------------------

@responses.activate
def test_a_leaf_is_asked_by_its_place_among_the_leaves_shown(archive, answer, record):
    """Leaf 4 stands third in the list, so reader page 2 is asked; lines and paragraphs stay as printed."""
    responses.get(METADATA, json=record())
    responses.get(LEAF, body=answer("archive/leaf.xml"), content_type="text/xml")

    page = archive.read_page(VALE, 4)

    assert sent(1) == {"path": "/7/items/lanternvale00orri/LanternVale_djvu.xml", "mode": "djvu_xml", "page": "2"}
    assert page == PageText(
        identifier="archive:lanternvale00orri", title="The lantern of Vale", page_number=4, page_number_is="leaf", printed_page="3", page_count=3,
        text="The lan-\ntern sank\n\nFin", source_url="https://archive.org/details/lanternvale00orri/page/leaf4", previous_page=2,
        item_identifier="archive:lanternvale00orri", rights=page.rights, sheet=page.sheet,
        notes=("Read as reader page 2 by the data node's one-page route (BookReaderGetTextWrapper); the answer names leaf 4.",
               "Printed page numbers are read by the Internet Archive's software, with a confidence of 61 in 100."))


@pytest.mark.parametrize(("came", "asked_pages"), [((4,), ["3"]), ((3, 4), ["3", "4"])])
@responses.activate
def test_another_leaf_is_corrected_once_by_the_difference(archive, record, came, asked_pages):
    """Without a list one hidden leaf in front is supposed; the leaf that the answer names decides."""
    responses.get(METADATA, json=record(page_numbers=None))
    for number in came:
        responses.get(LEAF, body=leaf(number), content_type="text/xml")

    page = archive.read_page(VALE, 4)

    assert [sent(n + 1)["page"] for n in range(len(came))] == asked_pages
    assert (page.page_number, page.previous_page, page.next_page) == (4, 3, None)


@responses.activate
def test_a_leaf_that_does_not_come_is_an_error_and_never_another_leafs_text(archive, record):
    responses.get(METADATA, json=record(page_numbers=None))
    responses.get(LEAF, body=leaf(1), content_type="text/xml")

    with pytest.raises(UnreadableAnswer) as caught:
        archive.read_page(VALE, 4)

    assert (caught.value.message, len(responses.calls)) == ("The text route answered with leaf 1 where leaf 4 was asked.", 3)


@responses.activate
def test_a_hidden_leaf_is_said_to_be_hidden(archive, record):
    responses.get(METADATA, json=record(page_numbers=None))
    responses.get(LEAF, body=leaf(1), content_type="text/xml")

    with pytest.raises(RecordNotFound) as caught:
        archive.read_page(VALE, 0)

    assert caught.value.message == "Leaf 0 is hidden: the reader's first page is leaf 1."


@responses.activate
def test_blank_image_only_refused_and_silent_are_four_different_answers(make_archive, record):
    """Blank: text "". Image only: no text held. Refused: held, not open. Silent: an error."""
    archive = make_archive(InternetArchive, cache_ttl_ms=0)
    files = [{"name": "LanternVale_djvu.xml", "private": "true"}]
    for body in (record(), record(files=[]), record(), record(files=files), record()):
        responses.get(METADATA, json=body)
    responses.get(LEAF, body=leaf(2), content_type="text/xml")
    responses.get(LEAF, body="<html>Forbidden</html>", status=403)
    responses.get(LEAF, body="<html>Not Found</html>", status=404)

    blank, image_only, refused, private = (archive.read_page(VALE, 2) for _ in range(4))

    assert (blank.text, blank.ocr_available, blank.text_refused) == ("", True, None)
    assert (image_only.text, image_only.ocr_available, image_only.text_refused) == (None, False, None)
    assert (refused.text, refused.ocr_available, refused.text_refused, refused.source_url) == (
        None, True, "The Internet Archive holds this text but does not open it to anonymous readers; open the page at its address.",
        "https://archive.org/details/lanternvale00orri/page/leaf2")
    assert (private.text, private.ocr_available, private.text_refused) == (
        None, True, "The record marks this text as private: held, and not open to anonymous readers. Open it at its address.")
    with pytest.raises(ArchiveUnreachable):
        archive.read_page(VALE, 2)


@pytest.mark.parametrize(("bad", "shown"), [
    ("&#31;", "\ufffd"), ("&#x1F;", "\ufffd"), ("\x1f", "\ufffd"), (" & ", " \ufffd "), ("&eacute;", "\ufffdeacute;"), ("&#x110000;", "\ufffd"),
    ("\ufffe", "\ufffd")])
@responses.activate
def test_one_forbidden_character_does_not_lose_the_page(archive, record, bad, shown):
    """What XML forbids stands as U+FFFD, and a note says so; what it allows is read as ever."""
    responses.get(METADATA, json=record(page_numbers=None))
    responses.get(LEAF, body=leaf(1).replace("</BODY>", "").replace("</OBJECT>", (
        f"<PARAGRAPH><LINE><WORD>Ein&#233;{bad}&amp;</WORD></LINE></PARAGRAPH></OBJECT>")), content_type="text/xml; charset=utf-8")

    page = archive.read_page(VALE, 1)

    assert page.text == f"Einé{shown}&"
    assert page.notes[-1] == "The page's file held characters that its format forbids; each stands as \ufffd in the text."


@responses.activate
def test_a_page_that_is_no_whole_xml_is_no_page(archive, record):
    responses.get(METADATA, json=record(page_numbers=None))
    responses.get(LEAF, body="<OBJECT><WORD>Ein", content_type="text/xml")

    with pytest.raises(UnreadableAnswer) as caught:
        archive.read_page(VALE, 1)

    assert caught.value.message == "The page of text is not well-formed XML."


@responses.activate
def test_a_leaf_the_record_does_not_list_is_not_asked(archive, record):
    responses.get(METADATA, json=record())

    with pytest.raises(RecordNotFound) as caught:
        archive.read_page(VALE, 3)

    assert (caught.value.message, caught.value.hint) == ("Leaf 3 is not among the 3 leaves of this document.", "Its leaves run from 1 to 4.")
    assert asked() == [METADATA]


@responses.activate
def test_a_bundle_without_its_document_is_refused_with_up_to_ten_spellings(archive, record):
    responses.get(METADATA, json=record(files=[{"name": f"log {n}_djvu.xml"} for n in range(12)]))

    with pytest.raises(InvalidInput) as caught:
        archive.read_page(VALE, 1)

    assert caught.value.message == "This item holds several documents; name the one to read."
    assert re.findall(r"archive:lanternvale00orri/\S+?(?=,| )", caught.value.hint) == [f"archive:lanternvale00orri/log%20{n}" for n in range(10)]
    assert caught.value.hint.endswith("(the first 10 of 12).")


@pytest.mark.parametrize("file", ["log 2", "log 2_djvu.txt", "log 2.pdf"])
@responses.activate
def test_a_document_of_a_bundle_is_read_by_its_own_name_or_a_file_of_it(archive, record, file):
    responses.get(METADATA, json=record(page_numbers=None, files=[{"name": "log 2_djvu.xml"}, {"name": "log 2_b_djvu.xml"}]))
    responses.get(LEAF, body=leaf(1), content_type="text/xml")

    page = archive.read_page(replace(VALE, file=file), 1)

    assert sent(1)["path"] == "/7/items/lanternvale00orri/log 2_djvu.xml"
    assert page.source_url == "https://archive.org/details/lanternvale00orri/log%202/page/leaf1"


@pytest.mark.parametrize("place", [{"server": "evil.example.org"}, {"server": "archive.org.example.org"}, {"server": None},
                                   {"dir": "/7/items/../../etc"}, {"dir": None},
                                   {"dir": "/7/items/.."}, {"dir": "/٧/items/a"}, {"server": "ia٦00001.us.archive.org"}])
@responses.activate
def test_only_a_data_node_of_the_archive_is_asked(archive, record, place):
    """Security: the record names the host, so its name is checked before anything is sent."""
    responses.get(METADATA, json=record(workable_servers=["127.0.0.1"], **place))

    with pytest.raises(UnreadableAnswer) as caught:
        archive.read_page(VALE, 2)

    assert caught.value.message == (
        f"The record does not say where its text could be read: its field {next(iter(place))} is not of the known form.")
    assert asked() == [METADATA]


@pytest.mark.parametrize("name", ["../../etc_djvu.xml", "a/../b_djvu.xml", "./x_djvu.xml", "a\x00_djvu.xml"])
@responses.activate
def test_a_file_whose_name_climbs_is_no_document(archive, record, name):
    responses.get(METADATA, json=record(page_numbers=None, files=[{"name": name}]))

    page = archive.read_page(VALE, 1)

    assert (page.ocr_available, asked()) == (False, [METADATA])


@responses.activate
def test_an_item_without_pages_is_refused_a_page(archive):
    """A recording has none; that is another answer than an image without text."""
    responses.get(METADATA, json={"metadata": {"mediatype": "audio"}, "files": [{"name": "a.mp3"}]})

    with pytest.raises(InvalidInput) as caught:
        archive.read_page(VALE, 1)

    assert (caught.value.message, caught.value.hint) == (
        "This item has no pages: its media type is audio.", "get_item lists its files (section copies).")


@responses.activate
def test_copies_are_what_a_person_reads(archive):
    """Files for programs, and the archive's own, are counted apart."""
    made = ["Dublin Core", "MARC", "MARC Binary", "Abbyy GZ", "hOCR", "chOCR", "Animated GIF", "Djvu XML", "Scandata"]
    read = ["Text PDF", "EPUB", "Full Text", "Single Page Processed JP2 ZIP", "VBR MP3", "Additional Text PDF"]
    responses.get(METADATA, json={"metadata": {}, "files": [{"name": form, "format": form} for form in (*made, *read)]})

    item = archive.read_record(VALE, ItemQuery(sections=("copies",))).item

    assert ([copy.format for copy in item.copies], item.copies_available, item.generated_entries) == (read, 6, 9)


# ---- searching inside one record -----------------------------------------------------------------------------------

@responses.activate
def test_passages_inside_a_record_carry_their_leaf(archive, answer, record):
    """Both styles of marks go; a paragraph's leaf may stand in its boxes alone; the count is of paragraphs."""
    responses.get(METADATA, json=record())
    responses.get(INSIDE, body=answer("archive/inside.json"))
    at = "https://archive.org/details/lanternvale00orri"

    found = archive.search_record(VALE, "lantern bell", 2)

    assert sent(1) == {"item_id": "lanternvale00orri", "doc": "LanternVale", "path": "/7/items/lanternvale00orri", "q": "lantern bell"}
    assert found.passages == (
        Passage(page_number=2, text="rowed by the lantern till morn- ing", source_url=f"{at}/page/leaf2?q=lantern+bell"),
        Passage(page_number=4, text="the bell rang", source_url=f"{at}/page/leaf4?q=lantern+bell"))
    assert (found.match_count, found.page.text, found.page.source_url) == (4, None, at)
    assert found.notes == ("Matches are counted by paragraph, and pages are leaves.",
                           "Words outside quotation marks are matched each for itself; quote a phrase to keep them together.",
                           "1 of 4 matches could not be read.")


@responses.activate
def test_an_error_beside_no_matches_is_a_failure(archive, record):
    """The service reports its own crash with status 200 and an empty list."""
    responses.get(METADATA, json=record())
    responses.get(INSIDE, json={"ia": None, "q": None, "indexed": True, "matches": [], "error": "Whoops! Traceback"})

    with pytest.raises(ArchiveUnreachable) as caught:
        archive.search_record(VALE, "bell", 2)

    assert "Traceback" not in caught.value.message


@pytest.mark.parametrize(("reply", "expected"), [
    ({"json": {"indexed": True, "matches": []}}, (0, None, True, ("Matches are counted by paragraph, and pages are leaves.",))),
    ({"json": {"indexed": False, "matches": []}},
     (None, None, True, ("The Internet Archive has not indexed this document's text, so it could not be searched.",))),
    ({"body": "Item not available"},
     (None, "The Internet Archive holds this text but does not let anonymous readers search it; open the item at its address.", True, ())),
    ({"body": "<html>Forbidden</html>", "status": 401},
     (None, "The Internet Archive holds this text but does not let anonymous readers search it; open the item at its address.", True, ()))])
@responses.activate
def test_no_match_not_indexed_and_not_open_are_different_answers(archive, record, reply, expected):
    responses.get(METADATA, json=record())
    responses.get(INSIDE, **reply)

    found = archive.search_record(VALE, "bell", 2)

    assert (found.match_count, found.page.text_refused, found.page.ocr_available, found.notes) == expected


@responses.activate
def test_a_record_without_recognised_text_is_not_searched(archive, record):
    responses.get(METADATA, json=record(files=[]))

    found = archive.search_record(VALE, "bell", 2)

    assert (found.match_count, found.page.ocr_available, asked()) == (None, False, [METADATA])


# ---- identifiers ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("address", "local", "file", "page"), [
    ("https://archive.org/details/lanternvale00orri", "lanternvale00orri", None, None),
    ("http://www.archive.org/details/lanternvale00orri/page/leaf24/mode/2up?q=bell", "lanternvale00orri", None, 24),
    ("https://archive.org/details/valebundle1862/log%201/mode/1up", "valebundle1862/log%201", "log 1", None),
    ("https://archive.org/details/valebundle1862/log%201/page/leaf3?view=theater", "valebundle1862/log%201", "log 1", 3),
    ("https://archive.org/stream/lanternvale00orri/LanternVale_djvu.txt", "lanternvale00orri/LanternVale_djvu.txt", "LanternVale_djvu.txt", None),
    ("https://archive.org/download/lanternvale00orri/sub/plate.jpg", "lanternvale00orri/sub/plate.jpg", "sub/plate.jpg", None),
    ("https://archive.org/metadata/lanternvale00orri/files", "lanternvale00orri", None, None),
    ("https://archive.org/embed/lanternvale00orri", "lanternvale00orri", None, None),
    ("https://archive.org/details/@quill", "@quill", None, None),
    ("https://ia601302.us.archive.org/31/items/lanternvale00orri/LanternVale.pdf", "lanternvale00orri/LanternVale.pdf", "LanternVale.pdf", None),
    ("https://dn790002.ca.archive.org/0/items/lanternvale00orri", "lanternvale00orri", None, None),
    ("https://iiif.archive.org/iiif/3/lanternvale00orri/manifest.json", "lanternvale00orri", None, None),
    ("https://iiif.archive.org/iiif/lanternvale00orri$4/canvas", "lanternvale00orri", None, None),
    ("https://iiif.archive.org/image/iiif/3/lanternvale00orri%2Fa_jp2.zip%2Fa_jp2%2Fa_0024.jp2/full/max/0/default.jpg", "lanternvale00orri", None, 24)])
def test_an_address_of_a_record_is_read(address, local, file, page):
    read_as = None if page is None else f"read as archive:{local}, leaf {page}; get_item reads the whole record, read_text the leaf"
    assert InternetArchive.read_address(urlsplit(address)) == Reference(source="archive", local=local, file=file, page=page, read_as=read_as)


@pytest.mark.parametrize("address", ["https://archive.org/details/vale/page/n23/mode/2up", "https://archive.org/details/vale/page/145",
                                     "https://archive.org/details/vale#page/n23/mode/2up",
                                     "https://archive.org/stream/vale#page/n23/mode/2up"])
def test_a_readers_page_is_no_leaf_and_is_left_aside_saying_so(address):
    """/page/n23 is the 24th page shown, /page/145 a printed number: neither is a leaf without asking."""
    reference = InternetArchive.read_address(urlsplit(address))

    assert (reference.local, reference.page) == ("vale", None)
    assert "is no leaf; it was left aside" in (reference.read_as or "")


@pytest.mark.parametrize("address", ["https://web.archive.org/web/2020/https://example.org/", "https://archive.org/web/2020/https://example.org/"])
def test_a_capture_of_a_web_page_is_no_item(address):
    with pytest.raises(InvalidInput, match="is a capture of a web page"):
        InternetArchive.read_address(urlsplit(address))


@pytest.mark.parametrize("address", [
    "https://archive.org/", "https://archive.org/search?query=lantern", "https://archive.org/details/", "https://archive.org/details/a%20b",
    "https://archive.org/details/vale/..%2F..%2Fetc", "https://ia601302.us.archive.org/fulltext/inside.php?item_id=vale"])
def test_an_address_of_no_record_is_refused(address):
    with pytest.raises(InvalidInput):
        InternetArchive.read_address(urlsplit(address))


@pytest.mark.parametrize("local", ["", "-vale", "v" * 101, "vale/../x", "vale/%2e%2e", "vale/a%0Ab", "https:", "v\u00e4le"])
def test_an_identifier_outside_the_grammar_is_refused(local):
    with pytest.raises(InvalidInput):
        InternetArchive.read_identifier(local)


def test_a_leaf_named_in_an_identifier_is_a_page_and_said_to_be():
    """get_item reads the whole record, so it must not drop the page in silence."""
    assert InternetArchive.read_identifier("vale/page/leaf7") == Reference(
        source="archive", local="vale", page=7,
        read_as="read as archive:vale, leaf 7; get_item reads the whole record, read_text the leaf")


def test_an_ark_is_refused_with_the_way_to_its_item():
    with pytest.raises(InvalidInput) as caught:
        InternetArchive.read_identifier("ark:/13960/t0000000x")

    assert (caught.value.message, caught.value.hint) == ("This is no identifier of the Internet Archive.", (
        "An ark is no item's identifier; search_items finds the item that states it, with native_query "
        'identifier-ark:"ark:/13960/…".'))


@pytest.mark.parametrize("answer", [
    {"responseHeader": {"status": 503}, "response": {"numFound": 0, "docs": []}},
    {"responseHeader": {"status": 0, "partialResults": True}, "response": {"numFound": 0, "docs": []}},
    {"response": {"body": {"_shards": {"total": 5, "failed": 2}, "hits": {"total": 0, "hits": []}}}},
    {"response": {"body": {"timed_out": True, "hits": {"total": 0, "hits": []}}}}])
@responses.activate
def test_no_rows_of_a_part_of_the_index_are_no_absence(archive, answer):
    """A search that says it failed, or read a part and found nothing there, could not search."""
    responses.get(CATALOGUE, json=answer)

    with pytest.raises(ArchiveUnreachable) as caught:
        archive.search_catalogue(archive.plan_catalogue(Query(words="lantern")))

    assert caught.value.message == "The Internet Archive could not search. It gave no reason."


@responses.activate
def test_an_answer_that_is_whole_and_empty_is_an_absence(archive):
    responses.get(CATALOGUE, json={"responseHeader": {"status": 0}, "response": {"numFound": 0, "docs": []}})

    assert archive.search_catalogue(archive.plan_catalogue(Query(words="lantern", page=3))) == Page(total=0, more=False)


def test_the_credit_carries_the_date_of_retrieval():
    """Rule 15."""
    assert InternetArchive.attribution("2026-11-03T09:00:00Z") == "Internet Archive, https://archive.org, retrieved 2026-11-03"


@pytest.mark.parametrize(("file", "address"), [(None, "https://archive.org/details/vale/page/leaf7"),
                                               ("log 2", "https://archive.org/details/vale/log%202/page/leaf7")])
def test_a_leaf_is_cited_at_its_own_address(file, address):
    reference = Reference(source="archive", local="vale" + ("/log%202" if file else ""), file=file, page=7)

    assert InternetArchive.page_address(Item(identifier="", source_url=""), reference) == address
