"""Check a file that participants download: PDF, ZIP, CSV or plain text. The module imports no Django."""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib

from study.design.media.media_errors import MediaError, refuse_rest, refuse_type

MOST_UNPACKED = 200 * 2**20
"""Maximum bytes that a ZIP unpacks to."""
MOST_RATIO = 200
"""Maximum ratio of unpacked to packed bytes of a ZIP."""
MOST_ENTRIES = 1000
RUNNING = re.compile(rb"/(JavaScript|JS|Launch|EmbeddedFile|RichMedia|OpenAction)\b")
"""Names of parts of a PDF that do something when it is opened."""
_ESCAPED = re.compile(rb"#([0-9a-fA-F]{2})")
"""A letter of a PDF's name, written as a number: ISO 32000-1, section 7.3.5."""
ARCHIVES = (".zip", ".gz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".jar", ".zst")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARKUP = re.compile(r"\ufeff?\s*<(!doctype|html|script|svg|\?xml|\?php|body|head|iframe)\b", re.IGNORECASE)


def check_pdf(data: bytes) -> None:
    """Raise MediaError if the file is not a PDF, is also a ZIP, or does something when it is opened.
    Compressed parts of the PDF are not searched."""
    if not re.match(rb"%PDF-[12]\.[0-9]", data):
        refuse_type("a PDF")
    if b"PK\x05\x06" in data or b"PK\x03\x04" in data:
        raise MediaError("This file is a PDF and a ZIP at once, so it is not accepted.")
    if not data.rstrip(b"\0\r\n\t ").endswith(b"%%EOF"):
        refuse_rest("the PDF")
    names = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), data)
    if found := RUNNING.search(names):
        if found[1] == b"OpenAction" and not re.search(rb"/(JavaScript|JS|Launch)\b", names):
            return  # most of them only set the view
        raise MediaError(
            f"This PDF contains “/{found[1].decode()}”: a program, or another file. Print it to a new PDF "
            "and upload that."
        )


def check_text(data: bytes) -> None:
    """Raise MediaError if the file is not plain text in UTF-8, or is a web page."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MediaError("This text is not in UTF-8. Save it with this encoding and upload that.") from None
    if _CONTROL.search(text):
        refuse_type("plain text")
    if _MARKUP.match(text):
        raise MediaError("This file is a web page, so it is not accepted as text.")


def check_zip(data: bytes) -> None:
    """Raise MediaError if the file is not a ZIP that fills it, or if it unpacks to too much, to strange
    places, or to further archives. It is unpacked here, so that its own figures need not be believed."""
    if not data.startswith(b"PK\x03\x04"):
        refuse_type("a ZIP")
    end = data.rfind(b"PK\x05\x06")
    if end < 0 or len(data) < end + 22:
        raise MediaError("This ZIP is damaged. Pack it again and upload that.")
    if end + 22 + int.from_bytes(data[end + 20 : end + 22], "little") != len(data):
        refuse_rest("the ZIP")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_entries(archive.infolist())
            _check_unpacked(archive, len(data))
    except MediaError:
        raise
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError, OSError):
        raise MediaError("This ZIP is damaged, or packed in a way that is not read here.") from None


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    if not entries:
        raise MediaError("This ZIP is empty.")
    if len(entries) > MOST_ENTRIES:
        raise MediaError(f"This ZIP has more than {MOST_ENTRIES} files.")
    for one in entries:
        parts = one.filename.replace("\\", "/").split("/")
        if one.filename.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
            raise MediaError("This ZIP would write files outside its own folder.")
        if stat.S_ISLNK(one.external_attr >> 16):
            raise MediaError("This ZIP contains a link to another file.")
        if one.flag_bits & 1:
            raise MediaError("This ZIP has a password, so it cannot be checked.")
        if one.filename.lower().endswith(ARCHIVES):
            raise MediaError("This ZIP contains a further archive. Put its files into the ZIP itself.")


def _check_unpacked(archive: zipfile.ZipFile, packed: int) -> None:
    most, unpacked = min(MOST_UNPACKED, packed * MOST_RATIO), 0
    for one in archive.infolist():
        with archive.open(one) as file:
            while part := file.read(2**18):
                unpacked += len(part)
                if unpacked > most:
                    raise MediaError("This ZIP unpacks to far more than its own size, so it is not accepted.")
