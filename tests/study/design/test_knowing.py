"""A condition that keeps from its co-players what was chosen in the step: in documents, play and data."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kitchen.play.models import Episode
from study.design.blueprint import Blueprint, blueprint_of
from study.editor.in_words import condition_pairs
from study.exports.writing import write_study
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db


def test_it_is_in_documents_and_episodes_and_in_the_last_column(tmp_path: Path) -> None:
    study = make_study()
    before = blueprint_of(study)
    study.conditions.filter(key="c1").update(knowing="nobody")
    after = blueprint_of(study)
    assert Blueprint.from_json(after.to_json()) == after
    assert after.digest != before.digest and after.beyond(4) and not before.beyond(4)
    assert after.in_format(4).digest == before.in_format(4).digest
    assert condition_pairs(after.condition("c1"))[-1].value == "nobody: co-players decide side by side"
    complete(study, "one")
    assert list(Episode.objects.filter(knowing="nobody").values_list("label", flat=True)) == ["Team 1"]
    write_study(study, tmp_path)
    with (tmp_path / "episodes.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["condition"]: row["knowing"] for row in rows} == {"c0": "everybody", "c1": "nobody"}
    assert list(rows[0]).index("knowing") > list(rows[0]).index("shows_intents")
