"""Where people build block by block, no button builds a level, and everybody always has a block to place."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from kitchen.contract.page_view import SeatView, StepView, TalkView
from kitchen.pages.default_page import CommandChoice
from kitchen.worlds.blocks.page import PAGES
from tests.kitchen.worlds.blocks.games import game, play, step
from tests.kitchen.worlds.blocks.test_block_planner import PLANNER, situation, solved
from tests.kitchen.worlds.blocks.test_builder_requests import Talk, unknowing
from tests.kitchen.worlds.blocks.test_map_panels import shown
from tests.kitchen.worlds.cuisine.test_page import seen

BOX = 'legend = { s = "stone", p = "oak_planks" }\nlevels = [["ss"], ["pp"], ["ss"]]'


def built(**settings: Any) -> Any:
    return game("construction", inventories="by_material", own_blueprint=BOX, by_block=True, **settings)


def offered(view: SeatView) -> set[str]:
    """The verbs of the page's menu."""
    _, parts = PAGES["blocks_construction"].command_groups(view)
    shown = [part.shows for part in parts]
    return {one.value.split('"')[1] for one in shown if isinstance(one, CommandChoice)}


def test_people_are_offered_blocks_and_no_level_but_programs_can_still_build_one() -> None:
    world = built()
    assert "place" in offered(seen(world, 0)) and "build" not in offered(seen(world, 0))
    assert ("build", "0") in world.legal_actions(0)
    usual = game("construction", inventories="by_material", own_blueprint=BOX)
    assert "build" in offered(seen(usual, 0)) and "by_block" not in usual.brief(0)


def test_who_holds_nothing_for_the_lowest_level_is_offered_blocks_of_the_next_one() -> None:
    world = built()
    places = [command for command in world.legal_actions(1) if command[0] == "place"]
    assert sorted(places) == [("place", "oak_planks", "0", "1", "0"), ("place", "oak_planks", "1", "1", "0")]
    usual = game("construction", inventories="by_material", own_blueprint=BOX)
    assert not [command for command in usual.legal_actions(1) if command[0] == "place"]


def test_a_block_that_somebody_else_is_about_to_place_is_not_offered() -> None:
    world = game("construction", {"stone": 4}, {"stone": 4}, own_blueprint=BOX, by_block=True)
    step(world, "place stone 0 0 0", "-")
    play(world)
    places = [command for command in world.legal_actions(1) if command[0] == "place"]
    assert places == [("place", "stone", "1", "0", "0")]


def test_the_planner_places_one_block_at_a_time_and_finishes_the_building() -> None:
    world = built()
    commands = asyncio.run(PLANNER.decide(situation(world, (1,), (1,)))).commands
    assert commands[1][0] == "place"
    assert solved(built()).over


def test_everybody_sees_who_placed_a_block_and_the_own_block_is_told_once() -> None:
    world, page = built(), PAGES["blocks_construction"]
    events = world.step({1: ("place", "oak_planks", "0", "1", "0")})
    (event,) = (one for one in events if one.kind == "done")
    assert world.visible(0, event)
    assert (
        page.event_sentence(event, seen(world, 0))
        == "Robot 2: Place oak planks: level 2, block 1 from the left"
    )
    own = page.spoken(seen(world, 1, (StepView(1, {}, events),))).shows
    assert own == ("You: Place oak planks: level 2, block 1 from the left",)
    usual = game("construction", inventories="by_material", own_blueprint=BOX)
    assert not usual.visible(0, event)
    (setting,) = (each for each in world.settings if each.name == "by_block")
    assert "All seats see who placed or removed a block" in setting.help


def test_the_end_of_an_own_placement_that_took_several_steps_is_told() -> None:
    world, page = built(), PAGES["blocks_construction"]
    world.at = [(8, 0, 8), (0, 0, 1)]
    past: tuple[StepView, ...] = ()
    while not any(event.kind == "done" for step in past[:1] for event in step.events):
        turn = {0: ("go_on",) if past else ("place", "stone", "0", "0", "0")}
        past = (StepView(len(past) + 1, {}, world.step(turn)), *past)
    assert len(past) > 1
    assert page.spoken(seen(world, 0, past)).shows == (
        "You: Place stone: bottom, block 1 from the left: done",
    )


def test_the_planner_leaves_a_row_that_a_person_has_begun_while_there_is_other_work() -> None:
    held = {"stone": 9}
    talk = Talk("construction", held, held, own_blueprint=TWO_ROWS, by_block=True)
    talk.world.at = [(0, 0, -1), (1, 0, -1)]  # the person's row is the nearest one
    talk.events = talk.world.step({0: ("place", "stone", "0", "0", "0")})
    rows = [int(command[-1]) for command in talk.play(24)]
    assert rows[:2] == [2, 2] and rows.count(0) == 2, "in the end it fills that one, too"
    assert talk.world.over and "begun" not in talk.memory


TWO_ROWS = 'legend = { s = "stone" }\nlevels = [["sss", "...", "sss"]]'


def test_a_planner_says_which_level_it_takes_on_once() -> None:
    talk = unknowing(own_blueprint=BOX, by_block=True, blueprint_blocked="nobody", inventories="by_material")
    talk.play(3)
    said = " ".join(one.text for one in talk.says)
    assert said.count("I take on level 2: oak planks.") == 1 and "pickaxe" not in said


def test_a_press_asks_others_only_where_they_read_and_do_not_know_the_blueprint() -> None:
    def asks(seat: int, addressees: tuple[int, ...], **settings: Any) -> bool:
        world = built(**settings)
        talk = TalkView(member=seat, addressees=addressees)
        return "ask" in shown(replace(seen(world, seat), talk=talk), "map-ground")

    assert asks(0, (1,), blueprint_blocked="others")
    assert not asks(1, (0,), blueprint_blocked="others"), "it would tell nothing that this seat knows"
    assert not asks(0, (), blueprint_blocked="others") and not asks(0, (1,))
