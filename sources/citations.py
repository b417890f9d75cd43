"""One record as a citation in four forms: CSL-JSON, BibTeX, RIS and a plain line. Pure: no archive and no network is known here.

A citation holds what the record states, the day it was retrieved and the credit its archive asks for, and nothing else: no
date is guessed, a name is never split into family and given, a record of an unclear kind stays a plain document.

Sources: CSL 1.0.2, "Appendix III: Types" and the schema csl-data.json; the BibTeX documentation btxdoc ("Using BibTeX");
the RIS tags as Reference Manager published them.
"""
from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .contract import Item, PageEntry

# What an archive calls the kind of a record: the CSL, BibTeX and RIS types. A word that may stand for several things
# ("texts", "work", "audio") is not here, and gives _UNCLEAR.
_BOOK, _MAP, _MUSIC = ("book", "book", "BOOK"), ("map", "misc", "MAP"), ("musical_score", "misc", "MUSIC")
_PICTURE, _FILM, _MANUSCRIPT = ("graphic", "misc", "GEN"), ("motion_picture", "misc", "VIDEO"), ("manuscript", "misc", "MANSCPT")
_TYPES = {
    "books": _BOOK, "book": _BOOK, "monographie": _BOOK, "maps": _MAP, "map": _MAP, "carte": _MAP, "notated-music": _MUSIC,
    "notated music": _MUSIC, "partition": _MUSIC, "photos": _PICTURE, "image": _PICTURE, "film-and-videos": _FILM, "movies": _FILM,
    "video": _FILM, "manuscripts": _MANUSCRIPT, "manuscript": _MANUSCRIPT, "manuscrit": _MANUSCRIPT, "software": ("software", "misc", "COMP"),
}
_UNCLEAR = ("document", "misc", "GEN")

# A brace is spelled as a command even in pairs: BibTeX counts braces behind a backslash too, so one alone would end the field.
_BIBTEX_MARKS = {"\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}",
                 "^": r"\textasciicircum{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_"}
