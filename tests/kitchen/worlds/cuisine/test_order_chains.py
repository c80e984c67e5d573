"""What a robot can do for an order is one choice, which goes on until the hands are free again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kitchen.contract.page import SeatView
from kitchen.worlds.cuisine.action_menu import action_groups
from kitchen.worlds.cuisine.display_text import brief_lookup
from kitchen.worlds.cuisine.order_chain_choices import chain_choices
from kitchen.worlds.cuisine.order_chains import OrderChain, order_chains
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen
from tests.kitchen.worlds.cuisine.test_onward_acts import planning
from tests.kitchen.worlds.cuisine.test_page import panel_html, seen


def offered(view: SeatView) -> list[tuple[str, str, str]]:
    """What the menu offers for the orders: text, note, haste."""
    return [(one.text, one.note, one.haste) for one in chain_choices(view, brief_lookup(view.brief))]


def run(world: CuisineWorld, chain: OrderChain) -> None:
    for command in chain.commands:
        while not world.asks(0):
            world.step({})
        assert command in world.legal_actions(0) and command in world.plannable(0), chain
        world.step({0: command})


def chains(view: SeatView) -> tuple[OrderChain, ...]:
    return order_chains(view, brief_lookup(view.brief))


def test_parts_of_an_order_are_choices_and_what_is_complete_is_cooked_and_served_in_time_or_too_late() -> (
    None
):
    world = kitchen("level_3")
    assert offered(planning(world)) == [
        ("Make cooked rice", "For tuna sushi, 5 steps", ""),
        ("Make tuna sashimi", "For tuna sushi, 8 steps", ""),
        ("Make salmon sashimi", "Cook ahead, 8 steps", ""),
    ]
    for number in (0, 0):
        run(world, chains(planning(world))[number])
    view = planning(world)
    assert offered(view)[0] == ("Make and serve tuna sushi", "8 steps", "")
    for life, note in ((11, "8 steps: just in time"), (7, "8 steps: too late for this guest")):
        soon = changed(
            view, observation={**view.observation, "orders": [{"dish": "tunaSushi", "life": life}]}
        )
        assert offered(soon)[0][1] == note
    run(world, chains(view)[0])
    assert world.score()["completed"] == 1


@pytest.mark.parametrize("level", ["level_1", "level_3", "level_4", "level_7", "level_9", "level_12"])
def test_whoever_takes_the_first_choice_serves_dishes_and_nothing_offered_is_refused(level: str) -> None:
    world = kitchen(level, max_steps=60)
    presses = 0
    while not world.over:
        if not world.asks(0):
            world.step({})
            continue
        view = changed(seen(world, 0), offered=True, plannable=world.plannable(0))
        presses += 1
        first, *then = chain_choices(view, brief_lookup(view.brief))[0].commands
        world.step({0: first})
        for command in then:
            while not world.asks(0) and not world.over:
                world.step({})
            if not world.over:
                assert command in world.legal_actions(0)
                world.step({0: command})
    assert world.score()["completed"] >= 1 and presses <= 20


def test_what_others_carry_is_not_offered_again_and_a_ready_dish_is_served_from_its_tool() -> None:
    view = planning(kitchen("level_3", seats=2))
    agents = [view.observation["agents"][0], {**view.observation["agents"][1], "holds": "rice"}]
    carried = changed(view, observation={**view.observation, "agents": agents})
    assert ("Make cooked rice", "For tuna sushi, 5 steps", "") not in offered(carried)
    places = {**view.observation["locations"]}
    places["mixer0"] = {**places["mixer0"], "items": ["tunaSushi"], "open": True}
    ready = changed(view, observation={**view.observation, "locations": places})
    (served, *_) = chain_choices(ready, brief_lookup(view.brief))
    assert (served.text, served.places[1:]) == ("Serve tuna sushi", ("servingtable0", "mixer0"))


def test_a_press_on_the_guests_means_only_what_serves_them() -> None:
    world = kitchen("level_3")
    for serves in (False, False, True):
        view = planning(world)
        first = chain_choices(view, brief_lookup(view.brief))[0]
        assert ("servingtable0" in first.places) == serves, first.text
        run(world, chains(view)[0])


def test_they_come_first_in_the_menu_with_waiting_and_a_press_on_the_ticket_means_them() -> None:
    view = planning(kitchen("level_3"))
    groups = action_groups(view, brief_lookup(view.brief))
    assert [group.id for group in groups[:3]] == ["verb-orders", "verb-noop", "verb-get"]
    first: Any = groups[0].parts[0].shows
    assert json.loads(first.value)[0] == ["goto", "storage0"]
    ticket = first.place.split()[0]
    assert f'data-order="{ticket}"' in panel_html(view, "orders")


@pytest.mark.parametrize("facts", [{"offered": False}, {"until": True}, {"acts": False}])
def test_without_plans_in_practice_and_for_onlookers_there_are_none(facts: dict[str, bool]) -> None:
    view = changed(planning(kitchen("level_3")), **facts)
    assert chains(view) == () and "data-order" not in panel_html(view, "orders")
    assert "verb-orders" not in [group.id for group in action_groups(view, brief_lookup(view.brief))]


@pytest.mark.parametrize("ordered", [["frenchFries"], ["frenchFries", "potatoSalad"]])
def test_an_order_that_this_kitchen_cannot_cook_is_passed_over(ordered: list[str]) -> None:
    view = planning(kitchen("level_12"))
    orders = [{"dish": dish, "life": 60} for dish in ordered]
    view = changed(view, observation={**view.observation, "orders": orders})
    assert view.brief["uncookable"] == ["frenchFries"]
    found = chain_choices(view, brief_lookup(view.brief))
    asked = [one for one in found if not one.note.startswith("Cook ahead")]
    assert found and bool(asked) == ("potatoSalad" in ordered), "nobody ordered anything else"
    assert all(one.note.startswith("For potato salad") and one.places for one in asked)
