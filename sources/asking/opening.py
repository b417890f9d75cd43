"""Making an archive ready for one call: its adapter, or a stand-in reader, with the transport of that call behind it."""
from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ..contract import Archive
from ..errors import Cancelled, SourceError, UnreadableAnswer
from ..settings import Settings
from ..transport.asker import ArchiveAsker
from ..transport.call import Call
from ..transport.flights import Transport

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An archive during one call. `asker` remembers what was sent for it and when the answers were first fetched."""

    archive: Archive
    asker: ArchiveAsker
    stand_in: bool

    def sent(self) -> int:
        """A number that grows whenever something was asked, of the archive or of the cache."""
        return len(self.asker.replies) + self.asker.requests_sent

    def ask(self, work: Callable[[Archive], T]) -> T:
        """What the archive answers. An answer that came and could not be read is not kept for whoever asks next."""
        try:
            return work(self.archive)
        except Exception as error:
            if isinstance(error, UnreadableAnswer) or not isinstance(error, (SourceError, Cancelled)):
                self.asker.forget()
            raise

    def others_waiting(self) -> bool:
        return not self.stand_in and self.asker.others_waiting()

    @property
    def retrieved_at(self) -> str:
        """When the earliest answer used here was first fetched; now, when none was."""
        return self.asker.retrieved_at or datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def attribution(self) -> str:
        return self.archive.attribution(self.retrieved_at)

    def replay_note(self) -> tuple[str, ...]:
        """For an answer without a report on each archive: that it comes from kept answers, and of what day."""
        if not self.asker.replayed:
            return ()
        return (f"Answered from kept answers alone, the earliest of {self.retrieved_at[:10]}; nothing was asked of the archive "
                "now.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """Opens archives for calls. `readers` holds stand-ins by archive key, used in place of the adapter."""

    settings: Settings
    transport: Transport
    readers: Mapping[str, Archive]

    def open(self, archive: type[Archive], call: Call) -> Opened:
        asker = self.transport.for_call(call, archive.key)
        stand_in = self.readers.get(archive.key)
        return Opened(archive=stand_in or archive(asker), asker=asker, stand_in=stand_in is not None)
