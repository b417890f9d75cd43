"""The one way out: every request of every archive goes through here, in its turn, within its time, to its own hosts only.

A question that a cache entry answers costs nothing. Otherwise it becomes a flight, which whoever asks the same joins: a thread of
its own enters the lane's gate, sends, follows redirects, asks again where that can help, reads and checks the answer. Callers
wait for the flight and may leave it; when the last one has left, it is stopped.
"""
from __future__ import annotations

import copy
import functools
import hashlib
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urljoin, urlsplit

from ..contract import Archive, Ask, Check, Lane, Reply
from ..errors import ArchiveUnreachable, Cancelled, InvalidInput, RateLimited, SourceError, TimedOut, UnreadableAnswer
from ..settings import PROJECT_URL, Settings
from .call import Call, Clock
from .connection import Exchange, Question, Received, Setback, Wire
from .gate import Abandoned, Gate, Ticket
from .shelf import UNREADABLE, Recorder, Shelf
from .verdict import Wanted, judge, leads_to_wall, read, walled

__all__ = ["ArchiveAsker", "Call", "Clock", "Transport"]

REDIRECTS_MAX = 5  # hops; RFC 9110 names no figure, and the archives need two
WORTH_TELLING_S = 0.5  # a shorter wait for a slot is no news
CACHE_LIMIT_BYTES = 32 << 20
ASK_AGAIN_S = 40.0  # a newspaper search of the Library of Congress takes 30 to 45 s (facts of 2026-11)
ACCEPT = {"json": "application/json", "xml": "application/xml, text/xml", "text": "text/plain, */*;q=0.5",
          "html": "text/html, */*;q=0.5"}
Params = Mapping[str, str] | Sequence[tuple[str, str]]
_log = logging.getLogger("books")


@dataclass(eq=False, slots=True, kw_only=True)
class _Flight:
    """One question under way, for all who wait for it. Its own thread writes every field but `callers` and `left_late`."""

    wanted: Wanted
    gate: Gate  # of the address asked last: a redirect may lead to another lane
    callers: tuple[Call, ...] = ()
    left_late: tuple[Call, ...] = ()  # callers whose time was up, for whom it may run on
    first_sent_at: float | None = None
    requests_sent: int = 0
    seen: SourceError | None = None  # what the last attempt met
    received: Received | None = None
    reply: Reply | None = None
    failure: Exception | None = None
    finished: bool = False

    def unwanted(self) -> bool:
        """Whether nobody waits for it, and it has no leave to run on."""
        if self.callers:
            return False
        runs_on = self.wanted.run_on and self.first_sent_at is not None
        return not (runs_on and any(not call.cancelled for call in self.left_late))

    def remaining_s(self) -> float:
        """The time of the caller who has most."""
        return max((call.remaining_s() for call in self.callers), default=0.0)


