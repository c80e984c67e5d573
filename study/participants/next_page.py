"""Find the page that a participant sees next. It is the only module that decides this.

An episode that staff stopped counts as over: its survey follows. A participant who timed out or was
stopped during an episode sees the last page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kitchen.play.models import Episode
from study.design.blueprint import Blueprint
from study.design.condition_plan import is_shared
from study.design.page_and_item_order import LAST, PAGES_AFTER_ROUNDS, PAGES_BEFORE_ROUNDS, is_shown
from study.participants.models import Participant, Round


@dataclass(frozen=True, slots=True)
class CurrentPage:
    """Where a participant is: `page` is one of `PAGES`; `round` for play and survey, and while a round that
    has no episode waits for it."""

    page: str
    round: Round | None = None
    total: int = 0
    """Rounds in the whole study."""
    rounds: Sequence[Round] = ()
    """This participant's, in their order; none once the way is over."""

    @property
    def position(self) -> int:
        """Of the round; 0 outside of the rounds. Play and survey share it."""
        return self.round.position if self.round else 0


class ParticipantProgress:
    """One participant's way as it is stored, read when it is needed and only once. Who changes it (a page is
    done, a round answered) changes it here, too: `place` follows."""

    def __init__(self, participant: Participant) -> None:
        self.participant = participant

    @cached_property
    def rounds(self) -> list[Round]:
        """All rounds in their order, with their episodes and conditions."""
        return list(self.participant.rounds.select_related("episode", "condition"))

    @cached_property
    def done(self) -> set[str]:
        """The pages outside of the rounds that are done."""
        visits = self.participant.visits.filter(done_at__isnull=False, position=0)
        return set(visits.values_list("page", flat=True))

    @property
    def place(self) -> CurrentPage:
        """The page that comes now."""
        if self.participant.status != Participant.Status.ACTIVE:
            return CurrentPage(LAST)
        return page_among(self.participant.version.blueprint, lambda: self.done, self.rounds)


def current_page(participant: Participant) -> CurrentPage:
    """The page that this participant sees now, whatever link, tab or reload asked for it."""
    return ParticipantProgress(participant).place


def page_among(
    design: Blueprint, done: Callable[[], Collection[str]], rounds: Sequence[Round]
) -> CurrentPage:
    """The page of somebody who takes part: `done` tells the pages outside of the rounds that are done,
    `rounds` are all rounds in their order, with their episodes. Who plays, or has to answer, is not asked
    what was done before: nobody comes to the rounds otherwise."""
    total = len(design.conditions)
    begun = bool(rounds and rounds[0].episode_id)
    before = None if begun else _first_left(design, PAGES_BEFORE_ROUNDS, done())
    if before:
        return CurrentPage(before, None, total, rounds)
    for current in rounds:
        if current.answered_at is None:
            return CurrentPage(_page(design, current), current, total, rounds)
    return CurrentPage(_first_left(design, PAGES_AFTER_ROUNDS, done()) or LAST, None, total, rounds)


def _first_left(design: Blueprint, pages: Iterable[str], done: Collection[str]) -> str | None:
    return next((page for page in pages if page not in done and is_shown(design, page)), None)


def _page(design: Blueprint, current: Round) -> str:
    """Several people meet before they play; who was away from a game that others go on with is done with
    it."""
    if current.episode is None:
        return "lobby" if is_shared(design.condition(current.condition.key)) else "waiting"
    playing = current.episode.status == Episode.Status.PLAYING and not current.is_given_up
    return "play" if playing else "survey"
