"""Forecast the number and size of an agent's language-model calls before any is made.

The stand-in model, which costs nothing, receives the real prompts at some steps. Prompt lengths give the
tokens. The game does not advance between those steps. Remembered exchanges are added according to the
agent's memory setting.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from kitchen.agents.evaluation import make_situation, situation_in_organisation
from kitchen.contract.language_model import Call, Message, Request
from kitchen.contract.organisation import SAY, Organisation
from kitchen.contract.team_messages import TeamMessage, max_message_length
from kitchen.contract.world import Json, World, WorldError
from kitchen.llm.call_costs import TOKENS_PER_MESSAGE, CallPlan, PriceList, estimate_tokens, max_prompt_tokens
from kitchen.llm.model_wrappers import RetryPolicy
from kitchen.registry.agent_registry import make_agent

SAMPLED_STEPS = (0, 20)
"""Steps at which it is asked; by the second about as much is to be told as there will be."""
FEEDBACK_CHARACTERS = 120
"""Tokens of what is told of one agent's last step, at worst."""
SAID, LINE = 10, "Please do the next one first, and leave the other to me for now."
"""So many lines of people a prompt is taken to hold, where they may write."""
CALL_TRIES = RetryPolicy().tries
"""How often one call may be made at worst."""


@dataclass(frozen=True, slots=True)
class TrialCalls:
    """Calls without anything remembered, and what the settings make of them over an episode."""

    calls: tuple[Call, ...]
    seats: int
    """Agents that are commanded."""
    steps: int
    """Of a whole episode."""
    kept: int = 0
    """Exchanges that are remembered at most."""
    repairs: int = 0
    """Second tries in a step, at most."""
    talk: int = 0
    """Tokens of what people say, at worst, where they may write to it."""
    answers: int = 0
    """So often it may be asked within a step only to answer them."""
    at_once: int = 1
    """Calls of one step, each of which may be followed by second tries: more than one where each seat has its
    own."""
    told: int = 0
    """Tokens of what else is told of earlier steps, at worst."""
    remembers_tries: bool = False
    """Second tries are remembered within their step."""

    def remembered(self) -> list[int]:
        """How many exchanges each step of an episode remembers."""
        return [min(step, self.kept) for step in range(self.steps)]

    def most_remembered(self) -> list[int]:
        """The same, at worst."""
        return [self.kept] * self.steps if self.remembers_tries else self.remembered()


def sample_calls(
    game: World,
    coplayer: str,
    settings: Mapping[str, Json],
    seats: Sequence[int],
    organisation: Organisation | None = None,
    member: int | None = None,
) -> TrialCalls:
    """What a mind in these seats asks in this game, by the stand-in; in an organisation in which people, or
    without people others, may write to it they have said some lines. `member` is the number of a mind without
    a seat. WorldError where nobody knows how long the game is, or for settings that cannot be."""
    if game.length is None:
        raise WorldError("how many steps an episode has is not known before")
    rehearsal = make_agent(coplayer, settings).rehearsal()
    if rehearsal is None:
        return TrialCalls((), len(seats), game.length)
    mind = make_agent(coplayer, rehearsal.settings)
    people = tuple(seat for seat in range(game.seats) if seat not in seats)
    waiting = dict.fromkeys(people, game.idle)
    said = _said(organisation, min(seats) if member is None else member) if organisation else ()
    calls: list[Call] = []
    at_once = 1
    for step in range(min(game.length, SAMPLED_STEPS[-1] + 1)):
        if step in SAMPLED_STEPS or step == game.length - 1:
            seen = make_situation(game, seats, commanded=waiting, people=people)
            made = mind.decide(situation_in_organisation(seen, organisation, said, member)).calls
            calls += made
            at_once = max(at_once, len(made))
        game.step(dict.fromkeys(range(game.seats), game.idle))
    lines = [Message("user", one.text) for one in _longest(said, organisation)]
    talk = max_prompt_tokens(Request("", lines)) if lines else 0
    answers = _answers(organisation, min(seats) if member is None else member) if organisation else 0
    return TrialCalls(
        tuple(calls),
        len(seats),
        game.length,
        kept=rehearsal.remembered,
        repairs=rehearsal.repairs,
        talk=talk,
        answers=answers,
        at_once=at_once,
        told=rehearsal.told,
        remembers_tries=rehearsal.remembers_tries,
    )


