"""Which archive an identifier names. Routing only: the shape behind a prefix is each archive's own
business.

Everything refused here is refused before any request, and never printed raw.
"""
from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import SplitResult, unquote, urlsplit

from ..contract import Archive, Reference
from ..errors import InvalidInput

_FORBIDDEN = re.compile(
    r"[\x00-\x20\x7f-\xa0\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ud800-\udfff]"
)
_PREFIX = re.compile(r"([A-Za-z][A-Za-z0-9+._-]*):(?!//)(.*)", re.DOTALL)
_LCCN_SHAPE = re.compile(r"[a-z]{0,3}\d{8,10}|\d+[xX]?")
_ISSUE_SHAPE = re.compile(r"[a-z]{0,3}\d{8,10}/\d{4}-\d{2}-\d{2}/ed-\d+([/?].*)?")
LCCN_CHARS = 12  # of what is asked for bare; an ISBN has thirteen
_SLUG_SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_ARK_SHAPE = re.compile(r"(ark:/?12148/)?c[bc][0-9][0-9a-z]{6,10}")
_RESOLVER = "ark.bnf.fr"  # leads to whoever describes an ark, which the ark itself says

# Bare shapes that one archive alone mints: (shape, archive, in words)
_BARE = (
    (re.compile(r"OL\d+[A-Z]"), "openlibrary", "an Open Library identifier"),
    (re.compile(r"temp-work/[0-9a-f]+/?"), "bnf", "a provisional work of data.bnf.fr"),
    (_ARK_SHAPE, "bnf", "an ark of data.bnf.fr"),
    (_ARK_SHAPE, "bnfcatalogue", "an ark of the general catalogue of the BnF"),
    (
        re.compile(
            r"(ark:/?12148/)?(bpt6k|btv1b|bd6t)[0-9a-z]+(/.*|\..*)?|ark:/?12148/cb[0-9a-z]+/date.*"
        ),
        "gallica",
        "an ark of Gallica",
    ),
    (re.compile(r"ark:/?13960/.*"), "archive", "an ark of the Internet Archive"),  # refused there
    (_ISSUE_SHAPE, "loc", "a newspaper issue of the Library of Congress"),
    (re.compile(r"FRBNF\d{8,9}", re.IGNORECASE), "bnf", "a record number of the BnF"),
)
_ISBN_SHAPE = re.compile(r"(?=[\dX-]{11,17}\Z)\d[\d-]*-[\d-]*[\dX]")  # with its hyphens


def read_identifier(text: str, archives: Sequence[type[Archive]]) -> Reference:
    """The archive and record that `text` names: a prefixed identifier, a web address, or a bare
    shape only one archive mints.

    Raises:
        InvalidInput: nobody's shape, two archives' shape (both spellings are offered), another
        host, a climbing path, a
            blank or a control character.
    """
    text = text.strip(" ")
    by_key = {archive.key: archive for archive in archives}
    if _FORBIDDEN.search(text):
        raise _unreadable("The identifier holds a blank or an invisible character; no archive "
                          "mints such a one.", archives)
    if any(segment in (".", "..") for segment in re.split(r"[/\\]", unquote(unquote(text)))):
        raise _unreadable("The identifier climbs out of its place with '.' or '..'; it was not "
                          "sent anywhere.", archives)
    if re.match(r"(https?:)?//|www\.", text, re.IGNORECASE) or _begins_with_host(text, archives):
        return _by_address(text, archives)
    for shape, key, words in _BARE:
        if shape.fullmatch(text) and key in by_key:
            found = _ours(by_key[key].read_identifier(text), key, archives)
            return _said(found, f"read as {words}: {found.identifier}")
    prefixed = _PREFIX.fullmatch(text)
    if prefixed:
        prefix, local = prefixed.group(1).lower(), prefixed.group(2)
        if prefix not in by_key:
            raise _unreadable(f"No archive here has the prefix {prefix[:40]!r}.", archives)
        return _ours(by_key[prefix].read_identifier(local), prefix, archives)
    return _bare(text, by_key, archives)


