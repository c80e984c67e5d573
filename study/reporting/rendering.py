"""Rendering a report: its text and figures in every form."""

from __future__ import annotations

from collections.abc import Mapping

from study.reporting.chart import Chart, chart_of, to_svg
from study.reporting.html import embedded, to_html
from study.reporting.report import Report
from study.reporting.text import FLOW, Told, report_text

MARK = "Synthetic data: no findings about people"
"""On every page of a report in which any number comes from a program."""


def rendered(told: Told, drawn: Mapping[str, bytes] | None = None) -> Report:
    """In every form; `drawn` are figures as SVG by file name, each drawn where it is not given."""
    from study.analysis.statistics.figures import draw, draw_threads  # matplotlib is slow to import
    from study.reporting.pdf import DPI, to_pdf  # likewise

    results, chart = told.analysis.measures, chart_of(told.flow)
    given = drawn or {}
    svg = {one.figure_name: given.get(one.figure_name) or draw(one) for one in results}
    png: dict[str, bytes | Chart] = {one.figure_name: draw(one, "png", dpi=DPI) for one in results}
    for one in (one for one in results if one.threads_name):
        svg[one.threads_name] = given.get(one.threads_name) or draw_threads(one)
        png[one.threads_name] = draw_threads(one, "png", dpi=DPI)
    text, mark = report_text(told), MARK if told.analysis.synthetic else ""
    return Report(
        title=told.title,
        mark=mark,
        fragment=to_html(text.partition("\n")[2], embedded({**svg, FLOW: to_svg(chart)})),
        pdf=to_pdf(text, {**png, FLOW: chart}, title=told.title, mark=mark),
    )
