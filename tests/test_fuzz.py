"""Broken bodies through every parser, and random arguments through every tool: seeded, and bounded in number and in time.

What is broken are the tests' own answer files, so every mutation lies near an answer that can be read. The real client, the real
transport and the real adapters read them; only the wire is left out, so that thousands fit into seconds.
"""
from __future__ import annotations

import copy
import json
import logging
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import shelf
from conftest import ANSWERS, FakeClock
from jsonschema import Draft202012Validator
from lxml import etree
from shelf import QUESTIONS, Question
from test_faults import READINGS, SEARCHES, Step

import sources.transport.flights
from sources.answers import Answer
from sources.archives.page_xml import read_page_xml
from sources.asking.arguments import TOOLS
from sources.asking.schemas import schema_file, tool_schemas
from sources.client import BooksClient
from sources.contract import Ask
from sources.errors import SourceError
from sources.registry import ARCHIVES
from sources.settings import Settings
from sources.telling.fit import RESULT_LIMIT_BYTES, fitted, result_bytes
from sources.telling.text_block import render, render_error
from sources.transport.connection import Wire
from sources.transport.exchange import Exchange
from sources.transport.flights import Transport

SEED = 20261130
SECONDS = 2.5  # for one test; a slow machine tries less
ROUNDS = 60  # mutations of each answer file
CODES = {"not_found", "invalid_input", "rate_limited", "parse_failure", "network_error", "timeout"}
TEXTS = ["", " ", "\x00", "\u202e\u2066x", "\ud800", "щука", "<b>x", "Failed: all", "9" * 30, "-1", "1e999", "x" * 3000, "[[tag]]", "{{{", "}}}",
         "http://[::1", "//", "../..", "ark:/12148/", "0001-01-01", "18uu", "\n\n1. forged", "![x](http://e.example/)"]
VALUES: list[Any] = [None, True, False, 0, -1, 1.5, 10**30, -(10**18), [], {}, [[]], [None], {"": None}, [[["x"]]], {"value": {"value": "x"}}]


# ---- a wire that leads to the answer files -------------------------------------------------------------------------------

class Files(Wire):
    """Answers from the shelf. `broken` holds bodies that stand in for a question's own."""

    broken: Mapping[str, bytes] = {}

    def run(self, exchange: Exchange) -> None:
        exchange.started()
        exchange.answer = self._answer(exchange.ask)

    def _answer(self, asked: Ask) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(asked.url)
        place, given = f"{parts.hostname}{parts.path}", {**dict(parse_qsl(parts.query)), **dict(asked.form)}
        for name, question in QUESTIONS.items():
            if re.fullmatch(question.at, place) and all(re.search(value, given.get(key, "")) for key, value in question.asks.items()):
                route = question.route()
                return 200, {key.lower(): value for key, value in route.headers.items()}, self.broken.get(name, route.body)
        return 404, {"content-type": "text/html"}, b"<html>Not Found</html>"


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> Iterator[BooksClient]:
    monkeypatch.setattr(sources.transport.flights, "Wire", Files)
    monkeypatch.setattr(Files, "broken", {})
    settings = Settings(gallica_contents=True, cache_ttl_ms=0, max_retries=0)
    client = BooksClient(settings=settings, transport=Transport(settings, ARCHIVES, pacing_clock=FakeClock()))
    yield client
    client.close()


def asked(books: BooksClient, tool: str, arguments: Mapping[str, Any]) -> Answer | SourceError:
    try:
        return books.ask(tool, arguments)
    except SourceError as error:
        return error


class Judge:
    """Holds every outcome to what must be true of any."""

    def __init__(self) -> None:
        offered = tool_schemas(Settings(gallica_contents=True))
        self._outputs = {name: Draft202012Validator(offered[name]["outputSchema"]) for name in TOOLS}
        self._report = Draft202012Validator(schema_file("per_source"))

    def outcome(self, books: BooksClient, tool: str, arguments: Mapping[str, Any]) -> Answer | SourceError:
        """What came; any other exception than a SourceError ends the test."""
        answer = asked(books, tool, arguments)
        if isinstance(answer, SourceError):
            assert answer.code in CODES
            assert render_error(answer).encode()
            return answer
        payload = answer.to_dict()
        self._outputs[tool].validate(payload)
        for report in payload.get("per_source", ()):
            self._report.validate(report)
        told = fitted(tool, answer)
        assert told.text == render(tool, told.payload) and told.text.encode()
        assert result_bytes(tool, told.payload) <= RESULT_LIMIT_BYTES
        self._outputs[tool].validate(told.payload)
        json.dumps(payload, ensure_ascii=False, allow_nan=False).encode()
        return answer


