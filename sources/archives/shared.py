"""What every archive does alike with a question and with the rows that come: one rule, one
sentence, one place."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ..contract import Archive, Facet, Page, Query, Reference, Reply, Request
from ..errors import ArchiveUnreachable, InvalidInput, SourceError, UnreadableAnswer
from .numbers import ark_check_character, is_ark, keeper_of_ark

Entry = TypeVar("Entry")
Row = TypeVar("Row")
_KEPT_AT = {  # by archive: what an ark that only it describes is of
    "bnf": "a work, a person or a subject, which data.bnf.fr describes",
    "bnfcatalogue": "a record of holdings, which the general catalogue of the Bibliothèque "
                    "nationale de France describes",
}


def read_rows(
    rows: Sequence[Entry], read: Callable[[Entry], Row | None], archive: type[Archive]
) -> tuple[tuple[Row, ...], int]:
    """The rows that `read` could read, and how many it could not. Rows of which none can be read
    are no answer at all."""
    known = tuple(row for row in map(read, rows) if row is not None)
    if rows and not known:
        raise UnreadableAnswer(
            f"None of the {len(rows)} rows that {archive.name} sent could be read.",
            archive=archive.key,
            reason="unreadable_rows")
    return known, len(rows) - len(known)


def plan_from(query: Query, spelled: Mapping[str, str], because: Mapping[str, str],
              **more: Any) -> Request:
    """The request whose narrowings are spelled as in `spelled`; any other is dropped, for the
    reason in `because`."""
    return Request(query=query, sent=tuple((name, spelled[name]) for name in query.narrowings
                                           if name in spelled),
                   dropped=tuple((name, because[name]) for name in query.narrowings
                                 if name not in spelled), **more)


def page_of_rows(archive: type[Archive], came: Sequence[Entry], read: Callable[[Entry], Any], *,
                 page: int, rows: int,
                 total: int | None, ceiling: int | None = None, more: bool | None = None,
                 facets: tuple[Facet, ...] = (), notes: tuple[str, ...] = (),
                 begins_at: int | None = None) -> Page:
    """The rows that came, at most `rows`, as one page; `ceiling` is how many rows the archive will
    ever serve.

    No rows under a count say that the page lies past the last, or that rows were counted and not
    sent; neither is an absence. `more` is what the archive says itself, used where it states no
    total; `begins_at` is how many rows it says stand before these, where it says so.

    Raises:
        UnreadableAnswer: rows came and not one could be read.
    """
    found, skipped = read_rows(came[:rows], read, archive)
    beyond = None if came else past_last(page, rows, total)
    before = (page - 1) * rows
    repeats = bool(came) and begins_at is not None and begins_at < before
    if repeats:
        notes = (*notes, f"It was asked for page {page} and sent the rows from number "
                         f"{(begins_at or 0) + 1:,} on, which an earlier page has.")
    elif total and beyond is None:
        notes += _missing(len(came), total, min(rows, total - before), rows)
    if total is not None:  # rows that were counted and not sent leave it unknown
        more = before + rows < total if came or beyond or not total else None
    served = min(total or 0, ceiling - ceiling % rows) if ceiling else total or 0
    more = more and (ceiling is None or before + 2 * rows <= ceiling)
    return Page(records=found, total=total, skipped=skipped, facets=facets, beyond=beyond,
                notes=notes, last_page=-(-served // rows) or None, more=None if repeats else more)


def _missing(came: int, total: int, due: int, rows: int) -> tuple[str, ...]:
    """That fewer rows came than the count says stand on a page which no later page makes up for."""
    if came >= due or (came and due == rows):
        return ()
    sent = f"{came:,} of the {due:,} rows due on this page" if came else "no rows"
    return (f"It counts {total:,} matches but sent {sent}; this is no absence.",)


def past_last(page: int, rows: int, total: int | None) -> str | None:
    """That a page lies past the last of the matches counted; None where it does not. A count of
    zero has no last page: it is the archive's answer, whatever page was asked."""
    if not total or total > (page - 1) * rows:
        return None
    return (f"Page {page} lies past the last page: at {rows} rows a page the {total:,} matches "
            f"fill {-(-total // rows)}.")


def past_ceiling(archive: type[Archive], page: int, rows: int, ceiling: int) -> str | None:
    """Why a page is not asked for that lies past what the archive ever serves; None where it may be
    asked."""
    if page * rows <= ceiling:
        return None
    return (f"{_begins(archive)} serves the first {ceiling:,} results only; "
            f"at {rows} rows a page, page {ceiling // rows} is the last.")


def route_stands(archive: type[Archive], reply: Reply, what: str) -> Reply:
    """The reply, unless its status says that the route itself is gone: then nothing was learnt of
    what is held."""
    if reply.status in (404, 410):
        raise ArchiveUnreachable(f"{_begins(archive)} has no {what} at its usual address (status "
                                 f"{reply.status}).",
                                 archive=archive.key, status=reply.status, reason="route_gone")
    return reply


def list_or_note(read: Callable[[], Page], lost: str) -> Page:
    """A list inside a record. Where it cannot be read, the record stands without it: `lost` and the
    reason are its note."""
    try:
        return read()
    except SourceError as error:
        return Page(notes=(f"{lost} {error.message}",), lost=True)


def _begins(archive: type[Archive]) -> str:
    """The archive's name as a sentence begins with it: "the Internet Archive" has its capital
    there."""
    return archive.name[:1].upper() + archive.name[1:]


def ark_reference(archive: type[Archive], *, ark: str | None, number: str | None, hint: str,
                  read_as: str | None = None) -> Reference:
    """Who describes an ark of the Bibliothèque nationale de France, or the ark that a record number
    is part of, whichever of its two archives was asked.

    Raises:
        InvalidInput: the ark does not end in its own check character.
    """
    if number is not None:
        ark = "cb" + number + ark_check_character("cb" + number)
        read_as = f"The record number {number} was read as the ark {ark}."
    if ark is None or (ark.startswith("cb") and not is_ark(ark)):
        raise InvalidInput("This ark does not end in its own check character, so one of its "
                           "characters is mistyped.", archive=archive.key, hint=hint)
    keeper = keeper_of_ark(ark)
    if keeper != archive.key:
        read_as = f"The ark {ark} is of {_KEPT_AT[keeper]}."
    return Reference(source=keeper, local=ark, read_as=read_as)
