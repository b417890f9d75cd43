"""The four forms of a citation, read back by independent parsers and by checks of our own."""
from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sources.contract import Item, PageEntry, PageText, Record, TextMatch
from sources.telling.citations import (
    FORMATS,
    citation,
    csl_json,
    date_parts,
    forms,
    kind_of,
    of_page,
    of_record,
    of_row,
    unique,
    whole,
)

RETRIEVED = "2026-11-30T10:11:12Z"

# (what is varied, the record, its title and creators as a reader of any form must find them)
RECORDS = {
    "plain book": Item(
        identifier="loc:00000001", source_name="the Library of Congress", title="A Field of Reeds", media_type="books",
        creators=("Marlow, Edith",), date="1862", publisher="Tansy & Sons", place="Boston", language=("eng",),
        source_url="https://www.loc.gov/item/00000001/", standard_numbers={"isbn": ("9780000000002",)}),
    "braces": Item(
        identifier="archive:braces", title="On {sets} and a lone } brace", creators=("Ng {Bo}",), source_url="https://archive.org/details/b"),
    "accents": Item(
        identifier="bnf:cb90000101m", title="Été à Nîmes : l'œuvre", creators=("Élodie Çavuş",), date="1904-03",
        source_url="https://data.bnf.fr/ark:/12148/cb90000101m", attribution="Bibliothèque nationale de France, 2026-11-30"),
    "marks": Item(
        identifier="archive:marks", title="Profit & loss: 100% of $5 #1_a ~b^c \\d", creators=("Hill & Dale",), date="1911-02-03",
        source_url="https://archive.org/details/marks?a=1&b=50%25#p_2"),
    "cyrillic": Item(
        identifier="archive:kyrylo", title="Болото і годинник", creators=("Стельмах, Олена", "Бойко І."), date="1910",
        source_url="https://archive.org/details/kyrylo", language=("ukr",)),
    "chinese": Item(
        identifier="loc:00000002", title="沼泽钟声", creators=("林 小舟",), media_type="maps", source_url="https://www.loc.gov/item/00000002/"),
    "several and a body": Item(
        identifier="openlibrary:OL900001W", title="Clocks and Canals", media_type="work", year=1933,
        creators=("Ministry of Works and Canals", "Ada Reed", "Tom Fenn"), source_url="https://openlibrary.org/works/OL900001W"),
    "no date": Item(
        identifier="archive:undated", title="Undated Leaves", creators=("A. Nobody",), source_url="https://archive.org/details/undated"),
    "date in words": Item(
        identifier="archive:words", title="A Doubtful Year", date="184?-1863", source_url="https://archive.org/details/words"),
    "no title": Item(
        identifier="archive:untitled", source_url="https://archive.org/details/untitled", creators=("B. Anon",), date="1899"),
}
YEARS = {"plain book": "1862", "accents": "1904", "marks": "1911", "cyrillic": "1910", "several and a body": "1933",
         "no title": "1899"}
YEARS["date in words"] = None  # a year is four digits or absent; the words stand in the note

_COMMANDS = {r"\textbackslash{}": "\\", r"\textbraceleft{}": "{", r"\textbraceright{}": "}", r"\textasciitilde{}": "~",
             r"\textasciicircum{}": "^", r"\&": "&", r"\%": "%", r"\$": "$", r"\#": "#", r"\_": "_"}


def typeset(text: str) -> str:
    """What TeX would print of an escaped text."""
    pattern = "|".join(re.escape(command) for command in _COMMANDS)
    return re.sub(pattern, lambda match: _COMMANDS[match.group()], text)


@pytest.mark.parametrize("name", RECORDS)
def test_a_bibtex_reader_finds_the_record_as_stated(name: str) -> None:
    """Ten varied records through an independent parser: title, each creator whole, the year or none, the address unchanged."""
    bibtexparser = pytest.importorskip("bibtexparser")
    item = RECORDS[name]

    text = citation(item, retrieved_on=RETRIEVED)["bibtex"]

    if hasattr(bibtexparser, "parse_string"):  # its second edition
        [entry] = bibtexparser.parse_string(text).entries
        found = {field.key: field.value for field in entry.fields}
    else:
        [found] = bibtexparser.loads(text).entries

    assert typeset(re.sub(r"^\{(.*)\}$", r"\1", found.get("title", ""))) == (item.title or "")
    authors = found.get("author", "")
    assert [typeset(re.sub(r"^\{(.*)\}$", r"\1", author)) for author in re.split(r" and (?![^{]*\})", authors) if author] == list(item.creators)
    assert found.get("year") == YEARS.get(name)
    assert found["url"] == item.source_url
    assert found["urldate"] == "2026-11-30"


