"""The Library of Congress: newspaper pages by their text, eight catalogues by kind, records, pages, headings, collections.

Three services answer: www.loc.gov (searches, records, pages), tile.loc.gov (the text of a page), id.loc.gov (headings).
Source: "API Endpoints", "Search Results Responses", "Item and Resource Responses" and "Working Within Limits" of the
Library's documentation of its JSON interface, and what its answers were seen to hold (facts of 2026-11).
"""
from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import SplitResult, parse_qs, parse_qsl, quote, unquote, urlsplit

from .contract import (
    CALLS,
    Archive,
    Collection,
    Describes,
    Facet,
    FacetValue,
    Heading,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    PageText,
    Passage,
    Passages,
    Plan,
    Query,
    Record,
    Reference,
    Reply,
    TextMatch,
)
from .errors import ArchiveUnreachable, InvalidInput, RecordNotFound, UnreadableAnswer
from .languages import language_name
from .loc_records import (
    LOCAL,
    SEGMENT,
    SITE,
    YEAR_MEANS,
    contributors,
    creators,
    describe_page,
    flat,
    https,
    item_in,
    labels,
    page_entry,
    pages_of,
    quoted,
    read_item,
    resource_in,
    resources_of,
    text_address,
    whole_text,
)
from .text import amount, first, first_match, fold, integer, joined, listing, mapping, strings, window, words, year_of
from .windows import find

KEY = "loc"
HEADINGS_URL = "https://id.loc.gov/authorities/subjects/suggest2"
TEXT_HOST = "tile.loc.gov"
NEWSPAPERS = "collections/chronicling-america"
CORPUS_FIRST_DAY, CORPUS_LAST_DAY = "1736-08-03", "1963-12-31"  # the newspapers' span; an open end of a range is written so
CATALOGUE_FIRST_YEAR, CATALOGUE_LAST_YEAR = "1000", "9999"  # the catalogues take no half-open range either
RETRIEVAL_CEILING = 100_000  # results beyond it are never served ("Working Within Limits")
PAST_THE_END = (200, 400, 404, 520)  # all four were seen for a page behind the last one
HEADINGS_ASKED = 50  # always asked, whatever is wanted, so that an exact heading of low rank is among them
TEXTS_PER_RECORD = 12  # pages read for one search inside a record: at one a second a quarter of a call's time

# A 429 is an hour's silence and a status that the site's own protection mints is no hiccup: neither is asked again.
RETRY_STATUSES = frozenset({408, 425, 500, 502, 503, 504})
SITE_PACE = "ten requests a minute in all is the lowest ceiling the Library publishes (its legal page)"
SERVICE_PACE = "far below the 150 a minute that the Library names for its text services; our choice"

# The kinds that the field original_format is known to spell this way; a collection cannot be narrowed by the others.
FORMAT_OF = {"books": "book", "maps": "map", "newspapers": "newspaper"}
SORTS = {"newest": "date_desc", "oldest": "date", "title": "title_s"}

_STATES = """al alabama,ak alaska,az arizona,ar arkansas,ca california,co colorado,ct connecticut,de delaware,dc district of columbia,fl florida,
ga georgia,hi hawaii,id idaho,il illinois,in indiana,ia iowa,ks kansas,ky kentucky,la louisiana,me maine,md maryland,ma massachusetts,
mi michigan,mn minnesota,ms mississippi,mo missouri,mt montana,ne nebraska,nv nevada,nh new hampshire,nj new jersey,nm new mexico,
ny new york,nc north carolina,nd north dakota,oh ohio,ok oklahoma,or oregon,pa pennsylvania,ri rhode island,sc south carolina,
sd south dakota,tn tennessee,tx texas,ut utah,vt vermont,va virginia,wa washington,wv west virginia,wi wisconsin,wy wyoming"""
STATES = dict(entry.strip().split(" ", 1) for entry in _STATES.split(","))

_OLD_SITE = re.compile(rf"/lccn/(?P<lccn>{SEGMENT})(?:/(?P<day>\d{{4}}-\d\d-\d\d)/ed-(?P<edition>\d{{1,3}})"
                       r"(?:/seq-(?P<seq>\d{1,5})(?:[./].*)?)?)?/?", re.ASCII)
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,99}", re.ASCII)
_LCCN = re.compile(r"[a-z]{0,3}\d{8,10}", re.ASCII)
_FILED = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?:T.*)?", re.ASCII)
_MARK = re.compile(r"\[\[/?tag\]\]")
_DROPPED_BY_LIBRARY = re.compile(r"\b(?:OR|NOT)\b|(?:^|\s)-\w|[()|]")

WHY_NO_NUMBER = "The catalogues of the Library of Congress have no field for {} that is known to be searched."


