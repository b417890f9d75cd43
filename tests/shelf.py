"""Every archive at the stand-in: a route for each question that the calls here send, answered from our own answer files.

The works are invented and differ from archive to archive; only the shapes are the archives'. A route that a test adds before
these wins over them, which is how a single answer goes wrong.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conftest import ANSWERS, FakeClock, Route, StandIn

from sources.client import BooksClient
from sources.contract import Archive
from sources.registry import ARCHIVES
from sources.settings import Settings
from sources.transport.flights import Transport

JSON = {"Content-Type": "application/json; charset=utf-8"}
XML = {"Content-Type": "text/xml; charset=utf-8"}
HTML = {"Content-Type": "text/html; charset=utf-8"}
KEPT = {**JSON, "Cache-Control": "public, max-age=86400"}  # how the Library marks an answer that it stands by

BOOK, LEAF = "archive:lanternvale00orri", 4
BUNDLED = "archive:valebundle1862/log of the Ведмідь"
LOC_ITEM, LOC_ISSUE, LOC_IMAGE = "loc:00000021", "loc:sn00000011/1888-02-03/ed-1", 5
BNF_WORK, BNF_PERSON = "bnf:cb90000101m", "bnf:cb90000201w"
CATALOGUE_RECORD = "bnfcatalogue:cb49900011x"
OL_WORK, OL_EDITION, OL_AUTHOR = "openlibrary:OL800001W", "openlibrary:OL800021M", "openlibrary:OL800011A"
GALLICA_BOOK, GALLICA_VIEW, GALLICA_PERIODICAL = "gallica:bpt6k9000016", 3, "gallica:cb900006010/date"

NODE = r"ia600001\.us\.archive\.org"


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question as an archive gets it: at "HOST/PATH", telling itself apart by some parameters; `file` is its answer."""

    at: str
    file: str
    asks: Mapping[str, str] = field(default_factory=dict)

    def route(self, **changes: Any) -> Route:
        headers = XML if self.file.endswith(".xml") else KEPT
        return Route(**{"at": self.at, "asks": self.asks, "headers": headers, "body": (ANSWERS / self.file).read_bytes(), **changes})