@pytest.mark.parametrize("name", RECORDS)
def test_a_ris_reader_finds_the_record_as_stated(name: str) -> None:
    """The same ten records through an independent RIS parser."""
    rispy = pytest.importorskip("rispy")
    item = RECORDS[name]

    [entry] = rispy.loads(citation(item, retrieved_on=RETRIEVED)["ris"])

    assert entry.get("title") == item.title
    assert entry.get("authors", []) == list(item.creators)
    assert entry.get("year") == YEARS.get(name)
    assert entry["urls"] == [item.source_url]
    assert entry["access_date"] == "2026/11/30"


@pytest.mark.parametrize("name", RECORDS)
def test_braces_of_an_entry_always_balance(name: str) -> None:
    """BibTeX counts braces even behind a backslash; at the end of the entry the count is back at zero, and never below."""
    depth = 0

    for mark in citation(RECORDS[name], retrieved_on=RETRIEVED)["bibtex"]:
        depth += {"{": 1, "}": -1}.get(mark, 0)
        assert depth >= 0

    assert depth == 0


def test_a_full_record_in_all_four_forms() -> None:
    """Hand-checked: nothing but what the record states, the day of retrieval and the address."""
    assert citation(RECORDS["plain book"], retrieved_on=RETRIEVED) == {
        "csl_json": {
            "id": "loc-00000001", "type": "book", "title": "A Field of Reeds", "author": [{"family": "Marlow", "given": "Edith"}],
            "issued": {"date-parts": [[1862]]}, "publisher": "Tansy & Sons", "publisher-place": "Boston", "language": "en",
            "ISBN": "9780000000002", "source": "Library of Congress", "URL": "https://www.loc.gov/item/00000001/",
            "accessed": {"date-parts": [[2026, 11, 30]]}},
        "bibtex": "@book{loc-00000001,\n  title = {{A Field of Reeds}},\n  author = {Marlow, Edith},\n  year = {1862},\n"
                  "  publisher = {Tansy \\& Sons},\n  address = {Boston},\n  isbn = {9780000000002},\n  language = {english},\n"
                  "  url = {https://www.loc.gov/item/00000001/},\n  urldate = {2026-11-30}\n}\n",
        "ris": "TY  - BOOK\nID  - loc-00000001\nTI  - A Field of Reeds\nAU  - Marlow, Edith\nPY  - 1862\nPB  - Tansy & Sons\n"
               "CY  - Boston\nSN  - 9780000000002\nDB  - Library of Congress\nLA  - eng\nUR  - https://www.loc.gov/item/00000001/\n"
               "Y2  - 2026/11/30\nER  - \n",
        "plain": "Marlow, Edith. A Field of Reeds. Boston: Tansy & Sons, 1862. Library of Congress. "
                 "https://www.loc.gov/item/00000001/ (retrieved 2026-11-30).",
    }


def test_a_record_that_states_nothing_gets_nothing_but_its_address_and_the_day() -> None:
    """No author, no date, no type is made up: document, misc and GEN are what an unclear kind becomes."""
    assert citation(Item(identifier="archive:bare", source_url="https://archive.org/details/bare"), retrieved_on="2026-11-30") == {
        "csl_json": {"id": "archive-bare", "type": "document", "URL": "https://archive.org/details/bare",
                     "accessed": {"date-parts": [[2026, 11, 30]]}},
        "bibtex": "@misc{archive-bare,\n  url = {https://archive.org/details/bare},\n  urldate = {2026-11-30}\n}\n",
        "ris": "TY  - GEN\nID  - archive-bare\nUR  - https://archive.org/details/bare\nY2  - 2026/11/30\nER  - \n",
        "plain": "https://archive.org/details/bare (retrieved 2026-11-30).",
    }


