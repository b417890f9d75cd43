"""One walk for both searches and both lists: which archive is asked what, in which wordings, and
how their rows become one list.

A `Walk` says what differs: the methods called, what makes two rows the same, how a row is marked.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any, Protocol

from ..answers import (
    AllFailed,
    Asked,
    CollectionsAnswer,
    HeadingsAnswer,
    InsideAnswer,
    ItemsAnswer,
    Report,
)
from ..contract import Archive, Describes, Facet, Page, Query, Request
from ..errors import ArchiveUnreachable, InvalidInput, SourceError
from ..transport.call import Call
from .harvest import Harvest, Row
from .notes import list_notes, search_notes
from .together import Opener, ask_each
from .wordings import Wording, wordings

MAX_WORDINGS = 3  # requests an archive, at most, for one question (DESIGN 6)
# Of the call's budget; once it is spent no further wording is started (DESIGN 4, "Wordings").
DERIVING_SHARE = 0.4


class Walk(Protocol):
    """What tells one walk from another; `call` is the tool."""

    call: str

    def plan(self, archive: type[Archive], query: Query) -> Request: ...

    def search(self, archive: Archive, request: Request) -> Page: ...

    def describes(self, archive: type[Archive]) -> Describes | None:
        """What the archive says of itself in this search; None in a list, whose report is brief."""

    def same(self, row: Row) -> tuple[Any, ...]:
        """Two rows alike in this are one."""


class InText:
    call = "search_inside"

    def plan(self, archive: type[Archive], query: Query) -> Request:
        return archive.plan_text(query)

    def search(self, archive: Archive, request: Request) -> Page:
        return archive.search_text(request)

    def describes(self, archive: type[Archive]) -> Describes | None:
        return archive.text

    def same(self, row: Row) -> tuple[Any, ...]:
        return row.identifier or row.source_url, row.matched_file, row.page_number


class InCatalogue:
    call = "search_items"

    def plan(self, archive: type[Archive], query: Query) -> Request:
        return archive.plan_catalogue(query)

    def search(self, archive: Archive, request: Request) -> Page:
        return archive.search_catalogue(request)

    def describes(self, archive: type[Archive]) -> Describes | None:
        return archive.catalogue

    def same(self, row: Row) -> tuple[Any, ...]:
        return (row.identifier or row.source_url,)


class InHeadings:
    call = "search_headings"

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def plan(self, archive: type[Archive], query: Query) -> Request:
        if self.kind in archive.heading_kinds:
            return Request(query=query)
        none = f"{archive.name} has no list of headings of the kind {self.kind}."
        return Request(query=query, absent_because=archive.absent_because.get(self.kind, none))

    def search(self, archive: Archive, request: Request) -> Page:
        return archive.search_headings(request.query.words, self.kind, request.query.rows)

    def describes(self, archive: type[Archive]) -> Describes | None:
        return None

    def same(self, row: Row) -> tuple[Any, ...]:
        return row.uri, row.identifier, row.label


class InCollections:
    call = "browse_collections"

    def plan(self, archive: type[Archive], query: Query) -> Request:
        return Request(query=query)

    def search(self, archive: Archive, request: Request) -> Page:
        query = request.query
        return archive.browse_collections(query.words or None, query.rows, query.page)

    def describes(self, archive: type[Archive]) -> Describes | None:
        return None

    def same(self, row: Row) -> tuple[Any, ...]:
        return (row.slug,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of every archive in scope, and by whom."""

    query: Query
    archives: Sequence[type[Archive]]
    fan_out: bool
    opener: Opener
    call: Call


def search_inside(asked: Question) -> InsideAnswer:
    """Words in the text itself. Matches whose excerpt shows the words stand before the others.

    Raises:
        AllFailed: every archive that was asked failed. InvalidInput: a value the caller must mend.
    """
    query, walk = asked.query, InText()
    harvests = _harvest(walk, asked)
    rows = _rows(harvests, query)
    shown = [[row for row in found if row.excerpt_kind == "passage"] for found in rows.values()]
    unseen = [[row for row in found if row.excerpt_kind != "passage"] for found in rows.values()]
    hits = tuple(_interleave(shown) + _interleave(unseen))
    kinds = {kind: sum(len(hit.excerpts) for hit in hits if hit.excerpt_kind == kind)
             for kind in ("passage", "page_opening")}
    notes = search_notes(query, harvests, rows, kinds["page_opening"], asked.fan_out)
    return InsideAnswer(query=query.words, page=query.page, hits=hits, hit_count=len(hits),
                        excerpt_kinds=kinds, per_source=_reports(walk, harvests, rows),
                        queries_run=_queries_run(harvests), facets=_facets(harvests),
                        order=_order(query, harvests, grouped=any(shown) and any(unseen)),
                        notes=notes)


