"""The archives themselves, asked the table of questions that `mcp-books check --all` asks; only with BOOKS_LIVE=1."""
from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from sources.client import BooksClient
from sources.registry import ARCHIVES, ENTRIES
from sources.settings import read_settings
from sources.shell.check import ROUTES, Route, probe

pytestmark = pytest.mark.skipif(os.environ.get("BOOKS_LIVE") != "1", reason="BOOKS_LIVE=1 asks the real archives; it is not set")
BUDGET_S = 100.0  # of one route: the Library's newspapers take half a minute, and a page's text two or three requests


@pytest.fixture(autouse=True)
def plain_environment() -> None:
    """Here the machine's own proxy, certificates and settings are meant, so conftest's fixture of this name does nothing."""


@pytest.fixture(scope="module")
def carrier() -> Iterator[BooksClient]:
    """One client for all routes, so that each archive has its pauses and a record that was read is not read again."""
    settings = read_settings(known_sources=tuple(entry.key for entry in ENTRIES))
    client = BooksClient(settings=settings, sources=ARCHIVES)
    yield client
    client.close()


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.archive}: {route.name}")
def test_an_archive_answers_a_question_that_it_is_known_to_answer(route: Route, carrier: BooksClient):
    """With something, and in a shape that its adapter reads. Gallica is asked only when BOOKS_SOURCES names it."""
    chosen = carrier.settings.sources or tuple(entry.key for entry in ENTRIES if entry.asked_by_default)
    if route.archive not in chosen:
        pytest.skip(f"{route.archive} is not among the archives asked; BOOKS_SOURCES may name it")

    outcome = probe(route, carrier, BUDGET_S)

    if outcome.absent_because is not None:
        pytest.skip(outcome.absent_because)
    told = "" if outcome.error is None else f"{outcome.error.code}: {outcome.error.message} {outcome.error.hint}"
    assert (told, outcome.empty) == ("", False), f"{outcome.seconds:.1f} s, statuses {outcome.statuses}"
