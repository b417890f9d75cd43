"""How Open Library writes rows, headings and records, and how each becomes a value here. Pure
functions.

A field is text in one record, an object or a list in the next, null or absent in a third; every
reader here takes all of them.

Source: the shapes that the project's Books API and Search API pages show, and those of its monthly
dumps (facts of 2026-11).
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from ..contract import Contributor, Copy, Edition, Heading, Item, Life, Record, Related, Rights
from ..text import amount, first, fold, integer, joined, listing, mapping, strings, words
from .dates import possible, span_of, year_of

SITE = "https://openlibrary.org"
COVERS = "https://covers.openlibrary.org"  # handed out for a person to open, never asked
CREDIT = f"Open Library ({SITE}), a project of the Internet Archive."
FOLDER_OF = {"W": "works", "M": "books", "A": "authors"}
AVAILABILITY = ("status", "is_readable", "is_lendable", "is_printdisabled", "is_restricted",
                "is_previewable", "is_browseable",
                "available_to_browse", "available_to_borrow", "available_to_waitlist",
                "num_waitlist", "identifier", "openlibrary_edition", "error_message")
LENT = ("public", "borrowable")  # of the archive's words for access, those a reader can use
SUBJECTS_MAX = 5  # on a row; a classic carries hundreds, reading the record gives them all
NOTED = (("subtitle", "Subtitle"), ("edition_name", "Edition statement"),
         ("by_statement", "Statement of responsibility"),
         ("copyright_date", "Copyright date"), ("first_sentence", "First sentence"),
         ("notes", "Note"))
# by the letter of the identifier: what it is, the field of its date, and what the year measures
BOOKS = {
    "W": ("work", "first_publish_date", "first publication, as the work's record states"),
    "M": ("edition", "publish_date", "this edition's own date"),
}
REMOTE = {"wikidata": "https://www.wikidata.org/wiki/", "viaf": "https://viaf.org/viaf/",
          "isni": "https://isni.org/isni/"}
RIGHTS = Rights(covers="this catalogue record", note=(
    "No record of Open Library states terms of reuse; nothing is granted here. Its editors give "
    "their edits under CC0; the sources of descriptions and covers state nothing. That a scan can "
    "be read or borrowed says nothing about its rights."))

OLID = re.compile(r"OL\d{1,12}[WMA]", re.ASCII)
_SCAN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


def key_of(value: Any) -> str | None:
    """A key such as "/works/OL1W", written as text or inside an object."""
    return first(value.get("key") if isinstance(value, dict) else value)


def olid_of(value: Any) -> str | None:
    """The bare identifier at the end of a key; None for anything else, lists and tags included."""
    olid = (key_of(value) or "").rpartition("/")[2]
    return olid if OLID.fullmatch(olid) else None


def _olids(value: Any) -> Iterable[str]:
    return filter(None, map(olid_of, listing(value)))


def _prose(value: Any) -> str | None:
    """A text that may be a string or {type, value}, its line ends kept; None when it is blank."""
    text = value.get("value") if isinstance(value, dict) else value
    if isinstance(text, str):
        return text.strip().replace("\r\n", "\n") or None
    return joined(text, "\n")


def _title(record: Mapping[str, Any]) -> str | None:
    """A title with the article filed before it; the literal `__None__` is how the index writes that
    there is none."""
    title, prefix = first(record.get("title")), first(record.get("title_prefix"))
    if title is None or title == "__None__":
        return None
    return f"{prefix} {title}" if prefix else title


def _address(olid: str) -> str:
    return f"{SITE}/{FOLDER_OF[olid[-1]]}/{olid}"


def _scan(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """The scan that an edition points to: its identifier at the Internet Archive, and its
    address."""
    scan = first(record.get("ocaid"))
    return (scan, f"https://archive.org/details/{scan}") if scan and _SCAN.fullmatch(scan) else None


def objection(body: Any) -> str:
    """The words of a refusal, {"detail": [{"msg": …}]}; what it is about when they are missing."""
    detail = mapping(body).get("detail")
    said = first(detail) or first([mapping(entry).get("msg") for entry in listing(detail)])
    return (said or "it gave no reason.").removeprefix("Value error, ")


def read_row(entry: Any) -> Record | None:
    """A row of the search; None without the key of a work, or of an edition that has no work."""
    doc = mapping(entry)
    olid = olid_of(doc.get("key"))
    if olid is None or olid[-1] == "A":
        return None
    year = integer(doc.get("first_publish_year"))
    year = year if year and possible(year) else None
    row = Record(
        identifier=f"openlibrary:{olid}", source_url=_address(olid), title=_title(doc),
        creator=joined(doc.get("author_name")), year=year,
        span=span_of(year),
        media_type=BOOKS[olid[-1]][0],
        languages=strings(doc.get("language")), subjects=strings(doc.get("subject"))[:SUBJECTS_MAX],
        author_identifiers=tuple(f"openlibrary:{author}"
                                 for author in _olids(doc.get("author_key"))),
        rating=_rating(doc))
    return _with_editions(row, doc)


def _with_editions(row: Record, doc: Mapping[str, Any]) -> Record:
    """The row with what is told of the work's editions, and of the one that met what was asked of
    an edition."""
    found = mapping(doc.get("editions"))
    edition = mapping(next(iter(listing(found.get("docs"))), None))
    return replace(
        row, edition_count=amount(doc.get("edition_count")),
        ebook_access=first(doc.get("ebook_access")),
        cover_url=next(_pictures("b", (doc.get("cover_i"),), "M"), None),
        availability=_availability(doc.get("availability") or edition.get("availability")),
        matching_edition=_matching(edition), matching_edition_count=amount(found.get("numFound")),
        scan=_row_scan(doc))


def _row_scan(doc: Mapping[str, Any]) -> str | None:
    """The scan of a work that can be read or borrowed, by its identifier at the Internet Archive:
    the row lists public ones first, and names the one that is lent."""
    access = first(doc.get("ebook_access"))
    public = first(doc.get("ia")) if access == "public" else None
    scan = public or (first(doc.get("lending_identifier_s")) if access in LENT else None)
    return f"archive:{scan}" if scan and _SCAN.fullmatch(scan) else None


def _matching(edition: Mapping[str, Any]) -> dict[str, Any] | None:
    olid = olid_of(edition.get("key"))
    return {"identifier": f"openlibrary:{olid}", "title": _title(edition),
            "languages": strings(edition.get("language")),
            "publishers": strings(edition.get("publisher"))} if olid else None


def _availability(value: Any) -> dict[str, Any] | None:
    """The archive's own words and flags as they came, nulls left out: what it does not state stays
    unknown."""
    told = {name: mapping(value).get(name) for name in AVAILABILITY}
    return {name: said for name, said in told.items() if isinstance(said, (str, int))} or None


def _rating(doc: Mapping[str, Any]) -> dict[str, Any] | None:
    average = doc.get("ratings_average")
    if isinstance(average, bool) or not isinstance(average, (int, float)):
        return None
    return {"average": round(average, 2), "count": amount(doc.get("ratings_count"))}


def read_person(entry: Any, query: str) -> Heading | None:
    """An author. The value handed on is the author's key: names are shared, and the parameter
    `author` reads keys."""
    doc = mapping(entry)
    olid, label = olid_of(doc.get("key")), first(doc.get("name"))
    if olid is None or olid[-1] != "A" or label is None:
        return None
    matched, exact = _name_matched((label, *strings(doc.get("alternate_names"))), query)
    return Heading(label=label, uri=_address(olid), identifier=f"openlibrary:{olid}",
                   kind="person", exact=exact,
                   variant=None if matched == label else matched,
                   born=_date(doc.get("birth_date")), died=_date(doc.get("death_date")),
                   work_count=amount(doc.get("work_count")), top_work=first(doc.get("top_work")),
                   use_with={"argument": "creator", "value": olid, "sources": ["openlibrary"]})


def _name_matched(names: Sequence[str], query: str) -> tuple[str, bool]:
    """The name that is the query, else the first that holds all its words, else the first; and
    whether it is the query."""
    wanted = {fold(word) for word in words(query)}
    same = next((name for name in names if fold(name) == fold(query.strip())), None)
    holding = (name for name in names if wanted <= {fold(word) for word in words(name)})
    return same or next(holding, names[0]), same is not None


def namesakes(entries: Sequence[Any]) -> tuple[str, ...]:
    """One note that tells apart the first authors who bear the same name, by what their rows
    state."""
    docs = [doc for doc in map(mapping, entries) if first(doc.get("name"))]
    names = [first(doc.get("name")) for doc in docs]
    told = []
    for doc, name in zip(docs, names, strict=True):
        works, top = amount(doc.get("work_count")), first(doc.get("top_work"))
        stated = (f"{olid_of(doc.get('key'))} {name}", _lifetime(doc),
                  None if works is None else f"{works} works",
                  top and f"such as {top}")
        if names.count(name) > 1:
            told.append("; ".join(filter(None, stated)))
    return ("several authors bear one name: " + " / ".join(told[:5]) + ".",) if told else ()


def _lifetime(record: Mapping[str, Any]) -> str | None:
    dates = (("born", _date(record.get("birth_date"))), ("died", _date(record.get("death_date"))))
    return ", ".join(f"{what} {date}" for what, date in dates if date) or first(record.get("date"))


def _date(value: Any) -> str | None:
    """A date as written; one without a letter or digit, as ".", says nothing."""
    date = first(value)
    return date if date and any(character.isalnum() for character in date) else None


def read_subject(entry: Any, query: str) -> Heading | None:
    """A readers' tag: a subject or a place has a field of its own in a search, a person or a time
    has none."""
    doc = mapping(entry)
    label, key = first(doc.get("name")), key_of(doc.get("key")) or ""
    kind = first(doc.get("subject_type")) or first(doc.get("type")) or "subject"
    if label is None:
        return None
    used = {"argument": kind, "value": f'"{label}"',
            "sources": ["openlibrary"]} if kind in ("subject", "place") else None
    uri = SITE + quote(key, safe="/:_,", errors="replace") if key.startswith("/subjects/") else None
    return Heading(label=label, uri=uri, kind=kind,
                   exact=fold(label) == fold(query.strip()), use_with=used,
                   because=None if used else f"Open Library files this under {kind}, which no "
                                             "field reads; give it as query.")


# ---- one record ----------------------------------------------------------------------------------

def read_credits(record: Mapping[str, Any]) -> dict[str, str]:
    """Authors by identifier, each with its role; a work wraps the key in `author`, an edition does
    not."""
    credits: dict[str, str] = {}
    for entry in listing(record.get("authors")):
        told = mapping(entry)
        olid = olid_of(told.get("author") or entry)
        if olid and olid[-1] == "A":
            credits.setdefault(olid, first(told.get("role")) or first(told.get("as")) or "author")
    return credits


def read_book(olid: str, record: Mapping[str, Any], credits: Mapping[str, str],
              names: Mapping[str, str]) -> Item:
    """A work or an edition; each states some of the fields, and none is taken from the other but
    the author."""
    media_type, dated, means = BOOKS[olid[-1]]
    date = first(record.get(dated))
    year = year_of(date)
    known = tuple(filter(None, map(names.get, credits)))
    return replace(
        _with_subjects(_described(olid, record), record),
        media_type=media_type,
        date=date,
        year=year,
        year_means=None if year is None else means,
        creator="; ".join(known) or None,
        creators=known,
        contributors=_contributors(record, credits, names),
    )


def _described(olid: str, record: Mapping[str, Any]) -> Item:
    """What is read alike of a work and of an edition."""
    copies = (*_scan_copy(record), *_covers("b", record.get("covers")))
    return Item(
        identifier=f"openlibrary:{olid}", source_url=_address(olid),
        title=_title(record), rights=RIGHTS,
        description=_prose(record.get("description")), notes=_noted(record, NOTED),
        copies=copies, copies_available=len(copies),
        context=_context(record),
        language=_languages(record), publisher=joined(record.get("publishers")),
        place=joined(record.get("publish_places")),
        call_number=joined(record.get("lc_classifications")), extent=_extent(record),
        standard_numbers=_numbers(record))


def _with_subjects(item: Item, record: Mapping[str, Any]) -> Item:
    """The subjects that a work files, places, times and people apart."""
    return replace(
        item, subjects=_filed(record, "subjects", "subject"),
        subject_places=_filed(record, "subject_places", "subject_place"),
        subject_times=_filed(record, "subject_times", "subject_time"),
        subject_people=_filed(record, "subject_people", "subject_person"))


def _filed(record: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """What stands under a field's name of today or an older one, each once."""
    return tuple(dict.fromkeys(text for name in names for text in strings(record.get(name))))


