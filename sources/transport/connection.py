"""One request on the wire, by `requests`: bounded in time against any slowness and in memory against any body.

An exchange runs in a thread of its own. Whoever waits for it may stop it from outside at any moment: its socket is shut
down, so that no drip of bytes, in the body, the headers or the TLS handshake, holds on to anything. This is the only module
that opens a connection. `requests` is imported when the first one is opened.
"""
from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ..contract import Archive
from ..errors import ArchiveUnreachable, SourceError, TimedOut, UnreadableAnswer

if TYPE_CHECKING:
    import requests

BODY_LIMIT_BYTES = 32 << 20  # DESIGN 10: the ceiling on a decoded body
REFUSAL_LIMIT_BYTES = 64 << 10  # of a body that only explains a refusal
_PLAIN_ADDRESS = re.compile(r"https?://[a-z0-9.-]+/[\w./~:@,+=-]*(?:\?[\w./~:@,+=&-]+)?", re.ASCII)
OFTEN = 99  # tries: as often as BOOKS_MAX_RETRIES allows
BROKE_OFF = "{} broke off in the middle of its answer."
CHUNK_BYTES = 16 << 10  # read at once; small, since each may decode to a thousand times as much


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, whoever asks: `url` is the archive's own address with its query, percent-encoded; `form` makes it a POST."""

    url: str
    form: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def method(self) -> str:
        return "POST" if self.form else "GET"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An answer as it came: decompressed, not decoded. `url` is the archive's own address, after redirects."""

    status: int
    headers: Mapping[str, str]
    url: str
    body: bytes
    retrieved_at: str


