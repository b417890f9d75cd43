"""Keeping a whole result inside what hosts take: text block and structured content together at most
60,000 bytes.

Excerpts are shortened first, then the last rows of each archive in turn go; text, prose and lists
are cut to the window that fits, where `next_offset` resumes. Before any row goes, a field that
would fill an answer by itself is clipped. Whatever was cut is said, with the value that fits.
"""
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ..answers import (
    MAX_NOTES,
    Answer,
    CollectionsAnswer,
    HeadingsAnswer,
    InsideAnswer,
    ItemAnswer,
    ItemsAnswer,
    Report,
    TextAnswer,
)
from ..contract import Item
from ..text import Excerpt, find, window
from .harmless import shortened
from .text_block import render
from .windows import LOCAL_LISTS, READ_LISTS, ItemWindow, text_part, windowed

RESULT_LIMIT_BYTES = 60_000  # DESIGN 4, "Size": what hosts take, about 25,000 tokens
# characters, excerpts a match
_EXCERPT_STEPS = ((1200, 5), (800, 3), (500, 2), (300, 2), (200, 1), (120, 1), (80, 1))
# characters of one field, tried in turn; no field of an answer recorded has so many as the first
FIELD_STEPS = (2000, 500, 160)
_ENTRY_CHARS = 20  # a list of texts keeps one entry for so many characters of its step
# how their fields' names end: one that is clipped leads nowhere
_ADDRESSES = ("identifier", "url", "uri", "slug")

A = TypeVar("A", bound=Answer)
_ROWS = {
    InsideAnswer: "hits",
    ItemsAnswer: "items",
    HeadingsAnswer: "headings",
    CollectionsAnswer: "collections",
}


def json_bytes(value: Any) -> int:
    return len(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    )


def result_bytes(tool: str, payload: dict[str, Any]) -> int:
    """The bytes of the text block and the structured content, as UTF-8 before any \\u escape."""
    return len(render(tool, payload).encode("utf-8", "replace")) + json_bytes(payload)


def fits(tool: str, answer: Answer) -> bool:
    return result_bytes(tool, answer.to_dict()) <= RESULT_LIMIT_BYTES


def fitted(tool: str, answer: A) -> A:
    """The answer inside the limit, whatever tool it is of."""
    told: Any = answer
    if isinstance(answer, ItemAnswer):
        told = _fit_item(answer)
    elif isinstance(answer, TextAnswer):
        told = _fit_passages(answer) if answer.passages is not None else _fit_text(answer)
    elif isinstance(answer, tuple(_ROWS)):
        told = fit_search(tool, told)
    fits_now: A = told
    return fits_now


def _fit_item(answer: ItemAnswer) -> ItemAnswer:
    """The record in the window asked, or in the largest one that fits: lists give way first, then
    prose, then copies. A field that leaves no room for any window is clipped first."""
    if answer.window is None or fits("get_item", answer):
        return answer
    window: ItemWindow = answer.window
    record, stated = answer.record, answer.stated_notes
    for chars in FIELD_STEPS:
        if fits(
            "get_item", windowed(answer, replace(window, list_limit=1, text_chars=200, copies=0))
        ):
            break
        shorter = _clipped_record(record, chars)
        answer = replace(answer, record=answer.cite(shorter) if answer.cite else shorter,
                         stated_notes=(*clipped(stated, chars), clipped_note(chars)))
    longest = max(len(getattr(answer.record, name)) for name in (*READ_LISTS, *LOCAL_LISTS)) or 1
    smallest = (("list_limit", 1, min(longest, window.list_limit)),
                ("text_chars", 200, window.text_chars), ("copies", 0, window.copies))
    for name, least, most in smallest:
        if fits("get_item", windowed(answer, window)):
            break
        window = _largest_window(answer, window, name, (least, most))
    return windowed(answer, window)


def _largest_window(
    answer: ItemAnswer, window: ItemWindow, name: str, between: tuple[int, int]
) -> ItemWindow:
    def sized(size: int) -> ItemWindow:
        changed: dict[str, Any] = {name: size}
        return replace(window, **changed)

    return sized(largest(*between, lambda size: fits("get_item", windowed(answer, sized(size)))))


def _clipped_record(record: Item, chars: int) -> Item:
    cut: Item = clipped(record, chars, whole=("description", "subjects", "citation"))
    return replace(cut, subjects=tuple(clipped(subject, chars) for subject in record.subjects))