def _contributors(record: Mapping[str, Any], credits: Mapping[str, str],
                  names: Mapping[str, str]) -> tuple[Contributor, ...]:
    """Authors, then the others named. A name that could not be learnt leaves the identifier
    standing in its place."""
    authors = (Contributor(name=names.get(author, author), role=role,
                           identifier=f"openlibrary:{author}")
               for author, role in credits.items())
    others = (Contributor(name=name, role=first(other.get("role")))
              for other in map(mapping, listing(record.get("contributors")))
              if (name := first(other.get("name"))))
    return (*authors, *others, *(Contributor(name=name)
                                 for name in strings(record.get("contributions"))))


def _scan_copy(record: Mapping[str, Any]) -> tuple[Copy, ...]:
    scan = _scan(record)
    return (Copy(label="Scan at the Internet Archive", url=scan[1]),) if scan else ()


def _context(record: Mapping[str, Any]) -> tuple[Related, ...]:
    """Its works, its scan, its series, its links."""
    scan = _scan(record)
    context = [Related(identifier=f"openlibrary:{key}", label=f"work {key}", kind="work",
                       source_url=_address(key))
               for key in _olids(record.get("works"))]
    if scan:
        context.append(Related(identifier=f"archive:{scan[0]}",
                               label="the scan, at the Internet Archive", kind="scan",
                               source_url=scan[1]))
    context += [Related(label=series, kind="series") for series in strings(record.get("series"))]
    return (*context, *_links(record))


