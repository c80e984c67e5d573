"""`python manage.py optimum --levels 0,1,3`: compare an agent's result with the best possible result.

A result is the number of completed orders in a small case, which a solver can compute exactly. The command
needs OR-tools: `make optimum` installs it and runs this command. Exit code 2: OR-tools is missing, or bad
arguments.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from kitchen.contract.benchmark import NoSolverError, Optimum, OptimumCase
from kitchen.experiments.experiment_setup import (
    DEFAULT_BENCHMARK,
    EpisodeJob,
    ExperimentSetup,
    SetupError,
    episode_jobs,
)
from kitchen.experiments.play_episodes import play_episode
from kitchen.experiments.setup_arguments import read_setup, whole_number


class Command(BaseCommand):
    """Compare an agent's completed orders with the optimum. Prints a line per case; the last line is the
    ratio over all cases."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments: the cases, the agent that plays them, and the time limit for each."""
        add = parser.add_argument
        add("--levels", default="0,1,3", help="(default: 0,1,3)")
        add("--agents", default="1,2", help="(default: 1,2)")
        add("--alphas", default="1.0", help="(default: 1.0)")
        add("--steps", default="20", help="of an episode (default: 20)")
        add("--episodes", default="1", help="seeds of each case (default: 1)")
        add("--seed", default="1", help="(default: 1)")
        add(
            "--co-player",
            default=DEFAULT_BENCHMARK.coplayer,
            help=f"who is measured (default: {DEFAULT_BENCHMARK.coplayer})",
        )
        add("--seconds", default="60", help="time for a case (default: 60)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compute the optimum of each case, let the agent play it, and print both."""
        try:
            DEFAULT_BENCHMARK.check_solver()
            asked = dict.fromkeys(("preset", "model", "demo", "no_feedback", "no_hints"))
            setup = read_setup({**asked, **options})
            steps, seconds = (whole_number(f"--{name}", options[name]) for name in ("steps", "seconds"))
            if not 1 <= steps <= 60 or not 1 <= seconds <= 86400:
                raise SetupError("--steps: from 1 to 60, --seconds: from 1 to 86400")
        except (NoSolverError, SetupError) as error:
            raise CommandError(str(error), returncode=2) from error
        pairs = [self._compare(setup, job, steps, seconds) for job in episode_jobs(setup)]
        played, best = (sum(column) for column in zip(*pairs, strict=True))
        self.stdout.write(f"{setup.coplayer} {played}, optimum {best}: ratio {ratio(played, best)}")

    def _compare(self, setup: ExperimentSetup, job: EpisodeJob, steps: int, seconds: int) -> tuple[int, int]:
        case = OptimumCase(job.column.level, job.alpha, job.column.agents, steps, job.seed)
        optimum = DEFAULT_BENCHMARK.optimum(case, seconds)
        in_engine = DEFAULT_BENCHMARK.replay(case, optimum.turns)
        if in_engine != optimum.completed:
            raise CommandError(f"{case}: the model's {optimum.completed} are {in_engine} in the engine")
        played = play_episode(job, setup.coplayer, setup.settings, steps=steps).completed
        name = f"{case.level}, {case.agents} agents, alpha {case.alpha:g}, {steps} steps"
        self.stdout.write(f"{name}: {setup.coplayer} {played}, {_words(optimum)}, {optimum.seconds:.1f} s")
        self.stdout.flush()
        return played, max(optimum.completed, played)


def _words(optimum: Optimum) -> str:
    if optimum.is_proven:
        return f"optimum {optimum.completed}"
    return f"optimum not proven: at least {optimum.completed}, at most {optimum.bound}"


def ratio(played: int, best: int) -> str:
    """Return `played` divided by `best`, with three decimals; 1.000 if `best` is 0."""
    return f"{played / best:.3f}" if best else "1.000"
