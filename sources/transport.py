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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

from .calls import Call, Clock, SystemClock
from .contract import Archive, Check, Lane, Params, Reply
from .decoding import decode_json, decode_text, decode_xml, is_html, text_of_xml
from .errors import (
    ArchiveUnreachable,
    Cancelled,
    InvalidInput,
    RateLimited,
    RecordNotFound,
    SourceError,
    TimedOut,
    UnreadableAnswer,
)
from .pacing import BLOCK_LIMIT_S, Abandoned, Gate, Ticket
from .recording import Recorder, Shelf
from .settings import PROJECT_URL, Settings
from .wire import Dropped, Exchange, Question, Received, Wire

__all__ = ["ArchiveAsker", "Call", "Clock", "SystemClock", "Transport"]

REDIRECTS_MAX = 5  # hops; RFC 9110 names no figure, and the archives need two
RETRY_AFTER_LIMIT_S = 30.0  # a longer wait is reported instead of slept through
WORTH_TELLING_S = 0.5  # a shorter wait for a slot is no news
CACHE_LIMIT_BYTES = 32 << 20
SIGNS_IN_BYTES = 8192  # a challenge shows itself within this much of a page
ASK_AGAIN_S = 40.0  # a newspaper search of the Library of Congress takes 30 to 45 s (facts of 2026-11)
WALL_SIGNS = ("just a moment", "captcha", "altcha", "challenge-platform")
ACCEPT = {"json": "application/json", "xml": "application/xml, text/xml", "text": "text/plain, */*;q=0.5",
          "html": "text/html, */*;q=0.5"}
_log = logging.getLogger("books")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """How an answer is to be read: `kind` is json|xml|text|html; the rest as contract.Asker says."""

    kind: str
    statuses: tuple[int, ...] = (200,)
    check_text: Check | None = None
    check: Check | None = None
    run_on: bool = False


class _Again(Exception):
    """This attempt failed at a gate in a way that another may mend. `after_s` is the pause the archive asked for, `tries` how often
    at most another makes sense."""

    def __init__(self, error: SourceError, gate: Gate, *, after_s: float | None = None, tries: int = 99) -> None:
        super().__init__(error.message)
        self.error = error
        self.gate = gate
        self.after_s = after_s
        self.tries = tries


