"""Define the aims (goals) that others can ask a robot to achieve, and find its next command for an aim.

There are four kinds of aims, which `World.aims` lists:

- `serve` a dish: achieved when one more of it has been served since the aim was given.
- `make` an item: achieved when it is ready in a tool or in this robot's hands.
- `fetch` an item: achieved when this robot holds it.
- `free` a tool: achieved when the tool is empty and not busy.

The next command depends only on the current observation, so earlier mistakes do not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kitchen.contract.advisers import Advice, AimPursuer, AimStep
from kitchen.contract.agent import Situation
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Command, Json
from kitchen.worlds.cuisine.level import Level, tools_needed
from kitchen.worlds.cuisine.order_jobs import MAKE, SERVE, next_order_job
from kitchen.worlds.cuisine.simulate_commands import level_from_brief

FETCH, FREE = "fetch", "free"


@lru_cache(maxsize=256)
def level_aims(level: Level) -> tuple[Aim, ...]:
    """Return the (kind, item or place) pairs of all aims in this level. Aims that need a missing tool are
    left out."""
    made = [item for item in level.recipes if set(tools_needed(item, level.stock)) <= set(level.kitchen)]
    raw = dict.fromkeys(item for product in made for item in level.recipes[product].ingredients)
    tools = [place for place, tool in level.places.items() if tool.role == "tool"]
    return (
        *((SERVE, dish) for dish in level.dishes if dish in made),
        *((MAKE, item) for item in made),
        *((FETCH, item) for item in [*(item for item in raw if item not in level.recipes), *made]),
        *((FREE, place) for place in tools),
    )


def aim_mark(observation: Mapping[str, Json], aim: Aim) -> Json:
    """Return how often the dish of a `serve` aim was served so far; None for other aims. `aim_status` needs
    this value later."""
    return observation["delivered"].count(aim[1]) if aim[0] == SERVE else None


def aim_status(
    observation: Mapping[str, Json], brief: Mapping[str, Json], seat: int, aim: Aim, since: Json
) -> str:
    """Return SUCCESS if the aim is reached, FAIL if the item to fetch exists nowhere, else UNKNOWN.

    `since` is what `aim_mark` returned when the aim was given.
    """
    kind, what = aim
    places, holds = observation["locations"], observation["agents"][seat]["holds"]
    if kind == SERVE:
        return _reached(observation["delivered"].count(what) > since)
    if kind == MAKE:
        ready = (place["items"] == [what] and not place["busy"] for place in places.values())
        return _reached(holds == what or any(ready))
    if kind == FREE:
        return _reached(not places[what]["items"] and not places[what]["busy"])
    if holds == what or what not in brief["recipes"] or _is_somewhere(observation, what):
        return _reached(holds == what)
    return FAIL


def _reached(reached: bool) -> str:
    return SUCCESS if reached else UNKNOWN


def _is_somewhere(observation: Mapping[str, Json], item: str) -> bool:
    """Return whether the item is in a tool (also a busy one), on a table, or in a robot's hands."""
    held = any(agent["holds"] == item for agent in observation["agents"])
    return held or any(item in place["items"] for place in observation["locations"].values())


WAIT_COMMAND: Command = ("noop",)
WALK_STEPS = 2
"""Commands for a thing that is somewhere else: go there, and take it or put it down."""


