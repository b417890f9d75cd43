"""The one way out: every request of every archive goes through here, in its turn, within its time,
to its own hosts only.

A question that a cache entry answers costs nothing. Otherwise it becomes a flight, which whoever
asks the same joins. A thread of its own enters the lane's gate, sends, follows redirects, asks
again where that can help, reads and checks the answer. Callers wait for the flight and may leave
it. They are also those who watch over it: whoever sees that the time of its request is up, or
leaves last, cuts the request short, whatever its thread still hangs on.
"""
from __future__ import annotations

import copy
import functools
import hashlib
import itertools
import logging
import math
import threading
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urljoin

from ..contract import Archive, Ask, Lane, Reply
from ..errors import (
    ArchiveUnreachable,
    Cancelled,
    InvalidInput,
    RateLimited,
    SourceError,
    TimedOut,
    UnreadableAnswer,
)
from ..settings import GATEWAY_UNREADABLE, Settings
from .asker import ArchiveAsker, lane_of
from .cache import Cache
from .call import Call, Clock
from .connection import Wire, address
from .exchange import Exchange, Received, Setback, bare
from .gate import Abandoned, Gate, Ticket
from .shelf import UNREADABLE, Recorder, Shelf
from .verdict import judge, judge_redirect, read

REDIRECTS_MAX = 5  # hops; RFC 9110 names no figure, and the archives need two
RUN_ON_MAX = 8  # requests that may run on at once with nobody waiting; each holds two threads
WORTH_TELLING_S = 0.5  # a shorter wait for a slot is no news
# a newspaper search of the Library of Congress takes 30 to 45 s (facts of 2026-11)
ASK_AGAIN_S = 40.0
SHELF_HINT = ("Ask what the shelf holds (`mcp-books demo` lists the sample shelf), or unset "
              "BOOKS_REPLAY_DIR.")
NOBODY_WAITED = "Nobody waited for this answer any more."
_log = logging.getLogger("books")


class CutShort(Exception):
    """Somebody else has ended the request, and says what became of it."""


@dataclass(eq=False, slots=True, kw_only=True)
class Flight:
    """One question under way, for all who wait for it.

    Its own thread writes every field but `callers` and `left_late`, and the end when it is cut
    short.
    """

    ask: Ask
    gate: Gate  # of the address asked last: a redirect may lead to another lane
    callers: list[Call]
    # callers whose time was up, for whom it may run on
    left_late: list[Call] = field(default_factory=list)
    first_sent_at: float | None = None
    requests_sent: int = 0
    exchange: Exchange | None = None  # on the wire now
    seen: SourceError | None = None  # what the last attempt met
    received: Received | None = None
    reply: Reply | None = None
    failure: Exception | None = None
    finished: bool = False

    @property
    def archive(self) -> type[Archive]:
        return self.gate.archive

    @property
    def key(self) -> Hashable:
        """Who asks the same, to be read in the same way, joins it."""
        return self.ask.question, self.ask.body

    def unwanted(self) -> bool:
        """Whether nobody waits for it, and it has no leave to run on."""
        if self.callers:
            return False
        runs_on = self.ask.run_on and self.first_sent_at is not None
        return not (runs_on and any(not call.cancelled for call in self.left_late))

    def remaining_s(self) -> float:
        """The time of the caller who has most."""
        return max((call.remaining_s() for call in list(self.callers)), default=0.0)


