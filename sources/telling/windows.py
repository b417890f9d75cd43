"""Which part of a record or of a text an answer shows: the slices that were asked for, or smaller
ones that fit. Nothing is read again for a smaller window."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..answers import ItemAnswer, ListWindow, TextAnswer, Window
from ..contract import Item
from ..text import part

# The lists of a record that a window cuts here, with the section of each; editions and pages come
# cut from the archive.
LOCAL_LISTS = {"subjects": "subjects", "contributors": "contributors", "context": "context",
               "resources": "copies"}
READ_LISTS = ("editions", "pages")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWindow:
    """The slices of a record: of each list, of the prose (in characters), of the files.
    `list_total` is how long the list is from which the archive read its slice."""

    sections: tuple[str, ...]
    list_offset: int
    list_limit: int
    list_total: int | None
    text_offset: int
    text_chars: int
    copies: int


def asked_window(given: Mapping[str, Any], sections: tuple[str, ...],
                 list_total: int | None) -> ItemWindow:
    return ItemWindow(sections=sections, list_offset=given["list_offset"],
                      list_limit=given["list_limit"], list_total=list_total,
                      text_offset=given["text_offset"], text_chars=given["max_text_chars"],
                      copies=given["max_copies"])


def windowed(answer: ItemAnswer, window: ItemWindow) -> ItemAnswer:
    """The answer with its record cut to a window; what was cut is said, with how to go on."""
    record = answer.record
    prose = record.description or ""
    shown, following = part(prose, window.text_offset, window.text_chars)
    notes = []
    if prose and window.text_offset >= len(prose):
        notes.append(f"The prose of this record ends at character {len(prose)}; text_offset lies "
                     "past its end.")
    item, cut_notes = _lists(record, window)
    told = "description" in window.sections and bool(prose)
    list_window, past = _list_window(record, window)
    return replace(
        answer, item=replace(item, description=shown or None), window=window,
        text_window=Window(offset=window.text_offset, returned_chars=len(shown),
                           total_chars=len(prose), next_offset=following) if told else None,
        list_window=list_window,
        notes=tuple(dict.fromkeys((*answer.stated_notes, *notes, *cut_notes, *past))))


def _lists(record: Item, window: ItemWindow) -> tuple[Item, list[str]]:
    """The record with every list cut, and what is said of those that go on."""
    low, high = window.list_offset, window.list_offset + window.list_limit
    cut: dict[str, Any] = {name: getattr(record, name)[:window.list_limit] for name in READ_LISTS}
    notes = []
    for name, section in LOCAL_LISTS.items():
        every = getattr(record, name)
        cut[name] = every[low:high]
        if section in window.sections and len(every) > high:
            notes.append(f"{len(every) - high} more {name} stand in the record; list_offset {high} "
                         "goes on.")
    files = low + window.copies
    cut["copies"] = record.copies[low:files]
    if "copies" in window.sections and len(record.copies) > files:
        notes.append(f"{len(record.copies) - files} more copies stand in the record; list_offset "
                     f"{files} goes on.")
    return replace(record, **cut), notes


def _list_window(record: Item, window: ItemWindow) -> tuple[ListWindow | None, tuple[str, ...]]:
    """Where the list that the archive read goes on; and that the offset lies past its end."""
    asked = [getattr(record, name) for name in READ_LISTS if name in window.sections]
    listed = next((entries for entries in asked if entries), asked[0] if asked else None)
    if listed is None or window.list_total is None:
        return None, ()
    shown = min(len(listed), window.list_limit)
    end = window.list_offset + shown
    past = f"The list has {window.list_total} entries; list_offset lies past its end."
    return ListWindow(
        offset=window.list_offset, returned=shown, total=window.list_total,
        next_offset=end if listed and end < window.list_total else None), (
            (past,) if not listed and window.list_offset else ())


def text_part(answer: TextAnswer, chars: int) -> TextAnswer:
    """The answer with at most so many characters of its page, from where it was asked to begin."""
    text = answer.whole_text
    if text is None:
        return answer
    shown, following = part(text, answer.text_offset, chars)
    notes = answer.notes
    if text and answer.text_offset >= len(text):
        notes = (*notes, f"The text ends at character {len(text)}; text_offset lies past its end.")
    window = Window(offset=answer.text_offset, returned_chars=len(shown), total_chars=len(text),
                    next_offset=following)
    return replace(answer, text=shown, text_window=window, notes=tuple(dict.fromkeys(notes)))
