"""Define `Mailbox`, which holds the messages of one episode and decides who may send and read each of them.

Episodes with people and episodes without people both use this class. It stores nothing in the database; its
caller does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from kitchen.contract.agent import REASON_JOB, REASON_MESSAGE, REASON_SEAT, TeamTalk, add_to_note
from kitchen.contract.assigned_jobs import (
    BY_PLATFORM,
    DONE,
    FAILED,
    PASSED_ON,
    STARTED,
    Job,
    JobLedger,
    job_passed_on,
    jobs_in,
    names_no_open_job,
)
from kitchen.contract.dialogue_rounds import ROUND_KEY, DialoguePosition
from kitchen.contract.organisation import (
    DOWNWARD_KINDS,
    INFORM,
    REPORT,
    SYSTEM,
    TALK_KINDS,
    UPWARD_KINDS,
    Organisation,
)
from kitchen.contract.team_messages import (
    BUSY,
    GONE,
    REQUESTS_KEY,
    MessageDraft,
    TeamMessage,
    address_to_partner,
    conversation_partners,
    conversation_refusal,
    is_unasked,
    mask_blocked_words,
    message_recipients,
    message_refusal,
)
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Event, Json, World

HEARD_KEY, UNSAID_KEY, MISSED_KEY = "heard", "unsaid", "missed"
"""Keys of a decision's note. `heard`: the last message that its agent could know. `unsaid`: messages that it
may not send. `missed`: earlier messages that it did not know, because they arrived during a dialogue with
other agents."""
MAX_MESSAGES_TOLD = 50
"""Maximum number of messages that an agent receives: the newest."""
WRITTEN_KEY = "written"
"""Key of a message's data: the text before words were blocked. Members never see it."""
ASKED_IN_KEY = "asked_in"
"""Key of a message's data: the earlier step in which its agent was asked, if thinking took steps."""
BUSY_KEY = "sender_busy"
"""Key of a person's message whose sender was busy, where answers are delayed (`Organisation.delays_answers`).
Agents hear it in the next step."""
RAN_OUT_KEY = "ran_out"
"""Key of an empty message that the platform sent for a person who did not answer in time."""
PLATFORM_KEYS = frozenset(
    {"since", "marks", "plain", BY_PLATFORM, WRITTEN_KEY, ASKED_IN_KEY, BUSY_KEY, RAN_OUT_KEY}
)
"""Keys of a message's data that only the platform writes."""
_HIDDEN_KEYS = frozenset({WRITTEN_KEY, ASKED_IN_KEY, BUSY_KEY})
PLATFORM_WORDS = {
    BUSY: "Member {member} is talking with somebody else, and got nothing of that.",
    GONE: "The person who was member {member} is gone: that conversation is over.",
}
"""Sentences of the platform to members, by code."""
JOB_STATES = {SUCCESS: DONE, FAIL: FAILED}
"""The state in which the platform reports a job, by the status of its aim in the world."""

AimWords = Callable[[Aim], str]
"""Return an aim in plain English."""


@dataclass(frozen=True, slots=True)
class PostedMessage:
    """One message of the episode as the platform stores it, including data that members do not see."""

    message: TeamMessage
    """The message with all of its data, including what members do not see."""
    with_decision: bool = False
    """True if an agent sent it with a decision, or a busy person sent it where answers are delayed. Other
    agents receive it in the next step."""


class OutgoingMessage(NamedTuple):
    """A message that the caller should send now: its sender, its addressees and its content."""

    sender: int | None
    """None for the platform."""
    to: tuple[int, ...]
    say: MessageDraft


@dataclass(frozen=True, slots=True)
class LastHeard:
    """The messages that an agent knew when it made its last decision."""

    number: int = 0
    """Number of the last message; 0 where there was none."""
    step: int = 0
    """The step that it decided for; 0 if it has not decided yet."""
    missed: frozenset[int] = frozenset()
    """Messages before the last that it did not know."""


