"""Call the dispatcher's language model for one decision, and keep the dispatcher's memory of earlier calls.

The dispatcher is an agent that commands several robots. `open_model` returns the language model or the
stand-in. The stand-in imitates a model: it writes a planner's commands as text. `dispatch_tool` has the JSON
schema of a structured reply.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any, Self, cast

from kitchen.agents.job_answers import JOB_ANSWERS_SCHEMA
from kitchen.contract.agent import Decision, Situation, run_without_waiting
from kitchen.contract.language_model import (
    Call,
    CallTimeoutError,
    Effort,
    LanguageModel,
    Message,
    Request,
    Tool,
)
from kitchen.contract.organisation import INFORM, SAY
from kitchen.contract.world import Json
from kitchen.llm import provider_registry
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.providers.stand_in_model import (
    Prose,
    StandIn,
    StandInAdvice,
    StandInBehaviour,
    WrittenCommand,
)
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.command_check import NOOP, ReplyFault, agent_name
from kitchen.worlds.cuisine.dispatcher.command_extraction import GivenCommand
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import NO_ARGUMENT, KitchenMoment, command_object
from kitchen.worlds.cuisine.dispatcher.message_and_job_text import (
    ALL,
    NO_AIM,
    addressee_names,
    is_led,
    spelled_aims,
)
from kitchen.worlds.cuisine.dispatcher.settings import SENTENCES, DispatcherOptions
from kitchen.worlds.cuisine.planner.agent import CuisinePlanner

TOOL_NAME = "dispatch"


def dispatch_tool(moment: KitchenMoment, *, talks: bool = False) -> Tool:
    """Return the tool with which the model gives its commands as a structured reply.

    With `talks`, the reply also has a message to people, answers to jobs, and jobs for others. What the
    organisation forbids is left out.
    """
    brief, team = moment.brief, moment.team
    schema: dict[str, Json] = {
        "plan": {"type": "string", "description": "One or two sentences: what the agents work towards now."}
    }
    if talks:
        schema["say"] = {"type": "string", "description": "One short line to the people, or nothing."}
        if len(names := addressee_names(moment, SAY)) > 1:
            schema["say_to"] = {**_one_of([ALL, *names]), "description": "Who gets the line."}
    if is_led(moment):
        schema["jobs"] = JOB_ANSWERS_SCHEMA
    if workers := addressee_names(moment, INFORM):
        aims = _one_of([*spelled_aims(moment), NO_AIM])
        job = {"to": _one_of(workers), "aim": aims, "words": {"type": "string"}}
        schema["give"] = _list_of(job, "New jobs for those whom you lead, or none.")
    command = {
        "agent": _one_of(agent_name(seat) for seat in team.mine),
        "verb": _one_of(VERBS),
        "location": _one_of([*brief["locations"], NO_ARGUMENT]),
        "item": _one_of([*brief["base"], *brief["recipes"], NO_ARGUMENT]),
    }
    schema["commands"] = _list_of(command, "One command for each agent, in the order in which they run.")
    about = "Give every agent that you command its command for this step."
    return Tool(TOOL_NAME, about, _object(schema))


def _object(properties: Mapping[str, Json]) -> dict[str, Json]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list_of(properties: Mapping[str, Json], description: str) -> dict[str, Json]:
    return {"type": "array", "description": description, "items": _object(properties)}


def _one_of(values: Iterable[str]) -> dict[str, Json]:
    return {"type": "string", "enum": list(values)}


MAX_EXCHANGE_CHARACTERS = 8000
"""Largest number of characters of one remembered reply; useful replies are shorter."""
MAX_FAULTS = 40

Exchange = tuple[str, str]
"""The prompt of one step and the model's reply."""


@dataclass(frozen=True, slots=True)
class DispatcherMemory:
    """The dispatcher's memory: earlier exchanges, oldest first, and feedback for the next prompt."""

    exchanges: tuple[Exchange, ...] = ()
    feedback: tuple[str, ...] = ()
    refused: tuple[GivenCommand, ...] = ()
    """Commands of the last step that could not be carried out; not part of the prompt."""
    plan: Json = None
    """The planner's memory, if it replaced the model in the last step."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the memory from the JSON of `to_json`. It is empty if `stored` is None or comes from
        another kind of agent."""
        if not isinstance(stored, dict) or "exchanges" not in stored:
            return cls()
        exchanges = tuple((question, reply) for question, reply in stored["exchanges"])
        refused = tuple((seat, tuple(command)) for seat, command in stored.get("refused", ()))
        return cls(exchanges, tuple(stored.get("feedback", ())), refused, stored.get("plan"))

    def to_json(self) -> Json:
        """Return the memory as JSON. It is stored in `Decision.memory`."""
        return {
            "exchanges": [list(each) for each in self.exchanges],
            "feedback": list(self.feedback),
            "refused": [[seat, list(command)] for seat, command in self.refused],
            "plan": self.plan,
        }

    def within(self, horizon: int) -> Self:
        """Return the memory with only the newest exchanges (question and answer), so that the prompt has at
        most `horizon` messages. The next question counts as one of them."""
        kept = (horizon - 1) // 2
        return replace(self, exchanges=self.exchanges[-kept:] if kept else ())

    def messages(self) -> list[Message]:
        """Return the exchanges as alternating user and assistant messages for the model."""
        pairs = [(Message("user", asked), Message("assistant", reply)) for asked, reply in self.exchanges]
        return [message for pair in pairs for message in pair]

    def after(self, exchange: Exchange | None, faults: Sequence[ReplyFault], plan: Json) -> Self:
        """Return the memory after a decision. It has the new question with its answer, and the faults as
        feedback.

        `exchange` is None if the model gave no reply. `plan` is the planner's memory; None if the planner was
        not used.
        """
        said = ((exchange[0], exchange[1][:MAX_EXCHANGE_CHARACTERS]),) if exchange else ()
        kept = faults[:MAX_FAULTS]
        return replace(
            self,
            exchanges=self.exchanges + said,
            feedback=tuple(fault.text for fault in kept),
            refused=tuple((int(f.seat or 0), f.command) for f in kept if f.command),
            plan=plan,
        )


