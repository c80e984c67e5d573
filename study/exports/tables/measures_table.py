"""Define the export table measures.csv: one row for each participant, condition, and measure.

The values equal those in the analysis. Each row also has the settings of the condition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from kitchen.contract.bootstrap_intervals import Interval, share_interval
from kitchen.contract.world import Json
from kitchen.play.models import Episode
from kitchen.registry.world_metrics import metrics_of_world
from study.analysis.analysis_measures import MeasuredItems, measures_of, play_values
from study.analysis.analysis_sample import EXCLUSION_REASONS, exclusion_reasons, measured_items_in_versions
from study.analysis.statistics.observations import Measure
from study.analysis.team_metric_values import Values
from study.design.between_groups import level_of
from study.design.blueprint import ConditionPlan
from study.design.models import Study
from study.design.questions.item_kinds import numeric_answer
from study.design.questions.questionnaires import SubScale
from study.design.study_versions import version_blueprints
from study.exports.design_columns import SettingColumn, setting_columns, settings_of
from study.exports.export_table import (
    EPISODE_COLUMNS,
    PERSON_MARKS,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import (
    ExportedParticipant,
    not_withdrawn,
    participant_chunks,
)
from study.participants.episode_owners_and_outages import downtime_since_creation, touched_episodes
from study.participants.models import Answer, Round

FROM = {
    "play": "what the world measured, or what follows from the log",
    "item": "an answer, as it was given",
    "scale": "the score of a sub-scale, reversed items turned; blank if not all of it was answered",
}
"""Sources of a measure, each with its explanation in the codebook."""

COLUMNS = (
    *EPISODE_COLUMNS[:4],
    *file_columns("measures", made_of=FROM),
    *PERSON_MARKS,
    *file_columns("measures_later", left_out_of_analysis=EXCLUSION_REASONS),
)


@dataclass(frozen=True, slots=True)
class _Version:
    """The measures of one version."""

    pk: int
    plans: Mapping[str, ConditionPlan]
    """Conditions by key."""
    rated: MeasuredItems
    measures: Mapping[str, tuple[Any, ...]]
    """Cells that describe a measure, by its key; the value is placed between them."""


Played = tuple[int, str, int, int, int, int, str, str, Mapping[str, Json]]
"""Participant, key and position of the condition, round, episode, seat, and the episode's key, world and
score."""


def _versions(study: Study) -> dict[int, _Version]:
    """Return the measures of each version of the study, by version number."""
    found: dict[int, _Version] = {}
    for version in study.versions.defer("bundle"):
        design = version.blueprint
        rated = measured_items_in_versions(study, {version.pk: design})
        cells = {one.key: _measure_cells(one, rated, version.pk) for one in measures_of(rated)}
        plans = {one.key: one for one in design.conditions}
        found[version.number] = _Version(version.pk, plans, rated, cells)
    return found


def _measure_cells(measure: Measure, rated: MeasuredItems, version: int) -> tuple[Any, ...]:
    asked = rated.versions[version].fits.get(measure.key)
    made_of = "scale" if isinstance(asked, SubScale) else "item" if asked else "play"
    return measure.label, made_of, measure.low, measure.high, measure.unit or None


def rows(study: Study, chosen: ExportSelection, settings: Sequence[SettingColumn]) -> Iterator[RowGroup]:
    """Yield one row per participant, condition and measure, ordered by participant and time of play.
    Measures of play come first, then items, then sub-scales."""
    versions, out = _versions(study), exclusion_reasons(study)
    for people in participant_chunks(study, chosen):
        played = _played(study, people, chosen)
        answers = _answers(played)
        beside = _beside(played, versions.values())
        there = not_withdrawn(people)
        for pk, theirs in groupby(played, itemgetter(0)):
            for one in theirs if pk in there else ():
                who = people[pk]
                version = versions[who.marks.version]
                cells = _cells(version, one, answers.get(one[3], {}), beside.get((one[4], one[5]), {}))
                after = _last_cells(version.plans[one[1]], settings, who, out.get(pk))
                yield RowGroup((*who.cells, *one[1:3], one[6]), cells, after)


def _played(study: Study, people: Iterable[int], chosen: ExportSelection) -> list[Played]:
    """Return the finished episodes of these participants as tuples, ordered by participant and position.
    Episodes that an outage affected are left out if `chosen` says so."""
    rounds = Round.objects.filter(participant__in=people, episode__isnull=False)
    rounds = rounds.exclude(episode__status=Episode.Status.PLAYING)
    if not chosen.outage_episodes:
        rounds = rounds.exclude(episode__in=touched_episodes(downtime_since_creation(study), rounds))
    fields = ("participant_id", "condition__key", "position", "pk", "episode_id", "seat")
    game = ("episode__key", "episode__world", "episode__score")
    found = rounds.order_by("participant__number", "position").values_list(*fields, *game)
    return [(*row[:6], str(row[6]), *row[7:]) for row in found]


def _answers(played: Sequence[Played]) -> dict[int, dict[str, Json]]:
    """Return the survey answers in these episodes, as round id → item key → answer."""
    found: dict[int, dict[str, Json]] = defaultdict(dict)
    given = Answer.objects.filter(round__in=[one[3] for one in played]).order_by()
    for pk, key, value in given.values_list("round_id", "item__key", "value"):
        found[pk][key] = numeric_answer(value)
    return found


def _beside(played: Sequence[Played], versions: Iterable[_Version]) -> dict[tuple[int, int], Values]:
    """Return the values of metrics that are computed from the log and are not part of the score, by (episode
    id, seat)."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for version in versions:
        for key, conditions in version.rated.of_play.items():
            wanted[key] |= set(conditions)
    return play_values(((one[1], one[4], one[5]) for one in played), wanted)


