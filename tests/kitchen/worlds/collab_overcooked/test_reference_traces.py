"""The recorded games and ours agree, step by step, and the reference trajectories take the recorded times."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from kitchen.contract.reference_recordings import RecordedLine, TraceFileError
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.reference_traces import TRACES
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from tests.kitchen.worlds.collab_overcooked.games import execute, game

FILE = Path(__file__).parents[2] / "data" / "collab_overcooked.jsonl.gz"
TIMES = {
    1: [17],
    2: [24],
    3: [36],
    4: [33, 33],
    5: [56, 46],
    6: [65, 61, 69, 51, 57, 53],
}
"""Steps until the delivery of each pair of trajectories, by level; 16 in the pot of level 1."""


def test_all_63_traces_agree() -> None:
    out = io.StringIO()
    call_command("check_traces", str(FILE), stdout=out)
    assert out.getvalue().splitlines() == ["63 of 63 traces agree"]


def first() -> dict[str, Any]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        found: dict[str, Any] = json.loads(next(lines))
    return found


def difference(raw: object) -> str:
    return TRACES.difference(RecordedLine(FILE, 1, raw).parsed(TRACES)) or ""


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("order", "boiled_egg", "step 16: score: trace 20, ours 0"),
        ("order", "no_such", "set-up: task: 'no_such' is not one of"),
        ("history", [[], []], "end: history"),
    ],
)
def test_a_tampered_trace_is_reported(key: str, value: object, said: str) -> None:
    found = difference({**first(), key: value})
    assert said in found and "\n" not in found


def test_a_tampered_step_is_reported_with_its_number_and_field() -> None:
    trace = first()
    trace["steps"][4]["counters"] = []
    assert "step 4: counters: trace [], ours [[[2, 1]" in difference(trace)


def test_a_line_without_steps_is_told() -> None:
    with pytest.raises(TraceFileError, match="line 1: 'steps' is missing"):
        difference({"name": "x", "order": "boiled_egg"})


def test_the_benchmark_plays_the_traces() -> None:
    out = io.StringIO()
    call_command("bench_engine", str(FILE), "--world", "collab_overcooked", "--rounds", "1", stdout=out)
    lines = out.getvalue().splitlines()
    assert int(lines[-1].split()[0]) > 1_000
    assert "the released program is not installed" in lines[0]


@pytest.mark.parametrize("name", tasks())
def test_each_reference_pair_delivers_in_its_recorded_time_with_full_scores(name: str) -> None:
    task = tasks()[name]
    times = [16] if task.level == 1 and task.last_utensil == "pot0" else TIMES[task.level]
    worlds = [game(name, gamma=2) for _ in times]
    pairs = references(name)
    assert [
        execute(world, (pair.chef, pair.assistant)) for world, pair in zip(worlds, pairs, strict=True)
    ] == times
    for world in worlds:
        score = world.score()
        assert (score["success"], score["progress_completeness"], score["points"]) == (1, 1, 20)


def test_there_are_65_pairs_and_the_first_takes_the_optimum() -> None:
    assert sum(len(references(name)) for name in tasks()) == 65
    assert all(TIMES[task.level][0] == task.optimum + 1 for task in tasks().values())
