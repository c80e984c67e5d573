"""How many rows a file has come to while it is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """Rows written so far, for whoever wants to say so."""

    rows: int = 0
