"""With what a report was computed."""

from __future__ import annotations

import platform
from importlib.metadata import version

from kitchen.registry.worlds import get_world
from study.design.blueprint import Blueprint
from study.design.preregistration import program

LIBRARIES = ("numpy", "scipy", "statsmodels", "pandas", "matplotlib")
"""On which numbers and figures rest."""


def software_of(design: Blueprint) -> list[tuple[str, str]]:
    """Name and version of the program, of Python, of what it computes with, and of the worlds' rules."""
    ours = program()
    commit = f", commit {ours['commit']}" if ours["commit"] else ""
    worlds = sorted({one.world for one in design.conditions})
    return [
        (ours["name"].capitalize(), f"{ours['version']}{commit}"),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in LIBRARIES),
        *((f"Rules of the world {name}", f"version {get_world(name).version}") for name in worlds),
    ]
