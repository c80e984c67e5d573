"""What is stored about people is explained, all of it, on a page that they can read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.test import Client

from study.participants.personal_data_register import STORED_DATA, personal_fields
from tests.study.factories import enter, make_study


def test_every_field_that_leads_to_a_person_is_explained_once() -> None:
    there = set(personal_fields())
    told = Counter(field for line in STORED_DATA.values() for field in line.fields)
    missing = sorted(there - told.keys())
    assert not missing, (
        f"put {', '.join(missing)} into a line of LINES in study/participants/personal_data_register.py"
    )
    assert not told.keys() - there and set(told.values()) == {1}


@pytest.mark.django_db
def test_it_is_read_before_one_agrees_and_from_every_page(client: Client, settings: Any) -> None:
    person = enter(make_study())
    for address in ("/s/small/", f"/p/{person.key}/"):
        assert 'href="/s/small/stored/"' in client.get(address).content.decode()
    page = client.get("/s/small/stored/").content.decode()
    assert "Every choice in the game" in page and "sets no day" in page and person.code not in page
    assert "a mark is kept" in page and "SeatCommand" not in page
    settings.KEEP_NAMES_DAYS, settings.KEEP_DAYS, settings.KEEP_EVENTS_DAYS = 30, 3650, 1
    page = client.get("/s/small/stored/").content.decode()
    assert "is erased 30 days after" in page and "is erased 3650 days after" in page and "for 1 day." in page
