"""What a host waits for and pays at every start: nothing heavy before the list of tools, and a list that is short.

The figures in milliseconds and megabytes are measured by bench.py; here stands what can be told without a clock.
"""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mcp_books
from sources.asking.schemas import TOOLS
from sources.registry import ENTRY_OF
from sources.settings import Settings
from sources.transport.connection import address

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("requests", "urllib3", "lxml", "jsonschema", "ssl", "http.client", "concurrent.futures", "logging", "asyncio", "typing",
         "sources.client", "sources.contract", "sources.telling.text_block", "sources.transport.flights")
WARMED = ("requests", "lxml.etree", "jsonschema", "sources.client", "sources.telling.text_block", "sources.archives.internet_archive", "sources.archives.gallica")

# The server's own connection, which notes what is imported at the moment each line leaves it, and once the warming is over.
WATCHED = """
import json, os, sys, threading
sys.path.insert(0, sys.argv[1])
import mcp_books
from sources.asking.schemas import settings_in_force
moments = []
server = mcp_books.Server(settings_in_force(os.environ, print))
connection = mcp_books.Connection(server, lambda line: moments.append(sorted(sys.modules)))
for line in sys.stdin.buffer:
    connection.receive(line)
for thread in threading.enumerate():
    if thread.name == "warm":
        thread.join()
print(json.dumps({"answered": moments, "after": sorted(sys.modules)}))
"""


def listing(revision: str, capabilities: Any = None) -> list[dict[str, Any]]:
    """What a host of this revision sends before it shows the tools."""
    if revision == mcp_books.STATELESS_REVISION:
        client = {"name": "light", "version": "1"}
        prefix = mcp_books.META
        meta = {prefix + "protocolVersion": revision, prefix + "clientInfo": client, prefix + "clientCapabilities": capabilities or {}}
        return [{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}]
    return [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": revision, "capabilities": capabilities or {}}},
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]


@pytest.mark.parametrize("capabilities", [{}, {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}])
@pytest.mark.parametrize("revision", [mcp_books.HANDSHAKE_REVISIONS[0], mcp_books.STATELESS_REVISION])
def test_nothing_heavy_is_imported_before_the_tools_are_listed_and_all_of_it_right_after(revision: str, capabilities: Any) -> None:
    """In a process of its own: the libraries and the archives load behind the answer, so that the first call finds them there."""
    lines = "".join(json.dumps(message) + "\n" for message in listing(revision, capabilities))

    done = subprocess.run([sys.executable, "-c", WATCHED, str(ROOT)], input=lines, capture_output=True, text=True, check=True, timeout=60)

    told = json.loads(done.stdout)
    assert [name for name in HEAVY if name in told["answered"][-1]] == []
    assert [name for name in WARMED if name not in told["after"]] == []


def test_importing_the_program_or_its_sources_imports_no_library() -> None:
    """`from mcp_books import BooksClient` is where the archives are loaded, and even that opens no connection and loads no library."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import mcp_books, sources; from mcp_books import BooksClient; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True, check=True, timeout=60)

    assert {"requests", "lxml", "jsonschema", "urllib3"} & set(done.stdout.split()) == set()


@pytest.mark.parametrize("revision", mcp_books.SUPPORTED)
def test_the_list_of_tools_takes_little_of_a_models_context(revision: str) -> None:
    """The whole message at most 26,000 bytes in any revision; what a model reads of it at most 13,000: names, descriptions, inputs."""
    server = mcp_books.Server(Settings())

    for message in listing(revision):
        reply = server.answer(message)

    assert reply is not None
    read = sum(len(mcp_books.encode([tool["name"], tool["description"], tool["inputSchema"]])) for tool in reply["result"]["tools"])
    assert len(reply["result"]["tools"]) == len(TOOLS)
    assert len(mcp_books.encode(reply)) <= 26_000
    assert read <= 13_000


def test_the_instructions_take_little_of_a_models_context() -> None:
    """At most 3,200 bytes, also when an operator has opened every archive."""
    every = Settings(sources=tuple(ENTRY_OF), gallica_contents=True)

    lengths = [len(mcp_books.Server(settings).instructions().encode()) for settings in (Settings(), every)]

    assert max(lengths) <= 3_200


@pytest.mark.parametrize(("url", "params"), [
    ("https://archive.org/advancedsearch.php", [("q", "title:(wet fog) AND \"quai des brumes\""), ("fl[]", "title"), ("fl[]", "creator")]),
    ("https://www.loc.gov/collections/chronicling-america/", [("fo", "json"), ("q", "l'été & 'туман' +50% ~a-b_c.d*(e)")]),
    ("https://openlibrary.org/works/OL1W.json", []),
    ("https://tile.loc.gov/text-services/word-coordinates-service?segment=/service/a/1.xml&format=alto_xml", [("full_text", "1")]),
    ("https://archive.org/metadata/a/../b", [("x", "")]),
    ("https://archive.org/metadata/a%7Eb%20c", [("x", "ÿ")]),
    ("https://www.loc.gov/item/é/", [("fo", "json")]),
])
def test_an_address_is_spelled_as_requests_spells_it(url: str, params: list[tuple[str, str]]) -> None:
    """Most addresses need no mending and are put together without `requests`; the result is the same letter for letter."""
    import requests

    spelled = address(url, tuple(params))

    assert spelled == requests.Request("GET", url, params=params).prepare().url
