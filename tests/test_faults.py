"""Whatever one archive does, the others' rows come, and the failure bears its right name: archive × fault × call, over real sockets.

Each cell asks a stand-in that plays all five archives, one of them broken; then the fault ends and the same is asked again, so
that nothing of the broken answer can have been kept. Spacing, retries and blocks go by a fake clock, deadlines by the real one.
"""
from __future__ import annotations

import gc
import gzip
import json
import random
import re
import socket
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import shelf
from conftest import FakeClock, StandIn, gzip_bomb
from shelf import HTML, JSON, QUESTIONS, XML, Question

from sources.answers import AllFailed, Answer
from sources.client import BooksClient
from sources.errors import SourceError
from sources.registry import ARCHIVES
from sources.telling.text_block import render, render_error

NAMES = {archive.key: archive.name for archive in ARCHIVES}
SHORT_MS, LONG_MS = 300, 20_000  # the time of one request: where a fault waits for it to pass, and where nothing waits
SLACK_S = 3.0  # beside the deadline itself, for a machine that is busy
BODY_LIMIT_BYTES = 32 << 20
A_WEEK_S = 7 * 86400.0  # longer than any block lasts

PAGE = b"<!DOCTYPE html><html><head><title>Under maintenance</title></head><body>0 results found. No matches.</body></html>"
CHALLENGE = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>challenge-platform</body></html>"

# What would claim that an archive holds nothing, in a line that names it.
ABSENCE = re.compile(r"answered with no|no rows for|holds no(?! metadata)|no such|not found(?! at its address)|does not (?:hold|exist)"
                     r"|nothing (?:is|was) (?:found|held)|states nothing|under maintenance|results found", re.IGNORECASE)


# ---- what is asked ---------------------------------------------------------------------------------------------------

@dataclass(frozen=True, kw_only=True)
class Step:
    """One request of one call: `spoils` names the questions (of shelf.QUESTIONS) that go wrong, in a call of `tool`."""

    spoils: tuple[str, ...]
    tool: str
    arguments: Mapping[str, Any]

    @property
    def archive(self) -> str:
        return self.spoils[0].split()[0]

    @property
    def name(self) -> str:
        return f"{self.tool}: {self.spoils[0]}"


def searching(tool: str, spoiled: str, beside: str, **arguments: Any) -> Step:
    """A search of the archive that is broken and of another that is not."""
    return Step(spoils=(spoiled,), tool=tool, arguments={**arguments, "sources": [spoiled.split()[0], beside]})


def reading(tool: str, *spoiled: str, **arguments: Any) -> Step:
    return Step(spoils=spoiled, tool=tool, arguments=arguments)


SEARCHES = [
    searching("search_inside", "archive text", "loc", query="otter"),
    searching("search_inside", "loc pages", "archive", query="otter"),
    searching("search_inside", "gallica search", "archive", query="eaux"),
    searching("search_items", "archive catalogue", "bnf", query="lantern"),
    searching("search_items", "archive counts", "bnf", query="lantern", facets=True),
    searching("search_items", "loc catalogue", "bnf", query="otter"),
    searching("search_items", "bnf works", "openlibrary", query="horloge"),
    searching("search_items", "openlibrary works", "bnf", query="lantern"),
    searching("search_items", "gallica search", "bnf", query="eaux"),
    searching("search_headings", "loc headings", "bnf", query="otter"),
    searching("search_headings", "bnf subjects", "loc", query="marais"),
    searching("search_headings", "bnf persons", "openlibrary", query="Odile", kind="person"),
    searching("search_headings", "openlibrary subjects", "loc", query="lighthouses"),
    searching("search_headings", "openlibrary authors", "bnf", query="Odile", kind="person"),
    searching("browse_collections", "archive catalogue", "loc", query="otter"),
    searching("browse_collections", "loc collections", "archive", query="otter"),
    searching("search_items", "bnfcatalogue search", "bnf", query="lanternes"),
]
READINGS = [
    reading("get_item", "archive record", identifier=shelf.BOOK),
    reading("get_item", "loc record", identifier=shelf.LOC_ITEM),
    reading("get_item", "bnf record", identifier=shelf.BNF_WORK),
    reading("get_item", "bnfcatalogue record", identifier=shelf.CATALOGUE_RECORD),
    reading("get_item", "openlibrary work", identifier=shelf.OL_WORK),
    reading("get_item", "gallica record", "gallica repository", identifier=shelf.GALLICA_BOOK),
    reading("get_item", "gallica years", identifier=shelf.GALLICA_PERIODICAL, sections=["editions"]),
    reading("read_text", "archive record", identifier=shelf.BOOK, page=shelf.LEAF),
    reading("read_text", "archive leaf", identifier=shelf.BOOK, page=shelf.LEAF),
    reading("read_text", "archive inside", identifier=shelf.BOOK, match="lantern"),
    reading("read_text", "loc page", identifier=shelf.LOC_ISSUE, page=shelf.LOC_IMAGE),
    reading("read_text", "loc text", identifier=shelf.LOC_ISSUE, page=shelf.LOC_IMAGE),
    reading("read_text", "loc record", identifier=shelf.LOC_ITEM, match="otter"),
    reading("read_text", "gallica leaf", identifier=shelf.GALLICA_BOOK, page=shelf.GALLICA_VIEW),
    reading("read_text", "gallica passages", identifier=shelf.GALLICA_BOOK, match="eaux"),
]


