"""Partners side by side: `experiment --world overcooked`."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, CommandParser, call_command
from django.test import Client

from kitchen.charts.chart_drawing import draw_chart
from kitchen.contract.agent import Decision
from kitchen.contract.bootstrap_intervals import mean_interval
from kitchen.contract.line_up import join_decisions
from kitchen.experiments import experiment_services, tasks
from kitchen.experiments.comparison_tables import (
    BOOTSTRAP_NOTE,
    Estimate,
    LineUpResult,
    comparison_text_tables,
    means_over_others,
)
from kitchen.experiments.database_logs import experiment_cost
from kitchen.experiments.episode_rows import read_rows_csv, write_rows_csv
from kitchen.experiments.experiment_folder import read_setup_file, write_rows
from kitchen.experiments.experiment_results import cell_results_of
from kitchen.experiments.experiment_setup import ExperimentSetup, episode_jobs
from kitchen.experiments.log_files import LogFolder
from kitchen.experiments.models import Experiment
from kitchen.experiments.play_episodes import failed_row
from kitchen.experiments.result_figures import result_chart
from kitchen.experiments.setup_arguments import read_setup
from kitchen.experiments.verify_replay import replay_log
from kitchen.management.commands import experiment
from kitchen.worlds.overcooked.bench.pairing_benchmark import PAIRING_BENCHMARK
from tests.kitchen.charts.svg_texts import check_texts, drawn_texts
from tests.kitchen.experiments.paid_models import MODEL, PaidModel, paid

__all__ = ["paid"]

WORLD = ["--world", "overcooked"]


def run(out: Path, *arguments: str) -> str:
    """What the command prints."""
    output = io.StringIO()
    call_command("experiment", *WORLD, *arguments, "--out", str(out), stdout=output, stderr=io.StringIO())
    return output.getvalue()


@pytest.fixture
def short(monkeypatch: Any) -> None:
    """Episodes of 45 ticks: long enough for one soup."""
    monkeypatch.setattr(type(PAIRING_BENCHMARK), "steps", 45)


@pytest.mark.django_db
def test_pairs_play_in_both_seats_and_replay(tmp_path: Path, short: None) -> None:
    asked = ["--layouts", "cramped_room", "--pairs", "proagent+stay", "--seats", "both", "--seeds", "1"]
    output = run(tmp_path, *asked, "--set", "model=stand-in", "--local")
    assert "Played by (decisions): the proagent's stand-in 90, the stay 90;" in output
    assert output.count("Played by") == 1
    rows = {row.variant: row for row in read_rows_csv((tmp_path / "episodes.csv").read_bytes())}
    assert {name: row.figure for name, row in rows.items()} == {"proagent+stay": 20, "stay+proagent": 0}
    assert rows["proagent+stay"].played_by == "proagent's stand-in x45, stay x45"
    assert rows["proagent+stay"].calls > 0
    assert "ProAgent, as printed  197.3" in output
    assert "stand-in-1" not in output
    setup = read_setup_file(tmp_path)
    for job in episode_jobs(setup):
        log = LogFolder(tmp_path).read(job.key)
        assert log is not None
        assert replay_log(log, rows[job.column.variant.name]).faults == ()
    figure = (tmp_path / "figure4.svg").read_text()
    assert figure.startswith("<?xml")
    assert ">proagent (stand-in)<" in figure and ">stay<" in figure
    assert "source" in (tmp_path / "table.csv").read_text().splitlines()[0]
    assert r"$\pm$" in (tmp_path / "table.tex").read_text()


def test_episodes_of_partners_are_without_columns_that_mean_nothing_there(tmp_path: Path) -> None:
    setup = read_setup({**GIVEN, "pairs": "stay", "layouts": "cramped_room"})
    rows = [failed_row(job, "why") for job in episode_jobs(setup)]
    write_rows(tmp_path, setup, rows)
    data = (tmp_path / "episodes.csv").read_bytes()
    head = data.decode().splitlines()[0].split(",")
    assert not {"alpha", "completed", "failed"} & {*head} and "figure" in head
    assert read_rows_csv(data) == [replace(row, alpha=1.0) for row in rows]
    assert read_rows_csv(write_rows_csv(rows)) == rows


GIVEN = {"world": "overcooked", "preset": None, "model": None, "levels": None, "episodes": "1", "seed": "1"}


def test_all_pairs_are_all_kinds_in_both_seats() -> None:
    setup = read_setup({**GIVEN, "pairs": "stay, random + stay", "seats": "both"})
    assert setup.pairs == ("stay+stay", "random+stay", "stay+random")
    assert setup.levels == PAIRING_BENCHMARK.usual_levels()
    assert ExperimentSetup.from_json(setup.to_json()) == setup
    every = read_setup({**GIVEN, "model": "stand-in"})
    assert len(every.pairs) == len(PAIRING_BENCHMARK.kinds()) ** 2


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--pairs", "greedy"), "name one"),
        (("--world", "beacon_less"), "beacon_less"),
        ((*WORLD, "--pairs", "planner+stay"), "planner does not play overcooked"),
        ((*WORLD, "--pairs", "stay+stay+stay"), "is not 2"),
        ((*WORLD, "--pairs", "nobody"), "pairs: 'nobody' is not one of"),
        ((*WORLD, "--pairs", "greedy+"), "empty place"),
        ((*WORLD, "--pairs", "+"), "empty place"),
        ((*WORLD, "--pairs", "stay", "--layouts", "nowhere"), "^--layouts: 'nowhere' is not one of"),
        ((*WORLD, "--pairs", "stay", "--levels", "3"), "^--levels: means nothing in overcooked"),
        ((*WORLD, "--layouts", "cramped_room", "--levels", "3"), "^--levels: means nothing in overcooked"),
        ((*WORLD, "--pairs", "stay", "--seeds", "0"), "^--seeds: 0 is not from 1"),
        ((*WORLD, "--pairs", "stay", "--episodes", "0"), "^--episodes: 0 is not from 1"),
        ((*WORLD, "--pairs", "stay", "--layouts", "coordination_ring,coordination_ring"), "each once"),
        ((*WORLD, "--pairs", "greedy+stay", "--layouts", "counter_circuit_tomato"), "three onions only"),
        ((*WORLD, "--pairs", "stay", "--agents", "2"), "--agents"),
        ((*WORLD, "--pairs", "stay", "--seats", "left"), "--seats"),
        ((*WORLD, "--pairs", "stay", "--set", "nonsense=1"), "nonsense"),
    ],
)
def test_invalid_pairs_are_refused(tmp_path: Path, arguments: tuple[str, ...], why: str) -> None:
    with pytest.raises(CommandError, match=why) as refused:
        call_command("experiment", *arguments, "--out", str(tmp_path), "--local")
    assert refused.value.returncode == 2


def test_the_help_names_the_worlds_of_partners_that_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "worlds_with_pairings", lambda: {"island": PAIRING_BENCHMARK})
    monkeypatch.setattr(experiment, "worlds_with_comparison", dict)
    parser = CommandParser()
    experiment.add_experiment_arguments(parser)
    found = " ".join(parser.format_help().split())
    assert "cuisine, island (default" in found and "overcooked" not in found
    assert f"in island of {', '.join(PAIRING_BENCHMARK.kinds())}" in found


@pytest.mark.parametrize("others", ["stay", "stay,greedy"])
def test_the_figure_names_both_seats_and_each_printed_bar_once(others: str) -> None:
    pairs = ",".join(f"random+{other}" for other in others.split(","))
    setup = read_setup({**GIVEN, "pairs": pairs, "seats": "both", "layouts": "cramped_room"})
    drawn = draw_chart(result_chart(setup, cell_results_of(setup, ())))
    check_texts(drawn)
    found = Counter(drawn_texts(drawn))
    assert (found["seat 0"], found["seat 1"], found["PBT"], found["Points"]) == (1, 1, 2, 1)


def test_means_are_over_partners_of_another_kind() -> None:
    pairings = [
        LineUpResult("room", 2, "", kinds, "", Estimate(values))
        for kinds, values in ((("a", "a"), (100.0,)), (("a", "b"), (20.0, 40.0)), (("a", "c"), (60.0,)))
    ]
    assert dict(means_over_others(pairings, "room", 0)) == {"a": Estimate((20.0, 40.0, 60.0))}
    assert str(Estimate((20.0, 40.0))) == "30.0 \N{PLUS-MINUS SIGN} 10.0"
    assert str(Estimate(())) == "n/a"


def test_partners_have_separate_notes_and_memories() -> None:
    one = Decision({0: ("stay",)}, memory=1, note={"faults": ["x"], "asked": 1})
    other = Decision({1: ("north",)}, memory=2, note={"faults": ["y"], "asked": 2}, played_by="stand-in")
    both = join_decisions(("a", "b"), {0: one, 1: other}, None)
    assert both.memory == [1, 2]
    assert both.note == {"faults": ["x", "y"], "asked": 3}
    assert both.played_by == "a+b's stand-in"
    assert join_decisions(("a", "b"), {1: other}, [7, 8]).memory == [7, 2]


LIST = "/admin/kitchen/experiment/"
FORM = {
    "name": "partners",
    "world": "overcooked",
    "pairs": "proagent+stay",
    "layouts": "cramped_room",
    "seats": "both",
    "partners_model": "stand-in",
    "set": "",
    "episodes": "1",
    "seed": "1",
    "at_once": "2",
    "limit": "0",
    "coplayer": "random",
    "coplayer__dispatcher__memory": "nonsense",
}
"""Of a new experiment; what stands in fields of another world is nobody's mistake."""


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Experiments for which workers were asked, instead of asking them."""
    found: list[int] = []

    def ask(pk: int, number: int = 1) -> bool:
        found.append(pk)
        return True

    monkeypatch.setattr(tasks, "queue_episodes", ask)
    monkeypatch.setattr(experiment_services, "queue_episodes", ask)
    return found


@pytest.mark.django_db
def test_pairs_are_set_up_in_the_admin_and_played_by_workers(
    admin_client: Client, queued: list[int], short: None
) -> None:
    admin_client.post(f"{LIST}add/", {**FORM, "set": "memory=3\n\nlevel=p"})
    experiment = Experiment.objects.get()
    setup = ExperimentSetup.from_json(experiment.setup)
    assert (setup.world, setup.levels) == ("overcooked", ("cramped_room",))
    assert setup.pairs == ("proagent+stay", "stay+proagent")
    assert (setup.settings["memory"], setup.settings["level"]) == (3, "p")
    admin_client.post(f"{LIST}{experiment.pk}/start/")
    while queued:
        tasks.experiment_lane(queued.pop())
    page = admin_client.get(f"{LIST}{experiment.pk}/change/").content.decode()
    assert "2 of 2 episodes" in page and "complete" in page and "ProAgent, as printed" in page


@pytest.mark.django_db
def test_pairs_in_the_admin_stop_at_their_limit_of_money_and_go_on_with_more(
    admin_client: Client, queued: list[int], short: None, paid: PaidModel
) -> None:
    admin_client.post(f"{LIST}add/", {**FORM, "partners_model": MODEL, "seats": "named"})
    there = f"{LIST}{Experiment.objects.get().pk}"
    assert "anthropic/claude-sonnet-5-5" in admin_client.get(f"{there}/start/").content.decode()
    admin_client.post(f"{there}/start/", {"limit": "0.05"})
    tasks.experiment_lane(queued[0])
    stopped = Experiment.objects.get()
    assert not stopped.running and "the money is spent" in stopped.stopped_because
    assert 0 < experiment_cost(stopped) <= Decimal("0.05")
    asked = len(paid.asked)
    assert 0 < asked < 45
    admin_client.post(f"{there}/start/", {"limit": "50"})
    tasks.experiment_lane(queued[-1])
    assert "1 of 1 episodes" in admin_client.get(f"{there}/change/").content.decode()
    assert len(paid.asked) > asked


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"pairs": "stay"}, "partners_model", "has a setting 'model'"),
        ({"pairs": "planner+stay", "partners_model": ""}, "pairs", "does not play"),
        ({"pairs": "stay,,greedy"}, "pairs", "empty place"),
        ({"pairs": "nobody+stay"}, "pairs", "'nobody' is not one of"),
        ({"layouts": "nowhere"}, "layouts", "nowhere"),
        ({"seats": "left"}, "seats", "not one of"),
        ({"world": "nowhere"}, "world", "not one of"),
        ({"world": "", "layouts": ""}, "pairs", "name one"),
        ({"partners_model": "anthropic"}, "partners_model", "ANTHROPIC_API_KEY"),
        ({"set": "memory"}, "set", "NAME=VALUE"),
        ({"set": "nonsense=1"}, "set", "obody here"),
        ({"episodes": "20001"}, "episodes", "not from 1"),
    ],
)
def test_an_error_in_pairs_is_shown_at_its_field(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], field: str, says: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    page = admin_client.post(f"{LIST}add/", {**FORM, **wrong})
    assert says in " ".join(page.context["adminform"].form.errors.get(field, []))
    assert not Experiment.objects.exists()


def test_further_metrics_of_a_benchmark_have_tables_with_bootstrap_intervals() -> None:
    values = {"progress_completeness": (0.4, 0.8, 0.9), "initiating_capability": (0.5,)}
    asked = {"world": "collab_overcooked", "levels": "boiled_egg,baked_pumpkin_soup"}
    setup = read_setup({**GIVEN, **asked})
    first, second = cell_results_of(setup, ())
    played = replace(first, intervals=(replace(first.intervals[0], more_figures=values),))
    pc, ic, rc = comparison_text_tables([played, second])[1:]
    low, high = mean_interval(values["progress_completeness"]) or (0.0, 0.0)
    assert pc.title == "Progress completeness, 2 seats" and pc.notes == (BOOTSTRAP_NOTE,)
    assert pc.rows[0][1:] == (f"0.700 [{low:.3f}, {high:.3f}]", "n/a") and low < 0.7 < high
    assert (ic.rows[0][1:], rc.rows[0][1:]) == (("0.500", "n/a"), ("n/a", "n/a"))


def test_rows_with_further_metrics_can_be_read_back() -> None:
    setup = read_setup({**GIVEN, "pairs": "stay", "layouts": "cramped_room"})
    row = replace(failed_row(next(iter(episode_jobs(setup))), "why"), more_figures='{"a": 0.5, "b": null}')
    kept = write_rows_csv([row], of_partners=True, with_more=True)
    assert kept.splitlines()[0].endswith(b"goal_steps,plannings,second_figure,more_figures")
    assert read_rows_csv(kept)[0].more_figures == row.more_figures
    assert b"more_figures" not in write_rows_csv([row], of_partners=True, with_second=True)
