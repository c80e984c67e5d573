"""Collect how long the server took to answer the pages of a seat, and summarise it.

A page measures a round trip with messages that it sends anyway (`static/js/play/round_trip.js`), and reports
it in its next message. The times are stored as counts, so that those of several connections can be added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.db import transaction

from kitchen.play.models import Seat

FINE_MS = 200
"""Times below are stored to the millisecond, longer ones to ten milliseconds."""


class RoundTrips:
    """The round trips of one connection, as counts by milliseconds."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def add(self, milliseconds: int | None) -> None:
        """Add one time. None, from a message without a time, is ignored."""
        if milliseconds is not None:
            stored = milliseconds if milliseconds < FINE_MS else round(milliseconds, -1)
            self._counts[stored] = self._counts.get(stored, 0) + 1

    def take(self) -> dict[int, int]:
        """Remove and return the counts."""
        counts, self._counts = self._counts, {}
        return counts


class RoundTripSummary(NamedTuple):
    """The number of measured round trips, and their milliseconds. None if nothing was measured."""

    measured: int = 0
    shortest: int | None = None
    median: int | None = None
    p95: int | None = None


def summarise_round_trips(stored: Mapping[str, int] | None) -> RoundTripSummary:
    """Return the summary of the counts in `Seat.round_trips`. A quantile is the shortest time that at least
    this share of the times does not exceed."""
    counts = sorted((int(milliseconds), count) for milliseconds, count in (stored or {}).items())
    total = sum(count for _, count in counts)
    if not total:
        return RoundTripSummary()
    median, p95 = (_quantile(counts, share * total) for share in (0.5, 0.95))
    return RoundTripSummary(total, counts[0][0], median, p95)


def _quantile(counts: list[tuple[int, int]], rank: float) -> int:
    so_far = 0
    for milliseconds, count in counts:
        so_far += count
        if so_far >= rank:
            return milliseconds
    return counts[-1][0]


@transaction.atomic
def store_round_trips(seat_id: int, counts: Mapping[int, int]) -> None:
    """Add the counts of one connection to those of the seat. Nothing happens if the seat is erased."""
    seats = Seat.objects.filter(pk=seat_id)
    stored = seats.select_for_update().values_list("round_trips", flat=True).first() or {}
    new = {str(milliseconds): count for milliseconds, count in counts.items()}
    added = {each: count + stored.get(each, 0) for each, count in new.items()}
    seats.update(round_trips={**stored, **added})
