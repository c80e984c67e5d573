"""What calls of models may cost, and what they cost."""

from __future__ import annotations

from django.db import models


class Budget(models.Model):
    """Money that calls of models may cost, for one study or experiment, in US dollars."""

    id: int
    name = models.CharField(max_length=120)
    limit = models.DecimalField(max_digits=12, decimal_places=6, default=0)

    def __str__(self) -> str:
        return f"{self.name}: {self.limit} USD"


class Spending(models.Model):
    """One call in the ledger: what was set aside, and, once it ended, what it cost."""

    id: int
    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="spendings")
    reserved = models.DecimalField(max_digits=12, decimal_places=6)
    spent = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.reserved} set aside" if self.spent is None else f"{self.spent} USD"
