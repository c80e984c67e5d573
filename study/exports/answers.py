"""answers.csv: a row per answer to a survey item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from study.exports.base import WHERE, Column, Table
from study.exports.episodes import where
from study.models import Answer, Study

COLUMNS = (
    *WHERE,
    Column("item", "text", "Key of the survey item."),
    Column("measure", "text", "What the item measures."),
    Column("value", "json", "The answer.", levels="for scales 1 (`low`) to `points` (`high`)"),
    Column("points", "integer", "Points of the scale.", unit="scale points"),
    Column("low", "text", "Words at the low end."),
    Column("high", "text", "Words at the high end."),
    Column("text", "text", "What the participant read."),
    Column("answered_at", "time", "When the survey was sent."),
)


def rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row per answer, by participant, order and item."""
    found = Answer.objects.filter(round__participant__study=study).select_related(
        "item", "round__participant", "round__condition", "round__episode"
    )
    ordered = found.order_by("round__participant__number", "round__position", "item__position", "id")
    for answer in ordered.iterator(chunk_size=500):
        item = answer.item
        assert answer.round  # noqa: S101 - filtered by it
        yield (
            *where(answer.round),
            item.key,
            item.measure,
            answer.value,
            item.points,
            item.low,
            item.high,
            item.text,
            answer.answered_at,
        )


TABLE = Table("answers", "Every answer to the survey after each episode.", COLUMNS, rows)
