"""`manage.py experiment` in the process and on workers, `manage.py optimum`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from kitchen import experiment_tasks, experimenting
from kitchen.experiments import local, optimum
from kitchen.experiments.optimum_model import Case
from kitchen.experiments.play import play
from kitchen.experiments.rows import from_csv
from kitchen.experiments.setup import Setup, checked
from kitchen.models import Experiment, ExperimentEpisode
from tests.servers import Stack

FILES = {
    "episodes.csv",
    "table.csv",
    "table.md",
    "table.tex",
    "figure4.svg",
    "figure4.pdf",
    "experiment.json",
}
SMALL = ["--levels", "0", "--agents", "2", "--alphas", "1.0,2.0", "--episodes", "1", "--co-player", "random"]


def run(out: Path, *arguments: str) -> str:
    """What the command prints."""
    said = io.StringIO()
    call_command("experiment", *SMALL, "--out", str(out), *arguments, stdout=said, stderr=io.StringIO())
    return said.getvalue()


def test_everything_is_written_and_the_last_line_said(tmp_path: Path) -> None:
    said = run(tmp_path, "--local").splitlines()
    assert {each.name for each in tmp_path.iterdir()} == FILES
    assert said[-1].startswith("mean CoS 2 agents 0.")
    assert said[-1].endswith("; above the paper's GPT-4 in 0 of 1 cells")
    assert len(json.loads((tmp_path / "experiment.json").read_text())["seeds"]) == 2


def test_a_killed_run_goes_on_and_plays_nothing_twice(tmp_path: Path, monkeypatch: Any) -> None:
    played: list[float] = []
    dies = True

    def play_or_die(job: Any, *args: Any, **more: Any) -> Any:
        if dies and played == [1.0]:
            raise SystemExit(137)
        played.append(job.alpha)
        return play(job, *args, **more)

    monkeypatch.setattr(local, "play", play_or_die)
    with pytest.raises(SystemExit):
        run(tmp_path, "--local")
    before = from_csv((tmp_path / "episodes.csv").read_bytes())
    assert len(before) == 1
    dies = False
    run(tmp_path, "--local")
    assert played == [1.0, 2.0]
    assert from_csv((tmp_path / "episodes.csv").read_bytes())[0] == before[0]


@pytest.mark.parametrize(
    "wrong",
    [
        ["--levels", "77"],
        ["--co-player", "nobody"],
        ["--episodes", "many"],
        ["--at-once", "0"],
        ["--no-feedback"],
        ["--out", "/proc/nowhere"],
    ],
)
def test_bad_arguments_are_one_line_and_exit_2(tmp_path: Path, wrong: list[str]) -> None:
    with pytest.raises(CommandError) as caught:
        run(tmp_path, "--local", *wrong)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)


def test_other_arguments_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    run(tmp_path, "--local")
    with pytest.raises(CommandError, match="another experiment"):
        run(tmp_path, "--local", "--seed", "2")


def test_money_is_forecast_and_asked_for(tmp_path: Path) -> None:
    paid = ["--co-player", "dispatcher", "--model", "anthropic:claude-sonnet-5-5", "--local"]
    with pytest.raises(CommandError, match=r"120 calls of anthropic/claude-sonnet-5-5: about \d") as caught:
        run(tmp_path, *paid)
    assert caught.value.returncode == 2
    assert not (tmp_path / "episodes.csv").exists()


def test_the_stand_in_is_free_and_its_decisions_are_named(tmp_path: Path) -> None:
    run(tmp_path, "--co-player", "dispatcher", "--model", "stand-in", "--local", "--alphas", "2.0")
    row = from_csv((tmp_path / "episodes.csv").read_bytes())[0]
    assert (row.played_by, row.calls, row.cost, row.model) == ("stand-in x60", 60, 0, "stand-in-1")


def make(**more: Any) -> Experiment:
    """An experiment of two short episodes."""
    setup = Setup(coplayer="random", levels=("level_0",), agents=(2,), alphas=(1.0, 2.0), episodes=1)
    return experimenting.experiment_create(setup=checked(setup), **more)


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks run where they are asked for."""

    def at_once(pk: int, number: int = 1) -> bool:
        for _ in range(number):
            experiment_tasks.experiment_lane(pk)
        return True

    monkeypatch.setattr(experiment_tasks, "ask_lanes", at_once)


