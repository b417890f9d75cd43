"""The Library of Congress: newspaper pages by their text, eight catalogues by kind, records, pages,
headings, collections.

Three services answer: www.loc.gov (searches, records, pages), tile.loc.gov (the text of a page),
id.loc.gov (headings). Source: "API Endpoints", "Search Results Responses", "Item and Resource
Responses" and "Working Within Limits" of the Library's documentation of its JSON interface, and
what its answers were seen to hold (facts of 2026-11).
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar
from urllib.parse import SplitResult, parse_qs, parse_qsl, quote, unquote, urlsplit

from ..contract import (
    Archive,
    Ask,
    Describes,
    Facet,
    Item,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    PageEntry,
    PageText,
    Pairs,
    Passage,
    Passages,
    Query,
    Reference,
    Reply,
    Request,
)
from ..errors import ArchiveUnreachable, InvalidInput, RecordNotFound, UnreadableAnswer
from ..languages import language_name
from ..regions import Region
from ..registry import ENTRY_OF
from ..text import amount, first, integer, mapping, strings, words
from ..text import passages as passages_in
from . import loc_records as records
from .loc_records import ISSUE, LOCAL, SEGMENT, SITE, address, days, named_in
from .shared import page_of_rows, past_ceiling, past_last, plan_from, read_rows

LISTED = ENTRY_OF["loc"]
KEY = LISTED.key
HEADINGS_URL = "https://id.loc.gov/authorities/subjects/suggest2"
TEXT_HOST = "tile.loc.gov"
NEWSPAPERS = "collections/chronicling-america"
# the newspapers' span; an open end of a range is written so
CORPUS_FIRST_DAY, CORPUS_LAST_DAY = "1736-08-03", "1963-12-31"
# the catalogues take no half-open range either
CATALOGUE_FIRST_YEAR, CATALOGUE_LAST_YEAR = "1000", "9999"
RETRIEVAL_CEILING = 100_000  # results beyond it are never served ("Working Within Limits")
UNSTATED_ZERO = ("it did not say whether it stands by this zero, as it does of a search that it "
                 "carried out; asking again may tell.")
ROUTE_STATUSES = (200, 404, 410)
PAST_THE_END = (*ROUTE_STATUSES, 400, 520)  # all four were seen for a page behind the last one
# always asked, whatever is wanted, so that an exact heading of low rank is among them
HEADINGS_ASKED = 50
TEXT_STATUSES = (200, 400, 404)
# pages read for one search inside a record: at one a second a quarter of a call's time
TEXTS_PER_RECORD = 12

# A 429 is an hour's silence and a status that the site's own protection mints is no hiccup: neither
# is asked again.
RETRY_STATUSES = frozenset({408, 425, 500, 502, 503, 504})
SITE_PACE = (
    "ten requests a minute in all is the lowest ceiling the Library publishes (its legal page)"
)
SERVICE_PACE = "far below the 150 a minute that the Library names for its text services; our choice"

# The kinds that the field original_format is known to spell this way; a collection cannot be
# narrowed by the others.
FORMAT_OF = {"books": "book", "maps": "map", "newspapers": "newspaper"}
SORTS = {"newest": "date_desc", "oldest": "date", "title": "title_s"}
# parameters in the order sent; what stands between values
JOINED_BY = {"dl": "", "q": " ", "fa": "|", "dates": "", "sb": ""}

_STATES = """al alabama,ak alaska,az arizona,ar arkansas,ca california,co colorado,ct connecticut,
de delaware,dc district of columbia,fl florida,ga georgia,hi hawaii,id idaho,il illinois,in indiana,
ia iowa,ks kansas,ky kentucky,la louisiana,me maine,md maryland,ma massachusetts,mi michigan,
mn minnesota,ms mississippi,mo missouri,mt montana,ne nebraska,nv nevada,nh new hampshire,
nj new jersey,nm new mexico,ny new york,nc north carolina,nd north dakota,oh ohio,ok oklahoma,
or oregon,pa pennsylvania,ri rhode island,sc south carolina,sd south dakota,tn tennessee,tx texas,
ut utah,vt vermont,va virginia,wa washington,wv west virginia,wi wisconsin,wy wyoming"""
STATES = dict(entry.strip().split(" ", 1) for entry in _STATES.split(","))

_OLD_SITE = re.compile(
    rf"/lccn/({SEGMENT})(?:({ISSUE})(?:(/seq-\d{{1,5}})(?:[./].*)?)?)?/?", re.ASCII
)
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,99}", re.ASCII)
_LCCN = re.compile(r"[a-z]{0,3}\d{8,10}", re.ASCII)
_PASSED_OVER = re.compile(r"\b(?:OR|NOT)\b|(?:^|\s)-\w|[()|]")

_EXACT = "an exact term of the Library; another answers zero, which is no absence"
_BY_TITLE = (
    "the title must be spelled whole, with place and years; any other spelling answers zero, which "
    "is no absence"
)
_ANYWHERE = "among the words sought anywhere in the record or its text: there is no such field"

# What to do with an address that names no record: how its host and path begin, and the hint
_INSTEAD = (
    (
        r"[^/]*/collections/",
        "Give the collection's slug to the argument collection of search_items; browse_collections "
        "lists them.",
    ),
    (
        r"id\.",
        "A heading is no record: give its label to the argument subject, as search_headings shows.",
    ),
    (r"chroniclingamerica\.", "That site was closed; search its newspapers with search_inside."),
    (
        r"(?:hdl|findingaids|guides|catalog)\.",
        "Open it in a browser: finding aids, guides and the old catalogue hold no record that can "
        "be read here.",
    ),
    (
        "",
        "Open it in a browser, or find the record with search_items; a record's address holds "
        "/item/, a page's /resource/ and "
        "sp.",
    ),
)

_SERVICE = Lane(
    key="loc-text",
    hosts=(r"tile\.loc\.gov",),
    spacing_s=1.0,
    spacing_because=SERVICE_PACE,
    in_flight_max=2,
    retry_statuses=RETRY_STATUSES,
    limit_block_s=3600.0,
)


class LibraryOfCongress(Archive):
    """All six calls. `search_text` is slow: half a minute is common, so that request may run on
    into the cache."""

    key, name = LISTED.key, LISTED.name
    answers, media_types = LISTED.answers, LISTED.media_types
    shown_least = records.SHOWN_LEAST
    lanes = (
        replace(_SERVICE, key="loc", hosts=(r"www\.loc\.gov",), spacing_s=6.0,
                spacing_because=SITE_PACE),
        _SERVICE,
        replace(_SERVICE, key="loc-pictures", paths=(r"/image-services/.*",)),
        replace(_SERVICE, key="loc-id", hosts=(r"id\.loc\.gov",)),
    )
    absent_because: ClassVar[Mapping[str, str]] = {
        "person": "The headings asked of the Library of Congress here are its subject headings; "
                  "they name no persons."
    }
    heading_kinds = ("subject",)
    pages_are = "image"
    address_hosts = ("loc.gov", "*.loc.gov")
    unread_fields = ("editions", "identifier_provisional", "generated_entries")
    spellings = "loc:73691632, loc:sn83030214/1900-01-01/ed-1"
    text = Describes(
        corpus="pages of American newspapers, 1736 to 1963, by their machine-read text "
               "(Chronicling America)",
        publishes_page_number=True,
        requires_every_word=True,
        year_means="the year of the newspaper's issue",
        total_means="newspaper pages that match",
    )
    catalogue = Describes(
        searches_on="the record and whatever text the Library holds with it; things that are not "
                    "digitised too (online says which)",
        row_describes="one catalogued item, else a collection, page or guide (is_item says so); "
        "creator: the names without another role",
        year_means=records.YEAR_MEANS,
        requires_every_word=False,
        total_means="items, pages, collections and guides that match, digitised or not",
    )

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        return "Library of Congress"

    # ---- identifiers -----------------------------------------------------------------------------

    @classmethod
    def page_address(cls, item: Item, reference: Reference) -> str:
        """Of an issue or a resource; an item alone does not say in which of its resources."""
        name = reference.local.removeprefix("resource/")
        owned = name != reference.local or "/" in name
        return f"{SITE}/resource/{name}/?sp={reference.page}" if owned else item.source_url

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """An item, a newspaper issue, either with a page (`/seq-3`, `?sp=3`), or `resource/NAME`,
        whose pages can be read."""
        read = LOCAL.fullmatch(local)
        if read is None:
            raise _refused("This is no identifier of the Library of Congress.")
        page = read["seq"] or read["sp"]
        # an issue is named alike under either
        of_resource = read["kind"] == "resource" and "/" not in read["id"]
        named = ("resource/" if of_resource else "") + read["id"]
        said = (f"read as {KEY}:{named}, image {int(page)}; get_item reads the whole record, "
                "read_text the page") if page else None
        return Reference(source=KEY, local=named, page=int(page) if page else None, read_as=said)

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        """An address on any host of the Library, with the page that `sp` names; its other
        parameters are a search's trace.

        Those of the former newspaper site are mapped by name; that host is never asked.
        """
        host, path = (address.hostname or "").lower(), unquote(address.path).rstrip("/")
        page = "".join(f"?sp={number}" for number in parse_qs(address.query).get("sp", [])[:1])
        for hosts, pattern, made in (
                (("loc.gov", "www.loc.gov"), r"/((?:item|resource)/.+)", r"\1"),
                (("lccn.loc.gov",), r"/(.+?)(?:/(?:marcxml|mods|dc))?", r"\1"),
                (("hdl.loc.gov",), r"/loc\.[^/]+/(?!ead)(.*)", r"resource/\1")):
            if host in hosts and (named := re.fullmatch(pattern, path)):
                return cls.read_identifier(
                    named.expand(made) + (page if host != "lccn.loc.gov" else "")
                )
        if host == "chroniclingamerica.loc.gov" and (old := _OLD_SITE.fullmatch(path)):
            found = cls.read_identifier("".join(filter(None, old.groups())))
            said = (
                f"read as {found.identifier}, its name on today's site; the former newspaper site "
                "is not asked"
            )
            return replace(found, read_as=said)
        raise _refused(
            "This address of the Library of Congress names no single record or page.",
            hint=next(
                hint for beginning, hint in _INSTEAD if re.match(beginning, f"{host}{path}/")
            ),
        )

    # ---- searches --------------------------------------------------------------------------------

    @classmethod
    def plan_text(cls, query: Query) -> Request:
        remarks = (
            (
                '"' in query.words,
                "Quotation marks change what it finds; that the words stand together is not "
                "promised.",
            ),
            (
                _PASSED_OVER.search(query.words),
                "It passes over OR, NOT, a leading minus, brackets and |, and asks for every word.",
            ),
        )
        notes = tuple(remark for applies, remark in remarks if applies)
        return _planned(query, NEWSPAPERS, _spelled_for_pages, (("dl", "page"),), notes=notes)

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        """A collection is a route of its own, and a route of a kind cannot be joined to it."""
        kind = query.media_type
        if absent := _absence(query):
            return Request(query=query, absent_because=absent)
        if "collection" in query.fields:
            return _in_collection(query)
        notes = () if kind else ("No media_type was named, so books alone were asked.",)
        request = _planned(
            query, kind or "books", _spelled, media_type_asked=kind or "books", notes=notes
        )
        if kind or _narrows(request):
            return request
        return Request(
            query=query,
            absent_because="Nothing is left that the Library of Congress can search on.",
        )

    def search_text(self, request: Request) -> Page:
        return self._search(
            request, lambda row: records.read_match(row, request.query), records.read_years
        )

    def search_catalogue(self, request: Request) -> Page:
        page = self._search(request, records.read_row, records.read_facets)
        asked = words(request.query.words)
        if asked and not page.records and not page.beyond and all(len(word) == 1 for word in asked):
            unindexed = (
                "The catalogues index no word of one letter, so these words could not be found "
                "there."
            )
            return replace(page, notes=(*page.notes, unindexed))
        return page

    def browse_collections(self, query: str | None, rows: int, page: int) -> Page:
        asked = Query(words=query or "", rows=rows, page=page)
        found = self._search(
            _planned(asked, "collections", _spelled), records.read_collection, records.read_facets
        )
        note = "item_count is what the Library states beside a collection; it is approximate."
        counted = any(row.item_count is not None for row in found.records)
        return replace(found, notes=(*found.notes, note)) if counted else found

    def _search(self, request: Request, read: Callable[[dict[str, Any]], Any],
                counts: Callable[[Any], tuple[Facet, ...]]) -> Page:
        """One page of any list the Library serves, in its order. `read` gives a row's value, None
        when it cannot be read; `counts` reads the facets, where they are asked for.

        Raises:
            ArchiveUnreachable: a first page that is not there, or a zero that the Library does not
            let anyone keep. UnreadableAnswer: no list of rows, or not one row that can be read.
        """
        if request.beyond:
            return Page(beyond=request.beyond)
        query, ask = request.query, request.asks[0]
        reply = self.ask(ask)
        if reply.status != 200:
            return self._past_the_end(query, ask, reply.status)
        answer = mapping(reply.value)
        came, pagination = answer.get("results"), mapping(answer.get("pagination"))
        if not isinstance(came, list):
            raise UnreadableAnswer(
                "The Library of Congress answered without a list of results.", archive=KEY
            )
        # the field called total counts pages, the one called results is a text
        page = page_of_rows(
            LibraryOfCongress,
            came,
            lambda row: read(mapping(row)),
            page=query.page,
            rows=query.rows,
            total=amount(pagination.get("of")),
            ceiling=RETRIEVAL_CEILING,
            more=bool(pagination["next"]) if "next" in pagination else None,
            begins_at=_before(pagination),
        )
        page = _doubted(page, reply)
        return _counted(page, counts(answer.get("facets"))) if query.facets else page

    def _past_the_end(self, query: Query, ask: Ask, status: int) -> Page:
        """A page whose status says that it is none lies past the last where the count of the first
        says so; else nothing is known of it."""
        if query.page == 1:
            raise _no_such_list(ask.url)
        first = self.ask(replace(ask, params=(*ask.params[:-1], ("sp", "1")),
                                 statuses=ROUTE_STATUSES))
        if first.status != 200:
            raise _no_such_list(ask.url)
        total = amount(mapping(mapping(first.value).get("pagination")).get("of"))
        beyond = past_last(query.page, query.rows, total)
        if beyond is None:
            raise ArchiveUnreachable(
                f"The Library of Congress did not send page {query.page} (status {status}), which "
                "its own count does not put past the end.", archive=KEY, status=status)
        return Page(total=total, more=False, beyond=beyond)

    # ---- headings --------------------------------------------------------------------------------

    def search_headings(self, query: str, kind: str, rows: int) -> Page:
        """Headings that hold the words; when none does, those that begin with them, said in a
        note."""
        found, notes = self._headings(query, "keyword"), []
        if not found.records:
            found = self._headings(query, "leftanchored")
            notes = (
                ["No heading holds these words as they stand; these begin with them."]
                if found.records
                else []
            )
        shown = tuple(sorted(found.records, key=lambda heading: not heading.exact)[:rows])
        if any("--" in heading.label for heading in shown):
            notes.append(
                "The filter takes no heading with -- whole; use_with gives its first part."
            )
        return replace(
            found,
            records=shown,
            more=None if found.total is None else found.total > rows,
            notes=tuple(notes),
        )

    def _headings(self, query: str, searchtype: str) -> Page:
        params = (("q", query), ("searchtype", searchtype), ("count", str(HEADINGS_ASKED)))
        reply = self.ask(Ask(url=HEADINGS_URL, params=params, statuses=(200, 404)))
        if reply.status != 200:
            raise ArchiveUnreachable(
                "The Library's headings service did not stand at its usual address (status 404).",
                archive=KEY,
                status=404,
            )
        hits = mapping(reply.value).get("hits")
        if not isinstance(hits, list):
            raise UnreadableAnswer(
                "The Library's headings service answered without a list of headings.", archive=KEY
            )
        found, skipped = read_rows(
            hits, lambda hit: records.read_heading(hit, query), LibraryOfCongress
        )
        return Page(records=found, total=amount(mapping(reply.value).get("count")), skipped=skipped)

    # ---- records and pages -----------------------------------------------------------------------

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        item, resources = self._record(reference)
        shown, notes = records.read_item(reference, item, resources), []
        if (
            not resources
            and "/" not in reference.local
            and "newspaper" in strings(item.get("original_format"))
        ):
            lccn = first(item.get("number_lccn")) or reference.local
            notes.append(
                "This record describes a newspaper and lists no issue. search_inside with "
                "publication "
                f"{lccn!r} finds its pages; an issue is read as loc:{lccn}/YYYY-MM-DD/ed-1."
            )
        if not wanted.wants("pages"):
            return ItemPage(item=shown, notes=tuple(notes))
        pages = tuple(page for page, _ in records.pages_of(resources, shown.source_url))
        if not pages:
            notes.append("The record lists no pages.")
        asked = wanted.window(pages)
        return ItemPage(item=replace(shown, pages=asked), list_total=len(pages), notes=tuple(notes))

    def _record(self, reference: Reference) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The Library's object of a record, with something in it, and its digitised parts."""
        blocks = (
            "item,resource,resources"
            if reference.local.startswith("resource/")
            else "item,resources"
        )
        url = f"{SITE}/{records.path_of(reference.local)}/"
        reply = self.ask(
            Ask(
                url=url,
                params=(("fo", "json"), ("at", blocks)),
                statuses=(200, 404),
                check=_record_came,
            )
        )
        if reply.status != 200:
            raise _not_held(reference.identifier)
        return mapping(reply.value["item"]), records.resources_of(reply.value)

    def read_page(self, reference: Reference, page: int) -> PageText:
        """One page by its place in the sequence of images. Costs two requests, three when only the
        item is named."""
        if page < 1:
            raise InvalidInput("The Library of Congress counts pages from 1.", archive=KEY)
        name = self._resource_name(reference)
        answer = self._page_answer(reference, name, page)
        resource, files = mapping(answer.get("resource")), records.objects(answer.get("page"))
        count = amount(mapping(answer.get("pagination")).get("of")) or amount(
            resource.get("segment_count")
        )
        if count and page > count:
            raise RecordNotFound(
                f"{reference.identifier} has {count} pages; page {page} is past the last.",
                archive=KEY,
                reason="no_such_page")
        described = records.describe_page(reference, name, page, count, answer)
        url = records.text_address(files) or address(resource, "fulltext_file")
        if url is None:
            return replace(described, ocr_available=False)
        if "segment=" not in url and count and count > 1:
            refused = (
                "The Library holds this text only as one file of the whole item, without page "
                f"marks: {url}"
            )
            return replace(described, text_refused=refused)
        return replace(described, text=self._text(url), places_url=url)

    def place(self, page: PageText, words: str) -> Region | None:
        """By the service that the text came from, asked for the words: one more request."""
        target = urlsplit(page.places_url or "")
        segment = dict(parse_qsl(target.query)).get("segment")
        if segment is None or target.hostname != TEXT_HOST:
            return None
        query = f"segment={quote(segment, safe='/:')}&format=alto_xml&relevant_snippet=1"
        reply = self.ask(Ask(url=f"https://{TEXT_HOST}{target.path}?{query}",
                             params=(("q", words.replace('"', " ")),)))
        files = mapping(reply.value)
        return records.placed(mapping(next(iter(files.values()), None)))

    def _page_answer(self, reference: Reference, name: str, page: int) -> dict[str, Any]:
        """What the Library sends of one page. Raises RecordNotFound for a page that is not
        there."""
        # no q: with it, no text comes
        params = (
            ("sp", str(page)),
            ("fo", "json"),
            ("at", "item,resource,page,segments,pagination"),
        )
        reply = self.ask(
            Ask(
                url=f"{SITE}/resource/{name}/",
                params=params,
                statuses=PAST_THE_END,
                check=_no_exception,
            )
        )
        if reply.status != 200:
            raise RecordNotFound(
                f"The Library of Congress holds no page {page} of {reference.identifier}.",
                archive=KEY,
                hint="get_item with the section pages lists the pages of a record.",
            )
        answer = mapping(reply.value)
        if not answer.get("resource") and not records.objects(answer.get("page")):
            raise UnreadableAnswer(
                "The Library of Congress answered with something that is no page.", archive=KEY
            )
        return answer

    def search_record(self, reference: Reference, words: str, max_passages: int) -> Passages:
        """The Library searches no single record: its pages are read here when they are few, else
        its one file of text."""
        stated, resources = self._record(reference)
        item = records.read_item(reference, stated, resources)
        pages = records.pages_of(resources, item.source_url)
        sought, note = _texts_of(item, pages, resources)
        head = PageText(
            identifier=reference.identifier,
            title=item.title,
            page_count=len(pages) or None,
            rights=item.rights,
            ocr_available=bool(sought),
            source_url=item.source_url,
            item_identifier=item.identifier,
        )
        if not sought:
            return Passages(
                page=head,
                notes=(
                    "The record names no text of its pages, so nothing could be searched in it.",
                ),
            )
        found = [
            (number, url, passages_in(self._text(text_url), words, max_passages))
            for number, url, text_url in sought
        ]
        told = [
            Passage(page_number=number, text=text, source_url=url)
            for number, url, matches in found
            for text in matches.passages
        ]
        return Passages(page=head, passages=tuple(told[:max_passages]), notes=(note,),
                        match_count=sum(matches.occurrences for _, _, matches in found))

    def _resource_name(self, reference: Reference) -> str:
        """What stands behind /resource/: an issue, a resource (only their names hold dots), or the
        only resource of an item."""
        local = reference.local.removeprefix("resource/")
        if local != reference.local or "/" in local or "." in local:
            return local
        _, resources = self._record(reference)
        names = [
            name
            for resource in resources
            if (name := named_in(address(resource, "url"), "resource"))
        ]
        if len(names) == 1:
            return names[0]
        spelled = ", ".join(f"loc:resource/{name}" for name in names[:10])
        raise InvalidInput(
            f"{reference.identifier} has {len(names) or 'no'} resources whose pages can be read.",
            archive=KEY,
            hint=f"Name one: {spelled}." if names else "get_item says what it holds.",
        )

    def _text(self, url: str) -> str:
        """A text whole: of one page from the text service, or a plain file. Blank is "". A silent
        service raises."""
        target = urlsplit(url)
        if target.hostname != TEXT_HOST:
            raise UnreadableAnswer(
                "The Library names a text on a host that is not its text service.", archive=KEY
            )
        segment = dict(parse_qsl(target.query)).get("segment")
        if segment is None:
            return str(self._delivered(Ask(url=url, body="text", statuses=TEXT_STATUSES))).strip()
        # slashes as they are, no q
        query = f"segment={quote(segment, safe='/:')}&format=alto_xml&full_text=1"
        files = mapping(
            self._delivered(
                Ask(url=f"https://{TEXT_HOST}{target.path}?{query}", statuses=TEXT_STATUSES)
            )
        )
        text = mapping(next(iter(files.values())) if len(files) == 1 else files.get(segment)).get(
            "full_text"
        )
        if not isinstance(text, str):
            raise UnreadableAnswer(
                "The Library's text service answered without the text of this page.", archive=KEY
            )
        return text.strip()

    def _delivered(self, ask: Ask) -> Any:
        reply = self.ask(ask)
        if reply.status != 200:
            raise ArchiveUnreachable(
                "The Library says that it holds this text, but its text service did not deliver "
                "it.",
                archive=KEY,
            )
        return reply.value


