"""Experiment I: its plan, its rows, its tables, its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kitchen.charts.chart_drawing import draw_chart
from kitchen.contract.world import Command
from kitchen.experiments import experiment_folder, result_tables
from kitchen.experiments.episode_rows import (
    EpisodeRow,
    RowsError,
    match_rows_to_jobs,
    read_rows_csv,
    write_rows_csv,
)
from kitchen.experiments.experiment_results import cell_results_of
from kitchen.experiments.experiment_setup import EpisodeJob, ExperimentSetup, SetupError, episode_jobs
from kitchen.experiments.play_episodes import play_episode
from kitchen.experiments.result_figures import result_chart, share_interval, success_rate_chart
from kitchen.experiments.result_tables import summary_line
from kitchen.experiments.setup_arguments import read_setup
from kitchen.experiments.setup_checks import check_setup
from kitchen.worlds.cuisine.bench import paper_benchmark, upper_bounds
from kitchen.worlds.cuisine.settings import read_options
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.nightly import nightly

NOTHING: dict[str, Any] = dict.fromkeys(
    ("co_player", "preset", "model", "demo", "levels", "agents", "alphas", "no_feedback", "no_hints")
)
ARGUMENTS = {**NOTHING, "episodes": "3", "seed": "1"}


def row(job: EpisodeJob, completed: int, failed: int) -> EpisodeRow:
    """What a job came to, made by hand."""
    variant, level, agents = job.column.key
    zeros = dict.fromkeys(("fallbacks", "calls", "tokens_input", "tokens_output"), 0)
    zeros |= dict.fromkeys(("tokens_cache_read", "tokens_cache_write"), 0)
    texts = dict.fromkeys(("fallback_codes", "played_by", "model", "state_hash"), "")
    named = {"variant": variant, "level": level, "agents": agents, "alpha": job.alpha, "episode": job.episode}
    counts = {"seed": job.seed, "completed": completed, "failed": failed, "steps": 60}
    return EpisodeRow(**{**zeros, **texts, **named, **counts, "cost": None, "ms_median": 1.5, "ms_max": 2.0})  # type: ignore[arg-type]


def papers_rows(setup: ExperimentSetup) -> list[EpisodeRow]:
    """The paper's own counts as if they were ours, all in one episode."""
    jobs = [job for job in episode_jobs(setup) if job.episode == 1]
    counts = [job.column.paper[job.alpha] for job in jobs]
    return [row(job, done, total - done) for job, (done, total) in zip(jobs, counts, strict=True)]


def test_all_cells_of_the_paper_are_played_three_times_each_with_its_own_seed() -> None:
    jobs = episode_jobs(check_setup(ExperimentSetup()))
    assert len(jobs) == 12 * 3 * 5 * 3
    assert len({job.seed for job in jobs}) == len(jobs)
    assert "level_6" not in {job.column.level for job in jobs}
    assert jobs == episode_jobs(check_setup(ExperimentSetup()))
    assert {job.seed for job in jobs}.isdisjoint(
        job.seed for job in episode_jobs(check_setup(ExperimentSetup(seed=2)))
    )


def test_variants_of_a_preset_meet_the_same_orders() -> None:
    jobs = episode_jobs(read_setup({**ARGUMENTS, "preset": "table7"}))
    assert {job.column.key for job in jobs} == {
        (name, "level_3", 2) for name in ("full", "few_step_demo", "no_inference_knowledge", "no_feedback")
    }
    assert len({job.seed for job in jobs}) == 5 * 3


