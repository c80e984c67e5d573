"""Count an experiment's messages, failed checks, format errors, helpful corrections and tokens in
Collab-Overcooked.

A check tests whether a command can begin. Failed checks are counted by their code. All counts are grouped by
level and seat (chef or assistant).
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from kitchen.contract.episode_log import FAILED_CHECKS
from kitchen.contract.organisation import TALK_KINDS
from kitchen.contract.team_messages import message_content
from kitchen.worlds.collab_overcooked.bench.task_benchmark import TASK_BENCHMARK
from kitchen.worlds.collab_overcooked.log_measures import (
    TOKENS_KEY,
    SpokenMessage,
    processes_in,
    rounds_spoken,
)
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.room_layout import SEAT_NAMES, SEATS

COUNTED = {"format_errors": "Format errors", "helped": "Helpful corrections", TOKENS_KEY: "Tokens"}
"""Key of an agent's note about a turn → name of the count."""


class ProcessKey(NamedTuple):
    """The subject of one process count. `code` is that of a failed check, and empty for other counts."""

    line_up: str
    level: int
    seat: int
    counted: str
    code: str = ""


def read_process_counts(folder: Path) -> Counter[ProcessKey]:
    """Return all process counts by line-up, level and seat. A folder of an older version without
    failed_checks.csv has no failed checks."""
    found = Counter[ProcessKey]()
    path = folder / "failed_checks.csv"
    for row in csv_rows(path) if path.exists() else ():
        found[ProcessKey(row["variant"], _level(row), int(row["seat"]), FAILED_CHECKS, row["code"])] += 1
    for row in csv_rows(folder / "decisions.csv"):
        if row["call"] not in ("", "1") or not row["note"]:  # a decision has one row for each call
            continue
        first_seat = int(row.get("member") or 0)  # members of a line-up have the number of their first seat
        for seat, process in processes_in(json.loads(row["note"]), first_seat):
            for key, count in COUNTED.items():
                found[ProcessKey(row["variant"], _level(row), seat, count)] += process.get(key, 0)
    talk = list(_messages(folder / "messages.csv"))
    for counted, messages in (("Messages", talk), ("Rounds of own conversations", rounds_spoken(talk))):
        for message in messages:
            line_up, level = message.conversation[:2]
            found[ProcessKey(line_up, _level({"level": level}), message.sender, counted)] += 1
    return +found


def _messages(path: Path) -> Iterator[SpokenMessage]:
    """Yield each message of a conversation. The identity of a conversation begins with line-up and level."""
    for row in csv_rows(path) if path.exists() else ():
        if row["kind"] in TALK_KINDS and row["sender"] in map(str, SEATS):
            step = tuple(row[name] for name in ("variant", "level", "agents", "alpha", "episode", "step"))
            content = message_content(row["text"], json.loads(row["data"] or "{}"))
            yield SpokenMessage(step, int(row["sender"]), row["kind"], content)


def _level(row: Mapping[str, str]) -> int:
    """Return the level of the task of a row's episode."""
    return tasks()[TASK_BENCHMARK.settings(row["level"], 1.0, 0)["task"]].level


def csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file by column name."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def process_table(counts: Counter[ProcessKey]) -> str:
    """Return the process counts by line-up, level, code and seat as Markdown; empty if there are none."""
    if not counts:
        return ""
    rows = sorted({(key.line_up, key.counted, key.code, key.level) for key in counts})
    lines = [
        f"| {line_up} | {level} | {count} | {code} | "
        f"{' | '.join(str(counts[ProcessKey(line_up, level, seat, count, code)]) for seat in SEATS)} |"
        for line_up, count, code, level in rows
    ]
    names = ("who", "level", "count", "code", *SEAT_NAMES)
    head = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    return "\n".join(["\n## Process counts\n", *head, *lines]) + "\n"


def write_process_counts(folder: Path, counts: Counter[ProcessKey]) -> None:
    """Write the counts to process_counts.csv in the folder: one row for each that is above 0."""
    with (folder / "process_counts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("who", "level", "seat", "count", "code", "total"))
        for key, total in sorted(counts.items()):
            writer.writerow((key.line_up, key.level, SEAT_NAMES[key.seat], key.counted, key.code, total))
