"""One record read, one page read, or words sought inside one record."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from ..answers import SECTIONS, ItemAnswer, TextAnswer
from ..contract import Archive, Item, ItemQuery, PageEntry, PageText, Passage, Passages, Reference
from ..errors import InvalidInput, RecordNotFound, SourceError
from ..telling.citations import Cited, citation, forms, of_page, of_record
from ..telling.windows import asked_window, text_part, windowed
from ..text import passages
from ..transport.call import Call
from .identifiers import read_identifier
from .notes import capital
from .picture import pictured
from .together import Opened, Opener

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One identifier under way: what it names, and its archive made ready for this call."""

    reference: Reference
    opened: Opened

    @property
    def archive(self) -> type[Archive]:
        return type(self.opened.archive)

    def ask(self, work: Callable[[Archive], T]) -> T:
        """What the archive answers; whatever fails here failed while reading."""
        try:
            return self.opened.ask(work)
        except SourceError as error:
            error.stage = error.stage or "read"
            if isinstance(error, RecordNotFound) and self.reference.read_as:
                said = capital(self.reference.read_as)
                error.hint = f"{said}. If another archive was meant, begin with its prefix. " \
                             f"{error.hint}"
            raise


def open_identifier(identifier: str, tool: str, archives: Sequence[type[Archive]],
                    opener: Opener, call: Call) -> Reading:
    """Raises InvalidInput for an identifier that cannot be read, and for an archive that does not
    answer `tool`, naming those that do."""
    reference = read_identifier(identifier, archives)
    archive = next(archive for archive in archives if archive.key == reference.source)
    absence = archive.absence(tool, opener.settings)
    if absence:
        able = ", ".join(other.key for other in archives
                         if other.absence(tool, opener.settings) is None)
        raise InvalidInput(absence, archive=archive.key, hint=f"{tool} is answered by: {able}.",
                           reason="not_offered")
    return Reading(reference=reference, opened=opener.open(archive, call))


# ---- a record ------------------------------------------------------------------------------------

def get_item(reading: Reading, given: Mapping[str, Any]) -> ItemAnswer:
    """The record, in the sections and windows asked."""
    archive, opened, reference = reading.archive, reading.opened, reading.reference
    asked = tuple(section for section in SECTIONS if section in given["sections"])
    # the others never read as empty
    able = _but(asked, archive.unread_fields)
    wanted = ItemQuery(sections=able, list_offset=given["list_offset"],
                       list_limit=given["list_limit"])
    read = reading.ask(lambda archive: archive.read_record(reference, wanted))
    item = replace(read.item, source=reference.source, source_name=archive.name,
                   attribution=opened.attribution())
    cite = partial(_cited, reading) if "citation" in able else None
    item = cite(item) if cite else item
    answer = ItemAnswer(
        item=item, record=item, cite=cite, id_read_as=reference.read_as,
        sections_returned=_but(able, read.lost), sections_omitted=_but(SECTIONS, asked),
        fields_not_read_from_this_archive=archive.unread_fields,
        stated_notes=(*read.notes, *opened.replay_note()))
    return windowed(answer, asked_window(given, able, read.list_total))


def _but(sections: Sequence[str], left_out: Sequence[str]) -> tuple[str, ...]:
    return tuple(section for section in sections if section not in left_out)


def cited(reading: Reading) -> Cited:
    """The record, or the page that the identifier named, as it is cited."""
    asked = ItemQuery(sections=("citation",), list_limit=1)
    read = reading.ask(lambda archive: archive.read_record(reading.reference, asked))
    item = replace(read.item, source=reading.reference.source, source_name=reading.archive.name,
                   attribution=reading.opened.attribution())
    return of_record(item, retrieved_on=reading.opened.retrieved_at[:10],
                     page=_cited_page(reading.reference, reading.archive, item))


def _cited(reading: Reading, item: Item) -> Item:
    page = _cited_page(reading.reference, reading.archive, item)
    told = citation(item, retrieved_on=reading.opened.retrieved_at[:10], page=page)
    return replace(item, citation=told)


def _cited_page(reference: Reference, archive: type[Archive], item: Item) -> PageEntry | None:
    """The page that the identifier named, for the citation's locator; with its printed number and
    its own address when the record lists it."""
    if reference.page is None or archive.pages_are is None:
        return None
    listed = next((entry for entry in item.pages if entry.page_number == reference.page), None)
    return listed or PageEntry(page_number=reference.page, page_number_is=archive.pages_are,
                               source_url=archive.page_address(item, reference))


# ---- a page, or words inside a record ------------------------------------------------------------

