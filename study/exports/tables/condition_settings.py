"""Columns with what a condition is set to: the settings of its world, and those of its co-player."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kitchen.contract.world import Json, Setting, SettingsError, clean_settings
from kitchen.registry.agents import get_agent
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.models import Study
from study.design.plan import NOBODY
from study.design.versions import blueprints
from study.exports.base import Column

WORLD, COPLAYER = "setting", "coplayer"
"""What the names of these columns begin with, before a dot and the setting's own name."""
WHOSE: Mapping[str, str] = {WORLD: "the game", COPLAYER: "the co-player"}
KINDS: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "text"}

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
    return tuple(_columns(blueprints(study)))


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
        said = f"What the condition sets for {WHOSE[whose]}: {labels.get((whose, name), name)}."
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
    kinds = {KINDS.get(type(value), "json") for value in values if value is not None} or {"text"}
    if len(kinds) == 1:
        return kinds.pop()
    return "number" if kinds <= {"integer", "number"} else "json"
