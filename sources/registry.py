"""The one list of archives; its order is the order asked, merged and printed. The server's
instructions are made from it.

A host waits for the list of tools at every start, so what that list and the instructions say of an
archive stands here as plain values, and an adapter takes them from here (`LISTED =
ENTRY_OF["loc"]`, then `key = LISTED.key` and so on). The adapters are loaded when ARCHIVES is first
read. A test holds every entry to its adapter.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TYPE_CHECKING = False  # typing itself would be a twentieth of the start
if TYPE_CHECKING:
    from typing import Any

    from .contract import Archive
    from .settings import Settings

    ARCHIVES: tuple[type[Archive], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is said of an archive before it is asked. `adapter` is its module in `archives` and its
    class there.

    `holds` says in a line what its texts and its catalogue are and how long it takes where that is
    long. `after_consent` are the calls it answers once BOOKS_GALLICA_CONTENTS is set.
    """

    key: str
    name: str
    adapter: str
    answers: tuple[str, ...]
    media_types: tuple[str, ...]
    asked_by_default: bool = True
    after_consent: tuple[str, ...] = ()
    holds: str = ""

    def offers(self, settings: Settings) -> tuple[str, ...]:
        return tuple(call for call in self.answers if call not in self.after_consent
                     or settings.gallica_contents)


ENTRIES = (
    Entry(key="archive", name="the Internet Archive", adapter="internet_archive.InternetArchive",
          answers=("search_inside", "search_items", "get_item", "read_text", "browse_collections"),
          media_types=("texts", "movies", "audio", "image", "software", "data", "web"),
          holds="Text: books and papers of every language, scanned or deposited; a document, no "
                "page. Catalogue: what depositors wrote"),
    Entry(key="loc", name="the Library of Congress", adapter="loc.LibraryOfCongress",
          answers=("search_inside", "search_items", "get_item", "read_text", "search_headings",
                   "browse_collections"),
          media_types=("books", "photos", "maps", "audio", "film-and-videos", "manuscripts",
                       "notated-music", "newspapers"),
          holds="Text: American newspapers 1736-1963, page by page, 30 to 45 s an answer. "
                "Catalogue: its collections of every kind"),
    Entry(key="bnf", name="data.bnf.fr", adapter="bnf.DataBnf",
          answers=("search_items", "get_item", "search_headings"),
          media_types=("work",),
          holds="Titles of works, asked for those alone; names and RAMEAU subjects as headings"),
    Entry(key="bnfcatalogue", adapter="bnf_catalogue.BnfCatalogue",
          name="the general catalogue of the Bibliothèque nationale de France",
          answers=("search_items", "get_item"),
          media_types=("texte-imprime", "musique-notee", "carte", "enregistrement-sonore",
                       "image-animee", "image-fixe", "monnaie-medaille", "objet", "multimedia",
                       "document-electronique", "manuscrit", "spectacle"),
          holds="Every edition that France's national library holds, by any field"),
    Entry(key="openlibrary", name="Open Library", adapter="openlibrary.OpenLibrary",
          answers=("search_items", "get_item", "search_headings"), media_types=("work",),
          holds="Works and their editions, written by readers; authors and subjects as headings"),
    Entry(key="gallica", name="Gallica", adapter="gallica.Gallica", asked_by_default=False,
          answers=("search_inside", "search_items", "get_item", "read_text"),
          after_consent=("search_inside", "read_text"),
          media_types=("monographie", "periodique", "fascicule", "manuscrit", "image", "carte",
                       "partition", "musique", "objet", "video", "sonore"),
          holds="France's digital library; 5 s between requests, 25 s for the text of a page"),
)
ENTRY_OF = {entry.key: entry for entry in ENTRIES}


def __getattr__(name: str) -> Any:
    """ARCHIVES, the adapters in the order of ENTRIES."""
    if name != "ARCHIVES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(_adapter(entry) for entry in ENTRIES)


def _adapter(entry: Entry) -> Any:
    """The class that an entry names, its module loaded; one that is absent from every call where
    that fails, so that the others are asked all the same."""
    from importlib import import_module

    from .errors import LIBRARIES

    module, _, kind = entry.adapter.rpartition(".")
    try:
        return getattr(import_module(f".archives.{module}", __package__), kind)
    except (ImportError, SyntaxError, AttributeError) as exc:
        if (getattr(exc, "name", None) or "").partition(".")[0] in LIBRARIES:
            raise  # without it no archive could answer
        return _absent(entry, f"{entry.name} could not be loaded here: {exc}.")


def _absent(entry: Entry, reason: str) -> type[Archive]:
    from .contract import Archive, Reference

    class Absent(Archive):
        key, name, media_types = entry.key, entry.name, entry.media_types
        asked_by_default = entry.asked_by_default
        absent_because = dict.fromkeys(entry.answers, reason)

        @classmethod
        def read_identifier(cls, local: str) -> Reference:
            """Read as it came; the call then says why it is not answered."""
            return Reference(source=cls.key, local=local)

    return Absent


_HOW_TO_READ = """\
One question goes to several archives at once; their answers are put together, never compared.
Rows of several archives alternate; nothing is ranked across them.
Read per_source before concluding: answered, failed (nothing is known of what it holds) or absent \
(it cannot answer this, with the reason). Zero rows from one archive says nothing about another. \
Counts are each archive's own and are never added.
Excerpts are scanned text and can be misread. A passage holds the searched words; a page_opening \
is the start of the page and may not. Quote a passage with its source_url; open the page for an \
opening.
page_number is what page_number_is says (leaf, image, view), not the printed number.
A filter in filters_dropped was not applied by that archive. What it searches, whether every word \
must occur, and what its rows and years are: per_source, and the resource books://archives.
Rights are stated record by record: null grants nothing. Keep the credit in attribution.
search_inside finds words in text; search_items finds records; get_item reads one; read_text \
reads a page or searches inside one record; search_headings and browse_collections give values \
for subject, creator and collection.
Pass identifiers on exactly as they came. Answers take several seconds: each archive is left the \
pause it is owed."""


def instructions(settings: Settings, archives: Sequence[Entry] = ENTRIES) -> str:
    """What a model must know before its first call, at most 3,200 characters."""
    lines = [f"- {archive.key}: {archive.name}; "
             f"{', '.join(archive.offers(settings))}{_when_asked(archive, settings)}"
             f"{_held(archive)}" for archive in archives]
    return _HOW_TO_READ + "\nArchives and what they answer:\n" + "\n".join(lines)


def _held(archive: Entry) -> str:
    kinds = f" media_type: {' '.join(archive.media_types)}." if archive.media_types else ""
    return f" {archive.holds}.{kinds}" if archive.holds else kinds


def _when_asked(archive: Entry, settings: Settings) -> str:
    by_default = archive.key in settings.sources if settings.sources else archive.asked_by_default
    return "." if by_default else "; asked only when named in sources."
