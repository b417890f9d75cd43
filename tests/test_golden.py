"""The golden net: nothing that a user or a host is shown changes unawares."""
from __future__ import annotations

from golden import KEPT, answers


def test_every_answer_is_what_it_was_byte_by_byte():
    """A change that means to alter one writes the files again (`python tests/golden.py`) and commits them with it."""
    made = dict(answers())

    assert {path.name: path.read_bytes().decode() for path in KEPT.iterdir()} == made
