"""One reader of imprints for every archive: place, publisher and date as cataloguers write them."""
from __future__ import annotations

import time

import pytest

from sources.archives.imprints import Imprint, read_imprint

A_PLACE_AND_A_PUBLISHER = [
    # English
    ("New York : Pell & Moss, [between 1856 and 1907]", "New York", "Pell & Moss", "between 1856 and 1907"),
    ("Bedford : Standin & Sons", "Bedford", "Standin & Sons", None),
    ("London : Bell, 1884.", "London", "Bell", "1884."),
    ("London : Bell, c1884", "London", "Bell", "c1884"),
    ("London : Bell, ©1884", "London", "Bell", "©1884"),
    ("London : Bell, 1884, c1883", "London", "Bell", "1884, c1883"),
    ("London : Bell, [1884?]", "London", "Bell", "1884?"),
    ("London : Bell, [1884, i.e. 1885]", "London", "Bell", "1884, i.e. 1885"),
    ("London : Bell, 18--", "London", "Bell", "18--"),
    ("London : Bell, [186-?]", "London", "Bell", "186-?"),
    ("London : Bell, 1884-1890", "London", "Bell", "1884-1890"),
    ("London : Bell, 1884-", "London", "Bell", "1884-"),
    ("London : Bell, Jan. 3, 1901", "London", "Bell", "Jan. 3, 1901"),
    ("London : Bell, printed in the year 1745", "London", "Bell", "printed in the year 1745"),
    ("London : Bell, MDCCXLV", "London", "Bell", "MDCCXLV"),
    ("London : Bell, 1884 (Oxford : University Press)", "London", "Bell", "1884"),
    ("[London] : Bell, 1884", "London", "Bell", "1884"),
    ("[London : Bell, 1884]", "London", "Bell", "1884"),
    ("[London : Bell], 1884", "London", "Bell", "1884"),
    ("London : [Bell], 1884", "London", "Bell", "1884"),
    ("[London?] : Bell, 1884", "London?", "Bell", "1884"),
    ("London (Ont.) : Bell, 1884", "London (Ont.)", "Bell", "1884"),
    ("London, Ont. : Bell, 1884", "London, Ont.", "Bell", "1884"),
    ("London : G. Bell & Sons, Ltd., 1884", "London", "G. Bell & Sons, Ltd.", "1884"),
    ("New York : Bell, 27 and 29 West 23d Street, 1890", "New York", "Bell, 27 and 29 West 23d Street", "1890"),
    ("Washington : Dept. of the Interior, Bureau of 1884 Maps", "Washington", "Dept. of the Interior, Bureau of 1884 Maps", None),
    ("London: Bell, 1884", "London", "Bell", "1884"),
    ("London :Bell, 1884", "London", "Bell", "1884"),
    ("London : Bell, n.d.", "London", "Bell", None),
    ("London : Bell, [date of publication not identified]", "London", "Bell", None),
    # French
    ("Paris : Éditions Dupont, 1901", "Paris", "Éditions Dupont", "1901"),
    ("Paris : Dupont et fils, [entre 1850 et 1860]", "Paris", "Dupont et fils", "entre 1850 et 1860"),
    ("Paris : Dupont, [vers 1850]", "Paris", "Dupont", "vers 1850"),
    ("À Paris : chez Dupont, rue Neuve, l'an VII [1799]", "À Paris", "chez Dupont, rue Neuve", "l'an VII [1799]"),
    ("Paris : Dupont, [s.d.]", "Paris", "Dupont", None),
    ("Paris : Dupont, DL 2004", "Paris", "Dupont", "DL 2004"),
    # German
    ("Leipzig : Verlag von Ada Voss, 1912", "Leipzig", "Verlag von Ada Voss", "1912"),
    ("Leipzig : Voss, [zwischen 1850 und 1860]", "Leipzig", "Voss", "zwischen 1850 und 1860"),
    ("Leipzig : Voss, o. J.", "Leipzig", "Voss", None),
    ("Leipzig : Voss, [um 1850]", "Leipzig", "Voss", "um 1850"),
    # Latin
    ("Vrbs Nova [Newtown] : Per Ada Voss, anno D[omi]ni 1507", "Vrbs Nova [Newtown]", "Per Ada Voss", "anno D[omi]ni 1507"),
    ("Lugduni : apud haeredes Vossii, 1584", "Lugduni", "apud haeredes Vossii", "1584"),
    # Spanish
    ("Madrid : Imprenta de Voss, año 1845", "Madrid", "Imprenta de Voss", "año 1845"),
]