class Transport:
    """All of a process's requests. `archives` bring their lanes; `identity` is product/version, as
    archives see it.

    `clock` is what deadlines and lifetimes go by, `pacing_clock` (the same, if left out) what the
    gates go by.
    """

    def __init__(self, settings: Settings, archives: Iterable[type[Archive]], *,
                 clock: Clock | None = None, pacing_clock: Clock | None = None,
                 identity: str = "mcp-books") -> None:
        self.settings = settings
        self.clock = clock or Clock()
        self.cache = Cache(settings, self.clock)
        self._archives = {archive.key: archive for archive in archives}
        self._gates = _gates(settings, self._archives.values(), pacing_clock or self.clock)
        self._timeout_s = settings.timeout_ms / 1000
        self._wire = Wire(settings, identity)
        self._recorder = Recorder(settings.record_dir) if settings.record_dir else None
        self._shelf = Shelf(settings.replay_dir) if settings.replay_dir else None
        self.keeps = self._recorder is not None or self._shelf is not None
        # guards the flights; notified whenever one of them changes
        self._changed = threading.Condition()
        self._flights: dict[Hashable, Flight] = {}
        self._closed = False

    def for_call(self, call: Call, archive_key: str) -> ArchiveAsker:
        """The way out for one archive during one call."""
        return ArchiveAsker(self, self._archives[archive_key], call)

    def gate(self, lane: Lane) -> Gate:
        return self._gates[lane.key]

    def warm(self) -> None:
        """Load what the first request needs; safe to run in the background."""
        self._wire.open()
        import lxml.etree  # noqa: F401  # the import is the point

    def close(self) -> None:
        """Stop what is under way and close the connections."""
        with self._changed:
            self._closed = True
        self.nudge()
        self._wire.close()

    def nudge(self) -> None:
        """Make every wait look again whether its reason still stands."""
        with self._changed:
            self._changed.notify_all()
        for gate in self._gates.values():
            gate.nudge()

    def status(self) -> dict[str, Any]:
        """What an operator may want to know: per lane its pace, its block and its last failure;
        and how full the cache is."""
        return {"lanes": [self._lane_status(gate) for gate in self._gates.values()],
                "cached_entries": len(self.cache),
                "replaying": self._shelf is not None, "gateway": self.settings.gateway is not None}

    def _lane_status(self, gate: Gate) -> dict[str, Any]:
        blocked_s = gate.blocked_for()
        return {"lane": gate.lane.key, "archive": gate.archive.key, "spacing_s": gate.spacing_s,
                "spacing_because": gate.lane.spacing_because,
                "in_flight": gate.in_flight, "in_flight_max": gate.lane.in_flight_max,
                "blocked_until": _iso(self.clock.time() + blocked_s) if blocked_s else None,
                "last_failure": gate.last_failure}

    # ---- a question, from one caller ----

    def ask(self, asker: ArchiveAsker, ask: Ask) -> Reply:
        """The reply to one question. Raises SourceError or Cancelled; the asker is told how many
        requests went out either way."""
        gate = self.gate(lane_of(asker.archive, ask.url))
        asker.call.check()
        if self._shelf is not None:
            # the request it stands for, so that a replay reports what the recording did
            asker.requests_sent += 1
            return self._from_shelf(self._shelf, ask, gate)
        if self.settings.gateway_unreadable:
            raise ArchiveUnreachable(f"{gate.archive.name} was not asked: BOOKS_GATEWAY "
                                     + GATEWAY_UNREADABLE, archive=gate.archive.key)
        kept = self.cache.get(ask.question)
        if kept is not None:
            return self._read(ask, gate.archive, kept, cached=True)
        asker.call.when_cancelled(self.nudge)
        delay_s = gate.delay_s()
        if WORTH_TELLING_S <= delay_s <= asker.remaining_s():
            asker.call.tell(f"Waiting about {delay_s:.0f} s for {gate.archive.name}, "
                            "whose requests are spaced.")
        return self._asked(asker, Flight(ask=ask, gate=gate, callers=[asker.call]))

    def _asked(self, asker: ArchiveAsker, mine: Flight) -> Reply:
        """The reply of the flight of this question: of `mine`, or of one that is under way."""
        flight = self._join(mine)
        try:
            self._wait(flight, asker.call)
        finally:
            asker.requests_sent += self._leave(flight, asker.call)
        if flight.failure is not None:
            raise copy.copy(flight.failure)
        assert flight.reply is not None
        assert flight.received is not None
        return flight.reply if flight is mine else self._read(mine.ask, mine.archive,
                                                              flight.received)

    def _read(self, ask: Ask, archive: type[Archive], received: Received, *,
              cached: bool = False) -> Reply:
        return read(ask, archive, received, cached=cached, hashed=self.keeps)

    def _from_shelf(self, shelf: Shelf, ask: Ask, gate: Gate) -> Reply:
        name, key = gate.archive.name, gate.archive.key
        try:
            received = shelf.find(ask)
        except UNREADABLE as exc:
            raise UnreadableAnswer(f"The answer of {name} kept on the shelf cannot be read.",
                                   archive=key, reason="unreadable_kept_answer") from exc
        if received is None:
            _log.info("on the shelf, there is no answer to %s", ask.url)
            raise ArchiveUnreachable(f"{name} is answered from kept answers alone, and this one is "
                                     "not on the shelf.", archive=key, hint=SHELF_HINT,
                                     reason="not_on_the_shelf")
        try:
            judge(ask, gate, received, self.clock.time())
        except Setback as setback:
            raise setback.error from setback
        return self._read(ask, gate.archive, received)

    def _join(self, mine: Flight) -> Flight:
        """The flight of this question that is under way; when there is none, `mine` starts."""
        with self._changed:
            flight = self._flights.get(mine.key)
            if flight is not None and not flight.unwanted():
                flight.callers += mine.callers
                return flight
            self._thread(self._fly, mine)
            self._flights[mine.key] = mine
            return mine

    def _wait(self, flight: Flight, call: Call) -> None:
        """Wait for the end of a flight. Raises when this call's own time ends first, or its
        caller takes it back."""
        joined_at = self.clock.monotonic()
        while True:
            with self._changed:
                if flight.finished:
                    return
                if call.cancelled or self._closed:
                    raise Cancelled("The caller took the question back.")
                patience = self._patience(flight, call, joined_at)
                if self.clock.monotonic() >= patience:
                    raise self._late(flight, call)
                overdue = self._overdue(flight, patience)
            if overdue is not None:
                self._cut(flight, overdue)

    def _late(self, flight: Flight, call: Call) -> SourceError:
        """What a caller is told whose time is up, for whom the flight may run on if there is room
        for one more."""
        if sum(not other.callers for other in self._flights.values()) < RUN_ON_MAX:
            flight.left_late.append(call)
        return _too_late(flight)

    def _overdue(self, flight: Flight, until: float) -> Exchange | None:
        """A flight's request whose time is up. Else None, after waiting for something to happen,
        at the latest `until`."""
        exchange = flight.exchange
        if exchange is not None and self.clock.monotonic() >= exchange.until:
            return exchange
        self.clock.wait(self._changed, until if exchange is None else min(until, exchange.until))
        return None

    def _patience(self, flight: Flight, call: Call, joined_at: float) -> float:
        """Until when a caller waits: its own deadline; for a request that may run on, also the
        time of one request."""
        if not flight.ask.run_on or flight.first_sent_at is None:
            return call.deadline
        return min(call.deadline, max(joined_at, flight.first_sent_at) + self._timeout_s)

    def _leave(self, flight: Flight, call: Call) -> int:
        """Wait no longer for a flight; who leaves last sees to it. Returns how many requests it
        has sent."""
        with self._changed:
            flight.callers.remove(call)
            sent, left_alone = flight.requests_sent, not flight.callers and not flight.finished
        if left_alone and self._gone(flight):
            self._watch(flight)
        elif left_alone:
            self._thread(self._watch, flight)
        return sent

    def _watch(self, flight: Flight) -> None:
        """Watch over a flight that every caller has left, for as long as it may run on."""
        while True:
            with self._changed:
                if flight.finished:
                    return
                gone = self._gone(flight)
                overdue = flight.exchange if gone else self._overdue(flight, math.inf)
            if overdue is not None:
                self._cut(flight, overdue)
            if gone:
                self.nudge()  # should it stand in a queue
                return

    def _cut(self, flight: Flight, exchange: Exchange) -> None:
        """End a request from outside, and its flight with it, whatever its thread still hangs
        on."""
        if not exchange.end(cut=True):
            return
        if self._gone(flight):
            self._land(flight, Cancelled(NOBODY_WAITED))
            return
        archive = flight.archive
        late = TimedOut(f"{archive.name} gave no whole answer within {self._timeout_s:g} s.",
                        archive=archive.key, reason="no_answer_in_time")
        self._note(flight, Setback(late, wall=exchange.shut_out))
        self._land(flight, late)

    def _gone(self, flight: Flight) -> bool:
        return self._closed or flight.unwanted()

    # ---- a flight, in its own thread ----

    def _thread(self, work: Callable[[Flight], None], flight: Flight) -> None:
        threading.Thread(target=work, args=(flight,), name=f"books-{flight.archive.key}",
                         daemon=True).start()

    def _fly(self, flight: Flight) -> None:
        archive = flight.archive
        failure: Exception | None = None
        try:
            self._wire.open()  # before a slot is taken
            self._attempts(flight)
        except CutShort:
            return
        except Abandoned:
            failure = Cancelled(NOBODY_WAITED)
        except (SourceError, ImportError) as exc:
            failure = bare(exc)
        except Exception:  # a fault of ours must not leave callers waiting
            _log.exception("a request to %s ended in a fault of this program", archive.name)
            failure = UnreadableAnswer(f"The answer of {archive.name} could not be read.",
                                       archive=archive.key)
        self._land(flight, failure)

    def _land(self, flight: Flight, failure: Exception | None) -> None:
        """The end of a flight, told to all who wait; the first word counts."""
        with self._changed:
            if not flight.finished:
                flight.failure, flight.finished = failure, True
            if self._flights.get(flight.key) is flight:
                del self._flights[flight.key]
            self._changed.notify_all()

    def _attempts(self, flight: Flight) -> None:
        """Ask, and ask again where that can help, within the callers' time."""
        for attempt in itertools.count():
            try:
                self._attempt(flight)
                return
            except Setback as setback:
                self._note(flight, setback)
                again = attempt < min(self.settings.max_retries, setback.tries)
                pause_s = setback.pause_s
                if pause_s is None:
                    pause_s = 2.0 ** attempt if again else 0.0
                if pause_s:
                    flight.gate.postpone(pause_s)
                if not again:
                    raise setback.error from setback
                _log.info("%s is asked again after %g s: %s", flight.archive.name, pause_s,
                          setback.error.message)

    def _note(self, flight: Flight, setback: Setback) -> None:
        """What a lane is to know of a setback, it is told."""
        gate, error = flight.gate, setback.error
        flight.seen = error
        if setback.wall:
            error.retry_after_s = float(round(gate.block_wall())) or None
        if setback.silence_s:
            gate.block(setback.silence_s)
        gate.last_failure = {"at": _iso(self.clock.time()), "code": error.code,
                             "message": error.message}

    def _attempt(self, flight: Flight) -> None:
        """One request with its redirects, judged, read and kept. Raises Setback, or a
        SourceError when no turn can come."""
        ask, archive = flight.ask, flight.archive
        flight.gate = self.gate(lane_of(archive, ask.url))
        received = self._follow(flight)
        try:
            judge(ask, flight.gate, received, self.clock.time())
            flight.reply = self._read(ask, archive, received)
        except SourceError as exc:
            raise Setback(exc,
                          tries=1 if exc.retryable and exc.retry_after_s is None else 0) from exc
        finally:
            if self._recorder is not None:
                self._recorder.keep(ask, received, good=flight.reply is not None)
        flight.gate.good()
        flight.received = received
        if received.status == 200:
            self.cache.put(ask.question, received)

    def _follow(self, flight: Flight) -> Received:
        """What came at the end of the redirects."""
        ask = flight.ask
        for _ in range(REDIRECTS_MAX + 1):
            received = self._send(flight, ask)
            target = self._redirect(flight, ask, received)
            if target is None:
                return received
            ask = target
        archive = flight.archive
        raise Setback(ArchiveUnreachable(
            f"{archive.name} redirected more than {REDIRECTS_MAX} times.", archive=archive.key))

    def _redirect(self, flight: Flight, ask: Ask, received: Received) -> Ask | None:
        """The next hop's question, None when the answer is no redirect. Raises Setback when it
        leads where nothing is sent."""
        archive, location = flight.archive, received.headers.get("location")
        if received.status not in (301, 302, 303, 307, 308) or not location:
            return None
        try:
            # headers arrive as Latin-1, whatever they hold
            spelled = location.encode("latin-1").decode("utf-8", "replace")
            target = address(urljoin(ask.url, spelled).partition("#")[0])
            flight.gate = self.gate(lane_of(archive, target))
        except (ValueError, InvalidInput) as exc:
            elsewhere = ArchiveUnreachable(
                f"{archive.name} sent a redirect elsewhere, to an address that is not its own; it "
                "was not followed.", archive=archive.key, status=received.status)
            raise Setback(elsewhere) from exc
        judge_redirect(flight.gate, flight.ask.url, target)
        return replace(ask, url=target, form=() if received.status == 303 else ask.form)

    def _send(self, flight: Flight, ask: Ask) -> Received:
        """One request, in its turn. Raises Setback, Abandoned or CutShort."""
        exchange = self._set_out(flight, ask)
        self._wire.run(exchange)
        flight.exchange = None
        if not exchange.end():
            raise CutShort
        if isinstance(exchange.failure, Setback) and exchange.shut_out:
            exchange.failure.wall = isinstance(exchange.failure.error, TimedOut)
        if exchange.answer is None:
            raise exchange.failure or Abandoned
        status, headers, body = exchange.answer
        return Received(status=status, headers=headers, url=ask.url, body=body,
                        retrieved_at=_iso(self.clock.time()))

    def _set_out(self, flight: Flight, ask: Ask) -> Exchange:
        """A request with its place at the gate. Raises Abandoned when nobody wants it any more."""
        ticket = self._turn(flight)
        now = self.clock.monotonic()
        first = now if flight.first_sent_at is None else flight.first_sent_at
        until = first + 2 * self._timeout_s if ask.run_on else now + self._timeout_s
        exchange = Exchange(ask=ask, gate=flight.gate, ticket=ticket, until=until,
                            limit_s=max(0.001, until - now))
        with self._changed:
            if not self._gone(flight):
                flight.requests_sent += 1
                flight.first_sent_at, flight.exchange = first, exchange
                self._changed.notify_all()
                return exchange
        exchange.end()
        raise Abandoned

    def _turn(self, flight: Flight) -> Ticket:
        """A place at the gate, once its turn has come."""
        ticket = Ticket(next(iter(flight.callers), None), flight.remaining_s,
                        functools.partial(self._gone, flight))
        try:
            flight.gate.enter(ticket)
        # of a retry that finds no place, what made it one is the news
        except SourceError as turned_away:
            raise flight.seen or turned_away from None
        return ticket