def _cells(
    version: _Version, one: Played, answers: Mapping[str, Json], beside: Values
) -> list[tuple[Any, ...]]:
    """Return the table rows of one played episode: one row for each measure. `beside` holds the values that
    are not part of the episode's score."""
    *_, world, score = one
    values = version.rated.measured(version.pk, one[1], world, score, answers, beside)
    within = _intervals_in_episode(world, score)
    found = ((key, version.measures[key], value) for key, value in values.items())
    return [
        (key, *cells[:2], value, *cells[2:], *within.get(key, NO_INTERVAL)) for key, cells, value in found
    ]


NO_INTERVAL = (None, None)


def _intervals_in_episode(world: str, score: Mapping[str, Json]) -> dict[str, Interval]:
    """Return a bootstrap interval for each metric that is a share of at least two events of the episode, by
    metric name."""
    found = {}
    for metric in metrics_of_world(world):
        if metric.of and (interval := share_interval(*(score.get(name) or 0 for name in metric.of))):
            found[metric.name] = interval
    return found


def _last_cells(
    plan: ConditionPlan, settings: Sequence[SettingColumn], who: ExportedParticipant, left: str | None
) -> tuple[Any, ...]:
    """Return the last cells of each row about this condition: names, marks and settings. `left` says why
    the row is left out of the analysis, if it is."""
    values = settings_of(plan) | {GROUP: who.between_group or None, LEVEL: level_of(plan)}
    named = plan.name, plan.world, plan.coplayer, plan.teammates
    return (*named, *who.marks, left, *(values.get(one.setting) for one in settings))


GROUP, LEVEL = ("", "between_group"), ("", "within_level")


def columns_of_design(study: Study) -> tuple[SettingColumn, ...]:
    """Return the columns of the conditions' settings. If the study has between-subjects groups, add the
    columns of the group and the level."""
    settings = setting_columns(study)
    if not any(design.groups for design in version_blueprints(study)):
        return settings
    group = "Group between people that the participant was put into."
    level = "Level within people: conditions with the same level are compared between the groups."
    return (
        *settings,
        SettingColumn(GROUP[1], "text", group, setting=GROUP),
        SettingColumn(LEVEL[1], "text", level, setting=LEVEL),
    )


TABLE = ExportTable(
    "measures",
    "Every measure of everybody in every condition, long: figures of play, answers and scores of sub-scales, "
    "with the settings of the condition.",
    COLUMNS,
    rows,
    columns_of_design,
)
