"""Find what one choice of the menu can do in a row: go to another place and act there, or put an item into a
tool and use the tool.

Only the rules of the kitchen decide what is offered: a condition that hides the marks of useful actions hides
no less here. The open orders decide only whether putting an item into a tool is offered without its use as
well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command, Json
from kitchen.words.gettext_without_django import pgettext
from kitchen.worlds.cuisine.command_rules import (
    AgentState,
    PlaceState,
    States,
    carry_out_command,
    is_open,
    product_of,
)
from kitchen.worlds.cuisine.command_table import plannable_commands
from kitchen.worlds.cuisine.display_text import BriefLookup, KitchenWords
from kitchen.worlds.cuisine.level import Level
from kitchen.worlds.cuisine.order_steps import commands_to_mark, idle_robots, useful_commands
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen, level_from_brief

_CACHED_STATES = 1024
MOST_STEPS_TO_TAKE = 1
"""A tool may keep its robot busy for so many steps if the robot takes the product with the same choice."""


class OnwardAct(NamedTuple):
    """The commands of one choice, and the item that they take, put or make. The first one goes to another
    place, unless the robot is there already."""

    commands: tuple[Command, ...]
    item: str
    puts: str = ""
    """The item that is put into a tool before the tool is used. Empty for other acts."""
    alone: bool = True
    """True if nothing else is offered at this place that does as much for the open orders."""
    fits: bool = False
    """True if each of the commands is a useful step for the open orders now."""

    @property
    def place(self) -> str:
        """Return the place of all commands."""
        return self.commands[0][1]

    @property
    def goes(self) -> bool:
        """Return whether the robot first goes to the place."""
        return self.commands[0][0] == "goto"

    @property
    def deed(self) -> Command:
        """Return the command that says under which heading of the menu the choice is listed: the use of a
        tool, else the last one."""
        return next((command for command in self.commands if command[0] == "activate"), self.commands[-1])

    @property
    def takes(self) -> bool:
        """Return whether the robot takes the product in the end."""
        return bool(self.puts) and self.commands[-1][0] == "get"


def onward_acts(view: SeatView, lookup: BriefLookup) -> tuple[OnwardAct, ...]:
    """Return what the reader's robot can do in a row with one choice. Empty where the page does not offer to
    plan, or where the robot cannot go now.

    At a tool or a table elsewhere, there is at most one act. At the storage, each ingredient that a recipe
    needs is one. Where putting the held item into a tool completes a recipe, the act also uses the tool, and
    takes the product if the robot need not wait for it. If the item can be for another recipe of an open
    order, putting it there without more is an act as well.
    """
    legal = frozenset(view.choice.legal)
    if not view.plans.plannable or not any(command[0] == "goto" for command in legal):
        return ()
    me, places = view.observation["agents"][view.seat], view.observation["locations"]
    state = tuple(
        (place, tuple(its["items"]), int(its["busy"]), bool(its["open"])) for place, its in places.items()
    )
    orders = tuple(sorted({order["dish"] for order in view.observation["orders"]}))
    acts = _acts(lookup, me["at"], me["holds"], state, orders)
    marked = commands_to_mark(view, lookup)
    return tuple(
        act._replace(fits=act.commands[0] in marked and _is_useful(act, view, lookup))
        for act in acts
        if act.commands[0] in legal
    )


def act_that_begins(
    view: SeatView, lookup: BriefLookup, command: Command, aim: Mapping[str, str]
) -> OnwardAct | None:
    """Return the act whose first command is this one, for this purpose. None if there is none.

    `aim` has the keys of `Advice.aim`.
    """
    acts = [act for act in onward_acts(view, lookup) if act.commands[0] == command]
    if command[0] == "goto" and len(acts) > 1 and not any(act.puts for act in acts):
        acts = [act for act in acts if act.item == aim.get("item")]
    chains = [act for act in acts if act.puts and _is_useful(act, view, lookup)]
    plain = [act for act in acts if not act.puts]
    return next(iter((*chains, *plain)), None)


def _is_useful(act: OnwardAct, view: SeatView, lookup: BriefLookup) -> bool:
    """Return whether each command of the act is useful for the open orders when its turn comes."""
    kitchen, seen = SimulatedKitchen(lookup.brief, view.observation), view.observation
    agents, idle = list(seen["agents"]), idle_robots(view)
    for command in act.commands:
        if command not in useful_commands(lookup, seen, view.seat, idle):
            return False
        kitchen.run(view.seat, command)
        me, there = kitchen.agents[view.seat], kitchen.places[act.place]
        agents[view.seat] = {**agents[view.seat], "at": me.at, "holds": me.holds}
        opens = is_open(there, kitchen.level.places[act.place])
        its = {"items": list(there.items), "busy": 0, "open": opens}  # as soon as it has worked
        seen = {**seen, "agents": agents, "locations": {**seen["locations"], act.place: its}}
    return True


_Places = tuple[tuple[str, tuple[str, ...], int, bool], ...]


@lru_cache(maxsize=_CACHED_STATES)
def _acts(
    lookup: BriefLookup, at: str, holds: str | None, state: _Places, orders: tuple[str, ...]
) -> tuple[OnwardAct, ...]:
    places = {place: {"items": items, "busy": busy, "open": is_open} for place, items, busy, is_open in state}
    kitchen = SimulatedKitchen(lookup.brief, {"agents": [], "locations": places})
    states = States()
    acts = {
        place: _acts_there(lookup, kitchen.places[place], states.agent(0, place, holds), orders)
        for place in places
    }
    return tuple(
        act if place == at else act._replace(commands=(("goto", place), *act.commands))
        for place, there in acts.items()
        for act in there
        if place != at or act.puts
    )


def _acts_there(
    lookup: BriefLookup, place: PlaceState, agent: AgentState, orders: Sequence[str]
) -> Iterator[OnwardAct]:
    """Yield what the agent, which is at the place already, can do there."""
    level, states = level_from_brief(lookup.brief), States()
    possible = [
        command
        for command in plannable_commands(level)
        if command[0] in ("get", "put", "activate")
        and command[1] == place.id
        and not carry_out_command(level, states, agent, place, command).reasons
    ]
    chain = _put_and_use(level, place, agent)
    alone = not (chain and _takes_more(lookup, place, agent.holds or "", orders))
    if chain:
        yield chain._replace(alone=alone)
    for command in () if chain and alone else _sensible(possible):
        made = product_of(place, level) or "" if command[0] == "activate" else ""
        item = made or (command[2] if len(command) > 2 else agent.holds or "")
        yield OnwardAct((command,), item, alone=alone)


def _put_and_use(level: Level, place: PlaceState, agent: AgentState) -> OnwardAct | None:
    """Return putting the held item into the tool, using it and, if the robot need not wait for the product,
    taking the product. None if the item completes no recipe there."""
    states, put, use = States(), ("put", place.id), ("activate", place.id)
    held = agent.holds
    if level.places[place.id].role != "tool" or held is None or held in place.items:
        return None
    filled = carry_out_command(level, states, agent, place, put)
    if filled.reasons or filled.place is None:
        return None
    used = carry_out_command(level, states, filled.agent, filled.place, use)
    if used.reasons or used.place is None:
        return None
    product = used.place.items[0]
    stays = used.agent.busy == used.place.busy <= MOST_STEPS_TO_TAKE
    take: tuple[Command, ...] = (("get", place.id, product),) if stays else ()
    return OnwardAct((put, use, *take), product, held)


def _takes_more(lookup: BriefLookup, place: PlaceState, held: str, orders: Sequence[str]) -> bool:
    """Return whether a recipe of the open orders needs what is in the tool, the held item, and more. Without
    an open order, each dish of the level counts."""
    kind, inside = lookup.brief["locations"][place.id], {*place.items, held}
    lines = (line for dish in orders or lookup.brief["dishes"] for line in lookup.recipes[dish])
    return any(tool == kind and inside < set(parts) for _, tool, parts in lines)


def _sensible(possible: Sequence[Command]) -> Sequence[Command]:
    """Return the commands that use the tool, if there are any: what can be cooked is not taken."""
    return [command for command in possible if command[0] == "activate"] or possible


def onward_text(act: OnwardAct, words: KitchenWords) -> str:
    """Return the text of the act: `Go and take rice`, `Go and make cooked rice in pot 1`."""
    if act.puts:
        return words.made(act.place, act.item, goes=act.goes, takes=act.takes)
    return words.onward(act.deed, act.item)


def all_in_words(act: OnwardAct, words: KitchenWords) -> str:
    """Return all commands of the act as text: `Go to pot 1, Put rice into pot 1, Use pot 1`."""
    comma = pgettext("between the things of a list", ", ")
    return comma.join(words.phrase(command, act.puts) for command in act.commands)


def chained(act: OnwardAct) -> Sequence[Json]:
    """Return the commands of this act as the value of one choice of the menu."""
    return [list(command) for command in act.commands]
