"""Split the open orders into short jobs that different robots can do at the same time.

An order becomes one job for each cooked ingredient but one, and one job to cook the rest, finish the dish and
serve it. The rule for leaders suggests these jobs as aims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kitchen.contract.world import Aim, Json

SERVE, MAKE = "serve", "make"
"""The first word of the aims that orders are split into."""


def next_order_job(brief: Mapping[str, Json], seen: Mapping[str, Json], taken: Sequence[Aim]) -> Aim | None:
    """Return the first job of the most urgent order that nobody has; None if there is none.

    `taken` lists the aims that robots have now. If the cooked ingredients of an order are ready, or no tool
    is free for the missing ones, the order is one job: serve the dish.
    """
    return OrderJobs(brief, seen, taken).next()


class OrderJobs:
    """The jobs of the open orders, with what robots and tools already contribute to them."""

    def __init__(self, brief: Mapping[str, Json], seen: Mapping[str, Json], taken: Sequence[Aim]) -> None:
        self.recipes, self.kinds = brief["recipes"], brief["locations"]
        self.orders = [
            order["dish"]
            for order in sorted(seen["orders"], key=lambda one: one["life"])
            if order["dish"] not in brief["uncookable"]
        ]
        self.places: Mapping[str, Mapping[str, Json]] = seen["locations"]
        self.stock = Counter(item for place in self.places.values() for item in place["items"])
        self.stock.update(agent["holds"] for agent in seen["agents"] if agent["holds"] is not None)
        self.present = frozenset(self.stock)
        self.taken = Counter(taken)
        self.made = [what for kind, what in taken if kind == MAKE and what in self.recipes]

    def next(self) -> Aim | None:
        """Return the first job that nobody has. Each call must use a new object."""
        for dish in self.orders:
            if self._takes((SERVE, dish)):
                continue
            parts = [part for part in self._missing(dish) if part != dish]
            left = [part for part in parts if not self._takes((MAKE, part))]
            if len(left) <= 1 and len(left) < len(parts):
                return (SERVE, dish)  # others cook the rest, so its robot cooks at most one part
            if part := next((part for part in left if self._has_tool(part)), None):
                return (MAKE, part)
            if len(left) == len(parts):
                return (SERVE, dish)
        return None

    def _takes(self, aim: Aim) -> bool:
        """Return whether a robot has this aim that is not counted for an earlier order yet. Count it."""
        has = self.taken[aim] > 0
        self.taken[aim] -= has
        return has

    def _missing(self, item: str) -> Iterator[str]:
        """Yield the products that must still be cooked for this item, ingredients first. Use up those that
        exist."""
        if item not in self.recipes:
            return
        if self.stock[item] > 0:
            self.stock[item] -= 1
            return
        for part in self.recipes[item]["ingredients"]:
            yield from self._missing(part)
        yield item

    def _has_tool(self, product: str) -> bool:
        """Return whether a robot can start to make the product now: its cooked ingredients exist, a tool is
        empty or holds only some of its ingredients, and no robot needs that tool for another job. Another
        ready product of the same kind would end the job at once."""
        recipe = self.recipes[product]
        if product in self.present or any(
            part in self.recipes and part not in self.present for part in recipe["ingredients"]
        ):
            return False
        fitting = [
            place
            for place, there in self.places.items()
            if self.kinds[place] == recipe["tool"]
            and not there["busy"]
            and set(there["items"]) <= set(recipe["ingredients"])
        ]
        rivals = [what for what in self.made if self.recipes[what]["tool"] == recipe["tool"]]
        return len(fitting) > len(rivals)
