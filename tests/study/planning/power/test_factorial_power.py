"""Power of main effects and interactions, against the formulas of one factor, and by simulated studies."""

from __future__ import annotations

from io import StringIO
from itertools import product

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from study.planning.power.factorial_power import (
    cell_coding,
    effect_power,
    f_of_partial_eta,
    partial_eta_of_f,
)
from study.planning.power.planned_factors import (
    FactorialDesignPlan,
    PlannedFactor,
    read_planned_factors,
    with_subsets,
    written_factors,
)
from study.planning.power.power_formulas import (
    PowerPlan,
    PowerPlanError,
    anova_power,
    f_from_partial_eta,
    f_power,
    mixed_power,
)
from study.planning.power.simulated_factorial import simulate_factorial

GROUP, PARTNER, PACE = PlannedFactor("group", 2, False), PlannedFactor("partner", 3), PlannedFactor("pace", 2)
MIXED = FactorialDesignPlan((GROUP, PARTNER), 0.4)


def test_one_factor_and_a_mixed_design_have_the_power_of_their_formulas() -> None:
    plan = PowerPlan(3, 0.25, 0.4, 0.05, 0.8)
    for term, effect in (
        (("group",), "group"),
        (("partner",), "condition"),
        (MIXED.effects[-1], "interaction"),
    ):
        found = effect_power(MIXED, term, 0.25, 20, alpha=0.05, epsilon=0.8)
        assert found == pytest.approx(mixed_power(plan, 2, 20, effect), rel=1e-9)
        eta = f_from_partial_eta(0.06, 3, 0.4, effect)
        assert f_of_partial_eta(MIXED, term, 0.06) == pytest.approx(eta, rel=1e-9)
        assert partial_eta_of_f(MIXED, term, eta) == pytest.approx(0.06)
    alone = FactorialDesignPlan((PlannedFactor("partner", 5),))
    expected = anova_power(PowerPlan(5, 0.2), 25)
    assert effect_power(alone, ("partner",), 0.2, 25, alpha=0.05) == pytest.approx(expected, rel=1e-9)


def test_between_factors_alone_have_the_power_of_a_two_way_anova() -> None:
    """By hand: 4 cells of 15, F(1, 56) with noncentrality 60 x .3^2 for each effect."""
    design = FactorialDesignPlan((GROUP, PlannedFactor("age", 2, False)))
    for term in design.effects:
        assert effect_power(design, term, 0.3, 15, alpha=0.05) == pytest.approx(f_power(1, 56, 5.4, 0.05))


def test_columns_of_cells_are_orthogonal_with_a_mean_square_of_one() -> None:
    coding = cell_coding(FactorialDesignPlan((PARTNER, GROUP, PACE)))
    np.testing.assert_allclose(coding.T @ coding, 12 * np.eye(12), atol=1e-12)


