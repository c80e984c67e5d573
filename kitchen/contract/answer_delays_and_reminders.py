"""Decide in which step an agent answers a message, and when a waiting agent is asked again.

The rules are those of MINDcraft, where a second corresponds to one step here. Where members talk with one
partner at a time, the delay of an answer depends on who was busy when the message arrived:

- Neither: the agent is asked in this step.
- Only the partner: the agent is asked 5 steps later, or sooner if the partner becomes free.
- Only the agent: if the message is a question or a request, the agent is asked immediately. Otherwise it is
  asked when it becomes free.
- Both: the agent is asked when one of them becomes free. If all it does is wait or follow somebody, it is
  asked immediately.

A new message before the answer restarts the delay, and the agent then reads all messages together.

Some agents wait for a reply, or for news of a job (a task given by message). Such an agent is asked again
(reminded) after 30 steps, then after 60 more, 120 more, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from kitchen.contract.agent import REASON_OVERDUE, REASON_REMINDER
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.organisation import ASK, END, REQUEST
from kitchen.contract.team_messages import TeamMessage

ANSWER_DELAY = 5
"""Steps before a free agent answers a busy partner."""
_QUESTION_MARKS = ("?", "\uff1f")


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """The newest message of its partner that an agent has not read yet, as it arrived."""

    number: int
    step: int
    """The first step in which the agent could be asked."""
    is_busy: bool
    """True if the agent was busy."""
    is_partner_busy: bool


@dataclass(frozen=True, slots=True)
class BusyMembers:
    """The numbers of members that are busy as a step opens."""

    acting: Set[int]
    """Members with a seat whose command is known: a plan, a lasting action, or a delayed decision."""
    thinking: Set[int]
    """Agents whose decision has not taken effect yet."""
    waiting: Set[int]
    """Members whose seats only wait or follow somebody."""

    def is_busy(self, member: int) -> bool:
        """Return whether this member is carrying out an action or is thinking."""
        return member in self.acting or member in self.thinking


class AnswerDelays:
    """The answers that agents owe in one episode."""

    def __init__(self, open_answers: Mapping[int, OpenAnswer]) -> None:
        self.open = dict(open_answers)
        """The open answers by member."""

    def delayed(
        self,
        step: int,
        busy: BusyMembers,
        messages: Mapping[int, Sequence[TeamMessage]],
        partners: Mapping[int, int],
    ) -> set[int]:
        """Return the agents that are not asked about their new messages in this step. Call this once in each
        step.

        `messages` has the messages that each agent knows, by member number. `partners` has each member's
        conversation partner.
        """
        return {
            member
            for member, said in messages.items()
            if self._is_delayed(member, step, busy, said, partners)
        }

    def _is_delayed(
        self,
        member: int,
        step: int,
        busy: BusyMembers,
        messages: Sequence[TeamMessage],
        partners: Mapping[int, int],
    ) -> bool:
        unread = [said for said in messages if said.is_new and said.sender is not None]
        partner = partners.get(member)
        calls = [said for said in unread if said.sender == partner and said.kind != END]
        if partner is None or not calls:  # the conversation is over: nobody waits for an answer
            self.open.pop(member, None)
            return bool(unread) and busy.is_busy(member)
        answer, newest = self.open.get(member), calls[-1].number
        if answer is None or answer.number != newest:
            answer = OpenAnswer(newest, step, busy.is_busy(member), partner in busy.acting)
            self.open[member] = answer
        return not _is_due(answer, member, partner, step, busy, calls)


def _is_due(
    answer: OpenAnswer,
    member: int,
    partner: int,
    step: int,
    busy: BusyMembers,
    calls: Sequence[TeamMessage],
) -> bool:
    if not answer.is_busy:
        return partner not in busy.acting or step >= answer.step + ANSWER_DELAY
    if not answer.is_partner_busy:
        return not busy.is_busy(member) or any(map(asks_for_answer, calls))
    return member in busy.waiting or not busy.is_busy(member) or partner not in busy.acting


def asks_for_answer(said: TeamMessage) -> bool:
    """Return whether a message is a question or a request."""
    return said.kind in {ASK, REQUEST} or said.text.rstrip().endswith(_QUESTION_MARKS)


FIRST_REMINDER = 30
"""Steps before the first reminder."""


def reminder_reason(
    member: int, step: int, asked_in: int, jobs: Iterable[Job], messages: Iterable[TeamMessage]
) -> str:
    """Return why a member is reminded in this step: `overdue` (a job has not changed for long), or `reminder`
    (a question has no answer). Return an empty text for no reminder.

    `asked_in` is the step in which the member was last asked, 0 if never. `jobs` are the open jobs.
    `messages` are the messages that the member sent and received.
    """
    if any(_is_reminder_due(job.changed, asked_in, step) for job in jobs if job.giver == member):
        return REASON_OVERDUE
    waits = _unanswered(member, messages)
    return REASON_REMINDER if any(_is_reminder_due(since, asked_in, step) for since in waits) else ""


def _unanswered(member: int, messages: Iterable[TeamMessage]) -> Iterable[int]:
    """Return the steps in which this member sent questions and requests that have no answer yet. Any later
    message from the addressee counts as an answer."""
    waits: dict[int, int] = {}
    for said in messages:
        if said.sender == member and said.kind in {ASK, REQUEST}:
            waits |= {other: said.step for other in said.to if other not in waits}
        elif said.sender is not None and member in said.to:
            waits.pop(said.sender, None)
    return waits.values()


def _is_reminder_due(since: int, asked_in: int, step: int) -> bool:
    """Return whether another reminder is due, compared with the step in which the member was last asked.
    `since` is the step in which the waiting began."""
    return _reminders(step - since) > _reminders(asked_in - since)


def silent_steps(since: int, step: int) -> int:
    """Return the waiting time, in steps, after which the last reminder became due: 30, 90, 210 and so on.
    Return 0 if none is due yet. `since` is the step in which the waiting began."""
    return FIRST_REMINDER * ((1 << _reminders(step - since)) - 1)


def _reminders(steps: int) -> int:
    """Return how many reminders are due after this many steps of waiting."""
    return (max(steps, 0) // FIRST_REMINDER + 1).bit_length() - 1
