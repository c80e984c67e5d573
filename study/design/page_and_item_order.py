"""Define the order of a study's pages and of the survey items on each page.

The module also computes a participant's progress: the number of the current part, and of all parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from kitchen.contract.canonical_json import derived_seed
from study.design.blueprint import Blueprint
from study.design.questions.item_fields import ItemPlan

PAGES_BEFORE_ROUNDS = ("consent", "about", "guide", "practice", "check")
"""Pages before the rounds, in their usual order. A page is shown if its part is on."""
PLAY_FIRST = ("consent", "practice", "about", "check")
"""The same in a study in which participants play before they read."""
PLAY_AFTER_ANSWERS = ("consent", "about", "practice", "check")
"""The same, if answers about the person decide what they play."""


PAGES_AFTER_ROUNDS = ("final", "debriefing")
"""Pages after the rounds."""


ITEM_PAGES = frozenset({"about", "check", "final"})
"""Pages that consist of items. A page without items and text has nothing to show and is skipped."""


WELCOME = "welcome"
"""The page of the study's link, before there is a participant. Entering records when it was shown."""


ROUND_PAGES = ("play", "survey")


WAITING = "waiting"
"""The page before a round that cannot begin yet."""


LAST = "end"


LOBBY = "lobby"
"""The page before an episode that several people play together."""


READY = "ready"
"""The card before an episode, in conditions that have one."""


PAGES = (*PAGES_BEFORE_ROUNDS, LOBBY, WAITING, READY, *ROUND_PAGES, *PAGES_AFTER_ROUNDS, LAST)
"""Every page behind a personal link, in order."""


def plays_first(design: Blueprint) -> bool:
    """Return True if participants play before they read. The guide is then no page of its own."""
    practice = design.part("practice")
    return practice.enabled and bool(practice.settings.get("plays_first"))


def pages_before_rounds(design: Blueprint) -> tuple[str, ...]:
    """Return the pages before the rounds, in this design's order."""
    if not plays_first(design):
        return PAGES_BEFORE_ROUNDS
    needs_answers = design.groups and design.allocation.items
    return PLAY_AFTER_ANSWERS if needs_answers else PLAY_FIRST


@dataclass(frozen=True, slots=True)
class Progress:
    """A participant's progress: part `number` of `total`, and the part's name. A round counts as one part."""

    number: int
    total: int
    name: str


def progress(design: Blueprint, page: str, *, position: int = 0, label: str = "") -> Progress | None:
    """Return the participant's progress in the study on this page. Return None for a page at the end of the
    study.

    For a page of a round, pass the round's position (from 1) and `label`, the team's name as shown to
    participants.
    """
    before, after = (
        [one for one in pages if is_shown(design, one)]
        for pages in (pages_before_rounds(design), PAGES_AFTER_ROUNDS)
    )
    total = len(before) + design.rounds + len(after)
    if position:
        return Progress(len(before) + position, total, label)
    if page in before:
        return Progress(before.index(page) + 1, total, design.part(page).title)
    if page in after:
        return Progress(total - len(after) + after.index(page) + 1, total, design.part(page).title)
    return None


def is_shown(design: Blueprint, page: str) -> bool:
    """Return True if participants see this page. Its part must be enabled, and the page must have a text or
    items."""
    part = design.part(page)
    empty = page in ITEM_PAGES and not design.items_at(page) and not (part.text.strip() and page != "check")
    return part.enabled and not empty


def items_for(design: Blueprint, page: str, number: int, condition: str = "") -> list[ItemPlan]:
    """Return the items of a page in the order for the participant with this number.

    If `condition` (a condition's key) is given, only items that are asked after its episodes are returned.
    The order is the same after each episode.
    """
    items = design.items_at(page)
    if page == "survey" and design.study["shuffle_items"]:
        items = shuffled(items, derived_seed(int(design.study["seed"]), "items", page, number))
    asked = design.items_after(condition) if condition else items
    return [_with_options_in_order(design, item, number) for item in items if item in asked]


def _with_options_in_order(design: Blueprint, item: ItemPlan, number: int) -> ItemPlan:
    """Return the item with its options, and their translations, in the order for this participant."""
    if not item.shuffled:
        return item
    order = list(range(len(item.options)))
    Random(derived_seed(int(design.study["seed"]), "options", item.key, number)).shuffle(order)  # noqa: S311
    update = {name: [given[place] for place in order] for name, given in item.option_lists().items()}
    return item.model_copy(update=update)


def shuffled(items: Sequence[ItemPlan], seed: int) -> list[ItemPlan]:
    """Return the items in a random order that the seed determines.

    Items of the same sub-scale stay next to each other, because they have the same kind of answer scale. So
    do those of the same table.
    """
    rng, units = Random(seed), defaultdict[tuple[str, str], list[ItemPlan]](list)  # noqa: S311 - not a secret
    for item in items:
        together = ("table", item.table) if item.table else ("scale", item.scale)
        units[together if together[1] else ("item", item.key)].append(item)
    order = list(units.values())
    rng.shuffle(order)
    for unit in order:
        rng.shuffle(unit)
    return [item for unit in order for item in unit]
