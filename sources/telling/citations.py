"""One record as a citation in four forms: CSL-JSON, BibTeX, RIS and a plain line. Pure: no archive and no network is known here.

A citation holds what the record states, the day it was retrieved and the credit its archive asks for, and nothing else: no
date is guessed, a name is never split into family and given, a record of an unclear kind stays a plain document.

Sources: CSL 1.0.2, "Appendix III: Types" and the schema csl-data.json; the BibTeX documentation btxdoc ("Using BibTeX");
the RIS tags as Reference Manager published them.
"""
from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from ..contract import Item, PageEntry

# What an archive calls the kind of a record: the CSL, BibTeX and RIS types. A word that may stand for several things
# ("texts", "work", "audio") is not here, and gives _UNCLEAR.
_BOOK, _MAP, _MUSIC = ("book", "book", "BOOK"), ("map", "misc", "MAP"), ("musical_score", "misc", "MUSIC")
_PICTURE, _FILM, _MANUSCRIPT = ("graphic", "misc", "GEN"), ("motion_picture", "misc", "VIDEO"), ("manuscript", "misc", "MANSCPT")
_TYPES = {
    "books": _BOOK, "book": _BOOK, "monographie": _BOOK, "maps": _MAP, "map": _MAP, "carte": _MAP, "notated-music": _MUSIC,
    "notated music": _MUSIC, "partition": _MUSIC, "photos": _PICTURE, "image": _PICTURE, "film-and-videos": _FILM,
    "movies": _FILM, "video": _FILM, "manuscripts": _MANUSCRIPT, "manuscript": _MANUSCRIPT, "manuscrit": _MANUSCRIPT,
    "software": ("software", "misc", "COMP"),
}
_UNCLEAR = ("document", "misc", "GEN")
_OF_A_LIFE = ("author", "person", "organisation")  # kinds of record whose date is a life's, not that of anything issued

# A brace is spelled as a command even in pairs: BibTeX counts braces behind a backslash too, so one alone would end the field.
_BIBTEX_MARKS = {"\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}",
                 "^": r"\textasciicircum{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_"}
_URL_MARKS = {"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20", '"': "%22"}
_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_RIS_TAGS = (
    ("id", "ID"), ("title", "TI"), ("author", "AU"), ("year", "PY"), ("issued", "DA"), ("publisher", "PB"),
    ("publisher-place", "CY"), ("language", "LA"), ("ISBN", "SN"), ("ISSN", "SN"), ("call-number", "CN"), ("page", "SP"),
    ("source", "DB"), ("URL", "UR"), ("accessed", "Y2"), ("note", "N1"))

Facts = Mapping[str, tuple[str, ...]]  # by the name CSL has for a fact: its texts, each on one line; none for what is not stated


def citation(item: Item, *, retrieved_on: str, page: PageEntry | None = None) -> dict[str, Any]:
    """The record as {csl_json, bibtex, ris, plain}.

    `retrieved_on` begins YYYY-MM-DD. `page` is the page that was read: its printed number is the page cited; a leaf, image or
    view number is told as such in the note, since it is not what a reader finds on the paper.
    """
    csl, bibtex, ris = _TYPES.get((item.media_type or "").lower(), _UNCLEAR)
    facts = _facts(item, retrieved_on, page)
    return {"csl_json": _csl(csl, facts), "bibtex": _bibtex(bibtex, facts), "ris": _ris(ris, facts), "plain": _plain(facts)}


def _facts(item: Item, retrieved_on: str, page: PageEntry | None) -> Facts:
    printed, seen_as = _lines(page.printed_page) if page else (), ""
    if page and page.page_number is not None and not printed:
        if page.page_number_is == "printed":
            printed = (str(page.page_number),)
        else:
            seen_as = f"{page.page_number_is.capitalize()} {page.page_number}"
    return {
        "id": (re.sub(r"[^A-Za-z0-9.]+", "-", item.identifier).strip("-.") or "record",), "title": _lines(item.title),
        "author": _lines(*item.creators) or _lines(item.creator),
        "issued": _issued(item), "publisher": _lines(item.publisher),
        "publisher-place": _lines(item.place), "language": _lines(", ".join(_lines(*item.language))),
        "ISBN": _lines(*item.standard_numbers.get("isbn", ())), "ISSN": _lines(*item.standard_numbers.get("issn", ())),
        "call-number": _lines(item.call_number), "page": printed, "source": _lines(item.source_name.removeprefix("the ")),
        "URL": (page.source_url if page else item.source_url,), "accessed": _lines(retrieved_on[:10]),
        "note": _lines(". ".join(filter(None, (seen_as, *_lines(item.attribution)))))}


