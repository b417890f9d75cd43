"""The pace of a lane between processes: one small file each, read and written under its lock.

The next free slot is reserved under the lock and waited for outside it. Whatever happens to the
file (a crash, garbage, a read-only folder, a lock that nobody lets go), each process's own spacing
stands.
"""
from __future__ import annotations

import errno
import functools
import json
import logging
import operator
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from .call import Clock

# a holder needs well under a millisecond; longer means that it is stopped or the disk hangs
LOCK_PATIENCE_S = 0.25
LEDGER_REST_S = 30.0  # how long a ledger that failed is left alone
# a request that has its turn sends within milliseconds; after this long its process is taken for
# dead
SETTING_OUT_S = 2.0
LOOK_AGAIN_S = 0.005  # how often to look whether the request before has been sent
AHEAD_LIMIT_S = 60.0  # least distance at which a reserved slot is taken for garbage …
# … or this many spacings, if that is more: each process reserves one slot at a time
AHEAD_LIMIT_SLOTS = 100
BLOCK_LIMIT_S = 24 * 3600.0  # no block is believed for longer
LEDGER_LIMIT_BYTES = 4096
# How files are opened: no pipe or device is waited for; of those that are written, no link
# followed.
NO_WAIT = functools.reduce(operator.or_, (getattr(os, name, 0) for name in (
    "O_BINARY", "O_NONBLOCK", "O_NOCTTY")))
NO_DETOUR = NO_WAIT | getattr(os, "O_NOFOLLOW", 0)
NEVER = -1e9  # a moment before any that a monotonic clock shows
_log = logging.getLogger("books")


@dataclass(slots=True, kw_only=True)
class LaneState:
    """A lane's pace and block: each process has its own in memory, and all share the one in the
    ledger.

    Slots are on the monotonic clock, which the systems served here count from their start for all
    processes. Blocks go by the clock that `now` is read from: in a file the wall clock, since they
    outlive the machine's sleep and restarts; in memory the monotonic one, which nobody sets.

    `next_free` is the next slot nobody has reserved, `last_start` when a request last set out,
    `setting_out` whether it has its turn but has not yet been sent, `written` when this was
    written: a later moment than now means another start of the machine. `blocked_at` and
    `blocked_s` are a block's beginning and length, `blocked_by` limit|wall, `wall_step` how often
    the challenge was met in a row.
    """

    next_free: float = NEVER
    last_start: float = NEVER
    setting_out: bool = False
    written: float = NEVER
    blocked_at: float = 0.0
    blocked_s: float = 0.0
    blocked_by: str = ""
    wall_step: int = 0

    @classmethod
    def read(cls, text: bytes) -> LaneState:
        """The state in a file's text; anything that is not one is a fresh state."""
        fresh = cls()
        try:
            stored = json.loads(text)
            read = {name: type(usual)(stored[name]) for name, usual in asdict(fresh).items()}
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return fresh
        return cls(**read) if all(isinstance(value, str) or abs(value) < 1e12
                                  for value in read.values()) else fresh

    def write(self) -> bytes:
        return (json.dumps(asdict(self), indent=1) + "\n").encode()

    def forget_strange_slots(self, now: float, spacing_s: float) -> None:
        """Drop slots of another start of the machine or absurdly far ahead: they would stop the
        archive."""
        ahead = max(AHEAD_LIMIT_S, AHEAD_LIMIT_SLOTS * spacing_s)
        if self.written > now + 1.0 or self.next_free > now + ahead or self.last_start > now + 1.0:
            self.next_free = self.last_start = NEVER

    def confirm(self, now: float, spacing_s: float) -> float:
        """When a slot whose time has come may be used: now, or somewhat later because the
        request before it sets out late."""
        if self.setting_out and now < self.last_start + SETTING_OUT_S:
            return now + LOOK_AGAIN_S
        free = self.last_start + spacing_s
        if now < free:
            return free
        self.started(now, spacing_s)
        self.setting_out = True
        return now

    def started(self, now: float, spacing_s: float) -> None:
        self.last_start, self.setting_out = max(self.last_start, now), False
        self.next_free = max(self.next_free, now + spacing_s)

    def block(self, now: float, seconds: float, by: str, wall_step: int) -> None:
        """Stay silent from now on, unless a longer block stands."""
        if seconds > self.blocked_for(now):
            self.blocked_at, self.blocked_s, self.blocked_by = now, seconds, by
        self.wall_step = wall_step

    def blocked_for(self, now: float) -> float:
        """Seconds the block still lasts; 0.0 when none does. After the clock was set back it
        counts anew from now."""
        if self.blocked_at > now + 1.0:
            self.blocked_at = now
        return max(0.0, self.blocked_at + min(self.blocked_s, BLOCK_LIMIT_S) - now)


