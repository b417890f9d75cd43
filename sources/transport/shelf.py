"""Answers kept as files, and answered from files: BOOKS_RECORD_DIR, BOOKS_REPLAY_DIR, and the
sample shelf.

One file holds one answer: a JSON object (what was asked, status, the headers that matter, when), a
blank line, and the body, as it came when it is UTF-8 and in base64 otherwise. Any editor shows it;
a file may be written by hand under any name in SUFFIX.
"""
from __future__ import annotations

import base64
import errno
import functools
import hashlib
import json
import logging
import os
import re
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..contract import Ask, Pairs
from .exchange import Received
from .ledger import NO_DETOUR, NO_WAIT

SUFFIX = ".answer"
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
SHELF_LIMIT_FILES = 5000
SHELF_LIMIT_BYTES = 512 << 20
FILE_LIMIT_BYTES = 48 << 20  # the largest body, in base64, and its head
HEAD_LIMIT_BYTES = 64 << 10
SECRET_HEADERS = ("authorization", "cookie", "proxy-authorization")
# none of them can hold a secret
KEPT_HEADERS = ("content-type", "cache-control", "retry-after", "last-modified", "cf-mitigated")
# what a file that is no answer may raise
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
_log = logging.getLogger("books")


class Recorder:
    """Keeps every answer received in a folder, the latest to each question; a failure only where
    there is nothing yet. Several processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._warned = False

    def keep(self, ask: Ask, received: Received, *, good: bool = True) -> None:
        """Write one answer, whole or not at all. A folder that is full or cannot be written to
        is said once, then left alone."""
        path = self._folder / file_name(ask)
        if not good and os.path.lexists(path):
            return
        text = _file_text(ask, received)
        beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        with self._lock:
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not self._has_room(len(text)):
                    raise OSError(errno.ENOSPC, f"the folder holds its {SHELF_LIMIT_FILES} files "
                                                f"or {SHELF_LIMIT_BYTES:,} bytes")
                _write_new(beside, text)
                os.replace(beside, path)  # takes a link's place, and not that of what it names
            except OSError as exc:
                if not self._warned:
                    _log.error("BOOKS_RECORD_DIR: answers are no longer kept: %s.",
                               exc.strerror or type(exc).__name__)
                self._warned = True
                with suppress(OSError):
                    beside.unlink()

    def _has_room(self, more_bytes: int) -> bool:
        sizes = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another process has just put it in its place
                    sizes.append(entry.stat().st_size)
        return len(sizes) < SHELF_LIMIT_FILES and sum(sizes) + more_bytes <= SHELF_LIMIT_BYTES


class Shelf:
    """Answers from a folder alone. The folder is read at the first question; files that are no
    answers are passed over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, ask: Ask) -> Received | None:
        """The answer kept to this question, with its own date; None when there is none. Raises
        one of UNREADABLE."""
        path = self._paths.get(_fingerprint(ask))
        return _received(_read_regular(path)) if path is not None else None

    @functools.cached_property
    def _paths(self) -> dict[str, Path]:
        found = {}
        for path in sorted(self._folder.glob("*" + SUFFIX))[:SHELF_LIMIT_FILES]:
            try:
                head, _ = _parts(_read_regular(path, HEAD_LIMIT_BYTES))
                found[_fingerprint(_ask(head))] = path
            except UNREADABLE:
                _log.info("on the shelf, %s is no answer that can be read", path.name)
        return found


def _write_new(path: Path, text: bytes) -> None:
    """Write a file that is not there yet, for its owner alone. A link of its name is not followed.
    Raises OSError."""
    with suppress(FileNotFoundError):
        path.unlink()  # left by a process of the same number that was stopped
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_DETOUR, 0o600)
    with open(handle, "wb") as file:
        file.write(text)


def _read_regular(path: Path, most_bytes: int = FILE_LIMIT_BYTES) -> bytes:
    """The first bytes of a file; a pipe or a device, which could keep the reader waiting, is none.
    Raises OSError."""
    handle = os.open(path, os.O_RDONLY | NO_WAIT)
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > FILE_LIMIT_BYTES:
            raise OSError(errno.EINVAL, "no regular file of a bearable size")
        return file.read(most_bytes)


def file_name(ask: Ask) -> str:
    """A readable stem from the address, and enough of a hash of the whole question to tell it
    from any other."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", ask.url.split("://", 1)[-1]).strip("-")[:60]
    return f"{stem}-{_fingerprint(ask)[:16]}{SUFFIX}"


def _fingerprint(ask: Ask) -> str:
    asked = json.dumps([ask.method, ask.url, ask.form, sorted(_tellable(ask))])
    return hashlib.sha256(asked.encode()).hexdigest()


def _tellable(ask: Ask) -> Pairs:
    """The headers asked with, without those that may let somebody in."""
    return tuple(pair for pair in ask.headers if pair[0].lower() not in SECRET_HEADERS)


def _file_text(ask: Ask, received: Received) -> bytes:
    """Head and body of an answer; an entry of the head that would be empty is left out."""
    try:
        received.body.decode("utf-8")
        coded, body = "", received.body
    except UnicodeDecodeError:
        coded, body = "base64", base64.encodebytes(received.body)
    head = {"address": ask.url, "method": ask.method, "form": ask.form,
            "asked_with": dict(_tellable(ask)), "status": received.status,
            "headers": {name: received.headers[name] for name in KEPT_HEADERS
                        if name in received.headers},
            "answered_by": received.url if received.url != ask.url else "",
            "retrieved_at": received.retrieved_at, "body": coded}
    filled = {name: value for name, value in head.items() if value}
    text = json.dumps(filled, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n\n" + body


def _parts(text: bytes) -> tuple[Mapping[str, Any], bytes]:
    """Head and body of a file. Raises ValueError when there is no head; a file saved with CRLF
    line ends is read too."""
    head, gap, body = text.partition(b"\n\n")
    if b"\r\n\r\n" in head or not gap:
        head, _, body = text.partition(b"\r\n\r\n")
    parsed = json.loads(head)
    if not isinstance(parsed, dict):
        raise ValueError("the head is no object")
    return parsed, body


def _ask(head: Mapping[str, Any]) -> Ask:
    return Ask(url=str(head["address"]),
               form=tuple((name, value) for name, value in head.get("form", ())),
               headers=tuple(head.get("asked_with", {}).items()))


def _received(text: bytes) -> Received:
    head, body = _parts(text)
    when = str(head.get("retrieved_at", ""))
    if head.get("body") == "base64":
        body = base64.b64decode(body)
    return Received(status=int(head.get("status", 200)), body=body,
                    url=str(head.get("answered_by", head["address"])),
                    headers={name.lower(): str(value)
                             for name, value in head.get("headers", {}).items()},
                    retrieved_at=when if MOMENT.fullmatch(when) else "")
