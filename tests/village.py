"""The Village Library: one catalogue of the titles on its shelves; it holds no text."""
from __future__ import annotations

from typing import Any

from sources.archives.shared import page_of_rows
from sources.contract import (
    IDENTIFYING,
    Archive,
    Ask,
    Describes,
    Item,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    Query,
    Record,
    Reference,
    Request,
)
from sources.errors import InvalidInput, RecordNotFound, UnreadableAnswer
from sources.text import first, integer, mapping

SITE = "https://library.village.example"


class Village(Archive):
    key, name = "village", "the Village Library"
    lanes = (Lane(key="village", hosts=(r"library\.village\.example",), spacing_s=2.0,
                  spacing_because="its notice to programs"),)
    answers = ("search_items", "get_item")
    asked_by_default = False  # its one machine is small
    media_types = ("shelved",)
    catalogue = Describes(searches_on="titles", row_describes="a book on a shelf", total_means="books",
                          requires_every_word=True)
    address_hosts = ("library.village.example",)
    spellings = "village:12"

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        if not (local.isascii() and local.isdigit()):
            raise InvalidInput("The Village Library numbers its books.", archive=cls.key, hint=f"Such as {cls.spellings}.")
        return Reference(source=cls.key, local=local)

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        reply = self.ask(Ask(url=f"{SITE}/books/{reference.local}.json", statuses=(200, 404)))
        row = _record(mapping(reply.value)) if reply.status == 200 else None
        if row is None:
            raise RecordNotFound("The Village Library has no such book.", archive=self.key)
        return ItemPage(item=Item(identifier=reference.identifier, title=row.title, creator=row.creator, year=row.year,
                                  media_type=row.media_type, source_url=row.source_url))

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        """Words alone reach it: other narrowings are dropped, and one that names a single book leaves it unasked."""
        if not query.words or any(name in IDENTIFYING for name in query.fields):
            return Request(absent_because="The Village Library is searched by the words of a title alone.")
        asked = (("title", query.words), ("rows", str(query.rows)), ("page", str(query.page)))
        return Request(query=query, asks=(Ask(url=f"{SITE}/books.json", params=asked),),
                       dropped=tuple((name, "its catalogue searches titles alone") for name in query.narrowings))

    def search_catalogue(self, request: Request) -> Page:
        answer = mapping(self.ask(request.asks[0]).value)
        books = answer.get("books")
        if not isinstance(books, list):
            raise UnreadableAnswer("The Village Library sent no list of books.", archive=self.key)
        return page_of_rows(Village, books, lambda book: _record(mapping(book)), page=request.query.page,
                            rows=request.query.rows, total=integer(answer.get("total")))


def _record(book: dict[str, Any]) -> Record | None:
    number = integer(book.get("number"))  # what its pages are named by; a row without one cannot be opened
    return None if number is None else Record(
        identifier=f"village:{number}", title=first(book.get("title")), creator=first(book.get("by")), year=integer(book.get("year")),
        media_type="shelved", source_url=f"{SITE}/books/{number}")