QUESTIONS = {
    "archive text": Question(at=r"archive\.org/services/search/.*", asks={"service_backend": "fts"}, file="archive/hits.json"),
    "archive counts": Question(at=r"archive\.org/services/search/.*", asks={"service_backend": "metadata"}, file="archive/hits.json"),
    "archive catalogue": Question(at=r"archive\.org/advancedsearch\.php", file="archive/items.json"),
    "archive record": Question(at=r"archive\.org/metadata/lanternvale00orri", file="archive/record.json"),
    "archive leaf": Question(at=NODE + r"/BookReader/.*", file="archive/leaf.xml"),
    "archive inside": Question(at=NODE + r"/fulltext/inside\.php", file="archive/inside.json"),
    "loc pages": Question(at=r"www\.loc\.gov/collections/chronicling-america/", file="loc/newspaper_pages.json"),
    "loc catalogue": Question(at=r"www\.loc\.gov/(?:books|photos|maps|audio|film-and-videos|manuscripts|notated-music|newspapers|"
                                 r"collections/otter-prints)/", file="loc/items.json"),
    "loc collections": Question(at=r"www\.loc\.gov/collections/", file="loc/collections.json"),
    "loc record": Question(at=r"www\.loc\.gov/item/00000021/", file="loc/item.json"),
    "loc page": Question(at=r"www\.loc\.gov/resource/sn00000011/1888-02-03/ed-1/", file="loc/page.json"),
    "loc text": Question(at=r"tile\.loc\.gov/text-services/.*", file="loc/text.json"),
    "loc headings": Question(at=r"id\.loc\.gov/authorities/subjects/suggest2", file="loc/headings.json"),
    "bnf works": Question(at=r"data\.bnf\.fr/sparql", asks={"query": r"dcterms:title \?text[\s\S]*rdafrbr:Work"}, file="bnf/works.json"),
    "bnf persons": Question(at=r"data\.bnf\.fr/sparql", asks={"query": r"foaf:name \?text"}, file="bnf/headings-persons.json"),
    "bnf subjects": Question(at=r"data\.bnf\.fr/sparql", asks={"query": r"skos:prefLabel \?text"}, file="bnf/headings-subjects.json"),
    "bnf editions": Question(at=r"data\.bnf\.fr/sparql", asks={"query": "rdarel:workManifested <"}, file="bnf/editions.json"),
    "bnf record": Question(at=r"data\.bnf\.fr/sparql", asks={"query": r"cb90000101m#about> \?p \?o"}, file="bnf/record-work.json"),
    "bnf person": Question(at=r"data\.bnf\.fr/sparql", asks={"query": r"cb90000201w#about> \?p \?o"}, file="bnf/record-person.json"),
    "bnfcatalogue search": Question(at=r"catalogue\.bnf\.fr/api/SRU", asks={"query": r"^(?!bib\.persistentid)"},
                                    file="bnfcatalogue/search.xml"),
    "bnfcatalogue record": Question(at=r"catalogue\.bnf\.fr/api/SRU", asks={"query": r"^bib\.persistentid"}, file="bnfcatalogue/record.xml"),
    "openlibrary works": Question(at=r"openlibrary\.org/search\.json", file="openlibrary/search.json"),
    "openlibrary authors": Question(at=r"openlibrary\.org/search/authors\.json", file="openlibrary/authors.json"),
    "openlibrary subjects": Question(at=r"openlibrary\.org/search/subjects\.json", file="openlibrary/subjects.json"),
    "openlibrary work": Question(at=r"openlibrary\.org/works/OL800001W\.json", file="openlibrary/work.json"),
    "openlibrary editions": Question(at=r"openlibrary\.org/works/OL800001W/editions\.json", file="openlibrary/work-editions.json"),
    "openlibrary edition": Question(at=r"openlibrary\.org/(books/OL800021M|isbn/\d+|oclc/\d+|lccn/\w+)\.json", file="openlibrary/edition.json"),
    "openlibrary author works": Question(at=r"openlibrary\.org/authors/OL800011A/works\.json", file="openlibrary/author-works.json"),
    "openlibrary author": Question(at=r"openlibrary\.org/authors/OL800011A\.json", file="openlibrary/author.json"),
    "gallica search": Question(at=r"gallica\.bnf\.fr/SRU", file="gallica/search.xml"),
    "gallica record": Question(at=r"gallica\.bnf\.fr/services/OAIRecord", file="gallica/record.xml"),
    "gallica repository": Question(at=r"oai\.bnf\.fr/oai2/OAIHandler", file="gallica/repository.xml"),
    "gallica pages": Question(at=r"gallica\.bnf\.fr/services/Pagination", file="gallica/pagination.xml"),
    "gallica years": Question(at=r"gallica\.bnf\.fr/services/Issues", file="gallica/issues-years.xml"),
    "gallica passages": Question(at=r"gallica\.bnf\.fr/services/ContentSearch", file="gallica/content.xml"),
    "gallica leaf": Question(at=r"gallica\.bnf\.fr/RequestDigitalElement", file="gallica/alto.xml"),
}


def stock(stand_in: StandIn) -> None:
    """Let the stand-in answer every question above."""
    stand_in.routes += [question.route() for question in QUESTIONS.values()]


def spoil(stand_in: StandIn, *names: str, **changes: Any) -> None:
    """Let the answers to some questions go wrong, until `mend`."""
    with stand_in.lock:
        stand_in.routes[:0] = [QUESTIONS[name].route(**changes) for name in names]


def mend(stand_in: StandIn) -> None:
    with stand_in.lock:
        del stand_in.routes[:-len(QUESTIONS)]


def client(stand_in: StandIn, pacing_clock: FakeClock, *, archives: tuple[type[Archive], ...] = (), **changes: Any) -> BooksClient:
    """A client that asks the stand-in over real sockets: deadlines on the real clock, spacing and blocks on a fake one."""
    settings = Settings(**{"gateway": stand_in.address, "gallica_contents": True, **changes})
    transport = Transport(settings, archives or ARCHIVES, pacing_clock=pacing_clock)
    return BooksClient(settings=settings, sources=archives or ARCHIVES, transport=transport)
