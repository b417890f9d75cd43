"""data.bnf.fr: the works, persons, editions and headings of the Bibliothèque nationale de France;
it holds no page text.

One SPARQL endpoint answers everything. Every query here returns the same columns, one statement a
row (`thing`, `p`, `o` and the name of what `o` points at), so that one reader (`bnf_records`)
serves them all. Gallica addresses are handed out, never requested.

Sources: the guide "Interroger le portail data.bnf.fr par API" (api.gouv.fr); the habits of the
engine as public clients of the service met them (facts of 2026-11).
"""
from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import SplitResult, unquote

from ..contract import (
    Archive,
    Ask,
    Describes,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    Query,
    Reference,
    Reply,
    Request,
)
from ..errors import (
    ArchiveUnreachable,
    InvalidInput,
    RecordNotFound,
    SourceError,
    TimedOut,
    UnreadableAnswer,
)
from ..registry import ENTRY_OF
from ..text import mapping
from . import bnf_records as records
from .bnf_records import ARK, KEY, PREFIXES, TEMPORARY, Thing
from .shared import ark_reference, list_or_note, plan_from, read_rows

LISTED = ENTRY_OF[KEY]
ENDPOINT = "https://data.bnf.fr/sparql"  # no trailing slash: with one, an HTML query editor answers
JSON_RESULTS = "application/sparql-results+json"
# matches of a word search that are read at all; above that the engine gives up before the class
# filter ends
WINDOW = 400
STATEMENTS_OF_A_LIST = 5000  # rows of one list; the engine refuses to sort more than 10,000
STATEMENTS_OF_A_RECORD = 2000
WORDS_MAX, WORD_CHARS_MAX = 12, 60  # a longer question has only ever been given up
_PLAIN_MARKS = str.maketrans("\u2018\u2019\u02bc\u2010\u2011", "'''--")

_PROLOGUE = "\n".join(f"PREFIX {prefix}: <{address}>" for prefix, address in PREFIXES.items())
_OF_A_WORK = ("dcterms:title, dcterms:creator, dcterms:date, dcterms:language, bnf:firstYear, "
              "rdae:statusOfIdentification")
_OF_AN_EDITION = ("dcterms:title, dcterms:date, dcterms:language, bnf:isbn, bnf:ean, "
                  "rdae:publishersName, rdae:placeOfPublication, dcterms:publisher, "
                  "rdarel:electronicReproduction, bnf:OCR")
_OF_A_HEADING = "skos:prefLabel, skos:altLabel, foaf:focus"

_WORKS_OF = ("?thing dcterms:creator {about} . ?thing a rdafrbr:Work", _OF_A_WORK)
_LISTED = {  # by kind: what stands in the section editions, and the properties read of each
    "work": ("?thing rdarel:workManifested {about}", _OF_AN_EDITION), "person": _WORKS_OF,
    "organisation": _WORKS_OF,
}

_TITLE_SENT = "words required in the title of the work; quotation marks do not bind them"
_DATES = "the search carries no date: the date of a work is free text"
_DROPPED = {
    "creator": "the search reads titles alone; search_headings (kind person), then get_item with "
               "the section editions, lists the works of a person",
    "subject": "the search reads titles alone, no subjects; bnfcatalogue and gallica take RAMEAU "
               "headings as subject",
    "publisher": "a work has no publisher; its editions have one, and no search reads them here",
    "place": "a work has no place of publication; its editions have one, and no search reads them "
             "here",
    "language": "the search reads titles alone; each row states the languages of the work",
    "publication": "the search reads titles of works alone",
    "sort": "the search has no order by date, title or rating",
    "facets": "the service gives no counts by term",
    "availability": "the service does not say whether a work can be lent or read",
    "year_from": _DATES, "year_to": _DATES, "date_from": _DATES, "date_to": _DATES,
}
_CUT = (f"The list was cut at {STATEMENTS_OF_A_LIST} statements; its last entries may be missing "
        "or told in part.")
_LIST_LOST = ("The list of editions or works could not be read, which says nothing of how many "
              "there are.")
_AS_CREATOR = ("Only works filed under this name as creator are listed; other contributions stand "
               "elsewhere, so a missing title proves nothing.")
_PAST_WINDOW = (f"data.bnf.fr is read up to the first {WINDOW} matches of the words, and this page "
                "lies past them.")
_PAST_LAST = "data.bnf.fr has no further work for these words: this page lies past the last."
_WINDOW_FULL = (f"The words match at least {WINDOW} titles of works and editions, and only the "
                f"first {WINDOW} are read, in no order; other works may match, and a second "
                "reading may differ. More words narrow it.")
