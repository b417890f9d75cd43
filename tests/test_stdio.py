"""The real process over real pipes: what a host may do to it, and what it may never do to a host.

Most tests run `stub_server.py`, the same program over sources that do as they are told; the others `mcp_books.py` itself.
"""
from __future__ import annotations

import asyncio
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import mcp_books
from sources.settings import VERSION

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "tests" / "programs" / "stub_server.py"
PROGRAM = ROOT / "mcp_books.py"
WAIT_S = 20.0  # far above what any reply takes, so that a slow machine fails no test
EXIT_LIMIT_S = 2.0  # hosts send signals after it (specification, basic/transports/stdio, "Shutdown")
HANDSHAKE = {"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and closed descriptors as POSIX has them")


class Host:
    """The host's side of the pipes. Lines are read as they come, so that the process never waits for its reader."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: queue.Queue[bytes] = queue.Queue()
        if process.stdout is not None:
            threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stdout: Any) -> None:
        for line in iter(stdout.readline, b""):
            self.lines.put(line)
        self.lines.put(b"")

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: Any) -> None:
        self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def call(self, query: str, id: Any = 1) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "search_inside", "arguments": {"query": query}}})

    def line(self) -> bytes:
        return self.lines.get(timeout=WAIT_S)

    def reply(self) -> Any:
        return json.loads(self.line())

    def ping(self, id: Any = "ping") -> Any:
        self.send({"jsonrpc": "2.0", "id": id, "method": "ping"})
        return self.reply()

    def end(self) -> tuple[int, float, list[bytes]]:
        """End the input: the exit code, the seconds it took, the lines that were still to come."""
        assert self.process.stdin is not None
        began = time.monotonic()
        self.process.stdin.close()
        code = self.process.wait(WAIT_S)
        seconds = time.monotonic() - began
        return code, seconds, list(iter(self.line, b""))


@contextmanager
def started(program: Path = STUB, *, stderr: Any = subprocess.PIPE, environ: dict[str, str] | None = None,
            handshake: bool = True, **options: Any) -> Iterator[Host]:
    process = subprocess.Popen([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                               env={**os.environ, "BOOKS_STATE_DIR": "off", **(environ or {})}, **options)
    host = Host(process)
    try:
        if handshake:
            host.send(HANDSHAKE)
            assert host.reply()["id"] == "init"
        yield host
    finally:
        process.kill()
        process.wait(WAIT_S)
        for pipe in (process.stdin, process.stdout, process.stderr):
            _close(pipe)


def _close(pipe: Any) -> None:
    with suppress(OSError):  # what was still to be written has no reader
        if pipe is not None:
            pipe.close()


def errors_of(host: Host) -> bytes:
    """What the process wrote to standard error, once it has ended."""
    assert host.process.stderr is not None
    return host.process.stderr.read()


# ---- what goes out -----------------------------------------------------------------------------------------------------

def test_stdout_holds_messages_only_whatever_a_library_prints() -> None:
    with started(environ={"BOOKS_LOG_LEVEL": "debug", "BOOKS_TIMEOUT_MS": "soon"}) as host:
        host.call("noisy 20", id="n")
        reply = host.reply()
        code, _, rest = host.end()
        told = errors_of(host)

    assert (reply["id"], "structuredContent" in reply["result"], code, rest) == ("n", True, 0, [])
    for piece in (b"a library prints", b"and writes to descriptor 1", b"x" * 20, b"BOOKS_TIMEOUT_MS"):
        assert piece in told


def test_a_setting_that_cannot_be_read_is_told_on_stderr_and_the_server_starts() -> None:
    with started(PROGRAM, environ={"BOOKS_TIMEOUT_MS": "soon"}) as host:
        code, _, _ = host.end()

        assert (code, errors_of(host)) == (0, b"BOOKS_TIMEOUT_MS: cannot read 'soon'; wanted milliseconds, 1 or more; the default stands.\n")


def test_any_script_passes_whatever_the_code_page() -> None:
    """Lines end with LF alone, and a line that ended in CRLF is read."""
    with started(environ={"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}) as host:
        request = {"jsonrpc": "2.0", "id": "Креницька ⓒ 漢", "method": "ping"}
        host.write(json.dumps(request, ensure_ascii=False).encode() + b"\r\n")
        line = host.line()

    assert json.loads(line) == {"jsonrpc": "2.0", "id": "Креницька ⓒ 漢", "result": {}}
    assert line.endswith(b"}\n")


def test_a_message_that_holds_line_separators_stays_one_line_both_ways() -> None:
    with started() as host:
        host.write('{"jsonrpc":"2.0",\r"id":"\u2028\u2029\u0085","method":"ping"}\n'.encode())
        echoed = host.reply()
        host.call("text")
        line = host.line()

    assert echoed["id"] == "\u2028\u2029\u0085"
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line)["result"]["structuredContent"]["text"].startswith("one\u2028two\u2029three\u0085four")


def test_a_line_that_is_no_json_is_told_and_an_empty_one_is_nothing() -> None:
    with started() as host:
        host.write(b"\n\r\nnot json\n")
        error = host.reply()
        after = host.ping()

    assert error == {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error: the line is not one JSON message in UTF-8."}}
    assert after["id"] == "ping"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc")
def test_an_endless_line_is_refused_and_never_held() -> None:
    """64 MB in one line: the peak of memory rises by less than four times the limit of 2 MiB."""
    with started() as host:
        before = peak_kb(host.process.pid)
        for _ in range(64):
            host.write(b"x" * (1 << 20))
        host.write(b"\n")
        error = host.reply()
        grown_kb = peak_kb(host.process.pid) - before
        after = host.ping()

    assert (error["error"]["code"], after["id"]) == (-32600, "ping")
    assert grown_kb < 4 * mcp_books.LINE_LIMIT_BYTES / 1024


def peak_kb(pid: int) -> int:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])


def test_a_stderr_that_nobody_reads_never_holds_the_server_up() -> None:
    """Three megabytes of noise against a pipe that holds 64 KB."""
    with started(stderr=subprocess.PIPE) as host:
        for number in range(3):
            host.call("noisy 1000000", id=number)
        answered = sorted(host.reply()["id"] for _ in range(3))
        code, seconds, _ = host.end()

    assert (answered, code) == ([0, 1, 2], 0)
    assert seconds < EXIT_LIMIT_S


# ---- while calls run ------------------------------------------------------------------------------------------------------

def test_requests_behind_a_slow_call_are_answered_first() -> None:
    with started() as host:
        host.call("slow 30", id="slow")
        host.send({"jsonrpc": "2.0", "id": "list", "method": "tools/list"})
        host.call("quick", id="quick")
        answered = {host.reply()["id"], host.reply()["id"], host.ping()["id"]}

    assert answered == {"list", "quick", "ping"}


def test_a_cancelled_call_is_never_answered_and_the_server_goes_on() -> None:
    with started() as host:
        host.call("slow 30", id=7)
        host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
        after = host.ping()
        _, seconds, rest = host.end()

    assert (after["id"], rest) == ("ping", [])
    assert seconds < 1.0  # nothing was running any more, so the end did not wait for it


# ---- the end ---------------------------------------------------------------------------------------------------------------

def test_at_the_end_of_input_the_replies_owed_come_first() -> None:
    """Requests sent and the input closed in one breath: all are answered, the last without a line end, and the exit is 0."""
    requests = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number for number in range(50))
    with started(handshake=False) as host:
        host.write(requests + b'{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"search_inside","_meta":{'
                   b'"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}')
        code, seconds, rest = host.end()

    assert [json.loads(line)["id"] for line in rest] == [*range(50), "call"]
    assert (code, seconds < EXIT_LIMIT_S) == (0, True)


@pytest.mark.parametrize("sent", [b"", b'{"jsonrpc":"2.0","id":1,"meth', b"\xef\xbb\xbf"])
def test_an_end_in_mid_line_is_an_end(sent: bytes) -> None:
    with started() as host:
        host.write(sent)
        code, seconds, _ = host.end()

        assert (code, seconds < EXIT_LIMIT_S, errors_of(host)) == (0, True, b"")


def test_an_end_in_mid_call_gives_it_a_second() -> None:
    with started() as host:
        host.call("slow 30", id="never")
        host.call("slow 0.4", id="in time")
        code, seconds, rest = host.end()

    assert [json.loads(line)["id"] for line in rest] == ["in time"]
    assert (code, seconds < EXIT_LIMIT_S) == (0, True)


def test_no_thread_holds_the_process() -> None:
    """A thread that is no daemon, of a library say, would be waited for by an ordinary exit."""
    with started() as host:
        host.call("hold")
        host.reply()
        code, seconds, _ = host.end()

    assert (code, seconds < EXIT_LIMIT_S) == (0, True)


@posix_only
def test_an_end_is_seen_though_the_host_never_reads() -> None:
    """Sixty tool lists are more than any pipe holds."""
    process = subprocess.Popen([sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    asked = [HANDSHAKE, *({"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in range(60))]
    try:
        process.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in asked))
        process.stdin.close()
        began = time.monotonic()
        code = process.wait(WAIT_S)

        assert (code, time.monotonic() - began < EXIT_LIMIT_S + 1) == (0, True)
    finally:
        process.kill()
        assert process.stdout is not None
        process.stdout.close()


@posix_only
@pytest.mark.parametrize("asked", [{"method": "ping"}, {"method": "tools/list"}], ids=["short", "long"])
def test_an_end_is_seen_though_more_waits_than_there_is_room_for(asked: dict[str, str]) -> None:
    """A host that asks on and on and never reads: the server stops reading too, with some megabytes held, and ends with its input."""
    process = subprocess.Popen([sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    fd = process.stdin.fileno()
    os.set_blocking(fd, False)
    lines = b"".join(json.dumps({"jsonrpc": "2.0", "id": "x" * 900, **asked}).encode() + b"\n" for _ in range(100))
    sent = 0
    try:
        os.write(fd, json.dumps(HANDSHAKE).encode() + b"\n")
        while select.select([], [fd], [], 2.0)[1] and sent < 100_000_000:  # two seconds without room: it has stopped
            sent += os.write(fd, lines[sent % len(lines):])
        held_bytes = resident_bytes(process.pid)
        process.stdin.close()
        began = time.monotonic()
        code = process.wait(WAIT_S)

        assert (code, time.monotonic() - began < EXIT_LIMIT_S + 1) == (0, True)
        assert sent < 30_000_000
        assert held_bytes < 120 << 20
    finally:
        process.kill()
        assert process.stdout is not None
        process.stdout.close()


def resident_bytes(pid: int) -> int:
    """What a process holds in memory; 0 where this system does not tell it so."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def test_a_host_that_went_away_ends_the_server_quietly() -> None:
    """The output breaks while the input stays open, in the middle of a call; nothing is said on stderr."""
    reading, writing = os.pipe()
    process = subprocess.Popen([sys.executable, str(STUB)], stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    os.close(reading)
    host = Host(process)

    host.call("slow 30")
    host.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})

    assert process.wait(WAIT_S) == 0
    assert errors_of(host) == b""
    _close(process.stdin)
    _close(process.stderr)


