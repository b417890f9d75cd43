"""Where words stand on a page, and which part of its picture shows them: boxes of any unit to one
rectangle, and the rectangle to the address of an image service. Pure arithmetic.

Sources: IIIF Image API 2.1 and 3.0, 4.1 (region) and 4.2 (size): a region is cut at the edge, an
empty one and a size above the region's own are refused.
"""
from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .text import PASSAGE_MARGIN, find

Box = tuple[float, float, float, float]  # left, top, width, height
WIDTH_MAX, HEIGHT_MAX = 1000, 1400  # of a picture, in pixels (DESIGN 4a)
PER_PIXEL = {"pixel": 1.0, "inch/1200": 4.0}  # a page of 1/1200 inch was scanned at 300 dpi or more
_IMAGE = re.compile(r"/full/(?:max|full|pct:[0-9.]+|[0-9]+,)/0/(default|native)\.jpg\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A rectangle of a page, in `unit` (pixel, or inch/1200), on a page `of_width` by `of_height`
    of them."""

    x: float
    y: float
    width: float
    height: float
    unit: str
    of_width: float
    of_height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The words of a page in reading order, each with the blank or line end behind it, and its
    box."""

    words: tuple[tuple[str, Box], ...]
    width: float
    height: float
    unit: str

    def place(self, wording: str, least: tuple[float, float]) -> Region | None:
        """The rectangle around the first passage found, None where the words do not stand here."""
        text = "".join(word for word, _ in self.words)
        spans = find(text, wording)
        if not spans:
            return None
        ends = [0]
        for word, _ in self.words:
            ends.append(ends[-1] + len(word))
        near = [span for span in spans if span[0] <= spans[0][1] + PASSAGE_MARGIN]
        boxes = [box for (start, end), (_, box) in zip(pairwise(ends), self.words, strict=True)
                 if any(start < found_end and found < end for found, found_end in near)]
        return around(boxes, self.width, self.height, self.unit, least)


def around(boxes: Iterable[Box], page_width: float, page_height: float, unit: str,
           least: tuple[float, float]) -> Region | None:
    """The union of boxes with a margin of the tallest one's height, at least `least` (shares of the
    page's width and height), cut at the page's edge; None where page or boxes have no size."""
    sized = [box for box in boxes if _lies_on(box, page_width, page_height)]
    if not sized or not (0 < page_width < math.inf and 0 < page_height < math.inf):
        return None
    margin = max(box[3] for box in sized)
    left, right = _spread(min(box[0] for box in sized) - margin,
                          max(box[0] + box[2] for box in sized) + margin, page_width, least[0])
    top, bottom = _spread(min(box[1] for box in sized) - margin,
                          max(box[1] + box[3] for box in sized) + margin, page_height, least[1])
    return Region(x=left, y=top, width=right - left, height=bottom - top, unit=unit,
                  of_width=page_width, of_height=page_height)


def _lies_on(box: Box, page_width: float, page_height: float) -> bool:
    left, top, width, height = box
    return (all(map(math.isfinite, box)) and width > 0 and height > 0
            and -width < left < page_width and -height < top < page_height)


def _spread(low: float, high: float, whole: float, share: float) -> tuple[float, float]:
    """An extent widened evenly to a share of the whole, and moved or cut to lie inside it."""
    lacking = max(0.0, share * whole - (high - low)) / 2
    low, high = low - lacking, high + lacking
    if low < 0:
        low, high = 0.0, high - low if lacking else high
    if high > whole:
        low, high = max(0.0, low - (high - whole)) if lacking else low, whole
    return math.floor(low), math.ceil(high) if high < whole else whole


def tightest(groups: Sequence[Sequence[Box]]) -> tuple[Box, ...]:
    """One box of each group, so that they lie closest to a box of the smallest group."""
    if not groups or not all(groups):
        return ()

    def with_nearest(seed: Box) -> tuple[Box, ...]:
        return tuple(min(group, key=lambda box: _apart(seed, box)) for group in groups)

    fewest = min(groups, key=lambda group: len(group))
    return min(map(with_nearest, fewest),
               key=lambda chosen: sum(_apart(chosen[0], box) for box in chosen))


def _apart(one: Box, other: Box) -> float:
    return math.hypot(one[0] - other[0], one[1] - other[1])


def picture_address(image_url: str | None, region: Region | None) -> str | None:
    """The address of a page's picture at most WIDTH_MAX wide, or of a region of it; None where the
    picture's own address is none of an image service's."""
    if image_url is None or not _IMAGE.search(image_url):
        return None
    part, width = "full", WIDTH_MAX
    if region is not None:
        native = region.width / PER_PIXEL[region.unit]
        taller = region.height / region.width
        width = max(1, math.floor(min(native, WIDTH_MAX, HEIGHT_MAX / taller)))
        part = f"pct:{','.join(map(_percent, _shares(region)))}"
    return _IMAGE.sub(rf"/{part}/{width},/0/\1.jpg", image_url)


def _shares(region: Region) -> tuple[float, float, float, float]:
    return (region.x / region.of_width, region.y / region.of_height,
            region.width / region.of_width, region.height / region.of_height)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".")
