"""The layouts that come with the project, and those that a researcher has drawn."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from kitchen.contract.data_files import DataError
from kitchen.worlds.overcooked.layout import Layout, open_layout, parse_layout

LAYOUTS = Path(__file__).parent / "data" / "layouts"
CLASSIC = (
    "cramped_room",
    "asymmetric_advantages",
    "coordination_ring",
    "forced_coordination",
    "counter_circuit",
)
"""The five of the papers, in their order."""
OWN = "own"
"""The code of a layout that stands in the settings."""


def load_layouts(directory: Path = LAYOUTS) -> dict[str, Layout]:
    """Every layout of a directory by its code: the classic ones, then the others by name. DataError for the
    first thing that is wrong."""
    paths = sorted(directory.glob("*.toml"), key=lambda path: (_rank(path.stem), path.stem))
    if not paths:
        raise DataError(f"{directory}: holds no layout")
    return {path.stem: open_layout(path) for path in paths}


def _rank(code: str) -> int:
    return CLASSIC.index(code) if code in CLASSIC else len(CLASSIC)


@cache
def shipped() -> Mapping[str, Layout]:
    """Those that come with the project, read once."""
    return load_layouts()


@lru_cache(maxsize=64)
def own_layout(text: str) -> Layout:
    """A layout from the text of a layout file; DataError that calls it `own_layout`."""
    return parse_layout(text, f"{OWN}_layout")
