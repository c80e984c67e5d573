"""Beacon in a browser."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kitchen.contract.page import Page, Panel, SeatView
from kitchen.contract.world import Command, Json

WORDS = {"left": "left", "here": "here", "right": "right"}


class BeaconPage(Page):
    """What one sees of the bay, and what one can do."""

    layout = "worlds/beacon/layout.html"
    guide = "worlds/beacon/guide.html"
    styles = ("worlds/beacon/beacon.css",)
    title = "The lighthouse"

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """The bay, then the menu."""
        actions = [
            {"value": json.dumps(command), "text": self.phrase(command), "checked": command == view.chosen}
            for command in view.legal
        ]
        menu = {
            "actions": actions,
            "phase": view.phase,
            "step": view.step,
            "for_step": view.step + 1,
            "role": view.brief["role"],
            "enabled": view.phase == "choose",
        }
        return (
            Panel("bay", "worlds/beacon/bay.html", {"seen": dict(view.observation)}),
            Panel("menu", "worlds/beacon/menu.html", {"menu": menu}),
        )

    def hint(self, view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
        """`Hint: the haven lies to the left.`"""
        return f"Hint: the haven lies to the {aim['where']}."

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """The brief says it all."""
        return brief

    def phrase(self, command: Command) -> str:
        """`Show the light left`."""
        verb = {"light": "Show the light", "steer": "Steer"}.get(command[0] if command else "", "Wait")
        return " ".join([verb, *(WORDS[word] for word in command[1:] if word in WORDS)])


PAGE = BeaconPage()
