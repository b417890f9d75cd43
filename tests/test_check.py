"""`mcp-books check`: what it tells of an installation, whom it asks, what it makes of a refusal."""
from __future__ import annotations

import importlib.metadata
import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shelf
from conftest import FakeClock, StandIn

from sources.archives.openlibrary import OpenLibrary
from sources.client import BooksClient
from sources.errors import RateLimited
from sources.registry import ARCHIVES, ENTRIES, ENTRY_OF, Entry
from sources.settings import Settings
from sources.shell import check
from sources.shell.check import ROUTES, Route, probe, tell_route
from sources.transport.flights import Transport

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def checked(stand_in: StandIn, *argv: str, **environ: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command, whose archives are the stand-in."""
    out, err = io.StringIO(), io.StringIO()
    around = {"BOOKS_GATEWAY": stand_in.address, "BOOKS_STATE_DIR": "off", **environ}
    return check.main(list(argv), environ=around, stdout=out, stderr=err), out.getvalue(), err.getvalue()


def transport(stand_in: StandIn, **changes: Any) -> BooksClient:
    """To the stand-in, deadlines on the real clock, pacing on a fake one."""
    settings = Settings(**{"gateway": stand_in.address, "max_retries": 0, **changes})
    return BooksClient(settings=settings, sources=ARCHIVES, transport=Transport(settings, ARCHIVES, pacing_clock=FakeClock()))


def asked_at(stand_in: StandIn) -> list[str]:
    return [seen.place for seen in stand_in.seen]


def lines_with(out: str, *words: str) -> list[str]:
    return [line for line in out.splitlines() if any(word in line for word in words)]


def without_seconds(line: str) -> str:
    return re.sub(r" +\d+\.\d s ", " N s ", line)


# ---- whom it asks ----------------------------------------------------------------------------------------------------

def test_one_request_goes_to_each_archive_that_is_asked_by_default(stand_in: StandIn):
    """Five archives, five requests, exit 0; Gallica is not among them."""
    shelf.stock(stand_in)

    status, out, err = checked(stand_in)

    assert (status, err) == (0, "")
    assert asked_at(stand_in) == ["archive.org/advancedsearch.php", "www.loc.gov/books/", "data.bnf.fr/sparql",
                                  "catalogue.bnf.fr/api/SRU", "openlibrary.org/search.json"]
    assert [without_seconds(line) for line in lines_with(out, "answered:")] == [
        "  archive      catalogue N s  200  answered: 1 row of 9",
        "  loc          catalogue of books N s  200  answered: 1 row of 104",
        "  bnf          titles of works N s  200  answered: 1 row",
        "  bnfcatalogue catalogue N s  200  answered: 1 row of 57",
        "  openlibrary  works N s  200  answered: 1 row of 7"]


@pytest.mark.parametrize(("argv", "environ"), [(["gallica"], {}), ([], {"BOOKS_SOURCES": "gallica"})], ids=["named", "BOOKS_SOURCES"])
def test_gallica_is_asked_only_when_it_is_named(stand_in: StandIn, argv, environ):
    """By the command line or by the operator's setting; nobody else is asked then."""
    shelf.stock(stand_in)

    status, _, _ = checked(stand_in, *argv, **environ)

    assert (status, asked_at(stand_in)) == (0, ["gallica.bnf.fr/SRU"])


def test_archives_named_on_the_command_line_are_asked_whatever_the_setting_says(stand_in: StandIn):
    """The command line is the later word."""
    shelf.stock(stand_in)

    checked(stand_in, "openlibrary", BOOKS_SOURCES="archive,loc")

    assert asked_at(stand_in) == ["openlibrary.org/search.json"]


def test_contents_of_gallica_are_not_asked_before_their_terms_are_accepted(stand_in: StandIn):
    """Its two contents routes are told as not asked, with the reason, and are no failure."""
    out = io.StringIO()
    contents = [route for route in ROUTES if route.archive == "gallica" and route.call in ("search_inside", "read_text")]

    outcomes = [tell_route(route, transport(stand_in), 50.0, out) for route in contents]

    assert ([outcome.error for outcome in outcomes], stand_in.seen) == ([None, None], [])
    assert out.getvalue().count("not asked. ") == 2
    assert out.getvalue().count("BOOKS_GALLICA_CONTENTS") == 2


def test_all_routes_of_an_archive_are_asked_one_after_another(stand_in: StandIn):
    """Open Library has six: both searches of headings, three kinds of record, and the catalogue."""
    folder = shelf.ANSWERS / "openlibrary"
    for place, name in ((r"works/OL\d+W\.json", "work"), (r"authors/OL\d+A\.json", "author"), (r"works/OL\d+W/editions\.json", "work-editions"),
                        (r"isbn/\d+\.json", "edition"), (r"search/subjects\.json", "subjects"), (r"search/authors\.json", "authors"),
                        (r"search\.json", "search")):
        stand_in.add(r"openlibrary\.org/" + place, body=(folder / f"{name}.json").read_bytes())
    carrier = transport(stand_in)

    outcomes = [probe(route, carrier, 50.0) for route in ROUTES if route.archive == "openlibrary"]

    assert [(outcome.statuses[0], outcome.error) for outcome in outcomes] == [(200, None)] * 6
    assert [outcome.brought for outcome in outcomes] == ["1 row of 7", "a record", "a record, 12 entries", "a record", "4 rows of 50", "3 rows of 3"]


def test_every_call_that_an_archive_answers_has_a_route():
    """The live tests are this table, so a call without a line in it is one that nobody would see break."""
    answered = {(entry.key, call) for entry in ENTRIES for call in entry.answers}

    assert {(route.archive, route.call) for route in ROUTES} == answered
    assert len({(route.archive, route.name) for route in ROUTES}) == len(ROUTES)


def test_the_first_route_of_each_archive_needs_no_record_and_no_long_search():
    """One catalogue search, one request: what the check without --all costs."""
    first = {route.archive: route for route in reversed(ROUTES)}

    assert {key: route.call for key, route in first.items()} == dict.fromkeys((entry.key for entry in ENTRIES), "search_items")


# ---- what it makes of a refusal --------------------------------------------------------------------------------------

def test_a_refusal_is_told_with_status_reason_and_what_it_means_and_is_not_asked_again(stand_in: StandIn):
    """Exit 1 although the other archive answered; a 503 that other commands would ask again is asked once."""
    shelf.stock(stand_in)
    shelf.spoil(stand_in, "archive catalogue", status=503, body=b"busy", headers={"Content-Type": "text/plain"})

    status, out, _ = checked(stand_in, "archive", "openlibrary")

    assert (status, asked_at(stand_in)) == (1, ["archive.org/advancedsearch.php", "openlibrary.org/search.json"])
    assert [without_seconds(line) for line in out.splitlines()[-6:]] == [
        "  archive      catalogue N s  503  network_error",
        "    The Internet Archive could not answer (status 503).",
        "  openlibrary  works N s  200  answered: 1 row of 7",
        "",
        "What that means",
        "  network_error: Something answered, and refused: the archive, the protection of its site, or a proxy on the way. "
        "Ask again in a minute; nothing was learnt about what the archive holds."]


def test_an_archive_that_cannot_be_reached_is_told_as_a_matter_of_the_way_there(stand_in: StandIn):
    """No status: nobody answered, so the network comes first. What two routes met is explained once."""
    status, out, _ = checked(stand_in, "bnf", "openlibrary", BOOKS_GATEWAY="http://127.0.0.1:9")

    assert status == 1
    assert [without_seconds(line) for line in out.splitlines()[-7:]] == [
        "  bnf          titles of works N s  -  network_error",
        "    The connection to data.bnf.fr was refused.",
        "  openlibrary  works N s  -  network_error",
        "    The connection to Open Library was refused.",
        "",
        "What that means",
        "  network_error: Nothing of the archive's own came back: look at the network, the proxy and the certificates, unless "
        "the site's protection is named above. Check the firewall and the proxy settings."]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[str, ...]], None]:
    """Puts an archive into the registry that ROUTES does not know: Open Library's adapter, under another key."""
    def put(answers: tuple[str, ...]) -> None:
        village = type("Village", (OpenLibrary,), {"key": "village", "name": "the Village Library", "answers": answers})
        entry = Entry(key="village", name="the Village Library", adapter="village.Village", answers=answers, media_types=())
        monkeypatch.setattr(check, "ENTRIES", (*ENTRIES, entry))
        monkeypatch.setattr(check, "ARCHIVES", (village,))
    return put


