"""One question, the further wordings worth asking, and the characters that no index keeps: pure
functions, no network.

Every wording is made from the letters of the question, without statistics and without a lexicon
but for the words that open a question, so that a reader can make it again by hand. A word is never
split, and no mark is ever added to a letter.
"""
from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..text import WHOLE_LETTERS

# Double quotation marks of many languages. The typewriter's own mark stays between two letters,
# where it belongs to the word (Hebrew abbreviations are written so); single marks are left alone,
# since an apostrophe looks the same.
_QUOTES = re.compile(r'[“”„‟«»‹›＂〝〞〟「」『』]|(?<![^\W_])"|"(?![^\W_])')
_ORDINARY = re.compile(r"(?<=[^\W_])['’ʼ‐‑-]+(?=[^\W_])|(?<=[^\W_])['’ʼ]|[.,;:!?…]+(?=\s|$)|\"")
_RUN_ENDS = ",;:?!)("  # after these a capital begins another name
_SENTENCE_ENDS = "?!"  # a full stop also ends an abbreviation, so it proves nothing
# letters; in a title only such words keep a small initial ("The Call of the Wild")
_LITTLE_WORD = 3
_SYLLABLES = "\u2e80"  # from here on a letter is a syllable or a word
# "Surname, Given names", with a life behind it or without
_NAME = r"[^\W\d_a-zà-ÿ][\w'’.-]*"
_HEADING = re.compile(rf"({_NAME}(?: {_NAME}){{0,2}}), ({_NAME}(?: [\w'’.-]+){{0,3}})"
                      r"(?:, [^,]*\d[^,]*)?\.?")
# What stands small between two parts of one name.
_PARTICLES = frozenset(re.findall(r"\w+", (
    "van von der den ter ten de du des la le las los del della dei di da dos das "
    "do bin ibn ben al el zu zur af av y")))
# What opens a question, and has its capital from there alone.
_ASKING = frozenset(re.findall(r"\w+", (
    "who whom whose what which when where why how did do does is are was were has "
    "have had can could tell find show give name qui que quoi quel quelle quels "
    "quelles quand où comment pourquoi wer wen wem wessen wann wo warum wie welche "
    "welcher quién qué cuándo dónde cómo chi che quando dove come")))
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
    """The question as asked, one reduction, and a third wording, each text once (DESIGN 6).

    The third is the one without diacritics where that differs, else a second reduction, else two
    words run together. The caller decides how many go out.
    """
    asked = " ".join(query.split())
    unquoted = " ".join(_QUOTES.sub(" ", query).split())
    words = tuple(_split(unquoted))
    quoted = ((unquoted, "without quotation marks"),) if unquoted != asked else ()
    reductions = [(text, how) for text, how in (*quoted, *_reduced(unquoted, words))
                  if text and text != asked]
    bare = without_diacritics(query)
    third = [(bare, "without diacritics")] if bare != query else reductions[1:2]
    two = len(words) == 2 and not quoted and not words[0].ends_run
    if not third and two and all(map(_may_be_joined, words)):
        third = [("".join(word.text for word in words), "run together")]
    found = {query: "as asked"}
    for text, derivation in (*reductions[:1], *third):
        found.setdefault(text, derivation)
    return tuple(Wording(text=text, derivation=derivation) for text, derivation in found.items())


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


def _reduced(text: str, words: tuple[_Word, ...]) -> Iterator[tuple[str, str]]:
    """Shorter wordings of an unquoted text, the first that applies first: a heading turned round,
    names, failing any mark the longest words."""
    heading = _HEADING.fullmatch(text)
    if heading:
        yield " ".join(f"{heading[1]} {heading[2]}".split()), "heading"
        return
    named = tuple(_names(words))
    yield from named or _longest([word.text for word in words if _counts(word.text)], len(words))


