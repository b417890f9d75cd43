"""The HTTP side of a server that several people share: who may knock, and how much is let in.

A WSGI callable, so that any server people already run can carry it. What the messages mean is not
known here: a body that is let in goes to `answer`, and what it gives goes out. Whoever opens the
door to more than one machine puts an access control of their own before it.

Source: RFC 9110; the Model Context Protocol's pages on Streamable HTTP, 2025-03-26 to 2026-07-28.
"""
from __future__ import annotations

import base64
import binascii
import re
from http import HTTPStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from .settings import Settings

    Header = Callable[[str], str | None]  # a header's value by its name, as it came

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Door:
    """Lets POSTs of one body in, from the hosts and origins of the settings, else from this machine
    alone: a page that a browser of this machine has open is nobody to answer.

    `answer` takes the body and a look at the headers, and gives a status and a body of JSON, or
    none.
    """

    def __init__(self, settings: Settings, answer: Callable[[bytes, Header], tuple[int, bytes]], *,
                 limit_bytes: int) -> None:
        self._hosts = settings.http_hosts or LOOPBACK
        self._origins = settings.http_origins
        self._answer = answer
        self._limit_bytes = limit_bytes

    def __call__(self, environ: Mapping[str, Any],
                 start_response: Callable[[str, list[tuple[str, str]]], Any]) -> list[bytes]:
        refusal = self._refusal(environ)
        if refusal is None:
            kind = "application/json"
            content = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            code, body = self._answer(content, lambda name: environ.get(_key(name)))
        else:
            kind = "text/plain; charset=utf-8"
            code, said = refusal
            body = f"{said}\n".encode()
        headers = [("Content-Type", kind), ("Content-Length", str(len(body)))]
        headers.append(("Cache-Control", "no-store"))
        headers += [("Allow", "POST")] if code == HTTPStatus.METHOD_NOT_ALLOWED else []
        start_response(f"{code} {HTTPStatus(code).phrase}", headers)
        return [body]

    def _refusal(self, environ: Mapping[str, Any]) -> tuple[int, str] | None:
        """Why this request is not let in; None where it is."""
        length = environ.get("CONTENT_LENGTH") or ""
        size = int(length) if re.fullmatch("[0-9]{1,10}", length) else None
        checks = (
            (_among(environ.get("HTTP_HOST", ""), self._hosts), HTTPStatus.MISDIRECTED_REQUEST,
             "This host name is not served here; BOOKS_HTTP_HOSTS lists those that are."),
            (self._welcome(environ.get("HTTP_ORIGIN")), HTTPStatus.FORBIDDEN,
             "Pages of this origin are not answered; BOOKS_HTTP_ORIGINS lists those that are."),
            (environ["REQUEST_METHOD"] == "POST", HTTPStatus.METHOD_NOT_ALLOWED,
             "Messages are posted."),
            (_is_json(environ.get("CONTENT_TYPE", "")), HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
             "A message is sent as application/json."),
            (size is not None, HTTPStatus.LENGTH_REQUIRED,
             "A message says its length."),
            ((size or 0) <= self._limit_bytes, HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
             f"A message is at most {self._limit_bytes} bytes."),
        )
        return next(((code, said) for holds, code, said in checks if not holds), None)

    def _welcome(self, origin: str | None) -> bool:
        """Whoever is no browser names no origin."""
        if origin is None or origin.lower() in (listed.lower() for listed in self._origins):
            return True
        scheme, _, host = origin.partition("://")
        return not self._origins and scheme in ("http", "https") and _among(host, LOOPBACK)


def _among(host: str, listed: Collection[str]) -> bool:
    """A name that is listed without a port is served at any."""
    name, colon, port = host.rpartition(":")
    alone = name if colon and port.isdigit() else host
    return bool({host.lower(), alone.lower()} & {one.lower() for one in listed})


def _is_json(kind: str) -> bool:
    """A page of a foreign origin may post any other kind without asking."""
    return kind.partition(";")[0].strip().lower() == "application/json"


def _key(name: str) -> str:
    return "HTTP_" + name.upper().replace("-", "_")


def plain(value: str | None) -> str | None:
    """A header's value with its Base64 form undone; None for one that cannot be read."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
