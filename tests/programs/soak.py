"""A soak: thousands of mixed calls, a fifth of the archives' answers broken, and nothing may wear out.

    python tests/programs/soak.py                   20,000 calls in this process; spacing, retries and blocks go by a fake clock
    python tests/programs/soak.py --minutes 10      the real process on the real clock, six calls at a time
    python tests/programs/soak.py --minutes 16 --door       the same behind HTTP: gunicorn with two workers, about 1,000 requests

A stand-in plays all five archives over real sockets. Printed are the calls, the answers, the failures by name, what came out
wrong (an answer that tells a broken archive as empty, an answer to another question, an internal error, a call without an answer,
a spacing that was not kept), and memory, threads and descriptors after the warm-up and at the end. Exit status 1 where anything
of that is wrong.
"""
from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import queue
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

for _place in Path(__file__).resolve().parents[1:3]:  # the tests and the program
    sys.path.insert(0, str(_place))

import shelf
from conftest import FakeClock, Route, Seen, StandIn, gzip_bomb
from lxml import etree
from test_faults import FAULTS, READINGS, SEARCHES, Fault, Step

import mcp_books
from sources.registry import ARCHIVES
from sources.transport.gate import Gate

ROOT = Path(__file__).resolve().parent.parent.parent
TOLERANCE_S = 0.005  # by which two requests may be seen too close together: what a loaded machine blurs
FAULT_RATE = 0.2
CANCEL_RATE = 0.03  # of the calls
HEAVY_RATE = 0.02  # of the faults: those that hold a thread until a deadline, or fill a body up to its ceiling
PASSING = ("reset", "closed without an answer", "half a body", "web page", "500", "502", "503", "empty", "truncated", "another shape",
           "another kind", "wrong charset", "redirect to another host")  # faults after which the lane is asked again
A_DAY_S = 86_400.0
GROWTH_OF_MEMORY, GROWTH = 0.2, 4  # of memory in parts, of threads or descriptors, from the warm-up to the end: what comes and goes
CROSSED = "told to another"  # stands in every answer that is smuggled in, and may stand in no reply


# ---- answers where none is due -----------------------------------------------------------------------------------------

def whole(route: Route, body: bytes, status: str = "200 OK") -> bytes:
    """An answer as it stands on the wire."""
    head = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in route.headers.items()), f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode() + body


def twin(route: Route) -> bytes:
    """The answer to a question, whole and readable, whose texts say that it was told to another."""
    if route.body.lstrip().startswith(b"<"):
        root = etree.fromstring(route.body)
        for node in root.iter(etree.Element):
            node.text = f"{node.text} {CROSSED}" if node.text and " " in node.text.strip() else node.text
        return etree.tostring(root, encoding="utf-8", xml_declaration=True)
    try:
        return json.dumps(_marked(json.loads(route.body))).encode()
    except ValueError:
        return route.body + f" {CROSSED}".encode()


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _marked(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_marked(entry) for entry in value]
    return f"{value} {CROSSED}" if isinstance(value, str) and " " in value else value


HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
# What is sent beside or instead of an answer, from the route due and the wire form of another answer of the same host.
SMUGGLED: dict[str, Callable[[Route, bytes], Mapping[str, Any]]] = {
    "interim answers": lambda due, other: {"body": HINTS * 3 + whole(due, due.body), "fault": "raw"},
    "an answer too many": lambda due, other: {"body": whole(due, due.body) + other, "fault": "raw"},
    "an answer too early": lambda due, other: {"body": whole(due, due.body), "late": other, "fault": "raw"},
    "an interim answer too late": lambda due, other: {"body": whole(due, due.body), "late": HINTS + other, "fault": "raw"},
    "a body with 204": lambda due, other: {"body": b"HTTP/1.1 204 No Content\r\n\r\n" + other, "fault": "raw"},
    "a body with 304": lambda due, other: {"body": b"HTTP/1.1 304 Not Modified\r\n\r\n", "late": other, "fault": "raw"},
    "a length too short": lambda due, other: {"body": whole(due, due.body[:-20]) + due.body[-20:] + other, "fault": "raw"},
    "gzip cut": lambda due, other: {"body": gzip.compress(due.body)[:-9], "headers": {**due.headers, "Content-Encoding": "gzip"}},
}


