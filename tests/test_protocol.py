"""Messages in, messages out: every method in every revision of the protocol, checked whole against schemas of our own.

`tests/protocol/<revision>.json` says what a revision changes in the one before it. With MCP_SCHEMA_DIR set to a folder of the
specification's own `<revision>.json` files, every message is held to those as well.
"""
from __future__ import annotations

import functools
import io
import json
import os
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from stub_server import StubClient, StubServer

from mcp_books import (
    CALLS_AT_ONCE,
    DESCRIPTION,
    HANDSHAKE_REVISIONS,
    LINE_LIMIT_BYTES,
    META,
    METHODS,
    PROGRESS_PAUSE_S,
    STATELESS_REVISION,
    SUPPORTED,
    Connection,
    Server,
    __version__,
    encode,
)
from sources.registry import ENTRY_OF
from sources.settings import PROJECT_URL, Settings
from sources.stdio import read_lines
from sources.telling.view import EXTENSION, MIME_TYPE, PICTURES, URI, page

H1, H2, H3, H4 = HANDSHAKE_REVISIONS
M = STATELESS_REVISION
FOLDER = Path(__file__).parent / "protocol"
FULL_NAMES = {  # the specification's names for what these methods return
    "initialize": "InitializeResult", "server/discover": "DiscoverResult", "ping": "EmptyResult", "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult", "resources/list": "ListResourcesResult", "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult", "prompts/list": "ListPromptsResult", "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult"}
STATELESS_META = {META + "protocolVersion": M, META + "clientCapabilities": {}}
QUESTION = {"name": "search_inside", "arguments": {"query": "a wet fog"}}


# ---- what is asked, and how an answer is checked ---------------------------------------------------------------------

def merged(old: Any, new: Any) -> Any:
    """Objects merge, anything else is replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    return new


@functools.cache
def compact_schemas(revision: str) -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    for step in (*HANDSHAKE_REVISIONS, STATELESS_REVISION):
        schemas = merged(schemas, json.loads((FOLDER / f"{step}.json").read_text()))
        if step == revision:
            break
    return schemas


@functools.cache
def full_validator(revision: str, name: str) -> Draft202012Validator | None:
    """The specification's own definition; None where its schema files were not given."""
    folder = os.environ.get("MCP_SCHEMA_DIR")
    if not folder:
        return None
    whole = json.loads((Path(folder) / f"{revision}.json").read_text(encoding="utf-8"))
    key = "$defs" if "$defs" in whole else "definitions"
    return Draft202012Validator({"$ref": f"#/{key}/{name}", key: whole[key]}) if name in whole[key] else None


def check(reply: Any, method: str, revision: str) -> Any:
    """The reply, once it is seen to be what this revision allows for this method."""
    json.loads(encode(reply))
    schemas = compact_schemas(revision)
    if "error" in reply:
        Draft202012Validator(schemas["error"]).validate(reply)
        full = full_validator(revision, "JSONRPCError") or full_validator(revision, "JSONRPCErrorResponse")
        if full and reply.get("id", "") is not None:  # these revisions have no form for an unreadable id
            full.validate(reply)
        return reply
    assert set(reply) == {"jsonrpc", "id", "result"}
    assert reply["jsonrpc"] == "2.0"
    Draft202012Validator(schemas[method]).validate(reply["result"])
    full = full_validator(revision, FULL_NAMES[method])
    if full:
        full.validate(reply["result"])
    return reply


def message(method: str, params: Any = None, revision: str = H4, id: Any = 1) -> dict[str, Any]:
    if revision == M:
        params = {**(params or {}), "_meta": {**STATELESS_META, **(params or {}).get("_meta", {})}}
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def server_at(revision: str | None, server: Server | None = None) -> Server:
    """A server after the handshake for a revision; before any for the stateless one and for None."""
    server = server or StubServer()
    if revision in HANDSHAKE_REVISIONS:
        server.answer(message("initialize", {"protocolVersion": revision}))
    return server


def ask(method: str, params: Any = None, revision: str = H4, *, server: Server | None = None, id: Any = 1) -> Any:
    reply = (server or server_at(revision)).answer(message(method, params, revision, id))
    return check(reply, method, revision)


def code(reply: Any) -> int:
    found: int = reply["error"]["code"]
    return found


# ---- every method in every revision ------------------------------------------------------------------------------------

EXAMPLES = {
    "tools/list": {}, "tools/call": QUESTION, "resources/list": {}, "resources/templates/list": {},
    "resources/read": {"uri": "books://item/archive:journalofexpedit00ford"}, "prompts/list": {},
    "prompts/get": {"name": "trace_a_phrase", "arguments": {"phrase": "a wet fog"}},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "trace_a_phrase"}, "argument": {"name": "language", "value": "fr"}}}


@pytest.mark.parametrize("revision", SUPPORTED)
@pytest.mark.parametrize("method", EXAMPLES)
def test_every_method_answers_in_the_form_of_its_revision(method: str, revision: str) -> None:
    reply = ask(method, EXAMPLES[method], revision, id="a")

    assert "result" in reply
    assert reply["id"] == "a"


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_handshake_agrees_on_the_revision_that_was_asked(revision: str) -> None:
    reply = check(StubServer().answer(message("initialize", {"protocolVersion": revision})), "initialize", revision)

    assert reply["result"]["protocolVersion"] == revision


@pytest.mark.parametrize("asked", ["2023-01-01", "2027-01-01", STATELESS_REVISION, "", "latest"])
def test_a_handshake_for_an_unknown_revision_agrees_on_the_newest(asked: str) -> None:
    """Never an error, never an echo, and never the stateless revision, which has no handshake."""
    reply = StubServer().answer(message("initialize", {"protocolVersion": asked}))

    assert check(reply, "initialize", H4)["result"]["protocolVersion"] == H4


@pytest.mark.parametrize("params", [None, {}, {"protocolVersion": 1}, {"protocolVersion": None}])
def test_a_handshake_without_a_revision_is_refused_and_settles_nothing(params: Any) -> None:
    server = StubServer()

    assert code(server.answer(message("initialize", params))) == -32602
    assert server.agreed is None


def test_a_second_handshake_is_answered_again() -> None:
    server = server_at(H4)

    reply = server.answer(message("initialize", {"protocolVersion": H1}))

    assert reply
    assert reply["result"]["protocolVersion"] == H1
    assert server.agreed == H1


