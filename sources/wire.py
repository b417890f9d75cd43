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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from .errors import ArchiveUnreachable, InvalidInput, SourceError, TimedOut, UnreadableAnswer

if TYPE_CHECKING:
    import requests

BODY_LIMIT_BYTES = 32 << 20  # DESIGN 10: the ceiling on a decoded body
REFUSAL_LIMIT_BYTES = 64 << 10  # of a body that only explains a refusal
_PLAIN_ADDRESS = re.compile(r"https?://[a-z0-9.-]+/[\w./~:@,+=-]*(?:\?[\w./~:@,+=&-]+)?", re.ASCII)
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


class Dropped(Exception):
    """The connection broke, or the body stopped half-way: asking again may help. Carries the error to raise if it does not."""

    def __init__(self, error: SourceError) -> None:
        super().__init__(error.message)
        self.error = error


class Exchange:
    """One request under way; `finished` once `answer` (status, headers, body) or `failure` is there."""

    def __init__(self, *, archive: str, name: str, whole: Callable[[int], bool], started: Callable[[], None],
                 over: Callable[[], None]) -> None:
        self.archive = archive
        self.name = name
        self.whole = whole  # whether a status's body is wanted whole
        self.started = started
        self.answer: tuple[int, dict[str, str], bytes] | None = None
        self.failure: Exception | None = None
        self.finished = False
        self.stopped = False
        self._over = over
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

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
        self._over()

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
        if _PLAIN_ADDRESS.fullmatch(url) and "/." not in url:  # nothing in it to mend; `requests` would take a hundred times as long to find that out
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
            with response:
                return response.status_code, _headers(response), _body(exchange, response)
        except OSError as exc:  # every exception of requests is one
            raise _translated(exc, exchange.archive, exchange.name) from exc


def _headers(response: requests.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items() if name.lower() != "set-cookie"}


def _body(exchange: Exchange, response: requests.Response) -> bytes:
    """The decompressed body, whole or not at all; of a refusal, its beginning. A redirect's body is not read."""
    status = response.status_code
    if 300 <= status < 400 and "location" in response.headers:
        return b""
    if "," in response.headers.get("content-encoding", ""):  # nested compression multiplies; nobody needs it
        raise UnreadableAnswer(f"{exchange.name} sent an answer compressed more than once.", archive=exchange.archive,
                               status=status)
    whole = exchange.whole(status)
    chunks, size = [], 0
    for chunk in response.iter_content(CHUNK_BYTES):
        chunks.append(chunk)
        size += len(chunk)
        if size > BODY_LIMIT_BYTES:
            raise UnreadableAnswer(f"{exchange.name} sent an answer of more than {BODY_LIMIT_BYTES >> 20} MiB; "
                                   "it was not read to the end.", archive=exchange.archive, status=status)
        if not whole and size > REFUSAL_LIMIT_BYTES:
            return b"".join(chunks)
    announced = response.headers.get("content-length", "") if status not in (204, 304) else ""  # these two have no body
    if announced.isascii() and announced.isdigit() and response.raw.tell() < int(announced):
        raise Dropped(_half(exchange.archive, exchange.name))
    return b"".join(chunks)


def _half(archive: str, name: str) -> SourceError:
    return ArchiveUnreachable(f"{name} broke off in the middle of its answer.", archive=archive)


def _translated(exc: OSError, archive: str, name: str) -> Exception:
    """An exception of `requests` as one of ours. Nothing of its text is kept: it may hold addresses and a proxy's password."""
    import requests
    from urllib3.exceptions import NewConnectionError

    if isinstance(exc, requests.exceptions.SSLError):
        if "certificate" in str(exc).lower():
            return ArchiveUnreachable(f"The certificate shown in the name of {name} could not be verified.", archive=archive,
                                      hint="Behind a company's own authority, set REQUESTS_CA_BUNDLE to its certificate file.")
        return Dropped(ArchiveUnreachable(f"The secure connection to {name} broke.", archive=archive))
    if isinstance(exc, requests.exceptions.ProxyError):
        return ArchiveUnreachable(f"The proxy did not let the request to {name} through.", archive=archive,
                                  hint="Check HTTPS_PROXY and NO_PROXY; `mcp-books check` shows what is in force.")
    if isinstance(exc, (requests.exceptions.InvalidProxyURL, requests.exceptions.InvalidSchema)):
        return ArchiveUnreachable("The proxy setting cannot be used.", archive=archive,
                                  hint="Check HTTPS_PROXY; a SOCKS proxy is not supported.")
    if isinstance(exc, requests.exceptions.Timeout):
        return TimedOut(f"{name} did not answer in time.", archive=archive)
    if isinstance(exc, requests.exceptions.ContentDecodingError):
        return UnreadableAnswer(f"{name} sent an answer that cannot be decompressed.", archive=archive)
    if isinstance(exc, requests.exceptions.ChunkedEncodingError):
        return Dropped(_half(archive, name))
    if isinstance(exc, requests.exceptions.ConnectionError):
        reason = getattr(exc.args[0], "reason", None) if exc.args else None
        if isinstance(reason, NewConnectionError):  # refused, no such host, no route: asking at once again does not help
            return ArchiveUnreachable(f"{name} could not be reached from here.", archive=archive,
                                      hint="Check the network and the proxy settings; `mcp-books check` shows what answers.")
        return Dropped(ArchiveUnreachable(f"The connection to {name} broke before an answer came.", archive=archive))
    if isinstance(exc, requests.exceptions.RequestException):
        return InvalidInput(f"The question could not be made into a request to {name}.", archive=archive)
    return ArchiveUnreachable("The certificate file named in the settings could not be read.", archive=archive,
                              hint="Check REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE.")


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
        def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any) -> None:
            super().init_poolmanager(connections, maxsize, block, **pool_kwargs)
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, proxy: Any, **proxy_kwargs: Any) -> Any:
            manager = super().proxy_manager_for(proxy, **proxy_kwargs)
            manager.pool_classes_by_scheme = pools
            return manager

    session = requests.Session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.mount("https://", Adapter())
    session.mount("http://", Adapter())
    return session
