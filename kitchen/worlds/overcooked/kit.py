"""Register everything that belongs to the Overcooked world."""

from __future__ import annotations

from typing import Any

from kitchen.contract.agent import Adviser, Agent
from kitchen.contract.agent_skills import Skills
from kitchen.contract.benchmark import Benchmark
from kitchen.contract.drawable_setting import DrawableSetting
from kitchen.contract.kit import Practice, WorldKit
from kitchen.contract.page import Page
from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import World


def _rules() -> type[World]:
    from kitchen.worlds.overcooked.world import Overcooked

    return Overcooked


def _page() -> Page:
    from kitchen.worlds.overcooked.page import PAGE

    return PAGE


def _greedy() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.baseline_agents import GreedyAgent

    return GreedyAgent


def _grid_planner() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.planner_agent import GridPlanner

    return GridPlanner


def _random_walk() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.baseline_agents import RandomWalkAgent

    return RandomWalkAgent


def _script() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.baseline_agents import ScriptAgent

    return ScriptAgent


def _stay() -> type[Agent]:
    from kitchen.worlds.overcooked.partners.baseline_agents import StayAgent

    return StayAgent


def _adviser() -> Adviser:
    from kitchen.worlds.overcooked.partners.planner_agent import ADVISER

    return ADVISER


def _skills() -> Skills:
    from kitchen.worlds.overcooked.skills import SKILLS

    return SKILLS


def _bench() -> Benchmark:
    from kitchen.worlds.overcooked.bench.pairing_benchmark import PAIRING_BENCHMARK

    return PAIRING_BENCHMARK


def _recordings() -> Recordings[Any]:
    from kitchen.worlds.overcooked.reference_traces import TRACES

    return TRACES


def _own_layout() -> DrawableSetting:
    from kitchen.worlds.overcooked.layout_editor import LAYOUT_EDITOR

    return LAYOUT_EDITOR


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
"""The world's registry entry.

In the practice episode, one participant plays the smallest grid beside a partner that only stays. It ends
when one soup is delivered.
"""
