"""All money of the installation."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from kitchen.money.budget_ledger import BookedMoney, BudgetPurse, budgets_nearly_spent, total_booked
from kitchen.money.models import Budget

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def test_what_is_spent_and_set_aside_of_all_budgets() -> None:
    assert total_booked() == BookedMoney(Decimal(0), Decimal(0))
    one, two = (Budget.objects.create(name=name, limit=10) for name in ("one", "two"))
    purse = BudgetPurse(one.pk)
    purse.reserve_now(6)
    assert budgets_nearly_spent() == 0
    purse.settle_now(6, 2)
    BudgetPurse(two.pk).reserve_now(9)
    assert total_booked() == BookedMoney(Decimal(2), Decimal(9))
    assert total_booked(since=timezone.now() + timedelta(hours=1)) == BookedMoney(Decimal(0), Decimal(0))
    assert budgets_nearly_spent() == 1
