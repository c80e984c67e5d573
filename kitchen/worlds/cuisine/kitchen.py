"""The rules of one level, looked up: a command touches one agent and one place, so its outcome is remembered.

Kitchens are shared by all worlds of a process that play the same level. What is remembered follows from the
rules alone and is bounded, so forgetting it changes nothing but the time taken.
"""

from __future__ import annotations

from functools import lru_cache

from kitchen.contract.world import Command, Event
from kitchen.worlds.cuisine.level import Level
from kitchen.worlds.cuisine.rules import CommandEffect, carry_out, is_open, senseless
from kitchen.worlds.cuisine.states import AgentState, PlaceState, States

MEMORY_LIMIT = 20_000
"""Outcomes after which a kitchen forgets all of them, 0.7 kilobytes each. Three agents who act at random find
8,000 in 1,200 episodes of a level, six find 18,000."""

NOTHING, ACTED, STARTED = 0, 1, 2
"""What a command changed: nothing (refused, noop), something, or it set a tool going."""

Play = tuple[AgentState, PlaceState | None, Event, int]
"""The agent and the place after a command, its event for the log, and what it changed."""

NOOP: Command = ("noop",)


class Kitchen:
    """One level with what its commands were found to do."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.states = States()
        self.plays: dict[tuple[AgentState, PlaceState | None, Command], Play] = {}
        self._gotos = [("goto", place) for place in level.places]
        self._legal: dict[tuple[AgentState, PlaceState], tuple[Command, ...]] = {}
        self.start = {place: self.states.place(place) for place in level.places}

    def play(self, agent: AgentState, place: PlaceState | None, command: Command) -> Play:
        """What this command does now; worked out once."""
        key = (agent, place, command)
        play = self.plays.get(key)
        if play is None:
            play = _as_play(self.try_out(agent, place, command), command)
            if not any(senseless(self.level, command)):  # of those there is no end
                self._remember(key, play)
        return play

    def _remember(self, key: tuple[AgentState, PlaceState | None, Command], play: Play) -> None:
        if len(self.plays) >= MEMORY_LIMIT:
            self.plays.clear()
        self.plays[key] = play

    def try_out(self, agent: AgentState, place: PlaceState | None, command: Command) -> CommandEffect:
        """What the rules say of this command."""
        return carry_out(self.level, self.states, agent, place, command)

    def legal(self, agent: AgentState, here: PlaceState) -> tuple[Command, ...]:
        """Every command that this agent, standing `here`, would be allowed now; noop last."""
        commands = self._legal.get((agent, here))
        if commands is None:
            if len(self._legal) >= MEMORY_LIMIT:
                self._legal.clear()
            commands = self._legal[agent, here] = self._find_legal(agent, here)
        return commands

    def handling(self, agent: AgentState, here: PlaceState) -> list[Command]:
        """The commands of `legal` that handle something at the place: get, put and activate."""
        return [command for command in self.legal(agent, here) if command[0] not in ("goto", "noop")]

    def shows_open(self, place: PlaceState) -> bool:
        """Whether the place is open, as observations show it."""
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
def kitchen_of(level: Level) -> Kitchen:
    """The kitchen of a level: the same one for every world that plays it."""
    return Kitchen(level)


def _as_play(outcome: CommandEffect, command: Command) -> Play:
    agent, place, reasons, item = outcome
    if reasons:
        return agent, place, refused(agent.seat, command, reasons), NOTHING
    data = {"command": list(command)} if item is None else {"command": list(command), "item": item}
    event = Event("performed", agent.seat, data)
    if place is None:
        return agent, place, event, NOTHING
    going = command[0] == "activate" and (place.busy or agent.busy)
    return agent, place, event, STARTED if going else ACTED


def refused(seat: int, command: Command, reasons: tuple[str, ...]) -> Event:
    """The event of a command that was not carried out."""
    return Event("refused", seat, {"command": list(command), "reasons": list(reasons)})
