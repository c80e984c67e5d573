"""To go to a place and act there is one choice of the menu, where the page offers to plan."""

from __future__ import annotations

import json
import re
from html import unescape

from kitchen.contract.page import SeatView
from kitchen.contract.world import Command
from kitchen.worlds.cuisine.display_text import brief_lookup
from kitchen.worlds.cuisine.onward_acts import onward_acts
from kitchen.worlds.cuisine.page import PAGE
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import kitchen, play
from tests.kitchen.worlds.cuisine.test_page import panel_html, seen

TO_TUNA = ("goto storage0", "get storage0 tuna", "goto chopboard0", "put chopboard0")
CUT = (*TO_TUNA, "activate chopboard0", "noop", "get chopboard0")


def planning(world: CuisineWorld) -> SeatView:
    """What somebody who can plan sees, with one order for tuna sushi."""
    view = changed(seen(world, 0), offered=True, plannable=world.plannable(0))
    orders = [{"dish": "tunaSushi", "life": 30}]
    return changed(view, observation={**view.observation, "orders": orders})


def after(*texts: str) -> CuisineWorld:
    world = kitchen("level_3")
    play(world, *texts)
    return world


def offered(view: SeatView) -> list[str]:
    """What the menu offers to do elsewhere, in words."""
    lookup = brief_lookup(view.brief)
    return [lookup.words.onward(act.command, act.item) for act in onward_acts(view, lookup)]


def test_from_afar_the_storage_offers_what_recipes_need_and_a_tool_what_it_can_do() -> None:
    assert offered(planning(after())) == ["Go and take salmon", "Go and take tuna", "Go and take rice"]
    assert offered(planning(after(*TO_TUNA[:2]))) == [
        "Go and put tuna on chopping board 1",
        "Go and put tuna on chopping board 2",
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
            assert act.goto in world.legal_actions(0) and act.command in world.plannable(0)
            world.step({0: act.goto})
            assert act.command in world.legal_actions(0), (done, act)


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
    assert PAGE.hinted_next(view, storage, {"do": "fetch", "item": "rice"}) == take
    assert PAGE.hinted_next(view, storage, {"do": "discard", "item": "nori"}) is None
    assert PAGE.hinted_next(view, ("goto", "pot0"), {"do": "bring"}) is None
