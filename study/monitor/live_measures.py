"""Summarise the play metrics of a study's ended episodes by condition, for the live page: means with 95 %
bootstrap intervals. The module changes no data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from django.db.models import Count, Max, Q, QuerySet

from kitchen.contract.bootstrap_intervals import mean_interval
from kitchen.contract.world import Json
from kitchen.play.models import Episode
from kitchen.registry.world_metrics import (
    NamedMetric,
    event_share_counts,
    interval_text,
    main_metrics,
    metrics_side_by_side,
)
from study.design.models import Study
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


@lru_cache(maxsize=32)
def _measures(study: int, state: tuple[str, ...], *, synthetic: bool) -> LiveMeasures:
    """Compute the means. `state` changes with the episodes, so that the cache holds no old result."""
    rounds = _ended(study).filter(participant__synthetic=synthetic).order_by("condition__position")
    fields = ("condition__name", "episode__world", "episode__score")
    by_condition: dict[str, list[_Played]] = defaultdict(list)
    for name, *played in rounds.values_list(*fields):
        by_condition[name].append(_Played(*played))
    metrics = _main({each.world for played in by_condition.values() for each in played})
    rows = (
        (named.label, tuple(_cell(named, played) for played in by_condition.values())) for named in metrics
    )
    return LiveMeasures(SYNTHETIC if synthetic else PEOPLE, tuple(by_condition), tuple(rows))


def _main(worlds: Iterable[str]) -> list[NamedMetric]:
    main = {figure for world in worlds for figure in main_metrics(world) if figure.measured}
    return [named for named in metrics_side_by_side(sorted(worlds)) if named.figure in main]


def _cell(named: NamedMetric, played: Sequence[_Played]) -> MeasureCell:
    values = [value for each in played if (value := named.value(each.world, each.score)) is not None]
    if not values:
        return MeasureCell(NO_VALUE)
    counts = (event_share_counts(each.world, each.score).get(named.figure.name) for each in played)
    events = sum(map(sum, filter(None, counts)))
    several = f" ({events} events)" if events else ""
    interval = interval_text(named.figure, mean_interval(values))
    return MeasureCell(named.figure.shown(fmean(values)), f"n = {len(values)}{several}, {interval}")
