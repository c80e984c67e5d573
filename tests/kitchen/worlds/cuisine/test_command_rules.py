"""The five commands of CuisineWorld, and the order of things in a step."""

from __future__ import annotations

from itertools import product

import pytest

from kitchen.worlds.cuisine.command_table import command_table_of
from kitchen.worlds.cuisine.level import shipped_catalogue
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.worlds.cuisine.cooking import (
    act,
    agent,
    fetch,
    kinds,
    kitchen,
    place,
    play,
    reasons,
    wander,
)
from tests.nightly import nightly


def test_agents_start_at_the_serving_table_with_empty_hands() -> None:
    world = kitchen(seats=3)
    assert world.observe(0)["agents"] == [{"at": "servingtable0", "holds": None, "busy": 0}] * 3


def test_any_number_of_agents_may_stand_at_one_place() -> None:
    world = kitchen(seats=8)
    assert set(kinds(act(world, *["goto pot0"] * 8))) == {"performed"}
    assert all(each["at"] == "pot0" for each in world.observe(0)["agents"])


def test_going_where_one_is_is_allowed_and_is_no_idleness() -> None:
    assert kinds(act(kitchen(), "goto servingtable0")) == ["performed"]


def test_the_storage_gives_every_base_ingredient() -> None:
    world = kitchen()
    play(world, "goto storage0")
    for item in shipped_catalogue().stock.ingredients:
        act(world, f"get storage0 {item}")
        assert agent(world)["holds"] == item
        act(world, "put storage0")
        assert agent(world)["holds"] is None
    assert place(world, "storage0")["items"] == []


@pytest.mark.parametrize(
    ("before", "command", "expected"),
    [
        ([], "get storage0 rice", {"not_at_location"}),
        (["goto storage0"], "get storage0 cookedRice", {"not_base_ingredient"}),
        (["goto storage0"], "get storage0 pizza", {"unknown_item"}),
        (["goto storage0"], "get storage0", {"wrong_arguments"}),
        (["goto storage0", "get storage0 rice"], "get storage0 rice", {"hands_full"}),
        (
            ["goto storage0", "get storage0 rice"],
            "get pot0",
            {"not_at_location", "hands_full", "not_open", "empty"},
        ),
        (["goto storage0"], "put storage0", {"hands_empty"}),
        (["goto storage0"], "activate storage0", {"empty"}),
        (["goto pot0"], "get pot0", {"not_open", "empty"}),
        (["goto chopboard0"], "get chopboard0", {"empty"}),
        (["goto pot0"], "put pot0", {"hands_empty"}),
        (["goto pot0"], "activate pot0", {"empty"}),
        ([], "get servingtable0", {"not_open", "empty"}),
        ([], "put servingtable0", {"hands_empty"}),
        ([], "activate servingtable0", {"empty"}),
        (["goto storage0", "get storage0 rice", "goto pot0"], "activate pot0", {"hands_full", "empty"}),
        (
            ["goto storage0", "get storage0 rice", "goto servingtable0"],
            "put servingtable0",
            {"not_a_dish_here"},
        ),
        (["goto storage0", "get storage0 tuna", "goto pot0"], "put pot0", {"would_waste"}),
        ([], "goto kitchen0", {"unknown_location"}),
        ([], "get kitchen0 pizza", {"unknown_location", "unknown_item"}),
        ([], "get kitchen0", {"unknown_location"}),
        ([], "goto", {"wrong_arguments"}),
        ([], "goto kitchen0 now", {"wrong_arguments", "unknown_location"}),
        ([], "put servingtable0 rice", {"wrong_arguments"}),
        ([], "get", {"wrong_arguments"}),
        ([], "noop pot0", {"wrong_arguments"}),
        ([], "wash pot0", {"unknown_verb"}),
        ([], "", {"unknown_verb"}),
    ],
)
def test_a_refusal_names_every_reason(before: list[str], command: str, expected: set[str]) -> None:
    world = kitchen()
    play(world, *before)
    assert reasons(act(world, command)) == expected


def test_what_was_put_into_a_pot_cannot_be_taken_out_only_completed() -> None:
    world = kitchen("level_7")
    fetch(world, "onion", "pot0")
    assert reasons(act(world, "get pot0")) == {"not_open"}
    assert reasons(act(world, "activate pot0")) == {"would_waste"}


