"""The Internet Archive: the text inside scanned documents, one catalogue of items, their records, leaves and collections.

Sources, facts of 2026-11: the Archive's own search client (iaux-search-service) for the text search, "Item Metadata API: Read"
and "Internet Archive Metadata" for records, BookReader for leaves and search inside one book, and recorded answers.
"""
from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import SplitResult, quote, quote_plus, unquote

from .contract import (
    IDENTIFYING,
    Archive,
    Collection,
    Contributor,
    Copy,
    Describes,
    Facet,
    FacetValue,
    Item,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    PageEntry,
    PageText,
    Params,
    Passage,
    Passages,
    Plan,
    Query,
    Record,
    Reference,
    Related,
    Reply,
    Rights,
    TextMatch,
)
from .errors import ArchiveUnreachable, InvalidInput, RecordNotFound, UnreadableAnswer
from .languages import language_name, marc_code
from .text import amount, first, integer, joined, listing, mapping, plain, strings, window, words, year_of

KEY = "archive"
SITE = "https://archive.org"
TEXT_URL = f"{SITE}/services/search/beta/page_production/"
CATALOGUE_URL = f"{SITE}/advancedsearch.php"
CEILING = 10_000  # page x rows beyond this is refused with RANGE_OUT_OF_BOUNDS, on both searches
YEARS = range(1000, 2201)  # a year outside is a placeholder ("0001-01-01") or a slip of the typist
LEAVES_MAX = 100_000  # a record that states more images than any scan has states none
PASSAGE_CHARS = 600  # about 300 either side of a match (DESIGN, read_text)
FACET_VALUES = 20  # terms asked for each field; the service gives six when not told

_NODE = r"(?:ia|dn)\d+\.[a-z]{2}\.archive\.org"  # a data node, as metadata names it: ia601302.us.archive.org
_ITEM = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FOLDER = re.compile(r"/\d+/items/[A-Za-z0-9@._-]+")
_MARK = re.compile(r"\{\{\{|\}\}\}|</?IA_FTS_MATCH>")
_UPSTREAM = re.compile(r"\[[A-Z_]*ERROR\]|HTTP 5\d\d|backend|elasticsearch|encountered an exception|did not respond"
                       r"|(?:request|query|call) failed", re.IGNORECASE)
_OPERATORS = re.compile(r'[()\[\]{}^~:/!\\*?+|<>=&]')
_CATALOGUE_FIELDS = ("title", "creator", "subject", "publisher")
_ROW_FIELDS = ("identifier", "title", "creator", "year", "date", "mediatype", "downloads", "language", "publisher")
_SORTS = {"newest": ("date", "desc"), "oldest": ("date", "asc"), "title": ("titleSorter", "asc")}
_FACETS = ("year", "mediatype", "language", "subject", "creator", "collection")
_LENDING = {"inlibrary", "printdisabled"}
_BOOKKEEPING_FORMATS = {"Metadata", "Item Tile", "Archive BitTorrent", "Log", "Cloth Cover Detection Log", "Page Numbers JSON",
                        "OCR Page Index", "Scandata", "MARC Source", "Checksums", "Flac FingerPrint", "Columbia Peaks"}
_BOOKKEEPING_NAMES = re.compile(r"__ia_thumb\.jpg|history/.*|.*_(?:files\.xml|meta\.xml|meta\.sqlite|archive\.torrent|page_numbers\.json)",
                                re.DOTALL)
_DERIVED = r"(?:_(?:djvu|hocr|chocr|abbyy|text|bw|jp2|orig_jp2|page_numbers|scandata)[\w.]*|\.\w{1,5})"  # "…_djvu.txt", "….pdf"
_NO_TERMS = "The record states no terms of reuse; silence grants nothing."
_PAST_CEILING = f"Only the first {CEILING:,} rows of a search are ever served; narrow the question instead."


class _OutOfRange(InvalidInput):
    """The archive's own word that a page lies past what it will ever serve."""


class _NotOpen(InvalidInput):
    """The text of an item is held and not given to an anonymous reader."""


# ---- what is asked -------------------------------------------------------------------------------------------------

def spelled(text: str) -> str:
    """A caller's words as a query in which nothing acts but a pair of double quotes round a phrase.

    Characters with a meaning become blanks rather than escapes, since escaping + - & | " is itself refused (measured 2026-07).
    "AT&T" becomes the phrase "AT T", as an ampersand touching a word is refused. Operator words lose their capitals. The
    last of an odd number of quotation marks goes.
    """
    pieces = text.split('"')
    if len(pieces) % 2 == 0:
        pieces[-2:] = [f"{pieces[-2]} {pieces[-1]}"]
    parts: list[str] = []
    for position, piece in enumerate(pieces):
        if position % 2:
            phrase = " ".join(_OPERATORS.sub(" ", piece).split())
            parts += [f'"{phrase}"'] if words(phrase) else []
        else:
            parts += [token for raw in piece.split() for token in _tokens(raw)]
    return " ".join(parts)


def _tokens(raw: str) -> list[str]:
    tokens = [token.strip("-") for token in _OPERATORS.sub(" ", raw).split()]
    tokens = [token.lower() if token in ("AND", "OR", "NOT") else token for token in tokens if words(token)]
    return [f'"{" ".join(tokens)}"'] if len(tokens) > 1 and re.search(r"\w&\w", raw) else tokens


def _spelling_note(query: Query, sent: str) -> tuple[str, ...]:
    """What was really sent, when it is not what the caller wrote."""
    if query.native or sent == " ".join(query.words.split()):
        return ()
    return (f"What was sent is {sent!r}; characters and words that act in its query syntax were left out or made plain.",)


