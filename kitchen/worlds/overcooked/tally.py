"""What is counted in an episode, for score and log. Plain Python."""

from __future__ import annotations

from dataclasses import dataclass, field

from kitchen.contract.world import Json
from kitchen.worlds.overcooked.things import FILLED, LAID, POTTED, SERVED, STARTED, TOOK, Deed

IDLE = "idle"
COUNTED = (TOOK, LAID, POTTED, STARTED, FILLED, SERVED, IDLE)
"""What is counted of each seat."""


@dataclass(slots=True)
class Tally:
    """Counts so far."""

    points: int = 0
    soups: int = 0
    collisions: int = 0
    seats: tuple[dict[str, int], dict[str, int]] = field(
        default_factory=lambda: (dict.fromkeys(COUNTED, 0), dict.fromkeys(COUNTED, 0))
    )

    def add(self, seat: int, deed: Deed) -> None:
        """Something that a seat did by an interact."""
        self.seats[seat][deed.did] += 1
        self.points += deed.points
        self.soups += deed.points > 0

    def score(self) -> dict[str, Json]:
        """Every figure, and beside them `counts` by seat."""
        return {
            "points": self.points,
            "soups": self.soups,
            **{f"deliveries_seat_{seat}": counts[SERVED] for seat, counts in enumerate(self.seats)},
            **{f"idle_ticks_seat_{seat}": counts[IDLE] for seat, counts in enumerate(self.seats)},
            "collisions": self.collisions,
            "counts": [dict(counts) for counts in self.seats],
        }

    def to_json(self) -> dict[str, Json]:
        """All of it, for the stored state."""
        return {
            "points": self.points,
            "soups": self.soups,
            "collisions": self.collisions,
            "seats": [dict(counts) for counts in self.seats],
        }
