"""What three single-archive servers let their users ask, each with the call here that asks it and what comes back.

The Open Library server, the Gallica server and the Library of Congress server are the systems this one answers to. A row states,
in our own words, one argument or one behaviour of theirs; it is run against a stand-in that plays every archive, and holds what is
sent out, what is shown, or the reason given where something is refused. Sending a row's call is all it takes to use it.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

import pytest
import shelf
from conftest import FakeClock, StandIn

import mcp_books
from sources.client import BooksClient
from sources.errors import SourceError
from sources.settings import Settings
from sources.telling.text_block import render_error

Told = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Row:
    """`wanted` of the other server, `tool` and `given` here; then what goes out, what `shows`, or what the refusal `says`."""

    wanted: str
    tool: str
    given: dict[str, Any]
    sends: tuple[str, ...] = ()
    shows: Callable[[Told], Any] | None = None
    gives: Any = True
    says: str = ""


def first_item(*keys: str) -> Callable[[Told], Any]:
    return lambda told: tuple(told["items"][0].get(key) for key in keys)


def of_item(*keys: str) -> Callable[[Told], Any]:
    return lambda told: tuple(told["item"].get(key) for key in keys)


def of_archive(*keys: str) -> Callable[[Told], Any]:
    return lambda told: tuple(told["per_source"][0].get(key) for key in keys)


def of_answer(*keys: str) -> Callable[[Told], Any]:
    return lambda told: tuple(told.get(key) for key in keys)


def noted(words: str) -> Callable[[Told], Any]:
    return lambda told: any(words in note for note in told["notes"])


# ---- the Open Library server ---------------------------------------------------------------------------------------------

def works(wanted: str, *, sends: tuple[str, ...] = (), shows: Callable[[Told], Any] | None = None, gives: Any = True, says: str = "",
          **given: Any) -> Row:
    return Row(wanted=wanted, tool="search_items", given={**given, "sources": ["openlibrary"]}, sends=sends, shows=shows, gives=gives, says=says)


EVERY_SECTION = ["description", "subjects", "copies", "context", "contributors", "editions"]

OPEN_LIBRARY = [
    works("search books by words", query="lantern keepers", sends=("q=lantern keepers",), shows=first_item("identifier", "title"),
          gives=("openlibrary:OL800001W", "The lantern keepers")),
    works("search with its index's own prefixes", query="title:lantern AND first_publish_year:[1880 TO 1890]", native_query=True,
          sends=("q=title:lantern AND first_publish_year:[1880 TO 1890]",)),
    works("filter by title", title="lantern", sends=("q=title:(lantern)",)),
    works("filter by author", creator="Ferrant", sends=("author=Ferrant",)),
    works("filter by subject", subject="lighthouses", sends=("subject=lighthouses",)),
    works("filter by publisher", publisher="Phare", sends=("publisher=Phare",)),
    works("filter by ISBN, hyphens ignored", isbn="978-2-07-042779-6", sends=("isbn=9782070427796",)),
    works("a mistyped ISBN", isbn="9782070427797", says="check digit"),
    works("filter by language, three letters", query="lantern", language="fre", sends=("language=fre",)),
    works("filter by language, two letters are translated", query="lantern", language="fr", sends=("language=fre",)),
    works("an unknown language code is refused, not ignored", query="lantern", language="xx", says="no language code known here"),
    works("sort by newest", query="lantern", sort="newest", sends=("sort=new",), shows=of_archive("ordered_on"),
          gives=("first_publish_year, latest first; works without a year come last",)),
    works("sort by oldest", query="lantern", sort="oldest", sends=("sort=old",)),
    works("sort by rating", query="lantern", sort="rating", sends=("sort=rating",)),
    works("sort by number of editions", query="lantern", sort="editions", sends=("sort=editions",)),
    works("a limit and an offset: pages of a size", query="lantern", limit=4, page=1, sends=("limit=4", "page=1"), shows=of_archive("more"),
          gives=(True,)),
    works("a limit above what is given at once is refused by name", query="lantern", limit=101, says="limit"),
    works("the total, whatever page", query="lantern", page=2, shows=of_archive("reported_total", "reported_total_means"), gives=(7, "works")),
    works("how the question was understood", title="lantern", shows=of_archive("filters_sent"),
          gives=([{"filter": "title", "as": "q=title:(lantern)"}],)),
    works("availability for reading and borrowing", query="lantern", availability=True, sends=("fields=", "ia,availability"),
          shows=first_item("availability"),
          gives=({"status": "borrow_available", "is_readable": False, "is_lendable": True, "identifier": "lanternkeepers00ferr"},)),
    works("availability that was not given stays unknown", query="lantern", availability=True, shows=noted("gave no availability for 2 of its rows")),
    works("authors' names and identifiers", query="lantern", shows=first_item("creator", "author_identifiers"),
          gives=("Odile Ferrant", ["openlibrary:OL800011A", "openlibrary:OL800012A"])),
    works("first year, number of editions, ease of reading", query="lantern", shows=first_item("year", "edition_count", "ebook_access"),
          gives=(1883, 3, "borrowable")),
    works("subjects, rating, cover", query="lantern", shows=first_item("subjects", "rating", "cover_url"),
          gives=(["Lighthouses", "Islands", "Keepers", "Storms", "Letters"], {"average": 3.67, "count": 3},
                 "https://covers.openlibrary.org/b/id/501-M.jpg")),
    works("the edition that matched, and how many did", query="lantern", language="fre", sends=("editions.key",)),
    works("a query that the archive refuses is its own refusal", query="th", says="fewer than three characters"),
    Row(wanted="search inside books: the same index, at its owner", tool="search_inside", given={"query": "lantern", "sources": ["archive"]},
        shows=lambda told: told["hits"][0]["excerpts"][0], gives="rowed by the lantern till morn- ing, <and> no wind"),
    Row(wanted="search inside books: why not here", tool="search_inside", given={"query": "lantern", "sources": ["openlibrary"]},
        shows=of_archive("status", "absent_because"), gives=(
            "absent", "Open Library's full-text index is the Internet Archive's own; ask the source archive.")),
    Row(wanted="one work, with or without its path", tool="get_item", given={"identifier": "openlibrary:/works/OL800001W"},
        shows=of_item("identifier", "title", "description", "date"), gives=(
            shelf.OL_WORK, "The lantern keepers", "Two keepers.\nOne lamp.", "November 1883")),
    Row(wanted="subjects, places, persons and times of a work", tool="get_item", given={"identifier": shelf.OL_WORK, "sections": ["subjects"]},
        shows=of_item("subjects", "subject_places", "subject_people", "subject_times"),
        gives=(["Lighthouses", "Islands"], ["Ferrant Rock"], ["Aud the keeper"], ["19th century"])),
    Row(wanted="authors of a work, with roles", tool="get_item", given={"identifier": shelf.OL_WORK, "sections": ["contributors"]},
        shows=lambda told: [(who["name"], who["role"]) for who in told["item"]["contributors"]],
        gives=[("Odile Ferrant", "author"), ("OL800012A", "illustrator")]),
    Row(wanted="covers of a work", tool="get_item", given={"identifier": shelf.OL_WORK, "sections": ["copies"]},
        shows=lambda told: told["item"]["copies"][0]["url"], gives="https://covers.openlibrary.org/b/id/501-L.jpg"),
    Row(wanted="a merged work is followed, and both are named", tool="get_item", given={"identifier": "openlibrary:OL800009W"},
        shows=lambda told: (told["item"]["identifier"], told["notes"][0]),
        gives=(shelf.OL_WORK, "Open Library merged OL800009W into OL800001W, which is shown.")),
    Row(wanted="an identifier of the wrong kind is refused before any request", tool="get_item", given={"identifier": "openlibrary:OL5L"},
        says="is a list or a tag"),
    Row(wanted="a work that does not exist", tool="get_item", given={"identifier": "openlibrary:OL1W"}, says="not_found"),
    Row(wanted="editions of a work, a slice of the list", tool="get_item",
        given={"identifier": shelf.OL_WORK, "sections": ["editions"], "list_limit": 20, "list_offset": 0}, sends=("limit=20", "offset=0"),
        shows=lambda told: (told["list_window"]["total"], told["item"]["editions"][0]),
        gives=(12, {"identifier": shelf.OL_EDITION, "title": "Les gardiens de lanternes", "date": "November 2006", "publisher": "Éditions du Phare",
                    "place": "Brest", "language": ["fre"], "standard_numbers": {"isbn": ["207042779X"]},
                    "source_url": "https://openlibrary.org/books/OL800021M",
                    "digitised_url": "https://archive.org/details/gardienslanternes00ferr"})),
    Row(wanted="an edition by ISBN", tool="get_item", given={"identifier": "openlibrary:isbn/9782070427796"}, sends=("/isbn/9782070427796.json",),
        shows=of_item("identifier", "publisher", "place", "extent", "language"),
        gives=(shelf.OL_EDITION, "Éditions du Phare", "Brest; Paris", "212 p.; Paperback", ["fre"])),
    Row(wanted="an edition by OCLC number", tool="get_item", given={"identifier": "openlibrary:oclc/123456"}, sends=("/oclc/123456.json",)),
    Row(wanted="an edition by LCCN", tool="get_item", given={"identifier": "openlibrary:lccn/90012345"}, sends=("/lccn/90012345.json",)),
    Row(wanted="an edition by its own key, with its numbers", tool="get_item", given={"identifier": shelf.OL_EDITION},
        shows=of_item("standard_numbers", "call_number"),
        gives=({"isbn": ["9782070427796", "207042779X"], "lccn": ["90012345"], "oclc": ["123456", "654321"]}, "PQ2611 .E7")),
    Row(wanted="an edition's work and scan", tool="get_item", given={"identifier": shelf.OL_EDITION, "sections": ["context"]},
        shows=lambda told: [(related["kind"], related.get("identifier")) for related in told["item"]["context"]],
        gives=[("work", shelf.OL_WORK), ("scan", "archive:gardienslanternes00ferr"), ("series", None)]),
    Row(wanted="search authors", tool="search_headings", given={"query": "Odile Ferrant", "kind": "person", "limit": 10, "sources": ["openlibrary"]},
        sends=("/search/authors.json?q=Odile Ferrant&limit=10",), shows=lambda told: (told["headings"][0]["identifier"],
        told["headings"][0]["use_with"]),
        gives=(shelf.OL_AUTHOR, {"argument": "creator", "value": "OL800011A", "sources": ["openlibrary"]})),
    Row(wanted="authors of one name, told apart by dates, works and a title", tool="search_headings",
        given={"query": "Odile Ferrant", "kind": "person", "sources": ["openlibrary"]},
        shows=noted("born 1841, died 1902; 4 works; such as The lantern keepers")),
    Row(wanted="one author: life, portrait, identifiers elsewhere", tool="get_item", given={"identifier": shelf.OL_AUTHOR, "sections": EVERY_SECTION},
        shows=lambda told: (told["item"]["title"], told["item"]["date"], told["item"]["description"], told["item"]["notes"],
                            told["item"]["copies"][0]["url"], told["item"]["context"][0]["source_url"]),
        gives=("Odile Ferrant", "born 4th cent., died 996 (ca.)", "Kept a lamp.", ["Other names: Ferrant, Odile"],
               "https://covers.openlibrary.org/a/id/9-L.jpg", "https://viaf.org/viaf/1234567")),
    Row(wanted="an author's works, a slice of the list", tool="get_item", given={"identifier": shelf.OL_AUTHOR, "sections": ["editions"],
        "list_limit": 20},
        sends=("/authors/OL800011A/works.json?limit=20",),
        shows=lambda told: (told["list_window"]["total"], [work["title"] for work in told["item"]["editions"]]),
        gives=(4, ["The lantern keepers", "A salt road"])),
    Row(wanted="works under a subject", tool="search_headings", given={"query": "lighthouses", "sources": ["openlibrary"]},
        shows=lambda told: told["headings"][0]["use_with"], gives={"argument": "subject", "value": '"Lighthouses"', "sources": ["openlibrary"]}),
    works("works under a subject, with that heading", subject='"Lighthouses"', sends=('q=subject:"Lighthouses"',)),
    Row(wanted="a cover's address, without a request for it", tool="search_items", given={"query": "lantern", "sources": ["openlibrary"], "limit": 1},
        shows=first_item("cover_url"), gives=("https://covers.openlibrary.org/b/id/501-M.jpg",)),
    Row(wanted="a record as a resource", tool="resources/read", given={"uri": f"books://item/{shelf.OL_WORK}"},
        shows=lambda told: shelf.OL_WORK in told["text"]),
]


# ---- the Gallica server --------------------------------------------------------------------------------------------------

def documents(wanted: str, *, sends: tuple[str, ...] = (), shows: Callable[[Told], Any] | None = None, gives: Any = True, says: str = "",
              **given: Any) -> Row:
    return Row(wanted=wanted, tool="search_items", given={**given, "sources": ["gallica"]}, sends=sends, shows=shows, gives=gives, says=says)


GALLICA = [
    documents("by title, containing the words", title="eaux lentes", sends=('query=dc.title all "eaux lentes"',)),
    documents("by title, exactly", title='"eaux lentes"', sends=('query=dc.title adj "eaux lentes"', "exactSearch=true")),
    documents("by author, containing the words", creator="Odile Vasseur", sends=('dc.creator all "Odile Vasseur"',)),
    documents("by author, exactly", creator='"Vasseur, Odile"', sends=('dc.creator adj "Vasseur, Odile"',)),
    documents("by subject, containing the words", subject="marais", sends=('dc.subject all "marais"',)),
    documents("by subject, exactly", subject='"Marais -- Picardie"', sends=('dc.subject adj "Marais -- Picardie"',)),
    documents("by year", date_from="1862", date_to="1862", sends=('gallicapublication_date>="1862/01/01" and gallicapublication_date<="1862/12/31"',
        )),
    documents("by month", date_from="1862-02", date_to="1862-02", sends=('>="1862/02/01"', '<="1862/02/28"')),
    documents("by day", date_from="1862-02-03", date_to="1862-02-03", sends=('>="1862/02/03"', '<="1862/02/03"')),
    *(documents(f"by type of document: {kind}", media_type=kind, sends=(f'query=dc.type all "{kind}"',), shows=first_item("source"),
        gives=("gallica",))
      for kind in ("monographie", "periodique", "image", "manuscrit", "carte", "musique")),
    documents("in its own query language", query='dc.creator all "Vasseur" and dc.type all "monographie"', native_query=True,
              sends=('query=dc.creator all "Vasseur" and dc.type all "monographie"',)),
    documents("a query in its own language that it refuses", query="dc.title = = x", native_query=True, says="Query syntax error"),
    documents("in plain words, over all fields and the text", query="les eaux lentes", sends=('query=gallica all "les eaux lentes"',)),
    documents("so many results, from the 21st on", query="eaux", limit=10, page=3, sends=("startRecord=21", "maximumRecords=10"),
              shows=of_archive("reported_total", "more"), gives=(42, True)),
    documents("what a record states", query="eaux", shows=first_item("title", "creator", "date", "publishers", "languages", "subjects", "media_type"),
              gives=("Les eaux lentes", "Vasseur, Odile (1801-1870); France. Bureau des marais", "1862", ["Veuve Lanthier (Amiens)"], ["fre"],
                     ["Marais -- Picardie"], "monographies")),
    documents("the ark, as identifier and address", query="eaux", shows=first_item("identifier", "source_url"),
              gives=(shelf.GALLICA_BOOK, "https://gallica.bnf.fr/ark:/12148/bpt6k9000016")),
    documents("pictures and maps for a subject", query="marais", media_type="image", sends=('query=gallica all "marais" and dc.type all "image"',)),
    Row(wanted="what it lacked: one record in depth", tool="get_item", given={"identifier": shelf.GALLICA_BOOK},
        shows=of_item("title", "publisher", "extent"), gives=("Les eaux lentes", "Veuve Lanthier (Amiens)", "1 vol. (8 p.) ; in-12")),
    Row(wanted="what it lacked: the pages of a document and their pictures, as addresses", tool="get_item",
        given={"identifier": shelf.GALLICA_BOOK, "sections": ["pages"], "list_limit": 1},
        shows=lambda told: (told["list_window"]["total"], told["item"]["pages"][0]["image_url"]),
        gives=(4, "https://gallica.bnf.fr/iiif/ark:/12148/bpt6k9000016/f1/full/1000,/0/native.jpg")),
    Row(wanted="what it lacked: the text of a page, its terms accepted", tool="read_text", given={"identifier": shelf.GALLICA_BOOK, "page": 3},
        shows=of_answer("text", "printed_page"), gives=("Un été immobile\npassa.\n\nraie", "1")),
    Row(wanted="what it lacked: the years of a periodical", tool="get_item", given={"identifier": shelf.GALLICA_PERIODICAL, "sections": ["editions"]},
        shows=lambda told: [year["identifier"] for year in told["item"]["editions"]], gives=["gallica:cb900006010/date1911",
        "gallica:cb900006010/date1912"]),
    Row(wanted="a citation", tool="get_item", given={"identifier": shelf.GALLICA_BOOK, "sections": ["citation"]},
        shows=lambda told: told["item"]["citation"]["plain"].partition(" (retrieved")[0],
        gives="Vasseur, Odile (1801-1870). Les eaux lentes. Veuve Lanthier (Amiens), 1862. Gallica. https://gallica.bnf.fr/ark:/12148/bpt6k9000016"),
]


# ---- the Library of Congress server ----------------------------------------------------------------------------------------

def holdings(wanted: str, *, sends: tuple[str, ...] = (), shows: Callable[[Told], Any] | None = None, gives: Any = True, says: str = "",
             **given: Any) -> Row:
    return Row(wanted=wanted, tool="search_items", given={"query": "otter", **given, "sources": ["loc"]}, sends=sends, shows=shows, gives=gives,
        says=says)


def pages(wanted: str, *, sends: tuple[str, ...] = (), shows: Callable[[Told], Any] | None = None, gives: Any = True, **given: Any) -> Row:
    return Row(wanted=wanted, tool="search_inside", given={"query": "silver otter", "fan_out": False, **given, "sources": ["loc"]}, sends=sends,
        shows=shows,
               gives=gives)


PAGE_ADDRESS = "https://www.loc.gov/resource/sn00000011/1888-02-03/ed-1/?sp=5&q=otter"

LIBRARY_OF_CONGRESS = [
    *(holdings(f"by format: {kind}", media_type=kind, sends=(f"www.loc.gov/{kind}/?",), shows=of_archive("media_type_asked"), gives=(kind,))
      for kind in ("photos", "maps", "newspapers", "manuscripts", "audio", "film-and-videos", "books", "notated-music")),
    holdings("by years, both ends included", year_from=1880, year_to=1890, sends=("dates=1880/1890",)),
    holdings("by years given as text", year_from="1880", sends=("dates=1880/9999",)),
    holdings("by a subject heading", subject="Otters--Ohio", sends=("fa=subject:otters", "q=otter Ohio")),
    holdings("by a place", place="Ohio", sends=("fa=location:ohio",)),
    holdings("inside a collection", collection="loc:otter-prints", sends=("www.loc.gov/collections/otter-prints/?",)),
    holdings("a collection together with a format", collection="loc:otter-prints", media_type="maps", sends=("/collections/otter-prints/?",
        "fa=original_format:map")),
    holdings("results a page, and the page", limit=25, page=2, sends=("c=25", "sp=2"), shows=of_archive("reported_total", "last_page"), gives=(104, 5)),
    holdings("the Library's own counts by term, when asked", facets=True, sends=("at=results,pagination,facets",), shows=lambda told: told["facets"],
             gives=[{"source": "loc", "field": "subject", "counts_what": "rows that match, of every kind",
                     "values": [{"value": "Otters", "count": 12}, {"value": "Mills", "count": 7}]}]),
    holdings("the date as catalogued, and whether a row can be read", shows=first_item("date", "is_item"), gives=("1881", True)),
    holdings("a row that cannot be read has its address to open", shows=lambda told: [
        (row["identifier"], row["source_url"]) for row in told["items"] if not row["is_item"]],
        gives=[(None, "https://www.loc.gov/collections/otter-prints/about-this-collection/"), (None, "https://lccn.loc.gov/00000022")]),
    holdings("records of what is not digitised, told by online", sends=("all=true",), shows=first_item("online"), gives=(True,)),
    holdings("a page past what is ever served is said to be that, without a request", limit=25, page=100, query="otter", sends=("sp=100",)),
    Row(wanted="a record by its identifier", tool="get_item", given={"identifier": shelf.LOC_ITEM}, sends=("/item/00000021/",),
        shows=of_item("title", "call_number", "extent", "place", "language"),
        gives=("The otter's year", "QL737 .M6", "210 p. ; 20 cm.", "Larkfield, Ohio", ["english"])),
    Row(wanted="a record by its address", tool="get_item", given={"identifier": "https://www.loc.gov/item/00000021/"}, sends=("/item/00000021/",)),
    Row(wanted="a record by its permanent link", tool="get_item", given={"identifier": "https://lccn.loc.gov/00000021"}, sends=("/item/00000021/",)),
    Row(wanted="an identifier of several parts", tool="get_item", given={"identifier": shelf.LOC_ISSUE}, sends=("/item/sn00000011/1888-02-03/ed-1/",),
        says="not_found"),
    Row(wanted="any other address is refused before a request", tool="get_item", given={"identifier": "https://example.org/item/00000021/"},
        says="belongs to no archive here"),
    Row(wanted="contributors with roles", tool="get_item", given={"identifier": shelf.LOC_ITEM, "sections": ["contributors"]},
        shows=lambda told: [(who["name"], who.get("role")) for who in told["item"]["contributors"]],
        gives=[("Moor, Ada, 1840-1901", "author, illustrator"), ("Hill, Ivo", "former owner"), ("Larkfield, Society of Saint John of", None)]),
    Row(wanted="subject headings, and beside them the terms its filter takes", tool="get_item",
        given={"identifier": shelf.LOC_ITEM, "sections": ["subjects", "description"]}, shows=lambda told: (told["item"]["subjects"],
        told["item"]["subject_terms"]),
        gives=(["Otters--Ohio--Larkfield", "Mills"], ["otters", "ohio", "mills"])),
    Row(wanted="the places of a record as place takes them, and whether access is restricted", tool="get_item",
        given={"identifier": shelf.LOC_ITEM, "sections": ["subjects"]}, shows=of_item("locations", "access_restricted"),
        gives=(["larkfield", "ohio"], True)),
    Row(wanted="each digitised part with its pages, picture, PDF and sound", tool="get_item",
        given={"identifier": shelf.LOC_ITEM, "sections": ["copies"]}, shows=of_item("resources"),
        gives=([{"label": "The book", "page_count": 3, "pdf_url": "https://cdn.loc.gov/service/otter/book.pdf"}],)),
    Row(wanted="the files of every page, as far as the list goes", tool="get_item",
        given={"identifier": shelf.LOC_ITEM, "sections": ["copies"], "max_copies": 2, "list_offset": 6},
        shows=lambda told: [copy["url"] for copy in told["item"]["copies"]],
        gives=["https://tile.loc.gov/otter/2.jpg", "https://tile.loc.gov/text-services/word-coordinates-service?segment=/service/otter/3.xml"
               "&format=alto_xml&full_text=1"]),
    Row(wanted="a page's own address in its citation", tool="get_item", given={"identifier": "https://archive.org/details/lanternvale00orri/page/leaf4",
        "sections": ["citation"]}, shows=lambda told: told["item"]["citation"]["csl_json"]["URL"],
        gives="https://archive.org/details/lanternvale00orri/page/leaf4"),
    Row(wanted="notes and summary", tool="get_item", given={"identifier": shelf.LOC_ITEM}, shows=of_item("description"),
        gives=("A year by the river.\n\nSecond printing. With a map.",)),
    Row(wanted="rights as plain text, and a restriction of access", tool="get_item", given={"identifier": shelf.LOC_ITEM},
        shows=lambda told: told["item"]["rights"],
        gives={"statement": "No known restrictions.\n\nSee Rights and Restrictions.", "url": "https://www.loc.gov/otters/terms.html",
               "covers": "the item that the record describes", "note": "The Library marks access to this item as restricted. By appointment only."}),
    Row(wanted="former identifiers and numbers", tool="get_item", given={"identifier": shelf.LOC_ITEM}, shows=of_item("standard_numbers"),
        gives=({"lccn": ["00000021"], "oclc": ["4711"], "former_identifier": ["otter21"]},)),
    Row(wanted="files to download: picture, PDF, text", tool="get_item", given={"identifier": shelf.LOC_ITEM, "sections": ["copies"]},
        shows=lambda told: [copy["label"] for copy in told["item"]["copies"]][:4],
        gives=["The book, PDF", "The book, text", "page 1, image/jp2", "page 1, image/jpeg"]),
    Row(wanted="the pages of a record, so many at a time, and whether text is held", tool="get_item",
        given={"identifier": shelf.LOC_ITEM, "sections": ["pages"], "list_limit": 2},
        shows=lambda told: (told["list_window"], [(page["source_url"], page["text_held"]) for page in told["item"]["pages"]]),
        gives=({"offset": 0, "returned": 2, "total": 3, "next_offset": 2},
               [("https://www.loc.gov/resource/otter.00000021/?sp=1", True), ("https://www.loc.gov/resource/otter.00000021/?sp=2", False)])),
    Row(wanted="more pages at once than are given", tool="get_item", given={"identifier": shelf.LOC_ITEM, "sections": ["pages"], "list_limit": 1000},
        says="list_limit"),
    pages("newspaper pages by words", sends=("q=silver otter", "dl=page"), shows=lambda told: told["hits"][0]["identifier"], gives=shelf.LOC_ISSUE),
    pages("from a year, given as a number", date_from=1888, sends=("dates=1888/1963",)),
    pages("from a day to a year", date_from="1888-02-03", date_to="1890", sends=("dates=1888-02-03/1890-12-31",)),
    pages("in a state, by name", place="Ohio", sends=("fa=location_state:ohio",)),
    pages("in a state, by its letters", place="OH", sends=("fa=location_state:ohio",)),
    pages("in one newspaper, by the title as a row gives it", publication="the larkfield beacon (larkfield, ohio) 1880-1899",
          sends=("fa=partof_title:the larkfield beacon (larkfield, ohio) 1880-1899",)),
    pages("the passage that matched, where it came", shows=lambda told: (told["hits"][0]["excerpt_kind"], told["hits"][0]["excerpts"]),
          gives=("passage", ["... saw a silver otter by the mill ..."])),
    pages("the first lines where no passage came, called what they are", limit=4,
          shows=lambda told: [hit["excerpts"] for hit in told["hits"] if hit["excerpt_kind"] == "page_opening"],
          gives=[["BAY POST. Silverware for otters."]]),
    pages("the address that reading a page takes as it is", shows=lambda told: told["hits"][0]["source_url"],
          gives="https://www.loc.gov/resource/sn00000011/1888-02-03/ed-1/?sp=5&q=silver+otter"),
    Row(wanted="a page's text by that address", tool="read_text", given={"identifier": PAGE_ADDRESS},
        shows=of_answer("text", "publication", "published_on", "places", "edition", "page_number", "page_count", "item_identifier", "ocr_available"),
        gives=("LARKFIELD BEACON\nA silver otter was seen. The Otter swam.", "the larkfield beacon (larkfield, ohio) 1880-1899", "1888-02-03",
               ["larkfield", "ohio"], "1", 5, 8, shelf.LOC_ISSUE, True)),
    Row(wanted="a page by an address of the former newspaper site", tool="read_text",
        given={"identifier": "https://chroniclingamerica.loc.gov/lccn/sn00000011/1888-02-03/ed-1/seq-5/"}, sends=("www.loc.gov/resource/",),
        shows=of_answer("page_number"), gives=(5,)),
    Row(wanted="an address that names no single page", tool="read_text",
        given={"identifier": "https://www.loc.gov/resource/sn00000011/1888-02-03/ed-1/"},
        says="needs a page or a match"),
    Row(wanted="a page that is a picture alone", tool="read_text", given={"identifier": "loc:resource/otter.map1", "page": 1},
        shows=of_answer("ocr_available", "text"), gives=(False, None)),
    Row(wanted="only the passages around a phrase, every occurrence counted", tool="read_text", given={"identifier": PAGE_ADDRESS,
        "match": '"silver otter"'},
        shows=lambda told: (told["match_count"], told["passages"][0]["text"], told.get("text")),
        gives=(1, "LARKFIELD BEACON A silver otter was seen. The Otter swam.", None)),
    Row(wanted="several words are several terms, whatever their case", tool="read_text", given={"identifier": PAGE_ADDRESS, "match": "SILVER swam"},
        shows=of_answer("match_count"), gives=(2,)),
    Row(wanted="words that do not stand on the page", tool="read_text", given={"identifier": PAGE_ADDRESS, "match": "heron"},
        shows=lambda told: (told["match_count"], told["passages"], told["notes"][-1]),
        gives=(0, [], "The words do not stand in the text of this page as it was read by machine; scanned text can be misread.")),
    Row(wanted="occurrences outside the passages are told", tool="read_text", given={"identifier": PAGE_ADDRESS, "match": "otter", "max_passages": 1},
        shows=of_answer("match_count"), gives=(2,)),
    Row(wanted="subject headings by words, the exact one first, with its address", tool="search_headings",
        given={"query": "otter", "limit": 10, "sources": ["loc"]}, sends=("suggest2?q=otter&searchtype=keyword",),
        shows=lambda told: (told["headings"][0]["label"], told["headings"][0]["uri"], told["headings"][0]["exact"]),
        gives=("Otter", "http://id.loc.gov/authorities/subjects/sh00000034", True)),
    Row(wanted="how a heading is handed to the search", tool="search_headings", given={"query": "otter", "sources": ["loc"]},
        shows=lambda told: told["headings"][1]["use_with"], gives={"argument": "subject", "value": "Otter in art", "sources": ["loc"]}),
    Row(wanted="a part of a word finds headings that begin with it", tool="search_headings", given={"query": "ott", "sources": ["loc"]},
        sends=("searchtype=leftanchored",), shows=noted("these begin with them")),
    Row(wanted="collections, filtered by words, with the slug that the search takes", tool="browse_collections",
        given={"query": "otter", "limit": 100, "sources": ["loc"]}, sends=("/collections/?", "c=100"),
        shows=lambda told: told["collections"][0], gives={
            "slug": "loc:otter-prints", "title": "Otter prints", "description": "Prints of otters.", "item_count": 120, "source": "loc",
            "source_url": "https://www.loc.gov/collections/otter-prints/"}),
    Row(wanted="that a collection's size is approximate, and left out where none is stated", tool="browse_collections", given={"sources": ["loc"]},
        shows=lambda told: ("item_count" in told["collections"][1], told["notes"][-1].partition(" is what")[2]),
        gives=(False, " the Library states beside a collection; it is approximate.")),
    Row(wanted="a record as a resource, slashes kept", tool="resources/read", given={"uri": f"books://item/{shelf.LOC_ITEM}"},
        shows=lambda told: shelf.LOC_ITEM in told["text"]),
]


# ---- running the table -----------------------------------------------------------------------------------------------------

@pytest.fixture
def stocked(stand_in: StandIn) -> StandIn:
    """The shelf, and four answers that only these rows need."""
    shelf.stock(stand_in)
    diagnostic = (shelf.ANSWERS / "gallica/diagnostic.xml").read_bytes().replace(b"URI", b"10").replace(b"MESSAGE", b"Query syntax error")
    shelf.spoil(stand_in, "gallica search", body=diagnostic, asks={"query": "= ="})
    shelf.spoil(stand_in, "openlibrary work", at=r"openlibrary\.org/works/OL800009W\.json",
                body=b'{"key": "/works/OL800009W", "type": {"key": "/type/redirect"}, "location": "/works/OL800001W"}')
    shelf.spoil(stand_in, "loc page", at=r"www\.loc\.gov/resource/otter\.map1/", body=(shelf.ANSWERS / "loc/page_image_only.json").read_bytes())
    shelf.spoil(stand_in, "loc headings", asks={"q": "^ott$", "searchtype": "keyword"}, body=b'{"q": "ott", "count": 0, "hits": []}')
    return stand_in


@pytest.fixture
def books(stocked: StandIn) -> Iterator[BooksClient]:
    client = shelf.client(stocked, FakeClock(), call_budget_ms=600_000, max_retries=0)
    yield client
    client.close()


def answered(books: BooksClient, tool: str, given: dict[str, Any]) -> Told:
    """The structured content; of a resource, what it holds as `text`."""
    if tool != "resources/read":
        return books.ask(tool, given).to_dict()
    server = mcp_books.Server(Settings(gallica_contents=True))
    server._loaded["client"] = books
    server.answer({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}})
    reply: Any = server.answer({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": given})
    held: Told = reply["result"]["contents"][0]
    return held


def run(row: Row, books: BooksClient, stocked: StandIn) -> None:
    """Send a row's call and hold what it says."""
    if row.says:
        with pytest.raises(SourceError) as caught:
            answered(books, row.tool, row.given)
        assert row.says in render_error(caught.value)
    else:
        told = answered(books, row.tool, row.given)
        if row.shows is not None:
            assert row.shows(told) == row.gives
    sent = " ".join(unquote_plus(seen.raw_path) for seen in stocked.seen)
    assert [piece for piece in row.sends if piece not in sent] == [], sent


