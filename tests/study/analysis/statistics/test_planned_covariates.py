"""Covariates, ratings and assumptions in the analysis of a study with named factors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from django.template.loader import render_to_string
from pydantic import TypeAdapter

from study.analysis.statistics.factorial.study_factors import AnalysisFactor, StudyFactors
from study.analysis.statistics.observations import AnalysisCondition, BetweenFactor, Measure, Observation
from study.analysis.statistics.result_files import analysed_rows
from study.analysis.statistics.result_rows import test_rows as rows_of
from study.analysis.statistics.result_sentences import design_sentences, main_test_sentence
from study.analysis.statistics.run_analysis import Analysis, analyse
from study.design.analysis_plan import AnalysisPlan, analysis_plan_of, parse_contrasts

GROUPS = ("plain", "helped")
SCORE, TRUST = Measure.number("score", "Score", None, None), Measure.likert("trust", "Trust", 5)


@cache
def studied(*, rounds: int, main: str = "repeated", planned: bool = True, contrasts: str = "") -> Analysis:
    """Two groups of 12 people who play one or three levels; the score depends on group and age."""
    rng = np.random.default_rng(8)
    levels = ("easy", "middle", "hard")[:rounds]
    conditions = [f"{group}_{level}" for group in GROUPS for level in levels]
    rows, ages = [], {}
    for who in range(24):
        group, age = GROUPS[who % 2], float(rng.integers(20, 60))
        ages[f"p{who:02}"] = {"age": age}
        own = rng.normal(scale=0.4)
        for place, level in enumerate(levels):
            value = 0.1 * age + 1.2 * (group == "helped") + 0.6 * place + own + rng.normal(scale=0.5)
            rating = float(np.clip(round(value - 2), 1, 5))
            for key, number in (("score", value), ("trust", rating)):
                condition = f"{group}_{level}"
                rows.append(Observation(f"p{who:02}", condition, key, number, place + 1, False, group=group))
    between, within = AnalysisFactor("help", GROUPS), AnalysisFactor("level", levels)
    factors = StudyFactors(
        (between,),
        (within,) if rounds > 1 else (),
        {key: dict(zip(("help", "level"), key.split("_"), strict=True)) for key in conditions},
        {"help": "Help", "level": "Level"},
        {"help": {one: one.title() for one in GROUPS}, "level": {one: one.title() for one in levels}},
    )
    whose = {key: key.split("_")[0] for key in conditions}
    return analyse(
        rows,
        [AnalysisCondition(key, key, place) for place, key in enumerate(conditions)],
        [SCORE, TRUST],
        plan=AnalysisPlan(main, "holm", parse_contrasts(contrasts), covariates=("age",) if planned else ()),
        between=BetweenFactor(GROUPS, {key: key.split("_")[1] for key in conditions}, whose),
        factors=factors,
        covariates=ages if planned else {},
    )


def rows_with(analysis: Analysis, test: str, measure: str = "score") -> dict[str, Mapping[str, object]]:
    own = (row for row in rows_of(analysis) if row["measure"] == measure)
    return {str(row.get("term")): row for row in own if row["test"] == test}


def said(analysis: Analysis, measure: str = "score") -> list[str]:
    return design_sentences(analysis.measure(measure))


def test_with_covariates_the_analysis_of_covariance_decides_between_participants() -> None:
    analysis = studied(rounds=1)
    one = analysis.measure("score")
    rows = rows_with(analysis, "analysis of covariance")
    assert rows["help"]["role"] == "main"
    assert float(str(rows["help"]["p_adjusted"])) < 0.05
    assert float(str(rows["age"]["difference"])) == pytest.approx(0.1, abs=0.02)
    assert rows_with(analysis, "factorial ANOVA")["help"]["role"] == "exploratory"
    assert rows_with(analysis, "equal slopes of covariates")["None"]["role"] == "assumption"
    assert main_test_sentence(one).startswith("Analysis of covariance: Help: F(1, 21) = ")
    assert any(
        one.startswith("Covariates of the analysis of covariance: age: slope 0.1") for one in said(analysis)
    )
    assert one.factorial is not None
    assert one.factorial.decisive_ps("repeated") == {"help": rows["help"]["p"]}
    assert [mean.levels for mean in one.factorial.means] == [(("help", level),) for level in GROUPS]
    assert one.factorial.means[0].df == 21
    assert one.within is not None
    assert any(one.words.startswith("Equal slopes of the covariates: ") for one in one.within.assumptions)


def test_contrasts_beside_an_analysis_of_covariance_are_adjusted_for_the_covariates() -> None:
    text = "H1 ±0.5: helped_easy 1, plain_easy -1"
    row, raw = (
        rows_with(studied(rounds=1, planned=planned, contrasts=text), f"planned contrast{name}")["H1"]
        for planned, name in ((True, ", analysis of covariance"), (False, " of cells"))
    )
    effect = rows_with(studied(rounds=1), "analysis of covariance")["help"]
    assert float(str(row["statistic"])) ** 2 == pytest.approx(float(str(effect["statistic"])))
    assert row["df1"] == 21 and raw["df1"] == 22
    assert float(str(row["difference"])) == pytest.approx(1.2, abs=0.3)
    half = [float(str(one["difference_high"])) - float(str(one["difference"])) for one in (row, raw)]
    assert half[0] < half[1] / 1.5, "age explains much of the variance"


def test_without_planned_covariates_the_anova_decides() -> None:
    analysis = studied(rounds=1, planned=False)
    assert rows_with(analysis, "factorial ANOVA")["help"]["role"] == "main"
    assert rows_with(analysis, "analysis of covariance") == {}
    assert b"covariate" not in analysed_rows(analysis)


def test_covariates_are_in_the_mixed_model_and_in_the_file_of_rows() -> None:
    analysis = studied(rounds=3, main="mixed")
    slope = rows_with(analysis, "factorial mixed model")["age"]
    assert float(str(slope["difference"])) == pytest.approx(0.1, abs=0.03)
    assert any("age: slope 0.1" in words for words in said(analysis))
    head, first = analysed_rows(analysis).decode().splitlines()[:2]
    assert head.endswith(",group,covariate_age")
    assert float(first.rpartition(",")[2]) == analysis.covariates["p00"]["age"]


def test_ratings_have_a_cumulative_link_mixed_model_that_decides_nothing() -> None:
    analysis = studied(rounds=3)
    rows = rows_with(analysis, "cumulative-link mixed model", "trust")
    assert set(rows) == {"help", "level", "help:level", "age"}
    assert {row["role"] for row in rows.values()} == {"exploratory"}
    assert rows_with(analysis, "cumulative-link mixed model") == {}
    assert any(one.startswith("Cumulative-link mixed model (") for one in said(analysis, "trust"))


def test_the_assumptions_are_those_of_the_factorial_tests() -> None:
    found = studied(rounds=3).measure("score").within
    assert found is not None
    words = {one.name: one.words for one in found.assumptions}
    assert words["homogeneity"].startswith("Homogeneity of groups: ")
    assert words["normality"].startswith("Residuals of the ANOVA look normal (Shapiro")
    assert words["sphericity"].startswith("Sphericity of ")
    assert words["missing"] == "Nobody lacks a value in any cell that they played."


def test_the_page_has_the_tests_and_says_which_decides() -> None:
    for rounds, measure, words in (
        (
            1,
            "score",
            ("Analysis of covariance of Score", "(exploratory: the analysis of covariance decides)"),
        ),
        (3, "trust", ("Cumulative-link mixed model of Trust", "(exploratory: the ANOVA decides)")),
    ):
        result = studied(rounds=rounds).measure(measure)
        page = render_to_string("study/console/factorial.html", {"result": result})
        assert all(one in page for one in words)


@pytest.mark.parametrize(("rounds", "main"), [(1, "repeated"), (3, "mixed")])
def test_a_cached_analysis_is_the_same_as_before(rounds: int, main: str) -> None:
    adapter = TypeAdapter(Analysis)
    analysis = studied(rounds=rounds, main=main)
    assert adapter.validate_json(adapter.dump_json(analysis)) == analysis


def test_covariates_are_no_roles_of_measures() -> None:
    plan = analysis_plan_of({"measure_roles": {"age": "covariate", "score": "primary"}})
    assert (plan.covariates, plan.roles) == (("age",), {"score": "primary"})
