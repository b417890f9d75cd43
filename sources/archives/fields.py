"""The text fields of a record in which an archive publishes HTML entities: read once, before
anything is split at a semicolon or joined."""
from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Any

from ..text import ELLIPSIS, Excerpt, Spans, plain, strings, window

# what the Internet Archive's two searches set round the words found
_MARK = re.compile(r"\{\{\{|\}\}\}|</?IA_FTS_MATCH>")
_OPENING = {"{{{", "<IA_FTS_MATCH>"}
_ENTITY = re.compile(r"&(#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};)")


def decoded(text: str) -> str:
    """The text with its entities read once. "AT&T", "R&D;" and "<unknown>" name none and stay."""
    return _ENTITY.sub(_character, text)


def _character(entity: re.Match[str]) -> str:
    known = entity[1].startswith("#") or entity[1] in html5
    return html.unescape(entity[0]) if known else entity[0]


def texts(value: Any) -> tuple[str, ...]:
    """Every text of a field of any shape, its entities read."""
    return strings([decoded(text) for text in strings(value)])


def line(value: Any, separator: str = "; ") -> str | None:
    """All texts of a field of any shape in one line, each once; None when there is none."""
    return separator.join(dict.fromkeys(texts(value))) or None


def prose(value: Any) -> str | None:
    """A description, HTML or plain, one text or a list of them, as plain text with its
    paragraphs."""
    plainly = (plain(entry) for entry in (value if isinstance(value, list) else [value])
                if isinstance(entry, str))
    return "\n\n".join(text for text in plainly if text) or None


def _unmark(marked: str) -> tuple[str, Spans]:
    """The text without either style of marks, and where the words between an opening and a closing
    one stand in it."""
    text, begin = "", None
    at: list[tuple[int, int]] = []
    for piece in re.split(f"({_MARK.pattern})", marked):
        if not _MARK.fullmatch(piece):
            text += decoded(piece)
            continue
        if begin is not None and begin < len(text):
            at.append((begin, len(text)))
        begin = len(text) if piece in _OPENING else None
    return text, tuple(at)


def marked_excerpt(marked: str, max_chars: int) -> Excerpt:
    """The text around its first mark, with the marked words that are whole in it."""
    text, at = _unmark(marked)
    around = at[0][0] if at else 0
    cut = window(text, around, max_chars)
    body = cut.strip(ELLIPSIS)
    begin = text.index(body, max(0, around - max_chars))
    shift = cut.index(body) - begin
    whole = tuple((start + shift, end + shift) for start, end in at
                  if start >= begin and end <= begin + len(body))
    return Excerpt(text=cut, at=whole, kind="passage")
