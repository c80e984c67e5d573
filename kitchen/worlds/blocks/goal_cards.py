"""Build the cards above the map that show what is wanted, each with the picture of its item.

They are the open orders, the items to make or gather, or the blocks that the lowest unfinished level of the
building lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Json
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext, ngettext
from kitchen.worlds.blocks.block_grid import AIR
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
    if seen.get("differences"):
        note = gettext("for level {level}").format(level=seen["level"] + 1)
        missing = Counter(wanted for _, _, wanted, _ in seen["differences"] if wanted != AIR)
        for block, amount in missing.most_common():
            yield _card(block, amount, note)


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
