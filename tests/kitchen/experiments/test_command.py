"""`manage.py experiment` in the process and on workers, `manage.py optimum`."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from kitchen.agents import call_forecast
from kitchen.agents.random_agent import RandomAgent
from kitchen.contract.agent import Decision, Situation
from kitchen.contract.benchmark import OptimumCase
from kitchen.experiments import experiment_services, tasks
from kitchen.experiments.episode_rows import read_rows_csv
from kitchen.experiments.experiment_forecast import forecast_cost
from kitchen.experiments.experiment_setup import ExperimentSetup, episode_jobs
from kitchen.experiments.models import Experiment, ExperimentEpisode
from kitchen.experiments.play_episodes import new_world, play_episode
from kitchen.experiments.setup_checks import check_setup
from kitchen.infra import db_retry
from kitchen.llm.call_costs import load_prices
from kitchen.management.commands import experiment
from kitchen.management.commands import experiment as ready
from kitchen.worlds.cuisine.bench import exact_optimum
from tests.servers import Stack

FILES = {
    "episodes.csv",
    "table.csv",
    "table.md",
    "table.tex",
    "figure4.svg",
    "figure4.pdf",
    "figure4.png",
    "experiment.json",
    "steps.csv",
    "decisions.csv",
    "predictions.csv",
    "prompts.csv",
    "log",
}
pytestmark = pytest.mark.django_db

SMALL = ["--levels", "0", "--agents", "2", "--alphas", "1.0,2.0", "--episodes", "1", "--co-player", "random"]


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure's files are written with nothing in them: for tests of the other files."""
    monkeypatch.setattr("kitchen.experiments.experiment_folder.draw_chart", lambda *_: b"")


def run(out: Path, *arguments: str) -> str:
    """What the command prints."""
    output = io.StringIO()
    call_command("experiment", *SMALL, "--out", str(out), *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue()


def test_every_file_is_written_and_the_last_line_has_the_score(tmp_path: Path) -> None:
    output = run(tmp_path, "--local").splitlines()
    assert {each.name for each in tmp_path.iterdir()} == FILES
    assert output[-1].startswith("mean CoS 2 agents 0.")
    assert output[-1].endswith("; above the paper's GPT-4 in 0 of 1 cells")
    assert len(json.loads((tmp_path / "experiment.json").read_text())["seeds"]) == 2


@pytest.mark.usefixtures("no_figures")
def test_a_killed_run_resumes_and_plays_nothing_twice(tmp_path: Path, monkeypatch: Any) -> None:
    played: list[float] = []
    dies = True

    def play_or_die(job: Any, *args: Any, **more: Any) -> Any:
        if dies and played == [1.0]:
            raise SystemExit(137)
        played.append(job.alpha)
        return play_episode(job, *args, **more)

    monkeypatch.setattr(experiment_services, "play_episode", play_or_die)
    with pytest.raises(SystemExit):
        run(tmp_path, "--local")
    before = read_rows_csv((tmp_path / "episodes.csv").read_bytes())
    assert len(before) == 1
    dies = False
    run(tmp_path, "--local")
    assert played == [1.0, 2.0]
    assert read_rows_csv((tmp_path / "episodes.csv").read_bytes())[0] == before[0]


@pytest.mark.parametrize(
    "wrong",
    [
        ["--levels", "77"],
        ["--co-player", "nobody"],
        ["--episodes", "many"],
        ["--at-once", "0"],
        ["--no-feedback"],
        ["--budget", "much"],
        ["--budget", "-1"],
        ["--budget", "nan"],
        ["--out", "/proc/nowhere"],
    ],
)
def test_bad_arguments_are_one_line_and_exit_2(tmp_path: Path, wrong: list[str]) -> None:
    with pytest.raises(CommandError) as caught:
        run(tmp_path, "--local", *wrong)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)


