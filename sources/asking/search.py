"""The two searches: which archive is asked what, in which wordings, and how their rows become one list.

One walk serves text and catalogue. A `Kind` holds what differs: the methods called and what makes two rows the same.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from ..answers import AllFailed, Asked, InsideAnswer, ItemsAnswer, Report
from ..contract import Archive, Describes, Facet, Page, Query, Request
from ..errors import InvalidInput, SourceError
from ..transport.call import Call
from .notes import remarks
from .opening import Opened, Opener
from .reporting import report_absent, report_asked
from .together import ask_each
from .wordings import Wording, wordings

MAX_WORDINGS = 3  # requests an archive, at most, for one question (DESIGN 6)
DERIVING_SHARE = 0.4  # of the call's budget; once it is spent no further wording is started (DESIGN 4, "Wordings")

Row = Any  # TextMatch or Record: both have identifier, source_url, span and found_by_query


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What tells the two searches apart."""

    call: str
    plan: Callable[[type[Archive], Query], Request]
    search: Callable[[Archive, Request], Page]
    describes: Callable[[type[Archive]], Describes]
    same: Callable[[Row], tuple[Any, ...]]


TEXT = Kind(call="search_inside", plan=lambda archive, query: archive.plan_text(query),
            search=lambda archive, request: archive.search_text(request), describes=lambda archive: archive.text,
            same=lambda row: (row.identifier or row.source_url, row.matched_file, row.page_number))
CATALOGUE = Kind(call="search_items", plan=lambda archive, query: archive.plan_catalogue(query),
                 search=lambda archive, request: archive.search_catalogue(request), describes=lambda archive: archive.catalogue,
                 same=lambda row: (row.identifier or row.source_url,))


@dataclass(slots=True, kw_only=True)
class Harvest:
    """One archive's part in the question: how it takes part, and what it brought. Its own thread alone fills it."""

    archive: type[Archive]
    plan: Request
    absent_because: str | None
    rows: dict[tuple[Any, ...], Row] = field(default_factory=dict)
    queries: list[Asked] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    withheld: set[tuple[Any, ...]] = field(default_factory=set)  # rows outside the dates asked, whichever wording brought them
    error: SourceError | None = None  # the first wording's that failed; the archive failed when `pages` is empty
    opened: Opened | None = None

    @property
    def answered(self) -> bool:
        return bool(self.pages)

    def ordered(self, limit: int) -> list[Row]:
        """The rows in the order the wordings were sent."""
        return list(self.rows.values())[:limit]


def search_inside(query: Query, archives: Sequence[type[Archive]], *, fan_out: bool, opener: Opener, call: Call) -> InsideAnswer:
    """Words in the text itself. Matches whose excerpt shows the words stand before those whose excerpt does not.

    Raises:
        AllFailed: every archive that was asked failed. InvalidInput: a value that the caller must mend.
    """
    harvests = _harvest(TEXT, query, archives, fan_out, opener, call)
    rows = {harvest.archive.key: harvest.ordered(query.rows) for harvest in harvests}
    shown = [[row for row in found if row.excerpt_kind == "passage"] for found in rows.values()]
    unseen = [[row for row in found if row.excerpt_kind != "passage"] for found in rows.values()]
    hits = tuple(_interleave(shown) + _interleave(unseen))
    kinds = {kind: sum(len(hit.excerpts) for hit in hits if hit.excerpt_kind == kind) for kind in ("passage", "page_opening")}
    return InsideAnswer(query=query.words, page=query.page, hits=hits, hit_count=len(hits), excerpt_kinds=kinds,
                        per_source=_reports(TEXT, harvests, rows), queries_run=_queries_run(harvests), facets=_facets(harvests),
                        order=_order(query, harvests, grouped=any(shown) and any(unseen)),
                        notes=remarks(query, harvests, rows, openings=kinds["page_opening"], fan_out=fan_out))


def search_items(query: Query, archives: Sequence[type[Archive]], *, fan_out: bool, opener: Opener, call: Call) -> ItemsAnswer:
    """The catalogues, each in its own vocabulary. Raises as search_inside."""
    harvests = _harvest(CATALOGUE, query, archives, fan_out and not query.native, opener, call)
    rows = {harvest.archive.key: harvest.ordered(query.rows) for harvest in harvests}
    items = tuple(_interleave(list(rows.values())))
    return ItemsAnswer(query=query.words or None, page=query.page, items=items, item_count=len(items),
                       per_source=_reports(CATALOGUE, harvests, rows), queries_run=_queries_run(harvests),
                       facets=_facets(harvests),
                       media_types=tuple(_vocabulary(harvest, query) for harvest in harvests if harvest.archive.media_types),
                       order=_order(query, harvests, grouped=False),
                       notes=remarks(query, harvests, rows, openings=0, fan_out=fan_out))


