"""Find what a robot can do for an order with one choice: fetch an ingredient, cook it, and bring it to where
it is needed.

A chain goes on until the robot's hands are free again, so the next choice is again which order to work on. It
follows the recipes of the open orders, what the kitchen holds, and what other robots carry. It also offers
to cook ahead for dishes that nobody has ordered yet. Each step of it is a command of the world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.advisers import Advice
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.aim_pursuit import WAIT_COMMAND, SeatPursuit
from kitchen.worlds.cuisine.command_rules import States, is_open
from kitchen.worlds.cuisine.display_text import BriefLookup
from kitchen.worlds.cuisine.order_steps import (
    KitchenState,
    OrderStep,
    idle_robots,
    kitchen_state,
    observation_of,
    steps_for_orders,
)
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen

MOST_CHAINS = 5
"""The most chains that one menu offers."""
_MOST_COMMANDS = 20
_STEPS_PER_MOVE = 3
"""The steps that bring an item from one place to another: take it, go, put it down."""
_CACHED_STATES = 1024
_PUTS_AWAY = ("clear", "discard", "stock")
"""What `Advice.aim` calls a step that takes or puts away what no order needs."""
_SEAT = 0
"""The reader's seat in `observation_of`."""
SERVE, COOK, MAKE, ADD, TAKE, CLEAR = "serve", "cook", "make", "add", "take", "clear"
"""The results of chains: a finished dish is served (`SERVE`), a dish is cooked and served (`COOK`), a part is
made, an ingredient is added, an item is taken, or an item that blocks a tool is put away (`CLEAR`)."""


class OrderChain(NamedTuple):
    """The commands of one choice for an order, and their result."""

    commands: tuple[Command, ...]
    deed: str
    item: str
    """What is made, added, taken, served or put away."""
    dish: str
    order: int | None
    """The number of the order among those that can be cooked, 0 for the most urgent one. None for a dish that
    is cooked ahead."""
    steps: int
    """The number of steps that it takes, if nobody is in the way."""
    waits: bool = False
    """True if the robot waits for a tool meanwhile."""
    again: bool = False
    """True if another robot carries what makes this needless."""
    others: tuple[tuple[int | None, str], ...] = ()
    """Further orders for which it does the same, as `order` and `dish`, the most urgent first."""


def offers_chains(view: SeatView) -> bool:
    """Return whether the page offers chains: the same for the whole episode.

    They need plans and the setting `order_choices`. Practice has none, because there people learn the
    single actions.
    """
    return view.acts and view.order_choices and view.plans.offered and not view.result.until


def order_chains(view: SeatView, lookup: BriefLookup) -> tuple[OrderChain, ...]:
    """Return what the reader's robot can do for the orders with one choice, the most urgent order first.

    Work that another robot has in its hands is among them (`again`). Empty where the page does not offer
    chains, or where the robot cannot go now.
    """
    legal = frozenset(view.choice.legal)
    if not (offers_chains(view) and view.plans.plannable and any(each[0] == "goto" for each in legal)):
        return ()
    state = kitchen_state(view.observation, view.seat, idle_robots(view))
    cookable = tuple(dish for dish in state.orders if dish not in lookup.brief["uncookable"])
    chains = _chains(lookup, state._replace(orders=cookable))
    return tuple(chain for chain in chains if chain.commands[0] in legal)[:MOST_CHAINS]


def place_on_tickets(chain: OrderChain, lookup: BriefLookup) -> tuple[float, int]:
    """Return the sort key of a chain: the number of its ticket, then the place of its item in the recipe. So
    its place among others does not say which is best."""
    lines = reversed(lookup.recipes[chain.dish])
    items = [item for product, _, parts in lines for item in (*parts, product)]
    number = float("inf") if chain.order is None else chain.order
    return number, items.index(chain.item) if chain.item in items else len(items)