def test_a_provider_without_a_key_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    out = tmp_path / "out"
    with pytest.raises(CommandError, match="ANTHROPIC_API_KEY") as caught:
        run(out, "--local", "--co-player", "dispatcher", "--model", "anthropic:claude-sonnet-5-5", "--yes")
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    assert not out.exists()


@pytest.mark.usefixtures("no_figures")
def test_other_arguments_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    run(tmp_path, "--local")
    with pytest.raises(CommandError, match="another experiment"):
        run(tmp_path, "--local", "--seed", "2")


def test_costs_are_forecast_and_need_confirmation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    paid = ["--co-player", "dispatcher", "--model", "anthropic:claude-sonnet-5-5", "--local"]
    with pytest.raises(CommandError, match=r"120 calls of anthropic/claude-sonnet-5-5: about \d") as caught:
        run(tmp_path, *paid)
    assert caught.value.returncode == 2
    assert not (tmp_path / "episodes.csv").exists()


def test_at_worst_means_in_an_experiment_what_it_means_in_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call and try that there may be, each as dear as it can be: the second tries of a step too."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    given = {"levels": ("level_0",), "agents": (2,), "alphas": (1.0,), "episodes": 2}
    claude, prices = ("anthropic", "claude-sonnet-5-5"), load_prices()
    for repair in (0, 1):
        settings = {"model": ":".join(claude), "repair": repair, "demonstration": "none"}
        setup = check_setup(ExperimentSetup(coplayer="dispatcher", settings=settings, **given))  # type: ignore[arg-type]
        job = episode_jobs(setup)[0]
        found = call_forecast.sample_calls(new_world(job), "dispatcher", settings, (0, 1))
        ahead = forecast_cost(setup, episode_jobs(setup), prices)
        assert ahead.calls == 120
        assert ahead.worst == pytest.approx(2 * call_forecast.worst_cost(found, prices, *claude))
        assert ahead.expected and ahead.worst
        assert ahead.worst > call_forecast.CALL_TRIES * (1 + repair) * ahead.expected


@pytest.mark.usefixtures("no_figures")
def test_the_stand_in_is_free_and_its_decisions_are_named(tmp_path: Path) -> None:
    run(tmp_path, "--co-player", "dispatcher", "--model", "stand-in", "--local", "--alphas", "2.0")
    row = read_rows_csv((tmp_path / "episodes.csv").read_bytes())[0]
    assert (row.played_by, row.calls, row.cost, row.model) == ("stand-in x60", 60, 0, "stand-in-1")


def test_the_line_before_the_last_names_the_decision_makers(tmp_path: Path, no_waits: None) -> None:
    stand_in = ["--co-player", "dispatcher", "--model", "stand-in", "--alphas", "2.0", "--local"]
    rates = ["--set", "stand_in_failures=0.9", "--set", "stand_in_nonsense=0.9"]
    output = run(tmp_path, *stand_in, *rates).splitlines()
    assert output[-2].startswith("Played by (decisions): the planner ")
    assert sum(line.startswith("Played by") for line in output) == 1
    assert "the stand-in (no language model: its commands come from the planner)" in output[-2]
    assert "fallbacks: " in output[-2]
    assert "of 60 decisions were made by another than the co-player" in output[-2]
    for name in ("table.md", "table.tex", "figure4.svg"):
        text = " ".join((tmp_path / name).read_text().split())
        assert "the stand-in (no language" in text
        assert "fallbacks: " in text
        assert "not at all; " in text and "of the decisions were not read whole" in text
        assert ("not read whole" in text and "invalid commands" in text) or name == "figure4.svg"
    cos = (tmp_path / "table.csv").read_text().splitlines()[-1]
    assert "stand-in x" in cos


