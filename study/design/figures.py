"""What a study measures of play: the figures of its worlds, as they declare them."""

from __future__ import annotations

from collections.abc import Collection

from kitchen.contract.reading import COLUMNS
from kitchen.forms.setting_fields import readable
from kitchen.registry.figures import NamedFigure, side_by_side
from study.design.blueprint import Blueprint
from study.design.models import Study
from study.design.names import FORESIGHT_LABEL
from study.design.plan import foretold
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
FORESIGHT_WORDS = f"{FORESIGHT_LABEL[:1].lower()}{FORESIGHT_LABEL[1:]} (higher is better)"


def study_figures(
    study: Study, *, names: Collection[str] = (), labels: Collection[str] = ()
) -> tuple[NamedFigure, ...]:
    """Of every world that was or is played, by the same names in every file, table and chart: what a later
    version adds renames nothing. `names` and `labels` are those that something else has."""
    return side_by_side(study_worlds(study), names=[*TAKEN, *names], labels=labels)


def study_worlds(study: Study) -> list[str]:
    """Every world that was or is played, those of earlier versions first."""
    return list(dict.fromkeys(world for design in blueprints(study) for world in design.worlds))


def measured(design: Blueprint) -> list[tuple[str, list[str]]]:
    """What episodes of this design are compared by: in which episodes, and each figure in words."""
    worlds = {one.world for one in design.conditions}
    figures: dict[str, list[str]] = {}
    for one in side_by_side(one.world for one in design.conditions):
        if one.figure.measured:
            everywhere = worlds == set(one.worlds)
            where = "every episode" if everywhere else f"episodes in {', '.join(map(readable, one.worlds))}"
            figures.setdefault(where, []).append(_in_words(one))
    if any(foretold(one) for one in design.conditions):
        figures["episodes beside a co-player that says what others will do"] = [FORESIGHT_WORDS]
    return list(figures.items())


def _in_words(named: NamedFigure) -> str:
    """As in `success rate (higher is better)`."""
    label = named.label if named.label[:2].isupper() else f"{named.label[:1].lower()}{named.label[1:]}"
    return f"{label} ({named.figure.better_words})" if named.figure.better_words else label
