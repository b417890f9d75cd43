"""data.bnf.fr: the works, persons, editions and headings of the Bibliothèque nationale de France; it holds no page text.

One SPARQL endpoint answers everything. Every query here returns the same columns, one statement a row (`thing`, `p`, `o` and
the name of what `o` points at), so that one reader serves them all. Gallica addresses are handed out, never requested.

Sources: data.bnf.fr, "Web sémantique et modèle de données"; the guide "Interroger le portail data.bnf.fr par API"
(api.gouv.fr); answers recorded by public projects, 2019 to 2023 (facts of 2026-11).
"""
from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import SplitResult, unquote

from . import arks
from .contract import (
    IDENTIFYING,
    Archive,
    Contributor,
    Copy,
    Describes,
    Edition,
    Heading,
    Item,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    Plan,
    Query,
    Record,
    Reference,
    Related,
    Reply,
    Rights,
)
from .errors import InvalidInput, RecordNotFound, SourceError, TimedOut, UnreadableAnswer
from .text import fold, integer, joined, listing, mapping, strings

KEY = "bnf"
ENDPOINT = "https://data.bnf.fr/sparql"  # no trailing slash: with one, an HTML query editor answers
JSON_RESULTS = "application/sparql-results+json"
WINDOW = 400  # matches of a word search that are read at all; above that the engine gives up before the class filter ends
STATEMENTS_OF_A_LIST = 5000  # rows of one list; the engine refuses to sort more than 10,000
STATEMENTS_OF_A_RECORD = 2000
WORDS_MAX, WORD_CHARS_MAX = 12, 60  # a longer question has only ever been given up

PREFIXES = {
    "foaf": "http://xmlns.com/foaf/0.1/", "skos": "http://www.w3.org/2004/02/skos/core#", "dcterms": "http://purl.org/dc/terms/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#", "bio": "http://vocab.org/bio/0.1/", "isni": "http://isni.org/ontology#",
    "bnf": "http://data.bnf.fr/ontology/bnf-onto/", "roles": "http://data.bnf.fr/vocabulary/roles/",
    "relators": "http://id.loc.gov/vocabulary/relators/", "rdae": "http://rdvocab.info/Elements/",
    "rdag2": "http://rdvocab.info/ElementsGr2/", "rdarel": "http://rdvocab.info/RDARelationshipsWEMI/",
    "rdafrbr": "http://rdvocab.info/uri/schema/FRBRentitiesRDA/", "rdac": "http://rdaregistry.info/Elements/c/#",
}
_PROLOGUE = "\n".join(f"PREFIX {prefix}: <{address}>" for prefix, address in PREFIXES.items())
_OF_A_WORK = "dcterms:title, dcterms:creator, dcterms:date, dcterms:language, bnf:firstYear, rdae:statusOfIdentification"
_OF_AN_EDITION = ("dcterms:title, dcterms:date, dcterms:language, bnf:isbn, bnf:ean, rdae:publishersName, rdae:placeOfPublication, "
                  "dcterms:publisher, rdarel:electronicReproduction, bnf:OCR")
_OF_A_HEADING = "skos:prefLabel, skos:altLabel, foaf:focus"

