"""Open Library: one catalogue of works, editions and authors, written by its readers; its rows
describe works.

Nothing here starts a write: `/ia/…`, which imports a book it does not know, is never asked. Full
text is absent, since the index behind it is the Internet Archive's own, asked there under its own
name.

Sources: the project's own pages "Search API", "Books API", "Covers API" and "API access"
(developers/api), and the server's public source for what those leave out; facts of 2026-11.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import SplitResult, quote, unquote

from ..contract import (
    Archive,
    Ask,
    Describes,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    Pairs,
    Query,
    Reference,
    Reply,
    Request,
)
from ..errors import InvalidInput, RecordNotFound, SourceError, UnreadableAnswer
from ..languages import marc_code
from ..registry import ENTRY_OF
from ..text import amount, first, listing, mapping, words
from . import openlibrary_records as records
from .numbers import isbn, lccn, oclc
from .openlibrary_records import SITE
from .shared import list_or_note, page_of_rows, plan_from, read_rows, route_stands

LISTED = ENTRY_OF["openlibrary"]
ROW_FIELDS = (
    "key",
    "title",
    "author_name",
    "author_key",
    "first_publish_year",
    "edition_count",
    "ebook_access",
    "cover_i",
    "lending_identifier_s",
    "language",
    "subject",
    "ratings_average",
    "ratings_count",
)
AVAILABLE_FIELDS = ("ia", "availability")  # without ia, no availability comes
EDITION_FIELDS = ("editions", "editions.key", "editions.title", "editions.language",
                  "editions.publisher")
# what these ask must hold in one and the same edition
EDITION_LEVEL = ("title", "language", "publisher", "isbn")
MERGES_MAX = 4  # records passed through on the way to the surviving one; three were seen in a row
AUTHORS_MAX = 20  # names looked up for one record, so that the address stays short
SORTS = {  # ours: the archive's word, and what the order goes by
    "newest": ("new", "first_publish_year, latest first; works without a year come last"),
    "oldest": ("old", "first_publish_year, earliest first; works without a year come last"),
    "title": ("title", "title, without a leading article"),
    "rating": ("rating", "the ratings readers gave"),
    "editions": ("editions", "number of editions, most first"),
}
# A field's words go in a parameter, where the server escapes them and requires each; a phrase goes
# in q under the index fields named, since quotation marks act there alone. In q `title` reads the
# titles of every edition and translation, as a parameter only the work's own, so it always goes
# there.
WORDED: dict[str, tuple[str, tuple[str, ...]]] = {
    "title": ("q", ("title",)),
    "creator": ("author", ("author_name", "author_alternative_name")),
    "subject": ("subject", ("subject",)),
    "publisher": ("publisher", ("publisher",)),
    "place": ("place", ("place",)),
}
# addresses that lead to an edition
NUMBERS: dict[str, Callable[[str], str]] = {"isbn": isbn, "lccn": lccn, "oclc": oclc}
CODED = {**NUMBERS, "language": marc_code}
DROPPED = {
    "facets": "Open Library's search answers carry no counts by term.",
    "publication": "Open Library holds works, not the pages of a publication.",
}
# today's and the old ones; the letter of an identifier decides
FOLDERS = ("works", "books", "authors", "w", "b", "a")
LETTER_OF = {"/type/work": "W", "/type/edition": "M", "/type/author": "A"}

# not / ? ~: the server escapes those, and twice would let them act
_ACTING = re.compile(r'([()\[\]{}:"+\-^!\\*])')
_OPERATOR = re.compile(r"(?<!\S)(?:AND|OR|NOT)(?!\S)")
# in q, this would search inside a list
_LIST = re.compile(r"\s*/(?:people/[^/\s]+/)?lists/OL\d+L\b")
# what the server leaves acting in a parameter; a backslash of ours it would double
_UNESCAPED = re.compile(r"[*!]|&&|\|\|")
_STRAY_CARET = re.compile(r"(?<!\\)\^(?![\d.])")


class OpenLibrary(Archive):
    """Works by catalogue search; works, editions and authors one by one; authors and subjects as
    headings."""

    key, name = LISTED.key, LISTED.name
    answers, media_types = LISTED.answers, LISTED.media_types
    lanes = (Lane(
        key="openlibrary", hosts=(r"openlibrary\.org",), spacing_s=1.0, in_flight_max=2,
        spacing_because="Open Library publishes one request a second, three for a client naming a "
                        "contact; the lower governs.",
        # 500 is how a query that broke the search comes back, 502 to 504 are outages that outlast a
        # call: none is asked again.
        retry_statuses=frozenset({408, 425}),
        limit_block_s=60.0,  # its 429 names no time; the ceiling behind it is counted by the minute
    ),)
    absent_because = {
        "search_inside": "Open Library's full-text index is the Internet Archive's own; ask the "
                         "source archive.",
        "read_text": "Open Library holds no page text; a scan it points to is read as archive:ID.",
        "browse_collections": "Open Library has no collections.",
    }
    native_syntax = ("Solr, as in openlibrary.org/search "
                     "(title:x AND first_publish_year:[1860 TO 1870])")
    heading_kinds = ("subject", "person")
    unread_fields = ("pages", "generated_entries", "identifier_provisional")
    address_hosts = ("openlibrary.org", "www.openlibrary.org")
    spellings = ("openlibrary:OL15832982W, openlibrary:OL22951843M, openlibrary:OL23919A, "
                 "openlibrary:isbn/9780140328721")
    catalogue = Describes(
        searches_on="titles of works and of all their editions, names, series, tables of contents, "
                    "subjects, places, persons, times, publishers and numbers; neither "
                    "descriptions nor the text of books",
        row_describes="a work with all its printings; a few rows are an edition without a work",
        requires_every_word=True,
        year_means="the earliest year read out of any edition's date: neither the writing nor one "
                   "printing, and one mistyped edition moves it",
        total_means="works",
    )

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        return records.CREDIT

    # ---- identifiers -----------------------------------------------------------------------------

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """An OLID of a work, edition or author, `isbn/N`, `oclc/N`, `lccn/N`, with or without the
        folder it stands in."""
        spelled = local.strip().strip("/").removesuffix(".json")
        head, _, rest = spelled.partition("/")
        olid = (rest if rest and head in FOLDERS else spelled).upper()
        if head == "ia" or rest.startswith("ia:"):
            raise InvalidInput("Open Library may start an import at this address, so it is never "
                               "asked.", archive=cls.key,
                               hint="Give the scan to get_item as archive:ID.")
        read = _number(head, rest, olid) or (olid if records.OLID.fullmatch(olid) else None)
        if read is None:
            listed = re.fullmatch(r"OL\d{1,12}[LT]", olid, re.ASCII)
            raise InvalidInput(
                f"{olid} is a list or a tag of Open Library; works (W), editions (M) and authors "
                f"(A) can be read." if listed
                else f"{spelled[:80]!r} is no identifier of Open Library.", archive=cls.key,
                hint=f"Give {cls.spellings}.")
        return Reference(source=cls.key, local=read,
                         read_as=None if read == local else f"read as {cls.key}:{read}")

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """A page of a work, an edition or an author, old folders (/w/, /b/, /a/) and look-ups by
        number included."""
        steps = [unquote(step) for step in address.path.split("/") if step]
        if len(steps) < 2 or steps[0] not in (*FOLDERS, *NUMBERS, "ia"):
            raise InvalidInput("This address of Open Library names no work, edition or author.",
                               archive=cls.key,
                               hint=f"Give {cls.spellings}, or the address of one such page.")
        return cls.read_identifier(f"{steps[0]}/{steps[1]}")

    # ---- searching -------------------------------------------------------------------------------

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        """What goes out of a query's narrowings; years only, no counts by term, no collections.

        Raises:
            InvalidInput: a value that the caller must mend.
        """
        if "collection" in query.fields:
            return Request(query=query, absent_because="Open Library has no collections to search "
                                                       "in.")
        if not query.words.strip() and not query.fields and not any(query.years):
            return Request(query=query, absent_because="Open Library holds works only, and needs a "
                                                       "word, a field or a year to search them on.")
        spelled = _spelled(query)
        told = {name: f"{param}={text}" for name, (param, text) in spelled.items()}
        if "place" in told:
            told["place"] += " (a place the work is about)"
        return plan_from(query, told, DROPPED,
                         asks=(_search("/search.json", _params(query, spelled)),),
                         media_type_asked=query.media_type, notes=_plan_notes(query),
                         ordered_on=SORTS[query.sort][1] if query.sort in SORTS else None)

    def search_catalogue(self, request: Request) -> Page:
        """Works, in the archive's order; a query it is known to refuse is refused here, before it
        is sent.

        Raises:
            InvalidInput: fewer than three characters, the word "the" alone, no word at all, a stray
                "^" in native syntax.
        """
        query = request.query
        self._refuse_known(request)
        answer = self._found(request.asks[0])
        page = _page(answer, records.read_row, query.rows, query.page)
        notes = ["its count is a lower bound."] if answer.get("numFoundExact") is False else []
        unknown = sum((row.availability or {}).get("status", "error") == "error"
                      for row in page.records)
        if query.availability and unknown:
            notes.append(f"it gave no availability for {unknown} of its rows, which says neither "
                         f"open nor closed.")
        return replace(page, notes=(*page.notes, *notes))

    def _refuse_known(self, request: Request) -> None:
        """Raise what the server would answer with 422, or with a 500 that says nothing."""
        query, q = request.query, dict(request.asks[0].params).get("q", "")
        unquoted = re.sub(r'"(?:\\.|[^"\\])*"', '""', q)
        known = (
            (query.words.strip() and not words(query.words),
             "Open Library needs a letter or a digit to search for."),
            (0 < len(q) < 3, "Open Library refuses queries of fewer than three characters."),
            (q.lower() == "the", 'Open Library refuses the word "the" alone.'),
            (query.native and _STRAY_CARET.search(unquoted),
             'Open Library fails on "^" without a number behind it.'))
        for applies, reason in known:
            if applies:
                raise InvalidInput(reason, archive=self.key,
                                   hint="Give more words, or a field such as title.")

    def _found(self, ask: Ask) -> dict[str, Any]:
        """One search answer, an object with the list `docs`.

        Raises:
            InvalidInput: 422, with the objection. ArchiveUnreachable: 404, which a search never
                means as an absence.
        """
        reply = route_stands(OpenLibrary, self.ask(ask), "search")
        if reply.status == 422:
            said = records.objection(reply.value)
            raise InvalidInput(f"Open Library refuses this query: {said}", archive=self.key,
                               status=422)
        return mapping(reply.value)

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """Authors as persons, readers' subject tags as subjects; exact ones first. There is no
        authority file behind them."""
        if not words(query):
            raise InvalidInput("Open Library needs a letter or a digit to search for.",
                               archive=self.key)
        path, read = ("/search/authors.json", records.read_person) if kind == "person" else \
            ("/search/subjects.json", records.read_subject)
        answer = self._found(_search(path, (("q", _literal(query)), ("limit", str(rows)))))
        page = _page(answer, lambda doc: read(doc, query), rows)
        notes = records.namesakes(answer["docs"][:rows]) if kind == "person" else (
            "its subjects are readers' tags, so one thing may stand under several spellings.",)
        ranked = sorted(page.records, key=lambda heading: not heading.exact)
        return replace(page, records=tuple(ranked), notes=(*page.notes, *notes))

    # ---- reading one record ----------------------------------------------------------------------

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """A work, an edition or an author; `editions` are the editions of a work, and the works of
        an author.

        Raises:
            RecordNotFound: no such record, or one that was deleted, which the message says.
            UnreadableAnswer: merged records that lead in a circle, or a record of another kind.
        """
        olid, record, notes = self._follow(reference.local)
        kind = olid[-1]
        if kind == "A":
            item = records.read_author(olid, record)
        else:
            credits, credit_notes = self._credits(kind, record)
            names, name_notes = self._names_told(credits)
            item, notes = records.read_book(olid, record, credits, names), (*notes, *credit_notes,
                                                                            *name_notes)
        editions = self._editions(olid, record, wanted) if wanted.wants("editions") else Page()
        return ItemPage(item=replace(item, editions=editions.records), list_total=editions.total,
                        notes=(*notes, *editions.notes),
                        lost=("editions",) if editions.lost else ())

    def _editions(self, olid: str, record: Mapping[str, Any], wanted: ItemQuery) -> Page:
        """The editions of a work, the works of an author; of an edition, where the others are
        listed."""
        if olid[-1] == "M":
            return Page(notes=("Editions are listed with their work, which context names."
                               if listing(record.get("works")) else
                               "The edition belongs to no work, so no other editions are listed "
                               "with it.",))
        path, what = (f"/works/{olid}/editions.json",
                      "editions") if olid[-1] == "W" else (f"/authors/{olid}/works.json", "works")
        return list_or_note(lambda: self._list(path, wanted),
                            f"The list of {what} could not be read:")

    def _follow(self, local: str) -> tuple[str, dict[str, Any], tuple[str, ...]]:
        """The identifier and the record that `local` leads to, through at most MERGES_MAX merged
        ones, and how it was reached.

        Look-ups by number are answered with a redirect to the record.
        """
        passed: list[str] = []
        record = self._record(local, passed)
        while records.key_of(record.get("type")) == "/type/redirect":
            passed.append(local)
            local = _surviving(record, passed)
            record = self._record(local, passed)
        olid = records.olid_of(record.get("key")) or (local if records.OLID.fullmatch(local)
                                                      else None)
        if olid is None or LETTER_OF.get(records.key_of(record.get("type")) or "") != olid[-1]:
            raise UnreadableAnswer(f"What Open Library sent for {local} is no work, edition or "
                                   f"author.", archive=self.key)
        notes = []
        if passed:
            notes.append(f"Open Library merged {', then '.join(passed)} into {olid}, which is "
                         f"shown.")
        if "/" in local:
            notes.append(f"Open Library answers {local} with the one edition {olid}; others may "
                         f"bear the same number.")
        return olid, record, tuple(notes)

    def _record(self, local: str, passed: Sequence[str]) -> dict[str, Any]:
        """The record filed under `local`, itself perhaps merged; `passed` are the merged ones that
        led to it.

        Raises:
            RecordNotFound: none is held, or it was deleted.
        """
        folder = "" if "/" in local else records.FOLDER_OF[local[-1]] + "/"
        reply = self.ask(Ask(url=f"{SITE}/{folder}{quote(local)}.json", statuses=(200, 404),
                             check=_check_record))
        record = {} if reply.status == 404 else mapping(reply.value)
        if records.key_of(record.get("type")) == "/type/delete":
            raise RecordNotFound(f"The record {local} existed at Open Library and was deleted.",
                                 archive=self.key)
        if not record:
            raise RecordNotFound(
                f"The record {passed[0]} was merged at Open Library into {local}, which it does "
                f"not hold." if passed else
                f"Open Library holds no record {local}.", archive=self.key, status=404)
        return record

    def _credits(self, kind: str, record: Mapping[str, Any]) -> tuple[dict[str, str],
                                                                      tuple[str, ...]]:
        """Roles of the authors by identifier; those of the work when an edition names none, which
        is told."""
        credits = records.read_credits(record)
        work = next(filter(None, map(records.olid_of, listing(record.get("works")))), None)
        if kind != "M" or not work or credits:
            return credits, ()
        try:
            credits = records.read_credits(self._follow(work)[1])
        except SourceError as exc:
            return {}, (f"The edition names no author, and its work {work} could not be read: "
                        f"{exc.message}",)
        return credits, (f"The edition names no author; its work {work} does.",) if credits else ()

    def _names_told(self, credits: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Names of the authors by identifier, and a note of those not learnt."""
        try:
            names = self._names(tuple(credits))
        except SourceError as exc:
            kept = ", ".join(tuple(credits)[:5])
            return {}, (f"The names of the authors could not be read, so contributors holds {kept} "
                        f"instead: {exc.message}",)
        unnamed = [olid for olid in credits if olid not in names]
        told = f"Open Library gave no name for {', '.join(unnamed[:5])}."
        return names, (told,) if unnamed else ()

    def _names(self, olids: tuple[str, ...]) -> dict[str, str]:
        """Names of authors by identifier: one from its own record, several from one search."""
        if len(olids) == 1:
            name = first(self._follow(olids[0])[1].get("name"))
            return {olids[0]: name} if name else {}
        names: dict[str, str] = {}
        asked = olids[:AUTHORS_MAX]
        params = (("q", f"author_key:({' OR '.join(asked)})"),
                  ("fields", "author_key,author_name"), ("limit", "100"))
        for doc in map(mapping, self._found(_search("/search.json", params))["docs"] if asked
                       else ()):
            written = zip(listing(doc.get("author_key")),
                          map(first, listing(doc.get("author_name"))), strict=False)
            names.update({key: name for key, name in written if key in asked and name})
        return names

    def _list(self, path: str, wanted: ItemQuery) -> Page:
        """A slice of a work's editions or an author's works; the total is the length of the whole
        list."""
        params = (("limit", str(wanted.list_limit)), ("offset", str(wanted.list_offset)))
        answer = mapping(self.ask(Ask(url=SITE + path, params=params)).value)
        total, entries = amount(answer.get("size")), answer.get("entries")
        if total is None or not isinstance(entries, list):
            raise UnreadableAnswer("Open Library sent a list of another shape.", archive=self.key)
        entries = entries[:wanted.list_limit]
        editions, skipped = read_rows(entries, records.read_edition, OpenLibrary)
        lost = f"{skipped} of the {len(entries)} entries that came could not be read."
        return Page(records=editions, total=total, notes=(lost,) if skipped else ())