class LibraryOfCongress(Archive):
    """All six calls. `search_text` is slow: half a minute is common, so that request may run on into the cache."""

    key = KEY
    name = "the Library of Congress"
    lanes = (
        Lane(key="loc", hosts=(r"www\.loc\.gov",), spacing_s=6.0, spacing_because=SITE_PACE, in_flight_max=2,
             retry_statuses=RETRY_STATUSES, limit_block_s=3600.0),
        Lane(key="loc-text", hosts=(r"tile\.loc\.gov",), spacing_s=1.0, spacing_because=SERVICE_PACE, in_flight_max=2,
             retry_statuses=RETRY_STATUSES, limit_block_s=3600.0),
        Lane(key="loc-id", hosts=(r"id\.loc\.gov",), spacing_s=1.0, spacing_because=SERVICE_PACE, in_flight_max=2,
             retry_statuses=RETRY_STATUSES, limit_block_s=3600.0),
    )
    answers = CALLS
    absent_because: ClassVar[Mapping[str, str]] = {
        "person": "The headings asked of the Library of Congress here are its subject headings; they name no persons."}
    media_types = ("books", "photos", "maps", "audio", "film-and-videos", "manuscripts", "notated-music", "newspapers")
    heading_kinds = ("subject",)
    pages_are = "image"
    address_hosts = ("loc.gov", "*.loc.gov")
    unread_fields = ("editions", "identifier_provisional", "generated_entries")
    spellings = "loc:73691632, loc:sn83030214/1900-01-01/ed-1"
    text = Describes(
        corpus="pages of American newspapers, 1736 to 1963, by their machine-read text (Chronicling America)",
        publishes_page_number=True, requires_every_word=True, year_means="the year of the newspaper's issue",
        total_means="newspaper pages that match")
    catalogue = Describes(
        searches_on="the record and whatever text the Library holds with it; digitised things alone",
        row_describes="one catalogued item, else a collection, page or guide (is_item says so); creator: the names without another role",
        year_means=YEAR_MEANS,
        total_means="digitised items, pages, collections and guides that match")

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        return "Library of Congress"

    # ---- identifiers -------------------------------------------------------------------------------------------------

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """An item, a newspaper issue, either with a page (`/seq-3`, `?sp=3`), or `resource/NAME`, whose pages can be read."""
        read = LOCAL.fullmatch(local)
        pages = {int(page) for page in (read["seq"], read["sp"]) if page} if read else set()
        if read is None or len(pages) > 1:
            raise _refused("This is no identifier of the Library of Congress." if read is None else "The identifier names two different pages.")
        of_resource = read["resource"] and not read["issue"]
        return Reference(source=KEY, local=("resource/" if of_resource else "") + read["id"], page=next(iter(pages), None))

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """An address on any host of the Library. The former newspaper site's are mapped by name; that host is never asked."""
        host, path = (address.hostname or "").lower(), unquote(address.path)
        if host in ("loc.gov", "www.loc.gov") and re.match("/(item|resource)/.", path):
            return _page_of(path.strip("/"), address)
        if host == "lccn.loc.gov" and path.strip("/"):
            return cls.read_identifier(re.sub(r"/(marcxml|mods|dc)$", "", path.strip("/")))
        if host == "hdl.loc.gov" and re.match(r"/loc\.[^/]+/", path) and "/ead" not in path:
            return _page_of("resource/" + path.strip("/").split("/", 1)[1], address)
        old = _OLD_SITE.fullmatch(path) if host == "chroniclingamerica.loc.gov" else None
        if old:
            issue = f"/{old['day']}/ed-{old['edition']}" if old["day"] else ""
            found = cls.read_identifier(old["lccn"] + issue + (f"/seq-{old['seq']}" if old["seq"] else ""))
            return replace(found, read_as=f"read as {found.identifier}, its name on today's site; the former newspaper site is not asked")
        raise _refused("This address of the Library of Congress names no single record or page.", hint=_instead(host, path))

    # ---- searches ----------------------------------------------------------------------------------------------------

    @classmethod
    def plan_text(cls, query: Query) -> Plan:
        return _text_request(query).plan()

    @classmethod
    def plan_catalogue(cls, query: Query) -> Plan:
        return _catalogue_request(query).plan()

    def search_text(self, query: Query) -> Page:
        return self._search(_text_request(query), query.rows, query.page, lambda row: _match(row, query), run_on=True,
                            facets=_years if query.facets else None)

    def search_catalogue(self, query: Query) -> Page:
        page = self._search(_catalogue_request(query), query.rows, query.page, _record, facets=_facets if query.facets else None)
        asked = words(query.words)
        if asked and not page.records and not page.beyond and all(len(word) == 1 for word in asked):
            page = replace(page, notes=(*page.notes, "The catalogues index no word of one letter, so these words could not be found there."))
        return page

    def browse_collections(self, query: str | None, rows: int, page: int) -> Page:
        request = _Request(path="collections", words=query or "")
        found = self._search(request, rows, page, _collection)
        return replace(found, notes=(*found.notes, "item_count is what the Library states beside a collection; it is approximate.")
                       if any(row.item_count is not None for row in found.records) else found.notes)

    def _search(self, request: _Request, rows: int, page: int, read: Callable[[dict[str, Any]], Any], *, run_on: bool = False,
                facets: Callable[[Any], tuple[Facet, ...]] | None = None) -> Page:
        """One page of any list the Library serves. `read` gives a row's value, None when the row cannot be read.

        Raises:
            ArchiveUnreachable: a first page that is not there, or a zero that the Library does not let anyone keep.
            UnreadableAnswer: no list of rows, or not one row that can be read.
        """
        last = RETRIEVAL_CEILING // rows
        if page > last:
            return Page(beyond=f"The Library of Congress serves the first {RETRIEVAL_CEILING} results only; "
                               f"at {rows} rows a page, page {last} is the last it gives.")
        blocks = "results,pagination,facets" if facets else "results,pagination"
        params = (("fo", "json"), ("at", blocks), *request.params(), ("c", str(rows)), ("sp", str(page)))
        reply = self.ask.get_json(f"{SITE}/{request.path}/", params, statuses=(200, 404) if page == 1 else PAST_THE_END,
                                  check=lambda reply: _could_search(reply, again=request.path != NEWSPAPERS), run_on=run_on)
        if reply.status != 200 and page > 1:
            return Page(beyond=f"Page {page} lies past the last page of this search.")
        if reply.status != 200:
            raise _no_such_list(request)
        answer = mapping(reply.value)
        if not isinstance(answer.get("results"), list):
            raise UnreadableAnswer("The Library of Congress answered without a list of results.", archive=KEY)
        return _page(answer, rows, page, read, facets)

    # ---- headings ----------------------------------------------------------------------------------------------------

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """Headings that hold the words; when none does, those that begin with them, said in a note."""
        hits, total = self._headings(query, "keyword")
        notes = []
        if not hits:
            hits, total = self._headings(query, "leftanchored")
            notes = ["No heading holds these words as they stand; these begin with them."] if hits else []
        shown = sorted(hits, key=lambda heading: not heading.exact)[:rows]
        if any("--" in heading.label for heading in shown):
            notes.append("The filter takes no heading with -- whole; use_with gives its first part.")
        return Page(records=tuple(shown), total=total, more=None if total is None else total > rows, notes=tuple(notes))

    def _headings(self, query: str, searchtype: str) -> tuple[list[Heading], int | None]:
        params = (("q", query), ("searchtype", searchtype), ("count", str(HEADINGS_ASKED)))
        try:
            answer = mapping(self.ask.get_json(HEADINGS_URL, params).value)
        except RecordNotFound as exc:
            raise ArchiveUnreachable("The Library's headings service did not stand at its usual address (status 404).", archive=KEY,
                                     status=404) from exc
        if not isinstance(answer.get("hits"), list):
            raise UnreadableAnswer("The Library's headings service answered without a list of headings.", archive=KEY)
        headings = [heading for heading in (_heading(hit, query) for hit in answer["hits"]) if heading]
        if answer["hits"] and not headings:
            raise UnreadableAnswer("Not one of the headings that came could be read.", archive=KEY)
        return headings, amount(answer.get("count"))

    # ---- records and pages -------------------------------------------------------------------------------------------

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        reply = self._record_answer(reference)
        answer = mapping(reply.value)
        item, resources = mapping(answer["item"]), resources_of(answer)
        shown = read_item(reference, item, resources)
        notes = []
        if not resources and ("newspaper" in strings(item.get("original_format")) or first(item.get("item_type")) == "title"):
            lccn = first(item.get("number_lccn")) or reference.local
            notes.append(f"This record describes a newspaper and lists no issue. search_inside with publication {lccn!r} finds its pages; "
                         f"an issue is read as loc:{lccn}/YYYY-MM-DD/ed-1.")
        if not wanted.wants("pages"):
            return ItemPage(item=shown, notes=tuple(notes))
        pages = [page_entry(page) for page in pages_of(resources, shown.source_url)]
        if not pages:
            notes.append("The record lists no pages.")
        asked = pages[wanted.list_offset:wanted.list_offset + wanted.list_limit]
        return ItemPage(item=replace(shown, pages=tuple(asked)), list_total=len(pages), notes=tuple(notes))

    def _record_answer(self, reference: Reference) -> Reply:
        """The answer that holds the record under `item`, which is then an object with something in it."""
        of_resource = reference.local.startswith("resource/")
        path = quoted(reference.local if of_resource else "item/" + reference.local)
        blocks = "item,resource,resources" if of_resource else "item,resources"
        reply = self.ask.get_json(f"{SITE}/{path}/", (("fo", "json"), ("at", blocks)), statuses=(200, 404), check=_record_came)
        if reply.status != 200:
            raise _not_held(reference.identifier)
        return reply

    def read_page(self, reference: Reference, page: int) -> PageText:
        """One page by its place in the sequence of images. Costs two requests, three when only the item is named."""
        if page < 1:
            raise InvalidInput("page: the Library of Congress counts pages from 1.", archive=KEY)
        name = self._resource_name(reference)
        params = (("sp", str(page)), ("fo", "json"), ("at", "item,resource,page,segments,pagination"))  # q is left out: with it, no text
        reply = self.ask.get_json(f"{SITE}/resource/{quoted(name)}/", params, statuses=PAST_THE_END, check=_page_came)
        if reply.status != 200:
            raise RecordNotFound(f"The Library of Congress holds no page {page} of {reference.identifier}.", archive=KEY,
                                 hint="get_item with the section pages lists the pages of a record.")
        answer = mapping(reply.value)
        count = amount(mapping(answer.get("pagination")).get("of")) or amount(mapping(answer.get("resource")).get("segment_count"))
        if count and page > count:
            raise RecordNotFound(f"{reference.identifier} has {count} pages; page {page} is past the last.", archive=KEY)
        described = describe_page(reference, name, page, count, answer)
        address = text_address(flat(answer.get("page"))) or https(first(mapping(answer.get("resource")).get("fulltext_file")))
        if address is None:
            return replace(described, ocr_available=False)
        if "segment=" not in address and count and count > 1:
            return replace(described, text_refused=f"The Library holds this text only as one file of the whole item, without page marks: {address}")
        return replace(described, text=self._text(address))

    def search_record(self, reference: Reference, words: str, max_passages: int) -> Passages:
        """The Library searches no single record: its pages are read here when they are few, else its one file of text."""
        answer = mapping(self._record_answer(reference).value)
        resources = resources_of(answer)
        item = read_item(reference, mapping(answer["item"]), resources)
        pages = pages_of(resources, item.source_url)
        sought: list[tuple[int | None, str, str]] = [
            (page.number, page.url, address) for page in pages for address in [text_address(page.files or [])] if address]
        whole = next((address for address in map(whole_text, resources) if address), None)
        if whole and not 0 < len(sought) <= TEXTS_PER_RECORD:
            sought = [(None, item.source_url, whole)]
        head = PageText(identifier=reference.identifier, title=item.title, text=None, page_count=len(pages) or None, ocr_available=bool(sought),
                        source_url=item.source_url, item_identifier=item.identifier, rights=item.rights)
        if not sought:
            return Passages(page=head, notes=("The record names no text of its pages, so nothing could be searched in it.",))
        if len(sought) > TEXTS_PER_RECORD:
            raise InvalidInput(f"The record has {len(sought)} pages with text; at most {TEXTS_PER_RECORD} are read for one search.", archive=KEY,
                               hint="Name a page, or find the page first with search_inside.")
        passages: list[Passage] = []
        count = 0
        for number, url, address in sought:
            found = find(self._text(address), words, max_passages)
            passages += [Passage(page_number=number, text=text, source_url=url) for text in found.passages]
            count += found.occurrences
        note = "The text has no page marks, so no page is given." if sought[0][0] is None else f"{len(sought)} pages were read and searched here."
        return Passages(page=head, passages=tuple(passages[:max_passages]), match_count=count, notes=(note,))

    def _resource_name(self, reference: Reference) -> str:
        """What stands behind /resource/: an issue, a resource (only their names hold dots), or the only resource of an item."""
        local = reference.local.removeprefix("resource/")
        if local != reference.local or "/" in local or "." in local:
            return local
        resources = resources_of(mapping(self._record_answer(reference).value))
        names = [name for name in (resource_in(https(first(resource.get("url")))) for resource in resources) if name]
        if len(names) == 1:
            return names[0]
        raise InvalidInput(f"{reference.identifier} has {len(names) or 'no'} resources whose pages can be read.", archive=KEY,
                           hint=f"Name one: {', '.join(f'loc:resource/{name}' for name in names[:10])}." if names else "get_item says what it holds.")

    def _text(self, address: str) -> str:
        """A text whole: of one page from the text service, or a plain file. Blank is "". A silent service raises."""
        target = urlsplit(address)
        if target.hostname != TEXT_HOST:
            raise UnreadableAnswer("The Library names a text on a host that is not its text service.", archive=KEY)
        silent = ArchiveUnreachable("The Library says that it holds this text, but its text service did not deliver it.", archive=KEY)
        statuses = (200, 400, 404)
        segment = dict(parse_qsl(target.query)).get("segment")
        if segment is None:
            plain_file = self.ask.get_text(address, statuses=statuses)
            if plain_file.status != 200:
                raise silent
            return str(plain_file.value).strip()
        query = f"segment={quote(segment, safe='/:')}&format=alto_xml&full_text=1"  # slashes as they are, no q
        reply = self.ask.get_json(f"https://{TEXT_HOST}{target.path}?{query}", statuses=statuses, check=_text_came)
        if reply.status != 200:
            raise silent
        files = mapping(reply.value)
        chosen = next(iter(files.values())) if len(files) == 1 else files.get(segment)
        text = mapping(chosen).get("full_text")
        if not isinstance(text, str):
            raise UnreadableAnswer("The Library's text service answered without the text of this page.", archive=KEY)
        return text.strip()


