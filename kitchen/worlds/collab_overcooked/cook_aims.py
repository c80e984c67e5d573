"""Define the aims (goals) that others can ask a Collab-Overcooked cook to reach, and check their status.

`World.aims` lists the aims. `bring` is reached when the thing is on a shared counter. `put_in` is reached
when the utensil contains the thing, and `serve` when the cook has delivered. A verb that starts a utensil is
also an aim. The aims are the same in every task, so they do not reveal the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Command, Json
from kitchen.worlds.collab_overcooked.food_rules import DISH, FoodRules, base_food, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import DELIVER, STARTED_BY, KitchenThings
from kitchen.worlds.collab_overcooked.room_layout import CHEF, OWN_UTENSILS

BRING, PUT_IN, SERVE = "bring", "put_in", "serve"


@cache
def seat_aims(seat: int) -> tuple[Aim, ...]:
    """Return all aims that others can ask the cook in this seat to reach."""
    rules, own = food_rules(), OWN_UTENSILS[seat]
    stored = () if seat == CHEF else (*rules.raw, DISH)
    made = (product for name in own for product in sorted(rules.made_in(name)))
    return (
        *((BRING, thing) for thing in (*stored, *made)),
        *((PUT_IN, thing, name) for name in own for thing in sorted(rules.taken_by(name))),
        *((verb, name) for verb, name in STARTED_BY.items() if name in own),
        *((SERVE, name) for name in own if seat == CHEF),
    )


def aim_mark(done: Sequence[Command], aim: Aim) -> Json:
    """Return a count that `aim_status` compares later. For the aim `serve`, it is how often the cook has
    already delivered. For an aim that starts a utensil, it is how often the cook has already started the
    utensil.

    Return None for `bring` and `put_in`, whose state is visible. `done` lists the cook's macros that took
    effect.
    """
    return done.count(_last_macro(aim)) if aim[0] == SERVE or aim[0] in STARTED_BY else None


def _last_macro(aim: Aim) -> Command:
    return (DELIVER,) if aim[0] == SERVE else aim


def aim_status(things: KitchenThings, done: Sequence[Command], aim: Aim, since: Json) -> str:
    """Return SUCCESS if the cook's aim is reached, FAIL if it cannot be reached, else UNKNOWN.

    Only `bring` and `put_in` can fail: if the thing does not exist and cannot be made from one existing
    thing. `done` lists the cook's macros that took effect. `since` is what `aim_mark` returned when the
    aim was given.
    """
    kind, what = aim[0], aim[1]
    if kind == BRING:
        reached = bool(things.lies_on(what, things.layout.shared))
    elif kind == PUT_IN:
        reached = what in things.utensils[aim[2]].contents
    else:
        runs = kind in STARTED_BY and things.utensils[what].ticks > 0
        return SUCCESS if runs or done.count(_last_macro(aim)) > since else UNKNOWN
    if reached:
        return SUCCESS
    source = made_of_one(things.rules, what)
    is_there = _exists(things, what) or (source is not None and _exists(things, source.part))
    return UNKNOWN if is_there else FAIL


class SingleSource(NamedTuple):
    """The only ingredient (`part`) of a product, and the utensil that makes the product."""

    utensil: str
    part: str


def made_of_one(rules: FoodRules, product: str) -> SingleSource | None:
    """Return the ingredient and the utensil of a product with a single ingredient; None for other
    products."""
    found = (
        SingleSource(utensil, inside[0])
        for (utensil, inside), made in rules.rows.items()
        if made == product and len(inside) == 1
    )
    return next(found, None)


def _exists(things: KitchenThings, thing: str) -> bool:
    """Return whether this thing is somewhere in the kitchen or is being made."""
    utensils = things.utensils.items()
    return (
        thing == DISH
        or thing in things.rules.raw
        or any(each is not None and base_food(each) == thing for each in (*things.hold, *things.counters))
        or any(thing == each.ready or thing in each.contents for _, each in utensils)
        or any(things.rules.product(name, each.contents) == thing for name, each in utensils)
    )
