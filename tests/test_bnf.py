"""data.bnf.fr: words that cannot act, answers told apart, records grouped, identifiers checked."""
from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import responses

from sources.archives.bnf import ENDPOINT, JSON_RESULTS, STATEMENTS_OF_A_RECORD, DataBnf, contains, required_words
from sources.archives.bnf_records import Term, Thing, read_heading, read_item
from sources.contract import Contributor, Copy, Edition, Heading, ItemQuery, Query, Record, Related, Request, Rights
from sources.errors import ArchiveUnreachable, InvalidInput, RecordNotFound, SourceError, TimedOut, UnreadableAnswer

Make = Callable[..., DataBnf]
Answer = Callable[[str], str]

WORK, OTHER_WORK = "cb90000101m", "cb90000102z"  # invented; each ends in its own check character
PERSON, EDITION, HEADING = "cb90000201w", "cb90000302h", "cb90000401f"
TEMPORARY = "temp-work/0f1e2d3c4b5a69788796a5b4c3d2e1f0"
PAGE = "https://data.bnf.fr/ark:/12148/"


def answers_with(*bodies: str, headers: dict[str, str] | None = None) -> None:
    for body in bodies:
        responses.post(ENDPOINT, body=body, headers=headers, content_type=f"{JSON_RESULTS}; charset=UTF-8")


def asked(number: int = 0) -> str:
    """The SPARQL text of a request, from its SELECT on."""
    body = responses.calls[number].request.body
    text = parse_qs(body if isinstance(body, str) else (body or b"").decode())["query"][0]
    return text[text.index("SELECT"):]


def search(archive: DataBnf, query: Query) -> Any:
    return archive.search_catalogue(archive.plan_catalogue(query))


# ---- words ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("typed", "words"), [
    ("L’horloge des marais", ("L'horloge", "des", "marais")),
    ("Charleville\u2010Mézières", ("Charleville-Mézières",)),
    ("rimbaud'OR'hugo", ("rimbaud'OR'hugo",)),
    ('("vent" AND octobre) OR x* \\ NOT', ("vent", "AND", "octobre", "OR", "x", "NOT")),
    ("ze\u0301ro wi\u00addth\u200b \u202e mark", ("zéro", "width", "mark")),
    ("Тіні 沼泽 हिन्दी", ("Тіні", "沼泽", "हिन्दी")),
    ("-- '' ' !? ", ()),
    ("x" * 80, ("x" * 60,)),
])
def test_of_what_was_typed_only_words_remain(typed: str, words: tuple[str, ...]) -> None:
    """Letters, digits and marks of any script, an apostrophe or hyphen inside; invisible characters leave no trace."""
    assert required_words(typed) == (words, 0)


def test_a_question_of_more_than_twelve_words_is_cut_and_says_how_many_were_left_off() -> None:
    """Twelve words are required; more have only ever been given up by the service."""
    assert required_words(" ".join(str(number) for number in range(15))) == (tuple(str(number) for number in range(12)), 3)


def test_nothing_typed_can_act_as_an_operator() -> None:
    """Each word stands between single quotes with inner ones doubled, joined by AND, and the whole is one SPARQL string."""
    assert contains(("rimbaud'OR'hugo", "AND", 'a"b\\c')) == "\"'rimbaud''OR''hugo' AND 'AND' AND 'a\\\"b\\\\c'\""


@responses.activate
def test_a_question_without_a_word_is_refused_before_any_request(make_archive: Make) -> None:
    """Marks alone would be a search for everything."""
    with pytest.raises(InvalidInput) as refusal:
        search(make_archive(DataBnf), Query(words="?! --"))

    assert refusal.value.message == "data.bnf.fr: no word is left to search for."
    assert len(responses.calls) == 0


@responses.activate
@pytest.mark.parametrize(("typed", "fields", "notes"), [
    ("horloge marais", {}, ()),
    ("O'Brien", {}, ("data.bnf.fr required each of these words, in any order: O, Brien.",)),
    ('"horloge"', {"title": "des marais"}, ("data.bnf.fr required each of these words, in any order: horloge, des, marais.",)),
])
def test_the_words_really_required_are_shown_when_they_are_not_what_was_typed(
        make_archive: Make, answer: Answer, typed: str, fields: dict[str, str], notes: tuple[str, ...]) -> None:
    """An apostrophe splits a word for this index, and quotation marks do not bind."""
    answers_with(answer("bnf/works-none.json"))

    page = search(make_archive(DataBnf), Query(words=typed, fields=fields))

    assert page.notes == notes


# ---- asking --------------------------------------------------------------------------------------------------------

