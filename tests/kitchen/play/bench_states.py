"""Compare the cost of a step with a large state and with a small one: `python -m
tests.kitchen.play.bench_states`.

A step changes 3 blocks of 20,000, or 3 of 20. The program plays both worlds in turn in a database of its own.
It prints the time of the world's step and of its state hash, the time of `OpenTurn.take` with everything that
it stores, and the number of stored characters. Times are medians of processor time, so other programs do not
change them. Exit code 1: the large world costs more than `MOST` times as much as the small one.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command

from kitchen.contract.world import World
from tests.worlds.boulders import LINE, Boulders

BLOCKS = 20, 20_000
STEPS = 400
MOST = 1.3
MEASURES = ("ms for world and hash", "ms for take", "characters stored")


@dataclass
class Cost:
    """The costs of the steps of one world."""

    engine: list[float]
    take: list[float]
    stored: float = 0.0

    @property
    def of_a_step(self) -> tuple[float, ...]:
        """Return the cost of one step by measure."""
        return 1000 * median(self.engine), 1000 * median(self.take), self.stored


def main() -> int:
    """Measure, and print the table. Return 1 if the large world costs too much."""
    with tempfile.TemporaryDirectory(prefix="brigade-bench-") as folder:
        os.environ |= {
            "BRIGADE_VAR": folder,
            "DJANGO_SETTINGS_MODULE": "brigade.settings",
            "BRIGADE_WORLDS": LINE,
        }
        django.setup()
        settings.DEBUG = False  # where every statement is written out for the log
        call_command("migrate", verbosity=0)
        small, large = measured()
    ratios = [much / little for little, much in zip(small.of_a_step, large.of_a_step, strict=True)]
    print(
        "a step that changes 3 blocks".ljust(30),
        *(f"of {blocks:,}".rjust(12) for blocks in BLOCKS),
        "ratio".rjust(12),
    )
    for name, little, much, ratio in zip(MEASURES, small.of_a_step, large.of_a_step, ratios, strict=True):
        print(name.ljust(30), f"{little:12.3f} {much:12.3f} {ratio:12.2f}")
    return int(max(ratios[1:]) > MOST)


def measured() -> list[Cost]:
    """Return the costs of a step for each size of world."""
    costs = [Cost([], []) for _ in BLOCKS]
    worlds, episodes = [world(blocks) for blocks in BLOCKS], [episode(blocks) for blocks in BLOCKS]
    for each in worlds:
        each.state_hash()
    gc.collect()
    gc.freeze()  # what is loaded by now is no garbage to be looked for, as in a process that plays
    for _ in range(STEPS):
        for cost, game, played in zip(costs, worlds, episodes, strict=True):
            cost.engine.append(engine_step(game))
            cost.take.append(stored_step(played))
    for cost, played in zip(costs, episodes, strict=True):
        cost.stored = sum(characters(played)) / STEPS
    return costs


def world(blocks: int) -> World:
    """Create a world that is played in memory only."""
    made = Boulders.create(seats=2, settings={"blocks": blocks, "steps": STEPS + 1})
    made.reset(1)
    return made


def episode(blocks: int) -> Any:
    """Create an episode that is stored. Models are imported here, because Django is not set up earlier."""
    from kitchen.play.episode.create_episode import create_episode

    given = {"blocks": blocks, "steps": STEPS + 1}
    return create_episode(world=Boulders.kind, settings=given, seats=2, seed=1)


def commands(game: World) -> dict[int, tuple[str, ...]]:
    """Return commands with which each of two seats changes a block. Moss changes a third block."""
    return {seat: game.legal_actions(seat)[0] for seat in range(2)}


def engine_step(game: World) -> float:
    """Return the seconds of a step and of the hash after it."""
    turn, began = commands(game), process_time()
    game.step(turn)
    game.state_hash()
    return process_time() - began


def stored_step(played: Any) -> float:
    """Return the seconds to take a step with the service that stores it."""
    from django.db import transaction

    from kitchen.play.turn.step_store import add_commands, command_row, take_step
    from kitchen.play.turn.turn_cache import exclusive_turn, refresh_turn

    with exclusive_turn(played.pk) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        chosen = commands(turn.world).items()
        add_commands(turn, [command_row(turn, seat, command, chosen_by="person") for seat, command in chosen])
        began = process_time()
        take_step(turn)
        return process_time() - began


def characters(played: Any) -> Iterator[int]:
    """Return the number of characters that the steps stored for the state: the small part at each step, and
    the large part."""
    from kitchen.play.models import Episode, StateChange

    state = Episode.objects.get(pk=played.pk).state
    yield STEPS * len(str(state))
    for row in StateChange.objects.filter(episode=played, step__gt=0):
        yield len(row.changed) + len(row.removed) + len(row.part) + len(row.root)


if __name__ == "__main__":
    sys.exit(main())
