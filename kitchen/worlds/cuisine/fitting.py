"""What fits the moment: which actions bring an open order on, and where it is worth going. Plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kitchen.contract.page import SeatView
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine import graph
from kitchen.worlds.cuisine.known import Known, made_of
from kitchen.worlds.cuisine.tickets import stock_of


@dataclass(frozen=True, slots=True)
class Moment:
    """The kitchen as one seat sees it now, and what its orders need; where none is open, what any dish
    needs."""

    known: Known
    places: Mapping[str, Mapping[str, Json]]
    at: str
    holds: str | None
    wanted: frozenset[str]
    """The dishes that are ordered and can be cooked, and all that goes into them."""
    missing: frozenset[str]
    """What of it nobody has, and no tool works on."""

    def fits(self, command: Command) -> bool:
        """Whether a command that is offered brings an open order on, or rids the hands of what none needs."""
        verb, place = command[0], command[1] if len(command) > 1 else ""
        if verb == "goto":
            return place != self.at and self.worth_going(place)
        if verb == "get":
            return self._worth_taking(place, command[2] if len(command) > 2 else "")
        if verb == "put":
            return self._takes(place)
        return verb == "activate" and self._makes(place) in self.missing

    def worth_going(self, place: str) -> bool:
        """Whether what is in hand goes there, or something is to be had there for empty hands."""
        if self.holds:
            return self._takes(place)
        return self._is(place, "storage") or bool(self._makes(place)) or self._has_made(place)

    def is_of_use(self, item: str) -> bool:
        """Whether an open order needs it, as it is or for what is still to be made."""
        return item in self.known.brief["dishes"] or any(True for _ in self._uses(item))

    def _uses(self, item: str) -> Iterator[str]:
        """The missing products into which it goes."""
        recipes = self.known.brief["recipes"]
        return (each for each in recipes if each in self.missing and item in recipes[each]["ingredients"])

    def _takes(self, place: str) -> bool:
        """Whether what is in hand is to go there."""
        if not self.holds:
            return False
        if self._is(place, "storage"):
            return not self.is_of_use(self.holds)
        if self._is(place, "servingtable"):
            return self.holds in self.known.brief["dishes"] and self.holds in self.wanted
        return any(self._has_room(place, product) for product in self._uses(self.holds))

    def _has_room(self, place: str, product: str) -> bool:
        """Whether one part more of this product can go there."""
        recipe, here = self.known.brief["recipes"][product], self.places[place]
        others = {*here["items"], self.holds}
        fits = not here["busy"] and self.holds not in here["items"] and others <= set(recipe["ingredients"])
        return fits and self._is(place, recipe["tool"])

    def _worth_taking(self, place: str, item: str) -> bool:
        if self._is(place, "storage"):
            return item in self.missing
        return self._has_made(place) and bool(self.wanted.intersection(self.places[place]["items"]))

    def _has_made(self, place: str) -> bool:
        """Whether something that was made there can be taken."""
        here, recipes = self.places[place], self.known.brief["recipes"]
        kept = self._is(place, "servingtable") or here["busy"] or not here["open"]
        return not kept and any(item in recipes for item in here["items"]) and not self._makes(place)

    def _makes(self, place: str) -> str:
        """What the tool there would make now; empty if nothing."""
        here = self.places[place]
        kind = self.known.brief["locations"][place]
        return "" if here["busy"] else made_of(self.known.brief, kind, here["items"])

    def _is(self, place: str, kind: str) -> bool:
        return bool(self.known.brief["locations"].get(place) == kind)


def moment(view: SeatView, known: Known) -> Moment:
    """What this seat sees."""
    brief, me = known.brief, view.observation["agents"][view.seat]
    ordered = [order["dish"] for order in view.observation["orders"]]
    dishes = [dish for dish in ordered or brief["dishes"] if dish not in brief["uncookable"]]
    wanted = frozenset(_all_of(dishes, known))
    missing = frozenset(_missing(dishes, view, known))
    return Moment(known, view.observation["locations"], me["at"], me["holds"], wanted, missing)


def _all_of(dishes: Iterable[str], known: Known) -> Iterator[str]:
    for dish in dishes:
        for product, _, parts in known.recipe(dish):
            yield from (product, *parts)


def _missing(dishes: Iterable[str], view: SeatView, known: Known) -> Iterator[str]:
    """What is there counts for the most urgent order, as on the tickets."""
    stock = stock_of(view)
    for dish in dishes:
        there = graph.present(dish, known.brief["recipes"], stock.there, stock.making)
        yield from (item for item in _all_of([dish], known) if item not in there)
