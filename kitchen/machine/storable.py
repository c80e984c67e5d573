"""What a database can keep of texts that came from elsewhere. Plain Python.

PostgreSQL stores no NUL, and no database half of a surrogate pair: a model's answer may hold both.
"""

from __future__ import annotations

from kitchen.contract.world import Json


def printable(text: str) -> str:
    """The text without what a database cannot store."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()


def storable(value: Json) -> Json:
    """A JSON value with every text in it made `printable`, keys too."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key): storable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable(part) for part in value]
    return value
