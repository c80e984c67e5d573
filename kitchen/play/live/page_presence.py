"""Record which seats have a connected page, and find people whose page is not connected.

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


def _key(seat_id: int) -> str:
    return f"connected.{seat_id}"


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
