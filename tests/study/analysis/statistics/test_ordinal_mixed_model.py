"""The cumulative-link mixed model of ratings in a factorial design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial.hermite import hermgauss

from study.analysis.statistics.factorial import ordinal_likelihood
from study.analysis.statistics.factorial.factorial_cases import FactorialRow
from study.analysis.statistics.factorial.factorial_results import UntestedEffect
from study.analysis.statistics.factorial.mixed_model_results import OrdinalMixedModel
from study.analysis.statistics.factorial.ordinal_likelihood import Ratings
from study.analysis.statistics.factorial.ordinal_mixed_model import cumulative_link_mixed_model
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.within.ordinal_tests import cumulative_link
from study.analysis.statistics.within.result_types import CumulativeLink
from tests.study.analysis.statistics import r_table

RNG = np.random.default_rng(5)
PLACE = AnalysisFactor("place", ("near", "far"))


def rated(people: int, spread: float, effect: float, seed: int) -> list[FactorialRow]:
    """Three ratings of everybody in each of two places."""
    rng = np.random.default_rng(seed)
    own = spread * rng.normal(size=people)
    return [
        FactorialRow(
            f"p{who:02d}",
            {"place": PLACE.levels[place]},
            float(np.clip(np.round(3 + own[who] + effect * place + rng.logistic() / 1.5), 1, 5)),
            {"position": float(place * 3 + number + 1), "always": 1.0},
        )
        for who, place, number in np.ndindex(people, 2, 3)
    ]


def fitted(given: Sequence[FactorialRow], *covariates: str, nodes: int = 5) -> OrdinalMixedModel:
    found = cumulative_link_mixed_model(given, [], [PLACE], covariates, nodes=nodes)
    assert isinstance(found, OrdinalMixedModel)
    return found


@pytest.mark.parametrize("nodes", [1, 4])
def test_the_gradient_is_that_of_the_likelihood(nodes: int) -> None:
    data = Ratings(
        np.array([0, 1, 3, 2, 2, 0, 3, 1, 1]),
        RNG.normal(size=(9, 2)),
        np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]),
        4,
    )
    params = np.array([-1.0, 0.2, 1.4, 0.5, -0.3, 0.8])
    quadrature = hermgauss(nodes)
    _, slope = ordinal_likelihood._likelihood(params, data, quadrature)
    for place, step in enumerate(1e-5 * np.eye(6)):
        ends = [ordinal_likelihood._likelihood(params + sign * step, data, quadrature)[0] for sign in (1, -1)]
        assert slope[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)


def test_an_effect_that_was_built_in_is_found_and_its_direction_is_right() -> None:
    found = fitted(rated(12, 1.0, 1.2, 1))
    near, far = found.means[("place",)]
    effect = found.effect("place")
    assert effect and effect.p < 0.001 and effect.df == 1
    assert near.log_odds == pytest.approx(-far.log_odds) and far.ci_low > 0
    assert found.thresholds == tuple(sorted(found.thresholds)) and found.sd_participant > 0


def test_where_people_do_not_differ_it_is_the_model_without_random_intercepts() -> None:
    table = r_table.data("wine")
    rows = [
        FactorialRow(f"p{number % 3}", {"wine": row.condition}, row.value)
        for number, row in enumerate(table.observations)
    ]
    factor = AnalysisFactor("wine", tuple(one.key for one in table.conditions))
    found, plain = cumulative_link_mixed_model(rows, [], [factor], nodes=5), cumulative_link(table)
    assert isinstance(found, OrdinalMixedModel) and isinstance(plain, CumulativeLink)
    assert found.sd_participant == 0
    assert found.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-9)
    first, *others = (one.log_odds for one in found.means[("wine",)])
    assert [np.exp(one - first) for one in others] == pytest.approx(
        [odds for _, odds in plain.odds], rel=1e-5
    )


def test_gaps_are_no_hindrance_and_covariates_are_tested_too() -> None:
    given = rated(8, 0.8, 0.5, 2)[:-2]
    found = fitted(given, "position", "always")
    assert (found.n, found.observations) == (8, 46)
    assert found.effect("position") and not found.effect("always")
    assert [one.term for one in found.effects if isinstance(one, UntestedEffect)] == [("always",)]


def test_what_the_data_do_not_allow_says_why() -> None:
    def why(given: list[FactorialRow]) -> str:
        return str(cumulative_link_mixed_model(given, [], [PLACE], nodes=1))

    given = rated(6, 0.5, 0.5, 3)
    two = [replace(row, value=float((row.value or 0) > 3)) for row in given]
    assert "there are 2 different values; it takes 3 to 21" in why(two)
    split = [
        replace(row, value=float(1 + number % 2 + 3 * (row.levels["place"] == "far")))
        for number, row in enumerate(given)
    ]
    assert "hardly overlap" in why(split)
    once = [row for number, row in enumerate(given) if number % 6 == (number // 6 % 2) * 3]
    assert "one value only" in why(once)
