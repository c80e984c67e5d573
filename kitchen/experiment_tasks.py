"""What Celery workers do for experiments: each task takes one episode, plays it, and asks for the next.

So at most `Experiment.at_once` tasks are in the queue or at work for an experiment. They have a queue and
workers of their own (`settings.CELERY_TASK_ROUTES`): the co-players of people never wait behind them. Every
task may run twice or never; `pick_up_experiments` asks again.
"""

from __future__ import annotations

import logging
from typing import Any

from celery import current_app, shared_task
from celery.signals import worker_ready
from kombu.exceptions import OperationalError

from kitchen.models import Experiment

log = logging.getLogger(__name__)

PICK_UP_SECONDS = 10.0
"""How often a worker looks for experiments that are running with fewer episodes at once than they may."""


def ask_lanes(experiment_id: int, number: int = 1) -> bool:
    """Queue the playing of so many episodes; whether the broker took them."""
    try:
        for _ in range(number):
            experiment_lane.apply_async(args=[experiment_id], retry=False)
    except (OperationalError, OSError) as error:
        log.warning("broker away, experiment %s waits: %s", experiment_id, error)
        return False
    return True


def broker_answers() -> bool:
    """Whether tasks can be queued at all."""
    try:
        with current_app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, timeout=3)
    except (OperationalError, OSError):
        return False
    return True


@shared_task(name="kitchen.experiment_lane")
def experiment_lane(experiment_id: int) -> None:
    """Play one episode, then queue the next."""
    from kitchen.experimenting import episode_play, episode_take

    episode = episode_take(experiment_id=experiment_id)
    if episode is not None:
        episode_play(episode=episode)
        ask_lanes(experiment_id)


@shared_task(name="kitchen.pick_up_experiments")
def pick_up_experiments() -> int:
    """Queue what running experiments lack to be played at once as they may be; how many episodes."""
    from kitchen.experimenting import being_played, waiting

    asked = 0
    for experiment in Experiment.objects.filter(running=True):
        missing = experiment.at_once - being_played(experiment.pk)
        asked += _queue_more(experiment.pk, min(missing, waiting(experiment.pk).count()))
    return asked


def _queue_more(experiment_id: int, number: int) -> int:
    """Tasks that are forgotten if nobody has begun them when the next look comes."""
    for _ in range(number):
        experiment_lane.apply_async(args=[experiment_id], retry=False, expires=PICK_UP_SECONDS)
    return max(number, 0)


@worker_ready.connect
def look_for_experiments(sender: Any, **_: Any) -> None:
    """Every worker looks when it starts, and from then on now and then."""
    sender.timer.call_repeatedly(PICK_UP_SECONDS, _queue_look)
    _queue_look()


def _queue_look() -> None:
    try:
        pick_up_experiments.apply_async(retry=False, expires=PICK_UP_SECONDS)
    except (OperationalError, OSError) as error:
        log.warning("broker away: %s", error)
