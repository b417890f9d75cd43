"""The jobs people come with, as prompts a person picks; and the words that complete an argument. No
protocol is known here.

A prompt is lines of instruction with the caller's values set in. A line that names a value which
was not given is left out.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from . import languages
from .errors import InvalidInput
from .registry import Entry
from .telling.harmless import inert

# characters of one value shown in a prompt: a long quotation fits, a book does not
VALUE_LIMIT = 2000
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """`tools` are those its lines call for: a prompt is offered only where all of them are."""

    name: str
    title: str
    description: str
    tools: tuple[str, ...]
    arguments: tuple[Argument, ...]
    lines: tuple[str, ...]


_SOURCES = Argument(
    name="sources",
    description=(
        "The archives to ask, separated by commas; all those asked by default when left "
        "out"
    ),
)
_LANGUAGE = Argument(name="language", description="Language code, such as fre or fr")
_NARROW = ("Ask only these archives: {sources}.", "Keep to texts in this language: {language}.")
_HONEST = (
    "Name each archive that failed or could not be asked, with its reason, and claim no absence "
    "for it.",
)

PROMPTS = (
    Prompt(
        name="trace_a_phrase",
        title="Trace a phrase",
        tools=("search_inside", "read_text"),
        description="Where these words stand in print, and how far back these archives show them.",
        arguments=(
            Argument(
                name="phrase",
                description="The words, as they would have been printed",
                required=True,
            ),
            _SOURCES,
            _LANGUAGE,
            Argument(name="date_from", description="Not before: YYYY, YYYY-MM or YYYY-MM-DD"),
            Argument(name="date_to", description="Not after: YYYY, YYYY-MM or YYYY-MM-DD"),
        ),
        lines=(
            "Find where these words were printed: {phrase}.",
            "Use search_inside, first with the words in double quotes, then without.",
            *_NARROW,
            "Nothing before {date_from}.",
            "Nothing after {date_to}.",
            "Read the page with read_text before you quote from it; a page opening is not a match.",
            "For each place give title, date and page number as the archive states them, and the "
            "address.",
            "Call the oldest match the oldest found here, never the first use.",
            *_HONEST,
        ),
    ),
    Prompt(
        name="editions_and_copies",
        title="Find a work's editions and copies",
        tools=("search_items", "get_item"),
        description=(
            "The editions of one work that these catalogues hold, and the copies that can be "
            "opened."
        ),
        arguments=(
            Argument(name="title", description="The title of the work", required=True),
            Argument(name="creator", description="Its author or maker"),
            _LANGUAGE,
            Argument(name="media_type", description="An archive's own word for a kind of material"),
            _SOURCES,
        ),
        lines=(
            "List the editions and copies of the work {title}.",
            "It is by {creator}.",
            "Use search_items with the title and creator fields, then get_item with the sections "
            "editions and copies.",
            *_NARROW,
            "Only this kind of material: {media_type}.",
            "Keep works, editions and copies apart, say what each row describes, and add up no "
            "counts across archives.",
            *_HONEST,
        ),
    ),
    Prompt(
        name="check_a_quotation",
        title="Check a quotation",
        tools=("search_inside", "read_text"),
        description=(
            "Whether a quotation stands in the scanned text, in which words, and under whose "
            "name."
        ),
        arguments=(
            Argument(name="quotation", description="The quotation as you have it", required=True),
            Argument(name="attributed_to", description="Who is said to have written it"),
            _SOURCES,
            _LANGUAGE,
        ),
        lines=(
            "Check this quotation against scanned pages: {quotation}.",
            "It is attributed to {attributed_to}.",
            "Use search_inside with the rarest run of its words in double quotes; scanned text "
            "holds misreadings, so try a second run.",
            *_NARROW,
            "Read each page that seems to hold it with read_text and compare word by word.",
            "Answer with the wording as printed, the differences, the work, its date and the "
            "address of the page.",
            "Not found here does not mean never written; say so when nothing is found.",
            *_HONEST,
        ),
    ),
    Prompt(
        name="what_may_i_reuse",
        title="What may I reuse?",
        tools=("get_item",),
        description=(
            "What a record states about reuse, what it leaves unsaid, and the credit to "
            "give."
        ),
        arguments=(
            Argument(
                name="identifier",
                required=True,
                description="An identifier from a search, or the address of a record",
            ),
        ),
        lines=(
            "Say what may be reused of {identifier}.",
            "Use get_item with the sections description, copies and citation.",
            "Quote the rights statement and say what it covers; where none is stated, say that "
            "silence grants nothing.",
            "Give the credit line the archive asks for. Do not guess a term of protection.",
        ),
    ),
)


def compose(prompt: Prompt, given: Mapping[str, str]) -> str:
    """The prompt's text for these values; an empty value counts as not given.

    Raises:
        InvalidInput: a value the prompt does not take, or one it needs and was not given.
    """
    known = {argument.name: argument for argument in prompt.arguments}
    values = {
        name: f'"{inert(value, limit=VALUE_LIMIT)}"'
        for name, value in given.items()
        if value.strip()
    }
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InvalidInput(
            f"{prompt.name} takes no argument {unknown[0][:80]!r}; it takes {', '.join(known)}."
        )
    missing = [name for name, argument in known.items() if argument.required and name not in values]
    if missing:
        raise InvalidInput(f"{prompt.name} needs the argument {missing[0]!r}.")
    lines = (line for line in prompt.lines if all(name in values for name in _PLACE.findall(line)))
    return "\n".join(_PLACE.sub(lambda place: values[place[1]], line) for line in lines)


def completions(argument: str, typed: str, archives: Sequence[Entry]) -> tuple[str, ...]:
    """The values known for an argument that begin with what was typed, or whose name does; none
    where there is no list."""
    names = {archive: archive.name.removeprefix("the ") for archive in archives}
    # pairs of a value and the name people know it by
    choices: dict[str, Iterable[tuple[str, str]]] = {
        "sources": [(archive.key, name) for archive, name in names.items()],
        "identifier": [
            (f"{archive.key}:", name)
            for archive, name in names.items()
            if "get_item" in archive.answers
        ],
        "media_type": [(kind, kind) for archive in archives for kind in archive.media_types],
        "language": languages.names().items(),
    }
    begun = typed.casefold().strip()
    return tuple(
        dict.fromkeys(
            value
            for value, name in choices.get(argument, ())
            if value.casefold().startswith(begun) or name.casefold().startswith(begun)
        )
    )
