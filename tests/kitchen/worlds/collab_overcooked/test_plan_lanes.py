"""The two lanes have what the order still needs, each in the lane of the cook who can do it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from kitchen.contract.organisation import SAY
from kitchen.contract.page_view import DRAWING_ONLY, PlansView, SeatView
from kitchen.contract.team_messages import CODE_KEY, TeamMessage
from kitchen.contract.world import Command
from kitchen.worlds.collab_overcooked.macro_checks import STARTED_BY
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.plan_lanes import Lanes, lanes_panel
from kitchen.worlds.collab_overcooked.request_panels import RequestCards
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import execute, game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import BY_LEVEL, request, view

STEW = "sliced_zucchini_and_chickpea_stew"
STARTS = {utensil: (verb, utensil) for verb, utensil in STARTED_BY.items()}


def seen(world: CollabOvercooked, seat: int = 0, said: tuple[TeamMessage, ...] = ()) -> SeatView:
    """Return the view of a person who may plan."""
    return replace(view(world, seat, list(said)), plans=PlansView(offered=True))


def steps_of(shown: SeatView) -> list[dict[str, Any]]:
    """The steps of both lanes."""
    plan = cast(Lanes, lanes_panel(shown).shows).plan
    return json.loads(plan)["steps"] if plan else []


def keys_of(shown: SeatView) -> list[str]:
    """The keys of the steps of both lanes, with the state of those that were requested."""
    return [f"{one['key']} {one['state']}".strip() for one in steps_of(shown)]


def lane(steps: list[dict[str, Any]], seat: int) -> list[Command]:
    """The commands of a lane in the given order. The last step of a job starts its utensil."""
    own, made = [one for one in steps if one["seat"] == seat], list[Command]()
    for number, one in enumerate(own):
        made += map(tuple, one["macros"])
        if one["job"] >= 0 and one["job"] not in [other["job"] for other in own[number + 1 :]]:
            made.append(STARTS[one["macros"][-1][1]])
    return made


@pytest.mark.parametrize("task", BY_LEVEL)
def test_both_lanes_carried_out_as_they_are_deliver_the_order(task: str) -> None:
    world = game(task, plan_lanes=True, gamma=3.0)
    steps = steps_of(seen(world))
    assert execute(world, (lane(steps, 0), lane(steps, 1))) > 0


def test_a_step_leaves_its_lane_when_it_is_done_and_one_that_was_refused_can_be_asked_again() -> None:
    world = game(STEW, plan_lanes=True)
    todo = ["put-pot0-zucchini_slices", "put-pot0-chickpea", "serve"]
    assert keys_of(seen(world)) == [*todo, "bring-zucchini_slices", "bring-chickpea", "bring-dish"]
    units = [list(map(tuple, one["macros"])) for one in steps_of(seen(world)) if one["seat"]]
    asked = request(1, 0, [*units[1], *units[2]])
    refusal = TeamMessage(2, 1, 1, (0,), SAY, "Not now", data={CODE_KEY: "not_now"})
    by_hand = TeamMessage(2, 1, 1, (0,), SAY, "Not now: Bring chickpea, Bring dish")
    assert keys_of(seen(world, said=(asked,)))[3:] == [
        "bring-zucchini_slices",
        "bring-chickpea asked",
        "bring-dish asked",
    ]
    for no in (refusal, by_hand):
        assert keys_of(seen(world, said=(asked, no)))[4:] == ["bring-chickpea refused", "bring-dish refused"]
    play(world, 1, "pickup chickpea ingredient_dispenser", "place_obj_on_counter")
    assert keys_of(seen(world))[3:] == ["bring-zucchini_slices", "bring-dish"]
    play(world, 0, "pickup chickpea counter", "put_obj_in_utensil pot0")
    assert keys_of(seen(world))[:2] == ["put-pot0-zucchini_slices", "serve"]


@pytest.mark.parametrize(
    ("seat", "settings"),
    [(0, {}), (1, {"plan_lanes": True}), (0, {"plan_lanes": True, "typed": True}),
     (0, {"plan_lanes": True, "knowledge": "assistant"})],
)  # fmt: skip
def test_only_a_chef_who_knows_the_recipe_and_may_plan_gets_the_lanes(
    seat: int, settings: dict[str, Any]
) -> None:
    shown = seen(game(STEW, **settings), seat)
    assert "plan-lanes" not in {one.id for one in PAGE.panels(shown)} and not steps_of(shown)


def test_a_message_that_asks_for_several_things_names_each_of_them_and_so_does_its_refusal() -> None:
    world = game(STEW, plan_lanes=True)
    steps = [one for one in steps_of(seen(world)) if one["seat"]]
    asked = request(1, 0, [macro for one in steps for macro in one["macros"]])
    assert PAGE.requests_named(asked.data) == "Cut zucchini, Bring chickpea, Bring dish"
    (card,) = cast(RequestCards, PAGE.requests(seen(world, 1, (asked,))).shows).cards
    assert card.refusal == "Not now: Cut zucchini, Bring chickpea, Bring dish"


def test_the_lanes_stay_when_the_game_is_over_and_end_there() -> None:
    shown = seen(game(STEW, plan_lanes=True))
    over = replace(shown, shown=DRAWING_ONLY, phase="over", talk=replace(shown.talk, addressees=()))
    (panel,) = (one for one in PAGE.panels(over) if one.id == "plan-lanes")
    assert panel.shows == Lanes()
