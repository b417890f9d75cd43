"""The picture of a page or of a passage, over real sockets: what is asked, what is taken for a picture, and that a failure costs no text."""
from __future__ import annotations

import asyncio
import base64
import json
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shelf
from conftest import FakeClock, Route, StandIn
from test_stdio import PROGRAM, ROOT, started

from sources.answers import TextAnswer
from sources.asking.picture import NO_PICTURE, NO_PLACE, measured, pictured
from sources.client import BooksClient
from sources.contract import PageText
from sources.shell.demo import SHELF
from sources.telling.text_block import render

JPEG = {"Content-Type": "image/jpeg"}
IA, LOC, GALLICA = r"iiif\.archive\.org/.*", r"tile\.loc\.gov/image-services/.*", r"gallica\.bnf\.fr/iiif/.*"
IA_PAGE = "/iiif.archive.org/image/iiif/3/lanternvale00orri%2FLanternVale_jp2.zip%2FLanternVale_jp2%2FLanternVale_0004.jp2"
LOC_PAGE = "/tile.loc.gov/image-services/iiif/service:beacon:5"
GALLICA_PAGE = "/gallica.bnf.fr/iiif/ark:/12148/bpt6k9000016/f3"
BOXES = (b'{"/service/beacon/5.xml": {"width": "23372", "height": "29600", "searchTerms": {"otter": [[2337, 2960, 400, 128], [9000, 20000, 400, 128]],'
         b'"silver": [[1900, 2960, 400, 128]]}}}')
GALLICA_BOXES = (b'<results><items><item><p_id>PAG_3</p_id><p_width>1430</p_width><p_height>2488</p_height><altoid countResults="1">'
                 b'<altoidstring hpos="334" vpos="573" width="176" height="35" highlightStyle="0">PAG_3_ST39</altoidstring></altoid></item></items></results>')


def jpeg(width: int = 1000, height: int = 1400, size: int = 60_000) -> bytes:
    """A JPEG to whoever reads its markers; nothing is drawn."""
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return (b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + bytes(14) + frame).ljust(size, b"\x5a")


def png(width: int, height: int, size: int = 60_000) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))).ljust(size, b"\x5a")


def opened(stand_in: StandIn) -> None:
    """Every archive, the scan's bundle of pictures open and six leaves long, the newspaper page with a picture of its own."""
    shelf.stock(stand_in)
    record = json.loads(shelf.QUESTIONS["archive record"].route().body)
    for file in record["files"]:
        file.pop("private", None)
    record["page_numbers"]["pages"] += [{"leafNum": 5, "pageNumber": "4"}, {"leafNum": 6, "pageNumber": "5"}]
    page = json.loads(shelf.QUESTIONS["loc page"].route().body)
    page["page"].append({"mimetype": "image/jpeg", "url": f"https:/{LOC_PAGE}/full/pct:12.5/0/default.jpg#h=925&w=730"})
    shelf.spoil(stand_in, "archive record", body=json.dumps(record).encode())
    shelf.spoil(stand_in, "loc page", body=json.dumps(page).encode())


@pytest.fixture
def books(stand_in: StandIn) -> BooksClient:
    opened(stand_in)
    return shelf.client(stand_in, FakeClock())


def at_first(stand_in: StandIn, *routes: Route) -> None:
    stand_in.routes[:0] = routes


def asked(stand_in: StandIn, host: str) -> list[str]:
    return [seen.raw_path for seen in stand_in.seen if seen.raw_path.startswith(host)]


# ---- what is asked -------------------------------------------------------------------------------------------------------

def test_the_page_of_a_scan_is_asked_a_thousand_pixels_wide(books: BooksClient, stand_in: StandIn) -> None:
    at_first(stand_in, Route(at=IA, body=jpeg(), headers=JPEG))

    answer = books.read_text(shelf.BOOK, page=shelf.LEAF, picture="page")

    assert asked(stand_in, "/iiif.archive.org") == [IA_PAGE + "/full/1000,/0/default.jpg"]
    assert answer.picture is not None and answer.picture.bytes == jpeg()
    assert answer.to_dict()["picture"] == {"shows": "page", "url": "https:/" + IA_PAGE + "/full/1000,/0/default.jpg", "media_type": "image/jpeg",
                                           "width": 1000, "height": 1400, "bytes": 60_000}


