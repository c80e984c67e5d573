"""An experiment in this process: one episode after the other, each kept as it is played."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kitchen.contract.model import Purse
from kitchen.experiments.log import LogError
from kitchen.experiments.log_files import LogFolder
from kitchen.experiments.plan import Job, Key, jobs_of
from kitchen.experiments.play import EpisodeFailedError, play
from kitchen.experiments.rows import Row
from kitchen.experiments.setup import Setup
from kitchen.experiments.tally import failed_row

log = logging.getLogger(__name__)


def play_rest(
    setup: Setup,
    rows: Mapping[Key, Row],
    keep: Callable[[Iterable[Row]], None],
    logs: LogFolder,
    purse: Purse | None = None,
    program: str = "",
) -> dict[Key, Row]:
    """Play what has no row yet, by this version of Brigade; `keep` gets all rows after every episode.
    MoneySpentError ends it."""
    played = dict(rows)
    for job in jobs_of(setup):
        if job.key not in played:
            played[job.key] = _play(setup, job, logs, purse, program)
            keep(played.values())
    return played


def _play(setup: Setup, job: Job, logs: LogFolder, purse: Purse | None, program: str) -> Row:
    try:
        return _go_on(setup, job, logs, purse, program)
    except EpisodeFailedError as error:
        return failed_row(job, str(error))


def _go_on(setup: Setup, job: Job, logs: LogFolder, purse: Purse | None, program: str) -> Row:
    """From where it was left; from its start where that cannot be."""
    coplayer, settings = setup.coplayer_of(job.column.variant), setup.settings_of(job.column.variant)
    kept: dict[str, Any] = {"purse": purse, "sink": logs.sink(job.key), "program": program}
    try:
        return play(job, coplayer, settings, before=logs.begun(job.key), **kept)
    except LogError as error:
        log.warning("an episode begins anew, what was kept of it %s", error)
        logs.set_aside(job.key)
        return play(job, coplayer, settings, **kept)
