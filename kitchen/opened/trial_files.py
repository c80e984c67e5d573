"""Read recorded games from files of other programs: tables (CSV) and objects of lists (JSON).

The files come from outside. Nothing in them is executed: no pickle is read, and formulas are only texts. A
table is read line by line within limits of bytes, columns and rows, so that a file of any size needs little
memory. Every game is compared with the rules (`TrialFormat`); one that differs is refused with the first
difference, and the others are read on.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kitchen.contract.data_limits import GZIP, DataLimitError, read_json_file
from kitchen.contract.recorded_trial import RecordedTrial, TrialError, TrialFormat, TrialOptions
from kitchen.contract.world import Json
from kitchen.registry.world_registry import trial_formats

MAX_FILE_BYTES = 256 * 2**20
"""Maximum bytes of a table, after it is unpacked."""
MAX_LINE_BYTES = 2**20
MAX_CELL = 100_000
"""Maximum characters of a cell. A state of a crowded kitchen has about 3,000."""
MAX_COLUMNS = 100
MAX_ROWS = 2_001
"""Maximum number of rows of one game."""
MAX_GAMES = 10_000
PICKLE = (b"\x80", b"(lp", b"ccopy_reg", b"c__builtin__")
"""The first bytes of pickles, which are never read."""


class TrialFileError(ValueError):
    """Raised if a file has no games that can be read. The message is one line."""


class ReadTrial(NamedTuple):
    """The result of reading one game: the game, or why it is refused."""

    name: str
    found: RecordedTrial | None
    refusal: str = ""


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_trial_file(path: Path, options: TrialOptions) -> Iterator[ReadTrial]:
    """Yield every game of a file, read or refused. The file may be compressed with gzip.

    Raises TrialFileError if it is too large, damaged, or of no known form, and SettingsError if the options
    are wrong. Games that were read before the error remain good.
    """
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise TrialFileError(f"it has {size // 2**20} MiB, and {MAX_FILE_BYTES // 2**20} are read")
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        packed = head.startswith(GZIP)
        begins = gzip.GzipFile(fileobj=file).peek(64)[:64] if packed else file.read(64)
        file.seek(0)
        if begins.startswith(PICKLE):
            raise TrialFileError("it is a pickle, which can run programs, and is not read. Convert it to CSV")
        try:
            if begins.lstrip().startswith((b"{", b"[")):
                yield from _read_object(file.read(), options)
            else:
                opened: BinaryIO = gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[assignment]
                yield from _read_table(opened, options)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise TrialFileError("it is damaged: its gzip data cannot be unpacked") from None


def _read_object(data: bytes, options: TrialOptions) -> Iterator[ReadTrial]:
    try:
        _, content = read_json_file(data)
    except DataLimitError as error:
        raise TrialFileError(f"it {error}") from None
    except ValueError:
        raise TrialFileError("it is not JSON") from None
    if not isinstance(content, dict):
        raise TrialFileError("it is no JSON object")
    yield from read_object(content, options)


def read_object(content: Mapping[str, Json], options: TrialOptions) -> Iterator[ReadTrial]:
    """Yield every game of a JSON object of lists, read or refused. Raises TrialFileError for another
    object."""
    form = _format(options)
    try:
        for number, found in enumerate(form.read_episodes(content, options)):
            if isinstance(found, RecordedTrial):
                yield ReadTrial(found.trial, found)
            else:
                yield ReadTrial(str(number), None, str(found))
    except TrialError as error:
        raise TrialFileError(str(error)) from None


def _format(options: TrialOptions) -> TrialFormat:
    known = trial_formats()
    form = next(iter(known.values()), None)
    if form is None:
        raise TrialFileError("no world has a form of games of its own")
    form.check(options)
    return form


def _read_table(file: BinaryIO, options: TrialOptions) -> Iterator[ReadTrial]:
    """Yield the games of a table, whose rows lie together by game."""
    form = _format(options)
    rows = _rows(csv.reader(_lines(file), strict=True), form)
    seen: set[str] = set()
    for name, some in groupby(rows, key=lambda row: row[form.key]):
        if name in seen:
            yield ReadTrial(_short(name), None, "its rows are not together in the file")
            continue
        seen.add(name)
        if len(seen) > MAX_GAMES:
            raise TrialFileError(f"it has more than {MAX_GAMES:,} games")
        yield _read_game(name, some, form, options)
    if not seen:
        raise TrialFileError("it has no game: no row comes after the names of the columns")


def _read_game(
    name: str, rows: Iterable[Mapping[str, str]], form: TrialFormat, options: TrialOptions
) -> ReadTrial:
    kept: list[Mapping[str, str]] = []
    count = 0
    for row in rows:
        count += 1
        if count <= MAX_ROWS:
            kept.append(row)
    if count > MAX_ROWS:
        return ReadTrial(_short(name), None, f"it has {count:,} rows, and {MAX_ROWS:,} fit")
    try:
        return ReadTrial(_short(name), form.read_rows(kept, options))
    except TrialError as error:
        return ReadTrial(_short(name), None, str(error))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        return ReadTrial(_short(name), None, f"it cannot be read: {str(error)[:120]}")


def _short(name: str) -> str:
    return name if len(name) <= 120 else f"{name[:119]}…"


def _rows(reader: Iterator[Sequence[str]], form: TrialFormat) -> Iterator[Mapping[str, str]]:
    try:
        names = next(reader, [])
        if len(names) > MAX_COLUMNS:
            raise TrialFileError(f"it has {len(names):,} columns, and {MAX_COLUMNS} are read")
        needed = ("state", "joint_action", "reward", "layout", "layout_name", form.key)
        if missing := [name for name in needed if name not in names]:
            raise TrialFileError(f"it has no column {missing[0]}")
        for number, row in enumerate(reader):
            if len(row) != len(names):
                raise TrialFileError(f"row {number} has {len(row):,} cells, and the first line {len(names)}")
            if any(len(cell) > MAX_CELL for cell in row):
                raise TrialFileError(f"row {number} has a cell of more than {MAX_CELL:,} characters")
            yield dict(zip(names, row, strict=True))
    except csv.Error as error:
        raise TrialFileError(f"it is no CSV: {error}") from None


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a text, and count its bytes. Raises TrialFileError if it has too many, or if a line
    is too long."""
    size = 0
    for number in range(1, 10**9):
        line = file.readline(MAX_LINE_BYTES + 1)
        if not line:
            return
        size += len(line)
        if len(line) > MAX_LINE_BYTES:
            raise TrialFileError(f"line {number} has more than {MAX_LINE_BYTES // 2**20} MiB")
        if size > MAX_FILE_BYTES:
            raise TrialFileError(f"it has more than {MAX_FILE_BYTES // 2**20} MiB when it is unpacked")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise TrialFileError(f"line {number} is not UTF-8") from None
