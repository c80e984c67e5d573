"""The pages of a study in their order, and how far along a page is."""

from __future__ import annotations

from dataclasses import dataclass

from study.design.blueprint import Blueprint

BEFORE = ("consent", "about", "guide", "practice", "check")
"""Pages before the rounds, in their order; each is there if its part is on."""


AFTER = ("final", "debriefing")
"""Pages after the rounds."""


ASKING = frozenset({"about", "check", "final"})
"""Pages made of items: without any item and any text there is nothing to show."""


WELCOME = "welcome"
"""The page on the study's link, before there is a participant: entering notes when it was shown."""


ROUND_PAGES = ("play", "survey")


WAITING = "waiting"
"""Before a round that cannot begin yet."""


LAST = "end"


LOBBY = "lobby"
"""Before the episode of a round that several people play together."""


PAGES = (*BEFORE, LOBBY, WAITING, *ROUND_PAGES, *AFTER, LAST)
"""Every page behind a personal link, in order."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far somebody is: the `number`-th of `total` parts, and what it is called. A round is one part."""

    number: int
    total: int
    name: str


def progress(design: Blueprint, page: str, *, position: int = 0, label: str = "") -> Progress | None:
    """How far a page is; for those of a round, its position and the label of its team. None at the end."""
    before, after = ([one for one in pages if is_shown(design, one)] for pages in (BEFORE, AFTER))
    total = len(before) + len(design.conditions) + len(after)
    if position:
        return Progress(len(before) + position, total, label)
    if page in before:
        return Progress(before.index(page) + 1, total, design.part(page).title)
    if page in after:
        return Progress(total - len(after) + after.index(page) + 1, total, design.part(page).title)
    return None


def is_shown(design: Blueprint, page: str) -> bool:
    """Whether a part is on and has something to show."""
    part = design.part(page)
    empty = page in ASKING and not design.items_at(page) and not (part.text.strip() and page != "check")
    return part.enabled and not empty
