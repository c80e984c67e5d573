"""How who thinks in skills gets to its model within one decision, and the stand-in in its place."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random

from kitchen.agents.skilled.settings import SkilledOptions
from kitchen.contract.agent import Situation
from kitchen.contract.model import Call, CallTimeoutError, LanguageModel, Message, Request
from kitchen.contract.seeds import derived_seed
from kitchen.llm import registry
from kitchen.llm.providers.stand_in import Manners, StandIn, StandInAdvice, Writer
from kitchen.llm.wrappers import ask_and_record

MadeStandIn = Callable[[int], StandIn]
"""The stand-in of one call, by the number of that call."""


class Door:
    """One decision's way to its model: retries, money and records are behind it (`kitchen.llm.wrappers`)."""

    def __init__(self, options: SkilledOptions, situation: Situation, deadline: float) -> None:
        self.provider, self.model = registry.read_model(options.model)
        self.options, self.situation, self.deadline = options, situation, deadline
        self.calls: list[Call] = []

    @property
    def is_stand_in(self) -> bool:
        """No language model is behind it."""
        return self.provider == registry.STAND_IN

    @property
    def temperature(self) -> float | None:
        """What is sent: none to a model that takes none."""
        takes = registry.takes_temperature(self.provider, self.model)
        return self.options.temperature if takes and self.options.temperature >= 0 else None

    def ask(self, messages: Sequence[Message], stand_in: MadeStandIn) -> Call:
        """One call within the time that is left. Never raises; without time it is a timeout."""
        left = self.deadline - time.monotonic()
        request = Request(
            model=self.model,
            messages=tuple(messages),
            temperature=self.temperature,
            max_tokens=self.options.max_tokens,
            seconds=max(left, 0.0),
        )
        if left > 0:
            model = open_model(self.provider, self.situation, lambda: stand_in(len(self.calls)))
            call = ask_and_record(model, request)
        else:
            why = "no time was left for the call"
            call = Call(self.provider, request, error=CallTimeoutError.code, error_text=why)
        self.calls.append(call)
        return call

    def stand_in(self, seat: int, advice: StandInAdvice, write: Writer) -> MadeStandIn:
        """One that is told what is right and writes it so; `seat` is where its chance comes from."""
        manners = Manners(
            error_rate=self.options.stand_in_errors,
            nonsense_rate=self.options.stand_in_nonsense,
            failure_rate=self.options.stand_in_failures,
            latency=self.options.stand_in_latency,
        )

        def made(number: int) -> StandIn:
            seed = derived_seed(self.situation.seed, seat, number)
            return StandIn(lambda: advice, manners, seed, writer=write)

        return made


def open_model(provider: str, situation: Situation, stand_in: Callable[[], StandIn]) -> LanguageModel:
    """The model behind the door; tests put theirs here."""
    rng = Random(situation.seed)  # noqa: S311
    return registry.open_door(
        provider, rng=rng, purse=situation.purse, stand_in=stand_in, answers=situation.answers
    )