def search_items(asked: Question) -> ItemsAnswer:
    """The catalogues, each in its own vocabulary. Raises as search_inside."""
    query, walk = asked.query, InCatalogue()
    harvests = _harvest(walk, asked)
    rows = _rows(harvests, query)
    items = tuple(_interleave(list(rows.values())))
    kinds = tuple(_vocabulary(harvest, query) for harvest in harvests
                  if harvest.archive.media_types)
    return ItemsAnswer(query=query.words or None, page=query.page, items=items,
                       item_count=len(items), per_source=_reports(walk, harvests, rows),
                       queries_run=_queries_run(harvests), facets=_facets(harvests),
                       media_types=kinds, order=_order(query, harvests, grouped=False),
                       notes=search_notes(query, harvests, rows, 0, asked.fan_out))


def search_headings(asked: Question, kind: str) -> HeadingsAnswer:
    """Headings of one kind, archive by archive. Raises as search_inside."""
    walk = InHeadings(kind)
    harvests = _harvest(walk, asked)
    rows = _rows(harvests, asked.query)
    return HeadingsAnswer(headings=tuple(row for found in rows.values() for row in found),
                          per_source=_reports(walk, harvests, rows), notes=list_notes(harvests))


def browse_collections(asked: Question) -> CollectionsAnswer:
    """Collections, archive by archive. Raises as search_inside."""
    walk = InCollections()
    harvests = _harvest(walk, asked)
    rows = _rows(harvests, asked.query)
    return CollectionsAnswer(collections=tuple(row for found in rows.values() for row in found),
                             per_source=_reports(walk, harvests, rows), notes=list_notes(harvests))


# ---- who is asked, and what ----------------------------------------------------------------------

def _harvest(walk: Walk, asked: Question) -> list[Harvest]:
    """Every archive in scope asked at once. Some failed is part of the answer; all failed is an
    error."""
    harvests = {archive.key: _scope(walk, archive, asked) for archive in asked.archives}
    part = {key: harvest for key, harvest in harvests.items() if harvest.absent_because is None}
    chosen = _chosen_wordings(asked)
    jobs = {key: partial(_gather, walk, harvest, asked, chosen) for key, harvest in part.items()}
    names = {key: harvest.archive.name for key, harvest in part.items()}
    for key, outcome in ask_each(jobs, names, asked.call).items():
        if isinstance(outcome, SourceError):  # at the deadline, or a fault of the adapter
            harvests[key] = part[key].left_behind(outcome)
    found = list(harvests.values())
    if part and not any(harvest.answered for harvest in found):
        raise _none_answered(walk, found)
    return found


def _none_answered(walk: Walk, harvests: Sequence[Harvest]) -> SourceError:
    """What every archive's failure comes to; that none has a kept answer is said once."""
    errors = [harvest.error for harvest in harvests if harvest.error is not None]
    if {error.reason for error in errors} == {"not_on_the_shelf"}:
        return ArchiveUnreachable("This question is not on the shelf of kept answers.",
                                  hint=errors[0].hint, reason="not_on_the_shelf")
    return AllFailed(_reports(walk, harvests, {}))


def _scope(walk: Walk, archive: type[Archive], asked: Question) -> Harvest:
    """Whether an archive takes part, decided before anything is sent."""
    query, absence = asked.query, archive.absence(walk.call, asked.opener.settings)
    if absence is None and query.native and archive.native_syntax is None:
        absence = f"{archive.name} takes no query in a syntax of its own."
    if absence is None and query.media_type and query.media_type not in archive.media_types:
        absence = (f"{archive.name} files nothing under {query.media_type!r}; its own names are "
                   f"{', '.join(archive.media_types)}.")
    plan = walk.plan(archive, query) if absence is None else Request(query=query)
    if query.native and absence is None and (plan.dropped or plan.absent_because):
        name, because = next(iter(plan.dropped), ("", plan.absent_because))
        raise InvalidInput(f"{name or 'This'} cannot stand beside a native query of "
                           f"{archive.name}: {because}", reason="contradiction",
                           hint="Leave it out, or write it into the query.")
    absence = absence or plan.absent_because
    opened = asked.opener.open(archive, asked.call) if absence is None else None
    return Harvest(archive=archive, plan=plan, absent_because=absence, opened=opened)