def test_a_handshake_that_names_the_stateless_revision_in_meta_is_still_a_handshake() -> None:
    reply = StubServer().answer(message("initialize", {"protocolVersion": H3, "_meta": STATELESS_META}))

    assert check(reply, "initialize", H3)["result"]["protocolVersion"] == H3


def test_discover_names_the_stateless_revision_alone() -> None:
    assert ask("server/discover", {}, M)["result"]["supportedVersions"] == [M]


@pytest.mark.parametrize(("method", "revision", "wanted"), [
    *[("server/discover", revision, -32601) for revision in HANDSHAKE_REVISIONS], ("ping", M, -32601),
    *[(method, revision, -32601) for revision in SUPPORTED
      for method in ("logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list", "subscriptions/listen",
                     "roots/list", "notifications/cancelled", "", "no such method")]])
def test_a_method_that_a_revision_lacks_or_that_was_not_declared_is_not_found(method: str, revision: str, wanted: int) -> None:
    assert code(ask(method, {}, revision)) == wanted


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_ping_is_answered_with_nothing_else(revision: str) -> None:
    assert ask("ping", None, revision)["result"] == {}


def test_the_tool_list_grows_with_the_revisions() -> None:
    """Annotations since the second, titles and output schemas since the third (specification, server/tools)."""
    listed = {revision: ask("tools/list", {}, revision)["result"]["tools"] for revision in SUPPORTED}

    base = {"name", "description", "inputSchema"}
    assert {revision: set(tools[0]) for revision, tools in listed.items()} == {
        H1: base, H2: base | {"annotations"}, **{later: base | {"annotations", "title", "outputSchema"} for later in (H3, H4, M)}}
    assert all(tool["annotations"]["readOnlyHint"] is True for tool in listed[H4])


def test_structured_content_comes_only_where_the_revision_has_it() -> None:
    held = {revision: "structuredContent" in ask("tools/call", QUESTION, revision)["result"] for revision in SUPPORTED}

    assert held == {H1: False, H2: False, H3: True, H4: True, M: True}


@pytest.mark.parametrize("revision", SUPPORTED)
def test_only_the_tools_that_the_setting_names_are_offered(revision: str) -> None:
    server = server_at(revision, StubServer(Settings(tools=("search_inside",))))

    assert [tool["name"] for tool in ask("tools/list", {}, revision, server=server)["result"]["tools"]] == ["search_inside"]
    assert code(ask("tools/call", {"name": "get_item", "arguments": {}}, revision, server=server)) == -32602
    assert ask("resources/templates/list", {}, revision, server=server)["result"]["resourceTemplates"] == []
    assert ask("prompts/list", {}, revision, server=server)["result"]["prompts"] == []
    assert "error" in ask("resources/read", {"uri": "books://item/archive:x"}, revision, server=server)
    assert [entry["uri"] for entry in ask("resources/list", {}, revision, server=server)["result"]["resources"]] == ["books://archives"]
    assert ask("resources/read", {"uri": "books://log"}, revision, server=server)["error"]["code"] == (-32602 if revision == M else -32002)


# ---- which era --------------------------------------------------------------------------------------------------------

def test_before_any_handshake_only_a_ping_is_answered() -> None:
    server = StubServer()

    assert server.answer(message("ping")) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert [code(server.answer(message(method))) for method in ("tools/list", "server/discover", "no such method")] == [-32602] * 3


def test_both_eras_are_answered_by_one_process() -> None:
    """Each request by its own content: a stateless one between two of a handshake changes neither."""
    server = server_at(H1)

    forms = [set(ask("tools/list", {}, revision, server=server)["result"]) for revision in (H1, M, H1)]

    assert forms == [{"tools"}, {"tools", "resultType", "_meta", "ttlMs", "cacheScope"}, {"tools"}]


@pytest.mark.parametrize(("meta", "wanted"), [
    ({META + "protocolVersion": 5}, -32602), ({META + "protocolVersion": None}, -32602),
    ({META + "protocolVersion": "2027-01-01"}, -32022), ({META + "protocolVersion": H4, META + "clientCapabilities": {}}, -32022),
    ({META + "protocolVersion": M}, -32602), ({META + "protocolVersion": M, META + "clientCapabilities": []}, -32602),
    ({**STATELESS_META, META + "logLevel": "loud"}, -32602), ({**STATELESS_META, META + "logLevel": ["debug"]}, -32602)])
def test_the_stateless_keys_are_checked_before_the_method(meta: dict[str, Any], wanted: int) -> None:
    reply = StubServer().answer({"jsonrpc": "2.0", "id": 1, "method": "no such method", "params": {"_meta": meta}})

    assert code(check(reply, "", M)) == wanted


def test_an_unsupported_revision_is_told_every_supported_one_newest_first() -> None:
    reply = StubServer().answer(message("tools/list", {"_meta": {META + "protocolVersion": "2099-01-01"}}, H4))

    assert reply
    assert reply["error"]["data"] == {"supported": [M, H4, H3, H2, H1], "requested": "2099-01-01"}
    full = full_validator(M, "UnsupportedProtocolVersionError")
    if full:
        full.validate(reply)


def test_unknown_members_and_keys_are_ignored() -> None:
    meta = {"traceparent": "00-1", "vendor.example/key": [1], META + "clientInfo": 7, META + "logLevel": "debug"}

    reply = ask("tools/list", {"_meta": meta, "more": 1}, M)

    assert "result" in reply


# ---- envelopes ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("id", [0, 1, -1, "", "1", "щ\ud800", 10**30, "x" * 1000])
def test_an_id_is_echoed_exactly(id: Any) -> None:
    reply = ask("ping", id=id)

    assert json.loads(encode(reply))["id"] == id
    assert type(reply["id"]) is type(id)


@pytest.mark.parametrize("id", [None, True, False, 1.0, 1.5, [], {}, [1]])
@pytest.mark.parametrize(("revision", "named"), [(None, False), (H1, True), (H2, True), (H3, True), (H4, False), (M, False)])
def test_an_id_that_is_no_string_or_whole_number_is_refused(id: Any, revision: str | None, named: bool) -> None:
    """The member is null where the revision wants one, and left out where it may be, and before any handshake."""
    reply = server_at(revision).answer(message("ping", None, revision or H4, id))

    assert reply
    assert code(reply) == -32600
    assert reply.get("id", "left out") == (None if named else "left out")


