"""Which page comes next for a participant: the one place that knows the order of the study.

An episode that staff ended is over like any other: its survey follows, and the page says that it was ended.
Whoever came to an end in the midst of an episode (timed out, a technical reason) is led to the last page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kitchen.play.models import Episode
from study.design.blueprint import Blueprint
from study.design.way import AFTER, BEFORE, LAST, is_shown
from study.people.models import Participant, Round


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


def _page(found: Round) -> str:
    playing = found.episode is None or found.episode.status == Episode.Status.PLAYING
    return "play" if playing else "survey"
