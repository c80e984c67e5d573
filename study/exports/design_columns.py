"""Export columns that follow from a study's design: metrics of its worlds, and settings of its conditions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kitchen.contract.world import Json, Metric, Setting, SettingsError, clean_settings
from kitchen.registry.agent_registry import get_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_metrics import NamedMetric
from kitchen.registry.world_registry import get_world
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.condition_plan import NOBODY
from study.design.models import Study
from study.design.study_metrics import study_figures
from study.design.study_versions import version_blueprints
from study.exports.export_table import Column

METRIC_COLUMN_KINDS: Mapping[str, str] = {"count": "integer", "share": "number", "number": "number"}
"""Kind of column by kind of figure."""


@dataclass(frozen=True, slots=True)
class MetricColumn(Column):
    """A column that holds a figure."""

    named: NamedMetric = field(kw_only=True)


def episode_metric_columns(study: Study) -> tuple[MetricColumn, ...]:
    """Of a whole episode: counts first, then shares that are made of them."""
    figures = study_figures(study)
    columns = (_column(one, _of_episode(one.figure), figures) for one in figures)
    return tuple(sorted(columns, key=lambda column: column.named.figure.of is not None))


def step_metric_columns(study: Study) -> tuple[MetricColumn, ...]:
    """Of a step: the figures that there are after each."""
    figures = study_figures(study)
    return tuple(_column(one, one.figure.so_far, figures) for one in figures if one.figure.so_far)


SCORES = 4096
"""Scores that are kept as cells."""


def metric_reader(columns: Sequence[MetricColumn]) -> Callable[[str, str], tuple[Json, ...]]:
    """Tells what an episode has in these columns, by its world and the JSON of its score. A score that many
    steps share is read once."""

    @lru_cache(maxsize=SCORES)
    def cells(world: str, score: str) -> tuple[Json, ...]:
        scored = json.loads(score)
        return tuple(column.named.value(world, scored) for column in columns)

    return cells


def worlds_with_metric(named: NamedMetric, figures: Iterable[NamedMetric]) -> str:
    """In which worlds it is, as a sentence, if it is not in all that the study has; empty if it is."""
    others = {world for each in figures for world in each.worlds} - set(named.worlds)
    return f" Of episodes in {', '.join(named.worlds)}; blank in others." if others else ""


def _of_episode(figure: Metric) -> str:
    said = figure.formula or figure.meaning or figure.label
    return f"{said}; {figure.undefined}" if figure.undefined else said


def _column(named: NamedMetric, meaning: str, figures: Iterable[NamedMetric]) -> MetricColumn:
    said = f"{meaning}.{worlds_with_metric(named, figures)}"
    return MetricColumn(
        named.name, METRIC_COLUMN_KINDS[named.figure.kind], said, named.figure.unit, named=named
    )


WORLD, COPLAYER = "setting", "coplayer"
"""What the names of these columns begin with, before a dot and the setting's own name."""
SETTING_OWNERS: Mapping[str, str] = {WORLD: "the game", COPLAYER: "the co-player"}
SETTING_COLUMN_KINDS: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "text"}

Settings = Mapping[tuple[str, str], Json]
"""By whose they are, `WORLD` or `COPLAYER`, and their name."""


@dataclass(frozen=True, slots=True)
class SettingColumn(Column):
    """A column that holds a setting."""

    setting: tuple[str, str] = field(kw_only=True)


def settings_of(plan: ConditionPlan) -> dict[tuple[str, str], Json]:
    """Every setting of this condition, with the default where it says nothing."""
    return {
        (whose, name): value
        for whose, (declared, given) in _told(plan).items()
        for name, value in _whole(declared, given).items()
    }


def setting_columns(study: Study) -> tuple[SettingColumn, ...]:
    """Of every condition that there was or is, in the order in which settings came."""
    return tuple(_columns(version_blueprints(study)))


def _columns(designs: Iterable[Blueprint]) -> Iterator[SettingColumn]:
    plans = [plan for design in designs for plan in design.conditions]
    values: dict[tuple[str, str], list[Json]] = {}
    labels: dict[tuple[str, str], str] = {}
    for plan in plans:
        for key, value in settings_of(plan).items():
            values.setdefault(key, []).append(value)
        for whose, (declared, _) in _told(plan).items():
            labels |= {(whose, one.name): one.label for one in declared}
    for (whose, name), given in sorted(values.items(), key=lambda one: one[0][0] != WORLD):
        said = f"What the condition sets for {SETTING_OWNERS[whose]}: {labels.get((whose, name), name)}."
        yield SettingColumn(f"{whose}.{name}", _kind(given), said, setting=(whose, name))


def _told(plan: ConditionPlan) -> dict[str, tuple[Sequence[Setting], Mapping[str, Json]]]:
    """What is declared, and what is set; nothing is declared by what this program does not have any more."""
    told: dict[str, tuple[Sequence[Setting], Mapping[str, Json]]] = {WORLD: ((), plan.settings)}
    try:
        told[WORLD] = (get_world(plan.world).settings, plan.settings)
        if plan.coplayer != NOBODY:
            told[COPLAYER] = (get_agent(plan.coplayer).settings, plan.coplayer_settings)
    except UnknownNameError:
        told.setdefault(COPLAYER, ((), plan.coplayer_settings))
    return told


def _whole(declared: Sequence[Setting], given: Mapping[str, Json]) -> Mapping[str, Json]:
    try:
        return clean_settings(declared, given)
    except SettingsError:
        return given


def _kind(values: Iterable[Json]) -> str:
    kinds = {SETTING_COLUMN_KINDS.get(type(value), "json") for value in values if value is not None} or {
        "text"
    }
    if len(kinds) == 1:
        return kinds.pop()
    return "number" if kinds <= {"integer", "number"} else "json"
