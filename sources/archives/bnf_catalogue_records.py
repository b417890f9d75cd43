"""What the general catalogue of the BnF sends, read: UNIMARC records, the plain form of damaged
ones, diagnostics.

No request is made here. Elements are matched by namespace or local name, never by prefix. A field
is read as the record has it; what was not recorded is None.

Sources: UNIMARC Bibliographic (IFLA); recorded answers of 2026-06 to 2026-09 (facts of 2026-11).
"""
from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..contract import Contributor, Copy, Item, Record, Related, Rights
from ..text import amount, joined
from .dates import span_of
from .numbers import ark_check_character, keeper_of_ark

KEY = "bnfcatalogue"
SITE = "https://catalogue.bnf.fr"
ARK = r"cb[0-9]{8}[0-9b-hj-kmnp-tv-xz]"
GALLICA_ARK = re.compile(r"https?://gallica\.bnf\.fr/ark:/12148/(b(?:pt|tv)[0-9a-z]+)(/date)?/?")
SRW, MXC = "{http://www.loc.gov/zing/srw/}", "{info:lc/xmlns/marcxchange-v2}"

# The catalogue's own kinds of document, each with the letter of its index; the words are the
# service's own French.
DOCUMENT_TYPES = {
    "texte-imprime": "a",
    "musique-notee": "c",
    "carte": "e",
    "enregistrement-sonore": "g",
    "image-animee": "h",
    "image-fixe": "i",
    "monnaie-medaille": "o",
    "objet": "p",
    "multimedia": "r",
    "document-electronique": "s",
    "manuscrit": "t",
    "spectacle": "v",
}
# What a leader's letter (position 6) says where 200 $b is silent.
_KIND_OF_LEADER = {
    "a": "Texte imprimé",
    "b": "Manuscrit",
    "c": "Musique imprimée",
    "d": "Musique manuscrite",
    "e": "Carte imprimée",
    "f": "Carte manuscrite",
    "g": "Image animée",
    "i": "Son non musical",
    "j": "Musique enregistrée",
    "k": "Image fixe",
    "l": "Ressource électronique",
    "m": "Document multimédia",
    "r": "Objet",
}
# A first or equal responsibility (700, 701, 710, 711) with one of these functions, or with none
# stated, made the work.
_MAKERS = frozenset(
    {
        "",
        "040",
        "070",
        "100",
        "180",
        "220",
        "230",
        "300",
        "330",
        "350",
        "360",
        "480",
        "510",
        "520",
        "600",
        "690",
        "700",
        "705",
        "760",
    }
)
_NOT_NAMED = re.compile(
    r"(?i)[\[(]?\s*(?:s\.?\s*[lné]\.?|sine (?:loco|nomine)"
    r"|lieu de publication (?:inconnu|non identifié)"
    r"|éditeur non identifié|publisher not identified)\s*\.?\s*[\])]?"
)
_DOUBT = re.compile(
    r"(?i)[?~]|\bca?\b|\bcirca\b|\bvers\b|\b(?:ou|or)\b|\bi\.\s?e\b"
    r"|(?<!\d)\d{2,3}[.\-?u]{1,2}(?!\d)|\bA?H\b|[\u0600-\u06ff]"
)
_RUN = re.compile(r"\d{4}\s*[-/]")
_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)")
_RIGHTS = Rights(covers="what this record describes", note=(
    "The catalogue states no terms of reuse for the things that it describes; nothing is granted "
    "here. The licence in the credit is that of its records alone."))
_SUBJECTS = ("600", "601", "602", "604", "605", "606", "607", "608")
_NOTES = ("300", "304", "305", "307", "310", "313", "316", "320", "321", "327")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record of an answer. `data` is its element, None where a diagnostic stands in its place;
    `full`: UNIMARC."""

    ark: str
    data: Any
    full: bool
    changed: str | None = None  # the day of the record's last change, YYYY-MM-DD


# ---- the envelope --------------------------------------------------------------------------------

def count(root: Any) -> int | None:
    return amount(root.findtext(f"{SRW}numberOfRecords"))


def diagnostic(root: Any) -> str | None:
    """The service's own words where it refused the whole question; one inside a record is that
    record's alone."""
    told = root.find(f"{SRW}diagnostics")
    if told is None:
        return None
    return (
        ": ".join(filter(None, (_inner(told, "message"), _inner(told, "details"))))
        or "without a reason"
    )


def _inner(element: Any, name: str) -> str:
    return " ".join((element.findtext(f".//{{*}}{name}") or "").split())


def rows_of(root: Any) -> list[Row]:
    return [_row(entry) for entry in root.iter(f"{SRW}record")]


