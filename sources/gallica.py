"""Gallica: the digital library of the Bibliothèque nationale de France and its partners. Asked only when it is named.

Two regimes of terms govern it: the records are open data, the digitised contents are not. The calls that read contents
(search_inside, read_text) therefore stay absent until the operator has accepted those terms.

Sources: the library's page "API de recherche de Gallica" (SRU), its robots.txt (pace), its terms of use of Gallica's
contents; facts of 2026-11.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import SplitResult, parse_qs, unquote

from . import gallica_records as answer
from .arks import is_valid
from .contract import (
    Archive,
    Describes,
    Edition,
    Item,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    PageEntry,
    PageText,
    Passage,
    Passages,
    Plan,
    Query,
    Reference,
    Reply,
    TextMatch,
)
from .errors import ArchiveUnreachable, InvalidInput, RateLimited, RecordNotFound, SourceError, UnreadableAnswer
from .gallica_records import HOME, TERMS, Document, Found, every, local_name, text_of
from .languages import marc_code
from .settings import Settings
from .standard_numbers import isbn_forms
from .text import amount, first_match, integer, joined, window
from .text import words as words_of

SRU = HOME + "/SRU"
SERVICES = HOME + "/services/"
ALTO = HOME + "/RequestDigitalElement"
REPOSITORY = "http://oai.bnf.fr/oai2/OAIHandler"  # the one plain-http host: the library offers its repository no other way
ROWS_MAX = 50  # of one SRU answer; more are silently not sent ("API de recherche de Gallica")
CONTENT_ROWS = 4  # rows of one call whose passages are asked, one request each: at 5 s apiece no more fits in a call
CONTENT_RESERVE_S = 12.0  # left in the call before another document is asked: 5 s of spacing and a slow answer
PASSAGE_CHARS = 600  # about 300 either side of the match

CONTENTS_ABSENT = ("Gallica's records and its digitised contents come under two regimes of terms, and using the contents in an "
                   "artificial-intelligence project needs the library's licence outside non-profit research; reading them stays "
                   "off until the operator of this server sets BOOKS_GALLICA_CONTENTS=accept.")

_INDEXES = {"title": "dc.title", "creator": "dc.creator", "subject": "dc.subject", "publisher": "dc.publisher"}
_ORDERS = {"newest": "dc.date/sort.descending", "oldest": "dc.date/sort.ascending", "title": "dc.title/sort.ascending"}
_NEVER_APPLIED = {"lccn": "Gallica indexes no Library of Congress control numbers.",
                  "oclc": "Gallica indexes no OCLC numbers.",
                  "collection": "Gallica has no collection that this argument could name."}
_MASKS = re.compile(r"[*?^\x00-\x1f\x7f-\x9f]")  # CQL's truncation, single-character and anchoring marks; controls
_ARK = re.compile(r"(?:ark:/?12148/)?(?P<name>(?:b[a-z]|c[bc])[0-9a-z]{6,30})(?P<rest>.*)", re.DOTALL)
_SUFFIXES = r"(?:\.(?:r=[^/?#]*|[A-Za-z0-9]+))*/?(?:[?#].*)?"  # .item .image .texteBrut .r=word .langFR …, ?rk=…, #…
_OF_DOCUMENT = re.compile(r"(?:/f(?P<view>\d{1,6})(?:n\d+)?)?" + _SUFFIXES, re.DOTALL | re.ASCII)
_OF_PERIODICAL = re.compile(r"/date(?P<when>[12]\d{3}(?:\d{4})?)?" + _SUFFIXES, re.DOTALL | re.ASCII)


# ---- the question, in CQL ------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A query as Gallica will get it. `exact` when something asked stands in double quotes: no fuzzy matching then."""

    cql: str = ""
    exact: bool = False
    plan: Plan


def _term(value: str) -> tuple[str, str]:
    """The relation and the quoted term for a value: `adj` when it stands wholly in double quotes, else `all` its words.

    Nothing in it can act: masks and controls become blanks, backslash and quotation mark are escaped. No word left: "".
    """
    whole = re.fullmatch(r'\s*"([^"]+)"\s*', value)
    inside = " ".join(_MASKS.sub(" ", whole.group(1) if whole else value).split())
    quoted = '"' + inside.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "adj" if whole else "all", quoted if words_of(inside) else ""


