"""What a caller gets back: one frozen class a tool, whose fields are the tool's output schema, and
the report on each archive.

`to_dict()` of an answer is the structured content, key for key; `reports` is `per_source` under the
name a program reads.
"""
from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .contract import (
    Archive,
    Collection,
    Facet,
    Heading,
    Item,
    Passage,
    Record,
    Rights,
    TextMatch,
    to_dict,
)
from .errors import SourceError
from .regions import Region

MAX_NOTES = 8  # DESIGN 4, "Size"
# How the note of an answer begins whose archives are all absent; their reasons follow.
NOBODY_ASKED = "No archive was asked: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One wording put to one archive, or withheld from it. `count` is what it returned, `added`
    what no earlier one had."""

    query: str
    derivation: str
    ran: bool
    count: int | None = None
    added: int | None = None
    not_run_because: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one archive did with the question. Keys that do not apply stay None and are left out on
    the wire."""

    source: str
    name: str
    status: str  # answered | failed | absent
    stage: str | None = None
    absent_because: str | None = None
    count: int | None = None
    reported_total: int | None = None
    reported_total_means: str | None = None
    skipped: int | None = None
    more: bool | None = None
    last_page: int | None = None
    ordered_on: str | None = None
    media_type_asked: str | None = None
    attribution: str | None = None
    filters_sent: tuple[Mapping[str, str], ...] = ()
    filters_dropped: tuple[Mapping[str, str], ...] = ()
    queries: tuple[Asked, ...] = ()
    cached: bool | None = None
    replayed: bool | None = None
    retrieved_at: str | None = None
    error: Mapping[str, Any] | None = None
    corpus: str | None = None
    publishes_page_number: bool | None = None
    searches_on: str | None = None
    row_describes: str | None = None
    requires_every_word: bool | None = None
    year_means: str | None = None

    @classmethod
    def absent(cls, archive: type[Archive], because: str) -> Report:
        """An archive that was not asked carries its reason and no description of itself."""
        return cls(source=archive.key, name=archive.name, status="absent",
                   absent_because=because)

    @classmethod
    def failed(cls, archive: type[Archive], error: SourceError, stage: str = "search") -> Report:
        """An archive that was asked and did not answer, with the moment and the reason."""
        return cls(source=archive.key, name=archive.name, status="failed",
                   stage=error.stage or stage, error=failure(error))

    @classmethod
    def answered(cls, archive: type[Archive], credit: Mapping[str, Any]) -> Report:
        """`credit` is what is said of any answer: attribution, cached, replayed, retrieved_at."""
        return cls(source=archive.key, name=archive.name, status="answered", **credit)


