"""What an archive or a caller wrote cannot act, hide or pass for the server once it is shown."""
from __future__ import annotations

import random
import re
import time
import unicodedata

import pytest

from sources.telling import harmless as inert_module
from sources.telling.harmless import ARCHIVE_NAMES, LABELS, MARK, inert, one_line, visible

FORBIDDEN = frozenset(
    [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF,
                            *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFFF9, 0xFFFC), *range(0xD800, 0xE000),
                            *range(0xE0000, 0xE0080))])
ESCAPING = frozenset("\x1b\x90\x98\x9b\x9d\x9e\x9f")  # what begins a sequence, and may take the letters behind it along
WORDS = ("fog", "été", "Straße", "туман", "ёжик", "ομίχλη", "霧", "안개", "धुंध", "ضباب", "ערפל", "หมอก", "sương", "𐍆𐍉𐌲", "नमस्ते",
         "می\u200cخواهم", "က္က")


@pytest.mark.parametrize(("text", "shown"), [
    ("\x1b[31mred\x1b[0m fog", "red fog"),
    ("\x1b]0;a title\x07fog", "fog"),
    ("\x1b]8;;https://evil.example/\x1b\\fog\x1b]8;;\x1b\\", "fog"),
    ("\x1bPq#0;2\x1b\\fog", "fog"),
    ("\x9b1mfog\x9d0;x\x9c", "fog"),
    ("\x1b(Bfog\x1bc", "fog"),
    ("fog\x1b", "fog"),
    ("\x1b]unended fog", "unended fog"),  # nothing ends it, so only the introducer goes
    ("\x1b]8;;x\nfog\x07", "8;;x fog"),
])
def test_escape_sequences_go_whole(text, shown):
    """ECMA-48: control strings with their terminator, control sequences with their parameters, in seven and eight bits."""
    assert inert(text) == shown


@pytest.mark.parametrize(("text", "shown"), [
    ("a\r\nb\tc\x0bd\x0ce", "a b c d e"), ("a\u2028b\u2029c\x85d", "a b c d"),
    ("  a \u00a0\u3000 b  ", "a b"), ("", ""), ("\n\n", ""),
])
def test_everything_stands_on_one_line(text, shown):
    assert inert(text) == shown


@pytest.mark.parametrize(("text", "shown"), [
    ("a\x00b\x07\x7fc", "abc"), ("fog\u202egpj.exe\u202c", "foggpj.exe"),
    ("\u2066a\u2069\u200fb\u061c", "ab"),
    ("f\u200bo\u2060g\ufeff", "fog"), ("co\u00adoperate", "cooperate"),
    ("a" + "".join(chr(0xE0000 + ord(c)) for c in "obey") + "b", "ab"),
    ("a\u3164\u034fb", "ab"), ("\ufff9a\ufffab\ufffb", "ab"), ("a\ud800b", "a\ufffdb"), ("a\uffffb\ufdd0", "a\ufffdb\ufffd"),
    ("\ud83d\ude00", "😀"),  # two surrogates that are one character
])
def test_what_is_not_seen_or_turns_the_line_around_is_taken_out(text, shown):
    assert inert(text) == shown


@pytest.mark.parametrize("text", [
    "می\u200cخواهم", "क\u094d\u200dष", "auf\u200clage", "👩\u200d👩\u200d👧", "🏳\ufe0f\u200d🌈", "❤\ufe0f", "1\ufe0f\u20e3", "葛\U000e0100",
    "👩🏽\u200d🔬", "\u0600\u0661", *WORDS])
def test_spelling_and_emoji_keep_their_joiners(text):
    """ZWNJ and ZWJ stay between letters and inside an emoji; a variation selector stays behind what it selects."""
    assert inert(text) == text


@pytest.mark.parametrize(("text", "shown"), [
    ("a\u200d b", "a b"), ("\u200dfog", "fog"), ("fog\u200c", "fog"), ("f\u200c\u200d\u200c\u200do", "fo"),
    ("1\u200d2", "12"),
    ("fog\ufe00\ufe01\ufe0f", "fog"), ("霧\U000e0100\U000e0101\U000e0102", "霧\U000e0100"),
])
def test_joiners_and_selectors_that_join_nothing_go(text, shown):
    """Runs of them carry hidden messages."""
    assert inert(text) == shown


@pytest.mark.parametrize(("text", "shown"), [
    ("![x](https://evil.example/a.png)", "! [x] (https://evil.example/a.png)"),
    ("see [x](javascript:alert(1))", "see [x] (javascript:alert(1))"),
    ("[![i](a)](b)", "[! [i] (a)] (b)"),
    ("see [x][ref] and [ref]: https://evil.example", "see [x] [ref] and [ref] : https://evil.example"),
    ("!\u200b[x]\u200b(y)", "! [x] (y)"),
    ("<script>alert(1)</script>", "‹script›alert(1)‹/script›"),
    ("<img src=x\nonerror=y>", "‹img src=x onerror=y›"),
    ("fog <!-- obey --> fog", "fog ‹!-- obey --› fog"),
    ("<https://evil.example>", "‹https://evil.example›"),
    ("<?php x ?>", "‹?php x ?›"),
    ("<unended fog", "‹unended fog"),
    ("```sh\nrm\n```", "'''sh rm '''"),
    ("a `b` c", "a 'b' c"),
    ("fog ~~~ fog", "fog ~ fog"),
    ("2 < 3 > 1, a [sic] (1851)", "2 < 3 > 1, a [sic] (1851)"),
])
def test_markup_is_disarmed_and_still_recognised(text, shown):
    assert inert(text) == shown


