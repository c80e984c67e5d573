"""Define the database tables of budgets, and of the ledger that records each language-model call's cost."""

from __future__ import annotations

from django.db import models

from kitchen.llm.call_costs import format_dollars


class Budget(models.Model):
    """The most money, in US dollars, that one study or experiment may spend on model calls."""

    id: int
    name = models.CharField(max_length=120)
    limit = models.DecimalField(max_digits=12, decimal_places=6, default=0)

    def __str__(self) -> str:
        return f"{self.name}: {format_dollars(self.limit)}"


class EpisodeAllowance(models.Model):
    """The money, in US dollars, that was set aside for the model calls of one episode before it opened.

    While the episode is played, what it has not spent of it cannot pay for anything else.
    """

    id: int
    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="allowances")
    episode = models.OneToOneField("Episode", on_delete=models.CASCADE, related_name="allowance")
    amount = models.DecimalField(max_digits=12, decimal_places=6)

    def __str__(self) -> str:
        return f"{format_dollars(self.amount)} for an episode"


class Spending(models.Model):
    """One model call in the ledger: the reserved amount and, after the call, its actual cost.

    `mind` and `step` name the agent and the step of the decision. If the episode is erased, the row
    remains and `mind` becomes empty.
    """

    id: int
    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="spendings")
    mind = models.ForeignKey(
        "Mind",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="spendings",
        help_text="The co-player that the call was for; empty for experiments and erased episodes.",
    )
    step = models.PositiveIntegerField(
        null=True, blank=True, help_text="The step that was decided; the first is 1."
    )
    reserved = models.DecimalField(max_digits=12, decimal_places=6)
    spent = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return (
            f"{format_dollars(self.reserved)} set aside" if self.spent is None else format_dollars(self.spent)
        )
