"""Paid experiments: nothing is paid twice, a budget is kept to, and all can be played again for nothing."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from kitchen.experiments import database_logs, experiment_folder, experiment_services
from kitchen.experiments.database_logs import verify_logs
from kitchen.experiments.episode_rows import read_rows_csv
from kitchen.experiments.experiment_setup import ExperimentSetup, episode_jobs
from kitchen.experiments.log_files import LogFolder, PlayedLog
from kitchen.experiments.models import Experiment, ExperimentEpisode, ExperimentLog
from kitchen.experiments.setup_checks import check_setup
from kitchen.infra import db_retry
from kitchen.infra.append_only import AppendOnlyError, erasure_allowed
from kitchen.money.budget_ledger import spent_or_reserved
from tests.kitchen.experiments.paid_models import MODEL, PAID, PaidModel, paid
from tests.kitchen.experiments.test_command import inline, run

__all__ = ["inline", "paid"]

pytestmark = pytest.mark.django_db

HERE = ["--alphas", "1.0", *PAID, "--yes", "--local"]
THERE = ["--alphas", "1.0", *PAID, "--yes", "--poll", "0.01"]
CALL = 900 * 2e-6 + 30 * 10e-6
"""US dollars that a call of `PaidModel` costs by the price list."""
STEPS = 60


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables and figure take their time, and are tested elsewhere."""
    monkeypatch.setattr(experiment_folder, "RESULT_MAKERS", {})


def replay_output(folder: Path) -> str:
    """What `experiment_replay` says."""
    output = io.StringIO()
    call_command("experiment_replay", str(folder), stdout=output)
    return output.getvalue()


def stops(folder: Path, *arguments: str) -> None:
    """The command stops since the money is spent."""
    with pytest.raises(CommandError, match="the money is spent") as caught:
        run(folder, *arguments)
    assert caught.value.returncode == 1


def test_a_budget_limits_the_run_and_a_larger_one_continues_it(
    tmp_path: Path, paid: PaidModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops(tmp_path, *HERE, "--budget", "0.1")
    asked = len(paid.asked)
    assert 0.05 < asked * CALL < 0.1
    stops(tmp_path, *HERE, "--budget", "0.1")
    assert len(paid.asked) == asked
    run(tmp_path, *HERE, "--budget", "2")
    assert len(paid.asked) == STEPS
    (row,) = read_rows_csv((tmp_path / "episodes.csv").read_bytes())
    assert row.cost == pytest.approx(STEPS * CALL)
    decisions = list(csv.DictReader((tmp_path / "decisions.csv").read_text().splitlines()))
    assert sum(float(each["cost"]) for each in decisions) == pytest.approx(row.cost)
    assert [each["model_error"] for each in decisions if each["taken"] == "0"] == ["budget"] * 2
    assert {each["cache_miss"] for each in decisions if each["taken"] == "1"} == {"too_short"}
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert (
        "60 steps, from 60 stored calls, at no cost: the same prompts, commands and states"
        in replay_output(tmp_path)
    )
    assert len(paid.asked) == STEPS


def test_calls_before_a_kill_are_not_paid_twice(tmp_path: Path, paid: PaidModel) -> None:
    """Killed while a piece of the log is written, too."""
    ask, deaths = PaidModel.ask, list[int]()

    async def dies(model: PaidModel, request: object) -> object:
        if len(model.asked) == 10 and not deaths:
            deaths.append(1)
            raise SystemExit(137)
        return await ask(model, request)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PaidModel, "ask", dies)
        with pytest.raises(SystemExit):
            run(tmp_path, *HERE)
        (file,) = (tmp_path / "log").iterdir()
        with file.open("ab") as torn:
            torn.write(file.read_bytes()[:50])
        run(tmp_path, *HERE)
    assert len(paid.asked) == STEPS
    assert "the same prompts" in replay_output(tmp_path)


def test_a_folder_that_the_database_does_not_know_is_imported(tmp_path: Path, paid: PaidModel) -> None:
    """As after the database was replaced, or from a version that played `--local` without one."""
    stops(tmp_path, *HERE, "--budget", "0.1")
    run(tmp_path / "free", "--local", "--alphas", "1.0")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.gz")}
    row = (tmp_path / "free" / "episodes.csv").read_bytes()
    asked = len(paid.asked)
    with erasure_allowed():
        Experiment.objects.all().delete()
    run(tmp_path / "free", "--local", "--alphas", "1.0")
    stops(tmp_path, *HERE, "--budget", "0.1")
    assert (tmp_path / "free" / "episodes.csv").read_bytes() == row
    assert all(path.read_bytes().startswith(data) for path, data in before.items())
    assert len(paid.asked) == asked
    run(tmp_path, *HERE, "--budget", "2")
    assert len(paid.asked) == STEPS
    experiment = Experiment.objects.get(name=str(tmp_path))
    assert database_logs.experiment_cost(experiment) == pytest.approx(STEPS * CALL, abs=1e-5)