@pytest.mark.django_db
def test_workers_play_it_and_a_second_command_finds_it_played(tmp_path: Path, inline: None) -> None:
    first = run(tmp_path)
    assert ExperimentEpisode.objects.exclude(row__isnull=True).count() == 2
    assert not Experiment.objects.get().running
    before = (tmp_path / "episodes.csv").read_bytes()
    assert run(tmp_path).splitlines()[-1] == first.splitlines()[-1]
    assert (tmp_path / "episodes.csv").read_bytes() == before
    assert Experiment.objects.count() == 1


@pytest.mark.django_db
def test_what_was_played_here_is_not_played_again_on_workers(tmp_path: Path, inline: None) -> None:
    run(tmp_path, "--local")
    before = (tmp_path / "episodes.csv").read_bytes()
    run(tmp_path)
    assert (tmp_path / "episodes.csv").read_bytes() == before


@pytest.mark.django_db
def test_from_workers_to_here_and_back(tmp_path: Path, inline: None) -> None:
    run(tmp_path)
    row = ExperimentEpisode.objects.order_by("id").first()
    assert row is not None and row.row is not None
    before = (tmp_path / "episodes.csv").read_bytes()
    ExperimentEpisode.objects.filter(pk=row.pk).update(row=None)
    run(tmp_path)
    assert (tmp_path / "episodes.csv").read_bytes() == before


@pytest.mark.django_db
def test_a_taken_episode_is_not_taken_again_and_its_row_is_written_once() -> None:
    experiment = make(at_once=2)
    Experiment.objects.update(running=True)
    first, second, third = (experimenting.episode_take(experiment_id=experiment.pk) for _ in range(3))
    assert first and second and first.pk != second.pk and third is None
    assert experimenting.episode_play(episode=first)
    assert not experimenting.episode_play(episode=first)
    assert len(experimenting.rows_of(experiment)) == 1


@pytest.mark.django_db
def test_the_episode_of_a_dead_worker_is_taken_up_again() -> None:
    experiment = make(at_once=1)
    Experiment.objects.update(running=True)
    taken = experimenting.episode_take(experiment_id=experiment.pk)
    assert taken and experimenting.episode_take(experiment_id=experiment.pk) is None
    ExperimentEpisode.objects.update(claimed_until="2020-01-01T00:00:00Z")
    again = experimenting.episode_take(experiment_id=experiment.pk)
    assert again and again.pk == taken.pk


@pytest.mark.django_db
def test_what_fails_stops_the_experiment_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = make()
    Experiment.objects.update(running=True)
    taken = experimenting.episode_take(experiment_id=experiment.pk)
    monkeypatch.setattr(experimenting, "play", lambda *a, **m: 1 / 0)
    assert taken and not experimenting.episode_play(episode=taken)
    experiment.refresh_from_db()
    assert not experiment.running
    assert "ZeroDivisionError" in experiment.stopped_because


def test_a_real_worker_plays_it(live_stack: Stack, tmp_path: Path) -> None:
    said = live_stack.manage("experiment", *SMALL, "--out", str(tmp_path), "--poll", "0.2")
    assert said.splitlines()[-1].startswith("mean CoS 2 agents 0.")
    assert {each.name for each in tmp_path.iterdir()} == FILES


def test_without_or_tools_the_optimum_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(optimum, "import_module", missing)
    with pytest.raises(CommandError, match=r"requirements-optimum\.txt") as caught:
        call_command("optimum")
    assert caught.value.returncode == 2


@pytest.mark.parametrize("agents", [1, 2])
def test_the_optimum_holds_in_the_engine_and_is_within_the_bound(agents: int) -> None:
    pytest.importorskip("ortools")
    case = Case("level_0", 1.0, agents, 20, 1)
    found = optimum.solve(case, 60)
    assert found.is_proven
    assert optimum.replay(case, found.turns) == found.completed == agents
