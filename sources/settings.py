"""The settings of DESIGN 7, read once from the environment; a value that cannot be read warns and
the default stands."""
from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

TYPE_CHECKING = False  # typing itself would be a twentieth of the start
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Parse: TypeAlias = Callable[[str], Any]

# the product's, as archives see it; mcp_books.__version__ is the same, a test holds them together
VERSION = "1.1.0"
PROJECT_URL = ""  # the project's own page, set by its owner; no address stands anywhere until then
LOG_LEVELS = ("silent", "error", "info", "debug")
_MAX_MS = 24 * 3600 * 1000  # a day; anything longer is a typing error


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting in the unit its name ends with. `origin` names the settings that the
    environment changed."""

    user_agent: str | None = None
    min_interval_ms: int = 0
    timeout_ms: int = 45_000
    max_retries: int = 3
    cache_ttl_ms: int = 900_000
    cache_max_entries: int = 200
    log_level: str = "error"
    sources: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    call_budget_ms: int = 50_000
    gallica_contents: bool = False
    gateway: str | None = None
    state_dir: Path | None = None  # None = off
    record_dir: Path | None = None
    replay_dir: Path | None = None
    search_log: Path | None = None
    http_hosts: tuple[str, ...] = ()
    http_origins: tuple[str, ...] = ()
    gateway_unreadable: bool = False  # nothing is sent: a typing error must not ask the archives
    origin: Mapping[str, str] = field(default_factory=dict)


def default_state_dir(environ: Mapping[str, str]) -> Path | None:
    """`mcp-books` in the user's cache folder of this system; None where no home is known."""
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = environ.get("HOME") and str(Path(environ["HOME"]) / "Library" / "Caches")
    else:
        base = environ.get("XDG_CACHE_HOME") or (
            environ.get("HOME") and str(Path(environ["HOME"]) / ".cache")
        )
    return Path(base) / "mcp-books" if base else None


def read_settings(environ: Mapping[str, str] = os.environ, *,
                  warn: Callable[[str], None] = lambda line: None,
                  known_sources: tuple[str, ...] = (),
                  known_tools: tuple[str, ...] = ()) -> Settings:
    """The settings in force. `warn` gets one line for each value that could not be read, and for
    each BOOKS_ name that is no setting. The folder to record in is made."""
    values: dict[str, Any] = {"state_dir": default_state_dir(environ)}
    origin: dict[str, str] = {}
    for name, parse, wanted in _table(known_sources, known_tools):
        text, key = environ.get(name, "").strip(), name.removeprefix("BOOKS_").lower()
        if text:
            try:
                values[key] = parse(_expanded(text))
                origin[key] = name
            except ValueError:
                warn(f"{name}: cannot read {text[:80]!r}; wanted {wanted}; the default stands."
                     if key != "gateway" else f"{name}: {GATEWAY_UNREADABLE}")
                values |= {"gateway_unreadable": True} if key == "gateway" else {}
    _warn_of_strangers(environ, warn)
    replay = values.get("replay_dir")
    if replay is not None and not os.path.isdir(replay):  # in force: nothing is to go out instead
        warn(f"BOOKS_REPLAY_DIR: there is no folder {str(replay)[:80]!r}; no question can be "
             "answered from it.")
    return Settings(**values, origin=origin)


GATEWAY_UNREADABLE = ("cannot be read; wanted an http or https address without a query, such as "
                      "http://127.0.0.1:8080. Nothing is sent until it is mended or unset.")


def host_and_port(address: str) -> str:
    """All of a proxy's or gateway's address that is ever shown: what stands before its last @ may
    be a password, whatever else is in it."""
    place = re.match(r"(?:[a-z][\w+.-]*://)?((?:[\w.-]+|\[[\w.:]+\])(?::\d+)?)(?:[/?#]|\Z)",
                     address.rpartition("@")[2], re.IGNORECASE)
    return place[1] if place else "an address that cannot be read"


