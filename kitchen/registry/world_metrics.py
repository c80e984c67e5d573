"""List the metrics of every world, compute metrics from episode logs, and format their values as text.

`kitchen.contract.metric_definitions` defines `Metric`. Imports no Django.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from kitchen.contract.bootstrap_intervals import Interval, share_interval
from kitchen.contract.episode_log import EpisodeLog, EventColumn, FailedCheck, LogMetrics, ScoredEvent
from kitchen.contract.world import Json, Metric, World
from kitchen.contract.world_errors import WorldError
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_kit, get_world, known_worlds
from kitchen.words.gettext_without_django import ngettext

logger = logging.getLogger(__name__)


def metrics_of_world(world: str) -> tuple[Metric, ...]:
    """Return all metrics of a world: first the metrics of its score, then the metrics computed from the
    log. Empty for an unknown world."""
    try:
        return (*get_world(world).figures, *metrics_from_log(world))
    except UnknownNameError:
        return ()


def metrics_from_log(world: str) -> tuple[Metric, ...]:
    """Return the metrics that this world computes from an episode's log. Raises UnknownNameError for an
    unknown world."""
    metrics = get_kit(world).log_metrics
    return metrics().figures if metrics else ()


def with_log_metrics(score: Mapping[str, Json], log: EpisodeLog) -> dict[str, Json]:
    """Return the score of an episode, completed with the metrics that its world computes from the log. If
    the computation fails, each of these metrics is None."""
    metrics = get_kit(log.world).log_metrics
    return {**score, **_measured(metrics(), log)} if metrics else dict(score)


def _measured(metrics: LogMetrics, log: EpisodeLog) -> dict[str, Json]:
    try:
        measured = metrics.measure(log)
        values = {figure.name: measured[figure.name] for figure in metrics.figures}
        for figure in metrics.figures:
            if values[figure.name] is not None and not figure.holds(values[figure.name]):
                raise ValueError(f"{figure.name} cannot be {values[figure.name]!r}")
    except Exception as error:  # third-party code on text by people: the message may contain their words
        kind = type(error).__name__
        logger.error("the figures of the log of an episode in %s failed: %s", log.world, kind)
        return {figure.name: None for figure in metrics.figures}
    return values


def event_columns(worlds: Iterable[str]) -> tuple[EventColumn, ...]:
    """Return the table columns for scored events: events in the log from which these worlds compute
    metrics. Names are not repeated."""
    found = (column for world in worlds for column in _event_columns(world))
    return tuple({column.name: column for column in found}.values())


def _event_columns(world: str) -> tuple[EventColumn, ...]:
    try:
        metrics = get_kit(world).log_metrics
    except UnknownNameError:
        return ()
    return metrics().event_columns if metrics else ()


def scored_events(log: EpisodeLog) -> tuple[ScoredEvent, ...]:
    """Return the events in an episode's log from which its world computes metrics. Empty for an unknown
    world, or if the computation fails."""
    if not _event_columns(log.world):
        return ()
    metrics = get_kit(log.world).log_metrics
    try:
        return tuple(metrics().events(log)) if metrics else ()
    except Exception as error:  # third-party code on text by people: the message may contain their words
        logger.error("the scored events of an episode in %s failed: %s", log.world, type(error).__name__)
        return ()


def lists_failed_checks(world: str) -> bool:
    """Return whether the world lists the checks that failed. False for an unknown world."""
    try:
        metrics = get_kit(world).log_metrics
    except UnknownNameError:
        return False
    return bool(metrics and metrics().lists_failed_checks)


def failed_checks(log: EpisodeLog) -> tuple[FailedCheck, ...]:
    """Return the checks that failed in an episode. Empty if its world does not list such checks, or if the
    computation fails."""
    metrics = get_kit(log.world).log_metrics if lists_failed_checks(log.world) else None
    try:
        return tuple(metrics().failed_checks(log)) if metrics else ()
    except Exception as error:  # third-party code on text by people: the message may contain their words
        logger.error("the failed checks of an episode in %s failed: %s", log.world, type(error).__name__)
        return ()


def event_texts(world: str) -> str:
    """Return a text that describes this world's kinds of events. Empty for an unknown world."""
    try:
        return get_world(world).news
    except UnknownNameError:
        return ""


def common_metrics() -> tuple[NamedMetric, ...]:
    """Return the metrics by which episodes are compared, of all worlds together."""
    return tuple(named for named in metrics_side_by_side(known_worlds()) if named.figure.measured)