# What a record is, first match first; the record of an entity is always a skos:Concept too.
KINDS = (
    ("work", {"rdafrbr:Work", "rdac:C10001"}, "This record describes a work as an entity; its editions are records of their own."),
    ("person", {"foaf:Person"}, "This record describes a person; the section editions lists the works filed under that name."),
    ("organisation", {"foaf:Organization"}, "This record describes an organisation; the section editions lists its works."),
    ("manifestation", {"rdafrbr:Manifestation", "rdac:C10007"}, "This record describes one edition of a work."),
    ("expression", {"rdafrbr:Expression", "rdac:C10006"}, "This record describes a version of a work, not an edition."),
    ("heading", {"skos:Concept"}, "This record describes a heading of the library, not a document."),
)
_LISTED = {  # by kind: what stands in the section editions, and the properties read of each
    "work": ("{{ ?thing rdarel:workManifested {about} }}", _OF_AN_EDITION),
    "person": ("{{ ?thing dcterms:creator {about} . ?thing a rdafrbr:Work }}", _OF_A_WORK),
    "organisation": ("{{ ?thing dcterms:creator {about} . ?thing a rdafrbr:Work }}", _OF_A_WORK),
}
_PROSE = {  # by kind: the properties that are prose, and what the prose is
    "manifestation": ("dcterms:abstract rdae:note skos:note", "the abstract and notes of the library's record"),  # description = extent
    "person": ("rdag2:biographicalInformation skos:note", "the library's biographical note, often one trade or one sentence"),
    "heading": ("skos:scopeNote skos:definition skos:note", "the library's notes on the use of this heading"),
}
_PROSE_OF_OTHERS = ("dcterms:abstract dcterms:description rdae:note skos:note", "the abstract and notes of the library's record")
_LINKS = (
    ("dcterms:creator", "creator"), ("rdarel:workManifested", "work"), ("foaf:focus", "named by this heading"),
    ("skos:broader", "broader heading"), ("skos:narrower", "narrower heading"), ("skos:related", "related heading"),
    ("owl:sameAs", "same thing elsewhere"), ("skos:exactMatch", "exact match"), ("skos:closeMatch", "close match"),
    ("skos:relatedMatch", "related match"), ("rdfs:seeAlso", "see also"), ("foaf:depiction", "picture, under its own terms"),
)
_ROLES = {"r70": "author", "r680": "translator"}  # the vocabulary is addresses; a code not verified is shown as it is
_NUMBERS = {"isbn": "bnf:isbn", "issn": "bnf:issn", "ean": "bnf:ean", "frbnf": "bnf:FRBNF", "isni": "isni:identifierValid"}
_COPIES = {"rdarel:electronicReproduction": "digital reproduction on Gallica, to be opened in a browser",
           "bnf:OCR": "digital document with machine-read text on Gallica, to be opened in a browser"}

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
_CUT = f"data.bnf.fr: the list was cut at {STATEMENTS_OF_A_LIST} statements; its last entries may be missing or told in part."
_DATES_DROPPED = "the search carries no date: the date of a work is free text"
_ABSENT_FOR = {
    "isbn": "data.bnf.fr files an ISBN under editions, with hyphens that cannot be guessed; its search reads titles of works.",
    "lccn": "data.bnf.fr files no Library of Congress numbers.",
    "oclc": "data.bnf.fr files no OCLC numbers.",
    "collection": "data.bnf.fr has no collections in this sense.",
}

_ADDRESS = re.compile(r"https?://data\.bnf\.fr/(?:ark:/12148/(?P<ark>c[bc][0-9a-z]{6,20})|(?P<temp>temp-work/[0-9a-f]{32}))(?:[/#].*)?")
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
    about, record = _about(local), _address(local)
    return f"""{_PROLOGUE}
SELECT ?p ?o ?name ?heading ?title WHERE {{
  {{ <{about}> ?p ?o }} UNION {{ <{record}> ?p ?o }} UNION {{ <{record}#Expression> ?p ?o }}
  OPTIONAL {{ ?o foaf:name ?name }} OPTIONAL {{ ?o skos:prefLabel ?heading }} OPTIONAL {{ ?o dcterms:title ?title }}
}} LIMIT {STATEMENTS_OF_A_RECORD}"""


def _types_query(local: str) -> str:
    """What an address without statements is, under the fragments that older data used too."""
    fragments = ("", "#about", "#Expression", "#spatialThing", "#foaf:Person", "#foaf:Organization", "#frbr:Work")
    return f"{_PROLOGUE}\nSELECT DISTINCT ?type WHERE {{ " + " UNION ".join(
        f"{{ <{_address(local)}{fragment}> a ?type }}" for fragment in fragments) + " } LIMIT 50"


# ---- addresses -----------------------------------------------------------------------------------------------------

def _address(local: str) -> str:
    """The record's address as data: http, as the service files it."""
    return f"http://data.bnf.fr/{local}/" if local.startswith("temp-work/") else f"http://data.bnf.fr/ark:/12148/{local}"


def _about(local: str) -> str:
    return _address(local) + "#about"


def _page_address(local: str) -> str:
    return _address(local).replace("http:", "https:", 1)


def _local(address: str) -> str | None:
    """The identifier inside an address of data.bnf.fr that get_item would read; None for any other address."""
    match = _ADDRESS.fullmatch(address)
    name = match and (match["ark"] or match["temp"])
    return None if not name or (name.startswith("cb") and not arks.is_valid(name)) else name


