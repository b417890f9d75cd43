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
from dataclasses import replace
from typing import Any
from urllib.parse import quote, quote_plus

from ..contract import (
    Collection,
    Contributor,
    Copy,
    Facet,
    FacetValue,
    Item,
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
    Excerpt,
    amount,
    first,
    integer,
    joined,
    listing,
    mapping,
    strings,
)
from .dates import shown_date, span_of, year_of
from .fields import line, marked_excerpt, prose, texts
from .imprints import read_imprint

KEY = "archive"
SITE = "https://archive.org"
CEILING = 10_000  # page x rows beyond this is refused with RANGE_OUT_OF_BOUNDS, on both searches
SEARCH_CLOSED = (
    "The Internet Archive holds this text but does not let anonymous readers search it; "
    "open the item at its address."
)

# a data node, as metadata names it: ia601302.us.archive.org
NODE = r"(?:ia|dn)[0-9]+\.[a-z]{2}\.archive\.org"
ITEM = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_OUT_OF_BOUNDS = "The page lies past what is ever served."
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
        raise Told(_OUT_OF_BOUNDS, archive=KEY, status=reply.status)
    if (not reason and reply.status != 422) or _UPSTREAM.search(reason):
        said = f" It said: {reason}" if reason else " It gave no reason."
        raise ArchiveUnreachable(
            f"The Internet Archive could not search.{said}", archive=KEY, status=reply.status,
            reason="could_not_search")
    raise InvalidInput(
        f"The Internet Archive refuses this query: {reason or 'it gives no reason.'}",
        archive=KEY,
        status=reply.status,
        hint="Change the query: plainer words, and quotation marks in pairs.",
        reason="query_refused")


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
    failed = header.get("succeeded") is False or _unfinished(answer)
    return (joined(messages, " ") or "")[:300], failed


def _unfinished(answer: Mapping[str, Any]) -> bool:
    """Whether a search says of itself that it failed, or that it read a part and found nothing
    there: then nothing was learnt of what is held."""
    response, header = mapping(answer.get("response")), mapping(answer.get("responseHeader"))
    body = mapping(response.get("body"))
    said = (answer, header, response, body)
    partial = any(true(each.get("partialResults")) or true(each.get("timed_out"))
                  or amount(mapping(each.get("_shards")).get("failed")) for each in said)
    rows = response.get("docs") or mapping(body.get("hits")).get("hits")
    return bool(integer(header.get("status"))) or (partial and not rows)


def check_search_text(reply: Reply) -> None:
    """A page out of range arrives as bare text under a JSON content type, with status 200."""
    if reply.value.lstrip().startswith("[RANGE_OUT_OF_BOUNDS]"):
        raise Told(_OUT_OF_BOUNDS, archive=KEY)


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
    if not isinstance(reply.value.get("metadata"), dict) and not true(reply.value.get("is_dark")):
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


def details(item: str, file: str | None = None) -> str:
    """The address a person opens: the item, or one document of a bundle."""
    return f"{SITE}/details/{quote(item, safe='@')}" + (
        f"/{quote(file, errors='replace')}" if file else ""
    )


def marking(found: str) -> str:
    """What an address ends with for the reader to mark some words."""
    return f"?q={quote_plus(found, errors='replace')}"


def true(value: Any) -> bool:
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
    inside = None if fields.get("result_in_subfile") is None else true(fields["result_in_subfile"])
    document = file if inside and file and is_file(file) else None
    excerpts = _excerpts(query, hit)
    return TextMatch(
        identifier=_identifier(item, document),
        title=line(fields.get("title")),
        creator=line(fields.get("creator")),
        year=year,
        span=span_of(year),
        excerpts=excerpts,
        excerpt_kind="passage" if excerpts else None,
        matched_file=file,
        inside_container=inside,
        source_url=details(item, document) + marking(sent))


def _identifier(item: str, document: str | None) -> str:
    return f"{KEY}:{item}" + (f"/{spell_file(document)}" if document else "")


def _excerpts(query: Query, hit: Any) -> tuple[Excerpt, ...]:
    marked = strings(mapping(mapping(hit).get("highlight")).get("text"))[:query.excerpts_per_record]
    return tuple(marked_excerpt(text, query.excerpt_chars) for text in marked)


