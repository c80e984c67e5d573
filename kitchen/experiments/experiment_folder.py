"""Store an experiment's settings and results as files in a folder.

Each file is written completely or not at all. When an interrupted experiment is continued, `episodes.csv`
gives the results of the episodes already played.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from kitchen.charts.chart_data import Chart, ImageFormat
from kitchen.charts.chart_drawing import draw_chart
from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.data_limits import DataLimitError, read_bytes, read_json, read_text
from kitchen.contract.world import Json
from kitchen.experiments import episode_rows, published_tables, result_tables
from kitchen.experiments.comparison_tables import TextTable
from kitchen.experiments.episode_rows import EpisodeRow, RowsError
from kitchen.experiments.experiment_results import CellResult, cell_results_of
from kitchen.experiments.experiment_setup import EpisodeKey, ExperimentSetup, episode_jobs
from kitchen.experiments.organisation_results import organisation_chart
from kitchen.experiments.result_figures import result_chart
from kitchen.experiments.result_tables import summary_line
from kitchen.infra.file_writing import write_atomically
from kitchen.registry.world_registry import get_world

EPISODES, SETTINGS = "episodes.csv", "experiment.json"
ResultMaker = Callable[[ExperimentSetup, tuple[CellResult, ...]], bytes]
VERSION = 1
"""Version of the layout of experiment.json."""


class FolderError(Exception):
    """Raised when an experiment cannot be stored in this folder. The message is one line."""


def _versions() -> dict[str, str]:
    wanted = ("numpy", "vl-convert-python", "anthropic", "openai")
    return {"python": platform.python_version(), **{name: _version(name) for name in wanted}}


@cache
def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def open_folder(folder: Path, setup: ExperimentSetup) -> tuple[str, dict[EpisodeKey, EpisodeRow]]:
    """Create or open the folder of an experiment. Return the experiment's key (empty for a new one) and the
    rows of the episodes already played.

    Raises FolderError if the folder holds another experiment, and OSError if a file cannot be read or
    written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key = ""
    if (folder / SETTINGS).exists():
        stored = _stored(folder / SETTINGS)
        if stored.get("setup") != json.loads(json.dumps(setup.to_json())):
            raise FolderError(f"{folder} holds another experiment: name another --out, or ask for the same")
        key = str(stored.get("key", ""))
    if not (folder / EPISODES).exists():
        return key, {}
    try:
        stored_rows = episode_rows.read_rows_csv(read_bytes(folder / EPISODES), str(folder / EPISODES))
        rows = episode_rows.match_rows_to_jobs(stored_rows, episode_jobs(setup))
        return key, {name: row for name, row in rows.items() if row.outcome == episode_rows.PLAYED}
    except RowsError as error:
        raise FolderError(str(error)) from error
    except DataLimitError as error:
        raise FolderError(f"{folder / EPISODES}: {error}") from None


def read_setup_file(folder: Path) -> ExperimentSetup:
    """Return the setup stored in this folder. Raises FolderError if there is none."""
    try:
        stored = _stored(folder / SETTINGS)
        return ExperimentSetup.from_json(stored["setup"])
    except (OSError, KeyError, TypeError, AttributeError) as error:
        raise FolderError(f"{folder}: is no folder of `experiment --out`") from error


def _stored(path: Path) -> Mapping[str, Json]:
    try:
        stored = read_json(read_text(path))
    except DataLimitError as error:
        raise FolderError(f"{path}: {error}") from None
    except ValueError as error:
        raise FolderError(f"{path}: is not JSON: {error}") from error
    if not isinstance(stored, dict) or stored.get("version") != VERSION:
        raise FolderError(f"{path}: is not an experiment of this version")
    return stored


def write_settings(folder: Path, setup: ExperimentSetup, key: str = "") -> None:
    """Write the file experiment.json into the folder. It is needed to resume the experiment."""
    write_atomically(folder / SETTINGS, settings_file(setup, key))


def settings_file(setup: ExperimentSetup, key: str = "") -> bytes:
    """Return the content of experiment.json: the setup, versions, and the seed of every episode."""
    world = {"kind": setup.world, "version": get_world(setup.world).version, "steps": setup.ground.steps}
    seeds = [{"key": list(job.key), "seed": job.seed} for job in episode_jobs(setup)]
    content = {"version": VERSION, "key": key, "setup": setup.to_json(), "world": world}
    content |= {"versions": _versions(), "seeds": seeds}
    return (json.dumps(content, indent=1) + "\n").encode()


def write_rows(folder: Path, setup: ExperimentSetup, rows: Iterable[EpisodeRow]) -> None:
    """Write the result rows to the file episodes.csv in the folder."""
    write_atomically(folder / EPISODES, rows_file(setup, rows))


def rows_file(setup: ExperimentSetup, rows: Iterable[EpisodeRow]) -> bytes:
    """Return the content of episodes.csv with these result rows."""
    ground = setup.ground
    return episode_rows.write_rows_csv(
        rows,
        of_partners=isinstance(ground, ComparisonBenchmark),
        with_goal=bool(setup.goal),
        with_second=isinstance(ground, ComparisonBenchmark) and bool(ground.second_figure),
        with_more=isinstance(ground, ComparisonBenchmark) and bool(ground.more_figures),
    )


def write_results(folder: Path, setup: ExperimentSetup, rows: Iterable[EpisodeRow]) -> tuple[CellResult, ...]:
    """Compute the results from these rows, write the tables and figures, and return the results."""
    results = cell_results_of(setup, rows)
    for name, make in result_makers(setup).items():
        write_atomically(folder / name, make(setup, results))
    return results


def _text(write: Callable[[Sequence[TextTable], str, str], str]) -> ResultMaker:
    """Return a function that makes a text file with all result tables. `write` converts the tables to
    text."""

    def make(setup: ExperimentSetup, results: tuple[CellResult, ...]) -> bytes:
        tables = result_tables.result_text_tables(setup, results)
        return write(tables, summary_line(results), result_tables.table_note(setup)).encode()

    return make


def result_makers(setup: ExperimentSetup) -> Mapping[str, ResultMaker]:
    """Return the functions that make the result files of this experiment, by file name."""
    ground = setup.ground
    groups = isinstance(ground, ComparisonBenchmark) and ground.published_tables()
    return RESULT_MAKERS | (PUBLISHED_MAKERS if groups else {}) | (GOAL_MAKERS if setup.goal else {})


def _drawn(
    kind: ImageFormat, chart: Callable[[ExperimentSetup, Sequence[CellResult]], Chart] = result_chart
) -> ResultMaker:
    """Return a function that draws the experiment's results as a figure in the format `kind`."""

    def make(setup: ExperimentSetup, results: tuple[CellResult, ...]) -> bytes:
        return draw_chart(chart(setup, results), kind)

    return make


RESULT_MAKERS: dict[str, ResultMaker] = {
    "table.csv": lambda _, results: result_tables.results_csv(results),
    "table.md": _text(result_tables.tables_markdown),
    "table.tex": _text(result_tables.tables_latex),
    "figure4.svg": _drawn("svg"),
    "figure4.pdf": _drawn("pdf"),
    "figure4.png": _drawn("png"),
}
"""File name → function that makes this file from the results."""
PUBLISHED_MAKERS: dict[str, ResultMaker] = {
    "published_tables.csv": lambda _, results: published_tables.published_csv(results)
}
"""The same for files that only benchmarks with published tables have."""
GOAL_MAKERS: dict[str, ResultMaker] = {
    f"figure7.{kind}": _drawn(kind, organisation_chart) for kind in ("svg", "pdf", "png")
}
"""Functions that make files which only experiments with a goal have."""
