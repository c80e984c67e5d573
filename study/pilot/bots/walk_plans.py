"""Plan what each synthetic participant (a program) does: finish, drop out, withdraw, refuse, or fail a check.

The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from random import Random

from study.design.questions.item_fields import ItemPlan


class PlannedOutcome(StrEnum):
    """How a walkthrough ends. The values are texts that follow a number, as in `3 finished`."""

    FINISH = "finished"
    DROP_OUT = "dropped out"
    WITHDRAW = "withdrew"
    REFUSE = "refused"
    FAIL = "failed the check"
    SCREEN_OUT = "screened out"
    """Not planned: a page of the study ended it."""


@dataclass(frozen=True, slots=True)
class StopPage:
    """A page on which a participant may leave. `position` is the number of the round, 0 for pages outside
    the rounds."""

    page: str
    position: int = 0

    def __str__(self) -> str:
        return f"{self.page} {self.position}" if self.position else self.page


@dataclass(frozen=True, slots=True)
class OutcomeShares:
    """Percentages of synthetic participants who do not simply finish, by planned outcome."""

    drop_outs: float = 0
    withdrawals: float = 0
    refusals: float = 0
    fail_checks: float = 0

    @property
    def by_outcome(self) -> dict[PlannedOutcome, float]:
        """Return the percentage of each outcome other than finishing."""
        return {
            PlannedOutcome.DROP_OUT: self.drop_outs,
            PlannedOutcome.WITHDRAW: self.withdrawals,
            PlannedOutcome.REFUSE: self.refusals,
            PlannedOutcome.FAIL: self.fail_checks,
        }


@dataclass(frozen=True, slots=True)
class StudyScript:
    """Facts from a study's design that synthetic participants need and that the pages do not show."""

    stops: Sequence[StopPage] = ()
    """Every page that a participant sees, in order."""
    for_some: Collection[str] = frozenset()
    """Names of pages that a rule leaves out for some participants. Nobody is planned to leave there."""
    items: Mapping[str, ItemPlan] = field(default_factory=dict)
    """All items by key."""
    link_names: Sequence[str] = ()
    """Link parameters with which the recruitment platform identifies a participant; the label first."""
    has_check: bool = False
    """True if there is a comprehension check."""
    check_ends: bool = True
    """True if failing the check ends the participation."""


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """The plan of one synthetic participant: the outcome to reach, and the page on which the participant
    leaves, if any."""

    outcome: PlannedOutcome = PlannedOutcome.FINISH
    stop: StopPage | None = None
    """The page of a drop-out or withdrawal."""
    part: float = 1.0
    """Share of the steps after which they leave, if the page is an episode."""
    careless: float = 0.0
    """Probability to fail an attention check."""


def walk_plans(shares: OutcomeShares, script: StudyScript, *, participants: int, seed: int) -> list[WalkPlan]:
    """Return a plan for each synthetic participant, in the order of their numbers. The same seed gives the
    same plans.

    The number of participants with each outcome is its share, rounded. Without a comprehension check, nobody
    fails it.
    """
    wanted = {
        outcome: share
        for outcome, share in shares.by_outcome.items()
        if script.has_check or outcome != PlannedOutcome.FAIL
    }
    ends = [round(total * participants / 100) for total in accumulate(wanted.values())]
    assigned: list[PlannedOutcome] = []
    for outcome, end in zip(wanted, ends, strict=True):
        assigned += [outcome] * (end - len(assigned))
    assigned += [PlannedOutcome.FINISH] * (participants - len(assigned))
    Random(f"{seed}:deeds").shuffle(assigned)  # noqa: S311 - not a secret
    return [_plan(outcome, shares, script, seed, number) for number, outcome in enumerate(assigned, start=1)]


def _plan(
    outcome: PlannedOutcome, shares: OutcomeShares, script: StudyScript, seed: int, number: int
) -> WalkPlan:
    rng = Random(f"{seed}:{number}:stop")  # noqa: S311 - not a secret
    careless = shares.fail_checks / 100
    if outcome not in {PlannedOutcome.DROP_OUT, PlannedOutcome.WITHDRAW}:
        return WalkPlan(outcome, careless=careless)
    stops = [one for one in script.stops if one.page not in script.for_some]
    return WalkPlan(outcome, rng.choice(stops), rng.uniform(0.1, 0.9), careless)


def label_of(seed: int, number: int) -> str:
    """Return the label of a synthetic participant, such as `SYN-1-12`. Such labels cannot be mistaken for
    a real person's label."""
    return f"SYN-{seed}-{number}"
