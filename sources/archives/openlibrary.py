"""Open Library: one catalogue of works, editions and authors, written by its readers; its rows describe works.

Nothing here starts a write: `/ia/…`, which imports a book it does not know, is never asked. Full text is absent, since the
index behind it is the Internet Archive's own, asked there under its own name.

Sources: the project's own pages "Search API", "Books API", "Covers API" and "API access" (developers/api), and the server's
public source for what those leave out; facts of 2026-11.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import SplitResult, quote, unquote

from ..contract import Archive, Ask, Describes, ItemPage, ItemQuery, Lane, Page, Query, Reference, Reply, Request, read_rows
from ..errors import ArchiveUnreachable, InvalidInput, RecordNotFound, SourceError, UnreadableAnswer
from ..text import amount, first, integer, listing, mapping, words
from . import openlibrary_records as records
from .languages import marc_code
from .numbers import isbn, lccn, oclc
from .openlibrary_records import SITE

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
# A field's words go in a parameter, where the server escapes them and requires each; a phrase goes in q under the index fields
# named, since quotation marks act there alone. In q `title` reads the titles of every edition and translation, as a parameter
# only the work's own, so it always goes there.
WORDED: dict[str, tuple[str, tuple[str, ...]]] = {
    "title": ("q", ("title",)),
    "creator": ("author", ("author_name", "author_alternative_name")),
    "subject": ("subject", ("subject",)),
    "publisher": ("publisher", ("publisher",)),
    "place": ("place", ("place",)),
}
NUMBERS: dict[str, Callable[[str], str]] = {"isbn": isbn, "lccn": lccn, "oclc": oclc}  # addresses that lead to an edition
CODED = {**NUMBERS, "language": marc_code}
FOLDERS = ("works", "books", "authors", "w", "b", "a")  # today's and the old ones; the letter of an identifier decides
LETTER_OF = {"/type/work": "W", "/type/edition": "M", "/type/author": "A"}

_ACTING = re.compile(r'([()\[\]{}:"+\-^!\\*])')  # not / ? ~: the server escapes those, and twice would let them act
_OPERATOR = re.compile(r"(?<!\S)(?:AND|OR|NOT)(?!\S)")
_LIST = re.compile(r"\s*/(?:people/[^/\s]+/)?lists/OL\d+L\b")  # in q, this would search inside a list
_UNESCAPED = re.compile(r"[*!]|&&|\|\|")  # what the server leaves acting in a parameter; a backslash of ours it would double
_STRAY_CARET = re.compile(r"(?<!\\)\^(?![\d.])")


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
        return records.CREDIT

    # ---- identifiers -----------------------------------------------------------------------------------------------

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """An OLID of a work, edition or author, `isbn/N`, `oclc/N`, `lccn/N`, with or without the folder it stands in."""
        spelled = local.strip().strip("/").removesuffix(".json")
        head, _, rest = spelled.partition("/")
        olid = (rest if rest and head in FOLDERS else spelled).upper()
        if head == "ia" or rest.startswith("ia:"):
            raise InvalidInput("Open Library may start an import at this address, so it is never asked.", archive=cls.key,
                               hint="Give the scan to get_item as archive:ID.")
        if head in NUMBERS and rest:
            read = f"{head}/{NUMBERS[head](rest)}"
        elif records.OLID.fullmatch(olid):
            read = olid
        elif re.fullmatch(r"[\d -]{9,16}[\dX]", olid, re.ASCII):
            read = f"isbn/{isbn(olid)}"
        elif re.fullmatch(r"OL\d{1,12}[LT]", olid, re.ASCII):
            raise InvalidInput(f"{olid} is a list or a tag of Open Library; works (W), editions (M) and authors (A) can be read.",
                               archive=cls.key, hint=f"Give {cls.spellings}.")
        else:
            raise InvalidInput(f"{spelled[:80]!r} is no identifier of Open Library.", archive=cls.key,
                               hint=f"Give {cls.spellings}.")
        return Reference(source=cls.key, local=read, read_as=None if read == local else f"read as {cls.key}:{read}")

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """A page of a work, an edition or an author, old folders (/w/, /b/, /a/) and look-ups by number included."""
        steps = [unquote(step) for step in address.path.split("/") if step]
        if len(steps) < 2 or steps[0] not in (*FOLDERS, *NUMBERS, "ia"):
            raise InvalidInput("This address of Open Library names no work, edition or author.", archive=cls.key,
                               hint=f"Give {cls.spellings}, or the address of one such page.")
        return cls.read_identifier(f"{steps[0]}/{steps[1]}")

    # ---- searching -------------------------------------------------------------------------------------------------

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        """What goes out of a query's narrowings; years only, no counts by term, no collections."""
        if "collection" in query.fields:
            return Request(absent_because="Open Library has no collections to search in.")
        _, sent = _request(query)
        if not query.words.strip() and not query.fields and not any(query.years):
            return Request(absent_because="Open Library holds works only, and needs a word, a field or a year to search them on.")
        notes = []
        if any(len(date or "") > 4 for date in (query.date_from, query.date_to)):
            notes.append("it has years only, and the dates were sent to it as years.")
        asked = ", ".join(name for name in EDITION_LEVEL if name in query.fields)
        if asked:
            notes.append(f"its count is of works with one edition that meets all that was asked of an edition ({asked}, a title "
                         "too), and matching_edition names that edition.")
        if query.native:
            notes.append("where the syntax does not parse, it searches the plain words instead and does not say so.")
        return Request(sent=sent, notes=tuple(notes), media_type_asked=query.media_type,
                    dropped=(("facets", "Open Library's search answers carry no counts by term."),) if query.facets else (),
                    ordered_on=SORTS[query.sort][1] if query.sort in SORTS else None)

    def search_catalogue(self, request: Request) -> Page:
        """Works, in the archive's order; a query it is known to refuse is refused here, before it is sent.

        Raises:
            InvalidInput: fewer than three characters, the word "the" alone, no word at all, a stray "^" in native syntax.
        """
        query: Any = getattr(request, "query", request)
        params, _ = _request(query)
        self._refuse_known(query, params)
        fields = (*ROW_FIELDS, *(("ia", "availability") if query.availability else ()))
        if any(name in query.fields for name in EDITION_LEVEL):
            fields += (*EDITION_FIELDS, *(("editions.ia", "editions.availability") if query.availability else ()))
        answer = self._found("/search.json", (*params.items(), ("fields", ",".join(fields)), ("limit", str(query.rows)),
                                              ("page", str(query.page))))
        page = self._page(answer, records.read_row, query.rows, query.page)
        notes = ["its count is a lower bound."] if answer.get("numFoundExact") is False else []
        unknown = sum((row.availability or {}).get("status", "error") == "error" for row in page.records)
        if query.availability and unknown:
            notes.append(f"it gave no availability for {unknown} of its rows, which says neither open nor closed.")
        return replace(page, notes=tuple(notes))

    def _refuse_known(self, query: Query, params: Mapping[str, str]) -> None:
        """Raise what the server would answer with 422, or with a 500 that says nothing."""
        q = params.get("q", "")
        unquoted = re.sub(r'"(?:\\.|[^"\\])*"', '""', q)
        known = (
            (query.words.strip() and not words(query.words), "Open Library needs a letter or a digit to search for."),
            (not params, "Open Library needs a word, a field or a year to search on."),
            (0 < len(q) < 3, "Open Library refuses queries of fewer than three characters."),
            (q.lower() == "the", 'Open Library refuses the word "the" alone.'),
            (query.native and _STRAY_CARET.search(unquoted), 'Open Library fails on "^" without a number behind it.'))
        for applies, reason in known:
            if applies:
                raise InvalidInput(reason, archive=self.key, hint="Give more words, or a field such as title.")

    def _page(self, answer: Mapping[str, Any], read: Callable[[Any], Any], rows: int, page: int = 1) -> Page:
        """The rows of a search answer, at most as many as were asked. A count without rows is no absence.

        Raises:
            UnreadableAnswer: rows are counted and none came before the last, or none that came can be read.
        """
        total, docs, start = amount(answer.get("numFound")), answer["docs"][:rows], integer(answer.get("start"))
        start = (page - 1) * rows if start is None else start
        beyond = None
        if total and not docs:
            if start < total:
                raise UnreadableAnswer(f"Open Library counts {total} matches and sent no row of them.", archive=self.key)
            beyond = f"it counts {total} works, so with this limit its last page is {-(-total // rows)}."
        found, skipped = read_rows(docs, read, OpenLibrary)
        return Page(records=found, total=total, skipped=skipped, more=None if total is None else start + len(docs) < total,
                    beyond=beyond)

    def _found(self, path: str, params: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """One search answer, an object with the list `docs`.

        Raises:
            InvalidInput: 422, with the objection. ArchiveUnreachable: 404, which a search never means as an absence.
        """
        reply = self.ask(Ask(url=SITE + path, params=tuple(params), statuses=(200, 404, 422), check=self._check_docs))
        if reply.status == 422:
            raise InvalidInput(f"Open Library refuses this query: {records.objection(reply.value)}", archive=self.key, status=422)
        if reply.status == 404:
            raise ArchiveUnreachable("Open Library's search could not be found at its address.", archive=self.key, status=404)
        return mapping(reply.value)

    def _check_docs(self, reply: Reply) -> None:
        answer = mapping(reply.value)
        docs = answer.get("docs")
        if reply.status == 200 and (not isinstance(docs, list) or (not docs and amount(answer.get("numFound")) is None)):
            raise UnreadableAnswer("Open Library sent a search answer of another shape.", archive=self.key)

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """Authors as persons, readers' subject tags as subjects; exact ones first. There is no authority file behind them."""
        if not words(query):
            raise InvalidInput("Open Library needs a letter or a digit to search for.", archive=self.key)
        path, read = ("/search/authors.json", records.read_person) if kind == "person" else \
            ("/search/subjects.json", records.read_subject)
        answer = self._found(path, (("q", _literal(query)), ("limit", str(rows))))
        page = self._page(answer, lambda doc: read(doc, query), rows)
        notes = records.namesakes(answer["docs"][:rows]) if kind == "person" else (
            "its subjects are readers' tags, so one thing may stand under several spellings.",)
        return replace(page, records=tuple(sorted(page.records, key=lambda heading: not heading.exact)), notes=notes)

    # ---- reading one record ----------------------------------------------------------------------------------------

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """A work, an edition or an author; `editions` are the editions of a work, and the works of an author.

        Raises:
            RecordNotFound: no such record, or one that was deleted, which the message says.
            UnreadableAnswer: merged records that lead in a circle, or a record of another kind.
        """
        olid, record, notes = self._follow(reference.local)
        kind = olid[-1]
        if kind == "A":
            item = records.read_author(olid, record)
        else:
            credits, names, author_notes = self._authors(kind, record)
            item, notes = records.read_book(olid, record, credits, names), notes + author_notes
        if not wanted.wants("editions"):
            return ItemPage(item=item, notes=notes)
        if kind == "M":
            listed = "Editions are listed with their work, which context names." if listing(record.get("works")) else \
                "The edition belongs to no work, so no other editions are listed with it."
            return ItemPage(item=item, notes=(*notes, listed))
        path, what = (f"/works/{olid}/editions.json", "editions") if kind == "W" else (f"/authors/{olid}/works.json", "works")
        try:
            editions = self._list(path, wanted)
        except SourceError as exc:
            return ItemPage(item=item, notes=(*notes, f"The list of {what} could not be read: {exc.message}"))
        return ItemPage(item=replace(item, editions=editions.records), list_total=editions.total, notes=(*notes, *editions.notes))

    def _follow(self, local: str) -> tuple[str, dict[str, Any], tuple[str, ...]]:
        """The identifier and the record that `local` leads to, through at most MERGES_MAX merged ones, and how it was reached.

        Look-ups by number are answered with a redirect to the record.
        """
        passed: list[str] = []
        while True:
            folder = "" if "/" in local else records.FOLDER_OF[local[-1]] + "/"
            reply = self.ask(Ask(url=f"{SITE}/{folder}{quote(local)}.json", statuses=(200, 404), check=self._check_record))
            record = {} if reply.status == 404 else mapping(reply.value)
            kind = records.key_of(record.get("type"))
            if not record or kind == "/type/delete":
                raise RecordNotFound(
                    f"The record {local} existed at Open Library and was deleted." if record else
                    f"The record {passed[0]} was merged at Open Library into {local}, which it does not hold." if passed else
                    f"Open Library holds no record {local}.", archive=self.key, status=None if record else 404)
            if kind != "/type/redirect":
                break
            passed.append(local)
            target = records.olid_of(record.get("location"))
            if target is None or target in passed or len(passed) > MERGES_MAX:
                raise UnreadableAnswer(f"The record {passed[0]} was merged at Open Library, but the merges lead to no record.",
                                       archive=self.key)
            local = target
        olid = records.olid_of(record.get("key")) or (local if records.OLID.fullmatch(local) else None)
        if olid is None or LETTER_OF.get(kind or "") != olid[-1]:
            raise UnreadableAnswer(f"What Open Library sent for {local} is no work, edition or author.", archive=self.key)
        notes = [f"Open Library merged {', then '.join(passed)} into {olid}, which is shown."] if passed else []
        if "/" in local:
            notes.append(f"Open Library answers {local} with the one edition {olid}; others may bear the same number.")
        return olid, record, tuple(notes)

    def _check_record(self, reply: Reply) -> None:
        if reply.status == 200 and records.key_of(mapping(reply.value).get("type")) is None:
            raise UnreadableAnswer("Open Library sent something else than a record.", archive=self.key)

    def _authors(self, kind: str, record: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
        """Roles and names of the authors, by identifier; those of the work when an edition names none. A failed look-up costs
        what it was for, and is told."""
        credits, notes = records.read_credits(record), []
        work = next(filter(None, map(records.olid_of, listing(record.get("works")))), None)
        if kind == "M" and work and not credits:
            try:
                credits = records.read_credits(self._follow(work)[1])
            except SourceError as exc:
                return {}, {}, (f"The edition names no author, and its work {work} could not be read: {exc.message}",)
            if credits:
                notes.append(f"The edition names no author; its work {work} does.")
        try:
            names = self._names(tuple(credits))
        except SourceError as exc:
            kept = ", ".join(tuple(credits)[:5])
            return credits, {}, (*notes, f"The names of the authors could not be read, so contributors holds {kept} instead: "
                                         f"{exc.message}")
        unnamed = [olid for olid in credits if olid not in names]
        if unnamed:
            notes.append(f"Open Library gave no name for {', '.join(unnamed[:5])}.")
        return credits, names, tuple(notes)

    def _names(self, olids: tuple[str, ...]) -> dict[str, str]:
        """Names of authors by identifier: one from its own record, several from one search."""
        if len(olids) == 1:
            name = first(self._follow(olids[0])[1].get("name"))
            return {olids[0]: name} if name else {}
        names: dict[str, str] = {}
        asked = olids[:AUTHORS_MAX]
        params = (("q", f"author_key:({' OR '.join(asked)})"), ("fields", "author_key,author_name"), ("limit", "100"))
        for doc in map(mapping, self._found("/search.json", params)["docs"] if asked else ()):
            for key, written in zip(listing(doc.get("author_key")), listing(doc.get("author_name")), strict=False):
                if key in asked and (name := first(written)):
                    names[key] = name
        return names

    def _list(self, path: str, wanted: ItemQuery) -> Page:
        """A slice of a work's editions or an author's works; the total is the length of the whole list."""
        params = (("limit", str(wanted.list_limit)), ("offset", str(wanted.list_offset)))
        answer = mapping(self.ask(Ask(url=SITE + path, params=params)).value)
        total, entries = amount(answer.get("size")), answer.get("entries")
        if total is None or not isinstance(entries, list):
            raise UnreadableAnswer("Open Library sent a list of another shape.", archive=self.key)
        entries = entries[:wanted.list_limit]
        editions, skipped = read_rows(entries, records.read_edition, OpenLibrary)
        lost = (f"{skipped} of the {len(entries)} entries that came could not be read.",) if skipped else ()
        return Page(records=editions, total=total, notes=lost)


# ---- what is sent --------------------------------------------------------------------------------------------------

def _request(query: Query) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """The parameters of a query, and how each narrowing is spelled in them. InvalidInput for a value the caller must mend."""
    parts = [query.words.strip() if query.native else _literal(query.words)]
    params: dict[str, str] = {}
    sent: list[tuple[str, str]] = []
    for name, value in query.fields.items():
        if name in CODED:
            param, spelled = name, CODED[name](value)
        else:
            param, spelled = _worded(name, value)
        if param == "q":
            parts.append(spelled)
        else:
            params[param] = spelled
        sent.append((name, f"{param}={spelled}" + (" (a place the work is about)" if name == "place" else "")))
    if any(query.years):
        low, high = query.years
        parts.append(f"first_publish_year:[{low or '*'} TO {high or '*'}]")
        sent += [(name, f"q={parts[-1]}") for name in query.bound_names]
    if query.sort in SORTS:
        params["sort"] = SORTS[query.sort][0]
        sent.append(("sort", f"sort={params['sort']}"))
    if query.availability:
        sent.append(("availability", "fields=ia,availability"))
    q = " ".join(filter(None, parts))
    return {"q": q, **params} if q else params, tuple(sent)


def _worded(name: str, value: str) -> tuple[str, str]:
    """The parameter and the text for a field given in words, all of them, or in quotes, those words adjacent."""
    param, index = WORDED[name]
    value = " ".join(value.split())
    bare = value.strip('"')
    if not words(value):
        raise InvalidInput(f"{name}: {value!r} holds no letter or digit.", hint="Give words of the record, or leave it out.")
    if name == "creator" and re.fullmatch(r"OL\d+A", bare, re.ASCII):
        return param, bare  # an author's own key, which the parameter knows
    quoted = len(value) > 2 and value[0] == value[-1] == '"'
    if param != "q" and not quoted:
        return param, " ".join(_UNESCAPED.sub(" ", value).split())
    text = _phrase(value[1:-1]) if quoted else f"({_literal(value)})"
    spelled = " OR ".join(f"{field}:{text}" for field in index)
    return "q", f"({spelled})" if len(index) > 1 else spelled


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
