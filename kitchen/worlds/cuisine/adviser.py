"""What is good to do in CuisineWorld, by the planner, and what a person makes of an episode in it.

The planner stands for a sensible person: it is given the person's own seat only, so that it knows where the
others are and not what they are up to. The same planner, asked for the others, is what the person expects of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kitchen.contract.agent import Advice, Adviser, Decision, Situation
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.leading import lead
from kitchen.worlds.cuisine.planner.planner import Planner, advise

WAITS: Command = ("noop",)
SENSIBLE_DISHES_PER_STEP = 0.12
"""Dishes a step that count as a full output; a good team comes close to it."""


READ_IN_BRIEF = frozenset(
    ("locations", "recipes", "tools", "base", "dishes", "uncookable", "lifetimes", "interval", "max_steps")
)
READ_IN_OBSERVATION = frozenset(("step", "agents", "locations", "orders"))
"""What the planner reads, of the brief and of each observation."""


class CuisineAdviser(Adviser):
    """The planner at somebody's elbow. Of a kitchen that the planner cannot read there is no telling: a
    program may take part in a study on a server of another version."""

    def advise(self, situation: Situation) -> Advice | None:
        """The first plan that comes to mind."""
        return advise(situation) if can_read(situation) else None

    def lead(self, situation: Situation) -> Advice | None:
        """On the way to one dish, part by part."""
        return lead(situation) if can_read(situation) else None

    def decide(self, situation: Situation) -> Decision:
        """The best plan found; whoever has nothing to do in it waits."""
        if not can_read(situation):
            return super().decide(situation)
        decision = Planner({}).decide(situation)
        return replace(
            decision, commands={seat: decision.commands.get(seat, WAITS) for seat in situation.seats}
        )

    def expected(self, situation: Situation, seats: Sequence[int]) -> Mapping[int, Command]:
        """The same for the others: all seats see the same."""
        if not can_read(situation):
            return super().expected(situation, seats)
        (seat,) = situation.seats
        theirs = replace(
            situation,
            seats=tuple(seats),
            briefs=dict.fromkeys(seats, situation.briefs[seat]),
            observations=dict.fromkeys(seats, situation.observations[seat]),
            memory=None,
        )
        return Planner({}).decide(theirs).commands

    def came_true(self, seat: int, command: Command, observation: Mapping[str, Json]) -> bool:
        """By where the agent stands and what it holds."""
        agent = observation["agents"][seat]
        if command[0] == "goto":
            return bool(agent["at"] == command[1])
        if command[0] == "get":
            return agent["holds"] is not None
        return agent["holds"] is None

    def success(self, score: Mapping[str, Json]) -> float | None:
        """Orders served, of those that ended."""
        rate: float | None = score["success_rate"]
        return rate

    def output(self, score: Mapping[str, Json], steps: int) -> float:
        """Dishes served, of the most that anybody could expect."""
        return min(float(score["completed"]) / (SENSIBLE_DISHES_PER_STEP * steps), 1.0)


def can_read(situation: Situation) -> bool:
    """Whether the situation says what the planner goes by."""
    seat = situation.seats[0]
    brief, observation = situation.briefs[seat], situation.observations[seat]
    return brief.keys() >= READ_IN_BRIEF and observation.keys() >= READ_IN_OBSERVATION


ADVISER = CuisineAdviser()