_NONE_OF_MANY = (f"The words match at least {WINDOW} titles, and no work is among the first "
                 f"{WINDOW}, which alone are read: whether a work has them is not known.")
_HEADINGS_FULL = (f"Only the first {WINDOW} matching forms were read, in no order; the heading "
                  "meant may be missing.")
_PREFERRED_FORMS = ("Only the preferred French forms of RAMEAU headings are searched; another form "
                    "may be the one filed.")
_ABSENT_FOR = {
    "isbn": "data.bnf.fr files an ISBN under editions, with hyphens that cannot be guessed; its "
            "search reads titles of works.",
    "lccn": "data.bnf.fr files no Library of Congress numbers.",
    "oclc": "data.bnf.fr files no OCLC numbers.",
    "collection": "data.bnf.fr has no collections in this sense.",
}

_PAGE = re.compile(rf"/(?:(?:fr|en)/)?(?:ark:/12148/(?P<ark>{ARK})|(?P<temp>{TEMPORARY})|"
                   r"(?P<number>[0-9]{8}))(?:[/.].*)?")
_LOCAL = re.compile(rf"(?:ark:/?12148/)?(?P<ark>{ARK})|(?P<temp>{TEMPORARY})/?|"
                    r"(?:(?i:FRBNF))?(?P<number>[0-9]{8})")
_HINT = ("Give an ark (bnf:cb120083695), a provisional work (bnf:temp-work/ and 32 hexadecimal "
         "digits) or a page address of data.bnf.fr.")


# ---- words and queries ---------------------------------------------------------------------------

def required_words(text: str) -> tuple[tuple[str, ...], int]:
    """The words that a search can require, and how many more were left off past WORDS_MAX.

    Invisible characters go, typographic apostrophes and hyphens become plain ones, and of the rest
    only letters, digits and marks of any script stay, with an apostrophe or hyphen inside a word:
    nothing is left that the engine reads as an operator.
    """
    kept = []
    for mark in unicodedata.normalize("NFC", text).translate(_PLAIN_MARKS):
        group = unicodedata.category(mark)[0]
        if group in "LMN" or mark in "'-":
            kept.append(mark)
        elif group != "C" or mark in "\t\n\r\x0b\x0c":
            kept.append(" ")
    found = re.findall(r"[^\s'-]+(?:['-][^\s'-]+)*", "".join(kept))
    words = [word[:WORD_CHARS_MAX].rstrip("'-") for word in found
             if any(character.isalnum() for character in word)]
    return tuple(words[:WORDS_MAX]), max(0, len(words) - WORDS_MAX)


def contains(words: Sequence[str]) -> str:
    """The words as the argument of bif:contains: each between single quotes, an inner one doubled,
    all of them required.

    Without the doubling, rimbaud'OR'hugo would act as an operator. The whole is a SPARQL string,
    escaped as one of JSON is.
    """
    return json.dumps(" AND ".join("'" + word.replace("'", "''") + "'" for word in words),
                      ensure_ascii=False)


def _window(variable: str, property_: str, words: Sequence[str]) -> str:
    """The matches, at most WINDOW of them. The triple must stand before bif:contains, and nothing
    else in the group, so that the text index drives: asking the class first walks the catalogue,
    and the service gives up."""
    matching = f"{variable} {property_} ?text . ?text bif:contains {contains(words)}"
    return f"{{ SELECT {variable} WHERE {{ {matching} }} LIMIT {WINDOW} }}"


def _list_query(counted: str, pattern: str, properties: str, rows: int, offset: int) -> str:
    """One request for the count of `counted` and for the statements about one page of the things of
    `pattern`, and one more.

    The page is ordered inside and the whole is ordered outside again: without the second order one
    record was seen on two pages and another on none.
    """
    page = (f"SELECT DISTINCT ?thing WHERE {{ {pattern} }} ORDER BY ?thing "
            f"LIMIT {rows + 1} OFFSET {offset}")
    return f"""{_PROLOGUE}
SELECT ?thing ?p ?o ?name ?counted WHERE {{
  {{ SELECT (COUNT(*) AS ?counted) WHERE {{ {counted} }} }}
  UNION
  {{ {{ {page} }}
    ?thing ?p ?o . FILTER (?p IN ({properties}))
    OPTIONAL {{ ?o foaf:name ?name }} }}
}} ORDER BY ?thing LIMIT {STATEMENTS_OF_A_LIST}"""