def achievements(world: str, score: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    """Return an episode's results for its players, as (number, unit) texts. Metrics without a value are
    left out."""
    values = ((figure, score.get(figure.name)) for figure in metrics_of_world(world) if figure.words)
    return tuple(_in_words(figure, value) for figure, value in values if value is not None)


def metric_summary(world: str, score: Mapping[str, Json], *, in_full: bool = False) -> tuple[str, ...]:
    """Return the metrics for comparing episodes, as texts for staff, such as `Success rate 75 %`.

    Without `in_full`, minor metrics computed from the log are left out: those without a better direction, and
    the counts of a share that is included.
    """
    figures = metrics_of_world(world) if in_full else main_metrics(world)
    values = ((figure, score.get(figure.name)) for figure in figures if figure.measured)
    events = event_share_counts(world, score)
    return tuple(
        f"{figure.label} {_as_text(figure, value)}{_event_interval_text(figure, events.get(figure.name))}"
        for figure, value in values
    )


def event_share_counts(world: str, score: Mapping[str, Json]) -> dict[str, tuple[int, int]]:
    """Return the (right, wrong) counts of events, for each metric that is a share of events computed from the
    log. Shares without an event are left out. Empty for an unknown world."""
    try:
        shares = [figure for figure in metrics_from_log(world) if figure.of]
    except UnknownNameError:
        return {}
    counts = {figure.name: tuple(score.get(name) or 0 for name in figure.of or ()) for figure in shares}
    return {name: (done, missed) for name, (done, missed) in counts.items() if done + missed}


def _event_interval_text(figure: Metric, counts: tuple[int, int] | None) -> str:
    if counts is None:
        return ""
    return f" (n = {sum(counts)}, {interval_text(figure, share_interval(*counts))})"


def interval_text(figure: Metric, interval: Interval | None) -> str:
    """Return a 95 % interval of a metric as text. `interval` is None if there are fewer than two values."""
    if interval is None:
        return "no interval"
    return f"95 % interval {figure.shown(interval[0])} to {figure.shown(interval[1])}"


def metrics_by_seat(world: str, score: Mapping[str, Json]) -> tuple[tuple[str, ...], ...]:
    """Return a table of the metrics of single seats in this score, as texts. The first row names the seats,
    and each other row has one measure. Empty if there are none."""
    values = {
        figure.of_seat: _as_text(figure, score[figure.name])
        for figure in metrics_of_world(world)
        if figure.of_seat and figure.name in score
    }
    measures, seats = (dict.fromkeys(key[place] for key in values) for place in (0, 1))
    rows = ((measure, *(values.get((measure, seat), "") for seat in seats)) for measure in measures)
    return (("", *seats), *rows) if values else ()


def _as_text(figure: Metric, value: Json) -> str:
    return "\N{EN DASH}" if value is None else figure.shown(value)


def main_metrics(world: str) -> Iterator[Metric]:
    """Yield the main metrics of a world: all metrics of its score, and some of the metrics computed from the
    log.

    Metrics from the log are left out if neither direction is better. Counts from which a share is computed
    are left out, too.
    """
    try:
        yield from get_world(world).figures
    except UnknownNameError:
        return
    from_log = metrics_from_log(world)
    counts = {name for figure in from_log for name in figure.of or ()}
    yield from (one for one in from_log if one.better != "neither" and one.name not in counts)


def share_count_names(world: World) -> tuple[int, int]:
    """Return two counts in the present state of this world: items done and items missed. Raises WorldError if
    no metric is a share of done items."""
    return share_count_values(world.kind, world.score())


def share_count_values(world: str, score: Mapping[str, Json]) -> tuple[int, int]:
    """Return two counts in this score: items done and items missed. Raises WorldError if no metric of the
    world is a share of done items."""
    for figure in get_world(world).figures:
        if figure.of:
            done, missed = figure.of
            return int(score[done]), int(score[missed])
    raise WorldError(f"{world} measures no share of what was done")


def _in_words(figure: Metric, value: Json) -> tuple[str, str]:
    assert figure.words  # noqa: S101 - asked for one that has words
    number = 2 if figure.kind == "share" else value
    return figure.shown(value), ngettext(*figure.words, number)


@dataclass(frozen=True, slots=True)
class NamedMetric:
    """A metric of one or more worlds, with a name and a label that are unique among the metrics listed
    together."""

    name: str
    label: str
    figure: Metric
    worlds: tuple[str, ...]
    """The worlds that measure it."""

    def value(self, world: str, score: Mapping[str, Json]) -> Json:
        """Return the metric's value in the score of an episode. None if the episode's world does not have
        this metric."""
        return score.get(self.figure.name) if world in self.worlds else None


def metrics_side_by_side(
    worlds: Iterable[str], *, names: Collection[str] = (), labels: Collection[str] = ()
) -> tuple[NamedMetric, ...]:
    """Return the metrics of these worlds, each with a unique name and label. Metrics that several worlds
    declare identically become one.

    The world's name is added to a name or label that an earlier metric has, or that is in `names` or
    `labels`. So adding a world renames no other metric.
    """
    named: dict[Metric, NamedMetric] = {}
    for world in dict.fromkeys(worlds):
        for figure in metrics_of_world(world):
            if known := named.get(figure):
                named[figure] = replace(known, worlds=(*known.worlds, world))
            else:
                name = _free(_names(figure.name, world), [*names, *(other.name for other in named.values())])
                label = _free(
                    _labels(figure.label, world), [*labels, *(other.label for other in named.values())]
                )
                named[figure] = NamedMetric(name, label, figure, (world,))
    return tuple(named.values())


def _free(wanted: Iterator[str], taken: Collection[str]) -> str:
    return next(word for word in wanted if word not in taken)


def _names(name: str, world: str) -> Iterator[str]:
    yield from (name, f"{name}_{world}")
    yield from (f"{name}_{world}_{number}" for number in count(2))


def _labels(label: str, world: str) -> Iterator[str]:
    yield from (label, f"{label} ({world})")
    yield from (f"{label} ({world} {number})" for number in count(2))