def steps_after(chain: OrderChain, lookup: BriefLookup) -> int:
    """Return the fewest steps from the end of a chain until its dish is served, if others help at once."""
    if chain.deed in (SERVE, COOK, CLEAR):
        return 0
    parents = {part: product for product, _, parts in lookup.recipes[chain.dish] for part in parts}
    item = chain.item if chain.deed == MAKE else parents.get(chain.item, chain.dish)
    steps = _STEPS_PER_MOVE
    while item != chain.dish and item in parents:
        item, steps = parents[item], steps + _STEPS_PER_MOVE
    return steps


@lru_cache(maxsize=_CACHED_STATES)
def _chains(lookup: BriefLookup, state: KitchenState) -> tuple[OrderChain, ...]:
    """Return the chains in this state: those for orders first, then those for dishes to cook ahead. Chains in
    which the robot only waits are left out where the order has another one."""
    seen, ordered = observation_of(state), len(state.orders)
    cookable = [dish for dish in lookup.brief["dishes"] if dish not in lookup.brief["uncookable"]]
    seen["orders"] = [{"dish": dish} for dish in (*state.orders, *cookable)]
    carried = Counter(filter(None, state.others))
    found: dict[tuple[Command, ...], OrderChain] = {}
    for step in steps_for_orders(lookup.brief, seen, _SEAT, carried, set()):
        if len(found) >= MOST_CHAINS and step.order >= ordered:
            break
        if step.order >= ordered and _goes_nowhere(step):
            continue
        if chain := _Trial(lookup, seen, step).chain():
            if step.order >= ordered:
                if not _leaves_tools(chain, step, lookup, state.orders):
                    continue
                chain = chain._replace(order=None)
            first = found.setdefault(chain.commands, chain)
            if first.order != chain.order:
                others = (*first.others, (chain.order, chain.dish))
                found[chain.commands] = first._replace(others=others)
    acting = {chain.order for chain in found.values() if not chain.waits}
    kept = [chain for chain in found.values() if not (chain.waits and chain.order in acting)]
    useful = [chain for chain in kept if chain.deed != CLEAR]
    doubled = _carried_by_others(lookup, state)
    needless = {chain.commands for chain in found.values() if chain.order is None} & doubled.keys()
    return (
        *(each._replace(again=each.commands in needless) for each in _without_repeats(useful or kept)),
        *(chain for commands, chain in doubled.items() if commands not in found),
    )


def _carried_by_others(lookup: BriefLookup, state: KitchenState) -> Mapping[tuple[Command, ...], OrderChain]:
    """Return the chains for open orders that are needless because of what other robots carry."""
    seen, found = observation_of(state), dict[tuple[Command, ...], OrderChain]()
    if not any(state.others) or not state.orders:
        return found
    for step in steps_for_orders(lookup.brief, seen, _SEAT, Counter(), set()):
        if _goes_nowhere(step) or not (chain := _Trial(lookup, seen, step).chain()):
            continue
        makes = {chain.item, *step.pursuit.ingredients(chain.item)}
        if chain.deed in (MAKE, ADD) and makes.intersection(state.others):
            found.setdefault(chain.commands, chain._replace(again=True))
    return found


def _goes_nowhere(step: OrderStep) -> bool:
    """Return whether a step would wait, or put something away."""
    return step.advice.aim["do"] in ("wait", *_PUTS_AWAY)


def _leaves_tools(chain: OrderChain, step: OrderStep, lookup: BriefLookup, ordered: Sequence[str]) -> bool:
    """Return whether the open orders still find a tool if this is cooked ahead."""
    kinds = lookup.brief["locations"]
    used = {place for verb, place, *_ in chain.commands[-2:] if verb in ("put", "activate")}
    begun = {place for place in used if step.pursuit.places[place]["items"]}
    tools = {kinds[place] for place in used - begun if kinds[place] != "servingtable"}
    return all(step.pursuit.has_spare(kind, ordered) for kind in tools)


def _without_repeats(chains: Sequence[OrderChain]) -> Iterator[OrderChain]:
    """Yield the chains without those that cook ahead what another one makes, too."""
    made = {chain.item for chain in chains if chain.order is not None}
    for chain in chains:
        if chain.order is None and chain.item in made:
            continue
        made.add(chain.item)
        yield chain