def test_an_archive_that_was_added_is_asked_a_general_question(stand_in: StandIn, added):
    """Whoever adds one need not know the table of routes to see whether it answers."""
    shelf.stock(stand_in)
    added(("search_headings", "search_items"))

    status, out, _ = checked(stand_in, "village")

    assert status == 0
    assert [without_seconds(line) for line in lines_with(out, "answered:")] == [
        "  village      search_items, a general question N s  200  answered: 1 row of 7"]


def test_an_archive_that_no_known_question_reaches_is_said_to_be_unasked_and_is_no_success(stand_in: StandIn, added):
    """A read needs a record that nobody here knows; silence would read as if all were well."""
    added(("get_item",))

    status, out, _ = checked(stand_in, "village")

    assert (status, stand_in.seen) == (1, [])
    assert out.splitlines()[-1] == (
        "  village      not asked: no question is known that it answers; add one to ROUTES in sources/shell/check.py")


def test_a_status_that_an_adapter_reads_itself_is_told_once(stand_in: StandIn):
    """A search route that is gone: one answer, one 404."""
    outcome = probe(next(route for route in ROUTES if route.archive == "openlibrary"), transport(stand_in), 50.0)

    assert (outcome.statuses, len(stand_in.seen)) == ((404,), 1)


def test_a_limit_is_told_with_the_wait_that_the_archive_named(stand_in: StandIn):
    """429 with Retry-After: 90."""
    shelf.stock(stand_in)
    shelf.spoil(stand_in, "openlibrary works", status=429, body=b"slow down", headers={"Retry-After": "90"})

    status, out, _ = checked(stand_in, "openlibrary")

    assert status == 1
    assert lines_with(out, "Ask again in 90 s.", "wants no more") == [
        "    Open Library asked this client to slow down (status 429). Ask again in 90 s.",
        "  rate_limited: It can be reached, and wants no more requests from this address for now. Wait as long as stated, "
        "then ask again; the record may well exist."]


