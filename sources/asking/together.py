"""Several archives at once: each made ready for one call, asked in a thread of its own, all awaited
within the call's budget. Order of arrival never shows."""
from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from ..contract import Archive
from ..errors import LIBRARIES, Cancelled, SourceError, TimedOut, UnreadableAnswer
from ..settings import Settings
from ..transport.asker import ArchiveAsker
from ..transport.call import Call
from ..transport.exchange import bare
from ..transport.flights import Transport

T = TypeVar("T")
# a worker raises by itself at the call's deadline; this much later it is left behind
_GRACE_S = 0.5
_NO_DATE, _UNKNOWN_DAY = "0000-00-00", "a day that is not known"  # of an answer kept without one
_LOOK_S = 0.25  # how often a cancelled call is noticed when no worker moves

log = logging.getLogger("books")


def ask_each(
    jobs: Mapping[str, Callable[[], T]], names: Mapping[str, str], call: Call
) -> dict[str, T | SourceError]:
    """The result or the error of every job, by archive key, in the order of `jobs`.

    A job that has not come back when the budget is spent counts as TimedOut; what the others
    brought is kept. A fault of an adapter itself is logged and becomes that archive's
    UnreadableAnswer, so that no archive's fault loses another's rows.

    Raises:
        Cancelled: the caller took the call back. ImportError: one of LIBRARIES is missing.
    """
    if not jobs:
        return {}
    executor = ThreadPoolExecutor(max_workers=len(jobs), thread_name_prefix="archive")
    try:
        futures: dict[Future[T], str] = {executor.submit(job): key for key, job in jobs.items()}
        _await(futures, names, call)
        return {key: _outcome(future, key, names[key]) for future, key in futures.items()}
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _await(futures: Mapping[Future[T], str], names: Mapping[str, str], call: Call) -> None:
    pending = set(futures)
    left_s = call.remaining_s() + _GRACE_S
    while pending and left_s > 0:
        done, pending = wait(pending, timeout=min(_LOOK_S, left_s), return_when=FIRST_COMPLETED)
        for future in done:
            if isinstance(future.exception(), Cancelled):
                raise Cancelled
            call.tell(f"{names[futures[future]]} {'failed' if future.exception() else 'answered'}")
        if not done:
            call_is_over = call.remaining_s() <= 0
            left_s = min(left_s, _GRACE_S if call_is_over else left_s) - _LOOK_S
            if call_is_over and left_s <= 0:
                return
            _raise_if_cancelled(call)


def _raise_if_cancelled(call: Call) -> None:
    with suppress(TimedOut):  # the workers say so themselves, each for its archive
        call.check()


def _outcome(future: Future[Any], key: str, name: str) -> Any:
    if not future.done():
        return TimedOut(f"{name} had not answered when the call's time was spent.", archive=key,
                        reason="budget_spent")
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, SourceError):
        return error
    if isinstance(error, Cancelled) or (isinstance(error, ImportError) and error.name in LIBRARIES):
        raise error  # without its library no archive could answer
    log.error("%s: a fault in reading its answer", key, exc_info=error)
    return UnreadableAnswer(
        f"{name} answered something that this client could not read.", archive=key
    )


# ---- an archive made ready for one call ----

@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An archive during one call. `asker` remembers what was sent for it and when the answers were
    first fetched."""

    archive: Archive
    asker: ArchiveAsker
    stand_in: bool

    def sent(self) -> int:
        """A number that grows whenever something was asked, of the archive or of the cache."""
        return len(self.asker.replies) + self.asker.requests_sent

    def ask(self, work: Callable[[Archive], T]) -> T:
        """What the archive answers. An answer that came and could not be read is not kept for
        whoever asks next."""
        try:
            return work(self.archive)
        except (SourceError, Cancelled) as error:
            if isinstance(error, UnreadableAnswer):
                self.asker.forget()
            raise bare(error) from None
        except Exception:
            self.asker.forget()
            raise

    def others_waiting(self) -> bool:
        return not self.stand_in and self.asker.others_waiting()

    @property
    def retrieved_at(self) -> str:
        """When the earliest answer used here was first fetched; now, when none was; "" when a kept
        answer does not say."""
        first = self.asker.retrieved_at
        now = datetime.datetime.now(datetime.timezone.utc)
        return now.strftime("%Y-%m-%dT%H:%M:%SZ") if first is None else first

    def attribution(self) -> str:
        credit = self.archive.attribution(self.retrieved_at or _NO_DATE)
        return credit.replace(_NO_DATE, f"on {_UNKNOWN_DAY}")

    def credit(self) -> dict[str, Any]:
        """What a report says of an archive that answered, whatever it answered."""
        return {"attribution": self.attribution(), "cached": self.asker.cached,
                "replayed": self.asker.replayed or None, "retrieved_at": self.retrieved_at or None}

    def replay_note(self) -> tuple[str, ...]:
        """For an answer without a report on each archive: that it comes from kept answers, and of
        what day."""
        if not self.asker.replayed:
            return ()
        return (
            "Answered from kept answers alone, the earliest of "
            f"{self.retrieved_at[:10] or _UNKNOWN_DAY}; nothing was asked of the archive now.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """Opens archives for calls. `readers` holds stand-ins by archive key, used in place of the
    adapter."""

    settings: Settings
    transport: Transport
    readers: Mapping[str, Archive]

    def open(self, archive: type[Archive], call: Call) -> Opened:
        asker = self.transport.for_call(call, archive.key)
        stand_in = self.readers.get(archive.key)
        return Opened(
            archive=stand_in or archive(asker), asker=asker, stand_in=stand_in is not None
        )
