"""The card at the end tells what the guest says, where steps were lost, and what was handed over."""

from __future__ import annotations

from kitchen.contract.world import Event
from kitchen.words.gettext_without_django import in_language
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import command, game

STEW = "sliced_zucchini_and_chickpea_stew"
BROUGHT = ("pickup chickpea ingredient_dispenser", "place_obj_on_counter")
BURNT = ("pickup chickpea counter", "put_obj_in_utensil oven0", "bake oven0")


def events_of(world: CollabOvercooked, seat: int, macro: str) -> list[tuple[Event, ...]]:
    """The events of each step in which this macro is carried out."""
    steps = [tuple(world.step({seat: command(macro)}))]
    while world.doing[seat] is not None:
        steps.append(tuple(world.step({})))
    return steps


def test_what_was_handed_over_and_what_was_lost_is_told() -> None:
    world = game("sliced_zucchini_and_chickpea_stew", gamma=3.0)
    steps = [one for macro in BROUGHT for one in events_of(world, 1, macro)]
    sad = "Ms Rossi: “What a pity. I will come again.”"
    assert PAGE.highlights(world.brief(0), {}, steps) == (sad,), "the chef has not taken it"
    steps += [one for macro in BURNT for one in events_of(world, 0, macro)]
    told = (sad, "1 thing changed hands.", "Lost: chickpea.")
    assert PAGE.highlights(world.brief(0), {}, steps) == told
    with in_language("es"):
        _, handed_over, _ = PAGE.highlights(world.brief(0), {}, steps)
    assert handed_over == "1 cosa cambió de manos."


def played(
    order: int, pause: int = 0, **settings: object
) -> tuple[CollabOvercooked, list[tuple[Event, ...]]]:
    """A game in which the assistant follows a reference trajectory after a pause, and the events of its
    steps."""
    world, pair = game(STEW, layout="turned", gamma=3.0, **settings), references(STEW)[0]
    units = list(pair.units)
    units.insert(order, units.pop(1))
    chef = references(STEW)[0 if order else 1].chef
    left, steps = [list(chef), [macro for unit in units for macro in unit]], list[tuple[Event, ...]]()
    while not world.has_ended:
        turn = {
            seat: left[seat].pop(0)
            for seat in (0, 1)
            if world.doing[seat] is None and left[seat] and world.allows(seat, left[seat][0])
            if seat == 0 or len(steps) >= pause
        }
        steps.append(tuple(world.step(turn)))
    return world, steps


def test_the_losses_are_told_with_what_would_have_saved_them_if_the_study_tells_the_best_run() -> None:
    world, steps = played(0, best_run=True)
    told = PAGE.highlights(world.brief(0), {}, steps)
    assert told[:2] == (
        "Ms Rossi: “Five lines of praise, and I rarely write three!”",
        "As fast as the best run known: 30 steps!",
    )
    world, steps = played(0, pause=9, best_run=True)
    told = PAGE.highlights(world.brief(0), {}, steps)
    assert told[0].startswith("Ms Rossi: “Well cooked.")
    assert told[1] == "You took 39 steps. The best run known takes 30."
    assert told[2] == (
        "9 steps lost until this was handed over: chickpea. The assistant stood still for 9 steps: ask for "
        "it earlier, or bring it unasked."
    )
    own = PAGE.highlights(world.brief(1), {}, steps)[2]
    assert "ask for it" not in own and "a bet wins them back" in own, "the assistant itself reads it"
    world, steps = played(0, pause=9)
    told = PAGE.highlights(world.brief(0), {}, steps)
    neutral = "Ms Rossi: “Thank you. That is just what I ordered.”"
    assert told == (neutral, "3 things changed hands."), "by default nobody tells the pace"
