"""`python manage.py experiment --out DIR`: let agents play without people, and write results into DIR.

Agents play every combination of level, team size and interval between orders (tasks). Results are stored
during the run. If the command is killed, start it again with the same arguments. It then continues where it
stopped, even within an episode. No episode is played twice, and no model call is paid for twice. If that is
not certain for a batch, the experiment stops first, and says so.
`experiment_replay DIR` replays the experiment from the recorded answers. Exit code 2: bad arguments (one
line). Exit code 1: stopped early, or episodes failed.
"""

from __future__ import annotations

import sys
import time
from argparse import SUPPRESS
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, connection

from kitchen.contract.agent import NO_ONE
from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.language_model import ModelError
from kitchen.contract.line_up import MEMBER_SEPARATOR, SEAT_SEPARATOR
from kitchen.contract.team_schedules import SCHEDULES, TOGETHER
from kitchen.experiments import (
    database_logs,
    experiment_folder,
    experiment_services,
    log_tables,
    result_tables,
)
from kitchen.experiments.batch_rounds import play_in_batches
from kitchen.experiments.comparison_tables import TextTable
from kitchen.experiments.episode_rows import FAILED, EpisodeRow
from kitchen.experiments.experiment_forecast import (
    SpendingLimit,
    count_prompts,
    forecast_cost,
    forecast_work,
    read_budget,
)
from kitchen.experiments.experiment_results import decision_makers_of
from kitchen.experiments.experiment_services import queue_episodes
from kitchen.experiments.experiment_setup import (
    DEFAULT_BENCHMARK,
    DEFAULT_WORLD,
    KNOWLEDGE_CHOICES,
    NO_ORGANISATION,
    OFFERED_ORGANISATIONS,
    EpisodeKey,
    ExperimentSetup,
    SetupError,
    episode_jobs,
)
from kitchen.experiments.log_files import LogFolder
from kitchen.experiments.models import Experiment
from kitchen.experiments.result_tables import summary_line
from kitchen.experiments.setup_arguments import read_setup, whole_number
from kitchen.infra.db_errors import missing_migrations
from kitchen.infra.task_broker import is_broker_reachable
from kitchen.llm.call_costs import PriceFileError, load_prices
from kitchen.management.command_helpers import OneLineCommand, Progress
from kitchen.registry.agent_registry import agent_kinds
from kitchen.registry.world_registry import worlds_with_comparison, worlds_with_pairings
from kitchen.words.english_text import os_error_words

PARALLEL_EPISODES = 4
"""Default number of episodes that are played in parallel on workers."""
BATCHED_EPISODES = 200
"""Default number of episodes that send their model calls together."""


def add_experiment_arguments(parser: CommandParser) -> None:
    """Define the arguments of an experiment: the world, levels and agents to play, and the folder for the
    results."""
    add, worlds = parser.add_argument, [DEFAULT_WORLD, *worlds_with_pairings(), *worlds_with_comparison()]
    add("--world", metavar="W", help=f"one of {', '.join(worlds)} (default: {DEFAULT_WORLD})")
    add("--family", metavar="F", help="one of several worlds of a kind: --world blocks --family crafting")
    levels = (
        "such as 0,1,level_3 (default: all, the paper's 12; tasks of blocks: those for --agents seats that "
    )
    levels += "can be made). A crafting task has a fixed number of seats: play 2 and 3 seats in two runs"
    add("--levels", metavar="all|LIST", help=levels)
    _add_partners(parser)
    _add_teams(parser)
    add("--agents", metavar="LIST", help=f"(default: {','.join(map(str, DEFAULT_BENCHMARK.agents))})")
    add("--alphas", metavar="LIST", help=f"(default: {','.join(map(str, DEFAULT_BENCHMARK.alphas))})")
    members = f"in other worlds, such as blocks, use --members blocks_planner{SEAT_SEPARATOR}2"
    kinds = ", ".join(agent_kinds(DEFAULT_WORLD))
    add("--co-player", metavar="KIND", help=f"one of {kinds}; {members}")
    add("--model", metavar="M", help="provider:model; several with commas for table6")
    add("--no-feedback", action="store_true", help="without feedback on the last step")
    add("--no-hints", action="store_true", help="without inference knowledge")
    add("--demo", metavar="few|none|N", help="demonstration: two steps, none, or of N agents")
    add("--set", metavar="NAME=VALUE", action="append", help="any setting of the co-player; repeatable")
    add("--preset", help=f"a table of the paper: {', '.join(DEFAULT_BENCHMARK.presets)}")
    add("--episodes", metavar="N", default="3", help="per cell and interval (default: 3)")
    add("--seed", metavar="S", default="1", help="(default: 1)")
    add("--out", metavar="DIR", type=Path, required=True, help="folder for the files")
    add("--local", action="store_true", help="play in this process, without workers")
    add("--budget", metavar="USD", help="US dollars for all its calls, those made already among them")
    add("--yes", action="store_true", help="do not ask before money is spent")
    add("--count-tokens", action="store_true", help="let the provider count prompts for the forecast")
    add("--batch", action="store_true", help="send all episodes' calls together, at half the price")
    at_once = f"side by side on workers (default: {PARALLEL_EPISODES}; with --batch: {BATCHED_EPISODES})"
    add("--at-once", metavar="N", help=at_once)
    add("--poll", type=float, default=1.0, help=SUPPRESS)


