"""Apply one command: check whether it is allowed, and return the new states of the agent and the place.

The docstring of `kitchen.worlds.cuisine` has the rules.
"""

# The docstring of `kitchen.worlds.cuisine` has the rules. In addition:
#
# - A `get` that names an item takes that item or nothing. Naming an item that is not at the place is refused
#   as `unknown_item`.
# - Only a single item can be taken. A place with several items is not open. So adding an item to a finished
#   product closes the tool again. (No shipped recipe allows this.)
# - Storage and serving table cannot be activated: the reason is `empty` if nothing is there, else
#   `would_waste`.
# - A put item that is in the tool already needs no extra room. So this is allowed even if the tool is full.

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kitchen.contract.world import Command
from kitchen.worlds.cuisine.level import Level, Tool

POOL_LIMIT = 100_000
"""Number of states of one kind at which a pool is emptied."""


@dataclass(frozen=True, slots=True, eq=False)
class AgentState:
    """One agent: its seat, the id of its place, the item in its hands, and the number of steps for which
    it is busy."""

    seat: int
    at: str
    holds: str | None
    busy: int


@dataclass(frozen=True, slots=True, eq=False)
class PlaceState:
    """One place: its id, its items (sorted), the number of steps for which it is busy, and whether a
    product waits in it."""

    id: str
    items: tuple[str, ...]
    busy: int
    done: bool
    """True if it was activated and its product not taken yet. Never set for a tool that is always open."""


class States:
    """Creates agent and place states. Equal values give the same object."""

    def __init__(self) -> None:
        self._agents: dict[tuple[int, str, str | None, int], AgentState] = {}
        self._places: dict[tuple[str, tuple[str, ...], int, bool], PlaceState] = {}

    def agent(self, seat: int, at: str, holds: str | None = None, busy: int = 0) -> AgentState:
        """Return the state object of an agent with these values. `at` is its place, `holds` its item, and
        `busy` the number of steps for which it is busy. Equal values give the same object while it is
        cached."""
        key = (seat, at, holds, busy)
        state = self._agents.get(key)
        if state is None:
            if len(self._agents) >= POOL_LIMIT:
                self._agents.clear()
            state = self._agents[key] = AgentState(*key)
        return state

    def place(self, id: str, items: tuple[str, ...] = (), busy: int = 0, done: bool = False) -> PlaceState:
        """Return the state object of a place with these values. The order of the items does not matter. Equal
        values give the same object while it is cached.

        `done` is True if the tool contains a product that is finished or still cooking.
        """
        key = (id, tuple(sorted(items)), busy, done)
        state = self._places.get(key)
        if state is None:
            if len(self._places) >= POOL_LIMIT:
                self._places.clear()
            state = self._places[key] = PlaceState(*key)
        return state

    def rested_agent(self, agent: AgentState) -> AgentState:
        """Return the agent's state one step later: it is busy for one step less."""
        return self.agent(agent.seat, agent.at, agent.holds, agent.busy - 1) if agent.busy else agent

    def rested_place(self, place: PlaceState) -> PlaceState:
        """Return the place's state one step later: it is busy for one step less."""
        return self.place(place.id, place.items, place.busy - 1, place.done) if place.busy else place


class CommandEffect(NamedTuple):
    """The states of agent and place after a command. `reasons` are the refusal codes, empty if the command
    was carried out."""

    agent: AgentState
    place: PlaceState | None
    reasons: tuple[str, ...] = ()
    item: str | None = None
    """The item that was taken, put or made."""


@dataclass(frozen=True, slots=True)
class CommandCase:
    """A well-formed command with the level, the agent and the place, as the rules need them."""

    level: Level
    states: States
    agent: AgentState
    place: PlaceState
    item: str | None

    @property
    def tool(self) -> Tool:
        """Return the type of the place, such as pot or storage."""
        return self.level.places[self.place.id]


def carry_out_command(
    level: Level, states: States, agent: AgentState, place: PlaceState | None, command: Command
) -> CommandEffect:
    """Return the states of agent and place after this command. If the command is refused, both are unchanged.
    `place` is the place that the command names; None if it names none."""
    reasons = tuple(senseless_reasons(level, command))
    if reasons:
        return CommandEffect(agent, place, reasons)
    if place is None:
        return CommandEffect(agent, None)
    case = CommandCase(level, states, agent, place, command[2] if len(command) > 2 else None)
    verb = VERBS[command[0]]
    reasons = tuple(verb.refusals(case))
    return CommandEffect(agent, place, reasons) if reasons else verb.effect(case)


def senseless_reasons(level: Level, command: Command) -> Iterator[str]:
    """Yield the refusal codes of a malformed command, such as `unknown_verb`. The state of the kitchen
    does not matter."""
    verb = VERBS.get(command[0]) if command else None
    if verb is None:
        yield "unknown_verb"
        return
    if not verb.least <= len(command) - 1 <= verb.most:
        yield "wrong_arguments"
    if len(command) > 1 and verb.most and command[1] not in level.places:
        yield "unknown_location"
    elif command[0] == "get" and len(command) == 2 and level.places[command[1]].role == "storage":
        yield "wrong_arguments"
    if len(command) > 2 and verb.most > 1 and not level.stock.has(command[2]):
        yield "unknown_item"


