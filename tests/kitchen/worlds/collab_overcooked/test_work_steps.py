"""The steps that a request names are those that it takes."""

from __future__ import annotations

import pytest

from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import (
    BRING_DISH,
    Macros,
    bring_raw,
    bring_slices,
)
from kitchen.worlds.collab_overcooked.work_steps import estimated_steps
from tests.kitchen.worlds.collab_overcooked.games import game, play


@pytest.mark.parametrize("unit", [bring_raw("chickpea"), bring_slices("zucchini"), BRING_DISH])
def test_the_estimate_is_what_the_work_takes_if_nobody_disturbs_it(unit: Macros) -> None:
    world = game("sliced_zucchini_and_chickpea_stew", gamma=3.0)
    for _ in range(2):  # from the start, and from where the first one ends
        before, estimate = world.clock, estimated_steps(unit, 1, world.observe(1))
        for macro in unit:
            while not world.allows(1, macro):
                world.step({})
            play(world, 1, " ".join(macro))
        assert world.clock - before == estimate


def test_a_running_utensil_is_waited_for() -> None:
    world = game(next(iter(tasks())), gamma=3.0)
    play(
        world,
        1,
        "pickup potato ingredient_dispenser",
        "put_obj_in_utensil chopping_board0",
        "cut chopping_board0",
    )
    assert estimated_steps([("pickup", "potato_slices", "chopping_board0")], 1, world.observe(1)) == 3
