"""How much an experiment may cost: what `--budget` says, or else the worst of the forecast."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kitchen.experiments.forecast import CostForecast
from kitchen.experiments.setup import SetupError
from kitchen.llm.money import dollars

MOST = 999_999.0
"""US dollars that a budget may have."""


def read_budget(text: str | None) -> float | None:
    """US dollars, None where nothing is said; SetupError."""
    if text is None:
        return None
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= MOST:
        raise SetupError(f"--budget: {text!r} is no amount of US dollars from 0 to {MOST:.0f}", "budget")
    return amount


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be spent from now on."""

    ahead: CostForecast
    budget: float | None = None
    """US dollars for all calls of the experiment, those that were made already among them."""
    spent: float = 0.0
    """US dollars that it has cost."""

    def __post_init__(self) -> None:
        """SetupError where a budget cannot be kept to: nobody knows what the calls cost."""
        if self.budget is not None and self.ahead.worst is None:
            raise SetupError(f"--budget: {self.ahead}", "budget")

    @property
    def amount(self) -> float | None:
        """US dollars; None where there is no limit, since nothing is paid or no price is known."""
        if self.ahead.is_free or self.ahead.worst is None:
            return None
        return self.ahead.worst if self.budget is None else max(0.0, self.budget - self.spent)

    def __str__(self) -> str:
        """The forecast, and what the budget leaves of it."""
        if self.budget is None or self.amount is None:
            return str(self.ahead)
        said = f"{self.ahead}; of {dollars(self.budget)} {dollars(self.amount)} are left"
        short = self.ahead.expected is not None and self.amount < self.ahead.expected
        return f"{said}, less than is expected: it will stop before its end" if short else said
