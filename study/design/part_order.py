"""Define the order of the parts before the rounds: the usual one, or the one that researchers chose.

The consent always comes first. The module imports no Django.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PAGES_BEFORE_ROUNDS = ("consent", "about", "guide", "practice", "check")
"""Pages before the rounds, in their usual order. A page is shown if its part is on."""
PLAY_FIRST = ("consent", "practice", "about", "check")
"""The same in a study in which participants play before they read."""
PLAY_AFTER_ANSWERS = ("consent", "about", "practice", "check")
"""The same, if answers about the person decide what they play."""
FREE_PARTS = PAGES_BEFORE_ROUNDS[1:]
"""Parts whose order researchers choose, within limits (`order_problem`)."""
FIXED = {
    "consent": "Always first: nothing is asked before people agree.",
    "final": "Always after the rounds, because it compares them.",
    "debriefing": "Always after the last questions, so that it changes no answer.",
}
"""Why the other parts have a fixed place."""
CHECK_IS_LATE = "The check of understanding comes after guide and practice, because it asks about them."
ANSWERS_DECIDE = (
    "The questions about the person come before the practice, because the answers decide the group."
)


def plays_first(design: Any) -> bool:
    """Return True if participants play before they read. The guide is then no page of its own. `design` is a
    `Blueprint`."""
    practice = design.part("practice")
    return practice.enabled and bool(practice.settings.get("plays_first"))


def is_part_order(stored: str) -> bool:
    """Return whether a stored text names each free part once, or is empty for the usual order."""
    return not stored or sorted(stored.split()) == sorted(FREE_PARTS)


def parts_before_rounds(design: Any) -> tuple[str, ...]:
    """Return the consent and the parts before the rounds, in this design's order. A chosen order that is no
    longer possible is replaced by the usual one. `design` is a `Blueprint`."""
    usual: tuple[str, ...] = PAGES_BEFORE_ROUNDS
    if plays_first(design):
        usual = PLAY_AFTER_ANSWERS if needs_answers(design) else PLAY_FIRST
    chosen = ("consent", *(one for one in str(design.meant("part_order") or "").split() if one in usual))
    return chosen if len(chosen) == len(usual) and not order_problem(chosen, design) else usual


def needs_answers(design: Any) -> bool:
    """Return whether answers about the person decide the group between people."""
    return bool(design.groups and design.allocation.items)


def order_problem(order: Sequence[str], design: Any) -> str:
    """Return why the parts cannot have this order. Return an empty string if they can."""
    if set(order[order.index("check") :]) & {"guide", "practice"}:
        return CHECK_IS_LATE
    if needs_answers(design) and order.index("about") > order.index("practice"):
        return ANSWERS_DECIDE
    return ""


def with_part_before(design: Any, kind: str, before: str) -> tuple[str, ...]:
    """Return the parts' order with one part moved before another, or to the end if `before` is no part."""
    order = [one for one in parts_before_rounds(design) if one != kind]
    order.insert(order.index(before) if before in order else len(order), kind)
    return tuple(order)


def places_of_part(design: Any, kind: str) -> list[str]:
    """Return the parts before which this part can be moved, and `rounds` for the end, without its place of
    now. The result is empty for a part with a fixed place."""
    now = parts_before_rounds(design)
    if kind not in now or kind == "consent":
        return []
    targets = [*(one for one in now if one not in {"consent", kind}), "rounds"]
    orders = {target: with_part_before(design, kind, target) for target in targets}
    return [target for target, order in orders.items() if order != now and not order_problem(order, design)]


def stored_order(order: Sequence[str]) -> str:
    """Return an order as it is stored, with the parts that are no page of their own at the end."""
    shown = [one for one in order if one != "consent"]
    return " ".join([*shown, *(one for one in FREE_PARTS if one not in shown)])
