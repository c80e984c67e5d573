"""Define the export table annotations.csv: the marks of raters on episodes, once they are released."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from study.design.models import Study
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_MARKS,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import episodes_once, in_pieces, played_by_not_withdrawn
from study.participants.annotations import Annotation, EpisodeRating, is_revealed

COLUMNS = (*EPISODE_COLUMNS, *file_columns("annotations"), *EPISODE_MARKS)


def annotation_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row for each mark, and one without a code for each rating without a mark. There are none
    until all raters have released their marks."""
    if not is_revealed(study):
        return
    for piece in in_pieces(episodes_once(study, chosen)):
        rows = _rows(study, [played.episode for played in piece])
        for played in played_by_not_withdrawn(piece):
            if theirs := rows.get(played.episode):
                yield RowGroup(played.where, theirs, played.marks)


def _rows(study: Study, episodes: list[int]) -> dict[int, list[tuple[Any, ...]]]:
    """Return the rows of these episodes by episode id."""
    of_them = {"rater__study": study, "episode__in": episodes}
    ratings = EpisodeRating.objects.filter(**of_them).order_by("episode", "rater__number")
    marks: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    found = Annotation.objects.filter(rating__episode__in=episodes, rating__rater__study=study)
    for rating, code, about, first, last, note, made in found.values_list(
        "rating", "code__name", "code__description", "first", "last", "note", "made_at"
    ):
        marks[rating].append((code, first, last, note or None, about or None, made))
    rows: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for pk, episode, number, done in ratings.values_list("pk", "episode", "rater__number", "done_at"):
        theirs = marks.get(pk, [(None,) * 6])
        rows[episode] += [(number, done is not None, *mark) for mark in theirs]
    return rows


TABLE = ExportTable(
    "annotations",
    "The marks of raters: which code holds at which steps. Blank until all raters have released theirs.",
    COLUMNS,
    annotation_rows,
)
