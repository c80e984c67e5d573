"""What a study measures of play: the figures of its worlds, as they declare them."""

from __future__ import annotations

from collections.abc import Collection

from kitchen.contract.reading import COLUMNS
from kitchen.forms.setting_fields import readable
from kitchen.registry.figures import NamedFigure, side_by_side
from study.design.blueprint import Blueprint
from study.design.models import Study
from study.design.of_play import LABELS, OF_PLAY, OfPlay, of_play_in
from study.design.versions import blueprints

TAKEN = (
    *("participant", "synthetic", "condition", "order_position", "episode", "condition_name", "label"),
    *("coplayer", "played_by", "teammates", "world", "world_version", "settings", "seed", "status", "steps"),
    *("fallbacks", "started_at", "ended_at", "state_hash", "part", "preview", "excluded", "version"),
    *("changed_since_freeze", "seat", "sequence", "step_seconds", "thinking_seconds", "hints"),
    *("ended_because", "step", "opened_at", "taken_at", "seconds", "events", "episode_status"),
    *("outage_ms", "outage_parts", "shown", "asks_first"),
    *("three_dimensions", "three_dimensions_used", "shows_intents", "chose_in"),
    *("passes_by", "knowing", "decision_seconds", "offers_plans"),
    *("people", "group", "given_up_step", "given_up_because", "without_people"),
    *("predictions_judged", "predictions_right", "predictions_share", "tick_ms"),
    *COLUMNS,
)
"""Columns beside those of figures, wherever these are."""


def study_figures(
    study: Study, *, names: Collection[str] = (), labels: Collection[str] = ()
) -> tuple[NamedFigure, ...]:
    """Of every world that was or is played, by the same names in every file, table and chart: what a later
    version adds renames nothing. `names` and `labels` are those that something else has."""
    return side_by_side(study_worlds(study), names=[*TAKEN, *OF_PLAY, *names], labels=[*LABELS, *labels])


def study_worlds(study: Study) -> list[str]:
    """Every world that was or is played, those of earlier versions first."""
    return list(dict.fromkeys(world for design in blueprints(study) for world in design.worlds))


def measured(design: Blueprint) -> list[tuple[str, list[str]]]:
    """What episodes of this design are compared by: in which episodes, and each figure in words. Without what
    is explored beside that (`explored`)."""
    worlds = {one.world for one in design.conditions}
    figures: dict[str, list[str]] = {}
    for one in side_by_side(one.world for one in design.conditions):
        if one.figure.measured:
            everywhere = worlds == set(one.worlds)
            where = "every episode" if everywhere else f"episodes in {', '.join(map(readable, one.worlds))}"
            figures.setdefault(where, []).append(_in_words(one))
    for planned in _of_play(design, exploratory=False):
        figures.setdefault(planned.places, []).append(planned.words)
    return list(figures.items())


def is_measured_in(design: Blueprint, keys: Collection[str]) -> bool:
    """Whether any figure, other than what is only explored, is measured in all of these conditions."""
    played = [one for one in design.conditions if one.key in keys]
    worlds = {one.world for one in played}
    figures = side_by_side(one.world for one in design.conditions)
    if any(one.figure.measured and worlds <= set(one.worlds) for one in figures):
        return True
    return any(not one.exploratory and all(map(one.where, played)) for one in OF_PLAY.values())


def explored(design: Blueprint) -> list[tuple[str, list[str]]]:
    """What is measured of what participants do, and decides on nothing: as `measured`."""
    found: dict[str, list[str]] = {}
    for one in _of_play(design, exploratory=True):
        found.setdefault(one.places, []).append(one.words)
    return list(found.items())


def _of_play(design: Blueprint, *, exploratory: bool) -> list[OfPlay]:
    """Those that any of its conditions has."""
    there = {one.key for condition in design.conditions for one in of_play_in(condition)}
    return [one for key, one in OF_PLAY.items() if key in there and one.exploratory is exploratory]


def _in_words(named: NamedFigure) -> str:
    """As in `success rate (higher is better)`."""
    label = named.label if named.label[:2].isupper() else f"{named.label[:1].lower()}{named.label[1:]}"
    return f"{label} ({named.figure.better_words})" if named.figure.better_words else label
