"""The transport as one archive sees it during one call: only its own addresses, and a memory of
what was answered."""
from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import replace
from typing import Protocol
from urllib.parse import urlsplit

from ..contract import Archive, Ask, Lane, Reply
from ..errors import InvalidInput
from ..settings import Settings
from .cache import Cache
from .call import Call
from .connection import address
from .gate import Gate


class Carrier(Protocol):
    """What an asker needs of the transport."""

    settings: Settings
    cache: Cache

    def ask(self, asker: ArchiveAsker, ask: Ask) -> Reply: ...

    def gate(self, lane: Lane) -> Gate: ...


class ArchiveAsker:
    """The way out for one archive (contract.Way), and what the client wants to know afterwards.

    `replies` are the answers used so far, without their values; `requests_sent` counts what went
    out, answered or not; with a shelf, what was looked up there.
    """

    def __init__(self, carrier: Carrier, archive: type[Archive], call: Call) -> None:
        self.settings = carrier.settings
        self.archive = archive
        self.call = call
        self.replies: list[Reply] = []
        self.requests_sent = 0
        self.replayed = carrier.settings.replay_dir is not None
        self._carrier = carrier
        self._answered: list[Hashable] = []  # the questions

    def __call__(self, ask: Ask) -> Reply:
        try:
            ask = replace(ask, url=address(ask.url, ask.params), params=())
        except ValueError as exc:
            raise InvalidInput(f"The words cannot be written in a request to {self.archive.name}.",
                               archive=self.archive.key) from exc
        reply = self._carrier.ask(self, ask)
        self._answered.append(ask.question)
        self.replies.append(replace(reply, value=None))
        if reply.sha256:
            self.call.kept.append((self.archive.key, ask, self.replies[-1]))
        return reply

    def remaining_s(self) -> float:
        return self.call.remaining_s()

    @property
    def cached(self) -> bool:
        """Whether every answer used came from the cache; False before the first."""
        return bool(self.replies) and all(reply.cached for reply in self.replies)

    @property
    def retrieved_at(self) -> str | None:
        """When the oldest answer used was fetched."""
        return min((reply.retrieved_at for reply in self.replies), default=None)

    def forget(self) -> None:
        """Keep none of the answers used so far: one could not be read after all, and asking
        again must ask the archive."""
        for question in self._answered:
            self._carrier.cache.drop(question)

    def others_waiting(self) -> bool:
        """Whether another call waits for this archive."""
        return any(self._carrier.gate(lane).waits_for_others(self.call)
                   for lane in self.archive.lanes)


def lane_of(archive: type[Archive], url: str) -> Lane:
    """The lane an address belongs to; one that names the path wins. Raises InvalidInput when
    there is none."""
    parts = urlsplit(url)
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    plain = "@" not in parts.netloc and port in (None, 443 if parts.scheme == "https" else 80)
    lanes = [lane for lane in archive.lanes if plain and parts.scheme in ("https", lane.scheme)
             and _fits(lane.hosts, host) and (not lane.paths or _fits(lane.paths, parts.path))]
    if not lanes:
        raise InvalidInput(f"The address is none of those that {archive.name} is asked at; "
                           "nothing was sent.", archive=archive.key)
    return next((lane for lane in lanes if lane.paths), lanes[0])


def _fits(patterns: tuple[str, ...], text: str) -> bool:
    return any(re.fullmatch(pattern, text) for pattern in patterns)
