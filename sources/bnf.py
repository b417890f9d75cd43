"""data.bnf.fr: the works, persons, editions and headings of the Bibliothèque nationale de France; it holds no page text.

One SPARQL endpoint answers everything. Every query here returns the same columns, one statement a row (`thing`, `p`, `o` and
the name of what `o` points at), so that one reader (`bnf_records`) serves them all. Gallica addresses are handed out, never
requested.

Sources: the guide "Interroger le portail data.bnf.fr par API" (api.gouv.fr); the habits of the engine as public
clients of the service met them (facts of 2026-11).
"""
from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import SplitResult, unquote

from . import arks
from .bnf_records import (
    KEY,
    PREFIXES,
    Answer,
    Thing,
    about_address,
    kind_of,
    page_address,
    read_edition,
    read_heading,
    read_item,
    read_row,
    read_statements,
    read_term,
    record_address,
    short,
)
from .contract import IDENTIFYING, Archive, Describes, Edition, ItemPage, ItemQuery, Lane, Page, Plan, Query, Reference, Reply
from .errors import ArchiveUnreachable, InvalidInput, RecordNotFound, SourceError, TimedOut, UnreadableAnswer
from .text import fold, listing, mapping

ENDPOINT = "https://data.bnf.fr/sparql"  # no trailing slash: with one, an HTML query editor answers
JSON_RESULTS = "application/sparql-results+json"
WINDOW = 400  # matches of a word search that are read at all; above that the engine gives up before the class filter ends
STATEMENTS_OF_A_LIST = 5000  # rows of one list; the engine refuses to sort more than 10,000
STATEMENTS_OF_A_RECORD = 2000
WORDS_MAX, WORD_CHARS_MAX = 12, 60  # a longer question has only ever been given up

_PROLOGUE = "\n".join(f"PREFIX {prefix}: <{address}>" for prefix, address in PREFIXES.items())
_OF_A_WORK = "dcterms:title, dcterms:creator, dcterms:date, dcterms:language, bnf:firstYear, rdae:statusOfIdentification"
_OF_AN_EDITION = ("dcterms:title, dcterms:date, dcterms:language, bnf:isbn, bnf:ean, rdae:publishersName, rdae:placeOfPublication, "
                  "dcterms:publisher, rdarel:electronicReproduction, bnf:OCR")
_OF_A_HEADING = "skos:prefLabel, skos:altLabel, foaf:focus"

_LISTED = {  # by kind: what stands in the section editions, and the properties read of each
    "work": ("{{ ?thing rdarel:workManifested {about} }}", _OF_AN_EDITION),
    "person": ("{{ ?thing dcterms:creator {about} . ?thing a rdafrbr:Work }}", _OF_A_WORK),
    "organisation": ("{{ ?thing dcterms:creator {about} . ?thing a rdafrbr:Work }}", _OF_A_WORK),
}

_DROPPED = {
    "creator": "the search reads titles alone; search_headings (kind person), then get_item with the section editions, "
               "lists the works of a person",
    "subject": "the search reads titles alone, no subjects",
    "publisher": "a work has no publisher; its editions have one, and no search reads them here",
    "place": "a work has no place of publication; its editions have one, and no search reads them here",
    "language": "the search reads titles alone; each row states the languages of the work",
    "publication": "the search reads titles of works alone",
    "sort": "the search has no order by date, title or rating",
    "facets": "the service gives no counts by term",
    "availability": "the service does not say whether a work can be lent or read",
}
_CUT = f"The list was cut at {STATEMENTS_OF_A_LIST} statements; its last entries may be missing or told in part."
_DATES_DROPPED = "the search carries no date: the date of a work is free text"
_ABSENT_FOR = {
    "isbn": "data.bnf.fr files an ISBN under editions, with hyphens that cannot be guessed; its search reads titles of works.",
    "lccn": "data.bnf.fr files no Library of Congress numbers.",
    "oclc": "data.bnf.fr files no OCLC numbers.",
    "collection": "data.bnf.fr has no collections in this sense.",
}


_PAGE = re.compile(r"/(?:(?:fr|en)/)?(?:ark:/12148/(?P<ark>c[bc][0-9a-z]{6,20})|(?P<temp>temp-work/[0-9a-f]{32})|(?P<number>\d{8}))"
                   r"(?:[/.].*)?", re.ASCII)
_LOCAL = re.compile(r"(?:ark:/?12148/)?(?P<ark>c[bc][0-9a-z]{6,20})|(?P<temp>temp-work/[0-9a-f]{32})/?|(?:(?i:FRBNF))?(?P<number>\d{8})",
                    re.ASCII)
