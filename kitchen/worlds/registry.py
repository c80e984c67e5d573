"""Every world that can be played: one line each, sorted by name."""

from __future__ import annotations

from kitchen.registry import look_up
from kitchen.worlds.base import World
from kitchen.worlds.page import Page

WORLDS: dict[str, str] = {
    "cuisine": "kitchen.worlds.cuisine.world:CuisineWorld",
}
"""Name of the world to its class."""

PAGES: dict[str, str] = {
    "cuisine": "kitchen.worlds.cuisine.page:PAGE",
}
"""Name of the world to how it is shown in a browser (see `kitchen.worlds.page`)."""


def get_world(kind: str) -> type[World]:
    """The class of a world; UnknownNameError if there is none."""
    found: type[World] = look_up(WORLDS, kind)
    return found


def get_page(kind: str) -> Page:
    """How a world is shown; UnknownNameError if there is none."""
    found: Page = look_up(PAGES, kind)
    return found
