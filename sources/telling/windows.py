"""Cutting long text to the part that was asked, and finding words in a page. Pure functions; all figures are characters."""
from __future__ import annotations

from dataclasses import dataclass

from ..answers import Window
from ..text import ELLIPSIS
from ..text import find as text_find

PASSAGE_MARGIN = 300  # characters either side of an occurrence (DESIGN 4, read_text)


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
    spans = text_find(text, match)
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
