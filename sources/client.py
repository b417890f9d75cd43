"""Every archive behind one object: `BooksClient`, whose methods are the tools.

It checks arguments, asks the archives, and returns frozen answers, whole; it knows no protocol. The
walks are in `asking`.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .answers import (
    Answer,
    CollectionsAnswer,
    HeadingsAnswer,
    InsideAnswer,
    ItemAnswer,
    ItemsAnswer,
    ListAnswer,
    TextAnswer,
)
from .asking import read, search
from .asking.arguments import check
from .asking.cite import CiteAnswer
from .asking.cite import cite as cite_together
from .asking.log import LogAnswer, SearchLog
from .asking.repeat import repeated
from .asking.report import Desk, ReportAnswer
from .asking.together import Opened, Opener
from .contract import CALLS, FIELDS, Archive, Query, to_dict
from .errors import SourceError
from .registry import ARCHIVES
from .settings import VERSION, Settings, read_settings
from .telling.text_block import render
from .telling.view import document
from .transport.call import Call
from .transport.flights import Transport


class BooksClient:
    """Asks every archive at once and merges what comes back.

    `settings` are the environment's when left out. `sources` replaces the registry; `readers` maps
    an archive's key to a stand-in with the methods of `Archive`. One object may serve many threads;
    `close()` ends its connections.
    """

    def __init__(
        self,
        *,
        settings: Settings | None = None,
        sources: Sequence[type[Archive]] = ARCHIVES,
        readers: Mapping[str, Archive] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.settings = settings or read_settings(
            known_sources=tuple(archive.key for archive in sources)
        )
        self.archives = tuple(sources)
        self.transport = transport or Transport(
            self.settings, self.archives, identity=f"mcp-books/{VERSION}"
        )
        self._opener = Opener(
            settings=self.settings, transport=self.transport, readers=dict(readers or {})
        )
        self._desk = Desk(self)
        self.log = SearchLog(version=VERSION, path=self.settings.search_log)

    def __enter__(self) -> BooksClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.transport.close()

    def status(self) -> dict[str, Any]:
        """Archive by archive: the calls it answers, why not the others, and its lanes' pace, blocks
        and last failure."""
        state = self.transport.status()
        archives = [
            {
                "source": archive.key,
                "name": archive.name,
                "asked_by_default": archive in self._default(),
                "answers": [call for call in CALLS if archive.absence(call, self.settings) is None],
                "absent": {
                    call: reason
                    for call in CALLS
                    if (reason := archive.absence(call, self.settings))
                },
                "describes": {call: to_dict(said) for call, said in (
                    ("search_inside", archive.text), ("search_items", archive.catalogue)) if said},
                "lanes": [lane for lane in state["lanes"] if lane["archive"] == archive.key],
            }
            for archive in self.archives
        ]
        return {
            **{name: value for name, value in state.items() if name != "lanes"},
            "archives": archives,
        }

    def new_call(self, tell: Callable[[str], None] | None = None) -> Call:
        """A call with the budget of the settings; cancel() on it stops the work from another
        thread."""
        return Call(self.settings.call_budget_ms / 1000, tell=tell, clock=self.transport.clock)

    def opened(self, archive: type[Archive], call: Call) -> Opened:
        """An archive made ready for one call, for whoever asks it alone."""
        return self._opener.open(archive, call)

    # ---- the tools, as methods -------------------------------------------------------------------

    def search_inside(
        self,
        query: str,
        *,
        limit: int | None = None,
        page: int | None = None,
        max_excerpt_chars: int | None = None,
        max_excerpts_per_match: int | None = None,
        fan_out: bool | None = None,
        sources: Sequence[str] | None = None,
        date_from: str | None = None,
        date_to: str | None = None,
        language: str | None = None,
        place: str | None = None,
        publication: str | None = None,
        facets: bool | None = None,
    ) -> InsideAnswer:
        """Words or a quoted phrase in the text itself.

        Args:
            query: Words, or a phrase in double quotes.
            limit: Matches per archive; 1 to 100; default 3.
            page: 1 to 1000; default 1.
            max_excerpt_chars: 80 to 1200; default 300.
            max_excerpts_per_match: 1 to 10; default 2.
            fan_out: Also ask further wordings when few rows come; default True.
            sources: Archives to ask; left out: those asked by default.
            date_from: YYYY, YYYY-MM or YYYY-MM-DD.
            date_to: Same forms.
            language: MARC or two-letter code.
            place: Place of publication, as a US state.
            publication: Exact newspaper title, or its LCCN.
            facets: Count matches by year, per archive; default False.

        Raises:
            InvalidInput: an argument is refused; nothing was sent.
            AllFailed: every archive asked failed, its `reports` say how; one that fails among
                others is a report in `per_source`.
        """
        answer = self.ask(
            "search_inside",
            {
                "query": query,
                "limit": limit,
                "page": page,
                "max_excerpt_chars": max_excerpt_chars,
                "max_excerpts_per_match": max_excerpts_per_match,
                "fan_out": fan_out,
                "sources": _list(sources),
                "date_from": date_from,
                "date_to": date_to,
                "language": language,
                "place": place,
                "publication": publication,
                "facets": facets,
            },
        )
        assert isinstance(answer, InsideAnswer)
        return answer

    def search_items(
        self,
        query: str | None = None,
        *,
        title: str | None = None,
        creator: str | None = None,
        subject: str | None = None,
        publisher: str | None = None,
        isbn: str | None = None,
        lccn: str | None = None,
        oclc: str | None = None,
        language: str | None = None,
        place: str | None = None,
        collection: str | None = None,
        media_type: str | None = None,
        year_from: int | None = None,
        year_to: int | None = None,
        date_from: str | None = None,
        date_to: str | None = None,
        sort: str | None = None,
        limit: int | None = None,
        page: int | None = None,
        fan_out: bool | None = None,
        sources: Sequence[str] | None = None,
        facets: bool | None = None,
        availability: bool | None = None,
        native_query: bool | None = None,
    ) -> ItemsAnswer:
        """The catalogues; at least one of query, a field, media_type or a bound.

        Args:
            query: Title, creator, subject or plain words.
            title: All words; in double quotes: adjacent. So for each field.
            creator: A name, as the catalogues write it or not.
            subject: A subject, in the words of the catalogue.
            publisher: A name.
            isbn: 10 or 13 characters; hyphens do not matter.
            lccn: A control number of the Library of Congress.
            oclc: A number of WorldCat.
            language: MARC or two-letter code.
            place: Place of publication.
            collection: Slug from browse_collections.
            media_type: An archive that does not use the name is not asked.
            year_from: 1 to 9999.
            year_to: 1 to 9999.
            date_from: YYYY, YYYY-MM or YYYY-MM-DD.
            date_to: Same forms.
            sort: Inside each archive; one of relevance, newest, oldest, title, rating, editions;
                default relevance.
            limit: Rows per archive; 1 to 100; default 5.
            page: 1 to 1000; default 1.
            fan_out: Also ask further wordings when few rows come; default True.
            sources: Archives to ask; left out: those asked by default.
            facets: Each archive's own terms and counts; default False.
            availability: Whether a copy can be read or borrowed; default False.
            native_query: query is in the syntax of the one archive named in sources; default False.

        Raises:
            InvalidInput: an argument is refused; nothing was sent.
            AllFailed: every archive asked failed, its `reports` say how; one that fails among
                others is a report in `per_source`.
        """
        answer = self.ask(
            "search_items",
            {
                "query": query,
                "title": title,
                "creator": creator,
                "subject": subject,
                "publisher": publisher,
                "isbn": isbn,
                "lccn": lccn,
                "oclc": oclc,
                "language": language,
                "place": place,
                "collection": collection,
                "media_type": media_type,
                "year_from": year_from,
                "year_to": year_to,
                "date_from": date_from,
                "date_to": date_to,
                "sort": sort,
                "limit": limit,
                "page": page,
                "fan_out": fan_out,
                "sources": _list(sources),
                "facets": facets,
                "availability": availability,
                "native_query": native_query,
            },
        )
        assert isinstance(answer, ItemsAnswer)
        return answer

    def get_item(
        self,
        identifier: str,
        *,
        sections: Sequence[str] | None = None,
        max_copies: int | None = None,
        text_offset: int | None = None,
        max_text_chars: int | None = None,
        list_offset: int | None = None,
        list_limit: int | None = None,
    ) -> ItemAnswer:
        """One record, from the archive its identifier names.

        Args:
            identifier: As a search returned it, or an archive's address.
            sections: any of description, subjects, copies, context, contributors, editions, pages,
                citation; default description.
            max_copies: 1 to 100; default 10.
            text_offset: Where the prose resumes; at least 0; default 0.
            max_text_chars: 200 to 8000; default 1500.
            list_offset: Where editions or pages resume; at least 0; default 0.
            list_limit: 1 to 100; default 50.

        Raises:
            InvalidInput: an argument is refused; nothing was sent.
            RecordNotFound: no archive has such a record or page.
            SourceError: the archive failed; another kind of failure is another class.
        """
        answer = self.ask(
            "get_item",
            {
                "identifier": identifier,
                "sections": _list(sections),
                "max_copies": max_copies,
                "text_offset": text_offset,
                "max_text_chars": max_text_chars,
                "list_offset": list_offset,
                "list_limit": list_limit,
            },
        )
        assert isinstance(answer, ItemAnswer)
        return answer

    def read_text(
        self,
        identifier: str,
        *,
        page: int | None = None,
        to_page: int | None = None,
        picture: str | None = None,
        match: str | None = None,
        text_offset: int | None = None,
        max_text_chars: int | None = None,
        max_passages: int | None = None,
    ) -> TextAnswer:
        """One page's text, the passages in it, or a search inside one record.

        Args:
            identifier: A record, a page from a search, or a page's address.
            page: The page_number a search or get_item gave; at least 0.
            to_page: Reads on to this page, as far as max_text_chars reaches; at least 0.
            picture: Also a picture, of the page or of the passage that match finds; one of none,
                page, passage; default none.
            match: Words and "phrases" to look for.
            text_offset: at least 0; default 0.
            max_text_chars: 200 to 20000; default 6000.
            max_passages: 1 to 20; default 10.

        Raises:
            InvalidInput: an argument is refused; nothing was sent.
            RecordNotFound: no archive has such a record or page.
            SourceError: the archive failed; another kind of failure is another class.
        """
        answer = self.ask(
            "read_text",
            {
                "identifier": identifier,
                "page": page,
                "to_page": to_page,
                "picture": picture,
                "match": match,
                "text_offset": text_offset,
                "max_text_chars": max_text_chars,
                "max_passages": max_passages,
            },
        )
        assert isinstance(answer, TextAnswer)
        return answer

    def search_headings(self, query: str, *, kind: str | None = None, limit: int | None = None,
                        sources: Sequence[str] | None = None) -> HeadingsAnswer:
        """Subject headings or persons, in the libraries' own lists.

        Args:
            query: Words of a heading, or a name.
            kind: one of subject, person; default subject.
            limit: Headings per archive; 1 to 50; default 10.
            sources: Archives to ask; left out: those asked by default.

        Raises:
            InvalidInput: an argument is refused; nothing was sent.
            AllFailed: every archive asked failed, its `reports` say how; one that fails among
                others is a report in `per_source`.
        """
        answer = self.ask(
            "search_headings",
            {"query": query, "kind": kind, "limit": limit, "sources": _list(sources)},
        )
        assert isinstance(answer, HeadingsAnswer)
        return answer

    def browse_collections(
        self,
        query: str | None = None,
        *,
        limit: int | None = None,
        page: int | None = None,
        sources: Sequence[str] | None = None,
    ) -> CollectionsAnswer:
        """Digital collections; their slug is what `collection` takes.

        Args:
            query: Words of a title; left out: every collection.
            limit: Collections per archive; 1 to 100; default 25.
            page: 1 to 100; default 1.
            sources: Archives to ask; left out: those asked by default.

        Raises:
            InvalidInput: an argument is refused; nothing was sent.
            AllFailed: every archive asked failed, its `reports` say how; one that fails among
                others is a report in `per_source`.
        """
        answer = self.ask(
            "browse_collections",
            {"query": query, "limit": limit, "page": page, "sources": _list(sources)},
        )
        assert isinstance(answer, CollectionsAnswer)
        return answer

    def sequential_report(
        self,
        *,
        topic: str | None = None,
        page_count: int | None = None,
        source_count: int | None = None,
        include_graphics: bool | None = None,
        search_sources: bool | None = None,
        section_number: int | None = None,
        total_sections: int | None = None,
        title: str | None = None,
        content: str | None = None,
        is_bibliography: bool | None = None,
        sources_used: Sequence[int] | None = None,
        next_section_needed: bool | None = None,
        report_id: str | None = None,
        sources: Sequence[str] | None = None,
    ) -> ReportAnswer:
        """One step of a sourced report.

        Args:
            topic: Begins a report.
            page_count: 1 to 20; default 4.
            source_count: 1 to 50; default 10.
            include_graphics: Also look for pictures.
            search_sources: This step searches.
            section_number: 1 to 100.
            total_sections: 1 to 100.
            title: Of the section.
            content: Of the section, as it will stand.
            is_bibliography: This step writes the list of sources.
            sources_used: Numbers of the sources listed.
            next_section_needed: False ends the report.
            report_id: Left out: the one open report.
            sources: Archives to search; left out: those asked by default.

        Raises:
            InvalidInput: an argument is refused; nothing was sent.
        """
        answer = self.ask(
            "sequential_report",
            {
                "topic": topic,
                "page_count": page_count,
                "source_count": source_count,
                "include_graphics": include_graphics,
                "search_sources": search_sources,
                "section_number": section_number,
                "total_sections": total_sections,
                "title": title,
                "content": content,
                "is_bibliography": is_bibliography,
                "sources_used": _list(sources_used),
                "next_section_needed": next_section_needed,
                "report_id": report_id,
                "sources": _list(sources),
            },
        )
        assert isinstance(answer, ReportAnswer)
        return answer

    def cite(self, identifiers: Sequence[str], *, format: str | None = None) -> CiteAnswer:
        """Records and pages as one file of citations.

        Args:
            identifiers: 1 to 25, of records, or of pages as search_inside and get_item name them.
            format: plain, bibtex, ris or csl_json; default plain.

        Raises:
            InvalidInput: an argument is refused; nothing was sent. What fails for one identifier
                stands in `failed`.
        """
        answer = self.ask("cite", {"identifiers": _list(identifiers), "format": format})
        assert isinstance(answer, CiteAnswer)
        return answer

    def search_log(self, *, format: str | None = None, since: str | None = None,
                   limit: int | None = None) -> LogAnswer:
        """What this client was asked, and what each archive was then sent.

        Args:
            format: text, csv or json; default text.
            since: A day or a time in ISO 8601; left out: all that is kept.
            limit: The newest entries; 1 to 500; default 100.

        Raises:
            InvalidInput: an argument is refused, or `since` is no time.
        """
        answer = self.ask("search_log", {"format": format, "since": since, "limit": limit})
        assert isinstance(answer, LogAnswer)
        return answer

    def ask(self, tool: str, arguments: Mapping[str, Any], call: Call | None = None) -> Answer:
        """Any tool by name, arguments as a host sends them.

        Raises:
            SourceError: refused arguments, an unknown record, a failed read; AllFailed when every
            archive asked failed. Cancelled: `call` was taken back.
        """
        given = check(tool, arguments, self.archives)
        work: Mapping[str, Callable[[dict[str, Any], Call], Answer]] = {
            "search_inside": self._search_inside, "search_items": self._search_items,
            "get_item": self._get_item, "read_text": self._read_text,
            "search_headings": self._search_headings,
            "browse_collections": self._browse_collections, "sequential_report": self._desk.step,
            "cite": self._cite, "search_log": self._search_log}
        call = call or self.new_call()
        try:
            answer = work[tool](given, call)
        except SourceError as error:
            self.log.note(tool, given, error, call.kept)
            raise
        if tool != "search_log":  # it asks nobody
            self.log.note(tool, given, answer, call.kept)
        said = {"repeat_with": repeated(tool, given)} if isinstance(answer, ListAnswer) else {}
        return replace(answer, show=partial(_shown, tool, given), **said)

    # ---- the tools, as work --------------------------------------------------------------------

    def _default(self) -> tuple[type[Archive], ...]:
        chosen = self.settings.sources
        return tuple(archive for archive in self.archives
                     if (archive.key in chosen if chosen else archive.asked_by_default))

    def in_scope(self, named: Sequence[str]) -> tuple[type[Archive], ...]:
        """The archives named, in registry order; none named: those asked by default."""
        return tuple(archive for archive in self.archives if archive.key in named) if named \
            else self._default()

    def _question(self, query: Query, given: Mapping[str, Any], call: Call) -> search.Question:
        return search.Question(query=query, archives=self.in_scope(given.get("sources") or ()),
                               fan_out=given.get("fan_out", False), opener=self._opener,
                               call=call)

    def _search_inside(self, given: dict[str, Any], call: Call) -> Answer:
        query = replace(_query(given), excerpt_chars=given["max_excerpt_chars"],
                        excerpts_per_record=given["max_excerpts_per_match"])
        return search.search_inside(self._question(query, given, call))

    def _search_items(self, given: dict[str, Any], call: Call) -> Answer:
        return search.search_items(self._question(_query(given), given, call))

    def _search_headings(self, given: dict[str, Any], call: Call) -> Answer:
        query = Query(words=given["query"], rows=given["limit"])
        return search.search_headings(self._question(query, given, call), given["kind"])

    def _browse_collections(self, given: dict[str, Any], call: Call) -> Answer:
        query = Query(words=given.get("query") or "", rows=given["limit"], page=given["page"])
        return search.browse_collections(self._question(query, given, call))

    def _reading(self, tool: str, given: Mapping[str, Any], call: Call) -> read.Reading:
        return read.open_identifier(given["identifier"], tool, self.archives, self._opener, call)

    def _get_item(self, given: dict[str, Any], call: Call) -> Answer:
        return read.get_item(self._reading("get_item", given, call), given)

    def _read_text(self, given: dict[str, Any], call: Call) -> Answer:
        return read.read_text(self._reading("read_text", given, call), given)

    def _cite(self, given: dict[str, Any], call: Call) -> Answer:
        def opened(identifier: str) -> read.Reading:
            return self._reading("get_item", {"identifier": identifier}, call)

        return cite_together(given["identifiers"], given["format"], opened, call)

    def _search_log(self, given: dict[str, Any], call: Call) -> Answer:
        return self.log.told(given["format"], given.get("since"), given["limit"])


def _shown(tool: str, given: Mapping[str, Any], answer: Answer, form: str) -> str:
    told = answer.to_dict()
    return document(told, given) if form == "html" else render(tool, told)


def _list(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _query(given: Mapping[str, Any]) -> Query:
    """The arguments of a search as the archives read them."""
    bounds = {name: given[name] for name in ("year_from", "year_to", "date_from", "date_to")
              if name in given}
    flags = {ours: given.get(name, False) for ours, name in (
        ("facets", "facets"), ("availability", "availability"), ("native", "native_query"))}
    return Query(
        words=given.get("query", "").strip(), rows=given["limit"], page=given["page"],
        fields={name: given[name].strip() for name in FIELDS if name in given},
        media_type=given.get("media_type"), date_from=_bound(bounds, "from"),
        date_to=_bound(bounds, "to"), bound_names=tuple(bounds),
        sort=given.get("sort", "relevance"), publication=given.get("publication"), **flags)


def _bound(bounds: Mapping[str, Any], end: str) -> str | None:
    year = bounds.get(f"year_{end}")
    return bounds.get(f"date_{end}") or (None if year is None else f"{year:04d}")