def test_of_a_page_that_is_lent_no_picture_is_asked() -> None:
    page = PageText(identifier="a:1", title="A", text=None, ocr_available=True, text_refused="It is lent to one reader at a time.",
                    source_url="https://example.org/1", image_url="https://iiif.example/1/full/max/0/default.jpg", page_number=1)

    told = pictured(lambda work: pytest.fail("a picture was asked"), page, "page", None)

    assert told == {"picture_refused": "It is lent to one reader at a time."}


def test_a_passage_of_a_scan_is_cut_where_its_words_stand(books: BooksClient, stand_in: StandIn) -> None:
    """A word that the printer parted stands in two lines; nothing more is asked than the picture."""
    at_first(stand_in, Route(at=IA, body=jpeg(630, 270), headers=JPEG))

    answer = books.read_text(shelf.BOOK, page=shelf.LEAF, match="lantern", picture="passage")

    assert answer.picture is not None
    assert asked(stand_in, "/iiif.archive.org") == [IA_PAGE + "/pct:0,0,35,10/630,/0/default.jpg"]
    assert answer.to_dict()["picture"]["region"] == {"x": 0, "y": 0, "width": 630, "height": 270, "unit": "pixel", "of_width": 1800, "of_height": 2700}
    assert ("Picture: the passage, 630 by 270 pixels · placed by the boxes of the recognised words, which can be off · "
            f"https:/{IA_PAGE}/pct:0,0,35,10/630,/0/default.jpg") in render("read_text", answer.to_dict()).split("\n")


def test_a_passage_of_the_library_is_placed_by_its_own_boxes(books: BooksClient, stand_in: StandIn) -> None:
    """One more request to the service that the text came from; of several places the closest group of the words."""
    at_first(stand_in, Route(at=r"tile\.loc\.gov/text-services/.*", asks={"q": "otter"}, body=BOXES, headers=shelf.JSON),
             Route(at=LOC, body=jpeg(935, 444), headers=JPEG))

    answer = books.read_text(shelf.LOC_ISSUE, page=shelf.LOC_IMAGE, match="silver otter", picture="passage")

    assert answer.picture_refused is None and answer.picture is not None
    assert asked(stand_in, "/tile.loc.gov/image") == [LOC_PAGE + "/pct:1.92,7.22,16.01,6/935,/0/default.jpg"]
    assert (answer.picture.shows, answer.picture.width) == ("passage", 935)


def test_a_passage_of_gallica_is_placed_by_its_search_inside_one_view(books: BooksClient, stand_in: StandIn) -> None:
    at_first(stand_in, Route(at=r"gallica\.bnf\.fr/services/ContentSearch", asks={"page": "3"}, body=GALLICA_BOXES, headers=shelf.XML),
             Route(at=GALLICA, body=jpeg(501, 249, 20_000), headers=JPEG))

    answer = books.read_text(shelf.GALLICA_BOOK, page=shelf.GALLICA_VIEW, match="eaux", picture="passage")

    assert answer.picture_refused is None
    assert asked(stand_in, "/gallica.bnf.fr/iiif") == [GALLICA_PAGE + "/pct:11.96,18.73,35.1,10.01/502,/0/native.jpg"]


def test_without_a_page_the_picture_is_of_the_first_passages_page(books: BooksClient, stand_in: StandIn) -> None:
    inside = (b'{"indexed": true, "matches": [{"text": "the {{{lantern}}} sank", "par": [{"page": 4, "page_width": 1800, "page_height": 2700, '
              b'"l": 95, "t": 20, "r": 190, "b": 60, "boxes": [{"l": 95, "t": 20, "b": 60, "page": 4}, {"l": 10, "t": 80, "r": 90, "b": 120}]}]}]}')
    shelf.spoil(stand_in, "archive inside", body=inside)
    at_first(stand_in, Route(at=IA, body=jpeg(630, 270), headers=JPEG))

    answer = books.read_text(shelf.BOOK, match="lantern", picture="passage")

    assert answer.passages and answer.to_dict()["passages"][0]["region"] == {
        "x": 0, "y": 0, "width": 630, "height": 270, "unit": "pixel", "of_width": 1800, "of_height": 2700}
    assert answer.picture is not None and answer.picture.shows == "passage"