# ---- what is sent --------------------------------------------------------------------------------

# What a narrowing adds to a request and how that is told; or None, and why not
Spelling = tuple[Pairs | None, str]


def _planned(
    query: Query,
    path: str,
    spell: Callable[[Query, str], Spelling],
    always: Pairs = (),
    **more: Any,
) -> Request:
    """The narrowings spelled in the order the query names them, beside the words and what is sent
    `always`."""
    spelled = [(name, *spell(query, name)) for name in query.narrowings]
    pairs = [
        *always,
        ("q", query.words),
        *(pair for _, added, _ in spelled for pair in added or ()),
    ]
    values = {
        name: dict.fromkeys(value for given, value in pairs if given == name and value)
        for name in JOINED_BY
    }
    params = {name: JOINED_BY[name].join(found) for name, found in values.items() if found}
    told = {name: text for name, added, text in spelled if added is not None}
    because = {name: text for name, added, text in spelled if added is None}
    by_date = (
        "the date the Library files a record under" if "date" in params.get("sb", "") else None
    )
    return plan_from(
        query,
        told,
        because,
        asks=(_list(query, path, tuple(params.items())),),
        ordered_on=by_date,
        beyond=past_ceiling(LibraryOfCongress, query.page, query.rows, RETRIEVAL_CEILING),
        **more,
    )


