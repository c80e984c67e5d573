"""A program that follows only dots serves a dish in every kitchen, and does not walk to and fro."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.page_view import StepView
from kitchen.contract.world import Command, World
from kitchen.worlds.cuisine.display_text import BriefLookup, brief_lookup
from kitchen.worlds.cuisine.level_generator import LEVEL_CLASSES
from kitchen.worlds.cuisine.order_steps import IDLE_STEPS, idle_robots, useful_commands
from kitchen.worlds.cuisine.planner.agent import CuisinePlanner
from tests.function_calls import count_calls
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.cooking import LEVELS, command, kitchen, play
from tests.kitchen.worlds.cuisine.test_aim_pursuit import led
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.nightly import nightly, thinned

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LONG_ENOUGH = 60
"""Steps of an episode of the demo."""
GENERATED = [
    {"level": "procedural", "difficulty": difficulty, "level_seed": seed}
    for difficulty in LEVEL_CLASSES
    for seed in range(4)
]
Choice = Callable[[Sequence[Command], Random], Command]
CHOICES: Mapping[str, Choice] = {
    "the first": lambda dotted, chance: dotted[0],
    "a random": lambda dotted, chance: chance.choice(dotted),
}


def dotted(world: World, seat: int = 0, lookup: BriefLookup | None = None) -> list[Command]:
    """The actions with a dot, in the order in which the menu lists them."""
    marked = useful_commands(lookup or brief_lookup(world.brief(seat)), world.observe(seat), seat)
    return [each for each in world.legal_actions(seat) if each in marked]


def useful(world: World, seat: int = 0, **changes: Any) -> set[str]:
    """The useful commands in this kitchen, with other orders or hands."""
    there = {**world.observe(seat), **changes}
    return {" ".join(each) for each in useful_commands(brief_lookup(world.brief(seat)), there, seat)}


def ordered(*dishes: str) -> list[dict[str, object]]:
    return [{"dish": dish, "life": 20 + number} for number, dish in enumerate(dishes)]


def follow_dots(world: World, choose: Choice, seed: int, *, followers: Sequence[int] = (0,)) -> list[str]:
    """Play to the end: these seats do only what has a dot, and wait if nothing has one. Return what the first
    of them did, by verbs."""
    chance, done, lookup = Random(seed), [], brief_lookup(world.brief(0))
    while not world.over:
        offered = {seat: dotted(world, seat, lookup) for seat in followers}
        turn = {seat: choose(marked, chance) for seat, marked in offered.items() if marked}
        done.append(turn.get(followers[0], ("noop",))[0])
        world.step(turn)
    return done


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("level", LEVELS)
def test_a_program_that_follows_only_dots_serves_a_dish_in_every_level(level: str, choice: str) -> None:
    world = kitchen(level, seed=1, max_steps=LONG_ENOUGH)
    done = follow_dots(world, CHOICES[choice], 1)
    assert world.score()["completed"]
    assert " ".join(["goto"] * 3) not in " ".join(done)  # two in a row: a new order calls it elsewhere


@pytest.mark.parametrize("level", thinned(LEVELS, 5))
def test_a_team_that_follows_only_dots_serves_more_than_its_first_member_alone(level: str) -> None:
    served = []
    for followers in ((0,), (0, 1, 2)):
        worlds = [kitchen(level, seats=3, seed=seed, max_steps=LONG_ENOUGH) for seed in range(2)]
        for seed, world in enumerate(worlds):
            follow_dots(world, CHOICES["a random"], seed, followers=followers)
        served.append(sum(world.score()["completed"] for world in worlds))
    alone, together = served
    assert together > alone


@pytest.mark.nightly
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("settings", GENERATED, ids=lambda it: "-".join(map(str, it.values())))
def test_the_same_in_generated_kitchens(settings: dict[str, Any], choice: str) -> None:
    for seed in range(3):
        world = kitchen(**{**settings, "beta": 5.0}, seed=seed, max_steps=100)
        follow_dots(world, CHOICES[choice], seed)
        assert world.score()["completed"]


@pytest.mark.parametrize("level", thinned(LEVELS, 5))
def test_what_a_hint_recommends_has_a_dot(level: str) -> None:
    world, chance = kitchen(level, seats=2, seed=3, max_steps=LONG_ENOUGH), Random(3)
    while not world.over:
        hinted, marked = led(world), dotted(world)
        assert hinted in marked or (hinted == ("noop",) and not marked)
        astray = chance.random() < 0.2
        legal = world.legal_actions(0)
        world.step({0: chance.choice(legal) if astray else hinted, 1: chance.choice(world.legal_actions(1))})


def test_storage_has_no_dot_while_nothing_is_needed_from_it() -> None:
    world = kitchen("level_3")
    play(world, "goto storage0", "get storage0 tuna", "goto chopboard0", "put chopboard0", "goto pot0")
    there = world.observe(0)["locations"]
    inside = {"chopboard0": ["tuna"], "pot0": ["rice"]}
    places = {place: {**its, "items": inside.get(place, [])} for place, its in there.items()}
    assert useful(world, orders=ordered("tunaSushi"), locations=places) == {"activate pot0"}


def test_a_tool_whose_product_no_order_needs_has_no_dot() -> None:
    world = kitchen("level_3")
    play(world, "goto storage0", "get storage0 salmon", "goto chopboard0", "put chopboard0", "goto pot0")
    assert "goto chopboard0" in useful(world, orders=ordered("salmonSushi"))
    assert useful(world, orders=ordered("tunaSushi")) == {"goto storage0"}


def test_what_can_be_done_here_comes_before_walking() -> None:
    world = kitchen("level_3")
    play(world, "goto storage0", "get storage0 rice", "goto pot0", "put pot0")
    assert useful(world, orders=ordered("salmonSushi", "tunaSushi")) == {"activate pot0"}


def test_what_is_in_a_tool_counts_for_one_order_only() -> None:
    world = kitchen("level_7", max_steps=99)
    soup = "onionPotatoCarrotSoup"
    for item in ("onion", "potato", "carrot"):
        play(world, "goto storage0", f"get storage0 {item}", "goto pot0", "put pot0")
    play(world, "activate pot0")
    assert world.observe(0)["locations"]["pot0"]["busy"]
    assert "goto storage0" not in useful(world, orders=ordered(soup))
    assert useful(world, orders=ordered(soup, soup)) == {"goto storage0"}


def test_what_a_teammate_carries_needs_no_second_one() -> None:
    world = kitchen("level_3", seats=2)
    for text in ("goto storage0", "get storage0 rice"):
        world.step({1: command(text)})
    play(world, "goto storage0")
    assert useful(world, orders=ordered("tunaSushi")) == {"get storage0 tuna"}
    agents = [agent | {"holds": "tunaSushi"} if seat else agent for seat, agent in _agents(world)]
    assert useful(world, orders=ordered("tunaSushi"), agents=agents) == set()


def test_what_a_teammate_holds_who_does_nothing_counts_no_more() -> None:
    world = kitchen("level_3", seats=2)
    play(world, "goto storage0")
    agents = [agent | {"holds": "rice"} if seat else agent for seat, agent in _agents(world)]
    view = changed(seen(world, 0), observation={**world.observe(0), "agents": agents})
    still = [StepView(number, {0: ("goto", "pot0"), 1: ("noop",)}, ()) for number in range(IDLE_STEPS, 0, -1)]
    assert idle_robots(replace(view, history=tuple(still))) == {1}
    assert idle_robots(replace(view, history=tuple(still[1:]))) == set()
    walked = replace(still[-1], commands={1: ("goto", "storage0")})
    assert idle_robots(replace(view, history=(*still[:-1], walked))) == set()
    there = {**world.observe(0), "agents": agents, "orders": ordered("tunaSushi")}
    lookup = brief_lookup(world.brief(0))
    assert ("get", "storage0", "rice") not in useful_commands(lookup, there, 0)
    assert ("get", "storage0", "rice") in useful_commands(lookup, there, 0, {1})


BESIDE = [(level, 1 + number % 3) for number, level in enumerate(LEVELS)]
"""Each level, beside one to three teammates."""


@pytest.mark.parametrize(
    ("level", "mates"),
    [
        *BESIDE,
        *nightly(
            *((level, mates) for level in LEVELS for mates in (1, 2, 3) if (level, mates) not in BESIDE)
        ),
    ],
)
def test_who_follows_dots_beside_planners_serves_and_throws_nothing_away(level: str, mates: int) -> None:
    for choose in CHOICES.values():
        world = kitchen(level, seats=1 + mates, seed=mates, beta=2.5, max_steps=LONG_ENOUGH)
        chance, lookup, memory = Random(1), brief_lookup(world.brief(0)), None
        while not world.over:
            situation = make_situation(world, range(1, world.seats), memory=memory)
            decision = run_without_waiting(CuisinePlanner({"tries": 0}).decide(situation))
            memory, marked = decision.memory, dotted(world, 0, lookup)
            chosen = choose(marked, chance) if marked else ("noop",)
            assert chosen != ("put", "storage0"), f"step {world.clock}: {world.observe(0)['agents'][0]}"
            world.step({**decision.commands, 0: chosen})
        assert world.score()["completed"]


def _agents(world: World) -> list[tuple[int, dict[str, Any]]]:
    return list(enumerate(world.observe(0)["agents"]))


def test_a_robot_with_a_needed_item_waits_for_the_tool_and_keeps_the_item() -> None:
    world = kitchen("level_3")
    play(world, "goto storage0", "get storage0 tuna")
    busy = {"items": [], "busy": 2, "open": False}
    boards = {"chopboard0": busy, "chopboard1": busy}
    there = {
        "orders": ordered("tunaSushi", "salmonSushi"),
        "locations": world.observe(0)["locations"] | boards,
    }
    assert useful(world, **there) == {"goto chopboard0", "goto chopboard1"}
    play(world, "goto chopboard0")
    assert useful(world, **there) == set()


def test_nothing_has_a_dot_in_a_kitchen_that_can_cook_no_dish() -> None:
    world = kitchen("level_12")
    only = {**world.brief(0), "dishes": ["frenchFries"], "uncookable": ["frenchFries"]}
    assert not useful_commands(brief_lookup(only), world.observe(0), 0)


@pytest.mark.parametrize("level", ["level_11"])
def test_dots_cost_a_view_few_function_calls(level: str) -> None:
    world, chance, calls = kitchen(level, seats=3, max_steps=LONG_ENOUGH), Random(0), []
    while not world.over:
        lookup, there = brief_lookup(world.brief(0)), world.observe(0)
        calls.append(count_calls(partial(useful_commands, lookup, there, 0)))
        world.step({seat: chance.choice(dotted(world, seat) or [("noop",)]) for seat in range(3)})
    assert sum(calls) / len(calls) < 400
