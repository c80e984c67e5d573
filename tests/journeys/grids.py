"""A study with one grid."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.journeys.person import Managed

GRID = """slug = "{slug}"
title = "Grid"
seed = 5
[world]
kind = "overcooked"
settings = {{ layout = "cramped_room", {settings} }}
[parts.consent]
text = "I agree."
[[conditions]]
key = "grid"
name = "grid"
label = "Team grid"
coplayer = "stay"
teammates = 1
shown = "drawn"
[[items]]
key = "i0"
measure = "M0"
text = "Item."
"""


def grid(stack: Managed, folder: Path, settings: str) -> str:
    """A study with one grid; its name in the address."""
    file, slug = folder / "grid.toml", f"journey-{secrets.token_hex(3)}"
    file.write_text(GRID.format(slug=slug, settings=settings))
    stack.manage("load_study", str(file))
    return slug
