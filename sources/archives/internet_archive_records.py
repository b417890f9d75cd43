"""How the Internet Archive writes refusals, rows, records and leaves, and how each becomes a value
here. Pure functions.

A field is text in one record, a list in the next, a number, null or absent in others; every reader
here takes all of them.

Sources: "Item Metadata API: Read", "Internet Archive Metadata", the Archive's own search client and
BookReader, and what was recorded (facts of 2026-11).
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, quote_plus

from ..contract import (
    Collection,
    Contributor,
    Copy,
    Facet,
    FacetValue,
    Item,
    PageText,
    Passage,
    Passages,
    Query,
    Record,
    Reference,
    Related,
    Reply,
    Rights,
    TextMatch,
)
from ..errors import ArchiveUnreachable, InvalidInput, RecordNotFound, UnreadableAnswer
from ..text import (
    ELLIPSIS,
    Excerpt,
    Spans,
    amount,
    first,
    integer,
    joined,
    listing,
    mapping,
    plain,
    strings,
    window,
    words,
)
from .dates import shown_date, year_of
from .fields import decoded, line, texts
from .imprints import read_imprint
from .page_xml import MENDED, read_page_xml

KEY = "archive"
SITE = "https://archive.org"
IMAGES = "https://iiif.archive.org/image/iiif/3"  # handed out for a person to open, never asked
CEILING = 10_000  # page x rows beyond this is refused with RANGE_OUT_OF_BOUNDS, on both searches
PAST_CEILING = (
    f"Only the first {CEILING:,} rows of a search are ever served; narrow the question instead."
)
SEARCH_CLOSED = (
    "The Internet Archive holds this text but does not let anonymous readers search it; "
    "open the item at its address."
)
LEAVES_MAX = 100_000  # a record that states more images than any scan has states none
PASSAGE_CHARS = 600  # about 300 either side of a match (DESIGN, read_text)

# a data node, as metadata names it: ia601302.us.archive.org
NODE = r"(?:ia|dn)[0-9]+\.[a-z]{2}\.archive\.org"
ITEM = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FOLDER = re.compile(rf"/[0-9]+/items/{ITEM.pattern}")
_MARK = re.compile(r"\{\{\{|\}\}\}|</?IA_FTS_MATCH>")
_OPENING = {"{{{", "<IA_FTS_MATCH>"}
_UPSTREAM = re.compile(
    r"\[[A-Z_]*ERROR\]|HTTP 5\d\d|backend|elasticsearch|encountered an exception|did not respond"
    r"|(?:request|query|call) failed",
    re.IGNORECASE,
)
_LENDING = {"inlibrary", "printdisabled"}
# formats, and one name, of files that the archive makes for itself or for programs
_BOOKKEEPING = {
    "Metadata", "Metadata Log", "Dublin Core", "MARC", "MARC Binary", "MARC Source", "Scandata",
    "Checksums", "Log", "Cloth Cover Detection Log", "Archive BitTorrent", "Item Tile",
    "JPEG Thumb", "Thumbnail", "Animated GIF", "__ia_thumb.jpg", "Page Numbers JSON",
    "OCR Page Index", "OCR Search Text", "Abbyy GZ", "hOCR", "chOCR", "Djvu XML",
    "Flac FingerPrint", "Columbia Peaks", "Essentia High GZ", "Essentia Low GZ", "Spectrogram"}
_PAGED = {"texts", "image", "collection"}  # media types that may have pages
_DJVU = "_djvu.xml"  # behind the name of a document, the file of its recognised text
# "…_djvu.txt", "….pdf"
_DERIVED = r"_(?:djvu|hocr|chocr|abbyy|text|bw|jp2|orig_jp2|page_numbers|scandata)[\w.]*|\.\w{1,5}"
_NUMBERS = (("isbn", "isbn"), ("issn", "issn"), ("lccn", "lccn"), ("oclc", "oclc-id"),
            ("ark", "identifier-ark"))
_ROLES = (("creator", "creator"), ("associated-names", "associated name"),
          ("contributor", "contributor of the copy"), ("sponsor", "sponsor of the digitisation"))


# ---- refusals, told before an answer is kept -----------------------------------------------------

class Told(InvalidInput):
    """What the archive says in place of an answer, and is no failure: a page never served, a text
    not open."""


def check_search(reply: Reply) -> None:
    """Tell the three outcomes of a refused search apart by wording, since both statuses 200 and 400
    carry all three.

    A stated objection, and a 422, are the caller's to mend; a backend's complaint, or a 400 that
    gives no reason, is the archive's.
    """
    reason, failed = _objection(reply)
    if reply.status == 404 or (reply.status == 200 and not reason and not failed):
        return
    if "RANGE_OUT_OF_BOUNDS" in reason:
        raise Told(PAST_CEILING, archive=KEY, status=reply.status)
    if (not reason and reply.status != 422) or _UPSTREAM.search(reason):
        said = f" It said: {reason}" if reason else " It gave no reason."
        raise ArchiveUnreachable(
            f"The Internet Archive could not search.{said}", archive=KEY, status=reply.status
        )
    raise InvalidInput(
        f"The Internet Archive refuses this query: {reason or 'it gives no reason.'}",
        archive=KEY,
        status=reply.status,
        hint="Change the query: plainer words, and quotation marks in pairs.",
    )


def _objection(reply: Reply) -> tuple[str, bool]:
    """The reason a search answer states, wherever it states it, "" for none; and whether it says
    that it failed."""
    answer = mapping(reply.value)
    response = mapping(answer.get("response"))
    header = mapping(response.get("header"))
    blocks = [
        holder.get(key) for holder in (answer, response, header) for key in ("error", "errors")
    ]
    if (isinstance(reply.value, str) and reply.status != 200
        and not reply.value.lstrip().startswith("<")):
        blocks.append(reply.value)
    entries = [
        entry for block in blocks for entry in (block if isinstance(block, list) else [block])
    ]
    messages = [entry.get("message") if isinstance(entry, dict) else entry for entry in entries]
    return (joined(messages, " ") or "")[:300], header.get("succeeded") is False


def check_search_text(reply: Reply) -> None:
    """A page out of range arrives as bare text under a JSON content type, with status 200."""
    if reply.value.lstrip().startswith("[RANGE_OUT_OF_BOUNDS]"):
        raise Told(PAST_CEILING, archive=KEY)


def check_metadata(reply: Reply) -> None:
    """An empty object is the archive's "no such item"; an error is a failure, and a withdrawn item
    exists."""
    if not isinstance(reply.value, dict):
        raise UnreadableAnswer("The Internet Archive's record is of another shape.", archive=KEY)
    if not reply.value:
        raise RecordNotFound(
            "The Internet Archive holds no item of this identifier.",
            archive=KEY,
            hint="Identifiers match case exactly; find the item with search_items.",
        )
    if reply.value.get("error"):
        said = (joined(reply.value["error"]) or "")[:300]
        raise ArchiveUnreachable(
            f"The Internet Archive could not read the record: {said}", archive=KEY
        )
    if not isinstance(reply.value.get("metadata"), dict) and not _true(reply.value.get("is_dark")):
        raise UnreadableAnswer("The Internet Archive's record holds no metadata.", archive=KEY)


def check_inside_text(reply: Reply) -> None:
    if "item not available" in reply.value[:200].lower():
        raise Told(SEARCH_CLOSED, archive=KEY)


def check_inside(reply: Reply) -> None:
    """The error stands beside an empty list of matches, so it is read first."""
    if reply.status != 200:
        return
    answer = mapping(reply.value)
    if first(answer.get("error")):
        raise ArchiveUnreachable(
            "The Internet Archive could not search inside this item; its service reported an "
            "error.",
            archive=KEY,
        )
    if answer.get("indexed") is not False and not isinstance(answer.get("matches"), list):
        raise UnreadableAnswer(
            "The Internet Archive's search inside this item answered in another shape.", archive=KEY
        )


# ---- names, years, addresses ---------------------------------------------------------------------

def item_of(reference: Reference) -> str:
    return reference.local.partition("/")[0]


def is_file(name: str) -> bool:
    """Whether a file's name may stand in an address: nothing hidden in it, and no climbing."""
    return name.isprintable() and not {".", ".."} & set(name.split("/"))


