"""failed_checks.csv: a row for each command that failed a check, in worlds that list them.

The rows have no word of the commands, so they tell nobody what another seat knows. A shared episode is in the
rows of its first participant.
"""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.contract.episode_log import CHECKED
from kitchen.play.episode.log_metrics import read_logs
from kitchen.play.models import Episode
from kitchen.registry.world_metrics import failed_checks, lists_failed_checks
from study.design.models import Study
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_MARKS,
    OUTAGE_MARKS,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import episodes_once, in_pieces, touched_steps
from study.participants.episode_owners_and_outages import downtime_since_creation

COLUMNS = (*EPISODE_COLUMNS, *file_columns("failed_checks", checked=CHECKED), *EPISODE_MARKS, *OUTAGE_MARKS)


def rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per failed check, in the order of steps."""
    downtime = downtime_since_creation(study)
    for piece in in_pieces(episodes_once(study, chosen, downtime)):
        listing = [played for played in piece if lists_failed_checks(played.world)]
        logs = read_logs(Episode.objects.filter(pk__in=[played.episode for played in listing]))
        touched = touched_steps(listing, downtime)
        for played in listing:
            yield from played.row_groups(failed_checks(logs[played.episode]), touched, chosen)


TABLE = ExportTable("failed_checks", "Every command that failed a check, by seat and code.", COLUMNS, rows)