def test_a_stateless_request_without_a_readable_id_is_refused_in_its_own_form() -> None:
    """The member is left out for it even where a handshake settled a revision that wants null."""
    reply = server_at(H1).answer(message("tools/list", {}, M, None))

    assert reply
    assert set(reply) == {"jsonrpc", "error"}


@pytest.mark.parametrize(("sent", "id"), [
    ({"jsonrpc": "2.0", "id": 7}, 7), ({"jsonrpc": "2.0", "id": 7, "method": 5}, 7), ({"jsonrpc": "2.0", "id": 7, "method": None}, 7),
    ({"jsonrpc": "1.0", "id": 7, "method": "ping"}, 7), ({"id": 7, "method": "ping"}, 7), ({}, None), (1, None), ("ping", None),
    (None, None), (True, None), ([], None), ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], None)])
def test_json_that_is_no_request_is_refused_with_its_id_where_one_can_be_read(sent: Any, id: Any) -> None:
    reply = server_at(H4).answer(sent)

    assert reply
    assert code(check(reply, "", H4)) == -32600
    assert reply.get("id") == id


@pytest.mark.parametrize("sent", [
    {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "tools/list"},
    {"jsonrpc": "2.0", "method": "no such method", "params": 5}, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]},
    {"jsonrpc": "2.0", "method": "initialize", "params": {"protocolVersion": H1}},
    {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "no"}}, {"result": None}])
def test_notifications_and_answers_that_nobody_asked_for_are_never_answered(sent: Any) -> None:
    server = server_at(H4)

    assert server.answer(sent) is None
    assert server.agreed == H4


@pytest.mark.parametrize("params", [[], [1], "x", 5, True, {"_meta": 5}, {"_meta": []}])
def test_params_are_an_object(params: Any) -> None:
    assert code(server_at(H4).answer({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})) == -32602


@pytest.mark.parametrize("params", [{}, None, {"cursor": None}, {"_meta": None}])
def test_null_is_read_as_absent(params: Any) -> None:
    reply = server_at(H4).answer({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})

    assert reply
    assert "result" in reply


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
@pytest.mark.parametrize("cursor", ["next", "", 5])
def test_a_cursor_that_was_never_handed_out_is_refused(method: str, cursor: Any) -> None:
    assert code(ask(method, {"cursor": cursor})) == -32602


def test_a_known_id_may_come_again() -> None:
    server = server_at(H4)

    assert [ask("ping", server=server, id=5)["id"] for _ in range(2)] == [5, 5]


# ---- tools --------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("revision", SUPPORTED)
@pytest.mark.parametrize("params", [
    {}, {"name": 5}, {"name": None}, {"name": "no_such_tool"}, {"name": "search_inside\n"}, {"name": "search_inside", "arguments": []},
    {"name": "search_inside", "arguments": "query"}])
def test_a_call_that_names_no_tool_is_a_protocol_error(params: Any, revision: str) -> None:
    assert code(ask("tools/call", params, revision)) == -32602


@pytest.mark.parametrize("revision", SUPPORTED)
@pytest.mark.parametrize("query", ["refuse", "fail"])
def test_a_tool_that_refuses_or_fails_answers_with_a_result_marked_as_an_error(query: str, revision: str) -> None:
    """No structured content beside it, so that a host that checks it against the output schema still shows the reason."""
    reply = ask("tools/call", {"name": "search_inside", "arguments": {"query": query}}, revision)

    said = {"refuse": "invalid_input: limit is no number.", "fail": "network_error: The archive did not answer."}[query]
    wanted = {"content": [{"type": "text", "text": said}], "isError": True}
    assert {key: value for key, value in reply["result"].items() if key in ("content", "isError", "structuredContent")} == wanted


REFUSED = {"code": "invalid_input", "reason": "invalid_input", "message": "limit is no number.",
           "hint": "Change the named argument and ask again.", "retryable": False, "retry_after_s": None, "reports": []}
SILENT = {"code": "network_error", "reason": "network_error", "message": "The archive did not answer.",
          "hint": "Ask again in a minute; nothing was learnt about what the archive holds.", "retryable": True, "retry_after_s": 60,
          "reports": []}
ALL_SILENT = {
    "code": "timeout", "reason": "timeout", "message": "None of the archives asked could answer; this says nothing about what they hold.",
    "hint": "Each archive's own reason says whether asking again helps.", "retryable": True, "retry_after_s": None, "reports": [
        {"source": "archive", "name": "the Archive", "status": "failed", "stage": "search",
         "error": {"code": "timeout", "message": "Silent.", "hint": "Ask later."}}]}


@pytest.mark.parametrize("revision", SUPPORTED)
@pytest.mark.parametrize(("query", "wanted"), [("refuse", REFUSED), ("fail", SILENT), ("all", ALL_SILENT)])
def test_an_error_says_its_reason_to_programs_beside_the_words_for_a_model(query: str, wanted: Any, revision: str) -> None:
    reply = ask("tools/call", {"name": "search_inside", "arguments": {"query": query}}, revision)

    assert reply["result"]["_meta"]["mcp-books/error"] == wanted


@pytest.mark.parametrize("revision", SUPPORTED)
def test_a_resource_that_could_not_be_read_says_its_reason_to_programs(revision: str) -> None:
    reply = ask("resources/read", {"uri": "books://item/fail"}, revision)

    assert reply["error"]["data"] == {"uri": "books://item/fail", **SILENT}


def test_the_server_says_who_it_is_alike_in_both_eras() -> None:
    """Title since the third revision, description and address since the fourth; no address where the owner has set none."""
    said = {revision: ask("initialize", {"protocolVersion": revision}, revision)["result"]["serverInfo"] for revision in HANDSHAKE_REVISIONS}
    said[M] = ask("tools/list", {}, M)["result"]["_meta"][META + "serverInfo"]

    base = {"name": "mcp-books", "version": __version__}
    address = {"websiteUrl": PROJECT_URL} if PROJECT_URL else {}
    whole = {**base, "title": "Books", "description": DESCRIPTION, **address}
    assert said == {H1: base, H2: base, H3: {**base, "title": "Books"}, H4: whole, M: whole}


