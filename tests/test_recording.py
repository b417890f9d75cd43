"""Answers kept as files and given again from them."""
from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from pathlib import Path

import pytest
import responses

from sources.asking.together import Opener
from sources.contract import Archive, Ask, Lane
from sources.errors import ArchiveUnreachable, RateLimited, RecordNotFound, SourceError, UnreadableAnswer
from sources.settings import Settings
from sources.transport.call import Call
from sources.transport.exchange import Received
from sources.transport.shelf import SHELF_LIMIT_FILES, Recorder, Shelf, file_name

FIND = "https://toy.example/find"


class Toy(Archive):
    """An archive with one lane of six seconds."""

    key = "toy"
    name = "the Toy Library"
    lanes = (Lane(key="toy", hosts=(r"toy\.example",), spacing_s=6.0, spacing_because="chosen for the tests"),)


class Dated(Toy):
    """An archive whose credit names the day."""

    @classmethod
    def attribution(cls, retrieved_at: str) -> str:
        return f"{cls.name}, retrieved {retrieved_at[:10]}, free"


def received(body: bytes, **more) -> Received:
    return Received(**{"status": 200, "headers": {}, "url": FIND, "retrieved_at": "2026-11-30T11:00:00Z", **more}, body=body)


@pytest.fixture
def ask(make_transport, clock):
    """Build an asker for one call with the given settings."""
    return lambda **changes: make_transport(Toy, **changes).for_call(Call(50.0, clock=clock), "toy")


@responses.activate
def test_what_was_recorded_is_replayed_with_its_date_unpaced_and_without_a_network(ask, clock, tmp_path):
    """JSON, a form, XML and a page of Latin-1 text: the same values and dates a day later, and no pause."""
    responses.get(FIND, json={"rows": ["é"]})
    responses.post("https://toy.example/sparql", json={"n": 1})
    responses.get("https://toy.example/x", body="<a>é</a>", content_type="text/xml")
    responses.get("https://toy.example/t", body="été".encode("latin-1"), content_type="text/plain; charset=latin-1")

    def read(asker):
        replies = [asker(Ask(url=FIND, params=(("q", "é"),))), asker(Ask(url="https://toy.example/sparql", form=(("query", "é"),))),
                   asker(Ask(url="https://toy.example/x", body="xml")), asker(Ask(url="https://toy.example/t", body="text"))]
        return [getattr(reply.value, "text", reply.value) for reply in replies], [reply.retrieved_at for reply in replies]

    recorded = read(ask(record_dir=tmp_path))
    paused, sent = list(clock.slept), len(responses.calls)
    clock.advance(86_400.0)
    replaying = ask(replay_dir=tmp_path)
    replayed = read(replaying)

    assert recorded[0] == [{"rows": ["é"]}, {"n": 1}, "é", "été"]
    assert replayed == recorded
    assert (replaying.replayed, replaying.cached, replaying.requests_sent) == (True, False, 4)  # four looked up, none sent
    assert (clock.slept, len(responses.calls)) == (paused, sent)


@responses.activate
def test_a_kept_file_can_be_read_by_a_person_and_holds_no_secret(ask, tmp_path):
    """The head says what was asked and when, the body stands below as it came; cookies and the like are left out."""
    responses.get(FIND, body='{"title": "Chèvre"}', headers={"Set-Cookie": "id=1", "Authorization": "x", "Cache-Control": "no-cache"})

    ask(record_dir=tmp_path)(Ask(url=FIND, params=(("q", "chèvre"),), headers=(("Accept", "application/x-toy"),)))

    (path,) = tmp_path.iterdir()
    assert path.name.startswith("toy-example-find-q-ch-C3-A8vre-")
    assert path.read_text(encoding="utf-8") == """{
 "address": "https://toy.example/find?q=ch%C3%A8vre",
 "method": "GET",
 "asked_with": {
  "Accept": "application/x-toy"
 },
 "status": 200,
 "headers": {
  "content-type": "text/plain; charset=utf-8",
  "cache-control": "no-cache"
 },
 "retrieved_at": "2026-11-30T11:00:00Z"
}

{"title": "Chèvre"}"""


