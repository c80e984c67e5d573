"""An experiment in this process: one episode after the other, each kept as soon as it is played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kitchen.contract.model import Purse
from kitchen.experiments.plan import Job, Key, jobs_of
from kitchen.experiments.play import EpisodeFailedError, failed_row, play
from kitchen.experiments.rows import Row
from kitchen.experiments.setup import Setup


def play_rest(
    setup: Setup, rows: Mapping[Key, Row], keep: Callable[[Iterable[Row]], None], purse: Purse | None = None
) -> dict[Key, Row]:
    """Play what has no row yet; `keep` gets all rows after every episode. MoneySpentError ends it."""
    played = dict(rows)
    for job in jobs_of(setup):
        if job.key not in played:
            played[job.key] = _play(setup, job, purse)
            keep(played.values())
    return played


def _play(setup: Setup, job: Job, purse: Purse | None) -> Row:
    try:
        return play(job, setup.coplayer, setup.settings_of(job.column.variant), purse=purse)
    except EpisodeFailedError as error:
        return failed_row(job, str(error))
