"""Exchange messages with the model for one decision: ask, read, repair, and remember.

The module opens the model, or the stand-in with a planner. It defines the JSON schema of a structured reply.
The memory holds the last exchanges. Its length is fixed, counted in messages.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any, Self, cast

from kitchen.contract.agent import Decision, Situation, run_without_waiting
from kitchen.contract.language_model import (
    Call,
    CallTimeoutError,
    Effort,
    LanguageModel,
    Message,
    Reply,
    Request,
    Tool,
)
from kitchen.contract.team_messages import MessageDraft
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
from kitchen.worlds.cuisine.dispatcher.command_check import NOOP, CheckedCommands, ReplyFault, check_commands
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import (
    NO_ARGUMENT,
    SENTENCES,
    CommandedTeam,
    GivenCommand,
    KitchenMoment,
    agent_name,
    command_object,
)
from kitchen.worlds.cuisine.dispatcher.message_and_job_text import (
    JOB_ANSWERS,
    is_led,
    job_answers_in,
    line_in_reply,
    repeats_prompt,
    shorten,
    strip_job_answers,
    strip_line,
)
from kitchen.worlds.cuisine.dispatcher.phrase_parser import LevelNames
from kitchen.worlds.cuisine.dispatcher.prompt import fixed_part, repair_part, retry_form
from kitchen.worlds.cuisine.dispatcher.reply_extraction import (
    ExtractedCommands,
    RequestedCommands,
    extract_commands,
    extract_from_call,
)
from kitchen.worlds.cuisine.dispatcher.settings import DispatcherOptions
from kitchen.worlds.cuisine.planner.agent import CuisinePlanner

TOOL_NAME = "dispatch"


def dispatch_tool(
    brief: Mapping[str, Json], team: CommandedTeam, *, talks: bool = False, led: bool = False
) -> Tool:
    """Return the tool for commands; if it `talks`, also for a line to people; if `led`, for job answers."""
    schema: dict[str, Json] = {
        "plan": {"type": "string", "description": "One or two sentences: what the agents work towards now."}
    }
    if talks:
        schema["say"] = {"type": "string", "description": "One short line to the people, or nothing."}
    if led:
        description = "What becomes of jobs: new ones accepted or declined, others done or failed."
        answer = {"job": {"type": "integer"}, "answer": _one_of(JOB_ANSWERS), "words": {"type": "string"}}
        schema["jobs"] = _list_of(answer, description)
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
    """Exchanges from old to new, and sentences for the feedback of the next step."""

    exchanges: tuple[Exchange, ...] = ()
    feedback: tuple[str, ...] = ()
    refused: tuple[GivenCommand, ...] = ()
    """Commands of the last step that could not be carried out; not part of the prompt."""
    plan: Json = None
    """The planner's memory, if it replaced the model in the last step."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the memory that `to_json` wrote; empty at the first step or after another kind of agent."""
        if not isinstance(stored, dict) or "exchanges" not in stored:
            return cls()
        exchanges = tuple((question, reply) for question, reply in stored["exchanges"])
        refused = tuple((seat, tuple(command)) for seat, command in stored.get("refused", ()))
        return cls(exchanges, tuple(stored.get("feedback", ())), refused, stored.get("plan"))

    def to_json(self) -> Json:
        """Return the memory as JSON, for `Decision.memory`."""
        return {
            "exchanges": [list(each) for each in self.exchanges],
            "feedback": list(self.feedback),
            "refused": [[seat, list(command)] for seat, command in self.refused],
            "plan": self.plan,
        }

    def within(self, horizon: int) -> Self:
        """Return the memory cut to the horizon, less the message with the present state."""
        kept = (horizon - 1) // 2
        return replace(self, exchanges=self.exchanges[-kept:] if kept else ())

    def messages(self) -> list[Message]:
        """Return the exchanges as messages."""
        pairs = [(Message("user", asked), Message("assistant", reply)) for asked, reply in self.exchanges]
        return [message for pair in pairs for message in pair]

    def after(self, exchange: Exchange | None, faults: Sequence[ReplyFault], plan: Json) -> Self:
        """Return the memory after another step; without a reply there is no new exchange."""
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
    """The planner for one decision, in place of the model or behind the stand-in; it plans at most once."""

    def __init__(self, situation: Situation, moment: KitchenMoment, memory: DispatcherMemory) -> None:
        self.situation, self.moment, self.memory = situation, moment, memory
        self.was_asked = False

    @cached_property
    def decision(self) -> Decision:
        """The planner's decision, with its memory if it was used at the last step too."""
        self.was_asked = True
        planned = CuisinePlanner({}).decide(replace(self.situation, memory=self.memory.plan))
        return run_without_waiting(planned)

    @property
    def plan(self) -> Json:
        """The planner's memory after this step; None if it was not used."""
        return self.decision.memory if self.was_asked else None

    def advise(self) -> StandInAdvice:
        """Return the advice for the stand-in: the right commands, and what it needs to make errors."""
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
    """One decision's access to its model. Retries, costs and records are in `kitchen.llm.model_wrappers`."""

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
        """Return whether no language model is used."""
        return self.provider == provider_registry.STAND_IN

    @property
    def temperature(self) -> float | None:
        """The temperature to send; None if the model takes none."""
        takes = provider_registry.takes_temperature(self.provider, self.model)
        return self.options.sampling if takes else None

    def _drawing(self) -> dict[str, Any]:
        """Return the sampling parameters, for providers that take them."""
        if not provider_registry.takes_seed(self.provider):
            return {}
        return {"top_p": self.options.nucleus, "seed": self.seed if self.options.seeded else None}

    async def ask(self, messages: Sequence[Message], tool: Tool | None) -> Call:
        """Call the model once within the time left. Never raises; without time the call is a timeout."""
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
        return await ask_and_record(self._client, request)


