"""The tests within participants: gaps, orders, what cannot be computed, and what is told of it."""

import json
import math
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from scipy.stats import ttest_1samp

from study.analysis.statistics.apa_format import format_p
from study.analysis.statistics.markdown_report import markdown_report
from study.analysis.statistics.observations import Measure, MeasureTable, NotComputable, Observation, table_of
from study.analysis.statistics.result_charts import participants_chart
from study.analysis.statistics.result_files import analysed_rows, analysed_rows_digest, file_contents
from study.analysis.statistics.result_rows import test_rows as rows_of_tests
from study.analysis.statistics.result_sentences import design_sentences, main_test_sentence
from study.analysis.statistics.run_analysis import Analysis, analyse
from study.analysis.statistics.within.mixed_model import mixed_model
from study.analysis.statistics.within.ordinal_tests import cumulative_link, friedman
from study.analysis.statistics.within.paired_contrasts import (
    benjamini_hochberg_adjusted,
    contrast_family,
    holm_adjusted,
    paired_g,
)
from study.analysis.statistics.within.repeated_measures_anova import repeated_measures
from study.analysis.statistics.within.result_types import (
    Contrast,
    Effect,
    MixedModel,
    RepeatedMeasures,
    ScaleAnswers,
    UncomputedContrast,
    UnidentifiedEffect,
    WithinResult,
)
from study.analysis.statistics.within.run_within_tests import main_test_p, run_within_tests
from study.analysis.statistics.within.scale_reliability import reliability
from study.design.analysis_plan import MAIN_TESTS, AnalysisPlan, PlannedContrast
from study.templatetags.statistics import more_sentences
from tests.study.analysis.statistics.test_analysis import FIVE, RATE, demo, rows_of, table

WILLIAMS = ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
"""Every condition comes after every other one equally often."""
WORLDS = {"c0": 0.5, "c1": -0.5, "c2": 0.5, "c3": -0.5}
GROUPS = st.lists(st.lists(st.none() | st.integers(1, 5), min_size=6, max_size=6), min_size=2, max_size=4)


def played(
    people: int, *, slope: float = 0.0, carry: float = 0.0, effect: float = 0.0, seed: int = 1
) -> MeasureTable:
    """Values in four conditions, in the orders of a Williams square."""
    chance, rows = Random(seed), []
    for n in range(people):
        own, order = chance.gauss(0, 1), WILLIAMS[n % 4]
        for place, condition in enumerate(order, 1):
            before = carry * (place > 1 and order[place - 2] == 0)
            value = own + effect * (condition == 3) + slope * place + before + chance.gauss(0, 0.5)
            rows.append(Observation(f"p{n:02}", f"c{condition}", "y", value, place, False))
    measure = Measure.number("y", "Y", None, None)
    return table_of(measure, table([1], [1], [1], [1]).conditions, rows)


def within(*groups: Any, measure: Measure | None = None, plan: AnalysisPlan | None = None) -> WithinResult:
    one = table(*groups, measure=measure) if measure else table(*groups)
    return run_within_tests([one], plan or AnalysisPlan(), [None])[0]


def test_three_participants_in_three_conditions_computed_by_hand() -> None:
    # Rows 1 2 6, 2 3 4, 3 4 8: conditions' means 2 3 6 around 11/3, participants' 3 3 5.
    found = repeated_measures(table([1, 2, 3], [2, 3, 4], [6, 4, 8]))
    assert isinstance(found, RepeatedMeasures)
    assert found.ss_condition == pytest.approx(26)
    assert found.ss_participant == pytest.approx(8)
    assert found.ss_error == pytest.approx(4)
    assert (found.f, found.df_condition, found.df_error) == pytest.approx((13, 2, 4))
    assert found.partial_eta_squared == pytest.approx(26 / 30)
    assert found.generalised_eta_squared == pytest.approx(26 / 38)


def test_with_two_conditions_the_anova_is_the_paired_t_test() -> None:
    found = within([1, 2, 4, 3, 7], [2, 5, 4, 6, 9])
    (pair,) = found.pairs.contrasts
    assert isinstance(found.repeated, RepeatedMeasures)
    assert isinstance(pair, Contrast)
    assert found.repeated.sphericity is None
    assert found.repeated.f == pytest.approx(pair.t**2)
    assert found.repeated.p_corrected == pytest.approx(pair.p)
    assert pair.difference == pytest.approx(9 / 5)
    assert pair.g_low < pair.g < pair.g_high


