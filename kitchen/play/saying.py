"""What is said in an episode: storing it, and who gets to know it, by the rules of
`kitchen.contract.mailbox`.

Every message of people and minds is checked by `message_refusal` and stored by `messages_store`, in the
transaction that its caller has begun.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial

from django.db.models import OuterRef, Subquery

from kitchen.contract.agent import Situation, note_plus
from kitchen.contract.dialogue import InTalk
from kitchen.contract.jobs import Job
from kitchen.contract.mailbox import (
    UNSAID,
    WRITTEN,
    LastHeard,
    Mailbox,
    Outgoing,
    Posted,
    as_member_sees,
    last_heard_of,
    note_of_heard,
    without_platform_keys,
)
from kitchen.contract.mailbox import may_know as may_know_said
from kitchen.contract.organisation import Member, Organisation
from kitchen.contract.talk import Said, Say
from kitchen.contract.world import Aim, Json, World
from kitchen.machine.statements import change
from kitchen.machine.storable import printable, storable
from kitchen.play.models import Decision, Episode, Message, Mind
from kitchen.play.turns import OpenTurn, StepTakenError, settled
from kitchen.registry.worlds import get_page
from kitchen.words.speech import in_english


def organisation_of(episode: Episode) -> Organisation | None:
    """Who may say what to whom in this episode; None where nobody says anything."""
    return Organisation.from_json(episode.organisation) if episode.organisation else None


def mailbox_of(turn: OpenTurn) -> Mailbox | None:
    """What was said so far, and the rules for more; None where nobody says anything. Only messages that are
    new to the turn are looked at."""
    if turn.mailbox is None or (organisation := organisation_of(turn.episode)) is None:
        return None
    turn.mailbox.organisation = organisation  # a person in it may have been replaced
    for row in turn.sent[len(turn.mailbox.posted) :]:
        turn.mailbox.add(Posted(_said(row), row.decision_id is not None))
    return turn.mailbox


def message_add(turn: OpenTurn, sender: int, say: Say) -> str:
    """Store what this member says; why it may not, empty if it may (`message_refusal`). Needs a transaction
    around it, and the turn up to date and locked."""
    say, code = message_refusal(turn, sender, say)
    messages_store(turn, _rows(turn, sender, say, code))
    seats_call(turn)
    return code


def message_of_house(turn: OpenTurn, sender: int | None, to: tuple[int, ...], say: Say) -> None:
    """Store what the house says for this member, as it sees it itself, or in its own name; the same is needed
    as there."""
    messages_store(turn, [_row(turn, Outgoing(sender, to, say))])


def message_refusal(turn: OpenTurn, sender: int, say: Say) -> tuple[Say, str]:
    """The message with whom it is meant for, and why this member may not say it now, empty if it may: as
    `Mailbox.refusal`, or `over`."""
    if not turn.is_open:
        return without_platform_keys(say), "over"
    if (mailbox := mailbox_of(turn)) is None:
        return without_platform_keys(say), "not_allowed"
    return mailbox.refusal(turn.world, turn.step, sender, say)


def talking_now(turn: OpenTurn) -> dict[int, int]:
    """Who talks with whom, where everybody has one partner at a time; else nobody is bound to anybody."""
    mailbox = mailbox_of(turn)
    return mailbox.partners(turn.step) if mailbox else {}


def says_made(turn: OpenTurn, sender: int, says: Iterable[Say], decision: Decision) -> list[Message]:
    """What a mind says with this decision, to be stored after it (`messages_store`). What it may not say is
    left out, and stands in the decision's note with the reason."""
    rows: list[Message] = []
    unsaid = []
    for given in says if turn.episode.organisation else ():
        say, code = message_refusal(turn, sender, given)
        rows += _rows(turn, sender, say, code, decision=decision)
        unsaid += [{**asdict(given), "code": code}] if code else []
    if unsaid:
        before = decision.note.get(UNSAID, []) if isinstance(decision.note, dict) else []
        decision.note = note_plus(decision.note, UNSAID, [*before, *unsaid])
    return rows


def _rows(
    turn: OpenTurn, sender: int, say: Say, code: str, *, decision: Decision | None = None
) -> list[Message]:
    """What is to be stored of this: the message, or, where its addressee is busy, what the house says."""
    if (mailbox := mailbox_of(turn)) is None:
        return []
    sent = mailbox.outgoing(turn.world, sender, say, code, partial(_aim_words, turn))
    return [_row(turn, each, decision=decision) for each in sent]


def _aim_words(turn: OpenTurn, aim: Aim) -> str:
    with in_english():
        return get_page(turn.episode.world).aimed(turn.world.public_brief(), aim)


def _row(turn: OpenTurn, sent: Outgoing, *, decision: Decision | None = None) -> Message:
    """The next message of the turn: it is said, and yet to be stored."""
    row = Message(
        episode=turn.episode,
        number=turn.episode.messages + 1,
        step=turn.step,
        sender=sent.sender,
        to=list(sent.to),
        kind=sent.say.kind,
        text=printable(sent.say.text.strip()),
        data=storable(dict(sent.say.data)),
        decision=decision,
    )
    turn.episode.messages = row.number
    turn.sent.append(row)
    return row