def read_author(olid: str, record: Mapping[str, Any]) -> Item:
    """An author: the name stands as title, the life as description, other registers' numbers as
    context."""
    copies = _covers("a", record.get("photos"))
    others = joined(record.get("alternate_names"))
    notes = _noted(record, (("fuller_name", "Fuller name"), ("title", "Title")))
    return Item(identifier=f"openlibrary:{olid}", source_url=_address(olid),
                title=first(record.get("name")),
                date=_lifetime(record), media_type="author", rights=RIGHTS,
                description=_prose(record.get("bio")),
                notes=(*notes, f"Other names: {others}") if others else notes,
                copies=copies, copies_available=len(copies),
                persons=Life(born=_date(record.get("birth_date")),
                             died=_date(record.get("death_date"))),
                context=(*_registers(record), *_links(record)))


def _registers(record: Mapping[str, Any]) -> tuple[Related, ...]:
    """An author's numbers in other registers, with an address where one is known."""
    return tuple(Related(label=f"{register}: {number}", kind="identifier",
                         source_url=REMOTE[register] + quote(number, safe="", errors="replace")
                         if register in REMOTE else None)
                 for register, value in mapping(record.get("remote_ids")).items()
                 for number in strings(value))


def read_edition(entry: Any) -> Edition | None:
    """An entry of a list: an edition of a work, or a work of an author; None without a key."""
    record = mapping(entry)
    olid, scan = olid_of(record.get("key")), _scan(record)
    if olid is None:
        return None
    return Edition(identifier=f"openlibrary:{olid}", title=_title(record),
                   date=first(record.get("publish_date"))
                   or first(record.get("first_publish_date")),
                   publisher=joined(record.get("publishers")),
                   place=joined(record.get("publish_places")),
                   language=_languages(record), standard_numbers=_numbers(record),
                   source_url=_address(olid),
                   digitised_url=scan[1] if scan else None)


