"""Simulate and analyse studies to check a statistical test's errors: `python manage.py simulate_studies`.

Half of the simulated studies have an effect. The share of false positives may differ from alpha by one
percentage point. The power may differ from the planned power by three percentage points. With fewer than
1,000 studies of each kind, the limit is three standard errors if these are larger. The exit code is 1 if a
rate differs by more.

With `--factors`, studies have a factorial design. The false positives of each effect are counted, and the
power of one effect, named as `group:partner` with `--effect`.
"""

from __future__ import annotations

from collections.abc import Iterable
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
        parser.add_argument(
            "--studies", metavar="N", type=int, help="of each kind (1000, or 2000 with --factors)"
        )
        parser.add_argument(
            "--people",
            metavar="N",
            type=int,
            default=30,
            help="in each study, or in each group with --factors (30)",
        )
        parser.add_argument("--conditions", metavar="K", type=int, default=5, help="everybody plays all (5)")
        parser.add_argument("--f", type=float, default=0.25, help="Cohen's f of the effect (0.25)")
        parser.add_argument("--correlation", type=float, default=0.5, help="of two conditions (0.5)")
        parser.add_argument("--alpha", type=float, default=0.05, help="of the test (0.05)")
        parser.add_argument("--seed", metavar="S", type=int, default=1, help="of chance (1)")
        parser.add_argument("--test", choices=sorted(MAIN_TESTS), default="repeated", help="the main test")
        parser.add_argument(
            "--factors", default=None, metavar="TEXT", help='for example "group 2 between, partner 3"'
        )
        parser.add_argument(
            "--effect", default="", metavar="A:B", help="with --factors: the effect (the largest interaction)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Simulate the studies, and print the shares of false positives and of found effects in the last
        line.

        Raises CommandError with exit code 1 if they differ too much from the plan, 2 for wrong options.
        """
        from study.planning.power.simulated_studies import (
            simulate_studies,  # numpy and scipy are slow to import
        )

        if options["studies"] is None:
            options["studies"] = 1000 if options["factors"] is None else 2000
        if options["studies"] < 1 or options["people"] < 3:
            raise CommandError("it takes one study or more, of three people or more", returncode=2)
        if options["factors"] is not None:
            return self._handle_factors(options)
        if options["effect"]:
            raise CommandError("--effect is for designs with --factors", returncode=2)
        with bad_input(PowerPlanError):
            plan = PowerPlan(options["conditions"], options["f"], options["correlation"], options["alpha"])
        found = simulate_studies(
            plan,
            options["people"],
            studies=options["studies"],
            seed=options["seed"],
            test=options["test"],
        )
        self.stdout.write(_words(found))
        shares = [(found.false_positives, plan.alpha, NEAR_ALPHA), (found.power, found.planned, NEAR_POWER)]
        return _check(shares, found.studies)

    def _handle_factors(self, options: dict[str, Any]) -> None:
        """Simulate studies with the factors in `options`."""
        from study.planning.power.planned_factors import FactorialDesignPlan, read_planned_factors
        from study.planning.power.simulated_factorial import TESTS, simulate_factorial

        f, alpha = options["f"], options["alpha"]
        with bad_input(PowerPlanError):
            design = FactorialDesignPlan(read_planned_factors(options["factors"]), options["correlation"])
            PowerPlan(2, f, 0.0, alpha)  # checks both
        effect = next((one for one in design.effects if ":".join(one) == options["effect"]), None)
        if options["effect"] and effect is None:
            known = ", ".join(map(":".join, design.effects))
            raise CommandError(f"no effect {options['effect']}: there are {known}", returncode=2)
        if options["test"] not in TESTS:
            raise CommandError(f"--test: designs with factors have {' or '.join(TESTS)}", returncode=2)
        people, studies, seed = options["people"], options["studies"], options["seed"]
        found = simulate_factorial(
            design,
            effect or design.effects[-1],
            f,
            people,
            alpha=alpha,
            studies=studies,
            seed=seed,
            test=options["test"],
        )
        wrong = ", ".join(
            f"{':'.join(term)} {100 * share:.1f} %" for term, share in found.false_positives.items()
        )
        self.stdout.write(
            f"{studies} studies of each kind: false positives {wrong}; power of {':'.join(found.effect)} "
            f"{100 * found.power:.1f} %, planned {100 * found.planned:.1f} %"
        )
        shares = [(share, alpha, NEAR_ALPHA) for share in found.false_positives.values()]
        return _check([*shares, (found.power, found.planned, NEAR_POWER)], studies)


def _words(found: SimulationOutcome) -> str:
    return (
        f"{found.studies} studies of each kind: {100 * found.false_positives:.1f} % false positives, "
        f"power {100 * found.power:.1f} %, planned {100 * found.planned:.1f} %"
    )


def _check(shares: Iterable[tuple[float, float, float]], studies: int) -> None:
    """Raise CommandError if a share differs too much from the planned one.

    `shares` has triples: the share, the planned share, and the permitted difference.
    """
    if not all(abs(is_so - planned) <= _margin(planned, near, studies) for is_so, planned, near in shares):
        raise CommandError("that is not what was planned", returncode=1)


def _margin(share: float, near: float, studies: int) -> float:
    """Return how far a simulated share may be from the expected `share`: `near`, or what chance allows with
    this number of studies."""
    chance = 3 * (share * (1 - share) / studies) ** 0.5 if studies < ENOUGH else 0.0
    return max(near, chance) + ROUNDED
