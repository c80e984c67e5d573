"""Play CuisineWorld greedily, as a baseline for the planner. Each agent does the nearest useful thing, and
nobody plans ahead.

Orders are served by deadline, then one more of every dish is cooked. Items that lie around are used before
tools are started. Everything is computed anew in each step. The greedy agent is much weaker than the planner,
except in kitchens with more agents than work.
"""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.world import Command, Json


class Greedy(Agent):
    """An agent that commands all seats greedily."""

    kind = "greedy"
    worlds = ("cuisine",)

    async def decide(self, situation: Situation) -> Decision:
        """Return each agent's next command."""
        seat = situation.seats[0]
        return Decision(commands=_Step(situation.briefs[seat], situation.observations[seat]).commands())


class _Step:
    """The choices in one step: agents and items that are still free, and the agents' commands."""

    def __init__(self, brief: Json, seen: Json) -> None:
        self.recipes, self.kinds, self.brief = brief["recipes"], brief["locations"], brief
        self.agents = dict(enumerate(seen["agents"]))
        self.free = {seat for seat, agent in self.agents.items() if not agent["busy"]}
        self.tools = {
            place: list(seen["locations"][place]["items"])
            for place, kind in self.kinds.items()
            if kind not in ("storage", "servingtable")
        }
        self.busy = {place: seen["locations"][place]["busy"] for place in self.tools}
        self.storage = next(place for place, kind in self.kinds.items() if kind == "storage")
        self.table = next(place for place, kind in self.kinds.items() if kind == "servingtable")
        self.ready = list(seen["locations"][self.table]["items"])
        self.orders = sorted(seen["orders"], key=lambda order: order["life"])
        self.chosen: dict[int, Command] = {}

    def commands(self) -> dict[int, Command]:
        for dish in self._wished():
            if self.free:
                self._provide(dish, self.table)
        for seat in sorted(self.free):
            self._put_away(seat)
        return self.chosen

    def _wished(self) -> Iterator[str]:
        dishes = [dish for dish in self.brief["dishes"] if dish not in self.brief["uncookable"]]
        for order in self.orders:
            if order["dish"] in self.ready:
                self.ready.remove(order["dish"])
            elif order["dish"] in dishes:
                yield order["dish"]
        for _ in range(2):
            yield from sorted(dishes, key=self.ready.count)

    def _provide(self, item: str, to: str) -> None:
        """Let an agent bring this item to the place, from somebody's hands, a tool or the storage. If there
        is none, let it be made."""
        holder = self._nearest(to, item)
        if holder is not None:
            self._go(holder, to, ("put", to))
        elif item not in self.recipes:
            self._send(self.storage, ("get", self.storage, item))
        elif (place := self._where(item, [item])) is not None:
            self._take(place)
        else:
            self._make(item)

    def _take(self, place: str) -> None:
        del self.tools[place]
        if self.busy[place] <= 1:
            self._send(place, ("noop",) if self.busy[place] else ("get", place))

    def _make(self, product: str) -> None:
        parts = self.recipes[product]["ingredients"]
        place = self._where(product, parts)
        if place is None:
            return
        inside = self.tools.pop(place)
        missing = [part for part in parts if part not in inside]
        for part in missing:
            self._provide(part, place)
        if not missing:
            self._send(place, ("activate", place))

    def _where(self, product: str, parts: list[str]) -> str | None:
        """Return the tool that contains most of these items and nothing else. If none does, return an empty
        tool for the product."""
        kind = self.recipes[product]["tool"]
        fit = [
            place
            for place, items in self.tools.items()
            if self.kinds[place] == kind
            and set(items) <= set(parts)
            and (items or parts != [product])
            and (not self.busy[place] or parts == [product])
        ]
        return max(fit, key=lambda place: (len(self.tools[place]), -self.busy[place]), default=None)

    def _nearest(self, place: str, holds: str | None) -> int | None:
        ours = [seat for seat in sorted(self.free) if self.agents[seat]["holds"] == holds]
        return min(ours, key=lambda seat: self.agents[seat]["at"] != place, default=None)

    def _send(self, place: str, command: Command) -> None:
        seat = self._nearest(place, None)
        if seat is not None:
            self._go(seat, place, command)

    def _go(self, seat: int, place: str, command: Command) -> None:
        self.free.discard(seat)
        self.chosen[seat] = command if self.agents[seat]["at"] == place else ("goto", place)

    def _put_away(self, seat: int) -> None:
        holds = self.agents[seat]["holds"]
        if holds is None:
            self._go(seat, self.storage, ("noop",))
        else:
            place = self.table if holds in self.brief["dishes"] else self.storage
            self._go(seat, place, ("put", place))
