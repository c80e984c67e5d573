"""Implement the test world Vault. The docstring of `tests.worlds.vault` has the rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Aim, Command, Event, Json, Metric

WAIT: Command = ("wait",)
CRANK: Command = ("crank",)
STOP: Command = ("stop",)
DIAL = "dial"
TURNS = 4
"""The number of steps of cranking that draw a bolt."""
DIGITS = (1, 9)


class Vault(SimpleWorld):
    """The world with codes, dials and bolts."""

    kind: ClassVar[str] = "vault"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("limit", "int", "Steps after which the episode is cut off", 40, minimum=1, maximum=200),
        Setting("door", "int", "Number of the door, from which the codes follow", 1, minimum=1, maximum=999),
    )
    steps_setting: ClassVar[str] = ""
    idle: ClassVar[Command] = WAIT
    passes_by: ClassVar[bool] = True
    min_seats: ClassVar[int] = 3
    max_seats: ClassVar[int] = 3
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "bolts", "count", "Bolts drawn", so_far="Bolts drawn so far", words=("bolt drawn", "bolts drawn")
        ),
    )
    secret: ClassVar[tuple[str, ...]] = ("code",)
    state: ClassVar[tuple[str, ...]] = ("dialled", "cranked", "opened")

    def begin(self) -> None:
        """Set the start state: nothing is dialled, and nobody cranks."""
        self.dialled, self.cranked = [0, 0, 0], [0, 0, 0]
        self.opened = [False, False, False]

    @property
    def codes(self) -> list[int]:
        """Return the code of each keeper, which depends on the door."""
        return Random(self.chosen["door"]).sample(range(DIGITS[0], DIGITS[1] + 1), 3)

    @property
    def over(self) -> bool:
        """Return whether the vault is open."""
        return all(self.opened)

    @property
    def cut_off(self) -> bool:
        """Return whether the step limit was reached before the vault was open."""
        return not self.over and self.clock >= int(self.chosen["limit"])

    @property
    def bolts(self) -> int:
        """Return the number of drawn bolts."""
        return sum(self.opened)

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the settings and the keeper's own code, which no other keeper knows."""
        return {"limit": self.chosen["limit"], "keeper": seat + 1, "code": self.codes[seat]}

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the digit that this keeper dialled, and the state of all bolts."""
        return {"dialled": self.dialled[seat], "turns": self.cranked[seat], "drawn": list(self.opened)}

    def asks(self, seat: int) -> bool:
        """Return whether the keeper can choose. A keeper who cranks, or has drawn the bolt, cannot."""
        return not self.opened[seat] and not self.cranked[seat]

    def legal_actions(self, seat: int) -> list[Command]:
        """Return the commands that this keeper can give. A keeper who cranks can only stop or continue."""
        if self.opened[seat]:
            return [WAIT]
        if self.cranked[seat]:
            return [WAIT, STOP]
        crank = [CRANK] if self.dialled[seat] == self._wanted(seat) else []
        return [(DIAL, str(DIGITS[0])), *crank, WAIT]

    def amounts(self, seat: int) -> Mapping[Command, tuple[int, int]]:
        """Return the range of digits, for a keeper who can dial."""
        return {(DIAL,): DIGITS} if self.asks(seat) else {}

    def _wanted(self, seat: int) -> int:
        return self.codes[(seat + 1) % self.seats]

    def plannable(self, seat: int) -> list[Command]:
        """Return the commands that can be planned."""
        return [(DIAL, str(DIGITS[0])), CRANK, WAIT]

    def aims(self, seat: int) -> list[Aim]:
        """Return the one aim that others can ask a keeper to reach: draw the bolt."""
        return [("draw",)]

    def aim_status(self, seat: int, aim: Aim, since: Json) -> str:
        """Return SUCCESS once the bolt is drawn."""
        return "success" if self.opened[seat] else "unknown"

    def visible(self, seat: int, event: Event) -> bool:
        """Return whether the seat sees the event. Only the keeper itself sees its dialling and cranking;
        everybody hears bolts and messages."""
        return event.seat in (None, seat) or event.kind == "message"

    def why_not(self, seat: int, command: Command) -> str:
        """Return the code of the reason why a command is refused."""
        if self.opened[seat]:
            return "drawn"
        if self.cranked[seat]:
            return "cranking"
        return "no_digit" if command[:1] == (DIAL,) else "not_possible"

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Dial, begin to crank, or stop."""
        if command[0] == DIAL:
            self.dialled[seat] = int(command[1])
        elif command == STOP:
            self.cranked[seat] = 0
        elif command == CRANK or self.cranked[seat]:
            return self._crank(seat)
        return ()

    def _crank(self, seat: int) -> Iterable[Event]:
        self.cranked[seat] += 1
        if self.cranked[seat] < TURNS:
            return ()
        self.cranked[seat], self.opened[seat] = 0, True
        return [Event("bolt", None, {"keeper": seat + 1})]
