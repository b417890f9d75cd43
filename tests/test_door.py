"""The HTTP door: who is let in, how a message and its headers are held together, and the official client in both eras.

Most tests call the WSGI application as a server would; the last run it under waitress and gunicorn, on loopback.
"""
from __future__ import annotations

import asyncio
import base64
import http.client
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from wsgiref.validate import validator

import pytest
from stub_server import StubServer
from test_protocol import check

import mcp_books
from mcp_books import HANDSHAKE_REVISIONS, LINE_LIMIT_BYTES, META, SUPPORTED
from sources.door import Door
from sources.settings import Settings
from sources.shell.demo import SHELF

H1, H2, H3, H4 = HANDSHAKE_REVISIONS
M = mcp_books.STATELESS_REVISION
ROOT = Path(__file__).resolve().parent.parent
STATELESS_META = {META + "protocolVersion": M, META + "clientCapabilities": {}}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        assert self.headers["Content-Type"] == "application/json"
        return json.loads(self.body)

    @property
    def code(self) -> Any:
        return self.message["error"]["code"]


def environ_of(body: bytes, headers: dict[str, str], method: str = "POST") -> dict[str, Any]:
    told = {"Host": "localhost:8000", "Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    named = {name.upper().replace("-", "_"): value for name, value in told.items() if value is not None}
    plain = ("CONTENT_TYPE", "CONTENT_LENGTH")
    return {"REQUEST_METHOD": method, "SCRIPT_NAME": "", "PATH_INFO": "/mcp", "QUERY_STRING": "", "SERVER_NAME": "x", "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr, "wsgi.multithread": True, "wsgi.multiprocess": True, "wsgi.run_once": False,
            **{name if name in plain else f"HTTP_{name}": value for name, value in named.items()}}


def post(body: Any, headers: dict[str, Any] | None = None, *, method: str = "POST", server: Any = None, **settings: Any) -> Reply:
    """What comes of one request, as a WSGI server hands it over; its manners are checked by the standard library."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    told: list[Any] = []
    door = Door(Settings(**settings), (server or StubServer()).exchange, limit_bytes=LINE_LIMIT_BYTES)
    parts = validator(door)(environ_of(content, headers or {}, method), lambda *line: told.append(line))
    whole = b"".join(parts)
    parts.close()
    [(status, sent)] = told
    assert int(dict(sent)["Content-Length"]) == len(whole)
    return Reply(int(status.split()[0]), dict(sent), whole)


def message(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def stateless(method: str, params: Any = None) -> dict[str, Any]:
    return message(method, {**(params or {}), "_meta": STATELESS_META})


def headed(method: str, name: str | None = None, revision: str = M) -> dict[str, Any]:
    return {"MCP-Protocol-Version": revision, "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}


CALL = {"name": "search_inside", "arguments": {"query": "fog"}}
PING = message("ping")


# ---- who is let in -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:9000"])
def test_this_machine_is_let_in_by_any_of_its_names(host: str) -> None:
    assert post(PING, {"Host": host}).status == 200


@pytest.mark.parametrize("host", ["books.example.org", "localhost.example.org", "127.0.0.1.example.org", "", None, "evil@localhost", "localhost:evil", "[::2]"])
def test_another_host_name_is_not_served_where_none_was_set(host: str | None) -> None:
    """A page whose own name leads to this machine (DNS rebinding) names itself here."""
    refused = post(PING, {"Host": host})

    assert (refused.status, refused.body) == (421, b"This host name is not served here; BOOKS_HTTP_HOSTS lists those that are.\n")


def test_the_hosts_that_are_set_are_served_and_no_other() -> None:
    """With a port where one was set; this machine's own names only where they are among them."""
    hosts = ("books.example.org", "library.example.org:8443")

    served = {host: post(PING, {"Host": host}, http_hosts=hosts).status
              for host in ("books.example.org", "Books.example.org:443", "library.example.org:8443", "library.example.org", "localhost")}

    assert served == {"books.example.org": 200, "Books.example.org:443": 200, "library.example.org:8443": 200,
                      "library.example.org": 421, "localhost": 421}


@pytest.mark.parametrize(("origin", "status"), [
    (None, 200), ("http://localhost:5173", 200), ("https://127.0.0.1", 200), ("http://[::1]:80", 200), ("https://example.org", 403),
    ("null", 403), ("", 403), ("http://localhost.example.org", 403), ("http://localhost/path", 403), ("file://localhost", 403),
    ("http://[", 403), ("http://user@localhost", 403)])
def test_a_page_of_another_origin_is_not_answered(origin: str | None, status: int) -> None:
    """A request without the header is no browser's."""
    assert post(PING, {"Origin": origin}).status == status


def test_the_origins_that_are_set_are_answered_and_no_other() -> None:
    origins = ("https://reader.example.org",)

    answered = {origin: post(PING, {"Origin": origin}, http_origins=origins).status
                for origin in ("https://reader.example.org", "https://READER.example.org", "http://reader.example.org", "http://localhost")}

    assert answered == {"https://reader.example.org": 200, "https://READER.example.org": 200, "http://reader.example.org": 403,
                        "http://localhost": 403}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"])
def test_messages_are_posted(method: str) -> None:
    refused = post(b"", {"Content-Length": "0"}, method=method)

    assert (refused.status, refused.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(("kind", "status"), [
    ("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415), ("application/x-www-form-urlencoded", 415),
    ("application/jsonp", 415), (None, 415)])
def test_a_body_is_json_by_its_type(kind: str | None, status: int) -> None:
    """A page of a foreign origin may post the other kinds without asking the browser for leave."""
    assert post(PING, {"Content-Type": kind}).status == status


@pytest.mark.parametrize(("length", "status"), [
    (None, 411), ("", 411), ("-1", 411), ("+7", 411), ("1e3", 411), ("٣", 411), (str(LINE_LIMIT_BYTES + 1), 413), ("9" * 10, 413), ("9" * 5000, 411)])
def test_a_body_says_a_length_within_the_bound(length: str | None, status: int) -> None:
    environ = environ_of(b"{}", {"Content-Length": length} if length is not None else {"Content-Length": None})
    environ["wsgi.input"] = None  # nothing is read
    told: list[Any] = []

    Door(Settings(), StubServer().exchange, limit_bytes=LINE_LIMIT_BYTES)(environ, lambda *line: told.append(line))

    assert told[0][0].split()[0] == str(status)


def test_an_answer_is_json_that_no_proxy_keeps() -> None:
    answered = post(PING)

    assert answered.headers == {"Content-Length": str(len(answered.body)), "Cache-Control": "no-store", "Content-Type": "application/json"}


# ---- a message and its headers ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("sent", [
    {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "id": 4, "result": {}}])
@pytest.mark.parametrize("revision", [None, *HANDSHAKE_REVISIONS, M])
def test_a_notification_is_accepted_with_nothing(sent: Any, revision: str | None) -> None:
    accepted = post(sent, {"MCP-Protocol-Version": revision})

    assert (accepted.status, accepted.body) == (202, b"")


@pytest.mark.parametrize("revision", [None, *SUPPORTED])
def test_a_batch_is_refused_in_every_revision(revision: str | None) -> None:
    """Even in the one that has them: a hundred calls would hold one request for an hour."""
    refused = post([PING, PING], {"MCP-Protocol-Version": revision})

    assert (refused.status, refused.code) == (400, -32600)
    assert refused.message["error"]["message"] == "Invalid request: only revision 2025-03-26 has batches, and not over HTTP."


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"NaN"])
def test_a_body_that_cannot_be_read_is_a_parse_error(body: bytes) -> None:
    refused = post(body, {"MCP-Protocol-Version": H4})

    assert (refused.status, refused.message) == (400, {"jsonrpc": "2.0", "error": {
        "code": -32700, "message": "Parse error: the line is not one JSON message in UTF-8."}})


