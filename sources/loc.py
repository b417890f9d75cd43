"""the Library of Congress."""
from __future__ import annotations

from .contract import Archive


class LibraryOfCongress(Archive):
    """To be written."""

    key = "loc"
    name = "the Library of Congress"
