"""What must be so for a seat to choose a skill, and when it is done. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.contract.skills import Condition, Skill
from kitchen.contract.world import SUCCESS, UNKNOWN, Json
from kitchen.worlds.overcooked.skilled.moment import Moment
from kitchen.worlds.overcooked.skilled.named import DELIVER, FILL, PICKUP, PLACE, PUT, SOUP, START
from kitchen.worlds.overcooked.skilled.words import name, thing
from kitchen.worlds.overcooked.things import DISH


def conditions(moment: Moment, skill: Skill) -> Iterator[Condition]:
    """In the order in which they are to be looked at."""
    verb = skill[0]
    if verb == PICKUP:
        yield from _pickup(moment, skill[1])
    elif verb == PLACE:
        yield from _place(moment)
    elif verb == FILL:
        yield _holds(moment, DISH, moment.held == DISH)
        yield _some("not_started", "pot that was started", moment.started_pots())
    elif verb == DELIVER:
        yield _holds(moment, SOUP, isinstance(moment.held, tuple))
        yield _some("no_serving", "place to serve that can be reached", moment.serving())
    elif verb == START:
        yield _empty(moment)
        yield _some("no_order", "pot that holds what is ordered and is not started", moment.startable_pots())
    else:
        food = next(food for food, put in PUT.items() if put == verb)
        yield _holds(moment, food, moment.held == food)
        yield _some("no_pot", "pot that is not full and not started", moment.open_pots())


def _pickup(moment: Moment, what: str) -> Iterator[Condition]:
    yield _empty(moment)
    yield _some("not_there", f"{what} that can be reached", moment.sources(what))


def _place(moment: Moment) -> Iterator[Condition]:
    me = name(moment.seat)
    yield Condition("hands_empty", f"{me} holds something", f"{me} holds nothing.", moment.held is not None)
    yield _some("no_counter", "counter that is free", moment.free_counters())


def _empty(moment: Moment) -> Condition:
    me, held = name(moment.seat), moment.held
    return Condition("hands_full", f"{me} holds nothing", f"{me} holds {thing(held)} already.", held is None)


def _holds(moment: Moment, what: str, holds: bool) -> Condition:
    me = name(moment.seat)
    return Condition(f"no_{what}", f"{me} holds {thing(what)}", f"{me} holds {thing(moment.held)}.", holds)


def _some(code: str, what: str, found: object) -> Condition:
    return Condition(code, f"there is some {what}", f"there is no {what}.", bool(found))


def status(moment: Moment, skill: Skill, since: Json) -> str:
    """SUCCESS or UNKNOWN; `since` are the pots that could be started when it began."""
    held, verb = moment.held, skill[0]
    if verb == PICKUP:
        done = held == skill[1]
    elif verb == FILL:
        done = isinstance(held, tuple)
    elif verb == START:
        done = any(list(cell) not in map(list, moment.startable_pots()) for cell in since)
    else:
        done = held is None
    return SUCCESS if done else UNKNOWN