# ---- what goes wrong -------------------------------------------------------------------------------------------------

@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the stand-in does instead of answering a question, and the code it must be called by (DESIGN 8)."""

    code: str
    does: Callable[[Question], Mapping[str, Any]]
    waits: bool = False
    says: str = ""
    retry_after_s: int | None = None
    elsewhere: Mapping[str, str] = field(default_factory=dict)  # the code where a kind of step, or an archive, has its own


def always(**changes: Any) -> Callable[[Question], Mapping[str, Any]]:
    return lambda question: changes


def is_xml(question: Question) -> bool:
    return question.file.endswith(".xml")


def healthy(question: Question) -> bytes:
    return bytes(question.route().body)


def ill_encoded(question: Question) -> Mapping[str, Any]:
    """Bytes that are no text in the encoding in which they must be."""
    body = b'<?xml version="1.0" encoding="UTF-8"?><results>\xe9t\xe9</results>' if is_xml(question) else '{"été": 1}'.encode("latin-1")
    return {"body": body}


def truncated(question: Question) -> Mapping[str, Any]:
    """The first two thirds of the answer, announced as the whole."""
    body = healthy(question)
    return {"body": body[: len(body) * 2 // 3]}


def of_another_shape(question: Question) -> Mapping[str, Any]:
    if is_xml(question):
        return {"body": b"<?xml version='1.0'?><other><thing/></other>", "headers": XML}
    return {"body": b'{"other": [1, {"thing": 2}]}', "headers": JSON}


def a_list(question: Question) -> Mapping[str, Any]:
    """JSON of another kind altogether; XML of the right root with nothing that belongs in it."""
    return of_another_shape(question) if is_xml(question) else {"body": b'[["other"]]', "headers": JSON}


# A 403 of these two is how a lent text is withheld; a 404 says "no such record" where the address is the record's own.
CLOSED_TEXTS = {"archive leaf": "refused", "archive inside": "refused"}
RECORDS_NOT_THERE = {step.spoils[0]: "not_found" for step in READINGS
                     if step.spoils[0] not in ("archive leaf", "archive inside", "loc text", "bnf record", "bnfcatalogue record")}

FAULTS = {
    "reset": Fault(code="network_error", does=always(fault="reset")),
    "closed without an answer": Fault(code="network_error", does=always(fault="close")),
    "half a body": Fault(code="network_error", does=always(fault="half")),
    "drip": Fault(code="timeout", does=always(fault="drip"), waits=True),
    "drip in the headers": Fault(code="timeout", does=always(fault="drip-headers"), waits=True),
    "silent": Fault(code="timeout", does=always(fault="silent"), waits=True),
    "endless": Fault(code="parse_failure", does=always(fault="endless")),
    "gzip bomb": Fault(code="parse_failure", does=always(fault="gzip-bomb")),
    "web page": Fault(code="parse_failure", does=always(body=PAGE, headers=HTML)),
    "web page called data": Fault(code="parse_failure", does=always(body=PAGE)),
    "challenge with 403": Fault(code="network_error", does=always(body=CHALLENGE, headers=HTML, status=403), says="blocked by the site's protection"),
    "challenge with 200": Fault(code="network_error", does=always(body=CHALLENGE, headers=HTML), says="blocked by the site's protection"),
    "challenge with 503": Fault(code="network_error", does=always(body=CHALLENGE, headers=HTML, status=503), says="blocked by the site's protection"),
    "403": Fault(code="network_error", does=always(body=PAGE, headers=HTML, status=403), elsewhere=CLOSED_TEXTS),
    "404": Fault(code="network_error", does=always(body=PAGE, headers=HTML, status=404), elsewhere=RECORDS_NOT_THERE),
    "429": Fault(code="rate_limited", does=always(status=429, body=b"")),
    "429 for 7 s": Fault(code="rate_limited", does=always(status=429, body=b"", headers={"Retry-After": "7"})),
    "429 for 2 h": Fault(code="rate_limited", does=always(status=429, body=b"", headers={"Retry-After": "7200"}), retry_after_s=7200),
    "500": Fault(code="network_error", does=always(status=500, body=b"oops", headers={"Content-Type": "text/plain"})),
    "502": Fault(code="network_error", does=always(status=502, body=PAGE, headers=HTML)),
    "503": Fault(code="network_error", does=always(status=503, body=PAGE, headers=HTML)),
    "503 for 2 h": Fault(code="rate_limited", does=always(status=503, body=b"", headers={"Retry-After": "7200"}), retry_after_s=7200),
    "redirect to another host": Fault(code="network_error", does=always(status=302, headers={"Location": "https://elsewhere.example/answer"})),
    "redirect to this machine": Fault(code="network_error", does=always(status=302, headers={"Location": "http://127.0.0.1:9/answer"})),
    "wrong charset": Fault(code="parse_failure", does=ill_encoded),
    "empty": Fault(code="parse_failure", does=always(body=b""), elsewhere={"bnf": "timeout"}),
    "truncated": Fault(code="parse_failure", does=truncated),
    "another shape": Fault(code="parse_failure", does=of_another_shape),
    "another kind": Fault(code="parse_failure", does=a_list),
}


def code_of(fault: Fault, step: Step) -> str:
    return fault.elsewhere.get(step.spoils[0], fault.elsewhere.get(step.archive, fault.code))


# ---- what comes back -------------------------------------------------------------------------------------------------

@pytest.fixture
def shelved(stand_in: StandIn) -> StandIn:
    shelf.stock(stand_in)
    return stand_in


@pytest.fixture
def clients(shelved: StandIn) -> Iterator[Callable[..., tuple[BooksClient, FakeClock]]]:
    """Build a client of the stand-in with the fake clock that its spacing goes by; all are closed at the end."""
    made: list[BooksClient] = []

    def make(**changes: Any) -> tuple[BooksClient, FakeClock]:
        clock = FakeClock()
        made.append(shelf.client(shelved, clock, max_retries=1, **changes))
        made[-1].transport.warm()  # loading the libraries must not count against a short deadline
        return made[-1], clock

    yield make
    for client in made:
        client.close()


def asked(client: BooksClient, step: Step) -> Answer | SourceError:
    try:
        return client.ask(step.tool, step.arguments)
    except SourceError as error:
        return error


def told_of(step: Step, outcome: Answer | SourceError) -> tuple[dict[str, Any] | None, str]:
    """The failed archive's error as the answer tells it (None: it did not fail), and every text a reader sees."""
    if isinstance(outcome, SourceError):
        error = {"code": outcome.code, "message": outcome.message, "retry_after_s": outcome.retry_after_s}
        return error, render_error(outcome)
    payload = outcome.to_dict()
    report = next((report for report in payload.get("per_source", ()) if report["source"] == step.archive), {})
    assert report.get("status", "answered") == ("failed" if "error" in report else "answered")
    return report.get("error"), render(step.tool, payload)


