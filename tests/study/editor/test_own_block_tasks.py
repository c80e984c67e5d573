"""Researchers add their own blueprint or task of blocks; a hostile one is not saved."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.test import Client

from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import read_episode_records
from study.design.models import Study
from study.design.study_versions import current_version
from tests.nightly import nightly
from tests.study.editor.test_condition_and_item_forms import add_condition, errors
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db

TEXT = """legend = { s = "stone", p = "oak_planks" }
levels = [["ss", "s."], ["p.", ".."]]"""
HOSTILE: tuple[tuple[str, str, str, str], ...] = (
    (
        "construction",
        "own_blueprint",
        'legend = { s = "rock" }\nlevels = [["s"]]',
        "legend.s: 'rock' is not a",
    ),
    ("construction", "own_blueprint", "levels = " + "[" * 30_000, "nested deeper than 50 levels"),
    ("construction", "own_blueprint", "x = " + "9" * 39_000, "Not TOML"),
    (
        "construction",
        "own_blueprint",
        f'legend = {{ s = "stone" }}\nlevels = [["{"s" * 39_000}"]]',
        "than 32",
    ),
    ("construction", "own_blueprint", "a = 1\n" * 7_000, "characters is above 40000"),
    ("crafting", "own_task", "[" * 9_000, "nested deeper than 50 levels"),
    ("cooking", "own_task", "1" * 10_001, "characters is above 10000"),
    ("gather", "own_task", "?", "Not JSON"),
    ("crafting", "own_task", '{"seats": 1e308}', "id: is missing"),
    ("cooking", "own_task", "[1]", "Must be a table"),
    ("gather", "own_task", '{"item": "oak_log", "amount": 100000}', "amount: "),
)


@pytest.fixture
def study() -> Study:
    return make_study(conditions=0)


def add(client: Client, study: Study, family: str, name: str, text: str) -> Any:
    """Add a condition of this family, with one co-player."""
    world = f"blocks_{family}"
    named = {"world": world, f"world__{world}__{name}": text}
    return add_condition(client, study, coplayer="blocks_planner", teammates=1, **named)


def test_an_own_blueprint_is_stored_frozen_and_exported(admin_client: Client, study: Study) -> None:
    assert add(admin_client, study, "construction", "own_blueprint", TEXT).status_code == 302
    condition = study.conditions.get(key="two")
    assert condition.settings["own_blueprint"] == TEXT
    (plan,) = current_version(study_id=study.pk).blueprint.conditions
    assert plan.settings["own_blueprint"] == TEXT
    episode = create_episode(world=condition.world, settings=condition.settings, seats=2, seed=1)
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    assert read_episode_file(export_episode(record)).episode.settings["own_blueprint"] == TEXT


@pytest.mark.parametrize(
    ("family", "name", "text", "said"),
    [*HOSTILE[:3], HOSTILE[4], HOSTILE[7], HOSTILE[8], *nightly(HOSTILE[3], *HOSTILE[5:7], *HOSTILE[9:])],
    ids=[0, 1, 2, 4, 7, 8, 3, 5, 6, 9, 10],
)
def test_a_hostile_text_is_refused_with_key_and_reason_and_nothing_is_saved(
    admin_client: Client, study: Study, family: str, name: str, text: str, said: str
) -> None:
    began = time.monotonic()
    answer = add(admin_client, study, family, name, text)
    (below_the_field,) = errors(answer)[f"world__blocks_{family}__{name}"]
    assert said in below_the_field and time.monotonic() - began < 10
    assert not study.conditions.filter(key="two").exists()
