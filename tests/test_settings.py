"""Settings: what the environment may say, and what happens when it says something else."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sources.settings import Settings, default_state_dir, host_and_port, read_settings

SOURCES = ("archive", "loc", "bnf")
TOOLS = ("search_inside", "get_item")


def read(**environ: str) -> tuple[Settings, list[str]]:
    """The settings in an environment that holds nothing else, and the warnings."""
    warned: list[str] = []
    return read_settings(environ, warn=warned.append, known_sources=SOURCES, known_tools=TOOLS), warned


def test_an_empty_environment_gives_the_documented_defaults():
    settings, warned = read()

    assert (settings, warned) == (Settings(), [])
    assert (settings.timeout_ms, settings.max_retries, settings.cache_ttl_ms, settings.cache_max_entries) == (45_000, 3, 900_000, 200)
    assert (settings.call_budget_ms, settings.min_interval_ms, settings.log_level, settings.gallica_contents) == (50_000, 0, "error", False)


@pytest.mark.parametrize(("name", "text", "field", "value"), [
    ("BOOKS_USER_AGENT", " Reading Room (desk@reading.example) ", "user_agent", "Reading Room (desk@reading.example)"),
    ("BOOKS_MIN_INTERVAL_MS", "2000", "min_interval_ms", 2000), ("BOOKS_TIMEOUT_MS", "1", "timeout_ms", 1),
    ("BOOKS_MAX_RETRIES", "0", "max_retries", 0), ("BOOKS_CACHE_TTL_MS", "0", "cache_ttl_ms", 0),
    ("BOOKS_CACHE_MAX_ENTRIES", "5", "cache_max_entries", 5), ("BOOKS_LOG_LEVEL", "DEBUG", "log_level", "debug"),
    ("BOOKS_SOURCES", "loc, archive,loc", "sources", ("loc", "archive")), ("BOOKS_TOOLS", "get_item", "tools", ("get_item",)),
    ("BOOKS_CALL_BUDGET_MS", "100", "call_budget_ms", 100), ("BOOKS_GALLICA_CONTENTS", "Accept", "gallica_contents", True),
    ("BOOKS_GATEWAY", "http://127.0.0.1:8080/", "gateway", "http://127.0.0.1:8080"),
    ("BOOKS_GATEWAY", "https://mirror.example/books", "gateway", "https://mirror.example/books"),
    ("BOOKS_STATE_DIR", "off", "state_dir", None), ("BOOKS_STATE_DIR", "/srv/state", "state_dir", Path("/srv/state"))])
def test_a_setting_is_read_and_its_origin_told(name, text, field, value):
    settings, warned = read(**{name: text})

    assert (getattr(settings, field), settings.origin, warned) == (value, {field: name}, [])


@pytest.mark.parametrize(("name", "text", "field"), [
    ("BOOKS_USER_AGENT", "two\nlines", "user_agent"), ("BOOKS_USER_AGENT", "Bücher", "user_agent"),
    ("BOOKS_MIN_INTERVAL_MS", "-1", "min_interval_ms"), ("BOOKS_MIN_INTERVAL_MS", "1.5", "min_interval_ms"),
    ("BOOKS_TIMEOUT_MS", "0", "timeout_ms"), ("BOOKS_TIMEOUT_MS", "soon", "timeout_ms"), ("BOOKS_TIMEOUT_MS", "9" * 30, "timeout_ms"),
    ("BOOKS_TIMEOUT_MS", "٤٥", "timeout_ms"), ("BOOKS_MAX_RETRIES", "11", "max_retries"), ("BOOKS_LOG_LEVEL", "loud", "log_level"),
    ("BOOKS_SOURCES", "loc,nowhere", "sources"), ("BOOKS_SOURCES", ",", "sources"), ("BOOKS_TOOLS", "get_everything", "tools"),
    ("BOOKS_CALL_BUDGET_MS", "99", "call_budget_ms"), ("BOOKS_GALLICA_CONTENTS", "yes", "gallica_contents"),
    ("BOOKS_GATEWAY", "ftp://mirror.example", "gateway"), ("BOOKS_GATEWAY", "http://mirror.example/?q=1", "gateway"),
    ("BOOKS_GATEWAY", "mirror.example", "gateway"), ("BOOKS_GATEWAY", "http://[broken", "gateway")])
def test_a_value_that_cannot_be_read_warns_and_the_default_stands(name, text, field):
    """One line, naming the setting and what would do."""
    settings, warned = read(**{name: text})

    assert (getattr(settings, field), settings.origin) == (getattr(Settings(), field), {})
    assert len(warned) == 1
    assert warned[0].startswith(f"{name}: cannot") and "; wanted " in warned[0]
    assert warned[0].endswith("; the default stands." if name != "BOOKS_GATEWAY" else "Nothing is sent until it is mended or unset.")
    assert "\n" not in warned[0]


def test_the_folder_to_record_in_is_made_and_the_one_to_replay_must_be_there(tmp_path):
    """A replay from a missing folder is told at the start, and stays in force, so that no question goes out in its place."""
    kept, missing = tmp_path / "a" / "kept", tmp_path / "missing"

    recording, nothing = read(BOOKS_RECORD_DIR=str(kept))
    replaying, told = read(BOOKS_REPLAY_DIR=str(missing))

    assert (recording.record_dir, kept.is_dir(), nothing) == (kept, True, [])
    assert (replaying.replay_dir, missing.exists()) == (missing, False)
    assert told == [f"BOOKS_REPLAY_DIR: there is no folder {str(missing)[:80]!r}; no question can be answered from it."]
    assert read(BOOKS_REPLAY_DIR=str(kept)) == (Settings(replay_dir=kept, origin={"replay_dir": "BOOKS_REPLAY_DIR"}), [])


def test_a_folder_that_cannot_be_made_is_told_and_nothing_is_recorded(tmp_path):
    file = tmp_path / "file"
    file.touch()

    settings, warned = read(BOOKS_RECORD_DIR=str(file / "kept"))

    assert (settings, len(warned)) == (Settings(), 1)
    assert warned[0].endswith("; wanted a folder that is there or can be made; the default stands.")


def test_a_blank_value_is_no_value():
    assert read(BOOKS_TIMEOUT_MS="  ", BOOKS_SOURCES="") == (Settings(), [])


def test_a_warning_shows_no_more_of_a_value_than_helps():
    _, warned = read(BOOKS_TIMEOUT_MS="x" * 10_000)

    assert len(warned[0]) < 250


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the folder of this system is another")
@pytest.mark.parametrize(("environ", "folder"), [
    ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, Path("/c/mcp-books")), ({"HOME": "/h"}, Path("/h/.cache/mcp-books")), ({}, None)])
def test_the_state_folder_is_the_users_cache_and_off_without_a_home(environ, folder):
    assert default_state_dir(environ) == folder


def test_a_gateway_that_cannot_be_read_closes_the_way_out():
    """The default would ask the live archives of somebody who meant a mirror."""
    settings, warned = read(BOOKS_GATEWAY="127.0.0.1:8080")

    assert (settings.gateway, settings.gateway_unreadable) == (None, True)
    assert warned == ["BOOKS_GATEWAY: cannot be read; wanted an http or https address without a query, such as http://127.0.0.1:8080. "
                      "Nothing is sent until it is mended or unset."]


@pytest.mark.parametrize("text", ["http://127.0.0.1:99999", "http://127.0.0.1:port"])
def test_a_port_that_is_none_is_told_under_its_own_setting(text):
    assert read(BOOKS_GATEWAY=text)[0].gateway_unreadable is True


@pytest.mark.parametrize(("name", "text"), [
    ("BOOKS_USER_AGENT", "${user_config.contact}"), ("BOOKS_RECORD_DIR", "${HOME}/kept"), ("BOOKS_STATE_DIR", "%APPDATA%/x")])
def test_a_value_that_was_never_filled_in_is_unreadable(name, text):
    settings, warned = read(**{name: text})

    assert settings.origin == {}
    assert warned[0].startswith(f"{name}: cannot read {text!r}; ")


def test_a_leading_tilde_is_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))

    settings, _ = read(BOOKS_RECORD_DIR="~/kept")

    assert settings.record_dir == tmp_path / "kept"


def test_a_name_that_is_no_setting_is_told_with_its_neighbour():
    assert read(BOOKS_USERAGENT="me", BOOKS_LIVE="1")[1] == ["BOOKS_USERAGENT is no setting; did you mean BOOKS_USER_AGENT?"]


@pytest.mark.parametrize("address", [
    "http://user:s3cret@proxy.example:3128", "user:s3cret@proxy.example:3128", "http://user:s3/cret@proxy.example:3128/",
    "http://user:s3 cret@proxy.example:3128", "http://user:s3@cret@proxy.example:3128/base", "socks5://s3cret@proxy.example:3128?s3cret",
    "http://user:s3?c#ret@proxy.example:3128", "proxy.example:3128", "http://proxy.example:3128"])
def test_of_a_proxy_or_gateway_the_host_and_the_port_alone_are_shown(address):
    assert host_and_port(address) == "proxy.example:3128"


@pytest.mark.parametrize("address", ["http://[::1]:80/x", "", "http://", "s3cret word", "http://user@s3cret word"])
def test_of_an_address_that_is_none_nothing_is_shown(address):
    assert host_and_port(address) in ("[::1]:80", "an address that cannot be read")
