"""The connections of `requests`, made to tell the exchange in charge of them which socket they use,
and to be used again only after one clean final answer.

Importing this module loads `requests`, a tenth of a second: connection.py does it when the first
connection is due.
"""
from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from http.client import HTTPException, HTTPMessage, HTTPResponse, parse_headers
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from .exchange import CURRENT

INTERIM_MAX = 20  # answers before the final one; more are no way to answer


class _Answer(HTTPResponse):
    """An answer that reads past interim ones (100 to 199), and leaves its connection open only when
    nothing can stand behind it: what came too many would be read as the answer to the next
    question.

    Source: RFC 9110, 15.2 (any number of interim answers), RFC 9112, 6.3 (which answers have no
    body; of two lengths neither is to be trusted).
    """

    headers: HTTPMessage | None  # type: ignore[assignment]  # None before its head was read

    def __init__(self, sock: socket.socket, *more: Any, **named: Any) -> None:
        super().__init__(sock, *more, **named)
        self._plug = sock

    def _read_status(self) -> tuple[str, int, str]:
        read: Any = super()
        for _ in range(INTERIM_MAX):
            line: tuple[str, int, str] = read._read_status()
            if line[1] >= 200:
                return line
            parse_headers(self.fp)
        raise HTTPException("interim answers without end")

    def _safe_read(self, amt: int) -> bytes:
        if amt < 0:  # a chunk's size; it would be read without end
            raise HTTPException("a chunk of less than nothing")
        read: Any = super()
        whole: bytes = read._safe_read(amt)
        return whole

    def _close_conn(self) -> None:
        if not self._is_clean():
            with suppress(OSError):  # the pool finds it closed, and opens another
                self._plug.shutdown(socket.SHUT_RDWR)
        end: Any = super()
        end._close_conn()

    def _is_clean(self) -> bool:
        if self.headers is None:
            return False
        lengths = self.headers.get_all("content-length", ["0"])
        framed = len(lengths) == 1 and lengths[0].isdigit() and lengths[0].isascii()
        both = "content-length" in self.headers and "transfer-encoding" in self.headers
        return self.status not in (204, 304) and framed and not both and not self._has_more()

    def _has_more(self) -> bool:
        """Whether bytes have come that nobody has read."""
        patience = self._plug.gettimeout()
        try:
            self._plug.settimeout(0)
            return bool(self.fp.peek(1))
        except (OSError, ValueError):  # nothing to read under TLS; a connection that is closed
            return False
        finally:
            with suppress(OSError):
                self._plug.settimeout(patience)


class _Tracked(HTTPConnection):
    """A connection that its exchange knows from the first byte, and again each time it is used."""

    response_class = _Answer
    handle: socket.socket | None = None  # a copy of the plain socket: TLS takes the original over

    def _new_conn(self) -> socket.socket:
        made = super()._new_conn()
        self.handle = made.dup()
        self.track()
        return made

    def putrequest(self, method: str, url: str, skip_host: bool = False,
                   skip_accept_encoding: bool = False) -> None:
        self.track()
        super().putrequest(method, url, skip_host, skip_accept_encoding)

    def track(self) -> None:
        exchange = CURRENT.get()
        if exchange is not None and self.handle is not None:
            exchange.hold(self.handle)
            exchange.started()

    def close(self) -> None:
        if self.handle is not None:
            self.handle.close()
            self.handle = None
        super().close()


class _TrackedTls(_Tracked, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Tracked


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TrackedTls


POOLS: dict[str, Any] = {"http": _Pool, "https": _TlsPool}


class _Adapter(HTTPAdapter):
    """Tracked connections, through a proxy too; where no certificate file is named, the system's
    own store is trusted beside the list that `requests` brings."""

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        usual: Any = super()
        usual.cert_verify(conn, url, verify, cert)
        if verify is True and conn.scheme == "https" and "ssl_context" not in conn.conn_kw:
            conn.conn_kw["ssl_context"] = ssl.create_default_context()

    def proxy_manager_for(self, proxy: Any, **proxy_kwargs: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **proxy_kwargs)
        manager.pool_classes_by_scheme = POOLS
        return manager


def new_session() -> requests.Session:
    """A session that keeps no cookie."""
    session = requests.Session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    adapter = _Adapter()
    adapter.poolmanager.pool_classes_by_scheme = POOLS
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session
