"""What Celery workers do for experiments: each task takes one episode, plays it, and asks for the next.

So at most `Experiment.at_once` tasks are in the queue or at work for an experiment. They have a queue and
workers of their own (`settings.CELERY_TASK_ROUTES`): the co-players of people never wait behind them. Every
task may run twice or never; `pick_up_experiments` asks again.
"""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from kitchen.experiments.models import Experiment
from kitchen.experiments.queue import EXPERIMENT_LANE, PICK_UP_EXPERIMENTS, ask_lanes, ask_look
from kitchen.experiments.services import being_played, episode_play, episode_take, waiting

PICK_UP_SECONDS = 10.0
"""How often a worker looks for experiments that are running with fewer episodes at once than they may."""


@shared_task(name=EXPERIMENT_LANE)
def experiment_lane(experiment_id: int) -> None:
    """Play one episode, then queue the next."""
    episode = episode_take(experiment_id=experiment_id)
    if episode is not None:
        episode_play(episode=episode)
        ask_lanes(experiment_id)


@shared_task(name=PICK_UP_EXPERIMENTS)
def pick_up_experiments() -> int:
    """Queue what running experiments lack to be played at once as they may be; how many episodes."""
    asked = 0
    for experiment in Experiment.objects.filter(running=True):
        missing = experiment.at_once - being_played(experiment.pk)
        number = max(0, min(missing, waiting(experiment.pk).count()))
        if ask_lanes(experiment.pk, number, expires=PICK_UP_SECONDS):
            asked += number
    return asked


@worker_ready.connect
def look_for_experiments(sender: Any, **_: Any) -> None:
    """Every worker looks when it starts, and from then on now and then."""
    sender.timer.call_repeatedly(PICK_UP_SECONDS, ask_look, (PICK_UP_SECONDS,))
    ask_look(PICK_UP_SECONDS)
