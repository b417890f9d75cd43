"""Boxes of three conventions become one region of a page, to the last pixel."""
from __future__ import annotations

import math

import pytest

from sources.archives.regions import BOOK, NEWSPAPER, Box, Region, box_of, region_of, size_asked, tightest, union


def box(x: float, y: float, width: float, height: float) -> Box:
    return Box(x=x, y=y, width=width, height=height)


WHOLE = Region(x=0, y=0, width=1, height=1)


@pytest.mark.parametrize("edges, around, made", [
    ((10, 20, 40, 30), None, box(10, 20, 30, 10)),
    ((10, 20, None, 30), box(0, 0, 100, 50), box(10, 20, 90, 10)),  # as recorded: the last box of a line has no right edge
    ((None, None, None, None), box(1, 2, 3, 4), box(1, 2, 3, 4)),
    ((10, 20, None, 30), None, None),
    ((40, 20, 10, 30), None, None),
    ((10, 20, 10, 30), None, None),
    ((10, 20, math.nan, 30), None, None),
    ((10, 20, math.inf, 30), None, None),
])
def test_a_box_has_four_edges_or_takes_them_from_the_one_around_it(edges, around, made):
    assert box_of(*edges, around) == made


def test_a_union_holds_all_its_boxes():
    assert union([box(10, 20, 30, 10), box(5, 25, 10, 20)]) == box(5, 20, 35, 25)
    assert union([]) is None


def test_a_region_is_the_same_in_whatever_unit_its_boxes_came():
    """1/1200 inch on a page of 23372 × 29600, pixels on one of 5843 × 7400: the same words, the same region."""
    inches = region_of([box(4000, 8000, 400, 100)], (23372, 29600), NEWSPAPER)
    pixels = region_of([box(1000, 2000, 100, 25)], (5843, 7400), NEWSPAPER)

    assert inches == pixels


def test_a_region_shows_at_least_some_of_the_page_around_the_words():
    region = region_of([box(500, 500, 10, 10)], (1000, 1000), BOOK)

    assert region == Region(x=pytest.approx(0.33), y=pytest.approx(0.455), width=pytest.approx(0.35), height=pytest.approx(0.10))


def test_a_region_at_the_edge_is_moved_and_not_cut_smaller():
    corner = region_of([box(0, 0, 10, 10)], (1000, 1000), BOOK)
    other = region_of([box(990, 990, 10, 10)], (1000, 1000), BOOK)

    assert (corner.x, corner.y, corner.width) == (0, 0, pytest.approx(0.35))
    assert (other.x + other.width, other.y + other.height) == (pytest.approx(1), pytest.approx(1))


def test_a_margin_of_a_lines_height_stands_around_a_wide_passage():
    region = region_of([box(100, 100, 600, 20), box(100, 130, 600, 20)], (1000, 1000), (0, 0))

    assert region == Region(x=0.08, y=0.08, width=pytest.approx(0.64), height=pytest.approx(0.09))


@pytest.mark.parametrize("boxes, page", [
    ([], (1000, 1000)), ([box(1, 1, 1, 1)], (0, 1000)), ([box(5000, 1, 10, 10)], (1000, 1000)), ([box(1, -50, 10, 10)], (1000, 1000)),
])
def test_no_region_is_told_where_no_place_is_known(boxes, page):
    assert region_of(boxes, page) is None


def test_of_many_places_the_group_that_stands_closest_is_the_passage():
    clara = [box(100, 290, 50, 10), box(900, 900, 50, 10)]
    bow = [box(700, 140, 40, 10), box(155, 290, 40, 10)]

    assert tightest([clara, bow]) == (box(100, 290, 50, 10), box(155, 290, 40, 10))
    assert tightest([clara, []]) == ()
    assert tightest([]) == ()


def test_pixels_reach_outward_and_stay_inside_the_image():
    assert Region(x=0.1001, y=0.2, width=0.5, height=0.8).pixels(1000, 500) == (100, 100, 501, 400)
    assert WHOLE.pixels(3156, 4663) == (0, 0, 3156, 4663)


def test_percent_has_two_places():
    assert Region(x=0.43341, y=0.6178, width=0.1323, height=0.1125).percent() == "pct:43.34,61.78,13.23,11.25"


@pytest.mark.parametrize("region, width, height, asked", [
    (WHOLE, 3156, 4663, "947,"),  # by height: 1,400 of 4,663
    (WHOLE, 3000, 3000, "1000,"),
    (WHOLE, 640, 480, "640,"),  # never above what the image holds
    (Region(x=0, y=0, width=0.1, height=0.1), 3000, 3000, "300,"),
    (None, 640, 480, "640,"),
    (None, None, None, "1000,"),
])
def test_a_picture_is_never_asked_larger_than_it_is_or_than_a_thousand_pixels(region, width, height, asked):
    assert size_asked(region, width, height) == asked
