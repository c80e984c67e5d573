"""What goes into the cache is JSON: whoever can write there can lie, and run nothing. Plain Python."""

from __future__ import annotations

import json
from typing import Any


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
