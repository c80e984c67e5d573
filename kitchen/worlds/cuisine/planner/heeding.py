"""How the planner does as people ask (`kitchen.worlds.cuisine.wishes`).

Robots that were told what to do, or to stop, are taken out of the plan as if somebody else commanded them;
orders and tools that are none of the others' business are taken out of what these see. What nobody asked
about is planned as ever. What was asked stands in the planner's memory, since it is told of the newest
messages alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kitchen.contract.agent import Situation
from kitchen.contract.talk import Said, Say
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.planner.answering import answers, needs_help, reports
from kitchen.worlds.cuisine.wishes import (
    Standing,
    Wish,
    for_us,
    of_people,
    standing,
    still_asked,
    taken_back,
    wishes_of,
)

KEY = "heeded"
"""Under which the planner's memory has what was asked; only where somebody asked something."""
CLOSED = 1000
"""Steps for which a tool is busy that somebody has for themselves."""
NOOP: Command = ("noop",)


@dataclass(slots=True)
class Heeded:
    """What came of listening: commands for those who do as they were told, the situation of the others, what
    to remember, and what to answer."""

    situation: Situation
    commands: dict[int, Command] = field(default_factory=dict)
    memory: dict[str, Json] | None = None
    says: tuple[Say, ...] = ()
    closed: frozenset[str] = frozenset()
    """Places that somebody has for themselves."""


def heed(situation: Situation) -> Heeded:
    """Listen to what people said since it was last listened, and go by what still stands of what they said
    before; where nobody said anything, everything is as it is without."""
    before, said = _remembered(situation.memory), of_people(situation.messages, situation.organisation)
    news = [one for one in said if one.number > before["last"]]
    if not (news or before["last"]):
        return Heeded(situation)
    brief, step = next(iter(situation.briefs.values())), situation.step + 1
    read = wishes_of(news, brief)
    fresh, gone = _for_us(situation, news, read), taken_back(situation.messages)
    wishes = [
        one for one in (*map(Wish.read, before["wishes"]), *fresh) if not one.is_job or one.number not in gone
    ]
    now = standing(wishes, situation.seats, step=step)
    commands, done = _told(situation, brief, now)
    left = still_asked(wishes, step=step, done=done)
    helped = before["helped"] or needs_help(news, read)
    memory = {"last": max([before["last"], *(one.number for one in news)]), "helped": helped}
    says = answers(situation, brief, news, read, fresh, helped=before["helped"])
    says += reports(brief, wishes, left, done)
    closed = {place for place, kind in brief["locations"].items() if kind in now.tools}
    others = _without(situation, brief, now, commands)
    remembered = {**memory, "wishes": [one.to_json() for one in left]}
    return Heeded(others, commands, remembered, says, frozenset(closed))


def _for_us(situation: Situation, news: Sequence[Said], read: Sequence[Wish]) -> list[Wish]:
    """Those of new wishes that are asked of this mind."""
    messages, organisation = {one.number: one for one in news}, situation.organisation
    if organisation is None:
        return []
    return [wish for wish in read if for_us(wish, messages[wish.number], organisation, situation.member)]


def left_alone(commands: Mapping[int, Command], heeded: Heeded) -> dict[int, Command]:
    """The same, but nobody puts anything into what somebody has for themselves, or starts it."""
    return {
        seat: NOOP if command[0] in {"put", "activate"} and command[1] in heeded.closed else command
        for seat, command in commands.items()
    }


def _remembered(memory: Json) -> dict[str, Json]:
    known = memory.get(KEY) if isinstance(memory, dict) else None
    return known or {"last": 0, "helped": False, "wishes": []}


def _told(
    situation: Situation, brief: Mapping[str, Json], now: Standing
) -> tuple[dict[int, Command], list[Wish]]:
    """What those do who were told what to do, and what is done."""
    commands: dict[int, Command] = dict.fromkeys(sorted(now.stopped), NOOP)
    done: list[Wish] = []
    for wish in now.fetches:
        seats = [seat for seat in wish.meant(situation.seats) if seat not in commands]
        holders = [seat for seat in seats if _agent(situation, seat)["holds"] == wish.what]
        if holders:
            done.append(wish)
            continue
        free = [seat for seat in seats if not _agent(situation, seat)["holds"]]
        source = _source(situation, brief, wish.what)
        if free and source:
            commands[free[0]] = _fetch(_agent(situation, free[0]), source, wish.what, brief)
    return commands, done


def _agent(situation: Situation, seat: int) -> Mapping[str, Json]:
    seen = situation.observations[seat]
    agent: Mapping[str, Json] = seen["agents"][seat]
    return agent


def _source(situation: Situation, brief: Mapping[str, Json], item: str) -> str:
    """Where this can be taken from; empty where it cannot."""
    places: Mapping[str, str] = brief["locations"]
    if item in brief["base"]:
        return next(place for place, kind in places.items() if kind == "storage")
    seen = next(iter(situation.observations.values()))["locations"]
    ready = [
        place for place in places if list(seen[place]["items"]) == [item] and places[place] != "servingtable"
    ]
    return ready[0] if ready else ""


def _fetch(agent: Mapping[str, Json], source: str, item: str, brief: Mapping[str, Json]) -> Command:
    if agent["busy"]:
        return NOOP
    if agent["at"] != source:
        return ("goto", source)
    return ("get", source, item) if brief["locations"][source] == "storage" else ("get", source)


def _without(
    situation: Situation, brief: Mapping[str, Json], now: Standing, commands: Mapping[int, Command]
) -> Situation:
    """The situation of those who were told nothing, in which the others command themselves."""
    seats = tuple(seat for seat in situation.seats if seat not in commands)
    seen = {seat: _seen(situation.observations[seat], brief, now) for seat in seats}
    return replace(
        situation,
        seats=seats,
        observations=seen,
        commanded={**situation.commanded, **commands},
        memory=memory_of(situation.memory, seats),
    )


def _seen(observation: Mapping[str, Json], brief: Mapping[str, Json], now: Standing) -> dict[str, Json]:
    """An observation without orders and tools that are not for us."""
    orders = [order for order in observation["orders"] if order["dish"] not in now.dishes]
    first = [order for order in orders if order["dish"] == now.first]
    places = {
        place: {**there, "busy": CLOSED} if _closed(place, there, brief, now) else there
        for place, there in observation["locations"].items()
    }
    return {**observation, "orders": first or orders, "locations": places}


def _closed(place: str, there: Mapping[str, Json], brief: Mapping[str, Json], now: Standing) -> bool:
    """Somebody has it for themselves, and nothing lies there to be taken."""
    kind, items = brief["locations"][place], there["items"]
    made = len(items) == 1 and brief["recipes"].get(items[0], {}).get("tool") == kind
    return kind in now.tools and not made


def memory_of(memory: Json, seats: Sequence[int]) -> Json:
    """What is remembered of these robots' errands."""
    if not isinstance(memory, dict) or "errands" not in memory:
        return memory
    return {
        **memory,
        "errands": [errand for errand in memory["errands"] if errand[0] in seats],
        "passing": [seat for seat in memory["passing"] if seat in seats],
        "helping": [seat for seat in memory.get("helping", ()) if seat in seats],
    }
