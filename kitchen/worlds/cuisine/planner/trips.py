"""What agents do in a rollout: trips, each one thing brought from one place to another."""

from __future__ import annotations

from typing import NamedTuple

from kitchen.worlds.cuisine.planner.work import Batch

Errand = tuple[str, str]
"""A trip in words: ("take", place), ("start", place), or (base ingredient, product it is for)."""

FAR = 1 << 20
"""More steps than any episode has: never."""

FETCH, CARRY, ACTIVATE = 0, 1, 2
"""What a trip is doing: going for its thing, bringing it, activating where it was brought."""


class Style(NamedTuple):
    """How trips are chosen. `patience`: waiting allowed in a trip; `stay`: waiting allowed at a tool one has
    just activated; `guard`: leave tools free for wishes that come first; `helps`: who has nothing to do
    starts somebody else's tool."""

    patience: int = 1
    stay: int = 1
    guard: bool = True
    helps: bool = True


class Trip:
    """One thing brought from one place to another, empty hands to empty hands."""

    __slots__ = ("item", "since", "source", "stage", "target", "to")

    def __init__(self, stage: int, item: str, source: Batch | None, target: Batch | None, to: int) -> None:
        self.stage = stage
        self.item = item
        self.source = source
        """The batch whose product it is; None for a base ingredient."""
        self.target = target
        """The batch it is for; None for the serving table and the waste."""
        self.to = to
        """Where it goes if not into a batch."""
        self.since = 0
        """The step from now at which its thing is taken, as soon as that is certain; 0 if it was in hand."""

    def in_hand(self, step: int) -> bool:
        """Its thing is carried at the end of this step."""
        return self.stage == CARRY and self.since <= step
