"""Find the page that a participant sees next. No other module decides this.

If staff stop an episode, the participant next answers the survey about this episode. If staff stop the whole
participation, or the participant times out, the last page follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kitchen.play.models import Episode
from study.design.blueprint import Blueprint
from study.design.condition_seats import is_shared
from study.design.page_and_item_order import (
    LAST,
    is_shown,
    pages_after_rounds,
    pages_before_round,
    pages_before_rounds,
)
from study.participants.models import Participant, Round


@dataclass(frozen=True, slots=True)
class CurrentPage:
    """The participant's current page: `page` is one of `PAGES`. `round` is set on the pages of a round:
    play, survey, and the pages on which the participant waits for the round's episode."""

    page: str
    round: Round | None = None
    total: int = 0
    """Number of rounds in the whole study."""
    rounds: Sequence[Round] = ()
    """This participant's rounds in their order; empty once the participation has ended."""

    @property
    def position(self) -> int:
        """Return the position of the round, from 1. Play and survey of a round have the same position.
        Return 0 outside of the rounds."""
        return self.round.position if self.round else 0


class ParticipantProgress:
    """One participant's progress. Each part is read from the database once, when it is needed.

    Code that changes the progress in the database must also change this object. `place` (the current page)
    is then computed from the new values.
    """

    def __init__(self, participant: Participant) -> None:
        self.participant = participant

    @cached_property
    def rounds(self) -> list[Round]:
        """Return all rounds in their order, with their episodes and conditions."""
        return list(self.participant.rounds.select_related("episode", "condition"))

    def reload_rounds(self) -> None:
        """Read the rounds again when they are needed next, because they were just planned."""
        self.__dict__.pop("rounds", None)

    @cached_property
    def done(self) -> set[str]:
        """Return the names of the finished pages outside of the rounds."""
        visits = self.participant.visits.filter(done_at__isnull=False, position=0)
        return set(visits.values_list("page", flat=True))

    @property
    def place(self) -> CurrentPage:
        """Return the participant's current page."""
        if self.participant.status != Participant.Status.ACTIVE:
            return CurrentPage(LAST)
        return page_among(self.participant.blueprint, lambda: self.done, self.rounds)


def current_page(participant: Participant) -> CurrentPage:
    """Return the participant's current page. It does not depend on the address or browser tab that
    requested it."""
    return ParticipantProgress(participant).place


def page_among(
    design: Blueprint, done: Callable[[], Collection[str]], rounds: Sequence[Round]
) -> CurrentPage:
    """Return the current page of an active participant.

    `done` returns the names of the finished pages outside of the rounds. It is called only before the first
    round has an episode, after all rounds, and where the design has pages between rounds.
    `rounds` are all rounds in order, with their episodes.
    """
    total = design.rounds
    begun = bool(rounds and rounds[0].episode_id)
    before = None if begun else _first_left(design, pages_before_rounds(design), done())
    if before:
        return CurrentPage(before, None, total, rounds)
    for current in rounds:
        if current.answered_at is None:
            between = () if current.episode_id else pages_before_round(design, current.position)
            if between and (page := _first_left(design, between, done())):
                return CurrentPage(page, None, total, rounds)
            return CurrentPage(_page(design, current), current, total, rounds)
    return CurrentPage(_first_left(design, pages_after_rounds(design), done()) or LAST, None, total, rounds)


def _first_left(design: Blueprint, pages: Iterable[str], done: Collection[str]) -> str | None:
    return next((page for page in pages if page not in done and is_shown(design, page)), None)


def _page(design: Blueprint, current: Round) -> str:
    """Return the page of a round on which the participant is. A round with several people begins in the
    lobby. If an agent has replaced the participant in a running episode, the page is the survey."""
    if current.episode is None:
        return "lobby" if is_shared(design.condition(current.condition.key)) else "waiting"
    playing = current.episode.status == Episode.Status.PLAYING and not current.is_given_up
    return "play" if playing else "survey"
