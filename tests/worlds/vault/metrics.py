"""Compute the metrics of the test world Vault that depend on messages."""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.episode_log import EpisodeLog, LogMetrics
from kitchen.contract.world import Json, Metric


class TalkMetrics(LogMetrics):
    """The metric that counts messages."""

    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "messages",
            "count",
            "Messages sent",
            better="neither",
            undefined="blank where it failed",
            words=("message sent", "messages sent"),
        ),
    )

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the number of messages that members sent."""
        return {"messages": sum(said.sender is not None for said in log.messages)}


METRICS = TalkMetrics()