def _record_query(local: str) -> str:
    """Everything stated about the thing (#about), about its record (no fragment) and about its
    version (#Expression)."""
    record = records.record_address(local)
    names = " ".join(f"OPTIONAL {{ ?o {property_} ?{column} }}" for property_, column in (
        ("foaf:name", "name"), ("skos:prefLabel", "heading"), ("dcterms:title", "title")))
    return f"""{_PROLOGUE}
SELECT ?p ?o ?name ?heading ?title WHERE {{
  {{ <{record}#about> ?p ?o }} UNION {{ <{record}> ?p ?o }} UNION {{ <{record}#Expression> ?p ?o }}
  {names}
}} LIMIT {STATEMENTS_OF_A_RECORD}"""


def _types_query(local: str) -> str:
    """What an address without statements is, under the fragments that older data used too."""
    fragments = ("", "#about", "#Expression", "#spatialThing", "#foaf:Person",
                 "#foaf:Organization", "#frbr:Work")
    anywhere = " UNION ".join(f"{{ <{records.record_address(local)}{fragment}> a ?type }}"
                              for fragment in fragments)
    return f"{_PROLOGUE}\nSELECT DISTINCT ?type WHERE {{ {anywhere} }} LIMIT 50"


def _headings(kind: str, words: Sequence[str]) -> tuple[str, str]:
    """The pattern of the headings of a kind, and the window of matches that it starts from."""
    if kind == "person":
        window = _window("?person", "foaf:name", words)
        return f"{window} ?person a foaf:Person . ?thing foaf:focus ?person", window
    window = _window("?thing", "skos:prefLabel", words)
    return f"{window} ?thing dcterms:isPartOf <http://data.bnf.fr/vocabulary/scheme/r166>", window


def _ask(query: str) -> Ask:
    """The request of a query. JSON is asked for twice: with the header alone, XML has been sent."""
    return Ask(url=ENDPOINT, form=(("query", query), ("format", JSON_RESULTS)),
               headers=(("Accept", JSON_RESULTS),),
               check_text=_check_text, check=_check_shape)


# ---- answers -------------------------------------------------------------------------------------

def _check_text(reply: Reply) -> None:
    """Refuse what arrives with status 200 and is no answer. None of it says anything about what the
    library holds.

    A query that was given up comes as an empty body or as a plain "Virtuoso 42000 Error …"; state
    37000 is one that does not compile; the header x-sql-state S1TAT marks an answer cut at the
    server's own time limit.
    """
    body = reply.value.strip()
    if not body:
        raise TimedOut("data.bnf.fr gave the query up and sent an empty answer.", archive=KEY)
    if body.startswith("Virtuoso 37000"):
        raise InvalidInput("data.bnf.fr refused the query: it could not be compiled (Virtuoso "
                           "state 37000).", archive=KEY,
                           hint="Ask again with fewer and plainer words.")
    if body.startswith("Virtuoso"):
        raise TimedOut("data.bnf.fr began the query and gave it up.", archive=KEY)
    if body.startswith("<"):
        raise UnreadableAnswer("data.bnf.fr sent a page of markup where data was due.", archive=KEY)
    if "S1TAT" in reply.headers.get("x-sql-state", ""):
        raise UnreadableAnswer("data.bnf.fr cut its answer at its own time limit, so part of it is "
                               "missing.", archive=KEY)


def _check_shape(reply: Reply) -> None:
    if not isinstance(mapping(mapping(reply.value).get("results")).get("bindings"), list):
        raise UnreadableAnswer("data.bnf.fr sent an answer without rows of results.", archive=KEY)


# ---- the archive ---------------------------------------------------------------------------------

