"""data.bnf.fr."""
from __future__ import annotations

from .contract import Archive


class DataBnf(Archive):
    """To be written."""

    key = "bnf"
    name = "data.bnf.fr"
