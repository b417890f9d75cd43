"""A question as the command that asks it again, quoted for a POSIX shell and without settings."""
from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from .schemas import schema_file

PROGRAM = "mcp-books"


def plain_argument(schema: Mapping[str, Any]) -> str | None:
    """The argument that a command takes without a flag: the required one, or the query."""
    return next(iter(schema.get("required", ())),
                "query" if "query" in schema["properties"] else None)


def flag_of(argument: str) -> str:
    return "--" + argument.replace("_", "-")


def repeated(tool: str, given: Mapping[str, Any]) -> str:
    """The command of a tool's checked arguments; those left as they are when left out are left
    out."""
    schema = schema_file(f"{tool}.input")
    words = [PROGRAM, tool.replace("_", "-"), *_flags(schema, given)]
    plain = given.get(plain_argument(schema) or "")
    if plain:  # behind a bare --, since it may begin with a hyphen
        words += ["--", plain] if plain.startswith("-") else [plain]
    return shlex.join(words)


def _flags(schema: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    for name, rule in schema["properties"].items():
        value = given.get(name)
        if value is None or value == rule.get("default") or name == plain_argument(schema):
            continue
        if isinstance(value, bool):
            yield flag_of(name) if value else "--no-" + flag_of(name)[2:]
        else:
            text = ",".join(value) if isinstance(value, list) else str(value)
            yield from ([f"{flag_of(name)}={text}"] if text.startswith("-")
                        else [flag_of(name), text])
