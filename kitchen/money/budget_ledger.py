"""Reserve money from a budget before each call of a language model, and record the actual cost afterwards.

The ledger has one row per call. If a worker dies during a call, the reserved amount still counts as spent.
The provider may have charged it. An episode can have an allowance: money that is set aside before it opens,
so that other episodes cannot spend it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal
from threading import Lock

from django.db import transaction
from django.db.models import DecimalField, F, Max, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from kitchen.contract.language_model import BudgetSpentError
from kitchen.infra.db_retry import run_once_in_db_thread
from kitchen.llm.call_costs import format_dollars
from kitchen.money.models import Budget, EpisodeAllowance, Spending

SMALLEST_AMOUNT = Decimal("0.000001")
"""Smallest unit in US dollars. Amounts are rounded up to it."""

LARGEST_AMOUNT = Decimal("999999.999999")
"""Largest amount that a database column holds, in US dollars."""


HELD_FOR = timedelta(hours=24)
"""Time after the last step for which an episode's allowance is held."""

PLAYING = "playing"
"""The status (`Episode.Status`) of an episode that has not ended."""

_BOOKED = Coalesce("spent", "reserved", output_field=DecimalField())
_CALLS = "episode__minds__spendings"


def spent_or_reserved(budget_id: int) -> Decimal:
    """Return how much of a budget is spent or reserved, in US dollars. Unspent allowances of the episodes
    that are played now are reserved, too."""
    return booked_amount(budget_id) + unspent_allowances(budget_id)


def booked_amount(budget_id: int) -> Decimal:
    """Return how much of a budget is spent or reserved for calls, in US dollars, without allowances."""
    total = Spending.objects.filter(budget=budget_id).aggregate(total=Sum(_BOOKED))["total"]
    return total or Decimal(0)


def reserved_amount(budget_id: int) -> Decimal:
    """Return how much of a budget is reserved, in US dollars: for calls whose actual cost is not recorded
    yet, and as unspent allowances."""
    rows = Spending.objects.filter(budget=budget_id, spent=None)
    return (rows.aggregate(total=Sum("reserved"))["total"] or Decimal(0)) + unspent_allowances(budget_id)


def unspent_allowances(budget_id: int, *, but: int | None = None) -> Decimal:
    """Return the unspent part of the allowances of episodes that are played now, in US dollars. The episode
    `but` is left out, and those in which nothing has happened for HELD_FOR."""
    since = timezone.now() - HELD_FOR
    playing = EpisodeAllowance.objects.filter(
        budget=budget_id, episode__status=PLAYING, episode__turn_opened_at__gte=since
    ).exclude(episode=but)
    rows = playing.annotate(booked=Sum(Coalesce(f"{_CALLS}__spent", f"{_CALLS}__reserved")))
    pairs = rows.values_list("amount", "booked")
    return sum((max(amount - (booked or 0), Decimal(0)) for amount, booked in pairs), Decimal(0))


def set_allowance(budget: Budget, episode_id: int, amount: Decimal) -> None:
    """Set this amount, in US dollars, aside for an episode. Raises BudgetSpentError if the budget has too
    little left.

    Call this inside a transaction.
    """
    left = Budget.objects.select_for_update().get(pk=budget.pk).limit - spent_or_reserved(budget.pk)
    if amount > left:
        raise _too_little(amount, left)
    EpisodeAllowance.objects.create(budget=budget, episode_id=episode_id, amount=amount)


def _too_little(needed: Decimal, left: Decimal) -> BudgetSpentError:
    return BudgetSpentError(f"{format_dollars(needed)} needed, {format_dollars(max(left, Decimal(0)))} left")


def is_exhausted(budget: Budget) -> bool:
    """Return whether the budget is nearly spent: the rest is smaller than the largest amount ever reserved
    for a call.

    If nothing was ever reserved, the budget counts as exhausted once a call was refused.
    """
    dearest = Spending.objects.filter(budget=budget).aggregate(most=Max("reserved"))["most"]
    if dearest is None:
        return budget.episodes.filter(minds__decisions__fallback=BudgetSpentError.code).exists()
    return bool(budget.limit - booked_amount(budget.pk) < dearest)