@posix_only
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_at_once_and_quietly(sent: signal.Signals) -> None:
    with started() as host:
        host.call("slow 30")
        host.ping()
        host.process.send_signal(sent)

        assert (host.process.wait(WAIT_S), errors_of(host)) == (-sent, b"")


@posix_only
@pytest.mark.parametrize("closed", ["<&-", "2>&-", ">&-", "<&- 2>&- >&-"])
def test_a_descriptor_that_the_host_left_closed_harms_nothing(closed: str) -> None:
    """With stderr closed, nothing that prints may land in stdout's place."""
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "search_inside", "arguments": {"query": "noisy 10"}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})

    done = subprocess.run(["sh", "-c", f'"$0" "$1" {closed}', sys.executable, str(STUB)], input=request.encode(), timeout=WAIT_S,
                          capture_output=True, check=False)

    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ([1] if closed == "2>&-" else [])


@posix_only
def test_on_a_terminal_one_line_names_the_help() -> None:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, str(PROGRAM)], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(theirs)
    os.write(ours, b"\x04")  # end of input, as a person types it
    _, told = process.communicate(timeout=WAIT_S)
    os.close(ours)

    assert told == b"mcp-books reads protocol messages from a host on standard input; mcp-books --help lists its commands.\n"


# ---- the start ----------------------------------------------------------------------------------------------------------------

