"""Simulate commands in a copy of the kitchen, to see their effects before they are given.

The copy is built from what one robot knows: its observation and the unchanging facts of the episode.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.command_rules import AgentState, PlaceState, States, carry_out_command
from kitchen.worlds.cuisine.level import Level, Recipe, Stock, Tool, shipped_catalogue

KEYS_OF_LEVEL = ("level", "title", "dishes", "recipes", "base", "tools", "locations", "uncookable")
"""Parts of a brief that describe its level."""


class SimulatedKitchen:
    """A kitchen during one step. Each command that runs changes it."""

    def __init__(self, brief: Mapping[str, Json], observation: Mapping[str, Json]) -> None:
        self.level = level_from_brief(brief)
        self._states = States()
        self.agents = [
            self._states.agent(seat, each["at"], each["holds"], int(each["busy"]))
            for seat, each in enumerate(observation["agents"])
        ]
        self.places = {id: self._place(id, each) for id, each in observation["locations"].items()}

    def run_all(self, commands: Mapping[int, Command]) -> None:
        """Run one command for each of these seats, in order. Refused commands change nothing."""
        for seat, command in commands.items():
            self.run(seat, command)

    def run(self, seat: int, command: Command) -> tuple[str, ...]:
        """Run one command and return its refusal codes. If the command was carried out, there are none. A
        refused command changes nothing."""
        if not 0 <= seat < len(self.agents):
            return ("unknown_agent",)
        outcome = carry_out_command(self.level, self._states, self.agents[seat], self.place(command), command)
        if not outcome.reasons:
            self.agents[seat] = outcome.agent
            if outcome.place is not None:
                self.places[outcome.place.id] = outcome.place
        return outcome.reasons

    def agent(self, seat: int) -> AgentState | None:
        """Return the current state of the agent in this seat; None if there is no such seat."""
        return self.agents[seat] if 0 <= seat < len(self.agents) else None

    def place(self, command: Command) -> PlaceState | None:
        """Return the current state of the place that the command names; None if it names no place of this
        kitchen."""
        return self.places.get(command[1]) if len(command) > 1 else None

    def _place(self, id: str, seen: Mapping[str, Json]) -> PlaceState:
        tool = self.level.places[id]
        done = tool.role == "tool" and not tool.always_open and bool(seen["open"])
        return self._states.place(id, tuple(seen["items"]), int(seen["busy"]), done)


def level_from_brief(brief: Mapping[str, Json]) -> Level:
    """Return the level that a brief (the unchanging facts of a kitchen) describes. Equal briefs share one
    object."""
    return _level(json.dumps({key: brief[key] for key in KEYS_OF_LEVEL}))


@lru_cache(maxsize=64)
def _level(text: str) -> Level:
    brief = json.loads(text)
    recipes = {
        product: Recipe(product, product, each["tool"], tuple(each["ingredients"]))
        for product, each in brief["recipes"].items()
    }
    places = {id: _tool(kind, brief["tools"][kind]) for id, kind in brief["locations"].items()}
    return Level(
        code=brief["level"],
        title=brief["title"],
        difficulty=None,
        kitchen=tuple(brief["locations"].values()),
        dishes=tuple(brief["dishes"]),
        uncookable=tuple(brief["uncookable"]),
        places=places,
        serving_table=next(id for id, tool in places.items() if tool.role == "serving"),
        recipes=recipes,
        stock=_stock(brief["base"], recipes),
    )


def _stock(base: list[str], recipes: Mapping[str, Recipe]) -> Stock:
    """Return all items: those of the storage, and those that can be made."""
    known = shipped_catalogue().stock
    ingredients = {**known.ingredients, **{item: item for item in base if item not in known.ingredients}}
    return replace(known, ingredients=ingredients, recipes={**known.recipes, **recipes})


def _tool(code: str, entry: Mapping[str, Json]) -> Tool:
    """Return a type of place. Its role is that of the tool with the same name in the shipped data.

    The brief (the unchanging facts of a kitchen) does not state the role.
    """
    known = shipped_catalogue().stock.tools.get(code)
    attended = bool(entry["attended"])
    role, always_open = (known.role, known.always_open) if known else ("tool", attended)
    return Tool(code, code, role, entry["capacity"], int(entry["busy"]), attended, always_open)
