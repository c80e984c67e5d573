"""Which picture stands for an ingredient or a dish. Plain Python."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parent / "static/worlds/cuisine/pictures.svg"
NONE = "plate"
"""Stands for what there is no picture of: things of a catalogue of one's own."""


def icon(item: str) -> str:
    """The name of the picture of an item."""
    return item if item in drawn() else NONE


@cache
def drawn() -> frozenset[str]:
    """The names of all pictures."""
    return frozenset(re.findall(r'<symbol id="([A-Za-z]+)"', _FILE.read_text("utf-8")))