def test_a_handshake_is_answered_and_nothing_of_it_is_kept() -> None:
    """No session id; the next request names its revision in a header."""
    server = StubServer()
    greeted = post(message("initialize", {"protocolVersion": H4, "capabilities": {}}), server=server)

    listed = {revision: post(message("tools/list"), {"MCP-Protocol-Version": revision}, server=server) for revision in HANDSHAKE_REVISIONS}

    assert (greeted.status, greeted.message["result"]["protocolVersion"]) == (200, H4)
    assert server.agreed is None
    assert "Mcp-Session-Id" not in greeted.headers
    fields = {revision: set(reply.message["result"]["tools"][0]) for revision, reply in listed.items()}
    base = {"name", "description", "inputSchema"}
    whole = base | {"title", "annotations", "outputSchema"}
    assert fields == {H1: base, H2: base | {"annotations"}, H3: whole, H4: whole}


def test_a_request_without_a_revision_is_taken_for_the_last_that_had_no_header() -> None:
    """2025-03-26 (specification, basic/transports)."""
    tool = post(message("tools/list")).message["result"]["tools"][0]

    assert set(tool) == {"name", "description", "inputSchema", "annotations"}


@pytest.mark.parametrize("sent", [PING, message("tools/list"), {"jsonrpc": "2.0", "method": "notifications/initialized"}])
def test_an_unknown_revision_in_the_header_is_refused_with_those_that_are_known(sent: Any) -> None:
    refused = post(sent, {"MCP-Protocol-Version": "2027-01-01"})

    assert (refused.status, refused.code) == (400, -32022)
    assert refused.message["error"]["data"] == {"supported": [M, H4, H3, H2, H1], "requested": "2027-01-01"}