def _clause(index: str, value: str) -> str:
    """One condition ('dc.title all "…"'), or "" when nothing of the value can be sent."""
    relation, term = _term(value)
    return f"{index} {relation} {term}" if term else ""


def _request(query: Query, index: str) -> _Request:
    """What goes out for a query: its words in `index` ("gallica": records and text, "text": text alone) and its narrowings."""
    for name, reason in _NEVER_APPLIED.items():
        if name in query.fields:
            return _Request(plan=Plan(absent_because=reason))
    narrowings = (*_field_clauses(query), *_date_clauses(query))
    sent = [(name, clause) for name, clause in narrowings if clause]
    dropped = [(name, "No word is left of this value once marks are taken out.") for name, clause in narrowings if not clause]
    dropped += _dropped(query)
    said = query.words.strip() if query.native else _clause(index, query.words)
    kind = f'dc.type all "{query.media_type}"' if query.media_type else ""
    clauses = [clause for clause in (said, *(clause for _, clause in sent), kind) if clause]
    if not clauses:
        reason = "Gallica cannot search on what was asked: nothing is left to send."
        return _Request(plan=Plan(dropped=tuple(dropped), absent_because=reason))
    order = _ORDERS.get(query.sort)
    if order and query.native and re.search(r"\bsortby\b", query.words, re.IGNORECASE):
        dropped.append(("sort", "The query as written already says sortby."))
        order = None
    elif order:
        sent.append(("sort", f"sortby {order}"))
    plan = Plan(sent=tuple(sent), dropped=tuple(dropped), media_type_asked=query.media_type, notes=_plan_notes(query),
                ordered_on=f"Gallica's own {order}" if order else None)
    return _Request(cql=" and ".join(clauses) + (f" sortby {order}" if order else ""), plan=plan,
                    exact=any(_term(value)[0] == "adj" for value in _written(query)))


def _written(query: Query) -> tuple[str, ...]:
    """The values that a caller wrote in words; a query in CQL is not one of them."""
    return () if query.native else (query.words, *query.fields.values(), query.publication or "")


def _field_clauses(query: Query) -> list[tuple[str, str]]:
    """Each field asked, with its clause. The languages of Gallica are MARC codes; an ISBN is asked in both its lengths."""
    asked = [(name, _clause(_INDEXES[name], value)) for name, value in query.fields.items() if name in _INDEXES]
    if "language" in query.fields:
        asked.append(("language", f'dc.language all "{marc_code(query.fields["language"])}"'))
    if "isbn" in query.fields:
        asked.append(("isbn", f'isbn any "{" ".join(isbn_forms(query.fields["isbn"]))}"'))
    if query.publication:
        ark = re.fullmatch(r"(?:gallica:|ark:/12148/)?(cb[0-9a-z]+)(?:/date)?", query.publication.strip())
        by_title = _clause("dc.title", query.publication)
        asked.append(("publication", f'arkPress all "{ark.group(1)}_date"' if ark else
                      f'{by_title} and dc.type all "fascicule"' if by_title else ""))
    return asked


def _date_clauses(query: Query) -> list[tuple[str, str]]:
    """The bounds, to the day, on the index of publication dates; dc.date is not compared (a peer saw that fail in silence)."""
    asked = []
    for name in query.bound_names:
        lower = name.endswith("from")
        if bound := (query.date_from if lower else query.date_to):
            day = answer.days(bound)[0 if lower else 1].replace("-", "/")
            asked.append((name, f'gallicapublication_date{">=" if lower else "<="}"{day}"'))
    return asked


