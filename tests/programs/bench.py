"""Lightness in figures: `python tests/programs/bench.py` prints a table of what was measured and what is promised, in about a minute.

Everything is measured here and now against a measure of the same run: the bare interpreter, the standard decoder, the ideal of
a lane. Warm-up first, medians of several rounds. Exit 1 when a promise is broken. Nothing leaves the machine: the archives are
a stand-in on loopback, their answers those of `shapes.py`.
"""
from __future__ import annotations

import functools
import json
import math
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests"))

import shapes
from conftest import FakeClock, StandIn
from lxml import etree

import mcp_books
from sources import text
from sources.client import BooksClient
from sources.contract import Ask, Query, Reply
from sources.registry import ARCHIVES
from sources.settings import Settings
from sources.telling.fit import fitted
from sources.telling.harmless import inert
from sources.transport.bodies import decode_json, decode_xml
from sources.transport.flights import Transport

SPACING_S = 1.0  # of the lane measured, Open Library's; two of its requests may be in flight
IN_FLIGHT = 2
TOLERANCE_S = 0.005  # what a stand-in's own clock may err by between two arrivals
QUESTION = "lantern harbour"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of the table. `bound` None: printed, not promised."""

    name: str
    value: float
    bound: float | None = None
    unit: str = ""

    @property
    def holds(self) -> bool:
        return self.bound is None or self.value <= self.bound

    def line(self) -> str:
        bound = "" if self.bound is None else f"{self.bound:>10,.4g}"
        return f"{self.name:<66}{self.value:>10,.4g}{bound:>10} {self.unit:<9}{'' if self.holds else 'BROKEN'}".rstrip()


# ---- a process, as a host has it -------------------------------------------------------------------------------------------

class Process:
    """The real program over real pipes."""

    def __init__(self, **settings: str) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("BOOKS_") and "proxy" not in name.lower()}
        self.process = subprocess.Popen([sys.executable, str(ROOT / "mcp_books.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**environ, "BOOKS_STATE_DIR": "off", **settings})
        self.replies: queue.Queue[dict[str, Any]] = queue.Queue()
        self.next_id = 0

    def open(self, revision: str = "2025-11-25") -> bytes:
        """Through the handshake to the answer of tools/list, which is returned as it came."""
        client = {"name": "bench", "version": "1"}
        self.send("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": client})
        self.send("tools/list", {})
        assert self.process.stdout is not None
        self.process.stdout.readline()
        return self.process.stdout.readline()

    def listen(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.replies.put(json.loads(line))

    def send(self, method: str, params: dict[str, Any]) -> int:
        self.next_id += 1
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}).encode() + b"\n")
        self.process.stdin.flush()
        return self.next_id

    def call(self, tool: str, **arguments: Any) -> int:
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def result(self) -> dict[str, Any]:
        """The next reply's result, whichever request it answers; a call that failed ends the benchmark."""
        reply = self.replies.get(timeout=120)
        result: dict[str, Any] = reply["result"]
        if result.get("isError"):
            raise SystemExit(f"a call failed: {result['content'][0]['text']}")
        return result

    def memory_mb(self) -> float:
        """Resident memory now; 0.0 where the system does not tell."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return 0.0
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@contextmanager
def running(**settings: str) -> Iterator[Process]:
    process = Process(**settings)
    try:
        yield process
    finally:
        process.close()


@contextmanager
def archives(rows: int, *, delay_s: float = 0.0) -> Iterator[StandIn]:
    """A stand-in for every archive, each answering so many rows after `delay_s`."""
    server = StandIn()
    for at, body in shapes.ROUTES:
        content_type = "text/xml" if at.endswith("SRU") else "application/json"
        server.add(at, body=body(rows), delay_s=delay_s, headers={"Content-Type": content_type})
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


def median(work: Callable[[], object], rounds: int, clock: Callable[[], float] = time.perf_counter) -> float:
    work()
    taken = []
    for _ in range(rounds):
        begun = clock()
        work()
        taken.append(clock() - begun)
    return statistics.median(taken)


# ---- start, memory, context ------------------------------------------------------------------------------------------------

def start() -> list[Figure]:
    """From the spawn to the answer of tools/list, beside an interpreter that does nothing; taken in turn."""
    bare, whole = [], []
    for number in range(22):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", ""], check=True)
        bare.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        with running() as process:
            process.open()
            whole.append(time.perf_counter() - begun)
        if number == 1:
            bare.clear(), whole.clear()
    bare_s, whole_s = statistics.median(bare), statistics.median(whole)
    return [Figure(name="start to the answer of tools/list, in starts of the interpreter", value=whole_s / bare_s, bound=6),
            Figure(name="  the interpreter alone", value=bare_s * 1000, unit="ms"),
            Figure(name="  start to the answer of tools/list", value=whole_s * 1000, unit="ms")]


def memory() -> list[Figure]:
    """Resident memory of the process at three moments, beside an interpreter that waits for its input."""
    bare = subprocess.Popen([sys.executable, "-c", "print(1, flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert bare.stdout is not None
    assert bare.stdin is not None
    bare.stdout.readline()
    bare_mb = int(Path(f"/proc/{bare.pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024
    bare.communicate(b"\n")
    with archives(25) as stand_in, running(BOOKS_GATEWAY=stand_in.address) as process:
        process.open()
        listed_mb = process.memory_mb()
        time.sleep(1.5)
        warm_mb = process.memory_mb()
        process.listen()
        every = [archive.key for archive in ARCHIVES]
        process.call("search_inside", query=QUESTION, limit=25, fan_out=False)
        process.call("search_items", query=QUESTION, limit=25, fan_out=False, sources=every)
        for identifier in ("archive:vale00000orri", "loc:00000021", "openlibrary:OL800001W"):
            process.call("get_item", identifier=identifier)
        for _ in range(5):
            process.result()
        used_mb = process.memory_mb()
    return [Figure(name="memory at the answer of tools/list, in bare interpreters", value=listed_mb / bare_mb, bound=2.2),
            Figure(name="memory once warmed, in bare interpreters", value=warm_mb / bare_mb, bound=5.5),
            Figure(name="memory after calls to every archive, 25 rows each", value=used_mb, bound=75, unit="MB"),
            Figure(name="  the bare interpreter", value=bare_mb, unit="MB")]


def context() -> list[Figure]:
    """What a host and its model are given before the first call, in the revision where it is longest."""
    longest = 0
    for revision in mcp_books.HANDSHAKE_REVISIONS:
        with running() as process:
            line = process.open(revision)
        longest = max(longest, len(line))
    tools = json.loads(line)["result"]["tools"]
    read = sum(len(tool["name"].encode()) + len(tool["description"].encode()) + len(_compact(tool["inputSchema"])) for tool in tools)
    instructions = mcp_books.Server(Settings()).instructions()
    return [Figure(name="names, descriptions and input schemas", value=read, bound=13_000, unit="bytes"),
            Figure(name="the whole tools/list message", value=longest, bound=26_000, unit="bytes"),
            Figure(name="instructions", value=len(instructions.encode()), bound=3_200, unit="bytes")]


def _compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


# ---- one call's own work ---------------------------------------------------------------------------------------------------

@contextmanager
def shelf(rows: int) -> Iterator[BooksClient]:
    """A client that answers from a record of the stand-in's answers, made before in a temporary folder."""
    with tempfile.TemporaryDirectory() as name, archives(rows) as stand_in:
        folder = Path(name)
        recording = _unpaced(Settings(gateway=stand_in.address, record_dir=folder))
        for limit in (5, 25):
            recording.search_inside(QUESTION, limit=limit, fan_out=False)
            recording.search_items(QUESTION, limit=limit, fan_out=False)
        recording.close()
        yield BooksClient(settings=Settings(replay_dir=folder))


