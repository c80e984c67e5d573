"""Metrics of episodes: of one world, in words, and of several worlds side by side. Plain Python.

`Figure` is the contract's name for a metric of a world.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from kitchen.contract.episode_log import EpisodeLog, LogMetrics
from kitchen.contract.world import Json, Metric, World, WorldError
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_kit, get_world, known_worlds
from kitchen.words.translation import ngettext

logger = logging.getLogger(__name__)


def metrics_of_world(world: str) -> tuple[Metric, ...]:
    """Return every figure of a world: those of its score, then those computed from the log; none for a world
    that this program does not have any more."""
    try:
        return (*get_world(world).figures, *metrics_from_log(world))
    except UnknownNameError:
        return ()


def metrics_from_log(world: str) -> tuple[Metric, ...]:
    """Return the figures of a world that are computed from the log of an episode; UnknownNameError."""
    metrics = get_kit(world).log_metrics
    return metrics().figures if metrics else ()


def with_log_metrics(score: Mapping[str, Json], log: EpisodeLog) -> dict[str, Json]:
    """Return the score of an episode that has ended with the figures that its world computes from its log.
    Where that fails, they are None: the episode ends all the same."""
    metrics = get_kit(log.world).log_metrics
    return {**score, **_measured(metrics(), log)} if metrics else dict(score)


def _measured(metrics: LogMetrics, log: EpisodeLog) -> dict[str, Json]:
    try:
        measured = metrics.measure(log)
        values = {figure.name: measured[figure.name] for figure in metrics.figures}
        for figure in metrics.figures:
            if values[figure.name] is not None and not figure.holds(values[figure.name]):
                raise ValueError(f"{figure.name} cannot be {values[figure.name]!r}")
    except Exception as error:  # a world's own code, on what people wrote: the message may hold their words
        kind = type(error).__name__
        logger.error("the figures of the log of an episode in %s failed: %s", log.world, kind)
        return {figure.name: None for figure in metrics.figures}
    return values


def event_texts(world: str) -> str:
    """Its own events in words; nothing for a world that this program does not have any more."""
    try:
        return get_world(world).news
    except UnknownNameError:
        return ""


def common_metrics() -> tuple[NamedMetric, ...]:
    """What episodes are compared by, whatever their world."""
    return tuple(named for named in metrics_side_by_side(known_worlds()) if named.figure.measured)


def achievements(world: str, score: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    """What was achieved in an episode, for who played it: (number, what it counts)."""
    values = ((figure, score.get(figure.name)) for figure in metrics_of_world(world) if figure.words)
    return tuple(_in_words(figure, value) for figure, value in values if value is not None)


def metric_summary(world: str, score: Mapping[str, Json]) -> tuple[str, ...]:
    """What episodes are compared by, for staff: `Success rate 75 %`, `Havens reached 3`."""
    values = ((figure, score.get(figure.name)) for figure in metrics_of_world(world) if figure.measured)
    told = (
        (figure.label, "\N{EN DASH}" if value is None else figure.shown(value)) for figure, value in values
    )
    return tuple(f"{label} {value}" for label, value in told)


def share_count_names(world: World) -> tuple[int, int]:
    """What was done and what was missed, by the share of two counts that the world declares; WorldError if it
    declares none."""
    return share_count_values(world.kind, world.score())


def share_count_values(world: str, score: Mapping[str, Json]) -> tuple[int, int]:
    """Return what was done and what was missed by this score of a world; WorldError as
    `share_count_names`."""
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
    """A figure among those of several worlds, under a name and a label that no other of them has."""

    name: str
    label: str
    figure: Metric
    worlds: tuple[str, ...]
    """Those that measure it."""

    def value(self, world: str, score: Mapping[str, Json]) -> Json:
        """What an episode in this world scored; None where the world does not measure it."""
        return score.get(self.figure.name) if world in self.worlds else None


def metrics_side_by_side(
    worlds: Iterable[str], *, names: Collection[str] = (), labels: Collection[str] = ()
) -> tuple[NamedMetric, ...]:
    """The figures of these worlds. What two of them declare alike is one figure; one that shares no more than
    the name or label of an earlier one, or has one of those that are taken by something else, is told apart
    by its world: adding a world renames nothing."""
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
