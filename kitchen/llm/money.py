"""Money as people read it: the one place that writes amounts of US dollars."""

from __future__ import annotations

from decimal import Decimal


def dollars(amount: float | Decimal | None) -> str:
    """`12.35 USD`; below a dollar four decimals, below a cent six; `cost not known` for None."""
    if amount is None:
        return "cost not known"
    return f"{amount:.{_decimals(amount)}f} USD"


def _decimals(amount: float | Decimal) -> int:
    if not amount or amount >= 1:
        return 2
    return 4 if amount >= 0.01 else 6
