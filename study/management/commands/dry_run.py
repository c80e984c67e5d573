"""`python manage.py dry_run SLUG --participants N --seed S --url URL`: synthetic participants walk a study.

They enter by the study's link and do all that people do, through the pages and websockets of the running
server. They are marked as synthetic. Some drop out, withdraw, refuse or fail checks, as many as asked for;
who and where follows from the seed. Exit code 0 if everybody did what was planned and is stored so, 1 if not,
2 for bad input.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from brigade.address import noted_url
from study import services
from study.dry_run.browser import Browser
from study.dry_run.crowd import Crowd, Gone, Order, Outcome
from study.dry_run.patience import Patience, PatienceError, WalkError
from study.dry_run.plans import Deed, Script, Shares, Stop, label_of
from study.forms import synthetic_invitation
from study.management import synthetic
from study.management.base import StudyCommand
from study.models import Study

SHARES = {
    "drop-outs": "how many of a hundred just stop somewhere",
    "withdrawals": "how many of a hundred withdraw somewhere",
    "refusals": "how many of a hundred do not consent",
    "fail-checks": "how many of a hundred fail the check of understanding, and the chance of everybody to "
    "fail an attention check",
}


class Command(StudyCommand):
    """Walks, says what became of each, and checks that what was planned is what is stored."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """The study, how many, how they are, where the server is."""
        super().add_arguments(parser)
        parser.add_argument(
            "--participants", metavar="N", type=int, default=12, help="how many (default: 12)"
        )
        parser.add_argument("--seed", metavar="S", type=int, default=1, help="who they are (default: 1)")
        parser.add_argument(
            "--url",
            default=noted_url() or settings.PUBLIC_URL,
            help="the running server (default: where `make run` said it is)",
        )
        parser.add_argument("--at-once", metavar="N", type=int, default=4, help="side by side (default: 4)")
        parser.add_argument(
            "--patience", metavar="SECONDS", type=float, default=60, help="without progress (default: 60)"
        )
        parser.add_argument(
            "--think", metavar="SECONDS", type=float, default=0, help="mean time for a choice (default: 0)"
        )
        for name, meaning in SHARES.items():
            parser.add_argument(
                f"--{name}", metavar="PERCENT", type=float, default=0, help=f"{meaning} (default: 0)"
            )

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        """Walk, report, check."""
        study = self.study(slug)
        order = checked_order(study, **options)
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would log every address, keys and all
        try:
            outcome = asyncio.run(walk(order, self._say, partial(synthetic.gone, study)))
        except UnreachableError as error:
            raise CommandError(str(error), returncode=2) from error
        unlike = synthetic.unlike_plan(study, outcome, order.script)
        self._say(", ".join(f"{outcome.count(deed)} {deed}" for deed in Deed))
        self._say(
            f"{finished(outcome, order.script)} of {order.participants} synthetic participants finished"
        )
        if outcome.failed:
            reasons = "; ".join(f"number {number}: {why}" for number, why in sorted(outcome.failed.items()))
            raise CommandError(f"did not finish as planned: {reasons}", returncode=1)
        if unlike:
            raise CommandError(f"not stored as planned: {'; '.join(unlike)}", returncode=1)

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


class UnreachableError(Exception):
    """No server there, or one that does not have this study open."""


def finished(outcome: Outcome, script: Script) -> int:
    """How many came to the good end: where it lets them, those who failed the check, too."""
    return outcome.count(Deed.FINISH) + (0 if script.check_ends else outcome.count(Deed.FAIL))


def checked_order(
    study: Study,
    *,
    participants: int,
    seed: int,
    url: str,
    at_once: int,
    patience: float,
    think: float,
    **more: Any,
) -> Order:
    """What is to be walked; CommandError (exit code 2) for what cannot be."""
    for name, value, least in (("participants", participants, 1), ("at-once", at_once, 1)):
        if value < least:
            raise CommandError(f"--{name}: {value} is below {least}", returncode=2)
    if not 0 < patience <= 3600 or not 0 <= think <= 3600:
        raise CommandError("--patience and --think: seconds, at most 3600", returncode=2)
    if not is_http(url):
        raise CommandError(f"--url: {url!r} is not an address with http:// or https://", returncode=2)
    if not services.study_takes(study, synthetic=True):
        raise CommandError(f"the study {study.slug!r} is closed, is full or has no conditions", returncode=2)
    link = f"{url.rstrip('/')}{study.get_absolute_url()}?invitation={synthetic_invitation(study)}"
    order = Order(link, participants, seed, at_once, patience, think, script=synthetic.script_of(study))
    check_labels(study, order)
    return replace(order, shares=checked_shares(order.script, **more))


def check_labels(study: Study, order: Order) -> None:
    """CommandError (exit code 2) if somebody of these labels is there: they would go on, not begin."""
    if not order.script.link_names:
        return
    labels = [label_of(order.seed, number) for number in range(1, order.participants + 1)]
    if known := study.participants.filter(label__in=labels).first():
        raise CommandError(f"--seed: the study has {known.label} already; name another seed", returncode=2)


def checked_shares(script: Script, **options: Any) -> Shares:
    """Who does what; CommandError (exit code 2) for shares that cannot be."""
    found = {name.replace("-", "_"): options.get(name.replace("-", "_"), 0) for name in SHARES}
    if not all(0 <= share <= 100 for share in found.values()) or sum(found.values()) > 100:
        raise CommandError(f"--{', --'.join(SHARES)}: from 0 to 100, together at most 100", returncode=2)
    if found["refusals"] and Stop("consent") not in script.stops:
        raise CommandError("--refusals: the study asks for no consent", returncode=2)
    if found["fail_checks"] and not script.right:
        raise CommandError("--fail-checks: the study has no question with a right answer", returncode=2)
    return Shares(**found)


def is_http(url: str) -> bool:
    """Whether this is the address of a web server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


async def walk(order: Order, say: Any, gone: Gone) -> Outcome:
    """See that the study's page is there, then send everybody; UnreachableError if it is not."""
    async with Browser(Patience(0)) as browser:
        try:
            page = await browser.open(order.link)
        except PatienceError as error:
            raise UnreachableError(f"the study cannot be reached: {error.why}") from error
        except WalkError as error:
            raise UnreachableError(f"the study cannot be reached: {error}") from error
    if page.kind != "welcome":
        raise UnreachableError(f"the study cannot be entered there: answer {page.status}")
    return await Crowd(order, say, gone).walk()
