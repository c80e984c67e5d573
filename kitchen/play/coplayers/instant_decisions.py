"""Ask fast agents for their commands in the web process, right after a person's command.

Fast agents decide within milliseconds, so people need not wait for a worker. Some of them keep a processor
busy for that time, and run in a process pool. If an agent fails, or finds no free child process, the person's
command is submitted alone, and a worker asks the agents later. Decisions that a child process has begun are
awaited for up to `COMMAND_SECONDS`. Only after that time does a worker make them a second time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from kitchen.contract.agent import Decision, Situation, run_without_waiting
from kitchen.contract.talk_cost import charge_talk
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
from kitchen.play.turn.step_timer import seconds_left
from kitchen.play.turn.turn_rules import choosing_people
from kitchen.registry.agent_registry import (
    agent_kinds,
    decide_and_measure,
    get_agent,
    make_agent,
    must_prepare,
    prepare_agent,
)

log = logging.getLogger(__name__)

INSTANT_SECONDS = 1.0
"""Seconds for one decision, as the agent is told. A worker allows more."""
QUEUE_SECONDS = 1.5
"""Seconds that a question may wait for a free child process. Afterwards it is left to a worker. On a busy
machine, a worker would only compete for the same cores, and costs several times the processor time."""
COMMAND_SECONDS = 3.0
"""Seconds for all questions of one command together. The person waits meanwhile, and a page without an answer
reconnects after 6 seconds."""


@dataclass(slots=True)
class InstantDecisions:
    """Instant agents of one step that are asked one after another.

    `question` is the next question that needs a child process. If `question` is None, there are two cases.
    All agents have decided, and `asked` has the outcomes. Or an agent failed, and `asked` is None.
    """

    asking: Asking
    give_up_at: float
    """Monotonic time after which no decision is awaited, whichever question it answers."""
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
                self._ask_light(self.asking.send(await _asked_apart(question, self.give_up_at)))

    def _ask_light(self, question: Question) -> None:
        while get_agent(question.mind.kind).light:
            began = time.monotonic()
            agent = make_agent(question.mind.kind, question.mind.settings)
            decision = run_without_waiting(agent.decide(_timed_situation(question)))
            question = self.asking.send(_outcome(question, decision, (time.monotonic() - began) * 1000))
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
    prepare_agents(turn)


def prepare_agents(turn: OpenTurn) -> list[Future[object]]:
    """Let all child processes load what the first decisions of the episode's agents need, in the background.
    Return a future for each of these loads. A process that has loaded it before is done at once."""
    loads = list[Future[object]]()
    for mind in turn.minds:
        if mind.kind in agent_kinds() and must_prepare(mind.kind):
            loads += process_pool.submit_to_each(prepare_agent, mind.kind, mind.settings, turn.episode.world)
    return loads


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
    deciding = InstantDecisions(ask_minds(turn, {seat: command}), _give_up_at(turn))
    deciding.begin()
    return deciding


def _is_instant(kind: str) -> bool:
    """Return whether agents of this kind decide instantly. An unknown kind is left to a worker, which reports
    it.
    """
    return kind in agent_kinds() and get_agent(kind).instant


def _give_up_at(turn: OpenTurn) -> float:
    """Return the monotonic time at which the person's command must be submitted, with or without decisions.
    It is early enough for the person's time limit, if there is one."""
    seconds, left = COMMAND_SECONDS, seconds_left(turn.episode)
    if left is not None:
        seconds = min(seconds, left - min(INSTANT_SECONDS, left / 2))
    return time.monotonic() + seconds


async def _asked_apart(question: Question, give_up_at: float) -> MindOutcome:
    """Ask an agent in a child process. Raises TimeoutError if no child is free for `QUEUE_SECONDS`, or at the
    monotonic time `give_up_at`."""
    made = process_pool.submit(
        decide_and_measure, question.mind.kind, question.mind.settings, _timed_situation(question)
    )
    answer = asyncio.wrap_future(made)
    try:
        async with asyncio.timeout_at(give_up_at):
            await asyncio.wait([answer], timeout=QUEUE_SECONDS)
            if made.cancel():  # only where no child has begun
                raise TimeoutError("no child process was free")
            return _outcome(question, *await answer)
    finally:
        made.cancel()


def _timed_situation(question: Question) -> Situation:
    return question.situation.limited(seconds=INSTANT_SECONDS, purse=None)


def _outcome(question: Question, decision: Decision, milliseconds: float) -> MindOutcome:
    charged = charge_talk(question.situation, decision)
    return MindOutcome(checked_decision(charged), milliseconds=milliseconds)