def _chosen_wordings(asked: Question) -> Sequence[Wording]:
    query = asked.query
    if not query.words:
        return (Wording(text="", derivation="fields alone"),)
    derived = wordings(query.words)
    return derived if asked.fan_out and query.page == 1 and not query.native else derived[:1]


def _vocabulary(harvest: Harvest, query: Query) -> dict[str, Any]:
    asked = harvest.plan.media_type_asked or query.media_type
    return {"source": harvest.archive.key, "name": harvest.archive.name,
            "asked_with": None if harvest.absent_because else asked,
            "vocabulary": harvest.archive.media_types}


# ---- asking --------------------------------------------------------------------------------------

def _gather(walk: Walk, harvest: Harvest, asked: Question, chosen: Sequence[Wording]) -> None:
    """One archive, its wordings one after another, in the order DESIGN 6 gives."""
    assert harvest.opened is not None
    budget_s = asked.call.remaining_s()
    for number, wording in enumerate(chosen):
        spent = 1 - asked.call.remaining_s() / budget_s if budget_s else 1.0
        why_not = _withheld(harvest, asked.query, spent) if number else None
        if why_not:
            harvest.queries.append(Asked(query=wording.text, derivation=wording.derivation,
                                         ran=False, not_run_because=why_not))
            asked.call.tell(f"{harvest.archive.name}: a wording was withheld, {why_not}")
        else:
            _ask(walk, harvest, replace(asked.query, words=wording.text), wording)


def _ask(walk: Walk, harvest: Harvest, query: Query, wording: Wording) -> None:
    """One wording put to one archive, and what came of it."""
    opened = harvest.opened
    assert opened is not None
    sent_before, asked = opened.sent(), Asked(query=wording.text, derivation=wording.derivation,
                                              ran=True)
    archive = harvest.archive
    planned = harvest.plan if query == harvest.plan.query else walk.plan(archive, query)
    try:
        page = opened.ask(partial(_searched, walk, planned))
    except SourceError as error:
        ran = opened.stand_in or opened.sent() != sent_before
        harvest.queries.append(replace(asked, ran=ran, error=error.code))
        harvest.error = harvest.error or error
        return
    added = _add(walk, harvest, page, wording)
    harvest.queries.append(replace(asked, count=len(page.records), added=added))


def _searched(walk: Walk, request: Request, archive: Archive) -> Page:
    return walk.search(archive, request)


def _withheld(harvest: Harvest, query: Query, spent: float) -> str | None:
    """Why a derived wording is not sent; None when it is. `spent` is the share of the call's budget
    that is gone."""
    assert harvest.opened is not None
    asked = sum(query.not_run_because is None for query in harvest.queries)
    reasons = (
        (harvest.error is not None and not isinstance(harvest.error, InvalidInput),
         "an earlier wording failed"),
        (len(harvest.rows) >= query.rows, "enough rows had come"),
        (bool(harvest.rows) and '"' in harvest.plan.query.words, "the phrase had brought rows"),
        (asked >= MAX_WORDINGS, f"at most {MAX_WORDINGS} wordings go to one archive"),
        (spent > DERIVING_SHARE, "too much of the call's time was spent"))
    told = next((reason for holds, reason in reasons if holds), None)
    if told is None and harvest.opened.others_waiting():
        return "another call waits for this archive"
    return told


def _add(walk: Walk, harvest: Harvest, page: Page, wording: Wording) -> int:
    """Keep a page's rows that are new and inside the dates; returns how many."""
    harvest.pages.append(page)
    query, archive, before = harvest.plan.query, harvest.archive, len(harvest.rows)
    marks = {"source": archive.key}
    if walk.describes(archive) is not None:
        marks |= {"source_name": archive.name, "found_by_query": wording.text}
    dates_sent = any(name in query.bound_names for name, _ in harvest.plan.sent)
    for row in page.records:
        if dates_sent and row.span is not None and outside(row.span, query):
            harvest.withheld.add(walk.same(row))
        else:
            harvest.rows.setdefault(walk.same(row), replace(row, **marks))
    return len(harvest.rows) - before


