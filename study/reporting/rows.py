"""The rows that an analysis rests on, as one file, and its hash."""

from __future__ import annotations

import hashlib

from study.analysis.statistics.analyse import Analysis, MeasureResult
from study.analysis.statistics.files import Row, to_csv

NAME = "analysed.csv"
COLUMNS = ["participant", "condition", "measure", "value", "order_position", "version", "before_freeze"]
COLUMNS += ["synthetic"]
ASIDE = "mixed_model_only"
"""The column of those who lack a condition: no test but the mixed model uses their values."""


def analysed(analysis: Analysis) -> bytes:
    """One row for each participant, condition and measure, sorted by measure and then by these."""
    rows = [row for result in analysis.measures for row in _rows(result)]
    return to_csv([*COLUMNS, ASIDE], rows)


def _rows(result: MeasureResult) -> list[Row]:
    marked = [(row, False) for row in result.table.observations] + [(row, True) for row in result.set_aside]
    ordered = sorted(marked, key=lambda one: (one[0].participant, one[0].order_position))
    return [{**{name: getattr(row, name) for name in COLUMNS}, ASIDE: aside} for row, aside in ordered]


def digest_of_rows(analysis: Analysis) -> str:
    """SHA-256 of `analysed`, 64 characters: `sha256sum analysed.csv` says the same."""
    return hashlib.sha256(analysed(analysis)).hexdigest()
