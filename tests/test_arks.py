"""The check character of the library's ark names."""
from __future__ import annotations

import pytest

from sources.archives.numbers import ark_check_character, is_ark


@pytest.mark.parametrize("name", ["cb120083695", "cb11921467w", "bpt6k5738219s", "btv1b9020648r", "bpt6k97356214"])
def test_a_name_of_every_family_ends_in_its_check_character(name: str) -> None:
    """The names are public identifiers; the last character follows from the others, with weights 1, 2, 3 … modulo 29."""
    assert ark_check_character(name[:-1]) == name[-1]
    assert is_ark(name)


@pytest.mark.parametrize("name", ["cb120083659", "cb120083694", "bpt6k573821s", "", "5", "bpt6k5738219ſ"])
def test_a_mistyped_name_is_noticed(name: str) -> None:
    """Two digits swapped, one changed, one left out, nothing, one character alone, a letter outside ASCII."""
    assert not is_ark(name)
