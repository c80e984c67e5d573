"""CuisineWorld for agents that think in skills: its aims are the skills (`kitchen.worlds.cuisine.aims`).

`serve` a dish, `make` an item, `fetch` an item, `free` a tool: each is carried out as somebody goes who
knows no plan (`kitchen.worlds.cuisine.leading`). What a seat has finished follows from the events: to take
something out of a place is `fetch`, to start a tool `make`, to put a dish on the serving table `serve`.
Plain Python.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from random import Random
from typing import ClassVar

from kitchen.contract.skills import FREELY, READY, Condition, Manner, Primer, Sight, Skill, Skills, wait
from kitchen.contract.world import Command, Event, Intent, Json
from kitchen.worlds.cuisine.aims import FETCH, FREE, MAKE, SERVE, aim_mark, aim_status
from kitchen.worlds.cuisine.conditions import conditions
from kitchen.worlds.cuisine.dispatcher.moment import agent_name
from kitchen.worlds.cuisine.leading import Way
from kitchen.worlds.cuisine.primer import primer, scene
from kitchen.worlds.cuisine.pursuing import next_command

STORAGE, SERVING = "storage", "servingtable"
VERBS: Mapping[str, str] = {
    "serve": SERVE,
    "deliver": SERVE,
    "make": MAKE,
    "cook": MAKE,
    "prepare": MAKE,
    "fetch": FETCH,
    "get": FETCH,
    "take": FETCH,
    "pick": FETCH,
    "pickup": FETCH,
    "bring": FETCH,
    "free": FREE,
    "clear": FREE,
    "empty": FREE,
}
"""As models write them."""
MOST_WORDS = 7
"""After a verb, in which what it is about is looked for."""


class CuisineSkills(Skills):
    """What every robot can be asked for is what it can plan."""

    patience: ClassVar[int] = 30

    def seats(self, sight: Sight) -> Sequence[int]:
        """All robots."""
        return range(len(sight.seen["agents"]))

    def named(self, seat: int) -> str:
        """As in other prompts: `agent0`."""
        return agent_name(seat)

    def manner(self, sight: Sight) -> Manner:
        """Waiting is offered; nothing is fetched to be filled."""
        return Manner(FREELY, READY)

    def primer(self, sight: Sight, manner: Manner) -> Primer:
        """Of the level that is played."""
        return primer(sight.brief, sight.seat, len(sight.seen["agents"]))

    def scene(self, sight: Sight) -> str:
        """Orders, robots, tools."""
        return scene(sight.brief, sight.seen)

    def offered(self, sight: Sight, other: int) -> Sequence[Skill]:
        """The aims of the level, for every robot the same."""
        return list(aims_of(sight.brief))

    def meant(self, written: Sequence[str], sight: Sight) -> Skill | None:
        """A verb, and the first name after it that makes a skill of it."""
        verb = VERBS.get(written[0].lower())
        if verb is None:
            return None
        known = {what.lower(): what for kind, what in aims_of(sight.brief) if kind == verb}
        words = [word.lower() for word in written[1 : 1 + MOST_WORDS]]
        found = (
            known.get("".join(words[at:end])) for at in range(len(words)) for end in (at + 3, at + 2, at + 1)
        )
        what = next((each for each in found if each), None)
        return (verb, what) if what else None

    def conditions(self, sight: Sight, skill: Skill) -> Sequence[Condition]:
        """What each kind of skill needs."""
        return conditions(sight, skill)

    def mark(self, sight: Sight, skill: Skill) -> Json:
        """How many of a dish were served so far."""
        return aim_mark(sight.seen, skill)

    def status(self, sight: Sight, skill: Skill, since: Json) -> str:
        """By what is seen, whoever has done it."""
        return aim_status(sight.seen, sight.brief, sight.seat, skill, since)

    def finished(self, sight: Sight, other: int) -> Sequence[Skill]:
        """By its command and what was in its hands."""
        return [done for event in sight.events for done in _done(sight, other, event)]

    def agrees(self, sight: Sight, foreseen: Skill, done: Skill) -> bool | None:
        """A part of what was foreseen is on the way there; so is a tool that became empty."""
        if foreseen == done:
            return True
        (kind, what), (did, item) = foreseen, done
        on_the_way = kind != FREE and item in parts_of(sight.brief, what)
        return None if on_the_way or (did == FREE and kind != FREE) else False

    def command(self, sight: Sight, skill: Skill, chance: Random) -> Command | None:
        """The next one on the way there that is legal now."""
        way = Way(sight.brief, sight.seen["locations"], sight.seen["agents"][sight.seat])
        command = next_command(way, *skill)
        return command if command in sight.legal else None

    def rule(self, sight: Sight, other: int, manner: Manner) -> Skill:
        """What it holds is served if it is ordered; else each robot has an order of its own, the most urgent
        first, and those without one wait."""
        ordered = [order["dish"] for order in sorted(sight.seen["orders"], key=lambda one: one["life"])]
        held = sight.seen["agents"][other]["holds"]
        if held in ordered:
            return (SERVE, held)
        possible = [dish for dish in ordered if dish not in sight.brief["uncookable"]]
        return (SERVE, possible[other]) if other < len(possible) else wait()

    def intent(self, skill: Skill) -> Intent:
        """In the codes of `kitchen.worlds.cuisine.intents`."""
        kind, what = skill if len(skill) == 2 else (skill[0], "")
        if kind == FREE:
            return {"do": FREE, "to": what}
        return {"do": kind, "item": what} if kind in (SERVE, MAKE, FETCH) else {"do": "wait"}


def aims_of(brief: Mapping[str, Json]) -> Iterator[Skill]:
    """As `World.aims` lists them, from what a seat knows."""
    recipes, tools = brief["recipes"], set(brief["locations"].values())
    made = [item for item in recipes if all(recipes[one]["tool"] in tools for one in _made_for(brief, item))]
    yield from ((SERVE, dish) for dish in brief["dishes"] if dish in made)
    yield from ((MAKE, item) for item in made)
    yield from ((FETCH, item) for item in [*brief["base"], *made])
    yield from ((FREE, id) for id, kind in brief["locations"].items() if kind not in (STORAGE, SERVING))


def _made_for(brief: Mapping[str, Json], item: str) -> Collection[str]:
    return [part for part in parts_of(brief, item) if part in brief["recipes"]]


def parts_of(brief: Mapping[str, Json], item: str) -> set[str]:
    """An item, and all that goes into it."""
    below = (parts_of(brief, part) for part in brief["recipes"].get(item, {"ingredients": ()})["ingredients"])
    return {item}.union(*below)


def _done(sight: Sight, other: int, event: Event) -> Iterator[Skill]:
    if event.kind != "performed" or event.seat != other or "item" not in event.data:
        return
    verb, place, *_ = event.data["command"]
    item, kind = event.data["item"], sight.brief["locations"][place]
    if verb == "get":
        if kind not in (STORAGE, SERVING) and not sight.seen["locations"][place]["items"]:
            yield FREE, place
        yield FETCH, item
    elif verb == "activate":
        yield MAKE, item
    elif kind == SERVING and item in sight.brief["dishes"]:
        yield SERVE, item


SKILLS = CuisineSkills()
