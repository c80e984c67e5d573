"""A dry run of a study: what can be asked for, and walking it. The command and the console's worker both do
it by this.

Errors::

    Exception
    ├── AskError           there is no such dry run; `fields` are what is wrong
    └── UnreachableError   no server there, or one that does not have this study open
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from urllib.parse import urlsplit

from channels.db import database_sync_to_async

from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.people.known import Known, unknown_in
from study.taking_part.entering import study_takes
from study.taking_part.forms import synthetic_invitation
from study.trying_out import dry_run_stored
from study.trying_out.walk.browser import Browser
from study.trying_out.walk.crowd import Crowd, CrowdOrder, CrowdReport, Gone, Stopped, never
from study.trying_out.walk.patience import Patience, PatienceError, WalkError
from study.trying_out.walk.plans import Deed, Script, Shares, Stop, label_of
from study.trying_out.walk.walk import Where

PATIENCE = 60.0
"""Seconds without any progress after which a program gives up, unless another time is asked for."""


class AskError(ValueError):
    """No such dry run can be: `words` say why, `fields` name what of the wish is wrong, if one thing is."""

    def __init__(self, words: str, *fields: str) -> None:
        super().__init__(words)
        self.words = words
        self.fields = fields


class UnreachableError(Exception):
    """No server there, or one that does not have this study open."""


@dataclass(frozen=True, slots=True)
class DryRunRequest:
    """What somebody asks for."""

    participants: int
    seed: int
    at_once: int
    shares: Shares = field(default_factory=Shares)
    patience: float = PATIENCE
    think: float = 0.0
    known: Known = field(default_factory=dict)
    """What ratings are to differ by."""


@dataclass(frozen=True, slots=True)
class Report:
    """How it went."""

    order: CrowdOrder
    outcome: CrowdReport
    unlike: list[str]
    """Who is not stored as planned, each in a few words."""

    @property
    def counts(self) -> str:
        """How many did what, in words."""
        return ", ".join(f"{self.outcome.count(deed)} {deed}" for deed in Deed)

    @property
    def unsent(self) -> int:
        """How many were not sent, because it was stopped."""
        return self.order.participants - len(self.outcome.arrived) - len(self.outcome.failed)

    @property
    def finished(self) -> int:
        """How many came to the good end: where it lets them, those who failed the check, too."""
        failed = 0 if self.order.script.check_ends else self.outcome.count(Deed.FAIL)
        return self.outcome.count(Deed.FINISH) + failed


def order_of(study: Study, wish: DryRunRequest, *, url: str) -> CrowdOrder:
    """What is to be walked at the server of this address; AskError for what cannot be."""
    check_numbers(wish)
    if not is_http(url):
        raise AskError(f"{url!r} is not an address with http:// or https://", "url")
    if not study_takes(study, synthetic=True):
        raise AskError(f"the study {study.slug!r} is closed, is full or has no conditions")
    link = f"{url.rstrip('/')}{study.get_absolute_url()}?invitation={synthetic_invitation(study)}"
    script = replace(dry_run_stored.script_of(study), known=wish.known)
    order = CrowdOrder(
        link, wish.participants, wish.seed, wish.at_once, wish.patience, wish.think, script=script
    )
    check_labels(study, order)
    check_shares(wish.shares, script)
    check_known(study, wish.known)
    return replace(order, shares=wish.shares)


def check_numbers(wish: DryRunRequest) -> None:
    """AskError for numbers and times that cannot be."""
    for name, value, least in (("participants", wish.participants, 1), ("at_once", wish.at_once, 1)):
        if value < least:
            raise AskError(f"{value} is below {least}", name)
    if not 0 < wish.patience <= 3600 or not 0 <= wish.think <= 3600:
        raise AskError("seconds, at most 3600", "patience", "think")


def check_labels(study: Study, order: CrowdOrder) -> None:
    """AskError if somebody of these labels is there: they would go on, not begin."""
    if not order.script.link_names:
        return
    labels = [label_of(order.seed, number) for number in range(1, order.participants + 1)]
    if known := study.participants.filter(label__in=labels).first():
        raise AskError(f"the study has {known.label} already; name another seed", "seed")


def check_shares(shares: Shares, script: Script) -> None:
    """AskError for shares that cannot be, or not in this study."""
    by_name = asdict(shares)
    if not all(0 <= share <= 100 for share in by_name.values()) or not sum(by_name.values()) <= 100:
        raise AskError("from 0 to 100, together at most 100", *by_name)
    if shares.refusals and Stop("consent") not in script.stops:
        raise AskError("the study asks for no consent", "refusals")
    if shares.fail_checks and not script.right:
        raise AskError("the study has no question with a right answer", "fail_checks")


def check_known(study: Study, known: Known) -> None:
    """AskError for an effect on what is no rating after an episode, or in what is no condition."""
    design = blueprint_of(study)
    ratings = [item.key for item in design.items_at("survey") if item.kind == "likert"]
    if key := unknown_in(known, ratings, [one.key for one in design.conditions]):
        raise AskError(f"{key!r} is no rating after an episode and no condition of {study.slug}", "known")
    for condition in dict.fromkeys(key for by in known.values() for key in by):
        asked = {item.key for item in design.items_after(condition)}
        if key := next((key for key, by in known.items() if condition in by and key not in asked), ""):
            raise AskError(f"{key!r} is not asked after {condition!r}", "known")


def is_http(url: str) -> bool:
    """Whether this is the address of a web server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


async def walked(
    study: Study, order: CrowdOrder, say: Callable[[str], object], stopped: Stopped = never
) -> Report:
    """Send everybody, and look whether what they did is what is stored; UnreachableError if nobody can be
    sent at all."""
    where = partial(dry_run_stored.played_at, order.script.known)
    outcome = await walk(order, say, partial(dry_run_stored.gone, study), stopped, where)
    unlike = await database_sync_to_async(dry_run_stored.unlike_plan)(study, outcome, order.script)
    return Report(order, outcome, unlike)


async def walk(
    order: CrowdOrder,
    say: Callable[[str], object],
    gone: Gone,
    stopped: Stopped,
    where: Where | None = None,
) -> CrowdReport:
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
    return await Crowd(order, say, gone, stopped, where).walk()
