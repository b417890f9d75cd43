"""The general catalogue of the Bibliothèque nationale de France: the editions, serials, maps,
scores, prints, discs and manuscripts that the library holds, one record each. It holds no page
text.

One SRU interface answers everything, in CQL. It declares no order but its own score, no counts by
term, and no ceiling.

Sources: the explain answer of the service and its two manuals (api.bnf.fr); recorded answers and
public clients (facts of 2026-11).
"""
from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar
from urllib.parse import SplitResult, unquote

from ..contract import (
    Archive,
    Ask,
    Describes,
    ItemPage,
    ItemQuery,
    Lane,
    Page,
    Query,
    Reference,
    Reply,
    Request,
)
from ..errors import InvalidInput, RecordNotFound, SourceError, UnreadableAnswer
from ..languages import marc_code
from ..registry import ENTRY_OF
from . import bnf_catalogue_records as records
from .bnf_catalogue_records import ARK, KEY, Row
from .numbers import isbn_forms
from .shared import ark_reference, page_of_rows, plan_from, route_stands

LISTED = ENTRY_OF[KEY]
SRU_URL = "https://catalogue.bnf.fr/api/SRU"
FULL, PLAIN = "unimarcXchange", "dublincore"

# What each field is asked in; every word of the value, or with quotation marks around it the words
# adjacent.
INDEXES = {"title": "bib.title", "creator": "bib.author", "subject": "bib.subject",
           "publisher": "bib.publisher"}
_DROPPED = {
    "place": "the catalogue has no index of towns; publisher reads the imprint, with the town in "
             "it",
    "sort": "the catalogue has no order but its own score",
    "facets": "the catalogue gives no counts by term",
    "availability": "the catalogue does not say whether a copy can be lent or read",
    "publication": "the catalogue describes editions, not what stands in them",
}
_ABSENT_FOR = {
    "lccn": "The catalogue files no Library of Congress numbers.",
    "oclc": "The catalogue files no OCLC numbers.",
    "collection": "The catalogue has no collections in this sense.",
}
_LOCAL = re.compile(
    rf"(?:ark:/?12148/)?(?P<ark>{ARK})|(?:(?i:FRBNF))?(?P<number>[0-9]{{8}})(?:[0-9]{{7}})?"
)
_PAGE = re.compile(rf"/ark:/12148/(?P<ark>{ARK})(?:[/.].*)?")
_HINT = "Give an ark (bnfcatalogue:cb31721367g), a record number (FRBNF31721367) or a page address."


# ---- the question --------------------------------------------------------------------------------

def clause(index: str, value: str) -> str:
    """The words and quoted phrases of `value` in one index, all of them required; "" when no word
    is left.

    A quotation mark or a backslash would end the term, `*` and `?` would truncate: none of them is
    a word's own.
    """
    parts = value.split('"')
    if len(parts) % 2 == 0:  # a mark without its pair is a mark like any other
        parts = [value.replace('"', " ")]
    asked = []
    for place, part in enumerate(parts):
        words = re.sub(r'[\\*?]', " ", part).split()  # "--" between parts of a heading is no word
        term = " ".join(word for word in words if any(map(str.isalnum, word)))
        if term:
            asked.append(f'{index} {"adj" if place % 2 else "all"} "{term}"')
    return " and ".join(asked)


def _clauses(query: Query) -> dict[str, str]:
    """The parts of the question, each by the argument it came from. Raises InvalidInput for a value
    the caller must mend."""
    words = f"({query.words.strip()})" if query.native else clause("bib.anywhere", query.words)
    asked = {"query": words} | {name: clause(index, query.fields[name])
                                for name, index in INDEXES.items() if name in query.fields}
    if "isbn" in query.fields:
        asked["isbn"] = f'bib.isbn any "{" ".join(isbn_forms(query.fields["isbn"]))}"'
    if "language" in query.fields:
        asked["language"] = f'bib.language any "{marc_code(query.fields["language"])}"'
    if query.media_type:
        asked["media_type"] = f'bib.doctype any "{records.DOCUMENT_TYPES[query.media_type]}"'
    asked["dates"] = _dates(*query.years)
    return {name: spelled for name, spelled in asked.items() if spelled}


