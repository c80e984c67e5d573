"""What is ordered, and how far it has come: points, soups, ticks left. Plain Python."""

from __future__ import annotations

from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.worlds.overcooked.words import duration, listed

_TEMPLATES = "worlds/overcooked"


class Order(NamedTuple):
    """A soup that is worth something; `parts` by their pictures, `name` in words."""

    parts: tuple[str, ...]
    name: str
    points: int
    time: str
    """Of cooking, in words."""
    bonus: bool


class Orders(NamedTuple):
    """All of them: they stand for the whole episode."""

    orders: tuple[Order, ...]


class Score(NamedTuple):
    """So far, and how many ticks are left; `tick_ms` is 0 where they wait for everybody."""

    points: int
    soups: int
    left: int
    tick_ms: int


def orders(view: SeatView) -> Panel:
    """What is ordered."""
    shows = tuple(
        Order(
            tuple(each["ingredients"]),
            listed(each["ingredients"]),
            each["points"],
            duration(each["ticks"], view.brief),
            each["bonus"],
        )
        for each in view.brief["orders"]
    )
    return Panel("orders", f"{_TEMPLATES}/orders.jinja", Orders(shows))


def score(view: SeatView) -> Panel:
    """How far it has come."""
    seen = view.observation
    tick_ms = view.brief["tick_ms"] if view.brief["clock"] == "tick" else 0
    shows = Score(seen["points"], seen["soups"], seen["ticks_left"], tick_ms)
    return Panel("score", f"{_TEMPLATES}/score.jinja", shows)
