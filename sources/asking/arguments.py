"""What a caller may ask: the schema files, with the registry's names filled in, and the checks that
no schema can state.

Everything refused here is refused before any request, with the field, what came and what is
allowed.
"""
from __future__ import annotations

import datetime
import difflib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import Any

from ..contract import FIELDS, Archive
from ..errors import InvalidInput
from ..languages import marc_code
from ..telling.harmless import shortened
from .schemas import SCHEMAS, TOOLS, schema_file, tool_schema, tool_schemas

__all__ = ["SCHEMAS", "TOOLS", "check", "nearest", "schema_file", "tool_schema", "tool_schemas"]
SHOWN_CHARS = 80  # how much of what came a refusal repeats
SHOWN_ERRORS = 8
_REASONS = {"required": "missing_argument", "additionalProperties": "unknown_argument"}
# What others call an argument or a kind of material; of each, what there is here.
_MEANT = {
    "q": ("query",), "text": ("query",), "author": ("creator",), "state": ("place",),
    "year": ("year_from", "year_to"), "from": ("year_from", "date_from"),
    "to": ("year_to", "date_to"), "start_date": ("date_from",), "end_date": ("date_to",),
    "count": ("limit",), "rows": ("limit",), "id": ("identifier",), "newspaper": ("publication",),
    "source": ("sources",), "archives": ("sources",), "type": ("media_type",),
    "mediatype": ("media_type",), "lang": ("language",),
    "livre": ("books", "monographie", "texte-imprime", "texts"), "book": ("books", "monographie"),
    "photo": ("photos", "image", "image-fixe"), "map": ("maps", "carte"), "carte": ("maps",),
    "film": ("film-and-videos", "movies", "video", "image-animee"), "score": ("notated-music",
    "partition", "musique-notee"), "journal": ("newspapers", "periodique"),
}
_TO_SEARCH_ON = ("query", *FIELDS, "media_type", "year_from", "year_to", "date_from", "date_to")

# Arguments that hold words; double marks of many languages, opening, what stands between, closing.
_WORDED = ("query", "match", "topic", *FIELDS)
_JOINERS = "\u200c\u200d"
_PAIRS = (("[“„‟]", '[^“”„‟"]', "[”“‟]"), ("«", '[^«»"]', "»"), ("»", '[^«»"]', "«"),
          ("「", '[^「」"]', "」"), ("『", '[^『』"]', "』"), ("＂", '[^＂"]', "＂"),
          ("〝", '[^〝〞〟"]', "[〞〟]"))


def check(
    tool: str, arguments: Mapping[str, Any], archives: Sequence[type[Archive]]
) -> dict[str, Any]:
    """The arguments with texts read as what they stand for and defaults filled in.

    Raises:
        InvalidInput: an unknown argument, a value the schema refuses, or a combination that means
        nothing.
    """
    schema = tool_schema(tool, archives)["inputSchema"]
    properties = schema["properties"]
    needed = schema.get("required", ())
    given = {
        name: _read(value, properties[name]) if name in properties else value
        for name, value in arguments.items()
        if value is not None and (value != "" or name in needed)  # many models fill in every text
    }
    _validate(tool, given, schema)
    given |= {name: _tidied(given[name]) for name in _WORDED if isinstance(given.get(name), str)}
    _check_combination(tool, given)
    defaults = {name: rule["default"] for name, rule in properties.items() if "default" in rule}
    return {**defaults, **given}


