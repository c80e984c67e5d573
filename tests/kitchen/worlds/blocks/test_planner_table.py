"""One planner in all seats solves every task of the table."""

from __future__ import annotations

from collections import Counter

import pytest

from kitchen.worlds.blocks import planner_table
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks
from kitchen.worlds.blocks.planner_table import TaskResult, print_table, solvable_tasks


def test_the_table_has_all_tasks_that_can_be_solved() -> None:
    counted = Counter(task.family for task in solvable_tasks())
    assert counted == {"crafting": 97, "cooking": 60, "construction": 33}
    assert sum(task.seats > 2 for task in crafting_tasks().values() if task.crafts) == 75
    tasks = list(solvable_tasks())
    assert len({(task.family, task.name) for task in tasks}) == len(tasks)


@pytest.mark.parametrize("family", ["crafting", "cooking"])
def test_a_sample_is_solved(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_table(["--family", family, "--every", "12"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"{len(lines)} of {len(lines)} tasks solved" and len(lines) >= 5
    assert all(line.startswith(family) and line.endswith("  solved") for line in lines)


def test_what_is_not_solved_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = iter([TaskResult(True, 4), TaskResult(False, 300)])
    monkeypatch.setattr(planner_table, "play_task", lambda _: next(results))
    assert print_table(["--family", "crafting", "--every", "49"]) == 1
    assert capsys.readouterr().out.endswith("not solved\n1 of 2 tasks solved\n")


@pytest.mark.nightly
def test_all_tasks_are_solved(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_table([]) == 0
    assert capsys.readouterr().out.endswith("\n190 of 190 tasks solved\n")
