"""How much values vary within conditions, and correlate within participants, in stored data."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client

from study.planning.power.power_formulas import PowerPlan
from study.planning.power.simulated_studies import simulated_study
from study.planning.stored_variation import FEWEST_PEOPLE, measure_variation
from tests.study.factories import make_study


def test_correlation_and_deviation_are_those_that_were_built_in_whatever_the_means() -> None:
    rng, means = np.random.default_rng(3), np.array([0.0, 5.0, -2.0])
    found = measure_variation(simulated_study(PowerPlan(3, 0.2, 0.6), 400, means, rng))
    assert found and found.epsilon
    assert found.correlation == pytest.approx(0.6, abs=0.05)
    assert found.deviation == pytest.approx(1, abs=0.05)
    assert found.epsilon == pytest.approx(1, abs=0.02)
    assert found.people == 400


def test_few_people_and_equal_values_tell_nothing() -> None:
    rng = np.random.default_rng(3)
    assert measure_variation(simulated_study(PowerPlan(3, 0.2), FEWEST_PEOPLE - 1, np.zeros(3), rng)) is None
    two = measure_variation(simulated_study(PowerPlan(2, 0.2), 20, np.zeros(2), rng))
    assert two and two.epsilon is None


@pytest.mark.django_db
def test_the_page_of_a_study_without_data_offers_nothing(admin_client: Client) -> None:
    study = make_study()
    html = admin_client.get(f"/staff/{study.slug}/sample-size/").content.decode()
    assert "Take the correlation" not in html and "being computed" not in html
