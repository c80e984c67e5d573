"""One step looked ahead: what a list of commands would do, worked out by the rules of the game itself.

The kitchen is rebuilt from what a seat was told (brief and observation), so nothing is known here that the
mind may not know. Nothing after the commands is worked out: no rest, no orders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.catalogue import shipped
from kitchen.worlds.cuisine.level import Level
from kitchen.worlds.cuisine.rules import carry_out
from kitchen.worlds.cuisine.states import AgentState, PlaceState, States
from kitchen.worlds.cuisine.stock import Recipe, Stock, Tool

_KEPT = ("level", "title", "dishes", "recipes", "base", "tools", "locations", "uncookable")


class Scene:
    """The kitchen in the midst of a turn; `run` changes it."""

    def __init__(self, brief: Mapping[str, Json], observation: Mapping[str, Json]) -> None:
        self.level = level_of(brief)
        self._states = States()
        self.agents = [
            self._states.agent(seat, each["at"], each["holds"], int(each["busy"]))
            for seat, each in enumerate(observation["agents"])
        ]
        self.places = {id: self._place(id, each) for id, each in observation["locations"].items()}

    def run(self, seat: int, command: Command) -> tuple[str, ...]:
        """Carry out one command, or change nothing and say why not, in reason codes."""
        if not 0 <= seat < len(self.agents):
            return ("unknown_agent",)
        outcome = carry_out(self.level, self._states, self.agents[seat], self.place(command), command)
        if not outcome.reasons:
            self.agents[seat] = outcome.agent
            if outcome.place is not None:
                self.places[outcome.place.id] = outcome.place
        return outcome.reasons

    def agent(self, seat: int) -> AgentState | None:
        """The agent now, None if there is none."""
        return self.agents[seat] if 0 <= seat < len(self.agents) else None

    def place(self, command: Command) -> PlaceState | None:
        """The place that a command names, None if it names none of this kitchen."""
        return self.places.get(command[1]) if len(command) > 1 else None

    def _place(self, id: str, seen: Mapping[str, Json]) -> PlaceState:
        tool = self.level.places[id]
        done = tool.role == "tool" and not tool.always_open and bool(seen["open"])
        return self._states.place(id, tuple(seen["items"]), int(seen["busy"]), done)


def level_of(brief: Mapping[str, Json]) -> Level:
    """The level that a brief describes; equal briefs share one."""
    return _level(json.dumps({key: brief[key] for key in _KEPT}))


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
    """Everything that has a name: what the storage holds, and what can be made."""
    known = shipped().stock
    ingredients = {**known.ingredients, **{item: item for item in base if item not in known.ingredients}}
    return replace(known, ingredients=ingredients, recipes={**known.recipes, **recipes})


def _tool(code: str, told: Mapping[str, Json]) -> Tool:
    """A type of place. What no brief says, its role and whether it is always open, is known by its name."""
    known = shipped().stock.tools.get(code)
    attended = bool(told["attended"])
    role, always_open = (known.role, known.always_open) if known else ("tool", attended)
    return Tool(code, code, role, told["capacity"], int(told["busy"]), attended, always_open)
