"""Define the table scored_events.csv: a row for each event that a world's metrics score, such as a request
with its answer.

The events are computed from the episode's log. A participant's rows contain only events whose messages the
participant sent or could read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from kitchen.play.episode.log_metrics import read_logs
from kitchen.play.models import Episode
from kitchen.registry.world_metrics import event_columns, scored_events
from study.design.metric_and_scale_names import study_worlds
from study.design.models import Study
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_MARKS,
    OUTAGE_MARKS,
    Column,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.messages_tables import ScoredEvents, Share, rows_of_conversations

COLUMNS = (*EPISODE_COLUMNS, *file_columns("scored_events"), *EPISODE_MARKS, *OUTAGE_MARKS)


def value_columns(study: Study) -> tuple[Column, ...]:
    """Return the columns for the values of scored events (events in the log that a metric scores), as the
    study's worlds declare them."""
    return tuple(
        Column(one.name, one.kind, f"{one.meaning}.", levels=one.levels)
        for one in event_columns(study_worlds(study))
    )


def rows(study: Study, chosen: ExportSelection, more: Sequence[Column]) -> Iterator[RowGroup]:
    """Yield one row per scored event (an event in the log that a metric scores), ordered by participant
    and step. `more` are the columns that `value_columns` returned."""
    cells = partial(event_rows, [column.name for column in more])
    return rows_of_conversations(cells, study, chosen, _events_of)


def _events_of(episodes: Iterable[Episode]) -> ScoredEvents:
    scoring = [episode for episode in episodes if event_columns([episode.world])]
    return {pk: scored_events(log) for pk, log in read_logs(scoring).items()} if scoring else {}


def event_rows(names: Sequence[str], share: Share) -> Iterator[tuple[Any, ...]]:
    """Yield one row per scored event of the episode that belongs to this participant. `names` are the
    columns of values to include."""
    readers = {row.number: who for row, who in share.messages}
    for number, event in enumerate(share.scored_events, start=1):
        known_to = set.intersection(*(readers[each] for each in event.messages))
        if share.has_row(known_to):
            values = (event.values.get(name) for name in names)
            cells = (value if value != "" else None for value in values)
            yield event.step, number, event.result, list(event.messages), *cells, share.member in known_to


TABLE = ExportTable(
    "scored_events",
    "Every event that metrics of the log score, such as a request with its answer.",
    COLUMNS,
    rows,
    value_columns,
    more_after="messages",
)