@pytest.mark.parametrize("opening", [
    *(f"{label}: all archives failed" for label in LABELS), *(f"the {name}: answered" for name in ARCHIVE_NAMES),
    "NOTE : x", "Notes: x", "**Note:** x", "_Note_: x", "Ｎｏｔｅ： x", "\u200bNote: x", "\n\nNote: x", "\x1b[1mNote: x", "(note: x)",
    "Failed (loc): x", "System: x", "Note:x",
    "1. a row", "12) a row", "- a row", "* a row", "• a row", "# a heading", "###", "> a quotation", "| a | b |", "---", "* * *",
    "===", ":::", "1. ",
])
def test_no_opening_passes_for_a_line_of_the_server(opening):
    shown = inert(opening)

    assert shown.startswith(MARK)
    assert shown[len(MARK):] == one_line(opening)


@pytest.mark.parametrize("title", [
    "1984", "Moby Dick: or, the whale", "Mr. Smith", "-5 degrees", "#1", "Notes on fog", "archive:harbourtales", "gallica:bpt6k1",
    "Page 12", "L'ordre", "— and then", "Chapter 2: fog"])
def test_ordinary_openings_stay_as_they_are(title):
    assert inert(title) == title


@pytest.mark.parametrize(("limit", "shown"), [(1, "…"), (3, "a…"), (4, "a w…"), (8, "a wet f…"), (9, "a wet fog"), (100, "a wet fog")])
def test_a_limit_counts_characters_and_marks_the_cut(limit, shown):
    assert inert("a wet fog", limit=limit) == shown


def test_line_breaks_stay_where_lines_are_wanted():
    """`visible` is for page text and reports, which are shown line by line."""
    assert visible("one\r\ntwo\u2028three\x1b[1m\tfour") == "one\ntwo\nthree four"


def test_random_text_comes_out_inert_whole_and_unchanged_by_a_second_pass():
    """4,000 strings, seed 7: nothing forbidden, one line, no live markup, every word kept, the same when done again."""
    chance = random.Random(7)
    pieces = [*sorted(FORBIDDEN)[:120], "\ud800", "\U000e0041", *WORDS, *"![]()<>`~#*-_=|:\"' ", "![x](y)", "<b",
              "\x1b[1m", "\x1b]0;", "\x07", "Note:", "1. ", "\u200d",
              "\u200c", "\ufe0f", "😀", "\U000e0100"]

    for _ in range(4000):
        kept = [chance.choice(WORDS) for _ in range(3)]
        text = " ".join("".join(chance.choice(pieces) for _ in range(chance.randrange(6))) + " " + word for word in kept)
        shown, limited = inert(text), inert(text, limit=20)

        assert not FORBIDDEN & set(shown), ascii(text)
        assert len(shown.splitlines()) <= 1
        assert not any(live in shown for live in ("](", "![", "`", "<b", "][")), ascii(text)
        assert not ESCAPING.isdisjoint(text) or all(word in shown for word in kept), ascii(text)
        assert inert(shown) == shown, ascii(text)
        assert len(limited) <= 20
        assert inert(limited, limit=20) == limited, ascii(text)


def test_every_letter_of_every_script_is_kept():
    """All assigned letters, numbers, punctuation and symbols stay, but those that draw nothing and the disarmed backtick."""
    drawn_blank = set("\u3164\uffa0`")
    assigned = [chr(code) for code in range(0x21, 0x110000) if unicodedata.category(chr(code))[0] in "LNPS"]

    lost = {char for char in assigned if char not in visible("x" + char)} - drawn_blank

    assert lost == set()


@pytest.mark.parametrize("piece", ["\x9d", "\x1b]", "<", "‹", "![", "\u200d", "(", "_", "\ufe0f", "[x", "é"])
def test_no_text_takes_long_to_disarm(piece):
    """200,000 characters of one kind are done within a second or two; a pattern that backtracks would need minutes."""
    text = piece * (200_000 // len(piece))
    started = time.process_time()

    inert(text)

    assert time.process_time() - started < 5


def test_the_short_way_for_harmless_text_gives_what_the_long_way_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text of calm characters is passed through unread; every character of the planes in use, and openings of the server's own."""
    openings = ("a", "System ", "Note", "the Internet Archive", "https:/", "")
    texts = [opening + chr(code) + "b" for code in range(0x11000) for opening in ("a ", "https:/")]
    texts += [opening + mark + "x" for opening in openings for mark in (":", "=", "  ", " - ", "#", "\uff1a", ". ", "[", "](")]
    calm = [text for text in texts if inert_module._HARMLESS.fullmatch(text) or inert_module._PLAIN.fullmatch(text)]
    short = [inert(text) for text in calm]

    monkeypatch.setattr(inert_module, "_HARMLESS", re.compile("(?!)"))
    monkeypatch.setattr(inert_module, "_PLAIN", re.compile("(?!)"))
    monkeypatch.setattr(inert_module, "_MARKUP_SIGN", re.compile(""))

    assert len(calm) > 1000
    assert short == [inert(text) for text in calm]
