"""Which page comes next for a participant: the one place that knows the order of the study."""

from __future__ import annotations

from dataclasses import dataclass

from kitchen.models import Episode
from study.models import Participant, Round


@dataclass(frozen=True, slots=True)
class Place:
    """Where a participant is: `page` is `guide`, `play`, `survey` or `end`; `round` for play and survey."""

    page: str
    round: Round | None = None
    total: int = 0
    """Rounds in the whole study."""


def place_of(participant: Participant) -> Place:
    """The page that this participant sees now, whatever link, tab or reload asked for it."""
    rounds = list(participant.rounds.select_related("episode", "condition"))
    if participant.guide_read_at is None:
        return Place("guide", total=len(rounds))
    for found in rounds:
        if found.answered_at is None:
            return Place(_page(found), found, len(rounds))
    return Place("end", total=len(rounds))


def _page(found: Round) -> str:
    playing = found.episode is None or found.episode.status == Episode.Status.PLAYING
    return "play" if playing else "survey"