# ---- statements ----------------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One value: a text with its language, or an address with the name of what it points at."""

    value: str
    is_address: bool = False
    language: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """What is stated about one address, by property; `address` is "" when the row did not name one."""

    address: str
    statements: dict[str, list[Term]]

    def terms(self, *properties: str) -> Iterator[Term]:
        return (term for name in properties for term in self.statements.get(name, ()))

    def texts(self, *properties: str) -> tuple[str, ...]:
        """The texts of these properties, each once; French ones and those without a language first."""
        found = [term for term in self.terms(*properties) if not term.is_address]
        found.sort(key=lambda term: term.language not in (None, "fr"))
        return tuple(dict.fromkeys(term.value for term in found))

    def addresses(self, *properties: str) -> tuple[str, ...]:
        found = (term.value for term in self.terms(*properties) if term.is_address and re.match("https?://", term.value))
        return tuple(dict.fromkeys(found))

    def first(self, *properties: str) -> str | None:
        return next((text for name in properties for text in self.texts(name)), None)

    def languages(self) -> tuple[str, ...]:
        """MARC codes, the last piece of an id.loc.gov address; a text as it stands."""
        found = self.terms("dcterms:language", "rdag2:languageOfThePerson")
        return tuple(dict.fromkeys(term.value.rstrip("/").rsplit("/", 1)[-1] if term.is_address else term.value for term in found))

    def year(self) -> int | None:
        """The year when exactly one is stated. Years below 1 stay unread: nothing says how the service counts them."""
        years = {integer(text) for text in self.texts("bnf:firstYear")}
        year = years.pop() if len(years) == 1 else None
        return year if year and year > 0 else None

    def numbers(self) -> dict[str, tuple[str, ...]]:
        return {name: found for name, property_ in _NUMBERS.items() if (found := self.texts(property_))}

    def provisional(self) -> bool | None:
        """What the library says of the identifier; for want of that, the shape of a machine-made address; else None."""
        status = " ".join(self.texts("rdae:statusOfIdentification")).casefold()
        if "provisional" in status or "established" in status:
            return "provisional" in status
        return True if "/temp-work/" in self.address else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer read: its things in the order they came, the count asked beside them, rows that named no thing."""

    things: tuple[Thing, ...]
    counted: int | None
    nameless_rows: int
    row_count: int

    def is_cut(self) -> bool:
        """Whether a list stopped at its row limit, so that its last thing may be stated in part."""
        return self.row_count >= STATEMENTS_OF_A_LIST


def _term(cell: Any, name: str | None = None) -> Term | None:
    block = mapping(cell)
    value = next(iter(strings(block.get("value"))), None)
    language = next(iter(strings(block.get("xml:lang"))), None)
    return None if value is None else Term(value=value, is_address=block.get("type") == "uri", language=language, name=name)


def _short(address: str) -> str:
    """An address as prefix:name where PREFIXES knows it, the longest prefix winning; else as it stands."""
    prefix = max((entry for entry in PREFIXES.items() if address.startswith(entry[1])), key=lambda entry: len(entry[1]), default=None)
    return f"{prefix[0]}:{address[len(prefix[1]):]}" if prefix else address


def _read(bindings: Sequence[Any], address: str | None = None) -> Answer:
    """Statements gathered by thing; with `address`, all of them are about that one. A repeated statement counts once."""
    things: dict[str, dict[str, list[Term]]] = {}
    counted, nameless = None, 0
    for row in map(mapping, bindings):
        count = _term(row.get("counted"))
        if count is not None:
            counted = integer(count.value)
            continue
        subject, property_ = _term(row.get("thing")), _term(row.get("p"))
        named = next((term.value for key in ("name", "heading", "title") if (term := _term(row.get(key)))), None)
        value = _term(row.get("o"), named)
        about = address or (subject and subject.value)
        if not about or not property_ or not value:
            nameless += 1
            continue
        terms = things.setdefault(about, {}).setdefault(_short(property_.value), [])
        if all(value.value != other.value or value.language != other.language for other in terms):
            terms.append(value)
    return Answer(things=tuple(Thing(address=about, statements=found) for about, found in things.items()), counted=counted,
                  nameless_rows=nameless, row_count=len(bindings))


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
        records = tuple(record for thing in things if (record := _record(thing)))
        skipped = _skipped(answer, things, records)
        full = (answer.counted or 0) >= WINDOW
        if full:
            notes.append(f"data.bnf.fr: the words match at least {WINDOW} titles of works and editions, and only the first {WINDOW} are "
                         "read, in no order; other works may match, and a second reading may differ. More words narrow it.")
        if answer.is_cut():
            notes.append(_CUT)
        beyond = "data.bnf.fr has no further work for these words: this page lies past the last." if query.page > 1 and not things else None
        return Page(records=records, skipped=skipped, more=more or (None if full else False), beyond=beyond, notes=tuple(notes))

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """One request for the record, one more for its list when the section editions is asked."""
        local = reference.local
        reply = self._ask(_record_query(local))
        answer = _read(listing(reply.value["results"]["bindings"]), _about(local))
        if not answer.things:
            raise self._nothing_stated(local, answer)
        thing = answer.things[0]
        notes = []
        if answer.row_count >= STATEMENTS_OF_A_RECORD:
            notes.append(f"The record was cut at {STATEMENTS_OF_A_RECORD} rows, so some of what it states is missing here.")
        editions, total = self._editions(local, _kind(thing)[0], wanted, notes) if wanted.wants("editions") else ((), None)
        return ItemPage(item=_item(local, thing, editions, self.attribution(reply.retrieved_at)), list_total=total, notes=tuple(notes))

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
        headings = [heading for thing in answer.things if (heading := _heading(thing, query, kind))]
        skipped = _skipped(answer, answer.things, headings)
        headings.sort(key=lambda heading: (not heading.exact, heading.variant is None, fold(heading.label), heading.uri))
        full = (answer.counted or 0) >= WINDOW or answer.is_cut()
        if full:
            notes.append(f"data.bnf.fr: only the first {WINDOW} matching forms were read, in no order; the heading meant may be missing.")
        if not headings and kind == "subject":
            notes.append("data.bnf.fr: only the preferred French forms of RAMEAU headings are searched; another form may be the one filed.")
        return Page(records=tuple(headings[:rows]), skipped=skipped, more=len(headings) > rows or (None if full else False),
                    notes=tuple(notes))

    def _ask(self, query: str) -> Reply:
        """JSON is asked for twice: with the header alone, XML has been sent."""
        return self.ask.get_json(ENDPOINT, form={"query": query, "format": JSON_RESULTS}, headers={"Accept": JSON_RESULTS},
                                 check_text=_check_text, check=_check_shape)

    def _list(self, query: str) -> Answer:
        """A list and its count. A COUNT always gives a row, so an answer without one is no list of nothing."""
        answer = _read(listing(self._ask(query).value["results"]["bindings"]))
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
        pattern = pattern.format(about=f"<{_about(local)}>")
        try:
            answer = self._list(_list_query(f"{{ {{ SELECT DISTINCT ?thing WHERE {pattern} }} }}",
                                            _distinct(pattern, wanted.list_limit, wanted.list_offset), properties))
            editions = tuple(edition for thing in answer.things if (edition := _edition(thing)))
            skipped = _skipped(answer, answer.things, editions)
        except SourceError as error:
            notes.append(f"The list of editions or works could not be read, which says nothing of how many there are. {error.message}")
            return (), None
        if skipped:
            notes.append(f"{skipped} entries of the list could not be read and are left out.")
        if answer.is_cut():
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
        types = [_short(term.value) for row in rows if (term := _term(mapping(row).get("type")))]
        if rows:
            return UnreadableAnswer(f"data.bnf.fr holds this identifier as {', '.join(types[:3]) or 'something unnamed'}, "
                                    "of which nothing can be read here.", archive=KEY, hint=f"Open {_page_address(local)} instead.")
        return RecordNotFound("data.bnf.fr states nothing about this identifier.", archive=KEY)


# ---- statements as values of the contract --------------------------------------------------------------------------

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


def _skipped(answer: Answer, things: Sequence[Thing], read: Sequence[Any]) -> int:
    """How many rows could not be read. Raises UnreadableAnswer when rows came and none could."""
    skipped = len(things) - len(read) + answer.nameless_rows
    if skipped and not read:
        raise UnreadableAnswer("data.bnf.fr sent rows, and none of them can be read.", archive=KEY)
    return skipped


def _creators(thing: Thing) -> tuple[str, ...]:
    """Names of creators; a creator known by its address alone has none."""
    return tuple(dict.fromkeys(name for term in thing.terms("dcterms:creator")
                               if (name := term.name if term.is_address else term.value)))


def _record(thing: Thing) -> Record | None:
    local = _local(thing.address)
    if local is None:
        return None
    authors = tuple(f"{KEY}:{found}" for address in thing.addresses("dcterms:creator") if (found := _local(address)))
    return Record(identifier=f"{KEY}:{local}", source=KEY, title=thing.first("dcterms:title"), creator=joined(_creators(thing)),
                  year=thing.year(), date=joined(thing.texts("dcterms:date")), media_type="work", source_url=_page_address(local),
                  identifier_provisional=thing.provisional(), languages=thing.languages(), author_identifiers=authors)


def _heading(thing: Thing, query: str, kind: str) -> Heading | None:
    """A heading; exact when its form, or a person's name without the dates, is the query but for case and accents."""
    local, label = _local(thing.address), thing.first("skos:prefLabel")
    if local is None or label is None:
        return None
    wanted = fold(" ".join(query.split()))
    name = next((term.name for term in thing.terms("foaf:focus") if term.name), None)
    exact = wanted in (fold(label), fold(name or label))
    variant = None if exact else next((form for form in thing.texts("skos:altLabel") if fold(form) == wanted), None)
    use_with = {"argument": "creator", "value": name or label, "sources": ["archive", "openlibrary", "gallica"]}
    if kind == "subject":  # Gallica files these very headings; the other archives have vocabularies of their own
        use_with = {"argument": "subject", "value": label, "sources": ["gallica"]}
    return Heading(label=label, uri=thing.address, identifier=f"{KEY}:{local}", kind=kind, source=KEY, exact=exact, variant=variant,
                   use_with=use_with)