def test_where_the_words_stand_nowhere_the_whole_page_is_shown_and_that_is_said(books: BooksClient, stand_in: StandIn) -> None:
    at_first(stand_in, Route(at=IA, body=jpeg(), headers=JPEG))

    answer = books.read_text(shelf.BOOK, page=shelf.LEAF, match="windmill", picture="passage")

    assert answer.picture is not None and (answer.picture.shows, answer.picture.region) == ("page", None)
    assert NO_PLACE in answer.notes


def test_no_picture_is_asked_where_none_was_wanted(books: BooksClient, stand_in: StandIn) -> None:
    answer = books.read_text(shelf.BOOK, page=shelf.LEAF)

    assert asked(stand_in, "/iiif.archive.org") == []
    assert "picture" not in answer.to_dict() and "picture_refused" not in answer.to_dict()


# ---- what is no picture ----------------------------------------------------------------------------------------------------

GONE = "The picture's address is https:/" + IA_PAGE + "/full/1000,/0/default.jpg"
FAULTS = {
    "504": ({"status": 504, "body": b"busy"}, "the Internet Archive could not answer (status 504)."),
    "400 above native width": ({"status": 400, "body": b"too large"}, "the Internet Archive refused the question (status 400)."),
    "403 wall": ({"status": 403, "body": b"<html><title>Just a moment...</title>captcha</html>", "headers": shelf.HTML},
                 "the Internet Archive: blocked by the site's protection; a challenge page came instead of an answer."),
    "blank 200": ({"body": jpeg(size=9_000)}, "the Internet Archive sent a picture with nothing on it."),
    "HTML 200": ({"body": b"<!DOCTYPE html><title>Sorry</title>", "headers": shelf.HTML}, "The answer of the Internet Archive is a web page instead of data."),
    "600 kB": ({"body": jpeg(size=600_000)}, "the Internet Archive sent an answer of more than 500,000 bytes; it was not read to the end."),
    "wrong type": ({"body": b"GIF89a".ljust(60_000, b"x")}, "the Internet Archive sent something that is neither a JPEG nor a PNG picture."),
    "empty": ({"body": b""}, "the Internet Archive sent something that is neither a JPEG nor a PNG picture."),
    "no size": ({"body": b"\xff\xd8\xff\xe0".ljust(60_000, b"\xff")}, "the Internet Archive sent something that is neither a JPEG nor a PNG picture."),
    "stand-in PNG by redirect": ({"status": 302, "headers": {"Location": "https://iiif.archive.org/image/iiif/preview-unavailable.png"}, "body": b""},
                                 "the Internet Archive sent another picture in place of the page, by a redirect."),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_picture_that_fails_costs_no_text_and_is_told_in_one_sentence(books: BooksClient, stand_in: StandIn, fault: str) -> None:
    changes, says = FAULTS[fault]
    at_first(stand_in, Route(at=r"iiif\.archive\.org/.*preview-unavailable\.png", body=png(300, 400), headers={"Content-Type": "image/png"}),
             Route(**{"at": IA, "headers": JPEG, **changes}))

    answer = books.read_text(shelf.BOOK, page=shelf.LEAF, picture="page")

    assert answer.picture is None
    assert answer.picture_refused is not None and answer.picture_refused.lower() == f"{says} {GONE}".lower()
    assert answer.text == "The lan-\ntern sank\n\nFin"
    assert f"Picture: none: {answer.picture_refused}" in render("read_text", answer.to_dict()).split("\n")


def test_a_restricted_item_is_refused_before_anything_is_asked(books: BooksClient, stand_in: StandIn) -> None:
    shelf.spoil(stand_in, "archive record")  # its bundle is private

    answer = books.read_text(shelf.BOOK, page=shelf.LEAF, picture="page")

    assert answer.picture_refused == NO_PICTURE
    assert asked(stand_in, "/iiif.archive.org") == []


@pytest.mark.parametrize(("body", "size"), [
    (jpeg(640, 480), ("image/jpeg", 640, 480)), (png(300, 200), ("image/png", 300, 200)),
    (png(16_777_219, 33_554_435), ("image/png", 16_777_219, 33_554_435)), (jpeg(640, 480)[:29], ("image/jpeg", 640, 480)), (jpeg(0, 480), None), (png(0, 1), None),
    (b"", None), (b"\xff\xd8\xff", None), (b"\x89PNG\r\n\x1a\n", None), (jpeg()[:24], None), (b"\xff\xd8\xff\xe0\x00\x00" * 50_000, None)])
def test_the_size_of_a_picture_is_read_from_its_own_bytes(body: bytes, size: tuple[str, int, int] | None) -> None:
    assert measured(body) == size


# ---- how it is handed on -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_host_gets_the_picture_as_a_block_behind_the_text_and_nowhere_else(stand_in: StandIn, tmp_path: Path, revision: str) -> None:
    """The whole line stays under a megabyte, the most that hosts take."""
    opened(stand_in)
    picture = jpeg(size=499_000)
    at_first(stand_in, Route(at=IA, body=picture, headers=JPEG))
    with started(PROGRAM, environ={"BOOKS_GATEWAY": stand_in.address}, handshake=False) as host:
        host.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": revision, "capabilities": {},
                                                                                   "clientInfo": {"name": "t", "version": "1"}}})
        host.reply()
        host.send({"jsonrpc": "2.0", "method": "notifications/initialized"},
                  {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                      "name": "read_text", "arguments": {"identifier": shelf.BOOK, "page": shelf.LEAF, "picture": "page"}}})
        result = host.reply()["result"]

    text, block = result["content"]
    data = block.pop("data")
    assert block == {"type": "image", "mimeType": "image/jpeg"} and base64.b64decode(data) == picture
    assert data[:100] not in text["text"] + str(result.get("structuredContent"))
    assert len(str(result)) + len(data) < 1_000_000