# ---- what is asked, and what goes wrong --------------------------------------------------------------------------------

class Weather(StandIn):
    """A stand-in whose answers go wrong now and then. `broken` counts how."""

    def __init__(self, chance: random.Random, faults: dict[str, Fault]) -> None:
        super().__init__()
        self.broken: Counter[str] = Counter()
        gzip_bomb()  # made now, not counted as growth
        self._chance = chance
        self._light = [*(name for name in faults if not is_heavy(name)), *SMUGGLED]
        self._heavy = [name for name in faults if is_heavy(name)]
        shelf.stock(self)
        self._questions = {id(route): question for route, question in zip(self.routes, shelf.QUESTIONS.values(), strict=True)}

    def route(self, seen: Seen) -> Route:
        route = super().route(seen)
        question = self._questions.get(id(route))
        with self.lock:
            if question is None or self._chance.random() > FAULT_RATE:
                return route
            heavy = self._heavy and self._chance.random() < HEAVY_RATE
            name = self._chance.choice(self._heavy if heavy else self._light)
            self.broken[name] += 1
        if name not in SMUGGLED:
            return replace(route, **FAULTS[name].does(question))
        host = question.at.partition("/")[0]
        beside = [entry.route() for entry in shelf.QUESTIONS.values() if entry.at.partition("/")[0] == host]
        other = self._chance.choice(beside)
        return replace(route, **SMUGGLED[name](route, whole(other, twin(other))))


def is_heavy(name: str) -> bool:
    return FAULTS[name].waits or name in ("endless", "gzip bomb")


