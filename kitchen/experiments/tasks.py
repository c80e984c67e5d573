"""Run experiments in Celery workers. Each task plays one episode and queues the next one.

Experiments have their own queue and workers, so that they never delay agents that play with people.
`pick_up_experiments` restarts work whose task was lost.
"""

from __future__ import annotations

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from kitchen.experiments.batch_lease import is_free
from kitchen.experiments.batch_rounds import play_in_batches
from kitchen.experiments.experiment_services import (
    EXPERIMENT_LANE,
    PICK_UP_EXPERIMENTS,
    count_playing,
    episode_play,
    episode_take,
    lanes_of,
    queue_episodes,
    queue_pick_up,
    waiting_episodes,
)
from kitchen.experiments.models import Experiment

PICK_UP_SECONDS = 10.0
"""Seconds between checks for running experiments with fewer episodes in progress than allowed."""


@shared_task(name=EXPERIMENT_LANE)
def experiment_lane(experiment_id: int) -> None:
    """Play one waiting episode of an experiment, then queue a task for the next one (Celery task). Do nothing
    if none can be played. If the experiment sends its calls in batches, play all its episodes, unless another
    worker does."""
    if Experiment.objects.filter(pk=experiment_id, setup__batch=True, running=True).exists():
        play_in_batches(experiment_id=experiment_id, claim=True)
        return
    episode = episode_take(experiment_id=experiment_id)
    if episode is not None:
        episode_play(episode=episode)
        queue_episodes(experiment_id)


@shared_task(name=PICK_UP_EXPERIMENTS)
def pick_up_experiments() -> int:
    """Queue tasks for running experiments in which fewer than `at_once` episodes are being played. Return
    how many tasks were queued. Experiments that a worker plays in batches are left out."""
    asked = 0
    for experiment in Experiment.objects.filter(is_free(), running=True):
        missing = lanes_of(experiment) - count_playing(experiment.pk)
        number = max(0, min(missing, waiting_episodes(experiment.pk).count()))
        if queue_episodes(experiment.pk, number, expires=PICK_UP_SECONDS):
            asked += number
    return asked


@worker_ready.connect
def start_experiment_checks(sender: Any, **_: Any) -> None:
    """Make a worker look for experiments with waiting episodes, when it starts and every PICK_UP_SECONDS."""
    sender.timer.call_repeatedly(PICK_UP_SECONDS, queue_pick_up, (PICK_UP_SECONDS,))
    queue_pick_up(PICK_UP_SECONDS)
