"""A study with three conditions and every part is dry-run with drop-outs, withdrawals, refusals and failed
checks, and its data are taken."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from tests.servers import Stack
from tests.study.pilot.test_dry_run import COUNT, walk, whole_study

SLUG, PEOPLE, SEED = "three-teams", 10, 470
"""No other test walks with this seed: the stack, and so its database, is shared."""
CONDITION = """
[[conditions]]
key = "agents_{agents}"
name = "{agents} agents"
label = "Team {agents}"
coplayer = "{coplayer}"
teammates = {teammates}
world = "cuisine"
settings = {{ level = "{level}", alpha = 2.0, beta = 2.5, max_steps = 2 }}
"""
TEAMS = ((1, "none", "level_0"), (2, "planner", "level_1"), (4, "planner", "level_1"))
EVERYTHING = """
from django.apps import apps
for model in apps.get_models():
    for row in model._base_manager.values():
        print(model._meta.label, row)
"""

pytestmark = pytest.mark.servers


def design(folder: Path) -> Path:
    """The study as a file."""
    teams = [
        CONDITION.format(agents=agents, coplayer=coplayer, teammates=agents - 1, level=level)
        for agents, coplayer, level in TEAMS
    ]
    return whole_study(folder, SLUG, teams)


def table(archive: zipfile.ZipFile, name: str) -> list[dict[str, str]]:
    """A CSV file of the export."""
    with archive.open(f"{SLUG}/{name}") as stream:
        return list(csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8", newline="")))


def test_orders_are_balanced_the_withdrawn_are_gone_and_every_column_is_explained(
    live_stack: Stack, tmp_path: Path
) -> None:
    live_stack.manage("load_study", str(design(tmp_path)))
    those = ("--participants", str(PEOPLE), "--at-once", "1", "--seed", str(SEED))
    shares = ("--drop-outs", "10", "--withdrawals", "10", "--refusals", "10", "--fail-checks", "10")
    done = walk(live_stack, SLUG, *those, *shares)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-2:] == [
        "6 finished, 1 dropped out, 1 withdrew, 1 refused, 1 failed the check",
        "6 of 10 synthetic participants finished",
    ]
    assert live_stack.manage("shell", "-v", "0", "-c", COUNT.format(slug=SLUG, seed=SEED)).splitlines() == [
        "[('complete', 6), ('failed_check', 1), ('no_consent', 1), ('timed_out', 1)] 1",
        "False False True",
        "True",
    ]
    again = walk(live_stack, SLUG, *those)
    assert again.returncode == 2 and "name another seed" in again.stderr
    number = re.search(r"participant (\d+) of \d+ withdrew", done.stdout)
    assert number

    live_stack.manage("export_study", SLUG, "--out", str(tmp_path), "--format", "zip")
    with zipfile.ZipFile(tmp_path / f"{SLUG}.zip") as archive:
        files = {
            name: table(archive, name)
            for name in (Path(path).name for path in archive.namelist())
            if name.endswith(".csv")
        }
    people = files["participants.csv"]
    finished = [row for row in people if row["exit_status"] == "complete"]
    assert len(people) == PEOPLE - 1
    assert len(finished) == 6

    orders = Counter(row["sequence_id"] for row in finished)
    assert len(orders) == 6
    assert max(orders.values()) - min(orders.values()) <= 1

    assert number[1] not in {row["number"] for row in people}
    theirs = re.compile(rf"SYN-{SEED}-{number[1]}(?!\d)")
    assert not theirs.search(live_stack.manage("shell", "-v", "0", "-c", EVERYTHING))
    assert not theirs.search(json.dumps(files))
    codes = {row["participant"] for row in people}
    for name, rows in files.items():
        if rows and "participant" in rows[0]:
            assert {row["participant"] for row in rows} <= codes, name

    explained = {(row["file"], row["column"]) for row in files.pop("codebook.csv")}
    for name, rows in files.items():
        assert {(name, column) for column in (rows[0] if rows else ())} <= explained, name
