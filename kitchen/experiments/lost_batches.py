"""Find out whether a provider took a batch, if its answer was lost or this process was killed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from kitchen.contract.language_model import ModelError, NotAskedError, RejectedError
from kitchen.experiments.batch_lease import EXCHANGE_SECONDS
from kitchen.experiments.batch_money import close_batch
from kitchen.experiments.experiment_setup import SetupError
from kitchen.experiments.models import ModelBatch
from kitchen.infra.db_retry import retry_while_unreachable
from kitchen.llm.providers.batch_calls import LostBatch, NoBatchListError, UnclearBatchError

log = logging.getLogger(__name__)

UNSURE_SECONDS = 30.0
"""Seconds before the provider is asked whether it took a batch."""
UNCLEAR_LOOK_SECONDS, UNCLEAR_SECONDS = 60.0, 25 * 3600.0
"""Seconds between two looks at batches that may be the lost one, and for all looks: batches end within 24
hours."""
KNOWN_BEFORE = timedelta(hours=1)
"""Time before a lost batch from which other batches are told apart from it."""
NO_SUCH_PAGE = ("404", "405", "501")
"""Statuses of a server that cannot list its batches."""

LASTING = (RejectedError, NotAskedError)
"""Errors about a whole batch that would come again: the key or the request is wrong."""

Exchange = Callable[[Callable[[], Any]], Any]
"""Call a function that asks a provider, and return its answer. Raises ModelError if there is none."""


def batch_mark(batch: ModelBatch) -> str:
    """Return the mark that is sent with a batch, by which it is found again."""
    return f"{batch.experiment.key.hex}-{batch.pk}"


def find_lost_batch(
    batch: ModelBatch, model: str, api: Any, exchange: Exchange, sleep: Callable[[float], Any]
) -> str:
    """Return the provider's id of a batch that was perhaps sent; empty if it was not. `model` is the model of
    one of its calls. Raises SetupError if this cannot be found out, and the errors of `exchange` if the
    provider does not answer for too long."""
    log.warning("batch %s was perhaps sent: its provider is asked for it", batch.pk)
    ask, looked = partial(api.find, _lost_batch(batch, model), EXCHANGE_SECONDS), 0.0
    while looked < UNCLEAR_SECONDS:
        try:
            return str(exchange(ask))
        except UnclearBatchError:
            sleep(UNCLEAR_LOOK_SECONDS)
            looked += UNCLEAR_LOOK_SECONDS
        except ModelError as error:
            if isinstance(error, NoBatchListError) or str(error).startswith(NO_SUCH_PAGE):
                raise _not_known(batch, str(error)) from error
            if isinstance(error, LASTING):
                raise SetupError(f"model: the batches cannot be listed: {error}") from error
    raise _not_known(batch, "there are several like it")


def _lost_batch(batch: ModelBatch, model: str) -> LostBatch:
    since = batch.opened_at - KNOWN_BEFORE
    known = ModelBatch.objects.filter(provider=batch.provider, opened_at__gte=since).exclude(name="")
    names = retry_while_unreachable(
        lambda: frozenset(known.values_list("name", flat=True)), "reading the ids of batches"
    )
    return LostBatch(batch_mark(batch), frozenset(batch.entries), model, batch.opened_at, names)


def _not_known(batch: ModelBatch, why: str) -> SetupError:
    """Close a batch of which nobody knows whether it was sent, and return the error that says so. Its money
    stays reserved."""
    close_batch(batch)
    return SetupError(
        f"model: nobody knows whether {batch.provider} took a batch of {len(batch.entries)} calls ({why}). "
        "Look there first: if you start the experiment again, these calls are made again"
    )