def _list(query: Query, path: str, params: Pairs) -> Ask:
    """One page of a list. Newspapers are slow: that request may run on, and is not asked twice in
    one call."""
    slow = path == NEWSPAPERS
    # without it what is digitised alone is searched; collections themselves are no records
    widened = () if path in (NEWSPAPERS, "collections") else (("all", "true"),)
    blocks = "results,pagination" + (",facets" if query.facets else "")
    return Ask(
        url=f"{SITE}/{path}/",
        run_on=slow,
        statuses=ROUTE_STATUSES if query.page == 1 else PAST_THE_END,
        check=partial(_could_search, again=not slow),
        params=(
            ("fo", "json"),
            ("at", blocks),
            *params,
            *widened,
            ("c", str(query.rows)),
            ("sp", str(query.page)),
        ),
    )


def _narrows(request: Request) -> bool:
    """Whether anything is sent that a search can go by."""
    return any(name in JOINED_BY for name, _ in request.asks[0].params)


def _counted(page: Page, facets: tuple[Facet, ...]) -> Page:
    told = () if facets else ("Counts were asked for and none came that could be read.",)
    return replace(page, facets=facets, notes=(*told, *page.notes))


def _spelled_for_pages(query: Query, name: str) -> Spelling:
    """How the newspapers take one narrowing."""
    if name in query.bound_names:
        dates = _page_dates(query)
        return (
            ("dates", dates),
        ), f"dates={dates}; the dates of the pages that come are checked again"
    if name == "place":
        value = query.fields[name]
        asked = " ".join(_bare(value).lower().replace(".", "").split())
        state = STATES.get(asked.replace(" ", ""), asked)
        return (
            _filter("location_state", state, "the state where the newspaper appeared")
            if state in STATES.values()
            else (
                None,
                f"{value!r} is no state of the United States by name or postal code; any other "
                "value would answer zero.",
            )
        )
    if name == "publication":
        title = _bare(query.publication or "").removeprefix("loc:")
        number = title.replace(" ", "").lower()
        if _LCCN.fullmatch(number):
            return _filter("number_lccn", number, "the newspaper's number")
        return _filter("partof_title", title, _BY_TITLE)
    return _spelled(query, name)


