"""Organisations that are compared by the steps that they need to a goal."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.core.management import call_command

from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.world import Json
from kitchen.experiments import experiment_folder
from kitchen.experiments.comparison_tables import Estimate
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.experiment_results import cell_results_of
from kitchen.experiments.experiment_setup import EpisodeJob, ExperimentSetup, SetupError, episode_jobs
from kitchen.experiments.organisation_results import organisation_chart
from kitchen.experiments.play_episodes import play_episode
from kitchen.experiments.result_tables import result_text_tables
from kitchen.experiments.setup_arguments import read_setup
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import WORLDS_VARIABLE
from tests.kitchen.experiments.test_teams import run
from tests.worlds import errands

GIVEN: dict[str, Any] = {"world": "errands", "model": None, "episodes": "1", "seed": "1", "levels": "six"}


class Ground(ComparisonBenchmark):
    """Six errands, one of them long."""

    steps: ClassVar[int] = 40
    agents: ClassVar[tuple[int, ...]] = (3,)
    coplayer: ClassVar[str] = "runner"
    figure: ClassVar[str] = "done"
    source: ClassVar[str] = "nowhere"

    def levels(self) -> tuple[str, ...]:
        return "six", "endless"

    def usual_levels(self) -> tuple[str, ...]:
        return self.levels()

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        return {"lengths": "1,5,1,1,1,1" if level == "six" else "1,39,39,39,39,39", "limit": steps}

    def line_ups(self, seats: int) -> tuple[str, ...]:
        return ("+".join(["runner"] * seats),)


KIT = replace(errands.KIT, bench=Ground)
TEAMS = {
    "members": "runner,runner+runner+runner",
    "organisation": "chain,graph,solo,tree",
    "organisation_set": ["schedule=free"],
    "goal": ["done=6"],
}
THREE = "runner+runner+runner"


@pytest.fixture(autouse=True)
def _errands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, f"errands={__name__}:KIT")
    monkeypatch.setitem(agent_registry.AGENTS, "runner", "tests.kitchen.agents.test_asking_schedule:Runner")


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.django_db
def test_organisations_are_compared_by_the_steps_to_a_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three runners need 9 steps, and plan twice each; one alone needs 22, and plans six times."""
    makers = {"table.md": experiment_folder.RESULT_MAKERS["table.md"]}
    monkeypatch.setattr(experiment_folder, "RESULT_MAKERS", makers)
    monkeypatch.setattr(experiment_folder, "GOAL_MAKERS", {})
    given = [
        f"--{name.replace('_', '-')}={text}"
        for name, value in TEAMS.items()
        for text in (value if isinstance(value, list) else [value])
    ]
    output = run(tmp_path, *given, "--levels=six,endless", "--episodes=1", world="errands")
    assert f"graph {THREE}  9.0  2.0  not reached  1.3" in output and "solo runner  22.0  6.0" in output
    episodes = {(row["variant"], row["level"]): row for row in rows(tmp_path / "episodes.csv")}
    assert len(episodes) == 8
    six = {name: row for (name, level), row in episodes.items() if level == "six"}
    assert {name: (row["goal_steps"], row["plannings"], row["steps"]) for name, row in six.items()} == {
        **{f"{kind} {THREE}": ("9", "2.0", "9") for kind in ("chain", "graph", "tree")},
        "solo runner": ("22", "6.0", "22"),
    }
    assert episodes["solo runner", "endless"]["goal_steps"] == ""
    text = (tmp_path / "table.md").read_text()
    runners = "runner\N{MULTIPLICATION SIGN}3 in endless"
    assert f"Not reached in 40 steps: chain {runners}; graph {runners}" in text
    assert "S-Agents, read from a figure" in text and "| tree(3) | 7.5 | 3.8 |" in text
    assert "Ours: 1 episode in each cell, from seed 1, the same for all organisations" in text
    assert "with the same number of seats. experiment.json" in text
    assert "where our leaves are followers, which never plan: S-Agents' leaves plan" in text
    stated = json.loads((tmp_path / "experiment.json").read_text())
    assert (stated["setup"]["seed"], len(stated["seeds"])) == (1, 8)
    assert "The paper contradicts itself." in text and "| solo | 10.2 | 18.3 | 6.5 | not reached |" in text
    measured = [row for row in rows(tmp_path / "team_measures.csv") if row["level"] == "six"]
    assert [row["member"] for row in measured] == [*["", "0", "1", "2"] * 2, "", "0", *["", "0", "1", "2"]]
    assert [row["plannings"] for row in measured][:4] == ["6", "3", "1", "2"]
    planned = [row for row in rows(tmp_path / "plannings.csv") if row["level"] == "six"]
    assert [(row["step"], row["due"], row["took_effect"]) for row in planned[:3]] == [("1", "3", "1")] * 3
    assert rows(tmp_path / "jobs.csv") == []
    call_command("experiment_replay", str(tmp_path))
    assert "8 episodes" in capsys.readouterr().out