_HINT = "Give an ark (bnf:cb120083695), a provisional work (bnf:temp-work/ and 32 hexadecimal digits) or a page address of data.bnf.fr."


# ---- words and queries ---------------------------------------------------------------------------------------------

def required_words(text: str) -> tuple[tuple[str, ...], int]:
    """The words that a search can require, and how many more were left off past WORDS_MAX.

    Invisible characters go, typographic apostrophes and hyphens become plain ones, and of the rest only letters, digits and
    marks of any script stay, with an apostrophe or hyphen inside a word: nothing is left that the engine reads as an operator.
    """
    kept = []
    for character in unicodedata.normalize("NFC", text):
        category = unicodedata.category(character)
        if character in "'\u2018\u2019\u02bc":
            kept.append("'")
        elif character in "-\u2010\u2011":
            kept.append("-")
        elif category[0] in "LMN":
            kept.append(character)
        elif category[0] != "C" or character in "\t\n\r\x0b\x0c":
            kept.append(" ")
    found = re.findall(r"[^\s'-]+(?:['-][^\s'-]+)*", "".join(kept))
    words = [word[:WORD_CHARS_MAX].rstrip("'-") for word in found if any(character.isalnum() for character in word)]
    return tuple(words[:WORDS_MAX]), max(0, len(words) - WORDS_MAX)


def contains(words: Sequence[str]) -> str:
    """The words as the argument of bif:contains: each between single quotes, an inner one doubled, all of them required.

    Without the doubling, rimbaud'OR'hugo would act as an operator. The whole is then a SPARQL string.
    """
    clause = " AND ".join("'" + word.replace("'", "''") + "'" for word in words)
    for raw, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        clause = clause.replace(raw, escaped)
    return f'"{clause}"'


def _window(variable: str, property_: str, words: Sequence[str]) -> str:
    """The matches, at most WINDOW of them. The triple must stand before bif:contains, and nothing else in the group, so that
    the text index drives: asking the class first walks the catalogue, and the service gives up."""
    return f"{{ SELECT {variable} WHERE {{ {variable} {property_} ?text . ?text bif:contains {contains(words)} }} LIMIT {WINDOW} }}"


def _list_query(counted: str, chosen: str, properties: str) -> str:
    """One request for a count and for the statements about the things of one page.

    `chosen` is ordered inside for the page and the whole is ordered outside again: without the second order one record was
    seen on two pages and another on none.
    """
    return f"""{_PROLOGUE}
SELECT ?thing ?p ?o ?name ?counted WHERE {{
  {{ SELECT (COUNT(*) AS ?counted) WHERE {counted} }}
  UNION
  {{ {{ {chosen} }}
    ?thing ?p ?o . FILTER (?p IN ({properties}))
    OPTIONAL {{ ?o foaf:name ?name }} }}
}} ORDER BY ?thing LIMIT {STATEMENTS_OF_A_LIST}"""


def _distinct(pattern: str, limit: int, offset: int = 0) -> str:
    return f"SELECT DISTINCT ?thing WHERE {pattern} ORDER BY ?thing LIMIT {limit} OFFSET {offset}"


def _record_query(local: str) -> str:
    """Everything stated about the thing (#about), about its record (no fragment) and about its version (#Expression)."""
    about, record = about_address(local), record_address(local)
    return f"""{_PROLOGUE}
SELECT ?p ?o ?name ?heading ?title WHERE {{
  {{ <{about}> ?p ?o }} UNION {{ <{record}> ?p ?o }} UNION {{ <{record}#Expression> ?p ?o }}
  OPTIONAL {{ ?o foaf:name ?name }} OPTIONAL {{ ?o skos:prefLabel ?heading }} OPTIONAL {{ ?o dcterms:title ?title }}
}} LIMIT {STATEMENTS_OF_A_RECORD}"""


def _types_query(local: str) -> str:
    """What an address without statements is, under the fragments that older data used too."""
    fragments = ("", "#about", "#Expression", "#spatialThing", "#foaf:Person", "#foaf:Organization", "#frbr:Work")
    return f"{_PROLOGUE}\nSELECT DISTINCT ?type WHERE {{ " + " UNION ".join(
        f"{{ <{record_address(local)}{fragment}> a ?type }}" for fragment in fragments) + " } LIMIT 50"


# ---- answers -------------------------------------------------------------------------------------------------------

