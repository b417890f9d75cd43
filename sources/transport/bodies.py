"""A body of bytes as JSON, as an XML element or as text; bounded, and never guessed into sense.

Every function raises ValueError with a short phrase that completes "the answer …"; the transport
names the archive. Sources: RFC 8259 (JSON is UTF-8; a byte order mark may be ignored), RFC 7303 and
XML 1.0 (a document declares its encoding).
"""
from __future__ import annotations

import codecs
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

DEPTH_LIMIT = 200  # levels of JSON; the deepest answer recorded has 9
# values or elements: each costs some hundred bytes once read; the answers recorded stay below 3,000
PARTS_LIMIT = 1_000_000
DIGITS_LIMIT = 100  # digits of one number; identifiers of the archives stay below 20
MEMBERS_MAX = 100  # streams one behind the other in a gzip body; one is usual
PIECE_BYTES = 256 << 10  # of a decompressed body, made at once
GZIP_BEGINS = 0x1f
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:\-]+)", re.IGNORECASE)
# The charsets that are read, and no name at all. Among those that this Python knows besides are
# some that take minutes over a megabyte, and to look up a strange name costs memory for ever.
_READ = re.compile(r"|utf-?8|(us-)?ascii|utf-16(le|be)?|iso-?8859-(1[013-6]?|[2-9])|latin-?1"
                   r"|(windows-|cp)125[0-8]|macintosh|koi8-[ru]|gb(2312|k|18030)|big5|shift_jis"
                   r"|euc-(jp|kr)", re.IGNORECASE)
_DECLARED = re.compile(rb"""\A\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._\-]+)["']""")
# what may stand before a page's first tag, one piece at a time; and the tags that begin a page
_BEFORE = re.compile(rb"[\s\xef\xbb\xbf]+|<\?xml[^>]*>", re.IGNORECASE)
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|title|body)\b", re.IGNORECASE)
HTML_WITHIN_BYTES = 8192  # a page shows itself within this much


class NotWhole(ValueError):
    """A body that is no whole stream of its Content-Encoding; says so after "an answer …"."""


def decompressed(chunks: Iterable[bytes], coding: str) -> Iterator[bytes]:
    """A body as it was before its Content-Encoding, in pieces of at most PIECE_BYTES; a bomb costs
    no more than what is taken of it.

    Raises NotWhole. Sources: RFC 9110, 8.4.1; RFC 1952 (a gzip body may hold several members;
    anything else behind one is padding).
    """
    coding = coding.strip().lower()
    if coding in ("", "identity"):
        yield from chunks
        return
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise NotWhole("compressed more than once" if "," in coding else
                       "compressed in a way that nobody asked for")
    member, count = None, 0
    for chunk in chunks:
        while chunk and (member is None or not member.eof or chunk[0] == GZIP_BEGINS):
            if member is None or member.eof:
                member, count = _member(chunk[0]), count + 1
            yield from _pieces(member, chunk)
            chunk = member.unused_data
            if count > MEMBERS_MAX:
                raise NotWhole("compressed in more parts than any true answer")
    if member is not None and not member.eof:
        raise NotWhole("whose compressed body is not whole")


def _member(begins: int) -> zlib._Decompress:
    """What reads a stream that begins with a certain byte. Some servers send deflate without the
    header that the standard wants; no stream without one begins as one with a header does."""
    headed = begins == GZIP_BEGINS or begins & 15 == zlib.DEFLATED
    return zlib.decompressobj(32 + zlib.MAX_WBITS if headed else -zlib.MAX_WBITS)


def _pieces(member: zlib._Decompress, chunk: bytes) -> Iterator[bytes]:
    piece = b" " * PIECE_BYTES
    while len(piece) == PIECE_BYTES:  # more may be waiting, even when the chunk is used up
        try:
            piece = member.decompress(chunk, PIECE_BYTES)
        except zlib.error as exc:
            raise NotWhole("that cannot be decompressed") from exc
        yield piece
        chunk = member.unconsumed_tail


def is_html(body: bytes, content_type: str) -> bool:
    """Whether a body is a web page, by what it begins with; the header decides only when the
    body begins with markup."""
    if _HTML.match(body, _start(body)):
        return True
    start = body[:512].lstrip()
    said = "text/html" in content_type.lower()
    return said and start.startswith(b"<") and not start.startswith(b"<?xml")


