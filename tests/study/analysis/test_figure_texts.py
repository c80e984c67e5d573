"""Titles and notes of figures: own ones and left-out ones in charts, files and the report."""

from __future__ import annotations

import pytest

from kitchen.charts.chart_drawing import draw_chart
from kitchen.charts.vega_charts import vega_specification
from study.analysis.figure_files import figure_file
from study.analysis.statistics.charts_by_measure import charts_of, leading_figure, main_figure, report_charts
from study.analysis.statistics.figure_texts import changed_texts, with_texts
from tests.study.analysis.statistics.test_analysis import demo

OWN = {"title": "Ours <b>& theirs</b>", "note": ""}


def test_an_own_title_is_drawn_escaped_and_a_left_out_note_is_not_drawn() -> None:
    chart = charts_of(demo(), "success")["raincloud"]
    own = with_texts(chart, OWN)
    drawn = draw_chart(own).decode()
    assert "Ours &lt;b&gt;&amp; theirs&lt;/b&gt;" in drawn and "<b>" not in drawn
    assert "Half violins" not in drawn and "Synthetic data" in drawn
    assert own.alternative == chart.alternative and own.full_title == chart.full_title
    bare = with_texts(chart, {"title": ""})
    assert vega_specification(bare)["title"]["text"] == "(synthetic data)"
    assert bare.full_note == chart.full_note
    assert ">Success rate</text>" in draw_chart(chart).decode()
    assert ">Success rate</text>" not in draw_chart(bare).decode()


def test_texts_are_those_of_one_chart_of_one_measure_in_pages_files_and_report() -> None:
    analysis, texts = demo(), {"success": {"raincloud": OWN}}
    charts = charts_of(analysis, "success", texts)
    assert [name for name, chart in charts.items() if chart.replaced_texts] == ["raincloud"]
    written = report_charts(analysis.measures, texts)
    assert [name for name, chart in written.items() if chart.replaced_texts] == [
        "figure_success_raincloud.svg"
    ]
    lead = leading_figure(analysis, texts)
    assert lead and lead.chart.shown_title == OWN["title"]


def test_a_figure_with_own_texts_is_not_the_one_that_a_worker_drew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("study.analysis.figure_files.chart_file", lambda chart, _: chart.full_note.encode())
    drawn, analysis = {"success": b"drawn before"}, demo()
    assert main_figure(analysis.measure("success")) == "raincloud"
    for name in ("", "raincloud"):
        assert figure_file(drawn, analysis, "success", name, "svg") == b"drawn before"
        own = figure_file(drawn, analysis, "success", name, "svg", {"success": {"raincloud": OWN}})
        assert own == b""


def test_stored_texts_have_no_empty_entries() -> None:
    texts = changed_texts({}, "a", "means", OWN)
    assert texts == {"a": {"means": OWN}}
    assert changed_texts({"a": {"means": OWN}, "b": {"means": OWN}}, "a", "means", {}) == {
        "b": {"means": OWN}
    }