def _row(entry: Any) -> Row:
    data = entry.find(f"{SRW}recordData")
    full = data.find(f"{MXC}record") if data is not None else None
    plain = data.find("{*}dc") if data is not None else None
    ark = (entry.findtext(f"{SRW}recordIdentifier") or "").rpartition("/")[2].strip()
    stamp = next((node.text or "" for node in entry.iter("{*}attr")
                  if node.get("name") == "LastModificationDate"), "")
    changed = re.fullmatch(r"(\d{4})(\d\d)(\d\d)", stamp, re.ASCII)
    return Row(ark=ark if re.fullmatch(ARK, ark) else "", data=full if full is not None else plain,
               full=full is not None, changed="-".join(changed.groups()) if changed else None)


# ---- fields --------------------------------------------------------------------------------------

Field = list[tuple[str, str]]  # the subfields in the order met, (code, text)


def fields(record: Any, *tags: str) -> list[Field]:
    """The fields of some tags in the order met, blanks folded, empty subfields and non-sorting
    marks left out."""
    found = []
    for node in record.iter(f"{MXC}datafield"):
        if node.get("tag") in tags:
            pairs = ((part.get("code") or "", _clean(part.text or "")) for part in node)
            found.append([("@", (node.get("ind1") or " ") + (node.get("ind2") or " ")),
                          *((code, text) for code, text in pairs if text)])
    return found


def _clean(text: str) -> str:
    return " ".join(re.sub("[\x88\x89\x98\x9c]", "", text).split())


def values(field: Field, codes: str) -> list[str]:
    return [text for code, text in field if code in codes]


def value(field: Field, code: str) -> str:
    return next(iter(values(field, code)), "")


def first_field(record: Any, *tags: str) -> Field:
    return next(iter(fields(record, *tags)), [])


def address(ark: str) -> str:
    return f"{SITE}/ark:/12148/{ark}"


def identifier_of(number: str) -> str | None:
    """What an eight-digit number of another record names: a record of the catalogue, or a work or
    person of data.bnf.fr."""
    if not re.fullmatch(r"[1-9]\d{7}", number, re.ASCII):
        return None
    name = "cb" + number
    return f"{keeper_of_ark(name)}:{name}{ark_check_character(name)}"


# ---- what a record states ------------------------------------------------------------------------

def title(record: Any) -> str | None:
    """The title with its parts as punctuated in a catalogue; of a part without a title, the set's
    title before its number."""
    stated = first_field(record, "200")
    parts = {"a": " ; ", "e": " : ", "h": ". ", "i": ", ", "d": " = "}
    told = ""
    for code, text in stated:
        if code in parts:
            mark = ". " if code == "i" and not value(stated, "h") else parts[code]
            told += (mark if told else "") + text
    if not value(stated, "a"):
        of_set = value(first_field(record, "461"), "t")
        told = ". ".join(filter(None, (of_set, told)))
    return told or None


def kind(record: Any) -> str | None:
    """The library's own word for what the record describes, else what its leader says."""
    stated = value(first_field(record, "200"), "b")
    leader = record.findtext(f"{MXC}leader") or ""
    return stated or _KIND_OF_LEADER.get(leader[6:7])


@functools.cache
def _roles() -> dict[str, str]:
    table = Path(__file__).with_name("unimarc_roles.tsv").read_text(encoding="utf-8")
    return dict(line.split("\t") for line in table.splitlines())


def _name(field: Field) -> str:
    """A heading as the library files it: Hugo, Victor, 1802-1885. In a record without codes, $c may
    hold the function."""
    qualifier = values(field, "c") if value(field, "3") or value(field, "4") else []
    return ", ".join(
        filter(
            None,
            (
                value(field, "a"),
                value(field, "b"),
                *values(field, "d"),
                *qualifier,
                value(field, "f"),
            ),
        )
    )


def _role(field: Field) -> str | None:
    codes = [_roles().get(code, f"function {code}") for code in values(field, "4")]
    bare = [] if codes or value(field, "3") else [word.lower() for word in values(field, "c")]
    return ", ".join(codes or bare) or None


def contributors(record: Any) -> tuple[Contributor, ...]:
    found = (
        Contributor(
            name=_name(field), role=_role(field), identifier=identifier_of(value(field, "3"))
        )
        for field in fields(
            record, "700", "701", "702", "703", "710", "711", "712", "720", "721", "722"
        )
    )
    return tuple(entry for entry in found if entry.name)


def creators(record: Any) -> tuple[str, ...]:
    """Those who made the work: the first and equal responsibilities whose function says so, or is
    not stated."""
    made = (field for field in fields(record, "700", "701", "710", "711", "720", "721")
            if _role(field) is None or set(values(field, "4")) & _MAKERS)
    return tuple(dict.fromkeys(filter(None, map(_name, made))))