def _issued(item: Item) -> tuple[str, ...]:
    """The date as published, else the year."""
    if item.media_type in _OF_A_LIFE:
        return ()
    return _lines(item.date) or _lines(None if item.year is None else str(item.year))


def _lines(*texts: str | None) -> tuple[str, ...]:
    """Each text once and on one line, without control characters; those of which nothing is left are dropped."""
    visible = ("".join(" " if unicodedata.category(mark) == "Cc" else mark for mark in text or "") for text in texts)
    return tuple(dict.fromkeys(line for text in visible if (line := " ".join(text.split()))))


def _day(dates: Sequence[str]) -> tuple[int, ...]:
    """Year, month and day as far as a date states them and nothing else; () for none, for a date in words or in doubt."""
    match = _DAY.fullmatch(dates[0]) if dates else None
    parts = tuple(int(part) for part in match.groups() if part) if match else ()
    in_range = all(1 <= part <= most for part, most in zip(parts, (9999, 12, 31), strict=False))
    return parts if in_range else ()


# ---- the four forms ------------------------------------------------------------------------------------------------

def _csl(kind: str, facts: Facts) -> dict[str, Any]:
    """CSL-JSON; names are literal, a date that is no plain date is literal too."""
    stated: dict[str, Any] = {"id": facts["id"][0], "type": kind}
    stated |= {name: " ".join(texts) for name, texts in facts.items() if texts}
    if facts["author"]:
        stated["author"] = [{"literal": name} for name in facts["author"]]
    for name in ("issued", "accessed"):
        if facts[name]:
            day = _day(facts[name])
            stated[name] = {"date-parts": [list(day)]} if day else {"literal": stated[name]}
    return stated


def _bibtex(kind: str, facts: Facts) -> str:
    """A BibTeX entry in UTF-8. The title and each name stand in braces of their own, so that no reader changes the capitals of
    the one or splits the other; an address keeps its marks."""
    stated = {name: _escaped(" ".join(texts)) for name, texts in facts.items()}
    year, month, day = (*_day(facts["issued"]), "", "", "")[:3]
    fields = (
        ("title", stated["title"] and f"{{{stated['title']}}}"),
        ("author", " and ".join(f"{{{_escaped(name)}}}" for name in facts["author"])),
        ("year", str(year).zfill(4) if year else stated["issued"]), ("month", month), ("day", day),
        ("publisher", stated["publisher"]), ("address", stated["publisher-place"]), ("language", stated["language"]),
        ("isbn", stated["ISBN"]), ("issn", stated["ISSN"]), ("pages", stated["page"]),
        ("url", "".join(_URL_MARKS.get(mark, mark) for mark in facts["URL"][0])), ("urldate", stated["accessed"]),
        ("note", stated["note"]))
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields if value)
    return f"@{kind}{{{facts['id'][0]},\n{body}\n}}\n"


def _ris(kind: str, facts: Facts) -> str:
    """A RIS record, lines ended by LF. PY and DA hold a date only when it is one; another date stands in DA as published."""
    date = facts["issued"][0].split("-") if _day(facts["issued"]) else []
    published = ("/".join((*date, "")[:3]),) if len(date) > 1 else () if date else facts["issued"]  # 1904/03/ states no day
    dated = {**facts, "year": tuple(date[:1]), "issued": published,
             "accessed": tuple(day.replace("-", "/") for day in facts["accessed"])}
    lines = "".join(f"{tag}  - {text}\n" for name, tag in _RIS_TAGS for text in dated[name])
    return f"TY  - {kind}\n{lines}ER  - \n"


def _plain(facts: Facts) -> str:
    """One line for a reader: who, what, where and when published, which page, where it was read and when, the credit."""
    publisher = ": ".join((*facts["publisher-place"], *facts["publisher"]))
    parts = ("; ".join(facts["author"]), *facts["title"], ", ".join(filter(None, (publisher, *facts["issued"]))),
             *(f"p. {page}" for page in facts["page"]), *facts["source"],
             " ".join((*facts["URL"], *(f"(retrieved {day})" for day in facts["accessed"]))), *facts["note"])
    return " ".join(part if part.endswith((".", "?", "!")) else part + "." for part in parts if part)


def _escaped(text: str) -> str:
    return "".join(_BIBTEX_MARKS.get(mark, mark) for mark in text)
