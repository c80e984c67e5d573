"""Show the complete prompt that a condition's language model gets at a chosen step, and serve its page.

The module can also ask the model's provider how many tokens a prompt has. It changes no data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from kitchen.agents.prompt_rehearsal import PlayCondition, RehearsedEpisode
from kitchen.contract.agent import Agent
from kitchen.contract.declared_settings import Setting
from kitchen.contract.language_model import Message, ModelError, Request
from kitchen.contract.organisation import Organisation
from kitchen.contract.world_errors import WorldError
from kitchen.forms.setting_fields import readable_name
from kitchen.llm.call_costs import estimate_tokens
from kitchen.llm.prompt_token_counts import count_tokens
from kitchen.play.episode.create_episode import MindPlan
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from kitchen.words.english_text import and_list
from study.design.condition_seats import all_minds, mind_plans, planned_organisation, seats_of, stand_ins
from study.design.models import Condition, Study
from study.design.sampled_model_calls import trial_of
from study.planning.study_cost_forecast import NO_MODEL
from study.researchers.form_and_button_pages import form_page
from study.researchers.permissions import FORM_METHODS, study_page

PROVIDER_SECONDS = 10.0
"""Time limit of one count."""
MOST = 2000
"""Largest step for which a prompt is shown: playing that far takes seconds in the web process."""
PLAYED = 8
"""Number of episodes kept in memory, each played as far as requested."""
_episode_lock = Lock()
"""Only one episode is played at a time."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message or one placeholder (named `name`) of a prompt, with an estimate of its number of tokens."""

    name: str
    text: str
    fixed: bool = False

    @property
    def tokens(self) -> int:
        """Return the number of tokens, estimated from the length of the text."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True)
class WholePrompt:
    """The complete prompt of a language model for one step. `messages` is empty if the model is not asked
    at this step."""

    step: int
    provider: str
    model: str
    request: Request | None
    messages: tuple[PromptMessage, ...]
    placeholders: tuple[PromptMessage, ...]
    texts: tuple[Setting, ...]
    """Text settings that contain these placeholders."""

    @property
    def tokens(self) -> int:
        """Return the estimated number of tokens of all messages."""
        return sum(message.tokens for message in self.messages)

    @property
    def fixed(self) -> int:
        """Return the estimated number of tokens of the messages that are the same at every step."""
        return sum(message.tokens for message in self.messages if message.fixed)


def model_agents(condition: Condition) -> dict[int, tuple[MindPlan, Agent]]:
    """Return the co-players of a condition that call a language model. Keys are their numbers in the
    condition (from 0); values are (plan, agent) pairs.

    Raises SettingsError or UnknownNameError if a co-player cannot be made.
    """
    own = all_minds(condition)[: len(mind_plans(condition))]  # without replacements of people
    return {number: mind for number, mind in enumerate(own) if mind[1].model()}


def shown_steps(condition: Condition) -> int:
    """Return the number of steps whose prompt can be shown: the length of an episode, but at most `MOST`. If
    the length is not known in advance, return 1.

    Raises SettingsError or UnknownNameError if the condition cannot be played.
    """
    world = get_world(condition.world).create(seats=seats_of(condition), settings=condition.settings)
    world.reset(1)
    return min(world.length or 1, MOST)


def whole_prompt(condition: Condition, number: int, step: int) -> WholePrompt:
    """Return the prompt of the co-player with this number at this step (from 1).

    If the step is after the end of the episode or after `MOST`, the last available step is shown. Raises
    SettingsError or UnknownNameError if the condition cannot be played.
    """
    with _episode_lock:
        try:
            asked = _played(_facts(condition)).asked(number, min(step, MOST))
        except Exception:  # an episode that failed in the middle of a step cannot be continued
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
        _placeholder_texts(agent.placeholders(asked.situation)),
        tuple(setting for setting in agent.settings if setting.placeholders),
    )


def _facts(condition: Condition) -> str:
    """Return all settings that determine an episode of this condition, as JSON."""
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


def _placeholder_texts(placeholders: Mapping[str, str]) -> tuple[PromptMessage, ...]:
    return tuple(PromptMessage(f"{{{name}}}", text) for name, text in placeholders.items())


def describe_token_count(prompt: WholePrompt) -> str:
    """Ask the provider to count the prompt's tokens, and return the result as a sentence.

    This takes seconds and costs nothing.
    """
    if prompt.request is None:
        return "There is nothing to count."
    asked = replace(prompt.request, seconds=PROVIDER_SECONDS)
    try:
        whole, same = (count_tokens(prompt.provider, each) for each in (asked, _fixed(asked)))
    except ModelError as error:
        return f"Not counted: {error}."
    if whole is None or same is None:
        return f"{prompt.provider} does not count."
    return f"{prompt.provider} counts {whole} tokens, {same} of them the same at every step."


COUNT_SECONDS = 20.0
"""Time limit of one count."""


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Token counts for one condition: the longest prompt of its first steps, without the agent's memory.

    If the tokens were not counted, `why` gives the reason.
    """

    condition: Condition
    model: str = ""
    guessed: int = 0
    counted: int = 0
    fixed: int = 0
    """Counted tokens of the part that is the same at every step."""
    why: str = ""

    def __str__(self) -> str:
        """Return the count in one line."""
        if self.why:
            return f"{self.condition.name}: {self.why}"
        return (
            f"{self.condition.name}: {self.model} counts {self.counted} tokens, {self.fixed} of them fixed; "
            f"from the length {self.guessed} were guessed ({self.counted / self.guessed:.2f} times as many)"
        )


