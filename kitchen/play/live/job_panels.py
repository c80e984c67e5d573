"""Build the play page's panels about jobs, which are tasks that team members give to one another by message.

A worker sees its jobs as cards. A leader sees a list of the members that it leads, with their jobs. The list
marks members without a job, failed jobs and late jobs. These three are announced to screen readers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from kitchen.contract.answer_delays_and_reminders import silent_steps
from kitchen.contract.assigned_jobs import (
    ACCEPTED,
    DECLINED,
    DONE,
    FAILED,
    PASSED_ON,
    STARTED,
    WITHDRAWN,
    Job,
    is_copy_of,
    is_same_job,
)
from kitchen.contract.page import Page, Panel
from kitchen.contract.page_view import SeatView
from kitchen.play.live.agent_sentences import written_language
from kitchen.words.gettext_without_django import gettext, gettext_noop, pgettext

JOB_STATES = {
    "given": gettext_noop("not answered yet"),
    "accepted": gettext_noop("accepted"),
    "declined": gettext_noop("declined"),
    "started": gettext_noop("begun"),
    "done": gettext_noop("done"),
    "failed": gettext_noop("not possible"),
    "withdrawn": gettext_noop("taken back"),
    "passed_on": gettext_noop("given to somebody else"),
}
"""Labels of the states of a job."""
JOB_FAILURE_REASONS = {
    "gone": gettext_noop("I do not have what I need for it."),
    "late": gettext_noop("It took too long."),
    "stopped": gettext_noop("I was told to stop."),
    "words": gettext_noop("I can only do jobs from the list."),
}
"""Reasons why a job was declined or failed, by `Job.code`, where no person wrote a reason."""
REPORTED_STATES = {ACCEPTED, STARTED, DONE, FAILED, DECLINED, PASSED_ON}
"""Job states that are announced to screen readers."""


UNDONE_STATES = {FAILED, DECLINED, WITHDRAWN}
"""States in which a job has ended without being done. The leader may give it again, to any worker."""


class JobsPanel(NamedTuple):
    """The panel of the jobs that the person at this page was given. Each job is a part of the panel."""


class JobCard(NamedTuple):
    """One job that the person at this page was given."""

    number: int
    who: str
    """Name of the member who gave the job."""
    text: str
    state: str
    words: str
    """The label of the state."""
    why: str
    step: int
    acts: bool
    """True if the reader can still act on the job."""
    aim: str = ""
    """The goal in the world that the job asks for, as text."""
    language: str = ""
    """Code of the language of `text`; empty if it is not known, as for a job from a person."""


class RosterPanel(NamedTuple):
    """The panel of the members whom this person leads. Each member is a part of the panel."""


class WorkerJob(NamedTuple):
    """One job of a member whom this person leads."""

    number: int
    text: str
    state: str
    words: str
    why: str
    since: int
    """The step in which the job reached this state."""
    open: bool
    """True if the job can be taken back."""
    silent: int
    """Steps without news if the job is late (`silent_steps`); otherwise 0."""
    can_be_given_again: bool
    """True if the leader may fill the form for jobs with this job, to give it again."""
    aim: str
    """The job's goal as a value of the form; empty without one."""
    leader_text: str
    """The words that the leader added."""


class WorkerStatus(NamedTuple):
    """The status of a member whom this person leads. It lists the member's open jobs, newest first. If
    there are none, it has the last finished job."""

    member: int
    name: str
    seats: tuple[int, ...]
    free: bool
    """True if the member has no open job."""
    free_since: int
    """The step in which its last job ended; 0 if it has had none."""
    errands: tuple[WorkerJob, ...]
    announcement: str
    """Text for screen readers when this changes. Empty if the conversation announces it."""
    leads: str = ""
    """Names of the other members whom this member leads. Empty if there are none."""


def jobs_panel(page: Page, view: SeatView) -> Panel:
    """Return the panel of the jobs that this person was given."""
    parts = tuple(
        Panel(f"job-{job.number}-{job.worker}", "kitchen/play/job.jinja", _card(page, view, job))
        for job in view.jobs.listed
        if job.worker == view.talk.member
    )
    return Panel("jobs", "kitchen/play/jobs.jinja", JobsPanel(), parts=parts)


def _card(page: Page, view: SeatView, job: Job) -> JobCard:
    return JobCard(
        job.number,
        view.talk.members[job.giver],
        job_text(page, view, job),
        job.state,
        gettext(JOB_STATES[job.state]),
        _why(job),
        job.step,
        job.is_open and view.phase != "over",
        page.aimed(view.brief, job.aim) if job.aim else "",
        written_language(view, job.giver),
    )


def job_text(page: Page, view: SeatView, job: Job) -> str:
    """Return the text of a job that a person or an agent wrote. Empty if the system generated the text
    from the job's goal."""
    return "" if job.aim and job.is_plain else job.text


def _why(job: Job) -> str:
    if job.code in JOB_FAILURE_REASONS:
        return gettext(JOB_FAILURE_REASONS[job.code])
    return "" if job.why == job.text else job.why