def test_a_picture_is_kept_and_answered_again_as_it_came(stand_in: StandIn, tmp_path: Path) -> None:
    opened(stand_in)
    at_first(stand_in, Route(at=IA, body=jpeg(), headers=JPEG))
    first = shelf.client(stand_in, FakeClock(), record_dir=tmp_path).read_text(shelf.BOOK, page=shelf.LEAF, picture="page")

    again = shelf.client(stand_in, FakeClock(), gateway=None, replay_dir=tmp_path).read_text(shelf.BOOK, page=shelf.LEAF, picture="page")

    assert again.picture == first.picture is not None


# ---- on the row, without a request ---------------------------------------------------------------------------------------------

ROW = {"image_url": ["https://tile.loc.gov/image-services/iiif/service:beacon:5/full/pct:6.25/0/default.jpg#h=462&w=365",
                     "https://tile.loc.gov/image-services/iiif/service:beacon:5/full/pct:12.5/0/default.jpg#h=925&w=730",
                     "https://tile.loc.gov/text-services/word-coordinates-service?segment=/service/beacon/5.xml&format=alto_xml"],
       "page_coordinate_data": {"width": "23372", "height": "29600", "relevant_snippet": "a [[tag]]silver[[/tag]] [[tag]]otter[[/tag]]",
                                "searchTerms": {"otter": [[2337.0, 2960.0, 400.0, 128.0]], "silver": [[1900.0, 2960.0, 400.0, 128.0]]}}}


def test_a_row_that_names_image_and_boxes_shows_page_and_passage_without_a_request(books: BooksClient, stand_in: StandIn) -> None:
    rows = json.loads(shelf.QUESTIONS["loc pages"].route().body)
    rows["results"] = [{**rows["results"][0], **ROW}]
    shelf.spoil(stand_in, "loc pages", body=json.dumps(rows).encode())

    hit, = books.search_inside("silver otter", sources=["loc"], fan_out=False).hits

    assert (hit.image_url, hit.passage_image_url) == (
        "https://tile.loc.gov/image-services/iiif/service:beacon:5/full/pct:12.5/0/default.jpg",
        "https://tile.loc.gov/image-services/iiif/service:beacon:5/pct:1.92,7.22,16.01,6/935,/0/default.jpg")
    assert asked(stand_in, "/tile.loc.gov") == []


# ---- further pages, and the page as it is cited ----------------------------------------------------------------------------------

def turning(stand_in: StandIn, make: Callable[[int], dict[str, Any]]) -> None:
    """Leaves 4 to 6 of the scan, as `make` has each answered by its place in the reader."""
    leaf = shelf.QUESTIONS["archive leaf"]
    for place, number in enumerate((1, 2, 4, 5, 6)):
        body = leaf.route().body.replace(b"_0004.djvu", f"_{number:04}.djvu".encode()).replace(b"Fin", f"Leaf {number}".encode())
        at_first(stand_in, leaf.route(**{"asks": {"page": f"^{place}$"}, "body": body, **make(number)}))


