"""Where words stand on a page, and which part of its picture shows them. Pure arithmetic.

Archives give boxes in pixels of the image, in pixels of a page, or in 1/1200 inch; each gives the
size of its page in the same unit and answer. Only boxes over page size are safe everywhere, so a
region is kept in fractions of the page, and becomes pixels or percent where an image is asked.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# How much of a page a picture shows at least, of its width and height: a column and some lines of a
# newspaper, the greater part of a book's line (our figures, chosen on recorded pages).
BOOK, NEWSPAPER = (0.35, 0.10), (0.16, 0.06)
MARGIN_LINES = 1.0  # a line's height on every side of the words
WIDTH_MAX, HEIGHT_MAX = 1000, 1400  # pixels of the picture asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle in some unit, by its left and top edge and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A part of a page in fractions of its width and height, 0 to 1, clipped to the page."""

    x: float
    y: float
    width: float
    height: float

    def percent(self) -> str:
        """The region as an image service takes it whatever the size of its image."""
        return "pct:" + ",".join(f"{100 * part:.2f}" for part in
                                 (self.x, self.y, self.width, self.height))

    def pixels(self, of_width: int, of_height: int) -> tuple[int, int, int, int]:
        """(x, y, width, height) in whole pixels of an image, outward, inside the image."""
        left, top = math.floor(self.x * of_width), math.floor(self.y * of_height)
        right = min(of_width, math.ceil((self.x + self.width) * of_width))
        bottom = min(of_height, math.ceil((self.y + self.height) * of_height))
        return left, top, right - left, bottom - top


def box_of(left: float | None, top: float | None, right: float | None, bottom: float | None,
           around: Box | None = None) -> Box | None:
    """A box from four edges; a missing one is that of the box around it. None without extent."""
    if around is not None:
        left = around.x if left is None else left
        top = around.y if top is None else top
        right = around.right if right is None else right
        bottom = around.bottom if bottom is None else bottom
    if left is None or top is None or right is None or bottom is None:
        return None
    if not all(map(math.isfinite, (left, top, right, bottom))) or right <= left or bottom <= top:
        return None
    return Box(x=left, y=top, width=right - left, height=bottom - top)


def union(boxes: Iterable[Box]) -> Box | None:
    """The smallest box around some; None for none."""
    every = tuple(boxes)
    if not every:
        return None
    left, top = min(box.x for box in every), min(box.y for box in every)
    right, bottom = max(box.right for box in every), max(box.bottom for box in every)
    return Box(x=left, y=top, width=right - left, height=bottom - top)


def tightest(groups: Sequence[Sequence[Box]]) -> tuple[Box, ...]:
    """One box of each term, standing closest together: `groups` are the places of each term.

    Every place of the rarest term is tried, with the nearest place of each other one.
    """
    held = [group for group in groups if group]
    if not held or len(held) < len(groups):
        return ()
    rarest = min(held, key=len)
    others = [group for group in held if group is not rarest]
    best: tuple[float, tuple[Box, ...]] | None = None
    for place in rarest:
        chosen = (place, *(min(group, key=lambda box: _apart(box, place)) for group in others))
        around = union(chosen)
        spread = around.width + around.height if around else math.inf
        if best is None or spread < best[0]:
            best = (spread, chosen)
    return best[1] if best else ()


def _apart(one: Box, other: Box) -> float:
    return abs(one.x - other.x) + abs(one.y - other.y)


def region_of(boxes: Sequence[Box], page: tuple[float, float],
              least: tuple[float, float] = BOOK) -> Region | None:
    """The part of a page around some boxes, a line's height wider on every side, at least `least`
    of the page; `page` is its width and height in the boxes' unit. None where no place is known."""
    around, (width, height) = union(boxes), page
    if around is None or not (width > 0 and height > 0):
        return None
    if around.right <= 0 or around.bottom <= 0 or around.x >= width or around.y >= height:
        return None  # the boxes lie outside the page: the page's size is not in their unit
    margin = MARGIN_LINES * sorted(box.height for box in boxes)[len(boxes) // 2]
    x, across = _stretch(around.x, around.width, margin, least[0], width)
    y, down = _stretch(around.y, around.height, margin, least[1], height)
    return Region(x=x, y=y, width=across, height=down)


def _stretch(start: float, length: float, margin: float, least: float,
             of: float) -> tuple[float, float]:
    """A stretch of one side in fractions: wider by the margin and to the least, moved and cut to
    lie on the page."""
    low, high = start - margin, start + length + margin
    missing = least * of - (high - low)
    if missing > 0:
        low, high = low - missing / 2, high + missing / 2
    if low < 0:
        low, high = 0.0, high - low
    if high > of:
        low, high = max(0.0, low - (high - of)), of
    return low / of, (high - low) / of


def size_asked(region: Region | None, of_width: int | None, of_height: int | None) -> str:
    """The size of a picture as an image service takes it: never above what the image holds, at most
    1,000 pixels wide and 1,400 tall. Where the image's size is not known, the width alone."""
    if of_width is None or of_height is None:
        return f"{WIDTH_MAX},"
    _, _, wide, tall = (region or Region(x=0, y=0, width=1, height=1)).pixels(of_width, of_height)
    shrink = min(1.0, WIDTH_MAX / max(1, wide), HEIGHT_MAX / max(1, tall))
    return f"{max(1, math.floor(wide * shrink))},"