@pytest.mark.parametrize(("sent", "headers"), [
    (stateless("server/discover"), headed("server/discover")), (stateless("tools/list"), headed("tools/list")),
    (stateless("tools/call", CALL), headed("tools/call", "search_inside")),
    (stateless("resources/read", {"uri": "books://item/archive:x"}), headed("resources/read", "books://item/archive:x")),
    (stateless("resources/read", {"uri": "books://item/ä"}), headed("resources/read", "=?base64?Ym9va3M6Ly9pdGVtL8Okwg==?=".replace(
        "Ym9va3M6Ly9pdGVtL8Okwg==", base64.b64encode("books://item/ä".encode()).decode()))),
    (stateless("prompts/get", {"name": "trace_a_phrase", "arguments": {"phrase": "fog"}}), headed("prompts/get", "trace_a_phrase"))])
def test_a_stateless_request_is_answered_when_its_headers_say_what_its_body_says(sent: Any, headers: Any) -> None:
    answered = post(sent, headers)

    assert (answered.status, answered.message["result"]["resultType"]) == (200, "complete")


@pytest.mark.parametrize(("changed", "named"), [
    ({"MCP-Protocol-Version": None}, "MCP-Protocol-Version"), ({"MCP-Protocol-Version": H4}, "MCP-Protocol-Version"),
    ({"MCP-Protocol-Version": "2027-01-01"}, "MCP-Protocol-Version"), ({"MCP-Protocol-Version": f"{M}, {M}"}, "MCP-Protocol-Version"),
    ({"Mcp-Method": None}, "Mcp-Method"), ({"Mcp-Method": "Tools/Call"}, "Mcp-Method"), ({"Mcp-Method": "tools/list"}, "Mcp-Method"),
    ({"Mcp-Name": None}, "Mcp-Name"), ({"Mcp-Name": "get_item"}, "Mcp-Name"), ({"Mcp-Name": "=?base64?!?="}, "Mcp-Name"),
    ({"Mcp-Name": "=?base64?/w==?="}, "Mcp-Name")])
def test_a_header_that_is_not_what_the_body_says_is_a_mismatch(changed: dict[str, Any], named: str) -> None:
    """Who routes by the header and who answers by the body would mean two messages."""
    server = StubServer()

    refused = post(stateless("tools/call", CALL), {**headed("tools/call", "search_inside"), **changed}, server=server)

    assert (refused.status, refused.message) == (400, {"jsonrpc": "2.0", "id": 1, "error": {
        "code": -32020, "message": f"Header mismatch: {named} is not what the body says."}})
    assert server.stub.asked == []


