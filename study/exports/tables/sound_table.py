"""Define the export table sound.csv: when each step was shown in recorded sound, and what was said.

The files are apart (`study.exports.sound_files`). A row is a step as the page showed it, a segment of the
transcript, or one of its words, with its place in the file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
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
from study.participants.sound_recordings import ENDS, SoundTake

STEP, WORDS, WORD = "step", "words", "word"
COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("sound", sound_ended_by=ENDS, sound_row=(STEP, WORDS, WORD)),
    *EPISODE_MARKS,
)
Cells = tuple[Any, ...]


def sound_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield the rows of each take, ordered by participant, episode and take."""
    for piece in in_pieces(played_episodes(study, chosen)):
        takes: dict[tuple[int, int], list[SoundTake]] = defaultdict(list)
        found = SoundTake.objects.filter(participant__in={played.who.pk for played in piece})
        for take in found.select_related("participant"):
            takes[take.participant_id, take.episode_id].append(take)
        for played in played_by_not_withdrawn(piece):
            here = takes.get((played.who.pk, played.episode), [])
            pairs = zip(here, [None, *here], strict=False)
            rows = [row for take, before in pairs for row in take_rows(take, before)]
            if rows:
                yield RowGroup(played.where, rows, played.marks)


def take_rows(take: SoundTake, before: SoundTake | None) -> Iterator[Cells]:
    """Yield a row for each step of a take, then one for each segment of its transcript, followed by those of
    its words."""
    head = (take.file_name, take.began_at, _gap(take, before), take.ended_by)
    ends = [*(at for at, _ in take.steps[1:]), take.milliseconds]
    for (at, step), until in zip(take.steps, ends, strict=False):
        yield *head, STEP, at, max(at, until), step, None
    for begin, end, text, *words in take.transcript or ():
        spoken = [(WORDS, begin, end, text), *((WORD, *word) for word in (words[0] if words else ()))]
        for kind, since, until, said in spoken:
            begins = round(since * 1000)
            yield *head, kind, begins, round(until * 1000), step_at(take, begins), said


def _gap(take: SoundTake, before: SoundTake | None) -> int | None:
    """Return the milliseconds without sound between a take and the one before it in the same episode."""
    if before is None:
        return None
    ended = before.began_at + timedelta(milliseconds=before.milliseconds)
    return max(0, round((take.began_at - ended) / timedelta(milliseconds=1)))


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
