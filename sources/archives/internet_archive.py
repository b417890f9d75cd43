"""The Internet Archive: the text inside scanned documents, one catalogue of items, their records,
leaves and collections.

Sources, facts of 2026-11: the Archive's own search client (iaux-search-service) for the text
search, "Item Metadata API: Read" and "Internet Archive Metadata" for records, BookReader for leaves
and search inside one book, and recorded answers.
"""
from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar
from urllib.parse import SplitResult, quote, unquote

from ..contract import (
    IDENTIFYING,
    Archive,
    Ask,
    Describes,
    Item,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    PageEntry,
    PageText,
    Pairs,
    Passages,
    Query,
    Reference,
    Request,
)
from ..errors import ArchiveUnreachable, InvalidInput, RecordNotFound, UnreadableAnswer
from ..languages import language_name, marc_code
from ..registry import ENTRY_OF
from ..text import amount, mapping, words
from . import internet_archive_records as records
from . import internet_archive_scans as scans
from .internet_archive_records import ITEM, KEY, NODE, SITE
from .shared import page_of_rows, past_ceiling, plan_from, route_stands

LISTED = ENTRY_OF[KEY]
TEXT_URL = f"{SITE}/services/search/beta/page_production/"
CATALOGUE_URL = f"{SITE}/advancedsearch.php"
FACET_VALUES = 20  # terms asked for each field; the service gives six when not told

_OPERATORS = re.compile(r'[()\[\]{}^~:/!\\*?+|<>=&]')
_CATALOGUE_FIELDS = ("title", "creator", "subject", "publisher")
_ROW_FIELDS = ("identifier", "title", "creator", "year", "date", "mediatype", "downloads",
               "language", "publisher")
_COLLECTION_FIELDS = ("identifier", "title", "item_count", "description")
_SORTS = {"newest": "date desc", "oldest": "date asc", "title": "titleSorter asc"}
_COUNTED = "year,mediatype,language,subject,creator,collection"
_NO_NUMBER = (
    "Its documentation names no search field for {} numbers, and such a field is never dropped."
)
_ABSENT = {name: _NO_NUMBER.format(name.upper()) for name in ("isbn", "lccn", "oclc")} | {
    "collection": "The collection asked for is none of its own; browse_collections lists those it "
    "has."
}
_DROPPED = {
    "place": "no search field of its catalogue holds this",
    "publication": "no search field of its catalogue holds this",
    "availability": "its catalogue does not say who may borrow what; get_item shows what a record "
    "states",
}
_OF_AN_ARK = ("An ark is no item's identifier; search_items finds the item that states it, with "
              'native_query identifier-ark:"ark:/13960/…".')
_NOTHING_LEFT = "Nothing was left that its catalogue can search on."
_NO_FILTER = "its text index has no documented filter of this kind"
_NO_TEXT = "The record lists no recognised text; there are images or files only."
_NOTHING_TO_SEARCH = "The record lists no recognised text to search in."
_TEXT_CLOSED = ("The Internet Archive holds this text but does not open it to anonymous readers; "
                "open the page at its address.")
# What names an item in an address: on the site, and on a data node
_SITE_PATH = re.compile(r"(?:details|stream|download)/(.+)|(?:metadata|embed)/([^/]+).*")
_NODE_PATH = re.compile(r"\d+/items/(.+)")
_PICTURED = re.compile(r"_([0-9]{4,6})\.(?:jp2|tif)/")  # the leaf in the name of a picture
_PATH_ON = {"iiif.archive.org": re.compile(
    r"(?:image/)?iiif/(?:[23]/)?(?!annotations/|search/)([^/$%]+)(?:(?:%2[fF]|[/$]).*)?")}


# ---- what is asked -------------------------------------------------------------------------------

