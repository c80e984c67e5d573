"""Cache the result of each command in one level, and list the commands that an agent can give.

There are three lists:

- commands that are legal now,
- commands that other agents can make legal within the same step,
- all commands that a plan for later steps may contain.

All worlds with the same level share the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from kitchen.contract.world import Command, Event
from kitchen.worlds.cuisine.command_rules import (
    AgentState,
    CommandEffect,
    PlaceState,
    States,
    carry_out_command,
    is_open,
    senseless_reasons,
)
from kitchen.worlds.cuisine.level import Level

MEMORY_LIMIT = 20_000
"""Number of cached outcomes at which a table is emptied. One outcome takes 0.7 kilobytes.

Three random agents meet 8,000 outcomes in 1,200 episodes of a level, six meet 18,000.
"""

NOTHING, ACTED, STARTED = 0, 1, 2
"""Kinds of outcome of a command: it changed nothing (refused, noop), something, or it started a tool."""

CommandOutcome = tuple[AgentState, PlaceState | None, Event, int]
"""The agent and the place after a command, the command's event for the log, and the kind of change."""

NOOP: Command = ("noop",)


class CommandTable:
    """One level, with a cache of the outcomes of commands."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.states = States()
        self.plays: dict[tuple[AgentState, PlaceState | None, Command], CommandOutcome] = {}
        self._gotos = [("goto", place) for place in level.places]
        self._legal: dict[tuple[AgentState, PlaceState], tuple[Command, ...]] = {}
        self.start = {place: self.states.place(place) for place in level.places}

    def play(self, agent: AgentState, place: PlaceState | None, command: Command) -> CommandOutcome:
        """Return the outcome of this command for this agent and place: both new states, the event for the
        log, and the kind of change.

        `place` is the place that the command names, None if it names none. Outcomes of well-formed commands
        are cached.
        """
        key = (agent, place, command)
        play = self.plays.get(key)
        if play is None:
            play = _as_play(self.try_out(agent, place, command), command)
            if any(senseless_reasons(self.level, command)):
                return play  # malformed commands are not cached, because there are infinitely many
            if len(self.plays) >= MEMORY_LIMIT:
                self.plays.clear()
            self.plays[key] = play
        return play

    def try_out(self, agent: AgentState, place: PlaceState | None, command: Command) -> CommandEffect:
        """Return the effect of this command without using the cache (see `carry_out_command`)."""
        return carry_out_command(self.level, self.states, agent, place, command)

    def legal(self, agent: AgentState, here: PlaceState) -> tuple[Command, ...]:
        """Return all legal commands of this agent, with `noop` last. `here` is the place where the agent
        is."""
        commands = self._legal.get((agent, here))
        if commands is None:
            if len(self._legal) >= MEMORY_LIMIT:
                self._legal.clear()
            commands = self._legal[agent, here] = self._find_legal(agent, here)
        return commands

    def handling(self, agent: AgentState, here: PlaceState) -> list[Command]:
        """Return the agent's legal get, put and activate commands at the place `here`."""
        return [command for command in self.legal(agent, here) if command[0] not in ("goto", "noop")]

    def shows_open(self, place: PlaceState) -> bool:
        """Return whether observations show this place as open (see `is_open`)."""
        return is_open(place, self.level.places[place.id])

    def _find_legal(self, agent: AgentState, here: PlaceState) -> tuple[Command, ...]:
        if agent.busy:
            return (NOOP,)
        handling = [("put", here.id), ("activate", here.id)]
        storage = self.level.places[here.id].role == "storage"
        items = self.level.stock.ingredients if storage else here.items[:1]
        candidates: list[Command] = [*(("get", here.id, item) for item in items), *handling]
        allowed = [each for each in candidates if not self.try_out(agent, here, each).reasons]
        return (*self._gotos, *allowed, NOOP)


@lru_cache(maxsize=256)
def command_table_of(level: Level) -> CommandTable:
    """Return the level's `CommandTable`. All worlds that play the level share one object."""
    return CommandTable(level)


def _as_play(outcome: CommandEffect, command: Command) -> CommandOutcome:
    agent, place, reasons, item = outcome
    if reasons:
        return agent, place, refused_event(agent.seat, command, reasons), NOTHING
    data = {"command": list(command)} if item is None else {"command": list(command), "item": item}
    event = Event("performed", agent.seat, data)
    if place is None:
        return agent, place, event, NOTHING
    going = command[0] == "activate" and (place.busy or agent.busy)
    return agent, place, event, STARTED if going else ACTED


def refused_event(seat: int, command: Command, reasons: tuple[str, ...]) -> Event:
    """Return the event that reports a refused command with its reasons."""
    return Event("refused", seat, {"command": list(command), "reasons": list(reasons)})


def anticipated_commands(
    kitchen: CommandTable, agent: AgentState, others: Iterable[AgentState], here: PlaceState
) -> list[Command]:
    """Return the commands at `here` that are not legal for the agent yet, but become legal if others act
    first. The commands are sorted.

    Only other agents are considered that are at the same place and not busy. Each of them gives at most one
    command.
    """
    now = set(kitchen.legal(agent, here))
    helpers = frozenset(other for other in others if other.at == here.id and not other.busy)
    commands: dict[Command, None] = {}
    for place in _reachable(kitchen, helpers, here):
        commands.update(dict.fromkeys(c for c in kitchen.handling(agent, place) if c not in now))
    return sorted(commands)


def _reachable(kitchen: CommandTable, helpers: frozenset[AgentState], here: PlaceState) -> list[PlaceState]:
    """Return every state that a place in the state `here` can have after some of the `helpers` have acted, in
    any order."""
    seen = {(here, helpers)}
    waiting = [(here, helpers)]
    while waiting:
        place, left = waiting.pop()
        for helper in left:
            for after in _changes(kitchen, helper, place):
                case = (after, left - {helper})
                if case not in seen:
                    seen.add(case)
                    waiting.append(case)
    return list(dict.fromkeys(place for place, _ in seen))


def _changes(kitchen: CommandTable, helper: AgentState, place: PlaceState) -> Iterable[PlaceState]:
    if kitchen.level.places[place.id].role != "tool":
        return []  # the legal commands at a storage or serving table do not depend on its contents
    outcomes = (kitchen.try_out(helper, place, command) for command in kitchen.handling(helper, place))
    return [outcome.place for outcome in outcomes if outcome.place is not None]


@lru_cache(maxsize=256)
def plannable_commands(level: Level) -> tuple[Command, ...]:
    """Return all commands that a plan for later steps may contain in this level.

    Get commands name only items that the level's recipes use or make.
    """
    gotos = [("goto", place) for place in level.places]
    return (*gotos, *(command for place in level.places for command in _there(level, place)), NOOP)


def _there(level: Level, place: str) -> Iterator[Command]:
    tool = level.places[place]
    if tool.role == "storage":
        yield from (("get", place, item) for item in _base(level))
        return
    yield from (("get", place, made.product) for made in level.recipes.values() if made.tool == tool.code)
    yield ("put", place)
    if tool.role == "tool":
        yield ("activate", place)


def _base(level: Level) -> list[str]:
    """Return the items that the level's recipes take from the storage."""
    items = [item for recipe in level.recipes.values() for item in recipe.ingredients]
    return list(dict.fromkeys(item for item in items if item not in level.recipes))
