"""Archives of our own for tests: they answer from what a test gives them, and remember what they were asked."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sources.client import BooksClient
from sources.contract import (
    Archive,
    Describes,
    Item,
    ItemPage,
    ItemQuery,
    Page,
    PageText,
    Passages,
    Query,
    Record,
    Reference,
    Request,
    Rights,
    TextMatch,
)
from sources.settings import Settings

Answerer = Callable[[Query], Page]


def archive(key: str, *, text: Answerer | Page | Exception | None = None, catalogue: Answerer | Page | Exception | None = None,
            item: Item | Exception | None = None, page_text: PageText | Exception | None = None, passages: Passages | None = None,
            plan: Request | Callable[[Query], Request] | None = None, **described: Any) -> type[Archive]:
    """A registry entry named `key`; a call without an answer is one it does not answer. `asked` lists the wordings it got."""
    answers = tuple(call for call, given in (("search_inside", text), ("search_items", catalogue), ("get_item", item),
                                             ("read_text", page_text or passages)) if given is not None)

    class Toy(Archive):
        asked: list[Query] = []

        @classmethod
        def plan_text(cls, query: Query) -> Request:
            return replace(plan(query) if callable(plan) else plan or Request(), query=query)

        plan_catalogue = plan_text

        @classmethod
        def read_identifier(cls, local: str) -> Reference:
            return Reference(source=key, local=local)

        @classmethod
        def attribution(cls, retrieved_at: str) -> str:
            return f"Credit {key}, {retrieved_at[:10]}"

        def search_text(self, request: Request) -> Page:
            self.asked.append(request.query)
            return given(text, request.query)

        def search_catalogue(self, request: Request) -> Page:
            self.asked.append(request.query)
            return given(catalogue, request.query)

        def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
            return ItemPage(item=given(item, None))

        def read_page(self, reference: Reference, page: int) -> PageText:
            read: PageText = given(page_text, None)
            return read

        def search_record(self, reference: Reference, words: str, max_passages: int) -> Passages:
            assert passages is not None
            return passages

    Toy.key, Toy.name, Toy.answers = key, f"Archive {key}", answers
    Toy.text = Describes(corpus=f"the pages of {key}", total_means="pages", requires_every_word=True, publishes_page_number=True, year_means="a year")
    Toy.catalogue = Describes(searches_on=f"fields of {key}", row_describes=f"a row of {key}", total_means="records", year_means="a year")
    for name, value in described.items():
        setattr(Toy, name, value)
    return Toy


def given(answer: Any, query: Query | None) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer(query) if callable(answer) else answer


def client(*archives: type[Archive], readers: Mapping[str, Archive] | None = None, **changes: Any) -> BooksClient:
    return BooksClient(settings=Settings(**changes), sources=archives, readers=readers)


def match(identifier: str, *excerpts: str, kind: str | None = "passage", **changes: Any) -> TextMatch:
    return TextMatch(identifier=identifier, title=f"Title of {identifier}", excerpts=excerpts, excerpt_kind=kind if excerpts else None,
                     source_url=f"https://example.org/{identifier}", **changes)


def record(identifier: str | None, **changes: Any) -> Record:
    return Record(**{"identifier": identifier, "title": f"Title of {identifier}", "source_url": f"https://example.org/{identifier}", **changes})


def page(*records: Any, total: int | None = None, **changes: Any) -> Page:
    return Page(records=records, total=len(records) if total is None else total, **changes)


def by_wording(answers: Mapping[str, Page]) -> Answerer:
    return lambda query: answers.get(query.words, Page(total=0))


def item(identifier: str = "a:1", **changes: Any) -> Item:
    stated = {"title": "A record", "source_url": "https://example.org/1", "rights": Rights(note="nothing stated")}
    return Item(**{"identifier": identifier, **stated, **changes})


def identifiers(rows: Sequence[Any]) -> list[str]:
    return [row.identifier for row in rows]
