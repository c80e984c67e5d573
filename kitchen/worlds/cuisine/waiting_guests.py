"""Build the panels of the guests that the drawing of the kitchen shows behind the serving table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.worlds.cuisine.activity_text import dishes_with_event
from kitchen.worlds.cuisine.display_text import BriefLookup, picture_of
from kitchen.worlds.cuisine.order_tickets import guest_look, is_late, lost_tickets, ticket_ids

_TEMPLATES = "worlds/cuisine"


class Guest(NamedTuple):
    """One guest."""

    dish: str
    """The picture of the ordered dish."""
    mood: str
    """`calm`, or `late` if the order runs out soon. In the step after the order ended, `happy` or `sad`."""
    look: int
    """The number of the drawing, from 1."""


def guest_panels(view: SeatView, lookup: BriefLookup) -> tuple[Panel, ...]:
    """Return a panel for each guest: first those who leave because the last step served or missed their
    orders, then one for each open order, the most urgent first.

    The id of a panel is `g` and the id of the order's ticket. The ticket of an order that was served is not
    known, so the panel's id has the step instead.
    """
    guests = (*_leaving(view, lookup), *_waiting(view, lookup))
    return tuple(Panel(f"g{name}", f"{_TEMPLATES}/guest.jinja", guest) for name, guest in guests)


def _leaving(view: SeatView, lookup: BriefLookup) -> Iterator[tuple[str, Guest]]:
    for number, dish in enumerate(dishes_with_event(view, "completed").elements()):
        yield f"{view.step}-{number}", Guest(picture_of(dish), "happy", 1)
    for ticket, dish in lost_tickets(view, lookup):
        yield ticket, Guest(picture_of(dish), "sad", guest_look(view.step - 1, dish, lookup))


def _waiting(view: SeatView, lookup: BriefLookup) -> Iterator[tuple[str, Guest]]:
    orders = view.observation["orders"]
    for order, ticket in zip(orders, ticket_ids(orders, view.step, lookup), strict=True):
        dish, end = order["dish"], view.step + order["life"]
        mood = "late" if is_late(order, lookup.brief) else "calm"
        yield ticket, Guest(picture_of(dish), mood, guest_look(end, dish, lookup))
