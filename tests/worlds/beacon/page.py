"""Define the page of the test world Beacon."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from kitchen.contract.page import Page, Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command, Json

WORDS = {"left": "left", "here": "here", "right": "right"}


class Bay(NamedTuple):
    """The values that this seat sees, by name."""

    seen: tuple[tuple[str, Json], ...]


class Menu(NamedTuple):
    """The commands for the coming step, as JSON and in words."""

    step: int
    role: str
    choosing: bool
    actions: tuple[tuple[str, str], ...]


class BeaconPage(Page):
    """The page with the bay and the menu."""

    layout = "worlds/beacon/layout.jinja"
    guide = "worlds/beacon/guide.jinja"
    styles = ("worlds/beacon/beacon.css",)
    title = "The lighthouse"

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Return the panel of the bay and the menu."""
        actions = tuple((json.dumps(command), self.phrase(command)) for command in view.choice.legal)
        menu = Menu(view.step + 1, view.brief["role"], view.phase == "choose", actions)
        return (
            Panel("bay", "worlds/beacon/bay.jinja", Bay(tuple(view.observation.items()))),
            Panel("menu", "worlds/beacon/menu.jinja", menu),
        )

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """Return a hint, such as `Hint: the haven lies to the left.`"""
        return f"Hint: the haven lies to the {aim['where']}."

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the rules. The brief contains all of them."""
        return brief

    def phrase(self, command: Command) -> str:
        """Return a command in words, such as `Show the light left`."""
        verb = {"light": "Show the light", "steer": "Steer"}.get(command[0] if command else "", "Wait")
        return " ".join([verb, *(WORDS[word] for word in command[1:] if word in WORDS)])


PAGE = BeaconPage()
