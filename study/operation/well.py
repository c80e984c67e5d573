"""Is everything well? One selector for the page and the command. Nothing here changes anything.

It never fails: what cannot be found out is a line that says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import Error

from kitchen.machine.failures import told, traced
from kitchen.machine.outage import drop_broken_connection
from study.operation import machine_lines, play_lines, worker_lines
from study.operation.lines import BROKEN, LOOK, Line
from study.operation.worker_lines import Broker

log = logging.getLogger(__name__)

OF_THE_DATABASE: dict[str, Callable[[], Line]] = {
    "Migrations": machine_lines.migrations,
    "Steps": play_lines.steps,
    "Waiting": play_lines.stuck,
    "Real time": play_lines.clocks,
    "Outages": play_lines.outages,
    "Co-players and models": play_lines.coplayers,
    "Money": play_lines.money,
    "Clock": machine_lines.clock,
    "Sizes": machine_lines.sizes,
    "Versions": machine_lines.versions,
}
OF_WORKERS: tuple[Callable[[Broker], Line], ...] = (
    worker_lines.redis,
    worker_lines.people_workers,
    worker_lines.queue,
    worker_lines.experiment_workers,
)
OF_THE_MACHINE: dict[str, Callable[[], Line]] = {
    "Disk": machine_lines.disk,
    "Backup": machine_lines.backup,
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
"""What stops play comes first."""


def installation_lines() -> list[Line]:
    """Everything that is looked at, in `ORDER`; about a second."""
    broker = worker_lines.broker_asked()
    lines = [_database(), *(of(broker) for of in OF_WORKERS)]
    lines += [_looked(name, look) for name, look in OF_THE_MACHINE.items()]
    away = lines[0].state == BROKEN
    lines += [_unknown(name) if away else _looked(name, look) for name, look in OF_THE_DATABASE.items()]
    return sorted(lines, key=lambda line: ORDER.index(line.name))


def _database() -> Line:
    try:
        return machine_lines.database()
    except Error as error:
        drop_broken_connection()
        do = "Start it, or see its log. Pages say so until it is back; what is stored is safe."
        return Line("Database", BROKEN, f"It does not answer ({type(error).__name__}).", do)


def _unknown(name: str) -> Line:
    return Line(name, LOOK, "Not known while the database does not answer.")


def _looked(name: str, look: Callable[[], Line]) -> Line:
    try:
        return look()
    except Exception as error:  # whatever it was, the other lines are wanted all the more
        log.error("%s could not be looked at: %s", name, traced(error))
        if isinstance(error, Error):
            drop_broken_connection()
        return Line(
            name, LOOK, f"This could not be looked at ({told(error)}).", "See the log of this process."
        )
