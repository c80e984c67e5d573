"""Recorded behaviour of the released game: ours agrees, and a trace that was tampered with is reported."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from kitchen.contract.reference_recordings import TraceFileError
from kitchen.management.command_helpers import read_traces
from kitchen.worlds.cuisine import reference_traces
from tests.kitchen.worlds.cuisine.cooking import TRACES

RECORDINGS = reference_traces.TRACES


def raw_traces(count: int = 3) -> list[dict[str, Any]]:
    with gzip.open(TRACES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]


def written(path: Path, traces: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(trace) for trace in traces) + "\n", encoding="utf-8")
    return path


def put_in(trace: dict[str, Any], path: str, value: Any) -> None:
    *way, last = [int(key) if key.lstrip("-").isdigit() else key for key in path.split(".")]
    part: Any = trace
    for key in way:
        part = part[key]
    part[last] = value


TAMPERED: list[tuple[str, Any, str]] = [
    ("interval", 99, "set-up: interval: trace 99"),
    ("lifetimes", {}, "set-up: lifetimes"),
    ("kitchen", ["storage"], "set-up: kitchen"),
    ("level", "level_77", "set-up: level"),
    ("agents", 99, "set-up: seats"),
    ("start.orders", [], "start: orders"),
    ("steps.7.ok", [False], "step 8"),
    ("steps.0.just_completed", ["cake"], "step 1: just_completed"),
    ("steps.3.reasons", [["agent_busy"]], "step 4"),
    ("steps.59.after.failed", 77, "step 60: failed: trace 77"),
    ("steps.20.after.agents.0.holds", "cake", "step 21: agents"),
    ("steps.20.after.locations.storage0.busy", 3, "step 21: locations"),
    ("orders_drawn", [], "end: orders_drawn"),
    ("max_steps", 10, "step 11: number of commands"),
]


@pytest.mark.parametrize(("path", "value", "expected"), TAMPERED)
def test_a_tampered_trace_is_reported_with_its_step(
    tmp_path: Path, path: str, value: Any, expected: str
) -> None:
    (trace,) = raw_traces(1)
    assert trace["agents"] == 1
    put_in(trace, path, value)
    (read,) = read_traces("cuisine", written(tmp_path / "t.jsonl", [trace]))
    found = RECORDINGS.difference(read)
    assert found is not None
    assert found.startswith(trace["id"]) and expected in found and "\n" not in found


def test_the_order_of_items_means_nothing(tmp_path: Path) -> None:
    traces = raw_traces(12)
    for trace in traces:
        for step in trace["steps"]:
            for place in step["after"]["locations"].values():
                place["items"].reverse()
    read = read_traces("cuisine", written(tmp_path / "t.jsonl", traces))
    assert all(RECORDINGS.difference(trace) is None for trace in read)


def test_all_130_traces_agree_and_the_command_counts_them_on_its_last_line() -> None:
    out = io.StringIO()
    call_command("check_traces", str(TRACES), stdout=out)
    assert out.getvalue().splitlines() == ["130 of 130 traces agree"]


def test_the_command_exits_with_1_where_a_trace_differs(tmp_path: Path) -> None:
    traces = raw_traces(3)
    traces[1]["interval"] += 1
    out = io.StringIO()
    with pytest.raises(SystemExit) as caught:
        call_command("check_traces", str(written(tmp_path / "t.jsonl", traces)), stdout=out)
    assert caught.value.code == 1
    assert out.getvalue().splitlines()[-1] == "2 of 3 traces agree"
    assert traces[1]["id"] in out.getvalue()


def with_a_list_in_reasons() -> dict[str, Any]:
    (trace,) = raw_traces(1)
    put_in(trace, "steps.3.reasons", [[["agent_busy"]]])
    return trace


DAMAGES: list[tuple[str, Callable[[Path], object]]] = [
    ("missing.jsonl", lambda path: None),
    ("folder.jsonl", lambda path: path.mkdir()),
    ("short.jsonl.gz", lambda path: path.write_bytes(TRACES.read_bytes()[:5000])),
    ("broken.jsonl.gz", lambda path: path.write_bytes(TRACES.read_bytes()[:3000] + b"x" * 3000)),
    ("plain.jsonl.gz", lambda path: path.write_text("{}")),
    ("packed.jsonl", lambda path: path.write_bytes(TRACES.read_bytes())),
    ("bad.jsonl", lambda path: path.write_text('{"id": ')),
    ("keys.jsonl", lambda path: path.write_text('{"id": "a"}')),
    ("list.jsonl", lambda path: path.write_text("[1, 2]")),
    ("empty.jsonl", lambda path: path.write_text("\n")),
    ("steps.jsonl", lambda path: written(path, [{**raw_traces(1)[0], "steps": [{"commands": 3}]}])),
    ("reasons.jsonl", lambda path: written(path, [with_a_list_in_reasons()])),
    ("seed.jsonl", lambda path: written(path, [{**raw_traces(1)[0], "seed": float("inf")}])),
]


@pytest.mark.parametrize(("name", "damage"), DAMAGES, ids=[name for name, _ in DAMAGES])
@pytest.mark.parametrize("command", ["check_traces", "bench_engine"])
def test_a_missing_or_damaged_file_is_one_line_and_exit_2(
    tmp_path: Path, command: str, name: str, damage: Callable[[Path], object]
) -> None:
    damage(tmp_path / name)
    with pytest.raises(CommandError) as caught:
        call_command(command, str(tmp_path / name))
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value) and name in str(caught.value)
    assert isinstance(caught.value.__cause__, TraceFileError)


def test_the_benchmark_ends_with_steps_per_second(tmp_path: Path) -> None:
    out = io.StringIO()
    short = written(tmp_path / "t.jsonl", raw_traces(5))
    call_command("bench_engine", str(short), "--rounds", "2", stdout=out)
    number, unit = out.getvalue().splitlines()[-1].split()
    assert int(number) > 1_000 and unit == "steps/s"


def test_every_round_is_measured(tmp_path: Path) -> None:
    traces = read_traces("cuisine", written(tmp_path / "t.jsonl", raw_traces(1)))
    assert len(RECORDINGS.speeds(traces, rounds=3)) == 3


@pytest.mark.parametrize(("key", "value"), [("agents", 9), ("level", "level_77"), ("alpha", "two")])
def test_a_trace_that_cannot_be_played_ends_the_benchmark_with_one_line(
    tmp_path: Path, key: str, value: Any
) -> None:
    trace = {**raw_traces(1)[0], key: value}
    with pytest.raises(CommandError, match=f"{trace['id']}: set-up") as caught:
        call_command("bench_engine", str(written(tmp_path / "t.jsonl", [trace])))
    assert caught.value.returncode == 2 and "\n" not in str(caught.value)


def test_steps_after_the_end_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = {**raw_traces(1)[0], "max_steps": 10}
    assert len(trace["steps"]) > 10
    monkeypatch.setattr(reference_traces, "_play", lambda episodes: 1.0)
    read = read_traces("cuisine", written(tmp_path / "t.jsonl", [trace]))
    assert RECORDINGS.speeds(read, rounds=1) == [10.0]