OPENING = LaneState().write()[:len(b'{\n "next_free": ')]  # how each file of ours begins


class Ledger:
    """One lane's state in one file. Without `path`, or while the file cannot be used, it reads
    as fresh and nothing is kept."""

    def __init__(self, path: Path | None, spacing_s: float, clock: Clock, *,
                 quiet: bool = False) -> None:
        self.trouble: str | None = None  # why the file could not be used, when last it could not
        self._quiet = quiet  # else the first trouble is told as an error
        self._path = path
        self._spacing_s = spacing_s
        self._clock = clock
        self._rest_until = NEVER

    @contextmanager
    def held(self) -> Iterator[LaneState]:
        """The state, under the file's lock, written back at the end if it changed."""
        handle, text = self._taken()
        state = LaneState.read(text)
        state.forget_strange_slots(self._clock.monotonic(), self._spacing_s)
        before = state.write()
        try:
            yield state
            if handle is not None and state.write() != before:
                state.written = self._clock.monotonic()
                _overwrite(handle, state.write())
        except OSError as exc:
            self._rest(exc)
        finally:
            if handle is not None:
                os.close(handle)

    def _taken(self) -> tuple[int | None, bytes]:
        """The file, made when missing, under its lock, and its text; no file while it cannot be
        used."""
        if self._path is None or self._clock.monotonic() < self._rest_until:
            return None, b""
        handle = None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | NO_DETOUR, 0o600)
            _lock(handle)
            return handle, _own_text(handle)
        except OSError as exc:
            self._rest(exc)
            if handle is not None:
                os.close(handle)
            return None, b""

    def _rest(self, exc: OSError) -> None:
        self._rest_until = self._clock.monotonic() + LEDGER_REST_S
        self.trouble = exc.strerror or str(exc)
        _log.log(logging.INFO if self._quiet else logging.ERROR,
                 "%s: pauses and blocks are not shared with other processes: %s.", self._path,
                 self.trouble)
        self._quiet = True


def unusable(folder: Path) -> str | None:
    """Why processes cannot share their pace through a folder; None where a file can be made there,
    written, and locked against another."""
    path = folder / f".check-{os.getpid()}.json"
    ours, another = (Ledger(path, 1.0, Clock(), quiet=True) for _ in range(2))
    with ours.held() as state:
        state.wall_step += 1
        with another.held():
            pass
    with suppress(OSError):
        path.unlink()
    return ours.trouble or (None if another.trouble else "locks do not hold there")


def _own_text(handle: int) -> bytes:
    """The text of a file that this program wrote, or that is still empty. Raises OSError for any
    other: it is not ours to write."""
    found, text = os.fstat(handle), os.read(handle, LEDGER_LIMIT_BYTES)
    ours = not text.strip(b"\0") or text.startswith(OPENING)  # a crash may have left nothing but 0
    if not ours or not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise OSError(errno.EPERM, "a file of that name is not this program's")
    return text


def _lock(handle: int) -> None:
    """Take the exclusive lock of a file, which its closing lets go. Raises OSError."""
    until = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            return _try_lock(handle)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= until:
                raise TimeoutError("the lock is not let go") from None
        time.sleep(0.002)


def _overwrite(handle: int, text: bytes) -> None:
    """Write in place: a crash half-way leaves garbage, which reads as a fresh state."""
    os.lseek(handle, 0, os.SEEK_SET)
    if os.write(handle, text) != len(text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.ftruncate(handle, len(text))


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> None:
        # a byte far behind the text: a lock here also forbids reading
        os.lseek(handle, 1 << 30, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
