"""`mcp-books COMMAND`: the tools for people at a terminal, one command a tool, its flags made from the tool's input schema.

Answers go to standard output, everything else to standard error. Exit status: 0 answered, also in part or with nothing found;
1 every archive failed, or no such record; 2 bad input; 130 interrupted.
"""
from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from ..answers import Answer, failure
from ..asking.arguments import nearest
from ..asking.schemas import settings_in_force, tool_schemas
from ..contract import to_dict
from ..errors import InvalidInput, SourceError, lacking_library
from ..settings import VERSION, Settings
from ..stdio import log_to
from ..telling.harmless import inert
from ..telling.text_block import not_answered, notes, render, render_error
from ..transport.call import Call
from .screen import Screen, decades, readable
from .tables import LISTS, table

if TYPE_CHECKING:
    from ..client import BooksClient

PROGRAM = "mcp-books"
OWN_COMMANDS = {"demo": "both searches, a record and a page from a sample shelf, without network",
                "check": "settings, proxies and contact, and which archives answer from here"}
ANSWERED, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
HELP_COLUMNS = 80  # where nobody says how wide the screen is


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line read: the tool, the arguments of each step (one, but for a report written in one go), the form wanted."""

    tool: str
    steps: tuple[dict[str, Any], ...]
    form: str  # text | json | csv


def main(argv: Sequence[str], *, environ: Mapping[str, str] = os.environ, stdout: TextIO | None = None,
         stderr: TextIO | None = None, make_client: Callable[[Settings], BooksClient] | None = None) -> int:
    """Run one command and return its exit status. `make_client` gets the settings; left out, it makes a BooksClient."""
    out, err = stdout or sys.stdout, stderr or sys.stderr
    _as_utf8(out)
    _as_utf8(err)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):  # argparse knows no other way
            return _run(argv, environ, out, err, make_client or _books_client)
    except KeyboardInterrupt:
        return INTERRUPTED
    except ImportError as error:
        lacking = lacking_library(error)
        if lacking is None:
            raise
        print(f"{PROGRAM}: {lacking}", file=err)
        return FAILED
    except BrokenPipeError:
        _abandon(out)
        return ANSWERED


def _run(argv: Sequence[str], environ: Mapping[str, str], out: TextIO, err: TextIO,
         make_client: Callable[[Settings], BooksClient]) -> int:
    if argv and argv[0] in OWN_COMMANDS:
        module = importlib.import_module(f".{argv[0]}", __package__)  # neither is needed by the other commands
        status: int = module.main(list(argv[1:]), environ=environ, stdout=out, stderr=err)
        return status
    settings = settings_in_force(environ, lambda line: print(f"{PROGRAM}: {line}", file=err))
    log_to(err, settings.log_level)
    screen = Screen.of(out, environ)
    try:
        command = read_command(argv, tool_schemas(settings), columns=screen.columns or HELP_COLUMNS)
    except SystemExit as end:  # argparse has printed its help or its objection
        return int(end.code or ANSWERED)
    except InvalidInput as error:
        print(render_error(error), file=err)
        return BAD_INPUT
    client = make_client(settings)
    try:
        return _answer(command, client, settings, screen, out, err)
    finally:
        client.close()


def _answer(command: Command, client: BooksClient, settings: Settings, screen: Screen, out: TextIO, err: TextIO) -> int:
    """Ask, step by step, and write the last answer in the form wanted."""
    try:
        for arguments in command.steps:
            answer = _ask(client, command.tool, arguments, Call(budget_s(settings), tell=_progress(err)))
    except SourceError as error:
        print(readable(render_error(error), screen), file=err)
        if command.form == "json":
            print(visible_json(_failed(error)), file=out, flush=True)
        _tell_of_steps(command, {}, err)
        return BAD_INPUT if error.code == "invalid_input" else FAILED
    _write(command, answer.to_dict(), screen, out, err)
    out.flush()
    _tell_of_steps(command, answer.to_dict(), err)
    return ANSWERED


def _failed(error: SourceError) -> dict[str, Any]:
    """An error as a program reads it; `per_source` where several archives were asked and none could answer."""
    reports = [to_dict(report) for report in getattr(error, "reports", ())]
    return {"error": failure(error), **({"per_source": reports} if reports else {})}


def _tell_of_steps(command: Command, payload: Mapping[str, Any], err: TextIO) -> None:
    """A report that was not finished is gone when its command ends, whatever step was due."""
    if command.tool == "sequential_report" and not payload.get("report"):
        print(f"{PROGRAM}: a report lives no longer than its command; write all its steps, a JSON object a line, into a file "
              "and give --steps FILE.", file=err)


def _ask(client: BooksClient, tool: str, arguments: Mapping[str, Any], call: Call) -> Answer:
    """One question; when it is interrupted, the work for it stops too."""
    try:
        return client.ask(tool, arguments, call)
    except KeyboardInterrupt:
        call.cancel()
        raise


def _write(command: Command, payload: dict[str, Any], screen: Screen, out: TextIO, err: TextIO) -> None:
    """The answer in its form; beside a table, what it has no column for goes to standard error."""
    if command.form == "json":
        print(visible_json(payload), file=out)
    elif command.form == "csv":
        out.write(table(command.tool, payload, asked=command.steps[-1].get("query", "")))
        for line in [*not_answered(payload["per_source"]), *notes(payload)]:
            print(line, file=err)
    else:
        print(readable(render(command.tool, payload), screen, mark=_wordings(command, payload)), file=out)
        for line in decades(payload, screen):
            print(line, file=out)


def budget_s(settings: Settings) -> float:
    """A command has no host that cuts it off: twice the time of one request, unless the budget of a call is set."""
    return (settings.call_budget_ms if "call_budget_ms" in settings.origin else 2 * settings.timeout_ms) / 1000


def visible_json(payload: Mapping[str, Any]) -> str:
    """The structured content as JSON, with whatever a terminal could act on or hide written as an escape."""
    text = json.dumps(payload, ensure_ascii=False, indent=2)
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def _wordings(command: Command, payload: Mapping[str, Any]) -> Iterator[str]:
    """The texts whose words are marked in what was found: every wording that went out, or what a reading looked for."""
    yield command.steps[-1].get("match", "")
    if command.tool == "search_inside":
        yield from (entry["query"] for report in payload["per_source"] for entry in report.get("queries", ()) if entry["ran"])


def _books_client(settings: Settings) -> BooksClient:
    from ..client import BooksClient  # brings every adapter; help does without them

    return BooksClient(settings=settings)


# ---- the command line ----------------------------------------------------------------------------------------------------

def read_command(argv: Sequence[str], schemas: Mapping[str, Mapping[str, Any]], *, columns: int = HELP_COLUMNS) -> Command:
    """The command line as a tool's arguments, as the texts they are; the client checks them.

    Raises:
        SystemExit: help or the version was asked (0), or the line cannot be read (2).
        InvalidInput: the file of steps cannot be read, or a step is no JSON object.
    """
    layout = functools.partial(argparse.HelpFormatter, max_help_position=30, width=columns)
    parser = argparse.ArgumentParser(
        prog=PROGRAM, allow_abbrev=False, formatter_class=layout, epilog=f"{PROGRAM} COMMAND --help tells a command's flags.",
        description="One question to several great libraries at once. Without a command: an MCP server on stdin and stdout.")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for tool, schema in schemas.items():
        _add_command(commands, tool, schema, layout)
    for name, does in OWN_COMMANDS.items():
        commands.add_parser(name, help=does)
    namespace, left_over = parser.parse_known_args(list(argv))
    given = vars(namespace)
    name = given.pop("command")
    tool = name.replace("-", "_")
    if left_over:
        commands.choices[name].error(_left_over(left_over, name, given, commands.choices[name].format_help()))
    form = "json" if given.pop("json", False) else "csv" if given.pop("csv", False) else "text"
    if "steps" in given:
        path = given.pop("steps")
        if given:
            parser.error("--steps holds every argument; no other flag stands beside it but --json")
        return Command(tool=tool, steps=_steps(path), form=form)
    rules = schemas[tool]["inputSchema"]["properties"]
    return Command(tool=tool, steps=({name: _value(value, rules[name]) for name, value in given.items()},), form=form)


def _add_command(commands: Any, tool: str, schema: Mapping[str, Any], layout: Callable[..., argparse.HelpFormatter]) -> None:
    """One command: the tool's required argument, or its query, without a flag; a flag for each other; the forms of output.

    No flag may be shortened, so that one added later changes no script's meaning; one that was not given is not sent.
    """
    rules, required = schema["inputSchema"]["properties"], schema["inputSchema"].get("required", ())
    plain = next(iter(required), "query" if "query" in rules else None)
    placed = f" {plain.upper()}" if required and plain else f" [{plain.upper()}]" if plain else ""
    name = tool.replace("_", "-")
    parser = commands.add_parser(name, allow_abbrev=False, argument_default=argparse.SUPPRESS, formatter_class=layout,
                                 help=schema["title"].replace("%", "%%"), description=schema["description"].replace("%", "%%"),
                                 usage=f"{PROGRAM} {name} [flags]{placed}")
    for name, rule in rules.items():
        flag = "--" + name.replace("_", "-")
        if name == plain:
            parser.add_argument(name, nargs=None if required else "?", metavar=name.upper(), help=_explained(rule))
        elif rule["type"] == "boolean":
            parser.add_argument(flag, dest=name, action=argparse.BooleanOptionalAction, help=_explained(rule))
        else:
            action = "append" if rule["type"] == "array" else "store"
            parser.add_argument(flag, dest=name, action=action, metavar=_placeholder(rule), help=_explained(rule))
    if tool == "sequential_report":
        parser.add_argument("--steps", metavar="FILE", help="all steps of one report, a JSON object of arguments a line; - reads "
                            "standard input; a report lives no longer than its command")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="the structured content, as JSON")
    if tool in LISTS:
        forms.add_argument("--csv", action="store_true", help="the rows as a table, with the query that found each")


def _left_over(words: Sequence[str], name: str, given: Mapping[str, Any], explained: str) -> str:
    """What is wrong with words of the command line that nothing took; `explained` is the command's help."""
    flag = next((word.partition("=")[0] for word in words if word.startswith("-")), None)
    if flag == "--csv":
        return "--csv is for lists alone: " + ", ".join(tool.replace("_", "-") for tool in LISTS) + "."
    if flag is not None:
        flags = dict.fromkeys(re.findall(r"--[a-z][a-z-]+", explained))
        return f"there is no flag {flag}.{nearest(flag, flags)}"
    if "query" in given:
        return f'put the words in quotation marks: {PROGRAM} {name} "{" ".join([given["query"], *words])}"'
    return f"nothing here takes the word {words[0]!r}."


