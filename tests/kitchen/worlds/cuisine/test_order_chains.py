"""What a robot can do for an order is one choice, which goes on until the hands are free again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kitchen.contract.page_view import SeatView
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


def ordering(view: SeatView, *orders: tuple[str, int]) -> SeatView:
    """The view with these orders (dish, steps left) open."""
    open_orders = [{"dish": dish, "life": life} for dish, life in orders]
    return changed(view, observation={**view.observation, "orders": open_orders})


def with_other(view: SeatView, **facts: Any) -> SeatView:
    """The view in which robot 2 has these facts."""
    agents = [view.observation["agents"][0], {**view.observation["agents"][1], **facts}]
    return changed(view, observation={**view.observation, "agents": agents})


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
        ("Make cooked rice", "For tuna sushi: 5 of 30 steps", ""),
        ("Make tuna sashimi", "For tuna sushi: 8 of 30 steps", ""),
        ("Make salmon sashimi", "Cook ahead, 8 steps", ""),
    ]
    for number in (0, 0):
        run(world, chains(planning(world))[number])
    view = planning(world)
    assert offered(view)[0] == ("Make and serve tuna sushi", "8 of the guest's 30 steps", "")
    assert offered(ordering(view, ("tunaSushi", 11)))[0][1] == "8 steps: just in time"
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
        view = changed(seen(world, 0), offered=True, order_choices=True, plannable=world.plannable(0))
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


def test_choices_stand_in_the_order_of_tickets_and_recipes_and_not_by_what_is_best() -> None:
    view = ordering(planning(kitchen("level_3", seats=2)), ("tunaSushi", 20), ("salmonSushi", 23))
    texts = [text for text, _, _ in offered(view)]
    assert texts == ["Make cooked rice", "Make tuna sashimi", "Make salmon sashimi"]
    places = {**view.observation["locations"]}
    places["chopboard0"] = {**places["chopboard0"], "items": ["salmon"]}
    begun = changed(view, observation={**view.observation, "locations": places})
    assert [text for text, _, _ in offered(begun)] == texts


def test_what_comes_too_late_for_its_guest_or_for_the_round_is_folded_below_the_rest() -> None:
    view = ordering(planning(kitchen("level_3")), ("tunaSushi", 7), ("salmonSushi", 23))
    assert [haste for _, _, haste in offered(view)] == ["", "", "late"]
    assert offered(view)[0] == ("Make cooked rice", "For salmon sushi: 5 of 23 steps", "")
    assert offered(view)[-1] == ("Make tuna sashimi", "8 steps: too late now", "late")
    (group, *_) = action_groups(view, brief_lookup(view.brief))
    shown: Any = group.shows
    assert (shown.actions, shown.rest) == (("chain-0", "chain-1"), ("chain-2",))
    closing = changed(view, step=int(view.brief["max_steps"]) - 9)
    assert {haste for _, _, haste in offered(closing)} == {"late"}
    assert "1 that comes too late now" in panel_html(view, "menu")


def test_a_choice_says_which_robot_does_it_already_and_a_press_on_the_ticket_leaves_it_to_that_robot() -> (
    None
):
    view = ordering(planning(kitchen("level_3", seats=2)), ("tunaSushi", 23))
    carried = with_other(view, holds="rice")
    choices = {choice.text: choice for choice in chain_choices(carried, brief_lookup(view.brief))}
    rice, tuna = choices["Make cooked rice"], choices["Make tuna sashimi"]
    assert rice.note == "Robot 2 brings rice. Cook ahead, 5 steps"
    assert (rice.taken, rice.places, tuna.taken) == (True, (), False) and tuna.places
    places = {**view.observation["locations"]}
    places["pot0"] = {**places["pot0"], "items": ["rice"]}
    there = with_other(view, at="pot0")
    begun = changed(there, observation={**there.observation, "locations": places})
    assert offered(begun)[0][1].startswith("Robot 2 already makes cooked rice")


def test_a_ready_dish_is_served_from_its_tool() -> None:
    view = planning(kitchen("level_3", seats=2))
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
