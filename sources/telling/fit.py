"""A whole result inside what hosts take: text block and structured content together at most 60,000
bytes. Only the server asks for it; the library and the shell give everything.

Excerpts are shortened first, then the last rows of each archive in turn go; text, prose and lists
are cut to the window that fits, where `next_offset` resumes. Before any row goes, a field that
would fill an answer by itself is clipped. Whatever was cut is said, with the value that fits.
"""
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from ..answers import MAX_NOTES, Answer, CountedAnswer, ItemAnswer, Picture, TextAnswer
from ..contract import Item
from ..text import window
from .harmless import shortened
from .text_block import (
    EXCERPT_CHARS,
    EXCERPTS_CHARS,
    INDENT,
    LISTS,
    Lines,
    found_at,
    render,
    told_rows,
)
from .windows import LOCAL_LISTS, READ_LISTS, ItemWindow, text_part, windowed

RESULT_LIMIT_BYTES = 60_000  # DESIGN 4, "Size": what hosts take, about 25,000 tokens
# characters, excerpts a match
_EXCERPT_STEPS = ((1200, 5), (800, 3), (500, 2), (300, 2), (200, 1), (120, 1), (80, 1))
# characters of one field, tried in turn; no field of an answer recorded has so many as the first
FIELD_STEPS = (2000, 500, 160)
_ENTRY_CHARS = 20  # a list of texts keeps one entry for so many characters of its step
# how their fields' names end: one that is clipped leads nowhere
_ADDRESSES = ("identifier", "url", "uri", "slug")

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The text block and the structured content of an answer, and the picture beside them, which
    no limit on either counts."""

    text: str
    payload: Payload
    picture: Picture | None = None

    @property
    def fits(self) -> bool:
        return _bytes(self.text) + json_bytes(self.payload) <= RESULT_LIMIT_BYTES


def _bytes(text: str) -> int:
    """As UTF-8, before any \\u escape."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def json_bytes(value: Any) -> int:
    return _bytes(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def result_bytes(tool: str, payload: Payload) -> int:
    return _bytes(render(tool, payload)) + json_bytes(payload)


def whole(tool: str, answer: Answer) -> Result:
    """The result as it is, whatever its size."""
    payload = answer.to_dict()
    return Result(text=render(tool, payload), payload=payload,
                  picture=getattr(answer, "picture", None))


def fits(tool: str, answer: Answer) -> bool:
    return whole(tool, answer).fits


def fitted(tool: str, answer: Answer) -> Result:
    """The result inside the limit, whatever tool it is of."""
    if tool in LISTS:
        return _fit_list(tool, answer.to_dict())
    result = whole(tool, answer)
    if result.fits:
        return result
    if isinstance(answer, ItemAnswer):
        answer = _fit_item(answer)
    elif isinstance(answer, TextAnswer):
        answer = _fit_passages(answer) if answer.passages is not None else _fit_text(answer)
    elif isinstance(answer, CountedAnswer) and answer.some:
        some = answer.some
        answer = some(largest(0, len(answer.entries), lambda count: fits(tool, some(count))))
    return whole(tool, answer)


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
        shorter = clipped(answer, chars)
        if shorter != answer:
            shorter = replace(shorter, notes=(*shorter.notes, clipped_note(chars)))
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


def _fit_list(tool: str, payload: Payload) -> Result:
    """A list inside the limit. Rows are counted off evenly: at most so many of each archive."""
    size = json_bytes(payload)
    # the text says again at most what the payload says, in fewer words
    if 3 * size <= RESULT_LIMIT_BYTES:
        return Result(text=render(tool, payload), payload=payload)
    if size <= RESULT_LIMIT_BYTES:
        result = Result(text=render(tool, payload), payload=payload)
        if result.fits:
            return result
    if tool == "search_inside":
        payload = _shorter_excerpts(payload, size)
    for chars in FIELD_STEPS:
        result = _as_many_rows(tool, _clipped_payload(tool, payload, chars))
        if result.payload[LISTS[tool]]:
            break
    return result


def _clipped_payload(tool: str, payload: Payload, chars: int) -> Payload:
    """No field longer than `chars`, which is said when one was; a row of no more bytes stays."""
    rows = [row if json_bytes(row) <= chars else clipped(row, chars)
            for row in payload[LISTS[tool]]]
    shorter = {**clipped({**payload, LISTS[tool]: []}, chars), LISTS[tool]: rows}
    if shorter == payload:
        return payload
    return {**shorter, "notes": _with_note(shorter["notes"], clipped_note(chars))}


def _shorter_excerpts(payload: Payload, size: int) -> Payload:
    """The excerpts cut by the first of the steps with which every row seems to fit; of a row, the
    text says no more than the structured content does."""
    hits = payload["hits"]
    if not any(hit["excerpts"] for hit in hits):
        return payload
    frame = size - _excerpt_bytes(hits, *_EXCERPT_STEPS[0])
    text = frame + max(EXCERPTS_CHARS, EXCERPT_CHARS * len(hits))
    for chars, count in _EXCERPT_STEPS:
        if frame + text + _excerpt_bytes(hits, chars, count) <= RESULT_LIMIT_BYTES:
            break
    cut = [{**hit, "excerpts": [_shortened(excerpt, hit.get("found_by_query", ""), chars)
                                for excerpt in hit["excerpts"][:count]]} for hit in hits]
    note = (f"The answer was too long: excerpts were cut to {chars} characters, at most {count} a "
            "match; ask with a smaller limit for longer ones.")
    return {**payload, "hits": cut, "notes": _with_note(payload["notes"], note),
            "excerpt_kinds": _kinds(payload["excerpt_kinds"], cut)}


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
        return {name: got if name.endswith(_ADDRESSES) else clipped(got, chars)
                for name, got in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = [entry.name for entry in fields(value)
             if entry.name not in whole and not entry.name.endswith(_ADDRESSES)]
    return replace(value, **{name: clipped(getattr(value, name), chars) for name in names})


def _excerpt_bytes(hits: Sequence[Payload], chars: int, count: int) -> int:
    """The bytes of all excerpts once each is cut to `chars`, and of each row only `count` stay."""
    return sum(_bytes(text) * min(len(text), chars) // max(1, len(text))
               for hit in hits for text in hit["excerpts"][:count])


def _shortened(text: str, wording: str, chars: int) -> str:
    """A shorter excerpt, cut around the first of its words."""
    return text if len(text) <= chars else window(text, found_at(text, wording), chars)


def _kinds(kinds: Mapping[str, int], hits: Sequence[Payload]) -> dict[str, int]:
    return {kind: sum(len(hit["excerpts"]) for hit in hits if hit.get("excerpt_kind") == kind)
            for kind in kinds}


def _as_many_rows(tool: str, payload: Payload) -> Result:
    """As many rows an archive as fit. Each is told and measured once, and no more are than fit."""
    rows = payload[LISTS[tool]]
    seen: Counter[str] = Counter()
    places = []  # which of its archive's rows each row is, from 1
    for row in rows:
        seen[row["source"]] += 1
        places.append(seen[row["source"]])
    most = max(seen.values(), default=0)
    told = _told_within(tool, payload, places)
    limit = min((place for at, place in enumerate(places) if at not in told), default=most + 1) - 1
    while True:
        kept = [at for at, place in enumerate(places) if place <= limit]
        cut = payload if limit == most else _cut_rows(tool, payload, kept, limit)
        result = Result(text=render(tool, cut, [told[at] for at in kept]), payload=cut)
        if result.fits or not limit:
            return result
        limit -= 1


def _told_within(tool: str, payload: Payload, places: Sequence[int]) -> dict[int, Lines]:
    """The lines of the rows, by where they stand, as far as the room reaches: the first of each
    archive, then the second of each."""
    bare = {**payload, LISTS[tool]: []}
    room = RESULT_LIMIT_BYTES - json_bytes(bare) - _bytes(render(tool, bare))
    every = told_rows(tool, payload)
    rows = payload[LISTS[tool]]
    order = sorted(range(len(rows)), key=places.__getitem__)
    told: dict[int, Lines] = {}
    for at in order:
        told[at] = every(rows[at])
        room -= json_bytes(rows[at]) + sum(_bytes(line) + len(INDENT) + 1 for line in told[at])
        if room < 0:
            del told[at]
            break
    return told


def _cut_rows(tool: str, payload: Payload, kept: Sequence[int], limit: int) -> Payload:
    """The answer with the rows that stand at `kept`, at most `limit` of each archive."""
    rows = payload[LISTS[tool]]
    going_on = ", and page goes on from there" if payload.get("page", 1) == 1 else ""
    how = (f"the last of each archive; limit {limit} fits{going_on}" if limit
           else "since not one is short enough to be shown")
    note = f"The answer was too long: {len(rows) - len(kept)} rows were left out, {how}."
    stay = [rows[at] for at in kept]
    cut = {**payload, LISTS[tool]: stay, "notes": _with_note(payload["notes"], note),
           "per_source": [{**report, "count": limit, "more": True}
                          if report.get("count", 0) > limit else report
                          for report in payload["per_source"]]}
    counted = {"hit_count": len(stay), "item_count": len(stay)}
    if "excerpt_kinds" in payload:
        cut["excerpt_kinds"] = _kinds(payload["excerpt_kinds"], stay)
    return {**cut, **{name: count for name, count in counted.items() if name in payload}}


def _with_note(notes: Sequence[str], note: str) -> list[str]:
    last = MAX_NOTES - 2  # the first of those that share a line where there is no room
    kept = notes if len(notes) < MAX_NOTES else [*notes[:last], " ".join(notes[last:])]
    return [*kept, note]


def largest(low: int, high: int, good: Callable[[int], bool]) -> int:
    """The largest number from `low` to `high` for which `good` holds, when it holds up to some
    number; `low` unasked."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if good(middle) else (low, middle - 1)
    return low
