"""A search log checked against the answers kept: every question of it asked again of the folder
alone, and each answer behind it the same, changed or missing."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..asking.log import Entry, Evidence, evidence
from ..client import BooksClient
from ..errors import InvalidInput, SourceError
from ..settings import Settings
from ..telling.harmless import inert


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one answer of a log: same, changed or missing."""

    asked: Entry
    answer: Evidence
    outcome: str


def verified(entries: tuple[Entry, ...], folder: Path, settings: Settings) -> Iterator[Verdict]:
    """Each answer that the log names, by whether asking again brings the same bytes. One client
    asks all, since a report is made in steps; nothing goes out.

    Raises:
        InvalidInput: `folder` is none.
    """
    if not folder.is_dir():
        raise InvalidInput(f"--verify: {folder} is no folder.",
                           hint="Name the folder in which the answers were kept.")
    shelf = dataclasses.replace(settings, replay_dir=folder, record_dir=None, search_log=None)
    with BooksClient(settings=shelf) as client:
        for entry in entries:
            call = client.new_call()
            with suppress(SourceError):  # what could not be asked again shows as missing
                client.ask(entry.tool, entry.arguments, call)
            found = {(one.address, one.form): one.sha256 for one in evidence(call.kept)}
            for one in entry.evidence:
                now = found.get((one.address, one.form))
                yield Verdict(asked=entry, answer=one, outcome="missing" if now is None else
                              "same" if now == one.sha256 else "changed")


def told(entries: tuple[Entry, ...], verdicts: tuple[Verdict, ...]) -> str:
    """The count, then every answer that is not the same."""
    counts = {outcome: sum(one.outcome == outcome for one in verdicts)
              for outcome in ("same", "changed", "missing")}
    lines = [f"Questions: {len(entries)}; answers behind them: {len(verdicts)}: "
             + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + "."]
    bare = sum(not entry.evidence and not entry.failed for entry in entries)
    if bare:
        lines.append(f"Questions without evidence: {bare}; nothing was kept when they were asked.")
    lines += [f"{one.outcome.capitalize()}: {one.asked.at} {one.asked.tool}: "
              f"{inert(one.answer.address)}" for one in verdicts if one.outcome != "same"]
    return "\n".join(lines)
