"""What an experiment's calls of language models will cost, before any is made.

The stand-in, which costs nothing, plays the first steps of every cell with the very prompts that the model
would get; from their lengths follow the tokens (`kitchen.llm.tokens`), from the price list the money.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from kitchen.coplayers.base import CoPlayer, Decision
from kitchen.coplayers.dispatcher.door import read_model
from kitchen.coplayers.evaluate import see
from kitchen.coplayers.registry import make_coplayer
from kitchen.experiments.plan import Job
from kitchen.experiments.play import new_game
from kitchen.experiments.setup import MODEL, STEPS, Column, Setup
from kitchen.llm.base import Call, total
from kitchen.llm.prices import Forecast, Plan, PriceList, UnknownPriceError
from kitchen.llm.registry import STAND_IN
from kitchen.llm.tokens import likely_tokens

SAMPLE = 6
"""Steps of a cell that are played to measure its prompts: memory is full after three."""


@dataclass(frozen=True, slots=True)
class CostForecast:
    """What is ahead: calls, and US dollars; None where a price is not known."""

    models: tuple[str, ...]
    calls: int
    expected: float | None
    worst: float | None

    @property
    def is_free(self) -> bool:
        """Nothing will be paid."""
        return self.worst == 0

    def __str__(self) -> str:
        ahead = f"{self.calls} calls of {', '.join(self.models)}"
        if self.expected is None or self.worst is None:
            return f"{ahead}: what they cost is not known (kitchen/llm/prices.toml has no price)"
        return f"{ahead}: about {self.expected:.2f} USD, at worst {self.worst:.2f} USD (without retries)"


def forecast(setup: Setup, jobs: Sequence[Job], prices: PriceList) -> CostForecast:
    """What these jobs will cost; free for a co-player that calls no model, or only the stand-in."""
    paid = [column for column in setup.columns if provider_of(setup, column) not in {"", STAND_IN}]
    found = list(_parts(setup, jobs, paid, prices))
    names = tuple(dict.fromkeys(name for name, _ in found))
    parts = [part for _, part in found]
    return CostForecast(
        models=names,
        calls=sum(part.calls for part in parts),
        expected=total(None if part.worst < 0 else part.expected for part in parts),
        worst=total(None if part.worst < 0 else part.worst for part in parts),
    )


def provider_of(setup: Setup, column: Column) -> str:
    """Who would be called for a cell; empty for nobody."""
    settings = setup.settings_of(column.variant)
    return read_model(str(settings[MODEL]))[0] if MODEL in settings else ""


def _parts(
    setup: Setup, jobs: Sequence[Job], paid: Sequence[Column], prices: PriceList
) -> Iterator[tuple[str, Forecast]]:
    """Model and cost of each cell; a cost below 0 is not known."""
    for column in paid:
        mine = [job for job in jobs if job.column.key == column.key]
        provider, model = read_model(str(setup.settings_of(column.variant)[MODEL]))
        if mine:
            plan = _plan(setup, mine)
            try:
                yield f"{provider}/{model}", prices.forecast(provider, model, plan)
            except UnknownPriceError:
                yield f"{provider}/{model}", Forecast(plan.calls, -1.0, -1.0)


def _plan(setup: Setup, jobs: Sequence[Job]) -> Plan:
    calls = sample(setup, jobs[0])
    fixed = [likely_tokens("".join(m.text for m in call.request.messages if m.fixed)) for call in calls]
    fresh = [likely_tokens("".join(m.text for m in call.request.messages if not m.fixed)) for call in calls]
    replies = [call.reply.usage.output for call in calls if call.reply]
    return Plan(
        calls=len(jobs) * STEPS,
        fixed=max(fixed, default=0),
        fresh=max(fresh, default=0),
        output=round(fmean(replies)) if replies else 0,
        max_tokens=max((call.request.max_tokens for call in calls), default=0),
        episodes=len(jobs),
    )


def sample(setup: Setup, job: Job) -> list[Call]:
    """The calls of the first steps of a cell, made with the stand-in."""
    settings = {**setup.settings_of(job.column.variant), MODEL: STAND_IN}
    mind: CoPlayer = make_coplayer(setup.coplayer, settings)
    game, decision, calls = new_game(job), Decision(commands={}), list[Call]()
    for _ in range(SAMPLE):
        decision = mind.decide(see(game, range(game.seats), memory=decision.memory))
        calls += decision.calls
        game.step(decision.commands)
    return calls
