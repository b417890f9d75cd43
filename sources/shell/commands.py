"""`mcp-books COMMAND`: the tools for people at a terminal, one command a tool, its flags made from
the tool's input schema.

Answers go to standard output, everything else to standard error. Exit status: 0 answered, also in
part or with nothing found; 1 every archive failed, or no such record; 2 bad input; 130 interrupted.
"""
from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..answers import Answer, failure
from ..asking.repeat import PROGRAM
from ..asking.schemas import settings_in_force, tool_schemas
from ..contract import to_dict
from ..errors import InvalidInput, SourceError, lacking_library
from ..settings import Settings
from ..stdio import log_to
from ..telling.harmless import inert
from ..telling.text_block import not_answered, notes, render, render_error
from ..transport.call import Call
from .command_line import HELP_COLUMNS, OWN_COMMANDS, Command, read_command
from .exports import check_free, written
from .screen import Screen, decades, readable
from .streams import NotWritten, answering, aside
from .tables import facets_table, table

if TYPE_CHECKING:
    from ..client import BooksClient

ANSWERED, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(
    argv: Sequence[str],
    *,
    environ: Mapping[str, str] = os.environ,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    make_client: Callable[[Settings], BooksClient] | None = None,
) -> int:
    """Run one command and return its exit status. `make_client` gets the settings; left out, it
    makes a BooksClient."""
    err = aside(stderr or sys.stderr)
    try:
        out = answering(stdout or sys.stdout)
        desk = Desk(out=out, err=err, environ=environ)
        # argparse knows no other way
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = _run(argv, desk, make_client or _books_client)
            out.flush()
            return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except ImportError as error:
        lacking = lacking_library(error)
        if lacking is None:
            raise
        print(f"{PROGRAM}: {lacking}", file=err)
        return FAILED
    except NotWritten as lost:
        if lost.unread:
            return ANSWERED
        print(f"{PROGRAM}: standard output does not take the answer: {lost}.", file=err)
        return FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where a command is given and answered."""

    out: TextIO
    err: TextIO
    environ: Mapping[str, str]

    def tell(self, line: str) -> None:
        """Something beside the answer."""
        print(f"{PROGRAM}: {line}", file=self.err)

    @property
    def screen(self) -> Screen:
        return Screen.of(self.out, self.environ)


def _run(argv: Sequence[str], desk: Desk, make_client: Callable[[Settings], BooksClient]) -> int:
    if argv and argv[0] in OWN_COMMANDS:
        return _own(argv[0], argv[1:], desk)
    settings = settings_in_force(desk.environ, desk.tell)
    log_to(desk.err, settings.log_level)
    try:
        command = read_command(
            argv, tool_schemas(settings), columns=desk.screen.columns or HELP_COLUMNS
        )
    except SystemExit as end:  # argparse has printed its help or its objection
        return int(end.code or ANSWERED)
    except InvalidInput as error:
        print(render_error(error), file=desk.err)
        return BAD_INPUT
    with contextlib.closing(make_client(settings)) as client:
        return _answer(command, client, settings, desk)


def _own(name: str, argv: Sequence[str], desk: Desk) -> int:
    """A command that is no tool; the others do without its module."""
    module = importlib.import_module(f".{name}", __package__)
    status: int = module.main(list(argv), environ=desk.environ, stdout=desk.out, stderr=desk.err)
    return status


def _answer(command: Command, client: BooksClient, settings: Settings, desk: Desk) -> int:
    """Ask, step by step, and write the last answer in the form wanted."""
    try:
        check_free(command.beside)
        if "file" in command.beside:
            return _saved_log(command, settings, desk)
        for arguments in command.steps:
            call = Call(budget_s(settings), tell=_progress(desk.err))
            answer = _ask(client, command.tool, arguments, call)
        payload = answer.to_dict()
        if written(answer, command.beside, client, desk.out, desk.err):
            _tell_aside(payload, desk)
            return ANSWERED
    except SourceError as error:
        told = render_error(error)
        if error.code == "invalid_input":
            told = command.in_flags(told)
        print(readable(told, desk.screen), file=desk.err)
        if command.form == "json":
            print(visible_json(_failed(error)), file=desk.out, flush=True)
        _tell_of_steps(command, {}, desk)
        return BAD_INPUT if error.code == "invalid_input" else FAILED
    _write(command, payload, desk)
    desk.out.flush()
    _tell_of_steps(command, payload, desk)
    return ANSWERED


def _saved_log(command: Command, settings: Settings, desk: Desk) -> int:
    """A log that was kept in a file: told, or checked against the answers kept."""
    from ..asking.log import read_file, told
    from . import evidence

    path = Path(command.beside["file"])
    try:
        entries = read_file(path)
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"{path} cannot be read as a search log.",
                           hint="Give a file that BOOKS_SEARCH_LOG named.") from exc
    if "verify" not in command.beside:
        print(told(entries, command.steps[0].get("format", "text")).text, file=desk.out)
        return ANSWERED
    verdicts = tuple(evidence.verified(entries, Path(command.beside["verify"]), settings))
    print(evidence.told(entries, verdicts), file=desk.out)
    same = [one.outcome == "same" for one in verdicts]
    return ANSWERED if same and all(same) else FAILED  # nothing checked is nothing verified


def _failed(error: SourceError) -> dict[str, Any]:
    """An error as a program reads it; `per_source` where several archives were asked and none could
    answer."""
    reports = [to_dict(report) for report in getattr(error, "reports", ())]
    return {"error": failure(error), **({"per_source": reports} if reports else {})}


def _tell_of_steps(command: Command, payload: Mapping[str, Any], desk: Desk) -> None:
    """A report that was not finished is gone when its command ends, whatever step was due."""
    if command.tool == "sequential_report" and not payload.get("report"):
        desk.tell(
            "a report lives no longer than its command; write all its steps, a JSON object a "
            "line, into a file "
            "and give --steps FILE."
        )


def _ask(client: BooksClient, tool: str, arguments: Mapping[str, Any], call: Call) -> Answer:
    """One question; when it is interrupted, the work for it stops too."""
    try:
        return client.ask(tool, arguments, call)
    except KeyboardInterrupt:
        call.cancel()
        raise


def _write(command: Command, payload: dict[str, Any], desk: Desk) -> None:
    """The answer in its form; beside a table, what it has no column for goes to standard error."""
    if command.form == "json":
        print(visible_json(payload), file=desk.out)
    elif "csv" in command.form:
        asked = command.steps[-1].get("query", "")
        counts = command.form == "facets-csv"
        rows = facets_table(payload) if counts else table(command.tool, payload, asked=asked)
        desk.out.write("\ufeff" * ("bom" in command.beside) + rows)
        _tell_aside(payload, desk)
    else:
        print(
            readable(render(command.tool, payload), desk.screen, mark=_wordings(command, payload)),
            file=desk.out,
        )
        for line in decades(payload, desk.screen):
            print(line, file=desk.out)


def _tell_aside(payload: Mapping[str, Any], desk: Desk) -> None:
    """What a file or a table has no place for: who did not answer, and the notes."""
    for line in [*not_answered(payload.get("per_source", ())), *notes(payload)]:
        print(line, file=desk.err)


def budget_s(settings: Settings) -> float:
    """A command has no host that cuts it off: twice the time of one request, unless the budget of a
    call is set."""
    return (
        settings.call_budget_ms if "call_budget_ms" in settings.origin else 2 * settings.timeout_ms
    ) / 1000


def visible_json(payload: Mapping[str, Any]) -> str:
    """The structured content as JSON, with whatever a terminal could act on or hide written as an
    escape."""
    text = json.dumps(payload, ensure_ascii=False, indent=2)
    return "".join(
        char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text
    )


def _wordings(command: Command, payload: Mapping[str, Any]) -> Iterator[str]:
    """The texts whose words are marked in what was found: every wording that went out, or what a
    reading looked for."""
    yield command.steps[-1].get("match", "")
    if command.tool == "search_inside":
        yield from (
            entry["query"]
            for report in payload["per_source"]
            for entry in report.get("queries", ())
            if entry["ran"]
        )


def _books_client(settings: Settings) -> BooksClient:
    from ..client import BooksClient  # brings every adapter; help does without them

    return BooksClient(settings=settings)


# ---- streams -------------------------------------------------------------------------------------

def _progress(err: TextIO) -> Callable[[str], None] | None:
    """Tell how a call goes, when somebody watches."""
    if not err.isatty():
        return None
    return lambda message: print(f"… {inert(message)}", file=err, flush=True)
