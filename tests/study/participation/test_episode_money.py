"""A round with a paid model begins only if the budget can pay for all of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction

from kitchen.contract.language_model import BudgetSpentError
from kitchen.money.models import Budget, EpisodeAllowance, Spending
from kitchen.play.models import Decision, Episode, Mind, ModelCall
from study.design.models import Condition, Study
from study.participants.models import Participant
from study.participants.next_page import ParticipantProgress
from study.participation.episode_money import MEASURED_EPISODES, episode_allowance, money_left
from study.participation.group_lobby import look_at_lobby
from study.participation.page_progress import begin_round, finish_page
from study.participation.round_planning import create_round_episode
from tests.study.factories import enter, make_shared_study, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

HAIKU = {"model": "anthropic:claude-haiku-4-5"}


def paid_study(**fields: Any) -> Study:
    study = make_study(conditions=1, **fields)
    study.conditions.update(coplayer="dispatcher", coplayer_settings=HAIKU, teammates=1)
    return study


def begin(study: Study, entry: str) -> Participant:
    person = enter(study, entry)
    finish_page(participant_id=person.pk, page="guide")
    return person


def needed(person: Participant) -> Decimal:
    return episode_allowance(person.study, person.version.blueprint.condition("c0"))


def test_the_money_for_the_whole_episode_is_set_aside_when_it_begins() -> None:
    person = begin(paid_study(), "one")
    allowance = EpisodeAllowance.objects.get()
    assert allowance.episode == person.rounds.get().episode
    assert allowance.amount == needed(person) > Decimal("0.01")
    study = Study.objects.select_related("budget").get()
    assert money_left(study) == study.budget_limit - allowance.amount


def test_nobody_begins_with_too_little_money_whether_or_not_the_study_pauses() -> None:
    study = paid_study(pauses_when_spent=False)
    first = enter(study, "first")
    study.refresh_from_db()
    study.budget_limit = needed(first) * Decimal("1.5")
    study.save()
    finish_page(participant_id=first.pk, page="guide")
    second = begin(study, "second")
    assert first.rounds.get().episode and second.rounds.get().episode is None
    assert ParticipantProgress(second).place.page == "waiting"
    assert not begin_round(participant_id=second.pk)
    with pytest.raises(BudgetSpentError), transaction.atomic():
        create_round_episode(second.rounds.get(), second)
    Episode.objects.update(status=Episode.Status.OVER)
    assert begin_round(participant_id=second.pk)


def called(model: str, dollars: list[float]) -> None:
    """Let the model's calls in the episodes so far cost this much, one amount for each. Their games are
    over."""
    budget = Budget.objects.get()
    for each, spent in zip(Mind.objects.all(), dollars, strict=True):
        made = Decision.objects.create(mind=each, step=1, played_by="dispatcher", milliseconds=1)
        counts = {f"tokens_{kind}": 1 for kind in ("input", "output", "cache_read", "cache_write")}
        facts = {"provider": "anthropic", "model_asked": model, "sampling": {}, "attempts": [], "seconds": 1}
        ModelCall.objects.create(decision=made, number=1, **facts, **counts)
        Spending.objects.create(budget=budget, mind=each, reserved=3, spent=spent)
    Episode.objects.update(status=Episode.Status.OVER, step=Condition.objects.get().settings["max_steps"])


def test_after_some_episodes_the_allowance_follows_what_they_cost() -> None:
    study = paid_study(budget_limit=1000)
    people = [begin(study, str(number)) for number in range(MEASURED_EPISODES)]
    estimated = needed(people[0])
    called("claude-haiku-4-5", [0.0, 0.025, 0.05, 0.075, 0.1])
    assert estimated < Decimal("0.15") < needed(people[0]) < Decimal("0.19")
    Episode.objects.filter(rounds__participant=people[-1]).update(status=Episode.Status.ABORTED)
    assert needed(people[0]) == estimated


def test_episodes_with_another_model_say_nothing_about_the_cost() -> None:
    study = paid_study(budget_limit=1000)
    people = [begin(study, str(number)) for number in range(MEASURED_EPISODES)]
    estimated = needed(people[0])
    called("claude-another", MEASURED_EPISODES * [0.0])
    assert needed(people[0]) == estimated


@pytest.mark.parametrize("model", ["stand-in", "anthropic:claude-without-a-price"])
def test_what_is_never_charged_needs_no_money(model: str) -> None:
    study = paid_study(budget_limit=0)
    study.conditions.update(coplayer_settings={"model": model})
    assert begin(study, "one").rounds.get().episode and not EpisodeAllowance.objects.exists()


def test_a_group_waits_in_the_lobby_while_the_money_for_those_who_came_lacks() -> None:
    study = make_shared_study(conditions=1, people=2)
    study.conditions.update(coplayer="dispatcher", coplayer_settings=HAIKU)
    one, other = begin(study, "one"), begin(study, "other")
    all_came = needed(one)
    assert look_at_lobby(participant_id=one.pk)
    Budget.objects.update(limit=all_came / 2)
    waits = look_at_lobby(participant_id=other.pk)
    assert waits and waits.present == 2 and not Episode.objects.exists()
    Budget.objects.update(limit=all_came * 2)
    assert (
        look_at_lobby(participant_id=other.pk) is None and Episode.objects.get().allowance.amount == all_came
    )
