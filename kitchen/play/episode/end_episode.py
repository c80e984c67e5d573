"""End an episode before its last step: on behalf of staff, because somebody left, for lack of money, or
because its world fails."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from django.db import transaction
from django.utils import timezone

from kitchen.contract.language_model import BudgetSpentError
from kitchen.infra.storable_json import storable_text
from kitchen.money.models import EpisodeAllowance
from kitchen.play.episode.log_integrity import seal_episode
from kitchen.play.models import Episode, PendingQuestion
from kitchen.play.turn import page_broadcast
from kitchen.play.turn.announce_episode import announce_episode
from kitchen.play.turn.decision_records import store_calls
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.submitted_commands import SubmittedDecision
from kitchen.play.turn.turn_cache import refresh_turn

log = logging.getLogger(__name__)


def end_episode(*, episode_id: int, reason: str) -> bool:
    """End an episode on behalf of staff. Returns False if it had already ended.

    The players' pages show that the episode was ended, but not the `reason`. Raises ValueError if the
    reason is empty.
    """
    if not reason.strip():
        raise ValueError("reason: say why the episode is ended")
    ended = end_now(episode_id, Episode.Status.ABORTED, reason=storable_text(reason.strip()))
    if ended:
        log.info("episode %s was ended by staff", episode_id)
    return ended


WITHOUT_MONEY = "the money for its language model did not suffice"
"""Why an episode with an allowance is ended when a model's call cannot be paid."""
UNPLAYABLE = "its world could not be continued"
"""Why a real-time episode is ended whose world fails each time that a clock process continues it."""
TECHNICAL_REASONS = {WITHOUT_MONEY, UNPLAYABLE}


def is_ended_by_staff(episode: Episode) -> bool:
    """Return whether staff ended this episode."""
    return episode.status == Episode.Status.ABORTED and episode.ended_because not in TECHNICAL_REASONS


def is_ended_technically(episode: Episode) -> bool:
    """Return whether this episode was ended for a technical reason, as pages call it: for lack of money, or
    because its world failed."""
    return episode.status == Episode.Status.ABORTED and episode.ended_because in TECHNICAL_REASONS


def has_unpaid_call(turn: OpenTurn, decisions: Sequence[SubmittedDecision]) -> bool:
    """Return whether a model's call for one of these decisions could not be paid, in an episode with an
    allowance. It must end then (`end_for_lack_of_money`), because in the remaining steps a fallback would
    take the place of the model."""
    unpaid = any(each.row.fallback == BudgetSpentError.code for each in decisions)
    return unpaid and EpisodeAllowance.objects.filter(episode=turn.episode).exists()


def end_for_lack_of_money(turn: OpenTurn, decisions: Sequence[SubmittedDecision]) -> None:
    """End the episode, and store the calls of the last decisions. The decisions themselves are stored
    already."""
    store_calls([(each.row, each.calls) for each in decisions])
    end_now(turn.episode.pk, Episode.Status.ABORTED, reason=WITHOUT_MONEY)
    refresh_turn(turn)
    log.warning("episode %s was ended: %s", turn.episode.pk, WITHOUT_MONEY)


def end_unplayable_episode(episode_id: int) -> None:
    """End an episode whose world fails each time that it is continued. Do nothing if it has ended."""
    if end_now(episode_id, Episode.Status.ABORTED, reason=UNPLAYABLE):
        log.error("episode %s was ended: %s", episode_id, UNPLAYABLE)


def abandon_episode(*, episode_id: int, reason: str) -> bool:
    """End an episode because one of its players has left. Returns False if it had already ended.

    `reason` is an English text that completes “It was ended because …”. The pages show it translated.
    """
    return end_now(episode_id, Episode.Status.ABANDONED, reason=reason)


@transaction.atomic
def end_now(episode_id: int, status: Episode.Status, *, reason: str = "", sealed: bool = True) -> bool:
    """End the episode, without playing its open step. Return False if it had ended before.

    With `sealed=False`, the caller seals the episode (signs its log) later.
    """
    playing = Episode.objects.select_for_update().filter(pk=episode_id, status=Episode.Status.PLAYING)
    episode = playing.first()
    if episode is None:
        return False
    episode.status, episode.ended_because = status, reason
    episode.ended_at, episode.turn_closes_at = timezone.now(), None
    episode.save(update_fields=["status", "ended_because", "ended_at", "turn_closes_at"])
    PendingQuestion.objects.filter(mind__episode=episode).delete()
    if sealed:
        seal_episode(episode)
    announce_episode(episode)
    transaction.on_commit(partial(page_broadcast.nudge_pages, episode_id))
    return True
