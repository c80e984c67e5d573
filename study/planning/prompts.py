"""What a condition's language models are told at a step, before anybody takes part. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kitchen.agents.whole_prompts import Way, prompt_at
from kitchen.contract.agent import Agent
from kitchen.contract.model import Message, ModelError, Request
from kitchen.contract.world import Setting
from kitchen.llm.registry import count_tokens
from kitchen.llm.tokens import likely_tokens
from kitchen.play.creating import MindPlan
from kitchen.registry.worlds import get_world
from study.design.models import Condition
from study.design.plan import minds_of, organisation_planned, seats_of

SECONDS = 10.0
"""Time for one count."""


@dataclass(frozen=True, slots=True)
class Told:
    """One message, or one placeholder (`name`), with the tokens that it probably counts."""

    name: str
    text: str
    fixed: bool = False

    @property
    def tokens(self) -> int:
        """Guessed from the length."""
        return likely_tokens(self.text)


@dataclass(frozen=True, slots=True)
class WholePrompt:
    """All that a language model gets for one step. `messages` is empty where it is not asked in it."""

    step: int
    provider: str
    model: str
    request: Request | None
    messages: tuple[Told, ...]
    placeholders: tuple[Told, ...]
    texts: tuple[Setting, ...]
    """Settings that are texts with these placeholders."""

    @property
    def tokens(self) -> int:
        """Of all messages, guessed."""
        return sum(message.tokens for message in self.messages)

    @property
    def fixed(self) -> int:
        """Of those that are the same at every step."""
        return sum(message.tokens for message in self.messages if message.fixed)


def asking(condition: Condition) -> dict[int, tuple[MindPlan, Agent]]:
    """Its co-players that ask a language model, by their number. SettingsError or UnknownNameError for one
    that cannot be made."""
    return {number: mind for number, mind in enumerate(minds_of(condition)) if mind[1].model()}


def steps_of(condition: Condition) -> int:
    """How many steps an episode has; 1 where nobody knows before. SettingsError or UnknownNameError."""
    world = get_world(condition.world).create(seats=seats_of(condition), settings=condition.settings)
    world.reset(1)
    return world.length or 1


def whole_prompt(condition: Condition, number: int, step: int) -> WholePrompt:
    """What co-player `number` of it is told for this step, counted from 1: the last one of an episode that
    ends before. SettingsError or UnknownNameError for a condition that cannot be played."""
    minds = [(plan.seats, agent) for plan, agent in minds_of(condition)]
    game = get_world(condition.world).create(seats=seats_of(condition), settings=condition.settings)
    way = Way(
        knowing=condition.knowing,
        passes_by=condition.passes_by or game.passes_by,
        tells=condition.shows_intents,
        organisation=organisation_planned(condition),
    )
    asked = prompt_at(game, minds, number=number, step=step, way=way)
    agent = minds[number][1]
    provider, _, model = agent.model().partition(":")
    messages = asked.request.messages if asked.request else ()
    return WholePrompt(
        asked.step,
        provider,
        model,
        asked.request,
        tuple(Told(message.role, message.text, message.fixed) for message in messages),
        _named(agent.placeholders(asked.situation)),
        tuple(setting for setting in agent.settings if setting.placeholders),
    )


def _named(placeholders: Mapping[str, str]) -> tuple[Told, ...]:
    return tuple(Told(f"{{{name}}}", text) for name, text in placeholders.items())


def counted(prompt: WholePrompt) -> str:
    """How many tokens its provider counts in it, in a sentence. Asks the provider: it takes seconds, and
    costs nothing."""
    if prompt.request is None:
        return "There is nothing to count."
    asked = replace(prompt.request, seconds=SECONDS)
    fixed = [*(message for message in asked.messages if message.fixed), Message("user", ".")]
    try:
        whole, same = (
            count_tokens(prompt.provider, each) for each in (asked, replace(asked, messages=fixed))
        )
    except ModelError as error:
        return f"Not counted: {error}."
    if whole is None or same is None:
        return f"{prompt.provider} does not count."
    return f"{prompt.provider} counts {whole} tokens, {same} of them at every step the same."
