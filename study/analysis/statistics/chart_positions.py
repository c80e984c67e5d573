"""A measure over the order of play as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kitchen.charts.chart import Axis, Chart, Panel, Point, Series
from study.analysis.statistics.analyse import MeasureResult
from study.analysis.statistics.chart_parts import DESCRIBED, described, mean_words, value_axis
from study.analysis.statistics.describe import Description, describe
from study.analysis.statistics.format import number, p_value
from study.analysis.statistics.rows import AnalysisCondition
from study.analysis.statistics.table import MeasureTable
from study.analysis.statistics.within.results import Mixed, Term
from study.analysis.statistics.words import participants_in


def positions(result: MeasureResult) -> Chart:
    """Means over the order in which conditions were played, of all and of each condition: what learning and
    tiredness did."""
    result = result.where_measured()
    tables: list[tuple[str, int | None, MeasureTable]] = [
        ("All conditions", None, _by_position(result.table))
    ]
    for place, condition in enumerate(result.table.conditions):
        rows = tuple(row for row in result.table.observations if row.condition == condition.key)
        tables.append((condition.label, place, _by_position(replace(result.table, observations=rows))))
    found = [(name, place, describe(table)) for name, place, table in tables]
    last = max((row.order_position for row in result.table.observations), default=1)
    return Chart(
        key=f"{result.measure.key}_positions",
        title=f"{result.measure.label} over the order of play",
        x=Axis("Position in the order", 0.6, last + 0.4, ticks=tuple(float(n) for n in range(1, last + 1))),
        y=value_axis(result),
        panels=(Panel(tuple(_over_positions(*one) for one in found if one[2])),),
        under=participants_in(result),
        note=f"Thick line: all conditions, with 95% CI of the mean. {_order_effects(result)}".strip(),
        words=_positions_words(result, found[0][2]),
        head=("condition", "position", *DESCRIBED),
        rows=tuple((name, int(d.condition.key), *described(d)) for name, _, ds in found for d in ds),
        synthetic=result.synthetic,
    )


def _by_position(table: MeasureTable) -> MeasureTable:
    """The same values with positions for conditions."""
    there = sorted({row.order_position for row in table.observations})
    rows = tuple(replace(row, condition=str(row.order_position)) for row in table.observations)
    return MeasureTable(table.measure, tuple(AnalysisCondition(str(n), f"{n}.", n) for n in there), rows)


def _over_positions(name: str, place: int | None, found: Sequence[Description]) -> Series:
    points = tuple(
        Point(
            int(d.condition.key),
            d.mean,
            d.ci_low if place is None else None,
            d.ci_high if place is None else None,
            f"{name}, position {d.condition.key}: {mean_words(d)}",
        )
        for d in found
        if d.mean is not None
    )
    return Series(name, "lines" if place is None else "dashed", points, None if place is None else place)


def _order_effects(result: MeasureResult) -> str:
    """The mixed model's terms of position and carry-over, where they can be told."""
    mixed = result.within.mixed if result.within else None
    if not isinstance(mixed, Mixed):
        return ""
    terms: tuple[tuple[str, Term], ...] = (("Position", "position"), ("Carry-over", "carry_over"))
    effects = [(name, mixed.effect(term)) for name, term in terms]
    said = [
        f"{name}: F({e.df}, {number(e.df_error, 1)}) = {number(e.f)}, {p_value(e.p)}."
        for name, e in effects
        if e is not None
    ]
    return " ".join(["Mixed model:", *said]) if said else ""


def _positions_words(result: MeasureResult, over_all: Sequence[Description]) -> str:
    said = "; ".join(f"position {d.condition.key} {mean_words(d)}" for d in over_all if d.mean is not None)
    what = f"{result.measure.label} over the order of play: {said or 'no values'}."
    return f"{what} {_order_effects(result)}".strip()
