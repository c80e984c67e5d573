"""The Overcooked grids' line in the registry: everything that they have."""

from __future__ import annotations

from typing import Any

from kitchen.contract.agent import Adviser, Agent
from kitchen.contract.bench import Ground
from kitchen.contract.canvas import Canvas
from kitchen.contract.kit import Practice, WorldKit
from kitchen.contract.page import Page
from kitchen.contract.recordings import Recordings
from kitchen.contract.skills import Skills
from kitchen.contract.world import World


def _rules() -> type[World]:
    from kitchen.worlds.overcooked.world import Overcooked

    return Overcooked


def _page() -> Page:
    from kitchen.worlds.overcooked.page import PAGE

    return PAGE


def _greedy() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.greedy import Greedy

    return Greedy


def _grid_planner() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.planner import Planner

    return Planner


def _random_walk() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.simple import RandomWalk

    return RandomWalk


def _script() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.simple import Script

    return Script


def _stay() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.simple import Stay

    return Stay


def _adviser() -> Adviser:
    from kitchen.worlds.overcooked.adviser import ADVISER

    return ADVISER


def _skills() -> Skills:
    from kitchen.worlds.overcooked.skilled.skills import SKILLS

    return SKILLS


def _bench() -> Ground:
    from kitchen.worlds.overcooked.bench.pairings import PAIRINGS

    return PAIRINGS


def _recordings() -> Recordings[Any]:
    from kitchen.worlds.overcooked.traces import TRACES

    return TRACES


def _own_layout() -> Canvas:
    from kitchen.worlds.overcooked.canvas import OWN_LAYOUT

    return OWN_LAYOUT


KIT = WorldKit(
    rules=_rules,
    page=_page,
    coplayers={
        "greedy": _greedy,
        "grid_planner": _grid_planner,
        "random_walk": _random_walk,
        "script": _script,
        "stay": _stay,
    },
    adviser=_adviser,
    skills=_skills,
    practice=Practice(
        settings={"layout": "cramped_room", "ticks": 200}, coplayer="stay", teammates=1, until={"soups": 1}
    ),
    steps="ticks",
    bench=_bench,
    recordings=_recordings,
    canvases={"own_layout": _own_layout},
)
"""Practice is the smallest grid, beside somebody who leaves all to do, until one soup is delivered."""
