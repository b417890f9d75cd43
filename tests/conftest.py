"""Fixtures for all tests: a fake clock, a loader of answers, adapters bound to a real transport, a stand-in server."""
from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sources.contract import Archive
from sources.settings import Settings
from sources.transport import Call, Transport

ANSWERS = Path(__file__).parent / "answers"


class FakeClock:
    """A clock that stands still; only a pause moves it on, at once, and `slept` lists how far, in seconds."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = 1000.0
        self._epoch = 1_796_036_400.0  # 2026-11-30T11:00:00Z when the clock starts

    def monotonic(self) -> float:
        return self._now

    def time(self) -> float:
        return self._epoch + self._now - 1000.0

    def advance(self, seconds: float) -> None:
        self._now += seconds

    def set_wall(self, seconds: float) -> None:
        """Move the wall clock alone, as an operator or a time server does."""
        self._epoch += seconds

    def pause(self, changed: threading.Condition, until: float) -> None:
        if until > self._now:
            self.slept.append(round(until - self._now, 6))
            self._now = until
            changed.notify_all()

    def wait(self, changed: threading.Condition, until: float) -> None:
        if self._now < until:
            changed.wait(0.02)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, certificate file or setting of the machine reaches a test."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "BOOKS_GATEWAY",
                 "BOOKS_STATE_DIR", "BOOKS_REPLAY_DIR", "BOOKS_RECORD_DIR", "BOOKS_SOURCES", "BOOKS_TOOLS", "BOOKS_USER_AGENT"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def answer() -> Callable[[str], str]:
    """The text of one file under tests/answers, by its path there."""
    return lambda path: (ANSWERS / path).read_text(encoding="utf-8")


@pytest.fixture
def make_archive(clock: FakeClock) -> Callable[..., Archive]:
    """Build an adapter for one call of 50 s on the fake clock; further arguments are settings."""

    def make(archive: type[Archive], **changes: object) -> Archive:
        transport = Transport(Settings(**changes), [archive], clock=clock)  # type: ignore[arg-type]
        return archive(transport.for_call(Call(50.0, clock=clock), archive.key))

    return make
