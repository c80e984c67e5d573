"""Pay calls of language models from an amount that this process holds, without a database."""

from __future__ import annotations

from threading import Lock

from kitchen.contract.language_model import BudgetSpentError
from kitchen.llm.call_costs import format_dollars


class InMemoryPurse:
    """A purse in memory for one process, with a total limit of `limit` US dollars. Thread-safe."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.spent = 0.0
        self.reserved = 0.0
        self._lock = Lock()

    async def reserve(self, amount: float) -> None:
        """Reserve money. Raises BudgetSpentError if too little is left."""
        with self._lock:
            left = self.limit - self.spent - self.reserved
            if amount > left:
                raise BudgetSpentError(
                    f"{format_dollars(amount)} needed, {format_dollars(max(left, 0))} left"
                )
            self.reserved += amount

    async def settle(self, reserved: float, spent: float) -> None:
        """Release the reserved money and record the actual cost."""
        with self._lock:
            self.reserved -= reserved
            self.spent += spent