class Setback(Exception):
    """An attempt that came to nothing: `error` is what a caller is told of it.

    Asking again makes sense at most `tries` times, after `pause_s` when the archive named a time. Until then nobody else is to
    ask either: for `silence_s`, or, after a challenge (`wall`), for as long as the lane keeps away from walls.
    """

    def __init__(self, error: SourceError, *, tries: int = 0, pause_s: float | None = None, silence_s: float = 0.0,
                 wall: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.tries = tries
        self.pause_s = pause_s
        self.silence_s = silence_s
        self.wall = wall


@dataclass(eq=False, slots=True, kw_only=True)
class Exchange:
    """One request under way; `finished` once `answer` (status, headers, body) or `failure` is there.

    The bodies of `statuses` are wanted whole. `started` is called when bytes begin to leave, `over` at the end, whatever it was.
    """

    archive: type[Archive]
    statuses: tuple[int, ...]
    started: Callable[[], None]
    over: Callable[[], None]
    answer: tuple[int, dict[str, str], bytes] | None = None
    failure: Exception | None = None
    answering: bool = False  # the head of the answer has come
    finished: bool = False
    stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _socket: socket.socket | None = None

    def hold(self, handle: socket.socket) -> None:
        """Note the connection in use, by a copy of its socket, so that `stop` reaches it under any TLS."""
        with self._lock:
            self._release()
            if self.stopped or self.finished:
                raise ConnectionAbortedError("nobody waits for this answer any more")
            self._socket = handle.dup()

    def stop(self) -> None:
        """Give up, from any thread: what blocks in a read of this connection wakes with an error or an end."""
        with self._lock:
            self.stopped = True
            if self._socket is not None:
                with suppress(OSError):  # already closed from the other side
                    self._socket.shutdown(socket.SHUT_RDWR)
            self._release()

    def finish(self) -> None:
        with self._lock:
            self.finished = True
            self._release()
        self.over()

    def _release(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class Wire:
    """The connections of one transport, kept open between requests; no cookie, no password file, no other default of `requests`.

    `gateway` is where every request goes instead, never through a proxy (settings.gateway); else proxies and certificate
    authorities come from the environment as `requests` reads them.
    """

    def __init__(self, gateway: str | None) -> None:
        self._gateway = gateway
        self._current = threading.local()  # the exchange that a thread is busy with
        self._lock = threading.Lock()
        self._session: requests.Session | None = None

    def open(self) -> requests.Session:
        """The session, made at the first use: importing `requests` takes a tenth of a second and must not eat into a slot."""
        with self._lock:
            if self._session is None:
                self._session = _session(self._current)
            return self._session

    def close(self) -> None:
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def address(self, url: str, params: Any) -> str:
        """The archive's own address with its parameters, in order, percent-encoded as `requests` does. Raises ValueError."""
        if _PLAIN_ADDRESS.fullmatch(url) and "/." not in url:  # `requests` takes a hundred times as long to find nothing to mend
            query = urlencode(params)
            return url + ("&" if "?" in url else "?") + query if query else url
        import requests

        try:
            return str(requests.Request("GET", url, params=params).prepare().url)
        except (requests.RequestException, UnicodeError) as exc:
            raise ValueError("the words cannot be written in an address") from exc

    def run(self, exchange: Exchange, question: Question, headers: Mapping[str, str], limit_s: float) -> None:
        """Carry out an exchange, in the thread that calls; whatever happens ends up in the exchange."""
        self._current.exchange = exchange
        try:
            exchange.answer = self._send(exchange, question, headers, limit_s)
        except Exception as exc:  # handed to whoever waits, who raises it
            exchange.failure = exc
        finally:
            self._current.exchange = None
            exchange.finish()

    def _send(self, exchange: Exchange, question: Question, headers: Mapping[str, str],
              limit_s: float) -> tuple[int, dict[str, str], bytes]:
        import requests

        session = self.open()
        request = requests.Request(question.method, question.url, data=list(question.form) or None,
                                   headers=dict(headers)).prepare()
        request.url = question.url
        try:
            around: Any = session.merge_environment_settings(question.url, {}, True, None, None)
            if self._gateway is not None:
                request.url = self._gateway + "/" + question.url.split("://", 1)[1]
            adapter = session.get_adapter(str(request.url))
            exchange.started()
            response = adapter.send(request, stream=True, timeout=(limit_s, limit_s), verify=around["verify"], cert=None,
                                    proxies=around["proxies"] if self._gateway is None else {})
            exchange.answering = True
            with response:
                return response.status_code, _headers(response), _body(exchange, response)
        except OSError as exc:  # every exception of requests is one
            raise _translated(exc, exchange.archive) from exc


def _headers(response: requests.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items() if name.lower() != "set-cookie"}


def _body(exchange: Exchange, response: requests.Response) -> bytes:
    """The decompressed body, whole or not at all; of a refusal, its beginning. A redirect's body is not read."""
    archive, status = exchange.archive, response.status_code
    if 300 <= status < 400 and "location" in response.headers:
        return b""
    if "," in response.headers.get("content-encoding", ""):  # nested compression multiplies; nobody needs it
        raise Setback(UnreadableAnswer(f"{archive.name} sent an answer compressed more than once.", archive=archive.key,
                                       status=status))
    chunks, size = [], 0
    for chunk in response.iter_content(CHUNK_BYTES):
        chunks.append(chunk)
        size += len(chunk)
        if size > BODY_LIMIT_BYTES:
            raise Setback(UnreadableAnswer(f"{archive.name} sent an answer of more than {BODY_LIMIT_BYTES >> 20} MiB; "
                                           "it was not read to the end.", archive=archive.key, status=status))
        if size > REFUSAL_LIMIT_BYTES and status not in exchange.statuses:
            return b"".join(chunks)
    announced = response.headers.get("content-length", "") if status not in (204, 304) else ""  # these two have no body
    if announced.isascii() and announced.isdigit() and response.raw.tell() < int(announced):
        raise Setback(ArchiveUnreachable(BROKE_OFF.format(archive.name), archive=archive.key), tries=OFTEN)
    return b"".join(chunks)


def _translated(exc: OSError, archive: type[Archive]) -> Setback:
    """An exception of `requests` as one of ours. Nothing of its text is kept: it may hold addresses and a proxy's password."""
    from requests import exceptions as seen
    from urllib3.exceptions import NewConnectionError

    certificate = isinstance(exc, seen.SSLError) and "certificate" in str(exc).lower()
    reason = getattr(exc.args[0], "reason", None) if exc.args else None  # NewConnectionError: refused, no such host, no route
    cause = reason and (reason.__cause__ or reason.__context__)  # what the system said; urllib3 1 keeps it as the context
    # Whether it is this one, the error, its sentence and hint, and how often to ask again; the first row that is right counts.
    rows: tuple[tuple[bool, type[SourceError], str, str | None, int], ...] = (
        (certificate, ArchiveUnreachable, "The certificate shown in the name of {} could not be verified.",
         "Behind a company's own authority, set REQUESTS_CA_BUNDLE to its certificate file.", 0),
        (isinstance(exc, seen.SSLError), ArchiveUnreachable, "The secure connection to {} broke.", None, OFTEN),
        (isinstance(exc, seen.ProxyError), ArchiveUnreachable, "The proxy did not let the request to {} through.",
         "Check HTTPS_PROXY and NO_PROXY; `mcp-books check` shows what is in force.", 0),
        (isinstance(exc, (seen.InvalidURL, seen.InvalidSchema)), ArchiveUnreachable, "The proxy setting cannot be used.",
         "Check HTTPS_PROXY; a SOCKS proxy is not supported.", 0),
        (isinstance(exc, seen.ConnectTimeout), TimedOut, "No connection to {} came about in time.",
         "Check the network and the proxy settings: a firewall that drops requests looks like this.", 0),
        (isinstance(exc, seen.Timeout), TimedOut, "{} did not answer in time.", None, 0),
        (isinstance(exc, seen.ContentDecodingError), UnreadableAnswer, "{} sent an answer that cannot be decompressed.", None, 0),
        (isinstance(exc, seen.ChunkedEncodingError), ArchiveUnreachable, BROKE_OFF, None, OFTEN),
        (isinstance(cause, socket.gaierror), ArchiveUnreachable, "The host name of {} could not be looked up.",
         "Check the network, its name server (DNS) and the proxy settings; `mcp-books check` shows what answers.", 0),
        (isinstance(cause, ConnectionRefusedError), ArchiveUnreachable, "The connection to {} was refused.",
         "Check the firewall and the proxy settings; `mcp-books check` shows what answers.", 0),
        (isinstance(reason, NewConnectionError), ArchiveUnreachable, "{} could not be reached from here.",
         "Check the network and the proxy settings; `mcp-books check` shows what answers.", 0),
        (isinstance(exc, seen.ConnectionError), ArchiveUnreachable, "The connection to {} broke before an answer came.",
         None, OFTEN),
        (isinstance(exc, seen.RequestException), ArchiveUnreachable, "{} sent something that is no answer in HTTP.", None, 0),
        (True, ArchiveUnreachable, "The certificate file named in the settings could not be read.",
         "Check REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE.", 0))
    _, kind, message, hint, tries = next(row for row in rows if row[0])
    return Setback(kind(message.format(archive.name), archive=archive.key, hint=hint), tries=tries)


def _session(current: threading.local) -> requests.Session:
    """A session whose connections tell the exchange in charge of them which socket they use and when they begin to send."""
    from http.cookiejar import DefaultCookiePolicy

    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    class Tracked(HTTPConnection):
        handle: socket.socket | None = None  # a copy of the plain socket: TLS takes the original over

        def _new_conn(self) -> socket.socket:
            made = super()._new_conn()
            self.handle = made.dup()
            self.track()
            return made

        def putrequest(self, method: str, url: str, skip_host: bool = False, skip_accept_encoding: bool = False) -> None:
            self.track()
            super().putrequest(method, url, skip_host, skip_accept_encoding)

        def track(self) -> None:
            exchange: Exchange | None = getattr(current, "exchange", None)
            if exchange is not None and self.handle is not None:
                exchange.hold(self.handle)
                exchange.started()

        def close(self) -> None:
            if self.handle is not None:
                self.handle.close()
                self.handle = None
            super().close()

    class TrackedTls(Tracked, HTTPSConnection):
        pass

    class Pool(HTTPConnectionPool):
        ConnectionCls = Tracked

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = TrackedTls

    pools: dict[str, Any] = {"http": Pool, "https": TlsPool}

    class Adapter(HTTPAdapter):
        def proxy_manager_for(self, proxy: Any, **proxy_kwargs: Any) -> Any:
            manager = super().proxy_manager_for(proxy, **proxy_kwargs)
            manager.pool_classes_by_scheme = pools
            return manager

    adapter = Adapter()
    adapter.poolmanager.pool_classes_by_scheme = pools
    session = requests.Session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session
