"""What an analysis takes of play: the figures that worlds declare, and what else was measured."""

from __future__ import annotations

from dataclasses import replace

from kitchen.registry.figures import NamedFigure
from study.analysis.rated import Rated
from study.analysis.statistics.rows import Measure
from study.design.of_play import OF_PLAY, OfPlay


def measures_of(scales: Rated) -> list[Measure]:
    """All that is measured: of play, then of surveys, then what is only explored."""
    beside = [_of_play(OF_PLAY[key]) for key in scales.of_play]
    planned, explored = ([one for one in beside if one.exploratory is each] for each in (False, True))
    return [*map(measure_of, scales.figures), *planned, *scales.measures, *explored]


def _of_play(one: OfPlay) -> Measure:
    made = (
        Measure.rate(one.key, one.label)
        if one.kind == "share"
        else Measure.number(one.key, one.label, 0.0, None, unit="s")
    )
    return replace(made, exploratory=one.exploratory)


def measure_of(named: NamedFigure) -> Measure:
    """A figure of play as the analysis has it."""
    if named.figure.kind == "share":
        return Measure.rate(named.name, named.label)
    if named.figure.kind == "count":
        return Measure.count(named.name, named.label)
    return Measure.number(named.name, named.label, *named.figure.ends, unit=named.figure.unit)
