"""Encode JSON in one canonical form, compute hashes (SHA-256), and derive random seeds from values.

Equal values always give equal bytes: the encoding sorts the keys and omits spaces. The encoding sorts the
keys and omits spaces.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

Json = Any
"""A value that `json.dumps` accepts and that is equal after reading it back."""

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def canonical_json(value: Json) -> str:
    """Return a JSON value in canonical form: sorted keys, no spaces, ASCII."""
    return _encode(value)


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical_hash(value: Json) -> str:
    """Return the SHA-256 in hex of a JSON value's canonical text."""
    return text_hash(canonical_json(value))


def derived_seed(*parts: object) -> int:
    """Return a seed of 63 bits that depends only on the values `parts`."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
