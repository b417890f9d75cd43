"""Every archive behind one object: `BooksClient`, whose methods are the tools.

It checks arguments, asks the archives, and returns frozen answers; it knows no protocol. The two searches are in searching.py.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .answers import (
    AllFailed,
    Answer,
    CollectionsAnswer,
    HeadingsAnswer,
    InsideAnswer,
    ItemAnswer,
    ItemsAnswer,
    ListWindow,
    Report,
    TextAnswer,
)
from .asking import search as searching
from .asking.arguments import check
from .asking.identifiers import read_identifier
from .asking.notes import NOBODY_ASKED, capital, under
from .asking.opening import Opened, Opener
from .asking.report import Desk, ReportAnswer
from .asking.reporting import report_absent, report_asked
from .asking.together import ask_each
from .contract import CALLS, FIELDS, Archive, Item, ItemQuery, Page, PageEntry, PageText, Passage, Query, Reference, to_dict
from .errors import InvalidInput, SourceError
from .registry import ARCHIVES
from .settings import VERSION, Settings, read_settings
from .telling import fit as fitting
from .telling import windows
from .transport.call import Call
from .transport.flights import Transport

SECTIONS = ("description", "subjects", "copies", "context", "contributors", "editions", "pages", "citation")
_FIELDS_OF_SECTION = {
    "description": ("description", "description_means", "notes"),
    "copies": ("copies", "copies_available", "generated_entries"),
}


class BooksClient:
    """Asks every archive at once and merges what comes back.

    `settings` are the environment's when left out. `sources` replaces the registry; `readers` maps an archive's key to a
    stand-in with the methods of `Archive`. One object may serve many threads; `close()` ends its connections.
    """

    def __init__(self, *, settings: Settings | None = None, sources: Sequence[type[Archive]] = ARCHIVES,
                 readers: Mapping[str, Archive] | None = None, transport: Transport | None = None) -> None:
        self.settings = settings or read_settings(known_sources=tuple(archive.key for archive in sources))
        self.archives = tuple(sources)
        self.transport = transport or Transport(self.settings, self.archives, identity=f"mcp-books/{VERSION}")
        self._opener = Opener(settings=self.settings, transport=self.transport, readers=dict(readers or {}))
        self._desk = Desk(self)

    def close(self) -> None:
        self.transport.close()

    def status(self) -> dict[str, Any]:
        """Archive by archive: the calls it answers, why not the others, and its lanes' pace, blocks and last failure."""
        state = self.transport.status()
        archives = [{"source": archive.key, "name": archive.name, "asked_by_default": archive in self._default(),
                     "answers": [call for call in CALLS if archive.absence(call, self.settings) is None],
                     "absent": {call: reason for call in CALLS if (reason := archive.absence(call, self.settings))},
                     "lanes": [lane for lane in state["lanes"] if lane["archive"] == archive.key]} for archive in self.archives]
        return {**{name: value for name, value in state.items() if name != "lanes"}, "archives": archives}

    def new_call(self, tell: Callable[[str], None] | None = None) -> Call:
        """A call with the budget of the settings; cancel() on it stops the work from another thread."""
        return Call(self.settings.call_budget_ms / 1000, tell=tell, clock=self.transport.clock)

    # ---- the tools, as methods ---------------------------------------------------------------------------------------

    def search_inside(self, query: str, *, limit: int | None = None, page: int | None = None,
                      max_excerpt_chars: int | None = None, max_excerpts_per_match: int | None = None,
                      fan_out: bool | None = None, sources: Sequence[str] | None = None,
                      date_from: str | None = None, date_to: str | None = None,
                      language: str | None = None, place: str | None = None, publication: str | None = None,
                      facets: bool | None = None) -> InsideAnswer:
        """Words or a quoted phrase in the text itself."""
        answer = self.ask("search_inside", {
            "query": query, "limit": limit, "page": page,
            "max_excerpt_chars": max_excerpt_chars, "max_excerpts_per_match": max_excerpts_per_match,
            "fan_out": fan_out, "sources": _list(sources), "date_from": date_from, "date_to": date_to,
            "language": language, "place": place, "publication": publication, "facets": facets})
        assert isinstance(answer, InsideAnswer)
        return answer

    def search_items(self, query: str | None = None, *, title: str | None = None, creator: str | None = None,
                     subject: str | None = None, publisher: str | None = None,
                     isbn: str | None = None, lccn: str | None = None, oclc: str | None = None,
                     language: str | None = None, place: str | None = None,
                     collection: str | None = None, media_type: str | None = None,
                     year_from: int | None = None, year_to: int | None = None,
                     date_from: str | None = None, date_to: str | None = None,
                     sort: str | None = None, limit: int | None = None, page: int | None = None, fan_out: bool | None = None,
                     sources: Sequence[str] | None = None, facets: bool | None = None, availability: bool | None = None,
                     native_query: bool | None = None) -> ItemsAnswer:
        """The catalogues; at least one of query, a field, media_type or a bound."""
        answer = self.ask("search_items", {
            "query": query, "title": title, "creator": creator, "subject": subject, "publisher": publisher,
            "isbn": isbn, "lccn": lccn, "oclc": oclc,
            "language": language, "place": place, "collection": collection, "media_type": media_type,
            "year_from": year_from, "year_to": year_to, "date_from": date_from, "date_to": date_to,
            "sort": sort, "limit": limit, "page": page, "fan_out": fan_out, "sources": _list(sources),
            "facets": facets, "availability": availability, "native_query": native_query})
        assert isinstance(answer, ItemsAnswer)
        return answer

    def get_item(self, identifier: str, *, sections: Sequence[str] | None = None, max_copies: int | None = None,
                 text_offset: int | None = None, max_text_chars: int | None = None,
                 list_offset: int | None = None, list_limit: int | None = None) -> ItemAnswer:
        """One record, from the archive its identifier names."""
        answer = self.ask("get_item", {
            "identifier": identifier, "sections": _list(sections), "max_copies": max_copies, "text_offset": text_offset,
            "max_text_chars": max_text_chars, "list_offset": list_offset, "list_limit": list_limit})
        assert isinstance(answer, ItemAnswer)
        return answer

    def read_text(self, identifier: str, *, page: int | None = None, match: str | None = None, text_offset: int | None = None,
                  max_text_chars: int | None = None, max_passages: int | None = None) -> TextAnswer:
        """One page's text, the passages in it, or a search inside one record."""
        answer = self.ask("read_text", {"identifier": identifier, "page": page, "match": match, "text_offset": text_offset,
                                        "max_text_chars": max_text_chars, "max_passages": max_passages})
        assert isinstance(answer, TextAnswer)
        return answer

    def search_headings(self, query: str, *, kind: str | None = None, limit: int | None = None,
                        sources: Sequence[str] | None = None) -> HeadingsAnswer:
        """Subject headings or persons, in the libraries' own lists."""
        answer = self.ask("search_headings", {"query": query, "kind": kind, "limit": limit, "sources": _list(sources)})
        assert isinstance(answer, HeadingsAnswer)
        return answer

    def browse_collections(self, query: str | None = None, *, limit: int | None = None, page: int | None = None,
                           sources: Sequence[str] | None = None) -> CollectionsAnswer:
        """Digital collections; their slug is what `collection` takes."""
        answer = self.ask("browse_collections", {"query": query, "limit": limit, "page": page, "sources": _list(sources)})
        assert isinstance(answer, CollectionsAnswer)
        return answer

    def sequential_report(self, *, topic: str | None = None, page_count: int | None = None, source_count: int | None = None,
                          include_graphics: bool | None = None, search_sources: bool | None = None,
                          section_number: int | None = None, total_sections: int | None = None,
                          title: str | None = None, content: str | None = None,
                          is_bibliography: bool | None = None, sources_used: Sequence[int] | None = None,
                          next_section_needed: bool | None = None, report_id: str | None = None) -> ReportAnswer:
        """One step of a sourced report."""
        answer = self.ask("sequential_report", {
            "topic": topic, "page_count": page_count, "source_count": source_count, "include_graphics": include_graphics,
            "search_sources": search_sources, "section_number": section_number, "total_sections": total_sections, "title": title,
            "content": content, "is_bibliography": is_bibliography, "sources_used": _list(sources_used),
            "next_section_needed": next_section_needed, "report_id": report_id})
        assert isinstance(answer, ReportAnswer)
        return answer

    def ask(self, tool: str, arguments: Mapping[str, Any], call: Call | None = None) -> Answer:
        """Any tool by name, arguments as a host sends them.

        Raises:
            SourceError: refused arguments, an unknown record, a failed read; AllFailed when every archive asked failed.
            Cancelled: `call` was taken back.
        """
        given = check(tool, arguments, self.archives)
        current = call or self.new_call()
        work: Mapping[str, Callable[[dict[str, Any], Call], Answer]] = {
            "search_inside": self._search_inside, "search_items": self._search_items,
            "get_item": self._get_item, "read_text": self._read_text,
            "search_headings": self._search_headings, "browse_collections": self._browse_collections,
            "sequential_report": self._desk.step}
        return work[tool](given, current)

    # ---- searching ---------------------------------------------------------------------------------------------------

    def _default(self) -> tuple[type[Archive], ...]:
        chosen = self.settings.sources
        return tuple(archive for archive in self.archives if (archive.key in chosen if chosen else archive.asked_by_default))

    def _chosen(self, given: Mapping[str, Any]) -> tuple[type[Archive], ...]:
        """The archives the caller named, in registry order; left out, those asked by default."""
        named = given.get("sources")
        return tuple(archive for archive in self.archives if archive.key in named) if named else self._default()

    def _search_inside(self, given: dict[str, Any], call: Call) -> Answer:
        query = replace(_query(given), excerpt_chars=given["max_excerpt_chars"],
                        excerpts_per_record=given["max_excerpts_per_match"])
        answer = searching.search_inside(query, self._chosen(given), fan_out=given["fan_out"], opener=self._opener, call=call)
        return fitting.fit_search("search_inside", answer)

    def _search_items(self, given: dict[str, Any], call: Call) -> Answer:
        query = _query(given)
        answer = searching.search_items(query, self._chosen(given), fan_out=given["fan_out"], opener=self._opener, call=call)
        return fitting.fit_search("search_items", answer)

    # ---- lists -------------------------------------------------------------------------------------------------------

    def _search_headings(self, given: dict[str, Any], call: Call) -> Answer:
        kind = given["kind"]

        def absence(archive: type[Archive]) -> str | None:
            if kind in archive.heading_kinds:
                return None
            return archive.absent_because.get(kind, f"{archive.name} has no list of headings of the kind {kind}.")

        pages, reports, notes = self._list_of("search_headings", self._chosen(given), call, given["limit"],
                                              lambda archive: archive.search_headings(given["query"], kind, given["limit"]),
                                              absence=absence)
        answer = HeadingsAnswer(headings=tuple(_rows(pages)), per_source=reports, notes=notes)
        return fitting.fit_search("search_headings", answer)

    def _browse_collections(self, given: dict[str, Any], call: Call) -> Answer:
        query, limit, page = given.get("query"), given["limit"], given["page"]
        pages, reports, notes = self._list_of("browse_collections", self._chosen(given), call, limit,
                                              lambda archive: archive.browse_collections(query, limit, page),
                                              absence=lambda archive: None)
        answer = CollectionsAnswer(collections=tuple(_rows(pages)), per_source=reports, notes=notes)
        return fitting.fit_search("browse_collections", answer)

    def _list_of(self, call_name: str, archives: Sequence[type[Archive]], call: Call, limit: int, work: Callable[[Archive], Page],
                 absence: Callable[[type[Archive]], str | None]) -> tuple[dict[str, Page], tuple[Report, ...], tuple[str, ...]]:
        """One list from every archive that keeps one: the pages, the reports, the notes. Raises AllFailed."""
        absent = {archive.key: archive.absence(call_name, self.settings) or absence(archive) for archive in archives}
        asked = {archive.key: archive for archive in archives if absent[archive.key] is None}
        opened = {key: self._opener.open(archive, call) for key, archive in asked.items()}
        names = {key: archive.name for key, archive in asked.items()}
        outcomes = ask_each({key: _job(work, opened[key]) for key in asked}, names, call)
        pages = {key: outcome for key, outcome in outcomes.items() if isinstance(outcome, Page)}
        reports = tuple(
            report_absent(archive, absent[archive.key] or "") if archive.key not in asked
            else _list_report(archive, opened[archive.key], outcomes[archive.key]) for archive in archives)
        if asked and not pages:
            raise AllFailed(reports)
        notes = [under(asked[key].name, note) for key, page in pages.items()
                 for note in (*((page.beyond,) if page.beyond else ()), *page.notes)]
        if not asked:
            notes.insert(0, NOBODY_ASKED + " ".join(under(a.name, absent[a.key] or "") for a in archives))
        empty = [asked[key].name for key, page in pages.items() if not page.records and not page.beyond]
        if empty:
            notes.insert(0, f"{capital(', '.join(empty))} answered with nothing under these words; "
                            "try fewer words or another spelling.")
        return pages, reports, tuple(notes)

    # ---- one record --------------------------------------------------------------------------------------------------

    def _open_reference(self, identifier: str, call_name: str, call: Call) -> tuple[Reference, Opened]:
        reference = read_identifier(identifier, self.archives)
        archive = next(archive for archive in self.archives if archive.key == reference.source)
        absence = archive.absence(call_name, self.settings)
        if absence:
            able = ", ".join(other.key for other in self.archives if other.absence(call_name, self.settings) is None)
            raise InvalidInput(absence, archive=archive.key, hint=f"{call_name} is answered by: {able}.")
        return reference, self._opener.open(archive, call)

    def _get_item(self, given: dict[str, Any], call: Call) -> Answer:
        sections = tuple(section for section in SECTIONS if section in given["sections"])
        reference, opened = self._open_reference(given["identifier"], "get_item", call)
        archive = type(opened.archive)
        able = tuple(section for section in sections if section not in archive.unread_fields)  # the others never read as empty
        wanted = ItemQuery(sections=able, list_offset=given["list_offset"], list_limit=given["list_limit"])
        read = _as_reading(lambda: opened.ask(lambda archive: archive.read_record(reference, wanted)))
        item = replace(read.item, source=reference.source, source_name=archive.name, attribution=opened.attribution())
        return _fitted_item(item, read.list_total, given, able, ItemAnswer(
            record=item, item={}, id_read_as=reference.read_as, sections_returned=able,
            sections_omitted=tuple(section for section in SECTIONS if section not in sections),
            fields_not_read_from_this_archive=archive.unread_fields, notes=(*read.notes, *opened.replay_note())),
            opened.retrieved_at, _cited_page(reference, archive, item))

    def _read_text(self, given: dict[str, Any], call: Call) -> Answer:
        reference, opened = self._open_reference(given["identifier"], "read_text", call)
        page, match = given.get("page"), given.get("match")
        if page is not None and reference.page is not None and page != reference.page:
            raise InvalidInput(f"The identifier names page {reference.page}, and page is {page}.",
                               hint="Leave page out, or give the record's identifier.")
        page = reference.page if page is None else page
        if page is None and match is None:
            raise InvalidInput("read_text needs a page or a match.",
                               hint="Give page to read one page, or match to search inside the record.")
        notes = (capital(reference.read_as) + ".",) if reference.read_as else ()
        if page is None:
            found = _as_reading(lambda: opened.ask(
                lambda archive: archive.search_record(reference, match or "", given["max_passages"])))
            answer = replace(_described(found.page, reference, opened), passages=found.passages, match_count=found.match_count,
                             notes=(*notes, *found.page.notes, *found.notes, *opened.replay_note()))
            return _fitted_passages(answer)
        read = _as_reading(lambda: opened.ask(lambda archive: archive.read_page(reference, page)))
        answer = replace(_described(read, reference, opened), notes=(*notes, *read.notes, *opened.replay_note()))
        if match is None:
            return _fitted_text(answer, read, given)
        return _fitted_passages(_passages_of(answer, read, match, given))