def _unpaced(settings: Settings) -> BooksClient:
    return BooksClient(settings=settings, transport=Transport(settings, ARCHIVES, pacing_clock=FakeClock()))


OWN_WORK = 60  # 10 is wanted; 22 to 41 are reached, a third of them in telling rows up to what a host takes
GROWTH = 1.3  # n log n over these sizes is 1.15, and memory that no longer fits a cache adds to it; a square is 2
SEARCHES = (("search_inside", (shapes.archive_text, shapes.loc_pages)),
            ("search_items", (shapes.archive_items, shapes.loc_items, shapes.bnf_works, shapes.bnf_catalogue_records,
                              shapes.openlibrary_works)))


def _decoded(body: bytes) -> object:
    return etree.fromstring(body) if body.startswith(b"<") else json.loads(body)


def own_work() -> list[Figure]:
    """All that a call costs this process from the question to the reply's bytes, beside the standard decoder on the same bodies."""
    figures = []
    with shelf(25) as client:
        for tool, bodies in SEARCHES:
            kept = [body(25) for body in bodies]
            decoding_s = median(lambda kept=kept: [_decoded(body) for body in kept], 30, time.process_time)
            call_s = median(lambda tool=tool: _answered(client, tool, limit=25), 30, time.process_time)
            figures += [Figure(name=f"own work of {tool}, 25 rows an archive, in decodings of the bodies", value=call_s / decoding_s - 1, bound=OWN_WORK),
                        Figure(name="  the decoding alone", value=decoding_s * 1000, unit="ms"),
                        Figure(name="  the whole call", value=call_s * 1000, unit="ms")]
    return figures


