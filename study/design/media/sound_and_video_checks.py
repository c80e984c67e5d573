"""Check that a file is one sound or video from its first byte to its last.

MP3: ISO/IEC 11172-3 with ID3 tags. Ogg: RFC 3533. WAV: RIFF. MP4 and M4A: ISO/IEC 14496-12. WebM: the
EBML elements of RFC 8794. The checks follow the file's structure, and decode nothing. No Django is imported.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from study.design.media.media_errors import MediaError, refuse_rest, refuse_type

FEWEST_FRAMES = 3
"""The fewest MPEG frames that count as a sound."""
BITRATES = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Kilobits a second of layer III, by version: 3 is MPEG 1, and 2 also stands for MPEG 2.5."""
RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
"""Samples a second, by version."""


def check_mp3(data: bytes) -> None:
    """Raise MediaError if the file is not an MP3: tags, frames, and tags again."""
    here = 0
    if data[:3] == b"ID3":
        here = 10 + sum((data[6 + at] & 0x7F) << (21 - 7 * at) for at in range(4)) if len(data) > 10 else 0
        while here < len(data) and data[here] == 0:
            here += 1
    frames = 0
    while length := _mp3_frame(data, here):
        frames, here = frames + 1, here + length
    if frames < FEWEST_FRAMES:
        refuse_type("an MP3 sound")
    rest = data[here:].strip(b"\0")
    if rest and rest[:3] != b"TAG" and rest[:8] not in {b"APETAGEX", b"LYRICSBE"}:
        refuse_rest("the sound")
    if len(rest) > 65_536:
        refuse_rest("the sound")


def _mp3_frame(data: bytes, here: int) -> int:
    """Return the length of the MPEG frame of layer III that begins here. Return 0 if there is none."""
    if len(data) < here + 4 or data[here] != 0xFF or data[here + 1] & 0xE6 != 0xE2:
        return 0
    version, rate, kilobits = data[here + 1] >> 3 & 3, data[here + 2] >> 2 & 3, data[here + 2] >> 4
    if version not in RATES or rate == 3 or not 0 < kilobits < 15:
        return 0
    bits = BITRATES[3 if version == 3 else 2][kilobits] * 1000
    return (144 if version == 3 else 72) * bits // RATES[version][rate] + (data[here + 2] >> 1 & 1)


def check_ogg(data: bytes) -> None:
    """Raise MediaError if the file is not an Ogg sound whose pages fill it."""
    if data[:4] != b"OggS":
        refuse_type("an Ogg sound")
    here, first = 0, b""
    while here < len(data):
        if data[here : here + 4] != b"OggS" or len(data) < here + 27:
            refuse_rest("the sound")
        table = data[here + 27 : here + 27 + data[here + 26]]
        begin = here + 27 + data[here + 26]
        first = first or data[begin : begin + 8]
        here = begin + sum(table)
    if here != len(data):
        _cut("sound")
    if not first.startswith((b"\x01vorbis", b"OpusHead", b"\x7fFLAC", b"Speex")):
        refuse_type("an Ogg sound")


