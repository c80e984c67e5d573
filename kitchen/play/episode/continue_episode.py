"""Continue an episode after a change: run each step that is due, ask the agents, and notify who watches.

A step in which nobody is asked runs by itself, after a moment if a person may act in it. If agents are to
appear to think for some time, the commands wait in the database, and a small task then runs the step. Call
everything here inside the transaction of the change. Tasks and notifications begin after the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from kitchen.infra import prometheus_metrics
from kitchen.play.episode.log_integrity import seal_episode
from kitchen.play.models import Episode, SeatCommand
from kitchen.play.turn import page_broadcast, step_timer
from kitchen.play.turn.conversation import ask_for_answers, complete_jobs, wait_for_informed_seats
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.play_task_queue import ask_coplayers, is_offline, run_step_later
from kitchen.play.turn.state_store import ComputedStep
from kitchen.play.turn.step_store import take_step
from kitchen.play.turn.turn_rules import decision_parties, seconds_until_due, waits_for_minds
from kitchen.play.turn.websocket_messages import EpisodeNews

MAX_STEPS_PER_TRANSACTION = 20
"""Maximum number of steps that one transaction runs when nobody is asked in several steps in a row."""
OVERDUE_SECONDS = 2.0
"""Seconds after which a step that should have run counts as overdue. Any worker may then run it."""


def continue_episode(turn: OpenTurn, ahead: ComputedStep | None = None, *, asked: bool = False) -> None:
    """Run the step if it is due, and the following steps in which nobody is asked. Otherwise ask the agents.

    With `asked`, the agents were already asked for this step. Nothing happens in a real-time episode
    (`kitchen.realtime`).
    """
    if turn.episode.tick_ms:
        return
    before = turn.step
    while (delay := seconds_until_due(turn)) is not None and _may_run(turn, before, delay):
        rows, asked = take_step(turn, ahead), False
        ahead = None
        _count_step(turn.episode, rows)
        notify_audience(turn.episode, rows)
        complete_jobs(turn)
        wait_for_informed_seats(turn)
    if turn.step != before:
        step_timer.schedule_turn_close(turn.episode)
        ask_for_answers(turn)
    if not asked and not is_offline() and waits_for_minds(turn):
        for party in decision_parties(turn):
            transaction.on_commit(partial(ask_coplayers, turn.episode.pk, turn.step, *party))


def _may_run(turn: OpenTurn, first: int, delay: float) -> bool:
    """Return True if this transaction, which began at step `first`, may run one more step now.

    Otherwise a task is queued that runs it after the delay. Workers leave the step alone until it is overdue.
    """
    if not is_offline() and turn.step - first >= MAX_STEPS_PER_TRANSACTION:
        delay = 0.0
    elif not delay:
        return True
    else:
        until = timezone.now() + timedelta(seconds=delay + OVERDUE_SECONDS)
        Episode.objects.filter(pk=turn.episode.pk).update(deciding_until=until, deciding_by="")
    transaction.on_commit(partial(run_step_later, turn.episode.pk, turn.step, delay))
    return False


def _count_step(episode: Episode, rows: Collection[SeatCommand]) -> None:
    """Measure how long the last person who chose waited for the step just taken."""
    came = [
        row.received_at for row in rows if row.chosen_by in step_timer.PEOPLE_CODES and row.planned_in is None
    ]
    if came:
        seconds = (episode.turn_opened_at - max(came)).total_seconds()
        timed = "untimed" if episode.step_seconds is None else "timed"
        count_on_commit(partial(prometheus_metrics.count_step, episode.world, timed, seconds))


def count_on_commit(counted: Callable[[], None]) -> None:
    """Update a metric after the commit, unless the episode is played offline."""
    if not is_offline():
        transaction.on_commit(counted)


def notify_audience(episode: Episode, commands: Collection[SeatCommand] = ()) -> None:
    """Send news of the step just taken, or of the end, to staff who watch."""
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


def seal_and_notify(turn: OpenTurn, waiting_pages: Collection[str] = ()) -> None:
    """Seal the episode if this was its last step, and notify people's pages.

    Pages that wait for the answer to their command need no notification.
    """
    if not turn.is_open:
        seal_episode(turn.episode)
    if {turn.pages[seat] for seat in turn.people | turn.leaders} - {*waiting_pages} and not is_offline():
        transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk, turn.stamp))
