"""Open Library."""
from __future__ import annotations

from .contract import Archive


class OpenLibrary(Archive):
    """To be written."""

    key = "openlibrary"
    name = "Open Library"
