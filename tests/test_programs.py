"""The programs beside the suite, kept from rotting: a slice of the fuzz of what the suite's own fuzz does not reach, and the places of the mutants."""
from __future__ import annotations

import base64
import time
import zlib
from pathlib import Path

import draw
import fuzz
import mutants
import pytest

from sources.client import BooksClient
from sources.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
ROUNDS, SECONDS = 150, 10.0


@pytest.mark.parametrize("kind", ["lines", "state", "kept"])
def test_nothing_random_does_more_than_fail_by_its_name(kind: str) -> None:
    done, wrong = fuzz.tried(kind, ROUNDS, 1, time.monotonic() + SECONDS)

    assert wrong == [] and done > 0


@pytest.mark.parametrize("rule", mutants.RULES)
def test_every_rule_has_functions_that_can_be_changed_and_tests_that_are_there(rule: str) -> None:
    places, tests = mutants.RULES[rule]

    assert [test for test in tests if not (ROOT / "tests" / f"test_{test}.py").exists()] == []
    for place in places:
        module, _, name = place.partition(":")
        path = ROOT / ("sources" if not module.startswith("..") else "") / f"{module.removeprefix('../')}.py"
        assert mutants.changed(path.read_text(encoding="utf-8"), name, -1)[3] > 0, place


def test_the_pictures_of_the_shelf_are_what_the_program_draws() -> None:
    """The page's text and boxes byte by byte, the pictures dot by dot; the crop is the part of the page that is said."""
    def dots(kept: bytes) -> bytes:
        picture = base64.b64decode(kept.partition(b"\n\n")[2])
        return zlib.decompress(picture[picture.index(b"IDAT") + 4:picture.rindex(b"IEND") - 8])

    for name, made in draw.files().items():
        kept = (draw.SHELF / name).read_bytes()
        assert kept.partition(b"\n\n")[0] == made.partition(b"\n\n")[0]
        assert (dots(kept) == dots(made)) if "picture" in name else kept == made


def test_the_shelf_shows_a_passage_cut_from_its_page_without_a_network() -> None:
    with BooksClient(settings=Settings(replay_dir=draw.SHELF)) as books:
        answer = books.read_text("archive:capemarrowlog00fenw", page=7, match="wet fog", picture="passage")

    assert answer.picture is not None
    assert (answer.picture.shows, answer.picture.width, answer.picture.height) == ("passage", 175, 70)
    assert (answer.passages or ())[0].text.find("wet fog") > 0
