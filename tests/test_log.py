"""The search log: what was asked, what each archive was sent, and what came of it, for a Methods section."""
from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sources.answers import AllFailed, Asked, ItemsAnswer, Report
from sources.asking import log
from sources.asking.log import ENTRIES_MAX, Evidence, SearchLog
from sources.contract import Ask, Reply
from sources.errors import InvalidInput, RecordNotFound

ROOT = Path(__file__).resolve().parent.parent
AT = 1_796_036_400.0  # 2026-11-30T11:00:00Z

ANSWERED = Report(
    source="openlibrary", name="Open Library", status="answered", count=2, reported_total=31, reported_total_means="works",
    filters_sent=({"filter": "year_from", "as": "first_publish_year:[1850 TO *]"},),
    filters_dropped=({"filter": "facets", "because": "no counts"},), retrieved_at="2026-11-30T11:00:01Z",
    queries=(Asked(query="wet fog", derivation="as asked", ran=True, count=2, added=2),
             Asked(query="fog", derivation="longest word", ran=False, not_run_because="enough rows had come")))
FAILED = Report(source="loc", name="the Library of Congress", status="failed", stage="search",
                error={"code": "timeout", "message": "It did not answer in time.", "hint": None})
ABSENT = Report(source="bnf", name="data.bnf.fr", status="absent", absent_because="It has no index of places.")
FOUND = ItemsAnswer(query="wet fog", per_source=(ANSWERED, FAILED, ABSENT))


def filled(path: Path | None = None) -> SearchLog:
    kept = SearchLog(version="1.1.0", path=path, now=lambda: AT)
    kept.note("search_items", {"query": "wet fog", "year_from": 1850}, FOUND)
    return kept


def test_every_wording_sent_is_a_row_and_a_failed_or_absent_archive_stands_beside_it():
    assert log.rows(filled().entries()) == [
        ("2026-11-30T11:00:00Z", "search_items", "Open Library", "wet fog", "year_from: first_publish_year:[1850 TO *]", "facets",
         "31", "2", "answered"),
        ("2026-11-30T11:00:00Z", "search_items", "the Library of Congress", "", "", "", "", "", "failed: It did not answer in time."),
        ("2026-11-30T11:00:00Z", "search_items", "data.bnf.fr", "", "", "", "", "", "absent: It has no index of places."),
    ]


def test_the_paragraph_names_the_items_of_the_checklist_and_says_what_failed():
    text = log.as_text(filled().entries())

    assert text.splitlines()[:7] == [
        "Databases (item 1): Open Library, the Library of Congress.",
        "Platform (item 2): mcp-books 1.1.0, which asks each archive's public search service.",
        "Dates of search (item 13): on 2026-11-30, times in UTC.",
        "Questions: 1, of which 1 searches.",
        "Full strategies (item 8), limits (item 9) and records found (item 15) stand in the table, one line for each wording sent. "
        "Counts are each archive's own and are not added up.",
        "At least one search failed in: the Library of Congress; nothing is known of what a failed search would have found.",
        ""]


def test_a_question_that_failed_whole_is_kept_with_its_reports():
    kept = SearchLog(version="1", now=lambda: AT)
    kept.note("search_items", {"query": "x"}, AllFailed((FAILED,)))
    kept.note("get_item", {"identifier": "loc:x"}, RecordNotFound("There is none."))

    both, one = kept.entries()

    assert [part["status"] for part in both.archives] == ["failed"]
    assert one.failed == {"code": "not_found", "message": "There is none."}
    assert log.rows((one,)) == [("2026-11-30T11:00:00Z", "get_item", "loc", "loc:x", "", "", "", "", "failed: There is none.")]


def test_only_the_newest_thousand_are_kept_in_memory():
    kept = SearchLog(version="1", now=lambda: AT)
    for number in range(ENTRIES_MAX + 5):
        kept.note("get_item", {"identifier": f"loc:{number}"}, RecordNotFound("none"))

    assert len(kept.entries(limit=5000)) == ENTRIES_MAX
    assert kept.entries(limit=1)[0].arguments == {"identifier": f"loc:{ENTRIES_MAX + 4}"}


def test_entries_before_a_time_are_left_out():
    times = iter((AT, AT + 60))
    kept = SearchLog(version="1", now=lambda: next(times))
    for name in ("a", "b"):
        kept.note("get_item", {"identifier": name}, RecordNotFound("none"))

    assert [entry.arguments["identifier"] for entry in kept.entries(since="2026-11-30T11:00:30Z")] == ["b"]


def test_the_file_holds_what_was_kept_and_is_its_owners_alone(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    kept = SearchLog(version="1", path=path, now=lambda: AT)
    ask = Ask(url="https://www.loc.gov/?q=x", form=(("a", "b"),))
    reply = Reply(value=None, status=200, headers={}, url=ask.url, retrieved_at="2026-11-30T11:00:00Z", cached=False, sha256="0" * 64)

    kept.note("search_items", {"query": "wet fog"}, FOUND, [("loc", ask, reply)] * 2)

    [entry] = kept.entries()
    assert entry.evidence == (Evidence(archive="loc", address=ask.url, form=(("a", "b"),), retrieved_at="2026-11-30T11:00:00Z", sha256="0" * 64),)
    assert log.read_file(path) == kept.entries()
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")
def test_a_link_or_a_device_is_not_written_to_and_that_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    target = tmp_path / "precious"
    target.write_text("keep", encoding="utf-8")
    (tmp_path / "link").symlink_to(target)
    os.mkfifo(tmp_path / "pipe")

    for name in ("link", "pipe"):
        kept = filled(tmp_path / name)
        kept.note("search_items", {"query": "again"}, FOUND)

    assert target.read_text(encoding="utf-8") == "keep"
    assert [record.message.partition(":")[0] for record in caplog.records] == ["BOOKS_SEARCH_LOG", "BOOKS_SEARCH_LOG"]


def test_lines_of_several_processes_never_mix(tmp_path: Path):
    """Four processes, four thousand entries, four thousand whole lines."""
    program = ("import sys; from pathlib import Path; from sources.asking.log import SearchLog; from sources.errors import RecordNotFound\n"
               "log = SearchLog(version='1', path=Path(sys.argv[1]))\n"
               "for n in range(1000): log.note('get_item', {'identifier': sys.argv[2] * 50 + str(n)}, RecordNotFound('none'))")
    path = tmp_path / "log.jsonl"
    running = [subprocess.Popen([sys.executable, "-c", program, str(path), name], cwd=ROOT) for name in "abcd"]

    assert [process.wait(timeout=60) for process in running] == [0, 0, 0, 0]
    assert len(log.read_file(path)) == 4000


def test_a_line_that_is_no_entry_is_named(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"at": "x"}) + "\n", encoding="utf-8")

    with pytest.raises(InvalidInput) as refusal:
        log.read_file(path)

    assert refusal.value.message == "Line 1 of the file is no entry of a search log."


def test_the_table_is_the_same_as_the_text_and_json_lines_read_back():
    entries = filled().entries()

    assert log.as_csv(entries).splitlines()[1].startswith("2026-11-30T11:00:00Z,search_items,Open Library,wet fog,")
    assert [json.loads(line)["tool"] for line in log.as_json(entries).splitlines()] == ["search_items"]