def _check_text(reply: Reply) -> None:
    """Refuse what arrives with status 200 and is no answer. None of it says anything about what the library holds.

    A query that was given up comes as an empty body or as a plain "Virtuoso 42000 Error …"; state 37000 is one that does not
    compile; the header x-sql-state S1TAT marks an answer cut at the server's own time limit.
    """
    body = reply.value.strip()
    if not body:
        raise TimedOut("data.bnf.fr gave the query up and sent an empty answer.", archive=KEY)
    if body.startswith("Virtuoso 37000"):
        raise InvalidInput("data.bnf.fr refused the query: it could not be compiled (Virtuoso state 37000).", archive=KEY,
                           hint="Ask again with fewer and plainer words.")
    if body.startswith("Virtuoso"):
        raise TimedOut("data.bnf.fr began the query and gave it up.", archive=KEY)
    if body.startswith("<"):
        raise UnreadableAnswer("data.bnf.fr sent a page of markup where data was due.", archive=KEY)
    if "S1TAT" in reply.headers.get("x-sql-state", ""):
        raise UnreadableAnswer("data.bnf.fr cut its answer at its own time limit, so part of it is missing.", archive=KEY)


def _check_shape(reply: Reply) -> None:
    if not isinstance(mapping(mapping(reply.value).get("results")).get("bindings"), list):
        raise UnreadableAnswer("data.bnf.fr sent an answer without rows of results.", archive=KEY)


def _skipped(answer: Answer, things: Sequence[Thing], read: Sequence[Any]) -> int:
    """How many rows could not be read. Raises UnreadableAnswer when rows came and none could."""
    skipped = len(things) - len(read) + answer.nameless_rows
    if skipped and not read:
        raise UnreadableAnswer("data.bnf.fr sent rows, and none of them can be read.", archive=KEY)
    return skipped


# ---- the archive ---------------------------------------------------------------------------------------------------