def _page_dates(query: Query) -> str:
    """A range has both ends and never runs backwards: an end before the newspapers begin leaves
    that end alone."""
    start = days(query.date_from)[0] if query.date_from else CORPUS_FIRST_DAY
    end = days(query.date_to)[1] if query.date_to else max(CORPUS_LAST_DAY, start)
    start = min(start, end)
    whole_years = all(len(date) == 4 for date in (query.date_from, query.date_to) if date)
    return f"{start[:4]}/{end[:4]}" if whole_years else f"{start}/{end}"


def _in_collection(query: Query) -> Request:
    kind = query.media_type
    known = FORMAT_OF.get(kind or "")
    request = _planned(
        query,
        f"collections/{_slug(query)}",
        _spelled,
        (("fa", f"original_format:{known}"),) if known else (),
        media_type_asked=known and kind,
    )
    if not kind or known:
        return request
    told = (
        "media_type",
        "Inside a collection the Library is known to tell only books, maps and newspapers apart.",
    )
    return replace(request, dropped=(told, *request.dropped))


def _absence(query: Query) -> str | None:
    """Why the catalogues cannot be asked: an identifying field that they cannot apply."""
    for name in ("isbn", "lccn", "oclc"):
        if name in query.fields:
            instead = (
                f" Read the record itself: get_item loc:{_bare(query.fields[name])}."
                if name == "lccn"
                else ""
            )
            field = f"no field for {name.upper()} that is known to be searched"
            return f"The catalogues of the Library of Congress have {field}.{instead}"
    named = _bare(query.fields.get("collection", "none"))
    if _SLUG.fullmatch(named.removeprefix("loc:")):
        return None
    return f"{named!r} is no collection of the Library of Congress; browse_collections lists them."


