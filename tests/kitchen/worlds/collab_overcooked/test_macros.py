"""Each check of a macro, each end of one, and what a step does, in the order of the rules."""

from __future__ import annotations

import pytest

from kitchen.contract.world import Event
from kitchen.worlds.collab_overcooked.macro_checks import is_known_macro, known_macros, possible_macros
from kitchen.worlds.collab_overcooked.reference_trajectories import ReferencePair, references
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.kitchen.worlds.collab_overcooked.games import GO_ON, command, game, play

CHEF, ASSISTANT = 0, 1


def kinds(events: list[Event] | tuple[Event, ...]) -> list[str]:
    return [event.kind for event in events]


@pytest.fixture
def soup() -> CollabOvercooked:
    return game("baked_pumpkin_soup", gamma=10)


def running(world: CollabOvercooked) -> None:
    """The board cuts a pumpkin."""
    play(world, ASSISTANT, "pickup pumpkin ingredient_dispenser", "put_obj_in_utensil chopping_board0")
    play(world, ASSISTANT, "cut chopping_board0")


@pytest.mark.parametrize(
    ("seat", "macro", "code"),
    [
        (0, "", "unknown_verb"),
        (0, "fly", "unknown_verb"),
        (0, "pickup egg", "wrong_arguments"),
        (0, "deliver now", "wrong_arguments"),
        (0, "pickup stone counter", "unknown_object"),
        (0, "pickup egg serving", "unknown_place"),
        (1, "pickup potato_slices ingredient_dispenser", "not_raw"),
        (1, "pickup dish ingredient_dispenser", "wrong_dispenser"),
        (1, "pickup egg dish_dispenser", "wrong_dispenser"),
        (0, "pickup egg counter", "not_there"),
        (0, "pickup egg ingredient_dispenser", "not_reachable"),
        (1, "pickup egg pot0", "not_reachable"),
        (0, "pickup egg pot0", "not_in_utensil"),
        (0, "put_obj_in_utensil counter", "unknown_place"),
        (1, "put_obj_in_utensil pot0", "not_reachable"),
        (0, "put_obj_in_utensil pot0", "hands_empty"),
        (0, "cook oven0", "wrong_utensil"),
        (0, "cut pot0", "wrong_utensil"),
        (1, "cook pot0", "not_reachable"),
        (0, "cook pot0", "utensil_empty"),
        (0, "place_obj_on_counter", "hands_empty"),
        (0, "fill_dish_with_food counter", "unknown_place"),
        (0, "fill_dish_with_food blender0", "not_reachable"),
        (1, "fill_dish_with_food blender0", "not_reachable"),
        (0, "fill_dish_with_food pot0", "no_dish_in_hand"),
        (0, "deliver", "hands_empty"),
        (0, "wait 0", "wrong_arguments"),
        (0, "wait 1.5", "wrong_arguments"),
        (0, "wait ²", "wrong_arguments"),
        (0, "wait 6", "wait_too_long"),
    ],
)
def test_a_macro_is_refused_at_the_start_with_its_code(
    soup: CollabOvercooked, seat: int, macro: str, code: str
) -> None:
    (event,) = [one for one in soup.step({seat: command(macro)}) if one.seat == seat]
    assert (event.kind, event.data.get("reasons")) == ("refused", [code])
    assert soup.doing[seat] is None and soup.low[seat] == "stay"


def test_checks_of_a_utensil_follow_its_state(soup: CollabOvercooked) -> None:
    running(soup)
    play(soup, ASSISTANT, "wait 1")
    for macro in ("pickup egg chopping_board0", "put_obj_in_utensil chopping_board0", "cut chopping_board0"):
        assert soup.why_not(ASSISTANT, command(macro)) == "utensil_busy"
    assert soup.why_not(CHEF, command("pickup egg chopping_board0")) == "utensil_busy"
    play(soup, ASSISTANT, "wait 1", "pickup egg ingredient_dispenser")
    assert soup.things.utensils["chopping_board0"].ready == "pumpkin_slices"
    assert soup.why_not(ASSISTANT, command("put_obj_in_utensil chopping_board0")) == "utensil_ready"
    assert soup.why_not(ASSISTANT, command("cut chopping_board0")) == "utensil_busy"
    assert soup.why_not(ASSISTANT, command("pickup pumpkin_slices chopping_board0")) == "hands_full"
    assert soup.why_not(ASSISTANT, command("deliver")) == "not_reachable"
    for _ in range(3):
        play(soup, ASSISTANT, "put_obj_in_utensil blender0", "pickup egg ingredient_dispenser")
    assert soup.why_not(ASSISTANT, command("put_obj_in_utensil blender0")) == "utensil_full"
    assert soup.why_not(ASSISTANT, command("stir blender0")) == "hands_full"


def hand_over(world: CollabOvercooked, thing: str, place: str = "ingredient_dispenser") -> None:
    play(world, ASSISTANT, f"pickup {thing} {place}", "place_obj_on_counter")
    play(world, CHEF, f"pickup {thing} counter")


