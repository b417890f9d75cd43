"""The notes of a search: what a reader must know about this one answer, at most eight, the gravest
first.

What is always true of an archive stands in `per_source`; here stands only what this question
brought about.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..answers import MAX_NOTES, NOBODY_ASKED
from ..contract import Query
from .harvest import Harvest
from .wordings import lost_characters

UNNARROWING = ("sort", "facets", "availability")  # arguments that leave no row out


def search_notes(query: Query, harvests: Sequence[Harvest], rows: Mapping[str, Sequence[Any]],
                 openings: int, fan_out: bool) -> tuple[str, ...]:
    """The notes, gravest first; what would be a ninth is joined to the eighth, so that nothing is
    lost."""
    notes = [note for part in (
        _all_absent(harvests),
        _nothing_found(query, harvests, rows, fan_out),
        _failures(harvests),
        _own_notes(harvests),
        _openings(openings),
        _dropped(harvests),
        _unasked(harvests),
        _dated_order(query, harvests, rows),
        _undated(query, harvests, rows),
        _left_out(harvests),
        _no_words(query),
    ) for note in part]
    kept = list(dict.fromkeys(notes))
    return tuple(
        kept
        if len(kept) <= MAX_NOTES
        else [*kept[: MAX_NOTES - 1], " ".join(kept[MAX_NOTES - 1 :])]
    )


def list_notes(harvests: Sequence[Harvest]) -> tuple[str, ...]:
    """The notes of a list: nobody asked, nothing found, then what each archive says of its page."""
    empty = [harvest.archive.name for harvest in harvests
             if harvest.answered and not harvest.pages[0].records
             and not harvest.pages[0].beyond and not harvest.pages[0].total
             and harvest.pages[0].more is not None]
    told = [under(harvest.archive.name, note) for harvest in harvests for page in harvest.pages
            for note in (*((page.beyond,) if page.beyond else ()), *page.notes)]
    if empty:
        told.insert(0, f"{capital(', '.join(empty))} answered with nothing under these words; try "
                       "fewer words or another spelling.")
    return (*_all_absent(harvests), *told)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: "A", "A and B", "A, B and C"."""
    return (
        names[0]
        if len(names) == 1
        else ", ".join(names[:-1]) + " and " + names[-1]
        if names
        else ""
    )


def capital(sentence: str) -> str:
    """The sentence with a capital, unless it begins with a host's name, which keeps its letters."""
    return (
        sentence
        if "." in sentence.partition(" ")[0].rstrip(".,:")
        else sentence[:1].upper() + sentence[1:]
    )


def under(name: str, remark: str) -> str:
    """A remark under its archive's name, which is not said twice."""
    return capital(remark if remark.lower().startswith(name.lower()) else f"{name}: {remark}")


def _all_absent(harvests: Sequence[Harvest]) -> Iterator[str]:
    if harvests and all(harvest.absent_because for harvest in harvests):
        yield NOBODY_ASKED + " ".join(
            under(h.archive.name, h.absent_because or "") for h in harvests
        )


def _nothing_found(
    query: Query, harvests: Sequence[Harvest], rows: Mapping[str, Sequence[Any]], fan_out: bool
) -> Iterator[str]:
    """A true zero repeats what was applied; a page past the end, or rows that were withheld, are
    told as that instead."""
    zero: dict[str, list[str]] = {}
    for harvest in harvests:
        if not harvest.answered:
            continue
        for beyond in dict.fromkeys(page.beyond for page in harvest.pages if page.beyond):
            yield under(harvest.archive.name, beyond)
        unread = len(harvest.withheld) + sum(page.skipped for page in harvest.pages)
        unknown = any(page.beyond or page.total for page in harvest.pages)  # its own note tells
        if not rows.get(harvest.archive.key) and not unread and not unknown:
            zero.setdefault(_applied(query, harvest), []).append(harvest.archive.name)
    for applied, names in zero.items():
        yield (
            f"{capital(listed(names))} answered with no rows for {applied}. "
            f"{_how_to_broaden(query, harvests, fan_out)}"
        )


def _applied(query: Query, harvest: Harvest) -> str:
    parts = [f"the words {query.words!r}"] if query.words else []
    parts += [
        f"{name} ({spelled})"
        for name, spelled in harvest.plan.sent
        if name not in UNNARROWING
    ]
    kind = harvest.plan.media_type_asked or query.media_type
    parts += [f"media_type {kind}"] if kind else []
    parts += [f"page {query.page}"] if query.page > 1 else []
    return listed(parts) or "what was asked"


