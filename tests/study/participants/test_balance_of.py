"""How balanced the orders are in which people played, as the page of a study says it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from study.participants.models import Participant
from study.participants.participant_counts import order_balance
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db


def test_the_page_of_a_study_counts_places_and_what_followed_what(admin_client: Client) -> None:
    study = make_study(items=0, orders="fixed")
    address = reverse("study:staff-study", args=[study.slug])
    assert order_balance(study) is None
    assert "Balance of orders" not in admin_client.get(address).text
    complete(study, "program", synthetic=True)
    found = order_balance(study)
    assert found and (found.participants, found.synthetic) == (1, True)
    for entry in ("one", "two", "out"):
        complete(study, entry)
    Participant.objects.filter(entry="out").update(excluded_at=timezone.now())
    found = order_balance(study)
    assert found and (found.participants, found.synthetic, found.spread, found.after_spread) == (
        2,
        False,
        2,
        2,
    )
    assert found.places == [("Condition 0", (2, 0)), ("Condition 1", (0, 2))]
    assert found.after == [("Condition 0", [None, 2]), ("Condition 1", [0, None])]
    assert "Not balanced yet" in admin_client.get(address).text
