"""How plans are looked for and weighed: as the planner plays, and as it played when prompts were written."""

from __future__ import annotations

from typing import NamedTuple

from kitchen.worlds.cuisine.planner.trips import Style


class Manner(NamedTuple):
    """What one may set about a search."""

    margin: float
    """How much better a new plan has to be than the one under way."""
    chances: tuple[int, ...]
    """How often each of the CHANGES of a search is tried, of 100, with those before it."""
    outlasts: float
    """Worth of serving an order that could still stand at the end, where it counts for nothing."""
    style: Style
    """How trips are chosen in the first plan."""


PLAYING = Manner(0.005, (12, 16, 31, 49, 75, 85, 100), 0.1, Style())
SHOWING = Manner(0.02, (15, 30, 42, 42, 65, 80, 100), 0.35, Style(helps=False))
"""Weaker; demonstrations in prompts are played so, for prompts that were frozen are to stay as they are."""
SHOWING_TRIES = 25
