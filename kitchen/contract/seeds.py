"""Seeds that follow from what they are for. Plain Python."""

from __future__ import annotations

import hashlib


def derived_seed(*parts: object) -> int:
    """A seed of 63 bits that follows from these values alone."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
