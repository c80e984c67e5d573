"""Register the five worlds of blocks: the rules, page, benchmark, metrics and planner of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from kitchen.contract.advisers import Adviser, AimPursuer
from kitchen.contract.agent import Agent
from kitchen.contract.agent_skills import Skills
from kitchen.contract.benchmark import Benchmark
from kitchen.contract.encoding import Encoding
from kitchen.contract.episode_log import LogMetrics
from kitchen.contract.kit import Practice, WorldKit
from kitchen.contract.page import Page
from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import Json, World


def _construction() -> type[World]:
    from kitchen.worlds.blocks.construction_world import Construction

    return Construction


def _cooking() -> type[World]:
    from kitchen.worlds.blocks.cooking_world import Cooking

    return Cooking


def _crafting() -> type[World]:
    from kitchen.worlds.blocks.crafting_world import Crafting

    return Crafting


def _gather() -> type[World]:
    from kitchen.worlds.blocks.gather_world import Gather

    return Gather


def _kitchen() -> type[World]:
    from kitchen.worlds.blocks.kitchen_world import BlocksKitchen

    return BlocksKitchen


def _recordings() -> Recordings[Any]:
    from kitchen.worlds.blocks.block_traces import TRACES

    return TRACES


def _measures() -> LogMetrics:
    from kitchen.worlds.blocks.goal_worlds import MESSAGE_METRICS

    return MESSAGE_METRICS


def _adviser() -> Adviser:
    from kitchen.worlds.blocks.block_planner import ADVISER

    return ADVISER


def _dispatcher() -> type[Agent]:
    from kitchen.worlds.blocks.dispatcher.agent import BlocksDispatcher

    return BlocksDispatcher


def _pursuer() -> AimPursuer:
    from kitchen.worlds.blocks.block_pursuit import PURSUER

    return PURSUER


def _skills() -> Skills:
    from kitchen.worlds.blocks.block_skills import SKILLS

    return SKILLS


def _encoding() -> Encoding:
    from kitchen.worlds.blocks.blocks_vector import BLOCKS_ENCODING

    return BLOCKS_ENCODING


def _page_of(name: str) -> Callable[[], Page]:
    def load() -> Page:
        from kitchen.worlds.blocks.page import PAGES

        return PAGES[name]

    return load


def _bench_of(name: str) -> Callable[[], Benchmark]:
    def load() -> Benchmark:
        from kitchen.worlds.blocks.block_benchmarks import BENCHMARKS

        return BENCHMARKS[name]

    return load


def _kit(name: str, rules: Callable[[], type[World]], practice: Mapping[str, Json], steps: str) -> WorldKit:
    return WorldKit(
        rules=rules,
        page=_page_of(name),
        recordings=_recordings,
        bench=_bench_of(name),
        log_metrics=_measures,
        adviser=_adviser,
        pursuer=_pursuer,
        skills=_skills,
        encodings={"flat": _encoding},
        practice=Practice(settings=practice, coplayer="blocks_planner", teammates=1),
        steps=steps,
    )


CONSTRUCTION_KIT = _kit("blocks_construction", _construction, {"blueprint": "shelter", "limit": 200}, "limit")
COOKING_KIT = _kit("blocks_cooking", _cooking, {"targets": "bread", "limit": 100}, "limit")
CRAFTING_KIT = _kit("blocks_crafting", _crafting, {"limit": 50}, "limit")
GATHER_KIT = replace(_kit("blocks_gather", _gather, {"limit": 200}, "limit"), reward="amount")
KITCHEN_KIT = replace(
    _kit("blocks_kitchen", _kitchen, {"interval": 10, "steps": 20}, "steps"),
    coplayers={"blocks_dispatcher": _dispatcher},
    encodings={},
    reward="completed",
)
"""The worlds' registry entries."""
