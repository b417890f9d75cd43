"""`mcp-books demo`: both searches, a record and a page, over the sample shelf that ships with the
package; no network.

The shelf is a folder of kept answers (recording.py) to QUESTIONS. They were written for it in the
archives' own shapes: no book, newspaper or person in them exists. BOOKS_REPLAY_DIR set to the
folder lets every command, and a host's server, answer from it.
"""
from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ..settings import Settings
from ..telling.text_block import render, render_error
from .screen import Screen, readable

SHELF = Path(__file__).resolve().parent.parent / "shelf"
ANSWERED, FAILED = 0, 1

_OPENING = """\
This is the sample shelf: kept answers that ship with mcp-books. Nothing is sent anywhere, and
nothing below exists; the books, the newspaper and the people were invented, in the shapes in which
the archives answer."""
_CLOSING = """\
The shelf answers these as well, once BOOKS_REPLAY_DIR names its folder (mcp-books demo --where
prints it). Anything else is then reported as not on the shelf. Without that setting the same
commands ask the archives themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that the shelf answers; `shows` says what to see in it where the demonstration
    asks it."""

    tool: str
    arguments: Mapping[str, Any]
    shows: str | None = None

    def command(self) -> str:
        """The same question at a terminal."""
        words = ["mcp-books", self.tool.replace("_", "-")]
        # the one without a flag comes first in every question
        for name, value in self.arguments.items():
            words += [] if name in ("query", "identifier") else ["--" + name.replace("_", "-")]
            given = f"{value}.png" if name == "picture" else value  # there it names the file
            words.append(",".join(given) if isinstance(given, list) else str(given))
        return shlex.join(words)


QUESTIONS = (
    Question(
        tool="search_inside",
        arguments={"query": "a wet fog"},
        shows="Words in the text itself: what an excerpt is, who gives page numbers, which "
              "wording found what.",
    ),
    Question(
        tool="search_items",
        arguments={"query": "lighthouse"},
        shows="The catalogues: one word, four vocabularies, no order between them.",
    ),
    Question(
        tool="get_item",
        arguments={
            "identifier": "archive:capemarrowlog00fenw",
            "sections": ["description", "copies"],
        },
        shows="One record: what it states, what it says of rights, which files there are.",
    ),
    Question(
        tool="read_text",
        arguments={"identifier": "loc:sn00001874/1888-02-03/ed-1", "page": 2},
        shows="The page that the first search found, as a machine read it.",
    ),
    Question(tool="search_inside", arguments={"query": "a wet fog", "limit": 2}),
    Question(
        tool="get_item",
        arguments={"identifier": "archive:capemarrowlog00fenw", "sections": ["citation"]},
    ),
    Question(tool="get_item", arguments={"identifier": "loc:00001874"}),
    Question(
        tool="get_item",
        arguments={"identifier": "bnf:cb900018740", "sections": ["description", "editions"]},
    ),
    Question(
        tool="get_item",
        arguments={"identifier": "openlibrary:OL800001W", "sections": ["description", "editions"]},
    ),
    Question(tool="read_text", arguments={"identifier": "archive:capemarrowlog00fenw", "page": 7}),
    Question(
        tool="read_text",
        arguments={"identifier": "archive:capemarrowlog00fenw", "match": "wet fog"},
    ),
    Question(
        tool="read_text",
        arguments={"identifier": "loc:sn00001874/1888-02-03/ed-1", "page": 2, "match": "wet fog"},
    ),
    Question(tool="search_headings", arguments={"query": "lighthouses"}),
    Question(tool="search_headings", arguments={"query": "phares", "sources": ["bnf"]}),
    Question(tool="search_headings", arguments={"query": "Orla Fenwick", "kind": "person"}),
    Question(tool="browse_collections", arguments={}),
    Question(tool="browse_collections", arguments={"query": "lighthouses"}),
    Question(tool="get_item", arguments={"identifier": "bnfcatalogue:cb49900187f"}),
    Question(
        tool="read_text",
        arguments={"identifier": "archive:capemarrowlog00fenw", "page": 7, "picture": "page"},
    ),
    Question(
        tool="read_text",
        arguments={"identifier": "archive:capemarrowlog00fenw", "page": 7, "match": "wet fog",
                   "picture": "passage"},
        shows="A passage, and its picture cut from the page, so that the quotation can be checked "
              "by eye.",
    ),
)


def main(argv: Sequence[str], *, environ: Mapping[str, str], stdout: TextIO, stderr: TextIO) -> int:
    """Ask what the demonstration shows, and print question and answer. Exit status: 0, or 1 when
    the shelf is incomplete."""
    parser = argparse.ArgumentParser(
        prog="mcp-books demo",
        allow_abbrev=False,
        description="Both searches, a record and a page from a sample shelf that ships with the "
                    "package: no network.",
    )
    parser.add_argument(
        "--where",
        action="store_true",
        help="print the shelf's folder, for BOOKS_REPLAY_DIR, and nothing else",
    )
    try:
        where_only = parser.parse_args(list(argv)).where
    except SystemExit as end:  # argparse has printed its help or its objection
        return int(end.code or ANSWERED)
    if where_only:
        print(SHELF, file=stdout)
        return ANSWERED
    return _show(Screen.of(stdout, environ), stdout, stderr)


def _show(screen: Screen, stdout: TextIO, stderr: TextIO) -> int:
    # brings the libraries that read answers; --help and --where do without them
    from ..client import BooksClient
    from ..errors import SourceError

    client = BooksClient(settings=Settings(replay_dir=SHELF))
    print(_wrapped(_OPENING, screen), file=stdout)
    try:
        for question in QUESTIONS:
            if question.shows:
                text = render(
                    question.tool, client.ask(question.tool, question.arguments).to_dict()
                )
                print(
                    f"\n{_wrapped(question.shows, screen)}\n$ {question.command()}\n", file=stdout
                )
                looked_for = (
                    [question.arguments["query"]] if question.tool == "search_inside" else []
                )
                print(readable(text, screen, mark=looked_for), file=stdout, flush=True)
    except SourceError as error:
        print(render_error(error), file=stderr)
        return FAILED
    finally:
        client.close()
    print(f"\n{_wrapped(_CLOSING, screen)}\n", file=stdout)
    for question in QUESTIONS:
        if not question.shows:
            print(f"$ {question.command()}", file=stdout)
    return ANSWERED


def _wrapped(text: str, screen: Screen) -> str:
    return readable(text.replace("\n", " ") if screen.columns else text, screen)