@dataclass(frozen=True, slots=True)
class SeatPursuit:
    """The kitchen from the view of one robot: the brief (unchanging facts), the places and the robot. The
    methods find the robot's next command for an item."""

    brief: Mapping[str, Json]
    places: Mapping[str, Mapping[str, Json]]
    me: Mapping[str, Json]
    reserved: Collection[str] = frozenset()
    """Tools whose content is for other dishes."""
    handled: Collection[str] = frozenset()
    """Ingredients that other robots bring."""
    untaken: Collection[str] = ()
    """Items that the robot neither takes nor makes."""
    unmade: Collection[str] = ()
    """Products that the robot uses if they are there, but does not make."""

    def left(self, item: str) -> int:
        """Return an estimate of the number of commands until the robot holds this item. It is 0 if the robot
        already holds it."""
        if item == self.me["holds"]:
            return 0
        if item not in self.brief["recipes"]:
            return WALK_STEPS
        if made := self._made(item):
            return WALK_STEPS + int(self.places[made]["busy"])
        parts = self._missing(item, self._place_for(item))
        return sum(self.left(part) + WALK_STEPS for part in parts) + 2 * WALK_STEPS

    def next(self, dish: str) -> Advice:
        """Return advice with the next command towards cooking and serving this dish. The command can be to
        wait."""
        return next(self.steps(dish))

    def steps(self, dish: str) -> Iterator[Advice]:
        """Yield advice for each command that brings this dish on, the best one first. It yields at least one,
        which can be to wait."""
        held = self.me["holds"]
        if held is not None:
            yield self._use(held, dish)
            return
        fetching = self._fetching(dish, dish, frozenset())
        first = next(fetching, None)
        yield first or self._wait("", dish)
        yield from fetching

    def claims(self, item: str) -> Iterator[tuple[str, str]]:
        """Yield the item, and each part that it still needs, with the tool that holds (some of) it. The tool
        is an empty text if there is none."""
        place = ""
        if item in self.brief["recipes"] and item not in self.handled:
            made = self._made(item)
            place = made or self._place_for(item)
            if not made:
                for part in self._missing(item, place):
                    yield from self.claims(part)
                place = place if self._suits(item, place) and self.places[place]["items"] else ""
        yield item, place

    def _use(self, held: str, dish: str) -> Advice:
        """Return advice for a robot that holds something, to bring the dish on or to put the item away."""
        if held == dish:
            return self.at(self.of_kind("servingtable"), "put", {"do": "serve", "item": held})
        if place := self._wanted_at(dish, held):
            busy = self.places[place]["busy"]
            aim = {"do": "bring", "item": held, "to": place, "dish": dish}
            return self._wait(place, dish) if busy else self.at(place, "put", aim)
        return self._put_away(held)

    def wants(self, product: str) -> bool:
        """Return whether the item that the robot holds is the product, or is needed to make it. True for
        empty hands."""
        held = self.me["holds"]
        return held in (None, product) or bool(self._wanted_at(product, held))

    def _put_away(self, held: str) -> Advice:
        if held in self.brief["dishes"]:
            return self.at(self.of_kind("servingtable"), "put", {"do": "stock", "item": held})
        return self.at(self.of_kind("storage"), "put", {"do": "discard", "item": held})

    def fetch(self, item: str) -> Command | None:
        """Return the robot's next command to take this existing item. A robot that holds something else first
        puts it away. Return None if the item exists nowhere; the storage always has base ingredients."""
        if self.me["holds"] is not None:
            return self._put_away(self.me["holds"]).command
        if item not in self.brief["recipes"]:
            return self.at(self.of_kind("storage"), "get", {}, item).command
        lies = (place for place, there in self.places.items() if item in there["items"])
        place = self._made(item) or next(lies, "")
        if not place or self.places[place]["busy"]:
            return self._wait(place, item).command if place else None
        return self.at(place, "get", {}, item).command

    def free(self, place: str) -> Command | None:
        """Return the next command to empty this tool. A held item is put away first. The command can be to
        wait."""
        if self.me["holds"] is not None:
            return self._put_away(self.me["holds"]).command
        advice = self._clear(place, "", frozenset())
        return self._wait(place, "").command if advice is None else advice.command

    def _wanted_at(self, product: str, held: str) -> str:
        """Return the tool into which the item `held` should be put to make this product or one of its parts.
        Return an empty text if it is not needed."""
        if product not in self.brief["recipes"] or self._made(product) or self._is_left(product):
            return ""
        place = self._place_for(product)
        missing = self._missing(product, place)
        if held in missing:
            return place if self._suits(product, place) else ""
        return next((found for part in missing if (found := self._wanted_at(part, held))), "")

    def ingredients(self, item: str) -> set[str]:
        """Return all items that go into this item, also those that must be cooked first."""
        parts = self.brief["recipes"][item]["ingredients"] if item in self.brief["recipes"] else ()
        return {*parts, *(below for part in parts for below in self.ingredients(part))}

    def spare_place(self, dish: str, ordered: Collection[str]) -> str:
        """Return a tool that can keep the item that the robot holds for this dish, until it is needed. Empty
        if there is none, or if the ordered dishes need all tools of its kind."""
        products = [part for part in (dish, *self.ingredients(dish)) if part in self.brief["recipes"]]
        for product in products:
            place = self._place_for(product)
            if self.me["holds"] not in self._missing(product, place) or not self._suits(product, place):
                continue
            if self.places[place]["items"] or self.has_spare(self.brief["locations"][place], ordered):
                return place
        return ""

    def has_spare(self, kind: str, ordered: Collection[str]) -> bool:
        """Return whether a tool of this kind is free that none of the ordered dishes needs."""
        free = [each for each in self._all_of_kind(kind) if not self.places[each]["items"]]
        used = [each for each in self._all_of_kind(kind) if each in self.reserved]
        return len(free) + len(used) > self._demand(kind, ordered)

    def _demand(self, kind: str, ordered: Collection[str]) -> int:
        """Return how many of the ordered dishes still need a tool of this kind."""
        return sum(kind in self._tools_left(dish) for dish in ordered)

    def _fetch(self, item: str, dish: str, clearing: Collection[str]) -> Advice | None:
        """Return the best advice of `_fetching`. Return None if the robot must first wait for a tool."""
        return next(self._fetching(item, dish, clearing), None)

    def _fetching(self, item: str, dish: str, clearing: Collection[str]) -> Iterator[Advice]:
        """Yield advice on how a robot with empty hands gets this item for the dish, the best one first. Yield
        nothing if it must first wait for a tool. `clearing` are tools that are already being emptied."""
        if item in self.handled or item in self.untaken:
            return
        if item not in self.brief["recipes"]:
            aim = {"do": "fetch", "item": item, "dish": dish}
            yield self.at(self.of_kind("storage"), "get", aim, item)
        elif made := self._made(item):
            if not self.places[made]["busy"]:
                yield self.at(made, "get", {"do": "take", "item": item, "dish": dish}, item)
        elif not self._is_left(item):
            yield from self._making(item, dish, clearing)

    def _making(self, product: str, dish: str, clearing: Collection[str]) -> Iterator[Advice]:
        """Yield advice as `_fetching` does, for a product that no tool holds or makes yet."""
        place = self._place_for(product)
        if not self._suits(product, place):
            if advice := self._clear(place, dish, clearing):
                yield advice
        elif missing := self._missing(product, place):
            for part in self._in_order(missing, place):
                yield from self._fetching(part, dish, clearing)
        else:
            yield self.at(place, "activate", {"do": "start", "item": product, "dish": dish})

    def _is_left(self, product: str) -> bool:
        return product in self.untaken or product in self.unmade

    def _in_order(self, missing: Iterable[str], place: str) -> list[str]:
        """Return the missing ingredients in the order in which the robot should get them: cooked ones first,
        then those from the storage.

        If cooked ones need the same tool and the kitchen has only one of its kind, only these are returned.
        """
        kind, recipes = self.brief["locations"][place], self.brief["recipes"]
        cooked = sorted((part for part in missing if part in recipes), key=self._first, reverse=True)
        rivals = [part for part in cooked if kind in self._tools_left(part)]
        if rivals and len(self._all_of_kind(kind)) == 1:
            return rivals
        return [*rivals, *(part for part in cooked if part not in rivals), *(without_items(missing, cooked))]

    def _first(self, part: str) -> tuple[bool, int]:
        """Return the sort key of an ingredient. Ingredients that the robot can start to cook where it is come
        first, then those that take longest."""
        here = not self._made(part) and self._place_for(part) == self.me["at"]
        return here and not self._missing(part, self.me["at"]), self._time(part)

    def _time(self, item: str) -> int:
        """Return the total number of steps that tools must work until this item exists."""
        if item not in self.brief["recipes"]:
            return 0
        recipe = self.brief["recipes"][item]
        busy: int = self.brief["tools"].get(recipe["tool"], {}).get("busy", 0)
        return busy + max(map(self._time, recipe["ingredients"]))

    def _tools_left(self, product: str) -> set[str]:
        """Return the kinds of tools that are still needed to make this product."""
        if product not in self.brief["recipes"] or self._made(product):
            return set()
        below = (self._tools_left(part) for part in self.brief["recipes"][product]["ingredients"])
        return {self.brief["recipes"][product]["tool"]}.union(*below)

    def _clear(self, place: str, dish: str, clearing: Collection[str]) -> Advice | None:
        """Return advice to empty a tool that holds items for other dishes, by taking or cooking them. Return
        None if nothing can be done now. `clearing` are tools that are already being emptied."""
        here = self.places[place]
        if here["busy"] or place in clearing or place in self.reserved:
            return None
        if here["open"]:
            item = here["items"][0]
            return self.at(place, "get", {"do": "clear", "item": item, "dish": dish}, item)
        kind, inside = self.brief["locations"][place], set(here["items"])
        fitting = [
            product
            for product, recipe in self.brief["recipes"].items()
            if recipe["tool"] == kind and inside <= set(recipe["ingredients"])
        ]
        ways = (self._fetch(each, each, {*clearing, place}) for each in sorted(fitting, key=self.left))
        return next((way for way in ways if way), None)

    def _made(self, product: str) -> str:
        """Return the tool that holds this product, or that will be the first to have cooked it. Empty if
        there is none."""
        tool = self.brief["recipes"][product]["tool"]
        there = [
            place
            for place in self._all_of_kind(tool)
            if self.places[place]["items"] == [product] and place not in self.reserved
        ]
        return min(there, key=lambda place: self.places[place]["busy"], default="")

    def _place_for(self, product: str) -> str:
        """Return the tool in which to make this product: the tool that holds most of its ingredients, else an
        empty tool, else an occupied one."""
        fitness = {
            place: (self._suits(product, place), len(here["items"]), -here["busy"])
            for place, here in self.places.items()
            if self.brief["locations"][place] == self.brief["recipes"][product]["tool"]
        }
        return max(fitness, key=lambda place: fitness[place])

    def _suits(self, product: str, place: str) -> bool:
        """Return whether the tool is empty or holds only ingredients of the product, for this dish."""
        parts = self.brief["recipes"][product]["ingredients"]
        return place not in self.reserved and set(self.places[place]["items"]) <= set(parts)

    def _missing(self, product: str, place: str) -> list[str]:
        inside = self.places[place]["items"] if self._suits(product, place) else ()
        return without_items(self.brief["recipes"][product]["ingredients"], inside)

    def _all_of_kind(self, kind: str) -> list[str]:
        return [place for place, its in self.brief["locations"].items() if its == kind]

    def of_kind(self, kind: str) -> str:
        """Return the id of the first place of this kind, such as `pot0` for `pot`."""
        return self._all_of_kind(kind)[0]

    def at(self, place: str, verb: str, aim: dict[str, str], item: str = "") -> Advice:
        """Return advice to carry out the command at this place or, if the robot is elsewhere, to go there
        first. If the robot is at a place that is just like it, the command is for the robot's place."""
        if self.is_alike(self.me["at"], place):
            place = self.me["at"]
        aim = {"to": place, **aim}
        if self.me["at"] != place:
            return Advice(("goto", place), aim)
        return Advice((verb, place, item) if item else (verb, place), aim)

    def is_alike(self, place: str, other: str) -> bool:
        """Return whether the two places are of the same kind, and have the same content and state."""
        kinds = self.brief["locations"]
        return bool(kinds[place] == kinds[other] and self.places[place] == self.places[other])

    def _wait(self, place: str, dish: str) -> Advice:
        """Return advice to wait at this place or, if `place` is empty, at the tool that is ready soonest."""
        busy = [each for each in self.places if self.places[each]["busy"]]
        place = place or min(busy, key=lambda each: self.places[each]["busy"], default=self.me["at"])
        aim = {"do": "wait", "to": place, "dish": dish}
        return Advice(WAIT_COMMAND if self.me["at"] == place or self.me["busy"] else ("goto", place), aim)


