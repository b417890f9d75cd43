"""Pacing: one gate per lane. First come first served, start-to-start spacing, so many in flight; blocks; shared by processes.

A gate keeps its lane's pace inside this process with a lock of its own. A ledger, one small file per lane, keeps the same pace
between processes: the next free slot is reserved under the file's lock and waited for outside it. Whatever happens to the
ledger (a crash, garbage, a read-only folder, a lock that nobody lets go), the gate's own spacing stands.
"""
from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from .calls import Clock
from .errors import ArchiveUnreachable, RateLimited, SourceError

LOCK_PATIENCE_S = 0.25  # a holder needs well under a millisecond; longer means that it is stopped or the disk hangs
LEDGER_REST_S = 30.0  # how long a ledger that failed is left alone
SETTING_OUT_S = 2.0  # a request that has its turn sends within milliseconds; after this long its process is taken for dead
LOOK_AGAIN_S = 0.005  # how often to look whether the request before has been sent
AHEAD_LIMIT_S = 60.0  # least distance at which a reserved slot is taken for garbage …
AHEAD_LIMIT_SLOTS = 100  # … or this many spacings, if that is more: each process reserves one slot at a time
BLOCK_LIMIT_S = 24 * 3600.0  # no block is believed for longer
LEDGER_LIMIT_BYTES = 4096
_log = logging.getLogger("books")


class Abandoned(Exception):
    """Nobody waits any more for what stood in the queue."""


# ---- between processes ---------------------------------------------------------------------------------------------

@dataclass(slots=True, kw_only=True)
class LaneState:
    """What a ledger holds. Slots are on the monotonic clock, which the systems served here count from their start for all
    processes; blocks are on the wall clock, since they outlive the machine's sleep and restarts.

    `next_free` is the next slot nobody has reserved, `last_start` when a request last set out, `setting_out` whether it has its
    turn but has not yet been sent, `written` when this was written: a later moment than now means another start of the machine.
    `blocked_at` and `blocked_s` are a block's beginning and
    length, `blocked_by` limit|wall, `wall_step` how often the challenge was met in a row.
    """

    next_free: float = 0.0
    last_start: float = 0.0
    setting_out: bool = False
    written: float = 0.0
    blocked_at: float = 0.0
    blocked_s: float = 0.0
    blocked_by: str = ""
    wall_step: int = 0

    @classmethod
    def read(cls, text: bytes) -> LaneState:
        """The state in a file's text; anything that is not one is a fresh state."""
        try:
            stored = json.loads(text)
            numbers = {name: float(stored[name]) for name in ("next_free", "last_start", "written", "blocked_at", "blocked_s")}
            state = cls(**numbers, setting_out=bool(stored["setting_out"]), blocked_by=str(stored["blocked_by"]),
                        wall_step=int(stored["wall_step"]))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return cls()
        return state if all(abs(number) < 1e12 for number in (*numbers.values(), state.wall_step)) else cls()

    def write(self) -> bytes:
        return (json.dumps(asdict(self), indent=1) + "\n").encode()

    def blocked_for(self, wall_now: float) -> float:
        """Seconds the block still lasts; 0.0 when none does. After the clock was set back it counts anew from now."""
        if self.blocked_at > wall_now + 1.0:
            self.blocked_at = wall_now
        return max(0.0, self.blocked_at + min(self.blocked_s, BLOCK_LIMIT_S) - wall_now)