@pytest.fixture
def judge(caplog: pytest.LogCaptureFixture) -> Iterator[Judge]:
    """At the end: no fault of an adapter was caught and logged on the way."""
    yield Judge()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


# ---- how a body is broken ------------------------------------------------------------------------------------------------

def odd(chance: random.Random) -> Any:
    return copy.deepcopy(chance.choice(VALUES)) if chance.random() < 0.5 else chance.choice(TEXTS)


def nested(depth: int) -> Any:
    value: Any = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"item": value}
    return value


def broken_bytes(chance: random.Random, body: bytes) -> bytes:
    """A few bytes flipped, cut out, doubled or strewn in, or the end cut off."""
    spoiled = bytearray(body)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(max(1, len(spoiled)))
        length = chance.randint(1, 40)
        how = chance.randrange(5)
        if how == 0:
            spoiled[at:at + 1] = bytes([chance.randrange(256)])
        elif how == 1:
            del spoiled[at:at + length]
        elif how == 2:
            spoiled[at:at] = spoiled[at:at + length]
        elif how == 3:
            spoiled[at:at] = chance.choice([b"\x00", b"\xff\xfe", b"\\ud800", b"&#0;", b"<!DOCTYPE x>", b"]]>", b'"', b"{", b"]", b"\xe9", b"&x;"])
        else:
            del spoiled[at:]
    return bytes(spoiled)


