"""A round with a paid model begins only if the budget can pay for all of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction

from kitchen.contract.language_model import BudgetSpentError
from kitchen.money.budget_ledger import spent_or_reserved
from kitchen.money.models import Budget, EpisodeAllowance, Spending
from kitchen.play.models import Episode, Mind
from study.design.models import Study
from study.participants.models import Participant
from study.participants.next_page import ParticipantProgress
from study.participation.episode_money import MEASURED_EPISODES, episode_allowance, money_left
from study.participation.page_progress import begin_round, finish_page
from study.participation.round_planning import create_round_episode
from tests.study.factories import enter, make_study

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


def test_after_some_episodes_the_allowance_follows_what_they_cost() -> None:
    study = paid_study(budget_limit=1000)
    people = [begin(study, str(number)) for number in range(MEASURED_EPISODES)]
    estimated = needed(people[0])
    budget = Budget.objects.get()
    for number, each in enumerate(Mind.objects.all()):
        Spending.objects.create(budget=budget, mind=each, reserved=3, spent=Decimal(number) / 40)
    Episode.objects.exclude(rounds__participant=people[-1]).update(status=Episode.Status.OVER)
    assert needed(people[0]) == estimated
    Episode.objects.update(status=Episode.Status.OVER)
    assert estimated < Decimal("0.15") < needed(people[0]) < Decimal("0.19")
    assert spent_or_reserved(budget.pk) == Decimal("0.25")


@pytest.mark.parametrize("model", ["stand-in", "anthropic:claude-without-a-price"])
def test_what_is_never_charged_needs_no_money(model: str) -> None:
    study = paid_study(budget_limit=0)
    study.conditions.update(coplayer_settings={"model": model})
    assert begin(study, "one").rounds.get().episode and not EpisodeAllowance.objects.exists()
