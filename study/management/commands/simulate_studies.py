"""Simulate and analyse studies to check a statistical test's errors: `python manage.py simulate_studies`.

Half of the simulated studies have an effect. The share of false positives may differ from alpha by one
percentage point. The power may differ from the planned power by three percentage points. With fewer than
1,000 studies of each kind, the limit is three standard errors if these are larger. The exit code is 1 if a
rate differs by more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError, CommandParser

from kitchen.management.command_helpers import OneLineCommand
from study.design.analysis_plan import MAIN_TESTS
from study.management.study_command import bad_input
from study.planning.power.power_formulas import PowerPlan, PowerPlanError

if TYPE_CHECKING:
    from study.planning.power.simulated_studies import SimulationOutcome

NEAR_ALPHA, NEAR_POWER = 0.01, 0.03
ENOUGH = 1000
"""Number of studies from which on chance deviations stay within these limits."""
ROUNDED = 1e-9
"""Tolerance for rounding in double precision."""


class Command(OneLineCommand):
    """Simulates and analyses studies, and compares the error rates with the planned ones."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's options: numbers of studies and participants, the effect, and the test."""
        parser.add_argument("--studies", metavar="N", type=int, default=1000, help="of each kind (1000)")
        parser.add_argument("--people", metavar="N", type=int, default=30, help="in each study (30)")
        parser.add_argument("--conditions", metavar="K", type=int, default=5, help="everybody plays all (5)")
        parser.add_argument("--f", type=float, default=0.25, help="Cohen's f of the effect (0.25)")
        parser.add_argument("--correlation", type=float, default=0.5, help="of two conditions (0.5)")
        parser.add_argument("--alpha", type=float, default=0.05, help="of the test (0.05)")
        parser.add_argument("--seed", metavar="S", type=int, default=1, help="of chance (1)")
        parser.add_argument("--test", choices=sorted(MAIN_TESTS), default="repeated", help="the main test")

    def handle(self, *args: Any, **options: Any) -> None:
        """Simulate the studies, and print the shares of false positives and of found effects in the last
        line.

        Raises CommandError with exit code 1 if they differ too much from the plan, 2 for wrong options.
        """
        from study.planning.power.simulated_studies import (
            simulate_studies,  # numpy and scipy are slow to import
        )

        with bad_input(PowerPlanError):
            plan = PowerPlan(options["conditions"], options["f"], options["correlation"], options["alpha"])
        if options["studies"] < 1 or options["people"] < 3:
            raise CommandError("it takes one study or more, of three people or more", returncode=2)
        found = simulate_studies(
            plan,
            options["people"],
            studies=options["studies"],
            seed=options["seed"],
            test=options["test"],
        )
        self.stdout.write(_words(found))
        if not _kept(found, plan.alpha):
            raise CommandError("that is not what was planned", returncode=1)


def _words(found: SimulationOutcome) -> str:
    return (
        f"{found.studies} studies of each kind: {100 * found.false_positives:.1f} % false positives, "
        f"power {100 * found.power:.1f} %, planned {100 * found.planned:.1f} %"
    )


def _kept(found: SimulationOutcome, alpha: float) -> bool:
    wanted = ((found.false_positives, alpha, NEAR_ALPHA), (found.power, found.planned, NEAR_POWER))
    return all(
        abs(is_so - planned) <= _margin(planned, near, found.studies) for is_so, planned, near in wanted
    )


def _margin(share: float, near: float, studies: int) -> float:
    """Return how far a simulated share may be from its expected value `near`. `studies` is the number of
    simulated studies."""
    chance = 3 * (share * (1 - share) / studies) ** 0.5 if studies < ENOUGH else 0.0
    return max(near, chance) + ROUNDED
