"""What holds for the tests of every factorial design, also of data that they cannot use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from math import isfinite

import numpy as np
import pytest

from study.analysis.statistics.factorial.cell_means import marginal_means
from study.analysis.statistics.factorial.factorial_anova import factorial_anova
from study.analysis.statistics.factorial.factorial_cases import FactorialRow, cells_of, factorial_cases
from study.analysis.statistics.factorial.factorial_mixed_model import linear_mixed_model
from study.analysis.statistics.factorial.factorial_results import FactorialAnova, FactorialEffect
from study.analysis.statistics.factorial.study_factors import AnalysisFactor

Design = tuple[list[FactorialRow], list[AnalysisFactor], list[AnalysisFactor]]


def drawn(seed: int) -> Design:
    """A design of up to two factors of each kind. Values are noise, rounded, alike for everybody, or without
    differences within people; some have gaps."""
    rng = np.random.default_rng(seed)
    kinds = [
        [AnalysisFactor(f"{name}{i}", tuple("xyz"[: rng.integers(1, 4)])) for i in range(rng.integers(0, 3))]
        for name in ("between", "within")
    ]
    between, within = kinds
    people, gaps, values = int(rng.integers(1, 16)), rng.choice([0, 0, 0.2]), rng.integers(0, 5)
    rows = []
    for who in range(people):
        own = {factor.key: str(rng.choice(factor.levels)) for factor in between}
        base, keys = rng.normal(), [factor.key for factor in within]
        for number, cell in enumerate(cells_of(within)):
            value = (rng.normal() + base, round(rng.normal()), 3.0, base, float(number))[values]
            given = None if rng.random() < gaps else float(value)
            rows.append(FactorialRow(f"p{who}", own | dict(zip(keys, cell, strict=True)), given))
    return rows, between, within


def numbers(found: object) -> Iterator[float]:
    """Yield all numbers of a result."""
    if isinstance(found, int | float):
        yield float(found)
    elif is_dataclass(found):
        for one in fields(found):
            yield from numbers(getattr(found, one.name))
    elif isinstance(found, dict | tuple):
        for part in found.values() if isinstance(found, dict) else found:
            yield from numbers(part)


@pytest.mark.filterwarnings("error")
def test_no_number_is_infinite_whatever_the_data() -> None:
    computed = 0
    for seed in range(60):
        rows, between, within = drawn(seed)
        cases = factorial_cases(rows, between, within)
        for found in (
            factorial_anova(cases),
            marginal_means(cases),
            linear_mixed_model(rows, between, within),
        ):
            assert all(map(isfinite, numbers(found))), seed
            computed += isinstance(found, FactorialAnova)
    assert computed > 5


def test_neither_units_nor_the_order_of_levels_change_a_test() -> None:
    compared = 0
    for seed in range(40):
        rows, between, within = drawn(seed)
        found = factorial_anova(factorial_cases(rows, between, within))
        if not isinstance(found, FactorialAnova):
            continue
        scaled = [replace(row, value=None if row.value is None else 7 - 3 * row.value) for row in rows]
        turned = [[replace(one, levels=one.levels[::-1]) for one in kind] for kind in (between, within)]
        other = factorial_anova(factorial_cases(scaled, turned[0], turned[1]))
        assert isinstance(other, FactorialAnova)
        for one, same in zip(found.effects, other.effects, strict=True):
            if isinstance(one, FactorialEffect):
                assert isinstance(same, FactorialEffect)
                ours = one.term, one.f, one.p_corrected, one.generalised_eta_squared
                theirs = same.term, same.f, same.p_corrected, same.generalised_eta_squared
                assert ours[1:] == pytest.approx(theirs[1:], rel=1e-7, abs=1e-12) and ours[0] == theirs[0]
                compared += 1
    assert compared > 5
