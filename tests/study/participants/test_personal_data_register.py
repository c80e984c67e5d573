"""What is stored about people is explained, all of it, on a page that they can read."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import models
from django.test import Client

from kitchen.play.models import Episode, Prompt
from study.participants import personal_data_register
from study.participants.models import Participant
from tests.study.factories import enter, make_study

FIELDS = Path(personal_data_register.__file__).with_name("personal_data_fields.toml")


def personal_fields() -> Iterator[str]:
    """Every stored field that leads to a participant: of participants, episodes, and rows that belong to
    them."""
    todo: list[type[models.Model]] = [Participant, Episode, Prompt]
    for model in todo:  # grows meanwhile
        yield from (f"{model.__name__}.{field.name}" for field in model._meta.concrete_fields)
        related = (one.related_model for one in model._meta.related_objects)
        todo += dict.fromkeys(one for one in related if isinstance(one, type) and one not in todo)


def test_every_field_that_leads_to_a_person_is_explained_once() -> None:
    there, lines = set(personal_fields()), tomllib.loads(FIELDS.read_text())
    told = Counter(
        f"{model}.{name}"
        for line in lines.values()
        for model, names in line.items()
        for name in names.split()
    )
    missing = sorted(there - told.keys())
    assert not missing, f"put {', '.join(missing)} into a line of {FIELDS.name}, and say it in the register"
    assert not told.keys() - there and set(told.values()) == {1}
    assert lines.keys() == personal_data_register.STORED_DATA.keys()


@pytest.mark.django_db
def test_it_is_read_before_one_agrees_and_from_every_page(client: Client, settings: Any) -> None:
    person = enter(make_study())
    for address in ("/s/small/", f"/p/{person.key}/"):
        assert 'href="/s/small/stored/"' in client.get(address).content.decode()
    page = client.get("/s/small/stored/").content.decode()
    assert "Each choice in the game" in page and "has no fixed date" in page and person.code not in page
    assert "we also keep a marker" in page and "SeatCommand" not in page
    settings.KEEP_NAMES_DAYS, settings.KEEP_DAYS, settings.KEEP_EVENTS_DAYS = 30, 3650, 1
    page = client.get("/s/small/stored/").content.decode()
    assert "is erased 30 days after" in page and "is erased 3650 days after" in page and "for 1 day." in page
