"""Compute from the log of an episode which lines of its tree the agent `written_policy` used, and how often.

The agent notes in its decisions each time that another line decides, for each of its seats.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from kitchen.contract.episode_log import EpisodeLog, LoggedDecision, LogMetrics
from kitchen.contract.line_up import line_up_kinds
from kitchen.contract.world import Json, Metric
from kitchen.worlds.overcooked.written_policy.policy_tree import UNDECIDED
from kitchen.worlds.overcooked.written_policy.written_policy_agent import (
    ASIDE_KEY,
    LINES_KEY,
    WrittenPolicyAgent,
)

_UNDEFINED = "blank without a partner with a written policy"


class PolicyMetrics(LogMetrics):
    """Metrics of the lines that decided in written policies. None if no such agent plays."""

    of_agents: ClassVar[tuple[str, ...]] = (WrittenPolicyAgent.kind,)
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "policy_lines_used",
            "count",
            "Lines of the policy used",
            meaning="Lines of written policies that decided at least once",
            undefined=_UNDEFINED,
            of_agents=(WrittenPolicyAgent.kind,),
            better="neither",
        ),
        Metric(
            "policy_line_changes",
            "count",
            "Changes of the deciding line",
            meaning="Times that another line of a written policy decided than in the decision before",
            undefined=_UNDEFINED,
            of_agents=(WrittenPolicyAgent.kind,),
            better="neither",
        ),
        Metric(
            "policy_top_line_share",
            "share",
            "Share of the most used line",
            meaning="Share of the decisions of written policies that their most used line made",
            undefined=_UNDEFINED,
            of_agents=(WrittenPolicyAgent.kind,),
            better="neither",
        ),
        Metric(
            "policy_undecided_share",
            "share",
            "Share without a line",
            meaning="Share of the decisions of written policies in which no line applied and was possible",
            undefined=_UNDEFINED,
            of_agents=(WrittenPolicyAgent.kind,),
            better="lower",
        ),
        Metric(
            "policy_asides",
            "count",
            "Steps aside of the policy",
            meaning="Ticks in which a written policy stepped aside because the cooks blocked each other",
            undefined=_UNDEFINED,
            of_agents=(WrittenPolicyAgent.kind,),
            better="lower",
        ),
    )

    def measure(self, log: EpisodeLog) -> dict[str, Json]:
        """Return the value of each metric. All are None if no written policy decided anything."""
        changes, asides = list(_changes(log)), sum(len(_noted(one, ASIDE_KEY)) for one in _made(log))
        if not changes:
            return dict.fromkeys((figure.name for figure in self.figures), None)
        ticks = decisions_by_line(log)
        return {
            "policy_lines_used": len(set(ticks) - {UNDECIDED}),
            "policy_line_changes": len(changes) - len({seat for _, seat, _ in changes}),
            "policy_top_line_share": max(ticks.values()) / ticks.total(),
            "policy_undecided_share": ticks[UNDECIDED] / ticks.total(),
            "policy_asides": asides,
        }


def decisions_by_line(log: EpisodeLog, seat: int | None = None) -> Counter[int]:
    """Return how many decisions each line of a written policy made in an episode, by the line's number.
    UNDECIDED counts those that no line made. `seat` None means all seats."""
    made, found = [one.step for one in _made(log)], Counter[int]()
    ends = dict[int, int]()
    for step, each, line in reversed(list(_changes(log))):
        if seat in (None, each):
            end = ends.get(each, made[-1] + 1)
            found[line] += bisect_left(made, end) - bisect_left(made, step)
        ends[each] = step
    return found


def _made(log: EpisodeLog) -> list[LoggedDecision]:
    """Return the decisions of written policies that were used. Several members without an organisation make
    joint decisions."""
    kind = WrittenPolicyAgent.kind
    return [one for one in log.decisions if kind in line_up_kinds(one.played_by) and not one.dropped]


def _changes(log: EpisodeLog) -> Iterator[tuple[int, int, int]]:
    """Yield (step, seat, line) each time that another line decided."""
    for one in _made(log):
        yield from ((one.step, told["seat"], told["line"]) for told in _noted(one, LINES_KEY))


def _noted(one: LoggedDecision, key: str) -> list[Json]:
    return one.note.get(key, []) if isinstance(one.note, dict) else []


POLICY_METRICS = PolicyMetrics()
