"""Send news of an episode's steps, and of its end, to the staff who watch it."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from django.db import transaction

from kitchen.play.models import Episode, SeatCommand
from kitchen.play.turn import page_broadcast, step_timer
from kitchen.play.turn.audience_news import EpisodeNews


def announce_episode(episode: Episode, commands: Collection[SeatCommand] = ()) -> None:
    """Send news of the last step or of the end, after the commit, to the staff who watch this episode.
    `commands` are the commands of the last step."""
    if not episode.audience:
        return
    waited = sum(row.chosen_by in step_timer.NO_CHOICE_CODES for row in commands)
    news = EpisodeNews(
        episode=str(episode.key),
        step=episode.step,
        status=str(episode.status),
        fallbacks=sum(bool(row.fallback) for row in commands) - waited,
        ran_out=sum(row.chosen_by == step_timer.TIMEOUT for row in commands),
    )
    transaction.on_commit(partial(page_broadcast.notify_audience, episode.audience, news))
