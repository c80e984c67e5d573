"""Define the export tables plannings.csv (when agents planned) and team_measures.csv (how a team worked).

Both tables are computed from episode logs (`kitchen.contract.team_measures`). An episode has rows only if it
has an organisation (rules about who may command or write to whom). If several participants played an episode,
its rows belong to the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.team_measures import plannings_of, team_measures
from kitchen.play.episode.log_metrics import read_logs
from kitchen.play.models import Episode
from kitchen.registry.world_registry import get_world, known_worlds
from study.design.models import Study
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_MARKS,
    FALLBACK_LEVELS,
    OUTAGE_MARKS,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import (
    PlayedEpisode,
    episodes_once,
    in_pieces,
    played_by_not_withdrawn,
    touched_steps,
)
from study.participants.episode_owners_and_outages import downtime_since_creation

Cells = tuple[Any, ...]

PLANNING_COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("plannings", fallback=FALLBACK_LEVELS),
    *EPISODE_MARKS,
    *OUTAGE_MARKS,
)
MEASURES = file_columns("team_measures")
TEAM_COLUMNS = (*EPISODE_COLUMNS, *MEASURES, *EPISODE_MARKS, *OUTAGE_MARKS)


def _logs(played: Iterable[PlayedEpisode]) -> dict[int, EpisodeLog]:
    """Return the logs of episodes that have an organisation (a team with rules). The result maps episode
    ids to logs."""
    pks = [each.episode for each in played]
    episodes = Episode.objects.filter(pk__in=pks, world__in=known_worlds(), organisation__isnull=False)
    return read_logs(episodes, with_calls=True)


def planning_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per planning iteration of an agent, by the step in which it was asked."""
    downtime = downtime_since_creation(study)
    for piece in in_pieces(episodes_once(study, chosen, downtime)):
        logs, touched = _logs(piece), touched_steps(piece, downtime)
        for played in played_by_not_withdrawn(piece):
            if log := logs.get(played.episode):
                yield from played.row_groups(list(_planning_cells(log)), touched, chosen)


def _planning_cells(log: EpisodeLog) -> Iterator[Cells]:
    for each in plannings_of(log):
        made = each.decision
        effect = each.due, each.due <= len(log.steps), each.stale
        who = made.because or None, made.played_by, made.fallback or None
        yield made.asked_in, made.member, *effect, *who, made.milliseconds, made.calls, made.cost


def team_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield a row for the team of each episode, then one for each member."""
    downtime = downtime_since_creation(study)
    for piece in in_pieces(episodes_once(study, chosen, downtime)):
        logs = _logs(piece)
        for played in played_by_not_withdrawn(piece):
            if log := logs.get(played.episode):
                yield RowGroup(played.where, _team_cells(log), (*played.marks, *played.touch.cells))


def _team_cells(log: EpisodeLog) -> list[Cells]:
    rows = team_measures(log, get_world(log.world))
    return [tuple(row[column.name] for column in MEASURES) for row in rows]


PLANNINGS = ExportTable(
    "plannings",
    "Every time that a co-player thought while steps went on: when it was asked, and when its decision took "
    "effect.",
    PLANNING_COLUMNS,
    planning_rows,
)
TEAM_MEASURES = ExportTable(
    "team_measures",
    "How the members of each organisation worked together: time, idle steps, jobs, messages and money, of "
    "the team and of each member.",
    TEAM_COLUMNS,
    team_rows,
)
