"""What the planner's benchmark calls a miss."""

from __future__ import annotations

from dataclasses import replace

from kitchen.experiments.experiment_results import cell_results_of
from kitchen.experiments.experiment_setup import ExperimentSetup, episode_jobs
from kitchen.experiments.setup_checks import check_setup
from tests.kitchen.experiments.test_experiment import papers_rows, row
from tests.kitchen.worlds.cuisine import bench_planner

FULL = check_setup(ExperimentSetup(episodes=1))
PERFECT = [row(job, 10, 0) for job in episode_jobs(FULL)]


def test_nothing_is_missed_where_everything_is_served() -> None:
    results = cell_results_of(FULL, PERFECT)
    assert bench_planner.missed(results) == []
    assert "smallest margin over the paper's GPT-4: +0." in bench_planner.closest(results)


def test_means_below_the_aim_and_every_cell_that_is_not_above_the_paper_are_missed() -> None:
    """The paper's own counts are above nothing, and below all three aims."""
    said = bench_planner.missed(cell_results_of(FULL, papers_rows(FULL)))
    assert len(said) == 3 + 36
    assert said[0] == "2 agents: 0.673 is below the aim of 0.83"


def test_one_cell_that_is_not_above_the_paper_is_a_miss_whatever_the_means() -> None:
    lost = [
        replace(each, completed=0, failed=10) if (each.level, each.agents) == ("level_9", 3) else each
        for each in PERFECT
    ]
    (said,) = bench_planner.missed(cell_results_of(FULL, lost))
    assert said.startswith("level_9 with 3 agents: 0.000 is not above the paper's GPT-4")
    assert bench_planner.closest(cell_results_of(FULL, lost)).endswith("level_9 with 3 agents")


def test_a_median_above_the_aim_is_told() -> None:
    assert bench_planner.too_slow(5.0) == []
    assert bench_planner.too_slow(5.1) == ["a median of 5.1 ms a decision is above the aim of 5 ms"]


def test_a_median_over_the_cells_has_an_aim_of_its_own() -> None:
    aim = bench_planner.MILLISECONDS_OVER_CELLS
    assert bench_planner.too_slow(aim, aim) == []
    assert bench_planner.too_slow(aim + 0.1, aim) == [
        "a median of 3.1 ms a decision is above the aim of 3 ms"
    ]


def test_a_cell_below_the_yardstick_is_told() -> None:
    lost = [
        replace(each, completed=9, failed=1) if (each.level, each.agents) == ("level_7", 4) else each
        for each in PERFECT
    ]
    said, weaker = bench_planner.under_the_yardstick(
        cell_results_of(FULL, lost), cell_results_of(FULL, PERFECT)
    )
    assert said == "greedy yardstick: 2 agents 1.000, 3 agents 1.000, 4 agents 1.000"
    assert weaker == ["level_7 with 4 agents: 0.900 is below the greedy yardstick (1.000)"]
    assert (
        bench_planner.under_the_yardstick(cell_results_of(FULL, PERFECT), cell_results_of(FULL, lost))[1]
        == []
    )


def test_the_yardstick_gets_dishes_done_where_there_are_hands_enough() -> None:
    """It is refused nothing, and is worth to be measured against."""
    for job in episode_jobs(
        ExperimentSetup(levels=("level_0", "level_7"), agents=(2, 4), alphas=(3.0,), episodes=1)
    ):
        played = bench_planner.play_greedily(job)
        assert played.completed > 5 * played.failed


def test_the_table_for_the_docs_has_a_row_for_each_level_and_the_means() -> None:
    cells = cell_results_of(FULL, PERFECT)
    lines = bench_planner.markdown_table(cells, cells).splitlines()
    assert lines[0] == "| level | 2 agents | 3 agents | 4 agents |"
    assert len(lines) == 2 + 12 + 1
    assert lines[-1].startswith("| mean | 1.000 / 1.000 / 0.")
