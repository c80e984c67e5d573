"""Every kind of co-player: one line each, sorted by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kitchen.coplayers.base import Advice, CoPlayer, Situation
from kitchen.registry import look_up
from kitchen.worlds.base import Json

COPLAYERS: dict[str, str] = {
    "dispatcher": "kitchen.coplayers.dispatcher.mind:Dispatcher",
    "planner": "kitchen.coplayers.planner.planner:Planner",
    "random": "kitchen.coplayers.random:RandomPlayer",
}
"""Name of the kind to its class."""


ADVISERS: dict[str, str] = {
    "cuisine": "kitchen.coplayers.planner.planner:advise",
}
"""Name of a world to what gives a person `Advice` in it, from a situation; a world may have none."""


def get_adviser(world: str) -> Callable[[Situation], Advice | None] | None:
    """What gives advice in this world; None if nothing does."""
    if world not in ADVISERS:
        return None
    found: Callable[[Situation], Advice | None] = look_up(ADVISERS, world)
    return found


def get_coplayer(kind: str) -> type[CoPlayer]:
    """The class of a co-player; UnknownNameError if there is none."""
    found: type[CoPlayer] = look_up(COPLAYERS, kind)
    return found


def make_coplayer(kind: str, settings: Mapping[str, Json]) -> CoPlayer:
    """A co-player with these settings; SettingsError if they are wrong."""
    return get_coplayer(kind)(settings)
