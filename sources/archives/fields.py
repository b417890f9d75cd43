"""The text fields of a record in which an archive publishes HTML entities: read once, before
anything is split at a semicolon or joined."""
from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Any

from ..text import strings

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
