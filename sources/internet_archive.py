"""the Internet Archive."""
from __future__ import annotations

from .contract import Archive


class InternetArchive(Archive):
    """To be written."""

    key = "archive"
    name = "the Internet Archive"
