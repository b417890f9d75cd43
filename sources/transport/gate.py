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

from ..contract import Archive, Lane
from ..errors import ArchiveUnreachable, RateLimited, SourceError
from .call import Clock

LOCK_PATIENCE_S = 0.25  # a holder needs well under a millisecond; longer means that it is stopped or the disk hangs
LEDGER_REST_S = 30.0  # how long a ledger that failed is left alone
SETTING_OUT_S = 2.0  # a request that has its turn sends within milliseconds; after this long its process is taken for dead
LOOK_AGAIN_S = 0.005  # how often to look whether the request before has been sent
AHEAD_LIMIT_S = 60.0  # least distance at which a reserved slot is taken for garbage …
AHEAD_LIMIT_SLOTS = 100  # … or this many spacings, if that is more: each process reserves one slot at a time
BLOCK_LIMIT_S = 24 * 3600.0  # no block is believed for longer
LEDGER_LIMIT_BYTES = 4096
NEVER = -1e9  # a moment before any that a monotonic clock shows
_log = logging.getLogger("books")


class Abandoned(Exception):
    """Nobody waits any more for what stood in the queue."""


# ---- between processes ---------------------------------------------------------------------------------------------

@dataclass(slots=True, kw_only=True)
class LaneState:
    """A lane's pace and block: each process has its own in memory, and all share the one in the ledger.

    Slots are on the monotonic clock, which the systems served here count from their start for all processes. Blocks go by the
    clock that `now` is read from: in a file the wall clock, since they outlive the machine's sleep and restarts; in memory the
    monotonic one, which nobody sets.

    `next_free` is the next slot nobody has reserved, `last_start` when a request last set out, `setting_out` whether it has its
    turn but has not yet been sent, `written` when this was written: a later moment than now means another start of the machine.
    `blocked_at` and `blocked_s` are a block's beginning and length, `blocked_by` limit|wall, `wall_step` how often the challenge
    was met in a row.
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
        return cls(**read) if all(isinstance(value, str) or abs(value) < 1e12 for value in read.values()) else fresh

    def write(self) -> bytes:
        return (json.dumps(asdict(self), indent=1) + "\n").encode()

    def forget_strange_slots(self, now: float, spacing_s: float) -> None:
        """Drop slots of another start of the machine or absurdly far ahead: they would stop the archive."""
        ahead = max(AHEAD_LIMIT_S, AHEAD_LIMIT_SLOTS * spacing_s)
        if self.written > now + 1.0 or self.next_free > now + ahead or self.last_start > now + 1.0:
            self.next_free = self.last_start = NEVER

    def confirm(self, now: float, spacing_s: float) -> float:
        """When a slot whose time has come may be used: now, or somewhat later because the request before it sets out late."""
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
        """Seconds the block still lasts; 0.0 when none does. After the clock was set back it counts anew from now."""
        if self.blocked_at > now + 1.0:
            self.blocked_at = now
        return max(0.0, self.blocked_at + min(self.blocked_s, BLOCK_LIMIT_S) - now)


class Ledger:
    """One lane's state in one file. Without `path`, or while the file cannot be used, it reads as fresh and nothing is kept."""

    def __init__(self, path: Path | None, spacing_s: float, clock: Clock) -> None:
        self._path = path
        self._spacing_s = spacing_s
        self._clock = clock
        self._rest_until = NEVER

    @contextmanager
    def held(self) -> Iterator[LaneState]:
        """The state, under the file's lock, written back at the end if it changed."""
        state: LaneState | None = None
        if self._path is not None and self._clock.monotonic() >= self._rest_until:
            try:
                with _locked(self._path) as handle:
                    state = LaneState.read(os.read(handle, LEDGER_LIMIT_BYTES))
                    state.forget_strange_slots(self._clock.monotonic(), self._spacing_s)
                    before = state.write()
                    yield state
                    if state.write() != before:
                        state.written = self._clock.monotonic()
                        _overwrite(handle, state.write())
            except OSError as exc:
                self._rest_until = self._clock.monotonic() + LEDGER_REST_S
                _log.info("pacing is not shared with other processes for %d s: %s", LEDGER_REST_S, exc.strerror or exc)
        if state is None:
            yield LaneState()


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """A descriptor of the file, made when missing, under its exclusive lock. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
    until = time.monotonic() + LOCK_PATIENCE_S
    try:
        while True:
            try:
                _flock(handle, _TAKE)
                break
            except (BlockingIOError, PermissionError):
                if time.monotonic() >= until:
                    raise TimeoutError("the lock is not let go") from None
            time.sleep(0.002)
        yield handle
        _flock(handle, _LET_GO)
    finally:
        os.close(handle)


def _overwrite(handle: int, text: bytes) -> None:
    """Write in place: a crash half-way leaves garbage, which reads as a fresh state."""
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, text)
    os.ftruncate(handle, len(text))


if sys.platform == "win32":
    import msvcrt

    def _flock(handle: int, mode: int) -> None:
        os.lseek(handle, 1 << 30, os.SEEK_SET)  # a byte far behind the text: a lock here also forbids reading
        msvcrt.locking(handle, mode, 1)
        os.lseek(handle, 0, os.SEEK_SET)

    _TAKE, _LET_GO = msvcrt.LK_NBLCK, msvcrt.LK_UNLCK
else:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN
    from fcntl import flock as _flock

    _TAKE, _LET_GO = LOCK_EX | LOCK_NB, LOCK_UN


# ---- inside this process -------------------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request's place, in the queue and then in flight: `remaining_s()` is the time it has, `gone()` whether nobody waits for
    it any more, `owner` tells one caller's requests from another's."""

    owner: object
    remaining_s: Callable[[], float]
    gone: Callable[[], bool]


