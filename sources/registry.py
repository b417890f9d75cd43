"""The one list of archives; its order is the order asked, merged and printed."""
from __future__ import annotations

from .bnf import DataBnf
from .contract import Archive
from .gallica import Gallica
from .internet_archive import InternetArchive
from .loc import LibraryOfCongress
from .openlibrary import OpenLibrary

ARCHIVES: tuple[type[Archive], ...] = (InternetArchive, LibraryOfCongress, DataBnf, OpenLibrary, Gallica)
