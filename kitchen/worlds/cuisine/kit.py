"""Register everything that belongs to CuisineWorld."""

from __future__ import annotations

from typing import Any

from kitchen.contract.agent import Adviser, Agent, AimPursuer
from kitchen.contract.agent_skills import Skills
from kitchen.contract.benchmark import Benchmark
from kitchen.contract.kit import Practice, WorldKit
from kitchen.contract.page import Page
from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import World


def _rules() -> type[World]:
    from kitchen.worlds.cuisine.world import CuisineWorld

    return CuisineWorld


def _page() -> Page:
    from kitchen.worlds.cuisine.page import PAGE

    return PAGE


def _dispatcher() -> type[Agent]:
    from kitchen.worlds.cuisine.dispatcher.agent import Dispatcher

    return Dispatcher


def _planner() -> type[Agent]:
    from kitchen.worlds.cuisine.planner.agent import CuisinePlanner

    return CuisinePlanner


def _adviser() -> Adviser:
    from kitchen.worlds.cuisine.planner.agent import ADVISER

    return ADVISER


def _pursuer() -> AimPursuer:
    from kitchen.worlds.cuisine.aim_pursuit import PURSUER

    return PURSUER


def _skills() -> Skills:
    from kitchen.worlds.cuisine.skills import SKILLS

    return SKILLS


def _bench() -> Benchmark:
    from kitchen.worlds.cuisine.bench.paper_benchmark import CUISINE_BENCHMARK

    return CUISINE_BENCHMARK


def _recordings() -> Recordings[Any]:
    from kitchen.worlds.cuisine.reference_traces import TRACES

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
"""The world's registry entry.

In the practice episode, one participant plays the easiest level until one dish is served.
"""
