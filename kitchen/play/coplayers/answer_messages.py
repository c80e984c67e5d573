"""Ask agents to answer a person's message within the step, before people choose their commands.

The module sends the person's message and queues a separate task for each answering agent. Once the people
have chosen, the agents are asked for commands instead. An answer that arrives after that is stored with its
cost, but is not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from kitchen.contract.agent import REASON_TO_ANSWER, Situation
from kitchen.contract.organisation import END, INFORM, TALK_KINDS
from kitchen.contract.team_messages import MESSAGE_TOO_LONG, MessageDraft
from kitchen.contract.world import Command, Json
from kitchen.infra.db_retry import retry_while_unreachable, run_once_in_db_thread
from kitchen.play.coplayers.agent_decisions import (
    ask_mind,
    ask_mind_in_loop,
    store_single_decision,
)
from kitchen.play.coplayers.agent_situations import (
    AskedMind,
    MindOutcome,
    commands_and_decisions,
    situation_to_answer,
    situation_to_open,
)
from kitchen.play.episode.advance_episode import continue_episode, seal_and_notify
from kitchen.play.models import Decision, Episode, Mind
from kitchen.play.turn import page_broadcast
from kitchen.play.turn.busy_people_answers import store_wordless_answer, update_awaited_answers
from kitchen.play.turn.conversation import (
    add_message,
    is_repeated,
    member_of,
    messages_of_decision,
    store_messages,
    wait_for_informed_seats,
)
from kitchen.play.turn.decision_records import keep_words_only, store_calls
from kitchen.play.turn.leader_waits import (
    have_all_workers_jobs,
    is_leader_awaited,
    stop_waiting_for_leader,
)
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.play_task_queue import ask_answer, ask_coplayers, may_look_for_answers
from kitchen.play.turn.speaking_order import (
    ask_for_answers,
    begin_turn_of_people,
    held_seats,
    minds_to_answer,
    opens_step,
    passing_turn,
    talk_refusal,
    turn_began_at,
)
from kitchen.play.turn.step_store import add_submitted, store_plans_of
from kitchen.play.turn.submitted_commands import RECEIPTS
from kitchen.play.turn.turn_cache import exclusive_turn, read_turn, refresh_turn
from kitchen.play.turn.turn_rules import PROBING, decision_parties, waits_for_minds
from kitchen.play.turn.turn_searches import unanswered_turns
from kitchen.words.gettext_without_django import gettext_noop

AskMind = Callable[[str, dict[str, Json], Situation], MindOutcome]
"""A function that asks an agent, as `ask_mind` does: kind and settings of the agent, and its situation."""


def request_answers(turn: OpenTurn, sender: int) -> None:
    """Ask agents to answer the turn's last message, if it is from the member `sender` and starts or continues
    a conversation.

    Call this inside a transaction. The agents are asked after the commit.
    """
    last = turn.sent[-1]
    if last.sender == sender and last.kind in TALK_KINDS:
        ask_for_answers(turn)


def request_lost_answers() -> int:
    """Queue a new task for each missing answer whose task was lost or whose worker died. Return the number
    of tasks."""
    found = 0
    for episode_id in filter(may_look_for_answers, unanswered_turns()):
        with suppress(Episode.DoesNotExist), read_turn(episode_id) as turn:
            for mind in minds_to_answer(turn):
                ask_answer(episode_id, turn.step, mind.number)
                found += 1
    return found


@dataclass(frozen=True, slots=True)
class _AnswerRequest:
    """An agent that has to answer in this step."""

    episode: Episode
    step: int
    speaker: Mind
    situation: Situation
    decided: int
    """The number of the agent's last decision."""

    @property
    def question(self) -> tuple[str, dict[str, Json], Situation]:
        """Return the arguments of `ask_mind`."""
        limited = self.situation.limited(seconds=self.episode.decision_seconds)
        return self.speaker.kind, self.speaker.settings, limited


def decide_answer(*, episode_id: int, step: int, mind: int, ask: AskMind | None = None) -> bool:
    """Ask the agent with number `mind` to answer the messages of this step, and store its answer. Blocks the
    thread.

    The caller must hold the claim on the agent's decision. `ask` is called instead of `ask_mind`. Returns
    False if the answer is no longer needed.
    """
    wanted = _answer_request(episode_id, step, mind)
    return wanted is not None and _hand_in_answer(wanted, (ask or ask_mind)(*wanted.question))


async def decide_answer_in_loop(*, episode_id: int, step: int, mind: int) -> None:
    """Ask the agent with number `mind` to answer the messages of this step, and store its answer, without
    blocking the event loop. See `decide_answer`."""
    if wanted := await run_once_in_db_thread(_answer_request, episode_id, step, mind):
        await run_once_in_db_thread(_hand_in_answer, wanted, await ask_mind_in_loop(*wanted.question))


