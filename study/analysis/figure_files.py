"""Make files of the figures of an analysis: SVG, PDF, PNG, tables as CSV or JSON, and Vega-Lite.

A separate process draws the images. Otherwise drawing would delay people who play on this server.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import cast

from kitchen.charts import chart_data, vega_charts
from kitchen.charts.chart_data import Chart, ImageFormat
from kitchen.charts.chart_drawing import draw_chart
from kitchen.infra.process_pool import ChildLimits, ProcessPool
from study.analysis.statistics.charts_by_measure import charts_of, main_figure
from study.analysis.statistics.figure_texts import NO_TEXTS, FigureTexts, texts_of
from study.analysis.statistics.run_analysis import Analysis

LONGEST = 30.0
"""Seconds after which drawing a figure is given up."""

FIGURE_TYPES = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "vl.json": "application/json",
}
"""Figure formats with their content types: drawings, the table behind the figure, and Vega-Lite."""

OFFERED = {"svg": "SVG", "pdf": "PDF", "png": "PNG", "csv": "table, CSV", "json": "table, JSON"}
"""Formats offered below a figure, with their labels."""

WRITTEN: dict[str, Callable[[Chart], bytes]] = {
    "csv": chart_data.chart_csv,
    "json": chart_data.chart_json,
    "vl.json": vega_charts.vega_json,
}
"""Formats that are written without drawing."""

_pool = ProcessPool(lambda: 1, waiting=20, limits=ChildLimits(LONGEST))
os.register_at_fork(after_in_child=_pool.forget)


def figure_file(
    figures: dict[str, bytes],
    analysis: Analysis,
    of: str,
    name: str,
    kind: str,
    texts: FigureTexts = NO_TEXTS,
) -> bytes:
    """Return one figure as the bytes of a file. `of` is the key of a measure or scale, `name` the chart's
    name, and `kind` the file type.

    `figures` maps measure keys to SVG main figures that a worker has already drawn. An empty `name` is the
    main figure. `texts` has the titles and notes that the researchers wrote. Raises KeyError for an unknown
    figure. Raises ProcessPoolError if the figure cannot be drawn now.
    """
    main = main_figure(analysis.measure(of)) if of in figures else ""
    if of in figures and kind == "svg" and name in ("", main) and not texts_of(texts, of, main):
        return figures[of]
    return chart_file(charts_of(analysis, of, texts)[name or main], kind)


def chart_file(chart: Chart, kind: str) -> bytes:
    """Return a chart as the bytes of a file; `kind` is one of `FIGURE_TYPES`. Raises ProcessPoolError if
    it cannot be drawn now."""
    if kind in WRITTEN:
        return WRITTEN[kind](chart)
    return _pool.submit(draw_chart, chart, cast(ImageFormat, kind)).result()
