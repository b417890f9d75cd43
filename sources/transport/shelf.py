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
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..contract import Ask
from .exchange import Received

SUFFIX = ".answer"
SHELF_LIMIT_FILES = 5000
SHELF_LIMIT_BYTES = 512 << 20
# none of them can hold a secret
KEPT_HEADERS = ("content-type", "cache-control", "retry-after", "last-modified", "cf-mitigated")
# what a file that is no answer may raise
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
_log = logging.getLogger("books")


class Recorder:
    """Keeps every answer received in a folder, the latest to each question; several processes
    may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._warned = False

    def keep(self, ask: Ask, received: Received) -> None:
        """Write one answer, whole or not at all. A folder that is full or cannot be written to
        is said once, then left alone."""
        text = _file_text(ask, received)
        path = self._folder / file_name(ask)
        beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        with self._lock:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                if not self._has_room(len(text)):
                    raise OSError(errno.ENOSPC, f"the folder holds its {SHELF_LIMIT_FILES} files "
                                                f"or {SHELF_LIMIT_BYTES:,} bytes")
                beside.write_bytes(text)
                os.replace(beside, path)
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
        return _received(path.read_bytes()) if path is not None else None

    @functools.cached_property
    def _paths(self) -> dict[str, Path]:
        found = {}
        for path in sorted(self._folder.glob("*" + SUFFIX))[:SHELF_LIMIT_FILES]:
            try:
                head, _ = _parts(path.read_bytes())
                found[_fingerprint(_ask(head))] = path
            except UNREADABLE:
                _log.info("on the shelf, %s is no answer that can be read", path.name)
        return found


def file_name(ask: Ask) -> str:
    """A readable stem from the address, and enough of a hash of the whole question to tell it
    from any other."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", ask.url.split("://", 1)[-1]).strip("-")[:60]
    return f"{stem}-{_fingerprint(ask)[:16]}{SUFFIX}"


def _fingerprint(ask: Ask) -> str:
    asked = json.dumps([ask.method, ask.url, ask.form, sorted(ask.headers)])
    return hashlib.sha256(asked.encode()).hexdigest()


def _file_text(ask: Ask, received: Received) -> bytes:
    """Head and body of an answer; an entry of the head that would be empty is left out."""
    try:
        received.body.decode("utf-8")
        coded, body = "", received.body
    except UnicodeDecodeError:
        coded, body = "base64", base64.encodebytes(received.body)
    head = {"address": ask.url, "method": ask.method, "form": ask.form,
            "asked_with": dict(ask.headers), "status": received.status,
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
    return parsed, base64.b64decode(body) if parsed.get("body") == "base64" else body


def _ask(head: Mapping[str, Any]) -> Ask:
    return Ask(url=str(head["address"]),
               form=tuple((name, value) for name, value in head.get("form", ())),
               headers=tuple(head.get("asked_with", {}).items()))


def _received(text: bytes) -> Received:
    head, body = _parts(text)
    return Received(status=int(head.get("status", 200)), body=body,
                    url=str(head.get("answered_by", head["address"])),
                    headers={name.lower(): str(value)
                             for name, value in head.get("headers", {}).items()},
                    retrieved_at=str(head.get("retrieved_at", "")))
