"""`python manage.py dry_run SLUG --participants N --seed S --url URL`: synthetic participants walk a study.

They enter by the study's link and do all that people do, through the pages and websockets of the running
server. They are marked as synthetic. Exit code 0 if all of them finished, 1 if some did not, 2 for bad input.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from brigade.address import noted_url
from study.dry_run.browser import Browser
from study.dry_run.crowd import Crowd, Order, Outcome
from study.dry_run.patience import Patience, PatienceError, WalkError
from study.forms import synthetic_invitation
from study.management.base import StudyCommand
from study.models import Participant, Study


class Command(StudyCommand):
    """Walks, says what became of each, and checks that every one of them is marked as synthetic."""

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

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        """Walk, report, check."""
        study = self.study(slug)
        order = checked_order(study, **options)
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would log every address, keys and all
        try:
            outcome = asyncio.run(walk(order, self._say))
        except UnreachableError as error:
            raise CommandError(str(error), returncode=2) from error
        unmarked = unmarked_keys(study, outcome)
        self._say(f"{len(outcome.arrived)} of {order.participants} synthetic participants finished")
        if outcome.failed:
            reasons = "; ".join(f"number {number}: {why}" for number, why in sorted(outcome.failed.items()))
            raise CommandError(f"did not finish: {reasons}", returncode=1)
        if unmarked:
            raise CommandError(f"not stored as complete and synthetic: {', '.join(unmarked)}", returncode=1)

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


class UnreachableError(Exception):
    """No server there, or one that does not have this study open."""


def checked_order(
    study: Study,
    *,
    participants: int,
    seed: int,
    url: str,
    at_once: int,
    patience: float,
    think: float,
    **_: Any,
) -> Order:
    """What is to be walked; CommandError (exit code 2) for what cannot be."""
    for name, value, least in (("participants", participants, 1), ("at-once", at_once, 1)):
        if value < least:
            raise CommandError(f"--{name}: {value} is below {least}", returncode=2)
    if not 0 < patience <= 3600 or not 0 <= think <= 3600:
        raise CommandError("--patience and --think: seconds, at most 3600", returncode=2)
    if not is_http(url):
        raise CommandError(f"--url: {url!r} is not an address with http:// or https://", returncode=2)
    if study.status != Study.Status.OPEN or not study.conditions.exists():
        raise CommandError(f"the study {study.slug!r} is closed or has no conditions", returncode=2)
    link = f"{url.rstrip('/')}{study.get_absolute_url()}?invitation={synthetic_invitation(study)}"
    return Order(link, participants, seed, at_once, patience, think)


def is_http(url: str) -> bool:
    """Whether this is the address of a web server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


async def walk(order: Order, say: Any) -> Outcome:
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
    return await Crowd(order, say).walk()


def unmarked_keys(study: Study, outcome: Outcome) -> list[str]:
    """Numbers of those who arrived and are not stored as complete, synthetic participants of the study."""
    marked = study.participants.filter(synthetic=True, status=Participant.Status.COMPLETE)
    stored = set(marked.values_list("completion_code", flat=True))
    return [f"number {arrival.number}" for arrival in outcome.arrived if arrival.code not in stored]