@pytest.mark.parametrize("arguments", [None, {}])
def test_arguments_left_out_or_null_are_none(arguments: Any) -> None:
    server = StubServer()

    ask("tools/call", {"name": "search_inside", "arguments": arguments}, server=server_at(H4, server))
    ask("tools/call", {"name": "search_inside"}, server=server_at(H4, server))

    assert server.stub.asked == [("search_inside", {})] * 2


def test_a_fault_of_the_program_is_an_internal_error_that_tells_no_path(capsys: pytest.CaptureFixture[str]) -> None:
    reply = ask("tools/call", {"name": "search_inside", "arguments": {"query": "bug"}})

    assert reply["error"] == {"code": -32603, "message": "Internal error: a fault in this server, not in the request."}
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_silent_server_keeps_its_faults_to_itself(capsys: pytest.CaptureFixture[str]) -> None:
    server = server_at(H4, StubServer(Settings(log_level="silent")))

    ask("tools/call", {"name": "search_inside", "arguments": {"query": "bug"}}, server=server)

    assert capsys.readouterr().err == ""


# ---- views, for the clients that show them ------------------------------------------------------------------------------------

VIEWS = {"extensions": {EXTENSION: {"mimeTypes": [MIME_TYPE]}}}


def viewing(revision: str, method: str, params: Any = None, *, capabilities: Any = VIEWS) -> Any:
    """What a client that says these capabilities of itself is answered, seen to be what the specification allows."""
    server = StubServer()
    if revision == M:
        params = {**(params or {}), "_meta": {META + "clientCapabilities": capabilities}}
    else:
        server.answer(message("initialize", {"protocolVersion": revision, "capabilities": capabilities}))
    reply: Any = server.answer(message(method, params, revision))
    full = full_validator(revision, FULL_NAMES[method])
    if full and "result" in reply:
        full.validate(reply["result"])
    return reply


@pytest.mark.parametrize("revision", SUPPORTED)
def test_every_tool_names_its_view_to_a_client_that_shows_views(revision: str) -> None:
    tools = viewing(revision, "tools/list")["result"]["tools"]

    assert [tool.pop("_meta") for tool in tools] == [{"ui": {"resourceUri": "ui://books/answer"}}] * len(tools)
    assert tools == ask("tools/list", {}, revision)["result"]["tools"]


@pytest.mark.parametrize("revision", SUPPORTED)
def test_the_view_is_a_page_that_may_load_the_archives_pictures_alone(revision: str) -> None:
    listed = viewing(revision, "resources/list")["result"]["resources"]
    [view] = viewing(revision, "resources/read", {"uri": URI})["result"]["contents"]

    assert [(entry["uri"], entry["mimeType"]) for entry in listed][1:] == [("books://log", "text/plain"), (URI, "text/html;profile=mcp-app")]
    assert view == {"uri": "ui://books/answer", "mimeType": "text/html;profile=mcp-app", "text": page(),
                    "_meta": {"ui": {"csp": {"resourceDomains": list(PICTURES)}}}}


@pytest.mark.parametrize("capabilities", [
    {}, None, {"extensions": None}, {"extensions": [EXTENSION]}, {"extensions": {EXTENSION: None}}, {"extensions": {EXTENSION: {}}},
    {"extensions": {EXTENSION: {"mimeTypes": MIME_TYPE}}}, {"extensions": {EXTENSION: {"mimeTypes": ["text/html"]}}},
    {"extensions": {"vendor.example/ui": {"mimeTypes": [MIME_TYPE]}}}, {"experimental": VIEWS["extensions"]}])
@pytest.mark.parametrize("revision", SUPPORTED)
def test_a_client_that_declares_no_views_is_answered_byte_for_byte_as_ever(revision: str, capabilities: Any) -> None:
    if revision == M and capabilities is None:
        capabilities = {}
    lists = [encode(viewing(revision, method, capabilities=capabilities)) for method in ("tools/list", "resources/list")]
    read = viewing(revision, "resources/read", {"uri": URI}, capabilities=capabilities)

    assert lists == [encode(ask(method, {}, revision)) for method in ("tools/list", "resources/list")]
    assert read == ask("resources/read", {"uri": "ui://books/other"}, revision) | {"error": {**read["error"], "data": {"uri": URI}}}
    assert read["error"]["message"] == "Resource not found."


def test_a_server_says_that_it_has_views_only_where_they_are_asked_for() -> None:
    discovered = viewing(M, "server/discover")["result"]["capabilities"]
    greeted = StubServer().answer(message("initialize", {"protocolVersion": H4, "capabilities": VIEWS}))

    assert greeted
    assert discovered == greeted["result"]["capabilities"]
    assert discovered == {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "extensions": {"io.modelcontextprotocol/ui": {}}}


def test_a_second_handshake_takes_the_views_back() -> None:
    server = StubServer()
    server.answer(message("initialize", {"protocolVersion": H4, "capabilities": VIEWS}))

    server.answer(message("initialize", {"protocolVersion": H4}))

    assert "_meta" not in ask("tools/list", {}, H4, server=server)["result"]["tools"][0]


# ---- resources, prompts, completion ----------------------------------------------------------------------------------------

@pytest.mark.parametrize(("revision", "wanted"), [(H1, -32002), (H4, -32002), (M, -32602)])
@pytest.mark.parametrize("uri", ["books://item/", "books://nothing", "https://example.org/", "", "books://item/archive:unknown"])
def test_a_resource_that_does_not_exist_is_an_error_with_its_uri(uri: str, revision: str, wanted: int) -> None:
    reply = ask("resources/read", {"uri": uri}, revision)

    assert (code(reply), reply["error"]["data"]["uri"]) == (wanted, uri)


def test_an_item_is_read_by_its_identifier_as_the_template_expands_it() -> None:
    """`{+identifier}` leaves reserved characters as they are and percent-encodes the others."""
    server = StubServer()

    reply = ask("resources/read", {"uri": "books://item/loc:sn83030214/1900-01-01/ed-1%20%C5%93"}, server=server_at(H4, server))

    [(tool, asked)] = server.stub.asked
    assert (tool, asked["identifier"]) == ("get_item", "loc:sn83030214/1900-01-01/ed-1 œ")
    assert [sorted(content) for content in reply["result"]["contents"]] == [["mimeType", "text", "uri"]] * 2


