"""How the Library of Congress writes rows, records, files and pages, and how each becomes a value
here. Pure functions.

The same field is a text in one record, a list in the next, a list of {label: link} in a third, or
absent; every reader here takes all of them, and gives None for a row that cannot be read. Source:
"Search Results Responses" and "Item and Resource Responses" of the Library's documentation, and
what was seen (facts of 2026-11).
"""
from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from ..contract import (
    Collection,
    Contributor,
    Copy,
    Facet,
    FacetValue,
    Heading,
    Item,
    PageEntry,
    PageText,
    Query,
    Record,
    Reference,
    Related,
    Resource,
    Rights,
    TextMatch,
)
from ..regions import Region, around, picture_address, tightest
from ..text import (
    Excerpt,
    amount,
    excerpt,
    find,
    first,
    fold,
    joined,
    listing,
    mapping,
    plain,
    strings,
    window,
    words,
)
from .dates import shown_date, year_of
from .imprints import read_imprint

SITE = "https://www.loc.gov"
SHOWN_LEAST = (0.16, 0.06)  # of a newspaper's page: a column, and some lines of it
YEAR_MEANS = "the year a record is filed under: of a span its start; no era is kept"
NO_TERMS = "The record states no terms of reuse; that silence grants nothing."
NO_TERMS_OF_PAGE = Rights(
    covers="this page",
    note="No terms of reuse came with the page, which grants nothing; get_item reads its record's.",
)
# pages of a record that bare counts are believed for; more than ten times the longest manuscript
# seen (1,143)
PAGES_MAX = 20_000

# Roles that stand behind a name ("Riviere & Son, binder."), as MARC's relator terms spell them;
# those that make a creator first.
CREATING = frozenset(
    (
        "author",
        "artist",
        "cartographer",
        "compiler",
        "composer",
        "creator",
        "engraver",
        "lyricist",
        "photographer",
    )
)
ROLES = CREATING | frozenset(
    (
        "addressee",
        "architect",
        "associated name",
        "binder",
        "bookseller",
        "collector",
        "conductor",
        "contributor",
        "correspondent",
        "dedicatee",
        "depositor",
        "director",
        "distributor",
        "donor",
        "editor",
        "etcher",
        "former owner",
        "funder",
        "host",
        "illustrator",
        "instrumentalist",
        "interviewee",
        "interviewer",
        "issuing body",
        "librettist",
        "lithographer",
        "narrator",
        "owner",
        "performer",
        "printer",
        "producer",
        "publisher",
        "recipient",
        "singer",
        "speaker",
        "sponsor",
        "surveyor",
        "translator",
        "writer of introduction",
    )
)

# How older records shorten a role.
SHORT_ROLES = {"illus": "illustrator", "ill": "illustrator", "tr": "translator", "ed": "editor",
               "comp": "compiler", "ed. and tr": "editor and translator", "scribe": "scribe"}
_QUALIFIED_ROLE = re.compile(r"((?:supposed |attributed |joint )?)(.*)", re.DOTALL)

# What a record says besides its own fields here: how a note names it, and the fields of the Library
# that may hold it
NOTED = {
    "Created or published": ("created_published",),
    "Dates of publication": ("dates_of_publication",),
    "Frequency": ("publication_frequency",),
    "Other titles": ("other_title",),
    "Genre": ("genre",),
    "Held by": ("repository",),
    "From": ("source_collection",),
    "Reproduction number": ("reproduction_number",),
    "Online as": ("online_format",),
}
NUMBERS = {
    "lccn": ("library_of_congress_control_number", "number_lccn"),
    "oclc": ("number_oclc",),
    "issn": ("number_issn",),
    "isbn": ("number_isbn",),
    "former_identifier": ("number_former_id",),
}
WHOLE_FILES = {
    "pdf": "PDF",
    "audio": "audio",
    "video": "video",
    "text_file": "text",
    "fulltext_file": "text",
    "djvu_text_file": "text by page, DjVu XML",
    "image": "image",
}

