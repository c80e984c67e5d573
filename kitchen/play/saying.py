"""What is said in an episode: storing it, and who gets to know it.

Every message of people and minds is checked by `message_refusal` and stored by `messages_store`, in the
transaction that its caller has begun.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from django.db.models import OuterRef, Subquery

from kitchen.contract.agent import Situation, note_plus
from kitchen.contract.blocking import filtered
from kitchen.contract.conversations import BUSY, GONE, keeps_apart, partners, to_partner
from kitchen.contract.dialogue import ROUND
from kitchen.contract.jobs import Job, changes_no_job, jobs_of
from kitchen.contract.organisation import INFORM, SYSTEM, TALK, Member, Organisation
from kitchen.contract.talk import Said, Say, addressees, refusal
from kitchen.contract.world import Event, Json, World
from kitchen.machine.statements import change
from kitchen.machine.storable import printable, storable
from kitchen.play.aims import may_be_asked, with_aim
from kitchen.play.models import Decision, Episode, Message, Mind
from kitchen.play.turns import OpenTurn, StepTakenError, settled

HEARD, UNSAID, MISSED = "heard", "unsaid", "missed"
"""Under which a decision's note has the last message that its mind could know, what it may not say, and those
of the messages before the last that it did not know: they came in while it talked with other minds."""
TOLD = 50
"""So many messages, the newest, is a mind told."""
WRITTEN = "written"
"""Under which a message's data have its text, where not all of that is shown; members never see it."""
HOUSES = frozenset({"since", "marks", "plain", "house", WRITTEN})
"""What only the house writes into a message's data."""
HOUSE = {
    BUSY: "Member {member} is talking with somebody else, and got nothing of that.",
    GONE: "The person who was member {member} is gone: that conversation is over.",
}
"""What the house says to members, by its code."""


def organisation_of(episode: Episode) -> Organisation | None:
    """Who may say what to whom in this episode; None where nobody says anything."""
    return Organisation.from_json(episode.organisation) if episode.organisation else None


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
    messages_store(turn, [_row(turn, sender, to, say)])


def message_refusal(turn: OpenTurn, sender: int, say: Say) -> tuple[Say, str]:
    """The message with whom it is meant for, and why this member may not say it now, empty if it may: as
    `kitchen.contract.talk.refusal` and `kitchen.contract.conversations.keeps_apart`, `over`, `no_such_job`,
    `no_aim` or `no_such_aim`."""
    say = replace(say, data={name: value for name, value in say.data.items() if name not in HOUSES})
    organisation = organisation_of(turn.episode)
    if not turn.is_open:
        return say, "over"
    if organisation is None:
        return say, "not_allowed"
    talking = talking_now(turn, organisation) if say.kind in TALK else {}
    say = to_partner(say, sender, talking)
    if code := refusal(organisation, sender, say, sent=_sent(turn, sender)):
        return say, "no_aim" if code == "empty" and say.kind == INFORM else code
    if organisation.one_partner and say.kind in TALK and (code := keeps_apart(say, sender, talking)):
        return say, code
    to = addressees(organisation, sender, say)
    if changes_no_job(open_jobs(turn), sender, to, say):
        return say, "no_such_job"
    is_unknown = say.kind == INFORM and not may_be_asked(turn, organisation, to, say)
    return say, "no_such_aim" if is_unknown else ""


def talking_now(turn: OpenTurn, organisation: Organisation) -> dict[int, int]:
    """Who talks with whom, where everybody has one partner at a time; else nobody is bound to anybody."""
    return partners(organisation, said_so_far(turn), turn.step) if organisation.one_partner else {}


def _sent(turn: OpenTurn, sender: int) -> int:
    """How often this member has written in this step, also to who was busy."""
    in_step = [row for row in turn.sent if row.step == turn.step]
    return sum(row.sender == sender or (_is_busy(row) and row.to == [sender]) for row in in_step)


def _is_busy(row: Message) -> bool:
    return row.sender is None and row.data.get("code") == BUSY


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
    if code == BUSY:
        return [_row(turn, None, (sender,), house_word(BUSY, say.to[0]), decision=decision)]
    organisation = organisation_of(turn.episode)
    if code or organisation is None:
        return []
    to = addressees(organisation, sender, say)
    given = with_aim(turn, organisation, to, say) if say.kind == INFORM else say
    return [_row(turn, sender, to, _shown(given, organisation), decision=decision)]


def _shown(say: Say, organisation: Organisation) -> Say:
    """The message as it is shown, with what was written where that is another thing."""
    shown = filtered(say.text, organisation.blocked)
    return say if shown == say.text else replace(say, text=shown, data={**say.data, WRITTEN: say.text})


def house_word(code: str, member: int) -> Say:
    """What the house says of a member; pages have words of their own for the code."""
    return Say(HOUSE[code].format(member=member), SYSTEM, data={"code": code, "member": member})


def _row(
    turn: OpenTurn, sender: int | None, to: Sequence[int], say: Say, *, decision: Decision | None = None
) -> Message:
    """The next message of the turn: it is said, and yet to be stored."""
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
    return tuple(as_said(row) for row in _known(turn, member))