def _answer_request(episode_id: int, step: int, mind: int) -> _AnswerRequest | None:
    with read_turn(episode_id) as turn:
        speaker = _speaker(turn, step, mind)
        if speaker is None:
            return None
        opens = opens_step(turn, speaker)
        situation = situation_to_open(turn, speaker) if opens else situation_to_answer(turn, speaker)
        return _AnswerRequest(turn.episode, step, speaker, situation, turn.standing[speaker.pk].decided)


def _hand_in_answer(wanted: _AnswerRequest, outcome: MindOutcome) -> bool:
    """Store the agent's answer. If the answer is no longer needed, it is kept without effect. If it cannot
    be stored, store the fallback's decision, so that the person does not wait for ever. Return True if the
    answer was stored."""
    asked = AskedMind(wanted.speaker, wanted.situation, outcome)
    return store_single_decision(wanted.episode, wanted.step, asked, partial(_store_durably, wanted))


def _store_durably(wanted: _AnswerRequest, asked: AskedMind) -> bool:
    episode, step = wanted.episode, wanted.step
    stored = partial(_store, episode.pk, step, asked, wanted.decided)
    return retry_while_unreachable(stored, f"storing an answer in step {step} of episode {episode.pk}")


def _speaker(turn: OpenTurn, step: int, number: int) -> Mind | None:
    """Return the agent with this number if it must speak in this step now. Return None if it need not
    speak."""
    found = minds_to_answer(turn) if turn.step == step else []
    return next((mind for mind in found if mind.number == number), None)


def _store(episode_id: int, step: int, asked: AskedMind, decided: int) -> bool:
    """Store an agent's answer if it is still needed. It is not needed if the agent has made a decision
    after its decision number `decided`. Return True if the answer was stored."""
    with exclusive_turn(episode_id) as turn, transaction.atomic():
        refresh_turn(turn, lock=True)
        if _speaker(turn, step, asked.mind.number) is None or turn.standing[asked.mind.pk].decided != decided:
            return False
        opens = opens_step(turn, asked.mind) and asked.situation.request.because != REASON_TO_ANSWER
        commands, [made] = commands_and_decisions([asked], step=step, idle=turn.world.idle)
        made.row.number = decided + 1
        said = messages_of_decision(turn, made.member, made.says, made.row)
        counts = opens and not any(row.kind in TALK_KINDS - {END} for row in said)
        if not counts:
            keep_words_only(made.row, asked.outcome.decision)
        Decision.objects.bulk_create([made.row])
        store_messages(turn, said)
        if counts:
            add_submitted(turn, commands)
            store_plans_of(turn, made)
        wait_for_informed_seats(turn)
        turn.forget_memories()
        update_awaited_answers(turn)
        begin_turn_of_people(turn)
        store_calls([(made.row, made.calls)])
        transaction.on_commit(partial(page_broadcast.nudge_pages, episode_id, turn.stamp))
    return True


def minds_to_speak(episode_id: int, step: int) -> list[int]:
    """Return the numbers of the agents whose turn to speak it is in this step, where members take turns."""
    with suppress(Episode.DoesNotExist), read_turn(episode_id) as turn:
        if turn.step == step:
            return _numbers_to_speak(turn)
    return []


def _numbers_to_speak(turn: OpenTurn) -> list[int]:
    takes_turns = turn.episode.team is not None and turn.episode.team.takes_turns
    return [mind.number for mind in minds_to_answer(turn)] if takes_turns else []


def overdue_answers(beyond: timedelta) -> list[tuple[int, int]]:
    """Return (episode id, step) of open turns in which a person waits for an agent's turn to end, and the
    agent is late by more than `beyond`. Agents that a worker asks at the moment are left out."""
    found = []
    for episode_id in unanswered_turns(beyond):
        with suppress(Episode.DoesNotExist), read_turn(episode_id) as turn:
            late_at = turn_began_at(turn) + timedelta(seconds=turn.episode.decision_seconds) + beyond
            if late_at < timezone.now() and _numbers_to_speak(turn):
                found.append((episode_id, turn.step))
    return found


def finish_answer(*, episode_id: int, step: int) -> None:
    """Queue the next task of this step after an agent has answered and its claim is released.

    If new messages were written meanwhile, the next task is another answer. Otherwise, if all people have
    chosen, the agents are asked for their commands.
    """
    with read_turn(episode_id) as turn:
        minds = minds_to_answer(turn) if turn.step == step else []
        for mind in minds:
            transaction.on_commit(partial(ask_answer, episode_id, step, mind.number))
        if not minds and turn.step == step and waits_for_minds(turn):
            for party in decision_parties(turn):
                transaction.on_commit(partial(ask_coplayers, episode_id, step, *party))


