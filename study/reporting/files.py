"""All that `analyse_study` writes: the files of the analysis, the rows that it rests on, the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kitchen.machine.atomic import put
from study.analysis.statistics.files import contents, to_csv
from study.reporting.chart import chart_of, to_svg
from study.reporting.rendering import rendered
from study.reporting.rows import NAME, analysed
from study.reporting.text import FLOW, Told


def every_file(told: Told) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of all files of an analysis and its report, the report last."""
    drawn = {}
    for name, data in contents(told.analysis):
        yield name, data
        if name.endswith(".svg"):
            drawn[name] = data
    yield NAME, analysed(told.analysis)
    yield FLOW, to_svg(chart_of(told.flow))
    yield "flow.csv", to_csv(["station", "left_because", "n"], list(_flow_rows(told)))
    yield "deviations.csv", to_csv(["kind", "deviation"], list(_deviation_rows(told)))
    report = rendered(told, drawn)
    yield "report.html", report.html.encode()
    yield "report.pdf", report.pdf


def _flow_rows(told: Told) -> Iterator[dict[str, object]]:
    """A station a row, and a row for each reason of those who left there."""
    for one in told.flow:
        yield {"station": one.words, "n": one.number}
        for words, number in one.left:
            yield {"station": one.words, "left_because": words, "n": number}


def _deviation_rows(told: Told) -> Iterator[dict[str, object]]:
    for one in told.deviations:
        yield {"kind": one.kind, "deviation": one.words}


def write_report(told: Told, directory: Path) -> tuple[Path, ...]:
    """Write every file into the directory, made if it is not there, each whole or not at all. Raises OSError
    where the disk refuses."""
    directory.mkdir(parents=True, exist_ok=True)
    return tuple(put(directory / name, data) for name, data in every_file(told))
