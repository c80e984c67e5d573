"""Run the agents of a step in a worker, and submit their decisions.

Each agent has bounded time. An agent may fall back by itself and say so: a dispatcher whose model gave no
answer lets the planner play. If an agent is late or fails, the fallback of its settings commands
(`Agent.fall_back`), or its seats do the world's idle command. The log says which it was. Submitting is
repeated while the database is unreachable, because models were paid for the decision. A decision that is not
accepted is kept with its cost.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as DecisionTimeoutError
from dataclasses import replace
from functools import partial

from django.db import connection

from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.agent import Situation
from kitchen.contract.language_model import Call, total_cost
from kitchen.contract.world import Json
from kitchen.infra.db_errors import database_problem
from kitchen.infra.db_retry import retry_while_unreachable
from kitchen.infra.greenlet_pool import is_in_background, run_in_background, wait_for
from kitchen.infra.log_context import error_location, error_traceback, with_log_context
from kitchen.play.coplayers.ask_agents import (
    UNSTORABLE_ERRORS,
    AskedMind,
    Asking,
    MindOutcome,
    ask_minds,
    checked_decision,
    commands_and_decisions,
)
from kitchen.play.episode.change_episode import Receipt, run_due_step, submit_commands
from kitchen.play.models import Decision, Episode, Mind
from kitchen.play.turn.decision_records import LATE, keep_in_note, store_dropped_decisions
from kitchen.play.turn.page_broadcast import nudge_pages
from kitchen.play.turn.play_task_queue import is_offline
from kitchen.play.turn.turn_cache import read_turn
from kitchen.registry.agent_registry import agent_kinds, get_agent, make_agent
from kitchen.registry.world_registry import get_world

log = logging.getLogger(__name__)


def submit_decisions(episode: Episode, step: int, claim: str, asked: Sequence[AskedMind]) -> Receipt | None:
    """Hand in what was decided; None if the episode is gone. What the database refuses is raised."""
    submit = partial(_submit, episode, step, claim, asked, [])
    return retry_while_unreachable(submit, f"handing in step {step} of episode {episode.pk}")


def _submit(
    episode: Episode, step: int, claim: str, asked: Sequence[AskedMind], tried: list[Decision]
) -> Receipt | None:
    """One try, with rows of its own, which are added to those that were `tried`."""
    commands, made = commands_and_decisions(asked, step=step, idle=get_world(episode.world).idle)
    tried += [each.row for each in made]
    try:
        receipt = submit_commands(
            episode_id=episode.pk, step=step, commands=commands, decisions=made, claim=claim
        )
    except Episode.DoesNotExist:  # its person has left
        return None
    if not receipt.accepted and _is_stored(tried):
        return _accepted_unsaid(episode, receipt)
    return receipt


def _is_stored(tried: Sequence[Decision]) -> bool:
    """Whether an earlier try was stored although that could not be said, and not what somebody else
    decided."""
    ours = {(row.mind_id, row.step, row.decided_at) for row in tried}
    rows = Decision.objects.filter(mind__in={row.mind_id for row in tried}, step=tried[0].step)
    return any(row in ours for row in rows.values_list("mind_id", "step", "decided_at"))


def _accepted_unsaid(episode: Episode, receipt: Receipt) -> Receipt:
    """What was to be done after that commit was not: the pages look now, and a look finds what waits for
    workers."""
    if not is_offline():
        nudge_pages(episode.pk)
    return Receipt("accepted", receipt.step)


def drop_decisions(episode: Episode, step: int, asked: Sequence[AskedMind], why: str) -> None:
    """Keep what was decided in vain, and say so. What cannot be stored stands in the log of the program and,
    with its money, in the ledger."""
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
    told = [
        replace(each, outcome=replace(each.outcome, decision=keep_in_note(each.outcome.decision)))
        for each in asked
    ]
    _, made = commands_and_decisions(told, step=step, idle=())
    return store_dropped_decisions(episode=episode, rows=[(each.row, each.calls) for each in made], why=why)


def log_dropped_decisions(episode_id: int, step: int, asked: Sequence[AskedMind], why: str) -> None:
    """Say that a decision came to nothing, and what it cost."""
    calls = [call for each in asked for call in each.outcome.decision.calls]
    told = ("step %s of episode %s: decided in vain (%s); %s", step, episode_id, why, _told_calls(calls))
    log.warning(*told)


def _told_calls(calls: Sequence[Call]) -> str:
    """`2 calls of models, 0.0012 USD`."""
    cost = total_cost(call.cost for call in calls)
    money = "at an unknown price" if cost is None else f"{cost:.4f} USD"
    return f"{len(calls)} calls of models, {money}"


FALLBACK_SECONDS = 1.0
"""Time for a fallback to command, beyond the time for the decision; then the seats are idle."""

LateCallback = Callable[["Future[MindDecision]"], None]
"""Told of a decision for which nobody waits any more, once it is there."""
AskFunction = Callable[[str, dict[str, Json], Situation, LateCallback], MindOutcome]
"""What comes of asking a mind of this kind with these settings."""


def decide_step(
    *, episode_id: int, step: int, claim: str = "", ask: AskFunction | None = None, mind: int | None = None
) -> Receipt | None:
    """Ask every mind that is still to decide, or the one of this number, for its commands of this step, by
    `ask_mind` unless another way is given, and hand them in; None if nobody is to be asked: the step is not
    open, it is decided, or everything is and it only has to run."""
    found = retry_while_unreachable(
        partial(_begun, episode_id, step, mind), f"reading step {step} of episode {episode_id}"
    )
    if found is None:
        return None
    episode, asking = found
    return _decide(episode, step, claim, _ask_all(episode, asking, episode.decision_seconds, ask or ask_mind))


def _begun(episode_id: int, step: int, mind: int | None) -> tuple[Episode, Asking] | None:
    """The step's episode, and its minds to be asked; where everything is decided it is run."""
    try:
        with read_turn(episode_id) as turn:
            if turn.step != step or not turn.is_open or turn.is_held:
                return None
            if not turn.is_complete:
                waiting = turn.waiting_minds
                asks = bool(waiting) if mind is None else mind in waiting
                return (turn.episode, ask_minds(turn, only=mind)) if asks else None
    except Episode.DoesNotExist:
        return None
    run_due_step(episode_id=episode_id, step=step)
    return None


