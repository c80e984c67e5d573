"""Define the test world Errands: jobs that take several steps, done by the seat that begins them first.

Rules, version 1. `run N` begins errand N if nobody has begun it; the seat is then busy for the errand's
steps. `wait` does nothing. Seats with nothing to choose are skipped. The episode ends when every errand is
done. Score: `done`, the number of completed errands. Every errand is an aim: `run N`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from kitchen.contract.advisers import AimPursuer, AimStep
from kitchen.contract.agent import Situation
from kitchen.contract.declared_settings import Setting
from kitchen.contract.kit import WorldKit
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Command, Event, Json, Metric
from kitchen.pages.default_page import DefaultPage


class Errands(SimpleWorld):
    """The world with errands that are open, running or done."""

    kind: ClassVar[str] = "errands"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("lengths", "text", "Steps that each errand takes", "1,5,1,1,1,1"),
        Setting("limit", "int", "Steps", 100, minimum=1, maximum=1000),
    )
    steps_setting: ClassVar[str] = "limit"
    idle: ClassVar[Command] = ("wait",)
    max_seats: ClassVar[int] = 5
    passes_by: ClassVar[bool] = True
    figures: ClassVar[tuple[Metric, ...]] = (Metric("done", "count", "Errands done"),)
    state: ClassVar[tuple[str, ...]] = ("left", "runner", "done")

    def begin(self) -> None:
        """Open every errand."""
        self.left = [int(length) for length in self.chosen["lengths"].split(",")]
        self.runner: list[int | None] = [None for _ in self.left]
        self.done = 0

    @property
    def over(self) -> bool:
        return super().over or not any(self.left)

    def is_busy(self, seat: int) -> bool:
        return any(left and runner == seat for left, runner in zip(self.left, self.runner, strict=True))

    @property
    def open(self) -> list[int]:
        return [number for number, runner in enumerate(self.runner) if runner is None]

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the open errands, and the seats that are free."""
        return {"open": self.open, "free": [one for one in range(self.seats) if not self.is_busy(one)]}

    def legal_actions(self, seat: int) -> list[Command]:
        run = [("run", str(number)) for number in self.open]
        return [self.idle] if self.is_busy(seat) else [*run, self.idle]

    def asks(self, seat: int) -> bool:
        return len(self.legal_actions(seat)) > 1

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        if command != self.idle:
            self.runner[int(command[1])] = seat
        return ()

    def end_step(self, given: Mapping[int, Command]) -> Iterable[Event]:
        for number, runner in enumerate(self.runner):
            if runner is not None and self.left[number]:
                self.left[number] -= 1
                self.done += not self.left[number]
        return ()

    def aims(self, seat: int) -> list[Aim]:
        return [("run", str(number)) for number in range(len(self.left))]

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        number = int(aim[1])
        if self.runner[number] not in (None, seat):
            return FAIL
        return UNKNOWN if self.left[number] else SUCCESS


class ErrandPursuer(AimPursuer):
    """Begins a requested errand as soon as the seat is free."""

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> AimStep:
        return AimStep(UNKNOWN, aim if aim in situation.legal[seat] else None)


KIT = WorldKit(
    rules=lambda: Errands,
    page=lambda: DefaultPage(title="Errands", rules=("Run every errand.",)),
    pursuer=ErrandPursuer,
    steps="limit",
)
LINE = "errands=tests.worlds.errands:KIT"
"""The line for `BRIGADE_WORLDS` that adds this world."""