def read_text(reading: Reading, given: Mapping[str, Any]) -> TextAnswer:
    """One page's text, the passages in it, or the passages that the archive finds in a record.

    Raises:
        InvalidInput: neither page nor match, or a page beside an identifier that names another.
    """
    reference, page, match = reading.reference, given.get("page"), given.get("match")
    if page is not None and reference.page is not None and page != reference.page:
        raise InvalidInput(f"The identifier names page {reference.page}, and page is {page}.",
                           hint="Leave page out, or give the record's identifier.",
                           reason="contradiction")
    page = reference.page if page is None else page
    if page is None and match is None:
        raise InvalidInput("read_text needs a page or a match.",
                           hint="Give page to read one page, or match to search inside the "
                                "record.", reason="missing_argument")
    if page is None:
        return _sought(reading, given, str(match))
    read = _page(reading, page)
    answer = _described(read, reading, ())
    if match is None:
        answer = replace(answer, whole_text=read.text, text_offset=given["text_offset"])
        answer = text_part(_read_on(reading, answer, given), given["max_text_chars"])
    else:
        answer = _passages_of(answer, read, match, given["max_passages"])
    return _shown(reading, answer, read, given)


def _page(reading: Reading, number: int) -> PageText:
    return reading.ask(lambda archive: archive.read_page(reading.reference, number))


def _sought(reading: Reading, given: Mapping[str, Any], match: str) -> TextAnswer:
    """The passages that the archive finds in a record; a picture is that of the first one's
    page."""
    found: Passages = reading.ask(lambda archive: archive.search_record(
        reading.reference, match, given["max_passages"]))
    answer = replace(_described(found.page, reading, found.notes), passages=found.passages,
                     match_count=found.match_count)
    number = next((said.page_number for said in found.passages if said.page_number is not None),
                  None)
    if given["picture"] == "none":
        return answer
    if number is None:
        return replace(answer, picture_refused="No passage names the page that it stands on.")
    try:
        return _shown(reading, answer, _page(reading, number), given)
    except SourceError as error:
        return replace(answer, picture_refused=error.message)


def _shown(reading: Reading, answer: TextAnswer, page: PageText, given: Mapping[str, Any]
           ) -> TextAnswer:
    """The answer with the picture that was asked for, or with why there is none."""
    if given["picture"] == "none":
        return answer
    told = pictured(reading.ask, page, given["picture"], given.get("match"))
    return replace(answer, **{**told, "notes": (*answer.notes, *told.get("notes", ()))})


def _read_on(reading: Reading, answer: TextAnswer, given: Mapping[str, Any]) -> TextAnswer:
    """The pages behind the first one up to `to_page`, each under a line that names it, as far as
    the window and the time reach; `next_page` is where to go on."""
    last, number, notes = given.get("to_page"), answer.page_number or 0, []
    wanted = answer.text_offset + given["max_text_chars"]
    if last is None:
        return answer
    if last < number:
        raise InvalidInput(f"to_page ({last}) lies before page ({number}).",
                           hint=f"Swap them: page {last}, to_page {number}.",
                           reason="contradiction")
    texts = [_marked(answer, number, answer.whole_text or "")]
    following = answer.next_page
    while following is not None and following <= last and sum(map(len, texts)) < wanted:
        number = following
        try:
            page = _page(reading, number)
        except SourceError as error:
            notes.append(f"Page {number} could not be read: {error.message}")
            break
        missing = page.text_refused or "It is an image only." if page.text is None else None
        notes += [f"Page {number} has no text here: {missing}"] if missing else []
        texts.append(_marked(answer, number, page.text or ""))
        following = page.next_page
    return replace(answer, whole_text="\n\n".join(texts), next_page=following,
                   notes=(*answer.notes, *notes))


def _marked(answer: TextAnswer, number: int, text: str) -> str:
    return f"[{answer.page_number_is or 'page'} {number}]\n{text}"


def _described(page: PageText, reading: Reading, notes: Sequence[str]) -> TextAnswer:
    """What is said of a page whatever was asked of it."""
    reference, opened = reading.reference, reading.opened
    read_as = (capital(reference.read_as) + ".",) if reference.read_as else ()
    alike = {name: getattr(page, name) for name in _ALIKE}
    credit = opened.attribution()
    cited = of_page(page, retrieved_on=opened.retrieved_at, archive=reading.archive.name,
                    credit=credit)
    return TextAnswer(
        **alike, source=reference.source, attribution=credit, citation=forms(cited),
        page_number_is=page.page_number_is or opened.archive.pages_are,
        notes=(*read_as, *page.notes, *notes, *opened.replay_note()))


_ALIKE = ("identifier", "title", "published_on", "publication", "places", "edition", "page_number",
          "printed_page", "page_count", "ocr_available", "text_refused", "source_url", "image_url",
          "previous_page", "next_page", "item_identifier", "rights")


def _passages_of(answer: TextAnswer, read: PageText, match: str, most: int) -> TextAnswer:
    """The passages around a match in a page that was read."""
    found = passages(read.text or "", match, most)
    notes = list(answer.notes)
    if read.text and not found.occurrences:
        notes.append("The words do not stand in the text of this page as it was read by machine; "
                     "scanned text can be misread.")
    if found.occurrences > found.shown:
        outside = found.occurrences - found.shown
        notes.append(f"{outside} of {found.occurrences} occurrences lie outside these passages; "
                     "raise max_passages for more.")
    told = tuple(Passage(page_number=read.page_number, text=text, source_url=read.source_url)
                 for text in found.passages)
    return replace(answer, passages=told, notes=tuple(notes),
                   match_count=found.occurrences if read.text is not None else None)
