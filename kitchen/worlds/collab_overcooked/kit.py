"""Register the parts of Collab-Overcooked: rules, page, agents, benchmark, metrics and practice."""

from __future__ import annotations

from typing import Any

from kitchen.contract.advisers import Adviser, AimPursuer
from kitchen.contract.agent import Agent
from kitchen.contract.benchmark import Benchmark
from kitchen.contract.encoding import Encoding
from kitchen.contract.episode_log import LogMetrics
from kitchen.contract.kit import PixelPicture, Practice, WorldKit
from kitchen.contract.page import Page
from kitchen.contract.reference_recordings import Recordings
from kitchen.contract.world import World


def _rules() -> type[World]:
    from kitchen.worlds.collab_overcooked.world import CollabOvercooked

    return CollabOvercooked


def _recordings() -> Recordings[Any]:
    from kitchen.worlds.collab_overcooked.reference_traces import TRACES

    return TRACES


def _measures() -> LogMetrics:
    from kitchen.worlds.collab_overcooked.log_measures import LOG_MEASURES

    return LOG_MEASURES


def _helper() -> type[Agent]:
    from kitchen.worlds.collab_overcooked.recipe_partner import RecipePartner

    return RecipePartner


def _collab() -> type[Agent]:
    from kitchen.worlds.collab_overcooked.collab_agent.agent import CollabAgent

    return CollabAgent


def _adviser() -> Adviser:
    from kitchen.worlds.collab_overcooked.recipe_partner import ADVISER

    return ADVISER


def _pursuer() -> AimPursuer:
    from kitchen.worlds.collab_overcooked.cook_pursuit import PURSUER

    return PURSUER


def _bench() -> Benchmark:
    from kitchen.worlds.collab_overcooked.bench.task_benchmark import TASK_BENCHMARK

    return TASK_BENCHMARK


def _page() -> Page:
    from kitchen.worlds.collab_overcooked.page import PAGE

    return PAGE


def _pixels() -> PixelPicture:
    from kitchen.worlds.collab_overcooked.room_pixels import draw_rooms

    return draw_rooms


def _encoding() -> Encoding:
    from kitchen.worlds.collab_overcooked.collab_vector import COLLAB_ENCODING

    return COLLAB_ENCODING


KIT = WorldKit(
    rules=_rules,
    page=_page,
    coplayers={"collab": _collab, "recipe_partner": _helper},
    bench=_bench,
    recordings=_recordings,
    log_metrics=_measures,
    adviser=_adviser,
    pursuer=_pursuer,
    practice=Practice(
        settings={"task": "boiled_egg", "gamma": 3.0},
        coplayer="recipe_partner",
        teammates=1,
        organisation={"kind": "pair", "settings": {"within": True}},
    ),
    encodings={"flat": _encoding},
    reward="progress_completeness",
    pixels=_pixels,
    requests_actions=True,
    organisations=("pair", "each", "central", "tree", "chain", "graph", "custom"),
)
"""The world's registry entry."""
