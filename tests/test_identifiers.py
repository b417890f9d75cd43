"""Which archive an identifier names, and what is refused before any request."""
from __future__ import annotations

import pytest

from sources.asking.identifiers import read_identifier
from sources.contract import Archive
from sources.errors import InvalidInput
from sources.registry import ARCHIVES


@pytest.mark.parametrize(("text", "identifier", "page"), [
    ("archive:journalofexpedit00ford", "archive:journalofexpedit00ford", None),
    ("https://archive.org/details/journalofexpedit00ford", "archive:journalofexpedit00ford", None),
    ("https://archive.org/details/standinbook/page/leaf24", "archive:standinbook", 24),
    ("loc:73691632", "loc:73691632", None),
    ("https://www.loc.gov/item/73691632/", "loc:73691632", None),
    ("https://www.loc.gov/resource/sn83030214/1900-01-01/ed-1/?sp=3&q=whale", "loc:sn83030214/1900-01-01/ed-1", 3),
    ("loc:sn83030214/1900-01-01/ed-1/seq-3", "loc:sn83030214/1900-01-01/ed-1", 3),
    ("sn83030214/1900-01-01/ed-1", "loc:sn83030214/1900-01-01/ed-1", None),
    ("sn83030214/1900-01-01/ed-1/seq-3", "loc:sn83030214/1900-01-01/ed-1", 3),
    ("sn83030214/1900-01-01/ed-1?sp=3", "loc:sn83030214/1900-01-01/ed-1", 3),
    ("//lccn.loc.gov/73691632", "loc:73691632", None),
    ("https://chroniclingamerica.loc.gov/lccn/sn83030214/1900-01-01/ed-1/seq-3/", "loc:sn83030214/1900-01-01/ed-1", 3),
    ("ark:/12148/cb120083695", "bnf:cb120083695", None),
    ("cb120083695", "bnf:cb120083695", None),
    ("bnf:cb120083695", "bnf:cb120083695", None),
    ("OL15832982W", "openlibrary:OL15832982W", None),
    ("openlibrary:isbn/9780140328721", "openlibrary:isbn/9780140328721", None),
    ("https://openlibrary.org/works/OL15832982W/Sabriel", "openlibrary:OL15832982W", None),
    ("bpt6k5738219s", "gallica:bpt6k5738219s", None),
    ("https://gallica.bnf.fr/ark:/12148/bpt6k5738219s/f12.item", "gallica:bpt6k5738219s", 12),
])
def test_an_identifier_or_address_names_one_archive(text: str, identifier: str, page: int | None) -> None:
    reference = read_identifier(text, ARCHIVES)

    assert (reference.identifier, reference.page) == (identifier, page)


@pytest.mark.parametrize("text", ["https://archive.org/details/x1", "OL15832982W", "someslug", "sn83030214/1900-01-01/ed-1"])
def test_a_spelling_that_was_interpreted_says_how(text: str) -> None:
    assert read_identifier(text, ARCHIVES).read_as


def test_an_identifier_as_a_search_returned_it_says_nothing_about_reading() -> None:
    assert read_identifier("archive:someslug", ARCHIVES).read_as is None


