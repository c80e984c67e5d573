"""Build the panels with which a leader gives jobs: buttons for usual jobs, the last job, news, who is idle.

One press on a button gives its job to the chosen member. Buttons keep their places for the whole episode, so
that none moves under a finger. All other jobs are in a list (`offered_aims`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kitchen.contract.assigned_jobs import DECLINED, DONE, FAILED, PASSED_ON, WITHDRAWN, Job
from kitchen.contract.page import Page, Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Aim
from kitchen.play.live.job_panels import (
    UNDONE_STATES,
    aim_form_value,
    idle_sentence,
    job_text,
    job_words,
    late_sentence,
    state_sentence,
    steps_without_news,
)
from kitchen.words.gettext_without_django import gettext, pgettext

REFUSED_STATES = {DECLINED, FAILED}
TOLD_STATES = {DECLINED, DONE, FAILED, PASSED_ON}
"""States in which a job has ended without the leader. The line of news tells them."""
OWN_JOBS = 12
"""Number of this person's last jobs that the page can look up. Only a few can be on their way at once."""
USUAL_AIMS = 8
"""Number of jobs with a button, for each member: few enough for number keys, and for a phone's screen."""


class JobAims(NamedTuple):
    """The panel of jobs with a button. Each button is a part of the panel."""


class JobAim(NamedTuple):
    """A button that gives a job."""

    value: str
    """The goal as a value of the form."""
    text: str
    members: str
    """The numbers of the members who can do the job, with spaces between them."""
    wanted: int
    """How often its result is wanted now (`Page.wanted_aims`)."""


class GivenJob(NamedTuple):
    """The last job that this person gave. Empty before the first one."""

    text: str = ""
    """A sentence: the job, and who got it."""
    job: str = ""
    number: int = 0
    to: tuple[int, ...] = ()
    """Members who still have the job, so that it can be taken back."""
    told: str = ""
    """Text for screen readers when this changes. Empty if the list of members announces it."""
    own: str = "[]"
    """This person's last jobs (`OWN_JOBS`), as JSON. The page finds in it which jobs have arrived."""


class TeamNews(NamedTuple):
    """The latest news of the members whom this person leads. Empty before the first news."""

    text: str = ""
    member: int = 0
    """The member whom the news is about."""
    bad: bool = False
    """True if a job was not done or is late."""


class IdleMember(NamedTuple):
    """The member whom the bar names because it has no job or is late. Empty if there is none."""

    name: str = ""
    member: int = 0
    late: bool = False
    failed: bool = False
    """True if its last job was declined or not possible."""


def leader_panels(page: Page, view: SeatView) -> tuple[Panel, ...]:
    """Return the panels with which a leader gives jobs, besides the list of members (`roster_panel`)."""
    aims = _usual_aims(page, view)
    return (
        *([Panel("job_aims", "kitchen/play/job_aims.jinja", JobAims(), parts=aims)] if aims else []),
        Panel("job_given", "kitchen/play/job_given.jinja", _given(page, view)),
        Panel("team_news", "kitchen/play/team_news.jinja", _news(page, view)),
        Panel("team_idle", "kitchen/play/team_idle.jinja", _idle(view)),
    )


def _usual_aims(page: Page, view: SeatView) -> tuple[Panel, ...]:
    usual: dict[Aim, None] = {}
    for listed in view.jobs.aims.values():
        usual |= dict.fromkeys(page.usual_aims(view, listed)[:USUAL_AIMS])
    wanted = page.wanted_aims(view)
    buttons = [
        JobAim(
            aim_form_value(aim),
            page.aimed(view.brief, aim),
            " ".join(str(member) for member, listed in view.jobs.aims.items() if aim in listed),
            wanted.get(aim, 0),
        )
        for aim in usual
    ]
    template = "kitchen/play/job_aim.jinja"
    return tuple(Panel(f"job-aim-{number}", template, button) for number, button in enumerate(buttons))


def offered_aims(page: Page, view: SeatView) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the goals (aims) that this leader can assign to led members, in groups.

    Each group is (heading, goals), and each goal is (form value, text). If only some members can pursue a
    goal, the heading names them.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    able: dict[Aim, list[str]] = {}
    for number, listed in view.jobs.aims.items():
        for aim in listed:
            able.setdefault(aim, []).append(view.talk.members[number])
    for aim, names in able.items():
        value = aim_form_value(aim)
        heading = page.aim_group(aim)
        if len(names) < len(view.jobs.leads):
            heading = f"{heading} · {', '.join(names)}"
        groups.setdefault(heading, []).append((value, page.aimed(view.brief, aim)))
    return list(groups.items())


def _own_jobs(view: SeatView) -> list[Job]:
    """Return the jobs that this person gave, in order."""
    return [job for job in view.jobs.listed if job.giver == view.talk.member]


