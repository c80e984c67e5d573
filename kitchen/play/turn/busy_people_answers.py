"""Let people answer a message in a step in which they are busy, where two members take turns to speak.

A person is busy while a lasting action or an earlier plan continues (`turn_rules.asked_seats` leaves the seat
out). If the other member then opens a conversation, the step waits until the conversation is over. The person
answers with a message or a plan, or gives no answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile

from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.assigned_jobs import BY_PLATFORM
from kitchen.contract.mailbox import RAN_OUT_KEY
from kitchen.contract.organisation import END, SAY
from kitchen.contract.team_messages import PLAN_KEY, MessageDraft
from kitchen.contract.world import Command, Json
from kitchen.play.models import Mind
from kitchen.play.turn.conversation import add_platform_message, message_refusal
from kitchen.play.turn.decision_records import keep_words_only
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.speaking_order import (
    is_conversation_over_for,
    minds_to_answer,
    person_to_answer,
    words_of_step,
)
from kitchen.play.turn.step_store import await_answer
from kitchen.play.turn.submitted_commands import SubmittedCommand, SubmittedDecision
from kitchen.play.turn.turn_rules import busy_people, missing_seats


def update_awaited_answers(turn: OpenTurn) -> bool:
    """Let the step wait for a busy person who has to answer a message, and stop waiting when the conversation
    is over. Return whether it stopped waiting for somebody.

    Call this inside a transaction after each message and each command, with the turn refreshed and locked.
    """
    team, before = turn.episode.team, turn.people_to_answer
    if team is None or not team.takes_turns or not turn.is_open:
        return False
    busy = busy_people(turn) if missing_seats(turn) - before else set()  # else the other one has decided
    awaited = _addressed(turn, busy)
    if minds_to_answer(turn):
        awaited |= busy & before
    for seat in sorted(awaited ^ before):
        await_answer(turn, seat, waits=seat in awaited)
    return bool(before - awaited)


def _addressed(turn: OpenTurn, busy: Collection[int]) -> set[int]:
    """Return the seats among `busy` whose people have to answer the last message and may still write. Nobody
    has to answer if all that its sender said last needs no answer (`World.needs_answer`)."""
    said = words_of_step(turn)
    newest = takewhile(lambda row: row.sender == said[-1].sender, reversed(said))
    if not any(turn.world.needs_answer(row.data or {}) for row in newest):
        return set()
    return {seat for seat in busy if person_to_answer(turn, {seat}) is not None and _may_write(turn, seat)}


def _may_write(turn: OpenTurn, seat: int) -> bool:
    if turn.episode.team is None or is_conversation_over_for(turn, seat):
        return False
    member = turn.episode.team.holder(seat).number
    return not message_refusal(turn, member, MessageDraft("?", SAY))[1]


def postpone_commands(
    turn: OpenTurn, decisions: Iterable[SubmittedDecision], commands: Sequence[SubmittedCommand]
) -> set[int]:
    """Return the seats whose commands must not be stored yet, because their agent has just opened a
    conversation with a busy person.

    These commands and plans are kept in the note of the agent's decision, and its claim is released. The
    agent is asked again after the conversation. Call this after the messages of the decisions were added to
    the turn, before the decisions are stored.
    """
    team = turn.episode.team
    if team is None or not team.takes_turns or not _addressed(turn, busy_people(turn)):
        return set()
    postponed: set[int] = set()
    for each in decisions:
        if each.says and not turn.heard_in_step.get(each.row.mind_id):
            own = {seat.number for seat in turn.seats if seat.mind_id == each.row.mind_id}
            dropped = [one for one in commands if one.seat in own]
            plans = {**each.plans, **{one.seat: one.then for one in dropped if one.then}}
            keep_words_only(each.row, MindDecision({one.seat: one.command for one in dropped}, plans=plans))
            turn.store.change(
                Mind, {"deciding_until": None, "deciding_by": ""}, where={"id": each.row.mind_id}
            )
            postponed |= own
    return postponed


def store_wordless_answer(
    turn: OpenTurn, seat: int, *, plan: Sequence[Command] = (), ran_out: bool = False
) -> None:
    """Store that the person in this seat writes no answer: the person does not want to, the time has
    `ran_out`, or the new `plan` is the answer.

    Call this inside a transaction, with the turn refreshed and locked.
    """
    if team := turn.episode.team:
        member = team.holder(seat).number
        data: dict[str, Json] = {BY_PLATFORM: True}
        data |= {PLAN_KEY: [list(command) for command in plan]} if plan else {}
        data |= {RAN_OUT_KEY: True} if ran_out else {}
        add_platform_message(turn, member, team.to(member, END), MessageDraft("", END, data=data))
