"""Who and what an analysis leaves out, and why: drop-outs, as the paper discards them, and missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from study.analysis.statistics.rows import AnalysisCondition, Observation

Reason = Literal["not every condition", "no value"]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Rows that were left out for one reason; `participants` are the codes concerned, sorted."""

    reason: Reason
    participants: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Attrition:
    """What became of those who entered, before there were rows to analyse.

    `entered` are those whose data are still there: `completed` of them went the whole way, `unfinished`
    dropped out or still take part; `ends` says in words how, with their numbers. Of the completed, staff
    `excluded` some, and some failed more attention checks than the study allows. `withdrew` is how many
    withdrew: their data are erased. Previews by staff are counted nowhere. Where only what was collected as
    preregistered is asked for, all but `withdrew` counts those alone, and `otherwise` the others. `touched`
    are episodes of those who stay that an outage of ours touched, and may be left out. `together` of those
    who stay shared an episode with another of them; `shared` are these episodes.
    """

    entered: int
    completed: int
    unfinished: int
    withdrew: int
    ends: tuple[tuple[str, int], ...] = ()
    excluded: int = 0
    failed_checks: int = 0
    otherwise: int = 0
    touched: int = 0
    touched_left_out: bool = False
    together: int = 0
    shared: int = 0


def incomplete(
    observations: Sequence[Observation], conditions: Sequence[AnalysisCondition]
) -> frozenset[str]:
    """Participants without a value in at least one of the conditions: the paper's drop-outs (section 5.3)."""
    played: dict[str, set[str]] = {row.participant: set() for row in observations}
    for row in observations:
        if row.value is not None:
            played[row.participant].add(row.condition)
    needed = {condition.key for condition in conditions}
    return frozenset(who for who, where in played.items() if where != needed)


def set_aside(
    observations: Sequence[Observation], dropped: frozenset[str]
) -> tuple[tuple[Observation, ...], tuple[Exclusion, ...]]:
    """The rows of those who stay, and what was left out. Rows without a value stay: they are counted."""
    kept = tuple(row for row in observations if row.participant not in dropped)
    left_out: dict[Reason, list[str]] = {
        "not every condition": [row.participant for row in observations if row.participant in dropped],
        "no value": [row.participant for row in kept if row.value is None],
    }
    return kept, tuple(
        Exclusion(reason, tuple(sorted(set(names))), len(names))
        for reason, names in left_out.items()
        if names
    )