@responses.activate
def test_the_text_index_drives_the_query_and_both_orders_stand_in_it(make_archive: Make, answer: Answer) -> None:
    """The window of 400 with its triple before bif:contains, the class outside it, one row more than asked, two ORDER BY."""
    answers_with(answer("bnf/works.json"))
    window = ("{ SELECT ?thing WHERE { ?thing dcterms:title ?text . ?text bif:contains \"'horloge' AND 'marais'\" } LIMIT 400 }")

    search(make_archive(DataBnf), Query(words="horloge marais", rows=5, page=3))

    assert asked() == f"""SELECT ?thing ?p ?o ?name ?counted WHERE {{
  {{ SELECT (COUNT(*) AS ?counted) WHERE {{ {window} }} }}
  UNION
  {{ {{ SELECT DISTINCT ?thing WHERE {{ {window} ?thing a rdafrbr:Work }} ORDER BY ?thing LIMIT 6 OFFSET 10 }}
    ?thing ?p ?o . FILTER (?p IN (dcterms:title, dcterms:creator, dcterms:date, dcterms:language, bnf:firstYear, \
rdae:statusOfIdentification))
    OPTIONAL {{ ?o foaf:name ?name }} }}
}} ORDER BY ?thing LIMIT 5000"""


@responses.activate
def test_json_is_asked_for_twice_by_post_and_once_is_enough(make_archive: Make, answer: Answer) -> None:
    """With the Accept header alone the service has answered XML."""
    answers_with(answer("bnf/works.json"))

    search(make_archive(DataBnf), Query(words="horloge"))

    [call] = responses.calls
    assert call.request.method == "POST"
    assert call.request.headers["Accept"] == JSON_RESULTS
    body = call.request.body
    assert parse_qs(body if isinstance(body, str) else body.decode())["format"] == [JSON_RESULTS]


@responses.activate
@pytest.mark.parametrize(("body", "headers", "error", "message"), [
    ("", {}, TimedOut, "data.bnf.fr gave the query up and sent an empty answer."),
    ("\n \t", {}, TimedOut, "data.bnf.fr gave the query up and sent an empty answer."),
    ("Virtuoso 37000 Error SP030: SPARQL compiler, line 4: syntax error", {}, InvalidInput,
     "data.bnf.fr refused the query: it could not be compiled (Virtuoso state 37000)."),
    ("Virtuoso 42000 Error The estimated execution time exceeds the limit", {}, TimedOut, "data.bnf.fr began the query and gave it up."),
    ("<sparql xmlns='http://www.w3.org/2005/sparql-results#'/>", {}, UnreadableAnswer,
     "data.bnf.fr sent a page of markup where data was due."),
    ('{"head": {}, "results": {}}', {}, UnreadableAnswer, "data.bnf.fr sent an answer without rows of results."),
    ('{"results": {"bindings": []}}', {}, UnreadableAnswer, "data.bnf.fr sent a list without the count asked beside it."),
    ('{"results": {"bindings": []}}', {"X-SQL-State": "S1TAT"}, UnreadableAnswer,
     "data.bnf.fr cut its answer at its own time limit, so part of it is missing."),
])
def test_a_200_that_is_no_answer_is_a_failure_and_never_nothing_found(
        make_archive: Make, body: str, headers: dict[str, str], error: type[SourceError], message: str) -> None:
    """Compile error, give-up and unreadable answer are told apart; the archive is named."""
    answers_with(body, headers=headers)

    with pytest.raises(error) as failure:
        search(make_archive(DataBnf), Query(words="horloge"))

    assert (failure.value.message, failure.value.archive) == (message, "bnf")


@responses.activate
def test_a_service_that_is_gone_is_a_failure_and_no_record_missing(make_archive: Make) -> None:
    """One address answers everything, so its 404 says nothing of what was asked."""
    responses.post(ENDPOINT, status=404, body="<html>Not Found</html>")

    with pytest.raises(ArchiveUnreachable) as caught:
        search(make_archive(DataBnf), Query(words="marais"))

    assert (caught.value.code, caught.value.status) == ("network_error", 404)


@responses.activate
def test_a_give_up_is_not_kept(make_archive: Make, answer: Answer) -> None:
    """The same question asked again goes out again, and its answer counts."""
    answers_with("", answer("bnf/works.json"))
    archive = make_archive(DataBnf)

    with pytest.raises(TimedOut):
        search(archive, Query(words="horloge"))
    page = search(archive, Query(words="horloge"))

    assert len(page.records) == 3


# ---- rows ----------------------------------------------------------------------------------------------------------

