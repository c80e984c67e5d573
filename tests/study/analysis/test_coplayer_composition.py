"""Who really played is named: on the researcher's pages, in the report, its files and figures."""

from __future__ import annotations

import csv
import io
import json
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
from study.design.models import Condition, Study
from study.participants.models import Participant
from study.participation.page_progress import answers_submit, finish_page
from tests.kitchen.worlds.cuisine.dispatcher.dispatching import MODEL, Scripted
from tests.study.factories import SETTINGS, enter, make_study

pytestmark = pytest.mark.django_db

STEPS = 3
STAND_IN = "stand-in (no language model)"


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """Alone, beside the stand-in, beside a model that answers once and is silent from then on."""
    found = make_study(conditions=3, items=1, steps=1)
    for key, model in (("c1", "stand-in"), ("c2", MODEL)):
        chosen = {"model": model, "demonstration": "none"}
        Condition.objects.filter(key=key).update(
            coplayer="dispatcher", coplayer_settings=chosen, teammates=1, settings=SETTINGS
        )
    scripted, opened = Scripted("noop_agent1", CallTimeoutError("silence")), model_exchange.open_model
    monkeypatch.setattr(
        model_exchange,
        "open_model",
        lambda name, *more: opened(name, *more) if name == "stand-in" else scripted,
    )
    return found


def play(study: Study) -> Participant:
    participant = enter(study)
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


@pytest.mark.servers
def test_models_are_named_as_asked_and_as_the_api_named_them_and_fallbacks_are_counted(study: Study) -> None:
    play(study)
    alone, stand_in, model = coplayers_by_condition(study)
    assert (alone.kind_words, alone.model_words, alone.fallback_words) == ("nobody", "–", "–")  # noqa: RUF001
    assert stand_in.model_words == f"{STAND_IN} (3 calls)"
    assert (stand_in.chosen_words, stand_in.fallback_words) == (f"{STAND_IN} 3", "none of 3 decisions")
    assert "anthropic claude-haiku-4-5, answered as claude-haiku-4-5-x (1 call)" in model.model_words
    assert "anthropic claude-haiku-4-5, never answered (2 calls)" in model.model_words
    assert model.chosen_words == "planner 2, dispatcher 1"
    assert model.fallback_words == "2 of 3 decisions: no answer in time 2"


def test_before_anybody_has_played_the_co_player_that_is_set_up_is_named(study: Study) -> None:
    assert [found.kind_words for found in coplayers_by_condition(study)] == [
        "nobody",
        "dispatcher",
        "dispatcher",
    ]
    assert {found.fallback_words for found in coplayers_by_condition(study)} == {"–"}  # noqa: RUF001


def test_the_studys_page_names_who_played(study: Study, admin_client: Client) -> None:
    play(study)
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
    play(study)
    admin_client.get("/staff/small/analysis/")
    tasks.compute_analysis(*asked.pop())
    page = admin_client.get("/staff/small/analysis/").content.decode()
    assert "answered as claude-haiku-4-5-x (1 call)" in page
    assert "2 of 3 decisions: no answer in time 2" in page


@pytest.mark.servers
def test_report_tables_and_figures_name_who_played(study: Study) -> None:
    play(study)
    files = dict(file_contents(analyse_present_data(study, "people")))
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
    study: Study, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = Scripted("noop_agent1", "I am a teapot.", "goto_agent1_moon0")
    monkeypatch.setattr(model_exchange, "open_model", lambda *_: scripted)
    Condition.objects.filter(key="c1").delete()
    play(study)
    alone, model = coplayers_by_condition(study)
    told = "2 of 3 decisions read whole, 0 in part, 1 not at all; 1 of 3 commands invalid"
    warning = "33% of the decisions were not read whole and 33% of the commands were invalid"
    assert (alone.read_words, model.read_words) == ("–", told)  # noqa: RUF001
    assert model.short.endswith("; 33% of decisions not read whole, 33% of commands invalid")
    page = admin_client.get("/staff/small/").content.decode()
    assert f"<strong>{told}</strong>" in page and warning in page
    files = dict(file_contents(analyse_present_data(study, "people")))
    assert told in files["report.md"].decode() and warning in files["report.md"].decode()
    assert told in files["figure_i0.svg"].decode()
    row = list(csv.DictReader(io.StringIO(files["players.csv"].decode(), newline="")))[1]
    assert (row["read_whole"], row["read_not_at_all"], row["commands_invalid"]) == ("2", "1", "1")


def test_what_was_read_whole_is_told_without_a_warning(study: Study) -> None:
    play(study)
    stand_in = coplayers_by_condition(study)[1]
    assert stand_in.read_words == "3 of 3 decisions read whole; 0 of 3 commands invalid"
    assert "%" not in stand_in.short


def test_those_who_did_not_complete_are_not_in_the_analysis(study: Study) -> None:
    finish_page(participant_id=enter(study, "a drop-out").pk, page="guide")
    assert sum(found.decisions for found in coplayers_by_condition(study, Sample(study, who="people"))) == 0