@pytest.mark.usefixtures("no_figures")
def test_a_failed_episode_is_reported_not_counted_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(self: RandomAgent, situation: Situation) -> Decision:
        if situation.step == 3:
            raise ZeroDivisionError("secret")
        return await whole(self, situation)

    whole = RandomAgent.decide
    monkeypatch.setattr(RandomAgent, "decide", breaks)
    output = io.StringIO()
    command = ["experiment", *SMALL, "--out", str(tmp_path), "--local"]
    with pytest.raises(CommandError, match=r"2 of 2 episodes failed .*ZeroDivisionError") as caught:
        call_command(*command, stdout=output, stderr=io.StringIO())
    assert caught.value.returncode == 1
    rows = read_rows_csv((tmp_path / "episodes.csv").read_bytes())
    assert [row.outcome for row in rows] == ["failed", "failed"]
    assert "ZeroDivisionError in test_command.py" in rows[0].reason
    assert "secret" not in (tmp_path / "episodes.csv").read_text()
    assert output.getvalue().splitlines()[-1].startswith("mean CoS 2 agents n/a")
    monkeypatch.setattr(RandomAgent, "decide", whole)
    assert run(tmp_path, "--local").splitlines()[-1].startswith("mean CoS 2 agents 0.")
    assert [row.outcome for row in read_rows_csv((tmp_path / "episodes.csv").read_bytes())] == ["played"] * 2


