"""A sourced report, written step by step: plan, sources, bibliography, sections, and the whole as
one Markdown document.

The steps hold only what the caller wrote and what catalogue searches returned: no source is
invented, no picture stands in for a missing one, and every source says that it comes from a search
row and was not read.
"""
from __future__ import annotations

import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol

from ..answers import Answer, ItemsAnswer, Report
from ..contract import Archive, Record, to_dict
from ..errors import InvalidInput, SourceError
from ..telling.citations import of_row, plain
from ..telling.harmless import inert, visible
from ..transport.call import Call
from .wordings import wordings

REPORTS_MAX = 20  # open reports kept at once; the one left alone longest goes first
IDLE_S = 6 * 3600.0  # a report untouched so long is forgotten: a working day's morning or afternoon
REPORT_LIMIT_BYTES = 25_000  # DESIGN 4, sequential_report: of the finished document, as UTF-8
# media_type names under which archives file pictures and maps
PICTURE_KINDS = ("image", "photos", "maps", "carte")
PICTURES_A_KIND = 2
_NO_PICTURE = re.compile(r"audio|sound|sonore|video|film|musi", re.IGNORECASE)
_CITED = re.compile(r"\[(\d{1,3})\](?!\()")  # [3]; no year, and no text of a link
_WORDS_A_PAGE = 500  # a printed page of plain text, the usual reckoning


class Searcher(Protocol):
    """What the desk needs of a client."""

    def ask(self, tool: str, arguments: Mapping[str, Any], call: Call | None = None) -> Answer: ...

    def in_scope(self, named: Sequence[str]) -> tuple[type[Archive], ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAnswer(Answer):
    """Of sequential_report. `step` names what was done, `next_step` says what is due; `report`
    stands when it is complete."""

    stated: ClassVar[frozenset[str]] = frozenset({"notes", "sources", "sections"})
    report_id: str
    step: str
    plan: tuple[Mapping[str, Any], ...] = ()
    sources: tuple[Mapping[str, Any], ...] = ()
    graphics: tuple[Mapping[str, Any], ...] = ()
    sections: tuple[Mapping[str, Any], ...] = ()
    progress: Mapping[str, Any] = field(default_factory=dict)
    next_step: str
    report: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Section:
    number: int
    title: str
    content: str
    sources_used: tuple[int, ...]
    is_bibliography: bool


@dataclass(slots=True, kw_only=True)
class Draft:
    """One report in the making. Its own lock keeps two steps of one report apart."""

    id: str
    topic: str
    page_count: int
    source_count: int
    include_graphics: bool
    scope: tuple[str, ...]
    touched_s: float
    total_sections: int
    searched: bool = False
    sources: list[dict[str, Any]] = field(default_factory=list)
    graphics: list[dict[str, Any]] = field(default_factory=list)
    credits: dict[str, None] = field(default_factory=dict)
    sections: dict[int, Section] = field(default_factory=dict)
    complete: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True, kw_only=True)
class Search:
    """The searches of one step, with what they say and how they failed."""

    draft: Draft
    ask: Callable[[Mapping[str, Any]], Answer]
    notes: list[str] = field(default_factory=list)
    failures: list[SourceError] = field(default_factory=list)

    def collect(self, arguments: Mapping[str, Any], into: list[dict[str, Any]], most: int,
                pictures: bool = False) -> None:
        """The rows of one search that are new, until there are `most`."""
        if len(into) >= most:
            return
        scope = {"sources": list(self.draft.scope)} if self.draft.scope else {}
        try:
            answer = self.ask({**arguments, **scope})
        except SourceError as error:
            self.failures.append(error)
            words = arguments.get("query") or arguments["subject"]
            self.notes.append(f"A search for {words} failed ({error.code}): {error.message}")
            return
        assert isinstance(answer, ItemsAnswer)
        reports = {report.source: report for report in answer.reports}
        self._note(answer.reports)
        known = {source["source_url"] for source in into}
        rows = [row for row in answer.items if row.source_url not in known
                and not (pictures and _NO_PICTURE.search(row.media_type or ""))]
        into += [_source(row, reports[row.source]) for row in rows[:most - len(into)]]

    def _note(self, reports: Sequence[Report]) -> None:
        """Whom to credit, and who failed."""
        self.draft.credits |= {report.attribution: None for report in reports if report.attribution}
        self.notes += [f"{report.name} failed ({report.error['code']}); it gave no sources."
                       for report in reports if report.error]


