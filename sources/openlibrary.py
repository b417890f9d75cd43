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

from .contract import Archive, Describes, Edition, ItemPage, ItemQuery, Lane, Page, Plan, Query, Reference, Reply
from .errors import ArchiveUnreachable, InvalidInput, RecordNotFound, SourceError, UnreadableAnswer
from .languages import marc_code
from .openlibrary_records import (CREDIT, FOLDER_OF, OLID, SITE, key_of, namesakes, objection, olid_of, past_the_end, read_author,
                                  read_book, read_credits, read_edition, read_person, read_row, read_subject, remarks, total_of)
from .standard_numbers import isbn, lccn, oclc
from .text import amount, first, integer, listing, mapping, words

ROW_FIELDS = ("key", "title", "author_name", "author_key", "first_publish_year", "edition_count", "ebook_access", "cover_i",
              "language", "subject", "ratings_average", "ratings_count")
EDITION_FIELDS = ("editions", "editions.key", "editions.title", "editions.language", "editions.publisher")
EDITION_LEVEL = ("language", "publisher", "isbn")  # what these ask must hold in one and the same edition
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
LETTER_OF = {"/type/work": "W", "/type/edition": "M", "/type/author": "A"}

_ACTING = re.compile(r'([()\[\]{}:"+\-^!\\*])')  # not / ? ~: the server escapes those, and twice would let them act
_OPERATOR = re.compile(r"(?<!\S)(?:AND|OR|NOT)(?!\S)")
_LIST = re.compile(r"\s*/(?:people/[^/\s]+/)?lists/OL\d+L\b")  # in q, this would search inside a list
_STRAY_CARET = re.compile(r"(?<!\\)\^(?![\d.])")


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
        return CREDIT

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
        if OLID.fullmatch(olid):
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
        total, docs = total_of(answer), listing(answer["docs"])[:query.rows]
        records = [row for row in map(read_row, docs) if row is not None]
        start = integer(answer.get("start"))
        start = (query.page - 1) * query.rows if start is None else start
        if total and not docs and start < total:
            raise UnreadableAnswer(f"Open Library counts {total} works and sent no row of them.", archive=self.key)
        if docs and not records:
            raise UnreadableAnswer(f"None of the {len(docs)} rows that Open Library sent could be read.", archive=self.key)
        return Page(records=tuple(records), total=total, skipped=len(docs) - len(records), notes=remarks(query, answer, records),
                    more=None if total is None else start + len(docs) < total,
                    beyond=past_the_end(total, query) if total and not docs else None)

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
            raise InvalidInput(f"Open Library refuses this query: {objection(reply.value)}", archive=self.key, status=422)
        if reply.status == 404:
            raise ArchiveUnreachable("Open Library's search could not be found at its address.", archive=self.key, status=404)
        return mapping(reply.value)

    def _check_docs(self, reply: Reply) -> None:
        answer = mapping(reply.value)
        docs = answer.get("docs")
        if reply.status == 200 and (not isinstance(docs, list) or (not docs and total_of(answer) is None)):
            raise UnreadableAnswer("Open Library sent a search answer of another shape.", archive=self.key)

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """Authors as persons, readers' subject tags as subjects; exact ones first. There is no authority file behind them."""
        if not words(query):
            raise InvalidInput("Open Library needs a letter or a digit to search for.", archive=self.key)
        path, read = ("/search/authors.json", read_person) if kind == "person" else ("/search/subjects.json", read_subject)
        answer = self._found(path, (("q", _literal(query)), ("limit", str(rows))))
        docs = [mapping(doc) for doc in listing(answer["docs"])[:rows]]
        headings = [heading for heading in (read(doc, query) for doc in docs) if heading is not None]
        total = total_of(answer)
        if (docs and not headings) or (total and not docs):
            raise UnreadableAnswer(f"None of the {len(docs) or total} headings that Open Library found could be read.",
                                   archive=self.key)
        return Page(records=tuple(sorted(headings, key=lambda heading: not heading.exact)), total=total,
                    skipped=len(docs) - len(headings), more=None if total is None else len(docs) < total,
                    notes=namesakes(docs) if kind == "person" else
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
            item = read_author(olid, record)
        else:
            credits, credit_notes = self._credits(olid, record)
            names, name_notes = self._names(tuple(credits))
            notes += credit_notes + name_notes
            item = read_book(olid, record, credits, names)
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
                    raise RecordNotFound(f"The record {passed[0]} was merged at Open Library into {local}, which it does not "
                                         "hold.", archive=self.key, status=404) from exc
                raise
            kind = key_of(record.get("type"))
            if kind == "/type/delete":
                raise RecordNotFound(f"The record {local} existed at Open Library and was deleted.", archive=self.key)
            if kind != "/type/redirect":
                break
            passed.append(local)
            target = olid_of(record.get("location"))
            if target is None or target in passed or len(passed) > MERGES_MAX:
                raise UnreadableAnswer(f"The record {passed[0]} was merged at Open Library, but the merges lead to no record.",
                                       archive=self.key)
            local = target
        olid = olid_of(record.get("key")) or (local if OLID.fullmatch(local) else None)
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
        return mapping(reply.value)

    def _check_record(self, reply: Reply) -> None:
        if reply.status == 200 and key_of(mapping(reply.value).get("type")) is None:
            raise UnreadableAnswer("Open Library sent something else than a record.", archive=self.key)

    def _credits(self, olid: str, record: Mapping[str, Any]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Authors' identifiers with their roles; those of the work when an edition names none."""
        credits = read_credits(record)
        work = next((key for key in map(olid_of, listing(record.get("works"))) if key), None) if olid[-1] == "M" else None
        if credits or work is None:
            return credits, ()
        try:
            credits = read_credits(self._follow(work)[1])
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
                    for key, name in zip(listing(doc.get("author_key")), listing(doc.get("author_name")), strict=False):
                        if key in asked and (known := first(name)):
                            names[key] = known
        except SourceError as exc:
            kept = ", ".join(olids[:5])
            return {}, (f"The names of the authors could not be read, so contributors holds {kept} instead: {exc.message}",)
        unnamed = [olid for olid in olids if olid not in names]
        return names, (f"Open Library gave no name for {', '.join(unnamed[:5])}.",) if unnamed else ()

    def _list(self, olid: str, wanted: ItemQuery) -> tuple[tuple[Edition, ...], int, tuple[str, ...]]:
        """A slice of a work's editions or an author's works, the length of the whole list, and what could not be read of it."""
        path = f"/works/{olid}/editions.json" if olid[-1] == "W" else f"/authors/{olid}/works.json"
        params = (("limit", str(wanted.list_limit)), ("offset", str(wanted.list_offset)))
        answer = mapping(self.ask.get_json(SITE + path, params).value)
        total, entries = amount(answer.get("size")), answer.get("entries")
        if total is None or not isinstance(entries, list):
            raise UnreadableAnswer("Open Library sent a list of another shape.", archive=self.key)
        entries = entries[:wanted.list_limit]
        editions = tuple(edition for edition in map(read_edition, entries) if edition is not None)
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