def test_without_gaps_and_order_the_mixed_model_gives_the_same_f() -> None:
    one = played(8, effect=1)
    repeated, mixed = repeated_measures(one), mixed_model(one, ("condition",))
    assert isinstance(repeated, RepeatedMeasures)
    assert isinstance(mixed, MixedModel)
    effect = mixed.effect("condition")
    assert effect is not None
    assert (effect.f, effect.df_error) == pytest.approx((repeated.f, repeated.df_error), rel=1e-6)


def test_effects_of_order_and_carry_over_are_found_where_they_are() -> None:
    def ps(one: MeasureTable) -> list[float]:
        found = mixed_model(one)
        assert isinstance(found, MixedModel)
        return [effect.p for effect in found.effects if isinstance(effect, Effect)]

    condition, position, carry = ps(played(16, slope=0.6))
    assert (condition > 0.01, position < 0.001, carry > 0.01) == (True, True, True)
    condition, position, carry = ps(played(16, carry=2))
    assert (condition > 0.01, position > 0.01, carry < 0.001) == (True, True, True)


def test_what_was_played_before_counts_where_the_measure_is_not_asked_there() -> None:
    one = played(24, carry=2)
    asked = [row for row in one.observations if row.condition != "c0"]  # as of teammates, when alone
    score = replace(one.measure, key="score", label="Score")
    rows = [*asked, *(replace(row, measure="score") for row in one.observations)]
    found = analyse(rows, one.conditions, [one.measure, score]).measure("y").within
    assert found
    assert isinstance(found.mixed, MixedModel)
    condition, position, carry = [one for one in found.mixed.effects if isinstance(one, Effect)]
    assert (condition.p > 0.01, position.p > 0.01, carry.p < 0.001) == (True, True, True)
    assert found.mixed.observations == 72


def test_who_lacks_a_value_is_left_out_of_the_anova_and_named_but_not_of_the_mixed_model() -> None:
    found = within([1, 2, 4, 3, None], [2, 5, 4, 6, 9], [3, 5, 5, 7, 9])
    assert isinstance(found.repeated, RepeatedMeasures)
    assert isinstance(found.mixed, MixedModel)
    assert (found.repeated.n, found.mixed.n, found.mixed.observations) == (4, 5, 14)
    assert [one.participant for one in found.repeated.left_out] == ["p004"]
    (missing,) = (one for one in found.assumptions if one.name == "missing")
    assert "p004 (no value in C0)" in missing.words
    assert [one.n for one in found.pairs.computed] == [4, 4, 5]


def test_a_fixed_order_cannot_be_told_from_the_conditions() -> None:
    found = within([1, 2, 4, 3], [2, 5, 4, 6], [3, 5, 5, 9])
    assert isinstance(found.mixed, MixedModel)
    assert [isinstance(one, UnidentifiedEffect) for one in found.mixed.effects] == [False, True, True]
    assert any("cannot be told" in caution for caution in found.cautions)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([[], [None]], "no_data"),
        ([[1, 2, 3], [None]], "one_condition"),
        ([[1, 2], [3, 4]], "too_few"),
        ([[1, 2, None, None], [None, None, 3, 4]], "too_few"),
        ([[3, 3, 3], [3, 3, 3]], "no_variance"),
        ([[1, 2, 3], [2, 3, 4]], "no_variance_within"),
    ],
)
def test_what_cannot_be_computed_says_why(groups: list[list[float | None]], reason: str) -> None:
    found = within(*groups)
    assert isinstance(found.repeated, NotComputable)
    assert found.repeated.reason == reason
    assert not found.pairs.computed


def test_a_condition_whose_values_do_not_vary_is_told() -> None:
    found = within([1, 1, 1, 1], [1, 1, 1, 1], [0.2, 0.4, 0.1, 0.9], measure=RATE)
    assert any("Values do not vary (C0: all 4 values are 1.00; C1" in one for one in found.cautions)
    assert any(one.startswith("A ceiling") and "100% in C0" in one for one in found.cautions)
    pair = found.pairs.contrasts[0]
    assert isinstance(pair, UncomputedContrast)
    assert pair.because.reason == "no_variance_within"


