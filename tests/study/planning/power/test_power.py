"""Power and sample sizes, against published figures, statsmodels, and simulation."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.power import TTestPower

from study.planning.power import main_test_power
from study.planning.power.main_test_power import critical_range, main_power
from study.planning.power.power_formulas import (
    MIXED_EFFECTS,
    PATTERNS,
    PowerPlan,
    PowerPlanError,
    anova_power,
    dz_from_difference,
    f_from_partial_eta,
    f_power,
    means_of,
    mixed_power,
    pair_power,
    partial_eta_of,
    people_needed,
    people_to_invite,
)
from tests.study.planning.power.simulated_anova import anova_share, f_values

WITHIN = 0.025
"""Three standard errors of a share of 4000 simulated studies, at most."""


@pytest.mark.parametrize(
    ("plan", "power", "people"),
    [
        # G*Power 3.1, "ANOVA: repeated measures, within factors", one group, correlation .5, epsilon 1: the
        # often cited a priori sample sizes for a medium effect f = .25 at alpha .05.
        (PowerPlan(2, 0.25), 0.80, 34),
        (PowerPlan(3, 0.25), 0.80, 28),
        (PowerPlan(4, 0.25), 0.80, 24),
        (PowerPlan(3, 0.25), 0.95, 43),
    ],
)
def test_sample_sizes_are_those_of_gpower(plan: PowerPlan, power: float, people: int) -> None:
    assert people_needed(partial(anova_power, plan), power) == people
    assert anova_power(plan, people) >= power > anova_power(plan, people - 1)


@pytest.mark.parametrize(
    ("plan", "groups", "effect", "power", "people"),
    [
        # G*Power 3.1, alpha .05, correlation .5, epsilon 1: the often cited totals for a medium effect f =
        # .25, divided by the groups.
        (PowerPlan(2, 0.25), 2, "interaction", 0.80, 34 // 2),
        (PowerPlan(3, 0.25), 2, "interaction", 0.80, 28 // 2),
        (PowerPlan(2, 0.25), 2, "group", 0.80, 98 // 2),
    ],
)
def test_sizes_of_groups_are_those_of_gpower(
    plan: PowerPlan, groups: int, effect: str, power: float, people: int
) -> None:
    assert people_needed(partial(mixed_power, plan, groups, effect=effect), power) == people


@pytest.mark.parametrize("effect", MIXED_EFFECTS)
def test_the_power_of_a_mixed_anova_is_the_share_of_simulated_studies_that_find_the_effect(
    effect: str,
) -> None:
    plan, groups, people, runs = PowerPlan(3, 0.3, 0.4), 2, 12, 4000
    k = plan.conditions
    signs, steps = np.array([-1.0, 1.0])[:, None], np.array([-(1.5**0.5), 0.0, 1.5**0.5])
    means = plan.f * {"group": signs, "condition": steps, "interaction": signs * steps}[effect]
    rng = np.random.default_rng(1)
    root = np.linalg.cholesky(np.full((k, k), plan.correlation) + (1 - plan.correlation) * np.eye(k))
    noise = rng.standard_normal((runs, groups, people, k)) @ root.T
    values = noise + np.broadcast_to(means, (groups, k))[:, None, :]
    grand = values.mean(axis=(1, 2, 3), keepdims=True)
    persons, cells = values.mean(axis=3, keepdims=True), values.mean(axis=2, keepdims=True)
    group, level = (values.mean(axis=axes, keepdims=True) for axes in ((2, 3), (1, 2)))
    total = groups * people
    error, df_error = values - persons - cells + group, (total - groups) * (k - 1)
    parts = {
        "group": (group - grand, groups - 1, persons - group, total - groups),
        "condition": (level - grand, k - 1, error, df_error),
        "interaction": (cells - group - level + grand, (groups - 1) * (k - 1), error, df_error),
    }
    kept, df, left, df_left = parts[effect]
    shape = values.shape
    squares = [(np.broadcast_to(part, shape) ** 2).sum(axis=(1, 2, 3)) for part in (kept, left)]
    found = np.mean(stats.f.sf(squares[0] / df / (squares[1] / df_left), df, df_left) < plan.alpha)
    assert found == pytest.approx(mixed_power(plan, groups, people, effect), abs=WITHIN)


def test_two_conditions_are_the_paired_t_test_whose_textbook_figure_is_34_pairs_for_a_dz_of_one_half() -> (
    None
):
    plan = PowerPlan(2, 0.25)  # f = .25 at a correlation of .5 is a difference of .5 and d_z = .5
    assert dz_from_difference(0.5, plan) == pytest.approx(0.5)
    assert people_needed(partial(anova_power, plan), 0.8) == 34


@pytest.mark.parametrize("correlation", [-0.3, 0.0, 0.5, 0.8])
@pytest.mark.parametrize("people", [2, 5, 12, 40])
def test_a_pair_and_two_conditions_agree_with_statsmodels(correlation: float, people: int) -> None:
    plan = PowerPlan(2, 0.25, correlation, alpha=0.01)
    expected = TTestPower().power(dz_from_difference(0.5, plan), people, 0.01, alternative="two-sided")
    assert pair_power(0.5, plan, people) == pytest.approx(expected, abs=1e-6)
    assert anova_power(plan, people) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("conditions", [2, 3, 5, 8])
@pytest.mark.parametrize(("f", "correlation"), [(0.0, 0.5), (0.25, 0.5), (0.25, 0.0), (0.15, 0.8)])
@pytest.mark.parametrize("people", [3, 12, 30])
def test_the_formula_agrees_with_simulation(
    conditions: int, f: float, correlation: float, people: int
) -> None:
    plan = PowerPlan(conditions, f, correlation)
    assert anova_share(plan, people, seed=7) == pytest.approx(anova_power(plan, people), abs=WITHIN)


def test_without_sphericity_the_corrected_formula_is_near_the_simulation() -> None:
    places = np.arange(4)
    covariance = 0.8 ** np.abs(places[:, None] - places)  # values far apart in time correlate less
    contrasts = np.linalg.svd(np.ones((1, 4)))[2][1:]
    inner = contrasts @ covariance @ contrasts.T
    epsilon = np.trace(inner) ** 2 / (3 * np.trace(inner @ inner))
    correlation = (covariance.sum() - 4) / 12
    assert 0.6 < epsilon < 0.9
    nothing = PowerPlan(4, 0.0, correlation, epsilon=epsilon)
    assert anova_share(nothing, 20, seed=3, covariance=covariance) == pytest.approx(0.05, abs=WITHIN)
    some = PowerPlan(4, 0.2, correlation, epsilon=epsilon)
    share = anova_share(some, 20, seed=3, covariance=covariance)
    assert share == pytest.approx(anova_power(some, 20), abs=0.1)


def test_the_statistics_of_a_simulated_study_are_those_of_its_values() -> None:
    values = np.random.default_rng(5).normal([0.0, 0.4, 0.8, 0.2], size=(9, 4))
    samples = main_test_power.SimulatedSamples(9, values.mean(axis=0)[None], np.cov(values.T)[None])
    rows = [(person, c, values[person, c]) for person in range(9) for c in range(4)]
    table = AnovaRM(pd.DataFrame(rows, columns=["id", "c", "y"]), "y", "id", ["c"]).fit().anova_table
    assert f_values(samples)[0] == pytest.approx(table["F Value"].iloc[0])
    pairs = [stats.ttest_rel(values[:, b], values[:, a]) for a, b in combinations(range(4), 2)]
    assert main_test_power.t_values(samples)[0] == pytest.approx([pair.statistic for pair in pairs])


@pytest.mark.parametrize("people", [3, 30])
def test_drawn_means_and_covariances_have_the_moments_of_their_distributions(people: int) -> None:
    covariance = np.array([[1.0, 0.5, 0.2], [0.5, 2.0, 0.0], [0.2, 0.0, 1.0]])
    found = main_test_power.draw_samples([1.0, 0.0, -1.0], covariance, people, seed=2, runs=40_000)
    assert found.means.mean(axis=0) == pytest.approx([1, 0, -1], abs=0.03)
    assert np.cov(found.means.T) * people == pytest.approx(covariance, abs=0.06)
    assert found.covariances.mean(axis=0) == pytest.approx(covariance, abs=0.06)
    spread = found.covariances[:, 1, 1].var()  # of a Wishart variance: 2 sigma^4 / df
    assert spread == pytest.approx(2 * 4 / (people - 1), rel=0.08)


def by_hand(p: list[float], alpha: float = 0.05) -> list[bool]:
    """Holm's procedure as in the books: smallest p first, until one is not below alpha over what is left."""
    found = [False] * len(p)
    for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[place] >= alpha / (len(p) - rank):
            break
        found[place] = True
    return found