def rows_by_source(answer: Answer) -> dict[str, int]:
    found: dict[str, int] = {}
    payload = answer.to_dict()
    for row in next(payload[name] for name in ("hits", "items", "headings", "collections") if name in payload):
        found[row["source"]] = found.get(row["source"], 0) + 1
    return found


def lines_claiming_absence(step: Step, text: str) -> list[str]:
    """Lines that name the archive, or continue none, and say that something is not there."""
    name = NAMES[step.archive].removeprefix("the ")
    return [line for line in text.splitlines() if name.lower() in line.lower() and ABSENCE.search(line)]


# ---- the matrix --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
@pytest.mark.parametrize("step", SEARCHES, ids=[step.name for step in SEARCHES])
def test_a_search_beside_a_broken_archive_brings_the_others_rows_and_names_it(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step, fault: Fault) -> None:
    client, clock = clients(timeout_ms=SHORT_MS if fault.waits else LONG_MS)
    beside = next(source for source in step.arguments["sources"] if source != step.archive)
    for name in step.spoils:
        shelf.spoil(shelved, name, **fault.does(QUESTIONS[name]))

    began = time.monotonic()
    outcome = asked(client, step)
    took_s = time.monotonic() - began

    assert isinstance(outcome, Answer)
    error, text = told_of(step, outcome)
    assert error is not None, "the broken archive counts as one that answered"
    assert (error["code"], fault.says in error["message"]) == (code_of(fault, step), True), error
    assert error.get("retry_after_s") == fault.retry_after_s or fault.retry_after_s is None
    assert rows_by_source(outcome).keys() == {beside}
    assert lines_claiming_absence(step, "\n".join((text, *outcome.notes))) == []
    assert took_s < (SHORT_MS / 1000 if fault.waits else 0) + SLACK_S
    comes_whole_when_the_fault_is_over(shelved, client, clock, step)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