def modules_after(code: str) -> set[str]:
    """The names of all modules that are loaded in a fresh interpreter after this code."""
    done = subprocess.run([sys.executable, "-c", code + "\nimport sys\nprint(*sorted(sys.modules), file=sys.__stdout__)"], cwd=ROOT,
                          capture_output=True, text=True, check=True, timeout=WAIT_S)
    return set(done.stdout.split())


HEAVY = {"requests", "urllib3", "lxml", "jsonschema", "concurrent.futures", "logging", "email", "ssl", "socket", "http", "asyncio",
         "sources.contract", "sources.transport.flights", "sources.client", "difflib", "typing"}


def test_nothing_heavy_is_loaded_before_the_first_tool_list() -> None:
    """Neither by the import nor by the messages that every host sends first."""
    code = """
from mcp_books import Server, encode
from sources.settings import Settings
server = Server(Settings())
for method in ("initialize", "ping", "tools/list"):
    assert "result" in server.answer({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"protocolVersion": "2025-11-25"}})
"""

    assert modules_after(code) & HEAVY == set()
    assert {name for name in modules_after("import mcp_books") if name in HEAVY or name.startswith("sources.")} == set()


def test_what_a_call_needs_is_loaded_once_the_tool_list_is_out() -> None:
    code = """
from mcp_books import Server
from sources.settings import Settings
Server(Settings(state_dir=None)).warm()
"""

    assert {"requests", "lxml.etree", "jsonschema", "sources.client", "sources.telling.text_block"} <= modules_after(code)