# ---- what is sent ----------------------------------------------------------------------------------------------------

@dataclass(slots=True, kw_only=True)
class _Request:
    """A search as it will be sent, beside the account of what became of each narrowing. Filled step by step, then read."""

    path: str
    words: str = ""
    level: str | None = None
    facets: list[str] = field(default_factory=list)  # "field:value", all of which must hold
    dates: str | None = None
    sort: str | None = None
    sent: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    media_type: str | None = None
    absent_because: str | None = None

    def params(self) -> tuple[tuple[str, str], ...]:
        values = {"dl": self.level, "q": self.words, "fa": "|".join(self.facets), "dates": self.dates, "sb": self.sort}
        return tuple((name, value) for name, value in values.items() if value)

    def plan(self) -> Plan:
        return Plan(sent=tuple(self.sent), dropped=tuple(self.dropped), absent_because=self.absent_because, media_type_asked=self.media_type,
                    ordered_on="the date the Library files a record under" if self.sort and "date" in self.sort else None, notes=tuple(self.notes))

    def facet(self, argument: str, field_name: str, value: str, remark: str = "") -> None:
        self.facets.append(f"{field_name}:{_filter_value(value)}")
        self.sent.append((argument, f"fa={self.facets[-1]}" + (f" ({remark})" if remark else "")))

    def language(self, code: str) -> None:
        name = language_name(code)
        if name is None:
            self.dropped.append(("language", f"The Library's filter takes a language's English name, and none is known here for {code!r}."))
        else:
            self.facet("language", "language", name)

    def add_words(self, argument: str, value: str, remark: str) -> None:
        self.words = f"{self.words} {value}".strip()
        self.sent.append((argument, f"q={value} ({remark})"))