def test_a_value_far_from_the_rest_is_named_and_stays() -> None:
    chance = Random(3)
    groups = [[chance.gauss(0, 1) for _ in range(12)] for _ in range(3)]
    groups[1][5] = 40
    found = within(*groups)
    assert any("p005 in C1" in one and "None was left out" in one for one in found.cautions)


def test_ranks_of_which_everybody_agrees_are_computed() -> None:
    found = friedman(table([1, 2, 3], [2, 3, 4], [3, 4, 9]))
    assert not isinstance(found, NotComputable)
    assert (found.chi_squared, found.w) == pytest.approx((6, 1))
    assert {pair.p_conover for pair in found.pairs} == {0.0}


def test_ratings_that_hardly_overlap_have_no_odds() -> None:
    found = cumulative_link(table([1, 1, 2, 1], [4, 5, 5, 4]))
    assert isinstance(found, NotComputable)
    assert found.reason == "no_fit"


def test_corrections_of_several_p_computed_by_hand() -> None:
    assert holm_adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert benjamini_hochberg_adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert holm_adjusted([]) == []


def test_a_planned_contrast_weighs_conditions() -> None:
    plan = [
        PlannedContrast("teams", {"c0": -1.0, "c1": 0.5, "c2": 0.5}),
        PlannedContrast("gone", {"c9": 1.0}),
    ]
    found, gone = contrast_family(table([1, 2, 4, 3], [2, 5, 4, 6], [3, 5, 5, 9]), plan).contrasts
    assert isinstance(found, Contrast)
    assert found.difference == pytest.approx(4.875 - 2.5)
    assert found.p_adjusted == found.p  # what cannot be computed is no test
    assert isinstance(gone, UncomputedContrast)


def test_a_contrast_over_conditions_of_another_world_says_that_these_have_no_values() -> None:
    blank = [None, None, None]
    (one,) = contrast_family(
        table([1, 2, 4], [2, 2, 3], blank, blank), [PlannedContrast("by world", WORLDS)]
    ).contrasts
    assert isinstance(one, UncomputedContrast)
    assert one.because == NotComputable("no_data", "C2 and C3 have no values on this measure")


def test_a_contrast_of_any_weights_is_a_difference_of_means() -> None:
    plan = [
        PlannedContrast("whole", {"c0": -2.0, "c1": 1.0, "c2": 1.0}),
        PlannedContrast("halves", {"c0": -1.0, "c1": 0.5, "c2": 0.5}),
    ]
    whole, halves = contrast_family(table([1, 2, 4, 3], [2, 5, 4, 6], [3, 5, 5, 9]), plan).contrasts
    assert isinstance(whole, Contrast)
    assert whole.difference == pytest.approx(4.875 - 2.5)
    assert replace(whole, name="halves") == halves
    values = np.array([[1, 2, 4, 3], [2, 5, 4, 6], [3, 5, 5, 9]])
    sums = np.array([-2, 1, 1]) @ values  # unscaled: t, p and g are the same
    assert (whole.t, whole.p) == pytest.approx(tuple(ttest_1samp(sums, 0)))
    assert whole.g == pytest.approx(paired_g(whole.t, 4)[0])


def test_p_of_main_tests_is_corrected_over_the_measures() -> None:
    tables = [played(8, effect=0.4, seed=seed) for seed in (1, 2, 3)]
    found = run_within_tests(tables, AnalysisPlan(correction="holm"), [None] * 3)
    over = [one.over_measures["condition"].p for one in found]
    assert over == pytest.approx(holm_adjusted([one.main["condition"] for one in found]))
    assert not any(one.over_measures for one in run_within_tests(tables, AnalysisPlan(), [None] * 3))
    assert {one.over(test) for one in found for test in ("mixed", "friedman", "one_way")} == {None}


