"""Define the benchmark of the test world Vault. It counts the bolts that agents draw without people, by door,
with and without messages."""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.world import Json

DOORS = {"first": 1, "fourth": 4}


class Doors(ComparisonBenchmark):
    """The benchmark of the world Vault: the number of drawn bolts, by door."""

    steps: ClassVar[int] = 9
    agents: ClassVar[tuple[int, ...]] = (3,)
    coplayer: ClassVar[str] = "keeper"
    figure: ClassVar[str] = "bolts"
    source: ClassVar[str] = "Nothing was published: the world is made up for tests."
    organisation: ClassVar[str] = "graph"

    def levels(self) -> tuple[str, ...]:
        """Return the names of the doors."""
        return tuple(DOORS)

    def usual_levels(self) -> tuple[str, ...]:
        """Return the names of all doors."""
        return self.levels()

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the settings of one door."""
        return {"limit": steps, "door": DOORS[level]}

    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return keepers in all seats."""
        return ("+".join(["keeper"] * seats),)


BENCH = Doors()
