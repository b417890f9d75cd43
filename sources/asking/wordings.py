"""One question, the further wordings worth asking, and the characters that no index keeps: pure
functions, no network.

Every wording is made from the letters of the question alone, without a lexicon and without
statistics, so that a reader can make it again by hand. A word is never split, and no mark is ever
added to a letter.
"""
from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Double quotation marks of many languages. The typewriter's own mark stays between two letters,
# where it belongs to the word (Hebrew abbreviations are written so); single marks are left alone,
# since an apostrophe looks the same.
_QUOTES = re.compile(r'[“”„‟«»‹›＂〝〞〟「」『』]|(?<![^\W_])"|"(?![^\W_])')
_ORDINARY = re.compile(r"(?<=[^\W_])['’ʼ‐‑-]+(?=[^\W_])|(?<=[^\W_])['’ʼ]|[.,;:!?…]+(?=\s|$)|\"")
_RUN_ENDS = ",;:?!)("  # after these a capital begins another name
_SENTENCE_ENDS = "?!"  # a full stop also ends an abbreviation, so it proves nothing
# letters; in a title only such words keep a small initial ("The Call of the Wild")
_LITTLE_WORD = 3
ALWAYS = 3  # the wording without diacritics is among so many, which is what one archive is sent
_DIGRAPH = re.compile("[\u01c4-\u01cc\u01f1-\u01f3]")  # one letter for two: ǆ, ǉ, ǌ, ǳ
# ø, ł, đ: a letter and its stroke have no parts
_MARKED_LATIN = re.compile(r"LATIN (?:CAPITAL|SMALL) LETTER ([A-Z]) WITH ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One text to send, and how it came from the question, in words for the reader of `queries`."""

    text: str
    derivation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    text: str
    capital: bool
    leads: bool  # the first of the question or of a sentence, where a capital is due to any word
    ends_run: bool


def wordings(query: str) -> tuple[Wording, ...]:
    """The question as asked, then its further wordings in the order worth asking, each text once.

    The caller decides how many go out. A text that equals an earlier one letter for letter is left
    out.
    """
    found = {query: "as asked"}
    for text, derivation in _derived(query):
        if text:
            found.setdefault(text, derivation)
    told = [Wording(text=text, derivation=derivation) for text, derivation in found.items()]
    bare = [wording for wording in told[ALWAYS:] if wording.derivation == "without diacritics"]
    for wording in bare:  # many catalogues file it so
        told.remove(wording)
        told.insert(ALWAYS - 1, wording)
    return tuple(told)


def lost_characters(query: str) -> str:
    """The characters of a query that are no word to an index, each once in written order, parted by
    blanks; "" when none.

    Left out is what nobody counts as part of the question: quotation marks, apostrophes and hyphens
    inside a word, and the punctuation that ends a word or the sentence. A query without any word
    loses all it has.
    """
    if not any(map(_is_word_part, query)):
        return " ".join(dict.fromkeys("".join(query.split())))
    bare = _ORDINARY.sub("", _QUOTES.sub(" ", query))
    return " ".join(dict.fromkeys(char for char in bare if not _belongs_to_words(char)))


def without_diacritics(text: str) -> str:
    """The text with the marks of its Latin letters taken off; a letter of any other script stays as
    it was written.

    Elsewhere the letter and its mark are one letter of the alphabet (Cyrillic й is not и), and no
    catalogue files the other.
    """
    kept: list[str] = []
    on_latin = False
    for char in _DIGRAPH.sub(lambda found: unicodedata.normalize("NFKD", found[0]), text):
        if unicodedata.category(char).startswith("M"):
            kept.append("" if on_latin else char)
            continue
        base = unicodedata.normalize("NFD", char)[0]
        on_latin = unicodedata.name(base, "").startswith("LATIN ")
        kept.append(_bare_latin(base) if on_latin else char)
    return "".join(kept)


def _derived(query: str) -> Iterator[tuple[str, str]]:
    """Every further wording with its derivation, in the order of DESIGN 6, repeats included."""
    unquoted = " ".join(_QUOTES.sub(" ", query).split())
    if unquoted != " ".join(query.split()):
        yield unquoted, "without quotation marks"

    words = tuple(_split(unquoted))
    yield from tuple(_capitalised(words)) or _longest([word.text for word in words])

    yield without_diacritics(query), "without diacritics"
    whole = unquoted == " ".join(query.split())
    if len(words) == 2 and whole and all(_may_be_joined(word.text) for word in words):
        together = "".join(word.text for word in words)
        yield together, "run together"
        yield without_diacritics(together), "run together, without diacritics"


def _split(text: str) -> Iterator[_Word]:
    """The words of a text, punctuation at their edges taken off; a blank is the only thing that
    parts two words."""
    leads = True
    for chunk in text.split():
        edges = [at for at, char in enumerate(chunk) if _is_word_part(char)]
        if edges:
            bare = chunk[edges[0]:edges[-1] + 1]
            yield _Word(
                text=bare, capital=_has_capital(bare), leads=leads, ends_run=chunk[-1] in _RUN_ENDS
            )
            leads = False
        leads = leads or chunk[-1] in _SENTENCE_ENDS


def _capitalised(words: tuple[_Word, ...]) -> Iterator[tuple[str, str]]:
    """The words that a capital marks as names: whole runs up to three words in all, then up to
    two."""
    if _capitals_mark_nothing(words):
        return
    runs = _runs(words)
    three, two = _fitting(runs, 3), _fitting(runs, 2)
    if three:
        yield (
            " ".join(three),
            "capitalised words" if three == two else "capitalised words, up to three",
        )
    if two:
        yield " ".join(two), "capitalised words, up to two"


def _capitals_mark_nothing(words: tuple[_Word, ...]) -> bool:
    """Whether capitals are this text's manner throughout: all capitals, or the title case of a
    heading."""
    letters = "".join(word.text for word in words)
    if not any(char.islower() for char in letters):
        return True
    small = [word for word in words if not word.capital]
    named = any(word.capital and after.capital and not word.leads and not word.ends_run
                for word, after in itertools.pairwise(words))
    return (
        words[0].capital
        and not (small and named)  # "Who was Ada Lovelace": a name among small words
        and len(small) * 2 < len(words)
        and all(len(word.text) <= _LITTLE_WORD for word in small)
    )


def _runs(words: tuple[_Word, ...]) -> list[list[str]]:
    """Capitalised words that follow one another, as one name each; a run of single letters ("I") is
    no name."""
    runs: list[list[str]] = [[]]
    for at, word in enumerate(words):
        followed = any(after.capital and not after.leads for after in words[at + 1:at + 2])
        counts = word.capital and (followed or not word.leads)
        if counts:
            runs[-1].append(word.text)
        if not counts or word.ends_run:
            runs.append([])
    return [run for run in runs if any(len(text) > 1 for text in run)]


def _fitting(runs: Iterable[list[str]], most: int) -> list[str]:
    """The runs, in written order, that fit whole into so many words; one that does not fit is left
    out."""
    kept: list[str] = []
    for run in runs:
        if len(kept) + len(run) <= most:
            kept += run
    return kept


def _longest(words: list[str]) -> Iterator[tuple[str, str]]:
    """What the letters alone can say of a long question: its three, then its two longest words, in
    written order."""
    first_seen: dict[str, str] = {}
    for word in words:
        first_seen.setdefault(word.casefold(), word)
    distinct = list(first_seen.values())
    for most, derivation in ((3, "three longest words"), (2, "two longest words")):
        if len(distinct) > most:
            longest = sorted(range(len(distinct)), key=lambda at: -_letters(distinct[at]))[:most]
            yield " ".join(distinct[at] for at in sorted(longest)), derivation


def _may_be_joined(word: str) -> bool:
    return all(map(_is_word_part, word))


def _letters(word: str) -> int:
    """How long a word is to its reader: marks are counted with the letter that carries them."""
    return sum(not unicodedata.combining(char) for char in unicodedata.normalize("NFD", word))


def _has_capital(word: str) -> bool:
    """Whether a word begins with a capital, also behind an elided article ("l'Odyssée",
    "dell'Arte")."""
    elided = re.match("([^'’ʼ]+)['’ʼ](.)", word)
    return (
        word[:1].isupper()
        or word[:1].istitle()
        or (elided is not None and elided[1].islower() and elided[2].isupper())
    )


def _bare_latin(base: str) -> str:
    named = _MARKED_LATIN.match(unicodedata.name(base, ""))
    return base if named is None else named[1] if base.isupper() else named[1].lower()


def _is_word_part(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _belongs_to_words(char: str) -> bool:
    return char.isspace() or _is_word_part(char) or unicodedata.category(char) == "Cf"
