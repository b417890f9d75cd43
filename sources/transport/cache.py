"""Good answers kept in memory for a while, so that what was asked once is not asked again at
once."""
from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Hashable

from ..settings import Settings
from .call import Clock
from .exchange import Received

CACHE_LIMIT_BYTES = 32 << 20


class Cache:
    """Answers by their question, the least lately used going first; bounded in number, in bytes
    and in age (seconds)."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._entries_max = settings.cache_max_entries
        self._lifetime_s = settings.cache_ttl_ms / 1000
        self._clock = clock
        self._lock = threading.RLock()
        self._kept: OrderedDict[Hashable, tuple[float, Received]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, question: Hashable) -> Received | None:
        with self._lock:
            kept_at, received = self._kept.get(question, (-math.inf, None))
            if self._clock.monotonic() - kept_at >= self._lifetime_s:
                self.drop(question)
                return None
            self._kept.move_to_end(question)
            return received

    def put(self, question: Hashable, received: Received) -> None:
        if self._lifetime_s <= 0 or len(received.body) > CACHE_LIMIT_BYTES:
            return
        with self._lock:
            self.drop(question)
            self._kept[question] = (self._clock.monotonic(), received)
            self._bytes += len(received.body)
            while len(self._kept) > self._entries_max or self._bytes > CACHE_LIMIT_BYTES:
                self.drop(next(iter(self._kept)))

    def drop(self, question: Hashable) -> None:
        with self._lock:
            _, received = self._kept.pop(question, (0.0, None))
            self._bytes -= len(received.body) if received is not None else 0
