"""The command line as a tool's arguments: one command a tool, its flags made from the tool's input
schema."""
from __future__ import annotations

import argparse
import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..asking.arguments import nearest
from ..asking.repeat import PROGRAM, flag_of, plain_argument
from ..asking.schemas import TOOLS
from ..errors import InvalidInput
from ..settings import VERSION
from .tables import COUNTED, LISTS

OWN_COMMANDS = {"demo": "both searches, a record and a page from a sample shelf, without network",
                "check": "settings, proxies and contact, and which archives answer from here",
                "completion": "what bash, zsh or fish reads to complete commands and flags"}
ROWS_CITED = ("search_inside", "search_items")
CITED = (*ROWS_CITED, "get_item", "read_text")
FORMS: Mapping[str, tuple[Iterable[str], str]] = {  # the tools that have one, and its help
    "json": (TOOLS, "the structured content, as JSON"),
    "csv": (LISTS, "the rows as a table, with the query that found each, and the credit"),
    "facets-csv": (COUNTED, "the counts of --facets as a table, a value a row"),
}
# Flags that no tool has: the tools they stand with, what they take (None: nothing), their help.
OWN_FLAGS: Mapping[str, tuple[Iterable[str], str | None, str]] = {
    "steps": (
        ("sequential_report",), "FILE",
        "all steps of one report, a JSON object of arguments a line; - reads standard input; a "
        "report lives no longer than its command",
    ),
    "phrase": (
        ("search_inside", "search_items", "read_text"), "TEXT",
        "words that stand together, in this order; they need no marks",
    ),
    "bom": (LISTS, None, "begin a table with a byte order mark, which some spreadsheets want"),
    "bibtex": (CITED, "FILE", "write citations as BibTeX; - is standard output"),
    "ris": (CITED, "FILE", "write citations as RIS"),
    "csl": (CITED, "FILE", "write citations as CSL-JSON"),
    "full": (ROWS_CITED, None, "read each record before it is cited, and not the row alone"),
    "html": ((*LISTS, *CITED[2:], "search_log"), "FILE", "write the answer as a page for people"),
    "picture": (("read_text",), "FILE",
                "write the picture of the page, or of the passage that --match finds"),
    "force": ((*LISTS, *CITED[2:], "search_log"), None, "write over a file that is there"),
    "verify": (("search_log",), "FOLDER",
               "ask FILE's questions again of the answers kept in FOLDER, and compare"),
}
# What takes the words of --phrase: a tool's argument in which double marks bind words together.
PHRASE_IN = {"search_inside": "query", "search_items": "query", "read_text": "match"}
HELP_COLUMNS = 80  # where nobody says how wide the screen is
Schemas = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line read: the tool, the arguments of each step (one, but for a report written in
    one go), the form wanted."""

    tool: str
    steps: tuple[dict[str, Any], ...]
    form: str  # text | json | csv
    flags: Mapping[str, str] = field(default_factory=dict)  # as given here, by the argument's name
    beside: Mapping[str, Any] = field(default_factory=dict)  # the shell's own flags, of OWN_FLAGS

    def in_flags(self, told: str) -> str:
        """What was said of the tool's arguments, in the words of this command line."""

        def named(found: re.Match[str]) -> str:
            name = next(filter(None, found.groups()))
            return self.flags.get(name, found.group())

        if not self.flags:  # a file of steps has the arguments' own names
            return told
        told = re.sub(rf"\b{self.tool}\.(\w+)|the argument '(\w+)'", named, told)
        told = re.sub(r"((?<=Hint: )\w+|(?<=invalid_input\. )\w+)(?=:)", named, told)
        told = re.sub(r"(?<!-)\b([a-z]+_\w+)\b", named, told)
        return re.sub(rf"\b{self.tool}\b", self.tool.replace("_", "-"), told)


def read_command(argv: Sequence[str], schemas: Schemas, *, columns: int = HELP_COLUMNS) -> Command:
    """The command line as a tool's arguments, as the texts they are; the client checks them.

    Raises:
        SystemExit: help or the version was asked (0), or the line cannot be read (2).
        InvalidInput: the file of steps cannot be read, or a step is no JSON object.
    """
    made = parsers(schemas, columns)
    namespace, left_over = made[""].parse_known_args(_spelled(argv, made))
    given = vars(namespace)
    name = given.pop("command")
    if left_over:
        made[name].error(_left_over(left_over, name, given, made[name].format_help()))
    tool = name.replace("-", "_")
    return _command(tool, given, schemas[tool]["inputSchema"], made[name])