def test_holms_correction_is_the_one_in_the_books() -> None:
    samples = main_test_power.draw_samples([0, 0.3, 0.6, 0.9], np.eye(4), 15, seed=9, runs=200)
    p = 2 * stats.t.sf(np.abs(main_test_power.t_values(samples)), 14)
    assert main_test_power.holm_found(samples, 0.05).tolist() == [by_hand(list(row)) for row in p]


@pytest.mark.parametrize(("k", "df"), [(2, 1), (3, 4), (3, 20), (5, 116), (8, 200), (12, 1000)])
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.001])
def test_the_critical_range_is_scipys(alpha: float, k: int, df: int) -> None:
    found = critical_range(alpha, k, df)
    assert stats.studentized_range.sf(found, k, df) == pytest.approx(alpha, rel=0.05 if df < 10 else 0.01)


@pytest.mark.parametrize("correction", main_test_power.CORRECTIONS)
def test_corrections_hold_the_error_of_the_family_at_alpha(correction: str) -> None:
    plan = PowerPlan(4, 0.0)
    samples = main_test_power.draw_samples([0.0] * 4, main_test_power.equal_correlations(plan), 20, seed=11)
    family = main_test_power.CORRECTIONS[correction](samples, 0.05).any(axis=1).mean()
    assert 0.02 < family < 0.05 + WITHIN / 2