class DataBnf(Archive):
    """Titles of works and headings are searched; works, persons, editions and headings are read. No
    text is held."""

    key, name = LISTED.key, LISTED.name
    answers, media_types = LISTED.answers, LISTED.media_types
    lanes = (Lane(key=KEY, hosts=(r"data\.bnf\.fr",), spacing_s=3.0, in_flight_max=1,
                  spacing_because="the service publishes no rate; three seconds, one query at a "
                                  "time, is what its known clients keep"),)
    absent_because = {
        "search_inside": "data.bnf.fr describes works and holds no text of its own.",
        "read_text": "data.bnf.fr describes works and holds no text of its own.",
        "browse_collections": "data.bnf.fr has no collections to browse.",
    }
    catalogue = Describes(
        searches_on="titles of works only: a person's name finds works whose title holds it",
        requires_every_word=True,
        row_describes="a work as an entity, not a copy and not an edition",
        year_means="the first year the library states for the work",
        no_total_because="no total is stated: the search counts titles of works and editions "
                         "together",
    )
    address_hosts = ("data.bnf.fr",)
    heading_kinds = ("subject", "person")
    unread_fields = ("pages", "call_number", "generated_entries")
    spellings = "bnf:cb120083695"

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        """The two conditions of the licence: the source named, and the day the metadata were
        fetched."""
        return ("Bibliothèque nationale de France, data.bnf.fr, metadata retrieved "
                f"{retrieved_at[:10]}, Licence Ouverte (Etalab)")

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """An ark, a provisional work, or a record number (FRBNF), which becomes the ark that it is
        part of."""
        match = _LOCAL.fullmatch(local)
        if match is None:
            raise InvalidInput("data.bnf.fr mints no identifier of this shape.", archive=KEY,
                               hint=_HINT)
        return _reference(match, None)

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        match = _PAGE.fullmatch(unquote(address.path))
        if match is None:
            raise InvalidInput("This address names no record of data.bnf.fr.", archive=KEY,
                               hint=_HINT)
        return _reference(match, "The address was read as the identifier that it holds.")

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        """Only words reach this search, so every other narrowing is dropped; an identifying one
        makes the archive absent."""
        absent = _absence(query)
        if absent:
            return Request(query=query, absent_because=absent)
        words, _ = required_words(_titles_words(query))
        window = _window("?thing", "dcterms:title", words)
        offset = (query.page - 1) * query.rows
        asked = _list_query(window, f"{window} ?thing a rdafrbr:Work", _OF_A_WORK, query.rows,
                            offset)
        beyond = _PAST_WINDOW if offset >= WINDOW else None
        return plan_from(query, {"title": _TITLE_SENT}, _DROPPED,
                         media_type_asked=query.media_type, beyond=beyond,
                         asks=(_ask(asked),) if words and not beyond else ())

    def search_catalogue(self, request: Request) -> Page:
        """Works whose title holds every word, in the order of their addresses.

        Raises:
            InvalidInput: the window is full of titles of editions, so nothing is known of works.
        """
        if request.beyond:
            return Page(more=False, beyond=request.beyond)
        query = request.query
        notes = _required(_titles_words(query))
        works = self._list(request.asks[0], records.read_row, query.rows)
        full = (works.total or 0) >= WINDOW
        past = query.page > 1 and not works.records
        if full and not works.records and not past:
            raise InvalidInput(_NONE_OF_MANY, archive=KEY, hint="Use more words.")
        last = _PAST_WINDOW if full else _PAST_LAST
        return replace(works, total=None, more=works.more or (None if full else False),
                       beyond=last if past else None,
                       notes=(*notes, *((_WINDOW_FULL,) if full else ()), *works.notes))

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """One request for the record, one more for its list when the section editions is asked."""
        local = reference.local
        answer = records.read_statements(self._rows(_ask(_record_query(local))),
                                         records.about_address(local))
        if not answer.things:
            raise self._nothing_stated(local)
        thing = answer.things[0]
        kind, _ = records.kind_of(thing)
        editions = Page()
        if wanted.wants("editions") and kind in _LISTED:
            editions = list_or_note(lambda: self._editions(local, kind, wanted), _LIST_LOST)
        cut = (f"The record was cut at {STATEMENTS_OF_A_RECORD} rows, so some of what it states is "
               f"missing here.",)
        return ItemPage(item=records.read_item(local, thing, editions.records),
                        list_total=editions.total, lost=("editions",) if editions.lost else (),
                        notes=(*(cut if answer.row_count >= STATEMENTS_OF_A_RECORD else ()),
                               *editions.notes))

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """RAMEAU subjects by their preferred form, persons by their name; exact ones first, then in
        alphabetical order.

        The whole window is read, since its order says nothing. The scheme that marks a RAMEAU
        subject (r166) is known from one recorded concept, so an empty answer for subjects is told
        with that reserve.
        """
        notes = list(_required(query))
        pattern, window = _headings(kind, required_words(query)[0])
        asked = _ask(_list_query(window, pattern, _OF_A_HEADING, WINDOW, 0))
        found = self._list(asked, lambda thing: records.read_heading(thing, query, kind), WINDOW)
        full = (found.total or 0) >= WINDOW or _CUT in found.notes
        if full:
            notes.append(_HEADINGS_FULL)
        if not found.records and kind == "subject":
            notes.append(_PREFERRED_FORMS)
        ranked = sorted(found.records, key=records.rank)
        return Page(records=tuple(ranked[:rows]), skipped=found.skipped, notes=tuple(notes),
                    more=len(ranked) > rows or (None if full else False))

    def _rows(self, ask: Ask) -> list[Any]:
        """The rows of an answer.

        Raises:
            ArchiveUnreachable: 404; a service that is gone says nothing of records.
        """
        try:
            rows: list[Any] = self.ask(ask).value["results"]["bindings"]
        except RecordNotFound as exc:
            raise ArchiveUnreachable("data.bnf.fr has no query service at its usual address "
                                     "(status 404).", archive=KEY,
                                     status=404) from exc
        return rows

    def _list(self, ask: Ask, read: Callable[[Thing], Any], rows: int) -> Page:
        """One page of a list, its total the count. A COUNT always gives a row: an answer without
        one is no list of nothing."""
        answer = records.read_statements(self._rows(ask))
        if answer.counted is None:
            raise UnreadableAnswer("data.bnf.fr sent a list without the count asked beside it.",
                                   archive=KEY)
        values, skipped = read_rows(answer.things[:rows], read, DataBnf)
        return Page(records=values, total=answer.counted, skipped=skipped + answer.unread_rows,
                    more=len(answer.things) > rows,
                    notes=(_CUT,) if answer.row_count >= STATEMENTS_OF_A_LIST else ())

    def _editions(self, local: str, kind: str, wanted: ItemQuery) -> Page:
        """The slice asked of the editions of a work or the works of an author."""
        shape, properties = _LISTED[kind]
        pattern = shape.format(about=f"<{records.about_address(local)}>")
        counted = f"{{ SELECT DISTINCT ?thing WHERE {{ {pattern} }} }}"
        asked = _list_query(counted, pattern, properties, wanted.list_limit, wanted.list_offset)
        page = self._list(_ask(asked), records.read_edition, wanted.list_limit)
        notes = page.notes
        if page.skipped:
            notes = (f"{page.skipped} entries of the list could not be read and are left out.",
                     *notes)
        return replace(page, notes=(*notes,
                                    *((_AS_CREATOR,) if kind != "work" else ())))

    def _nothing_stated(self, local: str) -> SourceError:
        """Why a record came empty; asked once, since an ark may stand for a kind of thing that is
        not read here."""
        rows = self._rows(_ask(_types_query(local)))
        types = [records.short(address) for row in rows if (address := records.cell(row, "type"))]
        if rows:
            what = ", ".join(types[:3]) or "something unnamed"
            return UnreadableAnswer(f"data.bnf.fr holds this identifier as {what}, of which "
                                    f"nothing can be read here.",
                                    archive=KEY,
                                    hint=f"Open {records.page_address(local)} instead.")
        return RecordNotFound("data.bnf.fr states nothing about this identifier.", archive=KEY)


