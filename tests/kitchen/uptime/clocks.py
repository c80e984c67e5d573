"""Set the clocks that heartbeats read, and imitate processes that have ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kitchen.infra.os_processes import process_name
from kitchen.uptime.models import Sign
from kitchen.uptime.outage_detection import Moment, current_moment


class Clocks:
    """The wall clock and the monotonic clock of one machine. Calling the object returns the time. They begin
    in the past, so that recorded times are not in the future."""

    def __init__(self, seconds_ago: float = 0) -> None:
        now = current_moment()
        at, ticks = now.at - timedelta(seconds=seconds_ago), now.ticks - seconds_ago
        self._moment = replace(now, at=at, ticks=ticks)

    def __call__(self) -> Moment:
        return self._moment

    def pass_by(self, seconds: float) -> None:
        """Advance both clocks."""
        at, ticks = self._moment.at + timedelta(seconds=seconds), self._moment.ticks + seconds
        self._moment = replace(self._moment, at=at, ticks=ticks)

    def set(self, seconds: float) -> None:
        """Set the clock that shows the time of day."""
        self._moment = replace(self._moment, at=self._moment.at + timedelta(seconds=seconds))

    def start_anew(self, place: str = "another-run") -> None:
        """Imitate a restart of the machine, or another machine."""
        self._moment = replace(self._moment, ticks=5.0, place=place)


def another(pid: int = 1) -> str:
    """Return a process of this machine that has ended."""
    return f"{process_name().rpartition('/')[0].rpartition('/')[0]}/{pid}/0"


def elsewhere() -> str:
    """Return a process that cannot be seen from this machine."""
    return "another-run/pid:[1]/7/1"


def run_by(part: str, *names: str) -> None:
    """Record these processes as the processes of the part."""
    Sign.objects.filter(part=part).update(processes=list(names))
