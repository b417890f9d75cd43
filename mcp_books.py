"""mcp-books: one question to several great libraries at once, over the Model Context Protocol on
stdin and stdout, or over HTTP behind a server of yours.

The only file that knows the protocol; it knows no archive. It reads from top to bottom: what a
message may be, the server (a message in, a message out, no input or output of its own), then the
connection that runs calls, and the process.

Two eras of the protocol are answered by one process, each request by its own content: the handshake
revisions, where `initialize` settles one revision for the connection, and the stateless one, where
every request names it in `_meta`. Nothing heavy is imported before the first tools/list is
answered, since hosts start servers often and wait for that list.

Source: the Model Context Protocol specification, revisions 2024-11-05 to 2026-07-28 (pages basic,
server and changelog); MCP Apps, revision 2026-01-26.
"""
from __future__ import annotations

import json
import os
import sys
import threading
import time
from copy import copy
from dataclasses import dataclass, replace
from functools import cache

# the name type checkers look for; importing typing for it would cost a tenth of the start
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from sources.client import BooksClient
    from sources.door import Door, Header
    from sources.errors import SourceError
    from sources.settings import Settings
    from sources.telling.fit import Result as Told
    from sources.transport.call import Call

    Result = dict[str, Any]

__all__ = ["BooksClient", "__version__", "main"]
__version__ = "1.1.0"
NAME = "mcp-books"
TITLE = "Books"
DESCRIPTION = (
    "One question to several great libraries at once: their texts and catalogues, read-only."
)


def _shadow() -> str | None:
    """Take `sources` from beside this file, whatever has that name earlier on the path; what to say
    where another was loaded already or stands in its place, None where all is well."""
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path.insert(0, here)  # for this one name; its modules are found by its own place then
    try:
        import sources
        places = [*getattr(sources, "__path__", ()), getattr(sources, "__file__", "")]
        found = os.path.realpath(str(places[0]))
    except Exception as error:  # another's, which did what it liked
        found = repr(error)
    finally:
        sys.path.remove(here)
    if found == os.path.join(here, "sources"):
        return None
    return f"the modules of {NAME} stand in {here} under `sources`, a name taken by {found}"


_SHADOW = _shadow()


def __getattr__(name: str) -> Any:
    """`from mcp_books import BooksClient` works without loading it for hosts, which never ask for
    it by name."""
    if name == "BooksClient":
        if _SHADOW:
            raise ImportError(_SHADOW)
        from sources.client import BooksClient
        return BooksClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# ---- what a message may be -----------------------------------------------------------------------

HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_REVISION = "2026-07-28"
SUPPORTED = (STATELESS_REVISION, *reversed(HANDSHAKE_REVISIONS))  # newest first
ANNOTATIONS_SINCE = COMPLETIONS_SINCE = PROGRESS_MESSAGE_SINCE = BATCHES_ONLY_IN = "2025-03-26"
TITLES_SINCE = STRUCTURED_SINCE = "2025-06-18"
# before it, an error whose id could not be read has no valid form: null, as JSON-RPC says
DESCRIBED_SINCE = ERROR_ID_OPTIONAL_SINCE = "2025-11-25"

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
RESOURCE_NOT_FOUND = -32002  # handshake revisions only; the stateless one says INVALID_PARAMS
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
ARCHIVE_DID_NOT_ANSWER = -31000  # ours: outside the range that JSON-RPC reserves

VERSION_HEADER = "MCP-Protocol-Version"
BEFORE_HEADERS = "2025-03-26"  # what a request without that header is taken for
# what a header says again, beside the revision and the method, for those who route by it
MIRRORED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
# 404 is a lost session in the handshake revisions, so that an unknown method is a 200 there
HTTP_STATUSES = dict.fromkeys(
    (PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION), 400
)
STATELESS_STATUSES = {METHOD_NOT_FOUND: 404, INVALID_PARAMS: 400}

META = "io.modelcontextprotocol/"
# of the protocol, where our own log has others
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
LINE_LIMIT_BYTES = 2 << 20  # of a line or a body; the longest honest request has under 100 KB
LIST_LIFETIME_MS = 3_600_000  # the lists never change while the process lives
ID_LIMIT = 1_000  # characters of an id, digits of a whole number
TEXT_LIMIT = 2_000  # characters of a name or an address; some are echoed
ARGUMENTS_BYTES, ARGUMENTS_VALUES, ARGUMENTS_DEPTH = 100_000, 1_000, 20  # of one call, at most
BATCH_LIMIT = 100  # messages; a list of tools is 25 kB, and all replies to a batch are one line
SHOWN_CHARS = 80  # how much of a caller's unreadable value an error repeats


class ProtocolError(Exception):
    """A request that the protocol refuses; becomes the error member of a reply."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, its envelope checked: an id that can be echoed, a method this revision has,
    params that are an object."""

    id: str | int
    method: str
    params: Mapping[str, Any]
    revision: str
    call: Call | None = None  # of a request that runs on its own: its time, and whom it tells

    @property
    def stateless(self) -> bool:
        return self.revision == STATELESS_REVISION