def _unreadable(message: str, archives: Sequence[type[Archive]]) -> InvalidInput:
    return InvalidInput(message, hint=_examples(archives), reason="unreadable_identifier")


def _bare(
    text: str, by_key: dict[str, type[Archive]], archives: Sequence[type[Archive]]
) -> Reference:
    if _LCCN_SHAPE.fullmatch(text) or _ISBN_SHAPE.fullmatch(text):
        keys = ("archive", "loc") if len(text) <= LCCN_CHARS else ("archive",)
        spellings = [f"{key}:{text}" for key in keys if key in by_key]
        numbered = [f"{key}/{text.replace('-', '')}" for key in ("isbn", "lccn", "oclc")]
        spellings += [
            f"openlibrary:{local}"
            for local in numbered
            if _can_read(by_key.get("openlibrary"), local)
        ][:1]
        raise InvalidInput(f"{text[:40]!r} is a shape that more than one archive mints.",
                           hint="Say which is meant: " + " or ".join(spellings) + ".",
                           reason="ambiguous_identifier")
    if _SLUG_SHAPE.fullmatch(text) and "archive" in by_key:
        return _said(
            by_key["archive"].read_identifier(text),
            f"no prefix was given; read as an item of the Internet Archive: archive:{text}",
        )
    raise _unreadable("No archive here mints an identifier of this shape.", archives)


def _can_read(archive: type[Archive] | None, local: str) -> bool:
    try:
        return archive is not None and bool(archive.read_identifier(local))
    except InvalidInput:
        return False


def _begins_with_host(text: str, archives: Sequence[type[Archive]]) -> bool:
    """Whether an address lost its scheme: it begins with a host of an archive here."""
    host, slash, _ = text.lower().partition("/")
    return bool(slash) and (host == _RESOLVER or any(
        fnmatch.fnmatchcase(host, pattern) for archive in archives
        for pattern in archive.address_hosts))


def _by_address(text: str, archives: Sequence[type[Archive]]) -> Reference:
    has_scheme = re.match(r"https?:", text, re.IGNORECASE)
    from_host = text if text.startswith("//") else "//" + text
    try:
        address = urlsplit(text if has_scheme else "https:" + from_host)
        host, port = (address.hostname or "").lower(), address.port
    except ValueError as exc:
        raise _unreadable("This is no web address that can be read.", archives) from exc
    if address.username is not None or port not in (None, 80, 443):
        raise _unreadable("An address with a user name or a port of its own is not read.", archives)
    if host == _RESOLVER and unquote(address.path).startswith("/ark:/"):
        return read_identifier(unquote(address.path)[1:], archives)
    for archive in archives:
        if any(fnmatch.fnmatchcase(host, pattern) for pattern in archive.address_hosts):
            return _by_archive(archive, address, archives)
    raise _unreadable(f"The host {host[:80]!r} belongs to no archive here.", archives)


def _by_archive(
    archive: type[Archive], address: SplitResult, archives: Sequence[type[Archive]]
) -> Reference:
    found = _ours(archive.read_address(address), archive.key, archives)
    return found if found.read_as else _said(found, f"read as {found.identifier}")


def _ours(reference: Reference, reader: str, archives: Sequence[type[Archive]]) -> Reference:
    """The reference, with the archive that read it where the one it names is not in the list."""
    listed = any(archive.key == reference.source for archive in archives)
    return reference if listed else replace(reference, source=reader, read_as=None)


def _said(reference: Reference, read_as: str) -> Reference:
    """The reference with a sentence on how it was read, unless the archive already said more."""
    return reference if reference.read_as else replace(reference, read_as=read_as)


def _examples(archives: Sequence[type[Archive]]) -> str:
    spellings = [archive.spellings for archive in archives if archive.spellings]
    return (
        "Give an identifier as a search returned it"
        + (", such as " + ", ".join(spellings) if spellings else "")
        + "."
    )