def _bounds(query: Query, how: str) -> tuple[tuple[str, str], ...]:
    """Each date argument beside how its year is sent; a month or a day is cut to its year, and that is said."""
    found = []
    for name in query.bound_names or ("date_from", "date_to"):
        date = query.date_from if name.endswith("from") else query.date_to
        if date:
            found.append((name, how if len(date) == 4 else f"{how}; this index has years only, so {date} was cut to its year"))
    return tuple(found)


def _year_filter(query: Query) -> str:
    """The years as the text search takes them, "" for none. One year alone is `inc`: gte and lte on one key leave only the last."""
    begin, end = query.years
    if begin is not None and begin == end:
        bounds = {str(begin): "inc"}
    else:
        bounds = {str(year): word for year, word in ((begin, "gte"), (end, "lte")) if year is not None}
    return json.dumps({"year": bounds}, separators=(",", ":")) if bounds else ""


def _clauses(query: Query) -> list[tuple[str, str]]:
    """The catalogue question as Lucene clauses, each beside the argument it came from; joined by AND they are the query."""
    if query.native:
        return [("query", query.words)]
    clauses = [("query", f"({sent})")] if (sent := spelled(query.words)) else []
    clauses += [(name, f"{name}:({sent})") for name in _CATALOGUE_FIELDS if (sent := spelled(query.fields.get(name, "")))]
    if query.fields.get("language"):
        code = marc_code(query.fields["language"])
        name = language_name(code)
        clauses.append(("language", f'language:({code} OR "{name}")' if name else f"language:{code}"))
    if slug := _slug(query):
        clauses.append(("collection", f"collection:{slug}"))
    if query.media_type:
        clauses.append(("media_type", f"mediatype:{query.media_type}"))
    begin, end = query.years
    if begin is not None or end is not None:
        clauses.append(("year", f"year:[{'*' if begin is None else begin} TO {'*' if end is None else end}]"))
    return clauses


def _slug(query: Query) -> str:
    return query.fields.get("collection", "").strip().removeprefix(KEY + ":")


def _absence(query: Query) -> str | None:
    """Why the catalogue cannot be asked: an identifying field it has no verified name for, or a collection of another archive."""
    for name in ("isbn", "lccn", "oclc"):
        if query.fields.get(name):
            return f"Its documentation names no search field for {name.upper()} numbers, and such a field is never dropped."
    if _slug(query) and not _ITEM.fullmatch(_slug(query)):
        return "The collection asked for is none of its own; browse_collections lists those it has."
    return None if _clauses(query) else "Nothing was left that its catalogue can search on."


# ---- reading answers -----------------------------------------------------------------------------------------------

def _check_search(reply: Reply) -> None:
    """Tell the three outcomes of a refused search apart by wording, since both statuses 200 and 400 carry all three.

    A stated objection is the caller's to mend; a backend's complaint, or a 400 that gives no reason, is the archive's.
    """
    answer = mapping(reply.value)
    response = mapping(answer.get("response"))
    header = mapping(response.get("header"))
    stated = [message for holder in (answer, response, header) for key in ("error", "errors") for message in _messages(holder.get(key))]
    if isinstance(reply.value, str) and reply.status != 200 and not reply.value.lstrip().startswith("<"):
        stated.append(reply.value.strip())
    if reply.status == 404 or (reply.status == 200 and not stated and header.get("succeeded") is not False):
        return
    reason = " ".join(dict.fromkeys(stated))[:300]
    if "RANGE_OUT_OF_BOUNDS" in reason:
        raise _OutOfRange(_PAST_CEILING, archive=KEY, status=reply.status)
    if not reason or _UPSTREAM.search(reason):
        said = f" It said: {reason}" if reason else " It gave no reason."
        raise ArchiveUnreachable(f"The Internet Archive could not search.{said}", archive=KEY, status=reply.status)
    raise InvalidInput(f"The Internet Archive refuses this query: {reason}", archive=KEY, status=reply.status)


def _messages(value: Any) -> Iterable[str]:
    """The texts of an error block: a text, an object with a message, or a list of either."""
    for entry in value if isinstance(value, list) else [value]:
        yield from strings(mapping(entry).get("message") if isinstance(entry, dict) else entry)


def _check_search_text(reply: Reply) -> None:
    """A page out of range arrives as bare text under a JSON content type, with status 200."""
    if isinstance(reply.value, str) and reply.value.lstrip().startswith("[RANGE_OUT_OF_BOUNDS]"):
        raise _OutOfRange(_PAST_CEILING, archive=KEY)


def _check_metadata(reply: Reply) -> None:
    """An empty object is the archive's "no such item"; an error is a failure, and a withdrawn item exists."""
    if not isinstance(reply.value, dict):
        raise UnreadableAnswer("The Internet Archive's record is of another shape.", archive=KEY)
    if not reply.value:
        raise RecordNotFound("The Internet Archive holds no item of this identifier.", archive=KEY,
                             hint="Identifiers match case exactly; find the item with search_items.")
    if reply.value.get("error"):
        raise ArchiveUnreachable(f"The Internet Archive could not read the record: {(joined(reply.value['error']) or '')[:300]}", archive=KEY)
    if not isinstance(reply.value.get("metadata"), dict) and not _true(reply.value.get("is_dark")):
        raise UnreadableAnswer("The Internet Archive's record holds no metadata.", archive=KEY)


def _check_inside_text(reply: Reply) -> None:
    if isinstance(reply.value, str) and "item not available" in reply.value[:200].lower():
        raise _NotOpen("The Internet Archive says that this item is not available for searching.", archive=KEY)


def _check_inside(reply: Reply) -> None:
    """The error stands beside an empty list of matches, so it is read first."""
    if reply.status != 200:
        return
    answer = mapping(reply.value)
    if first(answer.get("error")):
        raise ArchiveUnreachable("The Internet Archive could not search inside this item; its service reported an error.", archive=KEY)
    if answer.get("indexed") is not False and not isinstance(answer.get("matches"), list):
        raise UnreadableAnswer("The Internet Archive's search inside this item answered in another shape.", archive=KEY)


