"""Read the files in a ZIP archive from outside within limits: number, names, sizes, and how far they unpack.

Sizes are counted while a file is unpacked, so an archive that declares wrong sizes gains nothing. Nothing is
written to a disk. Imports only the standard library, because a child process reads archives for web servers.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass

from kitchen.contract.data_limits import DataLimitError

ZIP = b"PK\x03\x04"
"""The first bytes of a ZIP archive that has files."""
PIECE_BYTES = 2**18
"""Number of bytes that are unpacked and counted at once."""
LONGEST_NAME = 200
MOST_TIMES_LARGER = 200
"""A file may unpack to so many times its packed size. Texts seldom reach 20."""
SMALL_BYTES = 2**16
"""Files up to this size may unpack from fewer bytes: they do no harm."""
ENCRYPTED = 0x1
"""The bit of an entry's flags that says that it is encrypted."""
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True)
class ZipLimits:
    """Maximum number of files in an archive, and maximum bytes of all of them, unpacked."""

    files: int
    bytes: int


def read_zip(data: bytes, limits: ZipLimits) -> dict[str, bytes]:
    """Return the files of an archive by name, in its order. Names use `/` and have no folder that holds
    everything: it is left out. Folders are no files.

    Raises DataLimitError, with words that follow the name of the archive, if anything is wrong with it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = _unpacked(archive, limits)
    except DataLimitError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OSError) as error:
        raise DataLimitError("is not a ZIP archive, or is damaged") from error
    except (NotImplementedError, RuntimeError) as error:
        raise DataLimitError("is packed in a way that is not read here") from error
    return _without_common_folder(files)


def _unpacked(archive: zipfile.ZipFile, limits: ZipLimits) -> dict[str, bytes]:
    entries = archive.infolist()
    if len(entries) > limits.files:
        raise DataLimitError(f"has more than {limits.files} files")
    files, left = dict[str, bytes](), limits.bytes
    for entry in entries:
        _check_entry(entry)
        if entry.is_dir():
            continue
        if entry.filename in files:
            raise DataLimitError(f"has two files with the name {entry.filename}")
        files[entry.filename] = _content(archive, entry, left, limits)
        left -= len(files[entry.filename])
    return files


def _check_entry(entry: zipfile.ZipInfo) -> None:
    """Raise DataLimitError if an entry has an unsafe name, is a link, or is packed in another way."""
    name = entry.orig_filename
    if why := name_problem(name):
        raise DataLimitError(f"has a file with the name {_shown(name)}, which {why}")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise DataLimitError(f"has a link or a device, {name}, instead of a file")
    if entry.flag_bits & ENCRYPTED:
        raise DataLimitError(f"has a file with a password, {name}")
    if entry.compress_type not in PACKINGS:
        raise DataLimitError(f"has a file, {name}, that is packed in a way that is not read here")


def name_problem(name: str) -> str:
    """Return what is wrong with the name of a file in an archive. Return an empty string if it is safe."""
    parts = name.removesuffix("/").split("/")
    if len(name) > LONGEST_NAME:
        return f"has more than {LONGEST_NAME} characters"
    if not name.isprintable() or "\\" in name or ":" in name:
        return "has a character that names here cannot have"
    if not all(parts) or {".", ".."} & set(parts):
        return "leads out of the archive"
    return ""


def _shown(name: str) -> str:
    return ascii(name[:60])


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int, limits: ZipLimits) -> bytes:
    most = max(SMALL_BYTES, entry.compress_size * MOST_TIMES_LARGER)
    pieces, size = list[bytes](), 0
    with archive.open(entry) as file:
        while piece := file.read(PIECE_BYTES):
            size += len(piece)
            if size > left:
                raise DataLimitError(f"has more than {limits.bytes // 2**20} MiB when it is unpacked")
            if size > most:
                raise DataLimitError(f"has a file, {entry.filename}, that is packed far too tightly")
            pieces.append(piece)
    return b"".join(pieces)


def _without_common_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files without the folder that all of them are in, if there is one."""
    folders = {name.partition("/")[0] if "/" in name else "" for name in files}
    if len(folders) != 1 or "" in folders:
        return files
    return {name.partition("/")[2]: data for name, data in files.items()}