def _add_teams(parser: CommandParser) -> None:
    """Add the arguments for line-ups (agents that play together) in any world, and for their organisation."""
    add, who = (
        parser.add_argument,
        f"ONE{MEMBER_SEPARATOR}OTHER{MEMBER_SEPARATOR}…, with commas between; ONE{SEAT_SEPARATOR}2 "
        f"has two seats",
    )
    add("--members", metavar="LIST", help=f"who plays, seat 0 first, each a mind of its own: {who}")
    kinds = ", ".join((NO_ORGANISATION, *OFFERED_ORGANISATIONS))
    add("--organisation", metavar="LIST", help=f"who may say what to whom: of {kinds}")
    add("--organisation-set", metavar="NAME=VALUE", action="append", help="of the organisation; repeatable")
    waits = f"who waits for whom, several to compare them: of {', '.join(SCHEDULES)} (default: {TOGETHER})"
    add("--schedule", metavar="LIST", help=waits)
    knowing = f"one of {', '.join(KNOWLEDGE_CHOICES)} (default: {NO_ONE})"
    least = "a metric and the least value at which an episode ends, such as soups=2; repeatable"
    add("--goal", metavar="NAME=VALUE", action="append", help=least)
    add("--knowing", metavar="WHO", help=f"whose commands of a step a member is told: {knowing}")


def _add_partners(parser: CommandParser) -> None:
    """Add the arguments for worlds in which only pairs of partners are compared."""
    add, grounds = parser.add_argument, worlds_with_pairings().items()
    usual = "; ".join(f"in {world} {', '.join(ground.usual_levels())}" for world, ground in grounds)
    kinds = "; ".join(f"in {world} of {', '.join(ground.kinds())}" for world, ground in grounds)
    add("--layouts", metavar="all|LIST", help=f"levels where partners are compared (default: all, {usual})")
    add(
        "--pairs",
        metavar="all|LIST",
        help=f"as ONE{MEMBER_SEPARATOR}OTHER, seat 0 first (default: all, {kinds})",
    )
    add("--seats", metavar="named|both", help="both: every pair the other way round, too (default: named)")
    add("--seeds", metavar="N", help="episodes of each pair and layout; the same as --episodes")


def require_database(*, may_create: bool = False) -> None:
    """Raise a CommandError with exit code 2 if the database is missing or lacks migrations.

    With `may_create`, a database without tables is migrated first.
    """
    try:
        if may_create and not connection.introspection.table_names():
            call_command("migrate", verbosity=0)
        missing = missing_migrations()
    except DatabaseError as error:
        why = str(error).splitlines()[0]
        raise CommandError(f"the database cannot be used: {why}", returncode=2) from error
    if missing:
        text = "the database is not prepared: `make run` or `manage.py migrate` does it"
        raise CommandError(text, returncode=2)


def require_broker() -> None:
    """Raise a CommandError with exit code 2 if the task broker is unreachable."""
    if not is_broker_reachable():
        text = "the broker cannot be reached: `make run` starts one, --local plays here"
        raise CommandError(text, returncode=2)


