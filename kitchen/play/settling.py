"""What becomes of jobs with an aim, as the world itself shows it after a step.

Whoever has such a job need not say that it is done: the house reports it for them as soon as the aim is
reached, and that it is not possible as soon as it is not.
"""

from __future__ import annotations

from kitchen.contract.jobs import DONE, FAILED, Job
from kitchen.contract.organisation import REPORT, Organisation
from kitchen.contract.talk import Say
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN
from kitchen.play.saying import message_of_house, open_jobs, organisation_of
from kitchen.play.turns import OpenTurn

STATES = {SUCCESS: DONE, FAIL: FAILED}


def jobs_settle(turn: OpenTurn) -> None:
    """Report the jobs whose aims are reached now, or cannot be any more. Needs the transaction in which the
    step was taken."""
    organisation = organisation_of(turn.episode) if turn.episode.messages else None
    if organisation is None or not organisation.commands:
        return
    for job in open_jobs(turn):
        if job.aim and (state := STATES.get(_status(turn, organisation, job), "")):
            data = {"job": job.number, "status": state, "house": True}
            why = {"code": "gone"} if state == FAILED else {}
            message_of_house(turn, job.worker, (job.giver,), Say("", REPORT, data={**data, **why}))


def _status(turn: OpenTurn, organisation: Organisation, job: Job) -> str:
    """Any seat of the worker may reach it; it is out of reach where it is so for all of them."""
    seats = organisation.member(job.worker).seats
    found = {turn.world.aim_status(seat, job.aim, job.mark_of(seat)) for seat in seats}
    return SUCCESS if SUCCESS in found else UNKNOWN if UNKNOWN in found else FAIL
