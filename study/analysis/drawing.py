"""The figures of a kept analysis as files. They are drawn in a process of their own, one after the other:
people play in this one, and matplotlib takes a second to load and tenths of one to draw."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import cast

from kitchen.charts import behind, vega
from kitchen.charts.chart import Chart, Format
from kitchen.machine.apart import Pool
from study.analysis.statistics.analyse import Analysis, MeasureResult
from study.analysis.statistics.charts import MEANS, charts_of

LONGEST = 30.0
"""Seconds after which a figure is given up."""

TYPES = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "vl.json": "application/json",
}
"""What a figure can be had as, with its type: drawings, the table behind it, and as Vega-Lite."""

OFFERED = {"svg": "SVG", "pdf": "PDF", "png": "PNG", "csv": "table, CSV", "json": "table, JSON"}
"""What is offered below a figure, in words."""

WRITTEN: dict[str, Callable[[Chart], bytes]] = {
    "csv": behind.as_csv,
    "json": behind.as_json,
    "vl.json": vega.as_vega,
}
"""Those that are not drawn."""

_pool = Pool(lambda: 1, waiting=20, longest=LONGEST)
os.register_at_fork(after_in_child=_pool.forget)


def figure_file(figures: dict[str, bytes], analysis: Analysis, of: str, name: str, kind: str) -> bytes:
    """A figure of a measure or scale as a file; `figures` are those that a worker has drawn already, by
    measure. KeyError where there is none; ApartError where it cannot be drawn now."""
    chart = charts_of(analysis, of)[name]
    if name != MEANS or kind in WRITTEN:
        return chart_file(chart, kind)
    return figures[of] if kind == "svg" else _drawn(analysis.measure(of), kind)


def chart_file(chart: Chart, kind: str) -> bytes:
    """A figure as one of `TYPES`. ApartError where it cannot be drawn now."""
    return WRITTEN[kind](chart) if kind in WRITTEN else _drawn(chart, kind)


def _drawn(drawn: MeasureResult | Chart, kind: str) -> bytes:
    return _pool.submit(draw_one, drawn, cast(Format, kind)).result()


def draw_one(drawn: MeasureResult | Chart, kind: Format) -> bytes:
    """What the process apart does."""
    if isinstance(drawn, Chart):
        from kitchen.charts.sheet import draw as draw_chart  # matplotlib is slow to import

        return draw_chart(drawn, kind)
    from study.analysis.statistics.figures import draw  # likewise

    return draw(drawn, kind)