def _text_request(query: Query) -> _Request:
    request = _Request(path=NEWSPAPERS, words=query.words, level="page")
    if query.date_from or query.date_to:
        whole_years = all(len(date) == 4 for date in (query.date_from, query.date_to) if date)
        start = _day(query.date_from, last=False) if query.date_from else CORPUS_FIRST_DAY
        end = _day(query.date_to, last=True) if query.date_to else max(CORPUS_LAST_DAY, start)
        start = min(start, end)  # an end before the newspapers begin leaves that end alone
        request.dates = f"{start[:4]}/{end[:4]}" if whole_years else f"{start}/{end}"
        request.sent += [(name, f"dates={request.dates}; the dates of the pages that come are checked again") for name in query.bound_names]
    if "place" in query.fields:
        _add_state(request, query.fields["place"])
    if query.publication:
        _add_publication(request, query.publication)
    if "language" in query.fields:
        request.language(query.fields["language"])
    if query.facets:
        request.sent.append(("facets", "at=facets"))
    if '"' in query.words:
        request.notes.append("Quotation marks change what it finds; that the words stand together is not promised.")
    if _DROPPED_BY_LIBRARY.search(query.words):
        request.notes.append("It passes over OR, NOT, a leading minus, brackets and |, and asks for every word.")
    return request


