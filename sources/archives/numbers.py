"""ISBN, LCCN and OCLC numbers in the one spelling that catalogues index, and the check character of
arks. Pure: no archive and no network is known here.

Sources: International ISBN Agency, ISBN Users' Manual (check digits, the 978 prefix); Library of
Congress, LCCN Namespace (normalisation and structure); OCLC, control number prefixes ocm, ocn and
on; the rule of the NOID minter ("NCDA", the check digit algorithm of the California Digital
Library), recomputed on real names of every family that the Bibliothèque nationale de France mints
(cb…, bpt6k…, btv1b…, bd6t…) in 2026-11.
"""
from __future__ import annotations

import re

from ..errors import InvalidInput

# 29 characters, a prime; no vowel but in the fixed part of a name, no l, no y
ARK_ALPHABET = "0123456789bcdfghjkmnpqrstvwxz"
_DASHES = str.maketrans("", "", "-\u2010\u2011\u2012\u2013\u2014\u2212")
_ISBN_HINT = "Give the 10 or 13 characters printed in the book; hyphens and blanks do not matter."
_LCCN_HINT = "Give it as the catalogue prints it: 25010468, 2001-627090, sn85059812."
_OCLC_HINT = "Give the digits of the OCLC number: 57215622."


def isbn(text: str) -> str:
    """The ISBN without hyphens and blanks, 10 characters (the last may be X) or 13 digits, its
    check digit verified.

    Raises:
        InvalidInput: another length, another character, a 13-digit number outside 978 and 979, or a
            wrong check digit.
    """
    compact = re.sub(r"(?i)^\s*isbn(?:-?1[03])?\b:?", "", text).translate(_DASHES)
    number = "".join(compact.split()).upper()
    if not re.fullmatch(r"\d{9}[\dX]|97[89]\d{10}", number, re.ASCII):
        raise InvalidInput(f"isbn: {text!r} is no ISBN.", hint=_ISBN_HINT)
    expected = _check_digit(number[:-1])
    if number[-1] != expected:
        raise InvalidInput(f"isbn: {text!r} has the check digit {number[-1]} where {expected} is "
                           "due, so a digit is mistaken.", hint=_ISBN_HINT)
    return number


def isbn_forms(text: str) -> tuple[str, ...]:
    """The ISBN as given, then in its other length; one form alone for 979, which has no ten-digit
    form.

    Raises:
        InvalidInput: as `isbn`.
    """
    number = isbn(text)
    if len(number) == 10:
        stem = "978" + number[:9]
    elif number.startswith("978"):
        stem = number[3:12]
    else:
        return (number,)
    return (number, stem + _check_digit(stem))


def _check_digit(stem: str) -> str:
    """What must follow nine digits (weights 10 to 2, modulo 11) or twelve (weights 1 and 3 in turn,
    modulo 10)."""
    if len(stem) == 9:
        rest = -sum(int(digit) * (10 - place) for place, digit in enumerate(stem)) % 11
        return "X" if rest == 10 else str(rest)
    return str(-sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(stem)) % 10)


def lccn(text: str) -> str:
    """The LCCN as its namespace normalises it: no blanks, no suffix, no hyphen; the serial after a
    hyphen filled to six digits.

    "85-2" is 85000002, "75-425165//r75" is 75425165, "sn 85059812" is sn85059812.

    Raises:
        InvalidInput: what remains is not a prefix of at most three letters and eight digits, or of
            two letters and ten.
    """
    number = "".join(text.split()).split("/", 1)[0].lower()
    if "-" in number:
        front, serial = number.split("-", 1)
        number = front + serial.zfill(6)
    if not re.fullmatch(r"[a-z]{0,3}\d{8}|[a-z]{0,2}\d{10}", number, re.ASCII):
        raise InvalidInput(f"lccn: {text!r} is no Library of Congress control number.",
                           hint=_LCCN_HINT)
    return number


def oclc(text: str) -> str:
    """The OCLC number as bare digits, without its prefix and leading zeros: "(OCoLC)ocm00057215" is
    57215.

    Raises:
        InvalidInput: what remains is not 1 to 14 digits.
    """
    match = re.fullmatch(r"(?i)\s*(?:\(ocolc\))?\s*(?:oc[mn]|on)?\s*0*(\d{1,14})\s*", text,
                         re.ASCII)
    if match is None or set(match.group(1)) == {"0"}:
        raise InvalidInput(f"oclc: {text!r} is no OCLC number.", hint=_OCLC_HINT)
    return match.group(1)


def ark_check_character(name: str) -> str:
    """The last character of an ark name, computed from what stands before it ("cb12008369" gives
    "5").

    Each character counts its place in the alphabet (0 outside it) times its position from 1; the
    sum modulo 29 is the answer.
    """
    total = sum(position * max(ARK_ALPHABET.find(character), 0)
                for position, character in enumerate(name, start=1))
    return ARK_ALPHABET[total % len(ARK_ALPHABET)]


def is_ark(name: str) -> bool:
    """Whether a whole ark name, without "ark:/12148/", ends in its own check character."""
    return len(name) > 1 and name.isascii() and ark_check_character(name[:-1]) == name[-1]


def keeper_of_ark(name: str) -> str:
    """The archive that describes an ark of the Bibliothèque nationale de France: records of what it
    holds (cb3…, cb4…) are the general catalogue's, works, persons and subjects data.bnf.fr's."""
    return "bnfcatalogue" if name.startswith(("cb3", "cb4")) else "bnf"
