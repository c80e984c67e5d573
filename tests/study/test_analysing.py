"""The analysis on the command line and on the researcher's page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from redis.exceptions import RedisError

from study import analysing, selectors, services, tasks
from study.analysing import analysis_ready
from study.models import Study
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    monkeypatch.setattr(tasks, "ask_analysis", lambda *what: found.append(what))
    return found


@pytest.fixture
def study() -> Study:
    found = make_study(conditions=3)
    for number, value in enumerate((1, 3, 4)):
        complete(found, f"program {number}", synthetic=True, value=value)
    return found


def test_people_are_analysed_without_the_synthetic_as_soon_as_there_is_one(study: Study) -> None:
    assert len(analysing.analyse_now(study, "synthetic").participants) == 3
    assert selectors.whose_data(study) == "synthetic"
    enter(study, "a drop-out")
    assert selectors.whose_data(study) == "synthetic"
    complete(study, "a person")
    assert selectors.whose_data(study) == "people"
    assert len(analysing.analyse_now(study, "all").participants) == 4


def test_the_command_writes_tables_and_figures_and_marks_synthetic_data(study: Study, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("analyse_study", "small", "--out", str(tmp_path), stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[-1] == f"3 participants (synthetic participants only), files in {tmp_path}"
    with (tmp_path / "anova.csv").open() as stream:
        rows = {row["measure"]: row for row in csv.DictReader(stream)}
    assert (rows["i0"]["df_between"], rows["i0"]["df_within"], rows["i0"]["synthetic"]) == ("2", "6", "1")
    assert (tmp_path / "figure_i0.svg").exists()
    assert "Synthetic data" in (tmp_path / "report.md").read_text()


def test_the_page_waits_for_a_worker_and_then_shows_what_it_computed(
    study: Study, asked: list[tuple[int, str]], admin_client: Client
) -> None:
    waiting = admin_client.get("/staff/small/analysis/")
    assert "Being computed" in waiting.content.decode()
    assert waiting["Refresh"] == "2"
    assert admin_client.get("/staff/small/analysis/i0.svg").status_code == 503
    tasks.compute_analysis(*asked.pop())
    page = admin_client.get("/staff/small/analysis/").content.decode()
    assert "F(2, 6)" in page
    assert "synthetic" in page
    figure = admin_client.get("/staff/small/analysis/i0.svg")
    assert figure["Content-Type"] == "image/svg+xml"
    assert admin_client.get("/staff/small/analysis/nothing.svg").status_code == 404


def test_a_worker_is_asked_once_and_again_when_the_data_change(
    study: Study, asked: list[tuple[int, str]]
) -> None:
    assert analysis_ready(study, "all") is None
    assert analysis_ready(study, "all") is None
    assert len(asked) == 1
    tasks.compute_analysis(*asked.pop())
    assert analysis_ready(study, "all") is not None
    person = complete(study, "one more")
    assert analysis_ready(study, "all") is None
    services.participant_withdraw(participant_id=person.pk)
    study.refresh_from_db()
    assert analysis_ready(study, "all") is None


def test_without_participants_the_page_says_so(asked: list[tuple[int, str]], admin_client: Client) -> None:
    make_study()
    admin_client.get("/staff/small/analysis/")
    tasks.compute_analysis(*asked.pop())
    assert "Nothing to analyse yet" in admin_client.get("/staff/small/analysis/").content.decode()


def test_a_study_that_is_gone_asks_nothing_of_a_worker() -> None:
    tasks.compute_analysis(99, "all")


def test_while_redis_is_away_the_page_says_so(
    study: Study, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise RedisError("gone")

    monkeypatch.setattr(analysing, "cache", SimpleNamespace(get=away))
    assert "does not answer" in admin_client.get("/staff/small/analysis/").content.decode()
    assert admin_client.get("/staff/small/analysis/i0.svg").status_code == 503