def _edition(thing: Thing) -> Edition | None:
    local = _local(thing.address)
    if local is None:
        return None
    return Edition(identifier=f"{KEY}:{local}", title=thing.first("dcterms:title"), date=joined(thing.texts("dcterms:date")),
                   publisher=joined(thing.texts("rdae:publishersName") or thing.texts("dcterms:publisher")),
                   place=joined(thing.texts("rdae:placeOfPublication")), language=thing.languages(), standard_numbers=thing.numbers(),
                   source_url=_page_address(local), digitised_url=next(iter(thing.addresses(*_COPIES)), None))


def _kind(thing: Thing) -> tuple[str, str]:
    """What the record is, and the sentence that says so."""
    types = {_short(address) for address in thing.addresses("rdf:type")}
    return next(((kind, says) for kind, classes, says in KINDS if classes & types),
                ("record", "data.bnf.fr does not say in known terms what this record describes."))


def _item(local: str, thing: Thing, editions: tuple[Edition, ...], attribution: str) -> Item:
    kind, says = _kind(thing)
    prose, prose_means = _PROSE.get(kind, _PROSE_OF_OTHERS)
    paragraphs = dict.fromkeys(text for name in prose.split() for text in thing.texts(name))
    year = thing.year() if kind in ("work", "manifestation", "expression") else None  # a person's is the year of birth
    copies = tuple(Copy(label=label, url=url) for name, label in _COPIES.items() for url in thing.addresses(name))
    return Item(
        identifier=f"{KEY}:{local}", source=KEY, title=thing.first("dcterms:title", "foaf:name", "skos:prefLabel", "rdfs:label"),
        creator=joined(_creators(thing)), creators=_creators(thing), year=year,
        year_means=None if year is None else f"the first year the library states for this {kind}",
        date=joined(thing.texts("dcterms:date")), media_type=kind, source_url=_page_address(local), attribution=attribution,
        identifier_provisional=thing.provisional(), description="\n\n".join(paragraphs) or None,
        description_means=prose_means if paragraphs else None, notes=_notes(thing, says), subjects=_subjects(thing),
        rights=Rights(
            statement="Licence Ouverte (Etalab): reuse is free, commercial use too, if the Bibliothèque nationale de France is named "
                      "as the source together with the date of retrieval.", url="https://data.bnf.fr/opendata",
            covers="the whole catalogue's metadata", note="It does not speak of documents digitised on Gallica, which have terms of their own."),
        copies=copies, copies_available=len(copies) if kind == "manifestation" else None, context=_context(local, thing),
        contributors=_contributors(thing), editions=editions, language=thing.languages(),
        publisher=joined(thing.texts("rdae:publishersName") or thing.texts("dcterms:publisher")),
        place=joined(thing.texts("rdae:placeOfPublication")),
        extent=joined(thing.texts("dcterms:description")) if kind == "manifestation" else None,
        standard_numbers={**thing.numbers(), **({} if "/" in local else {"ark": (f"ark:/12148/{local}",)})})


