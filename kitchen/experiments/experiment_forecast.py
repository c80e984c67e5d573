"""Forecast the time and language-model costs of an experiment, and determine its budget.

The forecast plays some trial steps for every level and number of agents. The stand-in, a free imitation,
takes the place of a paid model. The lengths of its prompts give the number of tokens, and a price list gives
the costs. If no budget is given, the highest possible cost becomes the budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from kitchen.agents import call_forecast
from kitchen.contract.language_model import total_cost
from kitchen.contract.line_up import line_up_kinds, line_up_members
from kitchen.experiments.experiment_setup import (
    MODEL_SETTING,
    EpisodeJob,
    ExperimentColumn,
    ExperimentSetup,
    SetupError,
    episode_jobs,
)
from kitchen.experiments.play_episodes import EpisodeFailedError, new_world, seconds_per_step
from kitchen.llm.call_costs import PriceList, UnknownPriceError, format_dollars
from kitchen.llm.prompt_token_counts import (
    count_tokens,
    counted_ratio,
    estimated_prompt_tokens,
)
from kitchen.llm.provider_registry import STAND_IN, parse_model_setting
from kitchen.registry.agent_registry import declared_settings
from kitchen.words.english_text import counted_noun, duration_text

SAMPLED_JOBS, SAMPLE_STEPS = 4, 5
"""Number of episodes, and of steps in each, that are played to measure the time of a step."""


@dataclass(frozen=True, slots=True)
class CostForecast:
    """The number of model calls, and their expected and maximum cost in US dollars. A cost is None if a
    price is unknown."""

    models: tuple[str, ...]
    calls: int
    expected: float | None
    worst: float | None
    in_batches: bool = False
    """True if the calls are sent in batches, at their lower price."""

    @property
    def is_free(self) -> bool:
        """Return True if no call costs money."""
        return self.worst == 0

    def __str__(self) -> str:
        ahead = f"{self.calls} calls of {', '.join(self.models)}"
        if not self.models:
            return "no calls of models that cost money"
        if self.expected is None or self.worst is None:
            return f"{ahead}: what they cost is not known (kitchen/llm/prices.toml has no price)"
        money = f"about {format_dollars(self.expected)}, at worst {format_dollars(self.worst)}"
        how = "in batches; " if self.in_batches else ""
        return f"{ahead}: {money} ({how}longest answers, every call made {call_forecast.CALL_TRIES} times)"


@dataclass(frozen=True, slots=True)
class WorkForecast:
    """The number of episodes and steps to play, and the seconds that they take on one core. `seconds` is
    None if a co-player failed."""

    episodes: int
    steps: int
    seconds: float | None
    waits: bool
    """True if language models are called, which takes additional time."""

    def __str__(self) -> str:
        ahead = f"{counted_noun(self.episodes, 'episode')}, {counted_noun(self.steps, 'step')}"
        if self.seconds is None:
            return f"{ahead}; how long they take cannot be said, for the co-player failed"
        text = f"{ahead}, {duration_text(self.seconds)} of computing on one core"
        return f"{text}, and the time in which models answer" if self.waits else text


def forecast_work(setup: ExperimentSetup, jobs: Sequence[EpisodeJob]) -> WorkForecast:
    """Return the amount of work of these episodes. Their time is extrapolated from a few steps of some of
    them. A program that imitates paid models plays these steps in their place."""
    paid, steps = provider_names(setup), len(jobs) * setup.ground.steps
    some = jobs[:: max(1, len(jobs) // SAMPLED_JOBS)][:SAMPLED_JOBS]
    paces = []
    try:
        for job in some:
            variant = job.column.variant
            settings = setup.settings_of(variant)
            if provider_of_column(setup, job.column) in paid:
                settings[MODEL_SETTING] = STAND_IN
            paces.append(seconds_per_step(job, setup.coplayer_of(variant), settings, steps=SAMPLE_STEPS))
    except EpisodeFailedError:
        return WorkForecast(len(jobs), steps, None, bool(paid))
    return WorkForecast(len(jobs), steps, fmean(paces or [0]) * steps, bool(paid))


def forecast_cost(setup: ExperimentSetup, jobs: Sequence[EpisodeJob], prices: PriceList) -> CostForecast:
    """Return the costs of language models in these episodes. They are 0 if no model is called, or only the
    free program that imitates one."""
    if setup.batch:
        prices = prices.in_batches()
    paid = [column for column in setup.columns if provider_of_column(setup, column) in provider_names(setup)]
    parts = [
        _cell(setup, mine, prices)
        for column in paid
        if (mine := [job for job in jobs if job.column.key == column.key])
    ]
    return CostForecast(
        models=tuple(dict.fromkeys(name for part in parts for name in part.models)),
        calls=sum(part.calls for part in parts),
        expected=total_cost(part.expected for part in parts),
        worst=total_cost(part.worst for part in parts),
        in_batches=setup.batch,
    )


def provider_names(setup: ExperimentSetup) -> set[str]:
    """Return the providers of paid models. Empty if no model is called, or only the free program that
    imitates one."""
    return {provider_of_column(setup, column) for column in setup.columns} - {"", STAND_IN}


def provider_of_column(setup: ExperimentSetup, column: ExperimentColumn) -> str:
    """Return the provider of the model in this cell (variant, level and number of agents). Empty if no model
    is called."""
    settings = setup.settings_of(column.variant)
    return parse_model_setting(str(settings[MODEL_SETTING]))[0] if MODEL_SETTING in settings else ""


def _cell(setup: ExperimentSetup, jobs: Sequence[EpisodeJob], prices: PriceList) -> CostForecast:
    """Return the expected cost of the jobs (episodes) in one cell of the experiment."""
    settings = setup.settings_of(jobs[0].column.variant)
    provider, model = parse_model_setting(str(settings[MODEL_SETTING]))
    asked = [trial for trial in sample_job_calls(setup, jobs[0]) if trial.calls]
    steps = len(jobs) * setup.ground.steps
    ratio = counted_ratio(provider, model)
    plans = [
        call_forecast.expected_calls(trial, steps=steps, episodes=len(jobs), ratio=ratio) for trial in asked
    ]
    if setup.batch:  # by the next step, the cache may have expired: every call fills it
        plans = [replace(plan, episodes=plan.calls) for plan in plans]
    if why := next(
        filter(None, (call_forecast.context_refusal(each, provider, model) for each in asked)), ""
    ):
        raise SetupError(f"model: {why}", "model", MODEL_SETTING)
    calls = steps * len(asked)
    try:
        expected = sum(prices.expected(provider, model, plan) for plan in plans)
        worst = len(jobs) * sum(call_forecast.worst_cost(trial, prices, provider, model) for trial in asked)
    except UnknownPriceError:
        return CostForecast((f"{provider}/{model}",), calls, None, None)
    return CostForecast((f"{provider}/{model}",), calls, expected, worst)


COUNT_SECONDS = 20.0
"""Time limit of one count of a prompt's tokens."""


