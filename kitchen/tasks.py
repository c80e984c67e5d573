"""Define the Celery tasks of live play: ask agents, close steps at their deadline, and recover lost work.

A task may run twice or get lost. A task does nothing if another worker has already claimed its decision.
`pick_up_open_turns` runs every second and queues lost work again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Coroutine
from typing import Any

from celery import shared_task
from celery.signals import task_failure, worker_ready, worker_shutdown
from django.conf import settings

from kitchen.contract.language_model import ModelError
from kitchen.experiments import tasks  # noqa: F401 - Celery looks for tasks here
from kitchen.infra.db_errors import close_failed_connection, database_problem
from kitchen.infra.db_retry import run_once_in_db_thread
from kitchen.infra.event_loop import FINISH_SECONDS, start_in_loop, wait_until_idle
from kitchen.infra.log_context import error_traceback, log_context
from kitchen.llm.provider_registry import PROVIDERS, warm_up_provider, why_unavailable
from kitchen.play.coplayers.agent_decisions import asks_models, decide_step, decide_step_in_loop
from kitchen.play.coplayers.answer_messages import (
    decide_answer,
    decide_answer_in_loop,
    finish_answer,
    request_lost_answers,
)
from kitchen.play.coplayers.later_decisions import decide_later, decide_later_in_loop, let_agents_think
from kitchen.play.episode.advance_episode import close_expired_turn, run_due_step
from kitchen.play.turn.play_task_queue import (
    ANSWER,
    CLOSE_TURN,
    DECIDE,
    DECIDE_LATER,
    PICK_UP_OPEN_TURNS,
    RUN_STEP,
    ask_coplayers,
    ask_coplayers_again,
    ask_for_later_again,
    close_turn_again,
    queue_look,
)
from kitchen.play.turn.step_timer import start_first_turn_timer
from kitchen.play.turn.turn_claims import claim_decision, release_claim, release_dead_claims, renewed_claim
from kitchen.play.turn.turn_searches import (
    episodes_with_timer_due,
    is_any_episode_played,
    minds_asked_separately,
    overdue_turns,
    turns_to_decide,
    unclaimed_questions,
)
from kitchen.uptime.heartbeat import start_heartbeat
from kitchen.uptime.models import Part

log = logging.getLogger(__name__)

PICK_UP_SECONDS = 1.0
"""Seconds between two searches of a worker for unclaimed steps that wait for co-players."""


@shared_task(name=DECIDE)
def decide(episode_id: int, step: int, mind: int | None = None) -> None:
    """Let the agent with number `mind` decide one step (Celery task). Without `mind`, all agents decide one
    after another or, if they decide independently, a task is queued for each.

    Agents that use language models continue in the event loop after the task. The step need not wait for an
    agent whose decision takes effect later. Does nothing if the decision is claimed or the step is over.
    """
    with log_context(episode=episode_id, step=step):
        let_agents_think(episode_id=episode_id, step=step, mind=mind)
        if mind is None and (apart := minds_asked_separately(episode_id, step)):
            for number in apart:
                ask_coplayers(episode_id, step, number)
        elif asks_models(episode_id, mind):
            start_in_loop(_logged(_decide_in_loop(episode_id, step, mind)))
        elif claim := claim_decision(episode_id=episode_id, step=step, mind=mind):
            with renewed_claim(episode_id, claim):
                decide_step(episode_id=episode_id, step=step, claim=claim, mind=mind)


async def _decide_in_loop(episode_id: int, step: int, mind: int | None) -> None:
    if claim := await run_once_in_db_thread(claim_decision, episode_id=episode_id, step=step, mind=mind):
        with renewed_claim(episode_id, claim):
            await decide_step_in_loop(episode_id=episode_id, step=step, claim=claim, mind=mind)


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    """Await the work, and log its failure. `pick_up_open_turns` later finds what was not done."""
    try:
        await work
    except Exception as failure:
        log.error("a decision failed: %s", error_traceback(failure))


@shared_task(name=DECIDE_LATER)
def decide_open_question(episode_id: int, step: int, mind: int) -> None:
    """Celery task: let the agent with number `mind` decide on the question that it was asked in this step.
    Does nothing if another worker has claimed the question or the decision is stored."""
    with log_context(episode=episode_id, step=step):
        if asks_models(episode_id, mind):
            start_in_loop(_logged(decide_later_in_loop(episode_id=episode_id, step=step, mind=mind)))
        else:
            decide_later(episode_id=episode_id, step=step, mind=mind)


@shared_task(name=ANSWER)
def answer(episode_id: int, step: int, mind: int) -> None:
    """Let the agent with number `mind` answer the messages of this step (Celery task). Does nothing if
    another worker has claimed this task or the step is over. After an error, `pick_up_open_turns` asks
    again."""
    with log_context(episode=episode_id, step=step):
        if asks_models(episode_id, mind):
            start_in_loop(_logged(_answer_in_loop(episode_id, step, mind)))
        elif claim := claim_decision(episode_id=episode_id, step=step, mind=mind):
            try:
                with renewed_claim(episode_id, claim):
                    decide_answer(episode_id=episode_id, step=step, mind=mind)
            finally:
                release_claim(claim)
            finish_answer(episode_id=episode_id, step=step)


async def _answer_in_loop(episode_id: int, step: int, mind: int) -> None:
    if claim := await run_once_in_db_thread(claim_decision, episode_id=episode_id, step=step, mind=mind):
        try:
            with renewed_claim(episode_id, claim):
                await decide_answer_in_loop(episode_id=episode_id, step=step, mind=mind)
        finally:
            await run_once_in_db_thread(release_claim, claim)
        await run_once_in_db_thread(finish_answer, episode_id=episode_id, step=step)


@worker_shutdown.connect
def finish_decisions(**_: Any) -> None:
    """Wait for the decisions in progress when the worker shuts down. Their model calls have already cost
    money."""
    if not wait_until_idle(settings.DECISION_SECONDS + FINISH_SECONDS):
        log.warning("decisions are left to other workers")


@shared_task(name=CLOSE_TURN)
def close_turn(episode_id: int, step: int) -> None:
    """Close a turn whose time limit is over (Celery task). Does nothing if the turn has time left or is
    already closed."""
    with log_context(episode=episode_id, step=step):
        close_expired_turn(episode_id=episode_id, step=step)


@shared_task(name=RUN_STEP)
def run_step(episode_id: int, step: int) -> None:
    """Run a step that is due (Celery task). Does nothing if the step is not due or has already run."""
    with log_context(episode=episode_id, step=step):
        run_due_step(episode_id=episode_id, step=step)


@shared_task(name=PICK_UP_OPEN_TURNS)
def pick_up_open_turns() -> int:
    """Find work that no living worker has claimed, and queue it again (Celery task). Return the number of
    steps that wait for agents.

    The work is agents' decisions, answers to messages, and closing of turns. The task also starts the time
    limit of a first turn if some people have not come.
    """
    if not is_any_episode_played():
        return 0
    release_dead_claims()
    for episode_id in episodes_with_timer_due():
        start_first_turn_timer(episode_id=episode_id, everybody=False)
    for episode_id, step in overdue_turns():
        close_turn_again(episode_id, step)
    request_lost_answers()
    for episode_id, step, mind in unclaimed_questions():
        ask_for_later_again(episode_id, step, mind)
    waiting = turns_to_decide()
    for episode_id, step in waiting:
        ask_coplayers_again(episode_id, step)
    return len(waiting)


@task_failure.connect
def let_go_of_the_database(exception: BaseException, **_: Any) -> None:
    """Close the thread's database connection after a task that failed because of the database. The next
    task then gets a new connection."""
    if trouble := database_problem(exception):
        close_failed_connection(trouble)


@worker_ready.connect
def look_for_open_turns(sender: Any, **_: Any) -> None:
    """Prepare a worker that is ready: import the SDKs of model providers, and queue `pick_up_open_turns`
    every second.

    Workers for episodes with people also start their heartbeat.
    """
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
    if settings.CELERY_TASK_DEFAULT_QUEUE in sender.app.amqp.queues.consume_from:
        start_heartbeat(Part.WORKERS)
    sender.timer.call_repeatedly(PICK_UP_SECONDS, queue_look, (PICK_UP_SECONDS,))
    queue_look(PICK_UP_SECONDS)


def _warm_up() -> None:
    """Import the SDKs of the providers that can be used from here before the first decision needs them. This
    takes seconds."""
    for provider in PROVIDERS:
        if not why_unavailable(provider):
            try:
                warm_up_provider(provider)
            except ModelError as error:
                log.warning("the SDK of %s is not ready: %s", provider, error)
