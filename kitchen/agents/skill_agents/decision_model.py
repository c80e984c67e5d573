"""Open the language model that an agent calls during one decision.

Calls are retried, charged to a budget and recorded. The stand-in, which imitates a language model, can take
the model's place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

from kitchen.contract.agent import Situation
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.language_model import Call, CallTimeoutError, LanguageModel, Message, Request, Tool
from kitchen.llm import provider_registry
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.stand_in_model import (
    AsCall,
    StandIn,
    StandInAdvice,
    StandInBehaviour,
    Writer,
    default_call_arguments,
)

StandInFactory = Callable[[int], StandIn]
"""Makes the stand-in of one call, from the number of that call."""


class ModelOptions(Protocol):
    """The settings of an agent that a session reads."""

    @property
    def model(self) -> str:
        """Return the model, as `provider:model`."""

    @property
    def temperature(self) -> float:
        """Return the temperature. A negative value means that no temperature is sent."""

    @property
    def max_tokens(self) -> int:
        """Return the maximum number of tokens of a reply."""

    @property
    def stand_in_errors(self) -> float:
        """Return the share of the stand-in's answers that are wrong (0 to 1). The stand-in is a program that
        imitates a language model."""

    @property
    def stand_in_nonsense(self) -> float:
        """Return the share of the stand-in's answers that are senseless (0 to 1). The stand-in is a program
        that imitates a language model."""

    @property
    def stand_in_latency(self) -> float:
        """Return the seconds that the stand-in (a program that imitates a language model) waits before it
        answers."""

    @property
    def stand_in_failures(self) -> float:
        """Return the share of the stand-in's calls that fail (0 to 1). The stand-in is a program that
        imitates a language model."""


class ModelSession:
    """The model calls of one decision, with retries, a budget and records (`kitchen.llm.model_wrappers`)."""

    def __init__(self, options: ModelOptions, situation: Situation, deadline: float) -> None:
        self.provider, self.model = provider_registry.parse_model_setting(options.model)
        self.options, self.situation, self.deadline = options, situation, deadline
        self.calls: list[Call] = []

    @property
    def is_stand_in(self) -> bool:
        """Return True if the stand-in, a program that imitates a language model, is used."""
        return self.provider == provider_registry.STAND_IN

    @property
    def temperature(self) -> float | None:
        """Return the temperature that is sent to the model; None if the model accepts none."""
        takes = provider_registry.takes_temperature(self.provider, self.model)
        return self.options.temperature if takes and self.options.temperature >= 0 else None

    async def ask(
        self, messages: Sequence[Message], stand_in: StandInFactory, tool: Tool | None = None
    ) -> Call:
        """Call the model within the remaining time, and return the call. Errors are stored in the call and
        never raised. If no time is left, the error is a timeout."""
        left = self.deadline - time.monotonic()
        request = Request(
            model=self.model,
            messages=tuple(messages),
            temperature=self.temperature,
            max_tokens=self.options.max_tokens,
            tool=tool,
            seconds=max(left, 0.0),
        )
        if left > 0:
            model = open_model(self.provider, self.situation, lambda: stand_in(len(self.calls)))
            call = await ask_and_record(model, request)
        else:
            why = "no time was left for the call"
            call = Call(self.provider, request, error=CallTimeoutError.code, error_text=why)
        self.calls.append(call)
        return call

    def stand_in(
        self,
        seat: int,
        advice: StandInAdvice,
        write: Writer | None = None,
        as_call: AsCall = default_call_arguments,
    ) -> StandInFactory:
        """Return a function that creates the stand-in (a program that imitates a language model) for one
        call.

        `advice` has the right skills. `write` turns skills into the text of a reply; without it, the stand-in
        writes sentences or calls the request's tool. `as_call` makes the arguments of this call. `seat` is
        part of the random seed.
        """
        manners = StandInBehaviour(
            error_rate=self.options.stand_in_errors,
            nonsense_rate=self.options.stand_in_nonsense,
            failure_rate=self.options.stand_in_failures,
            latency=self.options.stand_in_latency,
        )

        def made(number: int) -> StandIn:
            seed = derived_seed(self.situation.seed, seat, number)
            return StandIn(lambda: advice, manners, seed, as_call, writer=write)

        return made


def open_model(provider: str, situation: Situation, stand_in: Callable[[], StandIn]) -> LanguageModel:
    """Return the model for one call, with retries and cost accounting. Tests replace this function."""
    rng = Random(situation.seed)  # noqa: S311
    return provider_registry.make_decision_model(
        provider, rng=rng, purse=situation.limits.purse, stand_in=stand_in, answers=situation.limits.answers
    )
