"""Standard input, output and error of a server: lines of bytes in, a clean output, an error stream
that holds nobody up."""
from __future__ import annotations

import collections
import contextlib
import io
import os
import queue
import sys
import threading

TYPE_CHECKING = False  # typing itself would be a twentieth of the start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO, TextIO

# what may wait for a reader of stderr; beyond it pieces are dropped, never waited for
JOURNAL_PIECES = 256
PIECE_BYTES = 4096  # of one piece at most
JOURNAL_GRACE_S = 0.2  # what the last pieces are given at the end
OUTLET_BYTES = 8 << 20  # of messages that may wait for a host that does not read
LINE_COST_BYTES = 100  # of a line beside its own bytes
# what the last messages are given at the end: with a call's second, well inside two
OUTLET_GRACE_S = 0.6


def read_lines(host: BinaryIO, limit_bytes: int) -> Iterator[bytes | None]:
    """The lines of a stream, split at LF alone; None for one over the limit, which is not kept. The
    last may lack its LF."""
    too_long = False
    with contextlib.suppress(OSError):  # the other end is gone
        while piece := host.readline(limit_bytes + 1):
            if not piece.endswith(b"\n") and len(piece) > limit_bytes:
                too_long, piece = True, b""  # let go before the next is read
                continue
            yield None if too_long else piece
            too_long = False
    if too_long:
        yield None


def log_to(stream: TextIO, level: str) -> None:
    """What `sources` and the libraries under it log goes to a stream, from the level that was
    set."""
    import logging
    # "silent" is none of logging's own
    least = getattr(logging, level.upper(), logging.CRITICAL + 1)
    logging.basicConfig(stream=stream, level=least, format="mcp-books: %(message)s")


def claim_stdout() -> BinaryIO:
    """Keep standard output for the protocol: the stream to write to, while descriptor 1 and `print`
    lead to standard error.

    A descriptor that the host left closed is opened on nothing, so that no other file can come to
    stand in its place.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, this one
    protocol = os.dup(1)
    os.dup2(2, 1)
    if sys.platform != "win32":
        os.set_blocking(0, True)
        os.set_blocking(protocol, True)
    return open(protocol, "wb")


class Outlet:
    """Whole lines to the host, in order, by a thread of its own: whoever answers waits for a host
    that does not read only when OUTLET_BYTES wait for it, and then the server stops reading too.

    `gone` is called once the host has closed its end, or ended the input (`fd`) and takes nothing
    for OUTLET_GRACE_S, though more may stand in the input than there is room to answer.
    """

    def __init__(self, stream: BinaryIO, gone: Callable[[], None], fd: int = 0) -> None:
        self._stream, self._gone, self._fd = stream, gone, fd
        self._lines: collections.deque[bytes] = collections.deque()
        self._bytes = 0  # of the lines waiting, and of the one on its way
        self._changed = threading.Condition()
        threading.Thread(target=self._pass_on, name="outlet", daemon=True).start()

    def write(self, line: bytes) -> None:
        with self._changed:
            while self._bytes and self._bytes + len(line) > OUTLET_BYTES:
                taken = self._changed.wait(OUTLET_GRACE_S)
                if not taken and _has_ended(self._fd):
                    self._gone()
            self._lines.append(line)
            self._bytes += len(line) + LINE_COST_BYTES
            self._changed.notify_all()

    def _pass_on(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines)
                line = self._lines.popleft()
            try:
                self._stream.write(line)
                self._stream.flush()
            except OSError:
                self._gone()
            with self._changed:
                self._bytes -= len(line) + LINE_COST_BYTES
                self._changed.notify_all()

    def drain(self) -> None:
        """Give the last messages a moment to be taken."""
        with self._changed:
            self._changed.wait_for(lambda: not self._bytes, OUTLET_GRACE_S)


def _has_ended(fd: int) -> bool:
    """Whether the other end of a pipe or socket is closed, though bytes may still stand in it;
    never known where there is no poll (Windows)."""
    import select

    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(fd, getattr(select, "POLLRDHUP", 0))  # a hang-up is told in any case
    return bool(poll.poll(0))


class Journal(io.TextIOBase):
    """A standard error that never makes its writer wait: a thread of its own writes what a bounded
    queue holds."""

    def __init__(self, fd: int) -> None:
        self._stream = os.fdopen(fd, "wb", closefd=False)
        self._pieces: queue.Queue[bytes] = queue.Queue(JOURNAL_PIECES)
        threading.Thread(target=self._pass_on, name="journal", daemon=True).start()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with contextlib.suppress(queue.Full):
            self._pieces.put_nowait(text.encode("utf-8", "backslashreplace")[:PIECE_BYTES])
        return len(text)

    def _pass_on(self) -> None:
        while True:
            piece = self._pieces.get()
            with contextlib.suppress(OSError):  # nobody holds the other end
                self._stream.write(piece)
                self._stream.flush()
            self._pieces.task_done()

    def drain(self) -> None:
        """Give the last pieces a moment to be taken."""
        with self._pieces.all_tasks_done:
            self._pieces.all_tasks_done.wait_for(lambda: not self._pieces.unfinished_tasks,
                                                 JOURNAL_GRACE_S)