def _fit_passages(answer: TextAnswer) -> TextAnswer:
    """As many passages as fit; those left out are counted."""
    if fits("read_text", answer):
        return answer
    answer = _clipped_text(answer)
    every = answer.passages or ()
    if fits("read_text", answer) or not every:
        return answer

    def made(count: int) -> TextAnswer:
        note = (
            f"The answer was too long: {len(every) - count} passages were left out; max_passages "
            f"{count} fits."
        )
        return replace(answer, passages=every[:count], notes=(*answer.notes, note))

    return made(largest(0, len(every), lambda count: fits("read_text", made(count))))


def _clipped_text(answer: TextAnswer) -> TextAnswer:
    """What is said of a page, with its fields clipped so far that they fit beside one passage."""
    shorter = answer
    for chars in FIELD_STEPS:
        shorter = clipped_answer(answer, chars)
        if fits("read_text", replace(shorter, passages=(shorter.passages or ())[:1])):
            break
    return shorter


def _fit_text(answer: TextAnswer) -> TextAnswer:
    """A page's text in the window asked, or in the largest one that fits."""
    if fits("read_text", answer):
        return answer
    whole, text = answer.whole_text, answer.text
    if not fits("read_text", replace(answer, text=text and text[:200])):
        answer = replace(
            _clipped_text(replace(answer, text=None, whole_text=None)), whole_text=whole
        )
    if whole is None:
        return answer
    most = answer.text_window.returned_chars if answer.text_window else len(whole)
    return text_part(
        answer, largest(200, most, lambda size: fits("read_text", text_part(answer, size)))
    )


def fit_search(tool: str, answer: A) -> A:
    """A list answer inside the limit. Rows are counted off evenly: the answer keeps at most so many
    of each archive.

    Rendering a long answer costs more than all else in a call, so what fits is reckoned first and
    only then tried.
    """
    payload = answer.to_dict()
    # the text says again at most what the payload says, in fewer words
    if 3 * json_bytes(payload) <= RESULT_LIMIT_BYTES:
        return answer
    size = result_bytes(tool, payload)
    shorter: Any = answer
    if isinstance(answer, InsideAnswer) and size > RESULT_LIMIT_BYTES:
        whole = size - _excerpt_bytes(answer)
        for shorter in _shorter_excerpts(answer):
            if whole + _excerpt_bytes(shorter) <= RESULT_LIMIT_BYTES:
                break
        size = result_bytes(tool, shorter.to_dict())
    kept: A = shorter
    for chars in FIELD_STEPS if size > RESULT_LIMIT_BYTES else ():
        clipped_too = clipped_answer(shorter, chars)
        size = size if clipped_too is shorter else result_bytes(tool, clipped_too.to_dict())
        kept = clipped_too if size <= RESULT_LIMIT_BYTES else _fewer_rows(tool, clipped_too, size)
        if any(report.count for report in getattr(kept, "per_source", ())):
            break
    return kept


def clipped_answer(answer: A, chars: int) -> A:
    """The answer with no field longer than `chars`, which is said when one was."""
    shorter = clipped(answer, chars)
    return (
        answer
        if shorter == answer
        else replace(shorter, notes=_with_note(shorter.notes, clipped_note(chars)))
    )


def clipped_note(chars: int) -> str:
    return (
        f"The answer was too long: fields were cut to {chars} characters, lists of words to "
        f"{chars // _ENTRY_CHARS} entries."
    )


