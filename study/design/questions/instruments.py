"""Questionnaires as data: `study/data/instruments/*.toml`, and those in the folder `instruments` of a world,
which ask about it; checked when loaded, given as frozen records.

A file has `title`, `source` (where it was published), `terms` (what may be done with it), `score` (a name of
`study.design.questions.scoring.SCORES`; "mean" if left out), `place` (one of `PLACES`, where its items are
asked; "survey" if left out) and a list of `[[items]]`. What may stand in an item, and what it is if left out,
is said at `study.design.questions.fields.ItemPlan`. A wrong file is refused with file, key and reason. Plain
Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from kitchen.contract.data_files import DataError, Record, Source, Text, one_of, opened, parsed
from kitchen.contract.world import Json
from kitchen.registry.worlds import folders
from study.design.questions.fields import PLACES, ItemPlan
from study.design.questions.reading import FileItem, item_of
from study.design.questions.scoring import SCORES, scale_problem

__all__ = ["DataError", "Instrument", "instrument", "instruments", "parse_instrument"]

FOLDER = Path(__file__).parents[2] / "data" / "instruments"


class InstrumentFile(Record):
    """What stands in a file."""

    title: Text
    source: Text
    terms: Text
    score: Annotated[Text, one_of(SCORES)] = "mean"
    place: Annotated[Text, one_of(PLACES)] = "survey"
    items: Annotated[list[FileItem], Field(min_length=1)]


_FILE = TypeAdapter(InstrumentFile)


@dataclass(frozen=True, slots=True)
class Instrument:
    """One questionnaire."""

    code: str
    """The stem of its file."""
    title: str
    source: str
    terms: str
    score: str
    """How the items of a scale become one number: a name of `study.design.questions.scoring.SCORES`."""
    place: str
    """Where its items are asked."""
    items: tuple[ItemPlan, ...]

    @property
    def scales(self) -> tuple[str, ...]:
        """Its sub-scales, in the order of their first items."""
        return tuple(dict.fromkeys(item.scale for item in self.items if item.scale))


def instruments() -> tuple[Instrument, ...]:
    """All that are shipped, those of worlds among them, sorted by code."""
    shipped = [one for folder in (FOLDER, *folders("instruments")) for one in _shipped(folder)]
    return tuple(sorted(shipped, key=lambda one: one.code))


@cache
def _shipped(folder: Path) -> tuple[Instrument, ...]:
    return tuple(_build(path.stem, *opened(path)) for path in folder.glob("*.toml"))


def instrument(code: str) -> Instrument:
    """One of those shipped; DataError if there is none of this code."""
    known = {one.code: one for one in instruments()}
    if code not in known:
        raise DataError(f"{code}: no such instrument; there are {', '.join(known)}")
    return known[code]


def parse_instrument(text: str, file: str) -> Instrument:
    """An instrument from the text of its file; DataError for whatever cannot be asked or scored."""
    return _build(Path(file).stem, *parsed(text, file))


def _build(code: str, source: Source, values: Mapping[str, Json]) -> Instrument:
    told = source.read(_FILE, values)
    items = tuple(
        item_of(one, source.at(f"items[{number}]"), told.place) for number, one in enumerate(told.items, 1)
    )
    _check_apart(source, items)
    _check_scales(source, items, told.score)
    return Instrument(
        code=code,
        title=told.title,
        source=told.source,
        terms=told.terms,
        score=told.score,
        place=told.place,
        items=items,
    )


def _check_apart(source: Source, items: Sequence[ItemPlan]) -> None:
    """Keys and measures tell items apart in data and figures."""
    for name in ("key", "measure"):
        values = [getattr(item, name) for item in items]
        for number, value in enumerate(values):
            if value in values[:number]:
                reason = f"{value!r} is the {name} of another item"
                raise source.error(f"items[{number + 1}].{name}", reason)


def _check_scales(source: Source, items: Sequence[ItemPlan], score: str) -> None:
    """The items of a scale can be put together by this score."""
    for scale in dict.fromkeys(item.scale for item in items if item.scale):
        members = [item for item in items if item.scale == scale]
        if problem := scale_problem(members, score):
            raise source.error("items", f"scale {scale!r}: {problem}")
