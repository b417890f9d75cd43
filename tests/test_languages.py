"""Languages: the code a catalogue files, whatever code was written."""
from __future__ import annotations

import pytest

from sources import languages
from sources.errors import InvalidInput
from sources.languages import language_name, marc_code
from sources.telling.text_block import render_error


@pytest.mark.parametrize("written, code", [
    ("fr", "fre"), ("fra", "fre"), ("fre", "fre"), (" FR ", "fre"), ("de", "ger"), ("deu", "ger"), ("nl", "dut"), ("zh", "chi"),
    ("el", "gre"), ("cs", "cze"), ("fa", "per"), ("ro", "rum"), ("sk", "slo"), ("cy", "wel"), ("is", "ice"), ("sq", "alb"),
    ("hy", "arm"), ("eu", "baq"), ("my", "bur"), ("ka", "geo"), ("mk", "mac"), ("mi", "mao"), ("ms", "may"), ("bo", "tib"),
    ("en", "eng"), ("he", "heb"), ("yi", "yid"),
])
def test_a_two_letter_code_becomes_the_marc_code(written, code):
    """The twenty languages whose bibliographic code differs from the other ISO 639 codes are where a plain copy finds nothing."""
    assert marc_code(written) == code


@pytest.mark.parametrize("written", ["grc", "mul", "und", "FRO"])
def test_a_three_letter_code_that_is_not_listed_is_taken_as_marcs_own(written):
    """MARC has some 480 codes, most without a two-letter form."""
    assert marc_code(written) == written.lower()


@pytest.mark.parametrize("written", ["xx", "", "f", "frensh", "f1e", "фре"])
def test_an_unknown_code_is_refused_not_dropped(written):
    """A language that is not sent would widen the answer unseen."""
    with pytest.raises(InvalidInput) as refusal:
        marc_code(written)

    assert refusal.value.message == f"language is {written!r}, which is no language code known here."
    assert "›" not in render_error(refusal.value)  # the server's own sentence is not marked as somebody else's


@pytest.mark.parametrize("code, name", [("fre", "French"), ("de", "German"), ("nob", "Norwegian Bokmål"), ("grc", None)])
def test_a_language_has_its_english_name_where_the_table_gives_one(code, name):
    """None is said, not guessed."""
    assert language_name(code) == name


def test_no_code_of_the_table_names_two_languages():
    """One code read two ways would be decided by the order of the lines."""
    codes = [code for row in languages.rows() for code in set(row[:3]) - {"-"}]

    assert sorted(codes) == sorted(set(codes))
    assert all(len(row) in (4, 5) and len(row[0]) == 3 and len(row[1]) == 2 for row in languages.rows())
