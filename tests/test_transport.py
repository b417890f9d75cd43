"""What every request goes through: turns, deadlines, retries, redirects, walls, the cache. Most of it over real sockets."""
from __future__ import annotations

import gzip
import json
import math
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import certifi
import pytest
import responses
from conftest import FakeClock, gzip_bomb

from sources.contract import Archive, Ask, Lane
from sources.errors import (
    ArchiveUnreachable,
    Cancelled,
    InvalidInput,
    RateLimited,
    RecordNotFound,
    SourceError,
    TimedOut,
    UnreadableAnswer,
)
from sources.settings import read_settings
from sources.transport.asker import ArchiveAsker
from sources.transport.bodies import charset, decode_json, decode_text, decode_xml, is_html, text_of_xml
from sources.transport.call import Call
from sources.transport.flights import RUN_ON_MAX, Transport
from sources.transport.gate import Gate, Ticket
from sources.transport.verdict import retry_after

HTML = {"Content-Type": "text/html; charset=utf-8"}
FIND = "https://toy.example/find"


class Toy(Archive):
    """An archive with a lane of a second, a data lane whose hosts it names itself, and a slow lane for some paths."""

    key = "toy"
    name = "the Toy Library"
    lanes = (
        Lane(key="toy", hosts=(r"toy\.example",), spacing_s=1.0, spacing_because="chosen for the tests", wall_signs=("prove you are human",)),
        Lane(key="toy-data", hosts=(r"[a-z0-9]+\.data\.example",), spacing_s=2.0, spacing_because="chosen for the tests"),
        Lane(key="toy-slow", hosts=(r"toy\.example",), paths=(r"/text/.*",), spacing_s=25.0, spacing_because="chosen for the tests"),
        Lane(key="toy-plain", hosts=(r"plain\.example",), scheme="http", spacing_s=1.0, spacing_because="chosen for the tests"),
    )


class Strict(Archive):
    """An archive that is silent for an hour after a 429, and whose 429 is never asked again."""

    key = "strict"
    name = "the Strict Library"
    lanes = (Lane(key="strict", hosts=(r"strict\.example",), spacing_s=6.0, spacing_because="chosen for the tests", in_flight_max=2,
                  retry_statuses=frozenset({503}), limit_block_s=3600.0),)


def asker(transport: Transport, archive: type[Archive] = Toy, *, budget_s: float = 50.0) -> ArchiveAsker:
    return transport.for_call(Call(budget_s, clock=transport.clock), archive.key)


def failure(ask: Callable[[], object]) -> SourceError:
    with pytest.raises(SourceError) as caught:
        ask()
    return caught.value


@pytest.fixture
def real(stand_in, make_transport):
    """Build a transport that asks the stand-in over real sockets: deadlines on the real clock, pacing on a fake one."""
    def make(*archives: type[Archive], **changes: object) -> Transport:
        return make_transport(*(archives or (Toy,)), clock=None, pacing_clock=FakeClock(), gateway=stand_in.address, **changes)
    return make


# ---- what is sent --------------------------------------------------------------------------------------------------

def test_every_request_says_who_asks(stand_in, real):
    """The operator's contact, product and version, the project's page; no library's default name, no language, no cookie."""
    stand_in.add("toy.example/find", headers={"Set-Cookie": "a=b", "Content-Type": "application/json"})
    transport = real(user_agent="Reading Room (desk@reading.example)", cache_ttl_ms=0)

    asker(transport)(Ask(url=FIND))
    asker(transport)(Ask(url=FIND))

    wanted = "Reading Room (desk@reading.example) mcp-books/0.0"
    assert [seen.headers["user-agent"] for seen in stand_in.seen] == [wanted, wanted]
    assert [{"cookie", "accept-language", "authorization"} & seen.headers.keys() for seen in stand_in.seen] == [set(), set()]


def test_an_adapter_cannot_change_who_asks(stand_in, real):
    stand_in.add("toy.example/find")

    asker(real())(Ask(url=FIND, headers=(("Accept", "application/x-toy"), ("User-Agent", "somebody"))))

    assert stand_in.seen[0].headers["accept"] == "application/x-toy"
    assert stand_in.seen[0].headers["user-agent"].split()[0] == "mcp-books/0.0"


def test_a_gateway_gets_the_same_address_letter_by_letter(stand_in, real, make_transport):
    """Parameters keep their order, and the percent-encoding is that of the direct request."""
    params = (("q", 'титаник "été" & co/+'), ("b", "2"), ("a", "1"), ("b", "3"))
    stand_in.add("toy.example/find")

    asker(real())(Ask(url=FIND, params=params))
    with responses.RequestsMock() as direct:
        direct.get(FIND, json={})
        asker(make_transport(Toy))(Ask(url=FIND, params=params))
        asked = str(direct.calls[0].request.url)

    assert stand_in.seen[0].raw_path == asked.replace("https:/", "")
    assert stand_in.seen[0].query == params


@responses.activate
def test_a_gateway_that_cannot_be_read_closes_the_way_out(make_transport):
    """A typing error must not ask the archives live: nothing is sent, and each failure names the setting."""
    for text in ("127.0.0.1:8080", "http://127.0.0.1:99999"):
        settings = read_settings({"BOOKS_GATEWAY": text, "BOOKS_STATE_DIR": "off"})
        transport = make_transport(Toy, gateway=settings.gateway, gateway_unreadable=settings.gateway_unreadable)

        error = failure(lambda transport=transport: asker(transport)(Ask(url=FIND)))

        assert (error.code, error.message) == (
            "network_error", "The Toy Library was not asked: BOOKS_GATEWAY cannot be read; wanted an http or https address without a query, "
            "such as http://127.0.0.1:8080. Nothing is sent until it is mended or unset.")
    assert len(responses.calls) == 0


def test_a_form_is_posted_with_its_fields(stand_in, real):
    stand_in.add("toy.example/sparql")

    asker(real())(Ask(url="https://toy.example/sparql", form=(("query", "SELECT é"), ("format", "json"))))

    assert (stand_in.seen[0].method, stand_in.seen[0].form) == ("POST", (("query", "SELECT é"), ("format", "json")))