class DataBnf(Archive):
    """Titles of works and headings are searched; works, persons, editions and headings are read. No text is held."""

    key = KEY
    name = "data.bnf.fr"
    lanes = (Lane(key=KEY, hosts=(r"data\.bnf\.fr",), spacing_s=3.0, in_flight_max=1,
                  spacing_because="the service publishes no rate; three seconds, one query at a time, is what its known clients keep"),)
    answers = ("search_items", "get_item", "search_headings")
    absent_because: ClassVar[Mapping[str, str]] = {
        "search_inside": "data.bnf.fr describes works and holds no text of its own.",
        "read_text": "data.bnf.fr describes works and holds no text of its own.",
        "browse_collections": "data.bnf.fr has no collections to browse.",
    }
    media_types = ("work",)
    catalogue = Describes(
        searches_on="titles of works only: a person's name finds works whose title holds it", requires_every_word=True,
        row_describes="a work as an entity, not a copy and not an edition", year_means="the first year the library states for the work")
    address_hosts = ("data.bnf.fr", "catalogue.bnf.fr")
    heading_kinds = ("subject", "person")
    unread_fields = ("pages", "call_number", "generated_entries")
    spellings = "bnf:cb120083695"

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        """The two conditions of the licence: the source named, and the day the metadata were fetched."""
        return f"Bibliothèque nationale de France, data.bnf.fr, metadata retrieved {retrieved_at[:10]}, Licence Ouverte (Etalab)"

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """An ark, a provisional work, or a record number (FRBNF), which becomes the ark that it is part of."""
        match = _LOCAL.fullmatch(local)
        if match is None:
            raise InvalidInput("data.bnf.fr mints no identifier of this shape.", archive=KEY, hint=_HINT)
        return _reference(match, None)

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """A page of data.bnf.fr, or one of the general catalogue, whose ark names the same record here."""
        match = _PAGE.fullmatch(unquote(address.path))
        general = address.hostname == "catalogue.bnf.fr"
        if match is None or (general and not match["ark"]):
            raise InvalidInput("This address names no record of data.bnf.fr.", archive=KEY, hint=_HINT)
        return _reference(match, "The address of the general catalogue was read as the ark that data.bnf.fr describes." if general
                          else "The address was read as the identifier that it holds.")

    @classmethod
    def plan_catalogue(cls, query: Query) -> Plan:
        """Only words reach this search, so every other narrowing is dropped; an identifying one makes the archive absent."""
        given = [name for name in IDENTIFYING if name in query.fields]
        if query.native:
            return Plan(absent_because="data.bnf.fr takes no query in a syntax of its own here.")
        if given:
            return Plan(absent_because=_ABSENT_FOR[given[0]])
        if not query.words and "title" not in query.fields:
            because = _DROPPED["creator"] if "creator" in query.fields else "the search needs words of a title"
            return Plan(absent_because=f"Nothing is left to search on: {because}.")
        asked = [name for name in query.fields if name in _DROPPED]
        asked += [name for name, wanted in (("publication", query.publication), ("sort", query.sort != "relevance"),
                                            ("facets", query.facets), ("availability", query.availability)) if wanted]
        dropped = tuple((name, _DROPPED[name]) for name in asked) + tuple((name, _DATES_DROPPED) for name in query.bound_names)
        sent = (("title", "words required in the title of the work; quotation marks do not bind them"),) if "title" in query.fields else ()
        return Plan(sent=sent, dropped=dropped, media_type_asked=query.media_type)

    def search_catalogue(self, query: Query) -> Page:
        """Works whose title holds every word, in the order of their addresses."""
        offset = (query.page - 1) * query.rows
        if offset >= WINDOW:
            return Page(more=False, beyond=f"data.bnf.fr is read up to the first {WINDOW} matches of the words, and this page lies past them.")
        asked = f"{query.words} {query.fields.get('title', '')}"
        words, notes = self._words(asked)
        window = _window("?thing", "dcterms:title", words)
        works = _distinct(f"{{ {window} ?thing a rdafrbr:Work }}", query.rows + 1, offset)
        answer = self._list(_list_query(f"{{ {window} }}", works, _OF_A_WORK))
        things, more = answer.things[:query.rows], len(answer.things) > query.rows
        records = tuple(record for thing in things if (record := read_row(thing)))
        skipped = _skipped(answer, things, records)
        full = (answer.counted or 0) >= WINDOW
        if full:
            notes.append(f"The words match at least {WINDOW} titles of works and editions, and only the first {WINDOW} are "
                         "read, in no order; other works may match, and a second reading may differ. More words narrow it.")
        if answer.row_count >= STATEMENTS_OF_A_LIST:
            notes.append(_CUT)
        beyond = "data.bnf.fr has no further work for these words: this page lies past the last." if query.page > 1 and not things else None
        return Page(records=records, skipped=skipped, more=more or (None if full else False), beyond=beyond, notes=tuple(notes))

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """One request for the record, one more for its list when the section editions is asked."""
        local = reference.local
        reply = self._ask(_record_query(local))
        answer = read_statements(listing(reply.value["results"]["bindings"]), about_address(local))
        if not answer.things:
            raise self._nothing_stated(local, answer)
        thing = answer.things[0]
        notes = []
        if answer.row_count >= STATEMENTS_OF_A_RECORD:
            notes.append(f"The record was cut at {STATEMENTS_OF_A_RECORD} rows, so some of what it states is missing here.")
        editions, total = self._editions(local, kind_of(thing)[0], wanted, notes) if wanted.wants("editions") else ((), None)
        return ItemPage(item=read_item(local, thing, editions, self.attribution(reply.retrieved_at)), list_total=total, notes=tuple(notes))

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """RAMEAU subjects by their preferred form, persons by their name; exact ones first, then in alphabetical order.

        The whole window is read, since its order says nothing. The scheme that marks a RAMEAU subject (r166) is known from
        one recorded concept, so an empty answer for subjects is told with that reserve.
        """
        words, notes = self._words(query)
        if kind == "person":
            window = _window("?person", "foaf:name", words)
            chosen = _distinct(f"{{ {window} ?person a foaf:Person . ?thing foaf:focus ?person }}", WINDOW)
        else:
            window = _window("?thing", "skos:prefLabel", words)
            chosen = _distinct(f"{{ {window} ?thing dcterms:isPartOf <http://data.bnf.fr/vocabulary/scheme/r166> }}", WINDOW)
        answer = self._list(_list_query(f"{{ {window} }}", chosen, _OF_A_HEADING))
        headings = [heading for thing in answer.things if (heading := read_heading(thing, query, kind))]
        skipped = _skipped(answer, answer.things, headings)
        headings.sort(key=lambda heading: (not heading.exact, heading.variant is None, fold(heading.label), heading.uri))
        full = (answer.counted or 0) >= WINDOW or answer.row_count >= STATEMENTS_OF_A_LIST
        if full:
            notes.append(f"Only the first {WINDOW} matching forms were read, in no order; the heading meant may be missing.")
        if not headings and kind == "subject":
            notes.append("Only the preferred French forms of RAMEAU headings are searched; another form may be the one filed.")
        return Page(records=tuple(headings[:rows]), skipped=skipped, more=len(headings) > rows or (None if full else False),
                    notes=tuple(notes))

    def _ask(self, query: str) -> Reply:
        """JSON is asked for twice: with the header alone, XML has been sent. A service that is gone (404) says nothing of records."""
        try:
            return self.ask.get_json(ENDPOINT, form={"query": query, "format": JSON_RESULTS}, headers={"Accept": JSON_RESULTS},
                                     check_text=_check_text, check=_check_shape)
        except RecordNotFound as exc:
            raise ArchiveUnreachable("data.bnf.fr has no query service at its usual address (status 404).", archive=KEY, status=404) from exc

    def _list(self, query: str) -> Answer:
        """A list and its count. A COUNT always gives a row, so an answer without one is no list of nothing."""
        answer = read_statements(listing(self._ask(query).value["results"]["bindings"]))
        if answer.counted is None:
            raise UnreadableAnswer("data.bnf.fr sent a list without the count asked beside it.", archive=KEY)
        return answer

    def _words(self, text: str) -> tuple[tuple[str, ...], list[str]]:
        """The words to require, and a note when they are not what was typed."""
        words, left_off = required_words(text)
        if not words:
            raise InvalidInput("data.bnf.fr: no word is left to search for.", archive=KEY, hint="Give at least one word with letters or digits.")
        pieces = [piece for word in words for piece in re.split("['-]", word)]
        if [piece.casefold() for piece in pieces] == text.casefold().split():
            return words, []
        more = f"; {left_off} further words were left off" if left_off else ""
        return words, [f"data.bnf.fr required each of these words, in any order: {', '.join(pieces)}{more}."]

    def _editions(self, local: str, kind: str, wanted: ItemQuery, notes: list[str]) -> tuple[tuple[Edition, ...], int | None]:
        """The slice asked of the editions of a work or the works of an author; a failure here leaves the record standing."""
        if kind not in _LISTED:
            return (), None
        pattern, properties = _LISTED[kind]
        pattern = pattern.format(about=f"<{about_address(local)}>")
        try:
            answer = self._list(_list_query(f"{{ {{ SELECT DISTINCT ?thing WHERE {pattern} }} }}",
                                            _distinct(pattern, wanted.list_limit, wanted.list_offset), properties))
            editions = tuple(edition for thing in answer.things if (edition := read_edition(thing)))
            skipped = _skipped(answer, answer.things, editions)
        except SourceError as error:
            notes.append(f"The list of editions or works could not be read, which says nothing of how many there are. {error.message}")
            return (), None
        if skipped:
            notes.append(f"{skipped} entries of the list could not be read and are left out.")
        if answer.row_count >= STATEMENTS_OF_A_LIST:
            notes.append(_CUT)
        if kind != "work":
            notes.append("Only works filed under this name as creator are listed; other contributions stand elsewhere, "
                         "so a missing title proves nothing.")
        return editions, answer.counted

    def _nothing_stated(self, local: str, answer: Answer) -> SourceError:
        """Why a record came empty; asked once, since an ark may stand for a kind of thing that is not read here."""
        if answer.nameless_rows:
            return UnreadableAnswer("data.bnf.fr sent a record in which no statement can be read.", archive=KEY)
        rows = listing(self._ask(_types_query(local)).value["results"]["bindings"])
        types = [short(term.value) for row in rows if (term := read_term(mapping(row).get("type")))]
        if rows:
            return UnreadableAnswer(f"data.bnf.fr holds this identifier as {', '.join(types[:3]) or 'something unnamed'}, "
                                    "of which nothing can be read here.", archive=KEY, hint=f"Open {page_address(local)} instead.")
        return RecordNotFound("data.bnf.fr states nothing about this identifier.", archive=KEY)


def _reference(match: re.Match[str], read_as: str | None) -> Reference:
    """The identifier that one of the patterns found; a record number gets its check character, an ark must have its own."""
    groups = match.groupdict()
    if groups["number"]:
        name = "cb" + groups["number"]
        name += arks.check_character(name)
        return Reference(source=KEY, local=name, read_as=f"The record number {groups['number']} was read as the ark {name}.")
    name = groups["ark"] or groups["temp"]
    if name.startswith("cb") and not arks.is_valid(name):
        raise InvalidInput("This ark does not end in its own check character, so one of its characters is mistyped.", archive=KEY, hint=_HINT)
    return Reference(source=KEY, local=name, read_as=read_as)