def omitted_levels_line(setup: ExperimentSetup) -> str:
    """Return which levels the default levels leave out, as one line. Empty if none, or if other levels were
    named."""
    ground = setup.ground
    if not isinstance(ground, ComparisonBenchmark) or setup.levels != ground.levels_for(setup.agents):
        return ""
    return ground.omitted_levels_text(setup.levels)


FIRST_PATIENCE, PATIENCE = 5.0, 30.0
"""Seconds without a played episode until a hint is printed: the first time, then later."""


class Command(OneLineCommand):
    """Play the episodes of an experiment, and write tables and figures. The last line printed is a
    summary."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments (see `add_experiment_arguments`)."""
        add_experiment_arguments(parser)

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        """Read the arguments, ask for confirmation if money will be spent, play the episodes, and write
        the results to the folder `out`."""
        try:
            setup = read_setup(options)
            usual = BATCHED_EPISODES if setup.batch else PARALLEL_EPISODES
            at_once = whole_number("--at-once", options["at_once"] or str(usual))
            if not 1 <= at_once <= 1000:
                raise SetupError(f"--at-once: {at_once} is not from 1 to 1000")
            self._run(setup, out, at_once, read_budget(options["budget"]), options)
        except (SetupError, experiment_folder.FolderError, PriceFileError) as error:
            raise CommandError(str(error), returncode=2) from error
        except OSError as error:
            raise CommandError(f"cannot write to {out}: {os_error_words(error)}", returncode=2) from error

    def _run(
        self, setup: ExperimentSetup, out: Path, at_once: int, budget: float | None, options: dict[str, Any]
    ) -> None:
        on_workers = not options["local"]
        require_database(may_create=not on_workers)
        key, rows = experiment_folder.open_folder(out, setup)
        experiment, logs = experiment_services.experiment_find(key=key), LogFolder(out)
        if experiment is None:
            spent = experiment_services.logs_cost(logs)
        else:
            spent = database_logs.experiment_cost(experiment)
            stored = experiment_services.rows_of(experiment).items()
            rows = {name: row for name, row in stored if row.outcome != FAILED}
        allowed = self._ask(setup, rows, budget, spent, yes=options["yes"], count=options["count_tokens"])
        progress = Progress(sys.stderr, setup.total, len(rows), "episodes")
        try:
            if on_workers and len(rows) < setup.total:
                require_broker()
            experiment = experiment or experiment_services.folder_import(
                setup=setup, name=str(out)[-120:], at_once=at_once, rows=rows, logs=logs
            )
            experiment.at_once = at_once
            experiment_services.experiment_save(experiment=experiment, fields=["at_once"])
            experiment_folder.write_settings(out, setup, str(experiment.key))
            if len(rows) < setup.total:
                experiment_services.experiment_start(
                    experiment=experiment, allowed=allowed, on_workers=on_workers
                )
            played = self._play(experiment, out, progress, options["poll"], on_workers=on_workers)
        finally:
            progress.close()
        self._report(experiment, setup, out, played)
        self._check_failed(played)

    def _ask(
        self,
        setup: ExperimentSetup,
        rows: dict[EpisodeKey, EpisodeRow],
        budget: float | None,
        spent: float,
        *,
        yes: bool,
        count: bool = False,
    ) -> float | None:
        """Print the expected work and costs, and ask for confirmation. Return the US dollars that may be
        spent; None for no limit. Raises SetupError if the user refuses."""
        left = [job for job in episode_jobs(setup) if job.key not in rows]
        if left:
            if told := omitted_levels_line(setup):
                self.stdout.write(told)
            self.stdout.write(str(forecast_work(setup, left)))
            if count:
                self._count_prompts(setup)
        allowance = SpendingLimit(forecast_cost(setup, left, load_prices()), budget, spent)
        if allowance.ahead.is_free or not left:
            return allowance.amount
        if not yes and not sys.stdin.isatty():
            raise SetupError(f"{allowance}; --yes goes ahead without asking")
        self.stdout.write(str(allowance))
        if not yes and input("Go ahead? [y/N] ").strip().lower() not in {"y", "yes"}:
            raise SetupError("nothing was played")
        return allowance.amount

    def _count_prompts(self, setup: ExperimentSetup) -> None:
        """Let providers count the tokens of prompts. If one does not answer, the estimate stays."""
        try:
            for line in count_prompts(setup):
                self.stdout.write(line)
        except ModelError as error:
            self.stderr.write(f"the tokens were not counted: {error}")

    def _play(
        self, experiment: Experiment, out: Path, progress: Progress, poll: float, *, on_workers: bool
    ) -> list[EpisodeRow]:
        """Play the experiment's episodes in this process, or wait until the workers have played them. At
        the end, write rows and logs as files. Return the rows."""
        try:
            self._wait(experiment, progress, poll, on_workers=on_workers)
        except KeyboardInterrupt:
            experiment_services.experiment_stop(experiment_id=experiment.pk, because="stopped by hand")
            raise CommandError("stopped; the same command goes on") from None
        finally:
            rows = list(experiment_services.rows_of(experiment).values())
            if rows:
                experiment_folder.write_rows(out, ExperimentSetup.from_json(experiment.setup), rows)
            for key, data in database_logs.logs_of(experiment):
                LogFolder(out).write(key, data)
        return rows

    def _wait(self, experiment: Experiment, progress: Progress, poll: float, *, on_workers: bool) -> None:
        """Return when every episode has a row. Without `on_workers`, play the episodes in this process."""
        patience, last, done = FIRST_PATIENCE, time.monotonic(), 0
        while (played := experiment_services.count_played(experiment.pk)) < progress.total:
            if played > done:
                done, last = played, time.monotonic()
                progress.show(done)
            self._check(experiment)
            if not on_workers and experiment.setup.get("batch"):
                show = partial(self._show_played, experiment, progress)
                play_in_batches(experiment_id=experiment.pk, claim=False, after_round=show)
            elif not on_workers and (
                episode := experiment_services.episode_for_process(experiment_id=experiment.pk)
            ):
                experiment_services.episode_play(episode=episode)
                continue
            if on_workers and time.monotonic() - last > patience:
                self._hint(experiment)
                patience, last = PATIENCE, time.monotonic()
            time.sleep(poll)
        progress.show(progress.total)

    def _show_played(self, experiment: Experiment, progress: Progress) -> None:
        progress.show(experiment_services.count_played(experiment.pk))

    def _check(self, experiment: Experiment) -> None:
        experiment.refresh_from_db()
        if experiment.stopped_because:
            raise CommandError(f"stopped: {experiment.stopped_because}; the same command goes on")

    def _hint(self, experiment: Experiment) -> None:
        if not queue_episodes(experiment.pk):
            require_broker()
        if not experiment_services.count_playing(experiment.pk):
            self.stderr.write("no worker answers: start `make run`, or use --local to play here")

    def _report(
        self, experiment: Experiment, setup: ExperimentSetup, out: Path, rows: list[EpisodeRow]
    ) -> None:
        results = experiment_folder.write_results(out, setup, rows)
        logs = database_logs.readable_logs_of(experiment)
        log_tables.write_tables(out, logs, log_tables.log_table_files(setup))
        who = str(decision_makers_of(results))
        for grid in result_tables.result_text_tables(setup, results):
            self._show(grid, who)
        self.stdout.write(who)
        self.stdout.write(summary_line(results))

    def _show(self, grid: TextTable, who: str) -> None:
        """Print a table. Its players are printed only if they differ from `who`, which is printed once for
        all tables."""
        self.stdout.write(grid.title)
        for row in (grid.head, *grid.rows):
            self.stdout.write("  ".join(row))
        played_by = "" if grid.played_by == who else grid.played_by
        for note in filter(None, (played_by, *grid.notes)):
            self.stdout.write(note)

    def _check_failed(self, rows: list[EpisodeRow]) -> None:
        """End with exit code 1 if episodes failed."""
        reasons = [row.reason for row in rows if row.outcome == FAILED]
        if reasons:
            failed = f"{len(reasons)} of {len(rows)} episodes failed and are not counted ({reasons[0]})"
            raise CommandError(f"{failed}; the same command plays them again")
