"""Who does what the hints say serves a dish, in every kitchen, wherever they had got to before."""

from __future__ import annotations

from random import Random

import pytest

from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, World
from kitchen.play.live.seat_view import hints_for
from kitchen.registry.agent_registry import get_adviser
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.level_generator import LEVEL_CLASSES
from tests.kitchen.worlds.cuisine.test_page import LEVELS, seen

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SHIPPED = [{"level": level} for level in LEVELS]
GENERATED = [
    {"level": "procedural", "difficulty": difficulty, "level_seed": seed}
    for difficulty in LEVEL_CLASSES
    for seed in range(4)
]
ENOUGH = 40
"""Steps of the demo's practice."""


def kitchen(settings: dict[str, object], *, seats: int = 1, seed: int = 0) -> World:
    world = get_world("cuisine").create(seats=seats, settings={**settings, "beta": 5.0, "max_steps": 200})
    world.reset(seed)
    return world


def led(world: World) -> Command:
    """What the first seat is told to do."""
    situation = Situation(
        world=world.kind,
        step=world.clock,
        seats=(0,),
        briefs={0: world.brief(0)},
        observations={0: world.observe(0)},
        legal={0: world.legal_actions(0)},
    )
    advice = get_adviser("cuisine").lead(situation)
    assert advice and advice.command in world.legal_actions(0)
    return advice.command


def follow(world: World, chance: Random, others: bool = False) -> int:
    """Do what is said until a dish is served; steps it took."""
    began = world.clock
    while not world.score()["completed"]:
        assert not world.over, "nothing was served"
        turn = {seat: chance.choice(world.legal_actions(seat)) for seat in range(world.seats) if others}
        world.step({**turn, 0: led(world)})
    return world.clock - began


@pytest.mark.parametrize("settings", [*SHIPPED, *GENERATED], ids=lambda it: "-".join(map(str, it.values())))
def test_following_the_hints_serves_a_dish_in_every_kitchen(settings: dict[str, object]) -> None:
    for seed in range(2):
        assert follow(kitchen(settings, seed=seed), Random(seed)) <= ENOUGH


@pytest.mark.parametrize("settings", [*SHIPPED[::2], *GENERATED[::3]])
def test_wherever_other_actions_have_led_the_hints_lead_on_from_there(settings: dict[str, object]) -> None:
    world, chance = kitchen(settings, seed=5), Random(5)
    for _ in range(12):
        legal = world.legal_actions(0)
        verb = chance.choice(sorted({command[0] for command in legal}))
        world.step({0: chance.choice([command for command in legal if command[0] == verb])})
    follow(world, chance)


@pytest.mark.parametrize("level", ["level_5", "level_9", "level_12"])
def test_beside_teammates_who_do_anything_at_all_too(level: str) -> None:
    follow(kitchen({"level": level}, seats=3), Random(1), others=True)


def test_a_part_twice_in_a_tool_and_raw_food_in_the_only_one_do_not_hold_up() -> None:
    world = kitchen({"level": "procedural", "difficulty": "very_simple", "level_seed": 0}, seed=1)
    for command in (
        ("goto", "storage0"),
        ("get", "storage0", "beef"),
        ("goto", "blender0"),
        ("put", "blender0"),
    ):
        world.step({0: command})
    world.step({0: ("goto", "storage0")})
    world.step({0: ("get", "storage0", "beef")})
    assert follow(world, Random(0)) <= ENOUGH


def test_a_hint_says_how_long_a_tool_is_still_busy_and_what_becomes_of_raw_food() -> None:
    world, said = kitchen({"level": "level_3"}), []
    while not world.score()["completed"]:
        hints = hints_for(world, seen(world, 0))
        assert hints.command
        said.append(hints.sentences[-1])
        world.step({0: hints.command})
    assert all(text.startswith("Try this: ") and text.endswith(".") for text in said)
    assert any("it is ready" in text for text in said)
    assert said[-1].endswith("on the serving table: a guest waits for it.")


def test_of_two_equal_tools_the_one_where_the_robot_is_serves() -> None:
    world = kitchen({"level": "level_3"})
    for board in ("chopboard0", "chopboard1"):
        for walk in (("goto", "storage0"), ("get", "storage0", "tuna"), ("goto", board)):
            world.step({0: walk})
        assert led(world) == ("put", board)
        world.step({0: ("goto", "storage0")})
        world.step({0: ("put", "storage0")})