def ledger_amount(amount: float) -> Decimal:
    """Convert an amount in US dollars for storage: rounded up to `SMALLEST_AMOUNT`, and at most
    `LARGEST_AMOUNT`."""
    return min(Decimal(repr(amount)), LARGEST_AMOUNT).quantize(SMALLEST_AMOUNT, rounding=ROUND_UP)


class BudgetPurse:
    """Pays the model calls of one decision from a budget. Several threads and workers can use it at the
    same time. `mind_id` (the agent's id), `step` and `episode_id` identify the decision; they are None
    outside an episode.

    The episode's own allowance pays first, then the part of the budget that nobody has reserved.
    """

    def __init__(
        self,
        budget_id: int,
        *,
        mind_id: int | None = None,
        step: int | None = None,
        episode_id: int | None = None,
    ) -> None:
        self.budget_id, self.mind_id, self.step = budget_id, mind_id, step
        self.episode_id = episode_id
        self._lock = Lock()
        self._open: list[tuple[float, int]] = []

    async def reserve(self, amount: float) -> None:
        """Reserve `amount` US dollars for one call, in a database thread (see `reserve_now`)."""
        await run_once_in_db_thread(self.reserve_now, amount)

    async def settle(self, reserved: float, spent: float) -> None:
        """Record the actual cost of a call, in a database thread (see `settle_now`)."""
        await run_once_in_db_thread(self.settle_now, reserved, spent)

    def reserve_now(self, amount: float) -> None:
        """Reserve `amount` US dollars for one call. Raises BudgetSpentError, and reserves nothing, if the
        budget has too little left.

        An amount of 0 is not recorded.
        """
        if not amount:
            return
        row = self.reserve_row(amount)
        with self._lock:
            self._open.append((amount, row))

    def reserve_row(self, amount: float) -> int:
        """Reserve `amount` US dollars for one call, and return the ledger row's id, for `settle_row`. Raises
        BudgetSpentError as `reserve_now` does."""
        with transaction.atomic():
            budget = Budget.objects.select_for_update().get(pk=self.budget_id)
            others = unspent_allowances(budget.pk, but=self.episode_id)
            left = budget.limit - booked_amount(budget.pk) - others
            if max(Decimal(repr(amount)), ledger_amount(amount)) > left:
                raise _too_little(ledger_amount(amount), left)
            what_for = {"mind_id": self.mind_id, "step": self.step}
            row = Spending.objects.create(budget=budget, reserved=ledger_amount(amount), **what_for)
        return row.pk

    def settle_now(self, reserved: float, spent: float) -> None:
        """Record that a call cost `spent` US dollars, in place of the `reserved` amount. Raises
        LookupError if no such amount is reserved."""
        if not reserved:
            return
        settle_row(self._take(reserved), spent)

    def _take(self, reserved: float) -> int:
        with self._lock:
            for index, (amount, pk) in enumerate(self._open):
                if amount == reserved:
                    del self._open[index]
                    return pk
        raise LookupError(f"nothing of {format_dollars(reserved)} is set aside")


def settle_row(row_id: int, spent: float) -> None:
    """Record in a row of the ledger that its call cost `spent` US dollars."""
    Spending.objects.filter(pk=row_id).update(spent=ledger_amount(spent), settled_at=timezone.now())


NEARLY_SPENT_SHARE = Decimal("0.9")
"""Share of the limit at which a budget counts as nearly spent."""


@dataclass(frozen=True, slots=True)
class BookedMoney:
    """Total amounts in the ledger, in US dollars."""

    spent: Decimal
    set_aside: Decimal
    """Reserved for calls that have not ended or whose end was never reported."""


def total_booked(since: datetime | None = None) -> BookedMoney:
    """Return the money spent and reserved for model calls since this time, over all budgets. Without a
    time, all calls are included."""
    rows = Spending.objects.all() if since is None else Spending.objects.filter(opened_at__gte=since)
    sums = rows.aggregate(paid=Sum("spent"), aside=Sum("reserved", filter=Q(spent=None)))
    return BookedMoney(sums["paid"] or Decimal(0), sums["aside"] or Decimal(0))


def budgets_nearly_spent() -> int:
    """Return the number of budgets of which at least 90 % are spent or reserved."""
    booked = Sum(Coalesce("spendings__spent", "spendings__reserved"))
    limited = Budget.objects.filter(limit__gt=0).annotate(booked=booked)
    return limited.filter(booked__gte=F("limit") * NEARLY_SPENT_SHARE).count()