def _table(sources: tuple[str, ...], tools: tuple[str, ...]) -> tuple[tuple[str, Parse, str], ...]:
    """Every setting: its name, how it is read, what is wanted. Its field is its name in small
    letters."""
    return (
        ("BOOKS_USER_AGENT", _header_text, "printable text without line breaks"),
        ("BOOKS_MIN_INTERVAL_MS", _count(0, _MAX_MS), "milliseconds, 0 or more"),
        ("BOOKS_TIMEOUT_MS", _count(1, _MAX_MS), "milliseconds, 1 or more"),
        ("BOOKS_MAX_RETRIES", _count(0, 10), "a number from 0 to 10"),
        ("BOOKS_CACHE_TTL_MS", _count(0, 30 * _MAX_MS), "milliseconds, 0 or more"),
        ("BOOKS_CACHE_MAX_ENTRIES", _count(0, 100_000), "a number from 0 to 100000"),
        ("BOOKS_LOG_LEVEL", _one_of(LOG_LEVELS), "one of " + ", ".join(LOG_LEVELS)),
        ("BOOKS_SOURCES", _names(sources),
         "names of archives, comma-separated: " + ", ".join(sources)),
        ("BOOKS_TOOLS", _names(tools), "names of tools, comma-separated: " + ", ".join(tools)),
        ("BOOKS_CALL_BUDGET_MS", _count(100, _MAX_MS), "milliseconds, 100 or more"),
        ("BOOKS_GALLICA_CONTENTS", _accepted, "the word accept"),
        ("BOOKS_GATEWAY", _address, "an http or https address without a query"),
        ("BOOKS_STATE_DIR", _folder_or_off, "a folder, or off"),
        ("BOOKS_RECORD_DIR", _made_folder, "a folder that is there or can be made"),
        ("BOOKS_REPLAY_DIR", Path, "a folder"),
        ("BOOKS_SEARCH_LOG", Path, "a file"),
        ("BOOKS_HTTP_HOSTS", _list, "host names, comma-separated"),
        ("BOOKS_HTTP_ORIGINS", _list, "origins such as https://example.org, comma-separated"),
    )


def _expanded(text: str) -> str:
    """A leading ~ is the home folder; a value that still holds a variable was never filled in."""
    if re.search(r"\$\{[^}]*\}|%[A-Za-z_]+%", text):
        raise ValueError(text)
    return os.path.expanduser(text) if text.startswith("~") else text


def _warn_of_strangers(environ: Mapping[str, str], warn: Callable[[str], None]) -> None:
    """A BOOKS_ name that is no setting is probably a slip for one."""
    known = [name for name, _, _ in _table((), ())]
    for name in sorted(environ):
        if name.startswith("BOOKS_") and name not in known and name not in _OF_TESTS:
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=1)
            warn(f"{name} is no setting" + (f"; did you mean {near[0]}?" if near else "."))


_OF_TESTS = ("BOOKS_LIVE", "BOOKS_STANDIN")  # what the tests are told by


def _accepted(text: str) -> bool:
    return _one_of(("accept",))(text) == "accept"


def _folder_or_off(text: str) -> Path | None:
    return None if text.lower() == "off" else Path(text)


def _list(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _count(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,12}", text, re.ASCII) or not least <= int(text) <= most:
            raise ValueError(text)
        return int(text)
    return parse


def _one_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in allowed:
            raise ValueError(text)
        return text.lower()
    return parse


def _names(known: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
        if not names or not set(names) <= set(known):
            raise ValueError(text)
        return names
    return parse


def _made_folder(text: str) -> Path:
    folder = Path(text)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as exc:
        raise ValueError(text) from exc
    return folder


def _header_text(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError(text)
    return text


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise ValueError(text)
    if parts.fragment or (parts.port is not None and parts.port < 1):  # a port out of range raises
        raise ValueError(text)
    return text.rstrip("/")
