"""Make files that no page may accept: bombs, deep and wide values, wrong types, and broken archives."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from functools import cache

HEAD = b'{"kind": "brigade episode", "format": 1, '
VALUES = 15_000_000
ZEROS = 256 * 2**20


@cache
def bomb() -> bytes:
    """Return 256 kB that unpack to 256 MB."""
    return gzip.compress(bytes(ZEROS), 1)


@cache
def wide() -> bytes:
    """Return 30 kB that unpack to 15 million values."""
    return gzip.compress(b"[" + b"1," * VALUES + b"1]")


@cache
def many_keys() -> bytes:
    """Return an object with half a million names."""
    return gzip.compress(json.dumps(dict.fromkeys(map(str, range(500_000)))).encode())


@cache
def bomb_in_bomb() -> bytes:
    """Return a packed file in a packed file."""
    return gzip.compress(bomb())


def deep() -> bytes:
    """Return a list that is nested a hundred thousand times."""
    return gzip.compress(b"[" * 100_000)


def deep_object() -> bytes:
    """Return an object that is nested a hundred times."""
    return b'{"a":' * 100 + b"1" + b"}" * 100


def cut_off() -> bytes:
    """Return an archive that ends in the middle."""
    return gzip.compress(HEAD + b'"steps": []}')[:-20]


def many_archives() -> bytes:
    """Return a thousand archives one after another."""
    return gzip.compress(b" ") * 1000


def large_number() -> bytes:
    """Return a file with a number of a hundred thousand digits."""
    return HEAD + b'"step": ' + b"9" * 100_000 + b"}"


HOSTILE_FILES: Mapping[str, Callable[[], bytes]] = {
    "bomb": bomb,
    "wide": wide,
    "many keys": many_keys,
    "bomb in a bomb": bomb_in_bomb,
    "deep": deep,
    "deep object": deep_object,
    "cut off": cut_off,
    "many archives": many_archives,
    "large number": large_number,
    "not a number": lambda: HEAD + b'"a": NaN}',
    "wrong types": lambda: HEAD + b'"episode": 7, "seats": "x", "steps": {"a": [null]}}',
    "wrong world": lambda: HEAD + b'"episode": {"world": "../../etc/passwd", "seed": []}, "steps": []}',
    "a list": lambda: b"[]",
    "pickle": lambda: b"cos\nsystem\n(S'true'\ntR.",
    "picture": lambda: b"\x89PNG\r\n\x1a\n" + bytes(1000),
    "page": lambda: b"<!DOCTYPE html><script>alert(1)</script>",
    "no text": lambda: b"\xff\xfe\x00\xd8" * 100,
    "nothing": lambda: b"",
}
"""Hostile files by name."""