class Mailbox:
    """The messages of one episode so far, and the rules for sending and reading messages."""

    def __init__(self, organisation: Organisation, posted: Iterable[PostedMessage] = ()) -> None:
        self.organisation = organisation
        self.posted: list[PostedMessage] = []
        self._ledger = JobLedger()
        self._has_jobs = False
        """True once a job was given. Until then, an agent's messages are found without looking at all."""
        for each in posted:
            self.add(each)

    def add(self, posted: PostedMessage) -> None:
        """Add a message that was already sent. Call this in the order in which the messages were sent."""
        self.posted.append(posted)
        self._has_jobs |= bool(self._ledger.hear(posted.message))

    def post(self, sent: OutgoingMessage, step: int, *, with_decision: bool = False) -> TeamMessage:
        """Send a message: give it the next number, add it to the mailbox, and return it. `step` is the
        current step. `with_decision` is True if the message belongs to an agent's decision."""
        text, data = sent.say.text.strip(), dict(sent.say.data)
        said = TeamMessage(len(self.posted) + 1, step, sent.sender, sent.to, sent.say.kind, text, data)
        self.add(PostedMessage(said, with_decision))
        return said

    def copy(self) -> Mailbox:
        """Return an independent mailbox with the same messages, to try out further messages."""
        other = Mailbox(self.organisation)
        other.posted, other._ledger = list(self.posted), self._ledger.copy()
        other._has_jobs = self._has_jobs
        return other

    @property
    def open_jobs(self) -> tuple[Job, ...]:
        """Return all open jobs of the episode, in the order in which they were given."""
        return self._ledger.open

    def partners(self, step: int) -> dict[int, int]:
        """Return the conversation partner of each member in this step, by member number. Empty if members
        may talk with several others at a time."""
        if not self.organisation.one_partner:
            return {}
        return conversation_partners(self.organisation, (each.message for each in self.posted), step)

    def refusal(self, world: World, step: int, sender: int, say: MessageDraft) -> tuple[MessageDraft, str]:
        """Return the message with its addressees filled in, and a code for why this member may not send it
        now.

        The code is empty if the message may be sent. Other codes are defined in
        `kitchen.contract.team_messages` (`message_refusal`, `conversation_refusal`), or are `unasked`
        (`is_unasked`), `no_such_job`, `no_aim`, `no_such_aim`, `no_such_request` or `cycle`.
        """
        say = without_platform_keys(say)
        talking = self.partners(step) if say.kind in TALK_KINDS else {}
        say = address_to_partner(say, sender, talking)
        if code := message_refusal(self.organisation, sender, say, sent=self._sent_in(step, sender)):
            return say, "no_aim" if code == "empty" and say.kind == INFORM else code
        if is_unasked(self.organisation, sender, say, (each.message for each in self.posted), step):
            return say, "unasked"
        if (
            self.organisation.one_partner
            and say.kind in TALK_KINDS
            and (code := conversation_refusal(say, sender, talking))
        ):
            return say, code
        to = message_recipients(self.organisation, sender, say)
        if names_no_open_job(self.open_jobs, sender, to, say):
            return say, "no_such_job"
        if say.kind == INFORM and not self._can_be_asked(world, to, say):
            return say, "no_such_aim"
        if say.kind == INFORM and self._closes_cycle(sender, to, say):
            return say, "cycle"
        return say, "" if self._can_be_requested(world, to, say) else "no_such_request"

    def _sent_in(self, step: int, sender: int) -> int:
        """Return the number of messages that this member has sent in this step. Messages to busy members
        count. Automatic reports about passed-on jobs, and messages to nobody, do not."""
        in_step = [each.message for each in self.posted if each.message.step == step]
        busy = [said for said in in_step if said.sender is None and said.data.get("code") == BUSY]
        counted = (said for said in in_step if said.to and said.data.get("status") != PASSED_ON)
        own = sum(said.sender == sender for said in counted)
        return own + sum(said.to == (sender,) for said in busy)

    def _can_be_asked(self, world: World, to: Sequence[int], say: MessageDraft) -> bool:
        """Return whether every addressee has a seat that can reach the aim of the job in the message `say`.
        True if there is no aim."""
        if "aim" not in say.data:
            return True
        held = (self.organisation.member(number).seats for number in to)
        return all(seats and _aim(say) in world.aims(seats[0]) for seats in held)

    def _closes_cycle(self, sender: int, to: Sequence[int], say: MessageDraft) -> bool:
        """Return whether this message would pass a job in a circle: back to an earlier member, after the
        maximum number of hops. The present worker must then do or decline the job."""
        job = job_passed_on(self.open_jobs, sender, say.data)
        if job is None or job.state == STARTED:
            return False
        held = (*(job.held or (job.giver,)), sender)
        return len(held) >= self.organisation.cycle_limit and bool(set(to) & set(held))

    def _can_be_requested(self, world: World, to: Sequence[int], say: MessageDraft) -> bool:
        """Return whether each requested command can be planned by a seat of each addressee."""
        if REQUESTS_KEY not in say.data:
            return True
        try:
            given = {tuple(map(str, one)) for one in say.data[REQUESTS_KEY]}
        except TypeError:
            return False
        return all(
            any(world.can_request(seat, one) for seat in self.organisation.member(number).seats)
            for number in to
            for one in given
        )

    def outgoing(
        self, world: World, sender: int, say: MessageDraft, code: str, aim_words: AimWords
    ) -> tuple[OutgoingMessage, ...]:
        """Return the messages to send after a member wrote `say`. `code` is the code that `refusal` returned
        for it.

        If `code` is empty, `say` is sent, with blocked words masked. If it passes a job on, the giver of the
        job also gets a report. For `busy`, only a reply to the sender is sent. For other codes, nothing is
        sent.
        """
        if code == BUSY:
            return (OutgoingMessage(None, (sender,), platform_sentence(BUSY, say.to[0])),)
        if code:
            return ()
        to = message_recipients(self.organisation, sender, say)
        given = self._with_aim(world, to, say, aim_words) if say.kind == INFORM else say
        sent = OutgoingMessage(sender, to, self._shown(given))
        if say.kind != INFORM or (job := job_passed_on(self.open_jobs, sender, say.data)) is None:
            return (sent,)
        data = {"job": job.number, "status": PASSED_ON, BY_PLATFORM: True}
        return sent, OutgoingMessage(sender, (job.giver,), MessageDraft("", REPORT, data=data))

    def _with_aim(
        self, world: World, to: Sequence[int], say: MessageDraft, aim_words: AimWords
    ) -> MessageDraft:
        """Return the message with the data that are needed later to check the job's aim. A job without a text
        gets `aim_words` as its text, for people."""
        if not (aim := _aim(say)):
            return say
        seats = {number: self.organisation.member(number).seats for number in to}
        since = {str(number): world.aim_mark(held[0], aim) for number, held in seats.items()}
        others = [seat for held in seats.values() for seat in held[1:]]
        marks = {"marks": {str(seat): world.aim_mark(seat, aim) for seat in others}} if others else {}
        text = aim_words(aim)
        data = {**say.data, "since": since, **marks}
        if say.text.strip():
            return replace(say, data=data)
        return replace(say, text=text, data={**data, "plain": True})

    def _shown(self, say: MessageDraft) -> MessageDraft:
        """Return the message with blocked words masked. If a word was masked, the original text is kept in
        the message's data."""
        shown = mask_blocked_words(say.text, self.organisation.blocked)
        return (
            say if shown == say.text else replace(say, text=shown, data={**say.data, WRITTEN_KEY: say.text})
        )

    def settled_jobs(self, world: World) -> Iterator[OutgoingMessage]:
        """Yield a report about each open job whose aim is now reached, or can no longer be reached. The
        report goes to the giver of the job. Workers need not send such reports."""
        for job in self.open_jobs if self.organisation.commands else ():
            if job.aim and (state := JOB_STATES.get(self._status(world, job), "")):
                data = {"job": job.number, "status": state, BY_PLATFORM: True}
                why = {"code": "gone"} if state == FAILED else {}
                yield OutgoingMessage(
                    job.worker, (job.giver,), MessageDraft("", REPORT, data={**data, **why})
                )

    def _status(self, world: World, job: Job) -> str:
        """Return the status of a job's aim: SUCCESS if one of the worker's seats reached it, FAIL if no
        seat can reach it, else UNKNOWN."""
        seats = self.organisation.member(job.worker).seats
        found = {world.aim_status(seat, job.aim, job.mark_of(seat)) for seat in seats}
        return SUCCESS if SUCCESS in found else UNKNOWN if UNKNOWN in found else FAIL

    def heard(self, world: World, member: int, after: int = 0) -> tuple[TeamMessage, ...]:
        """Return all messages after the one with the number `after` that this member sent or may read, in
        order."""
        later = self.posted[after:]
        return tuple(
            message_for_member(each.message) for each in later if self._knows(world, each.message, member)
        )

    def messages_for(
        self, world: World, member: int, step: int, since: LastHeard
    ) -> tuple[tuple[TeamMessage, ...], tuple[Job, ...]]:
        """Return what an agent receives in `step`, the step for which it now chooses commands: its newest
        messages in order, and its open jobs.

        Messages that other agents send in the same step arrive one step later. So the order of asking does
        not matter. If members talk within the step, the messages arrive at once.
        """
        own, within = {member, None}, self.organisation.talks_within
        arrived = (
            each
            for each in reversed(self.posted)
            if not each.with_decision or each.message.step < step or each.message.sender in own or within
        )
        newest = (each for each in arrived if self._knows(world, each.message, member))
        known = [*islice(newest, None if self._has_jobs else MAX_MESSAGES_TOLD)][::-1]
        said = tuple(
            message_for_member(
                each.message, is_new=each.message.sender != member and self._is_new(each, since)
            )
            for each in known
        )
        jobs = (job for job in jobs_in(said) if job.is_open and member in (job.giver, job.worker))
        return said[-MAX_MESSAGES_TOLD:], tuple(jobs)

    def _is_new(self, each: PostedMessage, since: LastHeard) -> bool:
        """Return whether the agent did not know this message at its last decision. This is the case if it was
        sent later, or by another agent within the same step."""
        hidden = each.with_decision and each.message.step >= since.step and not self.organisation.talks_within
        return each.message.number > since.number or hidden or each.message.number in since.missed

    def heard_in_talk(
        self, world: World, member: int, talk: DialoguePosition, messages: Sequence[TeamMessage]
    ) -> tuple[int, tuple[int, ...]]:
        """Return which messages an agent knew when it was last asked in the dialogue of a step. The result is
        (number of the last message, numbers of earlier ones that it missed).

        `talk` is what the dialogue recorded about the agent. `messages` are the dialogue's messages as
        posted. Their numbers can differ from those in the dialogue: people wrote meanwhile, or a message was
        refused.
        """
        before = (one for one in messages if (one.data.get(ROUND_KEY, 0), one.sender) < (talk.round, member))
        known = {one.number for one in before if one.kind in TALK_KINDS and self._knows(world, one, member)}
        last = max(known, default=talk.last_known)
        later = [each.message for each in self.posted if talk.sent < each.message.number <= last]
        missed = [one for one in later if one.number not in known and one.sender != member]
        return last, tuple(one.number for one in missed if self._knows(world, one, member))

    def _knows(self, world: World, message: TeamMessage, member: int) -> bool:
        return may_see_message(world, self.organisation, message, member)


