"""CuisineWorld's line in the registry: everything that it has."""

from __future__ import annotations

from typing import Any

from kitchen.contract.agent import Adviser, Agent, Pursuer
from kitchen.contract.bench import Ground
from kitchen.contract.kit import Practice, WorldKit
from kitchen.contract.page import Page
from kitchen.contract.recordings import Recordings
from kitchen.contract.skills import Skills
from kitchen.contract.world import World


def _rules() -> type[World]:
    from kitchen.worlds.cuisine.world import CuisineWorld

    return CuisineWorld


def _page() -> Page:
    from kitchen.worlds.cuisine.page import PAGE

    return PAGE


def _dispatcher() -> type[Agent]:
    from kitchen.worlds.cuisine.dispatcher.mind import Dispatcher

    return Dispatcher


def _planner() -> type[Agent]:
    from kitchen.worlds.cuisine.planner.planner import Planner

    return Planner


def _adviser() -> Adviser:
    from kitchen.worlds.cuisine.adviser import ADVISER

    return ADVISER


def _pursuer() -> Pursuer:
    from kitchen.worlds.cuisine.pursuing import PURSUER

    return PURSUER


def _skills() -> Skills:
    from kitchen.worlds.cuisine.skills import SKILLS

    return SKILLS


def _bench() -> Ground:
    from kitchen.worlds.cuisine.bench.bench import BENCH

    return BENCH


def _recordings() -> Recordings[Any]:
    from kitchen.worlds.cuisine.recordings import TRACES

    return TRACES


KIT = WorldKit(
    rules=_rules,
    page=_page,
    coplayers={"dispatcher": _dispatcher, "planner": _planner},
    adviser=_adviser,
    pursuer=_pursuer,
    skills=_skills,
    practice=Practice(
        settings={"level": "level_0", "alpha": 2.0, "beta": 2.5, "max_steps": 20}, until={"completed": 1}
    ),
    steps="max_steps",
    bench=_bench,
    recordings=_recordings,
)
"""Practice is the easiest level, alone, until one dish is served."""
