"""`mcp-books check`: what this installation is, which settings are in force, and which archives
answer from here.

ROUTES is the one table of live questions: the command asks the first of each archive, or all with
--all, and the live tests run the same. Each is a question that the archive is known to answer with
something.
"""
from __future__ import annotations

import argparse
import importlib.metadata
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TextIO
from urllib.request import getproxies

from ..asking.arguments import nearest
from ..asking.schemas import settings_in_force
from ..asking.together import ask_each
from ..client import BooksClient
from ..contract import Archive, ItemPage, ItemQuery, Page, PageText, Passages, Query, Reply
from ..errors import SourceError
from ..registry import ARCHIVES, ENTRIES, Entry
from ..settings import GATEWAY_UNREADABLE, VERSION, Settings, host_and_port
from ..transport.call import Call
from ..transport.ledger import unusable
from .commands import budget_s

ANSWERED, FAILED, BAD_INPUT = 0, 1, 2
NAME_COLUMNS = 38  # of the longest route's name
KEY_COLUMNS = 13  # of the longest archive's key, and a blank

# by error code: what a refusal means for somebody who sets this up; the error itself says what
# happened
_MEANS = {
    "rate_limited": "It can be reached, and wants no more requests from this address for now.",
    "network_error": "Nothing of the archive's own came back: look at the network, the proxy and "
                     "the certificates, unless the site's protection is named above.",
    "timeout": "It took too long. The Library's newspapers often do; for another archive look at "
               "the network.",
    "parse_failure": "Something else came than the archive sends: a portal's or proxy's page, or "
                     "it has changed how it answers.",
    "invalid_input": "It refuses the question of this check, which it used to answer: it may have "
                     "changed.",
    "not_found": "It answers, and no longer holds the record that this check reads.",
}
# Of a network_error that came with a status.
_REFUSED = (
    "Something answered, and refused: the archive, the protection of its site, or a proxy on the "
    "way."
)


