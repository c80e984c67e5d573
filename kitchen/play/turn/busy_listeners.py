"""Let people answer a message in a step in which they are busy, where two members take turns to speak.

A person is busy while a lasting action or an earlier plan continues (`turn_rules.asked_seats` leaves the seat
out). If the other member then opens a conversation, the step is kept open until the conversation is over. The
person answers, or passes with an empty message of kind `END`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.mailbox import RAN_OUT_KEY
from kitchen.contract.organisation import END, TALK_KINDS
from kitchen.contract.team_messages import MessageDraft, message_recipients
from kitchen.play.turn.conversation import add_platform_message, message_refusal
from kitchen.play.turn.decision_records import keep_words_only
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.speaking_order import begin_turn_of_people, minds_to_answer, person_to_answer
from kitchen.play.turn.step_store import call_busy_person
from kitchen.play.turn.submitted_commands import SubmittedCommand, SubmittedDecision
from kitchen.play.turn.turn_rules import asked_seats, missing_seats


def busy_people(turn: OpenTurn) -> set[int]:
    """Return the seats of people who are not asked in this step, because an action or a plan continues."""
    return turn.people - asked_seats(turn)


def speak_before_commands(
    turn: OpenTurn, commands: Sequence[SubmittedCommand], decisions: Sequence[SubmittedDecision]
) -> tuple[list[SubmittedCommand], list[SubmittedDecision]]:
    """Return commands and decisions to store. If an agent opens a conversation with a busy person, only its
    messages are stored now. Its commands and plans are kept in its note, and it is asked again after the
    conversation."""
    given, made = list(commands), []
    for each in decisions:
        if _opens_with_busy_person(turn, each):
            own = {seat.number for seat in turn.seats if seat.mind_id == each.row.mind_id}
            dropped = [one for one in given if one.seat in own]
            plans = {**each.plans, **{one.seat: one.then for one in dropped if one.then}}
            kept = MindDecision({one.seat: one.command for one in dropped}, plans=plans)
            keep_words_only(each.row, kept)
            given = [one for one in given if one.seat not in own]
            each = replace(each, plans={})
        made.append(each)
    return given, made


def _opens_with_busy_person(turn: OpenTurn, made: SubmittedDecision) -> bool:
    """Return whether this decision is the first one in the step in which its agent writes to a busy
    person."""
    team, busy = turn.episode.team, busy_people(turn)
    if team is None or not team.takes_turns or not busy or turn.heard_in_step.get(made.row.mind_id):
        return False
    drafts = (message_refusal(turn, made.member, say) for say in made.says if say.kind in TALK_KINDS - {END})
    allowed = [say for say, code in drafts if not code]
    addressed = {number for say in allowed for number in message_recipients(team, made.member, say)}
    return any(team.holder(seat).number in addressed for seat in busy)


def call_busy_people(turn: OpenTurn) -> bool:
    """Let the step wait for a busy person who has to answer a message, and stop waiting when the conversation
    is over. Return whether it stopped waiting for somebody.

    Call this inside a transaction after each message and each command, with the turn refreshed and locked.
    """
    team, before = turn.episode.team, turn.called_people
    if team is None or not team.takes_turns or not turn.is_open:
        return False
    busy = busy_people(turn) if missing_seats(turn) - before else set()  # else the other one has decided
    for seat in sorted(busy | before):
        answers = seat in busy and person_to_answer(turn, {seat}) is not None
        waits = answers or (seat in busy & before and bool(minds_to_answer(turn)))
        if waits != (seat in before):
            call_busy_person(turn, seat, waits=waits)
    ended = bool(before - turn.called_people)
    if ended:
        begin_turn_of_people(turn)
    return ended


def end_answer(turn: OpenTurn, seat: int, *, ran_out: bool) -> None:
    """Store that the busy person in this seat writes no answer, because the time has `ran_out` or because the
    person's plan is the answer.

    Call this inside a transaction, with the turn refreshed and locked.
    """
    if team := turn.episode.team:
        member = team.holder(seat).number
        say = MessageDraft("", END, data={RAN_OUT_KEY: True} if ran_out else {})
        add_platform_message(turn, member, team.to(member, END), say)
