"""Collect the metrics that the grids compute from an episode's log: a group for each kind of agent."""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.episode_log import EpisodeLog, EventColumn, LogMetrics, ScoredEvent
from kitchen.contract.world import Json, Metric
from kitchen.worlds.overcooked.aim_measures import AIM_METRICS
from kitchen.worlds.overcooked.recorded_measures import RECORDED_METRICS
from kitchen.worlds.overcooked.written_policy.policy_measures import POLICY_METRICS

_GROUPS: tuple[LogMetrics, ...] = (AIM_METRICS, POLICY_METRICS, RECORDED_METRICS)


class AgentLogMetrics(LogMetrics):
    """The metrics of fast-and-slow partners, of written policies and of recordings."""

    of_agents: ClassVar[tuple[str, ...]] = tuple(kind for group in _GROUPS for kind in group.of_agents)
    figures: ClassVar[tuple[Metric, ...]] = tuple(figure for group in _GROUPS for figure in group.figures)
    event_columns: ClassVar[tuple[EventColumn, ...]] = AIM_METRICS.event_columns

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the value of each metric. Those of an agent that does not play are None."""
        return {name: value for group in _GROUPS for name, value in group.measure(log).items()}

    def events(self, log: EpisodeLog) -> list[ScoredEvent]:
        """Return each change of aims that followed a message (`AimMetrics.events`)."""
        return AIM_METRICS.events(log)


AGENT_LOG_METRICS = AgentLogMetrics()
