"""The provider's counts of prompts: made once, used by forecasts, and compared with what a model reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from kitchen.agents.call_forecast import TrialCalls, expected_calls
from kitchen.contract.agent import ForecastTrial
from kitchen.contract.language_model import Call, Message, Request
from kitchen.experiments import experiment_forecast
from kitchen.experiments.experiment_setup import ExperimentSetup, SetupError, episode_jobs
from kitchen.llm import prompt_token_counts, provider_registry
from kitchen.llm.call_costs import load_prices
from kitchen.llm.prompt_token_counts import context_problem, count_tokens, counted_ratio

SHORT = Request("claude-sonnet-5-5", (Message("user", "x" * 350),))
LONG = Request("claude-sonnet-5-5", (Message("system", "x" * 3500, fixed=True), *SHORT.messages))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Let the provider count a third more tokens than are estimated. Return the prompts that it counted."""
    found: list[Request] = []

    def count(provider: str, request: Request) -> int | None:
        found.append(request)
        estimated = prompt_token_counts.estimated_prompt_tokens(request)
        return (
            None if provider == "openai-compatible" else round(estimated * (1.33 if request == LONG else 2))
        )

    monkeypatch.setattr(provider_registry, "count_tokens", count)
    return found


def test_a_prompt_is_counted_once_and_the_longest_one_gives_the_ratio(asked: list[Request]) -> None:
    assert counted_ratio("anthropic", LONG.model) == 1
    assert [count_tokens("anthropic", each) for each in (LONG, SHORT, LONG)] == [1463, 200, 1463]
    assert asked == [LONG, SHORT] and counted_ratio("anthropic", LONG.model) == pytest.approx(1.33)
    assert count_tokens("openai-compatible", LONG) is None and counted_ratio("openai-compatible", "m") == 1


def test_forecasts_use_the_ratio() -> None:
    trial = TrialCalls((Call("anthropic", LONG),), 1, 10, ForecastTrial({}))
    plain, counted = (expected_calls(trial, steps=10, episodes=1, ratio=ratio) for ratio in (1.0, 1.33))
    assert (plain.fixed, plain.fresh) == (1000, 100) and (counted.fixed, counted.fresh) == (1330, 133)


def test_a_prompt_that_does_not_fit_is_told_where_the_size_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "models.toml"
    file.write_text('[openai-compatible."small"]\nreads = 8192\n')
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    assert context_problem("openai-compatible", "small", 7000, 1024) == ""
    told = context_problem("openai-compatible", "small", 7500, 1024)
    assert told == (
        "the longest prompt has about 7500 tokens and its reply up to 1024, but small reads 8192 in all"
    )
    assert context_problem("anthropic", "unknown", 10**9, 1) == ""


def test_an_experiment_whose_prompts_do_not_fit_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "models.toml"
    file.write_text('[anthropic."claude-sonnet-5-5"]\nreads = 1500\n')
    monkeypatch.setenv("BRIGADE_MODELS", str(file))
    trial = TrialCalls((Call("anthropic", LONG),), 1, 10, ForecastTrial({}))
    monkeypatch.setattr(experiment_forecast, "sample_job_calls", lambda *_: [trial])
    settings = {"model": "anthropic:claude-sonnet-5-5"}
    setup = ExperimentSetup("dispatcher", levels=("level_3",), agents=(2,), settings=settings)
    with pytest.raises(SetupError, match="its reply up to 1024, but claude-sonnet-5-5 reads 1500 in all"):
        experiment_forecast.forecast_cost(setup, episode_jobs(setup), load_prices())