# ---- what is sent --------------------------------------------------------------------------------

def _search(path: str, params: Pairs) -> Ask:
    return Ask(url=SITE + path, params=params, statuses=(200, 404, 410, 422), check=_check_docs)


def _spelled(query: Query) -> dict[str, tuple[str, str]]:
    """By narrowing, the parameter that carries it and the text there. InvalidInput for a value the
    caller must mend."""
    spelled = {name: (name, CODED[name](value)) if name in CODED else _worded(name, value)
               for name, value in query.fields.items()}
    if any(query.years):
        low, high = query.years
        spelled |= dict.fromkeys(query.bound_names,
                                 ("q", f"first_publish_year:[{low or '*'} TO {high or '*'}]"))
    if query.sort in SORTS:
        spelled["sort"] = ("sort", SORTS[query.sort][0])
    if query.availability:
        spelled["availability"] = ("fields", ",".join(AVAILABLE_FIELDS))
    return spelled


def _params(query: Query, spelled: Mapping[str, tuple[str, str]]) -> Pairs:
    """The parameters of a search, the words and all that goes in q first."""
    in_q = tuple(dict.fromkeys(text for param, text in spelled.values() if param == "q"))
    if query.native:  # in brackets, so that what stands beside it narrows the whole
        q = " AND ".join((f"({query.words.strip()})" if in_q else query.words.strip(), *in_q))
    else:
        q = " ".join(filter(None, (_literal(query.words), *in_q)))
    own = ((param, text) for param, text in spelled.values() if param not in ("q", "fields"))
    return (*((("q", q),) if q else ()), *own, ("fields", ",".join(_row_fields(query))),
            ("limit", str(query.rows)),
            ("page", str(query.page)))


