"""The episodes of an experiment, each with a seed that follows from the experiment's seed and the cell alone.

Variants of one cell play the same seeds, so that what is compared met the same orders.
"""

from __future__ import annotations

from dataclasses import dataclass

from kitchen.contract.seeds import derived_seed
from kitchen.experiments.setup import ExperimentColumn, Setup

Key = tuple[str, str, int, float, int]
"""Variant, level, agents, alpha, episode: what names an episode within its experiment."""


@dataclass(frozen=True, slots=True)
class Job:
    """One episode that is to be played."""

    column: ExperimentColumn
    alpha: float
    episode: int
    """Counts from 1 within its cell."""
    seed: int

    @property
    def key(self) -> Key:
        """Its name within the experiment."""
        return *self.column.key, self.alpha, self.episode


def jobs_of(setup: Setup) -> tuple[Job, ...]:
    """Every episode, first episodes of all cells first: a table is there early and gets firmer."""
    return tuple(
        Job(column, alpha, episode, seed_of(setup.seed, column, alpha, episode))
        for episode in range(1, setup.episodes + 1)
        for column in setup.columns
        for alpha in setup.alphas
    )


def seed_of(seed: int, column: ExperimentColumn, alpha: float, episode: int) -> int:
    """The world's seed of one episode; the same for every variant."""
    return derived_seed("experiment", seed, column.level, column.agents, float(alpha), episode)