def told(turn: OpenTurn, member: int, *, since: LastHeard) -> tuple[tuple[Said, ...], tuple[Job, ...]]:
    """What this mind is told: the newest of all messages that it sent or may know, in order, and its jobs
    that are open. What other minds said in the open step is for the next one, whichever is asked first,
    unless members talk within the step."""
    own, within = {member, None}, turn.talks_within
    known = [
        row
        for row in _known(turn, member)
        if row.decision_id is None or row.step < turn.step or row.sender in own or within
    ]
    before = partial(since.is_before, within=within)
    said = tuple(as_said(row, is_new=row.sender != member and before(row)) for row in known)
    jobs = (job for job in jobs_of(said) if job.is_open and member in (job.giver, job.worker))
    return said[-TOLD:], tuple(jobs)


def _known(turn: OpenTurn, member: int) -> list[Message]:
    organisation = organisation_of(turn.episode)
    if organisation is None:
        return []
    return [row for row in turn.sent if may_know(turn.world, organisation, row, member)]


def may_know(world: World, organisation: Organisation, row: Message | Said, number: int) -> bool:
    """Whether this member said this, or gets to know it: an addressee one of whose seats the world lets hear
    it, or that has no seat."""
    if row.sender == number:
        return True
    if number not in row.to or row.sender is None:
        return number in row.to
    member, event = organisation.member(number), message_event(organisation, row)
    return not member.seats or any(world.visible(seat, event) for seat in member.seats)


def message_event(organisation: Organisation, row: Message | Said) -> Event:
    """The message as the world is asked about it: of the first seat of who said it."""
    seats: Sequence[int] = () if row.sender is None else organisation.member(row.sender).seats
    said = {"said": row.kind, "text": row.text, "to": list(row.to)}
    return Event("message", seats[0] if seats else None, said)


def said_so_far(turn: OpenTurn) -> list[Said]:
    """All that was said, whoever may know it."""
    return [as_said(row) for row in turn.sent]


def open_jobs(turn: OpenTurn) -> tuple[Job, ...]:
    """All jobs that are open, whoever gave them. Only messages that are new to the turn are looked at."""
    for row in turn.sent[turn.jobs.heard :]:
        turn.jobs.hear(as_said(row))
    return turn.jobs.open


def member_of(turn: OpenTurn, seat: int) -> Member | None:
    """Who has this seat; None where nobody says anything."""
    organisation = organisation_of(turn.episode)
    return organisation.holder(seat) if organisation else None


@dataclass(frozen=True, slots=True)
class LastHeard:
    """What a mind knew when it decided last by itself."""

    number: int = 0
    """The last message; 0 where there was none."""
    step: int = 0
    """For which it decided; 0 where it has not."""
    missed: frozenset[int] = frozenset()
    """Messages before the last that it did not know."""

    def is_before(self, row: Message, *, within: bool) -> bool:
        """Whether it did not know this message: it was sent later, or another mind sent it in that step,
        unless minds hear one another `within` a step."""
        hidden = row.decision_id is not None and row.step >= self.step and not within
        return row.number > self.number or hidden or row.number in self.missed


def last_heard(episode: Episode) -> dict[int, LastHeard]:
    """By mind. Whom another stood in for has not heard what was said before that."""
    rows = Decision.objects.filter(settled(episode), mind=OuterRef("pk"), dropped="", fallback="")
    rows = rows.order_by("-step", "-pk")
    last = Mind.objects.filter(episode=episode).annotate(
        note=Subquery(rows.values("note")[:1]), for_step=Subquery(rows.values("step")[:1])
    )
    notes = last.order_by().values_list("pk", "note", "for_step")
    return {pk: _last_heard(note if isinstance(note, dict) else {}, step or 0) for pk, note, step in notes}


def _last_heard(note: dict[str, Json], step: int) -> LastHeard:
    return LastHeard(note.get(HEARD, 0), step, frozenset(note.get(MISSED, ())))


@dataclass(frozen=True, slots=True)
class InTalk:
    """How far a mind had followed the talk of minds within the step when it was asked last."""

    known: int
    """The last message that it knew before the talk; 0 where there was none."""
    sent: int
    """How many messages of the episode were sent before the talk."""
    round: int
    """In which round it was asked last."""


def heard_note(
    turn: OpenTurn, member: int, talk: InTalk, decision: Decision, said: Sequence[Message]
) -> None:
    """Say in the decision's note what its mind has heard of the talk, by the numbers under which these
    messages are stored. They may be others than in the talk: people wrote meanwhile, or one was not sent."""
    organisation = organisation_of(turn.episode)
    if organisation is None:
        return
    knows = partial(may_know, turn.world, organisation, number=member)
    before = (row for row in said if (row.data.get(ROUND, 0), row.sender) < (talk.round, member))
    known = {row.number for row in before if row.kind in TALK and knows(row)}
    last = max(known, default=talk.known)
    later = [row for row in turn.sent if talk.sent < row.number <= last and row.number not in known]
    missed = [row.number for row in later if row.sender != member and knows(row)]
    note = note_plus(decision.note, HEARD, last)
    decision.note = note_plus(note, MISSED, missed) if missed else note


def note_of_talk(note: Json, situation: Situation) -> Json:
    """A decision's note with the number of the last message that its mind knew; the note itself where nobody
    says anything."""
    if situation.organisation is None:
        return note
    return note_plus(note, HEARD, situation.messages[-1].number if situation.messages else 0)


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
    data = {name: value for name, value in row.data.items() if name != WRITTEN}
    return Said(row.number, row.step, row.sender, tuple(row.to), row.kind, row.text, data, is_new)


def as_written(row: Message) -> str:
    """Its text before words were taken out of it."""
    return str(row.data.get(WRITTEN, row.text))
