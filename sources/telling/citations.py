"""The one maker of citations: a record, a page or a row as CSL-JSON, BibTeX, RIS and a plain line.

A citation holds what the source states, the day it was retrieved and the credit its archive asks
for, and nothing else: no date is guessed, a name is split into family and given only where the
heading has that form, a thing of an unclear kind stays a plain document.

Sources: CSL 1.0.2, "Appendix III: Types", and the schema csl-data.json; the BibTeX documentation
btxdoc ("Using BibTeX"); the RIS tags as Reference Manager published them.
"""
from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import languages
from ..contract import Item, PageEntry, PageText, Record, TextMatch

FORMATS = ("plain", "bibtex", "ris", "csl_json")

# What an archive calls the kind of a thing: the CSL, BibTeX and RIS types. A word that may stand
# for several things ("work", "audio") is not here, and gives _UNCLEAR.
_BOOK, _MAP, _MUSIC = ("book", "book", "BOOK"), ("map", "misc", "MAP"), (
    "musical_score", "misc", "MUSIC")
_PICTURE, _FILM = ("graphic", "misc", "GEN"), ("motion_picture", "misc", "VIDEO")
_MANUSCRIPT, _SERIAL = ("manuscript", "misc", "MANSCPT"), ("periodical", "misc", "SER")
_NEWS = ("article-newspaper", "article", "NEWS")
_SOUND = ("song", "misc", "SOUND")
_TYPES = {
    **dict.fromkeys(("books", "book", "monographie", "texts", "edition", "texte imprimé"), _BOOK),
    **dict.fromkeys(("maps", "map", "carte", "carte imprimée", "carte manuscrite"), _MAP),
    **dict.fromkeys(("notated-music", "notated music", "partition", "musique imprimée",
                     "musique manuscrite", "musique notée"), _MUSIC),
    **dict.fromkeys(("photos", "image", "image fixe"), _PICTURE),
    **dict.fromkeys(("film-and-videos", "movies", "video", "image animée"), _FILM),
    **dict.fromkeys(("manuscripts", "manuscript", "manuscrit"), _MANUSCRIPT),
    **dict.fromkeys(("periodique", "periodical", "newspapers", "fascicule"), _SERIAL),
    **dict.fromkeys(("musique", "sonore", "enregistrement sonore", "musique enregistrée"), _SOUND),
    "newspaper page": _NEWS, "software": ("software", "misc", "COMP"),
}
_UNCLEAR = ("document", "misc", "GEN")
_OF_A_LIFE = ("author", "person", "organisation")  # whose date is a life's, not of anything issued

# A brace is spelled as a command even in pairs: BibTeX counts braces behind a backslash too, so
# one alone would end the field.
_BIBTEX_MARKS = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "&": r"\&", "%": r"\%", "$": r"\$",
    "#": r"\#", "_": r"\_"}
