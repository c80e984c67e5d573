"""Ask the agents of one step for their decisions, and submit these decisions, in a Celery worker.

Each agent has a time limit. If an agent is late or fails, its fallback rule (`Agent.fall_back`) gives the
commands. If the fallback fails too, the agent's players do nothing. A decision that is not accepted is stored
with its cost, but has no effect.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import TypeVar

from django.db import connection

from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.agent import Situation
from kitchen.contract.language_model import Call, total_cost
from kitchen.contract.talk_cost import charge_talk
from kitchen.contract.world import Json
from kitchen.infra.db_errors import database_problem
from kitchen.infra.db_retry import retry_while_unreachable, run_once_in_db_thread
from kitchen.infra.event_loop import run_in_loop, start_in_loop
from kitchen.infra.log_context import error_location, error_traceback, with_log_context
from kitchen.play.coplayers.agent_situations import (
    UNSTORABLE_ERRORS,
    AskedMind,
    Asking,
    MindOutcome,
    ask_minds,
    checked_decision,
    commands_and_decisions,
)
from kitchen.play.episode.advance_episode import run_due_step, submit_commands
from kitchen.play.models import Decision, Episode, Mind
from kitchen.play.turn.decision_records import LATE, keep_in_note, store_dropped_decisions
from kitchen.play.turn.page_broadcast import nudge_pages
from kitchen.play.turn.play_task_queue import is_offline
from kitchen.play.turn.submitted_commands import Receipt
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_claims import release_claim
from kitchen.play.turn.turn_rules import is_held, minds_asked, missing_seats
from kitchen.registry.agent_registry import agent_kinds, get_agent, make_agent
from kitchen.registry.world_registry import get_world

log = logging.getLogger(__name__)

T = TypeVar("T")


def submit_decisions(episode: Episode, step: int, claim: str, asked: Sequence[AskedMind]) -> Receipt | None:
    """Submit the decisions in `asked` for this step. Retry for some seconds while the database is
    unreachable.

    `claim` is the worker's claim on the decisions (see `turn_claims`). Returns None if the episode was
    erased. Raises one of `UNSTORABLE_ERRORS` if a decision cannot be stored.
    """
    submit = partial(_submit, episode, step, claim, asked, [])
    return retry_while_unreachable(submit, f"handing in step {step} of episode {episode.pk}")


def _submit(
    episode: Episode, step: int, claim: str, asked: Sequence[AskedMind], tried: list[Decision]
) -> Receipt | None:
    """Try once to submit these decisions. Return the receipt, or None if the episode was erased. The new
    database rows are added to `tried`."""
    commands, made = commands_and_decisions(asked, step=step, idle=get_world(episode.world).idle)
    tried += [each.row for each in made]
    try:
        receipt = submit_commands(
            episode_id=episode.pk, step=step, commands=commands, decisions=made, claim=claim
        )
    except Episode.DoesNotExist:  # the person has withdrawn
        return None
    if not receipt.accepted and _is_stored(tried):
        return _accepted_unsaid(episode, receipt)
    return receipt


def _is_stored(tried: Sequence[Decision]) -> bool:
    """Return True if an earlier try, whose confirmation was lost, had stored these decisions (`tried`).
    Return False if another worker's decisions were stored instead."""
    ours = {(row.mind_id, row.step, row.decided_at) for row in tried}
    rows = Decision.objects.filter(mind__in={row.mind_id for row in tried}, step=tried[0].step)
    return any(row in ours for row in rows.values_list("mind_id", "step", "decided_at"))


def _accepted_unsaid(episode: Episode, receipt: Receipt) -> Receipt:
    """Return a receipt with the status `accepted`, for decisions that an earlier try had stored. Notify the
    open pages, which the earlier try could not do. Workers' tasks are queued later by a periodic check."""
    if not is_offline():
        nudge_pages(episode.pk)
    return Receipt("accepted", receipt.step)


def drop_decisions(episode: Episode, step: int, asked: Sequence[AskedMind], why: str) -> None:
    """Store decisions without effect, for example because they came too late, and log them. `why` is the
    reason.

    If a decision cannot be stored, it is only in the log and in the budget's records.
    """
    kept = partial(_drop, episode, step, asked, why)
    try:
        stored = retry_while_unreachable(
            kept, f"keeping what was decided in vain for step {step} of episode {episode.pk}"
        )
    except UNSTORABLE_ERRORS as failure:
        if database_problem(failure):
            raise
        log.error("what was decided in vain could not be stored: %s", error_traceback(failure))
        stored = False
    log_dropped_decisions(episode.pk, step, asked, why if stored else f"{why}, and not in the data")