# An identifier without its prefix: an item, an issue of a newspaper, resource/NAME; behind it a
# page in either spelling
SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
ISSUE = r"/\d{4}-\d\d-\d\d/ed-\d{1,3}"
LOCAL = re.compile(rf"(?:(?P<kind>item|resource)/)?(?P<id>{SEGMENT}(?:{ISSUE})?)"
                   r"(?:/seq-(?P<seq>\d{1,5})/?|/?\?sp=(?P<sp>\d{1,5})|/?)", re.ASCII)
_COLLECTION = re.compile(r"/collections/([a-z0-9][a-z0-9-]{0,99})(?:/|$)", re.ASCII)
_FILED = re.compile(
    r"((?!0000)\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?)(?:T.*)?", re.ASCII
)
_LINK = re.compile(
    r"""<a\s[^<>]*?href=["'](https?://[^"'\s<>]+)["'][^<>]*>[^<]*</a>""", re.IGNORECASE
)
_OF_TERMS = re.compile(r"right|legal|licen[cs]e", re.IGNORECASE)
_MARK = re.compile(r"\[\[/?tag\]\]")


# ---- fields, whatever their shape ----------------------------------------------------------------

def labels(value: Any) -> tuple[str, ...]:
    """The texts of a field, each once: of a text, of {label: link} objects, or of a list of
    either."""
    if isinstance(value, (dict, list)):
        return tuple(dict.fromkeys(label for entry in value for label in labels(entry)))
    return strings(value)


def texts(item: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """The texts of the first of these fields that holds any."""
    return next(filter(None, (labels(item.get(name)) for name in names)), ())


def one(item: Mapping[str, Any], *names: str) -> str | None:
    """The first text of the first of these fields that holds one; the labels of objects are
    none."""
    return next(filter(None, (first(item.get(name)) for name in names)), None)


def addresses(item: Mapping[str, Any], *names: str) -> list[str]:
    """The addresses in all these fields, absolute and secure."""
    return [
        url for name in names for text in strings(item.get(name)) for url in [https(text)] if url
    ]


def address(item: Mapping[str, Any], *names: str) -> str | None:
    return next(iter(addresses(item, *names)), None)


def https(text: str) -> str | None:
    """An address as a secure, absolute one; None for what is no address. The Library writes http,
    // and bare paths."""
    try:
        parts = urlsplit(urljoin(SITE, text))
        text.encode()  # a lone surrogate stands in no address
    except ValueError:
        return None
    if not parts.hostname or not re.match("https?://|/", text, re.IGNORECASE):
        return None
    return (
        parts._replace(scheme="https") if parts.hostname.endswith(".loc.gov") else parts
    ).geturl()


def markup(item: Mapping[str, Any], *names: str) -> list[str]:
    """The texts of these fields as published, with their HTML and their line ends."""
    values = [item.get(name) for name in names]
    return [
        text
        for value in values
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str)
    ]


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects that hold something, of a list or of lists in it."""
    if isinstance(value, list):
        return [found for entry in value for found in objects(entry)]
    return [value] if isinstance(value, dict) and value else []


def named_in(url: str | None, *kinds: str) -> str | None:
    """The identifier of an item or a resource in an address of the Library's site; None when the
    address is of something else."""
    parts = urlsplit(url or "")
    read = (
        LOCAL.fullmatch(parts.path.strip("/"))
        if parts.hostname in ("www.loc.gov", "loc.gov")
        else None
    )
    return read["id"] if read and read["kind"] in kinds else None


def slug_in(url: str | None) -> str | None:
    """The collection in an address: it cannot be made from the title."""
    read = _COLLECTION.match(urlsplit(url or "").path)
    return read[1] if read else None


def page_in(url: str | None) -> int | None:
    return amount(parse_qs(urlsplit(url or "").query).get("sp"))


def path_of(local: str) -> str:
    """Where the site serves what an identifier names; every character of one may stand in a
    path."""
    return local if local.startswith("resource/") else f"item/{local}"


def days(date: str) -> tuple[str, str]:
    """The first and the last day (YYYY-MM-DD) that "YYYY", "YYYY-MM" or "YYYY-MM-DD" allows."""
    year, month, day = (*date.split("-"), "", "")[:3]
    last = calendar.monthrange(int(year), int(month or "12"))[1]
    return f"{year}-{month or '01'}-{day or '01'}", f"{year}-{month or '12'}-{day or last}"


def span(dates: Iterable[str], *, filed: bool = False) -> tuple[str, str] | None:
    """First and last day that dates allow. In a catalogue a first of January stands for the year, a
    first for the month."""
    known = [read[1] for read in map(_FILED.fullmatch, dates) if read]
    ends = [days(re.sub("(?:-01)+$", "", date) if filed else date) for date in known]
    return (min(ends)[0], max(end for _, end in ends)) if ends else None


# ---- rows ----------------------------------------------------------------------------------------

def read_match(row: Mapping[str, Any], query: Query) -> TextMatch | None:
    """A newspaper page. Its identifier is the issue's, its number the place in the issue's sequence
    of images."""
    url = address(row, "id", "url")
    name = named_in(url, "resource", "item")
    if name is None:
        return None
    number = page_in(url) or amount(row.get("number_page")) or None
    excerpts, date, image = _excerpts(row, query), one(row, "date"), _row_image(row)
    region = placed(mapping(row.get("page_coordinate_data")))
    return TextMatch(
        identifier=f"loc:{name if '/' in name else 'resource/' + name}",
        title=one(row, "title"),
        year=year_of(date),
        page_number=number,
        page_number_is="image" if number else None,
        excerpts=excerpts,
        excerpt_kind=excerpts[0].kind if excerpts else None,
        source_url=f"{SITE}/resource/{name}/" + _query_of_page(row, number),
        published_on=date,
        publication=one(row, "partof_title"),
        places=_places(row, {}),
        span=span(texts(row, "date")),
        image_url=image,
        passage_image_url=picture_address(image, region) if region else None,
    )


def _query_of_page(row: Mapping[str, Any], number: int | None) -> str:
    """The page, and the words that the row's own address marks on it."""
    marked = next((words for url in addresses(row, "url")
                   for words in parse_qs(urlsplit(url).query).get("q", ())), None)
    named = {name: value for name, value in (("sp", number), ("q", marked)) if value}
    return "?" + urlencode(named, errors="replace") if named else ""


