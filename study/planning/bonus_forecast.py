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
    """What bonuses will cost. `each` is the mean of the bonuses so far, or None before anybody completed."""

    currency: str
    participants: int
    most: Decimal
    """The most that one person gets."""
    each: Decimal | None

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
    complete = study.participants.filter(status=Participant.Status.COMPLETE, preview=False)
    people = complete.order_by("-number").only("pk", "status", "version")[:NEWEST]
    so_far = [one.amount for one in compute_bonuses(study, people).values() if one.currency == rule.currency]
    each = sum(so_far, Decimal(0)) / len(so_far) if so_far else None
    return BonusForecast(rule.currency, participants, rule.most, each)