def imprint(record: Any) -> tuple[str | None, str | None, str | None]:
    """(place, publisher, date) as recorded: of several places or publishers all; what the record
    marks as unknown, none."""
    stated = fields(record, "210") + [
        field for field in fields(record, "214") if field[0][1][1:] in (" ", "0")
    ]
    taken = stated or fields(record, "214")

    def told(code: str) -> str | None:
        texts = (
            _unbracketed(text.strip(" :;,")) for field in taken for text in values(field, code)
        )
        kept = [
            text
            for text in texts
            if text
            and not _NOT_NAMED.fullmatch(text)
            and not re.match(r"(?i)in-\d", text)
            and (code == "d" or not re.fullmatch(r"\W*\d[\d.?u-]*\W*", text))
        ]
        return " ; ".join(dict.fromkeys(kept)) or None

    return told("a"), told("c"), told("d")


def _unbracketed(text: str) -> str:
    """Without a bracket whose partner stands in another subfield: (S. l., 1953.)"""
    for opening, closing in ("()", "[]"):
        if (opening in text) != (closing in text):
            text = text.strip(opening + closing + " ")
    return text


def year(record: Any, printed: str | None) -> int | None:
    """The year beyond doubt: the coded one and the printed one where they agree, or one where the
    other is silent."""
    kind_of_date, coded = _coded_date(record)
    told = printed or ""
    if kind_of_date in "abcf" or _RUN.search(told) or _DOUBT.search(told):
        return None
    seen = {int(number) for number in _YEAR.findall(told)}
    if _YEAR.fullmatch(coded):
        seen = {int(coded)} if not seen or int(coded) in seen else set()
    elif coded.strip("| ") or len(seen) != 1:
        return None
    found = seen.pop() if seen else None
    return found if found is not None and found <= datetime.date.today().year + 1 else None


def _coded_date(record: Any) -> tuple[str, str]:
    """Type and first year of the coded date (100 $a, positions 8 and 9 to 12), whose blanks
    count."""
    for node in record.iter(f"{MXC}datafield"):
        if node.get("tag") == "100" and len(node) and node[0].text:
            return node[0].text[8:9] or " ", node[0].text[9:13]
    return " ", ""


def numbers(record: Any) -> tuple[str, ...]:
    """Every ISBN and EAN that the record states, without hyphens."""
    stated = (text for field in fields(record, "010", "073") for text in values(field, "a"))
    return tuple(dict.fromkeys(text.replace("-", "").replace(" ", "").upper() for text in stated))


def languages(record: Any) -> tuple[str, ...]:
    codes = values(first_field(record, "101"), "a")
    return tuple(code for code in dict.fromkeys(codes) if code not in ("xxx", "und", "zxx"))


def scan(record: Any) -> str | None:
    """The digitised copy that the record itself names, as Gallica's identifier; never asked from
    here."""
    for field in fields(record, "856"):
        match = GALLICA_ARK.fullmatch(value(field, "u"))
        if match and field[0][1][0] == "4":
            return f"gallica:{match[1]}"
    return None


# ---- rows ----------------------------------------------------------------------------------------

def read_row(row: Row) -> Record | None:
    if row.data is None or not row.ark:
        return None
    return _full_row(row) if row.full else _plain_row(row)


def _full_row(row: Row) -> Record | None:
    record = row.data
    stated = title(record)
    if stated is None:
        return None
    place, publisher, date = imprint(record)
    copy, first_year = scan(record), year(record, date)
    return Record(
        identifier=f"{KEY}:{row.ark}",
        title=stated,
        creator=joined(creators(record)),
        date=date,
        year=first_year,
        span=span_of(first_year),
        media_type=kind(record),
        source_url=address(row.ark),
        languages=languages(record),
        publishers=(publisher,) if publisher else (),
        location=place,
        scan=copy,
        online=True if copy else None,
    )


def _plain_row(row: Row) -> Record | None:
    """A damaged record by its Dublin Core: enough to say what it is, no more."""
    heading = next(iter(_plain(row, "title")), "").partition(" / ")[0]
    if not heading:
        return None
    names = [re.sub(r"\)\. .*$", ")", name) for name in _plain(row, "creator")]
    date = next(iter(_plain(row, "date")), None)
    return Record(
        identifier=f"{KEY}:{row.ark}",
        title=heading,
        creator=joined(names),
        date=date,
        year=int(date) if date and re.fullmatch(r"1\d{3}|20\d\d", date) else None,
        media_type=next(iter(_plain(row, "type", "fre")), None),
        source_url=address(row.ark),
        publishers=tuple(_plain(row, "publisher")),
        languages=tuple(code for code in _plain(row, "language") if re.fullmatch("[a-z]{3}", code)),
    )