def _explained(rule: Mapping[str, Any]) -> str:
    """A flag's help: the schema's own words, its bounds, its names, its default."""
    bounds = f"{rule['minimum']} to {rule['maximum']}" if "minimum" in rule and "maximum" in rule else ""
    names = ", ".join(rule.get("enum") or rule.get("items", {}).get("enum") or ())
    default = rule.get("default")
    usual = "" if default is None else "default " + (", ".join(default) if isinstance(default, list) else str(default).lower())
    return "; ".join(filter(None, (rule.get("description", "").rstrip("."), bounds, names, usual))).replace("%", "%%")


def _placeholder(rule: Mapping[str, Any]) -> str:
    kind = rule.get("items", rule)
    return ("N" if kind.get("type") == "integer" else "NAME" if "enum" in kind else "TEXT") + (",…" if "items" in rule else "")


def _value(given: Any, rule: Mapping[str, Any]) -> Any:
    """A list may come as one flag with commas or as the flag repeated."""
    if rule["type"] != "array":
        return given
    return [part.strip() for text in given for part in text.split(",") if part.strip()]


def _steps(path: str) -> tuple[dict[str, Any], ...]:
    """The steps of a report, one JSON object a line; empty lines are passed over. Raises InvalidInput."""
    _as_utf8(sys.stdin)
    try:
        with contextlib.nullcontext(sys.stdin) if path == "-" else open(path, encoding="utf-8") as lines:
            told = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    except (OSError, ValueError) as exc:  # ValueError: no UTF-8, or a name that no file can have
        why = (exc.strerror if isinstance(exc, OSError) else None) or "it is no text in UTF-8"
        raise InvalidInput(f"The steps cannot be read from {path!r}: {why}.",
                           hint="Name a file with one JSON object of arguments a line.") from exc
    if not told:
        raise InvalidInput(f"No step stands in {path!r}.", hint="Write one JSON object of arguments a line.")
    return tuple(_step(line, number) for number, line in told)


def _step(line: str, number: int) -> dict[str, Any]:
    try:
        step = json.loads(line)
    except (ValueError, RecursionError):
        step = None
    if not isinstance(step, dict):
        raise InvalidInput(f"Line {number} of the steps is no JSON object.", hint="Write one JSON object of arguments a line.")
    return step


# ---- streams -------------------------------------------------------------------------------------------------------------

def _progress(err: TextIO) -> Callable[[str], None] | None:
    """Tell how a call goes, when somebody watches."""
    if not err.isatty():
        return None
    return lambda message: print(f"… {inert(message)}", file=err, flush=True)


def _as_utf8(stream: TextIO) -> None:
    """UTF-8 whatever the locale says, and line ends as written: tables have their own."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="replace", newline="")


def _abandon(out: TextIO) -> None:
    """Nobody reads any more (`| head`): what is still buffered must not raise again when the process ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
