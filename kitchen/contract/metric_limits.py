"""State how often an event can count in an episode, given the settings alone.

A world reports these limits before anybody plays. Plain Python.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricLimits:
    """Of one share of two counts (`kitchen.contract.world.Metric.of`), whoever plays."""

    things: str
    """What counts, in the plural: `ships`."""
    most: int
    """How many of them can be done or missed in one episode, together, at most."""
    missable: int
    """How many of them can be missed before it ends; 0: the share is blank or 1."""
    because: str
    """Why no more can be missed, a sentence without its full stop: `Ships wait 24 steps and an episode has
    20`."""