def test_a_persons_record_is_cited_without_its_dates_of_life() -> None:
    """Nobody was issued on the day of birth: no form holds it."""
    item = Item(identifier="openlibrary:OL800011A", title="Odile Ferrant", date="born 1841, died 1902", media_type="author",
                source_url="https://openlibrary.org/authors/OL800011A")

    forms = citation(item, retrieved_on=RETRIEVED)

    assert "issued" not in forms["csl_json"]
    assert [name for name in ("bibtex", "ris", "plain") if "1841" in forms[name]] == []


def test_the_credit_an_archive_asks_for_is_in_every_form() -> None:
    """data.bnf.fr is free on two conditions, and a copied citation must keep both."""
    forms = citation(RECORDS["accents"], retrieved_on=RETRIEVED)

    credit = "Bibliothèque nationale de France, 2026-11-30"
    assert forms["csl_json"]["note"] == credit
    assert f"note = {{{credit}}}" in forms["bibtex"]
    assert f"N1  - {credit}\n" in forms["ris"]
    assert forms["plain"].endswith(f" {credit}.")


def test_a_date_in_words_is_quoted_and_never_becomes_a_year() -> None:
    """"184?-1863" stays what the archive wrote: literal in CSL, DA without PY in RIS."""
    forms = citation(RECORDS["date in words"], retrieved_on=RETRIEVED)

    assert forms["csl_json"]["issued"] == {"literal": "184?-1863"}
    assert "DA  - 184?-1863\n" in forms["ris"]
    assert "PY  - " not in forms["ris"]


@pytest.mark.parametrize(("date", "csl", "ris", "bibtex"), [
    ("1904-03", [[1904, 3]], "PY  - 1904\nDA  - 1904/03/\n", "  year = {1904},\n  month = mar,\n"),
    ("1904-03-09", [[1904, 3, 9]], "PY  - 1904\nDA  - 1904/03/09\n", "  year = {1904},\n  month = mar,\n  day = {9},\n"),
])
def test_a_date_to_the_month_or_day_keeps_its_precision(date: str, csl: list[list[int]], ris: str, bibtex: str) -> None:
    """No first of the month is invented for a date that states a month alone."""
    forms = citation(Item(identifier="loc:x", date=date, source_url="https://www.loc.gov/item/x/"), retrieved_on=RETRIEVED)

    assert forms["csl_json"]["issued"] == {"date-parts": csl}
    assert ris in forms["ris"]
    assert bibtex in forms["bibtex"]


def test_a_leaf_is_told_as_a_leaf_and_a_printed_page_as_a_page() -> None:
    """The page of a citation is what stands on the paper; the index of a scan is a remark."""
    item = RECORDS["no date"]
    address = "https://archive.org/details/undated/page/n12"
    leaf = PageEntry(page_number=12, page_number_is="leaf", source_url=address)
    printed = PageEntry(page_number=12, page_number_is="leaf", printed_page="iv", source_url=address)

    of_leaf, of_page = (citation(item, retrieved_on=RETRIEVED, page=page) for page in (leaf, printed))

    assert ("page" in of_leaf["csl_json"], of_leaf["csl_json"]["note"], of_leaf["csl_json"]["URL"]) == (False, "Leaf 12", address)
    assert (of_page["csl_json"]["page"], "note" in of_page["csl_json"]) == ("iv", False)
    assert "SP  - iv\n" in of_page["ris"]
    assert "pages = {iv}" in of_page["bibtex"]
    assert "p. iv." in of_page["plain"]


def test_a_line_break_in_a_field_cannot_start_a_line_of_its_own() -> None:
    """A title that imitates RIS lines or ends a BibTeX entry stays inside its one line."""
    item = Item(identifier="archive:sly}\n@book{x,", title="A title\r\nER  - \x1b\nTY  - BOOK\u2028AU  - Forged",
                source_url="https://archive.org/x")

    forms = citation(item, retrieved_on=RETRIEVED)

    assert forms["ris"].splitlines() == ["TY  - GEN", "ID  - archive-sly-book-x", "TI  - A title ER - TY - BOOK AU - Forged",
                                         "UR  - https://archive.org/x", "Y2  - 2026/11/30", "ER  - "]
    assert forms["bibtex"].startswith("@misc{archive-sly-book-x,\n  title = {{A title ER - TY - BOOK AU - Forged}},\n")


