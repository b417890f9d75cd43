"""Lists as tables: RFC 4180, for spreadsheets and programs.

The first line names the columns: a row's fields in the order of the tool's output schema, then
`query`, what was asked, and `retrieved_at`, when its archive answered. The wording that found a row
is its `found_by_query`. RFC 4180 knows no comments, so nothing else stands in the file; a row is
one line, since its texts are.
"""
from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from typing import Any

from ..asking.schemas import schema_file
from ..telling.harmless import one_line

LISTS = {
    "search_inside": "hits",
    "search_items": "items",
    "search_headings": "headings",
    "browse_collections": "collections",
}
SEPARATOR = " | "  # between the entries of one cell: commas and semicolons stand inside names
# What makes a spreadsheet compute a text that begins with it.
_FORMULA = re.compile("[=+\\-@＝＋－＠]")


def table(tool: str, payload: Mapping[str, Any], *, asked: str) -> str:
    """The rows of a list tool's structured content, with CRLF line ends; the names of the columns
    alone when there is none."""
    rows = schema_file(f"{tool}.output")["properties"][LISTS[tool]]["items"]["properties"]
    times = {
        report["source"]: report.get("retrieved_at") for report in payload.get("per_source", ())
    }
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow([*rows, "query", "retrieved_at"])
    for row in payload.get(LISTS[tool], ()):
        writer.writerow(
            [_cell(row.get(name)) for name in rows]
            + [_cell(asked), _cell(times.get(row["source"]))]
        )
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