@responses.activate
def test_the_statements_about_one_work_become_one_row(make_archive: Make, answer: Answer) -> None:
    """Two creators, one row; a year only from the library's own year field; provisional as stated, else from the address."""
    answers_with(answer("bnf/works.json"))

    page = search(make_archive(DataBnf), Query(words="horloge marais", rows=3))

    assert page.records == (
        Record(identifier=f"bnf:{WORK}", title="L'horloge des marais", creator="Odile Ferrand-Quint; José Tabarin",
               year=1897, span=("1897-01-01", "1897-12-31"), date="1897", media_type="work", source_url=PAGE + WORK,
               identifier_provisional=False, languages=("fre",), author_identifiers=(f"bnf:{PERSON}", "bnf:cb900002027")),
        Record(identifier=f"bnf:{OTHER_WORK}", title="Horloge au-dessus du marais", date="18..-1904 ?", media_type="work",
               source_url=PAGE + OTHER_WORK),
        Record(identifier=f"bnf:{TEMPORARY}", title="Autour de « L'horloge des marais »", media_type="work",
               source_url=f"https://data.bnf.fr/{TEMPORARY}/", identifier_provisional=True, author_identifiers=("bnf:cb90000203k",)),
    )
    assert (page.total, page.skipped, page.more, page.beyond, page.notes) == (None, 0, False, None, ())


def about(local: str, **statements: list[str]) -> Thing:
    """A thing with literal statements, `bnf_firstYear` standing for bnf:firstYear."""
    return Thing(address=f"http://data.bnf.fr/{local}", statements={
        name.replace("_", ":", 1): [Term(value=value) for value in values] for name, values in statements.items()})


@pytest.mark.parametrize(("stated", "year"), [
    (["1897"], 1897), (["1897", "1904"], None), (["0"], None), (["-51"], None), (["18.."], None), ([], None),
])
def test_a_year_is_one_stated_number_or_none(stated: list[str], year: int | None) -> None:
    """Two years are a doubt; below 1 nothing says how the service counts; a text with dots is no number."""
    assert about(f"ark:/12148/{WORK}#about", bnf_firstYear=stated).year() == year


@pytest.mark.parametrize(("local", "status", "provisional"), [
    (f"{TEMPORARY}/#about", [], True), (f"{TEMPORARY}/#about", ["fully established"], False),
    (f"ark:/12148/{WORK}#about", ["provisional"], True),
    (f"ark:/12148/{WORK}#about", [], None), (f"ark:/12148/{WORK}#about", ["identification en cours"], None),
])
def test_what_the_library_says_of_an_identifier_wins_over_its_shape(local: str, status: list[str], provisional: bool | None) -> None:
    """A machine-made address without a statement is provisional; an ark without one is not said to be anything."""
    assert about(local, rdae_statusOfIdentification=status).provisional() is provisional


@responses.activate
def test_a_cell_of_any_shape_costs_at_most_its_own_row(make_archive: Make) -> None:
    """null, numbers, lists and bare texts where cells are due; a number and a list of texts are read where a text is due."""
    thing = {"type": "uri", "value": f"http://data.bnf.fr/ark:/12148/{WORK}#about"}
    rows: list[Any] = [
        {"counted": {"value": 3}}, None, 7, [], "x", {"thing": None, "p": thing, "o": thing},
        {"thing": thing, "p": "dcterms:title", "o": {"value": "x"}},
        {"thing": thing, "p": {"value": "http://purl.org/dc/terms/date"}, "o": {"value": 1897, "xml:lang": None}},
        {"thing": thing, "p": {"value": "http://purl.org/dc/terms/title"}, "o": {"value": ["Marais"]}, "name": []},
    ]
    answers_with(json.dumps({"results": {"bindings": rows}}))

    page = search(make_archive(DataBnf), Query(words="marais"))

    assert page.records == (Record(identifier=f"bnf:{WORK}", title="Marais", date="1897", media_type="work",
                                   source_url=PAGE + WORK),)
    assert page.skipped == 6


@responses.activate
def test_a_page_shows_what_was_asked_and_whether_more_follows(make_archive: Make, answer: Answer) -> None:
    """One row more than wanted is asked for; it proves a further page and is not shown on this one."""
    answers_with(answer("bnf/works.json"))

    page = search(make_archive(DataBnf), Query(words="horloge marais", rows=2))

    assert ([record.identifier for record in page.records], page.more) == ([f"bnf:{WORK}", f"bnf:{OTHER_WORK}"], True)


@responses.activate
def test_a_full_window_is_told_and_leaves_more_unknown(make_archive: Make, answer: Answer) -> None:
    """400 matches read of nobody knows how many: two readings may differ, and the end of the list proves nothing."""
    answers_with(answer("bnf/works-window-full.json"))

    page = search(make_archive(DataBnf), Query(words="marais", rows=5))

    assert page.more is None
    assert page.notes == ("The words match at least 400 titles of works and editions, and only the first 400 are read, in no "
                          "order; other works may match, and a second reading may differ. More words narrow it.",)


@responses.activate
def test_a_full_window_without_a_work_is_no_absence(make_archive: Make, answer: Answer) -> None:
    """Only editions were among the 400 read, so more words are needed, not fewer."""
    answers_with(answer("bnf/works-none.json").replace('"value": "0"', '"value": "400"'))

    with pytest.raises(InvalidInput) as refused:
        search(make_archive(DataBnf), Query(words="marais"))

    assert (refused.value.message, refused.value.hint) == (
        "The words match at least 400 titles, and no work is among the first 400, which alone are read: whether a work has them is not known.",
        "Use more words.")


