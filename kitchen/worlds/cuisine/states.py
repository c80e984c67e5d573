"""The states of one agent and of one place: small objects that never change, one object per value.

Because equal states are the same object, they hash by identity, and what a command does to them can be looked
up (see `kitchen.py`). Nothing may rest on the identity, though: the pool forgets when it grows too large.
"""

from __future__ import annotations

from dataclasses import dataclass

POOL_LIMIT = 100_000
"""States of one kind after which a pool starts anew."""


@dataclass(frozen=True, slots=True, eq=False)
class AgentState:
    """One agent: its seat, the id of the place where it stands, the item in its hands, steps it is busy."""

    seat: int
    at: str
    holds: str | None
    busy: int


@dataclass(frozen=True, slots=True, eq=False)
class PlaceState:
    """One place: its id, the items on it (sorted), steps it is busy, and whether a product waits in it."""

    id: str
    items: tuple[str, ...]
    busy: int
    done: bool
    """It was activated and its product not yet taken. Never set where a tool is always open."""


class States:
    """Hands out the one object for each value."""

    def __init__(self) -> None:
        self._agents: dict[tuple[int, str, str | None, int], AgentState] = {}
        self._places: dict[tuple[str, tuple[str, ...], int, bool], PlaceState] = {}

    def agent(self, seat: int, at: str, holds: str | None = None, busy: int = 0) -> AgentState:
        """The state with these values."""
        key = (seat, at, holds, busy)
        state = self._agents.get(key)
        if state is None:
            if len(self._agents) >= POOL_LIMIT:
                self._agents.clear()
            state = self._agents[key] = AgentState(*key)
        return state

    def place(self, id: str, items: tuple[str, ...] = (), busy: int = 0, done: bool = False) -> PlaceState:
        """The state with these values; the items may come in any order."""
        key = (id, tuple(sorted(items)), busy, done)
        state = self._places.get(key)
        if state is None:
            if len(self._places) >= POOL_LIMIT:
                self._places.clear()
            state = self._places[key] = PlaceState(*key)
        return state

    def rested_agent(self, agent: AgentState) -> AgentState:
        """The agent one step later."""
        return self.agent(agent.seat, agent.at, agent.holds, agent.busy - 1) if agent.busy else agent

    def rested_place(self, place: PlaceState) -> PlaceState:
        """The place one step later."""
        return self.place(place.id, place.items, place.busy - 1, place.done) if place.busy else place
