"""Define the metrics of an Overcooked episode, and count the actions on which they are based."""

from __future__ import annotations

from dataclasses import dataclass, field

from kitchen.contract.world import Json, Metric
from kitchen.words.gettext_without_django import ngettext_noop
from kitchen.worlds.overcooked.game_rules import FILLED, LAID, POTTED, SERVED, STARTED, TOOK, InteractEffect

METRICS = (
    Metric(
        "points",
        "count",
        "Points",
        meaning="Points for soups that were delivered",
        so_far="Points so far",
        unit="points",
        words=ngettext_noop("point", "points"),
    ),
    Metric(
        "soups",
        "count",
        "Soups",
        meaning="Deliveries that were worth something",
        so_far="Deliveries so far that were worth something",
        unit="soups",
        words=ngettext_noop("soup delivered", "soups delivered"),
    ),
    *(
        Metric(
            f"deliveries_seat_{seat}",
            "count",
            f"Deliveries by seat {seat}",
            meaning=f"Soups that seat {seat} delivered, worthless ones too",
            so_far=f"Soups that seat {seat} delivered so far",
            unit="soups",
            better="neither",
        )
        for seat in (0, 1)
    ),
    *(
        Metric(
            f"idle_ticks_seat_{seat}",
            "count",
            f"Idle ticks of seat {seat}",
            meaning=f"Ticks in which seat {seat} stayed, or had no command",
            so_far=f"Ticks so far in which seat {seat} stayed, or had no command",
            unit="ticks",
            better="lower",
        )
        for seat in (0, 1)
    ),
    Metric(
        "collisions",
        "count",
        "Collisions",
        meaning="Ticks in which one seat kept the other from moving, or both each other",
        so_far="Ticks so far in which seats kept each other from moving",
        unit="ticks",
        better="lower",
    ),
)

IDLE = "idle"
COUNTED_ACTIONS = (TOOK, LAID, POTTED, STARTED, FILLED, SERVED, IDLE)
"""Actions that are counted for each seat."""


@dataclass(slots=True)
class EpisodeCounts:
    """The counts of one episode so far: points, soups, collisions, and each seat's actions."""

    points: int = 0
    soups: int = 0
    collisions: int = 0
    seats: tuple[dict[str, int], dict[str, int]] = field(
        default_factory=lambda: (dict.fromkeys(COUNTED_ACTIONS, 0), dict.fromkeys(COUNTED_ACTIONS, 0))
    )

    def add(self, seat: int, deed: InteractEffect) -> None:
        """Count an `interact` command of this seat. `deed` is the effect that it had."""
        self.seats[seat][deed.did] += 1
        self.points += deed.points
        self.soups += deed.points > 0

    def score(self) -> dict[str, Json]:
        """Return the value of every metric by name, and the number of each seat's actions (`counts`)."""
        return {
            "points": self.points,
            "soups": self.soups,
            **{f"deliveries_seat_{seat}": counts[SERVED] for seat, counts in enumerate(self.seats)},
            **{f"idle_ticks_seat_{seat}": counts[IDLE] for seat, counts in enumerate(self.seats)},
            "collisions": self.collisions,
            "counts": [dict(counts) for counts in self.seats],
        }

    def to_json(self) -> dict[str, Json]:
        """Return all counts as JSON for the stored state."""
        return {
            "points": self.points,
            "soups": self.soups,
            "collisions": self.collisions,
            "seats": [dict(counts) for counts in self.seats],
        }
