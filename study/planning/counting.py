"""What the prompts of a study count, as their providers count them, beside what the forecast guesses from
their length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kitchen.contract.model import Message, ModelError, Request
from kitchen.contract.world import WorldError
from kitchen.llm.registry import count_tokens
from kitchen.llm.tokens import likely_tokens
from kitchen.play.creating import MindPlan
from kitchen.registry.agents import make_agent
from kitchen.registry.names import UnknownNameError
from study.design.models import Condition, Study
from study.design.plan import mind_plans, stand_ins
from study.planning.forecast import NO_MODEL, trial_of

SECONDS = 20.0
"""Time for one count."""


@dataclass(frozen=True, slots=True)
class Counted:
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


def counts(study: Study) -> Iterator[Counted]:
    """Condition by condition, co-player by co-player. Asks providers: it takes seconds, and costs nothing."""
    for condition in study.conditions.all():
        try:
            minds = [*mind_plans(condition), *stand_ins(condition)[:1]]
        except WorldError as error:
            yield Counted(condition, why=f"not counted: {error}")
            continue
        yield from [_told(condition, mind) for mind in minds] or [Counted(condition, why=NO_MODEL)]


def _told(condition: Condition, mind: MindPlan) -> Counted:
    try:
        return _counted(condition, mind)
    except (WorldError, UnknownNameError, ModelError) as error:
        return Counted(condition, why=f"not counted: {error}")


def _counted(condition: Condition, mind: MindPlan) -> Counted:
    provider, _, model = make_agent(mind.kind, mind.settings).model().partition(":")
    calls = trial_of(condition, mind).calls if provider else ()
    if not calls:
        return Counted(condition, why=NO_MODEL)
    prompt = max((replace(call.request, model=model, seconds=SECONDS) for call in calls), key=guessed)
    counted, fixed = count_tokens(provider, prompt), count_tokens(provider, _fixed(prompt))
    if counted is None or fixed is None:
        return Counted(condition, why=f"{provider} does not count")
    return Counted(condition, f"{provider}:{model}", guessed(prompt), counted, fixed)


def guessed(prompt: Request) -> int:
    """What the forecast takes it for."""
    return sum(likely_tokens(message.text) for message in prompt.messages)


def _fixed(prompt: Request) -> Request:
    """The same question without what is new in its step; no provider counts a prompt in which nobody says
    anything."""
    fixed = [message for message in prompt.messages if message.fixed]
    return replace(prompt, messages=[*fixed, Message("user", ".")])
