"""Money that is set aside for an episode pays for that episode only, until the episode ends."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from kitchen.contract.language_model import BudgetSpentError
from kitchen.money.budget_ledger import (
    HELD_FOR,
    BudgetPurse,
    reserved_amount,
    set_allowance,
    spent_or_reserved,
    unspent_allowances,
)
from kitchen.money.models import Budget, EpisodeAllowance
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.models import Episode
from tests.kitchen.factories import make_episode, mind

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def budget() -> Budget:
    return Budget.objects.create(name="test", limit=Decimal(1))


def episode_with(budget: Budget, allowance: float) -> Episode:
    minds = (mind("dispatcher", 1, model="stand-in"),)
    return make_episode(seats=2, minds=minds, budget=budget, allowance=Decimal(str(allowance)))


def purse(episode: Episode) -> BudgetPurse:
    found = episode.minds.get()
    return BudgetPurse(episode.budget_id or 0, mind_id=found.pk, step=1, episode_id=episode.pk)


def test_others_cannot_spend_what_is_set_aside_for_an_episode(budget: Budget) -> None:
    episode, other = episode_with(budget, 0.6), episode_with(budget, 0.3)
    with pytest.raises(BudgetSpentError, match=r"0\.5000 USD needed, 0\.4000 USD left"):
        purse(other).reserve_now(0.5)
    with pytest.raises(BudgetSpentError):
        BudgetPurse(budget.pk).reserve_now(0.2)
    purse(episode).reserve_now(0.6)
    purse(other).reserve_now(0.4)  # its own money, and what nobody has reserved


def test_what_an_episode_spends_comes_out_of_its_allowance(budget: Budget) -> None:
    account = purse(episode_with(budget, 0.6))
    account.reserve_now(0.5)
    assert (spent_or_reserved(budget.pk), reserved_amount(budget.pk)) == (Decimal("0.6"), Decimal("0.6"))
    account.settle_now(0.5, 0.2)
    assert (spent_or_reserved(budget.pk), reserved_amount(budget.pk)) == (Decimal("0.6"), Decimal("0.4"))
    account.reserve_now(0.7)
    account.settle_now(0.7, 0.7)
    assert spent_or_reserved(budget.pk) == Decimal("0.9")
    assert unspent_allowances(budget.pk) == reserved_amount(budget.pk) == 0


def test_the_rest_of_an_allowance_is_free_after_the_end(budget: Budget) -> None:
    episode = episode_with(budget, 0.6)
    purse(episode).reserve_now(0.1)
    assert spent_or_reserved(budget.pk) == Decimal("0.6")
    end_episode(episode_id=episode.pk, reason="staff")
    assert spent_or_reserved(budget.pk) == Decimal("0.1")


def test_an_allowance_is_not_held_for_an_episode_that_everybody_has_left(budget: Budget) -> None:
    episode = episode_with(budget, 0.6)
    Episode.objects.filter(pk=episode.pk).update(
        turn_opened_at=timezone.now() - HELD_FOR - timedelta(hours=1)
    )
    assert spent_or_reserved(budget.pk) == 0


def test_no_episode_begins_without_its_whole_allowance(budget: Budget) -> None:
    first = episode_with(budget, 0.6)
    with pytest.raises(BudgetSpentError, match=r"0\.5000 USD needed, 0\.4000 USD left"):
        set_allowance(budget, make_episode(budget=budget).pk, Decimal("0.5"))
    assert EpisodeAllowance.objects.get().episode == first
