"""Play trial games with an uploaded policy file: with itself, and beside an agent that plays at random."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from kitchen.agents.make_situation import make_situation
from kitchen.agents.policy.agent import FILE, Policy
from kitchen.agents.policy.policy_folder import store_copy
from kitchen.agents.policy.upload_checks import SEED, SLOWEST_MS, CheckedPolicy, check_policy, run_apart
from kitchen.agents.random_agent import RandomAgent
from kitchen.contract.agent import Agent, run_without_waiting
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Event, Json, World
from kitchen.registry.world_registry import get_world, reward_metric

ITSELF, RANDOM = "itself", "random"
MOST_STEPS = 400
NAME = "tried"


def check_and_play(data: bytes, given: Mapping[str, str] | None = None) -> CheckedPolicy:
    """Check a file and play the trial games, each in a process with limits. Raises PolicyFileError."""
    checked = run_apart(check_policy, data, given)
    seats = _new_game(checked).seats
    games = {ITSELF: range(seats), **{f"{RANDOM} {seat}": [seat] for seat in range(seats) if seats > 1}}
    seconds = MOST_STEPS * seats * SLOWEST_MS / 1000
    with tempfile.TemporaryDirectory() as folder:  # made here, so that a killed child leaves nothing
        scores = {
            name: run_apart(trial_score, folder, data, checked, tuple(held), seconds=seconds)
            for name, held in games.items()
        }
    return replace(checked, scores=scores)


def trial_score(folder: str, data: bytes, checked: CheckedPolicy, held: tuple[int, ...]) -> float:
    """Return the score of a game in which the network has the seats `held`. The file is stored in `folder`
    meanwhile."""
    with stored_for_a_while(folder, data, checked) as reference:
        network = Policy({FILE: reference})
        return game_score(
            _new_game(checked),
            {seat: network if seat in held else RandomAgent({}) for seat in range(_new_game(checked).seats)},
        )


def game_score(game: World, agents: Mapping[int, Agent]) -> float:
    """Play at most `MOST_STEPS` steps with an agent on each seat, and return the score."""
    memories: dict[int, Json] = {}
    events: tuple[Event, ...] = ()
    while not game.has_ended and game.clock < MOST_STEPS:
        commands = []
        for seat, agent in agents.items():
            chance = derived_seed(SEED, seat, game.clock)
            seen = make_situation(game, [seat], memory=memories.get(seat), events=events, seed=chance)
            decision = run_without_waiting(agent.decide(seen))
            memories[seat] = decision.memory
            commands += list(decision.commands.items())
        events = game.step(commands)
    return float(game.score().get(reward_metric(game.kind)) or 0)


def _new_game(checked: CheckedPolicy) -> World:
    kind = get_world(checked.world)
    game = kind.create(seats=max(kind.min_seats, min(2, kind.max_seats)), settings=checked.settings)
    game.reset(SEED)
    return game


@contextmanager
def stored_for_a_while(folder: str, data: bytes, checked: CheckedPolicy) -> Iterator[str]:
    """Store a copy of the file in this folder, which holds all data during the block. Yield its reference.
    Use it in a child process, whose environment nobody else reads."""
    before = os.environ.get("BRIGADE_VAR")
    os.environ["BRIGADE_VAR"] = folder
    try:
        store_copy(checked.sha256, data, checked.card.to_json())
        yield f"{NAME}:{checked.sha256}"
    finally:
        os.environ.pop("BRIGADE_VAR")
        if before is not None:
            os.environ["BRIGADE_VAR"] = before
