"""Asking several archives at once: one thread each, all awaited within the call's budget. Order of arrival never shows."""
from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, TypeVar

from ..errors import LIBRARIES, Cancelled, SourceError, TimedOut, UnreadableAnswer
from ..transport.call import Call

T = TypeVar("T")
_GRACE_S = 0.5  # a worker raises by itself at the call's deadline; this much later it is left behind
_LOOK_S = 0.25  # how often a cancelled call is noticed when no worker moves

log = logging.getLogger("books")


def ask_each(jobs: Mapping[str, Callable[[], T]], names: Mapping[str, str], call: Call) -> dict[str, T | SourceError]:
    """The result or the error of every job, by archive key, in the order of `jobs`.

    A job that has not come back when the budget is spent counts as TimedOut; what the others brought is kept. A fault of an
    adapter itself is logged and becomes that archive's UnreadableAnswer, so that no archive's fault loses another's rows.

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
        return TimedOut(f"{name} had not answered when the call's time was spent.", archive=key)
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, SourceError):
        return error
    if isinstance(error, Cancelled) or (isinstance(error, ImportError) and error.name in LIBRARIES):
        raise error  # without its library no archive could answer
    log.error("%s: a fault in reading its answer", key, exc_info=error)
    return UnreadableAnswer(f"{name} answered something that this client could not read.", archive=key)
