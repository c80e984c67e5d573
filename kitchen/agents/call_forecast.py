"""Forecast how many language-model calls an agent will make, and how long they will be, before it makes any.

The forecast plays a free trial with the stand-in, which imitates a language model. In some sampled steps, the
agent writes its real prompts. The lengths of these prompts give the estimated number of tokens.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import fmean

from kitchen.agents.make_situation import make_situation, situation_in_organisation
from kitchen.contract.agent import ForecastTrial
from kitchen.contract.language_model import Call, Message, Request
from kitchen.contract.mailbox import with_aims_of_others
from kitchen.contract.organisation import SAY, Organisation
from kitchen.contract.team_messages import TeamMessage, max_message_length
from kitchen.contract.world import Json, World
from kitchen.contract.world_errors import WorldError
from kitchen.llm.call_costs import TOKENS_PER_MESSAGE, CallPlan, PriceList, estimate_tokens, max_prompt_tokens
from kitchen.llm.model_wrappers import RetryPolicy
from kitchen.llm.prompt_token_counts import context_problem, counted_ratio
from kitchen.registry.agent_registry import make_agent

SAMPLED_STEPS = (0, 20)
"""Steps at which the agent is asked. By the second one its prompts are about as long as they will get."""
MAX_FEEDBACK_TOKENS = 120
"""Maximum number of tokens that describe one agent's last step."""
MESSAGES, LINE = 10, "Please do the next one first, and leave the other to me for now."
"""Number and text of people's messages that a prompt is assumed to hold, where people may write."""
CALL_TRIES = RetryPolicy().tries
"""Maximum number of attempts of one call."""


@dataclass(frozen=True, slots=True)
class TrialCalls:
    """Sampled calls of an agent in a trial episode, and the numbers with which their cost is extrapolated
    to a whole episode. The sampled prompts contain no earlier questions and answers."""

    calls: tuple[Call, ...]
    seats: int
    """Number of agents that are commanded."""
    steps: int
    """Number of steps of a whole episode."""
    bounds: ForecastTrial
    """The maximum numbers of remembered exchanges, second tries and other tokens."""
    talk: int = 0
    """Maximum number of tokens of people's messages, where they may write to it."""
    answers: int = 0
    """Maximum number of times in a step that it is asked only to answer messages."""
    at_once: int = 1
    """Calls of one step, each of which may have second tries; more than one where each seat has its own
    call."""

    def remembered(self) -> list[int]:
        """Return, for each step of an episode, the number of earlier questions with answers that the prompt
        contains."""
        return [min(step, self.bounds.remembered) for step in range(self.steps)]


def sample_calls(
    game: World,
    coplayer: str,
    settings: Mapping[str, Json],
    seats: Sequence[int],
    organisation: Organisation | None = None,
    member: int | None = None,
) -> TrialCalls:
    """Play the game with a program that imitates the language model. Return sample calls of an agent that
    holds these seats.

    If others may write to the agent, the prompts contain sample messages. `member` is the number of an agent
    without a seat. Raises WorldError if the length of the game is unknown or the settings are impossible.
    """
    if game.length is None:
        raise WorldError("how many steps an episode has is not known before")
    rehearsal = make_agent(coplayer, settings).rehearsal()
    if rehearsal is None:
        return TrialCalls((), len(seats), game.length, ForecastTrial({}))
    mind = make_agent(coplayer, rehearsal.settings)
    people = tuple(seat for seat in range(game.seats) if seat not in seats)
    waiting = dict.fromkeys(people, game.idle)
    number = min(seats) if member is None else member
    messages = _sample_messages(organisation, number) if organisation else ()
    calls: list[Call] = []
    at_once = 1
    for step in range(min(game.length, SAMPLED_STEPS[-1] + 1)):
        if step in SAMPLED_STEPS or step == game.length - 1:
            seen = make_situation(game, seats, commanded=waiting, people=people)
            situation = situation_in_organisation(seen, organisation, messages, member)
            situation = replace(situation, talk=with_aims_of_others(situation.talk, game))
            made = asyncio.run(mind.decide(situation)).calls
            calls += made
            at_once = max(at_once, len(made))
        game.step(dict.fromkeys(range(game.seats), game.idle))
    lines = [Message("user", one.text) for one in _longest(messages, organisation)]
    talk = max_prompt_tokens(Request("", lines)) if lines else 0
    answers = _answers(organisation, number) if organisation else 0
    return TrialCalls(
        tuple(calls),
        len(seats),
        game.length,
        rehearsal,
        talk=talk,
        answers=answers,
        at_once=at_once,
    )


def _sample_messages(organisation: Organisation, member: int) -> tuple[TeamMessage, ...]:
    """Return sample messages to this member from the first person who may write to it. Without such a person,
    they are from the first other member."""
    people = [one.number for one in organisation.members if one.is_person]
    writers = [one for one in people or organisation.numbers if member in organisation.to(one, SAY)]
    if not writers:
        return ()
    return tuple(
        TeamMessage(number, 1, writers[0], (member,), SAY, LINE) for number in range(1, MESSAGES + 1)
    )


