"""One request on the wire, by `requests`: bounded in time against any slowness and in memory
against any body.

This is the only module that opens a connection. `requests` is imported when the first one is
opened.
"""
from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ..contract import Archive, Ask, Pairs
from ..errors import ArchiveUnreachable, SourceError, TimedOut, UnreadableAnswer
from ..settings import PROJECT_URL, Settings
from .bodies import NotWhole, decompressed
from .exchange import CURRENT, Exchange, Setback, bare

if TYPE_CHECKING:
    import requests

BODY_LIMIT_BYTES = 32 << 20  # DESIGN 10: the ceiling on a decoded body
REFUSAL_LIMIT_BYTES = 64 << 10  # of a body that only explains a refusal
CHUNK_BYTES = 16 << 10  # read at once
OFTEN = 99  # tries: as often as BOOKS_MAX_RETRIES allows
PICTURE_LIMIT_BYTES = 500_000  # DESIGN 4a: base64 adds a third, and hosts take a megabyte
TOO_LONG = "of more than {}; it was not read to the end."
NO_HTTP = "{} sent something that is no answer in HTTP."
BROKE_OFF = "{} broke off in the middle of its answer."
ACCEPT = {"json": "application/json", "xml": "application/xml, text/xml",
          "text": "text/plain, */*;q=0.5", "html": "text/html, */*;q=0.5",
          "picture": "image/jpeg, image/png"}
LIMITS = {"picture": (PICTURE_LIMIT_BYTES, f"{PICTURE_LIMIT_BYTES:,} bytes"),
          "json": (BODY_LIMIT_BYTES, f"{BODY_LIMIT_BYTES >> 20} MiB")}
NO_SUCH_PROXY = "The proxy setting cannot be used."
PROXIES = "Check HTTPS_PROXY; a SOCKS proxy is not supported."
WHO_ANSWERS = "`mcp-books check` shows what answers."
_PLAIN_ADDRESS = re.compile(r"https?://[a-z0-9.-]+/[\w./~:@,+=-]*(?:\?[\w./~:@,+=&-]+)?", re.ASCII)

# What broke, by the name of the exception, of its reason or of what the system said: the error, its
# sentence and hint, and how often to ask again. The first row that is right counts.
BREAKS: tuple[tuple[str, type[SourceError], str, str | None, int], ...] = (
    ("certificate", ArchiveUnreachable,
     "The certificate shown in the name of {} could not be verified.",
     "Behind a company's own authority, set REQUESTS_CA_BUNDLE to its certificate file.", 0),
    ("SSLError", ArchiveUnreachable, "The secure connection to {} broke.", None, OFTEN),
    ("ProxyError", ArchiveUnreachable, "The proxy did not let the request to {} through.",
     "Check HTTPS_PROXY and NO_PROXY; `mcp-books check` shows what is in force.", 0),
    ("InvalidURL", ArchiveUnreachable, NO_SUCH_PROXY, PROXIES, 0),
    ("InvalidSchema", ArchiveUnreachable, NO_SUCH_PROXY, PROXIES, 0),
    ("ConnectTimeout", TimedOut, "No connection to {} came about in time.",
     "Check the network and the proxy settings: a firewall that drops requests looks like this.",
     0),
    ("Timeout", TimedOut, "{} did not answer in time.", None, 0),
    ("ReadTimeoutError", TimedOut, "{} did not answer in time.", None, 0),
    ("ProtocolError", ArchiveUnreachable, BROKE_OFF, None, OFTEN),
    ("gaierror", ArchiveUnreachable, "The host name of {} could not be looked up.",
     "Check the network, its name server (DNS) and the proxy settings; " + WHO_ANSWERS, 0),
    ("ConnectionRefusedError", ArchiveUnreachable, "The connection to {} was refused.",
     "Check the firewall and the proxy settings; " + WHO_ANSWERS, 0),
    ("NewConnectionError", ArchiveUnreachable, "{} could not be reached from here.",
     "Check the network and the proxy settings; " + WHO_ANSWERS, 0),
    ("ConnectionError", ArchiveUnreachable, "The connection to {} broke before an answer came.",
     None, OFTEN),
    ("RequestException", ArchiveUnreachable, NO_HTTP, None, 0),
    ("HTTPError", ArchiveUnreachable, NO_HTTP, None, 0),
    ("ValueError", ArchiveUnreachable, NO_HTTP, None, 0),
    ("OSError", ArchiveUnreachable, "The certificate file named in the settings could not be read.",
     "Check REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE.", 0))


