"""Whether episodes, played again, are what is stored of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from kitchen.play.models import Episode
from kitchen.play.verifying import log_verify
from kitchen.replaying.course import faults_of
from kitchen.replaying.deciding import Again, decisions_again
from kitchen.replaying.record import Record, records_of

OF_MIND = "step {step}, co-player {mind}: {why}, from what was answered then"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of playing one episode again."""

    episode: str
    """Its key."""
    fault: str
    """The first thing that is not as it was, in words; empty: all is."""
    decisions: int = 0
    """Of language models."""
    replies: int = 0
    """Stored replies, and failures, that were given again."""
    left_out: tuple[str, ...] = ()
    """Why each decision that cannot be made again from what is stored cannot be, one of `deciding.WHY`."""


def replays_verify(episodes: QuerySet[Episode]) -> Iterator[Verdict]:
    """A verdict for each of these episodes, in the order of their ids; none for who is erased meanwhile."""
    for record in records_of(episodes):
        for written in log_verify(Episode.objects.filter(pk=record.episode.pk)):
            fault = next(faults_of(record), "") or next(map(str, written.faults), "")
            yield Verdict(written.episode, fault) if fault else _of_minds(record)


def _of_minds(record: Record) -> Verdict:
    """Of an episode that leads where its log says."""
    again = list(decisions_again(record))
    return Verdict(
        str(record.episode.key),
        next((_said(each) for each in again if each.fault), ""),
        decisions=len(again),
        replies=sum(each.replies for each in again),
        left_out=tuple(each.why_not for each in again if each.why_not),
    )


def _said(again: Again) -> str:
    return OF_MIND.format(step=again.step, mind=again.mind, why=again.fault)
