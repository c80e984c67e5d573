"""An experiment in this process: one episode after the other, each kept as soon as it is played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from kitchen.experiments.plan import Key, jobs_of
from kitchen.experiments.play import play
from kitchen.experiments.rows import Row
from kitchen.experiments.setup import Setup
from kitchen.llm.base import BudgetSpentError, Purse


class Wallet:
    """Money for one process, in US dollars."""

    def __init__(self, left: float) -> None:
        self.left = left
        self._lock = Lock()

    def reserve(self, amount: float) -> None:
        """Set money aside; BudgetSpentError if it does not suffice."""
        with self._lock:
            if amount > self.left:
                raise BudgetSpentError(f"{amount:.6f} USD needed, {self.left:.6f} USD left")
            self.left -= amount

    def settle(self, reserved: float, spent: float) -> None:
        """Give back what was not spent."""
        with self._lock:
            self.left += reserved - spent


def play_rest(
    setup: Setup, rows: Mapping[Key, Row], keep: Callable[[Iterable[Row]], None], purse: Purse | None = None
) -> dict[Key, Row]:
    """Play what has no row yet; `keep` gets all rows after every episode. MoneySpentError ends it."""
    found = dict(rows)
    for job in jobs_of(setup):
        if job.key not in found:
            settings = setup.settings_of(job.column.variant)
            found[job.key] = play(job, setup.coplayer, settings, purse=purse)
            keep(found.values())
    return found
