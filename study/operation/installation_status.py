"""Check the whole installation, for the page *Is everything well?* and the command `well`. Reads only.

It never fails: a check that cannot be made gives a line that says so. The page is for all staff and names no
person and no study.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from kitchen.infra.db_retry import drop_broken_connection
from kitchen.infra.log_context import error_location, error_traceback
from study.operation import status_checks
from study.operation.status_checks import BROKEN, LOOK, BrokerState, StatusLine, status_summary, worst_state
from study.researchers.permissions import staff_page

log = logging.getLogger(__name__)

OF_THE_DATABASE: dict[str, Callable[[], StatusLine]] = {
    "Migrations": status_checks.migrations,
    "Steps": status_checks.steps,
    "Waiting": status_checks.stuck,
    "Real time": status_checks.clocks,
    "Outages": status_checks.outages,
    "Co-players and models": status_checks.coplayers,
    "Money": status_checks.money,
    "Clock": status_checks.clock,
    "Sizes": status_checks.sizes,
    "Versions": status_checks.versions,
}
OF_WORKERS: tuple[Callable[[BrokerState], StatusLine], ...] = (
    status_checks.redis,
    status_checks.people_workers,
    status_checks.queue,
    status_checks.experiment_workers,
)
OF_THE_MACHINE: dict[str, Callable[[], StatusLine]] = {
    "Disk": status_checks.disk,
    "Backup": status_checks.backup,
}
ORDER = (
    "Database",
    "Migrations",
    "Redis",
    "Workers of people's co-players",
    "Queue",
    "Steps",
    "Waiting",
    "Real time",
    "Outages",
    "Co-players and models",
    "Money",
    "Workers of experiments",
    "Disk",
    "Sizes",
    "Clock",
    "Backup",
    "Versions",
)
"""Order of the lines: problems that stop play come first."""


def installation_lines() -> list[StatusLine]:
    """Run all checks and return their lines in `ORDER`; takes about a second."""
    broker = status_checks.ask_broker()
    lines = [_database(), *(of(broker) for of in OF_WORKERS)]
    lines += [_looked(name, look) for name, look in OF_THE_MACHINE.items()]
    away = lines[0].state == BROKEN
    lines += [_unknown(name) if away else _looked(name, look) for name, look in OF_THE_DATABASE.items()]
    return sorted(lines, key=lambda line: ORDER.index(line.name))


def _database() -> StatusLine:
    try:
        return status_checks.database()
    except Error as error:
        drop_broken_connection()
        do = "Start it, or see its log. Pages say so until it is back; what is stored is safe."
        return StatusLine("Database", BROKEN, f"It does not answer ({type(error).__name__}).", do)


def _unknown(name: str) -> StatusLine:
    return StatusLine(name, LOOK, "Not known while the database does not answer.")


def _looked(name: str, look: Callable[[], StatusLine]) -> StatusLine:
    try:
        return look()
    except Exception as error:  # whatever it was, the other lines are still needed
        log.error("%s could not be looked at: %s", name, error_traceback(error))
        if isinstance(error, Error):
            drop_broken_connection()
        return StatusLine(
            name,
            LOOK,
            f"This could not be looked at ({error_location(error)}).",
            "See the log of this process.",
        )


AGAIN_SECONDS = 15
"""Seconds after which an open page checks again."""


@staff_page()
def well(request: HttpRequest) -> HttpResponse:
    """Show the whole page or, for htmx (`?said=`, the summary on the page), the lines alone.

    The summary is sent with them only if it changed, so that screen readers announce only changes.
    """
    lines = installation_lines()
    said = status_summary(lines)
    context = {"lines": lines, "summary": said, "worst": worst_state(lines), "now": timezone.now()}
    context["again"] = AGAIN_SECONDS
    if "said" not in request.GET:
        return render(request, "study/operation/well.html", context)
    context["oob"] = said != request.GET["said"]
    return render(request, "study/operation/well_lines.html", context)