MESSAGE_RECEIPTS = {
    PROBING: RECEIPTS[PROBING],
    "accepted": gettext_noop("Your message was sent."),
    "not_allowed": gettext_noop("You cannot send them that message."),
    "not_your_turn": gettext_noop("It is not your turn yet. Nothing was sent: wait for the other player."),
    "empty": gettext_noop("Write something first."),
    "too_long": MESSAGE_TOO_LONG,
    "too_many": gettext_noop("You can write again in the next step."),
    "busy": gettext_noop("They are talking with somebody else and did not receive your message."),
    "talking": gettext_noop("You are talking with somebody else: end that conversation first."),
    "choose_one": gettext_noop("Choose one player to write to. You can talk with only one at a time."),
    "no_such_job": gettext_noop("That job no longer exists."),
    "no_aim": gettext_noop("Choose a job, or describe it in your own words."),
    "no_such_aim": gettext_noop("You cannot give them that job."),
    "no_such_request": gettext_noop("You cannot give them that job."),
    "over": gettext_noop("This game has ended."),
    "elsewhere": gettext_noop("This is open in another tab: continue there, or choose to play here instead."),
}
"""Every answer of `send_message`, in English, to be translated for the person who sent the message."""


@dataclass(frozen=True, slots=True)
class MessageReceipt:
    """The result of sending a person's message. `code` is a key of `MESSAGE_RECEIPTS`."""

    code: str

    @property
    def accepted(self) -> bool:
        """Return True if the message was sent."""
        return self.code == "accepted"

    @property
    def text(self) -> str:
        """Return the result as an English sentence."""
        return MESSAGE_RECEIPTS[self.code]


def send_message(*, episode_id: int, seat: int, say: MessageDraft, page: str = "") -> MessageReceipt:
    """Send a message from the person in this seat, if the episode's organisation allows it.

    `page` is the id of the browser page that sent it, empty for programs. Returns the result, also for a
    refused message. Raises Episode.DoesNotExist if the episode was erased.
    """
    with exclusive_turn(episode_id) as turn:
        return send_message_in_turn(turn, seat=seat, say=say, page=page)


def answer_without_words(turn: OpenTurn, seat: int, plan: Sequence[Command] = ()) -> None:
    """Store that the busy person in this seat answers with this new plan, or not at all, and continue the
    conversation.

    Call this inside a transaction, with the turn refreshed and locked.
    """
    with passing_turn(turn):
        store_wordless_answer(turn, seat, plan=plan)
        if update_awaited_answers(turn):
            continue_episode(turn)
    ask_for_answers(turn)


def _lead(turn: OpenTurn, seat: int, member: int, say: MessageDraft) -> str:
    """Store the message of a leader whom the schedule asks. If the leader has no more jobs, or every worker
    has one, the step no longer waits. Return the code of a refusal, or an empty text."""
    if say.kind != END and (code := _send(turn, seat, member, say)):
        return code
    is_finished = say.kind == END or (say.kind == INFORM and have_all_workers_jobs(turn, seat))
    if is_finished and is_leader_awaited(turn, seat):
        stop_waiting_for_leader(turn, seat)
        continue_episode(turn)
        seal_and_notify(turn, {turn.pages[seat]})
    return ""


def _send(turn: OpenTurn, seat: int, member: int, say: MessageDraft) -> str:
    """Store a person's message, and ask agents to answer it. Return the code of a refusal, or an empty
    text."""
    if say.kind == END and seat in turn.people_to_answer - held_seats(turn):
        answer_without_words(turn, seat)
        return ""
    if code := talk_refusal(turn, seat, say.kind):
        return code
    with passing_turn(turn):
        if code := add_message(turn, member, say):
            return code
        if update_awaited_answers(turn):
            continue_episode(turn)
    request_answers(turn, member)
    return ""


def send_message_in_turn(
    turn: OpenTurn,
    *,
    seat: int,
    say: MessageDraft,
    page: str = "",
    after: int | None = None,
    step: int | None = None,
) -> MessageReceipt:
    """Send a message from the person in this seat, as `send_message` does, on a turn that the caller got from
    `exclusive_turn`.

    `after` is the number of the last own message that the page showed. If the person has sent the same
    message since, nothing is sent. The same holds for an `end` if `step`, the step that it is for, is not
    open. `turn` is up to date afterwards.
    """
    with transaction.atomic():
        refresh_turn(turn, lock=True)
        if page and page != turn.pages.get(seat):
            return MessageReceipt("elsewhere")
        member = member_of(turn, seat) if seat in turn.people | turn.leaders else None
        if member is None:
            return MessageReceipt("not_allowed")
        is_late = say.kind == END and step not in (None, turn.step)
        if is_late or (after is not None and is_repeated(turn, member.number, say, after)):
            return MessageReceipt("accepted")
        if turn.is_probing:
            return MessageReceipt(PROBING)
        leads = turn.can_wait_for_leaders and seat in turn.leaders
        if code := (_lead if leads else _send)(turn, seat, member.number, say):
            return MessageReceipt(code)
        if len(turn.people | turn.leaders) > 1 or not page:
            transaction.on_commit(partial(page_broadcast.nudge_pages, turn.episode.pk, turn.stamp))
    return MessageReceipt("accepted")
