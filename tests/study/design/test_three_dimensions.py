"""A condition that offers the world in three dimensions: in its documents, at play, and in the data."""

from __future__ import annotations

import csv
import io

import pytest
from django.core.exceptions import ValidationError

from kitchen.play.models import Seat
from study.design.blueprint import Blueprint, blueprint_of
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.participation.round_planning import create_practice_episode
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db


def test_a_document_says_so_and_those_of_before_stay_as_they_are() -> None:
    study = make_study()
    before = blueprint_of(study)
    assert not any("three_dimensions" in one for one in before.in_format(3).to_json()["conditions"])
    study.conditions.filter(key="c1").update(three_dimensions=True)
    after = blueprint_of(study)
    assert [one["three_dimensions"] for one in after.to_json()["conditions"]] == [False, True]
    assert Blueprint.from_json(after.to_json()) == after
    assert after.digest != before.digest


def test_a_world_without_such_a_view_cannot_offer_it() -> None:
    row = make_study(conditions=1).conditions.get()
    row.three_dimensions = True
    row.clean()
    row.world, row.settings = "overcooked", {"layout": "cramped_room"}
    row.coplayer, row.teammates = "greedy", 1
    with pytest.raises(ValidationError, match="three_dimensions: Overcooked has no view in three dimensions"):
        row.clean()


def test_what_a_condition_offers_can_be_practised_and_the_data_say_who_used_it() -> None:
    study = make_study()
    study.conditions.filter(key="c1").update(three_dimensions=True)
    person = complete(study, "one")
    assert create_practice_episode(person).three_dimensions
    Seat.objects.filter(episode__rounds__condition__key="c1").update(
        scene="headset", view="tables", sound="part"
    )
    text = b"".join(csv_pieces(get_table("episodes"), study)).decode()
    rows = {row["condition"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
    names = ("three_dimensions", "three_dimensions_used", "chose_in", "sound")
    told = {key: tuple(row[name] for name in names) for key, row in rows.items()}
    assert told == {"c0": ("0", "", "", ""), "c1": ("1", "headset", "tables", "part")}