def test_a_gateway_is_never_asked_through_a_proxy(stand_in, real, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    stand_in.add("toy.example/find")

    assert asker(real())(Ask(url=FIND)).value == {}


def test_the_proxy_of_the_environment_is_used_and_its_password_never_printed(make_transport, monkeypatch):
    """Nothing listens at the proxy: the failure names the proxy setting, not its address or its password."""
    monkeypatch.setenv("HTTPS_PROXY", "http://reader:hunter2@127.0.0.1:9")

    error = failure(lambda: asker(make_transport(Toy, clock=None))(Ask(url=FIND)))

    assert type(error) is ArchiveUnreachable
    assert (error.message, error.hint) == ("The proxy did not let the request to the Toy Library through.",
                                           "Check HTTPS_PROXY and NO_PROXY; `mcp-books check` shows what is in force.")


def test_a_plain_address_goes_through_the_proxy_of_the_environment(stand_in, make_transport, monkeypatch):
    """The stand-in plays the proxy: it is asked for the whole address."""
    monkeypatch.setenv("HTTP_PROXY", stand_in.address)
    stand_in.add("http://plain.example/oai|plain.example/oai|/oai|oai")

    asker(make_transport(Toy, clock=None))(Ask(url="http://plain.example/oai"))

    assert stand_in.seen[0].raw_path == "http://plain.example/oai"


@pytest.mark.parametrize("proxy", ["socks5://reader:hunter2@127.0.0.1:9", "http://reader:hunter2@[::1"])
def test_a_proxy_that_cannot_be_used_is_named_as_a_setting(make_transport, monkeypatch, proxy):
    monkeypatch.setenv("HTTPS_PROXY", proxy)

    error = failure(lambda: asker(make_transport(Toy, clock=None))(Ask(url=FIND)))

    assert (type(error), error.message) == (ArchiveUnreachable, "The proxy setting cannot be used.")


def test_an_answer_with_two_lengths_is_the_archives_fault(make_transport, stand_in):
    """The caller's question is not blamed for it."""
    stand_in.add(".*", body=b"{}", headers={"content-length": "5"})  # beside the true one, which the stand-in writes with capitals

    error = failure(lambda: asker(make_transport(Toy, clock=None, gateway=stand_in.address))(Ask(url=FIND)))

    assert (type(error), error.message) == (ArchiveUnreachable, "The Toy Library sent something that is no answer in HTTP.")


def test_a_certificate_file_that_is_not_there_is_named_by_its_setting(make_transport, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/secret-place.pem")

    error = failure(lambda: asker(make_transport(Toy, clock=None))(Ask(url=FIND)))

    assert (error.message, error.hint) == ("The certificate file named in the settings could not be read.",
                                           "Check REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE.")


@responses.activate
def test_a_certificate_failure_names_the_setting_and_is_not_asked_again(make_transport, clock):
    import requests
    responses.get(FIND, body=requests.exceptions.SSLError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate at /etc/x"))

    error = failure(lambda: asker(make_transport(Toy))(Ask(url=FIND)))

    assert (error.message, error.hint) == ("The certificate shown in the name of the Toy Library could not be verified.",
                                           "Behind a company's own authority, set REQUESTS_CA_BUNDLE to its certificate file.")
    assert (len(responses.calls), clock.slept) == (1, [])


@pytest.fixture(scope="module")
def key_and_certificate(tmp_path_factory):
    """Of localhost, vouching for themselves; made for these tests alone."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    return key, certificate


@pytest.fixture
def tls_stand_in(stand_in, key_and_certificate):
    """The stand-in behind TLS, its address, and the file of the authority that vouches for it."""
    key, certificate = key_and_certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    stand_in.socket = context.wrap_socket(stand_in.socket, server_side=True, do_handshake_on_connect=False)
    return stand_in, stand_in.address.replace("http://127.0.0.1", "https://localhost"), certificate


def test_a_certificate_nobody_vouches_for_is_refused_until_its_authority_is_named(tls_stand_in, make_transport, monkeypatch):
    """Over real TLS: one try, the setting named; with the setting, the answer."""
    stand_in, address, certificate = tls_stand_in
    stand_in.add("toy.example/find", body=b'{"a": 1}')
    pacing = FakeClock()
    transport = make_transport(Toy, clock=None, pacing_clock=pacing, gateway=address)

    error = failure(lambda: asker(transport)(Ask(url=FIND)))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    reply = asker(transport)(Ask(url=FIND))

    assert error.message == "The certificate shown in the name of the Toy Library could not be verified."
    assert (reply.value, len(stand_in.seen), pacing.slept) == ({"a": 1}, 1, [1.0])


def test_the_systems_certificates_are_trusted_unless_a_file_is_named(tls_stand_in, make_transport, monkeypatch):
    """A company's authority is in the system's store (here by SSL_CERT_FILE) long before anybody sets REQUESTS_CA_BUNDLE, which then rules alone."""
    stand_in, address, authority = tls_stand_in
    stand_in.add("toy.example/find", body=b'{"n": 1}')
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))

    def ask():
        return asker(make_transport(Toy, clock=None, pacing_clock=FakeClock(), gateway=address, max_retries=0, cache_ttl_ms=0))(Ask(url=FIND))

    assert ask().value == {"n": 1}
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", certifi.where())
    assert failure(ask).message == "The certificate shown in the name of the Toy Library could not be verified."


@pytest.mark.parametrize("fault", ["drip", "drip-headers", "silent"])
def test_a_drip_under_tls_ends_at_the_deadline_too(tls_stand_in, make_transport, monkeypatch, fault):
    """The same connection serves a good answer first, so the drip comes over one that was kept open."""
    stand_in, address, certificate = tls_stand_in
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    stand_in.add("toy.example/good")
    stand_in.add("toy.example/find", fault=fault)
    transport = make_transport(Toy, clock=None, pacing_clock=FakeClock(), gateway=address, timeout_ms=400, max_retries=0)
    asker(transport)(Ask(url="https://toy.example/good"))
    threads = threading.active_count()
    begun = time.monotonic()

    error = failure(lambda: asker(transport)(Ask(url=FIND)))
    elapsed_s = time.monotonic() - begun
    while threading.active_count() > threads and time.monotonic() - begun < 2.0:
        time.sleep(0.01)

    assert (type(error), elapsed_s < 1.0) == (TimedOut, True)
    assert [thread.name for thread in threading.enumerate() if thread.name == "books-toy"] == []


# ---- where it may go -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("address", [
    "https://other.example/find", "http://toy.example/find", "https://toy.example.evil.example/find", "https://127.0.0.1/find",
    "https://localhost/find", "https://toy.example:8443/find", "https://reader:word@toy.example/find", "https://[::1]/find",
    "https://toy.example@127.0.0.1/", "ftp://toy.example/find", "https://toy.example./find", "https://10.0.0.1.data.example/"])
def test_an_address_that_is_not_the_archives_own_is_refused_before_anything_is_sent(stand_in, real, address):
    error = failure(lambda: asker(real())(Ask(url=address)))

    assert type(error) is InvalidInput
    assert stand_in.seen == []


def test_redirects_among_an_archives_own_hosts_are_followed_each_in_its_turn(stand_in, real):
    """Two hops, to another lane, relative and absolute; the reply names the last address."""
    stand_in.add("toy.example/find", status=302, headers={"Location": "/there?q=é"})
    stand_in.add("toy.example/there", status=301, headers={"Location": "https://node7.data.example/file#part"})
    stand_in.add("node7.data.example/file", body=b'{"found": 1}')
    ask = asker(real())

    reply = ask(Ask(url=FIND))

    assert (reply.value, reply.url, ask.requests_sent) == ({"found": 1}, "https://node7.data.example/file", 3)
    assert [seen.place for seen in stand_in.seen] == ["toy.example/find", "toy.example/there", "node7.data.example/file"]


def test_each_redirect_hop_waits_for_its_slot(stand_in, make_transport):
    stand_in.add("toy.example/find", status=302, headers={"Location": "/there"})
    stand_in.add("toy.example/there")
    pacing = FakeClock()

    asker(make_transport(Toy, clock=None, pacing_clock=pacing, gateway=stand_in.address))(Ask(url=FIND))

    assert pacing.slept == [1.0]


@pytest.mark.parametrize("target", [
    "https://other.example/x", "http://127.0.0.1:1/x", "http://toy.example/x", "https://10.0.0.1/x", "//other.example/x",
    "https://toy.example@other.example/", "file:///etc/passwd", "https://[::1]/", "https://[broken/", "http://localhost/x"])
def test_a_redirect_elsewhere_is_not_followed(stand_in, real, target):
    stand_in.add("toy.example/find", status=302, headers={"Location": target})

    error = failure(lambda: asker(real())(Ask(url=FIND)))

    assert type(error) is ArchiveUnreachable
    assert error.message == "The Toy Library sent a redirect elsewhere, to an address that is not its own; it was not followed."
    assert len(stand_in.seen) == 1


@pytest.mark.parametrize(("target", "lost"), [
    ("/search/", "dates, q"), ("/search/?q=fog", "dates"), ("/search/?dates=1900&Q=fog", "q"), ("https://toy.example/find?fo=json", "dates, q"),
    ("/search/?q=&dates=1900", "q"), ("/search/?dates=1900/1910&x=1&q=fog", None), ("?q=mist&dates=1900", None)])
def test_a_redirect_that_loses_what_was_asked_is_a_failure(stand_in, real, target, lost):
    """On the same host: unrelated rows would be told as the answer, with filters said to be applied that never were."""
    stand_in.add("toy.example/.*", status=302, headers={"Location": target}, times=1)
    stand_in.add("toy.example/.*", body=b'{"rows": []}')
    ask = asker(real(max_retries=0))
    question = Ask(url=FIND, params=(("q", "fog"), ("dates", "1900/1910")))

    if lost is None:
        assert ask(question).value == {"rows": []}
    else:
        error = failure(lambda: ask(question))
        assert (error.code, error.message) == (
            "network_error", f"The Toy Library sent a redirect that loses what was asked ({lost}); it was not followed.")
    assert len(stand_in.seen) == (1 if lost else 2)


def test_the_body_of_a_redirect_is_not_waited_for(stand_in, real):
    stand_in.add("toy.example/find", status=302, headers={"Location": "/there"}, fault="drip")
    stand_in.add("toy.example/there")

    assert asker(real(timeout_ms=500))(Ask(url=FIND)).value == {}


def test_redirects_without_end_are_given_up(stand_in, real):
    """Five hops are followed; the sixth is not."""
    stand_in.add("toy.example/find", status=302, headers={"Location": "/find"})

    error = failure(lambda: asker(real())(Ask(url=FIND)))

    assert (type(error), error.message) == (ArchiveUnreachable, "The Toy Library redirected more than 5 times.")
    assert len(stand_in.seen) == 6


def test_a_form_is_posted_again_to_the_address_redirected_to(stand_in, real):
    stand_in.add("toy.example/sparql", status=301, headers={"Location": "/sparql2"})
    stand_in.add("toy.example/sparql2", status=303, headers={"Location": "/result"})
    stand_in.add("toy.example/result")

    asker(real())(Ask(url="https://toy.example/sparql", form=(("query", "x"),)))

    assert [(seen.method, seen.form) for seen in stand_in.seen] == [("POST", (("query", "x"),)), ("POST", (("query", "x"),)), ("GET", ())]


def test_a_plain_address_is_asked_only_where_the_lane_says_so(stand_in, real):
    stand_in.add("plain.example/oai", body=b"<a/>", headers={"Content-Type": "text/xml"})

    assert asker(real())(Ask(url="http://plain.example/oai", body="xml")).value.tag == "a"


def test_a_lane_that_names_paths_paces_them(make_transport, clock):
    """Two texts are 25 s apart; a record of the same host goes out meanwhile without a wait."""
    with responses.RequestsMock() as mock:
        for path in ("text/1", "text/2", "record"):
            mock.get(f"https://toy.example/{path}", json={})
        ask = asker(make_transport(Toy))

        for path in ("text/1", "record", "text/2"):
            ask(Ask(url=f"https://toy.example/{path}"))

    assert clock.slept == [25.0]


# ---- pace ----------------------------------------------------------------------------------------------------------

@responses.activate
@pytest.mark.parametrize(("interval_ms", "gap_s"), [(0, 1.0), (500, 1.0), (3000, 3.0)])
def test_a_setting_widens_the_spacing_and_never_narrows_it(make_transport, clock, interval_ms, gap_s):
    responses.get(FIND, json={})
    ask = asker(make_transport(Toy, min_interval_ms=interval_ms))

    ask(Ask(url=FIND, params=(("q", "a"),)))
    ask(Ask(url=FIND, params=(("q", "b"),)))

    assert clock.slept == [gap_s]


def ask_in_parallel(transport: Transport, count: int, budget_s: float = 50.0) -> list[object]:
    """The values, or errors, of so many different questions asked by as many calls at once."""
    results: list[object] = [None] * count

    def one(number: int) -> None:
        try:
            results[number] = asker(transport, budget_s=budget_s)(Ask(url=FIND, params=(("q", str(number)),))).value
        except SourceError as exc:
            results[number] = exc

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_five_calls_at_once_keep_the_spacing_exactly(stand_in, make_transport, clock):
    """A lane of 1 s on a clock that only pauses move: four pauses of exactly 1 s."""
    stand_in.add("toy.example/find")

    ask_in_parallel(make_transport(Toy, gateway=stand_in.address), 5)

    assert clock.slept == [1.0, 1.0, 1.0, 1.0]


def test_five_calls_at_once_keep_the_spacing_on_the_real_clock(stand_in, make_transport):
    """A lane of 1 s, seen from the server: every gap at least 1 s, less 5 ms for the way."""
    stand_in.add("toy.example/find")

    ask_in_parallel(make_transport(Toy, clock=None, gateway=stand_in.address), 5)

    starts = stand_in.starts()
    gaps = [later - earlier for earlier, later in zip(starts, starts[1:], strict=False)]
    assert len(gaps) == 4
    assert min(gaps) >= 0.995
    assert starts[-1] - starts[0] < 4.0 * 1.02


def test_a_call_that_cannot_start_in_time_says_so_at_once(stand_in, make_transport):
    """Ten questions at once with 1.5 s each on a lane of 1 s: two are asked, eight are told that the queue is this server's."""
    stand_in.add("toy.example/find", delay_s=0.05)

    results = ask_in_parallel(make_transport(Toy, clock=None, gateway=stand_in.address), 10, budget_s=1.5)

    refused = [result for result in results if isinstance(result, RateLimited)]
    assert (len(stand_in.seen), len(refused)) == (2, 8)
    assert all("this server's own queue" in error.message and error.retry_after_s >= 1.5 for error in refused)


def test_a_call_knows_that_another_waits(stand_in, make_transport):
    """Two calls behind one request under way: the first sees the other's, the other sees nobody's but the first's."""
    stand_in.add("toy.example/find", delay_s=0.3)
    transport = make_transport(Toy, clock=None, gateway=stand_in.address)
    first, second = asker(transport), asker(transport)
    alone = first.others_waiting()
    threads = [threading.Thread(target=ask, args=(Ask(url=FIND, params=(("q", str(number)),)),)) for number, ask in enumerate((first, second))]
    for thread in threads:
        thread.start()
        time.sleep(0.1)

    waiting = (first.others_waiting(), second.others_waiting())
    for thread in threads:
        thread.join()

    assert (alone, waiting) == (False, (True, False))


# ---- faults --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("fault", "kind"), [
    ("reset", ArchiveUnreachable), ("close", ArchiveUnreachable), ("half", ArchiveUnreachable), ("drip", TimedOut),
    ("drip-headers", TimedOut), ("silent", TimedOut)])
def test_a_fault_ends_at_the_deadline_and_frees_the_lane(stand_in, real, fault, kind):
    """Deadline 0.4 s. The one place of the lane is free afterwards, and the next question is answered."""
    stand_in.add("toy.example/find", fault=fault, body=b'{"a": "0123456789"}', times=1)
    stand_in.add("toy.example/find")
    transport = real(timeout_ms=400, max_retries=0)
    begun = time.monotonic()

    error = failure(lambda: asker(transport)(Ask(url=FIND)))
    elapsed_s = time.monotonic() - begun
    after = asker(transport)(Ask(url=FIND)).value

    assert (type(error), after) == (kind, {})
    assert elapsed_s < 1.5


@pytest.mark.parametrize("fault", ["endless", "gzip-bomb"])
def test_a_body_without_measure_is_given_up_with_memory_bounded(stand_in, real, fault):
    """The ceiling is 32 MiB of decoded body; the whole program never holds 48 MiB more for it."""
    gzip_bomb()
    stand_in.add("toy.example/find", fault=fault)
    transport = real(timeout_ms=20_000)
    tracemalloc.start()

    error = failure(lambda: asker(transport)(Ask(url=FIND)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert type(error) is UnreadableAnswer
    assert error.message == "The Toy Library sent an answer of more than 32 MiB; it was not read to the end."
    assert error.reason == "answer_too_large"
    assert len(stand_in.seen) == 1
    assert peak < 48 << 20


def test_a_picture_over_its_own_limit_is_too_large_and_not_cut_short(stand_in, real):
    stand_in.add("toy.example/find", body=b"x" * 600_000)

    error = failure(lambda: asker(real())(Ask(url=FIND, body="picture")))

    assert (error.message, error.reason) == (
        "The Toy Library sent an answer of more than 500,000 bytes; it was not read to the end.", "answer_too_large")


def test_a_redirect_or_a_refusal_with_a_bomb_for_a_body_costs_nothing(stand_in, real):
    """The body of a redirect is not read at all, that of a refusal for 64 KiB."""
    gzip_bomb()
    packed = {"Content-Encoding": "gzip", "Location": "/there"}
    stand_in.add("toy.example/find", status=302, headers=packed, body=gzip_bomb())
    stand_in.add("toy.example/there", status=404, headers=packed, body=gzip_bomb())
    tracemalloc.start()

    error = failure(lambda: asker(real())(Ask(url=FIND)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert type(error) is RecordNotFound
    assert peak < 20 << 20


def test_an_answer_compressed_twice_is_refused(stand_in, real):
    stand_in.add("toy.example/find", headers={"Content-Encoding": "gzip, gzip"}, body=gzip.compress(gzip.compress(b"{}")))

    assert type(failure(lambda: asker(real())(Ask(url=FIND)))) is UnreadableAnswer


PAGE = b"every word of a page " * 4000
RAW = zlib.compress(PAGE)[2:-4]  # without its header and its sum
MEMBERS = gzip.compress(PAGE[:40_000]) + gzip.compress(PAGE[40_000:])
WHOLE_STREAMS = {
    "gzip": (gzip.compress(PAGE), "gzip"), "x-gzip": (gzip.compress(PAGE), "X-GZIP "), "two members": (MEMBERS, "gzip"),
    "padding": (gzip.compress(PAGE) + bytes(512), "gzip"), "deflate": (zlib.compress(PAGE), "deflate"),
    "deflate without its header": (RAW, "deflate"), "none": (PAGE, ""), "identity": (PAGE, "identity"),
}
BROKEN_STREAMS = {
    "gzip cut": (gzip.compress(PAGE)[:-200], "gzip"), "gzip without its sum": (gzip.compress(PAGE)[:-8], "gzip"),
    "gzip with a wrong sum": (gzip.compress(PAGE)[:-8] + bytes(8), "gzip"), "two members, the second cut": (MEMBERS[:-9], "gzip"),
    "deflate cut": (zlib.compress(PAGE)[:-1], "deflate"), "deflate without its header, cut": (RAW[:-1], "deflate"),
    "no gzip": (PAGE, "gzip"), "no deflate": (PAGE, "deflate"), "a head alone": (gzip.compress(PAGE)[:5], "gzip"),
    "members without end": (gzip.compress(b"x") * 200, "gzip"), "a coding nobody asked for": (PAGE, "br"), "twice": (PAGE, "gzip, gzip"),
}


@pytest.mark.parametrize("name", WHOLE_STREAMS)
@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_whole_stream_is_read_in_every_coding(stand_in, real, name, in_pieces):
    """Also where it comes byte by byte, in chunks of HTTP."""
    body, coding = WHOLE_STREAMS[name]
    if in_pieces:
        body = body[:300] if not coding.strip() else body
        chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
        body = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: %s\r\n\r\n" % coding.encode() + chunks
        stand_in.add("toy.example/find", body=body, fault="raw")
    else:
        stand_in.add("toy.example/find", body=body, headers={"Content-Encoding": coding})

    reply = asker(real())(Ask(url=FIND, body="text"))

    assert PAGE.decode().startswith(reply.value) and len(reply.value) in (300, len(PAGE))


@pytest.mark.parametrize("name", BROKEN_STREAMS)
def test_an_incomplete_stream_is_no_answer_in_any_coding(stand_in, real, name):
    """Its Content-Length is right, so half a page would pass for a page: "no match" would be said of words that were never read."""
    body, coding = BROKEN_STREAMS[name]
    stand_in.add("toy.example/find", body=body, headers={"Content-Encoding": coding})

    error = failure(lambda: asker(real())(Ask(url=FIND, body="text")))

    assert (type(error), error.status, len(stand_in.seen)) == (UnreadableAnswer, 200, 1)
    assert error.message.startswith("The Toy Library sent an answer ")


def test_a_refusal_is_one_whatever_its_body(stand_in, real):
    """A 404 that cannot be decompressed is still a 404."""
    stand_in.add("toy.example/find", status=404, body=b"gone", headers={"Content-Encoding": "gzip"})

    assert type(failure(lambda: asker(real())(Ask(url=FIND)))) is RecordNotFound


@pytest.mark.parametrize("first", [b"Transfer-Encoding: chunked\r\n\r\n-1\r\nhello", b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
                                   b"Content-Length: " + b"9" * 5000 + b"\r\nConnection: close\r\n\r\n{}"])
def test_a_length_that_is_none_is_the_archives_fault(stand_in, real, caplog, first):
    """A chunk of -1 bytes would be read without end; a length of 5,000 digits is no number for this Python."""
    stand_in.add("toy.example/find", body=b"HTTP/1.1 200 OK\r\n" + first, fault="raw")

    error = failure(lambda: asker(real(max_retries=0))(Ask(url=FIND)))

    assert (type(error), caplog.records) == (ArchiveUnreachable, [])


# ---- one clean final answer per use of a connection -----------------------------------------------------------------

def whole(mark: str, status: str = "200 OK", *more: str, body: bytes | None = None) -> bytes:
    """An answer as it stands on the wire, head and all."""
    told = json.dumps({"of": mark}).encode() if body is None else body
    return "\r\n".join((f"HTTP/1.1 {status}", f"Content-Length: {len(told)}", *more, "", "")).encode() + told


HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
EMPTY = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n%s\r\nc\r\n{\"of\": \"AAA\"\r\n1\r\n}\r\n0\r\n\r\n"
TWO_LENGTHS = b"HTTP/1.1 200 OK\r\nContent-Length: +13\r\n\r\n"


CROSSINGS = {
    "clean": (whole("AAA"), "AAA", True),
    "clean chunks": (CHUNKED % b"", "AAA", True),
    "hints before": (HINTS + whole("AAA"), "AAA", True),
    "several interim answers": (HINTS * 3 + b"HTTP/1.1 100 Continue\r\n\r\n" + whole("AAA"), "AAA", True),
    "a switch nobody asked for": (b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + whole("AAA"), "AAA", True),
    "a second answer behind": (whole("AAA") + whole("AAA again"), "AAA", False),
    "a line end behind": (whole("AAA") + b"\r\n", "AAA", False),
    "hints behind": (whole("AAA") + HINTS, "AAA", False),
    "an answer behind chunks": (CHUNKED % b"" + whole("AAA again"), "AAA", False),
    "chunks and a length": (CHUNKED % b"Content-Length: 3\r\n", "AAA", False),
    "a length with a sign": (TWO_LENGTHS + b'{"of": "AAA"}' + whole("AAA again"), "AAA", False),
    "204 with an answer behind": (EMPTY % b"204 No Content" + whole("AAA"), "The Toy Library answered without an answer (status 204).", False),
    "204": (EMPTY % b"204 No Content", "The Toy Library answered without an answer (status 204).", False),
    "204 with a length and a body": (whole("AAA", "204 No Content"), "The Toy Library answered without an answer (status 204).", False),
    "304 with an answer behind": (EMPTY % b"304 Not Modified" + whole("AAA"), "The Toy Library could not answer (status 304).", False),
    "304": (EMPTY % b"304 Not Modified", "The Toy Library could not answer (status 304).", False),
    "a refusal with an answer behind": (whole("AAA", "404 Not Found", body=b"gone") + whole("AAA again"), "The Toy Library holds nothing at the address asked.", False),
    "a redirect with an answer behind": (whole("AAA", "302 Found", "Location: https://elsewhere.example/") + whole("AAA again"),
          "The Toy Library sent a redirect elsewhere, to an address that is not its own; it was not followed.", False),
    "interim answers without end": (HINTS * 30, "The connection to the Toy Library broke before an answer came.", False),
}


@pytest.mark.parametrize("name", CROSSINGS)
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_no_answer_crosses_to_another_question(request, stand_in, make_transport, monkeypatch, name, secure):
    """A connection is used again only after one clean final answer: what stands behind it would be read as the answer to BBB."""
    first, told, kept_open = CROSSINGS[name]
    gateway = stand_in.address
    if secure:
        _, gateway, authority = request.getfixturevalue("tls_stand_in")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority))
    stand_in.add("toy.example/find", asks={"q": "AAA"}, body=first, fault="raw")
    stand_in.add("toy.example/find", body=whole("BBB"), fault="raw")
    ask = asker(make_transport(Toy, clock=None, pacing_clock=FakeClock(), gateway=gateway, max_retries=0))

    try:
        outcome = ask(Ask(url=FIND, params=(("q", "AAA"),))).value["of"]
    except SourceError as exc:
        outcome = exc.message
    second = ask(Ask(url=FIND, params=(("q", "BBB"),)))

    assert (outcome, second.value) == (told, {"of": "BBB"})
    assert (len({seen.port for seen in stand_in.seen}) == 1) is kept_open


def test_a_connection_refused_is_told_once_and_not_asked_again(make_transport):
    """Nothing listens at port 9: one try, and the failure comes at once."""
    pacing = FakeClock()
    transport = make_transport(Toy, clock=None, pacing_clock=pacing, gateway="http://127.0.0.1:9")

    error = failure(lambda: asker(transport)(Ask(url=FIND)))

    assert (error.code, error.message) == ("network_error", "The connection to the Toy Library was refused.")
    assert pacing.slept == []


@pytest.mark.parametrize(("cause", "code", "message"), [
    (socket.gaierror(-2, "no such name"), "network_error", "The host name of the Toy Library could not be looked up."),
    (OSError(113, "no route"), "network_error", "The Toy Library could not be reached from here."),
    (TimeoutError("timed out"), "timeout", "No connection to the Toy Library came about in time.")],
    ids=["name", "route", "time"])
def test_a_failed_look_up_a_missing_way_and_a_silent_host_are_told_apart(make_transport, monkeypatch, cause, code, message):
    """Each is mended by somebody else; none is asked again at once."""
    def fail(*arguments, **options):
        raise cause

    monkeypatch.setattr("urllib3.util.connection.create_connection", fail)
    monkeypatch.setattr(socket, "getaddrinfo", fail)
    pacing = FakeClock()
    transport = make_transport(Toy, clock=None, pacing_clock=pacing, gateway="http://toy.invalid")

    error = failure(lambda: asker(transport)(Ask(url=FIND)))

    assert (error.code, error.message) == (code, message)
    assert pacing.slept == []


def test_a_name_server_that_hangs_holds_neither_the_caller_nor_the_place(make_transport, monkeypatch):
    """Nothing can wake a look-up; the request ends in its time all the same, and its thread is left to end when it may."""
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **options: answered.wait(30) and [])
    transport = make_transport(Toy, clock=None, pacing_clock=FakeClock(), gateway="http://toy.invalid", timeout_ms=300)
    transport.warm()
    begun = time.monotonic()

    error = failure(lambda: asker(transport)(Ask(url=FIND)))
    elapsed_s, in_flight = time.monotonic() - begun, transport.gate(Toy.lanes[0]).in_flight
    answered.set()

    assert (type(error), error.message) == (TimedOut, "The Toy Library gave no whole answer within 0.3 s.")
    assert (in_flight, elapsed_s < 1.0) == (0, True)


def test_who_cuts_a_request_short_says_what_became_of_it(stand_in, real, monkeypatch):
    """Leaving the gate takes 0.1 s here: the request's own thread is awake long before, and does not call it cancelled."""
    stand_in.add("toy.example/find", fault="drip")
    transport = real(timeout_ms=200)
    leave = Gate.leave

    def slowly(gate: Gate, ticket: Ticket) -> None:
        time.sleep(0.1)
        leave(gate, ticket)

    monkeypatch.setattr(Gate, "leave", slowly)

    error = failure(lambda: asker(transport)(Ask(url=FIND)))

    assert (type(error), error.message) == (TimedOut, "The Toy Library gave no whole answer within 0.2 s.")


def test_a_request_takes_one_thread(stand_in, real):
    """Beside the caller's own, which watches over it."""
    stand_in.add("toy.example/find", fault="silent")
    transport = real()
    ask = asker(transport)
    thread = in_background(ask, [])
    while not stand_in.seen:
        time.sleep(0.005)

    names = [thread.name for thread in threading.enumerate() if thread.name.startswith("books")]
    ask.call.cancel()
    thread.join()

    assert names == ["books-toy"]


def test_a_call_ends_at_its_own_deadline_before_the_requests(stand_in, real):
    """A call of 0.3 s, requests of 45 s: the caller is told after 0.3 s, and the request is stopped."""
    stand_in.add("toy.example/find", fault="silent")
    transport = real()
    begun = time.monotonic()

    error = failure(lambda: asker(transport, budget_s=0.3)(Ask(url=FIND)))

    assert (type(error), error.message) == (TimedOut, "The Toy Library gave no whole answer within the time of this call.")
    assert time.monotonic() - begun < 1.0


def test_a_spent_call_asks_nothing(stand_in, real):
    assert type(failure(lambda: asker(real(), budget_s=0.0)(Ask(url=FIND)))) is TimedOut
    assert stand_in.seen == []


# ---- asking again --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("bad", [{"fault": "reset"}, {"fault": "half", "body": b"0123456789"}, {"fault": "close"}, {"status": 503},
                                 {"status": 500}, {"status": 408}, {"status": 425}])
def test_what_may_pass_is_asked_again_after_one_two_and_four_seconds(stand_in, make_transport, bad):
    """The pauses run beside the spacing of 1 s, and every attempt takes a slot."""
    stand_in.add("toy.example/find", times=3, **bad)
    stand_in.add("toy.example/find", body=b'{"at": "last"}')
    pacing = FakeClock()
    ask = asker(make_transport(Toy, clock=None, pacing_clock=pacing, gateway=stand_in.address))

    reply = ask(Ask(url=FIND))

    assert (reply.value, ask.requests_sent, pacing.slept) == ({"at": "last"}, 4, [1.0, 2.0, 4.0])


@pytest.mark.parametrize(("status", "kind"), [(400, InvalidInput), (404, RecordNotFound), (410, RecordNotFound), (414, InvalidInput),
                                              (422, InvalidInput), (401, ArchiveUnreachable), (403, ArchiveUnreachable),
                                              (451, ArchiveUnreachable), (405, ArchiveUnreachable), (501, ArchiveUnreachable),
                                              (204, UnreadableAnswer), (304, ArchiveUnreachable)])
def test_what_was_refused_for_good_is_not_asked_again(stand_in, real, status, kind):
    stand_in.add("toy.example/find", status=status)

    error = failure(lambda: asker(real())(Ask(url=FIND)))

    assert (type(error), error.status, error.archive) == (kind, status, "toy")
    assert len(stand_in.seen) == 1


def test_retries_end_with_what_was_seen(stand_in, real):
    """Three retries, then the refusal itself; `BOOKS_MAX_RETRIES` 0 asks once."""
    stand_in.add("toy.example/find", status=502)

    often = failure(lambda: asker(real(max_retries=3))(Ask(url=FIND)))
    seen_then = len(stand_in.seen)
    once = failure(lambda: asker(real(max_retries=0))(Ask(url=FIND)))

    assert (often.message, once.message) == ("The Toy Library could not answer (status 502).",) * 2
    assert (seen_then, len(stand_in.seen)) == (4, 4 + 1)


@responses.activate
def test_no_retry_goes_past_the_deadline(make_transport, clock):
    """A call of 2.5 s: after the pause of 1 s that of 2 s no longer fits."""
    responses.get(FIND, status=500)

    error = failure(lambda: asker(make_transport(Toy), budget_s=2.5)(Ask(url=FIND)))

    assert (error.message, len(responses.calls), clock.slept) == ("The Toy Library could not answer (status 500).", 2, [1.0])


@responses.activate
@pytest.mark.parametrize(("header", "pause_s"), [("7", 7.0), ("Mon, 30 Nov 2026 11:00:09 GMT", 9.0), ("0", 1.0), ("7, 7", 7.0),
                                                 ("7.5 , 120", 7.5), ("Mon, 30 Nov 2020 11:00:09 GMT", 1.0)])
def test_a_short_wait_is_kept(make_transport, clock, header, pause_s):
    """Seconds or a date (it is 11:00:00); of a header sent twice the first."""
    responses.get(FIND, status=429, headers={"Retry-After": header})
    responses.get(FIND, json={})

    asker(make_transport(Toy))(Ask(url=FIND))

    assert clock.slept == [pause_s]


@responses.activate
@pytest.mark.parametrize("headers", [{}, *({"Retry-After": text} for text in ("-5", "soon", "", "7 7", "\u0667"))])
def test_a_limit_without_a_time_silences_the_lane_for_a_minute(make_transport, clock, headers):
    """One request, its reason told with the 60 s, and nothing more sent until they are over; what makes no sense names no time."""
    responses.get(FIND, status=429, headers=headers)
    responses.get(FIND, json={})
    transport = make_transport(Toy)

    first = failure(lambda: asker(transport)(Ask(url=FIND)))
    second = failure(lambda: asker(transport)(Ask(url=FIND)))
    clock.advance(60.0)
    asker(transport)(Ask(url=FIND))

    assert (first.message, first.retry_after_s) == ("The Toy Library asked this client to slow down (status 429).", 60.0)
    assert (second.message, second.retry_after_s) == ("The Toy Library asked this client to stay away; nothing is sent for another 60 s.", 60.0)
    assert (len(responses.calls), clock.slept) == (2, [])


@responses.activate
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("header", "seconds"), [("31", 31.0), ("120, 120", 120.0), ("3600", 3600.0), ("Mon, 30 Nov 2026 12:00:00 GMT", 3600.0),
                                                 ("9" * 400, 86_400.0), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0)])
