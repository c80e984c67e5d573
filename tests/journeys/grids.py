"""Create a study with one condition in a world on a grid, for browser tests."""

from __future__ import annotations

from pathlib import Path

from tests.journeys.person import Managed, enter_loaded, new_slug

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
coplayer = "{coplayer}"
teammates = 1
shown = "drawn"
{more}
[[items]]
key = "i0"
measure = "M0"
text = "Item."
"""


def grid(stack: Managed, folder: Path, settings: str, coplayer: str = "stay") -> str:
    """Create a study with one condition on a grid, and return its slug."""
    file, slug = write_grid(folder, settings, coplayer)
    stack.manage("load_study", str(file))
    return slug


def enter_grid(stack: Managed, folder: Path, settings: str, coplayer: str = "stay", more: str = "") -> str:
    """Create a study with a grid, let a participant enter it, and return the participant's address."""
    return enter_loaded(stack, *write_grid(folder, settings, coplayer, more))[0]


def write_grid(folder: Path, settings: str, coplayer: str = "stay", more: str = "") -> tuple[Path, str]:
    """Write the file of a study with one grid. `more` are further lines of its condition. Return the file and
    the study's slug."""
    file, slug = folder / "grid.toml", new_slug()
    file.write_text(GRID.format(slug=slug, settings=settings, coplayer=coplayer, more=more))
    return file, slug
