"""The files of an experiment, as the command writes them, to be downloaded."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress

from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone

from kitchen.experiments import audit, files, services, stored_logs
from kitchen.experiments.log import Log, LogError, read_log
from kitchen.experiments.log_files import FOLDER, file_name
from kitchen.experiments.models import Experiment
from kitchen.experiments.results import CellResult, results_of
from kitchen.experiments.setup import Setup
from kitchen.machine.downloads import named, streamed
from kitchen.machine.pipe import Pipe

LOGS = "log.zip"
"""The logs with what it takes to play them again: unpacked, a folder for `experiment_replay`."""
CSV = "text/csv; charset=utf-8"

FILES: dict[str, str] = {
    "episodes.csv": CSV,
    "table.csv": CSV,
    "table.md": "text/markdown; charset=utf-8",
    "table.tex": "application/x-tex; charset=utf-8",
    "figure4.svg": "image/svg+xml",
    "figure4.pdf": "application/pdf",
    "figure4.png": "image/png",
    "experiment.json": "application/json",
    **dict.fromkeys(audit.TABLES, CSV),
    LOGS: "application/zip",
}
"""What can be downloaded of every experiment, with its type."""


def files_of(experiment: Experiment) -> dict[str, str]:
    """Return what can be downloaded of an experiment, with its type."""
    return {**FILES, **dict.fromkeys(_tables(experiment), CSV)}


def _tables(experiment: Experiment) -> Mapping[str, audit.TableRows]:
    return audit.tables_of(Setup.from_json(experiment.setup))


def file_response(experiment: Experiment, name: str) -> HttpResponseBase:
    """One file by its name; KeyError for one that there is not. What may be long is streamed."""
    content_type, saved_as = files_of(experiment)[name], f"experiment-{experiment.pk}-{name}"
    if name in (tables := _tables(experiment)):
        return streamed(audit.pieces(name, _logs(experiment), tables), content_type, saved_as)
    if name == LOGS:
        return streamed(_zip(experiment), content_type, saved_as)
    return named(HttpResponse(_file(experiment, name), content_type=content_type), saved_as)


def results(experiment: Experiment) -> tuple[CellResult, ...]:
    """What an experiment has come to so far."""
    setup = Setup.from_json(experiment.setup)
    return results_of(setup, services.rows_of(experiment).values())


def _file(experiment: Experiment, name: str) -> bytes:
    setup = Setup.from_json(experiment.setup)
    if name == files.EPISODES:
        return files.rows_file(setup, services.rows_of(experiment).values())
    if name == files.SETTINGS:
        return files.settings_file(setup, str(experiment.key))
    return files.RESULTS[name](setup, results(experiment))


def _logs(experiment: Experiment) -> Iterator[Log]:
    for _, data in stored_logs.logs_of(experiment):
        with suppress(LogError):
            yield read_log(data)


def _zip(experiment: Experiment) -> Iterator[bytes]:
    pipe, now = Pipe(), timezone.now().timetuple()[:6]
    with zipfile.ZipFile(pipe, "w") as archive:
        for name, data in _packed(experiment):
            entry = zipfile.ZipInfo(name, now)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
            yield pipe.take()
    yield pipe.take()


def _packed(experiment: Experiment) -> Iterator[tuple[str, bytes]]:
    for name in (files.SETTINGS, files.EPISODES):
        yield name, _file(experiment, name)
    for key, data in stored_logs.logs_of(experiment):
        yield f"{FOLDER}/{file_name(key)}", data