def test_a_long_wait_is_reported_at_once_and_kept_by_the_lane(make_transport, clock, header, seconds, status):
    """Nothing is slept; the next question is refused unsent, with what is left; at most a day is believed."""
    responses.get(FIND, status=status, headers={"Retry-After": header})
    transport = make_transport(Toy)

    first = failure(lambda: asker(transport)(Ask(url=FIND)))
    clock.advance(10.0)
    second = failure(lambda: asker(transport)(Ask(url=FIND, params=(("q", "b"),))))

    assert (type(first), first.retry_after_s) == (RateLimited, seconds)
    assert (type(second), second.retry_after_s) == (RateLimited, seconds - 10.0)
    assert (len(responses.calls), clock.slept) == (1, [])


@responses.activate
def test_a_short_wait_that_does_not_fit_is_left_to_the_next_call(make_transport, clock):
    """20 s asked, 10 s left: reported; whoever comes with more time waits it out."""
    responses.get(FIND, status=429, headers={"Retry-After": "20"})
    responses.get(FIND, json={})
    transport = make_transport(Toy)

    error = failure(lambda: asker(transport, budget_s=10.0)(Ask(url=FIND)))
    asker(transport)(Ask(url=FIND))

    assert (type(error), error.retry_after_s, clock.slept) == (RateLimited, 20.0, [20.0])


