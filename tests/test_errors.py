"""The six ways a question can fail."""
from __future__ import annotations

import ast
import copy
from pathlib import Path

import pytest

from sources import errors
from sources.errors import REASONS, ArchiveUnreachable, Cancelled, SourceError

ROOT = Path(__file__).parent.parent
CODES = {"RecordNotFound": "not_found", "InvalidInput": "invalid_input", "RateLimited": "rate_limited",
         "UnreadableAnswer": "parse_failure", "ArchiveUnreachable": "network_error", "TimedOut": "timeout"}


def test_there_is_one_class_for_each_of_six_codes_and_no_other():
    found = {name: kind.code for name, kind in vars(errors).items()
             if isinstance(kind, type) and issubclass(kind, SourceError) and kind is not SourceError}

    assert found == CODES


@pytest.mark.parametrize("name", CODES)
def test_an_error_always_says_a_next_step(name):
    error = getattr(errors, name)("Something was the matter.")

    assert error.hint.endswith((".", "again."))
    assert (error.archive, error.status, error.retry_after_s, error.stage) == (None, None, None, None)


def test_every_reason_stands_under_one_of_the_codes_and_every_code_is_a_reason_of_its_own():
    assert set(REASONS.values()) == set(CODES.values())
    assert {code: REASONS[code] for code in CODES.values()} == {code: code for code in CODES.values()}


def test_every_reason_that_the_code_gives_is_listed_under_the_code_of_its_error():
    """Read from the source: a reason that a program relies on is no place for a misspelling."""
    given = {(call.func.id, keyword.value.value) for path in (ROOT / "mcp_books.py", *(ROOT / "sources").rglob("*.py"))
             for call in ast.walk(ast.parse(path.read_text())) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
             for keyword in call.keywords if keyword.arg == "reason" and isinstance(keyword.value, ast.Constant)}

    assert ("RateLimited", "server_busy") in given
    elsewhere = {"unknown_argument", "missing_argument", "unreadable_value", "query_refused", "refused_by_site", "server_error", "other_shape",
                 "cut_short", "answer_too_large", "certificate"}  # chosen by a table or a condition
    assert {reason for reason in REASONS if reason not in CODES.values()} == {reason for _, reason in given} | elsewhere
    assert {(name, reason) for name, reason in given if name in CODES and REASONS.get(reason) != CODES[name]} == set()


def test_an_error_without_a_finer_reason_says_its_code():
    assert (ArchiveUnreachable("No.").reason, ArchiveUnreachable("No.", reason="challenge").reason) == ("network_error", "challenge")


def test_the_same_question_may_be_answered_another_time_unless_it_was_wrong_or_the_record_is_not_there():
    assert {name for name in CODES if not getattr(errors, name)("No.").passing} == {"RecordNotFound", "InvalidInput"}


def test_only_a_failure_on_the_way_is_worth_asking_again_by_itself():
    """Silence and refusals are not: asking again would double the load and the wait."""
    assert {name for name in CODES if getattr(errors, name).retryable} == {"ArchiveUnreachable"}


def test_a_message_begins_with_a_capital_when_an_archives_name_comes_first():
    assert ArchiveUnreachable("the Toy Library is silent.").message == "The Toy Library is silent."
    assert ArchiveUnreachable("data.toy.example is silent.").message == "data.toy.example is silent."


def test_a_copy_of_an_error_is_whole():
    """Callers that share one failed request each get a copy, to mark as theirs."""
    error = ArchiveUnreachable("No.", archive="toy", hint="Wait.", status=503, retry_after_s=4.0, stage="read")

    twin = copy.copy(error)
    twin.stage = None

    assert (twin.message, twin.archive, twin.hint, twin.status, twin.retry_after_s) == ("No.", "toy", "Wait.", 503, 4.0)
    assert error.stage == "read"


def test_taking_a_question_back_is_no_failure_of_an_archive():
    assert not issubclass(Cancelled, SourceError)
