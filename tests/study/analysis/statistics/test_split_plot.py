"""The mixed ANOVA of groups between people and levels within them, and an analysis with groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.linalg import helmert
from scipy.stats import f_oneway
from scipy.stats import t as t_distribution

from study.analysis.statistics.markdown_report import markdown_report
from study.analysis.statistics.observations import (
    AnalysisCondition,
    BetweenFactor,
    Measure,
    MeasureTable,
    NotComputable,
    Observation,
    table_of,
)
from study.analysis.statistics.result_charts import participants_chart
from study.analysis.statistics.result_files import analysed_rows, to_json
from study.analysis.statistics.result_rows import test_rows as rows_of_tests
from study.analysis.statistics.result_sentences import main_test_sentence
from study.analysis.statistics.run_analysis import analyse
from study.analysis.statistics.within.complete_cases import complete_cases
from study.analysis.statistics.within.mixed_model import mixed_model
from study.analysis.statistics.within.paired_contrasts import holm_adjusted
from study.analysis.statistics.within.repeated_measures_anova import split_plot
from study.analysis.statistics.within.result_types import Effect, MixedModel, SplitPlot
from study.design.analysis_plan import AnalysisPlan

Groups = Mapping[str, Sequence[Sequence[float | None]]]
EVEN: Groups = {
    "chef": [[3, 5, 6], [4, 4, 7], [2, 5, 5], [5, 6, 9]],
    "assistant": [[2, 3, 3], [1, 4, 2], [3, 3, 5], [2, 2, 4]],
}
UNEVEN: Groups = {"chef": EVEN["chef"], "assistant": EVEN["assistant"][:3]}
MEASURE = Measure.number("points", "Points", None, None)


def cells(data: Groups) -> tuple[list[AnalysisCondition], BetweenFactor]:
    """The conditions: each group has its own three."""
    keys = [(group, number) for group in data for number in range(len(data[group][0]))]
    conditions = [
        AnalysisCondition(f"{group}_{number}", f"{group} {number}", place)
        for place, (group, number) in enumerate(keys)
    ]
    levels = {f"{group}_{number}": f"level_{number}" for group, number in keys}
    return conditions, BetweenFactor(tuple(data), levels, {f"{group}_{n}": group for group, n in keys})


def rows(data: Groups, measure: str = "points") -> list[Observation]:
    """Everybody's values; the order of play turns from one participant to the next."""
    return [
        Observation(
            f"{group}{who}", f"{group}_{n}", measure, value, (n + who) % len(values) + 1, False, group=group
        )
        for group, people in data.items()
        for who, values in enumerate(people)
        for n, value in enumerate(values)
    ]


def table(data: Groups) -> MeasureTable:
    conditions, between = cells(data)
    return table_of(MEASURE, conditions, rows(data), between)


def anova_of(data: Groups) -> SplitPlot:
    found = split_plot(table(data))
    assert isinstance(found, SplitPlot)
    return found


def test_it_gives_the_numbers_of_pingouin() -> None:
    """`pingouin.mixed_anova` 0.7.0 of these values, with correction, and both effect sizes."""
    found = anova_of(EVEN)
    group, level, both = found.effects
    assert [(one.f, one.df, one.df_error, one.p) for one in found.effects] == [
        pytest.approx((12.497143, 1, 6, 0.012291), abs=1e-6),
        pytest.approx((13.327869, 2, 12, 0.000895), abs=1e-6),
        pytest.approx((1.918033, 2, 12, 0.189323), abs=1e-6),
    ]
    assert (group.p_gg, level.p_gg, both.p_gg) == pytest.approx((0.012291, 0.008487, 0.213479), abs=1e-6)
    partial = [one.partial_eta_squared for one in found.effects]
    assert partial == pytest.approx([0.675626, 0.689567, 0.242236], abs=1e-6)
    general = [one.generalised_eta_squared for one in found.effects]
    assert general == pytest.approx([0.551020, 0.477113, 0.116071], abs=1e-6)
    assert found.epsilon_gg == pytest.approx(0.545761, abs=1e-6)
    assert found.sphericity is not None and not isinstance(found.sphericity, NotComputable)
    assert (found.sphericity.w, found.sphericity.p) == pytest.approx((0.167697, 0.011516), abs=1e-6)
    assert found.correction == "Greenhouse\N{EN DASH}Geisser" and found.p_corrected(level) == level.p_gg

    group, level, both = anova_of(UNEVEN).effects
    assert (group.f, group.p, both.f, both.p) == pytest.approx(
        (8.556348, 0.032818, 2.244240, 0.156634), abs=1e-6
    )
    assert anova_of(UNEVEN).epsilon_gg == pytest.approx(0.551209, abs=1e-6)


def test_groups_of_different_size_weigh_alike_in_the_test_of_the_level() -> None:
    """Type III: the mean contrast of the groups against zero, which statsmodels tests as an intercept."""
    codes = np.array([1.0] * 4 + [-1.0] * 3)
    values = np.array([row for people in UNEVEN.values() for row in people], dtype=float)
    contrasts = values @ helmert(3).T
    fits = [sm.OLS(column, sm.add_constant(codes)).fit() for column in contrasts.T]
    explained = sum(fit.tvalues[0] ** 2 * fit.mse_resid for fit in fits)
    assert anova_of(UNEVEN).effects[1].f == pytest.approx(explained / sum(fit.mse_resid for fit in fits))


