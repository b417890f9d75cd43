"""The programs beside the suite, kept from rotting: a slice of the fuzz of what the suite's own fuzz does not reach, and the places of the mutants."""
from __future__ import annotations

import time
from pathlib import Path

import fuzz
import mutants
import pytest

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