def _start(body: bytes) -> int:
    """Where a document begins, behind blanks, an XML declaration and comments; each byte is looked
    at once."""
    at = 0
    while at < HTML_WITHIN_BYTES:
        if body.startswith(b"<!--", at):
            at = body.find(b"-->", at + 4, HTML_WITHIN_BYTES) + 3
            if at < 4:  # a comment without end
                return len(body)
        elif skipped := _BEFORE.match(body, at, HTML_WITHIN_BYTES):
            at = skipped.end()
        else:
            return at
    return len(body)


def decode_json(body: bytes) -> Any:
    """The JSON value of a UTF-8 body: no NaN or Infinity, no endless number, at most DEPTH_LIMIT
    levels."""
    if not body.strip():
        raise ValueError("is empty")
    if sum(map(body.count, (b",", b"[", b"{"))) > PARTS_LIMIT:
        raise ValueError("holds more values than any true answer")
    try:
        value = json.loads(body.decode("utf-8-sig"), parse_constant=_number, parse_int=_number,
                           parse_float=_number)
    except UnicodeDecodeError as exc:
        raise ValueError("is not in UTF-8, as JSON must be") from exc
    except RecursionError as exc:
        raise ValueError("is nested too deeply") from exc
    except ValueError as exc:
        raise ValueError("is not whole JSON") from exc
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(DEPTH_LIMIT):
        level = [child for node in level
                 for child in (node.values() if isinstance(node, dict) else node)
                 if isinstance(child, (dict, list))]
        if not level:
            return value
    raise ValueError("is nested too deeply")


def _number(text: str) -> int | float:
    """A number that has an end and a size: neither NaN nor Infinity has."""
    number, whole = float(text), text.lstrip("-").isdigit()
    if not math.isfinite(number) or (whole and len(text) > DIGITS_LIMIT):
        raise ValueError("a number without end")
    return int(text) if whole else number


def decode_xml(body: bytes, content_type: str) -> Any:
    """The root element (lxml): no entities, no document type, no network, no recovery from
    errors, libxml2's own limits kept."""
    from lxml import etree

    if not body.strip():
        raise ValueError("is empty")
    if body.count(b"<") > PARTS_LIMIT:
        raise ValueError("holds more elements than any true answer")
    parser = etree.XMLParser(encoding=_xml_override(body, content_type), resolve_entities=False,
                             no_network=True, load_dtd=False, dtd_validation=False,
                             huge_tree=False, recover=False)
    try:
        root: Any = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as exc:
        raise ValueError("is not well-formed XML") from exc
    if root.getroottree().docinfo.doctype:
        raise ValueError("brings a document type of its own, which no archive asked here does")
    return root


def _xml_override(body: bytes, content_type: str) -> str | None:
    """The encoding to read XML in, or None where the document's own declaration (or its absence) is
    to be believed.

    A declared one-byte encoding is a lie when the bytes are UTF-8 beyond ASCII: chance does not
    write that (Gallica's page texts were seen to declare ISO-8859-1 over UTF-8). Without a
    declaration, bytes that are not UTF-8 are read as the header says.
    """
    declared = _DECLARED.match(body[:1024])
    utf8 = _is_utf8(body)
    if declared:
        name = declared.group(1).decode("ascii").lower()
        return "utf-8" if utf8 and not body.isascii() and not name.startswith("utf") else None
    if utf8 or body[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return None
    named = charset(content_type)
    return named if _READ.fullmatch(named) and named else None


def decode_text(body: bytes, content_type: str) -> str:
    """The body as text: the declared charset, else UTF-8, else Latin-1 (which never fails); a
    byte order mark is dropped. Under a charset that is not read here, UTF-8 with U+FFFD for what
    is none."""
    named, errors = charset(content_type), "strict"
    if not _READ.fullmatch(named):
        named, errors = "utf-8", "replace"
    for name in (named or "utf-8", "utf-8"):
        with suppress(UnicodeDecodeError):
            return body.decode(name, errors).removeprefix("\ufeff")
    return body.decode("latin-1")


def text_of_xml(body: bytes, content_type: str) -> str:
    """An XML body as text, for a first look before it is parsed."""
    declared = _DECLARED.match(body[:1024])
    name = "utf-8" if _is_utf8(body) else declared.group(1).decode("ascii") if declared else ""
    return decode_text(body, f"text/xml; charset={name}" if name else content_type)


def charset(content_type: str) -> str:
    """The charset a Content-Type names, "" when it names none."""
    match = _CHARSET.search(content_type)
    return match.group(1) if match else ""


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
