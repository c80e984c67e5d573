"""What a cook of the grids can be asked to do, and how it gets there."""

from __future__ import annotations

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Command
from kitchen.registry.agent_registry import get_pursuer
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.worlds.overcooked.test_skills import play, start
from tests.kitchen.worlds.pursuit import achieve, status_of_pursuit


def test_a_soup_is_cooked_and_delivered_by_one_job_after_another() -> None:
    game = start()
    for _ in range(3):
        achieve(game, 0, "put_onion_in_pot")
    achieve(game, 0, "fill_dish_with_soup")
    achieve(game, 0, "deliver_soup")
    assert (game.score()["soups"], game.observe(0)["players"][0]["holds"]) == (1, None)


def test_a_job_brings_what_it_needs_and_lays_down_what_is_in_the_way() -> None:
    game = start("cramped_room_tomato", cooking="interact")
    achieve(game, 1, "pickup", "tomato")
    achieve(game, 1, "put_onion_in_pot")
    assert [each["contents"] for each in game.observe(0)["pots"]] == [["onion"]]
    assert [each["thing"] for each in game.observe(0)["counters"]] == ["tomato"]
    achieve(game, 1, "put_tomato_in_pot")
    play(game, "north")  # out of the way to the dishes
    achieve(game, 1, "pickup", "dish")
    achieve(game, 1, "start_cooking")
    achieve(game, 1, "deliver_soup")


def test_a_soup_that_lies_on_a_counter_is_delivered() -> None:
    game = start(cooking="interact")
    for _ in range(3):
        achieve(game, 0, "put_onion_in_pot")
    for aim in ("start_cooking", "fill_dish_with_soup", "place_obj_on_counter"):
        achieve(game, 0, aim)
    assert achieve(game, 0, "deliver_soup") < 15


def test_another_ingredient_in_the_pot_does_not_reach_the_aim() -> None:
    game = start("cramped_room_tomato", cooking="interact")
    aim = ("put_onion_in_pot",)
    since = game.aim_mark(1, aim)
    achieve(game, 1, "put_tomato_in_pot")
    assert game.aim_status(1, aim, since) == UNKNOWN
    achieve(game, 1, *aim)
    assert game.aim_status(1, aim, since) == SUCCESS


def test_the_other_cook_does_not_reach_the_aim_of_this_one() -> None:
    game = start()
    since = game.aim_mark(0, ("put_onion_in_pot",))
    achieve(game, 1, "put_onion_in_pot")
    assert game.aim_status(0, ("put_onion_in_pot",), since) == UNKNOWN


def way_of(game: Overcooked, seat: int) -> Command | None:
    return get_pursuer("overcooked").make_way(make_situation(game, (seat,)), seat)


def test_a_cook_with_nothing_to_do_makes_way_for_one_that_faces_it() -> None:
    game = start()
    first, second = (tuple(game.observe(0)["players"][seat]["at"]) for seat in (0, 1))
    assert (first[1], second[1]) == (2, 1) and way_of(game, 1) is None
    play(game, "north east")
    facing = game.observe(0)["players"][0]
    assert (facing["face"], way_of(game, 0)) == ("east", None)
    way = way_of(game, 1)
    assert way is not None and game.allows(1, way)
    before = game.observe(0)["players"][1]["at"]
    game.step({1: way})
    assert game.observe(0)["players"][1]["at"] != before


def test_empty_hands_put_nothing_down() -> None:
    game = start()
    assert game.aim_status(0, ("place_obj_on_counter",), 0) == FAIL
    assert status_of_pursuit(game, 0, "place_obj_on_counter") == FAIL
    play(game, "north west interact")
    assert status_of_pursuit(game, 0, "pickup", "onion") == SUCCESS
    assert status_of_pursuit(game, 0, "place_obj_on_counter") == UNKNOWN


def test_a_seat_is_asked_only_for_what_it_reaches_or_gets_handed() -> None:
    left, right = ({" ".join(aim) for aim in start("forced_coordination").aims(seat)} for seat in (1, 0))
    assert left == {"pickup onion", "pickup dish", "place_obj_on_counter"}
    assert right == {*left, "put_onion_in_pot", "fill_dish_with_soup", "deliver_soup"}
    assert status_of_pursuit(start("forced_coordination"), 1, "deliver_soup") == FAIL


@pytest.mark.parametrize("aim", [("pickup", "moon"), ("pickup",), ("dance",), ("put_tomato_in_pot",)])
def test_what_is_no_aim_of_the_layout_cannot_be_pursued(aim: tuple[str, ...]) -> None:
    assert status_of_pursuit(start(), 0, *aim) == FAIL