def test_two_servers_run_side_by_side() -> None:
    """Some hosts probe in a second process with the same command line."""
    with started(PROGRAM) as one, started(PROGRAM) as other:
        assert [one.ping()["id"], other.ping()["id"]] == ["ping", "ping"]


def test_the_version_is_told_in_one_place() -> None:
    done = subprocess.run([sys.executable, str(PROGRAM), "--version"], capture_output=True, text=True, check=True, timeout=WAIT_S)

    assert done.stdout == f"mcp-books {mcp_books.__version__}\n"
    assert mcp_books.__version__ == VERSION


def test_the_client_can_be_imported_from_here() -> None:
    from sources.client import BooksClient

    assert mcp_books.BooksClient is BooksClient
    with pytest.raises(AttributeError, match="NoSuchClient"):
        _ = mcp_books.NoSuchClient


# ---- the official client -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client_lists_calls_cancels_and_closes(mode: str) -> None:
    """In both eras, where the package `mcp` is installed; a call given up by its own time limit leaves the session usable."""
    mcp = pytest.importorskip("mcp")
    if not hasattr(mcp, "Client"):
        pytest.skip("an older client, which knows the handshake alone")

    async def session() -> tuple[list[str], Any, Any, list[str]]:
        from mcp.client.stdio import stdio_client

        transport = stdio_client(mcp.StdioServerParameters(command=sys.executable, args=[str(STUB)], cwd=ROOT))
        async with mcp.Client(transport, mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            slow = asyncio.ensure_future(client.call_tool("search_inside", {"query": "slow 30"}))
            await asyncio.sleep(0.3)
            slow.cancel()
            failed = await client.call_tool("search_inside", {"query": "fail"})
            item = await client.read_resource("books://item/archive:x")
            prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
            return tools, failed, item, prompts

    tools, failed, item, prompts = asyncio.run(session())

    assert tools[:3] == ["search_inside", "search_items", "get_item"]
    assert (failed.is_error, failed.content[0].text) == (True, "network_error: The archive did not answer.")
    assert item.contents[0].text == "get_item: archive:x"
    assert prompts == ["trace_a_phrase", "editions_and_copies", "check_a_quotation", "what_may_i_reuse"]


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
@pytest.mark.skipif("MCP_NODE_DIR" not in os.environ, reason="MCP_NODE_DIR names no folder with @modelcontextprotocol/client")
def test_the_official_typescript_client_lists_calls_cancels_and_closes(mode: str) -> None:
    script = (ROOT / "tests" / "protocol" / "official_client.mjs").read_text(encoding="utf-8")

    done = subprocess.run(["node", "--input-type=module", "-e", script, "-", mode, sys.executable, str(STUB)], check=True, timeout=WAIT_S,
                          cwd=os.environ["MCP_NODE_DIR"], capture_output=True)

    met = json.loads(done.stdout)
    assert met.pop("tools")[:3] == ["search_inside", "search_items", "get_item"]
    assert met == {"cancelled": "aborted", "failed": [True, "network_error: The archive did not answer."], "item": "get_item: archive:x",
                   "prompts": ["trace_a_phrase", "editions_and_copies", "check_a_quotation", "what_may_i_reuse"], "closed": True}
