"""How the dispatcher gets to its model: which one the setting means, and one decision's way to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import Any, cast

from kitchen.contract.agent import Decision, Situation
from kitchen.contract.model import Call, CallTimeoutError, Effort, LanguageModel, Message, Request, Tool
from kitchen.contract.world import Json
from kitchen.llm import registry
from kitchen.llm.providers.stand_in import Manners, StandIn, StandInAdvice
from kitchen.llm.providers.stand_in_text import Written
from kitchen.llm.wrappers import ask_and_record
from kitchen.worlds.cuisine.dispatcher.memory import Memory
from kitchen.worlds.cuisine.dispatcher.moment import Moment
from kitchen.worlds.cuisine.dispatcher.options import Options
from kitchen.worlds.cuisine.dispatcher.prose import PROSE
from kitchen.worlds.cuisine.dispatcher.spelling import as_object
from kitchen.worlds.cuisine.dispatcher.validation import NOOP
from kitchen.worlds.cuisine.planner.planner import Planner

SEEDS = 2**31
"""Seeds are smaller: some servers read them as 32 bits."""


class Adviser:
    """The planner at the elbow of one decision: it falls in for the model, and tells the stand-in what is
    right. It thinks only if it is asked, and once."""

    def __init__(self, situation: Situation, moment: Moment, memory: Memory) -> None:
        self.situation, self.moment, self.memory = situation, moment, memory
        self.was_asked = False

    @cached_property
    def decision(self) -> Decision:
        """What the planner would do, with what it remembers if it was asked at the last step too."""
        self.was_asked = True
        return Planner({}).decide(replace(self.situation, memory=self.memory.plan))

    @property
    def plan(self) -> Json:
        """What the planner remembers after this step, None if it was not asked."""
        return self.decision.memory if self.was_asked else None

    def advise(self) -> StandInAdvice:
        """For the stand-in: the right commands, and what it takes to err."""
        brief, seen = self.moment.brief, self.moment.observation
        asked = self.moment.team.asked
        agents = [(seat, seen["agents"][seat]["holds"]) for seat in asked]
        commands = {seat: do for seat, do in self.decision.commands.items() if seat in asked}
        return StandInAdvice(
            commands=commands,
            places=list(brief["locations"]),
            items=[*brief["base"], *brief["recipes"]],
            holding={seat: held for seat, held in agents if held},
            refused=dict(self.memory.refused),
            waits={seat: NOOP for seat in asked if seat not in commands},
        )


class Door:
    """One decision's way to its model: retries, money and records are behind it (`kitchen.llm.wrappers`)."""

    def __init__(self, options: Options, situation: Situation, adviser: Adviser, deadline: float) -> None:
        self.provider, self.model = registry.read_model(options.model)
        self.options, self.deadline = options, deadline
        self.seed = situation.seed % SEEDS
        manners = Manners(
            error_rate=options.stand_in_errors,
            nonsense_rate=options.stand_in_nonsense,
            failure_rate=options.stand_in_failures,
            latency=options.stand_in_latency,
        )
        self._behind = open_model(
            self.provider,
            situation,
            lambda: StandIn(adviser.advise, manners, situation.seed, as_call, prose=PROSE),
        )

    @property
    def is_stand_in(self) -> bool:
        """No language model is behind it."""
        return self.provider == registry.STAND_IN

    @property
    def temperature(self) -> float | None:
        """What is sent: none to a model that takes none."""
        takes = registry.takes_temperature(self.provider, self.model)
        return self.options.sampling if takes else None

    def _drawing(self) -> dict[str, Any]:
        """How the answer is drawn, of providers that can be told."""
        if not registry.takes_seed(self.provider):
            return {}
        return {"top_p": self.options.nucleus, "seed": self.seed if self.options.seeded else None}

    def ask(self, messages: Sequence[Message], tool: Tool | None) -> Call:
        """One call within the time that is left. Never raises; without time it is a timeout."""
        left = self.deadline - time.monotonic()
        effort = None if self.options.effort == "least" else cast(Effort, self.options.effort)
        request = Request(
            model=self.model,
            messages=tuple(messages),
            temperature=self.temperature,
            max_tokens=self.options.max_tokens,
            tool=tool,
            seconds=max(left, 0.0),
            effort=effort,
            **self._drawing(),
        )
        if left <= 0:
            why = "no time was left for the call"
            return Call(self.provider, request, error=CallTimeoutError.code, error_text=why)
        return ask_and_record(self._behind, request)


def open_model(provider: str, situation: Situation, stand_in: Callable[[], StandIn]) -> LanguageModel:
    """The model behind the door; tests put theirs here."""
    rng = Random(situation.seed)  # noqa: S311
    return registry.open_door(
        provider, rng=rng, purse=situation.purse, stand_in=stand_in, answers=situation.answers
    )


def as_call(commands: Sequence[Written], reasoning: str) -> Mapping[str, Json]:
    """A structured reply of the stand-in, in our schema (`tool.dispatch_tool`)."""
    return {"plan": reasoning, "commands": [as_object(seat, command) for seat, command in commands]}
