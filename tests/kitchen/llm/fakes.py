"""Provide a language model with given answers, and a clock that advances only when somebody sleeps."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from kitchen.contract.language_model import BudgetSpentError, LanguageModel, ModelError, Reply, Request
from kitchen.llm.call_costs import format_dollars


class Clock:
    """A clock for `RetryingModel(clock=…, sleep=…)`."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Scripted(LanguageModel):
    """A model that gives one answer after another. Each takes `takes` seconds of the clock."""

    def __init__(
        self,
        answers: Sequence[Reply | Exception],
        *,
        provider: str = "anthropic",
        clock: Clock | None = None,
        takes: float = 0.0,
    ) -> None:
        self.provider, self.answers = provider, list(answers)
        self.clock, self.takes = clock or Clock(), takes
        self.asked: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request)
        self.clock.now += self.takes
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def failed(kind: type[ModelError], *, retry_after: float | None = None, cost: float = 0.0) -> ModelError:
    """Return an error of this kind."""
    error = kind("failed")
    error.retry_after, error.cost = retry_after, cost
    return error


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
