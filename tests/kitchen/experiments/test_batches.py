"""Experiments send the model calls of all episodes in batches, at half the price, and go on after a stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin import site
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone

from kitchen.agents.call_forecast import TrialCalls
from kitchen.contract.agent import ForecastTrial
from kitchen.contract.language_model import (
    Call,
    CallTimeoutError,
    ConnectionLostError,
    Message,
    ModelError,
    OverloadedError,
    RateLimitedError,
    RejectedError,
    Reply,
    Request,
    ServerFailedError,
    TooLongReplyError,
    Usage,
)
from kitchen.experiments import (
    batch_desk,
    batch_lease,
    batch_money,
    batch_rounds,
    experiment_forecast,
    experiment_services,
    tasks,
)
from kitchen.experiments.admin import ExperimentAdmin
from kitchen.experiments.batch_lease import BatchLease
from kitchen.experiments.batched_episode import WantedCall
from kitchen.experiments.database_logs import readable_logs_of
from kitchen.experiments.experiment_services import count_playing, experiment_start, experiment_stop, rows_of
from kitchen.experiments.experiment_setup import ExperimentSetup, SetupError, episode_jobs
from kitchen.experiments.lost_batches import UNCLEAR_LOOK_SECONDS, UNSURE_SECONDS
from kitchen.experiments.models import Experiment, ModelBatch
from kitchen.experiments.setup_arguments import read_setup
from kitchen.experiments.verify_replay import replay_log
from kitchen.infra import db_retry, prometheus_metrics
from kitchen.llm.call_costs import PriceList, UnknownPriceError, load_prices
from kitchen.llm.circuit_breaker import FAILURES, ModelPause, forget_pauses
from kitchen.llm.providers.batch_calls import LostBatch, Requests, Results, UnclearBatchError, unmade_call
from kitchen.llm.providers.response_limits import MAX_BATCH_BYTES
from kitchen.management.commands import experiment
from kitchen.money.models import Spending

STEPS = 3
MODEL = "anthropic:claude-sonnet-5-5"
SETTINGS = ["demonstration=none", "memory=1"]
NOOP = Reply("noop_agent0\nnoop_agent1", model="claude-tested", usage=Usage(100, 20))


class Provider:
    """A provider with batches, in this process. `script` has the results in order; the last one repeats.
    `faults` are raised by the next exchanges, and `lost` after the next batches were taken. A batch has ended
    once it was looked at `looks` times."""

    def __init__(self) -> None:
        self.script: list[Reply | ModelError] = [NOOP]
        self.faults: list[ModelError] = []
        self.lost: list[BaseException] = []
        self.marks: list[str] = []
        self.looks = 1
        self.asked: list[Request] = []
        self.batches: list[Results] = []
        self._left: list[int] = []

    def lane(self, request: Request) -> str:
        """Return one lane for all requests."""
        return ""

    def submit(self, requests: Requests, mark: str, seconds: float) -> str:
        """Take a batch."""
        self._fail()
        self.marks.append(mark)
        self.batches.append({name: self._result(request) for name, request in requests.items()})
        self._left.append(self.looks)
        if self.lost:
            raise self.lost.pop(0)
        return f"batch_{len(self.batches) - 1}"

    def find(self, lost: LostBatch, seconds: float) -> str:
        """Return the batch with the mark."""
        self._fail()
        return f"batch_{self.marks.index(lost.mark)}" if lost.mark in self.marks else ""

    def collect(self, batch: str, requests: Requests, seconds: float) -> Results | None:
        """Return the results of a batch that has ended."""
        self._fail()
        number = int(batch.removeprefix("batch_"))
        self._left[number] -= 1
        return self.batches[number] if self._left[number] < 0 else None

    @property
    def sizes(self) -> list[int]:
        """Return the number of calls of each batch."""
        return [len(batch) for batch in self.batches]

    def _fail(self) -> None:
        if self.faults:
            raise self.faults.pop(0)

    def _result(self, request: Request) -> Reply | ModelError:
        self.asked.append(request)
        return self.script[min(len(self.asked), len(self.script)) - 1]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, db: None) -> Provider:
    """Replace the provider, and let experiments last few steps."""
    found = Provider()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setattr(batch_desk, "batch_api", lambda _: found)
    monkeypatch.setattr(type(ExperimentSetup().ground), "steps", STEPS, raising=False)
    return found


def made(limit: float = 1.0, repair: int = 0) -> Experiment:
    """Return an experiment of three episodes whose calls are sent in batches."""
    given = {"co_player": "dispatcher", "model": MODEL, "levels": "level_3", "agents": "2"}
    rest: dict[str, Any] = {"alphas": "2.0", "episodes": "3", "seed": "1", "preset": None, "batch": True}
    rest["set"] = [*SETTINGS, f"repair={repair}"]
    none = dict.fromkeys(("no_feedback", "no_hints", "demo"))
    setup = read_setup({**given, **rest, **none})
    experiment = Experiment.objects.create(setup=setup.to_json(), at_once=9)
    experiment_start(experiment=experiment, allowed=limit, on_workers=False)
    return experiment


def play(experiment: Experiment, waits: list[float] | None = None) -> Experiment:
    """Play an experiment in this process, without waiting."""
    slept = waits if waits is not None else []
    batch_rounds.play_in_batches(experiment_id=experiment.pk, claim=False, sleep=slept.append)
    experiment.refresh_from_db()
    return experiment


def price_of(calls: int) -> Decimal:
    """Return half of the price of calls with 100 tokens of prompt and 20 of answer."""
    price = load_prices().price("anthropic", MODEL.partition(":")[2])
    return calls * Decimal(str((100 * price.input + 20 * price.output) / 2e6)).quantize(Decimal("0.000001"))


def test_each_step_of_all_episodes_is_one_batch_at_half_the_price(
    monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    counted: list[int] = []
    tokens = lambda provider, model, kinds: counted.append(dict(kinds)["input"])  # noqa: E731
    monkeypatch.setattr(prometheus_metrics, "count_tokens", tokens)
    experiment = play(made())
    assert counted == [100] * 3 * STEPS, "once for each call, and not when a step is decided again"
    assert experiment.stopped_because == "" and provider.sizes == [3] * STEPS
    rows = rows_of(experiment).values()
    assert [(row.steps, row.calls, row.fallbacks) for row in rows] == [(STEPS, STEPS, 0)] * 3
    assert sum(row.spent or 0 for row in Spending.objects.all()) == price_of(3 * STEPS)
    assert sum(row.cost or 0 for row in rows) == pytest.approx(float(price_of(3 * STEPS)))
    logs = list(readable_logs_of(experiment))
    assert [replay_log(log, row).faults for log, row in zip(logs, rows, strict=True)] == [()] * 3
    assert logs[0].calls[0].parameters["batch"] == "batch_0"
    assert not ModelBatch.objects.exclude(results={}).exists(), "nothing is kept twice"


def test_calls_that_expired_or_failed_are_asked_again_and_nobody_else(provider: Provider) -> None:
    provider.script = [unmade_call("expired"), OverloadedError("529").unbilled(), NOOP]
    experiment = play(made())
    assert provider.sizes == [3] * STEPS + [2]
    log = next(iter(readable_logs_of(experiment)))
    assert [row.fallbacks for row in rows_of(experiment).values()] == [0] * 3
    tries = [[each.outcome for each in call.attempts] for call in log.calls]
    assert tries[0] == ["timeout", "ok"] and tries[1] == ["ok"]
    assert sum(row.spent or 0 for row in Spending.objects.all()) == price_of(3 * STEPS)


@pytest.mark.parametrize("at_once, batches", [(9, [3] * STEPS), (1, [3, *[1] * 3 * (STEPS - 1)])])
def test_after_a_kill_the_batch_that_was_sent_is_read_and_not_sent_again(
    provider: Provider, at_once: int, batches: list[int]
) -> None:
    def killed(seconds: float) -> None:
        raise KeyboardInterrupt

    experiment = made()
    with pytest.raises(KeyboardInterrupt):
        batch_rounds.play_in_batches(experiment_id=experiment.pk, claim=False, sleep=killed)
    assert ModelBatch.objects.get().name == "batch_0"
    Experiment.objects.update(at_once=at_once)
    play(experiment)
    assert provider.sizes == batches
    assert not Spending.objects.filter(spent=None).exists()
    assert [row.calls for row in rows_of(experiment).values()] == [STEPS] * 3


def test_a_step_with_several_calls_is_not_paid_twice_after_a_kill(provider: Provider) -> None:
    provider.script = [*[replace(NOOP, text="I cannot decide.")] * 3, NOOP]
    experiment = made(repair=1)
    looks: list[float] = []

    def killed(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch_rounds.play_in_batches(experiment_id=experiment.pk, claim=False, sleep=killed)
    asked = len(provider.asked)
    play(experiment)
    assert provider.sizes == [3] * len(provider.batches)
    assert asked == 6 and len(provider.asked) == 3 * (STEPS + 1)
    assert {row.calls for row in rows_of(experiment).values()} == {STEPS + 1}


def test_one_worker_plays_all_episodes_and_gives_them_back_when_it_is_stopped(
    monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    monkeypatch.setattr(experiment_services, "queue_episodes", lambda *_, **__: True)
    played = made()
    experiment_start(experiment=played, allowed=1.0)

    def stopped(seconds: float) -> None:
        experiment_stop(experiment_id=played.pk)

    batch_rounds.play_in_batches(experiment_id=played.pk, claim=True, sleep=stopped)
    assert not played.episodes.exclude(claimed_until=None).exists() and not rows_of(played)
    experiment_start(experiment=played, allowed=1.0)
    provider.looks = 0
    tasks.experiment_lane(played.pk)
    assert len(rows_of(played)) == 3 and len(provider.batches) == STEPS
    played.refresh_from_db()
    assert not played.running and played.stopped_because == ""


LOST = (CallTimeoutError("no answer"), ServerFailedError("504").unbilled(), KeyboardInterrupt())


@pytest.mark.parametrize("lost", LOST)
def test_a_batch_whose_answer_was_lost_is_found_and_not_sent_again(
    provider: Provider, lost: BaseException
) -> None:
    provider.lost = [lost]
    experiment = made()
    with suppress(KeyboardInterrupt):
        play(experiment)
    assert play(experiment).stopped_because == "" and provider.sizes == [3] * STEPS
    assert not Spending.objects.filter(spent=None).exists()
    assert sum(row.spent or 0 for row in Spending.objects.all()) == price_of(3 * STEPS)


def test_a_batch_that_was_not_taken_is_sent_again_only_once_this_is_known(provider: Provider) -> None:
    provider.faults = [CallTimeoutError("no answer"), UnclearBatchError("not yet"), ConnectionLostError("no")]
    waits: list[float] = []
    assert play(made(), waits).stopped_because == "" and provider.sizes == [3] * STEPS
    assert sum(waits) > UNSURE_SECONDS + UNCLEAR_LOOK_SECONDS
    assert not Spending.objects.filter(spent=None).exists()
    provider.faults = [CallTimeoutError("no answer"), RejectedError("404: no such page").unbilled()]
    unknown = play(made())
    assert "nobody knows whether anthropic took a batch of 3 calls" in unknown.stopped_because
    assert Spending.objects.filter(spent=None).count() == 3, "it may have been billed"
    experiment_start(experiment=unknown, allowed=1.0, on_workers=False)
    assert play(unknown).stopped_because == "" and len(rows_of(unknown)) == 3


def test_a_batch_and_its_money_are_stored_together(
    monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    worst = PriceList.worst

    def known_once(prices: PriceList, name: str, request: Request) -> float:
        if Spending.objects.exists():
            raise UnknownPriceError("no price is known")
        return worst(prices, name, request)

    monkeypatch.setattr(PriceList, "worst", known_once)
    assert play(made()).stopped_because == "the money is spent: no price is known"
    assert not Spending.objects.exists() and not ModelBatch.objects.exists()


def test_batches_that_fail_do_not_pause_the_model_in_play_with_people(provider: Provider) -> None:
    provider.script = [unmade_call("expired")]
    live = ModelPause(MODEL)
    in_batches = ModelPause(f"{MODEL}{batch_desk.IN_BATCHES}")
    assert "in batches gave no answer" in play(made()).stopped_because
    assert live.may_be_tried and in_batches.is_broken
    in_batches.succeed()
    for _ in range(FAILURES):
        live.fail(trial=False)
    provider.script = [NOOP]
    play(made())
    assert not live.may_be_tried, "an old success in a batch does not end the pause"


def test_portions_of_calls_have_answers_that_can_be_read() -> None:
    def sizes(tokens: int) -> list[int]:
        asked = Request("claude-opus-5", (), max_tokens=tokens)
        calls = {str(n): WantedCall(str(n), 1, "anthropic", asked) for n in range(1500)}
        return [len(some) for some in batch_desk._in_portions(calls)]

    assert sizes(256) == [1000, 500]
    assert sum(sizes(16384)) == 1500 and max(sizes(16384)) == 236
    assert batch_desk.MAX_RESULT_BYTES <= MAX_BATCH_BYTES


def test_an_answer_of_a_whole_batch_that_is_too_long_is_not_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    experiment, collect = made(), provider.collect
    too_long = iter([TooLongReplyError("the answer is longer than 64 MiB")])

    def collected(*given: Any) -> Results | None:
        if error := next(too_long, None):
            raise error
        return collect(*given)

    monkeypatch.setattr(provider, "collect", collected)
    assert play(experiment).stopped_because == "" and provider.sizes == [3] * STEPS
    assert [row.fallbacks for row in rows_of(experiment).values()] == [1] * 3
    assert not Spending.objects.filter(spent=None).exists()


def test_one_process_at_a_time_sends_calls_and_one_that_lost_its_lease_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    monkeypatch.setattr(experiment_services, "queue_episodes", lambda *_, **__: True)
    monkeypatch.setattr(tasks, "queue_episodes", lambda *_, **__: True)
    played = made()
    experiment_start(experiment=played, allowed=1.0)
    other = BatchLease(played.pk)
    assert other.take() and tasks.pick_up_experiments() == 0
    tasks.experiment_lane(played.pk)
    assert not provider.batches, "another process holds the lease"
    other.give_back()
    assert tasks.pick_up_experiments() == 1

    def lost(seconds: float) -> None:
        Experiment.objects.update(batch_worker_until=timezone.now() - timedelta(seconds=1))
        assert other.take()

    batch_rounds.play_in_batches(experiment_id=played.pk, claim=True, sleep=lost)
    played.refresh_from_db()
    assert played.running and played.stopped_because == "" and played.batch_worker == other.token
    assert count_playing(played.pk) == 3 and ModelBatch.objects.get().closed_at is None


def test_claims_that_expired_during_an_exchange_are_renewed_before_others_are_made(
    monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    monkeypatch.setattr(experiment_services, "queue_episodes", lambda *_, **__: True)
    played = made()
    experiment_start(experiment=played, allowed=1.0)
    past = timezone.now() - timedelta(seconds=1)
    waits = lambda _: played.episodes.filter(row=None).update(claimed_until=past)  # noqa: E731
    batch_rounds.play_in_batches(experiment_id=played.pk, claim=True, sleep=waits)
    assert provider.sizes == [3] * STEPS and len(rows_of(played)) == 3


def test_the_lease_is_renewed_after_each_step(monkeypatch: pytest.MonkeyPatch, provider: Provider) -> None:
    renewed: list[int] = []
    monkeypatch.setattr(batch_rounds.BatchRounds, "_keep_claims", lambda _: None)
    monkeypatch.setattr(batch_rounds.BatchRounds, "_renew_now_and_then", lambda _: renewed.append(1))
    play(made())
    assert len(renewed) == 3 * STEPS


def test_the_admin_says_which_batch_an_experiment_waits_for(provider: Provider) -> None:
    waits = made()
    Experiment.objects.update(running=True)
    state = ExperimentAdmin(Experiment, site).state
    waits.refresh_from_db()
    assert state(waits) == "running"
    ModelBatch.objects.create(
        experiment=waits, provider="anthropic", name="batch_7", entries={"a": {}, "b": {}}
    )
    assert state(waits).replace("\xa0", " ") == "running; batch batch_7 of 2 calls, sent 0 minutes ago"


def test_with_little_money_fewer_calls_are_sent_and_then_the_experiment_stops(provider: Provider) -> None:
    worst = load_prices().in_batches()
    experiment = made(limit=0.0001)
    play(experiment)
    assert experiment.stopped_because.startswith("the money is spent: ") and not provider.asked
    assert worst and not ModelBatch.objects.exists()
    experiment_start(experiment=experiment, allowed=0.02, on_workers=False)
    play(experiment)
    spent = sum(row.spent or 0 for row in Spending.objects.all())
    assert not Spending.objects.filter(spent=None).exists() and spent < Decimal("0.0201")


def test_while_the_provider_fails_the_experiment_waits_and_then_stops(provider: Provider) -> None:
    waits: list[float] = []
    provider.faults = [OverloadedError("529").unbilled() for _ in range(99)]
    experiment = play(made(), waits)
    assert "gave no answer for 6" in experiment.stopped_because
    assert sum(waits) >= 600 and not provider.asked
    assert not Spending.objects.filter(spent=None).exists(), "what was not sent is paid back"
    provider.faults = [ServerFailedError("500").unbilled(), RateLimitedError("429").unbilled()]
    forget_pauses()
    experiment_start(experiment=experiment, allowed=1.0, on_workers=False)
    assert play(experiment).stopped_because == ""


def test_a_refused_batch_stops_the_experiment(provider: Provider) -> None:
    provider.script = [RejectedError("400: no such model").unbilled()]
    experiment = play(made())
    assert experiment.stopped_because == ("model: every call of a batch was refused: 400: no such model")
    assert not rows_of(experiment) and sum(row.spent or 0 for row in Spending.objects.all()) == 0


def test_an_outage_of_the_database_stops_nothing(monkeypatch: pytest.MonkeyPatch, provider: Provider) -> None:
    failed, work = set[str](), db_retry.retry_while_unreachable

    def once_away(act: Callable[[], Any], what: str) -> Any:
        def tried() -> Any:
            if what not in failed:
                failed.add(what)
                raise OperationalError("server closed the connection unexpectedly")
            return act()

        return work(tried, what)

    for module in (batch_desk, batch_lease, batch_money, batch_rounds):
        monkeypatch.setattr(module, "retry_while_unreachable", once_away)
    monkeypatch.setattr(db_retry, "database_problem", lambda error: "away")
    monkeypatch.setattr(db_retry, "close_failed_connection", lambda trouble: None)
    monkeypatch.setattr(db_retry, "RETRY_WAITS", (0.0,))
    assert play(made()).stopped_because == "" and provider.sizes == [3] * STEPS
    assert {"reading an experiment", "reserving money for a batch", "storing a batch's results"} <= failed


def test_calls_that_are_refused_after_others_were_answered_stop_nothing(provider: Provider) -> None:
    provider.script = [*[NOOP] * 3, *[RejectedError("400: no").unbilled()] * 3, NOOP]
    experiment = play(made())
    assert experiment.stopped_because == "" and provider.sizes == [3] * STEPS
    assert [row.fallbacks for row in rows_of(experiment).values()] == [1] * 3


@pytest.mark.parametrize(
    "model, words", [("stand-in", "stand-in takes no calls in batches"), (None, "nobody asks a model here")]
)
def test_without_a_paid_model_there_are_no_batches(model: str | None, words: str) -> None:
    none = dict.fromkeys(("preset", "no_feedback", "no_hints", "demo", "set", "alphas"))
    given = {"levels": "3", "agents": "2", "episodes": "1", "seed": "1", "model": model, "batch": True}
    with pytest.raises(SetupError, match=words):
        read_setup({**none, **given, "co_player": None})


def test_the_forecast_has_half_the_price_and_reads_nothing_from_the_cache(
    monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    asked = Request("", (Message("system", "x" * 17500, fixed=True), Message("user", "x" * 350)))
    trial = TrialCalls((Call("stand-in", asked),), 1, STEPS, ForecastTrial({}))
    monkeypatch.setattr(experiment_forecast, "sample_job_calls", lambda *_: [trial])
    setup = ExperimentSetup.from_json(made().setup)
    ahead = experiment_forecast.forecast_cost(setup, episode_jobs(setup), load_prices())
    price = load_prices().price("anthropic", MODEL.partition(":")[2])
    each = (5000 * price.cache_write + 100 * price.input) / 2e6
    assert ahead.calls == 3 * STEPS and ahead.expected == pytest.approx(3 * STEPS * each)
    usual = experiment_forecast.forecast_cost(replace(setup, batch=False), episode_jobs(setup), load_prices())
    assert ahead.worst == pytest.approx((usual.worst or 0) / 2)


def test_the_command_plays_in_batches_and_says_so_in_its_forecast(
    monkeypatch: pytest.MonkeyPatch, provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--co-player", "dispatcher", "--model", MODEL, "--levels", "3", "--agents", "2"]
    line += ["--alphas", "2.0", "--episodes", "1", "--local", "--batch", "--poll", "0"]
    line += [part for each in SETTINGS for part in ("--set", each)]
    provider.looks = 0
    monkeypatch.setattr(experiment, "forecast_work", lambda *_: "little work")
    monkeypatch.setattr(experiment.Command, "_report", lambda *_: None)
    call_command("experiment", *line, "--yes", out=tmp_path)
    assert len(provider.batches) == STEPS
    assert "in batches; longest answers" in capsys.readouterr().out
