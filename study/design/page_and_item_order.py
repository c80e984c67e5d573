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
from study.design.own_pages import FIRST_ROUND, PREFIX, OwnPagePlan, pages_at, round_after, with_own_pages
from study.design.part_order import PAGES_BEFORE_ROUNDS, parts_before_rounds
from study.design.questions.item_fields import ItemPlan

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


def pages_before_rounds(design: Blueprint) -> tuple[str, ...]:
    """Return the pages before the rounds, in this design's order."""
    order = parts_before_rounds(design)
    return with_own_pages(design.pages, order, FIRST_ROUND) if design.pages else order


def pages_before_round(design: Blueprint, number: int) -> list[str]:
    """Return the pages between the round before and the round `number`. The first round has none."""
    return pages_at(design.pages, f"round-{number}") if number > 1 else []


def pages_after_rounds(design: Blueprint) -> tuple[str, ...]:
    """Return the pages after the rounds, in this design's order. Pages before a round that nobody plays come
    first."""
    if not design.pages:
        return PAGES_AFTER_ROUNDS
    late = (one.page for one in design.pages if round_after(one.before) > design.rounds)
    return (*late, *with_own_pages(design.pages, PAGES_AFTER_ROUNDS, LAST))


@dataclass(frozen=True, slots=True)
class Progress:
    """A participant's progress: part `number` of `total`, and the part's name. A round counts as one part."""

    number: int
    total: int
    name: str


def progress(design: Blueprint, page: str, *, position: int = 0, label: str = "") -> Progress | None:
    """Return the participant's progress in the study on this page. Return None for a page at the end of the
    study.

    Pages at which the study ends for some people do not count.

    For a page of a round, pass the round's position (from 1) and `label`, the team's name as shown to
    participants.
    """
    before, after = (
        [one for one in pages if is_shown(design, one)]
        for pages in (pages_before_rounds(design), pages_after_rounds(design))
    )
    rounds: list[str | int] = []
    for number in range(1, design.rounds + 1):
        rounds += [*pages_before_round(design, number), number]
    ends = {one.page for one in design.pages if one.ends}
    order: list[str | int] = [one for one in (*before, *rounds, *after) if one not in ends]
    here = position or page
    if here not in order:
        return None
    return Progress(order.index(here) + 1, len(order), label if position else page_title(design, page))


def own_page(design: Blueprint, page: str) -> OwnPagePlan | None:
    """Return the page that researchers wrote, by the name of the participant's page. Return None for another
    page."""
    return next((one for one in design.pages if one.page == page), None)


def page_title(design: Blueprint, page: str) -> str:
    """Return the heading of a page outside the rounds."""
    own = own_page(design, page)
    return own.title if own else design.part(page).title


def is_shown(design: Blueprint, page: str) -> bool:
    """Return True if participants see this page. Its part must be enabled, and the page must have a text or
    items. A page that researchers wrote is always shown, unless its rule leaves it out for somebody."""
    if page.startswith(PREFIX):
        return True
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
