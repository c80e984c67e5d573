"""The socket, the replayed page and the export rows of a cook without the recipe hold no word of it.

Only staff can open a replay (`tests/study/monitor/test_replay_page.py`). It shows the page that the cook saw.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import decide_answer
from kitchen.play.episode.advance_episode import run_due_step, submit_commands
from kitchen.play.live.page_session import open_page
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, Message
from kitchen.play.turn import turn_rules
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.step_replay import seat_page_after
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, CHEF, SEATS
from study.design.models import Study
from study.exports.export_files import write_study
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from tests.nightly import nightly
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db

RECIPE = re.compile(r"recipe\"|chopping board: |in the (oven|pot): ", re.IGNORECASE)
"""A step of a recipe in words, or a recipe in codes."""
RECIPE_STEP = "Cook in the pot: baked pumpkin slices"
STEPS = 2
PAIR = {"kind": "pair", "settings": {"within": True}}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_rules, "PAUSE_SECONDS", 0.0)


def begun(knowledge: str, person: int, coplayer: str, **settings: Any) -> tuple[Study, Episode]:
    """Let one person play this seat beside a program in the other one."""
    study = make_study(conditions=1)
    study.conditions.update(
        world="collab_overcooked",
        settings={"task": "baked_pumpkin_soup", "knowledge": knowledge},
        coplayer=coplayer,
        coplayer_settings=settings,
        teammates=1,
        organisation={**PAIR, "people": [person]},
    )
    participant = enter(study, "one")
    finish_page(participant_id=participant.pk, page="guide")
    return study, Episode.objects.get(rounds__participant=participant)


def play_step(episode: Episode, seat: int) -> None:
    """Have the agent say what it has to say, the person wait if it is asked, and the step run."""
    step = Episode.objects.get(pk=episode.pk).step + 1
    decide_answer(episode_id=episode.pk, step=step, mind=0)
    if current_seat_view(episode.seats.get(number=seat)).phase == "choose":
        wait = SubmittedCommand(seat, ("wait", "1"))
        assert submit_commands(episode_id=episode.pk, step=step, commands=[wait]).accepted
    decide_step(episode_id=episode.pk, step=step)
    run_due_step(episode_id=episode.pk, step=step)
    assert Episode.objects.get(pk=episode.pk).step >= step


@pytest.mark.parametrize(
    ("knowledge", "person", "knows", "as_json"),
    [
        ("chef", ASSISTANT, False, False),
        ("chef", ASSISTANT, False, True),
        ("chef", CHEF, True, False),
        ("both", ASSISTANT, True, True),
        ("assistant", CHEF, False, True),
        *nightly(
            ("both", ASSISTANT, True, False),
            ("chef", CHEF, True, True),
            ("assistant", CHEF, False, False),
        ),
    ],
)
def test_the_socket_sends_the_recipe_only_to_a_seat_that_knows_it(
    knowledge: str, person: int, knows: bool, as_json: bool
) -> None:
    """All of the fragments and states of three steps, with the requests of a chef that is an agent."""
    _, episode = begun(knowledge, person, "recipe_partner")
    page, first = open_page(
        episode.seats.get(number=person).key, "one-page", newest=True, json=as_json, language="en"
    )
    assert page is not None
    told = list(first.texts)
    for _ in range(STEPS):
        play_step(episode, person)
        told += page.look().texts
    text = "\n".join(told)
    assert len(told) > STEPS and ("Please do this" in text) is (person == ASSISTANT)
    assert bool(RECIPE.search(text)) is knows
    assert ('"steps": [["chopping_board0"' in text) is (knows and as_json)


def test_the_socket_sends_a_recipe_that_the_chef_has_said() -> None:
    _, episode = begun("chef", ASSISTANT, "recipe_partner")
    page, first = open_page(
        episode.seats.get(number=ASSISTANT).key, "one-page", newest=True, json=False, language="en"
    )
    assert page is not None and RECIPE_STEP not in "".join(first.texts)
    Message.objects.create(
        episode=episode, number=1, step=1, sender=CHEF, to=[ASSISTANT], kind="say", text=RECIPE_STEP
    )
    Episode.objects.filter(pk=episode.pk).update(messages=1)
    assert RECIPE_STEP in "".join(page.show().texts)


@pytest.mark.parametrize(("knowledge", "knowing"), [("chef", [CHEF]), *nightly(("assistant", [ASSISTANT]))])
def test_the_replay_of_a_seat_shows_the_recipe_only_if_the_seat_knew_it(
    knowledge: str, knowing: list[int], client: Client
) -> None:
    study, episode = begun(knowledge, ASSISTANT, "random")
    play_step(episode, ASSISTANT)
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    for steps in (0, len(record.steps)):
        pages = [seat_page_after(record, seat, steps) for seat in SEATS]
        shown = ["".join(map(str, page.panels.values())) for page in pages]
        assert [seat for seat in SEATS if RECIPE.search(shown[seat])] == knowing
    client.get(Participant.objects.get().get_absolute_url())  # the participant's own browser
    refused = client.get(f"/staff/{study.slug}/replay/{episode.key}/")
    assert refused.status_code == 302 and "login" in refused["Location"]


def exported(study: Study, folder: Path) -> dict[str, str]:
    """Return the text of every table of the export by its name. The file of the design is not a table."""
    write_study(study, folder)
    return {path.stem: path.read_text("utf-8") for path in folder.glob("*.csv") if path.stem != "codebook"}


@pytest.mark.parametrize("knowledge", [*nightly("chef"), "both"])
def test_rows_of_a_person_as_assistant_have_no_word_of_the_recipe(knowledge: str, tmp_path: Path) -> None:
    """Neither when only the chef knows it, nor when the person reads it on the page."""
    study, episode = begun(knowledge, ASSISTANT, "recipe_partner")
    for _ in range(STEPS):
        play_step(episode, ASSISTANT)
    tables = exported(study, tmp_path)
    for name in ("participants", "messages", "decisions", "steps"):
        assert len(list(csv.DictReader(tables[name].splitlines()))) >= 1, name
    assert not [name for name, text in tables.items() if RECIPE.search(text)]


@pytest.mark.parametrize(("knowledge", "knows"), [("chef", False), ("both", True)])
def test_exported_prompts_of_an_agent_as_assistant_have_the_recipe_only_if_it_knew_it(
    knowledge: str, knows: bool, tmp_path: Path
) -> None:
    study, episode = begun(knowledge, CHEF, "collab", model="stand-in")
    for _ in range(STEPS):
        play_step(episode, CHEF)
    tables = exported(study, tmp_path)
    assert "You are the assistant" in tables["prompts"]
    assert [name for name, text in tables.items() if RECIPE.search(text)] == ["prompts"] * knows
    assert (RECIPE_STEP in tables["prompts"]) is knows