def _add_state(request: _Request, value: str) -> None:
    asked = " ".join(_bare(value).lower().replace(".", "").split())
    state = STATES.get(asked.replace(" ", "")) or (asked if asked in STATES.values() else None)
    if state:
        request.facet("place", "location_state", state, "the state where the newspaper appeared")
    else:
        request.dropped.append(("place", f"{value!r} is no state of the United States by name or postal code; any other value would answer zero."))


def _add_publication(request: _Request, value: str) -> None:
    title = _bare(value).removeprefix("loc:")
    if _LCCN.fullmatch(title.replace(" ", "").lower()):
        request.facet("publication", "number_lccn", title.replace(" ", ""), "the newspaper's number")
    else:
        request.facet("publication", "partof_title", title,
                      "the title must be spelled whole, with place and years; any other spelling answers zero, which is no absence")


def _catalogue_request(query: Query) -> _Request:
    request = _Request(path=query.media_type or "books", words=query.words, media_type=query.media_type or "books", sort=SORTS.get(query.sort))
    for name in ("isbn", "lccn", "oclc"):
        if name in query.fields:
            request.absent_because = WHY_NO_NUMBER.format(name.upper()) + (
                f" Read the record itself: get_item loc:{_bare(query.fields[name])}." if name == "lccn" else "")
    if "collection" in query.fields:
        _add_collection(request, query)
    elif query.media_type is None:
        request.notes.append("No media_type was named, so books alone were asked.")
    for name in ("title", "creator", "publisher"):
        if name in query.fields:
            request.add_words(name, query.fields[name], "among the words sought anywhere in the record or its text: there is no such field")
    if "subject" in query.fields:
        _add_subject(request, query.fields["subject"])
    if "place" in query.fields:
        request.facet("place", "location", query.fields["place"], "an exact term of the Library; another answers zero, which is no absence")
    if "language" in query.fields:
        request.language(query.fields["language"])
    if query.date_from or query.date_to:
        start, end = (query.date_from or CATALOGUE_FIRST_YEAR)[:4], (query.date_to or CATALOGUE_LAST_YEAR)[:4]
        request.dates = f"{start}/{end}"
        finer = any(len(date) > 4 for date in (query.date_from, query.date_to) if date)
        request.sent += [(name, f"dates={request.dates}" + (" (whole years)" if finer else "")) for name in query.bound_names]
    if request.sort:
        request.sent.append(("sort", f"sb={request.sort}"))
    elif query.sort != "relevance":
        request.dropped.append(("sort", f"The Library sorts by date and title only; there is no order by {query.sort}."))
    if query.facets:
        request.sent.append(("facets", "at=facets"))
    if query.availability:
        request.dropped.append(("availability", "The Library lends nothing from these lists; online says what is digitised."))
    if request.absent_because is None and not (request.params() or query.media_type or "collection" in query.fields):
        request.absent_because = "Nothing is left that the Library of Congress can search on."
    return request