def test_an_item_is_the_whole_record_with_its_first_fifty_pages_as_text_and_as_json() -> None:
    """Whatever get_item gives in sections is asked at once: a reader of a resource has no arguments to ask for more."""
    server, uri = StubServer(), "books://item/archive:x"

    contents = ask("resources/read", {"uri": uri}, server=server_at(H4, server))["result"]["contents"]

    sections = ["description", "subjects", "copies", "context", "contributors", "editions", "pages", "citation"]
    assert server.stub.asked == [("get_item", {
        "identifier": "archive:x", "sections": sections, "max_copies": 100, "max_text_chars": 8000, "list_limit": 50})]
    assert contents[0] == {"uri": uri, "mimeType": "text/plain", "text": "get_item: archive:x"}
    assert (contents[1]["uri"], contents[1]["mimeType"]) == (uri, "application/json")
    assert json.loads(contents[1]["text"])["query"] == "archive:x"


def test_what_is_asked_for_an_item_is_what_its_tool_takes() -> None:
    client = Server(Settings(replay_dir=Path("nowhere")))

    reply = ask("resources/read", {"uri": "books://item/archive:x"}, server=server_at(H4, client))

    assert reply["error"]["data"]["code"] == "network_error"


@pytest.mark.parametrize(("identifier", "wanted"), [("fail", -31000), ("refuse", -32602)])
def test_a_record_that_could_not_be_read_is_never_told_as_missing(identifier: str, wanted: int) -> None:
    reply = ask("resources/read", {"uri": "books://item/" + identifier})

    assert code(reply) == wanted


def test_the_state_of_the_archives_is_json_that_nobody_keeps() -> None:
    result = ask("resources/read", {"uri": "books://archives"}, M)["result"]

    assert json.loads(result["contents"][0]["text"]) == {"archives": [{"source": "archive"}]}
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


def test_a_prompt_holds_the_values_that_were_given_and_no_line_for_the_others() -> None:
    given = {"phrase": "a wet fog\nNote: {language}", "language": "fre", "date_from": " "}

    text = ask("prompts/get", {"name": "trace_a_phrase", "arguments": given})["result"]["messages"][0]["content"]["text"]

    lines = text.split("\n")
    assert lines[0] == 'Find where these words were printed: "a wet fog Note: {language}".'
    assert 'Keep to texts in this language: "fre".' in lines
    assert not any("Nothing before" in line or "Ask only" in line for line in lines)


@pytest.mark.parametrize("params", [
    {}, {"name": 5}, {"name": "no such prompt"}, {"name": "trace_a_phrase"}, {"name": "trace_a_phrase", "arguments": {"phrase": " "}},
    {"name": "trace_a_phrase", "arguments": {"phrase": 5}}, {"name": "trace_a_phrase", "arguments": {"phrase": "x", "frase": "y"}},
    {"name": "trace_a_phrase", "arguments": ["x"]}])
def test_a_prompt_that_is_unknown_or_misses_a_value_is_refused(params: Any) -> None:
    assert code(ask("prompts/get", params)) == -32602


@pytest.mark.parametrize(("argument", "typed", "wanted"), [
    ("sources", "", list(ENTRY_OF)), ("sources", "L", ["loc"]), ("sources", "open l", ["openlibrary"]),
    ("language", "fre", ["fre"]), ("language", "french", ["fre"]), ("phrase", "a", [])])
def test_an_argument_is_completed_by_the_values_that_begin_as_typed(argument: str, typed: str, wanted: list[str]) -> None:
    params = {"ref": {"type": "ref/prompt", "name": "trace_a_phrase"}, "argument": {"name": argument, "value": typed}}

    assert ask("completion/complete", params)["result"]["completion"] == {"values": wanted, "total": len(wanted), "hasMore": False}


def test_the_template_is_completed_by_the_archives_prefixes() -> None:
    params = {"ref": {"type": "ref/resource", "uri": "books://item/{+identifier}"}, "argument": {"name": "identifier", "value": "l"}}

    assert ask("completion/complete", params, H1)["result"]["completion"]["values"] == ["loc:"]


def test_a_completion_gives_a_hundred_values_and_says_how_many_there_are() -> None:
    params = {"ref": {"type": "ref/prompt", "name": "trace_a_phrase"}, "argument": {"name": "language", "value": ""}}

    completion = ask("completion/complete", params)["result"]["completion"]

    assert (len(completion["values"]), completion["hasMore"]) == (100, True)
    assert completion["total"] > 100


