"""How clocks stand as a whole, for those who keep them running. Nothing here changes anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from kitchen.play.models import Ticking
from kitchen.ticking.claims import episodes_ticking

PATIENCE = timedelta(seconds=5)
"""Beyond the time that a claim holds, for another owner to come."""


@dataclass(frozen=True, slots=True)
class ClocksStand:
    """Episodes that are played by a clock now."""

    running: int
    still: int
    """Those of them whose steps nobody takes."""
    steps: int
    """That were taken in them so far."""
    late: int
    """Those of these that came too late."""


def clocks_stand() -> ClocksStand:
    """All that have begun, or could."""
    playing, now = episodes_ticking(), timezone.now()
    ids = [one.episode_id for one in playing]
    rows = Ticking.objects.filter(pk__in=ids).values_list(
        "late", "episode__step", "until", "episode__turn_opened_at"
    )
    taken = [(late, step, max(until or opened, opened)) for late, step, until, opened in rows]
    still = sum(last + PATIENCE < now for _, _, last in taken)
    return ClocksStand(len(playing), still, sum(row[1] for row in taken), sum(row[0] for row in taken))