def test_every_code_of_an_error_has_a_meaning():
    """Six codes and no others (DESIGN 8)."""
    assert set(check._MEANS) == {"not_found", "invalid_input", "rate_limited", "parse_failure", "network_error", "timeout"}


def test_a_fault_of_this_program_is_told_as_one_and_the_rest_is_asked(stand_in: StandIn):
    """The check is run when something is broken; it must not be the next thing to break."""
    route = Route(archive="loc", call="search_items", name="a fault", ask=lambda archive: 1 // 0)

    outcome = probe(route, transport(stand_in), 50.0)

    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.message) == (
        "parse_failure", "The Library of Congress answered something that this client could not read.")


def test_an_answer_without_a_row_counts_as_answered_and_says_that_it_is_less_than_usual(stand_in: StandIn):
    """A route that answers is no fault of the network; that its known question brought nothing may be one of the archive."""
    stand_in.add(r"openlibrary\.org/search\.json", body=b'{"numFound": 0, "start": 0, "docs": []}')

    status, out, _ = checked(stand_in, "openlibrary")

    assert status == 0
    assert len(lines_with(out, "answered: 0 rows of 0, less than this question usually brings")) == 1


def test_the_name_of_a_route_is_printed_before_the_wait_for_it(stand_in: StandIn):
    """A newspaper search takes half a minute: whoever watches must see for what."""
    out, seen = io.StringIO(), []

    def ask(archive: object) -> None:
        seen.append(out.getvalue())
        raise RateLimited("Not now.", archive="loc")

    tell_route(Route(archive="loc", call="search_inside", name="newspaper pages", ask=ask), transport(stand_in), 50.0, out)

    assert [text.split() for text in seen] == [["loc", "newspaper", "pages"]]


# ---- what it tells of the installation -------------------------------------------------------------------------------

def told(stand_in: StandIn, **environ: str) -> str:
    stand_in.add(r"openlibrary\.org/.*", body=b'{"numFound": 0, "docs": []}')
    return checked(stand_in, "openlibrary", **environ)[1]


def test_every_setting_is_told_with_where_it_came_from(stand_in: StandIn):
    """Every setting; what the environment changed is marked, and what could not be read is told with its reason."""
    out = told(stand_in, BOOKS_TIMEOUT_MS="30000", BOOKS_MAX_RETRIES="many")

    names = [line.split()[0] for line in lines_with(out, "  BOOKS_")]
    assert names == ["BOOKS_" + name for name in (
        "USER_AGENT", "MIN_INTERVAL_MS", "TIMEOUT_MS", "MAX_RETRIES", "CACHE_TTL_MS", "CACHE_MAX_ENTRIES", "LOG_LEVEL", "SOURCES", "TOOLS",
        "CALL_BUDGET_MS", "GALLICA_CONTENTS", "GATEWAY", "STATE_DIR", "RECORD_DIR", "REPLAY_DIR", "SEARCH_LOG", "HTTP_HOSTS",
        "HTTP_ORIGINS")]
    assert [line.split() for line in lines_with(out, "  BOOKS_TIMEOUT_MS ", "  BOOKS_LOG_LEVEL ")] == [
        ["BOOKS_TIMEOUT_MS", "30000", "(environment)"], ["BOOKS_LOG_LEVEL", "error", "(default)"]]
    assert lines_with(out, "unreadable") == [
        "  unreadable: BOOKS_MAX_RETRIES: cannot read 'many'; wanted a number from 0 to 10; the default stands."]