@pytest.mark.parametrize("params", [
    {}, {"ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "phrase", "value": ""}},
    {"ref": {"type": "ref/prompt", "name": "trace_a_phrase"}, "argument": {"name": "none", "value": ""}},
    {"ref": {"type": "ref/prompt", "name": "trace_a_phrase"}, "argument": {"name": "phrase"}},
    {"ref": {"type": "ref/resource", "uri": "books://archives"}, "argument": {"name": "identifier", "value": ""}},
    {"ref": {"type": "ref/other"}, "argument": {"name": "identifier", "value": ""}}, {"ref": 5, "argument": 5}])
def test_a_completion_for_nothing_that_exists_is_refused(params: Any) -> None:
    assert code(ask("completion/complete", params)) == -32602


def test_every_prompt_names_real_tools_and_real_arguments() -> None:
    """A prompt that called for a tool or set in a value that is not there would mislead a model."""
    from sources.asking.schemas import TOOLS
    from sources.prompts import _PLACE, PROMPTS

    for prompt in PROMPTS:
        places = {name for line in prompt.lines for name in _PLACE.findall(line)}
        assert set(prompt.tools) <= set(TOOLS)
        assert places == {argument.name for argument in prompt.arguments}
        assert all(any(tool in line for line in prompt.lines) for tool in prompt.tools)


# ---- the connection -------------------------------------------------------------------------------------------------------

class Host:
    """The other side of a connection in this process: sends lines, keeps what was written, message by message."""

    def __init__(self, revision: str | None = H4, server: Any = None, **options: Any) -> None:
        self.server = server or StubServer()
        self.lines: list[bytes] = []
        self.connection = Connection(server_at(revision, self.server), self.lines.append, **options)

    def send(self, sent: Any) -> None:
        self.connection.receive(sent if isinstance(sent, bytes) or sent is None else json.dumps(sent).encode())

    def settle(self) -> list[Any]:
        """What was written once every call has ended."""
        assert self.connection.idle.wait(10)
        return [json.loads(line) for line in self.lines]


class Seconds:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Stage(StubClient):
    """A client whose one call waits for the test, so that the test can tell progress in its name."""

    def __init__(self) -> None:
        super().__init__()
        self.tell: Any = None
        self.begun, self.go_on = threading.Event(), threading.Event()

    def ask(self, tool: str, arguments: Any, call: Any) -> dict[str, Any]:
        self.tell = call.tell
        self.begun.set()
        self.go_on.wait(10)
        return {"query": "told"}


def call(query: str, id: Any = 1, revision: str = H4, token: Any = None) -> dict[str, Any]:
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    return message("tools/call", {"name": "search_inside", "arguments": {"query": query}, **meta}, revision, id)


def cancelled(id: Any, revision: str = H4) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


@pytest.mark.parametrize("line", [b"{", b"no json", b"\xff\xfe", b'{"id":NaN}', b"[Infinity]", b"[" * 100_000,
                                  "\N{NO-BREAK SPACE}".encode(), b"1 2"])
@pytest.mark.parametrize(("revision", "id_member"), [(None, {}), (H1, {"id": None}), (H3, {"id": None}), (H4, {})])
def test_a_line_that_cannot_be_read_is_a_parse_error_and_the_next_is_answered(line: bytes, revision: str | None, id_member: Any) -> None:
    host = Host(revision)

    host.send(line)
    host.send(message("ping", id=2))

    unreadable, after = host.settle()
    assert unreadable == {"jsonrpc": "2.0", **id_member, "error": {
        "code": -32700, "message": "Parse error: the line is not one JSON message in UTF-8."}}
    assert after["id"] == 2


@pytest.mark.parametrize("line", [b"", b"\r", b"  ", b"\t\r"])
def test_a_blank_line_is_nothing(line: bytes) -> None:
    host = Host()

    host.send(line)

    assert host.settle() == []


def test_a_line_over_the_limit_is_refused() -> None:
    host = Host()

    host.send(None)

    assert [code(reply) for reply in host.settle()] == [-32600]


LONG = "щ" * 500_000
PROMPT = {"type": "ref/prompt", "name": "trace_a_phrase"}


@pytest.mark.parametrize("sent", [
    {"id": LONG}, {"id": int("9" * 1001)}, {"method": LONG}, {"method": "resources/read", "params": {"uri": LONG}},
    {"method": "tools/call", "params": {"name": LONG}}, {"method": "tools/call", "params": {"name": "search_inside", "arguments": {LONG: LONG}}},
    {"method": "prompts/get", "params": {"name": LONG}},
    {"method": "prompts/get", "params": {"name": "trace_a_phrase", "arguments": {"phrase": LONG, "date_from": LONG}}},
    {"method": "prompts/get", "params": {"name": "trace_a_phrase", "arguments": {LONG: LONG}}},
    {"method": "completion/complete", "params": {"ref": PROMPT, "argument": {"name": LONG, "value": LONG}}},
    {"method": "completion/complete", "params": {"ref": {"type": LONG}, "argument": {"name": "language", "value": LONG}}},
    {"params": {"_meta": {META + "protocolVersion": LONG}}}, {"params": {"_meta": {**STATELESS_META, META + "logLevel": LONG}}},
    {"method": "tools/list", "params": {"cursor": LONG}}])
def test_no_reply_grows_with_what_a_caller_sent(sent: dict[str, Any]) -> None:
    """A megabyte of letters at any place that is echoed, named or shown; each letter would be six bytes of a reply."""
    host = Host(H4, Server(Settings(replay_dir=Path("nowhere"))))

    host.send({"jsonrpc": "2.0", "id": 1, "method": "ping", **sent})

    [reply] = host.settle()
    assert len(encode(reply)) < 50_000


@pytest.mark.parametrize("id", ["x" * 1001, 10**1000, -10**1000])
def test_an_id_over_the_limit_is_refused_without_being_echoed(id: Any) -> None:
    """A thousand characters or digits are echoed."""
    assert ask("ping", id=id) == {"jsonrpc": "2.0", "error": {
        "code": -32600, "message": "Invalid request: an id is a string or a whole number, of at most 1000 characters."}}


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 5000, "[" * 5 + "1e999" + "]" * 5])
@pytest.mark.parametrize("id", [7, "seven"])
def test_a_number_too_great_to_be_held_is_refused_under_the_id_of_its_message(number: str, id: Any) -> None:
    """It is JSON, and a host that hears of no id waits for the answer until its time is over."""
    host = Host()

    host.send(f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"method":"tools/call","params":{{"name":"search_inside","arguments":{{"limit":{number}}}}}}}'.encode())

    assert host.settle() == [{"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": "Invalid request: a number of it is too great."}}]


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else "x"


BOUNDS = "The arguments of a call are at most 100000 bytes, 1000 values and 20 levels deep."


@pytest.mark.parametrize("arguments", [
    {"query": "x" * 100_000}, {"query": "щ" * 17_000}, {"sources": [{"a": number} for number in range(501)]}, {"sources": ["loc"] * 1000},
    {"query": nested(19)}, {"x": [[[]] * 400] * 3}])
def test_arguments_beyond_the_bounds_are_refused_before_they_are_looked_at(arguments: Any) -> None:
    """One refusal, that a model can read; a schema may take a second for each thousand values."""
    server = StubServer()

    reply = ask("tools/call", {"name": "search_inside", "arguments": arguments}, server=server_at(H4, server))

    assert reply["result"] == {"isError": True, "content": [{"type": "text", "text": f"invalid_input: {BOUNDS}"}], "_meta": {
        "mcp-books/error": {**REFUSED, "reason": "arguments_too_large", "message": BOUNDS}}}
    assert server.stub.asked == []


@pytest.mark.parametrize("arguments", [{"query": "x" * 99_000}, {"query": "all", "x": ["loc"] * 998}, {"x": nested(18)}])
def test_arguments_within_the_bounds_are_asked(arguments: Any) -> None:
    server = StubServer()

    ask("tools/call", {"name": "search_inside", "arguments": arguments}, server=server_at(H4, server))

    assert server.stub.asked == [("search_inside", arguments)]


def test_lines_are_split_at_lf_alone() -> None:
    """CR, U+2028 and U+0085 are legal inside a message; the last line may lack its LF."""
    lines = ['{"a":"\u2028\u0085щ"}\r\n'.encode(), b"\n", b'{"b":\r1}\n', b"last"]

    assert list(read_lines(io.BytesIO(b"".join(lines)), LINE_LIMIT_BYTES)) == lines


