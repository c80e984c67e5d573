"""One study crosses two worlds with three organisations: programs walk it over HTTP, and its files and report
are written. No module that plays, exports or analyses names one of them."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from kitchen.registry.world_registry import known_worlds
from study.exports.export_registry import TABLES
from tests.servers import Stack

ROOT = Path(__file__).parents[2] / "study"
WORLDS = {
    "cuisine": (
        "{ level = 'level_0', alpha = 2.0, beta = 2.5, max_steps = 3 }",
        "coplayer = 'planner'\ncoplayer_settings = { tries = 0 }",
    ),
    "collab_overcooked": ("{ task = 'boiled_egg', gamma = 1.0 }", "coplayer = 'recipe_partner'"),
}
TEAMS = {
    "central": "{ kind = 'central', settings = { talk = true } }",
    "tree": "{ kind = 'tree', leads = 0 }",
    "pair": "{ kind = 'pair' }",
}
CELLS = [f"{world}-{team}" for world, team in product(WORLDS, TEAMS)]
ITEM = '[[items]]\nkey = "trust"\nmeasure = "Trust"\ntext = "Trust?"\n'


def crossed(folder: Path) -> Path:
    """The file of the study."""
    file = folder / "crossed.toml"
    conditions = [
        f"[[conditions]]\nkey = '{world}-{team}'\nname = '{world} {team}'\nlabel = 'Team {world} {team}'\n"
        f"world = '{world}'\nteammates = 1\n{mate}\noffers_plans = true\n"
        f"settings = {settings}\norganisation = {TEAMS[team]}\n"
        for (world, (settings, mate)), team in product(WORLDS.items(), TEAMS)
    ]
    head = 'slug = "crossed"\ntitle = "Crossed"\nseed = 5\n[parts.consent]\ntext = "I agree."\n'
    file.write_text("\n".join([head, *conditions, ITEM]))
    return file


def read(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.nightly
@pytest.mark.servers
def test_organisation_crossing_programs_walk_it_and_its_files_and_report_are_written(
    live_stack: Stack, tmp_path: Path
) -> None:
    live_stack.manage("load_study", str(crossed(tmp_path)))
    walk = ("dry_run", "crossed", "--url", live_stack.url, "--participants", "2", "--seed", "1")
    done = live_stack.command(*walk)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "2 of 2 synthetic participants finished"
    live_stack.manage("export_study", "crossed", "--out", str(tmp_path / "files"))
    files = tmp_path / "files"
    assert {f"{name}.csv" for name in TABLES} <= {path.name for path in files.iterdir()}
    episodes = read(files, "episodes")
    assert sorted(row["condition"] for row in episodes) == sorted(CELLS * 2)
    assert {row["status"] for row in episodes} <= {"over", "cut_off"}
    assert {row["condition"] for row in read(files, "team_measures")} == set(CELLS)
    wide = read(files, "participants")[0]
    told = {cell for cell in CELLS if wide.get(f"{cell}.team_idle_nothing")}
    led = {cell for cell in CELLS if f"{cell}.team_jobs" in wide}
    assert told == set(CELLS) and led == {f"{world}-tree" for world in WORLDS}
    live_stack.manage("analyse_study", "crossed", "--out", str(tmp_path / "report"))
    report = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert all(f"{world} {team}" in report for world, team in product(WORLDS, TEAMS))
    assert "Team: messages" in report


DESIGNED_IN = ("design", "editor", "migrations", "analysis/statistics")
"""Rooms that define and describe organisations; and statistics, where a *pair* is one of two conditions."""


def literals() -> Iterator[tuple[str, str]]:
    """The strings in all other modules of studies, each with its place."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(DESIGNED_IN):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{name}:{node.lineno}", node.value


def test_no_module_that_plays_exports_or_analyses_names_a_world_or_these_organisations() -> None:
    named = {*known_worlds(), *TEAMS}
    found = list(literals())
    assert [where for where, text in found if text in named] == []
    assert len(found) > 1000, "modules were read"
