"""Equivalence of two means, and the Bayes factor of two groups."""

from __future__ import annotations

import pytest

from study.analysis.statistics.factorial.cell_means import person_means
from study.analysis.statistics.observations import DefinitionError, NotComputable
from study.analysis.statistics.within.equivalence_results import Equivalence, EquivalenceBounds
from tests.study.analysis.statistics.factorial_r_table import cases
from tests.study.analysis.statistics.two_sample_equivalence import (
    independent_bayes_factor,
    independent_equivalence,
    paired_equivalence,
)

WIDE, NARROW = EquivalenceBounds(-2, 2), EquivalenceBounds(-0.1, 0.1)
FIRST, SECOND = [1.0, 2.0, 3.0, 4.0, 6.0], [1.5, 1.5, 3.5, 4.0, 6.0]


def paired(bounds: EquivalenceBounds) -> Equivalence:
    found = paired_equivalence(FIRST, SECOND, bounds)
    assert isinstance(found, Equivalence)
    return found


def test_means_are_equivalent_where_the_interval_lies_between_the_bounds() -> None:
    assert paired(WIDE).equivalent and not paired(NARROW).equivalent
    for bounds in (WIDE, NARROW, EquivalenceBounds(-0.3, 2)):
        found = paired(bounds)
        assert found.equivalent == (bounds.low < found.ci_low and found.ci_high < bounds.high)
    assert paired(WIDE).p == max(paired(WIDE).above.p, paired(WIDE).below.p)


def test_exchanging_the_groups_turns_the_difference_and_the_bounds() -> None:
    one = independent_equivalence(FIRST, SECOND[:4], EquivalenceBounds(-1, 2))
    other = independent_equivalence(SECOND[:4], FIRST, EquivalenceBounds(-2, 1))
    assert isinstance(one, Equivalence) and isinstance(other, Equivalence)
    assert one.sizes == (5, 4) and one.difference == -other.difference
    assert (one.above.p, one.below.p, one.p) == pytest.approx((other.below.p, other.above.p, other.p))


def test_what_the_data_do_not_allow_says_why() -> None:
    assert "fewer than two participants" in str(paired_equivalence([1], [2], WIDE))
    assert "the same for every participant" in str(paired_equivalence([1, 2, 3], [2, 3, 4], WIDE))
    assert "fewer than two values" in str(independent_equivalence([1], [2, 3], WIDE))
    assert "do not vary" in str(independent_equivalence([1, 1], [2, 2], WIDE))
    assert isinstance(independent_bayes_factor([1, 1], [2, 2]), NotComputable)
    with pytest.raises(DefinitionError, match="not below"):
        EquivalenceBounds(1, -1)


def test_the_means_of_people_at_a_level_are_what_is_compared() -> None:
    whole = cases("unbalanced")
    first, third = (person_means(whole, {"level": level}) for level in ("l1", "l3"))
    assert list(first) == list(third) == list(whole.participants)
    assert list(first.values()) == whole.values[:, 0].tolist()
    assert len(person_means(whole, {"group": "a"})) == 7
    assert person_means(whole, {})["p01"] == pytest.approx(whole.values[0].mean())
