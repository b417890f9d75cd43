"""The recipe for many machines, `nginx.conf`: one cache and one rate an archive, whoever asks. README shows the same file.

What needs nginx itself runs where it is installed and is skipped, saying so, elsewhere. The stand-in answers in the archives'
place: three lines of the recipe are given the test's own ports and folder, and one is led to the stand-in.
"""
from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from conftest import StandIn

from sources.client import BooksClient
from sources.registry import ARCHIVES
from sources.settings import Settings
from sources.transport.flights import Transport

ROOT = Path(__file__).resolve().parent.parent
RECIPE = (ROOT / "tests" / "nginx.conf").read_text(encoding="utf-8")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed here: its recipe was read, not run")

WORKS = b'{"numFound": 1, "start": 0, "docs": [{"key": "/works/OL1W", "title": "The wet fog"}]}'
TOLERANCE_S = 0.03  # nginx counts in milliseconds and wakes on a timer


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def led_to(stand_in: StandIn, folder: Path, front: int, back: int) -> str:
    """The recipe with its ports, its folder and its way out replaced; each stands there as often as is said here."""
    text = RECIPE
    for old, new, times in (("listen 8080;", f"listen 127.0.0.1:{front};", 1), ("127.0.0.1:8081", f"127.0.0.1:{back}", 2),
                            ("/var/cache/nginx/books", f"{folder}/kept", 1),
                            ("$scheme_asked://$host_asked$rest_asked", stand_in.address + "$request_uri", 1)):
        assert text.count(old) == times, old
        text = text.replace(old, new)
    own = "".join(f"    {name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return text.replace("http {\n", "http {\n" + own)


@pytest.fixture
def gateway(stand_in: StandIn) -> Iterator[str]:
    """The address of an nginx that runs the recipe in front of the stand-in."""
    front, back = free_port(), free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "nginx.conf").write_text(led_to(stand_in, folder, front, back), encoding="utf-8")
        user = "user root;" if os.geteuid() == 0 else ""
        process = subprocess.Popen([str(NGINX), "-c", f"{folder}/nginx.conf", "-p", name, "-e", f"{folder}/errors",
                                    "-g", f"daemon off; pid {folder}/pid; {user}"])
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", front)) == 0:
                        break
                assert process.poll() is None, (folder / "errors").read_text()
                process_waits(0.02)
            yield f"http://127.0.0.1:{front}"
        finally:
            process.terminate()
            process.wait()


def process_waits(seconds: float) -> None:
    """nginx has no way of saying that it is ready."""
    threading.Event().wait(seconds)


@pytest.fixture
def machine(gateway: str) -> Iterator[Callable[[], BooksClient]]:
    """Makes clients as on machines of their own: nothing is shared but the gateway."""
    made: list[BooksClient] = []

    def make() -> BooksClient:
        settings = Settings(gateway=gateway, state_dir=None)
        made.append(BooksClient(settings=settings, transport=Transport(settings, ARCHIVES)))
        return made[-1]

    yield make
    for client in made:
        client.close()


# ---- read --------------------------------------------------------------------------------------------------------------

def test_every_lane_of_the_registry_has_a_rate_that_keeps_its_spacing() -> None:
    """A lane added to an archive is missed here; a zone is one key for all, and each is applied once."""
    rates = {name: 60 / int(rate) for name, rate in re.findall(r"zone=([a-z-]+):32k +rate=(\d+)r/m;", RECIPE)}
    lanes = {lane.key: lane.spacing_s for archive in ARCHIVES for lane in archive.lanes}

    assert rates.keys() == lanes.keys()
    assert [key for key, spacing_s in lanes.items() if rates[key] < spacing_s] == []
    assert re.findall(r"limit_req zone=([a-z-]+) ", RECIPE) == list(rates)
    assert set(re.findall(r"(\S+) +all; default", RECIPE)) == set(lanes)


def test_no_request_waits_at_the_gateway_for_longer_than_one_may_take() -> None:
    """The burst times the rate stays under the 45 s of BOOKS_TIMEOUT_MS, with time for the answer itself."""
    rates = {name: 60 / int(rate) for name, rate in re.findall(r"zone=([a-z-]+):32k +rate=(\d+)r/m;", RECIPE)}
    bursts = {name: int(burst) for name, burst in re.findall(r"limit_req zone=([a-z-]+) +burst=(\d+);", RECIPE)}

    assert max(rates[name] * burst for name, burst in bursts.items()) <= 30


def test_readme_names_the_recipe() -> None:
    assert "`tests/nginx.conf`" in (ROOT / "README.md").read_text(encoding="utf-8")


# ---- run ---------------------------------------------------------------------------------------------------------------

@needs_nginx
def test_a_request_goes_out_letter_for_letter_and_only_to_hosts_of_the_lanes(stand_in: StandIn, gateway: str) -> None:
    """An escaped slash stays one, the archive sees its own name and who asks; another host, or none, gets nothing."""
    stand_in.add(r"www\.loc\.gov/.*")
    odd = "/www.loc.gov/item/a%2Fb%20c//d/?q=l%27%C3%A9t%C3%A9+%26&fo=json"

    passed = requests.get(gateway + odd, headers={"User-Agent": "mcp-books/1 (someone)"}, timeout=10)
    refused = [requests.get(f"{gateway}/{path}", timeout=10).status_code
               for path in ("evil.example/x", "archive.org.evil.example/x", "127.0.0.1/x", "loc.gov/x", "")]

    assert passed.status_code == 200
    assert refused == [403] * 5
    assert [(seen.raw_path, seen.headers["host"], seen.headers["user-agent"]) for seen in stand_in.seen] == [
        (odd, "www.loc.gov", "mcp-books/1 (someone)")]


@needs_nginx
def test_what_one_machine_asked_the_next_is_answered_from_the_cache(stand_in: StandIn, machine: Callable[[], BooksClient]) -> None:
    """Three machines, one question, two of them at the same time: the archive is asked once."""
    stand_in.add(r"openlibrary\.org/search\.json", body=WORKS, delay_s=0.2)
    machines = [machine() for _ in range(3)]

    def ask(client: BooksClient) -> list[str | None]:
        return [row.identifier for row in client.search_items("wet fog", sources=["openlibrary"], fan_out=False).items]

    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(ask, machines[:2])) + [ask(machines[2])]

    assert rows == [["openlibrary:OL1W"]] * 3
    assert len(stand_in.seen) == 1


@needs_nginx
def test_two_machines_together_keep_one_archives_pace(stand_in: StandIn, machine: Callable[[], BooksClient]) -> None:
    """Two questions from each, one second apiece: four requests, each at least a second after the one before."""
    stand_in.add(r"openlibrary\.org/search\.json", body=WORKS)
    questions = [(machine(), words) for words in ("wet fog", "dry fog")] * 2

    def ask(number: int) -> int:
        client, words = questions[number]
        return client.search_items(f"{words} {number}", sources=["openlibrary"], fan_out=False).item_count

    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(ask, range(4)))

    starts = stand_in.starts()
    assert counts == [1] * 4
    assert len(starts) == 4
    assert min(after - before for before, after in zip(starts, starts[1:], strict=False)) >= 1.0 - TOLERANCE_S


