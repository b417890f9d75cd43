"""Words that stand in a text are found there, and a question goes out as its reader would write it."""
from __future__ import annotations

import pytest
from toys import archive, client, match, page

from sources.asking.wordings import without_diacritics, wordings
from sources.errors import InvalidInput
from sources.text import find, first_match


@pytest.mark.parametrize(("text", "wanted"), [
    ("the light-\nhouse", "lighthouse"), ("the keep¬\ner", "keeper"), ("soft\u00adhyphened", "softhyphened"), ("well-\nknown", "well-known"),
    ("un cœur", "coeur"), ("in Łódź", "Lodz"), ("the Ægean", "Aegean"), ("本日灯台守の記録が", "灯台"), ("L’abeille", "l'abeille"),
    ("l'abeille", "L’abeille"), ("the Queen's", "Queen")])
def test_a_word_that_a_reader_sees_is_found_and_never_denied(text: str, wanted: str) -> None:
    assert first_match(text, wanted) == find(text, wanted)[0][0]


@pytest.mark.parametrize(("text", "wanted"), [("a light house", "lighthouse"), ("lighthouses", "lighthouse"), ("grey", "gray")])
def test_another_word_is_not_found(text: str, wanted: str) -> None:
    assert (first_match(text, wanted), find(text, wanted)) == (None, ())


@pytest.mark.parametrize(("given", "sent"), [
    ("“white whale”", '"white whale"'), ("« white whale »", '"white whale"'), ("„white whale“", '"white whale"'), ("cafe\u0301", "caf\u00e9"),
    ("so\u00adft fog", "soft fog")])
def test_a_question_is_sent_composed_with_its_marks_and_without_what_nobody_sees(given: str, sent: str) -> None:
    toy = archive("a", text=page(match("a:1", "fog")))

    client(toy).search_inside(given)

    assert toy.asked[0].words == sent  # type: ignore[attr-defined]


@pytest.mark.parametrize("query", ["???", "...", "«»"])
def test_a_question_without_a_letter_or_digit_is_refused_before_any_request(query: str) -> None:
    toy = archive("a", text=page(match("a:1", "fog")))

    with pytest.raises(InvalidInput) as refused:
        client(toy).search_inside(query)

    assert (refused.value.message, toy.asked) == ("search_inside.query holds no word.", [])  # type: ignore[attr-defined]


@pytest.mark.parametrize(("query", "second"), [
    ("Who was Ada Lovelace", "Ada Lovelace"), ("When did Karl Marx die", "Karl Marx"), ("Tell me of Ada Lovelace", "Ada Lovelace"),
    ("Life on the Mississippi by Mark Twain", "Mark Twain"), ("Melville, Herman, 1819-1891", "Melville Herman")])
def test_a_name_among_small_words_and_a_heading_keep_their_words_together(query: str, second: str) -> None:
    assert wordings(query)[1].text == second


def test_the_spelling_without_diacritics_has_one_of_three_places() -> None:
    assert "Victor Hugo Les Miserables edition originale" in [
        wording.text for wording in wordings("Victor Hugo Les Misérables édition originale")[:3]]
    assert without_diacritics("ǅamija") == "Dzamija"


def test_after_a_phrase_that_brought_rows_nothing_more_is_asked() -> None:
    toy = archive("a", text=page(match("a:1", "white whale")))

    answer = client(toy).search_inside('"white whale"')

    assert [(asked.query, asked.not_run_because) for asked in answer.reports[0].queries] == [
        ('"white whale"', None), ("white whale", "the phrase had brought rows")]