def is_open(place: PlaceState, tool: Tool) -> bool:
    """Return whether an item can be taken from the place once it is not busy. A place with two or more items
    is never open."""
    return (tool.always_open or place.done) and len(place.items) < 2


def product_of(place: PlaceState, level: Level) -> str | None:
    """Return what activating this place would make from its contents; None if they match no recipe."""
    kind = level.places[place.id].code
    for recipe in level.recipes.values():
        if recipe.tool == kind and sorted(recipe.ingredients) == list(place.items):
            return recipe.product
    return None


def fits_recipe(item: str, place: PlaceState, level: Level) -> bool:
    """Return whether the item and the place's contents together belong to one recipe for this type of
    tool."""
    kind = level.places[place.id].code
    wanted = {item, *place.items}
    return any(r.tool == kind and wanted <= set(r.ingredients) for r in level.recipes.values())


def _refuse_goto(case: CommandCase) -> Iterator[str]:
    if case.agent.busy:
        yield "agent_busy"


def _refuse_away(case: CommandCase) -> Iterator[str]:
    if case.agent.busy:
        yield "agent_busy"
    if case.agent.at != case.place.id:
        yield "not_at_location"


def _refuse_get(case: CommandCase) -> Iterator[str]:
    yield from _refuse_away(case)
    if case.agent.holds is not None:
        yield "hands_full"
    if case.tool.role == "storage":
        if case.item not in case.level.stock.ingredients:
            yield "not_base_ingredient"
        return
    if case.place.busy:
        yield "location_busy"
    if not is_open(case.place, case.tool):
        yield "not_open"
    if not case.place.items:
        yield "empty"
    elif case.item is not None and case.item not in case.place.items:
        yield "unknown_item"


def _refuse_put(case: CommandCase) -> Iterator[str]:
    yield from _refuse_away(case)
    held = case.agent.holds
    if held is None:
        yield "hands_empty"
    if case.tool.role == "serving" and held is not None and held not in case.level.dishes:
        yield "not_a_dish_here"
    if case.tool.role == "tool":
        yield from _refuse_put_in_tool(case, held)


def _refuse_put_in_tool(case: CommandCase, held: str | None) -> Iterator[str]:
    if case.place.busy:
        yield "location_busy"
    if held is not None and not fits_recipe(held, case.place, case.level):
        yield "would_waste"
    full = case.tool.capacity is not None and len(case.place.items) >= case.tool.capacity
    if full and held not in case.place.items:
        yield "at_capacity"


def _refuse_activate(case: CommandCase) -> Iterator[str]:
    yield from _refuse_away(case)
    if case.agent.holds is not None:
        yield "hands_full"
    if case.place.busy:
        yield "location_busy"
    if not case.place.items:
        yield "empty"
    elif product_of(case.place, case.level) is None:
        yield "would_waste"


def _goto(case: CommandCase) -> CommandEffect:
    return CommandEffect(case.states.agent(case.agent.seat, case.place.id, case.agent.holds), case.place)


def _get(case: CommandCase) -> CommandEffect:
    item, place = case.item, case.place
    if case.tool.role != "storage":
        item, place = place.items[0], case.states.place(place.id)
    return CommandEffect(case.states.agent(case.agent.seat, case.agent.at, item), place, item=item)


def _put(case: CommandCase) -> CommandEffect:
    held, place = str(case.agent.holds), case.place
    if case.tool.role == "serving" or (case.tool.role == "tool" and held not in place.items):
        place = case.states.place(place.id, (*place.items, held))
    return CommandEffect(case.states.agent(case.agent.seat, case.agent.at), place, item=held)


def _activate(case: CommandCase) -> CommandEffect:
    product, tool, agent = str(product_of(case.place, case.level)), case.tool, case.agent
    place = case.states.place(case.place.id, (product,), tool.busy, done=not tool.always_open)
    busy = tool.busy if tool.attended else 0
    return CommandEffect(case.states.agent(agent.seat, agent.at, None, busy), place, item=product)


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: the smallest and largest number of its arguments, its refusal rule, and its effect."""

    least: int
    most: int
    refusals: Callable[[CommandCase], Iterator[str]]
    effect: Callable[[CommandCase], CommandEffect]


VERBS: Mapping[str, Verb] = {
    "goto": Verb(1, 1, _refuse_goto, _goto),
    "get": Verb(1, 2, _refuse_get, _get),
    "put": Verb(1, 1, _refuse_put, _put),
    "activate": Verb(1, 1, _refuse_activate, _activate),
    "noop": Verb(0, 0, _refuse_goto, _goto),
}
"""Every verb by its name. `noop` names no place, so `carry_out_command` never calls its rule."""
