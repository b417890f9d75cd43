"""One question and its further wordings: which come, in which order, and which are never made."""
from __future__ import annotations

import json
import unicodedata

import pytest
from conftest import ANSWERS

from sources.asking.arguments import check
from sources.asking.wordings import Wording, lost_characters, without_diacritics, wordings
from sources.registry import ARCHIVES

ORDERED = [
    # a quoted phrase, alone and inside a sentence
    ('"a wet fog"', [("without quotation marks", "a wet fog")]),
    ("„ein nasser Nebel“", [("without quotation marks", "ein nasser Nebel"), ("capitalised words", "Nebel")]),
    ('who said "call me Ishmael" in Nantucket', [
        ("without quotation marks", "who said call me Ishmael in Nantucket"), ("capitalised words", "Ishmael Nantucket")]),
    ("« brouillard »", [("without quotation marks", "brouillard")]),
    # a heading
    ("Melville, Herman, 1819-1891", [("heading", "Melville Herman")]),
    # capitals inside the sentence, in several languages
    ("which novel by Herman Melville names Nantucket", [
        ("longest run of capitals", "Herman Melville"), ("capitalised words", "Herman Melville Nantucket")]),
    ("Why did Vincent van Gogh leave Paris", [
        ("longest run of capitals", "Vincent van Gogh"), ("capitalised words", "Vincent van Gogh Paris")]),
    ("qui a écrit l'Odyssée ?", [("capitalised words", "l'Odyssée"), ("without diacritics", "qui a ecrit l'Odyssee ?")]),
    ("Wann schrieb Goethe über die Farben?", [
        ("capitalised words", "Goethe Farben"), ("without diacritics", "Wann schrieb Goethe uber die Farben?")]),
    ("кто написал роман про Обломова", [("capitalised words", "Обломова")]),
    ("ποιος έγραψε για τον Οδυσσέα", [("capitalised words", "Οδυσσέα")]),
    # no mark: the longest words; those of one or two letters are no reason for another wording
    ("the price of whale oil", [("three longest words", "the price whale"), ("two longest words", "price whale")]),
    ("price of oil", []),
    ("no such phrase", []),
    ("to be or not to be", []),
    ("wie teuer war waltran", [("three longest words", "wie teuer waltran"), ("two longest words", "teuer waltran")]),
    ("كتاب عن تاريخ الملاحة", [("two longest words", "تاريخ الملاحة")]),
    ("never never never land ahead", [("two longest words", "never ahead")]),
    # all capitals and title case mark nothing
    ("WHO WROTE ABOUT WHALES", [("three longest words", "WROTE ABOUT WHALES"), ("two longest words", "WROTE WHALES")]),
    ("The Call of the Wild", [("two longest words", "Call Wild")]),
    ("Alice in Wonderland", []),
    # two words
    ("wet fog", [("run together", "wetfog")]),
    ("no 9", []),
    ("Émile Zola", [("without diacritics", "Emile Zola")]),
    ('"saw mill"', [("without quotation marks", "saw mill")]),
    ("đường về", [("without diacritics", "duong ve")]),
    # one word, nothing to derive
    ("whale", []),
    ("чайка", []),
    ("吾輩は猫である", []),
    ("", []),
    ("???", []),
]


@pytest.mark.parametrize(("query", "further"), ORDERED)
def test_further_wordings_follow_the_question_in_one_fixed_order(query, further):
    """As asked; one reduction; then the spelling without diacritics, else a second reduction, else two words run together."""
    expected = [Wording(text=text, derivation=name) for name, text in further]

    found = wordings(query)

    assert found == (Wording(text=query, derivation="as asked"), *expected)


@pytest.mark.parametrize(("query", "kept"), [
    ("Melville sailed from Nantucket", "Nantucket"),  # a capital begins every sentence
    ("Herman Melville sailed from home", "Herman Melville"),
    ("is it true? Nobody knows the Acushnet", "Acushnet"),  # so it does after a question mark
    ("what should I read about Henry VIII", "Henry VIII"),  # a single letter is no name
    ("novels of Dickens, Charles Darwin and friends", "Charles Darwin"),
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
    ("Œuvre Straße æon ı Þórr", "Oeuvre Strasse aeon i Thorr"),  # letters without parts, as they are written where a keyboard lacks them
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


FORMS = json.loads((ANSWERS / "wordings.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("query", "sent"), [row for rows in FORMS.values() for row in rows])
def test_two_hundred_forms_of_a_query_give_what_a_librarian_would_type(query: str, sent: list[str]) -> None:
    """Names, headings, questions, titles, many scripts, quoted, accented, decomposed; read through the checks of the arguments."""
    asked = check("search_inside", {"query": query}, ARCHIVES)["query"].strip()

    assert [wording.text for wording in wordings(asked)] == sent
    assert len(sent) <= 3


def test_thirty_questions_that_hold_a_name_send_it_whole() -> None:
    names = ["Ada Lovelace", "Karl Marx", "Mark Twain", "Ada Lovelace", "Victor Hugo", "Charles Darwin", "Jane Austen", "Notre Dame", "Samuel Johnson",
             "Emily Dickinson", "James Cook", "Mary Shelley", "Isaac Newton", "Vincent van Gogh", "Marie Curie", "Queen Victoria", "Pope Julius",
             "John Donne", "Simon Bolivar", "San Francisco", "New Orleans", "Benjamin Franklin", "Leo Tolstoy", "Oscar Wilde", "Nicolas Flamel",
             "Kew Gardens", "Cape Cod", "William Shakespeare", "Victor Hugo", "George Sand"]

    assert [name for name, (_, sent) in zip(names, FORMS["questions"], strict=True) if sent[1] != name] == []