def _true(value: Any) -> bool:
    return value is True or (first(value) or "").lower() == "true"


def _year(year: Any, date: str | None = None) -> int | None:
    """The year stated, else the year its date begins with; None when it is a placeholder."""
    found = integer(year)
    found = year_of(date) if found is None else found
    return found if found in YEARS else None


def _unmarked(text: str) -> tuple[str, int]:
    """The text without either style of match marks, and where the first mark stood (0 when there was none)."""
    mark = _MARK.search(text)
    return _MARK.sub("", text), mark.start() if mark else 0


def _spell_file(file: str) -> str:
    """A file's name as it stands in an identifier: what no identifier may hold is percent-encoded, letters of any script stay."""
    return re.sub(r"[^\w.,;!'()+@&=~$/-]", lambda found: quote(found.group(), safe="", errors="replace"), file)


def _details(item: str, file: str | None = None, leaf: int | None = None, found: str | None = None) -> str:
    """The address a person opens: the item, or a document in it, or a leaf of either, with the words to mark there."""
    path = quote(item, safe="@") + (f"/{quote(file, errors='replace')}" if file else "") + ("" if leaf is None else f"/page/leaf{leaf}")
    return f"{SITE}/details/{path}" + (f"?q={quote_plus(found, errors='replace')}" if found else "")


def _page(rows: list[Any], read: Callable[[Any], Any], *, total: Any, per_page: int, page: int, facets: tuple[Facet, ...] = (),
          notes: tuple[str, ...] = ()) -> Page:
    """Rows of any search as a Page: unreadable ones counted, a page past the end told as that, a count without rows said."""
    records = tuple(record for row in rows if (record := read(row)) is not None)
    if rows and not records:
        raise UnreadableAnswer(f"None of the {len(rows)} rows of the Internet Archive could be read.", archive=KEY)
    count = amount(mapping(total).get("value") if isinstance(total, dict) else total)
    beyond = None
    if not rows and count and page > 1 and count <= (page - 1) * per_page:
        beyond = f"Page {page} lies past the last page: at {per_page} rows a page the {count:,} matches fill {-(-count // per_page)}."
    elif not rows and count:
        notes += (f"It counts {count:,} matches but sent no rows; this is no absence.",)
    more = None if count is None else bool(rows) and page * per_page < count and (page + 1) * per_page <= CEILING
    return Page(records=records, total=count, skipped=len(rows) - len(records), more=more, beyond=beyond, facets=facets, notes=notes)


def _facets(aggregations: Any, names: tuple[str, ...], counts_what: str) -> tuple[Facet, ...]:
    """Terms and counts by field; years may come as a histogram instead, bare counts from `first_bucket_key` on."""
    found = []
    for name in names:
        block = mapping(mapping(aggregations).get(name)) or mapping(mapping(aggregations).get(f"{name}_histogram"))
        begin, step = integer(block.get("first_bucket_key")), integer(block.get("interval")) or 1
        values = []
        for position, bucket in enumerate(listing(block.get("buckets"))):
            value, count = first(mapping(bucket).get("key")), amount(mapping(bucket).get("doc_count"))
            if not isinstance(bucket, dict) and begin is not None:
                at = begin + position * step
                value, count = str(at) if step == 1 else f"{at}-{at + step - 1}", amount(bucket)
            if value and count:
                values.append(FacetValue(value=value, count=count))
        if values:
            found.append(Facet(field=name, counts_what=counts_what, values=tuple(values)))
    return tuple(found)


def _record(row: Any) -> Record | None:
    """One row of the catalogue; None when it names no item."""
    fields = mapping(row)
    item = first(fields.get("identifier"))
    if item is None or not _ITEM.fullmatch(item):
        return None
    date = first(fields.get("date"))
    year = _year(fields.get("year"), date)
    return Record(
        identifier=f"{KEY}:{item}", title=joined(fields.get("title")), creator=joined(fields.get("creator")), year=year,
        date=date.removesuffix("T00:00:00Z") if date else None, media_type=first(fields.get("mediatype")), source_url=_details(item),
        downloads=amount(fields.get("downloads")), languages=strings(fields.get("language")),
        publishers=strings(fields.get("publisher")), span=None if year is None else (f"{year}-01-01", f"{year}-12-31"))


def _collection(row: Any) -> Collection | None:
    fields = mapping(row)
    slug = first(fields.get("identifier"))
    if slug is None or not _ITEM.fullmatch(slug):
        return None
    return Collection(slug=f"{KEY}:{slug}", title=joined(fields.get("title")), description=_prose(fields.get("description")),
                      item_count=amount(fields.get("item_count")), source_url=_details(slug))


def _prose(value: Any) -> str | None:
    """A description, HTML or plain, one text or a list of them, as plain text with its paragraphs."""
    texts = (plain(entry) for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, str))
    return "\n\n".join(text for text in texts if text) or None


def _collections(metadata: dict[str, Any]) -> tuple[str, ...]:
    """The collections an item is filed in; a reader's own list of favourites (fav-…) is none."""
    return tuple(slug for slug in strings(metadata.get("collection")) if _ITEM.fullmatch(slug) and not slug.startswith("fav-"))


def _restricted(metadata: dict[str, Any]) -> bool:
    return _true(metadata.get("access-restricted-item")) or bool(_LENDING & set(_collections(metadata)))


def _rights(metadata: dict[str, Any]) -> Rights:
    """Terms as the record states them: its free text, its status of copyright, the address of its licence."""
    status, licence = joined(metadata.get("possible-copyright-status")), first(metadata.get("licenseurl"))
    parts = [_prose(metadata.get("rights")), f"Possible copyright status: {status}" if status else None,
             f"Licence: {licence}" if licence else None]
    statement = "\n".join(part for part in parts if part) or None
    notes = [] if statement else [_NO_TERMS]
    if _restricted(metadata):
        notes.append("The Internet Archive marks this item as restricted: it is lent or opened to some readers only.")
    linked = re.search(r'href="(https?://[^"\s]+)"', joined(metadata.get("rights")) or "")
    return Rights(statement=statement, url=licence or (linked.group(1) if linked else None), covers="this item, as its depositor states it",
                  note=" ".join(notes) or None)


