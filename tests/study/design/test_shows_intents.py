"""A condition that shows what teammates are about to do: in its documents, at play, and in the data."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kitchen.play.models import Episode
from study.design.blueprint import Blueprint, blueprint_of
from study.exports.writing import write_study
from study.taking_part.rounds import practice_episode
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db


def test_it_is_in_documents_and_episodes_and_in_the_last_column(tmp_path: Path) -> None:
    study = make_study()
    before = blueprint_of(study)
    study.conditions.filter(key="c1").update(shows_intents=True)
    after = blueprint_of(study)
    assert Blueprint.from_json(after.to_json()) == after
    assert after.digest != before.digest
    assert after.in_format(3).digest == before.in_format(3).digest
    person = complete(study, "one")
    assert list(Episode.objects.filter(shows_intents=True).values_list("label", flat=True)) == ["Team 1"]
    assert practice_episode(person).shows_intents
    write_study(study, tmp_path)
    with (tmp_path / "episodes.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["condition"]: row["shows_intents"] for row in rows} == {"c0": "0", "c1": "1"}
    assert "shows_intents" in rows[0]
