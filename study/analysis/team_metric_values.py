"""Compute the metrics of whole teams (`TEAM_METRICS` of `study.design.play_metrics`) from episode logs.

An episode is one game. It has team metrics only if its settings say who may command or write to whom.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.team_measures import whole_team_measures
from kitchen.play.episode.log_metrics import read_logs
from kitchen.play.models import Episode
from kitchen.registry.world_registry import get_world, known_worlds
from study.design.play_metrics import TEAM_METRICS, TEAM_PREFIX

Values = dict[str, float | None]
"""Measure key → value."""
NO_TEAM: Mapping[str, float | None] = {one.key: None for one in TEAM_METRICS}
"""The values of an episode without an organisation."""
LOGS = 20
"""Number of episodes whose logs are in memory at once."""


def team_values(episodes: Collection[int]) -> dict[int, Values]:
    """Return the values of `TEAM_METRICS` by episode id. Episodes without an organisation and those of
    unknown worlds are left out."""
    found: dict[int, Values] = {}
    wanted = sorted(episodes)
    for first in range(0, len(wanted), LOGS):
        own = Episode.objects.filter(pk__in=wanted[first : first + LOGS], organisation__isnull=False)
        logs = read_logs(own.filter(world__in=known_worlds()), with_calls=True)
        found |= {pk: _values(log) for pk, log in logs.items()}
    return found


def _values(log: EpisodeLog) -> Values:
    measures = whole_team_measures(log, get_world(log.world))
    return {one.key: measures[one.key.removeprefix(TEAM_PREFIX)] for one in TEAM_METRICS}
