"""What an analysis takes of play: measures of the figures that worlds declare, and of what was foreseen."""

from __future__ import annotations

from kitchen.registry.figures import NamedFigure
from study.analysis.rated import Rated
from study.analysis.statistics.rows import Measure
from study.design.names import FORESIGHT, FORESIGHT_LABEL


def measures_of(scales: Rated) -> list[Measure]:
    """All that is measured: of play, then of surveys."""
    foreseen = [Measure.rate(FORESIGHT, FORESIGHT_LABEL)] if scales.foretold else []
    return [*map(measure_of, scales.figures), *foreseen, *scales.measures]


def measure_of(named: NamedFigure) -> Measure:
    """A figure of play as the analysis has it."""
    if named.figure.kind == "share":
        return Measure.rate(named.name, named.label)
    if named.figure.kind == "count":
        return Measure.count(named.name, named.label)
    return Measure.number(named.name, named.label, *named.figure.ends, unit=named.figure.unit)