class Desk:
    """The reports that are open, by id. `clock` gives monotonic seconds."""

    def __init__(self, searcher: Searcher, clock: Callable[[], float] = time.monotonic) -> None:
        self._searcher = searcher
        self._clock = clock
        self._drafts: OrderedDict[str, Draft] = OrderedDict()
        self._lock = threading.Lock()

    def step(self, given: Mapping[str, Any], call: Call) -> ReportAnswer:
        """One step. Raises InvalidInput, naming the step that is due, when this one is not."""
        if "topic" in given:
            return self._begin(given)
        draft = self._find(given.get("report_id"))
        with draft.lock:
            if draft.complete:
                raise InvalidInput(
                    f"Report {draft.id} is complete.", hint="Start another with topic."
                )
            if given.get("search_sources"):
                return self._search(draft, call)
            if "section_number" in given or given.get("is_bibliography"):
                return self._write(draft, given)
            raise InvalidInput(
                "This step says neither what to search nor which section to write.",
                hint=_due(draft),
                reason="report_step")

    # ---- the steps -------------------------------------------------------------------------------

    def _begin(self, given: Mapping[str, Any]) -> ReportAnswer:
        if not given["topic"].strip():
            raise InvalidInput(
                "sequential_report.topic holds no word.", hint="Give the topic of the report."
            )
        total = given.get("total_sections") or 1 + max(3, given["page_count"])
        draft = Draft(
            id=given.get("report_id") or secrets.token_hex(4),
            topic=given["topic"].strip(),
            page_count=given["page_count"],
            source_count=given["source_count"],
            include_graphics=given.get("include_graphics", False),
            scope=tuple(given.get("sources", ())),
            touched_s=self._clock(),
            total_sections=total,
        )
        with self._lock:
            self._forget_idle()
            if draft.id in self._drafts and not self._drafts[draft.id].complete:
                raise InvalidInput(
                    f"Report {draft.id!r} is open already.",
                    hint="Leave topic out to go on with it, or choose another report_id.",
                )
            self._drafts[draft.id] = draft
            while len(self._drafts) > REPORTS_MAX:
                self._drafts.popitem(last=False)
        return _told(draft, "planned")

    def _search(self, draft: Draft, call: Call) -> ReportAnswer:
        """Sources from every archive's rows: the topic's words first, then the topic as a subject
        when too few came. What a further search brings is added, since a number that a section
        cites never changes."""
        search = Search(draft=draft, ask=partial(self._searcher.ask, "search_items", call=call))
        most = len(draft.sources) + draft.source_count
        sources = list(draft.sources)
        for arguments in ({"query": draft.topic}, {"subject": draft.topic}):
            search.collect({**arguments, "limit": draft.source_count}, sources, most)
        if not sources and search.failures:
            raise search.failures[0]
        graphics = list(draft.graphics)
        for kind in self._pictorial(draft):
            most = len(graphics) + PICTURES_A_KIND
            for words in dict.fromkeys((_main_words(draft.topic), draft.topic)):
                wanted = {"query": words, "media_type": kind, "limit": 3, "fan_out": False}
                search.collect(wanted, graphics, most, pictures=True)
        draft.sources = [{**source, "number": number} for number, source in enumerate(sources, 1)]
        draft.graphics, draft.searched = graphics, True
        search.notes.append(
            "Sources are rows of catalogue searches; none was read. Read one with get_item before "
            "leaning on it."
        )
        if not sources:
            search.notes.insert(0, f"No archive returned a row for {draft.topic!r}; "
                                   "write without sources, or start again with another topic.")
        return _told(draft, "sources searched", search.notes)

    def _pictorial(self, draft: Draft) -> list[str]:
        """The kinds of pictures that the archives in scope file, when pictures are wanted."""
        known = {kind for archive in self._searcher.in_scope(draft.scope)
                 for kind in archive.media_types}
        return [kind for kind in PICTURE_KINDS if draft.include_graphics and kind in known]

    def _write(self, draft: Draft, given: Mapping[str, Any]) -> ReportAnswer:
        """A section, or the bibliography built from the sources; written again, it replaces what
        stood there."""
        if not draft.searched:
            raise InvalidInput("No sources were searched yet.", hint=_due(draft),
                               reason="report_step")
        section = _section(draft, given)
        total = max(given.get("total_sections") or draft.total_sections, section.number)
        sections = {**draft.sections, section.number: section}
        last = given.get("next_section_needed") is False
        if last and not any(written.is_bibliography for written in sections.values()):
            raise InvalidInput("The report has no bibliography yet.",
                               hint="Write it first: is_bibliography true, with section_number 1.")
        size = len(_document(draft, sections).encode("utf-8", "replace"))
        if size > REPORT_LIMIT_BYTES:
            left = REPORT_LIMIT_BYTES - len(
                _document(draft, draft.sections).encode("utf-8", "replace")
            )
            raise InvalidInput(
                f"With this section the report would have {size} bytes; at most "
                f"{REPORT_LIMIT_BYTES} are kept.",
                hint=f"Shorten the section: {max(0, left)} bytes are left for it, its heading "
                     "included.",
            )
        draft.sections, draft.total_sections, draft.complete = sections, total, last
        step = (
            "bibliography written"
            if section.is_bibliography
            else f"section {section.number} written"
        )
        if not last:
            return _told(draft, step)
        written = sum(number <= total for number in sections)
        return _told(draft, "complete" if written == total else
                     f"ended with {written} of the {total} sections planned")

    # ---- the drafts ------------------------------------------------------------------------------

    def _find(self, report_id: str | None) -> Draft:
        with self._lock:
            self._forget_idle()
            unfinished = [draft for draft in self._drafts.values() if not draft.complete]
            if report_id is None and len(unfinished) != 1:
                open_ids = ", ".join(draft.id for draft in unfinished)
                told = (
                    f"Several reports are open: {open_ids}" if unfinished else "No report is open"
                )
                raise InvalidInput(
                    told + ".", hint="Give report_id." if unfinished else "Start one with topic."
                )
            draft = self._drafts.get(report_id) if report_id is not None else unfinished[0]
            if draft is None:
                raise InvalidInput(
                    f"No report {report_id!r} is kept here: a report ends with the program that "
                    "began it, one "
                    f"left alone for {IDLE_S / 3600:g} hours is forgotten, and at most "
                    f"{REPORTS_MAX} are kept.",
                    hint="Start it again with topic.",
                )
            draft.touched_s = self._clock()
            self._drafts.move_to_end(draft.id)
            return draft

    def _forget_idle(self) -> None:
        oldest = self._clock() - IDLE_S
        for draft in [draft for draft in self._drafts.values() if draft.touched_s < oldest]:
            del self._drafts[draft.id]


