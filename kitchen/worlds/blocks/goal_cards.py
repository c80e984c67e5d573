"""Build the cards above the map that show what is wanted, each with the picture of its item.

They are the open orders, and the items to make or gather. What a building lacks is in `building_progress`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Json
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import ngettext
from kitchen.worlds.blocks.item_words import item_words

URGENT = 3
"""The number of steps from which an order is shown as urgent."""


class GoalCard(NamedTuple):
    """One thing that is wanted: its code, name, amount, and a remark such as the steps left."""

    kind: str
    name: str
    amount: int
    note: str = ""
    is_urgent: bool = False


class GoalCards(NamedTuple):
    """All cards of a seat, most urgent first."""

    cards: tuple[GoalCard, ...]


def goal_panel(view: SeatView) -> Panel:
    """Return the panel of the cards; without cards if nothing is wanted that this seat knows of."""
    return Panel("goals", "worlds/blocks/goals.jinja", GoalCards(tuple(goal_cards(view))))


def goal_cards(view: SeatView) -> Iterator[GoalCard]:
    """Yield a card for everything that is wanted now."""
    brief, seen = view.brief, view.observation
    for order in seen.get("orders", ()):
        left = order["steps_left"]
        note = ngettext("{n} step left", "{n} steps left", left).format(n=left)
        yield _card(order["dish"], 1, note, is_urgent=left <= URGENT)
    for item, amount in _wanted_items(brief).items():
        yield _card(item, amount)


def _wanted_items(brief: Mapping[str, Json]) -> Mapping[str, int]:
    """Return the items that the players are to hold in the end, with their amounts."""
    if "target" in brief:
        wanted: Mapping[str, int] = brief["target"]
        return wanted
    if "targets" in brief:
        return Counter(brief["targets"])
    return {brief["item"]: brief["amount"]} if "item" in brief else {}


def _card(kind: str, amount: int, note: str = "", *, is_urgent: bool = False) -> GoalCard:
    return GoalCard(kind, sentence_case(item_words(kind)), amount, note, is_urgent)
