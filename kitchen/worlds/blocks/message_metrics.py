"""Count the messages of an episode of blocks from its log."""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.episode_log import EpisodeLog, LogMetrics
from kitchen.contract.organisation import END, TALK_KINDS
from kitchen.contract.world import Json, Metric


class MessageMetrics(LogMetrics):
    """How much the members wrote, and how often a command was refused."""

    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "messages_sent",
            "count",
            "Messages sent",
            meaning="Messages that members sent to one another",
            better="neither",
        ),
        Metric(
            "refused_commands",
            "count",
            "Refused commands",
            meaning="Commands of all seats that the world refused",
            better="lower",
        ),
    )

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return both counts."""
        talk = [one for one in log.messages if one.kind in TALK_KINDS - {END} and one.sender is not None]
        events = (event for step in log.steps for event in step.events)
        return {
            "messages_sent": len(talk),
            "refused_commands": sum(event.kind == "refused" for event in events),
        }


MESSAGE_METRICS = MessageMetrics()