def messages_store(turn: OpenTurn, rows: Sequence[Message]) -> None:
    """Store these messages, the last of the turn. StepTakenError where another process has sent one
    meanwhile."""
    if not rows:
        return
    numbers = {"id": turn.episode.pk, "messages": rows[0].number - 1}
    if not change(Episode, {"messages": rows[-1].number}, where=numbers):
        raise StepTakenError(
            f"message {rows[0].number} of episode {turn.episode.key} was sent by another process"
        )
    Message.objects.bulk_create(rows)


def jobs_settle(turn: OpenTurn) -> None:
    """Report the jobs whose aims are reached now, or cannot be any more. Needs the transaction in which the
    step was taken."""
    if turn.episode.messages and (mailbox := mailbox_of(turn)):
        messages_store(turn, [_row(turn, each) for each in mailbox.settled_jobs(turn.world)])


def seats_call(turn: OpenTurn) -> None:
    """Have the step wait for co-players' seats that may act in it, if something new was said to their mind.
    Needs the transaction in which that was said, or in which the step opened."""
    organisation = organisation_of(turn.episode) if turn.episode.messages and turn.may_act else None
    if organisation is None:
        return
    since = last_heard(turn.episode)
    minds = {seat.number: seat.mind_id for seat in turn.acting if seat.mind_id is not None}
    for seat in sorted(turn.may_act & minds.keys()):
        member = organisation.holder(seat).number
        said, _ = told(turn, member, since=since[minds[seat]])
        if any(one.is_new for one in said):
            turn.ask_after_all(seat)


def heard(turn: OpenTurn, member: int) -> tuple[Said, ...]:
    """What this member said or may know of what the others did, in order."""
    mailbox = mailbox_of(turn)
    return mailbox.heard(turn.world, member) if mailbox else ()


def told(turn: OpenTurn, member: int, *, since: LastHeard) -> tuple[tuple[Said, ...], tuple[Job, ...]]:
    """What this mind is told: the newest of all messages that it sent or may know, in order, and its jobs
    that are open."""
    mailbox = mailbox_of(turn)
    return mailbox.messages_for(turn.world, member, turn.step, since) if mailbox else ((), ())


def may_know(world: World, organisation: Organisation, row: Message | Said, number: int) -> bool:
    """Whether this member said this, or gets to know it (`kitchen.contract.mailbox.may_know`)."""
    return may_know_said(world, organisation, row if isinstance(row, Said) else _said(row), number)


def open_jobs(turn: OpenTurn) -> tuple[Job, ...]:
    """All jobs that are open, whoever gave them."""
    mailbox = mailbox_of(turn)
    return mailbox.open_jobs if mailbox else ()


def member_of(turn: OpenTurn, seat: int) -> Member | None:
    """Who has this seat; None where nobody says anything."""
    organisation = organisation_of(turn.episode)
    return organisation.holder(seat) if organisation else None


def last_heard(episode: Episode) -> dict[int, LastHeard]:
    """By mind. Whom another stood in for has not heard what was said before that."""
    rows = Decision.objects.filter(settled(episode), mind=OuterRef("pk"), dropped="", fallback="")
    rows = rows.order_by("-step", "-pk")
    last = Mind.objects.filter(episode=episode).annotate(
        note=Subquery(rows.values("note")[:1]), for_step=Subquery(rows.values("step")[:1])
    )
    notes = last.order_by().values_list("pk", "note", "for_step")
    return {pk: last_heard_of(note, step or 0) for pk, note, step in notes}


def heard_note(
    turn: OpenTurn, member: int, talk: InTalk, decision: Decision, said: Sequence[Message]
) -> None:
    """Say in the decision's note what its mind has heard of the talk, by the numbers under which these
    messages are stored. They may be others than in the talk: people wrote meanwhile, or one was not sent."""
    if mailbox := mailbox_of(turn):
        heard, missed = mailbox.heard_in_talk(turn.world, member, talk, list(map(_said, said)))
        decision.note = note_of_heard(decision.note, heard, missed)


def note_of_talk(note: Json, situation: Situation) -> Json:
    """A decision's note with the number of the last message that its mind knew; the note itself where nobody
    says anything."""
    if situation.organisation is None:
        return note
    return note_of_heard(note, situation.messages[-1].number if situation.messages else 0)


def checked_says(says: Iterable[Say]) -> tuple[Say, ...]:
    """The same as they can be stored; TypeError or ValueError if they are no messages."""
    checked = []
    for say in says:
        if not isinstance(say, Say) or not isinstance(say.text, str) or not isinstance(say.kind, str):
            raise TypeError(f"{say!r} is not a message")
        json.dumps(dict(say.data), allow_nan=False)
        text, data = printable(say.text), storable(dict(say.data))
        checked.append(Say(text, say.kind, tuple(map(int, say.to)), data))
    return tuple(checked)


def as_said(row: Message, *, is_new: bool = False) -> Said:
    """The message as members know it."""
    return as_member_sees(_said(row), is_new=is_new)


def _said(row: Message) -> Said:
    """The message with all of its data."""
    return Said(row.number, row.step, row.sender, tuple(row.to), row.kind, row.text, row.data)


def as_written(row: Message) -> str:
    """Its text before words were taken out of it."""
    return str(row.data.get(WRITTEN, row.text))