def _drop(episode: Episode, step: int, asked: Sequence[AskedMind], why: str) -> bool:
    with_notes = [
        replace(each, outcome=replace(each.outcome, decision=keep_in_note(each.outcome.decision)))
        for each in asked
    ]
    _, made = commands_and_decisions(with_notes, step=step, idle=())
    return store_dropped_decisions(episode=episode, rows=[(each.row, each.calls) for each in made], why=why)


def log_dropped_decisions(episode_id: int, step: int, asked: Sequence[AskedMind], why: str) -> None:
    """Log a warning that these decisions for a step had no effect. The warning names the reason `why`, the
    number of model calls and their cost."""
    calls = [call for each in asked for call in each.outcome.decision.calls]
    log.warning(
        "step %s of episode %s: decided in vain (%s); %s", step, episode_id, why, _calls_summary(calls)
    )


def _calls_summary(calls: Sequence[Call]) -> str:
    """Return a summary of the model calls, for example `2 calls of models, 0.0012 USD`."""
    cost = total_cost(call.cost for call in calls)
    money = "at an unknown price" if cost is None else f"{cost:.4f} USD"
    return f"{len(calls)} calls of models, {money}"


FALLBACK_SECONDS = 1.0
"""Seconds that a fallback has to command, beyond the time for the decision. After that the seats are idle."""

LateCallback = Callable[["Future[MindDecision]"], None]
"""Callback that receives a decision that arrives after its deadline. It may use the database."""
AskArguments = tuple[str, dict[str, Json], Situation, LateCallback]
"""An agent's kind and settings, its situation, and the callback."""
AskFunction = Callable[[str, dict[str, Json], Situation, LateCallback], MindOutcome]
"""Function that asks an agent of this kind with these settings, and returns the outcome."""


def decide_step(
    *, episode_id: int, step: int, claim: str = "", ask: AskFunction | None = None, mind: int | None = None
) -> Receipt | None:
    """Ask the agents that still have to decide this step, and submit their decisions. Blocks the thread.

    If `mind` (an agent's number) is given, only this agent is asked. `claim` is the worker's claim on the
    decisions (see `turn_claims`). `ask` replaces the function `ask_mind`. If all agents have decided but the
    step has not run, the step is run.

    Returns None if no agent has to be asked, for example because the step is already over.
    """
    if (begun := _begin_step(episode_id, step, mind, claim)) is None:
        return None
    episode, questions = begun
    try:
        question = next(questions)
        while True:
            question = questions.send((ask or ask_mind)(*question))
    except StopIteration as done:
        return _decide(episode, step, claim, done.value)


async def decide_step_in_loop(
    *, episode_id: int, step: int, claim: str, mind: int | None = None
) -> Receipt | None:
    """Ask the agents that still have to decide this step, and submit their decisions, without blocking the
    event loop.

    Takes the same arguments and returns the same result as `decide_step`.
    """
    begun = await run_once_in_db_thread(_begin_step, episode_id, step, mind, claim)
    if begun is None:
        return None
    episode, questions = begun
    try:
        question = next(questions)
        while True:
            question = questions.send(await ask_mind_in_loop(*question))
    except StopIteration as done:
        asked: list[AskedMind] = done.value
    return await run_once_in_db_thread(_decide, episode, step, claim, asked)


Questions = Generator[AskArguments, MindOutcome, list[AskedMind]]


def _begin_step(episode_id: int, step: int, mind: int | None, claim: str) -> tuple[Episode, Questions] | None:
    """Return the step's episode and the questions to its agents, or None if nobody has to be asked. Then
    release the claim, because the agents may soon have to answer a message."""
    found = retry_while_unreachable(
        partial(_begun, episode_id, step, mind), f"reading step {step} of episode {episode_id}"
    )
    if found is None and claim:
        release_claim(claim)
    return found and (found[0], _timed(*found))


