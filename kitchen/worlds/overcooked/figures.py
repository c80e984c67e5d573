"""What an episode in a grid measures: the paper's points, and how it came to them. Plain Python."""

from __future__ import annotations

from kitchen.contract.world import Figure
from kitchen.words.speech import marked_plural

FIGURES = (
    Figure(
        "points",
        "count",
        "Points",
        meaning="Points for soups that were delivered",
        so_far="Points so far",
        unit="points",
        words=marked_plural("point", "points"),
    ),
    Figure(
        "soups",
        "count",
        "Soups",
        meaning="Deliveries that were worth something",
        so_far="Deliveries so far that were worth something",
        unit="soups",
        words=marked_plural("soup delivered", "soups delivered"),
    ),
    *(
        Figure(
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
        Figure(
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
    Figure(
        "collisions",
        "count",
        "Collisions",
        meaning="Ticks in which one seat kept the other from moving, or both each other",
        so_far="Ticks so far in which seats kept each other from moving",
        unit="ticks",
        better="lower",
    ),
)
