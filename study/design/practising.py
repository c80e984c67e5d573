"""Whether a practice episode is long enough: who follows its hints reaches in it what it lasts until."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from functools import lru_cache

from kitchen.contract.agent import Situation
from kitchen.contract.world import Json, World, canonical_json
from kitchen.registry.agents import get_adviser
from kitchen.registry.worlds import get_world

SEEDS = 3
"""Episodes that are tried: orders come by chance."""
LONGEST = 300
"""Steps after which nobody practises any more."""


def practice_reaches(world: str, settings: Mapping[str, Json], until: Mapping[str, int]) -> bool:
    """Whether who follows the hints alone reaches that in time, whatever chance brings; True where nothing is
    to be reached. SettingsError if it cannot be played."""
    return not until or _reaches(world, canonical_json(dict(settings)), canonical_json(dict(until)))


@lru_cache(maxsize=64)
def _reaches(kind: str, settings: str, until: str) -> bool:
    with warnings.catch_warnings(action="ignore"):
        world = get_world(kind).create(seats=_fewest(kind), settings=json.loads(settings))
        return all(_reached(world, json.loads(until), seed) for seed in range(SEEDS))


def _fewest(kind: str) -> int:
    """Seats of a practice without co-players; others than the first do nothing."""
    return get_world(kind).min_seats


def _reached(world: World, until: Mapping[str, int], seed: int) -> bool:
    world.reset(seed)
    while not (there := _is_there(world, until)) and not world.has_ended and world.clock < LONGEST:
        advice = get_adviser(world.kind).lead(_situation(world))
        world.step({0: advice.command} if advice else {})
    return there


def _is_there(world: World, until: Mapping[str, int]) -> bool:
    score = world.score()
    return all((score[name] or 0) >= least for name, least in until.items())


def _situation(world: World) -> Situation:
    return Situation(
        world=world.kind,
        step=world.clock,
        seats=(0,),
        briefs={0: world.brief(0)},
        observations={0: world.observe(0)},
        legal={0: world.legal_actions(0)},
        people=(0,),
        seed=world.clock,
    )
