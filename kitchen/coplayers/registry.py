"""Every kind of co-player: one line each, sorted by name."""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.coplayers.base import CoPlayer
from kitchen.registry import look_up
from kitchen.worlds.base import Json

COPLAYERS: dict[str, str] = {
    "dispatcher": "kitchen.coplayers.dispatcher:Dispatcher",
    "planner": "kitchen.coplayers.planner:Planner",
    "random": "kitchen.coplayers.random:RandomPlayer",
}
"""Name of the kind to its class."""


def get_coplayer(kind: str) -> type[CoPlayer]:
    """The class of a co-player; UnknownNameError if there is none."""
    found: type[CoPlayer] = look_up(COPLAYERS, kind)
    return found


def make_coplayer(kind: str, settings: Mapping[str, Json]) -> CoPlayer:
    """A co-player with these settings; SettingsError if they are wrong."""
    return get_coplayer(kind)(settings)
