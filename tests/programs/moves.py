"""How far one question walks: the modules that a call passes through, and how often it moves from one to another.

    python tests/programs/moves.py

A move is a call of a function of one module of the program from a function of another, whichever thread makes it. Counted on
the sample shelf, from a message in to a message out, after a call that warmed everything up.
"""
from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import mcp_books
from sources.settings import Settings
from sources.shell.demo import SHELF

QUESTIONS = (
    ("search_inside", {"query": "a wet fog", "sources": ["archive"], "fan_out": False}),
    ("search_items", {"query": "lighthouse", "sources": ["openlibrary"], "fan_out": False}),
    ("get_item", {"identifier": "archive:capemarrowlog00fenw", "sections": ["description", "copies"]}),
)


def place(frame: FrameType | None) -> str | None:
    """The module of the program that a frame runs in; None for any other."""
    path = frame and frame.f_code.co_filename
    if not path or not path.startswith(str(ROOT)) or "/tests/" in path:
        return None
    return Path(path).relative_to(ROOT).as_posix()


def walked(server: Any, tool: str, arguments: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Every move of one call, by (from, to)."""
    moves: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (to := place(frame)) is None:
            return
        came = frame.f_back
        while came is not None and place(came) is None:
            came = came.f_back
        source = place(came)
        if source is not None and source != to:
            moves[(source, to)] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        server.answer({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return moves


def made() -> Any:
    server = mcp_books.Server(Settings(replay_dir=SHELF))
    server.answer({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}})
    return server


if __name__ == "__main__":
    server = made()
    for tool, arguments in QUESTIONS:
        walked(server, tool, arguments)
        moves = walked(server, tool, arguments)
        rooms = {end for move in moves for end in move}
        print(f"{tool}: {len(rooms)} modules, {sum(moves.values())} moves")
        if "--all" in sys.argv:
            for (source, to), count in moves.most_common():
                print(f"  {count:5}  {source} -> {to}")