def _plain(row: Row, name: str, language: str | None = None) -> list[str]:
    """The elements of one name in a record of Dublin Core, those in one language where it is
    named."""
    return [text for node in row.data.iter(f"{{*}}{name}")
            if (language is None or language in node.attrib.values())
            and (text := _clean(node.text or ""))]


# ---- one record ----------------------------------------------------------------------------------

def read_item(row: Row) -> Item:
    record = row.data
    place, publisher, date = imprint(record)
    made, abstract = creators(record), _joined(record, "330", "a")
    return Item(
        identifier=f"{KEY}:{row.ark}",
        title=title(record),
        creator=joined(made),
        creators=made,
        date=date,
        year=year(record, date),
        year_means="the year of this edition",
        media_type=kind(record),
        source_url=address(row.ark),
        description=abstract,
        description_means=abstract and "the abstract in the record, which may be the publisher's",
        notes=tuple(_notes(row)),
        subjects=tuple(_subjects(record)),
        copies=_copies(row),
        rights=_RIGHTS,
        context=tuple(_context(record)),
        contributors=contributors(record),
        language=languages(record),
        publisher=publisher,
        place=place,
        call_number=_shelfmarks(record),
        extent=_joined(record, "215", "acde"),
        standard_numbers=_standard_numbers(record),
    )


def _shelfmarks(record: Any) -> str | None:
    stated = (value(field, "a") for field in fields(record, "930"))
    return "; ".join(filter(None, stated)) or None


def _joined(record: Any, tag: str, codes: str) -> str | None:
    stated = (" ; ".join(values(field, codes)) for field in fields(record, tag))
    return "\n".join(filter(None, stated)) or None


def _notes(row: Row) -> Iterable[str]:
    responsible = values(first_field(row.data, "200"), "fg")
    if responsible:
        yield f"Responsibility as printed: {' ; '.join(responsible)}"
    yield from (text for field in fields(row.data, *_NOTES) for text in values(field, "a"))
    original = values(first_field(row.data, "101"), "c")
    if original:
        yield f"Translated from: {', '.join(original)}"
    if row.changed:
        yield f"The library last changed this record on {row.changed}."


def _subjects(record: Any) -> Iterable[str]:
    for field in fields(record, *_SUBJECTS):
        head = ", ".join(values(field, "abcf"))
        yield " -- ".join([*filter(None, (head,)), *values(field, "tjxyz")])
    yield from (text for field in fields(record, "610") for text in values(field, "a"))


def _context(record: Any) -> Iterable[Related]:
    """The work, the set and its parts, the series, and the headings of the subjects, each with what
    reads it."""
    for tags, what, codes, number in (
        (("500",), "work", "ahi", "3"),
        (("461", "463"), "set or part", "tv", "0"),
        (("410",), "series", "tv", "0"),
        (("600", "601", "602", "606", "607"), "subject heading", "ab", "3"),
    ):
        for field in fields(record, *tags):
            label = ", ".join(values(field, codes))
            if label:
                yield Related(
                    identifier=identifier_of(value(field, number)), label=label, kind=what
                )
    if not fields(record, "410"):
        yield from (Related(label=", ".join(values(field, "av")), kind="series")
                    for field in fields(record, "225") if values(field, "av"))


def _copies(row: Row) -> tuple[Copy, ...]:
    """The paper copies by shelfmark, then the digitised one at its own address."""
    page = address(row.ark)
    paper = [
        Copy(
            label=" · ".join(filter(None, (f"shelfmark {value(field, 'a')}", value(field, "c")))),
            url=page,
        )
        for field in fields(row.data, "930")
        if value(field, "a") and value(field, "c") != "Document numérisé"
    ]
    found = (GALLICA_ARK.fullmatch(value(field, "u")) for field in fields(row.data, "856"))
    digitised = [
        Copy(
            label="digitised on Gallica",
            url=f"https://gallica.bnf.fr/ark:/12148/{match[1]}{match[2] or ''}",
        )
        for match in found
        if match
    ]
    return (*paper, *digitised)


def _standard_numbers(record: Any) -> dict[str, tuple[str, ...]]:
    tags = {"isbn": "010", "issn": "011", "ean": "073", "ismn": "013"}
    found = {
        name: tuple(
            dict.fromkeys(text for field in fields(record, tag) for text in values(field, "a"))
        )
        for name, tag in tags.items()
    }
    return {name: stated for name, stated in found.items() if stated}
