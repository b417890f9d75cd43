"""Open Library: one catalogue of works, editions and authors, written by its readers; its rows describe works.

Nothing here starts a write: `/ia/…`, which imports a book it does not know, is never asked. Full text is absent, since the
index behind it is the Internet Archive's own, asked there under its own name.

Sources: the project's own pages "Search API", "Books API", "Covers API" and "API access" (developers/api), and the server's
public source for what those leave out; facts of 2026-11.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import SplitResult, quote, unquote

from .contract import (Archive, Contributor, Copy, Describes, Edition, Heading, Item, ItemPage, ItemQuery, Lane, Page, Plan,
                       Query, Record, Reference, Related, Reply, Rights)
from .errors import ArchiveUnreachable, InvalidInput, RecordNotFound, SourceError, UnreadableAnswer
from .languages import marc_code
from .standard_numbers import isbn, lccn, oclc
from .text import first, fold, integer, joined, listing, mapping, strings, words

SITE = "https://openlibrary.org"
COVERS = "https://covers.openlibrary.org"  # handed out for a person to open, never asked
ROW_FIELDS = ("key", "title", "author_name", "author_key", "first_publish_year", "edition_count", "ebook_access", "cover_i",
              "language", "subject", "ratings_average", "ratings_count")
EDITION_FIELDS = ("editions", "editions.key", "editions.title", "editions.language", "editions.publisher")
EDITION_LEVEL = ("language", "publisher", "isbn")  # what these ask must hold in one and the same edition
AVAILABILITY = ("status", "is_readable", "is_lendable", "is_printdisabled", "is_restricted", "is_previewable", "is_browseable",
                "available_to_browse", "available_to_borrow", "available_to_waitlist", "num_waitlist", "identifier",
                "error_message")
SUBJECTS_MAX = 5  # on a row; a classic carries hundreds, reading the record gives them all
MERGES_MAX = 4  # records passed through on the way to the surviving one; three were seen in a row
AUTHORS_MAX = 20  # names looked up for one record, so that the address stays short
SORTS = {  # ours: the archive's word, and what the order goes by
    "newest": ("new", "first_publish_year, latest first; works without a year come last"),
    "oldest": ("old", "first_publish_year, earliest first; works without a year come last"),
    "title": ("title", "title, without a leading article"),
    "rating": ("rating", "the ratings readers gave"),
    "editions": ("editions", "number of editions, most first"),
}
# A field's words go in a parameter, where the server escapes them and requires each; None: in q under the index fields named,
# which are also where a phrase goes, since quotation marks act in q alone. In q `title` reads the titles of every edition and
# translation, as a parameter only the work's own.
WORDED: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "title": (None, ("title",)),
    "creator": ("author", ("author_name", "author_alternative_name")),
    "subject": ("subject", ("subject",)),
    "publisher": ("publisher", ("publisher",)),
    "place": ("place", ("place",)),
}
CODED: dict[str, Callable[[str], str]] = {"isbn": isbn, "lccn": lccn, "oclc": oclc, "language": marc_code}
NUMBERS: dict[str, Callable[[str], str]] = {"isbn": isbn, "lccn": lccn, "oclc": oclc}  # addresses that lead to an edition
FOLDER_OF = {"W": "works", "M": "books", "A": "authors"}
LETTER_OF = {"/type/work": "W", "/type/edition": "M", "/type/author": "A"}
NOTED = (("subtitle", "Subtitle"), ("edition_name", "Edition statement"), ("by_statement", "Statement of responsibility"),
         ("copyright_date", "Copyright date"), ("first_sentence", "First sentence"), ("notes", "Note"))
REMOTE = {"wikidata": "https://www.wikidata.org/wiki/", "viaf": "https://viaf.org/viaf/", "isni": "https://isni.org/isni/"}
RIGHTS = Rights(covers="this catalogue record", note=(
    "No record of Open Library states terms of reuse; nothing is granted here. Its editors give their edits under CC0; the "
    "sources of descriptions and covers state nothing. That a scan can be read or borrowed says nothing about its rights."))

_OLID = re.compile(r"OL\d{1,12}[WMA]", re.ASCII)
_SCAN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_ACTING = re.compile(r'([()\[\]{}:"+\-^!\\*])')  # not / ? ~: the server escapes those, and twice would let them act
_OPERATOR = re.compile(r"(?<!\S)(?:AND|OR|NOT)(?!\S)")
_LIST = re.compile(r"\s*/(?:people/[^/\s]+/)?lists/OL\d+L\b")  # in q, this would search inside a list
_STRAY_CARET = re.compile(r"(?<!\\)\^(?![\d.])")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?"
_PLAIN_DATE = re.compile(rf"(?:(?:\d{{1,2}} )?{_MONTH}(?: \d{{1,2}})?,? )?(\d{{4}})|(\d{{4}})-\d{{2}}(?:-\d{{2}})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A query as it goes out: the text of `q`, the other parameters, and how each narrowing was spelled."""

    q: str
    params: tuple[tuple[str, str], ...]
    sent: tuple[tuple[str, str], ...]