def _dropped(query: Query) -> list[tuple[str, str]]:
    dropped = []
    if "place" in query.fields:
        dropped.append(("place", "Gallica files the place inside the publisher's name and has no index of places."))
    if query.facets:
        dropped.append(("facets", "Gallica's search service counts no terms; its web pages do, and are not asked."))
    if query.availability:
        dropped.append(("availability", "Gallica lends nothing, so it states no availability."))
    if query.sort in ("rating", "editions"):
        dropped.append(("sort", f"Gallica has no order by {query.sort}; its own order of relevance stands."))
    return dropped


def _plan_notes(query: Query) -> tuple[str, ...]:
    notes = []
    if any(map(_MASKS.search, _written(query))):
        notes.append("The marks * ? and ^ act in its query language, so they were sent as blanks.")
    if query.rows > ROWS_MAX:
        notes.append(f"Gallica sends at most {ROWS_MAX} rows at once; {ROWS_MAX} were asked instead of {query.rows}.")
    if query.media_type == "fascicule" and "subject" in query.fields:
        notes.append("Gallica files subjects on titles and books, never on an issue (fascicule), so this pair finds nothing.")
    return tuple(notes)


# ---- what is no answer ---------------------------------------------------------------------------------------------

def _no_error_page(meaning: Callable[[], SourceError]) -> Callable[[Reply], None]:
    """A check of the body as text: with status 500, the page that Gallica gives for what it does not know is `meaning`."""
    def check(reply: Reply) -> None:
        if reply.status == 500 and "could not resolve view" in str(reply.value).lower():
            raise meaning()
        if reply.status == 500:  # a 500 is not asked again at once, hence the minute
            raise ArchiveUnreachable("Gallica answered with an internal error.",
                                     archive=Gallica.key, status=500, retry_after_s=60.0)
    return check


def _bad_query() -> SourceError:
    return InvalidInput("Gallica answered with the error page that it gives for a query it cannot read.",
                        archive=Gallica.key, status=500)


def _unknown_ark() -> SourceError:
    return RecordNotFound("Gallica answered with the error page that it gives for an ark it does not know.",
                          archive=Gallica.key, status=500)


def _rooted(name: str) -> Callable[[Reply], None]:
    """A check of the decoded body: its root must have this name."""
    def check(reply: Reply) -> None:
        if local_name(reply.value) != name:
            raise UnreadableAnswer("Gallica sent XML of another kind than was asked.", archive=Gallica.key)
    return check


def _search_answer(reply: Reply) -> None:
    """An SRU answer, and no diagnostic: one arrives with status 200 and perhaps a count of zero, and is never an absence."""
    _rooted("searchRetrieveResponse")(reply)
    for diagnostic in every(reply.value, "diagnostic"):
        if _past_the_end(diagnostic):
            continue
        said = (joined([text_of(diagnostic, "message"), text_of(diagnostic, "details")], ": ") or "no reason given")[:200]
        if re.search(r"/1/[123]$", text_of(diagnostic, "uri") or "") or re.search(r"(?i)system|temporar|indisponible", said):
            raise ArchiveUnreachable(f"Gallica could not search: {said}", archive=Gallica.key)
        raise InvalidInput(f"Gallica refuses this query: {said}", archive=Gallica.key,
                           hint="Change the query; with native_query, check its CQL: indexes, relations, quotation marks.")


def _past_the_end(diagnostic: Any) -> bool:
    """Diagnostic 61 of SRU: the first record asked lies outside the result."""
    said = f"{text_of(diagnostic, 'message')} {text_of(diagnostic, 'uri')}"
    return bool(re.search(r"/1/61$|position out of range", said, re.IGNORECASE))


# ---- the archive ---------------------------------------------------------------------------------------------------

_WALLS = ("altcha", "vérification de sécurité", "access denied", "access interdit", "accès interdit", "datadome")


def _lane(key: str, host: str, spacing_s: float, because: str, *, scheme: str = "https", paths: tuple[str, ...] = ()) -> Lane:
    """A 500 is a bad query or an unknown ark and a 429 means hands off, so neither is asked again; a wall lasts hours to a day;
    a peer's measure has the bucket behind a 429 full again after two minutes."""
    return Lane(key=key, hosts=(host,), spacing_s=spacing_s, spacing_because=because, scheme=scheme, paths=paths,
                retry_statuses=frozenset({408, 425, 502, 503, 504}), limit_block_s=120.0,
                wall_block_s=2 * 3600.0, wall_block_max_s=24 * 3600.0, wall_signs=_WALLS)


