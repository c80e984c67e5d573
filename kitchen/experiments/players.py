"""Who really played: what the decisions of many episodes add up to, and how that is said.

A figure is a model's only as far as the model decided. Where no language model was behind the dispatcher
(the stand-in), or another one fell in for it (a fallback), every table and figure says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from kitchen.contract.reading import Readings
from kitchen.experiments.rows import FAILED, Row

STAND_IN = "stand-in"
IN_WORDS = {
    STAND_IN: "the stand-in (no language model: its commands come from the planner)",
    "noop": "nobody (the agents waited)",
}


@dataclass(frozen=True, slots=True)
class DecisionMakers:
    """Who decided in some episodes, and how often."""

    decisions: Counter[str] = field(default_factory=Counter)
    """By who chose: a kind of co-player, `stand-in`, `noop`."""
    fallbacks: Counter[str] = field(default_factory=Counter)
    """Decisions that another than the co-player made, by their codes."""
    models: frozenset[str] = frozenset()
    """Language models, as the API named them; the stand-in is none."""
    failed: int = 0
    """Episodes that an error ended; they count nowhere."""
    read: Readings = field(default_factory=Readings)
    """How the replies of language models were read."""

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Who played these episodes."""
        total = cls()
        for row in rows:
            if row.outcome == FAILED:
                total += cls(failed=1)
            else:
                chose = read_counts(row.played_by)
                is_ours = any(name.endswith(STAND_IN) for name in chose)
                named = frozenset() if is_ours else frozenset(row.model.split(", ")) - {""}
                total += cls(chose, read_counts(row.fallback_codes), named, read=row.readings)
        return total

    def __add__(self, other: DecisionMakers) -> Self:
        return type(self)(
            self.decisions + other.decisions,
            self.fallbacks + other.fallbacks,
            self.models | other.models,
            self.failed + other.failed,
            self.read + other.read,
        )

    def __str__(self) -> str:
        """In one line, for tables and figures."""
        who = [f"{self._named(name)} {number}" for name, number in sorted(self.decisions.items())]
        played = f"Played by (decisions): {', '.join(who)}" if who else "Played by: nobody yet"
        parts = [played, self._fallbacks()]
        if self.read.decisions:
            parts.append(f"replies: {self.read.words}")
        if self.failed:
            parts.append(f"episodes that failed and are not counted: {self.failed}")
        said = "; ".join(parts) + "."
        return f"{said} Warning: {self.read.warning}" if self.read.is_bad else said

    @property
    def share(self) -> str:
        """Fallbacks of all decisions, `3 of 900`."""
        return f"{self.fallbacks.total()} of {self.decisions.total()}"

    @property
    def names(self) -> str:
        """Who chose, with the number of decisions: `planner x3, stand-in x57`."""
        return counted(self.decisions)

    def told(self, kind: str) -> str:
        """The name of a kind for a picture: with a mark where a stand-in decided for it."""
        return f"{kind} ({STAND_IN})" if self.decisions[f"{kind}'s {STAND_IN}"] else kind

    def _named(self, kind: str) -> str:
        if kind in IN_WORDS or kind == "planner" or not self.models:
            return IN_WORDS.get(kind, f"the {kind}")
        return f"{', '.join(sorted(self.models))} (by the {kind})"

    def _fallbacks(self) -> str:
        if not self.fallbacks:
            return "no fallbacks"
        codes = counted(self.fallbacks)
        return f"fallbacks: {self.share} decisions were made by another than the co-player ({codes})"


def counted(counts: Counter[str]) -> str:
    """`planner x3, stand-in x57`."""
    return ", ".join(f"{name} x{number}" for name, number in sorted(counts.items()))


def read_counts(text: str) -> Counter[str]:
    """What `counted` wrote."""
    pairs = (part.rpartition(" x") for part in text.split(", ") if part)
    return Counter({name: int(number) for name, _, number in pairs})
