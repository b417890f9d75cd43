"""Small pure readings of text: fields of any shape, words, excerpts, dates. No archive and no
network is known here."""
from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]*|!\[CDATA\[|![A-Za-z][^<>]*)>")
_BREAK = re.compile(r"<\s*(?:br|/p|/div|/li|/tr|/h[1-6])\b[^<>]*>", re.IGNORECASE)
# What holds no text: where it begins and where it ends.
_NO_TEXT = tuple((re.compile(begins, re.IGNORECASE), re.compile(ends, re.IGNORECASE))
                 for begins, ends in (("<!--", "-->"), (r"<script\b", r"</script\s*>"),
                                      (r"<style\b", r"</style\s*>")))
_WORD = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")
_TERM = re.compile(r'"([^"]*)"|(\S+)')
# Scripts without blanks.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
# Letters without parts that are written otherwise where a keyboard lacks them.
WHOLE_LETTERS = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d",
                                "þ": "th", "ß": "ss", "ı": "i", "ŧ": "t", "ħ": "h"})
# Where a printer parted a word at the end of its line.
_PARTED = "(?:\u00ad\\s*|[-\u2010¬][ \\t]*\\r?\\n\\s*)"
_IS_PARTED = re.compile(_PARTED)
_ASCII_OR_NOT = re.compile("[\x00-\x7f]+|[^\x00-\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
ELLIPSIS = "…"
PASSAGE_MARGIN = 300  # characters either side of an occurrence (DESIGN 4, read_text)
# bytes of files are the largest figures stated; a thousand million million of anything is a slip
AMOUNT_MAX = 10**15


def strings(value: Any) -> tuple[str, ...]:
    """Every text in a field that may be a string, a number, a list of them, null or absent; blanks
    folded, empty ones dropped.

    An object is not text and yields nothing; the caller that knows its keys reads them itself.
    """
    if isinstance(value, str):
        folded = " ".join(value.split())
        return (folded,) if folded else ()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (str(value),)
    if isinstance(value, (list, tuple)):
        return tuple(text for entry in value for text in strings(entry))
    return ()


def first(value: Any) -> str | None:
    """The first text of a field of any shape, or None."""
    if value is None:
        return None
    if isinstance(value, str):
        return " ".join(value.split()) or None
    return next(iter(strings(value)), None)


def joined(value: Any, separator: str = "; ") -> str | None:
    """All texts of a field of any shape in one line, each once; None when there is none."""
    return separator.join(dict.fromkeys(strings(value))) or None


def integer(value: Any) -> int | None:
    """A whole number written as a number or as digits; None for anything else (a bool, a fraction,
    text)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    text = first(value)
    return int(text) if text and re.fullmatch(r"-?\d{1,18}", text, re.ASCII) else None


def amount(value: Any) -> int | None:
    """How many of something there are, as stated: a whole number from 0 on that is not absurd; None
    for anything else."""
    number = integer(value)
    return number if number is not None and 0 <= number <= AMOUNT_MAX else None


def mapping(value: Any) -> dict[str, Any]:
    """The value when it is an object, else an empty one: an absent block reads like a block without
    fields."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def plain(markup: str) -> str:
    """HTML as plain text: breaks become line ends, other tags go, entities are read, blanks folded
    line by line."""
    for begins, ends in _NO_TEXT:
        markup = _without(markup, begins, ends)
    text = _TAG.sub("", _BREAK.sub("\n", markup))
    lines = (" ".join(line.split()) for line in html.unescape(text).replace("\r", "\n").split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _without(text: str, begins: re.Pattern[str], ends: re.Pattern[str]) -> str:
    """The text without what stands between; what has no end stays. Each part is looked at once."""
    kept, at = [], 0
    while (start := begins.search(text, at)) and (end := ends.search(text, start.end())):
        kept.append(text[at:start.start()])
        at = end.end()
    return "".join([*kept, text[at:]])


def fold(text: str) -> str:
    """The text without case and accents, for comparison only; never shown."""
    if text.isascii():  # most text by far, and then there is nothing to take apart
        return text.lower()
    decomposed = unicodedata.normalize("NFD", text.casefold()).translate(WHOLE_LETTERS)
    marks = list(filter(unicodedata.combining, set(decomposed)))
    return decomposed.translate(dict.fromkeys(map(ord, marks))) if marks else decomposed


def words(text: str) -> tuple[str, ...]:
    """The words of a text in written order: runs of letters and digits with their marks, an
    apostrophe inside kept."""
    return tuple(match.group() for match in _each_word(text))


def _each_word(text: str) -> Iterator[re.Match[str]]:
    """The words where they stand. A mark belongs to the letter before it: it parts no word, as an
    accent, vowel sign or tie."""
    strange = () if text.isascii() else set(text)
    # none stands below
    marks = sorted(
        char for char in strange if char > "\u02ff" and unicodedata.category(char)[0] == "M"
    )
    if not marks:
        return _WORD.finditer(text)
    run = rf"[^\W_](?:[^\W_]|[{''.join(marks)}])*"
    return re.finditer(rf"{run}(?:['’ʼ]{run})*", text)


def first_match(text: str, wording: str) -> int | None:
    """Where the first word of `wording` found stands in `text`, when every word of it stands there
    as a whole word; else None.

    Case and accents are folded (DESIGN, "Library text without a snippet").
    """
    folded, origin = _fold_with_origin(text)
    starts = []
    for word in dict.fromkeys(words(wording)):
        pattern = _pattern(word, folded)
        found = pattern.search(folded) if pattern else None
        if found is None:
            return None
        starts.append(origin[found.start()])
    return min(starts, default=None)


Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A piece of text as published, where the searched words stand in it (`at`, in characters), and
    what may be claimed of it.

    `kind` is passage where the words are known to stand in it, else page_opening.
    """

    text: str
    at: Spans = ()
    kind: str = "page_opening"


def find(text: str, wording: str) -> Spans:
    """Every place in `text` where a word or a quoted phrase of `wording` stands, in order; a word
    matches whole, case and accents folded. In scripts written without blanks a term matches
    wherever it stands."""
    folded, origin = _fold_with_origin(text)
    pattern = _pattern(wording, folded)
    return (
        tuple(
            (origin[found.start()], origin[found.end() - 1] + 1)
            for found in pattern.finditer(folded)
        )
        if pattern
        else ()
    )


def part(text: str, offset: int, max_chars: int) -> tuple[str, int | None]:
    """The part of `text` from `offset`, ended at a line end where one stands in its second half,
    else at a blank, else hard; and where the next part begins, None at the end."""
    end = min(len(text), offset + max_chars)
    if end < len(text):
        floor = offset + (end - offset) // 2
        at = text.rfind("\n", floor, end)
        at = at if at >= 0 else text.rfind(" ", floor, end)
        end = at + 1 if at >= 0 else end
    return text[offset:end], end if offset < len(text) and end < len(text) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The passages around occurrences, in order, and how many occurrences there are in all and
    inside the passages."""

    passages: tuple[str, ...]
    occurrences: int
    shown: int


def passages(text: str, match: str, max_passages: int) -> Found:
    """The text around each occurrence of the words and quoted phrases of `match`, PASSAGE_MARGIN
    either side. An occurrence inside the passage before it makes no passage of its own."""
    spans = find(text, match)
    found: list[str] = []
    shown, covered_to = 0, -1
    for start, end in spans:
        if end <= covered_to:
            shown += 1
        elif len(found) < max_passages:
            low, covered_to = max(0, start - PASSAGE_MARGIN), min(len(text), end + PASSAGE_MARGIN)
            cut = " ".join(text[low:covered_to].split())
            found.append(
                (ELLIPSIS if low else "") + cut + (ELLIPSIS if covered_to < len(text) else "")
            )
            shown += 1
    return Found(passages=tuple(found), occurrences=len(spans), shown=shown)


def excerpt(text: str, wording: str, max_chars: int) -> Excerpt:
    """At most `max_chars` of `text` around the first word found: a passage when every word of
    `wording` stands in the text, else the opening."""
    at = first_match(text, wording)
    cut = window(text, at or 0, max_chars)
    return Excerpt(
        text=cut, at=find(cut, wording), kind="page_opening" if at is None else "passage"
    )


def window(text: str, at: int, max_chars: int) -> str:
    """At most `max_chars` of `text` around position `at`, cut at blanks, with an ellipsis where
    something was left out."""
    text = text.strip()
    if len(text) <= max_chars:
        return text
    room = max_chars - 2 * len(ELLIPSIS)
    start = max(0, min(at - room // 3, len(text) - room))
    end = start + room
    if start:
        blank = text.find(" ", start, start + room // 4)
        start = blank + 1 if blank >= 0 and blank < at else start
    if end < len(text):
        blank = text.rfind(" ", end - room // 4, end)
        end = blank if blank > at else end
    return (
        (ELLIPSIS if start else "")
        + text[start:end].strip()
        + (ELLIPSIS if end < len(text) else "")
    )


def scalar_text(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it can be written as UTF-8; all
    else as published."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _pattern(match: str, folded: str) -> re.Pattern[str] | None:
    """What finds the terms of `match` in a folded text, whose vowel signs belong to the letter
    before them, and where a printer parted words at line ends."""
    strange = () if folded.isascii() else sorted(set(folded))
    marks = "".join(char for char in strange if unicodedata.category(char)[0] == "M")
    return _compiled(match, marks, _PARTED + "?" if _IS_PARTED.search(folded) else "")


@lru_cache(maxsize=256)  # one question is looked for in every row
def _compiled(match: str, marks: str, within: str) -> re.Pattern[str] | None:
    terms = []
    for phrase, word in _TERM.findall(match):
        parts = re.findall(rf"[\w{marks}]+", fold(phrase or word))
        if parts:
            body = rf"[^\w{marks}]+".join(within.join(map(re.escape, part)) for part in parts)
            terms.append(
                body if _UNSPACED.search(body) else rf"(?<![\w{marks}]){body}(?![\w{marks}])"
            )
    return re.compile("|".join(dict.fromkeys(terms))) if terms else None


def _fold_with_origin(text: str) -> tuple[str, Sequence[int]]:
    """The folded text, and for each of its characters where it stood in `text` (folding may drop or
    add characters)."""
    if text.isascii():
        return text.lower(), range(len(text))
    pieces: list[str] = []
    origin: list[int] = []
    for run in _ASCII_OR_NOT.finditer(text):
        if run.group().isascii():
            pieces.append(run.group().lower())
            origin.extend(range(run.start(), run.end()))
        else:
            piece = _folded(run.group())
            pieces.append(piece)
            origin.extend([run.start()] * len(piece))
    return "".join(pieces), origin


_folded = lru_cache(maxsize=1024)(fold)  # of single letters, of which a text has few