def open_model(provider: str, situation: Situation, stand_in: Callable[[], StandIn]) -> LanguageModel:
    """Return the provider's model; tests replace this function."""
    rng = Random(situation.seed)  # noqa: S311
    return provider_registry.make_decision_model(
        provider, rng=rng, purse=situation.limits.purse, stand_in=stand_in, answers=situation.limits.answers
    )


def commands_as_call(commands: Sequence[WrittenCommand], reasoning: str) -> Mapping[str, Json]:
    """Return a structured reply of the stand-in, in the schema of `dispatch_tool`."""
    return {"plan": reasoning, "commands": [command_object(seat, command) for seat, command in commands]}


NO_WORDS = "(no words)"
"""Text of an empty answer in the memory, because providers refuse empty messages."""
MAX_PLAN_CHARACTERS = 160
"""Largest number of characters of a plan shown to people: two lines."""
MAX_THOUGHT_CHARACTERS = 4000
"""Largest number of characters of a model's reasoning shown to people, in a fold."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The result of asking: `given` are the commands as read, `mended` the faults before a second try."""

    verdict: CheckedCommands
    given: tuple[GivenCommand, ...]
    mended: tuple[ReplyFault, ...] = ()


class ModelConversation:
    """One decision's conversation with the model."""

    def __init__(
        self,
        moment: KitchenMoment,
        options: DispatcherOptions,
        memory: DispatcherMemory,
        session: ModelSession,
    ) -> None:
        self.moment, self.options, self.session = moment, options, session
        self.names = LevelNames.of(moment.brief)
        self.talks = moment.organisation is not None
        tool = dispatch_tool(moment.brief, moment.team, talks=self.talks, led=is_led(moment))
        self.tool = tool if options.as_tool else None
        self.messages = [Message("system", fixed_part(moment, options), fixed=True), *memory.messages()]
        self.remembered = len(memory.messages())
        self.calls: list[Call] = []
        self.asked: list[Exchange] = []

    async def decide(self, question: str) -> ModelAnswer | None:
        """Ask, check, and ask once more if the settings say so. Return None if there is no answer."""
        read = await self.ask(question, self.moment.team.asked)
        if read is None:
            return None
        verdict = check_commands(self.moment, read.given, read.unclear)
        missing = [seat for seat in self.moment.team.asked if seat not in dict(verdict.accepted)]
        if not self.options.repair or not missing or self.moment.only_answers:
            return ModelAnswer(verdict, read.given)
        return await self._mend(ModelAnswer(verdict, read.given), missing)

    async def ask(self, question: str, seats: Sequence[int]) -> ExtractedCommands | None:
        """Return the commands in the answer to a question about these seats; None if there is no answer."""
        self.messages.append(Message("user", question))
        call = await self.session.ask(self.messages, self.tool)
        self.calls.append(call)
        if call.reply is None:
            return None
        said = reply_as_message(call.reply)
        self.messages.append(Message("assistant", said))
        self.asked.append((question, said))
        return self._read(call.reply, RequestedCommands(seats, int(self.moment.observation["step"]) + 1))

    @property
    def exchange(self) -> Exchange:
        """Return the whole conversation as one exchange: the first question, and every answer."""
        return self.asked[0][0], "\n\n".join(said for _, said in self.asked)

    @property
    def plan(self) -> str:
        """The model's plan in its last structured reply: the first paragraph, shortened. Empty if none."""
        calls = [call.reply.call for call in self.calls if call.reply and call.reply.call]
        plan = str(calls[-1].get("plan") or "").strip() if calls else ""
        return shorten(" ".join(plan.partition("\n")[0].split()), MAX_PLAN_CHARACTERS)

    @property
    def thought(self) -> str:
        """The model's reasoning before its last answer, if its provider returns it."""
        said = [call.reply.reasoning for call in self.calls if call.reply]
        return shorten(said[-1].strip() if said else "", MAX_THOUGHT_CHARACTERS)

    def _read(self, reply: Reply, requested: RequestedCommands) -> ExtractedCommands:
        """Read a structured reply; if it has no commands, read the text."""
        read = (
            ExtractedCommands()
            if reply.call is None
            else extract_from_call(reply.call, self.names, requested)
        )
        text = strip_job_answers(strip_line(reply.text)) if self.talks else reply.text
        return read if read.given or read.unclear else extract_commands(text, self.names, requested)

    @property
    def line(self) -> str:
        """The model's line to people, from its first answer that has one."""
        said = (line_in_reply(call.reply) for call in self.calls if call.reply)
        return next((line for line in said if line), "") if self.talks else ""

    @property
    def answers(self) -> tuple[MessageDraft, ...]:
        """The model's answers to jobs, from its first answer that has some."""
        jobs = [job for job in self.moment.jobs if job.worker == self.moment.member]
        said = (job_answers_in(call.reply, jobs) for call in self.calls if call.reply)
        answers = next((each for each in said if each), ())
        return tuple(replace(say, text="") if self._repeats(say.text) else say for say in answers)

    @property
    def withheld(self) -> bool:
        """Return whether the line repeats the prompt; if so, it is not sent."""
        return self._repeats(self.line)

    def _repeats(self, line: str) -> bool:
        return repeats_prompt(line, [message.text for message in self.messages if message.fixed])

    async def _mend(self, first: ModelAnswer, missing: Sequence[int]) -> ModelAnswer:
        """Ask for other commands for some agents, to run after those that are kept."""
        form = retry_form(missing, self.options) if first.verdict.unread else []
        problems = [fault.text for fault in first.verdict.faults]
        second = await self.ask(repair_part(problems, missing, form), missing)
        if second is None:
            return first
        others = [each for each in second.given if each[0] in missing]
        verdict = check_commands(self.moment, [*first.verdict.accepted, *others], second.unclear)
        return ModelAnswer(verdict, (*first.given, *second.given), first.verdict.faults)


def reply_as_message(reply: Reply) -> str:
    """Return an answer as a message of the conversation."""
    said = reply.text if reply.call is None else json.dumps(reply.call)
    return said.strip() or NO_WORDS
