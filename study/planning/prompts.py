"""What a condition's language models are told at a step, before anybody takes part. Reads only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock

from kitchen.agents.whole_prompts import Rehearsed, Way
from kitchen.contract.agent import Agent
from kitchen.contract.model import Message, ModelError, Request
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Setting
from kitchen.llm.registry import count_tokens
from kitchen.llm.tokens import likely_tokens
from kitchen.play.creating import MindPlan
from kitchen.registry.agents import make_agent
from kitchen.registry.worlds import get_world
from study.design.models import Condition
from study.design.plan import mind_plans, minds_of, organisation_planned, seats_of

SECONDS = 10.0
"""Time for one count."""
MOST = 2000
"""Steps that are played to show a prompt, at most: it takes seconds, in the process that serves pages."""
PLAYED = 8
"""Episodes that are kept, played as far as somebody has asked."""
_playing = Lock()
"""One is played at a time."""


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
    return {number: mind for number, mind in enumerate(_playing_from_the_first(condition)) if mind[1].model()}


def _playing_from_the_first(condition: Condition) -> list[tuple[MindPlan, Agent]]:
    return minds_of(condition)[: len(mind_plans(condition))]


def steps_of(condition: Condition) -> int:
    """Of how many steps, from the first, the prompt is shown: all that an episode has, or `MOST`; 1 where
    nobody knows before. SettingsError or UnknownNameError."""
    world = get_world(condition.world).create(seats=seats_of(condition), settings=condition.settings)
    world.reset(1)
    return min(world.length or 1, MOST)


def whole_prompt(condition: Condition, number: int, step: int) -> WholePrompt:
    """What co-player `number` of it is told for this step, counted from 1: the last one of an episode that
    ends before, or of those that are played for it. SettingsError or UnknownNameError for a condition that
    cannot be played."""
    with _playing:
        try:
            asked = _played(_facts(condition)).asked(number, min(step, MOST))
        except Exception:  # what broke in the middle of a step is not gone on with
            _played.cache_clear()
            raise
    agent = minds_of(condition)[number][1]
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


def _facts(condition: Condition) -> str:
    """All that an episode of it follows from, as JSON."""
    organisation = organisation_planned(condition)
    return json.dumps(
        {
            "world": [condition.world, seats_of(condition), condition.settings],
            "minds": [[plan.seats, plan.kind, plan.settings] for plan in mind_plans(condition)],
            "way": [condition.knowing, condition.passes_by, condition.shows_intents],
            "organisation": organisation.to_json() if organisation else None,
        }
    )


@lru_cache(PLAYED)
def _played(facts: str) -> Rehearsed:
    read = json.loads(facts)
    kind, seats, settings = read["world"]
    knowing, passes_by, tells = read["way"]
    game = get_world(kind).create(seats=seats, settings=settings)
    organisation = Organisation.from_json(read["organisation"]) if read["organisation"] else None
    minds = [(tuple(held), make_agent(mind, chosen)) for held, mind, chosen in read["minds"]]
    return Rehearsed(game, minds, Way(knowing, passes_by or game.passes_by, tells, organisation))


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