def spelled(text: str) -> str:
    """A caller's words as a query in which nothing acts but a pair of double quotes round a phrase.

    Characters with a meaning become blanks rather than escapes, since escaping + - & | " is itself
    refused (measured 2026-07). "AT&T" becomes the phrase "AT T", as an ampersand touching a word is
    refused. Operator words lose their capitals. The last of an odd number of quotation marks goes.
    """
    parts: list[str] = []
    for phrase, word in re.findall(r'"([^"]*)"|([^"\s]+)', text):
        tokens = _OPERATORS.sub(" ", phrase or word).split()
        if word:
            tokens = [token.lower() if token in ("AND", "OR", "NOT") else token
                      for token in (part.strip("-") for part in tokens) if words(token)]
        together = phrase or (len(tokens) > 1 and re.search(r"\w&\w", word))
        if words(" ".join(tokens)):
            parts += [f'"{" ".join(tokens)}"'] if together else tokens
    return " ".join(parts)


def _spelling_note(query: Query) -> tuple[str, ...]:
    """What was really sent, when it is not what the caller wrote."""
    sent = spelled(query.words)
    if query.native or sent == " ".join(query.words.split()):
        return ()
    return (
        f"What was sent is {sent!r}; characters and words that act in its query syntax were left "
        f"out or made plain.",
    )


def _with_years(query: Query, spelling: Mapping[str, str], years: str) -> dict[str, str]:
    """The spelling with each bound of the dates, said to be cut where a date is more than its
    year."""
    spelled_too = dict(spelling)
    for name in query.bound_names:
        date = (query.date_from if name.endswith("from") else query.date_to) or ""
        cut = f"; this index has years only, so {date} was cut to its year" if len(date) > 4 else ""
        spelled_too[name] = years + cut
    return spelled_too


def _ask(url: str, params: Pairs) -> Ask:
    """One question to either search route, with what tells a refusal from an answer."""
    return Ask(url=url, params=params, statuses=(200, 400, 404, 410, 422),
               check_text=records.check_search_text, check=records.check_search)


def _production(query: Query, params: Pairs, counted: str) -> Ask:
    """The route that serves text and catalogue, with counts by field when they are asked."""
    counts: Pairs = (("aggregations", "false"),)
    if query.facets:
        counts = (("aggregations", counted), ("aggregations_size", str(FACET_VALUES)))
    return _ask(
        TEXT_URL, (*params, ("hits_per_page", str(query.rows)), ("page", str(query.page)), *counts)
    )


def _advanced(lucene: str, fields: tuple[str, ...], sort: str | None, rows: int, page: int) -> Ask:
    """advancedsearch.php; without output=json it would answer a web page, with callback a
    script."""
    return _ask(CATALOGUE_URL, (("q", lucene), *(("fl[]", name) for name in fields),
                                *((("sort[]", sort),) if sort else ()),
                                ("rows", str(rows)), ("page", str(page)), ("output", "json")))


def _catalogue_ask(query: Query, lucene: str, order: str | None) -> Ask:
    """By the older, plainer route; by the one that also counts when counts are asked."""
    if not query.facets:
        return _advanced(lucene, _ROW_FIELDS, order, query.rows, query.page)
    sort = (("sort", order.replace(" ", ":")),) if order else ()
    return _production(query, (("service_backend", "metadata"), ("user_query", lucene),
                               ("fields", ",".join(_ROW_FIELDS)), *sort), _COUNTED)


def _year_filter(query: Query) -> str:
    """The years as the text search takes them, "" for none. One alone is `inc`: of gte and lte on
    one key the last stays."""
    begin, end = query.years
    bounds = {year: word for year, word in ((begin, "gte"), (end, "lte")) if year is not None}
    if begin == end:
        bounds = dict.fromkeys(bounds, "inc")
    return json.dumps({"year": bounds}, separators=(",", ":")) if bounds else ""