class Transport:
    """All of a process's requests. `archives` bring their lanes; `identity` is product/version, as archives see it.

    `clock` is what deadlines and lifetimes go by, `pacing_clock` (the same, if left out) what the gates go by.
    """

    def __init__(self, settings: Settings, archives: Iterable[type[Archive]], *, clock: Clock | None = None,
                 pacing_clock: Clock | None = None, identity: str = "mcp-books") -> None:
        self.settings = settings
        self.clock = clock or Clock()
        self._archives = {archive.key: archive for archive in archives}
        self._gates = {lane.key: self._gate(archive, lane, pacing_clock or self.clock)
                       for archive in self._archives.values() for lane in archive.lanes}
        self._timeout_s = settings.timeout_ms / 1000
        self._agent = " ".join(filter(None, (settings.user_agent, identity, f"(+{PROJECT_URL})")))
        self._wire = Wire(settings.gateway)
        self._recorder = Recorder(settings.record_dir) if settings.record_dir else None
        self._shelf = Shelf(settings.replay_dir) if settings.replay_dir else None
        self.cache = _Cache(settings.cache_max_entries, settings.cache_ttl_ms / 1000, self.clock)
        self._changed = threading.Condition()  # guards the flights; notified whenever one of them changes
        self._flights: dict[tuple[Question, str], _Flight] = {}
        self._failures: dict[Gate, dict[str, str]] = {}
        self._closed = False

    def _gate(self, archive: type[Archive], lane: Lane, clock: Clock) -> Gate:
        folder = self.settings.state_dir if self.settings.replay_dir is None else None
        if folder is not None and self.settings.gateway is not None:
            folder = folder / f"gateway-{hashlib.sha256(self.settings.gateway.encode()).hexdigest()[:12]}"
        return Gate(archive, lane, clock=clock, spacing_s=self.settings.min_interval_ms / 1000,
                    path=folder and folder / f"{lane.key}.json")

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
        """What an operator may want to know: per lane its pace, its block and its last failure; and how full the cache is."""
        lanes = []
        for key, gate in self._gates.items():
            blocked_s = gate.blocked_for()
            lanes.append({"lane": key, "archive": gate.archive.key, "spacing_s": gate.spacing_s,
                          "spacing_because": gate.lane.spacing_because,
                          "in_flight": gate.in_flight, "in_flight_max": gate.lane.in_flight_max,
                          "blocked_until": _iso(self.clock.time() + blocked_s) if blocked_s else None,
                          "last_failure": self._failures.get(gate)})
        return {"lanes": lanes, "cached_entries": len(self.cache), "replaying": self._shelf is not None,
                "gateway": self.settings.gateway is not None}

    # ---- a question, from one caller ----

    def ask(self, asker: ArchiveAsker, wanted: Wanted) -> Reply:
        """The reply to one question. Raises SourceError or Cancelled; the asker is told how many requests went out either way."""
        call = asker.call
        call.check()
        if self._shelf is not None:
            asker.requests_sent += 1  # the request it stands for, so that a replay reports what the recording did
            return self._from_shelf(self._shelf, wanted)
        kept = self.cache.get(wanted.question)
        if kept is not None:
            return read(wanted, kept, cached=True)
        call.when_cancelled(self.nudge)
        delay_s = wanted.gate.delay_s()
        if WORTH_TELLING_S <= delay_s <= call.remaining_s():
            call.tell(f"Waiting about {delay_s:.0f} s for {wanted.archive.name}, whose requests are spaced.")
        return self._wait(asker, wanted)

    def address(self, archive: type[Archive], url: str, params: Params) -> tuple[str, Gate]:
        """The address that these arguments make, and its gate. Raises InvalidInput."""
        pairs = list(params.items()) if isinstance(params, Mapping) else list(params)
        try:
            address = self._wire.address(url, pairs)
        except ValueError as exc:
            raise InvalidInput(f"The words cannot be written in a request to {archive.name}.", archive=archive.key) from exc
        return address, self._gate_of(archive, address)

    def _gate_of(self, archive: type[Archive], address: str) -> Gate:
        """The gate of the lane an address belongs to; one that names the path wins. Raises InvalidInput when there is none."""
        parts = urlsplit(address)
        try:
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host, port = "", None
        plain = "@" not in parts.netloc and port in (None, 443 if parts.scheme == "https" else 80)
        lanes = [lane for lane in archive.lanes if plain and parts.scheme in ("https", lane.scheme)
                 and any(re.fullmatch(pattern, host) for pattern in lane.hosts)
                 and (not lane.paths or any(re.fullmatch(pattern, parts.path) for pattern in lane.paths))]
        if not lanes:
            raise InvalidInput(f"The address is none of those that {archive.name} is asked at; nothing was sent.",
                               archive=archive.key)
        return self._gates[next((lane for lane in lanes if lane.paths), lanes[0]).key]

    def _wait(self, asker: ArchiveAsker, wanted: Wanted) -> Reply:
        """Join the flight of this question, or start it, and wait for its end, this call's end, or its cancellation."""
        call, key = asker.call, (wanted.question, wanted.kind)
        joined_at = self.clock.monotonic()
        with self._changed:
            flight = self._flights.get(key)
            leads = flight is None or flight.unwanted()
            if flight is None or leads:
                flight = self._flights[key] = _Flight(wanted=wanted, gate=wanted.gate)
            flight.callers += (call,)
            if leads:
                threading.Thread(target=self._fly, args=(key, flight), name=f"books-{wanted.archive.key}", daemon=True).start()
            try:
                while not flight.finished:
                    if call.cancelled or self._closed:
                        raise Cancelled("The caller took the question back.")
                    until = self._patience(flight, call, joined_at)
                    if self.clock.monotonic() >= until:
                        flight.left_late += (call,)
                        raise _too_late(flight)
                    self.clock.wait(self._changed, until)
            finally:
                asker.requests_sent += flight.requests_sent
                callers = list(flight.callers)
                callers.remove(call)
                flight.callers = tuple(callers)
                if flight.unwanted():
                    self.nudge()
        if flight.failure is not None:
            raise copy.copy(flight.failure) from flight.failure
        assert flight.reply is not None
        assert flight.received is not None
        return flight.reply if leads else read(wanted, flight.received)

    def _patience(self, flight: _Flight, call: Call, joined_at: float) -> float:
        """Until when a caller waits: its own deadline; for a request that may run on, also the time of one request."""
        if not flight.wanted.run_on or flight.first_sent_at is None:
            return call.deadline
        return min(call.deadline, max(joined_at, flight.first_sent_at) + self._timeout_s)

    def _from_shelf(self, shelf: Shelf, wanted: Wanted) -> Reply:
        archive, question = wanted.archive, wanted.question
        try:
            received = shelf.find(question)
        except UNREADABLE as exc:
            raise UnreadableAnswer(f"The answer of {archive.name} kept on the shelf cannot be read.",
                                   archive=archive.key) from exc
        if received is None:
            raise ArchiveUnreachable(f"{archive.name} is answered from kept answers alone, and this one is not on the shelf: "
                                     f"{question.url}", archive=archive.key,
                                     hint="Ask what the shelf holds (`mcp-books demo` lists the sample shelf), or unset "
                                          "BOOKS_REPLAY_DIR.")
        try:
            judge(wanted, wanted.gate.lane, received, self.clock.time())
        except Setback as setback:
            raise setback.error from setback
        return read(wanted, received)

    # ---- a flight ----

    def _fly(self, key: tuple[Question, str], flight: _Flight) -> None:
        archive = flight.wanted.archive
        try:
            self._wire.open()  # before a slot is taken
            flight.reply = self._attempts(flight)
        except Abandoned:
            flight.failure = Cancelled("Nobody waited for this answer any more.")
        except (SourceError, ImportError) as exc:
            flight.failure = exc
        except Exception as exc:  # a fault of ours must not leave callers waiting
            _log.exception("a request to %s ended in a fault of this program", archive.name)
            flight.failure = UnreadableAnswer(f"The answer of {archive.name} could not be read.", archive=archive.key)
            flight.failure.__cause__ = exc
        with self._changed:
            flight.finished = True
            if self._flights.get(key) is flight:
                del self._flights[key]
            self._changed.notify_all()

    def _attempts(self, flight: _Flight) -> Reply:
        """Ask, and ask again where that can help, within the callers' time. What the lane is to know of a setback, it is told."""
        attempt = 0
        while True:
            try:
                return self._attempt(flight)
            except Setback as setback:
                flight.seen = error = setback.error
                gate = flight.gate
                if setback.wall:
                    error.retry_after_s = float(round(gate.block_wall())) or None
                if setback.silence_s:
                    gate.block(setback.silence_s)
                self._failures[gate] = {"at": _iso(self.clock.time()), "code": error.code, "message": error.message}
                again = attempt < min(self.settings.max_retries, setback.tries)
                pause_s = setback.pause_s if setback.pause_s is not None else 2.0 ** attempt if again else 0.0
                if pause_s:
                    gate.postpone(pause_s)
                if not again:
                    raise error from setback
                _log.info("%s is asked again after %g s: %s", flight.wanted.archive.name, pause_s, error.message)
                attempt += 1

    def _attempt(self, flight: _Flight) -> Reply:
        """One request with its redirects, judged, read and kept. Raises Setback, or a SourceError when no turn can come."""
        wanted, question = flight.wanted, flight.wanted.question
        flight.gate = wanted.gate
        for _ in range(REDIRECTS_MAX + 1):
            received = self._send(flight, question)
            target = self._redirect(flight, question, received)
            if target is None:
                break
            question = target
        else:
            raise Setback(ArchiveUnreachable(f"{wanted.archive.name} redirected more than {REDIRECTS_MAX} times.",
                                             archive=wanted.archive.key))
        if self._recorder is not None:
            self._recorder.keep(wanted.question, received)
        judge(wanted, flight.gate.lane, received, self.clock.time())
        try:
            reply = read(wanted, received)
        except SourceError as exc:
            raise Setback(exc, tries=1 if exc.retryable and exc.retry_after_s is None else 0) from exc
        flight.gate.good()
        flight.received = received
        if received.status == 200:
            self.cache.put(wanted.question, received)
        return reply

    def _send(self, flight: _Flight, question: Question) -> Received:
        """One request, in its turn: a place at the gate, a thread for the exchange, and a watch on both."""
        wanted, gate, archive = flight.wanted, flight.gate, flight.gate.archive

        def gone() -> bool:
            return self._closed or flight.unwanted()

        ticket = Ticket(flight.callers[0] if flight.callers else None, flight.remaining_s, gone)
        try:
            gate.enter(ticket)
        except SourceError as turned_away:  # of a retry that finds no place, what made it one is the news
            raise flight.seen or turned_away from None
        try:
            exchange = Exchange(archive=archive, statuses=wanted.statuses, started=functools.partial(gate.started, ticket),
                                over=self._notify)
            sent_at = self.clock.monotonic()
            with self._changed:
                flight.requests_sent += 1
                flight.first_sent_at = sent_at if flight.first_sent_at is None else flight.first_sent_at
                self._changed.notify_all()
            until = flight.first_sent_at + 2 * self._timeout_s if wanted.run_on else sent_at + self._timeout_s
            headers = {"Accept": ACCEPT[wanted.kind], **dict(question.headers),
                       "User-Agent": self._agent, "Accept-Encoding": "gzip, deflate"}
            threading.Thread(target=self._wire.run, args=(exchange, question, headers, max(0.001, until - sent_at)),
                             name=f"books-wire-{archive.key}", daemon=True).start()
            with self._changed:
                while not exchange.finished and not gone() and self.clock.monotonic() < until:
                    self.clock.wait(self._changed, until)
            if not exchange.finished:
                exchange.stop()
                if gone():
                    raise Abandoned
        finally:
            gate.leave(ticket)
        shut_out = gate.lane.bans_mutely and not exchange.answering
        if exchange.failure is not None and not exchange.stopped:
            if shut_out and isinstance(exchange.failure, Setback):
                exchange.failure.wall = isinstance(exchange.failure.error, TimedOut)
            raise exchange.failure
        if exchange.answer is None or exchange.stopped:  # a stopped connection looks like the end of an answer
            raise Setback(TimedOut(f"{archive.name} gave no whole answer within {self._timeout_s:g} s.", archive=archive.key),
                          wall=shut_out)
        status, received_headers, body = exchange.answer
        return Received(status=status, headers=received_headers, url=question.url, body=body,
                        retrieved_at=_iso(self.clock.time()))

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _redirect(self, flight: _Flight, question: Question, received: Received) -> Question | None:
        """The next hop's question, None when the answer is no redirect. Raises Setback when it leads where nothing is sent."""
        archive, location = flight.wanted.archive, received.headers.get("location")
        if received.status not in (301, 302, 303, 307, 308) or not location:
            return None
        try:
            spelled = location.encode("latin-1").decode("utf-8", "replace")  # headers arrive as Latin-1, whatever they hold
            address = self._wire.address(urljoin(question.url, spelled).partition("#")[0], [])
            flight.gate = self._gate_of(archive, address)
        except (ValueError, InvalidInput) as exc:
            elsewhere = ArchiveUnreachable(f"{archive.name} sent a redirect elsewhere, to an address that is not its own; "
                                           "it was not followed.", archive=archive.key, status=received.status)
            raise Setback(elsewhere) from exc
        if leads_to_wall(flight.gate.lane, address, question.url):
            raise walled(archive)
        return Question(url=address, form=() if received.status == 303 else question.form, headers=question.headers)


