"""How an archive's part in an answer is reported: answered, failed with the moment that failed, or absent with the reason."""
from __future__ import annotations

from typing import Any

from ..answers import Report
from ..contract import Archive
from ..errors import SourceError
from .opening import Opened


def report_absent(archive: type[Archive], because: str) -> Report:
    """An archive that was not asked carries its reason and no description of itself."""
    return Report(source=archive.key, name=archive.name, status="absent", absent_because=because)


def report_asked(archive: type[Archive], opened: Opened | None, error: SourceError | None, *, stage: str = "search") -> Report:
    """An archive that was asked: answered, with the credit it asks for, or failed, with the error.

    `stage` is the moment meant.
    """
    if error is not None:
        return Report(source=archive.key, name=archive.name, status="failed", stage=error.stage or stage, error=failure(error))
    if opened is None:
        return Report(source=archive.key, name=archive.name, status="answered")
    return Report(source=archive.key, name=archive.name, status="answered", attribution=opened.attribution(),
                  cached=opened.asker.cached, replayed=opened.asker.replayed or None, retrieved_at=opened.retrieved_at)


def failure(error: SourceError) -> dict[str, Any]:
    """An error as it stands in an answer. Seconds are rounded up: asking a moment too early helps nobody."""
    told: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
    if error.retry_after_s is not None:
        told["retry_after_s"] = int(-(-error.retry_after_s // 1))
    return told