def make(**more: Any) -> Experiment:
    """An experiment of two short episodes."""
    setup = ExperimentSetup(
        coplayer="random", levels=("level_0",), agents=(2,), alphas=(1.0, 2.0), episodes=1
    )
    return experiment_services.experiment_create(setup=check_setup(setup), **more)


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks run where they are asked for."""

    def at_once(pk: int, number: int = 1) -> bool:
        for _ in range(number):
            tasks.experiment_lane(pk)
        return True

    monkeypatch.setattr(tasks, "queue_episodes", at_once)
    monkeypatch.setattr(experiment_services, "queue_episodes", at_once)
    monkeypatch.setattr(experiment, "queue_episodes", at_once)
    monkeypatch.setattr(ready, "is_broker_reachable", lambda: True)


@pytest.mark.usefixtures("no_figures")
@pytest.mark.servers
def test_workers_play_it_and_a_second_command_finds_it_played(tmp_path: Path, inline: None) -> None:
    first = run(tmp_path)
    assert ExperimentEpisode.objects.exclude(row__isnull=True).count() == 2
    assert not Experiment.objects.get().running
    before = (tmp_path / "episodes.csv").read_bytes()
    assert run(tmp_path).splitlines()[-1] == first.splitlines()[-1]
    assert (tmp_path / "episodes.csv").read_bytes() == before
    assert Experiment.objects.count() == 1


@pytest.mark.usefixtures("no_figures")
def test_local_episodes_are_not_replayed_on_workers(tmp_path: Path, inline: None) -> None:
    run(tmp_path, "--local")
    before = (tmp_path / "episodes.csv").read_bytes()
    run(tmp_path)
    assert (tmp_path / "episodes.csv").read_bytes() == before


@pytest.mark.usefixtures("no_figures")
def test_from_workers_to_here_and_back(tmp_path: Path, inline: None) -> None:
    run(tmp_path)
    row = ExperimentEpisode.objects.order_by("id").first()
    assert row is not None and row.row is not None
    before = (tmp_path / "episodes.csv").read_bytes()
    ExperimentEpisode.objects.filter(pk=row.pk).update(row=None)
    run(tmp_path)
    assert (tmp_path / "episodes.csv").read_bytes() == before


@pytest.mark.servers
def test_an_episode_is_claimed_once_and_its_row_is_written_once() -> None:
    experiment = make(at_once=2)
    Experiment.objects.update(running=True)
    first, second, third = (experiment_services.episode_take(experiment_id=experiment.pk) for _ in range(3))
    assert first and second and first.pk != second.pk and third is None
    assert experiment_services.episode_play(episode=first)
    assert not experiment_services.episode_play(episode=first)
    assert len(experiment_services.rows_of(experiment)) == 1


def test_a_local_run_leaves_claimed_episodes_to_their_worker() -> None:
    experiment = make(at_once=2)
    Experiment.objects.update(running=True)
    taken = experiment_services.episode_take(experiment_id=experiment.pk)
    own = experiment_services.episode_for_process(experiment_id=experiment.pk)
    assert taken and own and taken.pk != own.pk
    assert own.claimed_until is None
    assert experiment_services.episode_play(episode=own)
    assert experiment_services.episode_for_process(experiment_id=experiment.pk) is None


@pytest.mark.servers
def test_the_episode_of_a_dead_worker_is_claimed_by_another() -> None:
    experiment = make(at_once=1)
    Experiment.objects.update(running=True)
    taken = experiment_services.episode_take(experiment_id=experiment.pk)
    assert taken and experiment_services.episode_take(experiment_id=experiment.pk) is None
    ExperimentEpisode.objects.update(claimed_until="2020-01-01T00:00:00Z")
    again = experiment_services.episode_take(experiment_id=experiment.pk)
    assert again and again.pk == taken.pk


@pytest.mark.usefixtures("no_figures")
def test_a_restart_replays_episodes_that_failed_on_workers(
    tmp_path: Path, inline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(self: RandomAgent, situation: Situation) -> Decision:
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(RandomAgent, "decide", breaks)
        with pytest.raises(CommandError, match="2 of 2 episodes failed"):
            run(tmp_path)
    assert run(tmp_path).splitlines()[-1].startswith("mean CoS 2 agents 0.")
    assert Experiment.objects.count() == 1


def test_a_worker_without_the_key_stops_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    given = {"levels": ("level_0",), "agents": (2,), "alphas": (1.0,), "episodes": 1}
    setup = ExperimentSetup(coplayer="dispatcher", settings={"model": "anthropic:claude-sonnet-5-5"}, **given)  # type: ignore[arg-type]
    experiment = experiment_services.experiment_create(setup=check_setup(setup))
    Experiment.objects.update(running=True)
    taken = experiment_services.episode_take(experiment_id=experiment.pk)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert taken and not experiment_services.episode_play(episode=taken)
    experiment.refresh_from_db()
    assert "ANTHROPIC_API_KEY" in experiment.stopped_because
    assert not experiment_services.rows_of(experiment)


def test_without_a_broker_it_ends_at_once_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "is_broker_reachable", lambda: False)
    with pytest.raises(CommandError, match="--local plays here") as caught:
        run(tmp_path)
    assert caught.value.returncode == 2
    assert not Experiment.objects.exists()


def test_a_hint_is_printed_when_no_worker_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(pk: int, number: int = 1) -> bool:
        asked.append(pk)
        if len(asked) > 2:
            raise KeyboardInterrupt
        return True

    asked: list[int] = []
    output = io.StringIO()
    monkeypatch.setattr(experiment, "PATIENCE", 0.05)
    monkeypatch.setattr(experiment, "FIRST_PATIENCE", 0.05)
    monkeypatch.setattr(experiment, "queue_episodes", nobody)
    monkeypatch.setattr(experiment_services, "queue_episodes", nobody)
    monkeypatch.setattr(ready, "is_broker_reachable", lambda: True)
    with pytest.raises(CommandError, match="the same command goes on"):
        call_command("experiment", *SMALL, "--out", str(tmp_path), "--poll", "0.01", stderr=output)
    assert "no worker answers: start `make run`, or use --local" in output.getvalue()


def test_a_database_that_lacks_a_migration_is_one_line(tmp_path: Path) -> None:
    MigrationRecorder.Migration.objects.filter(app="kitchen", name__contains="squashed").delete()
    with pytest.raises(CommandError, match=r"`make run` or `manage.py migrate`") as caught:
        run(tmp_path / "out")
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)


@pytest.mark.nightly  # the test above sees a database that lacks one migration, not all
def test_an_unprepared_database_is_one_line_and_local_prepares_it(tmp_path: Path) -> None:
    command = [sys.executable, "manage.py", "experiment", *SMALL, "--out", str(tmp_path / "out")]
    environment = {**os.environ, "BRIGADE_VAR": str(tmp_path), "DATABASE_URL": ""}
    more: dict[str, Any] = {"capture_output": True, "text": True, "check": False, "env": environment}
    refused = subprocess.run(command, **more)
    assert refused.returncode == 2
    lines = [line for line in refused.stderr.splitlines() if "episodes" not in line]
    assert len(lines) == 1
    assert "`make run` or `manage.py migrate`" in lines[0]
    played = subprocess.run([*command, "--local"], **more)
    assert played.stdout.splitlines()[-1].startswith("mean CoS 2 agents 0.")


def test_an_unforeseen_error_stops_the_experiment_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = make()
    Experiment.objects.update(running=True)
    taken = experiment_services.episode_take(experiment_id=experiment.pk)
    monkeypatch.setattr(experiment_services, "play_episode", lambda *a, **m: 1 / 0)
    assert taken and not experiment_services.episode_play(episode=taken)
    experiment.refresh_from_db()
    assert not experiment.running
    assert "ZeroDivisionError" in experiment.stopped_because


def test_the_message_of_an_unforeseen_error_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*args: Any, **more: Any) -> Any:
        raise ValueError("sk-secret")

    experiment = make()
    Experiment.objects.update(running=True)
    taken = experiment_services.episode_take(experiment_id=experiment.pk)
    monkeypatch.setattr(experiment_services, "play_episode", breaks)
    assert taken and not experiment_services.episode_play(episode=taken)
    experiment.refresh_from_db()
    assert experiment.stopped_because.startswith("ValueError in test_command.py, line ")
    assert "secret" not in experiment.stopped_because


@pytest.mark.django_db(transaction=True)
@pytest.mark.servers
def test_an_unreachable_database_costs_no_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Away at each renewal of the claim, and twice when the row is stored."""
    experiment = make()
    Experiment.objects.update(running=True)
    taken = experiment_services.episode_take(experiment_id=experiment.pk)
    renewals, failures = 0, 0

    def away(execute: Any, sql: str, *args: Any) -> Any:
        nonlocal renewals, failures
        if sql.startswith("UPDATE") and "kitchen_experimentepisode" in sql:
            if '"row" =' not in sql:
                renewals += 1
                raise OperationalError
            if (failures := failures + 1) <= 2:
                raise InterfaceError
        return execute(sql, *args)

    monkeypatch.setattr(experiment_services, "RENEW_SECONDS", -1.0)
    monkeypatch.setattr(db_retry, "RETRY_WAITS", (0.0, 0.0, 0.0))
    with connection.execute_wrapper(away):
        assert taken and experiment_services.episode_play(episode=taken)
    assert (renewals, failures) == (60, 3)
    experiment.refresh_from_db()
    assert experiment.running and not experiment.stopped_because
    assert [row.steps for row in experiment_services.rows_of(experiment).values()] == [60]


@pytest.mark.servers
def test_a_real_worker_plays_it(live_stack: Stack, tmp_path: Path) -> None:
    live_stack.start_experimenter()
    output = live_stack.manage("experiment", *SMALL, "--out", str(tmp_path), "--poll", "0.2")
    assert output.splitlines()[-1].startswith("mean CoS 2 agents 0.")
    assert {each.name for each in tmp_path.iterdir()} == FILES


def test_the_optimum_needs_or_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(exact_optimum, "import_module", missing)
    with pytest.raises(CommandError, match="make optimum") as caught:
        call_command("optimum")
    assert caught.value.returncode == 2


@pytest.mark.parametrize("agents", [1, 2])
def test_the_optimum_holds_in_the_engine_and_is_within_the_bound(agents: int) -> None:
    pytest.importorskip("ortools")
    case = OptimumCase("level_0", 1.0, agents, 20, 1)
    found = exact_optimum.solve_case(case, 60)
    assert found.is_proven
    assert exact_optimum.replay_plan(case, found.turns) == found.completed == agents
