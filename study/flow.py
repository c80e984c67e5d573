"""Which page comes next for a participant: the one place that knows the order of the study.

An episode that staff ended is over like any other: its survey follows, and the page says that it was ended.
Whoever came to an end in the midst of an episode (timed out, a technical reason) is led to the last page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kitchen.models import Episode
from study.blueprint import Blueprint
from study.models import Participant, Round

BEFORE = ("consent", "about", "guide", "practice", "check")
"""Pages before the rounds, in their order; each is there if its part is on."""
AFTER = ("final", "debriefing")
"""Pages after the rounds."""
ASKING = frozenset({"about", "check", "final"})
"""Pages made of items: without any item and any text there is nothing to show."""
WELCOME = "welcome"
"""The page on the study's link, before there is a participant: entering notes when it was shown."""
ROUND_PAGES = ("play", "survey")
LAST = "end"
PAGES = (*BEFORE, *ROUND_PAGES, *AFTER, LAST)
"""Every page behind a personal link, in order."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a participant is: `page` is one of `PAGES`; `round` for play and survey."""

    page: str
    round: Round | None = None
    total: int = 0
    """Rounds in the whole study."""

    @property
    def position(self) -> int:
        """Of the round; 0 outside of the rounds. Play and survey share it."""
        return self.round.position if self.round else 0


def place_of(participant: Participant) -> Place:
    """The page that this participant sees now, whatever link, tab or reload asked for it."""
    if participant.status != Participant.Status.ACTIVE:
        return Place(LAST)
    done = set(participant.visits.filter(done_at__isnull=False, position=0).values_list("page", flat=True))
    return place_among(
        participant.version.blueprint, done, participant.rounds.select_related("episode", "condition")
    )


def place_among(design: Blueprint, done: Collection[str], rounds: Iterable[Round]) -> Place:
    """The page of somebody who takes part: `done` are the pages outside of the rounds that are done, `rounds`
    all rounds in their order, with their episodes."""
    total = len(design.conditions)
    for page in BEFORE:
        if page not in done and is_shown(design, page):
            return Place(page, total=total)
    for found in rounds:
        if found.answered_at is None:
            return Place(_page(found), found, total)
    after = (page for page in AFTER if page not in done and is_shown(design, page))
    return Place(next(after, LAST), total=total)


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


def _page(found: Round) -> str:
    playing = found.episode is None or found.episode.status == Episode.Status.PLAYING
    return "play" if playing else "survey"
