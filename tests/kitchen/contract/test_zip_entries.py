"""ZIP archives from outside are read within limits."""

from __future__ import annotations

import io
import stat
import zipfile

import pytest

from kitchen.contract.data_limits import DataLimitError
from kitchen.contract.zip_entries import ZipLimits, read_zip

LIMITS = ZipLimits(files=3, bytes=2**20)


def packed(*files: tuple[str, bytes], mode: int = 0, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name)
            entry.external_attr, entry.compress_type = mode << 16, packing
            archive.writestr(entry, data)
    return out.getvalue()


def test_files_are_read_without_the_folder_that_holds_all_of_them() -> None:
    files = {"a.toml": b"1", "media/b.png": b"2"}
    assert read_zip(packed(*files.items()), LIMITS) == files
    inside = packed(("study/", b""), *((f"study/{name}", data) for name, data in files.items()))
    assert read_zip(inside, LIMITS) == files


def test_a_file_that_is_a_bomb_is_refused_however_large_it_says_it_is() -> None:
    whole = packed(("a", b"\0" * 2**20))
    assert len(whole) < 2000
    with pytest.raises(DataLimitError, match="far too tightly"):
        read_zip(whole, LIMITS)
    lying = whole.replace((2**20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(DataLimitError):
        read_zip(lying, LIMITS)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (packed(*((str(number), b"") for number in range(4))), "more than 3 files"),
        (packed(("a", b"x" * (2**20 + 1)), packing=zipfile.ZIP_STORED), "more than 1 MiB"),
        (packed(("../a", b"1")), "leads out of the archive"),
        (packed(("/etc/a", b"1")), "leads out of the archive"),
        (packed(("a//b", b"1")), "leads out of the archive"),
        (packed(("c:a", b"1")), "cannot have"),
        (packed(("a\\..\\b", b"1")), "cannot have"),
        (packed(("a\x1bb", b"1")), "cannot have"),
        (packed(("a" * 201, b"1")), "more than 200 characters"),
        (packed(("a", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777), "a link"),
        (packed(("a", b"1"), packing=zipfile.ZIP_BZIP2), "packed in a way"),
        (packed(("a", b"12345")).replace(b"\x01\x00\x00\x00\x00\x00", b"", 1), "damaged"),
        (b"PK\x03\x04 and no more", "damaged"),
    ],
)
def test_anything_unsafe_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(DataLimitError, match=words):
        read_zip(data, LIMITS)


def test_two_files_of_one_name_and_files_with_a_password_are_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = packed(("a", b"1"), ("a", b"2"))
    with pytest.raises(DataLimitError, match="two files with the name a"):
        read_zip(twice, LIMITS)
    locked = bytearray(packed(("a", b"1")))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + place] |= 1
    with pytest.raises(DataLimitError, match="password"):
        read_zip(bytes(locked), LIMITS)