def _said(organisation: Organisation, member: int) -> tuple[TeamMessage, ...]:
    """Some lines of the first person who may write to this member; of the first other member where there are
    no people."""
    people = [one.number for one in organisation.members if one.is_person]
    writers = [one for one in people or organisation.numbers if member in organisation.to(one, SAY)]
    if not writers:
        return ()
    return tuple(TeamMessage(number, 1, writers[0], (member,), SAY, LINE) for number in range(1, SAID + 1))


def _answers(organisation: Organisation, member: int) -> int:
    """How often this member speaks within a step at most, beside deciding once: to people, and in the talk of
    minds after that, or where there are no people."""
    if not organisation.talks_within:
        return 0
    others = [one for one in organisation.members if one.number != member]
    writers = [one.is_person for one in others if member in organisation.to(one.number, SAY)]
    talk = organisation.within or not any(one.is_person for one in organisation.members)
    minds = talk and not all(writers)
    return organisation.rounds * any(writers) + (organisation.rounds - 1) * minds


def _longest(said: Sequence[TeamMessage], organisation: Organisation | None) -> list[TeamMessage]:
    """The same, as long as they may be."""
    if organisation is None or not said:
        return []
    return [replace(one, text="\u5b57" * max_message_length(organisation, one.sender or 0)) for one in said]


def expected_calls(trial: TrialCalls, *, steps: int, episodes: int) -> CallPlan:
    """So many steps ahead in so many episodes, with one call each: questions as long as the longest of
    these, answers as long as theirs, and what is remembered of them."""
    answers = [call.reply.usage.output for call in trial.calls if call.reply]
    answer = round(fmean(answers)) if answers else 0
    question = max((_tokens(call.request, fixed=False) for call in trial.calls), default=0)
    exchanges = trial.remembered() or [0]
    return CallPlan(
        calls=steps * trial.at_once if trial.calls else 0,
        fixed=max((_tokens(call.request, fixed=True) for call in trial.calls), default=0),
        fresh=round(question + fmean(exchanges) * (question + answer)),
        longest=question + max(exchanges) * (question + answer),
        output=answer,
        episodes=episodes,
    )


def _tokens(request: Request, *, fixed: bool) -> int:
    """Of the part of a prompt that stays the same, the tool's description among it, or of the rest."""
    text = "".join(message.text for message in request.messages if message.fixed is fixed)
    tool = request.tool if fixed else None
    described = json.dumps([tool.name, tool.description, dict(tool.schema)]) if tool else ""
    return estimate_tokens(text + described)


def worst_cost(trial: TrialCalls, prices: PriceList, provider: str, model: str) -> float:
    """The most that one episode can cost, in US dollars: in every step all the calls and tries that there may
    be, every answer as long as it may be, also those that are remembered or are to be mended (one of tries
    that are remembered), feedback on every agent, and each answer to people that is a call of its own.
    UnknownPriceError if there is no price; a prompt that is too long for it is never sent."""
    if not trial.calls:
        return 0.0
    price, answer = prices.price(provider, model), trial.calls[0].request.max_tokens
    told = FEEDBACK_CHARACTERS * trial.seats + 2 * TOKENS_PER_MESSAGE + trial.talk + trial.told
    first = max(max_prompt_tokens(call.request) for call in trial.calls) + told
    answers, most = (2, 1) if trial.remembers_tries else (1 + trial.repairs, trial.repairs)
    exchange = max(_question(call.request) for call in trial.calls) + told + answers * answer
    prompts = [
        first + exchanges * exchange + min(again, most) * (answer + told)
        for exchanges in trial.most_remembered()
        for again in range(1 + trial.repairs)
    ]
    return (
        CALL_TRIES
        * (trial.at_once + trial.answers)
        * sum(price.at_worst(min(p, price.up_to or p), answer) for p in prompts)
    )


def _question(request: Request) -> int:
    """Tokens of what is new in a step, at worst."""
    asked = [Message(each.role, each.text) for each in request.messages if not each.fixed]
    return max_prompt_tokens(Request(request.model, asked))