@pytest.mark.parametrize(("agent", "line"), [
    ("", "Contact: none. Let BOOKS_USER_AGENT name an address or a page where an archive can reach whoever runs this; "
         "until then archives see the program's name alone."),
    ("reading room 3", "Contact: none. Let BOOKS_USER_AGENT name an address or a page where an archive can reach whoever runs this; "
                       "until then archives see the program's name alone."),
    ("reading room (desk@example.org)", "Contact: reading room (desk@example.org)"),
    ("reading room https://example.org/desk", "Contact: reading room https://example.org/desk")])
def test_a_missing_contact_is_said(stand_in: StandIn, agent, line):
    """An archive that cannot reach a person blocks instead."""
    assert lines_with(told(stand_in, BOOKS_USER_AGENT=agent), "Contact: ") == [line]


def test_no_password_of_a_proxy_or_a_gateway_is_printed(stand_in: StandIn, monkeypatch):
    """People paste this output into issues."""
    monkeypatch.setenv("HTTPS_PROXY", "http://reader:hush-1@proxy.example:3128")
    monkeypatch.setenv("ALL_PROXY", "http://hush-2@proxy.example:3129")
    gateway = stand_in.address.replace("//", "//gate:hush-3@")

    out = told(stand_in, BOOKS_GATEWAY=gateway, NO_PROXY="localhost,.example")

    assert "hush" not in out
    assert lines_with(out, "Proxy: ", "No proxy for: ", "Gateway: ") == [
        f"Gateway: {stand_in.address.removeprefix('http://')}; every request goes there, and no proxy is used.",
        "Proxy: all proxy.example:3129; https proxy.example:3128", "No proxy for: localhost,.example"]


def test_the_certificates_in_force_are_named_and_a_missing_file_is_said(stand_in: StandIn, tmp_path):
    """REQUESTS_CA_BUNDLE before CURL_CA_BUNDLE, as the library that sends decides."""
    bundle = tmp_path / "house.pem"
    bundle.touch()

    lines = [lines_with(told(stand_in, **environ), "Certificates: ")[0] for environ in (
        {}, {"REQUESTS_CA_BUNDLE": str(bundle), "CURL_CA_BUNDLE": "/elsewhere"}, {"CURL_CA_BUNDLE": str(tmp_path / "gone.pem")})]

    assert lines == ["Certificates: the system's own store and the list of certifi", f"Certificates: REQUESTS_CA_BUNDLE={bundle}",
                     f"Certificates: CURL_CA_BUNDLE={tmp_path / 'gone.pem'}, WHICH IS NOT THERE"]


def test_a_state_folder_is_told_as_usable_off_or_not_usable(stand_in: StandIn, tmp_path):
    """It is made when it is missing, and nothing is left in it."""
    blocked = tmp_path / "file"
    blocked.touch()

    lines = [lines_with(told(stand_in, BOOKS_STATE_DIR=str(folder)), "State folder: ")[0] for folder in ("off", tmp_path / "new", blocked)]

    assert [re.sub(r"\(.+\)", "(the system's reason)", line) for line in lines] == [
        "State folder: off; pauses and blocks are kept in this process alone",
        f"State folder: {tmp_path / 'new'}, usable: pauses and blocks are shared by every process that uses it",
        f"State folder: {blocked}, NOT USABLE (the system's reason): pauses and blocks are kept in each process alone"]
    assert [path.name for path in (tmp_path / "new").iterdir() if path.name.startswith(".check-")] == []


def test_a_replay_says_that_no_archive_was_asked(stand_in: StandIn, tmp_path):
    """Otherwise a full shelf would pass for a network that works."""
    _, out, _ = checked(stand_in, "openlibrary", BOOKS_REPLAY_DIR=str(tmp_path))

    assert stand_in.seen == []
    assert lines_with(out, "Replay: ") == [
        "Replay: BOOKS_REPLAY_DIR is set, so kept answers stand below; they say nothing of the archives now."]