def spell_file(file: str) -> str:
    """A file's name as it stands in an identifier: letters of any script stay, what none may hold
    is percent-encoded."""
    return re.sub(
        r"[^\w.,;!'()+@&=~$/-]", lambda found: quote(found.group(), safe="", errors="replace"), file
    )


def _details(item: str, file: str | None = None) -> str:
    """The address a person opens: the item, or one document of a bundle."""
    return f"{SITE}/details/{quote(item, safe='@')}" + (
        f"/{quote(file, errors='replace')}" if file else ""
    )


def _marking(found: str) -> str:
    """What an address ends with for the reader to mark some words."""
    return f"?q={quote_plus(found, errors='replace')}"


def _true(value: Any) -> bool:
    return value is True or (first(value) or "").lower() == "true"


def _named(fields: Mapping[str, Any]) -> str | None:
    """The item that a row names; None when get_item could not read it."""
    item = first(fields.get("identifier"))
    return item if item and ITEM.fullmatch(item) else None


def _year(fields: Mapping[str, Any]) -> int | None:
    """The year stated, else its date's. A year that the archive cut from the date is as doubtful as
    the date is: 1784 of "1784 [i.e. 1874]"."""
    stated, date = first(fields.get("year")), first(fields.get("date"))
    return year_of(date if date and date.startswith(stated or "") else stated)


