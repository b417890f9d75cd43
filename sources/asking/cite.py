"""Many records and pages cited at once: each read as get_item reads it, one archive beside another,
and written by the one maker of citations."""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from ..answers import Answer, CountedAnswer, failure
from ..errors import SourceError, TimedOut
from ..telling.citations import Cited, kind_of, unique, whole
from ..transport.call import Call
from .read import Reading, cited
from .together import ask_each


@dataclass(frozen=True, slots=True, kw_only=True)
class CiteAnswer(CountedAnswer):
    """Of cite. `citations` is a whole file in the form asked; `entries` name what stands in it, in
    the order asked, and `failed` what does not, each with its own error."""

    stated: ClassVar[frozenset[str]] = frozenset({"citations", "entries", "failed", "notes"})
    citations: str
    entries: tuple[Mapping[str, str], ...]
    failed: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()
    some: Callable[[int], Answer] | None = field(default=None, repr=False, compare=False)


def cite(identifiers: Sequence[str], form: str, opened: Callable[[str], Reading],
         call: Call) -> CiteAnswer:
    """Every identifier once, read within the call's budget; what was not reached is named."""
    found = _read(tuple(dict.fromkeys(identifiers)), opened, call)
    good = [name for name, outcome in found.items() if not isinstance(outcome, SourceError)]
    failed = tuple({"identifier": name, "error": failure(outcome)}
                   for name, outcome in found.items() if isinstance(outcome, SourceError))
    every = unique([found[name] for name in good])

    def told(count: int) -> CiteAnswer:
        kept = every[:count]
        left = f"The answer was too long; cite these in another call: {', '.join(good[count:])}."
        entries = tuple({"identifier": name, "key": entry.key, "kind": kind_of(entry)[0]}
                        for name, entry in zip(good, kept, strict=False))
        return CiteAnswer(citations=_file(kept, form), entries=entries, failed=failed, some=told,
                          notes=(left,) if good[count:] else ())

    return told(len(every))


def _file(entries: Sequence[Cited], form: str) -> str:
    made = whole(entries, form)
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _read(identifiers: Sequence[str], opened: Callable[[str], Reading], call: Call
          ) -> dict[str, Any]:
    """What became of each identifier: Cited or SourceError. The archives are asked side by side,
    the records of one in turn."""
    found: dict[str, Any] = {}
    readings: dict[str, dict[str, Reading]] = {}
    for name in identifiers:
        try:
            reading = opened(name)
            readings.setdefault(reading.archive.key, {})[name] = reading
        except SourceError as error:
            found[name] = error
    jobs = {key: partial(_in_turn, mine, call, found) for key, mine in readings.items()}
    names = {key: next(iter(mine.values())).archive.name for key, mine in readings.items()}
    faults = ask_each(jobs, names, call)
    now = dict(found)  # a worker left behind may still write to the other
    for key, mine in readings.items():
        fault = faults[key] or TimedOut("The call's time was spent before this record was read.")
        now = {**dict.fromkeys(mine, fault), **now}
    return {name: now[name] for name in identifiers}


def _in_turn(readings: Mapping[str, Reading], call: Call, found: dict[str, Any]) -> None:
    for name, reading in readings.items():
        try:
            call.check()
            found[name] = cited(reading)
        except SourceError as error:
            found[name] = error
