"""Ask the agents of a real-time episode after each step (tick) for their commands in the next tick.

The clock does not wait for them. There are three kinds of agents:

- Agents that need almost no processor time (`Agent.light`) decide at once in this process.
- Other agents without a language model run in a process pool (`kitchen.infra.process_pool`).
- Agents with a language model run in an event loop (`kitchen.infra.event_loop`). They may think for several
  ticks, up to the episode's time limit for decisions.

If an agent has not answered by the next tick, its fallback rule gives the commands. The agent is asked again
only after it has answered.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

from kitchen.contract.agent import Decision, Situation, run_without_waiting
from kitchen.infra import process_pool
from kitchen.infra.db_retry import run_once_in_db_thread
from kitchen.infra.event_loop import start_in_loop
from kitchen.infra.log_context import error_location, error_traceback
from kitchen.play.coplayers.agent_situations import (
    AskedMind,
    MindOutcome,
    checked_decision,
    decision_row,
    realtime_situation,
)
from kitchen.play.models import Episode, Mind
from kitchen.play.turn.decision_records import OVER, keep_in_note, store_dropped_decisions
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.registry.agent_registry import decide_with_settings, get_agent, make_agent

log = logging.getLogger(__name__)
NOT_IN_TIME = "not in time for the tick"


@dataclass(slots=True)
class PendingDecision:
    """A question to an agent, and the future of its decision."""

    mind: Mind
    situation: Situation
    made: Future[Decision]
    began: float
    """Start time, by the monotonic clock."""
    ended: float | None = None
    """End time, by the monotonic clock. None while the agent thinks."""

    def end(self, _: object) -> None:
        """Record the time at which the agent has answered. Called by the future."""
        self.ended = time.monotonic()

    @property
    def took(self) -> float:
        """Return milliseconds that the agent took to answer, or has taken so far."""
        return ((self.ended or time.monotonic()) - self.began) * 1000

    @property
    def is_late(self) -> bool:
        """Return True if the agent has taken more than its allowed time."""
        return self.took > self.situation.limits.seconds * 1000


class RealtimeAgents:
    """The agents of one real-time episode, and their decisions in progress."""

    def __init__(self, heard: Mapping[int, int] | None = None) -> None:
        """`heard` are the numbers of the last messages that they knew, if another process has asked them
        before."""
        self._thinking: dict[int, PendingDecision] = {}
        self._heard = dict(heard or {})
        """The number of the last message that each agent knew when it was asked, by agent id."""

    @property
    def waits_for_model(self) -> bool:
        """Return whether an agent is asking a language model. Its answer has to be paid for."""
        return any(
            get_agent(one.mind.kind).names_model and not one.made.done() for one in self._thinking.values()
        )

    def ask(self, turn: OpenTurn, seconds: float) -> None:
        """Ask every agent to decide on the open step, except agents that still think about an earlier step.
        Returns at once. `seconds` is the time until the open step runs."""
        for mind in turn.minds:
            if mind.pk not in self._thinking:
                situation = realtime_situation(turn, mind, self._heard.get(mind.pk, 0))
                self._heard[mind.pk] = turn.episode.messages
                self._thinking[mind.pk] = _asked(turn, mind, situation, seconds)

    def answers(self, turn: OpenTurn) -> list[AskedMind]:
        """Return each agent's decision for the open step. If an agent has not answered, return the
        decision of its fallback."""
        return [self._answer(turn, mind) for mind in turn.minds]

    def _answer(self, turn: OpenTurn, mind: Mind) -> AskedMind:
        one = self._thinking[mind.pk]
        of_now = one.situation.step == turn.episode.step
        heard = self._heard.get(mind.pk, 0)
        situation = one.situation if of_now else realtime_situation(turn, mind, heard)
        if not one.made.done():
            return AskedMind(mind, situation, _meanwhile(one, situation))
        del self._thinking[mind.pk]
        outcome = _outcome(one, situation)
        if not of_now and not outcome.error:
            outcome = _arrived(one, situation, outcome)
        return AskedMind(mind, replace(situation, step=one.situation.step), outcome)

    def leave(self, episode: Episode) -> None:
        """Stop asking agents, because the episode ends or another process takes it over.

        Decisions in progress that use a language model are stored later as dropped, because their calls
        cost money.
        """
        thinking, self._thinking = self._thinking, {}
        for one in thinking.values():
            if get_agent(one.mind.kind).names_model:
                one.made.add_done_callback(partial(_store_dropped, episode, one))


def _asked(turn: OpenTurn, mind: Mind, situation: Situation, seconds: float) -> PendingDecision:
    if get_agent(mind.kind).names_model:
        situation = situation.limited(seconds=turn.episode.decision_seconds)
    else:
        situation = situation.limited(seconds=seconds, purse=None)
    began = time.monotonic()
    try:
        made = _begun(mind, situation)
    except Exception as failure:  # the pool is full, or the arguments cannot be pickled
        made = Future()
        made.set_exception(failure)
    one = PendingDecision(mind, situation, made, began)
    made.add_done_callback(one.end)
    return one


def _begun(mind: Mind, situation: Situation) -> Future[Decision]:
    agent = get_agent(mind.kind)
    if agent.names_model:
        return start_in_loop(make_agent(mind.kind, mind.settings).decide(situation))
    if not agent.light:
        return process_pool.submit(decide_with_settings, mind.kind, mind.settings, situation)
    made = Future[Decision]()
    made.set_result(run_without_waiting(make_agent(mind.kind, mind.settings).decide(situation)))
    return made


def _meanwhile(one: PendingDecision, situation: Situation) -> MindOutcome:
    """Return the outcome for an agent that has not answered yet: the commands of its fallback.

    An agent with a language model may think for several ticks. Until it is late, this is not logged as a
    fallback.
    """
    if get_agent(one.mind.kind).names_model and not one.is_late:
        return MindOutcome(_fallen_back(one.mind, situation, "timeout"))
    return _instead(one.mind, situation, "timeout", NOT_IN_TIME)


def _outcome(one: PendingDecision, situation: Situation) -> MindOutcome:
    try:
        return MindOutcome(checked_decision(one.made.result()), milliseconds=one.took)
    except Exception as failure:  # an agent may fail in any way: the clock goes on
        log.error("co-player %s failed: %s", one.mind.kind, error_traceback(failure))
        return _instead(one.mind, situation, "error", error_location(failure))


def _arrived(one: PendingDecision, situation: Situation, late: MindOutcome) -> MindOutcome:
    """Return the outcome of a decision that arrives after its tick: what the agent makes of it now, or its
    fallback's commands. The model calls of the decision are kept in both cases."""
    agent = make_agent(one.mind.kind, one.mind.settings)
    try:
        if decision := agent.arrived(situation, late.decision):
            return replace(late, decision=checked_decision(decision))
    except Exception as failure:
        log.error("co-player %s failed: %s", one.mind.kind, error_traceback(failure))
    instead = _instead(one.mind, situation, "timeout", NOT_IN_TIME)
    return replace(instead, decision=replace(instead.decision, calls=late.decision.calls))