@responses.activate
def test_a_later_page_of_a_full_window_is_not_called_past_the_last(make_archive: Make, answer: Answer) -> None:
    answers_with(answer("bnf/works-none.json").replace('"value": "0"', '"value": "400"'))

    page = search(make_archive(DataBnf), Query(words="marais", page=2))

    assert page.beyond == "data.bnf.fr is read up to the first 400 matches of the words, and this page lies past them."


@responses.activate
def test_a_page_past_the_window_is_beyond_and_costs_no_request(make_archive: Make) -> None:
    """Page 81 of five rows starts at the 401st: nothing the service can be asked for."""
    page = search(make_archive(DataBnf), Query(words="marais", rows=5, page=81))

    assert page.beyond == "data.bnf.fr is read up to the first 400 matches of the words, and this page lies past them."
    assert len(responses.calls) == 0


@responses.activate
def test_an_empty_later_page_is_past_the_last_and_not_an_absence(make_archive: Make, answer: Answer) -> None:
    """Zero on page 1 is an answer; zero on page 2 is an end."""
    answers_with(answer("bnf/works-none.json"), answer("bnf/works-none.json"))
    archive = make_archive(DataBnf)

    first, second = (search(archive, Query(words="marais", page=page)) for page in (1, 2))

    assert (first.records, first.beyond, first.more) == ((), None, False)
    assert second.beyond == "data.bnf.fr has no further work for these words: this page lies past the last."


@responses.activate
def test_one_unreadable_row_is_counted_and_the_others_stand(make_archive: Make, answer: Answer) -> None:
    """One row without a statement and one about another site: two skipped, one kept."""
    answers_with(answer("bnf/works-one-unreadable.json"))

    page = search(make_archive(DataBnf), Query(words="marais"))

    assert ([record.identifier for record in page.records], page.skipped) == ([f"bnf:{OTHER_WORK}"], 2)


@responses.activate
def test_rows_of_which_none_can_be_read_are_an_unreadable_answer(make_archive: Make, answer: Answer) -> None:
    """Never told as nothing found."""
    answers_with(answer("bnf/works-all-unreadable.json"))

    with pytest.raises(UnreadableAnswer):
        search(make_archive(DataBnf), Query(words="marais"))


# ---- what is sent, dropped, absent ---------------------------------------------------------------------------------

def test_every_narrowing_this_search_cannot_carry_is_dropped_with_its_reason() -> None:
    """Only the words of a title are sent; dates are reported under the names the caller used."""
    fields = {"title": '"horloge des marais"', "creator": "Quint", "subject": "Marais", "publisher": "P", "place": "Niort", "language": "fr"}

    plan = DataBnf.plan_catalogue(Query(words="horloge", fields=fields, media_type="work", date_from="1890", date_to="1900",
                                        bound_names=("year_from", "year_to"), sort="newest", facets=True, availability=True))

    assert plan.sent == (("title", "words required in the title of the work; quotation marks do not bind them"),)
    assert [name for name, _ in plan.dropped] == ["creator", "subject", "publisher", "place", "language", "year_from", "year_to",
                                                  "sort", "facets", "availability"]
    assert all(reason for _, reason in plan.dropped)
    assert (plan.absent_because, plan.media_type_asked, plan.ordered_on) == (None, "work", None)


@pytest.mark.parametrize(("query", "because"), [
    (Query(words="x", fields={"isbn": "9780000000002"}),
     "data.bnf.fr files an ISBN under editions, with hyphens that cannot be guessed; its search reads titles of works."),
    (Query(words="x", fields={"lccn": "1"}), "data.bnf.fr files no Library of Congress numbers."),
    (Query(words="x", fields={"oclc": "1"}), "data.bnf.fr files no OCLC numbers."),
    (Query(words="x", fields={"collection": "loc:maps"}), "data.bnf.fr has no collections in this sense."),
    (Query(words="x", native=True), "data.bnf.fr takes no query in a syntax of its own here."),
    (Query(fields={"subject": "Phares"}),
     "Nothing is left to search on: the search reads titles alone, no subjects; bnfcatalogue and gallica take RAMEAU headings as subject."),
    (Query(media_type="work"), "Nothing is left to search on: the search needs words of a title."),
    (Query(fields={"creator": "Quint"}),
     "Nothing is left to search on: the search reads titles alone; search_headings (kind person), then get_item with the section "
     "editions, lists the works of a person."),
])
def test_what_it_cannot_apply_or_search_on_makes_it_absent(query: Query, because: str) -> None:
    """An identifying field is never dropped, and no question is no search."""
    assert DataBnf.plan_catalogue(query) == Request(query=query, absent_because=because)