def test_what_lies_on_a_chopping_board_can_be_taken_at_any_time() -> None:
    world = kitchen()
    fetch(world, "tuna", "chopboard0")
    assert reasons(act(world, "get chopboard0 tuna")) == set()
    assert agent(world)["holds"] == "tuna"


def test_a_full_board_is_at_capacity_even_for_empty_hands() -> None:
    world = kitchen()
    fetch(world, "tuna", "chopboard0")
    assert reasons(act(world, "put chopboard0")) == {"hands_empty", "at_capacity"}
    play(world, "goto storage0", "get storage0 salmon", "goto chopboard0")
    assert reasons(act(world, "put chopboard0")) == {"would_waste", "at_capacity"}


def test_an_equal_item_is_absorbed_even_by_a_full_board() -> None:
    world = kitchen()
    fetch(world, "tuna", "chopboard0")
    fetch(world, "tuna", "chopboard0")
    assert agent(world)["holds"] is None
    assert place(world, "chopboard0")["items"] == ["tuna"]


def test_only_recipes_of_the_level_count() -> None:
    world = kitchen("level_0")
    play(world, "goto storage0", "get storage0 beef", "goto blender0")
    assert reasons(act(world, "put blender0")) == {"would_waste"}


def test_a_pot_of_three_steps_is_busy_during_the_next_two() -> None:
    world = kitchen()
    fetch(world, "rice", "pot0")
    play(world, "activate pot0")
    assert place(world, "pot0") == {"items": ["cookedRice"], "busy": 2, "open": True}
    assert reasons(act(world, "get pot0")) == {"location_busy"}
    assert reasons(act(world, "activate pot0")) == {"location_busy", "would_waste"}
    assert reasons(act(world, "get pot0")) == set()
    assert place(world, "pot0") == {"items": [], "busy": 0, "open": False}


def test_a_busy_pot_takes_nothing() -> None:
    world = kitchen(seats=2)
    fetch(world, "rice", "pot0")
    act(world, "activate pot0", "goto storage0")
    act(world, "noop", "get storage0 rice")
    world.step({1: ("goto", "pot0"), 0: ("noop",)})
    play(world, "get pot0", "goto storage0", "put storage0", "goto pot0")
    act(world, "noop", "put pot0")
    act(world, "activate pot0", "goto storage0")
    assert "location_busy" in reasons(act(world, "put pot0"))


def test_chopping_keeps_agent_and_board_busy() -> None:
    world = kitchen(seats=2)
    fetch(world, "tuna", "chopboard0")
    act(world, "noop", "goto chopboard0")
    events = world.step([(0, ("activate", "chopboard0")), (1, ("get", "chopboard0"))])
    assert reasons(events, 1) == {"location_busy"}
    assert agent(world)["busy"] == 0
    assert world.legal_actions(0)[-2:] == [("get", "chopboard0", "tunaSashimi"), ("noop",)]


def test_a_busy_agent_can_only_noop() -> None:
    """No shipped tool keeps anybody for longer than its own step, so the state is made by hand."""
    world = kitchen(seats=2)
    stored = world.to_dict()
    stored["agents"][0] = {"at": "chopboard0", "holds": None, "busy": 1}
    stored["places"]["chopboard0"] = {"items": ["tunaSashimi"], "busy": 1, "done": False}
    world = CuisineWorld.from_dict(stored)
    assert world.legal_actions(0) == [("noop",)]
    assert world.anticipated_actions(0) == []
    assert not world.asks(0) and world.asks(1)
    events = world.step({0: ("goto", "pot0"), 1: ("goto", "pot0")})
    assert reasons(events) == {"agent_busy"} and reasons(events, 1) == set()
    assert agent(world)["busy"] == 0


def test_a_mixer_is_done_at_once_and_another_agent_can_take_its_product() -> None:
    world = mixer_with_everything_but_the_rice()
    events = act(world, "put mixer0", "activate mixer0", "get mixer0")
    assert kinds(events) == ["performed"] * 3
    assert agent(world, 2)["holds"] == "tunaSushi"