def _row_image(row: Mapping[str, Any]) -> str | None:
    """The picture of a row's page, the largest rendition that its image service names."""
    return next((url.split("#")[0] for url in reversed(addresses(row, "image_url"))
                 if picture_address(url.split("#")[0], None)), None)


def placed(data: Mapping[str, Any]) -> Region | None:
    """Where the words stand that were searched, by the Library's own boxes: the closest group with
    one box of each."""
    groups = [[(box[0], box[1], box[2], box[3]) for box in listing(boxes)
               if isinstance(box, list) and len(box) == 4
               and all(isinstance(side, (int, float)) for side in box)]
              for boxes in mapping(data.get("searchTerms")).values()]
    width, height = amount(data.get("width")) or 0, amount(data.get("height")) or 0
    return around(tightest(groups), width, height, "inch/1200", SHOWN_LEAST)


def _excerpts(row: Mapping[str, Any], query: Query) -> tuple[Excerpt, ...]:
    """The text around the match when the row brings it; else the page's opening, a passage only
    when it holds every word."""
    for snippet in strings(mapping(row.get("page_coordinate_data")).get("relevant_snippet")):
        mark = _MARK.search(snippet)
        if mark:
            cut = window(_MARK.sub("", snippet), mark.start(), query.excerpt_chars)
            return (Excerpt(text=cut, at=find(cut, query.words), kind="passage"),)
    opening = joined(row.get("description"), " ")
    return () if opening is None else (excerpt(opening, query.words, query.excerpt_chars),)


def read_row(row: Mapping[str, Any]) -> Record | None:
    """A catalogue row. Only what /item/ reads has an identifier; of the rest the address is
    told."""
    urls = addresses(row, "id", "url")
    if not urls:
        return None
    local = next((found for url in urls if (found := named_in(url, "item"))), None)
    date, online = one(row, "date"), row.get("digitized")
    return Record(
        identifier=f"loc:{local}" if local else None,
        title=one(row, "title"),
        creator=_creator(row),
        year=year_of(date),
        date=shown_date(date),
        media_type=joined(row.get("original_format")),
        is_item=local is not None,
        source_url=f"{SITE}/item/{local}/" if local else urls[-1],
        location=joined(texts(row, "location")),
        online=online if isinstance(online, bool) else None,
        languages=texts(row, "language"),
        subjects=texts(row, "subject"),
        span=span(texts(row, "date") + texts(row, "dates"), filed=True),
    )


