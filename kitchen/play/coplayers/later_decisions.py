"""Ask agents whose decisions take effect in a later step, without holding up the steps in between.

`let_agents_think` stores a question to the agent in the open step, and the step goes on. A worker claims the
question, asks the agent, and stores the decision (`decide_later`). The step in which the decision takes
effect waits for the decision, at most until the agent's time limit.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from django.db import transaction

from kitchen.contract.agent import Situation
from kitchen.contract.situation_json import situation_from_json, situation_to_json
from kitchen.infra.db_retry import retry_while_unreachable, run_once_in_db_thread
from kitchen.infra.storable_json import storable_json
from kitchen.play.coplayers.agent_decisions import (
    AskArguments,
    AskFunction,
    ask_mind,
    ask_mind_in_loop,
    store_late_decision,
    store_single_decision,
)
from kitchen.play.coplayers.agent_situations import (
    AskedMind,
    MindOutcome,
    commands_and_decisions,
    purse_of,
    situations_for_later,
)
from kitchen.play.episode.advance_episode import continue_episode, seal_and_notify, store_decisions
from kitchen.play.episode.end_episode import end_for_lack_of_money, has_unpaid_call
from kitchen.play.models import Episode, Mind, PendingQuestion
from kitchen.play.turn.decision_records import store_calls
from kitchen.play.turn.due_decisions import read_schedule
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.play_task_queue import ask_for_later
from kitchen.play.turn.scheduled_steps import let_think, take_answer
from kitchen.play.turn.turn_cache import exclusive_turn, refresh_turn
from kitchen.play.turn.turn_claims import claim_question, renewed_claim
from kitchen.play.turn.turn_rules import waits_for_minds
from kitchen.registry.world_registry import get_world


def let_agents_think(*, episode_id: int, step: int, mind: int | None = None) -> int:
    """Let the current step continue while its agents that decide later are thinking. Return the number of
    agents that are now being asked.

    A question to each of these agents is stored, and a task that asks the agent is queued. If `mind` (an
    agent's number) is given, only this agent is asked. Agents that a worker already asks are left to that
    worker.
    """
    with suppress(Episode.DoesNotExist), exclusive_turn(episode_id) as turn:
        organisation = turn.episode.team
        if organisation is None or not organisation.is_timed or not organisation.least_think_steps:
            return 0
        with transaction.atomic():
            refresh_turn(turn, lock=True)
            if turn.step != step or not waits_for_minds(turn) or not (asked := _ask_for_later(turn, mind)):
                return 0
            continue_episode(turn)
            seal_and_notify(turn)
            return asked
    return 0


def _ask_for_later(turn: OpenTurn, only: int | None) -> int:
    """Store the questions to agents that decide later than the current step. Return the number of questions.
    `only` is the number of the only agent to ask, or None for all."""
    schedule = read_schedule(turn)
    if schedule is None:
        return 0
    asked = [
        (mind, situation)
        for mind, situation in situations_for_later(turn, only=only)
        if not turn.standing[mind.pk].is_claimed_by_another(turn.step, "")
    ]
    for mind, situation in asked:
        question = let_think(turn, schedule, situation)
        PendingQuestion.objects.create(
            mind=mind,
            asked_step=turn.step,
            due_step=question.due,
            situation=storable_json(situation_to_json(situation)),
        )
        transaction.on_commit(partial(ask_for_later, turn.episode.pk, turn.step, mind.number))
    return len(asked)


@dataclass(frozen=True, slots=True)
class _ClaimedQuestion:
    """An open question that this worker has claimed."""

    episode: Episode
    mind: Mind
    step: int
    claim: str
    situation: Situation

    @property
    def arguments(self) -> AskArguments:
        """Return the arguments for `ask_mind`. The agent's time limit begins now."""
        purse = purse_of(self.episode, self.mind, self.step)
        limited = self.situation.limited(seconds=self.episode.decision_seconds, purse=purse)
        late = partial(store_late_decision, self.episode, self.mind, limited, time.monotonic())
        return self.mind.kind, self.mind.settings, limited, late


def decide_later(*, episode_id: int, step: int, mind: int, ask: AskFunction | None = None) -> bool:
    """Ask the agent with number `mind` its open question from this step, and store its decision. Blocks the
    thread.

    `ask` replaces the function `ask_mind`. Returns False if another worker has claimed the question, or if
    the decision is no longer needed.
    """
    if (question := _claim(episode_id, step, mind)) is None:
        return False
    with renewed_claim(episode_id, question.claim):
        return _hand_in(question, (ask or ask_mind)(*question.arguments))


async def decide_later_in_loop(*, episode_id: int, step: int, mind: int) -> None:
    """Ask the agent with number `mind` its open question from this step, and store its decision, without
    blocking the event loop. See `decide_later`."""
    if question := await run_once_in_db_thread(_claim, episode_id, step, mind):
        with renewed_claim(episode_id, question.claim):
            outcome = await ask_mind_in_loop(*question.arguments)
            await run_once_in_db_thread(_hand_in, question, outcome)


def _claim(episode_id: int, step: int, mind: int) -> _ClaimedQuestion | None:
    claim = claim_question(episode_id=episode_id, step=step, mind=mind)
    if not claim:
        return None
    rows = PendingQuestion.objects.filter(deciding_by=claim).select_related("mind__episode")
    if (row := rows.first()) is None:
        return None
    episode = row.mind.episode
    situation = situation_from_json(row.situation, episode.team)
    return _ClaimedQuestion(episode, row.mind, step, claim, situation)


def _hand_in(question: _ClaimedQuestion, outcome: MindOutcome) -> bool:
    """Store the decision, or keep it without effect if it is no longer needed. If it cannot be stored, store
    the fallback's decision."""
    asked = AskedMind(question.mind, question.situation, outcome)
    return store_single_decision(question.episode, question.step, asked, partial(_store_durably, question))


def _store_durably(question: _ClaimedQuestion, asked: AskedMind) -> bool:
    what = f"storing a decision of step {question.step} of episode {question.episode.pk}"
    return retry_while_unreachable(partial(_store, question, asked), what)


def _store(question: _ClaimedQuestion, asked: AskedMind) -> bool:
    """Store the decision as the answer to the agent's open question. If a step was waiting for the decision,
    run the step.

    Return True if the decision was stored. Return False, and store nothing, if this worker may no longer
    store it: the episode has ended or was erased, or another worker has taken over.
    """
    idle = get_world(question.episode.world).idle
    commands, (made,) = commands_and_decisions([asked], step=question.step, idle=idle)
    with suppress(Episode.DoesNotExist), exclusive_turn(question.episode.pk) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        if not turn.is_open or not PendingQuestion.objects.filter(deciding_by=question.claim).delete()[0]:
            return False
        take_answer(turn, commands, made)
        store_decisions(turn, [replace(made, says=(), plans={})])
        if has_unpaid_call(turn, [made]):
            end_for_lack_of_money(turn, [made])
            return True
        turn.forget_memories()
        continue_episode(turn)
        store_calls([(made.row, made.calls)])
        seal_and_notify(turn)
        return True
    return False