def mixer_with_everything_but_the_rice() -> CuisineWorld:
    """level_3: the tuna sashimi lies in the mixer, seat 0 holds the rice, seats 1 and 2 stand there too."""
    world = kitchen(seats=3, max_steps=100)
    fetch(world, "tuna", "chopboard0")
    play(world, "activate chopboard0", "get chopboard0", "goto mixer0", "put mixer0")
    fetch(world, "rice", "pot0")
    play(world, "activate pot0", "noop", "noop", "get pot0")
    act(world, "goto mixer0", "goto mixer0", "goto mixer0")
    return world


def test_a_second_command_of_a_seat_is_refused_and_the_first_one_runs() -> None:
    events = kitchen().step([(0, ("goto", "pot0")), (0, ("goto", "pot1")), (5, ("noop",))])
    assert [reasons(events, number) for number in range(3)] == [set(), {"duplicate_agent"}, {"unknown_agent"}]


@pytest.mark.parametrize(
    "odd", [None, 3, "goto pot0", ("goto", 3), ("goto", None), (["goto"],), {"verb": "noop"}]
)
def test_values_that_are_no_commands_are_refused(odd: object) -> None:
    world = kitchen(seats=2)
    events = world.step({0: odd, 1: ("goto", "pot0")})  # type: ignore[dict-item]
    assert kinds(events) == ["refused", "performed"]


def test_a_command_may_be_a_list() -> None:
    assert kinds(kitchen().step({0: ["goto", "pot0"]})) == ["performed"]  # type: ignore[dict-item]


def test_a_step_in_which_nothing_but_noop_was_carried_out_is_all_idle() -> None:
    world = kitchen(seats=2)
    assert kinds(world.step({})) == ["all_idle"]
    assert kinds(act(world, "noop", "put pot0")) == ["performed", "refused", "all_idle"]
    assert "all_idle" not in kinds(act(world, "noop", "goto pot0"))


def test_naming_another_item_than_lies_there_is_refused() -> None:
    world = kitchen()
    fetch(world, "tuna", "chopboard0")
    assert reasons(act(world, "get chopboard0 salmon")) == {"unknown_item"}
    assert reasons(act(world, "get chopboard0")) == set()


@pytest.mark.parametrize(
    ("level", "seats"), [("level_9", 3), *nightly(("level_2", 1), ("level_5", 2), ("level_12", 4))]
)
def test_legal_actions_are_exactly_what_would_be_carried_out(level: str, seats: int) -> None:
    world = kitchen(level, seats, max_steps=200)
    for number in range(12):
        wander(world, 5, seed=number)
        stored = world.to_dict()
        carried = {c for c in every_command(world) if is_carried_out(stored, c)}
        assert carried == set(world.legal_actions(0))
        assert len(carried) == len(world.legal_actions(0))
        assert world.legal_actions(0)[-1] == ("noop",)


def every_command(world: CuisineWorld) -> list[tuple[str, ...]]:
    """All that can be said in this kitchen; a get names its item."""
    items = [*world.level.stock.ingredients, *world.level.recipes]
    simple = list(product(("goto", "put", "activate"), world.level.places))
    return [("noop",), *simple, *product(("get",), world.level.places, items)]


def is_carried_out(stored: dict[str, object], command: tuple[str, ...]) -> bool:
    return CuisineWorld.from_dict(stored).step({0: command})[0].kind == "performed"


def test_once_over_nothing_happens_any_more() -> None:
    world = kitchen(max_steps=2)
    play(world, "goto pot0", "goto pot1")
    before = world.state_hash()
    assert world.over and not world.cut_off
    assert act(world, "goto pot0") == ()
    assert world.state_hash() == before
    assert world.legal_actions(0) == [("noop",)]
    assert world.anticipated_actions(0) == []


def test_senseless_commands_are_not_remembered() -> None:
    world = kitchen()
    play(world, "goto pot0")
    known = len(command_table_of(world.level).plays)
    play(world, *(f"get pot0 junk{number}" for number in range(20)), "wash pot0", "goto nowhere")
    assert len(command_table_of(world.level).plays) == known


def test_forgetting_what_was_remembered_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, forgetful = kitchen("level_9", 3), kitchen("level_9", 3)
    wander(usual, 60)
    monkeypatch.setattr("kitchen.worlds.cuisine.command_table.MEMORY_LIMIT", 2)
    monkeypatch.setattr("kitchen.worlds.cuisine.command_rules.POOL_LIMIT", 2)
    command_table_of(forgetful.level).plays.clear()
    wander(forgetful, 60)
    assert forgetful.state_hash() == usual.state_hash()
