"""Ask fast agents for their commands in the web process, right after a person's command.

Fast agents decide within milliseconds, so people need not wait for a worker. Some of them keep a processor
busy for that time, and run in a process pool. If an agent fails, the person's command is submitted alone, and
a worker asks the agents later.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from kitchen.contract.agent import Decision, Situation, run_without_waiting
from kitchen.contract.world import Command
from kitchen.infra import process_pool
from kitchen.infra.log_context import error_location
from kitchen.play.coplayers.agent_situations import (
    AskedMind,
    Asking,
    MindOutcome,
    Question,
    ask_minds,
    checked_decision,
    minds_of_step,
)
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.speaking_order import held_seats
from kitchen.play.turn.turn_rules import choosing_people
from kitchen.registry.agent_registry import agent_kinds, decide_with_settings, get_agent, make_agent

log = logging.getLogger(__name__)

INSTANT_SECONDS = 1.0
"""Seconds for one decision. A worker allows more."""
QUEUE_SECONDS = 4.0
"""Seconds that a decision may wait for a free child process before. To ask a worker instead costs many times
the processor time, so that a short overload would last."""
QUEUE_LOOK_SECONDS = 0.2
"""Seconds between two looks whether a child process has begun."""


@dataclass(slots=True)
class InstantDecisions:
    """Instant agents of one step that are asked one after another.

    `question` is the next question that needs a child process. If `question` is None, there are two cases.
    All agents have decided, and `asked` has the outcomes. Or an agent failed, and `asked` is None.
    """

    asking: Asking
    queue_seconds: float = 0.0
    """Seconds that each question may wait for a free child process, besides `INSTANT_SECONDS`."""
    question: Question | None = None
    asked: list[AskedMind] | None = None

    def begin(self) -> None:
        """Ask the agents that need no child process, in order. Stop before the first agent that needs one."""
        with self._as_far_as_it_goes():
            self._ask_light(next(self.asking))

    async def finish(self) -> None:
        """Ask all remaining agents. Afterwards `asked` has the outcomes of all agents, or is None if an agent
        failed."""
        while self.question is not None:
            question, self.question = self.question, None
            with self._as_far_as_it_goes():
                self._ask_light(self.asking.send(await _asked_apart(question, self.queue_seconds)))

    def _ask_light(self, question: Question) -> None:
        while get_agent(question.mind.kind).light:
            began = time.monotonic()
            agent = make_agent(question.mind.kind, question.mind.settings)
            decision = run_without_waiting(agent.decide(_timed_situation(question)))
            question = self.asking.send(_outcome(decision, began))
        self.question = question

    @contextmanager
    def _as_far_as_it_goes(self) -> Iterator[None]:
        try:
            yield
        except StopIteration as done:
            self.asked = done.value
        except Exception as failure:  # an agent may fail in any way: a worker asks it again
            log.warning("co-players that are instant are left to a worker: %s", error_location(failure))


def start_agent_processes(turn: OpenTurn) -> None:
    """Start the child processes for the episode's instant agents early, so that the first step need not
    wait for them."""
    for kind in {mind.kind for mind in turn.minds}:
        if _is_instant(kind) and not get_agent(kind).light:
            process_pool.warm_up(partial(get_agent, kind))


def begin_instant_decisions(
    turn: OpenTurn, step: int, seat: int, command: Command
) -> InstantDecisions | None:
    """Start asking the agents of this step within the web process, after a person has chosen `command` for
    `seat`. Return the unfinished request.

    Return None if this is not possible. There may be no agents, or one that is not instant or that a worker
    is already asking. The command may be invalid, or other people have not chosen yet.
    """
    if (
        not turn.is_open
        or step != turn.step
        or choosing_people(turn) != {seat}
        or held_seats(turn)
        or turn.people_to_answer
        or turn.numbers == turn.people
    ):
        return None
    asked = minds_of_step(turn)
    instant = all(_is_instant(mind.kind) for mind in asked)
    taken = any(
        turn.standing[mind.pk].is_claimed_by_another(step, "") for mind in asked if mind.pk in turn.standing
    )
    if taken or not instant or not turn.world.accepts(seat, command):
        return None
    queue_seconds = QUEUE_SECONDS if turn.episode.turn_closes_at is None else 0.0
    deciding = InstantDecisions(ask_minds(turn, {seat: command}), queue_seconds)
    deciding.begin()
    return deciding


def _is_instant(kind: str) -> bool:
    """Return whether agents of this kind decide instantly. An unknown kind is left to a worker, which reports
    it.
    """
    return kind in agent_kinds() and get_agent(kind).instant


async def _asked_apart(question: Question, queue_seconds: float) -> MindOutcome:
    made = process_pool.submit(
        decide_with_settings, question.mind.kind, question.mind.settings, _timed_situation(question)
    )
    answer, began = asyncio.wrap_future(made), time.monotonic()
    until = began + queue_seconds
    while not (made.running() or made.done()) and (left := until - time.monotonic()) > 0:
        await asyncio.wait([answer], timeout=min(QUEUE_LOOK_SECONDS, left))
        began = time.monotonic() if not made.done() else began
    return _outcome(await asyncio.wait_for(answer, INSTANT_SECONDS), began)


def _timed_situation(question: Question) -> Situation:
    return question.situation.limited(seconds=INSTANT_SECONDS, purse=None)


def _outcome(decision: Decision, began: float) -> MindOutcome:
    return MindOutcome(checked_decision(decision), milliseconds=(time.monotonic() - began) * 1000)
