"""Erase an episode, other database rows, or unused prompt texts in batches.

Each batch has its own transaction, so that players do not wait for long. If erasing is interrupted, call the
function again; it erases the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from kitchen.infra.append_only import erasure_allowed
from kitchen.infra.database_writes import BATCH_ROWS, batches_of
from kitchen.play.models import (
    Decision,
    Episode,
    Message,
    ProbeAnswer,
    SeatCommand,
    SliderRating,
    StateChange,
    Step,
)
from kitchen.play.turn.decision_records import erase_unused_prompts

DECISIONS_WITH_CALLS = 25
"""Number of decisions erased together. Each may have some model calls with a dozen messages each."""


def erase_episode(episode_id: int) -> None:
    """Erase an episode that is over, with its whole log. Does nothing if the episode no longer exists."""
    erase_rows(Message.objects.filter(episode=episode_id))
    erase_rows(Decision.objects.filter(mind__episode=episode_id), DECISIONS_WITH_CALLS)
    erase_rows(SeatCommand.objects.filter(episode=episode_id))
    erase_rows(StateChange.objects.filter(episode=episode_id))
    erase_rows(ProbeAnswer.objects.filter(episode=episode_id))
    erase_rows(SliderRating.objects.filter(episode=episode_id))
    erase_rows(Step.objects.filter(episode=episode_id))
    with erasure_allowed():
        # locked: no step is written now
        for episode in Episode.objects.select_for_update().filter(pk=episode_id):
            episode.delete()


def erase_rows(rows: QuerySet[Any], size: int = BATCH_ROWS) -> int:
    """Erase rows, and everything that refers to these rows, in batches of `size`. Return the number of
    erased rows; rows that referred to them are not counted."""
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    for piece in batches_of(ids, size):
        with erasure_allowed():
            rows.model._default_manager.filter(pk__in=piece).delete()
    return len(ids)


def erase_prompts(hashes: Iterable[str]) -> int:
    """Erase those of the prompts with these hashes that no model call uses any more. Return how many were
    erased."""
    erased = 0
    for piece in batches_of(sorted(hashes)):
        with transaction.atomic():
            erased += erase_unused_prompts(piece)
    return erased
