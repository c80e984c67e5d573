"""Write a JSON value in one way only, and hash it. Plain Python."""

from __future__ import annotations

import hashlib
import json
from typing import Any

Json = Any
"""A value that `json.dumps` takes and gives back equal."""

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def canonical_json(value: Json) -> str:
    """A JSON value written in one way only: sorted keys, no spaces, ASCII."""
    return _encode(value)


def text_hash(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_hash(value: Json) -> str:
    """SHA-256 in hex of a JSON value's canonical text."""
    return text_hash(canonical_json(value))