def _begun(episode_id: int, step: int, mind: int | None) -> tuple[Episode, Asking] | None:
    """Return the step's episode and the agents to ask. Return None if nobody has to be asked. If all agents
    have already decided, run the step."""
    try:
        with read_turn(episode_id) as turn:
            if turn.step != step or not turn.is_open or is_held(turn) or turn.people_to_answer:
                return None
            if missing_seats(turn):
                waiting = [mind.number for mind in minds_asked(turn)]
                asks = bool(waiting) if mind is None else mind in waiting
                return (turn.episode, ask_minds(turn, only=mind)) if asks else None
    except Episode.DoesNotExist:
        return None
    run_due_step(episode_id=episode_id, step=step)
    return None


def _decide(episode: Episode, step: int, claim: str, asked: Sequence[AskedMind]) -> Receipt | None:
    """Submit the decisions. If they cannot be stored, submit the fallbacks' commands."""
    asked, receipt = _store_or_give_up(episode, step, asked, partial(submit_decisions, episode, step, claim))
    if receipt is None:
        log_dropped_decisions(episode.pk, step, asked, "gone")
    elif not receipt.accepted:
        drop_decisions(episode, step, asked, receipt.code)
    return receipt


def store_single_decision(
    episode: Episode, step: int, asked: AskedMind, store: Callable[[AskedMind], bool]
) -> bool:
    """Store one agent's decision by calling `store`. Return True if a decision was stored.

    If `store` returns False, the decision is no longer needed and is kept without effect. If storing fails,
    `store` is called again with the fallback's commands.
    """
    (asked,), is_stored = _store_or_give_up(episode, step, [asked], lambda tried: store(tried[0]))
    if not is_stored:
        drop_decisions(episode, step, [asked], LATE)
    return is_stored


def _store_or_give_up(
    episode: Episode, step: int, asked: Sequence[AskedMind], store: Callable[[Sequence[AskedMind]], T]
) -> tuple[Sequence[AskedMind], T]:
    """Store decisions by calling `store`. Return the decisions that were tried last, and the result of
    `store`.

    If the decisions cannot be stored, `store` is called again with the commands of the agents' fallbacks.
    """
    try:
        return asked, store(asked)
    except UNSTORABLE_ERRORS as failure:
        if database_problem(failure):
            raise
        log.error("the decisions of step %s could not be stored: %s", step, error_traceback(failure))
        log_dropped_decisions(episode.pk, step, asked, "it could not be stored")
        asked = [_given_up(each, failure) for each in asked]
        return asked, store(asked)


def _given_up(asked: AskedMind, failure: Exception) -> AskedMind:
    """Return the outcome of the agent's fallback in place of a decision that cannot be stored, with the
    error. If nothing were stored, the agent would be asked (and paid) again and again."""
    instead = fallback_outcome(asked.mind.kind, asked.mind.settings, asked.situation, "error")
    return replace(
        asked,
        outcome=replace(asked.outcome, decision=instead, fallback="error", error=error_location(failure)),
    )


def _timed(episode: Episode, asking: Asking) -> Questions:
    """Yield the questions, each with its time limit. The remaining time is divided evenly among the agents
    that are not asked yet. So a slow agent takes no time from others."""
    deadline = time.monotonic() + episode.decision_seconds
    try:
        question = next(asking)
        while True:
            share = (deadline - time.monotonic()) / question.left
            situation = question.situation.limited(seconds=share)
            late = partial(store_late_decision, episode, question.mind, situation, time.monotonic())
            question = asking.send((yield question.mind.kind, question.mind.settings, situation, late))
    except StopIteration as done:
        asked: list[AskedMind] = done.value
        return asked


def store_late_decision(
    episode: Episode, mind: Mind, situation: Situation, began: float, made: Future[MindDecision]
) -> None:
    """Store a decision that arrived after its deadline. It has no effect on the game; its content and cost
    are kept. Errors are only logged."""
    if failure := made.exception():
        log.warning("a %s that was late failed: %s", mind.kind, type(failure).__name__)
        return
    try:
        outcome = MindOutcome(checked_decision(made.result()), milliseconds=(time.monotonic() - began) * 1000)
        drop_decisions(episode, situation.step + 1, [AskedMind(mind, situation, outcome)], LATE)
    except Exception as error:  # nobody waits for this result any more
        log.error("what a %s decided too late was lost: %s", mind.kind, error_traceback(error))


async def _within(seconds: float, made: Future[MindDecision]) -> MindDecision:
    """Wait at most `seconds` for the decision and return it.

    Raises TimeoutError if the decision is not ready in time; the agent keeps working on it. Errors of the
    agent are raised, too.
    """
    waited = asyncio.wrap_future(made)
    waited.add_done_callback(asyncio.Future.exception)  # nobody may be left to read it
    done, _ = await asyncio.wait({waited}, timeout=max(seconds, 0.001))
    if not done:
        raise TimeoutError
    return waited.result()


