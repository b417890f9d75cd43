"""One question of one caller, and the clock that all waiting goes by."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ..contract import Ask, Reply
from ..errors import Cancelled, TimedOut

# a request is on its way a little after its start is noted; the archive must not see less than is
# owed
PAUSE_MARGIN_S = 0.005


class Clock:
    """Time, and the two ways of waiting. `changed` is held by the caller; both may return early,
    so the caller looks again."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

    def time(self) -> float:
        """Seconds since 1970, as the machine believes."""
        return time.time()

    def wait(self, changed: threading.Condition, until: float) -> None:
        """Wait for something to happen, at the latest until a monotonic moment."""
        changed.wait(min(max(0.0, until - time.monotonic()), threading.TIMEOUT_MAX))

    def pause(self, changed: threading.Condition, until: float) -> None:
        """Let time pass until a monotonic moment; a fake clock moves on instead."""
        self.wait(changed, until + PAUSE_MARGIN_S)


class Call:
    """A caller's question: its time budget in seconds, its cancellation, and whom to tell how it
    goes (contract.Call)."""

    def __init__(self, budget_s: float, *, tell: Callable[[str], None] | None = None,
                 clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.budget_s = budget_s
        self.deadline = self.clock.monotonic() + budget_s
        self.cancelled = False
        self.kept: list[tuple[str, Ask, Reply]] = []  # of which archive, where answers are kept
        self._tell = tell
        self._lock = threading.Lock()
        self._wake: dict[Callable[[], None], None] = {}  # in order, each once

    def remaining_s(self) -> float:
        return max(0.0, self.deadline - self.clock.monotonic())

    def check(self) -> None:
        if self.cancelled:
            raise Cancelled("The caller took the question back.")
        if not self.remaining_s():
            raise TimedOut(f"The time for this question, {self.budget_s:g} s, is used up.",
                           reason="budget_spent")

    def tell(self, message: str) -> None:
        if self._tell is not None and not self.cancelled:
            self._tell(message)

    def cancel(self) -> None:
        """Take the question back, from any thread; whoever waits for it stops at once. A second
        time does nothing."""
        with self._lock:
            self.cancelled = True
            wake = tuple(self._wake)
        for notify in wake:
            notify()

    def when_cancelled(self, notify: Callable[[], None]) -> None:
        """Call `notify` on cancellation, at once when that has already happened."""
        with self._lock:
            self._wake[notify] = None
        if self.cancelled:
            notify()