def _creator(row: Mapping[str, Any]) -> str | None:
    named = contributors(mapping(row.get("item")), "contributors") or contributors(
        row, "contributor"
    )
    return "; ".join(creators(named)) or None


def read_collection(row: Mapping[str, Any]) -> Collection | None:
    slug = next((found for url in addresses(row, "url", "id") if (found := slug_in(url))), None)
    return (
        Collection(
            slug=f"loc:{slug}",
            title=one(row, "title"),
            description=joined(row.get("description"), " "),
            item_count=amount(row.get("count")),
            source_url=f"{SITE}/collections/{slug}/",
        )
        if slug
        else None
    )


def read_heading(hit: Any, query: str) -> Heading | None:
    """An object, or in older answers a bare text. A label is the form to use; a variant is the form
    that matched."""
    entry = hit if isinstance(hit, dict) else {"aLabel": hit}
    label, variant = one(entry, "aLabel", "suggestLabel"), one(entry, "vLabel")
    if label is None:
        return None
    exact = fold(" ".join(words(query))) in [
        fold(" ".join(words(form))) for form in (label, variant) if form
    ]
    return Heading(
        label=label,
        uri=one(entry, "uri"),
        kind="subject",
        exact=exact,
        variant=variant if variant != label else None,
        use_with={"argument": "subject", "value": label.split("--")[0].strip(), "sources": ["loc"]},
    )


def read_facets(block: Any) -> tuple[Facet, ...]:
    """The Library's own terms and counts. No source shows which key names the field, so three
    likely ones are read."""
    found = []
    for entry in objects(block):
        counted = [
            (one(value, "title", "term"), amount(value.get("count")))
            for value in objects(entry.get("filters"))
        ]
        values = tuple(
            FacetValue(value=value, count=count)
            for value, count in counted
            if value and count is not None
        )
        name = one(entry, "type", "field", "facet")
        if name and values:
            found.append(
                Facet(field=name, counts_what="rows that match, of every kind", values=values)
            )
    return tuple(found)


def read_years(block: Any) -> tuple[Facet, ...]:
    """Newspaper pages by date, in the periods that the Library chooses (decades over a long
    span)."""
    counted = [facet.values for facet in read_facets(block) if facet.field == "dates"]
    return tuple(
        Facet(field="year", counts_what="newspaper pages", values=values) for values in counted
    )


# ---- records -------------------------------------------------------------------------------------

def read_item(
    reference: Reference, item: Mapping[str, Any], resources: Sequence[Mapping[str, Any]]
) -> Item:
    """A record of any kind; `item` is the Library's object, not empty. A record read by its
    resource goes under its own name."""
    of_resource = reference.local.startswith("resource/")
    local = (named_in(address(item, "id"), "item") if of_resource else None) or reference.local
    prose, means, notes = _prose(item)
    copies, (place, publisher) = _copies(resources, item), _imprint(item)
    filed, left_out = _filed(item)
    return replace(
        _named(item),
        **filed,
        resources=tuple(map(_resource, resources)),
        identifier=f"loc:{local}",
        source_url=f"{SITE}/{path_of(local)}/",
        description=prose,
        description_means=means,
        notes=(*notes, *_noted(item), *left_out),
        rights=_rights(item),
        copies=copies,
        copies_available=len(copies),
        context=tuple(_context(reference, item)),
        publisher=publisher,
        place=place,
        standard_numbers=_numbers(item),
    )


def _named(item: Mapping[str, Any]) -> Item:
    """What a record says of itself: title, makers, date, kind, languages."""
    named, date = contributors(item, "contributor_names", "contributors"), one(item, "date")
    made_by = strings(item.get("creator")) or creators(named)
    return Item(
        identifier="",
        source_url="",
        title=one(item, "title", "newspaper_title"),
        creator="; ".join(made_by) or None,
        creators=made_by,
        year=year_of(date),
        year_means=YEAR_MEANS,
        date=shown_date(date),
        media_type=joined(item.get("original_format")),
        contributors=tuple(named),
        language=texts(item, "language", "languages"),
        call_number=joined(item.get("call_number")),
        extent=joined(item.get("medium")),
    )


