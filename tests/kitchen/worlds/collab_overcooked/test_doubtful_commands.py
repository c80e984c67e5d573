"""The page asks before a command that leads to nothing, and says why to who may know it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from kitchen.contract.page_view import StepView
from kitchen.pages.default_page import CommandChoice
from kitchen.worlds.collab_overcooked.doubtful_commands import doubt_words
from kitchen.worlds.collab_overcooked.page import PAGE, KitchenContents
from kitchen.worlds.collab_overcooked.quick_requests import AskBubble, bubble_panel
from kitchen.worlds.collab_overcooked.reference_trajectories import bring_raw
from kitchen.worlds.collab_overcooked.wait_for_teammate import LOSS_SHOWN
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import command, game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import request, view

STEW = "sliced_zucchini_and_chickpea_stew"
COOK, DELIVER = command("cook pot0"), command("deliver")


def in_pot(*things: str, **settings: Any) -> CollabOvercooked:
    """Create a game in which these raw or cut things are in the pot."""
    world = game(STEW, gamma=9.0, **settings)
    for thing in things:
        raw = thing.removesuffix("_slices")
        play(world, 1, f"pickup {raw} ingredient_dispenser")
        if raw != thing:
            board = "chopping_board0"
            play(world, 1, f"put_obj_in_utensil {board}", f"cut {board}", "wait 3", f"pickup {thing} {board}")
        play(world, 1, "place_obj_on_counter")
        play(world, 0, f"pickup {thing} counter", "put_obj_in_utensil pot0")
    return world


def doubt(world: CollabOvercooked) -> str:
    return doubt_words(COOK, view(world, 0, []))


def test_what_the_recipe_still_needs_is_told_only_to_who_has_it() -> None:
    assert doubt(in_pot("zucchini_slices")) == "The recipe needs more in it: chickpea."
    assert doubt(in_pot("zucchini_slices", knowledge="assistant")) == ""
    assert doubt(in_pot("zucchini_slices", "chickpea")) == ""


def test_food_that_makes_nothing_is_doubted_for_everybody_and_the_menu_asks_first() -> None:
    for knowledge in ("chef", "assistant"):
        world = in_pot("corn", "zucchini", knowledge=knowledge)
        assert doubt(world) == "This becomes nothing that anybody knows: the food would be lost."
        choice = PAGE._choice(COOK, view(world, 0, []), "").shows
        assert cast(CommandChoice, choice).anticipated == doubt(world)


def test_what_is_not_ordered_is_doubted_at_the_serving_place() -> None:
    world = game("boiled_egg", gamma=9.0)
    play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter")
    play(world, 0, "pickup egg counter", "put_obj_in_utensil pot0", "cook pot0", "wait 3")
    play(world, 0, "pickup boiled_egg pot0")
    assert doubt_words(DELIVER, view(world, 0, [])) == ""
    raw = game(STEW, gamma=9.0)
    play(raw, 1, "pickup chickpea ingredient_dispenser", "place_obj_on_counter")
    play(raw, 0, "pickup chickpea counter")
    assert doubt_words(DELIVER, view(raw, 0, [])) == "This is not what is ordered."


def test_lost_food_is_told_for_some_steps_and_its_request_is_open_again() -> None:
    asked = [request(1, 0, list(bring_raw("chickpea")))]
    world = in_pot("chickpea", "zucchini")

    def ticks() -> list[str]:
        offered = cast(AskBubble, bubble_panel(view(world, 0, asked)).shows).offered
        return [one.state for one in offered if one.name == "Bring chickpea"]

    assert ticks() == ["done"]
    events = play(world, 0, "cook pot0")
    assert ticks() == [""]
    seen = view(world, 0, asked)
    step = StepView(seen.step, {}, tuple(events))
    for age, is_told in ((0, True), (LOSS_SHOWN, False)):
        later = replace(seen, history=(step,), step=seen.step + age)
        shows = cast(KitchenContents, PAGE.contents(later).shows)
        assert ("chickpea" in shows.lost) == is_told
