"""One reader of imprints for every archive: place, publisher and date of "Place : Publisher, date".

A cataloguer marks what stands nowhere in the book by brackets, and what is not known by words
("S.l.", "publisher not identified"); neither mark is part of a name.

Source: ISBD, area 4 (place ; place : publisher : publisher, date); the recorded answers.
"""
from __future__ import annotations

import re
from dataclasses import dataclass

from .dates import MONTH

_GROUP = re.compile(r"\[([^\[\]]*)\]|\s?\(([^()]*)\)")
_PART = re.compile(r"(?:\[[^\[\]]*\]|\([^()]*\)|[^,])+")  # a comma in brackets parts nothing
_MARKS = re.compile(r"[\[\](){}<>©]")
_TOKEN = re.compile(r"[^\W_]+")
# "1507", "c1884", "186-", "18--", "MDXLVII"
_YEAR = re.compile(r"(?:c|p|cop|ca)?\d{3,4}s?|[mdclxvi]{4,}", re.IGNORECASE)
_CENTURY = re.compile(r"\b\d\d(?:--|\.\.|\?\?|uu)")
_AROUND_A_YEAR = re.compile(
    rf"\d{{1,4}}(?:st|nd|rd|th|er)?|[mdclxvi]+|{MONTH}|c|p|ca|cop|circa|copyright|between|before"
    "|after|not|entre|avant|après|vers|depuis|zwischen|um|nach|vor|etwa|hacia|antes|después"
    "|circiter|anno|annis|ann|an|año|domini|salutis|l|ad|im|jahr|jahre|printed|imprimé|gedruckt"
    "|i|e|or|ou|oder|bis|u|and|et|und|y|spring|summer|autumn|winter", re.IGNORECASE)
_DAY = re.compile(rf"\s*(?:{MONTH}) \d{{1,2}}\s*", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"(?:s\.l|s\.n|s\.d|s\.a|s\.t|n\.p|n\.d|o\.o|o\.v|o\.j|s\.l\.n\.d|s\.l\.s\.n|sineloco"
    r"|sinenomine|ohneort|ohneverlag|ohnejahr|sanslieu|sansdate|nodate|noplace|nopublisher"
    r"|.*(?:notidentified|nonidentifié|nichtermittel|noidentificad|nonidentificat).*)\.?",
    re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imprint:
    """What an imprint states, each place and publisher once; the date as published, None where it
    is said not to be known."""

    places: tuple[str, ...] = ()
    publishers: tuple[str, ...] = ()
    date: str | None = None


def read_imprint(*imprints: str) -> Imprint:
    """One imprint, or several of one book. A text without a colon names a publisher alone."""
    places: list[str] = []
    publishers: list[str] = []
    dates: list[str] = []
    for imprint in imprints:
        for statement in _statements(imprint):
            head, dated = _undated(statement)
            place, colon, names = (head + " ").partition(" : ")
            if colon or " ; " in imprint and " : " in imprint:
                places.append(place)
            else:
                publishers.append(place)
            for name in names.split(" : "):
                (dates if _is_date(name) else publishers).append(name)
            dates += dated
    return Imprint(places=_known(places), publishers=_known(publishers),
                   date=", ".join(_known(dates)) or None)


def _statements(imprint: str) -> list[str]:
    """The parts between semicolons that each have a place, without who made the copies and without
    brackets that reach over several names; looser punctuation as ISBD has it."""
    text = _GROUP.sub(_opened, " ".join(imprint.split()) + " ")
    text = re.sub(r" :(?=\S)", " : ", text)
    if " : " not in text:
        text = re.sub(r"(?<=[^\W_]): ", " : ", re.sub(r";(?= [^;:]*: )", " ;", text))
    return text.split(" ; ") if " : " in text else [text]


def _opened(group: re.Match[str]) -> str:
    """Brackets round several names go; "(Oxford : University Press)" behind a date goes whole."""
    supplied, maker = group.groups()
    if supplied is not None:
        return supplied if " : " in supplied or " ; " in supplied else group[0]
    return "" if " : " in maker else group[0]


def _undated(statement: str) -> tuple[str, list[str]]:
    """A statement without the date or dates that end it, and those."""
    parts = _PART.findall(statement)
    end = len(parts)
    while end and (_is_date(parts[end - 1])
                   or (end < len(parts) and _DAY.fullmatch(parts[end - 1]))):
        end -= 1
    return ",".join(parts[:end]), parts[end:]


def _is_date(part: str) -> bool:
    """Whether a part is a year with what may stand around one, or says that none is known."""
    bare = _MARKS.sub("", part)
    tokens = _TOKEN.findall(bare)
    around = tokens and all(_AROUND_A_YEAR.fullmatch(token) or _YEAR.fullmatch(token)
                            for token in (tokens[0], tokens[-1]))
    stated = _CENTURY.search(bare) or any(map(_YEAR.fullmatch, tokens))
    return bool(around and stated) or (" : " not in part and _is_unknown(part))


def _is_unknown(name: str) -> bool:
    return _UNKNOWN.fullmatch("".join(_MARKS.sub("", name).split())) is not None


def _known(names: list[str]) -> tuple[str, ...]:
    """The names without the brackets that hold one whole, each once, and none that is no name."""
    bare = (_bare(name) for name in names if not _is_unknown(name))
    return tuple(dict.fromkeys(name for name in bare if name))


def _bare(name: str) -> str:
    name = name.strip(" ,;:/")
    if name.count("[") != name.count("]"):
        return name.strip("[] ")
    whole = re.fullmatch(r"\[([^\[\]]*)\]", name)
    return whole[1].strip() if whole else name