def _noted(item: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{label}: {plain('; '.join(found))}"
        for label, names in NOTED.items()
        if (found := texts(item, *names))
    )


def _numbers(item: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    found = {name: labels([item.get(key) for key in keys]) for name, keys in NUMBERS.items()}
    return {name: numbers for name, numbers in found.items() if numbers}


def _prose(item: Mapping[str, Any]) -> tuple[str | None, str | None, tuple[str, ...]]:
    """The record's prose, what it is when that needs saying, and its notes. The same words are not
    told twice."""
    notes = tuple(map(plain, strings(item.get("notes"))))
    parts: list[str] = []
    for name in ("summary", "description", "contents", "essay"):
        text = plain("\n".join(markup(item, name)))
        if text and not any(fold(text) in fold(part) for part in parts):
            parts.append(text)
    means = None
    if notes and " ".join(" ".join(notes).split()) in [" ".join(part.split()) for part in parts]:
        means, notes = "the record's notes, run together by the Library", ()
    if first(item.get("essay")):
        means = (f"{means}, then" if means else "with") + " an essay on the newspaper"
    return "\n\n".join(parts) or None, means, notes


_HEADINGS = ("subject_headings", "subject", "subjects")


def _filed(item: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a record is filed under: its headings, and the terms and places that the Library's own
    filters take; and whether access to it is restricted, where that is said. Then a note of the
    names left out of the headings."""
    closed, names, headings = (item.get("access_restricted"), _names_among(item),
                               texts(item, *_HEADINGS))
    subjects = _but_names(headings, names)
    lost = len(headings) - len(subjects)
    return {"subjects": subjects,
            "subject_terms": _but_names(texts(item, "subject", "subjects"), names),
            "locations": texts(item, "location", "locations"),
            "access_restricted": closed if isinstance(closed, bool) else None}, (
                (f"Names among its subject headings, left out here: {lost}.",) if lost else ())


def _names_among(item: Mapping[str, Any]) -> set[str]:
    """The headings that an address in the file of names betrays as names, folded."""
    return {fold(label) for field in _HEADINGS for entry in objects(item.get(field))
            for label, link in entry.items() if "/authorities/names/" in str(link)}


def _but_names(headings: tuple[str, ...], names: set[str]) -> tuple[str, ...]:
    return tuple(heading for heading in headings if fold(heading) not in names)


def contributors(item: Mapping[str, Any], *names: str) -> list[Contributor]:
    """Names with the roles that stand behind them, as "Perrins, Charles William Dyson, 1864-1958,
    former owner"."""
    found = []
    for text in texts(item, *names):
        parts = text.split(",")
        behind = (part.strip(" .").lower() for part in reversed(parts[1:]))
        roles = list(takewhile(bool, map(_role, behind)))
        name = ",".join(parts[:len(parts) - len(roles)]).strip()
        found.append(Contributor(name=name, role=", ".join(reversed(roles)) or None))
    return found


def _role(text: str) -> str:
    """A role as MARC's relator terms spell it, "" for what is none."""
    qualified = _QUALIFIED_ROLE.fullmatch(text)
    how, said = qualified.groups() if qualified else ("", text)
    role = SHORT_ROLES.get(said, said)
    return how + role if role in ROLES or role in SHORT_ROLES.values() else ""


def creators(named: Iterable[Contributor]) -> tuple[str, ...]:
    """Those named as makers or without a role. A collection of the Library stands among the names
    too, and made nothing."""
    return tuple(
        who.name
        for who in named
        if (who.role is None or CREATING.intersection(who.role.split(", ")))
        and not who.name.lower().endswith("collection (library of congress)")
    )


def _imprint(item: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Place and publisher, only where the imprint is punctuated "Place : Publisher, date" as
    cataloguing rules prescribe."""
    punctuated = [text for text in texts(item, "created_published") if " : " in text]
    if not punctuated:
        return one(item, "location_str"), None
    imprint = read_imprint(*punctuated)
    return "; ".join(imprint.places) or None, "; ".join(imprint.publishers) or None


def _rights(item: Mapping[str, Any]) -> Rights:
    """What the record says on reuse and access, as plain text; silence stays silence."""
    stated = markup(item, "rights", "rights_information", "rights_advisory")
    text = "\n\n".join(dict.fromkeys(filter(None, map(plain, stated))))
    link = next(
        (
            link[1]
            for value in stated
            for link in _LINK.finditer(value)
            if _OF_TERMS.search(link[0])
        ),
        None,
    )
    restricted = (
        ["The Library marks access to this item as restricted."]
        if item.get("access_restricted") is True
        else []
    )
    notes = (
        ([] if text else [NO_TERMS])
        + restricted
        + list(map(plain, strings(item.get("access_advisory"))))
    )
    return Rights(
        statement=text or None,
        url=link,
        covers="the item that the record describes",
        note=" ".join(notes) or None,
    )


def _context(reference: Reference, item: Mapping[str, Any]) -> Iterator[Related]:
    """The newspaper of an issue, collections and wholes the record is part of, and the same record
    in other formats."""
    lccn, of_issue, _ = reference.local.partition("/")
    if of_issue and lccn != "resource":
        yield Related(
            identifier=f"loc:{lccn}",
            label=one(item, "newspaper_title") or lccn,
            kind="newspaper",
            source_url=f"{SITE}/item/{lccn}/",
        )
    for part in objects(item.get("partof")):
        label, slug = one(part, "title"), slug_in(address(part, "url"))
        # any other address there is of the site's general search, which its robots.txt forbids
        if label:
            yield Related(label=label, kind="collection" if slug else "part of",
                          source_url=f"{SITE}/collections/{slug}/" if slug else None)
    for other in objects(item.get("other_formats")):
        if url := address(other, "link"):
            yield Related(
                label=one(other, "label") or url,
                kind="the record in another format",
                source_url=url,
            )


# ---- resources, pages and files ------------------------------------------------------------------

def resources_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The digitised parts of a record; often none, also for a newspaper that is digitised."""
    item = mapping(answer.get("item"))
    return (
        objects(answer.get("resources"))
        or objects(item.get("resources"))
        or objects(answer.get("resource"))
    )


def _resource(resource: Mapping[str, Any]) -> Resource:
    """A part with the files that hold all of it."""
    files, url = resource.get("files"), address(resource, "url")
    count = len(files) if isinstance(files, list) else amount(files)
    image, pdf, audio = (address(resource, name) for name in ("image", "pdf", "audio"))
    return Resource(label=one(resource, "caption") or named_in(url, "resource") or "no caption",
                    page_count=count or amount(resource.get("segments")) or None,
                    image_url=image and image.split("#")[0], pdf_url=pdf, audio_url=audio)


def pages_of(
    resources: Sequence[Mapping[str, Any]], fallback_url: str
) -> list[tuple[PageEntry, list[dict[str, Any]]]]:
    """The pages of all resources, each with its files. `files` lists the files of each page in a
    record, and is the number of pages in a shorter answer, which does not say what text is held."""
    found: list[tuple[PageEntry, list[dict[str, Any]]]] = []
    for resource in resources:
        base, files = (
            (address(resource, "url") or fallback_url).split("?")[0],
            resource.get("files"),
        )
        stated = amount(files) or amount(resource.get("segments")) or 0
        count = min(stated, PAGES_MAX - len(found))
        listed = [objects(page) for page in files] if isinstance(files, list) else [None] * count
        for number, page in enumerate(listed, start=1):
            held = None if page is None else text_address(page) is not None
            found.append(
                (
                    PageEntry(
                        page_number=number,
                        page_number_is="image",
                        source_url=f"{base}?sp={number}",
                        image_url=_image(page or []),
                        text_held=held,
                    ),
                    page or [],
                )
            )
    return found


def _copies(resources: Sequence[Mapping[str, Any]], item: Mapping[str, Any]) -> tuple[Copy, ...]:
    """Files of a whole resource first, then page by page, then the pictures that the record itself
    names; each address once."""
    copies: dict[str, Copy] = {}
    for copy in (*_whole_files(resources), *_page_files(resources),
                 *(Copy(label="image", url=url) for url in addresses(item, "image_url"))):
        url = copy.url.split("#")[0]
        copies.setdefault(url, replace(copy, url=url))
    return tuple(copies.values())


def _whole_files(resources: Sequence[Mapping[str, Any]]) -> Iterator[Copy]:
    for resource in resources:
        for name, what in WHOLE_FILES.items():
            label = ", ".join(filter(None, (one(resource, "caption"), what)))
            yield from (Copy(label=label, url=url) for url in addresses(resource, name))


def _page_files(resources: Sequence[Mapping[str, Any]]) -> Iterator[Copy]:
    for page, files in pages_of(resources, SITE):
        for file in files:
            kind = one(file, "mimetype")
            what = (
                "text"
                if _is_text(file)
                else "text with positions, ALTO"
                if kind == "text/xml"
                else kind or "file"
            )
            for url in addresses(file, "url", "fulltext_service")[:1]:
                yield Copy(
                    label=f"page {page.page_number}, {what}",
                    format=kind,
                    url=url,
                    size_bytes=amount(file.get("size")),
                )


def _is_text(file: Mapping[str, Any]) -> bool:
    return (
        one(file, "mimetype") == "text/plain"
        or one(file, "use") == "text"
        or "fulltext_service" in file
    )


def text_address(files: Iterable[Mapping[str, Any]]) -> str | None:
    """Where a page's text is served; the text service before a file."""
    held = list(filter(_is_text, files))
    return next(
        (
            url
            for name in ("fulltext_service", "url")
            for file in held
            for url in addresses(file, name)
        ),
        None,
    )


def whole_text(resource: Mapping[str, Any]) -> str | None:
    """A resource's one file of plain text, without page marks; the text service's address there is
    of a single page."""
    urls = addresses(resource, "text_file", "fulltext_file")
    return next((url for url in urls if "segment=" not in url and url.endswith(".txt")), None)


def _image(files: Iterable[Mapping[str, Any]]) -> str | None:
    """A page's picture, a JPEG before any other, since a browser shows it."""
    pictures = [
        (one(file, "mimetype") or "", url) for file in files for url in addresses(file, "url")[:1]
    ]
    for kinds in (("image/jpeg", "image/jpg"), ("image/",)):
        for kind, url in pictures:
            if kind.startswith(kinds):
                return url.split("#")[0]
    return None


def describe_page(
    reference: Reference, name: str, page: int, count: int | None, answer: Mapping[str, Any]
) -> PageText:
    """Everything but the text. The page's own segment says title, date and place; the path says day
    and edition."""
    item, segment = mapping(answer.get("item")), _segment(answer, page)
    _, day, edition = name.split("/") if "/" in name else ("", None, None)
    item_id = name if "/" in name else named_in(address(item, "id"), "item")
    rights = _rights(item)
    described = PageText(
        identifier=reference.identifier,
        page_number=page,
        page_number_is="image",
        page_count=count,
        source_url=f"{SITE}/resource/{name}/?sp={page}",
        previous_page=page - 1 if page > 1 else None,
        next_page=page + 1 if count and page < count else None,
        item_identifier=f"loc:{item_id}" if item_id else None,
        edition=edition.removeprefix("ed-") if edition else None,
        rights=rights if rights.statement else NO_TERMS_OF_PAGE,
    )
    return replace(
        described,
        title=one(segment, "title") or one(item, "title"),
        places=_places(segment, item),
        published_on=one(segment, "date") or one(item, "date") or day,
        publication=one(segment, "partof_title") or one(item, "newspaper_title"),
        image_url=_image(objects(answer.get("page")))
        or address(mapping(answer.get("resource")), "image"),
    )


def _segment(answer: Mapping[str, Any], page: int) -> dict[str, Any]:
    """The segment whose address names this page; one that names none when it stands alone."""
    segments = objects(answer.get("segments"))
    fitting = (page, None) if len(segments) == 1 else (page,)
    return next((entry for entry in segments if page_in(address(entry, "id")) in fitting), {})


def _places(segment: Mapping[str, Any], item: Mapping[str, Any]) -> tuple[str, ...]:
    return labels(
        [
            segment.get(key) or item.get(key)
            for key in ("location_city", "location_county", "location_state")
        ]
    )
