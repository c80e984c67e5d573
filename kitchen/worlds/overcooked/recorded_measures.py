"""Compute from the log of an episode how long the game stayed the recorded one, for the agent `recorded`."""

from __future__ import annotations

from typing import ClassVar

from kitchen.agents.recorded import DIVERGED_KEY, RecordedAgent
from kitchen.contract.episode_log import EpisodeLog, LogMetrics
from kitchen.contract.line_up import line_up_kinds
from kitchen.contract.world import Json, Metric

STEPS_ALIKE = "recorded_steps_alike"


class RecordedMetrics(LogMetrics):
    """Metrics of recorded games. None if no such agent plays."""

    of_agents: ClassVar[tuple[str, ...]] = (RecordedAgent.kind,)
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            STEPS_ALIKE,
            "count",
            "Ticks as recorded",
            meaning="Ticks until a recorded co-player saw something else than in its recording",
            undefined="blank without a recorded co-player",
            of_agents=(RecordedAgent.kind,),
            better="neither",
        ),
    )

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the number of ticks. If the whole game was as recorded, these are all its ticks."""
        kind = RecordedAgent.kind
        made = [one for one in log.decisions if kind in line_up_kinds(one.played_by) and not one.dropped]
        if not made:
            return {STEPS_ALIKE: None}
        notes = [one.note for one in made if isinstance(one.note, dict)]
        diverged = [note[DIVERGED_KEY] for note in notes if note.get(DIVERGED_KEY) is not None]
        return {STEPS_ALIKE: min(diverged, default=len(log.steps))}


RECORDED_METRICS = RecordedMetrics()