def _spelled(query: Query, name: str) -> Spelling:
    """How a catalogue takes one narrowing; language and facets are the newspapers' too."""
    value = query.fields.get(name, "")
    if name in ("title", "creator", "publisher"):
        return (("q", value),), f"q={value} ({_ANYWHERE})"
    if name in query.bound_names:
        return _years(query)
    if name == "sort" and query.sort in SORTS:
        return (("sb", SORTS[query.sort]),), f"sb={SORTS[query.sort]}"
    if name in ("subject", "language"):
        return _subject(value) if name == "subject" else _language(value)
    if name == "place":
        return _filter("location", value, _EXACT)
    if name in ("collection", "facets"):
        return (), "at=facets" if name == "facets" else f"/collections/{_slug(query)}/"
    unsent = {
        "sort": f"The Library sorts by date and title only; there is no order by {query.sort}.",
        "availability": "The Library lends nothing from these lists; online says what is "
                        "digitised.",
    }
    return None, unsent.get(name, "The Library has no such field here.")


def _subject(value: str) -> Spelling:
    """The filter knows single terms: a heading divided by -- was cut there when it was filed, and
    its places filed apart."""
    head, *rest = (part.strip() for part in _bare(value).split("--"))
    further = " ".join(rest)
    remark = (
        f"{_EXACT}; the heading's further parts are sought as words: q={further}"
        if rest
        else _EXACT
    )
    (term,), told = _filter("subject", head, remark)
    return (term, ("q", further)), told


