"""Gallica: the digital library of the Bibliothèque nationale de France and its partners. Asked only
when it is named.

Two regimes of terms govern it: the records are open data, the digitised contents are not. The calls
that read contents (search_inside, read_text) therefore stay absent until the operator has accepted
those terms.

Sources: the library's page "API de recherche de Gallica" (SRU), its robots.txt (pace), its terms of
use of Gallica's contents; facts of 2026-11.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote

from ..contract import (
    Archive,
    Ask,
    Describes,
    Edition,
    Item,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    PageEntry,
    PageText,
    Pairs,
    Passage,
    Passages,
    Query,
    Reference,
    Reply,
    Request,
)
from ..errors import (
    ArchiveUnreachable,
    InvalidInput,
    RateLimited,
    RecordNotFound,
    SourceError,
    TimedOut,
    UnreadableAnswer,
)
from ..languages import marc_code
from ..regions import Region
from ..registry import ENTRY_OF
from ..settings import Settings
from ..text import amount, first_match, integer, joined, window, words
from . import gallica_records as records
from .gallica_records import HOME, TERMS, Document, every, text_of
from .numbers import is_ark, isbn_forms
from .shared import page_of_rows, plan_from, read_rows

T = TypeVar("T")

LISTED = ENTRY_OF["gallica"]
SRU = HOME + "/SRU"
SERVICES = HOME + "/services/"
ALTO = HOME + "/RequestDigitalElement"
# the one plain-http host: the library offers its repository no other way
REPOSITORY = "http://oai.bnf.fr/oai2/OAIHandler"
ROWS_MAX = 50  # of one SRU answer; more are silently not sent ("API de recherche de Gallica")
# rows of one call whose passages are asked, one request each: at 5 s apiece no more fits in a call
CONTENT_ROWS = 4
# left in the call before another document is asked: 5 s of spacing and a slow answer
CONTENT_RESERVE_S = 12.0
PASSAGE_CHARS = 600  # about 300 either side of the match

CONTENTS_ABSENT = (
    "Gallica's records and its digitised contents come under two regimes of terms, and using the "
    "contents in an "
    "artificial-intelligence project needs the library's licence outside non-profit research; "
    "reading them stays "
    "off until the operator of this server sets BOOKS_GALLICA_CONTENTS=accept."
)

_INDEXES = {
    "title": "dc.title",
    "creator": "dc.creator",
    "subject": "dc.subject",
    "publisher": "dc.publisher",
}
_ORDERS = {
    "newest": "dc.date/sort.descending",
    "oldest": "dc.date/sort.ascending",
    "title": "dc.title/sort.ascending",
}
_NEVER_APPLIED = {"lccn": "Gallica indexes no Library of Congress control numbers.",
                  "oclc": "Gallica indexes no OCLC numbers.",
                  "collection": "Gallica has no collection that this argument could name."}
_NEVER_SENT = {
    "place": "Gallica files the place inside the publisher's name and has no index of places.",
    "facets": "Gallica's search service counts no terms; its web pages do, and are not asked.",
    "availability": "Gallica lends nothing, so it states no availability.",
    "sort": "The query as written already says sortby.",
}
# CQL's truncation, single-character and anchoring marks; controls
_MASKS = re.compile(r"[*?^\x00-\x1f\x7f-\x9f]")
_PERIODICAL = re.compile(r"\s*(?:gallica:|ark:/12148/)?(cb[0-9a-z]+)(?:/date)?\s*")
_QUOTED_OR_SORTBY = re.compile(r'"(?:[^"\\]|\\.)*"|\bsortby\b', re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r'\s*"([^"]+)"\s*')
_ARK = re.compile(
    r"(?:ark:/?12148/)?(?P<name>(?:b[a-z]|c[bc])[0-9a-z]{6,30})"
    r"(?:(?P<date>/date)(?P<when>[12]\d{3}(?:\d{4})?)?|/f(?P<view>\d{1,6})(?:n\d+)?)?"
    # .item .image .texteBrut .r=word .langFR …, ?rk=…, #…
    r"(?:\.(?:r=[^/?#]*|[A-Za-z0-9]+))*/?(?:[?#].*)?",
    re.DOTALL | re.ASCII)


# ---- the question, in CQL ------------------------------------------------------------------------

def _clause(index: str, value: str) -> str | None:
    """One condition ('dc.title all "…"'): `adj` for a value wholly in double quotes, else `all` its
    words; None without a word.

    Nothing in it can act: masks and controls become blanks, backslash and quotation mark are
    escaped.
    """
    whole = _QUOTED.fullmatch(value)
    inside = " ".join(_MASKS.sub(" ", whole.group(1) if whole else value).split())
    escaped = inside.replace("\\", "\\\\").replace('"', '\\"')
    return f'{index} {"adj" if whole else "all"} "{escaped}"' if words(inside) else None


def _condition(query: Query, name: str) -> str | None:
    """One narrowing in CQL; None for one that is not sent. Languages are MARC codes, and an ISBN is
    asked in both its lengths.

    Bounds go to the day, on the index of publication dates; dc.date is not compared (a peer saw
    that fail in silence).
    """
    value = query.fields.get(name, "")
    if name == "language":
        return f'dc.language all "{marc_code(value)}"'
    if name == "isbn":
        return f'isbn any "{" ".join(isbn_forms(value))}"'
    if name in query.bound_names:
        sign, bound = (">=", query.date_from) if name.endswith("_from") else ("<=", query.date_to)
        day = records.days(bound or "")[sign == "<="]
        return f'gallicapublication_date{sign}"{day.replace("-", "/")}"'
    if name == "publication":
        ark = _PERIODICAL.fullmatch(query.publication or "")
        title = _clause("dc.title", query.publication or "")
        return (
            f'arkPress all "{ark.group(1)}_date"'
            if ark
            else f'{title} and dc.type all "fascicule"'
            if title
            else None
        )
    if name == "sort":
        sorts_itself = query.native and _own_order(query.words) < len(query.words)
        known = not sorts_itself and query.sort in _ORDERS
        return f"sortby {_ORDERS[query.sort]}" if known else None
    return _clause(_INDEXES[name], value) if name in _INDEXES else None


def _unsent(query: Query, name: str) -> str:
    """Why a narrowing is not sent."""
    if name == "sort" and query.sort not in _ORDERS:
        return f"Gallica has no order by {query.sort}; its own order of relevance stands."
    return _NEVER_SENT.get(name, "No word is left of this value once marks are taken out.")


def _planned(query: Query, index: str, collapsing: bool) -> Request:
    """The request of a query: its words in `index` ("gallica": records and text, "text": text
    alone), narrowed."""
    never = next((_NEVER_APPLIED[name] for name in query.fields if name in _NEVER_APPLIED), None)
    conditions = {
        name: condition for name in query.narrowings
        if (condition := _condition(query, name)) is not None
    }
    because = {name: _unsent(query, name) for name in query.narrowings if name not in conditions}
    cql = _cql(query, index, conditions)
    if never or cql is None:
        return Request(
            query=query,
            dropped=() if never else tuple(because.items()),
            absent_because=never
            or "Gallica cannot search on what was asked: nothing is left to send.",
        )
    sorted_by = f"Gallica's own {_ORDERS[query.sort]}" if "sort" in conditions else None
    return plan_from(
        query,
        conditions,
        because,
        asks=(_search_ask(query, cql, collapsing),),
        ordered_on=sorted_by,
        media_type_asked=query.media_type,
        notes=_plan_notes(query),
    )


def _cql(query: Query, index: str, conditions: Mapping[str, str]) -> str | None:
    """The whole question; None when nothing is left to ask."""
    said = query.words.strip() if query.native else _clause(index, query.words)
    kind = f'dc.type all "{query.media_type}"' if query.media_type else ""
    narrowed = [condition for name, condition in conditions.items() if name != "sort"]
    order = conditions.get("sort", "")
    if query.native and (narrowed or kind) and said:  # in brackets, so that all of it is narrowed
        at = _own_order(said)
        said, order = f"({said[:at].strip()})", said[at:] or order
    cql = " and ".join(filter(None, (said, *narrowed, kind)))
    return f"{cql} {order}".strip() if cql else None


def _own_order(cql: str) -> int:
    """Where a query says its own order, outside quotation marks; its length where it says none."""
    found = (part for part in _QUOTED_OR_SORTBY.finditer(cql) if part[0][0] != '"')
    return next((part.start() for part in found), len(cql))


def _search_ask(query: Query, cql: str, collapsing: bool) -> Ask:
    rows = min(query.rows, ROWS_MAX)
    # no fuzzy matching
    exact = (("exactSearch", "true"),) if any(map(_QUOTED.fullmatch, _written(query))) else ()
    unread = InvalidInput(
        "Gallica answered with the error page that it gives for a query it cannot read.",
        archive=Gallica.key,
        status=500,
    )
    # the first record is number 1
    return _asking(
        SRU,
        (
            ("version", "1.2"),
            ("operation", "searchRetrieve"),
            ("query", cql),
            ("startRecord", str((query.page - 1) * rows + 1)),
            ("maximumRecords", str(rows)),
            ("collapsing", str(collapsing).lower()),
            *exact,
        ),
        "searchRetrieveResponse",
        unread,
    )


def _asking(url: str, params: Pairs, root: str, error_page: SourceError | None = None) -> Ask:
    """A question whose answer must have a root of that name. `error_page` is what the page means
    that comes with status 500 for anything unknown; a 500 is not asked again at once, hence the
    minute."""
    return Ask(url=url, body="xml", params=params, statuses=(200, 500) if error_page else (200,),
               check_text=partial(_check_text, error_page), check=partial(_check_root, root))


def _check_text(error_page: SourceError | None, reply: Reply) -> None:
    if error_page and reply.status == 500 and "could not resolve view" in str(reply.value).lower():
        raise error_page
    if reply.status == 500:
        raise ArchiveUnreachable(
            "Gallica answered with an internal error.",
            archive=Gallica.key,
            status=500,
            retry_after_s=60.0,
        )


def _check_root(root: str, reply: Reply) -> None:
    if records.local_name(reply.value) != root:
        raise UnreadableAnswer(
            "Gallica sent XML of another kind than was asked.", archive=Gallica.key
        )
    _no_refusal(reply.value)


def _written(query: Query) -> tuple[str, ...]:
    """The values that a caller wrote in words; a query in CQL is not one of them."""
    return () if query.native else (query.words, *query.fields.values(), query.publication or "")


def _plan_notes(query: Query) -> tuple[str, ...]:
    notes = []
    if any(map(_MASKS.search, _written(query))):
        notes.append("The marks * ? and ^ act in its query language, so they were sent as blanks.")
    if query.rows > ROWS_MAX:
        notes.append(
            f"Gallica sends at most {ROWS_MAX} rows at once; {ROWS_MAX} were asked instead of "
            f"{query.rows}."
        )
    if query.media_type == "fascicule" and "subject" in query.fields:
        notes.append(
            "Gallica files subjects on titles and books, never on an issue (fascicule), so this "
            "pair finds nothing."
        )
    return tuple(notes)


# ---- what is no answer ---------------------------------------------------------------------------

_PAST_THE_END = re.compile(r"/1/61$|position out of range", re.IGNORECASE | re.MULTILINE)
# 1 to 3: of the service
_ITS_FAILURE = re.compile(r"/1/[123]$|system|temporar|indisponible", re.IGNORECASE | re.MULTILINE)


def _no_refusal(answer: Any) -> None:
    """A diagnostic arrives with status 200 and perhaps a count of zero: a refused query or a
    failure, never an absence."""
    for diagnostic in every(answer, "diagnostic"):
        code = text_of(diagnostic, "uri") or ""
        said = (
            joined([text_of(diagnostic, "message"), text_of(diagnostic, "details")], ": ")
            or "no reason given"
        )
        if _PAST_THE_END.search(f"{code}\n{said}"):
            continue
        if _ITS_FAILURE.search(f"{code}\n{said}"):
            raise ArchiveUnreachable(f"Gallica could not search: {said[:200]}", archive=Gallica.key,
                                     reason="could_not_search")
        raise InvalidInput(
            f"Gallica refuses this query: {said[:200]}",
            archive=Gallica.key,
            hint="Change the query; with native_query, check its CQL: indexes, relations, "
                 "quotation marks.",
        )


def _tried(read: Callable[[], T]) -> tuple[T | None, SourceError | None]:
    """A part of an answer that may fail without costing the other parts: what was read, or the
    failure."""
    try:
        return read(), None
    except SourceError as exc:
        return None, exc


# ---- the archive ---------------------------------------------------------------------------------

_LANE = Lane(
    key="gallica",
    hosts=(r"gallica\.bnf\.fr",),
    spacing_s=5.0,
    spacing_because="Crawl-delay: 5 in its robots.txt",
    # a 500 is a bad query or an unknown ark, a 429 means hands off
    retry_statuses=frozenset({408, 425, 502, 503, 504}),
    # a peer's measure: the bucket behind a 429 is full again after two minutes
    limit_block_s=120.0,
    wall_block_s=2 * 3600.0,
    wall_block_max_s=24 * 3600.0,  # a wall lasts hours to a day
    wall_signs=(
        "altcha",
        "vérification de sécurité",
        "access denied",
        "access interdit",
        "accès interdit",
        "datadome",
    ),
    # who is shut out is left hanging, or gets a 403 without a word (peers' reports)
    bans_mutely=True,
)


class Gallica(Archive):
    """SRU for both searches, OAIRecord for a record, ContentSearch and ALTO for what a document
    says."""

    key, name = LISTED.key, LISTED.name
    answers, media_types = LISTED.answers, LISTED.media_types
    asked_by_default = LISTED.asked_by_default
    lanes = (
        _LANE,
        replace(
            _LANE,
            key="gallica-text",
            paths=(r"/RequestDigitalElement",),
            spacing_s=25.0,
            spacing_because="a peer's measure: after four quick requests, one text in 25 s",
        ),
        replace(
            _LANE,
            key="gallica-pictures",
            paths=(r"/iiif/.*",),
            spacing_s=12.5,
            spacing_because="a client's own caution, since twelve full-size images were a ban",
        ),
        replace(
            _LANE,
            key="gallica-oai",
            hosts=(r"oai\.bnf\.fr",),
            scheme="http",
            spacing_because="the pace of the main host",
            bans_mutely=False,
        ),
    )
    absent_because: ClassVar[Mapping[str, str]] = {
        "search_headings": "Gallica has no headings of its own; those of the library are "
                           "data.bnf.fr's (bnf).",
        "browse_collections": "Gallica's search service lists no collections.",
    }
    native_syntax = "CQL"
    pages_are = "view"
    text = Describes(
        corpus="the machine-read text of Gallica's documents, one row an issue or a volume",
        publishes_page_number=True, requires_every_word=False, year_means=records.YEAR_MEANS,
        total_means="the depth of a ranking, not a count of matching documents")
    catalogue = Describes(
        searches_on="records together with the text, where words are given; records alone for the "
                    "fields",
        row_describes="a document; all volumes of a set, or all issues of a periodical, are one "
                      "row",
        year_means=records.YEAR_MEANS,
        total_means="rows after sets and periodicals are folded; for words, the depth of a ranking "
                    "rather than a count",
    )
    address_hosts = ("gallica.bnf.fr",)
    unread_fields = ("place",)
    spellings = "gallica:bpt6k5738219s"

    @classmethod
    def absence(cls, call: str, settings: Settings) -> str | None:
        if call in ("search_inside", "read_text") and not settings.gallica_contents:
            return CONTENTS_ABSENT
        return super().absence(call, settings)

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        return (
            "Source: gallica.bnf.fr / Bibliothèque nationale de France, retrieved "
            f"{retrieved_at[:10]}. {TERMS}"
        )

    # -- identifiers

    @classmethod
    def page_address(cls, item: Item, reference: Reference) -> str:
        return records.page_url(reference.local, reference.page)

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """A document, with a view and a reader's suffixes behind it understood; or a periodical:
        cb…/date, and cb…/date1912 or cb…/date19120402 for its issues of one year or day."""
        ark = _ARK.fullmatch(local.strip())
        if not ark:
            raise InvalidInput(
                "Gallica mints no identifier of this shape.",
                archive=cls.key,
                hint=f"Give one as a search returned it, such as {cls.spellings} or "
                     "gallica:cb34431794k/date.",
            )
        name, of_issues = ark["name"], bool(ark["date"])
        if not is_ark(name):
            raise InvalidInput(
                "The ark is mistyped: its last character is not the check character of the others.",
                archive=cls.key,
                hint="Copy it again from the address or the record.",
            )
        if name.startswith("cc"):
            raise InvalidInput(
                "This ark names a record of archives and manuscripts, another service of the "
                "library.",
                archive=cls.key,
            )
        if name.startswith("cb") != of_issues:
            raise InvalidInput(
                "An ark in cb… is a catalogue record; cb…/date alone names a periodical of "
                "Gallica.",
                archive=cls.key,
                hint="Leave /date out." if of_issues else f"Read the record with bnf:{name}.",
            )
        read, view = (
            name + (f"/date{ark['when'] or ''}" if of_issues else ""),
            int(ark["view"] or 0) or None,
        )
        said = (f"read as {'the periodical ' if of_issues else ''}gallica:{read}"
                + (f", view {view} (the number of a picture, not a printed page)" if view else ""))
        return Reference(
            source=cls.key, local=read, page=view, read_as=None if read == local else said
        )

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """An address of the reader, of a picture (IIIF) or of a service that names its ark."""
        if address.path.rstrip("/").lower().endswith("/sru"):
            query = dict(parse_qsl(address.query)).get("query", "")[:250]
            raise InvalidInput(
                "This address is a search of Gallica and names no record.",
                archive=cls.key,
                hint='Use search_items with sources ["gallica"], native_query true and query '
                     f'{query}',
            )
        named = _named_in(address)
        if not named:
            raise InvalidInput(
                "This address of Gallica names no ark, so no record.",
                archive=cls.key,
                hint="Open the document there and give its address, or its identifier, such as "
                     f"{cls.spellings}.",
            )
        return cls.read_identifier(named)

    # -- searches

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        return _planned(query, "gallica", collapsing=True)

    @classmethod
    def plan_text(cls, query: Query) -> Request:
        return _planned(query, "text", collapsing=False)

    def search_catalogue(self, request: Request) -> Page:
        page = self._search(request)
        return replace(page, records=tuple(document.row for document in page.records))

    def search_text(self, request: Request) -> Page:
        """Documents whose text matches, then the passages of the first CONTENT_ROWS, each asked by
        itself."""
        self._require_contents("search_inside")
        query, page = request.query, self._search(request)
        found, notes = self._passages_of(page.records, query.words)
        if unread := sum(row.local not in found for row in page.records):
            notes.append(
                f"{unread} row(s) stand without text: passages are asked document by document, at "
                "most "
                f"{CONTENT_ROWS} a call. read_text with match reads those of one."
            )
        if silent := sum(not said for said in found.values()):
            notes.append(
                f"The search inside a document found no passage in {silent} row(s) of the search "
                "across them."
            )
        matches = tuple(
            records.match(row, found.get(row.local or "", ()), query) for row in page.records
        )
        return replace(page, records=matches, notes=(*page.notes, *notes))

    def _passages_of(
        self, rows: Sequence[Document], words: str
    ) -> tuple[dict[str, tuple[Passage, ...]], list[str]]:
        """The passages of the first documents, as far as the call's time reaches, and what
        failed."""
        found: dict[str, tuple[Passage, ...]] = {}
        for local in [row.local for row in rows if row.local and "/date" not in row.local][
            :CONTENT_ROWS
        ]:
            if self.ask.remaining_s() < CONTENT_RESERVE_S:
                break
            try:
                found[local], _ = self._content_search(local, words)
            except SourceError as exc:
                return found, [
                    "The search was answered; reading passages failed after it (stage read): "
                    f"{exc.message}"
                ]
        return found, []

    def _search(self, request: Request) -> Page:
        """One SRU answer; `records` are Document values. A count without rows is past the end, or
        no answer; never an absence."""
        query, rows = request.query, min(request.query.rows, ROWS_MAX)
        try:
            root = self.ask(request.asks[0]).value
        except RecordNotFound as exc:
            raise ArchiveUnreachable(
                "Gallica has no search at its usual address (status 404).",
                archive=self.key,
                status=404,
            ) from exc
        total = amount(text_of(root, "numberOfRecords"))
        more = True if integer(text_of(root, "nextRecordPosition")) else None
        page = page_of_rows(
            Gallica,
            every(root, "record"),
            records.document,
            page=query.page,
            rows=rows,
            total=total,
            more=more,
        )
        if not page.records and page.beyond is None and every(root, "diagnostic"):
            return replace(page, notes=(), beyond="This page lies past the last row.")
        folded = (
            _folded_note(root, page) if ("collapsing", "true") in request.asks[0].params else ()
        )
        return replace(page, more=more or page.more, notes=(*page.notes, *folded))

    # -- records

    def _answer(
        self, url: str, params: Pairs, root: str, error_page: SourceError | None = None
    ) -> Any:
        """The root element of an answer, which must bear that name."""
        return self.ask(_asking(url, params, root, error_page)).value


    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """A record, with its views when they are wanted: either may fail without costing the other,
        and then a note tells."""
        if "/date" in reference.local:
            return self._periodical(reference, wanted)
        described, failure = _tried(lambda: self._described(reference.local))
        listed, unlisted = (
            _tried(lambda: self._views(reference.local)) if wanted.wants("pages") else (None, None)
        )
        if failure and not listed:
            raise failure
        document, notes = described or (
            None,
            (f"Gallica: the pages were listed; the record itself could not be read: {failure}",),
        )
        item = records.item(reference, document)
        if unlisted:
            notes = (*notes, f"Gallica: the list of pages could not be read: {unlisted}")
        if not listed:
            return ItemPage(item=item, notes=notes, lost=("pages",) if unlisted else ())
        entries, total = listed
        if total != len(entries):
            notes = (*notes, f"Gallica states {total} views and lists {len(entries)} of them.")
        shown = wanted.window(entries)
        return ItemPage(item=replace(item, pages=shown), list_total=len(entries), notes=notes)

    def _described(self, local: str) -> tuple[Document, tuple[str, ...]]:
        """A record by the main service, or by the library's OAI repository when that one
        refuses."""
        notes: tuple[str, ...] = ()
        try:
            root = self._answer(
                SERVICES + "OAIRecord",
                (("ark", local),),
                "results",
                RecordNotFound(
                    "Gallica answered with the error page that it gives for an ark it does not "
                    "know.",
                    archive=self.key,
                    status=500,
                ),
            )
        except (ArchiveUnreachable, RateLimited, RecordNotFound, TimedOut) as refusal:
            root = self._from_repository(local, refusal)
            notes = (
                f"{refusal} The record shown is that of the library's OAI repository, refreshed "
                "weekly.",
            )
        if integer(root.get("countResults")) == 0:
            raise RecordNotFound("Gallica holds no document under this ark.", archive=self.key)
        documents, _ = read_rows([root], records.document, Gallica)
        return documents[0], notes

    def _from_repository(self, local: str, refusal: SourceError) -> Any:
        """The answer of the OAI repository. It holds the library's own documents alone, so its
        silence by itself proves nothing: the main service's refusal stands then, and "not found"
        only when both answered so."""
        asked = {
            "verb": "GetRecord",
            "metadataPrefix": "oai_dc",
            "identifier": f"oai:bnf.fr:gallica/ark:/12148/{local}",
        }
        try:
            root = self._answer(REPOSITORY, tuple(asked.items()), "OAI-PMH")
        except SourceError as exc:
            if isinstance(refusal, RecordNotFound):
                raise
            raise refusal from exc
        if not every(root, "dc"):
            raise refusal
        return root

    def _periodical(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """A periodical: its years, or its issues of the year or day that the identifier names; a
        search gives its description."""
        name, _, when = reference.local.partition("/date")
        entries = self._issues(name, when)
        title = self.plan_catalogue(Query(words=f'arkPress all "{name}_date"', native=True))
        found, failure = _tried(lambda: self._search(title).records)
        if failure and not entries:
            raise failure
        document = next((row for row in found or () if row.local == f"{name}/date"), None)
        if not entries and document is None:
            raise RecordNotFound(
                "Gallica lists no issue under this periodical" + (" and date." if when else "."),
                archive=self.key,
            )
        item = records.item(reference, document)
        item = replace(item, notes=(_about_issues(name, when), *item.notes))
        untitled = (
            "Gallica: the issues were listed; the title's own description could not be read: "
            f"{failure}"
        )
        notes = (untitled,) if failure else ()
        if not wanted.wants("editions"):
            return ItemPage(item=item, notes=notes)
        shown = wanted.window(entries)
        return ItemPage(item=replace(item, editions=shown), list_total=len(entries), notes=notes)

    def _issues(self, name: str, when: str) -> tuple[Edition, ...]:
        """The years of a periodical (`when` ""), or its issues of a year or a day (YYYY, YYYYMMDD),
        in the order sent."""
        asked = {"ark": f"ark:/12148/{name}/date", **({"date": when[:4]} if when else {})}
        sent = every(
            self._answer(SERVICES + "Issues", tuple(asked.items()), "issues"),
            "issue" if when else "year",
        )
        entries, _ = read_rows(sent, lambda entry: records.issue(entry, name, when), Gallica)
        day = f"{when[:4]}-{when[4:6]}-{when[6:]}"
        return entries if len(when) != 8 else tuple(entry for entry in entries if entry.date == day)

    def _views(self, local: str) -> tuple[tuple[PageEntry, ...], int]:
        """Every view listed, and how many the document states."""
        root = self._answer(SERVICES + "Pagination", (("ark", local),), "livre")
        views, _ = read_rows(every(root, "page"), lambda entry: records.view(entry, local), Gallica)
        if not views:
            raise UnreadableAnswer("Gallica sent a list of pages without a page.", archive=self.key)
        return views, amount(text_of(root, "nbVueImages")) or len(views)

    # -- contents

    def read_page(self, reference: Reference, page: int) -> PageText:
        """The machine-read text of one view, with what the record and the list of pages say of
        it."""
        if page < 1:
            raise InvalidInput(f"page is {page}; Gallica counts views from 1.", archive=self.key)
        frame = self._placed(self._frame(reference), reference.local, page)
        try:
            root = self._answer(
                ALTO, (("O", reference.local), ("E", "ALTO"), ("Deb", str(page))), "alto"
            )
        except RecordNotFound:
            if frame.ocr_available:
                raise
            return frame
        sheet = next(iter(every(root, "Page")), None)
        if sheet is None:
            raise UnreadableAnswer("Gallica sent a text file without a page.", archive=self.key)
        rated = sheet.get("ACCURACY")
        # the file states it too
        printed = frame.printed_page if frame.page_count else sheet.get("PRINTED_IMG_NR")
        notes = (
            (f"Machine-read text; the file rates its own accuracy at {rated} of 100.",)
            if rated
            else ()
        )
        return replace(
            frame,
            text=records.alto_text(sheet),
            ocr_available=True,
            printed_page=printed,
            notes=frame.notes + notes,
        )

    def _placed(self, frame: PageText, local: str, page: int) -> PageText:
        """The frame with the view's place in the document; without the list of pages, the last view
        is unknown."""
        frame = replace(
            frame,
            page_number=page,
            page_number_is="view",
            source_url=records.page_url(local, page),
            image_url=records.image_url(local, page),
            previous_page=page - 1 if page > 1 else None,
        )
        listed, failure = _tried(lambda: self._views(local))
        if not listed:
            unread = (
                "Gallica: the list of pages could not be read, so the last view is unknown: "
                f"{failure}"
            )
            return replace(frame, notes=(*frame.notes, unread))
        entries, total = listed
        if page > total:
            raise InvalidInput(
                f"page is {page}, past the last view; this document has {total}.", archive=self.key
            )
        printed = next((entry.printed_page for entry in entries if entry.page_number == page), None)
        return replace(
            frame,
            page_count=total,
            next_page=page + 1 if page < total else None,
            printed_page=printed,
        )

    def search_record(self, reference: Reference, words: str, max_passages: int) -> Passages:
        frame = self._frame(reference)
        found, count = self._content_search(reference.local, words)
        passages = (
            replace(said, text=window(said.text, first_match(said.text, words) or 0, PASSAGE_CHARS))
            for said in found
        )
        note = (
            "Gallica does not say whether it counts matches or pages, and sends at most ten pages "
            "of them."
            if found
            else "Gallica answers alike for no match and for a document without text."
        )
        return Passages(page=replace(frame, ocr_available=bool(found) or frame.ocr_available),
                        passages=tuple(passages)[:max_passages], match_count=count, notes=(note,))

    def place(self, page: PageText, words: str) -> Region | None:
        """By its search inside one view, which sends boxes in place of text: one more request."""
        local = page.identifier.partition(":")[2]
        params = (("ark", local), ("query", " ".join(words.replace('"', " ").split())),
                  ("page", str(page.page_number)))
        return records.boxes(self._answer(SERVICES + "ContentSearch", params, "results"))

    def _frame(self, reference: Reference) -> PageText:
        """The record as a page without text, `ocr_available` unless it states none. A record that
        cannot be read costs its title and terms, not the text."""
        self._require_contents("read_text")
        if "/date" in reference.local:
            raise InvalidInput(
                "A periodical's title has no text of its own.",
                archive=self.key,
                hint=f"List its issues with get_item {reference.identifier}, section editions, and "
                     "read one.",
            )
        described, failure = _tried(lambda: self._described(reference.local))
        document, notes = described or (
            None,
            (
                "Gallica: the record itself could not be read, so its title and terms are "
                f"missing: {failure}",
            ),
        )
        row, issue = (document.row, document.issue) if document else (None, None)
        return PageText(
            identifier=reference.identifier,
            item_identifier=reference.identifier,
            notes=notes,
            title=row.title if row else None,
            published_on=issue.date if issue else None,
            publication=issue.title if issue else None,
            source_url=records.page_url(reference.local),
            rights=records.rights(document),
            ocr_available=document is None or document.states_text,
        )

    def _content_search(self, local: str, wording: str) -> tuple[tuple[Passage, ...], int | None]:
        """What the first ten matching pages of one document say, and the service's own count."""
        root = self._answer(
            SERVICES + "ContentSearch",
            (("ark", local), ("query", " ".join(wording.split()))),
            "results",
        )
        pages, _ = read_rows(
            every(root, "item"), lambda entry: records.passages(entry, local), Gallica
        )
        return tuple(passage for page in pages for passage in page), amount(
            root.get("countResults")
        )

    def _require_contents(self, call: str) -> None:
        if not self.ask.settings.gallica_contents:
            raise self._refusal(call)


