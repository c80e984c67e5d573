"""Say which metrics of a world (a game) can have a value in a condition.

A world declares metrics for all of its settings. Some are about one kind of agent, or need a clock. Pages,
files, the analysis and dry runs list only the metrics that a study can measure. The module does not import
Django models.
"""

from __future__ import annotations

from collections.abc import Iterable

from kitchen.contract.world import Metric
from kitchen.contract.world_errors import SettingsError
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_metrics import NamedMetric
from study.design.condition_seats import PlayedCondition, mind_plans, stand_ins
from study.design.play_metrics import PlayedSettings, has_clock


def can_have_values(figure: Metric, played: PlayedSettings) -> bool:
    """Return whether episodes of this condition can have a value for this metric of its world. Return True
    for a condition that cannot be played; `condition_check` reports that."""
    if figure.of_agents and not _plays_any(played, figure.of_agents):
        return False
    return not figure.needs_clock or has_clock(played) is not False


def possible_metrics(named: Iterable[NamedMetric], played: Iterable[PlayedSettings]) -> list[NamedMetric]:
    """Return those of these metrics that any of the conditions can measure."""
    conditions = list(played)
    return [
        one
        for one in named
        if any(each.world in one.worlds and can_have_values(one.figure, each) for each in conditions)
    ]


def _plays_any(played: PlayedCondition, kinds: Iterable[str]) -> bool:
    """Return whether an agent of one of these kinds plays, or may replace a person."""
    try:
        plans = [*mind_plans(played), *stand_ins(played)]
    except (SettingsError, UnknownNameError):
        return True
    return any(plan.kind in kinds for plan in plans)