@pytest.mark.parametrize(("sent", "headers", "wanted"), [
    (stateless("no/such"), headed("no/such"), (404, -32601)), (stateless("ping"), headed("ping"), (404, -32601)),
    (stateless("tools/call", {"name": "no"}), headed("tools/call", "no"), (400, -32602)),
    (message("tools/list", {"_meta": {META + "protocolVersion": M}}), headed("tools/list"), (400, -32602)),
    (message("tools/list", {"_meta": {META + "protocolVersion": "2027-01-01"}}), headed("tools/list", revision="2027-01-01"), (400, -32022)),
    (message("tools/list"), {"MCP-Protocol-Version": M}, (400, -32602)),
    (message("no/such"), {"MCP-Protocol-Version": H4}, (200, -32601)),
    (message("tools/call", {"name": "no"}), {"MCP-Protocol-Version": H4}, (200, -32602)),
    ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"MCP-Protocol-Version": H4}, (400, -32600))])
def test_an_error_has_the_status_that_its_revision_wants(sent: Any, headers: Any, wanted: Any) -> None:
    """404 is a lost session in the handshake revisions, and an unknown method in the stateless one."""
    refused = post(sent, headers)

    assert (refused.status, refused.code) == wanted


@pytest.mark.parametrize(("query", "wanted"), [("bug", -32603), ("nan", -32603)])
def test_a_fault_of_the_program_is_answered_in_the_protocol(query: str, wanted: int, capsys: pytest.CaptureFixture[str]) -> None:
    refused = post(message("tools/call", {"name": "search_inside", "arguments": {"query": query}}), {"MCP-Protocol-Version": H4})

    assert (refused.status, refused.code, refused.message["id"]) == (200, wanted, 1)


def test_a_stateless_client_that_shows_views_is_told_of_them() -> None:
    capabilities = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    meta = {META + "protocolVersion": M, META + "clientCapabilities": capabilities}

    tools = post(message("tools/list", {"_meta": meta}), headed("tools/list")).message["result"]["tools"]

    assert {tool["_meta"]["ui"]["resourceUri"] for tool in tools} == {"ui://books/answer"}


SHAPED = {"ping": None, "tools/list": None, "tools/call": CALL, "resources/list": None, "resources/templates/list": None,
          "resources/read": {"uri": "books://archives"}, "prompts/list": None,
          "prompts/get": {"name": "trace_a_phrase", "arguments": {"phrase": "a wet fog"}},
          "completion/complete": {"ref": {"type": "ref/prompt", "name": "trace_a_phrase"}, "argument": {"name": "phrase", "value": ""}}}


@pytest.mark.parametrize("method", SHAPED)
@pytest.mark.parametrize("revision", SUPPORTED)
def test_each_revision_is_answered_over_http_in_its_own_shape(revision: str, method: str) -> None:
    """By the schemas of tests/protocol, to which the pipe is held too."""
    params = SHAPED[method]
    name = params and (params.get("name") or params.get("uri"))
    sent = stateless(method, params) if revision == M else message(method, params)

    reply = post(sent, headed(method, name, revision))

    assert reply.status == (404 if (revision, method) == (M, "ping") else 200)
    check(reply.message, method, revision)


# ---- real servers, and the official client ---------------------------------------------------------------------------------

PROGRAMS = {
    "waitress": [sys.executable, "-c", "import socket, sys, waitress, mcp_books; "
                 "waitress.serve(mcp_books.application, sockets=[socket.socket(fileno=int(sys.argv[1]))], threads=8)", "{fd}"],
    "gunicorn": [sys.executable, "-m", "gunicorn", "--workers", "2", "--threads", "4", "--bind", "fd://{fd}", "mcp_books:application"]}
posix_only = pytest.mark.skipif(os.name != "posix", reason="a server is given its socket as POSIX does it")


@contextmanager
def carried(program: str) -> Iterator[int]:
    """The sample shelf behind a real server, which is given a socket that listens already: the port."""
    pytest.importorskip(program)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.set_inheritable(True)
        fd = listening.fileno()
        environ = {**os.environ, "BOOKS_REPLAY_DIR": str(SHELF), "BOOKS_STATE_DIR": "off", "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen([part.format(fd=fd) for part in PROGRAMS[program]], cwd=ROOT, env=environ, pass_fds=(fd,),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield listening.getsockname()[1]
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="module", params=PROGRAMS)
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    with carried(request.param) as number:
        yield number


