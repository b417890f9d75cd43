"""Random input of five kinds through the program, seeded, for as many rounds as are wanted.

    python tests/programs/fuzz.py                       100,000 rounds of each kind
    python tests/programs/fuzz.py --rounds 500 --only lines

bodies: an archive's answers, broken; arguments: of every tool; lines: on standard input; state: files of the pacing; kept: files of a folder of
kept answers. Every outcome is an answer by its schema or one of the six errors; no internal error, no traceback, none over its budget.
Makers and judge are those of tests/test_fuzz.py, of which the suite runs a small slice. Exit status 1 where anything is wrong.
"""
from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

for _place in Path(__file__).resolve().parents[1:3]:  # the tests and the program
    sys.path.insert(0, str(_place))

import test_fuzz
from conftest import FakeClock
from test_faults import READINGS, SEARCHES
from test_fuzz import ANSWERS, QUESTIONS, Files, Judge, breakers, broken_bytes

import mcp_books
import sources.transport.flights
from sources.asking.arguments import TOOLS
from sources.asking.schemas import tool_schemas
from sources.client import BooksClient
from sources.registry import ARCHIVES
from sources.settings import Settings
from sources.shell.demo import SHELF
from sources.transport.flights import Transport
from sources.transport.ledger import LaneState, Ledger

BUDGET_S = 10.0  # for one round; the budget of a call is five times that
GOOD_LINES = [json.dumps(line).encode() for line in (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}},
    {"jsonrpc": "2.0", "id": "a", "method": "tools/list"}, {"jsonrpc": "2.0", "id": 3, "method": "ping"},
    {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "search_inside", "arguments": {"query": "a wet fog", "limit": 2}}},
    {"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": "books://archives"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}},
    [{"jsonrpc": "2.0", "id": 6, "method": "prompts/list"}, {"jsonrpc": "2.0", "id": 7, "method": "nothing"}])]


def books(**changes: Any) -> BooksClient:
    settings = Settings(**{"gallica_contents": True, "cache_ttl_ms": 0, "max_retries": 0, **changes})
    return BooksClient(settings=settings, transport=Transport(settings, ARCHIVES, pacing_clock=FakeClock()))


# ---- one kind each: yields a round, which raises where something is wrong -----------------------------------------------------

def bodies(chance: random.Random) -> Iterator[None]:
    client, judge, steps = books(), Judge(), [*SEARCHES, *READINGS]
    while True:
        step = chance.choice(steps)
        question = QUESTIONS[step.spoils[0]]
        body = chance.choice(breakers(question))(chance, (ANSWERS / question.file).read_bytes())
        Files.broken = dict.fromkeys(step.spoils, body)
        judge.outcome(client, step.tool, step.arguments)
        yield


def arguments(chance: random.Random) -> Iterator[None]:
    client, judge, offered = books(), Judge(), tool_schemas(Settings(gallica_contents=True))
    Files.broken = {}
    while True:
        tool = chance.choice(list(TOOLS))
        judge.outcome(client, tool, test_fuzz.arguments(chance, offered[tool]["inputSchema"]))
        yield


def lines(chance: random.Random) -> Iterator[None]:
    """Each line is answered by messages that are JSON, none of them an internal error; what was broken off stays unanswered."""
    server = mcp_books.Server(Settings(replay_dir=SHELF))
    while True:
        line = broken_bytes(chance, chance.choice(GOOD_LINES))
        try:
            message = mcp_books.decode(line)
        except mcp_books.ProtocolError as error:
            assert error.code == -32700, error.code
            yield
            continue
        for one in message if isinstance(message, list) else [message]:
            answer = server.answer(one)
            written = json.loads(mcp_books.encode(answer)) if answer is not None else {}
            assert written.get("error", {}).get("code") != -32603, (line, written)
        yield


def state(chance: random.Random) -> Iterator[None]:
    """A file that another program, or a disk, spoilt holds nobody longer than a day, and never less than the spacing."""
    clock = FakeClock()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lane.json")
        good = LaneState().write()
        while True:
            path.write_bytes(broken_bytes(chance, good))
            with Ledger(path, 1.0, clock).held() as lane:
                assert 0.0 <= lane.blocked_for(clock.time()) <= 86_400.0
                good = lane.write()
            yield


def kept(chance: random.Random) -> Iterator[None]:
    files = sorted(SHELF.iterdir())
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            Path(folder, file.name).write_bytes(file.read_bytes())
        judge = Judge()
        while True:
            file = chance.choice([file for file in files if file.is_file()])
            Path(folder, file.name).write_bytes(broken_bytes(chance, file.read_bytes()))
            client = books(replay_dir=Path(folder))
            judge.outcome(client, "search_inside", {"query": "a wet fog", "limit": 2})
            judge.outcome(client, "get_item", {"identifier": "archive:capemarrowlog00fenw"})
            client.close()
            Path(folder, file.name).write_bytes(file.read_bytes())
            yield


KINDS: dict[str, Callable[[random.Random], Iterator[None]]] = {
    "bodies": bodies, "arguments": arguments, "lines": lines, "state": state, "kept": kept}


class Faults(logging.Handler):
    """What was logged as an error: a fault that was caught is one all the same."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "spacing" not in record.getMessage() and "shared" not in record.getMessage():  # of the pacing's own file, which is said
            self.seen.append(record.getMessage())


def tried(kind: str, rounds: int, seed: int, until: float) -> tuple[int, list[str]]:
    """How many rounds were made, and what was wrong."""
    wrong: list[str] = []
    faults = Faults()
    logging.getLogger("books").addHandler(faults)
    done, chance = 0, random.Random(f"{seed} {kind}")
    work = KINDS[kind](chance)
    while done < rounds and time.monotonic() < until and len(wrong) < 10:
        begun = time.monotonic()
        try:
            next(work)
        except Exception:
            wrong.append(traceback.format_exc(limit=-3))
            work = KINDS[kind](chance)
        took_s = time.monotonic() - begun
        wrong += [f"a round of {took_s:.1f} s"] if took_s > BUDGET_S else []
        done += 1
    logging.getLogger("books").removeHandler(faults)
    return done, wrong + faults.seen[:10]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=100_000)
    options.add_argument("--only", choices=list(KINDS), action="append")
    options.add_argument("--seed", type=int, default=test_fuzz.SEED)
    options.add_argument("--minutes", type=float, default=600.0, help="for one kind, at most")
    given = options.parse_args()
    logging.getLogger("books").propagate = False
    sources.transport.flights.Wire = Files  # type: ignore[misc]
    status = 0
    for kind in given.only or KINDS:
        begun = time.monotonic()
        done, wrong = tried(kind, given.rounds, given.seed, begun + 60 * given.minutes)
        print(f"{kind}: {done:,} rounds in {time.monotonic() - begun:.0f} s, wrong: {len(wrong) or 'nothing'}", flush=True)
        for one in wrong:
            print(one)
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
