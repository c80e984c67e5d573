"""The panel in the picture counts the blocks of the building, for those who know the plan."""

from __future__ import annotations

from typing import Any

from kitchen.worlds.blocks.building_progress import progress_panel
from tests.kitchen.worlds.blocks.games import game
from tests.kitchen.worlds.cuisine.test_page import seen


def progress(world: Any, seat: int = 0) -> Any:
    """What the panel of this seat shows."""
    return progress_panel(seen(world, seat)).shows


def test_a_block_that_stands_is_counted_and_not_missing_any_more() -> None:
    site = game("construction", blueprint="small_house")
    before = progress(site)
    assert before.text == "0 of 170 blocks" and [(one.kind, one.amount) for one in before.lacking] == [
        ("stone", 42)
    ]
    site.put_block((0, 0, 0), "stone")
    site.put_block((1, 0, 0), "dirt")
    after = progress(site)
    assert (after.built, after.lacking[0].amount, after.level) == (1, 41, "Level 1")


def test_nothing_is_counted_for_who_does_not_know_the_plan() -> None:
    site = game("construction", {}, {}, blueprint="small_house", blueprint_blocked="others")
    assert progress(site).total and not progress(site, 1).total


def test_a_finished_building_lacks_nothing() -> None:
    site = game("construction", blueprint="shelter")
    for level in site.blueprint.levels:
        for cell, block in level.items():
            site.put_block(cell, block)
    done = progress(site)
    assert done.built == done.total == 96 and (done.level, done.lacking) == ("", ())