def _row_fields(query: Query) -> tuple[str, ...]:
    available = AVAILABLE_FIELDS if query.availability else ()
    if not query.words.strip() and not query.fields:
        return ROW_FIELDS + available
    return (*ROW_FIELDS, *available, *EDITION_FIELDS, *(f"editions.{name}" for name in available))


def _of_an_edition(query: Query) -> tuple[str, ...]:
    """What is asked of an edition rather than of a work."""
    return tuple(name for name in EDITION_LEVEL if name in query.fields)


def _plan_notes(query: Query) -> tuple[str, ...]:
    asked = ", ".join(_of_an_edition(query))
    notes = (
        (any(len(date or "") > 4 for date in (query.date_from, query.date_to)),
         "it has years only, and the dates were sent to it as years."),
        (asked, "its count is of works with one edition that meets all that was asked of an "
                f"edition ({asked}), and matching_edition names that edition."),
        (query.native, "where the syntax does not parse, it searches the plain words instead and "
                       "does not say so."))
    return tuple(note for applies, note in notes if applies)


def _worded(name: str, value: str) -> tuple[str, str]:
    """The parameter and the text for a field given in words, all of them, or in quotes, those words
    adjacent."""
    param, index = WORDED[name]
    value = " ".join(value.split())
    bare = value.strip('"')
    if not words(value):
        raise InvalidInput(f"{name}: {value!r} holds no letter or digit.",
                           hint="Give words of the record, or leave it out.")
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

    An unpaired quotation mark is a mark like any other. A text that is one ISBN loses its hyphens,
    by which the server knows it.
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
    spelled = [_phrase(piece.strip()) if place % 2 and piece.strip() else _escaped(piece)
               for place, piece in enumerate(pieces)]
    return " ".join(piece for piece in spelled if piece)


