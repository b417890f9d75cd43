"""The text block on a screen: wrapped to its width, the words that were looked for in bold, a bar
for each decade."""
from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from ..telling.harmless import inert
from ..text import fold

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
LEAST_COLUMNS = 40  # narrower screens scroll sideways rather than show a word a line
YEARS_MAX = 30  # from here on decades are drawn
BAR_COLUMNS = 50  # of the longest bar at most
_STYLE = re.compile("\x1b\\[[01]m")
_QUOTED = re.compile(r"“[^”]*”|(?<=^> ).*")
# a passage of a row, a passage of a page, a line of a page
_FOUND_LINE = re.compile(r"   (?:passage: )?“|> ")
_WORD = re.compile(r"[^\W_]+")
_PREFIX = re.compile(r" *(?:\d+\. |- |> )?")
# written without blanks; Hangul is as wide, and has them
_WIDE = "\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_PIECE = re.compile(f" |[{_WIDE}]|[^ {_WIDE}]+")
_NO_WIDTH = re.compile("[\u1160-\u11ff]")  # the later letters of a Hangul syllable
# What a piece that fits no line may be parted into: a syllable of Thai, Lao, Burmese or Khmer,
# whose blanks stand between clauses, or of Hangul; anything else stays whole.
_SYLLABLE = re.compile(
    "[\u0e40-\u0e44\u0ec0-\u0ec4]?[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]"
    "(?:[\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec6-\u0ece\u102b-\u103e\u17b6-\u17d3]"
    "|(?<=[\u1039\u17d2]).)*"
    "|[\u1100-\u115f][\u1160-\u11ff]*|[\uac00-\ud7a3][\u11a8-\u11ff]*"
    "|[^\u0e01-\u0eff\u1000-\u115f\u1780-\u17ff\uac00-\ud7a3]+|."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """How answers are shown. `columns` None: not wrapped, since nobody looks at a width (a pipe, a
    file)."""

    columns: int | None = None
    bold: bool = False

    @classmethod
    def of(cls, stream: TextIO, environ: Mapping[str, str]) -> Screen:
        """COLUMNS, else the terminal's own width; bold on a terminal unless NO_COLOR or TERM=dumb
        says no."""
        terminal = stream.isatty()
        asked = environ.get("COLUMNS", "")
        columns = (
            int(asked)
            if re.fullmatch("[1-9][0-9]{0,3}", asked)
            else _width(stream)
            if terminal
            else None
        )
        knows_styles = os.name != "nt" or "WT_SESSION" in environ
        return cls(
            columns=max(LEAST_COLUMNS, columns) if columns else None,
            bold=terminal
            and knows_styles
            and not environ.get("NO_COLOR")
            and environ.get("TERM") != "dumb",
        )


def readable(text: str, screen: Screen, *, mark: Iterable[str] = ()) -> str:
    """A text block as `screen` shows it; the words of the texts in `mark` are bold where something
    is quoted as found."""
    wanted = (
        {fold(word) for wording in mark for word in _WORD.findall(wording)}
        if screen.bold
        else set()
    )
    lines = (
        _marked(line, wanted) if wanted and _FOUND_LINE.match(line) else line
        for line in text.split("\n")
    )
    return "\n".join(
        lines
        if screen.columns is None
        else (part for line in lines for part in _wrapped(line, screen.columns))
    )


def decades(payload: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    """A bar for each decade of each archive's own counts by year, or for each year where they span
    fewer than thirty; archives count different things, so each has its own scale."""
    names = {report["source"]: report["name"] for report in payload.get("per_source", ())}
    for facet in payload.get("facets", ()):
        counted = _by_year(facet)
        if not counted:
            continue
        step = 10 if max(counted) - min(counted) >= YEARS_MAX else 1
        bars: Counter[int] = Counter()
        for year, count in counted.items():
            bars[year - year % step] += count
        name = names.get(facet["source"], facet["source"])
        kind = "Decades" if step > 1 else "Years"
        yield f"{kind}: {inert(name)}, {inert(facet['counts_what'])}"
        room = min(BAR_COLUMNS, (screen.columns or BAR_COLUMNS + 20) - 20)
        for begins in range(min(bars), max(bars) + 1, step):
            count = bars[begins]
            bar = "█" * max(1, round(room * count / max(bars.values()))) if count else ""
            label = f"{begins}s" if step > 1 else str(begins)
            yield "  " + " ".join(filter(None, (label, bar, f"{count:,}")))


def _by_year(facet: Mapping[str, Any]) -> Counter[int]:
    """A facet's counts by their years; none where it counts no years."""
    counted: Counter[int] = Counter()
    for entry in facet["values"] if facet["field"] == "year" else ():
        if re.match(r"\d{4}(?!\d)", entry["value"], re.ASCII):
            counted[int(entry["value"][:4])] += entry["count"]
    return counted


def _marked(line: str, wanted: set[str]) -> str:
    def bold(word: re.Match[str]) -> str:
        return f"{BOLD}{word.group()}{PLAIN}" if fold(word.group()) in wanted else word.group()

    return _QUOTED.sub(lambda quoted: _WORD.sub(bold, quoted.group()), line)


def _wrapped(line: str, columns: int) -> Iterator[str]:
    """One line in as many as it needs, those that follow under its text; an address or an
    identifier is never broken."""
    prefix = _PREFIX.match(line)
    head = prefix.group() if prefix else ""
    indent = head if head == "> " else " " * len(head)
    current = head
    for piece in _pieces(line[len(head):], columns - len(indent)):
        if columns_of(current + piece) > columns and len(current) > len(indent) and piece != " ":
            yield current.rstrip()
            current = indent + piece
        else:
            current += piece
    yield current.rstrip()


def _pieces(text: str, room: int) -> Iterator[str]:
    """What stays together on a line."""
    for piece in _PIECE.findall(text):
        whole = "://" in piece or columns_of(piece) <= room
        yield from (piece,) if whole else _SYLLABLE.findall(piece)


def columns_of(text: str) -> int:
    """The columns a text takes on a screen: none for marks and styles, two for wide characters."""
    shown = _STYLE.sub("", text)
    if shown.isascii():
        return len(shown)
    return sum(
        0 if _NO_WIDTH.match(char) or unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in shown
    )


def _width(stream: TextIO) -> int | None:
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None
