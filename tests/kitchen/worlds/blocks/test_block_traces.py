"""The recorded episodes and ours agree, step by step."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from kitchen.contract.reference_recordings import RecordedLine, TraceFileError
from kitchen.management.command_helpers import read_traces, worlds_of
from kitchen.worlds.blocks.block_traces import TRACES

FILE = Path(__file__).parents[2] / "data" / "blocks.jsonl.gz"


def test_all_60_traces_of_a_family_agree() -> None:
    out = io.StringIO()
    call_command("check_traces", world="blocks", stdout=out)
    assert out.getvalue().splitlines() == ["60 of 60 traces agree"]
    assert len(read_traces("blocks", FILE)) == 60 > len(read_traces("blocks_gather", FILE))


def test_a_family_of_worlds_in_a_file_is_checked_and_measured_world_by_world(tmp_path: Path) -> None:
    first = {json.loads(line)["world"]: line for line in reversed(lines_of_traces())}
    short = tmp_path / "short.jsonl"
    short.write_text("".join(first.values()), encoding="utf-8")
    out = io.StringIO()
    call_command("check_traces", str(short), stdout=out)
    assert out.getvalue().splitlines() == ["5 of 5 traces agree"]
    out = io.StringIO()
    call_command("bench_engine", str(short), world="blocks", rounds=1, stdout=out)
    named = [line.partition(":")[0] for line in out.getvalue().splitlines() if ": first" in line]
    assert named == list(worlds_of("blocks")) and len(named) == 5


def test_a_missing_file_is_told_without_its_path_twice() -> None:
    with pytest.raises(CommandError, match=r"^/no/file: cannot be read: no such file or directory$"):
        call_command("check_traces", "/no/file")


def lines_of_traces() -> list[str]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        return list(lines)


def recorded(name: str) -> dict[str, Any]:
    return next(line for line in map(json.loads, lines_of_traces()) if line["name"] == name)


def difference(raw: object) -> str:
    return TRACES.difference(RecordedLine(FILE, 1, raw).parsed(TRACES)) or ""


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("settings", {"task": "no_such"}, "set-up: task: 'no_such' is not one of"),
        ("start", {"at": [[1, 0, 0], [2, 0, 0]]}, "start: at: trace [[1, 0, 0]"),
        ("over", False, "end: over: trace false, ours true"),
    ],
)
def test_a_tampered_trace_is_reported(key: str, value: object, said: str) -> None:
    found = difference({**recorded("2-02 (J 3)"), key: value})
    assert said in found and "\n" not in found


def test_a_tampered_step_is_reported_with_its_number_and_field() -> None:
    trace = recorded("2-03 (J 3)")
    trace["steps"][1]["inventories"] = []
    assert "step 1: inventories: trace [], ours [{" in difference(trace)


def test_a_line_of_another_world_is_told() -> None:
    with pytest.raises(TraceFileError, match="line 1: 'blocks_moon' is missing"):
        difference({**recorded("2-02 (J 3)"), "world": "blocks_moon"})


def test_the_benchmark_plays_the_traces_of_one_family() -> None:
    out = io.StringIO()
    call_command("bench_engine", str(FILE), "--world", "blocks_kitchen", "--rounds", "1", stdout=out)
    assert int(out.getvalue().splitlines()[-1].split()[0]) > 500