def _split(text: str) -> Iterator[_Word]:
    """The words of a text, punctuation at their edges taken off; a blank is the only thing that
    parts two words."""
    leads = True
    for chunk in text.split():
        edges = [at for at, char in enumerate(chunk) if _is_word_part(char)]
        if edges:
            bare = chunk[edges[0]:edges[-1] + 1]
            asks = leads and bare.casefold() in _ASKING
            yield _Word(text=bare, capital=_has_capital(bare) and not asks, leads=leads,
                        ends_run=chunk[-1] in _RUN_ENDS)
            leads = False
        leads = leads or chunk[-1] in _SENTENCE_ENDS


def _names(words: tuple[_Word, ...]) -> Iterator[tuple[str, str]]:
    """What a capital marks as names: the longest run of two or three capitalised words, kept whole,
    then whole runs up to three words in all."""
    if _capitals_mark_nothing(words):
        return
    runs = _runs(words)
    whole = [run for run in runs if 2 <= _capitals(run) <= 3 and len(run) < len(words)]
    if whole:
        longest = max(whole, key=lambda run: _capitals(run))
        yield " ".join(longest), "longest run of capitals"
    if kept := _fitting(runs, 3):
        yield " ".join(kept), "capitalised words"


def _capitals(run: Sequence[str]) -> int:
    return sum(text not in _PARTICLES for text in run)


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
    """Capitalised words that follow one another, as one name each, with the particles between them
    ("van"); a run of single letters ("I") is no name."""
    runs: list[list[str]] = [[]]
    for word, behind in zip(words, _behind(words), strict=True):
        followed = behind is not None and behind.capital and not behind.leads
        counts = word.capital and (followed or not word.leads)
        inside = word.text in _PARTICLES and bool(runs[-1]) and followed
        if counts or inside:
            runs[-1].append(word.text)
        if not (counts or inside) or word.ends_run:
            runs.append([])
    return [run for run in runs if any(len(text) > 1 for text in run)]


def _behind(words: tuple[_Word, ...]) -> list[_Word | None]:
    """For each word the next that is no particle."""
    found: list[_Word | None] = []
    after: _Word | None = None
    for word in reversed(words):
        found.append(after)
        after = after if word.text in _PARTICLES else word
    return found[::-1]


def _fitting(runs: Iterable[list[str]], most: int) -> list[str]:
    """The runs, in written order, that fit whole into so many words; one that does not fit is left
    out."""
    kept: list[str] = []
    for run in runs:
        if _capitals(kept) + _capitals(run) <= most:
            kept += run
    return kept


def _longest(words: list[str], asked: int) -> Iterator[tuple[str, str]]:
    """What the letters alone can say of a question of so many words: its three, then its two
    longest, in written order; `words` are those long enough to count, and only they are a reason
    for another wording."""
    first_seen: dict[str, str] = {}
    for word in words:
        first_seen.setdefault(word.casefold(), word)
    distinct = list(first_seen.values())
    for most, derivation in ((3, "three longest words"), (2, "two longest words")):
        if len(distinct) > most and asked > most:
            longest = sorted(range(len(distinct)), key=lambda at: -_letters(distinct[at]))[:most]
            yield " ".join(distinct[at] for at in sorted(longest)), derivation


def _counts(word: str) -> bool:
    """Whether a word says enough: three letters, or any of a script whose letters are syllables or
    words."""
    return _letters(word) >= _LITTLE_WORD or any(char >= _SYLLABLES for char in word)


def _may_be_joined(word: _Word) -> bool:
    return _counts(word.text) and all(map(_is_word_part, word.text))


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
    """A Latin letter as it is written where a keyboard lacks it."""
    plain = WHOLE_LETTERS.get(ord(base.lower()))
    if plain:
        return plain.capitalize() if base.isupper() else plain
    named = _MARKED_LATIN.match(unicodedata.name(base, ""))
    return base if named is None else named[1] if base.isupper() else named[1].lower()


def _is_word_part(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _belongs_to_words(char: str) -> bool:
    return char.isspace() or _is_word_part(char) or unicodedata.category(char) == "Cf"
