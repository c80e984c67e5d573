"""Decide when an agent that waits for another member is asked again.

An agent waits for an answer to its question or request, or for news of a job that it gave. It is asked again
after 30 steps, then after 60 more, 120 more, and so on. This follows MINDcraft's reminders, with one step as
one second.
"""

from __future__ import annotations

from collections.abc import Iterable

from kitchen.contract.agent import REASON_OVERDUE, REASON_REMINDER
from kitchen.contract.assigned_jobs import Job
from kitchen.contract.organisation import ASK, REQUEST
from kitchen.contract.team_messages import TeamMessage

FIRST_REMINDER = 30
"""Steps before the first reminder."""


def reminder_reason(
    member: int, step: int, asked_in: int, jobs: Iterable[Job], messages: Iterable[TeamMessage]
) -> str:
    """Return why a member is reminded in this step: `overdue` (a job without news), `reminder` (a question
    without an answer), or an empty text.

    `asked_in` is the step in which the member was last asked, 0 if never. `jobs` are the open jobs.
    `messages` are those that the member sent and received.
    """
    if any(_is_due(job.changed, asked_in, step) for job in jobs if job.giver == member):
        return REASON_OVERDUE
    waits = _unanswered(member, messages)
    return REASON_REMINDER if any(_is_due(since, asked_in, step) for since in waits) else ""


def _unanswered(member: int, messages: Iterable[TeamMessage]) -> Iterable[int]:
    """Return the steps of the member's questions and requests to which the addressee has sent nothing."""
    waits: dict[int, int] = {}
    for said in messages:
        if said.sender == member and said.kind in {ASK, REQUEST}:
            waits |= {other: said.step for other in said.to if other not in waits}
        elif said.sender is not None and member in said.to:
            waits.pop(said.sender, None)
    return waits.values()


def _is_due(since: int, asked_in: int, step: int) -> bool:
    """Return whether a reminder has become due after the step in which the member was last asked."""
    return _reminders(step - since) > _reminders(asked_in - since)


def _reminders(steps: int) -> int:
    """Return how many reminders are due after this number of steps of waiting."""
    return (max(steps, 0) // FIRST_REMINDER + 1).bit_length() - 1
