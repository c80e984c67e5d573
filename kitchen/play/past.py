"""Steps that are over, and one that is worked out and not taken yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kitchen.contract.large_state import WorldState
from kitchen.contract.page import StepView
from kitchen.contract.world import Command, Json, World
from kitchen.play import clock, stored


@dataclass(slots=True)
class PastStep:
    """One step as the log keeps it, and as each seat may know it."""

    number: int
    commands: list[Json]
    events: list[Json]
    chain: str
    """Empty where a program of before took the step."""
    _known: dict[int, StepView] = field(default_factory=dict)

    def known(self, world: World, seat: int) -> StepView:
        """What this seat may know of it."""
        if seat not in self._known:
            self._known[seat] = StepView(
                number=self.number,
                commands=stored.known_commands(world, seat, self.commands),
                events=stored.known_events(world, [seat], self.events),
                ran_out=clock.ran_out(seat, self.commands),
            )
        return self._known[seat]


@dataclass(frozen=True, slots=True)
class StepAhead:
    """A step that was worked out and is not taken yet: it follows from the state and these commands alone."""

    commands: Sequence[tuple[int, Command]]
    world: World
    """After it."""
    state: WorldState
    events: list[Json]