class Wire:
    """The connections of one transport, kept open between requests; no cookie, no password file, no
    other default of `requests`.

    A gateway (settings.gateway) is where every request goes instead, never through a proxy; else
    proxies and certificate authorities come from the environment as `requests` reads them.
    """

    def __init__(self, settings: Settings, identity: str) -> None:
        self._gateway = settings.gateway
        page = f"(+{PROJECT_URL})" if PROJECT_URL else None
        self._agent = " ".join(filter(None, (settings.user_agent, identity, page)))
        self._lock = threading.Lock()
        self._session: requests.Session | None = None

    def open(self) -> requests.Session:
        """The session, made at the first use: importing `requests` must not eat into a slot."""
        with self._lock:
            if self._session is None:
                from .sockets import new_session

                self._session = new_session()
            return self._session

    def close(self) -> None:
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def run(self, exchange: Exchange) -> None:
        """Carry out an exchange, in the thread that calls; whatever happens ends up in the
        exchange."""
        busy_with = CURRENT.set(exchange)
        try:
            exchange.answer = self._send(exchange)
        except Exception as exc:  # handed to whoever waits, who raises it
            exchange.failure = bare(exc)
        finally:
            CURRENT.reset(busy_with)

    def _send(self, exchange: Exchange) -> tuple[int, Mapping[str, str], bytes]:
        session, request = self.open(), self._prepared(exchange.ask)
        from urllib3.exceptions import HTTPError

        try:
            around: Any = session.merge_environment_settings(exchange.ask.url, {}, True, None, None)
            adapter = session.get_adapter(str(request.url))
            exchange.started()
            response = adapter.send(request, stream=True,
                                    timeout=(exchange.limit_s, exchange.limit_s),
                                    verify=around["verify"], cert=None,
                                    proxies=around["proxies"] if self._gateway is None else {})
            exchange.answering = True
            with response:
                return response.status_code, _headers(response), _body(exchange, response)
        # every exception of requests is an OSError; a ValueError is a length that is no number
        except (OSError, HTTPError, ValueError) as exc:
            setback = _translated(exc, exchange.archive)
        raise setback  # out here it does not hold the frames, and with them the body, of the first

    def _prepared(self, ask: Ask) -> requests.PreparedRequest:
        """The request as it leaves, to the address letter by letter; an adapter cannot change
        who asks."""
        import requests

        headers = {"Accept": ACCEPT[ask.body], **dict(ask.headers), "User-Agent": self._agent,
                   "Accept-Encoding": "gzip, deflate"}
        request = requests.Request(ask.method, ask.url, data=list(ask.form) or None,
                                   headers=headers).prepare()
        request.url = ask.url
        if self._gateway is not None:
            request.url = self._gateway + "/" + ask.url.split("://", 1)[1]
        return request


def address(url: str, params: Pairs = ()) -> str:
    """An address with its parameters, in order, percent-encoded as `requests` does. Raises
    ValueError."""
    # `requests` takes a hundred times as long to find nothing to mend
    if _PLAIN_ADDRESS.fullmatch(url) and "/." not in url:
        query = urlencode(params)
        return url + ("&" if "?" in url else "?") + query if query else url
    import requests

    try:
        return str(requests.Request("GET", url, params=list(params)).prepare().url)
    except (requests.RequestException, UnicodeError) as exc:
        raise ValueError("the words cannot be written in an address") from exc


def _headers(response: requests.Response) -> Mapping[str, str]:
    return {name.lower(): value for name,
            value in response.headers.items() if name.lower() != "set-cookie"}


def _body(exchange: Exchange, response: requests.Response) -> bytes:
    """The decompressed body, whole or not at all; of a refusal, its beginning. A redirect's body
    is not read."""
    archive, status = exchange.archive, response.status_code
    if 300 <= status < 400 and "location" in response.headers:
        return b""
    wanted = status in exchange.ask.statuses
    limit, told = LIMITS.get(exchange.ask.body, LIMITS["json"])
    limit = limit if wanted else REFUSAL_LIMIT_BYTES
    chunks = response.raw.stream(CHUNK_BYTES, decode_content=False)
    body = bytearray()  # a list would cost forty times a chunk of one byte
    why, reason = "", "cut_short"
    try:
        for piece in decompressed(chunks, response.headers.get("content-encoding", "")):
            body += piece
            if len(body) > limit:
                why, reason = TOO_LONG.format(told), "answer_too_large"
                break
    except NotWhole as exc:
        why = f"{exc}."
    if wanted and why:
        raise Setback(UnreadableAnswer(f"{archive.name} sent an answer {why}", archive=archive.key,
                                       status=status, reason=reason))
    if not why and _broke_off(response):
        raise Setback(ArchiveUnreachable(BROKE_OFF.format(archive.name), archive=archive.key,
                                         reason="broke_off"),
                      tries=OFTEN)
    return bytes(body)


def _broke_off(response: requests.Response) -> bool:
    # a body in chunks says itself where it ends, whatever length is announced beside (RFC 9112,
    # 6.3)
    chunked = "transfer-encoding" in response.headers
    announced = "" if chunked else response.headers.get("content-length", "")
    has_body = response.status_code not in (204,
                                            304) and announced.isascii() and announced.isdigit()
    return has_body and bool(response.raw.tell() < int(announced))


def _translated(exc: Exception, archive: type[Archive]) -> Setback:
    """An exception of `requests` as one of ours. Nothing of its text is kept: it may hold
    addresses and a proxy's password."""
    # NewConnectionError: refused, no such host, no route
    reason = getattr(exc.args[0], "reason", None) if exc.args else None
    # what the system said; urllib3 1 keeps it as the context
    cause = reason and (reason.__cause__ or reason.__context__)
    signs = {kind.__name__ for seen in (exc, reason, cause) for kind in type(seen).__mro__}
    if "SSLError" in signs and "certificate" in str(exc).lower():
        signs.add("certificate")
    _, error, message, hint, tries = next(row for row in BREAKS if row[0] in signs)
    return Setback(error(message.format(archive.name), archive=archive.key, hint=hint,
                         reason="certificate" if "certificate" in signs else None), tries=tries)
