"""outages.csv: when something of ours was away while the study ran."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from kitchen.uptime.models import Part
from study.design.models import Study
from study.exports.base import Column, ExportTable
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.people.outages import outages_of

COLUMNS = (
    Column(
        "part",
        "text",
        "What was away.",
        levels="; ".join(f"{value} ({label})" for value, label in Part.choices),
    ),
    Column("since", "time", "Its last sign of life before."),
    Column("until", "time", "Its first sign of life after."),
    Column(
        "seconds",
        "number",
        "How long that is, up to two seconds longer than it was away; 0 for a clock that was set.",
        unit="s",
    ),
    Column("note", "text", "What is not certain about it, or how the clock was set."),
)


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per outage, from the first participant's coming on."""
    found = outages_of(study).values_list("part", "since", "until", "note")
    yield Stretch(
        (),
        [
            (part, since, until, 0.0 if part == Part.CLOCK else _seconds(since, until), note or None)
            for part, since, until, note in found
        ],
    )


def _seconds(since: datetime, until: datetime) -> float:
    return round((until - since).total_seconds(), 3)


TABLE = ExportTable("outages", "When something of ours was away while the study ran.", COLUMNS, rows)
