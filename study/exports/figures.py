"""Columns of what was scored in episodes: the figures that the study's worlds declare."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kitchen.contract.world import Figure, Json
from kitchen.registry.figures import NamedFigure
from study.design.figures import study_figures
from study.design.models import Study
from study.exports.base import Column

KINDS: Mapping[str, str] = {"count": "integer", "share": "number", "number": "number"}
"""Kind of column by kind of figure."""


@dataclass(frozen=True, slots=True)
class FigureColumn(Column):
    """A column that holds a figure."""

    named: NamedFigure = field(kw_only=True)


def episode_columns(study: Study) -> tuple[FigureColumn, ...]:
    """Of a whole episode: counts first, then shares that are made of them."""
    figures = study_figures(study)
    columns = (_column(one, _of_episode(one.figure), figures) for one in figures)
    return tuple(sorted(columns, key=lambda column: column.named.figure.of is not None))


def step_columns(study: Study) -> tuple[FigureColumn, ...]:
    """Of a step: the figures that there are after each."""
    figures = study_figures(study)
    return tuple(_column(one, one.figure.so_far, figures) for one in figures if one.figure.so_far)


SCORES = 4096
"""Scores that are kept as cells."""


def figure_reader(columns: Sequence[FigureColumn]) -> Callable[[str, str], tuple[Json, ...]]:
    """Tells what an episode has in these columns, by its world and the JSON of its score. A score that many
    steps share is read once."""

    @lru_cache(maxsize=SCORES)
    def cells(world: str, score: str) -> tuple[Json, ...]:
        scored = json.loads(score)
        return tuple(column.named.value(world, scored) for column in columns)

    return cells


def where_scored(named: NamedFigure, figures: Iterable[NamedFigure]) -> str:
    """In which worlds it is, as a sentence, if it is not in all that the study has; empty if it is."""
    others = {world for each in figures for world in each.worlds} - set(named.worlds)
    return f" Of episodes in {', '.join(named.worlds)}; blank in others." if others else ""


def _of_episode(figure: Figure) -> str:
    said = figure.formula or figure.meaning or figure.label
    return f"{said}; {figure.undefined}" if figure.undefined else said


def _column(named: NamedFigure, meaning: str, figures: Iterable[NamedFigure]) -> FigureColumn:
    said = f"{meaning}.{where_scored(named, figures)}"
    return FigureColumn(named.name, KINDS[named.figure.kind], said, named.figure.unit, named=named)