class Ledger:
    """One lane's state in one file. Every method gives None, or does nothing, when the file cannot be used."""

    def __init__(self, path: Path, spacing_s: float, clock: Clock) -> None:
        self._path = path
        self._spacing_s = spacing_s
        self._clock = clock
        self._rest_until = float("-inf")

    def reserve(self, earliest: float, latest: float) -> tuple[float, LaneState] | None:
        """The next free slot from `earliest` on, reserved unless it lies after `latest` or the lane is blocked; and the state."""
        with self._held() as state:
            if state is None:
                return None
            now = self._clock.monotonic()
            slot = max(earliest, now, state.next_free)
            if slot <= latest and not state.blocked_for(self._clock.time()):
                state.next_free = slot + self._spacing_s
            return slot, state

    def confirm(self) -> float:
        """When a slot whose time has come may be used: now, or somewhat later because the request before it sets out late."""
        with self._held() as state:
            now = self._clock.monotonic()
            if state is None:
                return now
            if state.setting_out and now < state.last_start + SETTING_OUT_S:
                return now + LOOK_AGAIN_S
            free = state.last_start + self._spacing_s
            if now < free:
                return free
            state.last_start, state.setting_out = now, True
            state.next_free = max(state.next_free, now + self._spacing_s)
            return now

    def started(self, now: float) -> None:
        with self._held() as state:
            if state is not None:
                state.last_start, state.setting_out = max(state.last_start, now), False
                state.next_free = max(state.next_free, now + self._spacing_s)

    def postpone(self, until: float) -> None:
        with self._held() as state:
            if state is not None:
                state.next_free = max(state.next_free, until)

    def give_back(self, slot: float) -> None:
        """Return a slot that nobody will use, if no other process has reserved one behind it."""
        with self._held() as state:
            if state is not None and state.next_free == slot + self._spacing_s:
                state.next_free = slot

    def block(self, seconds: float, by: str, wall_step: int) -> None:
        with self._held() as state:
            if state is not None:
                now = self._clock.time()
                if seconds > state.blocked_for(now):
                    state.blocked_at, state.blocked_s, state.blocked_by = now, seconds, by
                state.wall_step = wall_step

    def peek(self) -> LaneState | None:
        with self._held() as state:
            return state

    @contextmanager
    def _held(self) -> Iterator[LaneState | None]:
        """The state, under the file's lock, written back at the end if it changed; None when the file cannot be used."""
        opened = self._open()
        if opened is None:
            yield None
            return
        handle, state = opened
        try:
            before = state.write()
            yield state
            if state.write() != before:
                self._save(handle, state)
        finally:
            _close_locked(handle)

    def _open(self) -> tuple[int, LaneState] | None:
        """The file, locked, and the state in it."""
        if self._clock.monotonic() < self._rest_until:
            return None
        try:
            handle = _open_locked(self._path)
        except OSError as exc:
            self._rest(exc)
            return None
        try:
            return handle, self._sane(LaneState.read(os.read(handle, LEDGER_LIMIT_BYTES)))
        except OSError as exc:
            _close_locked(handle)
            self._rest(exc)
            return None

    def _save(self, handle: int, state: LaneState) -> None:
        """Overwrite the file in place: a crash half-way leaves garbage, which reads as a fresh state."""
        state.written = self._clock.monotonic()
        text = state.write()
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, text)
            os.ftruncate(handle, len(text))
        except OSError as exc:
            self._rest(exc)

    def _sane(self, state: LaneState) -> LaneState:
        """The state without slots of another start of the machine or absurdly far ahead: they would stop the archive."""
        now = self._clock.monotonic()
        ahead = max(AHEAD_LIMIT_S, AHEAD_LIMIT_SLOTS * self._spacing_s)
        if state.written > now + 1.0 or state.next_free > now + ahead or state.last_start > now + 1.0:
            state.next_free = state.last_start = 0.0
        return state

    def _rest(self, exc: OSError) -> None:
        self._rest_until = self._clock.monotonic() + LEDGER_REST_S
        _log.info("pacing is not shared with other processes for %d s: %s", LEDGER_REST_S, exc.strerror or type(exc).__name__)