def _clauses(query: Query) -> dict[str, str]:
    """The catalogue question as Lucene clauses, each by the argument it came from; joined by AND
    they are the query."""
    sent = query.words.strip() if query.native else spelled(query.words)
    clauses = {"query": f"({sent})"} if sent else {}
    clauses |= {name: f"{name}:({sent})" for name in _CATALOGUE_FIELDS
                if (sent := spelled(query.fields.get(name, "")))}
    if query.fields.get("language"):
        code = marc_code(query.fields["language"])
        name = language_name(code)
        clauses["language"] = f'language:({code} OR "{name}")' if name else f"language:{code}"
    slug = query.fields.get("collection", "").removeprefix(KEY + ":")
    if ITEM.fullmatch(slug):
        clauses["collection"] = f"collection:{slug}"
    if query.media_type:
        clauses["media_type"] = f"mediatype:{query.media_type}"
    begin, end = ("*" if year is None else year for year in query.years)
    if begin != end or begin != "*":
        clauses["year"] = f"year:[{begin} TO {end}]"
    if query.native and len(clauses) == 1:
        return {"query": query.words}  # as it was written, where nothing stands beside it
    return clauses


def _unsearchable(query: Query, sent: Collection[str] = ()) -> str | None:
    """A field that identifies what is sought, and that could not be sent; never dropped."""
    return next((name for name in IDENTIFYING if name in query.fields and name not in sent), None)


def _entries(scan: scans.Scan, wanted: ItemQuery) -> tuple[PageEntry, ...]:
    """The leaves asked for, each with its printed number and its address."""
    leaves = wanted.window(scan.leaves())
    held = None if scan.doc else False
    return tuple(PageEntry(page_number=leaf, page_number_is="leaf", text_held=held,
                           printed_page=scan.printed.get(leaf), source_url=scan.address(leaf),
                           image_url=scan.image(leaf)) for leaf in leaves)


def _inside(scan: scans.Scan, item: str, words: str) -> Ask:
    """The search inside one document."""
    params = (("item_id", item), ("doc", scan.doc or ""), ("path", scan.folder), ("q", words))
    return Ask(url=scan.served_at("/fulltext/inside.php"), params=params,
               statuses=(200, 401, 403, 404), check_text=records.check_inside_text,
               check=records.check_inside)


def _shown(spelling: str, rest: Sequence[str]) -> tuple[int | None, str | None]:
    """The leaf that an address or identifier names behind an item, and how another page of it was
    read."""
    label = rest[rest.index("page") + 1] if "page" in rest[:-1] else ""
    leaf = re.fullmatch(r"leaf(\d{1,6})", label, re.ASCII)
    if not label:
        return None, None
    if leaf:
        return int(leaf[1]), (f"read as {KEY}:{spelling}, leaf {int(leaf[1])}; get_item reads the "
                              "whole record, read_text the leaf")
    return None, (f"read as {KEY}:{spelling}; the page {label[:20]!r} of the address counts the "
                  "pages that the reader shows, or is a printed number, and is no leaf; it was "
                  "left aside. Give the leaf as page.")


