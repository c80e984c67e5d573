"""How the planner does as people ask in words (`kitchen.worlds.cuisine.planner.listening`).

Robots that were told what to do, or to stop, are taken out of the plan as if somebody else commanded them;
orders, items and tools that are none of the others' business are left out of what these plan. What nobody
asked about is planned as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kitchen.contract.agent import Situation
from kitchen.contract.talk import Say
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.planner.answering import answers, needs_help, reports
from kitchen.worlds.cuisine.planner.fetching import NOOP, fetch, source_of
from kitchen.worlds.cuisine.planner.listening import Heard
from kitchen.worlds.cuisine.wishes import FETCH, GO_ON, Standing, Wish, standing, still_asked


@dataclass(slots=True)
class Heeded:
    """What came of listening: commands for those who do as they were told, the situation of the others, what
    to remember, and what to answer."""

    situation: Situation
    commands: dict[int, Command] = field(default_factory=dict)
    memory: dict[str, Json] = field(default_factory=dict)
    says: tuple[Say, ...] = ()


def heed(situation: Situation, heard: Heard, at_jobs: Mapping[int, int]) -> Heeded:
    """Go by what stands of what people asked. `at_jobs` are robots that pursue an aim, with the number of
    their job: what was said before that is not for them, and they wait no longer."""
    brief, step = next(iter(situation.briefs.values())), situation.step + 1
    wishes = list(heard.wishes)
    now = standing(wishes, situation.seats, step=step)
    if begun := tuple(sorted(now.stopped & at_jobs.keys())):
        wishes.append(Wish(heard.last, 0, step, GO_ON, "", begun))
        now = standing(wishes, situation.seats, step=step)
    commands, done = _told(situation, brief, now, at_jobs)
    ended = [*done, *_given_up(wishes, situation.seats)]
    left = still_asked(wishes, step=step, done=ended)
    helped = heard.before["helped"] or needs_help(situation, heard)
    memory = {"last": heard.last, "helped": helped, "wishes": [one.to_json() for one in left]}
    says = answers(situation, brief, heard) + reports(situation, brief, wishes, left, done)
    return Heeded(_without(situation, brief, now, commands), commands, memory, says)


def _given_up(wishes: Sequence[Wish], mine: tuple[int, ...]) -> list[Wish]:
    """Things that are not to be fetched any more, since somebody wished otherwise."""
    asked = standing((wish for wish in wishes if wish.do == FETCH), mine, step=0).fetches
    still = standing(wishes, mine, step=0).fetches
    return [wish for wish in asked if wish not in still]


def _told(
    situation: Situation, brief: Mapping[str, Json], now: Standing, at_jobs: Mapping[int, int]
) -> tuple[dict[int, Command], list[Wish]]:
    """What those do who were told what to do, and what is done."""
    commands: dict[int, Command] = dict.fromkeys(sorted(now.stopped), NOOP)
    done: list[Wish] = []
    for wish in now.fetches:
        seats = [seat for seat in _asked(wish, situation.seats, at_jobs) if seat not in commands]
        holders = [seat for seat in seats if _agent(situation, seat)["holds"] == wish.what]
        if holders:
            done.append(wish)
            continue
        free = [seat for seat in seats if not _agent(situation, seat)["holds"]]
        source = source_of(situation, brief, wish.what)
        if free and source:
            commands[free[0]] = fetch(_agent(situation, free[0]), source, wish.what, brief)
    return commands, done


def _asked(wish: Wish, mine: Sequence[int], at_jobs: Mapping[int, int]) -> list[int]:
    """Who is to fetch this: those who are at no job, or, where they are named or all are at one, whose job is
    older than this."""
    meant = wish.meant(mine)
    free = [seat for seat in meant if seat not in at_jobs]
    return free if free and not wish.seats else [s for s in meant if at_jobs.get(s, 0) < wish.number]


def _agent(situation: Situation, seat: int) -> Mapping[str, Json]:
    seen = situation.observations[seat]
    agent: Mapping[str, Json] = seen["agents"][seat]
    return agent


def _without(
    situation: Situation, brief: Mapping[str, Json], now: Standing, commands: Mapping[int, Command]
) -> Situation:
    """The situation of those who were told nothing, in which the others command themselves."""
    others = left_to_plan(situation, commands)
    seen = {seat: _seen(situation.observations[seat], brief, now) for seat in others.seats}
    return replace(others, observations=seen)


def left_to_plan(situation: Situation, commands: Mapping[int, Command]) -> Situation:
    """The situation of the robots that have no command yet."""
    seats = tuple(seat for seat in situation.seats if seat not in commands)
    commanded, memory = {**situation.commanded, **commands}, _memory_of(situation.memory, seats)
    return replace(situation, seats=seats, commanded=commanded, memory=memory)


def _seen(observation: Mapping[str, Json], brief: Mapping[str, Json], now: Standing) -> dict[str, Json]:
    """An observation without orders that are not for us, and with what we are to leave to others
    (`kitchen.worlds.cuisine.planner.scene`)."""
    orders = [order for order in observation["orders"] if order["dish"] not in now.dishes]
    first = [order for order in orders if order["dish"] == now.first]
    made = [item for item, recipe in brief["recipes"].items() if recipe["tool"] in now.tools]
    return {**observation, "orders": first or orders, "theirs": [*now.items, *now.dishes], "unmade": made}


def _memory_of(memory: Json, seats: Sequence[int]) -> Json:
    """What is remembered of these robots' errands."""
    if not isinstance(memory, dict) or "errands" not in memory:
        return memory
    return {
        **memory,
        "errands": [errand for errand in memory["errands"] if errand[0] in seats],
        "passing": [seat for seat in memory["passing"] if seat in seats],
        "helping": [seat for seat in memory.get("helping", ()) if seat in seats],
    }
