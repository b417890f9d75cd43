"""One question and its further wordings: which come, in which order, and which are never made."""
from __future__ import annotations

import unicodedata

import pytest

from sources.asking.wordings import Wording, lost_characters, without_diacritics, wordings

ORDERED = [
    # a quoted phrase, alone and inside a sentence
    ('"a wet fog"', [("without quotation marks", "a wet fog"), ("two longest words", "wet fog")]),
    ("„ein nasser Nebel“", [("without quotation marks", "ein nasser Nebel"), ("capitalised words", "Nebel")]),
    ('who said "call me Ishmael" in Nantucket', [
        ("without quotation marks", "who said call me Ishmael in Nantucket"), ("capitalised words", "Ishmael Nantucket")]),
    ("« brouillard »", [("without quotation marks", "brouillard")]),
    # capitals inside the sentence, in several languages
    ("which novel by Herman Melville names Nantucket", [
        ("capitalised words, up to three", "Herman Melville Nantucket"), ("capitalised words, up to two", "Herman Melville")]),
    ("qui a écrit l'Odyssée ?", [("capitalised words", "l'Odyssée"), ("without diacritics", "qui a ecrit l'Odyssee ?")]),
    ("Wann schrieb Goethe über die Farben?", [
        ("capitalised words", "Goethe Farben"), ("without diacritics", "Wann schrieb Goethe uber die Farben?")]),
    ("кто написал роман про Обломова", [("capitalised words", "Обломова")]),
    ("ποιος έγραψε για τον Οδυσσέα", [("capitalised words", "Οδυσσέα")]),
    # no mark: the longest words
    ("the price of whale oil", [("three longest words", "the price whale"), ("two longest words", "price whale")]),
    ("price of oil", [("two longest words", "price oil")]),
    ("wie teuer war waltran", [("three longest words", "wie teuer waltran"), ("two longest words", "teuer waltran")]),
    ("كتاب عن تاريخ الملاحة", [("three longest words", "كتاب تاريخ الملاحة"), ("two longest words", "تاريخ الملاحة")]),
    ("never never never land ahead", [("two longest words", "never ahead")]),
    # all capitals and title case mark nothing
    ("WHO WROTE ABOUT WHALES", [("three longest words", "WROTE ABOUT WHALES"), ("two longest words", "WROTE WHALES")]),
    ("The Call of the Wild", [("three longest words", "The Call Wild"), ("two longest words", "Call Wild")]),
    ("Alice in Wonderland", [("two longest words", "Alice Wonderland")]),
    # two words
    ("wet fog", [("run together", "wetfog")]),
    ("Émile Zola", [("without diacritics", "Emile Zola"), ("run together", "ÉmileZola"),
                    ("run together, without diacritics", "EmileZola")]),
    ('"saw mill"', [("without quotation marks", "saw mill")]),
    ("đường về", [("without diacritics", "duong ve"), ("run together", "đườngvề"), ("run together, without diacritics", "duongve")]),
    # one word, nothing to derive
    ("whale", []),
    ("чайка", []),
    ("吾輩は猫である", []),
    ("", []),
    ("???", []),
]


@pytest.mark.parametrize(("query", "further"), ORDERED)
def test_further_wordings_follow_the_question_in_one_fixed_order(query, further):
    """As asked; unquoted; capitalised runs; failing them the longest words; without diacritics; two words run together."""
    expected = [Wording(text=text, derivation=name) for name, text in further]

    found = wordings(query)

    assert found == (Wording(text=query, derivation="as asked"), *expected)


@pytest.mark.parametrize(("query", "kept"), [
    ("Melville sailed from Nantucket", "Nantucket"),  # a capital begins every sentence
    ("Herman Melville sailed from home", "Herman Melville"),
    ("is it true? Nobody knows the Acushnet", "Acushnet"),  # so it does after a question mark
    ("what should I read about Henry VIII", "Henry VIII"),  # a single letter is no name
    ("novels of Dickens, Charles Darwin and friends", "Dickens Charles Darwin"),
    ("works on the Universal Declaration Human Rights by Cassin", "Cassin"),  # four in a run fit nowhere whole
])
def test_a_capital_counts_only_where_it_marks_a_name(query, kept):
    assert wordings(query)[1].text == kept


def test_a_run_of_capitals_is_never_cut():
    """Five words in one run fit neither into three nor into two, so the longest words are asked instead."""
    found = wordings("reports by the Royal Society Of London Observatory")

    assert [entry.derivation for entry in found[1:]] == ["three longest words", "two longest words"]


@pytest.mark.parametrize("query", ["ёжик в тумане", "Чайковский й", "Ο Οδυσσέας", "がぎぐ げご", "हिन्दी किताब", "שָׁלוֹם עֲלֵיכֶם", "مُحَمَّد كِتَاب"])
def test_marks_stay_in_every_script_but_latin(query):
    assert without_diacritics(query) == query
    assert without_diacritics(unicodedata.normalize("NFD", query)) == unicodedata.normalize("NFD", query)


@pytest.mark.parametrize(("marked", "bare"), [
    ("Đường Nguyễn", "Duong Nguyen"), ("Łódź", "Lodz"), ("Strøm", "Strom"), ("e\u0301te\u0301", "ete"), ("İstanbul", "Istanbul"),
    ("œuvre Straße æon ı", "œuvre Straße æon ı"),  # letters of their own, not a letter and its ornament
    ("Pokémon и ёлка", "Pokemon и ёлка"),
])
def test_latin_letters_lose_their_marks_alone(marked, bare):
    assert without_diacritics(marked) == bare


@pytest.mark.parametrize("query", [
    "sawmill", "Saint-Exupéry vol", "aujourd'hui demain", 'צה"ל ספר', "e-e cummings", "can't won't", "Émile", "plain words only here"])
def test_no_word_is_split_and_no_mark_is_added(query):
    """Every wording is spelt with characters of the question or their bare letters, and cuts no word in two."""
    bare = without_diacritics(query)

    for wording in wordings(query):
        assert set(wording.text) <= set(query) | set(bare) | {" "}
        assert len(wording.text.split()) <= len(query.split())
        assert all(word in query or word in bare or word in "".join(query.split()) or word in "".join(bare.split())
                   for word in wording.text.split())


@pytest.mark.parametrize("query", [entry[0] for entry in ORDERED] + ["x y z", "A B", "éé éé", "Ée ée ÉE"])
def test_each_text_is_asked_once(query):
    texts = [entry.text for entry in wordings(query)]

    assert len(texts) == len(set(texts))
    assert texts[0] == query


@pytest.mark.parametrize(("query", "lost"), [
    ("C++ & C# in 24/7?", "+ & # /"), ("a wet fog", ""), ('"a wet fog", he said.', ""), ("l'été de Saint-Exupéry", ""),
    ("key:value", ":"), ("100 % ☭", "% ☭"), ('צה"ל', ""), ("हिन्दी नमस्ते", ""), ("(1851)", "( )"), ("? !", "? !"), ("qui ?", ""), ("", ""),
])
def test_characters_that_no_index_keeps_are_named_once(query, lost):
    """Ordinary punctuation goes unmentioned; what a reader may think is searched for does not."""
    assert lost_characters(query) == lost
