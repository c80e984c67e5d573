"""A condition that goes on without who is busy: in its documents, at play, and in the data."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kitchen.play.models import Episode
from kitchen.worlds.cuisine.world import CuisineWorld
from study.design.blueprint import Blueprint, blueprint_of
from study.exports.writing import write_study
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db


def test_it_is_in_documents_and_episodes_and_in_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CuisineWorld, "asks", lambda world, seat: world.clock != 1)
    study = make_study()
    before = blueprint_of(study)
    study.conditions.filter(key="c1").update(passes_by=True)
    after = blueprint_of(study)
    assert Blueprint.from_json(after.to_json()) == after
    assert after.digest != before.digest
    assert after.in_format(4).digest == before.in_format(4).digest
    complete(study, "one")
    assert list(Episode.objects.filter(passes_by=True).values_list("label", flat=True)) == ["Team 1"]
    write_study(study, tmp_path)
    assert {row["condition"]: row["passes_by"] for row in rows(tmp_path, "episodes")} == {
        "c0": "0",
        "c1": "1",
    }
    passed = {
        (row["condition"], row["step"]) for row in rows(tmp_path, "commands") if row["chosen_by"] == "world"
    }
    assert passed == {("c1", "2")}
    assert all("world" not in row["played_by"].split() for row in rows(tmp_path, "episodes"))


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
