"""Lists as tables: RFC 4180, for spreadsheets and programs.

The first line names the columns: a row's fields in the order of the tool's output schema, then
`query`, what was asked, and of its archive `retrieved_at`, when it answered, and `attribution`, the
credit it asks for. The wording that found a row is its `found_by_query`. Counts are a table of
their own. RFC 4180 knows no comments, so nothing else stands in the file; a row is
one line, since its texts are.
"""
from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..asking.schemas import schema_file
from ..telling.harmless import one_line

LISTS = {
    "search_inside": "hits",
    "search_items": "items",
    "search_headings": "headings",
    "browse_collections": "collections",
}
COUNTED = ("search_inside", "search_items")  # lists that can count by year, subject and the like
FROM_REPORT = ("retrieved_at", "attribution")  # when a row's archive answered, and its credit
SEPARATOR = " | "  # between the entries of one cell: commas and semicolons stand inside names
# What makes a spreadsheet compute a text that begins with it.
_FORMULA = re.compile("[=+\\-@＝＋－＠]")


def table(tool: str, payload: Mapping[str, Any], *, asked: str) -> str:
    """The rows of a list tool's structured content, with CRLF line ends; the names of the columns
    alone when there is none."""
    rows = schema_file(f"{tool}.output")["properties"][LISTS[tool]]["items"]["properties"]
    reports = {report["source"]: report for report in payload.get("per_source", ())}
    return _written([*rows, "query", *FROM_REPORT], (
        [*(row.get(name) for name in rows), asked]
        + [reports.get(row["source"], {}).get(name) for name in FROM_REPORT]
        for row in payload.get(LISTS[tool], ())
    ))


def facets_table(payload: Mapping[str, Any]) -> str:
    """What each archive counted, a value a row; each counts its own things, which a column
    names."""
    return _written(["source", "field", "value", "count", "counts_what"], (
        [facet["source"], facet["field"], entry["value"], entry["count"], facet["counts_what"]]
        for facet in payload.get("facets", ()) for entry in facet["values"]
    ))


def _written(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(map(_cell, row) for row in rows)
    return written.getvalue()


def _cell(value: Any) -> str:
    """A value as one cell; an unstated one is empty. A text that a spreadsheet would compute begins
    with an apostrophe."""
    if value is None or value == []:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return _text(SEPARATOR.join(map(str, value)))
    return _text(
        json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else str(value)
    )


def _text(value: str) -> str:
    line = one_line(value)
    return "'" + line if _FORMULA.match(line) else line
