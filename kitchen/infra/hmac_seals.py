"""Sign values with the installation's secret key (HMAC), and check such signatures, which are called seals.

Somebody who can change the database but does not know the key cannot make a valid seal. A seal does not
depend on how a database formats JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.utils.crypto import constant_time_compare, salted_hmac


def make_seal(purpose: str, value: Any) -> str:
    """Return the signature of this value as 64 hex digits. The same value has another signature for
    another `purpose`."""
    return salted_hmac(f"brigade.seal.{purpose}", canonical_text(value), algorithm="sha256").hexdigest()


def seal_is_valid(seal: str, purpose: str, value: Any) -> bool:
    """Return whether `seal` is this installation's signature of this value for this purpose."""
    return constant_time_compare(seal, make_seal(purpose, value))


def canonical_text(value: Any) -> str:
    """Return the value as JSON text in a standard form. The text is the same before and after the value was
    stored in a database."""
    return _encode(_decode(_encode(value)))


def plain_json(value: Any) -> Any:
    """Convert a time or a decimal number from a database column to text. Return other values unchanged."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value.normalize()) if isinstance(value, Decimal) else value


def column_values(row: Any, names: Iterable[str]) -> list[Any]:
    """Return the values of these columns of a row as JSON values, so that they can be signed."""
    return [plain_json(getattr(row, name)) for name in names]


def _number(text: str) -> float | int:
    """Return the number in a text, as an int if it is whole. An example is 1e+16, which PostgreSQL writes as
    digits with all zeros."""
    number = float(text)
    return int(number) if number.is_integer() else number


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_decode = json.JSONDecoder(parse_float=_number).decode