def asks(chance: random.Random, number: int) -> dict[str, Any]:
    """The next request: nine in ten a good call, else one that is refused, or one for a list."""
    kind = chance.random()
    if kind < 0.9:
        step: Step = chance.choice([*SEARCHES, *READINGS])
        params: dict[str, Any] = {"name": step.tool, "arguments": dict(step.arguments)}
    elif kind < 0.95:
        params = {"name": chance.choice(["search_inside", "get_item"]), "arguments": chance.choice([{}, {"query": 5}, {"limit": "many"}, {"x": 1}])}
    else:
        return {"jsonrpc": "2.0", "id": number, "method": chance.choice(["ping", "tools/list", "prompts/list", "resources/list"])}
    if chance.random() < 0.3:
        params["_meta"] = {"progressToken": number}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def cancellation(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


# ---- what comes back ---------------------------------------------------------------------------------------------------

@dataclass(kw_only=True)
class Tally:
    calls: int = 0
    answers: int = 0
    cancelled: int = 0
    notices: int = 0
    failures: Counter[str] = field(default_factory=Counter)  # by archive or tool error, and code
    wrong: Counter[str] = field(default_factory=Counter)
    open: set[int] = field(default_factory=set)
    taken_back: set[int] = field(default_factory=set)  # a cancellation was sent; the reply may have been on its way

    def give_up(self, number: int) -> None:
        """Await a call that was taken back no longer."""
        if number in self.open & self.taken_back:
            self.open.discard(number)
            self.cancelled += 1

    def take(self, line: bytes) -> None:
        """Count one message of the server."""
        self.wrong["answers to another question"] += CROSSED.encode() in line
        message = json.loads(line)
        if "method" in message:
            self.notices += 1
            if message["params"]["progressToken"] not in self.open:
                self.wrong["progress after the reply"] += 1
            return
        if message.get("id") not in self.open:
            self.wrong["a reply that was not awaited"] += 1
            return
        self.open.discard(message["id"])
        self.answers += 1
        if "error" in message:
            self.wrong[f"protocol error {message['error']['code']}"] += 1
            return
        result = message["result"]
        if result.get("isError"):
            code = re.match(r"Error: (\w+)\.", result["content"][0]["text"])
            self.failures[f"whole call: {code[1] if code else 'unnamed'}"] += 1
        for report in result.get("structuredContent", {}).get("per_source", ()):
            if report["status"] == "failed":
                self.failures[f"{report['source']}: {report['error']['code']}"] += 1
            elif report["status"] == "answered" and not report.get("count"):
                self.wrong[f"{report['source']} told as empty"] += 1  # the shelf holds rows for everything that is asked


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a process holds: resident memory and its peak in KB, threads, open descriptors."""

    resident_kb: int
    peak_kb: int
    threads: int
    descriptors: int


def load_of(pid: int) -> Load:
    """As Linux tells it; zeros elsewhere."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return Load(resident_kb=0, peak_kb=0, threads=0, descriptors=0)
    told = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return Load(resident_kb=int(told["VmRSS"].split()[0]), peak_kb=int(told["VmHWM"].split()[0]), threads=int(told["Threads"]),
                descriptors=len(os.listdir(f"/proc/{pid}/fd")))


def too_close(starts: dict[str, list[float]], spacings: dict[str, float]) -> tuple[int, float]:
    """How many requests of a lane followed the one before too soon, and by how many seconds at worst."""
    short = [spacings[lane] - (later - earlier) for lane, times in starts.items() for earlier, later in zip(times, times[1:], strict=False)]
    return sum(missing > TOLERANCE_S for missing in short), max([0.0, *short])


def report(tally: Tally, weather: Weather, requests: int, close: tuple[int, float], before: Load, after: Load) -> int:
    """Print the figures; the exit status."""
    if close[0]:
        tally.wrong["spacing not kept"] += close[0]
    if tally.open:
        tally.wrong["calls without an answer"] += len(tally.open)
    for name, grown, limit in (("memory", after.resident_kb - before.resident_kb, int(before.resident_kb * GROWTH_OF_MEMORY)), ("threads", after.threads - before.threads, GROWTH),
                               ("descriptors", after.descriptors - before.descriptors, GROWTH)):
        if grown > limit:
            tally.wrong[f"{name} grown by {grown}"] += 1
    print(f"calls {tally.calls}, answers {tally.answers}, cancelled {tally.cancelled}, progress notices {tally.notices}")
    print(f"requests {requests}, broken answers {sum(weather.broken.values())} of {len(weather.broken)} kinds")
    print("failures named: " + ", ".join(f"{name} {count}" for name, count in sorted(tally.failures.items())))
    print(f"spacing violations {close[0]} (worst {close[1] * 1000:.1f} ms short, tolerance {TOLERANCE_S * 1000:g} ms)")
    print(f"after the warm-up: {before}")
    print(f"at the end:        {after}")
    print("wrong: " + (", ".join(f"{name} {count}" for name, count in (+tally.wrong).items()) or "nothing"))
    return 1 if +tally.wrong else 0


# ---- on a fake clock -----------------------------------------------------------------------------------------------------

class OneClient(mcp_books.Server):
    """A server whose client is given."""

    def __init__(self, client: Any) -> None:
        super().__init__(client.settings)
        self._given = client

    def client(self) -> Any:
        return self._given


def count_starts(gates: Mapping[str, Gate]) -> dict[str, list[float]]:
    """The moments on the pacing clock at which each gate let a request go, from now on."""
    starts: dict[str, list[float]] = {}

    def observed(lane: str) -> Callable[[str, float], None]:
        return lambda event, moment: starts.setdefault(lane, []).append(moment) if event == "granted" else None

    for lane, gate in gates.items():
        gate.observe = observed(lane)
    return starts


def on_a_fake_clock(calls: int, seed: int) -> int:
    chance = random.Random(seed)
    weather = Weather(random.Random(seed + 1), FAULTS)
    threading.Thread(target=weather.serve_forever, args=(0.05,), daemon=True).start()
    clock = FakeClock()
    client = shelf.client(weather, clock, max_retries=1, timeout_ms=400, cache_ttl_ms=100)
    gates = {lane.key: client.transport.gate(lane) for archive in ARCHIVES for lane in archive.lanes}
    starts = count_starts(gates)
    spacings = {lane: gate.spacing_s for lane, gate in gates.items()}
    written: list[bytes] = []
    connection = mcp_books.Connection(OneClient(client), written.append)
    connection.receive(b'{"jsonrpc":"2.0","id":-1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}')
    written.clear()
    tally, requests, before = Tally(), 0, load_of(os.getpid())
    close, worst = 0, 0.0
    for number in range(calls):
        sent = asks(chance, number)
        tally.calls += 1
        tally.open.add(number)
        connection.receive(json.dumps(sent).encode())
        if chance.random() < CANCEL_RATE:
            connection.receive(json.dumps(cancellation(number)).encode())
            tally.taken_back.add(number)
        if not connection.idle.wait(60):
            break
        for line in written:
            tally.take(line)
        written.clear()
        tally.give_up(number)
        if number % 20 == 19:
            clock.advance(A_DAY_S)
        if number % 500 == 499 or number == calls - 1:
            requests += len(weather.seen)
            weather.seen.clear()
            count, missing = too_close(starts, spacings)
            close, worst = close + count, max(worst, missing)
            for times in starts.values():
                del times[:-1]
        if number == calls // 5:
            before = load_of(os.getpid())
        if number % 2000 == 1999:
            print(f"{number + 1} calls", file=sys.stderr, flush=True)
    weather.over.set()  # the stand-in's own threads, which stay silent or drip in this process, end with it
    time.sleep(1.0)
    after = load_of(os.getpid())
    client.close()
    return report(tally, weather, requests, (close, worst), before, after)


# ---- on the real clock -----------------------------------------------------------------------------------------------------

CALLS_OPEN = 6
LONGEST_CALL_S = 60.0  # after it a host would have given up (facts of the hosts, 2026)
LANES = [(lane, re.compile("|".join(lane.hosts)), re.compile("|".join(lane.paths)) if lane.paths else None)
         for archive in ARCHIVES for lane in archive.lanes]


def lane_of(place: str) -> str:
    """The lane that a request seen at "HOST/PATH" belongs to; one that names paths goes before one of the same host without."""
    host, _, path = place.partition("/")
    named = [lane.key for lane, hosts, paths in LANES if hosts.fullmatch(host) and paths and paths.fullmatch("/" + path)]
    return named[0] if named else next(lane.key for lane, hosts, paths in LANES if hosts.fullmatch(host) and not paths)


def settings_of(gateway: str, state: str) -> dict[str, str]:
    return {**os.environ, "BOOKS_GATEWAY": gateway, "BOOKS_STATE_DIR": state, "BOOKS_GALLICA_CONTENTS": "accept",
            "BOOKS_CACHE_TTL_MS": "5000", "BOOKS_TIMEOUT_MS": "5000", "BOOKS_LOG_LEVEL": "error"}


class Process:
    """The real server, and what it says."""

    takes_back = True

    def __init__(self, gateway: str) -> None:
        self.child = subprocess.Popen([sys.executable, str(ROOT / "mcp_books.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      env=settings_of(gateway, "off"))
        self.said: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.tell({"jsonrpc": "2.0", "id": -1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}})
        self.said.get(timeout=30)

    def _listen(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self.said.put(line)

    def tell(self, message: dict[str, Any]) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()

    def load(self) -> Load:
        return load_of(self.child.pid)

    def end(self) -> tuple[int, float]:
        """The exit code and the seconds it took to end."""
        assert self.child.stdin is not None
        began = time.monotonic()
        self.child.stdin.close()
        return self.child.wait(30), time.monotonic() - began


class Workers:
    """The door behind a real server with two workers, which share the pace through a folder. A message is a POST."""

    takes_back = False  # a call is taken back by hanging up, and then has no reply

    def __init__(self, gateway: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.set_inheritable(True)
        descriptor = self._listening.fileno()
        self._port = self._listening.getsockname()[1]
        command = ["-m", "gunicorn", "--workers", "2", "--threads", str(CALLS_OPEN), "--timeout", "90", "--bind", f"fd://{descriptor}",
                   "mcp_books:application"]
        self.child = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=settings_of(gateway, self._folder.name), pass_fds=(descriptor,),
                                      stderr=subprocess.DEVNULL)
        self.said: queue.Queue[bytes] = queue.Queue()
        self._pool = ThreadPoolExecutor(CALLS_OPEN)
        while len(self._workers()) != 2:
            time.sleep(0.1)

    def _workers(self) -> list[int]:
        children = Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def tell(self, message: dict[str, Any]) -> None:
        self._pool.submit(self._post, json.dumps(message).encode())

    def _post(self, body: bytes) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=LONGEST_CALL_S)
        try:
            connection.request("POST", "/mcp", body, {"Content-Type": "application/json", "MCP-Protocol-Version": "2025-11-25"})
            self.said.put(connection.getresponse().read())
        finally:
            connection.close()

    def load(self) -> Load:
        """Of both workers together."""
        loads = [load_of(pid) for pid in self._workers()]
        return Load(**{name: sum(getattr(load, name) for load in loads) for name in ("resident_kb", "peak_kb", "threads", "descriptors")})

    def end(self) -> tuple[int, float]:
        began = time.monotonic()
        self._pool.shutdown()
        self.child.terminate()
        code = self.child.wait(30)
        self._listening.close()
        self._folder.cleanup()
        return code, time.monotonic() - began


def on_the_real_clock(minutes: float, seed: int, kind: type[Process | Workers]) -> int:
    chance = random.Random(seed)
    weather = Weather(random.Random(seed + 1), {name: FAULTS[name] for name in (*PASSING, "silent", "drip", "gzip bomb")})
    threading.Thread(target=weather.serve_forever, args=(0.05,), daemon=True).start()
    server, tally = kind(weather.address), Tally()
    sent_at: dict[int, float] = {}
    before = server.load()
    began, warm, number = time.monotonic(), False, 0
    while time.monotonic() < began + minutes * 60 or tally.open:
        now = time.monotonic()
        if len(tally.open) < CALLS_OPEN and now < began + minutes * 60:
            server.tell(asks(chance, number))
            sent_at[number] = now
            tally.calls, number = tally.calls + 1, number + 1
            tally.open.add(number - 1)
            if server.takes_back and chance.random() < CANCEL_RATE:
                server.tell(cancellation(number - 1))
                tally.taken_back.add(number - 1)
            continue
        try:
            tally.take(server.said.get(timeout=0.5))
        except queue.Empty:
            for late in [entry for entry in tally.open if now - sent_at[entry] > (1.0 if entry in tally.taken_back else LONGEST_CALL_S)]:
                tally.give_up(late)
            if any(now - sent_at[entry] > LONGEST_CALL_S for entry in tally.open):
                break
        if not warm and now > began + minutes * 12:
            before, warm = server.load(), True
    time.sleep(1.0)
    after = server.load()
    code, seconds = server.end()
    if code or seconds > 2.0:
        tally.wrong[f"exit {code} after {seconds:.1f} s"] += 1
    starts: dict[str, list[float]] = {}
    for seen in sorted(weather.seen, key=lambda seen: seen.at_s):
        starts.setdefault(lane_of(seen.place), []).append(seen.at_s)
    print("requests a lane: " + ", ".join(f"{lane} {len(times)}" for lane, times in sorted(starts.items())))
    return report(tally, weather, len(weather.seen), too_close(starts, {lane.key: lane.spacing_s for lane, _, _ in LANES}), before, after)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20_000, help="on the fake clock (20000)")
    parser.add_argument("--minutes", type=float, help="on the real clock instead, for so long")
    parser.add_argument("--door", action="store_true", help="with --minutes: over HTTP, behind two workers")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.minutes is None:
        return on_a_fake_clock(given.calls, given.seed)
    return on_the_real_clock(given.minutes, given.seed, Workers if given.door else Process)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the stand-in's threads may still drip
