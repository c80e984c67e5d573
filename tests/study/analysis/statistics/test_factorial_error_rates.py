"""How often factorial tests find an effect where none was built in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from study.analysis.statistics.factorial.factorial_anova import factorial_anova
from study.analysis.statistics.factorial.factorial_cases import FactorialRow, factorial_cases
from study.analysis.statistics.factorial.factorial_mixed_model import linear_mixed_model
from study.analysis.statistics.factorial.factorial_results import FactorialAnova, FactorialEffect
from study.analysis.statistics.factorial.mixed_model_results import FactorialMixedModel
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from tests.nightly import nightly

GROUP = AnalysisFactor("group", ("expert", "novice"))
PARTNER = AnalysisFactor("partner", ("alone", "guided", "free"))
SIZES = (14, 18)
"""People in each group."""


def drawn(rng: np.random.Generator) -> list[FactorialRow]:
    """One study without effects. Values of a person correlate, and the third level has a larger variance."""
    people = sum(SIZES)
    values = rng.normal(size=(people, 1)) + rng.normal(size=(people, 3)) * [1, 1, 1.3]
    groups = [level for level, size in zip(GROUP.levels, SIZES, strict=True) for _ in range(size)]
    return [
        FactorialRow(f"p{who}", {"group": groups[who], "partner": PARTNER.levels[at]}, float(values[who, at]))
        for who, at in product(range(people), range(3))
    ]


def p_values(test: str, rows: list[FactorialRow]) -> Iterator[tuple[tuple[str, ...], float]]:
    if test == "anova":
        found = factorial_anova(factorial_cases(rows, [GROUP], [PARTNER]))
        assert isinstance(found, FactorialAnova)
        tested = [one for one in found.effects if isinstance(one, FactorialEffect)]
        yield from ((one.term, one.p_corrected) for one in tested)
    else:
        model = linear_mixed_model(rows, [GROUP], [PARTNER])
        assert isinstance(model, FactorialMixedModel)
        yield from ((one.term, one.p) for one in model.tested)


@pytest.mark.parametrize(("test", "studies"), nightly(("anova", 2000), ("mixed", 2000)))
def test_five_of_a_hundred_studies_without_effects_find_one(test: str, studies: int) -> None:
    """Of a mixed design with two groups of different size and three levels: 5 % ± 1 for each effect."""
    rng = np.random.default_rng(31)
    hits = Counter(term for _ in range(studies) for term, p in p_values(test, drawn(rng)) if p < 0.05)
    rates = {term: hits[term] / studies for term in (("group",), ("partner",), ("group", "partner"))}
    print(test, rates)
    assert all(0.04 <= rate <= 0.06 for rate in rates.values()), rates
