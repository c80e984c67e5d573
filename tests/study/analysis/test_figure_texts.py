"""Titles and notes of figures: edited and left out on the pages, in files and in the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from kitchen.charts.chart_drawing import draw_chart
from kitchen.charts.vega_charts import vega_specification
from study.analysis.analysis_results import CachedAnalysis
from study.analysis.figure_files import figure_file
from study.analysis.statistics.charts_by_measure import charts_of, leading_figure, main_figure, report_charts
from study.analysis.statistics.figure_texts import LONGEST, changed_texts, with_texts
from study.researchers.models import Membership
from tests.study.analysis.statistics.test_analysis import demo
from tests.study.factories import make_study

OWN = {"title": "Ours <b>& theirs</b>", "note": ""}
HERE = "/staff/small/analysis/success/raincloud/texts/"


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
    assert [name for name, chart in charts.items() if chart.own] == ["raincloud"]
    written = report_charts(analysis.measures, texts)
    assert [name for name, chart in written.items() if chart.own] == ["figure_success_raincloud.svg"]
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


@pytest.fixture
def editor(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    ready = CachedAnalysis(replace(demo()), {})
    for place in ("figure_text_page.ready_analysis", "analysis_pages.ready_analysis"):
        monkeypatch.setattr(f"study.console.{place}", lambda *_: ready)
    user = get_user_model().objects.create_user("ed", is_staff=True)
    Membership.objects.create(study=make_study(), user=user, role=Membership.Role.COLLABORATOR)
    client.force_login(user)
    return client


@pytest.mark.django_db
def test_who_may_edit_changes_a_title_and_leaves_a_note_out(editor: Client) -> None:
    sent: dict[str, Any] = {"shows_title": "on", "title": f" {OWN['title']} ", "note": "gone"}
    assert editor.post(HERE, sent)["Location"].startswith("/staff/small/analysis/success/?")
    membership = Membership.objects.get()
    assert membership.study.figure_texts == {"success": {"raincloud": OWN}}
    page = editor.get("/staff/small/analysis/success/").content.decode()
    assert HERE in page and "Half violins" not in page
    form = editor.get(HERE).content.decode()
    assert "Ours &lt;b&gt;&amp; theirs&lt;/b&gt;" in form and "<b>&" not in form
    editor.post(HERE, {"shows_title": "on", "shows_note": "on"})
    membership.study.refresh_from_db()
    assert membership.study.figure_texts == {}
    assert editor.post(HERE.replace("raincloud", "nothing"), sent).status_code == 404
    membership.role = Membership.Role.VIEWER
    membership.save()
    assert editor.post(HERE, sent).status_code == 403
    assert HERE not in editor.get("/staff/small/analysis/success/").content.decode()


@pytest.mark.django_db
def test_a_text_that_is_too_long_is_refused_and_says_how_long_it_may_be(editor: Client) -> None:
    answer = editor.post(HERE, {"shows_title": "on", "title": "x" * (LONGEST["title"] + 1)})
    assert answer.status_code == 400
    assert "at most 200 characters" in answer.content.decode()
    assert Membership.objects.get().study.figure_texts == {}