def _how_to_broaden(query: Query, harvests: Sequence[Harvest], fan_out: bool) -> str:
    sent = dict.fromkeys(name for harvest in harvests for name, _ in harvest.plan.sent)
    narrowed = [name for name in sent if name not in UNNARROWING]
    ways = [f"leave out {listed(narrowed)}"] if narrowed else []
    if len(query.words.split()) > 1:
        ways.append("ask fewer or other words")
    elif query.words:
        ways.append("try another spelling")
    if not fan_out:
        ways.append("set fan_out to true")
    return "To broaden: " + (", or ".join(ways) or "ask with other words") + "."


def _failures(harvests: Sequence[Harvest]) -> Iterator[str]:
    for harvest in harvests:
        if harvest.absent_because is None and not harvest.answered and harvest.error is not None:
            yield (
                f"{capital(harvest.archive.name)} failed ({harvest.error.code}); what it holds is "
                "not known from this answer."
            )
        elif harvest.answered and harvest.error is not None:
            failed = listed([repr(asked.query) for asked in harvest.queries if asked.error])
            yield (
                f"{capital(harvest.archive.name)} did not answer the wording {failed}: "
                f"{harvest.error.message}"
            )


def _own_notes(harvests: Sequence[Harvest]) -> Iterator[str]:
    for harvest in harvests:
        if harvest.absent_because is None:
            for note in dict.fromkeys(
                (*harvest.plan.notes, *(note for page in harvest.pages for note in page.notes))
            ):
                yield under(harvest.archive.name, note)


def _openings(count: int) -> Iterator[str]:
    if count:
        verb = "excerpt is a page opening" if count == 1 else "excerpts are page openings"
        yield (
            f"{count} {verb}: the start of the page, which need not hold the searched words; open "
            "the page to see them."
        )


def _dropped(harvests: Sequence[Harvest]) -> Iterator[str]:
    by_filters: dict[tuple[str, ...], list[str]] = {}
    for harvest in harvests:
        dropped = tuple(name for name, _ in harvest.plan.dropped if name not in UNNARROWING)
        if harvest.absent_because is None and dropped:
            by_filters.setdefault(dropped, []).append(harvest.archive.name)
    if by_filters:
        told = "; ".join(
            f"{listed(filters)} to {listed(names)}" for filters, names in by_filters.items()
        )
        yield (
            f"Not sent: {told}. Their rows satisfy it only by chance; filters_dropped gives the "
            "reasons."
        )


def _unasked(harvests: Sequence[Harvest]) -> Iterator[str]:
    """What narrows nothing was not asked of an archive: its rows are what they are."""
    for name in UNNARROWING:
        left = [harvest.archive.name for harvest in harvests if harvest.absent_because is None
                and name in dict(harvest.plan.dropped)]
        if left:
            yield f"{name} was not asked of {listed(left)}; the rows are the same without it."


def _dated_order(
    query: Query, harvests: Sequence[Harvest], rows: Mapping[str, Sequence[Any]]
) -> Iterator[str]:
    if query.sort not in ("newest", "oldest"):
        return
    applied = [
        harvest for harvest in harvests if harvest.answered and "sort" in dict(harvest.plan.sent)
    ]
    if applied:
        found = [row for harvest in applied for row in rows.get(harvest.archive.key, ())]
        undated = sum(row.year is None for row in found)
        yield (
            f"The order {query.sort!r} is no chronology: each archive orders on a date field that "
            "carries a year and no era, "
            "and a record without a date stands where a stand-in puts it. "
            f"{undated} of these {len(found)} rows carry no year."
        )


def _undated(
    query: Query, harvests: Sequence[Harvest], rows: Mapping[str, Sequence[Any]]
) -> Iterator[str]:
    """A row without a date is kept where dates were asked, since nothing says that it lies outside
    them."""
    dated = [
        harvest
        for harvest in harvests
        if harvest.answered and any(name in query.bound_names for name, _ in harvest.plan.sent)
    ]
    found = [row for harvest in dated for row in rows.get(harvest.archive.key, ())]
    undated = sum(row.year is None and row.span is None for row in found)
    if undated:
        yield (f"{undated} of the {len(found)} rows asked for by date carry no year; "
               "they were kept, and may lie outside the dates.")


def _left_out(harvests: Sequence[Harvest]) -> Iterator[str]:
    for harvest in harvests:
        name = capital(harvest.archive.name)
        skipped = sum(page.skipped for page in harvest.pages)
        if harvest.withheld:
            yield (
                f"{name} returned {_rows_were(len(harvest.withheld), 'outside the dates asked;')} "
                "withheld."
            )
        if skipped:
            yield (f"{name}: {skipped} of its rows could not be read and "
                   f"{'was' if skipped == 1 else 'were'} left out.")


def _rows_were(count: int, what: str) -> str:
    return f"1 row {what} it was" if count == 1 else f"{count} rows {what} they were"


def _no_words(query: Query) -> Iterator[str]:
    lost = "" if query.native else lost_characters(query.words)
    if lost:
        yield f"No index reads these characters as words, so they narrowed nothing: {lost}"