# ---- names, dates, kinds -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("heading", "family", "given"), [
    ("Fenwick, Orla, 1841-1909", "Fenwick", "Orla"), ("Fenwick, Orla", "Fenwick", "Orla"), ("Hugo, Victor (1802-1885)", "Hugo", "Victor"),
    ("Bothner, Roland, 1953-....", "Bothner", "Roland"), ("La Fontaine, Jean de, 1621-1695", "La Fontaine", "Jean de"),
    ("Стельмах, Олена", "Стельмах", "Олена"), ("Voss, Ada, b. 1850", "Voss", "Ada"),
    ("Ministry of Works and Canals", None, None), ("Musée Victor Hugo, Rives-en-Seine", None, None), ("Ada Reed", None, None),
    ("Voss, Ada, illustrator", None, None), ("Port Ellis, 1888", None, None), ("Pell & Co, London", None, None), ("林 小舟", None, None),
])
def test_a_name_has_parts_only_where_its_heading_has_that_form(heading: str, family: str | None, given: str | None) -> None:
    """A body with a comma in its name stays whole, and dates of life are nobody's given name."""
    [name] = of_record(Item(identifier="loc:x", source_url="https://x", creators=(heading,)), retrieved_on=RETRIEVED).names

    assert (name.stated, name.family, name.given) == (heading, family, given)


@pytest.mark.parametrize(("date", "year", "parts"), [
    ("2014-03-12T12:34:56Z", None, (2014, 3, 12)), ("October 1, 1988", None, (1988, 10, 1)), ("December 31, 1990", None, (1990, 12, 31)),
    ("1er octobre 1988", None, (1988, 10, 1)), ("15 mars 1931", None, (1931, 3, 15)), ("May 1902", None, (1902, 5)),
    ("[between 1856 and 1907]", None, ()), ("[between 1856 and 1907]", 1856, (1856,)), ("1888.", 1888, (1888,)),
    ("1904-13", None, ()), ("32 mars 1931", None, ()), (None, 1931, (1931,)), (None, None, ()),
    ("1849-01-13 / 1849-02-03 / 1849-03-01", None, ()),
])
def test_a_year_is_four_digits_or_absent(date: str | None, year: int | None, parts: tuple[int, ...]) -> None:
    cited = of_record(Item(identifier="loc:x", source_url="https://x", date=date, year=year), retrieved_on=RETRIEVED)

    assert date_parts(cited) == parts
    assert all(len(found) == 4 for found in re.findall(r"year = \{(.*)\}", forms(cited)["bibtex"]))
    assert re.findall(r"PY  - (.*)", forms(cited)["ris"]) == ([f"{parts[0]}"] if parts else [])


PAGE = PageText(
    identifier="loc:sn00001874/1888-02-03/ed-1", title="The Port Ellis gazette (Port Ellis, Maine), February 3, 1888",
    publication="The Port Ellis gazette", published_on="1888-02-03", places=("Port Ellis",), page_number=2, page_number_is="image",
    text="A wet fog.", source_url="https://www.loc.gov/resource/sn00001874/1888-02-03/ed-1/?sp=2")


def test_a_page_of_a_newspaper_is_cited_as_newspapers_are() -> None:
    """Its publication, place, day, its own address; the Library's number of an image is a remark, no page."""
    told = forms(of_page(PAGE, retrieved_on=RETRIEVED, archive="the Library of Congress", credit="Library of Congress"))

    assert told["csl_json"] == {
        "id": "loc-sn00001874-1888-02-03-ed-1-2", "type": "article-newspaper",
        "title": "The Port Ellis gazette (Port Ellis, Maine), February 3, 1888", "container-title": "The Port Ellis gazette",
        "issued": {"date-parts": [[1888, 2, 3]]}, "publisher-place": "Port Ellis", "source": "Library of Congress",
        "URL": "https://www.loc.gov/resource/sn00001874/1888-02-03/ed-1/?sp=2", "note": "Image 2. Library of Congress",
        "accessed": {"date-parts": [[2026, 11, 30]]}}
    assert told["bibtex"].startswith("@article{loc-sn00001874-1888-02-03-ed-1-2,")
    assert told["ris"].startswith("TY  - NEWS\n")


