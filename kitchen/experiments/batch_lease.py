"""Make sure that one process at a time sends an experiment's model calls in batches.

The process that plays the experiment holds a lease in the database. It renews the lease before each exchange
with a provider and between episodes. A lease lasts longer than any work in between. A process that has lost
its lease stops at once, and changes nothing.
"""

from __future__ import annotations

import logging
import uuid
from datetime import datetime, timedelta

from django.db import Error
from django.db.models import Q
from django.utils import timezone

from kitchen.experiments.models import Experiment
from kitchen.infra.db_retry import MAX_RETRY_SECONDS, retry_while_unreachable

log = logging.getLogger(__name__)

EXCHANGE_SECONDS = 120.0
"""Time limit of one exchange with a provider about a batch."""
LEASE_SECONDS = 2 * EXCHANGE_SECONDS + 2 * MAX_RETRY_SECONDS
"""Seconds that a lease lasts."""


class LeaseLostError(Exception):
    """Raised when another process plays the experiment now."""


class BatchLease:
    """The right of this process to play an experiment in batches."""

    def __init__(self, experiment_id: int) -> None:
        self.experiment_id = experiment_id
        self.token = uuid.uuid4().hex

    def take(self) -> bool:
        """Take the lease if no other process holds it. Return whether this process holds it now."""
        free = Q(batch_worker=self.token) | is_free()
        return self._update(free, batch_worker=self.token, batch_worker_until=_end())

    def renew(self) -> None:
        """Renew the lease. Raises LeaseLostError if another process has it."""
        if not self._update(Q(batch_worker=self.token), batch_worker_until=_end()):
            raise LeaseLostError(f"another process plays experiment {self.experiment_id}")

    def give_back(self) -> None:
        """Let others take the lease at once, if this process holds it. A failure is only logged: the lease
        ends by itself."""
        try:
            self._update(Q(batch_worker=self.token), batch_worker="", batch_worker_until=None)
        except Error as error:
            log.warning("a lease was not given back: %s", type(error).__name__)

    def _update(self, condition: Q, **values: object) -> bool:
        rows = Experiment.objects.filter(condition, pk=self.experiment_id)
        return bool(retry_while_unreachable(lambda: rows.update(**values), "a lease of an experiment"))


def is_free() -> Q:
    """Return the condition for experiments that no process plays in batches now."""
    return Q(batch_worker_until=None) | Q(batch_worker_until__lt=timezone.now())


def _end() -> datetime:
    return timezone.now() + timedelta(seconds=LEASE_SECONDS)