def test_dishes_and_food_have_checks_of_their_own(soup: CollabOvercooked) -> None:
    soup.things.utensils["pot0"].ready = "baked_pumpkin_soup"
    assert soup.why_not(CHEF, command("pickup baked_pumpkin_soup pot0")) == "needs_dish"
    hand_over(soup, "dish", "dish_dispenser")
    assert soup.why_not(CHEF, command("put_obj_in_utensil oven0")) == "dish_in_utensil"
    assert soup.why_not(CHEF, command("deliver")) == "not_food"
    assert soup.why_not(CHEF, command("fill_dish_with_food oven0")) == "not_cooking"
    play(soup, CHEF, "fill_dish_with_food pot0")
    assert soup.hold[CHEF] == "baked_pumpkin_soup_in_dish"
    assert soup.why_not(CHEF, command("put_obj_in_utensil oven0")) == "dish_in_utensil"
    plain = game("boiled_egg")
    plain.things.hold[CHEF] = "dish"
    assert plain.why_not(CHEF, command("fill_dish_with_food pot0")) == "no_dish_needed"


def test_other_food_loses_its_dish_in_a_utensil_and_is_taken_from_a_counter_by_its_name(
    soup: CollabOvercooked,
) -> None:
    soup.things.hold[CHEF] = "baked_pumpkin_slices_in_dish"
    play(soup, CHEF, "place_obj_on_counter", "pickup baked_pumpkin_slices counter")
    assert soup.hold[CHEF] == "baked_pumpkin_slices_in_dish"
    play(soup, CHEF, "put_obj_in_utensil pot0", "cook pot0")
    assert soup.things.utensils["pot0"].contents == ["baked_pumpkin_slices"]


def test_what_lies_in_the_other_room_cannot_be_reached(soup: CollabOvercooked) -> None:
    soup.things.counters[0] = "egg"
    assert soup.why_not(CHEF, command("pickup egg counter")) == "not_reachable"
    assert soup.allows(ASSISTANT, command("pickup egg counter"))


def test_own_counters_are_used_last_to_lay_down_and_first_to_take(soup: CollabOvercooked) -> None:
    for thing in ("egg", "corn", "pea", "bean"):
        play(soup, ASSISTANT, f"pickup {thing} ingredient_dispenser", "place_obj_on_counter")
    cells = [(each["at"], each["thing"]) for each in soup.observe(0)["counters"]]
    assert cells == [([1, 0], "bean"), ([2, 1], "egg"), ([2, 2], "corn"), ([2, 3], "pea")]
    play(soup, ASSISTANT, "pickup pea ingredient_dispenser")
    assert soup.why_not(ASSISTANT, command("place_obj_on_counter")) == "no_free_counter"
    soup.things.counters[0] = "corn"
    soup.things.hold[ASSISTANT] = None
    play(soup, ASSISTANT, "pickup corn counter")
    assert soup.counters[0] is None


def test_while_a_macro_is_in_progress_only_a_wait_can_be_ended(soup: CollabOvercooked) -> None:
    soup.step({CHEF: command("wait 5"), ASSISTANT: command("pickup egg ingredient_dispenser")})
    assert not soup.asks(CHEF) and not soup.asks(ASSISTANT)
    assert soup.legal_actions(ASSISTANT) == [GO_ON]
    (refused, gone_on) = soup.step({ASSISTANT: command("wait 1"), CHEF: GO_ON})[:2]
    assert (refused.data["reasons"], gone_on.kind) == (["busy"], "performed")
    assert command("wait 1") in soup.legal_actions(CHEF)
    soup.step({CHEF: command("wait 2")})
    assert soup.wait_left[CHEF] == 1
    soup.step({})
    assert soup.asks(CHEF)


def test_a_wait_counts_the_step_in_which_it_begins(soup: CollabOvercooked) -> None:
    soup.step({CHEF: command("wait 1")})
    assert soup.asks(CHEF)


def test_a_thing_that_was_taken_before_ends_the_macro_as_gone(soup: CollabOvercooked) -> None:
    play(soup, ASSISTANT, "pickup egg ingredient_dispenser", "place_obj_on_counter")
    soup.step({CHEF: command("pickup egg counter")})
    assert soup.doing[CHEF] is not None, "it turns first"
    events = soup.step({ASSISTANT: command("pickup egg counter")})
    assert ("gone", ASSISTANT) in [(one.kind, one.seat) for one in events]
    assert soup.low == ["interact", "interact"] and soup.hold == ["egg", None]
    assert soup.doing == [None, None] and len(soup.history[ASSISTANT]) == 2


def test_without_any_target_the_seat_stays(soup: CollabOvercooked) -> None:
    play(soup, ASSISTANT, "pickup egg ingredient_dispenser", "place_obj_on_counter", "wait 1")
    soup.step({CHEF: command("pickup egg counter")})
    soup.counters[1] = None
    events = soup.step({})
    assert kinds(events) == ["gone"] and soup.low[CHEF] is None and soup.asks(CHEF)


