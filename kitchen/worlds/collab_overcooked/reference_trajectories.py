"""Generate the reference trajectories (RAT) of a task, which are known good sequences of commands.

Each sequence ends with the delivery. A trajectory has the commands of one cook, and is made from a template
of the task's level. The assistant's trajectory is divided into *units*. Most units bring one thing to the
shared counters. Source: Collab-Overcooked (ACL 2025), released files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, permutations
from typing import NamedTuple

from kitchen.contract.world import Command
from kitchen.worlds.collab_overcooked.food_rules import BLENDER, BOARD, DISH, OVEN, POT
from kitchen.worlds.collab_overcooked.order_tasks import Task, tasks

Macros = tuple[Command, ...]
PLACE_HELD: Command = ("place_obj_on_counter",)
DELIVER_HELD: Command = ("deliver",)
HEAT: Mapping[str, Command] = {POT: ("cook", POT), OVEN: ("bake", OVEN)}


class ReferencePair(NamedTuple):
    """A trajectory of the chef and one of the assistant that belong together."""

    chef: Macros
    units: tuple[Macros, ...]
    """The assistant's macros, by unit."""

    @property
    def assistant(self) -> Macros:
        """Return the assistant's trajectory: the commands of all its units, in order."""
        return tuple(chain(*self.units))

    def of_seat(self, seat: int) -> Macros:
        """Return the trajectory of the chef (0) or the assistant (1)."""
        return self.assistant if seat else self.chef


def take(thing: str, place: str = "counter") -> Command:
    """Return the command that picks up a thing from a place."""
    return ("pickup", thing, place)


def put(utensil: str) -> Command:
    """Return the command that puts the held thing into a utensil."""
    return ("put_obj_in_utensil", utensil)


def put_from_counter(thing: str, utensil: str) -> Macros:
    """Return the chef's commands that take a thing from a counter and put it into a utensil."""
    return (take(thing), put(utensil))


def bring_raw(thing: str) -> Macros:
    """Return the assistant's commands that fetch a raw ingredient and put it on a counter."""
    return (take(thing, "ingredient_dispenser"), PLACE_HELD)


def bring_slices(thing: str) -> Macros:
    """Return the assistant's commands that fetch an ingredient, cut it, and put the slices on a counter."""
    started = (take(thing, "ingredient_dispenser"), put(BOARD), ("cut", BOARD))
    return (*started, take(f"{thing}_slices", BOARD), PLACE_HELD)


def bring_mash(thing: str) -> Macros:
    """Return the assistant's commands that blend boiled slices and put the mash on a counter."""
    return (
        *(take(f"boiled_{thing}_slices"), put(BLENDER), ("stir", BLENDER)),
        *(take(f"mashed_{thing}", BLENDER), PLACE_HELD),
    )


BRING_DISH: Macros = (take(DISH, "dish_dispenser"), PLACE_HELD)


def _serve(utensil: str) -> Macros:
    return (take(DISH), ("fill_dish_with_food", utensil), DELIVER_HELD)


def _plain(task: Task, thing: str, unit: Macros) -> list[ReferencePair]:
    heat = task.last_utensil
    chef = (*put_from_counter(thing, heat), HEAT[heat], take(task.name, heat), DELIVER_HELD)
    return [ReferencePair(chef, (unit,))]


def _level_1(task: Task, x: str, y: str, z: str) -> list[ReferencePair]:
    return _plain(task, x, bring_raw(x))


def _level_2(task: Task, x: str, y: str, z: str) -> list[ReferencePair]:
    return _plain(task, f"{x}_slices", bring_slices(x))


def _level_3(task: Task, x: str, y: str, z: str) -> list[ReferencePair]:
    baked = (*put_from_counter(f"{x}_slices", OVEN), HEAT[OVEN], take(f"baked_{x}_slices", OVEN))
    chef = (*baked, put(POT), HEAT[POT], *_serve(POT))
    return [ReferencePair(chef, (bring_slices(x), BRING_DISH))]


def _level_4(task: Task, x: str, y: str, z: str) -> list[ReferencePair]:
    slices, raw = put_from_counter(f"{x}_slices", POT), put_from_counter(y, POT)
    rest = (HEAT[POT], *_serve(POT))
    cut = bring_slices(x)
    return [
        ReferencePair((*slices, *raw, *rest), (cut, bring_raw(y), BRING_DISH)),
        ReferencePair((*raw, *slices, *rest), (cut[:3], bring_raw(y), cut[3:], BRING_DISH)),
    ]


def _patties(
    x: str, parts: Sequence[tuple[str, Macros]], orders: Sequence[Sequence[int]]
) -> list[ReferencePair]:
    """Return the pairs of levels 5 and 6. `parts` are the things of the patty, with the assistant's units."""
    head = (*put_from_counter(f"{x}_slices", POT), HEAT[POT], take(f"boiled_{x}_slices", POT), PLACE_HELD)
    pairs = []
    for order in orders:
        chosen = [parts[number] for number in order]
        filled = chain(*(put_from_counter(thing, OVEN) for thing, _ in chosen))
        units = (bring_slices(x), *(unit for _, unit in chosen), BRING_DISH)
        pairs.append(ReferencePair((*head, *filled, HEAT[OVEN], *_serve(OVEN)), units))
    return pairs


def _level_5(task: Task, x: str, y: str, z: str) -> list[ReferencePair]:
    parts = [(f"mashed_{x}", bring_mash(x)), (y, bring_raw(y))]
    return _patties(x, parts, list(permutations(range(2))))


def _level_6(task: Task, x: str, y: str, z: str) -> list[ReferencePair]:
    parts = [(f"mashed_{x}", bring_mash(x)), (y, bring_raw(y)), (f"{z}_slices", bring_slices(z))]
    return _patties(x, parts, [(0, 1, 2), (1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1), (2, 1, 0)])


_TEMPLATES: Mapping[int, Callable[[Task, str, str, str], list[ReferencePair]]] = {
    1: _level_1,
    2: _level_2,
    3: _level_3,
    4: _level_4,
    5: _level_5,
    6: _level_6,
}


def reference_pairs(task: Task) -> tuple[ReferencePair, ...]:
    """Return the reference trajectories (known good sequences of commands) of a task, as pairs of chef and
    assistant. They are made from the template of its level."""
    x, y, z = (*task.ingredients, "", "")[:3]
    return tuple(_TEMPLATES[task.level](task, x, y, z))


@cache
def references(name: str) -> tuple[ReferencePair, ...]:
    """Return the reference trajectories (known good sequences of commands) of the shipped task with this
    name, as pairs of chef and assistant."""
    return reference_pairs(tasks()[name])
