"""What this process was asked, and what each archive was then sent: kept in memory, and as lines of
a file where BOOKS_SEARCH_LOG names one. Nothing of it leaves the machine.

An entry is written for a reader who must say, months later, what was searched, where, when, how,
and with what result. A failed or absent archive stands in it as visibly as one that answered.
"""
from __future__ import annotations

import csv
import io
import json
import logging
import os
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar

from ..answers import AllFailed, Answer, CountedAnswer, ListAnswer, Report
from ..contract import Ask, Reply, to_dict
from ..errors import InvalidInput, SourceError

ENTRIES_MAX = 1000  # kept in memory, the newest; the file keeps all
SEARCHES = ("search_inside", "search_items", "search_headings", "browse_collections")
_KEPT = ("source", "name", "status", "stage", "absent_because", "count", "reported_total",
         "reported_total_means", "filters_sent", "filters_dropped", "queries", "retrieved_at",
         "replayed", "error")
_log = logging.getLogger("books")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One kept answer behind an entry: the archive's address, the form sent, when it was fetched,
    and the SHA-256 of its body."""

    archive: str
    address: str
    form: tuple[tuple[str, str], ...] = ()
    retrieved_at: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One question. `at` is when it was asked (ISO 8601, UTC); `archives` are the parts of
    `per_source` that a search can be repeated from; `failed` is the error where nothing came."""

    at: str
    tool: str
    arguments: Mapping[str, Any]
    version: str
    archives: tuple[Mapping[str, Any], ...] = ()
    failed: Mapping[str, str] | None = None
    evidence: tuple[Evidence, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAnswer(CountedAnswer):
    """Of search_log. `text` is the entries in the form asked."""

    stated: ClassVar[frozenset[str]] = frozenset({"entries", "text", "notes"})
    entries: tuple[Entry, ...]
    text: str
    notes: tuple[str, ...] = ()
    some: Callable[[int], Answer] | None = field(default=None, repr=False, compare=False)


class SearchLog:
    """The questions of one process, from any thread; `path` is a file that several may share."""

    def __init__(self, *, version: str, path: Path | None = None,
                 now: Callable[[], float] | None = None) -> None:
        self._version = version
        self._path = path
        self._now = now or (lambda: datetime.now(timezone.utc).timestamp())
        self._entries: deque[Entry] = deque(maxlen=ENTRIES_MAX)
        self._lock = threading.Lock()
        self._warned = False

    def note(self, tool: str, arguments: Mapping[str, Any], outcome: Answer | SourceError,
             kept: Iterable[tuple[str, Ask, Reply]] = ()) -> None:
        """Keep one question with what came of it, and with the answers kept of it."""
        entry = Entry(at=_iso(self._now()), tool=tool, arguments=dict(arguments),
                      version=self._version, archives=_parts(outcome), failed=_failure(outcome),
                      evidence=evidence(kept))
        with self._lock:
            self._entries.append(entry)
            if self._path is not None:
                self._append(json.dumps(to_dict(entry), ensure_ascii=False).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        """One write a line, at the end of the file, so that lines of several processes never mix. A
        file that cannot be written to is said once."""
        assert self._path is not None
        try:
            handle = _opened(self._path)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)
        except OSError as exc:
            if not self._warned:
                _log.error("BOOKS_SEARCH_LOG: questions are not written to the file: %s.",
                           exc.strerror or type(exc).__name__)
            self._warned = True

    def entries(self, since: str | None = None, limit: int = 100) -> tuple[Entry, ...]:
        """The newest `limit` entries at or after `since`, oldest first."""
        with self._lock:
            found = [entry for entry in self._entries if since is None or entry.at >= since]
        return tuple(found[-limit:])

    def told(self, form: str, since: str | None, limit: int) -> LogAnswer:
        """The entries in one form. Raises InvalidInput: `since` is no time."""
        return told(self.entries(_moment(since), limit), form)


def told(found: tuple[Entry, ...], form: str) -> LogAnswer:
    """Entries as text, csv or json; the oldest go first where a host takes only some."""

    def newest(count: int) -> LogAnswer:
        kept, left = found[len(found) - count:], len(found) - count
        note = f"The answer was too long: the {left} oldest entries were left out."
        text = _FORMS[form](kept) if kept or not left else ""  # nothing fits is not nothing asked
        return LogAnswer(entries=kept, text=text, some=newest, notes=(note,) if left else ())

    return newest(len(found))


def evidence(kept: Iterable[tuple[str, Ask, Reply]]) -> tuple[Evidence, ...]:
    """The kept answers behind a question, each once."""
    return tuple(dict.fromkeys(
        Evidence(archive=archive, address=ask.url, form=ask.form, retrieved_at=reply.retrieved_at,
                 sha256=reply.sha256 or "") for archive, ask, reply in kept))


def _moment(since: str | None) -> str | None:
    """A time as the entries write theirs; a day is its first second."""
    if since is None:
        return None
    try:
        moment = datetime.fromisoformat(since.strip().replace("Z", "+00:00"))
        return _iso(moment.replace(tzinfo=moment.tzinfo or timezone.utc).timestamp())
    except (ValueError, OverflowError, OSError):
        raise InvalidInput("search_log.since is no time.", hint="Give it as 2026-11-30 or "
                           "2026-11-30T09:00:00Z.") from None


def _opened(path: Path) -> int:
    """The file, made when missing and readable by its owner alone; a link or device is refused."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    flags |= (
        getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    handle = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("it is no regular file")
    return handle


def _parts(outcome: Answer | SourceError) -> tuple[Mapping[str, Any], ...]:
    reports: Sequence[Report] = ()
    if isinstance(outcome, (ListAnswer, AllFailed)):
        reports = outcome.reports
    told = (to_dict(report) for report in reports)
    return tuple({name: report[name] for name in _KEPT if name in report} for report in told)


def _failure(outcome: Answer | SourceError) -> Mapping[str, str] | None:
    if not isinstance(outcome, SourceError):
        return None
    return {"code": outcome.code, "message": outcome.message}


def _iso(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def read_file(path: Path) -> tuple[Entry, ...]:
    """The entries of a file that `note` wrote.

    Raises:
        InvalidInput: a line that is no entry, by its number.
    """
    entries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            kept = json.loads(line)
            evidence = tuple(Evidence(**{**one, "form": tuple(map(tuple, one.get("form", ())))})
                             for one in kept.pop("evidence", ()))
            archives = tuple(kept.pop("archives", ()))
            entries.append(Entry(**kept, archives=archives, evidence=evidence))
        except (ValueError, TypeError, AttributeError) as exc:
            raise InvalidInput(f"Line {number} of the file is no entry of a search log.",
                               hint="Give a file that BOOKS_SEARCH_LOG named.") from exc
    return tuple(entries)


# ---- for a Methods section -----------------------------------------------------------------------

# Source: PRISMA-S (Rethlefsen and others, Systematic Reviews 10:39, 2021), the items that a server
# can know: 1 database name, 2 platform, 8 full strategies, 9 limits, 13 dates, 15 total records.
_COLUMNS = ("asked at", "tool", "archive", "query as sent", "limits sent", "limits not sent",
            "records counted by the archive", "records returned", "outcome")


def rows(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """One row for each wording that each archive was sent, or for each archive sent none."""
    return [row for entry in entries for archive in entry.archives or (_alone(entry),)
            for row in _rows_of(entry, archive)]


def _alone(entry: Entry) -> Mapping[str, Any]:
    """A question with no report on each archive: a record or a page was read."""
    identifier = str(entry.arguments.get("identifier", ""))
    status = "failed" if entry.failed else "answered"
    return {"name": identifier.partition(":")[0], "status": status, "error": entry.failed,
            "queries": [{"query": identifier, "ran": True}] if identifier else []}


def _rows_of(entry: Entry, archive: Mapping[str, Any]) -> list[tuple[str, ...]]:
    sent = [query for query in archive.get("queries", ()) if query["ran"]] or [{}]
    limits = "; ".join(f"{one['filter']}: {one['as']}" for one in archive.get("filters_sent", ()))
    dropped = "; ".join(one["filter"] for one in archive.get("filters_dropped", ()))
    total = "" if archive.get("reported_total") is None else str(archive["reported_total"])
    return [(entry.at, entry.tool, archive["name"], query.get("query", ""), limits, dropped,
             total if place == 0 else "", str(query.get("count", archive.get("count", ""))),
             _outcome(archive)) for place, query in enumerate(sent)]


def _outcome(archive: Mapping[str, Any]) -> str:
    error = archive.get("error") or {}
    why = archive.get("absent_because") or error.get("message")
    return f"{archive['status']}: {why}" if why else str(archive["status"])


def as_csv(entries: Sequence[Entry]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerows([_COLUMNS, *rows(entries)])
    return written.getvalue()


def as_json(entries: Sequence[Entry]) -> str:
    """JSON lines, as in the file."""
    return "".join(json.dumps(to_dict(entry), ensure_ascii=False) + "\n" for entry in entries)


def as_text(entries: Sequence[Entry]) -> str:
    """A paragraph and a table for a section on methods, each line with its item of PRISMA-S."""
    searches = [entry for entry in entries if entry.tool in SEARCHES]
    if not entries:
        return "Nothing was asked in this time."
    names = dict.fromkeys(part["name"] for entry in searches for part in entry.archives
                          if part["status"] != "absent")
    failed = dict.fromkeys(part["name"] for entry in searches for part in entry.archives
                           if part["status"] == "failed")
    versions = dict.fromkeys(entry.version for entry in entries)
    days = f"{entries[0].at[:10]} to {entries[-1].at[:10]}"
    if entries[0].at[:10] == entries[-1].at[:10]:
        days = f"on {entries[0].at[:10]}"
    paragraph = [
        f"Databases (item 1): {', '.join(names) or 'none was searched'}.",
        f"Platform (item 2): mcp-books {', '.join(versions)}, which asks each archive's public "
        "search service.",
        f"Dates of search (item 13): {days}, times in UTC.",
        f"Questions: {len(entries)}, of which {len(searches)} searches.",
        "Full strategies (item 8), limits (item 9) and records found (item 15) stand in the table, "
        "one line for each wording sent. Counts are each archive's own and are not added up.",
    ]
    if failed:
        paragraph.append(f"At least one search failed in: {', '.join(failed)}; nothing is known of "
                         "what a failed search would have found.")
    table = [_COLUMNS, *rows(entries)]
    return "\n".join([*paragraph, "", *("\t".join(row) for row in table)])


_FORMS: Mapping[str, Callable[[Sequence[Entry]], str]] = {
    "text": as_text, "csv": as_csv, "json": as_json}
