"""Every test of factorial designs against R; r/reference_factorial.R made the numbers."""

import pytest

from tests.study.analysis.statistics.factorial_r_table import compared, sets
from tests.study.analysis.statistics.r_table import NONE


@pytest.mark.parametrize(("test", "name"), sets())
def test_every_number_of_a_factorial_test_agrees_with_r(test: str, name: str) -> None:
    """To 1e-6, relative; p below 1e-12 count as none."""
    for number in compared(test, name):
        assert number.ours == pytest.approx(number.of_r, rel=1e-6, abs=NONE), number.name