@pytest.mark.parametrize("test", MAIN_TESTS)
def test_the_verdict_on_a_measure_follows_the_p_after_the_correction_over_measures(test: str) -> None:
    """Of two measures one has a p just below .05 on its own, the other one none that is small."""
    tables = [drawn_with("near", test, 0.025, 0.05), drawn_with("none", test, 0.5, 1.0)]
    rows, measures = [row for one in tables for row in one.observations], [one.measure for one in tables]
    for correction, verb in (("none", "differed"), ("holm", "did not differ reliably")):
        plan = AnalysisPlan(test, correction)
        analysis = analyse(rows, tables[0].conditions, measures, plan=plan)
        (main, _) = (row for row in rows_of_tests(analysis) if row["role"] == "main")
        texts = main["apa"], main_test_sentence(analysis.measures[0]), markdown_report(analysis)
        assert all((", after Holm over measures p = " in text) == (correction == "holm") for text in texts)
        if test in ("repeated", "one_way"):
            assert main["apa"].startswith(f"Near {verb} between conditions, F(")
            assert main["apa"] in markdown_report(analysis)


def drawn_with(key: str, test: str, above: float, below: float) -> MeasureTable:
    """Values whose p by this test lies between these two."""
    measure = Measure.number(key, key.title(), None, None)
    tables = (played(8, effect=0.4, seed=seed) for seed in range(500))
    found = next(one for one in tables if above < (main_test_p(one, test) or 0) < below)
    rows = [replace(row, measure=key) for row in found.observations]
    return table_of(measure, found.conditions, rows)


@settings(deadline=None, max_examples=12)
@given(GROUPS)
def test_no_number_is_nan_or_infinite(groups: list[list[int | None]]) -> None:
    found = within(*groups, measure=Measure.likert("amount", "Amount"))
    assert all(math.isfinite(number) for number in numbers(found))
    json.dumps(TypeAdapter(WithinResult).dump_python(found, mode="json"), allow_nan=False)


def numbers(value: Any) -> list[float]:
    if is_dataclass(value):
        return [n for field in fields(value) for n in numbers(getattr(value, field.name))]
    if isinstance(value, tuple | list):
        return [n for one in value for n in numbers(one)]
    return [value] if isinstance(value, float) else []


def test_scales_are_told_in_each_place_with_what_speaks_against() -> None:
    rows = ((1.0, 2.0, 1.0), (2.0, 2.0, 3.0), (4.0, 5.0, 4.0), (5.0, 4.0, None))
    found = reliability(ScaleAnswers("s", "S", "", ("a", "b", "c"), rows))
    assert not isinstance(found, NotComputable)
    assert (found.n, found.incomplete) == (3, 1)
    assert found.alpha_low < found.alpha < found.alpha_high
    flat = reliability(ScaleAnswers("s", "S", "", ("a", "b"), ((1.0, 2.0), (1.0, 3.0), (1.0, 4.0))))
    assert str(flat) == "not computable because all answers to a are the same"
    mirrored = reliability(ScaleAnswers("s", "S", "", ("a", "b"), ((1.0, 5.0), (2.0, 4.0), (4.0, 2.0))))
    assert "the wrong way round" in str(mirrored)


def test_who_lacks_a_condition_is_in_the_mixed_model_alone_and_in_the_file_of_rows() -> None:
    whole = played(8, effect=0.4)
    rows = [row for row in whole.observations if (row.participant, row.condition) != ("p05", "c0")]
    (one,) = analyse(rows, whole.conditions, [whole.measure]).measures
    assert one.within
    assert isinstance(one.within.repeated, RepeatedMeasures)
    assert isinstance(one.within.mixed, MixedModel)
    assert (one.within.repeated.n, one.within.mixed.n) == (7, 8)
    assert {pair.n for pair in one.within.pairs.computed} == {7}
    assert {d.n for d in one.descriptions} == {7}
    assert [row.participant for row in one.set_aside] == ["p05"] * 3
    analysis = analyse(rows, whole.conditions, [whole.measure])
    aside = [line for line in analysed_rows(analysis).decode().splitlines() if line.endswith(",1")]
    assert [line.split(",")[0] for line in aside] == ["p05"] * 3
    later = [replace(row, value=9.0) if row.participant == "p05" else row for row in rows]
    assert analysed_rows_digest(analyse(later, whole.conditions, [whole.measure])) != analysed_rows_digest(
        analysis
    )