def _copies(item: str, files: list[Any]) -> tuple[tuple[Copy, ...], int]:
    """The files a reader may want, and how many others are the archive's own bookkeeping or unreadable entries."""
    copies = []
    for entry in map(mapping, files):
        name, form = first(entry.get("name")), first(entry.get("format"))
        generated = entry.get("source") == "metadata" or form in _BOOKKEEPING_FORMATS or _true(entry.get("old_version"))
        if name is None or generated or _BOOKKEEPING_NAMES.fullmatch(name):
            continue
        closed = " (private: not open to download)" if _true(entry.get("private")) else ""
        copies.append(Copy(label=name + closed, format=form, size_bytes=amount(entry.get("size")),
                           url=f"{SITE}/download/{quote(item, safe='@')}/{quote(name, errors='replace')}"))
    return tuple(copies), len(files) - len(copies)


def _context(metadata: dict[str, Any]) -> tuple[Related, ...]:
    """Its collections, and the Open Library edition and work that the record names."""
    related = [Related(identifier=f"{KEY}:{slug}", label=slug, kind="collection", source_url=_details(slug)) for slug in _collections(metadata)]
    for key, kind, path in (("openlibrary_edition", "edition", "books"), ("openlibrary_work", "work", "works")):
        related += [Related(identifier=f"openlibrary:{olid}", label=olid, kind=f"{kind} in Open Library",
                            source_url=f"https://openlibrary.org/{path}/{olid}")
                    for olid in strings(metadata.get(key)) if re.fullmatch(r"OL\d+[MW]", olid)]
    return tuple(related)


def _contributors(metadata: dict[str, Any]) -> tuple[Contributor, ...]:
    roles = (("creator", "creator"), ("associated-names", "associated name"), ("contributor", "contributor of the copy"),
             ("sponsor", "sponsor of the digitisation"))
    return tuple(Contributor(name=name, role=role) for key, role in roles for name in strings(metadata.get(key)))


# ---- one scanned document ------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class _Scan:
    """One document of an item. `doc` names its recognised text, None when the record lists none; `leaves` are the leaves
    that the reader shows, in its order, each with its printed number; () when the record does not list them."""

    reference: Reference
    metadata: dict[str, Any]
    dark: bool
    doc: str | None
    bundled: bool
    private: bool
    node: str
    folder: str
    leaves: tuple[tuple[int, str | None], ...]
    confidence: int | None

    @property
    def item(self) -> str:
        return self.reference.local.split("/", 1)[0]

    @property
    def images(self) -> int | None:
        """How many leaves there are: those listed, else the record's count of page images."""
        stated = amount(self.metadata.get("imagecount"))
        return len(self.leaves) or (stated if stated is not None and stated <= LEAVES_MAX else None)

    def shown(self, hidden: int = 0) -> tuple[int, ...]:
        """Leaf numbers in order; without a list, those from the first not hidden to the last image."""
        return tuple(leaf for leaf, _ in self.leaves) or tuple(range(hidden, self.images or 0))

    def described(self) -> PageText:
        """The document as a page without text: title, rights, addresses."""
        return PageText(identifier=self.reference.identifier, title=joined(self.metadata.get("title")), page_count=self.images,
                        source_url=self.address(), item_identifier=f"{KEY}:{self.item}", rights=_rights(self.metadata))

    def address(self, leaf: int | None = None, found: str | None = None) -> str:
        """Of the document or one leaf of it; only a bundle needs its document named."""
        return _details(self.item, self.doc if self.bundled else None, leaf, found)


def _scan(reference: Reference, record: dict[str, Any]) -> _Scan:
    """The document that a reference names in a record.

    Raises:
        InvalidInput: a bundle named without its document, or with one it does not hold; the hint lists up to ten.
        UnreadableAnswer: the record names no data node, or a host this program does not ask.
    """
    files = [mapping(entry) for entry in listing(record.get("files"))]
    held = {name.removesuffix("_djvu.xml"): entry for entry in files if (name := first(entry.get("name")) or "").endswith("_djvu.xml")}
    doc = _named_document(reference, tuple(held))
    numbers = mapping(record.get("page_numbers")) if len(held) == 1 else {}
    leaves = [(leaf, first(entry.get("pageNumber"))) for entry in map(mapping, listing(numbers.get("pages")))
              if (leaf := integer(entry.get("leafNum"))) is not None]
    hosts = [first(record.get("server")) or "", *strings(record.get("workable_servers"))]
    node = next((host for host in hosts if re.fullmatch(_NODE, host)), "")
    folder = first(record.get("dir")) or ""
    if doc is not None and not (node and _FOLDER.fullmatch(folder)):
        raise UnreadableAnswer("The record names no data node of the Internet Archive where its text could be read.", archive=KEY)
    return _Scan(reference=reference, metadata=mapping(record.get("metadata")), dark=_true(record.get("is_dark")), doc=doc,
                 bundled=len(held) > 1, private=doc is not None and _true(held[doc].get("private")), node=node, folder=folder, leaves=tuple(leaves),
                 confidence=integer(numbers.get("confidence")))


