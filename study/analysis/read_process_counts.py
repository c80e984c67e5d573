"""Read how each seat (player position) worked in the analysed episodes: counts such as failed checks.

A check rejects an invalid command, plan or reply; its code says what was wrong. The counts are summed by
condition and seat. Totals come from metrics that a world (game) computes for single seats. Codes come from
episode logs. Only logs that have a failed check are read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from kitchen.contract.episode_log import FAILED_CHECKS as FAILED
from kitchen.contract.world import Metric
from kitchen.play.episode.log_metrics import has_log_metrics, read_logs
from kitchen.play.models import Episode
from kitchen.registry.world_metrics import failed_checks, lists_failed_checks, metrics_from_log
from study.analysis.analysis_sample import Sample, analysis_conditions
from study.analysis.statistics.observations import AnalysisCondition
from study.analysis.statistics.process_counts import ProcessCounts

LOGS_AT_ONCE = 50
"""Number of logs that are in memory together."""


def process_counts(sample: Sample) -> tuple[ProcessCounts, ...]:
    """Return the process counts (such as failed checks) of each condition and seat, in the order of
    conditions. The result is empty if no world in the sample counts events for each seat."""
    played = sample.rounds.order_by().values_list("condition__key", "episode").distinct()
    by_condition: dict[str, set[int]] = defaultdict(set)
    for condition, episode in played:
        if episode is not None:
            by_condition[condition].add(episode)
    conditions = analysis_conditions(sample)
    return tuple(row for one in conditions for row in _of_condition(one, by_condition[one.key]))


def _of_condition(condition: AnalysisCondition, played: set[int]) -> Iterator[ProcessCounts]:
    episodes = [one for one in Episode.objects.filter(pk__in=played) if has_log_metrics(one.world)]
    totals, number = Counter[tuple[str, str]](), Counter[str]()
    for episode in episodes:
        for metric in _counts_by_seat(episode.world):
            if metric.of_seat:
                totals[metric.of_seat] += episode.score.get(metric.name) or 0
        number.update(_seat_names(episode.world))
    codes = _codes(episodes)
    for seat in number:
        own = tuple((name, total) for (name, of), total in totals.items() if of == seat)
        failed = ((code, times) for (of, code), times in codes.items() if of == seat)
        by_code = tuple(sorted(failed, key=lambda one: (-one[1], one[0])))
        yield ProcessCounts(condition, seat, number[seat], own, by_code)


def _counts_by_seat(world: str) -> list[Metric]:
    """Return the counts that this world computes from the log for each seat separately."""
    return [metric for metric in metrics_from_log(world) if metric.of_seat and metric.kind == "count"]


def _seat_names(world: str) -> list[str]:
    """Return the names of the world's seats, in order. These names are used by the metrics for single
    seats."""
    return list(dict.fromkeys(one.of_seat[1] for one in _counts_by_seat(world) if one.of_seat))


def _codes(episodes: Iterable[Episode]) -> Counter[tuple[str, str]]:
    """Count the failed checks of these episodes. The result maps (seat name, failure code) to a number."""
    codes = Counter[tuple[str, str]]()
    listed = (one for one in episodes if lists_failed_checks(one.world) and _has_failed_checks(one))
    while piece := list(islice(listed, LOGS_AT_ONCE)):
        for log in read_logs(piece).values():
            names = _seat_names(log.world)
            codes.update((names[check.seat], check.code) for check in failed_checks(log))
    return codes


def _has_failed_checks(episode: Episode) -> bool:
    """Return True if any check failed in the episode. The episode's score contains this information."""
    counts = (one.name for one in _counts_by_seat(episode.world) if one.of_seat and one.of_seat[0] == FAILED)
    return any(episode.score.get(name) for name in counts)
