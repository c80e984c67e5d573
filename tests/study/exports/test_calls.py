"""What models were asked is kept once, exported, and erased with its person."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.agent import Situation
from kitchen.contract.language_model import Attempt, Call, Reply, Request
from kitchen.money.budget_ledger import BudgetPurse, spent_or_reserved
from kitchen.money.models import Budget, Spending
from kitchen.play.coplayers import agent_decisions
from kitchen.play.coplayers.agent_situations import MindOutcome
from kitchen.play.episode.advance_episode import run_due_step, submit_commands
from kitchen.play.models import CallMessage, Decision, Episode, ModelCall, Prompt
from kitchen.play.turn.submitted_commands import SubmittedCommand, SubmittedDecision
from study.design.models import Condition, Study
from study.exports.export_registry import get_table
from study.exports.export_table import ExportSelection
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from tests.study.exports.rows import csv_rows, rows_of
from tests.study.factories import SETTINGS, enter, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    found = make_study(conditions=1)
    Condition.objects.update(
        settings={**SETTINGS, "max_steps": 4},
        coplayer="dispatcher",
        coplayer_settings={"model": "stand-in"},
        teammates=1,
    )
    return found


def play(study: Study, entry: str, *, synthetic: bool = False) -> Participant:
    participant = enter(study, entry, synthetic=synthetic)
    finish_page(participant_id=participant.pk, page="guide")
    episode = Episode.objects.get(rounds__participant=participant)
    for step in range(1, 5):
        order = SubmittedCommand(0, ("noop",))
        submit_commands(episode_id=episode.pk, step=step, commands=[order])
        agent_decisions.decide_step(episode_id=episode.pk, step=step)
    return participant


def test_every_decision_keeps_its_call_and_the_recipes_are_stored_once(study: Study) -> None:
    play(study, "one")
    assert Decision.objects.count() == ModelCall.objects.count() == 4
    assert set(ModelCall.objects.values_list("provider", flat=True)) == {"stand-in"}
    assert set(Decision.objects.values_list("played_by", flat=True)) == {"stand-in"}
    fixed = CallMessage.objects.filter(position=0)
    assert fixed.count() == 4
    assert fixed.values("prompt").distinct().count() == 1
    assert all(call.reply for call in ModelCall.objects.all())


@pytest.mark.servers
def test_the_export_has_decisions_with_their_prompts(study: Study) -> None:
    play(study, "one")
    rows = csv_rows(study, "decisions")
    prompts = {row["prompt"]: json.loads(row["content"]) for row in csv_rows(study, "prompts")}
    assert len(rows) == 4
    for row in rows:
        assert row["provider"] == row["played_by"] == "stand-in"
        assert set(row["prompts"].split()) <= prompts.keys()
        assert json.loads(row["reply"])


def test_how_replies_were_read_stands_in_columns_behind_the_others(study: Study) -> None:
    nonsense = {"model": "stand-in", "demonstration": "none", "stand_in_nonsense": 1.0}
    Condition.objects.update(coplayer_settings=nonsense)
    play(study, "one")
    for name, told in (("decisions", ["none", 1, 1, 0, 0]), ("episodes", [0, 0, 4, 4, 0, 0])):
        table = get_table(name)
        names = [column.name for column in table.columns_of(study)]
        end = names.index("commands_invalid") + 1
        assert {tuple(row[end - len(told) : end]) for row in rows_of(table, study)} == {tuple(told)}
        assert names[end - 2] == "commands_invalid_before"


def test_reasoning_and_parameters_of_a_model_are_exported(study: Study) -> None:
    participant = enter(study, "one")
    finish_page(participant_id=participant.pk, page="guide")
    episode = Episode.objects.get()
    row = Decision(mind=episode.minds.get(), step=1, played_by="dispatcher", milliseconds=1)
    tried = Attempt(
        "ok", 1.0, began="2026-11-22T12:00:00.000Z", ended="2026-11-22T12:00:01.000Z", request_id="r"
    )
    answer = Reply("noop_agent1", reasoning="First rice.\x00")
    sent = {"max_tokens": 9, "thinking": {"type": "adaptive"}}
    call = Call("p", Request("m", []), answer, attempts=(tried,), parameters=sent)
    orders = [SubmittedCommand(seat, ("noop",)) for seat in (0, 1)]
    submit_commands(
        episode_id=episode.pk, step=1, commands=orders, decisions=[SubmittedDecision(row, (call,))]
    )
    decisions = get_table("decisions")
    names = [column.name for column in decisions.columns]
    (found,) = rows_of(decisions, study)
    assert found[names.index("reasoning")] == "First rice."
    assert json.loads(found[names.index("parameters")]) == sent
    asked = {name: found[names.index(name)] for name in ("decision", "seen_step", "because", "dropped")}
    assert asked == {"decision": 1, "seen_step": None, "because": None, "dropped": None}
    (attempt,) = json.loads(found[names.index("attempts")])
    assert (attempt["began"], attempt["ended"], attempt["request_id"]) == (tried.began, tried.ended, "r")


def test_decisions_are_marked_and_prompts_say_in_whose_episodes_they_were_sent(study: Study) -> None:
    one, program = play(study, "one"), play(study, "two", synthetic=True)
    play(study, "three")
    Participant.objects.filter(pk=one.pk).update(excluded_at=timezone.now())
    decisions = get_table("decisions")
    names = [column.name for column in decisions.columns]
    marks = {row[0]: (row[1], row[names.index("excluded")]) for row in rows_of(decisions, study)}
    assert (marks[one.code], marks[program.code]) == ((False, True), (True, False))
    recipes = CallMessage.objects.filter(position=0).values_list("prompt_id", flat=True)[0]
    used = {row[0]: row[2:] for row in rows_of(get_table("prompts"), study)}
    assert used[recipes] == (2, 1, 0, 1)
    assert all(sum(kinds[:3]) > 0 for kinds in used.values())
    people = {
        row[0]: row[2:]
        for row in rows_of(get_table("prompts"), study, ExportSelection.without(["synthetic"]))
    }
    assert people[recipes] == (2, 0, 0, 1)


@pytest.mark.servers
def test_withdrawing_erases_calls_and_prompts_that_nobody_else_needs(study: Study) -> None:
    gone, stays = play(study, "gone"), play(study, "stays")
    before = Prompt.objects.count()
    participant_withdraw(participant_id=gone.pk)
    assert ModelCall.objects.count() == 4
    assert 0 < Prompt.objects.count() <= before
    used = set(CallMessage.objects.values_list("prompt", flat=True))
    assert set(Prompt.objects.values_list("pk", flat=True)) == used
    participant_withdraw(participant_id=stays.pk)
    assert not Prompt.objects.exists()


def pay(kind: str, settings: dict[str, Any], situation: Situation, late: object) -> MindOutcome:
    """Pay for a call in each step, and die in mid-call in the second."""
    assert isinstance(situation.limits.purse, BudgetPurse)
    situation.limits.purse.reserve_now(0.25)
    if situation.step != 1:
        situation.limits.purse.settle_now(0.25, 0.125)
    return MindOutcome(MindDecision({}))


def test_the_ledger_says_what_each_call_was_for_and_of_nobody_who_left(
    study: Study, monkeypatch: pytest.MonkeyPatch, admin_client: Client
) -> None:
    monkeypatch.setattr(agent_decisions, "ask_mind", pay)
    gone, stays = play(study, "gone"), play(study, "stays")
    episode = Episode.objects.get(rounds__participant=stays)
    rows = Spending.objects.filter(mind__episode=episode).order_by("step")
    assert list(rows.values_list("step", "spent")) == [(1, 0.125), (2, None), (3, 0.125), (4, 0.125)]
    page = admin_client.get(f"/admin/kitchen/episode/{episode.pk}/change/").content.decode()
    assert page.count("Ledger: 1 call<") == 4 and page.count("0.2500 USD reserved, never booked") == 1
    before = spent_or_reserved(Budget.objects.get().pk)
    participant_withdraw(participant_id=gone.pk)
    assert Spending.objects.count() == 8 and Spending.objects.filter(mind=None).count() == 4
    assert rows.count() == 4
    assert spent_or_reserved(Budget.objects.get().pk) == before


@pytest.mark.servers
def test_a_study_has_one_budget_and_a_changed_limit_reaches_it(study: Study) -> None:
    play(study, "one")
    play(study, "two")
    assert Budget.objects.count() == 1
    study.refresh_from_db()
    study.budget_limit = 3
    study.save()
    assert Budget.objects.get().limit == 3
    assert set(Episode.objects.values_list("budget", flat=True)) == {study.budget_id}


def test_settings_of_another_kind_of_number_are_forecast_and_played(
    study: Study, admin_client: Client
) -> None:
    condition = Condition.objects.get()
    condition.coplayer_settings = {"model": "anthropic:claude-haiku-4-5", "memory": 5.0, "repair": "1"}
    condition.full_clean()
    condition.save()
    assert admin_client.get(f"/staff/{study.slug}/").status_code == 200
    condition.coplayer_settings["model"] = "stand-in"
    condition.save()
    play(study, "one")
    assert set(Decision.objects.values_list("fallback", flat=True)) == {""}


def test_everybody_takes_the_studys_thinking_time(study: Study) -> None:
    Study.objects.update(thinking_seconds=20)
    participant = enter(study, "one")
    finish_page(participant_id=participant.pk, page="guide")
    episode = Episode.objects.get()
    submit_commands(episode_id=episode.pk, step=1, commands=[SubmittedCommand(0, ("noop",))])
    agent_decisions.decide_step(episode_id=episode.pk, step=1)
    assert Decision.objects.count() == 1
    assert not run_due_step(episode_id=episode.pk, step=1)
    Episode.objects.update(thinking_seconds=0)
    assert run_due_step(episode_id=episode.pk, step=1)