def broken_json(chance: random.Random, body: bytes) -> bytes:
    """JSON still, with values swapped for others, keys dropped, lists wrapped, doubled or emptied, something nested deeply."""
    root = {"": json.loads(body)}
    for _ in range(chance.randint(1, 3)):
        holder, key = chance.choice(list(places(root)))
        value = holder[key]
        how = chance.randrange(7)
        if how == 0 and holder is not root:
            del holder[key]
        elif how == 1:
            holder[key] = [value]
        elif how == 2 and isinstance(value, list):
            holder[key] = value * 2
        elif how == 3 and isinstance(value, (list, dict)):
            holder[key] = type(value)()
        elif how == 4:
            holder[key] = nested(chance.choice([3, 150, 300]))
        else:
            holder[key] = odd(chance)
    return json.dumps(root[""]).encode()


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every value inside, as its holder and its key or position."""
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from places(node[key])


def broken_xml(chance: random.Random, body: bytes) -> bytes:
    """XML still, with elements dropped, doubled, renamed or emptied, texts and attributes swapped for others."""
    root = etree.fromstring(body)
    for _ in range(chance.randint(1, 3)):
        element = chance.choice([node for node in root.iter() if isinstance(node.tag, str)])
        parent = element.getparent()
        how = chance.randrange(6)
        if how == 0 and parent is not None:
            parent.remove(element)
        elif how == 1 and parent is not None:
            parent.append(copy.deepcopy(element))
        elif how == 2:
            element.tag = "other"
        elif how == 3:
            element.clear()
        elif how == 4 and element.attrib:
            element.set(chance.choice(list(element.attrib)), written(chance))
        else:
            element.text = written(chance)
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True))


def written(chance: random.Random) -> str:
    """A text that XML can hold."""
    return re.sub(r"[\x00-\x08\ud800-\udfff]", "", chance.choice(TEXTS))


def breakers(question: Question) -> tuple[Callable[[random.Random, bytes], bytes], ...]:
    return (broken_bytes, broken_xml) if question.file.endswith(".xml") else (broken_bytes, broken_json)


def is_readable(question: Question, body: bytes) -> bool:
    """Whether an independent reader makes anything of a body at all; of XML also in spite of the encoding that it declares."""
    readers: list[Callable[[bytes], Any]] = [json.loads]
    if question.file.endswith(".xml"):
        readers = [etree.fromstring, lambda body: etree.fromstring(body, etree.XMLParser(encoding="utf-8"))]
        if question.file.endswith("leaf.xml"):  # recognition leaves characters that XML forbids, and they are mended
            readers.append(lambda body: read_page_xml(body.decode("utf-8", "replace"), "archive"))
    for read in readers:
        with suppress(etree.XMLSyntaxError, ValueError, RecursionError, SourceError):
            read(body)
            return True
    return False


# ---- the tests -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("step", [*SEARCHES, *READINGS], ids=lambda step: step.name)
def test_no_broken_body_gets_past_a_parser_as_a_fault_or_as_an_absence(
        books: BooksClient, judge: Judge, monkeypatch: pytest.MonkeyPatch, step: Step) -> None:
    """A body that nothing can read is a failure of its archive; one that can still be read is an answer by its schema."""
    chance = random.Random(f"{SEED} {step.name}")
    until = time.monotonic() + SECONDS / 10
    for _ in range(ROUNDS):
        name = step.spoils[0]
        question = QUESTIONS[name]
        body = chance.choice(breakers(question))(chance, (ANSWERS / question.file).read_bytes())
        monkeypatch.setattr(Files, "broken", dict.fromkeys(step.spoils, body))

        outcome = judge.outcome(books, step.tool, step.arguments)

        if not is_readable(question, body):
            failed = outcome.code if isinstance(outcome, SourceError) else failure_of(outcome, step.archive)
            assert failed in ("parse_failure", "timeout", "network_error"), (body, failed)
        if time.monotonic() > until:
            break


def failure_of(answer: Answer, source: str) -> str | None:
    report = next((told for told in answer.to_dict().get("per_source", ()) if told["source"] == source), {})
    return report.get("error", {}).get("code")


@pytest.mark.parametrize("tool", TOOLS)
def test_no_arguments_lead_to_anything_but_an_answer_or_a_reason(
        books: BooksClient, judge: Judge, monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    """Arguments that the schema allows, beside it and of any shape, while a third of the answers are broken as well."""
    chance = random.Random(f"{SEED} {tool}")
    declared = tool_schemas(Settings(gallica_contents=True))[tool]["inputSchema"]
    until = time.monotonic() + SECONDS / 5
    answered = 0
    for _ in range(ROUNDS * 4):
        broken = {}
        if chance.random() < 0.3:
            name = chance.choice(list(QUESTIONS))
            broken[name] = chance.choice(breakers(QUESTIONS[name]))(chance, (ANSWERS / QUESTIONS[name].file).read_bytes())
        monkeypatch.setattr(Files, "broken", broken)

        answered += isinstance(judge.outcome(books, tool, arguments(chance, declared)), Answer)

        if time.monotonic() > until:
            break
    assert answered > 0


IDENTIFIERS = [shelf.BOOK, shelf.BUNDLED, shelf.LOC_ITEM, shelf.LOC_ISSUE, shelf.BNF_WORK, shelf.BNF_PERSON, shelf.OL_WORK, shelf.OL_EDITION,
               shelf.OL_AUTHOR, shelf.GALLICA_BOOK, shelf.GALLICA_PERIODICAL, f"{shelf.GALLICA_BOOK}/f3", f"{shelf.LOC_ISSUE}/seq-5", "archive:",
               "https://www.loc.gov/item/00000021/", "00000021", "lanternvale00orri", "loc:../../x", "https://elsewhere.example/"]
WORDS = ["lantern", "silver otter", '"les eaux lentes"', "l'horloge des marais", "eaux*", "((", "AND OR NOT", "Odile", "the", "щука", "\ud800",
         "a" * 300]
DATES = ["1888", "1888-02", "1888-02-03", "1999-02-29", "0000", "9999-12-31"]


def arguments(chance: random.Random, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Some of a tool's arguments: mostly good, now and then anything, rarely one that does not exist."""
    needed = set(declared.get("required", ()))
    given = {name: argument(chance, name, rule) for name, rule in declared["properties"].items() if name in needed or chance.random() < 0.2}
    if chance.random() < 0.02:
        given["limt"] = 3
    return given


def argument(chance: random.Random, name: str, rule: Mapping[str, Any]) -> Any:
    if chance.random() < 0.04:
        return odd(chance)
    if "enum" in rule:
        return chance.choice(rule["enum"])
    kind = rule.get("type")
    if kind == "array":
        return [argument(chance, name, rule["items"]) for _ in range(chance.randint(1, 3))] if "enum" in rule["items"] else [1]
    if kind == "integer":
        low = rule.get("minimum", 0)
        return chance.choice([low, low + 1, min(low + 50, rule.get("maximum", low + 50)), rule.get("maximum", low + 3)])
    if kind == "boolean":
        return chance.random() < 0.5
    if name == "identifier":
        return chance.choice(IDENTIFIERS)
    if name.startswith("date_"):
        return chance.choice(DATES)
    return chance.choice(["eng", "fr", "9780140328721", "valelibrary", *WORDS] if name in ("language", "isbn", "collection") else WORDS)