# ---- who is asked, and what ------------------------------------------------------------------------------------------

def _harvest(kind: Kind, query: Query, archives: Sequence[type[Archive]], fan_out: bool,
             opener: Opener, call: Call) -> list[Harvest]:
    """Every archive in scope asked at once. Some failed is part of the answer; all failed is an error."""
    harvests = [_scope(kind, archive, query, opener) for archive in archives]
    asked = {harvest.archive.key: harvest for harvest in harvests if harvest.absent_because is None}
    chosen = _chosen_wordings(query, fan_out)
    names = {key: harvest.archive.name for key, harvest in asked.items()}
    outcomes = ask_each({key: _job(kind, harvest, query, chosen, opener, call) for key, harvest in asked.items()}, names, call)
    for key, outcome in outcomes.items():
        if isinstance(outcome, SourceError):  # left behind at the deadline, or a fault of the adapter: what stands, stands
            asked[key] = replace(asked[key], rows=dict(asked[key].rows), queries=list(asked[key].queries),
                                 pages=list(asked[key].pages), withheld=set(asked[key].withheld),
                                 error=asked[key].error or outcome)
    harvests = [asked.get(harvest.archive.key, harvest) for harvest in harvests]
    if asked and not any(harvest.answered for harvest in harvests):
        raise AllFailed(_reports(kind, harvests, {}))
    return harvests


def _scope(kind: Kind, archive: type[Archive], query: Query, opener: Opener) -> Harvest:
    """Whether an archive takes part, decided before anything is sent."""
    absence = archive.absence(kind.call, opener.settings)
    if absence is None and query.native and archive.native_syntax is None:
        absence = f"{archive.name} takes no query in a syntax of its own."
    if absence is None and query.media_type is not None and query.media_type not in archive.media_types:
        absence = f"{archive.name} files nothing under {query.media_type!r}; its own names are {', '.join(archive.media_types)}."
    plan = kind.plan(archive, query) if absence is None else Request()
    return Harvest(archive=archive, plan=plan, absent_because=absence or plan.absent_because)


def _chosen_wordings(query: Query, fan_out: bool) -> Sequence[Wording]:
    if not query.words:
        return (Wording(text="", derivation="fields alone"),)
    derived = wordings(query.words)
    return derived if fan_out and query.page == 1 else derived[:1]


def _vocabulary(harvest: Harvest, query: Query) -> dict[str, Any]:
    asked = None if harvest.absent_because else harvest.plan.media_type_asked or query.media_type
    return {"source": harvest.archive.key, "name": harvest.archive.name,
            "asked_with": asked, "vocabulary": harvest.archive.media_types}


# ---- asking ----------------------------------------------------------------------------------------------------------

def _job(kind: Kind, harvest: Harvest, query: Query, chosen: Sequence[Wording], opener: Opener, call: Call) -> Callable[[], None]:
    return lambda: _gather(kind, harvest, query, chosen, opener, call)


def _gather(kind: Kind, harvest: Harvest, query: Query, chosen: Sequence[Wording], opener: Opener, call: Call) -> None:
    """One archive, its wordings one after another, in the order DESIGN 6 gives."""
    opened = harvest.opened = opener.open(harvest.archive, call)
    budget_s = call.remaining_s()
    for number, wording in enumerate(chosen):
        withheld = number and _withheld(harvest, query, opened, spent=1 - call.remaining_s() / budget_s if budget_s else 1.0)
        if withheld:
            harvest.queries.append(Asked(query=wording.text, derivation=wording.derivation, ran=False, not_run_because=withheld))
            call.tell(f"{harvest.archive.name}: a wording was withheld, {withheld}")
            continue
        sent_before = opened.sent()
        try:
            page = opened.ask(_search(kind, harvest.archive, replace(query, words=wording.text)))
        except SourceError as error:
            ran = opened.stand_in or opened.sent() != sent_before
            harvest.queries.append(Asked(query=wording.text, derivation=wording.derivation, ran=ran, error=error.code))
            harvest.error = harvest.error or error
            continue
        added = _add(kind, harvest, page, query, wording)
        harvest.queries.append(Asked(query=wording.text, derivation=wording.derivation, ran=True,
                                     count=len(page.records), added=added))


def _search(kind: Kind, planner: type[Archive], query: Query) -> Callable[[Archive], Page]:
    return lambda archive: kind.search(archive, replace(kind.plan(planner, query), query=query))