def failure(error: SourceError) -> dict[str, Any]:
    """An error as it stands in an answer. Seconds are rounded up: asking a moment too early helps
    nobody."""
    told: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
    if error.retry_after_s is not None:
        told["retry_after_s"] = int(-(-error.retry_after_s // 1))
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the client adds: how an answer reads, "text" or a "html" document. Left out, an answer
    is shown as any value is."""

    show: Callable[[Any, str], str] | None = field(default=None, repr=False, compare=False)


class Answer(Shown):
    """What every answer has: its wire form, whose keys come in the order of the fields, and the
    forms that people read. `str()` of it is the text block, which a notebook shows as it is."""

    __slots__ = ()
    inner: ClassVar[frozenset[str]] = frozenset({"show"})
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return self.show(self, "text") if self.show else repr(self)

    def to_html(self) -> str:
        """A document that needs nothing else, as `--html` writes it. Only of the client's
        answers."""
        if self.show is None:
            raise ValueError("Only an answer that a client gave can be written as a document.")
        return self.show(self, "html")

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the page in a frame that can neither reach the notebook nor be
        styled by it."""
        if self.show is None:
            return None
        inside = html.escape(self.to_html(), quote=True)
        return (f'<iframe srcdoc="{inside}" sandbox="allow-scripts allow-popups" title="An answer '
                'of several libraries" style="width: 100%; height: 40em; border: 0"></iframe>')

    def _repr_markdown_(self) -> str:
        """Fenced, since the words are the archives' own and nobody's markup; the text block has no
        backtick that could end the fence."""
        return f"```text\n{self}\n```"

    def to_dict(self) -> dict[str, Any]:
        wire: dict[str, Any] = to_dict(self)
        return wire


class ListAnswer(Answer):
    """An answer put together from several archives; `reports` says what each did, `repeat_with` is
    the command that asks the same again."""

    __slots__ = ()
    per_source: tuple[Report, ...]
    repeat_with: str | None

    @property
    def reports(self) -> tuple[Report, ...]:
        return self.per_source


class CountedAnswer(Answer):
    """An answer of entries, which a host may take in part: `some(n)` is it with n of them."""

    __slots__ = ()
    inner: ClassVar[frozenset[str]] = Answer.inner | {"some"}
    entries: tuple[Any, ...]
    some: Callable[[int], Answer] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InsideAnswer(ListAnswer):
    """Of search_inside. `queries_run` counts the wordings that were put to archives, all archives
    together."""

    stated: ClassVar[frozenset[str]] = frozenset({"hits", "per_source", "notes"})
    query: str
    page: int = 1
    hits: tuple[TextMatch, ...] = ()
    hit_count: int = 0
    per_source: tuple[Report, ...] = ()
    queries_run: int = 0
    excerpt_kinds: Mapping[str, int] = field(default_factory=dict)
    order: str = ""
    facets: tuple[Facet, ...] = ()
    repeat_with: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsAnswer(ListAnswer):
    """Of search_items. `query` None = asked by fields alone."""

    stated: ClassVar[frozenset[str]] = frozenset({"items", "per_source", "media_types", "notes"})
    query: str | None = None
    page: int = 1
    items: tuple[Record, ...] = ()
    item_count: int = 0
    per_source: tuple[Report, ...] = ()
    queries_run: int = 0
    media_types: tuple[Mapping[str, Any], ...] = ()
    order: str = ""
    facets: tuple[Facet, ...] = ()
    repeat_with: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which part of a text was returned, in characters; `next_offset` None at its end."""

    stated: ClassVar[frozenset[str]] = frozenset({"next_offset"})
    offset: int
    returned_chars: int
    total_chars: int
    next_offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWindow:
    """Which part of a list was returned; `next_offset` None at its end."""

    stated: ClassVar[frozenset[str]] = frozenset({"next_offset"})
    offset: int
    returned: int
    total: int
    next_offset: int | None


SECTIONS = ("description", "subjects", "copies", "context", "contributors", "editions", "pages",
            "citation")
_FIELDS_OF_SECTION = {
    "description": ("description", "description_means", "notes"),
    "copies": ("copies", "copies_available", "generated_entries", "resources"),
    "subjects": ("subjects", "subject_terms", "locations", "subject_places", "subject_times",
                 "subject_people"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAnswer(Answer):
    """Of get_item. `item` is the record cut to the window asked, `record` the whole one.

    On the wire only the sections asked stand, an empty one as an empty list or null, so that it
    reads as nothing stated. A section that the archive is never read for stands in neither list of
    sections, only in the last of the three. `stated_notes` are the notes that no window changes.
    """

    stated: ClassVar[frozenset[str]] = frozenset({
        "notes", "sections_returned", "sections_omitted", "fields_not_read_from_this_archive"})
    inner: ClassVar[frozenset[str]] = Answer.inner | {"record", "window", "stated_notes", "cite"}
    item: Item
    record: Item
    window: Any = None  # telling.windows.ItemWindow
    cite: Callable[[Item], Item] | None = None  # puts a record's citation into it anew
    stated_notes: tuple[str, ...] = ()
    id_read_as: str | None = None
    sections_returned: tuple[str, ...] = ()
    sections_omitted: tuple[str, ...] = ()
    fields_not_read_from_this_archive: tuple[str, ...] = ()
    text_window: Window | None = None
    list_window: ListWindow | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        wire: dict[str, Any] = to_dict(self)
        item = wire["item"]
        for section in SECTIONS:
            asked = section in self.sections_returned
            for name in _FIELDS_OF_SECTION.get(section, (section,)):
                if not asked:
                    item.pop(name, None)
            if asked and section != "citation":
                item.setdefault(section, None if section == "description" else [])
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture as it came: of what (`shows` page or passage), from where, in pixels; on the wire
    `bytes` is their number. `region` is the part of the page that it shows, `placed_by` how that
    was found."""

    shows: str
    url: str
    media_type: str
    width: int
    height: int
    bytes: bytes = field(repr=False)
    region: Region | None = None
    placed_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnswer(Answer):
    """Of read_text: a page's text, or passages. `match_count` None = the archive counts nothing
    here."""

    stated: ClassVar[frozenset[str]] = frozenset({"notes", "title", "page_number"})
    inner: ClassVar[frozenset[str]] = Answer.inner | {"whole_text", "text_offset"}
    identifier: str
    source: str
    title: str | None = None
    published_on: str | None = None
    publication: str | None = None
    places: tuple[str, ...] = ()
    edition: str | None = None
    page_number: int | None = None
    page_number_is: str | None = None
    printed_page: str | None = None
    page_count: int | None = None
    text: str | None = None
    passages: tuple[Passage, ...] | None = None
    match_count: int | None = None
    ocr_available: bool | None = None
    text_refused: str | None = None
    source_url: str
    image_url: str | None = None
    previous_page: int | None = None
    next_page: int | None = None
    item_identifier: str | None = None
    text_window: Window | None = None
    rights: Rights = field(default_factory=Rights)
    citation: Mapping[str, Any] | None = None
    picture: Picture | None = None
    picture_refused: str | None = None
    attribution: str = ""
    notes: tuple[str, ...] = ()
    whole_text: str | None = None
    text_offset: int = 0

    def to_dict(self) -> dict[str, Any]:
        """`text` null is a statement where a page was read; `passages` [] where a match was
        asked."""
        wire: dict[str, Any] = to_dict(self)
        if self.passages is None:
            wire.setdefault("text", None)
        else:
            wire.setdefault("passages", [])
            wire.setdefault("match_count", None)
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingsAnswer(ListAnswer):
    """Of search_headings."""

    stated: ClassVar[frozenset[str]] = frozenset({"headings", "per_source", "notes"})
    headings: tuple[Heading, ...] = ()
    per_source: tuple[Report, ...] = ()
    repeat_with: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionsAnswer(ListAnswer):
    """Of browse_collections."""

    stated: ClassVar[frozenset[str]] = frozenset({"collections", "per_source", "notes"})
    collections: tuple[Collection, ...] = ()
    per_source: tuple[Report, ...] = ()
    repeat_with: str | None = None
    notes: tuple[str, ...] = ()


class AllFailed(SourceError):
    """Every archive that was asked failed; `reports` says how each did, absent ones included.

    The code is the archives' own when they agree, else network_error; `retry_after_s` the shortest
    wait, when all of them named one.
    """

    def __init__(self, reports: tuple[Report, ...], notes: tuple[str, ...] = ()) -> None:
        errors = [report.error for report in reports if report.error is not None]
        codes = {error["code"] for error in errors}
        waits = [
            error["retry_after_s"] for error in errors if error.get("retry_after_s") is not None
        ]
        super().__init__(
            "None of the archives asked could answer; this says nothing about what they hold.",
            hint="Each archive's own reason says whether asking again helps.",
            retry_after_s=min(waits) if errors and len(waits) == len(errors) else None,
        )
        self.code = codes.pop() if len(codes) == 1 else self.code
        self.reports = reports
        self.notes = notes

    def __str__(self) -> str:
        """For a program that prints it: the message, then each archive's own reason."""
        return " ".join(
            [
                self.message,
                *(
                    f"{report.name}: {report.error['code']}: {report.error['message']}"
                    if report.error
                    else f"{report.name}: {report.absent_because}"
                    for report in self.reports
                ),
            ]
        )
