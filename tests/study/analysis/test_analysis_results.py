"""The analysis on the command line and on the researcher's page."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from redis.exceptions import RedisError

from kitchen.infra.append_only import erasure_allowed
from kitchen.infra.process_pool import BusyError
from kitchen.play.models import Episode
from study import tasks
from study.analysis import analysis_results, analysis_sample, figure_files
from study.analysis.analysis_results import analysis_ready
from study.analysis.statistics.charts_by_measure import OF_MEASURE
from study.design.models import Study
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Answer, Participant
from tests.conftest import Once
from tests.nightly import nightly
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    monkeypatch.setattr("study.analysis.analysis_results.ask_analysis", lambda *what: found.append(what))
    return found


@pytest.fixture(scope="module")
def played(once: Once) -> int:
    """A study that three programs went through; its pk."""
    with once():
        found = make_study(conditions=3, steps=1)
        for number, value in enumerate((1, 3, 4)):
            complete(found, f"program {number}", synthetic=True, value=value)
    return found.pk


@pytest.fixture
def study(played: int) -> Study:
    return Study.objects.get(pk=played)


def test_people_are_analysed_without_the_synthetic_as_soon_as_there_is_one(study: Study) -> None:
    assert len(analysis_results.analyse_present_data(study, "synthetic").participants) == 3
    assert analysis_sample.default_participants(study) == "synthetic"
    enter(study, "a drop-out")
    assert analysis_sample.default_participants(study) == "synthetic"
    complete(study, "a person")
    assert analysis_sample.default_participants(study) == "people"
    assert len(analysis_results.analyse_present_data(study, "all").participants) == 4


@pytest.mark.parametrize("preregistered", [False, True])
def test_one_analysis_looks_up_once_who_failed_the_checks(
    study: Study, monkeypatch: pytest.MonkeyPatch, preregistered: bool
) -> None:
    asked: list[Study] = []

    def failed(study: Study) -> set[int]:
        asked.append(study)
        return failed_checks(study)

    failed_checks = analysis_sample.failed_checks
    monkeypatch.setattr(analysis_sample, "failed_checks", failed)
    analysis_results.analyse_present_data(study, "all", preregistered)
    assert asked == [study]


@pytest.mark.usefixtures("blank_drawings")
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
    for name in ("report.pdf", "appendix.pdf"):
        assert (tmp_path / name).read_bytes().startswith(b"%PDF-")
    rows_sha256 = hashlib.sha256((tmp_path / "analysed.csv").read_bytes()).hexdigest()
    assert rows_sha256 in (tmp_path / "report.html").read_text()


def loads_again(page: str) -> bool:
    """Whether the page loads itself again every two seconds, with scripts and without them."""
    without = '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page
    return without and bool(re.search(r'waiting[^"]*\.js" defer data-waiting="2"', page))


@pytest.mark.usefixtures("blank_drawings")
def test_the_page_waits_for_a_worker_and_then_shows_what_it_computed(
    study: Study, asked: list[tuple[int, str]], admin_client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = admin_client.get("/staff/small/analysis/")
    assert "Being computed" in waiting.content.decode()
    assert loads_again(waiting.content.decode())
    figure = admin_client.get("/staff/small/analysis/i0.svg")
    assert (figure.status_code, "The analysis is being computed" in figure.content.decode()) == (503, True)
    assert not [each for each in caplog.records if each.levelname == "ERROR"], "it is no error"
    tasks.compute_analysis(*asked.pop())
    page = admin_client.get("/staff/small/analysis/").content.decode()
    assert "F(2, 6)" in page and not loads_again(page)
    assert "synthetic" in page
    opening, *folds = page.split('<details class="fold" id="')
    assert '<p class="verdict">' in opening and "Repeated-measures ANOVA" in opening
    assert 'src="/staff/small/analysis/success_rate.svg' in opening and "<table" not in opening
    assert 'href="#m-success_rate"' in opening
    assert {"whose", "m-success_rate", "m-i0", "deviations", "files"} <= {
        one.partition('"')[0] for one in folds
    }
    figure = admin_client.get("/staff/small/analysis/i0.svg")
    assert figure["Content-Type"] == "image/svg+xml"
    assert admin_client.get("/staff/small/analysis/nothing.svg").status_code == 404


@pytest.mark.usefixtures("blank_drawings")
def test_a_report_is_made_by_a_worker_read_downloaded_and_erased_with_the_analysis(
    study: Study,
    admin_client: Client,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    asked: list[tuple[int, str]] = []
    monkeypatch.setattr("study.reporting.report_output.ask_report", lambda *what: asked.append(what))
    at = "/staff/small/analysis/report"
    waiting = admin_client.get(f"{at}/").content.decode()
    assert "Being made" in waiting and loads_again(waiting)
    early = admin_client.get(f"{at}.pdf")
    assert (early.status_code, early["Retry-After"], len(asked)) == (503, "2", 1)
    assert "The report is being made" in early.content.decode()
    assert f'<a href="{at}.pdf">Try again</a>' in early.content.decode()
    tasks.report(*asked.pop())
    page = admin_client.get(f"{at}/").content.decode()
    assert "Nothing was preregistered" in page
    assert "style=" not in page
    for name in ("report", "appendix"):
        answer = admin_client.get(f"/staff/small/analysis/{name}.pdf")
        assert answer.content.startswith(b"%PDF-")
        assert f'filename="small_{name}.pdf"' in answer["Content-Disposition"]
    html = admin_client.get(f"{at}.html").content.decode()
    assert "Synthetic data: no findings about people" in html
    assert not re.search(r'(src|href)="(?!data:)', html)
    assert "Nobody in this choice of data" in _made(admin_client, asked, f"{at}/?who=people")
    nothing = admin_client.get(f"{at}.html?who=people")
    assert (nothing.status_code, "Nobody in this choice of data" in nothing.content.decode()) == (409, True)
    with django_capture_on_commit_callbacks(execute=True):
        participant_withdraw(participant_id=study.participants.all()[0].pk)
    assert (
        cache.get(
            analysis_results.report_cache_key(analysis_results.analysis_cache_key(study.pk, "synthetic"))
        )
        is None
    )


def _made(client: Client, asked: list[tuple[int, str]], at: str) -> str:
    """The page, after a worker has done what it asked for."""
    client.get(at)
    tasks.report(*asked.pop())
    return client.get(at).content.decode()


def test_the_figures_of_a_measure_have_words_tables_and_files(
    study: Study,
    asked: list[tuple[int, str]],
    admin_client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = "/staff/small/analysis/i0/"
    assert loads_again(admin_client.get(here).content.decode())
    assert admin_client.get(f"{here}means.pdf").status_code == 503
    tasks.compute_analysis(*asked.pop())
    page = admin_client.get(here).content.decode()
    assert page.count("The data as a table") == len(OF_MEASURE)
    assert "over the order of play: position 1 mean" in page
    monkeypatch.setattr(figure_files, "_pool", AtOnce())
    for name, begins in {
        "means.svg": b"<?xml",
        "means.pdf": b"%PDF",
        "positions.png": b"\x89PNG",
        "participants.csv": b"participant,",
        "participants.json": b"{",
        "participants.vl.json": b'{"$schema"',
    }.items():
        assert admin_client.get(here + name).content.startswith(begins), name
    for none in ("means.exe", "nothing.svg", "means"):
        assert admin_client.get(here + none).status_code == 404
    for name, begins in {
        "tests.csv": b"measure,",
        "tests.tex": b"",
        "analysed.csv": b"participant,",
        "rounds.csv": b"participant,order_position,condition",
        "reproduce.R": b"# Reproduce every row",
        "reproduce.py": b'"""Reproduce every row',
        "analysis.json": b"{",
        "report.md": b"#",
    }.items():
        answer = admin_client.get(f"/staff/small/analysis/{name}")
        assert (answer.status_code, answer.content[: len(begins)]) == (200, begins)
    for none in ("nothing/", "secrets.csv"):
        assert admin_client.get(f"/staff/small/analysis/{none}").status_code == 404
    monkeypatch.setattr(figure_files, "_pool", AtOnce(BusyError("busy")))
    assert admin_client.get(f"{here}means.pdf").status_code == 503