def test_a_missing_library_is_named_and_nothing_is_asked_without_it(stand_in: StandIn, monkeypatch):
    """Exit 1, and the versions that are wanted."""
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "lxml":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)

    status, out, _ = checked(stand_in)

    assert (status, stand_in.seen) == (1, [])
    assert lines_with(out, "Libraries: ", "No archive was asked") == [
        f"Libraries: requests {real('requests')}, lxml MISSING (lxml >=5.2,<7), jsonschema {real('jsonschema')}",
        "No archive was asked: install what is missing first."]


def test_an_archive_that_is_none_is_bad_input(stand_in: StandIn, capsys):
    """Exit 2, before anything is asked, with the names there are."""
    status, _, _ = checked(stand_in, "lok")

    assert (status, stand_in.seen) == (2, [])
    assert capsys.readouterr().err.splitlines()[-1] == (
        "mcp-books check: error: no archive is called 'lok'. Did you mean 'loc'? "
        f"The archives are: {', '.join(ENTRY_OF)}.")


# ---- the wheel folder ------------------------------------------------------------------------------------------------

def wheel(folder: Path, name: str, version: str, *requires: str, tag: str = "py3-none-any") -> None:
    """A wheel that holds nothing but what it is and needs."""
    about = f"{name.replace('-', '_')}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name.replace('-', '_')}-{version}-{tag}.whl", "w") as made:
        needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
        made.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        made.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: {tag}\n")
        made.writestr(f"{about}/RECORD", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the program and one library stand."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("pip is not here: no folder was judged")
    wheel(tmp_path, "mcp-books", "9.0", "lxml>=5")
    wheel(tmp_path, "lxml", "5.3")
    return tmp_path


def test_a_wheel_folder_that_holds_all_is_said_and_nobody_is_asked(stand_in: StandIn, folder: Path):
    status, out, _ = checked(stand_in, "--wheels", str(folder))

    assert (status, stand_in.seen) == (0, [])
    assert lines_with(out, "Wheels for ") == ["Wheels for this machine: the folder holds all that is needed."]


@pytest.mark.parametrize(("gone", "named"), [("lxml", "lxml>=5"), ("mcp_books", "mcp-books")])
def test_a_wheel_that_is_missing_is_named_the_programs_own_too(stand_in: StandIn, folder: Path, gone: str, named: str):
    next(folder.glob(f"{gone}-*.whl")).unlink()

    status, out, _ = checked(stand_in, "--wheels", str(folder))

    assert status == 1
    assert out.splitlines()[-2] == "Wheels for this machine: the folder lacks at least this:"
    assert out.splitlines()[-1].strip().startswith(named)


def test_a_folder_is_judged_for_the_machine_it_is_carried_to(stand_in: StandIn, folder: Path):
    """One wheel was made for Windows alone; one is needed by Python before 3.13, whichever Python asks."""
    next(folder.glob("lxml-*.whl")).unlink()
    wheel(folder, "lxml", "5.3", tag="cp312-cp312-win_amd64")

    here, _, _ = checked(stand_in, "--wheels", str(folder))
    lacking, short, _ = checked(stand_in, "--wheels", str(folder), "--python", "3.12", "--platform", "win_amd64")
    wheel(folder, "typing-extensions", "4.12")
    there, out, _ = checked(stand_in, "--wheels", str(folder), "--python", "3.12", "--platform", "win_amd64")

    assert (here, lacking, there) == (1, 1, 0)
    assert short.splitlines()[-1] == "  typing-extensions"
    assert lines_with(out, "Wheels for ") == ["Wheels for Python 3.12 win_amd64: the folder holds all that is needed."]


def test_a_wheel_folder_that_is_not_there_is_bad_input(stand_in: StandIn, tmp_path: Path):
    status, _, err = checked(stand_in, "--wheels", str(tmp_path / "none"))

    assert (status, err) == (2, f"mcp-books check: {tmp_path / 'none'} is no folder that can be read.\n")


def test_the_bounds_told_are_those_of_the_package():
    """And of its dependencies, no more."""
    stated = re.search(r"^dependencies = \[(.*?)^\]", PYPROJECT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

    assert stated
    assert re.findall(r'"([^"]+)"', stated[1]) == [name + bounds for name, bounds in check.NEEDED.items()]