def read_on(books: BooksClient, **arguments: Any) -> TextAnswer:
    return books.read_text(shelf.BOOK, page=4, **arguments)


def test_pages_are_read_on_each_under_its_mark_as_far_as_asked(books: BooksClient, stand_in: StandIn) -> None:
    turning(stand_in, lambda leaf: {})
    following = books.read_text(shelf.BOOK, page=4).next_page

    answer = read_on(books, to_page=5)

    assert following == 5
    assert answer.text == "[leaf 4]\nThe lan-\ntern sank\n\nLeaf 4\n\n[leaf 5]\nThe lan-\ntern sank\n\nLeaf 5"
    assert answer.next_page == 6


def test_a_page_that_could_not_be_read_is_named_and_ends_the_reading(books: BooksClient, stand_in: StandIn) -> None:
    turning(stand_in, lambda leaf: {"status": 404} if leaf == 5 else {})

    answer = read_on(books, to_page=6)

    assert answer.text == "[leaf 4]\nThe lan-\ntern sank\n\nLeaf 4"
    assert answer.next_page == 5
    assert "Page 5 could not be read: The data node does not serve the page text that the record lists." in answer.notes


def test_no_page_is_read_that_the_window_has_no_room_for(books: BooksClient, stand_in: StandIn) -> None:
    turning(stand_in, lambda leaf: {"body": shelf.QUESTIONS["archive leaf"].route().body.replace(b"Fin", b"Fin " * 100)} if leaf == 4 else {})

    answer = read_on(books, to_page=6, max_text_chars=200)

    assert answer.next_page == 5 and answer.text is not None and "[leaf 5]" not in answer.text


def test_a_page_is_cited_by_its_own_address(books: BooksClient) -> None:
    answer = books.read_text(shelf.BOOK, page=shelf.LEAF)

    assert answer.citation is not None and answer.citation["csl_json"]["URL"] == answer.source_url
    assert answer.source_url.endswith("/page/leaf4")


PASSAGE = {"identifier": "archive:capemarrowlog00fenw", "page": 7, "match": "wet fog", "picture": "passage"}


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client_receives_the_block_and_decodes_it(mode: str) -> None:
    """From the sample shelf, in both eras; the size that the bytes state is the one that was told."""
    mcp = pytest.importorskip("mcp")
    if not hasattr(mcp, "Client"):
        pytest.skip("an older client, which knows the handshake alone")

    async def session() -> Any:
        from mcp.client.stdio import stdio_client

        environ = {**os.environ, "BOOKS_REPLAY_DIR": str(SHELF), "BOOKS_STATE_DIR": "off"}
        transport = stdio_client(mcp.StdioServerParameters(command=sys.executable, args=[str(PROGRAM)], env=environ))
        async with mcp.Client(transport, mode=mode) as client:
            return await client.call_tool("read_text", PASSAGE)

    result = asyncio.run(session())

    text, picture = result.content
    told = result.structured_content["picture"]
    assert (text.type, picture.type) == ("text", "image")
    assert measured(base64.b64decode(picture.data)) == (told["media_type"], told["width"], told["height"]) == ("image/png", 175, 70)


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
@pytest.mark.skipif("MCP_NODE_DIR" not in os.environ, reason="MCP_NODE_DIR names no folder with @modelcontextprotocol/client")
def test_the_official_typescript_client_receives_the_block_and_decodes_it(mode: str) -> None:
    script = (ROOT / "tests" / "protocol" / "official_picture.mjs").read_text(encoding="utf-8")

    done = subprocess.run(["node", "--input-type=module", "-e", script, "-", mode, sys.executable, str(PROGRAM), json.dumps(PASSAGE)], check=True,
                          timeout=60, cwd=os.environ["MCP_NODE_DIR"], capture_output=True,
                          env={**os.environ, "BOOKS_REPLAY_DIR": str(SHELF), "BOOKS_STATE_DIR": "off"})

    met = json.loads(done.stdout)
    assert (met["types"], met["mimeType"], met["begins"]) == (["text", "image"], "image/png", "89504e470d0a1a0a")
    assert met["bytes"] == met["told"]["bytes"]