def _about_issues(name: str, when: str) -> str:
    listed = (
        f"Only its issues of {when} are listed."
        if when
        else f"gallica:{name}/dateYYYY lists the issues of one year."
    )
    return f"A periodical: it has issues, and no pages or text of its own. {listed}"


def _folded_note(root: Any, page: Page) -> tuple[str, ...]:
    """That a set or a periodical is one row, where the service states how many documents the rows
    stand for."""
    unfolded = re.search(r"\d+", text_of(root, "extraResponseData") or "")
    if (
        not page.records
        or not unfolded
        or page.total is None
        or int(unfolded.group()) <= page.total
    ):
        return ()
    return (
        f"{page.total} rows stand for {unfolded.group()} documents, since a set or a periodical is "
        "one row.",
    )


def _named_in(address: SplitResult) -> str:
    """The ark in an address of a picture, a page or a service, with the view it shows; "" for
    none."""
    path = address.path if "ark:/12148/" in address.path else unquote(address.path)
    picture = re.match(r"/iiif/.*?ark:/12148/([0-9a-z]+(?:/f\d+)?)", path, re.ASCII)
    named = picture.group(1) if picture else "".join(path.partition("ark:/12148/")[1:])
    if named or not path.startswith(("/services/", "/RequestDigitalElement")):
        return named
    asked = dict(parse_qsl(address.query))
    named, view = asked.get("ark") or asked.get("O", ""), asked.get("Deb") or asked.get("page", "")
    if named.endswith("/date"):
        return named + asked.get("date", "")
    return named + f"/f{view}" if named and re.fullmatch(r"\d+", view, re.ASCII) else named
