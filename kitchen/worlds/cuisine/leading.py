"""Leading somebody to one dish: what a person does next who learns the game and is to serve anything at all.

The planner weighs all orders, those to come among them, and may change its mind. Who learns is led to one
dish: the one that is nearest as things stand, part by part. The way follows from what is seen now, so it goes
on from wherever another action, a refusal or a teammate has led.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.agent import Advice, Situation
from kitchen.contract.world import Command, Json

WAITS: Command = ("noop",)
WALK = 2
"""Commands for a thing that is somewhere else: go there, and take it or put it down."""


def lead(situation: Situation) -> Advice | None:
    """The next command of the one seat on its way to a served dish; None where no dish can be cooked."""
    (seat,) = situation.seats
    brief, seen = situation.briefs[seat], situation.observations[seat]
    cookable = [dish for dish in brief["dishes"] if dish not in brief["uncookable"]]
    ordered = [order["dish"] for order in seen["orders"] if order["dish"] in cookable]
    kitchen = Way(brief, seen["locations"], seen["agents"][seat])
    dish = min(ordered or cookable, key=kitchen.left, default=None)
    return None if dish is None else kitchen.next(dish)


@dataclass(frozen=True, slots=True)
class Way:
    """What one robot sees: its brief, the places, itself; and what it does next for an item."""

    brief: Mapping[str, Json]
    places: Mapping[str, Mapping[str, Json]]
    me: Mapping[str, Json]

    def left(self, item: str) -> int:
        """About how many commands it still takes to have this item in hand."""
        if item == self.me["holds"]:
            return 0
        if item not in self.brief["recipes"]:
            return WALK
        if made := self._made(item):
            return WALK + int(self.places[made]["busy"])
        parts = self._missing(item, self._place_for(item))
        return sum(self.left(part) + WALK for part in parts) + 2 * WALK

    def next(self, dish: str) -> Advice:
        """The next command for this dish."""
        held = self.me["holds"]
        if held is None:
            return self._fetch(dish, dish, frozenset()) or self._wait("", dish)
        if held == dish:
            return self._at(self._of_kind("servingtable"), "put", {"do": "serve", "item": held})
        if place := self._wanted_at(dish, held):
            busy = self.places[place]["busy"]
            aim = {"do": "bring", "item": held, "to": place, "dish": dish}
            return self._wait(place, dish) if busy else self._at(place, "put", aim)
        return self._put_away(held)

    def _put_away(self, held: str) -> Advice:
        if held in self.brief["dishes"]:
            return self._at(self._of_kind("servingtable"), "put", {"do": "stock", "item": held})
        return self._at(self._of_kind("storage"), "put", {"do": "discard", "item": held})

    def fetch(self, item: str) -> Command | None:
        """The next command to have this item in hand, of what is there; None while there is nothing to do."""
        if self.me["holds"] is not None:
            return self._put_away(self.me["holds"]).command
        if item not in self.brief["recipes"]:
            return self._at(self._of_kind("storage"), "get", {}, item).command
        place = self._made(item) or self._lies(item)
        if not place or self.places[place]["busy"]:
            return self._wait(place, item).command if place else None
        return self._at(place, "get", {}, item).command

    def free(self, place: str) -> Command | None:
        """The next command to have nothing in this tool; None while there is nothing to do."""
        if self.me["holds"] is not None:
            return self._put_away(self.me["holds"]).command
        advice = self._clear(place, "", frozenset())
        return self._wait(place, "").command if advice is None else advice.command

    def lies_served(self, dish: str) -> bool:
        """One lies where it is served as soon as somebody orders it."""
        return self.me["holds"] is None and dish in self.places[self._of_kind("servingtable")]["items"]

    def _lies(self, item: str) -> str:
        """Where one lies among other things, or on a table; empty if nowhere."""
        return next((place for place, there in self.places.items() if item in there["items"]), "")

    def _wanted_at(self, product: str, held: str) -> str:
        """The tool into which what is held goes on the way to this product; empty if it is of no use."""
        if product not in self.brief["recipes"] or self._made(product):
            return ""
        place = self._place_for(product)
        missing = self._missing(product, place)
        if held in missing:
            return place if self._suits(product, place) else ""
        return next((found for part in missing if (found := self._wanted_at(part, held))), "")

    def _fetch(self, item: str, dish: str, clearing: Collection[str]) -> Advice | None:
        """The next command, with empty hands, to have this item; None while that has to wait for a tool."""
        if item not in self.brief["recipes"]:
            return self._at(
                self._of_kind("storage"), "get", {"do": "fetch", "item": item, "dish": dish}, item
            )
        if made := self._made(item):
            if self.places[made]["busy"]:
                return None
            return self._at(made, "get", {"do": "take", "item": item, "dish": dish}, item)
        place = self._place_for(item)
        if not self._suits(item, place):
            return self._clear(place, dish, clearing)
        missing = self._missing(item, place)
        if not missing:
            return self._at(place, "activate", {"do": "start", "item": item, "dish": dish})
        ways = (self._fetch(part, dish, clearing) for part in self._in_order(missing, place))
        return next((way for way in ways if way), None)

    def _in_order(self, missing: Iterable[str], place: str) -> list[str]:
        """What is cooked comes before what is in storage; where it needs the only tool of this kind, nothing
        else is put there before."""
        kind, recipes = self.brief["locations"][place], self.brief["recipes"]
        cooked = sorted((part for part in missing if part in recipes), key=self._first, reverse=True)
        rivals = [part for part in cooked if kind in self._tools_left(part)]
        if rivals and len(self._all_of_kind(kind)) == 1:
            return rivals
        return [*rivals, *(part for part in cooked if part not in rivals), *(set_minus(missing, cooked))]

    def _first(self, part: str) -> tuple[bool, int]:
        """What can be started where one stands comes first, then what takes longest."""
        here = not self._made(part) and self._place_for(part) == self.me["at"]
        return here and not self._missing(part, self.me["at"]), self._time(part)

    def _time(self, item: str) -> int:
        """Steps for which tools are busy until there is one."""
        if item not in self.brief["recipes"]:
            return 0
        recipe = self.brief["recipes"][item]
        busy: int = self.brief["tools"].get(recipe["tool"], {}).get("busy", 0)
        return busy + max(map(self._time, recipe["ingredients"]))

    def _tools_left(self, product: str) -> set[str]:
        """The kinds of tools that are still to be used for this product."""
        if product not in self.brief["recipes"] or self._made(product):
            return set()
        below = (self._tools_left(part) for part in self.brief["recipes"][product]["ingredients"])
        return {self.brief["recipes"][product]["tool"]}.union(*below)

    def _clear(self, place: str, dish: str, clearing: Collection[str]) -> Advice | None:
        """Free a tool of what is no part of the dish: it is taken out or, where that cannot be, cooked."""
        here = self.places[place]
        if here["busy"] or place in clearing:
            return None
        if here["open"]:
            return self._at(
                place, "get", {"do": "clear", "item": here["items"][0], "dish": dish}, here["items"][0]
            )
        kind, inside = self.brief["locations"][place], set(here["items"])
        fitting = [
            product
            for product, recipe in self.brief["recipes"].items()
            if recipe["tool"] == kind and inside <= set(recipe["ingredients"])
        ]
        ways = (self._fetch(each, each, {*clearing, place}) for each in sorted(fitting, key=self.left))
        return next((way for way in ways if way), None)

    def _made(self, product: str) -> str:
        """The tool in which this product is ready or getting ready, the readiest; empty if none."""
        tool = self.brief["recipes"][product]["tool"]
        there = [place for place in self._all_of_kind(tool) if self.places[place]["items"] == [product]]
        return min(there, key=lambda place: self.places[place]["busy"], default="")

    def _place_for(self, product: str) -> str:
        """The tool for this product: with most of it inside, or empty, or else one to be cleared."""
        kinds = self._all_of_kind(self.brief["recipes"][product]["tool"])
        return max(kinds, key=lambda place: self._fitness(product, place))

    def _fitness(self, product: str, place: str) -> tuple[bool, int, int]:
        here = self.places[place]
        return self._suits(product, place), len(here["items"]), -here["busy"]

    def _suits(self, product: str, place: str) -> bool:
        """What lies there is part of the product, or nothing does."""
        return set(self.places[place]["items"]) <= set(self.brief["recipes"][product]["ingredients"])

    def _missing(self, product: str, place: str) -> list[str]:
        inside = self.places[place]["items"] if self._suits(product, place) else ()
        return set_minus(self.brief["recipes"][product]["ingredients"], inside)

    def _all_of_kind(self, kind: str) -> list[str]:
        return [place for place, its in self.brief["locations"].items() if its == kind]

    def _of_kind(self, kind: str) -> str:
        return self._all_of_kind(kind)[0]

    def _at(self, place: str, verb: str, aim: dict[str, str], item: str = "") -> Advice:
        """To be done at this place: go there first."""
        aim = {"to": place, **aim}
        if self.me["at"] != place:
            return Advice(("goto", place), aim)
        return Advice((verb, place, item) if item else (verb, place), aim)

    def _wait(self, place: str, dish: str) -> Advice:
        """Nothing else can be done for the dish before a tool is ready: it is waited for beside it."""
        busy = [each for each in self.places if self.places[each]["busy"]]
        place = place or min(busy, key=lambda each: self.places[each]["busy"], default=self.me["at"])
        aim = {"do": "wait", "to": place, "dish": dish}
        return Advice(WAITS if self.me["at"] == place or self.me["busy"] else ("goto", place), aim)


def set_minus(items: Iterable[str], others: Sequence[str]) -> list[str]:
    """The items without those others, in their order."""
    return [item for item in items if item not in others]
