"""A moment by two clocks: the one that people read, which somebody may set, and one that only goes on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from kitchen.machine.processes import machine_run

_TICKS = getattr(time, "CLOCK_BOOTTIME", None)
"""It goes on while the machine sleeps: who slept was away."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, as this process sees it."""

    at: datetime
    ticks: float
    """Seconds since the machine was started."""
    place: str
    """Which run of which machine counts them; empty where the system does not tell."""


def moment_now() -> Moment:
    """This moment."""
    ticks = time.monotonic() if _TICKS is None else time.clock_gettime(_TICKS)
    return Moment(timezone.now(), ticks, machine_run())
