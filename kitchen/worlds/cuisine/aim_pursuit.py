"""Find the next command towards an aim or one dish, part by part, without planning ahead.

It guides people who learn the game, and agents that carry out jobs and skills. The next command depends
only on what is seen now, so it recovers from any detour.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.agent import Advice, AimPursuer, AimStep, Situation
from kitchen.contract.world import FAIL, UNKNOWN, Aim, Command, Json
from kitchen.worlds.cuisine.aims import FETCH, FREE, MAKE, SERVE, aim_status

WAIT_COMMAND: Command = ("noop",)
WALK_STEPS = 2
"""Commands for a thing that is somewhere else: go there, and take it or put it down."""


def lead_to_dish(situation: Situation) -> Advice | None:
    """The next command of the one seat on its way to a served dish; None where no dish can be cooked."""
    (seat,) = situation.seats
    brief, seen = situation.briefs[seat], situation.observations[seat]
    cookable = [dish for dish in brief["dishes"] if dish not in brief["uncookable"]]
    ordered = [order["dish"] for order in seen["orders"] if order["dish"] in cookable]
    kitchen = SeatPursuit(brief, seen["locations"], seen["agents"][seat])
    dish = min(ordered or cookable, key=kitchen.left, default=None)
    return None if dish is None else kitchen.next(dish)


@dataclass(frozen=True, slots=True)
class SeatPursuit:
    """What one robot sees: its brief, the places, itself; and what it does next for an item."""

    brief: Mapping[str, Json]
    places: Mapping[str, Mapping[str, Json]]
    me: Mapping[str, Json]

    def left(self, item: str) -> int:
        """About how many commands it still takes to have this item in hand."""
        if item == self.me["holds"]:
            return 0
        if item not in self.brief["recipes"]:
            return WALK_STEPS
        if made := self._made(item):
            return WALK_STEPS + int(self.places[made]["busy"])
        parts = self._missing(item, self._place_for(item))
        return sum(self.left(part) + WALK_STEPS for part in parts) + 2 * WALK_STEPS

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
        return [*rivals, *(part for part in cooked if part not in rivals), *(without_items(missing, cooked))]

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
        return without_items(self.brief["recipes"][product]["ingredients"], inside)

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
        return Advice(WAIT_COMMAND if self.me["at"] == place or self.me["busy"] else ("goto", place), aim)


def without_items(items: Iterable[str], others: Sequence[str]) -> list[str]:
    """The items without those others, in their order."""
    return [item for item in items if item not in others]


class CuisinePursuer(AimPursuer):
    """Part by part (`kitchen.worlds.cuisine.aim_pursuit`). What is in hand and of no use is put away
    first."""

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> AimStep:
        """The next command that is legal now; to wait where there is none."""
        brief, seen = situation.briefs[seat], situation.observations[seat]
        if not _can_read(aim, brief):
            return AimStep(FAIL)
        status = aim_status(seen, brief, seat, aim, since)
        if status != UNKNOWN:
            return AimStep(status)
        command = next_command(SeatPursuit(brief, seen["locations"], seen["agents"][seat]), *aim)
        return AimStep(UNKNOWN, command if command in situation.legal[seat] else None)


def _can_read(aim: Aim, brief: Mapping[str, Json]) -> bool:
    if len(aim) != 2:
        return False
    kind, what = aim
    known: Mapping[str, Collection[str]] = {
        FREE: brief["locations"],
        FETCH: [*brief["base"], *brief["recipes"]],
        SERVE: brief["dishes"],
        MAKE: brief["recipes"],
    }
    return what in known.get(kind, ())


def next_command(way: SeatPursuit, kind: str, what: str) -> Command | None:
    """What a robot does next for an aim that it can have; None while there is nothing to do."""
    if kind == FREE:
        return way.free(what)
    if kind == FETCH:
        return way.fetch(what)
    if kind == SERVE and way.lies_served(what):
        return None
    return way.next(what).command


PURSUER = CuisinePursuer()