def _dates(low: int | None, high: int | None) -> str:
    if low is not None and high is not None:
        return f'bib.publicationdate within "{low:04d} {high:04d}"'
    bounds = ((">=", low), ("<=", high))
    return "".join(
        f'bib.publicationdate {sign} "{year:04d}"' for sign, year in bounds if year is not None
    )


def _asked(query: str, schema: str, rows: int, start: int = 1) -> Ask:
    """`start` counts records from 1; the service gives at most 1,000 at once, more than a page here
    ever holds."""
    return Ask(
        url=SRU_URL,
        body="xml",
        statuses=(200, 404, 410),
        check=_check,
        params=(
            ("version", "1.2"),
            ("operation", "searchRetrieve"),
            ("query", query),
            ("recordSchema", schema),
            ("maximumRecords", str(rows)),
            ("startRecord", str(start)),
        ),
    )


def _check(reply: Reply) -> None:
    """A refused question comes as a count of zero beside a diagnostic: that is no absence."""
    if reply.status != 200:
        return
    told = records.diagnostic(reply.value)
    if told is not None:
        raise InvalidInput(
            f"The catalogue refused the question: {told}.",
            archive=KEY,
            hint="Ask in plainer words, or mend the query where native_query is set.",
        )
    if records.count(reply.value) is None:
        raise UnreadableAnswer("The catalogue sent an answer that counts no records.", archive=KEY)


# ---- the archive ---------------------------------------------------------------------------------

