"""What a condition cannot measure, by its settings alone: told before anybody plays. Imports no models."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import ceil, sqrt
from typing import Protocol

from kitchen.contract.chances import Chances
from kitchen.contract.world import Figure, Json, World, WorldError
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world
from kitchen.words.counting import counted
from study.design.plan import Played, seats_of

POINTS = 5
"""A difference between two conditions that a study should be able to see, in points of a hundred."""
Z = 1.959964
"""Two-sided 95 % of a normal distribution."""


class Set(Played, Protocol):
    """A condition, as a row or as a plan: what is played in it."""

    world: str
    settings: Mapping[str, Json]


def unmeasured(played: Set, people: int | None = None) -> tuple[str, ...]:
    """What episodes of this condition cannot show, in whole sentences; `people` are those planned (None: not
    said). Nothing where it cannot be played at all (`condition_check` says so)."""
    with suppress(WorldError, UnknownNameError), warnings.catch_warnings(action="ignore"):
        world = get_world(played.world).create(seats=seats_of(played), settings=played.settings)
        return tuple(_told(world, people))
    return ()


def _told(world: World, people: int | None) -> Iterator[str]:
    chances = world.chances()
    for figure in world.figures:
        if figure.measured and figure.name in chances:
            yield from _limits(figure, chances[figure.name], people)


def _limits(figure: Figure, chances: Chances, people: int | None) -> Iterator[str]:
    if not chances.missable:
        yield (
            f"{chances.because}: none of them can be missed, so “{figure.label}” is blank or 1, "
            "whoever plays."
        )
    elif people and chance_points(people * chances.most) > POINTS:
        yield _too_few(figure, chances, people)


def _too_few(figure: Figure, chances: Chances, people: int) -> str:
    number = people * chances.most
    return (
        f"At most {chances.most} {chances.things} come in an episode, {number} with the "
        f"{counted(people, 'participant')} planned: if each is a matter of chance, “{figure.label}” of two "
        f"conditions that are alike differs by up to {ceil(chance_points(number))} points (95 %). For a "
        f"difference of {POINTS} points to stand out it takes about {people_for(chances.most)} participants, "
        "or longer episodes."
    )


def chance_points(number: int) -> float:
    """By how many points of a hundred two shares of `number` things each differ by chance alone, at most in
    95 of 100 studies: each is done or missed with the same chance, one half, where that is largest."""
    return 100 * Z * sqrt(2 * 0.25 / number)


def people_for(things: int) -> int:
    """How many participants, with so many things each, bring that down to `POINTS`."""
    return ceil(0.5 * (100 * Z / POINTS) ** 2 / things)