def _decide(episode: Episode, step: int, claim: str, asked: Sequence[AskedMind]) -> Receipt | None:
    """Hand in what was decided, or, where that cannot be stored, what the fallbacks command."""
    try:
        receipt = submit_decisions(episode, step, claim, asked)
    except UNSTORABLE_ERRORS as failure:
        if database_problem(failure):
            raise
        log.error("the decisions of step %s could not be stored: %s", step, error_traceback(failure))
        log_dropped_decisions(episode.pk, step, asked, "it could not be stored")
        asked = [_given_up(each, failure) for each in asked]
        receipt = submit_decisions(episode, step, claim, asked)
    if receipt is None:
        log_dropped_decisions(episode.pk, step, asked, "gone")
    elif not receipt.accepted:
        drop_decisions(episode, step, asked, receipt.code)
    return receipt


def _given_up(asked: AskedMind, failure: Exception) -> AskedMind:
    """What could not be stored is not asked, and paid, again and again: the fallback commands, and why is
    said."""
    instead = fallback_outcome(asked.mind.kind, asked.mind.settings, asked.situation, "error")
    return replace(
        asked,
        outcome=replace(asked.outcome, decision=instead, fallback="error", error=error_location(failure)),
    )


def _ask_all(episode: Episode, asking: Asking, seconds: float, ask: AskFunction) -> list[AskedMind]:
    """What is left of the time is shared evenly by the minds that are still to decide: a slow one takes
    nothing from the others."""
    deadline = time.monotonic() + seconds
    try:
        question = next(asking)
        while True:
            share = (deadline - time.monotonic()) / question.left
            told = replace(question.situation, seconds=share)
            late = partial(_came_late, episode, question.mind, told, time.monotonic())
            question = asking.send(ask(question.mind.kind, question.mind.settings, told, late))
    except StopIteration as done:
        asked: list[AskedMind] = done.value
        return asked