_URL_MARKS = {"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20", '"': "%22"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FRENCH = {"janv": 1, "févr": 2, "mars": 3, "avri": 4, "avr": 4, "mai": 5, "juin": 6, "juil": 7,
           "août": 8, "sept": 9, "octo": 10, "nove": 11, "déce": 12}
_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T[\d:.]+Z?)?)?)?", re.ASCII)
_IN_WORDS = re.compile(r"(?:(\d{1,2})(?:er|\.)? )?([^\W\d]{3,10})\.?(?: (\d{1,2}))?,? (\d{4})")
_LIFE = re.compile(
    r",? *\(?(?:ca\.? |b\. |d\. |fl\. )?(?:\d{3,4}\??)?-? ?(?:\d{3,4}\??|\.{4})?\)?\.?"
)
# Words of bodies: a heading that holds one is no person's, though a comma stands in it.
_BODY = re.compile(r"(?i)\b(?:academy|association|board|bureau|committee|company|co|commission|"
                   r"conference|council|department|dept|government|institut\w*|librar\w+|"
                   r"maison|minist\w+|mus[eé]\w+|office|press|soci[eé]t\w+|service|universit\w+|"
                   r"works|archives?|biblioth\w+|école|school|church|great britain|france)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A creator as stated; `family` and `given` only where the heading has that form."""

    stated: str
    family: str | None = None
    given: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """What is cited, as its source states it, every text on one line. `issued` is a date as
    published, `year` one beyond doubt; `key` is unique within the archives and never changes."""

    key: str
    kind: str | None = None
    title: str | None = None
    container: str | None = None
    names: tuple[Name, ...] = ()
    issued: str | None = None
    year: int | None = None
    publisher: str | None = None
    place: str | None = None
    languages: tuple[str, ...] = ()
    isbn: tuple[str, ...] = ()
    issn: tuple[str, ...] = ()
    call_number: str | None = None
    page: str | None = None
    archive: str | None = None
    url: str
    accessed: str
    note: str | None = None


# ---- what is cited -------------------------------------------------------------------------------

def of_record(item: Item, *, retrieved_on: str, page: PageEntry | None = None) -> Cited:
    """A record; with `page`, one page of it."""
    cited = _of_item(item, retrieved_on[:10])
    if item.media_type in _OF_A_LIFE:
        cited = replace(cited, issued=None, year=None)
    return _at_page(cited, page, item.attribution) if page else cited


def _of_item(item: Item, accessed: str) -> Cited:
    numbers = item.standard_numbers
    return Cited(
        key=_key(item.identifier), kind=item.media_type, title=_line(item.title),
        names=_names(*(item.creators or (item.creator,))), issued=_line(item.date), year=item.year,
        publisher=_line(item.publisher), place=_line(item.place), languages=_lines(*item.language),
        isbn=_lines(*numbers.get("isbn", ())), issn=_lines(*numbers.get("issn", ())),
        call_number=_line(item.call_number), archive=_archive(item.source_name),
        url=item.source_url, accessed=accessed, note=_noted(item.attribution))


def of_page(page: PageText, *, retrieved_on: str, archive: str, credit: str | None) -> Cited:
    """One page that was read. A page of a publication is cited as newspapers are, by the name of
    the publication, its day and place; any other as its record is named."""
    kind = "newspaper page" if page.publication else "texts" if page.text else None
    cited = Cited(
        key=_key(page.identifier), kind=kind, title=_line(page.title),
        container=_line(page.publication), issued=_line(page.published_on),
        place=_line("; ".join(page.places)), archive=_archive(archive), url=page.source_url,
        accessed=retrieved_on[:10])
    return _at_page(cited, _entry(page), credit)


def of_row(row: Record | TextMatch, *, retrieved_on: str, credit: str | None = None) -> Cited:
    """A row of a search, by what the row states: no record was read for it."""
    cited = Cited(
        key=_key(row.identifier or row.source_url), title=_line(row.title), year=row.year,
        names=_names(row.creator), archive=_archive(row.source_name),
        url=row.source_url, accessed=retrieved_on[:10], note=_noted(credit))
    if isinstance(row, Record):
        return replace(cited, kind=row.media_type, issued=_line(row.date),
                       publisher=_line("; ".join(row.publishers)),
                       languages=_lines(*row.languages))
    kind = "newspaper page" if row.publication else "texts"
    told = replace(cited, kind=kind, container=_line(row.publication),
                   issued=_line(row.published_on))
    return _at_page(told, _entry(row), credit)


def _entry(page: PageText | TextMatch) -> PageEntry:
    return PageEntry(page_number=page.page_number, page_number_is=page.page_number_is or "page",
                     printed_page=getattr(page, "printed_page", None), source_url=page.source_url)


def _at_page(cited: Cited, page: PageEntry, credit: str | None) -> Cited:
    """One page of a thing. Its printed number is the page cited; the number of a leaf, image or
    view is told in the note, since it is not what stands on the paper."""
    number, printed, seen_as = page.page_number, _line(page.printed_page), None
    if printed is None and number is not None:
        if page.page_number_is == "printed":
            printed = str(number)
        else:
            seen_as = f"{page.page_number_is.capitalize()} {number}"
    return replace(cited, key=cited.key + ("" if number is None else f"-{number}"), page=printed,
                   url=page.source_url, note=_noted(seen_as, credit))


def _key(identifier: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", identifier).strip("-.") or "record"


def _archive(name: str) -> str | None:
    return _line(name.removeprefix("the "))


def _noted(*parts: str | None) -> str | None:
    return ". ".join(filter(None, map(_line, parts))) or None


def _line(text: str | None) -> str | None:
    return next(iter(_lines(text)), None)


def _lines(*texts: str | None) -> tuple[str, ...]:
    """Each text once and on one line, without control characters; those of which nothing is left
    are dropped."""
    visible = ("".join(" " if unicodedata.category(mark) == "Cc" else mark for mark in text or "")
               for text in texts)
    return tuple(dict.fromkeys(line for text in visible if (line := " ".join(text.split()))))


def _names(*stated: str | None) -> tuple[Name, ...]:
    return tuple(map(_name, _lines(*stated)))


def _name(stated: str) -> Name:
    """`Fenwick, Orla, 1841-1909` is family, given and a life; a body's name is no such heading."""
    family, _, rest = stated.partition(", ")
    given, _, life = rest.partition(", ")
    if not life and (bracket := re.fullmatch(r"(.+) (\([\d?. -]+\))", given)):
        given, life = bracket[1], bracket[2]
    personal = given and not re.search(r"[\d;]", family + given) and _LIFE.fullmatch(life)
    if not personal or _BODY.search(stated) or len(family.split()) > 3 or len(given.split()) > 4:
        return Name(stated=stated)
    return Name(stated=stated, family=family, given=given)


def date_parts(cited: Cited) -> tuple[int, ...]:
    """Year, month and day as far as the date states them; the year alone where only it is beyond
    doubt; () for none."""
    parts = _plain_date(cited.issued or "") or _date_in_words(cited.issued or "")
    if parts and all(1 <= part <= most for part, most in zip(parts, (9999, 12, 31), strict=False)):
        return parts
    return (cited.year,) if cited.year else ()


def _plain_date(stated: str) -> tuple[int, ...]:
    match = _DAY.fullmatch(stated)
    return tuple(int(part) for part in match.groups() if part) if match else ()


def _date_in_words(stated: str) -> tuple[int, ...]:
    """October 1, 1988 and 1er octobre 1988."""
    match = _IN_WORDS.fullmatch(stated)
    month = _month(match[2]) if match else None
    if match is None or month is None:
        return ()
    day = match[1] or match[3]
    return (int(match[4]), month, *((int(day),) if day else ()))


def _month(word: str) -> int | None:
    short = word.lower()
    if short[:3] in _MONTHS and not short.startswith("mars"):
        return _MONTHS.index(short[:3]) + 1
    return _FRENCH.get(short[:4]) or _FRENCH.get(short[:3])


# ---- the four forms ------------------------------------------------------------------------------

def citation(item: Item, *, retrieved_on: str, page: PageEntry | None = None) -> dict[str, Any]:
    """A record, or one page of it, as {csl_json, bibtex, ris, plain}."""
    return forms(of_record(item, retrieved_on=retrieved_on, page=page))


def forms(cited: Cited) -> dict[str, Any]:
    return {"csl_json": csl_json(cited), "bibtex": bibtex(cited), "ris": ris(cited),
            "plain": plain(cited)}


def kind_of(cited: Cited) -> tuple[str, str, str]:
    """The CSL, BibTeX and RIS types."""
    return _TYPES.get((cited.kind or "").lower(), _UNCLEAR)


# A fact, and its name in CSL, BibTeX and RIS; "" where a form has no place for it.
_FACTS = (
    ("container", "container-title", "journal", "T2"),
    ("publisher", "publisher", "publisher", "PB"),
    ("place", "publisher-place", "address", "CY"),
    ("isbn", "ISBN", "isbn", "SN"),
    ("issn", "ISSN", "issn", "SN"),
    ("call_number", "call-number", "", "CN"),
    ("page", "page", "pages", "SP"),
    ("archive", "source", "", "DB"),
)


def _stated(cited: Cited, form: int) -> list[tuple[str, str]]:
    """The facts that are alike in every form: (name there, text)."""
    found = ((names[form], getattr(cited, names[0])) for names in _FACTS if names[form])
    return [(name, text) for name, value in found if value
            for text in ((value,) if isinstance(value, str) else _told(value, form))]


def _told(numbers: tuple[str, ...], form: int) -> tuple[str, ...]:
    """Several numbers: a line each in RIS, one text elsewhere."""
    return numbers if form == 3 else (" ".join(numbers),)


def csl_json(cited: Cited) -> dict[str, Any]:
    """CSL-JSON; a date that is no plain date is literal, and so is a name not known to have
    parts."""
    names = [{"family": name.family, "given": name.given} if name.family
             else {"literal": name.stated} for name in cited.names]
    facts = {"id": cited.key, "type": kind_of(cited)[0], "title": cited.title, "author": names,
             "issued": _csl_date(date_parts(cited), cited.issued), **dict(_stated(cited, 1)),
             "language": _coded(cited, 1), "URL": cited.url, "note": cited.note,
             "accessed": _csl_date(_plain_date(cited.accessed), None)}
    return {name: value for name, value in facts.items() if value}


def _csl_date(parts: tuple[int, ...], stated: str | None) -> dict[str, Any] | None:
    if parts:
        return {"date-parts": [list(parts)]}
    return {"literal": stated} if stated else None


def bibtex(cited: Cited) -> str:
    """A BibTeX entry in UTF-8. The title and a name without parts stand in braces of their own, so
    that no reader changes the capitals of the one or splits the other."""
    fields = (
        ("title", cited.title and f"{{{_escaped(cited.title)}}}"),
        ("author", " and ".join(map(_bibtex_name, cited.names))),
        *_bibtex_date(cited),
        *((name, _escaped(text)) for name, text in _stated(cited, 2)),
        ("language", _escaped(_coded(cited, 3).lower())),
        ("url", "".join(_URL_MARKS.get(mark, mark) for mark in cited.url)),
        ("urldate", cited.accessed),
        ("note", _escaped(_noted(_undated(cited), cited.note))),
    )
    body = ",\n".join(f"  {name} = {value if name == 'month' else f'{{{value}}}'}"
                      for name, value in fields if value)
    return f"@{kind_of(cited)[1]}{{{cited.key},\n{body}\n}}\n"


def _bibtex_date(cited: Cited) -> tuple[tuple[str, str | None], ...]:
    year, month, day = (*date_parts(cited), None, None, None)[:3]
    return (("year", f"{year:04d}" if year else None),
            ("month", _MONTHS[month - 1] if month else None), ("day", str(day) if day else None))


def _undated(cited: Cited) -> str | None:
    """The words of a date that is no date, which BibTeX has no field for."""
    known = not cited.issued or date_parts(cited)
    return None if known else f"Date as published: {cited.issued}"


def _bibtex_name(name: Name) -> str:
    if name.family is None or name.given is None:
        return f"{{{_escaped(name.stated)}}}"
    return f"{_escaped(name.family)}, {_escaped(name.given)}"


def ris(cited: Cited) -> str:
    """A RIS record, lines ended by LF. PY holds a year only; a date that is none stands in DA as
    published."""
    day = [f"{part:0{2 if place else 4}d}" for place, part in enumerate(date_parts(cited))]
    published = "/".join((*day, "")[:3]) if len(day) > 1 else None if day else cited.issued
    authors = (f"{name.family}, {name.given}" if name.family else name.stated
               for name in cited.names)
    lines = (("ID", cited.key), ("TI", cited.title), *(("AU", author) for author in authors),
             ("PY", day[0] if day else None), ("DA", published), *_stated(cited, 3),
             ("LA", ", ".join(cited.languages)), ("UR", cited.url),
             ("Y2", cited.accessed.replace("-", "/")), ("N1", cited.note))
    body = "".join(f"{tag}  - {text}\n" for tag, text in lines if text)
    return f"TY  - {kind_of(cited)[2]}\n{body}ER  - \n"


def plain(cited: Cited) -> str:
    """One line for a reader: who, what, where and when published, which page, where it was read and
    when, the credit."""
    issued = cited.issued or (str(cited.year) if cited.year else None)
    publisher = ": ".join(filter(None, (cited.place, cited.publisher)))
    retrieved = f" (retrieved {cited.accessed})" if cited.accessed else ""
    parts = ("; ".join(name.stated for name in cited.names), cited.title, cited.container,
             ", ".join(filter(None, (publisher, issued))), cited.page and f"p. {cited.page}",
             cited.archive, cited.url + retrieved, cited.note)
    return " ".join(
        part if part.endswith((".", "?", "!")) else part + "." for part in parts if part
    )


def _coded(cited: Cited, column: int) -> str:
    """The languages as a format wants them: their two-letter code (1) or English name (3) where the
    table has one, else as stated."""
    table = {row[0]: row[column] for row in languages.rows() if row[column] != "-"}
    return ", ".join(table.get(code, code) for code in cited.languages)


def _escaped(text: str | None) -> str:
    return "".join(_BIBTEX_MARKS.get(mark, mark) for mark in text or "")


# ---- whole files ---------------------------------------------------------------------------------

def unique(entries: Sequence[Cited]) -> tuple[Cited, ...]:
    """The entries with keys that differ, in the order given: a second of one key is told apart by a
    letter, as BibTeX styles do."""
    seen: dict[str, int] = {}
    told = []
    for entry in entries:
        number = seen[entry.key] = seen.get(entry.key, -1) + 1
        told.append(replace(entry, key=entry.key + _letters(number)) if number else entry)
    return tuple(told)


def _letters(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"-{number}"


def whole(entries: Sequence[Cited], form: str) -> Any:
    """A file of entries in one of FORMATS: a text, or for csl_json the list of its objects."""
    makers: Mapping[str, Any] = {"bibtex": bibtex, "ris": ris, "plain": plain}
    if form == "csl_json":
        return [csl_json(entry) for entry in entries]
    return "\n".join(makers[form](entry).rstrip("\n") + "\n" for entry in entries)
