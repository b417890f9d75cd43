"""How the Library of Congress writes a record, its files and its pages, and how each becomes a value here. Pure functions.

The same field is a text in one record, a list in the next, a list of {label: link} in a third, or absent; every reader here takes
all of them. Source: "Item and Resource Responses" of the Library's documentation, and what was seen (facts of 2026-11).
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from .contract import Contributor, Copy, Item, PageEntry, PageText, Reference, Related, Rights
from .text import amount, first, fold, integer, joined, listing, mapping, plain, strings, year_of

SITE = "https://www.loc.gov"
YEAR_MEANS = "the year a record is filed under: of a span its start; no era is kept"

NO_TERMS = "The record states no terms of reuse; that silence grants nothing."
NO_TERMS_OF_PAGE = Rights(covers="this page", note="No terms of reuse came with the page, which grants nothing; get_item reads its record's.")
PAGES_MAX = 20_000  # pages that a bare count is believed for; more than ten times the longest manuscript seen (1,143)

# Roles that stand behind a name ("Riviere & Son, binder."), as MARC's relator terms spell them; those that make a creator first.
CREATING = frozenset({"author", "artist", "cartographer", "compiler", "composer", "creator", "engraver", "lyricist", "photographer"})
ROLES = CREATING | frozenset({
    "addressee", "architect", "associated name", "binder", "bookseller", "collector", "conductor", "contributor", "correspondent",
    "dedicatee", "depositor", "director", "distributor", "donor", "editor", "etcher", "former owner", "funder", "host", "illustrator",
    "instrumentalist", "interviewee", "interviewer", "issuing body", "librettist", "lithographer", "narrator", "owner", "performer",
    "printer", "producer", "publisher", "recipient", "singer", "speaker", "sponsor", "surveyor", "translator", "writer of introduction"})

# What a record says besides its own fields here: (its field, how a note names it)
NOTED = (("created_published", "Created or published"), ("dates_of_publication", "Dates of publication"), ("publication_frequency", "Frequency"),
         ("other_title", "Other titles"), ("genre", "Genre"), ("repository", "Held by"), ("source_collection", "From"),
         ("reproduction_number", "Reproduction number"), ("online_format", "Online as"))
NUMBERS = (("lccn", ("library_of_congress_control_number", "number_lccn")), ("oclc", ("number_oclc",)), ("issn", ("number_issn",)),
           ("isbn", ("number_isbn",)), ("former_identifier", ("number_former_id",)))

# An identifier without its prefix: an item, an issue of a newspaper, resource/NAME; behind it a page in either spelling
SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
LOCAL = re.compile(rf"(?:(?P<resource>resource/)|item/)?(?P<id>(?P<name>{SEGMENT})(?P<issue>/(?P<day>\d{{4}}-\d\d-\d\d)/ed-(?P<edition>\d{{1,3}}))?)"
                    r"(?:/seq-(?P<seq>\d{1,5}))?/?(?:\?sp=(?P<sp>\d{1,5}))?", re.ASCII)
_LINK = re.compile(r"""<a\s[^<>]*?href=["'](https?://[^"'\s<>]+)["'][^<>]*>[^<]*</a>""", re.IGNORECASE)
_OF_TERMS = re.compile(r"right|legal|licen[cs]e", re.IGNORECASE)


# ---- how a record is read --------------------------------------------------------------------------------------------

def read_item(reference: Reference, item: dict[str, Any], resources: list[dict[str, Any]]) -> Item:
    """A record of any kind; `item` is the Library's object, not empty. A record read by its resource goes under its own name."""
    own = item_in(https(first(item.get("id")))) if reference.local.startswith("resource/") else None
    local = own or reference.local
    date, named = first(item.get("date")), contributors(item.get("contributor_names")) or contributors(item.get("contributors"))
    prose, means, notes = _prose(item)
    copies = _copies(resources, item)
    place, publisher = _imprint(item)
    made_by = strings(item.get("creator")) or creators(named)
    return Item(
        identifier=f"loc:{local}", title=first(item.get("title")) or first(item.get("newspaper_title")), creator="; ".join(made_by) or None,
        creators=made_by, year=year_of(date), year_means=YEAR_MEANS, date=date,
        media_type=joined(item.get("original_format")), source_url=f"{SITE}/{quoted(local if local.startswith('resource/') else 'item/' + local)}/",
        description=prose, description_means=means, notes=(*notes, *_further_notes(item)),
        subjects=strings(item.get("subject_headings")) or labels(item.get("subject")), rights=_rights(item), copies=copies,
        copies_available=len(copies), context=tuple(_context(reference, item)), contributors=tuple(named),
        language=labels(item.get("language")) or labels(item.get("languages")), publisher=publisher, place=place,
        call_number=joined(item.get("call_number")), extent=joined(item.get("medium")), standard_numbers=_numbers(item))