def _too_late(flight: _Flight) -> SourceError:
    """What a caller is told whose time ends before the flight does."""
    name, key = flight.wanted.archive.name, flight.wanted.archive.key
    if flight.seen is not None:
        return copy.copy(flight.seen)
    if flight.first_sent_at is None:
        return RateLimited(f"{name} was not asked: this server's own queue for it did not move in time.", archive=key,
                           hint="Ask again in a minute; requests are spaced as the archive wants.")
    if flight.wanted.run_on:
        return TimedOut(f"{name} is still searching; the request goes on in the background.", archive=key,
                        retry_after_s=ASK_AGAIN_S,
                        hint=f"Ask the same again in about {ASK_AGAIN_S:.0f} s; "
                             "the answer will be there if the archive gives one.")
    return TimedOut(f"{name} gave no whole answer within the time of this call.", archive=key)


class ArchiveAsker:
    """The transport as one archive sees it during one call (contract.Asker), and what the client wants to know afterwards.

    `replies` are the answers used so far, without their values; `requests_sent` counts what went out, answered or not;
    with a shelf, what was looked up there.
    """

    def __init__(self, transport: Transport, archive: type[Archive], call: Call) -> None:
        self.settings = transport.settings
        self.call = call
        self.replies: list[Reply] = []
        self.requests_sent = 0
        self.replayed = transport.settings.replay_dir is not None
        self._transport = transport
        self._archive = archive
        self._questions: list[Question] = []  # those answered

    @property
    def cached(self) -> bool:
        """Whether every answer used came from the cache; False before the first."""
        return bool(self.replies) and all(reply.cached for reply in self.replies)

    @property
    def retrieved_at(self) -> str | None:
        """When the oldest answer used was fetched."""
        return min((reply.retrieved_at for reply in self.replies), default=None)

    def __call__(self, ask: Ask) -> Reply:
        return self._ask(ask.body, ask.url, ask.params, ask.statuses, ask.check_text, ask.check, form=dict(ask.form),
                         headers=dict(ask.headers), run_on=ask.run_on)

    def remaining_s(self) -> float:
        return self.call.remaining_s()

    def get_json(self, url: str, params: Params = (), *, form: Mapping[str, str] | None = None,
                 statuses: tuple[int, ...] = (200,), check_text: Check | None = None, check: Check | None = None,
                 headers: Mapping[str, str] | None = None, run_on: bool = False) -> Reply:
        return self._ask("json", url, params, statuses, check_text, check, form=form, headers=headers, run_on=run_on)

    def get_xml(self, url: str, params: Params = (), *, statuses: tuple[int, ...] = (200,), check_text: Check | None = None,
                check: Check | None = None) -> Reply:
        return self._ask("xml", url, params, statuses, check_text, check)

    def get_text(self, url: str, params: Params = (), *, statuses: tuple[int, ...] = (200,), check: Check | None = None,
                 html: bool = False) -> Reply:
        return self._ask("html" if html else "text", url, params, statuses, None, check)

    def _ask(self, kind: str, url: str, params: Params, statuses: tuple[int, ...], check_text: Check | None, check: Check | None,
             *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None, run_on: bool = False) -> Reply:
        address, gate = self._transport.address(self._archive, url, params)
        question = Question(url=address, form=tuple((form or {}).items()), headers=tuple((headers or {}).items()))
        reply = self._transport.ask(self, Wanted(gate=gate, question=question, kind=kind, statuses=statuses,
                                                 check_text=check_text, check=check, run_on=run_on))
        self._questions.append(question)
        self.replies.append(replace(reply, value=None))
        return reply

    def forget(self) -> None:
        """Keep none of the answers used so far: one could not be read after all, and asking again must ask the archive."""
        for question in self._questions:
            self._transport.cache.drop(question)

    def others_waiting(self) -> bool:
        return any(self._transport.gate(lane).waits_for_others(self.call) for lane in self._archive.lanes)

    def absolute(self, path: str) -> str:
        lane = self._archive.lanes[0]
        return f"https://{lane.hosts[0].replace(chr(92), '')}/{path.lstrip('/')}"


class _Cache:
    """Good answers, the least lately used going first; bounded in number, in bytes and in age (seconds)."""

    def __init__(self, entries_max: int, lifetime_s: float, clock: Clock) -> None:
        self._entries_max = entries_max
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._lock = threading.RLock()
        self._kept: OrderedDict[Question, tuple[float, Received]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, question: Question) -> Received | None:
        with self._lock:
            kept_at, received = self._kept.get(question, (0.0, None))
            if received is not None and self._clock.monotonic() - kept_at >= self._lifetime_s:
                self.drop(question)
                return None
            if received is not None:
                self._kept.move_to_end(question)
            return received

    def put(self, question: Question, received: Received) -> None:
        if self._lifetime_s <= 0 or len(received.body) > CACHE_LIMIT_BYTES:
            return
        with self._lock:
            self.drop(question)
            self._kept[question] = (self._clock.monotonic(), received)
            self._bytes += len(received.body)
            while len(self._kept) > self._entries_max or self._bytes > CACHE_LIMIT_BYTES:
                self.drop(next(iter(self._kept)))

    def drop(self, question: Question) -> None:
        with self._lock:
            _, received = self._kept.pop(question, (0.0, None))
            self._bytes -= len(received.body) if received is not None else 0


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
