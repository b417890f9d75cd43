"""Standard numbers: one spelling each, and a mistake refused before any archive is asked."""
from __future__ import annotations

import pytest

from sources.archives.numbers import isbn, isbn_forms, lccn, oclc
from sources.errors import InvalidInput


@pytest.mark.parametrize("written, number", [
    ("0-14-032872-6", "0140328726"),
    ("978-0-14-032872-1", "9780140328721"),
    ("ISBN 978 0 14 032872 1", "9780140328721"),
    ("ISBN-13: 9780140328721", "9780140328721"),
    ("2\u201107\u2011042779\u2011x", "207042779X"),
    ("979-10-90636-07-1", "9791090636071"),
])
def test_an_isbn_is_one_number_however_it_is_written(written, number):
    """Hyphens of any kind, blanks, the word ISBN and a small x make no other number."""
    assert isbn(written) == number


@pytest.mark.parametrize("written", ["9780140328722", "0140328725", "207042779X1", "9770140328721", "12345", "",
                                     "978014032872X", "٩٧٨٠١٤٠٣٢٨٧٢١"])
def test_an_isbn_that_cannot_be_one_is_refused(written):
    """A wrong check digit, another length, another prefix, an X where 13 digits are due, digits that are not ASCII."""
    with pytest.raises(InvalidInput):
        isbn(written)


def test_a_wrong_check_digit_is_named_with_the_one_that_is_due():
    """The reader learns which character to look at."""
    with pytest.raises(InvalidInput) as refusal:
        isbn("9780140328722")

    assert refusal.value.message == "isbn: '9780140328722' has the check digit 2 where 1 is due, so a digit is mistaken."


@pytest.mark.parametrize("written, forms", [
    ("0140328726", ("0140328726", "9780140328721")),
    ("9780140328721", ("9780140328721", "0140328726")),
    ("9782070427796", ("9782070427796", "207042779X")),
    ("9791090636071", ("9791090636071",)),
])
def test_both_lengths_of_an_isbn_are_found_from_either(written, forms):
    """The form given comes first; 979 has no ten-digit form."""
    assert isbn_forms(written) == forms


@pytest.mark.parametrize("written, number", [
    ("85-2", "85000002"),
    ("2001-000002", "2001000002"),
    ("75-425165//r75", "75425165"),
    (" 79139101 /AC/r932", "79139101"),
    ("n78-890351", "n78890351"),
    ("SN 85059812", "sn85059812"),
    ("25010468", "25010468"),
])
def test_an_lccn_is_normalised_as_its_namespace_says(written, number):
    """Blanks and suffixes go, the serial after a hyphen is filled to six digits, letters are small."""
    assert lccn(written) == number


@pytest.mark.parametrize("written", ["", "85", "abcd85059812", "2001-0000021", "85-2-3", "25010468x"])
def test_an_lccn_that_cannot_be_one_is_refused(written):
    """Eight digits after at most three letters, or ten after at most two; nothing else."""
    with pytest.raises(InvalidInput):
        lccn(written)


@pytest.mark.parametrize("written, number", [
    ("57215622", "57215622"), ("(OCoLC)57215622", "57215622"), ("ocm00057215", "57215"), ("on1234567890", "1234567890"),
])
def test_an_oclc_number_is_bare_digits(written, number):
    """Prefixes and leading zeros are how systems store it, not part of it."""
    assert oclc(written) == number


@pytest.mark.parametrize("written", ["", "ocm", "000", "5721x", "123456789012345"])
def test_an_oclc_number_that_cannot_be_one_is_refused(written):
    """One to fourteen digits that are not all zero."""
    with pytest.raises(InvalidInput):
        oclc(written)
