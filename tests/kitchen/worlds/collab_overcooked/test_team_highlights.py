"""The card at the end tells what the cooks handed over and what was lost."""

from __future__ import annotations

from kitchen.contract.world import Event
from kitchen.words.gettext_without_django import in_language
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import command, game

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
    assert PAGE.highlights(world.brief(0), {}, steps) == (), "the chef has not taken it"
    steps += [one for macro in BURNT for one in events_of(world, 0, macro)]
    told = ("You handed over 1 thing to each other.", "Lost: chickpea.")
    assert PAGE.highlights(world.brief(0), {}, steps) == told
    with in_language("es"):
        handed_over, _ = PAGE.highlights(world.brief(0), {}, steps)
    assert handed_over == "Se entregó 1 cosa entre ustedes.", "pasarse would also mean to go off"