def _span(year: int | None) -> tuple[str, str] | None:
    return None if year is None else (f"{year}-01-01", f"{year}-12-31")


def _prose(value: Any) -> str | None:
    """A description, HTML or plain, one text or a list of them, as plain text with its
    paragraphs."""
    texts = (plain(entry) for entry in (value if isinstance(value, list) else [value])
             if isinstance(entry, str))
    return "\n\n".join(text for text in texts if text) or None


def _unmark(marked: str) -> tuple[str, Spans]:
    """The text without either style of marks, and where the words between an opening and a closing
    one stand in it."""
    text, begin = "", None
    at: list[tuple[int, int]] = []
    for piece in re.split(f"({_MARK.pattern})", marked):
        if not _MARK.fullmatch(piece):
            text += decoded(piece)
            continue
        if begin is not None and begin < len(text):
            at.append((begin, len(text)))
        begin = len(text) if piece in _OPENING else None
    return text, tuple(at)


def _excerpt(marked: str, max_chars: int) -> Excerpt:
    """The text around its first mark, with the marked words that are whole in it."""
    text, at = _unmark(marked)
    around = at[0][0] if at else 0
    cut = window(text, around, max_chars)
    body = cut.strip(ELLIPSIS)
    begin = text.index(body, max(0, around - max_chars))
    shift = cut.index(body) - begin
    whole = tuple((start + shift, end + shift) for start, end in at
                  if start >= begin and end <= begin + len(body))
    return Excerpt(text=cut, at=whole, kind="passage")


# ---- rows of a search ----------------------------------------------------------------------------

def rows_in(answer: Any) -> tuple[list[Any], int | None]:
    """The rows of either search, unread, and how many match in all."""
    response = mapping(mapping(answer).get("response"))
    hits = mapping(mapping(response.get("body")).get("hits"))
    found, total = (response.get("docs", hits.get("hits")),
                    response.get("numFound", hits.get("total")))
    if not isinstance(found, list):
        raise UnreadableAnswer(
            "The Internet Archive's search answered in another shape.", archive=KEY
        )
    return found, amount(total.get("value") if isinstance(total, dict) else total)


def read_facets(answer: Any, counts_what: str) -> tuple[Facet, ...]:
    """Terms and counts by field; years may come as a histogram instead, bare counts from
    `first_bucket_key` on."""
    found = []
    body = mapping(mapping(mapping(answer).get("response")).get("body"))
    for name, block in mapping(body.get("aggregations")).items():
        values = tuple(FacetValue(value=term, count=count)
                       for term, stated in _counted(mapping(block))
                       if term and (count := amount(stated)))
        if values:
            found.append(
                Facet(field=name.removesuffix("_histogram"), counts_what=counts_what, values=values)
            )
    return tuple(found)