def outside(span: tuple[str, str], query: Query) -> bool:
    """Whether a row's own first and last day (YYYY-MM-DD) miss the dates asked. ISO dates of
    four-digit years compare as text."""
    low, high = query.date_from or "0000", query.date_to or "9999"
    first_day, last_day = low + "-01-01"[len(low) - 4:], high + "-12-31"[len(high) - 4:]
    return span[1] < first_day or span[0] > last_day


# ---- merging -------------------------------------------------------------------------------------

def _rows(harvests: Sequence[Harvest], query: Query) -> dict[str, list[Row]]:
    return {harvest.archive.key: harvest.ordered(query.rows) for harvest in harvests}


def _interleave(lists: Sequence[Sequence[Row]]) -> list[Row]:
    """One row from each archive in turn, in registry order, until all are told."""
    return [row for turn in zip_longest(*lists) for row in turn if row is not None]


def _queries_run(harvests: Sequence[Harvest]) -> int:
    return sum(asked.ran for harvest in harvests for asked in harvest.queries)


def _facets(harvests: Sequence[Harvest]) -> tuple[Facet, ...]:
    """Each archive's own terms and counts, of the words as asked; none is added to another's."""
    return tuple(replace(facet, source=harvest.archive.key) for harvest in harvests
                 for page in harvest.pages[:1] for facet in page.facets)


def _order(query: Query, harvests: Sequence[Harvest], *, grouped: bool) -> str:
    several = sum(bool(harvest.rows) for harvest in harvests) > 1
    parts = ["Rows alternate between the archives, each in its own order; nothing is compared "
             "across them." if several else "Rows are in the archive's own order."]
    if grouped:
        parts.append("Matches whose excerpt shows the searched words stand before those whose "
                     "excerpt does not.")
    sorted_inside = [harvest.archive.name for harvest in harvests
                     if harvest.answered and "sort" in dict(harvest.plan.sent)]
    if sorted_inside:
        parts.append(f"The order {query.sort!r} was applied inside {', '.join(sorted_inside)} "
                     "only.")
    return " ".join(parts)


# ---- reporting -----------------------------------------------------------------------------------

def _reports(walk: Walk, harvests: Sequence[Harvest],
             rows: Mapping[str, Sequence[Row]]) -> tuple[Report, ...]:
    return tuple(_report(walk, harvest, len(rows.get(harvest.archive.key, ())))
                 for harvest in harvests)


def _report(walk: Walk, harvest: Harvest, count: int) -> Report:
    """What one archive did; a failed one keeps what it was asked, an absent one carries its reason
    alone."""
    archive, opened = harvest.archive, harvest.opened
    if harvest.absent_because is not None or opened is None:
        return Report.absent(archive, harvest.absent_because or "")
    if not harvest.answered and harvest.error is not None:
        report = Report.failed(archive, harvest.error)
    else:
        report = Report.answered(archive, opened.credit())
    if (describes := walk.describes(archive)) is not None:
        report = replace(report, **dict(_asked_of(harvest)), **dict(_described(describes)))
    if not harvest.answered:
        return report
    first = harvest.pages[0]
    told = None
    if describes:
        told = describes.no_total_because if first.total is None else describes.total_means
    return replace(report, count=count, reported_total=first.total, reported_total_means=told,
                   skipped=sum(page.skipped for page in harvest.pages) or None, more=first.more,
                   last_page=first.last_page)


def _asked_of(harvest: Harvest) -> Iterator[tuple[str, Any]]:
    plan = harvest.plan
    yield from (("media_type_asked", plan.media_type_asked), ("queries", tuple(harvest.queries)),
                ("ordered_on", plan.ordered_on))
    yield "filters_sent", tuple({"filter": name, "as": spelled} for name, spelled in plan.sent)
    yield "filters_dropped", tuple({"filter": name, "because": reason}
                                   for name, reason in plan.dropped)


def _described(describes: Describes) -> Iterator[tuple[str, Any]]:
    for name in ("corpus", "publishes_page_number", "searches_on", "row_describes",
                 "requires_every_word", "year_means"):
        yield name, getattr(describes, name)
