"""Record which seats have a connected page, and find people whose page is not connected.

The module also records people who have turned away from a page that is still connected, or that they closed.

All web processes share the records through the cache. Each process renews the records of its own pages every
few seconds, and a record that is not renewed expires. So a process that fails leaves no wrong record.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from django.core.cache import cache

from kitchen.infra.channel_layer_consumer import CHANNEL_ERRORS

RECORD_SECONDS = 6
"""Seconds until a record expires: three times the interval in which it is renewed."""
AWAY_SECONDS = 5.0
"""Seconds without a record after which a person counts as away. A page that reconnects at once is never
called away."""


TURNED_AWAY_SECONDS = 3600
"""Seconds for which it is remembered that somebody turned away and did not come back."""


def _key(seat_id: int) -> str:
    return f"connected.{seat_id}"


def _away_key(seat_id: int) -> str:
    return f"away.{seat_id}"


def record_turned_away(seat_id: int, *, away: bool) -> None:
    """Record that the person of this seat has turned away from the game, or is back. Raises one of
    `CHANNEL_ERRORS` if the cache is unreachable."""
    if away:
        cache.set(_away_key(seat_id), 1, TURNED_AWAY_SECONDS)
    else:
        cache.delete(_away_key(seat_id))


def find_turned_away(seats: Collection[int]) -> set[int]:
    """Return those of the seats, by id, whose people have turned away from the game. Raises one of
    `CHANNEL_ERRORS` if the cache is unreachable."""
    found = cache.get_many([_away_key(one) for one in seats])
    return {one for one in seats if _away_key(one) in found}


def renew_and_find(own: Collection[int], others: Collection[int]) -> set[int] | None:
    """Record that the seats with the ids `own` have a connected page. Return those of `others` that have one.
    Return None if the cache is unreachable."""
    try:
        cache.set_many(dict.fromkeys(map(_key, own), 1), RECORD_SECONDS)
        found = cache.get_many([_key(one) for one in others])
    except CHANNEL_ERRORS:
        return None
    return {one for one in others if _key(one) in found}


class AbsentPeople:
    """The seats without a connected page, and since when each has had none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[int, float] = {}

    def update(self, own: Collection[int], others: Collection[int]) -> set[int] | None:
        """Renew the records of the seats with the ids `own`. Return those of `others` whose people are away.
        Return None if this is not known."""
        connected = renew_and_find(own, others)
        if connected is None:
            return None
        now = self._clock()
        self._since = {one: self._since.get(one, now) for one in others if one not in connected}
        return {one for one, since in self._since.items() if now - since >= AWAY_SECONDS}