# ---- identifiers ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("written", "local"), [
    (WORK, WORK), (f"ark:/12148/{WORK}", WORK), (TEMPORARY, TEMPORARY), (TEMPORARY + "/", TEMPORARY), ("90000101", WORK),
    ("FRBNF90000101", WORK), ("cc00000x0", "cc00000x0"),
])
def test_an_ark_a_provisional_work_and_a_record_number_are_read(written: str, local: str) -> None:
    """A record number is an ark without its check character, which follows from it."""
    assert DataBnf.read_identifier(written).local == local


@pytest.mark.parametrize(("address", "local"), [
    (f"https://data.bnf.fr/ark:/12148/{WORK}", WORK),
    (f"http://data.bnf.fr/ark:/12148/{WORK}#about", WORK),
    (f"https://data.bnf.fr/fr/ark:/12148/{WORK}", WORK),
    (f"https://data.bnf.fr/ark%3A/12148/{WORK}.rdf", WORK),
    ("https://data.bnf.fr/fr/90000101/l_horloge_des_marais/", WORK),
    ("https://data.bnf.fr/90000101/l_horloge_des_marais/rdf.xml", WORK),
    ("https://data.bnf.fr/en/90000201/odile_ferrand-quint/", PERSON),
    (f"https://data.bnf.fr/{TEMPORARY}/", TEMPORARY),
])
def test_a_page_address_names_the_record(address: str, local: str) -> None:
    """No request is needed: the ark stands in the address or follows from the record number."""
    reference = DataBnf.read_address(urlsplit(address))

    assert reference.local == local
    assert reference.read_as


@pytest.mark.parametrize("written", ["cb90000101n", "cb90000110m", "ark:/12148/cb9000010m", "bpt6k5738219s", "horloge", "temp-work/../x",
                                     f"{WORK}/date", "cb9000010１m"])
def test_an_identifier_nobody_mints_is_refused(written: str) -> None:
    """A wrong character, two digits swapped, one missing, another archive's ark, a word, a climbing path."""
    with pytest.raises(InvalidInput):
        DataBnf.read_identifier(written)


def test_a_mistyped_ark_is_refused_with_that_reason() -> None:
    """The last character of an ark follows from the others, so no request is needed to know."""
    with pytest.raises(InvalidInput) as refusal:
        DataBnf.read_identifier("cb90000110m")

    assert refusal.value.message == "This ark does not end in its own check character, so one of its characters is mistyped."


@pytest.mark.parametrize("address", ["https://data.bnf.fr/sparql", "https://data.bnf.fr/", "https://data.bnf.fr/ark:/12148/bpt6k5738219s"])
def test_an_address_that_names_no_record_is_refused(address: str) -> None:
    """A search page, the front page, a document of Gallica."""
    with pytest.raises(InvalidInput):
        DataBnf.read_address(urlsplit(address))


# ---- records -------------------------------------------------------------------------------------------------------

def read(archive: DataBnf, local: str, *sections: str, offset: int = 0, limit: int = 50) -> Any:
    wanted = ItemQuery(sections=sections or ("description",), list_offset=offset, list_limit=limit)
    return archive.read_record(DataBnf.read_identifier(local), wanted)


@responses.activate
def test_the_thing_its_record_and_its_version_are_read_in_one_request(make_archive: Make, answer: Answer) -> None:
    """Dates and names stand at #about, notes and matches on the record, roles at #Expression: reading one misses the rest."""
    answers_with(answer("bnf/record-work.json"))

    read(make_archive(DataBnf), WORK)

    record = f"http://data.bnf.fr/ark:/12148/{WORK}"
    assert len(responses.calls) == 1
    assert asked() == f"""SELECT ?p ?o ?name ?heading ?title WHERE {{
  {{ <{record}#about> ?p ?o }} UNION {{ <{record}> ?p ?o }} UNION {{ <{record}#Expression> ?p ?o }}
  OPTIONAL {{ ?o foaf:name ?name }} OPTIONAL {{ ?o skos:prefLabel ?heading }} OPTIONAL {{ ?o dcterms:title ?title }}
}} LIMIT 2000"""


@responses.activate
def test_a_work_is_read_with_its_own_words_kept_apart(make_archive: Make, answer: Answer) -> None:
    """Prose once each, Dewey classes beside headings beside words, roles with codes where no name is verified."""
    answers_with(answer("bnf/record-work.json"))

    page = read(make_archive(DataBnf), WORK)

    item = page.item
    assert (item.identifier, item.title, item.creator, item.year, item.year_means, item.date, item.media_type, item.source_url) == (
        f"bnf:{WORK}", "L'horloge des marais", "Odile Ferrand-Quint", 1897, "the first year the library states for this work", "1897",
        "work", PAGE + WORK)
    assert item.description == "Un horloger remonte les canaux d'un marais.\n\nRoman"
    assert item.description_means == "the abstract and notes of the library's record"
    assert item.subjects == ("Dewey class 843", "Marais -- Dans la littérature", "heading bnf:cb90000402s, its form not stated",
                             "Littératures")
    assert item.contributors == (
        Contributor(name="Odile Ferrand-Quint", role="creator", identifier=f"bnf:{PERSON}"),
        Contributor(name="Ilse Mähr", role="translator", identifier="bnf:cb90000204x"),
        Contributor(name="Atelier du Passage", role="r9999"))
    assert item.notes == (
        "This record describes a work as an entity; its editions are records of their own.",
        "Further titles: The clock of the fens", "Form of work, in the library's own codes: te, roman",
        "Creators given by address alone: 1; the section context shows them.")
    assert item.standard_numbers == {"frbnf": ("90000101",), "ark": (f"ark:/12148/{WORK}",)}
    assert (item.language, item.creators, page.list_total, page.notes) == (("fre",), ("Odile Ferrand-Quint",), None, ())


