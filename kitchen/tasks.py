"""What Celery workers do: the co-players' decisions, and picking up what a dead worker left.

Every task may run twice or never: claims and the compare-and-set on the step make the second run a no-op,
and `pick_up_open_turns` asks again for each step whose claim has lapsed.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from typing import Any

from celery import shared_task
from celery.signals import task_failure, worker_ready, worker_shutdown
from django.conf import settings
from django.db import connection

from kitchen.contract.model import ModelError
from kitchen.experiments import tasks  # noqa: F401 - Celery looks for tasks here
from kitchen.llm.registry import PROVIDERS, unavailable, warm_up
from kitchen.machine.about import about
from kitchen.machine.failures import traced
from kitchen.machine.storage import let_go, trouble_of
from kitchen.machine.waiting import all_done, in_background
from kitchen.play.answering import answer_decide, answer_over, answers_again
from kitchen.play.claims import claims_free_dead, decision_claim, kept_claim
from kitchen.play.clock import clock_start
from kitchen.play.deciding import asks_models, decide_step
from kitchen.play.open_turns import clocks_awaited, is_anything_played, minds_apart, open_turns, overdue_turns
from kitchen.play.queue import (
    ANSWER,
    CLOSE_TURN,
    DECIDE,
    PICK_UP_OPEN_TURNS,
    RUN_STEP,
    ask_coplayers,
    ask_coplayers_again,
    ask_look,
    close_turn_again,
)
from kitchen.play.services import step_run, turn_close
from kitchen.uptime.beat import beat_begin
from kitchen.uptime.models import Part

log = logging.getLogger(__name__)

FINISH_SECONDS = 5.0
"""Beyond the time of a decision, for a worker that ends."""

PICK_UP_SECONDS = 1.0
"""How often a worker looks for steps that wait for co-players and that nobody has taken up."""


@shared_task(name=DECIDE)
def decide(episode_id: int, step: int, mind: int | None = None) -> None:
    """Let this mind, or the co-players one after the other, decide one step, unless it is taken up or over;
    where they decide side by side, each gets a task of its own. Who asks language models waits for them
    in the background, and what comes of it is handed in from there."""
    with about(episode=episode_id, step=step):
        if mind is None and (apart := minds_apart(episode_id, step)):
            for number in apart:
                ask_coplayers(episode_id, step, number)
        elif asks_models(episode_id, mind):
            in_background(partial(_decide_aside, episode_id, step, mind)).add_done_callback(_tell)
        else:
            _decide(episode_id, step, mind)


def _decide(episode_id: int, step: int, mind: int | None) -> None:
    if claim := decision_claim(episode_id=episode_id, step=step, mind=mind):
        with kept_claim(episode_id, claim):
            decide_step(episode_id=episode_id, step=step, claim=claim, mind=mind)


def _decide_aside(episode_id: int, step: int, mind: int | None) -> None:
    """Its thread is no worker's: nobody else looks after its connection."""
    with closing(connection):
        _decide(episode_id, step, mind)


def _tell(made: Future[None]) -> None:
    """What a worker tells of a task that failed; the looks find what was not done."""
    if failure := made.exception():
        log.error("a decision failed: %s", traced(failure))
        if trouble := trouble_of(failure):
            let_go(trouble)


@shared_task(name=ANSWER)
def answer(episode_id: int, step: int, mind: int) -> None:
    """Let this mind answer what a person wrote to it, unless it is taken up or over."""
    with about(episode=episode_id, step=step):
        if asks_models(episode_id, mind):
            in_background(partial(_answer_aside, episode_id, step, mind)).add_done_callback(_tell)
        else:
            _answer(episode_id, step, mind)


def _answer(episode_id: int, step: int, mind: int) -> None:
    if claim := decision_claim(episode_id=episode_id, step=step, mind=mind):
        with kept_claim(episode_id, claim):
            answer_decide(episode_id=episode_id, step=step, mind=mind)
        answer_over(episode_id=episode_id, step=step, claim=claim)


def _answer_aside(episode_id: int, step: int, mind: int) -> None:
    """As `_decide_aside`."""
    with closing(connection):
        _answer(episode_id, step, mind)


@worker_shutdown.connect
def finish_decisions(**_: Any) -> None:
    """A worker that is asked to end waits for its decisions: models were asked, and are paid."""
    if not all_done(settings.DECISION_SECONDS + FINISH_SECONDS):
        log.warning("decisions are left to other workers")


@shared_task(name=CLOSE_TURN)
def close_turn(episode_id: int, step: int) -> None:
    """Close a turn whose time is over; what is not, or was closed already, is left alone."""
    with about(episode=episode_id, step=step):
        turn_close(episode_id=episode_id, step=step)


@shared_task(name=RUN_STEP)
def run_step(episode_id: int, step: int) -> None:
    """Run a step that is due; what is not, or no longer, is left alone."""
    with about(episode=episode_id, step=step):
        step_run(episode_id=episode_id, step=step)


@shared_task(name=PICK_UP_OPEN_TURNS)
def pick_up_open_turns() -> int:
    """Queue every step that waits for its co-players and that nobody alive has taken up, every answer that a
    person waits for likewise, and the end of every turn whose time is over; begin the time where somebody
    waits in vain for others to come; how many steps wait."""
    if not is_anything_played():
        return 0
    claims_free_dead()
    for episode_id in clocks_awaited():
        clock_start(episode_id=episode_id, everybody=False)
    for episode_id, step in overdue_turns():
        close_turn_again(episode_id, step)
    answers_again()
    waiting = open_turns()
    for episode_id, step in waiting:
        ask_coplayers_again(episode_id, step)
    return len(waiting)


@task_failure.connect
def let_go_of_the_database(exception: BaseException, **_: Any) -> None:
    """The next task of this thread has a connection of its own where this one could not store anything. What
    was not done is found by the looks."""
    if trouble := trouble_of(exception):
        let_go(trouble)


@worker_ready.connect
def look_for_open_turns(sender: Any, **_: Any) -> None:
    """Every worker looks when it starts, and from then on every few seconds; it makes models' SDKs ready.
    Those of people's co-players give signs of life."""
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
    if settings.CELERY_TASK_DEFAULT_QUEUE in sender.app.amqp.queues.consume_from:
        beat_begin(Part.WORKERS)
    sender.timer.call_repeatedly(PICK_UP_SECONDS, ask_look, (PICK_UP_SECONDS,))
    ask_look(PICK_UP_SECONDS)


def _warm_up() -> None:
    """Import the SDKs of the providers that can be asked from here, which takes seconds, before the first
    decision needs them."""
    for provider in PROVIDERS:
        if not unavailable(provider):
            try:
                warm_up(provider)
            except ModelError as error:
                log.warning("the SDK of %s is not ready: %s", provider, error)
