"""The settings of DESIGN 7, read once from the environment; a value that cannot be read warns and the default stands."""
from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

VERSION = "1.0.0"  # the product's, as archives see it; mcp_books.__version__ is the same, a test holds them together
PROJECT_URL = "https://github.com/smeet666/mcp-books"  # the owner's page; archives reach a human through it
LOG_LEVELS = ("silent", "error", "info", "debug")
_MAX_MS = 24 * 3600 * 1000  # a day; anything longer is a typing error


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting in the unit its name ends with. `origin` names the settings that the environment changed."""

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
    origin: Mapping[str, str] = field(default_factory=dict)


def default_state_dir(environ: Mapping[str, str]) -> Path | None:
    """`mcp-books` in the user's cache folder of this system; None where no home is known."""
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = environ.get("HOME") and str(Path(environ["HOME"]) / "Library" / "Caches")
    else:
        base = environ.get("XDG_CACHE_HOME") or (environ.get("HOME") and str(Path(environ["HOME"]) / ".cache"))
    return Path(base) / "mcp-books" if base else None


def read_settings(environ: Mapping[str, str] = os.environ, *, warn: Callable[[str], None] = lambda line: None,
                  known_sources: tuple[str, ...] = (), known_tools: tuple[str, ...] = ()) -> Settings:
    """The settings in force. `warn` gets one line for each value that could not be read. The folder to record in is made."""
    values: dict[str, object] = {"state_dir": default_state_dir(environ)}
    origin: dict[str, str] = {}

    def read(name: str, key: str, parse: Callable[[str], object], wanted: str) -> None:
        text = environ.get(name, "").strip()
        if not text:
            return
        try:
            values[key] = parse(text)
            origin[key] = name
        except ValueError:
            warn(f"{name}: cannot read {text[:80]!r}; wanted {wanted}; the default stands.")

    read("BOOKS_USER_AGENT", "user_agent", _header_text, "printable text without line breaks")
    read("BOOKS_MIN_INTERVAL_MS", "min_interval_ms", _count(0, _MAX_MS), "milliseconds, 0 or more")
    read("BOOKS_TIMEOUT_MS", "timeout_ms", _count(1, _MAX_MS), "milliseconds, 1 or more")
    read("BOOKS_MAX_RETRIES", "max_retries", _count(0, 10), "a number from 0 to 10")
    read("BOOKS_CACHE_TTL_MS", "cache_ttl_ms", _count(0, 30 * _MAX_MS), "milliseconds, 0 or more")
    read("BOOKS_CACHE_MAX_ENTRIES", "cache_max_entries", _count(0, 100_000), "a number from 0 to 100000")
    read("BOOKS_LOG_LEVEL", "log_level", _one_of(LOG_LEVELS), "one of " + ", ".join(LOG_LEVELS))
    read("BOOKS_SOURCES", "sources", _names(known_sources), "names of archives, comma-separated: " + ", ".join(known_sources))
    read("BOOKS_TOOLS", "tools", _names(known_tools), "names of tools, comma-separated: " + ", ".join(known_tools))
    read("BOOKS_CALL_BUDGET_MS", "call_budget_ms", _count(100, _MAX_MS), "milliseconds, 100 or more")
    read("BOOKS_GALLICA_CONTENTS", "gallica_contents", lambda text: _one_of(("accept",))(text) == "accept", "the word accept")
    read("BOOKS_GATEWAY", "gateway", _address, "an http or https address without a query")
    read("BOOKS_STATE_DIR", "state_dir", lambda text: None if text.lower() == "off" else Path(text), "a folder, or off")
    read("BOOKS_RECORD_DIR", "record_dir", _made_folder, "a folder that is there or can be made")
    read("BOOKS_REPLAY_DIR", "replay_dir", Path, "a folder")
    if "replay_dir" in values and not os.path.isdir(str(values["replay_dir"])):  # in force: nothing is to go out instead
        warn(f"BOOKS_REPLAY_DIR: there is no folder {str(values['replay_dir'])[:80]!r}; no question can be answered from it.")
    return Settings(**values, origin=origin)  # type: ignore[arg-type]  # each value was made by the parser of its field


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
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ValueError(text) from exc
    return folder


def _header_text(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError(text)
    return text


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(text)
    return text.rstrip("/")
