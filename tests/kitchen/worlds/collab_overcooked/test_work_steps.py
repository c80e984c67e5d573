"""The steps that a request names are those that it takes from the middle of the room."""

from __future__ import annotations

import pytest

from kitchen.worlds.collab_overcooked.reference_trajectories import (
    BRING_DISH,
    Macros,
    bring_raw,
    bring_slices,
)
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, LAYOUTS, SOUTH
from kitchen.worlds.collab_overcooked.work_steps import estimated_steps
from tests.kitchen.worlds.collab_overcooked.games import game, play


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("unit", [bring_raw("chickpea"), bring_slices("zucchini"), BRING_DISH])
def test_the_estimate_is_what_the_work_takes_if_nobody_disturbs_it(unit: Macros, layout: str) -> None:
    world = game("sliced_zucchini_and_chickpea_stew", gamma=3.0, layout=layout)
    world.faces[ASSISTANT] = SOUTH
    for macro in unit:
        while not world.allows(ASSISTANT, macro):
            world.step({})
        play(world, ASSISTANT, " ".join(macro))
    assert world.clock == estimated_steps(unit, ASSISTANT, LAYOUTS[layout])