def _named_document(reference: Reference, docs: tuple[str, ...]) -> str | None:
    """Which document's text is meant; a file of it (its PDF, its plain text) names it as well. None when no text is held."""
    file = reference.file
    if not docs or (file is None and len(docs) == 1):
        return docs[0] if docs else None
    if file is not None:
        named = [doc for doc in docs if file == doc] or [doc for doc in docs if re.fullmatch(re.escape(doc) + _DERIVED, file)]
        if named:
            return named[0]
    item = reference.local.split("/", 1)[0]
    offered = ", ".join(f"{KEY}:{item}/{_spell_file(doc)}" for doc in docs[:10])
    what = "holds several documents" if file is None else "holds text, but no document of this name"
    raise InvalidInput(f"This item {what}; name the one to read.", archive=KEY,
                       hint=f"Give one of: {offered}" + (f" (the first 10 of {len(docs)})." if len(docs) > 10 else "."))


def _leaf_text(root: Any) -> tuple[int, str]:
    """The leaf that a page of recognised text names, and its text: paragraphs apart, lines as printed; "" for a blank page."""
    named = [param.get("value") or "" for param in root.iter("PARAM") if param.get("name") == "PAGE"]
    leaf = re.search(r"_(\d+)\.djvu$", named[0]) if len(named) == 1 else None
    if leaf is None:
        raise UnreadableAnswer("The page of text does not say which leaf it is.", archive=KEY)
    paragraphs = ("\n".join(" ".join((word.text or "").strip() for word in line.iter("WORD")) for line in paragraph.iter("LINE"))
                  for paragraph in root.iter("PARAGRAPH"))
    return int(leaf.group(1)), "\n\n".join(text for text in paragraphs if text.strip())