def _list(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _query(given: Mapping[str, Any]) -> Query:
    """The arguments of a search as the archives read them."""
    bounds = {name: given[name] for name in ("year_from", "year_to", "date_from", "date_to") if name in given}
    low = bounds.get("date_from") or (f"{bounds['year_from']:04d}" if "year_from" in bounds else None)
    high = bounds.get("date_to") or (f"{bounds['year_to']:04d}" if "year_to" in bounds else None)
    return Query(words=given.get("query", "").strip(), rows=given["limit"], page=given["page"],
                 fields={name: given[name].strip() for name in FIELDS if name in given}, media_type=given.get("media_type"),
                 date_from=low, date_to=high, bound_names=tuple(bounds), sort=given.get("sort", "relevance"),
                 facets=given.get("facets", False), availability=given.get("availability", False),
                 native=given.get("native_query", False), publication=given.get("publication"))


def _job(work: Callable[[Archive], Page], opened: Opened) -> Callable[[], Page]:
    return lambda: opened.ask(work)


def _rows(pages: Mapping[str, Page]) -> list[Any]:
    return [replace(row, source=key) for key, page in pages.items() for row in page.records]


def _list_report(archive: type[Archive], opened: Opened, outcome: Page | SourceError) -> Report:
    if isinstance(outcome, SourceError):
        return report_asked(archive, opened, outcome)
    return replace(report_asked(archive, opened, None), count=len(outcome.records), reported_total=outcome.total,
                   more=outcome.more, skipped=outcome.skipped or None)


def _as_reading(work: Callable[[], Any]) -> Any:
    """A record being read: whatever fails here failed while reading."""
    try:
        return work()
    except SourceError as error:
        error.stage = error.stage or "read"
        raise


def _cited_page(reference: Reference, archive: type[Archive], item: Item) -> PageEntry | None:
    """The page that the identifier named, for the citation's locator; with its printed number when the record lists it."""
    if reference.page is None or archive.pages_are is None:
        return None
    listed = next((entry for entry in item.pages if entry.page_number == reference.page), None)
    return listed or PageEntry(page_number=reference.page, page_number_is=archive.pages_are, source_url=item.source_url)


# ---- one record, cut to its windows ----------------------------------------------------------------------------------

def _fitted_item(item: Item, list_total: int | None, given: Mapping[str, Any], sections: tuple[str, ...], answer: ItemAnswer,
                 retrieved_at: str, cited: PageEntry | None) -> ItemAnswer:
    """The record in the windows asked, or in the largest ones that fit: lists give way first, then prose, then copies.

    A field that leaves no room for any window is clipped first.
    """
    from .telling.citations import citation

    def cited_item(item: Item) -> Item:
        if "citation" not in sections:
            return item
        return replace(item, citation=citation(item, retrieved_on=retrieved_at[:10], page=cited))

    def made(list_limit: int, text_chars: int, copies: int) -> ItemAnswer:
        return _windowed_item(item, list_total, given, sections, answer, list_limit, text_chars, copies)

    record, stated, item = item, answer.notes, cited_item(item)
    for chars in fitting.FIELD_STEPS:
        if fitting.fits("get_item", made(1, 200, 0)):
            break
        item = cited_item(fitting.clipped(record, chars, whole=("description", "subjects")))
        item = replace(item, subjects=tuple(fitting.clipped(subject, chars) for subject in record.subjects))
        answer = replace(answer, record=item, notes=(*fitting.clipped(stated, chars), fitting.clipped_note(chars)))
    entries = max(len(item.editions), len(item.pages), len(item.subjects), len(item.contributors), len(item.context))
    entries, chars, copies = entries or 1, given["max_text_chars"], given["max_copies"]
    if not fitting.fits("get_item", made(entries, chars, copies)):
        entries = fitting.largest(1, entries, lambda size: fitting.fits("get_item", made(size, chars, copies)))
    if not fitting.fits("get_item", made(entries, chars, copies)):
        chars = fitting.largest(200, chars, lambda size: fitting.fits("get_item", made(entries, size, copies)))
    if not fitting.fits("get_item", made(entries, chars, copies)):
        copies = fitting.largest(0, copies, lambda size: fitting.fits("get_item", made(entries, chars, size)))
    return made(entries, chars, copies)


def _windowed_item(item: Item, list_total: int | None, given: Mapping[str, Any], sections: tuple[str, ...], answer: ItemAnswer,
                   list_limit: int, text_chars: int, max_copies: int) -> ItemAnswer:
    """Only the sections asked; an empty one stands as an empty list or null, so that it reads as nothing stated."""
    notes = list(answer.notes)
    prose, text_window = windows.cut(item.description or "", given["text_offset"], text_chars)
    if item.description and given["text_offset"] >= len(item.description):
        notes.append(f"The prose of this record ends at character {len(item.description)}; text_offset lies past its end.")
    cut_item = replace(item, description=prose or None, copies=item.copies[:max_copies], editions=item.editions[:list_limit],
                       pages=item.pages[:list_limit], subjects=item.subjects[:list_limit],
                       contributors=item.contributors[:list_limit], context=item.context[:list_limit])
    wire = to_dict(cut_item)
    for section in SECTIONS:
        for name in _FIELDS_OF_SECTION.get(section, (section,)):
            if section not in sections:
                wire.pop(name, None)
        if section in sections and section != "citation":
            wire.setdefault(section, None if section == "description" else [])
    for name in ("subjects", "contributors", "context"):
        left_out = len(getattr(item, name)) - len(getattr(cut_item, name))
        if name in sections and left_out:
            notes.append(f"{left_out} more {name} were left out to keep the answer short.")
    lists = [getattr(item, name) for name in ("editions", "pages") if name in sections]
    listed = next((entries for entries in lists if entries), lists[0] if lists else None)
    list_window = None
    if listed is not None and list_total is not None:
        end = given["list_offset"] + min(len(listed), list_limit)
        list_window = ListWindow(offset=given["list_offset"], returned=min(len(listed), list_limit), total=list_total,
                                 next_offset=end if listed and end < list_total else None)
        if not listed and given["list_offset"]:
            notes.append(f"The list has {list_total} entries; list_offset lies past its end.")
    shown_window = text_window if "description" in sections and item.description else None
    return replace(answer, item=wire, text_window=shown_window, list_window=list_window, notes=tuple(dict.fromkeys(notes)))


def _described(page: PageText, reference: Reference, opened: Opened) -> TextAnswer:
    """What is said of a page whatever was asked of it."""
    return TextAnswer(identifier=page.identifier, source=reference.source, title=page.title, published_on=page.published_on,
                      publication=page.publication, places=page.places, edition=page.edition, page_number=page.page_number,
                      page_number_is=page.page_number_is or opened.archive.pages_are,
                      printed_page=page.printed_page, page_count=page.page_count,
                      ocr_available=page.ocr_available, text_refused=page.text_refused, source_url=page.source_url,
                      image_url=page.image_url, previous_page=page.previous_page, next_page=page.next_page,
                      item_identifier=page.item_identifier, rights=page.rights, attribution=opened.attribution())


def _passages_of(answer: TextAnswer, read: PageText, match: str, given: Mapping[str, Any]) -> TextAnswer:
    """The passages around a match in a page that was read."""
    found = windows.find(read.text or "", match, given["max_passages"])
    notes = list(answer.notes)
    if read.text and not found.occurrences:
        notes.append("The words do not stand in the text of this page as it was read by machine; scanned text can be misread.")
    if found.occurrences > found.shown:
        outside = found.occurrences - found.shown
        notes.append(f"{outside} of {found.occurrences} occurrences lie outside these passages; raise max_passages for more.")
    passages = tuple(Passage(page_number=read.page_number, text=text, source_url=read.source_url) for text in found.passages)
    match_count = found.occurrences if read.text is not None else None
    return replace(answer, passages=passages, match_count=match_count, notes=tuple(notes))


def _fitted_passages(answer: TextAnswer) -> TextAnswer:
    """As many passages as fit; those left out are counted."""
    if fitting.fits("read_text", answer):
        return answer
    answer = _clipped_text(answer)
    every = answer.passages or ()
    if fitting.fits("read_text", answer) or not every:
        return answer

    def made(count: int) -> TextAnswer:
        note = f"The answer was too long: {len(every) - count} passages were left out; max_passages {count} fits."
        return replace(answer, passages=every[:count], notes=(*answer.notes, note))

    return made(fitting.largest(0, len(every), lambda count: fitting.fits("read_text", made(count))))


def _clipped_text(answer: TextAnswer) -> TextAnswer:
    """What is said of a page, with its fields clipped so far that they fit beside one passage."""
    shorter = answer
    for chars in fitting.FIELD_STEPS:
        shorter = fitting.clipped_answer(answer, chars)
        if fitting.fits("read_text", replace(shorter, passages=(shorter.passages or ())[:1])):
            break
    return shorter


def _fitted_text(answer: TextAnswer, read: PageText, given: Mapping[str, Any]) -> TextAnswer:
    """A page's text in the window asked, or in the largest one that fits."""
    text = read.text
    if not fitting.fits("read_text", replace(answer, text=text and text[:200])):
        answer = _clipped_text(answer)
    if text is None:
        return answer

    def made(chars: int) -> TextAnswer:
        part, text_window = windows.cut(text, given["text_offset"], chars)
        past = text and given["text_offset"] >= len(text)
        notes = answer.notes
        if past:
            notes = (*notes, f"The text ends at character {len(text)}; text_offset lies past its end.")
        return replace(answer, text=part, text_window=text_window, notes=notes)

    chars = given["max_text_chars"]
    if not fitting.fits("read_text", made(chars)):
        chars = fitting.largest(200, chars, lambda size: fitting.fits("read_text", made(size)))
    return made(chars)
