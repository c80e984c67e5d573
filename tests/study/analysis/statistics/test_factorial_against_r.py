"""Every test of factorial designs against R; r/reference_factorial.R made the numbers."""

from pathlib import Path

import pytest

from tests.study.analysis.statistics.factorial_r_table import compared, sets, table
from tests.study.analysis.statistics.r_table import NONE, stored, without_deviation

DOCS = Path(__file__).parents[4] / "docs" / "factorial-checks.md"


@pytest.mark.parametrize(("test", "name"), sets())
def test_every_number_of_a_factorial_test_agrees_with_r(test: str, name: str) -> None:
    """To 1e-6, relative; p below 1e-12 count as none."""
    for number in compared(test, name):
        assert number.ours == pytest.approx(number.of_r, rel=1e-6, abs=NONE), number.name


MODELS = [(test, name) for test, name in sets() if test in ("mixed", "fraction")]


@pytest.mark.parametrize(("test", "name"), MODELS)
def test_the_f_tests_of_mixed_models_are_those_that_r_prints_but_for_its_rounding(
    test: str, name: str
) -> None:
    """`anova` of lmerTest rounds the weights of its tests to seven digits. With missing cells it prints the
    tests of `lmer`, whose search stops at the sixth digit."""
    rel, least = (1e-5, None) if test == "mixed" else (1e-4, 1e-8)
    numbers = {number.name: number.ours for number in compared(test, name)}
    for term, printed in stored("factorial_reference.json")[test][name]["tests"].items():
        ours = numbers[f"{term} f"], numbers[f"{term} df_error"]
        assert ours == pytest.approx((printed["f_of_anova"], printed["df_of_anova"]), rel=rel, abs=least)


@pytest.mark.parametrize("kind", ["laplace", "quadrature"])
@pytest.mark.parametrize("name", stored("factorial_reference.json")["ordinal"])
def test_the_likelihood_of_ratings_is_that_of_clmm(name: str, kind: str) -> None:
    """With a narrow search for the modes; the search for the estimates ends after six digits."""
    numbers = {number.name: number.ours for number in compared("ordinal", name)}
    of_clmm = stored("factorial_reference.json")["ordinal"][name][kind]["of_clmm"]
    assert numbers[f"{kind} log likelihood"] == pytest.approx(of_clmm, rel=2e-8)


def test_the_table_of_factorial_tests_in_the_docs_has_these_numbers() -> None:
    """Where it fails: python -m tests.study.analysis.statistics.factorial_r_table"""
    told = [without_deviation(line) for line in DOCS.read_text(encoding="utf-8").splitlines()]
    assert [line for line in map(without_deviation, table()) if line not in told] == []