def test_published_values_are_never_joined_to_a_full_stop() -> None:
    """`19..` is a death of the twentieth century; `19...` is nothing."""
    item = read_item(WORK, about(WORK, bio_death=["19.."]), ())

    assert item.notes[-1] == "Died, as published: 19.."


def test_of_many_titles_and_forms_it_is_said_how_many_there_are() -> None:
    """Ten are shown: of fifteen titles one is the title, and fourteen are left."""
    titles, forms = [f"Titre {letter}" for letter in "abcdefghijklmno"], [f"Forme {number}" for number in range(12)]

    item = read_item(WORK, about(WORK, dcterms_title=titles, skos_altLabel=forms), ())

    assert item.title == "Titre a"
    assert item.notes[-2:] == ("Further titles (10 of 14): " + "; ".join(titles[1:11]), "Other forms (10 of 12): " + "; ".join(forms[:10]))


def test_a_person_without_a_preferred_form_is_filed_under_the_name() -> None:
    thing = Thing(address=f"http://data.bnf.fr/ark:/12148/{PERSON}", statements={
        "foaf:focus": [Term(value=f"http://data.bnf.fr/ark:/12148/{PERSON}#about", is_address=True, name="Odile Quint")]})

    heading = read_heading(thing, "odile quint", "person")

    assert heading is not None
    assert (heading.label, heading.exact, heading.use_with["value"]) == ("Odile Quint", True, "Odile Quint")


@responses.activate
def test_related_records_carry_identifiers_and_pages_elsewhere_only_addresses(make_archive: Make, answer: Answer) -> None:
    """The record's own older address is left out; a Gallica picture is an address to open, never asked for."""
    answers_with(answer("bnf/record-work.json"))

    context = read(make_archive(DataBnf), WORK, "context").item.context

    gallica = "https://gallica.bnf.fr/ark:/12148/bpt6k0000000.thumbnail"
    assert context == (
        Related(identifier=f"bnf:{PERSON}", label="Odile Ferrand-Quint", kind="creator", source_url=PAGE + PERSON),
        Related(identifier="bnf:cb900002027", label=PAGE + "cb900002027", kind="creator", source_url=PAGE + "cb900002027"),
        Related(label="http://wikidata.org/entity/Q0000000", kind="same thing elsewhere", source_url="http://wikidata.org/entity/Q0000000"),
        Related(label=f"https://catalogue.bnf.fr/ark:/12148/{WORK}", kind="see also", source_url=f"https://catalogue.bnf.fr/ark:/12148/{WORK}"),
        Related(label=gallica, kind="picture, under its own terms", source_url=gallica),
        Related(identifier=f"bnf:{HEADING}", label="Marais -- Dans la littérature", kind="subject heading", source_url=PAGE + HEADING),
        Related(identifier="bnf:cb90000402s", label=PAGE + "cb90000402s", kind="subject heading", source_url=PAGE + "cb90000402s"))
    assert {urlsplit(call.request.url).hostname for call in responses.calls} == {"data.bnf.fr"}


@responses.activate
def test_every_read_states_the_licence_and_carries_the_credit_with_its_date(make_archive: Make, answer: Answer) -> None:
    """Two conditions: the library named, the day of retrieval said; digitised documents are another matter."""
    answers_with(answer("bnf/record-work.json"))

    item = read(make_archive(DataBnf), WORK).item

    assert item.rights == Rights(
        statement="Licence Ouverte (Etalab): reuse is free, commercial use too, if the Bibliothèque nationale de France is named as the "
                  "source together with the date of retrieval.", url="https://data.bnf.fr/opendata", covers="the whole catalogue's metadata",
        note="It does not speak of documents digitised on Gallica, which have terms of their own.")
    assert DataBnf.attribution("2026-11-30T09:00:00Z") == \
        "Bibliothèque nationale de France, data.bnf.fr, metadata retrieved 2026-11-30, Licence Ouverte (Etalab)"