def _came_late(
    episode: Episode, mind: Mind, situation: Situation, began: float, made: Future[MindDecision]
) -> None:
    """A mind ended after its time: nobody waits for it any more, and what it says and cost is kept."""
    if failure := made.exception():
        log.warning("a %s that was late failed: %s", mind.kind, type(failure).__name__)
        return
    try:
        outcome = MindOutcome(checked_decision(made.result()), milliseconds=(time.monotonic() - began) * 1000)
        drop_decisions(episode, situation.step + 1, [AskedMind(mind, situation, outcome)], LATE)
    except Exception as error:  # whoever waited has gone on
        log.error("what a %s decided too late was lost: %s", mind.kind, error_traceback(error))


def _within(
    seconds: float,
    name: str,
    make: Callable[[], MindDecision],
    late: LateCallback | None,
    *,
    asks_model: bool,
) -> MindDecision:
    """The decision: one that never ends keeps no other mind waiting.

    TimeoutError after so many seconds, and `late` is told what comes out after that; whatever `make` raises.
    """
    begin = run_in_background if asks_model and is_in_background() else partial(_in_thread, name)
    made = begin(make)
    try:
        return wait_for(made, max(seconds, 0.001))
    except DecisionTimeoutError:
        if late is not None:
            made.add_done_callback(late)
        raise


def _in_thread(name: str, make: Callable[[], MindDecision]) -> Future[MindDecision]:
    """It is made in a thread of its own."""
    made: Future[MindDecision] = Future()

    def decide() -> None:
        try:
            made.set_result(make())
        except BaseException as failure:  # it belongs to whoever waits
            made.set_exception(failure)
        finally:
            connection.close()

    threading.Thread(target=with_log_context(decide), name=f"mind-{name}", daemon=True).start()
    return made


def ask_mind(
    kind: str, settings: dict[str, Json], situation: Situation, late: LateCallback | None = None
) -> MindOutcome:
    """One mind's decision, or what kept it from one and what its fallback commands. Returns within
    `situation.seconds`, and `FALLBACK_SECONDS` if it falls back; `late` is told what comes after that."""
    started = time.monotonic()
    fallback, error = "", ""
    try:
        decision = _decision_of(kind, settings, situation, late)
    except DecisionTimeoutError:
        fallback, error = "timeout", f"no decision within {situation.seconds:.1f} s"
    except Exception as failure:  # a co-player may fail in any way: the episode goes on
        log.error("co-player %s failed: %s", kind, error_traceback(failure))
        fallback, error = "error", error_location(failure)
    if fallback:
        decision = fallback_outcome(kind, settings, situation, fallback)
    return MindOutcome(decision, fallback, error, (time.monotonic() - started) * 1000)


def _decision_of(
    kind: str, settings: Mapping[str, Json], situation: Situation, late: LateCallback | None
) -> MindDecision:
    mind = make_agent(kind, settings)
    ask = partial(mind.decide, situation)
    return checked_decision(_within(situation.seconds, kind, ask, late, asks_model=bool(mind.names_model)))


def fallback_outcome(
    kind: str, settings: Mapping[str, Json], situation: Situation, code: str
) -> MindDecision:
    """What the mind's fallback commands; nothing if that fails too."""
    try:
        ask = partial(make_agent(kind, settings).fall_back, situation, code)
        return checked_decision(_within(FALLBACK_SECONDS, f"{kind}-fallback", ask, None, asks_model=False))
    except Exception as failure:
        log.error("the fallback of co-player %s failed: %s", kind, error_traceback(failure))
        return MindDecision(commands={}, memory=situation.memory)


def asks_models(episode_id: int, mind: int | None) -> bool:
    """Whether one of the minds that are to be asked asks a language model."""
    minds = Mind.objects.filter(episode=episode_id)
    kinds = set((minds if mind is None else minds.filter(number=mind)).values_list("kind", flat=True))
    return any(get_agent(kind).names_model for kind in kinds & agent_kinds().keys())
