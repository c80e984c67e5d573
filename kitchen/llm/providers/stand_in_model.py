"""Imitate a language model without an API key or a network. The imitation is called the stand-in model.

The stand-in does not know the state of the world. The caller passes the right commands (`StandInAdvice`), and
the stand-in writes them as text, with deliberate errors. Make a new one for each decision::

    StandIn(
        advise=lambda: StandInAdvice(commands),
        manners=StandInBehaviour(error_rate=0.1),
        seed=situation.seed,
    )

FEEDBACK HELPS THE STAND-IN BY CONSTRUCTION; THIS IS NOT A FINDING. The stand-in repeats a refused command
with the probability `StandInBehaviour.stubborn`. It never does so if the feedback names the agent. So
experiments with and without feedback differ. This difference tests the software; its size means nothing.

The same seed, advice and prompt give the same answers.
"""

# Feedback is the text from the last line with the word "feedback" on, in the last user message. Random
# numbers depend only on the seed and the number of the call. Answers contain reasoning, commands in one of
# two spellings, and sometimes an apology or nonsense.

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random

from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import (
    CallTimeoutError,
    ConnectionLostError,
    LanguageModel,
    ModelError,
    OverloadedError,
    RateLimitedError,
    Reply,
    Request,
    ServerFailedError,
    UnreadableReplyError,
    Usage,
)
from kitchen.contract.world import Command, Json
from kitchen.llm.call_costs import estimate_tokens

WrittenCommand = tuple[int, Command]
"""A command to be written: the agent and its command."""

_APOLOGIES = (
    "I apologize for my mistake in the last step; I have taken the feedback into account.",
    "Sorry about that. You are right, that was not possible, so I change my plan.",
    "My apologies, I overlooked that. Here is a better plan.",
)
_HEADINGS = ("Commands:", "My commands for this step:", "Action:", "")