@responses.activate
def test_editions_are_asked_from_the_edition_to_the_work_and_sliced_by_the_service(make_archive: Make, answer: Answer) -> None:
    """workManifested points from the edition; the count comes in the same request; "[s.d.]" stays what it is."""
    answers_with(answer("bnf/record-work.json"), answer("bnf/editions.json"))

    page = read(make_archive(DataBnf), WORK, "editions", offset=2, limit=2)

    pattern = f"{{ ?thing rdarel:workManifested <http://data.bnf.fr/ark:/12148/{WORK}#about> }}"
    assert f"WHERE {{ {{ SELECT DISTINCT ?thing WHERE {pattern} }} }}" in asked(1)
    assert f"SELECT DISTINCT ?thing WHERE {pattern} ORDER BY ?thing LIMIT 3 OFFSET 2" in asked(1)
    assert page.list_total == 5
    assert page.item.editions == (
        Edition(identifier="bnf:cb900003015", title="L'horloge des marais", date="1897", publisher="Vve Lamproie", place="Niort",
                language=("fre",), source_url=PAGE + "cb900003015", digitised_url="https://gallica.bnf.fr/ark:/12148/bpt6k0000001"),
        Edition(identifier=f"bnf:{EDITION}", title="L'horloge des marais", date="[s.d.]", publisher="Arras : Au Passage, [s.d.]",
                standard_numbers={"isbn": ("2-00-000000-4",), "ean": ("9782000000044",)}, source_url=PAGE + EDITION))


@responses.activate
def test_a_list_that_fails_leaves_the_record_and_says_so(make_archive: Make, answer: Answer) -> None:
    """The record was read; that its editions were not is no statement about how many there are."""
    answers_with(answer("bnf/record-work.json"), "Virtuoso 42000 Error The estimated execution time exceeds the limit")

    page = read(make_archive(DataBnf), WORK, "editions")

    assert (page.item.title, page.item.editions, page.list_total) == ("L'horloge des marais", (), None)
    assert page.notes == ("The list of editions or works could not be read, which says nothing of how many there are. "
                          "data.bnf.fr began the query and gave it up.",)


@responses.activate
def test_a_person_is_read_with_dates_as_published_and_works_as_the_list(make_archive: Make, answer: Answer) -> None:
    """A birth is no date of publication; heading, name and years may disagree, so each is quoted."""
    answers_with(answer("bnf/record-person.json"), answer("bnf/works.json"))

    page = read(make_archive(DataBnf), PERSON, "editions")

    item = page.item
    assert (item.title, item.creator, item.year, item.date, item.media_type) == ("Odile Ferrand-Quint", None, None, None, "person")
    assert (item.description, item.description_means) == ("Romancière", "the library's biographical note, often one trade or one sentence")
    assert item.notes == (
        "This record describes a person; the section editions lists the works filed under that name.",
        "The library's heading: Odile Ferrand-Quint (1861-1930)", "Other forms: Odile Quint (1861-1930)",
        "Born, as published: 1861-02-.., Niort", "Died, as published: 1931", "Years filed with the name: 1861 to 1931")
    assert f"?thing dcterms:creator <http://data.bnf.fr/ark:/12148/{PERSON}#about> . ?thing a rdafrbr:Work" in asked(1)
    assert [edition.identifier for edition in item.editions] == [f"bnf:{WORK}", f"bnf:{OTHER_WORK}", f"bnf:{TEMPORARY}"]
    assert page.list_total == 7
    assert page.notes == ("Only works filed under this name as creator are listed; other contributions stand elsewhere, so a missing "
                          "title proves nothing.",)


@responses.activate
def test_an_edition_is_read_as_one_with_its_gallica_addresses_to_open(make_archive: Make, answer: Answer) -> None:
    """The description of an edition is its extent, not prose; a date in words gives no year."""
    answers_with(answer("bnf/record-edition.json"))

    page = read(make_archive(DataBnf), EDITION, "copies", "editions")

    item = page.item
    assert (item.media_type, item.year, item.date, item.publisher, item.place, item.extent, item.description) == (
        "manifestation", None, "DL 1978", "Au Passage", "Arras", "1 vol. (212 p.)", "Tirage limité")
    assert item.copies == (
        Copy(label="digital reproduction on Gallica, to be opened in a browser", url="https://gallica.bnf.fr/ark:/12148/bpt6k0000002"),
        Copy(label="digital document with machine-read text on Gallica, to be opened in a browser",
             url="https://gallica.bnf.fr/ark:/12148/bd6t0000003"))
    assert Related(identifier=f"bnf:{WORK}", label="L'horloge des marais", kind="work", source_url=PAGE + WORK) in item.context
    assert Contributor(name="Ilse Mähr", role="trl", identifier="bnf:cb90000204x") in item.contributors
    assert (page.list_total, len(responses.calls)) == (None, 1)


