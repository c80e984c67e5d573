"""Check that a file is one image from its first byte to its last, and return its width and height.

PNG: ISO/IEC 15948. JPEG: ITU T.81. GIF: version 89a. WebP: RFC 9649. The module imports no Django.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NoReturn

from study.design.media.media_errors import MediaError, refuse_rest, refuse_type

MOST_PIXELS = 40_000_000
"""Maximum pixels of an image. A browser needs four bytes for each."""
PNG = b"\x89PNG\r\n\x1a\n"
UNPACKED_PIECE = 2**16
"""Most bytes of unpacked pixels in memory. A PNG of 300 kB can unpack to 300 MB."""
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""First column, first row, and their steps of the seven passes of an interlaced PNG."""
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Samples of a pixel of a PNG, by colour type."""
STANDALONE = {0x01, *range(0xD0, 0xD9)}
"""Markers of a JPEG without a length."""
SCAN, END = 0xDA, 0xD9
"""Markers of a JPEG before compressed pixels, and at the end."""
IN_SCAN = frozenset({0x00, 0xFF, *range(0xD0, 0xD8)})
"""Bytes that follow 0xFF inside compressed pixels."""
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG that begin a frame, with the size of the image."""


def _within(width: int, height: int) -> tuple[int, int]:
    if not width or not height:
        raise MediaError("This image has no pixels.")
    if width * height > MOST_PIXELS:
        raise MediaError(f"This image has {width} by {height} pixels. At most 40 million are accepted.")
    return width, height


def png_size(data: bytes) -> tuple[int, int]:
    """Return the size of a PNG image. Every chunk's checksum must be right, and the pixels must unpack to
    exactly what the image's size needs."""
    if not data.startswith(PNG + b"\0\0\0\rIHDR"):
        refuse_type("a PNG image")
    pixels, size, end = zlib.decompressobj(), (0, 0), 0
    left = 0
    try:
        for name, body, end in _png_chunks(data):  # noqa: B007 - the end of the last one is needed
            if name == b"IHDR":
                size, left = _png_head(body)
            elif name == b"IDAT":
                left -= _unpacked_size(pixels, body, left)
    except (struct.error, zlib.error, KeyError):
        _damaged("PNG")
    if left or not pixels.eof:
        _damaged("PNG")
    if end != len(data):
        refuse_rest("the image")
    return size


