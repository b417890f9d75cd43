"""The tools offered: the schema files, with the registry's names filled in. Light: hosts wait for
it at every start."""
from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path

from ..registry import ENTRIES, Entry

TYPE_CHECKING = False  # typing itself would be a twentieth of the start
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from ..contract import Archive
    from ..settings import Settings

    Listed: TypeAlias = Entry | type[Archive]  # either says its key and its kinds of material

SCHEMAS = Path(__file__).resolve().parent.parent.parent / "schemas"
TOOLS = (
    "search_inside",
    "search_items",
    "get_item",
    "read_text",
    "search_headings",
    "browse_collections",
    "sequential_report",
    "cite",
    "search_log",
)


def settings_in_force(environ: Mapping[str, str], warn: Callable[[str], None]) -> Settings:
    """The settings of a program that has these tools and the registry's archives; `warn` as in
    `read_settings`."""
    from ..settings import read_settings

    return read_settings(
        environ, warn=warn, known_tools=TOOLS, known_sources=tuple(entry.key for entry in ENTRIES)
    )


@functools.cache
def schema_file(name: str) -> dict[str, Any]:
    """One schema file, by name without ending ("search_inside.input"); to be read, never
    changed."""
    loaded: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def tool_schemas(
    settings: Settings, archives: Sequence[Listed] = ENTRIES
) -> dict[str, dict[str, Any]]:
    """For each tool offered, in order: title, description, inputSchema, outputSchema; the two
    enumerations filled in."""
    offered = [name for name in TOOLS if settings.tools is None or name in settings.tools]
    return {name: tool_schema(name, _able(name, archives)) for name in offered}


def _able(tool: str, archives: Sequence[Listed]) -> Sequence[Listed]:
    """The archives that a host is shown for a tool: those that can answer it. One that cannot is
    absent with the reason when it is named all the same."""
    call = "search_items" if tool == "sequential_report" else tool
    return [archive for archive in archives if call in archive.answers]


def tool_schema(name: str, archives: Sequence[Listed]) -> dict[str, Any]:
    source = schema_file(f"{name}.input")
    properties = dict(source["properties"])
    if "sources" in properties:
        properties["sources"] = {
            **properties["sources"],
            "items": {"type": "string", "enum": [a.key for a in archives]},
        }
    if "media_type" in properties:
        names = list(dict.fromkeys(kind for archive in archives for kind in archive.media_types))
        properties["media_type"] = {**properties["media_type"], "enum": names}
    shape = {key: value for key, value in source.items() if key not in ("title", "description")}
    return {
        "title": source["title"],
        "description": source["description"],
        "inputSchema": {**shape, "properties": properties},
        "outputSchema": schema_file(f"{name}.output"),
    }
