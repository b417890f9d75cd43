"""Reading fields of any shape."""
from __future__ import annotations

from typing import Any

import pytest

from sources import text


@pytest.mark.parametrize(("value", "read"), [
    ("a  b\n", ("a b",)), (["a", None, ["b"], 3], ("a", "b", "3")), (None, ()), ("", ()), (True, ()), ({"k": "v"}, ()), (1851, ("1851",)),
])
def test_a_field_is_text_list_number_null_or_absent_and_reads_the_same(value: Any, read: tuple[str, ...]) -> None:
    assert text.strings(value) == read


@pytest.mark.parametrize(("value", "read"), [(3, 3), ("3", 3), (3.0, 3), (3.5, None), (True, None), ("x", None), (["7"], 7), ("9" * 30, None)])
def test_a_count_is_read_only_where_it_is_one(value: Any, read: int | None) -> None:
    assert text.integer(value) == read


def test_markup_becomes_plain_text_with_its_line_ends() -> None:
    html = "<p>One &amp; <b>two</b><br>three</p><script>alert(1)</script><!-- no -->a < b &lt;i&gt;"

    assert text.plain(html) == "One & two\nthree\na < b <i>"


@pytest.mark.parametrize(("body", "wording", "found"), [
    ("The White Whale", "white whale", True), ("The Whitest Whale", "white whale", False), ("Wal et baleine", "BALEINE", True),
    ("Zoé", "zoe", True), ("anything", "", False),
    ("Zoe\u0301 la re\u0302veuse", "Zoé rêveuse", True), ("Zoé", "zoe\u0301", True), ("Zoe\u0301", "zo", False),
    ("Filosofii\ufe20a\ufe21 tvorchestva", "filosofiia", True), ("Filosofii\ufe20a\ufe21", "a", False),
    ("हिन्दी साहित्य", "हिन्दी", True), ("हिन्दी साहित्य", "ह", False),
])
def test_a_text_holds_a_wording_only_when_every_word_stands_in_it_whole(body: str, wording: str, found: bool) -> None:
    """An accent written apart, half a tie, a vowel sign: a mark parts no word and makes none."""
    assert (text.first_match(body, wording) is not None) is found


def test_a_window_is_cut_at_blanks_around_the_match_and_says_what_is_missing() -> None:
    body = "alpha " * 30 + "whale " + "omega " * 30

    cut = text.window(body, body.index("whale"), 60)

    assert "whale" in cut and cut.startswith("…alpha") and cut.endswith("omega…")
    assert len(cut) <= 60


def test_lone_surrogates_become_the_replacement_character() -> None:
    assert text.scalar_text("a\ud800b\U0001f40b") == "a\ufffdb\U0001f40b"


@pytest.mark.parametrize(("stated", "read"), [
    (41, 41), ("41", 41), (0, 0), (7.0, 7), (-1, None), (10**30, None), ("9" * 17, None), (True, None), (None, None), ("many", None), ([3], 3)])
def test_an_amount_is_a_whole_number_that_can_be_one(stated: object, read: int | None) -> None:
    """Nothing is counted below zero, and nothing here beyond a thousand million million."""
    assert text.amount(stated) == read


def test_a_passage_is_cut_around_its_first_word_and_is_called_one():
    told = text.excerpt("The quay. " * 30 + "A windmill.", "windmill", 80)

    assert (told.kind, "windmill" in told.text) == ("passage", True)


def test_an_opening_begins_with_the_first_letter_of_the_page():
    told = text.excerpt("The quay. " * 30, "windmill", 80)

    assert (told.text[:9], told.kind) == ("The quay.", "page_opening")