def _counted(block: Mapping[str, Any]) -> list[tuple[str | None, Any]]:
    """Each term of one field with its count as stated; a stretch of years is "1850-1859"."""
    buckets, begin = listing(block.get("buckets")), integer(block.get("first_bucket_key"))
    if begin is None:
        return [
            (first(bucket.get("key")), bucket.get("doc_count")) for bucket in map(mapping, buckets)
        ]
    step = integer(block.get("interval")) or 1
    years = range(begin, begin + step * len(buckets), step)
    return [(str(at) if step == 1 else f"{at}-{at + step - 1}", count)
            for at, count in zip(years, buckets, strict=True)]


def read_match(query: Query, sent: str, hit: Any) -> TextMatch | None:
    """One hit. `page_num` is left out: it is no page of the match but a number of the whole
    document, mostly 1."""
    fields = mapping(mapping(hit).get("fields"))
    item, file, year = _named(fields), first(fields.get("file_basename")), _year(fields)
    if item is None:
        return None
    inside = None if fields.get("result_in_subfile") is None else _true(fields["result_in_subfile"])
    document = file if inside and file and is_file(file) else None
    excerpts = _excerpts(query, hit)
    return TextMatch(
        identifier=_identifier(item, document),
        title=line(fields.get("title")),
        creator=line(fields.get("creator")),
        year=year,
        span=_span(year),
        excerpts=excerpts,
        excerpt_kind="passage" if excerpts else None,
        matched_file=file,
        inside_container=inside,
        source_url=_details(item, document) + _marking(sent))


def _identifier(item: str, document: str | None) -> str:
    return f"{KEY}:{item}" + (f"/{spell_file(document)}" if document else "")


def _excerpts(query: Query, hit: Any) -> tuple[Excerpt, ...]:
    marked = strings(mapping(mapping(hit).get("highlight")).get("text"))[:query.excerpts_per_record]
    return tuple(_excerpt(text, query.excerpt_chars) for text in marked)


def read_row(row: Any) -> Record | None:
    """One row of the catalogue, whose fields stand in `fields` on the route that also counts."""
    fields = mapping(mapping(row).get("fields", row))
    item, date, year = _named(fields), first(fields.get("date")), _year(fields)
    if item is None:
        return None
    return Record(identifier=f"{KEY}:{item}", title=line(fields.get("title")),
                  creator=line(fields.get("creator")), year=year, span=_span(year),
                  date=shown_date(date),
                  media_type=first(fields.get("mediatype")), source_url=_details(item),
                  downloads=amount(fields.get("downloads")),
                  languages=strings(fields.get("language")),
                  publishers=read_imprint(*texts(fields.get("publisher"))).publishers)


def read_collection(row: Any) -> Collection | None:
    fields = mapping(row)
    slug = _named(fields)
    if slug is None:
        return None
    return Collection(slug=f"{KEY}:{slug}", title=line(fields.get("title")),
                      description=_prose(fields.get("description")),
                      item_count=amount(fields.get("item_count")), source_url=_details(slug))


# ---- records -------------------------------------------------------------------------------------

def read_item(item: str, record: Mapping[str, Any], year_means: str | None) -> Item:
    """A record whole, but for its leaves."""
    metadata = mapping(record.get("metadata"))
    copies, generated = _copies(item, listing(record.get("files")))
    return replace(_described(item, metadata), year_means=year_means, notes=_record_notes(record),
                   rights=_rights(metadata), context=_context(metadata), copies=copies,
                   copies_available=len(copies), generated_entries=generated)


def _described(item: str, metadata: Mapping[str, Any]) -> Item:
    """What the depositor wrote of an item."""
    of = metadata.get
    creators = texts(of("creator"))
    imprint = read_imprint(*texts(of("publisher")))
    return Item(identifier=f"{KEY}:{item}", source_url=_details(item), title=line(of("title")),
                creator=joined(creators), creators=creators, media_type=first(of("mediatype")),
                year=_year(metadata), date=shown_date(first(of("date"))) or imprint.date,
                description=_prose(of("description")), subjects=_subjects(metadata),
                contributors=_contributors(metadata), language=strings(of("language")),
                publisher=joined(imprint.publishers), place=joined(imprint.places),
                call_number=line(of("call_number")), standard_numbers=_numbers(metadata),
                extent=_extent(amount(of("imagecount"))))