def _add_collection(request: _Request, query: Query) -> None:
    """A collection is a route of its own, and a route of a kind cannot be joined to it."""
    value = _bare(query.fields["collection"])
    slug = value.removeprefix("loc:")
    if not _SLUG.fullmatch(slug):
        request.absent_because = f"{value!r} is no collection of the Library of Congress; browse_collections lists them."
        return
    request.path, request.media_type = f"collections/{slug}", None
    request.sent.append(("collection", f"/collections/{slug}/"))
    if query.media_type in FORMAT_OF:
        request.facets.append(f"original_format:{FORMAT_OF[query.media_type]}")
        request.media_type = query.media_type
    elif query.media_type:
        request.dropped.append(("media_type", "Inside a collection the Library is known to tell only books, maps and newspapers apart."))


def _add_subject(request: _Request, value: str) -> None:
    """The filter knows single terms: a heading divided by -- was cut there when it was filed, and its places filed apart."""
    head, *rest = [part.strip() for part in _bare(value).split("--")]
    remark = "an exact term of the Library; another answers zero, which is no absence"
    if rest:
        request.words = " ".join([request.words, *rest]).strip()
        remark += f"; the heading's further parts are sought as words: q={' '.join(rest)}"
    request.facet("subject", "subject", head, remark)


def _day(date: str, *, last: bool) -> str:
    """The first or the last day that "YYYY", "YYYY-MM" or "YYYY-MM-DD" allows, as YYYY-MM-DD."""
    if len(date) == 4:
        return date + ("-12-31" if last else "-01-01")
    if len(date) == 7:
        return f"{date}-{calendar.monthrange(int(date[:4]), int(date[5:]))[1] if last else 1:02d}"
    return date


def _bare(value: str) -> str:
    return value.strip().strip('"').strip()


def _filter_value(value: str) -> str:
    """As the Library files the values of its filters: lower case, and no | since that joins two filters."""
    return " ".join(_bare(value).replace("|", " ").lower().split())


# ---- how a list is read ----------------------------------------------------------------------------------------------

def _could_search(reply: Reply, *, again: bool) -> None:
    """A zero that no cache may keep is how the Library says that its search failed (seen 2026-08): never an absence.

    `again`: whether it may be asked once more in the same call, for which the half minute that newspapers take leaves no time.
    """
    answer = mapping(reply.value)
    if reply.status != 200 or answer.get("results") != [] or integer(mapping(answer.get("pagination")).get("of")):
        return
    kept = reply.headers.get("cache-control", "").lower()
    lifetimes = [int(seconds) for seconds in re.findall(r"(?:max-age|s-maxage)\s*=\s*(\d{1,9})", kept)]
    if "no-cache" in kept or "no-store" in kept or not (any(lifetimes) or (not lifetimes and "public" in kept)):
        failure = ArchiveUnreachable("The Library of Congress could not search: it sent a zero that it does not stand by.", archive=KEY)
        failure.retryable = again
        raise failure


def _no_such_list(request: _Request) -> Exception:
    if request.path.startswith("collections/") and request.path != NEWSPAPERS:
        return RecordNotFound(f"The Library of Congress has no collection under {request.path.removeprefix('collections/')!r}.", archive=KEY,
                              status=404, hint="browse_collections lists the collections with their slugs.")
    return ArchiveUnreachable("The Library of Congress did not find its own search route.", archive=KEY, status=404)


