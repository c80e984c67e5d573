"""To go to a place and act there, or to put something in and use the tool, is one choice of the menu."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command
from kitchen.worlds.cuisine.action_menu import action_groups
from kitchen.worlds.cuisine.display_text import brief_lookup
from kitchen.worlds.cuisine.onward_acts import OnwardAct, all_in_words, onward_acts, onward_text
from kitchen.worlds.cuisine.page import PAGE
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import LEVELS, kitchen, play
from tests.kitchen.worlds.cuisine.test_order_steps import dotted
from tests.kitchen.worlds.cuisine.test_page import panel_html, seen
from tests.nightly import thinned

TO_TUNA = ("goto storage0", "get storage0 tuna", "goto chopboard0", "put chopboard0")
CUT = (*TO_TUNA, "activate chopboard0", "noop", "get chopboard0")


def planning(world: CuisineWorld, dish: str = "tunaSushi") -> SeatView:
    """What somebody who can plan sees, with one order for this dish."""
    view = changed(seen(world, 0), offered=True, order_choices=True, plannable=world.plannable(0))
    orders = [{"dish": dish, "life": 30}]
    return changed(view, observation={**view.observation, "orders": orders})


def after(*texts: str) -> CuisineWorld:
    world = kitchen("level_3")
    play(world, *texts)
    return world


def offered(view: SeatView) -> list[str]:
    """What the menu offers to do in a row, in words."""
    lookup = brief_lookup(view.brief)
    return [onward_text(act, lookup.words) for act in onward_acts(view, lookup)]


def test_from_afar_the_storage_offers_what_recipes_need_and_a_tool_what_it_can_do() -> None:
    assert offered(planning(after())) == ["Go and take salmon", "Go and take tuna", "Go and take rice"]
    assert offered(planning(after(*TO_TUNA[:2]))) == [
        "Go to chopping board 1, make and take tuna sashimi",
        "Go to chopping board 2, make and take tuna sashimi",
    ]
    assert offered(planning(after("goto storage0", "get storage0 rice"))) == [
        "Go and make cooked rice in pot 1",
        "Go and make cooked rice in pot 2",
    ]
    assert offered(planning(after(*TO_TUNA, "goto pot0")))[-1] == (
        "Go and use chopping board 1: make tuna sashimi"
    )
    dish = kitchen("level_3")
    play(dish, *TO_TUNA[:2])
    view = planning(dish)
    agents = [{**view.observation["agents"][0], "holds": "tunaSushi"}, *view.observation["agents"][1:]]
    assert "Go and serve tuna sushi" in offered(
        changed(view, observation={**view.observation, "agents": agents})
    )


def test_all_that_is_offered_is_possible_on_arrival_and_can_be_planned() -> None:
    for done in ((), TO_TUNA[:2], TO_TUNA, (*TO_TUNA, "goto pot0"), CUT):
        acts = onward_acts(view := planning(after(*done)), brief_lookup(view.brief))
        assert acts, done
        for act in acts:
            world = after(*done)
            for command in act.commands:
                while not world.asks(0):
                    world.step({})
                assert command in world.legal_actions(0) and command in world.plannable(0), (done, act)
                world.step({0: command})


def test_nothing_is_offered_without_plans_while_busy_or_at_the_own_place() -> None:
    world = after()
    assert offered(changed(planning(world), offered=False, plannable=())) == []
    assert "data-onward" not in panel_html(seen(world, 0), "menu")
    at_storage = planning(after(TO_TUNA[0]))
    assert offered(at_storage) == [], "what is here is offered as it was"
    assert offered(changed(planning(world), legal=(("noop",),))) == []


def test_dots_are_where_going_and_acting_are_both_useful_and_can_be_hidden() -> None:
    view = planning(after())
    fits = {act.item: act.fits for act in onward_acts(view, brief_lookup(view.brief))}
    assert fits == {"salmon": False, "tuna": True, "rice": True}
    hidden = changed(view, marks_actions=False)
    assert not any(act.fits for act in onward_acts(hidden, brief_lookup(view.brief)))
    assert offered(hidden) == offered(view)


def test_a_choice_of_the_menu_has_both_commands_and_its_place() -> None:
    html = panel_html(planning(after()), "menu")
    found = re.search(
        r'id="onward-get-storage0-rice"[^>]*data-onward><input[^>]*value="([^"]+)"([^>]*)', html
    )
    assert found and json.loads(unescape(found[1])) == [["goto", "storage0"], ["get", "storage0", "rice"]]
    assert 'data-places="storage0"' in found[2]


def test_the_hint_of_practice_is_about_the_choice_that_serves_its_purpose() -> None:
    view, storage = planning(after()), ("goto", "storage0")
    take: Command = ("get", "storage0", "rice")
    assert PAGE.hinted_next(view, storage, {"do": "fetch", "item": "rice"}) == (take,)
    assert PAGE.hinted_next(view, storage, {"do": "discard", "item": "nori"}) == ()
    assert PAGE.hinted_next(view, ("goto", "pot0"), {"do": "bring"}) == ()


def test_the_hint_to_bring_the_last_ingredient_says_what_the_tool_makes_of_it() -> None:
    aim = {"do": "bring", "item": "rice", "to": "pot0", "dish": "tunaSushi"}
    put, use = ("put", "pot0"), ("activate", "pot0")
    view = changed(planning(after("goto storage0", "get storage0 rice")), marks_actions=False)
    assert PAGE.hinted_next(view, ("goto", "pot0"), aim) == (put, use), "marks or not"
    assert PAGE.hint(view, ("goto", "pot0"), aim) == (
        "Try this: go to pot 1 with the rice and make cooked rice."
    )
    view = planning(after("goto storage0", "get storage0 rice", "goto pot0"))
    assert PAGE.hinted_next(view, put, aim) == (use,)
    assert PAGE.hint(view, put, aim) == "Try this: use the rice and make cooked rice."
    assert PAGE.hint(changed(view, plannable=()), put, aim) == "Try this: put the rice into pot 1."


def with_sashimi(*dishes: str, at: str = "storage0") -> SeatView:
    """Somebody holds tuna sashimi, cooked rice is in a mixer, and these dishes are ordered."""
    world = after(*CUT, f"goto {at}")
    view = planning(world)
    places = view.observation["locations"]
    inside = {**places["mixer0"], "items": ["cookedRice"]}
    orders = [{"dish": dish, "life": 30} for dish in dishes]
    brief = {**view.brief, "recipes": {**view.brief["recipes"], "tunaRoll": ROLL}}
    brief["dishes"], brief["base"] = (
        [*view.brief["dishes"], "tunaRoll"],
        [*view.brief["base"], "seaweedSheet"],
    )
    seen = {**view.observation, "orders": orders, "locations": {**places, "mixer0": inside}}
    return changed(view, brief=brief, observation=seen)


ROLL = {"tool": "mixer", "ingredients": ["tunaSashimi", "cookedRice", "seaweedSheet"]}


def of_mixer(view: SeatView) -> list[OnwardAct]:
    return [act for act in onward_acts(view, brief_lookup(view.brief)) if act.place == "mixer0"]


def test_where_an_order_lets_the_tool_take_more_putting_in_alone_stays_a_choice() -> None:
    (chain,) = of_mixer(with_sashimi("tunaSushi"))
    assert [command[0] for command in chain.commands] == ["goto", "put", "activate", "get"] and chain.alone
    view = with_sashimi("tunaSushi", "tunaRoll")
    chain, put = of_mixer(view)
    assert [command[0] for command in put.commands] == ["goto", "put"]
    assert (chain.deed[0], put.deed[0]) == ("activate", "put"), "under their own headings"
    assert chain.fits and put.fits
    html = panel_html(view, "menu")
    assert html.index('id="onward-put-mixer0"') < html.index('id="onward-activate-mixer0"')


def test_at_the_tool_the_choice_is_a_click_on_it_unless_another_recipe_needs_the_item() -> None:
    here = with_sashimi("tunaSushi", at="mixer0")
    (chain,) = of_mixer(here)
    assert [command[0] for command in chain.commands] == ["put", "activate", "get"]
    assert onward_text(chain, brief_lookup(here.brief).words) == "Make and take tuna sushi in mixer 1"
    one = r'id="onward-activate-mixer0"[^>]* data-onward>'
    assert re.search(one, panel_html(here, "menu"))
    html = panel_html(with_sashimi("tunaSushi", "tunaRoll", at="mixer0"), "menu")
    assert not re.search(one, html) and 'id="onward-activate-mixer0"' in html
    assert 'id="do-put-mixer0"' in html, "what is possible now can always be chosen"


def test_a_choice_named_after_its_product_says_all_its_commands_to_who_cannot_see() -> None:
    view = planning(after("goto storage0", "get storage0 rice"))
    act = onward_acts(view, lookup := brief_lookup(view.brief))[0]
    assert all_in_words(act, lookup.words) == "Go to pot 1, Put rice into pot 1, Use pot 1"
    html = panel_html(view, "menu")
    assert '<span class="visually-hidden" data-does>: Go to pot 1, Put rice into pot 1, Use pot 1' in html


def follow_choices(level: str) -> tuple[int, int, int]:
    """Play to the end with choices that have a dot, several commands in a row rather than one. Return how
    often something was chosen, how many commands that were, and the number of dishes."""
    world, plan, presses, commands = kitchen(level, seed=1, max_steps=60), list[Command](), 0, 0
    while not world.over:
        command: Command = ("noop",)
        if world.asks(0):
            if not plan or not world.allows(0, plan[0]):
                view = changed(seen(world, 0), offered=True, order_choices=True, plannable=world.plannable(0))
                acts = [act for act in onward_acts(view, brief_lookup(view.brief)) if act.fits]
                longest = max(acts, key=lambda act: len(act.commands)).commands if acts else ()
                plan = [*(longest or dotted(world)[:1] or [command])]
                presses += 1
            command, *plan = plan
            commands += command != ("noop",)
        world.step({0: command})
    return presses, commands, world.score()["completed"]


@pytest.mark.parametrize("level", thinned(LEVELS, 4))
def test_who_follows_dots_in_a_row_serves_with_far_fewer_choices_than_commands(level: str) -> None:
    presses, commands, dishes = follow_choices(level)
    assert dishes and presses * 5 <= commands * 4, (presses, commands, dishes)


def test_what_can_be_taken_keeps_its_number_and_its_row_while_a_tool_works() -> None:
    def taken(view: SeatView) -> tuple[dict[str, str], bool]:
        (group,) = (one for one in action_groups(view, brief_lookup(view.brief)) if one.id == "verb-get")
        shows: Any = group.shows
        labels: dict[str, Any] = {panel.id: panel.shows for panel in group.parts}
        assert not any(shows.quiet)
        return {id: labels[id].key for id in shows.actions}, shows.spare_row

    world = kitchen("level_0")
    parts = ("salmon", "flour")
    for part in parts:
        play(world, "goto storage0", f"get storage0 {part}", "goto blender0", "put blender0")
    play(world, "activate blender0")
    waits = changed(planning(world, "salmonMeatcake"), until=True)
    stored = {f"onward-get-storage0-{part}": str(number) for number, part in enumerate(parts, 1)}
    assert taken(waits) == (stored, True)
    while world.observe(0)["locations"]["blender0"]["busy"]:
        play(world, "noop")
    ready = changed(planning(world, "salmonMeatcake"), until=True)
    assert taken(ready) == ({**stored, "do-get-blender0-salmonMeatcake": "3"}, False)
    assert '<span class="slot wide"' in panel_html(waits, "menu")
    assert '<span class="slot wide"' not in panel_html(ready, "menu")