def _escaped(text: str) -> str:
    plain_words = _OPERATOR.sub(lambda match: match.group().lower(), text.strip())
    return _ACTING.sub(r"\\\1", plain_words.replace("&&", "& &").replace("||", "| |"))


def _number(head: str, rest: str, olid: str) -> str | None:
    """The look-up by number that an identifier spells, with its kind before it or as a bare ISBN;
    None for any other."""
    if head in NUMBERS and rest:
        return f"{head}/{NUMBERS[head](rest)}"
    return f"isbn/{isbn(olid)}" if re.fullmatch(r"[\d -]{9,16}[\dX]", olid, re.ASCII) else None


# ---- what comes ----------------------------------------------------------------------------------

def _check_docs(reply: Reply) -> None:
    answer = mapping(reply.value)
    docs = answer.get("docs")
    if reply.status == 200 and (not isinstance(docs, list)
                                or (not docs and amount(answer.get("numFound")) is None)):
        raise UnreadableAnswer("Open Library sent a search answer of another shape.",
                               archive=LISTED.key)


def _surviving(record: Mapping[str, Any], passed: Sequence[str]) -> str:
    """The record that a merged one names; UnreadableAnswer where the merges lead in a circle, or on
    and on."""
    target = records.olid_of(record.get("location"))
    if target is None or target in passed or len(passed) > MERGES_MAX:
        raise UnreadableAnswer(f"The record {passed[0]} was merged at Open Library, but the merges "
                               f"lead to no record.",
                               archive=LISTED.key)
    return target


def _check_record(reply: Reply) -> None:
    if reply.status == 200 and records.key_of(mapping(reply.value).get("type")) is None:
        raise UnreadableAnswer("Open Library sent something else than a record.",
                               archive=LISTED.key)


def _page(answer: Mapping[str, Any], read: Callable[[Any], Any], rows: int, page: int = 1) -> Page:
    """The rows of a search answer, at most as many as were asked."""
    return page_of_rows(OpenLibrary, answer["docs"], read, page=page, rows=rows,
                        total=amount(answer.get("numFound")), begins_at=amount(answer.get("start")))