def _prose(item: Mapping[str, Any]) -> tuple[str | None, str | None, tuple[str, ...]]:
    """The record's prose, what it is when that needs saying, and its notes. The same words are not told twice."""
    notes = tuple(plain(note) for note in strings(item.get("notes")))
    parts: list[str] = []
    for name in ("summary", "description", "contents", "essay"):
        text = plain("\n".join(value if isinstance(value, str) else "" for value in as_list(item.get(name))))
        if text and not any(fold(text) in fold(part) for part in parts):
            parts.append(text)
    doubled = " ".join(" ".join(notes).split())
    means = "the record's notes, run together by the Library" if doubled and any(" ".join(part.split()) == doubled for part in parts) else None
    if means:
        notes = ()
    if first(item.get("essay")):
        means = (f"{means}, then" if means else "with") + " an essay on the newspaper"
    return "\n\n".join(parts) or None, means, notes


def _further_notes(item: Mapping[str, Any]) -> Iterator[str]:
    for name, label in NOTED:
        text = joined(labels(item.get(name)))
        if text:
            yield f"{label}: {plain(text)}"
    places = labels(item.get("location")) or labels(item.get("locations"))
    if places:
        yield f"Places the record names: {'; '.join(places)}"
    terms = labels(item.get("subject")) or labels(item.get("subjects"))
    if terms:
        yield f"Terms that the argument subject takes here: {'; '.join(terms)}"


def contributors(value: Any) -> list[Contributor]:
    """Names with the roles that stand behind them, as "Perrins, Charles William Dyson, 1864-1958, former owner"."""
    return [_contributor(text) for text in dict.fromkeys(labels(value))]


def _contributor(text: str) -> Contributor:
    name, roles = text, list[str]()
    while True:
        rest, comma, last = name.rpartition(",")
        role = last.strip().rstrip(".").lower()
        if not comma or role not in ROLES:
            return Contributor(name=name.strip(), role=", ".join(reversed(roles)) or None)
        name, roles = rest, [*roles, role]


def creators(named: Iterable[Contributor]) -> tuple[str, ...]:
    """Those named as makers or without a role. A collection of the Library stands among the names too, and made nothing."""
    return tuple(who.name for who in named if (who.role is None or set(who.role.split(", ")) & CREATING)
                 and not who.name.lower().endswith("collection (library of congress)"))


