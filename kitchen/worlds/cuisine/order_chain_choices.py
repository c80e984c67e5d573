"""Describe the chains of commands for the orders (`order_chains`) as choices of the menu: text, picture, for
which order, how long, and where on the page a press means the choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.cuisine.display_text import BriefLookup, join_sentence, picture_of, steps_text
from kitchen.worlds.cuisine.order_chains import (
    ADD,
    CLEAR,
    COOK,
    MAKE,
    SERVE,
    OrderChain,
    order_chains,
    place_on_tickets,
    steps_after,
)
from kitchen.worlds.cuisine.order_steps import idle_robots
from kitchen.worlds.cuisine.order_tickets import ticket_ids
from kitchen.worlds.cuisine.serving_highlights import CLOSE_CALL

LATE, CLOSE = "late", "close"
"""The values of `ChainChoice.haste`."""


class ChainChoice(NamedTuple):
    """One chain as a choice of the menu."""

    commands: tuple[Command, ...]
    text: str
    picture: str
    note: str
    """For which dish it is, how many steps of the guest's patience it takes, and which robot does it
    already."""
    haste: str
    """`late` or `close` if the order is served too late with it, or just in time. Empty for other chains."""
    places: tuple[str, ...]
    """Where a press means this choice: the order's ticket, the guests if it serves, and the tool with a ready
    dish."""
    taken: bool = False
    """True if another robot does it already."""


def chain_choices(view: SeatView, lookup: BriefLookup) -> tuple[ChainChoice, ...]:
    """Return the chains that this view offers, in the order of the tickets. What comes too late is last."""
    orders = view.observation["orders"]
    cookable = [order for order in orders if order["dish"] not in lookup.brief["uncookable"]]
    tickets = dict(zip(map(id, orders), ticket_ids(orders, view.step, lookup), strict=True))
    life = [order["life"] for order in cookable]
    round_left = max(0, int(lookup.brief["max_steps"]) - view.step)
    chains = [_in_time(chain, life, round_left, lookup) for chain in order_chains(view, lookup)]
    choices = []
    for chain in sorted(chains, key=lambda chain: place_on_tickets(chain, lookup)):
        order = None if chain.order is None or not cookable else cookable[chain.order]
        patience = order["life"] if order else None
        doer = robot_at_work(chain, view, lookup)
        haste = _haste(chain, patience, round_left, lookup)
        places = (tickets[id(order)], *_also(chain, lookup)) if order and not doer and haste != LATE else ()
        choices.append(
            ChainChoice(
                chain.commands,
                _text(chain, lookup),
                picture_of(chain.item) if chain.item else "",
                _note(chain, haste, patience, doer, lookup),
                haste,
                places,
                bool(doer),
            )
        )
    return tuple(sorted(choices, key=lambda choice: choice.haste == LATE))


def _in_time(chain: OrderChain, life: Sequence[int], round_left: int, lookup: BriefLookup) -> OrderChain:
    """Return the chain for the first order that it can still serve in time. Without one, return it as it
    is."""
    ways = [chain, *(chain._replace(order=order, dish=dish) for order, dish in chain.others)]
    in_time = (
        way
        for way in ways
        if _haste(way, life[way.order] if way.order is not None and life else None, round_left, lookup)
        != LATE
    )
    return next(in_time, chain)


def _haste(chain: OrderChain, patience: int | None, round_left: int, lookup: BriefLookup) -> str:
    """Return `LATE` if the dish cannot be served in time any more, `CLOSE` if it is served just in time."""
    left = round_left if patience is None else min(patience, round_left)
    spare = left - chain.steps - steps_after(chain, lookup)
    if spare < 0:
        return LATE
    return CLOSE if patience is not None and chain.deed in (SERVE, COOK) and spare <= CLOSE_CALL else ""


def robot_at_work(chain: OrderChain, view: SeatView, lookup: BriefLookup) -> str:
    """Return what another robot does already so that the chain is needless: `Robot 2 brings rice`. Empty if
    none does."""
    recipes, idle = lookup.brief["recipes"], idle_robots(view)
    parts = recipes[chain.item]["ingredients"] if chain.item in recipes else ()
    begun = {command[1] for command in chain.commands[:2] if command[0] == "activate"}
    words = lookup.words
    for player in view.players:
        agent = view.observation["agents"][player.seat]
        if player.seat == view.seat or player.seat in idle:
            continue
        if chain.again and agent["holds"] in (chain.item, *parts):
            text = gettext("{robot} brings {item}")
            return join_sentence(text.format(robot=player.name, item=words.mid(agent["holds"])))
        if chain.deed in (MAKE, COOK) and agent["at"] in begun and not agent["holds"]:
            text = gettext("{robot} already makes {item}")
            return join_sentence(text.format(robot=player.name, item=words.mid(chain.item)))
    return ""


def _also(chain: OrderChain, lookup: BriefLookup) -> tuple[str, ...]:
    """Return the places of the drawing that stand for the chain: the guests if it serves, and a tool with a
    ready dish."""
    if chain.deed not in (SERVE, COOK):
        return ()
    table = next(place for place, kind in lookup.brief["locations"].items() if kind == "servingtable")
    ready = [command[1] for command in chain.commands if command[0] == "get"] if chain.deed == SERVE else []
    return (table, *ready)


def _text(chain: OrderChain, lookup: BriefLookup) -> str:
    """Return the result of the chain in words, such as `Make tuna sashimi`."""
    text = {
        SERVE: gettext("Serve {item}"),
        COOK: gettext("Make and serve {item}"),
        MAKE: gettext("Make {item}"),
        ADD: gettext("Add {item}"),
        CLEAR: gettext("Clear away {item}"),
    }.get(chain.deed, gettext("Take {item}"))
    return join_sentence(text.format(item=lookup.words.mid(chain.item)))


def _note(chain: OrderChain, haste: str, patience: int | None, doer: str, lookup: BriefLookup) -> str:
    """Return for which dish the chain is, how many of the guest's steps it takes, and who does it already."""
    steps = steps_text(chain.steps)
    if haste == LATE:
        return gettext("{steps}: too late now").format(steps=steps)
    if haste == CLOSE:
        return gettext("{steps}: just in time").format(steps=steps)
    if chain.order is None or patience is None:
        cost = gettext("Cook ahead, {steps}").format(steps=steps)
    elif chain.deed in (SERVE, COOK):
        cost = gettext("{number} of the guest's {left} steps").format(number=chain.steps, left=patience)
    else:
        text = gettext("For {dish}: {number} of {left} steps")
        cost = text.format(dish=lookup.words.mid(chain.dish), number=chain.steps, left=patience)
    return gettext("{robot_does}. {cost}").format(robot_does=doer, cost=cost) if doer else cost