def is_id(value: Any) -> bool:
    """Ids and progress tokens are texts or whole numbers; to Python a truth value is a number, to
    JSON it is not. They are echoed, so they are short."""
    plain = isinstance(value, (str, int)) and not isinstance(value, bool)
    return plain and len(str(value)) <= ID_LIMIT


def decode(line: bytes) -> Any:
    """One line as a JSON value, in which a number too great to be held is infinite, for `admit` to
    refuse under its id. Raises ProtocolError for what is no JSON or no UTF-8."""
    try:
        return json.loads(line.decode("utf-8-sig"), parse_constant=_no_json, parse_int=_whole)
    except (ValueError, RecursionError) as exc:
        raise ProtocolError(
            PARSE_ERROR, "Parse error: the line is not one JSON message in UTF-8."
        ) from exc


def _no_json(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= ID_LIMIT else float("inf")


def encode(message: Any) -> bytes:
    """One message as one line. ASCII only: no line reader splits it, and a lone surrogate in an
    echoed id cannot fail."""
    text = json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.encode("ascii") + b"\n"


def success(request: Request, result: Mapping[str, Any]) -> Result:
    if request.stateless:
        told = {**result.get("_meta", {}), META + "serverInfo": _identity(request.revision)}
        result = {"resultType": "complete", **result, "_meta": told}
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def failure(error: ProtocolError, id_member: Mapping[str, str | int | None]) -> Result:
    """An error reply; `id_member` is empty where the message named no id that could be read and the
    revision wants no null."""
    data = {} if error.data is None else {"data": error.data}
    return {
        "jsonrpc": "2.0",
        **id_member,
        "error": {"code": error.code, "message": error.message, **data},
    }


# ---- the server: a message in, a message out -----------------------------------------------------

class Server:
    """Answers messages. What it keeps between them is what a handshake settled."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.agreed: str | None = None  # the revision of the handshake, once there was one
        self.views = False  # whether the client of the handshake shows views
        self._lock = threading.Lock()
        self._loaded: dict[str, Any] = {}  # the tools and the client, one for all copies

    # -- what it wants from `sources`, each part loaded when it is first needed

    def tools(self) -> Mapping[str, Mapping[str, Any]]:
        """The tools offered, in order: title, description, inputSchema, outputSchema."""
        if "tools" not in self._loaded:
            from sources.asking.schemas import tool_schemas
            self._loaded["tools"] = tool_schemas(self.settings)
        tools: Mapping[str, Mapping[str, Any]] = self._loaded["tools"]
        return tools

    def instructions(self) -> str:
        from sources.registry import instructions
        return instructions(self.settings)

    def client(self) -> BooksClient:
        from sources.client import BooksClient
        with self._lock:
            if "client" not in self._loaded:
                from sources.stdio import log_to
                log_to(sys.stderr, self.settings.log_level)
                self._loaded["client"] = BooksClient(settings=self.settings)
            client: BooksClient = self._loaded["client"]
            return client

    def shows_views(self, request: Request) -> bool:
        meta = _object_param(request.params, "_meta")
        return (
            _declares_views(meta[META + "clientCapabilities"]) if request.stateless else self.views
        )

    def ask(self, tool: str, arguments: Mapping[str, Any], request: Request) -> Told:
        """One question, its answer inside what hosts take."""
        from sources.telling.fit import fitted
        return fitted(tool, self.client().ask(tool, arguments, request.call))

    def explain(self, error: SourceError) -> str:
        from sources.telling.text_block import render_error
        return render_error(error)

    def warm(self) -> None:
        """Load what the first call will need; in this order the process stays 2.5 MB smaller than
        in reverse (tests/bench.py)."""
        for name in (
            "sources.telling.fit",
            "sources.client",
            "requests",
            "jsonschema",
            "lxml.etree",
        ):
            __import__(name)
        self.client()

    # -- a message and its reply

    def answer(self, message: Any) -> Result | None:
        """The reply to one message that is no batch; None where none is due."""
        admitted = self.admit(message)
        return self.reply(admitted) if isinstance(admitted, Request) else admitted

    def admit(
        self, message: Any, *, revision_due: str | None = None
    ) -> Request | Result | None:
        """The request in a message; or its refusal; or None for a notification, or a response that
        nobody asked for.

        `revision_due` is the revision of the batch the message came in.
        """
        if (
            isinstance(message, dict)
            and "method" not in message
            and ("result" in message or "error" in message)
        ):
            return None
        try:
            return self._request(message, revision_due)
        except ProtocolError as error:
            return failure(error, self.id_member(message))

    def _request(self, message: Any, revision_due: str | None) -> Request | None:
        method = _checked_method(message)
        if "id" not in message:
            return None
        if not is_id(message["id"]):
            said = f"an id is a string or a whole number, of at most {ID_LIMIT} characters"
            raise ProtocolError(INVALID_REQUEST, f"Invalid request: {said}.")
        if not _can_be_held(message):
            raise ProtocolError(INVALID_REQUEST, "Invalid request: a number of it is too great.")
        params = _object_param(message, "params")
        _object_param(params, "_meta")
        revision = self._revision(method, params)
        if revision_due and (revision != revision_due or method == "initialize"):
            raise ProtocolError(
                INVALID_REQUEST,
                f"Invalid request: {method[:SHOWN_CHARS]!r} does not belong in this batch.",
            )
        known = METHODS.get(method)
        if known is None or revision not in known.revisions:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method[:SHOWN_CHARS]!r}.")
        return Request(id=message["id"], method=method, params=params, revision=revision)

    def id_member(self, message: Any) -> dict[str, str | int | None]:
        """How an error names the message it answers: its id; else null where the revision wants the
        member, else nothing."""
        if isinstance(message, dict):
            if is_id(message.get("id")):
                return {"id": message["id"]}
            meta = _member(message.get("params"), "_meta")
            if isinstance(meta, dict) and META + "protocolVersion" in meta:
                return {}
        return {} if self.agreed is None or self.agreed >= ERROR_ID_OPTIONAL_SINCE else {"id": None}

    def _revision(self, method: str, params: Mapping[str, Any]) -> str:
        """The revision a request is to be answered in, by its own content; see the module's
        docstring."""
        meta = params.get("_meta") or {}
        if method == "initialize":
            return self.agreed or HANDSHAKE_REVISIONS[-1]
        if META + "protocolVersion" in meta:
            _check_stateless(meta)
            return STATELESS_REVISION
        if self.agreed is not None:
            return self.agreed
        if method == "ping":
            return HANDSHAKE_REVISIONS[-1]
        named = f'params._meta["{META}protocolVersion"]'
        raise ProtocolError(
            INVALID_PARAMS, f"Begin with initialize, or name the revision in {named}."
        )

    def reply(self, request: Request) -> Result | None:
        """The reply to one request; None when its caller took it back. No exception leaves here."""
        try:
            return success(request, METHODS[request.method].handler(self, request))
        except ProtocolError as error:
            return failure(error, {"id": request.id})
        except Exception as exc:
            from sources.errors import Cancelled, lacking_library
            if isinstance(exc, Cancelled):
                return None
            log_traceback(self.settings)
            lacking = lacking_library(exc)
            if lacking and request.method == "tools/call":
                return success(request, {"content": [_text(f"Error: {lacking}")], "isError": True})
            fault = ProtocolError(
                INTERNAL_ERROR,
                lacking or "Internal error: a fault in this server, not in the request.",
            )
            return failure(fault, {"id": request.id})

    def busy(self, request: Request) -> Result:
        """The reply to a call too many: a result marked as an error, so that a model waits and asks
        again."""
        from sources.errors import RateLimited

        error = RateLimited(
            f"This server is answering {CALLS_AT_ONCE} calls already; nothing was asked.",
            hint="Wait for one of them to end, then ask again.",
            retry_after_s=BUSY_RETRY_S,
            reason="server_busy",
        )
        if request.method == "tools/call":
            return success(request, self._failed(error))
        fault = ProtocolError(ARCHIVE_DID_NOT_ANSWER, self.explain(error), _told(error))
        return failure(fault, {"id": request.id})

    def written(self, message: Any) -> bytes:
        try:
            return encode(message)
        # structured content that JSON cannot hold; a batch never has any
        except (ValueError, TypeError, RecursionError):
            log_traceback(self.settings)
            said = "Internal error: the answer could not be written."
            return encode(failure(ProtocolError(INTERNAL_ERROR, said), {"id": message["id"]}))

    def exchange(self, body: bytes, header: Header) -> tuple[int, bytes]:
        """One message over HTTP: the status and the body of its reply, empty where none is due.
        Nothing that a handshake settles is kept there: each request names its revision."""
        visited = copy(self)
        named = header(VERSION_HEADER) or BEFORE_HEADERS
        visited.agreed = named if named in HANDSHAKE_REVISIONS else None
        statuses = HTTP_STATUSES if visited.agreed else {**HTTP_STATUSES, **STATELESS_STATUSES}
        message = None
        try:
            message = decode(body)
            _check_headers(message, header)
            reply = visited.answer(message)
        except ProtocolError as error:
            reply = failure(error, visited.id_member(message))
        if reply is None:
            return 202, b""
        return statuses.get(_member(reply.get("error"), "code"), 200), self.written(reply)

    # -- opening

    def initialize(self, request: Request) -> Result:
        asked = request.params.get("protocolVersion")
        if not isinstance(asked, str):
            raise ProtocolError(
                INVALID_PARAMS, "initialize needs params.protocolVersion, a string."
            )
        self.agreed = asked if asked in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1]
        self.views = _declares_views(request.params.get("capabilities"))
        return {
            "protocolVersion": self.agreed,
            "capabilities": _capabilities(self.agreed, self.views),
            "serverInfo": _identity(self.agreed),
            "instructions": self.instructions(),
        }

    def discover(self, request: Request) -> Result:
        return {
            "supportedVersions": [STATELESS_REVISION],
            "capabilities": _capabilities(STATELESS_REVISION, self.shows_views(request)),
            "instructions": self.instructions(),
            **_lifetime(request),
        }

    def ping(self, request: Request) -> Result:
        return {}

    # -- tools

    def tools_list(self, request: Request) -> Result:
        listed = [_tool(name, tool, request.revision) for name, tool in self.tools().items()]
        if not self.shows_views(request):
            return _whole_list(request, "tools", listed)
        from sources.telling.view import URI
        shown = {"_meta": {"ui": {"resourceUri": URI}}}
        whole = _whole_list(request, "tools", [{**tool, **shown} for tool in listed])
        return {**whole, **_lifetime(request, scope="private")}

    def tools_call(self, request: Request) -> Result:
        """Bad arguments and archives that fail are results marked as errors, so that a model can
        read them and go on."""
        name = _text_param(request.params, "name")
        arguments = _object_param(request.params, "arguments")
        if name not in self.tools():
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name[:SHOWN_CHARS]!r}.")
        from sources.errors import InvalidInput, SourceError
        try:
            if not _within_bounds(arguments):
                raise InvalidInput(TOO_LARGE, reason="arguments_too_large")
            told = self.ask(name, arguments, request)
        except SourceError as error:
            return self._failed(error)
        structured = {"structuredContent": told.payload}
        return {"content": [_text(told.text), *_pictured(told)],
                **(structured if request.revision >= STRUCTURED_SINCE else {})}

    def _failed(self, error: SourceError) -> Result:
        told = {"mcp-books/error": _told(error)}
        return {"content": [_text(self.explain(error))], "isError": True, "_meta": told}

    # -- resources

    def resources_list(self, request: Request) -> Result:
        resources: list[Mapping[str, Any]] = [ARCHIVES_RESOURCE]
        if "search_log" in self.tools():
            resources.append(LOG_RESOURCE)
        if self.shows_views(request):
            from sources.telling.view import MIME_TYPE, URI
            resources.append({"uri": URI, **VIEW, "mimeType": MIME_TYPE})
        listed = [_titled(resource, request.revision) for resource in resources]
        return _whole_list(request, "resources", listed)

    def resource_templates_list(self, request: Request) -> Result:
        offered = [_titled(ITEM_TEMPLATE, request.revision)] if "get_item" in self.tools() else []
        return _whole_list(request, "resourceTemplates", offered)

    def resources_read(self, request: Request) -> Result:
        uri = _text_param(request.params, "uri")
        if uri == ARCHIVES_RESOURCE["uri"]:
            status = _contents(uri, JSON, _json(self.client().status()))
            return {"contents": [status], **_lifetime(request, 0, "private")}
        if uri == LOG_RESOURCE["uri"] and "search_log" in self.tools():
            text = self.client().search_log(limit=LOG_LATEST).text
            log = _contents(uri, LOG_RESOURCE["mimeType"], text)
            return {"contents": [log], **_lifetime(request, 0, "private")}
        if uri.startswith(ITEM_PREFIX) and uri != ITEM_PREFIX and "get_item" in self.tools():
            lifetime = _lifetime(request, self.settings.cache_ttl_ms)
            return {"contents": self._item(request, uri), **lifetime}
        view = _view() if self.shows_views(request) else {}
        if uri == view.get("uri"):
            return {"contents": [view], **_lifetime(request)}
        raise ProtocolError(_not_found(request), "Resource not found.", {"uri": uri})

    def _item(self, request: Request, uri: str) -> list[Result]:
        record = self._record(request, uri)
        told = {"text/plain": record.text, JSON: _json(record.payload)}
        return [_contents(uri, kind, text) for kind, text in told.items()]

    def _record(self, request: Request, uri: str) -> Told:
        from urllib.parse import unquote

        from sources.errors import SourceError
        try:
            sections = self.tools()["get_item"]["inputSchema"]["properties"]["sections"]["items"]
            identifier = unquote(uri.removeprefix(ITEM_PREFIX))
            wanted = {"identifier": identifier, "sections": sections["enum"], **WHOLE_RECORD}
            return self.ask("get_item", wanted, request)
        except SourceError as error:
            codes = {"not_found": _not_found(request), "invalid_input": INVALID_PARAMS}
            code = codes.get(error.code, ARCHIVE_DID_NOT_ANSWER)
            raise ProtocolError(code, self.explain(error), {"uri": uri, **_told(error)}) from error

    # -- prompts and completion

    def prompts_list(self, request: Request) -> Result:
        listed = [_prompt(prompt, request.revision) for prompt in self._prompts().values()]
        return _whole_list(request, "prompts", listed)

    def prompts_get(self, request: Request) -> Result:
        from sources.errors import InvalidInput
        from sources.prompts import compose
        prompt = self._prompt_named(_text_param(request.params, "name"))
        given = _object_param(request.params, "arguments")
        if not all(isinstance(value, str) for value in given.values()):
            raise ProtocolError(INVALID_PARAMS, "The arguments of a prompt are strings.")
        try:
            text = compose(prompt, given)
        except InvalidInput as error:
            raise ProtocolError(INVALID_PARAMS, error.message) from error
        return {
            "description": prompt.description,
            "messages": [{"role": "user", "content": _text(text)}],
        }

    def _prompts(self) -> Result:
        from sources.prompts import PROMPTS
        tools = self.tools()
        return {
            prompt.name: prompt for prompt in PROMPTS if all(tool in tools for tool in prompt.tools)
        }

    def _prompt_named(self, name: str) -> Any:
        prompt = self._prompts().get(name)
        if prompt is None:
            raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name[:SHOWN_CHARS]!r}.")
        return prompt

    def complete(self, request: Request) -> Result:
        from sources.prompts import completions
        from sources.registry import ENTRIES
        reference = _object_param(request.params, "ref")
        argument = _object_param(request.params, "argument")
        name, typed = _text_param(argument, "name"), _text_param(argument, "value")
        if name not in self._arguments_of(reference):
            raise ProtocolError(INVALID_PARAMS, f"Unknown argument: {name[:SHOWN_CHARS]!r}.")
        values = completions(name, typed, ENTRIES)
        shown = {"values": list(values[:100]), "total": len(values), "hasMore": len(values) > 100}
        return {"completion": shown}

    def _arguments_of(self, reference: Mapping[str, Any]) -> tuple[str, ...]:
        """The names a completion may be asked for, of a prompt or of the template."""
        if reference.get("type") == "ref/prompt":
            prompt = self._prompt_named(_text_param(reference, "name"))
            return tuple(argument.name for argument in prompt.arguments)
        template = ITEM_TEMPLATE["uriTemplate"]
        if reference.get("type") == "ref/resource" and _text_param(reference, "uri") == template:
            return ("identifier",)
        raise ProtocolError(
            INVALID_PARAMS, "params.ref names no prompt and no resource template of this server."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One row of the table below. `asks` says that it may wait for an archive, so that it runs off
    the reader."""

    handler: Callable[[Server, Request], Result]
    revisions: tuple[str, ...] = SUPPORTED
    asks: bool = False


METHODS = {
    "initialize": Method(handler=Server.initialize, revisions=HANDSHAKE_REVISIONS),
    "ping": Method(handler=Server.ping, revisions=HANDSHAKE_REVISIONS),
    "server/discover": Method(handler=Server.discover, revisions=(STATELESS_REVISION,)),
    "tools/list": Method(handler=Server.tools_list),
    "tools/call": Method(handler=Server.tools_call, asks=True),
    "resources/list": Method(handler=Server.resources_list),
    "resources/templates/list": Method(handler=Server.resource_templates_list),
    "resources/read": Method(handler=Server.resources_read, asks=True),
    "prompts/list": Method(handler=Server.prompts_list),
    "prompts/get": Method(handler=Server.prompts_get),
    "completion/complete": Method(handler=Server.complete),
}

JSON = "application/json"
WHOLE_RECORD = {"max_copies": 100, "max_text_chars": 8000, "list_limit": 50}  # beside all sections
ITEM_PREFIX = "books://item/"
ITEM_TEMPLATE = {
    "uriTemplate": ITEM_PREFIX + "{+identifier}",
    "name": "item",
    "title": "One record",
    "description": "A whole record by its identifier, its first fifty pages too, as text and JSON.",
}
LOG_RESOURCE = {
    "uri": "books://log",
    "name": "log",
    "title": "What was asked",
    "description": "Every question of this process and what each archive was sent, for a Methods "
                   "section.",
    "mimeType": "text/plain",
}
ARCHIVES_RESOURCE = {
    "uri": "books://archives",
    "name": "archives",
    "title": "The archives and their state",
    "description": "What each archive answers, its pace, and what last failed.",
    "mimeType": JSON,
}
LOG_LATEST = 500  # entries of the log as a resource, the most that the tool takes
TOO_LARGE = (
    f"The arguments of a call are at most {ARGUMENTS_BYTES} bytes, {ARGUMENTS_VALUES} values and "
    f"{ARGUMENTS_DEPTH} levels deep."
)
VIEW = {
    "name": "answer",
    "title": "A view of an answer",
    "description": "A page that shows the answer of any tool to a person.",
}
HINTS = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True}