def _in_thread(name: str, make: Callable[[], MindDecision]) -> Future[MindDecision]:
    """Run `make` in a separate thread, and return a future of its result."""
    made: Future[MindDecision] = Future()

    def decide() -> None:
        try:
            made.set_result(make())
        except BaseException as failure:  # the caller that waits raises it
            made.set_exception(failure)
        finally:
            connection.close()

    threading.Thread(target=with_log_context(decide), name=f"mind-{name}", daemon=True).start()
    return made


def ask_mind(
    kind: str, settings: dict[str, Json], situation: Situation, late: LateCallback | None = None
) -> MindOutcome:
    """Ask one agent for its decision, and block the thread until the agent answers. Arguments and result are
    those of `ask_mind_in_loop`."""
    return run_in_loop(ask_mind_in_loop(kind, settings, situation, late))


async def ask_mind_in_loop(
    kind: str, settings: dict[str, Json], situation: Situation, late: LateCallback | None = None
) -> MindOutcome:
    """Return an agent's decision in this situation. If the agent is late or fails, return the commands of its
    fallback and the reason.

    `kind` and `settings` define the agent. It has `situation.limits.seconds` for its decision, and its
    fallback has `FALLBACK_SECONDS` more. If the agent's own decision arrives later, `late` is called with the
    decision's future.
    """
    started = time.monotonic()
    fallback, error = "", ""
    try:
        made = await _decision_of(kind, settings, situation, late)
        decision = checked_decision(charge_talk(situation, made))
    except TimeoutError:
        fallback, error = "timeout", f"no decision within {situation.limits.seconds:.1f} s"
    except Exception as failure:  # an agent may fail in any way: the episode goes on
        log.error("co-player %s failed: %s", kind, error_traceback(failure))
        fallback, error = "error", error_location(failure)
    if fallback:
        decision = await _fallback_in_loop(kind, settings, situation, fallback)
    return MindOutcome(decision, fallback, error, (time.monotonic() - started) * 1000)


async def _decision_of(
    kind: str, settings: Mapping[str, Json], situation: Situation, late: LateCallback | None
) -> MindDecision:
    """Return the agent's decision. An agent that calls language models runs in this event loop. Any other
    agent runs in a separate thread, so that an endless computation blocks nobody else."""
    mind = make_agent(kind, settings)
    if mind.names_model:
        made = start_in_loop(mind.decide(situation))
    else:
        made = _in_thread(kind, partial(asyncio.run, mind.decide(situation)))
    try:
        return await _within(situation.limits.seconds, made)
    except TimeoutError:
        if late and mind.names_model:
            start_in_loop(_wait_for_late(made, late))
        elif late:
            made.add_done_callback(late)
        raise


async def _wait_for_late(made: Future[MindDecision], late: LateCallback) -> None:
    await asyncio.wait({asyncio.wrap_future(made)})
    await run_once_in_db_thread(late, made)


def fallback_outcome(
    kind: str, settings: Mapping[str, Json], situation: Situation, code: str
) -> MindDecision:
    """Return the decision of the agent's fallback in this situation. Blocks the thread.

    `code` is the reason why the agent itself did not decide, such as `timeout`. The decision has no
    commands if the fallback fails too.
    """
    return run_in_loop(_fallback_in_loop(kind, settings, situation, code))


async def _fallback_in_loop(
    kind: str, settings: Mapping[str, Json], situation: Situation, code: str
) -> MindDecision:
    try:
        ask = partial(make_agent(kind, settings).fall_back, situation, code)
        return checked_decision(await _within(FALLBACK_SECONDS, _in_thread(f"{kind}-fallback", ask)))
    except Exception as failure:
        log.error("the fallback of co-player %s failed: %s", kind, error_traceback(failure))
        return MindDecision(commands={}, memory=situation.memory)


def asks_models(episode_id: int, mind: int | None) -> bool:
    """Return whether an agent of this episode uses a language model. If `mind` (an agent's number) is
    given, only this agent is checked."""
    minds = Mind.objects.filter(episode=episode_id)
    kinds = set((minds if mind is None else minds.filter(number=mind)).values_list("kind", flat=True))
    return any(get_agent(kind).names_model for kind in kinds & agent_kinds().keys())
