"""What must be so for a robot to choose one of its aims as a skill. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kitchen.contract.skills import Condition, Sight, Skill
from kitchen.worlds.cuisine.aims import FETCH, FREE, MAKE, SERVE
from kitchen.worlds.cuisine.dispatcher.moment import agent_name


def conditions(sight: Sight, skill: Skill) -> Sequence[Condition]:
    """In the order in which they are to be looked at."""
    kind, what = skill
    return list(_OF[kind](sight, what))


def _serve(sight: Sight, dish: str) -> Iterator[Condition]:
    ordered = any(order["dish"] == dish for order in sight.seen["orders"])
    yield Condition("not_ordered", f"{dish} is on the list of orders", f"nobody has ordered {dish}.", ordered)


def _make(sight: Sight, item: str) -> Iterator[Condition]:
    places = sight.seen["locations"].values()
    made = any(place["items"] == [item] for place in places)
    claim, why_not = f"no tool has {item} in it", f"{item} is in a tool already; it can be fetched there."
    yield Condition("made_already", claim, why_not, not made)


def _fetch(sight: Sight, item: str) -> Iterator[Condition]:
    yield _hands(sight)
    lies = any(item in place["items"] for place in sight.seen["locations"].values())
    there = item not in sight.brief["recipes"] or lies
    claim = f"{item} is in the storage or lies somewhere"
    yield Condition("not_there", claim, f"there is no {item} yet; it has to be made first.", there)


def _free(sight: Sight, place: str) -> Iterator[Condition]:
    yield _hands(sight)
    there = sight.seen["locations"][place]
    yield Condition("is_empty", f"something lies in {place}", f"{place} is empty.", bool(there["items"]))
    at_work = f"{place} is at work for {there['busy']} more steps."
    yield Condition("is_busy", f"{place} is not at work", at_work, not there["busy"])


def _hands(sight: Sight) -> Condition:
    me, held = agent_name(sight.seat), sight.seen["agents"][sight.seat]["holds"]
    return Condition("hands_full", f"{me} holds nothing", f"{me} holds {held}.", held is None)


_OF = {SERVE: _serve, MAKE: _make, FETCH: _fetch, FREE: _free}