def _page(answer: dict[str, Any], rows: int, page: int, read: Callable[[dict[str, Any]], Any],
          facets: Callable[[Any], tuple[Facet, ...]] | None) -> Page:
    """The rows in the Library's order. In its pagination `of` counts results, `total` counts pages, `results` is a text."""
    came = answer["results"]
    pagination = mapping(answer.get("pagination"))
    total = amount(pagination.get("of"))
    if not came and page > 1:
        last = f" The last page is {-(-total // rows)}." if total else ""
        return Page(total=total, beyond=f"Page {page} lies past the last page of this search.{last}")
    values = [read(row) if isinstance(row, dict) else None for row in came]
    records = tuple(value for value in values if value is not None)
    if came and not records:
        raise UnreadableAnswer("Not one of the rows that the Library of Congress sent could be read.", archive=KEY)
    counted = facets(answer.get("facets")) if facets else ()
    notes = []
    if facets and not counted:
        notes.append("Counts were asked for and none came that could be read.")
    if total and not came:
        notes.append(f"It counts {total} results and sent no row.")
    further = page * rows < total if total is not None else (bool(pagination["next"]) if "next" in pagination else None)
    more = further and page < RETRIEVAL_CEILING // rows if further is not None else None
    return Page(records=records[:rows], total=total, skipped=len(came) - len(records), more=more, facets=counted, notes=tuple(notes))


def _match(row: dict[str, Any], query: Query) -> TextMatch | None:
    """A newspaper page; None when the row has no address that names one."""
    address = https(first(row.get("id"))) or https(first(row.get("url")))
    read = LOCAL.fullmatch(urlsplit(address).path.strip("/")) if address else None
    if read is None:
        return None
    asked = parse_qs(urlsplit(address or "").query)
    number = integer(asked.get("sp")) or integer(read["seq"]) or integer(row.get("number_page"))
    excerpts, kind = _excerpts(row, query)
    date = first(row.get("date"))
    return TextMatch(
        identifier=f"loc:{'' if read['issue'] else 'resource/'}{read['id']}", title=first(row.get("title")), year=year_of(date),
        page_number=number, page_number_is="image" if number else None, excerpts=excerpts, excerpt_kind=kind,
        source_url=f"{SITE}/resource/{read['id']}/" + (f"?sp={number}" if number else ""), published_on=date,
        publication=first(row.get("partof_title")), span=_span([date] if date else [], filed=False))


def _excerpts(row: Mapping[str, Any], query: Query) -> tuple[tuple[str, ...], str | None]:
    """The text around the match when the row brings it; else the page's opening, a passage only when it holds every word."""
    for snippet in strings(mapping(row.get("page_coordinate_data")).get("relevant_snippet")):
        mark = _MARK.search(snippet)
        if mark:
            return (window(_MARK.sub("", snippet), mark.start(), query.excerpt_chars),), "passage"
    opening = joined(row.get("description"), " ")
    if opening is None:
        return (), None
    at = first_match(opening, query.words)
    return (window(opening, at or 0, query.excerpt_chars),), "page_opening" if at is None else "passage"


def _record(row: dict[str, Any]) -> Record | None:
    """A catalogue row; None without an address. Only what /item/ reads has an identifier."""
    addresses = [address for address in (https(first(row.get("id"))), https(first(row.get("url")))) if address]
    if not addresses:
        return None
    item_id = next((found for found in map(item_in, addresses) if found), None)
    date = first(row.get("date"))
    named = contributors(mapping(row.get("item")).get("contributors")) or contributors(row.get("contributor"))
    online = row.get("digitized")
    return Record(
        identifier=f"loc:{item_id}" if item_id else None, title=first(row.get("title")), creator="; ".join(creators(named)) or None,
        year=year_of(date), date=date, media_type=joined(row.get("original_format")),
        source_url=f"{SITE}/item/{item_id}/" if item_id else addresses[-1],
        location=joined(labels(row.get("location"))), online=online if isinstance(online, bool) else None, is_item=item_id is not None,
        languages=labels(row.get("language")), subjects=labels(row.get("subject")),
        span=_span([*([date] if date else []), *labels(row.get("dates"))], filed=True))


def _collection(row: dict[str, Any]) -> Collection | None:
    for address in (https(first(row.get("url"))), https(first(row.get("id")))):
        parts = urlsplit(address or "").path.strip("/").split("/")
        if len(parts) > 1 and parts[0] == "collections" and _SLUG.fullmatch(parts[1]):
            return Collection(slug=f"loc:{parts[1]}", title=first(row.get("title")), description=joined(row.get("description"), " "),
                              item_count=amount(row.get("count")), source_url=f"{SITE}/collections/{parts[1]}/")
    return None


def _heading(hit: Any, query: str) -> Heading | None:
    """An object, or in older answers a bare text. A label is the form to use; a variant is the form that matched."""
    entry = hit if isinstance(hit, dict) else {"aLabel": hit}
    label = first(entry.get("aLabel")) or first(entry.get("suggestLabel"))
    if label is None:
        return None
    variant = first(entry.get("vLabel"))
    asked = [fold(word) for word in words(query)]
    exact = any([fold(word) for word in words(form)] == asked for form in (label, variant) if form)
    return Heading(label=label, uri=first(entry.get("uri")), kind="subject", exact=exact, variant=variant if variant != label else None,
                   use_with={"argument": "subject", "value": label.split("--")[0].strip(), "sources": [KEY]})