def failure_reason(job: Job) -> str:
    """Return in English why a job was declined or failed, for tables: as somebody wrote it, or as the program
    reported it. Empty without a reason."""
    return job.why or JOB_FAILURE_REASONS.get(job.code, job.code)


def roster_panel(page: Page, view: SeatView) -> Panel:
    """Build the panel with one row for each member whom this person leads, showing the member's status."""
    parts = tuple(
        Panel(f"worker-{member}", "kitchen/play/worker.jinja", _worker(page, view, member))
        for member in view.jobs.leads
    )
    return Panel("roster", "kitchen/play/roster.jinja", RosterPanel(), parts=parts)


def _worker(page: Page, view: SeatView, member: int) -> WorkerStatus:
    jobs = [job for job in view.jobs.listed if job.worker == member and job.giver == view.talk.member]
    still = [job for job in reversed(jobs) if job.is_open]
    last = max(jobs, key=lambda job: (job.changed, job.number), default=None)
    shown = still or ([last] if last else [])
    name = view.talk.members[member]
    return WorkerStatus(
        member,
        name,
        view.jobs.seats_of.get(member, ()),
        not still and view.jobs.is_known,
        last.changed if last and not still else 0,
        tuple(_errand(page, view, job) for job in shown),
        _worker_news(page, view, name, last, still) if last else "",
        names_of(view, view.jobs.led_by.get(member, ())),
    )


def names_of(view: SeatView, members: Sequence[int]) -> str:
    """Return the names of these members as a list in words."""
    return pgettext("between the things of a list", ", ").join(view.talk.members[one] for one in members)


def _worker_news(page: Page, view: SeatView, name: str, last: Job, still: Sequence[Job]) -> str:
    """Return the text that reports how a worker's jobs are going. It lists the worker's late jobs. If none is
    late, it tells how the last job ended, and whether the worker has no job now."""
    silent = [late_sentence(page, view, name, job) for job in still if steps_without_news(view, job)]
    is_told = last.state in REPORTED_STATES and not last.why  # the conversation announces a written reason
    told = state_sentence(page, view, name, last) if is_told else ""
    free = [] if still or not view.jobs.is_known else [idle_sentence(name)]
    return " ".join(silent or filter(None, [told, *free]))


def late_sentence(page: Page, view: SeatView, name: str, job: Job) -> str:
    """Return the sentence that nothing was heard of a job for some steps. `name` is its worker's name."""
    text, steps = gettext("{who}: no news for {steps} steps: {job}."), steps_without_news(view, job)
    return text.format(who=name, steps=steps, job=job_words(page, view, job))


def idle_sentence(name: str) -> str:
    """Return the sentence that the worker with this name has no job."""
    return gettext("{who} has no job now.").format(who=name)


def steps_without_news(view: SeatView, job: Job) -> int:
    """Return the number of steps since an open job last changed. Return 0 if this is not yet long enough to
    call the job late."""
    return silent_steps(job.changed, view.step + 1) if job.is_open and view.phase != "over" else 0


def _errand(page: Page, view: SeatView, job: Job) -> WorkerJob:
    can = job.is_open and view.phase != "over"
    words = gettext(JOB_STATES[job.state])
    text, silent = job_words(page, view, job), steps_without_news(view, job)
    again = view.phase != "over" and _can_be_given_again(view, job)
    aim, written = aim_form_value(job.aim) if job.aim else "", job_text(page, view, job)
    return WorkerJob(
        job.number, text, job.state, words, _why(job), job.changed, can, silent, again, aim, written
    )


def _can_be_given_again(view: SeatView, job: Job) -> bool:
    """Return whether a job ended without being done, nobody has got the same job since then, and nobody still
    works on a copy of it. Words alone are not offered again to somebody who does not read them."""
    if job.state not in UNDONE_STATES or (not job.aim and job.worker in view.talk.unread):
        return False
    copies = [each for each in view.jobs.listed if is_copy_of(job, each)]
    return not any(each.is_open or (is_same_job(job, each) and each.step >= job.changed) for each in copies)


def aim_form_value(aim: Sequence[str]) -> str:
    """Return a goal as a value of the form for jobs: `["serve","salmonSushi"]`."""
    return json.dumps(aim, separators=(",", ":"))


def job_words(page: Page, view: SeatView, job: Job) -> str:
    """Return a job as text: its goal, and the words that somebody added."""
    parts = [page.aimed(view.brief, job.aim) if job.aim else "", job_text(page, view, job)]
    return ": ".join(part for part in parts if part)


def state_sentence(page: Page, view: SeatView, name: str, job: Job) -> str:
    """Return the sentence that tells news of a job, such as `Player 2: not possible: Serve the guests. I do
    not have what I need for it.`"""
    said = gettext("{who}: {state}: {job}.")
    said = said.format(who=name, state=gettext(JOB_STATES[job.state]), job=job_words(page, view, job))
    return " ".join(filter(None, [said, _why(job)]))