def _noted(record: Mapping[str, Any], table: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{label}: {text}" for name, label in table if (text := _prose(record.get(name))))


def _covers(folder: str, value: Any) -> tuple[Copy, ...]:
    label = "Cover" if folder == "b" else "Portrait"
    return tuple(Copy(label=label, format="image/jpeg", url=url)
                 for url in _pictures(folder, listing(value), "L"))


def _pictures(folder: str, numbers: Sequence[Any], size: str) -> Iterator[str]:
    """Addresses of pictures; -1, null and 0 stand where one was taken away."""
    return (f"{COVERS}/{folder}/id/{number}-{size}.jpg" for number in map(integer, numbers)
            if number and number > 0)


def _links(record: Mapping[str, Any]) -> tuple[Related, ...]:
    links = ((first(link.get("title")), first(link.get("url")) or "")
             for link in map(mapping, listing(record.get("links"))))
    return tuple(Related(label=title or url, kind="link", source_url=url) for title, url in links
                 if url.startswith(("https://", "http://")))


def _languages(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(key.rpartition("/")[2] for key in map(key_of, listing(record.get("languages")))
                 if key)


def _numbers(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    filed = {"isbn": ("isbn_13", "isbn_10"), "lccn": ("lccn",),
             "oclc": ("oclc_numbers", "oclc_number")}
    numbers = {kind: tuple(dict.fromkeys(number for name in names
                                         for number in strings(record.get(name))))
               for kind, names in filed.items()}
    return {kind: found for kind, found in numbers.items() if found}


def _extent(record: Mapping[str, Any]) -> str | None:
    pages = amount(record.get("number_of_pages"))
    # Cataloguing punctuation leads on to a part that is not given here ("491 p. :").
    size = (first(record.get("pagination")) or "").rstrip(" :;,+") or (f"{pages} pages" if pages
                                                                       else None)
    return "; ".join(filter(None, (size, first(record.get("physical_format"))))) or None
