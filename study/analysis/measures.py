"""What an analysis takes of play, and whether a researcher's own names can stand beside it there."""

from __future__ import annotations

from kitchen.registry.figures import NamedFigure
from study.analysis.statistics.rows import Measure


def measure_of(one: NamedFigure) -> Measure:
    """A figure of play as the analysis has it."""
    if one.figure.kind == "share":
        return Measure.rate(one.name, one.label)
    if one.figure.kind == "count":
        return Measure.count(one.name, one.label)
    return Measure.number(one.name, one.label, *one.figure.ends, unit=one.figure.unit)