class InternetArchive(Archive):
    """Text, catalogue, records, leaves and collections. Its index files under headings of no authority, so it has none."""

    key = KEY
    name = "the Internet Archive"
    lanes = (Lane(key=KEY, hosts=(r"archive\.org", _NODE), spacing_s=1.0,
                  spacing_because="no ceiling is published; other clients found one request a second, one at a time, to be welcome"),)
    answers = ("search_inside", "search_items", "get_item", "read_text", "browse_collections")
    absent_because: ClassVar[Mapping[str, str]] = {
        "search_headings": "The Internet Archive keeps no headings of its own; its subjects are free words of depositors."}
    media_types = ("texts", "movies", "audio", "image", "software", "data", "web")
    native_syntax = "Lucene"
    pages_are = "leaf"
    text = Describes(corpus="the recognised text of scanned and deposited documents of every kind and language",
                     publishes_page_number=False, requires_every_word=True,
                     year_means="the year filed for the item; a document inside a bundle carries the bundle's",
                     total_means="documents whose text matches")
    catalogue = Describes(searches_on="what depositors wrote: titles, names, subjects, descriptions",
                          row_describes="one deposit: a copy, a bundle or a collection", requires_every_word=True,
                          year_means="the year a depositor typed: a work's, an edition's or a guess, without an era; "
                                     "1 January may stand for the year alone",
                          total_means="items that match")
    address_hosts = ("archive.org", "www.archive.org", "web.archive.org", "ia[0-9]*.archive.org", "dn[0-9]*.archive.org")
    unread_fields = ("editions", "place")
    spellings = "archive:journalofexpedit00ford"

    # -- identifiers

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        return f"Internet Archive, https://archive.org, retrieved {retrieved_at[:10]}"

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        return cls._reference([unquote(segment) for segment in local.split("/") if segment])

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        host = (address.hostname or "").lower()
        segments = [unquote(segment) for segment in address.path.split("/") if segment]
        if host == "web.archive.org" or segments[:1] in (["web"], ["wayback"]):
            raise InvalidInput("This address is a capture of a web page, not an item of the Internet Archive.", archive=KEY,
                               hint="Open it in a browser; items have addresses such as https://archive.org/details/….")
        if re.fullmatch(_NODE, host):
            if len(segments) > 2 and segments[0].isdigit() and segments[1] == "items":
                return cls._reference(segments[2:])
        elif len(segments) > 1 and segments[0] == "details":
            return cls._reference(segments[1:] + (address.fragment.split("/") if address.fragment.startswith("page/") else []))
        elif len(segments) > 1 and segments[0] in ("stream", "download"):
            return cls._reference(segments[1:])
        elif len(segments) > 1 and segments[0] in ("metadata", "embed"):
            return cls._reference(segments[1:2])
        raise InvalidInput("This address of the Internet Archive names no item.", archive=KEY,
                           hint="Give an item's address, such as https://archive.org/details/journalofexpedit00ford.")

    @classmethod
    def _reference(cls, segments: list[str]) -> Reference:
        """Item, then the file of a bundle if any, then what the reader was showing."""
        rest = segments[1:]
        end = next((at for at, segment in enumerate(rest) if segment in ("page", "mode", "search")), len(rest))
        file = "/".join(rest[:end]) or None
        parts = (file or "").split("/")
        if not segments or not _ITEM.fullmatch(segments[0]) or (file and (not file.isprintable() or {".", ".."} & set(parts))):
            raise InvalidInput("This is no identifier of the Internet Archive.", archive=KEY,
                               hint="An item's is letters, digits, points, hyphens and underscores: " + cls.spellings + ".")
        local = segments[0] + (f"/{_spell_file(file)}" if file else "")
        label = rest[rest.index("page") + 1] if "page" in rest[:-1] else None
        leaf = re.fullmatch(r"leaf(\d{1,6})", label, re.ASCII) if label else None
        read_as = None
        if label and leaf is None:
            read_as = (f"read as {KEY}:{local}; the page {label[:20]!r} of the address counts the pages that the reader shows, or is a "
                       "printed number, and is no leaf; it was left aside. Give the leaf as page.")
        return Reference(source=KEY, local=local, page=int(leaf.group(1)) if leaf else None, file=file, read_as=read_as)

    # -- searching the text

    @classmethod
    def plan_text(cls, query: Query) -> Plan:
        dropped = [(name, "its text index has no documented filter of this kind") for name in query.fields if name not in IDENTIFYING]
        if query.publication:
            dropped.append(("publication", "its text index has no documented filter of this kind"))
        refused = next((name for name in query.fields if name in IDENTIFYING), None)
        absent = f"Its text index cannot be searched by {refused}." if refused else None
        if not spelled(query.words):
            absent = "No word was left that its text index can search for."
        sent = _bounds(query, f"filter_map={_year_filter(query)}")
        if query.facets:
            sent += (("facets", "aggregations=year"),)
        return Plan(sent=sent, dropped=tuple(dropped), absent_because=absent)

    def search_text(self, query: Query) -> Page:
        sent = spelled(query.words)
        params = {"service_backend": "fts", "user_query": sent}
        if year := _year_filter(query):
            params["filter_map"] = year
        return self._page_production(query, params, ("year",), "documents", lambda hit: self._match(hit, query, sent),
                                     _spelling_note(query, sent))

    def _page_production(self, query: Query, params: dict[str, str], counted: tuple[str, ...], counts_what: str,
                         read: Callable[[Any], Any], notes: tuple[str, ...]) -> Page:
        """One page of the route that serves text and catalogue, with counts by field when they are asked."""
        if query.page * query.rows > CEILING:
            return Page(beyond=_PAST_CEILING)
        params |= {"hits_per_page": str(query.rows), "page": str(query.page), "aggregations": "false"}
        if query.facets:
            params |= {"aggregations": ",".join(counted), "aggregations_size": str(FACET_VALUES)}
        try:
            reply = self._searched(TEXT_URL, params)
        except _OutOfRange:
            return Page(beyond=_PAST_CEILING)
        body = mapping(mapping(mapping(reply.value).get("response")).get("body"))
        hits = mapping(body.get("hits"))
        if not isinstance(hits.get("hits"), list):
            raise UnreadableAnswer("The Internet Archive's search answered in another shape.", archive=KEY)
        return _page(hits["hits"], read, total=hits.get("total"), per_page=query.rows, page=query.page,
                     facets=_facets(body.get("aggregations"), counted, counts_what), notes=notes)

    def _searched(self, url: str, params: Params) -> Reply:
        """The answer of a search route. One that is gone (404) is a failure, not an absence, and not asked again."""
        reply = self.ask.get_json(url, params, statuses=(200, 400, 404, 422), check_text=_check_search_text, check=_check_search)
        if reply.status == 404:
            raise ArchiveUnreachable("The Internet Archive has no search at its usual address (status 404).", archive=KEY, status=404)
        return reply

    @staticmethod
    def _match(hit: Any, query: Query, sent: str) -> TextMatch | None:
        """One hit. `page_num` is left out: it is no page of the match but a number of the whole document, mostly 1."""
        fields = mapping(mapping(hit).get("fields"))
        item, file = first(fields.get("identifier")), first(fields.get("file_basename"))
        if item is None or not _ITEM.fullmatch(item):
            return None
        inside = None if fields.get("result_in_subfile") is None else _true(fields["result_in_subfile"])
        document = file if inside and file and file.isprintable() and not {".", ".."} & set(file.split("/")) else None
        marked = strings(mapping(mapping(hit).get("highlight")).get("text"))[:query.excerpts_per_record]
        excerpts = tuple(window(*_unmarked(text), query.excerpt_chars) for text in marked)
        year = _year(fields.get("year"), first(fields.get("date")))
        return TextMatch(
            identifier=f"{KEY}:{item}" + (f"/{_spell_file(document)}" if document else ""), title=joined(fields.get("title")),
            creator=joined(fields.get("creator")), year=year, excerpts=excerpts, excerpt_kind="passage" if excerpts else None,
            source_url=_details(item, document, found=sent), matched_file=file, inside_container=inside,
            span=None if year is None else (f"{year}-01-01", f"{year}-12-31"))

    # -- searching the catalogue

    @classmethod
    def plan_catalogue(cls, query: Query) -> Plan:
        if absent := _absence(query):
            return Plan(absent_because=absent, media_type_asked=query.media_type)
        clauses = dict(_clauses(query))
        sent = [(name, clauses[name]) for name in query.fields if name in clauses]
        sent += _bounds(query, clauses.get("year", ""))
        dropped = [(name, "no search field of its catalogue holds this" if name == "place" else "no word of it could be sent")
                   for name in query.fields if name not in clauses]
        field, way = _SORTS.get(query.sort, (None, None))
        if field:
            sent.append(("sort", f"{field} {way}"))
        elif query.sort != "relevance":
            dropped.append(("sort", f"its catalogue has no order by {query.sort}"))
        if query.facets:
            sent.append(("facets", "aggregations=" + ",".join(_FACETS)))
        if query.availability:
            dropped.append(("availability", "its catalogue does not say who may borrow what; get_item shows what a record states"))
        return Plan(sent=tuple(sent), dropped=tuple(dropped), media_type_asked=query.media_type, ordered_on=field and f"{field} {way}")

    def search_catalogue(self, query: Query) -> Page:
        """By the older, plainer route; by the one that also counts when counts are asked."""
        lucene = " AND ".join(clause for _, clause in _clauses(query))
        notes = _spelling_note(query, spelled(query.words))
        field, way = _SORTS.get(query.sort, (None, None))
        if not query.facets:
            return self._advanced(lucene, _ROW_FIELDS, f"{field} {way}" if field else None, query.rows, query.page, _record, notes)
        params = {"service_backend": "metadata", "user_query": lucene, "fields": ",".join(_ROW_FIELDS)}
        if field:
            params["sort"] = f"{field}:{way}"
        return self._page_production(query, params, _FACETS, "items", lambda hit: _record(mapping(hit).get("fields")), notes)

    def _advanced(self, lucene: str, fields: tuple[str, ...], sort: str | None, rows: int, page: int, read: Callable[[Any], Any],
                  notes: tuple[str, ...]) -> Page:
        """One page of advancedsearch.php; without output=json it would answer a web page, with callback a script."""
        if page * rows > CEILING:
            return Page(beyond=_PAST_CEILING)
        params = [("q", lucene), *(("fl[]", name) for name in fields), *([("sort[]", sort)] if sort else []), ("rows", str(rows)),
                  ("page", str(page)), ("output", "json")]
        try:
            reply = self._searched(CATALOGUE_URL, params)
        except _OutOfRange:
            return Page(beyond=_PAST_CEILING)
        response = mapping(mapping(reply.value).get("response"))
        if not isinstance(response.get("docs"), list):
            raise UnreadableAnswer("The Internet Archive's catalogue answered in another shape.", archive=KEY)
        return _page(response["docs"], read, total=response.get("numFound"), per_page=rows, page=page, notes=notes)

    def browse_collections(self, query: str | None, rows: int, page: int) -> Page:
        """Collections whose record holds the words; without words all of them, most downloaded first."""
        sent = spelled(query or "")
        if query and not sent:
            raise InvalidInput("query: no word of it can be searched for in the Internet Archive's catalogue.", archive=KEY)
        lucene = f"({sent}) AND mediatype:collection" if sent else "mediatype:collection"
        notes = ("Its counts of items are approximate.",) + (() if sent else ("Its collections are in the order of their downloads.",))
        return self._advanced(lucene, ("identifier", "title", "item_count", "description"), None if sent else "downloads desc", rows, page,
                              _collection, notes)

    # -- reading

    def _metadata(self, reference: Reference) -> dict[str, Any]:
        item = reference.local.split("/", 1)[0]
        reply = self.ask.get_json(f"{SITE}/metadata/{quote(item, safe='@')}", check=_check_metadata)
        return mapping(reply.value)

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        record = self._metadata(reference)
        item, metadata = reference.local.split("/", 1)[0], mapping(record.get("metadata"))
        copies, generated = _copies(item, listing(record.get("files")))
        date, creators = first(metadata.get("date")), strings(metadata.get("creator"))
        numbers = {name: strings(metadata.get(key)) for name, key in
                   (("isbn", "isbn"), ("issn", "issn"), ("lccn", "lccn"), ("oclc", "oclc-id"), ("ark", "identifier-ark"))}
        images = amount(metadata.get("imagecount"))
        found = Item(
            identifier=f"{KEY}:{item}", title=joined(metadata.get("title")), creator="; ".join(creators) or None, creators=creators,
            year=_year(metadata.get("year"), date), year_means=self.catalogue.year_means, date=date,
            media_type=first(metadata.get("mediatype")), source_url=_details(item), description=_prose(metadata.get("description")),
            notes=_record_notes(record), rights=_rights(metadata), copies=copies, copies_available=len(copies), generated_entries=generated,
            subjects=tuple(dict.fromkeys(part for text in strings(metadata.get("subject")) for part in strings(text.split(";")))),
            context=_context(metadata), contributors=_contributors(metadata), language=strings(metadata.get("language")),
            publisher=joined(metadata.get("publisher")), call_number=joined(metadata.get("call_number")),
            extent=f"{images} page images" if images else None, standard_numbers={name: got for name, got in numbers.items() if got})
        remarks = (f"The whole record was read; {reference.file!r} is one document in it.",) if reference.file else ()
        if not wanted.wants("pages"):
            return ItemPage(item=found, notes=remarks)
        return self._with_pages(found, reference, record, wanted, remarks)

    @staticmethod
    def _with_pages(found: Item, reference: Reference, record: dict[str, Any], wanted: ItemQuery, remarks: tuple[str, ...]) -> ItemPage:
        """The leaves asked for, from the record alone; whether a leaf holds text is not known before it is read."""
        try:
            scan = _scan(reference, record)
        except InvalidInput as several:
            return ItemPage(item=found, notes=(*remarks, f"Its pages are not listed: {several.message} {several.hint}"))
        leaves = scan.leaves or tuple((leaf, None) for leaf in scan.shown())
        pages = tuple(PageEntry(page_number=leaf, page_number_is="leaf", printed_page=printed, source_url=scan.address(leaf),
                                text_held=False if scan.doc is None else None)
                      for leaf, printed in leaves[wanted.list_offset:wanted.list_offset + wanted.list_limit])
        if not leaves:
            remarks += ("The record does not say how many leaves this item has.",)
        elif scan.leaves:
            remarks += (_printed_note(scan),)
        else:
            remarks += ("Leaves are counted from the record's number of page images; the reader may hide some, such as a colour card.",)
        return ItemPage(item=replace(found, pages=pages), list_total=len(leaves) or None, notes=remarks)

    def read_page(self, reference: Reference, page: int) -> PageText:
        """The text of one leaf, by the data node's one-page route; the whole book's text can pass 10 MB.

        Raises:
            RecordNotFound: the record lists its leaves, or counts them, and this is none of them.
            UnreadableAnswer: the route answered with another leaf twice.
        """
        scan = _scan(reference, self._metadata(reference))
        described = replace(scan.described(), page_number=page, page_number_is="leaf", source_url=scan.address(page))
        if refusal := _text_refused(scan):
            return replace(described, text_refused=refusal)
        shown = scan.shown()
        if shown and page not in shown:
            raise RecordNotFound(f"Leaf {page} is not among the {len(shown)} leaves of this document.", archive=KEY,
                                 hint=f"Its leaves run from {shown[0]} to {shown[-1]}.")
        if scan.doc is None:
            return replace(described, ocr_available=False, notes=("The record lists no recognised text; there are images or files only.",))
        # The route counts the pages that the reader shows. Where the record lists them, a leaf's place is known; else one
        # hidden leaf, the colour card in front, is supposed, and the difference to the leaf that came corrected once.
        index = [leaf for leaf, _ in scan.leaves].index(page) if scan.leaves else max(0, page - 1)
        leaf, text = self._leaf(scan, index)
        if leaf is not None and leaf != page:
            index += page - leaf
            if index < 0:
                raise RecordNotFound(f"Leaf {page} is hidden: the reader's first page is leaf {page - index}.", archive=KEY)
            leaf, text = self._leaf(scan, index)
        if leaf is None:
            return replace(described, text_refused="The Internet Archive holds this text but does not open it to anonymous readers; "
                                                   "open the page at its address.")
        if leaf != page:
            raise UnreadableAnswer(f"The text route answered with leaf {leaf} where leaf {page} was asked.", archive=KEY)
        before, after = _neighbours(page, scan.shown(max(0, page - index)))
        printed = dict(scan.leaves).get(page)
        notes = (f"Read as reader page {index} by the data node's one-page route (BookReaderGetTextWrapper); the answer names leaf {leaf}.",)
        return replace(described, text=text, printed_page=printed, previous_page=before, next_page=after,
                       notes=notes + ((_printed_note(scan),) if printed else ()))

    def _leaf(self, scan: _Scan, index: int) -> tuple[int | None, str]:
        """One page by its place in the reader: the leaf it names and its text; no leaf when the text is not open."""
        params = {"path": f"{scan.folder}/{scan.doc}_djvu.xml", "mode": "djvu_xml", "page": str(index)}
        reply = self.ask.get_xml(f"https://{scan.node}/BookReader/BookReaderGetTextWrapper.php", params, statuses=(200, 401, 403, 404))
        if reply.status == 404:
            raise ArchiveUnreachable("The data node does not serve the page text that the record lists.", archive=KEY, status=404)
        return (None, "") if reply.status != 200 else _leaf_text(reply.value)

    def search_record(self, reference: Reference, words: str, max_passages: int) -> Passages:
        """Paragraphs of one document that hold the words. Words outside quotation marks are matched each for itself."""
        scan = _scan(reference, self._metadata(reference))
        described = scan.described()
        if refusal := _text_refused(scan):
            return Passages(page=replace(described, text_refused=refusal))
        if scan.doc is None:
            return Passages(page=replace(described, ocr_available=False), notes=("The record lists no recognised text to search in.",))
        params = {"item_id": scan.item, "doc": scan.doc, "path": scan.folder, "q": words}
        refused = replace(described, text_refused="The Internet Archive holds this text but does not let anonymous readers search it; "
                                                  "open the item at its address.")
        try:
            reply = self.ask.get_json(f"https://{scan.node}/fulltext/inside.php", params, statuses=(200, 401, 403, 404),
                                      check_text=_check_inside_text, check=_check_inside)
        except _NotOpen:
            return Passages(page=refused)
        if reply.status == 404 and not _restricted(scan.metadata):
            raise ArchiveUnreachable("The data node has no search inside this item.", archive=KEY, status=404)
        if reply.status != 200:
            return Passages(page=refused)
        if mapping(reply.value).get("indexed") is False:
            return Passages(page=described, notes=("The Internet Archive has not indexed this document's text, so it could not be searched.",))
        matches = reply.value["matches"]
        read = [passage for match in matches if (passage := _passage(scan, match, words)) is not None]
        if matches and not read:
            raise UnreadableAnswer(f"None of the {len(matches)} matches inside this item could be read.", archive=KEY)
        notes: tuple[str, ...] = ("Matches are counted by paragraph, and pages are leaves.",)
        if len(spelled(words).split()) > 1 and not re.fullmatch(r'"[^"]*"', words.strip()):
            notes += ("Words outside quotation marks are matched each for itself; quote a phrase to keep them together.",)
        if len(read) < len(matches):
            notes += (f"{len(matches) - len(read)} of {len(matches)} matches could not be read.",)
        return Passages(page=described, passages=tuple(read[:max_passages]), match_count=len(matches), notes=notes)


