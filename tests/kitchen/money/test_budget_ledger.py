"""Money is set aside before a call and booked after it, and never more than the budget."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kitchen.contract.language_model import BudgetSpentError
from kitchen.infra.event_loop import run_in_loop
from kitchen.money.budget_ledger import LARGEST_AMOUNT, BudgetPurse, ledger_amount, spent_or_reserved
from kitchen.money.models import Budget, Spending

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def budget() -> Budget:
    return Budget.objects.create(name="test", limit=Decimal(1))


def test_what_is_set_aside_counts_until_it_is_settled(budget: Budget) -> None:
    purse = BudgetPurse(budget.pk)
    purse.reserve_now(0.7)
    assert spent_or_reserved(budget.pk) == ledger_amount(0.7)
    with pytest.raises(BudgetSpentError):
        BudgetPurse(budget.pk).reserve_now(0.4)
    purse.settle_now(0.7, 0.1)
    assert spent_or_reserved(budget.pk) == ledger_amount(0.1)
    BudgetPurse(budget.pk).reserve_now(0.4)


@pytest.mark.django_db(transaction=True)
def test_a_decision_in_an_event_loop_reserves_and_books(budget: Budget) -> None:
    async def pays() -> None:
        purse = BudgetPurse(budget.pk)
        await purse.reserve(0.7)
        with pytest.raises(BudgetSpentError):
            await BudgetPurse(budget.pk).reserve(0.4)
        await purse.settle(0.7, 0.1)

    run_in_loop(pays())
    assert spent_or_reserved(budget.pk) == ledger_amount(0.1)


def test_the_last_cent_can_be_spent_and_no_more(budget: Budget) -> None:
    purse = BudgetPurse(budget.pk)
    purse.reserve_now(1.0)
    with pytest.raises(BudgetSpentError, match=r"0.000001 USD needed, 0.* USD left"):
        purse.reserve_now(0.000001)
    assert Spending.objects.count() == 1


def test_a_call_whose_worker_died_goes_on_counting(budget: Budget) -> None:
    BudgetPurse(budget.pk).reserve_now(0.9)
    with pytest.raises(BudgetSpentError):
        BudgetPurse(budget.pk).reserve_now(0.2)


def test_what_costs_nothing_is_not_in_the_ledger(budget: Budget) -> None:
    Budget.objects.update(limit=0)
    purse = BudgetPurse(budget.pk)
    purse.reserve_now(0.0)
    purse.settle_now(0.0, 0.0)
    assert not Spending.objects.exists()


def test_no_amount_is_too_large_to_be_kept(budget: Budget) -> None:
    purse = BudgetPurse(budget.pk)
    purse.reserve_now(0.5)
    purse.settle_now(0.5, 1e24)
    assert spent_or_reserved(budget.pk) == LARGEST_AMOUNT
    Budget.objects.update(limit=LARGEST_AMOUNT)
    with pytest.raises(BudgetSpentError):
        purse.reserve_now(1e24)


def test_settling_what_was_not_set_aside_is_an_error(budget: Budget) -> None:
    with pytest.raises(LookupError):
        BudgetPurse(budget.pk).settle_now(0.5, 0.5)


def test_a_limit_that_is_lowered_holds_from_the_next_call_on(budget: Budget) -> None:
    purse = BudgetPurse(budget.pk)
    purse.reserve_now(0.5)
    Budget.objects.update(limit=Decimal("0.6"))
    with pytest.raises(BudgetSpentError):
        purse.reserve_now(0.2)
