"""Define the export table probes.csv: the answers to probes, and the values of the slider, by step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kitchen.contract.probes import CHOICE, SLIDER, TEXT, ProbeItem, stored_probes
from kitchen.contract.world import Json
from kitchen.play.models import Episode, ProbeAnswer, SliderRating
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
from study.exports.tables.played_episodes import (
    in_pieces,
    played_by_not_withdrawn,
    played_episodes,
    touched_steps,
)
from study.participants.episode_owners_and_outages import downtime_since_creation

COLUMNS = (*EPISODE_COLUMNS, *file_columns("probes"), *EPISODE_MARKS, *OUTAGE_MARKS)
Cells = tuple[Any, ...]
Owner = tuple[int, int]
"""An episode and a seat."""


def probe_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield the rows of probes.csv: one for each question of a probe and for each value of the slider, in the
    order of steps. A participant has only their own."""
    downtime = downtime_since_creation(study)
    for piece in in_pieces(played_episodes(study, chosen, downtime)):
        found, touched = _cells_by_owner({played.episode for played in piece}), touched_steps(piece, downtime)
        for played in played_by_not_withdrawn(piece):
            if rows := found.get((played.episode, played.seat)):
                yield from played.row_groups(rows, touched, chosen)


def _cells_by_owner(pks: set[int]) -> Mapping[Owner, list[Cells]]:
    """Return the cells of these episodes by episode and seat, in the order of steps."""
    asking = Episode.objects.filter(pk__in=pks).values_list("pk", "probes", "rating_slider")
    designs = {pk: (probes, slider) for pk, probes, slider in asking if probes or slider}
    found: dict[Owner, list[Cells]] = defaultdict(list)
    for row in ProbeAnswer.objects.filter(episode__in=designs).order_by("episode", "step", "seat", "pk"):
        found[row.episode_id, row.seat] += _answer_cells(row, designs[row.episode_id][0])
    for rating in SliderRating.objects.filter(episode__in=designs).order_by("pk"):
        cells = _rating_cells(rating, designs[rating.episode_id][1])
        found[rating.episode_id, rating.seat].append(cells)
    for rows in found.values():
        rows.sort(key=lambda cells: (cells[0], cells[-1]))
    return found


def _answer_cells(row: ProbeAnswer, probes: Sequence[Json]) -> Iterator[Cells]:
    for probe in stored_probes(probes):
        for item in probe.items if probe.key == row.probe else ():
            given = (row.answers or {}).get(item.key)
            yield (
                *(
                    row.step,
                    "probe",
                    row.probe,
                    item.key,
                    item.kind,
                    item.text,
                    item.low or None,
                    item.high or None,
                ),
                *_value_cells(item, given),
                *(row.missing or None, row.asked_at, row.answered_at),
            )


def _value_cells(item: ProbeItem, given: Json) -> tuple[Json, Json]:
    """Return an answer as a number, and in words."""
    if given is None or item.kind == TEXT:
        return None, given
    is_option = item.kind == CHOICE and 0 < given <= len(item.options)
    return given, item.options[given - 1] if is_option else None


def _rating_cells(row: SliderRating, slider: Mapping[str, Json]) -> Cells:
    texts = (slider.get("text"), slider.get("low"), slider.get("high"))
    return row.step, "slider", None, None, SLIDER, *texts, row.value, None, None, None, row.rated_at


TABLE = ExportTable(
    "probes",
    "What people answered to questions during the game, and how they moved the slider beside it, by step.",
    COLUMNS,
    probe_rows,
)
