"""A cook who waits for the teammate is called when there is something to do, and not before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kitchen.contract.page_view import SeatView, StepView
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command, Event
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import render_panel, seat_layout
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.wait_for_teammate import WaitButton, newest_news, wait_panel
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import GO_ON, command, game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import request, view

WAIT = ("wait", "1")
FETCH, PLACE = command("pickup egg ingredient_dispenser"), command("place_obj_on_counter")


def wait_until_called(
    world: CollabOvercooked, seat: int, todo: Sequence[Command], most: int = 12
) -> tuple[str, int]:
    """Let this seat wait while the other one carries out these macros. Return the news that ends the wait,
    and the number of steps that it took."""
    left, history = list(todo), list[StepView]()
    for count in range(1, most + 1):
        begins = world.doing[1 - seat] is None and left and world.allows(1 - seat, left[0])
        given = {seat: WAIT, 1 - seat: left.pop(0) if begins else GO_ON}
        events = world.step(given)
        history.insert(0, StepView(world.clock, given, tuple(events)))
        news = newest_news(replace(view(world, seat, []), history=tuple(history[:8])))
        if news.text:
            return news.text, count
    return "", most


def test_a_waiting_chef_is_called_when_something_is_handed_over_and_not_while_it_is_fetched() -> None:
    text, steps = wait_until_called(game("boiled_egg", gamma=3.0), 0, [FETCH, PLACE])
    assert text == "On the shared counter: egg" and steps > 3


def test_what_ends_a_wait_is_spoken_once() -> None:
    """The text beside the button is not live, because the region of each step says the same."""
    world, placed = game("boiled_egg", gamma=3.0), Event("done", 1, {"macro": list(PLACE)})
    play(world, 1, " ".join(FETCH), "place_obj_on_counter")
    seen = view(world, 0, [])

    def spoken(*history: StepView) -> str:
        return str(render_panel(PAGE.spoken(replace(seen, history=history, step=len(history)))))

    assert "On the shared counter: egg" in spoken(StepView(1, {0: WAIT, 1: GO_ON}, (placed,)))
    idle = [StepView(number, {0: WAIT, 1: WAIT}, ()) for number in (2, 1)]
    assert "Cook 2 waits for you, too" in spoken(*idle)
    busy = [replace(step, commands={0: FETCH, 1: WAIT}) for step in idle]
    assert "waits for you" not in spoken(*busy), "who does something does not wait, too"
    ready = Event("ready", None, {"utensil": "pot0", "product": "boiled_egg"})
    assert spoken(StepView(1, {0: WAIT, 1: GO_ON}, (ready,))).count("boiled egg") == 1
    panels = {one.id: render_panel(one) for one in (*shared_panels(PAGE, seen), *PAGE.panels(seen))}
    (shown,) = re.findall(r'<p class="wait-why"[^>]*>', layout := seat_layout(PAGE, seen, panels))
    assert 'id="wait-said-why"' in shown and "role=" not in shown and "aria-live" not in shown
    assert 'aria-describedby="wait-said-why"' in layout


def test_a_waiting_cook_is_called_when_an_own_utensil_is_ready_but_not_by_the_other_cooks() -> None:
    world = game("boiled_egg", gamma=3.0)
    world.things.utensils["pot0"].contents = ["egg"]
    assert wait_until_called(world, 1, [command("cook pot0")], most=4) == ("", 4)
    world = game("boiled_egg", gamma=3.0)
    world.things.utensils["pot0"].contents, world.things.utensils["pot0"].ticks = ["egg"], 1
    assert wait_until_called(world, 0, []) == ("Pot, ready: boiled egg", 2)


def test_two_cooks_who_wait_for_each_other_are_told_so_and_reminded() -> None:
    world = game("boiled_egg", gamma=3.0)
    assert wait_until_called(world, 0, []) == ("Cook 2 waits for you, too", 2)
    idle = tuple(StepView(number, {0: WAIT, 1: WAIT}, ()) for number in (4, 3, 2, 1))
    world.clock = 4
    assert newest_news(replace(view(world, 0, []), history=idle)).step == 2, "the same as two steps before"
    cut_off = replace(view(world, 0, []), step=30, history=idle)
    assert newest_news(cut_off).step == 0, "nobody knows since when"
    later = tuple(StepView(number, {0: WAIT, 1: WAIT}, ()) for number in range(17, 9, -1))
    assert newest_news(replace(cut_off, history=later)).step == 15, "nobody waits until the end of the game"


@pytest.mark.parametrize("phase", ["choose", "waiting"])
def test_the_button_to_wait_says_for_whom_and_knows_the_newest_message_of_others(phase: str) -> None:
    def shown(seen: SeatView) -> WaitButton:
        shows = wait_panel(replace(seen, phase=phase)).shows
        assert isinstance(shows, WaitButton)
        return shows

    said = [TeamMessage(number, 1, sender, (0, 1), "say", "Hello") for number, sender in ((3, 1), (4, 0))]
    shows = shown(view(game("boiled_egg"), 0, [*said, TeamMessage(5, 1, None, (0,), "system", "")]))
    asks = "Ask Cook 2 for what the recipe needs."
    assert shows == WaitButton("Cook 2", phase == "choose", 3, 0, "", asks)
    asked = shown(view(game("boiled_egg"), 0, [request(1, 0, [command("pickup egg ingredient_dispenser")])]))
    assert asked.tip == "Cook 2 gets what you ask for: wait, or do your own part."
    world = game("boiled_egg")
    play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter")
    unit = [command("pickup egg ingredient_dispenser"), command("place_obj_on_counter")]
    assert shown(view(world, 0, [request(1, 0, unit)])).tip == "", "all is there"
    assert shown(view(game("boiled_egg"), 1, [])).tip == "", "an assistant asks for nothing"


def test_to_stay_for_a_step_belongs_to_the_waits_which_come_last_in_the_menu() -> None:
    world = game("boiled_egg")
    world.hold[1] = "egg"
    menu = {part.id: part for part in PAGE.menu(view(world, 1, [])).parts}["menu-actions"]
    groups = menu.shows.groups  # type: ignore[attr-defined]
    assert [group.is_wait for group in groups] == [False] * (len(groups) - 1) + [True]
    assert len(groups[-1].actions) == 2


def test_the_page_warns_before_the_last_shared_counter_is_filled() -> None:
    world, raw = game("boiled_egg", gamma=9.0), ("pickup egg ingredient_dispenser", "place_obj_on_counter")
    told = []
    for _ in range(4):
        shown = str(render_panel(PAGE.contents(view(world, 1, []))))
        told.append(shown.partition('<strong class="room-left">')[2].partition("</strong>")[0])
        play(world, 1, *raw)
    assert told == [
        "",
        "",
        "Only one shared counter is still free.",
        "All shared counters are full: take something before you hand over more.",
    ]
