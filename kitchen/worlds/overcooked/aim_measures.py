"""Compute from the log of an episode how the aims of the agent `fast_and_slow` changed, and how fast.

The agent notes each change of its aims in its decision (`AimChanges`): who decided, the message that led to
it, and the time from that message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any, ClassVar

from kitchen.contract.episode_log import EpisodeLog, EventColumn, LogMetrics, ScoredEvent
from kitchen.contract.world import Json, Metric
from kitchen.worlds.overcooked.fast_slow.fast_slow_agent import CHANGES_KEY, DROPPED_KEY, FastSlowAgent

UNDEFINED = "blank without a fast-and-slow partner"


class AimMetrics(LogMetrics):
    """Metrics of the aims of fast-and-slow partners. None if no such partner plays."""

    of_agents: ClassVar[tuple[str, ...]] = (FastSlowAgent.kind,)
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "aim_changes",
            "count",
            "Changes of aims",
            meaning="Changes of the aims of fast-and-slow partners",
            undefined=UNDEFINED,
            of_agents=(FastSlowAgent.kind,),
            better="neither",
        ),
        Metric(
            "aim_changes_by_words",
            "count",
            "Changes of aims by words",
            meaning="Changes of the aims of fast-and-slow partners because of a person's message",
            undefined=UNDEFINED,
            of_agents=(FastSlowAgent.kind,),
            better="neither",
        ),
        Metric(
            "aim_milliseconds",
            "number",
            "Time from words to aims",
            meaning="Mean milliseconds of game time from a person's message to the changed aims",
            undefined="blank without such a change, or without a clock",
            unit="ms",
            needs_clock=True,
            of_agents=(FastSlowAgent.kind,),
            better="neither",
        ),
        Metric(
            "dropped_thoughts",
            "count",
            "Thoughts that came too late",
            meaning="Answers of the model that no longer fitted when they arrived",
            undefined=UNDEFINED,
            of_agents=(FastSlowAgent.kind,),
            better="neither",
        ),
    )
    event_columns: ClassVar[tuple[EventColumn, ...]] = (
        EventColumn("aims_first", "text", "Work that the partner then did first, with commas between"),
        EventColumn("aims_left", "text", "Work that it then left to others, likewise"),
        EventColumn(
            "aims_mode", "text", "Whether it worked, waited or kept out of the way", "work, wait, aside"
        ),
        EventColumn("aims_ms", "integer", "Milliseconds of game time from the message to these aims"),
    )

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the value of each metric. All are None if no fast-and-slow partner decided anything."""
        notes = [one.note for one in log.decisions if one.played_by in self.of_agents and not one.dropped]
        if not notes:
            return dict.fromkeys((figure.name for figure in self.figures), None)
        changes = [change for _, change in _changes(log)]
        times = [one["ms"] for one in changes if one["ms"] is not None]
        return {
            "aim_changes": len(changes),
            "aim_changes_by_words": sum(one["message"] is not None for one in changes),
            "aim_milliseconds": fmean(times) if times else None,
            "dropped_thoughts": sum(isinstance(note, dict) and DROPPED_KEY in note for note in notes),
        }

    def events(self, log: EpisodeLog) -> list[ScoredEvent]:
        """Return each change of aims that followed a message."""
        return [_scored(step, one) for step, one in _changes(log) if one["message"] is not None]


def _changes(log: EpisodeLog) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (step, change) for each change of aims in the decisions of the log."""
    for made in log.decisions:
        note = made.note if isinstance(made.note, dict) and not made.dropped else {}
        yield from ((made.step, change) for change in note.get(CHANGES_KEY, ()))


def _scored(step: int, change: Mapping[str, Any]) -> ScoredEvent:
    aims = change["aims"]
    first, left = ", ".join(aims["first"]), ", ".join(aims["left"])
    values = {
        "aims_first": first,
        "aims_left": left,
        "aims_mode": aims["mode"],
        "aims_ms": change["ms"],
    }
    told = f"First {first or 'whatever is needed'}; left to others: {left or 'nothing'}; {aims['mode']}."
    by = f"By {change['by']}, {change['steps']} steps after message {change['message']}."
    return ScoredEvent(step, "aims changed", (change["message"],), values, (told, by))


AIM_METRICS = AimMetrics()
