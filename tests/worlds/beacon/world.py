"""Implement the test world Beacon. The docstring of `tests.worlds.beacon` has the rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Command, Event, Json, Metric

KEEPER, PILOT = 0, 1
WAIT: Command = ("wait",)
LIGHTS = [("light", where) for where in ("left", "here", "right")]
MOVES = {"left": -1, "right": 1}


class Beacon(SimpleWorld):
    """The world with a light, a ship and a haven."""

    kind: ClassVar[str] = "beacon"
    state: ClassVar[tuple[str, ...]] = ("passage", "haven", "ship", "light", "steered", "distance")
    steps_setting: ClassVar[str] = "nights"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("nights", "int", "Nights", 6, help="Steps of an episode.", minimum=1, maximum=100),
        Setting("width", "int", "Berths of the bay", 5, minimum=2, maximum=9),
    )
    idle: ClassVar[Command] = WAIT
    min_seats: ClassVar[int] = 2
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "drift",
            "number",
            "Drift",
            meaning="Mean distance to the haven after steering",
            so_far="Mean distance to the haven so far",
            undefined="blank before the pilot has steered",
            unit="berths",
            better="lower",
            words=("berth off on average", "berths off on average"),
        ),
        Metric("havens", "count", "Havens reached", words=("haven reached", "havens reached")),
    )
    news: ClassVar[str] = "ships that came in"

    def begin(self) -> None:
        """Place the ship at berth 0, with all lights out."""
        self.passage, self.ship, self.light, self.steered, self.distance = 0, 0, "dark", 0, 0
        self.haven = self._draw()

    def _draw(self) -> int:
        """Return the next haven: any berth but the one where the ship is."""
        berths = [berth for berth in range(self.chosen["width"]) if berth != self.ship]
        return self.chance(self.passage).choice(berths)

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the seat's role and the width of the bay."""
        return {"role": ("keeper", "pilot")[seat], **self.chosen}

    def observe(self, seat: int) -> dict[str, Json]:
        """Return haven and ship for the keeper, ship and light for the pilot."""
        shared = {"ship": self.ship, "light": self.light}
        return {**shared, "haven": self.haven} if seat == KEEPER else shared

    def legal_actions(self, seat: int) -> list[Command]:
        """Return the lights for the keeper, and the courses that stay in the bay for the pilot."""
        if seat == KEEPER:
            return [*LIGHTS, WAIT]
        return [*(("steer", way) for way, by in MOVES.items() if self._is_berth(self.ship + by)), WAIT]

    def _is_berth(self, berth: int) -> bool:
        return 0 <= berth < int(self.chosen["width"])

    def visible(self, seat: int, event: Event) -> bool:
        """Return whether the seat sees the event. The keeper does not see the pilot's course."""
        return event.seat != PILOT or seat == PILOT

    def why_not(self, seat: int, command: Command) -> str:
        """Return why a command is refused: the course leaves the bay, or this seat can never give the
        command."""
        return "at_the_edge" if command in [("steer", way) for way in MOVES] and seat else "senseless"

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Store the command without effect, because both seats act at once."""
        return ()

    def end_step(self, given: Mapping[int, Command]) -> Iterable[Event]:
        """Show the light and move the ship, both from the state before the step."""
        self.light = given[KEEPER][1] if len(given.get(KEEPER, ())) > 1 else "dark"
        return () if given.get(PILOT, WAIT) == WAIT else self._sail(MOVES[given[PILOT][1]])

    def _sail(self, by: int) -> list[Event]:
        self.ship += by
        self.steered += 1
        self.distance += abs(self.haven - self.ship)
        if self.ship != self.haven:
            return []
        self.passage += 1
        self.haven = self._draw()
        return [Event("came_in", None, {"berth": self.ship})]

    @property
    def drift(self) -> float | None:
        """Return the mean distance to the haven after steering; None before the first steering."""
        return self.distance / self.steered if self.steered else None

    @property
    def havens(self) -> int:
        """Return the number of havens that the ship has reached."""
        return self.passage