def read_row(row: Any) -> Record | None:
    """One row of the catalogue, whose fields stand in `fields` on the route that also counts."""
    fields = mapping(mapping(row).get("fields", row))
    item, date, year = _named(fields), first(fields.get("date")), _year(fields)
    if item is None:
        return None
    return Record(identifier=f"{KEY}:{item}", title=line(fields.get("title")),
                  creator=line(fields.get("creator")), year=year, span=span_of(year),
                  date=shown_date(date),
                  media_type=first(fields.get("mediatype")), source_url=details(item),
                  downloads=amount(fields.get("downloads")),
                  languages=strings(fields.get("language")),
                  publishers=read_imprint(*texts(fields.get("publisher"))).publishers)


def read_collection(row: Any) -> Collection | None:
    fields = mapping(row)
    slug = _named(fields)
    if slug is None:
        return None
    return Collection(slug=f"{KEY}:{slug}", title=line(fields.get("title")),
                      description=prose(fields.get("description")),
                      item_count=amount(fields.get("item_count")), source_url=details(slug))


# ---- records -------------------------------------------------------------------------------------

def read_item(item: str, record: Mapping[str, Any], year_means: str | None) -> Item:
    """A record whole, but for its leaves."""
    metadata = mapping(record.get("metadata"))
    copies, generated = _copies(item, listing(record.get("files")))
    return replace(_described(item, metadata), year_means=year_means, notes=_record_notes(record),
                   rights=rights(metadata), context=_context(metadata), copies=copies,
                   copies_available=len(copies), generated_entries=generated)


def _described(item: str, metadata: Mapping[str, Any]) -> Item:
    """What the depositor wrote of an item."""
    of = metadata.get
    creators = texts(of("creator"))
    imprint = read_imprint(*texts(of("publisher")))
    return Item(identifier=f"{KEY}:{item}", source_url=details(item), title=line(of("title")),
                creator=joined(creators), creators=creators, media_type=first(of("mediatype")),
                year=_year(metadata), date=shown_date(first(of("date"))) or imprint.date,
                description=prose(of("description")), subjects=_subjects(metadata),
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
    private = sum(true(mapping(entry).get("private")) for entry in listing(record.get("files")))
    said = ((true(record.get("is_dark")),
             "This item exists, and the Internet Archive has withdrawn it: its record and files "
             "are not shown."),
            (true(record.get("is_collection")),
             "This is a collection; its files are those of its own record, not its members'."),
            (true(record.get("nodownload")),
             "The Internet Archive does not offer the files of this item for download."),
            (private > 0, f"{private} of its files are private: listed, and not open to download."))
    return tuple(sentence for holds, sentence in said if holds)


def _collections(metadata: Mapping[str, Any]) -> list[str]:
    """The collections an item is filed in; a reader's own list of favourites (fav-…) is none."""
    return [slug for slug in strings(metadata.get("collection"))
            if ITEM.fullmatch(slug) and not slug.startswith("fav-")]


def restricted(metadata: Mapping[str, Any]) -> bool:
    return true(metadata.get("access-restricted-item")) or not _LENDING.isdisjoint(
        _collections(metadata)
    )


def rights(metadata: Mapping[str, Any]) -> Rights:
    """Terms as the record states them: its free text, its status of copyright, the address of its
    licence."""
    status, licence = (joined(metadata.get("possible-copyright-status")),
                       first(metadata.get("licenseurl")))
    parts = (prose(metadata.get("rights")), status and f"Possible copyright status: {status}",
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
               or true(entry.get("old_version")))
        if name is None or own:
            continue
        closed = " (private: not open to download)" if true(entry.get("private")) else ""
        copies.append(
            Copy(label=name + closed, format=form, size_bytes=amount(entry.get("size")),
                 url=f"{SITE}/download/{quote(item, safe='@')}/{quote(name, errors='replace')}")
        )
    return tuple(copies), len(files) - len(copies)


def _context(metadata: Mapping[str, Any]) -> tuple[Related, ...]:
    """Its collections, and the Open Library edition and work that the record names."""
    named = [(KEY, slug, "collection", details(slug)) for slug in _collections(metadata)]
    named += [
        ("openlibrary", olid, f"{kind} in Open Library", f"https://openlibrary.org/{path}/{olid}")
        for kind, path in (("edition", "books"), ("work", "works"))
        for olid in strings(metadata.get(f"openlibrary_{kind}"))
        if re.fullmatch(r"OL\d+[MW]", olid)
    ]
    return tuple(Related(identifier=f"{source}:{name}", label=name, kind=kind, source_url=url)
                 for source, name, kind, url in named)
