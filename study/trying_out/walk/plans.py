"""What each synthetic participant is meant to do: finish, drop out, withdraw, refuse, fail. Plain Python.

All of it follows from the seed, the number and how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from random import Random

from kitchen.contract.world import Json
from study.people.known import Known


class Deed(StrEnum):
    """How somebody's way ends, in words that follow a number."""

    FINISH = "finished"
    DROP_OUT = "dropped out"
    WITHDRAW = "withdrew"
    REFUSE = "refused"
    FAIL = "failed the check"


@dataclass(frozen=True, slots=True)
class Stop:
    """A page where somebody may leave; `position` is that of the round, 0 outside of the rounds."""

    page: str
    position: int = 0

    def __str__(self) -> str:
        return f"{self.page} {self.position}" if self.position else self.page


@dataclass(frozen=True, slots=True)
class Shares:
    """How many of a hundred do what."""

    drop_outs: float = 0
    withdrawals: float = 0
    refusals: float = 0
    fail_checks: float = 0

    @property
    def by_deed(self) -> dict[Deed, float]:
        """Those who do not simply finish."""
        return {
            Deed.DROP_OUT: self.drop_outs,
            Deed.WITHDRAW: self.withdrawals,
            Deed.REFUSE: self.refusals,
            Deed.FAIL: self.fail_checks,
        }


@dataclass(frozen=True, slots=True)
class Script:
    """What a study's design tells and its pages do not."""

    stops: Sequence[Stop] = ()
    """Every page that a participant sees, in order."""
    right: Mapping[str, Json] = field(default_factory=dict)
    """The right answers of questions of understanding and attention checks, by item key."""
    link_names: Sequence[str] = ()
    """Names in the link by which the place that sends people says who somebody is; the label first."""
    has_check: bool = False
    """There is a check of understanding."""
    check_ends: bool = True
    """Who fails it is out."""
    known: Known = field(default_factory=dict)
    """What ratings are to differ by, if programs are told so."""


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """What one person is meant to do."""

    deed: Deed = Deed.FINISH
    stop: Stop | None = None
    """Where somebody drops out or withdraws."""
    part: float = 1.0
    """After which part of the steps, if that is in a kitchen."""
    careless: float = 0.0
    """The chance to fail an attention check."""


def plans(shares: Shares, script: Script, *, participants: int, seed: int) -> list[WalkPlan]:
    """Everybody's plan, number 1 first: exactly so many of each deed as the shares say, rounded."""
    all_deeds = deeds(shares, script, participants=participants, seed=seed)
    return [_plan(deed, shares, script, seed, number) for number, deed in enumerate(all_deeds, start=1)]


def deeds(shares: Shares, script: Script, *, participants: int, seed: int) -> list[Deed]:
    """Who does what. Without a check of understanding nobody fails it."""
    wanted = {deed: share for deed, share in shares.by_deed.items() if script.has_check or deed != Deed.FAIL}
    ends = [round(total * participants / 100) for total in accumulate(wanted.values())]
    assigned: list[Deed] = []
    for deed, end in zip(wanted, ends, strict=True):
        assigned += [deed] * (end - len(assigned))
    assigned += [Deed.FINISH] * (participants - len(assigned))
    Random(f"{seed}:deeds").shuffle(assigned)  # noqa: S311 - not a secret
    return assigned


def _plan(deed: Deed, shares: Shares, script: Script, seed: int, number: int) -> WalkPlan:
    rng = Random(f"{seed}:{number}:stop")  # noqa: S311 - not a secret
    careless = shares.fail_checks / 100
    if deed not in {Deed.DROP_OUT, Deed.WITHDRAW}:
        return WalkPlan(deed, careless=careless)
    return WalkPlan(deed, rng.choice(script.stops), rng.uniform(0.1, 0.9), careless)


def labelled(script: Script, *, seed: int, number: int) -> dict[str, str]:
    """What the link says about a participant: nobody's real name can be taken for it."""
    return dict.fromkeys(script.link_names, label_of(seed, number))


def label_of(seed: int, number: int) -> str:
    """The synthetic label of a participant."""
    return f"SYN-{seed}-{number}"
