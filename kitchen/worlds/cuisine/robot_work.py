"""Find what each robot works on, and for which open order, from what everybody sees.

A robot works on the item that it holds, on what its tool makes, or on what it has just put into a tool. The
orders are counted as on the tickets: what a robot does is for the most urgent order that needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page_view import SeatView
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.cuisine import task_graph
from kitchen.worlds.cuisine.display_text import BriefLookup, product_from
from kitchen.worlds.cuisine.order_tickets import items_in_kitchen


class RobotWork(NamedTuple):
    """The item that a robot works on, and the ordered dish that needs it."""

    item: str
    dish: str
    holds: bool
    """True if the robot holds the item. Else its tool makes it."""


def robots_at_work(view: SeatView, lookup: BriefLookup) -> Mapping[int, RobotWork]:
    """Return the work of each robot that works for an open order, by seat."""
    found = dict(_at_tools(view, lookup))
    agents, stock = view.observation["agents"], items_in_kitchen(view)
    for order in view.observation["orders"]:
        dish = order["dish"]
        states = task_graph.items_present(dish, lookup.brief["recipes"], stock.there, stock.making)
        for item in (item for item, state in states.items() if state != "past"):
            if (seat := stock.whose(item)) is not None:
                found[seat] = RobotWork(item, dish, bool(agents[seat]["holds"]))
    return found


def _at_tools(view: SeatView, lookup: BriefLookup) -> Iterator[tuple[int, RobotWork]]:
    """Yield the work of robots that put something into the tool at their place, or used it, in the last
    step."""
    kinds, orders = lookup.brief["locations"], [order["dish"] for order in view.observation["orders"]]
    for event in view.history[0].events if view.history else ():
        command: Sequence[str] = event.data.get("command", ())
        verb, place, *_ = (*command, "", "")
        if event.kind != "performed" or verb not in ("put", "activate") or event.seat is None:
            continue
        agent, items = view.observation["agents"][event.seat], view.observation["locations"][place]["items"]
        if agent["holds"] or not items or kinds[place] in ("storage", "servingtable"):
            continue
        item = product_from(lookup.brief, kinds[place], items) or items[0]
        if dish := next((dish for dish in orders if _needs(dish, item, lookup)), ""):
            yield event.seat, RobotWork(item, dish, holds=False)


def _needs(dish: str, item: str, lookup: BriefLookup) -> bool:
    """Return whether the item is the dish, or goes into it."""
    return any(item in (product, *parts) for product, _, parts in lookup.recipes[dish])


def work_text(work: RobotWork, lookup: BriefLookup) -> str:
    """Return the work in words: `for tuna sushi`, `makes cooked rice for tuna sushi`."""
    words = lookup.words
    if work.holds or work.item == work.dish:
        return gettext("for {dish}").format(dish=words.mid(work.dish))
    text = gettext("makes {item} for {dish}")
    return text.format(item=words.mid(work.item), dish=words.mid(work.dish))