# ---- what is asked -------------------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One question to one archive; `call` is what an archive may be absent from
    (contract.CALLS)."""

    archive: str
    call: str
    name: str
    ask: Callable[[Any], Any]


def _record(local: str, *sections: str) -> Callable[[Archive], ItemPage]:
    wanted = ItemQuery(sections=sections or ("description",), list_limit=5)
    return lambda archive: archive.read_record(archive.read_identifier(local), wanted)


def _page(local: str, page: int) -> Callable[[Archive], PageText]:
    return lambda archive: archive.read_page(archive.read_identifier(local), page)


def _passages(local: str, words: str) -> Callable[[Archive], Passages]:
    return lambda archive: archive.search_record(archive.read_identifier(local), words, 3)


def _catalogue(
    words: str, *, media_type: str | None = None, facets: bool = False
) -> Callable[[Archive], Page]:
    query = Query(words=words, rows=1, media_type=media_type, facets=facets)
    return lambda archive: archive.search_catalogue(archive.plan_catalogue(query))


def _headings(words: str, kind: str = "subject") -> Callable[[Archive], Page]:
    return lambda archive: archive.search_headings(words, kind, 5)


def _inside(archive: Archive) -> Page:
    query = Query(words="whale", rows=1)
    return archive.search_text(archive.plan_text(query))


def _collections(archive: Archive) -> Page:
    return archive.browse_collections(None, 5, 1)


# The first of each archive is the lightest. A record that is read stands before its pages, whose
# route needs it.
_ROUTES: Mapping[str, Sequence[tuple[str, str, Callable[[Any], Any]]]] = {
    "archive": (
        ("search_items", "catalogue", _catalogue("whale")),
        ("search_items", "catalogue with counts", _catalogue("whale", facets=True)),
        ("search_inside", "text of documents", _inside),
        ("get_item", "record", _record("journalofexpedit00ford")),
        ("read_text", "text of a leaf", _page("journalofexpedit00ford", 20)),
        ("read_text", "passages of a record", _passages("journalofexpedit00ford", "Brunswick")),
        ("browse_collections", "collections", _collections),
    ),
    "loc": (
        ("search_items", "catalogue of books", _catalogue("whale", media_type="books")),
        ("search_inside", "newspaper pages (often half a minute)", _inside),
        ("get_item", "record", _record("73691632")),
        ("read_text", "text of a page", _page("sn83030214/1900-01-01/ed-1", 3)),
        ("search_headings", "subject headings", _headings("whales")),
        ("browse_collections", "collections", _collections),
    ),
    "bnf": (
        ("search_items", "titles of works", _catalogue("baleine")),
        ("get_item", "record", _record("cb120083695")),
        ("search_headings", "subject headings", _headings("baleines")),
    ),
    "bnfcatalogue": (
        ("search_items", "catalogue", _catalogue("baleine")),
        ("get_item", "record", _record("cb31721367g")),
    ),
    "openlibrary": (
        ("search_items", "works", _catalogue("whale")),
        ("get_item", "author", _record("OL23919A")),
        ("get_item", "work and its editions", _record("OL15832982W", "editions")),
        ("get_item", "edition by its ISBN", _record("isbn/9780140328721")),
        ("search_headings", "subjects", _headings("whales")),
        ("search_headings", "persons", _headings("melville", "person")),
    ),
    "gallica": (
        ("search_items", "catalogue", _catalogue("baleine")),
        ("get_item", "record and views", _record("bpt6k5738219s", "pages")),
        ("search_inside", "text of documents", _inside),
        ("read_text", "text of a view", _page("bpt6k5738219s", 10)),
    ),
}
ROUTES = tuple(
    Route(archive=key, call=call, name=name, ask=ask)
    for key, routes in _ROUTES.items() for call, name, ask in routes
)
# For an archive that was added and has no route above; a read needs a record, which nobody here
# knows.
_GENERAL = {
    "search_items": _catalogue("whale"),
    "search_inside": _inside,
    "search_headings": _headings("whales"),
    "browse_collections": _collections,
}


def _routes_of(entry: Entry) -> list[Route]:
    """The routes of one archive; without any, the first general question that it answers; none when
    it answers none."""
    general = [Route(archive=entry.key, call=call, name=f"{call}, a general question", ask=ask)
               for call, ask in _GENERAL.items() if call in entry.answers]
    return [route for route in ROUTES if route.archive == entry.key] or general[:1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one route gave: `error` None and `brought` what came; `statuses` of its answers;
    `seconds` with every pause owed."""

    seconds: float
    statuses: tuple[int, ...] = ()
    brought: str = ""
    empty: bool = False
    error: SourceError | None = None
    absent_because: str | None = None


def probe(route: Route, client: BooksClient, budget_s: float) -> Outcome:
    """Ask one route. Nothing is sent where the archive is absent from the call by the settings
    (Gallica's contents)."""
    archive = next(kind for kind in client.archives if kind.key == route.archive)
    absence = archive.absence(route.call, client.settings)
    if absence is not None:
        return Outcome(seconds=0.0, absent_because=absence)
    clock = client.transport.clock
    call = Call(budget_s, clock=clock)
    opened, begun = client.opened(archive, call), clock.monotonic()
    job = {archive.key: lambda: opened.ask(route.ask)}
    result = ask_each(job, {archive.key: archive.name}, call)[archive.key]
    return _outcome(result, opened.asker.replies, clock.monotonic() - begun)


def _outcome(result: Any, replies: Sequence[Reply], seconds: float) -> Outcome:
    statuses = tuple(reply.status for reply in replies if not reply.cached)
    if isinstance(result, SourceError):  # no refused reply is kept
        further = (result.status,) if result.status not in (None, *statuses[-1:]) else ()
        return Outcome(seconds=seconds, statuses=(*statuses, *further), error=result)
    brought, empty = _brought(result)
    return Outcome(seconds=seconds, statuses=statuses, brought=brought, empty=empty)


