"""Read JSON, TOML and gzip data within limits: bytes, depth, and number of values.

The limits are checked before or while the data are parsed, so hostile data cost little. An error says which
limit was exceeded. Imports only the standard library, because a child process does this for web servers
(`kitchen.infra.foreign_files`).
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from kitchen.contract.canonical_json import Json

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

MAX_DEPTH = 50
"""Maximum nesting of lists and tables; a study's document has about ten levels."""
MAX_VALUES = 1_000_000
"""Maximum number of values in a JSON text. An episode of two people with 2,000 ticks has about 200,000."""
MAX_VALUES_IN_LINES = 5_000_000
"""Maximum number of values in a file with a JSON text on each line."""
MAX_TOML_CHARACTERS = 500_000
"""Maximum length of a TOML text. It also limits the number of values."""
MAX_FILE_BYTES = 32 * 2**20
"""Maximum bytes of a file, after it is unpacked."""
PIECE_BYTES = 2**20
"""Number of bytes that are unpacked and counted at once."""
TOO_MANY_VALUES = f"has more than {MAX_VALUES:,} values"
TOO_LARGE = "has more than {most} MiB"
GZIP = b"\x1f\x8b"
"""The first bytes of gzip data."""


class DataLimitError(ValueError):
    """Raised if data exceed a limit. The message is a sentence about the data without its subject, such as
    `has more than 32 MiB`."""


class TooDeepError(DataLimitError):
    """Raised if lists or tables are nested more than `MAX_DEPTH` levels deep."""

    def __init__(self, message: str = f"is nested deeper than {MAX_DEPTH} levels") -> None:
        super().__init__(message)


def read_json(text: str) -> Json:
    """Return the value of a JSON text. Raises ValueError if the text is not JSON, and DataLimitError if it
    has too many values or is nested too deeply."""
    if more_json_values_than(MAX_VALUES, text):
        raise DataLimitError(TOO_MANY_VALUES)
    return _json_value(text)


