"""Cutting text to the part asked, and finding words in a page."""
from __future__ import annotations

import pytest

from sources.text import part as cut
from sources.text import passages as find


def test_prose_is_cut_at_a_line_end_and_resumes_there() -> None:
    text = "first line of it\nsecond line of it\nthird"

    part, following = cut(text, 0, 25)
    rest, last = cut(text, following or 0, 1000)

    assert (part, following) == ("first line of it\n", 17)
    assert part + rest == text
    assert last is None


def test_every_character_comes_exactly_once_whatever_the_window() -> None:
    text = "words without end " * 40 + "x" * 500 + "\n\ntail"

    read, offset = "", 0
    while offset is not None:
        part, following = cut(text, offset, 37)
        read, offset = read + part, following

    assert read == text


def test_an_offset_past_the_end_returns_nothing_and_no_next() -> None:
    assert cut("short", 9, 100) == ("", None)


@pytest.mark.parametrize(("match", "count"), [
    ("whale", 3), ("WHALE", 3), ("whal", 0), ('"white whale"', 2), ("white whale", 5), ('"whale white"', 0), ("étage", 1), ("ETAGE", 1), ("++", 0),
])
def test_words_match_whole_and_phrases_adjacent_with_case_and_accents_folded(match: str, count: int) -> None:
    text = "The white whale. A White\nWhale! One whale, no whaler; c'est l'étage."

    assert find(text, match, 10).occurrences == count


def test_every_occurrence_is_counted_and_those_outside_the_passages_are_known() -> None:
    text = ("whale " + "sea " * 200) * 5

    found = find(text, "whale", 2)

    assert (len(found.passages), found.occurrences, found.shown) == (2, 5, 2)


def test_an_occurrence_inside_the_passage_before_it_makes_none_of_its_own() -> None:
    found = find("whale and whale", "whale", 10)

    assert (found.passages, found.occurrences, found.shown) == (("whale and whale",), 2, 2)


def test_a_passage_reaches_about_three_hundred_characters_either_side() -> None:
    found = find("a " * 400 + "whale" + " b" * 400, "whale", 1)

    assert 590 <= len(found.passages[0]) <= 620
    assert found.passages[0].startswith("…") and found.passages[0].endswith("…")


def test_a_script_without_blanks_is_searched_anywhere() -> None:
    assert find("我看見白鯨在海上", "白鯨", 5).occurrences == 1


@pytest.mark.parametrize(("match", "count"), [("हिन्दी", 1), ("हि", 0), ("ह", 0), ("भाषा", 1)])
def test_a_vowel_sign_parts_no_word(match: str, count: int) -> None:
    assert find("यह हिन्दी भाषा है", match, 5).occurrences == count


def test_positions_hold_where_folding_changes_the_length() -> None:
    found = find("Straße ﬁnal whale", "whale", 1)

    assert found.passages == ("Straße ﬁnal whale",)
