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
from kitchen.contract.model import Call, total
from kitchen.contract.world import Json
from kitchen.machine.about import carried
from kitchen.machine.failures import told, traced
from kitchen.machine.outage import outlast
from kitchen.machine.storage import trouble_of
from kitchen.play.asking import UNSTORABLE, Asked, Asking, MindOutcome, ask_minds, checked, to_hand_in
from kitchen.play.kept import turn_now
from kitchen.play.models import Decision, Episode
from kitchen.play.queue import is_aside
from kitchen.play.services import Receipt, commands_submit, step_run
from kitchen.play.stream import nudge_pages
from kitchen.registry.agents import make_agent
from kitchen.registry.worlds import get_world

log = logging.getLogger(__name__)

FALLBACK_SECONDS = 1.0
"""Time for a fallback to command, beyond the time for the decision; then the seats are idle."""

Late = Callable[["Future[MindDecision]"], None]
"""Told of a decision for which nobody waits any more."""
Ask = Callable[[str, dict[str, Json], Situation], MindOutcome]
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
    return _decide(episode, step, claim, _ask_all(asking, episode.decision_seconds, ask or ask_mind))


def _begun(episode_id: int, step: int, mind: int | None) -> tuple[Episode, Asking] | None:
    """The step's episode, and its minds to be asked; where everything is decided it is run."""
    try:
        with turn_now(episode_id) as turn:
            if turn.step != step or not turn.is_open:
                return None
            if not turn.is_complete:
                waits = mind is None or mind in turn.waiting_minds
                return (turn.episode, ask_minds(turn, only=mind)) if waits else None
    except Episode.DoesNotExist:
        return None
    step_run(episode_id=episode_id, step=step)
    return None


def _decide(episode: Episode, step: int, claim: str, asked: Sequence[Asked]) -> Receipt | None:
    """Hand in what was decided, or, where that cannot be stored, what the fallbacks command."""
    try:
        receipt = _hand_in(episode, step, claim, asked)
    except UNSTORABLE as failure:
        if trouble_of(failure):
            raise
        log.error("the decisions of step %s could not be stored: %s", step, traced(failure))
        _tell_dropped(episode, step, asked, "it could not be stored")
        asked = [_given_up(each, failure) for each in asked]
        receipt = _hand_in(episode, step, claim, asked)
    if receipt is None or not receipt.accepted:
        _tell_dropped(episode, step, asked, receipt.code if receipt else "gone")
    return receipt


def _given_up(asked: Asked, failure: Exception) -> Asked:
    """What could not be stored is not asked, and paid, again and again: the fallback commands, and why is
    said."""
    instead = fallen_back(asked.mind.kind, asked.mind.settings, asked.situation, "error")
    return replace(
        asked, outcome=replace(asked.outcome, decision=instead, fallback="error", error=told(failure))
    )


def _hand_in(episode: Episode, step: int, claim: str, asked: Sequence[Asked]) -> Receipt | None:
    """Hand in what was decided, and again while the database is away for a moment: models were paid for it.
    None if the episode is gone."""
    submit = partial(_submit, episode, step, claim, asked, [])
    return outlast(submit, f"handing in step {step} of episode {episode.pk}")


def _submit(
    episode: Episode, step: int, claim: str, asked: Sequence[Asked], tried: list[Decision]
) -> Receipt | None:
    """One try, with rows of its own, which are added to those that were `tried`."""
    commands, made = to_hand_in(asked, step=step, idle=get_world(episode.world).idle)
    tried += [each.row for each in made]
    try:
        receipt = commands_submit(
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
    if not is_aside():
        nudge_pages(episode.pk)
    return Receipt("accepted", receipt.step)


def _tell_dropped(episode: Episode, step: int, asked: Sequence[Asked], why: str) -> None:
    """A decision that is not taken leaves no row: what it cost stands in the ledger and here."""
    calls = [call for each in asked for call in each.outcome.decision.calls]
    log.warning("step %s of episode %s: decided in vain (%s); %s", step, episode.pk, why, _told_calls(calls))


def _told_calls(calls: Sequence[Call]) -> str:
    """`2 calls of models, 0.0012 USD, are not in the data`."""
    cost = total(call.cost for call in calls)
    money = "at an unknown price" if cost is None else f"{cost:.4f} USD"
    return f"{len(calls)} calls of models, {money}, are not in the data"


def _ask_all(asking: Asking, seconds: float, ask: Ask) -> list[Asked]:
    """What is left of the time is shared evenly by the minds that are still to decide: a slow one takes
    nothing from the others."""
    deadline = time.monotonic() + seconds
    try:
        question = next(asking)
        while True:
            share = (deadline - time.monotonic()) / question.left
            told = replace(question.situation, seconds=share)
            question = asking.send(ask(question.mind.kind, question.mind.settings, told))
    except StopIteration as done:
        asked: list[Asked] = done.value
        return asked


def _within(seconds: float, name: str, make: Callable[[], MindDecision], late: Late) -> MindDecision:
    """The decision, made in a thread of its own: one that never ends keeps no other mind waiting.

    TimeoutError after so many seconds, and `late` is told what comes out after that; whatever `make` raises.
    """
    made: Future[MindDecision] = Future()
    given_up = threading.Event()

    def decide() -> None:
        try:
            made.set_result(make())
        except BaseException as failure:  # it belongs to whoever waits
            made.set_exception(failure)
        finally:
            connection.close()
        if given_up.is_set():
            late(made)

    threading.Thread(target=carried(decide), name=f"mind-{name}", daemon=True).start()
    try:
        return made.result(timeout=max(seconds, 0.001))
    except DecisionTimeoutError:
        given_up.set()
        raise


def _tell_late(kind: str, step: int, made: Future[MindDecision]) -> None:
    """A mind that ends after its time: nobody waits for it any more, and nothing of it is stored."""
    calls = made.result().calls if made.exception() is None else ()
    log.warning("a %s was late with step %s; %s", kind, step, _told_calls(calls))


def ask_mind(kind: str, settings: dict[str, Json], situation: Situation) -> MindOutcome:
    """One mind's decision, or what kept it from one and what its fallback commands. Returns within
    `situation.seconds`, and `FALLBACK_SECONDS` if it falls back."""
    started = time.monotonic()
    fallback, error = "", ""
    try:
        decision = _decided(kind, settings, situation)
    except DecisionTimeoutError:
        fallback, error = "timeout", f"no decision within {situation.seconds:.1f} s"
    except Exception as failure:  # a co-player may fail in any way: the episode goes on
        log.error("co-player %s failed: %s", kind, traced(failure))
        fallback, error = "error", told(failure)
    if fallback:
        decision = fallen_back(kind, settings, situation, fallback)
    return MindOutcome(decision, fallback, error, (time.monotonic() - started) * 1000)


def _decided(kind: str, settings: Mapping[str, Json], situation: Situation) -> MindDecision:
    return checked(
        _within(
            situation.seconds,
            kind,
            lambda: make_agent(kind, settings).decide(situation),
            partial(_tell_late, kind, situation.step + 1),
        )
    )


def fallen_back(kind: str, settings: Mapping[str, Json], situation: Situation, code: str) -> MindDecision:
    """What the mind's fallback commands; nothing if that fails too."""
    try:
        return checked(
            _within(
                FALLBACK_SECONDS,
                f"{kind}-fallback",
                lambda: make_agent(kind, settings).fall_back(situation, code),
                lambda made: None,
            )
        )
    except Exception as failure:
        log.error("the fallback of co-player %s failed: %s", kind, traced(failure))
        return MindDecision(commands={}, memory=situation.memory)