@dataclass(frozen=True, slots=True)
class Prose:
    """The sentences that the stand-in writes around its commands. Worlds supply suitable ones."""

    openings: Sequence[str] = (
        "Let me look at what there is to do and at what everybody has.",
        "Looking at the current state, this is what I would do in this step.",
    )
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Reasons by verb, with `{who}`, `{place}` and `{item}`."""
    closings: Sequence[str] = ("", "", "I will look at the result in the next step.")
    nonsense: Sequence[str] = (
        "I am sorry, but I am not able to help with that.",
        "Could you tell me more about what you would like to do today?",
        "```json\n{}\n```",
        "... ... ...",
    )


PLAIN_PROSE = Prose()


def underscore_spelling(agent: int, command: Command) -> str:
    """Return a command as text in the form `goto_agent1_pot0`."""
    return "_".join((command[0], f"agent{agent}", *command[1:]))


def call_spelling(agent: int, command: Command) -> str:
    """Return a command as text in the form `goto(agent1, pot0)`."""
    return f"{command[0]}({', '.join((f'agent{agent}', *command[1:]))})"


def write_reply(commands: Sequence[WrittenCommand], *, apologise: bool, rng: Random, prose: Prose) -> str:
    """Return the commands within sentences, as a language model might write them. All commands of one
    reply are spelled the same way. With `apologise`, an apology comes first."""
    spell = rng.choice((underscore_spelling, call_spelling))
    sentences = [rng.choice(_APOLOGIES)] if apologise else []
    sentences.append(rng.choice(prose.openings))
    sentences += [_reason(agent, command, prose) for agent, command in commands if rng.random() < 0.7]
    paragraphs = (" ".join(sentences), rng.choice(_HEADINGS), _listed(commands, spell, rng))
    return "\n".join(part for part in (*paragraphs, rng.choice(prose.closings)) if part)


def _reason(agent: int, command: Command, prose: Prose) -> str:
    place = command[1] if len(command) > 1 else "its place"
    item = command[2] if len(command) > 2 else "what is ready"
    pattern = prose.reasons.get(command[0], "{who} is next.")
    return pattern.format(who=f"Agent {agent}", place=place, item=item)


def _listed(commands: Sequence[WrittenCommand], spell: Callable[[int, Command], str], rng: Random) -> str:
    bullet = rng.choice(("", "- ", "* ", "#"))
    if bullet == "#":
        return "\n".join(f"{number}. {spell(*written)}" for number, written in enumerate(commands, 1))
    return "\n".join(f"{bullet}{spell(*written)}" for written in commands)


MODEL = "stand-in-1"


@dataclass(frozen=True, slots=True)
class StandInAdvice:
    """The right commands of a step, and the names from which plausible errors are made. Agents are
    numbered as seats."""

    commands: Mapping[int, Command]
    """The right commands of this step, in their order."""
    places: Sequence[str] = ()
    """All places, for wrong places."""
    items: Sequence[str] = ()
    """All items, for wrong items."""
    holding: Mapping[int, str] = field(default_factory=dict)
    """The items that agents hold, for commands with full hands. Agents with free hands are left out."""
    refused: Mapping[int, Command] = field(default_factory=dict)
    """Commands of the last step that were refused."""
    waits: Mapping[int, Command] = field(default_factory=dict)
    """Commands of agents that need none now. They are written as they are, without a chance of error."""
    others: Mapping[int, Sequence[Command]] = field(default_factory=dict)
    """Other commands that an agent could be given. If there are some, an error is always one of these."""


Advise = Callable[[], StandInAdvice]
AsCall = Callable[[Sequence[WrittenCommand], str], Mapping[str, Json]]
"""Return the arguments of a tool call, from commands and the reasoning before them."""
Writer = Callable[[Sequence[WrittenCommand], Random], str]
"""Return an answer as text in a fixed form."""


@dataclass(frozen=True, slots=True)
class StandInBehaviour:
    """How often the stand-in makes errors. Rates are probabilities from 0 to 1. Errors are drawn for each
    agent, nonsense and failures for each call."""

    error_rate: float = 0.0
    nonsense_rate: float = 0.0
    failure_rate: float = 0.0
    latency: float = 0.0
    """Seconds before it answers or fails."""
    stubborn: float = 0.8


def default_call_arguments(commands: Sequence[WrittenCommand], reasoning: str) -> dict[str, Json]:
    """Return the tool arguments that the stand-in (a program that imitates a language model) writes by
    default: `{"reasoning": …, "commands": ["goto_agent1_pot0", …]}`."""
    return {"reasoning": reasoning, "commands": [underscore_spelling(*written) for written in commands]}


class StandIn(LanguageModel):
    """The stand-in (an imitation of a language model) for one decision. It is thread-safe. But each answer
    depends on the number of calls made before."""

    provider = "stand-in"

    def __init__(
        self,
        advise: Advise,
        manners: StandInBehaviour = StandInBehaviour(),
        seed: int = 0,
        as_call: AsCall = default_call_arguments,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        prose: Prose = PLAIN_PROSE,
        writer: Writer | None = None,
    ) -> None:
        self.advise, self.manners, self.seed, self.as_call = advise, manners, seed, as_call
        self.sleep, self.prose, self.writer = sleep, prose, writer
        self._calls = count()

    async def ask(self, request: Request) -> Reply:
        """Return text, or a tool call if one was requested, after `latency` seconds. Raises ModelError
        with the probability `failure_rate`."""
        rng = Random(f"{self.seed}:{next(self._calls)}")  # noqa: S311
        began = time.monotonic()
        fails = rng.random() < self.manners.failure_rate
        speaks_nonsense = rng.random() < self.manners.nonsense_rate
        await self._take_time(request)
        if fails:
            raise _failure(rng)
        if speaks_nonsense:
            text, call = rng.choice(self.prose.nonsense), None
        else:
            text, call = await asyncio.to_thread(self._answer, request, rng)  # it may plan first
        return _reply(request, text, call, time.monotonic() - began)

    async def _take_time(self, request: Request) -> None:
        await self.sleep(min(self.manners.latency, request.seconds))
        if self.manners.latency > request.seconds:
            raise CallTimeoutError(f"no answer within {request.seconds:.1f} s (stand-in)").unbilled()

    def _answer(self, request: Request, rng: Random) -> tuple[str, Mapping[str, Json] | None]:
        advice = self.advise()
        informed = [agent for agent in advice.refused if has_feedback_for(request, agent)]
        commands: list[WrittenCommand] = []
        for agent, command in advice.commands.items():
            commands += self._command(advice, agent, command, agent in informed, rng)
        commands += advice.waits.items()
        if self.writer is not None:
            return self.writer(commands, rng), None
        text = write_reply(commands, apologise=bool(informed), rng=rng, prose=self.prose)
        if request.tool is None:
            return text, None
        return "", self.as_call(commands, text)

    def _command(
        self, advice: StandInAdvice, agent: int, command: Command, informed: bool, rng: Random
    ) -> list[WrittenCommand]:
        """Return the commands that the stand-in (a program that imitates a language model) writes for one
        agent. It can be the right command, a wrong one, or the one that was just refused. `informed` is True
        if the request contained feedback for the agent."""
        again, wrong = rng.random() < self.manners.stubborn, rng.random() < self.manners.error_rate
        if agent in advice.refused and not informed and again:
            return [(agent, advice.refused[agent])]
        if wrong:
            return _mistake(advice, agent, command, rng)
        return [(agent, command)]


def has_feedback_for(request: Request, agent: int) -> bool:
    """Return whether the feedback in the last user message names this agent (`agent1`, `agent 1`)."""
    said = [message.text for message in request.messages if message.role == "user"]
    lines = said[-1].splitlines() if said else []
    starts = [number for number, line in enumerate(lines) if "feedback" in line.lower()]
    feedback = "\n".join(lines[starts[-1] :]) if starts else ""
    return re.search(rf"(?i)(?<![a-z])agent[ _]?{agent}(?!\d)", feedback) is not None


# Errors


def _mistake(advice: StandInAdvice, agent: int, command: Command, rng: Random) -> list[WrittenCommand]:
    """Return a wrong command that a model might plausibly give in this situation."""
    if agent in advice.others:
        return [(agent, rng.choice([*advice.others[agent]] or [command]))]
    kinds = [_wrong_place, _wrong_item, _full_hands, _twice]
    rng.shuffle(kinds)
    for kind in kinds:
        mistake = kind(advice, agent, command, rng)
        if mistake:
            return mistake
    return [(agent, command)]


def _wrong_place(advice: StandInAdvice, agent: int, command: Command, rng: Random) -> list[WrittenCommand]:
    """Return a typical mistake of models: the right command at a wrong place, or the use of a place before
    the agent is there. Empty if no such mistake is possible."""
    others = [place for place in advice.places if place not in command]
    if len(command) < 2 or not others:
        return []
    if command[0] == "goto":
        return [(agent, ("activate", command[1]))]
    return [(agent, (command[0], rng.choice(others), *command[2:]))]


def _wrong_item(advice: StandInAdvice, agent: int, command: Command, rng: Random) -> list[WrittenCommand]:
    others = [item for item in advice.items if item not in command]
    if command[:1] != ("get",) or len(command) < 2 or not others:
        return []
    return [(agent, ("get", command[1], rng.choice(others)))]


def _full_hands(advice: StandInAdvice, agent: int, command: Command, rng: Random) -> list[WrittenCommand]:
    others = [item for item in advice.items if item != advice.holding.get(agent)]
    if agent not in advice.holding or not others or not advice.places:
        return []
    return [(agent, ("get", rng.choice(list(advice.places)), rng.choice(others)))]


def _twice(advice: StandInAdvice, agent: int, command: Command, rng: Random) -> list[WrittenCommand]:
    """Return two different commands for the same agent, a typical mistake of models."""
    others = [other for seat, other in advice.commands.items() if seat != agent and other != command]
    return [(agent, command), (agent, rng.choice(others))] if others else []


# Failures and token counts


def _failure(rng: Random) -> ModelError:
    kinds = [
        RateLimitedError,
        OverloadedError,
        ServerFailedError,
        ConnectionLostError,
        CallTimeoutError,
        UnreadableReplyError,
    ]
    error = rng.choice(kinds)("the stand-in was set to fail")
    if isinstance(error, RateLimitedError):
        error.retry_after = round(rng.uniform(0.05, 0.5), 2)
    return error.unbilled()


def _reply(request: Request, text: str, call: Mapping[str, Json] | None, seconds: float) -> Reply:
    """Return the reply with plausible token counts, cut off at `max_tokens`."""
    prompt = sum(estimate_tokens(message.text) for message in request.messages)
    output = max(1, estimate_tokens(text or str(call)))
    stop = "tool_use" if call is not None else "end_turn"
    if output > request.max_tokens:
        text, call, output, stop = text[: 3 * request.max_tokens], None, request.max_tokens, "max_tokens"
    if call is None and not text:
        error = UnreadableReplyError(f"no answer (stopped: {stop})")
        error.usage = Usage(prompt, output)
        raise error
    return Reply(text, call, model=MODEL, stop=stop, usage=Usage(prompt, output), seconds=seconds)


def stand_in_settings(errors: str) -> tuple[Setting, ...]:
    """Return the settings that an agent declares for the stand-in (a program that imitates a language model):
    its error rates and its delay. `errors` names what it can get wrong, such as `commands`."""
    return (
        _setting("errors", f"share of wrong {errors}", 1),
        _setting("nonsense", "share of senseless replies", 1),
        _setting("latency", "seconds to answer", 600),
        _setting("failures", "share of failing calls", 1),
    )


def _setting(name: str, words: str, most: int) -> Setting:
    said = "Of effect for the stand-in only."
    return Setting(f"stand_in_{name}", "float", f"Stand-in: {words}", 0.0, help=said, minimum=0, maximum=most)
