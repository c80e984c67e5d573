"""Who really played is named: on the researcher's pages, in the report, its files and figures."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from kitchen.contract.language_model import CallTimeoutError
from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.worlds.cuisine.dispatcher import model_exchange
from study import tasks
from study.analysis.analysis_results import analyse_present_data, coplayers_by_condition
from study.analysis.analysis_sample import Sample
from study.analysis.statistics.result_files import file_contents
from study.design.models import Study
from study.participants.models import Participant
from study.participation.page_progress import answers_submit, finish_page
from tests.conftest import Once
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import MODEL, Scripted
from tests.study.factories import SETTINGS, enter, make_study

pytestmark = pytest.mark.django_db

STEPS = 3
STAND_IN = "stand-in (no language model)"


def designed(slug: str = "small") -> Study:
    """A study alone, beside the stand-in, and beside a model."""
    found = make_study(slug, conditions=3, items=1, steps=1)
    for key, model in (("c1", "stand-in"), ("c2", MODEL)):
        chosen = {"model": model, "demonstration": "none"}
        found.conditions.filter(key=key).update(
            coplayer="dispatcher", coplayer_settings=chosen, teammates=1, settings=SETTINGS
        )
    return found


@pytest.fixture(scope="module")
def played(once: Once) -> int:
    """A study that one person went through; its pk. The model answers once and is silent from then on."""
    scripted, opened = Scripted("noop_agent1", CallTimeoutError("silence")), model_exchange.open_model
    with once(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            model_exchange,
            "open_model",
            lambda name, *more: opened(name, *more) if name == "stand-in" else scripted,
        )
        found = designed()
        play(found)
    return found.pk


@pytest.fixture
def study(played: int) -> Study:
    return Study.objects.get(pk=played)


def play(study: Study) -> Participant:
    participant = enter(study, study.slug)
    finish_page(participant_id=participant.pk, page="guide")
    for position in range(1, study.conditions.count() + 1):
        episode = Episode.objects.get(rounds__participant=participant, rounds__position=position)
        for step in range(1, STEPS + 1):
            order = SubmittedCommand(0, ("noop",))
            submit_commands(episode_id=episode.pk, step=step, commands=[order])
            agent_decisions.decide_step(episode_id=episode.pk, step=step)
        values = {item.key: 3 for item in study.items.all()}
        answers_submit(participant_id=participant.pk, page="survey", position=position, values=values)
    return participant


def files_with_one_figure(study: Study) -> dict[str, bytes]:
    """The files of the study's analysis. Only the figures of the survey's item are drawn."""
    analysis = analyse_present_data(study, "people")
    item = replace(analysis, measures=(analysis.measure("i0"),))
    return dict(file_contents(item))


@pytest.mark.servers
def test_models_are_named_as_asked_and_as_the_api_named_them_and_fallbacks_are_counted(study: Study) -> None:
    alone, stand_in, model = coplayers_by_condition(study)
    assert (alone.kind_words, alone.model_words, alone.fallback_words) == ("nobody", "–", "–")  # noqa: RUF001
    assert stand_in.model_words == f"{STAND_IN} (3 calls)"
    assert (stand_in.chosen_words, stand_in.fallback_words) == (f"{STAND_IN} 3", "none of 3 decisions")
    assert "anthropic claude-haiku-4-5, answered as claude-haiku-4-5-x (1 call)" in model.model_words
    assert "anthropic claude-haiku-4-5, never answered (2 calls)" in model.model_words
    assert model.chosen_words == "planner 2, dispatcher 1"
    assert model.fallback_words == "2 of 3 decisions: no answer in time 2"


def test_before_anybody_has_played_the_co_player_that_is_set_up_is_named() -> None:
    study = designed("new")
    assert [found.kind_words for found in coplayers_by_condition(study)] == [
        "nobody",
        "dispatcher",
        "dispatcher",
    ]
    assert {found.fallback_words for found in coplayers_by_condition(study)} == {"–"}  # noqa: RUF001


def test_the_studys_page_names_who_played(study: Study, admin_client: Client) -> None:
    page = admin_client.get("/staff/small/").content.decode()
    assert f"<td>{STAND_IN} 3</td>" in page
    assert "answered as claude-haiku-4-5-x (1 call)" in page
    assert "<strong>2 of 3 decisions: no answer in time 2</strong>" in page


@pytest.mark.usefixtures("blank_drawings")
def test_the_analysis_page_names_who_played_in_the_data_that_it_shows(
    study: Study, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("study.analysis.analysis_results.ask_analysis", lambda *what: asked.append(what))
    admin_client.get("/staff/small/analysis/")
    tasks.compute_analysis(*asked.pop())
    page = admin_client.get("/staff/small/analysis/").content.decode()
    assert "answered as claude-haiku-4-5-x (1 call)" in page
    assert "2 of 3 decisions: no answer in time 2" in page


@pytest.mark.servers
def test_report_tables_and_figures_name_who_played(study: Study) -> None:
    files = files_with_one_figure(study)
    report, figure = files["report.md"].decode(), files["figure_i0.svg"].decode()
    assert f"{STAND_IN} (3 calls)" in report
    assert "2 of 3 decisions: no answer in time 2" in report
    assert "67%" in figure
    assert "fallbacks 2 of 3 decisions" in figure
    rows = list(csv.DictReader(io.StringIO(files["players.csv"].decode(), newline="")))
    assert [row["condition"] for row in rows] == ["c0", "c1", "c2", "c2"]
    assert rows[1]["provider"] == "stand-in"
    assert {(row["model_asked"], row["fallbacks_why"]) for row in rows[2:]} == {
        ("claude-haiku-4-5", "timeout 2")
    }
    whole = json.loads(files["analysis.json"])
    assert whole["players"][2]["fallbacks"] == [["timeout", 2]]


def test_replies_that_were_not_read_are_told_with_a_warning(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = designed("unread")
    scripted = Scripted("noop_agent1", "I am a teapot.", "goto_agent1_moon0")
    monkeypatch.setattr(model_exchange, "open_model", lambda *_: scripted)
    study.conditions.filter(key="c1").delete()
    play(study)
    alone, model = coplayers_by_condition(study)
    told = "2 of 3 decisions read whole, 0 in part, 1 not at all; 1 of 3 commands invalid"
    warning = "33% of the decisions were not read whole and 33% of the commands were invalid"
    assert (alone.read_words, model.read_words) == ("–", told)  # noqa: RUF001
    assert model.short.endswith("; 33% of decisions not read whole, 33% of commands invalid")
    page = admin_client.get("/staff/unread/").content.decode()
    assert f"<strong>{told}</strong>" in page and warning in page
    files = files_with_one_figure(study)
    assert told in files["report.md"].decode() and warning in files["report.md"].decode()
    assert told in files["figure_i0.svg"].decode()
    row = list(csv.DictReader(io.StringIO(files["players.csv"].decode(), newline="")))[1]
    assert (row["read_whole"], row["read_not_at_all"], row["commands_invalid"]) == ("2", "1", "1")


def test_what_was_read_whole_is_told_without_a_warning(study: Study) -> None:
    stand_in = coplayers_by_condition(study)[1]
    assert stand_in.read_words == "3 of 3 decisions read whole; 0 of 3 commands invalid"
    assert "%" not in stand_in.short


def test_those_who_did_not_complete_are_not_in_the_analysis() -> None:
    study = designed("left")
    finish_page(participant_id=enter(study, "a drop-out").pk, page="guide")
    assert sum(found.decisions for found in coplayers_by_condition(study, Sample(study, who="people"))) == 0
