"""What every archive promises, and the values that travel between an archive and whoever asks it.

An archive turns a `Query` into a `Page` of records, an identifier into an `Item`, a page into a
`PageText`. It knows no tool and no protocol; it opens no connection but by the `Way` it was made
with. `None` in a value means that the archive does not say; `""` and `0` are never made to mean it.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, TypeVar
from urllib.parse import SplitResult

from .errors import InvalidInput, SourceError
from .regions import Region, Sheet
from .settings import Settings
from .text import Excerpt, scalar_text

Entry = TypeVar("Entry")

CALLS = (
    "search_inside",
    "search_items",
    "get_item",
    "read_text",
    "search_headings",
    "browse_collections",
)
FIELDS = (
    "title",
    "creator",
    "subject",
    "publisher",
    "isbn",
    "lccn",
    "oclc",
    "language",
    "place",
    "collection",
)
# never dropped: an archive that cannot apply one is absent
IDENTIFYING = ("isbn", "lccn", "oclc", "collection")


# ---- one request, and its answer -----------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One readable answer. `value` is decoded (JSON value, lxml element or text); `headers` have
    lower-case names; `url` is the archive's own address after redirects; `retrieved_at` is when it
    was first fetched (ISO 8601, UTC, seconds); `sha256` is of the body, where answers are kept."""

    value: Any
    status: int
    headers: Mapping[str, str]
    url: str
    retrieved_at: str
    cached: bool
    sha256: str | None = None


