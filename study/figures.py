"""What a study measures of play: the figures of its worlds, as they declare them."""

from __future__ import annotations

from collections.abc import Collection

from kitchen.worlds.figures import NamedFigure, side_by_side
from study.models import Study
from study.versions import blueprints

TAKEN = (
    *("participant", "synthetic", "condition", "order_position", "episode", "condition_name", "label"),
    *("coplayer", "played_by", "teammates", "world", "world_version", "settings", "seed", "status", "steps"),
    *("fallbacks", "started_at", "ended_at", "state_hash", "part", "preview", "excluded", "version"),
    *("changed_since_freeze", "seat", "sequence", "step_seconds", "thinking_seconds", "hints"),
    *("ended_because", "step", "opened_at", "taken_at", "seconds", "events", "episode_status"),
)
"""Columns beside those of figures, wherever these are."""


def study_figures(
    study: Study, *, names: Collection[str] = (), labels: Collection[str] = ()
) -> tuple[NamedFigure, ...]:
    """Of every world that was or is played, by the same names in every file, table and chart: what a later
    version adds renames nothing. `names` and `labels` are those that something else has."""
    worlds = (world for design in blueprints(study) for world in design.worlds)
    return side_by_side(worlds, names=[*TAKEN, *names], labels=labels)
