"""Compare our Overcooked environment with the released program, in steps per second of processor time.

    python -m tests.kitchen.worlds.overcooked.bench_environments

Both play the same random actions in cramped_room, with `interact` cooking. A step is one action of both
cooks. The rows: the rules alone; rules and both cooks' encodings; the environment (the released one with
`info_level=0`, and then its encoding); and 64 copies in one array, which the released program does not have.
The best round of each counts. Exit code 1: ours is not `TIMES` as fast. Without the released package, ours
are only printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kitchen.contract.world import Command
from kitchen.opened.environments import parallel_env, vector_env
from kitchen.worlds.overcooked.lossless_encoding import ACTIONS, LOSSLESS_ENCODING
from kitchen.worlds.overcooked.world import Overcooked
from tests.kitchen.worlds.overcooked.bench_released import released

SETTINGS = {"layout": "cramped_room", "cooking": "interact", "ticks": 400}
TIMES = {"encodings": 10.0, "environment": 5.0}
ROUNDS, GAMES, COPIES = 5, 10, 64
LENGTH = 400

PROGRAM = """
import json, sys, time
from overcooked_ai_py.mdp.overcooked_env import OvercookedEnv
from overcooked_ai_py.mdp.overcooked_mdp import Action, Direction, OvercookedGridworld

LIST = [Direction.NORTH, Direction.SOUTH, Direction.EAST, Direction.WEST, Action.STAY, Action.INTERACT]
turns = [tuple(LIST[each] for each in turn) for turn in json.loads(sys.argv[1])]
game = OvercookedGridworld.from_layout_name("cramped_room")
env = OvercookedEnv.from_mdp(game, horizon=400, info_level=0)

def rules():
    state = game.get_standard_start_state()
    for turn in turns:
        state, _ = game.get_state_transition(state, turn)

def encodings():
    state = game.get_standard_start_state()
    for turn in turns:
        state, _ = game.get_state_transition(state, turn)
        game.lossless_state_encoding(state, horizon=400)

def environment():
    env.reset()
    for turn in turns:
        state, reward, done, info = env.step(turn)
        game.lossless_state_encoding(state, horizon=400)

found = {}
for run in (rules, encodings, environment):
    run()
    begun = time.process_time()
    for _ in range(3):
        run()
    found[run.__name__] = 3 * len(turns) / (time.process_time() - begun)
print(json.dumps(found))
"""


def random_turns() -> list[tuple[int, int]]:
    """Return the action numbers of both cooks in each step of an episode."""
    chance = Random(1)
    return [(chance.randrange(6), chance.randrange(6)) for _ in range(LENGTH)]


def our_runs(turns: Sequence[tuple[int, int]]) -> dict[str, tuple[Callable[[], object], int]]:
    """Return each row's function, and the number of steps that it takes."""
    world = Overcooked.create(seats=2, settings=SETTINGS)
    briefs = {seat: world.brief(seat) for seat in range(2)}
    array = np.empty((2, *LOSSLESS_ENCODING.shape(briefs[0])), np.uint8)
    env = parallel_env("overcooked", settings=SETTINGS)
    many = vector_env("overcooked", settings=SETTINGS, copies=COPIES)
    commands = [{0: ACTIONS[first], 1: ACTIONS[second]} for first, second in turns]
    named = [{"seat_0": first, "seat_1": second} for first, second in turns]

    def encoded(turn: dict[int, Command]) -> None:
        world.step(turn)
        LOSSLESS_ENCODING.encode_seats(world, briefs, array)

    return {
        "rules": (lambda: play(partial(world.reset, 0), world.step, commands), LENGTH),
        "encodings": (lambda: play(partial(world.reset, 0), encoded, commands), LENGTH),
        "environment": (lambda: play(partial(env.reset, 0), env.step, named), LENGTH),
        "copies": (
            lambda: play(partial(many.reset, 0), many.step, [[turn] * COPIES for turn in turns]),
            LENGTH * COPIES,
        ),
    }


def play(reset: Callable[[], object], step: Callable[[Any], object], turns: Sequence[Any]) -> None:
    """Play one episode."""
    reset()
    for turn in turns:
        step(turn)


def our_speeds(turns: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Return our steps per second, by row."""
    found = {}
    for name, (run, steps) in our_runs(turns).items():
        times = max(1, GAMES * LENGTH // steps)
        begun = time.process_time()
        for _ in range(times):
            run()
        found[name] = times * steps / (time.process_time() - begun)
    return found


def their_speeds(python: Path, turns: Sequence[tuple[int, int]]) -> dict[str, float]:
    """Return the released program's steps per second, by row."""
    command = [str(python), "-W", "ignore", "-c", PROGRAM, json.dumps(turns)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def best(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the highest speed of each row."""
    return {name: max(each[name] for each in rounds) for name in rounds[0]} if rounds else {}


def main() -> int:
    """Measure both programs in turn, and print a line for each row."""
    turns, ours, theirs = random_turns(), [], []
    with TemporaryDirectory(prefix="released-") as folder:
        try:
            python: Path | None = released(Path(folder))
        except LookupError as error:
            print(f"left out: the released engine cannot be had from PyPI, so nothing is compared: {error}")
            python = None
        for _ in range(ROUNDS):
            ours.append(our_speeds(turns))
            if python:
                theirs.append(their_speeds(python, turns))
    fast, slow = best(ours), best(theirs)
    times = {name: fast[name] / slow[name] for name in slow}
    for name, speed in fast.items():
        compared = f", released {slow[name]:,.0f}: {times[name]:.1f} times" if name in slow else ""
        print(f"{name}: ours {speed:,.0f} steps/s{compared}")
    return int(any(times[name] < least for name, least in TIMES.items() if name in times))


if __name__ == "__main__":
    sys.exit(main())