@pytest.mark.parametrize(("imprint", "place", "publisher", "date"), A_PLACE_AND_A_PUBLISHER)
def test_an_imprint_parts_into_place_publisher_and_date(imprint: str, place: str, publisher: str, date: str | None) -> None:
    assert read_imprint(imprint) == Imprint(places=(place,), publishers=(publisher,), date=date)


@pytest.mark.parametrize(("imprint", "places", "publishers", "date"), [
    ("London : Macmillan ; New York : Scribner, 1884", ("London", "New York"), ("Macmillan", "Scribner"), "1884"),
    ("London: Macmillan; New York: Scribner, 1884", ("London", "New York"), ("Macmillan", "Scribner"), "1884"),
    ("London ; New York : Macmillan, 1884", ("London", "New York"), ("Macmillan",), "1884"),
    ("London : Macmillan : Bell, 1884", ("London",), ("Macmillan", "Bell"), "1884"),
    ("London : Macmillan ; London : Bell, 1884", ("London",), ("Macmillan", "Bell"), "1884"),
    ("London: printed for J. Bell, in the Strand; and T. Moss, 1745", ("London",),
     ("printed for J. Bell, in the Strand; and T. Moss",), "1745"),
])
def test_every_place_and_every_publisher_is_told(
        imprint: str, places: tuple[str, ...], publishers: tuple[str, ...], date: str) -> None:
    assert read_imprint(imprint) == Imprint(places=places, publishers=publishers, date=date)


@pytest.mark.parametrize(("imprint", "date"), [
    ("[S.l. : s.n., 1884]", "1884"), ("[S.l.] : [s.n.], 1884", "1884"), ("[S.l. : s.n.], 1884", "1884"), ("S.l. : s.n., s.d.", None),
    ("[Place of publication not identified]", None),
    ("[Place of publication not identified] : [publisher not identified], [1884]", "1884"),
    ("[Lieu de publication non identifié] : [éditeur non identifié], 1901", "1901"),
    ("[Erscheinungsort nicht ermittelbar] : [Verlag nicht ermittelbar], 1850", "1850"),
    ("[Lugar de publicación no identificado] : [editor no identificado], 1845", "1845"), ("S. l. n. d.", None), ("1884", "1884"),
    ("[n.p.], 1884", "1884"), ("", None),
])
def test_what_is_said_not_to_be_known_is_no_place_and_no_publisher(imprint: str, date: str | None) -> None:
    assert read_imprint(imprint) == Imprint(date=date)


@pytest.mark.parametrize(("text", "publisher", "date"), [
    ("Standin & Sons", "Standin & Sons", None), ("Standin & Sons, 1884", "Standin & Sons", "1884"),
    ("Sanborn Map Company, Jun 1886", "Sanborn Map Company", "Jun 1886"), ("London, Macmillan and co.", "London, Macmillan and co.", None),
    ("Ада Восс; Ко", "Ада Восс; Ко", None), ("SN", "SN", None),
])
def test_without_a_colon_a_text_names_a_publisher_alone(text: str, publisher: str, date: str | None) -> None:
    """Which part of "London, Macmillan" is a place, nothing says."""
    assert read_imprint(text) == Imprint(publishers=(publisher,), date=date)


def test_several_imprints_of_one_book_are_read_together() -> None:
    read = read_imprint("London : Bell, 1884", "New York : Bell", "[S.l. : s.n.]")

    assert read == Imprint(places=("London", "New York"), publishers=("Bell",), date="1884")


@pytest.mark.parametrize("text", ["[" * 200_000, "(" * 200_000, " : " * 100_000, ", 1884" * 50_000, "not identified" * 20_000, "; a" * 60_000,
                                  " (a : b" * 40_000, "[a : " * 50_000, "; a: " * 50_000])
def test_an_imprint_is_read_in_time_linear_in_its_length(text: str) -> None:
    began = time.process_time()

    read_imprint(text)

    assert time.process_time() - began < 2.0
