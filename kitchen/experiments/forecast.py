"""What an experiment will take: episodes, steps and time, and what its calls of language models will cost,
before any is made.

The stand-in is asked in every cell (`kitchen.agents.call_forecast`); from the lengths of the prompts follow
the tokens, from the price list the money. `expected` and `worst` mean the same as in a study's forecast.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from kitchen.agents import call_forecast
from kitchen.contract.model import total
from kitchen.contract.together import kinds_of, members_of
from kitchen.contract.world import Json
from kitchen.experiments.plan import Job
from kitchen.experiments.play import EpisodeFailedError, new_game, pace
from kitchen.experiments.setup import MODEL, ExperimentColumn, Setup
from kitchen.llm.money import dollars
from kitchen.llm.prices import PriceList, UnknownPriceError
from kitchen.llm.registry import STAND_IN, read_model
from kitchen.registry.agents import known
from kitchen.words.counting import counted, lasting

SAMPLES, SAMPLE_STEPS = 4, 5
"""Episodes, and steps of each, that are played to know how long a step takes."""


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
        if not self.models:
            return "no calls of models that cost money"
        if self.expected is None or self.worst is None:
            return f"{ahead}: what they cost is not known (kitchen/llm/prices.toml has no price)"
        money = f"about {dollars(self.expected)}, at worst {dollars(self.worst)}"
        return f"{ahead}: {money} (longest answers, every call made {call_forecast.TRIES} times)"


@dataclass(frozen=True, slots=True)
class WorkForecast:
    """What is ahead: how much is played, and seconds of one core for it; None where a co-player failed."""

    episodes: int
    steps: int
    seconds: float | None
    waits: bool
    """Models answer, which takes time of its own."""

    def __str__(self) -> str:
        ahead = f"{counted(self.episodes, 'episode')}, {counted(self.steps, 'step')}"
        if self.seconds is None:
            return f"{ahead}; how long they take cannot be said, for the co-player failed"
        said = f"{ahead}, {lasting(self.seconds)} of computing on one core"
        return f"{said}, and the time in which models answer" if self.waits else said


def work_ahead(setup: Setup, jobs: Sequence[Job]) -> WorkForecast:
    """How much these jobs are. A few steps of some of them are played for it, by the stand-in where a model
    would have to be asked."""
    paid, steps = provider_names(setup), len(jobs) * setup.ground.steps
    some = jobs[:: max(1, len(jobs) // SAMPLES)][:SAMPLES]
    try:
        paces = [
            pace(job, setup.coplayer_of(job.column.variant), _unpaid(setup, job, paid), steps=SAMPLE_STEPS)
            for job in some
        ]
    except EpisodeFailedError:
        return WorkForecast(len(jobs), steps, None, bool(paid))
    return WorkForecast(len(jobs), steps, fmean(paces or [0]) * steps, bool(paid))


def _unpaid(setup: Setup, job: Job, paid: Collection[str]) -> dict[str, Json]:
    settings = setup.settings_of(job.column.variant)
    return {**settings, MODEL: STAND_IN} if provider_of(setup, job.column) in paid else settings


def forecast(setup: Setup, jobs: Sequence[Job], prices: PriceList) -> CostForecast:
    """What these jobs will cost; free for a co-player that calls no model, or only the stand-in."""
    paid = [column for column in setup.columns if provider_of(setup, column) in provider_names(setup)]
    parts = [
        _cell(setup, mine, prices)
        for column in paid
        if (mine := [job for job in jobs if job.column.key == column.key])
    ]
    return CostForecast(
        models=tuple(dict.fromkeys(name for part in parts for name in part.models)),
        calls=sum(part.calls for part in parts),
        expected=total(part.expected for part in parts),
        worst=total(part.worst for part in parts),
    )


def provider_names(setup: Setup) -> set[str]:
    """Whose models would be called; empty where only the stand-in is asked, or nobody."""
    return {provider_of(setup, column) for column in setup.columns} - {"", STAND_IN}


def provider_of(setup: Setup, column: ExperimentColumn) -> str:
    """Who would be called for a cell; empty for nobody."""
    settings = setup.settings_of(column.variant)
    return read_model(str(settings[MODEL]))[0] if MODEL in settings else ""


def _cell(setup: Setup, jobs: Sequence[Job], prices: PriceList) -> CostForecast:
    """What the jobs of one cell will cost."""
    settings = setup.settings_of(jobs[0].column.variant)
    provider, model = read_model(str(settings[MODEL]))
    asked = [trial for trial in samples(setup, jobs[0]) if trial.calls]
    steps = len(jobs) * setup.ground.steps
    plans = [call_forecast.plan_of(trial, steps=steps, episodes=len(jobs)) for trial in asked]
    calls = steps * len(asked)
    try:
        expected = sum(prices.expected(provider, model, plan) for plan in plans)
        worst = len(jobs) * sum(call_forecast.worst(trial, prices, provider, model) for trial in asked)
    except UnknownPriceError:
        return CostForecast((f"{provider}/{model}",), calls, None, None)
    return CostForecast((f"{provider}/{model}",), calls, expected, worst)


def samples(setup: Setup, job: Job) -> list[call_forecast.TrialCalls]:
    """Calls of a cell, made with the stand-in: of each mind that plays there."""
    variant = job.column.variant
    settings, line_up = setup.settings_of(variant), setup.coplayer_of(variant)
    kinds, members = kinds_of(line_up), members_of(line_up, job.column.agents)
    alone = len(kinds) == 1
    return [
        call_forecast.sample(
            new_game(job),
            kind,
            settings if alone else known(kind, settings),
            member.seats,
            variant.organisation,
            None if member.seats else member.number,
        )
        for kind, member in zip(kinds, members, strict=True)
    ]
