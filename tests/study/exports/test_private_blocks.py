"""A seat's page, socket and JSON, and exported prompts of an agent, hold nothing that only others know."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.advance_episode import run_due_step, submit_commands
from kitchen.play.live.page_session import OpenPage, open_page
from kitchen.play.models import Decision, Episode
from kitchen.play.turn import turn_rules
from kitchen.play.turn.submitted_commands import SubmittedCommand
from study.design.models import Condition, Study
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.participation.page_progress import finish_page
from tests.kitchen.worlds.blocks.test_private_knowledge import own_task
from tests.study.factories import enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_rules, "PAUSE_SECONDS", 0.0)


def begun(*blocked: int, coplayer: str, **settings: Any) -> tuple[Study, Episode]:
    """A person in seat 0 beside a program in seat 1. These seats are without the plan."""
    study = make_study(conditions=1)
    Condition.objects.update(
        world="blocks_crafting",
        settings=own_task(*blocked),
        coplayer=coplayer,
        coplayer_settings=settings,
        teammates=1,
    )
    participant = enter(study, "one")
    finish_page(participant_id=participant.pk, page="guide")
    return study, Episode.objects.get(rounds__participant=participant)


def opened(episode: Episode, *, json: bool) -> tuple[OpenPage, list[str]]:
    page, answer = open_page(
        episode.seats.get(number=0).key, "one-page", newest=True, json=json, language="en"
    )
    assert page is not None
    return page, list(answer.texts)


def play(episode: Episode, words: str) -> None:
    """One command of the person, and the decisions that it needs."""
    episode.refresh_from_db()
    step = episode.step + 1
    order = SubmittedCommand(0, tuple(words.split()))
    assert submit_commands(episode_id=episode.pk, step=step, commands=[order]).accepted
    decide_step(episode_id=episode.pk, step=step)
    run_due_step(episode_id=episode.pk, step=step)


@pytest.mark.parametrize("json", [False, True])
def test_a_page_has_neither_the_other_s_things_nor_a_hidden_plan(json: bool) -> None:
    """In HTML as in JSON, at first and in later steps. The other one gives nothing."""
    _, episode = begun(0, coplayer="follower")
    page, told = opened(episode, json=json)
    for words in ("stay 1", "stay 1"):
        play(episode, words)
        told += page.look().texts
    assert Episode.objects.get().step >= 2 and len(told) >= 3
    text = "\n".join(told)
    assert "obsidian" in text and "allium" not in text and "The plan" not in text and '"plan"' not in text


def test_the_exported_prompts_of_an_agent_have_what_its_seat_knew() -> None:
    study, episode = begun(1, coplayer="proagent", model="stand-in")
    play(episode, "discard obsidian 1")
    play(episode, "stay 1")
    assert Decision.objects.exists()
    prompts, decisions = (
        b"".join(csv_pieces(get_table(name), study)).decode() for name in ("prompts", "decisions")
    )
    assert "allium" in prompts and "obsidian" not in prompts and "obsidian" not in decisions
    assert len(list(csv.DictReader(decisions.splitlines()))) >= 1