def _tidied(text: str) -> str:
    """Words as an archive can read them: letters composed, what nobody sees taken out (but the
    joiners that some scripts write with), and any matched pair of double marks written as ".

    A query in an archive's own syntax has such marks inside its terms alone, where they mean the
    same.
    """
    seen = "".join(char for char in unicodedata.normalize("NFC", text)
                   if char in _JOINERS or char.isspace() or unicodedata.category(char)[0] != "C")
    for opening, inside, closing in _PAIRS:
        seen = re.sub(f"{opening}\\s*({inside}*?)\\s*{closing}", r'"\1"', seen)
    return seen


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that was probably meant, as a question; empty where none is near. The same beginning
    counts for more."""
    names = list(names)
    said_so = [other for other in _MEANT.get(name.lower(), ()) if other in names]
    if said_so:
        return f" Did you mean {' and '.join(map(repr, said_so))}?"

    def likeness(other: str) -> float:
        return (
            difflib.SequenceMatcher(None, name, other).ratio()
            + len(commonprefix([name, other])) / 10
        )

    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f" Did you mean {max(close, key=likeness)!r}?" if close else ""


def _read(value: Any, rule: Mapping[str, Any]) -> Any:
    """A number, a truth value or a list that came as text.

    Anything that would lose something is left for the schema to refuse.
    """
    wanted = rule.get("type")
    if wanted == "array":
        return _each_read(_read_list(value) if isinstance(value, str) else value, rule)
    if isinstance(value, str) and wanted in ("integer", "boolean"):
        text = value.strip()
        if wanted == "boolean":
            return {"true": True, "false": False}.get(text.lower(), value)
        number = re.fullmatch(r"(-?\d{1,9})(?:\.0+)?", text, re.ASCII)
        return int(number[1]) if number else value
    if wanted == "integer" and isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        return int(value)  # 5.0 is how some hosts write 5
    if (
        wanted == "string"
        and isinstance(value, int)
        and not isinstance(value, bool)
        and 0 <= value < 10**15
    ):
        return str(value)  # a year or a number of a book, written without quotation marks
    return value


def _each_read(value: Any, rule: Mapping[str, Any]) -> Any:
    """The entries of a list, each read, one named twice as named; no list as it came."""
    if not isinstance(value, list):
        return value
    read = [_read(entry, rule.get("items", {})) for entry in value]
    return (list(dict.fromkeys(read)) if all(isinstance(entry, (str, int)) for entry in read)
            else read)


def _read_list(text: str) -> Any:
    if text.lstrip().startswith("["):
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return read if isinstance(read, list) else text
    return [text]


def _validate(tool: str, given: dict[str, Any], schema: dict[str, Any]) -> None:
    from jsonschema import Draft202012Validator  # loaded when a call first needs it (DESIGN 10)

    errors = sorted(Draft202012Validator(schema).iter_errors(given),
                    key=lambda error: [str(step) for step in error.absolute_path])
    told = dict(part for error in errors for part in _refusals(tool, error, schema))
    if told:
        hints = dict.fromkeys(hint for hint in told.values() if hint)
        raise InvalidInput(" ".join(list(told)[:SHOWN_ERRORS]),
                           reason=_REASONS.get(errors[0].validator, "unreadable_value"),
                           hint=" ".join(list(hints)[:SHOWN_ERRORS]) or None)


def _refusals(tool: str, error: Any, schema: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """One schema error in words: the field, what came, what is allowed; and what would do
    instead."""
    properties = schema["properties"]
    if error.validator == "required":
        for name in error.validator_value:
            if name not in error.instance:
                yield f"{tool} needs the argument {name!r}.", _description(schema, name)
        return
    if error.validator == "additionalProperties":
        for name in sorted(set(error.instance) - set(properties)):
            yield (f"{tool} takes no argument {name[:SHOWN_CHARS]!r}.{nearest(name, properties)}",
                   "Its arguments are: " + ", ".join(properties) + ".")
        return
    name, *entry = [*error.absolute_path] or ["arguments"]
    where = f"{tool}.{name}" + (f", entry {entry[0] + 1}," if entry else "")
    came = json.dumps(error.instance, ensure_ascii=False, default=str)
    came = shortened(came, SHOWN_CHARS)
    rule, limit = error.validator, error.validator_value
    meant = nearest(str(error.instance), list(map(str, limit))) if rule == "enum" else ""
    yield f"{where} is {came}; wanted: {_allowed(rule, limit, name)}.{meant}", _usual(schema, name)


def _allowed(rule: str, limit: Any, name: str) -> str:
    """A schema rule in words."""
    match rule:
        case "enum":
            return "one of " + ", ".join(map(str, limit))
        case "type":
            return f"a value of type {limit}"
        case "minimum":
            return f"{limit} or more"
        case "maximum":
            return f"at most {limit}"
        case "minLength":
            return f"at least {limit} character{'' if limit == 1 else 's'}"
        case "maxLength":
            return f"at most {limit} characters"
        case "pattern":
            return "a date written YYYY, YYYY-MM or YYYY-MM-DD"
        case "minItems":
            return f"at least one entry, or no {name} at all"
        case _:
            return f"a value that keeps to {rule} {limit}"


def _usual(schema: Mapping[str, Any], name: str) -> str:
    """What an argument means and what it is when left out; where the schema says neither, whether
    it can be."""
    default, means = schema["properties"].get(name, {}).get("default"), _description(schema, name)
    usual = ", ".join(default) if isinstance(default, list) else json.dumps(default).strip('"')
    told = ([f"{name}: {means}"] if means else []) + (
        [f"Left out, it is {usual}."] if default is not None else []
    )
    otherwise = "." if name in schema.get("required", ()) else ", or leave it out."
    return " ".join(told) or f"Change {name}{otherwise}"


def _description(schema: Mapping[str, Any], name: str) -> str | None:
    text: str | None = schema["properties"].get(name, {}).get("description")
    return text


def _check_combination(tool: str, given: Mapping[str, Any]) -> None:
    for name in ("query", "match"):
        asked = given.get(name, "x")
        empty = tool == "search_items" and not asked.strip()  # its fields may be enough
        if not (empty or given.get("native_query") or any(map(str.isalnum, asked))):
            raise InvalidInput(f"{tool}.{name} holds no word.", reason="no_word",
                               hint="Give words to look for.")
    if given.get("picture") == "passage" and "match" not in given:
        raise InvalidInput("read_text.picture is \"passage\", and no match says which.",
                           hint="Give match, or picture page.", reason="missing_argument")
    if given.get("language") and not given.get("native_query"):
        marc_code(given["language"])
    if tool == "search_items":
        _check_catalogue_search(given)
    for name in ("date_from", "date_to"):
        if name in given:
            _first_day(given[name], name)
    _check_order(given, "date_from", "date_to", lambda text: text)
    _check_order(given, "year_from", "year_to", lambda year: year)


def _check_catalogue_search(given: Mapping[str, Any]) -> None:
    if not any(str(given.get(name, "")).strip() for name in _TO_SEARCH_ON):
        raise InvalidInput(
            "search_items needs something to search on.",
            hint=f"Give a query, one of the fields ({', '.join(FIELDS)}), a media_type, or a date "
                 "or year bound.",
            reason="missing_argument")
    for name in FIELDS:
        if name in given and not any(map(str.isalnum, given[name])):
            raise InvalidInput(
                f"search_items.{name} holds no word.", hint=f"Give {name} a value or leave it out."
            )
    if {"year_from", "year_to"} & given.keys() and {"date_from", "date_to"} & given.keys():
        raise InvalidInput(
            "year_from/year_to and date_from/date_to were both given; they state the same bound "
            "twice.",
            hint="Keep the years or the dates, not both.",
            reason="contradiction")
    if given.get("native_query"):
        if len(given.get("sources", ())) != 1:
            raise InvalidInput("native_query needs exactly one archive in sources: "
                               "the query is written in that archive's syntax.",
                               hint="Name one archive in sources, or leave native_query out.")
        if not given.get("query", "").strip():
            raise InvalidInput(
                "native_query needs a query.", hint="Give the query in the archive's own syntax."
            )


def _first_day(text: str, name: str) -> datetime.date:
    """The first day of a date; refuses a day or month that the calendar lacks, and the line end
    that `$` lets pass."""
    try:
        return datetime.date.fromisoformat(text + "-01-01"[len(text) - 4:])
    except ValueError as exc:
        raise InvalidInput(
            f"{name} is {text!r}, a date the calendar does not have.", hint=f"Correct {name}."
        ) from exc


def _check_order(given: Mapping[str, Any], low: str, high: str, key: Any) -> None:
    """A backwards range names no time at all. Dates of different precision overlap when one begins
    the other."""
    if low not in given or high not in given:
        return
    start, end = key(given[low]), key(given[high])
    if isinstance(start, str):
        length = min(len(start), len(end))
        start, end = start[:length], end[:length]
    if start > end:
        raise InvalidInput(
            f"{low} ({given[low]}) lies after {high} ({given[high]}): the range names no time.",
            hint=f"Swap them: {low} {given[high]}, {high} {given[low]}.",
            reason="contradiction")