def _language(value: str) -> Spelling:
    english = language_name(value)
    return (
        _filter("language", english)
        if english
        else (
            None,
            "The Library's filter takes a language's English name, and none is known here for "
            f"{value!r}.",
        )
    )


def _years(query: Query) -> Spelling:
    ends = (query.date_from or CATALOGUE_FIRST_YEAR, query.date_to or CATALOGUE_LAST_YEAR)
    dates = "/".join(end[:4] for end in ends)
    finer = any(len(date) > 4 for date in (query.date_from, query.date_to) if date)
    return (("dates", dates),), f"dates={dates}" + (" (whole years)" if finer else "")


def _filter(field: str, value: str, remark: str = "") -> tuple[Pairs, str]:
    """A filter as the Library files its values: in lower case, and without |, which joins two
    filters."""
    term = f"{field}:{' '.join(_bare(value).replace('|', ' ').lower().split())}"
    return (("fa", term),), f"fa={term}" + (f" ({remark})" if remark else "")


def _bare(value: str) -> str:
    return value.strip().strip('"').strip()


def _slug(query: Query) -> str:
    return _bare(query.fields["collection"]).removeprefix("loc:")


def _texts_of(
    item: Item, pages: Sequence[tuple[PageEntry, Any]], resources: Sequence[Mapping[str, Any]]
) -> tuple[list[tuple[int | None, str, str]], str]:
    """The texts to search in a record, as (page, its address, its text's address), and what is said
    of them."""
    sought: list[tuple[int | None, str, str]] = [
        (page.page_number, page.source_url, url)
        for page, files in pages
        if (url := records.text_address(files))
    ]
    whole = next(filter(None, map(records.whole_text, resources)), None)
    if whole and not 0 < len(sought) <= TEXTS_PER_RECORD:
        return [(None, item.source_url, whole)], "The text has no page marks, so no page is given."
    if len(sought) > TEXTS_PER_RECORD:
        raise InvalidInput(
            f"The record has {len(sought)} pages with text; at most {TEXTS_PER_RECORD} are read "
            "for one search.",
            archive=KEY,
            hint="Name a page, or find the page first with search_inside.",
        )
    return sought, f"{len(sought)} pages were read and searched here."