# Checks of an envelope, each raising ProtocolError, and the parts of results that differ by
# revision.

def _checked_method(message: Any) -> str:
    if isinstance(message, list):
        said = f"only revision {BATCHES_ONLY_IN} has batches, and not over HTTP"
        raise ProtocolError(INVALID_REQUEST, f"Invalid request: {said}.")
    if not isinstance(message, dict):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: a message is a JSON object.")
    if message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0".')
    method = message.get("method")
    if not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: it names no method.")
    return method


def _can_be_held(message: Any) -> bool:
    try:
        return bool(encode(message))
    except (ValueError, RecursionError):
        return False


def _within_bounds(arguments: Mapping[str, Any]) -> bool:
    """Looked at before any schema is, level by level: checking a value costs more than reading
    it."""
    level: list[Any] = [arguments]
    count = 0
    for _ in range(ARGUMENTS_DEPTH):
        level = [inner for value in level for inner in _inside(value)]
        count += len(level)
    return not level and count <= ARGUMENTS_VALUES and len(encode(arguments)) <= ARGUMENTS_BYTES


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _check_stateless(meta: Mapping[str, Any]) -> None:
    """What the stateless revision wants in `_meta`, in the order it is to be checked."""
    asked = meta[META + "protocolVersion"]
    if not isinstance(asked, str):
        raise ProtocolError(INVALID_PARAMS, f"_meta[\"{META}protocolVersion\"] must be a string.")
    if asked != STATELESS_REVISION:
        raise _unsupported(asked)
    if not isinstance(meta.get(META + "clientCapabilities"), dict):
        raise ProtocolError(
            INVALID_PARAMS, f'_meta["{META}clientCapabilities"] must be an object; it may be empty.'
        )
    if meta.get(META + "logLevel") not in (None, *LOG_LEVELS):
        raise ProtocolError(
            INVALID_PARAMS, f'_meta["{META}logLevel"] must be one of {", ".join(LOG_LEVELS)}.'
        )


