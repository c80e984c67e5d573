"""Talk within a step (`Organisation.talks_within`): a mind that a person writes to answers before either of
them chooses.

The person opens, the mind answers, and so on until the person says nothing more, repeats themselves, ends it,
or the mind has spoken as often as the organisation lets it. Then the person chooses, and the mind is asked
as ever, with all that was said. What it would have done is not followed before that. An answer that comes
after the person has chosen is dropped and kept with what it cost.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from kitchen.contract.agent import TO_ANSWER
from kitchen.contract.mailbox import HEARD
from kitchen.contract.organisation import END, TALK
from kitchen.machine.outage import outlast
from kitchen.machine.statements import change
from kitchen.play import clock, stream
from kitchen.play.asking import Asked, log_row, situation_to_answer
from kitchen.play.calls import calls_store
from kitchen.play.claims import claim_free
from kitchen.play.deciding import ask_mind
from kitchen.play.dropping import LATE, told_of
from kitchen.play.handing_in import decided_drop
from kitchen.play.kept import bring_up_to_date, turn_now, turn_taken
from kitchen.play.models import Decision, Episode, Mind
from kitchen.play.open_turns import unanswered_turns
from kitchen.play.queue import ask_answer, ask_answer_again, ask_coplayers, is_aside
from kitchen.play.saying import messages_store, organisation_of, says_made
from kitchen.play.turns import OpenTurn


def answer_wanted(turn: OpenTurn, sender: int) -> None:
    """This member has written: the mind that talks with them is asked for its answer after the commit, and
    people have their time anew once it is there. Needs a transaction around it."""
    mind, last = mind_to_answer(turn), turn.sent[-1]
    if mind is None or last.sender != sender or last.kind not in TALK:
        return
    _time_anew(turn, turn.episode.decision_seconds)
    if not is_aside():
        transaction.on_commit(partial(ask_answer, turn.episode.pk, turn.step, mind.number))


def mind_to_answer(turn: OpenTurn) -> Mind | None:
    """The co-player that has something to answer now: it was written to since it answered, the people are
    still to choose, and it has not answered too often in this step, with words or without."""
    organisation = organisation_of(turn.episode)
    if organisation is None or not organisation.talks_within or not turn.is_open:
        return None
    if len(turn.minds) != 1 or turn.people <= turn.given.keys():
        return None
    said = [row for row in turn.sent if row.step == turn.step and row.kind in TALK]
    theirs = [row for row in said if row.decision_id is None]
    if not theirs or said[-1].kind == END or (len(theirs) > 1 and theirs[-1].text == theirs[-2].text):
        return None
    heard = _answered(turn)
    if len(heard) >= organisation.rounds or theirs[-1].number <= max(heard, default=0):
        return None
    return turn.minds[0]


def answers_again() -> int:
    """Ask again for each answer that somebody waits for and that nobody is asked for: its task was lost, or
    its worker has died; how many."""
    found = 0
    for episode_id in unanswered_turns():
        with suppress(Episode.DoesNotExist), turn_now(episode_id) as turn:
            if mind := mind_to_answer(turn):
                ask_answer_again(episode_id, turn.step, mind.number)
                found += 1
    return found


def _answered(turn: OpenTurn) -> list[int]:
    """Of each answer in this step: the last message that was known to who gave it."""
    answers = Decision.objects.filter(mind=turn.minds[0], step=turn.step, because=TO_ANSWER, dropped="")
    return [note[HEARD] for note in answers.order_by("number").values_list("note", flat=True)]


def answer_decide(*, episode_id: int, step: int) -> bool:
    """Ask that mind and store what it says; False if nothing is to be said any more. Its claim is held."""
    with turn_now(episode_id) as turn:
        mind = mind_to_answer(turn) if turn.step == step else None
        if mind is None:
            return False
        episode, situation = turn.episode, situation_to_answer(turn, mind)
    outcome = ask_mind(mind.kind, mind.settings, replace(situation, seconds=episode.decision_seconds))
    asked = Asked(mind, situation, outcome)
    stored = partial(_store, episode_id, step, asked)
    if not outlast(stored, f"storing an answer in step {step} of episode {episode_id}"):
        decided_drop(episode, step, [asked], LATE)
        return False
    return True


def _store(episode_id: int, step: int, asked: Asked) -> bool:
    """The answer is stored, if it is still wanted; whether it was."""
    decision = asked.outcome.decision
    quiet = replace(asked.outcome, decision=told_of(replace(decision, says=())))
    row = log_row(replace(asked, outcome=quiet), step)
    with turn_taken(episode_id) as turn, transaction.atomic():
        bring_up_to_date(turn, lock=True)
        if turn.step != step or mind_to_answer(turn) is None:
            return False
        row.number = turn.standing[asked.mind.pk].decided + 1
        said = says_made(turn, asked.situation.member, decision.says, row)
        Decision.objects.bulk_create([row])
        messages_store(turn, said)
        turn.forget_memories()
        _time_anew(turn)
        calls_store([(row, decision.calls)])
        transaction.on_commit(partial(stream.nudge_pages, episode_id, turn.stamp))
    return True


def answer_over(*, episode_id: int, step: int, claim: str) -> None:
    """The claim under which a mind was to answer is given back; who has chosen meanwhile waits no longer, and
    what was written meanwhile is answered."""
    claim_free(claim)
    with turn_now(episode_id) as turn:
        mind = mind_to_answer(turn) if turn.step == step else None
        if mind:
            transaction.on_commit(partial(ask_answer, episode_id, step, mind.number))
        elif turn.step == step and turn.waits_for_minds:
            for party in turn.parties:
                transaction.on_commit(partial(ask_coplayers, episode_id, step, *party))


def _time_anew(turn: OpenTurn, more: float = 0.0) -> None:
    """People have their time for a step from now on, or from so many seconds on."""
    episode = turn.episode
    if episode.step_seconds is None or episode.turn_closes_at is None:
        return
    episode.asked_at = timezone.now() + timedelta(seconds=more)
    episode.turn_closes_at = episode.asked_at + timedelta(seconds=episode.step_seconds)
    times = {"asked_at": episode.asked_at, "turn_closes_at": episode.turn_closes_at}
    change(Episode, times, where={"id": episode.pk})
    clock.arm(episode)
