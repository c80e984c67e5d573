"""Find what a robot can do at another place as soon as it has gone there.

The menu offers to go and to act with one choice. Only the rules of the kitchen decide what is offered, not
the orders: a condition that hides the marks of useful actions hides no less here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.page import SeatView
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.command_rules import PlaceState, States, carry_out_command, product_of
from kitchen.worlds.cuisine.command_table import plannable_commands
from kitchen.worlds.cuisine.display_text import BriefLookup
from kitchen.worlds.cuisine.order_steps import commands_to_mark, idle_robots, useful_commands
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen, level_from_brief

_CACHED_STATES = 1024


class OnwardAct(NamedTuple):
    """A command at another place, and the item that it takes, puts or makes."""

    command: Command
    item: str
    fits: bool = False
    """True if going there, and this command after it, are useful steps for the open orders now."""

    @property
    def goto(self) -> Command:
        """Return the command that comes before it."""
        return ("goto", self.command[1])


def onward_acts(view: SeatView, lookup: BriefLookup) -> tuple[OnwardAct, ...]:
    """Return what the reader's robot can do at each other place after it has gone there. Empty where the page
    does not offer to plan, or where the robot cannot go now.

    At a tool or a table, there is at most one act. At the storage, each ingredient that a recipe needs is
    one.
    """
    legal = frozenset(view.choice.legal)
    if not view.plans.plannable or not any(command[0] == "goto" for command in legal):
        return ()
    me, places = view.observation["agents"][view.seat], view.observation["locations"]
    state = tuple(
        (place, tuple(its["items"]), int(its["busy"]), bool(its["open"])) for place, its in places.items()
    )
    acts = _acts(lookup, me["at"], me["holds"], state)
    marked = commands_to_mark(view, lookup)
    return tuple(act._replace(fits=_fits(act, view, lookup, marked)) for act in acts if act.goto in legal)


def act_after(
    view: SeatView, lookup: BriefLookup, command: Command, aim: Mapping[str, str]
) -> Command | None:
    """Return the command that is offered together with this `goto`, for this purpose. None if there is none.

    `aim` has the keys of `Advice.aim`.
    """
    acts = [act for act in onward_acts(view, lookup) if act.goto == command]
    meant = [act for act in acts if act.item == aim.get("item")] if len(acts) > 1 else acts
    return meant[0].command if meant else None


def _fits(act: OnwardAct, view: SeatView, lookup: BriefLookup, marked: frozenset[Command]) -> bool:
    if act.goto not in marked:
        return False
    agents = list(view.observation["agents"])
    agents[view.seat] = {**agents[view.seat], "at": act.command[1]}
    seen = {**view.observation, "agents": agents}
    return act.command in useful_commands(lookup, seen, view.seat, idle_robots(view))


_Places = tuple[tuple[str, tuple[str, ...], int, bool], ...]


@lru_cache(maxsize=_CACHED_STATES)
def _acts(lookup: BriefLookup, at: str, holds: str | None, state: _Places) -> tuple[OnwardAct, ...]:
    places = {place: {"items": items, "busy": busy, "open": is_open} for place, items, busy, is_open in state}
    kitchen = SimulatedKitchen(lookup.brief, {"agents": [], "locations": places})
    return tuple(
        act for place in places if place != at for act in _acts_there(lookup, kitchen.places[place], holds)
    )


def _acts_there(lookup: BriefLookup, place: PlaceState, holds: str | None) -> Iterator[OnwardAct]:
    level, states = level_from_brief(lookup.brief), States()
    agent = states.agent(0, place.id, holds)
    possible = [
        command
        for command in plannable_commands(level)
        if command[0] in ("get", "put", "activate")
        and command[1] == place.id
        and not carry_out_command(level, states, agent, place, command).reasons
    ]
    for command in _sensible(possible):
        made = product_of(place, level) or "" if command[0] == "activate" else ""
        yield OnwardAct(command, made or (command[2] if len(command) > 2 else holds or ""))


def _sensible(possible: Sequence[Command]) -> Sequence[Command]:
    """Return the commands that use the tool, if there are any: what can be cooked is not taken."""
    return [command for command in possible if command[0] == "activate"] or possible


def chained(act: OnwardAct) -> Sequence[Json]:
    """Return going there and this act as the value of one choice of the menu."""
    return [list(act.goto), list(act.command)]