def test_holm_lies_between_bonferroni_and_no_correction() -> None:
    plan, people = PowerPlan(4, 0.3), 24
    means = means_of(plan, "even")
    shares = main_test_power.pair_shares(plan, people, pattern="even", correction="holm", seed=1)
    for (a, b), found in zip(shares.pairs, shares.found, strict=True):
        difference = means[b] - means[a]
        strictest = pair_power(difference, plan, people, alpha=plan.alpha / len(shares.pairs))
        assert strictest - WITHIN < found < pair_power(difference, plan, people) + WITHIN
    assert shares.all_true is not None
    assert shares.all_true <= min(shares.found)


def test_the_same_seed_gives_the_same_shares() -> None:
    plan = PowerPlan(3, 0.3)
    first, again, other = (
        main_test_power.pair_shares(plan, 10, pattern="one", correction="tukey", seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("conditions", [2, 3, 6])
def test_every_pattern_of_means_has_the_effect_asked_for(pattern: str, conditions: int) -> None:
    means = means_of(PowerPlan(conditions, 0.4), pattern)
    assert sum(means) == pytest.approx(0)
    assert sqrt(sum(mean**2 for mean in means) / conditions) == pytest.approx(0.4)


def test_partial_eta_squared_is_what_an_anova_of_very_many_people_reports() -> None:
    plan = PowerPlan(4, f_from_partial_eta(0.2, 4, 0.3), 0.3)
    assert partial_eta_of(plan) == pytest.approx(0.2)
    people = 200_000
    covariance = main_test_power.equal_correlations(plan)
    samples = main_test_power.draw_samples(means_of(plan, "ends"), covariance, people, seed=1, runs=1)
    f = f_values(samples)[0]
    assert 3 * f / (3 * f + 3 * (people - 1)) == pytest.approx(0.2, abs=0.005)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("conditions", {"conditions": 1}),
        ("f", {"f": -0.1}),
        ("f", {"f": float("nan")}),
        ("correlation", {"correlation": 1.0}),
        ("correlation", {"correlation": -0.5}),
        ("alpha", {"alpha": 0.0}),
        ("epsilon", {"epsilon": 0.4}),
        ("epsilon", {"epsilon": 1.1}),
    ],
)
def test_a_plan_out_of_range_is_refused_at_its_field(field: str, values: dict[str, float]) -> None:
    given: dict[str, float] = {"conditions": 3, "f": 0.25, **values}
    with pytest.raises(PowerPlanError) as caught:
        PowerPlan(**given)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_power_that_cannot_be_reached_is_none_and_one_person_has_no_power() -> None:
    assert people_needed(partial(anova_power, PowerPlan(3, 0.0)), 0.8) is None
    assert people_needed(partial(anova_power, PowerPlan(3, 5.0)), 0.8) == 2
    assert anova_power(PowerPlan(3, 5.0), 1) == 0


def test_more_are_invited_than_must_finish() -> None:
    assert [people_to_invite(30, share) for share in (0, 0.1, 0.25, 0.5)] == [30, 34, 40, 60]


def test_the_power_of_many_people_is_a_number() -> None:
    plan = PowerPlan(15, 0.25)  # at one of these scipy has none
    found = [
        main_power(plan, n, test="friedman", pattern="one", scheme="balanced") for n in (1009, 1020, 1050)
    ]
    assert found == pytest.approx([1, 1, 1])


@pytest.mark.parametrize(("df", "strength"), [(4, 9.0), (14, 20.0)])
def test_with_much_error_left_the_f_is_a_chi_squared(df: int, strength: float) -> None:
    """So that what stands in for it where scipy fails gives the same."""
    likewise = stats.ncx2.sf(stats.f.isf(0.05, df, 1e6) * df, df, strength)
    assert f_power(df, 1e6, strength, 0.05) == pytest.approx(likewise, abs=1e-4)
