"""Define the export table sound.csv: when each step was shown in recorded sound, and what was said.

The files are apart (`study.exports.sound_files`). A row is a step as the page showed it, or a segment of the
transcript, with its place in the file.
"""

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
from study.exports.tables.played_episodes import in_pieces, played_by_not_withdrawn, played_episodes
from study.participants.sound_recordings import SoundTake

STEP, WORDS = "step", "words"
COLUMNS = (*EPISODE_COLUMNS, *file_columns("sound", sound_row=(STEP, WORDS)), *EPISODE_MARKS)
Cells = tuple[Any, ...]


def sound_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield the rows of each take, ordered by participant, episode and take."""
    for piece in in_pieces(played_episodes(study, chosen)):
        takes: dict[tuple[int, int], list[SoundTake]] = defaultdict(list)
        found = SoundTake.objects.filter(participant__in={played.who.pk for played in piece})
        for take in found.select_related("participant"):
            takes[take.participant_id, take.episode_id].append(take)
        for played in played_by_not_withdrawn(piece):
            rows = [row for take in takes.get((played.who.pk, played.episode), ()) for row in take_rows(take)]
            if rows:
                yield RowGroup(played.where, rows, played.marks)


def take_rows(take: SoundTake) -> Iterator[Cells]:
    """Yield a row for each step of a take, then one for each segment of its transcript."""
    head = (take.file_name, take.began_at)
    ends = [*(at for at, _ in take.steps[1:]), take.milliseconds]
    for (at, step), until in zip(take.steps, ends, strict=False):
        yield *head, STEP, at, until, step, None
    for begin, end, text in take.transcript or ():
        begins = round(begin * 1000)
        yield *head, WORDS, begins, round(end * 1000), step_at(take, begins), text


def step_at(take: SoundTake, milliseconds: int) -> int | None:
    """Return the number of steps taken at this place of a take. Return None before the first one."""
    before = [step for at, step in take.steps if at <= milliseconds]
    return before[-1] if before else None


TABLE = ExportTable(
    "sound",
    "Recorded sound: the place of each step in the files of `sound.zip`, and the transcript.",
    COLUMNS,
    sound_rows,
)
