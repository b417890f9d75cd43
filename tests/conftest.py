"""Fixtures for all tests: a fake clock, a loader of answers, adapters bound to a real transport, a stand-in server."""
from __future__ import annotations

import functools
import gzip
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from sources.contract import Archive
from sources.settings import Settings
from sources.transport.call import Call, Clock
from sources.transport.flights import Transport

ANSWERS = Path(__file__).parent / "answers"


class FakeClock(Clock):
    """A clock that stands still; only a pause moves it on, at once, and `slept` lists how far, in seconds."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = 1000.0
        self._epoch = 1_796_036_400.0  # 2026-11-30T11:00:00Z when the clock starts

    def monotonic(self) -> float:
        return self._now

    def time(self) -> float:
        return self._epoch + self._now - 1000.0

    def advance(self, seconds: float) -> None:
        self._now += seconds

    def set_wall(self, seconds: float) -> None:
        """Move the wall clock alone, as an operator or a time server does."""
        self._epoch += seconds

    def pause(self, changed: threading.Condition, until: float) -> None:
        if until > self._now:
            self.slept.append(round(until - self._now, 6))
            self._now = until
            changed.notify_all()

    def wait(self, changed: threading.Condition, until: float) -> None:
        if self._now < until:
            changed.wait(0.02)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, certificate file or setting of the machine reaches a test."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "BOOKS_GATEWAY",
                 "BOOKS_STATE_DIR", "BOOKS_REPLAY_DIR", "BOOKS_RECORD_DIR", "BOOKS_SOURCES", "BOOKS_TOOLS", "BOOKS_USER_AGENT"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def answer() -> Callable[[str], str]:
    """The text of one file under tests/answers, by its path there."""
    return lambda path: (ANSWERS / path).read_text(encoding="utf-8")


@pytest.fixture
def make_transport(clock: FakeClock) -> Iterator[Callable[..., Transport]]:
    """Build a transport for some archives, closed at the end; `clock` and `pacing_clock` as given, else the fake one, the rest settings."""
    made: list[Transport] = []

    def make(*archives: type[Archive], clock: Clock | None = clock, pacing_clock: Clock | None = None, identity: str = "mcp-books/0.0",
             **changes: object) -> Transport:
        settings = Settings(**changes)  # type: ignore[arg-type]
        made.append(Transport(settings, archives, clock=clock, pacing_clock=pacing_clock, identity=identity))
        return made[-1]

    yield make
    for transport in made:
        transport.close()


@pytest.fixture
def make_archive(clock: FakeClock, make_transport: Callable[..., Transport]) -> Callable[..., Archive]:
    """Build an adapter for one call of 50 s on the fake clock; further arguments are settings."""

    def make(archive: type[Archive], **changes: object) -> Archive:
        return archive(make_transport(archive, **changes).for_call(Call(50.0, clock=clock), archive.key))

    return make


@functools.cache
def gzip_bomb() -> bytes:
    """64 MiB of blanks, twice the ceiling of a body, as 64 KiB of gzip."""
    return gzip.compress(b" " * (64 << 20), 9)


# ---- a server to be asked through BOOKS_GATEWAY ---------------------------------------------------------------------

@dataclass(kw_only=True)
class Route:
    """What the stand-in answers at "HOST/PATH" (a regular expression); `fault` is what goes wrong instead, see StandIn.FAULTS.

    `asks` maps parameters, of the address or of a form, to regular expressions of which a part of the value must match.
    """

    at: str
    asks: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    fault: str | None = None
    late: bytes = b""  # what follows a raw answer a moment later, unasked
    delay_s: float = 0.0
    times: int = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request as the stand-in saw it; `at_s` is monotonic, `query` and `form` are in the order they came."""

    at_s: float
    method: str
    place: str
    raw_path: str
    query: tuple[tuple[str, str], ...]
    form: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    port: int  # of the client: the same as long as a connection is used again


class StandIn(ThreadingHTTPServer):
    """A loopback server that plays every archive, and goes wrong on request. Routes are tried in order; none: 404 with a page."""

    FAULTS = ("reset", "half", "drip", "drip-headers", "endless", "gzip-bomb", "silent", "close", "raw")
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _StandInHandler)
        self.routes: list[Route] = []
        self.seen: list[Seen] = []
        self.lock = threading.Lock()
        self.over = threading.Event()  # set at the end of the test: nothing stays silent or drips on

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, at: str, **what: object) -> None:
        self.routes.append(Route(at=at, **what))  # type: ignore[arg-type]

    def starts(self, at: str = ".*") -> list[float]:
        """When the requests to some place came, in seconds."""
        return [seen.at_s for seen in self.seen if re.fullmatch(at, seen.place)]

    def route(self, seen: Seen) -> Route:
        place, given = seen.place, {**dict(seen.query), **dict(seen.form)}
        with self.lock:
            for route in self.routes:
                asked = all(re.search(value, given.get(name, "")) for name, value in route.asks.items())
                if route.times > 0 and asked and re.fullmatch(route.at, place):
                    route.times -= 1
                    return route
        return Route(at=place, status=404, body=b"<!DOCTYPE html><title>Not Found</title>", headers={"Content-Type": "text/html"})

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that goes away is what several tests are about


class _StandInHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
    server: StandIn

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        place = parts.path.lstrip("/")
        seen = Seen(at_s=time.monotonic(), method=self.command, place=place, raw_path=self.path,
                    query=tuple(parse_qsl(parts.query, keep_blank_values=True)), form=tuple(parse_qsl(body, keep_blank_values=True)),
                    headers={name.lower(): value for name, value in self.headers.items()}, port=self.client_address[1])
        with self.server.lock:
            self.server.seen.append(seen)
        route = self.server.route(seen)
        self.server.over.wait(route.delay_s)
        with suppress(OSError):
            if route.fault is None:
                self.head(route, {"Content-Length": str(len(route.body))})
                self.wfile.write(route.body)
            else:
                self.close_connection = True
                self.go_wrong(route)

    do_POST = do_GET

    def head(self, route: Route, more: Mapping[str, str]) -> None:
        self.send_response(route.status)
        for name, value in {**route.headers, **more}.items():
            self.send_header(name, value)
        self.end_headers()

    def go_wrong(self, route: Route) -> None:
        if route.fault == "raw":  # the body is all that goes out, head and all
            self.close_connection = b"Connection: close" in route.body
            self.wfile.write(route.body)
            if route.late:
                self.server.over.wait(0.01)
                self.wfile.write(route.late)
        elif route.fault == "silent":
            self.server.over.wait(60)
        elif route.fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif route.fault == "half":
            self.head(route, {"Content-Length": str(len(route.body))})
            self.wfile.write(route.body[: len(route.body) // 2])
        elif route.fault == "drip":
            self.head(route, {"Content-Length": "1000000"})
            self.drip(b" ")
        elif route.fault == "drip-headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            self.drip(b"x")
        elif route.fault == "endless":
            self.head(route, {})
            while not self.server.over.is_set():
                self.wfile.write(b" " * (1 << 20))
        elif route.fault == "gzip-bomb":
            bomb = gzip_bomb()
            self.head(route, {"Content-Encoding": "gzip", "Content-Length": str(len(bomb))})
            self.wfile.write(bomb)

    def drip(self, drop: bytes) -> None:
        while not self.server.over.wait(0.02):
            self.wfile.write(drop)
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    """A stand-in for every archive; its `address` is a gateway's."""
    server = StandIn()
    thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()
    thread.join()
