"""How data.bnf.fr states things, and how its statements become values here. Pure functions.

Every answer is a table of statements: an address, a property, a value, and the name of what the
value points at. They are gathered into a `Thing` by address, and a thing becomes a row, a heading,
an edition or an item.

Sources: data.bnf.fr, "Web sémantique et modèle de données"; answers recorded by public projects,
2019 to 2023 (facts of 2026-11).
"""
from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..contract import Contributor, Copy, Edition, Heading, Item, Record, Related, Rights
from ..errors import UnreadableAnswer
from ..text import amount, first, fold, integer, joined, mapping
from .dates import span_of
from .numbers import is_ark

KEY = "bnf"
PREFIXES = {
    "foaf": "http://xmlns.com/foaf/0.1/", "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcterms": "http://purl.org/dc/terms/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#", "bio": "http://vocab.org/bio/0.1/",
    "isni": "http://isni.org/ontology#",
    "bnf": "http://data.bnf.fr/ontology/bnf-onto/", "roles": "http://data.bnf.fr/vocabulary/roles/",
    "relators": "http://id.loc.gov/vocabulary/relators/", "rdae": "http://rdvocab.info/Elements/",
    "rdag2": "http://rdvocab.info/ElementsGr2/",
    "rdarel": "http://rdvocab.info/RDARelationshipsWEMI/",
    "rdafrbr": "http://rdvocab.info/uri/schema/FRBRentitiesRDA/",
    "rdac": "http://rdaregistry.info/Elements/c/#",
}

# What a record is, first match first; the record of an entity is always a skos:Concept too.
KINDS = (
    ("work", {"rdafrbr:Work", "rdac:C10001"},
     "This record describes a work as an entity; its editions are records of their own."),
    ("person", {"foaf:Person"}, "This record describes a person; the section editions lists the "
                                "works filed under that name."),
    ("organisation", {"foaf:Organization"}, "This record describes an organisation; the section "
                                            "editions lists its works."),
    ("manifestation", {"rdafrbr:Manifestation", "rdac:C10007"},
     "This record describes one edition of a work."),
    ("expression", {"rdafrbr:Expression", "rdac:C10006"},
     "This record describes a version of a work, not an edition."),
    ("heading", {"skos:Concept"},
     "This record describes a heading of the library, not a document."),
)
_PROSE = {  # by kind: the properties that are prose, and what the prose is
    # of an edition, dcterms:description is the extent
    "manifestation": ("dcterms:abstract rdae:note skos:note",
                      "the abstract and notes of the library's record"),
    "person": ("rdag2:biographicalInformation skos:note",
               "the library's biographical note, often one trade or one sentence"),
    "heading": ("skos:scopeNote skos:definition skos:note",
                "the library's notes on the use of this heading"),
}
_PROSE_OF_OTHERS = ("dcterms:abstract dcterms:description rdae:note skos:note",
                    "the abstract and notes of the library's record")
# Notes: the label, its properties, what stands between their texts, from which of them on, and what
# must be stated beside them.
_TOLD = (
    ("Further titles", "dcterms:title", "; ", 1, ""),
    ("The library's heading", "skos:prefLabel", "; ", 0, "foaf:name dcterms:title"),
    ("Other forms", "skos:altLabel", "; ", 0, ""),
    ("Born, as published", "bio:birth rdag2:placeOfBirth", ", ", 0, ""),
    ("Died, as published", "bio:death rdag2:placeOfDeath", ", ", 0, ""),
    ("Years filed with the name", "bnf:firstYear bnf:lastYear", " to ", 0, "foaf:name"),
    ("Edition statement", "rdae:editionStatement", "; ", 0, ""),
)
_TOLD_AT_MOST = 10  # texts of one note; how many there are is then said
_LINKS = (
    ("dcterms:creator", "creator"), ("rdarel:workManifested", "work"),
    ("foaf:focus", "named by this heading"),
    ("skos:broader", "broader heading"), ("skos:narrower", "narrower heading"),
    ("skos:related", "related heading"),
    ("owl:sameAs", "same thing elsewhere"), ("skos:exactMatch", "exact match"),
    ("skos:closeMatch", "close match"),
    ("skos:relatedMatch", "related match"), ("rdfs:seeAlso", "see also"),
    ("foaf:depiction", "picture, under its own terms"),
    ("dcterms:subject", "subject heading"),
)
# the vocabulary is addresses; a code not verified is shown as it is
_ROLES = {"r70": "author", "r680": "translator"}
_NUMBERS = {"isbn": "bnf:isbn", "issn": "bnf:issn", "ean": "bnf:ean", "frbnf": "bnf:FRBNF",
            "isni": "isni:identifierValid"}
_COPIES = {"rdarel:electronicReproduction": "digital reproduction on Gallica, to be opened in a "
                                            "browser",
           "bnf:OCR": "digital document with machine-read text on Gallica, to be opened in a "
                      "browser"}
