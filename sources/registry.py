"""The one list of archives; its order is the order asked, merged and printed. The server's instructions are made from it."""
from __future__ import annotations

from collections.abc import Sequence

from .bnf import DataBnf
from .contract import Archive
from .gallica import Gallica
from .internet_archive import InternetArchive
from .loc import LibraryOfCongress
from .openlibrary import OpenLibrary
from .settings import Settings

ARCHIVES: tuple[type[Archive], ...] = (InternetArchive, LibraryOfCongress, DataBnf, OpenLibrary, Gallica)

_HOW_TO_READ = """\
One question goes to several archives at once; their answers are put together, never compared.
Read per_source before concluding: answered, failed (nothing is known of what it holds) or absent (it cannot answer this, with the \
reason). Zero rows from one archive says nothing about another. Counts are each archive's own and are never added.
Excerpts are scanned text and can be misread. A passage holds the searched words; a page_opening is the start of the page and may not. \
Quote a passage with its source_url; open the page for an opening.
page_number is what page_number_is says (leaf, image, view), not the printed number.
A filter in filters_dropped was not applied by that archive. year_means says what a year measures there.
Rights are stated record by record: null grants nothing. Keep the credit in attribution.
search_inside finds words in text; search_items finds records; get_item reads one; read_text reads a page or searches inside one \
record; search_headings and browse_collections give values for subject, creator and collection.
Pass identifiers on exactly as they came. Answers take several seconds: each archive is left the pause it is owed."""


def instructions(settings: Settings, archives: Sequence[type[Archive]] = ARCHIVES) -> str:
    """What a model must know before its first call, at most 2,500 characters."""
    lines = [f"- {archive.key}: {archive.name}; {', '.join(_answered(archive, settings))}{_when_asked(archive, settings)}" for archive in archives]
    return _HOW_TO_READ + "\nArchives and what they answer:\n" + "\n".join(lines)


def _answered(archive: type[Archive], settings: Settings) -> list[str]:
    return [call for call in archive.answers if archive.absence(call, settings) is None]


def _when_asked(archive: type[Archive], settings: Settings) -> str:
    by_default = archive.key in settings.sources if settings.sources else archive.asked_by_default
    return "." if by_default else "; asked only when named in sources."