def _numbers(metadata: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The standard numbers that a record states, by kind."""
    return {name: got for name, key in _NUMBERS if (got := strings(metadata.get(key)))}


def _extent(images: int | None) -> str | None:
    return f"{images} page images" if images else None


def _subjects(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Each subject once; a depositor may have written several into one text."""
    return tuple(dict.fromkeys(part for text in texts(metadata.get("subject"))
                               for part in strings(text.split(";"))))


def _contributors(metadata: Mapping[str, Any]) -> tuple[Contributor, ...]:
    return tuple(Contributor(name=name, role=role) for key, role in _ROLES
                 for name in texts(metadata.get(key)))


def _record_notes(record: Mapping[str, Any]) -> tuple[str, ...]:
    """What must be known of a record before its parts are read: withdrawn, a collection, not
    offered."""
    private = sum(_true(mapping(entry).get("private")) for entry in listing(record.get("files")))
    said = ((_true(record.get("is_dark")),
             "This item exists, and the Internet Archive has withdrawn it: its record and files "
             "are not shown."),
            (_true(record.get("is_collection")),
             "This is a collection; its files are those of its own record, not its members'."),
            (_true(record.get("nodownload")),
             "The Internet Archive does not offer the files of this item for download."),
            (private > 0, f"{private} of its files are private: listed, and not open to download."))
    return tuple(sentence for holds, sentence in said if holds)


def _collections(metadata: Mapping[str, Any]) -> list[str]:
    """The collections an item is filed in; a reader's own list of favourites (fav-…) is none."""
    return [slug for slug in strings(metadata.get("collection"))
            if ITEM.fullmatch(slug) and not slug.startswith("fav-")]


def restricted(metadata: Mapping[str, Any]) -> bool:
    return _true(metadata.get("access-restricted-item")) or not _LENDING.isdisjoint(
        _collections(metadata)
    )


def _rights(metadata: Mapping[str, Any]) -> Rights:
    """Terms as the record states them: its free text, its status of copyright, the address of its
    licence."""
    status, licence = (joined(metadata.get("possible-copyright-status")),
                       first(metadata.get("licenseurl")))
    parts = (_prose(metadata.get("rights")), status and f"Possible copyright status: {status}",
             licence and f"Licence: {licence}")
    statement = "\n".join(part for part in parts if part) or None
    notes = [] if statement else ["The record states no terms of reuse; silence grants nothing."]
    if restricted(metadata):
        notes.append(
            "The Internet Archive marks this item as restricted: it is lent or opened to some "
            "readers only."
        )
    linked = re.search(r'href="(https?://[^"\s]+)"', joined(metadata.get("rights")) or "")
    return Rights(statement=statement, url=licence or (linked[1] if linked else None),
                  note=" ".join(notes) or None, covers="this item, as its depositor states it")


def _copies(item: str, files: list[Any]) -> tuple[tuple[Copy, ...], int]:
    """The files a reader may want, and how many others are the archive's own bookkeeping or
    unreadable entries."""
    copies = []
    for entry in map(mapping, files):
        name, form = first(entry.get("name")), first(entry.get("format"))
        own = (not _BOOKKEEPING.isdisjoint((name, form)) or entry.get("source") == "metadata"
               or _true(entry.get("old_version")))
        if name is None or own:
            continue
        closed = " (private: not open to download)" if _true(entry.get("private")) else ""
        copies.append(
            Copy(label=name + closed, format=form, size_bytes=amount(entry.get("size")),
                 url=f"{SITE}/download/{quote(item, safe='@')}/{quote(name, errors='replace')}")
        )
    return tuple(copies), len(files) - len(copies)


def _context(metadata: Mapping[str, Any]) -> tuple[Related, ...]:
    """Its collections, and the Open Library edition and work that the record names."""
    named = [(KEY, slug, "collection", _details(slug)) for slug in _collections(metadata)]
    named += [
        ("openlibrary", olid, f"{kind} in Open Library", f"https://openlibrary.org/{path}/{olid}")
        for kind, path in (("edition", "books"), ("work", "works"))
        for olid in strings(metadata.get(f"openlibrary_{kind}"))
        if re.fullmatch(r"OL\d+[MW]", olid)
    ]
    return tuple(Related(identifier=f"{source}:{name}", label=name, kind=kind, source_url=url)
                 for source, name, kind, url in named)


# ---- one scanned document ------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """One document of an item. `page` describes it as a page without text, and says whether its
    text is held and open.

    `doc` names its recognised text, None when the record lists none. `printed` are the leaves that
    the reader shows, in its order, each with its printed number; empty when the record does not
    list them. `numbering` says which of these it is. `bundle` is the path of its page images, None
    where the record lists none that is open.
    """

    page: PageText
    node: str | None
    folder: str
    printed: Mapping[int, str | None]
    numbering: str
    doc: str | None = None
    restricted: bool = False
    bundle: str | None = None

    def leaves(self, hidden: int = 0) -> tuple[int, ...]:
        """Leaf numbers in order; without a list, those from the first not hidden to the last
        image."""
        return tuple(self.printed) or tuple(range(hidden, self.page.page_count or 0))

    def address(self, leaf: int | None) -> str:
        return self.page.source_url + ("" if leaf is None else f"/page/leaf{leaf}")

    def image(self, leaf: int) -> str | None:
        """The address of a leaf's picture, whole; None where none is open."""
        if self.bundle is None:
            return None
        stem, kind = self.bundle[:-len("_jp2.zip")], self.bundle[-len("jp2.zip"):-len(".zip")]
        name = stem.rpartition("/")[2]
        item = (self.page.item_identifier or "").removeprefix(f"{KEY}:")
        path = f"{item}/{self.bundle}/{name}_{kind}/{name}_{leaf:04}.{kind}"
        return f"{IMAGES}/{quote(path, safe='()', errors='replace')}/full/max/0/default.jpg"

    def check_leaf(self, leaf: int) -> None:
        """Raises RecordNotFound where the record lists its leaves, or counts them, and this is
        none of them."""
        leaves = self.leaves()
        if leaves and leaf not in leaves:
            raise RecordNotFound(
                f"Leaf {leaf} is not among the {len(leaves)} leaves of this document.",
                archive=KEY, hint=f"Its leaves run from {leaves[0]} to {leaves[-1]}.")

    def served_at(self, path: str) -> str:
        """An address on its data node.

        Raises:
            UnreadableAnswer: the record's server or dir is not of the form that may be asked.
        """
        wrong = "server" if self.node is None else "dir"
        if self.node is None or not _FOLDER.fullmatch(self.folder):
            raise UnreadableAnswer(f"The record does not say where its text could be read: its "
                                   f"field {wrong} is not of the known form.", archive=KEY)
        return f"https://{self.node}{path}"


def read_scan(reference: Reference, record: Mapping[str, Any]) -> Scan:
    """The document that a reference names in a record.

    Raises:
        InvalidInput: an item without pages; a bundle named without its document, or with one it
        does not hold: the hint lists up to ten.
    """
    metadata, files = mapping(record.get("metadata")), _files(record)
    held = {name.removesuffix(_DJVU): entry for name, entry in files.items()
            if name.endswith(_DJVU) and is_file(name)}
    doc = _named_document(reference, tuple(held))
    _check_paged(metadata, doc)
    several = doc if len(held) > 1 else None
    closed = _closed(record, held.get(doc or "", {}))
    bundle = _bundle(files, several or item_of(reference), several is None)
    page = replace(_page_of(reference, metadata, several), text_refused=closed,
                   ocr_available=bool(doc or closed))
    return replace(_numbered(page, record, len(held)), doc=doc, restricted=restricted(metadata),
                   bundle=None if closed or restricted(metadata) else bundle)


def _numbered(page: PageText, record: Mapping[str, Any], documents: int) -> Scan:
    """A page with the leaves around it; the record's printed numbers are those of its one
    document."""
    numbers = mapping(record.get("page_numbers")) if documents == 1 else {}
    printed = _printed(numbers)
    count = _leaf_count(printed, mapping(record.get("metadata")))
    return Scan(page=replace(page, page_count=count), node=_node(record), printed=printed,
                folder=first(record.get("dir")) or "",
                numbering=_numbering(printed, count, integer(numbers.get("confidence"))))


def _files(record: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The entry of each file that the record lists, by name."""
    return {name: entry for entry in map(mapping, listing(record.get("files")))
            if (name := first(entry.get("name")))}


def _check_paged(metadata: Mapping[str, Any], doc: str | None) -> None:
    """A recording, a program or a set of data has no pages; that is not an image without text."""
    kind = first(metadata.get("mediatype"))
    if kind and kind not in _PAGED and not doc and not amount(metadata.get("imagecount")):
        raise InvalidInput(f"This item has no pages: its media type is {kind}.", archive=KEY,
                           hint="get_item lists its files (section copies).")


def _bundle(files: Mapping[str, Mapping[str, Any]], stem: str, alone: bool) -> str | None:
    """The bundle of a document's page images, None where none is listed or it is not open.

    It is named after the item, or the document where there are several; a bundle of raw pictures
    is none. The picture service finds no name with # or & in it.
    """
    for kind in ("_jp2.zip", "_jp2.tar", "_tif.zip"):
        named = [name for name in files if re.search(f"(?<!_raw)(?<!_orig){kind}$", name.lower())]
        own = [name for name in named if name.lower() == f"{stem}{kind}".lower()]
        for name in own or (named[-1:] if alone else ()):
            closed = _true(files[name].get("private")) or not is_file(name)
            return None if closed or {"#", "&"} & set(name) else name
    return None


def _leaf_count(printed: Mapping[int, str | None], metadata: Mapping[str, Any]) -> int | None:
    """How many leaves the record lists, else counts; None for none, or an absurd number."""
    count = len(printed) or amount(metadata.get("imagecount"))
    return count if count and count <= LEAVES_MAX else None


def _page_of(reference: Reference, metadata: Mapping[str, Any], doc: str | None) -> PageText:
    """A document as a page without text; `doc` is its name where the item holds others."""
    item = item_of(reference)
    return PageText(identifier=reference.identifier, title=line(metadata.get("title")),
                    rights=_rights(metadata), source_url=_details(item, doc),
                    item_identifier=f"{KEY}:{item}")


def _closed(record: Mapping[str, Any], text: Mapping[str, Any]) -> str | None:
    """Why the text of a document is not open, by its record and the entry of its text; None when
    nothing says so."""
    if _true(record.get("is_dark")):
        return "The Internet Archive has withdrawn this item; it exists, and nothing of it is open."
    if _true(text.get("private")):
        return ("The record marks this text as private: held, and not open to anonymous readers. "
                "Open it at its address.")
    return None


def _printed(numbers: Mapping[str, Any]) -> dict[int, str | None]:
    """The printed number of each leaf that the reader shows, in its order."""
    return {leaf: first(entry.get("pageNumber"))
            for entry in map(mapping, listing(numbers.get("pages")))
            if (leaf := integer(entry.get("leafNum"))) is not None}


def _node(record: Mapping[str, Any]) -> str | None:
    """The first data node that the record names and that this program may ask."""
    hosts = strings([record.get("server"), record.get("workable_servers")])
    return next((host for host in hosts if re.fullmatch(NODE, host)), None)


def _numbering(printed: Mapping[int, str | None], count: int | None, confidence: int | None) -> str:
    if printed:
        sure = "" if confidence is None else f", with a confidence of {confidence} in 100"
        return f"Printed page numbers are read by the Internet Archive's software{sure}."
    if count:
        return ("Leaves are counted from the record's number of page images; the reader may hide "
                "some, such as a colour card.")
    return "The record does not say how many leaves this item has."


def _named_document(reference: Reference, docs: tuple[str, ...]) -> str | None:
    """Which document's text is meant; a file of it (its PDF, its plain text) names it as well. None
    when no text is held."""
    file = reference.file
    if not docs or (file is None and len(docs) == 1):
        return next(iter(docs), None)
    named = [
        doc for doc in docs if file and re.fullmatch(re.escape(doc) + f"(?:{_DERIVED})?", file)
    ]
    if named:
        return max(named, key=len)
    offered = ", ".join(f"{KEY}:{item_of(reference)}/{spell_file(doc)}" for doc in docs[:10])
    what = "holds several documents" if file is None else "holds text, but no document of this name"
    raise InvalidInput(f"This item {what}; name the one to read.", archive=KEY,
                       hint=f"Give one of: {offered}"
                       + (f" (the first 10 of {len(docs)})." if len(docs) > 10 else "."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A page of recognised text: the leaf it names, and its text, "" for a blank page."""

    number: int
    text: str
    mended: bool


def read_leaf(body: str) -> Leaf:
    """A page's file: paragraphs apart, lines as printed."""
    root, mended = read_page_xml(body, KEY)
    named = [param.get("value") or "" for param in root.iter("PARAM")
             if param.get("name") == "PAGE"]
    leaf = re.search(r"_(\d+)\.djvu$", named[0], re.ASCII) if len(named) == 1 else None
    if leaf is None:
        raise UnreadableAnswer("The page of text does not say which leaf it is.", archive=KEY)
    paragraphs = ("\n".join(" ".join((word.text or "").strip() for word in row.iter("WORD"))
                            for row in paragraph.iter("LINE"))
                  for paragraph in root.iter("PARAGRAPH"))
    return Leaf(number=int(leaf[1]), mended=mended,
                text="\n\n".join(text for text in paragraphs if text.strip()))


def page_with_text(scan: Scan, described: PageText, index: int, leaf: Leaf) -> PageText:
    """A page with the text that came when place `index` of the reader was asked."""
    page, printed = leaf.number, scan.printed.get(leaf.number)
    leaves = scan.leaves(hidden=max(0, page - index))
    notes = (f"Read as reader page {index} by the data node's one-page route "
             f"(BookReaderGetTextWrapper); the answer names leaf {page}.",
             scan.numbering if printed else "", MENDED if leaf.mended else "")
    return replace(described, text=leaf.text, printed_page=printed,
                   notes=tuple(note for note in notes if note),
                   previous_page=max((other for other in leaves if other < page), default=None),
                   next_page=min((other for other in leaves if other > page), default=None))


def read_passages(
    scan: Scan, answer: Mapping[str, Any], wording: str, max_passages: int
) -> Passages:
    """The paragraphs that hold the words, some 300 characters either side of the first mark of
    each."""
    if answer.get("indexed") is False:
        unread = ("The Internet Archive has not indexed this document's text, so it could not be "
                  "searched.")
        return Passages(page=scan.page, notes=(unread,))
    matches = answer["matches"]
    read = [passage for match in map(mapping, matches)
            if (passage := _passage(scan, match, wording)) is not None]
    if matches and not read:
        raise UnreadableAnswer(
            f"None of the {len(matches)} matches inside this item could be read.", archive=KEY
        )
    notes = ["Matches are counted by paragraph, and pages are leaves."]
    if len(words(wording)) > 1 and not re.fullmatch(r'"[^"]*"', wording.strip()):
        notes.append(
            "Words outside quotation marks are matched each for itself; quote a phrase to keep "
            "them together."
        )
    if len(read) < len(matches):
        notes.append(f"{len(matches) - len(read)} of {len(matches)} matches could not be read.")
    return Passages(page=scan.page, passages=tuple(read[:max_passages]), match_count=len(matches),
                    notes=tuple(notes))


def _passage(scan: Scan, match: Mapping[str, Any], wording: str) -> Passage | None:
    """The leaf is that of the paragraph, else of its first box that names one."""
    text = first(match.get("text"))
    paragraph = mapping(next(iter(listing(match.get("par"))), None))
    pages = (integer(mapping(place).get("page"))
             for place in (paragraph, *listing(paragraph.get("boxes"))))
    leaf = next((page for page in pages if page is not None), None)
    address = scan.address(leaf) + _marking(wording)
    return (Passage(page_number=leaf, text=_excerpt(text, PASSAGE_CHARS).text, source_url=address)
            if text else None)