def _instead(mind: Mind, situation: Situation, code: str, why: str) -> MindOutcome:
    return MindOutcome(_fallen_back(mind, situation, code), code, why)


def _fallen_back(mind: Mind, situation: Situation, code: str) -> Decision:
    """Return the decision of the agent's fallback. If the fallback fails too, return an empty decision."""
    try:
        return checked_decision(make_agent(mind.kind, mind.settings).fall_back(situation, code))
    except Exception as failure:
        log.error("the fallback of co-player %s failed: %s", mind.kind, error_traceback(failure))
        return Decision({}, memory=situation.memory)


def _store_dropped(episode: Episode, one: PendingDecision, made: Future[Decision]) -> None:
    """Store a late decision, which has no effect on the game. This is done in another thread, because the
    caller may be the clock's event loop."""
    if made.exception() is None:
        start_in_loop(run_once_in_db_thread(_store_dropped_now, episode, one, made.result()))


def _store_dropped_now(episode: Episode, one: PendingDecision, decision: Decision) -> None:
    try:
        outcome = MindOutcome(keep_in_note(checked_decision(decision)), milliseconds=one.took)
        row = decision_row(AskedMind(one.mind, one.situation, outcome), one.situation.step + 1)
        store_dropped_decisions(episode=episode, rows=[(row, decision.calls)], why=OVER)
    except Exception as error:  # nobody waits for this result any more
        log.error("what a %s decided in vain was lost: %s", one.mind.kind, error_traceback(error))
