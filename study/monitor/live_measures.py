"""Compute the means of a study's play metrics by condition, for the page on which staff watch the study live.

The means are over episodes that have ended. They have 95 % bootstrap intervals. The module changes no data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet

from kitchen.contract.bootstrap_intervals import mean_interval
from kitchen.contract.metric_definitions import Metric
from kitchen.contract.world import Json
from kitchen.play.models import Episode
from kitchen.registry.world_metrics import (
    NamedMetric,
    event_share_counts,
    interval_text,
    main_metrics,
    metrics_side_by_side,
)
from study.analysis.team_metric_values import Values, team_values
from study.design.models import Condition, Study
from study.design.play_metrics import TEAM_METRICS
from study.participants.models import Round

PEOPLE, SYNTHETIC = "people", "synthetic participants"
NO_VALUE = "\N{EN DASH}"


class MeasureCell(NamedTuple):
    """The mean of one metric in one condition, as texts."""

    value: str
    detail: str = ""
    """The number of episodes and events, and the interval. Empty without a value."""


@dataclass(frozen=True, slots=True)
class LiveMeasures:
    """The means of metrics by condition. Without ended episodes there are no rows."""

    whose: str
    """`PEOPLE`, or `SYNTHETIC` while no person has ended an episode."""
    conditions: tuple[str, ...]
    rows: tuple[tuple[str, tuple[MeasureCell, ...]], ...]
    """(label of the metric, a cell for each condition) pairs."""


def live_measures(study: Study) -> LiveMeasures:
    """Return the means over the ended episodes of people, or of synthetic participants if there are none.
    Previews and excluded participants are left out.

    The result is computed again only after another episode has ended or data were erased.
    """
    kinds = _ended(study).values_list("participant__synthetic")
    found = {
        synthetic: state
        for synthetic, *state in kinds.annotate(Count("pk"), Max("pk"), Max("episode__ended_at"))
    }
    synthetic = False not in found and True in found
    state = tuple(map(str, found.get(synthetic, ())))
    return _measures(study.pk, state, synthetic=synthetic)


def _ended(study: Study | int) -> QuerySet[Round]:
    own = Q(participant__study=study, participant__preview=False, participant__excluded_at=None)
    rounds = Round.objects.filter(own, episode__isnull=False)
    return rounds.exclude(episode__status=Episode.Status.PLAYING).order_by()


class _Played(NamedTuple):
    """One ended episode."""

    world: str
    score: Json
    team: Mapping[str, float | None]
    """Values of `TEAM_METRICS`; empty without an organisation."""


@lru_cache(maxsize=32)
def _measures(study: int, state: tuple[str, ...], *, synthetic: bool) -> LiveMeasures:
    """Return the means of the ended episodes. `state` is part of the cache key, and changes whenever the
    episodes change."""
    rounds = _ended(study).filter(participant__synthetic=synthetic).order_by("condition__position")
    fields = ("condition__name", "episode", "episode__key", "episode__world", "episode__score")
    played = list(rounds.values_list(*fields))
    teams = _team_values(study, {key: pk for _, pk, key, *_ in played}, synthetic=synthetic)
    by_condition: dict[str, list[_Played]] = defaultdict(list)
    for name, _, key, world, score in played:
        by_condition[name].append(_Played(world, score, teams.get(key, {})))
    metrics = _main({each.world for episodes in by_condition.values() for each in episodes})
    rows = [
        (named.label, tuple(_cell(named, episodes) for episodes in by_condition.values()))
        for named in metrics
    ]
    rows += _team_rows(study, list(by_condition.values()))
    return LiveMeasures(SYNTHETIC if synthetic else PEOPLE, tuple(by_condition), tuple(rows))


_known_teams: dict[tuple[int, bool], dict[UUID, Values]] = {}
"""Values of `TEAM_METRICS` of each study's ended episodes, by key of the episode: their logs do not change
any more."""


def _team_values(study: int, episodes: Mapping[UUID, int], *, synthetic: bool) -> dict[UUID, Values]:
    """Return the values of `TEAM_METRICS` in ended episodes, by episode key. `episodes` maps episode keys to
    ids. Only the logs of episodes that have ended since the last call are read."""
    known = _known_teams.get((study, synthetic), {})
    read = team_values([pk for key, pk in episodes.items() if key not in known])
    values = {key: known[key] if key in known else read.get(pk, {}) for key, pk in episodes.items()}
    _known_teams[study, synthetic] = values
    return values


def _team_rows(
    study: int, conditions: Sequence[Sequence[_Played]]
) -> list[tuple[str, tuple[MeasureCell, ...]]]:
    """Return a table row for each metric of whole teams. A metric is left out if no condition of the study
    measures it, or if it has no value."""
    planned = list(Condition.objects.filter(study=study))
    rows = []
    for metric in TEAM_METRICS:
        found = [[one.team.get(metric.key) for one in episodes] for episodes in conditions]
        values = [[value for value in each if value is not None] for each in found]
        if any(values) and any(map(metric.where, planned)):
            rows.append((metric.label, tuple(_mean_cell(metric.figure, each) for each in values)))
    return rows


def _main(worlds: Iterable[str]) -> list[NamedMetric]:
    main = {figure for world in worlds for figure in main_metrics(world) if figure.measured}
    return [named for named in metrics_side_by_side(sorted(worlds)) if named.figure in main]


def _cell(named: NamedMetric, played: Sequence[_Played]) -> MeasureCell:
    values = [value for each in played if (value := named.value(each.world, each.score)) is not None]
    counts = (event_share_counts(each.world, each.score).get(named.figure.name) for each in played)
    events = sum(map(sum, filter(None, counts)))
    return _mean_cell(named.figure, values, f" ({events} events)" if events else "")


def _mean_cell(figure: Metric, values: Sequence[float], more: str = "") -> MeasureCell:
    """Return the mean of `values` with its interval, as a table cell. `more` is added after the number of
    episodes."""
    if not values:
        return MeasureCell(NO_VALUE)
    interval = interval_text(figure, mean_interval(values))
    return MeasureCell(figure.shown(fmean(values)), f"n = {len(values)}{more}, {interval}")
