"""What is said in an episode: storing it, and who gets to know it.

Every message of people and minds comes through `message_add`, in the transaction that its caller has begun.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace

from django.db.models import OuterRef, Subquery

from kitchen.contract.agent import Situation
from kitchen.contract.jobs import changes_no_job
from kitchen.contract.organisation import INFORM, Member, Organisation
from kitchen.contract.talk import Said, Say, addressees, refusal
from kitchen.contract.world import Event, Json, World
from kitchen.machine.statements import change
from kitchen.machine.storable import printable, storable
from kitchen.play.aims import may_be_asked, with_aim
from kitchen.play.intents import note_plus
from kitchen.play.models import Decision, Episode, Message, Mind
from kitchen.play.turns import OpenTurn, StepTakenError

HEARD, UNSAID = "heard", "unsaid"
"""Under which a decision's note has the last message that its mind could know, and what it may not say."""
HOUSES = frozenset({"since", "plain", "house"})
"""What only the house writes into a message."""
TOLD = 50
"""So many messages, the newest, is a mind told."""


def organisation_of(episode: Episode) -> Organisation | None:
    """Who may say what to whom in this episode; None where nobody says anything."""
    return Organisation.from_json(episode.organisation) if episode.organisation else None


def message_add(turn: OpenTurn, sender: int, say: Say, *, decision: Decision | None = None) -> str:
    """Store what this member says; why it may not, empty if it may (`kitchen.contract.talk.refusal`,
    `over`, `no_such_job`, `no_aim`, `no_such_aim`). Needs a transaction around it, and the turn up to date
    and locked."""
    organisation, sent = organisation_of(turn.episode), turn.sent
    if not turn.is_open:
        return "over"
    if organisation is None:
        return "not_allowed"
    in_step = sum(row.sender == sender and row.step == turn.step for row in sent)
    if code := refusal(organisation, sender, say, sent=in_step):
        return "no_aim" if code == "empty" and say.kind == INFORM else code
    to = addressees(organisation, sender, say)
    if changes_no_job(said_so_far(turn), sender, to, say):
        return "no_such_job"
    say = replace(say, data={name: value for name, value in say.data.items() if name not in HOUSES})
    if say.kind == INFORM:
        if not may_be_asked(turn, organisation, to, say):
            return "no_such_aim"
        say = with_aim(turn, organisation, to, say)
    _store(turn, sender, to, say, decision)
    return ""


def message_of_house(turn: OpenTurn, sender: int, to: tuple[int, ...], say: Say) -> None:
    """Store what the house says for this member, as it sees it itself; the same is needed as there."""
    _store(turn, sender, to, say, None)


def _store(turn: OpenTurn, sender: int, to: tuple[int, ...], say: Say, decision: Decision | None) -> None:
    row = Message(
        episode=turn.episode,
        number=turn.episode.messages + 1,
        step=turn.step,
        sender=sender,
        to=list(to),
        kind=say.kind,
        text=printable(say.text.strip()),
        data=storable(dict(say.data)),
        decision=decision,
    )
    if not change(
        Episode, {"messages": row.number}, where={"id": turn.episode.pk, "messages": row.number - 1}
    ):
        raise StepTakenError(
            f"message {row.number} of episode {turn.episode.key} was sent by another process"
        )
    row.save()
    sent = turn.sent
    turn.episode.messages = row.number
    sent.append(row)


def says_store(turn: OpenTurn, sender: int, says: Iterable[Say], decision: Decision) -> None:
    """Store what a mind says with this decision; what it may not say is left out (its note tells it)."""
    for say in says:
        message_add(turn, sender, say, decision=decision)


def heard(
    turn: OpenTurn, member: int, *, since: int | None = None, most: int | None = None
) -> tuple[Said, ...]:
    """What this member said or may know of what the others did, in order; the newest where there are more
    than `most`. What came after the message of number `since` is new."""
    organisation = organisation_of(turn.episode)
    if organisation is None:
        return ()
    known = [row for row in turn.sent if may_know(turn.world, organisation, row, member)]
    after = turn.episode.messages if since is None else since
    newest = known[-most if most else 0 :]
    return tuple(_said(row, is_new=row.number > after and row.sender != member) for row in newest)


def may_know(world: World, organisation: Organisation, row: Message, number: int) -> bool:
    """Whether this member said this, or gets to know it: an addressee one of whose seats the world lets hear
    it, or that has no seat."""
    if row.sender == number:
        return True
    if number not in row.to:
        return False
    member, event = organisation.member(number), message_event(organisation, row)
    return not member.seats or any(world.visible(seat, event) for seat in member.seats)


def message_event(organisation: Organisation, row: Message) -> Event:
    """The message as the world is asked about it: of the first seat of who said it."""
    seats: Sequence[int] = () if row.sender is None else organisation.member(row.sender).seats
    said = {"said": row.kind, "text": row.text, "to": row.to}
    return Event("message", seats[0] if seats else None, said)


def said_so_far(turn: OpenTurn) -> list[Said]:
    """All that was said, whoever may know it."""
    return [_said(row) for row in turn.sent]


def member_of(turn: OpenTurn, seat: int) -> Member | None:
    """Who has this seat; None where nobody says anything."""
    organisation = organisation_of(turn.episode)
    return organisation.holder(seat) if organisation else None


def last_heard(episode: Episode) -> dict[int, int]:
    """By mind: the number of the last message that was sent before it decided last by itself; 0 where it has
    not. Whom another stood in for has not heard it."""
    decided = {"step__lte": episode.step, "dropped": "", "fallback": ""}
    rows = Decision.objects.filter(mind=OuterRef("pk"), **decided)
    rows = rows.order_by("-step", "-pk")
    last = Mind.objects.filter(episode=episode).annotate(last=Subquery(rows.values("note")[:1]))
    notes = last.order_by().values_list("pk", "last")
    return {pk: note.get(HEARD, 0) if isinstance(note, dict) else 0 for pk, note in notes}


def note_of_talk(note: Json, situation: Situation, says: Sequence[Say]) -> Json:
    """A decision's note with the number of the last message that its mind knew, and with what it may not say
    and why; the note itself where nobody says anything."""
    organisation = situation.organisation
    if organisation is None:
        return note
    refused = _refused(organisation, situation.member, says)
    unsaid = [{**asdict(say), "code": code} for say, code in refused]
    note = note_plus(note, HEARD, situation.messages[-1].number if situation.messages else 0)
    return note_plus(note, UNSAID, unsaid) if unsaid else note


def _refused(organisation: Organisation, member: int, says: Sequence[Say]) -> Iterator[tuple[Say, str]]:
    sent = 0
    for say in says:
        if code := refusal(organisation, member, say, sent=sent):
            yield say, code
        else:
            sent += 1


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


def _said(row: Message, *, is_new: bool = False) -> Said:
    return Said(row.number, row.step, row.sender, tuple(row.to), row.kind, row.text, row.data, is_new)