def _brought(result: Page | ItemPage | PageText | Passages) -> tuple[str, bool]:
    """What came, in a few words, and whether that was nothing."""
    if isinstance(result, Page):
        count, total = (
            len(result.records),
            f" of {result.total:,}" if result.total is not None else "",
        )
        return f"{count} row{'' if count == 1 else 's'}{total}", not count
    if isinstance(result, ItemPage):
        listed = f", {result.list_total} entries" if result.list_total is not None else ""
        return f"a record{listed}", result.item.title is None
    if isinstance(result, PageText):
        return f"{len(result.text or '')} characters", not result.text
    return f"{len(result.passages)} passages", not result.passages


# ---- the command ---------------------------------------------------------------------------------

def main(argv: Sequence[str], *, environ: Mapping[str, str], stdout: TextIO, stderr: TextIO) -> int:
    """Tell what is in force, then ask. Exit status: 0 every route asked answered, 1 not, 2 bad
    input."""
    try:
        given = _arguments(argv)
    except SystemExit as end:  # argparse has printed its help or its objection
        return int(end.code or ANSWERED)
    warnings: list[str] = []
    settings = settings_in_force(environ, warnings.append)
    interpreter = f"{platform.python_implementation()} {platform.python_version()}"
    _tell(
        stdout,
        f"mcp-books {VERSION}",
        f"{interpreter} on {platform.platform()}, {sys.executable or 'path unknown'}",
    )
    if given.wheels is not None:
        return check_wheels(given, stdout, stderr)
    libraries, whole = _libraries()
    _tell(
        stdout,
        libraries,
        "",
        "Settings",
        *_settings(settings, warnings),
        "",
        *_surroundings(settings, environ),
        "",
    )
    if not whole:
        _tell(stdout, "No archive was asked: install what is missing first.")
        return FAILED
    return _ask_archives(given, settings, stdout)


def _ask_archives(given: argparse.Namespace, settings: Settings, stdout: TextIO) -> int:
    """Each archive chosen, one route or all, told as they answer."""
    _tell(
        stdout,
        "Archives (the seconds include the wait between two requests to one archive; a failed one "
        "is not repeated)",
    )
    chosen = _chosen(given.archives, settings)
    routes = [route for entry in chosen for route in _routes_of(entry)[:None if given.all else 1]]
    client = BooksClient(settings=replace(settings, max_retries=0), sources=ARCHIVES)
    try:
        outcomes = [tell_route(route, client, budget_s(settings), stdout) for route in routes]
    finally:
        client.close()
    unasked = [entry.key for entry in chosen if not _routes_of(entry)]
    _tell(
        stdout,
        *(
            f"  {key:<{KEY_COLUMNS}}not asked: no question is known that it answers; add one to "
            "ROUTES in sources/shell/check.py"
            for key in unasked
        ),
    )
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    _tell(stdout, *_meanings(errors))
    return FAILED if errors or unasked else ANSWERED


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    keys = [entry.key for entry in ENTRIES]
    parser = argparse.ArgumentParser(
        prog="mcp-books check",
        allow_abbrev=False,
        description="Tell what is in force here, then ask each archive one question. "
        "Gallica is asked only when it is named here or in BOOKS_SOURCES.",
    )
    parser.add_argument(
        "archives", nargs="*", metavar="ARCHIVE", help="ask these alone: " + ", ".join(keys)
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="ask every route of the archives asked; takes some minutes",
    )
    parser.add_argument(
        "--wheels",
        type=Path,
        metavar="FOLDER",
        help="tell whether the folder's wheels are all that an installation needs, and ask nobody",
    )
    parser.add_argument(
        "--python", metavar="VERSION", help="with --wheels: for another Python, such as 3.12"
    )
    parser.add_argument(
        "--platform", metavar="NAME", help="with --wheels: for another system, such as win_amd64"
    )
    given = parser.parse_args(list(argv))
    for name in given.archives:
        if name not in keys:  # argparse's own `choices` refuse that none is named
            parser.error(
                f"no archive is called {name!r}.{nearest(name, keys)} The archives are: "
                f"{', '.join(keys)}."
            )
    return given


