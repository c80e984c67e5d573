"""List the metrics that a study compares, and give each metric and sub-scale score a unique column name.

A sub-scale score is computed from several questionnaire items.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, count

from django.utils.text import slugify

from kitchen.contract.decision_notes import READING_COLUMNS
from kitchen.forms.setting_fields import readable_name
from kitchen.registry.world_metrics import NamedMetric, metrics_side_by_side
from study.design.blueprint import Blueprint
from study.design.item_places import SURVEY, item_places
from study.design.models import Study
from study.design.play_metrics import PLAY_METRIC_LABELS, PLAY_METRICS, PlayMetric, play_metrics_in
from study.design.possible_metrics import can_have_values, possible_metrics
from study.design.questions.questionnaires import subscales
from study.design.study_versions import version_blueprints

TAKEN = (
    *("participant", "synthetic", "condition", "order_position", "episode", "condition_name", "label"),
    *("coplayer", "played_by", "teammates", "world", "world_version", "settings", "seed", "status", "steps"),
    *("fallbacks", "started_at", "ended_at", "state_hash", "part", "preview", "excluded", "version"),
    *("changed_since_freeze", "seat", "sequence_id", "step_seconds", "thinking_seconds", "hints"),
    *("ended_because", "step", "opened_at", "taken_at", "seconds", "events", "episode_status"),
    *("outage_ms", "outage_parts", "shown", "asks_first", "left_out", "left_out_because"),
    *("three_dimensions", "three_dimensions_used", "shows_intents", "chose_in"),
    *("passes_by", "knowing", "decision_seconds", "offers_plans", "goal", "ends_at_goal", "talk_language"),
    *("recommends_sound", "sound", "hides_dots", "star_targets", "stars", "order_choices"),
    *("probes", "rating_slider"),
    *("ready_card", "end_card", "rating_replay", "lobby_practice", "lobby_practice_shared"),
    *("round_trips", "round_trip_min_ms", "round_trip_median_ms", "round_trip_p95_ms"),
    *("people", "group", "given_up_step", "given_up_because", "without_people"),
    *("predictions_judged", "predictions_right", "predictions_share", "tick_ms"),
    *READING_COLUMNS,
)
"""Names of columns that are not metrics, in any file. A metric cannot have one of these names."""


def study_figures(
    study: Study, *, names: Collection[str] = (), labels: Collection[str] = ()
) -> tuple[NamedMetric, ...]:
    """Return the metrics of every world that this study has ever used, with their names in files, tables and
    charts. Metrics that no condition of any version can measure are left out.

    These names do not change if a later version adds a world. `names` and `labels` are already used, so no
    metric gets one of them.
    """
    designs = version_blueprints(study)
    figures = metrics_side_by_side(
        _worlds(designs), names=[*TAKEN, *PLAY_METRICS, *names], labels=[*PLAY_METRIC_LABELS, *labels]
    )
    practised = [one.practice for one in designs if one.has("practice")]
    return tuple(
        possible_metrics(figures, [*practised, *(each for one in designs for each in one.conditions)])
    )


def world_figures(world: str) -> tuple[NamedMetric, ...]:
    """Return the metrics of a world, with the names that they have in a study of this world alone."""
    return metrics_side_by_side([world], names=[*TAKEN, *PLAY_METRICS], labels=[*PLAY_METRIC_LABELS])


def study_worlds(study: Study) -> list[str]:
    """Return every world that this study has ever used. Worlds of earlier versions come first."""
    return _worlds(version_blueprints(study))


def _worlds(designs: Iterable[Blueprint]) -> list[str]:
    return list(dict.fromkeys(world for design in designs for world in design.worlds))


def comparison_metrics(design: Blueprint) -> list[tuple[str, list[str]]]:
    """Return the metrics that this design compares, as (episodes, metrics) pairs. The first is a text that
    names the episodes, the second a list of texts about the metrics.

    Exploratory metrics are left out; `exploratory_metrics` returns them.
    """
    worlds = {one.world for one in design.conditions}
    figures: dict[str, list[str]] = {}
    for one in possible_metrics(_figures_of(design), design.conditions):
        if one.figure.measured:
            everywhere = worlds == set(one.worlds)
            where = (
                "every episode" if everywhere else f"episodes in {', '.join(map(readable_name, one.worlds))}"
            )
            figures.setdefault(where, []).append(_in_words(one))
    for planned in _play_metrics(design, exploratory=False):
        figures.setdefault(planned.places, []).append(planned.words)
    return list(figures.items())


def has_metric_in(design: Blueprint, keys: Collection[str]) -> bool:
    """Return whether there is a metric that is measured in all conditions with these keys. Exploratory
    metrics do not count."""
    played = [one for one in design.conditions if one.key in keys]
    if any(
        one.figure.measured
        and all(each.world in one.worlds and can_have_values(one.figure, each) for each in played)
        for one in _figures_of(design)
    ):
        return True
    return any(not one.exploratory and all(map(one.where, played)) for one in PLAY_METRICS.values())


def _figures_of(design: Blueprint) -> tuple[NamedMetric, ...]:
    return metrics_side_by_side(one.world for one in design.conditions)


def exploratory_metrics(design: Blueprint) -> list[tuple[str, list[str]]]:
    """Return the exploratory metrics of what participants do, as (episodes, metrics) pairs. The form is that
    of `comparison_metrics`."""
    found: dict[str, list[str]] = {}
    for one in _play_metrics(design, exploratory=True):
        found.setdefault(one.places, []).append(one.words)
    return list(found.items())


def _play_metrics(design: Blueprint, *, exploratory: bool) -> list[PlayMetric]:
    """Return the play metrics that any condition of the design measures."""
    there = {one.key for condition in design.conditions for one in play_metrics_in(condition)}
    return [one for key, one in PLAY_METRICS.items() if key in there and one.exploratory is exploratory]


def _in_words(named: NamedMetric) -> str:
    """Return a metric's label within a sentence, such as `success rate (higher is better)`."""
    label = named.label if named.label[:2].isupper() else f"{named.label[:1].lower()}{named.label[1:]}"
    return f"{label} ({named.figure.better_words})" if named.figure.better_words else label


def scale_keys(designs: Sequence[Blueprint]) -> dict[str, str]:
    """Return the column name of each sub-scale's score, by the sub-scale's name.

    A column name consists of the Latin letters of the sub-scale's name and `_score`. It differs from all
    other column names and from the items' keys. `designs` are all versions of a study, oldest first. A
    sub-scale that a later version adds does not change the other column names.
    """
    taken = {item.key for design in designs for item in design.items}
    keys: dict[str, str] = {}
    for name in _scales(designs):
        if name not in keys:
            word = f"{slugify(name).replace('-', '_') or 'scale'}_score"
            keys[name] = next(key for key in chain([word], _numbered(word)) if key not in taken)
            taken.add(keys[name])
    return keys


def _scales(designs: Sequence[Blueprint]) -> Iterator[str]:
    items = [item for design in designs for item in design.items]
    for place in sorted(item_places(items), key=lambda place: place != SURVEY):  # the survey comes first
        for design in designs:
            yield from (scale.name for scale in subscales(design.items_at(place)))


def _numbered(word: str) -> Iterator[str]:
    return (f"{word}_{number}" for number in count(2))