def _unpacked_size(pixels: zlib._Decompress, packed: bytes, most: int) -> int:
    """Unpack pixels in pieces, keep none of them, and return their size. Raise MediaError if it is more than
    `most`, or if something follows the pixels."""
    unpacked = last = 0
    while packed or last == UNPACKED_PIECE:
        last = len(pixels.decompress(packed, UNPACKED_PIECE))
        packed, unpacked = pixels.unconsumed_tail, unpacked + last
        if unpacked > most:
            raise MediaError("This PNG image unpacks to more than its size says.")
        if pixels.unused_data:
            refuse_rest("the image")
    return unpacked


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield the name and content of each chunk, and where it ends."""
    here, name = len(PNG), b""
    while name != b"IEND":
        length, name = struct.unpack_from(">I4s", data, here)
        body = data[here + 8 : here + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, here + 8 + length)
        if zlib.crc32(name + body) != checksum:
            _damaged("PNG")
        here += 12 + length
        yield name, body, here


def _png_head(body: bytes) -> tuple[tuple[int, int], int]:
    """Return the size of the image, and the bytes to which its pixels unpack: each row of each pass has one
    byte before its pixels."""
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", body)
    bits, unpacked = depth * SAMPLES[colours], 0
    for left, top, across, down in ADAM7 if interlaced else ((0, 0, 1, 1),):
        columns, rows = -(-(width - left) // across), -(-(height - top) // down)
        unpacked += rows * ((columns * bits + 7) // 8 + 1) if columns > 0 and rows > 0 else 0
    return _within(width, height), unpacked


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Return the size of a JPEG image. Its end marker must be the end of the file."""
    if not data.startswith(b"\xff\xd8\xff"):
        refuse_type("a JPEG image")
    size, scans, end = (0, 0), 0, 0
    try:
        for marker, here, end in _jpeg_segments(data):  # noqa: B007 - the end of the last one is needed
            scans += marker == SCAN
            if marker in FRAMES:
                height, width = struct.unpack_from(">HH", data, here + 3)
                size = _within(width, height)
    except (IndexError, struct.error):
        _damaged("JPEG")
    if not scans or not size[0]:
        _damaged("JPEG")
    if end != len(data):
        refuse_rest("the image")
    return size


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the marker of each segment, where its content begins, and where it ends."""
    end, marker = 2, 0
    while marker != END:
        if data[end] != 0xFF:
            _damaged("JPEG")
        while data[end] == 0xFF:
            end += 1
        marker, here = data[end], end + 1
        end = here
        if marker not in STANDALONE and marker != END:
            end += struct.unpack_from(">H", data, here)[0]
        if marker == SCAN:
            end = _end_of_scan(data, end)
        yield marker, here, end


def _end_of_scan(data: bytes, here: int) -> int:
    """Return where the next marker begins after the compressed pixels at `here`."""
    while (here := data.find(b"\xff", here)) >= 0:
        if data[here + 1] not in IN_SCAN:
            return here
        here += 1 if data[here + 1] == 0xFF else 2
    raise IndexError("the pixels have no end")


def gif_size(data: bytes) -> tuple[int, int]:
    """Return the size of a GIF image. A file that is also a program is refused: its size field opens a
    comment of JavaScript."""
    if data[:6] not in {b"GIF87a", b"GIF89a"}:
        refuse_type("a GIF image")
    if data[6:8] in {b"/*", b"//"} or data[6:7] in {b"=", b"(", b";"}:
        raise MediaError("This GIF image could also be run as a program, so it is not accepted.")
    try:
        width, height, flags = struct.unpack_from("<HHB", data, 6)
        size = _within(width, height)
        end, images = _end_of_gif(data, 13 + _colours(flags))
    except (IndexError, struct.error):
        _damaged("GIF")
    if not images:
        _damaged("GIF")
    if end != len(data):
        refuse_rest("the image")
    return size


def _end_of_gif(data: bytes, here: int) -> tuple[int, int]:
    """Return where the GIF's blocks, which begin at `here`, end, and how many of them are images."""
    images = 0
    while (kind := data[here]) != 0x3B:
        if kind == 0x21:
            here = _end_of_blocks(data, here + 2)
        elif kind == 0x2C:
            images += 1
            here = _end_of_blocks(data, here + 11 + _colours(data[here + 9]))
        else:
            _damaged("GIF")
    return here + 1, images


def _colours(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_blocks(data: bytes, here: int) -> int:
    while data[here]:
        here += data[here] + 1
    return here + 1


def webp_size(data: bytes) -> tuple[int, int]:
    """Return the size of a WebP image. Its chunks must fill the file."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        refuse_type("a WebP image")
    size = (0, 0)
    try:
        (length,) = struct.unpack_from("<I", data, 4)
        here = 12
        while here < min(length + 8, len(data)):
            name, part = struct.unpack_from("<4sI", data, here)
            if not size[0] and name in {b"VP8X", b"VP8L", b"VP8 "}:
                size = _within(*_webp_chunk_size(name, data, here + 8))
            here += 8 + part + part % 2
    except (IndexError, struct.error):
        _damaged("WebP")
    if here > len(data) or not size[0]:
        _damaged("WebP")
    if here != len(data) or length + 8 != len(data):
        refuse_rest("the image")
    return size


def _webp_chunk_size(name: bytes, data: bytes, here: int) -> tuple[int, int]:
    if name == b"VP8X":
        numbers = [int.from_bytes(data[here + at : here + at + 3], "little") + 1 for at in (4, 7)]
        return numbers[0], numbers[1]
    if name == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, here + 1)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, here + 6)
    return width & 0x3FFF, height & 0x3FFF


def _damaged(wanted: str) -> NoReturn:
    raise MediaError(f"This {wanted} image is damaged. Save it again and upload that.")