def test_what_is_left_out_of_the_analysis_still_came_before_what_follows() -> None:
    whole = played(8, effect=0.4, carry=2.0)
    gone = [row for row in whole.observations if (row.participant, row.order_position) == ("p03", 1)]
    rows = [row for row in whole.observations if row not in gone]
    blank = [replace(row, value=None) for row in gone]
    (told,) = analyse(rows, whole.conditions, [whole.measure], unused=blank).measures
    (forgotten,) = analyse(rows, whole.conditions, [whole.measure]).measures
    assert told.within
    assert forgotten.within
    assert told.within.mixed == mixed_model(table_of(whole.measure, whole.conditions, [*rows, *blank]))
    assert told.within.mixed != forgotten.within.mixed


def test_an_interval_within_stands_around_the_mean_of_those_whom_it_is_of() -> None:
    gaps = table([4, 4, 4, 5, 1], [3, 3, 4, 4, None], [2, 3, 3, 3, 3])
    (one,) = analyse(gaps.observations, gaps.conditions, [gaps.measure], keep_incomplete=True).measures
    assert one.within
    line = participants_chart(one).panels[0].series[-1].points
    for interval, point in zip(one.within.intervals, line, strict=True):
        assert (point.y, point.low, point.high) == (interval.mean, interval.low, interval.high)
        assert interval.low <= interval.mean <= interval.high
    assert one.within.intervals[0].mean == 4.25
    assert "of the 4 who have a value in every condition" in participants_chart(one).note


def test_files_have_every_test_as_numbers_and_as_a_sentence() -> None:
    analysis = demo()
    rows = rows_of_tests(analysis)
    main = [row for row in rows if row["role"] == "main"]
    assert [row["measure"] for row in main] == ["success", "enjoyment", "trust"]
    assert main[0]["apa"].startswith("Success rate differed between conditions, F(")
    assert {row["test"] for row in rows} >= {"one-way ANOVA", "Mauchly's test", "paired t test", "Nemenyi"}
    files = dict(file_contents(analysis))
    assert files["tests.csv"].count(b"\r\n") == len(rows) + 1
    assert b"Success rate & paired t test" in files["tests.tex"]
    assert b"$-$" in files["tests.tex"]
    assert rb"$\eta^2_p$ = ." in files["tests.tex"]
    assert rb" & Holm & g = " in files["tests.tex"]
    told = json.loads(files["analysis.json"])
    assert len(told["tests"]) == len(rows)
    assert told["measures"][0]["assumptions"]


def test_the_test_that_the_plan_names_is_the_one_that_is_told_first() -> None:
    one = played(8, effect=1)
    begins = {
        "repeated": "Repeated-measures ANOVA: F(",
        "mixed": "Linear mixed model: condition F(3, ",
        "friedman": "Friedman's test: χ²(3) = ",
        "one_way": "One-way ANOVA: F(3, 28) = ",
    }
    for main, words in begins.items():
        plan = AnalysisPlan(main=main)
        (result,) = analyse(one.observations, one.conditions, [one.measure], plan=plan).measures
        assert result.within
        assert main_test_sentence(result).startswith(words)
        assert format_p(result.within.main["condition"]) in main_test_sentence(result)
        repeated = any("repeated-measures ANOVA of" in each for each in more_sentences(result, plan))
        assert repeated is (main != "repeated")  # it stands above


def test_every_sentence_of_a_measure_is_in_the_report() -> None:
    analysis = analyse(
        rows_of({c.key: [0.1 * i, 0.5, 0.3, 0.9] for i, c in enumerate(FIVE)}, RATE), FIVE, [RATE]
    )
    report = markdown_report(analysis)
    assert "*The replication.* Success rate" in report
    for sentence in design_sentences(analysis.measures[0]):
        assert sentence.split(",")[0] in report


def test_an_analysis_is_stored_as_json_and_read_again() -> None:
    adapter, analysis = TypeAdapter(Analysis), demo()
    assert adapter.validate_python(adapter.dump_python(analysis, mode="json")) == analysis