@responses.activate
@pytest.mark.parametrize("headers", [{}, {"Retry-After": "5"}])
def test_a_strict_archive_is_left_alone_for_its_hour(make_transport, clock, headers):
    """After its 429: no retry, an hour of silence whatever it named; another archive goes on."""
    responses.get("https://strict.example/x", status=429, headers=headers)
    responses.get(FIND, json={})
    transport = make_transport(Strict, Toy)

    first = failure(lambda: asker(transport, Strict)(Ask(url="https://strict.example/x")))
    clock.advance(1800.0)
    second = failure(lambda: asker(transport, Strict)(Ask(url="https://strict.example/x")))
    other = asker(transport)(Ask(url=FIND)).value

    assert (first.retry_after_s, second.retry_after_s, other) == (3600.0, 1800.0, {})
    assert len(responses.calls) == 2


def test_a_block_outlives_a_restart_and_an_empty_cache_but_not_another_gateway(stand_in, make_transport, tmp_path):
    """A new transport with the same folder sends nothing; behind another gateway it is another world."""
    stand_in.add("strict.example/x", status=429)
    address = "https://strict.example/x"

    def fresh(gateway: str) -> ArchiveAsker:
        return asker(make_transport(Strict, clock=None, gateway=gateway, state_dir=tmp_path), Strict)

    failure(lambda: fresh(stand_in.address)(Ask(url=address)))
    again = failure(lambda: fresh(stand_in.address)(Ask(url=address)))
    seen_before = len(stand_in.seen)
    failure(lambda: fresh(stand_in.address.replace("127.0.0.1", "localhost"))(Ask(url=address)))

    assert again.message.startswith("The Strict Library asked this client to stay away; nothing is sent for another 36")
    assert (seen_before, len(stand_in.seen)) == (1, 2)


