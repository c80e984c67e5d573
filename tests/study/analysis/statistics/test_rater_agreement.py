"""Agreement of raters, checked against published examples."""

from __future__ import annotations

import pytest

from study.analysis.statistics.rater_agreement import cohen_kappa, krippendorff_alpha, percent_agreement

COHEN = ((88, 14, 18), (10, 40, 10), (2, 6, 12))
"""Cohen (1960), table 2: frequencies of two judges, of whom 200 people were rated."""
PROPOSALS = ((20, 5), (10, 15))
"""Fifty proposals, read by two people."""
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
"""Krippendorff (2011), section C: four observers and twelve units; a dot is a missing value."""


def pairs(table: tuple[tuple[int, ...], ...]) -> list[tuple[int, int]]:
    return [
        (row, column)
        for row, numbers in enumerate(table)
        for column, number in enumerate(numbers)
        for _ in range(number)
    ]


def units(*raters: str) -> list[list[str]]:
    return [[value for value in values if value != "."] for values in zip(*raters, strict=True)]


@pytest.mark.parametrize(("table", "kappa"), [(COHEN, 0.492), (PROPOSALS, 0.4)])
def test_kappa_is_the_published_one(table: tuple[tuple[int, ...], ...], kappa: float) -> None:
    assert cohen_kappa(pairs(table)) == pytest.approx(kappa, abs=0.0005)


@pytest.mark.parametrize(
    ("raters", "alpha"),
    [
        (("0100000010", "1110010000"), 0.095),  # section A: two observers, two values
        (("aabbdcccedda", "babbbccceddd"), 0.692),  # section B: two observers, five values
        (OBSERVERS, 0.743),  # section C: missing values
    ],
)
def test_alpha_is_the_published_one(raters: tuple[str, ...], alpha: float) -> None:
    assert krippendorff_alpha(units(*raters)) == pytest.approx(alpha, abs=0.0005)


def test_agreement_is_not_a_number_where_nothing_could_differ() -> None:
    assert cohen_kappa([(0, 0), (0, 0)]) is krippendorff_alpha([(0, 0), (0, 0)]) is None
    assert cohen_kappa([]) is krippendorff_alpha([(1,)]) is percent_agreement([(1,)]) is None
    assert cohen_kappa([(0, 1), (1, 0)]) == -1
    assert percent_agreement([(0, 0), (0, 1), (1, 1, 0)]) == pytest.approx(4 / 10)
