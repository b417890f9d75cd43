"""The connections of `requests`, made to tell the exchange in charge of them which socket they use.

Importing this module loads `requests`, a tenth of a second: connection.py does it when the first
connection is due.
"""
from __future__ import annotations

import socket
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from .exchange import CURRENT


class _Tracked(HTTPConnection):
    """A connection that its exchange knows from the first byte, and again each time it is used."""

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
    """Tracked connections, through a proxy too."""

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