def _given(page: Page, view: SeatView) -> GivenJob:
    own = _own_jobs(view)
    number = max((job.number for job in own), default=0)
    jobs = [job for job in own if job.number == number]
    if not jobs:
        return GivenJob()
    words, told = job_words(page, view, jobs[0]), _given_words(page, view, jobs)
    refused = " ".join(
        state_sentence(page, view, view.talk.members[job.worker], job)
        for job in jobs
        if job.state in REFUSED_STATES
    )
    to = tuple(job.worker for job in jobs if job.is_open and view.phase != "over")
    return GivenJob(
        " ".join(filter(None, [told, refused])), words, number, to, told, _own_as_json(page, view)
    )


def _given_words(page: Page, view: SeatView, jobs: Sequence[Job]) -> str:
    """Return the sentence that tells who got a job. Members who declined it, or for whom it was not possible,
    are left out. Empty if no others are left."""
    names = [view.talk.members[job.worker] for job in jobs if job.state not in REFUSED_STATES]
    if not names:
        return ""
    is_back = all(job.state in REFUSED_STATES | {WITHDRAWN} for job in jobs)
    text = gettext("Taken back from {names}: {job}.") if is_back else gettext("Given to {names}: {job}.")
    return text.format(names=_listed(names), job=job_words(page, view, jobs[0]))


def _listed(names: Iterable[str]) -> str:
    return pgettext("between the things of a list", ", ").join(names)


def _own_as_json(page: Page, view: SeatView) -> str:
    """Return the last jobs that this person gave, with their goals as values of the form."""
    own: dict[int, list[Job]] = {}
    for job in _own_jobs(view):
        own.setdefault(job.number, []).append(job)
    return json.dumps(
        [
            {
                "number": number,
                "aim": aim_form_value(jobs[0].aim) if jobs[0].aim else "",
                "text": job_text(page, view, jobs[0]),
                "to": [job.worker for job in jobs],
            }
            for number, jobs in sorted(own.items())[-OWN_JOBS:]
        ]
    )


def _news(page: Page, view: SeatView) -> TeamNews:
    """Return the latest news of a worker, and who has no job. The news is how a job ended, or that one is
    late. Before the first news, it is only who has no job."""
    told = [(step, job.number, job) for job in _own_jobs(view) if (step := _news_step(view, job))]
    free = _free_members(view)
    if not told:
        return TeamNews(_without_job(view, free), free[0]) if free else TeamNews()
    *_, job = max(told, key=lambda one: one[:2])
    name, late = view.talk.members[job.worker], steps_without_news(view, job)
    news = [late_sentence(page, view, name, job) if late else state_sentence(page, view, name, job)]
    if job.worker in free:
        news.append(idle_sentence(name))
    if others := [member for member in free if member != job.worker]:
        news.append(_without_job(view, others))
    return TeamNews(" ".join(news), job.worker, bool(late) or job.state in UNDONE_STATES)


def _free_members(view: SeatView) -> list[int]:
    """Return the members that this person leads and that have no open job from this person. Empty when the
    episode is over."""
    busy = {job.worker for job in _own_jobs(view) if job.is_open}
    return (
        []
        if view.phase == "over" or not view.jobs.is_known
        else [member for member in view.jobs.leads if member not in busy]
    )


def _without_job(view: SeatView, members: Iterable[int]) -> str:
    names = _listed(view.talk.members[member] for member in members)
    return gettext("Without a job: {names}.").format(names=names)


def _news_step(view: SeatView, job: Job) -> int:
    """Return the step of the latest news of a job: it ended, or it became late. 0 without news."""
    if late := steps_without_news(view, job):
        return job.changed + late
    return job.changed if job.state in TOLD_STATES else 0


def _idle(view: SeatView) -> IdleMember:
    """Return the member that has been without a job for longest, one whose job failed first. If there is
    none, return the first one whose job is late."""
    if view.phase == "over":
        return IdleMember()
    jobs = _own_jobs(view)
    busy = {job.worker: job for job in jobs if job.is_open}
    if free := _free_members(view):
        ended = {member: _last_change(jobs, member) for member in free}
        failed = {member for member in free if _last_state(jobs, member) in REFUSED_STATES}
        first = min(free, key=lambda member: (member not in failed, ended[member]))
        return IdleMember(view.talk.members[first], first, failed=first in failed)
    late = (job.worker for job in busy.values() if steps_without_news(view, job))
    first_late = next(late, None)
    if first_late is None:
        return IdleMember()
    return IdleMember(view.talk.members[first_late], first_late, late=True)


def _last_change(jobs: Sequence[Job], member: int) -> int:
    return max((job.changed for job in jobs if job.worker == member), default=0)


def _last_state(jobs: Sequence[Job], member: int) -> str:
    """Return the state of the job of this member that changed last. Empty without jobs."""
    own = [job for job in jobs if job.worker == member]
    last = max(own, key=lambda job: (job.changed, job.number), default=None)
    return last.state if last else ""