def _unsupported(asked: str) -> ProtocolError:
    data = {"supported": list(SUPPORTED), "requested": asked[:SHOWN_CHARS]}
    return ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _check_headers(message: Any, header: Header) -> None:
    """In the stateless revision headers say again what the body says, for those who route by them;
    in the others the revision alone."""
    from sources.door import plain
    params, method = _member(message, "params"), _member(message, "method")
    asked, named = (
        _member(_member(params, "_meta"), META + "protocolVersion"),
        header(VERSION_HEADER),
    )
    if asked is None or _member(message, "id") is None:
        if named not in (None, *SUPPORTED):
            raise _unsupported(str(named))
        return
    said = {VERSION_HEADER: asked, "Mcp-Method": method}
    if method in MIRRORED:
        said["Mcp-Name"] = _member(params, MIRRORED[method])
    for name, value in said.items():
        if isinstance(value, str) and plain(header(name)) != value:
            text = f"Header mismatch: {name} is not what the body says."
            raise ProtocolError(HEADER_MISMATCH, text)


def _object_param(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A member that is an object; absent and null both read as an empty one."""
    value = params.get(name)
    if value is not None and not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: {name} must be an object.")
    return value or {}


def _text_param(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or len(value) > TEXT_LIMIT:
        said = f"Invalid params: {name} must be a string of at most {TEXT_LIMIT} characters."
        raise ProtocolError(INVALID_PARAMS, said)
    return value


def _whole_list(request: Request, name: str, entries: Sequence[Any]) -> Result:
    """A list as its one page; no cursor was ever handed out."""
    if request.params.get("cursor") is not None:
        raise ProtocolError(
            INVALID_PARAMS, "Invalid params: unknown cursor; this list has one page."
        )
    return {name: entries, **_lifetime(request)}


def _not_found(request: Request) -> int:
    return INVALID_PARAMS if request.stateless else RESOURCE_NOT_FOUND


def _capabilities(revision: str, views: bool) -> Result:
    """The lists are fixed and nothing can be subscribed to, so no capability has a member."""
    named = ["tools", "resources", "prompts", *["completions"][: revision >= COMPLETIONS_SINCE]]
    extensions: Result = {"extensions": {META + "ui": {}}} if views else {}
    return {**{name: {} for name in named}, **extensions}


def _declares_views(capabilities: Any) -> bool:
    """Whether a client shows views (MCP Apps), by what it says of itself."""
    from sources.telling.view import EXTENSION, MIME_TYPE
    kinds = _member(_member(_member(capabilities, "extensions"), EXTENSION), "mimeTypes")
    return isinstance(kinds, list) and MIME_TYPE in kinds


def _view() -> Result:
    from sources.telling.view import MIME_TYPE, PICTURES, URI, page
    allowed = {"ui": {"csp": {"resourceDomains": list(PICTURES)}}}
    return {**_contents(URI, MIME_TYPE, page()), "_meta": allowed}


def _member(value: Any, name: str) -> Any:
    """A member of what may be no object; None where there is none."""
    return value.get(name) if isinstance(value, dict) else None


def _identity(revision: str) -> Result:
    from sources.settings import PROJECT_URL
    identity = {"name": NAME, "version": __version__}
    if revision >= TITLES_SINCE:
        identity["title"] = TITLE
    if revision >= DESCRIBED_SINCE:
        identity["description"] = DESCRIPTION
        identity |= {"websiteUrl": PROJECT_URL} if PROJECT_URL else {}
    return identity


def _lifetime(request: Request, ttl_ms: int = LIST_LIFETIME_MS, scope: str = "public") -> Result:
    """How long a client of the stateless revision may keep a result; the others have no such
    members."""
    return {"ttlMs": ttl_ms, "cacheScope": scope} if request.stateless else {}


def _tool(name: str, tool: Mapping[str, Any], revision: str) -> Result:
    listed = {"name": name, "description": tool["description"], "inputSchema": tool["inputSchema"]}
    if revision >= TITLES_SINCE:
        return {**listed, "title": tool["title"], "annotations": HINTS, **tool}
    if revision >= ANNOTATIONS_SINCE:
        return {**listed, "annotations": {"title": tool["title"], **HINTS}}
    return listed


def _prompt(prompt: Any, revision: str) -> Result:
    arguments = [
        {"name": entry.name, "description": entry.description, "required": entry.required}
        for entry in prompt.arguments
    ]
    entry = {"name": prompt.name, "title": prompt.title, "description": prompt.description}
    return _titled({**entry, "arguments": arguments}, revision)


def _titled(entry: Mapping[str, Any], revision: str) -> Result:
    return {
        key: value for key, value in entry.items() if key != "title" or revision >= TITLES_SINCE
    }


def _told(error: SourceError) -> Result:
    """An error for programs, beside the words that a model reads."""
    from sources.answers import failure as reported
    from sources.contract import to_dict
    reports = [to_dict(report) for report in getattr(error, "reports", ())]
    told = {"reason": error.reason, "retryable": error.passing, "retry_after_s": None}
    return {**told, **reported(error), "reports": reports}


def _pictured(told: Told) -> list[Result]:
    """The picture of an answer as a block of its own; its bytes stand nowhere else."""
    if told.picture is None:
        return []
    from base64 import b64encode
    return [{"type": "image", "data": b64encode(told.picture.bytes).decode("ascii"),
             "mimeType": told.picture.media_type}]


def _contents(uri: str, kind: str, text: str) -> Result:
    return {"uri": uri, "mimeType": kind, "text": text}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text(text: str) -> Result:
    return {"type": "text", "text": text}


# ---- the connection: one line a message, one thread a call ---------------------------------------

# each holds a thread; what an archive is asked at once is bounded far below this by its own lane
CALLS_AT_ONCE = 32
BUSY_RETRY_S = 10.0  # about what a call takes when it has to wait for an archive's spacing
PROGRESS_PAUSE_S = 0.5  # at most two notices a second for one call
# what running calls are given once the input has ended; hosts wait 2 s before they send signals
GRACE_S = 1.0


@dataclass(slots=True, kw_only=True, eq=False)
class Running:
    """One request whose answer is not written yet. `over` is set, under the writing lock, by the
    reply or by a cancellation."""

    request: Request
    call: Call
    over: bool = False
    told: int = 0  # progress notices
    told_at: float = float("-inf")


class Connection:
    """One host: reads its lines, answers the quick ones at once, runs the others on threads of
    their own, writes the replies."""

    def __init__(self, server: Server, write: Callable[[bytes], None], *,
                 monotonic: Callable[[], float] = time.monotonic) -> None:
        self.server = server
        self.idle = threading.Event()
        self.idle.set()
        self._write = write
        self._monotonic = monotonic
        # held for one whole message, and while deciding whether it may still be sent
        self._writing = threading.RLock()
        self._counting = threading.Lock()  # guards `_running`; never held while writing
        self._running: set[Running] = set()
        self._warmed = False

    def receive(self, line: bytes | None) -> None:
        """Take one line; None stands for one that was over the limit."""
        try:
            if line is None:
                raise ProtocolError(
                    INVALID_REQUEST,
                    f"Invalid request: a message is at most {LINE_LIMIT_BYTES} bytes.",
                )
            if not line.strip(b" \t\r\n"):
                return
            message = decode(line)
        except ProtocolError as error:
            self._send(failure(error, self.server.id_member(None)))
            return
        if isinstance(message, list) and self.server.agreed == BATCHES_ONLY_IN:
            self._receive_batch(message)
        else:
            self._receive_one(message, self._send)

    def _receive_batch(self, messages: list[Any]) -> None:
        if not 1 <= len(messages) <= BATCH_LIMIT:
            said = f"Invalid request: a batch holds 1 to {BATCH_LIMIT} messages."
            fault = ProtocolError(INVALID_REQUEST, said)
            self._send(failure(fault, self.server.id_member(None)))
            return
        batch = Batch(len(messages), self._send)
        for message in messages:
            self._receive_one(message, batch.add, revision_due=BATCHES_ONLY_IN)

    def _receive_one(
        self, message: Any, deliver: Callable[[Any], None], *, revision_due: str | None = None
    ) -> None:
        """Answer one message by handing `deliver` its reply, or None, exactly once."""
        admitted = self.server.admit(message, revision_due=revision_due)
        if not isinstance(admitted, Request):
            if admitted is None and message.get("method") == "notifications/cancelled":
                self._cancel(message.get("params"))
            deliver(admitted)
        elif METHODS[admitted.method].asks:
            self._start(admitted, deliver)
        else:
            deliver(self.server.reply(admitted))
            if admitted.method == "tools/list" and not self._warmed:
                self._warmed = True
                threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def _warm(self) -> None:
        try:
            self.server.warm()
        except Exception:  # the call that needs it will meet the same fault and report it
            log_traceback(self.server.settings)

    # -- calls

    def _start(self, request: Request, deliver: Callable[[Any], None]) -> None:
        from sources.transport.call import Call

        budget_s = self.server.settings.call_budget_ms / 1000
        call = Call(budget_s, tell=lambda message: self._tell(running, message))
        running = Running(request=replace(request, call=call), call=call)
        with self._counting:
            room = len(self._running) < CALLS_AT_ONCE
            if room:
                self._running.add(running)
                self.idle.clear()
        if room:
            try:
                given = (running, deliver)
                threading.Thread(target=self._run, args=given, name="call", daemon=True).start()
                return
            except RuntimeError:  # the system has no thread left
                self._forget(running)
        deliver(self.server.busy(request))

    def _run(self, running: Running, deliver: Callable[[Any], None]) -> None:
        try:
            reply = self.server.reply(running.request)
            with self._writing:
                reply, running.over = (None if running.over else reply), True
                deliver(reply)
        finally:
            self._forget(running)

    def _forget(self, running: Running) -> None:
        with self._counting:
            self._running.discard(running)
            if not self._running:
                self.idle.set()

    def _cancel(self, params: Any) -> None:
        """Stop the work for an id. An id that is unknown or answered, or a malformed notice, is
        nothing to speak of."""
        wanted = _member(params, "requestId")
        with self._counting:
            running_now = [*self._running] if is_id(wanted) else []
        for running in (each for each in running_now if each.request.id == wanted):
            with self._writing:
                running.over = True
            running.call.cancel()

    def _tell(self, running: Running, message: str) -> None:
        """Report progress where the caller gave a token: a rising count, at most two a second,
        nothing once it is over."""
        token = _member(running.request.params.get("_meta"), "progressToken")
        if not is_id(token):
            return
        with self._writing:
            now = self._monotonic()
            if running.over or now - running.told_at < PROGRESS_PAUSE_S:
                return
            running.told, running.told_at = running.told + 1, now
            params = {"progressToken": token, "progress": running.told}
            if running.request.revision >= PROGRESS_MESSAGE_SINCE:
                params["message"] = message
            self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    def finish(self) -> None:
        """The input has ended: let running calls answer for a moment, then stop them, without
        waiting for a reader."""
        self.idle.wait(GRACE_S)
        with self._counting:
            left = list(self._running)
        for running in left:
            running.call.cancel()

    # -- writing

    def _send(self, message: Any) -> None:
        if message is None:
            return
        line = self.server.written(message)
        with self._writing:
            self._write(line)


class Batch:
    """Gathers the replies to a batch; sends them in one array once all are in, or nothing when none
    is due."""

    def __init__(self, awaited: int, send: Callable[[Any], None]) -> None:
        self._awaited, self._send = awaited, send
        self._replies: list[Any] = []
        self._lock = threading.Lock()

    def add(self, reply: Any) -> None:
        with self._lock:
            self._awaited -= 1
            if reply is not None:
                self._replies.append(reply)
            whole = self._awaited == 0
        if whole:
            self._send(self._replies or None)


# ---- the process ---------------------------------------------------------------------------------

FIRST_KNOCK = threading.Lock()  # so that a process has one client, with one pace


def log_traceback(settings: Settings) -> None:
    """Tell standard error of the exception being handled; one line is enough where a library is
    missing."""
    if settings.log_level == "silent":
        return
    from sources.errors import lacking_library
    lacking = lacking_library(sys.exc_info()[1])
    if lacking:
        print(f"{NAME}: {lacking}", file=sys.stderr)
    else:
        import traceback
        traceback.print_exc()


def serve() -> None:
    """Answer the host on standard input until it ends or standard output breaks; does not
    return."""
    import signal

    from sources.asking.schemas import settings_in_force
    from sources.stdio import Journal, Outlet, claim_stdout, read_lines
    protocol = claim_stdout()
    sys.stdout = sys.stderr = journal = Journal(2)

    def leave() -> None:
        journal.drain()
        os._exit(0)  # no thread, however busy, holds the process

    outlet = Outlet(protocol, gone=leave)
    # An interrupt ends the process as the system does it: a handler of Python's own can wait for
    # the next line of input.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.isatty(0):
        journal.write(
            f"{NAME} reads protocol messages from a host on standard input; {NAME} --help lists "
            "its commands.\n"
        )
    settings = settings_in_force(os.environ, warn=lambda line: print(line, file=journal))
    connection = Connection(Server(settings), outlet.write)
    with open(0, "rb", closefd=False) as host:
        for line in read_lines(host, LINE_LIMIT_BYTES):
            connection.receive(line)
    connection.finish()
    outlet.drain()
    leave()


@cache
def _door() -> Door:
    from sources.asking.schemas import settings_in_force
    from sources.door import Door as Opened
    settings = settings_in_force(os.environ, warn=lambda line: print(line, file=sys.stderr))
    return Opened(settings, Server(settings).exchange, limit_bytes=LINE_LIMIT_BYTES)


def application(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """The same server over HTTP, for any WSGI server: `mcp_books:application`."""
    with FIRST_KNOCK:
        door = _door()
    return door(environ, start_response)


def main(argv: list[str] | None = None) -> int:
    """The command: no argument is the server, anything else a command of the shell."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if _SHADOW:
            raise ImportError(_SHADOW, name="sources")
        if not arguments:
            serve()
        from sources.shell.commands import main as run_command
        return run_command(arguments, environ=os.environ, stdout=sys.stdout, stderr=sys.stderr)
    except ImportError as error:  # a library that lacks is told further in
        if not (error.name or "").startswith("sources"):
            raise
        told = f"{NAME}: {error}. Install it again, in an environment of its own."
        print(told, file=sys.__stderr__)  # which the server has replaced
        return 1


if __name__ == "__main__":
    sys.exit(main())
