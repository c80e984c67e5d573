"""What others could still make possible in the coming step (spec: What an agent may do now)."""

from __future__ import annotations

from collections.abc import Iterable

from kitchen.contract.world import Command
from kitchen.worlds.cuisine.kitchen import Kitchen
from kitchen.worlds.cuisine.states import AgentState, PlaceState


def anticipated(
    kitchen: Kitchen, agent: AgentState, others: Iterable[AgentState], here: PlaceState
) -> list[Command]:
    """Commands at `here` that are not legal yet, and that others acting before this agent can make legal.

    Only who already stands there and is not busy can change the place within the step, each by one command.
    """
    now = set(kitchen.legal(agent, here))
    helpers = frozenset(other for other in others if other.at == here.id and not other.busy)
    commands: dict[Command, None] = {}
    for place in _reachable(kitchen, helpers, here):
        commands.update(dict.fromkeys(c for c in kitchen.handling(agent, place) if c not in now))
    return sorted(commands)


def _reachable(kitchen: Kitchen, helpers: frozenset[AgentState], here: PlaceState) -> list[PlaceState]:
    """Every state of the place that some of the helpers, in any order, can bring about."""
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


def _changes(kitchen: Kitchen, helper: AgentState, place: PlaceState) -> Iterable[PlaceState]:
    if kitchen.level.places[place.id].role != "tool":
        return []  # what a storage or serving table allows does not depend on what lies there
    outcomes = (kitchen.try_out(helper, place, command) for command in kitchen.handling(helper, place))
    return [outcome.place for outcome in outcomes if outcome.place is not None]
