"""The XML of one page of recognised text, in which recognition now and then left a character that
XML forbids; one of them is no reason to lose the page.

Source: XML 1.0, 2.2 (characters) and 4.1 (references).
"""
from __future__ import annotations

import re
from typing import Any

from ..errors import UnreadableAnswer
from ..transport.bodies import decode_xml

_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*\?>")
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_REFERENCE = re.compile(r"&#(?:([0-9]{1,7})|x([0-9a-fA-F]{1,6}));")
MENDED = ("The page's file held characters that its format forbids; each stands as \ufffd in the "
          "text.")


def read_page_xml(text: str, archive: str) -> tuple[Any, bool]:
    """The root element of a page, and whether something in it had to be mended.

    Raises:
        UnreadableAnswer: it is no whole XML, whatever its characters.
    """
    bare = _DECLARATION.sub("", text)
    for said in (bare, _mended(bare)):
        try:
            return decode_xml(said.encode("utf-8", "replace"), ""), said is not bare
        except ValueError as exc:
            broken = exc
    raise UnreadableAnswer(f"The page of text {broken}.", archive=archive) from broken


def _mended(text: str) -> str:
    """The text with U+FFFD for a forbidden character, a reference to one, and a bare ampersand."""
    text = _AMPERSAND.sub("\ufffd", _FORBIDDEN.sub("\ufffd", text))
    return _REFERENCE.sub(_allowed, text)


def _allowed(reference: re.Match[str]) -> str:
    number = int(reference[1]) if reference[1] else int(reference[2], 16)
    forbidden = number > 0x10FFFF or _FORBIDDEN.fullmatch(chr(number))
    return "\ufffd" if forbidden else reference[0]
