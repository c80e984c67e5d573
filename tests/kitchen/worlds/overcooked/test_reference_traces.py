"""The released game and ours agree, tick by tick; a file may hold traces of several worlds."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from kitchen.contract.reference_recordings import read_recording_file
from kitchen.worlds.overcooked.reference_traces import TRACES

FILE = Path(__file__).parents[2] / "data" / "overcooked.jsonl.gz"
CUISINE = FILE.with_name("cuisineworld.jsonl.gz")


def raw(path: Path, count: int = 1) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]


def written(path: Path, traces: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(trace) for trace in traces), encoding="utf-8")
    return path


def test_all_27_traces_agree() -> None:
    out = io.StringIO()
    call_command("check_traces", str(FILE), stdout=out)
    assert out.getvalue().splitlines() == ["27 of 27 traces agree"]


def test_a_file_may_hold_traces_of_several_worlds(tmp_path: Path) -> None:
    both = written(tmp_path / "both.jsonl", [*raw(FILE), *raw(CUISINE, 2)])
    out = io.StringIO()
    call_command("check_traces", str(both), stdout=out)
    assert out.getvalue().splitlines() == ["3 of 3 traces agree"]


@pytest.mark.parametrize("world", ["no_such", ["a"]])
def test_a_trace_of_a_world_that_is_not_there_is_told_with_its_line(tmp_path: Path, world: Any) -> None:
    file = written(tmp_path / "t.jsonl", [raw(FILE)[0], {**raw(FILE)[0], "world": world}])
    with pytest.raises(CommandError, match=r"line 2: .* is not one of .*cuisine, overcooked") as caught:
        call_command("check_traces", str(file))
    assert caught.value.returncode == 2


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("score", 5, "end: score: trace 5"),
        ("layout", "nowhere", "set-up: layout"),
        ("start", "interact", "tick"),
    ],
)
def test_a_tampered_trace_is_reported(tmp_path: Path, key: str, value: Any, said: str) -> None:
    greedy = raw(FILE, 2)[1]
    (line,) = read_recording_file(written(tmp_path / "t.jsonl", [{**greedy, key: value}]))
    found = TRACES.difference(line.parsed(TRACES))
    assert found and said in found and "\n" not in found


def test_a_tampered_tick_is_reported_with_its_number(tmp_path: Path) -> None:
    (trace,) = raw(FILE)
    trace["steps"][16]["hold"] = ["dish", None]
    (line,) = read_recording_file(written(tmp_path / "t.jsonl", [trace]))
    found = TRACES.difference(line.parsed(TRACES))
    assert found and "tick 17: hold: trace [" in found


def test_the_benchmark_plays_the_traces_of_its_world() -> None:
    out = io.StringIO()
    call_command("bench_engine", str(FILE), "--world", "overcooked", "--rounds", "2", stdout=out)
    number, unit = out.getvalue().splitlines()[-1].split()
    assert int(number) > 1_000 and unit == "steps/s"
    with pytest.raises(CommandError, match="holds no trace of cuisine"):
        call_command("bench_engine", str(FILE))