def _notes(thing: Thing, says: str) -> tuple[str, ...]:
    """What the record is, then what it states that has no field of its own, quoted as published."""
    titles, heading = thing.texts("dcterms:title"), thing.texts("skos:prefLabel")
    unnamed = sum(1 for term in thing.terms("dcterms:creator") if term.is_address and not term.name)
    forms = [address.rstrip("/").rsplit("/", 1)[-1] for address in thing.addresses("rdae:formOfWork")]
    told = (
        ("The library calls this identifier provisional and can replace it.", thing.provisional() or ""),
        ("Further titles: {}.", "; ".join(titles[1:11])),
        ("The library's heading: {}.", "; ".join(heading[:3]) if thing.texts("foaf:name", "dcterms:title") else ""),
        ("Other forms: {}.", "; ".join(thing.texts("skos:altLabel")[:10])),
        ("Born, as published: {}.", ", ".join(thing.texts("bio:birth", "rdag2:placeOfBirth"))),
        ("Died, as published: {}.", ", ".join(thing.texts("bio:death", "rdag2:placeOfDeath"))),
        ("Years filed with the name: {}.", " to ".join(thing.texts("bnf:firstYear", "bnf:lastYear")) if thing.texts("foaf:name") else ""),
        ("Edition statement: {}.", "; ".join(thing.texts("rdae:editionStatement"))),
        ("Form of work, in the library's own codes: {}.", ", ".join(dict.fromkeys(forms))),
        ("Creators given by address alone: {}; the section context shows them.", unnamed or ""),
    )
    return (says, *(sentence.format(value) for sentence, value in told if value))