class BnfCatalogue(Archive):
    """Records of what the library holds are searched and read. Works, persons and subjects are
    data.bnf.fr's to describe."""

    key, name = LISTED.key, LISTED.name
    answers, media_types = LISTED.answers, LISTED.media_types
    lanes = (
        Lane(
            key=KEY,
            hosts=(r"catalogue\.bnf\.fr",),
            spacing_s=3.0,
            in_flight_max=1,
            spacing_because="the service publishes no rate; three seconds, one question at a "
                            "time, is the slowest that its known clients keep",
        ),
    )
    absent_because: ClassVar = {
        "search_inside": "The catalogue describes editions and holds no text of them.",
        "read_text": "The catalogue describes editions and holds no text of them; a digitised copy "
                     "is named as gallica:….",
        "search_headings": "Its headings are those of data.bnf.fr, which is asked for them.",
        "browse_collections": "The catalogue has no collections to browse.",
    }
    native_syntax = (
        'CQL, as in bib.author all "flaubert" and bib.publicationdate within "1850 1860"'
    )
    catalogue = Describes(
        searches_on="every field of the catalogue's records: titles, names, subjects, imprints, "
                    "notes, numbers",
        row_describes="an edition, a serial, a print, a disc, a map or a manuscript that the "
                      "library holds; a set and its volumes are rows each",
        requires_every_word=True,
        year_means="the year of this edition, where the record's code and its imprint agree or one "
                   "is silent",
        total_means="catalogue records, a set and its volumes counted each",
    )
    address_hosts = ("catalogue.bnf.fr",)
    unread_fields = ("pages", "editions")
    spellings = "bnfcatalogue:cb31721367g"

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        """The two conditions of the licence: the source named, and a date."""
        return (
            "Bibliothèque nationale de France, catalogue général, metadata retrieved "
            f"{retrieved_at[:10]}, Licence Ouverte (Etalab)"
        )

    # ---- identifiers -----------------------------------------------------------------------------

    @classmethod
    def read_identifier(cls, local: str) -> Reference:
        """An ark, or a record number, which becomes the ark that it is part of."""
        match = _LOCAL.fullmatch(local)
        if match is None:
            raise InvalidInput(
                "The catalogue mints no identifier of this shape.", archive=KEY, hint=_HINT
            )
        return ark_reference(BnfCatalogue, hint=_HINT, **match.groupdict())

    @classmethod
    def read_address(cls, address: SplitResult) -> Reference:
        match = _PAGE.fullmatch(unquote(address.path))
        if match is None:
            raise InvalidInput(
                "This address names no record of the catalogue.", archive=KEY, hint=_HINT
            )
        return ark_reference(BnfCatalogue, ark=match["ark"], number=None, hint=_HINT,
                             read_as="The address was read as the ark that it holds.")

    # ---- searching -------------------------------------------------------------------------------

    @classmethod
    def plan_catalogue(cls, query: Query) -> Request:
        unheld = next(
            (because for name, because in _ABSENT_FOR.items() if name in query.fields), None
        )
        clauses = {} if unheld else _clauses(query)
        if unheld or not clauses:
            return Request(
                query=query,
                media_type_asked=query.media_type,
                absent_because=unheld or "Nothing is left that the catalogue can search on.",
            )
        spelled = {**clauses, **dict.fromkeys(query.bound_names, clauses.get("dates", ""))}
        ask = _asked(
            " and ".join(clauses.values()), FULL, query.rows, (query.page - 1) * query.rows + 1
        )
        reasons = dict.fromkeys(query.narrowings, "no word of it could be sent") | _DROPPED
        return plan_from(query, spelled, reasons, asks=(ask,), media_type_asked=query.media_type,
                         notes=_year_note(query))

    def search_catalogue(self, request: Request) -> Page:
        """Records in the order of the catalogue's score. One that came damaged is asked for once
        more in its plainer form."""
        root = route_stands(BnfCatalogue, self.ask(request.asks[0]), "search").value
        rows, notes = records.rows_of(root), request.notes
        damaged = [row for row in rows if row.data is None and row.ark]
        if damaged:
            mended, said = self._in_plain_form(damaged)
            rows = [mended.get(row.ark, row) if row.data is None else row for row in rows]
            notes = (*notes, *said)
        page = page_of_rows(
            BnfCatalogue,
            rows,
            records.read_row,
            page=request.query.page,
            rows=request.query.rows,
            total=records.count(root),
            notes=notes,
        )
        number = request.query.fields.get("isbn")
        return page if number is None else _told_of_numbers(page, rows, isbn_forms(number))

    def _in_plain_form(self, damaged: list[Row]) -> tuple[dict[str, Row], tuple[str, ...]]:
        """The damaged records as Dublin Core, by ark; a failure here costs these rows alone, and is
        told."""
        arks = " ".join(f"ark:/12148/{row.ark}" for row in damaged)
        try:
            asked = _asked(f'bib.persistentid any "{arks}"', PLAIN, len(damaged))
            root = route_stands(BnfCatalogue, self.ask(asked), "search").value
        except SourceError as error:
            return {}, (
                f"{len(damaged)} records came damaged, and could not be read in a plainer form: "
                f"{error.message}",
            )
        mended = {row.ark: row for row in records.rows_of(root) if row.data is not None}
        return mended, (
            f"{len(damaged)} records came damaged; {len(mended)} of them are shown from a plainer "
            "form of the same record.",
        )

    # ---- one record ------------------------------------------------------------------------------

    def read_record(self, reference: Reference, wanted: ItemQuery) -> ItemPage:
        """One record by its ark; the catalogue follows merged ones.

        Raises:
            RecordNotFound: the catalogue counts none under this ark. UnreadableAnswer: it came
            damaged.
        """
        asked = _asked(f'bib.persistentid any "ark:/12148/{reference.local}"', FULL, 1)
        root = route_stands(BnfCatalogue, self.ask(asked), "records").value
        row = next(iter(records.rows_of(root)), None)
        if row is None:
            raise RecordNotFound("The catalogue holds no record under this ark.", archive=KEY)
        if row.data is None or not row.full:
            raise UnreadableAnswer(
                "The catalogue could not convert this record, and sent a diagnostic in its place.",
                archive=KEY,
                hint=f"Open {records.address(reference.local)} instead.",
            )
        merged = row.ark != reference.local
        notes = (
            (f"The catalogue merged {reference.local} into {row.ark}, which is shown.",)
            if merged
            else ()
        )
        return ItemPage(item=records.read_item(row), notes=notes)


def _year_note(query: Query) -> tuple[str, ...]:
    exact = any(len(date or "") > 4 for date in (query.date_from, query.date_to))
    return ("it has years only, and the dates were sent to it as years.",) if exact else ()


def _told_of_numbers(page: Page, rows: list[Row], forms: tuple[str, ...]) -> Page:
    """The page, with a note where a record does not state the number it was found by: an index may
    hold more than the record."""
    other = sum(bool(row.full) and not set(forms) & set(records.numbers(row.data)) for row in rows)
    if not other:
        return page
    told = (f"{other} of the rows do not state the ISBN asked; look at the record before you rely "
            "on it.")
    return replace(page, notes=(*page.notes, told))
