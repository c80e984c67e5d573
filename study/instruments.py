"""Questionnaires as data: `study/data/instruments/*.toml`, checked when loaded, given as frozen dataclasses.

A file has `title`, `source` (where it was published), `terms` (what may be done with it), `score` (a name of
`study.scoring.SCORES`; "mean" if left out), `place` (one of `PLACES`, where its items are asked; "survey" if
left out) and a list of `[[items]]`. What may stand in an item, and what it
is if left out, is said at `Item`. A wrong file is refused with file, key and reason. Plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kitchen.worlds.cuisine.reading import DataError, Table, parse_table, read_table
from study.item_reading import KEYS, Item, read_item
from study.scoring import SCORES, scale_problem

__all__ = ["DataError", "Instrument", "Item", "instrument", "instruments", "parse_instrument"]

FOLDER = Path(__file__).parent / "data" / "instruments"

PLACES = ("about", "check", "survey", "final")
"""Where items can be asked, as `study.models.SurveyItem.Place` has it."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """One questionnaire."""

    code: str
    """The stem of its file."""
    title: str
    source: str
    terms: str
    score: str
    """How the items of a scale become one number: a name of `study.scoring.SCORES`."""
    place: str
    """Where its items are asked: one of `PLACES`."""
    items: tuple[Item, ...]

    @property
    def scales(self) -> tuple[str, ...]:
        """Its sub-scales, in the order of their first items."""
        return tuple(dict.fromkeys(item.scale for item in self.items if item.scale))


@cache
def instruments() -> tuple[Instrument, ...]:
    """All that are shipped, sorted by code."""
    return tuple(_build(path.stem, read_table(path)) for path in sorted(FOLDER.glob("*.toml")))


def instrument(code: str) -> Instrument:
    """One of those shipped; DataError if there is none of this code."""
    known = {one.code: one for one in instruments()}
    if code not in known:
        raise DataError(f"{code}: no such instrument; there are {', '.join(known)}")
    return known[code]


def parse_instrument(text: str, file: str) -> Instrument:
    """An instrument from the text of its file; DataError for whatever cannot be asked or scored."""
    return _build(Path(file).stem, parse_table(text, file))


def _build(code: str, table: Table) -> Instrument:
    table.only(("title", "source", "terms", "score", "place", "items"))
    place = _place(table)
    items = _items(table, place)
    score = table.text("score", "mean")
    if score not in SCORES:
        raise table.error("score", f"{score!r} is not one of {', '.join(SCORES)}")
    _check_scales(table, items, score)
    texts = {key: table.text(key) for key in ("title", "source", "terms")}
    return Instrument(code=code, score=score, place=place, items=items, **texts)


def _place(table: Table) -> str:
    """Where the items are asked."""
    place = table.text("place", "survey")
    if place not in PLACES:
        raise table.error("place", f"{place!r} is not one of {', '.join(PLACES)}")
    return place


def _items(table: Table, place: str) -> tuple[Item, ...]:
    rows = table.values.get("items")
    if not isinstance(rows, list) or not rows:
        raise table.error("items", "must be a list of tables that is not empty")
    found: list[Item] = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise table.error(f"items[{number}]", "must be a table")
        where = Table(table.file, f"items[{number}]", row)
        where.only(KEYS)
        found.append(read_item(where, place))
        _check_new(where, found)
    return tuple(found)


def _check_new(where: Table, found: Sequence[Item]) -> None:
    """Keys and measures tell items apart in data and figures."""
    *before, item = found
    if item.key in {one.key for one in before}:
        raise where.error("key", f"{item.key!r} is the key of another item")
    if item.measure in {one.measure for one in before}:
        raise where.error("measure", f"{item.measure!r} is the measure of another item")


def _check_scales(table: Table, items: Sequence[Item], score: str) -> None:
    """The items of a scale can be put together by this score."""
    for scale in dict.fromkeys(item.scale for item in items if item.scale):
        members = [item for item in items if item.scale == scale]
        if problem := scale_problem(members, score):
            raise table.error("items", f"scale {scale!r}: {problem}")
