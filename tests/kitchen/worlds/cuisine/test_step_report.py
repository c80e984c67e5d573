"""The page reports the last step in the right places, and as it happened."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kitchen.contract.page_view import SeatView, StepView
from kitchen.contract.world import Command, Event, World
from kitchen.play.live.render_page import render_panel
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.display_text import KitchenWords
from kitchen.worlds.cuisine.order_tickets import LAST_CALL
from kitchen.worlds.cuisine.page import PAGE
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import OWN, seen


def kitchen(seats: int = 1) -> World:
    """Level 3: two pots, two boards, two mixers."""
    world = get_world("cuisine").create(seats=seats, settings={"level": "level_3"})
    world.reset(3)
    return world


def play(world: World, *turns: Sequence[Command]) -> SeatView:
    """What seat 0 sees after these steps; each has a command for every seat."""
    past: list[StepView] = []
    for commands in turns:
        turn = dict(enumerate(commands))
        events = world.step(turn)
        past.insert(0, StepView(world.clock, turn, events))
    return seen(world, 0, tuple(past[:8]))


def drawn(view: SeatView, name: str) -> str:
    """One panel with all its parts."""
    return next(str(render_panel(panel)) for panel in PAGE.panels(view) if panel.id == name)


def test_staying_is_not_reported_as_going() -> None:
    stay: Command = ("goto", "servingtable0")
    there: Command = ("goto", "pot1")
    view = play(kitchen(), [stay], [there], [("noop",)], [there])
    told = drawn(view, "happened")
    assert told.count("You went to pot 2") == told.count("You stayed at pot 2") == 1
    assert "You stayed at the serving table" in told
    assert "You stayed at pot 2" in drawn(view, "spoken")


def test_a_refusal_is_told_beside_the_robot_and_in_the_line_of_news_and_spoken_once() -> None:
    view = play(kitchen(2), [("activate", "pot0"), ("noop",)])
    why = "Pot 1 was too far away: go there first."
    floor = drawn(view, "floor")
    assert floor.count(why) == 1
    assert f'data-bubble aria-hidden="true">{why}' in floor
    assert drawn(view, "news").count(why) == 1
    assert drawn(view, "spoken").lower().count(why.lower()) == 1
    assert why not in drawn(play(kitchen(2), [("noop",), ("noop",)]), "floor")


def test_who_listens_hears_of_their_own_first_then_of_what_is_for_all_then_of_the_others() -> None:
    world, turn = kitchen(2), {0: ("noop",), 1: ("goto", "pot0")}
    for _ in range(world.brief(1)["interval"] + 1):
        events = world.step(turn)
        if any(event.kind == "ordered" for event in events):
            break
    said = drawn(seen(world, 1, (StepView(world.clock, turn, events),)), "spoken")
    assert said.index("You ") < said.index("New order") < said.index("Robot 1")


def test_robots_move_in_the_order_in_which_they_act() -> None:
    view = play(kitchen(3), [("noop",), ("goto", "pot0"), ("goto", "pot1")])
    floor = drawn(view, "floor")
    assert all(f'data-bot="{seat}" data-turn="{seat}"' in floor for seat in range(3))


def test_a_missed_order_is_named_by_the_ticket_that_was_there_and_told_first() -> None:
    world, waits = kitchen(), [("noop",)]
    before, view = play(world), play(world, waits)
    while "ran out of time" not in drawn(view, "happened"):
        before, view = view, play(world, waits)
    lost = drawn(view, "orders").split('data-lost="')[1].split('"')[0]
    assert f'id="{lost}"' in drawn(before, "orders")
    assert f'id="{lost}"' not in drawn(view, "orders")
    assert 'class="failed"' in drawn(view, "news")


def did(seat: int, *command: str, item: str = "salmonSushi") -> Event:
    """A robot has done this with salmon sushi, or another item."""
    return Event("performed", seat, {"command": list(command), "item": item})


COOKED, SERVED = ("activate", "mixer0"), ("put", "servingtable0")
COMPLETED = Event("completed", None, {"dish": "salmonSushi"})


def served(*before: Event, seat: int = 0, server: int = 0) -> SeatView:
    """What a seat sees when salmon sushi was served, after these events."""
    steps = (StepView(2, {}, (did(server, *SERVED), COMPLETED)), StepView(1, {}, before))
    return seen(kitchen(3), seat, steps)


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (served(did(0, *COOKED)), "You cooked and served it"),
        (served(did(1, *COOKED)), "Robot 2 cooked it, you served it"),
        (served(did(0, *COOKED), server=2), "You cooked it, Robot 3 served it"),
        (served(did(1, *COOKED), server=2), "Robot 2 cooked it, Robot 3 served it"),
        (served(did(1, *COOKED), server=1), "Robot 2 cooked and served it"),
        (served(), "You served it"),
        (served(did(1, "put", "mixer0"), server=2), "Robot 3 served it"),
        (served(did(0, "put", "mixer0", item="cookedRice"), server=2), "Robot 3 served it; you helped"),
        (served(did(0, "put", "pot0", item="rice"), server=2), "Robot 3 served it; you helped"),
    ],
)
def test_it_is_said_who_cooked_and_who_served_a_dish_and_once_aloud(view: SeatView, said: str) -> None:
    news = f"Salmon sushi served. {said}"
    assert news in drawn(view, "news") and said in drawn(view, "done")
    assert drawn(view, "spoken").count(said) == 1


@pytest.mark.parametrize(
    "others",
    [
        did(0, "put", "pot0", item="potato"),
        did(0, "get", "storage0", item="rice"),
        did(1, "put", "pot0", item="rice"),
    ],
)
def test_it_is_not_said_that_somebody_helped_who_did_not(others: Event) -> None:
    assert "helped" not in drawn(served(others, server=2), "news")


def test_a_dish_without_a_known_server_is_only_said_to_be_served() -> None:
    view = seen(kitchen(), 0, (StepView(9, {}, (COMPLETED,)),))
    assert "Salmon sushi served</p>" in drawn(view, "news")
    assert "done-credit" not in drawn(view, "done")


def guests(view: SeatView) -> list[tuple[str, str, str]]:
    """The mood, the look and the dish of each guest behind the serving table."""
    one = r'data-guest="(\w+)"><i class="guest-body look-(\d) .*?#(\w+)"/></svg></span>'
    return re.findall(one, drawn(view, "floor"))


def test_the_guest_likes_what_is_served_and_dislikes_a_missed_order() -> None:
    view = served(did(1, *COOKED))
    assert [mood for mood, *_ in guests(view)] == ["happy", "calm"]
    assert '<b class="gain" aria-hidden="true">+1</b>' in drawn(view, "floor")
    missed = seen(kitchen(), 0, (StepView(9, {}, (Event("failed", None, {"dish": "salmonSushi"}),)),))
    assert [mood for mood, *_ in guests(missed)] == ["sad", "calm"]
    assert ' mood-sad"' in drawn(missed, "floor") and "+1" not in drawn(missed, "floor")
    assert 'class="done-total is-missed"' in drawn(missed, "done")
    assert 'class="done-total">' in drawn(play(kitchen()), "done")


def test_dishes_in_a_row_are_counted_again_after_a_missed_order() -> None:
    missed = Event("failed", None, {"dish": "salmonSushi"})

    def row(completed: int, failed: int, *newest_first: tuple[Event, ...]) -> list[str]:
        steps = tuple(StepView(9 - number, {}, events) for number, events in enumerate(newest_first))
        view = seen(kitchen(), 0, steps)
        counted = {**view.observation, "completed": completed, "failed": failed}
        return re.findall(
            r"<strong>(\d+)</strong> in a row", drawn(replace(view, observation=counted), "done")
        )

    assert row(3, 0, (COMPLETED,)) == ["3"], "all that were served"
    assert row(3, 1, (missed,), (COMPLETED,), (COMPLETED,)) == []
    assert row(5, 1, (missed, COMPLETED), (COMPLETED,)) == []
    assert row(5, 1, (COMPLETED,), (), (missed, COMPLETED), (COMPLETED,)) == ["2"]


def test_a_guest_waits_for_each_order_and_those_who_come_in_turn_look_different() -> None:
    world, turns = kitchen(), [[("noop",)]]
    view = play(world)
    while len(view.observation["orders"]) < 3:
        view = play(world, *turns)
    waiting = [(look, dish) for mood, look, dish in guests(view) if mood != "sad"]
    assert [dish for _, dish in waiting] == [order["dish"] for order in view.observation["orders"]]
    assert len({look for look, _ in waiting}) == 3
    ids = re.findall(r'id="g(t[\w-]+)"', drawn(view, "floor"))
    assert all(f'id="{ticket}"' in drawn(view, "orders") for ticket in ids)
    nobody = replace(view, observation={**view.observation, "orders": []}, history=())
    assert not guests(nobody) and 'class="guests"' in drawn(nobody, "floor"), "an empty stall keeps its posts"


def test_a_guest_whose_order_runs_out_soon_looks_worried() -> None:
    world, view = kitchen(), play(kitchen())
    while 'class="left late' not in drawn(view, "orders"):
        view = play(world, [("noop",)])
    assert guests(view)[0][0] == "late"


def test_the_ticket_shows_the_face_of_its_guest_and_shakes_in_its_last_steps() -> None:
    world, view = kitchen(), play(kitchen())
    while 'class="left late last-call"' not in drawn(view, "orders"):
        assert "last-call" not in drawn(view, "orders")
        view = play(world, [("noop",)])
    faces = re.findall(r'-f" class="guest-body look-(\d) mood-(\w+)"', drawn(view, "orders"))
    assert faces == [(look, mood) for mood, look, _ in guests(view)] and faces[0][1] == "late"
    assert view.observation["orders"][0]["life"] == LAST_CALL


def test_dishes_in_a_row_are_counted_until_an_order_is_missed() -> None:
    view = play(kitchen())

    def head(completed: int, failed: int) -> str:
        counted = {**view.observation, "completed": completed, "failed": failed}
        return drawn(replace(view, observation=counted), "done")

    assert "<strong>3</strong> in a row" in head(3, 0)
    assert "in a row" not in head(3, 1) and "in a row" not in head(1, 0)


def test_all_who_had_a_part_in_a_dish_are_glad_and_a_missed_order_saddens_empty_hands() -> None:
    view = served(did(1, *COOKED))
    assert [pose_of(seat, view) for seat in range(3)] == ["cheer", "cheer", "stand"]
    helped = served(did(1, *COOKED), did(2, "put", "mixer0", item="cookedRice"))
    assert pose_of(2, helped) == "cheer"
    missed = seen(kitchen(2), 0, (StepView(9, {}, (Event("failed", None, {"dish": "salmonSushi"}),)),))
    assert pose_of(0, missed) == pose_of(1, missed) == "sad"


def pose_of(seat: int, view: SeatView) -> str:
    """What the character of this robot does."""
    return drawn(view, "floor").split(f'data-bot="{seat}"')[1].split(" pose-")[1].split('"')[0]


def test_a_character_does_what_its_robot_did() -> None:
    assert pose_of(0, served(did(1, *COOKED))) == "cheer"
    assert pose_of(0, play(kitchen(), [("noop",)])) == "wait"
    assert pose_of(0, play(kitchen(), [("goto", "pot0")])) == "stand"
    assert pose_of(0, play(kitchen(), [("activate", "pot0")])) == "sad"
    assert pose_of(0, play(kitchen(), [("goto", "storage0")], [("get", "storage0", "rice")])) == "carry"
    rice = ("goto storage0", "get storage0 rice", "goto pot0", "put pot0", "activate pot0")
    assert pose_of(0, play(kitchen(), *([tuple(text.split())] for text in rice))) == "stir"
    fish = (
        "goto storage0",
        "get storage0 salmon",
        "goto chopboard0",
        "put chopboard0",
        "activate chopboard0",
    )
    chopped = play(kitchen(), *([tuple(text.split())] for text in fish))
    assert pose_of(0, chopped) == "chop"
    assert 'data-cue="chop"' in drawn(chopped, "floor") or 'data-cue="ready"' in drawn(chopped, "floor")


def test_the_thing_of_the_next_action_is_at_the_head_only_where_it_is_shown() -> None:
    intents = {1: {"do": "bring", "item": "rice", "to": "pot0"}, 0: {"do": "go", "item": "nothing"}}
    view = changed(play(kitchen(2)), intents=intents, shows_intents=True)
    assert drawn(view, "floor").count('class="plans"') == 1
    assert 'class="plans"' not in drawn(changed(view, shows_intents=False), "floor")


def test_the_dish_that_each_robot_works_for_is_at_its_head_and_in_words_in_the_tables() -> None:
    steps = [("goto", "storage0"), ("noop",)], [("get", "storage0", "rice"), ("noop",)]
    carries = play(kitchen(2), *steps)
    assert re.findall(r'class="thing works"[^>]*><use href="[^"]*#(\w+)"', drawn(carries, "floor")) == [
        "salmonSushi"
    ]
    assert "Robot 1, holding Rice, for salmon sushi" in drawn(carries, "floor")
    assert '<span id="r0-does" class="does">for salmon sushi</span>' in drawn(carries, "robots")
    assert '<span id="r1-does" class="does"></span>' in drawn(carries, "robots")
    puts = play(kitchen(2), *steps, [("goto", "pot0"), ("noop",)], [("put", "pot0"), ("noop",)])
    assert "makes cooked rice for salmon sushi" in drawn(puts, "robots")
    unordered = changed(carries, observation={**carries.observation, "orders": []})
    assert "works" not in drawn(unordered, "floor")


def test_a_ticket_draws_the_tool_on_each_way_and_whose_hands_are_on_what() -> None:
    view = play(kitchen(2), [("goto", "storage0"), ("noop",)], [("get", "storage0", "rice"), ("noop",)])
    ticket = drawn(view, "orders")
    assert 'tools.svg#pot"' in ticket
    assert 'tools.svg#mixer"' in ticket
    assert "Cooked rice is made of rice with the pot." in ticket
    assert "Robot 1 is working on the rice." in ticket
    assert ticket.count('<use href="#seat-1"') == 1


def test_what_a_tool_still_works_on_is_being_made_and_has_no_tick() -> None:
    world = kitchen()
    rice = ("goto storage0", "get storage0 rice", "goto pot0", "put pot0", "activate pot0")
    view = play(world, *([tuple(text.split())] for text in rice))
    assert view.observation["locations"]["pot0"]["busy"]
    ticket = drawn(view, "orders")
    assert "Being made for it: cooked rice." in ticket
    assert "In the kitchen for it" not in ticket
    assert ticket.count('href="#making"') == 1
    while view.observation["locations"]["pot0"]["busy"]:
        view = play(world, [("noop",)])
    ticket = drawn(view, "orders")
    assert "In the kitchen for it: cooked rice." in ticket
    assert "#making" not in ticket


def test_the_first_hint_fits_every_view() -> None:
    """Tables and the scene have no ring around a place."""
    assert not any(word in text for text in PAGE.first_steps for word in ("ring", "click what"))


def test_fire_burns_only_under_what_works() -> None:
    sprite = (OWN / "static/worlds/cuisine/tools.svg").read_text()
    tools = dict(re.findall(r'<symbol id="([\w-]+)"[^>]*>(.*)</symbol>', sprite))
    burning = {name.removesuffix("-fire") for name in tools if name.endswith("-fire")}
    assert burning == {"pan", "pot"}
    assert not any(tools[name].startswith(tools[f"{name}-fire"]) for name in burning)
    floor = drawn(play(kitchen()), "floor")
    assert floor.count('class="tool fire"') == floor.count("pot-fire") == 2
    assert ":not(:has(.contents.busy)) .fire" in (OWN / "static/worlds/cuisine/floor.css").read_text()


def test_a_dish_that_is_ordered_is_never_called_unknown() -> None:
    command: Command = ("get", "servingtable0", "salmonSushi")
    told = KitchenWords().refusals(["unknown_item"], command)
    assert told == "There was no salmon sushi at serving table 1."


def test_deciding_robots_are_not_shown_as_busy() -> None:
    view = seen(kitchen(2), 0, phase="waiting")
    table = drawn(view, "robots")
    assert '<th scope="col">Busy</th>' in table
    assert table.count("deciding") == 1
