"""All money of the installation, as it is booked. Nothing here changes anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce

from kitchen.money.models import Budget, Spending

NEARLY = Decimal("0.9")
"""Share of a limit from which on it is nearly reached."""


@dataclass(frozen=True, slots=True)
class Money:
    """US dollars."""

    spent: Decimal
    set_aside: Decimal
    """For calls that have not ended, or of which nobody heard."""


def money_booked(since: datetime | None = None) -> Money:
    """What models cost, of all budgets."""
    rows = Spending.objects.all() if since is None else Spending.objects.filter(opened_at__gte=since)
    sums = rows.aggregate(paid=Sum("spent"), aside=Sum("reserved", filter=Q(spent=None)))
    return Money(sums["paid"] or Decimal(0), sums["aside"] or Decimal(0))


def budgets_nearly_spent() -> int:
    """Budgets of studies and experiments whose limit is reached, or nearly."""
    booked = Sum(Coalesce("spendings__spent", "spendings__reserved"))
    limited = Budget.objects.filter(limit__gt=0).annotate(booked=booked)
    return limited.filter(booked__gte=F("limit") * NEARLY).count()
