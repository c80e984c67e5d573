"""Conditions that go on without who is busy, or let participants plan: in documents, at play, in the data."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kitchen.play.models import Episode
from kitchen.play.services import GivenCommand, commands_submit
from kitchen.worlds.cuisine.world import CuisineWorld
from study.design.blueprint import Blueprint, blueprint_of
from study.exports.writing import write_study
from study.taking_part.going_on import page_done
from tests.study.factories import complete, enter, make_study, play_round

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


def test_a_condition_that_lets_participants_plan_is_in_documents_and_in_the_data(tmp_path: Path) -> None:
    study = make_study()
    before = blueprint_of(study)
    study.conditions.filter(key="c1").update(offers_plans=True)
    after = blueprint_of(study)
    assert Blueprint.from_json(after.to_json()) == after
    assert after.digest != before.digest
    assert after.in_format(4).digest == before.in_format(4).digest
    person = enter(study)
    page_done(participant_id=person.pk, page="guide")
    for _ in range(2):
        found = person.rounds.filter(answered_at=None).first()
        assert found and found.episode
        plan = (("noop",),) if found.episode.offers_plans else ()
        first = GivenCommand(0, ("goto", "storage0"), then=plan)
        assert commands_submit(episode_id=found.episode.pk, step=1, commands=[first]).accepted
        play_round(person)
    write_study(study, tmp_path)
    assert {row["condition"]: row["offers_plans"] for row in rows(tmp_path, "episodes")} == {
        "c0": "0",
        "c1": "1",
    }
    told = {
        (row["condition"], row["step"]): (row["to_follow"], row["planned_in"])
        for row in rows(tmp_path, "commands")
        if row["to_follow"] or row["planned_in"]
    }
    assert told == {("c1", "1"): ('[["noop"]]', ""), ("c1", "2"): ("", "1")}
    assert list(rows(tmp_path, "commands")[0])[-2:] == ["to_follow", "planned_in"]


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
