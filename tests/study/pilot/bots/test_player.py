"""Synthetic participants at the stove: what they choose, and how the episode was for them."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.advisers import Adviser
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.world import Json, World
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.planner.agent import ADVISER
from study.pilot.bots.simulated_person import Experience, Person, Player
from tests.worlds.vault.world import Vault

SETTINGS = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 60}


def new_world(*, seats: int, seed: int, **more: Any) -> World:
    world = get_world("cuisine").create(seats=seats, settings={**SETTINGS, **more})
    world.reset(seed)
    return world


def state_of(world: World) -> dict[str, Json]:
    return {
        "type": "state",
        "world": world.kind,
        "seats": world.seats,
        "seat": 0,
        "phase": "over" if world.over else "choose",
        "step": world.clock,
        "length": world.length,
        "observation": world.observe(0),
        "legal": [list(command) for command in world.legal_actions(0)],
        "anticipated": [list(command) for command in world.anticipated_actions(0)],
        "score": world.score(),
        "brief": world.brief(0),
    }


def skilled(skill: float, number: int = 1) -> Person:
    person = Person(1, number)
    person.temper = replace(person.temper, skill=skill)
    return person


def play(person: Person, *, seats: int = 1, coplayer: str = "planner", seed: int = 5) -> Player:
    """One whole episode; teammates, if any, are played by one mind."""
    world, player, memory = new_world(seats=seats, seed=seed), Player(person, 1), None
    while not world.over:
        state = state_of(world)
        player.watch(state)
        own = player.choose(state)
        assert list(own) in state["legal"] + state["anticipated"]
        seen = make_situation(
            world, range(1, seats), memory=memory, commanded={0: own}, seed=seed + world.clock
        )
        others = run_without_waiting(make_agent(coplayer, {}).decide(seen)) if seats > 1 else None
        memory = others.memory if others else None
        world.step([(0, own), *(others.commands.items() if others else ())])
    player.watch(state_of(world))
    return player


def successes(skill: float, **more: Any) -> float:
    return fmean(play(skilled(skill, n), seed=n, **more).experience().success or 0 for n in range(1, 5))


def test_the_same_person_plays_the_same_episode_the_same_way() -> None:
    assert play(Person(1, 2)).last == play(Person(1, 2)).last


def test_skilled_people_complete_dishes_alone_and_more_with_teammates() -> None:
    alone = successes(0.95)
    assert alone > 0.2
    assert successes(0.95, seats=3) > alone + 0.2


def test_players_with_less_skill_serve_less() -> None:
    assert successes(0.2) < successes(0.95)


def test_planned_teammates_are_more_predictable_than_random_ones() -> None:
    planned = play(skilled(0.9), seats=3).experience()
    at_random = play(skilled(0.9), seats=3, coplayer="random").experience()
    assert planned.expected > 0.6 > 0.4 > at_random.expected
    assert planned.teammates == at_random.teammates == 2
    assert planned.help > at_random.help


def test_the_same_step_gets_the_same_command() -> None:
    state, player = state_of(new_world(seats=2, seed=3)), Player(Person(1, 1), 1)
    player.watch(state)
    first = player.choose(state)
    player.watch(state)
    assert player.choose(state) == first


def test_a_refused_command_is_not_repeated() -> None:
    state, player = state_of(new_world(seats=2, seed=3)), Player(Person(1, 1), 1)
    said = set()
    for _ in range(len(state["legal"])):
        said.add(player.choose(state))
        player.refused()
    assert len(said) == len(state["legal"])


def test_a_world_without_an_adviser_is_played_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("study.pilot.bots.simulated_person.get_adviser", lambda world: Adviser())
    state = {**state_of(new_world(seats=2, seed=3)), "brief": {"rules": "other"}, "observation": {}}
    player = Player(skilled(1.0), 1)
    player.watch(state)
    assert list(player.choose(state)) in state["legal"]
    assert player.experience() == Experience(teammates=1)


def test_a_command_with_an_amount_is_said_with_any_amount_that_is_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("study.pilot.bots.simulated_person.get_adviser", lambda world: Adviser())
    world = Vault.create(seats=3, settings={})
    amounts = [[list(command), *bounds] for command, bounds in world.amounts(0).items()]
    state = {**state_of(new_world(seats=2, seed=3)), "legal": [["dial", "1"]], "anticipated": []}
    state |= {"amounts": amounts}
    chosen = {Player(skilled(0.0, number), 1).choose(state) for number in range(1, 40)}
    assert {command[0] for command in chosen} == {"dial"} and len(chosen) > 4
    assert all(world.allows(0, command) for command in chosen)


@pytest.mark.parametrize("part", ["brief", "observation"])
def test_a_kitchen_that_the_planner_cannot_read_is_played_at_random(part: str) -> None:
    state = {**state_of(new_world(seats=2, seed=3)), part: {"rules": "other"}}
    chosen = set()
    for number in range(1, 31):
        player = Player(skilled(1.0, number), 1)
        player.watch(state)
        chosen.add(player.choose(state))
        player.watch({**state, "step": 1})
        assert player.experience().teammates == 1
        assert player.experience().expected == 0
    assert chosen <= {tuple(command) for command in state["legal"] + state["anticipated"]}
    assert len(chosen) > 2


def test_before_an_episode_nothing_was_experienced() -> None:
    assert Player(Person(1, 1), 1).experience() == Experience()


@pytest.mark.parametrize(
    ("command", "agent", "true"),
    [
        (("goto", "pot0"), {"at": "pot0", "holds": None}, True),
        (("goto", "pot0"), {"at": "pan0", "holds": None}, False),
        (("get", "storage0", "rice"), {"at": "storage0", "holds": "rice"}, True),
        (("get", "storage0", "rice"), {"at": "storage0", "holds": None}, False),
        (("put", "pot0"), {"at": "pot0", "holds": "rice"}, False),
        (("activate", "pot0"), {"at": "pot0", "holds": None}, True),
    ],
)
def test_teammates_commands_are_read_from_their_positions(
    command: tuple[str, ...], agent: dict[str, Any], true: bool
) -> None:
    assert ADVISER.came_true(0, command, {"agents": [agent]}) is true


def test_a_skilled_leader_gives_the_jobs_that_the_world_suggests_and_others_give_any() -> None:
    world = get_world("overcooked").create(seats=2, settings={"layout": "cramped_room"})
    world.reset(1)
    state = {
        **state_of(world),
        "brief": world.public_brief(),
        "seen": {"0": world.observe(0)},
        "jobs": [],
        "aims": {str(seat): [list(aim) for aim in world.aims(seat)] for seat in (0, 1)},
    }
    assert Player(skilled(1.0), 1).jobs(state) == [(0, ["pickup", "onion"]), (1, ["pickup", "onion"])]
    given = {tuple(aim) for number in range(9) for _, aim in Player(skilled(0.0, number), 1).jobs(state)}
    assert len(given) > 3
    assert len(Player(skilled(1.0), 1).jobs({**state, "seen": {}})) == 2
