"""Commands that other agents can still make legal within the step are offered."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from kitchen.contract.world import Command
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.worlds.cuisine.cooking import act, fetch, kitchen, play, wander
from tests.kitchen.worlds.cuisine.test_command_rules import mixer_with_everything_but_the_rice


def test_alone_one_can_anticipate_nothing() -> None:
    world = kitchen()
    for number in range(10):
        wander(world, 5, seed=number)
        assert world.anticipated_actions(0) == []


def test_with_a_recipe_of_three_the_second_put_and_the_activation_are_offered() -> None:
    world = kitchen("level_10", seats=2, max_steps=100)
    fetch(world, "rice", "pot0")
    play(world, "activate pot0", "noop", "noop", "get pot0", "goto mixer0", "put mixer0")
    fetch(world, "beef", "pan0")
    play(world, "activate pan0", "noop", "get pan0", "goto mixer0")
    act(world, "noop", "goto storage0")
    act(world, "noop", "get storage0 tortilla")
    act(world, "noop", "goto mixer0")
    assert ("put", "mixer0") in world.legal_actions(0)
    assert ("put", "mixer0") in world.legal_actions(1)
    act(world, "put mixer0", "noop")
    assert world.anticipated_actions(0) == [("activate", "mixer0")]


def test_a_chain_of_two_others_is_followed() -> None:
    world = mixer_with_everything_but_the_rice()
    assert world.anticipated_actions(2) == [("activate", "mixer0"), ("get", "mixer0", "tunaSushi")]
    assert world.anticipated_actions(0) == []


def test_one_other_alone_cannot_both_put_and_activate() -> None:
    world = mixer_with_everything_but_the_rice()
    world.step({2: ("goto", "pot0")})
    assert world.anticipated_actions(1) == [("activate", "mixer0")]


def test_an_agent_elsewhere_cannot_help_in_time() -> None:
    world = mixer_with_everything_but_the_rice()
    world.step({0: ("goto", "pot0")})
    assert world.anticipated_actions(1) == []


def test_a_place_that_another_empties_can_be_filled() -> None:
    world = kitchen(seats=2)
    fetch(world, "tuna", "chopboard0")
    act(world, "noop", "goto storage0")
    act(world, "noop", "get storage0 salmon")
    act(world, "noop", "goto chopboard0")
    assert world.anticipated_actions(1) == [("put", "chopboard0")]


def test_only_an_earlier_agent_can_help() -> None:
    world = mixer_with_everything_but_the_rice()
    assert world.anticipated_actions(2, earlier=()) == []
    assert world.anticipated_actions(2, earlier=(1,)) == []
    assert world.anticipated_actions(2, earlier=(0,)) == [("activate", "mixer0")]


@pytest.mark.parametrize(("level", "seats"), [("level_3", 2), ("level_9", 3)])
def test_it_is_exactly_what_some_turn_of_the_others_makes_possible(level: str, seats: int) -> None:
    world = kitchen(level, seats, max_steps=200)
    for number in range(4):
        wander(world, 6, seed=number)
        gather(world)
        assert set(world.anticipated_actions(0)) == by_trying(world)


def gather(world: CuisineWorld) -> None:
    """Bring everybody to where seat 0 stands, so that there is something to anticipate."""
    here = world.observe(0)["agents"][0]["at"]
    world.step(dict.fromkeys(range(1, world.seats), ("goto", here)))


def by_trying(world: CuisineWorld) -> set[Command]:
    """The same by brute force: every turn of the others, in every order, and then each command of seat 0."""
    stored, here = world.to_dict(), world.observe(0)["agents"][0]["at"]
    now = set(world.legal_actions(0))
    items = [*world.level.stock.ingredients, *world.level.recipes] if here != "storage0" else []
    mine: list[Command] = [("put", here), ("activate", here), *(("get", here, item) for item in items)]
    found: set[Command] = set()
    others = range(1, world.seats)
    options = [[("noop",), ("put", here), ("activate", here), ("get", here)] for _ in others]
    for choice, order in product(product(*options), permutations(others)):
        turn = [(seat, choice[seat - 1]) for seat in order]
        for command in mine:
            if command not in now | found:
                events = CuisineWorld.from_dict(stored).step([*turn, (0, command)])
                if events[len(turn)].kind == "performed":
                    found.add(command)
    return found
