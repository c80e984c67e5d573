"""Locate the TOML files of the ready-made studies, and read the page texts of one of them, the demo study.

Researchers can begin a new study with a copy of a ready-made one.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

import study

DEMO_FILE = Path(study.__file__).parent / "data" / "demo.toml"
DEMO_SLUG = "demo"
READY_STUDIES = {
    "overcooked": ("Overcooked, five layouts, beside greedy, planner and ProAgent", "overcooked.toml"),
    "collab_overcooked": (
        "Collab-Overcooked: chef and assistant in turn, beside the stand-in",
        "collab_overcooked.toml",
    ),
    "lead_or_follow": (
        "Lead or follow in a kitchen: a person, a program or nobody leads",
        "lead_or_follow.toml",
    ),
    "lead_or_follow_grids": (
        "Lead or follow in the grids: a person, a program or nobody leads",
        "lead_or_follow_grids.toml",
    ),
    "organisation_and_leader": (
        "Organisation and leader in a kitchen: star or chain, a person or a program leads",
        "organisation_and_leader.toml",
    ),
    "learned_partners": (
        "Overcooked: beside greedy, a planner, a trained network (PPO) and a recorded game",
        "learned_partners.toml",
    ),
    "two_worlds": ("Central dispatcher and ProAgent in the kitchen and in the grids", "two_worlds.toml"),
    "blocks_voice": (
        "Blocks: beside MindAgent's dispatcher, with and without your voice",
        "blocks_voice.toml",
    ),
    "blocks_plan": ("Blocks: build together; both, you or the other know the plan", "blocks_plan.toml"),
    "demo": ("Orders in a kitchen, five teams: the demo study", "demo.toml"),
}
"""Ready designs: slug → (description, file name)."""
OVERCOOKED = DEMO_FILE.with_name("overcooked.toml")
"""A ready study in the Overcooked grids."""
TWO_WORLDS = DEMO_FILE.with_name("two_worlds.toml")
"""A ready study of two kinds of agents in both worlds."""


@lru_cache
def demo_part_texts() -> dict[str, str]:
    """Return the demo study's non-empty texts by kind of part, such as `consent` or `guide`."""
    parts = tomllib.loads(DEMO_FILE.read_text(encoding="utf-8"))["parts"]
    return {kind: text for kind, part in parts.items() if (text := part.get("text", "").strip())}
