"""Define the memory of the agent `fast_and_slow`: aims, messages, deeds, and the state of its fast mind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from kitchen.contract.world import Json
from kitchen.worlds.overcooked.fast_slow.aim_reflection import WINDOW_TICKS, Deed
from kitchen.worlds.overcooked.fast_slow.work_aims import NO_AIMS, WorkAims

TRAIL_TICKS = 4
REST_TICKS = 10
"""Minimum ticks from one thought of the slow mind to the next. It bounds the cost of an episode in which
people write all the time."""


@dataclass(frozen=True, slots=True)
class FastSlowMemory:
    """What the agent remembers between ticks."""

    aims: WorkAims = NO_AIMS
    changes: int = 0
    """Number of changes of the aims so far. A thought about older aims is not adopted."""
    heard: int = 0
    """Number of the last message that it has read."""
    considered: int = 0
    """Number of the last message that the slow mind knew when it last thought."""
    reflected: int = -REST_TICKS
    """The step for which the slow mind last thought."""
    is_told: bool = False
    """True if a person's words set the aims. The stand-in then keeps them."""
    deeds: Sequence[Deed] = ()
    """What both cooks did in the last ticks."""
    planner: Json = None
    """The memory of the fast mind, which is that of the grid planner."""
    aside_ticks: int = 0
    """Ticks left to wait after a step out of the partner's way."""
    trail: Sequence[Sequence[int]] = ()
    """The last cells of its first cook, at most `TRAIL_TICKS`."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the memory that `to_json` wrote; an empty one for any other value."""
        if not isinstance(stored, dict):
            return cls()
        return cls(**{**stored, "aims": WorkAims.read(stored["aims"]) or NO_AIMS})

    def to_json(self) -> dict[str, Json]:
        """Return the memory as JSON."""
        return {
            "aims": self.aims.to_json(),
            "changes": self.changes,
            "heard": self.heard,
            "considered": self.considered,
            "reflected": self.reflected,
            "is_told": self.is_told,
            "deeds": [list(one) for one in self.deeds],
            "planner": self.planner,
            "aside_ticks": self.aside_ticks,
            "trail": [list(cell) for cell in self.trail],
        }

    def having_been(self, cell: Sequence[int]) -> FastSlowMemory:
        """Return the memory with the present cell added."""
        return replace(self, trail=[*self.trail, list(cell)][-TRAIL_TICKS:])

    @property
    def swings(self) -> bool:
        """Return whether its cook goes to and fro between two cells."""
        steps = [list(cell) for cell in self.trail]
        return len(steps) == TRAIL_TICKS and steps[:-2] == steps[2:] and steps[0] != steps[1]

    def having_seen(self, deeds: Sequence[Deed], step: int) -> FastSlowMemory:
        """Return the memory with these deeds added, and without those that are too old."""
        recent = [one for one in (*self.deeds, *deeds) if one[0] > step - WINDOW_TICKS]
        return replace(self, deeds=recent)

    def with_aims(self, aims: WorkAims, *, is_told: bool) -> FastSlowMemory:
        """Return the memory with new aims."""
        return replace(self, aims=aims, changes=self.changes + (aims != self.aims), is_told=is_told)


@dataclass(slots=True)
class AimChanges:
    """The changes of aims in one decision, for its note."""

    step: int
    """The step for which the decision is made; the first is 1."""
    tick_ms: int | None
    """Milliseconds of a step under a clock; None without a clock."""
    made: list[Json] = field(default_factory=list)

    def add(self, aims: WorkAims, by: str, message: tuple[int, int] | None, asked_in: int) -> None:
        """Add a change to these aims. `by` is who decided. `message` is the number of the message that led to
        it and the step in which it was written; None if none did. `asked_in` is the step in which the
        decision began."""
        number, written = message or (None, None)
        steps = None if written is None else self.step - written
        milliseconds = None if steps is None or self.tick_ms is None else steps * self.tick_ms
        entry = {"aims": aims.to_json(), "by": by, "asked_in": asked_in}
        told = {"message": number, "written_in": written, "steps": steps, "ms": milliseconds}
        self.made.append({**entry, **told})