def _passage(scan: _Scan, match: Any, found: str) -> Passage | None:
    """Some 300 characters either side of the first mark; the leaf is that of the paragraph, else of its first box."""
    text = first(mapping(match).get("text"))
    if text is None:
        return None
    paragraph = mapping(next(iter(listing(mapping(match).get("par"))), None))
    leaf = integer(paragraph.get("page"))
    if leaf is None:
        leaf = next((page for box in listing(paragraph.get("boxes")) if (page := integer(mapping(box).get("page"))) is not None), None)
    return Passage(page_number=leaf, text=window(*_unmarked(text), PASSAGE_CHARS), source_url=scan.address(leaf, found))


def _text_refused(scan: _Scan) -> str | None:
    """Why the record itself says that its text is closed."""
    if scan.dark:
        return "The Internet Archive has withdrawn this item; it exists, and nothing of it is open."
    return "The record marks this text as private: held, and not open to anonymous readers. Open it at its address." if scan.private else None


def _neighbours(leaf: int, shown: tuple[int, ...]) -> tuple[int | None, int | None]:
    """The leaves before and after one, as far as the record says which there are."""
    return max((other for other in shown if other < leaf), default=None), min((other for other in shown if other > leaf), default=None)


def _printed_note(scan: _Scan) -> str:
    sure = "" if scan.confidence is None else f", with a confidence of {scan.confidence} in 100"
    return f"Printed page numbers are read by the Internet Archive's software{sure}."


def _record_notes(record: dict[str, Any]) -> tuple[str, ...]:
    """What must be known of a record before its parts are read: withdrawn, a collection, not offered."""
    files = [mapping(entry) for entry in listing(record.get("files"))]
    private = sum(_true(entry.get("private")) for entry in files)
    said = ((_true(record.get("is_dark")), "This item exists, and the Internet Archive has withdrawn it: its record and files are not shown."),
            (_true(record.get("is_collection")), "This is a collection; its files are those of its own record, not its members'."),
            (_true(record.get("nodownload")), "The Internet Archive does not offer the files of this item for download."),
            (private > 0, f"{private} of its files are private: listed, and not open to download."))
    return tuple(sentence for holds, sentence in said if holds)
