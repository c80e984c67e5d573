"""What an analysis takes of play: measures of the figures that worlds declare."""

from __future__ import annotations

from kitchen.registry.figures import NamedFigure
from study.analysis.statistics.rows import Measure


def measure_of(named: NamedFigure) -> Measure:
    """A figure of play as the analysis has it."""
    if named.figure.kind == "share":
        return Measure.rate(named.name, named.label)
    if named.figure.kind == "count":
        return Measure.count(named.name, named.label)
    return Measure.number(named.name, named.label, *named.figure.ends, unit=named.figure.unit)
