"""Let minds speak within the step before anybody chooses (`Organisation.talks_within`).

A person writes, or the first mind opens; the minds that are to answer (`due_answers`) are asked, each by a
task and a claim of its own. When the people have chosen, the minds are asked for their commands, with all
that was said. What a mind would have done when it only spoke is not followed. An answer that comes after the
people have chosen is dropped and kept with its cost.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from django.db import transaction

from kitchen.contract.organisation import TALK
from kitchen.machine.outage import outlast
from kitchen.play import stream
from kitchen.play.asking import Asked, log_row, situation_to_answer
from kitchen.play.calls import calls_store
from kitchen.play.claims import claim_free
from kitchen.play.deciding import ask_mind
from kitchen.play.dropping import LATE, told_of
from kitchen.play.due_answers import ask_for_answers, minds_to_answer, time_anew
from kitchen.play.handing_in import decided_drop
from kitchen.play.kept import bring_up_to_date, turn_now, turn_taken
from kitchen.play.models import Decision, Episode, Mind
from kitchen.play.open_turns import unanswered_turns
from kitchen.play.queue import ask_answer, ask_coplayers, may_look_for_answers
from kitchen.play.saying import messages_store, says_made, seats_call
from kitchen.play.turns import OpenTurn


def answer_wanted(turn: OpenTurn, sender: int) -> None:
    """Ask the minds that are to answer what this member has just written, after the commit. Needs a
    transaction around it."""
    last = turn.sent[-1]
    if last.sender == sender and last.kind in TALK:
        ask_for_answers(turn)


def answers_again() -> int:
    """Ask again for each answer that somebody waits for and that nobody is asked for: its task was lost, or
    its worker has died. Return how many."""
    found = 0
    for episode_id in filter(may_look_for_answers, unanswered_turns()):
        with suppress(Episode.DoesNotExist), turn_now(episode_id) as turn:
            for mind in minds_to_answer(turn):
                ask_answer(episode_id, turn.step, mind.number)
                found += 1
    return found


def answer_decide(*, episode_id: int, step: int, mind: int) -> bool:
    """Ask the mind of this number and store what it says; False if nothing is to be said any more. Its claim
    is held."""
    with turn_now(episode_id) as turn:
        speaker = _speaker(turn, step, mind)
        if speaker is None:
            return False
        episode, situation = turn.episode, situation_to_answer(turn, speaker)
        decided = turn.standing[speaker.pk].decided
    outcome = ask_mind(speaker.kind, speaker.settings, replace(situation, seconds=episode.decision_seconds))
    asked = Asked(speaker, situation, outcome)
    stored = partial(_store, episode_id, step, asked, decided)
    if not outlast(stored, f"storing an answer in step {step} of episode {episode_id}"):
        decided_drop(episode, step, [asked], LATE)
        return False
    return True


def _speaker(turn: OpenTurn, step: int, number: int) -> Mind | None:
    """The mind of this number, if it is to speak in this step now."""
    found = minds_to_answer(turn) if turn.step == step else []
    return next((mind for mind in found if mind.number == number), None)


def _store(episode_id: int, step: int, asked: Asked, decided: int) -> bool:
    """Store the answer, if it is still wanted and nothing of that mind was stored since it had `decided` so
    often; whether it was."""
    decision = asked.outcome.decision
    quiet = replace(asked.outcome, decision=told_of(replace(decision, says=())))
    row = log_row(replace(asked, outcome=quiet), step)
    with turn_taken(episode_id) as turn, transaction.atomic():
        bring_up_to_date(turn, lock=True)
        if _speaker(turn, step, asked.mind.number) is None or turn.standing[asked.mind.pk].decided != decided:
            return False
        row.number = decided + 1
        said = says_made(turn, asked.situation.member, decision.says, row)
        Decision.objects.bulk_create([row])
        messages_store(turn, said)
        seats_call(turn)
        turn.forget_memories()
        time_anew(turn)
        calls_store([(row, decision.calls)])
        transaction.on_commit(partial(stream.nudge_pages, episode_id, turn.stamp))
    return True


def answer_over(*, episode_id: int, step: int, claim: str) -> None:
    """Give back the claim under which a mind was to answer. What was written meanwhile is answered; people
    who have chosen meanwhile wait no longer."""
    claim_free(claim)
    with turn_now(episode_id) as turn:
        minds = minds_to_answer(turn) if turn.step == step else []
        for mind in minds:
            transaction.on_commit(partial(ask_answer, episode_id, step, mind.number))
        if not minds and turn.step == step and turn.waits_for_minds:
            for party in turn.parties:
                transaction.on_commit(partial(ask_coplayers, episode_id, step, *party))