def test_what_happens_behind_a_gateway_does_not_touch_the_real_archives_pace(stand_in, make_transport, tmp_path):
    stand_in.add("strict.example/x", status=429)

    failure(lambda: asker(make_transport(Strict, clock=None, gateway=stand_in.address, state_dir=tmp_path), Strict)(Ask(url="https://strict.example/x")))

    assert make_transport(Strict, state_dir=tmp_path).status()["lanes"][0]["blocked_until"] is None


@responses.activate
def test_a_check_that_may_pass_is_asked_once_more_and_keeps_nothing(make_transport, clock):
    """An archive's own "could not search": one more try, then its failure; the third question is sent anew."""
    def could_not_search(reply: object) -> None:
        raise ArchiveUnreachable("It could not search.", archive="toy")

    responses.get(FIND, json={"error": "busy"})
    transport = make_transport(Toy)

    errors = [failure(lambda: asker(transport)(Ask(url=FIND, check=could_not_search))) for _ in range(2)]

    assert [error.message for error in errors] == ["It could not search."] * 2
    assert (len(responses.calls), clock.slept) == (4, [1.0, 1.0, 1.0])


@responses.activate
def test_a_check_that_will_not_pass_is_not_asked_again(make_transport):
    def refused(reply: object) -> None:
        raise InvalidInput("It does not understand.", archive="toy")

    responses.get(FIND, body="not even JSON")

    error = failure(lambda: asker(make_transport(Toy))(Ask(url=FIND, check_text=refused)))

    assert (error.message, len(responses.calls)) == ("It does not understand.", 1)


