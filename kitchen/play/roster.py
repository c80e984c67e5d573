"""Jobs on a page: those that its person was given, and for who leads how each worker stands."""

from __future__ import annotations

from typing import NamedTuple

from kitchen.contract.jobs import ACCEPTED, DECLINED, DONE, FAILED, STARTED, Job
from kitchen.contract.page import Page, Panel, SeatView
from kitchen.words.speech import gettext, marked

STATES = {
    "given": marked("not answered yet"),
    "accepted": marked("accepted"),
    "declined": marked("declined"),
    "started": marked("begun"),
    "done": marked("done"),
    "failed": marked("not possible"),
    "withdrawn": marked("taken back"),
}
"""How a job stands."""
WHYS = {
    "gone": marked("There is nothing to do it with."),
    "late": marked("It took too long."),
    "stopped": marked("I was told to stop."),
    "words": marked("I need something from the list."),
}
"""Why one was declined or failed, where no person wrote why (`Job.code`)."""
TELLS = {ACCEPTED, STARTED, DONE, FAILED, DECLINED}
"""States of which a screen reader hears."""


class Jobs(NamedTuple):
    """Jobs that who reads was given; each is a part."""


class Card(NamedTuple):
    """One job."""

    number: int
    who: str
    """Who gave it."""
    text: str
    state: str
    words: str
    """The state in words."""
    why: str
    step: int
    acts: bool
    """Something can still be done about it."""
    aim: str = ""
    """What of the world is asked for, in words."""


class Roster(NamedTuple):
    """Those whom a person leads; each is a part."""


class Errand(NamedTuple):
    """A job of a worker."""

    number: int
    text: str
    state: str
    words: str
    why: str
    since: int
    """The step in which it came to stand so."""
    open: bool
    """It can be taken back."""


class Worker(NamedTuple):
    """How a worker stands: open jobs, the newest first, else the last one that is over."""

    member: int
    name: str
    seats: tuple[int, ...]
    free: bool
    """Nothing is asked of it now."""
    errands: tuple[Errand, ...]
    told: str
    """What a screen reader says when this changes; empty where the conversation says it."""


def jobs_panel(page: Page, view: SeatView) -> Panel:
    """The jobs that this person was given."""
    parts = tuple(
        Panel(f"job-{job.number}-{job.worker}", "kitchen/play/job.jinja", _card(page, view, job))
        for job in view.jobs
        if job.worker == view.member
    )
    return Panel("jobs", "kitchen/play/jobs.jinja", Jobs(), parts=parts)


def _card(page: Page, view: SeatView, job: Job) -> Card:
    return Card(
        job.number,
        view.members[job.giver],
        words_of(page, view, job),
        job.state,
        gettext(STATES[job.state]),
        _why(job),
        job.step,
        job.is_open and view.phase != "over",
        page.aimed(view.brief, job.aim) if job.aim else "",
    )


def words_of(page: Page, view: SeatView, job: Job) -> str:
    """What was written for it; empty where that is its aim in plain English, as the house writes it."""
    return "" if job.aim and job.is_plain else job.text


def _why(job: Job) -> str:
    if job.code in WHYS:
        return gettext(WHYS[job.code])
    return "" if job.why == job.text else job.why


def roster_panel(page: Page, view: SeatView) -> Panel:
    """How each of those stands whom this person leads."""
    parts = tuple(
        Panel(f"worker-{member}", "kitchen/play/worker.jinja", _worker(page, view, member))
        for member in view.leads
    )
    return Panel("roster", "kitchen/play/roster.jinja", Roster(), parts=parts)


def _worker(page: Page, view: SeatView, member: int) -> Worker:
    jobs = [job for job in view.jobs if job.worker == member and job.giver == view.member]
    still = [job for job in reversed(jobs) if job.is_open]
    last = max(jobs, key=lambda job: (job.changed, job.number), default=None)
    shown = still or ([last] if last else [])
    name = view.members[member]
    return Worker(
        member,
        name,
        view.seats_of.get(member, ()),
        not still,
        tuple(_errand(page, view, job) for job in shown),
        _told(page, view, name, last) if last else "",
    )


def _errand(page: Page, view: SeatView, job: Job) -> Errand:
    can = job.is_open and view.phase != "over"
    words = gettext(STATES[job.state])
    return Errand(job.number, _asked(page, view, job), job.state, words, _why(job), job.changed, can)


def _asked(page: Page, view: SeatView, job: Job) -> str:
    parts = [page.aimed(view.brief, job.aim) if job.aim else "", words_of(page, view, job)]
    return ": ".join(part for part in parts if part)


def _told(page: Page, view: SeatView, name: str, job: Job) -> str:
    """`Player 2: not possible: Serve the guests. There is nothing to do it with.`"""
    if job.state not in TELLS or job.why:
        return ""
    said = gettext("{who}: {state}: {job}.")
    said = said.format(who=name, state=gettext(STATES[job.state]), job=_asked(page, view, job))
    return " ".join(filter(None, [said, _why(job)]))