@pytest.mark.parametrize("step", READINGS, ids=[step.name for step in READINGS])
def test_a_reading_from_a_broken_archive_is_that_failure_and_no_absence(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step, fault: Fault) -> None:
    client, clock = clients(timeout_ms=SHORT_MS if fault.waits else LONG_MS)
    for name in step.spoils:
        shelf.spoil(shelved, name, **fault.does(QUESTIONS[name]))
    expected = code_of(fault, step)

    began = time.monotonic()
    outcome = asked(client, step)
    took_s = time.monotonic() - began

    error, text = told_of(step, outcome)
    if expected == "refused":  # what is held and not open is an answer
        assert outcome.to_dict()["text_refused"]  # type: ignore[union-attr]
    else:
        assert error is not None, text
        assert (error["code"], fault.says in error["message"]) == (expected, True), error
        assert error["retry_after_s"] == fault.retry_after_s or fault.retry_after_s is None
        assert outcome.stage == "read"  # type: ignore[union-attr]
    assert expected == "not_found" or lines_claiming_absence(step, text) == []
    assert took_s < (SHORT_MS / 1000 if fault.waits else 0) + SLACK_S
    comes_whole_when_the_fault_is_over(shelved, client, clock, step)


def comes_whole_when_the_fault_is_over(shelved: StandIn, client: BooksClient, clock: FakeClock, step: Step) -> None:
    """Nothing of the fault was kept. A slow search that runs on in the background may first have to end: it is joined until then."""
    shelf.mend(shelved)
    clock.advance(A_WEEK_S)
    for _ in range(3):
        outcome = asked(client, step)
        error, text = told_of(step, outcome)
        if error is None:
            break
    assert error is None, text
    if step in SEARCHES:
        assert isinstance(outcome, Answer)
        assert rows_by_source(outcome).keys() == set(step.arguments["sources"])


# ---- the call's own budget -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fault", ["silent", "drip"])
@pytest.mark.parametrize("step", [*SEARCHES, *(step for step in READINGS if step.tool == "get_item")], ids=lambda step: step.name)
def test_a_call_ends_with_its_budget_however_long_a_request_may_take(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step, fault: str) -> None:
    """BOOKS_CALL_BUDGET_MS 400 beside a request's 45 s; a worker has half a second more to say so itself."""
    client, _ = clients(call_budget_ms=400)
    for name in step.spoils:
        shelf.spoil(shelved, name, fault=fault)

    began = time.monotonic()
    outcome = asked(client, step)
    took_s = time.monotonic() - began

    error, text = told_of(step, outcome)
    assert error is not None
    assert error["code"] == "timeout"
    assert lines_claiming_absence(step, text) == []
    assert took_s < 0.4 + SLACK_S
    if isinstance(outcome, Answer):
        assert rows_by_source(outcome).keys() == set(step.arguments["sources"]) - {step.archive}