_URL_MARKS = {"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20", '"': "%22"}
_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What the record states, each text on one line; `issued` is the date in one to three numbers when it is one."""

    key: str
    types: tuple[str, str, str]
    title: str | None
    creators: tuple[str, ...]
    issued: tuple[int, ...]
    date: str | None
    publisher: str | None
    place: str | None
    languages: tuple[str, ...]
    isbn: tuple[str, ...]
    issn: tuple[str, ...]
    call_number: str | None
    source: str | None
    url: str
    printed_page: str | None
    note: str | None
    retrieved: tuple[int, ...]


def citation(item: Item, *, retrieved_on: str, page: PageEntry | None = None) -> dict[str, Any]:
    """The record as {csl_json, bibtex, ris, plain}.

    `retrieved_on` begins YYYY-MM-DD. `page` is the page that was read: its printed number is the page cited; a leaf, image or
    view number is told as such in the note, since it is not what a reader finds on the paper.
    """
    facts = _facts(item, retrieved_on, page)
    return {"csl_json": _csl(facts), "bibtex": _bibtex(facts), "ris": _ris(facts), "plain": _plain(facts)}


def _facts(item: Item, retrieved_on: str, page: PageEntry | None) -> _Facts:
    printed = _line(page.printed_page) if page else None
    notes = [_line(item.attribution)]
    if page and page.page_number is not None and not printed:
        if page.page_number_is == "printed":
            printed = str(page.page_number)
        else:
            notes.insert(0, f"{page.page_number_is.capitalize()} {page.page_number}")
    date = _line(item.date) or (str(item.year) if item.year is not None else None)
    return _Facts(
        key=re.sub(r"[^A-Za-z0-9.]+", "-", item.identifier).strip("-.") or "record", types=_TYPES.get((item.media_type or "").lower(), _UNCLEAR),
        title=_line(item.title), creators=_lines(item.creators) or _lines((item.creator,)), issued=_day(date), date=date,
        publisher=_line(item.publisher), place=_line(item.place), languages=_lines(item.language),
        isbn=_lines(item.standard_numbers.get("isbn", ())), issn=_lines(item.standard_numbers.get("issn", ())),
        call_number=_line(item.call_number), source=_line(item.source_name.removeprefix("the ")), url=(page.source_url if page else item.source_url),
        printed_page=printed, note=". ".join(note for note in notes if note) or None, retrieved=_day(retrieved_on[:10]))


def _line(text: str | None) -> str | None:
    """The text on one line, without control characters; None when nothing is left."""
    visible = "".join(" " if unicodedata.category(character) == "Cc" else character for character in text or "")
    return " ".join(visible.split()) or None


def _lines(texts: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for text in texts if (line := _line(text))))


def _day(date: str | None) -> tuple[int, ...]:
    """Year, month and day as far as a date states them and nothing else; () for a date in words or in doubt."""
    match = _DAY.fullmatch(date or "")
    parts = tuple(int(part) for part in match.groups() if part) if match else ()
    in_range = all(1 <= part <= most for part, most in zip(parts, (9999, 12, 31), strict=False))
    return parts if in_range else ()


# ---- the four forms ------------------------------------------------------------------------------------------------

def _csl(facts: _Facts) -> dict[str, Any]:
    """CSL-JSON; names are literal, a date that is no plain date is literal too."""
    issued = {"date-parts": [list(facts.issued)]} if facts.issued else facts.date and {"literal": facts.date}
    stated = {
        "id": facts.key, "type": facts.types[0], "title": facts.title, "author": [{"literal": name} for name in facts.creators],
        "issued": issued, "publisher": facts.publisher, "publisher-place": facts.place, "language": ", ".join(facts.languages),
        "ISBN": " ".join(facts.isbn), "ISSN": " ".join(facts.issn), "call-number": facts.call_number, "page": facts.printed_page,
        "source": facts.source, "URL": facts.url, "accessed": {"date-parts": [list(facts.retrieved)]} if facts.retrieved else None,
        "note": facts.note,
    }
    return {name: value for name, value in stated.items() if value}


def _bibtex(facts: _Facts) -> str:
    """A BibTeX entry in UTF-8. Each name stands in braces of its own, so that no reader splits it; an address keeps its marks."""
    year, month, day = (*facts.issued, None, None, None)[:3]
    fields = (
        ("title", _braced(facts.title)), ("author", " and ".join(f"{{{_escaped(name)}}}" for name in facts.creators)),
        ("year", _escaped(str(year).zfill(4) if year else facts.date)), ("month", str(month or "")), ("day", str(day or "")),
        ("publisher", _escaped(facts.publisher)), ("address", _escaped(facts.place)), ("language", _escaped(", ".join(facts.languages))),
        ("isbn", _escaped(" ".join(facts.isbn))), ("issn", _escaped(" ".join(facts.issn))), ("pages", _escaped(facts.printed_page)),
        ("url", "".join(_URL_MARKS.get(mark, mark) for mark in facts.url)), ("urldate", _written(facts.retrieved, "-")),
        ("note", _escaped(facts.note)),
    )
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields if value)
    return f"@{facts.types[1]}{{{facts.key},\n{body}\n}}\n"


def _ris(facts: _Facts) -> str:
    """A RIS record, lines ended by LF. PY and DA hold a date only when it is one; another date stands in DA as published."""
    year, month, day = (*facts.issued, None, None, None)[:3]
    published = "/".join(f"{part:02d}" if part else "" for part in (year, month, day)) if month else None
    lines = [("TY", facts.types[2]), ("ID", facts.key), ("TI", facts.title), *(("AU", name) for name in facts.creators),
             ("PY", f"{year:04d}" if year else None), ("DA", published or (None if year else facts.date)), ("PB", facts.publisher),
             ("CY", facts.place), ("LA", ", ".join(facts.languages)), *(("SN", number) for number in (*facts.isbn, *facts.issn)),
             ("CN", facts.call_number), ("SP", facts.printed_page), ("DB", facts.source), ("UR", facts.url),
             ("Y2", _written(facts.retrieved, "/")), ("N1", facts.note)]
    return "".join(f"{tag}  - {value}\n" for tag, value in lines if value) + "ER  - \n"


def _plain(facts: _Facts) -> str:
    """One line for a reader: who, what, where and when published, which page, where it was read and when, the credit."""
    imprint = ": ".join(part for part in (facts.place, facts.publisher) if part)
    imprint = ", ".join(part for part in (imprint, facts.date) if part)
    retrieved = f" (retrieved {_written(facts.retrieved, '-')})" if facts.retrieved else ""
    parts = ("; ".join(facts.creators), facts.title, imprint, facts.printed_page and f"p. {facts.printed_page}", facts.source,
             facts.url + retrieved, facts.note)
    return " ".join(part if part.endswith((".", "?", "!")) else part + "." for part in parts if part)


def _escaped(text: str | None) -> str:
    return "".join(_BIBTEX_MARKS.get(mark, mark) for mark in text or "")


def _braced(text: str | None) -> str:
    """A title in a second pair of braces, which keeps its capitals as published."""
    return f"{{{_escaped(text)}}}" if text else ""


def _written(day: tuple[int, ...], separator: str) -> str:
    return separator.join(f"{part:02d}" for part in day)