def test_with_one_level_it_is_the_one_way_anova_and_with_two_nothing_is_corrected() -> None:
    once = {group: [values[:1] for values in people] for group, people in UNEVEN.items()}
    (group,) = anova_of(once).effects
    expected = f_oneway(*([values[0] for values in people] for people in once.values()))
    assert (group.f, group.p) == pytest.approx((expected.statistic, expected.pvalue))
    twice = anova_of({group: [values[:2] for values in people] for group, people in UNEVEN.items()})
    assert twice.correction == "" and twice.sphericity is None
    assert [one.p for one in twice.effects] == [one.p_hf for one in twice.effects]


def test_what_cannot_be_tested_says_why() -> None:
    assert "fewer than two participants of the group assistant" in str(
        split_plot(table({**EVEN, "assistant": EVEN["assistant"][:1]}))
    )
    assert "do not differ" in str(split_plot(table({group: [[1, 2, 3]] * 3 for group in EVEN})))


def test_the_mixed_model_of_whole_data_agrees_with_the_anova_and_uses_what_people_with_gaps_gave() -> None:
    found = mixed_model(table(EVEN), ("group", "level", "interaction"))
    assert isinstance(found, MixedModel)
    wanted = [(one.f, one.df, one.df_error) for one in anova_of(EVEN).effects]
    effects = [one for one in found.effects if isinstance(one, Effect)]
    assert [(one.f, one.df, one.df_error) for one in effects] == [
        pytest.approx(one, rel=1e-5) for one in wanted
    ]
    means = {key: mean for key, mean, _ in found.means}
    assert means["chef_0"] == pytest.approx(3.5) and means["assistant_2"] == pytest.approx(3.5)
    gap = {**EVEN, "chef": [*EVEN["chef"], [4, None, 6]]}
    whole = mixed_model(table(gap))
    assert isinstance(whole, MixedModel) and (whole.n, whole.observations) == (9, 26)
    assert [one.term for one in whole.effects] == ["group", "level", "interaction", "position", "carry_over"]


def test_an_analysis_with_groups_keeps_who_played_all_of_their_group_and_states_the_mixed_test() -> None:
    gap: Groups = {**EVEN, "chef": [*EVEN["chef"], [4, None, 6]]}
    conditions, between = cells(gap)
    measures = [MEASURE, Measure.number("minutes", "Minutes", None, None)]
    turned = {group: list(reversed(people)) for group, people in EVEN.items()}
    analysis = analyse(
        [*rows(gap), *rows(turned, "minutes")],
        conditions,
        measures,
        plan=AnalysisPlan(correction="holm"),
        between=between,
    )
    assert len(analysis.participants) == 8, "one chef lacks a level"
    tests = [row for row in rows_of_tests(analysis) if row["role"] == "main"]
    assert [(row["measure"], row["term"]) for row in tests[:3]] == [
        ("points", term) for term in ("group", "level", "interaction")
    ]
    by_term = {row["term"]: [one for one in tests if one["term"] == row["term"]] for row in tests}
    for same in by_term.values():
        adjusted = [row["p_adjusted"] for row in same]
        assert adjusted == pytest.approx(holm_adjusted([row["p"] for row in same])), "a family for each term"
    others = {row["test"] for row in rows_of_tests(analysis)}
    assert not {"Friedman's test", "repeated-measures ANOVA"} & others
    pairs = [row for row in rows_of_tests(analysis) if row["test"] == "paired t test"]
    assert len(pairs) == 12 and {row["left_out"] for row in pairs} == {0}, "three pairs in each group"
    first = analysis.measures[0]
    assert main_test_sentence(first).startswith("Mixed ANOVA: group F(1, 6) = 12.50, p = .012, after Holm")
    report = " ".join(markdown_report(analysis).split())
    assert "Points differed between groups, F(1, 6) = 12.50" in report
    assert "(mixed ANOVA of 8 participants: chef 4, assistant 4)" in report
    assert "every participant played every condition" not in report
    assert "The main test of each measure: Mixed ANOVA" in report
    assert analysed_rows(analysis).splitlines()[0].endswith(b",group")
    assert b'"between"' in to_json(analysis)


def test_figures_have_a_line_and_intervals_for_each_group() -> None:
    conditions, between = cells(EVEN)
    (result,) = analyse(rows(EVEN), conditions, [MEASURE], between=between).measures
    lines = [one for one in participants_chart(result).panels[0].series if one.look == "lines"]
    assert [(one.name, len(one.points)) for one in lines] == [("chef", 3), ("assistant", 3)]
    found = result.interval(conditions[0])
    chefs = np.array(EVEN["chef"], dtype=float)
    spread = (chefs - chefs.mean(axis=1, keepdims=True))[:, 0].std(ddof=1)
    reach = t_distribution.ppf(0.975, 3) * spread * np.sqrt(3 / 2 / 4)
    assert found and (found.low, found.high) == pytest.approx((3.5 - reach, 3.5 + reach))


def test_pairs_of_conditions_within_a_group_use_only_that_group() -> None:
    found = complete_cases(table(EVEN), ("chef_0", "chef_1"))
    assert len(found.participants) == 4 and not found.left_out
