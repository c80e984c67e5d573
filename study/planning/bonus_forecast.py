"""Forecast what a study's bonuses cost, from the bonuses so far and from the rule's cap."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.participants.bonuses import bonus_rule_of, compute_bonuses
from study.participants.models import Participant

NEWEST = 200
"""The most participants whose bonuses the mean is computed from."""


@dataclass(frozen=True, slots=True)
class BonusForecast:
    """The expected cost of bonuses.

    `each` is the mean of the bonuses so far, or None before anybody completed. Until a person has a bonus, it
    is the mean of programs, and `from_programs` says so.
    """

    currency: str
    participants: int
    most: Decimal
    """The most that one person gets."""
    each: Decimal | None
    from_programs: bool = False

    @property
    def expected(self) -> Decimal | None:
        """Return the expected bonuses of all participants to come."""
        return None if self.each is None else self.each * self.participants

    @property
    def worst(self) -> Decimal:
        """Return the bonuses of all participants to come, if each gets the most."""
        return self.most * self.participants


def forecast_bonuses(study: Study, participants: int) -> BonusForecast | None:
    """Return the forecast for this number of participants to come. Return None for a study without a rule."""
    rule = bonus_rule_of(blueprint_of(study)) if study.bonus_rule else None
    if rule is None:
        return None
    each = _mean_bonus(study, rule.currency, synthetic=False)
    of_programs = _mean_bonus(study, rule.currency, synthetic=True) if each is None else None
    mean = of_programs if each is None else each
    return BonusForecast(rule.currency, participants, rule.most, mean, from_programs=of_programs is not None)


def _mean_bonus(study: Study, currency: str, *, synthetic: bool) -> Decimal | None:
    """Return the mean bonus in this currency of the newest people who completed, or of the newest programs if
    `synthetic`. Return None if nobody has one."""
    complete = study.participants.filter(
        status=Participant.Status.COMPLETE, preview=False, synthetic=synthetic
    )
    people = complete.order_by("-number").only("pk", "status", "version")[:NEWEST]
    amounts = [one.amount for one in compute_bonuses(study, people).values() if one.currency == currency]
    return sum(amounts, Decimal(0)) / len(amounts) if amounts else None