def with_aims_of_others(talk: TeamTalk, world: World) -> TeamTalk:
    """Return `talk`, an agent's rights and messages, together with the aims of the members that the agent may
    command."""
    organisation = talk.organisation
    led = organisation.commanded_by(talk.member) if organisation else ()
    if organisation is None or not led:
        return talk
    seats = {number: organisation.member(number).seats for number in led}
    aims = {number: tuple(world.aims(held[0])) if held else () for number, held in seats.items()}
    return replace(talk, aims=aims, public_brief=world.public_brief(), public_state=world.public_state())


def note_of_heard(note: Json, heard: int, missed: Sequence[int] = ()) -> Json:
    """Return a decision's note (JSON for the log) with two more entries. `heard` is the number of the last
    message that the agent knew. `missed` are the numbers of earlier messages that it has not received."""
    note = add_to_note(note, HEARD_KEY, heard)
    return add_to_note(note, MISSED_KEY, list(missed)) if missed else note


def last_heard_of(note: Json, step: int) -> LastHeard:
    """Return which messages an agent knew when it made a decision, read from the decision's note. `step`
    is the step of the decision."""
    told = note if isinstance(note, dict) else {}
    return LastHeard(told.get(HEARD_KEY, 0), step, frozenset(told.get(MISSED_KEY, ())))