def _answered(client: BooksClient, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    told = fitted(tool, client.ask(tool, {"query": QUESTION, "fan_out": False, **arguments}))
    mcp_books.encode({"content": [{"type": "text", "text": told.text}], "structuredContent": told.payload})
    return told.text, told.payload


def text_share() -> list[Figure]:
    """The text block beside the structured payload, ten rows of two archives, answered by them and not from a record."""
    figures = []
    with archives(5) as stand_in:
        client = _unpaced(Settings(gateway=stand_in.address))
        for tool, pairs in (("search_inside", (["archive", "loc"],)), ("search_items", (["archive", "loc"], ["bnf", "openlibrary"]))):
            shares = []
            for sources in pairs:
                text, payload = _answered(client, tool, limit=5, sources=sources)
                shares.append(100 * len(text.encode()) / len(_compact(payload)))
            figures.append(Figure(name=f"text block of {tool}, ten rows, of its payload", value=max(shares), bound=62, unit="%"))
    return figures


# ---- growth ----------------------------------------------------------------------------------------------------------------

class Kept:
    """An asker that has one answer, decoded."""

    settings = Settings()

    def __init__(self, value: Any) -> None:
        self.reply = Reply(value=value, status=200, headers={}, url="https://example.org/", retrieved_at="2026-11-30T00:00:00Z", cached=True)

    def __call__(self, ask: Ask) -> Reply:
        return self.reply


def growth() -> list[Figure]:
    """The exponent fitted to the times at three sizes: 1 is linear, 2 is quadratic."""
    xml = "text/xml; charset=utf-8"
    by_key = {archive.key: archive for archive in ARCHIVES}
    rows_of = {"archive": shapes.archive_items, "loc": shapes.loc_items, "bnf": shapes.bnf_works, "openlibrary": shapes.openlibrary_works,
               "bnfcatalogue": shapes.bnf_catalogue_records}  # Gallica sends fifty rows at most

    def reading(key: str, rows: int) -> Callable[[], object]:
        body = rows_of[key](rows)
        value = decode_xml(body, xml) if key == "bnfcatalogue" else decode_json(body)
        archive, query = by_key[key](Kept(value)), Query(words=QUESTION, rows=rows)
        return lambda: archive.search_catalogue(archive.plan_catalogue(query))

    def on(work: Callable[[Any], object], made: Callable[[int], Any]) -> Callable[[int], Callable[[], object]]:
        def at(size: int) -> Callable[[], object]:
            given = made(size)
            return lambda: work(given)
        return at

    measured = [(f"rows of {key}", functools.partial(reading, key)) for key in rows_of]
    measured += [("bytes of a JSON body", on(decode_json, shapes.loc_pages)),
                 ("bytes of an XML body", on(lambda body: decode_xml(body, xml), shapes.gallica_documents)),
                 ("letters of a page shown", on(inert, _page)),
                 ("letters of a page searched", on(lambda page: text.passages(page, "lantern gable", 10), _page))]
    return [Figure(name=f"growth with {name}, exponent", value=_exponent(made), bound=GROWTH) for name, made in measured]


def _page(size: int) -> str:
    return "\n".join(shapes.prose(12, number) + " \u0442\u0443\u043c\u0430\u043d" for number in range(size * 4))


def _exponent(made: Callable[[int], Callable[[], object]], sizes: Sequence[int] = (100, 300, 900)) -> float:
    points = [(math.log(size), math.log(_least(made(size)))) for size in sizes]
    mean_x, mean_y = (statistics.fmean(point[axis] for point in points) for axis in (0, 1))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def _least(work: Callable[[], object]) -> float:
    """The shortest of seven rounds, in seconds of this thread: what else the machine does only ever adds to it."""
    return min(median(work, 1, time.thread_time) for _ in range(7))


# ---- pacing ----------------------------------------------------------------------------------------------------------------

def _queued(count: int, delay_s: float) -> tuple[float, float]:
    """Seconds from the first request's start to the last one's end as the stand-in saw them, and the ideal."""
    with archives(5, delay_s=delay_s) as stand_in, running(BOOKS_GATEWAY=stand_in.address) as process:
        process.open()
        time.sleep(1.0)
        process.listen()
        for number in range(count):
            process.call("search_items", query=f"lantern {number}", fan_out=False, sources=["openlibrary"])
        for _ in range(count):
            process.result()
        starts = stand_in.starts(r"openlibrary\.org/.*")
    ideal: list[float] = []
    for number in range(count):
        spaced = ideal[-1] + SPACING_S if ideal else 0.0
        ideal.append(max(spaced, ideal[number - IN_FLIGHT] + delay_s) if number >= IN_FLIGHT else spaced)
    return starts[-1] - starts[0], ideal[-1]


def _three_processes() -> tuple[float, float, int]:
    """Makespan, ideal and spacing violations of three processes that ask one archive seven questions each at the same time."""
    with tempfile.TemporaryDirectory() as folder, archives(5) as stand_in:
        processes = [Process(BOOKS_GATEWAY=stand_in.address, BOOKS_STATE_DIR=folder) for _ in range(3)]
        for process in processes:
            process.open()
            process.listen()
        time.sleep(1.5)
        for number in range(7):
            for which, process in enumerate(processes):
                process.call("search_items", query=f"lantern {number} {which}", fan_out=False, sources=["openlibrary"])
        for process in processes:
            for _ in range(7):
                process.result()
            process.close()
        starts = sorted(stand_in.starts(r"openlibrary\.org/.*"))
    gaps = [after - before for before, after in zip(starts, starts[1:], strict=False)]
    return starts[-1] - starts[0], SPACING_S * (len(starts) - 1), sum(gap < SPACING_S - TOLERANCE_S for gap in gaps)


def pacing() -> list[Figure]:
    """The three at once, each with its own stand-in: they wait nearly all the time."""
    with ThreadPoolExecutor(3) as pool:
        quick, slow, shared = pool.submit(_queued, 20, 0.0), pool.submit(_queued, 20, 2.5), pool.submit(_three_processes)
        (quick_s, quick_ideal_s), (slow_s, slow_ideal_s) = quick.result(), slow.result()
        shared_s, shared_ideal_s, violations = shared.result()
    return [Figure(name="20 queued calls, answers at once, of the ideal", value=quick_s / quick_ideal_s, bound=1.02),
            Figure(name="20 queued calls, answers after 2.5 s, two in flight, of the ideal", value=slow_s / slow_ideal_s, bound=1.02),
            Figure(name="three processes on one lane, 21 calls, of the ideal", value=shared_s / shared_ideal_s, bound=1.02),
            Figure(name="three processes on one lane, spacing violations", value=violations, bound=0)]


def ping() -> list[Figure]:
    """Round trips of ping while eight calls wait for their archives."""
    with archives(5, delay_s=8.0) as stand_in, running(BOOKS_GATEWAY=stand_in.address) as process:
        process.open()
        time.sleep(1.0)
        for number in range(8):
            process.call("search_items", query=f"lantern {number}")
        time.sleep(0.5)
        assert process.process.stdout is not None
        trips = []
        for _ in range(500):
            begun = time.perf_counter()
            process.send("ping", {})
            process.process.stdout.readline()
            trips.append(time.perf_counter() - begun)
            time.sleep(0.005)
        process.process.kill()
    return [Figure(name="ping while eight calls wait, 99th percentile", value=statistics.quantiles(trips, n=100)[98] * 1000, bound=5, unit="ms"),
            Figure(name="  median", value=statistics.median(trips) * 1000, unit="ms")]


def cached() -> list[Figure]:
    """The same question again and again, one after the other, through the pipe."""
    figures = []
    with archives(5) as stand_in, running(BOOKS_GATEWAY=stand_in.address) as process:
        process.open()
        process.listen()
        for tool in ("search_inside", "search_items"):
            process.call(tool, query=QUESTION, fan_out=False)
            process.result()
            begun = time.perf_counter()
            for _ in range(200):
                process.call(tool, query=QUESTION, fan_out=False)
                process.result()
            figures.append(Figure(name=f"cached calls of {tool} through the pipe", value=200 / (time.perf_counter() - begun), unit="a second"))
    return figures


def main() -> int:
    print(f"Python {sys.version.split()[0]} on {sys.platform}\n{'':<66}{'measured':>10}{'promised':>10}", flush=True)
    figures: list[Figure] = []
    for part in (start, memory, context, text_share, own_work, growth, ping, cached, pacing):
        measured = part()
        figures += measured
        print("\n".join(figure.line() for figure in measured), flush=True)
    broken = [figure for figure in figures if not figure.holds]
    print(f"\n{len(broken)} of {sum(figure.bound is not None for figure in figures)} promises are broken." if broken else "\nEvery promise holds.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