@responses.activate
def test_refusals_are_kept_and_replayed_as_refusals(ask, clock, tmp_path):
    """A 404, a 429 and a challenge give the same failure again; nothing is blocked or asked again by a replay."""
    responses.get("https://toy.example/gone", status=404)
    responses.get("https://toy.example/later", status=429, headers={"Retry-After": "60"})
    responses.get("https://toy.example/wall", status=403, body="<html>captcha</html>", content_type="text/html")

    def refusals(**changes):
        kinds = []
        for path in ("gone", "later", "wall"):
            with pytest.raises((RecordNotFound, RateLimited, ArchiveUnreachable)) as caught:
                ask(**changes)(Ask(url=f"https://toy.example/{path}"))
            kinds.append((type(caught.value), caught.value.status, caught.value.message))
        return kinds

    recorded = refusals(record_dir=tmp_path)
    replayed = refusals(replay_dir=tmp_path)

    assert replayed == recorded
    assert clock.slept == []


@responses.activate
def test_a_redirect_is_kept_under_the_address_asked(ask, tmp_path):
    responses.get(FIND, status=302, headers={"Location": "/there"})
    responses.get("https://toy.example/there", json={})
    ask(record_dir=tmp_path)(Ask(url=FIND))

    reply = ask(replay_dir=tmp_path)(Ask(url=FIND))

    assert (reply.value, reply.url) == ({}, "https://toy.example/there")


@responses.activate
def test_a_retry_leaves_the_answer_it_led_to(ask, tmp_path):
    responses.get(FIND, status=503)
    responses.get(FIND, json={"at": "last"})
    ask(record_dir=tmp_path)(Ask(url=FIND))

    assert ask(replay_dir=tmp_path)(Ask(url=FIND)).value == {"at": "last"}


def test_what_is_not_on_the_shelf_is_a_failure_that_names_it(ask, tmp_path):
    with pytest.raises(ArchiveUnreachable) as caught:
        ask(replay_dir=tmp_path / "nowhere")(Ask(url=FIND, params=(("q", "é"),)))

    assert caught.value.message == "The Toy Library is answered from kept answers alone, and this one is not on the shelf."
    assert caught.value.reason == "not_on_the_shelf"


def test_a_file_written_by_hand_may_have_any_name_and_windows_line_ends(ask, tmp_path):
    head = json.dumps({"address": FIND, "method": "GET", "status": 200, "headers": {"content-type": "application/json"},
                       "retrieved_at": "2026-01-02T03:04:05Z"}, indent=1)
    body = b'{"a":\n\n 1}'  # with line ends of its own
    (tmp_path / "sample.answer").write_bytes((head + "\n\n").replace("\n", "\r\n").encode() + body)

    reply = ask(replay_dir=tmp_path)(Ask(url=FIND))

    assert (reply.value, reply.retrieved_at) == ({"a": 1}, "2026-01-02T03:04:05Z")


def test_files_that_are_no_answers_are_passed_over(ask, tmp_path):
    """Garbage, heads without an address or of another shape, a folder, and an answer whose status is no number."""
    (tmp_path / "a.answer").write_bytes(b"\xff\x00")
    (tmp_path / "b.answer").write_text("{}\n\nbody")
    (tmp_path / "c.answer").mkdir()
    (tmp_path / "e.answer").write_text('{"address": "' + FIND + '", "asked_with": ["x"]}\n\n{}')
    (tmp_path / "f.answer").write_text("[" * 100_000 + "\n\nbody")
    (tmp_path / "d.answer").write_text('{"address": "' + FIND + '", "status": "soon"}\n\n{}')

    with pytest.raises(UnreadableAnswer) as caught:
        ask(replay_dir=tmp_path)(Ask(url=FIND))

    assert caught.value.message == "The answer of the Toy Library kept on the shelf cannot be read."