def without_items(items: Iterable[str], others: Sequence[str]) -> list[str]:
    """Return the `items` that are not in `others`, in their order."""
    return [item for item in items if item not in others]


class CuisinePursuer(AimPursuer):
    """Pursues an aim of a robot: one ingredient of the recipe after the other. A held item that is of no
    use is put away first."""

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> AimStep:
        """Return the status of the aim and, if it is open, the robot's next command. The command is None if
        it is not legal now.

        An aim that does not exist in this kitchen has the status FAIL. `since` is what `aim_mark` returned
        when the aim was given.
        """
        brief, seen = situation.briefs[seat], situation.observations[seat]
        if not _can_read(aim, brief):
            return AimStep(FAIL)
        status = aim_status(seen, brief, seat, aim, since)
        if status != UNKNOWN:
            return AimStep(status)
        command = next_command(SeatPursuit(brief, seen["locations"], seen["agents"][seat]), *aim)
        return AimStep(UNKNOWN, command if command in situation.legal[seat] else None)

    def aims(self, situation: Situation, seat: int) -> Sequence[Aim]:
        """Return the aims of the level."""
        return level_aims(level_from_brief(situation.briefs[seat]))

    def mark(self, situation: Situation, seat: int, aim: Aim) -> Json:
        """Return how often the dish of the aim was served so far; None for aims other than `serve`."""
        return aim_mark(situation.observations[seat], aim)

    def can_suggest(self, brief: Mapping[str, Json]) -> bool:
        """Return True, because useful aims always follow from the open orders."""
        return True

    def suggest(
        self, brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, taken: Sequence[Aim]
    ) -> Aim | None:
        """Return the first part of the most urgent order that no seat works on; None if there is none. It is
        to cook an ingredient, or to serve the dish. `taken` lists the aims of the other seats."""
        return next_order_job(brief, seen, taken)


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
    """Return the robot's next command for an aim. `kind` is the aim's verb, and `what` its item or place.

    Return None if there is nothing to do now: the item to fetch does not exist, or the dish is already on the
    serving table.
    """
    if kind == FREE:
        return way.free(what)
    if kind == FETCH:
        return way.fetch(what)
    table = way.of_kind("servingtable")
    if kind == SERVE and way.me["holds"] is None and what in way.places[table]["items"]:
        return None  # it is served as soon as it is ordered
    return way.next(what).command


PURSUER = CuisinePursuer()
