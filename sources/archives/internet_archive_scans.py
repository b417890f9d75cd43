"""One scanned document of an Internet Archive record: its leaves, their pictures, their text, and
the passages found inside it. Pure functions.

Sources: BookReader and the picture service's own code, and what was recorded (facts of 2026-11).
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from ..contract import Archive, PageText, Passage, Passages, Reference
from ..errors import InvalidInput, RecordNotFound, UnreadableAnswer
from ..regions import Box, Region, Sheet, around
from ..text import amount, first, integer, listing, mapping, strings, words
from .fields import line, marked_excerpt
from .internet_archive_records import (
    ITEM,
    KEY,
    NODE,
    details,
    is_file,
    item_of,
    marking,
    restricted,
    rights,
    spell_file,
    true,
)
from .page_xml import MENDED, read_page_xml

IMAGES = "https://iiif.archive.org/image/iiif/3"
LEAVES_MAX = 100_000  # a record that states more images than any scan has states none
PASSAGE_CHARS = 600  # about 300 either side of a match (DESIGN, read_text)
_FOLDER = re.compile(rf"/[0-9]+/items/{ITEM.pattern}")
_PAGED = {"texts", "image", "collection"}  # media types that may have pages
_DJVU = "_djvu.xml"  # behind the name of a document, the file of its recognised text
# "…_djvu.txt", "….pdf"
_DERIVED = r"_(?:djvu|hocr|chocr|abbyy|text|bw|jp2|orig_jp2|page_numbers|scandata)[\w.]*|\.\w{1,5}"


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
                archive=KEY, hint=f"Its leaves run from {leaves[0]} to {leaves[-1]}.",
                reason="no_such_page")

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
            closed = true(files[name].get("private")) or not is_file(name)
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
                    rights=rights(metadata), source_url=details(item, doc),
                    item_identifier=f"{KEY}:{item}")


def _closed(record: Mapping[str, Any], text: Mapping[str, Any]) -> str | None:
    """Why the text of a document is not open, by its record and the entry of its text; None when
    nothing says so."""
    if true(record.get("is_dark")):
        return "The Internet Archive has withdrawn this item; it exists, and nothing of it is open."
    if true(text.get("private")):
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
    sheet: Sheet | None


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
    return Leaf(number=int(leaf[1]), mended=mended, sheet=_sheet(root),
                text="\n\n".join(text for text in paragraphs if text.strip()))


def _sheet(root: Any) -> Sheet | None:
    """The words where they stand, in pixels of the page's picture; None where the page states no
    size."""
    page = next(root.iter("OBJECT"), None)
    size = (0, 0) if page is None else (amount(page.get("width")), amount(page.get("height")))
    if not all(size):
        return None
    return Sheet(words=tuple(_boxes(root)), width=size[0] or 0, height=size[1] or 0, unit="pixel")


def _boxes(root: Any) -> Iterator[tuple[str, Box]]:
    """Each word with its box; the last of a line ends it."""
    for row in root.iter("LINE"):
        said = list(row.iter("WORD"))
        for word in said:
            corners = [amount(side) for side in (word.get("coords") or "").split(",")[:4]]
            left, bottom, right, top = (corner or 0 for corner in (*corners, 0, 0, 0, 0)[:4])
            end = "\n" if word is said[-1] else " "
            yield ((word.text or "").strip() + end,
                   (left, min(top, bottom), right - left, abs(bottom - top)))


def page_with_text(scan: Scan, described: PageText, index: int, leaf: Leaf) -> PageText:
    """A page with the text that came when place `index` of the reader was asked."""
    page, printed = leaf.number, scan.printed.get(leaf.number)
    leaves = scan.leaves(hidden=max(0, page - index))
    notes = (f"Read as reader page {index} by the data node's one-page route "
             f"(BookReaderGetTextWrapper); the answer names leaf {page}.",
             scan.numbering if printed else "", MENDED if leaf.mended else "")
    return replace(described, text=leaf.text, printed_page=printed, sheet=leaf.sheet,
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
    return Passage(page_number=leaf, text=marked_excerpt(text, PASSAGE_CHARS).text,
                   region=_region(paragraph, leaf),
                   source_url=scan.address(leaf) + marking(wording)) if text else None


def _region(paragraph: Mapping[str, Any], leaf: int | None) -> Region | None:
    """The paragraph and the boxes on its page, as the search states them; a box without its right
    edge takes the paragraph's."""
    places = [place for place in (paragraph, *map(mapping, listing(paragraph.get("boxes"))))
              if integer(place.get("page", leaf)) == leaf]
    right = amount(paragraph.get("r"))
    sides = [(amount(place.get("l")), amount(place.get("t")), amount(place.get("r")) or right,
              amount(place.get("b"))) for place in places]
    boxes = [(left, top, end - left, foot - top) for left, top, end, foot in sides
             if left is not None and top is not None and end is not None and foot is not None]
    return around(boxes, amount(paragraph.get("page_width")) or 0,
                  amount(paragraph.get("page_height")) or 0, "pixel", Archive.shown_least)