_RIGHTS = Rights(
    statement="Licence Ouverte (Etalab): reuse is free, commercial use too, if the Bibliothèque "
              "nationale de France is named as the source together with the date of retrieval.",
    url="https://data.bnf.fr/opendata", covers="the whole catalogue's metadata",
    note="It does not speak of documents digitised on Gallica, which have terms of their own.")

ARK, TEMPORARY = "c[bc][0-9a-z]{6,20}", "temp-work/[0-9a-f]{32}"  # the shapes of identifiers
_ADDRESS = re.compile(
    rf"https?://data\.bnf\.fr/(?:ark:/12148/(?P<ark>{ARK})|(?P<temp>{TEMPORARY}))(?:[/#].*)?")


# ---- addresses -----------------------------------------------------------------------------------

def record_address(local: str) -> str:
    """The record's address as data: http, as the service files it."""
    path = f"{local}/" if local.startswith("temp-work/") else f"ark:/12148/{local}"
    return f"http://data.bnf.fr/{path}"


def about_address(local: str) -> str:
    return record_address(local) + "#about"


def page_address(local: str) -> str:
    return record_address(local).replace("http:", "https:", 1)


def local_of(address: str) -> str | None:
    """The identifier inside an address of data.bnf.fr that get_item would read; None for any other
    address."""
    match = _ADDRESS.fullmatch(address)
    name = match and (match["ark"] or match["temp"])
    return None if not name or (name.startswith("cb") and not is_ark(name)) else name


# ---- statements ----------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One value: a text with its language, or an address with the name of what it points at. The
    name makes no other value."""

    value: str
    is_address: bool = False
    language: str | None = None
    name: str | None = field(default=None, compare=False)

    @property
    def label(self) -> str | None:
        return self.name if self.is_address else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """What is stated about one address, by property in its short form ("dcterms:title")."""

    address: str
    statements: dict[str, list[Term]]

    def terms(self, *properties: str) -> Iterator[Term]:
        """The values of these properties, each once."""
        stated = (self.statements.get(name, ()) for name in properties)
        return (term for terms in stated for term in dict.fromkeys(terms))

    def texts(self, *properties: str) -> tuple[str, ...]:
        """The texts of these properties, each once; French ones and those without a language
        first."""
        found = [term for term in self.terms(*properties) if not term.is_address]
        found.sort(key=lambda term: term.language not in (None, "fr"))
        return tuple(dict.fromkeys(term.value for term in found))

    def addresses(self, *properties: str) -> tuple[str, ...]:
        found = (term.value for term in self.terms(*properties) if term.is_address
                 and re.match("https?://", term.value))
        return tuple(dict.fromkeys(found))

    def first(self, *properties: str) -> str | None:
        return next((text for name in properties for text in self.texts(name)), None)

    def creators(self) -> tuple[str, ...]:
        """Names of creators; a creator known by its address alone has none."""
        return tuple(dict.fromkeys(term.label for term in self.terms("dcterms:creator")
                                   if term.label))

    def languages(self) -> tuple[str, ...]:
        """MARC codes, the last piece of an id.loc.gov address; a text as it stands."""
        found = self.terms("dcterms:language", "rdag2:languageOfThePerson")
        return tuple(dict.fromkeys(_last_piece(term.value) if term.is_address else term.value
                                   for term in found))

    def year(self) -> int | None:
        """The year when exactly one is stated. Years below 1 stay unread: nothing says how the
        service counts them."""
        years = {integer(text) for text in self.texts("bnf:firstYear")}
        year = years.pop() if len(years) == 1 else None
        return year if year and year > 0 else None

    def numbers(self) -> dict[str, tuple[str, ...]]:
        return {name: found for name, property_ in _NUMBERS.items()
                if (found := self.texts(property_))}

    def provisional(self) -> bool | None:
        """What the library says of the identifier; for want of that, the shape of a machine-made
        address; else None."""
        status = " ".join(self.texts("rdae:statusOfIdentification")).casefold()
        if "provisional" in status or "established" in status:
            return "provisional" in status
        return True if "/temp-work/" in self.address else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer read: its things in the order they came, the count asked beside them, rows that
    stated nothing, all rows."""

    things: tuple[Thing, ...]
    counted: int | None
    unread_rows: int
    row_count: int


def cell(row: Any, column: str) -> str | None:
    """The text in one cell of an answer."""
    return first(mapping(mapping(row).get(column)).get("value"))


@functools.lru_cache(maxsize=256)  # the same dozen properties on every row
def short(address: str) -> str:
    """An address as prefix:name where PREFIXES knows it, else as it stands."""
    return next((f"{prefix}:{address[len(start):]}" for prefix, start in PREFIXES.items()
                 if address.startswith(start)), address)


