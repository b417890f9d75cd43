"""Gallica."""
from __future__ import annotations

from .contract import Archive


class Gallica(Archive):
    """To be written."""

    key = "gallica"
    name = "Gallica"
