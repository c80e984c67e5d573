"""Find the items, dishes and tools that a clause of a person's message means, in one kitchen.

*Chop the salmon* means the product of the chopping board that has salmon in it. If several products fit,
those that the open orders need come first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.world import Json
from kitchen.worlds.cuisine.planner.kitchen_sentences import KIND, TOOL

WORK_TOOLS: Mapping[str, tuple[str, ...]] = {
    "chop": ("chopboard",),
    "cook": ("pot", "pan", "oven", "fryer", "steamer"),
    "boil": ("pot", "steamer"),
    "fry": ("pan", "fryer"),
    "grind": ("grinder", "blender"),
    "bake": ("oven",),
    "steam": ("steamer",),
    "mix": ("mixer", "blender"),
}
"""The tools of each verb for work. Other verbs of making, such as *make*, fit every tool."""
LOOSE_VERBS = frozenset({"cook", "mix"})
"""Verbs for work that people also use for *make*."""


@dataclass(frozen=True, slots=True)
class Targets:
    """The things in this kitchen that a sentence can name.

    `orders` are the ordered dishes, the most urgent first.
    """

    brief: Mapping[str, Json]
    orders: Sequence[str] = ()

    def made(self, verb: str, things: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the products that shall be made, and a choice of products between which the words do not
        decide. One of the two is empty. Both are empty if nothing fits."""
        items = [thing for thing in things if not self.kind_of(thing)]
        kinds = self.kinds_in(things) or self.tools_of(verb)
        if not items:
            return (self.needed(kinds)[:1] if kinds else []), []
        if together := self._of_all(items, kinds if verb != "" else ()):
            return [together], []
        found = [self._best(item, kinds, verb) for item in items]
        unclear = [one for one in found if len(one) > 1]
        return ([], unclear[0]) if unclear else ([one[0] for one in found if one], [])

    def kind_of(self, thing: str) -> str:
        """Return the kind of the tool or place that a name means; empty for items."""
        places: Mapping[str, str] = self.brief["locations"]
        return thing[len(TOOL) :] if thing.startswith(TOOL) else places.get(thing, "")

    def kinds_in(self, things: Iterable[str]) -> list[str]:
        """Return the kinds of the tools among some names. The storage and the serving table do not count."""
        kinds = (self.kind_of(thing) for thing in things)
        return [kind for kind in dict.fromkeys(kinds) if kind and kind not in ("storage", "servingtable")]

    def tools_of(self, verb: str) -> list[str]:
        """Return the kinds of tools of this kitchen that a verb for work needs; empty for other verbs."""
        present = set(self.brief["locations"].values())
        return [kind for kind in WORK_TOOLS.get(verb, ()) if kind in present]

    def needed(self, kinds: Collection[str]) -> list[str]:
        """Return the products that the open orders need, in the order of work. With `kinds`, only those that
        are made with these tools."""
        needed = dict.fromkeys(product for dish in self.orders for product in self._products(dish))
        return [product for product in needed if not kinds or self._tool(product) in kinds]

    def dishes(self, things: Sequence[str]) -> list[str]:
        """Return the dishes that shall be served. Without any name, it is the most urgent order."""
        items = [thing for thing in things if not self.kind_of(thing)]
        if not items:
            return list(self.orders[:1])
        known = list(self.brief["dishes"])
        found = ([dish for dish in known if self._fits(dish, item)] for item in items)
        return list(dict.fromkeys(self._first_needed(fitting)[0] for fitting in found if fitting))

    def named_dishes(self, things: Iterable[str]) -> list[str]:
        """Return the dishes that the names mean themselves; empty if one of them is no dish."""
        found = list[str]()
        for thing in things:
            fitting = [dish for dish in self.brief["dishes"] if self._is_named(dish, thing)]
            if not fitting:
                return []
            found.append(self._first_needed(fitting)[0])
        return list(dict.fromkeys(found))

    def items(self, things: Iterable[str]) -> list[str]:
        """Return the items that shall be fetched. A name for several products means one that the orders
        need."""
        found = list[str]()
        for thing in things:
            verb, _, name = thing.rpartition(":")
            if verb:
                found += self._best(name, self.tools_of(verb), verb)[:1]
            elif thing.startswith(KIND):
                named = [product for product in self.brief["recipes"] if self._is_named(product, thing)]
                found += self._first_needed(named)[:1]
            elif not self.kind_of(thing):
                found.append(thing)
        return found

    def _of_all(self, items: Sequence[str], kinds: Collection[str]) -> str:
        """Return the product that has all of several items in it; empty if there is none, or one item only.
        It must be made with a tool of `kinds`, if they are given."""
        if len(items) < 2 or not (kinds or any(item.startswith(KIND) for item in items)):
            return ""
        products = [one for one in self.brief["recipes"] if not kinds or self._tool(one) in kinds]
        found = [product for product in products if all(self._fits(product, item) for item in items)]
        return next(iter(self._first_needed(found)), "")

    def _best(self, thing: str, kinds: Collection[str], verb: str) -> list[str]:
        """Return the products that a name means if they are made with one of these tools. It is one product,
        unless the words do not decide."""
        made_by, _, item = thing.rpartition(":")
        kinds = self.tools_of(made_by) or kinds
        found = [product for product in self.brief["recipes"] if self._is_named(product, item)]
        fitting = [product for product in found if not kinds or self._tool(product) in kinds]
        if not fitting and kinds:
            fitting = self._nearest(item, kinds)
        if not fitting and (not kinds or verb in LOOSE_VERBS):
            fitting = found or self._nearest(item, ())
        return self._first_needed(fitting)

    def _nearest(self, item: str, kinds: Collection[str]) -> list[str]:
        """Return the products with the item in them that need the fewest stages of work. With `kinds`, they
        are made with one of these tools; otherwise, they have no other ingredient."""
        depths: dict[str, int] = {}
        for product, recipe in self.brief["recipes"].items():
            fits = recipe["tool"] in kinds if kinds else recipe["ingredients"] == [item]
            if fits and (depth := self._depth(product, item)):
                depths[product] = depth
        least = min(depths.values(), default=0)
        return [product for product, depth in depths.items() if depth == least]

    def _first_needed(self, products: Sequence[str]) -> list[str]:
        """Return the first of the products that the orders need. If they need none, return all."""
        needed = [product for product in self.needed(()) if product in products]
        return needed[:1] or list(products)

    def _depth(self, product: str, item: str) -> int:
        """Return the number of stages of work from the item to the product; 0 if it is not in it."""
        recipe = self.brief["recipes"].get(product)
        if recipe is None:
            return 0
        if any(self._is_named(part, item) for part in recipe["ingredients"]):
            return 1
        depths = [depth for part in recipe["ingredients"] if (depth := self._depth(part, item))]
        return 1 + min(depths) if depths else 0

    def _fits(self, product: str, item: str) -> bool:
        return self._is_named(product, item) or bool(self._depth(product, item))

    def _is_named(self, code: str, name: str) -> bool:
        return code.endswith(name[len(KIND) :]) if name.startswith(KIND) else code == name

    def _products(self, dish: str) -> Iterator[str]:
        """Yield the products that the dish needs, and the dish, in the order of work."""
        recipe = self.brief["recipes"].get(dish)
        if recipe:
            for part in recipe["ingredients"]:
                yield from self._products(part)
            yield dish

    def _tool(self, product: str) -> str:
        return str(self.brief["recipes"][product]["tool"])
