"""Money: what a budget allows, set aside before each call of a model and booked after it.

The ledger is a row per call. A row that was never settled (its worker died in mid-call) goes on counting with
what was set aside: the server may have billed the call.
"""

from __future__ import annotations

from decimal import ROUND_UP, Decimal
from threading import Lock

from django.db import transaction
from django.db.models import DecimalField, Max, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from kitchen.contract.model import BudgetSpentError
from kitchen.llm.money import dollars
from kitchen.money.models import Budget, Spending

SMALLEST = Decimal("0.000001")
"""Money is kept in millionths of a US dollar, rounded up."""

MOST = Decimal("999999.999999")
"""What a column of money holds."""


def booked(budget_id: int) -> Decimal:
    """What a budget has spent and set aside, in US dollars."""
    amount = Coalesce("spent", "reserved", output_field=DecimalField())
    total = Spending.objects.filter(budget=budget_id).aggregate(total=Sum(amount))["total"]
    return total or Decimal(0)


def set_aside(budget_id: int) -> Decimal:
    """What a budget has set aside for calls whose cost is not booked yet, in US dollars."""
    rows = Spending.objects.filter(budget=budget_id, spent=None)
    return rows.aggregate(total=Sum("reserved"))["total"] or Decimal(0)


def is_spent(budget: Budget) -> bool:
    """Whether what is left does not suffice for another call as dear as the dearest so far was at worst;
    before any call is in the ledger, whether one was refused."""
    dearest = Spending.objects.filter(budget=budget).aggregate(most=Max("reserved"))["most"]
    if dearest is None:
        return budget.episodes.filter(minds__decisions__fallback=BudgetSpentError.code).exists()
    return bool(budget.limit - booked(budget.pk) < dearest)


def money(amount: float) -> Decimal:
    """An amount as it is kept: never more than a column holds."""
    return min(Decimal(repr(amount)), MOST).quantize(SMALLEST, rounding=ROUND_UP)


class BudgetPurse:
    """The `Purse` of one budget, for one decision: of this mind for this step, where it is one of an episode.
    Safe from several threads and workers at once."""

    def __init__(self, budget_id: int, *, mind_id: int | None = None, step: int | None = None) -> None:
        self.budget_id, self.mind_id, self.step = budget_id, mind_id, step
        self._lock = Lock()
        self._open: list[tuple[float, int]] = []

    def reserve(self, amount: float) -> None:
        """Set money aside for one call; BudgetSpentError, and nothing changed, if it does not suffice.

        A call that costs nothing is not in the ledger.
        """
        if not amount:
            return
        with transaction.atomic():
            budget = Budget.objects.select_for_update().get(pk=self.budget_id)
            left = budget.limit - booked(budget.pk)
            if max(Decimal(repr(amount)), money(amount)) > left:
                raise BudgetSpentError(
                    f"{dollars(money(amount))} needed, {dollars(max(left, Decimal(0)))} left"
                )
            what_for = {"mind_id": self.mind_id, "step": self.step}
            row = Spending.objects.create(budget=budget, reserved=money(amount), **what_for)
        with self._lock:
            self._open.append((amount, row.pk))

    def settle(self, reserved: float, spent: float) -> None:
        """Book what was spent in the place of what was set aside; LookupError if nothing was."""
        if not reserved:
            return
        Spending.objects.filter(pk=self._take(reserved)).update(spent=money(spent), settled_at=timezone.now())

    def _take(self, reserved: float) -> int:
        with self._lock:
            for index, (amount, pk) in enumerate(self._open):
                if amount == reserved:
                    del self._open[index]
                    return pk
        raise LookupError(f"nothing of {dollars(reserved)} is set aside")
