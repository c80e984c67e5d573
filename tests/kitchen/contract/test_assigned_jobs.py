"""Jobs as they follow from what was said."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from kitchen.contract.assigned_jobs import Job, jobs_in, names_no_open_job
from kitchen.contract.team_messages import MessageDraft, TeamMessage


def message(number: int, sender: int, kind: str, text: str = "", *to: int, **data: Any) -> TeamMessage:
    return TeamMessage(number, number, sender, to, kind, text, data)


GIVEN = message(1, 0, "inform", "fetch rice", 1, 2)


def states(*messages: TeamMessage) -> dict[int, str]:
    return {job.worker: job.state for job in jobs_in([GIVEN, *messages])}


def test_each_worker_reports_its_own_job() -> None:
    assert jobs_in([GIVEN])[0] == Job(1, 0, 1, "fetch rice", 1, changed=1)
    accepted = message(2, 1, "accept", "", 0, job=1)
    assert states(accepted) == {1: "accepted", 2: "given"}
    done = message(3, 1, "report", "here it is", 0, job=1, status="done")
    assert states(accepted, done) == {1: "done", 2: "given"}
    assert jobs_in([GIVEN, done])[0].why == "here it is"
    assert states(accepted, message(3, 1, "report", "", 0, job=1, status="failed"))[1] == "failed"


def test_the_giver_withdraws_a_job_and_closed_jobs_stay_closed() -> None:
    declined = message(2, 1, "decline", "my hands are full", 0, job=1)
    assert states(declined, message(3, 0, "withdraw", "", 1, 2, job=1)) == {1: "declined", 2: "withdrawn"}
    assert states(declined, message(3, 1, "accept", "", 0, job=1))[1] == "declined"


def hops(*members: int, started: int = 0) -> list[TeamMessage]:
    """Messages that give a job to the first member and pass it on to the others, one after the other. After
    hop `started`, its worker starts it."""
    messages = list[TeamMessage]()
    before = dict[str, int]()
    for hop, (giver, worker) in enumerate(pairwise(members), 1):
        number = len(messages) + 1
        messages.append(message(number, giver, "inform", "fetch", worker, **before))
        if before:
            to = members[hop - 2]
            data = {"job": before["passed_on"], "status": "passed_on", "house": True}
            messages.append(message(number + 1, giver, "report", "", to, **data))
        if hop == started:
            messages.append(
                message(len(messages) + 1, worker, "report", "", giver, job=number, status="started")
            )
        before = {"passed_on": number}
    return messages


@pytest.mark.parametrize(
    ("members", "started", "cycles"),
    [
        ((0, 1, 2), 0, []),
        ((0, 1, 2, 0), 0, [3]),
        ((0, 1, 0), 0, [2]),
        ((0, 1, 2, 3, 1), 0, [3]),
        ((0, 1, 2, 0, 1, 2, 0), 0, [3, 3]),
        ((0, 1, 2, 0), 2, []),
    ],
)
def test_a_job_that_comes_back_before_anybody_started_it_is_a_cycle(
    members: tuple[int, ...], started: int, cycles: list[int]
) -> None:
    jobs = jobs_in(hops(*members, started=started))
    assert [job.cycle for job in jobs if job.cycle] == cycles
    assert [job.state for job in jobs] == ["passed_on"] * (len(members) - 2) + ["given"]


def test_only_the_platform_says_that_a_job_was_passed_on() -> None:
    forged = message(2, 1, "report", "", 0, job=1, status="passed_on")
    assert states(forged) == {1: "given", 2: "given"}
    assert names_no_open_job(jobs_in([GIVEN]), 2, (0,), MessageDraft("", "inform", data={"passed_on": 7}))


@pytest.mark.parametrize(
    ("sender", "to", "say"),
    [
        (1, (0,), MessageDraft("", "accept", data={"job": 7})),
        (1, (0,), MessageDraft("", "accept")),
        (3, (0,), MessageDraft("", "accept", data={"job": 1})),
        (1, (0,), MessageDraft("", "report", data={"job": 1, "status": "perhaps"})),
        (2, (1,), MessageDraft("", "withdraw", data={"job": 1})),
    ],
)
def test_a_message_on_another_members_job_changes_nothing(
    sender: int, to: tuple[int, ...], say: MessageDraft
) -> None:
    assert names_no_open_job(jobs_in([GIVEN]), sender, to, say)
    assert states(TeamMessage(2, 2, sender, to, say.kind, say.text, say.data)) == {1: "given", 2: "given"}


def test_talk_changes_no_job() -> None:
    assert not names_no_open_job([], 0, (1,), MessageDraft("hello"))
    assert not names_no_open_job(jobs_in([GIVEN]), 1, (0,), MessageDraft("", "accept", data={"job": 1}))
