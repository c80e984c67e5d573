"""Every registered co-player keeps the contract in every world that it plays."""

from __future__ import annotations

import asyncio
import json
import warnings
from functools import cache

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Agent, Decision, run_without_waiting
from kitchen.contract.world import Command, Json, World
from kitchen.experiments.experiment_results import collaboration_score
from kitchen.registry.agent_registry import agent_kinds, can_play, get_agent, make_agent
from kitchen.registry.world_registry import get_world, known_worlds
from tests.kitchen.agents.timed_episode import play_alone
from tests.nightly import pairs_thinned

PAIRS = [
    (kind, world)
    for kind in agent_kinds()
    for world in known_worlds()
    if can_play(get_agent(kind), world) and not make_agent(kind, {}).refusal()
]
"""Without those that cannot play before something is chosen, such as a file."""
ALONE = [(kind, world) for kind, world in PAIRS if not get_agent(kind).pursues]
"""Those that do something although nobody tells them to."""

every_pair = pytest.mark.parametrize(("kind", "world"), pairs_thinned(PAIRS))
every_pair_alone = pytest.mark.parametrize(("kind", "world"), pairs_thinned(ALONE))


def start(world: str, seats: int = 3, seed: int = 4) -> World:
    """With as many seats as the world has, if these are too many."""
    seats = min(seats, get_world(world).max_seats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game = get_world(world).create(seats=seats, settings={})
    game.reset(seed)
    return game


def everybody(game: World) -> tuple[int, ...]:
    return tuple(range(game.seats))


def decide(game: World, mind: Agent, seats: tuple[int, ...], memory: Json = None) -> Decision:
    """The decision of a mind, which may look at the game but not step it."""
    before = game.state_hash()
    decision = asyncio.run(mind.decide(make_situation(game, seats, memory=memory, seed=game.clock + 11)))
    assert game.state_hash() == before, "the mind changed the game"
    return decision


def advance(game: World, kind: str, steps: int, *, fresh: bool) -> list[dict[int, Command]]:
    """Play with one mind, or with a new one at every step that is given only the stored memory."""
    mind, memory, log = make_agent(kind, {}), None, []
    for _ in range(steps):
        if fresh:
            mind, memory = make_agent(kind, {}), json.loads(json.dumps(memory))
        decision = decide(game, mind, everybody(game), memory)
        memory = decision.memory
        log.append(dict(decision.commands))
        game.step(decision.commands)
    return log


@cache
def played(kind: str, world: str) -> tuple[World, list[dict[int, Command]]]:
    """A game after ten steps of one mind, and its commands. All tests of a pair look at it; none may step
    it."""
    game = start(world)
    return game, advance(game, kind, 10, fresh=False)


def going_on(kind: str, world: str) -> World:
    """A game in which the mind has played, or a new one if it has ended meanwhile."""
    game, _ = played(kind, world)
    return start(world) if game.has_ended else game


@every_pair
def test_a_mind_commands_only_its_own_seats(kind: str, world: str) -> None:
    game = start(world)
    last = game.seats - 1
    for seats in [(0,), (last,), (0, last), everybody(game)]:
        assert set(decide(game, make_agent(kind, {}), seats).commands) <= set(seats)


@every_pair
def test_the_same_situation_gives_the_same_decision(kind: str, world: str) -> None:
    game = going_on(kind, world)
    first, again = (decide(game, make_agent(kind, {}), everybody(game)) for _ in range(2))
    for decided in ("commands", "memory", "played_by", "note", "fallback"):
        assert getattr(first, decided) == getattr(again, decided)


@every_pair
def test_memory_and_note_are_json(kind: str, world: str) -> None:
    game = going_on(kind, world)
    decision = decide(game, make_agent(kind, {}), everybody(game)[1:])
    for value in (decision.memory, decision.note):
        assert json.loads(json.dumps(value)) == value


@every_pair
def test_another_worker_goes_on_from_the_stored_memory(kind: str, world: str) -> None:
    (kept, commands), passed_on = played(kind, world), start(world)
    assert commands == advance(passed_on, kind, 10, fresh=True)
    assert kept.state_hash() == passed_on.state_hash()


@every_pair_alone
def test_a_memory_that_was_lost_does_no_harm(kind: str, world: str) -> None:
    game = going_on(kind, world)
    assert decide(game, make_agent(kind, {}), everybody(game), memory=None).commands


@every_pair_alone
def test_first_commands_are_allowed(kind: str, world: str) -> None:
    game = start(world)
    decision = decide(game, make_agent(kind, {}), everybody(game))
    seat, command = next(iter(decision.commands.items()))
    assert game.allows(seat, command)


def test_random_agents_draw_from_the_seed_alone() -> None:
    game, mind = start("cuisine"), make_agent("random", {})
    drawn = [
        run_without_waiting(mind.decide(make_situation(game, (0, 1, 2), seed=seed))).commands
        for seed in range(30)
    ]
    assert len({tuple(sorted(commands.items())) for commands in drawn}) > 5
    assert all(command in game.legal_actions(s) for commands in drawn for s, command in commands.items())


def test_the_dispatcher_says_that_a_stand_in_plays_and_its_commands_are_the_planners() -> None:
    game = start("cuisine")
    decision = decide(game, make_agent("dispatcher", {"model": "stand-in"}), (0, 1, 2))
    assert decision.played_by == "stand-in"
    assert decision.commands == decide(game, make_agent("planner", {}), (0, 1, 2)).commands
    assert decision.note["stand_in"] is True


def test_collaboration_score_is_the_mean_share_over_the_intervals() -> None:
    assert collaboration_score([(1, 3), (4, 0)]) == 0.625
    assert collaboration_score([(1, 3), (0, 0)]) is None
    assert collaboration_score([]) is None


def test_an_evaluated_episode_has_counts_and_a_time_for_every_step() -> None:
    played = play_alone("random", seats=2, settings={"level": "level_0", "max_steps": 30}, seed=1)
    assert len(played.milliseconds) == 30
    assert played.completed + played.failed > 0
