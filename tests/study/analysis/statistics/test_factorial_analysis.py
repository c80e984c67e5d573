"""The analysis of a study with named factors: what decides, what is found, and what is corrected."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kitchen.charts.chart_drawing import draw_chart
from kitchen.charts.vega_charts import vega_specification
from study.analysis.statistics.charts_by_measure import charts_of, report_charts
from study.analysis.statistics.equivalence_rows import EQUIVALENCE
from study.analysis.statistics.factorial.factorial_rows import significant_terms
from study.analysis.statistics.factorial.study_factors import AnalysisFactor, StudyFactors
from study.analysis.statistics.observations import AnalysisCondition, BetweenFactor, Measure, Observation
from study.analysis.statistics.result_rows import test_rows as rows_of
from study.analysis.statistics.result_sentences import design_sentences, main_test_sentence
from study.analysis.statistics.run_analysis import Analysis, analyse
from study.design.analysis_plan import AnalysisPlan, parse_contrasts
from tests.nightly import nightly

PARTNERS, PACES = ("planner", "random", "model"), ("slow", "fast")
CELLS = {
    f"{partner}_{pace}": {"partner": partner, "pace": pace} for partner, pace in product(PARTNERS, PACES)
}
SCORE, OTHER = Measure.number("score", "Score", None, None), Measure.number("other", "Other", None, None)


def study_factors(*, between: bool, rounds: int = 0) -> StudyFactors:
    partner, pace = AnalysisFactor("partner", PARTNERS), AnalysisFactor("pace", PACES)
    return StudyFactors(
        (pace,) if between else (),
        (partner,) if between else (partner, pace),
        CELLS,
        {"partner": "Partner", "pace": "Pace"},
        {"partner": {one: one.title() for one in PARTNERS}, "pace": {one: one.title() for one in PACES}},
        rounds,
    )


def observed(
    effect: Mapping[str, float], *, between: bool, people: int = 24, rounds: Sequence[int] = ()
) -> list[Observation]:
    """Simulated values; `effect` is what each condition adds to the score. Nothing adds to the other one."""
    rng = np.random.default_rng(5)
    rows = []
    for who in range(people):
        own = [key for key, cell in CELLS.items() if not between or cell["pace"] == PACES[who % 2]]
        own = [own[place] for place in np.roll(range(len(own)), who)[: len(rounds) or None]]
        person = rng.normal(scale=0.5, size=2)
        for position, key in enumerate(own, start=1):
            group = PACES[who % 2] if between else ""
            for measure, level in ((SCORE, person[0] + effect.get(key, 0.0)), (OTHER, person[1])):
                value = level + rng.normal()
                rows.append(Observation(f"p{who:02}", key, measure.key, value, position, True, group=group))
    return rows


def analysed(
    effect: Mapping[str, float],
    *,
    between: bool,
    main: str = "repeated",
    without: str = "",
    rounds: Sequence[int] = (),
    correction: str = "holm",
    contrasts: str = "",
) -> Analysis:
    played = {key: cell["pace"] for key, cell in CELLS.items()}
    levels = {key: cell["partner"] for key, cell in CELLS.items()}
    factors = study_factors(between=between, rounds=len(rounds))
    return analyse(
        [row for row in observed(effect, between=between, rounds=rounds) if row.condition != without],
        [AnalysisCondition(key, key, place) for place, key in enumerate(CELLS) if key != without],
        [SCORE, OTHER],
        plan=AnalysisPlan(main, correction, parse_contrasts(contrasts)),
        between=BetweenFactor(PACES, levels, played) if between else None,
        factors=replace(factors, cells={key: cell for key, cell in CELLS.items() if key != without}),
    )


def found(analysis: Analysis, measure: str) -> list[str]:
    one = analysis.measure(measure)
    assert one.factorial and one.within
    return significant_terms(one.factorial, one.within.main_test, one.within.over_measures)


@pytest.mark.parametrize(
    ("between", "main"),
    [(True, "mixed"), (False, "repeated"), *nightly((True, "repeated"), (False, "mixed"))],
)
def test_an_interaction_is_found_and_nothing_where_nothing_is(between: bool, main: str) -> None:
    crossed = {"planner_fast": 3.0, "random_slow": 3.0}
    analysis = analysed(crossed, between=between, main=main)
    names = "Pace \N{MULTIPLICATION SIGN} Partner" if between else "Partner \N{MULTIPLICATION SIGN} Pace"
    assert names in found(analysis, "score")
    assert found(analysis, "other") == []
    rows = [row for row in rows_of(analysis) if row["role"] == "main"]
    assert {row["term"] for row in rows} == {"partner", "pace", "pace:partner" if between else "partner:pace"}
    assert all(row["adjusted_by"] == "Holm over measures" for row in rows)
    assert {row["test"].partition(",")[0] for row in rows} == {
        "factorial mixed model" if main == "mixed" else "factorial ANOVA"
    }
    assert any(row["test"] == "simple effect" and row["measure"] == "score" for row in rows_of(analysis))
    sentence = main_test_sentence(analysis.measure("score"))
    assert sentence.startswith("Linear mixed model: " if main == "mixed" else "Factorial ANOVA: ")
    assert f"{names}: F(" in sentence
    assert any(" at Fast: F(" in one for one in design_sentences(analysis.measure("score")))


def test_simple_effects_follow_only_from_interactions_that_are_found_after_the_correction() -> None:
    tests = analysed({"planner_fast": 3.0, "random_slow": 3.0}, between=False).measure("score").factorial
    assert tests and {one.interaction for one in tests.simple} == {"partner:pace"}
    assert {one.factor for one in tests.simple} == {"partner", "pace"}
    assert tests.with_simple_effects_of({"partner"}).simple == ()
    weak = analysed({}, between=False, main="mixed").measure("score")
    assert weak.within and weak.within.main["partner:pace"] < 0.05 <= weak.within.decisive_ps["partner:pace"]
    assert weak.factorial and weak.factorial.simple == ()


def test_a_contrast_of_an_interaction_is_tested_in_its_measure_only() -> None:
    text = "H1 [score]: planner_fast 1, random_fast -1, planner_slow -1, random_slow 1"
    analysis = analysed({"planner_fast": 2.0}, between=True, contrasts=text)
    rows = [row for row in rows_of(analysis) if row["role"] == "planned"]
    assert [(row["measure"], row["term"], row["test"]) for row in rows] == [
        ("score", "H1", "planned contrast of cells")
    ]
    assert rows[0]["p_adjusted"] < 0.05
    assert rows[0]["difference_low"] < rows[0]["difference"] < rows[0]["difference_high"]


@pytest.mark.parametrize(("main", "margin"), [("repeated", "1.2"), ("repeated", "0.8 d"), ("mixed", "1.2")])
def test_a_planned_margin_adds_a_test_of_equivalence(main: str, margin: str) -> None:
    text = f"H1 ±{margin}: planner_fast 1, random_fast -1"
    analysis = analysed({"planner_fast": 2.0}, between=False, main=main, contrasts=text)
    rows = {row["measure"]: row for row in rows_of(analysis) if row["test"] == EQUIVALENCE}
    assert "was not shown to be equivalent to 0 within ±" in rows["score"]["apa"]
    assert "is equivalent to 0 within ±" in rows["other"]["apa"]
    assert {row["role"] for row in rows.values()} == {"planned"}
    for key, row in rows.items():
        assert row["apa"] in design_sentences(analysis.measure(key))
        inside = -row["effect"] < row["difference_low"] and row["difference_high"] < row["effect"]
        assert inside == (row["p"] < 0.05)


def test_a_mixed_model_has_no_equivalence_in_standard_deviations() -> None:
    text = "H1 ±0.5 d: planner_fast 1, random_fast -1"
    analysis = analysed({}, between=False, main="mixed", contrasts=text)
    (row, _) = [row for row in rows_of(analysis) if row["test"] == EQUIVALENCE]
    assert row["not_computable"].startswith("a mixed model has no single standard deviation")


def test_with_subsets_the_mixed_model_uses_everybody_and_the_anova_says_why_not() -> None:
    analysis = analysed({"planner_fast": 2.0}, between=False, main="mixed", rounds=range(4))
    one = analysis.measure("score")
    assert len(analysis.participants) == 24
    assert one.factorial and one.factorial.mixed.computable
    assert not one.factorial.anova.computable
    assert len(one.factorial.means_of(["partner", "pace"])) == 6
    (row,) = [
        row for row in rows_of(analysis) if row["test"] == "factorial ANOVA" and row["measure"] == "score"
    ]
    assert "participants have a value in every cell" in row["not_computable"]


def test_with_a_missing_cell_the_mixed_model_decides_and_says_what_it_was_fitted_to() -> None:
    text = "H1: planner_fast 1, random_fast -1\nH2: model_slow 1, model_fast -1"
    analysis = analysed(
        {"planner_fast": 2.0}, between=False, main="mixed", without="model_slow", contrasts=text
    )
    one = analysis.measure("score")
    assert one.factorial is not None
    assert "no participant has a value in model \N{MULTIPLICATION SIGN} slow" in str(one.factorial.anova)
    assert len(one.factorial.means_of(["partner", "pace"])) == 5
    said = " ".join(design_sentences(one))
    assert "(1 of 2 contrasts can be estimated)" in said
    assert "those of participants within each level of Pace are left out, because their variance" in said
    assert "No participant has a value in Model, Slow." in said
    own = [row for row in rows_of(analysis) if row["measure"] == "score"]
    there, missing = [row for row in own if row["test"] == "planned contrast, mixed model"]
    assert there["p_adjusted"] < 0.05
    assert there["apa"].endswith("(Holm), mixed model.")
    assert missing["not_computable"] == "a cell of it has no values"
    assert len(charts_of(analysis, "score")["interaction"].rows) == 5


def test_the_chart_of_an_interaction_has_the_means_of_all_cells_and_says_what_was_found() -> None:
    analysis = analysed({"planner_fast": 3.0, "random_slow": 3.0}, between=True)
    chart = charts_of(analysis, "score")["interaction"]
    assert chart.x.names == ("Planner", "Random", "Model")
    assert [one.name for one in chart.listed] == ["Slow", "Fast"]
    assert len(chart.rows) == 6
    assert "Effects found: " in chart.words
    assert "Pace \N{MULTIPLICATION SIGN} Partner" in chart.words
    assert chart.full_title.endswith("(synthetic data)")
    assert "No effect was found." in charts_of(analysis, "other")["interaction"].words
    written = json.dumps(vega_specification(chart))
    assert f'"title": "{chart.legend}"' in written and chart.legend in ("Pace", "Partner")
    assert "max(1, floor(width / " in written, "names of the legend are below each other where it is narrow"
    assert "figure_score_interaction.svg" in report_charts(analysis.measures)
    assert b"</svg>" in draw_chart(chart)