def test_the_figure_has_a_panel_for_each_measure_with_the_published_bars() -> None:
    setup = read_setup({**GIVEN, **TEAMS})
    played = [episode_of(job, setup) for job in episode_jobs(setup)]
    chart = organisation_chart(setup, cell_results_of(setup, played))
    assert chart.x.names[2:5] == (
        "solo runner, six",
        "tree runner\N{MULTIPLICATION SIGN}3, six",
        "chain, S-Agents, read from a figure",
    )
    assert chart.x.below[2:5] == ("TC 22.0, mPT 6.0", "TC 9.0, mPT 2.0", "TC 29.0, mPT 4.0")
    times, plannings = ([series.points for series in panel.series] for panel in chart.panels)
    assert [point.y for point in times[0]] == pytest.approx([9 / 22, 9 / 22, 1, 9 / 22])
    assert [point.y for point in plannings[0]] == pytest.approx([1 / 3, 1 / 3, 1, 1 / 3])
    assert [(point.x, point.y) for point in times[1]] == [(4, 1), (5, 9.3 / 29), (6, 7.5 / 29)]
    assert [series.look for series in chart.panels[0].series] == ["bars", "hollow"]
    assert chart.note.startswith("Seed 1, 1 episode in each cell.")
    assert chart.note.endswith("S-Agents' leaves plan themselves, as an hourglass does.")


def episode_of(job: EpisodeJob, setup: ExperimentSetup) -> EpisodeRow:
    return play_episode(job, setup.coplayer_of(job.column.variant), setup.settings_of(job.column.variant))


IDLE_LEADER = " A follower passes no jobs on, so its workers get none from it."


@pytest.mark.parametrize(
    ("line_up", "kind", "why"),
    [
        ("follower+runner+runner", "chain", IDLE_LEADER),
        ("runner+runner+follower", "chain", ""),
        ("follower+follower+follower", "graph", IDLE_LEADER),
        ("follower+runner+runner", "graph", ""),
    ],
)
def test_the_figure_says_why_a_goal_was_not_reached(line_up: str, kind: str, why: str) -> None:
    setup = read_setup({**GIVEN, **TEAMS, "members": line_up, "organisation": kind, "levels": "endless"})
    results = cell_results_of(setup, [played_in_vain(job) for job in episode_jobs(setup)])
    chart = organisation_chart(setup, results)
    notes = [note for table in result_text_tables(setup, results) for note in table.notes]
    said = f"Not reached in 40 steps: {chart.x.names[0].removesuffix(', endless')} in endless.{why}"
    assert said in chart.note and said in notes
    assert chart.x.below[0] == "not reached\nmPT 1.0"


def played_in_vain(job: EpisodeJob) -> EpisodeRow:
    """An episode that ended at its last step without the goal."""
    counts = dict.fromkeys(("calls", "tokens_input", "tokens_output", "tokens_cache_read"), 0)
    numbers: dict[str, Any] = {**counts, "tokens_cache_write": 0, "completed": 0, "failed": 0, "fallbacks": 0}
    variant, level, agents, alpha, episode = job.key
    return EpisodeRow(
        variant,
        level,
        agents,
        alpha,
        episode,
        job.seed,
        steps=40,
        fallback_codes="",
        played_by="runner x3",
        cost=0.0,
        model="",
        ms_median=0.0,
        ms_max=0.0,
        state_hash="",
        plannings=1.0,
        **numbers,
    )


def test_schedules_are_compared_like_organisations() -> None:
    """Each combination is played. The same episodes are played in each schedule."""
    given = {**GIVEN, **TEAMS, "organisation_set": ["think_steps=1"], "organisation": "solo,tree"}
    setup = read_setup({**given, "schedule": "free, rounds"})
    assert [column.variant.name for column in setup.columns] == [
        "solo free runner",
        "solo rounds runner",
        f"tree free {THREE}",
        f"tree rounds {THREE}",
    ]
    teams = [column.variant.organisation for column in setup.columns]
    assert [team and (team.schedule, team.think_steps) for team in teams] == [("free", 1), ("rounds", 1)] * 2
    assert [job.seed for job in episode_jobs(setup)][:2] == [episode_jobs(setup)[0].seed] * 2
    assert ExperimentSetup.from_json(json.loads(json.dumps(setup.to_json()))) == setup
    one = read_setup({**given, "schedule": "free"})
    assert one == read_setup({**given, "organisation_set": ["think_steps=1", "schedule=free"]})
    assert "schedules" not in one.to_json()


def test_an_organisation_without_schedules_plays_once_beside_the_others() -> None:
    setup = read_setup(
        {**GIVEN, **TEAMS, "organisation_set": [], "organisation": "pair,tree", "members": "runner+runner"}
        | {"schedule": "free,relay"}
    )
    names = [column.variant.name for column in setup.columns]
    assert names == ["pair together runner+runner", "tree free runner+runner", "tree relay runner+runner"]


def test_one_planning_in_each_episode_has_no_interval_of_a_share() -> None:
    assert Estimate((1.0, 1.0, 1.0), (0, None), are_counts=True).interval == (1.0, 1.0)


def test_a_line_up_plays_in_the_organisations_that_it_fits() -> None:
    setup = read_setup({**GIVEN, **TEAMS})
    assert [column.variant.name for column in setup.columns] == [
        f"chain {THREE}",
        f"graph {THREE}",
        "solo runner",
        f"tree {THREE}",
    ]
    assert ExperimentSetup.from_json(setup.to_json()) == setup
    bare = read_setup({**GIVEN, "members": THREE})
    assert "goal" not in bare.to_json() and len(result_text_tables(bare, cell_results_of(bare, []))) == 1


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"members": THREE}, "organisation: solo: members: somebody who plays alone is one, not 3"),
        ({"organisation": "graph,tree"}, "organisation: graph: members: a graph has two at least"),
        ({"goal": ["soups=1"]}, "goal: 'soups' is not one of done"),
        ({"goal": ["done=many"]}, "goal: done needs a number, not 'many'"),
    ],
)
def test_what_does_not_fit_is_refused(given: Mapping[str, Any], why: str) -> None:
    with pytest.raises(SetupError, match=why):
        read_setup({**GIVEN, **TEAMS, **given})