def _facets(block: Any) -> tuple[Facet, ...]:
    """The Library's own terms and counts. No source shows which key names the field, so three likely ones are read."""
    found = []
    for entry in map(mapping, listing(block)):
        name = first(entry.get("type")) or first(entry.get("field")) or first(entry.get("facet"))
        values = [(first(value.get("title")) or first(value.get("term")), amount(value.get("count")))
                  for value in map(mapping, listing(entry.get("filters")))]
        counted = tuple(FacetValue(value=value, count=count) for value, count in values if value and count is not None)
        if name and counted:
            found.append(Facet(field=name, counts_what="rows that match, of every kind", values=counted))
    return tuple(found)


def _years(block: Any) -> tuple[Facet, ...]:
    """Newspaper pages by date, in the periods that the Library chooses (decades over a long span)."""
    return tuple(replace(facet, field="year", counts_what="newspaper pages") for facet in _facets(block) if facet.field == "dates")


# ---- whether an answer is one ----------------------------------------------------------------------------------------

def _record_came(reply: Reply) -> None:
    """The three ways in which the Library says that it has no such record; also in a 200, which must not be kept."""
    if reply.status != 200:
        return
    answer = reply.value
    if not isinstance(answer, dict) or not isinstance(answer.get("item") or {}, dict):
        raise UnreadableAnswer("The Library of Congress answered with something that is no record.", archive=KEY)
    _no_exception(answer)
    if answer and not {"item", "resource", "resources"} & answer.keys():
        raise UnreadableAnswer("The Library of Congress answered with something else than the record asked.", archive=KEY)
    if not answer.get("item"):
        raise _not_held("this identifier")


def _page_came(reply: Reply) -> None:
    if reply.status != 200:
        return
    answer = reply.value
    if isinstance(answer, dict):
        _no_exception(answer)
    if not isinstance(answer, dict) or not (mapping(answer.get("resource")) or answer.get("page")):
        raise UnreadableAnswer("The Library of Congress answered with something that is no page.", archive=KEY)


def _text_came(reply: Reply) -> None:
    if reply.status == 200 and not (isinstance(reply.value, dict) and reply.value):
        raise UnreadableAnswer("The Library's text service answered with something that is no text.", archive=KEY)


def _no_exception(answer: Mapping[str, Any]) -> None:
    """An exception is told in the body, whatever the status: {status, type: "exception"} or {exception, status}."""
    if first(answer.get("type")) != "exception" and "exception" not in answer:
        return
    if "404" in strings(answer.get("status")) or "not found" in " ".join(strings([answer.get("status"), answer.get("exception")])).lower():
        raise _not_held("this identifier")
    raise ArchiveUnreachable("The Library of Congress answered that it could not serve this record.", archive=KEY)


def _not_held(identifier: str) -> RecordNotFound:
    return RecordNotFound(f"The Library of Congress has no record under {identifier}.", archive=KEY,
                          hint="Check it, or find the record with search_items; a digitised part is named loc:resource/NAME.")


# ---- addresses and dates ---------------------------------------------------------------------------------------------

def _page_of(path: str, address: SplitResult) -> Reference:
    """A path below www.loc.gov with the page its `sp` names; every other parameter is a search's trace and left aside."""
    page = parse_qs(address.query).get("sp", [])
    return LibraryOfCongress.read_identifier(path.rstrip("/") + (f"?sp={page[0]}" if page else ""))


def _refused(message: str, hint: str | None = None) -> InvalidInput:
    return InvalidInput(message, archive=KEY, hint=hint or f"Give it as a search returned it, such as {LibraryOfCongress.spellings}.")


def _instead(host: str, path: str) -> str:
    """What to do with an address that cannot be read here."""
    if path.startswith("/collections/"):
        return "Give the collection's slug to the argument collection of search_items; browse_collections lists them."
    if host == "id.loc.gov":
        return "A heading is no record: give its label to the argument subject, as search_headings shows."
    if host == "chroniclingamerica.loc.gov":
        return "That site was closed; search its newspapers with search_inside."
    if host == "hdl.loc.gov" or host.startswith(("findingaids.", "guides.", "catalog.")):
        return "Open it in a browser: finding aids, guides and the old catalogue hold no record that can be read here."
    return "Open it in a browser, or find the record with search_items; a record's address holds /item/, a page's /resource/ and sp."


def _span(dates: Iterable[str], *, filed: bool) -> tuple[str, str] | None:
    """First and last day that dates allow. In a catalogue a first of January stands for the year, a first for the month."""
    ends = []
    for date in dates:
        read = _FILED.fullmatch(date)
        if read and int(read[1]):
            kept = [part for part in read.groups() if part]
            while filed and len(kept) > 1 and kept[-1] == "01":
                kept.pop()
            ends.append((_day("-".join(kept), last=False), _day("-".join(kept), last=True)))
    return (min(start for start, _ in ends), max(end for _, end in ends)) if ends else None