def test_a_part_of_the_cells_has_less_power_and_an_effect_that_it_cannot_show_has_none() -> None:
    whole = FactorialDesignPlan((PARTNER, PACE))
    once = with_subsets(whole, "one partner")
    assert (once.rounds, len(once.subsets)) == (3, 2)
    assert {tuple(cell // 2 for cell in one) for one in once.subsets} == {(0, 1, 2)}
    for term in whole.effects:
        part, all_cells = (effect_power(one, term, 0.2, 30, alpha=0.05) for one in (once, whole))
        assert 0 < part < all_cells
    fixed = FactorialDesignPlan((PARTNER, PACE), subsets=((0, 2, 4),))
    assert effect_power(fixed, ("pace",), 0.2, 30, alpha=0.05) == 0
    assert partial_eta_of_f(fixed, ("pace",), 0.2) == f_of_partial_eta(fixed, ("pace",), 0.1) == 0


def test_factors_are_read_as_they_are_written() -> None:
    text = "group 2 between, partner 3, pace 2"
    factors = read_planned_factors(text)
    assert factors == (GROUP, PARTNER, PACE)
    assert written_factors(factors) == text
    design = FactorialDesignPlan(factors)
    assert (design.groups, design.cells, len(design.effects)) == (2, 6, 7)
    assert design.label(("group",)) == "Group (between people)"
    assert design.label(("group", "pace")) == "Group \N{MULTIPLICATION SIGN} pace (interaction)"
    assert with_subsets(design, "all") == with_subsets(design, "6") == design
    assert with_subsets(design, "2").rounds == 2
    one = FactorialDesignPlan((PARTNER, GROUP))
    assert with_subsets(one, "one partner") == one, "that is every condition"


@pytest.mark.parametrize(
    ("text", "each", "field", "why"),
    [
        ("group 2 betwen", "all", "factors", "cannot be read"),
        ("partner", "all", "factors", "cannot be read"),
        ("partner 1", "all", "factors", "2 to 12 levels"),
        ("partner 13", "all", "factors", "2 to 12 levels"),
        ("a 2, a 3", "all", "factors", "same name"),
        ("a 12, b 12", "all", "factors", "more than 48"),
        ("a 2, b 2, c 2, d 2, e 2", "all", "factors", "one to 4"),
        ("a 2, b 3", "one c", "each_plays", "no factor within"),
        ("a 2, b 3 between", "one b", "each_plays", "no factor within"),
        ("a 2, b 3", "7", "each_plays", "2 to 6"),
        ("a 2, b 3", "some", "each_plays", "Write"),
    ],
)
def test_wrong_factors_are_refused_with_the_field_and_the_reason(
    text: str, each: str, field: str, why: str
) -> None:
    with pytest.raises(PowerPlanError, match=why) as refused:
        with_subsets(FactorialDesignPlan(read_planned_factors(text)), each)
    assert refused.value.field == field
    with pytest.raises(PowerPlanError) as bounds:
        FactorialDesignPlan((PARTNER, PACE), -0.5)
    assert bounds.value.field == "correlation"


def test_simulated_studies_count_each_effect_and_find_a_very_large_one_each_time() -> None:
    found = simulate_factorial(MIXED, ("group", "partner"), 2.0, 6, alpha=0.001, studies=5, seed=4)
    assert found.power == 1.0 and found.planned == pytest.approx(1.0, abs=1e-6)
    assert set(found.false_positives) == set(MIXED.effects) and max(found.false_positives.values()) == 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("test", "each"), [*product(["repeated", "mixed"], ["all"]), ("mixed", "one partner")]
)
def test_many_simulated_studies_have_the_planned_error_rates(test: str, each: str) -> None:
    design = FactorialDesignPlan((PARTNER, PACE)) if each != "all" else MIXED
    design = with_subsets(design, each)
    found = simulate_factorial(
        design, design.effects[-1], 0.25, 24, alpha=0.05, studies=2000, seed=1, test=test
    )
    assert all(abs(share - 0.05) <= 0.012 for share in found.false_positives.values())
    assert abs(found.power - found.planned) <= 0.03


def test_the_command_tells_each_effect_and_refuses_others_in_one_line() -> None:
    options = ["--factors", "group 2 between, partner 3", "--studies", "20", "--people", "12", "--f", "0.4"]
    out = StringIO()
    call_command("simulate_studies", *options, "--effect", "partner", stdout=out)
    line = out.getvalue().splitlines()[-1]
    assert line.startswith("20 studies of each kind: false positives group ")
    assert "group:partner" in line and "; power of partner " in line and "planned 99.0 %" in line
    for wrong in (["--effect", "pace"], ["--test", "friedman"]):
        with pytest.raises(CommandError) as refused:
            call_command("simulate_studies", *options, *wrong)
        assert refused.value.returncode == 2
    with pytest.raises(CommandError, match="--effect is for designs with --factors"):
        call_command("simulate_studies", "--effect", "a")
