"""Read the tasks of Collab-Overcooked, and derive each task's cooking steps, recipe and time limit.

A task is a TOML file in `data/tasks/`. The name of the file is the ordered dish. It has two keys::

    level = 4                             # 1 to 6: the pattern of the cooking steps (`LEVEL_JOBS`)
    ingredients = ["bell_pepper", "corn"] # the raw ingredients x, y, z of that pattern

`OPTIMA` has the fewest steps in which each level can be solved, as recorded by the benchmark's authors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import floor
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, TypeAdapter

from kitchen.contract.data_files import DataSource, Names, Record, error_text, read_toml
from kitchen.worlds.collab_overcooked.food_rules import (
    BLENDER,
    BOARD,
    DATA,
    OVEN,
    POT,
    FoodRules,
    base_food,
    food_rules,
)

OPTIMA: Mapping[int, int] = {1: 16, 2: 23, 3: 35, 4: 32, 5: 55, 6: 64}
"""Recorded optimum of each level: the index of the delivering step, from 0."""
LEVELS = tuple(OPTIMA)
INGREDIENT_COUNTS: Mapping[int, int] = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3}
FIRST_LEVEL_IN_DISH = 3
"""The first level whose dishes must be carried in a dish."""


class Job(NamedTuple):
    """One job of a recipe: the utensil, its contents, and the product."""

    utensil: str
    contents: tuple[str, ...]
    makes: str


Contents = tuple[str, tuple[str, ...]]


def _level_5_head(x: str) -> list[Contents]:
    return [(BOARD, (x,)), (POT, (f"{x}_slices",)), (BLENDER, (f"boiled_{x}_slices",))]


DRESSINGS = 6
"""How many different looks of the room the page has."""
LEVEL_JOBS: Mapping[int, Callable[[str, str, str, str], list[Contents]]] = {
    1: lambda heat, x, y, z: [(heat, (x,))],
    2: lambda heat, x, y, z: [(BOARD, (x,)), (heat, (f"{x}_slices",))],
    3: lambda heat, x, y, z: [(BOARD, (x,)), (OVEN, (f"{x}_slices",)), (POT, (f"baked_{x}_slices",))],
    4: lambda heat, x, y, z: [(BOARD, (x,)), (POT, (f"{x}_slices", y))],
    5: lambda heat, x, y, z: [*_level_5_head(x), (OVEN, (f"mashed_{x}", y))],
    6: lambda heat, x, y, z: [
        *_level_5_head(x),
        (BOARD, (z,)),
        (OVEN, (f"mashed_{x}", y, f"{z}_slices")),
    ],
}
"""The jobs of each level, in order, from (utensil of the last job in levels 1 and 2, x, y, z)."""


class TaskFile(Record):
    """The content of a task file."""

    level: Annotated[int, Field(ge=1, le=len(LEVELS)), error_text(f"must be a level from 1 to {len(LEVELS)}")]
    ingredients: Names


@dataclass(frozen=True, slots=True)
class Task:
    """One ordered dish, its level, and the jobs that make it."""

    name: str
    level: int
    ingredients: tuple[str, ...]
    jobs: tuple[Job, ...]

    @property
    def needs_dish(self) -> bool:
        """Return True if the ordered food must be served in a dish."""
        return self.level >= FIRST_LEVEL_IN_DISH

    @property
    def optimum(self) -> int:
        """Return the recorded optimum of the task's level: the index of the delivering step, from 0."""
        return OPTIMA[self.level]

    def steps_allowed(self, gamma: float) -> int:
        """Return the number of steps of an episode with time limit `gamma`: floor(gamma x optimum) + 1."""
        return floor(gamma * self.optimum + 1e-9) + 1

    @property
    def last_utensil(self) -> str:
        """Return the utensil that makes the ordered food."""
        return self.jobs[-1].utensil


def read_task(path: Path, rules: FoodRules) -> Task:
    """Read a task file. Raises DataError with file, key and reason if it is wrong."""
    source, values = read_toml(path)
    given = source.read(TypeAdapter(TaskFile), values)
    wanted = INGREDIENT_COUNTS[given.level]
    if len(given.ingredients) != wanted:
        raise source.error("ingredients", f"level {given.level} has {wanted}, not {len(given.ingredients)}")
    for name in given.ingredients:
        if name not in rules.raw:
            raise source.error("ingredients", f"{name!r} is no raw ingredient")
    return Task(path.stem, given.level, given.ingredients, _jobs(path.stem, given, rules, source))


def _jobs(name: str, given: TaskFile, rules: FoodRules, source: DataSource) -> tuple[Job, ...]:
    """Return the utensils' jobs that make the dish `name` from the task's ingredients. Raises an error if
    the level's jobs do not make this dish."""
    x, y, z = (*given.ingredients, "", "")[:3]
    found = ""
    for heat in (POT, OVEN):
        jobs = [
            Job(utensil, contents, rules.product(utensil, contents) or "")
            for utensil, contents in LEVEL_JOBS[given.level](heat, x, y, z)
        ]
        if missing := next((job for job in jobs if not job.makes), None):
            found = found or f"{missing.utensil} makes nothing of {', '.join(missing.contents)}"
        elif jobs[-1].makes == name:
            return tuple(jobs)
        else:
            found = f"level {given.level} makes {jobs[-1].makes} of them, not {name}"
    raise source.error("ingredients", found)


@cache
def tasks() -> Mapping[str, Task]:
    """Return every shipped task by name, ordered by level, then by name."""
    found = [read_task(path, food_rules()) for path in (DATA / "tasks").glob("*.toml")]
    return {task.name: task for task in sorted(found, key=lambda task: (task.level, task.name))}


def room_dressing(name: str) -> int:
    """Return the number of the colours and the guest that the page shows for this order. It changes nothing
    else."""
    return list(tasks()).index(name) % DRESSINGS


def recipe(task: Task) -> dict[str, list[list[str]]]:
    """Return the recipe in codes: `ingredients` as [name, amount] (always "1"), and `steps` as [utensil,
    product, *contents]."""
    steps = [[job.utensil, job.makes, *map(base_food, job.contents)] for job in task.jobs]
    return {"ingredients": [[name, "1"] for name in task.ingredients], "steps": steps}