class OpenLibrary(Archive):
    """Works by catalogue search; works, editions and authors one by one; authors and subjects as headings."""

    key = "openlibrary"
    name = "Open Library"
    lanes = (Lane(
        key="openlibrary", hosts=(r"openlibrary\.org",), spacing_s=1.0, in_flight_max=2,
        spacing_because="Open Library publishes one request a second, three for a client naming a contact; the lower governs.",
        # 500 is how a query that broke the search comes back, 502 to 504 are outages that outlast a call: none is asked again.
        retry_statuses=frozenset({408, 425}),
        limit_block_s=60.0,  # its 429 names no time; the ceiling behind it is counted by the minute
    ),)
    answers = ("search_items", "get_item", "search_headings")
    absent_because = {
        "search_inside": "Open Library's full-text index is the Internet Archive's own; ask the source archive.",
        "read_text": "Open Library holds no page text; a scan it points to is read as archive:ID.",
        "browse_collections": "Open Library has no collections.",
    }
    media_types = ("work",)
    native_syntax = "Solr, as in openlibrary.org/search (title:x AND first_publish_year:[1860 TO 1870])"
    heading_kinds = ("subject", "person")
    unread_fields = ("pages", "generated_entries", "identifier_provisional")
    address_hosts = ("openlibrary.org", "www.openlibrary.org")
    spellings = "openlibrary:OL15832982W, openlibrary:OL22951843M, openlibrary:OL23919A, openlibrary:isbn/9780140328721"
    catalogue = Describes(
        searches_on="titles of works and of all their editions, names, series, tables of contents, subjects, places, persons, "
                    "times, publishers and numbers; neither descriptions nor the text of books",
        row_describes="a work with all its printings; a few rows are an edition without a work",
        requires_every_word=True,
        year_means="the earliest year read out of any edition's date: neither the writing nor one printing, and one mistyped "
                   "edition moves it",
        total_means="works",
    )

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        return f"Open Library ({SITE}), a project of the Internet Archive."

    # ---- identifiers -----------------------------------------------------------------------------------------------

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """An OLID of a work, edition or author, `isbn/N`, `oclc/N`, `lccn/N`, with or without the folder it stands in."""
        spelled = local.strip().strip("/").removesuffix(".json")
        head, _, rest = spelled.partition("/")
        if head in NUMBERS and rest:
            read = f"{head}/{NUMBERS[head](rest)}"
        elif head == "ia" or rest.startswith("ia:"):
            raise InvalidInput("Open Library may start an import at this address, so it is never asked.", archive=cls.key,
                               hint="Give the scan to get_item as archive:ID.")
        else:
            read = cls._olid_or_isbn(rest if rest and head in ("works", "books", "authors", "w", "b", "a") else spelled)
        return Reference(source=cls.key, local=read, read_as=None if read == local else f"read as {cls.key}:{read}")

    @classmethod
    def _olid_or_isbn(cls, spelled: str) -> str:
        olid = spelled.upper()
        if _OLID.fullmatch(olid):
            return olid
        if re.fullmatch(r"OL\d{1,12}[LT]", olid, re.ASCII):
            raise InvalidInput(f"{olid} is a list or a tag of Open Library; works (W), editions (M) and authors (A) can be read.",
                               archive=cls.key, hint=f"Give {cls.spellings}.")
        if re.fullmatch(r"[\d -]{9,16}[\dXx]", spelled, re.ASCII):
            return f"isbn/{isbn(spelled)}"
        raise InvalidInput(f"{spelled[:80]!r} is no identifier of Open Library.", archive=cls.key, hint=f"Give {cls.spellings}.")

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """A page of a work, an edition or an author, old folders (/w/, /b/, /a/) and look-ups by number included."""
        steps = [unquote(step) for step in address.path.split("/") if step]
        if len(steps) < 2 or steps[0] not in ("works", "books", "authors", "w", "b", "a", "isbn", "oclc", "lccn", "ia"):
            raise InvalidInput("This address of Open Library names no work, edition or author.", archive=cls.key,
                               hint=f"Give {cls.spellings}, or the address of one such page.")
        return cls.read_identifier(f"{steps[0]}/{steps[1]}")

    # ---- searching -------------------------------------------------------------------------------------------------

    @classmethod
    def plan_catalogue(cls, query: Query) -> Plan:
        """What goes out of a query's narrowings; years only, no counts by term, no collections."""
        if "collection" in query.fields:
            return Plan(absent_because="Open Library has no collections to search in.")
        request = _request(query)
        if not query.words.strip() and not query.fields and not any(query.years):
            return Plan(absent_because="Open Library holds works only, and needs a word, a field or a year to search them on.")
        notes = []
        if any(len(date or "") > 4 for date in (query.date_from, query.date_to)):
            notes.append("it has years only, and the dates were sent to it as years.")
        if _edition_asked(query):
            asked = ", ".join(name for name in EDITION_LEVEL if name in query.fields)
            notes.append(f"its count is of works with one edition that meets all that was asked of an edition ({asked}, a title "
                         "too), and matching_edition names that edition.")
        if query.native:
            notes.append("where the syntax does not parse, it searches the plain words instead and does not say so.")
        return Plan(sent=request.sent, notes=tuple(notes), media_type_asked=query.media_type,
                    dropped=(("facets", "Open Library's search answers carry no counts by term."),) if query.facets else (),
                    ordered_on=SORTS[query.sort][1] if query.sort in SORTS else None)

    def search_catalogue(self, query: Query) -> Page:
        """Works, in the archive's order; a query it is known to refuse is refused here, before it is sent.

        Raises:
            InvalidInput: fewer than three characters, the word "the" alone, no word at all, a stray "^" in native syntax.
        """
        request = _request(query)
        self._refuse_known(query, request)
        fields = ROW_FIELDS + (("ia", "availability") if query.availability else ())
        if _edition_asked(query):
            fields += EDITION_FIELDS + (("editions.ia", "editions.availability") if query.availability else ())
        params = (*((("q", request.q),) if request.q else ()), *request.params, ("fields", ",".join(fields)),
                  ("limit", str(query.rows)), ("page", str(query.page)))
        answer = self._found("/search.json", params)
        total, docs = _total(answer), listing(answer["docs"])
        records = [row for row in map(_row, docs) if row is not None]
        start = integer(answer.get("start"))
        start = (query.page - 1) * query.rows if start is None else start
        if total and not docs and start < total:
            raise UnreadableAnswer(f"Open Library counts {total} works and sent no row of them.", archive=self.key)
        if docs and not records:
            raise UnreadableAnswer(f"None of the {len(docs)} rows that Open Library sent could be read.", archive=self.key)
        return Page(records=tuple(records), total=total, skipped=len(docs) - len(records), notes=_remarks(query, answer, records),
                    more=None if total is None else start + len(docs) < total,
                    beyond=_beyond(total, query) if total and not docs else None)

    def _refuse_known(self, query: Query, request: _Request) -> None:
        """Raise what the server would answer with 422, or with a 500 that says nothing."""
        reason = None
        if query.words.strip() and not words(query.words):
            reason = "Open Library needs a letter or a digit to search for."
        elif request.q and len(request.q) < 3:
            reason = "Open Library refuses queries of fewer than three characters."
        elif request.q.lower() == "the":
            reason = 'Open Library refuses the word "the" alone.'
        elif not request.q and not request.params:
            reason = "Open Library needs a word, a field or a year to search on."
        elif query.native and _STRAY_CARET.search(re.sub(r'"(?:\\.|[^"\\])*"', '""', request.q)):
            reason = 'Open Library fails on "^" without a number behind it.'
        if reason:
            raise InvalidInput(reason, archive=self.key, hint="Give more words, or a field such as title.")

    def _found(self, path: str, params: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """One search answer, an object with the list `docs`.

        Raises:
            InvalidInput: 422, with the objection. ArchiveUnreachable: 404, which a search never means as an absence.
        """
        reply = self.ask.get_json(SITE + path, params, statuses=(200, 404, 422), check=self._check_docs)
        if reply.status == 422:
            raise InvalidInput(f"Open Library refuses this query: {_objection(reply.value)}", archive=self.key, status=422)
        if reply.status == 404:
            raise ArchiveUnreachable("Open Library's search could not be found at its address.", archive=self.key, status=404)
        self._check_docs(reply)
        return mapping(reply.value)

    def _check_docs(self, reply: Reply) -> None:
        answer = mapping(reply.value)
        docs = answer.get("docs")
        if reply.status == 200 and (not isinstance(docs, list) or (not docs and _total(answer) is None)):
            raise UnreadableAnswer("Open Library sent a search answer of another shape.", archive=self.key)

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """Authors as persons, readers' subject tags as subjects; exact ones first. There is no authority file behind them."""
        if not words(query):
            raise InvalidInput("Open Library needs a letter or a digit to search for.", archive=self.key)
        path, read = ("/search/authors.json", _person) if kind == "person" else ("/search/subjects.json", _subject)
        answer = self._found(path, (("q", _literal(query)), ("limit", str(rows))))
        docs = [mapping(doc) for doc in listing(answer["docs"])]
        headings = [heading for heading in (read(doc, query) for doc in docs) if heading is not None]
        total = _total(answer)
        if (docs and not headings) or (total and not docs):
            raise UnreadableAnswer(f"None of the {len(docs) or total} headings that Open Library found could be read.",
                                   archive=self.key)
        return Page(records=tuple(sorted(headings, key=lambda heading: not heading.exact)), total=total,
                    skipped=len(docs) - len(headings), more=None if total is None else len(docs) < total,
                    notes=_namesakes(docs) if kind == "person" else
                    ("its subjects are readers' tags, so one thing may stand under several spellings.",))

    # ---- reading one record ----------------------------------------------------------------------------------------

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """A work, an edition or an author; `editions` are the editions of a work, and the works of an author.

        Raises:
            RecordNotFound: no such record, or one that was deleted, which the message says.
            UnreadableAnswer: merged records that lead in a circle, or a record of another kind.
        """
        olid, record, notes = self._follow(reference.local)
        if olid[-1] == "A":
            item = _author(olid, record)
        else:
            credits, credit_notes = self._credits(olid, record)
            names, name_notes = self._names(tuple(credits))
            notes += credit_notes + name_notes
            item = _book(olid, record, credits, names)
        if not wanted.wants("editions"):
            return ItemPage(item=item, notes=notes)
        if olid[-1] == "M":
            listed = "Editions are listed with their work, which context names." if listing(record.get("works")) else \
                "The edition belongs to no work, so no other editions are listed with it."
            return ItemPage(item=item, notes=(*notes, listed))
        try:
            editions, total, dropped = self._list(olid, wanted)
        except SourceError as exc:
            what = "works" if olid[-1] == "A" else "editions"
            return ItemPage(item=item, notes=(*notes, f"The list of {what} could not be read: {exc.message}"))
        return ItemPage(item=replace(item, editions=editions), list_total=total, notes=notes + dropped)

    def _follow(self, local: str) -> tuple[str, dict[str, Any], tuple[str, ...]]:
        """The identifier and the record that `local` leads to, through at most MERGES_MAX merged ones, and how it was reached."""
        passed: list[str] = []
        while True:
            try:
                record = self._record(local)
            except RecordNotFound as exc:
                if passed:
                    raise RecordNotFound(f"The record {passed[0]} was merged at Open Library into {local}, which it does not hold.",
                                         archive=self.key, status=404) from exc
                raise
            kind = _key(record.get("type"))
            if kind == "/type/delete":
                raise RecordNotFound(f"The record {local} existed at Open Library and was deleted.", archive=self.key)
            if kind != "/type/redirect":
                break
            passed.append(local)
            target = _olid(record.get("location"))
            if target is None or target in passed or len(passed) > MERGES_MAX:
                raise UnreadableAnswer(f"The record {passed[0]} was merged at Open Library, but the merges lead to no record.",
                                       archive=self.key)
            local = target
        olid = _olid(record.get("key")) or (local if _OLID.fullmatch(local) else None)
        if olid is None or LETTER_OF.get(kind or "") != olid[-1]:
            raise UnreadableAnswer(f"What Open Library sent for {local} is no work, edition or author.", archive=self.key)
        notes = [f"Open Library merged {', then '.join(passed)} into {olid}, which is shown."] if passed else []
        if "/" in local:
            notes.append(f"Open Library answers {local} with the one edition {olid}; others may bear the same number.")
        return olid, record, tuple(notes)

    def _record(self, local: str) -> dict[str, Any]:
        """The record as stored; look-ups by number answer with a redirect to it."""
        folder = "" if "/" in local else FOLDER_OF[local[-1]] + "/"
        reply = self.ask.get_json(f"{SITE}/{folder}{quote(local)}.json", statuses=(200, 404), check=self._check_record)
        if reply.status == 404:
            raise RecordNotFound(f"Open Library holds no record {local}.", archive=self.key, status=404)
        self._check_record(reply)
        return mapping(reply.value)

    def _check_record(self, reply: Reply) -> None:
        if reply.status == 200 and _key(mapping(reply.value).get("type")) is None:
            raise UnreadableAnswer("Open Library sent something else than a record.", archive=self.key)

    def _credits(self, olid: str, record: Mapping[str, Any]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Authors' identifiers with their roles; those of the work when an edition names none."""
        credits = _credited(record)
        work = next((key for key in map(_olid, listing(record.get("works"))) if key), None) if olid[-1] == "M" else None
        if credits or work is None:
            return credits, ()
        try:
            credits = _credited(self._follow(work)[1])
        except SourceError as exc:
            return {}, (f"The edition names no author, and its work {work} could not be read: {exc.message}",)
        return credits, (f"The edition names no author; its work {work} does.",) if credits else ()

    def _names(self, olids: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Names of authors: one from its own record, several from one search. A failed look-up costs the names alone."""
        names: dict[str, str] = {}
        try:
            if len(olids) == 1:
                name = first(self._follow(olids[0])[1].get("name"))
                names = {olids[0]: name} if name else {}
            elif olids:
                asked = olids[:AUTHORS_MAX]
                answer = self._found("/search.json", (("q", f"author_key:({' OR '.join(asked)})"),
                                                      ("fields", "author_key,author_name"), ("limit", "100")))
                for doc in map(mapping, listing(answer["docs"])):
                    # The two lists run in parallel, so an empty name keeps its place.
                    names.update((key, " ".join(name.split())) for key, name in zip(listing(doc.get("author_key")),
                                 listing(doc.get("author_name"))) if key in asked and isinstance(name, str) and name.strip())
        except SourceError as exc:
            return {}, (f"The names of the authors could not be read, so contributors holds {', '.join(olids[:5])} in their place: "
                        f"{exc.message}",)
        unnamed = [olid for olid in olids if olid not in names]
        return names, (f"Open Library gave no name for {', '.join(unnamed[:5])}.",) if unnamed else ()

    def _list(self, olid: str, wanted: ItemQuery) -> tuple[tuple[Edition, ...], int, tuple[str, ...]]:
        """A slice of a work's editions or an author's works, the length of the whole list, and what could not be read of it."""
        path = f"/works/{olid}/editions.json" if olid[-1] == "W" else f"/authors/{olid}/works.json"
        params = (("limit", str(wanted.list_limit)), ("offset", str(wanted.list_offset)))
        answer = mapping(self.ask.get_json(SITE + path, params).value)
        total, entries = integer(answer.get("size")), answer.get("entries")
        if total is None or not isinstance(entries, list):
            raise UnreadableAnswer("Open Library sent a list of another shape.", archive=self.key)
        editions = tuple(edition for edition in map(_edition, entries) if edition is not None)
        if entries and not editions:
            raise UnreadableAnswer(f"None of the {len(entries)} entries that came could be read.", archive=self.key)
        dropped = len(entries) - len(editions)
        return editions, total, (f"{dropped} of the {len(entries)} entries that came could not be read.",) if dropped else ()


# ---- what is sent --------------------------------------------------------------------------------------------------

def _request(query: Query) -> _Request:
    """The query as it goes out. Raises InvalidInput for a value the caller must mend."""
    parts = [query.words.strip() if query.native else _literal(query.words)]
    params: list[tuple[str, str]] = []
    sent: list[tuple[str, str]] = []
    for name, value in query.fields.items():
        if name in CODED:
            params.append((name, CODED[name](value)))
            sent.append((name, "=".join(params[-1])))
        elif name in WORDED:
            param, spelled = _worded(name, value)
            (params.append((param, spelled)) if param else parts.append(spelled))
            sent.append((name, f"{param or 'q'}={spelled}" + (" (a place the work is about)" if name == "place" else "")))
    if any(query.years):
        low, high = query.years
        parts.append(f"first_publish_year:[{low or '*'} TO {high or '*'}]")
        sent += [(name, f"q={parts[-1]}") for name in query.bound_names]
    if query.sort in SORTS:
        params.append(("sort", SORTS[query.sort][0]))
        sent.append(("sort", f"sort={SORTS[query.sort][0]}"))
    if query.availability:
        sent.append(("availability", "fields=ia,availability"))
    return _Request(q=" ".join(part for part in parts if part), params=tuple(params), sent=tuple(sent))


def _worded(name: str, value: str) -> tuple[str | None, str]:
    """The parameter (None: q) and the text for a field given in words, all of them, or in quotes, those words adjacent."""
    param, index = WORDED[name]
    value = " ".join(value.split())
    if not words(value):
        raise InvalidInput(f"{name}: {value!r} holds no letter or digit.", hint="Give words of the record, or leave it out.")
    quoted = len(value) > 2 and value[0] == value[-1] == '"'
    if name == "creator" and re.fullmatch(r"OL\d+A", value.strip('"'), re.ASCII):
        return param, value.strip('"')  # an author's own key, which the parameter knows
    if param and not quoted:
        return param, value
    text = _phrase(value[1:-1]) if quoted else f"({_literal(value)})"
    spelled = " OR ".join(f"{field}:{text}" for field in index)
    return None, f"({spelled})" if len(index) > 1 else spelled


def _phrase(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _literal(text: str) -> str:
    """Words as `q` takes them: phrases in paired quotes stay phrases, nothing else acts.

    An unpaired quotation mark is a mark like any other. A text that is one ISBN loses its hyphens, by which the server knows it.
    """
    text = " ".join(text.split())
    if _LIST.match(text):
        return _phrase(text)
    try:
        return isbn(text)
    except InvalidInput:
        pieces = text.split('"')
    if len(pieces) % 2 == 0:
        pieces = [text]
    spelled = [_phrase(piece.strip()) if place % 2 and piece.strip() else _escaped(piece) for place, piece in enumerate(pieces)]
    return " ".join(piece for piece in spelled if piece)


def _escaped(text: str) -> str:
    plain_words = _OPERATOR.sub(lambda match: match.group().lower(), text.strip())
    return _ACTING.sub(r"\\\1", plain_words.replace("&&", "& &").replace("||", "| |"))


def _edition_asked(query: Query) -> bool:
    return any(name in query.fields for name in EDITION_LEVEL)


# ---- what comes back -----------------------------------------------------------------------------------------------

def _key(value: Any) -> str | None:
    """A key such as "/works/OL1W", written as text or inside an object."""
    return first(value.get("key") if isinstance(value, dict) else value)


def _olid(value: Any) -> str | None:
    """The bare identifier at the end of a key; None for anything else, lists and tags included."""
    olid = (_key(value) or "").rpartition("/")[2]
    return olid if _OLID.fullmatch(olid) else None


def _prose(value: Any) -> str | None:
    """A text that may be a string or {type, value}, its line ends kept; None when it is blank."""
    text = value.get("value") if isinstance(value, dict) else value
    return text.strip().replace("\r\n", "\n") or None if isinstance(text, str) else joined(text, "\n")


def _title(value: Any) -> str | None:
    """A title; the literal `__None__` is how the index writes that there is none."""
    title = first(value)
    return None if title == "__None__" else title


def _address(olid: str) -> str:
    return f"{SITE}/{FOLDER_OF[olid[-1]]}/{olid}"


def _year(date: str | None) -> int | None:
    """The year of a date that states one and nothing doubtful: "2004", "November 2006", "October 1, 1988", "1988-10"."""
    match = _PLAIN_DATE.fullmatch(date) if date else None
    return int(match.group(1) or match.group(2)) or None if match else None


def _total(answer: Mapping[str, Any]) -> int | None:
    counted = integer(answer.get("numFound"))
    return integer(answer.get("num_found")) if counted is None else counted


def _objection(body: Any) -> str:
    """The words of a refusal, {"detail": [{"msg": …}]}; what it is about when they are missing."""
    detail = mapping(body).get("detail")
    said = first(detail) or first([mapping(entry).get("msg") for entry in listing(detail)])
    return (said or "it gave no reason.").removeprefix("Value error, ")


def _beyond(total: int, query: Query) -> str:
    last = -(-total // query.rows)
    return f"it counts {total} works, so with this limit its last page is {last}."


def _remarks(query: Query, answer: Mapping[str, Any], records: Sequence[Record]) -> tuple[str, ...]:
    notes = []
    if answer.get("numFoundExact") is False:
        notes.append("its count is a lower bound.")
    unknown = sum((record.availability or {}).get("status", "error") == "error" for record in records)
    if query.availability and unknown:
        notes.append(f"it gave no availability for {unknown} of its rows, which says neither open nor closed.")
    return tuple(notes)


def _row(entry: Any) -> Record | None:
    """A row of the search; None without the key of a work, or of an edition that has no work."""
    doc = mapping(entry)
    olid = _olid(doc.get("key"))
    if olid is None or olid[-1] == "A":
        return None
    year = integer(doc.get("first_publish_year"))
    year = year if year and 0 < year < 10_000 else None
    cover = integer(doc.get("cover_i")) or 0
    found = mapping(doc.get("editions"))
    edition = mapping(next(iter(listing(found.get("docs"))), None))
    return Record(
        identifier=f"openlibrary:{olid}", source_url=_address(olid), title=_title(doc.get("title")),
        creator=joined(doc.get("author_name")), year=year, span=(f"{year:04}-01-01", f"{year:04}-12-31") if year else None,
        media_type="work" if olid[-1] == "W" else "edition", edition_count=integer(doc.get("edition_count")),
        cover_url=f"{COVERS}/b/id/{cover}-M.jpg" if cover > 0 else None, ebook_access=first(doc.get("ebook_access")),
        availability=_availability(doc.get("availability") or edition.get("availability")),
        matching_edition=_matching(edition), matching_edition_count=integer(found.get("numFound")),
        languages=strings(doc.get("language")), subjects=strings(doc.get("subject"))[:SUBJECTS_MAX],
        author_identifiers=tuple(f"openlibrary:{author}" for author in map(_olid, listing(doc.get("author_key"))) if author),
        rating=_rating(doc))


def _matching(edition: Mapping[str, Any]) -> dict[str, Any] | None:
    olid = _olid(edition.get("key"))
    return {"identifier": f"openlibrary:{olid}", "title": _title(edition.get("title")),
            "languages": strings(edition.get("language")), "publishers": strings(edition.get("publisher"))} if olid else None


def _availability(value: Any) -> dict[str, Any] | None:
    """The archive's own words and flags as they came, nulls left out: what it does not state stays unknown."""
    told = {name: mapping(value).get(name) for name in AVAILABILITY}
    return {name: said for name, said in told.items() if isinstance(said, (str, int))} or None


def _rating(doc: Mapping[str, Any]) -> dict[str, Any] | None:
    average = doc.get("ratings_average")
    if isinstance(average, bool) or not isinstance(average, (int, float)):
        return None
    return {"average": round(average, 2), "count": integer(doc.get("ratings_count"))}


def _person(doc: Mapping[str, Any], query: str) -> Heading | None:
    """An author. The value handed on is the author's key: names are shared, and the parameter `author` reads keys."""
    olid, label = _olid(doc.get("key")), first(doc.get("name"))
    if olid is None or olid[-1] != "A" or label is None:
        return None
    others = strings(doc.get("alternate_names"))
    wanted = {fold(word) for word in words(query)}
    same = next((name for name in (label, *others) if fold(name) == fold(query.strip())), None)
    matched = same or next((name for name in (label, *others) if wanted <= {fold(word) for word in words(name)}), label)
    return Heading(label=label, uri=_address(olid), identifier=f"openlibrary:{olid}", kind="person", exact=same is not None,
                   variant=None if matched == label else matched,
                   use_with={"argument": "creator", "value": olid, "sources": ["openlibrary"]})


def _namesakes(docs: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """One note that tells apart the first authors who bear the same name, by what their rows state."""
    names = [first(doc.get("name")) for doc in docs]
    alike = [doc for doc, name in zip(docs, names) if name and names.count(name) > 1][:5]
    told = ["; ".join(filter(None, (
        f"{_olid(doc.get('key'))} {first(doc.get('name'))}", _lifetime(doc),
        f"{integer(doc.get('work_count'))} works" if integer(doc.get("work_count")) is not None else None,
        f"such as {first(doc.get('top_work'))}" if first(doc.get("top_work")) else None))) for doc in alike]
    return ("several authors bear one name: " + " / ".join(told) + ".",) if told else ()


def _lifetime(record: Mapping[str, Any]) -> str | None:
    born, died = first(record.get("birth_date")), first(record.get("death_date"))
    stated = [text for text in (born and f"born {born}", died and f"died {died}") if text]
    return ", ".join(stated) or first(record.get("date"))


def _subject(doc: Mapping[str, Any], query: str) -> Heading | None:
    """A readers' tag: a subject or a place has a field of its own in a search, a person or a time has none."""
    label, key = first(doc.get("name")), _key(doc.get("key")) or ""
    kind = first(doc.get("subject_type")) or first(doc.get("type")) or "subject"
    if label is None:
        return None
    used = {"argument": kind, "value": f'"{label}"', "sources": ["openlibrary"]} if kind in ("subject", "place") else None
    return Heading(label=label, uri=SITE + quote(key, safe="/:_,") if key.startswith("/subjects/") else None, kind=kind,
                   exact=fold(label) == fold(query.strip()), use_with=used,
                   because=None if used else f"Open Library files this under {kind}, which no field reads; give it as query.")


# ---- one record ----------------------------------------------------------------------------------------------------

def _credited(record: Mapping[str, Any]) -> dict[str, str]:
    """Authors by identifier, each with its role; a work wraps the key in `author`, an edition does not."""
    credits: dict[str, str] = {}
    for entry in listing(record.get("authors")):
        told = mapping(entry)
        olid = _olid(told.get("author") or entry)
        if olid and olid[-1] == "A":
            credits.setdefault(olid, first(told.get("role")) or first(told.get("as")) or "author")
    return credits


def _book(olid: str, record: Mapping[str, Any], credits: Mapping[str, str], names: Mapping[str, str]) -> Item:
    """A work or an edition; each states some of the fields, and none is taken from the other but the author."""
    work = olid[-1] == "W"
    date = first(record.get("first_publish_date" if work else "publish_date"))
    year = _year(date)
    known = tuple(names[author] for author in credits if author in names)
    copies = _covers("b", record.get("covers"))
    context = tuple(Related(identifier=f"openlibrary:{key}", label=f"work {key}", kind="work", source_url=_address(key))
                    for key in map(_olid, listing(record.get("works"))) if key)
    scan = first(record.get("ocaid"))
    if scan and _SCAN.fullmatch(scan):
        copies = (Copy(label="Scan at the Internet Archive", url=f"https://archive.org/details/{scan}"), *copies)
        context += (Related(identifier=f"archive:{scan}", label="the scan, at the Internet Archive", kind="scan",
                            source_url=f"https://archive.org/details/{scan}"),)
    context += tuple(Related(label=series, kind="series") for series in strings(record.get("series"))) + _links(record)
    others = tuple(Contributor(name=name, role=first(mapping(entry).get("role"))) for entry in listing(record.get("contributors"))
                   if (name := first(mapping(entry).get("name"))))
    return Item(
        identifier=f"openlibrary:{olid}", source_url=_address(olid), title=_title(record.get("title")),
        creator="; ".join(known) or None, creators=known, date=date, year=year,
        year_means=None if year is None else "first publication, as the work's record states" if work else "this edition's own date",
        media_type="work" if work else "edition", attribution=OpenLibrary.attribution(""), rights=RIGHTS,
        description=_prose(record.get("description")), notes=_noted(record, NOTED),
        subjects=tuple(dict.fromkeys(subject for name in ("subjects", "subject_places", "subject_people", "subject_times")
                                     for subject in strings(record.get(name)))),
        copies=copies, copies_available=len(copies), context=context,
        # A name that could not be learnt leaves the identifier standing in its place.
        contributors=(*(Contributor(name=names.get(author, author), role=role, identifier=f"openlibrary:{author}")
                        for author, role in credits.items()), *others,
                      *(Contributor(name=name) for name in strings(record.get("contributions")))),
        language=_languages(record), publisher=joined(record.get("publishers")), place=joined(record.get("publish_places")),
        call_number=joined(record.get("lc_classifications")), extent=_extent(record), standard_numbers=_numbers(record))


def _author(olid: str, record: Mapping[str, Any]) -> Item:
    """An author: the name stands as title, the life as description, other registers' numbers as context."""
    copies = _covers("a", record.get("photos"))
    others = joined(record.get("alternate_names"))
    remote = tuple(Related(label=f"{register}: {number}", kind="identifier",
                           source_url=REMOTE[register] + quote(number, safe="") if register in REMOTE else None)
                   for register, value in mapping(record.get("remote_ids")).items() for number in strings(value))
    notes = _noted(record, (("fuller_name", "Fuller name"), ("title", "Title")))
    return Item(identifier=f"openlibrary:{olid}", source_url=_address(olid), title=first(record.get("name")),
                date=_lifetime(record), media_type="author", attribution=OpenLibrary.attribution(""), rights=RIGHTS,
                description=_prose(record.get("bio")), notes=(*notes, f"Other names: {others}") if others else notes,
                copies=copies, copies_available=len(copies), context=remote + _links(record))


def _edition(entry: Any) -> Edition | None:
    """An entry of a list: an edition of a work, or a work of an author; None without a key."""
    record = mapping(entry)
    olid = _olid(record.get("key"))
    if olid is None:
        return None
    scan = first(record.get("ocaid"))
    return Edition(identifier=f"openlibrary:{olid}", title=_title(record.get("title")),
                   date=first(record.get("publish_date")) or first(record.get("first_publish_date")),
                   publisher=joined(record.get("publishers")), place=joined(record.get("publish_places")),
                   language=_languages(record), standard_numbers=_numbers(record), source_url=_address(olid),
                   digitised_url=f"https://archive.org/details/{scan}" if scan and _SCAN.fullmatch(scan) else None)


def _noted(record: Mapping[str, Any], table: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{label}: {text}" for name, label in table if (text := _prose(record.get(name))))


def _covers(folder: str, value: Any) -> tuple[Copy, ...]:
    """Pictures as addresses; -1, null and 0 stand where one was taken away."""
    numbers = [number for number in map(integer, listing(value)) if number is not None and number > 0]
    label = "Cover" if folder == "b" else "Portrait"
    return tuple(Copy(label=label, format="image/jpeg", url=f"{COVERS}/{folder}/id/{number}-L.jpg") for number in numbers)


def _links(record: Mapping[str, Any]) -> tuple[Related, ...]:
    links = ((first(link.get("title")), first(link.get("url")) or "") for link in map(mapping, listing(record.get("links"))))
    return tuple(Related(label=title or url, kind="link", source_url=url) for title, url in links
                 if url.startswith(("https://", "http://")))


def _languages(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(key.rpartition("/")[2] for key in map(_key, listing(record.get("languages"))) if key)


def _numbers(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    filed = {"isbn": ("isbn_13", "isbn_10"), "lccn": ("lccn",), "oclc": ("oclc_numbers", "oclc_number")}
    numbers = {kind: tuple(dict.fromkeys(number for name in names for number in strings(record.get(name))))
               for kind, names in filed.items()}
    return {kind: found for kind, found in numbers.items() if found}


def _extent(record: Mapping[str, Any]) -> str | None:
    pages = integer(record.get("number_of_pages"))
    # Cataloguing punctuation leads on to a part that is not given here ("491 p. :").
    size = (first(record.get("pagination")) or "").rstrip(" :;,+") or (f"{pages} pages" if pages else None)
    return "; ".join(filter(None, (size, first(record.get("physical_format"))))) or None
