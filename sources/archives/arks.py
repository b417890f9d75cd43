"""Ark names of the Bibliothèque nationale de France: their check character, so that a mistyped one is refused unasked.

Source: the rule of the NOID minter ("NCDA", the check digit algorithm of the California Digital Library), recomputed on real
names of every family that the library mints (cb…, bpt6k…, btv1b…, bd6t…) in 2026-11.
"""
from __future__ import annotations

ALPHABET = "0123456789bcdfghjkmnpqrstvwxz"  # 29 characters, a prime; no vowel but in the fixed part of a name, no l, no y


def check_character(name: str) -> str:
    """The last character of an ark name, computed from what stands before it ("cb12008369" gives "5").

    Each character counts its place in the alphabet (0 outside it) times its position from 1; the sum modulo 29 is the answer.
    """
    total = sum(position * max(ALPHABET.find(character), 0) for position, character in enumerate(name, start=1))
    return ALPHABET[total % len(ALPHABET)]


def is_valid(name: str) -> bool:
    """Whether a whole ark name, without "ark:/12148/", ends in its own check character."""
    return len(name) > 1 and name.isascii() and check_character(name[:-1]) == name[-1]
