"""The golden net: what a user and a host are shown today, kept as files in `tests/golden/` and compared byte by byte.

Every question of the sample shelf as text, as JSON and, for lists, as a table; tools/list in each revision of the protocol.
`python tests/golden.py` writes the files again; a change that alters an answer commits its files with it.
"""
from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import mcp_books
from sources.settings import Settings
from sources.shell.commands import main
from sources.shell.demo import QUESTIONS, SHELF
from sources.shell.tables import LISTS

KEPT = Path(__file__).resolve().parent / "golden"
FORMS = {"txt": (), "json": ("--json",), "csv": ("--csv",)}


def answers() -> Iterator[tuple[str, str]]:
    """Each file's name and what belongs in it."""
    for number, question in enumerate(QUESTIONS, 1):
        for ending, flags in FORMS.items():
            if "picture" in question.arguments:  # writes a file
                continue
            if ending != "csv" or question.tool in LISTS:
                yield f"{number:02}-{question.tool}.{ending}", _asked(question.command(), (*_argv(question.command()), *flags))
    for revision in (*mcp_books.HANDSHAKE_REVISIONS, mcp_books.STATELESS_REVISION):
        yield f"tools-list-{revision}.json", _listed(revision)


def _argv(command: str) -> list[str]:
    return shlex.split(command)[1:]


def _asked(command: str, argv: tuple[str, ...]) -> str:
    out, err = io.StringIO(), io.StringIO()
    status = main(argv, environ={"BOOKS_REPLAY_DIR": str(SHELF), "BOOKS_STATE_DIR": "off", "COLUMNS": "80"}, stdout=out, stderr=err)
    return f"$ {command}\n{out.getvalue()}-- {status}\n{err.getvalue()}"


def _listed(revision: str) -> str:
    server = mcp_books.Server(Settings())
    meta = {}
    if revision == mcp_books.STATELESS_REVISION:
        meta = {"_meta": {f"{mcp_books.META}protocolVersion": revision, f"{mcp_books.META}clientCapabilities": {}}}
    else:
        server.answer({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": revision}})
    reply = server.answer({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": meta})
    return json.dumps(reply, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    made = dict(answers())
    for path in KEPT.iterdir():
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (KEPT / name).write_bytes(text.encode())