# ---- whether an answer is one --------------------------------------------------------------------

def _before(pagination: Mapping[str, Any]) -> int | None:
    """How many rows stand before those that came, where the Library says so."""
    number = amount(pagination.get("from"))
    return number - 1 if number else None


def _doubted(page: Page, reply: Reply) -> Page:
    """The page, with the doubt of a zero that no header stands by."""
    if page.records or page.total != 0 or "cache-control" in reply.headers:
        return page
    return replace(page, notes=(*page.notes, UNSTATED_ZERO))


def _could_search(reply: Reply, again: bool) -> None:
    """A zero that no cache may keep is how the Library says that its search failed (seen 2026-08):
    never an absence.

    `again`: whether it may be asked once more in the same call, for which the half minute that
    newspapers take leaves no time.
    """
    answer = mapping(reply.value)
    if (
        reply.status != 200
        or answer.get("results") != []
        or integer(mapping(answer.get("pagination")).get("of"))
    ):
        return
    kept = reply.headers.get("cache-control", "").lower()
    if not kept:  # it says neither; `_search` tells the doubt
        return
    lifetimes = re.findall(r"max-?age\s*=\s*(\d{1,9})", kept)  # max-age and s-maxage
    may_keep = any(map(int, lifetimes)) if lifetimes else "public" in kept
    if not may_keep or "no-cache" in kept or "no-store" in kept:
        failure = ArchiveUnreachable(
            "The Library of Congress could not search: it sent a zero that it does not stand by.",
            archive=KEY,
            reason="could_not_search")
        failure.retryable = again
        raise failure


