"""Define mixes of players for load tests: the share of players with each kind of agent, with a timer, with
HTML pages, and through a whole study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CLOCK = 10.0
"""The time limit of a step in seconds, if there is one."""
TABLES: Mapping[str, Mapping[str, Any]] = {
    "alone": {},
    "random": {"mates": 2, "kind": "random"},
    "planner": {"mates": 2, "kind": "planner"},
    "dispatcher": {"mates": 1, "kind": "dispatcher"},
}
"""The kinds of episode: the agents that people play with, as arguments of `tests.live.books.table_laid`."""
USUAL = {"alone": 40, "random": 20, "planner": 25, "dispatcher": 15}
_SPREAD = 0.8566748838545029, 0.7338918566271260, 0.6287067210378087
"""Multiples of these numbers, without their whole parts, fill a cube evenly. So a small number of people has
the same mix as a large one."""


@dataclass(frozen=True, slots=True)
class Mix:
    """The weights of the kinds of episode, and the percentages of players with each property."""

    tables: dict[str, float]
    html: float = 50
    """The percentage of players with HTML pages, as in browsers; the others use JSON."""
    timed: float = 25
    """The percentage of players with a timer."""
    whole: float = 10
    """The percentage of players who walk through a whole study, one after another."""

    def guests(self, people: int) -> int:
        """Return how many of this number of people walk through a whole study."""
        return round(people * self.whole / 100)

    def seat(self, number: int) -> tuple[str, bool, bool]:
        """Return the setup of the player with this number: kind of episode, HTML or not, timer or not."""
        table, html, timed = ((number * spread) % 1 for spread in _SPREAD)
        return (
            self._table(table * sum(self.tables.values())),
            html * 100 < self.html,
            timed * 100 < self.timed,
        )

    def _table(self, point: float) -> str:
        for name, weight in self.tables.items():
            if point < weight:
                return name
            point -= weight
        return next(reversed(self.tables))


def mix_named(text: str) -> dict[str, float]:
    """Parse a text such as `alone=40,planner=60` into weights. Raises ValueError, which names the fault."""
    tables: dict[str, float] = {}
    for part in text.split(","):
        name, _, weight = part.strip().partition("=")
        if name not in TABLES:
            raise ValueError(f"{name!r}: there is {', '.join(TABLES)}")
        tables[name] = float(weight or 1)
    if min(tables.values()) < 0 or not sum(tables.values()):
        raise ValueError("weights are from 0 on, and one is above it")
    return tables
