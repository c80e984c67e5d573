"""The bubble offers whole pieces of work that the teammate can do, and tells nobody the recipe."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import cast

import pytest

from kitchen.contract.page_view import TalkView
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Command
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.quick_requests import AskBubble, bubble_panel
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.request_panels import RequestCards
from kitchen.worlds.collab_overcooked.work_names import work_name
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import command, game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import request, view

FETCH, PLACE = command("pickup egg ingredient_dispenser"), command("place_obj_on_counter")


def offered(world: CollabOvercooked, seat: int) -> dict[str, list[Command]]:
    """What the bubble of this seat offers: commands by name."""
    shows = cast(AskBubble, bubble_panel(view(world, seat, [])).shows)
    return {one.name: [tuple(json.loads(text)) for text in one.requests] for one in shows.offered}


@pytest.mark.parametrize("task", tasks())
def test_a_chef_with_the_recipe_is_offered_every_piece_of_work_that_the_order_needs(task: str) -> None:
    found = [tuple(macros) for macros in offered(game(task), 0).values()]
    for pair in references(task)[:1]:
        assert set(pair.units) <= set(found)
    assert all(game(task).can_request(1, macro) for macros in found for macro in macros)


def test_a_cook_without_the_recipe_is_offered_the_same_whatever_is_ordered() -> None:
    for seat, knowledge in ((1, "chef"), (0, "assistant")):
        for in_dish in (False, True):
            named = [name for name, task in tasks().items() if task.needs_dish == in_dish]
            found = {tuple(offered(game(name, knowledge=knowledge), seat)) for name in named}
            assert len(found) == 1 and "What next?" in next(iter(found))


def test_only_the_stand_in_that_marks_its_tips_is_said_to_cost_a_star_for_them() -> None:
    said = request(1, 0, [FETCH, PLACE])
    for one, cost in ((said, ""), (replace(said, data={**said.data, "code": "ask"}), "a tip costs a ★")):
        shows = cast(AskBubble, bubble_panel(view(game("boiled_egg"), 1, [one])).shows)
        assert shows.offered[-1].cost == cost


def test_what_is_pressed_while_a_program_answers_is_sent_then_but_a_person_may_change_minds() -> None:
    seen = view(game("boiled_egg"), 0, [])
    beside_a_person = replace(seen, talk=replace(seen.talk, people=(0, 1)))
    for each, marked in ((seen, True), (beside_a_person, False)):
        assert (" data-program" in render_panel(bubble_panel(each))) is marked


def test_an_assistant_can_ask_for_both_utensils_with_what_lies_on_a_shared_counter() -> None:
    world = game("boiled_egg")
    assert list(offered(world, 1)) == ["What next?"]
    play(world, 1, " ".join(FETCH), "place_obj_on_counter")
    found = offered(world, 1)
    assert list(found) == ["Cook egg", "Bake egg", "What next?"]
    assert [" ".join(macro) for macro in found["Cook egg"]] == [
        "pickup egg counter",
        "put_obj_in_utensil pot0",
        "cook pot0",
    ]
    play(world, 0, *map(" ".join, found["Cook egg"]), "wait 2")
    assert list(offered(world, 1)) == ["Pass me boiled egg", "What next?"]


@pytest.mark.parametrize("task", tasks())
def test_each_piece_of_work_has_a_short_name_of_its_own(task: str) -> None:
    named = offered(game(task), 0)
    assert all(work_name(macros) == name for name, macros in named.items())
    assert len(named) == len(set(map(str, named.values())))


@pytest.mark.parametrize(
    "macros",
    [
        [],
        [FETCH],
        [FETCH, FETCH, PLACE],
        [PLACE, PLACE],
        [FETCH, command("put_obj_in_utensil blender0")],
        [command("cut chopping_board0"), PLACE],
    ],
)
def test_commands_that_are_no_single_piece_of_work_have_no_short_name(macros: list[Command]) -> None:
    assert work_name(macros) == ""


def test_nobody_is_offered_a_bubble_who_types_or_has_no_teammate_to_ask() -> None:
    seen = view(game("boiled_egg", typed=True), 0, [])
    alone = replace(view(game("boiled_egg"), 0, []), talk=TalkView(0, {0: "Cook 1"}))
    for each in (seen, alone):
        assert "form" not in render_panel(bubble_panel(each))


def test_what_was_asked_is_thought_of_until_it_is_done_or_refused() -> None:
    world, asked = game("boiled_egg", gamma=9.0), [request(1, 0, [FETCH, PLACE])]

    def thought(seat: int, name: str) -> str:
        panels = {panel.id: panel for panel in PAGE.panels(view(world, seat, asked))}
        return " ".join(cast(RequestCards, panels[name].shows).items)

    assert (thought(0, "asked"), thought(1, "requests")) == ("egg", "egg")
    refusal = replace(request(2, 1, []), data={"code": "not_now"})
    asked.append(refusal)
    assert (thought(0, "asked"), thought(1, "requests")) == ("", "egg")
    asked.remove(refusal)
    play(world, 0, "wait 5", "wait 3")
    assert (thought(0, "asked"), thought(1, "requests")) == ("egg", "egg")
    play(world, 0, "wait 1")
    assert (thought(0, "asked"), thought(1, "requests")) == ("", ""), (
        "a person who does not help says no code"
    )
    of_stand_in = replace(asked[0], data={**asked[0].data, "code": "do_this"})
    asked[:] = [of_stand_in]
    assert thought(1, "requests") == "egg", "the stand-in still needs it"
    play(world, 1, *map(" ".join, (FETCH, PLACE)))
    assert (thought(0, "asked"), thought(1, "requests")) == ("", "")


def test_a_chef_sees_what_was_asked_for_and_what_is_done() -> None:
    world, bring = game("boiled_egg"), [FETCH, PLACE]

    def state(asked: list[TeamMessage]) -> str:
        shows = cast(AskBubble, bubble_panel(view(world, 0, asked)).shows)
        assert shows.is_docked
        return next(one.state for one in shows.offered if one.name == "Bring egg")

    asked = [request(1, 0, bring)]
    assert (state([]), state(asked)) == ("", "asked")
    play(world, 1, *map(" ".join, bring))
    now, later = world.clock, world.clock + 1
    assert (state(asked), state([*asked, request(2, 0, bring, later)])) == ("done", "asked")
    assert state([request(1, 0, bring, later)]) == "asked", "what came before the request does not meet it"
    assert state([*asked, request(2, 0, bring, now)]) == "done", "a request that was refused is not owed"
