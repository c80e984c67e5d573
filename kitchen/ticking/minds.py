"""Co-players of one episode that a clock plays: asked right after a tick for the next one, and never waited
for.

Light ones decide on the spot, others that are instant in a process apart (`kitchen.machine.apart`), those
that ask language models in the background (`kitchen.machine.waiting`), for as long as a decision may take.
Whoever has not answered when the tick is taken does what its fallback does, and is not asked anew before it
has. What it has decided for a tick that is over is for it to make something of (`Agent.arrived`); of others
nothing comes of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from django.db import connection

from kitchen.contract.agent import Decision, Situation
from kitchen.machine import apart
from kitchen.machine.failures import told, traced
from kitchen.machine.waiting import in_background
from kitchen.play.asking import Asked, MindOutcome, checked, log_row, situation_now
from kitchen.play.dropping import OVER, decisions_drop, told_of
from kitchen.play.models import Episode, Mind
from kitchen.play.turns import OpenTurn
from kitchen.registry.agents import decided, get_agent, make_agent

log = logging.getLogger(__name__)
NOT_IN_TIME = "not in time for the tick"


@dataclass(slots=True)
class Thinking:
    """A mind that was asked."""

    mind: Mind
    situation: Situation
    made: Future[Decision]
    began: float
    """By a clock that nobody sets."""
    ended: float | None = None
    """Likewise, when it had answered."""

    def end(self, _: object) -> None:
        """It has answered."""
        self.ended = time.monotonic()

    @property
    def took(self) -> float:
        """Milliseconds since it was asked, until it had answered: what it then waits for its tick, or for
        the first one, is no thinking."""
        return ((self.ended or time.monotonic()) - self.began) * 1000

    @property
    def is_late(self) -> bool:
        """It has had its time."""
        return self.took > self.situation.seconds * 1000


class Minds:
    """Those of one episode."""

    def __init__(self) -> None:
        self._thinking: dict[int, Thinking] = {}

    def ask(self, turn: OpenTurn, seconds: float) -> None:
        """Ask all that are not asked yet for the step that is open, which is taken in so many seconds."""
        for mind in turn.minds:
            if mind.pk not in self._thinking:
                self._thinking[mind.pk] = _asked(turn, mind, seconds)

    def answers(self, turn: OpenTurn) -> list[Asked]:
        """What each does in the step that is open."""
        return [self._answer(turn, mind) for mind in turn.minds]

    def _answer(self, turn: OpenTurn, mind: Mind) -> Asked:
        one = self._thinking[mind.pk]
        of_now = one.situation.step == turn.episode.step
        situation = one.situation if of_now else situation_now(turn, mind)
        if not one.made.done():
            return Asked(mind, situation, _meanwhile(one, situation))
        del self._thinking[mind.pk]
        outcome = _outcome(one, situation)
        if not of_now and not outcome.error:
            outcome = _arrived(one, situation, outcome)
        return Asked(mind, replace(situation, step=one.situation.step), outcome)

    def leave(self, episode: Episode) -> None:
        """Nobody goes on here: what is still thought of and was paid for is kept as what nothing came of."""
        thinking, self._thinking = self._thinking, {}
        for one in thinking.values():
            if get_agent(one.mind.kind).names_model:
                one.made.add_done_callback(partial(_kept_aside, episode, one))


def _asked(turn: OpenTurn, mind: Mind, seconds: float) -> Thinking:
    situation = replace(situation_now(turn, mind), seconds=seconds)
    if get_agent(mind.kind).names_model:
        situation = replace(situation, seconds=turn.episode.decision_seconds)
    else:
        situation = replace(situation, purse=None)
    ask = _way_to_ask(mind.kind)
    began, made = time.monotonic(), Future[Decision]()
    try:
        made = ask(decided, mind.kind, mind.settings, situation)
    except Exception as failure:  # too much to do, or what cannot be sent
        made.set_exception(failure)
    one = Thinking(mind, situation, made, began)
    made.add_done_callback(one.end)
    return one


def _way_to_ask(kind: str) -> Callable[..., Future[Decision]]:
    agent = get_agent(kind)
    return _aside if agent.names_model else _here if agent.light else apart.submit


def _here(decide: Callable[..., Decision], *told: object) -> Future[Decision]:
    made = Future[Decision]()
    made.set_result(decide(*told))
    return made


def _aside(decide: Callable[..., Decision], *told: object) -> Future[Decision]:
    """In the background; a purse has a connection there, which is closed."""

    def act() -> Decision:
        with closing(connection):
            return decide(*told)

    return in_background(act)


def _meanwhile(one: Thinking, situation: Situation) -> MindOutcome:
    """What it does before it has answered: one that may think for several ticks is no less itself in
    these."""
    if get_agent(one.mind.kind).names_model and not one.is_late:
        return MindOutcome(_fallen_back(one.mind, situation, "timeout"))
    return _instead(one.mind, situation, "timeout", NOT_IN_TIME)


def _outcome(one: Thinking, situation: Situation) -> MindOutcome:
    try:
        return MindOutcome(checked(one.made.result()), milliseconds=one.took)
    except Exception as failure:  # a co-player may fail in any way: the clock goes on
        log.error("co-player %s failed: %s", one.mind.kind, traced(failure))
        return _instead(one.mind, situation, "error", told(failure))


def _arrived(one: Thinking, situation: Situation, late: MindOutcome) -> MindOutcome:
    """What comes of what was decided for an earlier tick; its calls are kept in any case."""
    agent = make_agent(one.mind.kind, one.mind.settings)
    try:
        if decision := agent.arrived(situation, late.decision):
            return replace(late, decision=checked(decision))
    except Exception as failure:
        log.error("co-player %s failed: %s", one.mind.kind, traced(failure))
    instead = _instead(one.mind, situation, "timeout", NOT_IN_TIME)
    return replace(instead, decision=replace(instead.decision, calls=late.decision.calls))


def _instead(mind: Mind, situation: Situation, code: str, why: str) -> MindOutcome:
    return MindOutcome(_fallen_back(mind, situation, code), code, why)


def _fallen_back(mind: Mind, situation: Situation, code: str) -> Decision:
    """What its fallback does; nothing if that fails too."""
    try:
        return checked(make_agent(mind.kind, mind.settings).fall_back(situation, code))
    except Exception as failure:
        log.error("the fallback of co-player %s failed: %s", mind.kind, traced(failure))
        return Decision({}, memory=situation.memory)


def _kept_aside(episode: Episode, one: Thinking, made: Future[Decision]) -> None:
    """In the background: who asks may be the clock itself, where it has answered already."""
    in_background(partial(_in_vain, episode, one, made))


def _in_vain(episode: Episode, one: Thinking, made: Future[Decision]) -> None:
    """It has answered after nobody went on here."""
    if made.exception() is not None:
        return
    asked = Asked(
        one.mind, one.situation, MindOutcome(told_of(checked(made.result())), milliseconds=one.took)
    )
    try:
        with closing(connection):
            row = log_row(asked, one.situation.step + 1)
            decisions_drop(episode=episode, rows=[(row, made.result().calls)], why=OVER)
    except Exception as error:  # whoever waited has gone on
        log.error("what a %s decided in vain was lost: %s", one.mind.kind, traced(error))
