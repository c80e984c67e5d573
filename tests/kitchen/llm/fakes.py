"""Provide a language model with given answers, and a clock that advances only when somebody sleeps."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.contract.language_model import LanguageModel, ModelError, Reply, Request


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