class Gate:
    """The one way to a lane of an archive; `clock` is the pacing clock, `path` the file shared with other processes.

    `spacing_s` seconds, the lane's or more, lie between the starts of two requests, and at most the lane's `in_flight_max` are
    under way. Every request, retry and redirect hop enters, says when it is sent, and leaves when it is over.
    """

    def __init__(self, archive: type[Archive], lane: Lane, *, clock: Clock, spacing_s: float = 0.0,
                 path: Path | None = None) -> None:
        self.archive = archive
        self.lane = lane
        self.spacing_s = max(lane.spacing_s, spacing_s)
        self.in_flight = 0
        self._clock = clock
        self._ledger = Ledger(path, self.spacing_s, clock)
        self._changed = threading.Condition()  # guards all below; never held while the file is
        self._own = LaneState()
        self._queue: list[Ticket] = []
        self._slot: float | None = None  # reserved for whoever is first in the queue, so a place given up leaves no hole
        self._settled = False  # whether that slot may be used now, as far as other processes go
        self._setting_out: Ticket | None = None  # who has the turn but has not yet been sent

    def enter(self, ticket: Ticket) -> None:
        """Wait for this request's turn and take its place.

        Raises RateLimited at once when the turn cannot come within `remaining_s()` or the archive has asked for silence,
        ArchiveUnreachable while its challenge wall stands, Abandoned as soon as `gone()`.
        """
        with self._changed:
            self._queue.append(ticket)
        try:
            while not self._turn(ticket):
                self._settle_slot(ticket)
        finally:
            self._depart(ticket)

    def _turn(self, ticket: Ticket) -> bool:
        """Wait until `ticket` may start, True, or is first and its slot must be settled with the other processes, False."""
        with self._changed:
            while True:
                now = self._clock.monotonic()
                latest = now + ticket.remaining_s()
                if ticket.gone():
                    raise Abandoned
                if self._own.blocked_for(now):
                    raise self._blocked(now)
                start = self._earliest(self._queue.index(ticket), now)
                if start > latest:
                    raise self._queue_too_long(start - now)
                if self._queue[0] is not ticket or self._setting_out is not None or self.in_flight >= self.lane.in_flight_max:
                    if now >= latest:
                        raise self._queue_too_long(self.spacing_s)
                    self._clock.wait(self._changed, latest)
                elif self._slot is not None and now < start:
                    self._clock.pause(self._changed, start)
                elif not self._settled:
                    return False
                else:
                    self.in_flight += 1
                    self._setting_out = ticket
                    self._slot, self._settled = None, False
                    return True

    def _settle_slot(self, ticket: Ticket) -> None:
        """Reserve the next slot, or confirm the one whose time has come; the first in the queue comes here, without the lock."""
        if self._slot is not None:
            with self._ledger.held() as shared:
                moved = shared.confirm(self._clock.monotonic(), self.spacing_s)
            with self._changed:
                self._slot, self._settled = moved, moved <= self._clock.monotonic()
            return
        with self._ledger.held() as shared:
            now = self._clock.monotonic()
            latest = now + ticket.remaining_s()
            slot = max(now, self._own.next_free, shared.next_free)
            blocked_s = shared.blocked_for(self._clock.time())
            if slot <= latest and not blocked_s:
                shared.next_free = slot + self.spacing_s
        with self._changed:
            self._own.block(now, blocked_s, shared.blocked_by, max(self._own.wall_step, shared.wall_step))
            if slot > latest and not blocked_s:
                raise self._queue_too_long(slot - now)
            self._slot = None if blocked_s else slot

    def _depart(self, ticket: Ticket) -> None:
        unused = None
        with self._changed:
            self._queue.remove(ticket)
            if not self._queue:
                unused, self._slot, self._settled = self._slot, None, False
            self._changed.notify_all()
        if unused is not None:
            with self._ledger.held() as shared:
                if shared.next_free == unused + self.spacing_s:  # no other process has reserved a slot behind it
                    shared.next_free = unused

    def _earliest(self, place: int, now: float) -> float:
        slot = self._own.next_free if self._slot is None else self._slot
        return max(now, self._own.next_free, slot) + place * self.spacing_s

    def _queue_too_long(self, seconds: float) -> RateLimited:
        return RateLimited(f"{self.archive.name} was not asked: this server's own queue for it is too long to start in time; "
                           f"a place is free in about {max(1, round(seconds))} s.", archive=self.archive.key,
                           hint="Ask again after that time; requests are spaced as the archive wants.",
                           retry_after_s=round(seconds, 1))

    def _blocked(self, now: float) -> SourceError:
        archive, seconds = self.archive, max(1, round(self._own.blocked_for(now)))
        if self._own.blocked_by == "wall":
            came = "A refusal, a challenge page or nothing at all" if self.lane.bans_mutely else "A challenge page"
            return ArchiveUnreachable(f"{archive.name}: blocked by the site's protection; nothing is sent for another "
                                      f"{seconds} s.", archive=archive.key, retry_after_s=float(seconds),
                                      hint=f"{came} came instead of an answer. Nothing was learnt about what is held.")
        return RateLimited(f"{archive.name} asked this client to stay away; nothing is sent for another {seconds} s.",
                           archive=archive.key, retry_after_s=float(seconds))

    def started(self, ticket: Ticket) -> None:
        """A request's first bytes leave now: the spacing counts from here, so that a slow start never shortens it."""
        now = self._clock.monotonic()
        with self._changed:
            if self._setting_out is ticket:
                self._setting_out = None
            self._own.started(now, self.spacing_s)
            self._changed.notify_all()
        with self._ledger.held() as shared:
            shared.started(now, self.spacing_s)

    def leave(self, ticket: Ticket) -> None:
        """The request is over, however it ended."""
        if self._setting_out is ticket:  # it never came to be sent
            self.started(ticket)
        with self._changed:
            self.in_flight -= 1
            self._changed.notify_all()

    def postpone(self, seconds: float) -> None:
        """Let the whole lane rest for some seconds before its next request."""
        until = self._clock.monotonic() + seconds
        with self._changed:
            self._own.next_free = max(self._own.next_free, until)
            self._changed.notify_all()
        with self._ledger.held() as shared:
            shared.next_free = max(shared.next_free, until)

    def block(self, seconds: float) -> float:
        """The archive asked for silence: nothing goes out for `seconds`. Returns what is left, after any longer block."""
        return self._block(seconds, "limit", self._own.wall_step)

    def block_wall(self) -> float:
        """A challenge page came: nothing goes out for the lane's `wall_block_s`, doubled each time in a row up to its longest."""
        own, step = self._own, self._own.wall_step
        if own.blocked_by != "wall" or not own.blocked_for(self._clock.monotonic()):  # two requests that meet one wall count once
            step += 1
        return self._block(min(self.lane.wall_block_s * 2.0 ** (min(step, 30) - 1), self.lane.wall_block_max_s), "wall", step)

    def good(self) -> None:
        """A readable answer came: the next challenge wall starts again from its first pause."""
        if self._own.wall_step and not self._own.blocked_for(self._clock.monotonic()):
            self._block(0.0, "wall", 0)

    def _block(self, seconds: float, by: str, wall_step: int) -> float:
        seconds = min(max(0.0, seconds), BLOCK_LIMIT_S)
        now = self._clock.monotonic()
        with self._changed:
            self._own.block(now, seconds, by, wall_step)
            self._changed.notify_all()
        with self._ledger.held() as shared:
            shared.block(self._clock.time(), seconds, by, wall_step)
        return self._own.blocked_for(now)

    def nudge(self) -> None:
        """Make whoever waits look again."""
        with self._changed:
            self._changed.notify_all()

    def blocked_for(self) -> float:
        """Seconds for which nothing will be sent, 0.0 when the lane is open; asks the other processes' file too."""
        with self._ledger.held() as shared:
            return max(self._own.blocked_for(self._clock.monotonic()), shared.blocked_for(self._clock.time()))

    def delay_s(self) -> float:
        """About how long a request that comes now will wait for its turn."""
        with self._changed:
            now = self._clock.monotonic()
            return self._earliest(len(self._queue), now) - now

    def waits_for_others(self, owner: object) -> bool:
        """Whether a request of somebody else than `owner` stands in the queue."""
        with self._changed:
            return any(ticket.owner is not owner for ticket in self._queue)
