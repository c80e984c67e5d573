"""Check the complete installation, for the page *Is everything well?* and the command `manage.py well`.

Each check gives one line, even if the check itself fails. All staff may open the page. It names no person and
no study. The module changes no data.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from kitchen.infra.db_retry import drop_broken_connection
from kitchen.infra.log_context import error_location, error_traceback
from study.operation import status_checks
from study.operation.status_checks import BROKEN, LOOK, StatusLine, status_summary, worst_state
from study.researchers.permissions import staff_page

log = logging.getLogger(__name__)

DATABASE, BROKER, MACHINE = "database", "broker", "machine"
"""Requirements of a check: the database, the answer of Redis and workers, or nothing but this machine."""

CHECKS: dict[str, tuple[str, Callable[..., StatusLine]]] = {
    "Database": (MACHINE, status_checks.database),
    "Migrations": (DATABASE, status_checks.migrations),
    "Redis": (BROKER, status_checks.redis),
    "Workers of people's co-players": (BROKER, status_checks.people_workers),
    "Queue": (BROKER, status_checks.queue),
    "Steps": (DATABASE, status_checks.steps),
    "Waiting": (DATABASE, status_checks.stuck),
    "Real time": (DATABASE, status_checks.clocks),
    "Outages": (DATABASE, status_checks.outages),
    "Co-players and models": (DATABASE, status_checks.coplayers),
    "Money": (DATABASE, status_checks.money),
    "Workers of experiments": (BROKER, status_checks.experiment_workers),
    "Disk": (MACHINE, status_checks.disk),
    "Sizes": (DATABASE, status_checks.sizes),
    "Clock": (DATABASE, status_checks.clock),
    "Backup": (MACHINE, status_checks.backup),
    "Versions": (DATABASE, status_checks.versions),
}
"""The requirement and the function of each check. Problems that stop play come first."""


def installation_lines() -> list[StatusLine]:
    """Run all checks in order, and return their results. This takes about a second."""
    broker, lines = status_checks.ask_broker(), list[StatusLine]()
    for name, (needed, check) in CHECKS.items():
        if needed == DATABASE and lines[0].state == BROKEN:
            line = StatusLine(LOOK, "Unknown while the database does not answer.")
        else:
            line = _checked(name, partial(check, broker) if needed == BROKER else check)
        lines.append(replace(line, name=name))
    return lines


def _checked(name: str, check: Callable[[], StatusLine]) -> StatusLine:
    try:
        return check()
    except Exception as error:  # whatever it was, the other lines are still needed
        if isinstance(error, Error):
            drop_broken_connection()
            if name == "Database":
                do = "Start it, or read its log. Pages show a notice until it is back. Stored data are safe."
                return StatusLine(BROKEN, f"It does not answer ({type(error).__name__}).", do)
        log.error("%s could not be looked at: %s", name, error_traceback(error))
        means = f"This could not be checked ({error_location(error)})."
        return StatusLine(LOOK, means, "See the log of this process.")


AGAIN_SECONDS = 15
"""Seconds after which an open page checks again."""


@staff_page()
def well(request: HttpRequest) -> HttpResponse:
    """Show the status page. For a refresh by htmx, return only its lines.

    The refresh sends the summary that the page shows (`?said=`). The summary is returned only if it has
    changed, so that screen readers announce only changes.
    """
    lines = installation_lines()
    said = status_summary(lines)
    context = {"lines": lines, "summary": said, "worst": worst_state(lines), "now": timezone.now()}
    context["again"] = AGAIN_SECONDS
    if "said" not in request.GET:
        return render(request, "study/operation/well.html", context)
    context["oob"] = said != request.GET["said"]
    return render(request, "study/operation/well_lines.html", context)