def count_study_tokens(study: Study) -> Iterator[TokenCount]:
    """Ask the providers to count the tokens of the prompts of every co-player in every condition. Yield the
    counts.

    This takes seconds and costs nothing.
    """
    for condition in study.conditions.all():
        try:
            minds = [*mind_plans(condition), *stand_ins(condition)[:1]]
        except WorldError as error:
            yield TokenCount(condition, why=f"not counted: {error}")
            continue
        yield from [_token_count(condition, mind) for mind in minds] or [TokenCount(condition, why=NO_MODEL)]


def _token_count(condition: Condition, mind: MindPlan) -> TokenCount:
    try:
        return _counted(condition, mind)
    except (WorldError, UnknownNameError, ModelError) as error:
        return TokenCount(condition, why=f"not counted: {error}")


def _counted(condition: Condition, mind: MindPlan) -> TokenCount:
    """Return the number of tokens in the prompt of one co-player (`mind`), as counted by the provider of
    its model. If the provider cannot count it, the result says why."""
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
    """Return the number of tokens as the cost forecast estimates it, from the length of the prompt's
    messages."""
    return sum(estimate_tokens(message.text) for message in prompt.messages)


def _fixed(prompt: Request) -> Request:
    """Return the request without the messages that differ between steps. A minimal user message is added,
    because no provider counts a prompt without one."""
    fixed = [message for message in prompt.messages if message.fixed]
    return replace(prompt, messages=[*fixed, Message("user", ".")])


class PromptForm(forms.Form):
    """A form to choose the co-player and the step whose prompt is shown."""

    def __init__(self, condition: Condition, sent: Any) -> None:
        """Build the fields.

        Raises SettingsError or UnknownNameError for a condition that cannot be played.
        """
        minds, most = model_agents(condition), shown_steps(condition)
        usual = {"player": next(iter(minds), ""), "step": 1}
        super().__init__({name: sent.get(name, first) for name, first in usual.items()})
        named = [(number, _name(plan.seats, plan.kind)) for number, (plan, _) in minds.items()]
        self.fields["player"] = forms.TypedChoiceField(label="Co-player", choices=named, coerce=int)
        self.fields["step"] = forms.IntegerField(
            label="Step", min_value=1, max_value=most, help_text=f"From 1 to {most}."
        )
        self.asks = bool(minds)


def _name(seats: tuple[int, ...], kind: str) -> str:
    if not seats:
        return f"{readable_name(kind)}, who leads"
    players = and_list([str(seat + 1) for seat in seats])
    return f"{readable_name(kind)}, player{'s' if len(seats) > 1 else ''} {players}"


@study_page("edit", FORM_METHODS)
def condition_prompt(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show the complete prompt of one co-player at one step. On POST, also ask the provider to count its
    tokens."""
    row = get_object_or_404(study.conditions, pk=pk)
    try:
        form = PromptForm(row, request.POST or request.GET)
        shown = _prompt_shown(row, form) if form.asks else {}
    except (WorldError, UnknownNameError) as error:
        return _page(request, study, forms.Form(), condition=row, problem=error.args[0])
    if request.method == "POST" and "prompt" in shown:
        shown["counted"] = describe_token_count(shown["prompt"])
    return _page(request, study, form if form.asks else forms.Form(), condition=row, **shown)


def _page(request: HttpRequest, study: Study, form: forms.Form, **shown: Any) -> HttpResponse:
    heading = f"What the model is told: “{shown['condition'].name}”"
    return form_page(request, study, form, heading=heading, template="study/editor/prompt.html", **shown)


def _prompt_shown(row: Condition, form: PromptForm) -> dict[str, Any]:
    if not form.is_valid():
        return {"which": True}
    step = form.cleaned_data["step"]
    prompt = whole_prompt(row, form.cleaned_data["player"], step)
    return {"which": True, "prompt": prompt, "asked_for": step}