class AtOnce:
    """Draws in this process, or does not."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        if self._error:
            raise self._error
        found: Future[Any] = Future()
        found.set_result(function(*arguments))
        return found


@pytest.mark.usefixtures("without_drawings")
@pytest.mark.servers
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
    participant_withdraw(participant_id=person.pk)
    study.refresh_from_db()
    assert analysis_ready(study, "all") is None


@pytest.mark.usefixtures("without_drawings")
@pytest.mark.parametrize(
    "who", ["people", *nightly(*(who for who in analysis_sample.WHO if who != "people"))]
)
@pytest.mark.servers
def test_a_withdrawal_erases_what_is_kept(
    study: Study, who: str, django_capture_on_commit_callbacks: Any
) -> None:
    person, other = complete(study, "one more"), make_study("other")
    tasks.compute_analysis(study.pk, who)
    tasks.compute_analysis(other.pk, who)
    with django_capture_on_commit_callbacks(execute=True):
        participant_withdraw(participant_id=person.pk)
    assert cache.get(analysis_results.analysis_cache_key(study.pk, who)) is None
    assert cache.get(analysis_results.analysis_cache_key(other.pk, who)) is not None


@pytest.mark.usefixtures("without_drawings")
@pytest.mark.servers
def test_what_was_computed_while_somebody_withdrew_is_not_kept(
    study: Study, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    person, finish = complete(study, "one more"), analysis_results._finish

    def slow(*asked: Any) -> analysis_results.CachedAnalysis:
        found = finish(*asked)
        with django_capture_on_commit_callbacks(execute=True):
            participant_withdraw(participant_id=person.pk)
        return found

    monkeypatch.setattr(analysis_results, "_finish", slow)
    tasks.compute_analysis(study.pk, "all")
    assert cache.get(analysis_results.analysis_cache_key(study.pk, "all")) is None


@pytest.mark.usefixtures("without_drawings")
def test_one_entry_is_kept_however_often_the_data_change(study: Study, asked: list[tuple[int, str]]) -> None:
    keys = set()
    for number in range(2):
        complete(study, f"person {number}")
        tasks.compute_analysis(study.pk, "all")
        keys |= {key for key in cache._cache if "asked" not in key}  # type: ignore[attr-defined]
    assert len(keys) == 1
    found = analysis_ready(study, "all")
    assert found is not None
    assert found.analysis is not None
    assert len(found.analysis.participants) == 5


@pytest.mark.servers
def test_a_withdrawal_goes_through_while_redis_is_away(
    study: Study, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise RedisError("gone")

    person = enter(study)
    monkeypatch.setattr(analysis_results, "cache", SimpleNamespace(delete_many=away))
    with django_capture_on_commit_callbacks(execute=True):
        participant_withdraw(participant_id=person.pk)
    assert not study.participants.filter(pk=person.pk).exists()


@pytest.mark.usefixtures("without_drawings")
def test_report_json_and_page_say_how_many_entered_completed_dropped_out_and_withdrew(
    study: Study, tmp_path: Path, asked: list[tuple[int, str]], admin_client: Client
) -> None:
    complete(study, "a person")
    enter(study, "a drop-out")
    participant_withdraw(participant_id=enter(study, "gone").pk)
    call_command("analyse_study", "small", "--out", str(tmp_path), stdout=io.StringIO())
    admin_client.get("/staff/small/analysis/")
    tasks.compute_analysis(*asked.pop())

    report, page = (tmp_path / "report.md").read_text(), admin_client.get("/staff/small/analysis/")
    for sentence in (
        "2 participants entered and did not withdraw: 1 completed the study, 1 did not (1 taking part)",
        "1 participant of the study withdrew; their data are erased.",
    ):
        assert sentence in report
        assert sentence in page.content.decode()
    whole = json.loads((tmp_path / "analysis.json").read_text())
    counts = {"entered": 2, "completed": 1, "unfinished": 1, "withdrew": 1, "excluded": 0, "failed_checks": 0}
    assert {name: whole["attrition"][name] for name in counts} == counts
    assert ["taking part", 1] in whole["attrition"]["ends"]


@pytest.mark.usefixtures("without_drawings")
def test_the_page_counts_people_and_not_reasons(
    study: Study, asked: list[tuple[int, str]], admin_client: Client
) -> None:
    for person in study.participants.all()[:2]:
        Episode.objects.filter(rounds__participant=person, rounds__position=1).update(score={})
        with erasure_allowed():
            Answer.objects.filter(round__participant=person, round__position=1).delete()
    admin_client.get("/staff/small/analysis/")
    tasks.compute_analysis(*asked.pop())
    page = admin_client.get("/staff/small/analysis/").content.decode()
    assert "2 participants left out (42 rows): no value in every condition" in page


@pytest.mark.usefixtures("blank_drawings")
def test_everybody_left_out_is_told_with_the_reason(
    tmp_path: Path, asked: list[tuple[int, str]], admin_client: Client
) -> None:
    study = make_study("left-out")
    person = complete(study)
    Participant.objects.filter(pk=person.pk).update(excluded_at=timezone.now(), excluded_reason="A test.")
    admin_client.get("/staff/left-out/analysis/")
    tasks.compute_analysis(*asked.pop())
    page = admin_client.get("/staff/left-out/analysis/").content.decode()
    assert "Everybody in this choice of data who completed the study is left out." in page
    assert "1 participant who completed the study left out: excluded by staff." in page
    with pytest.raises(CommandError, match=r"all 1 who completed left-out .* 1 excluded by staff"):
        call_command("analyse_study", "left-out", "--out", str(tmp_path))


@pytest.mark.usefixtures("blank_drawings")
def test_without_participants_the_page_says_so(asked: list[tuple[int, str]], admin_client: Client) -> None:
    make_study("bare")
    admin_client.get("/staff/bare/analysis/")
    tasks.compute_analysis(*asked.pop())
    assert "Nothing to analyse yet" in admin_client.get("/staff/bare/analysis/").content.decode()


def test_a_study_that_is_gone_asks_nothing_of_a_worker() -> None:
    tasks.compute_analysis(99, "all")


@pytest.mark.servers
def test_while_redis_is_away_the_page_says_so(
    study: Study, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise RedisError("gone")

    monkeypatch.setattr(analysis_results, "cache", SimpleNamespace(get=away))
    assert "does not answer" in admin_client.get("/staff/small/analysis/").content.decode()
    assert admin_client.get("/staff/small/analysis/i0.svg").status_code == 503