def test_a_line_over_the_limit_is_passed_over_without_being_kept() -> None:
    """The line end does not count; a line as long as the limit is read."""
    told = b"x" * 11 + b"\n" + b"y" * 10 + b"\nnext\n" + b"z" * 35 + b"\n\n" + b"x" * 22

    assert list(read_lines(io.BytesIO(told), 10)) == [None, b"y" * 10 + b"\n", b"next\n", None, b"\n", None]


def test_a_mark_of_the_byte_order_before_a_message_is_passed_over() -> None:
    host = Host()

    host.send(b"\xef\xbb\xbf" + json.dumps(message("ping", id=1)).encode() + b"\r\n")

    assert [reply["id"] for reply in host.settle()] == [1]


def test_a_message_is_one_line_of_ascii_whatever_it_holds() -> None:
    host = Host()

    host.send(call("separators"))
    reply, = host.settle()

    assert host.lines[0].isascii()
    assert host.lines[0].count(b"\n") == 1
    assert reply["result"]["structuredContent"]["text"] == "one\u2028two\u2029three\u0085four\ud800 щ"


def test_a_value_that_json_cannot_hold_becomes_an_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    host = Host()

    host.send(call("nan", id="n"))

    reply, = host.settle()
    assert (reply["id"], code(reply)) == ("n", -32603)


def test_quick_requests_are_answered_while_a_call_waits() -> None:
    stage = Stage()
    host = Host(H4, StubServer(stub=stage))

    host.send(call("x", id="slow"))
    host.send(message("ping", id="ping"))
    host.send(message("tools/list", id="list"))
    stage.go_on.set()

    assert [reply["id"] for reply in host.settle()] == ["ping", "list", "slow"]


