"""Store the messages of a live episode, and find out who may send and read them.

The rules are those of `kitchen.contract.mailbox`. `message_refusal` checks a message, and `store_messages`
stores it in the caller's transaction. `speaking_order` decides whose turn it is to write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial

from django.db.models import OuterRef, Subquery

from kitchen.contract.agent import Situation, add_to_note
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.automatic_commands import BY_WORLD
from kitchen.contract.dialogue_rounds import DialoguePosition
from kitchen.contract.mailbox import (
    ASKED_IN_KEY,
    BUSY_KEY,
    UNSAID_KEY,
    WRITTEN_KEY,
    LastHeard,
    Mailbox,
    OutgoingMessage,
    PostedMessage,
    last_heard_of,
    may_see_message,
    message_for_member,
    note_of_heard,
    without_platform_keys,
)
from kitchen.contract.organisation import TALK_KINDS, Member, Organisation
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Aim, Json, World
from kitchen.infra.database_writes import update_row_where
from kitchen.infra.storable_json import storable_json, storable_text
from kitchen.play.models import Decision, Episode, Message, Mind
from kitchen.play.turn.due_decisions import is_scheduled
from kitchen.play.turn.open_turn import OpenTurn, effective_decisions
from kitchen.play.turn.step_store import StepTakenError, ask_after_all
from kitchen.registry.world_registry import get_page
from kitchen.words.gettext_without_django import in_english


def mailbox_of(turn: OpenTurn) -> Mailbox | None:
    """Return the mailbox of the turn: all messages sent so far, with the rules for who receives them. None
    if nobody can send messages."""
    if turn.mailbox is None or (organisation := turn.episode.team) is None:
        return None
    turn.mailbox.organisation = organisation  # a person in it may have been replaced by an agent
    for row in turn.sent[len(turn.mailbox.posted) :]:
        is_heard_later = BUSY_KEY in row.data or (
            row.decision_id is not None and ASKED_IN_KEY not in row.data
        )
        turn.mailbox.add(PostedMessage(_team_message(row), is_heard_later))
    return turn.mailbox


def add_message(turn: OpenTurn, sender: int, say: MessageDraft) -> str:
    """Store a message from the member `sender`. Return an empty string, or the code of the reason why the
    message was refused.

    `message_refusal` defines the codes. Call this inside a transaction, with the turn refreshed and locked
    (`refresh_turn`).
    """
    say, code = message_refusal(turn, sender, say)
    if not code and _interrupts_work(turn, sender):
        say = replace(say, data={**say.data, BUSY_KEY: True})
    store_messages(turn, _rows(turn, sender, say, code))
    wait_for_informed_seats(turn)
    return code


def _interrupts_work(turn: OpenTurn, sender: int) -> bool:
    """Return whether a message from this sender interrupts the sender's own work. This matters only if
    answers are delayed by rule. The sender is at work if a plan or an action of several steps keeps its seat
    busy."""
    organisation = turn.episode.team
    if organisation is None or not organisation.delays_answers:
        return False
    given = (turn.given[seat] for seat in organisation.member(sender).seats if seat in turn.given)
    is_busy = any(row.chosen_by == BY_WORLD or row.planned_in is not None for row in given)
    return is_busy or not turn.may_act.isdisjoint(organisation.member(sender).seats)


def new_messages(turn: OpenTurn, sender: int, say: MessageDraft) -> tuple[list[Message], str]:
    """Return the unsaved rows of a message from the member `sender`, and the code of its refusal. They are
    the last messages of the turn from then on. Used while a clock takes the steps: its owner stores them."""
    say, code = message_refusal(turn, sender, say)
    return _rows(turn, sender, say, code), code


def is_repeated(turn: OpenTurn, sender: int, say: MessageDraft, after: int) -> bool:
    """Return whether this member has already sent the same message later than the message with the number
    `after`."""
    later = (row for row in turn.sent if row.number > after and row.sender == sender)
    return any(
        (row.kind, unblocked_text(row)) == (say.kind, storable_text(say.text.strip()))
        and all(row.data.get(name) == value for name, value in say.data.items())
        and set(say.to) <= set(row.to)
        for row in later
    )


def add_platform_message(turn: OpenTurn, sender: int | None, to: tuple[int, ...], say: MessageDraft) -> None:
    """Store a message that the system sends to the members `to`. If `sender` is a member number, the message
    appears as sent by this member. If it is None, the system is the sender.

    Call this inside a transaction, with the turn refreshed and locked (`refresh_turn`).
    """
    store_messages(turn, [_row(turn, OutgoingMessage(sender, to, say))])


def message_refusal(turn: OpenTurn, sender: int, say: MessageDraft) -> tuple[MessageDraft, str]:
    """Check whether the member `sender` may send this message. Return the message with its addressees, and
    the code of the refusal.

    The code is empty if the message is allowed. It is `over` after the episode's end. `Mailbox.refusal`
    defines the other codes.
    """
    if not turn.is_open:
        return without_platform_keys(say), "over"
    if (mailbox := mailbox_of(turn)) is None:
        return without_platform_keys(say), "not_allowed"
    return mailbox.refusal(turn.world, turn.step, sender, say)


def conversation_partners(turn: OpenTurn) -> dict[int, int]:
    """Return the present conversation partner of each member, both by number. Empty if the members can
    talk with several others at a time."""
    mailbox = mailbox_of(turn)
    return mailbox.partners(turn.step) if mailbox else {}


def messages_of_decision(
    turn: OpenTurn,
    sender: int,
    says: Iterable[MessageDraft],
    decision: Decision,
    *,
    has_spoken_enough: bool = False,
) -> list[Message]:
    """Return the messages that an agent sends with this decision, as unsaved rows. Store them after the
    decision (`store_messages`).

    Refused messages are left out and listed in the decision's note, with the reason. With
    `has_spoken_enough`, all messages that belong to a conversation are refused.
    """
    rows: list[Message] = []
    unsaid = []
    for given in says if turn.episode.organisation else ():
        say, code = message_refusal(turn, sender, given)
        code = code or ("too_many" if has_spoken_enough and say.kind in TALK_KINDS else "")
        rows += _rows(turn, sender, say, code, decision=decision)
        unsaid += [{**asdict(given), "code": code}] if code else []
    if unsaid:
        before = decision.note.get(UNSAID_KEY, []) if isinstance(decision.note, dict) else []
        decision.note = add_to_note(decision.note, UNSAID_KEY, [*before, *unsaid])
    return rows


def _rows(
    turn: OpenTurn, sender: int, say: MessageDraft, code: str, *, decision: Decision | None = None
) -> list[Message]:
    """Return the database rows to store for a message. If the addressee is busy, they hold the system's reply
    to the sender instead of the message."""
    if (mailbox := mailbox_of(turn)) is None:
        return []
    sent = mailbox.outgoing(turn.world, sender, say, code, partial(_aim_words, turn))
    return [_row(turn, each, decision=decision) for each in sent]


def _aim_words(turn: OpenTurn, aim: Aim) -> str:
    with in_english():
        return get_page(turn.episode.world).aimed(turn.world.public_brief(), aim)


def _row(turn: OpenTurn, sent: OutgoingMessage, *, decision: Decision | None = None) -> Message:
    """Return an unsaved row with the next message of the turn."""
    data = dict(sent.say.data)
    if decision is not None and decision.step < turn.step:
        data[ASKED_IN_KEY] = decision.step
    row = Message(
        episode=turn.episode,
        number=turn.episode.messages + 1,
        step=turn.step,
        sender=sent.sender,
        to=list(sent.to),
        kind=sent.say.kind,
        text=storable_text(sent.say.text.strip()),
        data=storable_json(data),
        decision=decision,
    )
    turn.sent.append(row)  # before the count, so that nothing is read from the database
    turn.episode.messages = row.number
    return row


def store_messages(turn: OpenTurn, rows: Sequence[Message]) -> None:
    """Store these rows, which must be the last messages of the turn.

    Raises StepTakenError if another process has stored a message in the meantime.
    """
    if not rows:
        return
    numbers = {"id": turn.episode.pk, "messages": rows[0].number - 1}
    if not update_row_where(Episode, {"messages": rows[-1].number}, where=numbers):
        raise StepTakenError(
            f"message {rows[0].number} of episode {turn.episode.key} was sent by another process"
        )
    Message.objects.bulk_create(rows)


def complete_jobs(turn: OpenTurn) -> None:
    """Store a report for each job whose goal was reached in the step, or can no longer be reached. Call this
    in the transaction that stores the step."""
    if turn.episode.messages and (mailbox := mailbox_of(turn)):
        store_messages(turn, [_row(turn, each) for each in mailbox.settled_jobs(turn.world)])


def wait_for_informed_seats(turn: OpenTurn) -> None:
    """Make the step wait for agents that have just received a message. Without a message, the step does not
    wait for these agents, which may act or lead in it.

    Call this in the transaction in which the message was sent or the step opened.
    """
    free = turn.may_act | (turn.leading_minds - turn.awaited_minds - turn.decided)
    organisation = turn.episode.team if turn.episode.messages and free else None
    if organisation is None or is_scheduled(organisation):
        return
    since = last_heard_by_mind(turn.episode)
    minds = {seat.number: seat.mind_id for seat in turn.seats if seat.mind_id is not None}
    for seat in sorted(free & minds.keys()):
        member = organisation.holder(seat).number
        said, _ = messages_for_agent(turn, member, since=since[minds[seat]])
        if any(one.is_new for one in said):
            ask_after_all(turn, seat)


def messages_known_to(turn: OpenTurn, member: int, *, after: int = 0) -> tuple[TeamMessage, ...]:
    """Return all messages after the one with the number `after` that this member sent or may see, in order.
    Empty if nobody can send messages."""
    mailbox = mailbox_of(turn)
    return mailbox.heard(turn.world, member, after) if mailbox else ()


def messages_for_agent(
    turn: OpenTurn, member: int, *, since: LastHeard
) -> tuple[tuple[TeamMessage, ...], tuple[Job, ...]]:
    """Return two tuples for this agent (a member number): its newest messages, sent or received, and its open
    jobs.

    `since` says what the agent knew at its last decision. Later messages are marked as new.
    """
    mailbox = mailbox_of(turn)
    return mailbox.messages_for(turn.world, member, turn.step, since) if mailbox else ((), ())


def may_know(world: World, organisation: Organisation, row: Message, number: int) -> bool:
    """Return whether the member with this number sent this message or may see it."""
    return may_see_message(world, organisation, _team_message(row), number)


def member_of(turn: OpenTurn, seat: int) -> Member | None:
    """Return the member of the organisation that holds this seat. Return None if the episode has no
    organisation, so that nobody can send messages."""
    organisation = turn.episode.team
    return organisation.holder(seat) if organisation else None


def last_heard_by_mind(episode: Episode) -> dict[int, LastHeard]:
    """Return which messages each agent knew at its last decision, by agent id. Decisions of a fallback do not
    count, because the agent itself did not receive the messages then."""
    rows = Decision.objects.filter(effective_decisions(episode), mind=OuterRef("pk"), dropped="", fallback="")
    rows = rows.order_by("-step", "-pk")
    last = Mind.objects.filter(episode=episode).annotate(
        note=Subquery(rows.values("note")[:1]), for_step=Subquery(rows.values("step")[:1])
    )
    notes = last.order_by().values_list("pk", "note", "for_step")
    return {pk: last_heard_of(note, step or 0) for pk, note, step in notes}


def add_heard_note(
    turn: OpenTurn, member: int, talk: DialoguePosition, decision: Decision, messages: Sequence[Message]
) -> None:
    """Record in the note of an agent's decision which messages of this step's conversation the agent has
    received.

    `talk` is how far the agent followed the conversation. `messages` are the conversation's messages as
    stored. They can differ from what the agent saw: people wrote meanwhile, or a message was refused.
    """
    if mailbox := mailbox_of(turn):
        heard, missed = mailbox.heard_in_talk(turn.world, member, talk, list(map(_team_message, messages)))
        decision.note = note_of_heard(decision.note, heard, missed)


def note_with_last_heard(note: Json, situation: Situation) -> Json:
    """Return the note of a decision, with the number of the last message that the agent knew. Unchanged if
    nobody can send messages."""
    if situation.talk.organisation is None:
        return note
    return note_of_heard(note, situation.talk.messages[-1].number if situation.talk.messages else 0)


def checked_messages(says: Iterable[MessageDraft]) -> tuple[MessageDraft, ...]:
    """Return the messages in a form that the database can store. Raises TypeError or ValueError if a
    message is invalid."""
    checked = []
    for say in says:
        if (
            not isinstance(say, MessageDraft)
            or not isinstance(say.text, str)
            or not isinstance(say.kind, str)
        ):
            raise TypeError(f"{say!r} is not a message")
        json.dumps(dict(say.data), allow_nan=False)
        text, data = storable_text(say.text), storable_json(dict(say.data))
        checked.append(MessageDraft(text, say.kind, tuple(map(int, say.to)), data))
    return tuple(checked)


def member_message(row: Message, *, is_new: bool = False) -> TeamMessage:
    """Convert a stored message to the form in which members see it. `is_new` marks it as new to the
    reader."""
    return message_for_member(_team_message(row), is_new=is_new)


def _team_message(row: Message) -> TeamMessage:
    """Return a stored message with all of its data, including those that members never see."""
    return TeamMessage(row.number, row.step, row.sender, tuple(row.to), row.kind, row.text, row.data)


def unblocked_text(row: Message) -> str:
    """Return the text of a message as its sender wrote it, before forbidden words were removed."""
    return str(row.data.get(WRITTEN_KEY, row.text))
