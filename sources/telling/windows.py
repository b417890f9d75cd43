"""Cutting long text to the part that was asked, and finding words in a page. Pure functions; all figures are characters."""
from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from ..answers import Window
from ..text import ELLIPSIS, fold

PASSAGE_MARGIN = 300  # characters either side of an occurrence (DESIGN 4, read_text)
_TERM = re.compile(r'"([^"]*)"|(\S+)')
# Scripts without blanks.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def cut(text: str, offset: int, max_chars: int) -> tuple[str, Window]:
    """The part of `text` from `offset`, ended at a line end where one stands in its second half, else at a blank, else hard."""
    end = min(len(text), offset + max_chars)
    if end < len(text):
        floor = offset + (end - offset) // 2
        at = max(text.rfind("\n", floor, end), -1)
        at = at if at >= 0 else text.rfind(" ", floor, end)
        end = at + 1 if at >= 0 else end
    part = text[offset:end] if offset < len(text) else ""
    following = end if offset < len(text) and end < len(text) else None
    return part, Window(offset=offset, returned_chars=len(part), total_chars=len(text), next_offset=following)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The passages around occurrences, in order, and how many occurrences there are in all and inside the passages."""

    passages: tuple[str, ...]
    occurrences: int
    shown: int


def find(text: str, match: str, max_passages: int) -> Found:
    """Occurrences of the words and quoted phrases of `match`; a word matches whole, case and accents folded.

    An occurrence inside the passage before it makes no passage of its own. In scripts written without blanks a term matches
    wherever it stands.
    """
    folded, origin = _fold_with_origin(text)
    pattern = _pattern(match, "".join(char for char in sorted(set(folded)) if unicodedata.category(char)[0] == "M"))
    spans = [(origin[found.start()], origin[found.end() - 1] + 1) for found in pattern.finditer(folded)] if pattern else []
    passages: list[str] = []
    shown, covered_to = 0, -1
    for start, end in spans:
        if end <= covered_to:
            shown += 1
        elif len(passages) < max_passages:
            low, covered_to = max(0, start - PASSAGE_MARGIN), min(len(text), end + PASSAGE_MARGIN)
            cut_out = " ".join(text[low:covered_to].split())
            passages.append((ELLIPSIS if low else "") + cut_out + (ELLIPSIS if covered_to < len(text) else ""))
            shown += 1
    return Found(passages=tuple(passages), occurrences=len(spans), shown=shown)


def _pattern(match: str, marks: str) -> re.Pattern[str] | None:
    """What finds the terms of `match`. `marks` are the vowel signs of the text, which belong to the letter before them."""
    terms = []
    for phrase, word in _TERM.findall(match):
        parts = re.findall(rf"[\w{marks}]+", fold(phrase or word))
        if parts:
            body = rf"[^\w{marks}]+".join(map(re.escape, parts))
            terms.append(body if _UNSPACED.search(body) else rf"(?<![\w{marks}]){body}(?![\w{marks}])")
    return re.compile("|".join(dict.fromkeys(terms))) if terms else None


def _fold_with_origin(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters where it stood in `text` (folding may drop or add characters)."""
    pieces: list[str] = []
    origin: list[int] = []
    for at, character in enumerate(text):
        piece = fold(character)
        pieces.append(piece)
        origin.extend([at] * len(piece))
    return "".join(pieces), origin
