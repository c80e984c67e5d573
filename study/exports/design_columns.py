"""Make the export columns that depend on a study's design: metrics of its worlds, settings of its conditions.

A world is a game. A condition combines a world with its settings and co-players (agents).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kitchen.contract.declared_settings import Setting, clean_settings
from kitchen.contract.world import Json, Metric
from kitchen.contract.world_errors import SettingsError
from kitchen.play.policies.policy_storage import copy_to_this_machine
from kitchen.registry.agent_registry import agent_facts, get_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_metrics import NamedMetric
from kitchen.registry.world_registry import get_world
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.condition_seats import NOBODY
from study.design.metric_and_scale_names import study_figures
from study.design.models import Study
from study.design.study_versions import version_blueprints
from study.exports.csv_encoding import LARGEST_EXACT
from study.exports.export_table import Column

METRIC_COLUMN_KINDS: Mapping[str, str] = {"count": "integer", "share": "number", "number": "number"}
"""Kind of column by kind of metric."""

METRIC_ENDS: Mapping[str, str] = {"share": "from 0 to 1"}
"""Possible values for the codebook, by kind of metric."""


@dataclass(frozen=True, slots=True)
class MetricColumn(Column):
    """An export column with the values of one metric."""

    named: NamedMetric = field(kw_only=True)


def episode_metric_columns(study: Study) -> tuple[MetricColumn, ...]:
    """Return the metric columns of the episodes table: first counts and other values, then shares computed
    from counts."""
    figures = study_figures(study)
    columns = (_column(one, _of_episode(one.figure), figures) for one in figures)
    return tuple(sorted(columns, key=lambda column: column.named.figure.of is not None))


def step_metric_columns(study: Study) -> tuple[MetricColumn, ...]:
    """Return the metric columns of the steps table: one for each metric that has a value after every step."""
    figures = study_figures(study)
    return tuple(_column(one, one.figure.so_far, figures) for one in figures if one.figure.so_far)


SCORES = 4096
"""Number of scores whose cells are cached."""


def metric_reader(columns: Sequence[MetricColumn]) -> Callable[[str, str], tuple[Json, ...]]:
    """Return a function from (world name, score as JSON text) to the cells of these columns. It caches parsed
    scores, because many steps have the same score."""

    @lru_cache(maxsize=SCORES)
    def cells(world: str, score: str) -> tuple[Json, ...]:
        scored = json.loads(score)
        return tuple(column.named.value(world, scored) for column in columns)

    return cells


def _of_episode(figure: Metric) -> str:
    text = figure.formula or figure.meaning or figure.label
    return f"{text}; {figure.undefined}" if figure.undefined else text


def _column(named: NamedMetric, meaning: str, figures: Iterable[NamedMetric]) -> MetricColumn:
    """Return the column for a metric. If not all of the study's worlds have the metric, the description names
    those that do."""
    kind, unit = METRIC_COLUMN_KINDS[named.figure.kind], named.figure.unit
    others = {world for each in figures for world in each.worlds} - set(named.worlds)
    text = f" Of episodes in {', '.join(named.worlds)}; blank in others." if others else ""
    levels = METRIC_ENDS.get(named.figure.kind, "")
    return MetricColumn(named.name, kind, f"{meaning}.{text}", unit, levels, named=named)


WORLD, COPLAYER = "setting", "coplayer"
"""Prefixes of these columns' names, before a dot and the setting's name."""
SETTING_OWNERS: Mapping[str, str] = {WORLD: "the game", COPLAYER: "the co-player"}
SETTING_COLUMN_KINDS: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "text"}


@dataclass(frozen=True, slots=True)
class SettingColumn(Column):
    """An export column with the values of one setting of the world or the co-player."""

    setting: tuple[str, str] = field(kw_only=True)


def settings_of(plan: ConditionPlan) -> dict[tuple[str, str], Json]:
    """Return the value of every setting of this condition, with defaults, and what is known of its co-player
    (`Agent.facts`). Keys are (`setting` or `coplayer`, name of the setting)."""
    facts = agent_facts(plan.coplayer, plan.coplayer_settings).items()
    return {
        **{
            (whose, name): value
            for whose, (declared, given) in _declared_settings(plan).items()
            for name, value in _whole(declared, given).items()
        },
        **{(COPLAYER, name): value for name, value in facts},
    }


def setting_columns(study: Study) -> tuple[SettingColumn, ...]:
    """Return one column for each setting of a world or co-player that any condition has or had, in any
    version of the study. Settings of worlds come first."""
    return tuple(_columns(version_blueprints(study)))


def _columns(designs: Iterable[Blueprint]) -> Iterator[SettingColumn]:
    plans = [plan for design in designs for plan in design.conditions]
    copy_to_this_machine(plan.coplayer_settings for plan in plans)
    values: dict[tuple[str, str], list[Json]] = {}
    labels: dict[tuple[str, str], str] = {}
    for plan in plans:
        for key, value in settings_of(plan).items():
            values.setdefault(key, []).append(value)
        for whose, (declared, _) in _declared_settings(plan).items():
            labels |= {(whose, one.name): one.label for one in declared}
    for (whose, name), given in sorted(values.items(), key=lambda one: one[0][0] != WORLD):
        text = f"What the condition sets for {SETTING_OWNERS[whose]}: {labels.get((whose, name), name)}."
        yield SettingColumn(f"{whose}.{name}", _kind(given), text, setting=(whose, name))


def _declared_settings(plan: ConditionPlan) -> dict[str, tuple[Sequence[Setting], Mapping[str, Json]]]:
    """Return the settings of a condition by their owner (world or co-player): those that the owner
    declares, and those that are stored. A world or agent that no longer exists declares none."""
    declared_by_owner: dict[str, tuple[Sequence[Setting], Mapping[str, Json]]] = {WORLD: ((), plan.settings)}
    try:
        declared_by_owner[WORLD] = (get_world(plan.world).settings, plan.settings)
        if plan.coplayer != NOBODY:
            declared_by_owner[COPLAYER] = (get_agent(plan.coplayer).settings, plan.coplayer_settings)
    except UnknownNameError:
        declared_by_owner.setdefault(COPLAYER, ((), plan.coplayer_settings))
    return declared_by_owner


def _whole(declared: Sequence[Setting], given: Mapping[str, Json]) -> Mapping[str, Json]:
    try:
        return clean_settings(declared, given)
    except SettingsError:
        return given


def _kind(values: Iterable[Json]) -> str:
    values = list(values)
    if any(type(value) is int and abs(value) > LARGEST_EXACT for value in values):
        return "text"  # a seed, for example
    kinds = {SETTING_COLUMN_KINDS.get(type(value), "json") for value in values if value is not None} or {
        "text"
    }
    if len(kinds) == 1:
        return kinds.pop()
    return "number" if kinds <= {"integer", "number"} else "json"