class Gallica(Archive):
    """SRU for both searches, OAIRecord for a record, ContentSearch and ALTO for what a document says."""

    key = "gallica"
    name = "Gallica"
    asked_by_default = False
    answers = ("search_inside", "search_items", "get_item", "read_text")
    lanes = (
        _lane("gallica", r"gallica\.bnf\.fr", 5.0, "Crawl-delay: 5 in its robots.txt"),
        _lane("gallica-text", r"gallica\.bnf\.fr", 25.0, "a peer's measure: after four quick requests, one text in 25 s",
              paths=(r"/RequestDigitalElement",)),
        _lane("gallica-oai", r"oai\.bnf\.fr", 5.0, "the pace of the main host", scheme="http"),
    )
    absent_because: ClassVar[Mapping[str, str]] = {
        "search_headings": "Gallica has no headings of its own; those of the library are data.bnf.fr's (bnf).",
        "browse_collections": "Gallica's search service lists no collections."}
    media_types = ("monographie", "periodique", "fascicule", "manuscrit", "image", "carte", "partition", "musique", "objet",
                   "video", "sonore")
    native_syntax = "CQL"
    pages_are = "view"
    text = Describes(
        corpus="the machine-read text of Gallica's documents, one row an issue or a volume",
        publishes_page_number=True, requires_every_word=False, year_means=answer.YEAR_MEANS,
        total_means="the depth of a ranking, not a count of matching documents")
    catalogue = Describes(
        searches_on="records together with the text, where words are given; records alone for the fields",
        row_describes="a document; all volumes of a set, or all issues of a periodical, are one row",
        year_means=answer.YEAR_MEANS,
        total_means="rows after sets and periodicals are folded; for words, the depth of a ranking rather than a count")
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
        return f"Source: gallica.bnf.fr / Bibliothèque nationale de France, retrieved {retrieved_at[:10]}. {TERMS}"

    # -- identifiers

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """A document, with a view and a reader's suffixes behind it understood; or a periodical: cb…/date, and cb…/date1912 or
        cb…/date19120402 for its issues of one year or day."""
        ark = _ARK.fullmatch(local.strip())
        name, rest = (ark.group("name"), ark.group("rest")) if ark else ("", "")
        document, periodical = _OF_DOCUMENT.fullmatch(rest), _OF_PERIODICAL.fullmatch(rest)
        if not name or not (document or periodical):
            raise InvalidInput("Gallica mints no identifier of this shape.", archive=cls.key,
                               hint=f"Give one as a search returned it, such as {cls.spellings} or gallica:cb34431794k/date.")
        if not is_valid(name):
            raise InvalidInput("The ark is mistyped: its last character is not the check character of the others.",
                               archive=cls.key, hint="Copy it again from the address or the record.")
        if name.startswith("cc"):
            raise InvalidInput("This ark names a record of archives and manuscripts, another service of the library.",
                               archive=cls.key)
        if name.startswith("cb") != bool(periodical):
            raise InvalidInput("An ark in cb… is a catalogue record; cb…/date alone names a periodical of Gallica.",
                               archive=cls.key, hint=f"Read the record with bnf:{name}." if document else "Leave /date out.")
        if periodical:
            read = f"{name}/date{periodical.group('when') or ''}"
            said = f"read as the periodical gallica:{read}"
            return Reference(source=cls.key, local=read, read_as=None if read == local else said)
        view = int((document.group("view") if document else None) or 0) or None
        said = f"read as gallica:{name}" + (f", view {view} (the number of a picture, not a printed page)" if view else "")
        return Reference(source=cls.key, local=name, page=view, read_as=None if name == local else said)

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """An address of the reader, of a picture (IIIF) or of a service that names its ark."""
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        path = address.path if "ark:/12148/" in address.path else unquote(address.path)
        if path.rstrip("/").lower().endswith("/sru"):
            raise InvalidInput("This address is a search of Gallica and names no record.", archive=cls.key,
                               hint='Use search_items with sources ["gallica"], native_query true and query '
                                    + asked.get("query", "")[:250])
        picture = re.match(r"/iiif/.*?ark:/12148/([0-9a-z]+)(/f\d+)?", path, re.ASCII)
        number = asked.get("Deb", asked.get("page", ""))
        view = f"/f{number}" if number.isdecimal() and number.isascii() else ""
        if picture:
            return cls._at_address(picture.group(1) + (picture.group(2) or ""))
        if "ark:/12148/" in path:
            return cls._at_address(path[path.index("ark:/12148/"):])
        if "/services/" in path and asked.get("ark", "").endswith("/date"):
            return cls._at_address(asked["ark"] + asked.get("date", ""))
        if "/services/" in path and "ark" in asked:
            return cls._at_address(asked["ark"] + view)
        if path.endswith("/RequestDigitalElement") and "O" in asked:
            return cls._at_address(asked["O"] + view)
        raise InvalidInput("This address of Gallica names no ark, so no record.", archive=cls.key,
                           hint=f"Open the document there and give its address, or its identifier, such as {cls.spellings}.")

    @classmethod
    def _at_address(cls, local: str) -> Reference:
        found = cls.read_identifier(local)
        return replace(found, read_as=found.read_as or f"read as {found.identifier}")

    # -- searches

    @classmethod
    def plan_catalogue(cls, query: Query) -> Plan:
        return _request(query, "gallica").plan

    @classmethod
    def plan_text(cls, query: Query) -> Plan:
        return _request(query, "text").plan

    def search_catalogue(self, query: Query) -> Page:
        page = self._search(query, _request(query, "gallica"), collapsing=True)
        return replace(page, records=tuple(map(answer.record, page.records)))

    def search_text(self, query: Query) -> Page:
        """Documents whose text matches, then the passages of the first CONTENT_ROWS, each asked by itself."""
        self._require_contents("search_inside")
        page = self._search(query, _request(query, "text"), collapsing=False)
        matches: list[TextMatch] = []
        asked = silent = 0
        failure: SourceError | None = None
        for row in page.records:
            found: tuple[Found, ...] = ()
            readable = row.local is not None and "/date" not in row.local
            if readable and asked < CONTENT_ROWS and not failure and self.ask.call.remaining_s() >= CONTENT_RESERVE_S:
                asked += 1
                try:
                    found, _ = self._content_search(row.local, query.words)
                    silent += not found
                except SourceError as exc:
                    failure = exc
            matches.append(answer.match(row, found, query))
        unasked = len(matches) - asked
        notes = list(page.notes)
        if failure:
            notes.append(f"The search was answered; reading passages failed after it (stage read): {failure.message}")
        if unasked:
            notes.append(f"{unasked} row(s) stand without text: passages are asked document by document, at most "
                         f"{CONTENT_ROWS} a call. read_text with match reads those of one.")
        if silent:
            notes.append(f"The search inside a document found no passage in {silent} row(s) of the search across them.")
        return replace(page, records=tuple(matches), notes=tuple(notes))

    def _search(self, query: Query, request: _Request, *, collapsing: bool) -> Page:
        """One SRU answer; `records` are Document values. A count without rows is past the end, or no answer; never an absence."""
        rows = min(query.rows, ROWS_MAX)
        start = (query.page - 1) * rows + 1
        root = self._sru(request.cql, start=start, rows=rows, collapsing=collapsing, exact=request.exact)
        documents, skipped = _documents(root)
        documents = documents[:rows]  # were more sent than asked, the next page would begin with them again
        total = amount(text_of(root, "numberOfRecords"))
        beyond = None
        if not documents and (every(root, "diagnostic") or (total and start > total)):
            held = f" It has {total} rows; the last page of {rows} is page {-(-total // rows)}." if total else ""
            beyond = "This page lies past the last row." + held
        elif not documents and total:
            raise UnreadableAnswer(f"Gallica counts {total} rows and sent none of them.", archive=self.key)
        more = True if integer(text_of(root, "nextRecordPosition")) else None if total is None else start - 1 + rows < total
        unfolded = re.search(r"\d+", text_of(root, "extraResponseData") or "")
        notes: tuple[str, ...] = ()
        if collapsing and documents and unfolded and total is not None and int(unfolded.group()) > total:
            notes = (f"{total} rows stand for {unfolded.group()} documents, since a set or a periodical is one row.",)
        return Page(records=documents, total=total, skipped=skipped, more=more, beyond=beyond, notes=notes)

    def _sru(self, cql: str, *, start: int, rows: int, collapsing: bool, exact: bool = False) -> Any:
        """The root of a search answer; the first record is number 1."""
        params = {"version": "1.2", "operation": "searchRetrieve", "query": cql, "startRecord": str(start),
                  "maximumRecords": str(rows), "collapsing": str(collapsing).lower()}
        if exact:
            params["exactSearch"] = "true"
        try:
            return self.ask.get_xml(SRU, params, statuses=(200, 500), check_text=_no_error_page(_bad_query),
                                    check=_search_answer).value
        except RecordNotFound as exc:
            raise ArchiveUnreachable("Gallica's search service was not found at its address.",
                                     archive=self.key, status=404) from exc

    # -- records

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        if "/date" in reference.local:
            return self._periodical(reference, wanted)
        if wanted.wants("pages"):
            return self._with_pages(reference, wanted)
        document, notes = self._described(reference.local)
        return ItemPage(item=answer.item(reference, document), notes=notes)

    def _with_pages(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """A record and its views. Either may fail without costing the other; where both do, the record's failure is told."""
        item, failure = _bare_item(reference), None
        notes: tuple[str, ...] = ()
        try:
            document, notes = self._described(reference.local)
            item = answer.item(reference, document)
        except SourceError as exc:
            failure = exc
            notes = (f"Gallica: the pages were listed; the record itself could not be read: {exc.message}",)
        try:
            entries, total = self._views(reference.local)
        except SourceError as exc:
            if failure:
                raise failure from exc
            return ItemPage(item=item, notes=(*notes, f"Gallica: the list of pages could not be read: {exc.message}"))
        if total != len(entries):
            notes = (*notes, f"Gallica states {total} views and lists {len(entries)} of them.")
        shown = entries[wanted.list_offset:wanted.list_offset + wanted.list_limit]
        return ItemPage(item=replace(item, pages=shown), list_total=len(entries), notes=notes)

    def _described(self, local: str) -> tuple[Document, tuple[str, ...]]:
        """A record by the main service, or by the library's OAI repository when that one refuses."""
        try:
            root = self.ask.get_xml(SERVICES + "OAIRecord", {"ark": local}, statuses=(200, 500),
                                    check_text=_no_error_page(_unknown_ark), check=_rooted("results")).value
        except (ArchiveUnreachable, RateLimited, RecordNotFound) as refusal:
            return self._from_repository(local, refusal)
        if integer(root.get("countResults")) == 0:
            raise RecordNotFound("Gallica holds no document under this ark.", archive=self.key)
        return _one_document(root), ()

    def _from_repository(self, local: str, refusal: SourceError) -> tuple[Document, tuple[str, ...]]:
        """The record of the OAI repository. It holds the library's own documents alone, so its silence by itself proves nothing:
        the main service's refusal stands then, and "not found" only when both answered so."""
        asked = {"verb": "GetRecord", "metadataPrefix": "oai_dc", "identifier": f"oai:bnf.fr:gallica/ark:/12148/{local}"}
        try:
            root = self.ask.get_xml(REPOSITORY, asked, check=_rooted("OAI-PMH")).value
        except SourceError as exc:
            if isinstance(refusal, RecordNotFound):
                raise
            raise refusal from exc
        if not every(root, "dc"):
            raise refusal
        whose = "The record shown is that of the library's OAI repository, refreshed weekly."
        return _one_document(root), (f"{refusal.message} {whose}",)

    def _periodical(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """A periodical: its years, or its issues of the year or day that the identifier names; a search gives its description."""
        name, _, when = reference.local.partition("/date")
        entries = self._issues(name, when)
        notes: tuple[str, ...] = ()
        rows: tuple[Document, ...] = ()
        try:
            rows, _skipped = _documents(self._sru(f'arkPress all "{name}_date"', start=1, rows=1, collapsing=True))
        except SourceError as exc:
            if not entries:
                raise
            notes = (f"Gallica: the issues were listed; the title's own description could not be read: {exc.message}",)
        document = next((row for row in rows if row.local == f"{name}/date"), None)
        if not entries and document is None:
            raise RecordNotFound("Gallica lists no issue under this periodical" + (" and date." if when else "."),
                                 archive=self.key)
        about = "A periodical: it has issues, and no pages or text of its own. " + (
            f"Only its issues of {when} are listed." if when else f"gallica:{name}/dateYYYY lists the issues of one year.")
        item = answer.item(reference, document) if document else _bare_item(reference)
        if not wanted.wants("editions"):
            return ItemPage(item=replace(item, notes=(about, *item.notes)), notes=notes)
        shown = entries[wanted.list_offset:wanted.list_offset + wanted.list_limit]
        return ItemPage(item=replace(item, editions=shown, notes=(about, *item.notes)), list_total=len(entries), notes=notes)

    def _issues(self, name: str, when: str) -> tuple[Edition, ...]:
        """The years of a periodical (`when` ""), or its issues of a year or a day (YYYY, YYYYMMDD)."""
        asked = {"ark": f"ark:/12148/{name}/date", **({"date": when[:4]} if when else {})}
        root = self.ask.get_xml(SERVICES + "Issues", asked, check=_rooted("issues")).value
        entries = answer.issues(root, int(when[:4])) if when else answer.years(root, name)
        if not entries and every(root, "issue" if when else "year"):
            raise UnreadableAnswer("Gallica sent a list of issues of which none can be read.", archive=self.key)
        day = f"{when[:4]}-{when[4:6]}-{when[6:]}"
        return entries if len(when) != 8 else tuple(entry for entry in entries if entry.date == day)

    def _views(self, local: str) -> tuple[tuple[PageEntry, ...], int]:
        """Every view listed, and how many the document states."""
        root = self.ask.get_xml(SERVICES + "Pagination", {"ark": local}, check=_rooted("livre")).value
        entries = answer.views(root, local)
        if not entries:
            raise UnreadableAnswer("Gallica sent a list of pages of which none can be read.", archive=self.key)
        return entries, amount(text_of(root, "nbVueImages")) or len(entries)

    # -- contents

    def read_page(self, reference: Reference, page: int) -> PageText:
        """The machine-read text of one view, with what the record and the list of pages say of it."""
        if page < 1:
            raise InvalidInput(f"page: {page} is no view; Gallica counts views from 1.", archive=self.key)
        frame, document = self._frame(reference)
        frame = self._placed(frame, reference.local, page)
        try:
            root = self.ask.get_xml(ALTO, {"O": reference.local, "E": "ALTO", "Deb": str(page)}, check=_rooted("alto")).value
        except RecordNotFound:
            if document is None or document.states_text:
                raise
            return replace(frame, text=None, ocr_available=False)
        sheet = next(iter(every(root, "Page")), None)
        if sheet is None:
            raise UnreadableAnswer("Gallica sent a text file without a page.", archive=self.key)
        rated = sheet.get("ACCURACY")
        printed = frame.printed_page if frame.page_count else sheet.get("PRINTED_IMG_NR")  # the file states it too
        return replace(frame, text=answer.alto_text(sheet), printed_page=printed, notes=(
            *frame.notes, *([f"Machine-read text; the file rates its own accuracy at {rated} of 100."] if rated else ())))

    def _placed(self, frame: PageText, local: str, page: int) -> PageText:
        """The frame with the view's place in the document; without the list of pages, the last view is unknown."""
        frame = replace(frame, page_number=page, page_number_is="view", source_url=answer.page_url(local, page),
                        image_url=answer.image_url(local, page), previous_page=page - 1 if page > 1 else None)
        try:
            entries, total = self._views(local)
        except SourceError as exc:
            unread = f"Gallica: the list of pages could not be read, so the last view is unknown: {exc.message}"
            return replace(frame, notes=(*frame.notes, unread))
        if page > total:
            raise InvalidInput(f"page: {page} lies past the last view; this document has {total}.", archive=self.key)
        printed = next((entry.printed_page for entry in entries if entry.page_number == page), None)
        return replace(frame, page_count=total, next_page=page + 1 if page < total else None, printed_page=printed)

    def search_record(self, reference: Reference, words: str, max_passages: int) -> Passages:
        frame, document = self._frame(reference)
        found, count = self._content_search(reference.local, words)
        passages = [Passage(page_number=hit.view, text=window(text, first_match(text, words) or 0, PASSAGE_CHARS),
                            source_url=answer.page_url(reference.local, hit.view)) for hit in found for text in hit.fragments]
        if not found and document and not document.states_text:
            frame = replace(frame, ocr_available=False)
        note = ("Gallica does not say whether it counts matches or pages, and sends at most ten pages of them." if found else
                "Gallica answers alike for no match and for a document without text.")
        return Passages(page=frame, passages=tuple(passages[:max_passages]), match_count=count, notes=(note,))

    def _frame(self, reference: Reference) -> tuple[PageText, Document | None]:
        """The record as a page without text. A record that cannot be read costs its title and terms, not the text."""
        self._require_contents("read_text")
        if "/date" in reference.local:
            raise InvalidInput("A periodical's title has no text of its own.", archive=self.key,
                               hint=f"List its issues with get_item {reference.identifier}, section editions, and read one.")
        document: Document | None = None
        try:
            document, notes = self._described(reference.local)
        except SourceError as exc:
            notes = (f"Gallica: the record itself could not be read, so its title and terms are missing: {exc.message}",)
        issue = document if document and document.is_issue else None
        return PageText(identifier=reference.identifier, item_identifier=reference.identifier, notes=notes,
                        title=document.title if document else None, published_on=issue.date if issue else None,
                        publication=issue.title if issue else None, source_url=answer.page_url(reference.local),
                        rights=answer.rights(document)), document

    def _content_search(self, local: str, wording: str) -> tuple[tuple[Found, ...], int | None]:
        """The first ten pages of one document that match, and the service's own count."""
        root = self.ask.get_xml(SERVICES + "ContentSearch", {"ark": local, "query": " ".join(wording.split())},
                                check=_rooted("results")).value
        items = every(root, "item")
        found = tuple(hit for hit in map(answer.passages_on, items) if hit.fragments)
        if items and not found:
            raise UnreadableAnswer("Gallica sent passages of which none can be read.", archive=self.key)
        return found, amount(root.get("countResults"))

    def _require_contents(self, call: str) -> None:
        if not self.ask.settings.gallica_contents:
            raise self._refusal(call)


def _documents(root: Any) -> tuple[tuple[Document, ...], int]:
    """The rows of a search answer, and how many could not be read; none readable is no answer at all."""
    nodes, documents = every(root, "record"), []
    for node in nodes:
        try:
            documents.append(answer.document(node))
        except ValueError:
            continue
    if nodes and not documents:
        raise UnreadableAnswer(f"Gallica sent {len(nodes)} rows, of which none can be read.", archive=Gallica.key)
    return tuple(documents), len(nodes) - len(documents)


def _one_document(root: Any) -> Document:
    try:
        return answer.document(root)
    except ValueError as exc:
        raise UnreadableAnswer(f"Gallica sent a record that cannot be read: {exc}.", archive=Gallica.key) from exc


def _bare_item(reference: Reference) -> Item:
    """A record of which nothing but its identifier is known."""
    return Item(identifier=reference.identifier, source_url=answer.page_url(reference.local), rights=answer.rights(None))
