"""Boxes of any unit to one part of a page, and that part to the address of its picture: pure arithmetic, to the last pixel."""
from __future__ import annotations

import math

import pytest

from sources.regions import Box, Region, Sheet, around, picture_address, tightest

NO_LEAST = (0.0, 0.0)


def region(x: float, y: float, width: float, height: float, unit: str = "pixel", page: tuple[float, float] = (1000, 2000)) -> Region:
    return Region(x=x, y=y, width=width, height=height, unit=unit, of_width=page[0], of_height=page[1])


@pytest.mark.parametrize(("boxes", "least", "shown"), [
    ([(100, 200, 80, 40)], NO_LEAST, region(60, 160, 160, 120)),  # a margin of the line's height all round
    ([(100, 200, 80, 40), (400, 300, 50, 20)], NO_LEAST, region(60, 160, 430, 200)),  # the union, the margin of the taller
    ([(10, 10, 80, 40)], NO_LEAST, region(0, 0, 130, 90)),  # cut at the left and the top
    ([(950, 1980, 100, 40)], NO_LEAST, region(910, 1940, 90, 60)),  # cut at the right and the bottom, though the box passes them
    ([(500, 1000, 10, 10)], (0.35, 0.1), region(330, 905, 350, 200)),  # widened evenly to the least part
    ([(0, 0, 10, 10)], (0.35, 0.1), region(0, 0, 350, 200)),  # and moved inside the page
    ([(990, 1990, 10, 10)], (0.35, 0.1), region(650, 1800, 350, 200)),
])
def test_a_part_is_the_union_with_a_margin_inside_the_page(boxes: list[Box], least: tuple[float, float], shown: Region) -> None:
    assert around(boxes, 1000, 2000, "pixel", least) == shown


@pytest.mark.parametrize(("boxes", "page"), [
    ([], (1000, 2000)), ([(10, 10, 0, 40)], (1000, 2000)), ([(10, 10, 40, -1)], (1000, 2000)), ([(1000, 10, 40, 40)], (1000, 2000)),
    ([(-50, 10, 40, 40)], (1000, 2000)), ([(math.nan, 10, 40, 40)], (1000, 2000)), ([(10, 10, math.inf, 40)], (1000, 2000)),
    ([(10, 10, 40, 40)], (0, 2000)), ([(10, 10, 40, 40)], (1000, math.inf))])
def test_what_has_no_size_or_lies_off_the_page_is_no_place(boxes: list[Box], page: tuple[float, float]) -> None:
    assert around(boxes, *page, "pixel", NO_LEAST) is None


def test_a_box_without_size_costs_no_other() -> None:
    assert around([(10, 10, 0, 0), (100, 200, 80, 40)], 1000, 2000, "pixel", NO_LEAST) == region(60, 160, 160, 120)


def test_of_words_that_stand_in_many_places_the_closest_group_is_meant() -> None:
    """The Library names every place of every word of a page: "Clara Bow" side by side, and another "Bow" far above."""
    clara, bow, other = (18161.0, 8627.0, 378.0, 104.0), (18638.0, 8622.0, 335.0, 128.0), (19748.0, 4091.0, 326.0, 128.0)

    assert tightest([[other, bow], [clara]]) == (bow, clara)
    assert tightest([[other, bow], []]) == ()
    assert tightest([]) == ()


WORDS: tuple[tuple[str, Box], ...] = (
    ("the ", (10, 10, 30, 20)), ("light-\n", (50, 10, 60, 20)), ("house ", (10, 40, 60, 20)), ("stood ", (80, 40, 60, 20)))


@pytest.mark.parametrize(("wording", "shown"), [
    ("lighthouse", region(0, 0, 130, 80)), ("stood", region(60, 20, 100, 60)), ("LIGHTHOUSE stood", region(0, 0, 160, 80)), ("mill", None)])
def test_the_place_of_a_passage_is_that_of_the_words_that_are_found(wording: str, shown: Region | None) -> None:
    """By the one finder of words: a word that a printer parted stands in both its lines."""
    assert Sheet(words=WORDS, width=1000, height=2000, unit="pixel").place(wording, NO_LEAST) == shown


def test_the_same_words_further_down_are_another_passage() -> None:
    between: tuple[tuple[str, Box], ...] = tuple(("and ", (10, 100 + 10 * line, 30, 8)) for line in range(100))
    sheet = Sheet(words=(*WORDS, *between, ("stood\n", (60, 1900, 60, 20))), width=1000, height=2000, unit="pixel")

    assert sheet.place("stood", NO_LEAST) == region(60, 20, 100, 60)


SERVICE = "https://iiif.example/image/2/a%2Fb"


@pytest.mark.parametrize(("image", "part", "asked"), [
    (f"{SERVICE}/full/max/0/default.jpg", None, f"{SERVICE}/full/1000,/0/default.jpg"),
    (f"{SERVICE}/full/pct:12.5/0/default.jpg", None, f"{SERVICE}/full/1000,/0/default.jpg"),
    (f"{SERVICE}/full/1000,/0/native.jpg", region(100, 200, 500, 400), f"{SERVICE}/pct:10,10,50,20/500,/0/native.jpg"),  # never above native
    (f"{SERVICE}/full/max/0/default.jpg", region(0, 0, 2600, 1300, page=(2600, 2600)), f"{SERVICE}/pct:0,0,100,50/1000,/0/default.jpg"),
    (f"{SERVICE}/full/max/0/default.jpg", region(0, 0, 1000, 2000, page=(1000, 2000)), f"{SERVICE}/pct:0,0,100,100/700,/0/default.jpg"),  # too tall
    (f"{SERVICE}/full/max/0/default.jpg", region(2337, 2960, 4674, 1480, "inch/1200", (23372, 29600)),
     f"{SERVICE}/pct:10,10,20,5/1000,/0/default.jpg"),
    (f"{SERVICE}/full/max/0/default.jpg", region(2337, 2960, 2337, 1480, "inch/1200", (23372, 29600)),
     f"{SERVICE}/pct:10,10,10,5/584,/0/default.jpg"),
    ("https://example.org/picture.jpg", None, None), (None, None, None)])
def test_a_picture_is_asked_in_shares_of_the_page_and_never_larger_than_it_is(image: str | None, part: Region | None, asked: str | None) -> None:
    assert picture_address(image, part) == asked