# ---- memory ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fault", ["endless", "gzip-bomb"])
@pytest.mark.parametrize("step", {step.archive: step for step in SEARCHES}.values(), ids=lambda step: step.archive)
def test_a_body_without_measure_costs_no_more_memory_than_the_ceiling(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step, fault: str) -> None:
    """32 MiB are read at most; the stand-in's own buffers, in this same process, are the rest of the allowance."""
    client, _ = clients()
    gzip_bomb()
    shelf.spoil(shelved, step.spoils[0], fault=fault)

    tracemalloc.start()
    try:
        outcome = asked(client, step)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    error, _ = told_of(step, outcome)
    assert error is not None
    assert error["code"] == "parse_failure"
    assert peak_bytes < 2 * BODY_LIMIT_BYTES


# What comes whole and is no answer: of 1 MB each, and the bomb of 64 MiB.
HEAVY: dict[str, Callable[[Question], Mapping[str, Any]]] = {
    "another shape": lambda question: {"body": b"<?xml version='1.0'?><other>" + b"<thing>none</thing>" * 55_000 + b"</other>", "headers": XML}
    if is_xml(question) else {"body": b'{"other": ["' + b"x" * 1_000_000 + b'"]}', "headers": JSON},
    "no data": always(body=b"x" * 1_000_000),
    "gzip bomb": always(fault="gzip-bomb"),
    "not whole": always(body=gzip.compress(random.Random(1).randbytes(1_000_000))[:-9], headers={**JSON, "Content-Encoding": "gzip"}),
    "half a body": always(body=b"x" * 1_000_000, fault="half"),
}


@pytest.mark.parametrize("fault", HEAVY.values(), ids=list(HEAVY))
@pytest.mark.parametrize("step", [*{step.archive: step for step in SEARCHES}.values(), *{step.tool: step for step in READINGS}.values()], ids=lambda step: step.name)
def test_a_failure_keeps_nothing_of_what_came(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step,
        fault: Callable[[Question], Mapping[str, Any]]) -> None:
    """Four more such failures, with nothing collected in between, leave less than half of one body behind."""
    client, clock = clients(timeout_ms=LONG_MS, call_budget_ms=LONG_MS)
    for name in step.spoils:
        shelf.spoil(shelved, name, **fault(QUESTIONS[name]))
    gzip_bomb()
    told_of(step, asked(client, step))

    tracemalloc.start()
    gc.collect()
    gc.disable()
    try:
        before_bytes, _ = tracemalloc.get_traced_memory()
        for _ in range(4):
            clock.advance(3 * 3600.0)
            assert told_of(step, asked(client, step))[0] is not None
            shelved.seen.clear()
        after_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        gc.enable()
        tracemalloc.stop()

    assert after_bytes - before_bytes < 500_000


# ---- an answer in part ---------------------------------------------------------------------------------------------------

IN_PART = [  # what was asked, what of it fails, and what the answer says of that
    (reading("get_item", "openlibrary works", identifier=shelf.OL_WORK), "The names of the authors could not be read"),
    (reading("get_item", "openlibrary author", identifier=shelf.OL_EDITION), "The names of the authors could not be read"),
    (reading("get_item", "openlibrary editions", identifier=shelf.OL_WORK, sections=["editions"]), "The list of editions could not be read"),
    (reading("get_item", "bnf editions", identifier=shelf.BNF_WORK, sections=["editions"]), "The list of editions or works could not be read"),
    (reading("get_item", "gallica pages", identifier=shelf.GALLICA_BOOK, sections=["pages"]), "the list of pages could not be read"),
    (reading("get_item", "gallica search", identifier=shelf.GALLICA_PERIODICAL, sections=["editions"]), "own description could not be read"),
    (reading("read_text", "gallica pages", identifier=shelf.GALLICA_BOOK, page=shelf.GALLICA_VIEW), "the list of pages could not be read"),
    (reading("read_text", "gallica record", "gallica repository", identifier=shelf.GALLICA_BOOK, page=shelf.GALLICA_VIEW),
     "the record itself could not be read"),
    (reading("search_inside", "gallica passages", query="eaux", sources=["gallica"]), "reading passages failed after it"),
]
QUICK = {name: fault for name, fault in FAULTS.items() if not fault.waits and name not in ("endless", "gzip bomb", "404")}


