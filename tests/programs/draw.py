"""The pictures of the sample shelf: a page of the invented log, drawn letter by letter, and the passage cut from it.

    python tests/programs/draw.py

Writes the page's text with its boxes and both pictures as kept answers; what is drawn is what the text says, where its boxes are.
Nothing but the standard library draws: letters of five columns, as old displays have them, on paper with some grain.
"""
from __future__ import annotations

import base64
import json
import random
import struct
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from sources.regions import Region, Sheet, picture_address
from sources.shell.demo import SHELF

ITEM, LEAF = "capemarrowlog00fenw", 7
WIDTH, HEIGHT = 500, 700  # of the page, in pixels of its picture
SCALE, LETTER, LINE, LEFT, TOP = 2, 12, 30, 40, 60  # a dot, a letter with its gap, a line, the margins
LEAST = (0.35, 0.1)  # of a page, as the adapter shows a passage
RETRIEVED = "2026-11-30T09:00:00Z"
TEXT = (("THE KEEPER'S LOG. 3",),
        ("February 3d. Toward four bells a", "wet fog came over the bar and stood", "in the lantern room like wool; the",
         "bell was rung by hand until noon."),
        ("February 4th. Clear. Two sail to the", "eastward, and the paint dry at last."))
# Five columns a letter, the lowest bit its top dot.
LETTERS = {char: bytes.fromhex(columns) for char, columns in {
    "'": "0008070300", ",": "0080703000", "-": "0808080808", ".": "0000606000", ";": "0040340000", "3": "2141494D33", "4": "1814127F10",
    "C": "3E41414122", "E": "7F49494941", "F": "7F09090901", "G": "3E41415173", "H": "7F0808087F", "K": "7F08142241", "L": "7F40404040",
    "O": "3E4141413E", "P": "7F09090906", "R": "7F09192946", "S": "2649494932", "T": "03017F0103", "a": "2054547840", "b": "7F28444438",
    "c": "3844444428", "d": "384444287F", "e": "3854545418", "f": "00087E0902", "g": "18A4A49C78", "h": "7F08040478", "i": "00447D4000",
    "k": "7F10284400", "l": "00417F4000", "m": "7C04780478", "n": "7C08040478", "o": "3844444438", "p": "FC18242418", "r": "7C08040408",
    "s": "4854545424", "t": "04043F4424", "u": "3C4040207C", "v": "1C2040201C", "w": "3C4030403C", "x": "4428102844", "y": "4C9090907C"}.items()}


def placed() -> list[list[list[tuple[str, int, int]]]]:
    """Paragraphs of lines of words, each with the place of its top left corner."""
    top, paragraphs = TOP, []
    for lines in TEXT:
        told = []
        for line in lines:
            at, words = LEFT, []
            for word in line.split():
                words.append((word, at, top))
                at += LETTER * (len(word) + 1)
            told.append(words)
            top += LINE
        paragraphs.append(told)
        top += LINE // 2
    return paragraphs


def drawn() -> list[bytearray]:
    """The page as rows of dots, 1 for paper."""
    dice = random.Random(1)
    rows = [bytearray(0 if dice.random() < 0.02 else 1 for _ in range(WIDTH)) for _ in range(HEIGHT)]
    for word, left, top in (word for paragraph in placed() for line in paragraph for word in line):
        for number, letter in enumerate(word):
            for column, bits in enumerate(LETTERS[letter]):
                for row in range(8):
                    if bits >> row & 1:
                        for dot in range(SCALE * SCALE):
                            rows[top + SCALE * row + dot // SCALE][left + LETTER * number + SCALE * column + dot % SCALE] = 0
    return rows


def png(rows: list[bytearray]) -> bytes:
    """One bit a dot (PNG 1.2, 11.2.2 and 9)."""
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    packed = b"".join(b"\0" + bytes(int("".join(map(str, row[at:at + 8])).ljust(8, "1"), 2) for at in range(0, len(row), 8)) for row in rows)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b"")


def leaf() -> str:
    """The page's text as the archive serves it, a box a word: left, bottom, right, top."""
    lines = [f'<?xml version="1.0" encoding="UTF-8"?>\n<OBJECT data="file://localhost/{ITEM}.djvu" height="{HEIGHT}" type="image/x.djvu" '
             f'usemap="{ITEM}_{LEAF:04}.djvu" width="{WIDTH}">', f'<PARAM name="PAGE" value="{ITEM}_{LEAF:04}.djvu"/>',
             "<HIDDENTEXT><PAGECOLUMN><REGION>"]
    for paragraph in placed():
        lines.append("<PARAGRAPH>")
        for line in paragraph:
            boxes = (f'<WORD coords="{left},{top + 8 * SCALE},{left + LETTER * len(word)},{top}">{word}</WORD>' for word, left, top in line)
            lines.append(f"<LINE>{' '.join(boxes)}</LINE>")
        lines.append("</PARAGRAPH>")
    return "\n".join([*lines, "</REGION></PAGECOLUMN></HIDDENTEXT>", "</OBJECT>", ""])


def kept(address: str, content_type: str, body: bytes, coded: str = "") -> bytes:
    head = {"address": address, "method": "GET", "status": 200, "headers": {"content-type": content_type}, "retrieved_at": RETRIEVED,
            **({"body": coded} if coded else {})}
    return json.dumps(head, indent=1).encode() + b"\n\n" + body


def region_of(wording: str) -> Region:
    words = tuple((word + (" " if number + 1 < len(line) else "\n"), (left, top, LETTER * len(word), 8 * SCALE))
                  for paragraph in placed() for line in paragraph for number, (word, left, top) in enumerate(line))
    found = Sheet(words=words, width=WIDTH, height=HEIGHT, unit="pixel").place(wording, LEAST)
    assert found is not None
    return found


def files() -> dict[str, bytes]:
    """Each file of the shelf that is made here, with what belongs in it."""
    text = json.loads((SHELF / "archive-leaf-7.answer").read_bytes().partition(b"\n\n")[0])["address"]
    image = f"https://iiif.archive.org/image/iiif/3/{ITEM}%2F{ITEM}_jp2.zip%2F{ITEM}_jp2%2F{ITEM}_{LEAF:04}.jp2/full/max/0/default.jpg"
    rows, region = drawn(), region_of("wet fog")
    left, top = int(region.x), int(region.y)
    cut = [row[left:left + int(region.width)] for row in rows[top:top + int(region.height)]]
    return {"archive-leaf-7.answer": kept(text, "text/xml; charset=utf-8", leaf().encode()),
            "archive-picture-7.answer": kept(picture_address(image, None) or "", "image/png", base64.encodebytes(png(rows)), "base64"),
            "archive-picture-7-wet-fog.answer": kept(picture_address(image, region) or "", "image/png", base64.encodebytes(png(cut)), "base64")}


if __name__ == "__main__":
    for name, body in files().items():
        (SHELF / name).write_bytes(body)
        print(name, len(body))