def _command(
    tool: str, given: dict[str, Any], schema: Mapping[str, Any], parser: argparse.ArgumentParser
) -> Command:
    form = next((form for form in FORMS if given.pop(form, False)), "text")
    path = given.pop("steps", None)
    if path is not None:
        if given:
            parser.error("--steps holds every argument; beside it stands --json alone")
        return Command(tool=tool, steps=_steps(path), form=form)
    beside = {name: given.pop(name) for name in (*OWN_FLAGS, "file")
              if name in given and name != "phrase"}
    if "verify" in beside and "file" not in beside:
        parser.error("--verify needs the log: mcp-books search-log FILE --verify FOLDER")
    if form == "facets-csv":
        given.setdefault("facets", True)
    arguments = _arguments(tool, given, schema["properties"])
    arguments |= _asked_for(tool, beside, arguments)
    flags = {argument: _flag(argument, schema) for argument in schema["properties"]}
    return Command(tool=tool, steps=(arguments,), form=form, flags=flags, beside=beside)


def _asked_for(tool: str, beside: Mapping[str, Any], arguments: Mapping[str, Any]
               ) -> dict[str, Any]:
    """What the shell's own flags ask of the tool: the picture, the citation of a record."""
    asked: dict[str, Any] = {}
    if "picture" in beside:
        asked["picture"] = "passage" if "match" in arguments else "page"
    if tool == "get_item" and {"bibtex", "ris", "csl"} & set(beside):
        sections = arguments.get("sections", ["description"])
        asked["sections"] = list(dict.fromkeys([*sections, "citation"]))
    return asked


def _spelled(argv: Sequence[str], parsers: Mapping[str, argparse.ArgumentParser]) -> list[str]:
    """The words of the line, a command's name as it is spelled here; an unknown one ends it."""
    words = list(argv)
    if words and not words[0].startswith("-"):
        words[0] = words[0].replace("_", "-").lower()
        if words[0] not in parsers:
            offer = nearest(words[0], filter(None, parsers)) or f" {PROGRAM} --help lists them."
            parsers[""].error(f"there is no command {argv[0]!r}.{offer}")
    return words