def read_statements(rows: Sequence[Any], address: str | None = None) -> Answer:
    """Statements gathered by thing; with `address`, all of them are about that one.

    Raises:
        UnreadableAnswer: rows came, and none states anything.
    """
    things: dict[str, dict[str, list[Term]]] = {}
    counted, unread = None, 0
    for row in rows:
        count, about = cell(row, "counted"), address or cell(row, "thing")
        property_, term = cell(row, "p"), _term(row)
        if count is not None:
            counted = amount(count)
        elif about and property_ and term:
            things.setdefault(about, {}).setdefault(short(property_), []).append(term)
        else:
            unread += 1
    if unread and not things:
        raise UnreadableAnswer("data.bnf.fr sent rows, and none of them can be read.", archive=KEY)
    gathered = tuple(Thing(address=about, statements=stated) for about, stated in things.items())
    return Answer(things=gathered, counted=counted, unread_rows=unread, row_count=len(rows))


def _term(row: Any) -> Term | None:
    """The value that a row states, with the name of what it points at; None where it states
    none."""
    value = cell(row, "o")
    if not value:
        return None
    name = next(filter(None, (cell(row, column) for column in ("name", "heading", "title"))), None)
    return Term(value=value, is_address=row["o"].get("type") == "uri",
                language=first(row["o"].get("xml:lang")), name=name)


def _last_piece(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2]


# ---- values --------------------------------------------------------------------------------------

def read_row(thing: Thing) -> Record | None:
    local = local_of(thing.address)
    if local is None:
        return None
    authors = tuple(f"{KEY}:{found}" for address in thing.addresses("dcterms:creator")
                    if (found := local_of(address)))
    return Record(identifier=f"{KEY}:{local}", title=thing.first("dcterms:title"),
                  creator=joined(thing.creators()),
                  year=thing.year(), span=span_of(thing.year()),
                  date=joined(thing.texts("dcterms:date")), media_type="work",
                  source_url=page_address(local),
                  identifier_provisional=thing.provisional(), languages=thing.languages(),
                  author_identifiers=authors)


def read_heading(thing: Thing, query: str, kind: str) -> Heading | None:
    """A heading; exact when its form, or a person's name without the dates, is the query but for
    case and accents."""
    local = local_of(thing.address)
    name = next((term.name for term in thing.terms("foaf:focus") if term.name), None)
    label = thing.first("skos:prefLabel") or name
    if local is None or label is None:
        return None
    wanted = fold(" ".join(query.split()))
    exact = wanted in (fold(label), fold(name or label))
    variant = None if exact else next((form for form in thing.texts("skos:altLabel")
                                       if fold(form) == wanted), None)
    return Heading(label=label, uri=thing.address, identifier=f"{KEY}:{local}", kind=kind,
                   exact=exact, variant=variant,
                   use_with=_use_with(kind, label, name))


def rank(heading: Heading) -> tuple[Any, ...]:
    """Exact forms first, then other forms of the heading that are exact, then the rest by the
    alphabet."""
    return (not heading.exact, heading.variant is None, fold(heading.label), heading.uri)


def _use_with(kind: str, label: str, name: str | None) -> dict[str, Any]:
    """The general catalogue and Gallica file these very subject headings; the other archives have
    vocabularies of their own."""
    if kind == "subject":
        return {"argument": "subject", "value": label, "sources": ["bnfcatalogue", "gallica"]}
    return {"argument": "creator", "value": name or label,
            "sources": ["archive", "bnfcatalogue", "openlibrary", "gallica"]}


def read_edition(thing: Thing) -> Edition | None:
    local = local_of(thing.address)
    if local is None:
        return None
    return Edition(identifier=f"{KEY}:{local}", title=thing.first("dcterms:title"),
                   date=joined(thing.texts("dcterms:date")),
                   publisher=_publisher(thing),
                   place=joined(thing.texts("rdae:placeOfPublication")), language=thing.languages(),
                   standard_numbers=thing.numbers(), source_url=page_address(local),
                   digitised_url=next(iter(thing.addresses(*_COPIES)), None))


def kind_of(thing: Thing) -> tuple[str, str]:
    """What the record is, and the sentence that says so."""
    types = {short(address) for address in thing.addresses("rdf:type")}
    return next(((kind, says) for kind, classes, says in KINDS if classes & types),
                ("record", "data.bnf.fr does not say in known terms what this record describes."))


def read_item(local: str, thing: Thing, editions: tuple[Edition, ...]) -> Item:
    kind, says = kind_of(thing)
    # a person's is the year of birth
    year = thing.year() if kind in ("work", "manifestation", "expression") else None
    description, description_means = _prose(kind, thing)
    copies = tuple(Copy(label=label, url=url) for name, label in _COPIES.items()
                   for url in thing.addresses(name))
    return replace(
        _described(local, thing), media_type=kind, notes=_notes(thing, says), editions=editions,
        copies=copies,
        description=description, description_means=description_means,
        year=year, year_means=None if year is None else "the first year the library states for "
                                                        f"this {kind}",
        copies_available=len(copies) if kind == "manifestation" else None,
        extent=joined(thing.texts("dcterms:description")) if kind == "manifestation" else None)


