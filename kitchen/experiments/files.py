"""An experiment as files in one folder, each whole or not at all.

A run that is resumed goes on from `episodes.csv`.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from kitchen.charts.chart import Format
from kitchen.contract.bench import Comparison, Pairings
from kitchen.contract.shallow import TooDeepError, read_json
from kitchen.contract.world import Json
from kitchen.experiments import rows as csv_rows
from kitchen.experiments import tables
from kitchen.experiments.plan import Key, jobs_of
from kitchen.experiments.results import CellResult, results_of
from kitchen.experiments.rows import Row, RowsError
from kitchen.experiments.setup import Setup
from kitchen.experiments.summary import last_line
from kitchen.machine.atomic import put
from kitchen.registry.worlds import get_world

EPISODES, SETTINGS = "episodes.csv", "experiment.json"
Make = Callable[[Setup, tuple[CellResult, ...]], bytes]
VERSION = 1
"""Of the layout of experiment.json."""


class FolderError(Exception):
    """A folder that this experiment cannot be kept in; one line."""


def described(setup: Setup, key: str = "") -> dict[str, Json]:
    """What experiment.json says: settings, versions, and the seed of every episode."""
    jobs = jobs_of(setup)
    return {
        "version": VERSION,
        "key": key,
        "setup": setup.to_json(),
        "world": {
            "kind": setup.world,
            "version": get_world(setup.world).version,
            "steps": setup.ground.steps,
        },
        "versions": _versions(),
        "seeds": [{"key": list(job.key), "seed": job.seed} for job in jobs],
    }


def _versions() -> dict[str, str]:
    wanted = ("numpy", "matplotlib", "anthropic", "openai")
    return {"python": platform.python_version(), **{name: _version(name) for name in wanted}}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def open_folder(folder: Path, setup: Setup) -> tuple[str, dict[Key, Row]]:
    """The key of the experiment in this folder (empty for a new one) and what it has played.

    FolderError if another experiment is there; OSError where the disk refuses.
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
        stored_rows = csv_rows.from_csv((folder / EPISODES).read_bytes(), str(folder / EPISODES))
        rows = csv_rows.matching(stored_rows, jobs_of(setup))
        return key, {name: row for name, row in rows.items() if row.outcome == csv_rows.PLAYED}
    except RowsError as error:
        raise FolderError(str(error)) from error


def setup_of(folder: Path) -> Setup:
    """What the experiment in this folder was asked to be; FolderError where there is none."""
    try:
        stored = _stored(folder / SETTINGS)
        return Setup.from_json(stored["setup"])
    except (OSError, KeyError, TypeError, AttributeError) as error:
        raise FolderError(f"{folder}: is no folder of `experiment --out`") from error


def _stored(path: Path) -> Mapping[str, Json]:
    try:
        stored = read_json(path.read_text(encoding="utf-8"))
    except TooDeepError as error:
        raise FolderError(f"{path}: {error}") from None
    except ValueError as error:
        raise FolderError(f"{path}: is not JSON: {error}") from error
    if not isinstance(stored, dict) or stored.get("version") != VERSION:
        raise FolderError(f"{path}: is not an experiment of this version")
    return stored


def write_settings(folder: Path, setup: Setup, key: str = "") -> None:
    """experiment.json: written first, so that whatever comes next can be resumed."""
    put(folder / SETTINGS, settings_file(setup, key))


def settings_file(setup: Setup, key: str = "") -> bytes:
    """The bytes of experiment.json."""
    return (json.dumps(described(setup, key), indent=1) + "\n").encode()


def write_rows(folder: Path, setup: Setup, rows: Iterable[Row]) -> None:
    """episodes.csv."""
    put(folder / EPISODES, rows_file(setup, rows))


def rows_file(setup: Setup, rows: Iterable[Row]) -> bytes:
    """The bytes of episodes.csv."""
    return csv_rows.to_csv(rows, of_partners=isinstance(setup.ground, Comparison))


def write_results(folder: Path, setup: Setup, rows: Iterable[Row]) -> tuple[CellResult, ...]:
    """Tables and figure."""
    results = results_of(setup, rows)
    for name, data in contents(setup, results):
        put(folder / name, data)
    return results


def contents(setup: Setup, results: tuple[CellResult, ...]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every file that follows from the results."""
    for name, make in RESULTS.items():
        yield name, make(setup, results)


def _markdown(setup: Setup, results: tuple[CellResult, ...]) -> bytes:
    return tables.to_markdown(
        tables.grids(setup, results), last_line(results), tables.explained(setup)
    ).encode()


def _latex(setup: Setup, results: tuple[CellResult, ...]) -> bytes:
    return tables.to_latex(tables.grids(setup, results), last_line(results), tables.explained(setup)).encode()


def _drawn(kind: Format) -> Make:
    def make(setup: Setup, results: tuple[CellResult, ...]) -> bytes:
        if isinstance(setup.ground, Comparison):
            from kitchen.experiments import pairing_figure  # matplotlib is slow to import

            if isinstance(setup.ground, Pairings):
                return pairing_figure.draw_pairings(results, kind)
            return pairing_figure.draw_comparison(results, kind)
        from kitchen.experiments.figure import draw

        return draw(setup, results, kind)

    return make


RESULTS: dict[str, Make] = {
    "table.csv": lambda _, results: tables.to_csv(results),
    "table.md": _markdown,
    "table.tex": _latex,
    "figure4.svg": _drawn("svg"),
    "figure4.pdf": _drawn("pdf"),
    "figure4.png": _drawn("png"),
}
"""Every file that follows from the results, and who makes it."""
