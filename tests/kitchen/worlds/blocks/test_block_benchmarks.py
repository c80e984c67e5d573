"""Every level of every benchmark can be played."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.line_up import line_up_kinds
from kitchen.experiments.episode_rows import PLAYED, EpisodeRow, read_rows_csv
from kitchen.experiments.experiment_folder import result_makers, rows_file
from kitchen.experiments.experiment_results import cell_results_of
from kitchen.experiments.experiment_setup import (
    OFFERED_ORGANISATIONS,
    EpisodeJob,
    ExperimentSetup,
    SetupError,
    episode_jobs,
)
from kitchen.experiments.organisation_results import MINUTES_BY_TASK
from kitchen.experiments.play_episodes import failed_row
from kitchen.experiments.published_tables import published_text_tables
from kitchen.experiments.setup_arguments import read_setup
from kitchen.management.commands.experiment import omitted_levels_line
from kitchen.registry.world_metrics import metrics_of_world
from kitchen.registry.world_registry import get_world, worlds_with_comparison
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks

BLOCKS = [kind for kind in worlds_with_comparison() if kind.startswith("blocks_")]


@pytest.mark.parametrize("kind", BLOCKS)
def test_every_level_can_be_played_and_its_figure_is_measured(kind: str) -> None:
    bench: ComparisonBenchmark = worlds_with_comparison()[kind]
    assert set(bench.usual_levels()) <= set(bench.levels())
    assert bench.figure in [metric.name for metric in metrics_of_world(kind)]
    for level in bench.levels():
        seats = int(level.split("_")[1]) if kind == "blocks_crafting" else bench.agents[0]
        get_world(kind).create(seats=seats, settings=bench.settings(level, 1, bench.steps))


def test_five_worlds_of_blocks_are_compared() -> None:
    assert len(BLOCKS) == 5


# Published tables

GIVEN = {"world": "blocks", "preset": None, "model": None, "levels": None, "episodes": "1", "seed": "1"}
SOLO_AND_TREES = {
    "members": "hourglass,hourglass:0+follower,hourglass:0+follower+follower+follower",
    "organisation": "solo,tree",
    "schedule": "free",
    "goal": ("success=1",),
}
SOLO_AND_TREE_ROWS = "1 agent (solo)", "2 agents (tree(1))", "4 agents (tree(3))"
FACTS_OF_TEAM: dict[str, dict[str, Any]] = {
    "solo": {"organisation": "solo", "members": 1, "seats": 1},
    "tree(1)": {"organisation": "tree", "members": 2},
    "tree(3)": {"organisation": "tree", "members": 4},
}
Figure = Callable[[EpisodeJob], float]


def experiment(family: str, **given: Any) -> ExperimentSetup:
    return read_setup({**GIVEN, "family": family, **given})


def rows_of(setup: ExperimentSetup, figure: Figure, second: float | None = None) -> list[EpisodeRow]:
    """Rows of episodes in which the compared metric had these values."""
    found = ((job, failed_row(job, "")) for job in episode_jobs(setup))
    return [
        replace(row, outcome=PLAYED, figure=figure(job), second_figure=second, alpha=1.0)
        for job, row in found
    ]


def table(setup: ExperimentSetup, rows: list[EpisodeRow], title: str) -> dict[str, tuple[str, ...]]:
    """A text table, as {row: cells}."""
    found = published_text_tables(cell_results_of(setup, rows))
    return {row[0]: row[1:] for each in found if title in each.title for row in each.rows}


@pytest.mark.parametrize("kind", BLOCKS)
def test_each_row_of_a_published_table_names_known_facts_and_has_its_columns(kind: str) -> None:
    bench = worlds_with_comparison()[kind]
    known: dict[str, set[Any]] = {
        "seats": {1, 2, 3, 4, 5},
        "members": {1, 2, 3, 4, 5},
        "talk": {True, False},
        "organisation": {"none", *OFFERED_ORGANISATIONS},
    }
    for level in bench.levels():
        for name, value in bench.level_facts(level).items():
            known.setdefault(name, set()).add(value)
    for table in bench.published_tables():
        assert table.note
        for row in table.rows:
            assert len(row.values) in (0, len(table.columns))
            assert all(value in known[name] for name, value in (row.where or {}).items())


def test_crafting_is_grouped_by_depth_and_by_access_to_the_plan() -> None:
    setup = experiment("crafting")
    rows = rows_of(setup, lambda job: float(crafting_tasks()[job.column.level].depth == 0))
    shown = table(setup, rows, "Table 4")
    assert shown["depth 0 (13)"][:2] == ("38.46", "76.92")
    assert shown["depth 0 (13)"][-1].startswith("100 [")
    assert shown["depth 1 (6)"][-1].startswith("0 [0, ")
    numbers = [shown[name][-1].partition("(n ")[2] for name in shown if "plan" in name]
    assert sum(int(number.rstrip(")")) for number in numbers) == len(rows) == 22


def test_cooking_is_grouped_by_who_knows_the_recipes() -> None:
    setup = experiment("cooking")
    rows = rows_of(setup, lambda job: float(not job.column.level.endswith("_blocked")))
    shown = table(setup, rows, "Table 5")
    assert [cells[-1].split()[0] for cells in shown.values()] == ["33.3", "100", "0", "0"]
    assert [cells[-1][-5:] for cells in shown.values()] == ["n 18)", "(n 6)", "(n 6)", "(n 6)"]


def test_buildings_are_scored_in_two_ways_which_both_are_stored() -> None:
    setup = experiment("construction", levels="materials_1_rooms_2_window_1_carpet_1_variant_0,pyramid")
    rows = rows_of(setup, lambda job: 40.0 if job.column.level == "pyramid" else 20.0, second=0.5)
    assert table(setup, rows, "Table 6")["rooms 2"] == ("27.23", "38.67", "12.68", "20 (n 1)")
    assert table(setup, rows, "Table 3")["all"][-1].startswith("0.3 [0, ")
    assert table(setup, rows, "filled in")["materials 1"] == ("50 (n 1)",)
    data = rows_file(setup, rows)
    assert data.splitlines()[0].endswith(b"second_figure")
    assert read_rows_csv(data) == sorted(rows, key=lambda row: row.key)


def test_both_scores_of_buildings_have_the_interval_of_a_mean_also_when_all_are_complete() -> None:
    setup = experiment("construction", levels="hall,pyramid,shelter")
    rows = rows_of(setup, lambda _: 100.0, second=1.0)
    assert table(setup, rows, "Table 6")["all"][-1].startswith("100 [100, 100]")
    assert table(setup, rows, "filled in")["all"][-1].startswith("100 [100, 100]")


def test_only_the_mean_over_intervals_stands_beside_that_of_the_paper() -> None:
    setup = experiment("kitchen")
    shown = table(setup, rows_of(setup, lambda job: 0.5), "Table 9")
    assert [name for name, (paper, ours) in shown.items() if paper and ours] == ["CoS"]
    assert shown["CoS"] == ("0.581", "0.5 [0.5, 0.5] (n 5)")


def test_steps_of_gathering_stand_in_minutes_beside_the_times_of_the_paper() -> None:
    """The line-ups of docs/schedules.md: a root without a seat, so that tree(1) has as many seats as solo."""
    setup = experiment("gather", levels="50_logs,50_irons,shelter", **SOLO_AND_TREES)
    assert [column.agents for column in setup.columns[:3]] == [1, 1, 3]
    rows = rows_of(setup, lambda job: 60.0 * len(line_up_kinds(job.column.variant.coplayer)))
    shown = table(setup, rows, "S-Agents")
    ours = {name: [cell.split(" ")[0] for cell in cells[1:]] for name, cells in shown.items()}
    assert [ours[f"50 logs, {row}"] for row in SOLO_AND_TREE_ROWS] == [
        ["1", "", ""],
        ["", "2", ""],
        ["", "", "4"],
    ]
    assert shown["50 irons, 2 agents (tree(1), not reached)"][0] == "" and shown["50 stones, 1 agent (solo)"]
    note, source = next(each.notes for each in published_text_tables(cell_results_of(setup, rows)))
    assert "the caption says 1, 2 and 3, but tree(3) has four" in note
    assert source == worlds_with_comparison()["blocks_gather"].source


def test_a_team_without_an_organisation_stands_beside_no_tree() -> None:
    setup = experiment("gather", levels="50_logs")
    assert [column.agents for column in setup.columns] == [1, 2, 4]
    shown = table(setup, rows_of(setup, lambda job: 60.0), "S-Agents")
    ours = [any(shown[f"50 logs, {row}"][1:]) for row in SOLO_AND_TREE_ROWS]
    assert ours == [True, False, False]


def test_the_times_of_the_paper_are_the_same_in_both_tables() -> None:
    (printed,) = worlds_with_comparison()["blocks_gather"].published_tables()
    for row in printed.rows:
        found = re.match(r"(.*), \d agents? \((solo|tree\(\d\))", row.name)
        assert found
        task, team = found.groups()
        minutes = MINUTES_BY_TASK[team][task]
        assert row.values == (() if minutes is None else (minutes,))
        assert row.where == {"task": task.replace(" ", "_"), **FACTS_OF_TEAM[team]}


def test_talk_is_compared_with_no_talk() -> None:
    given = {"members": "blocks_planner+blocks_planner", "organisation": "none,graph"}
    setup = experiment("crafting", **given)
    rows = rows_of(setup, lambda job: float(job.column.variant.organisation is not None))
    shown = table(setup, rows, "Table 7")
    assert shown["full prompts"][:2] == ("36", "") and shown["full prompts"][2].startswith("100 [")
    assert shown["no communication"][1].startswith("0 [") and shown["no memory"] == ("12", "", "")


def test_one_agent_in_all_seats_is_no_team_without_communication() -> None:
    setup = experiment("crafting")
    shown = table(setup, rows_of(setup, lambda job: 1.0), "Table 7")
    assert shown["no communication"] == ("0", "") and shown["full prompts"] == ("36", "")
    assert shown["one agent in all seats (not in the paper)"][1].startswith("100 [")


def test_the_source_of_printed_values_stands_below_the_last_table() -> None:
    for kind in BLOCKS:
        setup = experiment(kind.removeprefix("blocks_"))
        tables = published_text_tables(cell_results_of(setup, rows_of(setup, lambda job: 1.0)))
        source = worlds_with_comparison()[kind].source
        assert [source in each.notes for each in tables] == [False] * (len(tables) - 1) + [True]


# Levels


def test_by_default_the_crafting_tasks_for_so_many_seats_are_played_and_the_others_are_named() -> None:
    for seats, played, left in [
        (2, 22, "25 for 3 seats, 25 for 4 seats, 25 for 5 seats, 3 that"),
        (5, 25, "22 for 2"),
    ]:
        setup = experiment("crafting", agents=str(seats))
        assert len(setup.levels) == played and {level.split("_")[1] for level in setup.levels} == {str(seats)}
        told = omitted_levels_line(setup)
        assert told.startswith(f"left out: {100 - played} of 100 tasks ({left}") and "\n" not in told
    assert not omitted_levels_line(experiment("crafting", levels="craft_2_06_compass"))
    assert not omitted_levels_line(experiment("cooking"))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"levels": "craft_2_08_cake"}, "--levels: craft_2_08_cake cannot be made from what the seats hold"),
        (
            {"levels": "craft_2_02_lime_wool,craft_3_05_bookshelf"},
            "craft_3_05_bookshelf is for 3 seats, not 2",
        ),
        ({"agents": "2,3"}, "is for 2 seats, not 3"),
        ({"family": "craftin"}, "--family: 'craftin' is not one of construction, cooking, crafting"),
        ({"family": None}, "--family: blocks is several worlds: name one of construction"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(given: dict[str, Any], why: str) -> None:
    with pytest.raises(SetupError, match=re.escape(why)) as refused:
        read_setup({**GIVEN, "family": "crafting", **given})
    assert "\n" not in str(refused.value)


def test_published_tables_are_a_file_of_the_experiment() -> None:
    setup = experiment("kitchen", levels="interval_3")
    results = cell_results_of(setup, rows_of(setup, lambda job: 0.5))
    lines = list(
        csv.DictReader(io.StringIO(result_makers(setup)["published_tables.csv"](setup, results).decode()))
    )
    assert [line["source"] for line in lines].count("as printed") == 6
    assert {line["row"]: line["mean"] for line in lines if line["source"] == "ours"} == {
        "3 steps": "0.5",
        "CoS": "0.5",
    }
    assert "published_tables.csv" not in result_makers(read_setup({**GIVEN, "world": "overcooked"}))