def may_see_message(world: World, organisation: Organisation, message: TeamMessage, number: int) -> bool:
    """Return whether the member with this number sent the message or may read it.

    An addressee may read the message if the world lets one of the addressee's seats hear it. An addressee
    without a seat may always read it.
    """
    if message.sender == number:
        return True
    if number not in message.to or message.sender is None:
        return number in message.to
    member = organisation.member(number)
    first = next(iter(organisation.member(message.sender).seats), None)
    event = Event("message", first, {"said": message.kind, "text": message.text, "to": list(message.to)})
    return not member.seats or any(world.visible(seat, event) for seat in member.seats)


def reason_with_news(reason: str, messages: Iterable[TeamMessage]) -> str:
    """Return the reason for which an agent is asked, taking its new messages into account.

    It is `job` if one of them is about a job, and otherwise `message`. Without new messages, or if `reason`
    is not `seat`, the result is `reason` itself.
    """
    new = {said.kind for said in messages if said.is_new}
    if reason != REASON_SEAT or not new:
        return reason
    return REASON_JOB if new & (DOWNWARD_KINDS | UPWARD_KINDS) else REASON_MESSAGE


def message_for_member(message: TeamMessage, *, is_new: bool = False) -> TeamMessage:
    """Return the message without the data that members never see. `is_new` marks it as new to the reader."""
    data = {name: value for name, value in message.data.items() if name not in _HIDDEN_KEYS}
    return replace(message, data=data, is_new=is_new)


def without_platform_keys(say: MessageDraft) -> MessageDraft:
    """Return the message without the data that only the system may add."""
    return replace(say, data={name: value for name, value in say.data.items() if name not in PLATFORM_KEYS})


def platform_sentence(code: str, member: int) -> MessageDraft:
    """Return the system's message about a member. `code` is `busy` (the member talks with somebody else) or
    `gone` (the person has left). Pages show their own text for the code."""
    return MessageDraft(
        PLATFORM_WORDS[code].format(member=member), SYSTEM, data={"code": code, "member": member}
    )


def _aim(say: MessageDraft) -> Aim:
    aim = say.data.get("aim")
    return tuple(aim) if isinstance(aim, list | tuple) else ()
