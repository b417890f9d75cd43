"""One reader of dates and years for every archive."""
from __future__ import annotations

from datetime import datetime, timezone

import pytest

from sources.archives.dates import shown_date, year_of

NEXT_YEAR = datetime.now(timezone.utc).year + 1


@pytest.mark.parametrize(("date", "year"), [
    ("1862", 1862), ("1862.", 1862), (" 1862 ", 1862), ("[1851]", 1851), ("[1851].", 1851), ("1883-04", 1883),
    ("1882-07-29", 1882), ("1882-07-29T00:00:00Z", 1882), ("1281", 1281), ("1906-1906", 1906),
    ("November 2006", 2006), ("Oct. 1, 1988", 1988), ("1 October 1988", 1988), ("12 mai 1862", 1862), ("1er août 1914", 1914),
    ("février 1901", 1901), ("Sept. 1901", 1901), ("December 31, 1990", 1990), ("2014-03-12T12:34:56.123Z", 2014),
])
def test_a_date_that_states_one_year_and_nothing_else_has_that_year(date: str, year: int) -> None:
    assert year_of(date) == year


@pytest.mark.parametrize("date", [
    "1784 [i.e. 1874]", "1784 i.e. 1874", "1200 BC", "1200 B.C.E.", "1200 av. J.-C.", "1850s", "1492 (?)", "1492?", "[1492?]", "[1492]?",
    "1850 or 1851", "1850 ou 1851", "1850 oder 1851", "1749/50", "1749/1750", "1850-1860", "1850-60", "1850–1860", "1850-",
    "1850-1860.", "between 1856 and 1907", "c1850", "©1850", "ca. 1850", "after 1850", "184?-1963", "19??", "18uu", "18--", "186-", "18..",
    "186.", "1911??gai-20", "1897-191.", "[s.d.]", "n.d.", "4th cent.", "18511", "1883-13", "1883-00-45", "1883-0", "MDCCCL",
    "anno D[omi]ni 1507", "1507 AH", "1850, c1849", "1850 (1849)", "١٨٥٠", "", " ", None,
])
def test_a_date_in_doubt_has_no_year(date: str | None) -> None:
    assert year_of(date) is None


@pytest.mark.parametrize(("date", "year"), [
    ("0000", None), ("0000-01-01", None), ("0015-01-01", None), ("0999", None), ("1000", 1000), ("9999-12-31", None),
    (str(NEXT_YEAR), NEXT_YEAR), (str(NEXT_YEAR + 1), None),
])
def test_a_year_lies_between_the_year_1000_and_the_next_one(date: str, year: int | None) -> None:
    """Nothing was printed earlier; a book may be announced for next year."""
    assert year_of(date) == year


@pytest.mark.parametrize(("date", "shown"), [
    ("0000-01-01", None), ("0001-01-01T00:00:00Z", None), ("0015-01-01", None), ("9999-12-31", None), ("0015", None),
    ("", None), (None, None),
])
def test_a_date_whose_year_cannot_be_is_not_shown(date: str | None, shown: None) -> None:
    assert shown_date(date) is shown


@pytest.mark.parametrize(("date", "shown"), [
    ("1851-01-01", "1851"), ("1851-01-01T00:00:00Z", "1851"), ("1851", "1851"), ("1851-01", "1851-01"), ("1851-01-02", "1851-01-02"),
    ("1844-07-06T00:00:00Z", "1844-07-06"),
])
def test_the_first_of_january_is_told_as_the_year_it_stands_for(date: str, shown: str) -> None:
    assert shown_date(date) == shown


@pytest.mark.parametrize("date", ["1784 [i.e. 1874]", "1200 BC", "1850s", "[c1862]", "September 1901", "n.d.", "1850/1851"])
def test_a_date_in_words_or_in_doubt_is_shown_as_published(date: str) -> None:
    assert shown_date(date) == date
