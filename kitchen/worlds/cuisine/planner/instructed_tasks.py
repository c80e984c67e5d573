"""Give the tasks that people asked for to robots, and find the robots' next commands for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kitchen.agents.plain_sentences.sentence_conditions import READY
from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Intent, Json
from kitchen.worlds.cuisine.aim_pursuit import SeatPursuit
from kitchen.worlds.cuisine.planner.instruction_parser import (
    FETCH,
    FREE,
    LEAVE_ITEM,
    MAKE,
    NOT_SEEN,
    SERVE,
    TASKS,
    CurrentWishes,
    Wish,
)

NOOP: Command = ("noop",)


@dataclass(slots=True)
class TaskProgress:
    """The commands of robots that carry out a task, the purposes of these robots, and the tasks that are
    done."""

    commands: dict[int, Command] = field(default_factory=dict)
    intents: dict[int, Intent] = field(default_factory=dict)
    done: list[Wish] = field(default_factory=list)


def assigned_wishes(situation: Situation, wishes: Iterable[Wish], busy: Collection[int]) -> list[Wish]:
    """Return the wishes, with a robot for each task that names none. It is one without another task and not
    in `busy`, if there is one, and of these the one that needs the fewest commands."""
    kept = list[Wish]()
    for wish in (_begun(situation, one) for one in wishes):
        taken = {*busy, *(seat for one in kept if one.do in TASKS and not one.when for seat in one.seats)}
        if wish.do in TASKS and not wish.seats:
            free = [seat for seat in situation.seats if seat not in taken] or list(situation.seats)
            wish = replace(wish, seats=(min(free, key=lambda seat: _effort(situation, seat, wish)),))
        kept.append(_with_facts(situation, wish))
    return kept


def _begun(situation: Situation, wish: Wish) -> Wish:
    """Return a task without its condition, as if it were given now, if the condition is met."""
    if wish.when is None or not is_condition_met(situation, wish.when):
        return wish
    return replace(wish, when=None, step=max(wish.step, situation.step + 1))


def is_condition_met(situation: Situation, condition: tuple[str, str]) -> bool:
    """Return whether a product is ready or in somebody's hands, or whether a tool is free."""
    seen, brief = next(iter(situation.observations.values())), next(iter(situation.briefs.values()))
    state, what = condition
    if state == READY:
        return _number_ready(seen, what) > 0
    places = [place for place, kind in brief["locations"].items() if what in (place, kind)]
    return any(not seen["locations"][one]["items"] and not seen["locations"][one]["busy"] for one in places)


def _effort(situation: Situation, seat: int, wish: Wish) -> tuple[int, int, int]:
    """Return by what robots are compared: the commands to put away what they hold, and those for the task."""
    way = seat_pursuit(situation, seat)
    item = wish.what if wish.do != FREE else ""
    return (0 if not item or way.wants(item) else 1, way.left(item) if item else 0, seat)


def _with_facts(situation: Situation, wish: Wish) -> Wish:
    """Return the task with facts about the present moment: how often its dish was served, and which of
    several tools is to be emptied. For what a person makes or fetches, it is whether it is there."""
    seen, brief = next(iter(situation.observations.values())), next(iter(situation.briefs.values()))
    if wish.ends_when_done:
        there = _number_there(situation, wish)
        if wish.do == LEAVE_ITEM:
            return replace(wish, mark=max(wish.mark, min(there, 1)))
        return replace(wish, mark=there if wish.mark == NOT_SEEN else min(wish.mark, there))
    if wish.when:
        return wish
    if wish.do == SERVE and not wish.mark:
        return replace(wish, mark=seen["delivered"].count(wish.what))
    if wish.do == FREE and wish.what not in brief["locations"]:
        places = [place for place, kind in brief["locations"].items() if kind == wish.what]
        return replace(wish, what=max(places, key=lambda place: bool(seen["locations"][place]["items"])))
    return wish


def _number_there(situation: Situation, wish: Wish) -> int:
    """Return how many of the things that a person makes are ready, or in somebody's hands. For an item that a
    person fetches, return how many of this person's robots hold it."""
    seen, team = next(iter(situation.observations.values())), situation.talk.organisation
    if wish.do == LEAVE_ITEM:
        own = team.member(wish.sender).seats if team and wish.sender in team.numbers else ()
        return sum(seen["agents"][seat]["holds"] == wish.what for seat in own)
    return _number_ready(seen, wish.what)


def _number_ready(seen: Mapping[str, Json], product: str) -> int:
    """Return how many of a product are ready, or in somebody's hands."""
    held = [agent for agent in seen["agents"] if agent["holds"] == product]
    ready = [one for one in seen["locations"].values() if one["items"] == [product] and not one["busy"]]
    return len(held) + len(ready)


def is_offer_done(situation: Situation, wish: Wish) -> bool:
    """Return whether a person has made or fetched what they wanted to (see `assigned_wishes`)."""
    if not wish.ends_when_done:
        return False
    there = _number_there(situation, wish)
    return (wish.mark > 0 and not there) if wish.do == LEAVE_ITEM else there > wish.mark


