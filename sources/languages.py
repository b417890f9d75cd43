"""Languages: the MARC code that catalogues file, the two-letter code people write, and the names.

The table is languages.tsv, a language a line: MARC code, two-letter code, terminological code where
it differs (else "-"), English name, and of the languages most asked for the French one. It is read
when the first language is asked for, since a host waits for the list of tools.

Source: ISO 639-2 (bibliographic codes, which MARC uses) beside ISO 639-1, as the Library of
Congress publishes both.
"""
from __future__ import annotations

import functools
from pathlib import Path

from .errors import InvalidInput
from .text import fold

TABLE = Path(__file__).with_name("languages.tsv")


@functools.cache
def rows() -> tuple[tuple[str, ...], ...]:
    """The lines of the table, in the order of the MARC codes."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split("\t")) for line in lines)


@functools.cache
def _marc_codes() -> dict[str, str]:
    return {code: row[0] for row in rows() for code in row[:3] if code != "-"}


def names() -> dict[str, str]:
    """English names by MARC code."""
    return {row[0]: row[3] for row in rows()}


def marc_code(code: str) -> str:
    """The MARC code for a two- or three-letter code; an unknown three-letter code is taken as
    MARC's own.

    Raises:
        InvalidInput: a two-letter code that ISO 639-1 does not list, or no code at all.
    """
    wanted = code.strip().lower()
    known = _marc_codes().get(wanted)
    if known:
        return known
    if len(wanted) == 3 and wanted.isascii() and wanted.isalpha():
        return wanted
    meant = code_of_name(wanted)
    raise InvalidInput(f"language is {code!r}, which is no language code known here."
                       + (f" Did you mean {meant!r}?" if meant else ""),
                       hint="Give a three-letter MARC code (fre, ger, chi) or a two-letter code "
                            "(fr, de, zh).")


def code_of_name(name: str) -> str | None:
    """The MARC code of a language by its English or French name; None when the table has no such
    name."""
    wanted = fold(name.strip())
    return next((row[0] for row in rows() for part in row[3:]
                 if wanted in map(fold, (part, *part.split("; ")))), None)


def language_name(code: str) -> str | None:
    """The English name of a language, None when the table has none ("grc", "mul")."""
    return names().get(marc_code(code))