# ---- what a step says ----------------------------------------------------------------------------

def _main_words(topic: str) -> str:
    """The topic as the first of its reductions; a picture is filed under few words."""
    return next((wording.text for wording in wordings(topic)[1:]
                 if '"' not in topic and wording.derivation != "without diacritics"), topic)


def _source(record: Record, report: Report) -> dict[str, Any]:
    """A row as a source or a picture: what the row states, its citation, and an image's address
    only where the row has one."""
    cited = of_row(record, retrieved_on=report.retrieved_at or "", credit=report.attribution)
    stated = {
        "identifier": record.identifier,
        "source": record.source,
        "title": record.title,
        "creator": record.creator,
        "date": record.date,
        "media_type": record.media_type,
        "source_url": record.source_url,
        "picture_url": record.cover_url or record.image_url,
        "citation": plain(cited),
    }
    return {name: to_dict(value) for name, value in stated.items() if value is not None}


def _section(draft: Draft, given: Mapping[str, Any]) -> Section:
    is_bibliography = given.get("is_bibliography", False)
    number = given.get("section_number", 1 if is_bibliography else len(draft.sections) + 1)
    used = tuple(dict.fromkeys(given.get("sources_used", ())))
    unknown = [number for number in used if number > len(draft.sources)]
    if unknown:
        raise InvalidInput(
            f"sources_used names source {unknown[0]}; the report has {len(draft.sources)}.",
            hint="Use the numbers listed under sources.",
        )
    content = visible(given.get("content", "")).strip()
    cited = [number for number in map(int, _CITED.findall(content))
             if not 0 < number <= len(draft.sources)]
    if cited:
        known = f"its sources are [1] to [{len(draft.sources)}]" if draft.sources else "it has none"
        raise InvalidInput(
            f"content cites [{cited[0]}], which is no source of the report: {known}.",
            hint="Cite the numbers listed under sources.")
    if not content and not is_bibliography:
        raise InvalidInput(f"Section {number} has no content.", hint="Give content.")
    title = inert(
        given.get("title") or ("Bibliography" if is_bibliography else f"Section {number}")
    )
    return Section(
        number=number,
        title=title,
        content=content,
        sources_used=used,
        is_bibliography=is_bibliography,
    )


