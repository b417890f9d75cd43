"""The picture of a page, or of the passage that was looked for: asked of the archive's own image
service, looked at by its first bytes, and never at the cost of the text.

Sources: ISO/IEC 10918-1, B.1.1.3 and B.2.2 (the size in a JPEG's frame header); PNG 1.2, 11.2.2.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..answers import Picture
from ..contract import Archive, Ask, PageText
from ..errors import SourceError, UnreadableAnswer
from ..regions import Region, picture_address

NO_PICTURE = ("No picture of this page is open to anonymous readers, or its archive names none "
              "that can be asked at a size; nothing was asked.")
NO_PLACE = "Where the words stand on the page is not known, so the whole page is shown."
BLANK_PIXELS_A_BYTE = 60  # a scan of text weighs a byte for every 3 to 10; an empty sheet far less
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # markers of a JPEG that state its size


def pictured(ask: Callable[[Callable[[Archive], Any]], Any], page: PageText, kind: str,
             words: str | None) -> dict[str, Any]:
    """What an answer says of the picture asked for: `picture`, or `picture_refused` with the
    reason; and a note where the passage could not be placed. `ask` puts work to the archive."""
    try:
        region = ask(lambda archive: archive.place(page, words)) \
            if kind == "passage" and words else None
    except SourceError:
        region = None
    url = picture_address(page.image_url, region)
    if url is None or page.text_refused:
        return {"picture_refused": page.text_refused or NO_PICTURE}
    try:
        picture = ask(lambda archive: _asked(archive, url, region))
    except SourceError as error:
        return {"picture_refused": f"{error.message} The picture's address is {url}"}
    return {"picture": picture, "notes": (NO_PLACE,) if kind == "passage" and region is None
            else ()}


def _asked(archive: Archive, url: str, region: Region | None) -> Picture:
    """One request. Raises UnreadableAnswer for what is no picture of the page."""
    reply = archive.ask(Ask(url=url, body="picture"))

    def refused(why: str) -> UnreadableAnswer:
        return UnreadableAnswer(f"{archive.name} sent {why}.", archive=archive.key, status=200)

    if reply.url != url:
        raise refused("another picture in place of the page, by a redirect")
    size = measured(reply.value)
    if size is None:
        raise refused("something that is neither a JPEG nor a PNG picture")
    media_type, width, height = size
    if width * height > BLANK_PIXELS_A_BYTE * len(reply.value):
        raise refused("a picture with nothing on it")
    return Picture(shows="passage" if region else "page", url=url, media_type=media_type,
                   width=width, height=height, bytes=reply.value, region=region,
                   placed_by="the boxes of the recognised words, which can be off" if region
                   else None)


def measured(body: bytes) -> tuple[str, int, int] | None:
    """Media type, width and height of a picture; None where it is neither a JPEG nor a PNG, or
    states no size."""
    if body.startswith(b"\x89PNG\r\n\x1a\n") and body[12:16] == b"IHDR" and len(body) >= 24:
        return _sized("image/png", body[16:20], body[20:24])
    at = 2
    while body.startswith(b"\xff\xd8\xff") and at + 9 <= len(body) and body[at] == 0xFF:
        if body[at + 1] in _FRAMES:
            return _sized("image/jpeg", body[at + 7:at + 9], body[at + 5:at + 7])
        at += 2 + int.from_bytes(body[at + 2:at + 4], "big")
    return None


def _sized(kind: str, width: bytes, height: bytes) -> tuple[str, int, int] | None:
    found = int.from_bytes(width, "big"), int.from_bytes(height, "big")
    return (kind, *found) if all(found) else None
