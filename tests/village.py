"""The Village Library: one catalogue of the titles on its shelves; it holds no text."""
from __future__ import annotations

from typing import Any

from sources.contract import IDENTIFYING, Archive, Describes, Lane, Page, Plan, Query, Record
from sources.errors import UnreadableAnswer
from sources.text import first, integer, mapping

SITE = "https://library.village.example"


class Village(Archive):
    key, name = "village", "the Village Library"
    lanes = (Lane(key="village", hosts=(r"library\.village\.example",), spacing_s=2.0, spacing_because="its notice to programs"),)
    answers = ("search_items",)
    media_types = ("shelved",)
    catalogue = Describes(searches_on="titles", row_describes="a book on a shelf", total_means="books", requires_every_word=True)

    @classmethod
    def plan_catalogue(cls, query: Query) -> Plan:
        """Words alone reach it: other narrowings are dropped, and one that names a single book leaves it unasked."""
        if not query.words or any(name in IDENTIFYING for name in query.fields):
            return Plan(absent_because="The Village Library is searched by the words of a title alone.")
        return Plan(dropped=tuple((name, "its catalogue searches titles alone") for name in query.narrowings))

    def search_catalogue(self, query: Query) -> Page:
        asked = {"title": query.words, "rows": str(query.rows), "page": str(query.page)}
        answer = mapping(self.ask.get_json(f"{SITE}/books.json", asked).value)
        books = answer.get("books")
        records = tuple(record for book in books if (record := _record(mapping(book)))) if isinstance(books, list) else ()
        if not isinstance(books, list) or (books and not records):
            raise UnreadableAnswer("The Village Library sent no books that can be read.", archive=self.key)
        return Page(records=records, total=integer(answer.get("total")), skipped=len(books) - len(records))


def _record(book: dict[str, Any]) -> Record | None:
    number = integer(book.get("number"))  # what its pages are named by; a row without one cannot be opened
    return None if number is None else Record(
        identifier=None, title=first(book.get("title")), creator=first(book.get("by")), year=integer(book.get("year")),
        media_type="shelved", source_url=f"{SITE}/books/{number}")