@pytest.mark.parametrize("fault", QUICK.values(), ids=list(QUICK))
@pytest.mark.parametrize(("step", "says"), IN_PART, ids=[step.name for step, _ in IN_PART])
def test_what_fails_beside_the_answer_is_told_and_does_not_cost_it(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step, says: str, fault: Fault) -> None:
    client, _ = clients()
    for name in step.spoils:
        shelf.spoil(shelved, name, **fault.does(QUESTIONS[name]))

    outcome = asked(client, step)

    assert isinstance(outcome, Answer), outcome
    assert any(says in note for note in outcome.notes), outcome.notes
    assert [note for note in outcome.notes if ABSENCE.search(note)] == []


# ---- an archive's own way of failing -----------------------------------------------------------------------------------

VIRTUOSO = {"headers": {"Content-Type": "text/plain"}, "status": 200}
DIAGNOSTIC = """<?xml version="1.0"?><srw:searchRetrieveResponse xmlns:srw="http://www.loc.gov/zing/srw/"><srw:numberOfRecords>0</srw:numberOfRecords>
<srw:diagnostics><d:diagnostic xmlns:d="http://www.loc.gov/zing/srw/diagnostic/"><d:uri>info:srw/diagnostic/1/{}</d:uri><d:message>{}</d:message>
</d:diagnostic></srw:diagnostics></srw:searchRetrieveResponse>"""
ZERO = b'{"pagination": {"of": 0, "total": 1}, "results": []}'
OWN = [  # the step, the answer, the code, a part of the message
    (SEARCHES[0], {"body": b'{"response": {"header": {"succeeded": false}, "error": "[FTS_ERROR] backend did not respond"}}'},
     "network_error", "could not search"),
    (SEARCHES[0], {"body": b'{"error": "Parse error at character 4"}', "status": 400}, "invalid_input", "Parse error at character 4"),
    (SEARCHES[0], {"body": b"{}", "status": 400}, "network_error", "gave no reason"),
    (SEARCHES[3], {"body": b'{"error": "[BACKEND_ERROR] try later"}'}, "network_error", "could not search"),
    (SEARCHES[1], {"body": ZERO, "headers": {**JSON, "Cache-Control": "no-cache, max-age=0"}}, "network_error", "could not search"),
    (SEARCHES[5], {"body": ZERO, "headers": {**JSON, "Cache-Control": "no-store"}}, "network_error", "could not search"),
    (SEARCHES[6], {"body": b"Virtuoso 42000 Error The estimated execution time exceeds the limit", **VIRTUOSO}, "timeout", "gave it up"),
    (SEARCHES[6], {"body": b"Virtuoso 37000 Error SP030: SPARQL compiler", **VIRTUOSO}, "invalid_input", "refused the query"),
    (SEARCHES[7], {"body": b'{"detail": [{"msg": "Query too short"}]}', "status": 422}, "invalid_input", "Query too short"),
    (SEARCHES[8], {"body": DIAGNOSTIC.format(10, "Query syntax error").encode()}, "invalid_input", "Query syntax error"),
    (SEARCHES[8], {"body": DIAGNOSTIC.format(1, "General system error").encode()}, "network_error", "could not search"),
    (SEARCHES[8], {"body": b"<html>Could not resolve view with name 'error'</html>", "headers": HTML, "status": 500}, "invalid_input", "error page"),
]


@pytest.mark.parametrize(("step", "answer", "code", "says"), OWN, ids=[f"{step.name} {says}" for step, _, _, says in OWN])
def test_an_archives_own_word_that_it_could_not_answer_is_no_zero(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step, answer: dict[str, Any], code: str, says: str) -> None:
    client, clock = clients()
    shelf.spoil(shelved, *step.spoils, **answer)

    outcome = asked(client, step)

    assert isinstance(outcome, Answer)
    error, text = told_of(step, outcome)
    assert error is not None
    assert (error["code"], says in error["message"]) == (code, True), error
    assert lines_claiming_absence(step, text) == []
    comes_whole_when_the_fault_is_over(shelved, client, clock, step)