class InternetArchive(Archive):
    """Text, catalogue, records, leaves and collections. Its index files under headings of no
    authority, so it has none."""

    key, name = LISTED.key, LISTED.name
    answers, media_types = LISTED.answers, LISTED.media_types
    lanes = (Lane(key=KEY, hosts=(r"archive\.org", NODE), spacing_s=1.0,
                  spacing_because="no ceiling is published; other clients found one request a "
                                  "second, one at a time, to be welcome"),
             Lane(key="archive-pictures", hosts=(r"iiif\.archive\.org",),
                  paths=(r"/image/iiif/.*",), spacing_s=1.0,
                  spacing_because="150 requests at one a second were all answered (a client's "
                                  "measure of 2026-09)"))
    absent_because: ClassVar[Mapping[str, str]] = {
        "search_headings": "The Internet Archive keeps no headings of its own; its subjects are "
                           "free words of depositors."}
    native_syntax = "Lucene"
    pages_are = "leaf"
    text = Describes(
        corpus="the recognised text of scanned and deposited documents of every kind and language",
        publishes_page_number=False, requires_every_word=True,
        year_means="the year filed for the item; a document inside a bundle carries the bundle's",
        total_means="documents whose text matches")
    catalogue = Describes(
        searches_on="what depositors wrote: titles, names, subjects, descriptions",
        row_describes="one deposit: a copy, a bundle or a collection", requires_every_word=True,
        year_means="the year a depositor typed: a work's, an edition's or a guess, without an era; "
                   "1 January may stand for the year alone",
        total_means="items that match")
    address_hosts = ("archive.org", "www.archive.org", "web.archive.org", "ia[0-9]*.archive.org",
                     "dn[0-9]*.archive.org", "iiif.archive.org")
    unread_fields = ("editions",)
    spellings = "archive:journalofexpedit00ford"

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        return f"Internet Archive, https://archive.org, retrieved {retrieved_at[:10]}"

    # -- identifiers

    @classmethod
    def page_address(cls, item: Item, reference: Reference) -> str:
        address = records.details(records.item_of(reference), reference.file)
        return f"{address}/page/leaf{reference.page}"

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """Item, then the file of a bundle if any, then what the reader was showing, as in
        ID/FILE/page/leaf24/mode/2up."""
        item, *rest = [unquote(segment) for segment in local.split("/") if segment] or [""]
        end = next((at for at, segment in enumerate(rest) if segment in ("page", "mode", "search")),
                   len(rest))
        file = "/".join(rest[:end]) or None
        if not ITEM.fullmatch(item) or (file and not records.is_file(file)):
            hint = ("An item's is letters, digits, points, hyphens and underscores: "
                    f"{cls.spellings}.")
            raise InvalidInput("This is no identifier of the Internet Archive.", archive=KEY,
                               hint=_OF_AN_ARK if item.startswith("ark:") else hint)
        spelling = item + (f"/{records.spell_file(file)}" if file else "")
        leaf, read_as = _shown(spelling, rest)
        return Reference(source=KEY, local=spelling, page=leaf, file=file, read_as=read_as)

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        host = (address.hostname or "").lower()
        path = "/".join(segment for segment in address.path.split("/") if segment)
        if host == "web.archive.org" or path.split("/")[0] in ("web", "wayback"):
            raise InvalidInput("This address is a capture of a web page, not an item of the "
                               "Internet Archive.", archive=KEY,
                               hint="Open it in a browser; items have addresses such as "
                                    "https://archive.org/details/….")
        pattern = _NODE_PATH if re.fullmatch(NODE, host) else _PATH_ON.get(host, _SITE_PATH)
        named = pattern.fullmatch(path)
        if named is None:
            raise InvalidInput("This address of the Internet Archive names no item.", archive=KEY,
                               hint="Give an item's address, such as "
                                    "https://archive.org/details/journalofexpedit00ford.")
        shown = f"/{address.fragment}" if address.fragment.startswith("page/") else ""
        if host in _PATH_ON and (pictured := _PICTURED.search(path)):
            shown = f"/page/leaf{int(pictured[1])}"
        return cls.read_identifier(named[named.lastindex or 0] + shown)

    # -- searching

    @classmethod
    def plan_text(cls, query: Query) -> Request:
        identifying = _unsearchable(query)
        sent, year = spelled(query.words), _year_filter(query)
        if not sent:
            return Request(
                query=query, absent_because="No word was left that its text index can search for."
            )
        if identifying:
            return Request(
                query=query, absent_because=f"Its text index cannot be searched by {identifying}."
            )
        years = (("filter_map", year),) if year else ()
        ask = _production(query, (("service_backend", "fts"), ("user_query", sent), *years), "year")
        return plan_from(query,
                         _with_years(query, {"facets": "aggregations=year"}, f"filter_map={year}"),
                         dict.fromkeys(query.narrowings, _NO_FILTER), asks=(ask,),
                         beyond=past_ceiling(cls, query.page, query.rows, records.CEILING))

    def search_text(self, request: Request) -> Page:
        query = request.query
        return self._searched(
            request, partial(records.read_match, query, spelled(query.words)), "documents"
        )

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        clauses, order = _clauses(query), _SORTS.get(query.sort)
        identifying = _unsearchable(query, clauses)
        if identifying or not clauses:
            absent = _ABSENT.get(identifying or "", _NOTHING_LEFT)
            return Request(query=query, absent_because=absent, media_type_asked=query.media_type)
        spelling = {**clauses, "facets": f"aggregations={_COUNTED}"}
        spelling |= {"sort": order} if order else {}
        because = {**dict.fromkeys(query.narrowings, "no word of it could be sent"), **_DROPPED,
                   "sort": f"its catalogue has no order by {query.sort}"}
        return plan_from(query, _with_years(query, spelling, clauses.get("year", "")), because,
                         asks=(_catalogue_ask(query, " AND ".join(clauses.values()), order),),
                         beyond=past_ceiling(cls, query.page, query.rows, records.CEILING),
                         media_type_asked=query.media_type, ordered_on=order)

    def search_catalogue(self, request: Request) -> Page:
        return self._searched(request, records.read_row, "items")

    def browse_collections(self, query: str | None, rows: int, page: int) -> Page:
        """Collections whose record holds the words; without words all of them, most downloaded
        first."""
        sent = spelled(query or "")
        if query and not sent:
            raise InvalidInput(
                "query: no word of it can be searched for in the Internet Archive's catalogue.",
                archive=KEY,
            )
        lucene = f"({sent}) AND mediatype:collection" if sent else "mediatype:collection"
        order = None if sent else "downloads desc"
        notes: tuple[str, ...] = ("Its counts of items are approximate.",)
        if order:
            notes += ("Its collections are in the order of their downloads.",)
        request = Request(query=Query(words=query or "", rows=rows, page=page, native=True),
                          asks=(_advanced(lucene, _COLLECTION_FIELDS, order, rows, page),),
                          beyond=past_ceiling(type(self), page, rows, records.CEILING))
        found = self._searched(request, records.read_collection, "items")
        unasked = found.beyond and found.total is None
        return found if unasked else replace(found, notes=(*notes, *found.notes))

    def _searched(self, request: Request, read: Callable[[Any], Any], counts_what: str) -> Page:
        """The page that the one request of a plan brings. A page never served is no failure."""
        query = request.query
        if request.beyond:
            return Page(beyond=request.beyond)
        try:
            reply = route_stands(type(self), self.ask(request.asks[0]), "search")
        except records.Told:
            return Page(beyond=past_ceiling(type(self), records.CEILING + 1, query.rows,
                                            records.CEILING))
        came, total = records.rows_in(reply.value)
        stated = mapping(mapping(reply.value).get("response")).get("start")
        return page_of_rows(type(self), came, read, page=query.page, rows=query.rows, total=total,
                            ceiling=records.CEILING, begins_at=amount(stated),
                            facets=records.read_facets(reply.value, counts_what),
                            notes=_spelling_note(query))

    # -- reading

    def _metadata(self, reference: Reference) -> dict[str, Any]:
        reply = self.ask(Ask(url=f"{SITE}/metadata/{quote(records.item_of(reference), safe='@')}",
                             check=records.check_metadata))
        return mapping(reply.value)

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """A record, and the leaves asked for, from one answer."""
        record = self._metadata(reference)
        item = records.read_item(records.item_of(reference), record, self.catalogue.year_means)
        notes = ((f"The whole record was read; {reference.file!r} is one document in it.",)
                 if reference.file else ())
        if not wanted.wants("pages"):
            return ItemPage(item=item, notes=notes)
        try:
            scan = scans.read_scan(reference, record)
        except InvalidInput as several:
            return ItemPage(
                item=item,
                notes=(*notes, f"Its pages are not listed: {several.message} {several.hint}"),
            )
        return ItemPage(item=replace(item, pages=_entries(scan, wanted)),
                        list_total=len(scan.leaves()) or None, notes=(*notes, scan.numbering))

    def read_page(self, reference: Reference, page: int) -> PageText:
        """The text of one leaf, by the data node's one-page route; the whole book's text can pass
        10 MB.

        Raises:
            RecordNotFound: the record lists its leaves, or counts them, and this is none of them.
            UnreadableAnswer: the route answered with another leaf twice.
        """
        scan = scans.read_scan(reference, self._metadata(reference))
        described = replace(scan.page, page_number=page, page_number_is="leaf",
                            source_url=scan.address(page), image_url=scan.image(page))
        if described.text_refused:
            return described
        scan.check_leaf(page)
        if scan.doc is None:
            return replace(described, notes=(_NO_TEXT,))
        index, leaf = self._landed(scan, page)
        if leaf is None:
            return replace(described, text_refused=_TEXT_CLOSED)
        if leaf.number != page:
            raise UnreadableAnswer(f"The text route answered with leaf {leaf.number} where leaf "
                                   f"{page} was asked.", archive=KEY)
        return scans.page_with_text(scan, described, index, leaf)

    def _landed(self, scan: scans.Scan, page: int) -> tuple[int, scans.Leaf | None]:
        """The place in the reader that was asked for a leaf, and the leaf that came.

        The route counts the pages that the reader shows. Where the record lists them, a leaf's
        place is known; else one hidden leaf, the colour card in front, is supposed, and the
        difference to the leaf that came corrected once.
        """
        index = scan.leaves().index(page) if scan.printed else max(0, page - 1)
        leaf = self._leaf(scan, index)
        if leaf is not None and leaf.number != page:
            index += page - leaf.number
            if index < 0:
                raise RecordNotFound(f"Leaf {page} is hidden: the reader's first page is leaf "
                                     f"{page - index}.", archive=KEY)
            leaf = self._leaf(scan, index)
        return index, leaf

    def _leaf(self, scan: scans.Scan, index: int) -> scans.Leaf | None:
        """One page by its place in the reader; None when its text is not open."""
        params = (("path", f"{scan.folder}/{scan.doc}_djvu.xml"), ("mode", "djvu_xml"),
                  ("page", str(index)))
        url = scan.served_at("/BookReader/BookReaderGetTextWrapper.php")
        reply = self.ask(Ask(url=url, body="text", params=params, statuses=(200, 401, 403, 404)))
        if reply.status == 404:
            raise ArchiveUnreachable("The data node does not serve the page text that the record "
                                     "lists.", archive=KEY, status=404)
        return None if reply.status != 200 else scans.read_leaf(reply.value)

    def search_record(self, reference: Reference, words: str, max_passages: int) -> Passages:
        """Paragraphs of one document that hold the words. Words outside quotation marks are matched
        each for itself."""
        scan = scans.read_scan(reference, self._metadata(reference))
        if scan.page.text_refused:
            return Passages(page=scan.page)
        if scan.doc is None:
            return Passages(page=scan.page, notes=(_NOTHING_TO_SEARCH,))
        try:
            reply = self.ask(_inside(scan, records.item_of(reference), words))
        except records.Told as told:
            return Passages(page=replace(scan.page, text_refused=told.message))
        if reply.status == 404 and not scan.restricted:
            raise ArchiveUnreachable("The data node has no search inside this item.", archive=KEY,
                                     status=404)
        if reply.status != 200:
            return Passages(page=replace(scan.page, text_refused=records.SEARCH_CLOSED))
        return scans.read_passages(scan, mapping(reply.value), words, max_passages)