PROSE = Prose(**SENTENCES["prose"])

SEED_RANGE = 2**31
"""Upper bound of seeds, because some servers read them as 32 bits."""


class FallbackPlanner:
    """Runs the planner for one decision, at most once. Its commands replace the model's commands, or are
    the answer of the stand-in (a substitute for the model)."""

    def __init__(self, situation: Situation, moment: KitchenMoment, memory: DispatcherMemory) -> None:
        self.situation, self.moment, self.memory = situation, moment, memory
        self.was_asked = False

    @cached_property
    def decision(self) -> Decision:
        """Return the planner's decision, computed at the first use. If the planner has a memory of the
        last step, it continues from there."""
        self.was_asked = True
        planned = CuisinePlanner({}).decide(replace(self.situation, memory=self.memory.plan))
        return run_without_waiting(planned)

    @property
    def plan(self) -> Json:
        """Return the planner's memory after this step; None if the planner was not used."""
        return self.decision.memory if self.was_asked else None

    def advise(self) -> StandInAdvice:
        """Return what the stand-in (a program that imitates the model) needs: the planner's commands, and
        names for making deliberate errors."""
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


class ModelSession:
    """Calls the model for one decision, with the agent's settings. Retries, costs and records are in
    `kitchen.llm.model_wrappers`."""

    def __init__(
        self, options: DispatcherOptions, situation: Situation, adviser: FallbackPlanner, deadline: float
    ) -> None:
        self.provider, self.model = provider_registry.parse_model_setting(options.model)
        self.options, self.deadline = options, deadline
        self.seed = situation.seed % SEED_RANGE
        behaviour = StandInBehaviour(
            error_rate=options.stand_in_errors,
            nonsense_rate=options.stand_in_nonsense,
            failure_rate=options.stand_in_failures,
            latency=options.stand_in_latency,
        )
        self._client = open_model(
            self.provider,
            situation,
            lambda: StandIn(adviser.advise, behaviour, situation.seed, commands_as_call, prose=PROSE),
        )

    @property
    def is_stand_in(self) -> bool:
        """Return whether the stand-in (a program that imitates the model) answers instead of a language
        model."""
        return self.provider == provider_registry.STAND_IN

    @property
    def temperature(self) -> float | None:
        """Return the temperature to send; None if the model does not accept one or none is set."""
        takes = provider_registry.takes_temperature(self.provider, self.model)
        return self.options.sampling if takes else None

    def _drawing(self) -> dict[str, Any]:
        """Return the sampling parameters `top_p` and `seed`, for providers that accept them."""
        if not provider_registry.takes_seed(self.provider):
            return {}
        return {"top_p": self.options.nucleus, "seed": self.seed if self.options.seeded else None}

    async def ask(self, messages: Sequence[Message], tool: Tool | None) -> Call:
        """Call the model once within the remaining time and return the call with its reply or error. Never
        raises.

        If no time is left, the call has the error of a timeout.
        """
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
            cache_hour=self.options.cache_hour and self.provider == provider_registry.ANTHROPIC,
            **self._drawing(),
        )
        if left <= 0:
            why = "no time was left for the call"
            return Call(self.provider, request, error=CallTimeoutError.code, error_text=why)
        return await ask_and_record(self._client, request)


def open_model(provider: str, situation: Situation, stand_in: Callable[[], StandIn]) -> LanguageModel:
    """Return a client for the provider's model. If the provider is the stand-in (a substitute for the
    model), call `stand_in` to create the client. Tests replace this function."""
    rng = Random(situation.seed)  # noqa: S311
    return provider_registry.make_decision_model(
        provider, rng=rng, purse=situation.limits.purse, stand_in=stand_in, answers=situation.limits.answers
    )


def commands_as_call(commands: Sequence[WrittenCommand], reasoning: str) -> Mapping[str, Json]:
    """Return these commands and the reasoning as a structured reply, in the schema of `dispatch_tool`."""
    return {"plan": reasoning, "commands": [command_object(seat, command) for seat, command in commands]}
