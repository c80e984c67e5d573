"""Hints for practice: a chef who follows them delivers; an assistant learns nothing of the recipe."""

from __future__ import annotations

import pytest

from kitchen.contract.page import ChoiceView, PlayerView, ResultView, SeatView, TalkView
from kitchen.contract.team_messages import REQUESTS_KEY, TeamMessage
from kitchen.contract.world import Command
from kitchen.play.live.seat_view import Hints, hints_for
from kitchen.worlds.collab_overcooked.display_text import command_words, thing_words
from kitchen.worlds.collab_overcooked.food_rules import food_rules
from kitchen.worlds.collab_overcooked.macro_checks import known_macros
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import GO_ON, command, game

BY_LEVEL = (
    "boiled_egg",
    "boiled_corn_slices",
    "baked_pumpkin_soup",
    "sliced_eggplant_and_chickpea_stew",
    "mashed_carrot_and_chickpea_patty",
    "taro_bean_and_bell_pepper_patty",
)


def view(world: CollabOvercooked, seat: int, messages: list[TeamMessage]) -> SeatView:
    """The view of a seat that has these messages."""
    names = {number: f"Cook {number + 1}" for number in (0, 1)}
    return SeatView(
        seat=seat,
        phase="over" if world.has_ended else "choose",
        step=world.clock,
        length=None,
        label="Practice",
        players=tuple(PlayerView(number, name, number == seat) for number, name in names.items()),
        waiting_for=(),
        brief=world.brief(seat),
        observation=world.observe(seat),
        history=(),
        result=ResultView(world.score()),
        choice=ChoiceView(legal=world.legal_actions(seat)),
        talk=TalkView(seat, names, (1 - seat,), messages=tuple(messages)),
    )


def request(number: int, sender: int, macros: list[Command]) -> TeamMessage:
    """A request of these macros."""
    data = {REQUESTS_KEY: [list(macro) for macro in macros]}
    return TeamMessage(number, 1, sender, (1 - sender,), "say", "", data)


def named(hint: str) -> list[Command]:
    """The macros of the assistant that a hint to ask names, in its order."""
    listed = hint.split(" for it: ")[-1].split("same way: ")[-1].split(". ")[0].rstrip(".").split("; ")
    by_words = {command_words(macro): macro for macro in known_macros(food_rules(), 1)}
    return [by_words[text] for text in listed]


@pytest.mark.parametrize("task", BY_LEVEL)
def test_a_chef_who_follows_the_hints_asks_in_two_rounds_and_delivers(task: str) -> None:
    world, todo = game(task, gamma=3.0), list[Command]()
    messages, rounds = list[TeamMessage](), list[tuple[int, list[Command]]]()
    world.reset(1)
    assert PAGE.outcome(view(world, 0, messages)) == "The time is up: the dish was not delivered"
    while not world.has_ended:
        if world.doing[0] is None:
            found = hints_for(world, view(world, 0, messages))
            while " for it: " in found.sentences[-1] or "same way: " in found.sentences[-1]:
                rounds.append((world.clock, macros := named(found.sentences[-1])))
                messages.append(request(len(messages) + 1, 0, macros))
                todo += macros
                found = hints_for(world, view(world, 0, messages))
        begins = bool(todo) and world.doing[1] is None and world.allows(1, todo[0])
        world.step({0: found.command or GO_ON, 1: todo.pop(0) if begins else GO_ON})
    assert world.delivered and world.score()["tes_chef"] == world.score()["tes_assistant"] == 1
    assert [step for step, _ in rounds].count(0) == 2 and rounds[1][1] == [("place_obj_on_counter",)]
    assert PAGE.outcome(view(world, 0, messages)) == "The dish was delivered in time"


def test_a_chef_who_types_is_told_what_to_type() -> None:
    world = game("boiled_egg", typed=True)
    (hint,) = hints_for(world, view(world, 0, [])).sentences
    assert "pickup(egg, ingredient_dispenser). Type each action" in hint


def test_each_hint_says_why() -> None:
    world = game("boiled_egg")
    for text, reason in (
        ("pickup egg counter", "shared counter"),
        ("cook pot0", "start it"),
        ("pickup boiled_egg pot0", "ready"),
        ("deliver", "delivery ends the game"),
    ):
        assert reason in PAGE.hint(view(world, 0, []), command(text), {})


def test_an_assistant_is_told_to_accept_or_to_ask_and_nothing_of_the_recipe() -> None:
    world = game("baked_pumpkin_soup")

    def hint(messages: list[TeamMessage]) -> Hints:
        return hints_for(world, view(world, 1, messages))

    assert hint([]).sentences == (
        "You do not have the recipe. Ask Cook 1 what is needed, or wait until it asks you.",
    )
    asked = hint([request(1, 0, [command("pickup pumpkin ingredient_dispenser")])])
    assert asked.command is None and "Press “Do this”" in asked.sentences[0]
    assert not any(thing_words(raw) in asked.sentences[0].split() for raw in food_rules().raw)
    assert hint([request(1, 0, [command("cut chopping_board0")])]) == hint([]), "it is not possible now"