# ---- walls ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("status", [200, 403, 404, 429, 503])
@pytest.mark.parametrize(("page", "headers"), [
    (b"<!DOCTYPE html><title>Just a moment...</title>", HTML), (b"<title>Just a moment...</title>", {}),
    (b"<html><script src='/captcha.js'></script></html>", HTML), (b"<html>Veuillez patienter: ALTCHA</html>", HTML),
    (b"<html><h1>Prove you are human</h1></html>", HTML), (b"", {"cf-mitigated": "challenge"})])
def test_a_challenge_is_blocked_by_the_sites_protection_whatever_its_status(stand_in, real, status, page, headers):
    """Never asked again, never an absence; the lane is silent for 60 s, and says so without sending."""
    stand_in.add("toy.example/find", status=status, body=page, headers=headers)
    transport = real()

    first = failure(lambda: asker(transport)(Ask(url=FIND)))
    second = failure(lambda: asker(transport)(Ask(url=FIND)))

    assert (type(first), first.retry_after_s) == (ArchiveUnreachable, 60.0)
    assert first.message == "The Toy Library: blocked by the site's protection; a challenge page came instead of an answer."
    assert second.message == "The Toy Library: blocked by the site's protection; nothing is sent for another 60 s."
    assert len(stand_in.seen) == 1


@pytest.mark.parametrize("script", [b"<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
                                    b"<SCRIPT>window.grecaptcha = 'just a moment'</script>", b"<script src=//captcha.example/api.js>"])
@pytest.mark.parametrize(("status", "code"), [(404, "not_found"), (500, "network_error"), (200, "parse_failure")])
def test_a_vendors_script_on_an_ordinary_page_is_no_challenge(stand_in, real, script, status, code):
    """It is what the page itself says, and the lane is not silenced; a page that is nothing but the script is a challenge (above)."""
    page = b"<!DOCTYPE html><html><head><title>Page not found</title>%s</head><body>Nothing here.</body></html>"
    page = page % script if b"</" in script else page.replace(b"%s", b"") + script
    stand_in.add("toy.example/find", status=status, body=page, headers=HTML)
    transport = real(max_retries=0)

    error = failure(lambda: asker(transport)(Ask(url=FIND)))

    assert (error.code, "protection" in error.message) == (code, False)
    assert transport.status()["lanes"][0]["blocked_until"] is None


def test_a_page_that_denies_access_is_a_wall_only_where_403_is_no_answer(stand_in, real):
    """An archive whose 403 says "lending only" reads it itself."""
    stand_in.add("toy.example/find", status=403, body=b"<html><title>Access Denied</title></html>", headers=HTML)

    lent = asker(real())(Ask(url=FIND, body="html", statuses=(200, 403)))
    error = failure(lambda: asker(real())(Ask(url=FIND)))

    assert (lent.status, "blocked by the site's protection" in error.message) == (403, True)


def test_a_redirect_to_a_challenge_is_not_followed(stand_in, real):
    stand_in.add("toy.example/find", status=302, headers={"Location": "/engine/altcha?notVerified=1"})

    error = failure(lambda: asker(real())(Ask(url=FIND)))

    assert "blocked by the site's protection" in error.message
    assert len(stand_in.seen) == 1


def test_an_error_page_that_repeats_the_question_is_no_challenge(stand_in, real):
    """Else anybody could silence an archive by asking for a captcha; the page of a real one holds other signs as well."""
    stand_in.add(".*", status=404, headers=HTML, body=b"<html><title>404</title>Nothing found for a captcha.</html>")

    error = failure(lambda: asker(real())(Ask(url=FIND, params=(("q", "a captcha"),))))

    assert type(error) is RecordNotFound



def test_the_callers_own_words_are_no_challenge(stand_in, real):
    """Somebody looks for the word captcha: neither the address nor a redirect that repeats it is a sign."""
    stand_in.add("toy.example/find", status=302, headers={"Location": "/there?q=captcha"})
    stand_in.add("toy.example/there", body=b'{"title": "just a moment, captcha"}')

    assert asker(real())(Ask(url=FIND, params=(("q", "captcha"),))).value == {"title": "just a moment, captcha"}


# ---- reading -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("body", "headers", "message"), [
    (b"<!DOCTYPE html><h1>Maintenance</h1>", HTML, "The answer of the Toy Library is a web page instead of data."),
    (b"<h1>Maintenance</h1>", HTML, "The answer of the Toy Library is a web page instead of data."),
    (b"", {}, "The answer of the Toy Library is empty."), (b" \n", {}, "The answer of the Toy Library is empty."),
    (b'{"a": [1, 2', {}, "The answer of the Toy Library is not whole JSON."),
    (b'{"a": NaN}', {}, "The answer of the Toy Library is not whole JSON."),
    (b'{"a": 1e999}', {}, "The answer of the Toy Library is not whole JSON."),
    (b'{"a": ' + b"9" * 101 + b"}", {}, "The answer of the Toy Library is not whole JSON."),
    ('{"a": "é"}'.encode("latin-1"), {}, "The answer of the Toy Library is not in UTF-8, as JSON must be."),
    (b"[" * 201 + b"]" * 201, {}, "The answer of the Toy Library is nested too deeply."),
    (b"[" + b"{}," * 600_000 + b"{}]", {}, "The answer of the Toy Library holds more values than any true answer."),
    (b"[" * 100_000, {}, "The answer of the Toy Library is nested too deeply.")])
def test_a_200_that_is_no_json_is_unreadable_and_never_empty(stand_in, real, body, headers, message):
    stand_in.add("toy.example/find", body=body, headers=headers)

    error = failure(lambda: asker(real())(Ask(url=FIND)))

    assert (type(error), error.message) == (UnreadableAnswer, message)
    assert len(stand_in.seen) == 1