@pytest.mark.parametrize("row", OPEN_LIBRARY, ids=lambda row: row.wanted)
def test_what_the_open_library_server_answers_is_asked_here(row: Row, books: BooksClient, stocked: StandIn) -> None:
    run(row, books, stocked)


@pytest.mark.parametrize("row", GALLICA, ids=lambda row: row.wanted)
def test_what_the_gallica_server_answers_is_asked_here(row: Row, books: BooksClient, stocked: StandIn) -> None:
    run(row, books, stocked)


@pytest.mark.parametrize("row", LIBRARY_OF_CONGRESS, ids=lambda row: row.wanted)
def test_what_the_library_of_congress_server_answers_is_asked_here(row: Row, books: BooksClient, stocked: StandIn) -> None:
    run(row, books, stocked)


def test_the_gallica_servers_report_is_written_step_by_step_from_the_sources_of_all(books: BooksClient) -> None:
    """Its steps and arguments: a plan, sources and pictures, the bibliography, sections in order, the whole at the end."""
    planned = books.sequential_report(topic="marais", page_count=3, source_count=4, include_graphics=True).to_dict()
    searched = books.sequential_report(search_sources=True).to_dict()
    cited = books.sequential_report(section_number=1, total_sections=3, title="Bibliography", content="", is_bibliography=True, sources_used=[1, 3],
                                    next_section_needed=True).to_dict()
    written = books.sequential_report(section_number=2, total_sections=3, title="Introduction", content="Fens [1].", sources_used=[1],
                                      next_section_needed=True).to_dict()
    done = books.sequential_report(section_number=3, total_sections=3, title="End", content="So.", next_section_needed=False).to_dict()

    assert [step["step"] for step in (planned, searched, cited, written, done)] == [
        "planned", "sources searched", "bibliography written", "section 2 written", "complete"]
    assert planned["plan"][0]["title"] == "Bibliography"
    assert [source["source"] for source in searched["sources"]] == ["archive", "loc", "bnf", "bnfcatalogue"]
    assert all(source["source_url"].startswith("https://") and source["citation"] for source in searched["sources"])
    assert "search_sources" in planned["next_step"]
    assert searched["graphics"]
    assert re.findall(r"^#+ (.*)$", done["report"], re.MULTILINE) == ["marais", "Introduction", "End", "Pictures", "Bibliography"]
    assert "L'horloge des marais" in done["report"]


def test_every_call_and_argument_that_a_peer_answers_to_is_used_by_some_row() -> None:
    """The table leaves no search argument out but those that none of the three has."""
    rows = [*OPEN_LIBRARY, *GALLICA, *LIBRARY_OF_CONGRESS]

    used = {argument for row in rows if row.tool == "search_items" for argument in row.given}

    assert used == {"query", "title", "creator", "subject", "publisher", "isbn", "language", "place", "collection", "media_type", "year_from",
                    "year_to", "date_from", "date_to", "sort", "limit", "page", "sources", "facets", "availability", "native_query"}
    assert {row.tool for row in rows} == {"search_inside", "search_items", "get_item", "read_text", "search_headings", "browse_collections",
                                          "resources/read"}