def _subjects(thing: Thing) -> tuple[str, ...]:
    """Dewey classes as classes, headings by their form, words as words: three vocabularies, none reduced to another."""
    found = []
    for term in thing.terms("dcterms:subject", "rdag2:fieldOfActivityOfThePerson", "bnf:subject"):
        dewey, local = re.fullmatch(r"https?://dewey\.info/class/([\d.]+)/.*", term.value), _local(term.value)
        if not term.is_address:
            found.append(term.value)
        elif dewey:
            found.append(f"Dewey class {dewey.group(1)}")
        else:
            found.append(term.name or (f"heading {KEY}:{local}, its form not stated" if local else term.value))
    return tuple(dict.fromkeys(found))


def _contributors(thing: Thing) -> tuple[Contributor, ...]:
    """Creators, then those named in a role on the thing or on its version; a role without a verified name keeps its code."""
    roles = [("dcterms:creator", "creator"), ("dcterms:contributor", "contributor")]
    roles += [(name, _ROLES.get(code, code)) for name in thing.statements
              for prefix, _, code in [name.partition(":")] if prefix in ("roles", "relators")]
    found = []
    for property_, role in roles:
        for term in thing.terms(property_):
            name, local = term.name if term.is_address else term.value, _local(term.value)
            if name:
                found.append(Contributor(name=name, role=role, identifier=f"{KEY}:{local}" if local else None))
    return tuple(dict.fromkeys(found))


def _context(local: str, thing: Thing) -> tuple[Related, ...]:
    """Records and pages that this one points at, itself left out; each address once, under its first relation."""
    found: dict[str, Related] = {}
    for property_, relation in (*_LINKS, ("dcterms:subject", "subject heading")):
        for term in thing.terms(property_):
            other = _local(term.value)
            address = _page_address(other) if other else term.value
            if not term.is_address or other == local or (property_ == "dcterms:subject" and not other) or not address.startswith("http"):
                continue
            found.setdefault(address, Related(identifier=f"{KEY}:{other}" if other else None, label=term.name or address, kind=relation,
                                              source_url=address))
    return tuple(found.values())
