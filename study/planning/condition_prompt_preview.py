"""Show the prompt that a condition's language model gets at a step, and count its tokens with the provider.
Reads only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock

from kitchen.agents.prompt_rehearsal import PlayCondition, RehearsedEpisode
from kitchen.contract.agent import Agent
from kitchen.contract.language_model import Message, ModelError, Request
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Setting, WorldError
from kitchen.llm.call_costs import estimate_tokens
from kitchen.llm.provider_registry import count_tokens
from kitchen.play.episode.create_episode import MindPlan
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from study.design.condition_plan import all_minds, mind_plans, planned_organisation, seats_of, stand_ins
from study.design.models import Condition, Study
from study.planning.study_cost_forecast import NO_MODEL, trial_of

PROVIDER_SECONDS = 10.0
"""Time for one count."""
MOST = 2000
"""Steps that are played to show a prompt, at most: it takes seconds, in the process that serves pages."""
PLAYED = 8
"""Episodes that are kept, played as far as somebody has asked."""
_playing = Lock()
"""One is played at a time."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message, or one placeholder (`name`), with the tokens that it probably counts."""

    name: str
    text: str
    fixed: bool = False

    @property
    def tokens(self) -> int:
        """Guessed from the length."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True)
class WholePrompt:
    """All that a language model gets for one step. `messages` is empty where it is not asked in it."""

    step: int
    provider: str
    model: str
    request: Request | None
    messages: tuple[PromptMessage, ...]
    placeholders: tuple[PromptMessage, ...]
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


def model_agents(condition: Condition) -> dict[int, tuple[MindPlan, Agent]]:
    """Its co-players that ask a language model, by their number. SettingsError or UnknownNameError for one
    that cannot be made."""
    return {number: mind for number, mind in enumerate(_playing_from_the_first(condition)) if mind[1].model()}


def _playing_from_the_first(condition: Condition) -> list[tuple[MindPlan, Agent]]:
    return all_minds(condition)[: len(mind_plans(condition))]


def shown_steps(condition: Condition) -> int:
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
    agent = all_minds(condition)[number][1]
    provider, _, model = agent.model().partition(":")
    messages = asked.request.messages if asked.request else ()
    return WholePrompt(
        asked.step,
        provider,
        model,
        asked.request,
        tuple(PromptMessage(message.role, message.text, message.fixed) for message in messages),
        _named(agent.placeholders(asked.situation)),
        tuple(setting for setting in agent.settings if setting.placeholders),
    )


def _facts(condition: Condition) -> str:
    """All that an episode of it follows from, as JSON."""
    organisation = planned_organisation(condition)
    return json.dumps(
        {
            "world": [condition.world, seats_of(condition), condition.settings],
            "minds": [[plan.seats, plan.kind, plan.settings] for plan in mind_plans(condition)],
            "way": [condition.knowing, condition.passes_by, condition.shows_intents],
            "organisation": organisation.to_json() if organisation else None,
        }
    )


@lru_cache(PLAYED)
def _played(facts: str) -> RehearsedEpisode:
    read = json.loads(facts)
    kind, seats, settings = read["world"]
    knowing, passes_by, tells = read["way"]
    game = get_world(kind).create(seats=seats, settings=settings)
    organisation = Organisation.from_json(read["organisation"]) if read["organisation"] else None
    minds = [(tuple(held), make_agent(mind, chosen)) for held, mind, chosen in read["minds"]]
    return RehearsedEpisode(
        game, minds, PlayCondition(knowing, passes_by or game.passes_by, tells, organisation)
    )


def _named(placeholders: Mapping[str, str]) -> tuple[PromptMessage, ...]:
    return tuple(PromptMessage(f"{{{name}}}", text) for name, text in placeholders.items())


def describe_token_count(prompt: WholePrompt) -> str:
    """How many tokens its provider counts in it, in a sentence. Asks the provider: it takes seconds, and
    costs nothing."""
    if prompt.request is None:
        return "There is nothing to count."
    asked = replace(prompt.request, seconds=PROVIDER_SECONDS)
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


COUNT_SECONDS = 20.0
"""Time for one count."""


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The longest prompt of a condition in its first steps, without what is remembered; or `why` nobody
    counted it."""

    condition: Condition
    model: str = ""
    guessed: int = 0
    counted: int = 0
    fixed: int = 0
    """Tokens of the part that is the same in every step, as they were counted."""
    why: str = ""

    def __str__(self) -> str:
        """In one line."""
        if self.why:
            return f"{self.condition.name}: {self.why}"
        return (
            f"{self.condition.name}: {self.model} counts {self.counted} tokens, {self.fixed} of them fixed; "
            f"from the length {self.guessed} were guessed ({self.counted / self.guessed:.2f} times as many)"
        )


def count_study_tokens(study: Study) -> Iterator[TokenCount]:
    """Condition by condition, co-player by co-player. Asks providers: it takes seconds, and costs nothing."""
    for condition in study.conditions.all():
        try:
            minds = [*mind_plans(condition), *stand_ins(condition)[:1]]
        except WorldError as error:
            yield TokenCount(condition, why=f"not counted: {error}")
            continue
        yield from [_told(condition, mind) for mind in minds] or [TokenCount(condition, why=NO_MODEL)]


def _told(condition: Condition, mind: MindPlan) -> TokenCount:
    try:
        return _counted(condition, mind)
    except (WorldError, UnknownNameError, ModelError) as error:
        return TokenCount(condition, why=f"not counted: {error}")


def _counted(condition: Condition, mind: MindPlan) -> TokenCount:
    provider, _, model = make_agent(mind.kind, mind.settings).model().partition(":")
    calls = trial_of(condition, mind).calls if provider else ()
    if not calls:
        return TokenCount(condition, why=NO_MODEL)
    prompt = max(
        (replace(call.request, model=model, seconds=COUNT_SECONDS) for call in calls), key=guessed_tokens
    )
    counted, fixed = count_tokens(provider, prompt), count_tokens(provider, _fixed(prompt))
    if counted is None or fixed is None:
        return TokenCount(condition, why=f"{provider} does not count")
    return TokenCount(condition, f"{provider}:{model}", guessed_tokens(prompt), counted, fixed)


def guessed_tokens(prompt: Request) -> int:
    """What the forecast takes it for."""
    return sum(estimate_tokens(message.text) for message in prompt.messages)


def _fixed(prompt: Request) -> Request:
    """The same question without what is new in its step; no provider counts a prompt in which nobody says
    anything."""
    fixed = [message for message in prompt.messages if message.fixed]
    return replace(prompt, messages=[*fixed, Message("user", ".")])