def _titles_words(query: Query) -> str:
    return f"{query.words} {query.fields.get('title', '')}"


def _absence(query: Query) -> str | None:
    """Why the archive cannot be asked this question; None when it can."""
    if query.native:
        return "data.bnf.fr takes no query in a syntax of its own here."
    unheld = next((because for name, because in _ABSENT_FOR.items() if name in query.fields), None)
    if unheld or query.words or "title" in query.fields:
        return unheld
    because = "the search needs words of a title"
    because = next((_DROPPED[name] for name in ("creator", "subject") if name in query.fields),
                   because)
    return f"Nothing is left to search on: {because}."


def _required(text: str) -> tuple[str, ...]:
    """A note of the words required, where they are not what was typed.

    Raises:
        InvalidInput: no word is left.
    """
    words, left_off = required_words(text)
    if not words:
        raise InvalidInput("data.bnf.fr: no word is left to search for.", archive=KEY,
                           hint="Give at least one word with letters or digits.")
    pieces = [piece for word in words for piece in re.split("['-]", word)]
    if [piece.casefold() for piece in pieces] == text.casefold().split():
        return ()
    more = f"; {left_off} further words were left off" if left_off else ""
    return (f"data.bnf.fr required each of these words, in any order: {', '.join(pieces)}{more}.",)


def _reference(match: re.Match[str], read_as: str | None) -> Reference:
    """The identifier that one of the patterns found."""
    found = match.groupdict()
    if found["temp"]:
        return Reference(source=KEY, local=found["temp"], read_as=read_as)
    return ark_reference(DataBnf, ark=found["ark"], number=found["number"], hint=_HINT,
                         read_as=read_as)