@pytest.mark.parametrize(("text", "spellings"), [
    ("73691632", ("archive:73691632", "loc:73691632", "openlibrary:lccn/73691632")),
    ("sn85059812", ("archive:sn85059812", "loc:sn85059812", "openlibrary:lccn/sn85059812")),
    ("9780140328721", ("archive:9780140328721", "openlibrary:isbn/9780140328721")),
    ("9780140328722", ("archive:9780140328722", "openlibrary:oclc/9780140328722")),
    ("mss250640164", ("archive:mss250640164", "loc:mss250640164")),
])
def test_a_shape_two_archives_mint_is_refused_with_the_spellings(text: str, spellings: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_identifier(text, ARCHIVES)

    assert caught.value.hint == f"Say which is meant: {' or '.join(spellings)}."
    assert [read_identifier(spelling, ARCHIVES).identifier for spelling in spellings] == list(spellings)


@pytest.mark.parametrize("text", [
    "archive:a b", "archive:a\nb", "archive:a\x00b", "archive:a\u202eb", "archive:../metadata", "archive:a/%2e%2e/b", "archive:a/%252e%252e/b",
    "archive:\ud800", "https://evil.example/details/x", "https://archive.org.evil.example/details/x", "https://user@archive.org/details/x",
    "https://archive.org:8080/details/x", "http://127.0.0.1/details/x", "https://[::1]/x", "https://[bad", "nobody:1", "javascript:alert(1)", "",
    "a/b/c/d", "file:///etc/passwd", "https://web.archive.org/web/2020/https://example.org", "OL1L", "https://www.loc.gov/collections/sanborn-maps/",
    "archive:" + "x" * 200, "gallica:bpt6k5738219x", "bnf:cb120083696", "https://archive.org/", "https://archive.org/details/",
])
def test_what_no_archive_mints_is_refused_and_never_printed_raw(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_identifier(text, ARCHIVES)

    told = caught.value.message + (caught.value.hint or "")
    assert not {"\n", "\x00", "\u202e", "\ud800"} & set(told)
    assert caught.value.hint


# ---- the two archives of one library -----------------------------------------------------------------------------------

BNF, CATALOGUE = (next(archive for archive in ARCHIVES if archive.key == key) for key in ("bnf", "bnfcatalogue"))
RECORD, WORK = "cb31721367g", "cb120083695"
WRITTEN = ("bnf:{}", "bnfcatalogue:{}", "{}", "ark:/12148/{}", "https://data.bnf.fr/ark:/12148/{}", "https://catalogue.bnf.fr/ark:/12148/{}",
           "https://ark.bnf.fr/ark:/12148/{}")


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(("ark", "identifier"), [(RECORD, f"bnfcatalogue:{RECORD}"), (WORK, f"bnf:{WORK}")])
def test_an_ark_goes_to_the_archive_that_describes_it_however_it_is_written(written: str, ark: str, identifier: str) -> None:
    """Records of holdings (cb3…, cb4…) are the catalogue's, works, persons and subjects data.bnf.fr's."""
    assert read_identifier(written.format(ark), ARCHIVES).identifier == identifier


def test_an_ark_that_went_to_the_other_archive_says_so() -> None:
    assert read_identifier(f"bnf:{RECORD}", ARCHIVES).read_as == (
        f"The ark {RECORD} is of a record of holdings, which the general catalogue of the Bibliothèque nationale de France describes.")
    assert read_identifier(f"bnfcatalogue:{WORK}", ARCHIVES).read_as == (
        f"The ark {WORK} is of a work, a person or a subject, which data.bnf.fr describes.")
    assert read_identifier(f"bnfcatalogue:{RECORD}", ARCHIVES).read_as is None
    assert read_identifier(f"bnf:{WORK}", ARCHIVES).read_as is None


@pytest.mark.parametrize(("archive", "ark"), [(BNF, RECORD), (CATALOGUE, WORK)])
@pytest.mark.parametrize("written", ["{key}:{ark}", "{ark}", "https://{host}/ark:/12148/{ark}", "https://ark.bnf.fr/ark:/12148/{ark}"])
def test_where_only_one_of_the_two_is_asked_every_ark_stays_with_it(archive: type[Archive], ark: str, written: str) -> None:
    """A program may bring one of them alone; nothing is said of the other, which it could not ask."""
    given = written.format(key=archive.key, ark=ark, host=archive.address_hosts[0])

    reference = read_identifier(given, [archive])

    assert reference.identifier == f"{archive.key}:{ark}"
    assert "describes" not in (reference.read_as or "")


@pytest.mark.parametrize(("number", "identifier"), [("31721367", f"bnfcatalogue:{RECORD}"), ("12008369", f"bnf:{WORK}")])
@pytest.mark.parametrize("prefix", ["bnf:FRBNF", "bnfcatalogue:", "bnfcatalogue:FRBNF", "https://data.bnf.fr/"])
def test_a_record_number_goes_where_its_ark_goes(prefix: str, number: str, identifier: str) -> None:
    assert read_identifier(prefix + number, ARCHIVES).identifier == identifier


def test_an_address_of_the_resolver_is_read_by_the_ark_in_it() -> None:
    """Whatever ark it is; the resolver itself is never asked."""
    assert read_identifier("https://ark.bnf.fr/ark:/12148/bpt6k5738219s", ARCHIVES).identifier == "gallica:bpt6k5738219s"
    assert read_identifier("https://ark.bnf.fr/ark%3A/12148/cb120083695", ARCHIVES).identifier == f"bnf:{WORK}"


def test_an_invented_ark_stays_with_data_bnf_fr() -> None:
    """cb9…: no number of the catalogue, which counts to cb4…."""
    assert read_identifier("cb90000101m", ARCHIVES).identifier == "bnf:cb90000101m"


@pytest.mark.parametrize(("written", "identifier"), [
    ("archive.org/details/lanternvale00orri", "archive:lanternvale00orri"), ("www.loc.gov/item/2004567890/", "loc:2004567890"),
    ("loc.gov/item/2004567890", "loc:2004567890"), ("openlibrary.org/works/OL800001W", "openlibrary:OL800001W"),
    ("gallica.bnf.fr/ark:/12148/bpt6k9000016", "gallica:bpt6k9000016"), ("FRBNF12008369", "bnf:cb120083695"),
    ("https://iiif.archive.org/iiif/3/lanternvale00orri/manifest.json", "archive:lanternvale00orri")])
def test_an_address_without_its_scheme_and_a_number_of_one_archive_are_routed(written: str, identifier: str) -> None:
    assert read_identifier(written, ARCHIVES).identifier == identifier


@pytest.mark.parametrize(("written", "hint"), [
    ("978-0-14-032872-1", "Say which is meant: archive:978-0-14-032872-1 or openlibrary:isbn/9780140328721."),
    ("ark:/13960/t1", "An ark is no item's identifier; search_items finds the item that states it, with native_query identifier-ark:\"ark:/13960/…\".")])
def test_what_one_archive_does_not_file_under_is_refused_with_the_way_there(written: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_identifier(written, ARCHIVES)

    assert caught.value.hint == hint


@pytest.mark.parametrize("written", ["loc:sn83030214/1900-01-01/ed-1/seq-3", "https://www.loc.gov/resource/sn83030214/1900-01-01/ed-1/?sp=3"])
def test_a_page_that_get_item_leaves_aside_is_said(written: str) -> None:
    assert read_identifier(written, ARCHIVES).read_as == (
        "read as loc:sn83030214/1900-01-01/ed-1, image 3; get_item reads the whole record, read_text the page")