def _answers(organisation: Organisation, member: int) -> int:
    """Return the maximum number of model calls for messages in one step, in addition to the call for the
    decision. The member answers people's messages, and takes part in the dialogue of the agents."""
    if not organisation.talks_within:
        return 0
    others = [one for one in organisation.members if one.number != member]
    writers = [one.is_person for one in others if member in organisation.to(one.number, SAY)]
    talk = organisation.within or not any(one.is_person for one in organisation.members)
    minds = talk and not all(writers)
    return organisation.rounds * any(writers) + (organisation.rounds - 1) * minds


def _longest(messages: Sequence[TeamMessage], organisation: Organisation | None) -> list[TeamMessage]:
    """Return these messages with texts of the maximum length, for measuring the largest possible prompt.
    Empty without an organisation."""
    if organisation is None or not messages:
        return []
    return [
        replace(one, text="\u5b57" * max_message_length(organisation, one.sender or 0)) for one in messages
    ]


def expected_calls(trial: TrialCalls, *, steps: int, episodes: int, ratio: float = 1.0) -> CallPlan:
    """Return the expected calls for `steps` further steps in total, in `episodes` episodes.

    Each step has `trial.at_once` calls. Every question has the length of the longest sampled one, and every
    answer the mean length of the sampled ones. Earlier questions and answers that the agent remembers are
    added to the prompts. `ratio` is the number of tokens for each one that is estimated from the length
    (`prompt_token_counts.counted_ratio`).
    """
    answers = [call.reply.usage.output for call in trial.calls if call.reply]
    answer = round(fmean(answers)) if answers else 0
    question = round(ratio * max((_tokens(call.request, fixed=False) for call in trial.calls), default=0))
    exchanges = trial.remembered() or [0]
    return CallPlan(
        calls=ceil(steps * trial.at_once / trial.bounds.usual_steps_apart) if trial.calls else 0,
        fixed=round(ratio * max((_tokens(call.request, fixed=True) for call in trial.calls), default=0)),
        fresh=round(question + fmean(exchanges) * (question + answer)),
        longest=question + max(exchanges) * (question + answer),
        output=answer,
        episodes=episodes,
        cache_hour=any(call.request.cache_hour for call in trial.calls),
    )


def _tokens(request: Request, *, fixed: bool) -> int:
    """Return the estimated number of tokens in a prompt. With `fixed`, count the part that never changes and
    the description of the tool. Otherwise count the rest."""
    text = "".join(message.text for message in request.messages if message.fixed is fixed)
    tool = request.tool if fixed else None
    described = json.dumps([tool.name, tool.description, dict(tool.schema)]) if tool else ""
    return estimate_tokens(text + described)


def context_refusal(trial: TrialCalls, provider: str, model: str) -> str:
    """Return why the longest expected prompt, with its reply, does not fit into the model. Empty if it does,
    or if nobody knows how much the model reads."""
    if not trial.calls:
        return ""
    ratio = counted_ratio(provider, model)
    plan = expected_calls(trial, steps=trial.steps, episodes=1, ratio=ratio)
    return context_problem(provider, model, plan.fixed + plan.longest, trial.calls[0].request.max_tokens)


def worst_cost(trial: TrialCalls, prices: PriceList, provider: str, model: str) -> float:
    """Return the maximum cost of one episode, in US dollars. It is 0 if the agent calls no model. Raises
    UnknownPriceError if the model has no price.

    Every step is assumed to make all possible calls and retries, with answers of the maximum length.
    Remembered exchanges, feedback and separate answers to people are included.
    """
    if not trial.calls:
        return 0.0
    asked, bounds = trial.calls[0].request, trial.bounds
    price, answer = prices.price(provider, model, hour=asked.cache_hour), asked.max_tokens
    told = MAX_FEEDBACK_TOKENS * trial.seats + 2 * TOKENS_PER_MESSAGE + trial.talk + bounds.extra_tokens
    first = max(max_prompt_tokens(call.request) for call in trial.calls) + told
    answers, most = (2, 1) if bounds.remembers_tries else (1 + bounds.repairs, bounds.repairs)
    remembered = [bounds.remembered] * trial.steps if bounds.remembers_tries else trial.remembered()
    remembered = remembered[:: bounds.least_steps_apart]
    exchange = max(_question(call.request) for call in trial.calls) + told + answers * answer
    prompts = [
        first + exchanges * exchange + min(again, most) * (answer + told)
        for exchanges in remembered
        for again in range(1 + bounds.repairs)
    ]
    return (
        CALL_TRIES
        * (trial.at_once + trial.answers)
        * sum(price.at_worst(min(p, price.up_to or p), answer) for p in prompts)
    )


def _question(request: Request) -> int:
    """Return the maximum number of tokens in the part of a prompt that changes from step to step."""
    asked = [Message(each.role, each.text) for each in request.messages if not each.fixed]
    return max_prompt_tokens(Request(request.model, asked))
