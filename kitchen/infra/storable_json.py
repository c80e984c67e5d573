"""Make texts and JSON storable in the database and in the cache. Plain Python.

PostgreSQL stores no NUL character, and no database stores half of a surrogate pair. A model's answer may
contain both. The cache holds JSON only: somebody who can write to it can forge values but not run code.
"""

from __future__ import annotations

import json
from typing import Any

from kitchen.contract.world import Json


def storable_text(text: str) -> str:
    """The text without what a database cannot store."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()


def storable_json(value: Json) -> Json:
    """A JSON value with every text in it made `storable_text`, keys too."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {storable_text(key): storable_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(part) for part in value]
    return value


class JsonSerializer:
    """Turns values of JSON into bytes and back, for Django's cache in Redis."""

    def dumps(self, value: Any) -> bytes:
        """The bytes of a value; TypeError for one that JSON has not."""
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        """The value of these bytes; None, as if nothing were there, for what is no JSON: an earlier version
        may have left it, or a stranger."""
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None