class _Flight:
    """One question under way, for all who wait for it. Fields are written by its own thread, but for `callers`."""

    def __init__(self, archive: type[Archive], question: Question, reading: _Reading) -> None:
        self.archive = archive
        self.question = question
        self.reading = reading
        self.callers: tuple[Call, ...] = ()
        self.left_late: tuple[Call, ...] = ()  # callers whose time was up, for whom it may run on
        self.first_sent_at: float | None = None
        self.requests_sent = 0
        self.seen: SourceError | None = None  # what the last attempt met
        self.received: Received | None = None
        self.reply: Reply | None = None
        self.failure: Exception | None = None
        self.finished = False

    def unwanted(self) -> bool:
        """Whether nobody waits for it, and it has no leave to run on."""
        if self.callers:
            return False
        runs_on = self.reading.run_on and self.first_sent_at is not None
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
        self.clock: Clock = clock or SystemClock()
        self._archives = {archive.key: archive for archive in archives}
        self._gates = {lane.key: self._gate(archive, lane, pacing_clock or self.clock)
                       for archive in self._archives.values() for lane in archive.lanes}
        self._timeout_s = settings.timeout_ms / 1000
        self._agent = " ".join(filter(None, (settings.user_agent, identity, f"(+{PROJECT_URL})")))
        self._wire = Wire(settings.gateway)
        self._recorder = Recorder(settings.record_dir) if settings.record_dir else None
        self._shelf = Shelf(settings.replay_dir) if settings.replay_dir else None
        self._cache = _Cache(settings.cache_max_entries, settings.cache_ttl_ms / 1000, self.clock)
        self._changed = threading.Condition()  # guards the flights; notified whenever one of them changes
        self._flights: dict[tuple[Question, str], _Flight] = {}
        self._failures: dict[str, dict[str, str]] = {}
        self._closed = False

    def _gate(self, archive: type[Archive], lane: Lane, clock: Clock) -> Gate:
        folder = self.settings.state_dir if self.settings.replay_dir is None else None
        if folder is not None and self.settings.gateway is not None:
            folder = folder / f"gateway-{hashlib.sha256(self.settings.gateway.encode()).hexdigest()[:12]}"
        return Gate(archive=archive.key, name=archive.name, spacing_s=max(lane.spacing_s, self.settings.min_interval_ms / 1000),
                    in_flight_max=lane.in_flight_max, clock=clock, path=folder and folder / f"{lane.key}.json")

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
        for archive in self._archives.values():
            for lane in archive.lanes:
                gate = self._gates[lane.key]
                blocked_s = gate.blocked_for()
                lanes.append({"lane": lane.key, "archive": archive.key, "spacing_s": gate.spacing_s,
                              "spacing_because": lane.spacing_because, "in_flight": gate.in_flight, "in_flight_max": lane.in_flight_max,
                              "blocked_until": _iso(self.clock.time() + blocked_s) if blocked_s else None,
                              "last_failure": self._failures.get(lane.key)})
        return {"lanes": lanes, "cached_entries": len(self._cache), "replaying": self._shelf is not None,
                "gateway": self.settings.gateway is not None}

    def forget(self, question: Question) -> None:
        """Let the next one who asks this be answered by the archive."""
        self._cache.drop(question)

    # ---- a question, from one caller ----

    def ask(self, archive: type[Archive], call: Call, question: Question, reading: _Reading, sent: Callable[[int], None]) -> Reply:
        """The reply to one question. Raises SourceError or Cancelled; `sent` is told how many requests went out in either case."""
        call.check()
        if self._shelf is not None:
            sent(1)  # a kept answer counts as the request it stands for, so that a replay reports what the recording did
            return self._from_shelf(self._shelf, archive, question, reading)
        kept = self._cache.get(question)
        if kept is not None:
            return self._read(archive, kept, reading, cached=True)
        call.when_cancelled(self.nudge)
        lane = self._lane(archive, urlsplit(question.url))
        delay_s = self._gates[lane.key].delay_s()
        if WORTH_TELLING_S <= delay_s <= call.remaining_s():
            call.tell(f"Waiting about {delay_s:.0f} s for {archive.name}, whose requests are spaced.")
        return self._wait(call, question, archive, reading, sent)

    def question(self, archive: type[Archive], url: str, params: Params, form: Mapping[str, str] | None,
                 headers: Mapping[str, str] | None) -> Question:
        """The question that these arguments make. Raises InvalidInput."""
        pairs = list(params.items()) if isinstance(params, Mapping) else list(params)
        try:
            address = self._wire.address(url, pairs)
        except ValueError as exc:
            raise InvalidInput(f"The words cannot be written in a request to {archive.name}.", archive=archive.key) from exc
        self._lane(archive, urlsplit(address))
        return Question(url=address, form=tuple((form or {}).items()), headers=tuple((headers or {}).items()))

    def _lane(self, archive: type[Archive], address: SplitResult) -> Lane:
        """The lane an address belongs to; one that names the path wins. Raises InvalidInput for an address of no lane."""
        try:
            host, port = address.hostname or "", address.port
        except ValueError:
            host, port = "", None
        plain = "@" not in address.netloc and port in (None, 443 if address.scheme == "https" else 80)
        lanes = [lane for lane in archive.lanes if plain and address.scheme in ("https", lane.scheme)
                 and any(re.fullmatch(pattern, host) for pattern in lane.hosts)]
        for lane in lanes:
            if any(re.fullmatch(pattern, address.path) for pattern in lane.paths):
                return lane
        for lane in lanes:
            if not lane.paths:
                return lane
        raise InvalidInput(f"The address is none of those that {archive.name} is asked at; nothing was sent.", archive=archive.key)

    def _wait(self, call: Call, question: Question, archive: type[Archive], reading: _Reading, sent: Callable[[int], None]) -> Reply:
        """Join the flight of this question, or start it, and wait for its end, this call's end, or its cancellation."""
        key = (question, reading.kind)
        joined_at = self.clock.monotonic()
        with self._changed:
            flight = self._flights.get(key)
            leads = flight is None or flight.unwanted()
            if flight is None or leads:
                flight = self._flights[key] = _Flight(archive, question, reading)
            flight.callers += (call,)
            if leads:
                threading.Thread(target=self._fly, args=(key, flight), name=f"books-{archive.key}", daemon=True).start()
            try:
                while not flight.finished:
                    if call.cancelled or self._closed:
                        raise Cancelled("The caller took the question back.")
                    until = self._patience(flight, call, joined_at)
                    if self.clock.monotonic() >= until:
                        flight.left_late += (call,)
                        raise self._too_late(flight)
                    self.clock.wait(self._changed, until)
            finally:
                sent(flight.requests_sent)
                callers = list(flight.callers)
                callers.remove(call)
                flight.callers = tuple(callers)
                if flight.unwanted():
                    self.nudge()
        if flight.failure is not None:
            raise copy.copy(flight.failure) from flight.failure
        assert flight.reply is not None
        assert flight.received is not None
        return flight.reply if leads else self._read(archive, flight.received, reading, cached=False)

    def _patience(self, flight: _Flight, call: Call, joined_at: float) -> float:
        """Until when a caller waits: its own deadline; for a request that may run on, also the time of one request."""
        if not flight.reading.run_on or flight.first_sent_at is None:
            return call.deadline
        return min(call.deadline, max(joined_at, flight.first_sent_at) + self._timeout_s)

    def _too_late(self, flight: _Flight) -> SourceError:
        """What a caller is told whose time ends before the flight does."""
        name, key = flight.archive.name, flight.archive.key
        if flight.seen is not None:
            return copy.copy(flight.seen)
        if flight.first_sent_at is None:
            return RateLimited(f"{name} was not asked: this server's own queue for it did not move in time.", archive=key,
                               hint="Ask again in a minute; requests are spaced as the archive wants.")
        if flight.reading.run_on:
            return TimedOut(f"{name} is still searching; the request goes on in the background.", archive=key,
                            hint=f"Ask the same again in about {ASK_AGAIN_S:.0f} s; the answer will be there if the archive gives one.",
                            retry_after_s=ASK_AGAIN_S)
        return TimedOut(f"{name} gave no whole answer within the time of this call.", archive=key)

    def _from_shelf(self, shelf: Shelf, archive: type[Archive], question: Question, reading: _Reading) -> Reply:
        try:
            received = shelf.find(question)
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise UnreadableAnswer(f"The answer of {archive.name} kept on the shelf cannot be read.", archive=archive.key) from exc
        if received is None:
            raise ArchiveUnreachable(f"{archive.name} is answered from kept answers alone, and this one is not on the shelf: "
                                     f"{question.url}", archive=archive.key, hint="Ask what the shelf holds, or unset BOOKS_REPLAY_DIR.")
        try:
            self._judge(archive, self._lane(archive, urlsplit(question.url)), received, reading, question.url)
            return self._read(archive, received, reading, cached=False)
        except _Again as again:
            raise again.error from again

    # ---- a flight ----

    def _fly(self, key: tuple[Question, str], flight: _Flight) -> None:
        try:
            self._wire.open()  # before a slot is taken
            flight.reply = self._attempts(flight)
        except Abandoned:
            flight.failure = Cancelled("Nobody waited for this answer any more.")
        except SourceError as exc:
            flight.failure = exc
        except Exception as exc:  # a fault of ours must not leave callers waiting
            _log.exception("a request to %s ended in a fault of this program", flight.archive.name)
            flight.failure = UnreadableAnswer(f"The answer of {flight.archive.name} could not be read.", archive=flight.archive.key)
            flight.failure.__cause__ = exc
        with self._changed:
            flight.finished = True
            if self._flights.get(key) is flight:
                del self._flights[key]
            self._changed.notify_all()

    def _attempts(self, flight: _Flight) -> Reply:
        """Ask, and ask again where that can help, within the callers' time."""
        attempt = 0
        while True:
            try:
                return self._attempt(flight)
            except _Again as again:
                flight.seen = error = again.error
                if attempt >= min(self.settings.max_retries, again.tries):
                    again.gate.postpone(again.after_s or 0.0)
                    raise error from again
                pause_s = 2.0 ** attempt if again.after_s is None else again.after_s
                _log.info("%s is asked again after %g s: %s", flight.archive.name, pause_s, error.message)
                again.gate.postpone(pause_s)
                attempt += 1

    def _attempt(self, flight: _Flight) -> Reply:
        """One request with its redirects, judged, read and kept."""
        archive, reading, question = flight.archive, flight.reading, flight.question
        for _ in range(REDIRECTS_MAX + 1):
            lane = self._lane(archive, urlsplit(question.url))
            received = self._send(flight, question, lane)
            target = self._redirect(archive, question, received)
            if target is None:
                break
            question = target
        else:
            raise ArchiveUnreachable(f"{archive.name} redirected more than {REDIRECTS_MAX} times.", archive=archive.key)
        if self._recorder is not None:
            self._recorder.keep(flight.question, received)
        gate = self._gates[lane.key]
        try:
            self._judge(archive, lane, received, reading, flight.question.url)
            reply = self._read(archive, received, reading, cached=False)
        except _Again as again:
            self._note_failure(lane, again.error)
            raise
        except SourceError as exc:
            self._note_failure(lane, exc)
            if exc.retryable and exc.retry_after_s is None and received.status in reading.statuses:
                raise _Again(exc, gate, tries=1) from exc
            raise
        gate.good()
        flight.received = received
        if received.status == 200:
            self._cache.put(flight.question, received)
        return reply

    def _send(self, flight: _Flight, question: Question, lane: Lane) -> Received:
        """One request, in its turn: a place at the gate, a thread for the exchange, and a watch on both."""
        archive, gate, reading = flight.archive, self._gates[lane.key], flight.reading

        def gone() -> bool:
            return self._closed or flight.unwanted()

        ticket = Ticket(flight.callers[0] if flight.callers else None, flight.remaining_s, gone)
        try:
            gate.enter(ticket)
        except SourceError as turned_away:  # of a retry that finds no place, what made it one is the news
            raise flight.seen or turned_away from None
        try:
            exchange = Exchange(archive=archive.key, name=archive.name, whole=lambda status: status in reading.statuses,
                                started=functools.partial(gate.started, ticket), over=self._notify)
            sent_at = self.clock.monotonic()
            with self._changed:
                flight.requests_sent += 1
                flight.first_sent_at = sent_at if flight.first_sent_at is None else flight.first_sent_at
                self._changed.notify_all()
            until = flight.first_sent_at + 2 * self._timeout_s if reading.run_on else sent_at + self._timeout_s
            headers = {"Accept": ACCEPT[reading.kind], **dict(question.headers),
                       "User-Agent": self._agent, "Accept-Encoding": "gzip, deflate"}
            limit_s = max(0.001, until - sent_at)
            threading.Thread(target=self._wire.run, args=(exchange, question, headers, limit_s),
                             name=f"books-wire-{archive.key}", daemon=True).start()
            self._watch(exchange, until, gone)
        finally:
            gate.leave(ticket)
        if exchange.stopped or exchange.answer is None:  # a stopped connection looks like the end of an answer
            raise self._failed(flight, lane, exchange)
        status, received_headers, body = exchange.answer
        return Received(status=status, headers=received_headers, url=question.url, body=body, retrieved_at=_iso(self.clock.time()))

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _watch(self, exchange: Exchange, until: float, gone: Callable[[], bool]) -> None:
        with self._changed:
            while not exchange.finished and not gone() and self.clock.monotonic() < until:
                self.clock.wait(self._changed, until)
        if not exchange.finished:
            exchange.stop()
            if gone():
                raise Abandoned

    def _failed(self, flight: _Flight, lane: Lane, exchange: Exchange) -> Exception:
        """What an exchange without an answer means."""
        failure = exchange.failure
        if exchange.stopped or failure is None:
            failure = TimedOut(f"{flight.archive.name} gave no whole answer within {self._timeout_s:g} s.",
                               archive=flight.archive.key)
        known = failure.error if isinstance(failure, Dropped) else failure
        if isinstance(known, SourceError):
            self._note_failure(lane, known)
        return _Again(failure.error, self.gate(lane)) if isinstance(failure, Dropped) else failure

    def _redirect(self, archive: type[Archive], question: Question, received: Received) -> Question | None:
        """The next hop's question, None when the answer is no redirect. Raises when it leads where nothing is sent."""
        location = received.headers.get("location")
        if received.status not in (301, 302, 303, 307, 308) or not location:
            return None
        elsewhere = ArchiveUnreachable(f"{archive.name} sent a redirect elsewhere, to an address that is not its own; "
                                       "it was not followed.", archive=archive.key, status=received.status)
        try:
            spelled = location.encode("latin-1").decode("utf-8", "replace")  # headers arrive as Latin-1, whatever they hold
            address = self._wire.address(urljoin(question.url, spelled).partition("#")[0], [])
            lane = self._lane(archive, urlsplit(address))
        except (ValueError, InvalidInput) as exc:
            raise elsewhere from exc
        if any(sign in address.lower() and sign not in question.url.lower() for sign in (*WALL_SIGNS, *lane.wall_signs)):
            raise self._walled(archive, lane)
        return Question(url=address, form=() if received.status == 303 else question.form, headers=question.headers)

    # ---- an answer ----

    def _judge(self, archive: type[Archive], lane: Lane, received: Received, reading: _Reading, asked: str) -> None:
        """Raise for a challenge page, whatever its status, and for a status that is no answer."""
        if self._is_wall(lane, received, reading, asked):
            raise self._walled(archive, lane)
        if received.status not in reading.statuses:
            raise self._refusal(archive, lane, received)

    def _is_wall(self, lane: Lane, received: Received, reading: _Reading, asked: str) -> bool:
        if received.headers.get("cf-mitigated", "").lower() == "challenge":
            return True
        if not is_html(received.body, received.headers.get("content-type", "")):
            return False
        signs: tuple[str, ...] = (*WALL_SIGNS, *lane.wall_signs)
        if received.status == 403 and 403 not in reading.statuses:
            signs += ("access denied",)
        page = received.body[:SIGNS_IN_BYTES].decode("utf-8", "replace").lower()
        where = received.url.lower() if received.url != asked else ""
        return any(sign in page or sign in where for sign in signs)

    def _walled(self, archive: type[Archive], lane: Lane) -> SourceError:
        left_s = self.gate(lane).block_wall(lane.wall_block_s, lane.wall_block_max_s) if self._shelf is None else 0.0
        return ArchiveUnreachable(f"{archive.name}: blocked by the site's protection; a challenge page came instead of an answer.",
                                  hint="Nothing was learnt about what is held; nothing more is sent there for a while.",
                                  archive=archive.key, retry_after_s=float(round(left_s)) or None)

    def _refusal(self, archive: type[Archive], lane: Lane, received: Received) -> Exception:
        """What a status that is no answer means (DESIGN 8); an _Again where another attempt may help."""
        status, name, key = received.status, archive.name, archive.key
        after_s = _retry_after(received.headers.get("retry-after"), self.clock.time())
        if status == 429 or (status == 503 and after_s is not None):
            return self._limited(archive, lane, status, after_s)
        if status in (404, 410):
            return RecordNotFound(f"{name} holds nothing at the address asked.", archive=key, status=status)
        if status in (400, 414, 422):
            return InvalidInput(f"{name} refused the question (status {status}).", archive=key, status=status,
                                hint="Ask in plainer words, without marks that may be read as syntax.")
        if status in (401, 403, 451):
            return ArchiveUnreachable(f"{name} refused the request (status {status}).", archive=key, status=status,
                                      hint="It may refuse this client or this network; nothing was learnt about what is held.")
        if 200 <= status < 300:
            return UnreadableAnswer(f"{name} answered without an answer (status {status}).", archive=key, status=status)
        error = ArchiveUnreachable(f"{name} could not answer (status {status}).", archive=key, status=status)
        return _Again(error, self.gate(lane)) if status in lane.retry_statuses else error

    def _limited(self, archive: type[Archive], lane: Lane, status: int, after_s: float | None) -> Exception:
        """What a 429, or a 503 that names a time, means: a short wait, or silence that is reported at once."""
        if status == 429 and lane.limit_block_s is not None:
            after_s = max(lane.limit_block_s, after_s or 0.0)
        error = RateLimited(f"{archive.name} asked this client to slow down (status {status}).", archive=archive.key,
                            status=status, retry_after_s=after_s)
        short = after_s is None or after_s <= RETRY_AFTER_LIMIT_S
        if short and status in lane.retry_statuses:
            return _Again(error, self.gate(lane), after_s=after_s)
        if after_s and self._shelf is None:
            self._gates[lane.key].block(after_s)
        return error

    def _read(self, archive: type[Archive], received: Received, reading: _Reading, *, cached: bool) -> Reply:
        """The answer decoded and checked. Raises UnreadableAnswer, or what a check raises."""
        kind, content_type = reading.kind, received.headers.get("content-type", "")

        def reply(value: Any) -> Reply:
            return Reply(value=value, status=received.status, headers=received.headers, url=received.url,
                         retrieved_at=received.retrieved_at, cached=cached)

        as_text = text_of_xml if kind == "xml" else decode_text
        if kind in ("text", "html") or reading.check_text is not None:
            first_look = reply(as_text(received.body, content_type))
            if reading.check_text is not None:
                reading.check_text(first_look)
        try:
            value = self._value(received, kind, content_type)
        except ValueError as exc:
            if received.status == 200 or kind not in ("json", "xml"):
                raise UnreadableAnswer(f"The answer of {archive.name} {exc}.", archive=archive.key, status=received.status) from exc
            value = as_text(received.body, content_type)
        answer = reply(value)
        if reading.check is not None:
            reading.check(answer)
        return answer

    def _value(self, received: Received, kind: str, content_type: str) -> Any:
        """The body as the kind of answer that was due. Raises ValueError with a phrase that says what came instead."""
        if kind != "html" and received.status == 200 and is_html(received.body, "" if kind == "xml" else content_type):
            raise ValueError("is a web page instead of data")
        if kind == "json":
            return decode_json(received.body)
        if kind == "xml":
            return decode_xml(received.body, content_type)
        if not received.body and received.status == 200:
            raise ValueError("is empty")
        return decode_text(received.body, content_type)

    def _note_failure(self, lane: Lane, error: SourceError) -> None:
        self._failures[lane.key] = {"at": _iso(self.clock.time()), "code": error.code, "message": error.message}


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

    def get_json(self, url: str, params: Params = (), *, form: Mapping[str, str] | None = None, statuses: tuple[int, ...] = (200,),
                 check_text: Check | None = None, check: Check | None = None, headers: Mapping[str, str] | None = None,
                 run_on: bool = False) -> Reply:
        reading = _Reading(kind="json", statuses=statuses, check_text=check_text, check=check, run_on=run_on)
        return self._ask(url, params, reading, form=form, headers=headers)

    def get_xml(self, url: str, params: Params = (), *, statuses: tuple[int, ...] = (200,), check_text: Check | None = None,
                check: Check | None = None) -> Reply:
        return self._ask(url, params, _Reading(kind="xml", statuses=statuses, check_text=check_text, check=check))

    def get_text(self, url: str, params: Params = (), *, statuses: tuple[int, ...] = (200,), check: Check | None = None,
                 html: bool = False) -> Reply:
        return self._ask(url, params, _Reading(kind="html" if html else "text", statuses=statuses, check=check))

    def _count(self, requests: int) -> None:
        self.requests_sent += requests

    def _ask(self, url: str, params: Params, reading: _Reading, *, form: Mapping[str, str] | None = None,
             headers: Mapping[str, str] | None = None) -> Reply:
        question = self._transport.question(self._archive, url, params, form, headers)
        reply = self._transport.ask(self._archive, self.call, question, reading, self._count)
        self._questions.append(question)
        self.replies.append(replace(reply, value=None))
        return reply

    def forget(self) -> None:
        """Keep none of the answers used so far: one of them could not be read after all, and asking again must ask the archive."""
        for question in self._questions:
            self._transport.forget(question)

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
        self._lock = threading.Lock()
        self._kept: OrderedDict[Question, tuple[float, Received]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, question: Question) -> Received | None:
        with self._lock:
            kept = self._kept.get(question)
            if kept is None:
                return None
            if self._clock.monotonic() - kept[0] >= self._lifetime_s:
                self._drop(question)
                return None
            self._kept.move_to_end(question)
            return kept[1]

    def put(self, question: Question, received: Received) -> None:
        if self._lifetime_s <= 0 or self._entries_max <= 0 or len(received.body) > CACHE_LIMIT_BYTES:
            return
        with self._lock:
            if question in self._kept:
                self._drop(question)
            self._kept[question] = (self._clock.monotonic(), received)
            self._bytes += len(received.body)
            while len(self._kept) > self._entries_max or self._bytes > CACHE_LIMIT_BYTES:
                self._drop(next(iter(self._kept)))

    def drop(self, question: Question) -> None:
        with self._lock:
            if question in self._kept:
                self._drop(question)

    def _drop(self, question: Question) -> None:
        _, received = self._kept.pop(question)
        self._bytes -= len(received.body)


def _retry_after(value: str | None, wall_now: float) -> float | None:
    """Seconds from a Retry-After header, between 0 and a day; None when there is none or it makes no sense.

    Source: RFC 9110, 10.2.3 (seconds or a date).
    """
    text = (value or "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return min(float(text[:20]), BLOCK_LIMIT_S)
    try:
        moment = parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return None if moment is None else min(max(0.0, moment - wall_now), BLOCK_LIMIT_S)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