def _imprint(item: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Place and publisher, only where the imprint is punctuated "Place : Publisher, date" as cataloguing rules prescribe."""
    place, colon, rest = (first(item.get("created_published")) or "").partition(" : ")
    if not colon:
        return first(item.get("location_str")), None
    return place.strip("[] ") or None, re.sub(r",\s*\[?[cp©]?\d{4}.*$", "", rest).strip() or None


def _numbers(item: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    found = {name: tuple(dict.fromkeys(number for key in keys for number in strings(item.get(key)))) for name, keys in NUMBERS}
    return {name: numbers for name, numbers in found.items() if numbers}


def _rights(item: Mapping[str, Any]) -> Rights:
    """What the record says on reuse and access, as plain text; silence stays silence."""
    stated = [value for name in ("rights", "rights_information", "rights_advisory") for value in as_list(item.get(name)) if isinstance(value, str)]
    text = "\n\n".join(dict.fromkeys(part for part in map(plain, stated) if part))
    link = next((link[1] for value in stated for link in _LINK.finditer(value) if _OF_TERMS.search(link[0])), None)
    notes = [] if text else [NO_TERMS]
    if item.get("access_restricted") is True:
        notes.append("The Library marks access to this item as restricted.")
    notes += [plain(advice) for advice in strings(item.get("access_advisory"))]
    return Rights(statement=text or None, url=link, covers="the item that the record describes", note=" ".join(notes) or None)


def _context(reference: Reference, item: Mapping[str, Any]) -> Iterator[Related]:
    """Collections and wholes it is part of, the newspaper of an issue, and the same record in other formats."""
    if "/" in reference.local and not reference.local.startswith("resource/"):
        lccn = reference.local.split("/")[0]
        yield Related(identifier=f"loc:{lccn}", label=first(item.get("newspaper_title")) or lccn, kind="newspaper", source_url=f"{SITE}/item/{lccn}/")
    for part in as_list(item.get("partof")):
        label = first(mapping(part).get("title")) or first(part)
        url = https(first(mapping(part).get("url")))
        slug = re.match(r"/collections/([a-z0-9-]+)", urlsplit(url or "").path)
        if label:  # any other address there is of the site's general search, which its robots.txt forbids
            yield Related(label=label, kind="collection" if slug else "part of", source_url=f"{SITE}/collections/{slug[1]}/" if slug else None)
    for other in map(mapping, listing(item.get("other_formats"))):
        url = https(first(other.get("link")))
        if url:
            yield Related(label=first(other.get("label")) or url, kind="the record in another format", source_url=url)


# ---- resources, pages and files --------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class _PageFiles:
    """One page of a resource; `files` is None when the record only counts its pages."""

    number: int
    url: str
    files: list[dict[str, Any]] | None


def resources_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The digitised parts of a record; often none, also for a newspaper that is digitised."""
    candidates = (answer.get("resources"), mapping(answer.get("item")).get("resources"), [answer.get("resource")])
    return next((found for found in ([entry for entry in as_list(value) if isinstance(entry, dict) and entry] for value in candidates) if found), [])


def pages_of(resources: list[dict[str, Any]], fallback_url: str) -> list[_PageFiles]:
    """`files` lists the files of each page in a record, and is their number in a shorter answer."""
    found: list[_PageFiles] = []
    for resource in resources:
        base = (https(first(resource.get("url"))) or fallback_url).split("?")[0]
        files = resource.get("files")
        pages: list[list[dict[str, Any]] | None] = [None] * min(amount(files) or amount(resource.get("segments")) or 0, PAGES_MAX)
        if isinstance(files, list):
            pages = [flat(page) for page in files]
        found += [_PageFiles(number=number, url=f"{base}?sp={number}", files=page) for number, page in enumerate(pages, start=1)]
    return found


def page_entry(page: _PageFiles) -> PageEntry:
    return PageEntry(page_number=page.number, page_number_is="image", source_url=page.url, image_url=_image(page.files or []),
                     text_held=None if page.files is None else text_address(page.files) is not None)


def _copies(resources: list[dict[str, Any]], item: Mapping[str, Any]) -> tuple[Copy, ...]:
    """Files of a whole resource first, then page by page, then the pictures that the record itself names; each address once."""
    found: list[Copy] = []
    for resource in resources:
        caption = first(resource.get("caption"))
        for name, kind in (("pdf", "PDF"), ("audio", "audio"), ("video", "video"), ("text_file", "text"), ("fulltext_file", "text"),
                           ("djvu_text_file", "text by page, DjVu XML"), ("image", "image")):
            found += _copy(f"{caption}, {kind}" if caption else kind, None, resource.get(name), None)
    for page in pages_of(resources, SITE):
        for file in page.files or []:
            mimetype = first(file.get("mimetype"))
            what = "text" if _is_text(file) else "text with positions, ALTO" if mimetype == "text/xml" else mimetype or "file"
            found += _copy(f"page {page.number}, {what}", mimetype, file.get("url") or file.get("fulltext_service"), amount(file.get("size")))
    for image in as_list(item.get("image_url")):
        found += _copy("image", None, image, None)
    unique: dict[str, Copy] = {}
    for copy in found:
        unique.setdefault(copy.url, copy)
    return tuple(unique.values())


def _copy(label: str, kind: str | None, address: Any, size_bytes: int | None) -> list[Copy]:
    urls = [url for url in (https(text) for text in strings(address)) if url]
    return [Copy(label=label, format=kind, url=url.split("#")[0], size_bytes=size_bytes) for url in urls]


def _is_text(file: Mapping[str, Any]) -> bool:
    return first(file.get("mimetype")) == "text/plain" or first(file.get("use")) == "text" or "fulltext_service" in file


def text_address(files: list[dict[str, Any]]) -> str | None:
    """Where a page's text is served; the text service before a file."""
    texts = [file for file in files if _is_text(file)]
    addresses = [https(first(file.get(name))) for name in ("fulltext_service", "url") for file in texts]
    return next((address for address in addresses if address), None)


def whole_text(resource: Mapping[str, Any]) -> str | None:
    """A resource's one file of plain text, without page marks; the text service's address there is of a single page."""
    addresses = (https(first(resource.get(name))) for name in ("text_file", "fulltext_file"))
    return next((address for address in addresses if address and "segment=" not in address and address.endswith(".txt")), None)


def _image(files: list[dict[str, Any]]) -> str | None:
    """A page's picture, a JPEG before any other, since a browser shows it."""
    found = [(kind, url) for kind, url in ((first(file.get("mimetype")) or "", https(first(file.get("url")))) for file in files) if url]
    pictures = [url for kind, url in found if kind in ("image/jpeg", "image/jpg")] + [url for kind, url in found if kind.startswith("image/")]
    return pictures[0].split("#")[0] if pictures else None


def describe_page(reference: Reference, name: str, page: int, count: int | None, answer: Mapping[str, Any]) -> PageText:
    """Everything but the text. The page's own segment says title, date and place; the path says day and edition."""
    item, resource = mapping(answer.get("item")), mapping(answer.get("resource"))
    segment = _segment(listing(answer.get("segments")), page)
    issue = LOCAL.fullmatch(name)
    places = [place for key in ("location_city", "location_county", "location_state") for place in labels(segment.get(key) or item.get(key))]
    item_id = name if issue and issue["issue"] else item_in(https(first(item.get("id"))))
    return PageText(
        identifier=reference.identifier, title=first(segment.get("title")) or first(item.get("title")), text=None,
        published_on=first(segment.get("date")) or first(item.get("date")) or (issue["day"] if issue else None),
        publication=first(segment.get("partof_title")) or first(item.get("newspaper_title")), places=tuple(dict.fromkeys(places)),
        edition=issue["edition"] if issue else None, page_number=page, page_number_is="image", page_count=count,
        source_url=f"{SITE}/resource/{quoted(name)}/?sp={page}", image_url=_image(flat(answer.get("page"))) or https(first(resource.get("image"))),
        previous_page=page - 1 if page > 1 else None, next_page=page + 1 if count and page < count else None,
        item_identifier=f"loc:{item_id}" if item_id else None, rights=_rights(item) if _rights(item).statement else NO_TERMS_OF_PAGE)


def _segment(segments: list[Any], page: int) -> dict[str, Any]:
    """The segment whose address names this page; one that names none when it stands alone."""
    by_page = {_page_named(entry): entry for entry in map(mapping, reversed(segments))}
    return by_page.get(page) or (by_page.get(None) if len(segments) == 1 else None) or {}


def _page_named(segment: Mapping[str, Any]) -> int | None:
    return integer(parse_qs(urlsplit(https(first(segment.get("id"))) or "").query).get("sp"))


# ---- addresses, labels, dates ----------------------------------------------------------------------------------------

def https(address: str | None) -> str | None:
    """An address as a secure, absolute one; None for what is no address. The Library writes http, // and bare paths."""
    if not address:
        return None
    full = "https:" + address if address.startswith("//") else SITE + address if address.startswith("/") else address
    try:
        parts = urlsplit(full)
        full.encode()  # a lone surrogate stands in no address
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts._replace(scheme="https").geturl() if parts.hostname.endswith(".loc.gov") else full


def item_in(address: str | None) -> str | None:
    """The identifier in a record's address, None when the address is of something else."""
    parts = urlsplit(address or "")
    read = LOCAL.fullmatch(parts.path.removeprefix("/item/").strip("/")) if parts.hostname in ("www.loc.gov", "loc.gov") else None
    return read["id"] if read and parts.path.startswith("/item/") and not read["resource"] else None


def resource_in(address: str | None) -> str | None:
    read = LOCAL.fullmatch(urlsplit(address or "").path.strip("/"))
    return read["id"] if read and read["resource"] else None


def quoted(local: str) -> str:
    return "/".join(quote(segment, safe="") for segment in local.split("/"))


def labels(value: Any) -> tuple[str, ...]:
    """A list of texts, or of objects {label: link}, or one of either: the Library writes the same field in all these ways."""
    if isinstance(value, dict):
        return tuple(" ".join(str(label).split()) for label in value)
    if isinstance(value, (list, tuple)):
        return tuple(dict.fromkeys(label for entry in value for label in labels(entry)))
    return strings(value)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def flat(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, or of lists in it."""
    return [found for entry in as_list(value) for found in ([entry] if isinstance(entry, dict) else flat(entry) if isinstance(entry, list) else [])]
