"""Define the aims that a robot can be asked to achieve (`World.aims`), and check their progress.

`serve` a dish: one more of it was served than when the aim was given. `make` an item: one is ready in a tool
or in this robot's hands. `fetch` an item: this robot holds one. `free` a tool: it is empty and idle. Plain
Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Json
from kitchen.worlds.cuisine.level import Level, tools_needed

SERVE, MAKE, FETCH, FREE = "serve", "make", "fetch", "free"


@lru_cache(maxsize=256)
def level_aims(level: Level) -> tuple[Aim, ...]:
    """Return all aims that a level allows; those that lack a tool are left out."""
    made = [item for item in level.recipes if set(tools_needed(item, level.stock)) <= set(level.kitchen)]
    raw = dict.fromkeys(item for product in made for item in level.recipes[product].ingredients)
    tools = [place for place, tool in level.places.items() if tool.role == "tool"]
    return (
        *((SERVE, dish) for dish in level.dishes if dish in made),
        *((MAKE, item) for item in made),
        *((FETCH, item) for item in [*(item for item in raw if item not in level.recipes), *made]),
        *((FREE, place) for place in tools),
    )


def aim_mark(observation: Mapping[str, Json], aim: Aim) -> Json:
    """Return how many of the dish were served so far; None for other kinds of aims."""
    return observation["delivered"].count(aim[1]) if aim[0] == SERVE else None


def aim_status(
    observation: Mapping[str, Json], brief: Mapping[str, Json], seat: int, aim: Aim, since: Json
) -> str:
    """Return the status of one aim of this robot."""
    kind, what = aim
    places, holds = observation["locations"], observation["agents"][seat]["holds"]
    if kind == SERVE:
        return _reached(observation["delivered"].count(what) > since)
    if kind == MAKE:
        ready = (place["items"] == [what] and not place["busy"] for place in places.values())
        return _reached(holds == what or any(ready))
    if kind == FREE:
        return _reached(not places[what]["items"] and not places[what]["busy"])
    if holds == what or what not in brief["recipes"] or _is_somewhere(observation, what):
        return _reached(holds == what)
    return FAIL


def _reached(reached: bool) -> str:
    return SUCCESS if reached else UNKNOWN


def _is_somewhere(observation: Mapping[str, Json], item: str) -> bool:
    """Return whether the item is in a tool (also a busy one), on a table, or in a robot's hands."""
    held = any(agent["holds"] == item for agent in observation["agents"])
    return held or any(item in place["items"] for place in observation["locations"].values())
