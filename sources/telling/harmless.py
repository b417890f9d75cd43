"""Text from an archive or a caller made harmless before it is shown: one line that can neither act
nor pass for the server.

Layers, each usable alone: `visible` takes out characters that are not seen or that steer a
terminal, `one_line` also folds every blank, `disarmed` takes the life out of markup. `inert` does
it all and marks an opening that would look like a line of the server's own. The structured content
keeps the text as published; only what is shown passes here.
"""
from __future__ import annotations

import re
import unicodedata

from ..text import ELLIPSIS, scalar_text

MARK = "› "  # put before an opening that the server itself could have written

# The words that begin the lines of the text block, each followed by a colon there. render.py writes
# no others; its tests say so.
LABELS = (
    "Search inside",
    "Catalogue search",
    "Record",
    "Text",
    "Picture",
    "Headings",
    "Collections",
    "Report",
    "Error",
    "Hint",
    "Retry",
    "Answered",
    "Failed",
    "Absent",
    "Nothing asked",
    "Excerpts",
    "Order",
    "Facets",
    "More",
    "Note",
    "Wordings",
    "Credit",
    "Identifier",
    "Date",
    "Published",
    "Edition",
    "Extent",
    "Call number",
    "Language",
    "Numbers",
    "Address",
    "Image",
    "Page",
    "Rights",
    "Description",
    "Subjects",
    "Copies",
    "Context",
    "Contributors",
    "Editions",
    "Pages",
    "Citation",
    "Read as",
    "Not asked for",
    "Never read here",
    "Passages",
    "Step",
    "Next step",
    "Progress",
    "Plan",
    "Sources",
    "Graphics",
    "Sections",
)
# of hosts and models
OTHER_VOICES = (
    "Source",
    "Warning",
    "Status",
    "System",
    "Assistant",
    "User",
    "Human",
    "Tool",
    "Result",
)
ARCHIVE_NAMES = (
    "Internet Archive",
    "Library of Congress",
    "data.bnf.fr",
    "Open Library",
    "Gallica",
)

# ECMA-48: a control string (OSC, DCS, SOS, PM, APC) up to its terminator, a control sequence, or a
# two-character escape. A control string that nothing ends loses its introducer alone, so that it
# cannot swallow the rest of a text.
_ESCAPES = re.compile(
    "(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\\\|\x9c)"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|\x1b[ -/]*[0-~]?"
)
# zero width non-joiner and joiner: spelling in Persian and Indic scripts, glue inside emoji
_JOINERS = "\u200c\u200d"
# no format characters by category, and never seen all the same
_INVISIBLE = frozenset("\u034f\u17b4\u17b5\u3164\uffa0")
_WRITTEN_FORMATS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
# Letters, marks and punctuation of which `visible` changes none, so that most text need not be
# looked at one by one.
_PLAIN = re.compile(
    "[\n -~\u00a1-\u00ac\u00ae-\u034e\u0350-\u05ff\u1e00-\u1fff\u2010-\u2027"
    "\u2030-\u205e\u4e00-\u9fff]*"
)
# A line that begins with a letter or as an address does and holds no mark that `inert` looks for:
# it stays as it is.
_CALM = "[\"-9;>?@A-Z\\\\^-_a-z{|}\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027]"
_HARMLESS = re.compile(f"(?:https?:/|[A-Za-z\u00c0-\u00d6\u00d8-\u024f]){_CALM}*(?: {_CALM}+)*")
# without one of these no rule of _MARKUP applies
_MARKUP_SIGN = re.compile(r"[`<‹]|~~~|!\[|\][(\[:]")
_MARKUP = (
    (re.compile("`"), "'"),  # code spans and fences
    (re.compile("~{3,}"), "~"),
    (re.compile(r"!\["), "! ["),  # image
    (re.compile(r"\](?=[(\[:])"), "] "),  # link, reference link, reference definition
    (re.compile("<(?=[A-Za-z/!?])"), "‹"),  # HTML tag, comment, instruction, autolink
    (re.compile("(‹[^<>‹›]*)>"), r"\1›"),
)
_BLOCK_OPENING = re.compile(
    r"(?:#{1,6}|[-+*•·‣]|\d{1,9}[.)])(?:\s|$)|[>|]|([-*_=~])(?: ?\1){2}|:::"
)
_LABEL_OPENING = re.compile(
    rf"[\W_]*(?:(?:{'|'.join(LABELS + OTHER_VOICES)})s?[\W_]{{0,3}}(?:\([^)]*\) ?)?[:=]"
    rf"|(?:the )?(?:{'|'.join(map(re.escape, ARCHIVE_NAMES))})[\W_]{{0,3}}[:=](?:\W|$))",
    re.IGNORECASE,
)


