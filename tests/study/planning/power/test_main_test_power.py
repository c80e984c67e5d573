"""What orders tell of conditions, of as many people as one likes."""

from __future__ import annotations

import pytest

from study.planning.power.main_test_power import information
from study.planning.power.power_formulas import MOST_PEOPLE, PowerPlan
from study.planning.power.sample_size_answer import PowerQuestion, sample_size_answer


def test_more_people_than_orders_were_drawn_for_tell_as_much_each() -> None:
    for more, drawn in zip(
        information(3, "random", 2 * MOST_PEOPLE), information(3, "random", MOST_PEOPLE), strict=True
    ):
        assert more == pytest.approx(2 * drawn)
    wish = PowerQuestion(PowerPlan(3, 0.0316), 0.8, 6, 0.0, "one", "holm", test="mixed")
    assert sample_size_answer(wish).rows[-1].people > MOST_PEOPLE
