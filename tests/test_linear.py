"""Every reading of foreign text takes a time that grows with its length and not with its square: a table of strings made to be slow,
through every function that such a string can reach. Times are of this thread; what another process does to them is tried away."""
from __future__ import annotations

import json
import math
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from sources.archives import dates, fields, imprints, numbers, page_xml
from sources.archives.internet_archive import spelled
from sources.asking.arguments import check
from sources.asking.identifiers import read_identifier
from sources.asking.picture import measured
from sources.asking.wordings import lost_characters, wordings
from sources.contract import Record, to_dict
from sources.errors import SourceError
from sources.registry import ARCHIVES
from sources.shell.tables import table
from sources.telling import citations, harmless
from sources.text import excerpt, find, first_match, fold, passages, plain, scalar_text, strings, window, words
from sources.transport import bodies
from sources.transport.verdict import retry_after

SIZES = (10_000, 80_000)  # characters, eight times apart
EXPONENT = 1.3  # n log n over these sizes is 1.1, and memory that no longer fits a cache adds to it; a square is 2
TRIES = 5
WORTH_S = 0.02  # a square of the longer text is seconds; what is shorter is the clock, the first call and a neighbour's load

STRINGS: dict[str, Callable[[int], str]] = {
    "comments opened": lambda size: "<!--" * (size // 4),
    "comments whole, then none": lambda size: "<!---->" * (size // 7) + "<zzz/>",
    "tags opened": lambda size: "<a " * (size // 3),
    "tags without a name": lambda size: "<" * size,
    "scripts opened": lambda size: "<script>" * (size // 8),
    "elements nested": lambda size: "<a>" * (size // 3),
    "blanks": lambda size: " " * size + "x",
    "line ends": lambda size: "\n" * size + "x",
    "entities": lambda size: "&#" + "9" * size,
    "ampersands": lambda size: "&amp" * (size // 4),
    "quotes": lambda size: '"' * size + "x",
    "curly quotes": lambda size: "“" * size,
    "brackets": lambda size: "[" * size,
    "backslashes": lambda size: "\\" * size,
    "words of one letter": lambda size: "a " * (size // 2),
    "one word": lambda size: "a" * size,
    "words in capitals": lambda size: "Ab Cd " * (size // 6),
    "accents": lambda size: "e\u0301" * (size // 2),
    "marks on one letter": lambda size: "e" + "\u0301" * size,
    "soft hyphens": lambda size: "a\u00ad" * (size // 2),
    "hyphens at line ends": lambda size: "a-\n" * (size // 3),
    "digits": lambda size: "1" * size,
    "years": lambda size: "1850-" * (size // 5),
    "points": lambda size: ". " * (size // 2),
    "colons and commas": lambda size: "a : b, " * (size // 7),
    "slashes": lambda size: "/" * size,
    "surrogates": lambda size: "\ud800" * size,
    "controls": lambda size: "\u202e\u0007" * (size // 2),
    "labels": lambda size: "Note: " * (size // 6),
    "Japanese": lambda size: "灯台守" * (size // 3),
    "marks of a match": lambda size: "{{{" * (size // 3),
    "markers of a picture": lambda size: "\u00ff\u00d8\u00ff\u00e0\u0000\u0000" * (size // 6),
}


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def row(text: str) -> Record:
    return Record(identifier="loc:1", source="loc", source_name="L", title=text, creator=text, date=text, publishers=(text,), source_url="https://example.org/")


def cited(text: str) -> Any:
    return citations.forms(citations.of_row(row(text), retrieved_on="2026-11-30"))


def tabled(text: str) -> str:
    return table("search_items", {"items": [to_dict(row(text))], "per_source": []}, asked="x")


READINGS: dict[str, Callable[[str], Any]] = {
    "is it a web page": lambda text: bodies.is_html(bytes_of(text), "text/html"),
    "JSON": lambda text: bodies.decode_json(bytes_of(text)),
    "a text in JSON": lambda text: bodies.decode_json(json.dumps([text]).encode()),
    "XML": lambda text: bodies.decode_xml(bytes_of(text), ""),
    "XML, as text": lambda text: bodies.text_of_xml(bytes_of(text), "text/xml"),
    "text": lambda text: bodies.decode_text(bytes_of(text), "text/plain; charset=utf-8"),
    "a charset": lambda text: bodies.charset(text),
    "a compressed body": lambda text: b"".join(bodies.decompressed([zlib.compress(bytes_of(text))], "deflate")),
    "a page of text": lambda text: page_xml.read_page_xml(f"<OBJECT>{text}</OBJECT>", "archive"),
    "markup": plain,
    "fold": fold,
    "words": words,
    "find": lambda text: find(text, "lighthouse keeper"),
    "find what is long": lambda text: find("a lighthouse keeper", text[:2000]),
    "the first match": lambda text: first_match(text, "lighthouse keeper"),
    "passages": lambda text: passages(text + " lighthouse", "lighthouse", 10),
    "an excerpt": lambda text: excerpt(text, "lighthouse", 300),
    "a window": lambda text: window(text, len(text) // 2, 300),
    "strings": strings,
    "surrogates": scalar_text,
    "inert": harmless.inert,
    "visible": harmless.visible,
    "one line": harmless.one_line,
    "disarmed": harmless.disarmed,
    "a year": dates.year_of,
    "an imprint": lambda text: imprints.read_imprint(text),
    "a field": fields.line,
    "a marked excerpt": lambda text: fields.marked_excerpt(text, 300),
    "numbers": lambda text: (numbers.isbn(text), numbers.lccn(text), numbers.oclc(text), numbers.is_ark(text)),
    "wordings": wordings,
    "characters that are no words": lost_characters,
    "a query spelled": spelled,
    "arguments": lambda text: check("search_items", {"query": text, "title": text, "sources": text}, ARCHIVES),
    "an identifier": lambda text: read_identifier(text, ARCHIVES),
    "an identifier with its archive": lambda text: read_identifier("loc:" + text, ARCHIVES),
    "an address": lambda text: read_identifier("https://www.loc.gov/item/" + text, ARCHIVES),
    "a time to wait": lambda text: retry_after(text, 0.0),
    "a picture": lambda text: measured(text.encode("latin-1", "replace")),
    "citations": cited,
    "a table": tabled,
}


def seconds(work: Callable[[str], Any], text: str) -> float:
    begun = time.thread_time()
    with suppress(SourceError, ValueError):  # refused is as good as read
        work(text)
    return time.thread_time() - begun


def exponent(work: Callable[[str], Any], make: Callable[[int], str]) -> float:
    """Of the time at the two sizes; 0 where even the longer one is read at once."""
    short, long = map(make, SIZES)
    taken_s = seconds(work, long)
    if taken_s < WORTH_S:
        return 0.0
    at_short_s = max(min(seconds(work, short) for _ in range(3)), 1e-6)
    return math.log(min(taken_s, seconds(work, long)) / at_short_s) / math.log(SIZES[1] / SIZES[0])


@pytest.mark.parametrize("reading", READINGS)
def test_a_reading_takes_a_time_that_grows_with_its_text(reading: str) -> None:
    slow = {}
    for name, make in STRINGS.items():
        fitted = math.inf
        for _ in range(TRIES):
            fitted = min(fitted, exponent(READINGS[reading], make)) if fitted > EXPONENT else fitted
        if fitted > EXPONENT:
            slow[name] = round(fitted, 2)

    assert slow == {}


def test_a_square_is_seen() -> None:
    """What the check is for: a reading whose time is the square of its text is caught."""
    assert exponent(lambda text: [text[:at].count("x") for at in range(0, len(text), 40)], STRINGS["one word"]) > 1.6