def test_a_cancelled_call_stops_and_is_never_answered(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor is it a fault worth a word on stderr."""
    host = Host()

    host.send(call("slow 30", id=5, token="t"))
    host.send(cancelled(5))

    told = host.settle()
    assert (host.server.stub.stopped, capsys.readouterr().err) == (1, "")
    assert all(entry["method"] == "notifications/progress" for entry in told)
    host.send(message("ping", id=6))
    assert host.settle()[-1]["id"] == 6


@pytest.mark.parametrize("params", [{"requestId": "1"}, {"requestId": 6}, {"requestId": True}, {"requestId": 1.0}, {"requestId": None}, {}, [],
                                    None, "1"])
def test_a_cancellation_of_anything_else_is_ignored(params: Any) -> None:
    """The type of the id counts: neither the text "1" nor true is the number 1."""
    stage = Stage()
    host = Host(H4, StubServer(stub=stage))

    host.send(call("x", id=1))
    host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    stage.go_on.set()

    assert [reply["id"] for reply in host.settle()] == [1]


def test_cancelling_one_call_leaves_the_others() -> None:
    host = Host(M, StubServer())

    host.send(call("slow 30", id="a", revision=M))
    host.send(call("slow 0.2", id="b", revision=M))
    host.send(cancelled("a"))

    assert [reply["id"] for reply in host.settle()] == ["b"]


def test_a_call_that_ends_in_spite_of_its_cancellation_is_not_answered() -> None:
    stage = Stage()
    host = Host(H4, StubServer(stub=stage))

    host.send(call("x", id=5))
    assert stage.begun.wait(10)
    host.send(cancelled(5))
    stage.go_on.set()

    assert host.settle() == []


def told_by(revision: str, token: Any) -> list[Any]:
    """What a host hears when a call tells four times within a second and once when it is over."""
    stage, clock = Stage(), Seconds()
    host = Host(revision, StubServer(stub=stage), monotonic=clock)
    host.send(call("x", revision=revision, token=token))
    assert stage.begun.wait(10)
    for step in range(4):
        clock.now = 100.0 + step * PROGRESS_PAUSE_S / 2
        stage.tell(f"step {step}")
    stage.go_on.set()
    host.settle()
    clock.now += 10
    stage.tell("too late")
    return host.settle()


@pytest.mark.parametrize("revision", SUPPORTED)
@pytest.mark.parametrize("token", ["t", 0, ""])
def test_progress_rises_at_most_twice_a_second_and_ends_with_the_reply(revision: str, token: Any) -> None:
    *notices, reply = told_by(revision, token)

    messages = [] if revision == H1 else [{"message": "step 0"}, {"message": "step 2"}]
    wanted = [{"progressToken": token, "progress": count + 1, **(messages[count] if messages else {})} for count in range(2)]
    assert [notice["params"] for notice in notices] == wanted
    assert "result" in reply
    for notice in notices:
        Draft202012Validator(compact_schemas(revision)["notifications/progress"]).validate(notice["params"])
        full = full_validator(revision, "ProgressNotification")
        if full:
            full.validate(notice)


@pytest.mark.parametrize("token", [None, True, 1.5, [], {}])
def test_without_a_token_there_is_no_progress(token: Any) -> None:
    assert ["result" in entry for entry in told_by(H4, token)] == [True]


def test_a_call_too_many_is_told_at_once_that_the_server_is_busy() -> None:
    host = Host()
    for number in range(CALLS_AT_ONCE):
        host.send(call("slow 30", id=number))

    host.send(call("quick", id="late"))
    host.send(message("resources/read", {"uri": "books://archives"}, id="too"))
    late, too = [json.loads(line) for line in host.lines]
    for number in range(CALLS_AT_ONCE):
        host.send(cancelled(number))
    host.settle()
    host.send(call("quick", id="after"))

    assert (late["id"], late["result"]["isError"]) == ("late", True)
    assert "rate_limited" in late["result"]["content"][0]["text"]
    told = late["result"]["_meta"]["mcp-books/error"]
    assert (told["reason"], told["retry_after_s"], told["retryable"]) == ("server_busy", 10, True)
    assert code(check(too, "resources/read", H4)) == -31000
    assert "structuredContent" in host.settle()[-1]["result"]


def test_the_first_tool_list_warms_what_a_call_will_need() -> None:
    host = Host()

    for _ in range(3):
        host.send(message("tools/list"))
    for thread in threading.enumerate():
        if thread.name == "warm":
            thread.join(10)

    assert host.server.warmings == 1


# ---- batches ----------------------------------------------------------------------------------------------------------------

def test_a_batch_is_answered_in_one_array() -> None:
    host = Host(H2)

    host.send([message("ping", id=1), {"jsonrpc": "2.0", "method": "notifications/initialized"}, call("slow 0.2", id="c"), 5,
               message("initialize", {"protocolVersion": H2}, id=3), message("tools/list", {}, M, id=4), call("refuse", id="r")])

    batch, = host.settle()
    assert [(reply.get("id"), reply.get("error", {}).get("code")) for reply in sorted(batch, key=lambda reply: str(reply["id"]))] == [
        (1, None), (3, -32600), (4, -32600), (None, -32600), ("c", None), ("r", None)]


@pytest.mark.parametrize(("sent", "wanted"), [
    ([], {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid request: a batch holds 1 to 100 messages."}}),
    ([{"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 1, "result": {}}], None)])
def test_an_empty_batch_is_refused_and_one_of_notifications_is_not_answered(sent: Any, wanted: Any) -> None:
    host = Host(H2)

    host.send(sent)

    assert host.settle() == ([] if wanted is None else [wanted])


def test_a_batch_of_a_hundred_is_answered_and_one_more_is_refused() -> None:
    """Ten thousand lists of tools in one line of 105 MB would end the connection of any host."""
    host = Host(H2)

    host.send([message("tools/list", id=number) for number in range(100)])
    host.send([message("ping", id=number) for number in range(101)])

    answered, refused = host.settle()
    assert [reply["id"] for reply in answered] == list(range(100))
    assert len(encode(answered)) < 3 << 20
    assert refused == {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid request: a batch holds 1 to 100 messages."}}


def test_a_cancelled_part_of_a_batch_is_left_out() -> None:
    host = Host(H2)

    host.send([call("slow 30", id="a"), message("ping", id="b")])
    host.send(cancelled("a"))

    assert [[reply["id"] for reply in batch] for batch in host.settle()] == [["b"]]


@pytest.mark.parametrize("revision", [None, H1, H3, H4])
def test_other_revisions_have_no_batches(revision: str | None) -> None:
    host = Host(revision)

    host.send([message("ping", id=1), message("ping", id=2)])

    assert [code(reply) for reply in host.settle()] == [-32600]


# ---- anything at all ---------------------------------------------------------------------------------------------------------

def anything(chance: random.Random, depth: int = 0) -> Any:
    """A random JSON value, with the words of the protocol among its texts."""
    words = ["", "2.0", "ping", "tools/call", "search_inside", "books://item/x", M, H4, "щ\ud800", "ref/prompt", "trace_a_phrase", "a" * 50]
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind > 6:
        names = ["jsonrpc", "id", "method", "params", "name", "arguments", "uri", "ref", "argument", "value", "type", "_meta", "cursor",
                 META + "protocolVersion", META + "clientCapabilities", "progressToken", "requestId", "result", "x"]
        return {name: anything(chance, depth + 1) for name in chance.sample(names, chance.randrange(6))}
    if kind == 6:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
    return (None, chance.choice([True, False]), chance.randrange(-5, 5), 0.5, chance.choice(words), chance.choice(words))[kind]


@pytest.mark.parametrize("revision", [None, *HANDSHAKE_REVISIONS])
def test_no_line_ends_the_server(revision: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    """Three thousand seeded lines a revision: random requests, random values, and both with bytes knocked out."""
    chance = random.Random(revision or "none")
    host = Host(revision)
    for number in range(3000):
        sent = anything(chance)
        if number % 3:
            sent = {"jsonrpc": "2.0", "id": number, "method": chance.choice([*METHODS, "x"]), "params": anything(chance)}
            if sent["method"] == "initialize":
                sent["params"] = {"protocolVersion": revision} if revision else {}
        line = bytearray(json.dumps(sent).encode())
        for _ in range(chance.randrange(3) if number % 5 == 0 else 0):
            line[chance.randrange(len(line))] = chance.randrange(256)
        host.send(bytes(line))

    replies = [reply for entry in host.settle() for reply in (entry if isinstance(entry, list) else [entry])]

    assert not [reply for reply in replies if reply.get("error", {}).get("code") == -32603]
    assert capsys.readouterr().err == ""
    host.send(message("ping", id="alive"))
    assert host.settle()[-1] == {"jsonrpc": "2.0", "id": "alive", "result": {}}


def arguments_like(chance: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a tool, most of them as its schema wants, some beside it, some of any shape, now and then an unknown one."""
    texts = ["otter", '"a wet fog"', "", " ", "щука\ud800", "2024-02-30", "1888-02", "archive:x", "loc:sn83030214/1900-01-01/ed-1", "bnf:cb1", "0",
             "x" * 400, "https://archive.org/details/x", "openlibrary:OL1W", "gallica:bpt6k1", "../../etc", "9780140328721"]

    def value(rule: dict[str, Any]) -> Any:
        if chance.random() < 0.15:
            return anything(chance, 2)
        if "enum" in rule:
            return chance.choice(rule["enum"])
        if rule.get("type") == "array":
            return [value(rule["items"]) for _ in range(chance.randrange(3))]
        if rule.get("type") == "integer":
            return chance.choice([rule.get("minimum", 0), rule.get("maximum", 3), 1, -1, 10**20, "2"])
        return chance.choice([True, False, "false"]) if rule.get("type") == "boolean" else chance.choice(texts)

    needed = set(schema.get("required", ()))
    given = {name: value(rule) for name, rule in schema["properties"].items() if name in needed or chance.random() < 0.2}
    return {**given, "nonsense": 1} if chance.random() < 0.03 else given


def test_no_arguments_of_any_tool_reach_the_loop_as_an_exception(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two hundred seeded calls a tool on the real client, which has an empty shelf to answer from and no network."""
    chance = random.Random(6)
    server = server_at(H4, Server(Settings(replay_dir=tmp_path)))
    codes: dict[str, int] = {}
    for name, tool in server.tools().items():
        for _ in range(200):
            reply = server.answer(message("tools/call", {"name": name, "arguments": arguments_like(chance, tool["inputSchema"])}))
            assert "result" in check(reply, "tools/call", H4), reply
            said = reply["result"]["content"][0]["text"] if reply["result"].get("isError") else "answered"
            codes[said.split(".")[0]] = codes.get(said.split(".")[0], 0) + 1

    assert codes.keys() == {"answered", *(f"Error: {word}" for word in ("invalid_input", "network_error"))}
    assert capsys.readouterr().err == ""