def _open_locked(path: Path) -> int:
    """A descriptor of the file, made when missing, with the exclusive lock held. Raises OSError, TimeoutError among them."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
    until = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            _lock(handle)
            return handle
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= until:
                os.close(handle)
                raise TimeoutError("the lock is not let go") from None
            time.sleep(0.002)
        except OSError:
            os.close(handle)
            raise


if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 30  # far behind the text: a lock here also forbids reading

    def _lock(handle: int) -> None:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)

    def _close_locked(handle: int) -> None:
        try:
            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        finally:
            os.close(handle)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _close_locked(handle: int) -> None:
        os.close(handle)  # closing lets the lock go


# ---- inside this process -------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, eq=False)
class _Ticket:
    """A place in the queue; `owner` tells one caller's requests from another's."""

    owner: object


class Gate:
    """The one way to an archive's lane. `name` is the archive's, in words, for messages; `clock` is the pacing clock.

    `spacing_s` seconds lie between the starts of two requests, and at most `in_flight_max` are under way. Every request, retry
    and redirect hop enters, and leaves when it is over.
    """

    def __init__(self, *, archive: str, name: str, spacing_s: float, in_flight_max: int, clock: Clock,
                 ledger: Ledger | None = None) -> None:
        self.archive = archive
        self.name = name
        self.spacing_s = spacing_s
        self.in_flight = 0
        self._in_flight_max = in_flight_max
        self._clock = clock
        self._ledger = ledger
        self._changed = threading.Condition()
        self._queue: list[_Ticket] = []
        self._slot: float | None = None  # reserved for whoever is first in the queue, so a place given up leaves no hole
        self._settled = False  # whether that slot may be used now, as far as other processes go
        self._setting_out = False  # whether a request has its turn but has not yet been sent
        self._next_free = float("-inf")
        self._blocked_until = float("-inf")
        self._blocked_by = ""
        self._wall_step = 0

    def enter(self, remaining_s: Callable[[], float], gone: Callable[[], bool], owner: object) -> None:
        """Wait for this request's turn and take its place.

        Raises RateLimited at once when the turn cannot come within `remaining_s()` or the archive has asked for silence,
        ArchiveUnreachable while its challenge wall stands, Abandoned as soon as `gone()`.
        """
        ticket = _Ticket(owner)
        with self._changed:
            self._queue.append(ticket)
        try:
            while not self._turn(ticket, remaining_s, gone):
                self._settle_slot(remaining_s())
        finally:
            self._depart(ticket)

    def _turn(self, ticket: _Ticket, remaining_s: Callable[[], float], gone: Callable[[], bool]) -> bool:
        """Wait until `ticket` may start, True, or is first and its slot must be settled with the other processes, False."""
        with self._changed:
            while True:
                now = self._clock.monotonic()
                latest = now + remaining_s()
                if gone():
                    raise Abandoned
                self._refuse_while_blocked(now)
                start = self._earliest(self._queue.index(ticket), now)
                if start > latest:
                    raise self._queue_too_long(start - now)
                if self._queue[0] is not ticket or self._setting_out or self.in_flight >= self._in_flight_max:
                    if now >= latest:
                        raise self._queue_too_long(self.spacing_s)
                    self._clock.wait(self._changed, latest)
                elif self._slot is not None and now < max(self._slot, self._next_free):
                    self._clock.pause(self._changed, max(self._slot, self._next_free))
                elif not self._settled:
                    return False
                else:
                    self.in_flight += 1
                    self._setting_out = True
                    self._slot, self._settled = None, False
                    return True

    def _settle_slot(self, remaining_s: float) -> None:
        """Reserve the next slot, or confirm the one whose time has come; the first in the queue comes here, without the lock."""
        now = self._clock.monotonic()
        if self._slot is not None:
            moved = self._ledger.confirm() if self._ledger is not None else now
            with self._changed:
                self._slot, self._settled = moved, moved <= self._clock.monotonic()
            return
        slot = max(now, self._next_free)
        reserved = self._ledger.reserve(slot, now + remaining_s) if self._ledger is not None else None
        with self._changed:
            if reserved is not None:
                slot, state = reserved
                self._wall_step = max(self._wall_step, state.wall_step)
                blocked_s = state.blocked_for(self._clock.time())
                if blocked_s:
                    self._blocked_until, self._blocked_by = max(self._blocked_until, now + blocked_s), state.blocked_by
                    return
                if slot > now + remaining_s:
                    raise self._queue_too_long(slot - now)
            self._slot, self._settled = slot, reserved is None

    def _depart(self, ticket: _Ticket) -> None:
        with self._changed:
            self._queue.remove(ticket)
            unused = None if self._queue else self._slot
            if not self._queue:
                self._slot, self._settled = None, False
            self._changed.notify_all()
        if unused is not None and self._ledger is not None:
            self._ledger.give_back(unused)

    def _earliest(self, place: int, now: float) -> float:
        slot = self._next_free if self._slot is None else self._slot
        return max(now, self._next_free, slot) + place * self.spacing_s

    def _refuse_while_blocked(self, now: float) -> None:
        left = self._blocked_until - now
        if left > 0:
            raise blocked_error(self.archive, self.name, self._blocked_by, left)

    def _queue_too_long(self, seconds: float) -> RateLimited:
        return RateLimited(f"{self.name} was not asked: this server's own queue for it is too long to start in time; "
                           f"a place is free in about {max(1, round(seconds))} s.", archive=self.archive,
                           hint="Ask again after that time; requests are spaced as the archive wants.",
                           retry_after_s=round(seconds, 1))

    def leave(self) -> None:
        """The request is over, however it ended."""
        if self._setting_out:  # it never came to be sent
            self.started()
        with self._changed:
            self.in_flight -= 1
            self._changed.notify_all()

    def started(self) -> None:
        """A request's first bytes leave now: the spacing counts from here, so that a slow start never shortens it."""
        now = self._clock.monotonic()
        with self._changed:
            self._next_free = max(self._next_free, now + self.spacing_s)
            self._setting_out = False
            self._changed.notify_all()
        if self._ledger is not None:
            self._ledger.started(now)

    def postpone(self, seconds: float) -> None:
        """Let the whole lane rest for some seconds before its next request."""
        until = self._clock.monotonic() + seconds
        with self._changed:
            self._next_free = max(self._next_free, until)
            self._changed.notify_all()
        if self._ledger is not None:
            self._ledger.postpone(until)

    def block(self, seconds: float) -> float:
        """The archive asked for silence: nothing goes out for `seconds`. Returns what is left, after any longer block."""
        return self._block(seconds, "limit", self._wall_step)

    def block_wall(self, first_s: float, longest_s: float) -> float:
        """A challenge page came: nothing goes out for `first_s`, doubled each time in a row up to `longest_s`."""
        if self._wall_left() <= 0:  # two requests that meet one wall count once
            self._wall_step += 1
        return self._block(min(first_s * 2.0 ** (min(self._wall_step, 30) - 1), longest_s), "wall", self._wall_step)

    def _wall_left(self) -> float:
        return self._blocked_until - self._clock.monotonic() if self._blocked_by == "wall" else 0.0

    def _block(self, seconds: float, by: str, wall_step: int) -> float:
        seconds = min(max(0.0, seconds), BLOCK_LIMIT_S)
        now = self._clock.monotonic()
        with self._changed:
            if now + seconds > self._blocked_until:
                self._blocked_until, self._blocked_by = now + seconds, by
            self._changed.notify_all()
        if self._ledger is not None:
            self._ledger.block(seconds, by, wall_step)
        return self._blocked_until - now

    def good(self) -> None:
        """A readable answer came: the next challenge wall starts again from its first pause."""
        if self._wall_step and self._blocked_until <= self._clock.monotonic():
            self._wall_step = 0
            if self._ledger is not None:
                self._ledger.block(0.0, "wall", 0)

    def nudge(self) -> None:
        """Make whoever waits look again."""
        with self._changed:
            self._changed.notify_all()

    def blocked_for(self) -> float:
        """Seconds for which nothing will be sent, 0.0 when the lane is open; asks the other processes' file too."""
        shared = self._ledger.peek() if self._ledger is not None else None
        own = self._blocked_until - self._clock.monotonic()
        return max(0.0, own, shared.blocked_for(self._clock.time()) if shared else 0.0)

    def delay_s(self) -> float:
        """About how long a request that comes now will wait for its turn."""
        with self._changed:
            now = self._clock.monotonic()
            return self._earliest(len(self._queue), now) - now

    def waits_for_others(self, owner: object) -> bool:
        """Whether a request of somebody else than `owner` stands in the queue."""
        with self._changed:
            return any(ticket.owner is not owner for ticket in self._queue)


def blocked_error(archive: str, name: str, by: str, left_s: float) -> SourceError:
    """The error of a request that is not sent because the lane is blocked for `left_s` more seconds."""
    seconds = max(1, round(left_s))
    if by == "wall":
        return ArchiveUnreachable(f"{name}: blocked by the site's protection; nothing is sent for another {seconds} s.",
                                  archive=archive, hint="A challenge page came instead of an answer. Nothing was learnt about what is held.",
                                  retry_after_s=float(seconds))
    return RateLimited(f"{name} asked this client to stay away; nothing is sent for another {seconds} s.", archive=archive,
                       retry_after_s=float(seconds))
