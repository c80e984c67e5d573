"""Make texts and JSON storable in the database and in the cache. No Django.

PostgreSQL stores no NUL character, and no database stores half of a surrogate pair. A model's answer may
contain both. The cache holds JSON only: anybody who can write to it can forge values but not run code.
"""

from __future__ import annotations

import json
from typing import Any

from kitchen.contract.world import Json


def storable_text(text: str) -> str:
    """Return the text without characters that a database cannot store."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()


def storable_json(value: Json) -> Json:
    """Return the JSON value with every text in it made storable, including keys."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {storable_text(key): storable_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(part) for part in value]
    return value


class JsonSerializer:
    """Converts JSON values to bytes and back, for Django's cache in Redis."""

    def dumps(self, value: Any) -> bytes:
        """Return the bytes of a value. Raises TypeError if JSON cannot represent it."""
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        """Return the value of these bytes. None, as for a missing value, if they are not JSON.

        An earlier version, or an attacker, may have written them.
        """
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None