# raises a SourceError when a 200 is no answer; runs before anything is kept
Check = Callable[[Reply], None]
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request as an adapter writes it: the one value from there to the socket.

    `url` is an address of the archive's own, to which `params` are added in order, percent-encoded;
    `form` makes it a POST. `body` is what is due: json, xml (entities, network and recovery off),
    text, html or picture (its bytes); a web page is an answer to html alone. Statuses other than
    those in `statuses` raise by the common table, a challenge page raises whatever its status;
    where a further status is no JSON, `value` is its text. `check_text` sees the body as text,
    `check` the decoded value, both before anything is kept: raising there means that the answer is
    neither returned nor cached, and an error whose `retryable` is true is asked again like a
    dropped connection.
    `run_on` lets the request go on into the cache after the call's deadline.
    """

    url: str
    params: Pairs = ()
    form: Pairs = ()
    headers: Pairs = ()
    body: str = "json"
    statuses: tuple[int, ...] = (200,)
    check_text: Check | None = None
    check: Check | None = None
    run_on: bool = False

    @property
    def method(self) -> str:
        return "POST" if self.form else "GET"

    @property
    def question(self) -> tuple[str, Pairs, Pairs]:
        """What is asked, however its answer is read: who asks the same question has the same
        answer."""
        return self.url, self.form, self.headers


class Way(Protocol):
    """The way out as one archive has it during one call: in its turn, within the deadline, to its
    own hosts only."""

    settings: Settings

    def __call__(self, ask: Ask) -> Reply:
        """The reply to one request. Raises SourceError."""

    def remaining_s(self) -> float:
        """The time that this call has left."""


# ---- what is asked -------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One wording of one question, with its narrowings; the same value serves the text and the
    catalogue.

    `words` is the wording itself ("" when only fields are asked). `fields` holds those of FIELDS
    that the caller gave, as written: a value wholly in double quotes means those words adjacent,
    any other all its words. `date_from` and `date_to` are "YYYY", "YYYY-MM" or "YYYY-MM-DD",
    checked and in order; `bound_names` are the arguments they came in, for reports. `rows` is how
    many are wanted; `page` counts from 1; `native` means that `words` is in the archive's own
    syntax.
    """

    words: str = ""
    rows: int = 5
    page: int = 1
    fields: Mapping[str, str] = field(default_factory=dict)
    media_type: str | None = None
    date_from: str | None = None
    date_to: str | None = None
    bound_names: tuple[str, ...] = ()
    sort: str = "relevance"
    facets: bool = False
    availability: bool = False
    native: bool = False
    publication: str | None = None
    excerpt_chars: int = 300
    excerpts_per_record: int = 2

    @property
    def years(self) -> tuple[int | None, int | None]:
        """The bounds as years, for an archive that has only years."""
        return (
            int(self.date_from[:4]) if self.date_from else None,
            int(self.date_to[:4]) if self.date_to else None,
        )

    @property
    def narrowings(self) -> tuple[str, ...]:
        """The arguments that narrow or order this question, media_type aside: a plan has each under
        `sent` or `dropped`."""
        asked = (
            ("publication", self.publication),
            ("sort", self.sort != "relevance"),
            ("facets", self.facets),
            ("availability", self.availability),
        )
        return (*self.fields, *self.bound_names, *(name for name, wanted in asked if wanted))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one archive will do with one wording of a question, known before anything is sent: its
    plan is its request.

    `asks` are the requests themselves, in the order in which they are sent. `sent` pairs the
    caller's argument with how this archive spells it; `dropped` with why it is not sent at all. An
    archive that must not be asked at all says why in `absent_because`; a page that lies past what
    it will ever serve is told in `beyond`, and nothing is sent. `notes` are remarks specific to
    this question.
    """

    query: Query = field(default_factory=Query)
    asks: tuple[Ask, ...] = ()
    sent: tuple[tuple[str, str], ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    absent_because: str | None = None
    beyond: str | None = None
    media_type_asked: str | None = None
    ordered_on: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An identifier read: which archive, its own spelling there, and the page or file it names
    inside, when it does.

    `local` is the archive's identifier without prefix, safe to stand in a path once
    percent-encoded. `read_as` is a sentence when the spelling was interpreted (an address, a bare
    slug, a page that was left aside), else None.
    """

    source: str
    local: str
    page: int | None = None
    file: str | None = None
    read_as: str | None = None

    @property
    def identifier(self) -> str:
        return f"{self.source}:{self.local}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemQuery:
    """Which parts of a record are wanted, and which slice of its longest list (editions, pages,
    issues, works)."""

    sections: tuple[str, ...] = ("description",)
    list_offset: int = 0
    list_limit: int = 50

    def wants(self, *names: str) -> bool:
        return any(name in self.sections for name in names)

    def window(self, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        return entries[self.list_offset:self.list_offset + self.list_limit]


# ---- what comes back -----------------------------------------------------------------------------
# `stated` names the fields whose null is a statement and stays on the wire; any other None is left
# out there. `inner` names the fields that serve this program alone.

@dataclass(frozen=True, slots=True, kw_only=True)
class TextMatch:
    """One page, or one document, whose text matched. `identifier` is prefixed
    ("loc:sn83030214/1900-01-01/ed-1").

    `page_number` is what the archive's index calls one, or None; `page_number_is` is
    leaf|image|view|printed. `excerpt_kind` is passage|page_opening, None when no text came. `span`
    is the first and last day (YYYY-MM-DD) that the row's own date allows, None when it has none:
    rows outside the asked dates are withheld by the client. source, source_name and found_by_query
    are filled in by the client.
    """

    stated: ClassVar[frozenset[str]] = frozenset({
        "identifier", "title", "creator", "year", "page_number", "excerpts", "excerpt_kind"})
    inner: ClassVar[frozenset[str]] = frozenset({"span"})

    identifier: str | None
    source: str = ""
    source_name: str = ""
    title: str | None = None
    creator: str | None = None
    year: int | None = None
    page_number: int | None = None
    page_number_is: str | None = None
    excerpts: tuple[Any, ...] = ()  # of Excerpt
    excerpt_kind: str | None = None
    source_url: str
    matched_file: str | None = None
    inside_container: bool | None = None
    published_on: str | None = None
    publication: str | None = None
    places: tuple[str, ...] = ()
    image_url: str | None = None
    passage_image_url: str | None = None
    found_by_query: str = ""
    span: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One catalogue row. `identifier` is None when get_item would refuse it; `source_url` is then
    the address to open.

    `date` is as published, `year` only when the archive states one beyond doubt. `rating` is
    {average, count}; `availability` and `matching_edition` are objects of the archive's own words.
    """

    stated: ClassVar[frozenset[str]] = frozenset({"identifier", "title", "creator", "year"})
    inner: ClassVar[frozenset[str]] = frozenset({"span"})

    identifier: str | None
    source: str = ""
    source_name: str = ""
    title: str | None = None
    creator: str | None = None
    year: int | None = None
    date: str | None = None
    media_type: str | None = None
    source_url: str
    found_by_query: str = ""
    identifier_provisional: bool | None = None
    downloads: int | None = None
    location: str | None = None
    online: bool | None = None
    is_item: bool | None = None
    edition_count: int | None = None
    cover_url: str | None = None
    ebook_access: str | None = None
    availability: Mapping[str, Any] | None = None
    matching_edition: Mapping[str, Any] | None = None
    matching_edition_count: int | None = None
    languages: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    publishers: tuple[str, ...] = ()
    author_identifiers: tuple[str, ...] = ()
    rating: Mapping[str, Any] | None = None
    rights: str | None = None
    image_url: str | None = None
    scan: str | None = None
    span: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetValue:
    value: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One archive's own terms and counts for one field; `counts_what` says what is counted
    ("documents", "pages")."""

    source: str = ""
    field: str
    counts_what: str
    values: tuple[FacetValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One archive's answer to one wording, rows in the archive's own order.

    `total` is the archive's count, None when it gives none; what it counts is a
    `Describes.total_means`. `skipped` counts rows that could not be read. `more` says whether a
    further page exists, None when unknown. `beyond` is a sentence when the page asked lies past the
    last page or past what the archive will ever serve: such an emptiness is never an absence.
    `last_page` is the number of the last page it will serve, where a total is stated.
    """

    records: tuple[Any, ...] = ()  # TextMatch, Record, Heading or Collection, by the call
    total: int | None = None
    skipped: int = 0
    more: bool | None = None
    beyond: str | None = None
    facets: tuple[Facet, ...] = ()
    notes: tuple[str, ...] = ()
    last_page: int | None = None
    lost: bool = False  # a list inside a record that could not be read; `notes` say why


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Terms of reuse. `statement` None: the record states nothing, which grants nothing. `covers`
    says what it speaks of."""

    stated: ClassVar[frozenset[str]] = frozenset({"statement", "url"})

    statement: str | None = None
    url: str | None = None
    covers: str = "this record"
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    label: str
    format: str | None = None
    url: str
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A collection, a series, a related record: `identifier` when get_item reads it, else only the
    address."""

    identifier: str | None = None
    label: str
    kind: str
    source_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributor:
    name: str
    role: str | None = None
    identifier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """An edition of a work; also a work of an author and an issue of a periodical, which fill only
    what they state."""

    stated: ClassVar[frozenset[str]] = frozenset({"title", "date"})

    identifier: str | None = None
    title: str | None = None
    date: str | None = None
    publisher: str | None = None
    place: str | None = None
    language: tuple[str, ...] = ()
    standard_numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source_url: str | None = None
    digitised_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEntry:
    """One page of a record. `text_held` None = the archive does not say before the page is read."""

    stated: ClassVar[frozenset[str]] = frozenset({"page_number", "text_held"})

    page_number: int | None
    page_number_is: str
    printed_page: str | None = None
    source_url: str
    image_url: str | None = None
    text_held: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One digitised part of a record, as the archive groups its files."""

    label: str
    page_count: int | None = None
    image_url: str | None = None
    pdf_url: str | None = None
    audio_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What an archive states of a person: dates as it writes them, its own count of works."""

    born: str | None = None
    died: str | None = None
    work_count: int | None = None
    top_work: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One record, read whole; the client cuts prose and copies to the windows asked.

    `description_means` says what the prose is when that needs saying; `year_means` what the year
    measures. `standard_numbers` maps isbn, issn, lccn, oclc … to their values. `citation` is filled
    in by the client.
    """

    stated: ClassVar[frozenset[str]] = frozenset({"title", "creator", "year"})
    inner: ClassVar[frozenset[str]] = frozenset({"creators"})

    identifier: str
    source: str = ""
    source_name: str = ""
    title: str | None = None
    creator: str | None = None
    year: int | None = None
    year_means: str | None = None
    date: str | None = None
    media_type: str | None = None
    source_url: str
    attribution: str | None = None
    identifier_provisional: bool | None = None
    description: str | None = None
    description_means: str | None = None
    notes: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    rights: Rights = field(default_factory=Rights)
    copies: tuple[Copy, ...] = ()
    copies_available: int | None = None
    generated_entries: int | None = None
    context: tuple[Related, ...] = ()
    contributors: tuple[Contributor, ...] = ()
    editions: tuple[Edition, ...] = ()
    pages: tuple[PageEntry, ...] = ()
    citation: Mapping[str, Any] | None = None
    language: tuple[str, ...] = ()
    publisher: str | None = None
    place: str | None = None
    call_number: str | None = None
    extent: str | None = None
    standard_numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    subject_terms: tuple[str, ...] = ()
    locations: tuple[str, ...] = ()
    subject_places: tuple[str, ...] = ()
    subject_times: tuple[str, ...] = ()
    subject_people: tuple[str, ...] = ()
    access_restricted: bool | None = None
    resources: tuple[Resource, ...] = ()
    persons: Life | None = None
    creators: tuple[str, ...] = ()  # one name each, for citations; `creator` is the line shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    """A record with the slice of its longest list (editions or pages) that was asked; `list_total`
    None = no such list."""

    item: Item
    list_total: int | None = None
    # remarks on this reading (a record was merged, a list could not be read …)
    notes: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()  # the sections that could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """The text of one page, whole; the client cuts it. `ocr_available` False: image only, text
    None. A blank page: True, "".

    Refused (lending, restricted): `ocr_available` True, text None, `text_refused` says why. A
    silent text service raises. `sheet` are its words where they stand, when they came with the
    text; `places_url` where else that can be asked.
    """

    stated: ClassVar[frozenset[str]] = frozenset({"title", "text", "page_number"})

    identifier: str
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
    ocr_available: bool = True
    text_refused: str | None = None
    source_url: str
    image_url: str | None = None
    previous_page: int | None = None
    next_page: int | None = None
    item_identifier: str | None = None
    rights: Rights = field(default_factory=Rights)
    notes: tuple[str, ...] = ()
    sheet: Sheet | None = None
    places_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Text around a match inside one record; `page_number` in the archive's own count, None when it
    gives none; `region` where on the page it stands, when the archive told."""

    stated: ClassVar[frozenset[str]] = frozenset({"page_number"})

    page_number: int | None = None
    text: str
    source_url: str
    region: Region | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The matches of some words inside one record. `match_count` is the archive's count or the
    number that came."""

    page: PageText  # the record described as a page without text: title, rights, addresses
    passages: tuple[Passage, ...] = ()
    match_count: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """An authority heading. `use_with` is {argument, value, sources}: which argument of
    search_items takes it, and how; None with `because` when none does. `variant` is the form that
    matched when it is not the label."""

    stated: ClassVar[frozenset[str]] = frozenset({"use_with"})

    label: str
    uri: str | None = None
    identifier: str | None = None
    kind: str
    source: str = ""
    exact: bool = False
    variant: str | None = None
    born: str | None = None
    died: str | None = None
    work_count: int | None = None
    top_work: str | None = None
    use_with: Mapping[str, Any] | None = None
    because: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A collection; `slug` carries its archive ("loc:sanborn-maps") and is what the argument
    `collection` takes."""

    slug: str
    title: str | None = None
    description: str | None = None
    item_count: int | None = None
    source: str = ""
    source_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Describes:
    """What a search reads of an archive, constant for it; the keys of `per_source` that describe
    it.

    `corpus` and `publishes_page_number` belong to the text, `searches_on` and `row_describes` to
    the catalogue. `no_total_because`: what is said in place of `total_means` by an archive that
    never states a total.
    """

    corpus: str | None = None
    publishes_page_number: bool | None = None
    searches_on: str | None = None
    row_describes: str | None = None
    requires_every_word: bool | None = None
    year_means: str | None = None
    total_means: str | None = None
    no_total_because: str | None = None


def to_dict(value: Any) -> Any:
    """A value as plain JSON: Nones and empty tuples left out but where they are a statement, text
    as published, bytes as their number.

    Lone surrogates become U+FFFD, since no UTF-8 can hold them. An empty tuple stays where the
    class says so in `stated`.
    """
    if isinstance(value, str):
        return value if value.isascii() else scalar_text(value)
    if isinstance(value, Excerpt):
        return scalar_text(value.text)
    if isinstance(value, bytes):
        return len(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [to_dict(entry) for entry in value]
    if isinstance(value, Mapping):
        return {str(name): to_dict(got) for name, got in value.items()}
    wire = {}
    for name, is_stated in _wire_fields(value.__class__):
        got = getattr(value, name)
        if is_stated or (got is not None and got != () and got != {}):
            wire[name] = to_dict(got)
    return wire


@functools.cache
def _wire_fields(kind: Any) -> tuple[tuple[str, bool], ...]:
    """The fields of a dataclass that go on the wire, and whether their null or emptiness does
    too."""
    stated: frozenset[str] = getattr(kind, "stated", frozenset())
    inner: frozenset[str] = getattr(kind, "inner", frozenset())
    return tuple(
        (entry.name, entry.name in stated) for entry in fields(kind) if entry.name not in inner
    )


# ---- how it is asked -----------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A group of hosts of one archive that share one pace, one block and one allow-list.

    `hosts` are regular expressions matched in full against a host in lower case. `spacing_s` is the
    time between the starts of two requests, `spacing_because` where the figure comes from.
    `retry_statuses` may be asked again. `limit_block_s` is how long the lane stays silent after a
    429, at the least (None: as long as it names, a minute when it names none). `wall_block_s` and
    `wall_block_max_s` are the pause after a recognised challenge page, doubling from the first to
    the second. `wall_signs` are lower-case pieces of text or address that betray this archive's
    challenge, besides the common ones. `bans_mutely`: a 403 without a challenge, and a request left
    without any answer, bring a pause of the same kind. `paths` are regular expressions matched in
    full against the path; a lane with paths wins over one without on the same host.
    """

    key: str
    hosts: tuple[str, ...]
    spacing_s: float
    spacing_because: str
    in_flight_max: int = 1
    scheme: str = "https"
    retry_statuses: frozenset[int] = frozenset({408, 425, 429, 500, 502, 503, 504})
    limit_block_s: float | None = None
    wall_block_s: float = 60.0
    wall_block_max_s: float = 3600.0
    wall_signs: tuple[str, ...] = ()
    bans_mutely: bool = False
    paths: tuple[str, ...] = ()


class Archive:
    """One archive. An adapter overrides the calls it answers and lists them in `answers`.

    An instance serves one call; it keeps nothing between calls. Every method raises SourceError and
    nothing else; a row that cannot be read is dropped and counted, an answer that cannot be read is
    UnreadableAnswer.
    """

    key: ClassVar[str]
    name: ClassVar[str]
    lanes: ClassVar[tuple[Lane, ...]] = ()
    asked_by_default: ClassVar[bool] = True
    answers: ClassVar[tuple[str, ...]] = ()
    absent_because: ClassVar[Mapping[str, str]] = {}
    media_types: ClassVar[tuple[str, ...]] = ()
    native_syntax: ClassVar[str | None] = None
    text: ClassVar[Describes] = Describes()
    catalogue: ClassVar[Describes] = Describes()
    # hosts (lower case) whose addresses this archive reads
    address_hosts: ClassVar[tuple[str, ...]] = ()
    # the least part of a page, of its width and height, that a picture of a passage shows
    shown_least: ClassVar[tuple[float, float]] = (0.35, 0.1)
    # what this archive's page numbers are: leaf, image, view; None = it numbers none
    pages_are: ClassVar[str | None] = None
    # of search_headings; a kind left out is absent with absent_because["person"]
    heading_kinds: ClassVar[tuple[str, ...]] = ()
    # fields of an item that this archive files nothing under, for any record
    unread_fields: ClassVar[tuple[str, ...]] = ()
    spellings: ClassVar[str] = ""  # one example of an identifier, for messages

    def __init__(self, ask: Way) -> None:
        self.ask = ask

    @classmethod
    def absence(cls, call: str, settings: Settings) -> str | None:
        """Why this archive does not answer a call; None when it does."""
        if call in cls.answers:
            return None
        return cls.absent_because.get(call, f"{cls.name} does not answer {call}.")

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        """The credit this archive asks for, with the date of retrieval (YYYY-MM-DD…) where its
        licence asks for it."""
        return cls.name

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """The part of an identifier after this archive's prefix. Raises InvalidInput when the
        archive mints no such shape."""
        raise InvalidInput(
            f"{cls.name} has no records that can be read one by one.", archive=cls.key
        )

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """A web address on one of `address_hosts`. Raises InvalidInput, with what to give instead,
        when it names no record."""
        raise InvalidInput(f"This address of {cls.name} names no record.", archive=cls.key)

    @classmethod
    def page_address(cls, item: Item, reference: Reference) -> str:
        """The address at which a person opens the page of a record that `reference` names."""
        return item.source_url

    @classmethod
    def plan_text(cls, query: Query) -> Request:
        """What becomes of the narrowings of a search inside; pure, no request."""
        return Request(query=query)

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        """What becomes of the narrowings of a catalogue search; pure, no request."""
        return Request(query=query)

    def search_text(self, request: Request) -> Page:
        raise self._refusal("search_inside")

    def search_catalogue(self, request: Request) -> Page:
        raise self._refusal("search_items")

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        raise self._refusal("get_item")

    def read_page(self, reference: Reference, page: int) -> PageText:
        raise self._refusal("read_text")

    def search_record(self, reference: Reference, words: str, max_passages: int) -> Passages:
        raise self._refusal("read_text")

    def place(self, page: PageText, words: str) -> Region | None:
        """Where the first passage with the words stands on a page that was read; None where that is
        not known. May ask once."""
        return page.sheet.place(words, self.shown_least) if page.sheet else None

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """Headings, exact ones first; `kind` is one of `heading_kinds`."""
        raise self._refusal("search_headings")

    def browse_collections(self, query: str | None, rows: int, page: int) -> Page:
        """Collections; without `query`, all of them."""
        raise self._refusal("browse_collections")

    def _refusal(self, call: str) -> SourceError:
        reason = self.absence(call, self.ask.settings) or f"{self.name} does not answer {call}."
        return InvalidInput(reason, archive=self.key)