def test_a_log_file_with_other_content_is_renamed_when_the_logs_are_written(tmp_path: Path) -> None:
    run(tmp_path, "--local", "--alphas", "1.0")
    (file,) = (tmp_path / "log").iterdir()
    file.write_bytes(b"no gzip")
    run(tmp_path, "--local", "--alphas", "1.0")
    assert sorted(each.name for each in file.parent.iterdir()) == [
        "level_0-2-1-1.before1.jsonl.gz",
        "level_0-2-1-1.jsonl.gz",
    ]
    assert "1 episode, 60 steps" in replay_output(tmp_path)


def test_a_replay_reports_changed_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "--local")
    logs = sorted((tmp_path / "log").iterdir())
    logs[0].unlink()
    logs[1].write_bytes(b"no gzip")
    with pytest.raises(CommandError, match="2 episodes not as then") as caught:
        call_command("experiment_replay", str(tmp_path))
    assert caught.value.returncode == 1
    output = capsys.readouterr().out
    assert "there is no log of it" in output and "its log is damaged" in output


def test_a_folder_without_an_experiment_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"is no folder of `experiment --out`") as caught:
        call_command("experiment_replay", str(tmp_path))
    assert caught.value.returncode == 2


def test_a_budget_needs_a_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    own = ["--co-player", "dispatcher", "--model", "openai:mine", "--local", "--yes", "--budget", "1"]
    with pytest.raises(CommandError, match=r"--budget: 120 calls .* is not known") as caught:
        run(tmp_path, *own)
    assert caught.value.returncode == 2


def test_the_forecast_names_the_rest_of_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    with pytest.raises(CommandError, match=r"of 0\.0200 USD 0\.0200 USD are left, less than is expected"):
        run(tmp_path, "--alphas", "1.0", *PAID, "--local", "--budget", "0.02")


@pytest.mark.servers
def test_workers_keep_to_a_budget_and_go_on(tmp_path: Path, inline: None, paid: PaidModel) -> None:
    stops(tmp_path, *THERE, "--budget", "0.1")
    asked = len(paid.asked)
    assert ExperimentLog.objects.count() == asked + 1  # each call at once, and the one that was not paid
    run(tmp_path, *THERE, "--budget", "2")
    assert len(paid.asked) == STEPS
    experiment = Experiment.objects.get()
    assert experiment.budget
    assert float(spent_or_reserved(experiment.budget.pk)) == pytest.approx(STEPS * CALL)
    assert "from 60 stored calls" in replay_output(tmp_path)


def test_local_costs_count_on_workers(tmp_path: Path, inline: None, paid: PaidModel) -> None:
    stops(tmp_path, *HERE, "--budget", "0.1")
    asked = len(paid.asked)
    stops(tmp_path, *THERE, "--budget", "0.1")
    assert len(paid.asked) == asked
    run(tmp_path, *THERE, "--budget", "2")
    assert len(paid.asked) == STEPS
    assert database_logs.experiment_cost(Experiment.objects.get()) == pytest.approx(STEPS * CALL, abs=1e-5)
    stops(tmp_path / "other", *THERE, "--budget", "0")


def test_a_run_continues_locally_and_on_workers_again(tmp_path: Path, inline: None, paid: PaidModel) -> None:
    """Workers, then here, then workers: nothing is asked twice, and nothing of it is spent twice."""
    stops(tmp_path, *THERE, "--budget", "0.1")
    first = len(paid.asked)
    stops(tmp_path, *HERE, "--budget", "0.12")
    assert len(paid.asked) > first
    run(tmp_path, *THERE, "--budget", "2")
    assert len(paid.asked) == STEPS
    experiment = Experiment.objects.get()
    assert database_logs.experiment_cost(experiment) == pytest.approx(STEPS * CALL, abs=1e-5)
    assert "from 60 stored calls" in replay_output(tmp_path)