def clipped(value: Any, chars: int, *, whole: Sequence[str] = ()) -> Any:
    """A value with every text in it cut to `chars` and every list of texts to as many entries as
    that stands for.

    Addresses and the fields named in `whole` stay.
    """
    if isinstance(value, str):
        return shortened(value, chars)
    if isinstance(value, (tuple, list)):
        entries = (
            value[: chars // _ENTRY_CHARS]
            if all(isinstance(entry, str) for entry in value)
            else value
        )
        return type(value)(clipped(entry, chars) for entry in entries)
    if isinstance(value, Mapping):
        return {name: clipped(got, chars) for name, got in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = [
        entry.name
        for entry in fields(value)
        if entry.name not in whole and not entry.name.endswith(_ADDRESSES)
    ]
    return replace(value, **{name: clipped(getattr(value, name), chars) for name in names})


def _excerpt_bytes(answer: InsideAnswer) -> int:
    return sum(
        len(_text(excerpt).encode("utf-8", "replace"))
        for hit in answer.hits
        for excerpt in hit.excerpts
    )


def _text(excerpt: Any) -> str:
    return excerpt.text if isinstance(excerpt, Excerpt) else str(excerpt)


def _shorter_excerpts(answer: InsideAnswer) -> Iterator[InsideAnswer]:
    for chars, count in _EXCERPT_STEPS:
        hits = tuple(
            replace(
                hit,
                excerpts=tuple(
                    _shortened(text, hit.found_by_query, chars) for text in hit.excerpts[:count]
                ),
            )
            for hit in answer.hits
        )
        kinds = {
            kind: sum(len(hit.excerpts) for hit in hits if hit.excerpt_kind == kind)
            for kind in answer.excerpt_kinds
        }
        note = (
            f"The answer was too long: excerpts were cut to {chars} characters, at most {count} a "
            "match; "
            "ask with a smaller limit for longer ones."
        )
        notes = _with_note(answer.notes, note, instead_of="The answer was too long: excerpts")
        yield replace(answer, hits=hits, excerpt_kinds=kinds, notes=notes)


def _shortened(excerpt: Any, wording: str, chars: int) -> Any:
    """A shorter excerpt, cut around the first of its words."""
    text = _text(excerpt)
    if len(text) <= chars:
        return excerpt
    at = excerpt.at if isinstance(excerpt, Excerpt) and excerpt.at else find(text, wording)
    cut = window(text, at[0][0] if at else 0, chars)
    return (
        replace(excerpt, text=cut, at=find(cut, wording)) if isinstance(excerpt, Excerpt) else cut
    )


def _fewer_rows(tool: str, answer: Any, size: int) -> Any:
    """As many rows an archive as fit, reckoned from each row's bytes in the structured content and
    an even share of the text.

    `size` is the whole answer's, in bytes.
    """
    rows_name = _ROWS[type(answer)]
    payload = answer.to_dict()
    rows = payload[rows_name]
    row_bytes = [json_bytes(row) for row in rows]
    bare = result_bytes(tool, {**payload, rows_name: []})
    text_share = (size - bare - sum(row_bytes)) / max(1, len(rows))
    places = _places(getattr(answer, rows_name))

    def reckoned(limit: int) -> float:
        return bare + sum(
            row_bytes[n] + text_share for n, place in enumerate(places) if place <= limit
        )

    limit = max(places, default=0)
    while limit and reckoned(limit) > RESULT_LIMIT_BYTES:
        limit -= 1
    while limit and not fits(tool, _cut_rows(answer, rows_name, limit)):
        limit -= 1
    return _cut_rows(answer, rows_name, limit)


def _places(rows: Sequence[Any]) -> list[int]:
    """Which of its archive's rows each row is, from 1."""
    seen: Counter[str] = Counter()
    places = []
    for row in rows:
        seen[row.source] += 1
        places.append(seen[row.source])
    return places


def _cut_rows(answer: Any, rows_name: str, limit: int) -> Any:
    rows = getattr(answer, rows_name)
    seen = Counter(row.source for row in rows)
    kept = [row for row, place in zip(rows, _places(rows), strict=True) if place <= limit]
    going_on = ", and page goes on from there" if getattr(answer, "page", 1) == 1 else ""
    how = (
        f"the last of each archive; limit {limit} fits{going_on}"
        if limit
        else "since not one is short enough to be shown"
    )
    note = f"The answer was too long: {len(rows) - len(kept)} rows were left out, {how}."
    changes: dict[str, Any] = {
        rows_name: tuple(kept),
        "notes": _with_note(answer.notes, note),
        "per_source": tuple(_recounted(report, seen, limit) for report in answer.per_source),
    }
    if isinstance(answer, InsideAnswer):
        changes["hit_count"] = len(kept)
        changes["excerpt_kinds"] = {
            kind: sum(len(hit.excerpts) for hit in kept if hit.excerpt_kind == kind)
            for kind in answer.excerpt_kinds
        }
    if isinstance(answer, ItemsAnswer):
        changes["item_count"] = len(kept)
    return replace(answer, **changes)


def _recounted(report: Report, seen: dict[str, int], limit: int) -> Report:
    return replace(report, count=limit, more=True) if seen.get(report.source, 0) > limit else report


def _with_note(
    notes: Sequence[str], note: str, *, instead_of: str | None = None
) -> tuple[str, ...]:
    kept = [told for told in notes if instead_of is None or not told.startswith(instead_of)]
    kept = (
        kept if len(kept) < MAX_NOTES else [*kept[: MAX_NOTES - 2], " ".join(kept[MAX_NOTES - 2 :])]
    )
    return (*kept, note)


def largest(low: int, high: int, good: Callable[[int], bool]) -> int:
    """The largest number from `low` to `high` for which `good` holds, when it holds up to some
    number; `low` unasked."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if good(middle) else (low, middle - 1)
    return low
