"""Experiments send the model calls of all episodes in batches, at half the price, and go on after a stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from kitchen.experiments import batch_rounds, experiment_services, tasks
from kitchen.experiments.database_logs import readable_logs_of
from kitchen.experiments.experiment_services import experiment_start, experiment_stop, rows_of
from kitchen.experiments.experiment_setup import ExperimentSetup, SetupError
from kitchen.experiments.models import Experiment, ModelBatch
from kitchen.experiments.setup_arguments import read_setup
from kitchen.experiments.verify_replay import replay_log
from kitchen.llm.call_costs import load_prices
from kitchen.llm.circuit_breaker import forget_pauses
from kitchen.management.commands import experiment
from kitchen.money.models import Spending
from tests.stand_in_server import Answer, Script, StandInServer, noop, reply, status

STEPS = 3
MODELS = {"anthropic": "anthropic:claude-sonnet-5-5", "openai": "openai:gpt-6-sol"}
SETTINGS = ["demonstration=none", "memory=1"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, db: None) -> Iterator[StandInServer]:
    """Start a server with both batch APIs, and let experiments last few steps."""
    with StandInServer([noop]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        bench = type(ExperimentSetup().ground)
        monkeypatch.setattr(bench, "steps", STEPS, raising=False)
        yield server


def made(provider: str = "anthropic", limit: float | None = None, repair: int = 0) -> Experiment:
    """Return an experiment of three episodes whose calls are sent in batches."""
    given = {"co_player": "dispatcher", "model": MODELS[provider], "levels": "level_3", "agents": "2"}
    rest: dict[str, Any] = {"alphas": "2.0", "episodes": "3", "seed": "1", "preset": None, "batch": True}
    rest["set"] = [*SETTINGS, f"repair={repair}"]
    none = dict.fromkeys(("no_feedback", "no_hints", "demo"))
    setup = read_setup({**given, **rest, **none})
    experiment = Experiment.objects.create(setup=setup.to_json(), at_once=9)
    experiment_start(experiment=experiment, allowed=limit or 1.0, on_workers=False)
    return experiment


def play(experiment: Experiment, waits: list[float] | None = None) -> Experiment:
    """Play an experiment in this process, without waiting."""
    slept = waits if waits is not None else []
    batch_rounds.play_in_batches(experiment_id=experiment.pk, claim=False, sleep=slept.append)
    experiment.refresh_from_db()
    return experiment


def price_of(provider: str, calls: int) -> Decimal:
    """Return half of the price of calls with 100 tokens of prompt and 20 of answer."""
    name, _, model = MODELS[provider].partition(":")
    price = load_prices().price({"openai": "openai-compatible"}.get(name, name), model)
    return calls * Decimal(str((100 * price.input + 20 * price.output) / 2e6)).quantize(Decimal("0.000001"))


@pytest.mark.parametrize("provider", MODELS)
def test_each_step_of_all_episodes_is_one_batch_at_half_the_price(
    provider: str, server: StandInServer
) -> None:
    experiment = play(made(provider))
    assert experiment.stopped_because == ""
    assert [len(batch) for batch in server.batches.made] == [3] * STEPS
    rows = rows_of(experiment).values()
    assert [(row.steps, row.calls, row.fallbacks) for row in rows] == [(STEPS, STEPS, 0)] * 3
    booked = [row.spent for row in Spending.objects.all()]
    assert sum(filter(None, booked)) == price_of(provider, 3 * STEPS)
    assert sum(row.cost or 0 for row in rows) == pytest.approx(float(price_of(provider, 3 * STEPS)))
    logs = list(readable_logs_of(experiment))
    assert [replay_log(log, row).faults for log, row in zip(logs, rows, strict=True)] == [()] * 3
    assert logs[0].calls[0].parameters["batch"] == "batch_0"
    assert b"sk-secret" not in b"".join(bytes(log.lines) for log in logs)
    assert not ModelBatch.objects.exclude(results={}).exists(), "nothing is kept twice"


def test_calls_that_expired_or_failed_are_asked_again_and_nobody_else(server: StandInServer) -> None:
    failing: Sequence[Script] = [Answer("expired"), status(529), noop]
    server.script = list(failing)
    experiment = play(made())
    assert [len(batch) for batch in server.batches.made] == [3] * STEPS + [2]
    log = next(iter(readable_logs_of(experiment)))
    assert [row.fallbacks for row in rows_of(experiment).values()] == [0] * 3
    tries = [[each.outcome for each in call.attempts] for call in log.calls]
    assert tries[0] == ["timeout", "ok"] and tries[1] == ["ok"]
    assert sum(row.spent or 0 for row in Spending.objects.all()) == price_of("anthropic", 3 * STEPS)


@pytest.mark.parametrize("at_once, batches", [(9, [3] * STEPS), (1, [3, *[1] * 3 * (STEPS - 1)])])
def test_after_a_kill_the_batch_that_was_sent_is_read_and_not_sent_again(
    server: StandInServer, at_once: int, batches: list[int]
) -> None:
    def killed(seconds: float) -> None:
        raise KeyboardInterrupt

    experiment = made()
    with pytest.raises(KeyboardInterrupt):
        batch_rounds.play_in_batches(experiment_id=experiment.pk, claim=False, sleep=killed)
    assert ModelBatch.objects.get().name == "batch_0"
    Experiment.objects.update(at_once=at_once)
    play(experiment)
    assert [len(batch) for batch in server.batches.made] == batches
    assert not Spending.objects.filter(spent=None).exists()
    assert [row.calls for row in rows_of(experiment).values()] == [STEPS] * 3


def test_a_step_with_several_calls_is_not_paid_twice_after_a_kill(server: StandInServer) -> None:
    server.script = [reply("I cannot decide yet."), reply("Nor now."), reply("Nor here."), noop]
    experiment = made(repair=1)
    looks: list[float] = []

    def killed(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch_rounds.play_in_batches(experiment_id=experiment.pk, claim=False, sleep=killed)
    asked = len(server.asked)
    play(experiment)
    assert [len(batch) for batch in server.batches.made] == [3] * len(server.batches.made)
    assert asked == 6 and len(server.asked) == 3 * (STEPS + 1)
    assert {row.calls for row in rows_of(experiment).values()} == {STEPS + 1}


def test_one_worker_plays_all_episodes_and_gives_them_back_when_it_is_stopped(
    monkeypatch: pytest.MonkeyPatch, server: StandInServer
) -> None:
    monkeypatch.setattr(experiment_services, "queue_episodes", lambda *_, **__: True)
    played = made()
    experiment_start(experiment=played, allowed=1.0)

    def stopped(seconds: float) -> None:
        experiment_stop(experiment_id=played.pk)

    batch_rounds.play_in_batches(experiment_id=played.pk, claim=True, sleep=stopped)
    assert not played.episodes.exclude(claimed_until=None).exists() and not rows_of(played)
    experiment_start(experiment=played, allowed=1.0)
    server.batches.looks = 0
    tasks.experiment_lane(played.pk)
    assert len(rows_of(played)) == 3 and len(server.batches.made) == STEPS
    played.refresh_from_db()
    assert not played.running and played.stopped_because == ""


def test_with_little_money_fewer_calls_are_sent_and_then_the_experiment_stops(server: StandInServer) -> None:
    worst = load_prices().in_batches()
    experiment = made(limit=0.0001)
    play(experiment)
    assert experiment.stopped_because.startswith("the money is spent: ") and not server.asked
    assert worst and not ModelBatch.objects.exists()
    experiment_start(experiment=experiment, allowed=0.02, on_workers=False)
    play(experiment)
    spent = sum(row.spent or 0 for row in Spending.objects.all())
    assert not Spending.objects.filter(spent=None).exists() and spent < Decimal("0.0201")


def test_while_the_provider_fails_the_experiment_waits_and_then_stops(server: StandInServer) -> None:
    waits: list[float] = []
    server.batches.faults = [500] * 999
    experiment = play(made(), waits)
    assert "gave no answer for 6" in experiment.stopped_because
    assert sum(waits) >= 600 and not server.asked
    assert not Spending.objects.filter(spent=None).exists(), "what was not sent is paid back"
    server.batches.faults = [500, 429]
    forget_pauses()
    experiment_start(experiment=experiment, allowed=1.0, on_workers=False)
    assert play(experiment).stopped_because == ""


def test_a_refused_batch_stops_the_experiment(server: StandInServer) -> None:
    server.script = [status(400, message="no such model sk-secret")]
    experiment = play(made())
    assert experiment.stopped_because == (
        "model: every call of a batch was refused: invalid_request_error: no such model (key)"
    )
    assert not rows_of(experiment) and sum(row.spent or 0 for row in Spending.objects.all()) == 0


@pytest.mark.parametrize(
    "model, words", [("stand-in", "stand-in takes no calls in batches"), (None, "nobody asks a model here")]
)
def test_without_a_paid_model_there_are_no_batches(model: str | None, words: str) -> None:
    none = dict.fromkeys(("preset", "no_feedback", "no_hints", "demo", "set", "alphas"))
    given = {"levels": "3", "agents": "2", "episodes": "1", "seed": "1", "model": model, "batch": True}
    with pytest.raises(SetupError, match=words):
        read_setup({**none, **given, "co_player": None})


def test_the_command_plays_in_batches_and_says_so_in_its_forecast(
    monkeypatch: pytest.MonkeyPatch, server: StandInServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--co-player", "dispatcher", "--model", MODELS["anthropic"], "--levels", "3", "--agents", "2"]
    line += ["--alphas", "2.0", "--episodes", "1", "--local", "--batch", "--poll", "0"]
    line += [part for each in SETTINGS for part in ("--set", each)]
    server.batches.looks = 0
    monkeypatch.setattr(experiment, "forecast_work", lambda *_: "little work")
    monkeypatch.setattr(experiment.Command, "_report", lambda *_: None)
    call_command("experiment", *line, "--yes", out=tmp_path)
    assert len(server.batches.made) == STEPS
    assert "in batches; longest answers" in capsys.readouterr().out