@dataclass(slots=True)
class _Trial:
    """One robot carries out a chain in a copy of the kitchen."""

    lookup: BriefLookup
    seen: Mapping[str, Json]
    first: OrderStep
    commands: list[Command] = field(default_factory=list)
    steps: int = 0
    waits: bool = False
    made: str = ""
    added: str = ""
    served: bool = False
    kitchen: SimulatedKitchen = field(init=False)

    def __post_init__(self) -> None:
        me, others = self.seen["agents"][_SEAT], self.seen["agents"][1:]
        agents = [me, *({"at": me["at"], "holds": each["holds"], "busy": 0} for each in others)]
        self.kitchen = SimulatedKitchen(self.lookup.brief, {**self.seen, "agents": agents})

    def chain(self) -> OrderChain | None:
        """Return the chain that begins with the first step. None if it comes to nothing."""
        advice: Advice | None = self.first.advice
        while advice and len(self.commands) < _MOST_COMMANDS and self._do(advice):
            advice = self._next()
        return self._named() if any(command[0] not in ("goto", "noop") for command in self.commands) else None

    def _do(self, advice: Advice) -> bool:
        """Carry out one command, and wait for a busy tool first. Return whether it was possible."""
        command = advice.command
        if command == WAIT_COMMAND:
            if not (left := self.kitchen.places[advice.aim["to"]].busy):
                return False
            self.waits = True
            for _ in range(left):
                self._run(command)
            return True
        return self._run(command)

    def _run(self, command: Command) -> bool:
        held = self.kitchen.agents[_SEAT].holds
        if self.kitchen.run(_SEAT, command):
            return False
        self.commands.append(command)
        self._rest()
        me = self.kitchen.agents[_SEAT]
        if command[0] == "activate":
            self.made = self.kitchen.places[command[1]].items[0]
        elif command[0] == "put" and held:
            self.added = held
            self.served = self.kitchen.level.places[command[1]].role == "serving"
        while me.busy:
            self._rest()
            me = self.kitchen.agents[_SEAT]
        return True

    def _rest(self) -> None:
        """Let one step pass."""
        self.steps += 1
        states, kitchen = States(), self.kitchen
        kitchen.agents[_SEAT] = states.rested_agent(kitchen.agents[_SEAT])
        kitchen.places.update({id: states.rested_place(place) for id, place in kitchen.places.items()})

    def _next(self) -> Advice | None:
        """Return the next step of the chain. None where it ends: the hands are free again."""
        if self.served:
            return None
        last, aim = self.commands[-1], self.first.advice.aim
        steps = list(self._pursuit().steps(self.first.dish))
        if self.kitchen.agents[_SEAT].holds is not None:
            away = steps[0].aim["do"] in _PUTS_AWAY and aim["do"] not in _PUTS_AWAY
            return None if away else steps[0]
        if last[0] in ("goto", "noop"):
            same = (step for step in steps if step.aim.get("item") == aim.get("item"))
            return next(same, steps[0])
        here = (("activate", last[1]), ("get", last[1]))
        return next((step for step in steps if step.command[:2] in here), None)

    def _pursuit(self) -> SeatPursuit:
        """Return the kitchen as it is now, as far as it is there for this order."""
        me, level = self.kitchen.agents[_SEAT], self.kitchen.level
        places = {
            id: {"items": list(its.items), "busy": its.busy, "open": is_open(its, level.places[id])}
            for id, its in self.kitchen.places.items()
        }
        robot = {"at": me.at, "holds": me.holds, "busy": me.busy}
        return replace(self.first.pursuit, places=places, me=robot)

    def _named(self) -> OrderChain:
        holds = self.kitchen.agents[_SEAT].holds
        if self.served:
            deed, item = (COOK if self.made else SERVE), self.added
        elif self.first.advice.aim["do"] in _PUTS_AWAY:
            deed, item = CLEAR, self.added or holds or self.made
        elif self.made:
            deed, item = MAKE, self.made
        elif self.added:
            deed, item = ADD, self.added
        else:
            deed, item = TAKE, holds or ""
        return OrderChain(
            tuple(self.commands), deed, item, self.first.dish, self.first.order, self.steps, self.waits
        )