def _due(draft: Draft) -> str:
    """The step that is due, with the arguments that make it."""
    if draft.complete:
        return "Nothing is due: the report has ended."
    if not draft.searched:
        return "Search for sources: search_sources true."
    if not any(section.is_bibliography for section in draft.sections.values()):
        return ("Write the bibliography: section_number 1, is_bibliography true; "
                "it is made from sources_used, or from all sources.")
    missing = [
        number for number in range(1, draft.total_sections + 1) if number not in draft.sections
    ]
    number = missing[0] if missing else draft.total_sections + 1
    closing = (
        " This is the last one planned: set next_section_needed to false with it."
        if len(missing) <= 1
        else ""
    )
    return (
        f"Write section {number} of {draft.total_sections}: section_number, title, content, "
        f"sources_used.{closing}"
    )


def _plan(draft: Draft) -> tuple[dict[str, Any], ...]:
    """The sections planned: bibliography, introduction, parts, conclusion; about as many words as
    the pages asked."""
    parts = draft.total_sections - 1
    words = draft.page_count * _WORDS_A_PAGE // max(1, parts)
    of_parts = [
        "Introduction" if at == 1 else "Conclusion" if at == parts else f"Part {at - 1}"
        for at in range(1, parts + 1)
    ]
    return tuple({"section_number": number, "title": title, "written": number in draft.sections,
                  **({"about_words": words} if number > 1 else {})}
                 for number, title in enumerate(["Bibliography", *of_parts], 1))


def _told(draft: Draft, step: str, notes: Sequence[str] = ()) -> ReportAnswer:
    document = _document(draft, draft.sections) if draft.sections else ""
    progress = {"sections_written": len(draft.sections), "total_sections": draft.total_sections,
                "bytes_left": REPORT_LIMIT_BYTES - len(document.encode("utf-8", "replace"))}
    # the lists are long: told when they are made, not at every step
    listed = step in ("sources searched", "planned")
    sections = tuple(
        {
            "section_number": section.number,
            "title": section.title,
            "characters": len(section.content),
            "sources_used": list(section.sources_used),
        }
        for _, section in sorted(draft.sections.items())
    )
    return ReportAnswer(
        report_id=draft.id,
        step=step,
        plan=_plan(draft) if listed else (),
        sources=tuple(draft.sources) if listed else (),
        graphics=tuple(draft.graphics) if listed else (),
        sections=sections,
        progress=progress,
        next_step=_due(draft),
        report=document if draft.complete else None,
        notes=tuple(dict.fromkeys(notes))[:8],
    )


def _document(draft: Draft, sections: Mapping[int, Section]) -> str:
    """The report as Markdown: title, sections in order with the bibliography last, pictures,
    credits."""
    written = [section for _, section in sorted(sections.items())]
    parts = [f"# {inert(draft.topic)}"]
    for section in [section for section in written if not section.is_bibliography]:
        used = (
            f"\n\nSources: {', '.join(f'[{number}]' for number in section.sources_used)}"
            if section.sources_used
            else ""
        )
        parts.append(f"## {section.title}\n\n{section.content}{used}")
    if draft.graphics:
        lines = (
            f"- {inert(picture.get('title', 'untitled'))}: "
            f"{picture.get('picture_url', picture['source_url'])}"
            for picture in draft.graphics
        )
        parts.append("## Pictures\n\n" + "\n".join(lines))
    for section in [section for section in written if section.is_bibliography]:
        used_anywhere = {number for other in written for number in other.sources_used}
        wanted = [
            source
            for source in draft.sources
            if not used_anywhere or source["number"] in used_anywhere
        ]
        entries = "\n".join(f"{source['number']}. {inert(source['citation'])}" for source in wanted)
        parts.append(
            f"## {section.title}\n\n"
            + "\n\n".join(part for part in (section.content, entries) if part)
        )
    if draft.credits:
        parts.append("Credits: " + "; ".join(inert(credit) for credit in draft.credits))
        parts.append("The sources were found by catalogue searches and not read here.")
    return "\n\n".join(parts) + "\n"
