"""What one archive brought to a search or a list, and how it took part."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..answers import Asked
from ..contract import Archive, Page, Request
from ..errors import SourceError
from .together import Opened

Row = Any  # TextMatch, Record, Heading or Collection


@dataclass(slots=True, kw_only=True)
class Harvest:
    """One archive's part in the question: how it takes part, and what it brought. Its own thread
    alone fills it; `opened` is None for an archive that is not asked."""

    archive: type[Archive]
    plan: Request
    absent_because: str | None
    opened: Opened | None = None
    rows: dict[tuple[Any, ...], Row] = field(default_factory=dict)
    queries: list[Asked] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    # rows outside the dates asked, whichever wording brought them
    withheld: set[tuple[Any, ...]] = field(default_factory=set)
    # the first wording's that failed; the archive failed when `pages` is empty
    error: SourceError | None = None

    @property
    def answered(self) -> bool:
        return bool(self.pages)

    def ordered(self, limit: int) -> list[Row]:
        """The rows in the order the wordings were sent."""
        return list(self.rows.values())[:limit]

    def left_behind(self, error: SourceError) -> Harvest:
        """As it stands, apart from the thread that may still add to it."""
        return replace(self, rows=dict(self.rows), queries=list(self.queries),
                       pages=list(self.pages), withheld=set(self.withheld),
                       error=self.error or error)
