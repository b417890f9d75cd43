"""One request under way, how it may be cut short from outside, and the two things that can come
of it."""
from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field

from ..contract import Archive, Ask
from ..errors import SourceError
from .gate import Gate, Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An answer as it came: decompressed, not decoded. `url` is the archive's own address, after
    redirects."""

    status: int
    headers: Mapping[str, str]
    url: str
    body: bytes
    retrieved_at: str

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


@dataclass(eq=False)
class Setback(Exception):
    """An attempt that came to nothing: `error` is what a caller is told of it.

    Asking again makes sense at most `tries` times, after `pause_s` when the archive named a time.
    Until then nobody else is to ask either: for `silence_s`, or, after a challenge (`wall`), for
    as long as the lane keeps away from walls.
    """

    error: SourceError
    tries: int = 0
    pause_s: float | None = None
    silence_s: float = 0.0
    wall: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class Exchange:
    """One request on the wire, from a place at the gate to its `answer` (status, headers, body) or
    its `failure`.

    It may take `limit_s`, which is up at the monotonic moment `until`. Whoever ends it first, its
    own thread or another that cuts it short, has the say over what becomes of it.
    """

    ask: Ask
    gate: Gate
    ticket: Ticket
    limit_s: float
    until: float
    answer: tuple[int, Mapping[str, str], bytes] | None = None
    failure: Exception | None = None
    answering: bool = False  # the head of the answer has come
    _over: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _socket: socket.socket | None = None

    @property
    def archive(self) -> type[Archive]:
        return self.gate.archive

    @property
    def shut_out(self) -> bool:
        """Whether being left without any answer may be how this lane bans."""
        return self.gate.lane.bans_mutely and not self.answering

    def started(self) -> None:
        """Bytes begin to leave."""
        self.gate.started(self.ticket)

    def hold(self, handle: socket.socket) -> None:
        """Note the connection in use, by a copy of its socket, so that `end` reaches it under
        any TLS."""
        with self._lock:
            self._let_go()
            if self._over:
                raise ConnectionAbortedError("nobody waits for this answer any more")
            self._socket = handle.dup()

    def end(self, *, cut: bool = False) -> bool:
        """Whether this, from any thread, is what ended it. What blocks in a read of a connection
        that is cut wakes with an error or an end."""
        with self._lock:
            first, self._over = not self._over, True
            if cut and self._socket is not None:
                with suppress(OSError):  # already closed from the other side
                    self._socket.shutdown(socket.SHUT_RDWR)
            self._let_go()
        if first:
            self.gate.leave(self.ticket)
        return first

    def _let_go(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def bare(failure: Exception) -> Exception:
    """A failure without the frames it came through: they hold bodies, and lead back to who keeps
    the failure, so that none of it would go before the next collection."""
    failure.__cause__ = failure.__context__ = None
    return failure.with_traceback(None)


# what this thread is busy with
CURRENT: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
