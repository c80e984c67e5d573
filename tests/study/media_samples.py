"""Make small media files for tests, without an image library."""

from __future__ import annotations

import io
import struct
import wave
import zipfile
import zlib


def png(width: int = 2, height: int = 2, *, rows: int | None = None, behind: bytes = b"") -> bytes:
    """Return a grey PNG image. With `rows`, its pixels unpack to another number of rows than it says. The
    bytes `behind` follow its packed pixels."""
    pixels = zlib.compress((b"\0" + b"\x80" * width) * (height if rows is None else rows))
    return _png(width, height, 0, pixels + behind)


def interlaced_png_of_nine_by_nine() -> bytes:
    """Return a grey PNG image whose pixels come in seven passes."""
    passes = ((2, 2), (1, 2), (3, 1), (2, 3), (5, 2), (4, 5), (9, 4))
    return _png(9, 9, 1, zlib.compress(b"".join(bytes((1 + across) * down) for across, down in passes)))


def _png(width: int, height: int, interlaced: int, pixels: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, interlaced)
    chunks = [(b"IHDR", head), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def gif(size: bytes = b"\x01\0\x01\0") -> bytes:
    """Return a GIF image of one pixel. `size` are the four bytes of its size."""
    return (
        b"GIF89a" + size + b"\x80\0\0" + bytes(6) + b"\x2c\0\0\0\0\x01\0\x01\0\0" + b"\x02\x02\x44\x01\0\x3b"
    )


def jpeg() -> bytes:
    """Return the structure of a JPEG image: a frame of 4 by 3 pixels, and a scan."""
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, 3, 4, 1) + b"\x01\x11\0"
    return (
        b"\xff\xd8" + frame + b"\xff\xda" + struct.pack(">H", 8) + b"\x01\x01\0\0\x3f\0\x12\xff\0\x34\xff\xd9"
    )


def webp() -> bytes:
    """Return the structure of a WebP image of 5 by 6 pixels."""
    body = b"\0\0\0\0" + b"\x04\0\0" + b"\x05\0\0"
    return b"RIFF" + struct.pack("<I", 12 + len(body)) + b"WEBPVP8X" + struct.pack("<I", len(body)) + body


def wav() -> bytes:
    """Return a silent WAV sound."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(80))
    return file.getvalue()


def mp3(frames: int = 3) -> bytes:
    """Return an MP3 sound of 128 kbit/s."""
    return (b"\xff\xfb\x90\0" + bytes(413)) * frames


def ogg() -> bytes:
    """Return an Ogg sound of one page."""
    packet = b"OpusHead" + bytes(11)
    return b"OggS" + bytes(22) + bytes([1, len(packet)]) + packet


def mp4(kind: bytes = b"vide", brand: bytes = b"isom") -> bytes:
    """Return the structure of an MP4 file with one track of this kind."""
    boxes = [(b"ftyp", brand + bytes(4) + brand), (b"moov", b"hdlr" + kind), (b"mdat", bytes(9))]
    return b"".join(struct.pack(">I", 8 + len(body)) + name + body for name, body in boxes)


def webm() -> bytes:
    """Return the structure of a WebM video."""
    head = b"\x42\x82\x84webm"
    return b"\x1a\x45\xdf\xa3" + bytes([0x80 | len(head)]) + head + b"\x18\x53\x80\x67\x84" + bytes(4)


def recorded_webm(behind: bytes = b"") -> bytes:
    """Return the structure of a WebM video of a browser: its segment and clusters have no length."""
    unknown = b"\x01" + b"\xff" * 7
    cluster = b"\x1f\x43\xb6\x75" + unknown + b"\xe7\x81\0" + b"\xa3\x84\x81\0\0\x80"
    return webm()[:-9] + b"\x18\x53\x80\x67" + unknown + b"\x16\x54\xae\x6b\x80" + cluster * 2 + behind


def packed(files: dict[str, bytes]) -> bytes:
    """Return a ZIP with these files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()


PDF = b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n"
"""The structure of a PDF."""
NOTES, NOTES_HASH = b"Notes", "8a7525b1492fb84833f5c4a69b30f4bfbb134f9b666b61a2c1872d63d234c085"
"""A plain text, and its SHA-256."""
