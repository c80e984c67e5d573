"""Reserve money for the model calls of a batch, and book what they cost.

Each function is one transaction, so that a batch and its rows in the ledger always belong together. It is
repeated while the database is unreachable.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from django.db import transaction
from django.utils import timezone

from kitchen.contract.language_model import BudgetSpentError
from kitchen.contract.world import Json
from kitchen.experiments.batched_episode import WantedCall
from kitchen.experiments.models import Experiment, ModelBatch
from kitchen.experiments.play_episodes import MoneySpentError
from kitchen.infra.db_retry import retry_while_unreachable
from kitchen.llm.call_costs import PriceList, UnknownPriceError
from kitchen.money.budget_ledger import BudgetPurse, settle_row


def open_batch(
    experiment: Experiment, provider: str, calls: Mapping[str, WantedCall], prices: PriceList
) -> tuple[ModelBatch | None, BudgetSpentError | None]:
    """Reserve the highest price of each call, and store a batch of those that can be paid. Return the batch,
    or None if none can be paid, and the error of those that cannot. Raises MoneySpentError if a price is
    unknown."""

    @transaction.atomic
    def opened() -> tuple[ModelBatch | None, BudgetSpentError | None]:
        entries, refusal = _reserve(experiment, provider, calls, prices)
        if not entries:
            return None, refusal
        batch = ModelBatch.objects.create(experiment=experiment, provider=provider, entries=entries)
        return batch, refusal

    return retry_while_unreachable(opened, "reserving money for a batch")


def _reserve(
    experiment: Experiment, provider: str, calls: Mapping[str, WantedCall], prices: PriceList
) -> tuple[dict[str, Json], BudgetSpentError | None]:
    entries = dict[str, Json]()
    purse = BudgetPurse(experiment.budget.pk) if experiment.budget else None
    for name, call in calls.items():
        worst: float | None = None
        try:
            worst = prices.worst(provider, call.request)
            row = purse.reserve_row(worst) if purse and worst else None
        except UnknownPriceError as error:
            if purse:
                raise MoneySpentError(str(error)) from error
            row = None
        except BudgetSpentError as error:
            return entries, error
        entries[name] = {"step": call.step, "worst": worst, "row": row}
    return entries, None


def book_results(batch: ModelBatch, costs: Mapping[str, float | None]) -> None:
    """Book the costs of these calls of a batch, by name, and store the batch's results. An unknown cost is
    booked as the highest price."""

    @transaction.atomic
    def booked() -> None:
        for name, cost in costs.items():
            entry = batch.entries[name]
            if entry["row"]:
                settle_row(entry["row"], entry["worst"] if cost is None else cost)
        batch.save(update_fields=["results", "answered", "ended_at"])

    retry_while_unreachable(booked, "storing a batch's results")


def give_back(batch: ModelBatch) -> None:
    """Close a batch that the provider did not take, and give its reserved money back."""

    @transaction.atomic
    def given_back() -> None:
        for entry in batch.entries.values():
            if entry["row"]:
                settle_row(entry["row"], 0.0)
        _close(batch)

    retry_while_unreachable(given_back, "giving a batch's money back")


def close_batch(batch: ModelBatch) -> None:
    """Delete the stored results of a batch, which no episode needs any more."""
    retry_while_unreachable(partial(_close, batch), "closing a batch")


def _close(batch: ModelBatch) -> None:
    ModelBatch.objects.filter(pk=batch.pk).update(closed_at=timezone.now(), results={})