def test_questions_that_differ_only_in_form_or_headers_have_files_of_their_own(tmp_path):
    questions = [Ask(url=FIND), Ask(url=FIND, form=(("q", "a"),)), Ask(url=FIND, form=(("q", "b"),)),
                 Ask(url=FIND, headers=(("Accept", "x"),))]
    recorder = Recorder(tmp_path)

    for number, question in enumerate(questions):
        recorder.keep(question, received(str(number).encode()))

    assert [Shelf(tmp_path).find(question).body for question in questions] == [b"0", b"1", b"2", b"3"]


def test_a_long_address_gives_a_name_every_system_takes():
    name = file_name(Ask(url="https://toy.example/" + "è/:*?" * 500))

    assert len(name) < 100
    assert name.replace("-", "").replace(".", "").isalnum()


def test_many_writers_at_once_leave_whole_files(tmp_path):
    """Eight writers of one question: one file, whole, and nothing left beside it."""
    bodies = [bytes([65 + number]) * 200_000 for number in range(8)]
    threads = [threading.Thread(target=Recorder(tmp_path).keep, args=(Ask(url=FIND), received(body))) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [path.name for path in tmp_path.iterdir()] == [file_name(Ask(url=FIND))]
    assert Shelf(tmp_path).find(Ask(url=FIND)).body in bodies


def test_a_folder_is_kept_within_its_bounds(tmp_path, monkeypatch, caplog):
    """Three files or 1000 bytes here, 5000 files and 512 MiB in truth; said once, and the answers themselves still come."""
    assert SHELF_LIMIT_FILES == 5000
    monkeypatch.setattr("sources.transport.shelf.SHELF_LIMIT_FILES", 3)
    monkeypatch.setattr("sources.transport.shelf.SHELF_LIMIT_BYTES", 1000)
    recorder = Recorder(tmp_path)

    for number in range(6):
        recorder.keep(Ask(url=f"{FIND}?{number}"), received(b"x"))

    assert len(list(tmp_path.iterdir())) == 3
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@responses.activate
def test_a_folder_that_cannot_be_written_loses_no_answer(ask, tmp_path):
    responses.get(FIND, json={"a": 1})
    (tmp_path / "file").write_text("in the way")

    reply = ask(record_dir=Path(tmp_path / "file" / "folder"))(Ask(url=FIND))

    assert reply.value == {"a": 1}


# ---- a failure never replaces an answer ------------------------------------------------------------------------------

@responses.activate
@pytest.mark.parametrize("bad", [
    {"status": 503}, {"status": 404}, {"status": 429, "headers": {"Retry-After": "1"}}, {"body": "not JSON"},
    {"body": "<html>captcha</html>", "content_type": "text/html"}, {"body": "<html>maintenance</html>", "content_type": "text/html"}])
def test_a_failure_never_replaces_the_answer_kept(ask, tmp_path, bad):
    responses.get(FIND, json={"at": "first"})
    responses.get(FIND, **bad)
    ask(record_dir=tmp_path)(Ask(url=FIND))
    kept = [path.read_bytes() for path in tmp_path.iterdir()]
    with pytest.raises(SourceError):
        ask(record_dir=tmp_path, max_retries=0)(Ask(url=FIND))

    assert [path.read_bytes() for path in tmp_path.iterdir()] == kept
    assert ask(replay_dir=tmp_path)(Ask(url=FIND)).value == {"at": "first"}


@responses.activate
def test_a_later_answer_replaces_the_one_kept(ask, tmp_path):
    """Whether that was an answer or a failure."""
    responses.get(FIND, status=500)
    responses.get(FIND, json={"at": "second"})
    responses.get(FIND, json={"at": "third"})
    with pytest.raises(SourceError):
        ask(record_dir=tmp_path, max_retries=0)(Ask(url=FIND))

    for value in ("second", "third"):
        ask(record_dir=tmp_path)(Ask(url=FIND))
        assert ask(replay_dir=tmp_path)(Ask(url=FIND)).value == {"at": value}


@pytest.mark.parametrize("dated", ["", '"retrieved_at": "", ', '"retrieved_at": "last week", ', '"retrieved_at": 7, '])
def test_a_kept_answer_that_does_not_say_when_is_of_an_unknown_day(make_transport, clock, tmp_path, dated):
    """Not of today, as the credit said: what a licence wants is the day the archive was asked."""
    (tmp_path / "by-hand.answer").write_text("{" + dated + '"address": "' + FIND + '"}\n\n{}')
    opened = Opener(settings=Settings(), transport=make_transport(Dated, replay_dir=tmp_path), readers={}).open(Dated, Call(50.0, clock=clock))
    opened.asker(Ask(url=FIND))

    assert (opened.retrieved_at, opened.asker.replies[0].retrieved_at) == ("", "")
    assert opened.credit() == {"attribution": "the Toy Library, retrieved on a day that is not known, free", "cached": False, "replayed": True,
                               "retrieved_at": None}
    assert opened.replay_note() == ("Answered from kept answers alone, the earliest of a day that is not known; nothing was asked of the "
                                    "archive now.",)


# ---- files -----------------------------------------------------------------------------------------------------------

@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_a_device_or_a_huge_file_on_the_shelf_holds_nobody_up(ask, tmp_path):
    """A pipe without a writer kept a call waiting past its budget; nothing but a regular file of a bearable size is read."""
    os.mkfifo(tmp_path / "a.answer")
    (tmp_path / "b.answer").symlink_to("/dev/zero")
    with open(tmp_path / "c.answer", "wb") as huge:
        huge.truncate(1 << 40)
    (tmp_path / "d.answer").write_text('{"address": "' + FIND + '"}\n\n{"at": "d"}')
    began = time.monotonic()

    assert ask(replay_dir=tmp_path)(Ask(url=FIND)).value == {"at": "d"}
    assert time.monotonic() - began < 2.0


@pytest.mark.skipif(sys.platform == "win32", reason="modes of another kind")
def test_a_kept_answer_is_its_owners_and_overwrites_nothing_else(tmp_path):
    """0600 in a folder of 0700, whatever the umask; a link under its name goes, and what it names stays as it was."""
    folder, elsewhere = tmp_path / "kept", tmp_path / "elsewhere"
    elsewhere.write_text("not ours")
    recorder = Recorder(folder)
    umask = os.umask(0)
    try:
        recorder.keep(Ask(url=FIND), received(b"{}"))
    finally:
        os.umask(umask)
    path = folder / file_name(Ask(url=FIND))
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (folder, path)]
    path.unlink()
    path.symlink_to(elsewhere)
    (folder / f".{path.name}.{os.getpid()}.{threading.get_ident()}").symlink_to(elsewhere)
    recorder.keep(Ask(url=FIND), received(b"{}"))

    assert modes == [0o700, 0o600]
    assert (elsewhere.read_text(), path.is_symlink(), len(list(folder.iterdir()))) == ("not ours", False, 1)


def test_a_kept_answer_holds_nothing_that_lets_anybody_in(tmp_path):
    """Neither of what was asked with nor of what came; it is found again all the same."""
    question = Ask(url=FIND, headers=(("Accept", "x"), ("Authorization", "s3cret"), ("Cookie", "s3cret"), ("Proxy-Authorization", "s3cret")))
    Recorder(tmp_path).keep(question, received(b"{}", headers={"set-cookie": "s3cret", "www-authenticate": "s3cret", "x-token": "s3cret"}))

    (path,) = tmp_path.iterdir()
    assert b"s3cret" not in path.read_bytes()
    assert Shelf(tmp_path).find(question).body == b"{}"