def parsers(schemas: Schemas, columns: int = HELP_COLUMNS) -> Mapping[str, argparse.ArgumentParser]:
    """The parser of each command by its name; that of the whole line by none."""
    layout = functools.partial(argparse.HelpFormatter, max_help_position=30, width=columns)
    whole = argparse.ArgumentParser(
        prog=PROGRAM,
        allow_abbrev=False,
        formatter_class=layout,
        epilog=f"{PROGRAM} COMMAND --help tells a command's flags.",
        description="One question to several great libraries at once. Without a command: an MCP "
                    "server on stdin and stdout.",
    )
    whole.add_argument("--version", action="version", version=f"{PROGRAM} {VERSION}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for tool, schema in schemas.items():
        _add_command(commands, tool, schema, layout)
    for name, does in OWN_COMMANDS.items():
        commands.add_parser(name, help=does)
    return {"": whole, **commands.choices}


def _add_command(
    commands: Any,
    tool: str,
    schema: Mapping[str, Any],
    layout: Callable[..., argparse.HelpFormatter],
) -> None:
    name = tool.replace("_", "-")
    title, description = (schema[part].replace("%", "%%") for part in ("title", "description"))
    plain, placed = _plain(schema["inputSchema"])
    parser = commands.add_parser(
        name,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        formatter_class=layout,
        help=title,
        description=description,
        usage=f"{PROGRAM} {name} [flags]{placed}",
    )
    _add_flags(parser, schema["inputSchema"], plain, own=[
        flag for flag, (tools, *_) in OWN_FLAGS.items() if tool in tools])
    if tool == "search_log":
        parser.add_argument("file", nargs="?", metavar="FILE",
                            help="a log that BOOKS_SEARCH_LOG kept; left out: this command's own")
    _add_forms(parser, tool)


def _plain(schema: Mapping[str, Any]) -> tuple[str | None, str]:
    """The argument that is given without a flag (the required one, or the query), and its place in
    the usage."""
    plain = plain_argument(schema)
    if plain is None:
        return None, ""
    return plain, f" {plain.upper()}" if schema.get("required") else f" [{plain.upper()}]"


def _flag(name: str, schema: Mapping[str, Any]) -> str:
    """An argument as the command line has it."""
    return name.upper() if name == plain_argument(schema) else flag_of(name)


def _add_flags(
    parser: argparse.ArgumentParser, schema: Mapping[str, Any], plain: str | None,
    own: Sequence[str],
) -> None:
    """A flag for each argument but the plain one and those that the shell has its own flag for; one
    that was not given is not sent.

    No flag may be shortened, so that one added later changes no script's meaning.
    """
    for name, rule in schema["properties"].items():
        flag = _flag(name, schema)
        if name in own:
            continue
        if name == plain:
            lone = None if "required" in schema and name != "query" else "?"
            parser.add_argument(
                name,
                nargs="+" if rule["type"] == "array" else lone,
                metavar=name.upper(),
                help=_explained(rule),
            )
        elif rule["type"] == "boolean":
            parser.add_argument(
                flag, dest=name, action=argparse.BooleanOptionalAction, help=_explained(rule)
            )
        else:
            action = "append" if rule["type"] == "array" else "store"
            parser.add_argument(
                flag, dest=name, action=action, metavar=_placeholder(rule), help=_explained(rule)
            )


def _add_forms(parser: argparse.ArgumentParser, tool: str) -> None:
    """The shell's own flags, and the forms of output."""
    for name, (tools, metavar, does) in OWN_FLAGS.items():
        if tool in tools and metavar:
            parser.add_argument(f"--{name}", metavar=metavar, help=does)
        elif tool in tools:
            parser.add_argument(f"--{name}", action="store_true", help=does)
    forms = parser.add_mutually_exclusive_group()
    for form, (tools, does) in FORMS.items():
        if tool in tools:
            forms.add_argument(f"--{form}", dest=form, action="store_true", help=does)


def _left_over(words: Sequence[str], name: str, given: Mapping[str, Any], explained: str) -> str:
    """What is wrong with words of the command line that nothing took; `explained` is the command's
    help."""
    flag = next((word.partition("=")[0] for word in words if word.startswith("-")), None)
    if flag == "--csv":
        return (
            "--csv is for lists alone: " + ", ".join(tool.replace("_", "-") for tool in LISTS) + "."
        )
    if flag is not None:
        named = dict.fromkeys(name.replace("-", "_")
                              for name in re.findall(r"--([a-z][a-z-]+)", explained))
        offer = nearest(flag[2:].replace("-", "_"), named)
        spelled = re.sub(r"'(\w+)'", lambda name: f"'{flag_of(name[1])}'", offer)
        return f"there is no flag {flag}.{spelled}"
    if "query" in given:
        phrase = " ".join([given["query"], *words])
        return f'put the words in quotation marks: {PROGRAM} {name} "{phrase}"'
    return f"nothing here takes the word {words[0]!r}."


def _explained(rule: Mapping[str, Any]) -> str:
    """A flag's help: the schema's own words, its bounds, its names, its default."""
    bounds = (
        f"{rule['minimum']} to {rule['maximum']}" if "minimum" in rule and "maximum" in rule else ""
    )
    names = ", ".join(rule.get("enum") or rule.get("items", {}).get("enum") or ())
    default = rule.get("default")
    usual = (
        ""
        if default is None
        else "default "
        + (", ".join(default) if isinstance(default, list) else str(default).lower())
    )
    return "; ".join(
        filter(None, (rule.get("description", "").rstrip("."), bounds, names, usual))
    ).replace("%", "%%")


def _placeholder(rule: Mapping[str, Any]) -> str:
    kind = rule.get("items", rule)
    return ("N" if kind.get("type") == "integer" else "NAME" if "enum" in kind else "TEXT") + (
        ",…" if "items" in rule else ""
    )


def _arguments(
    tool: str, given: dict[str, Any], rules: Mapping[str, Any]
) -> dict[str, Any]:
    """The flags as arguments. A list may come as one flag with commas or as the flag repeated."""
    if "phrase" in given:
        phrase, name = given.pop("phrase").replace('"', " "), PHRASE_IN[tool]
        given[name] = " ".join(filter(None, [given.get(name), f'"{phrase.strip()}"']))
    return {
        name: [part.strip() for text in value for part in text.split(",") if part.strip()]
        if rules[name]["type"] == "array" else value
        for name, value in given.items()
    }


def _steps(path: str) -> tuple[dict[str, Any], ...]:
    """The steps of a report, one JSON object a line; empty lines are passed over. Raises
    InvalidInput."""
    source = 0 if path == "-" else path
    try:
        # utf-8-sig: some editors begin a file with a byte order mark
        with open(source, encoding="utf-8-sig", closefd=bool(source)) as lines:
            told = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    except (OSError, ValueError) as exc:  # ValueError: no UTF-8, or a name that no file can have
        why = (exc.strerror if isinstance(exc, OSError) else None) or "it is no text in UTF-8"
        raise InvalidInput(f"The steps cannot be read from {path!r}: {why}.",
                           hint="Name a file with one JSON object of arguments a line.") from exc
    if not told:
        raise InvalidInput(
            f"No step stands in {path!r}.", hint="Write one JSON object of arguments a line."
        )
    return tuple(_step(line, number) for number, line in told)


def _step(line: str, number: int) -> dict[str, Any]:
    try:
        step = json.loads(line)
    except (ValueError, RecursionError):
        step = None
    if not isinstance(step, dict):
        raise InvalidInput(
            f"Line {number} of the steps is no JSON object.",
            hint="Write one JSON object of arguments a line.",
        )
    return step