# ---- after a refusal, silence ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("step", {step.archive: step for step in SEARCHES}.values(), ids=lambda step: step.archive)
@pytest.mark.parametrize("fault", ["challenge with 403", "429 for 2 h"])
def test_a_blocked_archive_is_not_asked_again_and_says_how_long(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step, fault: str) -> None:
    client, _ = clients(cache_ttl_ms=0)
    shelf.spoil(shelved, *step.spoils, **FAULTS[fault].does(QUESTIONS[step.spoils[0]]))
    asked(client, step)
    shelf.mend(shelved)
    sent = len(shelved.starts(QUESTIONS[step.spoils[0]].at))

    outcome = asked(client, step)

    assert isinstance(outcome, Answer)
    error, text = told_of(step, outcome)
    assert error is not None
    assert (error["code"], error["retry_after_s"] > 50) == (FAULTS[fault].code, True)
    assert len(shelved.starts(QUESTIONS[step.spoils[0]].at)) == sent
    assert rows_by_source(outcome).keys() == set(step.arguments["sources"]) - {step.archive}
    assert lines_claiming_absence(step, text) == []


def test_gallica_is_left_alone_for_hours_when_it_leaves_a_request_hanging(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]]) -> None:
    """Its wall may be no page but silence. An answer that drips is none, and blocks nothing."""
    client, clock = clients(timeout_ms=SHORT_MS)
    step = next(step for step in SEARCHES if step.archive == "gallica")
    waits = []

    for fault in ("drip", "silent"):
        shelf.spoil(shelved, *step.spoils, **FAULTS[fault].does(QUESTIONS[step.spoils[0]]))
        error, _ = told_of(step, asked(client, step))
        assert error is not None
        waits.append((error["code"], error.get("retry_after_s")))
        shelf.mend(shelved)
        clock.advance(60)

    assert waits == [("timeout", None), ("timeout", 7200.0)]
    error, _ = told_of(step, asked(client, step))
    assert error is not None
    assert "blocked by the site's protection" in error["message"]


def test_where_nothing_answers_each_archive_is_named_with_its_reason(clients: Callable[..., tuple[BooksClient, FakeClock]]) -> None:
    """A refused connection is told once and at once: asking again at once does not help."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{listener.getsockname()[1]}"
        client, _ = clients(gateway=nobody)

        with pytest.raises(AllFailed) as caught:
            client.search_items("lantern", sources=list(NAMES))

    assert caught.value.code == "network_error"
    assert [(report.source, report.status, (report.error or {})["code"]) for report in caught.value.reports] == [
        (key, "failed", "network_error") for key in NAMES]
    assert nobody not in render_error(caught.value) + json.dumps([report.error for report in caught.value.reports])


# ---- what is odd and no fault ------------------------------------------------------------------------------------------------

def called(question: Question, charset: str) -> Mapping[str, Any]:
    return {"headers": {"Content-Type": ("text/xml" if is_xml(question) else "application/json") + charset, "Cache-Control": "max-age=60"}}


HARMLESS: dict[str, Callable[[Question], Mapping[str, Any]]] = {
    "no charset": lambda question: called(question, ""),
    "another charset named": lambda question: called(question, "; charset=iso-8859-1"),
    "called plain text": lambda question: {"headers": {"Content-Type": "text/plain", "Cache-Control": "max-age=60"}},
    "a byte order mark": lambda question: {"body": b"\xef\xbb\xbf" + healthy(question).lstrip()},
    "one drop at first": lambda question: {"fault": "reset", "times": 1},
    "busy for a moment": lambda question: {"status": 408, "times": 1},
}


@pytest.mark.parametrize("oddity", HARMLESS.values(), ids=list(HARMLESS))
@pytest.mark.parametrize("step", [*SEARCHES, *READINGS], ids=lambda step: step.name)
def test_an_oddity_that_is_no_fault_changes_nothing(
        shelved: StandIn, clients: Callable[..., tuple[BooksClient, FakeClock]], step: Step, oddity: Callable[[Question], Mapping[str, Any]]) -> None:
    """Accents survive a charset that is missing or wrong, and what asking once more mends is mended."""
    plain_client, _ = clients()
    client, _ = clients()
    plain = asked(plain_client, step)
    for name in step.spoils[:1]:
        shelf.spoil(shelved, name, **oddity(QUESTIONS[name]))

    outcome = asked(client, step)

    assert isinstance(outcome, Answer), outcome
    assert undated(outcome) == undated(plain)


def undated(answer: Answer | SourceError) -> str:
    assert isinstance(answer, Answer)
    return re.sub(r'"retrieved_at": "[^"]+"', "", json.dumps(answer.to_dict(), ensure_ascii=False))