def test_filling_waits_at_the_utensil(soup: CollabOvercooked) -> None:
    soup.things.utensils["pot0"].contents = ["baked_pumpkin_slices"]
    play(soup, CHEF, "cook pot0")
    soup.things.hold[CHEF] = "dish"
    soup.step({CHEF: command("fill_dish_with_food pot0")})
    assert soup.low[CHEF] == "interact" and soup.hold[CHEF] == "dish"
    events = soup.step({}) + soup.step({})
    assert "ready" in kinds(events) and soup.hold[CHEF] == "baked_pumpkin_soup_in_dish"


def test_what_makes_nothing_is_destroyed_and_both_see_it() -> None:
    world = game("boiled_egg", gamma=10)
    events = play(
        world, ASSISTANT, "pickup egg ingredient_dispenser", "put_obj_in_utensil blender0", "stir blender0"
    )
    (event,) = [one for one in events if one.kind == "destroyed"]
    assert event == Event("destroyed", None, {"utensil": "blender0", "contents": ["egg"]})
    assert world.visible(CHEF, event) and world.visible(ASSISTANT, event)
    assert world.things.utensils["blender0"].contents == [] and world.score()["points"] == 0


def test_a_wrong_delivery_is_gone_and_the_episode_goes_on(soup: CollabOvercooked) -> None:
    soup.things.hold[CHEF] = "boiled_egg"
    events = play(soup, CHEF, "deliver")
    assert events[-1].data == {"thing": "boiled_egg", "right": False, "points": 0}
    assert soup.hold[CHEF] is None and not soup.over and soup.history[CHEF][-1][1:] == ["deliver"]
    soup.things.hold[CHEF] = "baked_pumpkin_soup"
    play(soup, CHEF, "deliver")
    assert not soup.over, "it needs a dish"


def test_the_time_limit_counts_the_delivering_step() -> None:
    world = game("baked_bell_pepper")
    for number in range(25):
        assert not world.has_ended, number
        world.step({})
    assert world.cut_off and not world.over and world.step({}) == ()
    limits = [game(name).step_limit for name in ("boiled_egg", "baked_potato_slices", "baked_potato_soup")]
    assert limits == [25, 35, 53]
    assert game("sliced_pumpkin_and_chickpea_stew").step_limit == 49
    assert game("mashed_potato_and_pea_patty").step_limit == 83
    assert game("potato_carrot_and_onion_patty").step_limit == 97
    assert game("baked_potato_slices", gamma=1.2).step_limit == 28


def test_a_delivery_in_the_last_step_is_a_success_and_a_step_later_it_cannot_be() -> None:
    pair = references("baked_bell_pepper")[0]
    for late, delivers in ((8, True), (9, False)):
        world = game("baked_bell_pepper")
        for _ in range(late):
            world.step({})
        play_out(world, pair)
        assert (world.clock, world.delivered, world.cut_off) == (25, delivers, not delivers)


ASSISTANTS_STEPS = ("north", "west", "interact", "east", "interact")
CHEFS_STEPS = (
    *(["stay"] * 5),
    *("west", "interact", "south", "south", "east", "interact", "interact"),
    *("stay", "stay", "interact", "south", "interact"),
)


def test_the_steps_of_a_level_1_order_are_those_of_the_rules() -> None:
    world = game("baked_bell_pepper")
    low = play_out(world, references("baked_bell_pepper")[0])
    assert [chef for chef, _ in low] == list(CHEFS_STEPS)
    assert [assistant for _, assistant in low][:5] == list(ASSISTANTS_STEPS)
    assert world.delivered and world.clock == 17


def play_out(world: CollabOvercooked, pair: ReferencePair) -> list[tuple[str | None, ...]]:
    """Execute the pair plainly; return the low-level actions of each step."""
    left, low = [list(pair.chef), list(pair.assistant)], []
    while not world.has_ended:
        can = (seat for seat in (0, 1) if world.doing[seat] is None and left[seat])
        world.step({seat: left[seat].pop(0) for seat in can if world.allows(seat, left[seat][0])})
        low.append(tuple(world.low))
    return low


def test_the_menu_is_exactly_what_passes(soup: CollabOvercooked) -> None:
    running(soup)
    for seat in (CHEF, ASSISTANT):
        every = {*known_macros(soup.things.rules, seat), command("wait 1")}
        assert set(possible_macros(soup.things, seat)) == {one for one in every if soup.allows(seat, one)}
    assert len(possible_macros(soup.things, ASSISTANT)) == 31


NOT_KNOWN = (
    *("", "wait 1", "go_on", "pickup stone counter", "pickup egg pot0", "cut pot0", "cut", "pickup egg"),
    *("deliver", "fill_dish_with_food pot0", "fill_dish_with_food blender0"),
)


def test_a_known_macro_has_a_thing_and_a_place_of_the_seat(soup: CollabOvercooked) -> None:
    rules = soup.things.rules
    for seat in (CHEF, ASSISTANT):
        assert all(is_known_macro(rules, seat, macro) for macro in known_macros(rules, seat))
    assert [text for text in NOT_KNOWN if is_known_macro(rules, ASSISTANT, command(text))] == []
    assert is_known_macro(rules, CHEF, command("deliver"))
    assert is_known_macro(rules, ASSISTANT, command("pickup egg blender0"))