def test_logs_of_an_imported_folder_that_cannot_be_continued_were_paid_too(
    tmp_path: Path, paid: PaidModel
) -> None:
    stops(tmp_path, *HERE, "--budget", "0.05")
    (file,) = (tmp_path / "log").iterdir()
    file.rename(file.with_name(file.name.replace(".jsonl", ".before1.jsonl")))
    with erasure_allowed():
        Experiment.objects.get().delete()
    run(tmp_path, *HERE, "--budget", "2")
    assert len(paid.asked) > STEPS
    cost = database_logs.experiment_cost(Experiment.objects.get())
    assert cost == pytest.approx(len(paid.asked) * CALL, abs=1e-5)


def experiment_of(*alphas: float) -> Experiment:
    """One that costs nothing."""
    setup = ExperimentSetup(coplayer="random", levels=("level_0",), agents=(2,), alphas=alphas, episodes=1)
    made = experiment_services.experiment_create(setup=check_setup(setup))
    Experiment.objects.update(running=True)
    return made


def taken(experiment: Experiment) -> ExperimentEpisode:
    """An episode that a worker has taken."""
    episode = experiment_services.episode_take(experiment_id=experiment.pk)
    assert episode is not None
    return episode


@pytest.mark.servers
def test_a_worker_that_was_thought_dead_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = taken(experiment_of(1.0))
    slow = database_logs.log_sink(episode)
    assert experiment_services.episode_play(episode=episode)
    (piece,) = ExperimentLog.objects.all()
    slow(bytes(piece.data))  # the very same: stored already, and the answer was lost
    slow = database_logs.log_sink(episode)
    database_logs.log_sink(episode)(b"what another kept")
    with pytest.raises(database_logs.PlayedElsewhereError):
        slow(b"another piece")
    monkeypatch.setattr(experiment_services, "log_sink", lambda *_, **__: slow)
    monkeypatch.setattr(experiment_services, "log_to_resume", lambda *_: None)
    assert not experiment_services.episode_play(episode=episode)
    assert ExperimentLog.objects.count() == 2
    assert not Experiment.objects.get().stopped_because


def test_a_worker_waits_for_an_unreachable_database(monkeypatch: pytest.MonkeyPatch) -> None:
    away = [OperationalError("server closed the connection unexpectedly")] * 2

    def begun(episode: ExperimentEpisode) -> PlayedLog | None:
        if away:
            raise away.pop()
        return database_logs.log_to_resume(episode)

    episode = taken(experiment_of(1.0))
    monkeypatch.setattr(experiment_services, "log_to_resume", begun)
    monkeypatch.setattr(db_retry, "RETRY_WAITS", (0.0, 0.0, 0.0))
    assert experiment_services.episode_play(episode=episode)
    assert not away


def test_a_log_that_cannot_be_continued_stays_beside_the_new_run() -> None:
    experiment = experiment_of(1.0)
    episode = taken(experiment)
    database_logs.log_sink(episode)(b"no gzip")
    assert experiment_services.episode_play(episode=episode)
    assert set(ExperimentLog.objects.values_list("run", "number")) == {(1, 1), (2, 1)}
    log = database_logs.log_to_resume(episode)
    assert log and log.hash == experiment_services.rows_of(experiment)[log.head.key].log


@pytest.mark.servers
def test_pieces_are_only_added_and_go_with_their_experiment() -> None:
    experiment = experiment_of(1.0)
    assert experiment_services.episode_play(episode=taken(experiment))
    with pytest.raises(AppendOnlyError):
        ExperimentLog.objects.update(data=b"")
    experiment_services.experiment_clear(experiment)
    assert not ExperimentLog.objects.exists()


def test_a_log_changed_in_the_database_is_found() -> None:
    experiment = experiment_of(1.0, 2.0)
    for _ in range(2):
        assert experiment_services.episode_play(episode=taken(experiment))
    assert not list(verify_logs())
    changed = ExperimentEpisode.objects.order_by("pk")[0]
    with erasure_allowed():
        ExperimentLog.objects.filter(episode=changed).delete()
    (output,) = verify_logs()
    assert output == f"experiment {experiment.pk}, {changed}: its log is not what was written"
    with pytest.raises(CommandError):
        call_command("verify_log")


def test_a_damaged_log_is_not_imported() -> None:
    experiment = experiment_of(1.0)
    database_logs.logs_import(experiment=experiment, data=lambda key: b"no gzip")
    assert not ExperimentLog.objects.exists()


def test_names_of_models_make_names_of_files(tmp_path: Path) -> None:
    setup = ExperimentSetup(coplayer="dispatcher", preset="table6", models=("stand-in", MODEL, "openai:a/b"))
    names = {LogFolder(tmp_path)._path(job.key).name for job in episode_jobs(setup)}
    assert len(names) == setup.total
    assert not any("/" in name or ":" in name for name in names)