@pytest.mark.parametrize(("body", "message"), [
    (b"<!DOCTYPE html><p>x</p>", "is a web page instead of data"), (b"", "is empty"), (b"<a><b></a>", "is not well-formed XML"),
    (b"<a>" + b"<b/>" * 1_000_000 + b"</a>", "holds more elements than any true answer"),
    (b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><p/></html>', "is a web page instead of data"),
    (b"<a>", "is not well-formed XML"), (b"{}", "is not well-formed XML"), (b"<a>" * 3000 + b"</a>" * 3000, "is not well-formed XML"),
    (b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "brings a document type of its own, which no archive asked here does"),
    (b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x.dtd"><a/>', "brings a document type of its own, which no archive asked here does"),
    (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
     "brings a document type of its own, which no archive asked here does"),
    (b'<?xml version="1.0" encoding="no-such"?><a/>', "is not well-formed XML")])
def test_a_200_that_is_no_plain_xml_is_unreadable(stand_in, real, body, message):
    """Nothing outside the document is read: port 9 would refuse, the file would show."""
    stand_in.add("toy.example/find", body=body, headers={"Content-Type": "text/xml"})

    error = failure(lambda: asker(real())(Ask(url=FIND, body="xml")))

    assert (type(error), error.message) == (UnreadableAnswer, f"The answer of the Toy Library {message}.")


# openings without end, nested, repeated; blanks, entities, quotes
PATHOLOGICAL = ("<!---->", "<!--", "<!-- -->", "<?xml ", "<?xml>", "<!doctype ", "<", "<a>", "<a ", " ", "\n", "\xef\xbb\xbf", "&", "&#", "&#9", "&a;",
                '"', "'", "[", "{", '{"a":', "[0,", "9", "1e", "-", "\\", "\\u", "charset=", "charset =", "encoding=", "\ufeff", "é", "]]>", "<![CDATA[")
READERS: dict[str, Callable[[bytes], object]] = {
    "is_html": lambda body: is_html(body, "text/html"),
    "is_html behind the tag": lambda body: is_html(body + b"<zzz/>", "text/html"),
    "decode_json": decode_json,
    "decode_xml": lambda body: decode_xml(body, "text/xml"),
    "decode_xml behind a declaration": lambda body: decode_xml(b"<?xml version='1.0'" + body, "text/xml"),
    "decode_text": lambda body: decode_text(body, "text/plain"),
    "text_of_xml": lambda body: text_of_xml(body, "text/xml"),
    "charset": lambda body: charset(body.decode()),
    "a time to wait": lambda body: retry_after(body.decode(), 0.0),
}


def seconds_for(read: Callable[[bytes], object], body: bytes) -> float:
    """The processor's time, the least of three, whatever comes of it."""
    times = []
    for _ in range(3):
        began = time.thread_time()
        with suppress(ValueError):
            read(body)
        times.append(time.thread_time() - began)
    return min(times)


@pytest.mark.parametrize("name", READERS)
def test_every_pass_over_a_body_is_linear_in_its_length(name):
    """From 100 kB to 1 MB the time grows by at most 10 ** 1.5 (memory has its price on a busy machine; a square would be 2); under 20 ms it is too short to be fitted."""
    grown = {}
    for piece in PATHOLOGICAL:
        short, long = (seconds_for(READERS[name], (piece * (size // len(piece))).encode()) for size in (100_000, 1_000_000))
        if long > 0.02:
            grown[piece] = math.log10(long / short)

    assert {piece: exponent for piece, exponent in grown.items() if exponent > 1.5} == {}


def test_a_page_that_opens_with_comments_holds_nobody_up(stand_in, real):
    """285 bytes: a test for HTML that looked at each comment in two ways took for ever over forty of them."""
    stand_in.add("toy.example/find", body=b"<!---->" * 40 + b"<zzz/>", headers={"Content-Type": "application/json"})
    began = time.monotonic()

    error = failure(lambda: asker(real())(Ask(url=FIND)))

    assert error.message == "The answer of the Toy Library is not whole JSON."
    assert time.monotonic() - began < 2.0


@pytest.mark.parametrize(("body", "content_type", "page"), [
    (b" \xef\xbb\xbf<?xml version='1.0'?> <!-- a --><!-- > -->\n<!DOCTYPE  html>", "", True),
    (b"<!-- a <html> --> <rows/>", "", False),
    (b"<!-- without end <html>", "", False),
    (b"<!--><html>-->", "", False),
    (b"<headline/>", "", False),
    (b"<rows/>", "text/html", True),
    (b"rows", "text/html", False),
])
def test_a_page_is_told_by_what_it_begins_with(body, content_type, page):
    assert is_html(body, content_type) is page


def test_nested_entities_cost_neither_time_nor_memory():
    """A billion laughs in a kilobyte: refused within a second."""
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE a [<!ENTITY l0 "ha">{levels}]><a b="&l9;">&l9;</a>'.encode()
    begun = time.monotonic()

    with pytest.raises(ValueError, match="document type|well-formed"):
        decode_xml(bomb, "text/xml")

    assert time.monotonic() - begun < 1.0


@pytest.mark.parametrize(("declaration", "written_in", "content_type"), [
    ("", "utf-8", "text/xml"), ("", "utf-8", "text/xml; charset=iso-8859-1"), ('encoding="UTF-8"', "utf-8", "text/xml"),
    ('encoding="ISO-8859-1"', "iso-8859-1", "text/xml"), ('encoding="ISO-8859-1"', "iso-8859-1", "text/xml; charset=utf-8"),
    ('encoding="ISO-8859-1"', "utf-8", "text/xml"), ('encoding="UTF-16"', "utf-16", "text/xml"), ("", "utf-8-sig", "text/xml")])
def test_xml_is_decoded_by_its_own_declaration_unless_that_is_a_lie(declaration, written_in, content_type):
    """The sixth declares Latin-1 over UTF-8, as Gallica's page texts were seen to do; accents survive in each."""
    head = f'<?xml version="1.0" {declaration}?>' if declaration else ""

    root = decode_xml(f"{head}<a>Créteil, œuvre à lire</a>".replace("œ", "oe").encode(written_in), content_type)

    assert root.text == "Créteil, oeuvre à lire"


@pytest.mark.parametrize(("written_in", "content_type"), [
    ("utf-8", ""), ("utf-8", "text/plain"), ("latin-1", "text/plain"), ("latin-1", "text/plain; charset=ISO-8859-1"),
    ("utf-8", 'text/plain; charset="UTF-8"'), ("utf-8", "text/plain; charset=no-such"), ("latin-1", "text/plain; charset=utf-8"),
    ("cp1252", "text/plain; charset=windows-1252"), ("utf-8-sig", "text/plain"), ("utf-8", "text/plain; charset=rot13")])
def test_accents_survive_whatever_the_charset_or_its_absence(written_in, content_type):
    assert decode_text("Thérèse à l'été".encode(written_in), content_type) == "Thérèse à l'été"


@pytest.mark.parametrize("name", ["punycode", "idna", "utf-7", "unicode_escape", "raw_unicode_escape", "utf_8_sig", "mbcs", "hz", "zip", "x" * 50_000])
def test_a_charset_off_the_list_is_utf_8_with_a_mark_for_what_is_none(stand_in, real, name):
    """Some that Python knows take minutes over a megabyte; at the real socket, and in a second."""
    body = "Thérèse à l'été ".encode() * 60_000 + b"\xe9"
    stand_in.add("toy.example/find", body=body, headers={"Content-Type": f"text/plain; charset={name}"})
    began = time.monotonic()

    text = asker(real())(Ask(url=FIND, body="text")).value

    assert (text[:15], text[-2:]) == ("Thérèse à l'été", " \ufffd")
    assert time.monotonic() - began < 2.0


def test_a_declared_charset_is_believed():
    """Two characters of Latin-1 that would also be one of UTF-8."""
    assert decode_text("Ã©".encode("latin-1"), "text/plain; charset=latin-1") == "Ã©"


def test_json_may_begin_with_a_byte_order_mark_and_repeat_a_key():
    assert decode_json(b'\xef\xbb\xbf{"a": 1, "a": 2}') == {"a": 2}


def test_json_of_two_hundred_levels_is_read():
    assert decode_json(b"[" * 199 + b"{}" + b"]" * 199) is not None


def test_a_further_status_comes_back_as_what_it_holds(stand_in, real):
    """JSON where it is JSON, the text where it is not, and it is never kept."""
    stand_in.add("toy.example/find", status=400, body=b'{"why": "syntax"}', times=1)
    stand_in.add("toy.example/find", status=404, body=b"nothing here")
    ask = asker(real())

    replies = [ask(Ask(url=FIND, statuses=(200, 400, 404))) for _ in range(2)]

    assert [(reply.status, reply.value, reply.cached) for reply in replies] == [(400, {"why": "syntax"}, False), (404, "nothing here", False)]


def test_a_text_that_is_a_page_is_refused_unless_a_page_was_due(stand_in, real):
    stand_in.add("toy.example/find", body=b"<html><p>text</p></html>", headers=HTML)
    transport = real()

    error = failure(lambda: asker(transport)(Ask(url=FIND, body="text")))

    assert error.message == "The answer of the Toy Library is a web page instead of data."
    assert asker(transport)(Ask(url=FIND, body="html")).value == "<html><p>text</p></html>"


# ---- one flight, one cache -----------------------------------------------------------------------------------------

def test_the_same_question_at_once_is_sent_once(stand_in, real):
    """Eight callers, one request; each has a value of its own to change."""
    stand_in.add("toy.example/find", body=b'{"rows": []}', delay_s=0.2)
    transport = real()
    replies: list[object] = []
    threads = [threading.Thread(target=lambda: replies.append(asker(transport)(Ask(url=FIND)).value)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(stand_in.seen), replies) == (1, [{"rows": []}] * 8)
    assert len({id(reply) for reply in replies}) == 8


def test_the_same_failure_is_told_to_all_who_wait(stand_in, real):
    stand_in.add("toy.example/find", status=403, delay_s=0.2)
    transport = real()
    errors: list[SourceError] = []
    threads = [threading.Thread(target=lambda: errors.append(failure(lambda: asker(transport)(Ask(url=FIND))))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [error.message for error in errors] == ["The Toy Library refused the request (status 403)."] * 3
    assert len(stand_in.seen) == 1
    assert len({id(error) for error in errors}) == 3


def in_background(ask: ArchiveAsker, results: list[object], **how: bool) -> threading.Thread:
    """Ask FIND in a thread of its own; what comes of it goes to `results`."""
    def one() -> None:
        try:
            results.append(ask(Ask(url=FIND, **how)).value)
        except (SourceError, Cancelled) as exc:
            results.append(type(exc))
    thread = threading.Thread(target=one)
    thread.start()
    return thread


def test_one_caller_leaving_does_not_end_the_flight_for_another(stand_in, real):
    """The caller who started it cancels, a second one runs out of time; the third gets the answer of the one request."""
    stand_in.add("toy.example/find", delay_s=0.5)
    transport = real()
    first, hasty, patient = asker(transport), asker(transport, budget_s=0.2), asker(transport)
    results: list[object] = []
    threads = [in_background(first, results)]
    time.sleep(0.05)
    threads += [in_background(hasty, results), in_background(patient, results)]
    time.sleep(0.05)

    first.call.cancel()
    for thread in threads:
        thread.join()

    assert (results, len(stand_in.seen)) == ([Cancelled, TimedOut, {}], 1)


def test_cancelling_stops_the_wait_at_once_and_sends_nothing_more(stand_in, real):
    """A request of 45 s is let go within a moment, its connection is closed, and its retries do not come."""
    stand_in.add("toy.example/find", fault="silent")
    transport = real()
    ask = asker(transport)
    results: list[object] = []
    thread = in_background(ask, results)
    time.sleep(0.1)
    begun = time.monotonic()

    ask.call.cancel()
    thread.join()
    waited_s = time.monotonic() - begun
    time.sleep(0.2)

    assert (results, len(stand_in.seen), transport.gate(Toy.lanes[0]).in_flight) == ([Cancelled], 1, 0)
    assert waited_s < 0.5


def test_cancelling_in_the_queue_stops_at_once_without_sending(stand_in, make_transport):
    """The second request waits for its slot of 1 s; cancelled, it never goes out."""
    stand_in.add("toy.example/.*")
    transport = make_transport(Toy, clock=None, gateway=stand_in.address)
    asker(transport)(Ask(url="https://toy.example/first"))
    ask = asker(transport)
    results: list[object] = []
    thread = in_background(ask, results)
    time.sleep(0.1)

    ask.call.cancel()
    thread.join()
    time.sleep(1.1)

    assert (results, [seen.place for seen in stand_in.seen]) == ([Cancelled], ["toy.example/first"])


def test_a_slow_search_runs_on_into_the_cache(stand_in, real):
    """Requests of 0.3 s, the answer after 0.5 s: the first caller is told to ask again, the second finds it without a request."""
    stand_in.add("toy.example/find", body=b'{"found": 3}', delay_s=0.5)
    transport = real(timeout_ms=300)

    error = failure(lambda: asker(transport)(Ask(url=FIND, run_on=True)))
    time.sleep(0.4)
    again = asker(transport)(Ask(url=FIND, run_on=True))

    assert (type(error), error.retry_after_s) == (TimedOut, 40.0)
    assert error.message == "The Toy Library is still searching; the request goes on in the background."
    assert (again.value, again.cached, len(stand_in.seen)) == ({"found": 3}, True, 1)


def test_only_so_many_searches_run_on(stand_in, real, monkeypatch):
    """Eight in truth, one here: the next is ended with its caller, who is told no more than that."""
    assert RUN_ON_MAX == 8
    monkeypatch.setattr("sources.transport.flights.RUN_ON_MAX", 1)
    stand_in.add(".*", fault="silent")
    transport = real()

    first = failure(lambda: asker(transport, budget_s=0.3)(Ask(url=FIND, run_on=True)))
    second = failure(lambda: asker(transport, budget_s=0.3)(Ask(url="https://node7.data.example/file", run_on=True)))

    assert (first.message, second.message) == ("The Toy Library is still searching; the request goes on in the background.",
                                               "The Toy Library gave no whole answer within the time of this call.")
    assert [lane["in_flight"] for lane in transport.status()["lanes"]] == [1, 0, 0, 0]


def test_who_asks_again_joins_the_search_that_runs_on(stand_in, real):
    stand_in.add("toy.example/find", body=b'{"found": 3}', delay_s=0.5)
    transport = real(timeout_ms=300)

    failure(lambda: asker(transport)(Ask(url=FIND, run_on=True)))
    again = asker(transport)(Ask(url=FIND, run_on=True))

    assert (again.value, again.cached, len(stand_in.seen)) == ({"found": 3}, False, 1)


def test_a_search_that_runs_on_ends_at_twice_the_time_of_a_request(stand_in, real):
    stand_in.add("toy.example/find", fault="silent")
    transport = real(timeout_ms=200)
    begun = time.monotonic()

    failure(lambda: asker(transport)(Ask(url=FIND, run_on=True)))
    told_s = time.monotonic() - begun
    while transport.gate(Toy.lanes[0]).in_flight and time.monotonic() - begun < 2.0:
        time.sleep(0.005)
    ended_s = time.monotonic() - begun

    assert 0.19 < told_s < 0.35
    assert 0.39 < ended_s < 0.7


def test_cancelling_stops_a_search_that_runs_on(stand_in, real):
    """Cancelled after its caller was told to come back: the place is free within a moment."""
    stand_in.add("toy.example/find", fault="silent")
    transport = real(timeout_ms=1000)
    ask = asker(transport, budget_s=0.2)
    failure(lambda: ask(Ask(url=FIND, run_on=True)))
    running = transport.gate(Toy.lanes[0]).in_flight

    ask.call.cancel()
    time.sleep(0.15)

    assert (running, transport.gate(Toy.lanes[0]).in_flight) == (1, 0)


@responses.activate
def test_a_good_answer_is_kept_for_its_lifetime_with_its_date(make_transport, clock):
    """900 s: asked at 0 and 899 s one request, with the first date; at 900 s another."""
    responses.get(FIND, json={"n": 1})
    transport = make_transport(Toy)
    replies = []

    for seconds in (0.0, 899.0, 1.0):
        clock.advance(seconds)
        ask = asker(transport)
        reply = ask(Ask(url=FIND))
        replies.append((reply.cached, ask.cached, ask.retrieved_at, ask.requests_sent))

    assert replies == [(False, False, "2026-11-30T11:00:00Z", 1), (True, True, "2026-11-30T11:00:00Z", 0),
                       (False, False, "2026-11-30T11:15:00Z", 1)]


@responses.activate
def test_a_cached_answer_needs_no_slot(make_transport, clock):
    """While the lane is blocked for an hour, what is kept is still given."""
    responses.get(FIND, json={})
    transport = make_transport(Toy)
    asker(transport)(Ask(url=FIND))
    transport.gate(Toy.lanes[0]).block(3600.0)

    assert asker(transport)(Ask(url=FIND)).cached


@responses.activate
@pytest.mark.parametrize("changes", [{"cache_ttl_ms": 0}, {"cache_max_entries": 0}])
def test_the_cache_can_be_switched_off(make_transport, changes):
    responses.get(FIND, json={})
    transport = make_transport(Toy, **changes)

    for _ in range(2):
        asker(transport)(Ask(url=FIND))

    assert len(responses.calls) == 2


@responses.activate
def test_the_least_lately_used_answer_goes_first(make_transport):
    """Room for two: a, b, a again, c; then a is still there and b is not."""
    responses.get(FIND, json={})
    transport = make_transport(Toy, cache_max_entries=2)

    cached = [asker(transport)(Ask(url=FIND, params=(("q", q),))).cached for q in "abacab"]

    assert cached == [False, False, True, False, True, False]


@responses.activate
def test_the_bytes_kept_are_bounded(make_transport, monkeypatch):
    """Room for 100 bytes: two answers of 60 do not fit together."""
    monkeypatch.setattr("sources.transport.cache.CACHE_LIMIT_BYTES", 100)
    responses.get(FIND, json="x" * 58)
    transport = make_transport(Toy)

    cached = [asker(transport)(Ask(url=FIND, params=(("q", q),))).cached for q in "aaba"]

    assert cached == [False, True, False, False]


@responses.activate
def test_a_kept_answer_cannot_be_changed_by_who_reads_it(make_transport):
    responses.get(FIND, json={"rows": [1]})
    transport = make_transport(Toy)

    asker(transport)(Ask(url=FIND)).value["rows"].append(2)

    assert asker(transport)(Ask(url=FIND)).value == {"rows": [1]}


@responses.activate
def test_the_status_tells_pace_block_and_last_failure(make_transport, clock):
    responses.get("https://strict.example/x", status=429)
    transport = make_transport(Strict)
    failure(lambda: asker(transport, Strict)(Ask(url="https://strict.example/x")))

    assert transport.status() == {
        "lanes": [{"lane": "strict", "archive": "strict", "spacing_s": 6.0, "spacing_because": "chosen for the tests", "in_flight": 0,
                   "in_flight_max": 2, "blocked_until": "2026-11-30T12:00:00Z",
                   "last_failure": {"at": "2026-11-30T11:00:00Z", "code": "rate_limited",
                                    "message": "The Strict Library asked this client to slow down (status 429)."}}],
        "cached_entries": 0, "replaying": False, "gateway": False}


def test_a_wait_for_the_spacing_is_told(stand_in, make_transport):
    stand_in.add("toy.example/find")
    transport = make_transport(Toy, clock=None, gateway=stand_in.address)
    told: list[str] = []
    call = Call(50.0, tell=told.append, clock=transport.clock)

    for q in "ab":
        transport.for_call(call, "toy")(Ask(url=FIND, params=(("q", q),)))

    assert told == ["Waiting about 1 s for the Toy Library, whose requests are spaced."]


def test_closing_stops_what_is_under_way(stand_in, real):
    stand_in.add("toy.example/find", fault="silent")
    transport = real()
    results: list[object] = []
    thread = in_background(asker(transport), results)
    time.sleep(0.1)

    transport.close()
    thread.join(2.0)

    assert results == [Cancelled]


def test_importing_the_sources_loads_no_http_and_no_xml():
    """`requests` and `lxml` cost a tenth of a second that the tool list must not wait for."""
    code = "import sys, sources.transport; print(sorted({'requests', 'urllib3', 'lxml', 'jsonschema'} & sys.modules.keys()))"

    printed = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).resolve().parent.parent, capture_output=True, text=True,
                             check=True).stdout

    assert printed == "[]\n"
