"""State how often an event can count in an episode, given the settings alone.

A world reports these limits before anybody plays. Plain Python.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricLimits:
    """Limits of one share of two counts (`kitchen.contract.world.Metric.of`), for every kind of player."""

    things: str
    """What counts, as a plural noun: `ships`."""
    most: int
    """Maximum number of them that can be done or missed in one episode, together."""
    missable: int
    """Maximum number of them that can be missed before the episode ends; 0: the share is blank or 1."""
    because: str
    """Why no more can be missed, a sentence without its full stop: `Ships wait 24 steps and an episode has
    20`."""
