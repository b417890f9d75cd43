"""Pacing: one gate per lane. First come first served, start-to-start spacing, so many in flight;
blocks.

A gate keeps its lane's pace inside this process with a lock of its own, and shares it with other
processes by the lane's ledger.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..contract import Archive, Lane
from ..errors import ArchiveUnreachable, RateLimited, SourceError
from .call import Clock
from .ledger import BLOCK_LIMIT_S, LaneState, Ledger

CAME_MUTELY = "A refusal, a challenge page or nothing at all"
Observer = Callable[[str, float], None]


class Abandoned(Exception):
    """Nobody waits any more for what stood in the queue or was under way."""


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request's place, in the queue and then in flight.

    `remaining_s()` is the time it has, `gone()` whether nobody waits for it any more, `owner` tells
    one caller's requests from another's.
    """

    owner: object
    remaining_s: Callable[[], float]
    gone: Callable[[], bool]


class Gate:
    """The one way to a lane of an archive; `clock` is the pacing clock, `path` the file shared with
    other processes.

    The lane's `spacing_s` seconds lie between the starts of two requests, and at most its
    `in_flight_max` are under way. Every request, retry and redirect hop enters, says when it is
    sent, and leaves when it is over. `observe` is told, on the pacing clock, when a request is
    "queued" and when it is "granted" its turn, and the slot that was "reserved" for the first in
    the queue.
    """

    def __init__(self, archive: type[Archive], lane: Lane, *, clock: Clock,
                 path: Path | None = None,
                 observe: Observer = lambda event, moment: None) -> None:
        self.archive = archive
        self.lane = lane
        self.spacing_s = lane.spacing_s
        self.in_flight = 0
        self.last_failure: dict[str, Any] | None = None  # as whoever uses the gate tells it
        self.observe = observe
        self._clock = clock
        self._ledger = Ledger(path, lane.spacing_s, clock)
        self._changed = threading.Condition()  # guards all below; never held while the file is
        self._own = LaneState()
        self._queue: list[Ticket] = []
        # reserved for whoever is first in the queue, so a place given up leaves no hole
        self._slot: float | None = None
        self._settled = False  # whether that slot may be used now, as far as other processes go
        self._setting_out: Ticket | None = None  # who has the turn but has not yet been sent

    # ---- a request's way through ----

    def enter(self, ticket: Ticket) -> None:
        """Wait for this request's turn and take its place.

        Raises RateLimited at once when the turn cannot come within `remaining_s()` or the archive
        has asked for silence, ArchiveUnreachable while its challenge wall stands, Abandoned as soon
        as `gone()`.
        """
        with self._changed:
            self._queue.append(ticket)
            self.observe("queued", self._clock.monotonic())
        try:
            while not self._turn(ticket):
                self._settle_slot(ticket)
        finally:
            self._depart(ticket)

    def _turn(self, ticket: Ticket) -> bool:
        """Wait until `ticket` may start, True, or is first and its slot must be settled with the
        other processes, False."""
        with self._changed:
            while True:
                now = self._clock.monotonic()
                latest = now + ticket.remaining_s()
                start = self._expected(ticket, now, latest)
                if self._must_wait(ticket):
                    self._clock.wait(self._changed, latest)
                    continue
                if self._slot is None or now >= start:
                    return self._settled and self._grant(ticket, now)
                self._clock.pause(self._changed, start)

    def _expected(self, ticket: Ticket, now: float, latest: float) -> float:
        """When `ticket` may start as things stand. Raises what `enter` does when it never will."""
        if ticket.gone():
            raise Abandoned
        if self._own.blocked_for(now):
            raise self._blocked(now)
        start = self._earliest(self._queue.index(ticket), now)
        if start > latest:
            raise self._queue_too_long(start - now)
        if now >= latest and self._must_wait(ticket):
            raise self._queue_too_long(self.spacing_s)
        return start

    def _must_wait(self, ticket: Ticket) -> bool:
        return (self._queue[0] is not ticket or self._setting_out is not None
                or self.in_flight >= self.lane.in_flight_max)

    def _grant(self, ticket: Ticket, now: float) -> bool:
        self.in_flight += 1
        self._setting_out = ticket
        self._slot, self._settled = None, False
        self.observe("granted", now)
        return True

    def _settle_slot(self, ticket: Ticket) -> None:
        """Reserve the next slot, or confirm the one whose time has come; the first in the queue
        comes here, without the lock."""
        if self._slot is None:
            self._reserve_slot(ticket)
            return
        with self._ledger.held() as shared:
            moved = shared.confirm(self._clock.monotonic(), self.spacing_s)
        with self._changed:
            self._slot, self._settled = moved, moved <= self._clock.monotonic()

    def _reserve_slot(self, ticket: Ticket) -> None:
        with self._ledger.held() as shared:
            now = self._clock.monotonic()
            latest = now + ticket.remaining_s()
            slot = max(now, self._own.next_free, shared.next_free)
            blocked_s = shared.blocked_for(self._clock.time())
            if slot <= latest and not blocked_s:
                shared.next_free = slot + self.spacing_s
        with self._changed:
            self._own.block(now, blocked_s, shared.blocked_by,
                            max(self._own.wall_step, shared.wall_step))
            if blocked_s:
                return
            if slot > latest:
                raise self._queue_too_long(slot - now)
            self._slot = slot
        self.observe("reserved", slot)

    def _depart(self, ticket: Ticket) -> None:
        unused = None
        with self._changed:
            self._queue.remove(ticket)
            if not self._queue:
                unused, self._slot, self._settled = self._slot, None, False
            self._changed.notify_all()
        if unused is not None:
            with self._ledger.held() as shared:
                # no other process has reserved a slot behind it
                if shared.next_free == unused + self.spacing_s:
                    shared.next_free = unused

    def started(self, ticket: Ticket) -> None:
        """A request's first bytes leave now: the spacing counts from here, so that a slow start
        never shortens it."""
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

    def nudge(self) -> None:
        """Make whoever waits look again."""
        with self._changed:
            self._changed.notify_all()

    # ---- rests and silences ----

    def postpone(self, seconds: float) -> None:
        """Let the whole lane rest for some seconds before its next request."""
        until = self._clock.monotonic() + seconds
        with self._changed:
            self._own.next_free = max(self._own.next_free, until)
            self._changed.notify_all()
        with self._ledger.held() as shared:
            shared.next_free = max(shared.next_free, until)

    def block(self, seconds: float) -> float:
        """The archive asked for silence: nothing goes out for `seconds`. Returns what is left,
        after any longer block."""
        return self._block(seconds, "limit", self._own.wall_step)

    def block_wall(self) -> float:
        """A challenge page came: nothing goes out for the lane's `wall_block_s`, doubled each
        time in a row up to its longest."""
        own, step = self._own, self._own.wall_step
        # two requests that meet one wall count once
        if own.blocked_by != "wall" or not own.blocked_for(self._clock.monotonic()):
            step += 1
        seconds = self.lane.wall_block_s * 2.0 ** (min(step, 30) - 1)
        return self._block(min(seconds, self.lane.wall_block_max_s), "wall", step)

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

    # ---- what it knows ----

    def blocked_for(self) -> float:
        """Seconds for which nothing will be sent, 0.0 when the lane is open; asks the other
        processes' file too."""
        with self._ledger.held() as shared:
            return max(self._own.blocked_for(self._clock.monotonic()),
                       shared.blocked_for(self._clock.time()))

    def delay_s(self) -> float:
        """About how long a request that comes now will wait for its turn."""
        with self._changed:
            now = self._clock.monotonic()
            return self._earliest(len(self._queue), now) - now

    def waits_for_others(self, owner: object) -> bool:
        """Whether a request of somebody else than `owner` stands in the queue."""
        with self._changed:
            return any(ticket.owner is not owner for ticket in self._queue)

    def _earliest(self, place: int, now: float) -> float:
        slot = self._own.next_free if self._slot is None else self._slot
        return max(now, self._own.next_free, slot) + place * self.spacing_s

    # ---- refusals ----

    def _queue_too_long(self, seconds: float) -> RateLimited:
        return RateLimited(
            f"{self.archive.name} was not asked: this server's own queue for it is too long to "
            f"start in time; a place is free in about {max(1, round(seconds))} s.",
            archive=self.archive.key, retry_after_s=round(seconds, 1),
            hint="Ask again after that time; requests are spaced as the archive wants.")

    def _blocked(self, now: float) -> SourceError:
        name, key = self.archive.name, self.archive.key
        seconds = max(1, round(self._own.blocked_for(now)))
        if self._own.blocked_by == "wall":
            came = CAME_MUTELY if self.lane.bans_mutely else "A challenge page"
            return ArchiveUnreachable(
                f"{name}: blocked by the site's protection; nothing is sent for another "
                f"{seconds} s.",
                archive=key, retry_after_s=float(seconds),
                hint=f"{came} came instead of an answer. Nothing was learnt about what is held.")
        return RateLimited(f"{name} asked this client to stay away; nothing is sent for another "
                           f"{seconds} s.", archive=key, retry_after_s=float(seconds),
                           reason="lane_silent")