def _gates(settings: Settings, archives: Iterable[type[Archive]], clock: Clock) -> dict[str, Gate]:
    """The gates by their lanes' keys, at the pace that the settings may slow, and shared where
    processes ask the same hosts."""
    folder = settings.state_dir if settings.replay_dir is None else None
    if folder is not None and settings.gateway is not None:
        folder = folder / f"gateway-{hashlib.sha256(settings.gateway.encode()).hexdigest()[:12]}"
    gates = {}
    for archive in archives:
        for lane in archive.lanes:
            paced = replace(lane, spacing_s=max(lane.spacing_s, settings.min_interval_ms / 1000))
            path = folder and folder / f"{lane.key}.json"
            gates[lane.key] = Gate(archive, paced, clock=clock, path=path)
    return gates


def _too_late(flight: Flight) -> SourceError:
    """What a caller is told whose time ends before the flight does."""
    name, key = flight.archive.name, flight.archive.key
    if flight.seen is not None:
        return copy.copy(flight.seen)
    if flight.first_sent_at is None:
        return RateLimited(f"{name} was not asked: this server's own queue for it did not move in "
                           "time.", archive=key,
                           hint="Ask again in a minute; requests are spaced as the archive wants.",
                           reason="queue_full")
    if flight.ask.run_on and flight.left_late:
        return TimedOut(f"{name} is still searching; the request goes on in the background.",
                        archive=key,
                        retry_after_s=ASK_AGAIN_S,
                        hint=f"Ask the same again in about {ASK_AGAIN_S:.0f} s; "
                             "the answer will be there if the archive gives one.",
                             reason="still_searching")
    return TimedOut(f"{name} gave no whole answer within the time of this call.", archive=key,
                    reason="budget_spent")


def _iso(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
