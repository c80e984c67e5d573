"""How the planner does as people ask (`kitchen.worlds.cuisine.wishes`), and what it answers.

Robots that were told what to do, or to stop, are taken out of the plan as if somebody else commanded them;
orders and tools that are none of the others' business are taken out of what these see. What nobody asked
about is planned as ever.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kitchen.contract.agent import Situation
from kitchen.contract.organisation import ACCEPT, ANSWER, DECLINE, INFORM, REPORT
from kitchen.contract.talk import Said, Say
from kitchen.contract.world import Command, Json
from kitchen.words.counting import and_list
from kitchen.worlds.cuisine.wishes import (
    FETCH,
    FIRST,
    GO_ON,
    LEAVE_DISH,
    LEAVE_TOOL,
    STOP,
    Standing,
    Wish,
    of_people,
    standing,
    wishes_of,
)

KEY = "heeded"
"""Under which the planner's memory has what was asked; only where somebody asked something."""
CLOSED = 1000
"""Steps for which a tool is busy that somebody has for themselves."""
NOOP: Command = ("noop",)
HELP = "I understand: robot 2, fetch rice; salmon sushi first; stop; go on; let me do the chopping."


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
    """Listen to what people said so far; where nobody did, everything is as it is without."""
    said = of_people(situation.messages, situation.organisation)
    if not said:
        return Heeded(situation)
    brief = next(iter(situation.briefs.values()))
    wishes, before = wishes_of(said, brief), _remembered(situation.memory)
    mine = situation.seats
    now = standing(wishes, mine, step=situation.step + 1, done=before["done"])
    commands, done = _told(situation, brief, now)
    done = sorted({*before["done"], *done})
    news = [one for one in said if one.number > before["last"]]
    memory = {"last": said[-1].number, "done": done, "helped": before["helped"] or _helps(news, wishes)}
    others = _without(situation, brief, now, commands)
    says = _answers(situation, brief, news, wishes, helped=before["helped"])
    says += _reports(said, brief, wishes, set(done) - set(before["done"]))
    closed = {place for place, kind in brief["locations"].items() if kind in now.tools}
    return Heeded(others, commands, memory, says, frozenset(closed))


def left_alone(commands: Mapping[int, Command], heeded: Heeded) -> dict[int, Command]:
    """The same, but nobody puts anything into what somebody has for themselves, or starts it."""
    return {
        seat: NOOP if command[0] in {"put", "activate"} and command[1] in heeded.closed else command
        for seat, command in commands.items()
    }


def _remembered(memory: Json) -> dict[str, Json]:
    known = memory.get(KEY) if isinstance(memory, dict) else None
    return known or {"last": 0, "done": [], "helped": False}


def _told(
    situation: Situation, brief: Mapping[str, Json], now: Standing
) -> tuple[dict[int, Command], list[int]]:
    """What those do who were told what to do, and the messages that are seen to."""
    commands: dict[int, Command] = dict.fromkeys(sorted(now.stopped), NOOP)
    done: list[int] = []
    for wish in now.fetches:
        seats = [seat for seat in wish.meant(situation.seats) if seat not in commands]
        holders = [seat for seat in seats if _agent(situation, seat)["holds"] == wish.what]
        if holders:
            done.append(wish.number)
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


def _helps(news: Sequence[Said], wishes: Sequence[Wish]) -> bool:
    understood = {wish.number for wish in wishes}
    return any(one.number not in understood for one in news if one.kind != INFORM)


def _answers(
    situation: Situation,
    brief: Mapping[str, Json],
    news: Sequence[Said],
    wishes: Sequence[Wish],
    *,
    helped: bool,
) -> tuple[Say, ...]:
    """One line to those who said something new: what was understood; what can be said, once, where nothing
    was."""
    organisation = situation.organisation
    if organisation is None:
        return ()
    jobs = [one for one in news if one.kind == INFORM]
    numbers = {one.number for one in news} - {one.number for one in jobs}
    fresh = [wish for wish in wishes if wish.number in numbers and wish.meant(situation.seats)]
    lines = [_answer(wish, situation.seats, brief) for wish in fresh]
    words = [one for one in news if one.kind != INFORM]
    if not helped and _helps(news, wishes):
        lines.append(HELP)
    to = {one.sender for one in words} & set(organisation.to(situation.member, ANSWER))
    text = " ".join(dict.fromkeys(lines))
    answer = (Say(text, ANSWER, tuple(sorted(one for one in to if one is not None))),) if lines and to else ()
    return (*answer, *(_taken(situation, one, brief, wishes) for one in jobs))


def _taken(situation: Situation, job: Said, brief: Mapping[str, Json], wishes: Sequence[Wish]) -> Say:
    """The answer to a job: what is understood is accepted."""
    wish = next((one for one in wishes if one.number == job.number), None)
    to, data = (job.sender or 0,), {"job": job.number}
    if wish is None or not wish.meant(situation.seats):
        return Say(HELP, DECLINE, to, data)
    return Say(_answer(wish, situation.seats, brief), ACCEPT, to, data)


def _reports(
    said: Sequence[Said],
    brief: Mapping[str, Json],
    wishes: Sequence[Wish],
    done: Collection[int],
) -> tuple[Say, ...]:
    """Jobs that are done now."""
    senders = {one.number: one.sender or 0 for one in said if one.kind == INFORM}
    return tuple(
        Say(f"Done: {_name(wish, brief)}.", REPORT, (senders[wish.number],), _status(wish.number))
        for wish in wishes
        if wish.number in done and wish.number in senders
    )


def _status(number: int) -> dict[str, Json]:
    return {"job": number, "status": "done"}


def _name(wish: Wish, brief: Mapping[str, Json]) -> str:
    return str(brief["names"].get(wish.what, wish.what)).lower()


def _answer(wish: Wish, mine: Sequence[int], brief: Mapping[str, Json]) -> str:
    robots = and_list([f"robot {seat + 1}" for seat in wish.meant(mine)]) if wish.seats else "we"
    name = _name(wish, brief)
    said = {
        FETCH: f"{robots}: fetching {name}.",
        FIRST: f"{name} first.",
        STOP: f"{robots}: waiting.",
        GO_ON: f"{robots}: going on.",
        LEAVE_TOOL: f"the {name} is yours.",
        LEAVE_DISH: f"{name} is yours.",
    }[wish.do]
    return said[:1].upper() + said[1:]
