"""What agents do in a rollout: trips, each one thing brought from one place to another."""

from __future__ import annotations

from dataclasses import dataclass

from kitchen.worlds.cuisine.planner.work import Batch

Errand = tuple[str, str]
"""A trip in words: ("take", place), ("start", place), or (base ingredient, product it is for)."""

FAR = 1 << 20
"""More steps than any episode has: never."""

FETCH, CARRY, ACTIVATE = 0, 1, 2
"""What a trip is doing: going for its thing, bringing it, activating where it was brought."""


@dataclass(frozen=True, slots=True)
class Style:
    """How trips are chosen. `patience`: waiting allowed in a trip; `stay`: waiting allowed at a tool one has
    just activated; `guard`: leave tools free for wishes that come first."""

    patience: int = 1
    stay: int = 1
    guard: bool = True


class Trip:
    """One thing brought from one place to another, empty hands to empty hands."""

    __slots__ = ("item", "source", "stage", "target", "to")

    def __init__(self, stage: int, item: str, source: Batch | None, target: Batch | None, to: int) -> None:
        self.stage = stage
        self.item = item
        self.source = source
        """The batch whose product it is; None for a base ingredient."""
        self.target = target
        """The batch it is for; None for the serving table and the waste."""
        self.to = to
        """Where it goes if not into a batch."""