def seat_pursuit(situation: Situation, seat: int) -> SeatPursuit:
    """Return the kitchen from the view of the robot in this seat."""
    seen = situation.observations[seat]
    return SeatPursuit(situation.briefs[seat], seen["locations"], seen["agents"][seat])


def product_exists(seen: Mapping[str, Json], product: str) -> bool:
    """Return whether a tool or table holds only this product, ready or not."""
    return any(place["items"] == [product] for place in seen["locations"].values())


def item_source(seen: Mapping[str, Json], brief: Mapping[str, Json], item: str) -> str:
    """Return the place from which a robot can take the item: the storage, or a tool with only this item
    inside. Empty if there is none."""
    places: Mapping[str, str] = brief["locations"]
    if item in brief["base"]:
        return next(place for place, kind in places.items() if kind == "storage")
    lies = (place for place in places if list(seen["locations"][place]["items"]) == [item])
    return next((place for place in lies if places[place] != "servingtable"), "")


def task_progress(situation: Situation, now: CurrentWishes, at_jobs: Mapping[int, int]) -> TaskProgress:
    """Return the commands of the robots that wait or have a task. The newest message comes first; tasks of
    one message are done in order.

    `at_jobs` maps each robot with a job to the number of the job's message. Older tasks wait. A robot that
    holds something else is left to the planner, which puts it where it is needed.
    """
    made = TaskProgress(dict.fromkeys(sorted(now.stopped), NOOP))
    made.intents |= {seat: {"do": "wait"} for seat in made.commands}
    begun = set(made.commands)
    for wish in sorted(now.tasks, key=lambda one: -one.number):
        seats = [seat for seat in wish.meant(situation.seats) if at_jobs.get(seat, 0) < wish.number]
        for seat in seats[:1]:
            if _is_done(situation, seat, wish):
                made.done.append(wish)
            elif seat not in begun:
                _pursue(made, situation, seat, wish, now.of_seat(seat))
                begun.add(seat)
    return made


def _is_done(situation: Situation, seat: int, wish: Wish) -> bool:
    seen = situation.observations[seat]
    holds = seen["agents"][seat]["holds"] == wish.what
    if wish.do == FETCH:
        return bool(holds)
    if wish.do == MAKE:
        return holds or product_exists(seen, wish.what)
    if wish.do == FREE:
        place = seen["locations"][wish.what]
        return not place["items"] and not place["busy"]
    on_table = SeatPursuit(situation.briefs[seat], seen["locations"], seen["agents"][seat]).of_kind(
        "servingtable"
    )
    served = seen["delivered"].count(wish.what) > wish.mark
    return served or wish.what in seen["locations"][on_table]["items"]


def _pursue(made: TaskProgress, situation: Situation, seat: int, wish: Wish, reserved: CurrentWishes) -> None:
    """Add the robot's next command for a task, if it can work on it now."""
    command = _next_command(situation, seat, wish, reserved)
    if command is not None:
        made.commands[seat] = command if command in situation.legal[seat] else NOOP
        key = "to" if wish.do == FREE else "item"
        made.intents[seat] = {"do": wish.do, key: wish.what}


def _next_command(situation: Situation, seat: int, wish: Wish, reserved: CurrentWishes) -> Command | None:
    """Return the robot's next command for a task; None if the planner shall command it in this step. This is
    also so while a part of the task is reserved for somebody else."""
    way, seen = seat_pursuit(situation, seat), situation.observations[seat]
    if way.me["busy"]:
        return NOOP
    if wish.do in (FETCH, FREE) and way.me["holds"] is not None:
        return None
    if wish.do == FETCH:
        source = item_source(seen, situation.briefs[seat], wish.what)
        return _taking(way, source, wish.what) if source else None
    way = _with_reserved(way, wish, reserved)
    if wish.do == FREE:
        return way.free(wish.what)
    if not way.wants(wish.what):
        return None
    advice = way.next(wish.what)
    is_blocked = advice.aim["do"] == "wait" and bool(way.untaken or way.unmade)
    return None if is_blocked else advice.command


def _with_reserved(way: SeatPursuit, wish: Wish, reserved: CurrentWishes) -> SeatPursuit:
    """Return the kitchen without what the robot leaves alone. The product of the task itself is made."""
    recipes = way.brief["recipes"]
    by_tool = [product for product, recipe in recipes.items() if recipe["tool"] in reserved.tools]
    unmade = {*reserved.products, *reserved.dishes, *by_tool} - {wish.what}
    return replace(way, untaken=reserved.items - {wish.what}, unmade=unmade)


def _taking(way: SeatPursuit, source: str, item: str) -> Command:
    if way.me["at"] != source:
        return ("goto", source)
    return ("get", source, item)


def orders_without(orders: Sequence[Json], dishes: Collection[str]) -> list[Json]:
    """Return the orders of other dishes."""
    return [order for order in orders if order["dish"] not in dishes]