def test_options_become_settings_of_the_dispatcher() -> None:
    asked = {"co_player": "dispatcher", "no_feedback": True, "no_hints": True, "demo": "2"}
    settings = read_setup({**ARGUMENTS, **asked, "model": "stand-in"}).settings
    chosen = {name: settings[name] for name in ("feedback", "hints", "demonstration_agents", "model")}
    assert chosen == {
        "feedback": False,
        "hints": False,
        "demonstration_agents": 2,
        "model": "stand-in:stand-in-1",
    }


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"levels": "99"}, "level_99"),
        ({"levels": "0,,1"}, "empty place"),
        ({"levels": "0,level_0"}, "levels: needs values, each once"),
        ({"agents": "0"}, "agents"),
        ({"agents": "two"}, "agents"),
        ({"agents": "2,2"}, "each once"),
        ({"alphas": "-1"}, "alphas"),
        ({"episodes": "0"}, "episodes"),
        ({"co_player": "genius"}, "genius"),
        ({"co_player": "planner", "no_feedback": True}, "feedback: no such setting"),
        ({"demo": "some", "co_player": "dispatcher"}, "--demo"),
        ({"set": ["feedback"]}, "--set"),
        ({"preset": "table9"}, "table9"),
        ({"preset": "table7", "levels": "0"}, "--levels"),
        ({"preset": "table6", "model": "stand-in,stand-in"}, "model: needs values, each once"),
        ({"model": "a:b"}, "no provider"),
    ],
)
def test_an_invalid_setup_is_refused_in_one_line(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(SetupError, match=says) as caught:
        read_setup({**ARGUMENTS, **wrong})
    assert "\n" not in str(caught.value)


def test_a_setup_goes_through_json() -> None:
    setup = read_setup({**ARGUMENTS, "preset": "table6", "model": "stand-in"})
    assert ExperimentSetup.from_json(setup.to_json()) == setup


def test_the_papers_counts_give_the_papers_scores() -> None:
    setup = check_setup(ExperimentSetup())
    for cell in cell_results_of(setup, papers_rows(setup)):
        printed = paper_benchmark.published_data()["gpt4"][str(cell.column.agents)]["cos"][cell.column.level]
        assert cell.cos == cell.paper_cos
        assert cell.cos == pytest.approx(printed, abs=0.0005001)


@pytest.mark.parametrize(
    ("preset", "table"),
    [("table7", paper_benchmark.ABLATION_TABLE), ("table8", paper_benchmark.DEMONSTRATION_TABLE)],
)
def test_the_papers_ablations_give_the_papers_scores(preset: str, table: str) -> None:
    setup = read_setup({**ARGUMENTS, "preset": preset})
    for cell in cell_results_of(setup, papers_rows(setup)):
        printed = paper_benchmark.published_data()[table]["cos"][cell.column.variant.name]
        assert cell.cos == pytest.approx(printed, abs=0.0005001)


def small() -> tuple[ExperimentSetup, list[EpisodeRow]]:
    """Two levels, two intervals, two episodes; level_0 gets 1 of 4 and 3 of 4, level_3 all."""
    setup = check_setup(
        ExperimentSetup(levels=("level_0", "level_3"), agents=(2,), alphas=(1.0, 2.0), episodes=2)
    )
    counts = {("level_0", 1.0): (1, 3), ("level_0", 2.0): (3, 1), ("level_3", 1.0): (4, 0)}
    found = [row(job, *counts.get((job.column.level, job.alpha), (4, 0))) for job in episode_jobs(setup)]
    return setup, found


def test_counts_are_summed_over_episodes_and_shares_averaged_over_intervals() -> None:
    first, second = cell_results_of(*small())
    assert [(each.completed, each.total) for each in first.intervals] == [(2, 8), (6, 8)]
    assert (first.cos, second.cos) == (0.5, 1.0)
    assert (first.is_above, second.is_above) == (False, True)


def test_the_last_line() -> None:
    setup, rows = small()
    expected = "mean CoS 2 agents 0.750; above the paper's GPT-4 in 1 of 2 cells"
    assert summary_line(cell_results_of(setup, rows)) == expected
    full = check_setup(ExperimentSetup())
    expected = (
        "mean CoS 2 agents 0.673, 3 agents 0.694, 4 agents 0.692; above the paper's GPT-4 in 0 of 36 cells"
    )
    assert summary_line(cell_results_of(full, papers_rows(full))) == expected


def test_a_mean_over_fewer_cells_names_their_number() -> None:
    setup, rows = small()
    half = [row for row in rows if row.level == "level_3"]
    assert summary_line(cell_results_of(setup, half)).startswith(
        "mean CoS 2 agents 1.000 (1 of 2 cells); above"
    )
    average = result_tables.result_text_tables(setup, cell_results_of(setup, half))[0].rows[-2][-1]
    level_3 = cell_results_of(setup, half)[1]
    assert average == f"1.000 ({level_3.paper_cos:.3f}, ≤ {level_3.bound_cos:.3f}) over 1 of 2"
    assert summary_line(cell_results_of(setup, [])).startswith("mean CoS 2 agents n/a; above")


def test_ours_and_the_papers_averages_are_over_the_same_cells() -> None:
    """The paper has no level_6."""
    setup = check_setup(
        ExperimentSetup(levels=("level_0", "level_6"), agents=(2,), alphas=(1.0,), episodes=1)
    )
    counts = {"level_0": (1, 3), "level_6": (4, 0)}
    results = cell_results_of(setup, [row(job, *counts[job.column.level]) for job in episode_jobs(setup)])
    average = result_tables.result_text_tables(setup, results)[0].rows[-2][-1]
    papers = results[0].paper_cos
    assert average.startswith("0.625 (≤ ")
    assert average.endswith(f"; 0.250 ({papers:.3f}) over 1 of 2")


def test_the_bound_is_that_of_the_episodes_that_were_played() -> None:
    """Fourteen episodes meet other orders than the one that was played."""
    setup = check_setup(ExperimentSetup(levels=("level_3",), agents=(2,), alphas=(1.0,), episodes=15))
    for job in episode_jobs(setup):
        alone = upper_bounds.episode_bound("level_3", 1.0, 2, job.seed)
        found = cell_results_of(setup, [row(job, alone.completed, alone.ended - alone.completed)])[
            0
        ].intervals[0]
        assert found.bound == alone
        assert found.share == found.bound.share
    everything = upper_bounds.cell_bound("level_3", 1.0, 2, [job.seed for job in episode_jobs(setup)])
    assert cell_results_of(setup, [])[0].intervals[0].bound == everything


def test_tables_have_ours_the_papers_and_the_bound_beside_each_other() -> None:
    setup, rows = small()
    results = cell_results_of(setup, rows)
    text = result_tables.tables_markdown(
        result_tables.result_text_tables(setup, results), summary_line(results)
    )
    assert "| 2/8 (18/54, ≤ " in text
    assert text.endswith("in 1 of 2 cells\n")
    assert r"level\_0" in result_tables.tables_latex(result_tables.result_text_tables(setup, results), "")
    lines = result_tables.results_csv(results).decode().splitlines()
    assert lines[0].split(",") == result_tables.RESULT_COLUMNS
    assert lines[1].startswith(",level_0,very simple,2,1.0,2,2,8,0.25,18,54,")
    assert len(lines) == 1 + 2 * 3


def test_rows_go_through_csv_and_foreign_ones_are_refused() -> None:
    setup, rows = small()
    assert sorted(read_rows_csv(write_rows_csv(rows)), key=lambda r: r.key) == sorted(
        rows, key=lambda r: r.key
    )
    with pytest.raises(RowsError):
        match_rows_to_jobs([replace(rows[0], seed=5)], episode_jobs(setup))
    with pytest.raises(RowsError, match=r"episodes\.csv:2"):
        read_rows_csv(write_rows_csv(rows[:1]).replace(b"level_0,2", b"level_0,x"))


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_the_figure_is_the_same_each_time(kind: Any) -> None:
    setup, rows = small()
    found = draw_chart(result_chart(setup, cell_results_of(setup, rows)), kind)
    assert found == draw_chart(result_chart(setup, cell_results_of(setup, rows)), kind)
    if kind == "svg":
        assert all(text in found.decode() for text in ("level_0", "level_3", "2 agents"))


def test_the_figure_has_the_papers_line_the_bound_and_an_interval_over_episodes() -> None:
    setup, rows = small()
    results = cell_results_of(setup, rows)
    chart = success_rate_chart(setup, results)
    bound, papers, ours = chart.panels[0].series
    assert [p.y for p in ours.points] == [e.share for e in results[0].intervals if e.share is not None]
    assert [p.y for p in papers.points] == [e.paper[0] / e.paper[1] for e in results[0].intervals if e.paper]
    assert all(mine.y <= most.y for mine, most in zip(ours.points, bound.points, strict=False))
    assert len(chart.rows) == sum(len(cell.intervals) for cell in results)
    one = replace(results[0].intervals[0], completed=4, failed=4, counts=((1, 4), (3, 4)))
    low, high = share_interval(one)
    assert (low, high) == (0.0, 1.0)  # t(1) = 12.7 times a standard error of .25
    three = replace(one, completed=24, failed=24, counts=((7, 16), (8, 16), (9, 16)))
    assert share_interval(three) == pytest.approx((0.5 - 4.3027 * 0.03608, 0.5 + 4.3027 * 0.03608), abs=1e-4)
    assert share_interval(replace(one, counts=((4, 8),))) == (None, None)


def test_another_experiment_in_the_folder_is_not_overwritten(tmp_path: Any) -> None:
    setup, rows = small()
    experiment_folder.write_settings(tmp_path, setup, "key")
    experiment_folder.write_rows(tmp_path, setup, rows)
    assert experiment_folder.open_folder(tmp_path, setup) == ("key", {each.key: each for each in rows})
    with pytest.raises(experiment_folder.FolderError, match="another experiment"):
        experiment_folder.open_folder(tmp_path, replace(setup, seed=9))


def test_agent_steps_are_those_of_the_argument() -> None:
    level = read_options({"level": "level_0"}).level
    assert upper_bounds.agent_steps(level, "salmonMeatcake") == 12
    assert upper_bounds.earliest_serving_step(level, "salmonMeatcake", 1) == 9
    assert upper_bounds.earliest_serving_step(level, "salmonMeatcake", 2) == 8


def test_fries_without_a_fryer_are_out_of_reach() -> None:
    with_fryer = upper_bounds.cell_bound("level_12_fryer", 3.0, 4, range(10)).completed
    assert upper_bounds.cell_bound("level_12", 3.0, 4, range(10)).completed < with_fryer


def most_by_search(alpha: float, seed: int, steps: int) -> int:
    """What one agent can complete on level_0 at most, by trying everything."""
    world = CuisineWorld.create(seats=1, settings={"level": "level_0", "alpha": alpha, "max_steps": steps})
    world.reset(seed)
    layer: dict[str, dict[str, Any]] = {world.state_hash(): world.to_dict()}
    for _ in range(steps):
        layer = {key: state for stored in layer.values() for key, state in after(stored)}
    return max(int(CuisineWorld.from_dict(state).score()["completed"]) for state in layer.values())


def after(stored: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every state that one useful command leads to."""
    for command in useful(CuisineWorld.from_dict(stored).legal_actions(0)):
        world = CuisineWorld.from_dict(stored)
        world.step({0: command})
        yield world.state_hash(), world.to_dict()


def useful(commands: list[Command]) -> list[Command]:
    wanted = {"salmon", "flour", "salmonMeatcake"}
    return [each for each in commands if each[0] != "get" or set(each[2:]) <= wanted]


@pytest.mark.parametrize("seed", [1, *nightly(2)])
def test_exhaustive_search_does_not_beat_the_bound(seed: int) -> None:
    found = most_by_search(3.0, seed, 13)
    assert found <= upper_bounds.episode_bound("level_0", 3.0, 1, seed, 13).completed == 1


@pytest.mark.parametrize(("level", "agents"), [("level_0", 2), ("level_12", 2), *nightly(("level_9", 4))])
@pytest.mark.filterwarnings("ignore::kitchen.worlds.cuisine.level.UncookableDishWarning")
def test_the_planner_does_not_beat_the_bound(level: str, agents: int) -> None:
    setup = check_setup(ExperimentSetup(levels=(level,), agents=(agents,), alphas=(1.0, 3.0), episodes=1))
    rows = [play_episode(job, "planner", {}) for job in episode_jobs(setup)]
    for found in cell_results_of(setup, rows)[0].intervals:
        assert found.completed <= found.bound.completed
        assert (found.share or 0) <= (found.bound.share or 0)


def test_an_episode_is_the_same_each_time_but_for_its_clock() -> None:
    job = episode_jobs(
        check_setup(ExperimentSetup(levels=("level_3",), agents=(2,), alphas=(2.0,), episodes=1))
    )[0]
    first, second = (
        replace(play_episode(job, "random", {}), ms_median=0, ms_max=0, log="") for _ in range(2)
    )
    assert first == second
    assert (first.steps, first.played_by, first.fallbacks) == (60, "random x60", 0)
