"""When the ticks of one episode are due. Plain Python; moments are seconds of one clock that nobody sets.

A tick that comes a little late does not move those after it. One that comes later than a whole tick does:
what was missed is not made up for in a rush that nobody could play.
"""

from __future__ import annotations

from dataclasses import dataclass

LATE = 0.04
"""Seconds after which a tick counts as late."""
LOST = 0.5
"""And after which its lateness is time that was lost, of which log and page tell."""


@dataclass(slots=True)
class Pace:
    """The ticks of one episode: one every `seconds`, the next at `due`."""

    seconds: float
    due: float
    late: int = 0
    """Ticks that came too late and are not stored as such yet."""
    lost_ms: int = 0
    """Time in which it stood still, likewise."""

    def take(self, now: float) -> int:
        """The tick that is due is taken now, and the next one is due; the milliseconds that were lost before
        it, which for a tick in time are none."""
        behind = now - self.due
        self.due = self.due + self.seconds if behind < self.seconds else now + self.seconds
        self.late += behind > LATE
        lost = round(behind * 1000) if behind > LOST else 0
        self.lost_ms += lost
        return lost

    def told(self) -> tuple[int, int]:
        """What is not stored yet, late ticks and time lost; it is, then."""
        told = self.late, self.lost_ms
        self.late = self.lost_ms = 0
        return told
