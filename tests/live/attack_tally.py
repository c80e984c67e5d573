"""Count what attackers sent, what was answered, and which answers are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

MOST_FAULTS = 20
"""The number of different faults that are reported."""


class Tally:
    """The messages and requests of all attackers of one process."""

    def __init__(self) -> None:
        self.sent = 0
        self.answers: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def answered(self, what: str, status: int, expected: Collection[int]) -> None:
        """Count an HTTP response. A status that is not among the `expected` ones is a fault."""
        self.answers[str(status)] += 1
        if status not in expected:
            self.fault(f"{what}: answered with {status}")

    def fault(self, words: str) -> None:
        """Record a fault."""
        self.faults[words] += 1

    def report(self) -> dict[str, Any]:
        """Return all counts."""
        faults = [f"{times} x {words}" for words, times in self.faults.most_common(MOST_FAULTS)]
        return {"sent": self.sent, "answers": dict(self.answers.copy()), "faults": faults}
