"""`python -m kitchen.worlds.blocks.planner_table`: test a planner on every task in the worlds of blocks.

One planner plays all seats (players' places) and knows what all of them hold and may know. The tasks are all
crafting tasks that can be solved, all pairs of dishes, and all blueprints of the benchmarks. Each printed
line has the family, the task, and the numbers of seats and steps. It also says whether the task was solved.
The last line counts the solved tasks.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kitchen.contract.agent import DecisionRequest, Situation, run_without_waiting
from kitchen.contract.world import Json
from kitchen.worlds.blocks.block_benchmarks import BENCHMARKS, cooking_pairs
from kitchen.worlds.blocks.block_planner import BlocksPlanner
from kitchen.worlds.blocks.construction_world import Construction
from kitchen.worlds.blocks.cooking_world import Cooking
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks
from kitchen.worlds.blocks.crafting_world import Crafting

COOKS, BUILDERS = 2, 2
"""Seats of a pair of dishes and of a blueprint."""
FAMILIES = ("crafting", "cooking", "construction")
PLANNER = BlocksPlanner({})


class PlannedTask(NamedTuple):
    """One task of the table: its family, its name, the number of seats, and the settings of the world."""

    family: str
    name: str
    seats: int
    settings: Mapping[str, Json]


class TaskResult(NamedTuple):
    """Whether the planner solved a task, and the steps that it took."""

    solved: bool
    steps: int


def solvable_tasks() -> Iterator[PlannedTask]:
    """Yield all tasks of the table, family by family."""
    for task in crafting_tasks().values():
        if task.crafts:
            yield PlannedTask("crafting", task.id, task.seats, {"task": task.id})
    for pair in cooking_pairs():
        yield PlannedTask("cooking", pair, COOKS, {"targets": pair})
    for name in BENCHMARKS["blocks_construction"].levels():
        yield PlannedTask("construction", name, BUILDERS, {"blueprint": name})


def play_task(task: PlannedTask) -> TaskResult:
    """Play a task to its end with one planner in all seats, with the usual step limit of the task."""
    classes = dict(zip(FAMILIES, (Crafting, Cooking, Construction), strict=True))
    world = classes[task.family].create(seats=task.seats, settings=task.settings)
    world.reset(0)
    while not world.has_ended:
        asked = tuple(seat for seat in range(world.seats) if world.asks(seat))
        world.step(_commands(world, asked) if asked else {})
    return TaskResult(world.over, world.clock)


def _commands(world: Any, asked: tuple[int, ...]) -> Mapping[int, Any]:
    seats = tuple(range(world.seats))
    situation = Situation(
        world=world.kind,
        step=world.clock,
        seats=seats,
        briefs={seat: world.brief(seat) for seat in seats},
        observations={seat: world.observe(seat) for seat in seats},
        legal={seat: world.legal_actions(seat) for seat in seats},
        request=DecisionRequest(asked=asked),
    )
    return run_without_waiting(PLANNER.decide(situation)).commands


def print_table(arguments: Sequence[str] | None = None) -> int:
    """Play the tasks that the arguments name, and print a line for each. Return 1 if one is not solved, else
    0."""
    parser = ArgumentParser(prog="planner_table", description=__doc__)
    parser.add_argument("--family", choices=FAMILIES, nargs="+", default=FAMILIES, help="(default: all)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="play each Nth task (default: 1)")
    chosen = parser.parse_args(arguments)
    tasks = [task for task in solvable_tasks() if task.family in chosen.family][:: max(chosen.every, 1)]
    solved = 0
    for task in tasks:
        result = play_task(task)
        solved += result.solved
        words = "solved" if result.solved else "not solved"
        print(f"{task.family:12} {task.name:48} {task.seats} seats {result.steps:5} steps  {words}")
    print(f"{solved} of {len(tasks)} tasks solved")
    return int(solved < len(tasks))


if __name__ == "__main__":
    sys.exit(print_table())
