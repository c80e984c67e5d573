"""Every test within participants against R, on data sets of R; r/reference.R made the numbers."""

from pathlib import Path

import pytest

from tests.study.analysis.statistics.r_table import NONE, compared, sets, stored, table, without_deviation

DOCS = Path(__file__).parents[4] / "docs" / "statistics-checks.md"


@pytest.mark.parametrize(("test", "name"), sets())
def test_every_number_agrees_with_r(test: str, name: str) -> None:
    """To 1e-6, relative; p below 1e-12 count as none."""
    for number in compared(test, name):
        assert number.ours == pytest.approx(number.of_r, rel=1e-6, abs=NONE), number.name


@pytest.mark.parametrize("name", stored("reference.json")["anova"])
def test_what_r_prints_of_mauchly_differs_in_the_second_order_term_alone(name: str) -> None:
    """It has one k where Anderson has p."""
    p = next(number.ours for number in compared("anova", name) if number.name == "p_w")
    assert p == pytest.approx(stored("reference.json")["anova"][name]["p_w_of_r"], rel=3e-3)


def test_the_carry_over_and_position_of_a_latin_square_are_compared_too() -> None:
    assert len([number for number in compared("mixed", "OrchardSprays") if number.name == "f"]) == 3


def test_the_table_in_the_docs_has_these_numbers() -> None:
    """Where it fails: python -m tests.study.analysis.statistics.r_table"""
    told = [without_deviation(line) for line in DOCS.read_text(encoding="utf-8").splitlines()]
    assert [line for line in map(without_deviation, table()) if line not in told] == []