def inert(text: str, *, limit: int | None = None) -> str:
    """The text on one line, unable to act and unable to pass for the server; at most `limit`
    characters, cut with an ellipsis.

    Applying it again changes nothing.
    """
    if _HARMLESS.fullmatch(text):
        return text if limit is None else shortened(text, limit)
    line = disarmed(one_line(text))
    if not line.startswith(MARK) and _passes_for_the_server(line):
        line = MARK + line
    return line if limit is None else shortened(line, limit)


def disarmed(text: str) -> str:
    """The text with its markup unable to act; for what follows a word of the server's own on its
    line."""
    if not _MARKUP_SIGN.search(text):
        return text
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return text


def _passes_for_the_server(line: str) -> bool:
    """Whether a line opens as a heading, a list, a rule or one of LABELS would; full-width letters
    count as plain ones."""
    opening = line[:120] if line.isascii() else unicodedata.normalize("NFKC", line[:120])
    return bool(
        _BLOCK_OPENING.match(opening)
        or ((":" in opening or "=" in opening) and _LABEL_OPENING.match(opening))
    )


def shortened(line: str, limit: int) -> str:
    """At most `limit` characters of a line, with an ellipsis in the last place when something was
    cut."""
    if len(line) <= limit:
        return line
    return line[:max(0, limit - len(ELLIPSIS))].rstrip(" " + _JOINERS) + ELLIPSIS


def one_line(text: str) -> str:
    """The text with every run of blanks, line breaks and separators as one space, and nothing
    unseen."""
    return " ".join(visible(text).split())


def visible(text: str) -> str:
    """The text without escape sequences, control, direction, tag and zero-width characters; its
    line breaks stay.

    A single joiner stays between two letters and inside an emoji. Lone surrogates and noncharacters
    become U+FFFD.
    """
    if _PLAIN.fullmatch(text):
        return text
    kept = [_shown(char) for char in _ESCAPES.sub("", scalar_text(text).replace("\r\n", "\n"))]
    return _joined_rightly("".join(kept))


def _shown(char: str) -> str:
    """What stays of one character: itself, a space, U+FFFD, or nothing. Joiners and variation
    selectors are judged later."""
    if (
        char.isprintable()
        and char.isascii()
        or char == "\n"
        or char in _JOINERS
        or char in _WRITTEN_FORMATS
    ):
        return char
    category, code = unicodedata.category(char), ord(char)
    if char.isspace() or category.startswith("Z"):
        return "\n" if char in "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029" else " "
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return "\ufffd"
    hidden = (
        category in ("Cc", "Cf")
        or char in _INVISIBLE
        or 0x2060 <= code <= 0x206F
        or 0xFFF0 <= code <= 0xFFFB
    )
    return "" if hidden or (0xE0000 <= code <= 0xE0FFF and not _is_selector(char)) else char


def _joined_rightly(text: str) -> str:
    """The text without the variation selectors and joiners that select or join nothing: runs of
    them hide messages."""
    if text.isascii():
        return text
    pairs = zip(" " + text, text, strict=False)
    chosen = "".join(
        char for before, char in pairs if not _is_selector(char) or _takes_selector(before)
    )
    neighbours = zip(" " + chosen, chosen, chosen[1:] + " ", strict=False)
    return "".join(
        char
        for before, char, after in neighbours
        if char not in _JOINERS or (_joins(before) and _joins(after))
    )


def _joins(char: str) -> bool:
    """Whether a joiner beside this character is spelling: a letter or its mark, an emoji or its
    selector."""
    category = unicodedata.category(char)
    return category[0] in "LM" or (not char.isascii() and category in ("So", "Sk"))


def _takes_selector(char: str) -> bool:
    """Whether one variation selector may follow: after a symbol, a letter outside Latin, or the
    base of a keycap."""
    if _is_selector(char) or char in _JOINERS:
        return False
    return char in "0123456789#*" or (not char.isascii() and unicodedata.category(char)[0] in "LSP")


def _is_selector(char: str) -> bool:
    return (
        "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
        or char in "\u180b\u180c\u180d\u180f"
    )
