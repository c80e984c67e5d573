"""Test a study: let synthetic participants (programs) take part in it over HTTP.

Usage: `python manage.py dry_run SLUG --participants N --seed S --url URL`. The programs enter by the study's
link, and use the pages and websockets of the running server as people do. They are marked as synthetic. You
can choose how many drop out, withdraw, refuse or fail checks. The seed decides which programs do so, and on
which page. The command warns about what the study cannot measure. If steps have a time limit, it reports how
many decisions of co-players (agents) were too late. The exit code is 0 if all programs did what was planned
and the stored data agree. It is 1 if not, and 2 for invalid input.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from study.analysis.pre_launch_warnings import late_decision_warnings, unmeasurable_warnings
from study.management.people_option import add_people_option, people_in_file
from study.management.study_command import StudyCommand, bad_input
from study.participants.simulated_effects import parse_effects
from study.pilot.bots.many_walkthroughs import PATIENCE, CrowdOrder
from study.pilot.bots.walk_plans import OutcomeShares
from study.pilot.dry_run_execution import (
    DryRunRequestError,
    UnreachableError,
    completed_crowd_settings,
    walked,
)

SHARES = {
    "drop-outs": "how many of a hundred just stop somewhere",
    "withdrawals": "how many of a hundred withdraw somewhere",
    "refusals": "how many of a hundred do not consent",
    "fail-checks": "how many of a hundred fail the check of understanding, and the chance of everybody to "
    "fail an attention check",
}


class Command(StudyCommand):
    """Runs synthetic participants through a study, prints each result, and checks that the stored data
    match the plan."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's arguments: the study, the number and kinds of participants, and the
        server's address."""
        super().add_arguments(parser)
        parser.add_argument(
            "--participants", metavar="N", type=int, default=12, help="how many (default: 12)"
        )
        parser.add_argument("--seed", metavar="S", type=int, default=1, help="who they are (default: 1)")
        parser.add_argument(
            "--url",
            default=settings.NOTED_URL() or settings.PUBLIC_URL,
            help="the running server (default: where `make run` said it is)",
        )
        parser.add_argument("--at-once", metavar="N", type=int, default=4, help="side by side (default: 4)")
        seconds: dict[str, Any] = {"metavar": "SECONDS", "type": float}
        without = f"without progress (default: {PATIENCE:g})"
        parser.add_argument("--patience", default=PATIENCE, help=without, **seconds)
        parser.add_argument("--think", default=0, help="mean time for a choice (default: 0)", **seconds)
        parser.add_argument(
            "--known",
            metavar="ITEM:CONDITION=SHIFT",
            action="append",
            default=[],
            help="ratings are alike in every condition but for this: by what part of its scale an item's are "
            "moved there, for example enjoyment:alone=-0.2; may be given more than once",
        )
        for name, meaning in SHARES.items():
            words = f"{meaning} (default: 0)"
            parser.add_argument(f"--{name}", metavar="PERCENT", type=float, default=0, help=words)
        add_people_option(parser)

    def handle(self, *args: Any, slug: str, url: str, **options: Any) -> None:
        """Run all synthetic participants through the study and print the results.

        Raises CommandError with exit code 1 if something differs from the plan, 2 if the run is not possible.
        """
        study = self.study(slug)
        # httpx2 would log every address, with the personal keys
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        try:
            with bad_input(UnreachableError):
                order = completed_crowd_settings(study, wish_of(**options), url=url)
                report = asyncio.run(walked(study, order, self._say))
        except DryRunRequestError as error:
            raise CommandError(named(error), returncode=2) from error
        for words in unmeasurable_warnings(study):
            self.stderr.write(f"warning: {words}")
        for words in late_decision_warnings(study):
            self.stderr.write(f"note: {words}")
        self._say(report.counts)
        self._say(f"{report.finished} of {order.participants} synthetic participants finished")
        if failed := report.failed:
            reasons = "; ".join(f"number {number}: {why}" for number, why in sorted(failed.items()))
            raise CommandError(f"did not finish as planned: {reasons}", returncode=1)
        if report.unlike:
            raise CommandError(f"not stored as planned: {'; '.join(report.unlike)}", returncode=1)

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def wish_of(
    *, participants: int, seed: int, at_once: int, patience: float, think: float, **more: Any
) -> CrowdOrder:
    """Return the dry run's settings from the command's options. The share of an outcome that is not given is
    0.

    Raises DryRunRequestError if `--known` cannot be read.
    """
    names = (name.replace("-", "_") for name in SHARES)
    shares = OutcomeShares(**{name: more.get(name, 0) for name in names})
    try:
        known = parse_effects(more.get("known", ()))
    except ValueError as error:
        raise DryRunRequestError(str(error), "known") from error
    people = people_in_file(more.get("people"))
    return CrowdOrder(participants, seed, at_once, shares, patience, think, known, people)


def named(error: DryRunRequestError) -> str:
    """Return the error message, preceded by the options that caused the error, such as `--seed: …`."""
    options = ", ".join(f"--{name.replace('_', '-')}" for name in error.fields)
    return f"{options}: {error.words}" if options else error.words
