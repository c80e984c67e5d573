"""predictions.csv: what co-players foresaw that others would do, and whether they did."""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.contract.foreseeing import Foreseen
from kitchen.contract.skills import spelled
from kitchen.play.foresights import ByMind, foreseen_by_episode
from study.design.models import Study
from study.exports.base import MARKS, OUTAGE, WHERE, Column, ExportTable
from study.exports.chosen import Chosen
from study.exports.stretches import Stretch
from study.exports.tables.sittings import episodes_once, in_pieces, touched_steps, who_are_there
from study.exports.tables.steps import STEP
from study.people.outages import downtime_of

COLUMNS = (
    *WHERE,
    STEP,
    Column("mind", "integer", "Number of the co-player that foresaw it.", levels="0 = first"),
    Column("seat", "integer", "In which of its seats.", levels="0 = the first seat"),
    Column("of_seat", "integer", "Of whom it foresaw it.", levels="0 = the first seat"),
    Column("foreseen", "text", "What that seat would finish next, in the names of the world."),
    Column("done", "text", "What it finished next; blank if it finished nothing any more."),
    Column("done_step", "integer", "The step in which it did; blank likewise.", levels="1 = first"),
    Column("right", "boolean", "1 if that is what was foreseen; blank if it has not turned out."),
    *MARKS,
    *OUTAGE,
)


def rows(study: Study, chosen: Chosen) -> Iterator[Stretch]:
    """One row per prediction, by step; of an episode that several share with the first of them."""
    downtime = downtime_of(study)
    for piece in in_pieces(episodes_once(study, chosen, downtime)):
        found = foreseen_by_episode(sitting.episode for sitting in piece)
        touched = touched_steps(piece, downtime)
        for sitting in who_are_there(piece):
            yield from sitting.stretches(list(_rows(found.get(sitting.episode, {}))), touched, chosen)


def _rows(by_mind: ByMind) -> Iterator[tuple[object, ...]]:
    told = [(one.step, mind, one) for mind, several in by_mind.items() for one in several]
    for step, mind, one in sorted(told, key=lambda each: (*each[:2], each[2].by, each[2].of)):
        yield step, mind, *_cells(one)


def _cells(one: Foreseen) -> tuple[object, ...]:
    done = spelled(one.done) if one.done else None
    return one.by, one.of, spelled(one.said), done, one.done_in, one.right


TABLE = ExportTable(
    "predictions", "What co-players foresaw that others would do, and whether they did.", COLUMNS, rows
)