def test_a_leaf_of_a_scanned_text_is_cited_as_its_book_at_its_own_address() -> None:
    leaf = PageText(identifier="archive:log00fenw", title="A log", page_number=7, page_number_is="leaf", text="Fog.",
                    source_url="https://archive.org/details/log00fenw/page/leaf7")

    told = forms(of_page(leaf, retrieved_on=RETRIEVED, archive="the Internet Archive", credit=None))["csl_json"]

    assert (told["type"], told["URL"], told["note"]) == ("book", "https://archive.org/details/log00fenw/page/leaf7", "Leaf 7")


def test_a_row_is_cited_with_the_publisher_that_it_states() -> None:
    row = Record(identifier="archive:x", source_name="the Internet Archive", title="A log", creator="Fenwick, Orla, 1841-1909",
                 year=1874, publishers=("Tallow & Sons",), media_type="texts", source_url="https://archive.org/details/x")

    told = forms(of_row(row, retrieved_on=RETRIEVED, credit="Internet Archive"))

    assert told["plain"] == ("Fenwick, Orla, 1841-1909. A log. Tallow & Sons, 1874. Internet Archive. https://archive.org/details/x "
                             "(retrieved 2026-11-30). Internet Archive.")


@pytest.mark.parametrize(("kind", "types"), [
    ("texts", ("book", "book", "BOOK")), ("edition", ("book", "book", "BOOK")), ("Texte imprimé", ("book", "book", "BOOK")),
    ("carte", ("map", "misc", "MAP")), ("Musique imprimée", ("musical_score", "misc", "MUSIC")), ("work", ("document", "misc", "GEN")),
    ("audio", ("document", "misc", "GEN")), (None, ("document", "misc", "GEN")),
])
def test_a_kind_is_what_the_source_states_and_never_a_guess(kind: str | None, types: tuple[str, str, str]) -> None:
    assert kind_of(of_record(Item(identifier="loc:x", source_url="https://x", media_type=kind), retrieved_on=RETRIEVED)) == types


def test_keys_in_one_file_differ_and_stay_what_they_were() -> None:
    same = [of_record(RECORDS["plain book"], retrieved_on=RETRIEVED)] * 3

    assert [entry.key for entry in unique(same)] == ["loc-00000001", "loc-00000001b", "loc-00000001c"]


@pytest.mark.parametrize("form", FORMATS)
def test_a_whole_file_is_read_back_entry_by_entry(form: str) -> None:
    entries = unique([of_record(item, retrieved_on=RETRIEVED) for item in RECORDS.values()])

    told = whole(entries, form)

    if form == "csl_json":
        assert [entry["id"] for entry in told] == [entry.key for entry in entries]
    elif form == "ris":
        assert len(pytest.importorskip("rispy").loads(told)) == len(entries)
    elif form == "bibtex":
        bibtexparser = pytest.importorskip("bibtexparser")
        read = bibtexparser.parse_string(told) if hasattr(bibtexparser, "parse_string") else bibtexparser.loads(told)
        assert len(read.entries) == len(entries)
    else:
        assert len(told.split("\n\n")) == len(entries)


def test_a_row_of_a_newspaper_is_cited_as_its_page_and_any_other_text_as_a_book() -> None:
    row = TextMatch(identifier="loc:sn1/1888-02-03/ed-1", title="Image 2", publication="The gazette", published_on="1888-02-03", page_number=2,
                    page_number_is="image", source_url="https://example.org/2", excerpts=())

    told = csl_json(of_row(row, retrieved_on=RETRIEVED))
    assert (told["type"], told["container-title"], told["issued"]) == ("article-newspaper", "The gazette", {"date-parts": [[1888, 2, 3]]})
    assert csl_json(of_row(replace(row, publication=None), retrieved_on=RETRIEVED))["type"] == "book"


@pytest.mark.parametrize(("heading", "name"), [
    ("Garcia Lorca Rios, Federico", {"family": "Garcia Lorca Rios", "given": "Federico"}),
    ("One Two Three Four, Federico", {"literal": "One Two Three Four, Federico"}),
    ("Voss, Ada Bea Cia Dot", {"family": "Voss", "given": "Ada Bea Cia Dot"}), ("Voss, Ada Bea Cia Dot Eve", {"literal": "Voss, Ada Bea Cia Dot Eve"})])
def test_a_heading_of_many_words_is_no_persons(heading: str, name: dict[str, str]) -> None:
    row = Record(identifier="a:1", title="T", creator=heading, source_url="https://example.org/")

    assert csl_json(of_row(row, retrieved_on=RETRIEVED))["author"] == [name]
