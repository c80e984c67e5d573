"""How balanced the orders are in which those who are complete played: what came when, and what after what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from study.design.models import Study
from study.design.orders.counting import carry_over, positions
from study.people.models import Participant, Round


@dataclass(frozen=True, slots=True)
class Balance:
    """Counts over people, or over programs where nobody else is complete."""

    participants: int
    synthetic: bool
    names: Sequence[str]
    """Of the conditions that somebody played, in the order of the design."""
    places: Sequence[tuple[str, Sequence[int]]]
    """By condition: how often it came first, second, and so on."""
    after: Sequence[tuple[str, Sequence[int | None]]]
    """By condition: how often each one followed it directly; None for itself."""

    @property
    def spread(self) -> int:
        """By how many participants the fullest place of a condition is ahead of its emptiest."""
        return max((max(counts) - min(counts) for _, counts in self.places), default=0)

    @property
    def after_spread(self) -> int:
        """By how many the pair that came most often is ahead of the rarest."""
        counts = [count for _, row in self.after for count in row if count is not None]
        return max(counts, default=0) - min(counts, default=0)


def balance_of(study: Study) -> Balance | None:
    """Of those who are complete and not excluded; None where there is nobody, or one condition only."""
    people = study.participants.filter(
        status=Participant.Status.COMPLETE, preview=False, excluded_at=None
    ).order_by()
    synthetic = not people.filter(synthetic=False).exists()
    rounds = Round.objects.filter(participant__in=people.filter(synthetic=synthetic))
    rows = rounds.order_by("participant_id", "position").values_list("participant_id", "condition__key")
    orders = [[key for _, key in theirs] for _, theirs in groupby(rows, itemgetter(0))]
    names = dict(study.conditions.values_list("key", "name"))
    played = {key: name for key, name in names.items() if any(key in order for order in orders)}
    if len(played) < 2:
        return None
    came, follow = positions(orders), carry_over(orders)
    return Balance(
        len(orders),
        synthetic,
        list(played.values()),
        [(name, came[key]) for key, name in played.items()],
        [(name, [follow.get((key, other)) for other in played]) for key, name in played.items()],
    )