@needs_nginx
def test_questions_by_post_are_told_apart_by_their_body(stand_in: StandIn, gateway: str) -> None:
    """data.bnf.fr: the address is always the same. The second question waits its three seconds, the first again does not."""
    stand_in.add(r"data\.bnf\.fr/sparql")
    address = f"{gateway}/data.bnf.fr/sparql"

    for query in ("one", "two", "one"):
        requests.post(address, data={"query": query}, timeout=20)

    assert [seen.form for seen in stand_in.seen] == [(("query", "one"),), (("query", "two"),)]


@needs_nginx
@pytest.mark.parametrize("headers", [{"Content-Type": "application/json", "Cache-Control": "no-cache, max-age=0"},
                                     {"Content-Type": "text/html; charset=utf-8"}])
def test_an_answer_that_may_be_none_is_not_kept(stand_in: StandIn, gateway: str, headers: dict[str, str]) -> None:
    """A page instead of data, or a count that the Library lets nobody keep: both are asked for again."""
    stand_in.add(r"tile\.loc\.gov/.*", body=b"{}", headers=headers)

    answers = [requests.get(f"{gateway}/tile.loc.gov/a", timeout=10) for _ in range(2)]

    assert len(stand_in.seen) == 2
    assert [answer.headers.get("Cache-Control") for answer in answers] == [headers.get("Cache-Control")] * 2


@needs_nginx
def test_a_machine_that_comes_too_often_is_told_when_to_come_back(stand_in: StandIn, gateway: str) -> None:
    """Page texts of Gallica: the first goes, the second waits half a minute, the third is refused at once with Retry-After."""
    stand_in.add(r"gallica\.bnf\.fr/.*")
    address = f"{gateway}/gallica.bnf.fr/RequestDigitalElement?Deb="
    first = requests.get(address + "1", timeout=10)
    second = socket.create_connection((gateway.split("//")[1].split(":")[0], int(gateway.rsplit(":", 1)[1])))
    second.sendall(b"GET /gallica.bnf.fr/RequestDigitalElement?Deb=2 HTTP/1.1\r\nHost: x\r\n\r\n")
    process_waits(0.2)
    begun = time.monotonic()

    third = requests.get(address + "3", timeout=10)

    second.close()
    assert first.status_code == 200
    assert (third.status_code, third.headers["Retry-After"]) == (503, "20")
    assert time.monotonic() - begun < 5
    assert len(stand_in.seen) == 1
