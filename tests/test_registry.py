"""The one list of archives: what it says before an adapter is loaded is what the adapter says."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sources.registry import ARCHIVES, ENTRIES, Entry, instructions
from sources.settings import Settings


@pytest.mark.parametrize("contents", [False, True])
def test_every_entry_says_what_its_adapter_says(contents: bool) -> None:
    settings = Settings(gallica_contents=contents)

    said = [(entry.key, entry.name, entry.answers, entry.media_types, entry.asked_by_default, entry.offers(settings)) for entry in ENTRIES]

    assert said == [
        (archive.key, archive.name, archive.answers, archive.media_types, archive.asked_by_default,
         tuple(call for call in archive.answers if archive.absence(call, settings) is None)) for archive in ARCHIVES]


def test_the_registry_has_nothing_else_by_that_name() -> None:
    import sources.registry

    with pytest.raises(AttributeError, match="NO_SUCH_NAME"):
        _ = sources.registry.NO_SUCH_NAME


def test_the_instructions_name_every_archive_and_stay_short() -> None:
    """At most 3,200 characters, whatever is set."""
    text = instructions(Settings(gallica_contents=True, sources=("gallica",)))

    assert len(text) <= 3200
    assert all(f"- {entry.key}: {entry.name};" in text for entry in ENTRIES)


def test_the_instructions_say_when_an_archive_waits_to_be_named() -> None:
    toy = Entry(key="toy", name="the Toy Library", adapter="toy.Toy", answers=("search_items",), media_types=(),
                asked_by_default=False)

    assert instructions(Settings(), (toy,)).endswith("- toy: the Toy Library; search_items; asked only when named in sources.")
    assert instructions(Settings(sources=("toy",)), (toy,)).endswith("- toy: the Toy Library; search_items.")


def test_the_instructions_say_what_each_archive_holds_and_whose_each_kind_is() -> None:
    lines = [line for line in instructions(Settings()).splitlines() if line.startswith("- ")]

    assert len(lines) == len(ENTRIES)
    assert all(entry.holds in line and line.endswith(f"media_type: {' '.join(entry.media_types)}.")
               for entry, line in zip(ENTRIES, lines, strict=True))
    assert "American newspapers 1736-1963" in lines[1] and "Titles of works" in lines[2]


@pytest.mark.parametrize(("spoilt", "because"), [
    ("import nowhere_at_all\n", "No module named 'nowhere_at_all'"), ("def broken(:\n", "invalid syntax (openlibrary.py, line 1)"),
    ("OpenLibrary = 1\ndel OpenLibrary\nraise AttributeError('gone')\n", "gone")])
def test_an_adapter_that_cannot_be_loaded_is_absent_with_the_reason_and_the_others_answer(tmp_path: Path, spoilt: str, because: str) -> None:
    """Done for real in a copy of the program, over the sample shelf; a record of it is refused with the same reason."""
    root = Path(__file__).resolve().parent.parent
    for folder in ("sources", "schemas"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "mcp_books.py", tmp_path)
    (tmp_path / "sources/archives/openlibrary.py").write_text(spoilt, encoding="utf-8")
    environment = {**os.environ, "BOOKS_REPLAY_DIR": str(tmp_path / "sources/shelf"), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(tmp_path / "mcp_books.py"), *words], capture_output=True, encoding="utf-8",
                              env=environment, check=False, timeout=60)

    found = run("search-items", "lighthouse", "--limit", "5", "--json")
    record = run("get-item", "openlibrary:OL800001W")

    said = {report["name"]: (report["status"], report.get("absent_because")) for report in json.loads(found.stdout)["per_source"]}
    reason = f"Open Library could not be loaded here: {because}."
    assert found.returncode == 0
    assert said["Open Library"] == ("absent", reason)
    assert [name for name, (status, _) in said.items() if status != "answered"] == ["Open Library"]
    assert reason in " ".join((record.stdout + record.stderr).split())  # wrapped at the terminal's width
    assert record.returncode == 2
