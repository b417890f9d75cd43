"""One answer as a document for people: the page `view.html`, alone or with an answer inside.

A host with MCP Apps gets the page and sends it the answer; a file holds both and needs nothing.
The page builds every text of an archive as a text node, and loads nothing but the archives' own
pictures. Source: MCP Apps, protocol revision 2026-01-26.
"""
from __future__ import annotations

import json
from pathlib import Path

from ..settings import VERSION

TYPE_CHECKING = False  # typing itself would be a twentieth of the start
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

URI = "ui://books/answer"
MIME_TYPE = "text/html;profile=mcp-app"
EXTENSION = "io.modelcontextprotocol/ui"
# Where the archives' pictures and covers come from; nothing else is ever loaded.
PICTURES = ("https://archive.org", "https://*.archive.org", "https://tile.loc.gov",
            "https://www.loc.gov", "https://cdn.loc.gov", "https://gallica.bnf.fr",
            "https://covers.openlibrary.org")


def page() -> str:
    """The document without an answer, for a host that will send one."""
    return _filled("")


def document(answer: Mapping[str, Any], arguments: Mapping[str, Any] | None = None) -> str:
    """The document with an answer in it, for a file. `answer` is a tool's structured content."""
    told = json.dumps({"answer": answer, "arguments": dict(arguments or {})}, ensure_ascii=False)
    inert = told.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return _filled(f'<script type="application/json" id="kept">{inert}</script>')


def _filled(kept: str) -> str:
    text = Path(__file__).with_name("view.html").read_text(encoding="utf-8")
    text = text.replace("PICTURES", " ".join(PICTURES)).replace("VERSION", VERSION)
    return text.replace("\nANSWER\n", f"\n{kept}\n")
