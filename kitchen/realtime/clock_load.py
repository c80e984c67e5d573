"""Measure how late the ticks (steps) of a clock process are, and how many more episodes it can compute.

A clock process measures itself once a second and sends the result to the others as `ClockLoad`. A late one
hands episodes to one that is not late (`clock_handover`). One without room begins no new episode.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.core.cache import cache
from redis.exceptions import RedisError

from kitchen.contract.world import Json

LATE_SECONDS, FULL_SECONDS = 0.02, 0.04
"""A process hands over episodes if a tenth of its ticks come later than `LATE_SECONDS`. Later than
`FULL_SECONDS`, it begins no new episode."""
LATE_SHARE = 0.1
MIN_TICKS = 10
"""Number of ticks in a second below which lateness is not judged."""
BUSY_SHARE = 0.7
"""Share of a core that a process may use before it begins no new episode. Above it, ticks soon come late,
because one process computes one tick at a time."""
FIRST_EPISODES = 50
"""Number of new episodes that a process may begin before their processor time is known."""
MIN_EPISODES = 4
"""Number of episodes that a process begins however busy the machine is. So few are not the cause."""


@dataclass(frozen=True, slots=True)
class ClockLoad:
    """The load of one clock process in the last second."""

    owner: str
    """The name under which the process claims episodes."""
    channel: str
    """The process's channel in the channel layer."""
    late: float
    """Seconds by which nine of ten ticks were late at most."""
    episodes: int
    room: int
    """Number of episodes that the process can begin in addition."""

    @property
    def is_late(self) -> bool:
        """Return whether the process should hand over episodes."""
        return self.late > LATE_SECONDS

    def to_json(self) -> dict[str, Json]:
        """Return the load as the content of a channel-layer message."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, message: Mapping[str, Json]) -> ClockLoad:
        """Return the load in this channel-layer message."""
        return cls(**{name: message[name] for name in cls.__slots__})


class LoadMeter:
    """Measures one clock process. `now` is a time of the monotonic clock in seconds, and `spent` is the
    processor time of the process in seconds."""

    def __init__(self, now: float, spent: float) -> None:
        self._began, self._spent = now, spent
        self._late: list[float] = []
        self._cost: float | None = None
        """Share of a core that one episode takes. None before it was measured."""

    def ticked(self, late: float) -> None:
        """Record that a tick was run `late` seconds after its time."""
        self._late.append(late)

    def measure(self, owner: str, channel: str, episodes: int, now: float, spent: float) -> ClockLoad:
        """Return the load since the last call. `episodes` is the number of episodes of this process."""
        late, self._late = sorted(self._late), []
        busy = (spent - self._spent) / max(now - self._began, 1e-6)
        self._began, self._spent = now, spent
        if len(late) >= MIN_TICKS and episodes:
            self._cost = busy / episodes
        typical = late[int(len(late) * (1 - LATE_SHARE))] if len(late) >= MIN_TICKS else 0.0
        room = 0 if typical > FULL_SECONDS else self._room(episodes, busy)
        return ClockLoad(owner, channel, typical, episodes, max(0, room, MIN_EPISODES - episodes))

    def _room(self, episodes: int, busy: float) -> int:
        if not self._cost:
            return FIRST_EPISODES - episodes
        return math.floor((BUSY_SHARE - busy) / self._cost)


def choose_receiver(own: ClockLoad, others: Collection[ClockLoad]) -> ClockLoad | None:
    """Return the process to which a late process hands episodes, or None.

    Only a process with room that is less than half as late helps. Two processes that are equally late
    would only exchange their episodes.
    """
    able = [one for one in others if one.room and one.late < own.late / 2]
    return min(able, key=lambda one: (one.late, -one.room), default=None) if own.is_late else None


def handed_over(own: ClockLoad, receiver: ClockLoad) -> int:
    """Return how many episodes a late process hands to this one at once: a quarter of the difference, at
    least one, so that the next measurement can show the effect."""
    return min(receiver.room, own.episodes, max(1, (own.episodes - receiver.episodes) // 4))


def free_phase(seconds: float, dues: Collection[float]) -> float:
    """Return the middle of the longest time within an interval of `seconds` in which no tick is due. `dues`
    are times at which episodes with the same interval have a tick due.

    If all episodes ticked at the same moment, the last one of a hundred would be late by all others.
    """
    taken = sorted(due % seconds for due in dues)
    if not taken:
        return 0.0
    ends = [*taken[1:], taken[0] + seconds]
    longest, start = max((end - start, start) for start, end in zip(taken, ends, strict=True))
    return (start + longest / 2) % seconds


def first_due(due: float, seconds: float, dues: Collection[float]) -> float:
    """Return the time of a first tick, `due` or less than an interval later, so that ticks of different
    episodes are spread evenly. The other arguments are those of `free_phase`."""
    return due + (free_phase(seconds, dues) - due) % seconds if dues else due


FULL = "clocks_full"
"""Key of the cache entry that exists while no clock process has room."""
FULL_FOR = 3
"""Seconds for which the entry exists."""


def report_full_clocks() -> None:
    """Report that no clock process has room for a new episode. Processes repeat this each second."""
    cache.set(FULL, 1, FULL_FOR)


def are_clocks_full() -> bool:
    """Return whether new real-time episodes have to wait, because all clock processes are at the limit of
    what they can compute in time. False if the cache is unavailable."""
    try:
        return bool(cache.get(FULL))
    except (OSError, RedisError):
        return False
