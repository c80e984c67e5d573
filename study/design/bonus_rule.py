"""Define the rule by which a participant's bonus is computed from figures of play and right answers.

A rule is a few declared numbers, so that it can be read, sealed with the design, and computed again later.
Amounts are exact decimals. The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from kitchen.contract.data_files import DataError
from kitchen.contract.world import Json

CURRENCIES = ("GBP", "USD", "EUR", "CHF", "CAD", "AUD")
MOST = Decimal(1000)
"""The largest amount that a rule can have. A larger one is a typing error."""
CENT = Decimal("0.01")
STEPS = ("0.01", "0.05", "0.10", "0.50", "1.00")
"""To which multiple an amount can be rounded."""
MOST_TERMS = 8
BASE, RIGHT, CAP = "base", "right answers", "cap"
"""Names of the parts of a bonus that belong to no figure."""


@dataclass(frozen=True, slots=True)
class BonusTerm:
    """What one unit pays, and the most that all units together pay. `most` is None without such a cap."""

    each: Decimal
    most: Decimal | None = None

    def amount(self, units: Decimal) -> Decimal:
        """Return what these units pay. A negative number of units pays nothing."""
        paid = self.each * max(units, Decimal(0))
        return paid if self.most is None else min(paid, self.most)


@dataclass(frozen=True, slots=True)
class BonusRule:
    """A rule for the bonus of a participant who completed the study."""

    currency: str
    most: Decimal
    """The most that one person gets."""
    base: Decimal = Decimal(0)
    figures: Mapping[str, BonusTerm] | None = None
    """What a unit of a figure of play pays, by the figure's name. Units of all rounds are added."""
    right: BonusTerm | None = None
    """What a right answer pays. Only the first attempt counts."""
    step: Decimal = CENT
    shown: bool = False
    """Whether participants see their bonus on the last page."""

    @property
    def terms(self) -> Mapping[str, BonusTerm]:
        """Return what a unit of each figure pays."""
        return self.figures or {}


@dataclass(frozen=True, slots=True)
class BonusPart:
    """One part of a bonus: its name, how many units there were, and what they pay."""

    name: str
    units: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Bonus:
    """The bonus of one participant, with its parts. The parts add up to the amount before rounding."""

    amount: Decimal
    currency: str
    parts: tuple[BonusPart, ...]

    @property
    def words(self) -> str:
        """Return the amount with its currency, such as `1.20 GBP`."""
        return f"{self.amount:.2f} {self.currency}"

    def to_json(self) -> list[dict[str, str]]:
        """Return the parts as JSON values. Numbers are texts, so that they stay exact."""
        return [{"part": one.name, "units": f"{one.units}", "amount": f"{one.amount}"} for one in self.parts]


def compute_bonus(rule: BonusRule, figures: Mapping[str, Iterable[Json]], right: int) -> Bonus:
    """Return the bonus for these figures of play and this number of right answers.

    `figures` has the values of each figure, one for each round. A missing value counts as 0.
    """
    parts = [BonusPart(BASE, Decimal(1), rule.base)] if rule.base else []
    for name, term in rule.terms.items():
        units = sum((_decimal(value) for value in figures.get(name, ())), Decimal(0))
        parts.append(BonusPart(name, units, term.amount(units)))
    if rule.right:
        parts.append(BonusPart(RIGHT, Decimal(right), rule.right.amount(Decimal(right))))
    total = sum((part.amount for part in parts), Decimal(0))
    if total > rule.most:
        parts.append(BonusPart(CAP, Decimal(1), rule.most - total))
        total = rule.most
    rounded = (total / rule.step).quantize(Decimal(1), ROUND_HALF_UP) * rule.step
    return Bonus(min(rounded, rule.most).quantize(CENT), rule.currency, tuple(parts))


def _decimal(value: Json) -> Decimal:
    return Decimal(str(value)) if isinstance(value, int | float) else Decimal(0)


def parse_bonus(document: Json) -> BonusRule | None:
    """Return the rule that a study's document has, or None if it has none. Raises DataError if it is
    invalid."""
    if not document:
        return None
    if not isinstance(document, Mapping):
        raise DataError("bonus_rule: must be a table")
    known = {"currency", "base", "figures", "right", "most", "step", "shown"}
    if unknown := document.keys() - known:
        raise DataError(f"bonus_rule: does not know {min(unknown)}")
    if (currency := document.get("currency")) not in CURRENCIES:
        raise DataError(f"bonus_rule: currency must be one of {', '.join(CURRENCIES)}")
    figures, right = document.get("figures") or {}, document.get("right")
    if not isinstance(figures, Mapping) or len(figures) > MOST_TERMS:
        raise DataError(f"bonus_rule: figures must be a table of at most {MOST_TERMS}")
    if "most" not in document:
        raise DataError("bonus_rule: most is missing: say how much one person can get")
    step = str(document.get("step", STEPS[0]))
    if step not in STEPS:
        raise DataError(f"bonus_rule: step must be one of {', '.join(STEPS)}")
    return BonusRule(
        currency=str(currency),
        most=_money(document["most"], "most"),
        base=_money(document.get("base", "0"), "base"),
        figures={str(name): _term(term, str(name)) for name, term in figures.items()},
        right=_term(right, "right") if right else None,
        step=Decimal(step),
        shown=document.get("shown") is True,
    )


def bonus_problem(document: Json) -> str:
    """Return what is wrong with the rule, or an empty string."""
    try:
        parse_bonus(document)
    except DataError as error:
        return str(error)
    return ""


def _term(term: Json, where: str) -> BonusTerm:
    if not isinstance(term, Mapping) or "each" not in term or term.keys() - {"each", "most"}:
        raise DataError(f"bonus_rule: {where} must have each, and can have most")
    most = term.get("most")
    return BonusTerm(_money(term["each"], where), None if most is None else _money(most, where))


def _money(value: Any, where: str) -> Decimal:
    """Return an amount that is written as text, such as "0.25". At most four decimal places."""
    try:
        amount = Decimal(value) if isinstance(value, str) else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not 0 <= amount <= MOST or amount != round(amount, 4):
        raise DataError(f"bonus_rule: {where} must be an amount as text from 0 to {MOST}, such as “0.25”")
    return amount


def bonus_rule_words(rule: BonusRule | None, labels: Mapping[str, str] | None = None) -> str:
    """Return the rule as one line, for pages of staff. `labels` are the readable names of figures."""
    if rule is None:
        return "no bonus"
    parts = [f"{rule.base} for everybody who completes the study"] if rule.base else []
    named = {f"“{(labels or {}).get(name, name)}” times": term for name, term in rule.terms.items()}
    for name, term in {**named, **({"each right answer:": rule.right} if rule.right else {})}.items():
        cap = "" if term.most is None else f" (at most {term.most})"
        parts.append(f"{name} {term.each}{cap}")
    return f"{rule.currency}: {'; '.join(parts) or 'nothing'}; at most {rule.most} in all"