def _no_such_list(url: str) -> Exception:
    path = urlsplit(url).path.strip("/")
    if path.startswith("collections/") and path != NEWSPAPERS:
        return RecordNotFound(
            "The Library of Congress has no collection under "
            f"{path.removeprefix('collections/')!r}.",
            archive=KEY,
            status=404,
            hint="browse_collections lists the collections with their slugs.",
        )
    return ArchiveUnreachable(
        "The Library of Congress did not find its own search route.", archive=KEY, status=404
    )


def _record_came(reply: Reply) -> None:
    """An `item` that is missing or empty says that there is no such record; with status 200 it must
    not be kept."""
    _no_exception(reply)
    answer = mapping(reply.value)
    if reply.status != 200 or mapping(answer.get("item")):
        return
    of_records = (
        answer.keys() & {"item", "resource", "resources"}
        if answer
        else isinstance(reply.value, dict)
    )
    if of_records and not answer.get("item"):
        raise _not_held("this identifier")
    raise UnreadableAnswer(
        "The Library of Congress answered with something that is no record.", archive=KEY
    )


def _no_exception(reply: Reply) -> None:
    """An exception is told in the body, whatever the status: {status, type: "exception"} or
    {exception, status}."""
    answer = mapping(reply.value)
    if reply.status == 200 and ("exception" in answer or first(answer.get("type")) == "exception"):
        if re.search(
            "404|not found",
            " ".join(strings([answer.get("status"), answer.get("exception")])),
            re.IGNORECASE,
        ):
            raise _not_held("this identifier")
        raise ArchiveUnreachable(
            "The Library of Congress answered that it could not serve this record.", archive=KEY
        )


def _not_held(identifier: str) -> RecordNotFound:
    return RecordNotFound(
        f"The Library of Congress has no record under {identifier}.",
        archive=KEY,
        hint="Check it, or find the record with search_items; a digitised part is named "
             "loc:resource/NAME.",
    )


def _refused(message: str, hint: str | None = None) -> InvalidInput:
    spelled = f"Give it as a search returned it, such as {LibraryOfCongress.spellings}."
    return InvalidInput(message, archive=KEY, hint=hint or spelled)
