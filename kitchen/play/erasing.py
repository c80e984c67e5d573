"""Erasing episodes so that nobody who plays waits for it: piece by piece, each a transaction of its own.

What is stopped in the middle leaves an episode without the rest of its log; it is erased by whoever comes
next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from kitchen.machine.pieces import PIECE, pieces
from kitchen.play.calls import prompts_erase_unused
from kitchen.play.models import Decision, Episode, Message, SeatCommand, StateChange, Step

WITH_CALLS = 25
"""Decisions that are erased together: each may have some calls, of a dozen messages each."""


def episode_erase(episode_id: int) -> None:
    """Erase an episode that is over, with its whole log; nothing if it is gone already."""
    rows_erase(Message.objects.filter(episode=episode_id))
    rows_erase(Decision.objects.filter(mind__episode=episode_id), WITH_CALLS)
    rows_erase(SeatCommand.objects.filter(episode=episode_id))
    rows_erase(StateChange.objects.filter(episode=episode_id))
    rows_erase(Step.objects.filter(episode=episode_id))
    with transaction.atomic():
        for episode in Episode.objects.select_for_update().filter(pk=episode_id):  # no step is written now
            episode.delete()


def rows_erase(rows: QuerySet[Any], size: int = PIECE) -> int:
    """Erase rows with all that hangs on them, so many at once; how many they were."""
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    for piece in pieces(ids, size):
        rows.model._default_manager.filter(pk__in=piece).delete()
    return len(ids)


def prompts_erase(hashes: Iterable[str]) -> int:
    """Erase those of these prompts that no call uses any more; how many."""
    erased = 0
    for piece in pieces(sorted(hashes)):
        with transaction.atomic():
            erased += prompts_erase_unused(piece)
    return erased