def count_prompts(setup: ExperimentSetup) -> tuple[str, ...]:
    """Let each provider count the tokens of the longest sampled prompt of each of its models, for the
    forecast. Return a line for each model. Raises ModelError if a provider does not answer."""
    lines = dict[str, str]()
    for job in episode_jobs(setup):
        provider = provider_of_column(setup, job.column)
        if provider in {"", STAND_IN}:
            continue
        _, model = parse_model_setting(str(setup.settings_of(job.column.variant)[MODEL_SETTING]))
        if f"{provider}:{model}" in lines:
            continue
        calls = [call for trial in sample_job_calls(setup, job) for call in trial.calls]
        if not calls:
            continue
        prompts = [replace(call.request, model=model, seconds=COUNT_SECONDS) for call in calls]
        counted = count_tokens(provider, max(prompts, key=estimated_prompt_tokens))
        ratio = f"{counted_ratio(provider, model):.2f} tokens for each that was estimated"
        lines[f"{provider}:{model}"] = ratio if counted else "the provider does not count"
    return tuple(f"{name}: {line}" for name, line in lines.items())


def sample_job_calls(setup: ExperimentSetup, job: EpisodeJob) -> list[call_forecast.TrialCalls]:
    """Return sample calls of each agent in this episode, made with a free program that imitates language
    models."""
    variant = job.column.variant
    settings, line_up = setup.settings_of(variant), setup.coplayer_of(variant)
    kinds, members = line_up_kinds(line_up), line_up_members(line_up, job.column.agents)
    alone = len(kinds) == 1
    return [
        call_forecast.sample_calls(
            new_world(job),
            kind,
            settings if alone else declared_settings(kind, settings),
            member.seats,
            variant.organisation,
            None if member.seats else member.number,
        )
        for kind, member in zip(kinds, members, strict=True)
    ]


MAX_BUDGET = 999_999.0
"""Largest budget, in US dollars."""


def read_budget(text: str | None) -> float | None:
    """Parse a budget in US dollars; None if no budget was given. Raises SetupError if it is invalid."""
    if text is None:
        return None
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= MAX_BUDGET:
        raise SetupError(
            f"--budget: {text!r} is no amount of US dollars from 0 to {MAX_BUDGET:.0f}", "budget"
        )
    return amount


@dataclass(frozen=True, slots=True)
class SpendingLimit:
    """The limit on the money that may be spent from now on."""

    ahead: CostForecast
    budget: float | None = None
    """US dollars for all calls of the experiment, including those already made."""
    spent: float = 0.0
    """US dollars spent so far."""

    def __post_init__(self) -> None:
        """Raise SetupError if a budget is set but the price of the calls is unknown."""
        if self.budget is not None and self.ahead.worst is None:
            raise SetupError(f"--budget: {self.ahead}", "budget")

    @property
    def amount(self) -> float | None:
        """Return the US dollars that may still be spent. None for no limit: no call costs money, or a price
        is unknown."""
        if self.ahead.is_free or self.ahead.worst is None:
            return None
        return self.ahead.worst if self.budget is None else max(0.0, self.budget - self.spent)

    def __str__(self) -> str:
        """Return the forecast, and how much of the budget is left."""
        if self.budget is None or self.amount is None:
            return str(self.ahead)
        text = f"{self.ahead}; of {format_dollars(self.budget)} {format_dollars(self.amount)} are left"
        short = self.ahead.expected is not None and self.amount < self.ahead.expected
        return f"{text}, less than is expected: it will stop before its end" if short else text