def read_json_file(data: bytes) -> tuple[bytes, Json]:
    """Return the bytes of a JSON file, unpacked if they are gzip data, and their value. Raises DataLimitError
    as soon as a limit is exceeded, ValueError if the file is not JSON, and `zlib.error` if it is damaged."""
    counter, pieces, size = JsonValueCounter(), list[bytes](), 0
    for piece in unpacked_pieces(data):
        size += len(piece)
        counter.add(piece)
        if counter.values > MAX_VALUES:
            raise DataLimitError(TOO_MANY_VALUES)
        if size > MAX_FILE_BYTES:
            raise DataLimitError(TOO_LARGE.format(most=MAX_FILE_BYTES // 2**20))
        pieces.append(piece)
    plain = b"".join(pieces)
    return plain, _json_value(plain.decode())


def _json_value(text: str) -> Json:
    try:
        return check_depth(json.loads(text, parse_float=_finite, parse_constant=_finite))
    except RecursionError:
        raise TooDeepError from None


def more_json_values_than(most: int, text: str) -> bool:
    """Return whether a JSON text has more than `most` values, without parsing it."""
    if text.count(",") + text.count("[") + text.count("{") < most:
        return False
    counter = JsonValueCounter()
    counter.add(text.encode("utf-8", "surrogatepass"))
    return counter.values > most


@dataclass(slots=True)
class JsonValueCounter:
    """Counts the values of a JSON text in UTF-8 that arrives in pieces. Empty lists and tables count
    twice."""

    values: int = 1
    in_string: bool = False
    rest: bytes = b""
    """The backslash at the end of the last piece, if it belongs to the character that comes next."""

    def add(self, piece: bytes) -> None:
        """Count the values that begin in the next piece of the text. Before each value, except the first,
        is a comma or a bracket outside of strings."""
        piece = self.rest + piece
        self.rest = b"\\" if (len(piece) - len(piece.rstrip(b"\\"))) % 2 else b""
        whole = piece[: len(piece) - len(self.rest)]
        parts = whole.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[self.in_string :: 2])
        self.values += sum(map(outside.count, (b",", b"[", b"{")))
        self.in_string ^= len(parts) % 2 == 0


def unpacked_pieces(data: bytes) -> Iterator[bytes]:
    """Decompress gzip data, and yield the result in pieces of at most `PIECE_BYTES` bytes. Other data are
    yielded unchanged. Raises `zlib.error` if the data are damaged."""
    if not data.startswith(GZIP):
        yield data
        return
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    while data and not unpacker.eof:
        yield unpacker.decompress(data, PIECE_BYTES)
        data = unpacker.unconsumed_tail


def _finite(text: str) -> float:
    """Convert a text to a number that JSON allows. Raises ValueError for NaN and for numbers that are too
    large; Python's own parser accepts both."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number


def check_depth(value: Json) -> Json:
    """Return the value unchanged. Raises TooDeepError if it is nested too deeply."""
    level = [value]
    for _ in range(MAX_DEPTH):
        if not level:
            return value
        level = [part for one in level for part in _parts(one)]
    raise TooDeepError


def _parts(value: Json) -> list[Json]:
    """Return the elements of a list, or the values of a table. Return an empty list for any other value."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def json_object_in_text(text: str) -> dict[str, Json] | None:
    """Return the JSON object in a text, from its first `{` to its last `}`. None if there is no object."""
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    try:
        found = read_json(text[start : end + 1])
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


_STRING = re.compile(r"""(?<!\\)"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'""")
"""A string on one line. Its first quotation mark is not escaped: otherwise, the matching time could grow with
the square of the length."""
_DEEP_KEY = re.compile(
    rf"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]++(?:[ \t]*+\.[ \t]*+[A-Za-z0-9_-]++){{{MAX_DEPTH}}}"
)
"""More than `MAX_DEPTH` keys joined by dots, after each string was replaced by a letter. The matching time
grows with the length of the text."""


def read_toml_text(text: str) -> dict[str, Json]:
    """Return the content of a TOML text. Raises ValueError if the text is not TOML, and DataLimitError if it
    is too long or nested too deeply.

    Texts with very long dotted keys (`a.a.a = 1`) are refused before they are parsed. The parser would need
    minutes for them.
    """
    if len(text) > MAX_TOML_CHARACTERS:
        raise DataLimitError(f"has more than {MAX_TOML_CHARACTERS:,} characters")
    if _DEEP_KEY.search(_STRING.sub("s", text)):
        raise TooDeepError
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None
    check_depth(content)
    return content


def check_size(data: bytes) -> bytes:
    """Return the data unchanged. Raises DataLimitError if they have more than `MAX_FILE_BYTES` bytes."""
    if len(data) > MAX_FILE_BYTES:
        raise DataLimitError(TOO_LARGE.format(most=MAX_FILE_BYTES // 2**20))
    return data


def read_bytes(path: Path) -> bytes:
    """Return the content of a file. Raises OSError, and DataLimitError if it has more than `MAX_FILE_BYTES`
    bytes."""
    with path.open("rb") as file:
        return check_size(file.read(MAX_FILE_BYTES + 1))


def read_text(path: Path) -> str:
    """Return the content of a file in UTF-8. Raises OSError, UnicodeDecodeError, and DataLimitError if the
    file is too large."""
    return read_bytes(path).decode("utf-8")


# Where foreign files are read

Runner = Callable[..., Any]
"""A function that calls another one with its arguments, and returns the result."""


def _call(read: Callable[[*Ts], T], *arguments: *Ts) -> T:
    return read(*arguments)


_runners: ContextVar[tuple[Runner, Runner]] = ContextVar("runners", default=(_call, _call))


@contextmanager
def reading_with(reader: Runner, replayer: Runner) -> Iterator[None]:
    """Let `reader` do the calls of `read_foreign` within the block, for example in another process, and
    `replayer` those of `replay_foreign`."""
    token = _runners.set((reader, replayer))
    try:
        yield
    finally:
        _runners.reset(token)


def read_foreign(read: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Return `read(*arguments)`, which parses data from outside. Pages of staff run it in a child process:
    they are within `foreign_files.reading_in_pool`. Raises the errors of `read`, and DataLimitError."""
    reader, _ = _runners.get()
    result: T = reader(read, *arguments)
    return result


def replay_foreign(function: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Return `function(*arguments)`, which replays an episode from outside. Pages of staff run it in a child
    process, which has more time than for `read_foreign`. Raises the errors of `function`, and
    DataLimitError."""
    _, replayer = _runners.get()
    result: T = replayer(function, *arguments)
    return result
