"""Make texts and JSON values safe to store in the database and in the cache.

Databases refuse some characters that a language model may write: NUL and lone surrogates. The cache holds
only JSON, never pickled objects. Pickled objects would let anybody who can write to the cache run code.
Imports no Django.
"""

from __future__ import annotations

import json
from typing import Any

from kitchen.contract.world import Json


def storable_text(text: str) -> str:
    """Return the text without characters that a database cannot store."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()


def storable_json(value: Json) -> Json:
    """Return the JSON value without characters that a database cannot store, in all its texts and keys."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {storable_text(key): storable_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(part) for part in value]
    return value


class JsonSerializer:
    """Converts values to JSON bytes and back, for Django's cache in Redis."""

    def dumps(self, value: Any) -> bytes:
        """Return the value as JSON bytes. Raises TypeError if JSON cannot represent it."""
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        """Return the value of these JSON bytes. If the bytes are not JSON, return None, as if no value
        were stored."""
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None
