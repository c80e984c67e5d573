"""Every level of every benchmark can be played."""

from __future__ import annotations

import pytest

from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.registry.world_metrics import metrics_of_world
from kitchen.registry.world_registry import get_world, worlds_with_comparison

BLOCKS = [kind for kind in worlds_with_comparison() if kind.startswith("blocks_")]


@pytest.mark.parametrize("kind", BLOCKS)
def test_every_level_can_be_played_and_its_figure_is_measured(kind: str) -> None:
    bench: ComparisonBenchmark = worlds_with_comparison()[kind]
    assert set(bench.usual_levels()) <= set(bench.levels())
    assert bench.figure in [metric.name for metric in metrics_of_world(kind)]
    for level in bench.levels():
        seats = int(level.split("_")[1]) if kind == "blocks_crafting" else bench.agents[0]
        get_world(kind).create(seats=seats, settings=bench.settings(level, 1, bench.steps))


def test_five_worlds_of_blocks_are_compared() -> None:
    assert len(BLOCKS) == 5
