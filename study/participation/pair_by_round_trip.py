"""Choose which open group of a lobby a participant joins if people are paired by their round trips.

For the first half of the longest wait, people meet only those whose round trip is near their own. After that,
they meet the nearest ones, however far. A round trip that was not measured is near to all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

NEAR_MS = 50
"""Largest difference of two round trips, in milliseconds, that counts as near."""


class OpenGroup(NamedTuple):
    """A group that has room for one more person."""

    number: int
    """Its number in the study; older groups have lower ones."""
    round_trips: Sequence[int | None]
    """The members' round trips in milliseconds."""
    waited: float
    """Seconds since the first member came; 0 without members."""


def difference(group: OpenGroup, round_trip_ms: int | None) -> float:
    """Return how far a participant's round trip is from the mean of the group's, in milliseconds."""
    known = [each for each in group.round_trips if each is not None]
    return abs(fmean(known) - round_trip_ms) if known and round_trip_ms is not None else 0.0


def nearest_group(
    groups: Sequence[OpenGroup], round_trip_ms: int | None, *, waited: float, lobby_seconds: float
) -> OpenGroup | None:
    """Return the open group that a participant joins, or None if they wait on their own.

    `waited` are the seconds for which the participant has waited. Of groups that are equally near, the oldest
    one counts. A group without members is taken only if there is no other.
    """

    def meets(group: OpenGroup) -> bool:
        is_late = max(group.waited, waited) >= lobby_seconds / 2
        return is_late or difference(group, round_trip_ms) <= NEAR_MS

    return min(
        filter(meets, groups),
        key=lambda group: (not group.round_trips, difference(group, round_trip_ms), group.number),
        default=None,
    )
