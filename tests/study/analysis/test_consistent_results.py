"""One consistent result: page, report, figures and verdict show the same deciding test and p values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

import pytest
from django.test import Client

from study.analysis.analysis_results import CachedAnalysis
from study.analysis.statistics.apa_format import escape_markdown, format_p
from study.analysis.statistics.charts_by_measure import charts_of
from study.analysis.statistics.result_rows import test_rows as rows_of
from study.analysis.statistics.run_analysis import Analysis, MeasureResult, analyse
from study.analysis.statistics.verdicts import planned_ps, short_verdict, verdict_sentences
from study.design.analysis_plan import AnalysisPlan, parse_contrasts
from study.reporting.report_text import rows_by_measure
from study.reporting.short_report import verdicts_table
from tests.nightly import nightly
from tests.study.analysis.statistics.test_analysis import FIVE, demo
from tests.study.analysis.statistics.test_factorial_analysis import analysed
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db
PAIRS = {"friedman": "Conover", "one_way": ""}
"""Test of the pairs that belongs to a main test; others have paired t tests."""


def within(main: str) -> Analysis:
    """The study with one within factor, decided by this test."""
    keys = [one.key for one in FIVE]
    plan = AnalysisPlan(main, "holm", parse_contrasts(f"H1 [success]: {keys[0]} -1, {keys[1]} 1"))
    rows = [row for one in demo().measures for row in one.table.observations]
    return analyse(rows, FIVE, [one.measure for one in demo().measures], plan=plan)


def mixed(main: str) -> Analysis:
    """A 2 (between) x 3 (within) study with an interaction in one of two measures."""
    contrast = "H1 [score]: planner_fast 1, random_fast -1, planner_slow -1, random_slow 1"
    return analysed({"planner_fast": 3.0, "random_slow": 3.0}, between=True, main=main, contrasts=contrast)


def folds_of(
    analysis: Analysis, client: Client, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, dict[str, str]]:
    """The opening of the analysis page, and the text of each measure's fold."""
    ready = CachedAnalysis(analysis, {})
    monkeypatch.setattr("study.console.analysis_pages.ready_analysis", lambda *_: ready)
    page = client.get("/staff/small/analysis/").content.decode()
    opening, *rest = page.split('<details class="fold" id="')
    return unescape(opening), {one.partition('"')[0].removeprefix("m-"): unescape(one) for one in rest}


def decisive(rows: list[dict[str, Any]]) -> Mapping[str, float]:
    """The p value of each term in the rows of the deciding test, after the correction over measures."""
    return {row["term"]: row["p_adjusted"] for row in rows if row["role"] == "main"}


def pair_ps(result: MeasureResult, rows: list[dict[str, Any]], main: str) -> Iterator[str]:
    """The p values below .05 of the tests of pairs that belong to the deciding test."""
    if main == "one_way":
        yield from (format_p(one.p) for one in result.pairs if one.significant)
        return
    test = PAIRS.get(main, "paired t test")
    found = (row["p_adjusted"] for row in rows if row["test"] == test and row.get("p_adjusted") is not None)
    yield from (format_p(p) for p in found if p < 0.05)


@pytest.mark.parametrize(
    ("make", "main"),
    [
        (within, "repeated"),
        (mixed, "repeated"),
        *nightly(*((within, one) for one in ("friedman", "mixed", "one_way")), (mixed, "mixed")),
    ],
)
def test_figure_table_sentence_and_verdict_have_the_same_test_and_p(
    make: Any, main: str, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_study()
    analysis = make(main)
    opening, folds = folds_of(analysis, admin_client, monkeypatch)
    by_measure, table = rows_by_measure(analysis), verdicts_table(analysis.measures)
    lead = analysis.measures[0]
    assert " ".join(verdict_sentences(lead)) in opening
    for result in analysis.measures:
        rows, fold = by_measure[result.measure.key], folds[result.measure.key]
        ps = decisive(rows)
        sentence = re.search('<p class="statistic">(.*?)</p>', fold)
        assert ps and sentence
        line = next(one for one in table.splitlines() if f"| {result.measure.label} |" in one)
        for term, p in ps.items():
            assert f"after Holm over measures {format_p(p)}" in sentence[1]
            assert f"after Holm over measures {escape_markdown(format_p(p))}" in line
            assert result.factorial is None or re.search(
                f'<td class="number">{re.escape(format_p(p))}</td>', fold
            )
            name = result.factorial.factors.term_words(term.split(":")) if result.factorial else ""
            found = re.split("[:,] ", short_verdict(result)) if name else []
            assert not name or (name in found) == (p < 0.05)
        has_effect = any(p < 0.05 for p in ps.values())
        assert result.factorial or (short_verdict(result) == "differed between conditions") == has_effect
        assert short_verdict(result) in fold.partition("</summary>")[0]
        assert escape_markdown(short_verdict(result)) in line
        carried = list(pair_ps(result, rows, main)) if has_effect and not result.factorial else []
        charts = charts_of(analysis, result.measure.key)
        for name in ("raincloud", "means", "participants"):
            marked = [one.words for one in charts[name].panels[0].brackets]
            assert sorted(marked) == sorted(carried) or (len(carried) > 10 and not marked), name
        for contrast, planned in planned_ps(result).items():
            assert planned is None or re.search(
                f">{re.escape(contrast)}<.*{re.escape(format_p(planned))}", fold
            )
        shown = fold.partition("The replication: ")[0]
        assert "Tukey" not in shown or main == "one_way"
    assert {row["test"] for row in rows_of(analysis) if row["role"] == "main"}
