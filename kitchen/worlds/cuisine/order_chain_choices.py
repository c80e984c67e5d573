"""Describe the chains of commands for the orders (`order_chains`) as choices of the menu: text, picture, for
which order, how long, and where on the page a press means the choice."""

from __future__ import annotations

from typing import NamedTuple

from kitchen.contract.page import SeatView
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
)
from kitchen.worlds.cuisine.order_tickets import ticket_ids
from kitchen.worlds.cuisine.serving_highlights import CLOSE_CALL


class ChainChoice(NamedTuple):
    """One chain as a choice of the menu."""

    commands: tuple[Command, ...]
    text: str
    picture: str
    note: str
    """For which dish it is, and how long it takes."""
    haste: str
    """`late` or `close` if the order is served too late with it, or just in time. Empty for other chains."""
    places: tuple[str, ...]
    """Where a press means this choice: the order's ticket, the guests, and the tool with a ready dish."""


def chain_choices(view: SeatView, lookup: BriefLookup) -> tuple[ChainChoice, ...]:
    """Return the chains that this view offers, the most urgent order first."""
    orders = view.observation["orders"]
    cookable = [order for order in orders if order["dish"] not in lookup.brief["uncookable"]]
    tickets = dict(zip(map(id, orders), ticket_ids(orders, view.step, lookup), strict=True))
    choices = []
    for chain in order_chains(view, lookup):
        order = None if chain.order is None or not cookable else cookable[chain.order]
        spare = order["life"] - chain.steps if order and chain.deed in (SERVE, COOK) else None
        places = (tickets[id(order)],) if order else ()
        haste = "" if spare is None or spare > CLOSE_CALL else "late" if spare < 0 else "close"
        choices.append(
            ChainChoice(
                chain.commands,
                _text(chain, lookup),
                picture_of(chain.item) if chain.item else "",
                _note(chain, haste, lookup),
                haste,
                (*places, *_also(chain, lookup)) if order else (),
            )
        )
    return tuple(choices)


def _also(chain: OrderChain, lookup: BriefLookup) -> tuple[str, ...]:
    """Return the places of the drawing that stand for the chain: the guests if it serves, and a tool with a
    ready dish."""
    if chain.deed not in (SERVE, COOK):
        return ()
    table = next(place for place, kind in lookup.brief["locations"].items() if kind == "servingtable")
    ready = [command[1] for command in chain.commands if command[0] == "get"] if chain.deed == SERVE else []
    return (table, *ready)


def _text(chain: OrderChain, lookup: BriefLookup) -> str:
    """Return what the chain comes to, such as `Make tuna sashimi`."""
    text = {
        SERVE: gettext("Serve {item}"),
        COOK: gettext("Make and serve {item}"),
        MAKE: gettext("Make {item}"),
        ADD: gettext("Add {item}"),
        CLEAR: gettext("Clear away {item}"),
    }.get(chain.deed, gettext("Take {item}"))
    return join_sentence(text.format(item=lookup.words.mid(chain.item)))


def _note(chain: OrderChain, haste: str, lookup: BriefLookup) -> str:
    """Return for which dish the chain is, how many steps it takes, and whether it comes in time."""
    steps = steps_text(chain.steps)
    if haste == "late":
        return gettext("{steps}: too late for this guest").format(steps=steps)
    if haste == "close":
        return gettext("{steps}: just in time").format(steps=steps)
    if chain.deed in (SERVE, COOK):
        return steps
    text = gettext("Cook ahead, {steps}") if chain.order is None else gettext("For {dish}, {steps}")
    return text.format(dish=lookup.words.mid(chain.dish), steps=steps)