def _withheld(harvest: Harvest, query: Query, opened: Opened, *, spent: float) -> str | None:
    """Why a derived wording is not sent; None when it is. `spent` is the share of the call's budget that is gone."""
    if harvest.error is not None and not isinstance(harvest.error, InvalidInput):
        return "an earlier wording failed"
    if len(harvest.rows) >= query.rows:
        return "enough rows had come"
    if sum(asked.not_run_because is None for asked in harvest.queries) >= MAX_WORDINGS:
        return f"at most {MAX_WORDINGS} wordings go to one archive"
    if spent > DERIVING_SHARE:
        return "too much of the call's time was spent"
    if opened.others_waiting():
        return "another call waits for this archive"
    return None


def _add(kind: Kind, harvest: Harvest, page: Page, query: Query, wording: Wording) -> int:
    """Keep a page's rows that are new and inside the dates; returns how many."""
    harvest.pages.append(page)
    dates_sent = any(name in query.bound_names for name, _ in harvest.plan.sent)
    before = len(harvest.rows)
    for row in page.records:
        if dates_sent and row.span is not None and outside(row.span, query.date_from, query.date_to):
            harvest.withheld.add(kind.same(row))
        else:
            named = replace(row, source=harvest.archive.key, source_name=harvest.archive.name, found_by_query=wording.text)
            harvest.rows.setdefault(kind.same(row), named)
    return len(harvest.rows) - before


def outside(span: tuple[str, str], date_from: str | None, date_to: str | None) -> bool:
    """Whether a row's own first and last day (YYYY-MM-DD) miss the dates asked. ISO dates of four-digit years compare as text."""
    first_day = (date_from or "0000") + "-01-01"[len(date_from or "0000") - 4:]
    last_day = (date_to or "9999") + "-12-31"[len(date_to or "9999") - 4:]
    return span[1] < first_day or span[0] > last_day


# ---- merging ---------------------------------------------------------------------------------------------------------

def _interleave(lists: Sequence[Sequence[Row]]) -> list[Row]:
    """One row from each archive in turn, in registry order, until all are told."""
    return [row for turn in zip_longest(*lists) for row in turn if row is not None]


def _queries_run(harvests: Sequence[Harvest]) -> int:
    return sum(asked.ran for harvest in harvests for asked in harvest.queries)


def _facets(harvests: Sequence[Harvest]) -> tuple[Facet, ...]:
    """Each archive's own terms and counts, of the words as asked; none is added to another's."""
    return tuple(replace(facet, source=harvest.archive.key)
                 for harvest in harvests for page in harvest.pages[:1] for facet in page.facets)


def _order(query: Query, harvests: Sequence[Harvest], *, grouped: bool) -> str:
    parts = ["Rows alternate between the archives, each archive's in its own order; "
             "neither relevance nor date is compared across them."]
    if grouped:
        parts.append("Matches whose excerpt shows the searched words stand before those whose excerpt does not.")
    sorted_inside = [harvest.archive.name for harvest in harvests if harvest.answered and "sort" in dict(harvest.plan.sent)]
    if sorted_inside:
        parts.append(f"The order {query.sort!r} was applied inside {', '.join(sorted_inside)} only.")
    return " ".join(parts)


# ---- reporting -------------------------------------------------------------------------------------------------------

def _reports(kind: Kind, harvests: Sequence[Harvest], rows: Mapping[str, Sequence[Row]]) -> tuple[Report, ...]:
    return tuple(_report(kind, harvest, len(rows.get(harvest.archive.key, ()))) for harvest in harvests)


def _report(kind: Kind, harvest: Harvest, count: int) -> Report:
    """What one archive did; a failed one keeps what it was asked, an absent one carries its reason alone."""
    if harvest.absent_because is not None:
        return report_absent(harvest.archive, harvest.absent_because)
    describes, plan = kind.describes(harvest.archive), harvest.plan
    common = replace(
        report_asked(harvest.archive, harvest.opened, harvest.error if not harvest.answered else None),
        media_type_asked=plan.media_type_asked, queries=tuple(harvest.queries), ordered_on=plan.ordered_on,
        filters_sent=tuple({"filter": name, "as": spelled} for name, spelled in plan.sent),
        filters_dropped=tuple({"filter": name, "because": reason} for name, reason in plan.dropped),
        corpus=describes.corpus, publishes_page_number=describes.publishes_page_number, searches_on=describes.searches_on,
        row_describes=describes.row_describes, requires_every_word=describes.requires_every_word, year_means=describes.year_means)
    if not harvest.answered:
        return common
    first = harvest.pages[0]
    total_means = describes.total_means if first.total is not None else None
    return replace(common, count=count, reported_total=first.total, reported_total_means=total_means,
                   skipped=sum(page.skipped for page in harvest.pages) or None, more=first.more)


