"""`python manage.py experiment --out DIR`: agents alone over levels, numbers of agents and intervals.

Kept as it is played: killed and started again with the same arguments it goes on, in the middle of an episode
too. What was kept is not played again, and no step is paid twice. `experiment_replay DIR` plays it again from
what models answered. Exit code 2 for bad arguments (one line), 1 if it was stopped before its end or episodes
failed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from kitchen.experiments import audit, files, local, services, stored_logs, tables
from kitchen.experiments.arguments import number, read_setup
from kitchen.experiments.budget import Allowance, read_budget
from kitchen.experiments.forecast import forecast, work_ahead
from kitchen.experiments.grids import Grid
from kitchen.experiments.log_files import LogFolder
from kitchen.experiments.models import Experiment
from kitchen.experiments.plan import Key, jobs_of
from kitchen.experiments.play import MoneySpentError
from kitchen.experiments.queue import ask_lanes
from kitchen.experiments.results import players_of
from kitchen.experiments.rows import FAILED, Row
from kitchen.experiments.setup import Setup, SetupError
from kitchen.experiments.summary import last_line
from kitchen.llm.prices import PriceFileError, load_prices
from kitchen.llm.wrappers import Wallet
from kitchen.management.base import OneLineCommand
from kitchen.management.experiment_arguments import add_arguments
from kitchen.management.progress import Progress
from kitchen.management.ready import require_broker, require_database

FIRST_PATIENCE, PATIENCE = 5.0, 30.0
"""Seconds without a played episode until a hint is given and workers are asked again: at first, then."""


class Command(OneLineCommand):
    """Plays, then writes tables and figure; the last line has the mean CoS."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """See `kitchen.management.experiment_arguments`."""
        add_arguments(parser)

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        """Read, ask, play, write."""
        try:
            setup = read_setup(options)
            at_once = number("--at-once", options["at_once"])
            if not 1 <= at_once <= 1000:
                raise SetupError(f"--at-once: {at_once} is not from 1 to 1000")
            self._run(setup, out, at_once, read_budget(options["budget"]), options)
        except (SetupError, files.FolderError, PriceFileError) as error:
            raise CommandError(str(error), returncode=2) from error
        except OSError as error:
            raise CommandError(f"cannot write to {out}: {error.strerror or error}", returncode=2) from error

    def _run(
        self, setup: Setup, out: Path, at_once: int, budget: float | None, options: dict[str, Any]
    ) -> None:
        if not options["local"]:
            require_database()
        key, rows = files.open_folder(out, setup)
        spent = 0.0 if budget is None else self._spent(out, "" if options["local"] else key)
        allowed = self._ask(setup, rows, budget, spent, yes=options["yes"])
        total = len(jobs_of(setup))
        progress = Progress(sys.stderr, total, len(rows), "episodes")
        try:
            if options["local"]:
                rows = self._play_here(setup, out, key, rows, allowed, progress)
            else:
                rows = self._play_on_workers(
                    setup, out, key, rows, allowed, progress, at_once, options["poll"]
                )
        finally:
            progress.close()
        self._report(setup, out, rows.values())
        self._tell_failed(rows.values())

    def _spent(self, out: Path, key: str) -> float:
        """US dollars that were spent on the experiment, here and by the workers of its key."""
        experiment, logs = services.experiment_find(key=key), LogFolder(out)
        if experiment is None:
            return sum(stored_logs.spent_on(log) for log in logs.all())
        return stored_logs.spent_of(experiment) + stored_logs.spent_there(experiment, logs.all())

    def _ask(
        self, setup: Setup, rows: dict[Key, Row], budget: float | None, spent: float, *, yes: bool
    ) -> float | None:
        """What it will take and cost, and whether that is all right; exit 2 where nobody can say so. What may
        be spent, in US dollars; None for no limit."""
        left = [job for job in jobs_of(setup) if job.key not in rows]
        if left:
            self.stdout.write(str(work_ahead(setup, left)))
        allowance = Allowance(forecast(setup, left, load_prices()), budget, spent)
        if allowance.ahead.is_free or not left:
            return allowance.amount
        if not yes and not sys.stdin.isatty():
            raise SetupError(f"{allowance}; --yes goes ahead without asking")
        self.stdout.write(str(allowance))
        if not yes and input("Go ahead? [y/N] ").strip().lower() not in {"y", "yes"}:
            raise SetupError("nothing was played")
        return allowance.amount

    def _play_here(
        self,
        setup: Setup,
        out: Path,
        key: str,
        rows: dict[Key, Row],
        allowed: float | None,
        progress: Progress,
    ) -> dict[Key, Row]:
        def keep(played: Iterable[Row]) -> None:
            kept = list(played)
            files.write_rows(out, setup, kept)
            progress.show(len(kept))

        files.write_settings(out, setup, key)
        purse = None if allowed is None else Wallet(allowed)
        try:
            return local.play_rest(setup, rows, keep, LogFolder(out), purse, settings.VERSION)
        except MoneySpentError as error:
            raise CommandError(f"stopped, the money is spent: {error}") from error
        except KeyboardInterrupt:
            raise CommandError("stopped; the same command goes on") from None

    def _play_on_workers(
        self,
        setup: Setup,
        out: Path,
        key: str,
        rows: dict[Key, Row],
        allowed: float | None,
        progress: Progress,
        at_once: int,
        poll: float,
    ) -> dict[Key, Row]:
        experiment = services.experiment_find(key=key)
        if len(rows) < progress.total:
            require_broker()
        if experiment is None:
            name = str(out)[-120:]
            experiment = services.experiment_create(setup=setup, name=name, at_once=at_once, rows=rows)
        services.rows_adopt(experiment=experiment, rows=rows)
        stored_logs.logs_adopt(experiment=experiment, data=LogFolder(out).data)
        experiment.at_once = at_once
        services.experiment_save(experiment=experiment, fields=["at_once"])
        files.write_settings(out, setup, str(experiment.key))
        known = services.rows_of(experiment)
        if any(row.outcome == FAILED for row in known.values()) or len(known) < progress.total:
            services.experiment_start(experiment=experiment, allowed=allowed)
        try:
            return self._watch(experiment, out, progress, poll)
        except KeyboardInterrupt:
            services.experiment_stop(experiment_id=experiment.pk, because="stopped by hand")
            raise CommandError("stopped; the same command goes on") from None
        finally:
            self._fetch_logs(experiment, LogFolder(out))

    def _fetch_logs(self, experiment: Experiment, logs: LogFolder) -> None:
        """What the workers have kept of every episode, as files. A file that has more stays; one that has
        something else stays under another name."""
        for key, data in stored_logs.logs_of(experiment):
            if len(data) > len(there := logs.data(key)):
                if not data.startswith(there):
                    logs.set_aside(key)
                logs.put(key, data)

    def _watch(self, experiment: Experiment, out: Path, progress: Progress, poll: float) -> dict[Key, Row]:
        """Wait for the workers; keep what they have played."""
        patience, last, rows = FIRST_PATIENCE, time.monotonic(), dict[Key, Row]()
        setup = Setup.from_json(experiment.setup)
        while True:
            played = services.rows_of(experiment)
            if len(played) > len(rows):
                files.write_rows(out, setup, played.values())
                rows, last = played, time.monotonic()
                progress.show(len(rows))
            if len(rows) == progress.total:
                return rows
            self._check(experiment)
            if time.monotonic() - last > patience:
                self._hint(experiment)
                patience, last = PATIENCE, time.monotonic()
            time.sleep(poll)

    def _check(self, experiment: Experiment) -> None:
        experiment.refresh_from_db()
        if not experiment.running and experiment.stopped_because:
            raise CommandError(f"stopped: {experiment.stopped_because}; the same command goes on")

    def _hint(self, experiment: Experiment) -> None:
        if not ask_lanes(experiment.pk):
            require_broker()
        if not services.being_played(experiment.pk):
            self.stderr.write("no worker answers: start `make run`, or use --local to play here")

    def _report(self, setup: Setup, out: Path, rows: Iterable[Row]) -> None:
        results = files.write_results(out, setup, rows)
        logs = LogFolder(out).of(job.key for job in jobs_of(setup))
        audit.write_tables(out, logs, audit.tables_of(setup))
        who = str(players_of(results))
        for grid in tables.grids(setup, results):
            self._show(grid, who)
        self.stdout.write(who)
        self.stdout.write(last_line(results))

    def _show(self, grid: Grid, who: str) -> None:
        """A table. Who played it, where that is not what stands below all of them (`who`)."""
        self.stdout.write(grid.title)
        for row in (grid.head, *grid.rows):
            self.stdout.write("  ".join(row))
        played_by = "" if grid.played_by == who else grid.played_by
        for note in filter(None, (played_by, *grid.notes)):
            self.stdout.write(note)

    def _tell_failed(self, rows: Iterable[Row]) -> None:
        """Exit code 1 where episodes failed."""
        played = list(rows)
        reasons = [row.reason for row in played if row.outcome == FAILED]
        if reasons:
            told = f"{len(reasons)} of {len(played)} episodes failed and are not counted ({reasons[0]})"
            raise CommandError(f"{told}; the same command plays them again")
