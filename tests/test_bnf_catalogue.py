"""The general catalogue of the BnF: what is asked in CQL, and what a UNIMARC record states and does not."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest
import responses
from lxml import etree

from sources.archives import bnf_catalogue_records as records
from sources.archives.bnf_catalogue import SRU_URL, BnfCatalogue, clause
from sources.contract import Contributor, Copy, ItemQuery, Query, Record, Reference, Related, Request
from sources.errors import ArchiveUnreachable, InvalidInput, RecordNotFound, UnreadableAnswer

Make = Callable[..., Any]
Field = tuple[str, Sequence[tuple[str, str]]]

HEAD = ('<srw:searchRetrieveResponse xmlns:srw="http://www.loc.gov/zing/srw/" xmlns="http://catalogue.bnf.fr/namespaces/InterXMarc" '
        'xmlns:ixm="http://catalogue.bnf.fr/namespaces/InterXMarc" xmlns:sd="http://www.loc.gov/zing/srw/diagnostic/">')
REFUSED = "<srw:diagnostics><sd:diagnostic><sd:uri>info:srw/diagnostic/1/{}</sd:uri><sd:details>{}</sd:details><sd:message>{}</sd:message></sd:diagnostic></srw:diagnostics>"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def marc(*fields: Field, leader: str = "     cam  22        450 ") -> str:
    """A UNIMARC record; a tag may carry its indicators ("856 4_")."""
    told = "".join(
        f'<mxc:datafield tag="{tag[:3]}" ind1="{tag[4:5].replace("_", " ") or " "}" ind2="{tag[5:6].replace("_", " ") or " "}">'
        + "".join(f'<mxc:subfield code="{code}">{escaped(text)}</mxc:subfield>' for code, text in pairs) + "</mxc:datafield>"
        for tag, pairs in fields)
    return ('<mxc:record xmlns:mxc="info:lc/xmlns/marcxchange-v2" format="UNIMARC" type="Bibliographic">'
            f"<mxc:leader>{leader}</mxc:leader>{told}</mxc:record>")


def row(data: str, ark: str = "cb31000001f", changed: str = "20250710") -> str:
    return (f"<srw:record><srw:recordSchema>marcxchange</srw:recordSchema><srw:recordData>{data}</srw:recordData>"
            f"<srw:recordIdentifier>ark:/12148/{ark}</srw:recordIdentifier><srw:recordPosition>1</srw:recordPosition>"
            f'<srw:extraRecordData><ixm:attr name="LastModificationDate">{changed}</ixm:attr></srw:extraRecordData></srw:record>')


def answer_of(*rows: str, total: int | None = None, refused: str = "") -> bytes:
    counted = len(rows) if total is None else total
    return (f'{HEAD}<srw:version>1.2</srw:version><srw:numberOfRecords>{counted}</srw:numberOfRecords>{refused}'
            f"<srw:records>{''.join(rows)}</srw:records></srw:searchRetrieveResponse>").encode()


def title_of(*pairs: tuple[str, str]) -> Field:
    return ("200 1_", pairs)


A_TITLE = title_of(("a", "Le phare"))


def read(*fields: Field, **more: str) -> Record | None:
    root = etree.fromstring(answer_of(row(marc(*fields, **more))))
    return records.read_row(records.rows_of(root)[0])


def coded(kind: str, first: str, second: str = "    ") -> Field:
    return ("100", [("a", f"20200101{kind}{first}{second}m  y0frey50      ba")])


# ---- what a record states ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fields, stated", [
    ([title_of(("a", "Le phare"))], "Le phare"),
    ([title_of(("a", "Le phare"), ("b", "Texte imprimé"), ("e", "roman"), ("f", "Ada Voss"))], "Le phare : roman"),
    ([title_of(("a", "Œuvres"), ("h", "2"), ("i", "Le phare"))], "Œuvres. 2, Le phare"),
    ([title_of(("a", "Œuvres"), ("i", "Le phare"))], "Œuvres. Le phare"),
    ([title_of(("a", "Le phare"), ("a", "La digue"))], "Le phare ; La digue"),
    ([title_of(("a", "Le phare"), ("d", "The lighthouse"))], "Le phare = The lighthouse"),
    ([title_of(("a", "\x98Le \x9cphare"))], "Le phare"),
    ([title_of(("a", "Маяк"), ("a", "Maâk"))], "Маяк ; Maâk"),
    ([title_of(("h", "3")), ("461", [("0", "34000001"), ("t", "Œuvres")])], "Œuvres. 3"),
    ([title_of(("a", "  Le   phare  "))], "Le phare"),
    ([title_of(("b", "Texte imprimé"))], None),
    ([], None),
])
def test_a_title_is_put_together_in_the_order_of_its_parts(fields: list[Field], stated: str | None) -> None:
    shown = read(*fields)

    assert (shown.title if shown else None) == stated


@pytest.mark.parametrize("fields, year, date", [
    ([coded("d", "1884"), ("210", [("d", "1884")])], 1884, "1884"),
    ([coded("d", "1884"), ("210", [("d", "[1884]")])], 1884, "[1884]"),
    ([coded("d", "1884"), ("210", [("d", "1885")])], None, "1885"),
    ([coded("d", "1884")], 1884, None),
    ([("210", [("d", "cop. 1982")])], 1982, "cop. 1982"),
    ([coded("u", "    "), ("214 _0", [("d", "DL 2026")])], 2026, "DL 2026"),
    ([coded("d", "    "), ("214 _0", [("d", "2024")])], 2024, "2024"),
    ([coded("d", "195?"), ("210", [("d", "(195.)")])], None, "(195.)"),
    ([coded("d", "18.."), ("210", [("d", "[18..]")])], None, "[18..]"),
    ([("210", [("d", "[s.d.]")])], None, "[s.d.]"),
    ([("210", [("d", "an VII")])], None, "an VII"),
    ([coded("d", "1799"), ("210", [("d", "an VII")])], 1799, "an VII"),
    ([("210", [("d", "1305 H")])], None, "1305 H"),
    ([("210", [("d", "١٣٠٥")])], None, "١٣٠٥"),
    ([coded("g", "2002"), ("210", [("d", "2002-")])], None, "2002-"),
    ([coded("g", "1829", "1885"), ("210", [("d", "1829-1885")])], None, "1829-1885"),
    ([coded("a", "1852"), ("210", [("d", "1852")])], None, "1852"),
    ([coded("f", "1859", "18..")], None, None),
    ([("210", [("d", "1900 ca")])], None, "1900 ca"),
    ([("210", [("d", "1884 [i.e. 1894]")])], None, "1884 [i.e. 1894]"),
    ([("210", [("d", "1884?")])], None, "1884?"),
    ([coded("d", "1912"), ("210", [("d", "1912. (9 novembre.)")])], 1912, "1912. (9 novembre.)"),
    ([("210", [("d", "9999")])], None, "9999"),
    ([("210", [("d", "1659"), ("d", "in-16")])], 1659, "1659"),
])
def test_a_year_is_told_only_beyond_doubt(fields: list[Field], year: int | None, date: str | None) -> None:
    """The coded year and the printed one agree, or one of them is silent; the date stands as printed either way."""
    shown = read(A_TITLE, *fields)

    assert shown is not None
    assert (shown.year, shown.date) == (year, date)


@pytest.mark.parametrize("fields, place, publisher", [
    ([("210", [("a", "Paris"), ("c", "Gallimard"), ("d", "1983")])], "Paris", "Gallimard"),
    ([("210", [("a", "[Paris]"), ("c", "Gallimard")])], "[Paris]", "Gallimard"),
    ([("210", [("a", "[S.l.]"), ("c", "[s.n.]")])], None, None),
    ([("210", [("a", "(S. l."), ("d", "1953.)")])], None, None),
    ([("210", [("a", "Chicago"), ("a", "London"), ("c", "University of Chicago press")])], "Chicago ; London", "University of Chicago press"),
    ([("210", [("a", "Paris"), ("c", "Hetzel"), ("c", "Quantin")])], "Paris", "Hetzel ; Quantin"),
    ([("210", [("a", "Paris")]), ("210", [("a", "Lyon"), ("c", "Voss")])], "Paris ; Lyon", "Voss"),
    ([("214 _0", [("a", "Paris"), ("c", "Voss")]), ("214 _3", [("a", "Brno"), ("c", "impr. Muir")])], "Paris", "Voss"),
    ([("214 _3", [("a", "Brno"), ("c", "impr. Muir")])], "Brno", "impr. Muir"),
    ([("210", [("a", "[18..]")])], None, None),
    ([], None, None),
])
def test_an_imprint_names_what_is_known(fields: list[Field], place: str | None, publisher: str | None) -> None:
    shown = read(A_TITLE, *fields)

    assert shown is not None
    assert (shown.location, shown.publishers) == (place, (publisher,) if publisher else ())


@pytest.mark.parametrize("fields, creator", [
    ([("700", [("3", "11907966"), ("a", "Hugo"), ("b", "Victor"), ("f", "1802-1885"), ("4", "070")])], "Hugo, Victor, 1802-1885"),
    ([("700", [("3", "11907966"), ("a", "Voss"), ("b", "Ada"), ("4", "730")])], None),
    ([("700", [("a", "Voss"), ("b", "Ada")]), ("701", [("a", "Kern"), ("b", "Hans"), ("4", "070")])], "Voss, Ada; Kern, Hans"),
    ([("702", [("a", "Muir"), ("b", "Otto"), ("4", "070")])], None),
    ([("700", [("a", "Voss"), ("b", "Ada"), ("c", "Traducteur")])], None),
    ([("710", [("3", "12000000"), ("a", "Musée du phare"), ("c", "Brest")])], "Musée du phare, Brest"),
    ([("700", [("3", "11907966"), ("a", "Kern"), ("b", "Hans"), ("4", "230")])], "Kern, Hans"),
    ([("700", [("3", "11907966"), ("a", "Kern"), ("b", "Hans"), ("4", "070"), ("4", "440")])], "Kern, Hans"),
    ([("700", [("3", "11907966"), ("a", "Kern"), ("4", "999")])], None),
])
def test_only_who_made_the_work_is_its_creator(fields: list[Field], creator: str | None) -> None:
    shown = read(A_TITLE, *fields)

    assert shown is not None
    assert shown.creator == creator


@pytest.mark.parametrize("fields, leader, kind", [
    ([title_of(("a", "X"), ("b", "Image fixe"))], "     cam  22        450 ", "Image fixe"),
    ([A_TITLE], "     cem  22        450 ", "Carte imprimée"),
    ([A_TITLE], "     ccm  22        450 ", "Musique imprimée"),
    ([A_TITLE], "     clm  22        450 ", "Ressource électronique"),
    ([A_TITLE], "     c m  22        450 ", None),
])
def test_a_row_shows_the_librarys_own_kind(fields: list[Field], leader: str, kind: str | None) -> None:
    shown = read(*fields, leader=leader)

    assert shown is not None
    assert shown.media_type == kind


@pytest.mark.parametrize("field, scan", [
    (("856 4_", [("u", "http://gallica.bnf.fr/ark:/12148/bpt6k8597163")]), "gallica:bpt6k8597163"),
    (("856 4_", [("u", "https://gallica.bnf.fr/ark:/12148/btv1b84272771")]), "gallica:btv1b84272771"),
    (("856 42", [("u", "12345678")]), None),
    (("856 4_", [("u", "https://example.org/bpt6k8597163")]), None),
    (("930", [("a", "NUMM-859716"), ("c", "Document numérisé")]), None),
])
def test_a_row_names_the_scan_that_its_record_names(field: Field, scan: str | None) -> None:
    shown = read(A_TITLE, field)

    assert shown is not None
    assert (shown.scan, shown.online) == (scan, True if scan else None)


def test_a_language_that_is_none_is_not_told() -> None:
    shown = read(A_TITLE, ("101 1_", [("a", "fre"), ("a", "xxx"), ("c", "lat")]))

    assert shown is not None
    assert shown.languages == ("fre",)


# ---- the question ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("value, asked", [
    ("gustave flaubert", 'bib.title all "gustave flaubert"'),
    ('"madame bovary"', 'bib.title adj "madame bovary"'),
    ('flaubert "madame bovary"', 'bib.title all "flaubert" and bib.title adj "madame bovary"'),
    ('l\'abeille "un', 'bib.title all "l\'abeille un"'),
    ("a\\b* c?", 'bib.title all "a b c"'),
    ("?! *", ""),
])
def test_a_value_is_words_or_a_phrase_and_never_syntax(value: str, asked: str) -> None:
    assert clause("bib.title", value) == asked


def test_the_dashes_between_the_parts_of_a_heading_are_no_word() -> None:
    assert clause("bib.subject", "Phares -- France") == 'bib.subject all "Phares France"'


def sent(request: Request) -> str:
    return dict(request.asks[0].params)["query"]


@pytest.mark.parametrize("query, asked", [
    (Query(words="phare"), 'bib.anywhere all "phare"'),
    (Query(fields={"creator": "Voss", "subject": "phares", "publisher": "Muir", "language": "fr"}),
     'bib.author all "Voss" and bib.subject all "phares" and bib.publisher all "Muir" and bib.language any "fre"'),
    (Query(words="phare", date_from="1850", date_to="1860", bound_names=("year_from", "year_to")),
     'bib.anywhere all "phare" and bib.publicationdate within "1850 1860"'),
    (Query(words="phare", date_from="1850", bound_names=("year_from",)), 'bib.anywhere all "phare" and bib.publicationdate >= "1850"'),
    (Query(words="phare", date_to="1850", bound_names=("year_to",)), 'bib.anywhere all "phare" and bib.publicationdate <= "1850"'),
    (Query(media_type="carte"), 'bib.doctype any "e"'),
    (Query(fields={"isbn": "2-7073-0275-9"}), 'bib.isbn any "2707302759 9782707302755"'),
    (Query(words='bib.author all "voss" or bib.title all "phare"', native=True, fields={"language": "fre"}),
     '(bib.author all "voss" or bib.title all "phare") and bib.language any "fre"'),
])
def test_each_argument_is_spelled_in_its_own_index(query: Query, asked: str) -> None:
    assert sent(BnfCatalogue.plan_catalogue(query)) == asked


def test_a_page_begins_behind_the_one_before() -> None:
    request = BnfCatalogue.plan_catalogue(Query(words="phare", rows=25, page=3))

    assert request.asks[0].params == (
        ("version", "1.2"), ("operation", "searchRetrieve"), ("query", 'bib.anywhere all "phare"'),
        ("recordSchema", "unimarcXchange"), ("maximumRecords", "25"), ("startRecord", "51"))


@pytest.mark.parametrize("fields, because", [
    ({"lccn": "25010468"}, "The catalogue files no Library of Congress numbers."),
    ({"oclc": "57215622"}, "The catalogue files no OCLC numbers."),
    ({"collection": "loc:x"}, "The catalogue has no collections in this sense."),
    ({"place": "Paris"}, "Nothing is left that the catalogue can search on."),
])
def test_what_it_cannot_apply_makes_it_absent(fields: dict[str, str], because: str) -> None:
    request = BnfCatalogue.plan_catalogue(Query(fields=fields))

    assert (request.absent_because, request.asks) == (because, ())


def test_what_is_not_sent_is_dropped_with_the_reason() -> None:
    request = BnfCatalogue.plan_catalogue(Query(words="phare", fields={"place": "Brest"}, sort="newest", facets=True, availability=True))

    assert request.sent == ()
    assert [name for name, _ in request.dropped] == ["place", "sort", "facets", "availability"]


# ---- identifiers -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("local, source, name", [
    ("cb31721367g", "bnfcatalogue", "cb31721367g"),
    ("ark:/12148/cb31721367g", "bnfcatalogue", "cb31721367g"),
    ("FRBNF31721367", "bnfcatalogue", "cb31721367g"),
    ("FRBNF317213670000001", "bnfcatalogue", "cb31721367g"),
    ("cb11907966z", "bnf", "cb11907966z"),
])
def test_an_ark_leads_to_the_archive_that_describes_it(local: str, source: str, name: str) -> None:
    reference = BnfCatalogue.read_identifier(local)

    assert (reference.source, reference.local) == (source, name)


def test_an_address_of_the_catalogue_is_read_as_its_ark() -> None:
    reference = BnfCatalogue.read_address(urlsplit("https://catalogue.bnf.fr/ark:/12148/cb31721367g.public"))

    assert reference == Reference(source="bnfcatalogue", local="cb31721367g", read_as="The address was read as the ark that it holds.")


@pytest.mark.parametrize("local", ["cb31721367h", "cb317213", "bpt6k8597163", "x"])
def test_what_it_does_not_mint_is_refused(local: str) -> None:
    with pytest.raises(InvalidInput):
        BnfCatalogue.read_identifier(local)


# ---- answers -----------------------------------------------------------------------------------------------------------

def search(make_archive: Make, query: Query) -> Any:
    return make_archive(BnfCatalogue).search_catalogue(BnfCatalogue.plan_catalogue(query))


@responses.activate
def test_rows_come_in_the_catalogues_order_with_its_count(make_archive: Make) -> None:
    rows = [row(marc(title_of(("a", name)))) for name in ("Un phare", "Deux phares")]
    responses.get(SRU_URL, body=answer_of(*rows, total=312))

    page = search(make_archive, Query(words="phare", rows=2))

    assert [shown.title for shown in page.records] == ["Un phare", "Deux phares"]
    assert (page.total, page.more, page.skipped, page.beyond) == (312, True, 0, None)


@responses.activate
def test_a_refused_question_is_bad_input_and_never_zero(make_archive: Make) -> None:
    responses.get(SRU_URL, body=answer_of(refused=REFUSED.format("1/16", "bib.periodicity", "Index non supporté")))

    with pytest.raises(InvalidInput) as refusal:
        search(make_archive, Query(words="bib.periodicity any 1", native=True))

    assert refusal.value.message == "The catalogue refused the question: Index non supporté: bib.periodicity."


@responses.activate
def test_a_count_of_zero_is_an_answer(make_archive: Make) -> None:
    responses.get(SRU_URL, body=answer_of())

    page = search(make_archive, Query(words="xyzzy"))

    assert (page.records, page.total, page.beyond, page.notes) == ((), 0, None, ())


@responses.activate
def test_a_damaged_record_is_asked_for_once_in_its_plain_form(make_archive: Make) -> None:
    plain = ('<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">'
             "<dc:title>Le phare / Ada Voss</dc:title><dc:creator>Voss, Ada (1850-1920). Auteur du texte</dc:creator>"
             '<dc:date>1884</dc:date><dc:language>fre</dc:language><dc:type xml:lang="fre">texte imprimé</dc:type></oai_dc:dc>')
    damaged = REFUSED.format("1/131", "-20;", "erreur de traitement")
    responses.get(SRU_URL, body=answer_of(row(marc(A_TITLE)), row(damaged, "cb310000026"), total=2))
    responses.get(SRU_URL, body=answer_of(row(plain, "cb310000026")))

    page = search(make_archive, Query(words="phare"))

    assert page.records[1] == Record(
        identifier="bnfcatalogue:cb310000026", title="Le phare", creator="Voss, Ada (1850-1920)", year=1884, date="1884",
        media_type="texte imprimé", source_url="https://catalogue.bnf.fr/ark:/12148/cb310000026", languages=("fre",))
    assert page.notes == ("1 records came damaged; 1 of them are shown from a plainer form of the same record.",)
    assert page.skipped == 0


@responses.activate
def test_a_damaged_record_that_stays_damaged_is_counted(make_archive: Make) -> None:
    damaged = REFUSED.format("1/131", "-20;", "erreur de traitement")
    responses.get(SRU_URL, body=answer_of(row(marc(A_TITLE)), row(damaged, "cb310000026"), total=2))
    responses.get(SRU_URL, status=404)

    page = search(make_archive, Query(words="phare"))

    assert (len(page.records), page.skipped) == (1, 1)


@responses.activate
def test_a_row_that_does_not_state_the_number_asked_is_told(make_archive: Make) -> None:
    responses.get(SRU_URL, body=answer_of(row(marc(A_TITLE, ("010", [("a", "2-7073-0275-9"), ("b", "br.")]))),
                                          row(marc(A_TITLE, ("010", [("a", "978-2-07-010000-0")])))))

    page = search(make_archive, Query(fields={"isbn": "9782707302755"}))

    assert page.notes == ("1 of the rows do not state the ISBN asked; look at the record before you rely on it.",)


@responses.activate
def test_a_search_route_that_is_gone_is_no_absence(make_archive: Make) -> None:
    responses.get(SRU_URL, status=404, body="gone")

    with pytest.raises(ArchiveUnreachable):
        search(make_archive, Query(words="phare"))


@responses.activate
def test_an_answer_without_a_count_is_unreadable(make_archive: Make) -> None:
    responses.get(SRU_URL, body=f"{HEAD}</srw:searchRetrieveResponse>")

    with pytest.raises(UnreadableAnswer):
        search(make_archive, Query(words="phare"))


WHOLE = marc(
    coded("d", "1659"), ("010", [("a", "2-7073-0275-9")]), ("011", [("a", "1234-5678")]), ("101 1_", [("a", "fre"), ("c", "lat")]),
    title_of(("a", "La perpétuelle croix"), ("b", "Texte imprimé"), ("f", "Josse Andries"), ("g", "traduit du latin")),
    ("210", [("a", "Paris"), ("c", "F. Lambert"), ("d", "1659")]), ("215", [("a", "204 p."), ("d", "16 cm")]),
    ("225", [("a", "Les croix"), ("v", "3")]), ("300", [("a", "Le faux-titre porte une autre adresse")]), ("330", [("a", "Une passion.")]),
    ("410", [("0", "34000001"), ("t", "Les croix"), ("v", "3")]), ("461", [("0", "34000002"), ("t", "Œuvres"), ("v", "1")]),
    ("500", [("3", "11945243"), ("a", "La perpétuelle croix")]),
    ("606", [("3", "11940000"), ("a", "Phares"), ("3", "11940001"), ("x", "Histoire"), ("2", "rameau")]),
    ("700", [("3", "12133563"), ("a", "Andries"), ("b", "Josse"), ("f", "1588-1658"), ("4", "070")]),
    ("702", [("3", "12133564"), ("a", "Kern"), ("b", "Hans"), ("4", "730")]),
    ("856 4_", [("u", "http://gallica.bnf.fr/ark:/12148/bpt6k8597163")]),
    ("930", [("a", "8-Z LE SENNE-6243"), ("c", "Tolbiac")]), ("930", [("a", "NUMM-859716"), ("c", "Document numérisé")]))


@responses.activate
def test_a_record_is_read_whole(make_archive: Make) -> None:
    responses.get(SRU_URL, body=answer_of(row(WHOLE, "cb31721367g")))

    read = make_archive(BnfCatalogue).read_record(Reference(source="bnfcatalogue", local="cb31721367g"), ItemQuery())

    item, here = read.item, "https://catalogue.bnf.fr/ark:/12148/cb31721367g"
    assert (item.title, item.creator, item.year, item.date) == ("La perpétuelle croix", "Andries, Josse, 1588-1658", 1659, "1659")
    assert (item.place, item.publisher, item.extent, item.language) == ("Paris", "F. Lambert", "204 p. ; 16 cm", ("fre",))
    assert item.description == "Une passion."
    assert item.notes == ("Responsibility as printed: Josse Andries ; traduit du latin", "Le faux-titre porte une autre adresse",
                          "Translated from: lat", "The library last changed this record on 2025-07-10.")
    assert item.subjects == ("Phares -- Histoire",)
    assert item.contributors == (
        Contributor(name="Andries, Josse, 1588-1658", role="author", identifier="bnf:cb121335637"),
        Contributor(name="Kern, Hans", role="translator", identifier="bnf:cb12133564k"))
    assert item.context == (
        Related(identifier="bnf:cb11945243q", label="La perpétuelle croix", kind="work"),
        Related(identifier="bnfcatalogue:cb34000002m", label="Œuvres, 1", kind="set or part"),
        Related(identifier="bnfcatalogue:cb340000018", label="Les croix, 3", kind="series"),
        Related(identifier="bnf:cb11940000p", label="Phares", kind="subject heading"))
    assert item.copies == (Copy(label="shelfmark 8-Z LE SENNE-6243 · Tolbiac", url=here),
                           Copy(label="digitised on Gallica", url="https://gallica.bnf.fr/ark:/12148/bpt6k8597163"))
    assert item.call_number == "8-Z LE SENNE-6243; NUMM-859716"
    assert item.standard_numbers == {"isbn": ("2-7073-0275-9",), "issn": ("1234-5678",)}
    assert item.rights.statement is None


@responses.activate
@pytest.mark.parametrize("rows, error", [([], RecordNotFound), ([row(REFUSED.format("1/131", "-20;", "x"), "cb31721367g")], UnreadableAnswer)])
def test_a_record_that_is_not_there_is_told_from_one_that_is_damaged(make_archive: Make, rows: list[str], error: type[Exception]) -> None:
    responses.get(SRU_URL, body=answer_of(*rows))

    with pytest.raises(error):
        make_archive(BnfCatalogue).read_record(Reference(source="bnfcatalogue", local="cb31721367g"), ItemQuery())


@responses.activate
def test_a_merged_record_is_told(make_archive: Make) -> None:
    responses.get(SRU_URL, body=answer_of(row(WHOLE, "cb31721367g")))

    read = make_archive(BnfCatalogue).read_record(Reference(source="bnfcatalogue", local="cb31000001f"), ItemQuery())

    assert read.notes == ("The catalogue merged cb31000001f into cb31721367g, which is shown.",)