@responses.activate
def test_a_heading_is_called_a_heading(make_archive: Make, answer: Answer) -> None:
    """Its broader heading can be read in turn; Dewey and Library of Congress matches are addresses."""
    answers_with(answer("bnf/record-heading.json"))

    item = read(make_archive(DataBnf), HEADING).item

    assert (item.title, item.media_type, item.notes) == (
        "Marais -- Dans la littérature", "heading", ("This record describes a heading of the library, not a document.",))
    assert [(link.label, link.kind) for link in item.context] == [
        ("Marais", "broader heading"), ("http://dewey.info/class/800/", "close match"),
        ("http://id.loc.gov/authorities/subjects/sh00000000", "related match")]


@responses.activate
def test_a_record_without_statements_is_asked_once_what_it_is_before_not_found(make_archive: Make, answer: Answer) -> None:
    """Two requests, then the archive has answered: nothing is filed under this ark."""
    answers_with(answer("bnf/record-none.json"), answer("bnf/types-none.json"))

    with pytest.raises(RecordNotFound):
        read(make_archive(DataBnf), WORK)

    assert len(responses.calls) == 2
    assert "a ?type" in asked(1)


@responses.activate
def test_an_ark_filed_as_something_else_is_not_called_missing(make_archive: Make, answer: Answer) -> None:
    """A place exists; that nothing of it is read here is another sentence."""
    answers_with(answer("bnf/record-none.json"), answer("bnf/types-place.json"))

    with pytest.raises(UnreadableAnswer) as failure:
        read(make_archive(DataBnf), WORK)

    assert failure.value.message == ("data.bnf.fr holds this identifier as http://www.geonames.org/ontology#Feature, of which nothing can "
                                     "be read here.")


@responses.activate
def test_a_record_cut_at_its_limit_says_so(make_archive: Make) -> None:
    """2,000 statements arrived, as many as were asked for: there may be more."""
    title = {"p": {"type": "uri", "value": "http://purl.org/dc/terms/title"}, "o": {"type": "literal", "value": "Marais"}}
    answers_with(json.dumps({"results": {"bindings": [title] * STATEMENTS_OF_A_RECORD}}))

    page = read(make_archive(DataBnf), WORK)

    assert page.notes == ("The record was cut at 2000 rows, so some of what it states is missing here.",)


# ---- headings ------------------------------------------------------------------------------------------------------

@responses.activate
def test_persons_are_found_by_name_exact_ones_first_then_variants(make_archive: Make, answer: Answer) -> None:
    """The order of the service says nothing; a name without its dates counts as exact; only archives with creators take it."""
    answers_with(answer("bnf/headings-persons.json"))
    sources = ["archive", "bnfcatalogue", "openlibrary", "gallica"]

    page = make_archive(DataBnf).search_headings("odile QUINT", "person", 2)

    uri = "http://data.bnf.fr/ark:/12148/"
    assert page.records == (
        Heading(label="Odile Quint (1701-1766)", uri=uri + "cb90000206m", identifier="bnf:cb90000206m", kind="person",
                exact=True, use_with={"argument": "creator", "value": "Odile Quint", "sources": sources}),
        Heading(label="Odile Ferrand-Quint (1861-1930)", uri=uri + PERSON, identifier=f"bnf:{PERSON}", kind="person",
                exact=False, variant="Odile Quint", use_with={"argument": "creator", "value": "Odile Ferrand-Quint", "sources": sources}))
    assert (page.more, page.skipped, page.notes) == (True, 0, ())
    assert ("?person foaf:name ?text . ?text bif:contains \"'odile' AND 'QUINT'\" } LIMIT 400 } ?person a foaf:Person . "
            "?thing foaf:focus ?person }") in asked()


@responses.activate
def test_subjects_are_rameau_headings_and_a_full_window_is_told(make_archive: Make, answer: Answer) -> None:
    """The scheme of RAMEAU outside the window; the catalogue and Gallica file these headings, the other archives do not."""
    answers_with(answer("bnf/headings-subjects.json"))

    page = make_archive(DataBnf).search_headings("marais", "subject", 3)

    assert [(heading.label, heading.exact) for heading in page.records] == [
        ("Marais", True), ("Marais -- Dans la littérature", False), ("Marais côtiers", False)]
    assert page.records[0].use_with == {"argument": "subject", "value": "Marais", "sources": ["bnfcatalogue", "gallica"]}
    assert page.more is None
    assert page.notes == ("Only the first 400 matching forms were read, in no order; the heading meant may be missing.",)
    assert "?thing dcterms:isPartOf <http://data.bnf.fr/vocabulary/scheme/r166>" in asked()


def test_no_text_is_held_and_the_reason_is_given() -> None:
    """Absent from the calls about text and collections, which is not a failure."""
    reasons = {call: DataBnf.absence(call, None) for call in ("search_inside", "read_text", "browse_collections", "get_item")}  # type: ignore[arg-type]

    assert reasons == {
        "search_inside": "data.bnf.fr describes works and holds no text of its own.",
        "read_text": "data.bnf.fr describes works and holds no text of its own.",
        "browse_collections": "data.bnf.fr has no collections to browse.",
        "get_item": None,
    }