def _chosen(named: Sequence[str], settings: Settings) -> list[Entry]:
    keys = named or settings.sources or [entry.key for entry in ENTRIES if entry.asked_by_default]
    return [entry for entry in ENTRIES if entry.key in keys]


def tell_route(route: Route, client: BooksClient, budget_s: float, out: TextIO) -> Outcome:
    """Ask one route and print what it gave, its name before the wait."""
    print(
        f"  {route.archive:<{KEY_COLUMNS}}{route.name:<{NAME_COLUMNS}}",
        end=" ",
        file=out,
        flush=True,
    )
    outcome = probe(route, client, budget_s)
    if outcome.absent_because is not None:
        _tell(out, f"not asked. {outcome.absent_because}")
        return outcome
    came = f"{outcome.seconds:5.1f} s  {'+'.join(map(str, outcome.statuses)) or '-'}"
    error = outcome.error
    if error is None:
        _tell(
            out,
            f"{came}  answered: {outcome.brought}"
            + (", less than this question usually brings" if outcome.empty else ""),
        )
    else:
        wait = f" Ask again in {error.retry_after_s:.0f} s." if error.retry_after_s else ""
        _tell(out, f"{came}  {error.code}", f"    {error.message}{wait}")
    return outcome


def _meanings(errors: Sequence[SourceError]) -> Iterator[str]:
    """What the failures mean and what to do, each said once however many routes met it."""
    if errors:
        yield "\nWhat that means"
    yield from dict.fromkeys(
        f"  {error.code}: "
        f"{_REFUSED if error.code == 'network_error' and error.status else _MEANS[error.code]} "
        + re.sub("; `mcp-books check`[^.]*", "", error.hint)
        for error in errors
    )


def _tell(out: TextIO, *lines: str) -> None:
    for line in lines:
        print(line, file=out, flush=True)


# ---- what is here --------------------------------------------------------------------------------

# A test holds this table to pyproject.toml.
NEEDED = {
    "requests": ">=2.31,<3",
    "lxml": ">=5.2,<7",
    "jsonschema": ">=4.20,<5",
}


def _libraries() -> tuple[str, bool]:
    """The dependencies with their versions, and whether all are there."""
    told, whole = [], True
    for name, bounds in NEEDED.items():
        try:
            told.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            told.append(f"{name} MISSING ({name} {bounds})")
            whole = False
    return "Libraries: " + ", ".join(told), whole


def _settings(settings: Settings, warnings: Sequence[str]) -> Iterator[str]:
    """Every setting as it is in force, and whether the environment or the default says so."""
    for entry in fields(settings):
        if entry.name not in ("origin", "gateway_unreadable"):
            came_from = "environment" if entry.name in settings.origin else "default"
            value = _shown(entry.name, getattr(settings, entry.name))
            yield f"  BOOKS_{entry.name.upper():<20} {value}  ({came_from})"
    for line in warnings:
        yield f"  unreadable: {line}"


