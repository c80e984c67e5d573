"""Asking the co-players of one step in a worker: one mind, or each in turn, in bounded time, with a stated
fallback.

A mind may fall back by itself (a dispatcher whose model gave no answer lets the planner play) and says so.

A mind that is late or fails holds nobody up: its own fallback, as its settings name it, commands at once
(`Agent.fall_back`), else its seats do the world's idle command (noop). The log says which it was.
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
from kitchen.contract.world import Json
from kitchen.machine.about import carried
from kitchen.machine.failures import told, traced
from kitchen.machine.outage import outlast
from kitchen.machine.storage import trouble_of
from kitchen.machine.waiting import in_background, is_in_background, wait_for
from kitchen.play.asking import UNSTORABLE, Asked, Asking, MindOutcome, ask_minds, checked
from kitchen.play.dropping import LATE
from kitchen.play.handing_in import decided_drop, decided_submit, tell_vain
from kitchen.play.kept import turn_now
from kitchen.play.models import Episode, Mind
from kitchen.play.services import Receipt, step_run
from kitchen.registry.agents import agent_kinds, get_agent, make_agent

log = logging.getLogger(__name__)

FALLBACK_SECONDS = 1.0
"""Time for a fallback to command, beyond the time for the decision; then the seats are idle."""

Late = Callable[["Future[MindDecision]"], None]
"""Told of a decision for which nobody waits any more, once it is there."""
Ask = Callable[[str, dict[str, Json], Situation, Late], MindOutcome]
"""What comes of asking a mind of this kind with these settings."""


def decide_step(
    *, episode_id: int, step: int, claim: str = "", ask: Ask | None = None, mind: int | None = None
) -> Receipt | None:
    """Ask every mind that is still to decide, or the one of this number, for its commands of this step, by
    `ask_mind` unless another way is given, and hand them in; None if nobody is to be asked: the step is not
    open, it is decided, or everything is and it only has to run."""
    found = outlast(partial(_begun, episode_id, step, mind), f"reading step {step} of episode {episode_id}")
    if found is None:
        return None
    episode, asking = found
    return _decide(episode, step, claim, _ask_all(episode, asking, episode.decision_seconds, ask or ask_mind))


def _begun(episode_id: int, step: int, mind: int | None) -> tuple[Episode, Asking] | None:
    """The step's episode, and its minds to be asked; where everything is decided it is run."""
    try:
        with turn_now(episode_id) as turn:
            if turn.step != step or not turn.is_open or turn.is_held:
                return None
            if not turn.is_complete:
                waiting = turn.waiting_minds
                asks = bool(waiting) if mind is None else mind in waiting
                return (turn.episode, ask_minds(turn, only=mind)) if asks else None
    except Episode.DoesNotExist:
        return None
    step_run(episode_id=episode_id, step=step)
    return None


def _decide(episode: Episode, step: int, claim: str, asked: Sequence[Asked]) -> Receipt | None:
    """Hand in what was decided, or, where that cannot be stored, what the fallbacks command."""
    try:
        receipt = decided_submit(episode, step, claim, asked)
    except UNSTORABLE as failure:
        if trouble_of(failure):
            raise
        log.error("the decisions of step %s could not be stored: %s", step, traced(failure))
        tell_vain(episode.pk, step, asked, "it could not be stored")
        asked = [_given_up(each, failure) for each in asked]
        receipt = decided_submit(episode, step, claim, asked)
    if receipt is None:
        tell_vain(episode.pk, step, asked, "gone")
    elif not receipt.accepted:
        decided_drop(episode, step, asked, receipt.code)
    return receipt


def _given_up(asked: Asked, failure: Exception) -> Asked:
    """What could not be stored is not asked, and paid, again and again: the fallback commands, and why is
    said."""
    instead = fallen_back(asked.mind.kind, asked.mind.settings, asked.situation, "error")
    return replace(
        asked, outcome=replace(asked.outcome, decision=instead, fallback="error", error=told(failure))
    )


def _ask_all(episode: Episode, asking: Asking, seconds: float, ask: Ask) -> list[Asked]:
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
        asked: list[Asked] = done.value
        return asked


def _came_late(
    episode: Episode, mind: Mind, situation: Situation, began: float, made: Future[MindDecision]
) -> None:
    """A mind ended after its time: nobody waits for it any more, and what it says and cost is kept."""
    if failure := made.exception():
        log.warning("a %s that was late failed: %s", mind.kind, type(failure).__name__)
        return
    try:
        outcome = MindOutcome(checked(made.result()), milliseconds=(time.monotonic() - began) * 1000)
        decided_drop(episode, situation.step + 1, [Asked(mind, situation, outcome)], LATE)
    except Exception as error:  # whoever waited has gone on
        log.error("what a %s decided too late was lost: %s", mind.kind, traced(error))


def _within(
    seconds: float, name: str, make: Callable[[], MindDecision], late: Late | None, *, asks_model: bool
) -> MindDecision:
    """The decision: one that never ends keeps no other mind waiting.

    TimeoutError after so many seconds, and `late` is told what comes out after that; whatever `make` raises.
    """
    begin = in_background if asks_model and is_in_background() else partial(_in_thread, name)
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

    threading.Thread(target=carried(decide), name=f"mind-{name}", daemon=True).start()
    return made


def ask_mind(
    kind: str, settings: dict[str, Json], situation: Situation, late: Late | None = None
) -> MindOutcome:
    """One mind's decision, or what kept it from one and what its fallback commands. Returns within
    `situation.seconds`, and `FALLBACK_SECONDS` if it falls back; `late` is told what comes after that."""
    started = time.monotonic()
    fallback, error = "", ""
    try:
        decision = _decided(kind, settings, situation, late)
    except DecisionTimeoutError:
        fallback, error = "timeout", f"no decision within {situation.seconds:.1f} s"
    except Exception as failure:  # a co-player may fail in any way: the episode goes on
        log.error("co-player %s failed: %s", kind, traced(failure))
        fallback, error = "error", told(failure)
    if fallback:
        decision = fallen_back(kind, settings, situation, fallback)
    return MindOutcome(decision, fallback, error, (time.monotonic() - started) * 1000)


def _decided(
    kind: str, settings: Mapping[str, Json], situation: Situation, late: Late | None
) -> MindDecision:
    mind = make_agent(kind, settings)
    ask = partial(mind.decide, situation)
    return checked(_within(situation.seconds, kind, ask, late, asks_model=bool(mind.names_model)))


def fallen_back(kind: str, settings: Mapping[str, Json], situation: Situation, code: str) -> MindDecision:
    """What the mind's fallback commands; nothing if that fails too."""
    try:
        ask = partial(make_agent(kind, settings).fall_back, situation, code)
        return checked(_within(FALLBACK_SECONDS, f"{kind}-fallback", ask, None, asks_model=False))
    except Exception as failure:
        log.error("the fallback of co-player %s failed: %s", kind, traced(failure))
        return MindDecision(commands={}, memory=situation.memory)


def asks_models(episode_id: int, mind: int | None) -> bool:
    """Whether one of the minds that are to be asked asks a language model."""
    minds = Mind.objects.filter(episode=episode_id)
    kinds = set((minds if mind is None else minds.filter(number=mind)).values_list("kind", flat=True))
    return any(get_agent(kind).names_model for kind in kinds & agent_kinds().keys())
