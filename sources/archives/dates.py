"""What a date says, as archives and depositors write it. One reader of dates and years for every
archive: a year is given only beyond doubt, and the date as published stands beside it.

Sources: the dates of the recorded answers (facts of 2026-11); ISO 8601 for dates in figures.
"""
from __future__ import annotations

import re
from datetime import datetime, timezone

EARLIEST = 1000  # an earlier year is a placeholder ("0001-01-01"), a century ("15") or a slip
MONTH = (r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
          r"|janv(?:ier|\.)|f[ée]vr(?:ier|\.)|mars|avr(?:il|\.)|mai|juin|juil(?:let|\.)|ao[ûu]t"
          r"|d[ée]c(?:embre|\.)")
_IN_FIGURES = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T[\d:.]+Z?)?)?)?", re.ASCII)
_IN_WORDS = re.compile(rf"(?:\d{{1,2}}(?:er|st|nd|rd|th)? )?(?:{MONTH})(?: \d{{1,2}})?,? "
                       r"(\d{4})", re.ASCII | re.IGNORECASE)
_ONE_YEAR = re.compile(r"(\d{4})-\1", re.ASCII)  # a run that ends where it begins
_LIMITS = (12, 31)  # of a month and a day in figures


def year_of(date: str | None) -> int | None:
    """The year a date states beyond doubt, from 1000 to the next one; else None.

    "1862", "1862.", "[1862]", "1883-04", "4 May 1883" and "May 4, 1883" have one. Whatever else
    stands beside the figures is a doubt: "1784 [i.e. 1874]", "1200 BC", "1850s", "1492 (?)",
    "1850 or 1851", "1749/50", "1850-1860", "c1850", "18--".
    """
    year = _stated(" ".join((date or "").split()))
    return year if year and possible(year) else None


def possible(year: int) -> bool:
    """Whether something printed may be of this year; one announced for the next year is."""
    return EARLIEST <= year <= datetime.now(timezone.utc).year + 1


def shown_date(date: str | None) -> str | None:
    """A date for a reader: one in figures without its hour, none where its year cannot be.

    1 January is how a catalogue that keeps whole days writes a year, so it is told as the year.
    Anything but figures stays as published.
    """
    figures = _IN_FIGURES.fullmatch((date or "").strip())
    if figures is None:
        return (date or "").strip() or None
    if not possible(int(figures[1])):
        return None
    parts = [part for part in figures.groups() if part]
    return parts[0] if parts[1:] == ["01", "01"] else "-".join(parts)


def span_of(year: int | None) -> tuple[str, str] | None:
    """The first and the last day of a year, as a row states the time it covers."""
    return None if year is None else (f"{year:04}-01-01", f"{year:04}-12-31")


def _stated(date: str) -> int | None:
    """The year of a date that holds one and nothing else, whatever its year."""
    bare = date.removesuffix(".")
    if re.fullmatch(r"\[[^\[\]]*\]", bare):
        bare = bare[1:-1].removesuffix(".")
    found = _IN_FIGURES.fullmatch(bare) or _IN_WORDS.fullmatch(bare) or _ONE_YEAR.fullmatch(bare)
    if found is None:
        return None
    month_and_day = zip(found.groups()[1:], _LIMITS, strict=False)
    in_range = all(int(part or 0) <= most for part, most in month_and_day)
    return int(found[1]) if in_range else None
