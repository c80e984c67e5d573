"""What calls of a language model will be like, before any is made: for forecasts of money.

The stand-in, which costs nothing, plays the first steps with the very prompts that the model would get; from
their lengths follow the tokens (`kitchen.llm.tokens`). Where others than the mind have seats, they wait.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from kitchen.coplayers.base import Decision
from kitchen.coplayers.evaluate import see
from kitchen.coplayers.registry import get_coplayer, make_coplayer
from kitchen.llm.base import Call, Request
from kitchen.llm.prices import Plan, PriceList
from kitchen.llm.registry import STAND_IN
from kitchen.llm.tokens import likely_tokens, most_tokens
from kitchen.worlds.base import Json, World

MODEL = "model"
"""The setting that names a model; a co-player without it calls none."""
SAMPLE = 6
"""Steps that are played: memory is full after three."""
FLAWLESS: Mapping[str, Json] = {
    MODEL: STAND_IN,
    "stand_in_errors": 0.0,
    "stand_in_nonsense": 0.0,
    "stand_in_latency": 0.0,
    "stand_in_failures": 0.0,
}
"""Who is asked here and how it plays, whatever the settings say."""


def sample(game: World, coplayer: str, settings: Mapping[str, Json], seats: Sequence[int]) -> list[Call]:
    """The calls of a game's first steps, which a mind in these seats makes with the stand-in."""
    declared = {each.name for each in get_coplayer(coplayer).settings}
    ours = {name: value for name, value in FLAWLESS.items() if name in declared}
    mind = make_coplayer(coplayer, {**settings, **ours})
    people = tuple(seat for seat in range(game.seats) if seat not in seats)
    waiting = dict.fromkeys(people, game.idle)
    decision, calls = Decision(commands={}), list[Call]()
    for _ in range(SAMPLE):
        if game.over or game.cut_off:
            break
        seen = see(game, seats, memory=decision.memory, commanded=waiting, people=people)
        decision = mind.decide(seen)
        calls += decision.calls
        game.step({**waiting, **decision.commands})
    return calls


def plan_of(calls: Sequence[Call], *, ahead: int, episodes: int) -> Plan:
    """So many calls ahead, each as large as the largest of these, with answers as long as theirs."""
    replies = [call.reply.usage.output for call in calls if call.reply]
    return Plan(
        calls=ahead,
        fixed=max((_tokens(call.request, fixed=True) for call in calls), default=0),
        fresh=max((_tokens(call.request, fixed=False) for call in calls), default=0),
        output=round(fmean(replies)) if replies else 0,
        max_tokens=max((call.request.max_tokens for call in calls), default=0),
        episodes=episodes,
    )


def _tokens(request: Request, *, fixed: bool) -> int:
    """Of the part of a prompt that stays the same, the tool's description among it, or of the rest."""
    text = "".join(message.text for message in request.messages if message.fixed is fixed)
    tool = request.tool if fixed else None
    described = json.dumps([tool.name, tool.description, dict(tool.schema)]) if tool else ""
    return likely_tokens(text + described)


def worst_call(calls: Sequence[Call], prices: PriceList, provider: str, model: str) -> float:
    """The most that one try of such a call can cost, in US dollars, where every remembered answer, and one
    that is to be mended, is as long as it may be. UnknownPriceError if there is no price."""
    return max((_worst(replace(call.request, model=model), prices, provider) for call in calls), default=0.0)


def _worst(request: Request, prices: PriceList, provider: str) -> float:
    answers = 1 + sum(message.role == "assistant" for message in request.messages)
    prompt = most_tokens(request) + answers * request.max_tokens
    return prices.price(provider, request.model, prompt).at_worst(prompt, request.max_tokens)