def _shown(name: str, value: Any) -> str:
    if name == "gallica_contents":
        return "accept" if value else "not given"
    if name == "call_budget_ms":
        return (
            f"{value} (of a host's call; a command has twice BOOKS_TIMEOUT_MS unless this is set)"
        )
    if value is None:
        return "off" if name == "state_dir" else "not set"
    if name == "gateway":
        return host_and_port(value)
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _surroundings(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Contact, proxy, certificates, state folder, and what stands between this program and the
    archives."""
    if settings.user_agent and re.search(r"\S@\S|https?://\S", settings.user_agent):
        yield f"Contact: {settings.user_agent}"
    else:
        yield (
            "Contact: none. Let BOOKS_USER_AGENT name an address or a page where an archive can "
            "reach whoever runs this; "
            "until then archives see the program's name alone."
        )
    yield from _ways_out(settings, environ)
    yield f"State folder: {_state(settings.state_dir)}"
    if settings.replay_dir is not None:
        yield (
            "Replay: BOOKS_REPLAY_DIR is set, so kept answers stand below; they say nothing of the "
            "archives now."
        )


def _ways_out(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Proxies as `requests` finds them, the lower-case name first, then the system's own;
    certificates in its order."""
    if settings.gateway is not None:
        gateway = host_and_port(settings.gateway)
        yield f"Gateway: {gateway}; every request goes there, and no proxy is used."
    if settings.gateway_unreadable:
        yield f"Gateway: BOOKS_GATEWAY {GATEWAY_UNREADABLE}"
    proxies = [f"{kind} {host_and_port(address)}" for kind, address in sorted(getproxies().items())
               if kind in ("https", "http", "all")]
    yield "Proxy: " + ("; ".join(proxies) or "none")
    around = environ.get("no_proxy") or environ.get("NO_PROXY")
    if around:
        yield f"No proxy for: {around}"
    named = next(
        (name for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE") if environ.get(name)), None
    )
    there = "" if named is None or Path(environ[named]).exists() else ", WHICH IS NOT THERE"
    usual = "the system's own store and the list of certifi"
    yield "Certificates: " + (f"{named}={environ[named]}{there}" if named else usual)


def _state(folder: Path | None) -> str:
    if folder is None:
        return "off; pauses and blocks are kept in this process alone"
    trouble = unusable(folder)
    if trouble:
        return (f"{folder}, NOT USABLE ({trouble}): pauses and blocks are kept in each process "
                "alone")
    return f"{folder}, usable: pauses and blocks are shared by every process that uses it"


def check_wheels(given: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    """Whether pip could install this program from a folder alone, for this machine or the one
    named; nothing is installed."""
    if not given.wheels.is_dir():
        print(f"mcp-books check: {given.wheels} is no folder that can be read.", file=err)
        return BAD_INPUT
    done = _dry_run(given.wheels, _for_machine(given.python, given.platform))
    machine = (
        " ".join(filter(None, (given.python and f"Python {given.python}", given.platform)))
        or "this machine"
    )
    if done.returncode == 0:
        _tell(out, f"Wheels for {machine}: the folder holds all that is needed.")
        return ANSWERED
    if "No module named pip" in done.stderr:
        _tell(
            out,
            f"Wheels for {machine}: not checked, since this Python has no pip; python3 -m "
            "ensurepip brings it.",
        )
        return FAILED
    lacking = re.findall(r"(?:ERROR: )?No matching distribution found for (.+)", done.stderr) or [
        line.removeprefix("ERROR: ")
        for line in done.stderr.splitlines()
        if line.startswith("ERROR: ")
    ]
    _tell(out, f"Wheels for {machine}: the folder lacks at least this:",
          *(f"  {line}" for line in lacking or ["what pip did not name"]))
    return FAILED


def _for_machine(python: str | None, system: str | None) -> Iterator[str]:
    """What pip is told of a machine that is not this one."""
    named = {"python-version": python, "platform": system}
    yield from (f"--{name}={value}" for name, value in named.items() if value)
    if python and re.fullmatch(r"3\.?([0-9]|1[0-2])(\.\d+)?", python):
        # what only such a Python needs, pip asks for only where it runs on one itself
        yield "typing-extensions"


def _dry_run(folder: Path, machine: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Ask this Python's pip what it would install."""
    with tempfile.TemporaryDirectory() as nowhere:
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--dry-run",
            "--ignore-installed",
            "--no-index",
            "--only-binary=:all:",
            f"--find-links={folder}",
            "--target",
            nowhere,
            "--disable-pip-version-check",
            "--quiet",
            *machine,
            "mcp-books",
        ]
        return subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