def _described(local: str, thing: Thing) -> Item:
    """What is read alike of every kind of record."""
    ark = {} if "/" in local else {"ark": (f"ark:/12148/{local}",)}
    return Item(
        identifier=f"{KEY}:{local}", source_url=page_address(local),
        identifier_provisional=thing.provisional(), rights=_RIGHTS,
        title=thing.first("dcterms:title", "foaf:name", "skos:prefLabel", "rdfs:label"),
        date=joined(thing.texts("dcterms:date")),
        creator=joined(thing.creators()), creators=thing.creators(),
        contributors=_contributors(thing),
        subjects=_subjects(thing), context=_context(local, thing), language=thing.languages(),
        publisher=_publisher(thing),
        place=joined(thing.texts("rdae:placeOfPublication")),
        standard_numbers={**thing.numbers(), **ark})


def _prose(kind: str, thing: Thing) -> tuple[str | None, str | None]:
    """The prose of a record, each paragraph once, and what it is."""
    properties, means = _PROSE.get(kind, _PROSE_OF_OTHERS)
    paragraphs = dict.fromkeys(text for name in properties.split() for text in thing.texts(name))
    return ("\n\n".join(paragraphs), means) if paragraphs else (None, None)


def _publisher(thing: Thing) -> str | None:
    return joined(thing.texts("rdae:publishersName") or thing.texts("dcterms:publisher"))


def _notes(thing: Thing, says: str) -> tuple[str, ...]:
    """What the record is, then what it states that has no field of its own, quoted as published."""
    notes = [says]
    if thing.provisional():
        notes.append("The library calls this identifier provisional and can replace it.")
    for label, properties, separator, start, beside in _TOLD:
        texts = thing.texts(*properties.split())[start:]
        told = texts[:_TOLD_AT_MOST]
        of_all = f" ({len(told)} of {len(texts)})" if told != texts else ""
        if texts and (not beside or thing.first(*beside.split())):
            notes.append(f"{label}{of_all}: {separator.join(told)}")
    forms = dict.fromkeys(map(_last_piece, thing.addresses("rdae:formOfWork")))
    if forms:
        notes.append(f"Form of work, in the library's own codes: {', '.join(forms)}")
    unnamed = sum(term.label is None for term in thing.terms("dcterms:creator"))
    if unnamed:
        notes.append(f"Creators given by address alone: {unnamed}; the section context shows them.")
    return tuple(notes)


def _subjects(thing: Thing) -> tuple[str, ...]:
    """Dewey classes as classes, headings by their form, words as words: three vocabularies, none
    reduced to another."""
    found = []
    for term in thing.terms("dcterms:subject", "rdag2:fieldOfActivityOfThePerson", "bnf:subject"):
        dewey = re.fullmatch(r"https?://dewey\.info/class/([\d.]+)/.*", term.value)
        local = local_of(term.value)
        unnamed = f"heading {KEY}:{local}, its form not stated" if local else term.value
        form = term.label or unnamed
        found.append(f"Dewey class {dewey.group(1)}" if dewey and term.is_address else form)
    return tuple(dict.fromkeys(found))


def _contributors(thing: Thing) -> tuple[Contributor, ...]:
    """Creators, then those named in a role on the thing or on its version; a role without a
    verified name keeps its code."""
    roles = {"dcterms:creator": "creator", "dcterms:contributor": "contributor"}
    for name in thing.statements:
        vocabulary, _, code = name.partition(":")
        if vocabulary in ("roles", "relators"):
            roles[name] = _ROLES.get(code, code)
    return tuple(dict.fromkeys(
        Contributor(name=term.label, role=role,
                    identifier=f"{KEY}:{local}" if (local := local_of(term.value)) else None)
        for name, role in roles.items() for term in thing.terms(name) if term.label))


def _context(local: str, thing: Thing) -> tuple[Related, ...]:
    """Records and pages that this one points at, itself left out; each address once, under its
    first relation."""
    found: dict[str, Related] = {}
    for property_, relation in _LINKS:
        for term in thing.terms(property_):
            other = local_of(term.value)
            address = page_address(other) if other else term.value
            # a class of Dewey stands under the subjects
            elsewhere = other is None and property_ == "dcterms:subject"
            if term.is_address and other != local and not elsewhere and address.startswith("http"):
                found.setdefault(address, Related(identifier=f"{KEY}:{other}" if other else None,
                                                  label=term.name or address,
                                                  kind=relation, source_url=address))
    return tuple(found.values())