def check_wav(data: bytes) -> None:
    """Raise MediaError if the file is not a WAV sound whose chunks fill it."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        refuse_type("a WAV sound")
    here, names = 12, set[bytes]()
    while here + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, here)
        names.add(name)
        here += 8 + length + length % 2
    if not {b"fmt ", b"data"} <= names:
        refuse_type("a WAV sound")
    if here not in {len(data), len(data) + 1}:
        _cut("sound")
    (length,) = struct.unpack_from("<I", data, 4)
    if length + 8 not in {len(data), len(data) - 1, len(data) + 1}:
        refuse_rest("the sound")


BOXES = frozenset(
    [
        "ftyp",
        "moov",
        "mdat",
        "free",
        "skip",
        "wide",
        "udta",
        "meta",
        "moof",
        "mfra",
        "sidx",
        "styp",
        "pdin",
        "prft",
        "emsg",
        "uuid",
        "ssix",
        "iods",
    ]
)
"""Boxes at the top of an MP4 file."""
BRANDS = ("isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "avc1")
BRANDS_OF_SOUND = ("M4A ", "M4B ", "mp42", "isom", "iso2", "iso5", "iso6", "dash")


def check_mp4(data: bytes, *, sound: bool = False) -> None:
    """Raise MediaError if the file is not an MP4 video, or M4A sound, whose boxes fill it."""
    wanted, words = ("an M4A sound", "the sound") if sound else ("an MP4 video", "the video")
    brand = data[8:12].decode("latin-1")
    known = BRANDS_OF_SOUND if sound else (*BRANDS, "M4V ", "dash", "MSNV", "f4v ")
    if data[4:8] != b"ftyp" or brand not in known:
        refuse_type(wanted)
    names, movie, here = set[str](), b"", 0
    for box, begin, here in _mp4_boxes(data):
        if box not in BOXES:
            refuse_rest(words)
        names.add(box)
        movie += data[begin:here] if box == "moov" else b""
    if here != len(data):
        _cut(words.partition(" ")[2])
    if "moov" not in names or sound == (b"vide" in movie):
        refuse_type(wanted)


def _mp4_boxes(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each box at the top of the file, where it begins, and where it ends. A box with an
    impossible length gets the name of no box."""
    here = 0
    while here + 8 <= len(data):
        length, name = struct.unpack_from(">I4s", data, here)
        head = 8
        if length == 1 and here + 16 <= len(data):
            (length,), head = struct.unpack_from(">Q", data, here + 8), 16
        elif length == 0:
            length = len(data) - here
        if length < head:
            yield "", here, here
            return
        yield name.decode("latin-1"), here, here + length
        here += length


def check_webm(data: bytes) -> None:
    """Raise MediaError if the file is not a WebM video: a head that says `webm`, and one segment that ends
    with the file."""
    if data[:4] != b"\x1a\x45\xdf\xa3":
        refuse_type("a WebM video")
    head, here = _ebml_length(data, 4)
    if head is None or b"\x42\x82\x84webm" not in data[here : here + head]:
        refuse_type("a WebM video")
    here += head
    while here < len(data):
        name = data[here : here + 4]
        if name[:1] == b"\xec":  # an empty place
            length, here = _ebml_length(data, here + 1)
        elif name == b"\x18\x53\x80\x67":
            length, here = _ebml_length(data, here + 4)
            if length is None:  # a recording of a browser: the segment has no length
                here = _end_of_elements(data, here)
        else:
            refuse_rest("the video")
        here += length or 0
    if here != len(data):
        _cut("video")


CLUSTER = b"\x1f\x43\xb6\x75"
OF_SEGMENT = ("114d9b74", "1549a966", "1654ae6b", "1c53bb6b", "1043a770", "1254c367", "ec", "bf")
OF_CLUSTER = ("e7", "5854", "a7", "ab", "a3", "a0", "af")
ELEMENTS = frozenset(bytes.fromhex(name) for name in (*OF_SEGMENT, *OF_CLUSTER))
"""Elements of a segment, and of a cluster, which is a part of the video: RFC 9559, section 5."""


def _end_of_elements(data: bytes, here: int) -> int:
    """Return where the elements of a segment without a length end. A cluster may have no length, either."""
    while here < len(data):
        size = 9 - data[here].bit_length()  # the first byte of a name says how long the name is
        name, (length, here) = data[here : here + size], _ebml_length(data, here + size)
        if name != CLUSTER and (name not in ELEMENTS or length is None):
            refuse_rest("the video")
        here += length or 0
    return here


def _ebml_length(data: bytes, here: int) -> tuple[int | None, int]:
    """Return the length of an EBML element, and where its content begins. The length is None if it is not
    known."""
    first = data[here] if here < len(data) else 0
    if not first:
        refuse_type("a WebM video")
    size = 9 - first.bit_length()
    value = int.from_bytes(data[here : here + size], "big") & (1 << 7 * size) - 1
    return (None if value == (1 << 7 * size) - 1 else value), here + size


def _cut(what: str) -> None:
    raise MediaError(f"The end of this {what} is missing. Save it again and upload that.")
