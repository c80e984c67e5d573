"""The demo study, which ships with the program: where its file is, and what its parts say."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

import study

DEMO = Path(study.__file__).parent / "data" / "demo.toml"
DEMO_SLUG = "demo"
READY = {
    "overcooked": ("Overcooked, five layouts, beside greedy, planner and ProAgent", "overcooked.toml"),
    "two_worlds": ("Central dispatcher and ProAgent in the kitchen and in the grids", "two_worlds.toml"),
    "demo": ("Orders in a kitchen, five teams: the demo study", "demo.toml"),
}
"""Designs to begin with: name, in words, and file."""
OVERCOOKED = DEMO.with_name("overcooked.toml")
"""A ready study in the Overcooked grids."""
TWO_WORLDS = DEMO.with_name("two_worlds.toml")
"""A ready study of two kinds of agents in both worlds."""


@lru_cache
def demo_words() -> dict[str, str]:
    """What the parts say, by kind."""
    parts = tomllib.loads(DEMO.read_text(encoding="utf-8"))["parts"]
    return {kind: text for kind, part in parts.items() if (text := part.get("text", "").strip())}
