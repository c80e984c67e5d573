"""What a condition says of how it is played: in its documents, in episodes, and in the data."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from kitchen.contract.world import Command
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.worlds.cuisine.world import CuisineWorld
from study.design.blueprint import CONDITION_FIELD_FORMATS, Blueprint, blueprint_of
from study.design.models import Study
from study.editor.describe_design import condition_pairs
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.participation.page_progress import finish_page
from study.participation.round_planning import create_practice_episode
from tests.study.factories import complete, enter, make_study, play_round

pytestmark = pytest.mark.django_db

PROBES = [
    {
        "key": "trust",
        "step": 99,
        "limit_seconds": 60,
        "items": [{"key": "q1", "kind": "text", "text": "Why?"}],
    }
]
WAYS: dict[str, tuple[Any, str, str]] = {
    "shows_intents": (True, "0", "1"),
    "recommends_sound": (True, "0", "1"),
    "hides_dots": (True, "0", "1"),
    "order_choices": (True, "0", "1"),
    "probes": (PROBES, "", "trust"),
    "rating_slider": ({"text": "Trust", "low": "none", "high": "full"}, "", "Trust"),
    "passes_by": (True, "0", "1"),
    "offers_plans": (True, "0", "1"),
    "knowing": ("nobody", "everybody", "nobody"),
    "star_targets": ({"completed": [1, 2, 3]}, "", '{"completed": [1, 2, 3]}'),
    "goal": ({"completed": 1}, "", '{"completed": 1}'),
}
"""The field, what a condition says of it, and what the data say of one that says nothing, and of that one."""


def said(name: str) -> Study:
    """A study whose second condition says this."""
    study = make_study()
    before = blueprint_of(study)
    study.conditions.filter(key="c1").update(**{name: WAYS[name][0]})
    after = blueprint_of(study)
    earlier = CONDITION_FIELD_FORMATS[name] - 1
    assert Blueprint.from_json(after.to_json()) == after
    assert after.digest != before.digest and after.beyond(earlier) and not before.beyond(4)
    assert after.in_format(earlier).digest == before.in_format(earlier).digest
    return study


def rows(study: Study, name: str) -> list[dict[str, str]]:
    text = b"".join(csv_pieces(get_table(name), study)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("name", WAYS)
def test_it_is_in_documents_and_episodes_and_in_the_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    menu = CuisineWorld.legal_actions

    def only_waits(world: CuisineWorld, seat: int) -> list[Command]:
        return menu(world, seat) if world.asks(seat) else [world.idle]

    monkeypatch.setattr(CuisineWorld, "asks", lambda world, seat: world.clock != 1)
    monkeypatch.setattr(CuisineWorld, "legal_actions", only_waits)
    value, *told = WAYS[name]
    study = said(name)
    complete(study, "one")
    assert list(Episode.objects.filter(**{name: value}).values_list("label", flat=True)) == ["Team 1"]
    episodes, commands = rows(study, "episodes"), rows(study, "commands")
    assert [row[name] for row in sorted(episodes, key=lambda row: row["condition"])] == told
    passed = [(row["condition"], row["step"]) for row in commands if row["chosen_by"] == "world"]
    assert passed == ([("c1", "2")] if name == "passes_by" else [])
    assert all("world" not in row["played_by"].split() for row in episodes)


def test_what_participants_planned_is_in_the_data() -> None:
    study = said("offers_plans")
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    for _ in range(2):
        found = person.rounds.filter(answered_at=None).first()
        assert found and found.episode
        plan = (("noop",),) if found.episode.offers_plans else ()
        first = SubmittedCommand(0, ("goto", "storage0"), then=plan)
        assert submit_commands(episode_id=found.episode.pk, step=1, commands=[first]).accepted
        play_round(person)
    commands = rows(study, "commands")
    told = {
        (row["condition"], row["step"]): (row["to_follow"], row["planned_in"])
        for row in commands
        if row["to_follow"] or row["planned_in"]
    }
    assert told == {("c1", "1"): ('[["noop"]]', ""), ("c1", "2"): ("", "1")}
    assert list(commands[0])[-2:] == ["to_follow", "planned_in"]


def test_a_round_ends_at_its_goal_if_the_condition_says_so() -> None:
    study = said("goal")
    study.conditions.filter(key="c1").update(goal={"failed": 1}, ends_at_goal=True)
    pairs = dict(pair[:2] for pair in condition_pairs(blueprint_of(study).condition("c1")))
    assert pairs["Goal of a round"] == "Orders that ran out of time: at least 1"
    assert pairs["End the round at its goal"] == "yes"
    complete(study, "one")
    told = {row["condition"]: (row["goal"], row["ends_at_goal"]) for row in rows(study, "episodes")}
    assert told == {"c0": ("", "0"), "c1": ('{"failed": 1}', "1")}


def test_whom_it_keeps_from_knowing_is_told_in_words() -> None:
    condition = blueprint_of(said("knowing")).condition("c1")
    assert condition_pairs(condition)[-1].value == "nobody: co-players decide side by side"


def test_practice_shows_what_teammates_are_about_to_do_where_a_condition_does() -> None:
    study = said("shows_intents")
    assert create_practice_episode(complete(study, "one")).shows_intents
    now = blueprint_of(study)
    assert now.practice.shows_intents and not now.in_format(4).practice.shows_intents