@posix_only
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client_asks_over_http_in_both_eras(port: int, mode: str) -> None:
    """Eight questions at once, which two workers share; what each says is what the shelf holds."""
    mcp = pytest.importorskip("mcp")
    if not hasattr(mcp, "Client"):
        pytest.skip("an older client, which knows the handshake alone")
    from mcp import types

    async def session() -> tuple[Any, ...]:
        async with mcp.Client(f"http://127.0.0.1:{port}/mcp", mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = await asyncio.gather(*(client.call_tool("search_inside", {"query": "a wet fog"}) for _ in range(8)))
            refused = await client.call_tool("search_inside", {"nonsense": 1})
            item = await client.read_resource("books://item/archive:capemarrowlog00fenw")
            prompt = await client.get_prompt("trace_a_phrase", {"phrase": "a wet fog"})
            template = types.ResourceTemplateReference(type="ref/resource", uri="books://item/{+identifier}")
            completed = await client.complete(template, {"name": "identifier", "value": "gal"})
            return tools, found, refused, item, prompt, completed

    tools, found, refused, item, prompt, completed = asyncio.run(session())

    assert tools[:3] == ["search_inside", "search_items", "get_item"]
    assert [len(answer.structured_content["hits"]) for answer in found] == [found[0].structured_content["hit_count"]] * 8
    assert refused.is_error is True
    assert [content.mime_type for content in item.contents] == ["text/plain", "application/json"]
    assert "a wet fog" in prompt.messages[0].content.text
    assert completed.completion.values == ["gallica:"]


@posix_only
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
@pytest.mark.skipif("MCP_NODE_DIR" not in os.environ, reason="MCP_NODE_DIR names no folder with @modelcontextprotocol/client")
def test_the_official_typescript_client_asks_over_http_in_both_eras(port: int, mode: str) -> None:
    script = (ROOT / "tests" / "protocol" / "official_http.mjs").read_text(encoding="utf-8")

    done = subprocess.run(["node", "--input-type=module", "-e", script, "-", mode, f"http://127.0.0.1:{port}/mcp"], check=True, timeout=60,
                          cwd=os.environ["MCP_NODE_DIR"], capture_output=True)

    met = json.loads(done.stdout)
    assert met.pop("tools")[:3] == ["search_inside", "search_items", "get_item"]
    assert len(set(met.pop("hits"))) == 1
    assert met == {"refused": True, "item": ["text/plain", "application/json"], "completion": ["gallica:"]}


def raw(port: int, body: Any, headers: dict[str, Any], method: str = "POST") -> tuple[int, bytes]:
    """The status and body of an answer; 413 too where the server hangs up on a body that it was never going to read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        told = {"Content-Type": "application/json", "MCP-Protocol-Version": H4, **headers}
        connection.request(method, "/mcp", body, told, encode_chunked="Transfer-Encoding" in told)
        answered = connection.getresponse()
        return answered.status, answered.read()
    except (BrokenPipeError, ConnectionResetError):
        return (413, b"") if len(body) > LINE_LIMIT_BYTES else (0, b"")
    finally:
        connection.close()


@posix_only
def test_a_real_server_lets_in_what_the_door_lets_in(port: int) -> None:
    ping = json.dumps(PING).encode()

    statuses = {
        "answered": raw(port, ping, {})[0],
        "foreign origin": raw(port, ping, {"Origin": "https://example.org"})[0],
        "foreign host": raw(port, ping, {"Host": "books.example.org"})[0],
        "too large": raw(port, b" " * 5_000_000, {})[0],
        "another name in the header": raw(port, json.dumps(stateless("tools/call", CALL)).encode(), headed("tools/call", "get_item"))[0],
        "looked at": raw(port, b"", {}, "GET")[0],
        "batch": raw(port, b"[" + ping + b"]", {"MCP-Protocol-Version": H2})[0],
        "notification": raw(port, b'{"jsonrpc":"2.0","method":"notifications/initialized"}', {}),
        "in pieces, of no stated length": raw(port, iter([ping]), {"Transfer-Encoding": "chunked"})[0] in (200, 411)}

    assert statuses == {"answered": 200, "foreign origin": 403, "foreign host": 421, "too large": 413, "another name in the header": 400,
                        "looked at": 405, "batch": 400, "notification": (202, b""), "in pieces, of no stated length": True}
